//! Finds out what a person meant.

use std::string::{String, ToString};
use std::vec::Vec;

use super::Suffix;
use super::encode::Context;
use super::error::{ErrorKind, Fault};
use super::index::{Candidate, Index, generations_with};
use crate::{Generation, Op};

/// A mnemonic that the generation does not have.
pub(crate) fn unknown(index: &Index, generation: Generation, name: &[u8], span: (u32, u32)) -> Fault {
    let fault = |kind| Fault { at: span.0, end: span.1, kind };
    let known: Vec<&str> = generations_with(name).map(Generation::title).collect();
    if known.is_empty() {
        return fault(ErrorKind::UnknownMnemonic { suggestion: closest(index, name) });
    }
    let spelling = spelling(index, generation, name);
    fault(ErrorKind::OtherGeneration { generation: generation.title(), known: known.join(", "), spelling })
}

/// What a generation calls an instruction that others have under this name.
fn spelling(index: &Index, generation: Generation, name: &[u8]) -> Option<String> {
    let own = |op: Op| {
        let tables = generation.tables()?;
        tables.rows.iter().find(|row| !row.is_reserved() && row.op() == op).map(|row| row.mnemonic().to_string())
    };
    for other in generations_with(name) {
        let tables = other.tables()?;
        let candidates = Index::of(tables).find(name)?;
        let op = tables.rows[usize::from(candidates[0].row)].op();
        if let Some(found) = own(op) {
            return Some(found);
        }
    }
    let text = core::str::from_utf8(name).ok()?;
    // Names that differ by a fixed rule between the CDNA and RDNA lines.
    const RULES: [(&str, &str); 6] = [
        ("v_addc_co_u32", "v_add_co_ci_u32"),
        ("v_subb_co_u32", "v_sub_co_ci_u32"),
        ("v_subbrev_co_u32", "v_subrev_co_ci_u32"),
        ("v_add_u32", "v_add_nc_u32"),
        ("v_sub_u32", "v_sub_nc_u32"),
        ("v_subrev_u32", "v_subrev_nc_u32"),
    ];
    let other = RULES.iter().find_map(|&(a, b)| {
        if text == a {
            Some(b)
        } else if text == b {
            Some(a)
        } else {
            None
        }
    })?;
    index.find(other.as_bytes()).map(|_| other.to_string())
}

/// The mnemonic that differs in the fewest letters, if those are few.
fn closest(index: &Index, name: &[u8]) -> Option<String> {
    let most = (name.len() / 4).clamp(1, 3);
    let mut best: Option<(usize, &str)> = None;
    for known in index.names() {
        let limit = best.map_or(most, |(distance, _)| distance.saturating_sub(1));
        if let Some(distance) = distance(known.as_bytes(), name, limit) {
            best = Some((distance, known));
        }
    }
    best.map(|(_, known)| known.to_string())
}

/// Letters to change, add or leave out, if no more than `most`.
fn distance(a: &[u8], b: &[u8], most: usize) -> Option<usize> {
    if a.len().abs_diff(b.len()) > most || b.len() >= 64 {
        return None;
    }
    let mut row: [usize; 65] = core::array::from_fn(|at| at);
    for (i, &left) in a.iter().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, &right) in b.iter().enumerate() {
            let changed = diagonal + usize::from(left != right);
            diagonal = row[j + 1];
            row[j + 1] = changed.min(row[j] + 1).min(diagonal + 1);
        }
    }
    Some(row[b.len()]).filter(|&distance| distance <= most)
}

/// No row has the form that is asked for.
pub(crate) fn no_form(
    _cx: Context<'_>,
    candidates: &[Candidate],
    suffix: Suffix,
    dpp: bool,
    _tried: bool,
    span: (u32, u32),
) -> Fault {
    let kind = if candidates.iter().all(|c| c.half != 0) {
        ErrorKind::Rule("this is one half of a dual-issue word: `.. :: ..`".into())
    } else {
        let suffix = match (suffix, dpp) {
            (Suffix::None, true) => "DPP",
            (Suffix::None, false) => "SDWA",
            (suffix, _) => suffix.name(),
        };
        ErrorKind::NoForm { suffix }
    };
    Fault { at: span.0, end: span.1, kind }
}

/// Two instructions that make no dual-issue word.
pub(crate) fn no_pair(x: &[Candidate], y: &[Candidate], span: (u32, u32), span_y: (u32, u32)) -> Fault {
    let fault = |(at, end): (u32, u32), what: &'static str| Fault { at, end, kind: ErrorKind::Rule(what.into()) };
    if !x.iter().any(|c| c.half == 1) {
        let what = if x.iter().any(|c| c.half == 2) {
            "the instruction is allowed in the Y half of a dual-issue word only"
        } else {
            "the instruction cannot be issued with another"
        };
        return fault(span, what);
    }
    if !y.iter().any(|c| c.half == 2) {
        let what = if y.iter().any(|c| c.half == 1) {
            "the instruction is allowed in the X half of a dual-issue word only"
        } else {
            "the instruction cannot be issued with another"
        };
        return fault(span_y, what);
    }
    fault(span_y, "the two halves have no encoding in common")
}
