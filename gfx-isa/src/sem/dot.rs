//! Dot products.

use super::sem;
use crate::exec::Round;
use crate::exec::float::{F32_FORMAT, Float, Format};
use crate::exec::lanes::{Bf16, F16, Pk};

sem! { LINES:
    V_DOT2_F32_F16 => dot(F16; dot2);
    V_DOT2C_F32_F16 => dot(F16; dot2);
    V_DOT2ACC_F32_F16 => dot(F16; dot2);
    V_DOT2_F32_BF16 => dot(Bf16; dot2);
    V_DOT2C_F32_BF16 => dot(Bf16; dot2);
    V_DUAL_DOT2ACC_F32_BF16 => dot(Bf16; dot2);
    V_DOT2_F16_F16 => keep(Pk<F16>, Pk<F16>, F16 => F16; |a, b, c| dot2_short(a, b, c, Round::NearestEven));
    // As measured: whatever the mode says.
    V_DOT2_BF16_BF16 => keep(Pk<Bf16>, Pk<Bf16>, Bf16 => Bf16; |a, b, c| dot2_short(a, b, c, Round::Zero));

    V_DOT2_I32_I16 => sums(Pk<i16>, Pk<i16>, i32; |a, b, c| {
        c + i64::from(a.0) * i64::from(b.0) + i64::from(a.1) * i64::from(b.1)
    });
    V_DOT2C_I32_I16 => sums(Pk<i16>, Pk<i16>, i32; |a, b, c| {
        c + i64::from(a.0) * i64::from(b.0) + i64::from(a.1) * i64::from(b.1)
    });
    V_DOT2_U32_U16 => sums(Pk<u16>, Pk<u16>, u32; |a, b, c| {
        c + i64::from(a.0) * i64::from(b.0) + i64::from(a.1) * i64::from(b.1)
    });
    V_DOT4_I32_I8 => sums(u32, u32, i32; |a, b, c| c + products::<8>(a, b, 3));
    V_DOT4C_I32_I8 => sums(u32, u32, i32; |a, b, c| c + products::<8>(a, b, 3));
    V_DOT4_U32_U8 => sums(u32, u32, u32; |a, b, c| c + products::<8>(a, b, 0));
    V_DOT4_I32_IU8 => signed_sums(i32; |a, b, c, signs| c + products::<8>(a, b, signs));
    V_DOT8_I32_I4 => sums(u32, u32, i32; |a, b, c| c + products::<4>(a, b, 3));
    V_DOT8C_I32_I4 => sums(u32, u32, i32; |a, b, c| c + products::<4>(a, b, 3));
    V_DOT8_U32_U4 => sums(u32, u32, u32; |a, b, c| c + products::<4>(a, b, 0));
    V_DOT8_I32_IU4 => signed_sums(i32; |a, b, c, signs| c + products::<4>(a, b, signs));
}

/// The sum of the products of elements of some bits; bits 0 and 1 of `signs`: those of a and b are signed.
#[inline(always)]
fn products<const BITS: u32>(a: u32, b: u32, signs: u32) -> i64 {
    let element = |x: u32, at: u32, signed: bool| {
        let top = x << (32 - BITS - at);
        i64::from(if signed { top as i32 >> (32 - BITS) } else { (top >> (32 - BITS)) as i32 })
    };
    let mut sum = 0;
    let mut at = 0;
    while at < 32 {
        sum += element(a, at, signs & 1 != 0) * element(b, at, signs & 2 != 0);
        at += BITS;
    }
    sum
}

/// The products, each exact, are added one after the other.
fn dot2<T: Float>(a: Pk<T>, b: Pk<T>, c: f32) -> f32 {
    let wide = |x: T| T::FORMAT.convert(x.bits(), F32_FORMAT, Round::NearestEven);
    let fma = |x: T, y: T, sum: u64| F32_FORMAT.fma(wide(x), wide(y), sum, Round::NearestEven);
    f32::from_bits(fma(a.1, b.1, fma(a.0, b.0, c.bits())) as u32)
}

/// The same with a sum of the sources' own format, rounded once.
fn dot2_short<T: Float>(a: Pk<T>, b: Pk<T>, c: T, round: Round) -> T {
    let format: Format = T::FORMAT;
    let nan = [a.0, b.0, a.1, b.1, c].iter().find(|x| format.is_nan(x.bits())).copied();
    if let Some(nan) = nan {
        return T::from_bits(nan.bits() | format.quiet());
    }
    let wide = |x: T| format.to_f64(x.bits());
    let sum = wide(a.0) * wide(b.0) + (wide(a.1) * wide(b.1) + wide(c));
    T::from_bits(if sum.is_nan() { format.sign() | format.nan() } else { format.of_f64(sum, round) })
}
