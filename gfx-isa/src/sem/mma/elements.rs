//! Elements of matrices as numbers.

use crate::exec::small::{Small, Special, e8m0_f32};
use crate::matrix::Format;

/// A block scale of type E4M3, without sign.
const E4M3: Small = Small { exp: 4, man: 3, bias: 7, signed: false, special: Special::LastIsNan };

/// The description of a float of 16 bits or fewer.
pub(super) const fn small(format: Format) -> Option<Small> {
    Some(match format {
        Format::F16 => Small::F16,
        Format::Bf16 => Small::BF16,
        Format::Fp8 => Small::FP8,
        Format::Bf8 => Small::BF8,
        Format::Fp8Fnuz => Small::FP8_FNUZ,
        Format::Bf8Fnuz => Small::BF8_FNUZ,
        Format::Fp6 => Small::FP6,
        Format::Bf6 => Small::BF6,
        Format::Fp4 => Small::FP4,
        _ => return None,
    })
}

/// The values of a format of 8 bits or fewer by its bits; bits above it count for nothing.
pub(super) fn values(format: Format) -> Option<&'static [f32; 256]> {
    static FP8: [f32; 256] = Small::FP8.table();
    static BF8: [f32; 256] = Small::BF8.table();
    static FP8_FNUZ: [f32; 256] = Small::FP8_FNUZ.table();
    static BF8_FNUZ: [f32; 256] = Small::BF8_FNUZ.table();
    static FP6: [f32; 256] = Small::FP6.table();
    static BF6: [f32; 256] = Small::BF6.table();
    static FP4: [f32; 256] = Small::FP4.table();
    // No power of two is a denormal number: 0 stands for 2^-127.
    static E8M0: [f32; 256] = {
        let mut values = [0.0; 256];
        let mut bits = 0;
        while bits < values.len() {
            values[bits] = e8m0_f32(bits as u8);
            bits += 1;
        }
        values
    };
    static E5M3: [f32; 256] = Small::E5M3.table();
    static E4M3: [f32; 256] = self::E4M3.table();
    Some(match format {
        Format::Fp8 => &FP8,
        Format::Bf8 => &BF8,
        Format::Fp8Fnuz => &FP8_FNUZ,
        Format::Bf8Fnuz => &BF8_FNUZ,
        Format::Fp6 => &FP6,
        Format::Bf6 => &BF6,
        Format::Fp4 => &FP4,
        Format::E8m0 => &E8M0,
        Format::E5m3 => &E5M3,
        Format::E4m3 => &E4M3,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_the_manuals() {
        // Largest, smallest normal and smallest denormal of AMD's tables; NaN and infinity.
        let value = |format, bits: usize| values(format).expect("a small format")[bits];
        assert_eq!([0x7e, 0x08, 0x01].map(|bits| value(Format::Fp8, bits)), [448.0, 2f32.powi(-6), 2f32.powi(-9)]);
        assert_eq!([0x7b, 0x04, 0x01].map(|bits| value(Format::Bf8, bits)), [57344.0, 2f32.powi(-14), 2f32.powi(-16)]);
        assert_eq!([0x7f, 0x08, 0x01].map(|bits| value(Format::Fp8Fnuz, bits)), [240.0, 2f32.powi(-7), 2f32.powi(-10)]);
        assert_eq!(
            [0x7f, 0x04, 0x01].map(|bits| value(Format::Bf8Fnuz, bits)),
            [57344.0, 2f32.powi(-15), 2f32.powi(-17)]
        );
        assert_eq!([0xfe, 0x7f, 0x00].map(|bits| value(Format::E8m0, bits)), [2f32.powi(127), 1.0, 2f32.powi(-127)]);
        assert_eq!(
            [0xfe, 0x08, 0x01, 0].map(|bits| value(Format::E5m3, bits)),
            [114_688.0, 2f32.powi(-14), 2f32.powi(-17), 0.0]
        );
        assert_eq!(
            [0x7e, 0x08, 0x01, 0].map(|bits| value(Format::E4m3, bits)),
            [448.0, 2f32.powi(-6), 2f32.powi(-9), 0.0]
        );
        for (format, bits) in [
            (Format::Fp8, 0x7f),
            (Format::Fp8Fnuz, 0x80),
            (Format::E8m0, 0xff),
            (Format::E5m3, 0xff),
            (Format::E4m3, 0x7f),
        ] {
            assert!(value(format, bits).is_nan(), "{format}");
        }
        assert_eq!([0x7c, 0xfc].map(|bits| value(Format::Bf8, bits)), [f32::INFINITY, f32::NEG_INFINITY]);
        assert_eq!([7, 0xf].map(|bits| value(Format::Fp4, bits)), [6.0, -6.0]);
        assert_eq!([0x1f, 0x3f].map(|bits| value(Format::Fp6, bits)), [7.5, -7.5]);
        assert_eq!([0x1f, 0x3f].map(|bits| value(Format::Bf6, bits)), [28.0, -28.0]);
    }
}
