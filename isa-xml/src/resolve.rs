//! Links every reference of a [`Raw`] file and interns operand lists.
//!
//! Names that point nowhere are errors here. Everything that can be represented but looks wrong is left to
//! [`mod@crate::validate`]: a row may, for instance, name a condition that its encoding does not declare, as the rows of
//! `ENC_FLAT_GLBL` do in the files of CDNA 1 to 4 and RDNA 1 and 2.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use sha2::{Digest, Sha256};

use crate::error::{Error, MeaningFault};
use crate::raw::{self, Raw, Text};
use crate::source::Source;
use crate::spec::{
    BitRange, Condition, DataFormat, Document, Encoding, EncodingId, Expr, Field, FormatField, FormatId, Instruction,
    NamedValue, Operand, OperandListId, OperandType, OperandTypeId, Operator, Row, Spec,
};

/// Resolves a parsed file; `source` is the file it was parsed from.
pub fn resolve(raw: &Raw<'_>, source: &Source) -> Result<Spec, Error> {
    let file = source.name.as_str();
    let encodings =
        index(file, "encoding", raw.encodings.iter().map(|e| &e.name), |i| u16::try_from(i).ok().map(EncodingId))?;
    let formats =
        index(file, "data format", raw.formats.iter().map(|f| &f.name), |i| u16::try_from(i).ok().map(FormatId))?;
    let types = index(file, "operand type", raw.operand_types.iter().map(|t| &t.name), |i| {
        u16::try_from(i).ok().map(OperandTypeId)
    })?;
    index(file, "instruction", raw.instructions.iter().map(|i| &i.name), Some)?;

    let mut lists = OperandLists::default();
    let mut instructions = Vec::with_capacity(raw.instructions.len());
    for instruction in &raw.instructions {
        let mut rows = Vec::with_capacity(instruction.rows.len());
        for row in &instruction.rows {
            let fault = |operand: Option<&raw::Operand<'_>>, fault| {
                let mut path = format!("instruction {}", instruction.name);
                path += &format!(" → encoding {}", row.encoding);
                if let Some(operand) = operand {
                    path += &format!(" → operand {}", operand.order);
                }
                meaning(file, path, fault)
            };
            let encoding =
                *encodings.get(&*row.encoding).ok_or_else(|| fault(None, unknown("encoding", &row.encoding)))?;
            let operands = row
                .operands
                .iter()
                .map(|operand| {
                    let format = formats
                        .get(&*operand.format)
                        .ok_or_else(|| fault(Some(operand), unknown("data format", &operand.format)))?;
                    let ty = types
                        .get(&*operand.ty)
                        .ok_or_else(|| fault(Some(operand), unknown("operand type", &operand.ty)))?;
                    Ok(BorrowedOperand {
                        field: operand.field.as_deref(),
                        format: *format,
                        ty: *ty,
                        raw: (
                            operand.size,
                            operand.input,
                            operand.output,
                            operand.implicit,
                            operand.binary_required,
                            operand.order,
                        ),
                    })
                })
                .collect::<Result<Vec<_>, Error>>()?;
            rows.push(Row {
                encoding,
                condition: row.condition.to_string(),
                condition_id: row.condition_id,
                opcode: row.opcode,
                operands: lists.intern(operands).map_err(|too_many| fault(None, too_many))?,
            });
        }
        instructions.push(Instruction {
            name: instruction.name.to_string(),
            aliases: strings(&instruction.aliases),
            flags: instruction.flags,
            group: instruction.group.to_string(),
            subgroups: strings(&instruction.subgroups),
            rows,
        });
    }

    let document = &raw.document;
    Ok(Spec {
        document: Document {
            copyright: document.copyright.to_string(),
            sensitivity: document.sensitivity.to_string(),
            license: document.license.to_string(),
            release_date: document.release_date.to_string(),
            schema_version: document.schema_version.to_string(),
            sha256: sha256(source.text.as_bytes()),
        },
        architecture: raw.architecture.to_string(),
        architecture_id: raw.architecture_id,
        encodings: raw.encodings.iter().map(|encoding| self::encoding(file, encoding)).collect::<Result<_, _>>()?,
        instructions,
        operand_lists: lists.into_vec(),
        formats: raw.formats.iter().map(format).collect(),
        operand_types: raw.operand_types.iter().map(operand_type).collect(),
        groups: strings(&raw.groups),
        subgroups: strings(&raw.subgroups),
    })
}

