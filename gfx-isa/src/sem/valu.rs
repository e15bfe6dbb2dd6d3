//! Vector instructions on 32-bit and 64-bit values.

use super::sem;
use crate::exec::float::{Soft32, max, max_num, maximum, med3, min, min_num, minimum};
use crate::exec::lanes::{B32, B64, Pk};

sem! { LINES:
    V_MOV_B32 => wide(B32 => B32; |a| a);
    V_ACCVGPR_READ => wide(u32 => u32; |a| a);
    V_ACCVGPR_WRITE => wide(u32 => u32; |a| a);
    V_ACCVGPR_MOV_B32 => wide(u32 => u32; |a| a);
    V_MOV_B64 => map(B64 => B64; |a| a);
    V_CNDMASK_B32 => select(B32; |a, b, bit| if bit { b } else { a });

    V_NOT_B32 => u32x1(|a| !a);
    V_BFREV_B32 => u32x1(|a: u32| a.reverse_bits());
    V_FFBH_U32 => u32x1(first_high);
    V_CLZ_I32_U32 => u32x1(first_high);
    V_FFBL_B32 => u32x1(first_low);
    V_CTZ_I32_B32 => u32x1(first_low);
    V_FFBH_I32 => u32x1(sign_run);
    V_CLS_I32 => u32x1(sign_run);
    V_BCNT_U32_B32 => u32x2(|a: u32, b: u32| b.wrapping_add(a.count_ones()));

    V_AND_B32 => u32x2(|a, b| a & b);
    V_OR_B32 => u32x2(|a, b| a | b);
    V_XOR_B32 => u32x2(|a, b| a ^ b);
    V_XNOR_B32 => u32x2(|a: u32, b: u32| !(a ^ b));
    V_AND_OR_B32 => u32x3(|a, b, c| a & b | c);
    V_OR3_B32 => u32x3(|a, b, c| a | b | c);
    V_XOR3_B32 => u32x3(|a, b, c| a ^ b ^ c);
    V_BITOP3_B32 => table(u32; truth_table);

    V_LSHLREV_B32 => u32x2(|a, b| b << (a & 31));
    V_LSHRREV_B32 => u32x2(|a, b| b >> (a & 31));
    V_ASHRREV_I32 => i32x2(|a, b| b >> (a & 31));
    V_LSHLREV_B64 => map(u32, u64 => u64; |a, b| b << (a & 63));
    V_LSHRREV_B64 => map(u32, u64 => u64; |a, b| b >> (a & 63));
    V_ASHRREV_I64 => map(u32, i64 => i64; |a, b| b >> (a & 63));

    V_BFE_U32 => u32x3(|a, b, c| a >> (b & 31) & low_bits(c & 31));
    V_BFE_I32 => u32x3(bfe_signed);
    V_BFI_B32 => u32x3(|a, b, c| a & b | !a & c);
    V_BFM_B32 => u32x2(|a, b| low_bits(a & 31) << (b & 31));
    V_ALIGNBIT_B32 => map(u32, u32, u16 => u32; |a, b, c| align(a, b, u32::from(c) & 31));
    V_ALIGNBYTE_B32 => map(u32, u32, u16 => u32; |a, b, c| align(a, b, u32::from(c & 3) * 8));
    V_PERM_B32 => u32x3(permute_bytes);

    V_ADD_U32 => clamp(u32, u32 => u32; |a, b| a + b);
    V_SUB_U32 => clamp(u32, u32 => u32; |a, b| a - b);
    V_SUBREV_U32 => clamp(u32, u32 => u32; |a, b| b - a);
    V_ADD_NC_U32 => clamp(u32, u32 => u32; |a, b| a + b);
    V_SUB_NC_U32 => clamp(u32, u32 => u32; |a, b| a - b);
    V_SUBREV_NC_U32 => clamp(u32, u32 => u32; |a, b| b - a);
    V_ADD_I32 => clamp(i32, i32 => i32; |a, b| a + b);
    V_SUB_I32 => clamp(i32, i32 => i32; |a, b| a - b);
    V_ADD_NC_I32 => clamp(i32, i32 => i32; |a, b| a + b);
    V_SUB_NC_I32 => clamp(i32, i32 => i32; |a, b| a - b);
    V_ADD3_U32 => u32x3(|a: u32, b: u32, c: u32| a.wrapping_add(b).wrapping_add(c));
    V_LSHL_ADD_U32 => u32x3(|a: u32, b: u32, c: u32| (a << (b & 31)).wrapping_add(c));
    V_ADD_LSHL_U32 => u32x3(|a: u32, b: u32, c: u32| a.wrapping_add(b) << (c & 31));
    V_LSHL_OR_B32 => u32x3(|a, b, c| a << (b & 31) | c);
    V_XAD_U32 => u32x3(|a: u32, b: u32, c: u32| (a ^ b).wrapping_add(c));
    V_LSHL_ADD_U64 => map(u64, u32, u64 => u64; |a, b, c| (a << (b & 7)).wrapping_add(c));
    V_ADD_NC_U64 => u64x2(|a: u64, b: u64| a.wrapping_add(b));
    V_SUB_NC_U64 => u64x2(|a: u64, b: u64| a.wrapping_sub(b));
    V_MUL_U64 => u64x2(|a: u64, b: u64| a.wrapping_mul(b));

    V_ADD_CO_U32 => carry(|a, b, _| a + b);
    V_SUB_CO_U32 => carry(|a, b, _| a - b);
    V_SUBREV_CO_U32 => carry(|a, b, _| b - a);
    V_ADDC_CO_U32 => carry(|a, b, carry| a + b + carry);
    V_SUBB_CO_U32 => carry(|a, b, carry| a - b - carry);
    V_SUBBREV_CO_U32 => carry(|a, b, carry| b - a - carry);
    V_ADD_CO_CI_U32 => carry(|a, b, carry| a + b + carry);
    V_SUB_CO_CI_U32 => carry(|a, b, carry| a - b - carry);
    V_SUBREV_CO_CI_U32 => carry(|a, b, carry| b - a - carry);

    V_MUL_LO_U32 => u32x2(|a: u32, b: u32| a.wrapping_mul(b));
    V_MUL_LO_I32 => u32x2(|a: u32, b: u32| a.wrapping_mul(b));
    V_MUL_HI_U32 => u32x2(|a, b| ((u64::from(a) * u64::from(b)) >> 32) as u32);
    V_MUL_HI_I32 => i32x2(|a, b| ((i64::from(a) * i64::from(b)) >> 32) as i32);
    V_MUL_U32_U24 => u32x2(|a, b| low24(a).wrapping_mul(low24(b)));
    V_MUL_I32_I24 => i32x2(|a, b| signed24(a).wrapping_mul(signed24(b)));
    V_MUL_HI_U32_U24 => u32x2(|a, b| ((u64::from(low24(a)) * u64::from(low24(b))) >> 32) as u32);
    V_MUL_HI_I32_I24 => i32x2(|a, b| ((i64::from(signed24(a)) * i64::from(signed24(b))) >> 32) as i32);
    V_MAD_U32_U24 => clamp(u32, u32, u32 => u32; |a, b, c| (a & 0xff_ffff) * (b & 0xff_ffff) + c);
    V_MAD_I32_I24 => clamp(i32, i32, i32 => i32; |a, b, c| (a << 40 >> 40) * (b << 40 >> 40) + c);
    V_MAD_U32 => u32x3(|a: u32, b: u32, c: u32| a.wrapping_mul(b).wrapping_add(c));
    V_MAD_U64_U32 => wide_carry(u32, u64; |a, b, c| u128::from(a) * u128::from(b) + u128::from(c));
    V_MAD_I64_I32 => wide_carry(i32, i64; |a, b, c| (i128::from(a) * i128::from(b) + i128::from(c)) as u128);
    V_MAD_CO_U64_U32 => wide_carry(u32, u64; |a, b, c| u128::from(a) * u128::from(b) + u128::from(c));
    V_MAD_CO_I64_I32 => wide_carry(i32, i64; |a, b, c| (i128::from(a) * i128::from(b) + i128::from(c)) as u128);
    V_MAD_NC_U64_U32 => map(u32, u32, u64 => u64; |a, b, c| (u64::from(a) * u64::from(b)).wrapping_add(c));
    V_MAD_NC_I64_I32 => map(i32, i32, i64 => i64; |a, b, c| (i64::from(a) * i64::from(b)).wrapping_add(c));

    V_MIN_U32 => u32x2(|a: u32, b: u32| a.min(b));
    V_MAX_U32 => u32x2(|a: u32, b: u32| a.max(b));
    V_MIN_I32 => i32x2(|a: i32, b: i32| a.min(b));
    V_MAX_I32 => i32x2(|a: i32, b: i32| a.max(b));
    V_MIN_U64 => u64x2(|a: u64, b: u64| a.min(b));
    V_MAX_U64 => u64x2(|a: u64, b: u64| a.max(b));
    V_MIN_I64 => i64x2(|a: i64, b: i64| a.min(b));
    V_MAX_I64 => i64x2(|a: i64, b: i64| a.max(b));
    V_MIN3_U32 => u32x3(|a: u32, b: u32, c: u32| a.min(b).min(c));
    V_MAX3_U32 => u32x3(|a: u32, b: u32, c: u32| a.max(b).max(c));
    V_MED3_U32 => u32x3(|a: u32, b: u32, c: u32| a.max(b).min(a.min(b).max(c)));
    V_MIN3_I32 => i32x3(|a: i32, b: i32, c: i32| a.min(b).min(c));
    V_MAX3_I32 => i32x3(|a: i32, b: i32, c: i32| a.max(b).max(c));
    V_MED3_I32 => i32x3(|a: i32, b: i32, c: i32| a.max(b).min(a.min(b).max(c)));
    V_MINMAX_U32 => u32x3(|a: u32, b: u32, c: u32| a.min(b).max(c));
    V_MAXMIN_U32 => u32x3(|a: u32, b: u32, c: u32| a.max(b).min(c));
    V_MINMAX_I32 => i32x3(|a: i32, b: i32, c: i32| a.min(b).max(c));
    V_MAXMIN_I32 => i32x3(|a: i32, b: i32, c: i32| a.max(b).min(c));
    V_ADD_MIN_U32 => u32x3(|a: u32, b: u32, c: u32| a.saturating_add(b).min(c));
    V_ADD_MAX_U32 => u32x3(|a: u32, b: u32, c: u32| a.saturating_add(b).max(c));
    V_ADD_MIN_I32 => i32x3(|a: i32, b: i32, c: i32| a.saturating_add(b).min(c));
    V_ADD_MAX_I32 => i32x3(|a: i32, b: i32, c: i32| a.saturating_add(b).max(c));

    V_SAD_U8 => u32x3(|a, b, c| sad_bytes(a, b, c, |_| true));
    V_SAD_HI_U8 => u32x3(|a, b, c: u32| c.wrapping_add(sad_bytes(a, b, 0, |_| true) << 16));
    V_MSAD_U8 => u32x3(|a, b, c| sad_bytes(a, b, c, |byte| byte != 0));
    V_SAD_U16 => u32x3(|a: u32, b: u32, c: u32| {
        c.wrapping_add((a & 0xffff).abs_diff(b & 0xffff)).wrapping_add((a >> 16).abs_diff(b >> 16))
    });
    V_SAD_U32 => u32x3(|a: u32, b: u32, c: u32| c.wrapping_add(a.abs_diff(b)));
    V_LERP_U8 => u32x3(lerp_bytes);

    V_ADD_F32 => f32x2(|a, b| a + b);
    V_SUB_F32 => f32x2(|a, b| a - b);
    V_SUBREV_F32 => f32x2(|a, b| b - a);
    V_MUL_F32 => f32x2(|a, b| a * b);
    V_MUL_LEGACY_F32 => f32x2(mul_legacy);
    V_MUL_DX9_ZERO_F32 => f32x2(mul_legacy);
    V_FMA_F32 => f32x3(|a, b, c| a.mul_add(b, c));
    V_FMAC_F32 => f32x3(|a, b, c| a.mul_add(b, c));
    V_FMAMK_F32 => f32x3(|a, k, b| a.mul_add(k, b));
    V_FMAAK_F32 => f32x3(|a, b, k| a.mul_add(b, k));
    V_FMA_LEGACY_F32 => f32x3(fma_legacy);
    V_FMAC_LEGACY_F32 => f32x3(fma_legacy);
    V_FMA_DX9_ZERO_F32 => f32x3(fma_legacy);
    V_FMAC_DX9_ZERO_F32 => f32x3(fma_legacy);
    V_MAD_F32 => mad32(|a, b, c| a * b + c);
    V_MAC_F32 => mad32(|a, b, c| a * b + c);
    V_MADMK_F32 => mad32(|a, k, b| a * k + b);
    V_MADAK_F32 => mad32(|a, b, k| a * b + k);
    V_MAD_LEGACY_F32 => mad32(|a, b, c| mul_legacy(a, b) + c);
    V_MAC_LEGACY_F32 => mad32(|a, b, c| mul_legacy(a, b) + c);

    V_MIN_F32 => mode(f32, f32 => f32; min);
    V_MAX_F32 => mode(f32, f32 => f32; max);
    V_MIN3_F32 => mode(f32, f32, f32 => f32; |m, a, b, c| min(m, min(m, a, b), c));
    V_MAX3_F32 => mode(f32, f32, f32 => f32; |m, a, b, c| max(m, max(m, a, b), c));
    V_MED3_F32 => mode(f32, f32, f32 => f32; |m, a, b, c| med3(a, b, c, |x, y| min(m, x, y), |x, y| max(m, x, y)));
    V_MINMAX_F32 => mode(f32, f32, f32 => f32; |m, a, b, c| max(m, min(m, a, b), c));
    V_MAXMIN_F32 => mode(f32, f32, f32 => f32; |m, a, b, c| min(m, max(m, a, b), c));
    V_MIN_NUM_F32 => map(f32, f32 => f32; min_num);
    V_MAX_NUM_F32 => map(f32, f32 => f32; max_num);
    V_MIN3_NUM_F32 => map(f32, f32, f32 => f32; |a, b, c| min_num(min_num(a, b), c));
    V_MAX3_NUM_F32 => map(f32, f32, f32 => f32; |a, b, c| max_num(max_num(a, b), c));
    V_MED3_NUM_F32 => map(f32, f32, f32 => f32; |a, b, c| med3(a, b, c, min_num, max_num));
    V_MINMAX_NUM_F32 => map(f32, f32, f32 => f32; |a, b, c| max_num(min_num(a, b), c));
    V_MAXMIN_NUM_F32 => map(f32, f32, f32 => f32; |a, b, c| min_num(max_num(a, b), c));
    V_MINIMUM_F32 => map(f32, f32 => f32; minimum);
    V_MAXIMUM_F32 => map(f32, f32 => f32; maximum);
    V_MINIMUM3_F32 => map(f32, f32, f32 => f32; |a, b, c| minimum(minimum(a, b), c));
    V_MAXIMUM3_F32 => map(f32, f32, f32 => f32; |a, b, c| maximum(maximum(a, b), c));
    V_MINIMUMMAXIMUM_F32 => map(f32, f32, f32 => f32; |a, b, c| maximum(minimum(a, b), c));
    V_MAXIMUMMINIMUM_F32 => map(f32, f32, f32 => f32; |a, b, c| minimum(maximum(a, b), c));

    V_ADD_F64 => f64x2(|a, b| a + b);
    V_MUL_F64 => f64x2(|a, b| a * b);
    V_FMA_F64 => f64x3(|a, b, c| a.mul_add(b, c));
    V_FMAC_F64 => f64x3(|a, b, c| a.mul_add(b, c));
    V_FMAMK_F64 => f64x3(|a, k, b| a.mul_add(k, b));
    V_FMAAK_F64 => f64x3(|a, b, k| a.mul_add(b, k));
    V_MIN_F64 => mode(f64, f64 => f64; min);
    V_MAX_F64 => mode(f64, f64 => f64; max);
    V_MIN_NUM_F64 => map(f64, f64 => f64; min_num);
    V_MAX_NUM_F64 => map(f64, f64 => f64; max_num);
    V_MINIMUM_F64 => map(f64, f64 => f64; minimum);
    V_MAXIMUM_F64 => map(f64, f64 => f64; maximum);

    V_PK_ADD_F32 => pk_f32x2(|a, b| a + b);
    V_PK_MUL_F32 => pk_f32x2(|a, b| a * b);
    V_PK_FMA_F32 => pk_f32x3(|a: Soft32, b: Soft32, c: Soft32| a.mul_add(b, c));
    V_PK_MOV_B32 => map(Pk<u32>, Pk<u32> => Pk<u32>; |a, b| Pk(a.0, b.0));
}

