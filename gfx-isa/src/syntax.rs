//! Assembly syntax as data: what an instruction's text consists of, in the order in which it is written.
//!
//! The generator derives a [`Syntax`] for each row from its operands, its encoding and a few exceptions
//! (`data/syntax.toml`). The disassembler walks it to write text, the assembler to read it. A [`Slot`] is something
//! between commas, a [`Modifier`] is something after them.

pub(crate) mod names;

use crate::generated::syntax::{MODIFIERS, SLOTS};

/// The text of one row.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Syntax {
    slots: (u16, u8),
    modifiers: (u16, u8),
    /// Bits of the first 64 that are all 0 where no modifier is written; 0: some modifier must be looked at.
    quiet: u64,
    pub(crate) family: Family,
    pub(crate) suffix: Suffix,
}

impl Syntax {
    pub(crate) const fn new(slots: (u16, u8), modifiers: (u16, u8), family: Family, suffix: Suffix) -> Syntax {
        Syntax { slots, modifiers, quiet: quiet_bits(modifiers), family, suffix }
    }

    /// Whether the first two dwords tell that no modifier is written.
    #[inline]
    pub(crate) const fn is_quiet(&self, words: u64) -> bool {
        self.modifiers.1 == 0 || (self.quiet != 0 && words & self.quiet == 0)
    }

    /// What is written between commas.
    #[inline]
    pub(crate) fn slots(&self) -> &'static [Slot] {
        &SLOTS[usize::from(self.slots.0)..][..usize::from(self.slots.1)]
    }

    /// What is written after the operands, in this order. Controls of DPP and SDWA forms are not listed: they are
    /// the same for every instruction and come last.
    #[inline]
    pub(crate) fn modifiers(&self) -> &'static [Modifier] {
        &MODIFIERS[usize::from(self.modifiers.0)..][..usize::from(self.modifiers.1)]
    }
}

/// The bits of modifiers that are not written where their bits are 0; 0 where some are written then, or lie elsewhere.
const fn quiet_bits((start, count): (u16, u8)) -> u64 {
    let mut bits = 0;
    let mut at = 0;
    while at < count {
        let modifier = MODIFIERS[start as usize + at as usize];
        let end = modifier.offset() + modifier.count();
        let quiet = matches!(
            modifier.kind(),
            ModifierKind::Flag
                | ModifierKind::Number
                | ModifierKind::SignedOffset
                | ModifierKind::FlatOffset
                | ModifierKind::DsOffset
                | ModifierKind::Swizzle
                | ModifierKind::Dmask
                | ModifierKind::Th
                | ModifierKind::Scope
                | ModifierKind::OpSel
                | ModifierKind::NegLo
                | ModifierKind::NegHi
                | ModifierKind::Clamp
                | ModifierKind::Omod
                | ModifierKind::ByteSel
                | ModifierKind::PermlaneOpSel
                | ModifierKind::MfmaNeg
        );
        if !quiet || modifier.count() == 0 || end > 64 {
            return 0;
        }
        bits |= (u64::MAX >> (64 - modifier.count())) << modifier.offset();
        at += 1;
    }
    bits
}

/// Where source modifiers and halves are encoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Family {
    /// No source modifiers: scalar and memory instructions.
    Plain,
    /// VOP1, VOP2: modifiers only in DPP and SDWA dwords; bit 7 of a 16-bit operand's register selects the half.
    Vop,
    /// VOPC: as [`Family::Vop`], and an SDWA dword may name the destination.
    Vopc,
    /// VOP3: NEG at 63:61, ABS at 10:8, OPSEL at 14:11 (bit 3: destination).
    Vop3,
    /// VOP3 with a scalar destination in place of ABS and OPSEL.
    Vop3Sdst,
    /// VOP3P: NEG (low halves) at 63:61, NEG_HI at 10:8, OPSEL at 13:11, OPSEL_HI at 60:59 and 14.
    Vop3p,
    /// VOP3P whose NEG_HI is an absolute value: the mixed-precision fused multiply-adds.
    Mix,
    /// VOP3P of matrix instructions; no source modifiers on operands.
    Matrix,
    /// VINTERP: as [`Family::Vop3`] without ABS.
    Interp,
    /// The X half of a dual-issue word; the Y half has a row of its own.
    Vopd,
    /// As [`Family::Vopd`] with NEG at 43:41 (X) and 46:44 (Y).
    Vopd3,
}

