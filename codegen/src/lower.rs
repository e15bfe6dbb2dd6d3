//! From the corrected specs of all generations to the [`Ir`]: fold variants into base rows, intern, sort.

mod spaces;

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};

use isa_xml::spec::{self, Spec};

use crate::ir::{self, Class, Form, Ir};
use crate::names::Names;
use crate::operand_type;
use crate::sources::Generation;
use spaces::{Spaces, class_of};

/// A spec that cannot be lowered.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("{generation}: {path}: {cause}")]
pub struct LowerError {
    /// The generation.
    pub generation: String,
    /// Instruction and encoding.
    pub path: String,
    /// What is wrong.
    pub cause: String,
}

/// Lowers all generations together. The order of `inputs` is the order of [`Ir::generations`].
pub fn lower(inputs: &[(Generation, Spec)], names: &Names) -> Result<Ir, LowerError> {
    let interner = Interner::collect(inputs, names);
    let mut pools = Pools::default();
    let mut generations = Vec::new();
    for (meta, spec) in inputs {
        let forms = forms(&spec.encodings);
        let lowering = GenerationLowering {
            forms,
            sources: operand_type::source_map(spec).map_err(|cause| LowerError {
                generation: meta.name.clone(),
                path: "operand types".into(),
                cause,
            })?,
            types: BTreeMap::new(),
            meta,
            spec,
            names,
            interner: &interner,
            pools: &mut pools,
        };
        generations.push(lowering.run()?);
    }
    Ok(Ir {
        generations,
        aliases: interner.aliases(inputs),
        ops: interner.ops.into_keys().collect(),
        mnemonics: interner.mnemonics.into_keys().collect(),
        fields: interner.fields.into_keys().collect(),
        groups: interner.groups.into_keys().collect(),
        subgroups: interner.subgroups.into_keys().collect(),
        layouts: pools.layouts.items,
        operand_types: pools.operand_types.items,
        formats: pools.formats.items,
        operands: pools.operands,
        lists: pools.lists.items.into_iter().map(|(_, at)| at).collect(),
        slots: Vec::new(),
        modifiers: Vec::new(),
        syntaxes: Vec::new(),
    })
}

/// The name under which the runtime knows a field, whatever a generation calls it.
fn canonical_field(name: &str) -> &str {
    match name {
        "OP_SEL" => "OPSEL",
        "OP_SEL_HI" | "OP_SEL_HI_2" | "OPSEL_HI_2" => "OPSEL_HI",
        "ATTRCHAN" => "ATTR_CHAN",
        "SSAMP" => "SAMP",
        "SRSRC" => "RSRC",
        "IOFFSET" => "OFFSET",
        "ADDR" | "VADDR0" => "VADDR",
        "SIMM32" | "LITERAL64" => "LITERAL",
        _ => name,
    }
}

/// Splits an encoding's name into its base and the variant: `VOPDXY_INST_LITERAL_X` is `VOPDXY_X` with a literal.
fn split_form(name: &str) -> (String, Form) {
    const FORMS: [(&str, Form); 9] = [
        ("_INST_LITERAL64", Form::Literal64),
        ("_INST_LITERAL", Form::Literal),
        ("_VOP_DPP16", Form::Dpp16),
        ("_VOP_DPP8", Form::Dpp8),
        ("_VOP_DPP", Form::Dpp16),
        ("_VOP_SDWA_SDST_ENC", Form::Sdwa),
        ("_VOP_SDWA", Form::Sdwa),
        ("_NSA1", Form::Nsa),
        ("_NSA", Form::Nsa),
    ];
    for (marker, form) in FORMS {
        if let Some((before, after)) = name.split_once(marker) {
            let after = if form == Form::Nsa { "" } else { after };
            return (format!("{before}{after}"), form);
        }
    }
    (name.to_owned(), Form::Base)
}

/// The base encoding (its index) and the form of each encoding. Where AMD lists only the variant, it is its own base.
fn forms(encodings: &[spec::Encoding]) -> Vec<(usize, Form)> {
    let base_of = |(index, encoding): (usize, &spec::Encoding)| {
        let (base, form) = split_form(&encoding.name);
        let named = |e: &spec::Encoding| e.name == base || e.name.strip_prefix("ENC_") == Some(base.as_str());
        (encodings.iter().position(named).unwrap_or(index), form)
    };
    encodings.iter().enumerate().map(base_of).collect()
}

