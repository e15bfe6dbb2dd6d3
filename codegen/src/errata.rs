//! Corrections to AMD's files: `data/errata.toml`.
//!
//! An erratum says what is wrong, why, and by which evidence, and holds the operations that put it right. They run
//! in this order: [`EncodingChange`], [`Rename`], [`Remove`], [`Add`], [`OperandChange`], [`Alias`],
//! [`Unsupported`]. An operation that finds nothing to do is an error, so that an entry goes when AMD fixes the
//! file.

mod add;
mod change;

use std::collections::{BTreeMap, BTreeSet};

use isa_xml::spec::{
    Encoding, EncodingId, Field, FormatId, Instruction, Operand, OperandListId, OperandTypeId, Row, Spec,
};
use serde::Deserialize;

use add::add_rows;
use change::{change_encodings, change_operands, remove_rows, rename_instruction};

/// Why the errata could not be read or applied.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The file is not what it should be.
    #[error("errata: {0}")]
    Syntax(#[from] toml::de::Error),
    /// Two entries share an id.
    #[error("errata: two entries have the id `{0}`")]
    DuplicateId(String),
    /// An entry without a reason or evidence.
    #[error("erratum `{0}`: `what`, `why`, `generations` and `evidence` must say something")]
    Unfounded(String),
    /// An entry does not apply.
    #[error("erratum `{id}` on {generation}: {problem}")]
    NotApplicable {
        /// The entry.
        id: String,
        /// Where it fails.
        generation: String,
        /// What is wrong with it.
        problem: String,
    },
}

/// One correction.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Erratum {
    /// Unique name of the entry.
    pub id: String,
    /// The generations whose files it corrects.
    pub generations: Vec<String>,
    /// What is wrong.
    pub what: String,
    /// Why the correction is right.
    pub why: String,
    /// Who says so: tests, manuals, hardware.
    pub evidence: Vec<String>,
    /// Changes of encodings.
    #[serde(default)]
    pub encoding: Vec<EncodingChange>,
    /// Instructions with a wrong name.
    #[serde(default)]
    pub rename: Vec<Rename>,
    /// Rows that should not be there.
    #[serde(default)]
    pub remove: Vec<Remove>,
    /// Rows that are missing.
    #[serde(default)]
    pub add: Vec<Add>,
    /// Operands that are wrong.
    #[serde(default)]
    pub operand: Vec<OperandChange>,
    /// Further names of instructions.
    #[serde(default)]
    pub alias: Vec<Alias>,
    /// Rows that the generation's processors do not execute.
    #[serde(default)]
    pub unsupported: Vec<Unsupported>,
}

/// Changes the fields and identifiers of encodings.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EncodingChange {
    /// The encodings.
    pub encodings: Vec<String>,
    /// Fields to add or replace: `offset+count`, comma-separated, the value's least significant range first.
    #[serde(default)]
    pub fields: BTreeMap<String, String>,
    /// Fields to take away.
    #[serde(default)]
    pub remove_fields: Vec<String>,
    /// Make the identifiers anew: one for each opcode of the encoding's rows, over a mask that covers `OP`.
    #[serde(default)]
    pub identifiers_from_rows: bool,
    /// With `identifiers_from_rows`: the values of the fields that tell the encoding, instead of what the old
    /// identifiers have beside the opcode.
    #[serde(default)]
    pub fixed: BTreeMap<String, u64>,
}

/// Gives an instruction another name; the old one stays as an alias.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rename {
    /// The name in the file.
    pub from: String,
    /// The right name.
    pub to: String,
}

/// Takes rows away, and instructions that have none left.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Remove {
    /// The instructions.
    pub instructions: Vec<String>,
    /// Only in these encodings; in all when empty.
    #[serde(default)]
    pub encodings: Vec<String>,
}

/// Adds rows, to an instruction that exists or a new one, and their identifiers.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Add {
    /// Name and opcode of each instruction.
    pub instructions: BTreeMap<String, u32>,
    /// The encodings that get the row.
    pub encodings: Vec<String>,
    /// Copies operands, conditions, group and flags from this instruction's rows of the same encoding, and operand
    /// types and data formats that only the other spec has. `generation/INSTRUCTION` or `INSTRUCTION`; `*` stands
    /// for the name of the instruction that is added.
    pub like: Option<String>,
    /// The operands in order, each `FIELD:TYPE:FORMAT:SIZE:rw` and optionally `:implicit`; the field is `-` where
    /// there is none.
    pub operands: Option<Vec<String>>,
    /// The row's condition; `default` or that of `like` when absent.
    pub condition: Option<String>,
    /// Functional group of a new instruction.
    pub group: Option<String>,
    /// Functional subgroups of a new instruction.
    pub subgroups: Option<Vec<String>>,
    /// Flags of a new instruction, for example `branch`.
    pub flags: Option<Vec<String>>,
}

