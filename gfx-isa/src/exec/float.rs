//! Exact floating-point arithmetic of any rounding, in integers: for the roundings and formats that the CPU does not
//! have.

use core::cmp::Ordering;
use core::ops::{Add, Mul, Neg, Sub};

use super::lanes::{Bf16, F16, Lane, Pk, Ty, Vector};
use super::state::{Mode, Round};

/// A binary format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Format {
    /// Bits of the exponent.
    pub(crate) exp: u32,
    /// Bits of the fraction.
    pub(crate) man: u32,
}

pub(crate) const F16_FORMAT: Format = Format { exp: 5, man: 10 };
pub(crate) const F32_FORMAT: Format = Format { exp: 8, man: 23 };
pub(crate) const F64_FORMAT: Format = Format { exp: 11, man: 52 };
pub(crate) const BF16_FORMAT: Format = Format { exp: 8, man: 7 };

/// A finite number: `mantissa * 2^exponent`.
#[derive(Debug, Clone, Copy)]
struct Number {
    negative: bool,
    mantissa: u128,
    exponent: i32,
}

impl Format {
    pub(crate) const fn sign(self) -> u64 {
        1 << (self.exp + self.man)
    }

    pub(crate) const fn infinity(self) -> u64 {
        ((1 << self.exp) - 1) << self.man
    }

    /// The quiet bit.
    pub(crate) const fn quiet(self) -> u64 {
        1 << (self.man - 1)
    }

    pub(crate) const fn nan(self) -> u64 {
        self.infinity() | self.quiet()
    }

    pub(crate) const fn bias(self) -> i32 {
        (1 << (self.exp - 1)) - 1
    }

    pub(crate) const fn one(self) -> u64 {
        (self.bias() as u64) << self.man
    }

    pub(crate) const fn is_nan(self, bits: u64) -> bool {
        bits & (self.sign() - 1) > self.infinity()
    }

    pub(crate) const fn is_signalling(self, bits: u64) -> bool {
        self.is_nan(bits) && bits & self.quiet() == 0
    }

    pub(crate) const fn is_infinite(self, bits: u64) -> bool {
        bits & (self.sign() - 1) == self.infinity()
    }

    pub(crate) const fn is_zero(self, bits: u64) -> bool {
        bits & (self.sign() - 1) == 0
    }

    pub(crate) const fn is_denormal(self, bits: u64) -> bool {
        bits & self.infinity() == 0 && !self.is_zero(bits)
    }

    pub(crate) const fn is_negative(self, bits: u64) -> bool {
        bits & self.sign() != 0
    }

    fn unpack(self, bits: u64) -> Number {
        let fraction = bits & ((1 << self.man) - 1);
        let biased = (bits & self.infinity()) >> self.man;
        let (mantissa, biased) = if biased == 0 { (fraction, 1) } else { (fraction | 1 << self.man, biased) };
        Number {
            negative: self.is_negative(bits),
            mantissa: u128::from(mantissa),
            exponent: biased as i32 - self.bias() - self.man as i32,
        }
    }

    /// Rounds a number; one bit below the last kept one and any bit below that decide, so a sticky lowest bit will do.
    #[inline(never)]
    fn pack(self, number: Number, round: Round) -> u64 {
        let Number { negative, mantissa, exponent } = number;
        let sign = if negative { self.sign() } else { 0 };
        if mantissa == 0 {
            return sign;
        }
        let top = exponent + 127 - mantissa.leading_zeros() as i32;
        let lowest = 1 - self.bias();
        let ulp = top.max(lowest) - self.man as i32;
        let shift = ulp - exponent;
        let (kept, rest) = match shift {
            ..=0 => (mantissa << -shift, Ordering::Less),
            1..=127 => {
                let lost = mantissa & ((1 << shift) - 1);
                (mantissa >> shift, lost.cmp(&(1 << (shift - 1))))
            }
            _ => (0, Ordering::Less),
        };
        let exact = shift <= 0 || (shift < 128 && mantissa & ((1 << shift) - 1) == 0);
        let up = !exact
            && match round {
                Round::NearestEven => rest == Ordering::Greater || (rest == Ordering::Equal && kept & 1 != 0),
                Round::Up => !negative,
                Round::Down => negative,
                Round::Zero => false,
            };
        let kept = kept as u64 + u64::from(up);
        // The hidden bit of a normal number adds one to the exponent field; so does a carry out of the fraction.
        let field = (top.max(lowest) + self.bias() - 1) as u64;
        if field >= 1 << self.exp {
            return sign | self.overflow(negative, round);
        }
        let magnitude = (field << self.man) + kept;
        if magnitude >= self.infinity() { sign | self.overflow(negative, round) } else { sign | magnitude }
    }

