//! Conversions.

use super::sem;
use crate::exec::float::{F16_FORMAT, F32_FORMAT, Float, Format};
use crate::exec::lanes::{Bf16, F16, Pk};
use crate::exec::small::{Overflow, Rounding, Small};
use crate::exec::{Mode, Round};

sem! { LINES:
    V_CVT_F32_I32 => mode(i32 => f32; |m, a| float(m, i128::from(a)));
    V_CVT_F32_U32 => mode(u32 => f32; |m, a| float(m, i128::from(a)));
    V_CVT_F64_I32 => mode(i32 => f64; |m, a| float(m, i128::from(a)));
    V_CVT_F64_U32 => mode(u32 => f64; |m, a| float(m, i128::from(a)));
    V_CVT_F16_U16 => mode(u16 => F16; |m, a| float(m, i128::from(a)));
    V_CVT_F16_I16 => mode(i16 => F16; |m, a| float(m, i128::from(a)));
    V_CVT_F32_UBYTE0 => map(u32 => f32; |a| (a & 0xff) as f32);
    V_CVT_F32_UBYTE1 => map(u32 => f32; |a| (a >> 8 & 0xff) as f32);
    V_CVT_F32_UBYTE2 => map(u32 => f32; |a| (a >> 16 & 0xff) as f32);
    V_CVT_F32_UBYTE3 => map(u32 => f32; |a| (a >> 24) as f32);
    V_CVT_OFF_F32_I4 => map(u32 => f32; |a| ((a as i32) << 28 >> 28) as f32 / 16.0);

    V_CVT_I32_F32 => map(f32 => i32; |a| int(a, Round::Zero, i32::MIN.into(), i32::MAX.into()) as i32);
    V_CVT_U32_F32 => map(f32 => u32; |a| int(a, Round::Zero, 0, u32::MAX.into()) as u32);
    V_CVT_I32_F64 => map(f64 => i32; |a| int(a, Round::Zero, i32::MIN.into(), i32::MAX.into()) as i32);
    V_CVT_U32_F64 => map(f64 => u32; |a| int(a, Round::Zero, 0, u32::MAX.into()) as u32);
    V_CVT_I16_F16 => map(F16 => i16; |a| int(a, Round::Zero, i16::MIN.into(), i16::MAX.into()) as i16);
    V_CVT_U16_F16 => map(F16 => u16; |a| int(a, Round::Zero, 0, u16::MAX.into()) as u16);
    V_CVT_FLR_I32_F32 => map(f32 => i32; |a| int(a, Round::Down, i32::MIN.into(), i32::MAX.into()) as i32);
    V_CVT_FLOOR_I32_F32 => map(f32 => i32; |a| int(a, Round::Down, i32::MIN.into(), i32::MAX.into()) as i32);
    V_CVT_I32_I16 => map(i16 => i32; i32::from);
    V_CVT_U32_U16 => map(u16 => u32; u32::from);

    V_CVT_F16_F32 => mode(f32 => F16; convert);
    V_CVT_F32_F16 => mode(F16 => f32; convert);
    V_CVT_F32_F64 => mode(f64 => f32; convert);
    V_CVT_F64_F32 => mode(f32 => f64; convert);
    V_CVT_PKRTZ_F16_F32 => map(f32, f32 => Pk<F16>; |a, b| Pk(toward_zero(a), toward_zero(b)));
    V_CVT_PK_RTZ_F16_F32 => map(f32, f32 => Pk<F16>; |a, b| Pk(toward_zero(a), toward_zero(b)));
    V_CVT_PK_U16_U32 => map(u32, u32 => Pk<u16>; |a, b| Pk(a.min(0xffff) as u16, b.min(0xffff) as u16));
    V_CVT_PK_I16_I32 => map(i32, i32 => Pk<i16>; |a, b| {
        Pk(a.clamp(-0x8000, 0x7fff) as i16, b.clamp(-0x8000, 0x7fff) as i16)
    });
    V_SAT_PK_U8_I16 => map(u32 => u16; |a| saturate_byte(a as i16) | saturate_byte((a >> 16) as i16) << 8);

    V_CVT_NEAREST_I32_F32 => map(f32 => i32; nearest);
    V_CVT_RPI_I32_F32 => map(f32 => i32; nearest);
    V_CVT_NORM_I16_F16 => mode(F16 => i16; signed_norm);
    V_CVT_NORM_U16_F16 => mode(F16 => u16; unsigned_norm);
    V_CVT_PKNORM_I16_F16 => mode(F16, F16 => Pk<i16>; |m, a, b| Pk(signed_norm(m, a), signed_norm(m, b)));
    V_CVT_PKNORM_U16_F16 => mode(F16, F16 => Pk<u16>; |m, a, b| Pk(unsigned_norm(m, a), unsigned_norm(m, b)));
    V_CVT_PKNORM_I16_F32 => mode(f32, f32 => Pk<i16>; |m, a, b| Pk(signed_norm(m, a), signed_norm(m, b)));
    V_CVT_PKNORM_U16_F32 => mode(f32, f32 => Pk<u16>; |m, a, b| Pk(unsigned_norm(m, a), unsigned_norm(m, b)));
    V_CVT_PK_NORM_I16_F16 => mode(F16, F16 => Pk<i16>; |m, a, b| Pk(signed_norm(m, a), signed_norm(m, b)));
    V_CVT_PK_NORM_U16_F16 => mode(F16, F16 => Pk<u16>; |m, a, b| Pk(unsigned_norm(m, a), unsigned_norm(m, b)));
    V_CVT_PK_NORM_I16_F32 => mode(f32, f32 => Pk<i16>; |m, a, b| Pk(signed_norm(m, a), signed_norm(m, b)));
    V_CVT_PK_NORM_U16_F32 => mode(f32, f32 => Pk<u16>; |m, a, b| Pk(unsigned_norm(m, a), unsigned_norm(m, b)));
    V_CVT_PK_I16_F32 => map(f32, f32 => Pk<i16>; |a, b| {
        let part = |x| int(x, Round::Zero, i16::MIN.into(), i16::MAX.into()) as i16;
        Pk(part(a), part(b))
    });
    V_CVT_PK_U16_F32 => map(f32, f32 => Pk<u16>; |a, b| {
        let part = |x| int(x, Round::Zero, 0, u16::MAX.into()) as u16;
        Pk(part(a), part(b))
    });
    V_CVT_PK_U8_F32 => mode(f32, u32, u32 => u32; pack_byte);
    V_CVT_PKACCUM_U8_F32 => mode(f32, u32, u32 => u32; pack_byte);
    V_CVT_PK_BF16_F32 => map(f32, f32 => Pk<Bf16>; |a, b| Pk(nearest_even(a), nearest_even(b)));
    V_CVT_PK_F16_F32 => map(f32, f32 => Pk<F16>; |a, b| Pk(nearest_even(a), nearest_even(b)));
    V_CVT_F32_BF16 => map(Bf16 => f32; |a| f32::from_bits(u32::from(a.0) << 16));
    V_CVT_SR_BF16_F32 => keep(f32, u32 => Bf16; stochastic);
    V_CVT_SR_F16_F32 => keep(f32, u32 => F16; stochastic);
    V_CVT_SR_PK_BF16_F32 => map(f32, f32, u32 => Pk<Bf16>; |a, b, seed| {
        Pk(dithered(a, seed & 0xffff), dithered(b, seed >> 16))
    });
    V_CVT_SR_PK_F16_F32 => map(f32, f32, u32 => Pk<F16>; |a, b, seed| {
        Pk(dithered_half(a, seed & 0xffff), dithered_half(b, seed >> 16))
    });

    V_TRUNC_F32 => map(f32 => f32; |a| whole(a, Round::Zero));
    V_CEIL_F32 => map(f32 => f32; |a| whole(a, Round::Up));
    V_FLOOR_F32 => map(f32 => f32; |a| whole(a, Round::Down));
    V_RNDNE_F32 => map(f32 => f32; |a| whole(a, Round::NearestEven));
    V_TRUNC_F64 => map(f64 => f64; |a| whole(a, Round::Zero));
    V_CEIL_F64 => map(f64 => f64; |a| whole(a, Round::Up));
    V_FLOOR_F64 => map(f64 => f64; |a| whole(a, Round::Down));
    V_RNDNE_F64 => map(f64 => f64; |a| whole(a, Round::NearestEven));
    V_TRUNC_F16 => map(F16 => F16; |a| whole(a, Round::Zero));
    V_CEIL_F16 => map(F16 => F16; |a| whole(a, Round::Up));
    V_FLOOR_F16 => map(F16 => F16; |a| whole(a, Round::Down));
    V_RNDNE_F16 => map(F16 => F16; |a| whole(a, Round::NearestEven));

    V_LDEXP_F32 => mode(f32, i32 => f32; scale);
    V_LDEXP_F64 => mode(f64, i32 => f64; scale);
    V_LDEXP_F16 => mode(F16, i16 => F16; |m, a, exponent| scale(m, a, exponent.into()));
}

