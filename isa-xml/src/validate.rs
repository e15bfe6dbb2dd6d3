//! Checks of a resolved specification against itself.
//!
//! [`Severity::Error`] is for what no decoder could be made from: such a specification is refused. [`Severity::Warning`]
//! is for contradictions that AMD's files are known to have, or that cost one row and not the whole.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::fmt;

use crate::spec::{
    BitRange, Encoding, EncodingId, Expr, Field, Instruction, NamedValue, Operand, OperandListId, OperandType, Spec,
};

/// How bad a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// A contradiction to know of.
    Warning,
    /// The specification cannot be used.
    Error,
}

/// What was checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Check {
    /// Width of an encoding, a field or a format.
    Width,
    /// A field beyond the width of what it is in.
    OutOfBounds,
    /// Two fields share bits.
    Overlap,
    /// A name twice where it should be unique.
    DuplicateName,
    /// An identifier with bits outside the mask, beyond the width, or listed twice.
    Identifier,
    /// An identifier that no row has, or a row whose identifier is not listed.
    UnlistedIdentifier,
    /// An opcode larger than its field.
    Opcode,
    /// The same (encoding, opcode, condition) again.
    DuplicateKey,
    /// A condition that the encoding does not declare.
    UndeclaredCondition,
    /// A condition on a field that the encoding does not have.
    ConditionField,
    /// A name that is declared nowhere.
    MissingReference,
    /// An operand in a field that the encoding does not have.
    OperandField,
    /// Operands whose order is not 1, 2, 3, ...
    OperandOrder,
    /// An operand neither read nor written.
    OperandUse,
    /// An operand's size that its format cannot fill.
    OperandSize,
    /// A value that does not fit its field.
    Value,
}

impl Severity {
    fn name(self) -> &'static str {
        match self {
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl fmt::Display for Check {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Width => "width",
            Self::OutOfBounds => "field out of bounds",
            Self::Overlap => "overlapping fields",
            Self::DuplicateName => "duplicate name",
            Self::Identifier => "identifier",
            Self::UnlistedIdentifier => "unlisted identifier",
            Self::Opcode => "opcode",
            Self::DuplicateKey => "duplicate key",
            Self::UndeclaredCondition => "undeclared condition",
            Self::ConditionField => "condition on a missing field",
            Self::MissingReference => "missing reference",
            Self::OperandField => "operand in a missing field",
            Self::OperandOrder => "operand order",
            Self::OperandUse => "operand use",
            Self::OperandSize => "operand size",
            Self::Value => "value",
        })
    }
}

/// One contradiction.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Finding {
    /// How bad it is.
    pub severity: Severity,
    /// What was checked.
    pub check: Check,
    /// The path to the element, for example `instruction V_ADD_F32 → encoding ENC_VOP3 → operand 2`.
    pub path: String,
    /// What is wrong.
    pub message: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}: {}", self.severity, self.path, self.message)
    }
}

/// All findings, in the order of the specification.
#[must_use]
pub fn validate(spec: &Spec) -> Vec<Finding> {
    let mut v = Validator { spec, findings: Vec::new() };
    for encoding in &spec.encodings {
        v.encoding(encoding);
    }
    v.instructions();
    v.formats();
    let types: HashSet<&str> = spec.operand_types.iter().map(|t| t.name.as_str()).collect();
    for ty in &spec.operand_types {
        v.operand_type(ty, &types);
    }
    v.findings
}

struct Validator<'s> {
    spec: &'s Spec,
    findings: Vec<Finding>,
}

impl<'s> Validator<'s> {
    fn add(&mut self, severity: Severity, check: Check, path: &str, message: String) {
        self.findings.push(Finding { severity, check, path: path.to_owned(), message });
    }

    fn error(&mut self, check: Check, path: &str, message: String) {
        self.add(Severity::Error, check, path, message);
    }

    fn warn(&mut self, check: Check, path: &str, message: String) {
        self.add(Severity::Warning, check, path, message);
    }

