//! The shapes of the generated tables.

use crate::Generation;
use crate::generated::field::Field;
use crate::generated::op::{self, Op};
use crate::generated::syntax::SYNTAXES;
use crate::generated::{check, group, layout, mnemonic, operand};
use crate::syntax::Syntax;

/// One generation's tables.
#[derive(Debug)]
pub(crate) struct Tables {
    pub(crate) generation: Generation,
    /// Opcode space of bits 31:23 of the first dword; 255 is reserved.
    pub(crate) prefixes: &'static [u8; 512],
    pub(crate) spaces: &'static [Space],
    pub(crate) rows: &'static [Row],
    pub(crate) encodings: &'static [EncodingInfo],
    pub(crate) sources: &'static [Source; 256],
}

/// Facts about a generation that are there whether its tables are compiled in or not.
#[derive(Debug)]
pub(crate) struct GenerationFacts {
    pub(crate) name: &'static str,
    pub(crate) title: &'static str,
    /// LLVM processor and ELF machine number.
    pub(crate) targets: &'static [(&'static str, u32)],
    pub(crate) waves: &'static [u32],
}

/// The rows that share a prefix.
#[derive(Debug)]
pub(crate) struct Space {
    /// Shift, mask and place of each part of the index.
    key: [(u8, u8, u16); 3],
    pub(crate) base: u16,
    pub(crate) len: u16,
    /// Space of the Y half of a dual-issue word, or 255.
    pub(crate) pair: u8,
    pub(crate) class: Class,
    /// Shift and mask of the number of extra address dwords.
    extra: (u8, u8),
}

impl Space {
    /// `key`: bit ranges (offset, count) that form the index, least significant first; unused ones have count 0.
    pub(crate) const fn new(key: [(u8, u8); 3], base: u16, len: u16, pair: u8, class: Class, extra: (u8, u8)) -> Space {
        let [(o0, c0), (o1, c1), (o2, c2)] = key;
        let key = [(o0, 0, part_mask(c0)), (o1, c0, part_mask(c1)), (o2, c0 + c1, part_mask(c2))];
        Space { key, base, len, pair, class, extra: (extra.0, part_mask(extra.1) as u8) }
    }

    /// Index into the generation's rows for a word, or none for an opcode above the last.
    #[inline]
    pub(crate) fn index(&self, word: u64) -> Option<usize> {
        let part = |(shift, place, mask): (u8, u8, u16)| ((word >> shift) as u32 & u32::from(mask)) << place;
        let mut key = part(self.key[0]);
        if self.key[1].2 != 0 {
            key |= part(self.key[1]) | part(self.key[2]);
        }
        (key < u32::from(self.len)).then_some(usize::from(self.base) + key as usize)
    }

    /// The bits that give an index relative to the space's first row.
    #[cfg(feature = "asm")]
    pub(crate) fn word(&self, key: u16) -> u64 {
        self.key.iter().fold(0, |word, &(shift, place, mask)| word | u64::from(key >> place & mask) << shift)
    }

    /// Dwords of addresses behind an image instruction.
    #[inline]
    pub(crate) fn extra_dwords(&self, word: u32) -> usize {
        (word >> self.extra.0) as usize & usize::from(self.extra.1)
    }
}

const fn part_mask(count: u8) -> u16 {
    ((1u32 << count) - 1) as u16
}

/// A field whose value may be reserved.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Check {
    /// Bits of the field, moved down; 0 ends a list.
    mask: u16,
    word: u8,
    shift: u8,
    scale: u8,
    /// Index of the set of allowed values.
    set: u8,
    source: u8,
}

impl Check {
    pub(crate) const END: Check = Check { mask: 0, word: 0, shift: 0, scale: 0, set: 0, source: 3 };

    pub(crate) const fn new(word: u8, shift: u8, count: u8, scale: u8, set: u8, source: u8) -> Check {
        Check { mask: part_mask(count), word, shift, scale, set, source }
    }

    #[inline]
    pub(crate) const fn is_end(self) -> bool {
        self.mask == 0
    }

    /// The field's value in the words; such a field lies within one of the first four.
    #[inline]
    pub(crate) const fn value(self, words: &[u32; 5]) -> u32 {
        ((words[self.word as usize & 3] >> (self.shift & 31)) & self.mask as u32) << (self.scale & 3)
    }