/// The rounding that the mode has for a format.
pub(super) fn round(mode: Mode, format: Format) -> Round {
    if format == F32_FORMAT { mode.round_f32() } else { mode.round_f16_f64() }
}

pub(super) fn float<T: Float>(mode: Mode, value: i128) -> T {
    T::from_bits(T::FORMAT.of_int(value, round(mode, T::FORMAT)))
}

pub(super) fn int<T: Float>(a: T, round: Round, least: i64, most: i64) -> i64 {
    T::FORMAT.to_int(a.bits(), round, least.into(), most.into()) as i64
}

pub(super) fn whole<T: Float>(a: T, round: Round) -> T {
    T::from_bits(T::FORMAT.round_to_integer(a.bits(), round))
}

fn scale<T: Float>(mode: Mode, a: T, exponent: i32) -> T {
    T::from_bits(T::FORMAT.scale(a.bits(), exponent, round(mode, T::FORMAT)))
}

pub(super) fn convert<A: Float, R: Float>(mode: Mode, a: A) -> R {
    R::from_bits(A::FORMAT.convert(a.bits(), R::FORMAT, round(mode, R::FORMAT)))
}

pub(super) fn toward_zero(a: f32) -> F16 {
    F16(F32_FORMAT.convert(a.bits(), F16_FORMAT, Round::Zero) as u16)
}