    const fn overflow(self, negative: bool, round: Round) -> u64 {
        let away = match round {
            Round::NearestEven => true,
            Round::Up => !negative,
            Round::Down => negative,
            Round::Zero => false,
        };
        if away { self.infinity() } else { self.infinity() - 1 }
    }

    /// The first NaN of some operands, quieted; where none is one the default NaN, which is negative as measured.
    pub(crate) fn propagate(self, operands: &[u64]) -> u64 {
        operands.iter().find(|&&x| self.is_nan(x)).map_or(self.sign() | self.nan(), |x| x | self.quiet())
    }

    /// `a * b + c` with one rounding.
    pub(crate) fn fma(self, a: u64, b: u64, c: u64, round: Round) -> u64 {
        self.fma_scaled(a, b, c, 0, round)
    }

    /// `(a * b + c) * 2^by` with one rounding.
    #[inline(never)]
    pub(crate) fn fma_scaled(self, a: u64, b: u64, c: u64, by: i32, round: Round) -> u64 {
        let nan = [a, b, c].iter().any(|&x| self.is_nan(x));
        let infinite = self.is_infinite(a) || self.is_infinite(b);
        let negative = self.is_negative(a) != self.is_negative(b);
        let invalid = infinite
            && (self.is_zero(a) || self.is_zero(b) || (self.is_infinite(c) && negative != self.is_negative(c)));
        if nan || invalid {
            return self.propagate(&[a, b, c]);
        }
        if infinite {
            return self.infinity() | if negative { self.sign() } else { 0 };
        }
        if self.is_infinite(c) {
            return c;
        }
        let (x, y) = (self.unpack(a), self.unpack(b));
        let product = Number { negative, mantissa: x.mantissa * y.mantissa, exponent: x.exponent + y.exponent };
        let exact = sum(product, self.unpack(c), round);
        self.pack(Number { exponent: exact.exponent + by, ..exact }, round)
    }

    pub(crate) fn add(self, a: u64, b: u64, round: Round) -> u64 {
        // A NaN in b is second here as it is in a sum.
        self.fma(a, self.one(), b, round)
    }

    #[inline(never)]
    pub(crate) fn mul(self, a: u64, b: u64, round: Round) -> u64 {
        let sign = (a ^ b) & self.sign();
        if self.is_nan(a) || self.is_nan(b) {
            return self.propagate(&[a, b]);
        }
        // A zero of the product's own sign leaves the product as it is.
        self.fma(a, b, sign, round)
    }

    /// The same value in another format.
    #[inline(never)]
    pub(crate) fn convert(self, bits: u64, to: Format, round: Round) -> u64 {
        let sign = if self.is_negative(bits) { to.sign() } else { 0 };
        if self.is_nan(bits) {
            let fraction = bits & ((1 << self.man) - 1);
            let moved =
                if to.man >= self.man { fraction << (to.man - self.man) } else { fraction >> (self.man - to.man) };
            return sign | to.infinity() | to.quiet() | moved;
        }
        if self.is_infinite(bits) {
            return sign | to.infinity();
        }
        to.pack(self.unpack(bits), round)
    }

    /// An integer, rounded.
    #[inline(never)]
    pub(crate) fn of_int(self, value: i128, round: Round) -> u64 {
        self.pack(Number { negative: value < 0, mantissa: value.unsigned_abs(), exponent: 0 }, round)
    }

