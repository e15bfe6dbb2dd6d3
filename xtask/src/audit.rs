//! `cargo xtask audit`: the corrected specs against the LLVM library of the Rust toolchain, both ways.
//!
//! Forth: for every row a word is made that LLVM takes, and the mnemonic compared. Back: for every opcode that the
//! spec leaves free LLVM is asked whether it decodes. What differs must be explained in `data/exceptions.toml`.

mod ask;
mod exceptions;
mod reference;
mod report;
mod words;

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::fs;
use std::path::Path;
use std::time::Instant;

use anyhow::{Context, Result, bail};
use codegen::errata::{self, Erratum, UnsupportedRow};
use codegen::names::Names;
use codegen::sources::Generation;
use isa_xml::Spec;
use isa_xml::spec::Encoding;
use rayon::prelude::*;

use crate::regen::{root, sources, specs};
use ask::{Asker, Verdict};
use exceptions::{Exceptions, Kind};
use words::{Bits, Form, Shape, Slot};

/// Arguments of the command.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Only this generation; may be given several times. The page is then left alone.
    #[arg(long, value_name = "GENERATION")]
    isa: Vec<String>,
    /// Write docs/audit.md instead of checking that it is up to date.
    #[arg(long)]
    write: bool,
}

/// Arguments of the hidden command that answers a [`llvm_oracle::ChildOracle`].
#[derive(clap::Args)]
pub(crate) struct WorkerArgs {
    cpu: String,
    #[arg(default_value = "", allow_hyphen_values = true)]
    features: String,
}

pub(crate) fn serve(args: &WorkerArgs) -> Result<()> {
    Ok(llvm_oracle::serve(&args.cpu, &args.features)?)
}

/// Words tried for a row before LLVM is said to refuse it.
const ROW_ATTEMPTS: usize = 1500;
/// Words tried for an opcode that the spec lacks.
const FREE_ATTEMPTS: usize = 120;
/// Words tried for a variant that the spec lacks.
const FORM_ATTEMPTS: usize = 400;

/// One thing that LLVM and the spec see differently.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Difference {
    kind: Kind,
    encoding: String,
    /// AMD's name where the spec has a row, LLVM's mnemonic otherwise.
    instruction: String,
    opcode: u32,
    /// What LLVM says instead.
    text: String,
    /// Index of the exception that explains it.
    explained: Option<usize>,
}

/// What was found for one generation.
struct Findings {
    generation: Generation,
    instructions: usize,
    rows: usize,
    /// Rows whose name LLVM agrees to, on the generation's targets.
    agreed: usize,
    /// Instructions that only another processor of the family has.
    relatives: BTreeMap<String, BTreeSet<String>>,
    /// Their rows.
    relative_rows: usize,
    /// Rows that an erratum marks as unsupported and LLVM refuses.
    unsupported: usize,
    /// Opcodes that the spec leaves free.
    free: usize,
    crashes: usize,
    differences: Vec<Difference>,
}

pub(crate) fn run(args: &Args) -> Result<()> {
    let start = Instant::now();
    let version = match llvm_oracle::Oracle::load() {
        Ok(oracle) => oracle.version(),
        Err(error) => bail!("the audit needs the LLVM library: {error}"),
    };
    let sources = sources()?;
    for name in &args.isa {
        if !sources.generations.iter().any(|generation| generation.name == *name) {
            bail!("no generation {name}");
        }
    }
    let read = |path: &str| fs::read_to_string(root().join(path)).with_context(|| path.to_owned());
    let errata = errata::parse(&read("data/errata.toml")?)?;
    let names = Names::parse(&read("data/names.toml")?)?;
    let exceptions = Exceptions::parse(&read("data/exceptions.toml")?)?;

    let mut inputs = specs(&sources, None)?;
    let mut named: Vec<(&str, Spec)> = sources
        .generations
        .iter()
        .zip(inputs.drain(..))
        .map(|(generation, (_, spec))| (generation.name.as_str(), spec))
        .collect();
    let unsupported = errata::apply(&mut named, &errata)?.unsupported;
    names.check(&named)?;

    let wanted: Vec<(&Generation, &Spec)> = sources
        .generations
        .iter()
        .zip(named.iter().map(|(_, spec)| spec))
        .filter(|(generation, _)| args.isa.is_empty() || args.isa.contains(&generation.name))
        .collect();
    let mut findings: Vec<Findings> = wanted
        .par_iter()
        .map(|(generation, spec)| {
            audit(generation, spec, &names, &exceptions, &unsupported).with_context(|| generation.name.clone())
        })
        .collect::<Result<_>>()?;

    let mut unexplained = 0;
    for finding in &mut findings {
        let name = finding.generation.name.clone();
        for difference in &mut finding.differences {
            let (kind, encoding, instruction) = (difference.kind, &difference.encoding, &difference.instruction);
            difference.explained = exceptions.explain(kind, &name, encoding, instruction);
            if difference.explained.is_none() {
                unexplained += 1;
                println!(
                    "{name}: {}: {instruction} ({encoding} {}): {}",
                    kind.title(),
                    difference.opcode,
                    difference.text
                );
            }
        }
        println!(
            "{name:8} {:5} rows, {:5} agreed, {:3} on relatives, {:5} free opcodes, {:3} differences, {:3} crashes",
            finding.rows,
            finding.agreed,
            finding.relative_rows,
            finding.free,
            finding.differences.len(),
            finding.crashes,
        );
    }
    let audited: Vec<&str> = wanted.iter().map(|(generation, _)| generation.name.as_str()).collect();
    let idle = exceptions.idle(&audited, reference::at_hand());
    for exception in &idle {
        println!("exception that explains nothing: {:?} {:?}", exception.kind, exception.instructions);
    }
    println!("{} generations in {:.1} s", findings.len(), start.elapsed().as_secs_f64());
    if unexplained > 0 || !idle.is_empty() {
        bail!("{unexplained} unexplained differences, {} idle exceptions", idle.len());
    }
    if args.isa.is_empty() {
        publish(
            &root().join("docs/audit.md"),
            &report::page(version, &findings, &errata, &names, &exceptions),
            args.write,
        )?;
    }
    Ok(())
}

