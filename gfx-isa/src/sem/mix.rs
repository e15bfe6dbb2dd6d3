//! Arithmetic on sources of mixed formats, and on bfloat16.

use super::cvt::{convert, toward_zero};
use super::sem;
use crate::exec::float::{F32_FORMAT, Float, max_num, min_num};
use crate::exec::lanes::{Bf16, F16, MixBf16, MixF16};
use crate::exec::{Mode, Round};

sem! { LINES:
    V_FMA_MIX_F32 => mode(MixF16, MixF16, MixF16 => f32; |m, a, b, c| fma(m, a.0, b.0, c.0));
    V_FMA_MIXLO_F16 => keep_mode(MixF16, MixF16, MixF16 => F16; |m, a, b, c| convert(m, fma(m, a.0, b.0, c.0)));
    V_FMA_MIXHI_F16 => high(MixF16, MixF16, MixF16 => F16; |m, a, b, c| convert(m, fma(m, a.0, b.0, c.0)));
    V_FMA_MIX_F32_BF16 => mode(MixBf16, MixBf16, MixBf16 => f32; |m, a, b, c| fma(m, a.0, b.0, c.0));
    V_FMA_MIXLO_BF16 => keep_mode(MixBf16, MixBf16, MixBf16 => Bf16; |m, a, b, c| convert(m, fma(m, a.0, b.0, c.0)));
    V_FMA_MIXHI_BF16 => high(MixBf16, MixBf16, MixBf16 => Bf16; |m, a, b, c| convert(m, fma(m, a.0, b.0, c.0)));
    V_MAD_MIX_F32 => flushing(mode MixF16, MixF16, MixF16 => f32; |m, a, b, c| mad(m, a.0, b.0, c.0));
    V_MAD_MIXLO_F16 => flushing(keep_mode MixF16, MixF16, MixF16 => F16; |m, a, b, c| convert(m, mad(m, a.0, b.0, c.0)));
    V_MAD_MIXHI_F16 => flushing(high MixF16, MixF16, MixF16 => F16; |m, a, b, c| convert(m, mad(m, a.0, b.0, c.0)));

    V_INTERP_P10_F32 => interpolate10(f32 => f32; fma);
    V_INTERP_P2_F32 => interpolate2(f32 => f32; fma);
    V_INTERP_P10_F16_F32 => interpolate10(F16 => f32; |m, a, b, c| fma(m, single(a), b, single(c)));
    V_INTERP_P10_RTZ_F16_F32 => interpolate10(F16 => f32; |m, a, b, c| fma(m, single(a), b, single(c)));
    V_INTERP_P2_F16_F32 => interpolate2(F16 => F16; |m, a, b, c| convert(m, fma(m, single(a), b, c)));
    V_INTERP_P2_RTZ_F16_F32 => interpolate2(F16 => F16; |m, a, b, c| toward_zero(fma(m, single(a), b, c)));

    V_PK_ADD_BF16 => pk_bf16x2(|a, b| a + b);
    V_PK_MUL_BF16 => pk_bf16x2(|a, b| a * b);
    V_PK_FMA_BF16 => pk_bf16x3(|a, b, c| a.mul_add(b, c));
    V_PK_MIN_NUM_BF16 => pk_mode(Bf16; |_, a, b| min_num(a, b));
    V_PK_MAX_NUM_BF16 => pk_mode(Bf16; |_, a, b| max_num(a, b));
}

fn single(a: F16) -> f32 {
    f32::from_bits(F16::FORMAT.convert(a.bits(), F32_FORMAT, Round::NearestEven) as u32)
}

fn fma(mode: Mode, a: f32, b: f32, c: f32) -> f32 {
    f32::from_bits(F32_FORMAT.fma(a.bits(), b.bits(), c.bits(), mode.round_f32()) as u32)
}

fn mad(mode: Mode, a: f32, b: f32, c: f32) -> f32 {
    let round = mode.round_f32();
    f32::from_bits(F32_FORMAT.add(F32_FORMAT.mul(a.bits(), b.bits(), round), c.bits(), round) as u32)
}
