//! What the generated files hold, before it is text: every table interned, in its final order, with final indices.

use std::collections::BTreeMap;

/// Everything that the generated files hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ir {
    /// In the order of `data/sources.toml`.
    pub generations: Vec<Generation>,
    /// AMD's instruction names over all generations, sorted; the index is the `Op`.
    pub ops: Vec<String>,
    /// LLVM's base mnemonics, sorted; rows refer to them by index.
    pub mnemonics: Vec<String>,
    /// Canonical field names, sorted; the index is the `Field`.
    pub fields: Vec<String>,
    /// Field layouts of encodings, interned.
    pub layouts: Vec<Layout>,
    /// Operand types, interned over generations.
    pub operand_types: Vec<OperandType>,
    /// Data formats, interned over generations.
    pub formats: Vec<Format>,
    /// Operands of all lists, one list after the other.
    pub operands: Vec<Operand>,
    /// First operand and length of each list; the first list is empty.
    pub lists: Vec<(u16, u8)>,
    /// Functional groups, sorted.
    pub groups: Vec<String>,
    /// Functional subgroups, sorted.
    pub subgroups: Vec<String>,
    /// Names of other generations or assemblers: alias and the `Op` it means, sorted.
    pub aliases: Vec<(String, u16)>,
    /// Slots of all syntaxes, one list after the other.
    pub slots: Vec<Slot>,
    /// Modifiers of all syntaxes, one list after the other.
    pub modifiers: Vec<Modifier>,
    /// Assembly syntaxes; rows refer to them by index.
    pub syntaxes: Vec<Syntax>,
}

/// The assembly syntax of a row. Kinds are the names of the runtime's enum variants.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Syntax {
    /// First of [`Ir::slots`] and how many.
    pub slots: (u16, u8),
    /// First of [`Ir::modifiers`] and how many.
    pub modifiers: (u16, u8),
    /// `Family`
    pub family: &'static str,
    /// `Suffix`
    pub suffix: &'static str,
}

/// What is written between commas.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Slot {
    /// `SlotKind`
    pub kind: &'static str,
    /// First bit.
    pub offset: u8,
    /// Number of bits.
    pub count: u8,
    /// The register number is the field's value shifted left by this.
    pub scale: u8,
    /// Registers.
    pub dwords: u8,
    /// `Value`
    pub value: &'static str,
    /// Number of the source; 3: the destination; 7: neither.
    pub source: u8,
    /// `Mods`
    pub mods: &'static str,
    /// `Half`
    pub half: &'static str,
    /// Bit that makes the register an AGPR; 0: never; 255: always.
    pub acc: u8,
    /// A bit that says whether the slot is written, by kind.
    pub returns: u8,
    /// By kind.
    pub extra: u8,
}

/// What is written after the operands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Modifier {
    /// `ModifierKind`
    pub kind: &'static str,
    /// First bit.
    pub offset: u8,
    /// Number of bits.
    pub count: u8,
    /// By kind.
    pub extra: u8,
}

/// One generation's tables.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Generation {
    /// `rdna4`
    pub name: String,
    /// `RDNA 4`
    pub title: String,
    /// sha256 of the XML.
    pub sha256: String,
    /// `SchemaVersion` and `ReleaseDate` of the XML.
    pub origin: String,
    /// LLVM processors and their ELF machine numbers.
    pub targets: Vec<(String, u32)>,
    /// Wave sizes, the default first.
    pub waves: Vec<u32>,
    /// Opcode space of each value of bits 31:23 of the first dword; `None` is reserved.
    pub prefixes: Vec<Option<u8>>,
    /// Opcode spaces.
    pub spaces: Vec<Space>,
    /// Rows of all spaces, one space after the other, indexed by key; `None` is reserved.
    pub rows: Vec<Option<Row>>,
    /// All encodings of the XML, in its order.
    pub encodings: Vec<Encoding>,
    /// Meaning of source operand values 0 to 255; `None` is reserved.
    pub sources: Vec<Option<Source>>,
}

/// The rows that share a prefix.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Space {
    /// Bit ranges (offset, count) whose bits, least significant range first, index the rows.
    pub key: Vec<(u8, u8)>,
    /// Index of the row of key 0 in [`Generation::rows`].
    pub base: u16,
    /// Number of rows.
    pub len: u16,
    /// The space of the Y half, for dual-issue encodings.
    pub pair: Option<u8>,
    /// How the decoder finds literals and variants.
    pub class: Class,
    /// Offset and count of the number of extra address dwords; (0, 0) where there is none.
    pub extra: (u8, u8),
}

/// Where an encoding keeps the sources that select literals and variants.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Class {
    /// No variants: the row alone gives the length.
    Plain,
    /// 8-bit scalar sources: literals.
    Scalar,
    /// `SRC0` in bits 8:0: literals, DPP, SDWA.
    Vop,
    /// `SRC0` in bits 40:32: literals, DPP.
    Vop3,
    /// Two operations in one word.
    Vopd,
    /// A count of extra address dwords.
    Mimg,
}

