//! Finds the rows of a mnemonic. Built once for each generation.

use std::sync::OnceLock;
use std::vec::Vec;

use super::aliases;
use super::parse::modifier_id;
use crate::Generation;
use crate::generated::field::Field;
use crate::generated::op::Op;
use crate::syntax::{Family, ModifierKind, Suffix, names};
use crate::table::{Class, EncodingInfo, Row, Source, Special, Tables};

/// A row that a mnemonic may mean.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Candidate {
    pub(crate) row: u16,
    /// Encoded in 32 bits where others are in 64: tried first.
    pub(crate) short: bool,
    /// Half of a dual-issue word: 0 neither, 1 X, 2 Y.
    pub(crate) half: u8,
    /// Both halves of a dual-issue word have the same.
    pub(crate) pair: u8,
}

/// What is known of a row besides the tables.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Base {
    /// The word with opcode and encoding.
    pub(crate) word: u128,
    /// Fields with values of their own where the text says nothing.
    pub(crate) saddr: Option<u8>,
    pub(crate) nsa: Option<u8>,
}

/// Rows by mnemonic.
#[derive(Debug)]
pub(crate) struct Index {
    /// Offsets into `runs`, by hash; `u16::MAX`: empty.
    slots: Vec<u16>,
    runs: Vec<(Name, u32, u8)>,
    candidates: Vec<Candidate>,
    /// By instruction.
    by_op: Vec<Candidate>,
    pub(crate) bases: Vec<Base>,
    /// Source value of each special register; 255: none.
    specials: [u8; 32],
    pub(crate) ttmp: u8,
    pub(crate) flags: [u8; 64],
    pub(crate) numbers: [u8; 64],
}

type Name = std::boxed::Box<[u8]>;

