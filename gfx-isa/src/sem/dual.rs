//! Halves of dual-issue words: nearly all do what an instruction does that stands alone.

use super::sem;
use super::valu::truth_table;
use crate::Op;

sem! { LINES:
    // The table's third source is 0.
    V_DUAL_BITOP2_B32 => table2(u32; |a, b, table| truth_table(a, b, 0, table));
}

/// The instruction that does the same alone; any other instruction is itself.
pub(super) const fn single(op: Op) -> Op {
    match op {
        Op::V_DUAL_ADD_F32 => Op::V_ADD_F32,
        Op::V_DUAL_ADD_F64 => Op::V_ADD_F64,
        Op::V_DUAL_ADD_NC_U32 => Op::V_ADD_NC_U32,
        Op::V_DUAL_AND_B32 => Op::V_AND_B32,
        Op::V_DUAL_ASHRREV_I32 => Op::V_ASHRREV_I32,
        Op::V_DUAL_CNDMASK_B32 => Op::V_CNDMASK_B32,
        Op::V_DUAL_DOT2ACC_F32_F16 => Op::V_DOT2ACC_F32_F16,
        Op::V_DUAL_FMAAK_F32 => Op::V_FMAAK_F32,
        Op::V_DUAL_FMAC_F32 => Op::V_FMAC_F32,
        Op::V_DUAL_FMAMK_F32 => Op::V_FMAMK_F32,
        Op::V_DUAL_FMA_F32 => Op::V_FMA_F32,
        Op::V_DUAL_FMA_F64 => Op::V_FMA_F64,
        Op::V_DUAL_LSHLREV_B32 => Op::V_LSHLREV_B32,
        Op::V_DUAL_LSHRREV_B32 => Op::V_LSHRREV_B32,
        Op::V_DUAL_MAX_F32 => Op::V_MAX_F32,
        Op::V_DUAL_MAX_I32 => Op::V_MAX_I32,
        Op::V_DUAL_MAX_NUM_F32 => Op::V_MAX_NUM_F32,
        Op::V_DUAL_MAX_NUM_F64 => Op::V_MAX_NUM_F64,
        Op::V_DUAL_MIN_F32 => Op::V_MIN_F32,
        Op::V_DUAL_MIN_I32 => Op::V_MIN_I32,
        Op::V_DUAL_MIN_NUM_F32 => Op::V_MIN_NUM_F32,
        Op::V_DUAL_MIN_NUM_F64 => Op::V_MIN_NUM_F64,
        Op::V_DUAL_MOV_B32 => Op::V_MOV_B32,
        Op::V_DUAL_MUL_DX9_ZERO_F32 => Op::V_MUL_DX9_ZERO_F32,
        Op::V_DUAL_MUL_F32 => Op::V_MUL_F32,
        Op::V_DUAL_MUL_F64 => Op::V_MUL_F64,
        Op::V_DUAL_SUBREV_F32 => Op::V_SUBREV_F32,
        Op::V_DUAL_SUB_F32 => Op::V_SUB_F32,
        Op::V_DUAL_SUB_NC_U32 => Op::V_SUB_NC_U32,
        other => other,
    }
}