/// Position of the highest bit set, from the top; all ones where none is.
fn first_high(a: u32) -> u32 {
    if a == 0 { u32::MAX } else { a.leading_zeros() }
}

/// Position of the lowest bit set; all ones where none is.
fn first_low(a: u32) -> u32 {
    if a == 0 { u32::MAX } else { a.trailing_zeros() }
}

/// Number of bits at the top that equal the sign; all ones where every bit does.
fn sign_run(a: u32) -> u32 {
    first_high(a ^ ((a as i32) >> 31) as u32)
}

/// The lowest `count` bits set, fewer than 32.
fn low_bits(count: u32) -> u32 {
    (1 << count) - 1
}

fn bfe_signed(a: u32, offset: u32, width: u32) -> u32 {
    let width = width & 31;
    if width == 0 {
        return 0;
    }
    let field = a >> (offset & 31) & low_bits(width);
    ((field << (32 - width)) as i32 >> (32 - width)) as u32
}

fn align(a: u32, b: u32, bits: u32) -> u32 {
    ((u64::from(a) << 32 | u64::from(b)) >> bits) as u32
}

fn low24(a: u32) -> u32 {
    a & 0xff_ffff
}

fn signed24(a: i32) -> i32 {
    a << 8 >> 8
}

/// Each bit of the result is the table's bit with the number that the sources' bits form, source 0's the highest.
pub(super) fn truth_table(a: u32, b: u32, c: u32, table: u32) -> u32 {
    let of = |value: u32, bit: u32| if bit != 0 { value } else { !value };
    (0..8).fold(0, |sum, row| match table >> row & 1 {
        0 => sum,
        _ => sum | of(a, row & 4) & of(b, row & 2) & of(c, row & 1),
    })
}