/// Changes one operand wherever the rows have it.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OperandChange {
    /// The instructions.
    pub instructions: Vec<String>,
    /// Only in these encodings; in all when empty.
    #[serde(default)]
    pub encodings: Vec<String>,
    /// The operand: the name of its field, or `#3` for the third.
    pub at: String,
    /// Its field from now on; `-` for none.
    pub field: Option<String>,
    /// Its operand type.
    #[serde(rename = "type")]
    pub ty: Option<String>,
    /// Its data format.
    pub format: Option<String>,
    /// Its size in bits.
    pub size: Option<u16>,
    /// `r`, `w` or `rw`.
    pub access: Option<String>,
    /// Whether assembly leaves it out.
    pub implicit: Option<bool>,
}

/// Another name for an instruction.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Alias {
    /// The instruction.
    pub instruction: String,
    /// The name.
    pub name: String,
}

/// Marks rows that the file has and the hardware does not.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Unsupported {
    /// The instructions.
    pub instructions: Vec<String>,
    /// Only in these encodings; in all when empty.
    #[serde(default)]
    pub encodings: Vec<String>,
}

/// What was done.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Report {
    /// Entry and generation, in file order.
    pub applied: Vec<(String, String)>,
    /// Rows that exist on paper alone.
    pub unsupported: BTreeSet<UnsupportedRow>,
}

/// A row that [`Unsupported`] marks.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct UnsupportedRow {
    /// The generation's name.
    pub generation: String,
    /// The encoding's name.
    pub encoding: String,
    /// The row's opcode.
    pub opcode: u32,
    /// The instruction's name.
    pub instruction: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    erratum: Vec<Erratum>,
}

/// Reads `data/errata.toml`.
///
/// # Errors
/// On text that is not TOML of the right shape, repeated ids and entries without grounds.
pub fn parse(text: &str) -> Result<Vec<Erratum>, Error> {
    let file: File = toml::from_str(text)?;
    let mut ids = BTreeSet::new();
    for erratum in &file.erratum {
        if !ids.insert(&erratum.id) {
            return Err(Error::DuplicateId(erratum.id.clone()));
        }
        let silent = |text: &String| text.trim().is_empty();
        if silent(&erratum.what)
            || silent(&erratum.why)
            || erratum.generations.is_empty()
            || erratum.evidence.is_empty()
            || erratum.evidence.iter().any(silent)
        {
            return Err(Error::Unfounded(erratum.id.clone()));
        }
    }
    Ok(file.erratum)
}

/// Corrects the specs. A generation that an entry names and that is not among them is left out.
///
/// # Errors
/// When an entry does not apply; the specs are then half corrected and of no use.
pub fn apply(specs: &mut [(&str, Spec)], errata: &[Erratum]) -> Result<Report, Error> {
    let mut report = Report::default();
    for erratum in errata {
        for generation in &erratum.generations {
            let Some(index) = specs.iter().position(|(name, _)| name == generation) else {
                continue;
            };
            apply_one(specs, index, erratum, &mut report).map_err(|problem| Error::NotApplicable {
                id: erratum.id.clone(),
                generation: generation.clone(),
                problem,
            })?;
            report.applied.push((erratum.id.clone(), generation.clone()));
        }
    }
    Ok(report)
}

/// A problem in words; [`apply`] adds the entry and the generation.
type Problem = String;

fn apply_one(specs: &mut [(&str, Spec)], index: usize, erratum: &Erratum, report: &mut Report) -> Result<(), Problem> {
    let mut worked = false;
    for change in &erratum.encoding {
        change_encodings(&mut specs[index].1, change)?;
        worked = true;
    }
    for rename in &erratum.rename {
        rename_instruction(&mut specs[index].1, rename)?;
        worked = true;
    }
    for remove in &erratum.remove {
        remove_rows(&mut specs[index].1, remove)?;
        worked = true;
    }
    for add in &erratum.add {
        add_rows(specs, index, add)?;
        worked = true;
    }
    let (name, spec) = &mut specs[index];
    for change in &erratum.operand {
        change_operands(spec, change)?;
        worked = true;
    }
    for alias in &erratum.alias {
        let instruction = find_mut(spec, &alias.instruction)?;
        if instruction.aliases.contains(&alias.name) {
            return Err(format!("{} has the alias {} already", alias.instruction, alias.name));
        }
        instruction.aliases.push(alias.name.clone());
        worked = true;
    }
    for unsupported in &erratum.unsupported {
        for instruction in &unsupported.instructions {
            let found = find(spec, instruction)?;
            let rows: Vec<&Row> = found.rows.iter().filter(|row| selected(spec, row, &unsupported.encodings)).collect();
            if rows.is_empty() {
                return Err(format!("{instruction} has no row in {:?}", unsupported.encodings));
            }
            for row in rows {
                report.unsupported.insert(UnsupportedRow {
                    generation: (*name).to_owned(),
                    encoding: spec.encoding(row.encoding).name.clone(),
                    opcode: row.opcode,
                    instruction: instruction.clone(),
                });
            }
        }
        worked = true;
    }
    if worked { Ok(()) } else { Err("it has no operation".to_owned()) }
}