fn publish(path: &Path, page: &str, write: bool) -> Result<()> {
    if write {
        let temporary = path.with_extension("md.tmp");
        fs::create_dir_all(path.parent().context("no folder")?)?;
        fs::write(&temporary, page)
            .and_then(|()| fs::rename(&temporary, path))
            .with_context(|| path.display().to_string())?;
        println!("wrote {}", path.display());
    } else if fs::read_to_string(path).ok().as_deref() != Some(page) {
        bail!("docs/audit.md is out of date: run `cargo xtask audit --write`");
    }
    Ok(())
}

/// LLVM's mnemonic without the suffixes that name the encoding; of a dual instruction, that half's.
fn mnemonic(text: &str, slot: Slot) -> &str {
    let half = match slot {
        Slot::Y => text.split_once(":: ").map_or(text, |(_, half)| half),
        _ => text,
    };
    let mut name = half.split([' ', '\t']).next().unwrap_or_default();
    while let Some(rest) = ["_e32", "_e64", "_dpp", "_sdwa"].iter().find_map(|suffix| name.strip_suffix(suffix)) {
        name = rest;
    }
    name
}

/// Which opcodes an encoding has, and in which words.
struct Space<'a> {
    encoding: &'a Encoding,
    form: Form,
    identifiers: HashSet<u128>,
    /// Names by opcode, for each slot.
    names: BTreeMap<(Slot, u32), BTreeSet<&'a str>>,
}

fn spaces(spec: &Spec) -> Vec<Space<'_>> {
    let mut spaces: Vec<Space<'_>> = spec
        .encodings
        .iter()
        .map(|encoding| Space {
            encoding,
            form: Form::of(&encoding.name),
            identifiers: encoding.identifiers.iter().copied().collect(),
            names: BTreeMap::new(),
        })
        .collect();
    for instruction in &spec.instructions {
        for row in &instruction.rows {
            if let Some(shape) = Shape::of_row(spec, row) {
                let names = &mut spaces[usize::from(row.encoding.0)].names;
                names.entry((shape.slot, row.opcode)).or_default().insert(&instruction.name);
            }
        }
    }
    spaces
}

impl Space<'_> {
    /// Whether the spec reads a word as an instruction of this encoding.
    fn claims(&self, word: u128) -> bool {
        self.identifiers.contains(&(word & self.encoding.identifier_mask))
            && self.encoding.field("OP").is_none_or(|field| {
                let opcode = u32::try_from(words::value(field, word)).unwrap_or(u32::MAX);
                self.names.contains_key(&(Slot::Single, opcode))
            })
    }

    /// The same bits tell both encodings and hold their opcodes.
    fn shares_words(&self, other: &Self) -> bool {
        let ranges = |space: &Self, name| space.encoding.field(name).map(|field| field.ranges.clone());
        words::pattern(self.encoding) == words::pattern(other.encoding)
            && ["OP", "OPX", "OPY"].iter().all(|name| ranges(self, name) == ranges(other, name))
    }
}