fn permute_bytes(a: u32, b: u32, selectors: u32) -> u32 {
    let data = (u64::from(a) << 32 | u64::from(b)).to_le_bytes();
    let sign = |byte: u8| if byte & 0x80 != 0 { 0xff } else { 0 };
    u32::from_le_bytes(selectors.to_le_bytes().map(|selector| match selector {
        0..=7 => data[usize::from(selector)],
        8..=11 => sign(data[usize::from(selector - 8) * 2 + 1]),
        12 => 0,
        _ => 0xff,
    }))
}

/// Adds the differences of the bytes for which `counts` holds of the byte of `b`.
pub(super) fn sad_bytes(a: u32, b: u32, sum: u32, counts: impl Fn(u32) -> bool) -> u32 {
    let mut sum = sum;
    for shift in [0, 8, 16, 24] {
        let (x, y) = (a >> shift & 0xff, b >> shift & 0xff);
        sum = sum.wrapping_add(if counts(y) { x.abs_diff(y) } else { 0 });
    }
    sum
}

fn lerp_bytes(a: u32, b: u32, round: u32) -> u32 {
    let mut out = 0;
    for shift in [0, 8, 16, 24] {
        out |= ((a >> shift & 0xff) + (b >> shift & 0xff) + (round >> shift & 1)) >> 1 << shift;
    }
    out
}

