//! Names of immediates: hardware registers, messages, formats, targets, cache policies. An index is the value unless a
//! value stands beside the name; the assembler searches them, the disassembler indexes them.

use crate::Generation;

/// Names of one-bit modifiers.
pub(crate) static FLAGS: [&str; 26] = [
    "idxen",
    "offen",
    "gds",
    "glc",
    "slc",
    "dlc",
    "sc0",
    "sc1",
    "nt",
    "nv",
    "lds",
    "tfe",
    "lwe",
    "d16",
    "a16",
    "r128",
    "unorm",
    "da",
    "scale_offset",
    "done",
    "vm",
    "compr",
    "row_en",
    "high",
    "scc",
    "fi:1",
];
/// Names of modifiers that are numbers.
pub(crate) static NUMBERS: [&str; 14] = [
    "offset",
    "offset0",
    "offset1",
    "cbsz",
    "abid",
    "blgp",
    "wait_exp",
    "wait_vdst",
    "wait_va_vdst",
    "wait_vm_vsrc",
    "scale_sel",
    "byte_sel",
    "index_key",
    "bound_ctrl",
];
/// Buffer formats of RDNA 1 and 2.
pub(crate) static FORMATS_GFX10: [&str; 78] = [
    "BUF_FMT_INVALID",
    "BUF_FMT_8_UNORM",
    "BUF_FMT_8_SNORM",
    "BUF_FMT_8_USCALED",
    "BUF_FMT_8_SSCALED",
    "BUF_FMT_8_UINT",
    "BUF_FMT_8_SINT",
    "BUF_FMT_16_UNORM",
    "BUF_FMT_16_SNORM",
    "BUF_FMT_16_USCALED",
    "BUF_FMT_16_SSCALED",
    "BUF_FMT_16_UINT",
    "BUF_FMT_16_SINT",
    "BUF_FMT_16_FLOAT",
    "BUF_FMT_8_8_UNORM",
    "BUF_FMT_8_8_SNORM",
    "BUF_FMT_8_8_USCALED",
    "BUF_FMT_8_8_SSCALED",
    "BUF_FMT_8_8_UINT",
    "BUF_FMT_8_8_SINT",
    "BUF_FMT_32_UINT",
    "BUF_FMT_32_SINT",
    "BUF_FMT_32_FLOAT",
    "BUF_FMT_16_16_UNORM",
    "BUF_FMT_16_16_SNORM",
    "BUF_FMT_16_16_USCALED",
    "BUF_FMT_16_16_SSCALED",
    "BUF_FMT_16_16_UINT",
    "BUF_FMT_16_16_SINT",
    "BUF_FMT_16_16_FLOAT",
    "BUF_FMT_10_11_11_UNORM",
    "BUF_FMT_10_11_11_SNORM",
    "BUF_FMT_10_11_11_USCALED",
    "BUF_FMT_10_11_11_SSCALED",
    "BUF_FMT_10_11_11_UINT",
    "BUF_FMT_10_11_11_SINT",
    "BUF_FMT_10_11_11_FLOAT",
    "BUF_FMT_11_11_10_UNORM",
    "BUF_FMT_11_11_10_SNORM",
    "BUF_FMT_11_11_10_USCALED",
    "BUF_FMT_11_11_10_SSCALED",
    "BUF_FMT_11_11_10_UINT",
    "BUF_FMT_11_11_10_SINT",
    "BUF_FMT_11_11_10_FLOAT",
    "BUF_FMT_10_10_10_2_UNORM",
    "BUF_FMT_10_10_10_2_SNORM",
    "BUF_FMT_10_10_10_2_USCALED",
    "BUF_FMT_10_10_10_2_SSCALED",
    "BUF_FMT_10_10_10_2_UINT",
    "BUF_FMT_10_10_10_2_SINT",
    "BUF_FMT_2_10_10_10_UNORM",
    "BUF_FMT_2_10_10_10_SNORM",
    "BUF_FMT_2_10_10_10_USCALED",
    "BUF_FMT_2_10_10_10_SSCALED",
    "BUF_FMT_2_10_10_10_UINT",
    "BUF_FMT_2_10_10_10_SINT",
    "BUF_FMT_8_8_8_8_UNORM",
    "BUF_FMT_8_8_8_8_SNORM",
    "BUF_FMT_8_8_8_8_USCALED",
    "BUF_FMT_8_8_8_8_SSCALED",
    "BUF_FMT_8_8_8_8_UINT",
    "BUF_FMT_8_8_8_8_SINT",
    "BUF_FMT_32_32_UINT",
    "BUF_FMT_32_32_SINT",
    "BUF_FMT_32_32_FLOAT",
    "BUF_FMT_16_16_16_16_UNORM",
    "BUF_FMT_16_16_16_16_SNORM",
    "BUF_FMT_16_16_16_16_USCALED",
    "BUF_FMT_16_16_16_16_SSCALED",
    "BUF_FMT_16_16_16_16_UINT",
    "BUF_FMT_16_16_16_16_SINT",
    "BUF_FMT_16_16_16_16_FLOAT",
    "BUF_FMT_32_32_32_UINT",
    "BUF_FMT_32_32_32_SINT",
    "BUF_FMT_32_32_32_FLOAT",
    "BUF_FMT_32_32_32_32_UINT",
    "BUF_FMT_32_32_32_32_SINT",
    "BUF_FMT_32_32_32_32_FLOAT",
];
/// Buffer formats since RDNA 3.
pub(crate) static FORMATS_GFX11: [&str; 64] = [
    "BUF_FMT_INVALID",
    "BUF_FMT_8_UNORM",
    "BUF_FMT_8_SNORM",
    "BUF_FMT_8_USCALED",
    "BUF_FMT_8_SSCALED",
    "BUF_FMT_8_UINT",
    "BUF_FMT_8_SINT",
    "BUF_FMT_16_UNORM",
    "BUF_FMT_16_SNORM",
    "BUF_FMT_16_USCALED",
    "BUF_FMT_16_SSCALED",
    "BUF_FMT_16_UINT",
    "BUF_FMT_16_SINT",
    "BUF_FMT_16_FLOAT",
    "BUF_FMT_8_8_UNORM",
    "BUF_FMT_8_8_SNORM",
    "BUF_FMT_8_8_USCALED",
    "BUF_FMT_8_8_SSCALED",
    "BUF_FMT_8_8_UINT",
    "BUF_FMT_8_8_SINT",
    "BUF_FMT_32_UINT",
    "BUF_FMT_32_SINT",
    "BUF_FMT_32_FLOAT",
    "BUF_FMT_16_16_UNORM",
    "BUF_FMT_16_16_SNORM",
    "BUF_FMT_16_16_USCALED",
    "BUF_FMT_16_16_SSCALED",
    "BUF_FMT_16_16_UINT",
    "BUF_FMT_16_16_SINT",
    "BUF_FMT_16_16_FLOAT",
    "BUF_FMT_10_11_11_FLOAT",
    "BUF_FMT_11_11_10_FLOAT",
    "BUF_FMT_10_10_10_2_UNORM",
    "BUF_FMT_10_10_10_2_SNORM",
    "BUF_FMT_10_10_10_2_UINT",
    "BUF_FMT_10_10_10_2_SINT",
    "BUF_FMT_2_10_10_10_UNORM",
    "BUF_FMT_2_10_10_10_SNORM",
    "BUF_FMT_2_10_10_10_USCALED",
    "BUF_FMT_2_10_10_10_SSCALED",
    "BUF_FMT_2_10_10_10_UINT",
    "BUF_FMT_2_10_10_10_SINT",
    "BUF_FMT_8_8_8_8_UNORM",
    "BUF_FMT_8_8_8_8_SNORM",
    "BUF_FMT_8_8_8_8_USCALED",
    "BUF_FMT_8_8_8_8_SSCALED",
    "BUF_FMT_8_8_8_8_UINT",
    "BUF_FMT_8_8_8_8_SINT",
    "BUF_FMT_32_32_UINT",
    "BUF_FMT_32_32_SINT",
    "BUF_FMT_32_32_FLOAT",
    "BUF_FMT_16_16_16_16_UNORM",
    "BUF_FMT_16_16_16_16_SNORM",
    "BUF_FMT_16_16_16_16_USCALED",
    "BUF_FMT_16_16_16_16_SSCALED",
    "BUF_FMT_16_16_16_16_UINT",
    "BUF_FMT_16_16_16_16_SINT",
    "BUF_FMT_16_16_16_16_FLOAT",
    "BUF_FMT_32_32_32_UINT",
    "BUF_FMT_32_32_32_SINT",
    "BUF_FMT_32_32_32_FLOAT",
    "BUF_FMT_32_32_32_32_UINT",
    "BUF_FMT_32_32_32_32_SINT",
    "BUF_FMT_32_32_32_32_FLOAT",
];
/// Data formats of CDNA 1 to 4 (DFMT).
pub(crate) static DATA_FORMATS: [&str; 16] = [
    "BUF_DATA_FORMAT_INVALID",
    "BUF_DATA_FORMAT_8",
    "BUF_DATA_FORMAT_16",
    "BUF_DATA_FORMAT_8_8",
    "BUF_DATA_FORMAT_32",
    "BUF_DATA_FORMAT_16_16",
    "BUF_DATA_FORMAT_10_11_11",
    "BUF_DATA_FORMAT_11_11_10",
    "BUF_DATA_FORMAT_10_10_10_2",
    "BUF_DATA_FORMAT_2_10_10_10",
    "BUF_DATA_FORMAT_8_8_8_8",
    "BUF_DATA_FORMAT_32_32",
    "BUF_DATA_FORMAT_16_16_16_16",
    "BUF_DATA_FORMAT_32_32_32",
    "BUF_DATA_FORMAT_32_32_32_32",
    "BUF_DATA_FORMAT_RESERVED_15",
];
/// Number formats of CDNA 1 to 4 (NFMT).
pub(crate) static NUMBER_FORMATS: [&str; 8] = [
    "BUF_NUM_FORMAT_UNORM",
    "BUF_NUM_FORMAT_SNORM",
    "BUF_NUM_FORMAT_USCALED",
    "BUF_NUM_FORMAT_SSCALED",
    "BUF_NUM_FORMAT_UINT",
    "BUF_NUM_FORMAT_SINT",
    "BUF_NUM_FORMAT_RESERVED_6",
    "BUF_NUM_FORMAT_FLOAT",
];
/// Image dimensions (DIM).
pub(crate) static DIMENSIONS: [&str; 8] = [
    "SQ_RSRC_IMG_1D",
    "SQ_RSRC_IMG_2D",
    "SQ_RSRC_IMG_3D",
    "SQ_RSRC_IMG_CUBE",
    "SQ_RSRC_IMG_1D_ARRAY",
    "SQ_RSRC_IMG_2D_ARRAY",
    "SQ_RSRC_IMG_2D_MSAA",
    "SQ_RSRC_IMG_2D_MSAA_ARRAY",
];
/// Parts of a dword (DST_SEL, SRC0_SEL, SRC1_SEL).
pub(crate) static SDWA_SELECTS: [&str; 7] = ["BYTE_0", "BYTE_1", "BYTE_2", "BYTE_3", "WORD_0", "WORD_1", "DWORD"];
/// What becomes of the rest of the destination (DST_UNUSED).
pub(crate) static SDWA_UNUSED: [&str; 3] = ["UNUSED_PAD", "UNUSED_SEXT", "UNUSED_PRESERVE"];
/// Instructions to wait for (`instid0`, `instid1` of `s_delay_alu`); 0 is none.
pub(crate) static DELAY_IDS: [&str; 12] = [
    "NO_DEP",
    "VALU_DEP_1",
    "VALU_DEP_2",
    "VALU_DEP_3",
    "VALU_DEP_4",
    "TRANS32_DEP_1",
    "TRANS32_DEP_2",
    "TRANS32_DEP_3",
    "FMA_ACCUM_CYCLE_1",
    "SALU_CYCLE_1",
    "SALU_CYCLE_2",
    "SALU_CYCLE_3",
];
/// Instructions between the two (`instskip` of `s_delay_alu`).
pub(crate) static DELAY_SKIPS: [&str; 6] = ["SAME", "NEXT", "SKIP_1", "SKIP_2", "SKIP_3", "SKIP_4"];
/// Scopes of memory accesses (SCOPE); 0 is not written.
pub(crate) static SCOPES: [&str; 4] = ["SCOPE_CU", "SCOPE_SE", "SCOPE_DEV", "SCOPE_SYS"];
/// Element formats of matrices (`matrix_a_fmt`, `matrix_b_fmt`).
pub(crate) static MATRIX_FORMATS: [&str; 5] =
    ["MATRIX_FMT_FP8", "MATRIX_FMT_BF8", "MATRIX_FMT_FP6", "MATRIX_FMT_BF6", "MATRIX_FMT_FP4"];
