//! The JSON shape of each thing in a record.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use super::{fail, json};
use crate::error::Error;
use crate::spec::{
    BitRange, Condition, DataFormat, Document, Encoding, Expr, Field, FormatField, FormatId, Instruction,
    InstructionFlags, NamedValue, Operand, OperandType, OperandTypeId, Operator, Signedness, Spec,
};

fn is_false(value: &bool) -> bool {
    !*value
}

fn is_true(value: &bool) -> bool {
    *value
}

fn yes() -> bool {
    true
}

fn is_zero(value: &u16) -> bool {
    *value == 0
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct DocumentRecord {
    pub(super) copyright: String,
    pub(super) sensitivity: String,
    pub(super) license: String,
    pub(super) release_date: String,
    pub(super) schema_version: String,
    pub(super) sha256: String,
}

impl DocumentRecord {
    pub(super) fn of(document: &Document) -> Self {
        let document = document.clone();
        Self {
            copyright: document.copyright,
            sensitivity: document.sensitivity,
            license: document.license,
            release_date: document.release_date,
            schema_version: document.schema_version,
            sha256: document.sha256,
        }
    }

    pub(super) fn into_document(self) -> Document {
        Document {
            copyright: self.copyright,
            sensitivity: self.sensitivity,
            license: self.license,
            release_date: self.release_date,
            schema_version: self.schema_version,
            sha256: self.sha256,
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct EncodingRecord {
    pub(super) name: String,
    pub(super) order: i32,
    pub(super) bits: u16,
    pub(super) mask: Hex,
    pub(super) identifiers: Vec<Hex>,
    pub(super) conditions: Vec<ConditionRecord>,
    pub(super) fields: Vec<FieldRecord>,
}

/// An encoding over four lines, so that a new identifier does not hide a changed field.
pub(super) fn encoding_lines(encoding: &Encoding) -> String {
    let identifiers: Vec<Hex> = encoding.identifiers.iter().copied().map(Hex).collect();
    let conditions: Vec<ConditionRecord> = encoding.conditions.iter().map(ConditionRecord::of).collect();
    let fields: Vec<FieldRecord> = encoding.fields.iter().map(FieldRecord::of).collect();
    format!(
        "{{\"name\":{},\"order\":{},\"bits\":{},\"mask\":{},\n \"conditions\":{},\n \"fields\":{},\n \"identifiers\":{}}}",
        json(&encoding.name),
        encoding.order,
        encoding.bits,
        json(&Hex(encoding.identifier_mask)),
        json(&conditions),
        json(&fields),
        json(&identifiers),
    )
}

impl EncodingRecord {
    pub(super) fn into_encoding(self) -> Result<Encoding, Error> {
        let name = self.name;
        Ok(Encoding {
            order: self.order,
            bits: self.bits,
            identifier_mask: self.mask.0,
            identifiers: self.identifiers.into_iter().map(|hex| hex.0).collect(),
            conditions: self
                .conditions
                .into_iter()
                .map(|condition| {
                    let path = format!("encoding {name} → condition {}", condition.name);
                    condition.into_condition().map_err(|message| fail(path, message))
                })
                .collect::<Result<_, _>>()?,
            fields: self.fields.into_iter().map(FieldRecord::into_field).collect(),
            name,
        })
    }
}

/// A number of up to 128 bits, as hex without leading zeros.
pub(super) struct Hex(u128);

impl Serialize for Hex {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&format_args!("{:x}", self.0))
    }
}

impl<'de> Deserialize<'de> for Hex {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        u128::from_str_radix(&text, 16)
            .map(Self)
            .map_err(|_| serde::de::Error::custom(format!("{text:?} is not a hexadecimal number")))
    }
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ConditionRecord {
    pub(super) name: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) id: Option<u32>,
    pub(super) expr: serde_json::Value,
}

impl ConditionRecord {
    pub(super) fn of(condition: &Condition) -> Self {
        Self { name: condition.name.clone(), id: condition.id, expr: expr_to_value(&condition.expr) }
    }

    pub(super) fn into_condition(self) -> Result<Condition, String> {
        Ok(Condition { name: self.name, id: self.id, expr: expr_from_value(&self.expr)? })
    }
}

pub(super) const ARRAY: &str = ".cons_array";

/// A field is `"VOP1.SRC0"`, a literal a number, an operator a list that begins with its symbol.
pub(super) fn expr_to_value(expr: &Expr) -> serde_json::Value {
    let list =
        |symbol: &str, args: &[Expr]| std::iter::once(symbol.into()).chain(args.iter().map(expr_to_value)).collect();
    match expr {
        Expr::Field { encoding, field } => format!("{encoding}.{field}").into(),
        Expr::Literal(value) => (*value).into(),
        Expr::Array(items) => list(ARRAY, items),
        Expr::Op(operator, args) => list(operator.symbol(), args),
    }
}

pub(super) fn expr_from_value(value: &serde_json::Value) -> Result<Expr, String> {
    use serde_json::Value;
    let bad = || format!("bad expression {value}");
    match value {
        Value::String(text) => {
            let (encoding, field) = text.split_once('.').ok_or_else(bad)?;
            Ok(Expr::Field { encoding: encoding.to_owned(), field: field.to_owned() })
        }
        Value::Number(number) => number.as_u64().map(Expr::Literal).ok_or_else(bad),
        Value::Array(items) => {
            let (symbol, args) = items.split_first().ok_or_else(bad)?;
            let symbol = symbol.as_str().ok_or_else(bad)?;
            let args = args.iter().map(expr_from_value).collect::<Result<Vec<_>, _>>()?;
            if symbol == ARRAY {
                return Ok(Expr::Array(args));
            }
            let operator = Operator::from_symbol(symbol).ok_or_else(bad)?;
            if !operator.takes(args.len()) {
                return Err(bad());
            }
            Ok(Expr::Op(operator, args))
        }
        _ => Err(bad()),
    }
}

/// `[offset, count]` or `[offset, count, padding bits, padding value]`.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
pub(super) enum RangeRecord {
    Plain(u16, u16),
    Padded(u16, u16, u16, u64),
}

impl RangeRecord {
    pub(super) fn of(range: &BitRange) -> Self {
        match range.padding {
            None => Self::Plain(range.offset, range.count),
            Some((bits, value)) => Self::Padded(range.offset, range.count, bits, value),
        }
    }

    pub(super) fn into_range(self) -> BitRange {
        let (offset, count, padding) = match self {
            Self::Plain(offset, count) => (offset, count, None),
            Self::Padded(offset, count, bits, value) => (offset, count, Some((bits, value))),
        };
        BitRange { offset, count, padding }
    }
}

pub(super) fn range_records(ranges: &[BitRange]) -> Vec<RangeRecord> {
    ranges.iter().map(RangeRecord::of).collect()
}

pub(super) fn into_ranges(records: Vec<RangeRecord>) -> Vec<BitRange> {
    records.into_iter().map(RangeRecord::into_range).collect()
}

pub(super) type ValueRecord = (String, i64);

pub(super) fn value_records(values: &[NamedValue]) -> Vec<ValueRecord> {
    values.iter().map(|value| (value.name.clone(), value.value)).collect()
}

pub(super) fn into_values(records: Vec<ValueRecord>) -> Vec<NamedValue> {
    records.into_iter().map(|(name, value)| NamedValue { name, value }).collect()
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct FieldRecord {
    pub(super) name: String,
    pub(super) ranges: Vec<RangeRecord>,
    #[serde(default, skip_serializing_if = "is_false")]
    pub(super) conditional: bool,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) values: Vec<ValueRecord>,
}

impl FieldRecord {
    pub(super) fn of(field: &Field) -> Self {
        Self {
            name: field.name.clone(),
            ranges: range_records(&field.ranges),
            conditional: field.conditional,
            values: value_records(&field.values),
        }
    }

    pub(super) fn into_field(self) -> Field {
        Field {
            name: self.name,
            ranges: into_ranges(self.ranges),
            conditional: self.conditional,
            values: into_values(self.values),
        }
    }
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct InstructionRecord {
    pub(super) name: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) aliases: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) flags: Vec<String>,
    pub(super) group: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) subgroups: Vec<String>,
    pub(super) rows: Vec<RowRecord>,
}