    /// `value * 2^exponent`, rounded once.
    #[inline(never)]
    pub(crate) fn scale(self, bits: u64, exponent: i32, round: Round) -> u64 {
        if self.is_nan(bits) {
            return self.propagate(&[bits]);
        }
        if self.is_infinite(bits) {
            return bits;
        }
        let number = self.unpack(bits);
        self.pack(Number { exponent: number.exponent.saturating_add(exponent.clamp(-10_000, 10_000)), ..number }, round)
    }

    /// The integer that rounding gives, within bounds; NaN gives 0.
    #[inline(never)]
    pub(crate) fn to_int(self, bits: u64, round: Round, least: i128, most: i128) -> i128 {
        if self.is_nan(bits) {
            return 0;
        }
        if self.is_infinite(bits) {
            return if self.is_negative(bits) { least } else { most };
        }
        let number = self.unpack(bits);
        let magnitude = match number.exponent {
            // The largest value of interest has 64 bits, and a mantissa has 53.
            0..=74 => number.mantissa << number.exponent,
            75.. if number.mantissa != 0 => u128::MAX >> 1,
            75.. => 0,
            _ => integer(number, round),
        };
        let magnitude = magnitude.min(i128::MAX as u128) as i128;
        (if number.negative { -magnitude } else { magnitude }).clamp(least, most)
    }

    /// Rounded to an integer, as a float.
    #[inline(never)]
    pub(crate) fn round_to_integer(self, bits: u64, round: Round) -> u64 {
        if self.is_nan(bits) {
            return self.propagate(&[bits]);
        }
        if self.is_infinite(bits) || self.is_zero(bits) {
            return bits;
        }
        let number = self.unpack(bits);
        if number.exponent >= 0 {
            return bits;
        }
        self.pack(Number { mantissa: integer(number, round), exponent: 0, ..number }, round)
    }

    /// The biased exponent field.
    pub(crate) const fn exponent(self, bits: u64) -> i32 {
        ((bits & self.infinity()) >> self.man) as i32
    }

    /// A finite number as a fraction from 0.5 to 1 and an exponent, which is 0 of zero.
    pub(crate) fn split(self, bits: u64) -> (u64, i32) {
        let magnitude = bits & (self.sign() - 1);
        if magnitude == 0 {
            return (bits, 0);
        }
        // A denormal's highest bit moves to where the hidden bit of others is.
        let field = self.exponent(bits);
        let up = if field == 0 { self.man + 1 - (64 - magnitude.leading_zeros()) } else { 0 };
        let fraction = (magnitude << up) & ((1 << self.man) - 1);
        let half = (self.bias() as u64 - 1) << self.man;
        (bits & self.sign() | half | fraction, field.max(1) - up as i32 - self.bias() + 1)
    }

    /// The value as a 64-bit float, which holds every number of the smaller formats.
    pub(crate) fn to_f64(self, bits: u64) -> f64 {
        f64::from_bits(self.convert(bits, F64_FORMAT, Round::NearestEven))
    }

    /// A 64-bit float, rounded.
    pub(crate) fn of_f64(self, value: f64, round: Round) -> u64 {
        F64_FORMAT.convert(value.to_bits(), self, round)
    }

    /// How a compares with b; none where either is NaN.
    pub(crate) fn compare(self, a: u64, b: u64) -> Option<Ordering> {
        if self.is_nan(a) || self.is_nan(b) {
            return None;
        }
        // Both zeros are 0; negative numbers order by falling magnitude.
        let key = |x: u64| {
            let magnitude = (x & (self.sign() - 1)) as i64;
            if self.is_negative(x) { -magnitude } else { magnitude }
        };
        Some(key(a).cmp(&key(b)))
    }
}

