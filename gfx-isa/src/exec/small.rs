//! Floats of 16 bits and fewer, exactly: one description a format, decoding to a number and encoding from one.

use super::state::Round;

/// What the codes at the edge of a format mean.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Special {
    /// The top exponent holds infinity and NaNs.
    Ieee,
    /// The largest magnitude is NaN; there is no infinity (OCP's E4M3).
    LastIsNan,
    /// What would be -0 is the only NaN; there is no infinity (FNUZ).
    ZeroIsNan,
    /// Every code is finite (OCP's FP6 and FP4).
    Finite,
}

/// A format of up to 32 bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Small {
    /// Bits of the exponent.
    pub(crate) exp: u32,
    /// Bits of the fraction.
    pub(crate) man: u32,
    pub(crate) bias: i32,
    pub(crate) signed: bool,
    pub(crate) special: Special,
}

/// A number of any format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Value {
    /// The payload is the fraction moved up to bit 31, so that the quiet bit is there. Eight-bit formats have none.
    Nan {
        negative: bool,
        payload: u32,
    },
    Infinite {
        negative: bool,
    },
    /// `mantissa * 2^exponent`.
    Finite {
        negative: bool,
        mantissa: u32,
        exponent: i32,
    },
}

impl Value {
    /// `self * 2^by`.
    pub(crate) const fn scaled(self, by: i32) -> Value {
        match self {
            Value::Finite { negative, mantissa, exponent } => {
                Value::Finite { negative, mantissa, exponent: exponent.saturating_add(by) }
            }
            other => other,
        }
    }

    pub(crate) const fn is_negative(self) -> bool {
        match self {
            Value::Nan { negative, .. } | Value::Infinite { negative } | Value::Finite { negative, .. } => negative,
        }
    }
}

/// How what does not fit is rounded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Rounding {
    To(Round),
    /// The upper `bits` bits of the seed are added below the last kept place, then the rest is cut off. Hardware has an
    /// adder as wide as the source's fraction: what a denormal result shifts below that is lost before the addition.
    Stochastic {
        seed: u32,
        bits: u32,
    },
}

impl Rounding {
    pub(crate) const NEAREST: Rounding = Rounding::To(Round::NearestEven);

    /// Stochastic rounding of numbers that come from one format and go to another.
    pub(crate) const fn stochastic(seed: u32, from: Small, to: Small) -> Rounding {
        Rounding::Stochastic { seed, bits: from.man.saturating_sub(to.man) }
    }
}

/// What becomes of magnitudes beyond the largest finite one. Formats without a code for them saturate always.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Overflow {
    /// Infinity, or NaN where there is none; the largest finite magnitude where the rounding goes toward 0.
    Special,
    /// Finite numbers become the largest finite one, infinity does not.
    Clamp,
    /// Infinity too becomes the largest finite number.
    ClampAll,
}

impl Small {
    const fn new(exp: u32, man: u32, bias: i32, special: Special) -> Small {
        Small { exp, man, bias, signed: true, special }
    }

    /// A format of IEEE 754's kind.
    pub(crate) const fn ieee(exp: u32, man: u32) -> Small {
        Small::new(exp, man, (1 << (exp - 1)) - 1, Special::Ieee)
    }

    pub(crate) const F32: Small = Small::ieee(8, 23);
    pub(crate) const F16: Small = Small::ieee(5, 10);
    pub(crate) const BF16: Small = Small::ieee(8, 7);
    /// OCP E4M3.
    pub(crate) const FP8: Small = Small::new(4, 3, 7, Special::LastIsNan);
    /// OCP E5M2.
    pub(crate) const BF8: Small = Small::new(5, 2, 15, Special::Ieee);
    pub(crate) const FP8_FNUZ: Small = Small::new(4, 3, 8, Special::ZeroIsNan);
    pub(crate) const BF8_FNUZ: Small = Small::new(5, 2, 16, Special::ZeroIsNan);
    /// OCP E2M3.
    pub(crate) const FP6: Small = Small::new(2, 3, 1, Special::Finite);
    /// OCP E3M2.
    pub(crate) const BF6: Small = Small::new(3, 2, 3, Special::Finite);
    /// OCP E2M1.
    pub(crate) const FP4: Small = Small::new(2, 1, 1, Special::Finite);
    /// A block scale without sign.
    pub(crate) const E5M3: Small = Small { signed: false, ..Small::new(5, 3, 15, Special::LastIsNan) };

