//! Scalar arithmetic, logic and comparisons.

use super::sem;

sem! { LINES:
    S_MOV_B32 => val(|a: u32| a);
    S_MOV_B64 => val(|a: u64| a);
    S_MOVK_I32 => val(|k: u32| sext16(k));
    S_CMOV_B32 => val(|a: u32, d: u32, scc: bool| if scc { a } else { d });
    S_CMOV_B64 => val(|a: u64, d: u64, scc: bool| if scc { a } else { d });
    S_CMOVK_I32 => val(|k: u32, d: i32, scc: bool| if scc { sext16(k) } else { d });
    S_CSELECT_B32 => val(|a: u32, b: u32, scc: bool| if scc { a } else { b });
    S_CSELECT_B64 => val(|a: u64, b: u64, scc: bool| if scc { a } else { b });

    S_NOT_B32 => nz(|a: u32| !a);
    S_NOT_B64 => nz(|a: u64| !a);
    S_AND_B32 => nz(|a: u32, b: u32| a & b);
    S_AND_B64 => nz(|a: u64, b: u64| a & b);
    S_OR_B32 => nz(|a: u32, b: u32| a | b);
    S_OR_B64 => nz(|a: u64, b: u64| a | b);
    S_XOR_B32 => nz(|a: u32, b: u32| a ^ b);
    S_XOR_B64 => nz(|a: u64, b: u64| a ^ b);
    S_NAND_B32 => nz(|a: u32, b: u32| !(a & b));
    S_NAND_B64 => nz(|a: u64, b: u64| !(a & b));
    S_NOR_B32 => nz(|a: u32, b: u32| !(a | b));
    S_NOR_B64 => nz(|a: u64, b: u64| !(a | b));
    S_XNOR_B32 => nz(|a: u32, b: u32| !(a ^ b));
    S_XNOR_B64 => nz(|a: u64, b: u64| !(a ^ b));
    S_ANDN2_B32 => nz(|a: u32, b: u32| a & !b);
    S_ANDN2_B64 => nz(|a: u64, b: u64| a & !b);
    S_ORN2_B32 => nz(|a: u32, b: u32| a | !b);
    S_ORN2_B64 => nz(|a: u64, b: u64| a | !b);
    S_AND_NOT1_B32 => nz(|a: u32, b: u32| a & !b);
    S_AND_NOT1_B64 => nz(|a: u64, b: u64| a & !b);
    S_OR_NOT1_B32 => nz(|a: u32, b: u32| a | !b);
    S_OR_NOT1_B64 => nz(|a: u64, b: u64| a | !b);

    S_LSHL_B32 => nz(|a: u32, b: u32| a << (b & 31));
    S_LSHL_B64 => nz(|a: u64, b: u32| a << (b & 63));
    S_LSHR_B32 => nz(|a: u32, b: u32| a >> (b & 31));
    S_LSHR_B64 => nz(|a: u64, b: u32| a >> (b & 63));
    S_ASHR_I32 => nz(|a: i32, b: u32| a >> (b & 31));
    S_ASHR_I64 => nz(|a: i64, b: u32| a >> (b & 63));
    S_BFE_U32 => nz(|a: u32, b: u32| field(u64::from(a), b & 31, width(b), 32) as u32);
    S_BFE_I32 => nz(|a: i32, b: u32| signed_field(i64::from(a), b & 31, width(b), 32) as u32);
    S_BFE_U64 => nz(|a: u64, b: u32| field(a, b & 63, width(b), 64));
    S_BFE_I64 => nz(|a: i64, b: u32| signed_field(a, b & 63, width(b), 64));
    S_BFM_B32 => val(|a: u32, b: u32| ((1u32 << (a & 31)) - 1) << (b & 31));
    S_BFM_B64 => val(|a: u32, b: u32| ((1u64 << (a & 63)) - 1) << (b & 63));
    S_BREV_B32 => val(|a: u32| a.reverse_bits());
    S_BREV_B64 => val(|a: u64| a.reverse_bits());
    S_BCNT0_I32_B32 => nz(|a: u32| a.count_zeros());
    S_BCNT0_I32_B64 => nz(|a: u64| a.count_zeros());
    S_BCNT1_I32_B32 => nz(|a: u32| a.count_ones());
    S_BCNT1_I32_B64 => nz(|a: u64| a.count_ones());
    S_FF0_I32_B32 => val(|a: u32| found(!a != 0, a.trailing_ones()));
    S_FF0_I32_B64 => val(|a: u64| found(!a != 0, a.trailing_ones()));
    S_FF1_I32_B32 => val(|a: u32| found(a != 0, a.trailing_zeros()));
    S_FF1_I32_B64 => val(|a: u64| found(a != 0, a.trailing_zeros()));
    S_CTZ_I32_B32 => val(|a: u32| found(a != 0, a.trailing_zeros()));
    S_CTZ_I32_B64 => val(|a: u64| found(a != 0, a.trailing_zeros()));
    S_FLBIT_I32_B32 => val(|a: u32| found(a != 0, a.leading_zeros()));
    S_FLBIT_I32_B64 => val(|a: u64| found(a != 0, a.leading_zeros()));
    S_CLZ_I32_U32 => val(|a: u32| found(a != 0, a.leading_zeros()));
    S_CLZ_I32_U64 => val(|a: u64| found(a != 0, a.leading_zeros()));
    S_FLBIT_I32 => val(|a: i32| sign_run(i64::from(a), 32));
    S_FLBIT_I32_I64 => val(|a: i64| sign_run(a, 64));
    S_CLS_I32 => val(|a: i32| sign_run(i64::from(a), 32));
    S_CLS_I32_I64 => val(|a: i64| sign_run(a, 64));
    S_BITSET0_B32 => val(|a: u32, d: u32| d & !(1 << (a & 31)));
    S_BITSET0_B64 => val(|a: u32, d: u64| d & !(1 << (a & 63)));
    S_BITSET1_B32 => val(|a: u32, d: u32| d | 1 << (a & 31));
    S_BITSET1_B64 => val(|a: u32, d: u64| d | 1 << (a & 63));
    S_BITREPLICATE_B64_B32 => val(|a: u32| (0..32).fold(0u64, |sum, bit| sum | (u64::from(a >> bit & 1) * 3) << (2 * bit)));
    S_QUADMASK_B32 => nz(|a: u32| quads(u64::from(a)));
    S_QUADMASK_B64 => nz(|a: u64| quads(a));
    S_WQM_B32 => nz(|a: u32| whole_quads(u64::from(a)));
    S_WQM_B64 => nz(|a: u64| whole_quads(a));
    S_SEXT_I32_I8 => val(|a: u32| i32::from(a as u8 as i8));
    S_SEXT_I32_I16 => val(|a: u32| sext16(a));
    S_PACK_LL_B32_B16 => val(|a: u32, b: u32| a & 0xffff | b << 16);
    S_PACK_LH_B32_B16 => val(|a: u32, b: u32| a & 0xffff | b & 0xffff_0000);
    S_PACK_HH_B32_B16 => val(|a: u32, b: u32| a >> 16 | b & 0xffff_0000);
    S_PACK_HL_B32_B16 => val(|a: u32, b: u32| a >> 16 | b << 16);

    S_ADD_U32 => pair(|a: u32, b: u32| a.overflowing_add(b));
    S_ADD_CO_U32 => pair(|a: u32, b: u32| a.overflowing_add(b));
    S_SUB_U32 => pair(|a: u32, b: u32| a.overflowing_sub(b));
    S_SUB_CO_U32 => pair(|a: u32, b: u32| a.overflowing_sub(b));
    S_ADD_I32 => pair(|a: i32, b: i32| a.overflowing_add(b));
    S_ADD_CO_I32 => pair(|a: i32, b: i32| a.overflowing_add(b));
    S_SUB_I32 => pair(|a: i32, b: i32| a.overflowing_sub(b));
    S_SUB_CO_I32 => pair(|a: i32, b: i32| a.overflowing_sub(b));
    S_ADDC_U32 => pair(|a: u32, b: u32, scc: bool| a.carrying_add(b, scc));
    S_ADD_CO_CI_U32 => pair(|a: u32, b: u32, scc: bool| a.carrying_add(b, scc));
    S_SUBB_U32 => pair(|a: u32, b: u32, scc: bool| a.borrowing_sub(b, scc));
    S_SUB_CO_CI_U32 => pair(|a: u32, b: u32, scc: bool| a.borrowing_sub(b, scc));
    S_ADDK_I32 => pair(|k: u32, d: i32| d.overflowing_add(sext16(k)));
    S_ADDK_CO_I32 => pair(|k: u32, d: i32| d.overflowing_add(sext16(k)));
    S_ADD_NC_U64 => val(|a: u64, b: u64| a.wrapping_add(b));
    S_SUB_NC_U64 => val(|a: u64, b: u64| a.wrapping_sub(b));
    S_LSHL1_ADD_U32 => pair(|a: u32, b: u32| shift_add(a, 1, b));
    S_LSHL2_ADD_U32 => pair(|a: u32, b: u32| shift_add(a, 2, b));
    S_LSHL3_ADD_U32 => pair(|a: u32, b: u32| shift_add(a, 3, b));
    S_LSHL4_ADD_U32 => pair(|a: u32, b: u32| shift_add(a, 4, b));
    S_MUL_I32 => val(|a: u32, b: u32| a.wrapping_mul(b));
    S_MULK_I32 => val(|k: u32, d: i32| d.wrapping_mul(sext16(k)));
    S_MUL_HI_U32 => val(|a: u32, b: u32| ((u64::from(a) * u64::from(b)) >> 32) as u32);
    S_MUL_HI_I32 => val(|a: i32, b: i32| ((i64::from(a) * i64::from(b)) >> 32) as u32);
    S_MUL_U64 => val(|a: u64, b: u64| a.wrapping_mul(b));
    S_ABS_I32 => nz(|a: i32| a.wrapping_abs());
    S_ABSDIFF_I32 => nz(|a: i32, b: i32| a.wrapping_sub(b).wrapping_abs());
    S_MIN_I32 => pair(|a: i32, b: i32| (a.min(b), a < b));
    S_MIN_U32 => pair(|a: u32, b: u32| (a.min(b), a < b));
    S_MAX_I32 => pair(|a: i32, b: i32| (a.max(b), a >= b));
    S_MAX_U32 => pair(|a: u32, b: u32| (a.max(b), a >= b));

    S_CMP_EQ_I32 => scc(|a: i32, b: i32| a == b);
    S_CMP_LG_I32 => scc(|a: i32, b: i32| a != b);
    S_CMP_GT_I32 => scc(|a: i32, b: i32| a > b);
    S_CMP_GE_I32 => scc(|a: i32, b: i32| a >= b);
    S_CMP_LT_I32 => scc(|a: i32, b: i32| a < b);
    S_CMP_LE_I32 => scc(|a: i32, b: i32| a <= b);
    S_CMP_EQ_U32 => scc(|a: u32, b: u32| a == b);
    S_CMP_LG_U32 => scc(|a: u32, b: u32| a != b);
    S_CMP_GT_U32 => scc(|a: u32, b: u32| a > b);
    S_CMP_GE_U32 => scc(|a: u32, b: u32| a >= b);
    S_CMP_LT_U32 => scc(|a: u32, b: u32| a < b);
    S_CMP_LE_U32 => scc(|a: u32, b: u32| a <= b);
    S_CMP_EQ_U64 => scc(|a: u64, b: u64| a == b);
    S_CMP_LG_U64 => scc(|a: u64, b: u64| a != b);
    S_CMPK_EQ_I32 => scc(|a: i32, k: u32| a == sext16(k));
    S_CMPK_LG_I32 => scc(|a: i32, k: u32| a != sext16(k));
    S_CMPK_GT_I32 => scc(|a: i32, k: u32| a > sext16(k));
    S_CMPK_GE_I32 => scc(|a: i32, k: u32| a >= sext16(k));
    S_CMPK_LT_I32 => scc(|a: i32, k: u32| a < sext16(k));
    S_CMPK_LE_I32 => scc(|a: i32, k: u32| a <= sext16(k));
    S_CMPK_EQ_U32 => scc(|a: u32, k: u32| a == k & 0xffff);
    S_CMPK_LG_U32 => scc(|a: u32, k: u32| a != k & 0xffff);
    S_CMPK_GT_U32 => scc(|a: u32, k: u32| a > k & 0xffff);
    S_CMPK_GE_U32 => scc(|a: u32, k: u32| a >= k & 0xffff);
    S_CMPK_LT_U32 => scc(|a: u32, k: u32| a < k & 0xffff);
    S_CMPK_LE_U32 => scc(|a: u32, k: u32| a <= k & 0xffff);
    S_BITCMP0_B32 => scc(|a: u32, b: u32| a >> (b & 31) & 1 == 0);
    S_BITCMP1_B32 => scc(|a: u32, b: u32| a >> (b & 31) & 1 == 1);
    S_BITCMP0_B64 => scc(|a: u64, b: u32| a >> (b & 63) & 1 == 0);
    S_BITCMP1_B64 => scc(|a: u64, b: u32| a >> (b & 63) & 1 == 1);

    S_AND_SAVEEXEC_B32 => save(|a: u32, exec: u32| a & exec);
    S_AND_SAVEEXEC_B64 => save(|a: u64, exec: u64| a & exec);
    S_OR_SAVEEXEC_B32 => save(|a: u32, exec: u32| a | exec);
    S_OR_SAVEEXEC_B64 => save(|a: u64, exec: u64| a | exec);
    S_XOR_SAVEEXEC_B32 => save(|a: u32, exec: u32| a ^ exec);
    S_XOR_SAVEEXEC_B64 => save(|a: u64, exec: u64| a ^ exec);
    S_NAND_SAVEEXEC_B32 => save(|a: u32, exec: u32| !(a & exec));
    S_NAND_SAVEEXEC_B64 => save(|a: u64, exec: u64| !(a & exec));
    S_NOR_SAVEEXEC_B32 => save(|a: u32, exec: u32| !(a | exec));
    S_NOR_SAVEEXEC_B64 => save(|a: u64, exec: u64| !(a | exec));
    S_XNOR_SAVEEXEC_B32 => save(|a: u32, exec: u32| !(a ^ exec));
    S_XNOR_SAVEEXEC_B64 => save(|a: u64, exec: u64| !(a ^ exec));
    S_ANDN1_SAVEEXEC_B32 => save(|a: u32, exec: u32| !a & exec);
    S_ANDN1_SAVEEXEC_B64 => save(|a: u64, exec: u64| !a & exec);
    S_ANDN2_SAVEEXEC_B32 => save(|a: u32, exec: u32| a & !exec);
    S_ANDN2_SAVEEXEC_B64 => save(|a: u64, exec: u64| a & !exec);
    S_ORN1_SAVEEXEC_B32 => save(|a: u32, exec: u32| !a | exec);
    S_ORN1_SAVEEXEC_B64 => save(|a: u64, exec: u64| !a | exec);
    S_ORN2_SAVEEXEC_B32 => save(|a: u32, exec: u32| a | !exec);
    S_ORN2_SAVEEXEC_B64 => save(|a: u64, exec: u64| a | !exec);
    S_AND_NOT0_SAVEEXEC_B32 => save(|a: u32, exec: u32| !a & exec);
    S_AND_NOT0_SAVEEXEC_B64 => save(|a: u64, exec: u64| !a & exec);
    S_AND_NOT1_SAVEEXEC_B32 => save(|a: u32, exec: u32| a & !exec);
    S_AND_NOT1_SAVEEXEC_B64 => save(|a: u64, exec: u64| a & !exec);
    S_OR_NOT0_SAVEEXEC_B32 => save(|a: u32, exec: u32| !a | exec);
    S_OR_NOT0_SAVEEXEC_B64 => save(|a: u64, exec: u64| !a | exec);
    S_OR_NOT1_SAVEEXEC_B32 => save(|a: u32, exec: u32| a | !exec);
    S_OR_NOT1_SAVEEXEC_B64 => save(|a: u64, exec: u64| a | !exec);
    S_ANDN1_WREXEC_B32 => wrexec(|a: u32, exec: u32| !a & exec);
    S_ANDN1_WREXEC_B64 => wrexec(|a: u64, exec: u64| !a & exec);
    S_ANDN2_WREXEC_B32 => wrexec(|a: u32, exec: u32| a & !exec);
    S_ANDN2_WREXEC_B64 => wrexec(|a: u64, exec: u64| a & !exec);
    S_AND_NOT0_WREXEC_B32 => wrexec(|a: u32, exec: u32| !a & exec);
    S_AND_NOT0_WREXEC_B64 => wrexec(|a: u64, exec: u64| !a & exec);
    S_AND_NOT1_WREXEC_B32 => wrexec(|a: u32, exec: u32| a & !exec);
    S_AND_NOT1_WREXEC_B64 => wrexec(|a: u64, exec: u64| a & !exec);
}

