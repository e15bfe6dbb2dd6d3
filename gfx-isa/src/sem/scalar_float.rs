//! Floating-point arithmetic on scalar registers.

use core::cmp::Ordering;

use super::cvt::{convert, float, int, toward_zero, whole};
use super::sem;
use crate::exec::float::{F32_FORMAT, Float, Format, max, max_num, maximum, min, min_num, minimum};
use crate::exec::lanes::F16;
use crate::exec::{Mode, Round};

sem! { LINES:
    S_ADD_F32 => val(|a: f32, b: f32, mode: Mode| two(mode, a, b, Format::add));
    S_ADD_F16 => val(|a: F16, b: F16, mode: Mode| two(mode, a, b, Format::add));
    S_SUB_F32 => val(|a: f32, b: f32, mode: Mode| two(mode, a, b, subtract));
    S_SUB_F16 => val(|a: F16, b: F16, mode: Mode| two(mode, a, b, subtract));
    S_MUL_F32 => val(|a: f32, b: f32, mode: Mode| two(mode, a, b, Format::mul));
    S_MUL_F16 => val(|a: F16, b: F16, mode: Mode| two(mode, a, b, Format::mul));
    S_FMAC_F32 => val(|a: f32, b: f32, d: f32, mode: Mode| fma(mode, a, b, d));
    S_FMAC_F16 => val(|a: F16, b: F16, d: F16, mode: Mode| fma(mode, a, b, d));
    S_FMAAK_F32 => val(|a: f32, b: f32, k: f32, mode: Mode| fma(mode, a, b, k));
    S_FMAMK_F32 => val(|a: f32, k: f32, b: f32, mode: Mode| fma(mode, a, k, b));

    S_MIN_F32 => val(|a: f32, b: f32, mode: Mode| pick(mode, a, b, |a, b| min(mode, a, b)));
    S_MIN_F16 => val(|a: F16, b: F16, mode: Mode| pick(mode, a, b, |a, b| min(mode, a, b)));
    S_MAX_F32 => val(|a: f32, b: f32, mode: Mode| pick(mode, a, b, |a, b| max(mode, a, b)));
    S_MAX_F16 => val(|a: F16, b: F16, mode: Mode| pick(mode, a, b, |a, b| max(mode, a, b)));
    S_MIN_NUM_F32 => val(|a: f32, b: f32, mode: Mode| pick(mode, a, b, min_num));
    S_MIN_NUM_F16 => val(|a: F16, b: F16, mode: Mode| pick(mode, a, b, min_num));
    S_MAX_NUM_F32 => val(|a: f32, b: f32, mode: Mode| pick(mode, a, b, max_num));
    S_MAX_NUM_F16 => val(|a: F16, b: F16, mode: Mode| pick(mode, a, b, max_num));
    S_MINIMUM_F32 => val(|a: f32, b: f32, mode: Mode| pick(mode, a, b, minimum));
    S_MINIMUM_F16 => val(|a: F16, b: F16, mode: Mode| pick(mode, a, b, minimum));
    S_MAXIMUM_F32 => val(|a: f32, b: f32, mode: Mode| pick(mode, a, b, maximum));
    S_MAXIMUM_F16 => val(|a: F16, b: F16, mode: Mode| pick(mode, a, b, maximum));

    S_CEIL_F32 => val(|a: f32, mode: Mode| whole(input(mode, a), Round::Up));
    S_CEIL_F16 => val(|a: F16, mode: Mode| whole(input(mode, a), Round::Up));
    S_FLOOR_F32 => val(|a: f32, mode: Mode| whole(input(mode, a), Round::Down));
    S_FLOOR_F16 => val(|a: F16, mode: Mode| whole(input(mode, a), Round::Down));
    S_TRUNC_F32 => val(|a: f32, mode: Mode| whole(input(mode, a), Round::Zero));
    S_TRUNC_F16 => val(|a: F16, mode: Mode| whole(input(mode, a), Round::Zero));
    S_RNDNE_F32 => val(|a: f32, mode: Mode| whole(input(mode, a), Round::NearestEven));
    S_RNDNE_F16 => val(|a: F16, mode: Mode| whole(input(mode, a), Round::NearestEven));

    S_CVT_F32_I32 => val(|a: i32, mode: Mode| float::<f32>(mode, a.into()));
    S_CVT_F32_U32 => val(|a: u32, mode: Mode| float::<f32>(mode, a.into()));
    S_CVT_I32_F32 => val(|a: f32| int(a, Round::Zero, i32::MIN.into(), i32::MAX.into()) as i32);
    S_CVT_U32_F32 => val(|a: f32| int(a, Round::Zero, 0, u32::MAX.into()) as u32);
    S_CVT_F16_F32 => val(|a: f32, mode: Mode| output::<F16>(mode, convert(mode, input(mode, a))));
    S_CVT_F32_F16 => val(|a: F16, mode: Mode| convert::<F16, f32>(mode, input(mode, a)));
    S_CVT_HI_F32_F16 => val(|a: u32, mode: Mode| convert::<F16, f32>(mode, input(mode, F16((a >> 16) as u16))));
    S_CVT_PK_RTZ_F16_F32 => val(|a: f32, b: f32, mode: Mode| {
        let half = |x: f32| u32::from(output(mode, toward_zero(input(mode, x))).0);
        half(a) | half(b) << 16
    });

    S_CMP_LT_F32 => scc(|a: f32, b: f32, mode: Mode| is(mode, a, b, |o| o == Some(Ordering::Less)));
    S_CMP_LT_F16 => scc(|a: F16, b: F16, mode: Mode| is(mode, a, b, |o| o == Some(Ordering::Less)));
    S_CMP_EQ_F32 => scc(|a: f32, b: f32, mode: Mode| is(mode, a, b, |o| o == Some(Ordering::Equal)));
    S_CMP_EQ_F16 => scc(|a: F16, b: F16, mode: Mode| is(mode, a, b, |o| o == Some(Ordering::Equal)));
    S_CMP_LE_F32 => scc(|a: f32, b: f32, mode: Mode| is(mode, a, b, |o| o.is_some_and(Ordering::is_le)));
    S_CMP_LE_F16 => scc(|a: F16, b: F16, mode: Mode| is(mode, a, b, |o| o.is_some_and(Ordering::is_le)));
    S_CMP_GT_F32 => scc(|a: f32, b: f32, mode: Mode| is(mode, a, b, |o| o == Some(Ordering::Greater)));
    S_CMP_GT_F16 => scc(|a: F16, b: F16, mode: Mode| is(mode, a, b, |o| o == Some(Ordering::Greater)));
    S_CMP_LG_F32 => scc(|a: f32, b: f32, mode: Mode| is(mode, a, b, |o| o.is_some_and(Ordering::is_ne)));
    S_CMP_LG_F16 => scc(|a: F16, b: F16, mode: Mode| is(mode, a, b, |o| o.is_some_and(Ordering::is_ne)));
    S_CMP_GE_F32 => scc(|a: f32, b: f32, mode: Mode| is(mode, a, b, |o| o.is_some_and(Ordering::is_ge)));
    S_CMP_GE_F16 => scc(|a: F16, b: F16, mode: Mode| is(mode, a, b, |o| o.is_some_and(Ordering::is_ge)));
    S_CMP_O_F32 => scc(|a: f32, b: f32, mode: Mode| is(mode, a, b, |o| o.is_some()));
    S_CMP_O_F16 => scc(|a: F16, b: F16, mode: Mode| is(mode, a, b, |o| o.is_some()));
    S_CMP_U_F32 => scc(|a: f32, b: f32, mode: Mode| is(mode, a, b, |o| o.is_none()));
    S_CMP_U_F16 => scc(|a: F16, b: F16, mode: Mode| is(mode, a, b, |o| o.is_none()));
    S_CMP_NGE_F32 => scc(|a: f32, b: f32, mode: Mode| is(mode, a, b, |o| !o.is_some_and(Ordering::is_ge)));
    S_CMP_NGE_F16 => scc(|a: F16, b: F16, mode: Mode| is(mode, a, b, |o| !o.is_some_and(Ordering::is_ge)));
    S_CMP_NLG_F32 => scc(|a: f32, b: f32, mode: Mode| is(mode, a, b, |o| !o.is_some_and(Ordering::is_ne)));
    S_CMP_NLG_F16 => scc(|a: F16, b: F16, mode: Mode| is(mode, a, b, |o| !o.is_some_and(Ordering::is_ne)));
    S_CMP_NGT_F32 => scc(|a: f32, b: f32, mode: Mode| is(mode, a, b, |o| o != Some(Ordering::Greater)));
    S_CMP_NGT_F16 => scc(|a: F16, b: F16, mode: Mode| is(mode, a, b, |o| o != Some(Ordering::Greater)));
    S_CMP_NLE_F32 => scc(|a: f32, b: f32, mode: Mode| is(mode, a, b, |o| !o.is_some_and(Ordering::is_le)));
    S_CMP_NLE_F16 => scc(|a: F16, b: F16, mode: Mode| is(mode, a, b, |o| !o.is_some_and(Ordering::is_le)));
    S_CMP_NEQ_F32 => scc(|a: f32, b: f32, mode: Mode| is(mode, a, b, |o| o != Some(Ordering::Equal)));
    S_CMP_NEQ_F16 => scc(|a: F16, b: F16, mode: Mode| is(mode, a, b, |o| o != Some(Ordering::Equal)));
    S_CMP_NLT_F32 => scc(|a: f32, b: f32, mode: Mode| is(mode, a, b, |o| o != Some(Ordering::Less)));
    S_CMP_NLT_F16 => scc(|a: F16, b: F16, mode: Mode| is(mode, a, b, |o| o != Some(Ordering::Less)));
}

