//! What compiled division and number formatting are made of: scaling, fix-up, exponents and fractions.

use core::cmp::Ordering;

use super::cvt::{round, whole};
use super::sem;
use crate::exec::float::{F32_FORMAT, Float};
use crate::exec::lanes::F16;
use crate::exec::{Mode, Round};

sem! { LINES:
    V_DIV_SCALE_F32 => flagged(f32; |a, b, c| div_scale(a, b, c, Scaling { far: 96, by: 64, tiny: 23 }));
    V_DIV_SCALE_F64 => flagged(f64; |a, b, c| div_scale(a, b, c, Scaling { far: 768, by: 128, tiny: 53 }));
    V_DIV_FMAS_F32 => select3(f32; |m, a, b, c, bit| div_fmas(m, a, b, c, bit, 64));
    V_DIV_FMAS_F64 => select3(f64; |m, a, b, c, bit| div_fmas(m, a, b, c, bit, 128));
    V_DIV_FIXUP_F32 => mode(f32, f32, f32 => f32; |m, q, d, n| div_fixup(m, q, d, n, Some(150)));
    V_DIV_FIXUP_F64 => mode(f64, f64, f64 => f64; |m, q, d, n| div_fixup(m, q, d, n, Some(1075)));
    V_DIV_FIXUP_F16 => keep_mode(F16, F16, F16 => F16; |m, q, d, n| div_fixup(m, q, d, n, None));
    V_DIV_FIXUP_LEGACY_F16 => mode(F16, F16, F16 => F16; |m, q, d, n| div_fixup(m, q, d, n, None));

    V_FREXP_EXP_I32_F32 => map(f32 => i32; exponent);
    V_FREXP_EXP_I32_F64 => map(f64 => i32; exponent);
    V_FREXP_EXP_I16_F16 => map(F16 => i16; |a| exponent(a) as i16);
    V_FREXP_MANT_F32 => map(f32 => f32; fraction);
    V_FREXP_MANT_F64 => map(f64 => f64; fraction);
    V_FREXP_MANT_F16 => map(F16 => F16; fraction);
    V_FRACT_F32 => mode(f32 => f32; fract);
    V_FRACT_F64 => mode(f64 => f64; fract);
    V_FRACT_F16 => mode(F16 => F16; fract);

    V_CUBEID_F32 => map(f32, f32, f32 => f32; |x, y, z| match major(x, y, z) {
        Axis::X => if x < 0.0 { 1.0 } else { 0.0 },
        Axis::Y => if y < 0.0 { 3.0 } else { 2.0 },
        Axis::Z => if z < 0.0 { 5.0 } else { 4.0 },
    });
    V_CUBEMA_F32 => map(f32, f32, f32 => f32; |x, y, z| match major(x, y, z) {
        Axis::X => twice(x),
        Axis::Y => twice(y),
        Axis::Z => twice(z),
    });
    V_CUBESC_F32 => map(f32, f32, f32 => f32; |x: f32, y, z: f32| match major(x, y, z) {
        Axis::X => if x < 0.0 { z } else { -z },
        Axis::Y => x,
        Axis::Z => if z < 0.0 { -x } else { x },
    });
    V_CUBETC_F32 => map(f32, f32, f32 => f32; |x, y: f32, z: f32| match major(x, y, z) {
        Axis::Y => if y < 0.0 { -z } else { z },
        Axis::X | Axis::Z => -y,
    });
    V_MULLIT_F32 => mode(f32, f32, f32 => f32; mullit);
}

/// What a format's [`div_scale`] scales by, and when.
#[derive(Clone, Copy)]
struct Scaling {
    /// Exponents so far apart make a quotient near the largest number.
    far: i32,
    by: i32,
    /// Biased exponents up to this are tiny.
    tiny: i32,
}

/// `a`, which is one of denominator `b` and numerator `c`, scaled so that no step of a division loses bits; whether the
/// quotient must be scaled back.
fn div_scale<T: Float>(a: T, b: T, c: T, scaling: Scaling) -> (T, bool) {
    let f = T::FORMAT;
    let same = |x: T| f.compare(a.bits(), x.bits()) == Some(Ordering::Equal);
    let scaled = |by: i32| T::from_bits(f.scale(a.bits(), by, Round::NearestEven));
    let (bottom, top) = (f.exponent(b.bits()), f.exponent(c.bits()));
    if f.is_zero(b.bits()) || f.is_zero(c.bits()) {
        return (T::from_bits(f.nan()), true);
    }
    if top - bottom >= scaling.far {
        return (if same(b) { scaled(scaling.by) } else { a }, true);
    }
    if f.is_denormal(b.bits()) {
        return (scaled(scaling.by), false);
    }
    // From here on reciprocals are denormal; the exponents alone tell whether the quotient may be.
    let limit = f.scale(f.one(), f.bias() - 1, Round::NearestEven);
    let magnitude = b.bits() & (f.sign() - 1);
    let reciprocal = magnitude > limit && magnitude < f.infinity();
    let quotient = top - bottom < 2 - f.bias();
    match (reciprocal, quotient) {
        // Manuals say that the denominator grows, but this one would overflow.
        (true, true) => (if same(b) { scaled(-scaling.by) } else { a }, true),
        (true, false) => (scaled(-scaling.by), false),
        (false, true) => (if same(c) { scaled(scaling.by) } else { a }, true),
        (false, false) if top <= scaling.tiny => (scaled(scaling.by), false),
        (false, false) => (a, false),
    }
}

