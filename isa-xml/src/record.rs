//! The recorded facts of one specification: `specs/<generation>.json`.
//!
//! The text is deterministic and made for `git diff`: one instruction a line, one encoding's identifiers, conditions
//! and fields a line each, one operand list, format or operand type a line. References are names. Operand lists have
//! keys derived from their content, so that a new list renames no other.

use std::collections::{BTreeMap, HashMap};
use std::fmt::Write as _;

use serde::{Deserialize, Serialize};

use crate::difference::Kind;
use crate::error::Error;
use crate::resolve::sha256;
use crate::spec::{
    BitRange, Condition, DataFormat, Document, Encoding, EncodingId, Expr, Field, FormatField,
    FormatId, Instruction, InstructionFlags, NamedValue, Operand, OperandListId, OperandType,
    OperandTypeId, Operator, Row, Signedness, Spec,
};

/// Version of the record's own layout.
const VERSION: u32 = 1;

/// Hex digits of an operand list's key, as long as no two lists share them.
const KEY_DIGITS: usize = 8;

/// The record of a specification.
#[must_use]
pub fn to_json(spec: &Spec) -> String {
    let lists = operand_lists(spec);
    let keys = list_keys(&lists);

    let mut out = String::new();
    let mut section = |name: &str, text: String, last: bool| {
        let _ = writeln!(out, "\"{name}\": {text}{}", if last { "" } else { "," });
    };
    section("record", VERSION.to_string(), false);
    section("document", json(&DocumentRecord::of(&spec.document)), false);
    section("architecture", json(&spec.architecture), false);
    section("architecture_id", spec.architecture_id.to_string(), false);
    section("groups", json(&spec.groups), false);
    section("subgroups", json(&spec.subgroups), false);
    section(
        "encodings",
        array(spec.encodings.iter().map(encoding_lines)),
        false,
    );
    section(
        "instructions",
        array(
            spec.instructions
                .iter()
                .map(|i| json(&InstructionRecord::of(spec, i, &keys))),
        ),
        false,
    );
    let by_key: BTreeMap<&String, &String> = keys.iter().zip(&lists).collect();
    section(
        "operand_lists",
        format!(
            "{{\n{}\n}}",
            lines(
                by_key
                    .into_iter()
                    .map(|(key, list)| format!("{}: {list}", json(key)))
            )
        ),
        false,
    );
    section(
        "formats",
        array(spec.formats.iter().map(|f| json(&FormatRecord::of(f)))),
        false,
    );
    section(
        "operand_types",
        array(
            spec.operand_types
                .iter()
                .map(|t| json(&OperandTypeRecord::of(t))),
        ),
        true,
    );
    format!("{{\n{out}}}\n")
}

/// Reads a record. Operand lists come out in the order of their first use, as [`crate::resolve`] makes them.
pub fn from_json(text: &str) -> Result<Spec, Error> {
    let record: SpecRecord = serde_json::from_str(text).map_err(|error| Error::Record {
        path: format!("line {}, column {}", error.line(), error.column()),
        message: error.to_string(),
    })?;
    if record.record != VERSION {
        return Err(fail(
            "record",
            format!(
                "layout {} is not {VERSION}, the one known here",
                record.record
            ),
        ));
    }
    record.into_spec()
}