/// What follows the mnemonic.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Suffix {
    /// Nothing; `_dpp` and `_sdwa` in these forms.
    None,
    /// `_e32`; `_dpp` and `_sdwa` in these forms.
    E32,
    /// `_e64`; `_e64_dpp` in DPP forms.
    E64,
    /// Nothing; `_e64_dpp` in DPP forms.
    Vop3,
    /// `_e32`; nothing in DPP forms: compares since RDNA 3.
    Compare,
    /// Nothing and a second space: image instructions with samplers and separate addresses.
    Nsa,
}

/// What a slot holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum SlotKind {
    /// A VGPR number; an AGPR where [`Slot::acc`] says so.
    Vgpr,
    /// A value of the source map, shifted left by [`Slot::scale`].
    Src,
    /// `vcc`, or `vcc_lo` of wave32; not in the word.
    Vcc,
    /// The destination of a compare in the SDWA dword, `vcc` in other forms.
    VopcDst,
    /// The constant of FMAMK and FMAAK: the dword (two of 64-bit operands) at [`Slot::offset`].
    Literal,
    /// An unsigned number in hexadecimal.
    Hex,
    /// A number in decimal up to 64, in hexadecimal above.
    Inline,
    /// As [`SlotKind::Hex`], nothing for 0: `s_endpgm`.
    Endpgm,
    /// A branch target.
    Label,
    /// `hwreg(..)`
    HwReg,
    /// `sendmsg(..)`
    SendMsg,
    /// `sendmsg(..)` of instructions that return a value.
    SendMsgRtn,
    /// `vmcnt(..) expcnt(..) lgkmcnt(..)`
    WaitCnt,
    /// `depctr_..(..)`
    Depctr,
    /// `instid0(..) | instskip(..) | instid1(..)`
    DelayAlu,
    /// `UC_VERSION_..`
    Version,
    /// `attr0.x`: attribute at [`Slot::offset`], channel in the two bits below.
    Attr,
    /// `p10`, `p20`, `p0`
    Param,
    /// An export target.
    ExpTarget,
    /// An export source; `off` where bit [`Slot::extra`] of the word is clear.
    ExpSrc,
    /// A scalar base address, `off` for the null register.
    Saddr,
    /// A vector address: one register where [`Slot::extra`] names an SADDR field that is in use, else two.
    GlobalAddr,
    /// A scratch address: `off` where not in use, which [`Slot::extra`] (SVE's bit, or 0: where SADDR is in use) says.
    ScratchAddr,
    /// `off`, or as many registers as IDXEN and OFFEN (its bit in [`Slot::extra`]) need.
    BufferAddr,
    /// Buffer data: one register more where the bit [`Slot::extra`] (TFE) is set, none where [`Slot::returns`] (LDS) is.
    BufferData,
    /// A scalar memory offset: register, immediate or both.
    SmemOffset,
    /// A signed immediate in hexadecimal.
    SignedHex,
    /// Image data: registers by DMASK, D16 and TFE.
    ImageData,
    /// Image addresses: registers by DIM and A16, as a list or a range.
    ImageAddr,
    /// The condition code's `src_...`-less name, e.g. lane select: a source that must be scalar.
    LaneSel,
    /// The Y destination of a dual-issue word: its lowest bit is the opposite of the X destination's, whose field
    /// begins at [`Slot::extra`].
    DualDst,
    /// `gpr_idx(..)` mode bits.
    GprIdx,
    /// A matrix whose registers depend on the element format, whose bits begin at [`Slot::extra`].
    MatrixSrc,
    /// A group of a tensor descriptor; not written where both optional groups are null.
    TensorGroup,
    /// Nothing, but modifiers stand apart as if there were something.
    Nothing,
}

/// How a value that is no register is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Value {
    I16,
    F16,
    Bf16,
    I32,
    F32,
    I64,
    F64,
    V2I16,
    V2F16,
    V2Bf16,
    V2F32,
    V2I32,
    Fp8,
    /// A 16-bit literal that is written like the inline constant of its value.
    NoInline,
    /// 64-bit integers whose 64-bit literals always say so where they fit 32 bits.
    Lit64,
}

impl Value {
    const fn from_bits(bits: u64) -> Value {
        const ALL: [Value; 16] = [
            Value::I16,
            Value::F16,
            Value::Bf16,
            Value::I32,
            Value::F32,
            Value::I64,
            Value::F64,
            Value::V2I16,
            Value::V2F16,
            Value::V2Bf16,
            Value::V2F32,
            Value::V2I32,
            Value::Fp8,
            Value::NoInline,
            Value::Lit64,
            Value::Lit64,
        ];
        ALL[(bits & 15) as usize]
    }
}

/// Which source modifiers an operand can have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Mods {
    None,
    /// `-v0`, `|v0|`
    Float,
    /// `sext(v0)`, in SDWA forms
    Int,
}

