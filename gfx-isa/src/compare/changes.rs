//! What changed from one generation to another.

use std::collections::{BTreeMap, BTreeSet};
use std::vec::Vec;

use crate::{EncodingRef, Generation, InstructionInfo, Op};

use super::{Differences, FieldChange, field_changes, likeness};

/// What changed from one generation to another. Instructions and encodings that are the same are not listed.
#[derive(Debug, Clone)]
pub struct Changes {
    /// The generation before.
    pub old: Generation,
    /// The generation after.
    pub new: Generation,
    /// By name, then encoding.
    pub instructions: Vec<InstructionChange>,
    /// By AMD's order before, then added ones by AMD's order after.
    pub encodings: Vec<EncodingChange>,
    /// Instructions, each in one encoding, that are in both and in nothing different.
    pub unchanged: usize,
}

/// An instruction, in one encoding, that is not the same in two generations.
#[derive(Debug, Clone, Copy)]
pub struct InstructionChange {
    /// Before; none where it was added.
    pub old: Option<InstructionInfo>,
    /// After; none where it was removed.
    pub new: Option<InstructionInfo>,
    /// The other generation has the instruction, but not in this encoding.
    pub elsewhere: bool,
    /// In what the two differ; nothing where there is only one.
    pub differences: Differences,
}

impl InstructionChange {
    /// Only after.
    pub fn is_added(&self) -> bool {
        self.old.is_none()
    }

    /// Only before.
    pub fn is_removed(&self) -> bool {
        self.new.is_none()
    }

    /// Under another name, which is an alias of the other.
    pub fn is_renamed(&self) -> bool {
        self.differences.name
    }

    /// With another opcode.
    pub fn is_renumbered(&self) -> bool {
        self.differences.opcode
    }

    /// With other operands or another layout of the fields.
    pub fn is_relaid(&self) -> bool {
        let Differences { encoding, layout, operands, .. } = self.differences;
        encoding || layout || operands
    }

    /// The name after or, of removed ones, before.
    pub fn op(&self) -> Op {
        self.new.or(self.old).map_or(Op::all()[0], InstructionInfo::op)
    }
}

/// An encoding that is not the same in two generations.
#[derive(Debug, Clone)]
pub struct EncodingChange {
    /// Before; none where it was added.
    pub old: Option<EncodingRef>,
    /// After; none where it was removed.
    pub new: Option<EncodingRef>,
    /// Fields that differ; empty where there is only one encoding.
    pub fields: Vec<FieldChange>,
    /// The bits that mark the encoding differ.
    pub fixed: bool,
}

impl EncodingChange {
    /// Under another name: nearly all of its instructions that are left are in the new one.
    pub fn is_renamed(&self) -> bool {
        matches!((self.old, self.new), (Some(old), Some(new)) if old.name() != new.name())
    }

    /// With other fields or of another width.
    pub fn is_relaid(&self) -> bool {
        matches!((self.old, self.new), (Some(old), Some(new)) if !old.same_fields(new))
    }
}

type ByOp = BTreeMap<Op, Vec<InstructionInfo>>;

fn by_op(generation: Generation) -> ByOp {
    let mut ops = ByOp::new();
    for info in generation.instructions() {
        ops.entry(info.op()).or_default().push(info);
    }
    ops
}

impl Changes {
    /// Whether an instruction is in another encoding, where that is more than the encoding's new name.
    pub fn is_moved(&self, change: &InstructionChange) -> bool {
        let names = |old: Option<EncodingRef>, new: Option<EncodingRef>| Some((old?.name(), new?.name()));
        let own = names(change.old.map(InstructionInfo::encoding), change.new.map(InstructionInfo::encoding));
        change.differences.encoding && !self.encodings.iter().any(|encoding| names(encoding.old, encoding.new) == own)
    }

