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

/// One difference.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Difference {
    /// `instruction`, `encoding`, `data format`, `operand type` or `document`.
    pub kind: &'static str,
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
    let mut add = |(kind, name): &(&'static str, String), change| {
        found.push(Difference {
            kind,
            name: name.clone(),
            change,
        });
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
