//! Sums of products as matrix cores make them: products are aligned to a grid, what falls below it is lost, and the
//! integer sum is rounded once. One function a family, on scalars; [`super::rows`] does the same on whole rows.
//!
//! Sources: measurements on hardware. CDNA 3: the model of MMA-Sim (arXiv 2511.10909), which agrees with MI300 bit for bit.
//! RDNA 3 and 4: what AMD measured on gfx1100 and gfx1201 for its own simulator (ROCm/rocm-systems issue 12056). CDNA 4 is
//! taken to be like CDNA 3, RDNA 3.5 like RDNA 3; how sparse instructions group what they add is not known either, and
//! taken to be as dense ones do.

use super::elements::small;
use crate::exec::Round;
use crate::exec::float::{F16_FORMAT, F32_FORMAT, F64_FORMAT};
use crate::exec::small::{Small, Special};
use crate::matrix::Format;

/// A factor of a product: `±significand * 2^(exponent - fraction)`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Factor {
    pub(super) negative: bool,
    pub(super) significand: u32,
    /// That of the format's first bit; of 0 that of the smallest normal number.
    pub(super) exponent: i32,
    pub(super) kind: Kind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Finite,
    Infinite,
    Nan,
}

/// How a format's numbers become factors.
#[derive(Debug, Clone, Copy)]
pub(super) struct Split {
    small: Small,
    /// Bits of the fraction: 10 of a float of 32 bits.
    pub(super) fraction: u32,
    drop: u32,
    /// Denormals are 0.
    flush: bool,
}

impl Split {
    pub(super) const fn of(format: Format) -> Option<Split> {
        if matches!(format, Format::Xf32) {
            return Some(Split { small: Small::F32, fraction: 10, drop: 13, flush: false });
        }
        match small(format) {
            Some(small) => Some(Split { small, fraction: small.man, drop: 0, flush: false }),
            None => None,
        }
    }

    pub(super) fn flushing(self) -> Split {
        Split { flush: true, ..self }
    }

    #[inline(always)]
    pub(super) fn factor(&self, bits: u32) -> Factor {
        let Small { exp, man, bias, special, .. } = self.small;
        let magnitude = bits & ((1 << (exp + man)) - 1);
        let negative = bits >> (exp + man) & 1 != 0;
        let field = magnitude >> man;
        let fraction = magnitude & ((1 << man) - 1);
        let last = (1 << exp) - 1;
        let kind = match special {
            Special::Ieee if field == last && fraction == 0 => Kind::Infinite,
            Special::Ieee if field == last => Kind::Nan,
            Special::LastIsNan if magnitude == (1 << (exp + man)) - 1 => Kind::Nan,
            Special::ZeroIsNan if negative && magnitude == 0 => Kind::Nan,
            _ => Kind::Finite,
        };
        let whole = if field != 0 { fraction | 1 << man } else { fraction };
        let significand = if self.flush && field == 0 { 0 } else { whole >> self.drop };
        Factor { negative, significand, exponent: field.max(1) as i32 - bias, kind }
    }
}

/// Below every exponent that a product can have.
pub(super) const EMPTY: i32 = -2048;

/// What RDNA gives where a factor is NaN, and where there is no product or sum.
const FACTOR_NAN: u32 = 0xffc0_0a3d;
const INVALID: u32 = 0xffc0_0000;

/// Exponent and significand of an accumulator.
struct Accumulator {
    negative: bool,
    significand: u32,
    exponent: i32,
}

impl Accumulator {
    fn new(bits: u32) -> Accumulator {
        let field = bits >> 23 & 0xff;
        let fraction = bits & 0x7f_ffff;
        Accumulator {
            negative: bits >> 31 != 0,
            significand: if field != 0 { fraction | 0x80_0000 } else { fraction },
            exponent: field.max(1) as i32 - 127,
        }
    }

    fn signed(&self) -> i64 {
        let significand = i64::from(self.significand);
        if self.negative { -significand } else { significand }
    }
}

/// `value * 2^shift`, rounded towards negative infinity.
fn scaled(value: i64, shift: i32) -> i64 {
    if shift >= 0 { value << shift.min(40) } else { value >> (-shift).min(63) }
}

fn signed(a: &Factor, b: &Factor) -> i64 {
    let product = i64::from(a.significand) * i64::from(b.significand);
    if a.negative != b.negative { -product } else { product }
}

fn exponent(a: &Factor, b: &Factor) -> i32 {
    if a.significand == 0 || b.significand == 0 { EMPTY } else { a.exponent + b.exponent }
}

fn is_nan(bits: u32) -> bool {
    F32_FORMAT.is_nan(bits.into())
}

fn is_infinite(bits: u32) -> bool {
    F32_FORMAT.is_infinite(bits.into())
}