fn encoding_index(spec: &Spec, name: &str) -> Result<usize, Problem> {
    spec.encodings.iter().position(|encoding| encoding.name == name).ok_or_else(|| format!("no encoding {name}"))
}

fn encoding_id(spec: &Spec, name: &str) -> Result<EncodingId, Problem> {
    let index = encoding_index(spec, name)?;
    Ok(EncodingId(u16::try_from(index).map_err(|_| "too many encodings".to_owned())?))
}

fn find<'a>(spec: &'a Spec, name: &str) -> Result<&'a Instruction, Problem> {
    let found = spec.instructions.iter().find(|instruction| instruction.name == name);
    found.ok_or_else(|| format!("no instruction {name}"))
}

fn find_mut<'a>(spec: &'a mut Spec, name: &str) -> Result<&'a mut Instruction, Problem> {
    let found = spec.instructions.iter_mut().find(|instruction| instruction.name == name);
    found.ok_or_else(|| format!("no instruction {name}"))
}

/// Whether a row is in one of the encodings; no encodings means all.
fn selected(spec: &Spec, row: &Row, encodings: &[String]) -> bool {
    encodings.is_empty() || encodings.contains(&spec.encoding(row.encoding).name)
}

/// The encoding's bits that hold the value of a field; fails where the value does not fit.
pub(crate) fn place(field: &Field, value: u64) -> Result<u128, Problem> {
    let (mut word, mut rest) = (0u128, u128::from(value));
    for range in &field.ranges {
        if range.offset >= 128 || range.count > 128 - range.offset {
            return Err(format!("field {} lies beyond bit 127", field.name));
        }
        let mask = ones(range.count);
        word |= (rest & mask) << range.offset;
        rest = rest.checked_shr(u32::from(range.count)).unwrap_or(0);
    }
    if rest == 0 { Ok(word) } else { Err(format!("{value} does not fit the field {}", field.name)) }
}

fn ones(count: u16) -> u128 {
    if count >= 128 { u128::MAX } else { (1 << count) - 1 }
}

fn field_mask(field: &Field) -> u128 {
    field
        .ranges
        .iter()
        .filter(|range| range.offset < 128)
        .fold(0, |mask, range| mask | ones(range.count) << range.offset)
}

fn opcode_field(encoding: &Encoding) -> Result<&Field, Problem> {
    let found = encoding.fields.iter().find(|field| field.name == "OP");
    found.ok_or_else(|| format!("encoding {} has no field OP", encoding.name))
}

/// The identifiers' bits other than the opcode's: one pattern in nearly all encodings.
fn patterns(encoding: &Encoding, mask: u128) -> BTreeSet<u128> {
    encoding.identifiers.iter().map(|identifier| identifier & encoding.identifier_mask & !mask).collect()
}

fn place_of(field: &Field, opcode: u32) -> Result<u128, Problem> {
    place(field, u64::from(opcode))
}

fn parse_access(text: &str) -> Option<(bool, bool)> {
    match text {
        "r" => Some((true, false)),
        "w" => Some((false, true)),
        "rw" => Some((true, true)),
        _ => None,
    }
}

fn operand_type(spec: &Spec, name: &str) -> Result<OperandTypeId, Problem> {
    let place = spec.operand_types.iter().position(|ty| ty.name == name);
    let place = place.and_then(|place| u16::try_from(place).ok());
    place.map(OperandTypeId).ok_or_else(|| format!("no operand type {name}"))
}

fn data_format(spec: &Spec, name: &str) -> Result<FormatId, Problem> {
    let place = spec.formats.iter().position(|format| format.name == name);
    let place = place.and_then(|place| u16::try_from(place).ok());
    place.map(FormatId).ok_or_else(|| format!("no data format {name}"))
}

fn check_field(spec: &Spec, id: EncodingId, field: Option<&str>) -> Result<(), Problem> {
    let encoding = spec.encoding(id);
    match field {
        Some(field) if !encoding.fields.iter().any(|other| other.name == field) => {
            Err(format!("encoding {} has no field {field}", encoding.name))
        }
        _ => Ok(()),
    }
}

fn intern_list(spec: &mut Spec, operands: Vec<Operand>) -> Result<OperandListId, Problem> {
    let place = spec.operand_lists.iter().position(|list| *list == operands).unwrap_or_else(|| {
        spec.operand_lists.push(operands);
        spec.operand_lists.len() - 1
    });
    u32::try_from(place).map(OperandListId).map_err(|_| "too many operand lists".to_owned())
}

#[cfg(test)]
mod tests;