fn saturate_byte(a: i16) -> u16 {
    a.clamp(0, 255) as u16
}

fn nearest_even<T: Float>(a: f32) -> T {
    T::from_bits(F32_FORMAT.convert(a.bits(), T::FORMAT, Round::NearestEven))
}

/// To the nearest integer, halves up.
fn nearest(a: f32) -> i32 {
    // Whole numbers and halves are exact in 64 bits.
    let half_up = (f64::from(a) + 0.5).floor();
    int(half_up, Round::Zero, i32::MIN.into(), i32::MAX.into()) as i32
}

/// -1 to 1 as -32767 to 32767.
fn signed_norm<T: Float>(mode: Mode, a: T) -> i16 {
    let f = T::FORMAT;
    int(f.to_f64(a.bits()).clamp(-1.0, 1.0) * 32767.0, round(mode, f), -32767, 32767) as i16
}

/// 0 to 1 as 0 to 65535.
fn unsigned_norm<T: Float>(mode: Mode, a: T) -> u16 {
    let f = T::FORMAT;
    int(f.to_f64(a.bits()).clamp(0.0, 1.0) * 65535.0, round(mode, f), 0, 65535) as u16
}

/// One byte of the last source replaced by a float as an integer of 8 bits.
fn pack_byte(mode: Mode, a: f32, byte: u32, into: u32) -> u32 {
    let shift = 8 * (byte & 3);
    let value = int(a, mode.round_f32(), 0, 255) as u32;
    into & !(0xff << shift) | value << shift
}

/// Rounded up with the probability that the seed's highest bits stand for: they are added to what is cut off.
fn stochastic<T: Float>(a: f32, seed: u32) -> T {
    let to = Small::ieee(T::FORMAT.exp, T::FORMAT.man);
    let rounding = Rounding::stochastic(seed, Small::F32, to);
    T::from_bits(to.encode(Small::F32.decode(a.to_bits()), rounding, Overflow::Special).into())
}

/// A seed added below a bfloat16's bits, which are then cut off.
fn dithered(a: f32, seed: u32) -> Bf16 {
    if a.is_nan() || a.is_infinite() {
        return nearest_even(a);
    }
    Bf16((a.to_bits().wrapping_add(seed) >> 16) as u16)
}

/// The same for a 16-bit float.
fn dithered_half(a: f32, seed: u32) -> F16 {
    // Thirteen bits are cut off.
    if a.is_nan() || a.is_infinite() { nearest_even(a) } else { stochastic(a, seed << 16) }
}