/// Names that are numbered over all generations before anything is lowered.
#[derive(Default)]
struct Interner {
    ops: BTreeMap<String, u16>,
    mnemonics: BTreeMap<String, u16>,
    fields: BTreeMap<String, u16>,
    groups: BTreeMap<String, u16>,
    subgroups: BTreeMap<String, u16>,
}

impl Interner {
    fn collect(inputs: &[(Generation, Spec)], names: &Names) -> Interner {
        let mut all = Interner::default();
        for (meta, spec) in inputs {
            for field in spec.encodings.iter().flat_map(|e| &e.fields) {
                all.fields.insert(canonical_field(&field.name).to_owned(), 0);
            }
            for inst in &spec.instructions {
                all.ops.insert(inst.name.clone(), 0);
                all.groups.insert(inst.group.clone(), 0);
                all.subgroups.insert(first_subgroup(inst).to_owned(), 0);
                for row in &inst.rows {
                    let encoding = &spec.encodings[row.encoding.0 as usize].name;
                    all.mnemonics.insert(names.llvm_name(&meta.name, &inst.name, encoding), 0);
                }
            }
        }
        for map in [&mut all.ops, &mut all.mnemonics, &mut all.fields, &mut all.groups, &mut all.subgroups] {
            for (index, slot) in map.values_mut().enumerate() {
                *slot = u16::try_from(index).expect("fewer than 65,536 names");
            }
        }
        all
    }

    fn aliases(&self, inputs: &[(Generation, Spec)]) -> Vec<(String, u16)> {
        let mut aliases = BTreeSet::new();
        for inst in inputs.iter().flat_map(|(_, spec)| &spec.instructions) {
            for alias in inst.aliases.iter().filter(|alias| **alias != inst.name) {
                aliases.insert((alias.clone(), self.ops[&inst.name]));
            }
        }
        aliases.into_iter().collect()
    }
}

fn first_subgroup(inst: &spec::Instruction) -> &str {
    inst.subgroups.first().map_or("NOT_ASSIGNED", String::as_str)
}

/// Distinct items in the order of their first use.
struct Pool<T> {
    items: Vec<T>,
    index: BTreeMap<T, u16>,
}

impl<T> Default for Pool<T> {
    fn default() -> Self {
        Pool { items: Vec::new(), index: BTreeMap::new() }
    }
}

impl<T: Ord + Clone> Pool<T> {
    fn intern(&mut self, item: T) -> u16 {
        if let Some(&at) = self.index.get(&item) {
            return at;
        }
        let at = u16::try_from(self.items.len()).expect("fewer than 65,536 distinct items");
        self.items.push(item.clone());
        self.index.insert(item, at);
        at
    }
}

/// The interned tables that all generations share.
#[derive(Default)]
struct Pools {
    layouts: Pool<ir::Layout>,
    operand_types: Pool<ir::OperandType>,
    formats: Pool<ir::Format>,
    operands: Vec<ir::Operand>,
    lists: Pool<(Vec<ir::Operand>, (u16, u8))>,
    list_index: BTreeMap<Vec<ir::Operand>, u16>,
}

impl Pools {
    fn list(&mut self, list: Vec<ir::Operand>) -> u16 {
        if let Some(&at) = self.list_index.get(&list) {
            return at;
        }
        let start = u16::try_from(self.operands.len()).expect("fewer than 65,536 operands");
        let len = u8::try_from(list.len()).expect("fewer than 256 operands in a list");
        self.operands.extend(list.iter().cloned());
        let at = self.lists.intern((list.clone(), (start, len)));
        self.list_index.insert(list, at);
        at
    }
}

/// One side of a dual-issue word, or the whole of any other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Side {
    X,
    Y,
}

struct GenerationLowering<'a> {
    /// Of each encoding: its base and its form.
    forms: Vec<(usize, Form)>,
    /// Meaning of source values 0 to 255.
    sources: Vec<Option<ir::Source>>,
    /// Operand types lowered so far: index into the pool, and the kind.
    types: BTreeMap<spec::OperandTypeId, (u16, ir::Kind)>,
    meta: &'a Generation,
    spec: &'a Spec,
    names: &'a Names,
    interner: &'a Interner,
    pools: &'a mut Pools,
}

/// Bits of every range named, as a mask over the word.
fn bits_of(fields: &[spec::Field], names: &[&str]) -> u128 {
    let ranges = fields.iter().filter(|f| names.contains(&f.name.as_str())).flat_map(|f| &f.ranges);
    ranges.fold(0, |bits, r| bits | (((1u128 << r.count) - 1) << r.offset))
}

const OPCODE_FIELDS: [&str; 4] = ["OP", "OPM", "OPX", "OPY"];

