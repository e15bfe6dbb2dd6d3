//! Numbers as inline constants and literals, by the type of the operand.

use super::parse::Marker;
use crate::syntax::Value as Type;

/// How a number is encoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Constant {
    /// A value of the source map.
    Inline(u32),
    Literal(u32),
    Literal64(u64),
}

/// A number as written.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Given {
    Int(i64),
    Float(f64),
}

const INV_TWO_PI: u32 = 248;
/// The decimal number that stands for 1/(2π) of single precision and shorter.
const SINGLE: u64 = 0x3fc4_5f30_6725_feed;

/// The inline constant of an integer.
const fn inline_int(value: i64) -> Option<u32> {
    match value {
        0..=64 => Some(128 + value as u32),
        -16..=-1 => Some(192 + (-value) as u32),
        _ => None,
    }
}

/// The inline constant of a number's bits; `table`: 0.5, 1, 2, 4 and 1/(2π).
fn inline_bits(bits: u64, sign: u32, table: [u64; 5]) -> Option<u32> {
    if bits == table[4] {
        return Some(INV_TWO_PI);
    }
    let magnitude = bits & !(1 << sign);
    let at = table[..4].iter().position(|&known| known == magnitude)?;
    Some(240 + 2 * at as u32 + (bits >> sign & 1) as u32)
}

pub(crate) fn inline16(bits: u16) -> Option<u32> {
    inline_int(i64::from(bits as i16))
        .or_else(|| inline_bits(bits.into(), 15, [0x3800, 0x3c00, 0x4000, 0x4400, 0x3118]))
}

pub(crate) fn inline_bf16(bits: u16) -> Option<u32> {
    inline_int(i64::from(bits as i16))
        .or_else(|| inline_bits(bits.into(), 15, [0x3f00, 0x3f80, 0x4000, 0x4080, 0x3e22]))
}

pub(crate) fn inline32(bits: u32) -> Option<u32> {
    const TABLE: [u64; 5] = [0x3f00_0000, 0x3f80_0000, 0x4000_0000, 0x4080_0000, 0x3e22_f983];
    inline_int(i64::from(bits as i32)).or_else(|| inline_bits(bits.into(), 31, TABLE))
}

pub(crate) fn inline64(bits: u64) -> Option<u32> {
    const TABLE: [u64; 5] = [
        0x3fe0_0000_0000_0000,
        0x3ff0_0000_0000_0000,
        0x4000_0000_0000_0000,
        0x4010_0000_0000_0000,
        0x3fc4_5f30_6dc9_c882,
    ];
    if bits == SINGLE {
        return Some(INV_TWO_PI);
    }
    inline_int(bits as i64).or_else(|| inline_bits(bits, 63, TABLE))
}

/// Rounds to a shorter format with so many exponent and fraction bits; none on overflow, or underflow that loses bits.
fn narrow(value: f64, exponent_bits: u32, fraction_bits: u32) -> Option<u32> {
    let sign = u32::from(value.is_sign_negative()) << (exponent_bits + fraction_bits);
    let most = (1u32 << exponent_bits) - 1;
    if value.is_nan() {
        return Some(sign | most << fraction_bits | 1 << (fraction_bits - 1));
    }
    if value.is_infinite() {
        return Some(sign | most << fraction_bits);
    }
    if value == 0.0 {
        return Some(sign);
    }
    let bits = value.to_bits();
    let bias = (1i32 << (exponent_bits - 1)) - 1;
    let raw = (bits >> 52 & 0x7ff) as i32;
    let mut fraction = bits & ((1 << 52) - 1);
    let mut exponent = raw - 1023;
    if raw == 0 {
        exponent = -1022;
    } else {
        fraction |= 1 << 52;
    }
    // The lowest exponent has no hidden bit.
    let subnormal = exponent < 1 - bias;
    let shift = 52 - fraction_bits as i32 + if subnormal { 1 - bias - exponent } else { 0 };
    if shift > 60 {
        return None;
    }
    let (kept, lost) = (fraction >> shift, fraction & ((1u64 << shift) - 1));
    let half = 1u64 << (shift - 1);
    let rounded = kept + u64::from(lost > half || (lost == half && kept & 1 == 1));
    if subnormal {
        if lost != 0 {
            return None;
        }
        return Some(sign | rounded as u32);
    }
    let result = (((exponent + bias) as u64 - 1) << fraction_bits) + rounded;
    if result >> fraction_bits >= u64::from(most) { None } else { Some(sign | result as u32) }
}