    /// Bits of a code.
    pub(crate) const fn width(self) -> u32 {
        self.exp + self.man + self.signed as u32
    }

    /// The largest code without its sign.
    const fn last(self) -> u32 {
        (1 << (self.exp + self.man)) - 1
    }

    const fn sign(self, negative: bool) -> u32 {
        if self.signed && negative { 1 << (self.exp + self.man) } else { 0 }
    }

    /// The top exponent with fraction 0: infinity where the format has it.
    const fn top(self) -> u32 {
        self.last() >> self.man << self.man
    }

    /// Code of the largest finite magnitude.
    pub(crate) const fn largest(self) -> u32 {
        match self.special {
            Special::Ieee => self.top() - 1,
            Special::LastIsNan => self.last() - 1,
            Special::ZeroIsNan | Special::Finite => self.last(),
        }
    }

    /// The number of a code; bits above the format's are ignored.
    pub(crate) const fn decode(self, bits: u32) -> Value {
        let negative = self.signed && bits >> (self.exp + self.man) & 1 != 0;
        let magnitude = bits & self.last();
        let fraction = bits & ((1 << self.man) - 1);
        let nan = match self.special {
            Special::Ieee => magnitude > self.top(),
            Special::LastIsNan => magnitude == self.last(),
            Special::ZeroIsNan => negative && magnitude == 0,
            Special::Finite => false,
        };
        if nan {
            let payload = if self.width() > 8 { fraction << (32 - self.man) } else { 0 };
            return Value::Nan { negative: negative && !matches!(self.special, Special::ZeroIsNan), payload };
        }
        if matches!(self.special, Special::Ieee) && magnitude == self.top() {
            return Value::Infinite { negative };
        }
        let field = magnitude >> self.man;
        let (mantissa, field) = if field == 0 { (fraction, 1) } else { (fraction | 1 << self.man, field) };
        Value::Finite { negative, mantissa, exponent: field as i32 - self.bias - self.man as i32 }
    }

    /// The number of a code, which a 32-bit float holds exactly.
    pub(crate) const fn to_f32(self, bits: u32) -> f32 {
        let value = self.decode(bits);
        let sign = Small::F32.sign(value.is_negative());
        f32::from_bits(match value {
            Value::Nan { payload, .. } => sign | 0x7fc0_0000 | payload >> 9,
            Value::Infinite { .. } => sign | 0x7f80_0000,
            Value::Finite { mantissa: 0, .. } => sign,
            Value::Finite { mantissa, exponent, .. } => {
                let top = 31 - mantissa.leading_zeros() as i32;
                if exponent + top >= -126 {
                    let fraction = mantissa << (23 - top) & 0x7f_ffff;
                    sign | ((exponent + top + 127) as u32) << 23 | fraction
                } else {
                    sign | mantissa << (exponent + 149)
                }
            }
        })
    }

    /// [`Small::to_f32`] of each code: what loops over many numbers look up.
    pub(crate) const fn table<const N: usize>(self) -> [f32; N] {
        let mut table = [0.0; N];
        let mut bits = 0;
        while bits < N {
            table[bits] = self.to_f32(bits as u32);
            bits += 1;
        }
        table
    }

    /// The NaN of the format; the largest magnitude where it has none.
    pub(crate) const fn nan(self, negative: bool, payload: u32) -> u32 {
        match self.special {
            // Eight-bit formats have one NaN of each sign.
            Special::Ieee => {
                let payload = if self.width() > 8 { payload >> (32 - self.man) } else { 0 };
                self.sign(negative) | self.top() | 1 << (self.man - 1) | payload
            }
            Special::LastIsNan | Special::Finite => self.sign(negative) | self.last(),
            Special::ZeroIsNan => 1 << (self.exp + self.man),
        }
    }

