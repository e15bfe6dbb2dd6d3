//! The recorded facts of one specification: `specs/<generation>.json`.
//!
//! The text is deterministic and made for `git diff`: one instruction a line, one encoding's identifiers, conditions
//! and fields a line each, one operand list, format or operand type a line. References are names. Operand lists have
//! keys derived from their content, so that a new list renames no other.

mod shape;

use std::collections::{BTreeMap, HashMap};
use std::fmt::Write as _;

use serde::{Deserialize, Serialize};

use crate::difference::Kind;
use crate::error::Error;
use crate::resolve::sha256;
use crate::spec::{EncodingId, Instruction, OperandListId, Row, Spec};
use shape::{
    DocumentRecord, EncodingRecord, FormatRecord, InstructionRecord, OperandRecord, OperandTypeRecord, encoding_lines,
    flags_of,
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
    section("encodings", array(spec.encodings.iter().map(encoding_lines)), false);
    section(
        "instructions",
        array(spec.instructions.iter().map(|i| json(&InstructionRecord::of(spec, i, &keys)))),
        false,
    );
    let by_key: BTreeMap<&String, &String> = keys.iter().zip(&lists).collect();
    section(
        "operand_lists",
        format!("{{\n{}\n}}", lines(by_key.into_iter().map(|(key, list)| format!("{}: {list}", json(key))))),
        false,
    );
    section("formats", array(spec.formats.iter().map(|f| json(&FormatRecord::of(f)))), false);
    section("operand_types", array(spec.operand_types.iter().map(|t| json(&OperandTypeRecord::of(t)))), true);
    format!("{{\n{out}}}\n")
}

/// Reads a record. Operand lists come out in the order of their first use, as [`crate::resolve`] makes them.
pub fn from_json(text: &str) -> Result<Spec, Error> {
    let record: SpecRecord = serde_json::from_str(text).map_err(|error| Error::Record {
        path: format!("line {}, column {}", error.line(), error.column()),
        message: error.to_string(),
    })?;
    if record.record != VERSION {
        return Err(fail("record", format!("layout {} is not {VERSION}, the one known here", record.record)));
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
    items.insert((Kind::Document, "architecture id".to_owned()), spec.architecture_id.to_string());
    items.insert((Kind::Document, "groups".to_owned()), json(&(&spec.groups, &spec.subgroups)));
    for encoding in &spec.encodings {
        items.insert((Kind::Encoding, encoding.name.clone()), encoding_lines(encoding));
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
        .map(|list| json(&list.iter().map(|operand| OperandRecord::of(spec, operand)).collect::<Vec<_>>()))
        .collect()
}

fn fail(path: impl Into<String>, message: impl Into<String>) -> Error {
    Error::Record { path: path.into(), message: message.into() }
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
    if items.is_empty() { "[]".to_owned() } else { format!("[\n{items}\n]") }
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
    full.iter().zip(length).map(|(hash, length)| hash[..length].to_owned()).collect()
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
                        let (key, list) = self
                            .operand_lists
                            .get_key_value(&row.3)
                            .ok_or_else(|| fail(path(), format!("unknown operand list {}", row.3)))?;
                        let list =
                            list.iter()
                                .map(|operand| operand.resolve(key, &formats, &types))
                                .collect::<Result<Vec<_>, _>>()?;
                        let id =
                            u32::try_from(operand_lists.len()).map_err(|_| fail(path(), "too many operand lists"))?;
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
        if let Some(unused) = self.operand_lists.keys().find(|key| !list_ids.contains_key(key.as_str())) {
            return Err(fail(format!("operand list {unused}"), "no row uses it"));
        }

        Ok(Spec {
            document: self.document.into_document(),
            architecture: self.architecture,
            architecture_id: self.architecture_id,
            encodings: self.encodings.into_iter().map(EncodingRecord::into_encoding).collect::<Result<_, _>>()?,
            instructions,
            operand_lists,
            formats: self.formats.into_iter().map(FormatRecord::into_format).collect(),
            operand_types: self.operand_types.into_iter().map(OperandTypeRecord::into_type).collect(),
            groups: self.groups,
            subgroups: self.subgroups,
        })
    }
}

fn index<'r>(kind: &str, names: impl Iterator<Item = &'r String>) -> Result<HashMap<&'r str, u16>, Error> {
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

#[cfg(test)]
mod tests {
    use super::short_keys;

    #[test]
    fn keys_grow_until_they_differ() {
        let hashes =
            ["0123456789abcdef00", "0123456789abcdef01", "01234567ffffffff00", "1123456789abcdef00"].map(str::to_owned);
        assert_eq!(short_keys(&hashes), ["0123456789abcdef00", "0123456789abcdef01", "01234567ffffffff", "11234567"]);
        // A key does not depend on the lists around it, unless they collide.
        assert_eq!(short_keys(&hashes[3..]), ["11234567"]);
        // Equal hashes do not loop for ever.
        let same = [hashes[0].clone(), hashes[0].clone()];
        assert_eq!(short_keys(&same), same);
    }
}
