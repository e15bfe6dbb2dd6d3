//! Formats of buffers: what the bits in memory are to a register and back.

use std::sync::LazyLock;
use std::vec::Vec;

use crate::Generation;
use crate::exec::Round;
use crate::exec::float::{F16_FORMAT, F32_FORMAT, Format as Float};
use crate::syntax::names::{DATA_FORMATS, FORMATS_GFX10, FORMATS_GFX11, NUMBER_FORMATS};

/// What a component's bits mean.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Unorm,
    Snorm,
    Uscaled,
    Sscaled,
    Uint,
    Sint,
    Float,
}

/// A format of one to four components.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Format {
    kind: Kind,
    /// Bits of each component from the lowest of the element on; 0: not there.
    bits: [u8; 4],
}

static GFX9: LazyLock<Vec<Option<Format>>> = LazyLock::new(|| {
    let numbers = NUMBER_FORMATS.iter().map(|name| name.strip_prefix("BUF_NUM_FORMAT_"));
    let data = || DATA_FORMATS.iter().map(|name| name.strip_prefix("BUF_DATA_FORMAT_"));
    numbers.flat_map(|number| data().map(move |data| Format::parse(data?, number?))).collect()
});
static GFX10: LazyLock<Vec<Option<Format>>> = LazyLock::new(|| FORMATS_GFX10.iter().map(whole).collect());
static GFX11: LazyLock<Vec<Option<Format>>> = LazyLock::new(|| FORMATS_GFX11.iter().map(whole).collect());

fn whole(name: &&str) -> Option<Format> {
    let (data, number) = name.strip_prefix("BUF_FMT_")?.rsplit_once('_')?;
    Format::parse(data, number)
}

/// The format of a number that instructions or descriptors hold: since RDNA 1 of both data and numbers, before with the
/// format of the data in the low four bits and that of the numbers above.
pub(crate) fn find(generation: Generation, number: u32) -> Option<Format> {
    let table = match generation {
        Generation::Cdna1 | Generation::Cdna2 | Generation::Cdna3 | Generation::Cdna4 => &GFX9,
        Generation::Rdna1 | Generation::Rdna2 => &GFX10,
        _ => &GFX11,
    };
    table.get(number as usize).copied().flatten()
}

impl Format {
    /// Reads the names of the widths, the highest component first, and of the numbers.
    fn parse(data: &str, number: &str) -> Option<Format> {
        let kind = match number {
            "UNORM" => Kind::Unorm,
            "SNORM" => Kind::Snorm,
            "USCALED" => Kind::Uscaled,
            "SSCALED" => Kind::Sscaled,
            "UINT" => Kind::Uint,
            "SINT" => Kind::Sint,
            "FLOAT" => Kind::Float,
            _ => return None,
        };
        let mut bits = [0; 4];
        for (at, width) in data.rsplit('_').enumerate() {
            *bits.get_mut(at)? = width.parse().ok()?;
        }
        Some(Format { kind, bits })
    }

    /// Bytes of an element.
    pub(crate) fn bytes(self) -> u32 {
        self.bits.iter().map(|bits| u32::from(*bits)).sum::<u32>() / 8
    }

    fn is_integer(self) -> bool {
        matches!(self.kind, Kind::Uint | Kind::Sint)
    }

    /// The components of an element as registers hold them, those that are not there as 0, 0, 0, 1; `half`: in 16 bits.
    pub(crate) fn unpack(self, element: u128, half: bool) -> [u32; 4] {
        let mut at = 0;
        core::array::from_fn(|component| {
            let bits = u32::from(self.bits[component]);
            if bits == 0 {
                return if component == 3 { self.one(half) } else { 0 };
            }
            let raw = (element >> at) as u32 & (u32::MAX >> (32 - bits));
            at += bits;
            let value = self.decode(raw, bits);
            if !half {
                value
            } else if self.is_integer() {
                value & 0xffff
            } else {
                F32_FORMAT.convert(u64::from(value), F16_FORMAT, Round::NearestEven) as u32
            }
        })
    }

    /// One, as a component of the format.
    pub(crate) fn one(self, half: bool) -> u32 {
        match (self.is_integer(), half) {
            (true, _) => 1,
            (false, true) => 0x3c00,
            (false, false) => 1f32.to_bits(),
        }
    }

    /// The element that registers' components make.
    pub(crate) fn pack(self, components: [u32; 4], half: bool) -> u128 {
        let mut at = 0;
        let mut element = 0;
        for (component, bits) in components.into_iter().zip(self.bits.map(u32::from)) {
            if bits == 0 {
                continue;
            }
            let value = match (half, self.kind) {
                (false, _) => component,
                (true, Kind::Uint) => component & 0xffff,
                (true, Kind::Sint) => component as u16 as i16 as u32,
                (true, _) => F16_FORMAT.convert(u64::from(component & 0xffff), F32_FORMAT, Round::NearestEven) as u32,
            };
            element |= u128::from(self.encode(value, bits) & (u32::MAX >> (32 - bits))) << at;
            at += bits;
        }
        element
    }