/// The integer part of a number with a negative exponent.
fn integer(number: Number, round: Round) -> u128 {
    let shift = -number.exponent;
    if shift > 126 {
        let up = number.mantissa != 0
            && match round {
                Round::Up => !number.negative,
                Round::Down => number.negative,
                _ => false,
            };
        return u128::from(up);
    }
    let whole = number.mantissa >> shift;
    let lost = number.mantissa & ((1 << shift) - 1);
    let up = lost != 0
        && match round {
            Round::NearestEven => match lost.cmp(&(1 << (shift - 1))) {
                Ordering::Less => false,
                Ordering::Equal => whole & 1 != 0,
                Ordering::Greater => true,
            },
            Round::Up => !number.negative,
            Round::Down => number.negative,
            Round::Zero => false,
        };
    whole + u128::from(up)
}

/// The sum, with what is too small to matter folded into the lowest bit.
fn sum(a: Number, b: Number, round: Round) -> Number {
    if a.mantissa == 0 && b.mantissa == 0 {
        let negative = if a.negative == b.negative { a.negative } else { round == Round::Down };
        return Number { negative, mantissa: 0, exponent: 0 };
    }
    if a.mantissa == 0 {
        return b;
    }
    if b.mantissa == 0 {
        return a;
    }
    // The top bit at 125 leaves room for a carry. A mantissa has at most 106 bits: 19 zeros stand below it, and only
    // operands whose tops are within one of each other can cancel, so the folded bit never comes near the result.
    let normal = |x: Number| {
        let shift = x.mantissa.leading_zeros() as i32 - 2;
        Number { mantissa: x.mantissa << shift, exponent: x.exponent - shift, ..x }
    };
    let (a, b) = (normal(a), normal(b));
    let (high, low) = if a.exponent >= b.exponent { (a, b) } else { (b, a) };
    let shift = high.exponent - low.exponent;
    let moved = match shift {
        0..=127 => {
            let lost = low.mantissa & ((1 << shift) - 1) != 0;
            low.mantissa >> shift | u128::from(lost)
        }
        _ => 1,
    };
    let exponent = high.exponent;
    if high.negative == low.negative {
        return Number { negative: high.negative, mantissa: high.mantissa + moved, exponent };
    }
    match high.mantissa.cmp(&moved) {
        Ordering::Equal => Number { negative: round == Round::Down, mantissa: 0, exponent: 0 },
        Ordering::Greater => Number { negative: high.negative, mantissa: high.mantissa - moved, exponent },
        Ordering::Less => Number { negative: low.negative, mantissa: moved - high.mantissa, exponent },
    }
}

/// A float with the rounding that its arithmetic has.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Soft<const EXP: u32, const MAN: u32> {
    bits: u64,
    round: Round,
}

pub(crate) type Soft16 = Soft<5, 10>;
pub(crate) type Soft32 = Soft<8, 23>;
pub(crate) type Soft64 = Soft<11, 52>;
pub(crate) type SoftBf16 = Soft<8, 7>;

impl<const EXP: u32, const MAN: u32> Soft<EXP, MAN> {
    const FORMAT: Format = Format { exp: EXP, man: MAN };

    fn with(self, bits: u64) -> Self {
        Soft { bits, ..self }
    }

    /// `self * b + c` with one rounding.
    pub(crate) fn mul_add(self, b: Self, c: Self) -> Self {
        self.with(Self::FORMAT.fma(self.bits, b.bits, c.bits, self.round))
    }

    pub(crate) fn is_zero(self) -> bool {
        Self::FORMAT.is_zero(self.bits)
    }

    /// Positive 0 of the same rounding.
    pub(crate) fn zero(self) -> Self {
        self.with(0)
    }
}

impl<const EXP: u32, const MAN: u32> Add for Soft<EXP, MAN> {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        self.with(Self::FORMAT.add(self.bits, other.bits, self.round))
    }
}

impl<const EXP: u32, const MAN: u32> Sub for Soft<EXP, MAN> {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        if Self::FORMAT.is_nan(other.bits) { self + other } else { self + -other }
    }
}

impl<const EXP: u32, const MAN: u32> Mul for Soft<EXP, MAN> {
    type Output = Self;
    fn mul(self, other: Self) -> Self {
        self.with(Self::FORMAT.mul(self.bits, other.bits, self.round))
    }
}