/// Encoding, condition, opcode, key of the operand list, and the condition's id where there is one.
pub(super) struct RowRecord(
    pub(super) String,
    pub(super) String,
    pub(super) u32,
    pub(super) String,
    pub(super) Option<u32>,
);

impl Serialize for RowRecord {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.4 {
            None => (&self.0, &self.1, self.2, &self.3).serialize(serializer),
            Some(id) => (&self.0, &self.1, self.2, &self.3, id).serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for RowRecord {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;
        impl<'de> serde::de::Visitor<'de> for Visitor {
            type Value = RowRecord;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("[encoding, condition, opcode, operand list] and perhaps a condition id")
            }

            fn visit_seq<A: serde::de::SeqAccess<'de>>(self, mut seq: A) -> Result<RowRecord, A::Error> {
                use serde::de::Error;
                let short = |n| A::Error::invalid_length(n, &"4 or 5 elements");
                Ok(RowRecord(
                    seq.next_element()?.ok_or_else(|| short(0))?,
                    seq.next_element()?.ok_or_else(|| short(1))?,
                    seq.next_element()?.ok_or_else(|| short(2))?,
                    seq.next_element()?.ok_or_else(|| short(3))?,
                    seq.next_element()?,
                ))
            }
        }
        deserializer.deserialize_seq(Visitor)
    }
}