    /// `SRC1` is source 1; 3 for what is no literal-capable source.
    #[inline]
    pub(crate) const fn source(self) -> u32 {
        self.source as u32
    }

    /// Whether the value is allowed; a literal is not.
    #[inline]
    pub(crate) const fn allows(self, value: u32) -> bool {
        check::MASKS[self.set as usize][(value >> 6) as usize & 7] >> (value & 63) & 1 != 0
    }
}

/// Where an encoding keeps the sources that select literals and variants.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(dead_code)] // Not every generation has each.
pub(crate) enum Class {
    Plain,
    Scalar,
    Vop,
    Vop3,
    Vopd,
    Mimg,
}

/// An instruction in one base encoding, packed. The first word is what decoding needs; zero is a reserved opcode.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Row(pub(crate) u64, pub(crate) u64);

impl Row {
    #[inline]
    const fn hot(self, at: u32, count: u32) -> u64 {
        (self.0 >> at) & ((1 << count) - 1)
    }

    #[inline]
    const fn cold(self, at: u32, count: u32) -> u64 {
        (self.1 >> at) & ((1 << count) - 1)
    }

    #[inline]
    pub(crate) const fn is_reserved(self) -> bool {
        self.0 == 0
    }

    #[inline]
    pub(crate) const fn op(self) -> Op {
        op::ALL[self.hot(0, 13) as usize]
    }

    /// Index into the generation's encodings.
    #[inline]
    pub(crate) const fn encoding(self) -> usize {
        self.hot(13, 7) as usize
    }

    #[inline]
    pub(crate) fn operands(self) -> &'static [OperandDesc] {
        let list = &operand::LISTS[self.hot(20, 13) as usize];
        &operand::OPERANDS[usize::from(list.start)..][..usize::from(list.len)]
    }

    /// Whether only literals make the instruction longer than its base form, DPP and SDWA forms aside.
    #[inline]
    pub(crate) const fn is_simple(self) -> bool {
        self.0 >> 63 == 0
    }

    /// The fields to check; a zero ends them.
    #[inline]
    pub(crate) const fn checks(self) -> &'static [Check; 6] {
        &check::LISTS[self.hot(51, 12) as usize]
    }

    /// Length of the base form in dwords.
    #[inline]
    pub(crate) const fn dwords(self) -> usize {
        self.hot(33, 3) as usize
    }

    /// Sources that may be a 32-bit literal, bit 0 for source 0.
    #[inline]
    pub(crate) const fn literals(self) -> u8 {
        self.hot(36, 3) as u8
    }

    #[inline]
    pub(crate) const fn literal64(self) -> bool {
        self.hot(39, 1) != 0
    }

    #[inline]
    pub(crate) const fn dpp16(self) -> bool {
        self.hot(40, 1) != 0
    }

    #[inline]
    pub(crate) const fn dpp8(self) -> bool {
        self.hot(41, 1) != 0
    }

    #[inline]
    pub(crate) const fn sdwa(self) -> bool {
        self.hot(42, 1) != 0
    }

    /// Dwords of the literal that always follows.
    #[inline]
    pub(crate) const fn mandatory(self) -> usize {
        self.hot(43, 2) as usize
    }

    /// Space of the second half, where this is the first half of a pair.
    #[inline]
    pub(crate) const fn prefix_of(self) -> Option<usize> {
        (self.hot(45, 6) as usize).checked_sub(1)
    }

    /// LLVM's mnemonic without a suffix.
    #[inline]
    pub(crate) fn mnemonic(self) -> &'static str {
        let offset = self.cold(0, 20) as usize;
        &mnemonic::POOL[offset..offset + self.cold(20, 6) as usize]
    }

    #[inline]
    pub(crate) fn syntax(self) -> &'static Syntax {
        &SYNTAXES[self.cold(43, 13) as usize]
    }

    pub(crate) const fn group(self) -> &'static str {
        group::GROUPS[self.cold(26, 5) as usize]
    }

    pub(crate) const fn subgroup(self) -> &'static str {
        group::SUBGROUPS[self.cold(31, 7) as usize]
    }

    pub(crate) const fn flags(self) -> Flags {
        Flags(self.cold(38, 5) as u8)
    }
}

/// What AMD says of an instruction's control flow (`InstructionFlags`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Flags(u8);