impl<const EXP: u32, const MAN: u32> Neg for Soft<EXP, MAN> {
    type Output = Self;
    fn neg(self) -> Self {
        self.with(self.bits ^ Self::FORMAT.sign())
    }
}

impl Lane for Soft32 {
    const TY: Ty = Ty::F32;
    fn get(source: &[Vector], lane: usize, mode: Mode) -> Self {
        Soft { bits: u64::from(source[0][lane]), round: mode.round_f32() }
    }
    fn put(self, out: &mut [Vector; 4], lane: usize) {
        out[0][lane] = self.bits as u32;
    }
}

impl Lane for Soft16 {
    const TY: Ty = Ty::F16;
    fn get(source: &[Vector], lane: usize, mode: Mode) -> Self {
        Soft { bits: u64::from(source[0][lane] as u16), round: mode.round_f16_f64() }
    }
    fn put(self, out: &mut [Vector; 4], lane: usize) {
        out[0][lane] = self.bits as u32;
    }
}

impl Lane for Soft64 {
    const TY: Ty = Ty::F64;
    fn get(source: &[Vector], lane: usize, mode: Mode) -> Self {
        let bits = u64::from(source[1][lane]) << 32 | u64::from(source[0][lane]);
        Soft { bits, round: mode.round_f16_f64() }
    }
    fn put(self, out: &mut [Vector; 4], lane: usize) {
        out[0][lane] = self.bits as u32;
        out[1][lane] = (self.bits >> 32) as u32;
    }
}

macro_rules! soft_halves {
    ($($ty:ty, $code:ident;)*) => {$(
        impl Lane for Pk<$ty> {
            const TY: Ty = Ty::$code;
            fn get(source: &[Vector], lane: usize, mode: Mode) -> Self {
                let half = |bits: u16| Soft { bits: u64::from(bits), round: mode.round_f16_f64() };
                Pk(half(source[0][lane] as u16), half((source[0][lane] >> 16) as u16))
            }
            fn put(self, out: &mut [Vector; 4], lane: usize) {
                out[0][lane] = self.0.bits as u32 | (self.1.bits as u32) << 16;
            }
        }
    )*};
}

soft_halves! {
    Soft16, PkF16;
    SoftBf16, PkBf16;
}

impl Lane for Pk<Soft32> {
    const TY: Ty = Ty::PkF32;
    fn get(source: &[Vector], lane: usize, mode: Mode) -> Self {
        let half = |bits: u32| Soft { bits: u64::from(bits), round: mode.round_f32() };
        Pk(half(source[0][lane]), half(source[1][lane]))
    }
    fn put(self, out: &mut [Vector; 4], lane: usize) {
        out[0][lane] = self.0.bits as u32;
        out[1][lane] = self.1.bits as u32;
    }
}

/// What minimum, maximum and comparisons need of a float; they never round.
pub(crate) trait Float: Lane {
    const FORMAT: Format;
    fn bits(self) -> u64;
    fn from_bits(bits: u64) -> Self;
}

impl Float for f32 {
    const FORMAT: Format = F32_FORMAT;
    #[inline(always)]
    fn bits(self) -> u64 {
        u64::from(self.to_bits())
    }
    #[inline(always)]
    fn from_bits(bits: u64) -> f32 {
        f32::from_bits(bits as u32)
    }
}

impl Float for f64 {
    const FORMAT: Format = F64_FORMAT;
    #[inline(always)]
    fn bits(self) -> u64 {
        self.to_bits()
    }
    #[inline(always)]
    fn from_bits(bits: u64) -> f64 {
        f64::from_bits(bits)
    }
}

macro_rules! half_float {
    ($($ty:ident, $format:ident;)*) => {$(
        impl Float for $ty {
            const FORMAT: Format = $format;
            #[inline(always)]
            fn bits(self) -> u64 {
                u64::from(self.0)
            }
            #[inline(always)]
            fn from_bits(bits: u64) -> $ty {
                $ty(bits as u16)
            }
        }
    )*};
}

