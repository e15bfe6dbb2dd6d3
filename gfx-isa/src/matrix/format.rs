//! Formats of matrix elements.

use core::fmt;

/// The format of a matrix element.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Format {
    /// 64-bit float.
    F64,
    /// 32-bit float.
    F32,
    /// 32-bit float of which 10 bits of the fraction are used.
    Xf32,
    /// 16-bit float, 5 bits of exponent.
    F16,
    /// 16-bit float, 8 bits of exponent.
    Bf16,
    /// OCP E4M3.
    Fp8,
    /// OCP E5M2.
    Bf8,
    /// E4M3 with bias 8 and a single NaN, 0x80.
    Fp8Fnuz,
    /// E5M2 with bias 16 and a single NaN, 0x80.
    Bf8Fnuz,
    /// E2M3.
    Fp6,
    /// E3M2.
    Bf6,
    /// E2M1.
    Fp4,
    /// 32-bit signed integer.
    I32,
    /// 8-bit signed integer.
    I8,
    /// 8-bit integer, signed or not as the instruction's NEG bits say.
    Iu8,
    /// 4-bit integer, signed or not as the instruction's NEG bits say.
    Iu4,
    /// Two bits that say which of four values a value of a sparse matrix is.
    Index,
    /// A scale: a power of two.
    E8m0,
    /// A scale: an unsigned float with 5 bits of exponent.
    E5m3,
    /// A scale: an unsigned float with 4 bits of exponent.
    E4m3,
}

impl Format {
    /// Bits of an element.
    pub const fn bits(self) -> u32 {
        match self {
            Format::F64 => 64,
            Format::F32 | Format::Xf32 | Format::I32 => 32,
            Format::F16 | Format::Bf16 => 16,
            Format::Fp6 | Format::Bf6 => 6,
            Format::Fp4 | Format::Iu4 => 4,
            Format::Index => 2,
            _ => 8,
        }
    }

    /// A short name in lower case, for example `bf16`.
    pub const fn name(self) -> &'static str {
        match self {
            Format::F64 => "f64",
            Format::F32 => "f32",
            Format::Xf32 => "xf32",
            Format::F16 => "f16",
            Format::Bf16 => "bf16",
            Format::Fp8 => "fp8",
            Format::Bf8 => "bf8",
            Format::Fp8Fnuz => "fp8_fnuz",
            Format::Bf8Fnuz => "bf8_fnuz",
            Format::Fp6 => "fp6",
            Format::Bf6 => "bf6",
            Format::Fp4 => "fp4",
            Format::I32 => "i32",
            Format::I8 => "i8",
            Format::Iu8 => "iu8",
            Format::Iu4 => "iu4",
            Format::Index => "index",
            Format::E8m0 => "e8m0",
            Format::E5m3 => "e5m3",
            Format::E4m3 => "e4m3",
        }
    }

    /// Whether elements are integers.
    pub const fn is_integer(self) -> bool {
        matches!(self, Format::I32 | Format::I8 | Format::Iu8 | Format::Iu4)
    }

    /// The format that a number selects for an operand of an `F8F6F4` instruction; none for a reserved one.
    pub const fn of_f8f6f4(number: u32) -> Option<Format> {
        Some(match number {
            0 => Format::Fp8,
            1 => Format::Bf8,
            2 => Format::Fp6,
            3 => Format::Bf6,
            4 => Format::Fp4,
            _ => return None,
        })
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}