    const fn overflow(self, negative: bool, clamps: bool) -> u32 {
        if clamps {
            return self.sign(negative) | self.largest();
        }
        match self.special {
            Special::Ieee => self.sign(negative) | self.top(),
            _ => self.nan(negative, 0),
        }
    }

    /// The code that a number rounds to.
    pub(crate) fn encode(self, value: Value, rounding: Rounding, overflow: Overflow) -> u32 {
        let (negative, mantissa, exponent) = match value {
            Value::Nan { negative, payload } => return self.nan(negative, payload),
            Value::Infinite { negative } => return self.overflow(negative, overflow == Overflow::ClampAll),
            Value::Finite { negative, mantissa, exponent } => (negative, u64::from(mantissa), exponent),
        };
        let lowest = 1 - self.bias;
        let top = if mantissa == 0 { lowest } else { exponent + mantissa.ilog2() as i32 };
        let unit = top.max(lowest) - self.man as i32;
        let kept = round(mantissa, unit - exponent, negative, rounding);
        // The hidden bit of a normal number adds one to the exponent field; so does a carry out of the fraction.
        let magnitude = (i64::from(top.max(lowest) - lowest) << self.man) + kept as i64;
        if magnitude > i64::from(self.largest()) {
            let toward_zero = match rounding {
                Rounding::To(Round::Zero) => true,
                Rounding::To(Round::Up) => negative,
                Rounding::To(Round::Down) => !negative,
                Rounding::To(Round::NearestEven) | Rounding::Stochastic { .. } => false,
            };
            return self.overflow(negative, toward_zero || overflow != Overflow::Special);
        }
        match magnitude as u32 {
            0 if self.special == Special::ZeroIsNan => 0,
            magnitude => self.sign(negative) | magnitude,
        }
    }
}

/// `mantissa / 2^shift`, rounded.
fn round(mantissa: u64, shift: i32, negative: bool, rounding: Rounding) -> u64 {
    match rounding {
        Rounding::Stochastic { seed, bits } => {
            let sum = shifted(mantissa, shift - bits as i32) + (u64::from(seed) >> (32 - bits));
            sum >> bits
        }
        Rounding::To(round) => {
            let kept = shifted(mantissa, shift);
            let halves = shifted(mantissa, shift - 1) & 1;
            let zeros = mantissa.trailing_zeros() as i32;
            let exact = shift <= 0 || mantissa == 0 || zeros >= shift;
            let tie = zeros == shift - 1;
            let up = match round {
                Round::NearestEven => halves != 0 && (!tie || kept & 1 != 0),
                Round::Up => !exact && !negative,
                Round::Down => !exact && negative,
                Round::Zero => false,
            };
            kept + u64::from(up && !exact)
        }
    }
}

/// `mantissa / 2^shift`, cut off.
const fn shifted(mantissa: u64, shift: i32) -> u64 {
    match shift {
        64.. => 0,
        0.. => mantissa >> shift,
        // A result has few bits more than its mantissa, so none is lost.
        -63.. => mantissa << -shift,
        _ => 0,
    }
}

/// The exponent of a block scale of type E8M0: it stands for `2^exponent`. None is NaN.
pub(crate) const fn e8m0(scale: u8) -> Option<i32> {
    if scale == 0xff { None } else { Some(scale as i32 - 127) }
}

/// A block scale of type E8M0 as a 32-bit float.
pub(crate) const fn e8m0_f32(scale: u8) -> f32 {
    f32::from_bits(match scale {
        0xff => 0x7fc0_0000,
        0 => 0x0040_0000,
        exponent => (exponent as u32) << 23,
    })
}

#[cfg(test)]
mod tests {
    use std::vec::Vec;

    use rustc_apfloat::ieee::{BFloat, Float8E4M3FN, Float8E5M2, Half, Single};
    use rustc_apfloat::{Float, FloatConvert, Round as ApRound};

    use super::*;

    const ALL: [(&str, Small); 11] = [
        ("f32", Small::F32),
        ("f16", Small::F16),
        ("bf16", Small::BF16),
        ("fp8", Small::FP8),
        ("bf8", Small::BF8),
        ("fp8 fnuz", Small::FP8_FNUZ),
        ("bf8 fnuz", Small::BF8_FNUZ),
        ("fp6", Small::FP6),
        ("bf6", Small::BF6),
        ("fp4", Small::FP4),
        ("e5m3", Small::E5M3),
    ];