/// Every named thing with its text, for comparing two specifications.
pub(crate) fn items(spec: &Spec) -> BTreeMap<(Kind, String), String> {
    let lists = operand_lists(spec);
    let keys = list_keys(&lists);
    let mut items = BTreeMap::new();
    let document = &spec.document;
    for (name, text) in [
        ("release date", &document.release_date),
        ("schema version", &document.schema_version),
        ("sha256", &document.sha256),
        ("copyright", &document.copyright),
        ("sensitivity", &document.sensitivity),
        ("license", &document.license),
        ("architecture", &spec.architecture),
    ] {
        items.insert((Kind::Document, name.to_owned()), text.clone());
    }
    items.insert(
        (Kind::Document, "architecture id".to_owned()),
        spec.architecture_id.to_string(),
    );
    items.insert(
        (Kind::Document, "groups".to_owned()),
        json(&(&spec.groups, &spec.subgroups)),
    );
    for encoding in &spec.encodings {
        items.insert(
            (Kind::Encoding, encoding.name.clone()),
            encoding_lines(encoding),
        );
    }
    for instruction in &spec.instructions {
        let text = json(&InstructionRecord::of(spec, instruction, &keys));
        items.insert((Kind::Instruction, instruction.name.clone()), text);
    }
    for format in &spec.formats {
        let text = json(&FormatRecord::of(format));
        items.insert((Kind::DataFormat, format.name.clone()), text);
    }
    for ty in &spec.operand_types {
        let text = json(&OperandTypeRecord::of(ty));
        items.insert((Kind::OperandType, ty.name.clone()), text);
    }
    items
}

fn operand_lists(spec: &Spec) -> Vec<String> {
    spec.operand_lists
        .iter()
        .map(|list| {
            json(
                &list
                    .iter()
                    .map(|operand| OperandRecord::of(spec, operand))
                    .collect::<Vec<_>>(),
            )
        })
        .collect()
}

fn fail(path: impl Into<String>, message: impl Into<String>) -> Error {
    Error::Record {
        path: path.into(),
        message: message.into(),
    }
}

fn json<T: Serialize + ?Sized>(value: &T) -> String {
    // Strings and numbers under string keys: serialising to memory cannot fail.
    serde_json::to_string(value).unwrap_or_default()
}

fn lines(items: impl Iterator<Item = String>) -> String {
    items.collect::<Vec<_>>().join(",\n")
}

fn array(items: impl Iterator<Item = String>) -> String {
    let items = lines(items);
    if items.is_empty() {
        "[]".to_owned()
    } else {
        format!("[\n{items}\n]")
    }
}

/// Short keys by content.
fn list_keys(lists: &[String]) -> Vec<String> {
    let hashes: Vec<String> = lists.iter().map(|list| sha256(list.as_bytes())).collect();
    short_keys(&hashes)
}

/// The first digits of hashes; those that share them get more.
fn short_keys(full: &[String]) -> Vec<String> {
    let mut length = vec![KEY_DIGITS; full.len()];
    loop {
        let mut seen: HashMap<&str, Vec<usize>> = HashMap::new();
        for (i, hash) in full.iter().enumerate() {
            seen.entry(&hash[..length[i]]).or_default().push(i);
        }
        let mut again = false;
        for same in seen.values().filter(|same| same.len() > 1) {
            for &i in same {
                if length[i] < full[i].len() {
                    length[i] = full[i].len().min(length[i] * 2);
                    again = true;
                }
            }
        }
        if !again {
            break;
        }
    }
    full.iter()
        .zip(length)
        .map(|(hash, length)| hash[..length].to_owned())
        .collect()
}

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

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SpecRecord {
    record: u32,
    document: DocumentRecord,
    architecture: String,
    architecture_id: u32,
    groups: Vec<String>,
    subgroups: Vec<String>,
    encodings: Vec<EncodingRecord>,
    instructions: Vec<InstructionRecord>,
    operand_lists: BTreeMap<String, Vec<OperandRecord>>,
    formats: Vec<FormatRecord>,
    operand_types: Vec<OperandTypeRecord>,
}

