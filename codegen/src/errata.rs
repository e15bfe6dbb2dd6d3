//! Corrections to AMD's files: `data/errata.toml`.
//!
//! An erratum says what is wrong, why, and by which evidence, and holds the operations that put it right. They run
//! in this order: [`EncodingChange`], [`Rename`], [`Remove`], [`Add`], [`OperandChange`], [`Alias`],
//! [`Unsupported`]. An operation that finds nothing to do is an error, so that an entry goes when AMD fixes the
//! file.

use std::collections::{BTreeMap, BTreeSet};

use isa_xml::spec::{
    BitRange, DataFormat, Encoding, EncodingId, Field, FormatId, Instruction, InstructionFlags,
    Operand, OperandListId, OperandType, OperandTypeId, Row, Spec,
};
use serde::Deserialize;

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
            apply_one(specs, index, erratum, &mut report).map_err(|problem| {
                Error::NotApplicable {
                    id: erratum.id.clone(),
                    generation: generation.clone(),
                    problem,
                }
            })?;
            report
                .applied
                .push((erratum.id.clone(), generation.clone()));
        }
    }
    Ok(report)
}

/// A problem in words; [`apply`] adds the entry and the generation.
type Problem = String;

fn apply_one(
    specs: &mut [(&str, Spec)],
    index: usize,
    erratum: &Erratum,
    report: &mut Report,
) -> Result<(), Problem> {
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
            return Err(format!(
                "{} has the alias {} already",
                alias.instruction, alias.name
            ));
        }
        instruction.aliases.push(alias.name.clone());
        worked = true;
    }
    for unsupported in &erratum.unsupported {
        for instruction in &unsupported.instructions {
            let found = find(spec, instruction)?;
            let rows: Vec<&Row> = found
                .rows
                .iter()
                .filter(|row| selected(spec, row, &unsupported.encodings))
                .collect();
            if rows.is_empty() {
                return Err(format!(
                    "{instruction} has no row in {:?}",
                    unsupported.encodings
                ));
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
    if worked {
        Ok(())
    } else {
        Err("it has no operation".to_owned())
    }
}

fn encoding_index(spec: &Spec, name: &str) -> Result<usize, Problem> {
    spec.encodings
        .iter()
        .position(|encoding| encoding.name == name)
        .ok_or_else(|| format!("no encoding {name}"))
}

fn encoding_id(spec: &Spec, name: &str) -> Result<EncodingId, Problem> {
    let index = encoding_index(spec, name)?;
    Ok(EncodingId(
        u16::try_from(index).map_err(|_| "too many encodings".to_owned())?,
    ))
}

fn find<'a>(spec: &'a Spec, name: &str) -> Result<&'a Instruction, Problem> {
    let found = spec
        .instructions
        .iter()
        .find(|instruction| instruction.name == name);
    found.ok_or_else(|| format!("no instruction {name}"))
}

fn find_mut<'a>(spec: &'a mut Spec, name: &str) -> Result<&'a mut Instruction, Problem> {
    let found = spec
        .instructions
        .iter_mut()
        .find(|instruction| instruction.name == name);
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
    if rest == 0 {
        Ok(word)
    } else {
        Err(format!("{value} does not fit the field {}", field.name))
    }
}

fn ones(count: u16) -> u128 {
    if count >= 128 {
        u128::MAX
    } else {
        (1 << count) - 1
    }
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
    encoding
        .identifiers
        .iter()
        .map(|identifier| identifier & encoding.identifier_mask & !mask)
        .collect()
}