/// Sum of `value * 2^exponent`, rounded to the nearest even float.
fn round(value: i64, exponent: i32) -> u32 {
    // A sum has fewer than 53 bits, so that only the last conversion rounds.
    ((value as f64 * power(exponent)) as f32).to_bits()
}

fn power(exponent: i32) -> f64 {
    f64::from_bits(((exponent + 1023) as u64) << 52)
}

/// What infinities and NaN give: factors first, then the accumulator; none where everything is finite.
fn special(a: &[Factor], b: &[Factor], acc: u32, factor_nan: u32, invalid: u32) -> Option<u32> {
    let pairs = || a.iter().zip(b);
    if pairs().any(|(a, b)| a.kind == Kind::Nan || b.kind == Kind::Nan) {
        return Some(factor_nan);
    }
    let (mut up, mut down, mut none) = (false, false, false);
    for (a, b) in pairs() {
        if a.kind == Kind::Infinite || b.kind == Kind::Infinite {
            let zero = |x: &Factor| x.kind == Kind::Finite && x.significand == 0;
            none |= zero(a) || zero(b);
            *(if a.negative != b.negative { &mut down } else { &mut up }) = true;
        }
    }
    if none || (up && down) {
        return Some(invalid);
    }
    if is_nan(acc) {
        return Some(acc | 0x0040_0000);
    }
    if is_infinite(acc) {
        *(if acc >> 31 != 0 { &mut down } else { &mut up }) = true;
    }
    match (up, down) {
        (true, true) => Some(invalid),
        (true, false) => Some(0x7f80_0000),
        (false, true) => Some(0xff80_0000),
        (false, false) => None,
    }
}

/// A step of CDNA 3: up to eight products (sixteen of 8 bits, even and odd ones apart) and the accumulator. `fraction`:
/// bits of the fractions of both factors together.
pub(super) fn cdna3(a: &[Factor], b: &[Factor], fraction: u32, bytes: bool, acc: u32) -> u32 {
    const NAN: u32 = 0x7fc0_0000;
    if let Some(bits) = special(a, b, acc, NAN, NAN) {
        return if is_nan(bits) { NAN } else { bits };
    }
    // A product beyond the range of 32 bits is infinite, whatever the others are.
    let (mut up, mut down) = (false, false);
    for (a, b) in a.iter().zip(b) {
        let product = signed(a, b) as f64 * 2f64.powi(a.exponent + b.exponent - fraction as i32);
        up |= product >= 2f64.powi(128);
        down |= product <= -2f64.powi(128);
    }
    match (up, down) {
        (true, true) => return NAN,
        (true, false) => return 0x7f80_0000,
        (false, true) => return 0xff80_0000,
        (false, false) => {}
    }
    // Products lose what is below 2^-24 of the largest, towards zero.
    let sum = |step: usize, from: usize| {
        let pairs = || a.iter().zip(b).skip(from).step_by(step);
        let most = pairs().map(|(a, b)| exponent(a, b)).max().unwrap_or(EMPTY);
        let total: i64 = pairs()
            .map(|(a, b)| {
                let product = i64::from(a.significand) * i64::from(b.significand);
                let kept = scaled(product, 24 - fraction as i32 + exponent(a, b).max(EMPTY) - most);
                if a.negative != b.negative { -kept } else { kept }
            })
            .sum();
        (total, most)
    };
    let (total, most) = if bytes {
        let ((even, at_even), (odd, at_odd)) = (sum(2, 0), sum(2, 1));
        let most = at_even.max(at_odd);
        (scaled(even, at_even - most) + scaled(odd, at_odd - most), most)
    } else {
        sum(1, 0)
    };
    let c = Accumulator::new(acc);
    let at_c = if c.significand == 0 { -126 } else { c.exponent };
    let top = most.max(at_c);
    let kept = if bytes && at_c < top - 25 { 0 } else { scaled(c.signed(), 1 + at_c - top) };
    round(scaled(total, 7 + most - top) + (kept << 7), top - 31)
}