    fn encoding(&mut self, encoding: &Encoding) {
        let path = format!("encoding {}", encoding.name);
        let bits = encoding.bits;
        if bits == 0 || bits > MAX_ENCODING_BITS || !bits.is_multiple_of(32) {
            self.error(Check::Width, &path, format!("{bits} bits are not one to five dwords"));
        }
        self.fields(&path, &encoding.fields, Some(bits), Severity::Error);

        let mask = encoding.identifier_mask;
        if mask & !low_bits(bits) != 0 {
            let message = format!("the identifier mask {mask:#x} is wider than {bits} bits");
            self.error(Check::Identifier, &path, message);
        }
        let mut seen = HashSet::new();
        for &identifier in &encoding.identifiers {
            if identifier & !low_bits(bits) != 0 {
                let message = format!("identifier {identifier:#x} is wider than {bits} bits");
                self.error(Check::Identifier, &path, message);
            }
            if !seen.insert(identifier) {
                let message = format!("identifier {identifier:#x} is listed twice");
                self.warn(Check::Identifier, &path, message);
            }
        }
        // Where an opcode is split over two fields, AMD adds it to the first as if that were wide enough.
        let outside: Vec<String> = encoding
            .identifiers
            .iter()
            .filter(|&identifier| identifier & !mask != 0)
            .map(|identifier| format!("{identifier:#x}"))
            .collect();
        if !outside.is_empty() {
            let message = format!("identifiers with bits outside the mask {mask:#x}: {}", some_of(&outside));
            self.warn(Check::Identifier, &path, message);
        }
        let fields: HashSet<&str> = encoding.fields.iter().map(|f| f.name.as_str()).collect();
        let mut names = HashSet::new();
        for condition in &encoding.conditions {
            let path = format!("{path} → condition {}", condition.name);
            if !names.insert((&condition.name, condition.id)) {
                self.warn(Check::DuplicateName, &path, "declared twice".to_owned());
            }
            let mut missing = BTreeSet::new();
            for_each_field(&condition.expr, &mut |name| {
                if !fields.contains(name) {
                    missing.insert(name.to_owned());
                }
            });
            for name in missing {
                let message = format!("tests field {name}, which the encoding does not have");
                self.warn(Check::ConditionField, &path, message);
            }
        }
    }

    /// Fields of an encoding or an operand type; `width` is that of what they are in, where it is known.
    fn fields(&mut self, path: &str, fields: &[Field], width: Option<u16>, overlap: Severity) {
        let mut names = HashSet::new();
        let mut taken = Taken::default();
        for field in fields {
            let path = format!("{path} → field {}", field.name);
            if !names.insert(&field.name) {
                self.error(Check::DuplicateName, &path, "declared twice".to_owned());
            }
            self.ranges(&path, &field.ranges);
            for range in &field.ranges {
                let (from, to) = span(range);
                if width.is_some_and(|width| to > u32::from(width)) {
                    let message =
                        format!("bits {from} to {} are beyond the width of {} bits", to - 1, width.unwrap_or_default());
                    self.error(Check::OutOfBounds, &path, message);
                }
                taken.add(range, &field.name);
            }
            self.values(&path, &field.values, Some(value_bits(&field.ranges)));
        }
        self.overlaps(path, taken, overlap);
    }

    fn overlaps(&mut self, path: &str, taken: Taken<'_>, severity: Severity) {
        for (name, other) in taken.overlaps() {
            let message = format!("shares bits with field {other}");
            self.add(severity, Check::Overlap, &format!("{path} → field {name}"), message);
        }
    }

    fn ranges(&mut self, path: &str, ranges: &[BitRange]) {
        if ranges.is_empty() {
            self.error(Check::Width, path, "has no bits".to_owned());
        }
        for range in ranges {
            if range.count == 0 {
                self.error(Check::Width, path, "has a range of 0 bits".to_owned());
            }
            if let Some((bits, value)) = range.padding
                && (bits > 64 || u128::from(value) > low_bits(bits))
            {
                let message = format!("padding {value} does not fit {bits} bits");
                self.error(Check::Width, path, message);
            }
        }
    }

    fn values(&mut self, path: &str, values: &[NamedValue], bits: Option<u64>) {
        let mut names: HashMap<&str, i64> = HashMap::new();
        let mut twice = Vec::new();
        let mut large = Vec::new();
        for value in values {
            match names.insert(&value.name, value.value) {
                Some(other) if other != value.value => {
                    twice.push(format!("{} ({other} and {})", value.name, value.value));
                }
                _ => {}
            }
            if bits.is_some_and(|bits| bits < 63 && value.value >= 0 && value.value >> bits != 0) {
                large.push(format!("{} = {}", value.name, value.value));
            }
        }
        if !twice.is_empty() {
            let message = format!("names with two values: {}", some_of(&twice));
            self.warn(Check::DuplicateName, path, message);
        }
        if !large.is_empty() {
            let message = format!("values that do not fit {} bits: {}", bits.unwrap_or_default(), some_of(&large));
            self.warn(Check::Value, path, message);
        }
    }