impl Flags {
    /// `IsBranch`
    pub const fn is_branch(self) -> bool {
        self.0 & 1 != 0
    }

    /// `IsConditionalBranch`
    pub const fn is_conditional_branch(self) -> bool {
        self.0 & 2 != 0
    }

    /// `IsIndirectBranch`
    pub const fn is_indirect_branch(self) -> bool {
        self.0 & 4 != 0
    }

    /// `IsProgramTerminator`
    pub const fn is_program_terminator(self) -> bool {
        self.0 & 8 != 0
    }

    /// `IsImmediatelyExecuted`: done by the sequencer, never issued.
    pub const fn is_immediately_executed(self) -> bool {
        self.0 & 16 != 0
    }
}

/// Variants of an encoding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Form {
    /// As it is.
    Base,
    /// With a 32-bit literal.
    Literal,
    /// With a 64-bit literal.
    Literal64,
    /// With a DPP16 dword (DPP on CDNA 1 to 4).
    Dpp16,
    /// With a DPP8 dword.
    Dpp8,
    /// With an SDWA dword.
    Sdwa,
    /// With one to three dwords of addresses.
    Nsa,
}

impl Form {
    #[inline]
    pub(crate) const fn from_bits(bits: u8) -> Form {
        match bits {
            0 => Form::Base,
            1 => Form::Literal,
            2 => Form::Literal64,
            3 => Form::Dpp16,
            4 => Form::Dpp8,
            5 => Form::Sdwa,
            _ => Form::Nsa,
        }
    }
}

/// An encoding of AMD's XML.
#[derive(Debug)]
pub(crate) struct EncodingInfo {
    pub(crate) name: &'static str,
    /// Index of the encoding that this is a variant of; its own index otherwise.
    pub(crate) base: u8,
    pub(crate) form: Form,
    pub(crate) bits: u16,
    pub(crate) mask: u128,
    /// Value of the masked bits without the opcode.
    pub(crate) fixed: u128,
    pub(crate) order: i16,
    pub(crate) layout: u16,
}

impl EncodingInfo {
    pub(crate) const fn layout(&self) -> &'static Layout {
        &layout::LAYOUTS[self.layout as usize]
    }
}

/// Fields of an encoding, from the high bit down.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Layout {
    pub(crate) fields: &'static [FieldLayout],
}

/// Where a field is.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct FieldLayout {
    /// AMD's name in this generation.
    pub(crate) name: &'static str,
    pub(crate) field: Field,
    /// Offset and count of each range, least significant bits of the value first.
    pub(crate) ranges: &'static [(u8, u8)],
}

/// An operand, packed.
#[derive(Debug, Clone, Copy)]
pub(crate) struct OperandDesc(pub(crate) u64);

impl OperandDesc {
    #[inline]
    const fn bits(self, at: u32, count: u32) -> u64 {
        (self.0 >> at) & ((1 << count) - 1)
    }

    pub(crate) const fn field(self) -> Option<Field> {
        match self.bits(0, 8) {
            0xff => None,
            index => Some(crate::generated::field::ALL[index as usize]),
        }
    }

    #[inline]
    pub(crate) const fn offset(self) -> u32 {
        self.bits(8, 8) as u32
    }

    /// Bits of the field; 0 for operands that are not in the word.
    #[inline]
    pub(crate) const fn count(self) -> u32 {
        self.bits(16, 7) as u32
    }

    #[inline]
    pub(crate) const fn scale(self) -> u32 {
        self.bits(23, 2) as u32
    }

    #[inline]
    pub(crate) const fn ty(self) -> &'static OperandType {
        &operand::TYPES[self.bits(25, 9) as usize]
    }

    pub(crate) const fn format(self) -> &'static DataFormat {
        &operand::FORMATS[self.bits(34, 9) as usize]
    }

    /// Size of the data in bits.
    #[inline]
    pub(crate) const fn size(self) -> u32 {
        self.bits(43, 12) as u32
    }

    #[inline]
    pub(crate) const fn is_input(self) -> bool {
        self.bits(55, 1) != 0
    }

    #[inline]
    pub(crate) const fn is_output(self) -> bool {
        self.bits(56, 1) != 0
    }

    #[inline]
    pub(crate) const fn is_implicit(self) -> bool {
        self.bits(57, 1) != 0
    }

    /// `SRC1` is source 1; 3 for what is no literal-capable source.
    #[inline]
    pub(crate) const fn source(self) -> u8 {
        self.bits(58, 2) as u8
    }

    /// A lane mask: as wide as the wave, whatever size AMD gives.
    #[inline]
    pub(crate) const fn is_mask(self) -> bool {
        self.bits(60, 1) != 0
    }
}