/// Lower-case hex sha256.
pub(crate) fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

fn meaning(file: &str, path: String, fault: MeaningFault) -> Error {
    Error::Meaning { file: file.to_owned(), path, fault }
}

fn unknown(kind: &'static str, name: &str) -> MeaningFault {
    MeaningFault::Unknown { kind, name: name.to_owned() }
}

fn strings(texts: &[Text<'_>]) -> Vec<String> {
    texts.iter().map(ToString::to_string).collect()
}

/// From name to index, for names that must be unique.
fn index<'r, 'a: 'r, Id>(
    file: &str,
    kind: &'static str,
    names: impl Iterator<Item = &'r Text<'a>>,
    make: impl Fn(usize) -> Option<Id>,
) -> Result<HashMap<&'r str, Id>, Error> {
    let mut map = HashMap::new();
    for (i, name) in names.enumerate() {
        let path = || format!("{kind} {name}");
        let id = make(i).ok_or_else(|| {
            let limit = usize::from(u16::MAX) + 1;
            meaning(file, path(), MeaningFault::TooMany { kind, limit })
        })?;
        if map.insert(&**name, id).is_some() {
            let name = name.to_string();
            return Err(meaning(file, path(), MeaningFault::Duplicate { kind, name }));
        }
    }
    Ok(map)
}

/// [`Operand`] before it is known to be new.
#[derive(Clone, PartialEq, Eq, Hash)]
struct BorrowedOperand<'r> {
    field: Option<&'r str>,
    format: FormatId,
    ty: OperandTypeId,
    raw: (u16, bool, bool, bool, bool, u16),
}

/// Operand lists in the order of their first use.
#[derive(Default)]
struct OperandLists<'r> {
    ids: HashMap<Vec<BorrowedOperand<'r>>, OperandListId>,
}

impl<'r> OperandLists<'r> {
    fn intern(&mut self, list: Vec<BorrowedOperand<'r>>) -> Result<OperandListId, MeaningFault> {
        let next = self.ids.len();
        match self.ids.entry(list) {
            Entry::Occupied(entry) => Ok(*entry.get()),
            Entry::Vacant(entry) => {
                let next = u32::try_from(next)
                    .map_err(|_| MeaningFault::TooMany { kind: "operand list", limit: u32::MAX as usize })?;
                Ok(*entry.insert(OperandListId(next)))
            }
        }
    }

    fn into_vec(self) -> Vec<Vec<Operand>> {
        let mut lists = vec![Vec::new(); self.ids.len()];
        for (list, id) in self.ids {
            lists[id.0 as usize] = list
                .into_iter()
                .map(|operand| {
                    let (size, input, output, implicit, binary_required, order) = operand.raw;
                    Operand {
                        field: operand.field.map(str::to_owned),
                        format: operand.format,
                        ty: operand.ty,
                        size,
                        input,
                        output,
                        implicit,
                        binary_required,
                        order,
                    }
                })
                .collect();
        }
        lists
    }
}

fn encoding(file: &str, raw: &raw::Encoding<'_>) -> Result<Encoding, Error> {
    let conditions = raw
        .conditions
        .iter()
        .map(|condition| {
            Ok(Condition {
                name: condition.name.to_string(),
                id: condition.id,
                expr: expr(&condition.expr).map_err(|fault| {
                    let path = format!("encoding {} → condition {}", raw.name, condition.name);
                    meaning(file, path, MeaningFault::Condition(fault))
                })?,
            })
        })
        .collect::<Result<_, Error>>()?;
    Ok(Encoding {
        name: raw.name.to_string(),
        order: raw.order,
        bits: raw.bits,
        identifier_mask: raw.identifier_mask,
        identifiers: raw.identifiers.clone(),
        conditions,
        fields: raw.fields.iter().map(field).collect(),
    })
}