/// Operands of `gpr_idx`, bit 0 first.
pub(crate) static GPR_INDEX_MODES: [&str; 4] = ["SRC0", "SRC1", "SRC2", "DST"];
/// Operations of the messages GS and GS_DONE.
pub(crate) static GS_OPERATIONS: [&str; 4] = ["GS_OP_NOP", "GS_OP_CUT", "GS_OP_EMIT", "GS_OP_EMIT_CUT"];
/// Hardware registers of cdna1, cdna2.
pub(crate) static HW_REGS_CDNA1: [(u8, &str); 12] = [
    (1, "HW_REG_MODE"),
    (2, "HW_REG_STATUS"),
    (3, "HW_REG_TRAPSTS"),
    (4, "HW_REG_HW_ID"),
    (5, "HW_REG_GPR_ALLOC"),
    (6, "HW_REG_LDS_ALLOC"),
    (7, "HW_REG_IB_STS"),
    (15, "HW_REG_SH_MEM_BASES"),
    (16, "HW_REG_TBA_LO"),
    (17, "HW_REG_TBA_HI"),
    (18, "HW_REG_TMA_LO"),
    (19, "HW_REG_TMA_HI"),
];
/// Hardware registers of cdna3, cdna4.
pub(crate) static HW_REGS_CDNA3: [(u8, &str); 17] = [
    (1, "HW_REG_MODE"),
    (2, "HW_REG_STATUS"),
    (3, "HW_REG_TRAPSTS"),
    (4, "HW_REG_HW_ID"),
    (5, "HW_REG_GPR_ALLOC"),
    (6, "HW_REG_LDS_ALLOC"),
    (7, "HW_REG_IB_STS"),
    (15, "HW_REG_SH_MEM_BASES"),
    (16, "HW_REG_TBA_LO"),
    (17, "HW_REG_TBA_HI"),
    (18, "HW_REG_TMA_LO"),
    (19, "HW_REG_TMA_HI"),
    (20, "HW_REG_XCC_ID"),
    (21, "HW_REG_SQ_PERF_SNAPSHOT_DATA"),
    (22, "HW_REG_SQ_PERF_SNAPSHOT_DATA1"),
    (23, "HW_REG_SQ_PERF_SNAPSHOT_PC_LO"),
    (24, "HW_REG_SQ_PERF_SNAPSHOT_PC_HI"),
];
/// Hardware registers of cdna5.
pub(crate) static HW_REGS_CDNA5: [(u8, &str); 26] = [
    (1, "HW_REG_WAVE_MODE"),
    (2, "HW_REG_WAVE_STATUS"),
    (4, "HW_REG_WAVE_STATE_PRIV"),
    (5, "HW_REG_WAVE_GPR_ALLOC"),
    (6, "HW_REG_WAVE_LDS_ALLOC"),
    (7, "HW_REG_IB_STS"),
    (10, "HW_REG_PERF_SNAPSHOT_DATA"),
    (11, "HW_REG_PERF_SNAPSHOT_PC_LO"),
    (12, "HW_REG_PERF_SNAPSHOT_PC_HI"),
    (15, "HW_REG_PERF_SNAPSHOT_DATA1"),
    (16, "HW_REG_PERF_SNAPSHOT_DATA2"),
    (17, "HW_REG_WAVE_EXCP_FLAG_PRIV"),
    (18, "HW_REG_WAVE_EXCP_FLAG_USER"),
    (19, "HW_REG_WAVE_TRAP_CTRL"),
    (20, "HW_REG_WAVE_SCRATCH_BASE_LO"),
    (21, "HW_REG_WAVE_SCRATCH_BASE_HI"),
    (23, "HW_REG_WAVE_HW_ID1"),
    (24, "HW_REG_WAVE_HW_ID2"),
    (26, "HW_REG_WAVE_SCHED_MODE"),
    (28, "HW_REG_IB_STS2"),
    (29, "HW_REG_SHADER_CYCLES_LO"),
    (30, "HW_REG_SHADER_CYCLES_HI"),
    (31, "HW_REG_WAVE_DVGPR_ALLOC_LO"),
    (32, "HW_REG_WAVE_DVGPR_ALLOC_HI"),
    (33, "HW_REG_XNACK_STATE_PRIV"),
    (34, "HW_REG_XNACK_MASK"),
];
/// Hardware registers of rdna1.
pub(crate) static HW_REGS_RDNA1: [(u8, &str); 17] = [
    (1, "HW_REG_MODE"),
    (2, "HW_REG_STATUS"),
    (3, "HW_REG_TRAPSTS"),
    (5, "HW_REG_GPR_ALLOC"),
    (6, "HW_REG_LDS_ALLOC"),
    (7, "HW_REG_IB_STS"),
    (15, "HW_REG_SH_MEM_BASES"),
    (16, "HW_REG_TBA_LO"),
    (17, "HW_REG_TBA_HI"),
    (18, "HW_REG_TMA_LO"),
    (19, "HW_REG_TMA_HI"),
    (20, "HW_REG_FLAT_SCR_LO"),
    (21, "HW_REG_FLAT_SCR_HI"),
    (22, "HW_REG_XNACK_MASK"),
    (23, "HW_REG_HW_ID1"),
    (24, "HW_REG_HW_ID2"),
    (25, "HW_REG_POPS_PACKER"),
];
/// Hardware registers of rdna2.
pub(crate) static HW_REGS_RDNA2: [(u8, &str); 17] = [
    (1, "HW_REG_MODE"),
    (2, "HW_REG_STATUS"),
    (3, "HW_REG_TRAPSTS"),
    (5, "HW_REG_GPR_ALLOC"),
    (6, "HW_REG_LDS_ALLOC"),
    (7, "HW_REG_IB_STS"),
    (15, "HW_REG_SH_MEM_BASES"),
    (16, "HW_REG_TBA_LO"),
    (17, "HW_REG_TBA_HI"),
    (18, "HW_REG_TMA_LO"),
    (19, "HW_REG_TMA_HI"),
    (20, "HW_REG_FLAT_SCR_LO"),
    (21, "HW_REG_FLAT_SCR_HI"),
    (23, "HW_REG_HW_ID1"),
    (24, "HW_REG_HW_ID2"),
    (25, "HW_REG_POPS_PACKER"),
    (29, "HW_REG_SHADER_CYCLES"),
];
/// Hardware registers of rdna3, rdna3_5.
pub(crate) static HW_REGS_RDNA3: [(u8, &str); 15] = [
    (1, "HW_REG_MODE"),
    (2, "HW_REG_STATUS"),
    (3, "HW_REG_TRAPSTS"),
    (5, "HW_REG_GPR_ALLOC"),
    (6, "HW_REG_LDS_ALLOC"),
    (7, "HW_REG_IB_STS"),
    (15, "HW_REG_SH_MEM_BASES"),
    (18, "HW_REG_PERF_SNAPSHOT_PC_LO"),
    (19, "HW_REG_PERF_SNAPSHOT_PC_HI"),
    (20, "HW_REG_FLAT_SCR_LO"),
    (21, "HW_REG_FLAT_SCR_HI"),
    (23, "HW_REG_HW_ID1"),
    (24, "HW_REG_HW_ID2"),
    (27, "HW_REG_PERF_SNAPSHOT_DATA"),
    (29, "HW_REG_SHADER_CYCLES"),
];
/// Hardware registers of rdna4.
pub(crate) static HW_REGS_RDNA4: [(u8, &str); 23] = [
    (1, "HW_REG_WAVE_MODE"),
    (2, "HW_REG_WAVE_STATUS"),
    (4, "HW_REG_WAVE_STATE_PRIV"),
    (5, "HW_REG_WAVE_GPR_ALLOC"),
    (6, "HW_REG_WAVE_LDS_ALLOC"),
    (7, "HW_REG_IB_STS"),
    (10, "HW_REG_PERF_SNAPSHOT_DATA"),
    (11, "HW_REG_PERF_SNAPSHOT_PC_LO"),
    (12, "HW_REG_PERF_SNAPSHOT_PC_HI"),
    (15, "HW_REG_PERF_SNAPSHOT_DATA1"),
    (16, "HW_REG_PERF_SNAPSHOT_DATA2"),
    (17, "HW_REG_WAVE_EXCP_FLAG_PRIV"),
    (18, "HW_REG_WAVE_EXCP_FLAG_USER"),
    (19, "HW_REG_WAVE_TRAP_CTRL"),
    (20, "HW_REG_WAVE_SCRATCH_BASE_LO"),
    (21, "HW_REG_WAVE_SCRATCH_BASE_HI"),
    (23, "HW_REG_WAVE_HW_ID1"),
    (24, "HW_REG_WAVE_HW_ID2"),
    (26, "HW_REG_WAVE_SCHED_MODE"),
    (29, "HW_REG_SHADER_CYCLES_LO"),
    (30, "HW_REG_SHADER_CYCLES_HI"),
    (31, "HW_REG_WAVE_DVGPR_ALLOC_LO"),
    (32, "HW_REG_WAVE_DVGPR_ALLOC_HI"),
];