fn sext16(bits: u32) -> i32 {
    i32::from(bits as u16 as i16)
}

/// Width of a bit field: bits 22:16 of the second source.
fn width(bits: u32) -> u32 {
    bits >> 16 & 0x7f
}

/// A field of an integer of `bits` bits; what lies above it is 0.
fn field(a: u64, offset: u32, width: u32, bits: u32) -> u64 {
    match width.min(bits) {
        0 => 0,
        width => a >> offset & u64::MAX >> (64 - width),
    }
}

/// A field of an integer of `bits` bits, extended by its highest bit.
fn signed_field(a: i64, offset: u32, width: u32, bits: u32) -> i64 {
    match width.min(bits) {
        0 => 0,
        width => a >> offset << (64 - width) >> (64 - width),
    }
}

fn found(is: bool, position: u32) -> i32 {
    if is { position as i32 } else { -1 }
}

/// Bits at the top that equal the sign of an integer of `bits` bits; -1 where all do.
fn sign_run(a: i64, bits: u32) -> i32 {
    let differs = a ^ a >> 63;
    found(differs != 0, differs.leading_zeros().wrapping_sub(64 - bits))
}

/// One bit for each four that are not all 0.
fn quads(a: u64) -> u64 {
    (0..16).fold(0, |sum, quad| sum | u64::from(a >> (4 * quad) & 15 != 0) << quad)
}

fn whole_quads(a: u64) -> u64 {
    (0..16).fold(0, |sum, quad| sum | if a >> (4 * quad) & 15 != 0 { 15 << (4 * quad) } else { 0 })
}

fn shift_add(a: u32, shift: u32, b: u32) -> (u32, bool) {
    let sum = (u64::from(a) << shift) + u64::from(b);
    (sum as u32, sum >> 32 != 0)
}