impl GenerationLowering<'_> {
    fn error(&self, path: impl Into<String>, cause: impl Into<String>) -> LowerError {
        LowerError { generation: self.meta.name.clone(), path: path.into(), cause: cause.into() }
    }

    fn run(mut self) -> Result<ir::Generation, LowerError> {
        let folded = self.fold()?;
        let Spaces { prefixes, spaces, rows } = self.spaces(&folded)?;
        let encodings = self.encodings()?;
        Ok(ir::Generation {
            name: self.meta.name.clone(),
            title: self.meta.title.clone(),
            sha256: self.spec.document.sha256.clone(),
            origin: format!(
                "{}, schema {}, released {}",
                self.spec.architecture, self.spec.document.schema_version, self.spec.document.release_date
            ),
            targets: self.meta.targets.iter().map(|t| (t.name.clone(), t.mach)).collect(),
            waves: self.meta.waves.clone(),
            prefixes,
            spaces,
            rows,
            encodings,
            sources: self.sources,
        })
    }

    /// Rows of each base encoding by (encoding, side, opcode).
    fn fold(&mut self) -> Result<BTreeMap<(usize, Side, u32), ir::Row>, LowerError> {
        let mut folded: BTreeMap<(usize, Side, u32), ir::Row> = BTreeMap::new();
        let mut owners: BTreeMap<(usize, Side, u32), (usize, usize)> = BTreeMap::new();
        // Base rows first, so that a variant finds the row it belongs to.
        for pass in [true, false] {
            for (at, inst) in self.spec.instructions.iter().enumerate() {
                for row in &inst.rows {
                    let encoding = row.encoding.0 as usize;
                    let (base, form) = self.forms[encoding];
                    let mandatory = matches!(form, Form::Literal | Form::Literal64) && row.condition == "default";
                    if (form == Form::Base || mandatory) != pass {
                        continue;
                    }
                    let operands = &self.spec.operand_lists[row.operands.0 as usize];
                    let key = (base, side_of(operands), row.opcode);
                    let path = || format!("{} in {}", inst.name, self.spec.encodings[encoding].name);
                    if pass {
                        let dwords = if mandatory { if form == Form::Literal64 { 2 } else { 1 } } else { 0 };
                        if let Some(&(other, len)) = owners.get(&key) {
                            if other != at {
                                let other = &self.spec.instructions[other].name;
                                return Err(self.error(path(), format!("opcode {} is also {other}'s", row.opcode)));
                            }
                            // AMD lists a row once with and once without the optional address register.
                            if operands.len() <= len {
                                continue;
                            }
                        }
                        let lowered = self.base_row(inst, base, row, dwords)?;
                        owners.insert(key, (at, operands.len()));
                        folded.insert(key, lowered);
                    } else {
                        let target = match folded.entry(key) {
                            Entry::Occupied(slot) => slot.into_mut(),
                            // The instruction has this variant and no base form.
                            Entry::Vacant(slot) => {
                                owners.insert(key, (at, operands.len()));
                                slot.insert(self.base_row(inst, base, row, 0)?)
                            }
                        };
                        match form {
                            Form::Literal => target.literals |= literal_sources(&row.condition),
                            Form::Literal64 => {
                                target.literals |= literal_sources(&row.condition);
                                target.literal64 = true;
                            }
                            Form::Dpp16 => target.dpp16 = true,
                            Form::Dpp8 => target.dpp8 = true,
                            Form::Sdwa => target.sdwa = true,
                            Form::Nsa | Form::Base => {}
                        }
                    }
                }
            }
        }
        Ok(folded)
    }

    fn base_row(
        &mut self,
        inst: &spec::Instruction,
        base: usize,
        row: &spec::Row,
        mandatory: u8,
    ) -> Result<ir::Row, LowerError> {
        let encoding = &self.spec.encodings[base];
        let path = || format!("{} in {}", inst.name, encoding.name);
        let operands = &self.spec.operand_lists[row.operands.0 as usize];
        let mut list = Vec::with_capacity(operands.len());
        for operand in operands {
            list.push(self.operand(encoding, operand).map_err(|cause| self.error(path(), cause))?);
        }
        // RDNA 3's file has no rows for dual-issue words with a literal; its operand type allows them.
        let dual_literal = class_of(&encoding.name) == Class::Vopd
            && list
                .iter()
                .zip(operands)
                .any(|(lowered, operand)| lowered.source == Some(0) && self.allows_literal(operand.ty));
        let flags = &inst.flags;
        let flags = [
            flags.branch,
            flags.conditional_branch,
            flags.indirect_branch,
            flags.program_terminator,
            flags.immediately_executed,
        ];
        let mnemonic = self.names.llvm_name(&self.meta.name, &inst.name, &encoding.name);
        Ok(ir::Row {
            op: self.interner.ops[&inst.name],
            encoding: u8::try_from(base).map_err(|_| self.error(path(), "more than 255 encodings"))?,
            list: self.pools.list(list),
            dwords: u8::try_from(encoding.bits / 32).map_err(|_| self.error(path(), "encoding too wide"))?,
            literals: u8::from(dual_literal),
            literal64: false,
            dpp16: false,
            dpp8: false,
            sdwa: false,
            mandatory,
            prefix_of: None,
            mnemonic: self.interner.mnemonics.get(&mnemonic).copied().unwrap_or(0),
            syntax: 0,
            group: u8::try_from(self.interner.groups[&inst.group])
                .map_err(|_| self.error(path(), "too many groups"))?,
            subgroup: u8::try_from(self.interner.subgroups[first_subgroup(inst)])
                .map_err(|_| self.error(path(), "too many subgroups"))?,
            flags: flags.iter().enumerate().fold(0, |bits, (at, &set)| bits | (u8::from(set) << at)),
        })
    }

    fn operand(&mut self, encoding: &spec::Encoding, operand: &spec::Operand) -> Result<ir::Operand, String> {
        let (ty, kind) = self.operand_type(operand.ty)?;
        let format = &self.spec.formats[operand.format.0 as usize];
        let format = ir::Format {
            name: format.name.clone(),
            data_type: format.data_type.clone(),
            bits: format.bits,
            components: format.components,
        };
        // The constant of FMAMK and FMAAK has no field of its own before schema 1.2.0: it is the dword that follows.
        let is_literal = |name: &str| canonical_field(name) == "LITERAL";
        let literal = match &operand.field {
            Some(name) => is_literal(name) && !encoding.fields.iter().any(|f| f.name == *name),
            None => kind == ir::Kind::Immediate,
        };
        let mut lowered = ir::Operand {
            field: None,
            offset: 0,
            count: 0,
            scale: 0,
            ty,
            format: self.pools.formats.intern(format),
            size: operand.size,
            input: operand.input,
            output: operand.output,
            implicit: operand.implicit || kind == ir::Kind::Implicit,
            source: None,
        };
        if literal {
            lowered.field = Some(self.interner.fields["LITERAL"]);
            lowered.offset = u8::try_from(encoding.bits).map_err(|_| "encoding wider than 255 bits")?;
            lowered.count = u8::try_from(operand.size.max(32)).map_err(|_| "literal wider than 255 bits")?;
        } else if let Some(name) = &operand.field {
            let field = (encoding.fields.iter().find(|f| f.name == *name))
                .ok_or_else(|| format!("no field {name} in {}", encoding.name))?;
            let [range] = field.ranges.as_slice() else {
                return Err(format!("operand field {name} has {} ranges", field.ranges.len()));
            };
            lowered.field = Some(self.interner.fields[canonical_field(name)]);
            lowered.offset = u8::try_from(range.offset).map_err(|_| "bit offset over 255")?;
            lowered.count = u8::try_from(range.count).map_err(|_| "field wider than 255 bits")?;
            lowered.scale = range.padding.map_or(0, |(bits, _)| bits as u8);
            lowered.source = source_number(name);
        }
        Ok(lowered)
    }

    fn allows_literal(&self, id: spec::OperandTypeId) -> bool {
        self.spec.operand_types[id.0 as usize].values.iter().any(|v| v.value == 255)
    }

    fn operand_type(&mut self, id: spec::OperandTypeId) -> Result<(u16, ir::Kind), String> {
        if let Some(&known) = self.types.get(&id) {
            return Ok(known);
        }
        let ty = operand_type::lower(&self.spec.operand_types[id.0 as usize], &self.sources)?;
        let kind = ty.kind;
        let known = (self.pools.operand_types.intern(ty), kind);
        self.types.insert(id, known);
        Ok(known)
    }

    fn op_name(&self, row: &ir::Row) -> &str {
        self.interner.ops.iter().find(|(_, at)| **at == row.op).map_or("?", |(name, _)| name)
    }

    fn encodings(&mut self) -> Result<Vec<ir::Encoding>, LowerError> {
        let mut opcodes: Vec<BTreeMap<String, u32>> = vec![BTreeMap::new(); self.spec.encodings.len()];
        for inst in &self.spec.instructions {
            for row in &inst.rows {
                let encoding = row.encoding.0 as usize;
                opcodes[encoding].insert(inst.name.clone(), row.opcode);
            }
        }
        // A variant's own opcodes are those that its base lacks.
        for index in 0..opcodes.len() {
            let (base, _) = self.forms[index];
            if base != index {
                let known = opcodes[base].clone();
                opcodes[index].retain(|name, _| !known.contains_key(name));
            }
        }
        let mut encodings = Vec::new();
        for (index, (encoding, opcodes)) in self.spec.encodings.iter().zip(opcodes).enumerate() {
            let opcode_bits = bits_of(&encoding.fields, &OPCODE_FIELDS);
            let first = encoding.identifiers.first().copied().unwrap_or(0);
            let fixed = first & encoding.identifier_mask & !opcode_bits | second_half(encoding, first);
            let mut fields: Vec<_> = encoding
                .fields
                .iter()
                .map(|f| {
                    let ranges = f.ranges.iter().map(|r| (r.offset as u8, r.count as u8)).collect();
                    (f.name.clone(), self.interner.fields[canonical_field(&f.name)], ranges)
                })
                .collect();
            fields.sort_by_key(|(name, _, ranges): &(String, u16, Vec<(u8, u8)>)| {
                (std::cmp::Reverse(ranges.iter().map(|r| r.0).max()), name.clone())
            });
            encodings.push(ir::Encoding {
                name: encoding.name.clone(),
                base: self.spec.encodings[self.forms[index].0].name.clone(),
                form: self.forms[index].1,
                bits: encoding.bits,
                mask: encoding.identifier_mask,
                fixed,
                order: encoding.order as i16,
                layout: self.pools.layouts.intern(ir::Layout { fields }),
                opcodes,
            });
        }
        Ok(encodings)
    }
}

