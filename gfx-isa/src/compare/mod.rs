//! What differs between generations: of one instruction, and of whole instruction sets.
//!
//! ```
//! use gfx_isa::{Generation, Op, compare};
//! # #[cfg(feature = "all-generations")] {
//! let msad = Generation::Cdna5.instructions_of(Op::V_MSAD_U8).next().expect("CDNA 5 has it");
//! assert_eq!(
//!     compare::Summary::new(msad).to_string(),
//!     "same in RDNA 4; field layout differs in RDNA 3, 3.5; opcode (369) and layout in RDNA 1, 2; \
//!      opcode (484) and layout in CDNA 1–4"
//! );
//! let changes = compare::Changes::between(Generation::Rdna3, Generation::Rdna4);
//! assert!(changes.instructions.iter().any(|change| change.is_added()));
//! # }
//! ```

mod changes;
mod summary;

pub use changes::{Changes, EncodingChange, InstructionChange};
pub use summary::{Summary, titles};

use std::vec::Vec;

use crate::{EncodingRef, FieldRef, Generation, InstructionInfo, OperandInfo};

/// In what two instructions differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Differences {
    /// AMD's name of the instruction.
    pub name: bool,
    /// AMD's name of the encoding.
    pub encoding: bool,
    /// The opcode.
    pub opcode: bool,
    /// The encoding's fixed bits and the opcode, as they stand in the word.
    pub identifier: bool,
    /// The fields of the encoding, by AMD's names, and their bits.
    pub layout: bool,
    /// Number and order of the operands in fields, which fields those are, and whether they are read or written.
    pub operands: bool,
    /// The implicit operands, as AMD lists them; AMD's older files leave memory out.
    pub implicit: bool,
    /// What the operands' fields may hold.
    pub values: bool,
    /// Formats and sizes of the operands' data, as AMD lists them.
    pub formats: bool,
    /// The other forms that the instruction has: literal, DPP, SDWA.
    pub forms: bool,
}

impl Differences {
    /// Compares two instructions.
    pub fn between(a: InstructionInfo, b: InstructionInfo) -> Differences {
        let explicit = |info: InstructionInfo| info.operands().filter(|operand| operand.field_name().is_some());
        let shape = |operand: OperandInfo| (operand.field_name(), operand.is_read(), operand.is_written());
        let implicit = |info: InstructionInfo| {
            let others = info.operands().filter(|operand| operand.field_name().is_none());
            let mut implicit: Vec<_> = others.map(|o| (o.type_name(), o.is_read(), o.is_written())).collect();
            implicit.sort_unstable();
            implicit
        };
        let pairs = || explicit(a).zip(explicit(b));
        let forms = |info: InstructionInfo| {
            let mut forms: Vec<_> = info.variants().map(EncodingRef::form).collect();
            forms.sort_unstable();
            forms.dedup();
            forms
        };
        let operands = !explicit(a).map(shape).eq(explicit(b).map(shape));
        Differences {
            name: a.op() != b.op(),
            encoding: a.encoding().name() != b.encoding().name(),
            opcode: a.opcode() != b.opcode(),
            identifier: (a.identifier(), a.mask()) != (b.identifier(), b.mask()),
            layout: !a.encoding().same_fields(b.encoding()),
            operands,
            implicit: implicit(a) != implicit(b),
            values: operands || !pairs().all(|(a, b)| a.same_values(b)),
            formats: operands || !pairs().all(|(a, b)| (a.format().name, a.size()) == (b.format().name, b.size())),
            forms: forms(a) != forms(b),
        }
    }

    /// Whether a program that writes or reads the words need not care: encoding, opcode, identifier, layout and operands
    /// are the same.
    pub fn is_same(self) -> bool {
        !(self.name || self.encoding || self.opcode || self.identifier || self.layout || self.operands)
    }

    /// The differences' names, in the order of the fields of this type.
    pub fn names(self) -> impl Iterator<Item = &'static str> {
        let all = [
            ("name", self.name),
            ("encoding", self.encoding),
            ("opcode", self.opcode),
            ("identifier", self.identifier),
            ("layout", self.layout),
            ("operands", self.operands),
            ("implicit", self.implicit),
            ("values", self.values),
            ("formats", self.formats),
            ("forms", self.forms),
        ];
        all.into_iter().filter(|&(_, differs)| differs).map(|(name, _)| name)
    }
}