impl Index {
    /// The index of a generation.
    pub(crate) fn of(tables: &'static Tables) -> &'static Index {
        static INDICES: [OnceLock<Index>; 10] = [const { OnceLock::new() }; 10];
        INDICES[tables.generation as usize].get_or_init(|| Index::build(tables))
    }

    fn build(tables: &'static Tables) -> Index {
        let mut named: Vec<(Name, Candidate)> = Vec::new();
        let empty = Base { word: 0, saddr: None, nsa: None };
        let mut bases = std::vec![empty; tables.rows.len()];
        let seconds: Vec<usize> = tables.rows.iter().filter_map(|row| row.prefix_of()).collect();
        for (at, space) in tables.spaces.iter().enumerate() {
            let prefixed = seconds.contains(&at);
            let second = tables.spaces.iter().any(|s| usize::from(s.pair) == at);
            for key in 0..space.len {
                let number = space.base + key;
                let row = tables.rows[usize::from(number)];
                if row.is_reserved() {
                    continue;
                }
                let info = &tables.encodings[row.encoding()];
                let opcode = u128::from(space.word(key));
                let word = info.fixed | if prefixed { opcode << 64 } else { opcode };
                let word = word | defaults(tables.generation, row, info);
                let place = |field: Field| {
                    let field = info.layout().fields.iter().find(|f| f.field == field)?;
                    field.ranges.first().map(|&(offset, _)| offset)
                };
                bases[usize::from(number)] = Base { word, saddr: place(Field::SADDR), nsa: place(Field::NSA) };
                let pair = if second {
                    tables.spaces.iter().position(|s| usize::from(s.pair) == at).unwrap_or(at) as u8
                } else {
                    at as u8
                };
                let half = if space.class == Class::Vopd || second { 1 + u8::from(second) } else { 0 };
                let short = matches!(info.name, "ENC_VOP1" | "ENC_VOP2" | "ENC_VOPC" | "ENC_VINTRP");
                let candidate = Candidate { row: number, short, half, pair };
                named.push((row.mnemonic().as_bytes().into(), candidate));
            }
        }
        let order = |c: &Candidate| (!c.short, tables.rows[usize::from(c.row)].dwords(), c.row);
        named.sort_by(|a, b| (&a.0, order(&a.1)).cmp(&(&b.0, order(&b.1))));
        let mut by_op: Vec<Candidate> = named.iter().map(|&(_, candidate)| candidate).collect();
        by_op.sort_by_key(|c| (tables.rows[usize::from(c.row)].op() as u16, order(c)));
        add_aliases(tables, &mut named);
        named.sort_by(|a, b| (&a.0, order(&a.1)).cmp(&(&b.0, order(&b.1))));
        let mut index = Index {
            slots: std::vec![u16::MAX; 8192],
            runs: Vec::new(),
            candidates: Vec::new(),
            by_op,
            bases,
            specials: [255; 32],
            ttmp: 0,
            flags: [127; 64],
            numbers: [127; 64],
        };
        for (name, candidate) in named {
            let at = index.candidates.len() as u32;
            match index.runs.last_mut() {
                Some((last, _, count)) if *last == name => *count += 1,
                _ => index.runs.push((name, at, 1)),
            }
            index.candidates.push(candidate);
        }
        for (at, (name, ..)) in index.runs.iter().enumerate() {
            let mut slot = hash(name) as usize % index.slots.len();
            while index.slots[slot] != u16::MAX {
                slot = (slot + 1) % index.slots.len();
            }
            index.slots[slot] = at as u16;
        }
        for (value, source) in tables.sources.iter().enumerate() {
            match source {
                Source::Special(special) => {
                    let place = &mut index.specials[*special as usize];
                    *place = (*place).min(value as u8);
                }
                Source::Ttmp(0) => index.ttmp = value as u8,
                _ => {}
            }
        }
        // LLVM names these on every generation since CDNA 1.
        for (special, value) in [(Special::PrivateBase, 237), (Special::PrivateLimit, 238)] {
            let place = &mut index.specials[special as usize];
            if *place == 255 {
                *place = value;
            }
        }
        for (at, name) in names::FLAGS.iter().enumerate() {
            index.flags[at] = modifier_id(name.trim_end_matches(":1").as_bytes()).unwrap_or(127);
        }
        for (at, name) in names::NUMBERS.iter().enumerate() {
            index.numbers[at] = modifier_id(name.as_bytes()).unwrap_or(127);
        }
        index
    }

    /// The rows of a mnemonic without suffix, in lower case.
    #[inline]
    pub(crate) fn find(&self, name: &[u8]) -> Option<&[Candidate]> {
        let mut slot = hash(name) as usize % self.slots.len();
        loop {
            let at = self.slots[slot];
            if at == u16::MAX {
                return None;
            }
            let (known, start, count) = &self.runs[usize::from(at)];
            if **known == *name {
                return Some(&self.candidates[*start as usize..][..usize::from(*count)]);
            }
            slot = (slot + 1) % self.slots.len();
        }
    }

    /// The rows of an instruction.
    pub(crate) fn of_op(&self, tables: &Tables, op: Op) -> &[Candidate] {
        let number = |c: &Candidate| tables.rows[usize::from(c.row)].op() as u16;
        let start = self.by_op.partition_point(|c| number(c) < op as u16);
        let len = self.by_op[start..].partition_point(|c| number(c) == op as u16);
        &self.by_op[start..start + len]
    }

    /// The source value of a register with a name.
    #[inline]
    pub(crate) fn special(&self, special: Special) -> Option<u8> {
        Some(self.specials[special as usize]).filter(|&value| value != 255)
    }

    /// All mnemonics.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.runs.iter().filter_map(|(name, ..)| std::str::from_utf8(name).ok())
    }
}