fn change_encodings(spec: &mut Spec, change: &EncodingChange) -> Result<(), Problem> {
    for name in &change.encodings {
        let index = encoding_index(spec, name)?;
        let opcodes: BTreeSet<u32> = spec
            .instructions
            .iter()
            .flat_map(|instruction| &instruction.rows)
            .filter(|row| usize::from(row.encoding.0) == index)
            .map(|row| row.opcode)
            .collect();
        let encoding = &mut spec.encodings[index];
        let before = encoding.clone();
        for field in &change.remove_fields {
            let place = encoding
                .fields
                .iter()
                .position(|other| other.name == *field);
            encoding
                .fields
                .remove(place.ok_or_else(|| format!("encoding {name} has no field {field}"))?);
        }
        for (field, text) in &change.fields {
            let ranges = parse_ranges(text, encoding.bits)?;
            match encoding
                .fields
                .iter_mut()
                .find(|other| other.name == *field)
            {
                Some(other) => other.ranges = ranges,
                None => encoding.fields.push(Field {
                    name: field.clone(),
                    ranges,
                    conditional: false,
                    values: Vec::new(),
                }),
            }
        }
        if change.identifiers_from_rows {
            let field = opcode_field(encoding)?.clone();
            let mut mask = field_mask(&field);
            let mut all = patterns(encoding, mask);
            if !change.fixed.is_empty() {
                let mut pattern = 0;
                encoding.identifier_mask = 0;
                for (name, &value) in &change.fixed {
                    let field = encoding.fields.iter().find(|other| other.name == *name);
                    let field = field.ok_or_else(|| format!("the encoding has no field {name}"))?;
                    pattern |= place(field, value)?;
                    mask |= field_mask(field);
                }
                all = BTreeSet::from([pattern]);
            }
            let mut identifiers = Vec::new();
            for pattern in all {
                for &opcode in &opcodes {
                    identifiers.push(pattern | place(&field, u64::from(opcode))?);
                }
            }
            encoding.identifier_mask |= mask;
            encoding.identifiers = identifiers;
        }
        if *encoding == before {
            return Err(format!("encoding {name} is so already"));
        }
    }
    Ok(())
}

fn parse_ranges(text: &str, bits: u16) -> Result<Vec<BitRange>, Problem> {
    let parse = |part: &str| {
        let (offset, count) = part.trim().split_once('+')?;
        let (offset, count) = (offset.parse::<u16>().ok()?, count.parse::<u16>().ok()?);
        let fits = count > 0 && offset.checked_add(count)? <= bits;
        fits.then_some(BitRange {
            offset,
            count,
            padding: None,
        })
    };
    text.split(',')
        .map(|part| parse(part).ok_or_else(|| format!("`{part}` is no range of {bits} bits")))
        .collect()
}

fn rename_instruction(spec: &mut Spec, rename: &Rename) -> Result<(), Problem> {
    if spec
        .instructions
        .iter()
        .any(|instruction| instruction.name == rename.to)
    {
        return Err(format!("{} exists already", rename.to));
    }
    let instruction = find_mut(spec, &rename.from)?;
    instruction.name.clone_from(&rename.to);
    instruction.aliases.retain(|alias| *alias != rename.to);
    instruction.aliases.push(rename.from.clone());
    Ok(())
}

fn remove_rows(spec: &mut Spec, remove: &Remove) -> Result<(), Problem> {
    for name in &remove.instructions {
        let place = spec
            .instructions
            .iter()
            .position(|instruction| instruction.name == *name);
        let place = place.ok_or_else(|| format!("no instruction {name}"))?;
        let rows = std::mem::take(&mut spec.instructions[place].rows);
        let (gone, kept): (Vec<Row>, Vec<Row>) = rows
            .into_iter()
            .partition(|row| selected(spec, row, &remove.encodings));
        if gone.is_empty() {
            return Err(format!("{name} has no row in {:?}", remove.encodings));
        }
        spec.instructions[place].rows = kept;
        if spec.instructions[place].rows.is_empty() {
            spec.instructions.remove(place);
        }
        for row in gone {
            let in_use = |other: &Row| other.encoding == row.encoding && other.opcode == row.opcode;
            if spec
                .instructions
                .iter()
                .flat_map(|instruction| &instruction.rows)
                .any(in_use)
            {
                continue;
            }
            let encoding = &mut spec.encodings[usize::from(row.encoding.0)];
            let field = opcode_field(encoding)?;
            let (mask, opcode) = (field_mask(field), place_of(field, row.opcode)?);
            encoding
                .identifiers
                .retain(|identifier| identifier & mask != opcode);
        }
    }
    Ok(())
}

fn place_of(field: &Field, opcode: u32) -> Result<u128, Problem> {
    place(field, u64::from(opcode))
}

/// A row before its names become indices of the spec that gets it.
struct Draft {
    condition: String,
    condition_id: Option<u32>,
    operands: Vec<DraftOperand>,
}

