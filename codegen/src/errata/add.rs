//! The operation that adds rows.

use isa_xml::spec::{
    DataFormat, EncodingId, FormatId, Instruction, InstructionFlags, Operand, OperandListId, OperandType,
    OperandTypeId, Row, Spec,
};

use super::{
    Add, Problem, check_field, data_format, encoding_id, field_mask, find, find_mut, intern_list, opcode_field,
    operand_type, parse_access, patterns, place_of,
};

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

pub(super) fn add_rows(specs: &mut [(&str, Spec)], index: usize, add: &Add) -> Result<(), Problem> {
    for (name, &opcode) in &add.instructions {
        let like = add.like.as_deref().map(|like| like.replace('*', name));
        let (from, like) = match like.as_deref().map(|like| like.split_once('/').unwrap_or(("", like))) {
            None => (index, None),
            Some(("", like)) => (index, Some(like.to_owned())),
            Some((generation, like)) => {
                let from = specs.iter().position(|(name, _)| *name == generation);
                (from.ok_or_else(|| format!("no generation {generation} to copy from"))?, Some(like.to_owned()))
            }
        };
        let source = like.as_deref().map(|like| find(&specs[from].1, like).cloned()).transpose()?;
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
        for (list, used) in [(&mut spec.groups, vec![&group]), (&mut spec.subgroups, subgroups.iter().collect())] {
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
    let group = add.group.clone().or_else(|| source.map(|source| source.group.clone()));
    let group = group.filter(|group| !group.is_empty()).ok_or("a new instruction needs `group` or `like`")?;
    let subgroups = add.subgroups.clone().or_else(|| source.map(|source| source.subgroups.clone()));
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

fn draft_rows(spec: &Spec, source: Option<&Instruction>, encoding: &str, add: &Add) -> Result<Vec<Draft>, Problem> {
    let condition = |given: &str| add.condition.clone().unwrap_or_else(|| given.to_owned());
    if let Some(texts) = &add.operands {
        let operands =
            texts.iter().zip(1..).map(|(text, order)| parse_operand(text, order)).collect::<Result<_, _>>()?;
        return Ok(vec![Draft { condition: condition("default"), condition_id: None, operands }]);
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
                    (operand.clone(), ty, Named::Whole(spec.format(operand.format).clone()))
                })
                .collect(),
        })
        .collect();
    if drafts.is_empty() { Err(format!("{} has no row in {encoding}", source.name)) } else { Ok(drafts) }
}

/// Reads `FIELD:TYPE:FORMAT:SIZE:rw[:implicit]`. The indices are filled in by [`add_drafts`].
fn parse_operand(text: &str, order: u16) -> Result<DraftOperand, Problem> {
    let wrong = || format!("`{text}` is not FIELD:TYPE:FORMAT:SIZE:rw[:implicit]");
    let parts: Vec<&str> = text.split(':').collect();
    let (&[field, ty, format, size, access], implicit) = match parts.split_last_chunk::<1>() {
        Some((rest, ["implicit"])) => (<&[&str; 5]>::try_from(rest).map_err(|_| wrong())?, true),
        _ => (<&[&str; 5]>::try_from(&parts[..]).map_err(|_| wrong())?, false),
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
    Ok((operand, Named::Name(ty.to_owned()), Named::Name(format.to_owned())))
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
                return Err(format!("{encoding_name} has opcode {opcode} already, for {other}"));
            }
        }
    }
    let mut rows = Vec::with_capacity(drafts.len());
    for draft in drafts {
        let operands = intern(spec, id, draft.operands)?;
        rows.push(Row { encoding: id, condition: draft.condition, condition_id: draft.condition_id, opcode, operands });
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

fn intern(spec: &mut Spec, id: EncodingId, drafts: Vec<DraftOperand>) -> Result<OperandListId, Problem> {
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