    /// Numbers of the OCP specifications and of the manuals' tables: code, number.
    #[test]
    fn landmarks() {
        let all = [
            (Small::FP8, 0x38, 1.0),
            (Small::FP8, 0x7e, 448.0),
            (Small::FP8, 0x08, 0.015_625),
            (Small::FP8, 0x01, 0.001_953_125),
            (Small::FP8, 0xb8, -1.0),
            (Small::BF8, 0x3c, 1.0),
            (Small::BF8, 0x7b, 57344.0),
            (Small::BF8, 0x7c, f32::INFINITY),
            (Small::BF8, 0x01, 1.525_878_9e-5),
            (Small::FP8_FNUZ, 0x38, 0.5),
            (Small::FP8_FNUZ, 0x7f, 240.0),
            (Small::FP8_FNUZ, 0x01, 0.000_976_562_5),
            (Small::BF8_FNUZ, 0x7f, 57344.0),
            (Small::BF8_FNUZ, 0x01, 7.629_394_5e-6),
            (Small::FP6, 0x1f, 7.5),
            (Small::FP6, 0x08, 1.0),
            (Small::FP6, 0x01, 0.125),
            (Small::BF6, 0x1f, 28.0),
            (Small::BF6, 0x04, 0.25),
            (Small::BF6, 0x01, 0.0625),
            (Small::FP4, 0x7, 6.0),
            (Small::FP4, 0x6, 4.0),
            (Small::FP4, 0x5, 3.0),
            (Small::FP4, 0x1, 0.5),
            (Small::FP4, 0xa, -1.0),
            (Small::E5M3, 0xfe, 114_688.0),
            (Small::E5M3, 0x08, 6.103_515_6e-5),
            (Small::E5M3, 0x01, 7.629_394_5e-6),
        ];
        for (format, bits, number) in all {
            assert_eq!(format.to_f32(bits).to_bits(), f32::to_bits(number), "{format:?} {bits:#x}");
        }
        for (format, bits) in [
            (Small::FP8, 0x7f),
            (Small::FP8, 0xff),
            (Small::BF8, 0x7d),
            (Small::BF8, 0xff),
            (Small::FP8_FNUZ, 0x80),
            (Small::BF8_FNUZ, 0x80),
            (Small::E5M3, 0xff),
        ] {
            assert!(format.to_f32(bits).is_nan(), "{format:?} {bits:#x}");
        }
        assert_eq!([0, 1, 127, 254].map(e8m0_f32), [2f32.powi(-127), 2f32.powi(-126), 1.0, 2f32.powi(127)]);
        assert!(e8m0_f32(255).is_nan());
        assert_eq!([0, 127, 254, 255].map(e8m0), [Some(-127), Some(0), Some(127), None]);
    }

    /// Decoding against the library's floats, for the formats that it has.
    #[test]
    fn decode_library() {
        fn check<F: Float + FloatConvert<Single>>(format: Small) {
            for bits in 0..1u32 << format.width() {
                let want = F::from_bits(bits.into()).convert(&mut false).value.to_bits() as u32;
                let got = format.to_f32(bits);
                if f32::from_bits(want).is_nan() {
                    assert!(got.is_nan(), "{format:?} {bits:#x}");
                } else {
                    assert_eq!(got.to_bits(), want, "{format:?} {bits:#x}");
                }
            }
        }
        check::<Half>(Small::F16);
        check::<BFloat>(Small::BF16);
        check::<Float8E4M3FN>(Small::FP8);
        check::<Float8E5M2>(Small::BF8);
    }

