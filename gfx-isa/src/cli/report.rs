//! The shapes of `--json`. They are stable: docs/json.md describes them, and members are only ever added.

use std::format;
use std::string::{String, ToString};
use std::vec::Vec;

use serde::Serialize;

use crate::compare::{Changes, Counterpart, Summary, counterparts};
use crate::{
    BitRange, EncodingRef, FieldRef, Flags, Form, Generation, Half, InstructionInfo, LayoutPiece, OperandInfo, Role,
};

/// Bits from `high` down to `low`.
#[derive(Debug, Serialize)]
pub(super) struct Bits {
    high: u32,
    low: u32,
}

impl From<BitRange> for Bits {
    fn from(range: BitRange) -> Bits {
        Bits { high: range.high(), low: range.offset }
    }
}

/// A word in hexadecimal, as wide as its encoding.
pub(super) fn hex(word: u128, encoding: EncodingRef) -> String {
    format!("0x{word:0width$X}", width = encoding.bits().min(128) as usize / 4)
}

pub(super) fn form(form: Form) -> &'static str {
    match form {
        Form::Base => "base",
        Form::Literal => "literal",
        Form::Literal64 => "literal64",
        Form::Dpp16 => "dpp16",
        Form::Dpp8 => "dpp8",
        Form::Sdwa => "sdwa",
        Form::Nsa => "nsa",
    }
}

fn role(role: Role) -> &'static str {
    match role {
        Role::Fixed => "fixed",
        Role::Opcode => "opcode",
        Role::Field => "field",
        Role::Unused => "unused",
    }
}

/// AMD's flags that are set.
pub(super) fn flags(flags: Flags) -> Vec<&'static str> {
    let all = [
        ("branch", flags.is_branch()),
        ("conditional_branch", flags.is_conditional_branch()),
        ("indirect_branch", flags.is_indirect_branch()),
        ("program_terminator", flags.is_program_terminator()),
        ("immediately_executed", flags.is_immediately_executed()),
    ];
    all.into_iter().filter(|&(_, set)| set).map(|(name, _)| name).collect()
}

#[derive(Debug, Serialize)]
pub(super) struct Piece {
    #[serde(flatten)]
    bits: Bits,
    role: &'static str,
    field: Option<&'static str>,
    /// Of a split field: the bits of its value that are here.
    part: Option<Bits>,
    /// Binary digits.
    value: Option<String>,
}

impl From<LayoutPiece> for Piece {
    fn from(piece: LayoutPiece) -> Piece {
        Piece {
            bits: piece.range.into(),
            role: role(piece.role),
            field: piece.name(),
            part: piece.part.map(Bits::from),
            value: piece.value.map(|value| format!("{value:0width$b}", width = piece.range.count as usize)),
        }
    }
}

#[derive(Debug, Serialize)]
struct Format {
    name: &'static str,
    description: String,
    data_type: &'static str,
    bits: u32,
    components: u32,
}

#[derive(Debug, Serialize)]
struct Values {
    name: &'static str,
    first: u32,
    count: u32,
    numbers: Option<(i32, i32)>,
}