impl InstructionRecord {
    pub(super) fn of(spec: &Spec, instruction: &Instruction, keys: &[String]) -> Self {
        Self {
            name: instruction.name.clone(),
            aliases: instruction.aliases.clone(),
            flags: flag_names(instruction.flags),
            group: instruction.group.clone(),
            subgroups: instruction.subgroups.clone(),
            rows: instruction
                .rows
                .iter()
                .map(|row| {
                    RowRecord(
                        spec.encodings[usize::from(row.encoding.0)].name.clone(),
                        row.condition.clone(),
                        row.opcode,
                        keys[row.operands.0 as usize].clone(),
                        row.condition_id,
                    )
                })
                .collect(),
        }
    }
}

pub(super) fn flag_names(flags: InstructionFlags) -> Vec<String> {
    [
        (flags.branch, "branch"),
        (flags.conditional_branch, "conditional_branch"),
        (flags.indirect_branch, "indirect_branch"),
        (flags.program_terminator, "program_terminator"),
        (flags.immediately_executed, "immediately_executed"),
    ]
    .into_iter()
    .filter(|(set, _)| *set)
    .map(|(_, name)| name.to_owned())
    .collect()
}

pub(super) fn flags_of(names: &[String]) -> Result<InstructionFlags, String> {
    let mut flags = InstructionFlags::default();
    for name in names {
        match name.as_str() {
            "branch" => flags.branch = true,
            "conditional_branch" => flags.conditional_branch = true,
            "indirect_branch" => flags.indirect_branch = true,
            "program_terminator" => flags.program_terminator = true,
            "immediately_executed" => flags.immediately_executed = true,
            _ => return Err(format!("unknown flag {name}")),
        }
    }
    Ok(flags)
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct OperandRecord {
    pub(super) order: u16,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) field: Option<String>,
    pub(super) format: String,
    #[serde(rename = "type")]
    pub(super) ty: String,
    #[serde(default, skip_serializing_if = "is_zero")]
    pub(super) size: u16,
    #[serde(default, rename = "in", skip_serializing_if = "is_false")]
    pub(super) input: bool,
    #[serde(default, rename = "out", skip_serializing_if = "is_false")]
    pub(super) output: bool,
    #[serde(default, skip_serializing_if = "is_false")]
    pub(super) implicit: bool,
    #[serde(default = "yes", skip_serializing_if = "is_true")]
    pub(super) binary_required: bool,
}