/// Arithmetic in which 0 times anything is 0.
trait Legacy: Copy + core::ops::Mul<Output = Self> {
    fn is_zero(self) -> bool;
    fn zero(self) -> Self;
    fn fuse(self, b: Self, c: Self) -> Self;
}

impl Legacy for f32 {
    #[inline(always)]
    fn is_zero(self) -> bool {
        self == 0.0
    }
    #[inline(always)]
    fn zero(self) -> f32 {
        0.0
    }
    #[inline(always)]
    fn fuse(self, b: f32, c: f32) -> f32 {
        self.mul_add(b, c)
    }
}

impl Legacy for Soft32 {
    fn is_zero(self) -> bool {
        Soft32::is_zero(self)
    }
    fn zero(self) -> Soft32 {
        Soft32::zero(self)
    }
    fn fuse(self, b: Soft32, c: Soft32) -> Soft32 {
        self.mul_add(b, c)
    }
}

#[inline(always)]
fn mul_legacy<T: Legacy>(a: T, b: T) -> T {
    if a.is_zero() || b.is_zero() { a.zero() } else { a * b }
}

#[inline(always)]
fn fma_legacy<T: Legacy>(a: T, b: T, c: T) -> T {
    if a.is_zero() || b.is_zero() { c } else { a.fuse(b, c) }
}