/// Bits that are set where the text says nothing.
fn defaults(generation: Generation, row: Row, info: &EncodingInfo) -> u128 {
    const EXEC: u128 = 0x7e;
    let mut word = 0;
    for desc in row.operands() {
        if desc.ty().name == "OPR_EXEC" && desc.count() > 0 && desc.is_output() {
            word |= EXEC << desc.offset();
        }
    }
    let syntax = row.syntax();
    let has = |kind| syntax.modifiers().iter().any(|m| m.kind() == kind);
    let name = row.op().name();
    match info.name {
        // The format of accesses without a format is that of one byte.
        "ENC_VBUFFER" if !name.starts_with("TBUFFER") => word |= 1 << 55,
        "ENC_VOP3P" | "ENC_VOP3PX2" | "ENC_VOP3PX3" if !has(ModifierKind::OpSelHi) => {
            let base = if info.name == "ENC_VOP3P" { 0 } else { 64 };
            // RDNA 4's shapes, which LLVM takes for CDNA 5, reuse nothing.
            let borrowed = name.contains("16X16X16")
                || name.contains("_IU4")
                || (name.contains("SWMMAC") && name.contains("16X16X32"));
            let used = |bit: u32| {
                syntax.modifiers().iter().any(|m| {
                    let high = m.kind() == ModifierKind::MatrixFmt && m.extra() == 1 && bit == m.offset() - 59 + 14;
                    high || (m.kind() != ModifierKind::MatrixReuse || !borrowed)
                        && (m.offset()..m.offset() + m.count()).contains(&bit)
                })
            };
            for bit in [base + 14, base + 59, base + 60] {
                if !used(bit) {
                    word |= 1 << bit;
                }
            }
            let scale = name.contains("LD_SCALE");
            if scale {
                word &= !(3 << 59 | 1 << 14);
            }
            if (base != 0 || scale) && generation == Generation::Cdna5 {
                // Source 2 of the half that loads the scales is a vector register that nobody reads.
                word |= 1 << 58;
            }
        }
        "ENC_VOP3PX2" if generation != Generation::Cdna5 => word |= 1 << 75,
        "ENC_VIMAGE" if name.starts_with("TENSOR_") => word |= 1 | 1 << 22 | 0x7c << 56,
        "ENC_MIMG" | "ENC_VIMAGE" if name.contains("BVH") => {
            for field in info.layout().fields {
                let all = match field.field {
                    Field::DMASK => 15,
                    Field::UNORM | Field::R128 => 1,
                    _ => 0,
                };
                if let Some(&(offset, _)) = field.ranges.first() {
                    word |= all << offset;
                }
            }
        }
        _ => {}
    }
    word
}

/// Adds the names that other generations and AMD have for the same instructions, where they are free.
fn add_aliases(tables: &'static Tables, named: &mut Vec<(Name, Candidate)>) {
    let known = named.clone();
    let has = |name: &[u8]| known.binary_search_by(|(n, _)| (**n).cmp(name)).is_ok();
    let mut extra = Vec::new();
    for (_, candidate) in &known {
        let row: Row = tables.rows[usize::from(candidate.row)];
        for alias in row.op().aliases().chain([row.op().name()]) {
            let alias = alias.to_ascii_lowercase();
            if !has(alias.as_bytes()) {
                extra.push((alias.into_bytes().into_boxed_slice(), *candidate));
            }
        }
    }
    for alias in aliases::of(tables.generation) {
        if has(alias.name.as_bytes()) {
            continue;
        }
        let meant = known.iter().filter(|(name, _)| **name == *alias.means.as_bytes());
        extra.extend(meant.map(|(_, candidate)| (alias.name.as_bytes().into(), *candidate)));
    }
    for (name, candidate) in &known {
        if let Some(alias) = aliases::derived(name).filter(|alias| !has(alias)) {
            extra.push((alias.into_boxed_slice(), *candidate));
        }
    }
    extra.sort_by(|a: &(Name, Candidate), b| (&a.0, a.1.row).cmp(&(&b.0, b.1.row)));
    extra.dedup_by(|a, b| a.0 == b.0 && a.1.row == b.1.row);
    named.extend(extra);
}

#[inline]
fn hash(name: &[u8]) -> u32 {
    let mut hash: u64 = name.len() as u64;
    for chunk in name.chunks(8) {
        let mut word = [0; 8];
        word[..chunk.len()].copy_from_slice(chunk);
        hash = (hash.rotate_left(5) ^ u64::from_le_bytes(word)).wrapping_mul(0x517c_c1b7_2722_0a95);
    }
    (hash >> 32) as u32
}

/// Whether the row's text has the suffix `_e64` or a form of 64 bits.
pub(crate) fn is_long(row: Row) -> bool {
    let vector = !matches!(row.syntax().family, Family::Plain | Family::Vopd | Family::Vopd3);
    matches!(row.syntax().suffix, Suffix::E64 | Suffix::Vop3) || (vector && row.dwords() > 1)
}

/// The generations that have a mnemonic.
pub(crate) fn generations_with(name: &[u8]) -> impl Iterator<Item = Generation> {
    Generation::available().filter(move |g| g.tables().is_some_and(|t| Index::of(t).find(name).is_some()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_is_found_by_its_mnemonic() {
        for generation in Generation::available() {
            let tables = generation.tables().unwrap();
            let index = Index::of(tables);
            for (number, row) in tables.rows.iter().enumerate().filter(|(_, row)| !row.is_reserved()) {
                let found = index.find(row.mnemonic().as_bytes()).unwrap();
                assert!(found.iter().any(|c| usize::from(c.row) == number), "{generation} {}", row.mnemonic());
            }
            assert!(index.find(b"").is_none());
        }
    }
}
