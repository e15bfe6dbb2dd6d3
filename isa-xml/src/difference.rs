//! Which named things differ between two specifications.

use std::fmt;

use crate::record::items;
use crate::spec::Spec;

/// What became of a named thing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Change {
    /// Only the new specification has it.
    Added,
    /// Only the old specification has it.
    Removed,
    /// Both have it, with different content.
    Changed,
}

/// What kind of thing a name stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// A fact about the document or the architecture as a whole.
    Document,
    /// An encoding.
    Encoding,
    /// An instruction.
    Instruction,
    /// An operand type.
    OperandType,
    /// A data format.
    DataFormat,
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Document => "document",
            Self::Encoding => "encoding",
            Self::Instruction => "instruction",
            Self::OperandType => "operand type",
            Self::DataFormat => "data format",
        })
    }
}

/// One difference.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Difference {
    /// What kind of thing differs.
    pub kind: Kind,
    /// Its name.
    pub name: String,
    /// What became of it.
    pub change: Change,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = match self.change {
            Change::Added => '+',
            Change::Removed => '-',
            Change::Changed => '~',
        };
        write!(f, "{sign} {} {}", self.kind, self.name)
    }
}

/// The named things that differ, sorted by kind and name. Empty for equal specifications, and also for two that differ
/// in nothing but the order of things.
#[must_use]
pub fn differences(old: &Spec, new: &Spec) -> Vec<Difference> {
    let (old, new) = (items(old), items(new));
    let mut found = Vec::new();
    let mut add = |(kind, name): &(Kind, String), change| {
        found.push(Difference { kind: *kind, name: name.clone(), change });
    };
    for (key, text) in &old {
        match new.get(key) {
            None => add(key, Change::Removed),
            Some(other) if other != text => add(key, Change::Changed),
            Some(_) => {}
        }
    }
    for key in new.keys().filter(|key| !old.contains_key(*key)) {
        add(key, Change::Added);
    }
    found.sort();
    found
}
