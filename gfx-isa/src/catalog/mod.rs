//! What the tables say of each instruction, without a word to decode.

mod layout;
mod operand;

pub use layout::{BitRange, EncodingRef, FieldRef, LayoutPiece, LayoutPieces, Role};
pub use operand::{Accepts, OperandInfo, SubField, ValueRun};

use core::fmt;
use core::hash::{Hash, Hasher};

use crate::table::{Form, Row, Tables};
use crate::{Field, Flags, Generation, Op, Target};

/// Which half of a dual-issue word an instruction is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Half {
    /// The first, whose opcode is in `OPX`.
    X,
    /// The second, whose opcode is in `OPY`.
    Y,
}

impl Half {
    /// `X` or `Y`.
    pub const fn name(self) -> &'static str {
        match self {
            Half::X => "X",
            Half::Y => "Y",
        }
    }
}

/// An instruction in one encoding of one generation.
#[derive(Clone, Copy)]
pub struct InstructionInfo {
    tables: &'static Tables,
    row: Row,
    opcode: u32,
    half: Option<Half>,
}

impl Generation {
    /// Every instruction in each of its encodings, in the order of AMD's encodings and their opcodes. Variants (literal,
    /// DPP, SDWA) are part of their base encoding. Empty where the generation is not compiled in.
    pub fn instructions(self) -> impl Iterator<Item = InstructionInfo> + Clone {
        self.rows(|_| true)
    }

    /// One instruction in each of its encodings.
    pub fn instructions_of(self, op: Op) -> impl Iterator<Item = InstructionInfo> + Clone {
        self.rows(move |row| row.op() == op)
    }

    fn rows(self, wanted: impl Fn(Row) -> bool + Copy) -> impl Iterator<Item = InstructionInfo> + Clone {
        let tables = self.tables();
        tables.into_iter().flat_map(move |tables| {
            (0..tables.spaces.len()).flat_map(move |number| {
                let space = &tables.spaces[number];
                let rows = &tables.rows[usize::from(space.base)..][..usize::from(space.len)];
                let keys = rows.iter().zip(0..).filter(move |&(&row, _)| !row.is_reserved() && wanted(row));
                keys.filter_map(move |(&row, key)| InstructionInfo::new(tables, number, row, key))
            })
        })
    }

    /// Whether the generation has the instruction. `false` where the generation is not compiled in.
    pub fn has(self, op: Op) -> bool {
        self.instructions_of(op).next().is_some()
    }

    /// AMD's encodings in AMD's order, variants included. Empty where the generation is not compiled in.
    pub fn encodings(self) -> impl Iterator<Item = EncodingRef> + Clone {
        let tables = self.tables();
        tables.into_iter().flat_map(|tables| (0..tables.encodings.len()).map(|index| EncodingRef { tables, index }))
    }

    /// The encoding of this name, in any case and with or without `ENC_`.
    pub fn encoding(self, name: &str) -> Option<EncodingRef> {
        self.encodings().find(|encoding| encoding.is_named(name))
    }
}

impl InstructionInfo {
    fn new(tables: &'static Tables, number: usize, row: Row, key: u32) -> Option<InstructionInfo> {
        // The first half of a pair stands for no instruction; the pair's own space has it.
        if row.prefix_of().is_some() {
            return None;
        }
        let half = if tables.spaces.get(usize::from(tables.spaces[number].pair)).is_some() {
            Some(Half::X)
        } else if tables.spaces.iter().any(|other| usize::from(other.pair) == number) {
            Some(Half::Y)
        } else {
            None
        };
        let mut info = InstructionInfo { tables, row, opcode: 0, half };
        // Above the opcode the key may have the encoding's segment.
        let bits: u32 = info.encoding().opcode_ranges(half).map(|range| range.count).sum();
        info.opcode = key & !(u32::MAX << bits.min(31));
        Some(info)
    }

    /// The instruction.
    pub fn op(self) -> Op {
        self.row.op()
    }

