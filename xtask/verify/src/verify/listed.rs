//! The differences that docs/llvm-differences.md lists.

use anyhow::{Context as _, Result};
use gfx_isa::Generation;
use serde::Deserialize;

use super::kind::Kind;

/// Fences of the list in the page.
const FENCE: (&str, &str) = ("```toml\n", "\n```");

/// The page's list.
#[derive(Deserialize)]
pub(super) struct Listed {
    #[serde(default)]
    difference: Vec<Entry>,
}

/// Kinds that have one cause.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Entry {
    /// Patterns of [`Kind::what`].
    what: Vec<String>,
    /// Patterns of [`Kind::family`].
    families: Vec<String>,
    /// Names of generations; `*` is all.
    generations: Vec<String>,
    /// Who is right.
    pub(super) right: Right,
    /// Why, for readers of the page.
    why: String,
}

/// Who is right where the two differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Right {
    /// LLVM is wrong, or looser than the manual.
    GfxIsa,
    /// gfx-isa is wrong and to be fixed.
    Llvm,
    /// Nothing says what the word means; each choice is sound.
    Either,
    /// Both take a word that the manual does not allow.
    Neither,
    /// Not found out.
    Open,
}

impl Right {
    pub(super) fn name(self) -> &'static str {
        match self {
            Right::GfxIsa => "gfx-isa",
            Right::Llvm => "llvm",
            Right::Either => "either",
            Right::Neither => "neither",
            Right::Open => "open",
        }
    }
}

impl Listed {
    /// Reads the list out of the page.
    pub(super) fn parse(page: &str) -> Result<Listed> {
        let (_, rest) = page.split_once(FENCE.0).context("no list of differences in a block of toml")?;
        let (list, _) = rest.split_once(FENCE.1).context("the list of differences does not end")?;
        let listed: Listed = toml::from_str(list)?;
        for entry in &listed.difference {
            anyhow::ensure!(!entry.why.is_empty(), "{:?} {:?}: no reason", entry.what, entry.families);
            for name in entry.generations.iter().filter(|name| *name != "*") {
                name.parse::<Generation>().with_context(|| format!("{:?}", entry.what))?;
            }
        }
        Ok(listed)
    }

    /// The first entry that has a kind.
    pub(super) fn find(&self, generation: Generation, kind: &Kind) -> Option<&Entry> {
        let any = |patterns: &[String], text: &str| patterns.iter().any(|pattern| matches(pattern, text));
        self.difference.iter().find(|entry| {
            any(&entry.what, &kind.what)
                && any(&entry.families, &kind.family)
                && any(&entry.generations, generation.name())
        })
    }
}

/// Whether a text is as a pattern says, in which `*` is any text.
fn matches(pattern: &str, text: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == text,
        Some((start, rest)) => text
            .strip_prefix(start)
            .is_some_and(|text| (0..=text.len()).any(|at| text.get(at..).is_some_and(|text| matches(rest, text)))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str = "# Page\n```toml\n[[difference]]\nwhat = [\"only-llvm *\"]\nfamilies = [\"v_cmp*\"]\n\
        generations = [\"rdna4\"]\nright = \"gfx-isa\"\nwhy = \"because\"\n```\n";

    fn kind(what: &str, family: &str) -> Kind {
        Kind { what: what.to_owned(), family: family.to_owned() }
    }

    #[test]
    fn an_entry_explains_its_kinds_alone() {
        let listed = Listed::parse(PAGE).unwrap();
        let found = |generation, what, family| listed.find(generation, &kind(what, family)).map(|entry| entry.right);
        assert_eq!(found(Generation::Rdna4, "only-llvm reserved-operand", "v_cmpx"), Some(Right::GfxIsa));
        assert_eq!(found(Generation::Rdna3, "only-llvm reserved-operand", "v_cmpx"), None);
        assert_eq!(found(Generation::Rdna4, "only-ours base", "v_cmpx"), None);
        assert_eq!(found(Generation::Rdna4, "only-llvm reserved-operand", "s_cmp"), None);
    }

    #[test]
    fn a_page_without_a_sound_list_is_an_error() {
        assert!(Listed::parse("# Page").is_err());
        assert!(Listed::parse(&PAGE.replace("rdna4", "rdna9")).is_err());
        assert!(Listed::parse(&PAGE.replace("because", "")).is_err());
    }

    #[test]
    fn the_pages_list_is_sound() {
        Listed::parse(include_str!("../../../../docs/llvm-differences.md")).unwrap();
    }
}