/// `a * b + c`, scaled back where [`div_scale`] said so, with one rounding.
fn div_fmas<T: Float>(mode: Mode, a: T, b: T, c: T, scales: bool, by: i32) -> T {
    let f = T::FORMAT;
    let by = match scales {
        false => 0,
        true if f.exponent(c.bits()) > f.bias() => by,
        true => -by,
    };
    T::from_bits(f.fma_scaled(a.bits(), b.bits(), c.bits(), by, round(mode, f)))
}

/// A quotient with the sign, and the special values, that numerator and denominator give it. Where `below` is given, a
/// numerator that many binary orders below the denominator underflows, and a quotient that is NaN has overflowed.
fn div_fixup<T: Float>(mode: Mode, quotient: T, denominator: T, numerator: T, below: Option<i32>) -> T {
    let f = T::FORMAT;
    let (d, n) = (denominator.bits(), numerator.bits());
    let sign = (d ^ n) & f.sign();
    for x in [n, d] {
        if f.is_nan(x) {
            return T::from_bits(x | f.quiet());
        }
    }
    // Manuals have the negative NaN here; hardware gives the positive one.
    T::from_bits(if (f.is_zero(d) && f.is_zero(n)) || (f.is_infinite(d) && f.is_infinite(n)) {
        f.nan()
    } else if f.is_zero(d) || f.is_infinite(n) {
        sign | f.infinity()
    } else if f.is_infinite(d) || f.is_zero(n) {
        sign
    } else if below.is_some_and(|below| f.exponent(n) - f.exponent(d) < -below) {
        f.scale(sign | f.one(), -4 * f.bias(), round(mode, f))
    } else if below.is_some() && f.is_nan(quotient.bits()) {
        sign | f.infinity()
    } else {
        sign | quotient.bits() & (f.sign() - 1)
    })
}

fn exponent<T: Float>(a: T) -> i32 {
    let f = T::FORMAT;
    if f.is_nan(a.bits()) || f.is_infinite(a.bits()) { 0 } else { f.split(a.bits()).1 }
}

fn fraction<T: Float>(a: T) -> T {
    let f = T::FORMAT;
    if f.is_nan(a.bits()) {
        return T::from_bits(a.bits() | f.quiet());
    }
    if f.is_infinite(a.bits()) { a } else { T::from_bits(f.split(a.bits()).0) }
}

/// What is above the next lower integer, less than 1.
fn fract<T: Float>(mode: Mode, a: T) -> T {
    let f = T::FORMAT;
    let floor = whole(a, Round::Down).bits() ^ f.sign();
    let above = f.add(a.bits(), floor, round(mode, f));
    if f.is_nan(above) {
        return T::from_bits(if f.is_nan(a.bits()) { a.bits() | f.quiet() } else { above });
    }
    // Of a whole number it is +0 in any rounding.
    let above = if f.is_zero(above) { 0 } else { above };
    T::from_bits(above.min(f.one() - 1))
}

enum Axis {
    X,
    Y,
    Z,
}

/// The axis of the cube face that a direction points to.
fn major(x: f32, y: f32, z: f32) -> Axis {
    let (x, y, z) = (x.abs(), y.abs(), z.abs());
    if z >= x && z >= y {
        Axis::Z
    } else if y >= x {
        Axis::Y
    } else {
        Axis::X
    }
}

fn twice(a: f32) -> f32 {
    f32::from_bits(F32_FORMAT.scale(a.bits(), 1, Round::NearestEven) as u32)
}

fn mullit(mode: Mode, a: f32, b: f32, c: f32) -> f32 {
    if b <= f32::MIN || b.is_nan() || c <= 0.0 || c.is_nan() {
        return f32::MIN;
    }
    f32::from_bits(F32_FORMAT.mul(a.bits(), b.bits(), mode.round_f32()) as u32)
}
