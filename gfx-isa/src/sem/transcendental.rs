//! Reciprocals, roots, powers, logarithms and circular functions: rounded to nearest from 64-bit arithmetic, which is
//! closer than what the manuals promise and exact where the result is a power of two.

use super::sem;
use crate::exec::Round;
use crate::exec::float::{F32_FORMAT, Float};
use crate::exec::lanes::{Bf16, F16};

sem! { LINES:
    V_RCP_F32 => wide(f32 => f32; rcp);
    V_RCP_IFLAG_F32 => wide(f32 => f32; rcp);
    V_RSQ_F32 => map(f32 => f32; |a| single(a, rsq));
    V_SQRT_F32 => wide(f32 => f32; sqrt);
    V_EXP_F32 => map(f32 => f32; |a| single(a, power));
    V_EXP_LEGACY_F32 => map(f32 => f32; |a| single(a, power));
    V_LOG_F32 => map(f32 => f32; |a| single(a, logarithm));
    V_LOG_LEGACY_F32 => map(f32 => f32; |a| single(a, logarithm));
    V_SIN_F32 => map(f32 => f32; |a| through(a, sine));
    V_COS_F32 => map(f32 => f32; |a| through(a, cosine));
    V_TANH_F32 => map(f32 => f32; |a| through(a, tanh));

    V_RCP_F64 => map(f64 => f64; |a| through(a, |x| 1.0 / x));
    V_RSQ_F64 => map(f64 => f64; |a| through(a, rsq));
    V_SQRT_F64 => map(f64 => f64; |a| through(a, f64::sqrt));

    V_RCP_F16 => map(F16 => F16; |a| through(a, |x| 1.0 / x));
    V_RSQ_F16 => map(F16 => F16; |a| through(a, rsq));
    V_SQRT_F16 => map(F16 => F16; |a| through(a, f64::sqrt));
    V_EXP_F16 => map(F16 => F16; |a| through(a, power));
    V_LOG_F16 => map(F16 => F16; |a| through(a, logarithm));
    V_SIN_F16 => map(F16 => F16; |a| through(a, sine));
    V_COS_F16 => map(F16 => F16; |a| through(a, cosine));
    V_TANH_F16 => map(F16 => F16; |a| through(a, tanh));

    V_RCP_BF16 => map(Bf16 => Bf16; |a| through(a, |x| 1.0 / x));
    V_RSQ_BF16 => map(Bf16 => Bf16; |a| through(a, rsq));
    V_SQRT_BF16 => map(Bf16 => Bf16; |a| through(a, f64::sqrt));
    V_EXP_BF16 => map(Bf16 => Bf16; |a| through(a, power));
    V_LOG_BF16 => map(Bf16 => Bf16; |a| through(a, logarithm));
    V_SIN_BF16 => map(Bf16 => Bf16; |a| through(a, sine));
    V_COS_BF16 => map(Bf16 => Bf16; |a| through(a, cosine));
    V_TANH_BF16 => map(Bf16 => Bf16; |a| through(a, tanh));

    // From one scalar to another.
    V_S_RCP_F32 => to_scalar(f32 => f32; rcp);
    V_S_RSQ_F32 => to_scalar(f32 => f32; |a| single(a, rsq));
    V_S_SQRT_F32 => to_scalar(f32 => f32; sqrt);
    V_S_EXP_F32 => to_scalar(f32 => f32; |a| single(a, power));
    V_S_LOG_F32 => to_scalar(f32 => f32; |a| single(a, logarithm));
    V_S_RCP_F16 => to_scalar(F16 => F16; |a| through(a, |x| 1.0 / x));
    V_S_RSQ_F16 => to_scalar(F16 => F16; |a| through(a, rsq));
    V_S_SQRT_F16 => to_scalar(F16 => F16; |a| through(a, f64::sqrt));
    V_S_EXP_F16 => to_scalar(F16 => F16; |a| through(a, power));
    V_S_LOG_F16 => to_scalar(F16 => F16; |a| through(a, logarithm));

    V_TRIG_PREOP_F64 => map(f64, u32 => f64; trig_preop);
}

/// A function by way of 64-bit floats. NaN comes out as it went in, quieted; a result without a value is the negative NaN.
fn through<T: Float>(a: T, f: impl Fn(f64) -> f64) -> T {
    let format = T::FORMAT;
    if format.is_nan(a.bits()) {
        return T::from_bits(a.bits() | format.quiet());
    }
    let value = f(format.to_f64(a.bits()));
    if value.is_nan() {
        T::from_bits(format.sign() | format.nan())
    } else {
        T::from_bits(format.of_f64(value, Round::NearestEven))
    }
}

#[inline(always)]
fn flush(a: f32) -> f32 {
    if a.to_bits() & 0x7f80_0000 == 0 { f32::from_bits(a.to_bits() & 0x8000_0000) } else { a }
}

