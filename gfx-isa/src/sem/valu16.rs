//! Vector instructions on 16-bit values, alone and in pairs.

use super::sem;
use super::valu::truth_table;
use crate::exec::float::{max, max_num, maximum, med3, min, min_num, minimum};
use crate::exec::lanes::{B16, F16, Pk};

sem! { LINES:
    V_MOV_B16 => map(B16 => B16; |a| a);
    V_CNDMASK_B16 => select(B16; |a, b, bit| if bit { b } else { a });
    V_NOT_B16 => map(u16 => u16; |a: u16| !a);
    V_AND_B16 => u16x2(|a, b| a & b);
    V_OR_B16 => u16x2(|a, b| a | b);
    V_XOR_B16 => u16x2(|a, b| a ^ b);
    V_BITOP3_B16 => table(u16; |a, b, c, table| truth_table(a.into(), b.into(), c.into(), table) as u16);
    V_LSHLREV_B16 => u16x2(|a, b| b << (a & 15));
    V_LSHRREV_B16 => u16x2(|a, b| b >> (a & 15));
    V_ASHRREV_I16 => i16x2(|a, b| b >> (a & 15));

    V_ADD_U16 => clamp(u16, u16 => u16; |a, b| a + b);
    V_SUB_U16 => clamp(u16, u16 => u16; |a, b| a - b);
    V_SUBREV_U16 => clamp(u16, u16 => u16; |a, b| b - a);
    V_MUL_LO_U16 => u16x2(|a: u16, b: u16| a.wrapping_mul(b));
    V_ADD_I16 => keep_clamp(i16, i16 => i16; |a, b| a + b);
    V_SUB_I16 => keep_clamp(i16, i16 => i16; |a, b| a - b);
    V_ADD_NC_U16 => keep_clamp(u16, u16 => u16; |a, b| a + b);
    V_SUB_NC_U16 => keep_clamp(u16, u16 => u16; |a, b| a - b);
    V_ADD_NC_I16 => keep_clamp(i16, i16 => i16; |a, b| a + b);
    V_SUB_NC_I16 => keep_clamp(i16, i16 => i16; |a, b| a - b);
    V_MAD_U16 => keep_clamp(u16, u16, u16 => u16; |a, b, c| a * b + c);
    V_MAD_I16 => keep_clamp(i16, i16, i16 => i16; |a, b, c| a * b + c);
    V_MAD_LEGACY_U16 => clamp(u16, u16, u16 => u16; |a, b, c| a * b + c);
    V_MAD_LEGACY_I16 => clamp(i16, i16, i16 => i16; |a, b, c| a * b + c);
    V_MAD_U32_U16 => clamp(u16, u16, u32 => u32; |a, b, c| a * b + c);
    V_MAD_I32_I16 => clamp(i16, i16, i32 => i32; |a, b, c| a * b + c);

    V_MIN_U16 => u16x2(|a: u16, b: u16| a.min(b));
    V_MAX_U16 => u16x2(|a: u16, b: u16| a.max(b));
    V_MIN_I16 => i16x2(|a: i16, b: i16| a.min(b));
    V_MAX_I16 => i16x2(|a: i16, b: i16| a.max(b));
    V_MIN3_U16 => u16x3(|a: u16, b: u16, c: u16| a.min(b).min(c));
    V_MAX3_U16 => u16x3(|a: u16, b: u16, c: u16| a.max(b).max(c));
    V_MED3_U16 => u16x3(|a: u16, b: u16, c: u16| a.max(b).min(a.min(b).max(c)));
    V_MIN3_I16 => i16x3(|a: i16, b: i16, c: i16| a.min(b).min(c));
    V_MAX3_I16 => i16x3(|a: i16, b: i16, c: i16| a.max(b).max(c));
    V_MED3_I16 => i16x3(|a: i16, b: i16, c: i16| a.max(b).min(a.min(b).max(c)));

    V_ADD_F16 => f16x2(|a, b| a + b);
    V_SUB_F16 => f16x2(|a, b| a - b);
    V_SUBREV_F16 => f16x2(|a, b| b - a);
    V_MUL_F16 => f16x2(|a, b| a * b);
    V_FMA_F16 => f16x3(|a, b, c| a.mul_add(b, c));
    V_FMAC_F16 => f16x3(|a, b, c| a.mul_add(b, c));
    V_FMAMK_F16 => f16x3(|a, k, b| a.mul_add(k, b));
    V_FMAAK_F16 => f16x3(|a, b, k| a.mul_add(b, k));
    V_MAD_F16 => f16x3(|a, b, c| a * b + c);
    V_FMA_LEGACY_F16 => short_f16x3(|a, b, c| a.mul_add(b, c));
    V_MAD_LEGACY_F16 => short_f16x3(|a, b, c| a * b + c);
    V_MAC_F16 => f16x3(|a, b, c| a * b + c);
    V_MADMK_F16 => f16x3(|a, k, b| a * k + b);
    V_MADAK_F16 => f16x3(|a, b, k| a * b + k);

    V_MIN_F16 => mode(F16, F16 => F16; min);
    V_MAX_F16 => mode(F16, F16 => F16; max);
    V_MIN3_F16 => keep_mode(F16, F16, F16 => F16; |m, a, b, c| min(m, min(m, a, b), c));
    V_MAX3_F16 => keep_mode(F16, F16, F16 => F16; |m, a, b, c| max(m, max(m, a, b), c));
    V_MED3_F16 => keep_mode(F16, F16, F16 => F16; |m, a, b, c| med3(a, b, c, |x, y| min(m, x, y), |x, y| max(m, x, y)));
    V_MINMAX_F16 => keep_mode(F16, F16, F16 => F16; |m, a, b, c| max(m, min(m, a, b), c));
    V_MAXMIN_F16 => keep_mode(F16, F16, F16 => F16; |m, a, b, c| min(m, max(m, a, b), c));
    V_MIN_NUM_F16 => map(F16, F16 => F16; min_num);
    V_MAX_NUM_F16 => map(F16, F16 => F16; max_num);
    V_MIN3_NUM_F16 => keep(F16, F16, F16 => F16; |a, b, c| min_num(min_num(a, b), c));
    V_MAX3_NUM_F16 => keep(F16, F16, F16 => F16; |a, b, c| max_num(max_num(a, b), c));
    V_MED3_NUM_F16 => keep(F16, F16, F16 => F16; |a, b, c| med3(a, b, c, min_num, max_num));
    V_MINMAX_NUM_F16 => keep(F16, F16, F16 => F16; |a, b, c| max_num(min_num(a, b), c));
    V_MAXMIN_NUM_F16 => keep(F16, F16, F16 => F16; |a, b, c| min_num(max_num(a, b), c));
    V_MINIMUM_F16 => map(F16, F16 => F16; minimum);
    V_MAXIMUM_F16 => map(F16, F16 => F16; maximum);
    V_MINIMUM3_F16 => keep(F16, F16, F16 => F16; |a, b, c| minimum(minimum(a, b), c));
    V_MAXIMUM3_F16 => keep(F16, F16, F16 => F16; |a, b, c| maximum(maximum(a, b), c));
    V_MINIMUMMAXIMUM_F16 => keep(F16, F16, F16 => F16; |a, b, c| maximum(minimum(a, b), c));
    V_MAXIMUMMINIMUM_F16 => keep(F16, F16, F16 => F16; |a, b, c| minimum(maximum(a, b), c));
    V_PACK_B32_F16 => map(F16, F16 => u32; |a, b| u32::from(a.0) | u32::from(b.0) << 16);

    V_PK_ADD_U16 => pk_clamp(u16; |a, b| a + b);
    V_PK_SUB_U16 => pk_clamp(u16; |a, b| a - b);
    V_PK_ADD_I16 => pk_clamp(i16; |a, b| a + b);
    V_PK_SUB_I16 => pk_clamp(i16; |a, b| a - b);
    V_PK_MUL_LO_U16 => pk_clamp(u16; |a, b| a * b);
    V_PK_MAD_U16 => pk_clamp(u16; |a, b, c| a * b + c);
    V_PK_MAD_I16 => pk_clamp(i16; |a, b, c| a * b + c);
    V_PK_MIN_U16 => pk_clamp(u16; |a, b| a.min(b));
    V_PK_MAX_U16 => pk_clamp(u16; |a, b| a.max(b));
    V_PK_MIN_I16 => pk_clamp(i16; |a, b| a.min(b));
    V_PK_MAX_I16 => pk_clamp(i16; |a, b| a.max(b));
    V_PK_MIN3_U16 => pk_clamp(u16; |a, b, c| a.min(b).min(c));
    V_PK_MAX3_U16 => pk_clamp(u16; |a, b, c| a.max(b).max(c));
    V_PK_MIN3_I16 => pk_clamp(i16; |a, b, c| a.min(b).min(c));
    V_PK_MAX3_I16 => pk_clamp(i16; |a, b, c| a.max(b).max(c));
    V_PK_ADD_MIN_U16 => pk_clamp(u16; |a, b, c| (a + b).min(0xffff).min(c));
    V_PK_ADD_MAX_U16 => pk_clamp(u16; |a, b, c| (a + b).min(0xffff).max(c));
    V_PK_ADD_MIN_I16 => pk_clamp(i16; |a, b, c| (a + b).clamp(-0x8000, 0x7fff).min(c));
    V_PK_ADD_MAX_I16 => pk_clamp(i16; |a, b, c| (a + b).clamp(-0x8000, 0x7fff).max(c));
    V_PK_LSHLREV_B16 => pk_clamp(u16; |a, b| b << (a & 15) & 0xffff);
    V_PK_LSHRREV_B16 => pk_clamp(u16; |a, b| b >> (a & 15));
    V_PK_ASHRREV_I16 => pk_clamp(i16; |a, b| b >> (a & 15));

    V_PK_ADD_F16 => pk_f16x2(|a, b| a + b);
    V_PK_MUL_F16 => pk_f16x2(|a, b| a * b);
    V_PK_FMA_F16 => pk_f16x3(|a, b, c| a.mul_add(b, c));
    V_PK_FMAC_F16 => pk_f16x3(|a, b, c| a.mul_add(b, c));
    V_PK_MIN_F16 => pk_mode(F16; |m, a, b| min(m, a, b));
    V_PK_MAX_F16 => pk_mode(F16; |m, a, b| max(m, a, b));
    V_PK_MIN_NUM_F16 => pk_mode(F16; |_, a, b| min_num(a, b));
    V_PK_MAX_NUM_F16 => pk_mode(F16; |_, a, b| max_num(a, b));
    V_PK_MINIMUM_F16 => pk_mode(F16; |_, a, b| minimum(a, b));
    V_PK_MAXIMUM_F16 => pk_mode(F16; |_, a, b| maximum(a, b));
    V_PK_MIN3_NUM_F16 => map(Pk<F16>, Pk<F16>, Pk<F16> => Pk<F16>; |a, b, c| {
        Pk(min_num(min_num(a.0, b.0), c.0), min_num(min_num(a.1, b.1), c.1))
    });
    V_PK_MAX3_NUM_F16 => map(Pk<F16>, Pk<F16>, Pk<F16> => Pk<F16>; |a, b, c| {
        Pk(max_num(max_num(a.0, b.0), c.0), max_num(max_num(a.1, b.1), c.1))
    });
    V_PK_MINIMUM3_F16 => map(Pk<F16>, Pk<F16>, Pk<F16> => Pk<F16>; |a, b, c| {
        Pk(minimum(minimum(a.0, b.0), c.0), minimum(minimum(a.1, b.1), c.1))
    });
    V_PK_MAXIMUM3_F16 => map(Pk<F16>, Pk<F16>, Pk<F16> => Pk<F16>; |a, b, c| {
        Pk(maximum(maximum(a.0, b.0), c.0), maximum(maximum(a.1, b.1), c.1))
    });
}