    /// AMD's name.
    pub fn name(self) -> &'static str {
        self.op().name()
    }

    /// LLVM's mnemonic without the suffix that names the encoding.
    pub fn mnemonic(self) -> &'static str {
        self.row.mnemonic()
    }

    /// The generation.
    pub fn generation(self) -> Generation {
        self.tables.generation
    }

    /// The processors that have it.
    pub fn targets(self) -> impl Iterator<Item = Target> {
        self.generation().targets()
    }

    /// The half of a dual-issue word that it is; none for all other instructions.
    pub fn half(self) -> Option<Half> {
        self.half
    }

    /// The encoding. Of an instruction that always has a literal it is the variant with the literal.
    pub fn encoding(self) -> EncodingRef {
        let base = EncodingRef { tables: self.tables, index: self.row.encoding() };
        let form = match self.row.mandatory() {
            0 => return base,
            1 => Form::Literal,
            _ => Form::Literal64,
        };
        base.variants().find(|variant| variant.form() == form).unwrap_or(base)
    }

    /// The other forms that it has, each an encoding of its own: with a literal, DPP, SDWA, more addresses.
    pub fn variants(self) -> impl Iterator<Item = EncodingRef> + Clone {
        let own = self.encoding();
        let base = EncodingRef { tables: self.tables, index: self.row.encoding() };
        base.variants()
            .filter(move |variant| *variant != own && self.has_form(variant.form()) && self.has_destination(*variant))
    }

    /// VOP2 has two SDWA encodings: one with `SDST` for instructions that write a carry, one without for the others.
    fn has_destination(self, variant: EncodingRef) -> bool {
        let has_sdst = |encoding: EncodingRef| encoding.fields().any(|field| field.field() == Field::SDST);
        let siblings = variant.base().variants().filter(|other| other.form() == variant.form());
        if variant.form() != Form::Sdwa || siblings.count() == 1 {
            return true;
        }
        let carry = self.operands().any(|operand| operand.is_written() && operand.field_name() != Some(Field::VDST));
        has_sdst(variant) == carry
    }

    fn has_form(self, form: Form) -> bool {
        match form {
            Form::Base | Form::Nsa => true,
            // What always has a literal has no second one.
            Form::Literal => self.row.literals() != 0 && self.row.mandatory() == 0,
            Form::Literal64 => self.row.literal64() && self.row.mandatory() == 0,
            Form::Dpp16 => self.row.dpp16(),
            Form::Dpp8 => self.row.dpp8(),
            Form::Sdwa => self.row.sdwa(),
        }
    }

    /// The opcode.
    pub fn opcode(self) -> u32 {
        self.opcode
    }

    /// The bits that make a word this instruction: the encoding's fixed bits and the opcode.
    pub fn identifier(self) -> u128 {
        self.identifier_in(self.encoding())
    }

    /// Which bits of a word the identifier says.
    pub fn mask(self) -> u128 {
        self.mask_in(self.encoding())
    }

    /// The identifier in another of its forms, one of [`InstructionInfo::variants`].
    pub fn identifier_in(self, encoding: EncodingRef) -> u128 {
        encoding.fixed() | encoding.place_opcode(self.opcode, self.half)
    }

    /// The mask in another of its forms, one of [`InstructionInfo::variants`].
    pub fn mask_in(self, encoding: EncodingRef) -> u128 {
        let other = match self.half {
            Some(Half::X) => Some(Half::Y),
            Some(Half::Y) => Some(Half::X),
            None => None,
        };
        let foreign = other.map_or(0, |half| encoding.place_opcode(u32::MAX, Some(half)));
        (encoding.mask() & !foreign) | encoding.place_opcode(u32::MAX, self.half)
    }

    /// Every bit of the word, from the high bit down.
    pub fn layout(self) -> LayoutPieces {
        self.layout_in(self.encoding())
    }

    /// Every bit of the word in another of its forms, one of [`InstructionInfo::variants`].
    pub fn layout_in(self, encoding: EncodingRef) -> LayoutPieces {
        LayoutPieces::new(encoding, Some((self.identifier_in(encoding), self.mask_in(encoding))), self.half)
    }

    /// The operands in AMD's order, implicit ones included.
    pub fn operands(self) -> impl Iterator<Item = OperandInfo> + Clone {
        let literals = self.row.literals();
        let literal64 = self.row.literal64();
        let encoding = self.encoding();
        self.row.operands().iter().map(move |&desc| OperandInfo { desc, encoding, literals, literal64 })
    }

    /// AMD's functional group, for example `VALU`.
    pub fn group(self) -> &'static str {
        self.row.group()
    }

    /// AMD's functional subgroup, for example `FLOATING_POINT`; none where AMD gives none.
    pub fn subgroup(self) -> Option<&'static str> {
        Some(self.row.subgroup()).filter(|&subgroup| subgroup != "NOT_ASSIGNED")
    }

    /// AMD's flags.
    pub fn flags(self) -> Flags {
        self.row.flags()
    }
}

impl fmt::Debug for InstructionInfo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let half = self.half.map_or("", Half::name);
        let (generation, encoding) = (self.generation().name(), self.encoding().name());
        write!(f, "InstructionInfo({generation} {} {encoding}{half} {})", self.name(), self.opcode)
    }
}

impl PartialEq for InstructionInfo {
    fn eq(&self, other: &Self) -> bool {
        let key = |info: &Self| (info.generation(), info.row.encoding(), info.half, info.opcode);
        key(self) == key(other)
    }
}

impl Eq for InstructionInfo {}

impl Hash for InstructionInfo {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (self.generation(), self.row.encoding(), self.half, self.opcode).hash(state);
    }
}

/// The fields that hold an opcode, least significant first.
fn opcode_fields(half: Option<Half>) -> &'static [Field] {
    match half {
        None => &[Field::OP, Field::OPM],
        Some(Half::X) => &[Field::OPX],
        Some(Half::Y) => &[Field::OPY],
    }
}