/// As [`through`], without 32-bit denormals, whatever the mode says.
fn single(a: f32, f: impl Fn(f64) -> f64) -> f32 {
    flush(through(flush(a), f))
}

/// A NaN's own bits, quieted, instead of what the CPU made of it.
#[inline(always)]
fn keep_nan(a: f32, value: f32) -> f32 {
    if a.is_nan() { f32::from_bits(a.to_bits() | F32_FORMAT.quiet() as u32) } else { value }
}

#[inline(always)]
fn rcp(a: f32) -> f32 {
    let a = flush(a);
    keep_nan(a, flush(1.0 / a))
}

#[inline(always)]
fn sqrt(a: f32) -> f32 {
    let a = flush(a);
    let root = if a < 0.0 { f32::from_bits(0xffc0_0000) } else { a.sqrt() };
    keep_nan(a, root)
}

fn rsq(x: f64) -> f64 {
    1.0 / x.sqrt()
}

fn power(x: f64) -> f64 {
    if x.fract() == 0.0 && x.abs() < 1000.0 {
        return f64::from_bits(((1023 + x as i64) as u64) << 52);
    }
    x.exp2()
}

fn logarithm(x: f64) -> f64 {
    // Of a power of two, whatever the C library makes of it.
    if x > 0.0 && x.is_finite() && x.to_bits() << 12 == 0 {
        return f64::from((x.to_bits() >> 52) as i32 - 1023);
    }
    x.log2()
}

/// The quarter turn that is nearest to a number of turns, and the angle from there.
fn quarter(turns: f64) -> (u32, f64) {
    let nearest = (4.0 * turns).round();
    (nearest.rem_euclid(4.0) as u32, (turns - nearest / 4.0) * core::f64::consts::TAU)
}

fn sine(turns: f64) -> f64 {
    if turns == 0.0 || !turns.is_finite() {
        return if turns == 0.0 { turns } else { f64::NAN };
    }
    let (quarter, angle) = quarter(turns);
    // 0 is positive, from either side.
    0.0 + match quarter {
        0 => angle.sin(),
        1 => angle.cos(),
        2 => -angle.sin(),
        _ => -angle.cos(),
    }
}

fn cosine(turns: f64) -> f64 {
    if !turns.is_finite() {
        return f64::NAN;
    }
    let (quarter, angle) = quarter(turns);
    0.0 + match quarter {
        0 => angle.cos(),
        1 => -angle.sin(),
        2 => -angle.cos(),
        _ => angle.sin(),
    }
}

/// The manual's cut-offs: the argument itself below 1/1024, 1 from 8 on.
fn tanh(x: f64) -> f64 {
    match x.abs() {
        small if small < 1.0 / 1024.0 => x,
        large if large >= 8.0 => 1f64.copysign(x),
        _ => x.tanh(),
    }
}

/// 2/π: bits of its fraction, the highest first.
static TWO_OVER_PI: [u64; 19] = [
    0xa2f9_836e_4e44_1529,
    0xfc27_57d1_f534_ddc0,
    0xdb62_9599_3c43_9041,
    0xfe51_63ab_debb_c561,
    0xb724_6e3a_424d_d2e0,
    0x0649_2eea_09d1_921c,
    0xfe1d_eb1c_b129_a73e,
    0xe882_35f5_2ebb_4484,
    0xe99c_7026_b45f_7e41,
    0x3991_d639_8353_39f4,
    0x9c84_5f8b_bdf9_283b,
    0x1ff8_97ff_de05_980f,
    0xef2f_118b_5a0a_6d1f,
    0x6d36_7ecf_27cb_09b7,
    0x4f46_3f66_9e5f_ea2d,
    0x7527_bac7_ebe5_f17b,
    0x3d07_39f7_8a52_92ea,
    0x6bfb_5fb1_1f8d_5d08,
    0x5603_3046_fc7b_6bab,
];

/// Bits of 2/π that the hardware has.
const TWO_OVER_PI_BITS: u32 = 1201;

/// 53 bits of 2/π: the segment with a number, counted from where the integers that matter for an angle end.
fn trig_preop(angle: f64, segment: u32) -> f64 {
    let exponent = (angle.to_bits() >> 52 & 0x7ff) as u32;
    let shift = (segment & 31) * 53 + exponent.saturating_sub(1077);
    let bit = |at: u32| at < TWO_OVER_PI_BITS && TWO_OVER_PI[at as usize / 64] >> (63 - at % 64) & 1 != 0;
    let bits = (0..53).fold(0u64, |sum, at| sum << 1 | u64::from(bit(shift + at)));
    let scale = -53 - shift as i32 + if exponent >= 1968 { 128 } else { 0 };
    let format = f64::FORMAT;
    f64::from_bits(format.scale((bits as f64).to_bits(), scale, Round::NearestEven))
}