    fn decode(self, raw: u32, bits: u32) -> u32 {
        let signed = || ((raw << (32 - bits)) as i32) >> (32 - bits);
        // Both operands are exact in 64 bits, so only the last step rounds.
        let ratio = |value: f64, most: u64| (value / most as f64) as f32;
        match self.kind {
            Kind::Uint => raw,
            Kind::Sint => signed() as u32,
            Kind::Uscaled => (raw as f32).to_bits(),
            Kind::Sscaled => (signed() as f32).to_bits(),
            Kind::Unorm => ratio(f64::from(raw), (1 << bits) - 1).to_bits(),
            Kind::Snorm => ratio(f64::from(signed()), (1 << (bits - 1)) - 1).max(-1.0).to_bits(),
            Kind::Float => match float(bits) {
                Some(format) => format.convert(u64::from(raw), F32_FORMAT, Round::NearestEven) as u32,
                None => raw,
            },
        }
    }

    fn encode(self, value: u32, bits: u32) -> u32 {
        let number = f64::from(f32::from_bits(value));
        // Conversions to integers turn NaN to 0.
        let norm = |least: f64, most: u64| (number.clamp(least, 1.0) * most as f64).round_ties_even() as i64 as u32;
        let most = (1u64 << bits) - 1;
        match self.kind {
            Kind::Uint | Kind::Sint => value,
            Kind::Uscaled => number.clamp(0.0, most as f64) as u32,
            Kind::Sscaled => {
                let most = (most / 2) as f64;
                number.clamp(-most - 1.0, most) as i64 as u32
            }
            Kind::Unorm => norm(0.0, most),
            Kind::Snorm => norm(-1.0, most / 2),
            Kind::Float => match float(bits) {
                // The small ones have no sign.
                Some(_) if bits < 16 && number < 0.0 => 0,
                Some(format) => F32_FORMAT.convert(u64::from(value), format, Round::NearestEven) as u32,
                None => value,
            },
        }
    }
}

/// The format of floats of fewer than 32 bits; those of 10 and 11 bits have no sign.
fn float(bits: u32) -> Option<Float> {
    match bits {
        16 => Some(F16_FORMAT),
        11 => Some(Float { exp: 5, man: 6 }),
        10 => Some(Float { exp: 5, man: 5 }),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn floats(format: Format, element: u128) -> [f32; 4] {
        format.unpack(element, false).map(f32::from_bits)
    }

    #[test]
    fn formats_are_what_their_names_say() {
        let gfx11 = |number| find(Generation::Rdna3, number).expect("a format");
        // 8_8_8_8_UNORM
        assert_eq!(floats(gfx11(42), 0xff80_3300), [0.0, 0.2, 128.0 / 255.0, 1.0]);
        // 8_SNORM: the two lowest values are -1.
        assert_eq!(floats(gfx11(2), 0x80)[0], -1.0);
        assert_eq!(floats(gfx11(2), 0x81), [-1.0, 0.0, 0.0, 1.0]);
        // 2_10_10_10_UINT: X in the low bits.
        assert_eq!(gfx11(40).unpack(0b11 << 30 | 5 << 20 | 6 << 10 | 7, false), [7, 6, 5, 3]);
        // 10_11_11_FLOAT: 1.0 has the exponent 15.
        assert_eq!(floats(gfx11(30), 15 << 6 | 16 << 17 | 14 << 27), [1.0, 2.0, 0.5, 1.0]);
        assert_eq!(floats(gfx11(30), 31 << 6)[0], f32::INFINITY);
        // 16_16_FLOAT, 32_32_32_UINT and 16_SINT.
        assert_eq!(floats(gfx11(29), 0xc000_3c00), [1.0, -2.0, 0.0, 1.0]);
        assert_eq!(gfx11(58).unpack(3 << 64 | 2 << 32 | 1, false), [1, 2, 3, 1]);
        assert_eq!(gfx11(12).unpack(0xfffe, false), [-2i32 as u32, 0, 0, 1]);
        assert_eq!(gfx11(12).unpack(0xfffe, true), [0xfffe, 0, 0, 1]);
        assert_eq!(gfx11(42).unpack(0xff, true), [0x3c00, 0, 0, 0]);
        // Data format 8_8, number format SSCALED.
        let format = find(Generation::Cdna1, 3 << 4 | 3).expect("a format");
        assert_eq!(floats(format, 0x7f80), [-128.0, 127.0, 0.0, 1.0]);
        assert_eq!(find(Generation::Rdna3, 0), None);
        assert_eq!(find(Generation::Cdna1, 6 << 4 | 3), None);
    }

    #[test]
    fn stores_undo_loads() {
        let mut formats = 0;
        for generation in [Generation::Cdna1, Generation::Rdna1, Generation::Rdna3] {
            for format in (0..128).filter_map(|number| find(generation, number)) {
                formats += 1;
                for seed in 0..200u128 {
                    let all = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835) ^ seed << 64;
                    let element = all & (u128::MAX >> (128 - 8 * format.bytes()));
                    let components = format.unpack(element, false);
                    let nan =
                        format.kind == Kind::Float && components.iter().any(|bits| f32::from_bits(*bits).is_nan());
                    // Floats of 32 bits do not hold every integer of 32 bits.
                    let lossy = format.bits.contains(&32) && !format.is_integer() && format.kind != Kind::Float;
                    if nan || lossy {
                        continue;
                    }
                    let again = format.pack(components, false);
                    assert_eq!(format.unpack(again, false), components, "{format:?} {element:#x}");
                    // Two values of SNORM are -1; one comes back.
                    if format.kind != Kind::Snorm {
                        assert_eq!(again, element, "{format:?}");
                    }
                }
            }
        }
        assert!(formats > 150, "{formats}");
    }
}
