//! The operations on encodings, names, operands and existing rows.

use std::collections::BTreeSet;

use isa_xml::spec::{BitRange, Field, Row, Spec};

use super::{
    EncodingChange, OperandChange, Problem, Remove, Rename, check_field, data_format, encoding_index, field_mask, find,
    find_mut, intern_list, opcode_field, operand_type, parse_access, patterns, place, place_of, selected,
};

pub(super) fn change_encodings(spec: &mut Spec, change: &EncodingChange) -> Result<(), Problem> {
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
            let place = encoding.fields.iter().position(|other| other.name == *field);
            encoding.fields.remove(place.ok_or_else(|| format!("encoding {name} has no field {field}"))?);
        }
        for (field, text) in &change.fields {
            let ranges = parse_ranges(text, encoding.bits)?;
            match encoding.fields.iter_mut().find(|other| other.name == *field) {
                Some(other) => other.ranges = ranges,
                None => {
                    encoding.fields.push(Field { name: field.clone(), ranges, conditional: false, values: Vec::new() })
                }
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
        fits.then_some(BitRange { offset, count, padding: None })
    };
    text.split(',').map(|part| parse(part).ok_or_else(|| format!("`{part}` is no range of {bits} bits"))).collect()
}

pub(super) fn rename_instruction(spec: &mut Spec, rename: &Rename) -> Result<(), Problem> {
    if spec.instructions.iter().any(|instruction| instruction.name == rename.to) {
        return Err(format!("{} exists already", rename.to));
    }
    let instruction = find_mut(spec, &rename.from)?;
    instruction.name.clone_from(&rename.to);
    instruction.aliases.retain(|alias| *alias != rename.to);
    instruction.aliases.push(rename.from.clone());
    Ok(())
}

pub(super) fn remove_rows(spec: &mut Spec, remove: &Remove) -> Result<(), Problem> {
    for name in &remove.instructions {
        let place = spec.instructions.iter().position(|instruction| instruction.name == *name);
        let place = place.ok_or_else(|| format!("no instruction {name}"))?;
        let rows = std::mem::take(&mut spec.instructions[place].rows);
        let (gone, kept): (Vec<Row>, Vec<Row>) =
            rows.into_iter().partition(|row| selected(spec, row, &remove.encodings));
        if gone.is_empty() {
            return Err(format!("{name} has no row in {:?}", remove.encodings));
        }
        spec.instructions[place].rows = kept;
        if spec.instructions[place].rows.is_empty() {
            spec.instructions.remove(place);
        }
        for row in gone {
            let in_use = |other: &Row| other.encoding == row.encoding && other.opcode == row.opcode;
            if spec.instructions.iter().flat_map(|instruction| &instruction.rows).any(in_use) {
                continue;
            }
            let encoding = &mut spec.encodings[usize::from(row.encoding.0)];
            let field = opcode_field(encoding)?;
            let (mask, opcode) = (field_mask(field), place_of(field, row.opcode)?);
            encoding.identifiers.retain(|identifier| identifier & mask != opcode);
        }
    }
    Ok(())
}

pub(super) fn change_operands(spec: &mut Spec, change: &OperandChange) -> Result<(), Problem> {
    let ty = change.ty.as_deref().map(|ty| operand_type(spec, ty)).transpose()?;
    let format = change.format.as_deref().map(|format| data_format(spec, format)).transpose()?;
    let access = match &change.access {
        Some(text) => Some(parse_access(text).ok_or_else(|| format!("`{text}` is not r, w or rw"))?),
        None => None,
    };
    let nth = match change.at.strip_prefix('#') {
        Some(order) => Some(order.parse::<u16>().map_err(|_| format!("`{}` is no operand", change.at))?),
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