/// An operand, its operand type and data format. The operand's own indices mean nothing.
type DraftOperand = (Operand, Named<OperandType>, Named<DataFormat>);

/// Something of the spec that is corrected, by name, or of another spec, to be copied if it is missing.
enum Named<T> {
    Name(String),
    Whole(T),
}

fn add_rows(specs: &mut [(&str, Spec)], index: usize, add: &Add) -> Result<(), Problem> {
    for (name, &opcode) in &add.instructions {
        let like = add.like.as_deref().map(|like| like.replace('*', name));
        let (from, like) = match like
            .as_deref()
            .map(|like| like.split_once('/').unwrap_or(("", like)))
        {
            None => (index, None),
            Some(("", like)) => (index, Some(like.to_owned())),
            Some((generation, like)) => {
                let from = specs.iter().position(|(name, _)| *name == generation);
                (
                    from.ok_or_else(|| format!("no generation {generation} to copy from"))?,
                    Some(like.to_owned()),
                )
            }
        };
        let source = like
            .as_deref()
            .map(|like| find(&specs[from].1, like).cloned())
            .transpose()?;
        for encoding in &add.encodings {
            let drafts = draft_rows(&specs[from].1, source.as_ref(), encoding, add)?;
            add_drafts(&mut specs[index].1, name, opcode, encoding, drafts)?;
        }
        let spec = &mut specs[index].1;
        let fresh = match find(spec, name)?.group.as_str() {
            "" => new_attributes(source.as_ref(), add)?,
            _ => continue,
        };
        let (group, subgroups, flags) = fresh;
        let spec = &mut specs[index].1;
        for (list, used) in [
            (&mut spec.groups, vec![&group]),
            (&mut spec.subgroups, subgroups.iter().collect()),
        ] {
            for used in used {
                if !list.contains(used) {
                    list.push(used.clone());
                }
            }
        }
        let instruction = find_mut(spec, name)?;
        (instruction.group, instruction.subgroups, instruction.flags) = (group, subgroups, flags);
    }
    Ok(())
}

type Attributes = (String, Vec<String>, InstructionFlags);

fn new_attributes(source: Option<&Instruction>, add: &Add) -> Result<Attributes, Problem> {
    let group = add
        .group
        .clone()
        .or_else(|| source.map(|source| source.group.clone()));
    let group = group
        .filter(|group| !group.is_empty())
        .ok_or("a new instruction needs `group` or `like`")?;
    let subgroups = add
        .subgroups
        .clone()
        .or_else(|| source.map(|source| source.subgroups.clone()));
    let flags = match &add.flags {
        Some(names) => parse_flags(names)?,
        None => source.map(|source| source.flags).unwrap_or_default(),
    };
    Ok((group, subgroups.unwrap_or_default(), flags))
}

fn parse_flags(names: &[String]) -> Result<InstructionFlags, Problem> {
    let mut flags = InstructionFlags::default();
    for name in names {
        *match name.as_str() {
            "branch" => &mut flags.branch,
            "conditional_branch" => &mut flags.conditional_branch,
            "indirect_branch" => &mut flags.indirect_branch,
            "program_terminator" => &mut flags.program_terminator,
            "immediately_executed" => &mut flags.immediately_executed,
            _ => return Err(format!("no flag `{name}`")),
        } = true;
    }
    Ok(flags)
}

fn draft_rows(
    spec: &Spec,
    source: Option<&Instruction>,
    encoding: &str,
    add: &Add,
) -> Result<Vec<Draft>, Problem> {
    let condition = |given: &str| add.condition.clone().unwrap_or_else(|| given.to_owned());
    if let Some(texts) = &add.operands {
        let operands = texts
            .iter()
            .zip(1..)
            .map(|(text, order)| parse_operand(text, order))
            .collect::<Result<_, _>>()?;
        return Ok(vec![Draft {
            condition: condition("default"),
            condition_id: None,
            operands,
        }]);
    }
    let source = source.ok_or("rows need `like` or `operands`")?;
    let id = encoding_id(spec, encoding)?;
    let drafts: Vec<Draft> = source
        .rows
        .iter()
        .filter(|row| row.encoding == id)
        .map(|row| Draft {
            condition: condition(&row.condition),
            condition_id: row.condition_id,
            operands: spec.operand_lists[row.operands.0 as usize]
                .iter()
                .map(|operand| {
                    let ty = Named::Whole(spec.operand_type(operand.ty).clone());
                    (
                        operand.clone(),
                        ty,
                        Named::Whole(spec.format(operand.format).clone()),
                    )
                })
                .collect(),
        })
        .collect();
    if drafts.is_empty() {
        Err(format!("{} has no row in {encoding}", source.name))
    } else {
        Ok(drafts)
    }
}