/// Drops the types: every value is an unsigned integer that fits 64 bits.
fn expr(raw: &raw::Expr<'_>) -> Result<Expr, String> {
    match raw {
        raw::Expr::Op { operator, args } => {
            let args: Vec<&raw::Expr<'_>> =
                args.iter().filter(|arg| !matches!(arg, raw::Expr::ReturnType(_))).collect();
            if operator == ".fieldderef" {
                return field_reference(&args);
            }
            let values = args.iter().map(|arg| expr(arg)).collect::<Result<Vec<_>, _>>()?;
            if operator == ".cons_array" {
                return Ok(Expr::Array(values));
            }
            let operator = Operator::from_symbol(operator).ok_or_else(|| format!("unknown operator {operator}"))?;
            if !operator.takes(values.len()) {
                return Err(format!("{operator} with {} arguments", values.len()));
            }
            Ok(Expr::Op(operator, values))
        }
        raw::Expr::Literal(value, _) => {
            let value = value.trim();
            // CDNA 4's file writes the literal 1 of its `default` conditions as an empty element.
            if value.is_empty() {
                return Ok(Expr::Literal(1));
            }
            value.parse().map(Expr::Literal).map_err(|_| format!("literal {value:?} is not an unsigned number"))
        }
        raw::Expr::Id(name) => Err(format!("{name} alone is not a value")),
        raw::Expr::ReturnType(_) => Err("a type alone is not a value".to_owned()),
    }
}

/// `(.fieldderef (.fieldderef INST encoding) field)`
fn field_reference(args: &[&raw::Expr<'_>]) -> Result<Expr, String> {
    let shape = || "a field reference that is not INST.<encoding>.<field>".to_owned();
    let [raw::Expr::Op { operator, args }, raw::Expr::Id(field)] = args else {
        return Err(shape());
    };
    let ids: Vec<&str> = args
        .iter()
        .filter_map(|arg| match arg {
            raw::Expr::Id(id) => Some(&**id),
            _ => None,
        })
        .collect();
    match ids[..] {
        // A dot would make the record's spelling `encoding.field` ambiguous.
        ["INST", encoding] if operator == ".fieldderef" && !encoding.contains('.') => {
            Ok(Expr::Field { encoding: encoding.to_owned(), field: field.to_string() })
        }
        _ => Err(shape()),
    }
}

fn ranges(raw: &[raw::Range]) -> Vec<BitRange> {
    raw.iter().map(|range| BitRange { offset: range.offset, count: range.count, padding: range.padding }).collect()
}

fn values(raw: &[raw::PredefinedValue<'_>]) -> Vec<NamedValue> {
    raw.iter().map(|value| NamedValue { name: value.name.to_string(), value: value.value }).collect()
}

fn field(raw: &raw::Field<'_>) -> Field {
    Field {
        name: raw.name.to_string(),
        ranges: ranges(&raw.ranges),
        conditional: raw.conditional,
        values: values(&raw.values),
    }
}

fn format(raw: &raw::DataFormat<'_>) -> DataFormat {
    DataFormat {
        name: raw.name.to_string(),
        data_type: raw.data_type.to_string(),
        bits: raw.bits,
        components: raw.components,
        bitmaps: raw
            .bitmaps
            .iter()
            .map(|(_, fields)| {
                fields
                    .iter()
                    .map(|field| FormatField {
                        name: field.name.to_string(),
                        signedness: field.signedness,
                        ranges: ranges(&field.ranges),
                    })
                    .collect()
            })
            .collect(),
    }
}

fn operand_type(raw: &raw::OperandType<'_>) -> OperandType {
    OperandType {
        name: raw.name.to_string(),
        values: values(&raw.values),
        fields: raw.fields.iter().map(field).collect(),
        partitioned: raw.partitioned,
        subtypes: strings(&raw.subtypes),
    }
}