/// Rounding, and whether denormals are flushed as sources and as results.
fn rules(mode: Mode, format: Format) -> (Round, bool, bool) {
    let (round, denorm) = if format == F32_FORMAT {
        (mode.round_f32(), mode.denorm_f32())
    } else {
        (mode.round_f16_f64(), mode.denorm_f16_f64())
    };
    (round, denorm.flush_in, denorm.flush_out)
}

fn flush<T: Float>(a: T) -> T {
    if T::FORMAT.is_denormal(a.bits()) { T::from_bits(a.bits() & T::FORMAT.sign()) } else { a }
}

fn input<T: Float>(mode: Mode, a: T) -> T {
    if rules(mode, T::FORMAT).1 { flush(a) } else { a }
}

fn output<T: Float>(mode: Mode, a: T) -> T {
    if rules(mode, T::FORMAT).2 { flush(a) } else { a }
}

fn two<T: Float>(mode: Mode, a: T, b: T, f: impl Fn(Format, u64, u64, Round) -> u64) -> T {
    let (a, b) = (input(mode, a), input(mode, b));
    output(mode, T::from_bits(f(T::FORMAT, a.bits(), b.bits(), rules(mode, T::FORMAT).0)))
}

fn subtract(format: Format, a: u64, b: u64, round: Round) -> u64 {
    format.add(a, if format.is_nan(b) { b } else { b ^ format.sign() }, round)
}

fn fma<T: Float>(mode: Mode, a: T, b: T, c: T) -> T {
    let (a, b, c) = (input(mode, a), input(mode, b), input(mode, c));
    output(mode, T::from_bits(T::FORMAT.fma(a.bits(), b.bits(), c.bits(), rules(mode, T::FORMAT).0)))
}

fn pick<T: Float>(mode: Mode, a: T, b: T, f: impl Fn(T, T) -> T) -> T {
    output(mode, f(input(mode, a), input(mode, b)))
}

fn is<T: Float>(mode: Mode, a: T, b: T, f: impl Fn(Option<Ordering>) -> bool) -> bool {
    f(T::FORMAT.compare(input(mode, a).bits(), input(mode, b).bits()))
}