    /// The other formats by their definition: `(-1)^s * 2^(e - bias) * 1.f`.
    #[test]
    fn decode_definition() {
        for (name, format) in ALL.into_iter().filter(|(_, format)| format.width() <= 8) {
            for bits in 0..1u32 << format.width() {
                let negative = format.signed && bits >> (format.width() - 1) != 0;
                let (field, fraction) = (bits >> format.man & ((1 << format.exp) - 1), bits & ((1 << format.man) - 1));
                let scale = f64::from(1u32 << format.man);
                let magnitude = match field {
                    0 => f64::from(fraction) / scale * 2f64.powi(1 - format.bias),
                    _ => (1.0 + f64::from(fraction) / scale) * 2f64.powi(field as i32 - format.bias),
                };
                let want = if negative { -magnitude } else { magnitude };
                match format.decode(bits) {
                    Value::Finite { negative: sign, mantissa, exponent } => {
                        assert_eq!(f64::from(mantissa) * 2f64.powi(exponent), want.abs(), "{name} {bits:#x}");
                        assert_eq!(sign, negative, "{name} {bits:#x}");
                        assert_eq!(f64::from(format.to_f32(bits)), want, "{name} {bits:#x}");
                    }
                    _ => assert!(magnitude == 0.0 || field == (1 << format.exp) - 1, "{name} {bits:#x}"),
                }
            }
        }
    }

    #[test]
    fn codes_come_back() {
        for (name, format) in ALL {
            for bits in (0..1u64 << format.width()).step_by(if format.width() > 16 { 65_521 } else { 1 }) {
                let bits = bits as u32;
                let value = format.decode(bits);
                let again = format.encode(value, Rounding::NEAREST, Overflow::Special);
                match value {
                    Value::Nan { .. } => assert!(matches!(format.decode(again), Value::Nan { .. }), "{name} {bits:#x}"),
                    _ => assert_eq!(again, bits, "{name}"),
                }
            }
        }
    }

    /// Every 16-bit float and many 32-bit ones to every small format, against a search among all its codes.
    #[test]
    fn nearest_of_all() {
        for (name, format) in ALL.into_iter().filter(|(_, format)| format.width() <= 8) {
            // Finite magnitudes in order of their codes, which is the order of size.
            let codes: Vec<f64> = (0..=format.largest()).map(|bits| f64::from(format.to_f32(bits))).collect();
            let last = codes.len() - 1;
            // The first magnitude that rounds beyond the largest one, if that goes on as the codes do.
            let limit = codes[last] + (codes[last] - codes[last - 1]) / 2.0;
            let check = |source: f32, value: Value| {
                let magnitude = f64::from(source.abs());
                let above = codes.partition_point(|&code| code < magnitude);
                let nearest = match above {
                    0 => 0,
                    above if above > last => last,
                    above => {
                        let (low, high) = (magnitude - codes[above - 1], codes[above] - magnitude);
                        let even = if (above - 1) % 2 == 0 { above - 1 } else { above };
                        if low < high {
                            above - 1
                        } else if high < low {
                            above
                        } else {
                            even
                        }
                    }
                };
                let over = magnitude > limit || (magnitude == limit && last % 2 == 1);
                let sign = if format.signed && source.is_sign_negative() { 1 << (format.width() - 1) } else { 0 };
                let clamped =
                    if format.special == Special::ZeroIsNan && nearest == 0 { 0 } else { sign | nearest as u32 };
                let got = format.encode(value, Rounding::NEAREST, Overflow::Clamp);
                if source.is_finite() {
                    assert_eq!(got, clamped, "{name} of {source:e} ({:#x})", source.to_bits());
                }
                assert_eq!(
                    format.encode(value, Rounding::NEAREST, Overflow::ClampAll),
                    clamped,
                    "{name} of {source:e}"
                );
                let natural = match format.special {
                    Special::Finite => clamped,
                    _ if !over => clamped,
                    Special::Ieee => sign | format.top(),
                    Special::LastIsNan => sign | format.last(),
                    Special::ZeroIsNan => 0x80,
                };
                assert_eq!(format.encode(value, Rounding::NEAREST, Overflow::Special), natural, "{name} of {source:e}");
            };
            for bits in 0..=0xffff {
                for from in [Small::F16, Small::BF16] {
                    let source = from.to_f32(bits);
                    if !source.is_nan() {
                        check(source, from.decode(bits));
                    }
                }
            }
            for bits in (0..=u32::MAX).step_by(30_011) {
                let source = f32::from_bits(bits);
                if !source.is_nan() {
                    check(source, Small::F32.decode(bits));
                }
            }
        }
    }