fn audit(
    generation: &Generation,
    spec: &Spec,
    names: &Names,
    exceptions: &Exceptions,
    unsupported: &BTreeSet<UnsupportedRow>,
) -> Result<Findings> {
    let also_ask = exceptions.also_ask.get(&generation.name).map_or(&[][..], Vec::as_slice);
    let mut asker = Asker::new(generation, also_ask)?;
    let spaces = spaces(spec);
    let mut findings = Findings {
        generation: generation.clone(),
        instructions: spec.instructions.len(),
        rows: spec.instructions.iter().map(|instruction| instruction.rows.len()).sum(),
        agreed: 0,
        relatives: BTreeMap::new(),
        relative_rows: 0,
        unsupported: 0,
        free: 0,
        crashes: 0,
        differences: Vec::new(),
    };
    rows(&mut asker, generation, spec, names, exceptions, &mut findings)?;
    confirm(&generation.name, unsupported, &mut findings);
    free_opcodes(&mut asker, &spaces, &mut findings)?;
    missing_forms(&mut asker, generation, &spaces, names, &mut findings)?;
    reference::check(generation, &spaces, names, &mut findings)?;
    findings.crashes = asker.crashes();
    findings.differences.sort();
    findings.differences.dedup_by(|a, b| {
        (a.kind, &a.encoding, &a.instruction, a.opcode) == (b.kind, &b.encoding, &b.instruction, b.opcode)
    });
    Ok(findings)
}

/// Every row of the spec.
fn rows(
    asker: &mut Asker,
    generation: &Generation,
    spec: &Spec,
    names: &Names,
    exceptions: &Exceptions,
    findings: &mut Findings,
) -> Result<()> {
    let mut shapes = Vec::new();
    let mut instructions = Vec::new();
    for instruction in &spec.instructions {
        for row in &instruction.rows {
            let encoding = &spec.encoding(row.encoding).name;
            let mut shape = Shape::of_row(spec, row)
                .with_context(|| format!("{} {encoding}: opcode {} does not fit", instruction.name, row.opcode))?;
            shape.hints = exceptions.hints(encoding, &instruction.name);
            shapes.push(shape);
            instructions
                .push((instruction.name.as_str(), names.llvm_name(&generation.name, &instruction.name, encoding)));
        }
    }
    // The judge sees the shape; its expected name goes by address.
    let expected: BTreeMap<*const Shape<'_>, &str> =
        shapes.iter().zip(&instructions).map(|(shape, (_, name))| (std::ptr::from_ref(shape), name.as_str())).collect();
    let outcomes = asker.probe(&shapes, ROW_ATTEMPTS, |shape, _, length, text| {
        if length * 8 != usize::from(shape.encoding.bits) || !shape.form.agrees(text) {
            Verdict::No
        } else if expected.get(&std::ptr::from_ref(shape)) == Some(&mnemonic(text, shape.slot)) {
            Verdict::Hit
        } else {
            Verdict::Other
        }
    })?;
    for ((shape, (instruction, _)), outcome) in shapes.iter().zip(&instructions).zip(outcomes) {
        let (kind, text) = match (outcome.hit, outcome.other) {
            (Some(hit), _) => {
                match hit.relative {
                    None => findings.agreed += 1,
                    Some(cpu) => {
                        findings.relative_rows += 1;
                        findings.relatives.entry(cpu).or_default().insert((*instruction).to_owned());
                    }
                }
                continue;
            }
            (None, _) if outcome.crashes > 0 => (Kind::Crash, "crash".to_owned()),
            (None, Some(text)) => (Kind::Name, text),
            (None, None) => (Kind::Refused, "refused".to_owned()),
        };
        findings.differences.push(Difference {
            kind,
            encoding: shape.encoding.name.clone(),
            instruction: (*instruction).to_owned(),
            opcode: shape.opcode,
            text,
            explained: None,
        });
    }
    Ok(())
}

/// Rows that an erratum marks as unsupported are to be refused, and then need no exception.
fn confirm(generation: &str, unsupported: &BTreeSet<UnsupportedRow>, findings: &mut Findings) {
    for row in unsupported.iter().filter(|row| row.generation == generation) {
        let refused = |difference: &Difference| {
            difference.kind == Kind::Refused
                && (&difference.encoding, &difference.instruction) == (&row.encoding, &row.instruction)
        };
        if findings.differences.iter().any(refused) {
            findings.differences.retain(|difference| !refused(difference));
            findings.unsupported += 1;
        } else {
            findings.differences.push(Difference {
                kind: Kind::Extra,
                encoding: row.encoding.clone(),
                instruction: row.instruction.clone(),
                opcode: row.opcode,
                text: "marked as unsupported, but LLVM takes it".to_owned(),
                explained: None,
            });
        }
    }
}