/// How a 16-bit operand names its half in true16 text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Half {
    /// It does not.
    None,
    /// By bit 7 of the register number.
    Bit7,
    /// By the OPSEL bit of its source.
    OpSel,
}

/// Something between commas, packed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Slot(u64);

/// Kinds by number; numbers that are none are nothing.
const SLOT_KINDS: [SlotKind; 64] = {
    let known = [
        SlotKind::Vgpr,
        SlotKind::Src,
        SlotKind::Vcc,
        SlotKind::VopcDst,
        SlotKind::Literal,
        SlotKind::Hex,
        SlotKind::Inline,
        SlotKind::Endpgm,
        SlotKind::Label,
        SlotKind::HwReg,
        SlotKind::SendMsg,
        SlotKind::SendMsgRtn,
        SlotKind::WaitCnt,
        SlotKind::Depctr,
        SlotKind::DelayAlu,
        SlotKind::Version,
        SlotKind::Attr,
        SlotKind::Param,
        SlotKind::ExpTarget,
        SlotKind::ExpSrc,
        SlotKind::Saddr,
        SlotKind::GlobalAddr,
        SlotKind::ScratchAddr,
        SlotKind::BufferAddr,
        SlotKind::BufferData,
        SlotKind::SmemOffset,
        SlotKind::SignedHex,
        SlotKind::ImageData,
        SlotKind::ImageAddr,
        SlotKind::LaneSel,
        SlotKind::DualDst,
        SlotKind::GprIdx,
        SlotKind::MatrixSrc,
        SlotKind::TensorGroup,
        SlotKind::Nothing,
    ];
    let mut table = [SlotKind::Nothing; 64];
    let mut at = 0;
    while at < known.len() {
        table[at] = known[at];
        at += 1;
    }
    table
};

impl Slot {
    #[allow(clippy::too_many_arguments)]
    pub(crate) const fn new(
        kind: SlotKind,
        (offset, count, scale): (u8, u8, u8),
        dwords: u8,
        value: Value,
        source: u8,
        mods: Mods,
        half: Half,
        acc: u8,
        returns: u8,
        extra: u8,
    ) -> Slot {
        Slot(
            kind as u64
                | (offset as u64) << 6
                | (count as u64) << 14
                | (scale as u64) << 20
                | (dwords as u64) << 22
                | (value as u64) << 28
                | (source as u64) << 32
                | (mods as u64) << 35
                | (half as u64) << 37
                | (acc as u64) << 40
                | (returns as u64) << 48
                | (extra as u64) << 56,
        )
    }

    #[inline]
    const fn bits(self, at: u32, count: u32) -> u64 {
        (self.0 >> at) & ((1 << count) - 1)
    }

    #[inline]
    pub(crate) const fn kind(self) -> SlotKind {
        SLOT_KINDS[self.bits(0, 6) as usize & 63]
    }

    /// First bit in the word.
    #[inline]
    pub(crate) const fn offset(self) -> u32 {
        self.bits(6, 8) as u32
    }

    /// Bits in the word.
    #[inline]
    pub(crate) const fn count(self) -> u32 {
        self.bits(14, 6) as u32
    }

    #[inline]
    pub(crate) const fn scale(self) -> u32 {
        self.bits(20, 2) as u32
    }

    /// Registers.
    #[inline]
    pub(crate) const fn dwords(self) -> u32 {
        self.bits(22, 6) as u32
    }

    #[inline]
    pub(crate) const fn value(self) -> Value {
        Value::from_bits(self.bits(28, 4))
    }

    /// Number of the source for modifiers; 3: the destination; 7: neither.
    #[inline]
    pub(crate) const fn source(self) -> u32 {
        self.bits(32, 3) as u32
    }

    #[inline]
    pub(crate) const fn mods(self) -> Mods {
        match self.bits(35, 2) {
            0 => Mods::None,
            1 => Mods::Float,
            _ => Mods::Int,
        }
    }

    #[inline]
    pub(crate) const fn half(self) -> Half {
        match self.bits(37, 2) {
            0 => Half::None,
            1 => Half::Bit7,
            _ => Half::OpSel,
        }
    }

    /// Bit of the word that makes the register an AGPR; 0: never; 255: always. 254: never, and wave64 has half as many.
    #[inline]
    pub(crate) const fn acc(self) -> u32 {
        self.bits(40, 8) as u32
    }

    /// Bit of the word without which the slot is not written (an atomic returns nothing); 0: always written.
    #[inline]
    pub(crate) const fn returns(self) -> u32 {
        self.bits(48, 8) as u32
    }

