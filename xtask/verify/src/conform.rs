//! `cargo xtask conform DIR`: golden vectors (bytes and text, as LLVM has them) against gfx-isa.

use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use flate2::read::GzDecoder;
use gfx_isa::{Decoder, Formatter, Generation, Inst, Options};
use rayon::prelude::*;

use crate::conform_asm;

/// Arguments of the command.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Folder with `<generation>[_w64|_t16].<kind>.tsv.gz`.
    dir: PathBuf,
    /// Print every row that differs to standard error.
    #[arg(short, long)]
    verbose: bool,
    /// Only files whose name contains this.
    #[arg(long, value_name = "TEXT")]
    only: Option<String>,
}

/// What a file name says of its rows.
struct Variant {
    generation: Generation,
    wave64: bool,
    true16: bool,
    /// `dis`, `dis-loose` or `asm`.
    kind: String,
}

impl Variant {
    fn of(name: &str) -> Result<Variant> {
        let (stem, rest) = name.split_once('.').with_context(|| format!("{name}: no kind"))?;
        let kind = rest.split('.').next().unwrap_or_default().to_owned();
        let (wave64, true16) = (stem.ends_with("_w64"), stem.ends_with("_t16"));
        let generation = stem.trim_end_matches("_w64").trim_end_matches("_t16").parse();
        Ok(Variant { generation: generation.with_context(|| name.to_owned())?, wave64, true16, kind })
    }
}

/// Runs every file; gives whether all rows that must agree do.
pub(crate) fn run(args: &Args) -> Result<bool> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(&args.dir).with_context(|| args.dir.display().to_string())? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if name.ends_with(".tsv.gz") && args.only.as_ref().is_none_or(|only| name.contains(only)) {
            files.push((name, path));
        }
    }
    files.sort();
    anyhow::ensure!(!files.is_empty(), "{}: no .tsv.gz files", args.dir.display());
    let reports: Vec<Report> = files.par_iter().map(|(name, path)| file(name, path)).collect::<Result<_>>()?;
    let mut good = true;
    println!(
        "{:28} {:>7} {:>7} {:>7} {:>7} {:>7} {:>8}",
        "disassembly", "rows", "error", "length", "op", "text", "agree"
    );
    let mut total = Report { name: "total".to_owned(), ..Report::default() };
    for report in reports.iter().filter(|r| r.rows > 0) {
        report.print();
        total.add(report);
        good &= report.good();
        let Report { name, differences, .. } = report;
        if args.verbose {
            for difference in differences {
                eprintln!("{name}\t{difference}");
            }
        }
    }
    total.print();
    Ok(assembly(&files, args.verbose)? && good)
}

/// Assembles the files of kind `asm`; gives whether all rows agree.
fn assembly(files: &[(String, PathBuf)], verbose: bool) -> Result<bool> {
    let reports = files.par_iter().map(|(name, path)| {
        let variant = Variant::of(name)?;
        if variant.kind != "asm" {
            return Ok(None);
        }
        conform_asm::file(name, path, variant.generation, variant.wave64).map(Some)
    });
    let reports: Vec<_> = reports.collect::<Result<Vec<_>>>()?.into_iter().flatten().collect();
    if reports.is_empty() {
        return Ok(true);
    }
    conform_asm::Report::header();
    let mut total = conform_asm::Report { name: "total".to_owned(), ..conform_asm::Report::default() };
    for report in &reports {
        report.print();
        total.add(report);
        if verbose {
            for difference in &report.differences {
                eprintln!("{}\t{difference}", report.name);
            }
        }
    }
    total.print();
    Ok(total.good())
}

#[derive(Default)]
struct Report {
    name: String,
    rows: usize,
    errors: usize,
    lengths: usize,
    ops: usize,
    texts: usize,
    differences: Vec<String>,
}

impl Report {
    fn wrong(&self) -> usize {
        self.errors + self.lengths + self.ops + self.texts
    }

    /// Whether the file agrees as far as it must: rows whose ignored bits are set may differ in one of 200.
    fn good(&self) -> bool {
        if self.name.contains("loose") { self.wrong() * 200 <= self.rows } else { self.wrong() == 0 }
    }

    fn add(&mut self, other: &Report) {
        self.rows += other.rows;
        self.errors += other.errors;
        self.lengths += other.lengths;
        self.ops += other.ops;
        self.texts += other.texts;
    }

    fn print(&self) {
        let Report { name, rows, errors, lengths, ops, texts, .. } = self;
        let agree = 100.0 * (rows - self.wrong()) as f64 / (*rows).max(1) as f64;
        println!("{name:28} {rows:7} {errors:7} {lengths:7} {ops:7} {texts:7} {agree:7.2}%");
    }
}

fn file(name: &str, path: &Path) -> Result<Report> {
    let variant = Variant::of(name)?;
    let mut report = Report { name: name.to_owned(), ..Report::default() };
    if !variant.kind.starts_with("dis") {
        return Ok(report);
    }
    let mut options = Options::default();
    if variant.true16 {
        options.true16 = Some(true);
    }
    let formatter = Formatter::new(options);
    let mut found = String::new();
    let mut text = String::new();
    GzDecoder::new(File::open(path)?).read_to_string(&mut text).with_context(|| name.to_owned())?;
    for line in text.lines() {
        let (hex, text) = line.split_once('\t').with_context(|| format!("{name}: no tab in {line:?}"))?;
        let bytes = bytes(hex).with_context(|| format!("{name}: {hex:?} is not hex"))?;
        report.rows += 1;
        let wave = if variant.wave64 { 64 } else { 32 };
        let inst = Decoder::new(variant.generation, &bytes).wave_size(wave).next();
        let difference = match inst {
            None => Some((&mut report.errors, "empty".to_owned())),
            Some(Err(error)) => Some((&mut report.errors, format!("{:?}", error.kind))),
            Some(Ok(inst)) if inst.len() != bytes.len() => {
                Some((&mut report.lengths, format!("length {}", inst.len())))
            }
            Some(Ok(inst)) => match wrong_op(&inst, text) {
                Some(found) => Some((&mut report.ops, found)),
                None => {
                    found.clear();
                    formatter.format(&inst, 0, &mut found)?;
                    (found != text).then(|| (&mut report.texts, found.clone()))
                }
            },
        };
        if let Some((count, found)) = difference {
            *count += 1;
            report.differences.push(format!("{hex}\t{text}\t{found}"));
        }
    }
    Ok(report)
}

/// The mnemonics of the instruction, where the text has others.
fn wrong_op(inst: &Inst, text: &str) -> Option<String> {
    let mut halves = text.split(" :: ").map(|half| base(half.split_whitespace().next().unwrap_or_default()));
    let x = halves.next().unwrap_or_default();
    let y = halves.next();
    let found_y = inst.mnemonic_y();
    let good = inst.mnemonic() == x && y == found_y;
    (!good).then(|| format!("{} {}", inst.mnemonic(), found_y.unwrap_or_default()))
}

/// A mnemonic without LLVM's suffixes for the encoding.
fn base(mnemonic: &str) -> &str {
    let mut base = mnemonic;
    for suffix in ["_dpp", "_sdwa", "_e32", "_e64"] {
        base = base.strip_suffix(suffix).unwrap_or(base);
    }
    base
}

pub(crate) fn bytes(hex: &str) -> Option<Vec<u8>> {
    let digits = hex.as_bytes().chunks(2);
    digits.map(|pair| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok()).collect()
}