/// An instruction in one base encoding with the variants that it has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    /// Index into [`Ir::ops`].
    pub op: u16,
    /// Index into [`Generation::encodings`].
    pub encoding: u8,
    /// Index into [`Ir::lists`].
    pub list: u16,
    /// Length of the base form in dwords.
    pub dwords: u8,
    /// Sources (bit 0: first) that may be a 32-bit literal.
    pub literals: u8,
    /// A 64-bit literal is allowed.
    pub literal64: bool,
    /// Has a DPP16 (DPP on CDNA) form.
    pub dpp16: bool,
    /// Has a DPP8 form.
    pub dpp8: bool,
    /// Has an SDWA form.
    pub sdwa: bool,
    /// Always followed by a literal of this many dwords.
    pub mandatory: u8,
    /// The first half of a pair: the space of the second half.
    pub prefix_of: Option<u8>,
    /// Index into [`Ir::mnemonics`].
    pub mnemonic: u16,
    /// Index into [`Ir::syntaxes`].
    pub syntax: u16,
    /// Index into [`Ir::groups`].
    pub group: u8,
    /// Index into [`Ir::subgroups`].
    pub subgroup: u8,
    /// `InstructionFlags`, bit 0: branch, conditional branch, indirect branch, terminator, immediately executed.
    pub flags: u8,
}

/// An encoding of the XML.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Encoding {
    /// `ENC_VOP3`, `VOP3_INST_LITERAL`
    pub name: String,
    /// Name of the encoding that this one is a variant of; its own name otherwise.
    pub base: String,
    /// Which variant.
    pub form: Form,
    /// Width in bits.
    pub bits: u16,
    /// Bits that the identifiers fix.
    pub mask: u128,
    /// Value of those bits, without opcode.
    pub fixed: u128,
    /// AMD's decode order.
    pub order: i16,
    /// Index into [`Ir::layouts`].
    pub layout: u16,
    /// Name and opcode of each instruction, for the opcode constants; sorted by name, no repeats.
    pub opcodes: BTreeMap<String, u32>,
}

/// Variants of an encoding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Form {
    /// As it is.
    Base,
    /// With a 32-bit literal.
    Literal,
    /// With a 64-bit literal.
    Literal64,
    /// With a DPP16 (DPP) dword.
    Dpp16,
    /// With a DPP8 dword.
    Dpp8,
    /// With an SDWA dword.
    Sdwa,
    /// With one to three dwords of addresses.
    Nsa,
}

/// Offset and count of a run of bits.
pub type Range = (u8, u8);

/// AMD's name of a field, the index of its canonical name, and its ranges, least significant first.
pub type LayoutField = (String, u16, Vec<Range>);

/// Fields of an encoding.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Layout {
    /// From the high bit down.
    pub fields: Vec<LayoutField>,
}

/// One operand.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Operand {
    /// Index into [`Ir::fields`], for explicit operands.
    pub field: Option<u16>,
    /// First bit; 0 for implicit operands.
    pub offset: u8,
    /// Number of bits; 0 for implicit operands.
    pub count: u8,
    /// The register number is the field's value shifted left by this.
    pub scale: u8,
    /// Index into [`Ir::operand_types`].
    pub ty: u16,
    /// Index into [`Ir::formats`].
    pub format: u16,
    /// Size of the data in bits.
    pub size: u16,
    /// Read.
    pub input: bool,
    /// Written.
    pub output: bool,
    /// Not written in assembly.
    pub implicit: bool,
    /// Number of the source for literals: `SRC1` is 1.
    pub source: Option<u8>,
}

/// An operand type with its named values.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct OperandType {
    /// `OPR_SRC`
    pub name: String,
    /// What its values are.
    pub kind: Kind,
    /// Allowed values 0 to 511, one bit each. May be more than the named ones.
    pub valid: [u64; 8],
    /// Of scalar operands the values 0 to 127 where registers of 2, 4, 8 and 16 dwords may begin, one bit each.
    pub tuples: [[u64; 2]; 4],
    /// Runs of named values.
    pub runs: Vec<Run>,
    /// Bit fields of a partitioned type: name, offset, count.
    pub fields: Vec<(String, u8, u8)>,
    /// Named values of those fields: index of the field, value, name.
    pub field_values: Vec<(u8, u16, String)>,
}

/// Consecutive values with numbered names: `s0` to `s105`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Run {
    /// Name before the number, or the whole name where `count` is 1 and there is no number.
    pub name: String,
    /// First number, where the name has one.
    pub number: Option<i16>,
    /// First value.
    pub value: u16,
    /// Number of values.
    pub count: u16,
    /// Whether the numbers fall (inline constants -1 to -16).
    pub falling: bool,
}

/// What the values of an operand type are. The names are the variants of the runtime's `Kind`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// The source operand map.
    Source,
    /// A VGPR number.
    Vgpr,
    /// A VGPR or, by the encoding's ACC bits, an accumulation VGPR.
    VgprOrAcc,
    /// An accumulation VGPR.
    Acc,
    /// A source that is a VGPR or, by the ACC bits, an accumulation VGPR.
    SourceOrAcc,
    /// A source that is always an accumulation VGPR or a constant.
    SourceAcc,
    /// An unsigned number.
    Immediate,
    /// A branch offset in dwords.
    Label,
    /// A structured immediate, named by its operand type.
    Packed,
    /// A number with a name for each value.
    Named,
    /// Not in the word.
    Implicit,
}

/// A data format.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Format {
    /// `FMT_NUM_F32`
    pub name: String,
    /// `float`
    pub data_type: String,
    /// Size in bits, all components together.
    pub bits: u32,
    /// Number of components.
    pub components: u32,
}

/// Meaning of a source value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    /// SGPR number.
    Sgpr(u8),
    /// Trap temporary number.
    Ttmp(u8),
    /// Inline integer.
    Int(i8),
    /// A register, inline float or marker with a name of its own, canonical lower case.
    Special(String),
}
