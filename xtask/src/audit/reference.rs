//! The reference data folder's rows: each must be an instruction of the spec by the name that LLVM prints.

use std::collections::BTreeSet;
use std::io::Read;
use std::path::PathBuf;

use anyhow::{Context, Result};
use codegen::names::Names;
use codegen::sources::Generation;

use super::exceptions::Kind;
use super::words::{Slot, value};
use super::{Difference, Findings, Space, mnemonic};

/// Whether the reference data are here.
pub(super) fn at_hand() -> bool {
    folder().is_dir()
}

fn folder() -> PathBuf {
    let shared = std::env::var_os("GFX_ISA_SHARED").map(PathBuf::from);
    shared.unwrap_or_else(|| crate::regen::root().join("../shared")).join("golden")
}

/// Adds what the reference rows show; says so where they are not at hand.
pub(super) fn check(
    generation: &Generation,
    spaces: &[Space<'_>],
    names: &Names,
    findings: &mut Findings,
) -> Result<()> {
    let mut any = false;
    for variant in ["", "_w64", "_t16"] {
        let path = folder().join(format!("{}{variant}.dis.tsv.gz", generation.name));
        let Ok(file) = std::fs::File::open(&path) else { continue };
        any = true;
        let mut text = String::new();
        flate2::read::GzDecoder::new(file).read_to_string(&mut text).with_context(|| path.display().to_string())?;
        for (number, row) in text.lines().enumerate() {
            let (hex, text) = row.split_once('\t').with_context(|| format!("{}:{}", path.display(), number + 1))?;
            check_row(generation, spaces, names, hex, text, findings);
        }
    }
    if !any {
        eprintln!("{}: no rows in the reference data folder {}", generation.name, folder().display());
    }
    Ok(())
}

fn check_row(
    generation: &Generation,
    spaces: &[Space<'_>],
    names: &Names,
    hex: &str,
    text: &str,
    findings: &mut Findings,
) {
    let byte = |at| hex.get(at..at + 2).and_then(|pair| u8::from_str_radix(pair, 16).ok());
    let bytes: Vec<u8> = (0..hex.len()).step_by(2).map_while(byte).collect();
    let word = bytes.iter().take(16).rev().fold(0u128, |word, &byte| word << 8 | u128::from(byte));
    let mut known = BTreeSet::new();
    let dual = text.contains(" :: ");
    for space in spaces {
        let encoding = space.encoding;
        let fits = usize::from(encoding.bits) <= bytes.len() * 8;
        if !fits || !space.identifiers.contains(&(word & encoding.identifier_mask)) && !dual {
            continue;
        }
        for (&(slot, opcode), found) in &space.names {
            let held = encoding.field(slot.field()).is_none_or(|field| value(field, word) == u64::from(opcode));
            if held && (slot == Slot::Single) != dual {
                known.extend(found.iter().map(|name| (slot, names.llvm_name(&generation.name, name, &encoding.name))));
            }
        }
    }
    let slots = if dual { &[Slot::X, Slot::Y][..] } else { &[Slot::Single] };
    for &slot in slots {
        let name = mnemonic(text, slot).to_owned();
        if !known.contains(&(slot, name.clone())) {
            findings.differences.push(Difference {
                kind: Kind::Reference,
                encoding: String::new(),
                instruction: name,
                opcode: 0,
                text: format!("{hex} {text}"),
                explained: None,
            });
        }
    }
}