#[derive(Debug, Serialize)]
struct SubFieldReport {
    name: &'static str,
    #[serde(flatten)]
    bits: Bits,
    values: Vec<(u32, &'static str)>,
}

#[derive(Debug, Serialize)]
pub(super) struct Operand {
    order: usize,
    field: Option<&'static str>,
    field_bits: u32,
    bits: Vec<Bits>,
    read: bool,
    written: bool,
    implicit: bool,
    #[serde(rename = "type")]
    ty: &'static str,
    accepts: String,
    values: Vec<Values>,
    sub_fields: Vec<SubFieldReport>,
    literal: bool,
    literal64: bool,
    format: Format,
    size: u32,
}

impl Operand {
    fn new(order: usize, operand: OperandInfo) -> Operand {
        let format = operand.format();
        Operand {
            order,
            field: operand.field().map(FieldRef::name),
            field_bits: operand.field_bits(),
            bits: operand.field().map_or(Vec::new(), |field| field.ranges().map(Bits::from).collect()),
            read: operand.is_read(),
            written: operand.is_written(),
            implicit: operand.is_implicit(),
            ty: operand.type_name(),
            accepts: operand.accepts().to_string(),
            values: operand
                .values()
                .map(|run| Values { name: run.name(), first: run.first(), count: run.count(), numbers: run.numbers() })
                .collect(),
            sub_fields: operand
                .sub_fields()
                .map(|field| SubFieldReport {
                    name: field.name(),
                    bits: field.range().into(),
                    values: field.values().collect(),
                })
                .collect(),
            literal: operand.takes_literal(),
            literal64: operand.takes_literal64(),
            format: Format {
                name: format.name,
                description: format.describe().to_string(),
                data_type: format.data_type,
                bits: format.bits,
                components: format.components,
            },
            size: operand.size(),
        }
    }
}

/// One form of an instruction.
#[derive(Debug, Serialize)]
pub(super) struct Word {
    encoding: &'static str,
    form: &'static str,
    bits: u32,
    identifier: String,
    mask: String,
    layout: Vec<Piece>,
}

impl Word {
    pub(super) fn new(info: InstructionInfo, encoding: EncodingRef) -> Word {
        Word {
            encoding: encoding.name(),
            form: form(encoding.form()),
            bits: encoding.bits(),
            identifier: hex(info.identifier_in(encoding), encoding),
            mask: hex(info.mask_in(encoding), encoding),
            layout: info.layout_in(encoding).map(Piece::from).collect(),
        }
    }
}

/// An instruction of another generation.
#[derive(Debug, Serialize)]
pub(super) struct Other {
    generation: &'static str,
    title: &'static str,
    targets: Vec<&'static str>,
    instruction: Option<&'static str>,
    encoding: Option<&'static str>,
    opcode: Option<u32>,
    identifier: Option<String>,
    same: bool,
    differences: Vec<&'static str>,
}

impl From<&Counterpart> for Other {
    fn from(other: &Counterpart) -> Other {
        let info = other.found.map(|(info, _)| info);
        Other {
            generation: other.generation.name(),
            title: other.generation.title(),
            targets: targets(other.generation),
            instruction: info.map(InstructionInfo::name),
            encoding: info.map(|info| info.encoding().name()),
            opcode: info.map(InstructionInfo::opcode),
            identifier: info.map(|info| hex(info.identifier(), info.encoding())),
            same: other.found.is_some_and(|(_, differences)| differences.is_same()),
            differences: other.found.map_or(Vec::new(), |(_, differences)| differences.names().collect()),
        }
    }
}

#[derive(Debug, Serialize)]
struct Generations {
    summary: String,
    others: Vec<Other>,
}

/// An instruction in one encoding.
#[derive(Debug, Serialize)]
pub(super) struct Encoded {
    half: Option<&'static str>,
    opcode: u32,
    mnemonic: &'static str,
    #[serde(flatten)]
    word: Word,
    operands: Vec<Operand>,
    variants: Vec<Word>,
    generations: Generations,
}

impl Encoded {
    pub(super) fn new(info: InstructionInfo) -> Encoded {
        let others = counterparts(info);
        Encoded {
            half: info.half().map(Half::name),
            opcode: info.opcode(),
            mnemonic: info.mnemonic(),
            word: Word::new(info, info.encoding()),
            operands: info.operands().enumerate().map(|(at, operand)| Operand::new(at + 1, operand)).collect(),
            variants: info.variants().map(|variant| Word::new(info, variant)).collect(),
            generations: Generations {
                summary: Summary::of(info, &others).to_string(),
                others: others.iter().map(Other::from).collect(),
            },
        }
    }
}

/// What `show --json` writes.
#[derive(Debug, Serialize)]
pub(super) struct Show {
    pub(super) instruction: &'static str,
    pub(super) generation: &'static str,
    pub(super) title: &'static str,
    pub(super) targets: Vec<&'static str>,
    pub(super) aliases: Vec<&'static str>,
    pub(super) group: &'static str,
    pub(super) subgroup: Option<&'static str>,
    pub(super) flags: Vec<&'static str>,
    pub(super) encodings: Vec<Encoded>,
}

pub(super) fn targets(generation: Generation) -> Vec<&'static str> {
    generation.targets().map(|target| target.name).collect()
}

/// An instruction in one encoding, in short.
#[derive(Debug, Serialize)]
pub(super) struct Brief {
    instruction: &'static str,
    encoding: &'static str,
    half: Option<&'static str>,
    bits: u32,
    opcode: u32,
    identifier: String,
    mask: String,
}

impl From<InstructionInfo> for Brief {
    fn from(info: InstructionInfo) -> Brief {
        let encoding = info.encoding();
        Brief {
            instruction: info.name(),
            encoding: encoding.name(),
            half: info.half().map(Half::name),
            bits: encoding.bits(),
            opcode: info.opcode(),
            identifier: hex(info.identifier(), encoding),
            mask: hex(info.mask(), encoding),
        }
    }
}