/// The instruction of another generation that is the same one: of the same name or, where that generation has none, of a
/// name that is an alias; in the same encoding or, where it has none, in the one most like it.
pub fn counterpart(info: InstructionInfo, generation: Generation) -> Option<InstructionInfo> {
    let same_name = generation.instructions_of(info.op());
    closest(info, same_name).or_else(|| {
        let ops: Vec<_> = info.op().renamings().collect();
        // A name that the instruction's own generation gives to another instruction is not the same instruction.
        let others = ops.into_iter().filter(|&op| !info.generation().has(op));
        closest(info, others.flat_map(|op| generation.instructions_of(op)))
    })
}

fn closest(info: InstructionInfo, among: impl Iterator<Item = InstructionInfo>) -> Option<InstructionInfo> {
    among.max_by_key(|other| likeness(info, *other))
}

/// Larger is more alike. Of equals the iterator's last would win; the opcode breaks ties.
fn likeness(a: InstructionInfo, b: InstructionInfo) -> (bool, bool, bool, bool, core::cmp::Reverse<u32>) {
    let encoding = a.encoding().name() == b.encoding().name();
    let operands = !Differences::between(a, b).operands;
    (
        a.half() == b.half(),
        encoding,
        a.encoding().bits() == b.encoding().bits(),
        operands,
        core::cmp::Reverse(b.opcode()),
    )
}

/// An instruction beside its counterpart in another generation.
#[derive(Debug, Clone, Copy)]
pub struct Counterpart {
    /// The other generation.
    pub generation: Generation,
    /// Its instruction and in what it differs; none where it has none.
    pub found: Option<(InstructionInfo, Differences)>,
}

/// An instruction's counterparts in all other generations that are compiled in, in the order of [`Generation::all`].
pub fn counterparts(info: InstructionInfo) -> Vec<Counterpart> {
    let others = Generation::available().filter(|&generation| generation != info.generation());
    let counterpart = |generation| {
        let found = counterpart(info, generation);
        Counterpart { generation, found: found.map(|other| (other, Differences::between(info, other))) }
    };
    others.map(counterpart).collect()
}

/// The generation with the highest graphics IP version (the number of its processors) that has the instruction.
pub fn newest_with(op: crate::Op) -> Option<Generation> {
    Generation::available().filter(|generation| generation.has(op)).max_by_key(|&generation| version(generation))
}

/// Graphics IP version: `gfx90a` is 9.0.10, `gfx1201` 12.0.1.
pub(crate) fn version(generation: Generation) -> Option<(u32, u32, u32)> {
    let parse = |name: &str| {
        let digits = name.strip_prefix("gfx")?;
        let (major, rest) = digits.split_at_checked(digits.len().checked_sub(2)?)?;
        let number = |digit: &str| u32::from_str_radix(digit, 16).ok();
        let (minor, step) = rest.split_at_checked(1)?;
        Some((major.parse().ok()?, number(minor)?, number(step)?))
    };
    generation.targets().filter_map(|target| parse(target.name)).max()
}

/// A field that is not the same in two encodings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FieldChange {
    /// The field of the first encoding; none where it has no such field.
    pub old: Option<FieldRef>,
    /// The field of the second encoding; none where it has no such field.
    pub new: Option<FieldRef>,
}

/// The fields that differ in name, bits or presence, from the high bit down.
pub fn field_changes(old: EncodingRef, new: EncodingRef) -> Vec<FieldChange> {
    let mut after: Vec<FieldRef> = new.fields().collect();
    let mut changes = Vec::new();
    for field in old.fields() {
        let partner = after.iter().position(|other| other.field() == field.field()).map(|at| after.remove(at));
        if partner != Some(field) {
            changes.push(FieldChange { old: Some(field), new: partner });
        }
    }
    changes.extend(after.into_iter().map(|field| FieldChange { old: None, new: Some(field) }));
    changes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_come_from_the_processors() {
        assert_eq!(version(Generation::Cdna2), Some((9, 0, 10)));
        assert_eq!(version(Generation::Rdna4), Some((12, 0, 1)));
        assert_eq!(version(Generation::Cdna5), Some((12, 5, 0)));
    }
}