fn fits(value: i64, bits: u32) -> bool {
    value >= -(1 << (bits - 1)) && value < 1 << bits
}

fn is_wide(ty: Type) -> bool {
    matches!(ty, Type::F64 | Type::I64 | Type::Lit64)
}

/// Encodes a number for an operand; none where the type cannot hold it. `wide`: there are 64-bit literals.
pub(crate) fn encode(given: Given, ty: Type, lit: Marker, wide: bool) -> Option<Constant> {
    if ty == Type::NoInline {
        return literal(given, ty);
    }
    if lit == Marker::Lit64 && wide {
        return Some(Constant::Literal64(match given {
            Given::Int(value) => value as u64,
            Given::Float(value) => value.to_bits(),
        }));
    }
    let constant = match given {
        Given::Float(value) => float(value, ty, wide)?,
        Given::Int(value) => int(value, ty, wide)?,
    };
    Some(match (lit, constant) {
        (Marker::Free, constant) => constant,
        (Marker::Lit, Constant::Literal64(value)) => Constant::Literal64(value),
        (Marker::Lit, _) => match literal(given, ty)? {
            Constant::Literal(value) if wide && is_wide(ty) => Constant::Literal64(value.into()),
            constant => constant,
        },
        (Marker::Lit64, _) => Constant::Literal64(match given {
            Given::Int(value) => value as u64,
            Given::Float(value) => value.to_bits(),
        }),
    })
}

/// The 64 bits of a number; an integer of 32 bits is the upper half.
pub(crate) fn wide(given: Given, lit: Marker) -> u64 {
    match given {
        Given::Float(value) => value.to_bits(),
        Given::Int(value) if lit != Marker::Lit64 && fits(value, 32) && inline64(value as u64).is_none() => {
            (value as u64) << 32
        }
        Given::Int(value) => value as u64,
    }
}

/// The literal of a number, whatever inline constants there are.
pub(crate) fn literal(given: Given, ty: Type) -> Option<Constant> {
    Some(Constant::Literal(match (given, ty) {
        (Given::Int(value), Type::I16 | Type::F16 | Type::Bf16 | Type::NoInline) => {
            if !fits(value, 16) {
                return None;
            }
            value as u32 & 0xffff
        }
        (Given::Int(value), _) => {
            if !fits(value, 32) {
                return None;
            }
            value as u32
        }
        (Given::Float(value), Type::F64) => (value.to_bits() >> 32) as u32,
        (Given::Float(value), Type::F16 | Type::V2F16 | Type::NoInline) => narrow(value, 5, 10)?,
        (Given::Float(value), Type::Bf16 | Type::V2Bf16) => narrow(value, 8, 7)?,
        (Given::Float(value), _) => narrow(value, 8, 23)?,
    }))
}

fn float(value: f64, ty: Type, wide: bool) -> Option<Constant> {
    let of = |bits: u32, inline: Option<u32>| inline.map_or(Constant::Literal(bits), Constant::Inline);
    Some(match ty {
        Type::F64 | Type::I64 | Type::Lit64 => {
            let bits = value.to_bits();
            match inline64(bits) {
                Some(inline) => Constant::Inline(inline),
                None if wide && bits as u32 != 0 => Constant::Literal64(bits),
                None => Constant::Literal((bits >> 32) as u32),
            }
        }
        Type::F16 | Type::V2F16 => {
            let bits = narrow(value, 5, 10)?;
            of(bits, inline16(bits as u16))
        }
        Type::I16 => {
            // As of 32-bit floats.
            let bits = narrow(value, 8, 23)?;
            of(bits, inline32(bits))
        }
        Type::Bf16 | Type::V2Bf16 => {
            let bits = narrow(value, 8, 7)?;
            let inline = if value.to_bits() == SINGLE { Some(INV_TWO_PI) } else { inline_bf16(bits as u16) };
            of(bits, inline)
        }
        _ => {
            let bits = narrow(value, 8, 23)?;
            of(bits, inline32(bits))
        }
    })
}