impl SpecRecord {
    fn into_spec(self) -> Result<Spec, Error> {
        let encodings = index("encoding", self.encodings.iter().map(|e| &e.name))?;
        let formats = index("data format", self.formats.iter().map(|f| &f.name))?;
        let types = index("operand type", self.operand_types.iter().map(|t| &t.name))?;

        let mut operand_lists = Vec::new();
        let mut list_ids: HashMap<&str, OperandListId> = HashMap::new();
        let mut instructions = Vec::with_capacity(self.instructions.len());
        for instruction in &self.instructions {
            let path = || format!("instruction {}", instruction.name);
            let mut rows = Vec::with_capacity(instruction.rows.len());
            for row in &instruction.rows {
                let encoding = *encodings
                    .get(row.0.as_str())
                    .ok_or_else(|| fail(path(), format!("unknown encoding {}", row.0)))?;
                let operands = match list_ids.get(row.3.as_str()) {
                    Some(id) => *id,
                    None => {
                        let (key, list) =
                            self.operand_lists.get_key_value(&row.3).ok_or_else(|| {
                                fail(path(), format!("unknown operand list {}", row.3))
                            })?;
                        let list = list
                            .iter()
                            .map(|operand| operand.resolve(key, &formats, &types))
                            .collect::<Result<Vec<_>, _>>()?;
                        let id = u32::try_from(operand_lists.len())
                            .map_err(|_| fail(path(), "too many operand lists"))?;
                        operand_lists.push(list);
                        list_ids.insert(key, OperandListId(id));
                        OperandListId(id)
                    }
                };
                rows.push(Row {
                    encoding: EncodingId(encoding),
                    condition: row.1.clone(),
                    condition_id: row.4,
                    opcode: row.2,
                    operands,
                });
            }
            instructions.push(Instruction {
                name: instruction.name.clone(),
                aliases: instruction.aliases.clone(),
                flags: flags_of(&instruction.flags).map_err(|message| fail(path(), message))?,
                group: instruction.group.clone(),
                subgroups: instruction.subgroups.clone(),
                rows,
            });
        }
        if let Some(unused) = self
            .operand_lists
            .keys()
            .find(|key| !list_ids.contains_key(key.as_str()))
        {
            return Err(fail(format!("operand list {unused}"), "no row uses it"));
        }

        Ok(Spec {
            document: self.document.into_document(),
            architecture: self.architecture,
            architecture_id: self.architecture_id,
            encodings: self
                .encodings
                .into_iter()
                .map(EncodingRecord::into_encoding)
                .collect::<Result<_, _>>()?,
            instructions,
            operand_lists,
            formats: self
                .formats
                .into_iter()
                .map(FormatRecord::into_format)
                .collect(),
            operand_types: self
                .operand_types
                .into_iter()
                .map(OperandTypeRecord::into_type)
                .collect(),
            groups: self.groups,
            subgroups: self.subgroups,
        })
    }
}

fn index<'r>(
    kind: &str,
    names: impl Iterator<Item = &'r String>,
) -> Result<HashMap<&'r str, u16>, Error> {
    let mut map = HashMap::new();
    for (i, name) in names.enumerate() {
        let path = || format!("{kind} {name}");
        let id = u16::try_from(i).map_err(|_| fail(path(), format!("too many {kind}s")))?;
        if map.insert(name.as_str(), id).is_some() {
            return Err(fail(path(), "declared twice"));
        }
    }
    Ok(map)
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct DocumentRecord {
    copyright: String,
    sensitivity: String,
    license: String,
    release_date: String,
    schema_version: String,
    sha256: String,
}

impl DocumentRecord {
    fn of(document: &Document) -> Self {
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

    fn into_document(self) -> Document {
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
struct EncodingRecord {
    name: String,
    order: i32,
    bits: u16,
    mask: Hex,
    identifiers: Vec<Hex>,
    conditions: Vec<ConditionRecord>,
    fields: Vec<FieldRecord>,
}

/// An encoding over four lines, so that a new identifier does not hide a changed field.
fn encoding_lines(encoding: &Encoding) -> String {
    let identifiers: Vec<Hex> = encoding.identifiers.iter().copied().map(Hex).collect();
    let conditions: Vec<ConditionRecord> = encoding
        .conditions
        .iter()
        .map(ConditionRecord::of)
        .collect();
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
    fn into_encoding(self) -> Result<Encoding, Error> {
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
                    condition
                        .into_condition()
                        .map_err(|message| fail(path, message))
                })
                .collect::<Result<_, _>>()?,
            fields: self
                .fields
                .into_iter()
                .map(FieldRecord::into_field)
                .collect(),
            name,
        })
    }
}

/// A number of up to 128 bits, as hex without leading zeros.
struct Hex(u128);

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
struct ConditionRecord {
    name: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    id: Option<u32>,
    expr: serde_json::Value,
}