/// Hardware registers of a generation: number and name, by number.
pub(crate) fn hardware_registers(generation: Generation) -> &'static [(u8, &'static str)] {
    match generation {
        Generation::Cdna1 | Generation::Cdna2 => &HW_REGS_CDNA1,
        Generation::Cdna3 | Generation::Cdna4 => &HW_REGS_CDNA3,
        Generation::Cdna5 => &HW_REGS_CDNA5,
        Generation::Rdna1 => &HW_REGS_RDNA1,
        Generation::Rdna2 => &HW_REGS_RDNA2,
        Generation::Rdna3 | Generation::Rdna3_5 => &HW_REGS_RDNA3,
        Generation::Rdna4 => &HW_REGS_RDNA4,
    }
}

/// Messages of CDNA 1 to 4.
pub(crate) static MESSAGES_GFX9: [(u8, &str); 11] = [
    (1, "MSG_INTERRUPT"),
    (2, "MSG_GS"),
    (3, "MSG_GS_DONE"),
    (4, "MSG_SAVEWAVE"),
    (5, "MSG_STALL_WAVE_GEN"),
    (6, "MSG_HALT_WAVES"),
    (7, "MSG_ORDERED_PS_DONE"),
    (8, "MSG_EARLY_PRIM_DEALLOC"),
    (9, "MSG_GS_ALLOC_REQ"),
    (10, "MSG_GET_DOORBELL"),
    (15, "MSG_SYSMSG"),
];
/// Messages of RDNA 1 and 2.
pub(crate) static MESSAGES_GFX10: [(u8, &str); 12] = [
    (1, "MSG_INTERRUPT"),
    (2, "MSG_GS"),
    (3, "MSG_GS_DONE"),
    (4, "MSG_SAVEWAVE"),
    (5, "MSG_STALL_WAVE_GEN"),
    (6, "MSG_HALT_WAVES"),
    (7, "MSG_ORDERED_PS_DONE"),
    (8, "MSG_EARLY_PRIM_DEALLOC"),
    (9, "MSG_GS_ALLOC_REQ"),
    (10, "MSG_GET_DOORBELL"),
    (11, "MSG_GET_DDID"),
    (15, "MSG_SYSMSG"),
];
/// Messages of RDNA 3 and 3.5.
pub(crate) static MESSAGES_GFX11: [(u8, &str); 13] = [
    (1, "MSG_INTERRUPT"),
    (2, "MSG_HS_TESSFACTOR"),
    (3, "MSG_DEALLOC_VGPRS"),
    (5, "MSG_STALL_WAVE_GEN"),
    (6, "MSG_HALT_WAVES"),
    (9, "MSG_GS_ALLOC_REQ"),
    (128, "MSG_RTN_GET_DOORBELL"),
    (129, "MSG_RTN_GET_DDID"),
    (130, "MSG_RTN_GET_TMA"),
    (131, "MSG_RTN_GET_REALTIME"),
    (132, "MSG_RTN_SAVE_WAVE"),
    (133, "MSG_RTN_GET_TBA"),
    (134, "MSG_RTN_GET_TBA_TO_PC"),
];
/// Messages of RDNA 4.
pub(crate) static MESSAGES_GFX12: [(u8, &str); 12] = [
    (1, "MSG_INTERRUPT"),
    (2, "MSG_HS_TESSFACTOR"),
    (3, "MSG_DEALLOC_VGPRS"),
    (9, "MSG_GS_ALLOC_REQ"),
    (128, "MSG_RTN_GET_DOORBELL"),
    (129, "MSG_RTN_GET_DDID"),
    (130, "MSG_RTN_GET_TMA"),
    (131, "MSG_RTN_GET_REALTIME"),
    (132, "MSG_RTN_SAVE_WAVE"),
    (133, "MSG_RTN_GET_TBA"),
    (134, "MSG_RTN_GET_TBA_TO_PC"),
    (135, "MSG_RTN_GET_SE_AID_ID"),
];
/// Messages of CDNA 5.
pub(crate) static MESSAGES_CDNA5: [(u8, &str); 14] = [
    (1, "MSG_INTERRUPT"),
    (2, "MSG_HS_TESSFACTOR"),
    (3, "MSG_DEALLOC_VGPRS"),
    (9, "MSG_GS_ALLOC_REQ"),
    (10, "MSG_SAVEWAVE_HAS_TDM"),
    (128, "MSG_RTN_GET_DOORBELL"),
    (129, "MSG_RTN_GET_DDID"),
    (130, "MSG_RTN_GET_TMA"),
    (131, "MSG_RTN_GET_REALTIME"),
    (132, "MSG_RTN_SAVE_WAVE"),
    (133, "MSG_RTN_GET_TBA"),
    (134, "MSG_RTN_GET_TBA_TO_PC"),
    (135, "MSG_RTN_GET_SE_AID_ID"),
    (136, "MSG_RTN_GET_CLUSTER_BARRIER_STATE"),
];