/// A run of [`OperandDesc`]s.
#[derive(Debug)]
pub(crate) struct OperandList {
    pub(crate) start: u16,
    pub(crate) len: u8,
}

/// An operand type of AMD's XML.
#[derive(Debug)]
pub(crate) struct OperandType {
    pub(crate) name: &'static str,
    pub(crate) kind: Kind,
    pub(crate) runs: &'static [Run],
    /// Bit fields of a structured immediate: name, offset, count.
    pub(crate) fields: &'static [(&'static str, u8, u8)],
    /// Named values of those fields: index of the field, value, name.
    pub(crate) field_values: &'static [(u8, u16, &'static str)],
}

/// Consecutive values whose names are numbered.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) name: &'static str,
    pub(crate) number: i16,
    /// What the number changes by from value to value; 0: the name has no number.
    pub(crate) step: i8,
    pub(crate) value: u16,
    pub(crate) count: u16,
}

impl Run {
    pub(crate) const fn new(name: &'static str, number: i16, step: i8, value: u16, count: u16) -> Run {
        Run { name, number, step, value, count }
    }
}

/// What the values of an operand type are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Source,
    Vgpr,
    VgprOrAcc,
    Acc,
    SourceOrAcc,
    SourceAcc,
    Immediate,
    Label,
    Packed,
    Named,
    Implicit,
}

/// A format of data.
#[derive(Debug, PartialEq, Eq)]
pub struct DataFormat {
    /// AMD's name, for example `FMT_NUM_F32`.
    pub name: &'static str,
    /// AMD's kind of data, for example `float`.
    pub data_type: &'static str,
    /// Size in bits, all components together.
    pub bits: u32,
    /// Number of components.
    pub components: u32,
}

/// What a source value from 0 to 255 selects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Source {
    Reserved,
    Sgpr(u8),
    Ttmp(u8),
    Int(i8),
    Float(Float),
    Special(Special),
    Literal,
    Literal64,
}

/// Consecutive source values.
pub(crate) struct SourceRun {
    pub(crate) first: u8,
    pub(crate) count: u16,
    pub(crate) step: i8,
    pub(crate) source: Source,
}

/// Expands runs to the map.
pub(crate) const fn source_map(runs: &[SourceRun]) -> [Source; 256] {
    let mut map = [Source::Reserved; 256];
    let mut at = 0;
    while at < runs.len() {
        let run = &runs[at];
        let mut n = 0;
        while n < run.count {
            map[run.first as usize + n as usize] = match run.source {
                Source::Sgpr(first) => Source::Sgpr(first + n as u8),
                Source::Ttmp(first) => Source::Ttmp(first + n as u8),
                Source::Int(first) => Source::Int(first + run.step * n as i8),
                other => other,
            };
            n += 1;
        }
        at += 1;
    }
    map
}

/// Inline floating-point constants.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Float {
    /// 0.5
    Half,
    /// -0.5
    NegHalf,
    /// 1.0
    One,
    /// -1.0
    NegOne,
    /// 2.0
    Two,
    /// -2.0
    NegTwo,
    /// 4.0
    Four,
    /// -4.0
    NegFour,
    /// 1/(2π), rounded to the operand's format
    InvTwoPi,
}

/// Registers with names of their own, and values that read like registers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs)] // The names are the assembler's.
pub enum Special {
    VccLo,
    VccHi,
    ExecLo,
    ExecHi,
    M0,
    Null,
    FlatScratchLo,
    FlatScratchHi,
    XnackMaskLo,
    XnackMaskHi,
    TbaLo,
    TbaHi,
    TmaLo,
    TmaHi,
    SharedBase,
    SharedLimit,
    PrivateBase,
    PrivateLimit,
    FlatScratchBaseLo,
    FlatScratchBaseHi,
    PopsExitingWaveId,
    Vccz,
    Execz,
    Scc,
    LdsDirect,
}