    /// By kind.
    #[inline]
    pub(crate) const fn extra(self) -> u32 {
        self.bits(56, 8) as u32
    }
}

/// What a modifier is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum ModifierKind {
    /// A bit with a name: [`names::FLAGS`] at [`Modifier::extra`].
    Flag,
    /// A number with a name, unsigned decimal, not written when 0: [`names::NUMBERS`] at [`Modifier::extra`].
    Number,
    /// The same, always written.
    NumberAlways,
    /// `offset:`, signed decimal.
    SignedOffset,
    /// `offset:` of a FLAT instruction without signed offsets: LLVM shows the bits all the same.
    FlatOffset,
    /// `offset:` of a DS instruction: 16 bits.
    DsOffset,
    /// `offset:swizzle(..)`
    Swizzle,
    /// `dmask:0x..`
    Dmask,
    /// `dim:SQ_RSRC_IMG_..`
    Dim,
    /// `format:[..]` of one field.
    Format,
    /// `format:[..]` of DFMT and NFMT.
    FormatDfmt,
    /// `th:`; [`Modifier::extra`]: load 0, store 1, atomic 2 and whether scopes matter.
    Th,
    /// `scope:`
    Scope,
    /// `op_sel:[..]` of [`Modifier::extra`] sources; +8: and the destination; +16: and a bit for it, always 0; +32: the
    /// destination's alone; +64: not in true16 text; +128: without the destination in DPP forms.
    OpSel,
    /// `op_sel_hi:[..]`; all ones are not written. +8: all zeros are not written.
    OpSelHi,
    NegLo,
    NegHi,
    Clamp,
    /// `mul:2`, `mul:4`, `div:2`
    Omod,
    /// `byte_sel:` in OPSEL.
    ByteSel,
    /// `bitop3:` in ABS and OMOD.
    Bitop3,
    /// `quad_perm`-less `op_sel:[fi,bc]` of permlane16.
    PermlaneOpSel,
    /// `neg:[..]` of a double-precision MFMA, in BLGP.
    MfmaNeg,
    /// `matrix_a_fmt:..`
    MatrixFmt,
    /// `matrix_a_scale:..`
    MatrixScale,
    /// `matrix_a_scale_fmt:..`
    MatrixScaleFmt,
    /// `matrix_a_reuse`
    MatrixReuse,
}

/// Kinds by number; the last ones repeat.
const MODIFIER_KINDS: [ModifierKind; 32] = {
    let known = [
        ModifierKind::Flag,
        ModifierKind::Number,
        ModifierKind::NumberAlways,
        ModifierKind::SignedOffset,
        ModifierKind::FlatOffset,
        ModifierKind::DsOffset,
        ModifierKind::Swizzle,
        ModifierKind::Dmask,
        ModifierKind::Dim,
        ModifierKind::Format,
        ModifierKind::FormatDfmt,
        ModifierKind::Th,
        ModifierKind::Scope,
        ModifierKind::OpSel,
        ModifierKind::OpSelHi,
        ModifierKind::NegLo,
        ModifierKind::NegHi,
        ModifierKind::Clamp,
        ModifierKind::Omod,
        ModifierKind::ByteSel,
        ModifierKind::Bitop3,
        ModifierKind::PermlaneOpSel,
        ModifierKind::MfmaNeg,
        ModifierKind::MatrixFmt,
        ModifierKind::MatrixScale,
        ModifierKind::MatrixScaleFmt,
        ModifierKind::MatrixReuse,
    ];
    let mut table = [ModifierKind::Flag; 32];
    let mut at = 0;
    while at < known.len() {
        table[at] = known[at];
        at += 1;
    }
    table
};

/// Something after the operands, packed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Modifier(u32);

impl Modifier {
    pub(crate) const fn new(kind: ModifierKind, offset: u8, count: u8, extra: u8) -> Modifier {
        Modifier(kind as u32 | (offset as u32) << 8 | (count as u32) << 16 | (extra as u32) << 24)
    }

    #[inline]
    pub(crate) const fn kind(self) -> ModifierKind {
        MODIFIER_KINDS[(self.0 & 0xff) as usize & 31]
    }

    /// First bit in the word.
    #[inline]
    pub(crate) const fn offset(self) -> u32 {
        self.0 >> 8 & 0xff
    }

    /// Bits in the word.
    #[inline]
    pub(crate) const fn count(self) -> u32 {
        self.0 >> 16 & 0xff
    }

    /// By kind.
    #[inline]
    pub(crate) const fn extra(self) -> u32 {
        self.0 >> 24
    }
}