half_float! {
    F16, F16_FORMAT;
    Bf16, BF16_FORMAT;
}

/// Whether a is below b, -0 below +0; false where either is NaN.
#[inline(always)]
fn below<T: Float>(a: T, b: T) -> bool {
    let f = T::FORMAT;
    if f.is_nan(a.bits()) || f.is_nan(b.bits()) {
        return false;
    }
    // Sign and magnitude to two's complement; -0 becomes -1.
    let key = |x: u64| {
        let magnitude = (x & (f.sign() - 1)) as i64;
        if f.is_negative(x) { !magnitude } else { magnitude }
    };
    key(a.bits()) < key(b.bits())
}

#[inline(always)]
fn pick_number<T: Float>(mode: Mode, a: T, b: T, a_wins: bool) -> T {
    let f = T::FORMAT;
    if mode.ieee() {
        if f.is_signalling(a.bits()) {
            return T::from_bits(a.bits() | f.quiet());
        }
        if f.is_signalling(b.bits()) {
            return T::from_bits(b.bits() | f.quiet());
        }
    }
    if f.is_nan(b.bits()) {
        return a;
    }
    if f.is_nan(a.bits()) || !a_wins { b } else { a }
}

/// Minimum that prefers a number to NaN; in IEEE mode a signalling NaN wins, quieted.
#[inline(always)]
pub(crate) fn min<T: Float>(mode: Mode, a: T, b: T) -> T {
    pick_number(mode, a, b, below(a, b))
}

/// Maximum that prefers a number to NaN; in IEEE mode a signalling NaN wins, quieted.
#[inline(always)]
pub(crate) fn max<T: Float>(mode: Mode, a: T, b: T) -> T {
    pick_number(mode, a, b, below(b, a))
}

#[inline(always)]
fn number<T: Float>(a: T, b: T, a_wins: bool) -> T {
    let f = T::FORMAT;
    match (f.is_nan(a.bits()), f.is_nan(b.bits())) {
        (true, true) => T::from_bits(a.bits() | f.quiet()),
        (true, false) => b,
        (false, true) => a,
        (false, false) => {
            if a_wins {
                a
            } else {
                b
            }
        }
    }
}

/// IEEE 754-2019 `minimumNumber`.
#[inline(always)]
pub(crate) fn min_num<T: Float>(a: T, b: T) -> T {
    number(a, b, below(a, b))
}

/// IEEE 754-2019 `maximumNumber`.
#[inline(always)]
pub(crate) fn max_num<T: Float>(a: T, b: T) -> T {
    number(a, b, below(b, a))
}

#[inline(always)]
fn or_nan<T: Float>(a: T, b: T, a_wins: bool) -> T {
    let f = T::FORMAT;
    for test in [Format::is_signalling, Format::is_nan] {
        for x in [a, b] {
            if test(f, x.bits()) {
                return T::from_bits(x.bits() | f.quiet());
            }
        }
    }
    if a_wins { a } else { b }
}

/// IEEE 754-2019 `minimum`: NaN wins.
#[inline(always)]
pub(crate) fn minimum<T: Float>(a: T, b: T) -> T {
    or_nan(a, b, below(a, b))
}

/// IEEE 754-2019 `maximum`: NaN wins.
#[inline(always)]
pub(crate) fn maximum<T: Float>(a: T, b: T) -> T {
    or_nan(a, b, below(b, a))
}

/// The median by the manuals' rule, with the minimum and maximum of the generation's kind.
#[inline(always)]
pub(crate) fn med3<T: Float>(a: T, b: T, c: T, min: impl Fn(T, T) -> T, max: impl Fn(T, T) -> T) -> T {
    let f = T::FORMAT;
    if [a, b, c].iter().any(|x| f.is_nan(x.bits())) {
        return min(min(a, b), c);
    }
    let highest = max(max(a, b), c);
    let same = |x: T| f.compare(highest.bits(), x.bits()) == Some(Ordering::Equal);
    if same(a) {
        max(b, c)
    } else if same(b) {
        max(a, c)
    } else {
        max(a, b)
    }
}