impl OperandRecord {
    pub(super) fn of(spec: &Spec, operand: &Operand) -> Self {
        Self {
            order: operand.order,
            field: operand.field.clone(),
            format: spec.formats[usize::from(operand.format.0)].name.clone(),
            ty: spec.operand_types[usize::from(operand.ty.0)].name.clone(),
            size: operand.size,
            input: operand.input,
            output: operand.output,
            implicit: operand.implicit,
            binary_required: operand.binary_required,
        }
    }

    pub(super) fn resolve(
        &self,
        key: &str,
        formats: &HashMap<&str, u16>,
        types: &HashMap<&str, u16>,
    ) -> Result<Operand, Error> {
        let find = |kind: &str, names: &HashMap<&str, u16>, name: &str| {
            names.get(name).copied().ok_or_else(|| {
                fail(format!("operand list {key} → operand {}", self.order), format!("unknown {kind} {name}"))
            })
        };
        Ok(Operand {
            field: self.field.clone(),
            format: FormatId(find("data format", formats, &self.format)?),
            ty: OperandTypeId(find("operand type", types, &self.ty)?),
            size: self.size,
            input: self.input,
            output: self.output,
            implicit: self.implicit,
            binary_required: self.binary_required,
            order: self.order,
        })
    }
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct FormatRecord {
    pub(super) name: String,
    pub(super) data_type: String,
    pub(super) bits: u32,
    pub(super) components: u32,
    pub(super) bitmaps: Vec<Vec<FormatFieldRecord>>,
}

#[derive(Serialize, Deserialize)]
pub(super) struct FormatFieldRecord(String, SignednessRecord, Vec<RangeRecord>);

#[derive(Serialize, Deserialize)]
#[serde(remote = "Signedness", rename_all = "snake_case")]
pub(super) enum SignednessName {
    DoesNotApply,
    Unsigned,
    Signed,
    SignedByModifier,
}

#[derive(Serialize, Deserialize)]
pub(super) struct SignednessRecord(#[serde(with = "SignednessName")] Signedness);

impl FormatRecord {
    pub(super) fn of(format: &DataFormat) -> Self {
        Self {
            name: format.name.clone(),
            data_type: format.data_type.clone(),
            bits: format.bits,
            components: format.components,
            bitmaps: format
                .bitmaps
                .iter()
                .map(|fields| {
                    fields
                        .iter()
                        .map(|field| {
                            FormatFieldRecord(
                                field.name.clone(),
                                SignednessRecord(field.signedness),
                                range_records(&field.ranges),
                            )
                        })
                        .collect()
                })
                .collect(),
        }
    }

    pub(super) fn into_format(self) -> DataFormat {
        DataFormat {
            name: self.name,
            data_type: self.data_type,
            bits: self.bits,
            components: self.components,
            bitmaps: self
                .bitmaps
                .into_iter()
                .map(|fields| {
                    fields
                        .into_iter()
                        .map(|FormatFieldRecord(name, signedness, ranges)| FormatField {
                            name,
                            signedness: signedness.0,
                            ranges: into_ranges(ranges),
                        })
                        .collect()
                })
                .collect(),
        }
    }
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct OperandTypeRecord {
    pub(super) name: String,
    #[serde(default, skip_serializing_if = "is_false")]
    pub(super) partitioned: bool,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) subtypes: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) fields: Vec<FieldRecord>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) values: Vec<ValueRecord>,
}

impl OperandTypeRecord {
    pub(super) fn of(ty: &OperandType) -> Self {
        Self {
            name: ty.name.clone(),
            partitioned: ty.partitioned,
            subtypes: ty.subtypes.clone(),
            fields: ty.fields.iter().map(FieldRecord::of).collect(),
            values: value_records(&ty.values),
        }
    }

    pub(super) fn into_type(self) -> OperandType {
        OperandType {
            name: self.name,
            values: into_values(self.values),
            fields: self.fields.into_iter().map(FieldRecord::into_field).collect(),
            partitioned: self.partitioned,
            subtypes: self.subtypes,
        }
    }
}