/// Messages of a generation: number and name, by number.
pub(crate) fn messages(generation: Generation) -> &'static [(u8, &'static str)] {
    match generation {
        Generation::Cdna1 | Generation::Cdna2 | Generation::Cdna3 | Generation::Cdna4 => &MESSAGES_GFX9,
        Generation::Rdna1 | Generation::Rdna2 => &MESSAGES_GFX10,
        Generation::Rdna3 | Generation::Rdna3_5 => &MESSAGES_GFX11,
        Generation::Rdna4 => &MESSAGES_GFX12,
        Generation::Cdna5 => &MESSAGES_CDNA5,
    }
}

/// The name of a value in a table of pairs.
pub(crate) fn name_of(table: &'static [(u8, &'static str)], value: u32) -> Option<&'static str> {
    table.iter().find(|(number, _)| u32::from(*number) == value).map(|&(_, name)| name)
}

/// Operations of the message SYSMSG.
pub(crate) static SYSTEM_OPERATIONS: [(u8, &str); 3] =
    [(1, "SYSMSG_OP_ECC_ERR_INTERRUPT"), (2, "SYSMSG_OP_REG_RD"), (4, "SYSMSG_OP_TTRACE_PC")];

/// A field of `s_wait_alu` (`s_waitcnt_depctr`): name, first bit, bits.
pub(crate) static DEPENDENCY_COUNTERS: [(&str, u8, u8); 7] = [
    ("depctr_hold_cnt", 7, 1),
    ("depctr_sa_sdst", 0, 1),
    ("depctr_va_vdst", 12, 4),
    ("depctr_va_sdst", 9, 3),
    ("depctr_va_ssrc", 8, 1),
    ("depctr_va_vcc", 1, 1),
    ("depctr_vm_vsrc", 2, 3),
];