/// The fixed bits of the second half of a paired encoding, which its identifiers leave out: they equal those of the
/// first half, the high bits of X2ENCODING.
fn second_half(encoding: &spec::Encoding, identifier: u128) -> u128 {
    let range = |name: &str| encoding.fields.iter().find(|f| f.name == name).and_then(|f| f.ranges.first());
    let (Some(first), Some(second)) = (range("X2ENCODING"), range("ENCODING")) else { return 0 };
    let high = identifier >> (first.offset + first.count - second.count);
    (high & ((1 << second.count) - 1)) << second.offset
}

/// Which half of a dual-issue word a list belongs to.
fn side_of(operands: &[spec::Operand]) -> Side {
    let y = operands.iter().filter_map(|o| o.field.as_deref()).any(|f| matches!(f, "VDSTY" | "SRCY0"));
    if y { Side::Y } else { Side::X }
}

/// Sources that a condition such as `has_lit_0_has_lit_2` says are literals, as bits.
fn literal_sources(condition: &str) -> u8 {
    let numbered =
        (0..3).filter(|n| condition.contains(&format!("has_lit_{n}")) || condition.contains(&format!("has_lit64_{n}")));
    match numbered.fold(0, |bits, n| bits | (1 << n)) {
        0 if condition.starts_with("has_lit") => 1,
        bits => bits,
    }
}