/// Reads `FIELD:TYPE:FORMAT:SIZE:rw[:implicit]`. The indices are filled in by [`add_drafts`].
fn parse_operand(text: &str, order: u16) -> Result<DraftOperand, Problem> {
    let wrong = || format!("`{text}` is not FIELD:TYPE:FORMAT:SIZE:rw[:implicit]");
    let parts: Vec<&str> = text.split(':').collect();
    let (&[field, ty, format, size, access], implicit) = match parts.split_last_chunk::<1>() {
        Some((rest, ["implicit"])) => (<&[&str; 5]>::try_from(rest).map_err(|_| wrong())?, true),
        _ => (
            <&[&str; 5]>::try_from(&parts[..]).map_err(|_| wrong())?,
            false,
        ),
    };
    let (input, output) = parse_access(access).ok_or_else(wrong)?;
    let field = (field != "-").then(|| field.to_owned());
    let operand = Operand {
        // AMD's files require every operand but those that are written in assembly and have no field.
        binary_required: field.is_some() || implicit,
        field,
        format: FormatId(0),
        ty: OperandTypeId(0),
        size: size.parse().map_err(|_| wrong())?,
        input,
        output,
        implicit,
        order,
    };
    Ok((
        operand,
        Named::Name(ty.to_owned()),
        Named::Name(format.to_owned()),
    ))
}

fn parse_access(text: &str) -> Option<(bool, bool)> {
    match text {
        "r" => Some((true, false)),
        "w" => Some((false, true)),
        "rw" => Some((true, true)),
        _ => None,
    }
}

fn add_drafts(
    spec: &mut Spec,
    name: &str,
    opcode: u32,
    encoding_name: &str,
    drafts: Vec<Draft>,
) -> Result<(), Problem> {
    let id = encoding_id(spec, encoding_name)?;
    for instruction in &spec.instructions {
        for row in &instruction.rows {
            if row.encoding != id || row.opcode != opcode {
                continue;
            }
            let same = drafts.iter().any(|draft| draft.condition == row.condition);
            if same || instruction.name != name {
                let other = &instruction.name;
                return Err(format!(
                    "{encoding_name} has opcode {opcode} already, for {other}"
                ));
            }
        }
    }
    let mut rows = Vec::with_capacity(drafts.len());
    for draft in drafts {
        let operands = intern(spec, id, draft.operands)?;
        rows.push(Row {
            encoding: id,
            condition: draft.condition,
            condition_id: draft.condition_id,
            opcode,
            operands,
        });
    }
    for row in &rows {
        add_identifier(spec, row)?;
    }
    if let Ok(instruction) = find_mut(spec, name) {
        instruction.rows.extend(rows);
    } else {
        spec.instructions.push(Instruction {
            name: name.to_owned(),
            aliases: Vec::new(),
            flags: InstructionFlags::default(),
            group: String::new(),
            subgroups: Vec::new(),
            rows,
        });
    }
    Ok(())
}

/// Adds the identifier that a new row needs.
fn add_identifier(spec: &mut Spec, row: &Row) -> Result<(), Problem> {
    // The second half of a dual instruction is not part of the identifier.
    let second = |operand: &Operand| operand.field.as_deref() == Some("VDSTY");
    let second = spec.operands(row.operands).iter().any(second);
    let encoding = &mut spec.encodings[usize::from(row.encoding.0)];
    let field = match encoding.field("OPX") {
        Some(_) if second => return Ok(()),
        Some(field) => field,
        None => opcode_field(encoding)?,
    };
    let (mask, opcode) = (field_mask(field), place_of(field, row.opcode)?);
    for pattern in patterns(encoding, mask) {
        let identifier = pattern | opcode;
        if !encoding.identifiers.contains(&identifier) {
            encoding.identifiers.push(identifier);
        }
    }
    Ok(())
}

