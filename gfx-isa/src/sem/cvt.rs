//! Conversions.

use super::sem;
use crate::exec::float::{F16_FORMAT, F32_FORMAT, Float, Format};
use crate::exec::lanes::{F16, Pk};
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
fn round(mode: Mode, format: Format) -> Round {
    if format == F32_FORMAT { mode.round_f32() } else { mode.round_f16_f64() }
}

fn float<T: Float>(mode: Mode, value: i128) -> T {
    T::from_bits(T::FORMAT.of_int(value, round(mode, T::FORMAT)))
}

fn int<T: Float>(a: T, round: Round, least: i64, most: i64) -> i64 {
    T::FORMAT.to_int(a.bits(), round, least.into(), most.into()) as i64
}

fn whole<T: Float>(a: T, round: Round) -> T {
    T::from_bits(T::FORMAT.round_to_integer(a.bits(), round))
}

fn scale<T: Float>(mode: Mode, a: T, exponent: i32) -> T {
    T::from_bits(T::FORMAT.scale(a.bits(), exponent, round(mode, T::FORMAT)))
}

fn convert<A: Float, R: Float>(mode: Mode, a: A) -> R {
    R::from_bits(A::FORMAT.convert(a.bits(), R::FORMAT, round(mode, R::FORMAT)))
}

fn toward_zero(a: f32) -> F16 {
    F16(F32_FORMAT.convert(a.bits(), F16_FORMAT, Round::Zero) as u16)
}

fn saturate_byte(a: i16) -> u16 {
    a.clamp(0, 255) as u16
}