/// `SRC1` is source 1; fields that are no literal-capable source have none.
fn source_number(field: &str) -> Option<u8> {
    match field {
        "SRC0" | "SSRC0" | "SRCX0" | "SRCY0" => Some(0),
        "SRC1" | "SSRC1" => Some(1),
        "SRC2" => Some(2),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_split() {
        assert_eq!(split_form("ENC_VOP3"), ("ENC_VOP3".into(), Form::Base));
        assert_eq!(split_form("VOP3_SDST_ENC_INST_LITERAL"), ("VOP3_SDST_ENC".into(), Form::Literal));
        assert_eq!(split_form("VOPDXY_INST_LITERAL_X"), ("VOPDXY_X".into(), Form::Literal));
        assert_eq!(split_form("SOP1_INST_LITERAL64"), ("SOP1".into(), Form::Literal64));
        assert_eq!(split_form("VOPC_VOP_SDWA_SDST_ENC"), ("VOPC".into(), Form::Sdwa));
        assert_eq!(split_form("MIMG_NSA3"), ("MIMG".into(), Form::Nsa));
    }

    #[test]
    fn literal_conditions() {
        assert_eq!(literal_sources("has_lit"), 1);
        assert_eq!(literal_sources("has_lit_0_has_lit_2"), 5);
        assert_eq!(literal_sources("has_lit64_1"), 2);
        assert_eq!(literal_sources("has_lit_0&has_lit_1"), 3);
        assert_eq!(literal_sources("default"), 0);
    }
}
