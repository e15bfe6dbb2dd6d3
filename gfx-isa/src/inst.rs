//! A decoded instruction.

use core::fmt;
use core::hash::{Hash, Hasher};

use crate::generated::field::{self, Field};
use crate::generated::op::{self, Op};
use crate::table::{EncodingInfo, Flags, Form, OperandDesc, Row, Tables};
use crate::view::get_bits;
use crate::{Generation, Operand, OperandRef};

impl Op {
    /// Every instruction of every generation.
    pub const fn all() -> &'static [Op] {
        &op::ALL
    }

    /// AMD's name, upper case.
    pub const fn name(self) -> &'static str {
        op::NAMES[self as usize]
    }

    /// The instruction with AMD's name, in any case.
    pub fn from_name(name: &str) -> Option<Op> {
        let upper = |byte: u8| byte.to_ascii_uppercase();
        let found = op::NAMES.binary_search_by(|known| known.bytes().cmp(name.bytes().map(upper)));
        found.ok().map(|at| op::ALL[at])
    }

    /// The instructions that some generation knows under this other name, in any case.
    pub fn from_alias(name: &str) -> impl Iterator<Item = Op> {
        op::ALIASES.iter().filter(move |(alias, _)| alias.eq_ignore_ascii_case(name)).map(|&(_, op)| op)
    }

    /// Other names of the instruction.
    pub fn aliases(self) -> impl Iterator<Item = &'static str> {
        op::ALIASES.iter().filter(move |&&(_, op)| op == self).map(|&(alias, _)| alias)
    }
}

impl fmt::Display for Op {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl Field {
    /// Every field of every encoding.
    pub const fn all() -> &'static [Field] {
        &field::ALL
    }

    /// The name, upper case.
    pub const fn name(self) -> &'static str {
        field::NAMES[self as usize]
    }
}

/// A decoded instruction: its words and the row of the tables that describes it. Fields are read when asked for.
#[derive(Clone, Copy)]
pub struct Inst {
    words: [u32; 5],
    /// Index into the generation's rows.
    row: u16,
    /// Bits 2:0 length in dwords, 5:3 [`Form`], 6 wave64.
    shape: u8,
    tables: &'static Tables,
}

const _: () = assert!(size_of::<Inst>() <= 32);

impl PartialEq for Inst {
    fn eq(&self, other: &Self) -> bool {
        self.words() == other.words()
            && (self.row, self.shape, self.generation()) == (other.row, other.shape, other.generation())
    }
}

impl Eq for Inst {}

impl Hash for Inst {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.words().hash(state);
        (self.generation(), self.shape).hash(state);
    }
}

impl fmt::Debug for Inst {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Inst({} {} {:?} {:08x?})", self.generation().name(), self.op(), self.form(), self.words())
    }
}

impl Inst {
    /// `words` may hold what follows the instruction.
    #[inline]
    pub(crate) fn new(
        tables: &'static Tables,
        row: usize,
        words: [u32; 5],
        dwords: usize,
        form: Form,
        wave64: bool,
    ) -> Inst {
        Inst { words, row: row as u16, shape: dwords as u8 | (form as u8) << 3 | u8::from(wave64) << 6, tables }
    }

    #[inline]
    pub(crate) fn row(&self) -> Row {
        self.tables.rows[usize::from(self.row)]
    }