fn int(value: i64, ty: Type, wide: bool) -> Option<Constant> {
    let of = |bits: u32, inline: Option<u32>| inline.map_or(Constant::Literal(bits), Constant::Inline);
    Some(match ty {
        Type::F64 | Type::I64 | Type::Lit64 => match inline64(value as u64) {
            Some(inline) => Constant::Inline(inline),
            None if wide && ty == Type::F64 && value as u32 == 0 => Constant::Literal((value >> 32) as u32),
            // Where there are 64-bit literals those of 32 bits hold what extends to the same either way.
            None if wide && ty != Type::F64 && !(0..=i64::from(i32::MAX)).contains(&value) => {
                Constant::Literal64(value as u64)
            }
            None if fits(value, 32) => Constant::Literal(value as u32),
            None if wide => Constant::Literal64(value as u64),
            None => return None,
        },
        Type::I16 | Type::F16 | Type::Bf16 => {
            if !fits(value, 16) {
                return None;
            }
            let bits = value as u16;
            let inline = match ty {
                Type::F16 => inline16(bits),
                Type::Bf16 => inline_bf16(bits),
                _ => inline_int(i64::from(bits as i16)),
            };
            of(bits.into(), inline)
        }
        _ => {
            if !fits(value, 32) {
                return None;
            }
            let bits = value as u32;
            let inline = match ty {
                // Integers by all their bits, floats by the low half.
                Type::V2F16 | Type::V2Bf16 => inline_int(i64::from(bits as i32)).or_else(|| {
                    let low = u16::try_from(bits).ok()?;
                    let inline = if ty == Type::V2F16 { inline16(low) } else { inline_bf16(low) };
                    inline.filter(|&inline| inline >= 240)
                }),
                _ => inline32(bits),
            };
            of(bits, inline)
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floats_become_shorter() {
        assert_eq!(narrow(1.0, 5, 10), Some(0x3c00));
        assert_eq!(narrow(65504.0, 5, 10), Some(0x7bff));
        assert_eq!(narrow(65536.0, 5, 10), None);
        assert_eq!(narrow(5.960464477539063e-8, 5, 10), Some(1));
        assert_eq!(narrow(1e-30, 5, 10), None);
        for value in [1.0f32, -0.1, 3.402_823_5e38, 1.2e-38, 2.350_988_6e-38, f32::MIN_POSITIVE] {
            assert_eq!(narrow(value.into(), 8, 23), Some(value.to_bits()), "{value}");
        }
        assert_eq!(narrow(0.1, 8, 23), Some(0.1f32.to_bits()));
    }

    #[test]
    fn constants_are_inline_where_they_can_be() {
        let int = |value, ty| encode(Given::Int(value), ty, Marker::Free, false);
        assert_eq!(int(64, Type::I32), Some(Constant::Inline(192)));
        assert_eq!(int(-16, Type::F32), Some(Constant::Inline(208)));
        assert_eq!(int(65, Type::I32), Some(Constant::Literal(65)));
        assert_eq!(int(0x3c00, Type::F16), Some(Constant::Inline(242)));
        assert_eq!(int(0x3c00, Type::I16), Some(Constant::Literal(0x3c00)));
        assert_eq!(int(0x1_0000, Type::I16), None);
        assert_eq!(int(1 << 40, Type::I64), None);
        assert_eq!(encode(Given::Int(1 << 40), Type::I64, Marker::Free, true), Some(Constant::Literal64(1 << 40)));
        assert_eq!(encode(Given::Int(1), Type::I32, Marker::Lit, false), Some(Constant::Literal(1)));
        let float = |value, ty| encode(Given::Float(value), ty, Marker::Free, false);
        assert_eq!(float(-4.0, Type::F64), Some(Constant::Inline(247)));
        assert_eq!(float(0.15915494, Type::F32), Some(Constant::Inline(248)));
        assert_eq!(float(0.15915494, Type::F64), Some(Constant::Inline(248)));
        assert_eq!(float(1.5, Type::F64), Some(Constant::Literal(0x3ff8_0000)));
    }
}
