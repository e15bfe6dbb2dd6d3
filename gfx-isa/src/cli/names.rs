//! Names that people give: of generations, instructions, encodings and groups; and what they may have meant.

use std::collections::BTreeSet;
use std::format;
use std::string::{String, ToString};
use std::vec::Vec;

use crate::{EncodingRef, Generation, Op, compare};

use super::Failure;

/// Takes the value of `--isa`: a generation or a processor, compiled in.
pub(super) fn isa(text: &str) -> Result<Generation, String> {
    let Ok(generation) = text.parse::<Generation>() else {
        let names =
            Generation::all().iter().flat_map(|g| core::iter::once(g.name()).chain(g.targets().map(|t| t.name)));
        let known: Vec<&str> = Generation::available().map(Generation::name).collect();
        let known = format!("known are {} and their processors", known.join(", "));
        return Err(format!("unknown generation or processor; {}", suggest(text, names).unwrap_or(known)));
    };
    if !generation.is_available() {
        return Err(format!("{generation} is not compiled into this program"));
    }
    Ok(generation)
}

/// An instruction that a name means.
#[derive(Debug, Clone, Copy)]
pub(super) struct Named {
    pub(super) op: Op,
    pub(super) generation: Generation,
    /// The name is not AMD's name in this generation.
    pub(super) alias: bool,
}

/// Finds an instruction by AMD's name, an alias, or LLVM's mnemonic: in one generation, or in the newest that has it.
pub(super) fn instruction(name: &str, generation: Option<Generation>) -> Result<Named, Failure> {
    let name = name.trim();
    let generations: Vec<Generation> = match generation {
        Some(generation) => std::vec![generation],
        None => Generation::available().collect(),
    };
    let candidates = candidates(name);
    let exact = candidates.iter().copied().filter(|(_, rank)| *rank == 0);
    let other = candidates.iter().copied().filter(|(_, rank)| *rank != 0);
    for (op, rank) in exact.chain(other) {
        let has = generations.iter().copied().filter(|generation| generation.has(op));
        if let Some(generation) = has.max_by_key(|&generation| compare::version(generation)) {
            return Ok(Named { op, generation, alias: rank != 0 });
        }
    }
    for &generation in &generations {
        let bare = without_suffix(name);
        let found =
            generation.instructions().find(|info| [name, bare].iter().any(|n| info.mnemonic().eq_ignore_ascii_case(n)));
        if let Some(info) = found {
            return Ok(Named { op: info.op(), generation, alias: true });
        }
    }
    Err(Failure::Input(not_found(name, &candidates, generation)))
}

/// Instructions that a name may mean; 0 marks AMD's own name, 1 an alias.
fn candidates(name: &str) -> Vec<(Op, u8)> {
    let mut found = Vec::new();
    for name in [name, without_suffix(name)] {
        if let Some(op) = Op::from_name(name) {
            found.push((op, 0));
            found.extend(op.renamings().map(|other| (other, 1)));
        }
        found.extend(Op::from_alias(name).map(|op| (op, 1)));
    }
    found
}

/// A mnemonic without the suffixes that LLVM gives it for its encoding.
fn without_suffix(name: &str) -> &str {
    let mut bare = name;
    for suffix in ["_dpp8", "_dpp", "_sdwa", "_e32", "_e64"] {
        let cut = bare.len().saturating_sub(suffix.len());
        if bare.get(cut..).is_some_and(|end| end.eq_ignore_ascii_case(suffix)) {
            bare = &bare[..cut];
        }
    }
    bare
}

fn not_found(name: &str, candidates: &[(Op, u8)], generation: Option<Generation>) -> String {
    if let (Some(generation), Some(&(op, _))) = (generation, candidates.first()) {
        let has: Vec<Generation> = Generation::available().filter(|other| other.has(op)).collect();
        if !has.is_empty() {
            return format!("{generation} has no {}; it is in {}", op.name(), compare::titles(&has));
        }
    }
    let ops = Op::all().iter().copied().filter(|&op| match generation {
        Some(generation) => generation.has(op),
        None => Generation::available().any(|generation| generation.has(op)),
    });
    // Asking every generation for every name is slow; only what is near is asked for.
    let near = ops_near(name);
    let known: Vec<&str> = ops.filter(|op| near.contains(op)).map(Op::name).collect();
    let hint = suggest(name, known.into_iter()).unwrap_or_else(|| "`gfx-isa list` names all".to_string());
    format!("unknown instruction {name:?}; {hint}")
}

fn ops_near(name: &str) -> BTreeSet<Op> {
    let upper = name.to_ascii_uppercase();
    Op::all().iter().copied().filter(|op| strsim::normalized_damerau_levenshtein(&upper, op.name()) >= NEAR).collect()
}

/// The encoding of a generation that a name means.
pub(super) fn encoding(name: &str, generation: Generation) -> Result<EncodingRef, Failure> {
    generation.encoding(name).ok_or_else(|| {
        let known: Vec<&str> = generation.encodings().map(EncodingRef::name).collect();
        let short = known.iter().filter_map(|known| known.strip_prefix("ENC_"));
        let hint = suggest(name, known.iter().copied().chain(short));
        let hint = hint.unwrap_or_else(|| format!("known are {}", known.join(", ")));
        Failure::Usage(format!("{generation} has no encoding {name:?}; {hint}"))
    })
}

/// How like the names that a wrong name may have meant must be, 1 being the same.
const NEAR: f64 = 0.6;

/// The known names most like a wrong one, as a question.
pub(super) fn suggest<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Option<String> {
    let upper = name.to_ascii_uppercase();
    let score = |known: &str| strsim::normalized_damerau_levenshtein(&upper, &known.to_ascii_uppercase());
    let mut near: Vec<(f64, &str)> =
        known.map(|known| (score(known), known)).filter(|(score, _)| *score >= NEAR).collect();
    near.sort_by(|(a, x), (b, y)| b.total_cmp(a).then(x.cmp(y)));
    near.dedup_by_key(|(_, name)| *name);
    let best: Vec<&str> = near.into_iter().take(3).map(|(_, name)| name).collect();
    let (last, rest) = best.split_last()?;
    Some(match rest {
        [] => format!("did you mean {last}?"),
        _ => format!("did you mean {} or {last}?", rest.join(", ")),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn suggestions_are_the_nearest_names() {
        let known = ["V_MSAD_U8", "V_SAD_U8", "S_NOP"];
        assert_eq!(suggest("v_msda_u8", known.into_iter()).as_deref(), Some("did you mean V_MSAD_U8 or V_SAD_U8?"));
        assert_eq!(suggest("zzz", known.into_iter()), None);
    }

    #[test]
    fn suffixes_of_mnemonics() {
        assert_eq!(without_suffix("v_add_f32_e64_dpp8"), "v_add_f32");
        assert_eq!(without_suffix("V_ADD_F32_E32"), "V_ADD_F32");
        assert_eq!(without_suffix("s_nop"), "s_nop");
        assert_eq!(without_suffix("ü"), "ü");
    }
}