impl ConditionRecord {
    fn of(condition: &Condition) -> Self {
        Self {
            name: condition.name.clone(),
            id: condition.id,
            expr: expr_to_value(&condition.expr),
        }
    }

    fn into_condition(self) -> Result<Condition, String> {
        Ok(Condition {
            name: self.name,
            id: self.id,
            expr: expr_from_value(&self.expr)?,
        })
    }
}

const ARRAY: &str = ".cons_array";

/// A field is `"VOP1.SRC0"`, a literal a number, an operator a list that begins with its symbol.
fn expr_to_value(expr: &Expr) -> serde_json::Value {
    let list = |symbol: &str, args: &[Expr]| {
        std::iter::once(symbol.into())
            .chain(args.iter().map(expr_to_value))
            .collect()
    };
    match expr {
        Expr::Field { encoding, field } => format!("{encoding}.{field}").into(),
        Expr::Literal(value) => (*value).into(),
        Expr::Array(items) => list(ARRAY, items),
        Expr::Op(operator, args) => list(operator.symbol(), args),
    }
}

fn expr_from_value(value: &serde_json::Value) -> Result<Expr, String> {
    use serde_json::Value;
    let bad = || format!("bad expression {value}");
    match value {
        Value::String(text) => {
            let (encoding, field) = text.split_once('.').ok_or_else(bad)?;
            Ok(Expr::Field {
                encoding: encoding.to_owned(),
                field: field.to_owned(),
            })
        }
        Value::Number(number) => number.as_u64().map(Expr::Literal).ok_or_else(bad),
        Value::Array(items) => {
            let (symbol, args) = items.split_first().ok_or_else(bad)?;
            let symbol = symbol.as_str().ok_or_else(bad)?;
            let args = args
                .iter()
                .map(expr_from_value)
                .collect::<Result<Vec<_>, _>>()?;
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
enum RangeRecord {
    Plain(u16, u16),
    Padded(u16, u16, u16, u64),
}

impl RangeRecord {
    fn of(range: &BitRange) -> Self {
        match range.padding {
            None => Self::Plain(range.offset, range.count),
            Some((bits, value)) => Self::Padded(range.offset, range.count, bits, value),
        }
    }

    fn into_range(self) -> BitRange {
        let (offset, count, padding) = match self {
            Self::Plain(offset, count) => (offset, count, None),
            Self::Padded(offset, count, bits, value) => (offset, count, Some((bits, value))),
        };
        BitRange {
            offset,
            count,
            padding,
        }
    }
}

fn range_records(ranges: &[BitRange]) -> Vec<RangeRecord> {
    ranges.iter().map(RangeRecord::of).collect()
}

fn into_ranges(records: Vec<RangeRecord>) -> Vec<BitRange> {
    records.into_iter().map(RangeRecord::into_range).collect()
}

type ValueRecord = (String, i64);

fn value_records(values: &[NamedValue]) -> Vec<ValueRecord> {
    values
        .iter()
        .map(|value| (value.name.clone(), value.value))
        .collect()
}

fn into_values(records: Vec<ValueRecord>) -> Vec<NamedValue> {
    records
        .into_iter()
        .map(|(name, value)| NamedValue { name, value })
        .collect()
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct FieldRecord {
    name: String,
    ranges: Vec<RangeRecord>,
    #[serde(default, skip_serializing_if = "is_false")]
    conditional: bool,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    values: Vec<ValueRecord>,
}

impl FieldRecord {
    fn of(field: &Field) -> Self {
        Self {
            name: field.name.clone(),
            ranges: range_records(&field.ranges),
            conditional: field.conditional,
            values: value_records(&field.values),
        }
    }

    fn into_field(self) -> Field {
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
struct InstructionRecord {
    name: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    aliases: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    flags: Vec<String>,
    group: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    subgroups: Vec<String>,
    rows: Vec<RowRecord>,
}

/// Encoding, condition, opcode, key of the operand list, and the condition's id where there is one.
struct RowRecord(String, String, u32, String, Option<u32>);

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
                f.write_str(
                    "[encoding, condition, opcode, operand list] and perhaps a condition id",
                )
            }

            fn visit_seq<A: serde::de::SeqAccess<'de>>(
                self,
                mut seq: A,
            ) -> Result<RowRecord, A::Error> {
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
    fn of(spec: &Spec, instruction: &Instruction, keys: &[String]) -> Self {
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

fn flag_names(flags: InstructionFlags) -> Vec<String> {
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

fn flags_of(names: &[String]) -> Result<InstructionFlags, String> {
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
struct OperandRecord {
    order: u16,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    field: Option<String>,
    format: String,
    #[serde(rename = "type")]
    ty: String,
    #[serde(default, skip_serializing_if = "is_zero")]
    size: u16,
    #[serde(default, rename = "in", skip_serializing_if = "is_false")]
    input: bool,
    #[serde(default, rename = "out", skip_serializing_if = "is_false")]
    output: bool,
    #[serde(default, skip_serializing_if = "is_false")]
    implicit: bool,
    #[serde(default = "yes", skip_serializing_if = "is_true")]
    binary_required: bool,
}

impl OperandRecord {
    fn of(spec: &Spec, operand: &Operand) -> Self {
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

    fn resolve(
        &self,
        key: &str,
        formats: &HashMap<&str, u16>,
        types: &HashMap<&str, u16>,
    ) -> Result<Operand, Error> {
        let find = |kind: &str, names: &HashMap<&str, u16>, name: &str| {
            names.get(name).copied().ok_or_else(|| {
                fail(
                    format!("operand list {key} → operand {}", self.order),
                    format!("unknown {kind} {name}"),
                )
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
struct FormatRecord {
    name: String,
    data_type: String,
    bits: u32,
    components: u32,
    bitmaps: Vec<Vec<FormatFieldRecord>>,
}

#[derive(Serialize, Deserialize)]
struct FormatFieldRecord(String, SignednessRecord, Vec<RangeRecord>);

#[derive(Serialize, Deserialize)]
#[serde(remote = "Signedness", rename_all = "snake_case")]
enum SignednessName {
    DoesNotApply,
    Unsigned,
    Signed,
    SignedByModifier,
}

#[derive(Serialize, Deserialize)]
struct SignednessRecord(#[serde(with = "SignednessName")] Signedness);

impl FormatRecord {
    fn of(format: &DataFormat) -> Self {
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

    fn into_format(self) -> DataFormat {
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
struct OperandTypeRecord {
    name: String,
    #[serde(default, skip_serializing_if = "is_false")]
    partitioned: bool,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    subtypes: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    fields: Vec<FieldRecord>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    values: Vec<ValueRecord>,
}

impl OperandTypeRecord {
    fn of(ty: &OperandType) -> Self {
        Self {
            name: ty.name.clone(),
            partitioned: ty.partitioned,
            subtypes: ty.subtypes.clone(),
            fields: ty.fields.iter().map(FieldRecord::of).collect(),
            values: value_records(&ty.values),
        }
    }

    fn into_type(self) -> OperandType {
        OperandType {
            name: self.name,
            values: into_values(self.values),
            fields: self
                .fields
                .into_iter()
                .map(FieldRecord::into_field)
                .collect(),
            partitioned: self.partitioned,
            subtypes: self.subtypes,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::short_keys;

    #[test]
    fn keys_grow_until_they_differ() {
        let hashes = [
            "0123456789abcdef00",
            "0123456789abcdef01",
            "01234567ffffffff00",
            "1123456789abcdef00",
        ]
        .map(str::to_owned);
        assert_eq!(
            short_keys(&hashes),
            [
                "0123456789abcdef00",
                "0123456789abcdef01",
                "01234567ffffffff",
                "11234567"
            ]
        );
        // A key does not depend on the lists around it, unless they collide.
        assert_eq!(short_keys(&hashes[3..]), ["11234567"]);
        // Equal hashes do not loop for ever.
        let same = [hashes[0].clone(), hashes[0].clone()];
        assert_eq!(short_keys(&same), same);
    }
}