    fn instructions(&mut self) {
        let spec = self.spec;
        let opcodes: Vec<OpcodeFields<'s>> = spec.encodings.iter().map(OpcodeFields::of).collect();
        let declared: Vec<Declared<'s>> = spec.encodings.iter().map(Declared::of).collect();
        let mut keys: HashMap<(u16, u32, &str), (&str, OperandListId)> = HashMap::new();
        let mut lists: HashSet<(u16, OperandListId)> = HashSet::new();
        let mut undeclared: BTreeMap<(u16, &str), Vec<String>> = BTreeMap::new();
        let mut unlisted: BTreeMap<u16, Vec<String>> = BTreeMap::new();
        let names: HashSet<&str> = spec.instructions.iter().map(|i| i.name.as_str()).collect();

        for instruction in &spec.instructions {
            self.instruction(instruction, &names);
            for row in &instruction.rows {
                let encoding = spec.encoding(row.encoding);
                let path = format!("instruction {} → encoding {}", instruction.name, encoding.name);
                let declared = &declared[usize::from(row.encoding.0)];
                if !declared.conditions.contains(row.condition.as_str()) {
                    undeclared.entry((row.encoding.0, &row.condition)).or_default().push(instruction.name.clone());
                }
                let opcode = &opcodes[usize::from(row.encoding.0)];
                match opcode.bits() {
                    Some(bits) if u64::from(row.opcode) >> bits.min(63) != 0 => {
                        let message = format!("opcode {} does not fit {bits} bits", row.opcode);
                        self.error(Check::Opcode, &path, message);
                    }
                    Some(_) if !opcode.listed.is_empty() && !opcode.listed.contains(&row.opcode) => {
                        unlisted
                            .entry(row.encoding.0)
                            .or_default()
                            .push(format!("{} ({})", row.opcode, instruction.name));
                    }
                    _ => {}
                }
                let key = (row.encoding.0, row.opcode, row.condition.as_str());
                let value = (instruction.name.as_str(), row.operands);
                if let Some((other, operands)) = keys.insert(key, value) {
                    let message = format!(
                        "opcode {} under condition {} is already {other}'s, with {} operands",
                        row.opcode,
                        row.condition,
                        if operands == row.operands { "the same" } else { "other" }
                    );
                    self.warn(Check::DuplicateKey, &path, message);
                }
                // One report for each list and encoding: rows share lists.
                if lists.insert((row.encoding.0, row.operands)) {
                    self.operands(&path, declared, spec.operands(row.operands));
                }
            }
        }
        for ((encoding, condition), rows) in undeclared {
            let path = format!("encoding {}", spec.encoding(EncodingId(encoding)).name);
            let message = format!("condition {condition} is not declared: {}", some_of(&rows));
            self.warn(Check::UndeclaredCondition, &path, message);
        }
        for (encoding, rows) in unlisted {
            let path = format!("encoding {}", spec.encoding(EncodingId(encoding)).name);
            let message = format!("no identifier has the opcodes {}", some_of(&rows));
            self.warn(Check::UnlistedIdentifier, &path, message);
        }
        self.unused_identifiers(&opcodes);
        self.groups();
    }