/// Every opcode that no row has.
fn free_opcodes(asker: &mut Asker, spaces: &[Space<'_>], findings: &mut Findings) -> Result<()> {
    let mut shapes = Vec::new();
    let base: Vec<&Space<'_>> = spaces.iter().filter(|space| space.form == Form::Base).collect();
    for (place, space) in base.iter().enumerate() {
        // Encodings of the same words are one space; the first of them asks.
        if base[..place].iter().any(|other| other.shares_words(space)) {
            continue;
        }
        for slot in [Slot::Single, Slot::X, Slot::Y] {
            let Some(field) = space.encoding.field(slot.field()) else { continue };
            let bits: u16 = field.ranges.iter().map(|range| range.count).sum();
            for opcode in 0..1u32 << bits.min(12) {
                let taken =
                    spaces.iter().any(|other| other.shares_words(space) && other.names.contains_key(&(slot, opcode)));
                if !taken {
                    shapes.extend(Shape::new(space.encoding, slot, opcode));
                }
            }
        }
    }
    findings.free = shapes.len();
    let outcomes = asker.probe(&shapes, FREE_ATTEMPTS, |shape, word, length, text| {
        let claimed = |bits: &Bits| {
            let dual = shape.slot != Slot::Single;
            spaces.iter().any(|space| !(dual && space.encoding.field("OPX").is_some()) && space.claims(bits.low()))
        };
        if length * 8 == usize::from(shape.encoding.bits) && shape.form.agrees(text) && !claimed(word) {
            Verdict::Hit
        } else {
            Verdict::No
        }
    })?;
    for (shape, outcome) in shapes.iter().zip(outcomes) {
        let Some(hit) = outcome.hit.filter(|hit| hit.relative.is_none()) else { continue };
        findings.differences.push(Difference {
            kind: Kind::Extra,
            encoding: shape.encoding.name.clone(),
            instruction: mnemonic(&hit.text, shape.slot).to_owned(),
            opcode: shape.opcode,
            text: hit.text,
            explained: None,
        });
    }
    Ok(())
}

/// Every opcode that a variant lacks and its base encoding has.
fn missing_forms(
    asker: &mut Asker,
    generation: &Generation,
    spaces: &[Space<'_>],
    names: &Names,
    findings: &mut Findings,
) -> Result<()> {
    let mut shapes = Vec::new();
    for (place, space) in spaces.iter().enumerate() {
        let asked = |other: &Space<'_>| other.form == space.form && other.shares_words(space);
        if matches!(space.form, Form::Base | Form::Nsa(_)) || spaces[..place].iter().any(asked) {
            continue;
        }
        let siblings: Vec<&Space<'_>> = spaces.iter().filter(|other| other.shares_words(space)).collect();
        for base in siblings.iter().filter(|other| other.form == Form::Base) {
            for &(slot, opcode) in base.names.keys() {
                let known =
                    siblings.iter().any(|other| other.form == space.form && other.names.contains_key(&(slot, opcode)));
                if !known {
                    shapes.extend(Shape::new(space.encoding, slot, opcode));
                }
            }
        }
    }
    let expected = |shape: &Shape<'_>, name: &str| {
        spaces.iter().any(|space| {
            space.form == Form::Base
                && space.encoding.field(shape.slot.field()).is_some()
                && words::pattern(space.encoding) == words::pattern(shape.encoding)
                && space.names.get(&(shape.slot, shape.opcode)).is_some_and(|known| {
                    known.iter().any(|known| names.llvm_name(&generation.name, known, &space.encoding.name) == name)
                })
        })
    };
    let outcomes = asker.probe(&shapes, FORM_ATTEMPTS, |shape, _, length, text| {
        let fits = length * 8 == usize::from(shape.encoding.bits) && shape.form.agrees(text);
        if fits && expected(shape, mnemonic(text, shape.slot)) { Verdict::Hit } else { Verdict::No }
    })?;
    for (shape, outcome) in shapes.iter().zip(outcomes) {
        let Some(hit) = outcome.hit.filter(|hit| hit.relative.is_none()) else { continue };
        findings.differences.push(Difference {
            kind: Kind::Form,
            encoding: shape.encoding.name.clone(),
            instruction: mnemonic(&hit.text, shape.slot).to_owned(),
            opcode: shape.opcode,
            text: hit.text,
            explained: None,
        });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn suffixes_are_not_part_of_the_name() {
        assert_eq!(mnemonic("v_add_f32_e64_dpp v0, v1", Slot::Single), "v_add_f32");
        assert_eq!(mnemonic("v_dual_a_f32 v0, v1 :: v_dual_b_f32 v2, v3", Slot::Y), "v_dual_b_f32");
        assert_eq!(mnemonic("s_nop", Slot::X), "s_nop");
    }
}