/// A step of RDNA 4: two products or four. Those of 16 bits are added in pairs first.
pub(super) fn rdna4(a: &[Factor], b: &[Factor], fraction: u32, bytes: bool, acc: u32, to: Narrow) -> u32 {
    if let Some(bits) = special(a, b, acc, FACTOR_NAN, if bytes { FACTOR_NAN } else { INVALID }) {
        return to.special(bits);
    }
    let c = Accumulator::new(acc);
    let lowest = if matches!(to, Narrow::F16 { .. }) { -14 } else { -126 };
    let leading = if c.significand == 0 { EMPTY } else { c.exponent - 23 + c.significand.ilog2() as i32 };
    let most = a.iter().zip(b).map(|(a, b)| exponent(a, b)).max().unwrap_or(EMPTY);
    let grid = (most - 24).max(leading.max(lowest) - 26);
    let mut total = scaled(c.signed(), c.exponent - 23 - grid);
    if grid > lowest && total == -1 && scaled(i64::from(c.significand), c.exponent - 23 - grid) == 0 {
        total = 0;
    }
    let group = if bytes { a.len() } else { 2 };
    for (a, b) in a.chunks(group).zip(b.chunks(group)) {
        let most = a.iter().zip(b).map(|(a, b)| exponent(a, b)).max().unwrap_or(EMPTY);
        let sum: i64 =
            a.iter().zip(b).map(|(a, b)| scaled(signed(a, b), 24 - fraction as i32 + exponent(a, b) - most)).sum();
        total += scaled(sum, most - 24 - grid);
    }
    to.round(total, grid, false)
}

/// A step of RDNA 3: two products. In the sign frame of the accumulator what is against it counts one less.
pub(super) fn rdna3(a: &[Factor], b: &[Factor], fraction: u32, acc: u32, to: Narrow) -> u32 {
    if let Some(bits) = special(a, b, acc, FACTOR_NAN, INVALID) {
        return to.special(bits);
    }
    let c = Accumulator::new(acc);
    // Denormal accumulators are 0.
    let significand = if acc >> 23 & 0xff == 0 { 0 } else { c.significand };
    let most = a.iter().zip(b).map(|(a, b)| exponent(a, b)).max().unwrap_or(EMPTY);
    if significand == 0 && most == EMPTY {
        return 0;
    }
    let at_c = if significand == 0 { EMPTY } else { c.exponent };
    let at_c = if matches!(to, Narrow::F16 { .. }) { at_c.max(-14) } else { at_c };
    let grid = (most - 24).max(at_c - 26);
    let mut total = scaled(significand.into(), c.exponent - 23 - grid);
    for (a, b) in a.iter().zip(b) {
        let product = i64::from(a.significand) * i64::from(b.significand);
        let kept = scaled(product, a.exponent + b.exponent - fraction as i32 - grid);
        total += if (a.negative != b.negative) != c.negative { !kept } else { kept };
    }
    if total == 0 {
        return 0;
    }
    let total = if c.negative { -total } else { total };
    to.round(total, grid, true)
}

/// What a step's sum becomes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Narrow {
    F32,
    /// Rounded to the nearest even one.
    F16 {
        /// Overflow gives the largest number.
        clamp: bool,
    },
    /// The upper half of the rounded 32 bits.
    Bf16,
}

impl Narrow {
    /// As a step takes it as its accumulator.
    pub(super) fn widen(self, bits: u32) -> u32 {
        match self {
            Narrow::F32 => bits,
            Narrow::Bf16 => bits << 16,
            Narrow::F16 { .. } if F16_FORMAT.is_nan(bits.into()) => {
                (bits & 0x8000) << 16 | 0x7f80_0000 | (bits & 0x3ff) << 13
            }
            Narrow::F16 { .. } => Small::F16.to_f32(bits).to_bits(),
        }
    }

    fn special(self, bits: u32) -> u32 {
        match self {
            Narrow::F32 => bits,
            Narrow::Bf16 => bits >> 16,
            Narrow::F16 { .. } => {
                let nan = if is_nan(bits) { 0x200 | bits >> 13 & 0x3ff } else { 0 };
                bits >> 16 & 0x8000 | 0x7c00 | nan
            }
        }
    }

    fn round(self, value: i64, exponent: i32, flushes: bool) -> u32 {
        if value == 0 {
            return 0;
        }
        match self {
            Narrow::F16 { clamp } => {
                // At most 38 bits: exact in 64-bit floats.
                let exact = value as f64 * power(exponent);
                let half = F64_FORMAT.convert(exact.to_bits(), F16_FORMAT, Round::NearestEven) as u32;
                let half = if half == 0x8000 { 0 } else { half };
                if clamp && half & 0x7fff == 0x7c00 { half - 1 } else { half }
            }
            Narrow::F32 | Narrow::Bf16 => {
                let mut bits = round(value, exponent);
                // What is too small is positive 0.
                if bits == 0x8000_0000 || (flushes && flushed(value, exponent)) {
                    bits = 0;
                }
                if self == Narrow::Bf16 { bits >> 16 } else { bits }
            }
        }
    }
}

/// Whether a sum, rounded to 24 bits, is below the smallest normal number.
fn flushed(value: i64, exponent: i32) -> bool {
    let rounded = f64::from(value as f32);
    (rounded * 2f64.powi(exponent)).abs() < f64::from(f32::MIN_POSITIVE)
}
