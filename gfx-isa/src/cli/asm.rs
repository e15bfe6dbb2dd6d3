//! `asm`: text to bytes.

use std::format;
use std::fs::File;
use std::io::{BufRead, BufReader, BufWriter, Read, Write};
use std::path::{Path, PathBuf};
use std::string::{String, ToString};
use std::vec::Vec;

use crate::Generation;
use crate::asm::{Assembler, Error};

use super::output::Output;
use super::{Failure, names};

/// Assemble text: the code's bytes as hex, an instruction a line
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Generation (cdna5) or processor (gfx1250)
    #[arg(long, value_parser = names::isa)]
    isa: Generation,
    /// Lanes of a wave
    #[arg(long, value_name = "LANES", value_parser = ["32", "64"])]
    wave: Option<String>,
    /// Changes nothing: the names of halves of registers (v5.l) are always understood
    #[arg(long)]
    true16: bool,
    /// Each line by itself: one line of hex or `error: ...` for each line of input
    #[arg(long)]
    lines: bool,
    /// Write the code itself to this file
    #[arg(short, long, value_name = "FILE", conflicts_with = "lines")]
    output: Option<PathBuf>,
    /// The source; standard input when absent or `-`
    file: Option<PathBuf>,
}

pub(super) fn run(args: &Args, output: &mut Output) -> Result<(), Failure> {
    let mut assembler = Assembler::new(args.isa);
    if let Some(wave) = &args.wave {
        let lanes = wave.parse().unwrap_or(0);
        if !args.isa.wave_sizes().contains(&lanes) {
            return Err(Failure::Usage(format!("{} has no waves of {lanes} lanes", args.isa)));
        }
        assembler = assembler.wave_size(lanes);
    }
    if args.lines {
        return lines(&mut assembler, args.file.as_deref());
    }
    let mut source = Vec::new();
    open(args.file.as_deref())?.read_to_end(&mut source).map_err(|error| unreadable(args.file.as_deref(), &error))?;
    let source = String::from_utf8(source).map_err(|_| Failure::Input("the source is not UTF-8".to_string()))?;
    let assembly = assembler.assemble(&source).map_err(|errors| Failure::Input(report(&errors)))?;
    for warning in &assembly.warnings {
        std::eprintln!("warning: {}", warning.report());
    }
    match &args.output {
        Some(path) => {
            // A file is written whole or not at all.
            let partial = path.with_added_extension("partial");
            std::fs::write(&partial, &assembly.code)?;
            std::fs::rename(&partial, path)?;
        }
        None => {
            let mut text = String::new();
            for range in assembly.instructions() {
                text.clear();
                hex(&assembly.code[range], &mut text);
                output.text(&text);
                output.text("\n");
            }
        }
    }
    Ok(())
}

/// Answers each line as it comes.
fn lines(assembler: &mut Assembler, file: Option<&Path>) -> Result<(), Failure> {
    let mut input = open(file)?;
    let mut output = BufWriter::new(std::io::stdout().lock());
    let (mut line, mut code, mut text) = (Vec::new(), Vec::new(), String::new());
    let mut good = true;
    loop {
        line.clear();
        if input.read_until(b'\n', &mut line).map_err(|error| unreadable(file, &error))? == 0 {
            break;
        }
        code.clear();
        text.clear();
        let result = match core::str::from_utf8(line.trim_ascii_end()) {
            Ok(line) => {
                assembler.assemble_line(line, &mut code).map_err(|error| format!("{}: {}", error.column, error.kind))
            }
            Err(_) => Err("1: the line is not UTF-8".to_string()),
        };
        match result {
            Ok(()) => {
                if let Some(warning) = core::str::from_utf8(&line).ok().and_then(|line| assembler.warning(line)) {
                    std::eprintln!("warning: {}", warning.report());
                }
                hex(&code, &mut text);
            }
            Err(message) => {
                good = false;
                text.push_str("error: ");
                text.push_str(&message);
            }
        }
        text.push('\n');
        output.write_all(text.as_bytes())?;
    }
    output.flush()?;
    if good { Ok(()) } else { Err(Failure::Input("some lines are no instructions".to_string())) }
}

fn open(file: Option<&Path>) -> Result<std::boxed::Box<dyn BufRead>, Failure> {
    match file.filter(|path| *path != Path::new("-")) {
        None => Ok(std::boxed::Box::new(std::io::stdin().lock())),
        Some(path) => {
            let file = File::open(path).map_err(|error| unreadable(Some(path), &error))?;
            Ok(std::boxed::Box::new(BufReader::new(file)))
        }
    }
}

fn unreadable(file: Option<&Path>, error: &std::io::Error) -> Failure {
    let name = file.map_or_else(|| "standard input".to_string(), |path| path.display().to_string());
    Failure::Input(format!("cannot read {name}: {error}"))
}

fn hex(bytes: &[u8], text: &mut String) {
    for byte in bytes {
        for digit in [byte >> 4, byte & 15] {
            text.push(char::from_digit(digit.into(), 16).unwrap_or('0'));
        }
    }
}

/// All that is wrong with a source; the first faults in full.
fn report(errors: &[Error]) -> String {
    const SHOWN: usize = 20;
    let mut text: Vec<String> = errors.iter().take(SHOWN).map(Error::report).collect();
    if errors.len() > SHOWN {
        text.push(format!("and {} more", errors.len() - SHOWN));
    }
    text.join("\n")
}