    #[inline]
    pub(crate) fn tables(&self) -> &'static Tables {
        self.tables
    }

    /// The instruction, by AMD's name; of a dual-issue word the X half.
    #[inline]
    pub fn op(&self) -> Op {
        self.row().op()
    }

    /// The Y half of a dual-issue word.
    pub fn op_y(&self) -> Option<Op> {
        self.row_y().map(Row::op)
    }

    pub(crate) fn row_y(&self) -> Option<Row> {
        let space = &self.tables.spaces[usize::from(self.tables.prefixes[(self.words[0] >> 23) as usize])];
        let pair = self.tables.spaces.get(usize::from(space.pair))?;
        Some(self.tables.rows[pair.index(self.first_words())?])
    }

    #[inline]
    pub(crate) fn first_words(&self) -> u64 {
        u64::from(self.words[1]) << 32 | u64::from(self.words[0])
    }

    /// The generation it was decoded for.
    #[inline]
    pub fn generation(&self) -> Generation {
        self.tables.generation
    }

    /// Lanes of the wave it was decoded for: 32 or 64.
    #[inline]
    pub fn wave_size(&self) -> u32 {
        if self.shape & 0x40 != 0 { 64 } else { 32 }
    }

    /// Length in bytes.
    #[inline]
    #[allow(clippy::len_without_is_empty)]
    pub fn len(&self) -> usize {
        usize::from(self.shape & 7) * 4
    }

    /// The encoded dwords.
    #[inline]
    pub fn words(&self) -> &[u32] {
        &self.words[..usize::from(self.shape & 7)]
    }

    /// Which variant of its encoding it is.
    #[inline]
    pub fn form(&self) -> Form {
        Form::from_bits(self.shape >> 3 & 7)
    }

    pub(crate) fn encoding_info(&self) -> &'static EncodingInfo {
        &self.tables.encodings[self.row().encoding()]
    }

    /// AMD's name of the base encoding, for example `ENC_VOP3`.
    pub fn encoding(&self) -> &'static str {
        self.encoding_info().name
    }

    /// LLVM's mnemonic without the suffix that names the encoding.
    pub fn mnemonic(&self) -> &'static str {
        self.row().mnemonic()
    }

    /// LLVM's mnemonic of the Y half of a dual-issue word.
    pub fn mnemonic_y(&self) -> Option<&'static str> {
        self.row_y().map(Row::mnemonic)
    }

    /// AMD's functional group, for example `VALU`.
    pub fn group(&self) -> &'static str {
        self.row().group()
    }

    /// AMD's flags.
    pub fn flags(&self) -> Flags {
        self.row().flags()
    }

    /// The value of a field of the base encoding; none where the encoding does not have it.
    pub fn field(&self, field: Field) -> Option<u32> {
        let mut found = None;
        let mut at = 0;
        // A split field may be several fields of one canonical name, the high bits last by name order.
        for place in self.encoding_info().layout().fields.iter().filter(|f| f.field == field) {
            for &(offset, count) in place.ranges {
                let bits = get_bits(&self.words, u32::from(offset), u32::from(count));
                found = Some(found.unwrap_or(0) | bits << at);
                at += u32::from(count);
            }
        }
        found
    }

    /// The 32-bit literal that follows the base form; of a 64-bit literal the low half.
    pub fn literal(&self) -> Option<u32> {
        self.has_literal().then(|| self.words[self.row().dwords()])
    }

    /// The 64-bit literal that follows the base form.
    pub fn literal64(&self) -> Option<u64> {
        let at = self.row().dwords();
        let is = self.form() == Form::Literal64 || self.row().mandatory() == 2;
        is.then(|| u64::from(self.words[at + 1]) << 32 | u64::from(self.words[at]))
    }

    fn has_literal(&self) -> bool {
        matches!(self.form(), Form::Literal | Form::Literal64) || self.row().mandatory() != 0
    }

    /// The DPP16 (DPP) dword.
    pub fn dpp16(&self) -> Option<Dpp16> {
        (self.form() == Form::Dpp16).then(|| Dpp16(self.words[self.row().dwords()]))
    }

    /// The DPP8 dword.
    pub fn dpp8(&self) -> Option<Dpp8> {
        (self.form() == Form::Dpp8).then(|| {
            let selector = if self.row().dwords() == 1 { self.words[0] } else { self.words[1] };
            Dpp8 { word: self.words[self.row().dwords()], fetch_inactive: selector & 0x1ff == 234 }
        })
    }

    /// The SDWA dword.
    pub fn sdwa(&self) -> Option<Sdwa> {
        (self.form() == Form::Sdwa).then(|| Sdwa(self.words[self.row().dwords()]))
    }

    /// The operands in AMD's order, those of the X half before those of the Y half, implicit ones included.
    pub fn operands(&self) -> impl Iterator<Item = OperandRef> + '_ {
        let y = self.row_y().map_or(&[][..], Row::operands);
        self.row().operands().iter().chain(y).map(|desc| OperandRef::new(self, *desc))
    }

    /// The explicit operand that a field holds.
    pub fn operand(&self, field: Field) -> Option<Operand> {
        self.operands().find(|operand| operand.field() == Some(field)).map(|operand| operand.value())
    }

    /// Up to 32 bits of the words.
    #[inline]
    pub(crate) fn bits(&self, offset: u32, count: u32) -> u32 {
        get_bits(&self.words, offset, count)
    }

    /// The value of an operand's field, from the word.
    #[inline]
    pub(crate) fn raw(&self, desc: OperandDesc) -> u32 {
        match desc.count() {
            0 => 0,
            count => get_bits(&self.words, desc.offset(), count.min(32)),
        }
    }
}

/// The dword of a DPP16 form (DPP on CDNA 1 to 4): a lane permutation of source 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Dpp16(pub u32);

impl Dpp16 {
    /// VGPR number of source 0.
    pub const fn vsrc0(self) -> u8 {
        self.0 as u8
    }