    /// Every rounding against the library's floats.
    #[test]
    fn rounds_as_library() {
        fn check<F: Float>(format: Small)
        where
            Single: FloatConvert<F>,
        {
            for bits in (0..=u32::MAX).step_by(20_011) {
                for (round, theirs) in [
                    (Round::NearestEven, ApRound::NearestTiesToEven),
                    (Round::Up, ApRound::TowardPositive),
                    (Round::Down, ApRound::TowardNegative),
                    (Round::Zero, ApRound::TowardZero),
                ] {
                    let single = Single::from_bits(bits.into());
                    let want = single.convert_r(theirs, &mut false).value.to_bits() as u32;
                    let got = format.encode(Small::F32.decode(bits), Rounding::To(round), Overflow::Special);
                    if single.is_nan() {
                        assert!(matches!(format.decode(got), Value::Nan { .. }), "{format:?} {bits:#x}");
                    } else {
                        assert_eq!(got, want, "{format:?} of {bits:#x}, {round:?}");
                    }
                }
            }
        }
        check::<Half>(Small::F16);
        check::<BFloat>(Small::BF16);
        check::<Float8E5M2>(Small::BF8);
    }

    /// Stochastic rounding in integers: the fraction's lost bits plus the seed's carry into the kept ones.
    #[test]
    fn stochastic() {
        let seeds = [0, 1, 0x0000_1000, 0x7fff_ffff, 0x8000_0000, 0xdead_beef, 0xffff_ffff, 0xfff0_0000, 0x0123_4567];
        for (from, to) in [(Small::F32, Small::FP8), (Small::F16, Small::BF8), (Small::BF16, Small::FP6)] {
            let lost = from.man - to.man;
            for fraction in (0..1u32 << from.man).step_by(if from.man > 10 { 4_099 } else { 1 }) {
                for seed in seeds {
                    // 1.f, of which the sum may carry to 2.
                    let sum = (1 << from.man | fraction) + (seed >> (32 - lost));
                    let bits = (from.bias as u32) << from.man | fraction;
                    let got = to.encode(from.decode(bits), Rounding::stochastic(seed, from, to), Overflow::Special);
                    let want = ((to.bias as u32 - 1) << to.man) + (sum >> lost);
                    assert_eq!(got, want, "{from:?} {bits:#x} seed {seed:#x}");
                }
            }
        }
        // 1.5 units of the least denormal: the seed's upper half rounds up.
        let value = Small::F32.decode((1.5f32 * 2f32.powi(-9)).to_bits());
        let code =
            |seed| Small::FP8.encode(value, Rounding::stochastic(seed, Small::F32, Small::FP8), Overflow::Special);
        assert_eq!([0, 0x7fff_ffff, 0x8000_0000, u32::MAX].map(code), [1, 1, 2, 2]);
        // Carries reach the next exponent, and the largest number's go beyond it.
        let value = Small::F32.decode(0x3fff_ffff);
        let code =
            |seed| Small::FP8.encode(value, Rounding::stochastic(seed, Small::F32, Small::FP8), Overflow::Special);
        assert_eq!([0, 0x0000_1000, u32::MAX].map(code), [0x3f, 0x40, 0x40]);
        let value = Small::F32.decode(479f32.to_bits());
        let code =
            |overflow| Small::FP8.encode(value, Rounding::stochastic(u32::MAX, Small::F32, Small::FP8), overflow);
        assert_eq!([Overflow::Special, Overflow::Clamp].map(code), [0x7f, 0x7e]);
    }

    #[test]
    fn nans() {
        let nan = Small::F32.decode(0xffa0_0001);
        let code = |format: Small| format.encode(nan, Rounding::NEAREST, Overflow::ClampAll);
        let all = [Small::F32, Small::F16, Small::BF16, Small::FP8, Small::BF8, Small::FP8_FNUZ, Small::BF8_FNUZ];
        assert_eq!(all.map(code), [0xffe0_0001, 0xff00, 0xffe0, 0xff, 0xfe, 0x80, 0x80]);
        assert_eq!([Small::FP6, Small::BF6, Small::FP4].map(code), [0x3f, 0x3f, 0xf]);
    }
}
