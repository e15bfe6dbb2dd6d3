//! The part of `conform` that assembles: text to bytes.

use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use anyhow::{Context as _, Result};
use flate2::read::GzDecoder;
use gfx_isa::Generation;
use gfx_isa::asm::Assembler;

/// What came of a file.
#[derive(Default)]
pub(crate) struct Report {
    pub(crate) name: String,
    pub(crate) rows: usize,
    pub(crate) errors: usize,
    pub(crate) bytes: usize,
    pub(crate) differences: Vec<String>,
}

impl Report {
    pub(crate) fn header() {
        println!("{:28} {:>7} {:>7} {:>7} {:>8}", "assembly", "rows", "error", "bytes", "agree");
    }

    pub(crate) fn print(&self) {
        let Report { name, rows, errors, bytes, .. } = self;
        let agree = 100.0 * (rows - errors - bytes) as f64 / (*rows).max(1) as f64;
        println!("{name:28} {rows:7} {errors:7} {bytes:7} {agree:7.2}%");
    }

    pub(crate) fn add(&mut self, other: &Report) {
        self.rows += other.rows;
        self.errors += other.errors;
        self.bytes += other.bytes;
    }

    pub(crate) fn good(&self) -> bool {
        self.errors + self.bytes == 0
    }
}

/// Assembles every row of a file.
pub(crate) fn file(name: &str, path: &Path, generation: Generation, wave64: bool) -> Result<Report> {
    let mut report = Report { name: name.to_owned(), ..Report::default() };
    let mut assembler = Assembler::new(generation);
    if wave64 {
        assembler = assembler.wave_size(64);
    }
    let mut text = String::new();
    GzDecoder::new(File::open(path)?).read_to_string(&mut text).with_context(|| name.to_owned())?;
    let mut code = Vec::new();
    for line in text.lines() {
        let (source, hex) = line.rsplit_once('\t').with_context(|| format!("{name}: no tab in {line:?}"))?;
        let expected = crate::conform::bytes(hex).with_context(|| format!("{name}: {hex:?} is not hex"))?;
        report.rows += 1;
        code.clear();
        match assembler.assemble_line(source, &mut code) {
            Ok(()) if code == expected => {}
            Ok(()) => {
                report.bytes += 1;
                let found: String = code.iter().map(|byte| format!("{byte:02x}")).collect();
                report.differences.push(format!("{source}\t{hex}\t{found}"));
            }
            Err(error) => {
                report.errors += 1;
                report.differences.push(format!("{source}\t{hex}\t{error}"));
            }
        }
    }
    Ok(report)
}