    /// Compares two generations. One that is not compiled in counts as empty.
    pub fn between(old: Generation, new: Generation) -> Changes {
        let (before, after) = (by_op(old), by_op(new));
        let renamed = renamings(&before, &after);
        let targets: BTreeSet<Op> = renamed.values().copied().collect();
        let mut changes = Changes { old, new, instructions: Vec::new(), encodings: Vec::new(), unchanged: 0 };
        let mut moves: BTreeMap<(&str, &str), usize> = BTreeMap::new();
        for (op, olds) in &before {
            let news = after.get(renamed.get(op).unwrap_or(op)).map_or(&[][..], Vec::as_slice);
            for (old, new) in pair(olds, news) {
                let differences = match (old, new) {
                    (Some(old), Some(new)) => {
                        let names = (old.encoding().name(), new.encoding().name());
                        *moves.entry(names).or_default() += 1;
                        Differences::between(old, new)
                    }
                    _ => Differences::default(),
                };
                let paired = old.is_some() && new.is_some();
                if paired && differences == Differences::default() {
                    changes.unchanged += 1;
                    continue;
                }
                let elsewhere = !paired && !news.is_empty();
                changes.instructions.push(InstructionChange { old, new, elsewhere, differences });
            }
        }
        for (op, news) in &after {
            if !before.contains_key(op) && !targets.contains(op) {
                let added = |&new| InstructionChange {
                    old: None,
                    new: Some(new),
                    elsewhere: false,
                    differences: Differences::default(),
                };
                changes.instructions.extend(news.iter().map(added));
            }
        }
        changes.instructions.sort_by_key(|change| {
            let info = change.new.or(change.old);
            info.map(|info| (info.name(), info.encoding().order(), info.half(), change.new.is_none(), info.opcode()))
        });
        changes.encodings = encodings(old, new, &moves);
        changes
    }
}

/// Old to new name, of instructions that are in one generation each and aliases of each other. One to one.
fn renamings(before: &ByOp, after: &ByOp) -> BTreeMap<Op, Op> {
    let mut renamed = BTreeMap::new();
    let mut taken = BTreeSet::new();
    for &op in before.keys().filter(|op| !after.contains_key(op)) {
        let free = |other: &Op| after.contains_key(other) && !before.contains_key(other) && !taken.contains(other);
        // The operands tell apart what shares an alias.
        let alike = |other: &Op| {
            let pairs = before[&op].iter().flat_map(|&old| after[other].iter().map(move |&new| (old, new)));
            pairs.filter(|&(old, new)| !Differences::between(old, new).operands).count()
        };
        if let Some(other) = op.renamings().filter(free).max_by_key(alike) {
            taken.insert(other);
            renamed.insert(op, other);
        }
    }
    renamed
}

/// Pairs the encodings of one instruction, the most alike first.
fn pair(olds: &[InstructionInfo], news: &[InstructionInfo]) -> Vec<(Option<InstructionInfo>, Option<InstructionInfo>)> {
    let mut pairs = Vec::new();
    let mut all: Vec<(InstructionInfo, InstructionInfo)> =
        olds.iter().flat_map(|&old| news.iter().map(move |&new| (old, new))).collect();
    all.sort_by_key(|&(old, new)| core::cmp::Reverse(likeness(old, new)));
    let (mut left, mut right) = (olds.to_vec(), news.to_vec());
    for (old, new) in all {
        let (Some(l), Some(r)) = (left.iter().position(|o| *o == old), right.iter().position(|n| *n == new)) else {
            continue;
        };
        left.remove(l);
        right.remove(r);
        pairs.push((Some(old), Some(new)));
    }
    pairs.extend(left.into_iter().map(|old| (Some(old), None)));
    pairs.extend(right.into_iter().map(|new| (None, Some(new))));
    pairs
}

/// Pairs encodings by name, then by where most of their instructions went.
fn encodings(old: Generation, new: Generation, moves: &BTreeMap<(&str, &str), usize>) -> Vec<EncodingChange> {
    let mut right: Vec<EncodingRef> = new.encodings().collect();
    let mut changes = Vec::new();
    for before in old.encodings() {
        let moved = || {
            let own = || moves.iter().filter(|((from, _), _)| *from == before.name());
            let all: usize = own().map(|(_, count)| count).sum();
            // Instructions that went to several encodings make a split, not a new name.
            own().find(|&((_, to), count)| count * 5 >= all * 4 && old.encoding(to).is_none()).map(|((_, to), _)| *to)
        };
        let same = right.iter().position(|after| after.name() == before.name());
        let partner = same.or_else(|| moved().and_then(|name| right.iter().position(|after| after.name() == name)));
        let Some(after) = partner.map(|at| right.remove(at)) else {
            changes.push(EncodingChange { old: Some(before), new: None, fields: Vec::new(), fixed: false });
            continue;
        };
        let fixed = !before.same_fixed_bits(after);
        if before.name() != after.name() || fixed || !before.same_fields(after) {
            let fields = field_changes(before, after);
            changes.push(EncodingChange { old: Some(before), new: Some(after), fields, fixed });
        }
    }
    let added = |after| EncodingChange { old: None, new: Some(after), fields: Vec::new(), fixed: false };
    changes.extend(right.into_iter().map(added));
    changes
}
