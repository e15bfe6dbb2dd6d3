//! `data/exceptions.toml`: differences from LLVM that are neither faults of AMD's files nor of the names.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};

use anyhow::{Context, Result, bail};
use serde::Deserialize;

/// What kind of difference.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Kind {
    /// The spec has the row; LLVM takes no word of it.
    Refused,
    /// LLVM crashes on words of the row.
    Crash,
    /// LLVM gives the row another name.
    Name,
    /// LLVM decodes an opcode that the spec lacks.
    Extra,
    /// LLVM decodes a variant (literal, DPP, SDWA) that the spec lacks.
    Form,
    /// The reference data have a mnemonic that the spec lacks.
    Reference,
}

impl Kind {
    pub(super) fn title(self) -> &'static str {
        match self {
            Self::Refused => "LLVM refuses what AMD lists",
            Self::Crash => "LLVM crashes",
            Self::Name => "LLVM decodes another instruction",
            Self::Extra => "LLVM decodes opcodes that AMD does not list",
            Self::Form => "LLVM decodes variants that AMD does not list",
            Self::Reference => "Mnemonics of the reference data alone",
        }
    }
}

/// One explained exception.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Exception {
    pub(super) kind: Kind,
    pub(super) generations: Vec<String>,
    /// Patterns with `*`; all encodings when empty.
    #[serde(default)]
    pub(super) encodings: Vec<String>,
    /// Patterns with `*`: AMD's name where the spec has a row, LLVM's mnemonic otherwise.
    pub(super) instructions: Vec<String>,
    pub(super) reason: String,
    #[serde(skip)]
    used: AtomicUsize,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Exceptions {
    /// By generation, further processors of the family, with features, to ask where its own targets refuse.
    #[serde(default, rename = "also-ask")]
    pub(super) also_ask: BTreeMap<String, Vec<String>>,
    /// Field values without which LLVM refuses an instruction.
    #[serde(default, rename = "hint")]
    hints: Vec<Hint>,
    #[serde(default, rename = "exception")]
    pub(super) list: Vec<Exception>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Hint {
    /// Patterns with `*`: AMD's names.
    instructions: Vec<String>,
    /// All encodings when empty.
    #[serde(default)]
    encodings: Vec<String>,
    fields: BTreeMap<String, u64>,
}

static NO_HINTS: BTreeMap<String, u64> = BTreeMap::new();

impl Exceptions {
    pub(super) fn parse(text: &str) -> Result<Self> {
        let exceptions: Self = toml::from_str(text).context("exceptions.toml")?;
        for exception in &exceptions.list {
            if exception.reason.trim().is_empty() || exception.instructions.is_empty() {
                bail!("exceptions.toml: an exception needs `instructions` and a `reason`: {exception:?}");
            }
        }
        Ok(exceptions)
    }

    /// The field values to use for a row. Fields that the encoding lacks do no harm.
    pub(super) fn hints(&self, encoding: &str, instruction: &str) -> &BTreeMap<String, u64> {
        let applies = |hint: &&Hint| {
            hint.instructions.iter().any(|glob| matches(glob, instruction))
                && (hint.encodings.is_empty() || hint.encodings.iter().any(|glob| matches(glob, encoding)))
        };
        self.hints.iter().find(applies).map_or(&NO_HINTS, |hint| &hint.fields)
    }

    /// The exception that explains a difference.
    pub(super) fn explain(&self, kind: Kind, generation: &str, encoding: &str, instruction: &str) -> Option<usize> {
        let place = self.list.iter().position(|exception| {
            exception.kind == kind
                && exception.generations.iter().any(|name| name == generation)
                && (exception.encodings.is_empty() || exception.encodings.iter().any(|glob| matches(glob, encoding)))
                && exception.instructions.iter().any(|glob| matches(glob, instruction))
        })?;
        self.list[place].used.fetch_add(1, Ordering::Relaxed);
        Some(place)
    }

    /// Exceptions about the generations that explained nothing; without the reference data, what is about them
    /// does not count.
    pub(super) fn idle(&self, generations: &[&str], reference: bool) -> Vec<&Exception> {
        let audited =
            |exception: &&Exception| exception.generations.iter().all(|name| generations.contains(&name.as_str()));
        self.list
            .iter()
            .filter(audited)
            .filter(|exception| reference || exception.kind != Kind::Reference)
            .filter(|exception| exception.used.load(Ordering::Relaxed) == 0)
            .collect()
    }
}

/// Whether a text is of a pattern, in which `*` stands for any characters.
fn matches(pattern: &str, text: &str) -> bool {
    let Some((head, tail)) = pattern.split_once('*') else { return pattern == text };
    let Some(rest) = text.strip_prefix(head) else { return false };
    rest.char_indices().map(|(at, _)| at).chain([rest.len()]).any(|at| matches(tail, &rest[at..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_match() {
        assert!(matches("DS_*_SRC2_*", "DS_ADD_SRC2_U32"));
        assert!(matches("*", ""));
        assert!(!matches("DS_*", "XDS_ADD"));
        assert!(!matches("DS_ADD", "DS_ADD_U32"));
    }

    #[test]
    fn idle_exceptions_are_found() {
        let text = "[[exception]]\nkind = 'refused'\ngenerations = ['rdna4']\ninstructions = ['A*']\nreason = 'r'";
        let exceptions = Exceptions::parse(text).unwrap();
        assert_eq!(exceptions.explain(Kind::Extra, "rdna4", "E", "AB"), None);
        assert_eq!(exceptions.idle(&["rdna4"], true).len(), 1);
        assert_eq!(exceptions.idle(&["rdna3"], true).len(), 0);
        assert_eq!(exceptions.explain(Kind::Refused, "rdna4", "E", "AB"), Some(0));
        assert!(exceptions.idle(&["rdna4"], true).is_empty());
        assert!(Exceptions::parse(&text.replace("'r'", "''")).is_err());
    }
}