/// An instruction of `list --isa --json`.
#[derive(Debug, Serialize)]
pub(super) struct Listed {
    #[serde(flatten)]
    pub(super) brief: Brief,
    pub(super) mnemonic: &'static str,
    pub(super) group: &'static str,
    pub(super) subgroup: Option<&'static str>,
}

/// An instruction of `list --json`.
#[derive(Debug, Serialize)]
pub(super) struct Known {
    pub(super) instruction: &'static str,
    pub(super) group: &'static str,
    pub(super) subgroup: Option<&'static str>,
    pub(super) generations: Vec<&'static str>,
}

/// What `list --json` writes.
#[derive(Debug, Serialize)]
pub(super) struct List<T> {
    pub(super) generation: Option<&'static str>,
    pub(super) instructions: Vec<T>,
}

/// One line of `compare NAME --json`.
#[derive(Debug, Serialize)]
pub(super) struct Compared {
    pub(super) generation: &'static str,
    pub(super) title: &'static str,
    pub(super) targets: Vec<&'static str>,
    #[serde(flatten)]
    pub(super) brief: Brief,
    /// The same letter, the same fields in the same bits.
    pub(super) layout: String,
    /// The same letter, the same operands in the same fields.
    pub(super) operands: String,
}

#[derive(Debug, Serialize)]
pub(super) struct LayoutClass {
    pub(super) class: String,
    pub(super) fields: Vec<FieldReport>,
}

#[derive(Debug, Serialize)]
pub(super) struct FieldReport {
    name: &'static str,
    bits: Vec<Bits>,
}

impl From<FieldRef> for FieldReport {
    fn from(field: FieldRef) -> FieldReport {
        FieldReport { name: field.name(), bits: field.ranges().map(Bits::from).collect() }
    }
}

/// What `compare NAME --json` writes.
#[derive(Debug, Serialize)]
pub(super) struct CompareInstruction {
    pub(super) instruction: &'static str,
    pub(super) generations: Vec<Compared>,
    pub(super) absent: Vec<&'static str>,
    pub(super) layouts: Vec<LayoutClass>,
}

#[derive(Debug, Serialize)]
struct InstructionChangeReport {
    changes: Vec<&'static str>,
    old: Option<Brief>,
    new: Option<Brief>,
    differences: Vec<&'static str>,
}

#[derive(Debug, Serialize)]
struct EncodingReport {
    encoding: &'static str,
    bits: u32,
    mask: String,
    fixed: String,
}

impl From<EncodingRef> for EncodingReport {
    fn from(encoding: EncodingRef) -> EncodingReport {
        EncodingReport {
            encoding: encoding.name(),
            bits: encoding.bits(),
            mask: hex(encoding.mask(), encoding),
            fixed: hex(encoding.fixed(), encoding),
        }
    }
}

#[derive(Debug, Serialize)]
struct FieldChangeReport {
    old: Option<FieldReport>,
    new: Option<FieldReport>,
}

#[derive(Debug, Serialize)]
struct EncodingChangeReport {
    changes: Vec<&'static str>,
    old: Option<EncodingReport>,
    new: Option<EncodingReport>,
    fields: Vec<FieldChangeReport>,
}

/// What `compare --isa OLD NEW --json` writes.
#[derive(Debug, Serialize)]
pub(super) struct CompareGenerations {
    old: &'static str,
    new: &'static str,
    unchanged: usize,
    instructions: Vec<InstructionChangeReport>,
    encodings: Vec<EncodingChangeReport>,
}

impl From<&Changes> for CompareGenerations {
    fn from(changes: &Changes) -> CompareGenerations {
        CompareGenerations {
            old: changes.old.name(),
            new: changes.new.name(),
            unchanged: changes.unchanged,
            instructions: changes
                .instructions
                .iter()
                .map(|change| InstructionChangeReport {
                    changes: super::compare::instruction_kinds(change),
                    old: change.old.map(Brief::from),
                    new: change.new.map(Brief::from),
                    differences: change.differences.names().collect(),
                })
                .collect(),
            encodings: changes
                .encodings
                .iter()
                .map(|change| EncodingChangeReport {
                    changes: super::compare::encoding_kinds(change),
                    old: change.old.map(EncodingReport::from),
                    new: change.new.map(EncodingReport::from),
                    fields: change
                        .fields
                        .iter()
                        .map(|field| FieldChangeReport {
                            old: field.old.map(FieldReport::from),
                            new: field.new.map(FieldReport::from),
                        })
                        .collect(),
                })
                .collect(),
        }
    }
}