    /// The permutation, 9 bits.
    pub const fn ctrl(self) -> u16 {
        (self.0 >> 8 & 0x1ff) as u16
    }

    /// Read inactive lanes (`fi`); RDNA and CDNA 5.
    pub const fn fetch_inactive(self) -> bool {
        self.0 >> 18 & 1 != 0
    }

    /// Lanes outside the row give 0 instead of leaving the destination (`bound_ctrl`).
    pub const fn bound_ctrl(self) -> bool {
        self.0 >> 19 & 1 != 0
    }

    /// Negate source 0 and source 1, bits 0 and 1; not of VOP3 forms.
    pub const fn neg(self) -> u8 {
        (self.0 >> 20 & 1 | (self.0 >> 22 & 1) << 1) as u8
    }

    /// Absolute value of source 0 and source 1, bits 0 and 1; not of VOP3 forms.
    pub const fn abs(self) -> u8 {
        (self.0 >> 21 & 1 | (self.0 >> 23 & 1) << 1) as u8
    }

    /// Banks (groups of 4 lanes within each row) that are written, 4 bits.
    pub const fn bank_mask(self) -> u8 {
        (self.0 >> 24 & 15) as u8
    }

    /// Rows of 16 lanes that are written, 4 bits.
    pub const fn row_mask(self) -> u8 {
        (self.0 >> 28) as u8
    }
}

/// The dword of a DPP8 form: eight lane selectors.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Dpp8 {
    word: u32,
    fetch_inactive: bool,
}

impl Dpp8 {
    /// VGPR number of source 0.
    pub const fn vsrc0(self) -> u8 {
        self.word as u8
    }

    /// For each lane of a group of eight the lane that it reads, 0 to 7.
    pub const fn lanes(self) -> [u8; 8] {
        let mut lanes = [0; 8];
        let mut at = 0;
        while at < 8 {
            lanes[at] = (self.word >> (8 + 3 * at) & 7) as u8;
            at += 1;
        }
        lanes
    }

    /// Read inactive lanes (`fi`).
    pub const fn fetch_inactive(self) -> bool {
        self.fetch_inactive
    }
}

/// The dword of an SDWA form: parts of dwords as operands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Sdwa(pub u32);

impl Sdwa {
    /// Register number of source 0: a VGPR, or a scalar source where [`Sdwa::s0`] is set.
    pub const fn src0(self) -> u8 {
        self.0 as u8
    }

    /// Part of the destination that is written (`DST_SEL`): byte 0 to 3, word 4 and 5, dword 6. Not of compares.
    pub const fn dst_sel(self) -> u8 {
        (self.0 >> 8 & 7) as u8
    }

    /// What becomes of the rest (`DST_UNUSED`): 0 zero, 1 sign extension, 2 preserved. Not of compares.
    pub const fn dst_unused(self) -> u8 {
        (self.0 >> 11 & 3) as u8
    }

    /// Clamp the result. Not of compares.
    pub const fn clamp(self) -> bool {
        self.0 >> 13 & 1 != 0
    }

    /// Output modifier. Not of compares.
    pub const fn omod(self) -> u8 {
        (self.0 >> 14 & 3) as u8
    }

    /// Scalar destination of a compare (`SDST`); none: VCC.
    pub const fn sdst(self) -> Option<u8> {
        if self.0 >> 15 & 1 != 0 { Some((self.0 >> 8 & 0x7f) as u8) } else { None }
    }

    /// Part of source 0 that is read.
    pub const fn src0_sel(self) -> u8 {
        (self.0 >> 16 & 7) as u8
    }

    /// Part of source 1 that is read.
    pub const fn src1_sel(self) -> u8 {
        (self.0 >> 24 & 7) as u8
    }

    /// Sign-extend source 0 and source 1, bits 0 and 1.
    pub const fn sext(self) -> u8 {
        (self.0 >> 19 & 1 | (self.0 >> 27 & 1) << 1) as u8
    }

    /// Negate source 0 and source 1, bits 0 and 1.
    pub const fn neg(self) -> u8 {
        (self.0 >> 20 & 1 | (self.0 >> 28 & 1) << 1) as u8
    }

    /// Absolute value of source 0 and source 1, bits 0 and 1.
    pub const fn abs(self) -> u8 {
        (self.0 >> 21 & 1 | (self.0 >> 29 & 1) << 1) as u8
    }

    /// Source 0 is a scalar source.
    pub const fn s0(self) -> bool {
        self.0 >> 23 & 1 != 0
    }

    /// Source 1 is a scalar source.
    pub const fn s1(self) -> bool {
        self.0 >> 31 != 0
    }
}