    fn groups(&mut self) {
        let spec = self.spec;
        let groups: HashSet<&str> = spec.groups.iter().map(String::as_str).collect();
        let subgroups: HashSet<&str> = spec.subgroups.iter().map(String::as_str).collect();
        let mut missing: BTreeMap<(&str, &str), Vec<String>> = BTreeMap::new();
        for instruction in &spec.instructions {
            let mut check = |kind, declared: &HashSet<&str>, name: &'s str| {
                if !declared.contains(name) {
                    missing.entry((kind, name)).or_default().push(instruction.name.clone());
                }
            };
            check("functional group", &groups, &instruction.group);
            for subgroup in &instruction.subgroups {
                check("functional subgroup", &subgroups, subgroup);
            }
        }
        for ((kind, name), instructions) in missing {
            let path = format!("{kind} {name}");
            let message = format!("is not declared: {}", some_of(&instructions));
            self.warn(Check::MissingReference, &path, message);
        }
    }

    fn instruction(&mut self, instruction: &Instruction, names: &HashSet<&str>) {
        let path = format!("instruction {}", instruction.name);
        if instruction.rows.is_empty() {
            self.warn(Check::MissingReference, &path, "is in no encoding".to_owned());
        }
        for alias in &instruction.aliases {
            if names.contains(alias.as_str()) {
                let message = format!("alias {alias} is another instruction's name");
                self.warn(Check::DuplicateName, &path, message);
            }
        }
    }

    fn unused_identifiers(&mut self, opcodes: &[OpcodeFields<'_>]) {
        let mut used: BTreeMap<u16, HashSet<u32>> = BTreeMap::new();
        for row in self.spec.instructions.iter().flat_map(|i| &i.rows) {
            used.entry(row.encoding.0).or_default().insert(row.opcode);
        }
        let nothing = HashSet::new();
        for (i, encoding) in self.spec.encodings.iter().enumerate() {
            let used = u16::try_from(i).ok().and_then(|i| used.get(&i));
            let used = used.unwrap_or(&nothing);
            let unused: Vec<String> =
                opcodes[i].listed.iter().filter(|opcode| !used.contains(opcode)).map(u32::to_string).collect();
            if !unused.is_empty() && opcodes[i].bits().is_some() {
                let message = format!("identifiers of opcodes without rows: {}", unused.join(", "));
                let path = format!("encoding {}", encoding.name);
                self.warn(Check::UnlistedIdentifier, &path, message);
            }
        }
    }

    fn operands(&mut self, path: &str, declared: &Declared<'_>, operands: &[Operand]) {
        for (i, operand) in operands.iter().enumerate() {
            let path = format!("{path} → operand {}", operand.order);
            if usize::from(operand.order) != i + 1 {
                let message = format!("is number {} by its place", i + 1);
                self.warn(Check::OperandOrder, &path, message);
            }
            match &operand.field {
                Some(field) if !declared.fields.contains(field.as_str()) => {
                    let message = format!("field {field} is not in the encoding");
                    self.warn(Check::OperandField, &path, message);
                }
                _ => {}
            }
            if !operand.input && !operand.output {
                let message = "is neither read nor written".to_owned();
                self.warn(Check::OperandUse, &path, message);
            }
            let format = self.spec.format(operand.format);
            // FMT_ANY and its like describe one bit of anything, and 24-bit numbers come in 32-bit registers.
            let bits = format.bits;
            if operand.size != 0 && u32::from(operand.size) < bits {
                let message = format!("{} bits cannot hold the {bits} of format {}", operand.size, format.name);
                self.warn(Check::OperandSize, &path, message);
            }
        }
    }

    fn formats(&mut self) {
        let spec = self.spec;
        for format in &spec.formats {
            let path = format!("data format {}", format.name);
            if format.components as usize != format.bitmaps.len() {
                let message = format!("{} components have {} bit maps", format.components, format.bitmaps.len());
                self.warn(Check::Width, &path, message);
            }
            let mut taken = Taken::default();
            let mut sum = 0;
            for (component, fields) in format.bitmaps.iter().enumerate() {
                for field in fields {
                    let path = format!("{path} → component {component} → field {}", field.name);
                    self.ranges(&path, &field.ranges);
                    for range in &field.ranges {
                        sum += u64::from(range.count);
                        taken.add(range, &field.name);
                    }
                }
            }
            self.overlaps(&path, taken, Severity::Warning);
            if !format.bitmaps.is_empty() && sum != u64::from(format.bits) {
                let message = format!("fields of {sum} bits in a format of {}", format.bits);
                self.warn(Check::Width, &path, message);
            }
        }
    }

    fn operand_type(&mut self, ty: &OperandType, types: &HashSet<&str>) {
        let path = format!("operand type {}", ty.name);
        self.fields(&path, &ty.fields, None, Severity::Warning);
        self.values(&path, &ty.values, None);
        if ty.partitioned == ty.fields.is_empty() {
            let message = format!("IsPartitioned is {} with {} fields", ty.partitioned, ty.fields.len());
            self.warn(Check::Width, &path, message);
        }
        for subtype in &ty.subtypes {
            if !types.contains(subtype.as_str()) {
                let message = format!("unknown subtype {subtype}");
                self.warn(Check::MissingReference, &path, message);
            }
        }
    }
}

/// The widest encoding of any generation: MIMG with three dwords of addresses.
const MAX_ENCODING_BITS: u16 = 160;