fn operand_type(spec: &Spec, name: &str) -> Result<OperandTypeId, Problem> {
    let place = spec.operand_types.iter().position(|ty| ty.name == name);
    let place = place.and_then(|place| u16::try_from(place).ok());
    place
        .map(OperandTypeId)
        .ok_or_else(|| format!("no operand type {name}"))
}

fn data_format(spec: &Spec, name: &str) -> Result<FormatId, Problem> {
    let place = spec.formats.iter().position(|format| format.name == name);
    let place = place.and_then(|place| u16::try_from(place).ok());
    place
        .map(FormatId)
        .ok_or_else(|| format!("no data format {name}"))
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

fn intern(
    spec: &mut Spec,
    id: EncodingId,
    drafts: Vec<DraftOperand>,
) -> Result<OperandListId, Problem> {
    let mut operands = Vec::with_capacity(drafts.len());
    for (mut operand, ty, format) in drafts {
        check_field(spec, id, operand.field.as_deref())?;
        operand.ty = match ty {
            Named::Name(name) => operand_type(spec, &name)?,
            Named::Whole(ty) => operand_type(spec, &ty.name).or_else(|_| {
                let name = ty.name.clone();
                spec.operand_types.push(ty);
                operand_type(spec, &name)
            })?,
        };
        operand.format = match format {
            Named::Name(name) => data_format(spec, &name)?,
            Named::Whole(format) => data_format(spec, &format.name).or_else(|_| {
                let name = format.name.clone();
                spec.formats.push(format);
                data_format(spec, &name)
            })?,
        };
        operands.push(operand);
    }
    intern_list(spec, operands)
}

fn intern_list(spec: &mut Spec, operands: Vec<Operand>) -> Result<OperandListId, Problem> {
    let place = spec
        .operand_lists
        .iter()
        .position(|list| *list == operands)
        .unwrap_or_else(|| {
            spec.operand_lists.push(operands);
            spec.operand_lists.len() - 1
        });
    u32::try_from(place)
        .map(OperandListId)
        .map_err(|_| "too many operand lists".to_owned())
}

fn change_operands(spec: &mut Spec, change: &OperandChange) -> Result<(), Problem> {
    let ty = change
        .ty
        .as_deref()
        .map(|ty| operand_type(spec, ty))
        .transpose()?;
    let format = change
        .format
        .as_deref()
        .map(|format| data_format(spec, format))
        .transpose()?;
    let access = match &change.access {
        Some(text) => {
            Some(parse_access(text).ok_or_else(|| format!("`{text}` is not r, w or rw"))?)
        }
        None => None,
    };
    let nth = match change.at.strip_prefix('#') {
        Some(order) => Some(
            order
                .parse::<u16>()
                .map_err(|_| format!("`{}` is no operand", change.at))?,
        ),
        None => None,
    };
    for name in &change.instructions {
        let rows = find(spec, name)?.rows.clone();
        let (mut found, mut changed) = (false, false);
        for (place, row) in rows.iter().enumerate() {
            if !selected(spec, row, &change.encodings) {
                continue;
            }
            let mut operands = spec.operand_lists[row.operands.0 as usize].clone();
            for operand in &mut operands {
                let this = match nth {
                    Some(order) => operand.order == order,
                    None => operand.field.as_deref() == Some(change.at.as_str()),
                };
                if !this {
                    continue;
                }
                found = true;
                let before = operand.clone();
                if let Some(field) = &change.field {
                    operand.field = (field != "-").then(|| field.clone());
                    check_field(spec, row.encoding, operand.field.as_deref())?;
                }
                operand.ty = ty.unwrap_or(operand.ty);
                operand.format = format.unwrap_or(operand.format);
                operand.size = change.size.unwrap_or(operand.size);
                (operand.input, operand.output) = access.unwrap_or((operand.input, operand.output));
                operand.implicit = change.implicit.unwrap_or(operand.implicit);
                changed |= *operand != before;
            }
            let list = intern_list(spec, operands)?;
            find_mut(spec, name)?.rows[place].operands = list;
        }
        if !found {
            return Err(format!("{name} has no operand {} there", change.at));
        }
        if !changed {
            return Err(format!("operand {} of {name} is so already", change.at));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
