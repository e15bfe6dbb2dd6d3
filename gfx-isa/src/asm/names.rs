//! Names of modifiers.

macro_rules! modifiers {
    (flags { $($flag:ident $flag_name:literal,)* } values { $($value:ident $value_name:literal,)* }) => {
        /// Numbers of modifiers: those without a value first.
        #[allow(non_camel_case_types, clippy::upper_case_acronyms)]
        #[repr(u8)]
        enum Id { $($flag,)* FirstValue, $($value,)* }

        #[allow(dead_code)]
        pub(crate) mod ids {
            use super::Id;
            $(pub(crate) const $flag: u8 = Id::$flag as u8;)*
            $(pub(crate) const $value: u8 = Id::$value as u8;)*
        }

        /// The modifier with a name.
        #[inline]
        pub(crate) fn modifier_id(name: &[u8]) -> Option<u8> {
            let id = match name {
                $($flag_name => Id::$flag,)*
                $($value_name => Id::$value,)*
                b"inst_offset" => Id::OFFSET,
                _ => return None,
            };
            Some(id as u8)
        }

        /// A modifier's name.
        pub(crate) fn modifier_name(id: u8) -> &'static str {
            let name: &[u8] = match id {
                $(ids::$flag => $flag_name,)*
                $(ids::$value => $value_name,)*
                _ => b"",
            };
            std::str::from_utf8(name).unwrap_or_default()
        }
    };
}

/// Whether a modifier stands without a value.
#[inline]
pub(crate) fn is_flag(id: u8) -> bool {
    id < Id::FirstValue as u8
}

modifiers! {
    flags {
    IDXEN b"idxen", OFFEN b"offen", GDS b"gds", GLC b"glc", SLC b"slc", DLC b"dlc", SCC b"scc", SC0 b"sc0", SC1 b"sc1",
    NT b"nt", NV b"nv", LDS b"lds", TFE b"tfe", LWE b"lwe", D16 b"d16", A16 b"a16", R128 b"r128", UNORM b"unorm",
    DA b"da", SCALE_OFFSET b"scale_offset", DONE b"done", VM b"vm", COMPR b"compr", ROW_EN b"row_en",
    MATRIX_A_REUSE b"matrix_a_reuse", MATRIX_B_REUSE b"matrix_b_reuse", CLAMP b"clamp", HIGH b"high",
    ROW_MIRROR b"row_mirror", ROW_HALF_MIRROR b"row_half_mirror",
    }
    values {
    OFFSET b"offset", OFFSET0 b"offset0", OFFSET1 b"offset1", CBSZ b"cbsz", ABID b"abid", BLGP b"blgp",
    WAIT_EXP b"wait_exp", WAIT_VDST b"wait_vdst", WAIT_VA_VDST b"wait_va_vdst", WAIT_VM_VSRC b"wait_vm_vsrc",
    SCALE_SEL b"scale_sel", BYTE_SEL b"byte_sel", INDEX_KEY b"index_key",
    DMASK b"dmask", DIM b"dim", FORMAT b"format", DFMT b"dfmt", NFMT b"nfmt", TH b"th", SCOPE b"scope",
    OP_SEL b"op_sel", OP_SEL_HI b"op_sel_hi", NEG_LO b"neg_lo", NEG_HI b"neg_hi", NEG b"neg", MUL b"mul", DIV b"div",
    BITOP3 b"bitop3", MATRIX_A_FMT b"matrix_a_fmt", MATRIX_B_FMT b"matrix_b_fmt", MATRIX_A_SCALE b"matrix_a_scale",
    MATRIX_B_SCALE b"matrix_b_scale", MATRIX_A_SCALE_FMT b"matrix_a_scale_fmt", MATRIX_B_SCALE_FMT b"matrix_b_scale_fmt",
    QUAD_PERM b"quad_perm", ROW_SHL b"row_shl", ROW_SHR b"row_shr", ROW_ROR b"row_ror", ROW_SHARE b"row_share",
    ROW_XMASK b"row_xmask", ROW_NEWBCAST b"row_newbcast", ROW_BCAST b"row_bcast", WAVE_SHL b"wave_shl",
    WAVE_ROL b"wave_rol", WAVE_SHR b"wave_shr", WAVE_ROR b"wave_ror", ROW_MASK b"row_mask", BANK_MASK b"bank_mask",
    BOUND_CTRL b"bound_ctrl", FI b"fi", DPP8 b"dpp8", DST_SEL b"dst_sel", DST_UNUSED b"dst_unused",
    SRC0_SEL b"src0_sel", SRC1_SEL b"src1_sel",
    }
}

/// `op_sel:[..]`-like bits and modifiers of DPP and SDWA forms, as sets of numbers.
pub(crate) mod sets {
    use super::ids::*;

    const fn set(ids: &[u8]) -> u128 {
        let mut all = 0;
        let mut at = 0;
        while at < ids.len() {
            all |= 1 << ids[at];
            at += 1;
        }
        all
    }

    /// Lane permutations of DPP16.
    pub(crate) const DPP_CTRL: u128 = set(&[
        QUAD_PERM,
        ROW_SHL,
        ROW_SHR,
        ROW_ROR,
        ROW_SHARE,
        ROW_XMASK,
        ROW_NEWBCAST,
        ROW_BCAST,
        WAVE_SHL,
        WAVE_ROL,
        WAVE_SHR,
        WAVE_ROR,
        ROW_MIRROR,
        ROW_HALF_MIRROR,
    ]);
    pub(crate) const DPP16: u128 = DPP_CTRL | set(&[ROW_MASK, BANK_MASK, BOUND_CTRL]);
    pub(crate) const SDWA: u128 = set(&[DST_SEL, DST_UNUSED, SRC0_SEL, SRC1_SEL]);
}