/// What an encoding declares.
struct Declared<'s> {
    fields: HashSet<&'s str>,
    conditions: HashSet<&'s str>,
}

impl<'s> Declared<'s> {
    fn of(encoding: &'s Encoding) -> Self {
        Self {
            fields: encoding.fields.iter().map(|f| f.name.as_str()).collect(),
            conditions: encoding.conditions.iter().map(|c| c.name.as_str()).collect(),
        }
    }
}

/// Bits that are taken, and by whom.
#[derive(Default)]
struct Taken<'s> {
    spans: Vec<(u32, u32, &'s str)>,
}

impl<'s> Taken<'s> {
    fn add(&mut self, range: &BitRange, name: &'s str) {
        let (from, to) = span(range);
        self.spans.push((from, to, name));
    }

    /// Every span that begins before an earlier one ends, with the name of that one.
    fn overlaps(mut self) -> Vec<(&'s str, &'s str)> {
        self.spans.retain(|(from, to, _)| from < to);
        self.spans.sort_unstable();
        let mut found = Vec::new();
        let mut last: Option<(u32, &str)> = None;
        for (from, to, name) in self.spans {
            match last {
                Some((end, other)) if from < end => found.push((name, other)),
                _ => {}
            }
            if last.is_none_or(|(end, _)| to > end) {
                last = Some((to, name));
            }
        }
        found
    }
}

/// Where an encoding keeps its opcode, and the opcodes that its identifiers have there.
struct OpcodeFields<'s> {
    /// Least significant first.
    fields: Vec<&'s Field>,
    /// Empty where identifiers do not hold single opcodes.
    listed: BTreeSet<u32>,
}

impl<'s> OpcodeFields<'s> {
    fn of(encoding: &'s Encoding) -> Self {
        // MIMG, MUBUF and MTBUF of RDNA 1 and 2 keep the opcode's high bit in OPM.
        let mut fields: Vec<&Field> = ["OP", "OPM"].iter().filter_map(|name| encoding.field(name)).collect();
        if fields.is_empty() {
            // A row of VOPD is one half, and its identifiers combine the opcodes of both.
            fields.extend(encoding.field("OPY").or(encoding.field("OPX")));
            return Self { fields, listed: BTreeSet::new() };
        }
        let listed = encoding
            .identifiers
            .iter()
            .filter_map(|&identifier| u32::try_from(extract(&fields, identifier)).ok())
            .collect();
        Self { fields, listed }
    }

    /// Width of the opcode; `None` if the encoding has no opcode field.
    fn bits(&self) -> Option<u64> {
        if self.fields.is_empty() {
            return None;
        }
        Some(self.fields.iter().map(|f| value_bits(&f.ranges)).sum())
    }
}

fn extract(fields: &[&Field], word: u128) -> u128 {
    let mut value = 0;
    let mut at = 0;
    for range in fields.iter().flat_map(|field| &field.ranges) {
        let bits = word.checked_shr(u32::from(range.offset)).unwrap_or(0) & low_bits(range.count);
        value |= bits.checked_shl(at).unwrap_or(0);
        at = u32::saturating_add(at, u32::from(range.count));
    }
    value
}

fn low_bits(count: u16) -> u128 {
    1u128.checked_shl(u32::from(count)).map_or(u128::MAX, |bit| bit - 1)
}

fn span(range: &BitRange) -> (u32, u32) {
    let from = u32::from(range.offset);
    (from, from + u32::from(range.count))
}

/// Bits of a field's value, padding included.
fn value_bits(ranges: &[BitRange]) -> u64 {
    ranges.iter().map(|r| u64::from(r.count) + r.padding.map_or(0, |(bits, _)| u64::from(bits))).sum()
}

/// A list for a message, cut where it gets long.
fn some_of(items: &[String]) -> String {
    const SHOWN: usize = 8;
    let shown = items[..items.len().min(SHOWN)].join(", ");
    match items.len().checked_sub(SHOWN) {
        None | Some(0) => shown,
        Some(more) => format!("{shown} and {more} more"),
    }
}

fn for_each_field(expr: &Expr, each: &mut impl FnMut(&str)) {
    match expr {
        Expr::Field { field, .. } => each(field),
        Expr::Literal(_) => {}
        Expr::Array(items) | Expr::Op(_, items) => {
            for item in items {
                for_each_field(item, each);
            }
        }
    }
}