/// Places of the counters of `s_waitcnt`: name, ranges (first bit, bits) with the least significant first.
pub(crate) type WaitField = (&'static str, &'static [(u8, u8)]);

static WAIT_GFX9: [WaitField; 3] = [("vmcnt", &[(0, 4), (14, 2)]), ("expcnt", &[(4, 3)]), ("lgkmcnt", &[(8, 4)])];
static WAIT_GFX10: [WaitField; 3] = [("vmcnt", &[(0, 4), (14, 2)]), ("expcnt", &[(4, 3)]), ("lgkmcnt", &[(8, 6)])];
static WAIT_GFX11: [WaitField; 3] = [("vmcnt", &[(10, 6)]), ("expcnt", &[(0, 3)]), ("lgkmcnt", &[(4, 6)])];

/// The counters of `s_waitcnt`.
pub(crate) fn wait_fields(generation: Generation) -> &'static [WaitField; 3] {
    match generation {
        Generation::Cdna1 | Generation::Cdna2 | Generation::Cdna3 | Generation::Cdna4 => &WAIT_GFX9,
        Generation::Rdna1 | Generation::Rdna2 => &WAIT_GFX10,
        _ => &WAIT_GFX11,
    }
}

/// Versions that `s_version` states, without wave sizes.
pub(crate) static VERSIONS: [(u8, &str); 4] =
    [(0, "UC_VERSION_GFX7"), (4, "UC_VERSION_GFX10"), (6, "UC_VERSION_GFX11"), (9, "UC_VERSION_GFX12")];

/// Bits of `s_version` for wave sizes.
pub(crate) static VERSION_FLAGS: [(u16, &str); 3] =
    [(0x2000, "UC_VERSION_W64_BIT"), (0x4000, "UC_VERSION_W32_BIT"), (0x8000, "UC_VERSION_MDP_BIT")];

/// Temporal hints of loads by value (TH); 0 is not written.
pub(crate) static LOAD_HINTS: [&str; 8] = [
    "TH_LOAD_RT",
    "TH_LOAD_NT",
    "TH_LOAD_HT",
    "TH_LOAD_LU",
    "TH_LOAD_NT_RT",
    "TH_LOAD_RT_NT",
    "TH_LOAD_NT_HT",
    "TH_LOAD_RESERVED",
];

/// Temporal hints of stores by value (TH).
pub(crate) static STORE_HINTS: [&str; 8] = [
    "TH_STORE_RT",
    "TH_STORE_NT",
    "TH_STORE_HT",
    "TH_STORE_WB",
    "TH_STORE_NT_RT",
    "TH_STORE_RT_NT",
    "TH_STORE_NT_HT",
    "TH_STORE_NT_WB",
];
