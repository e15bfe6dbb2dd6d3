//! `disasm`: bytes to text.

mod object;

use std::format;
use std::fs::File;
use std::io::{BufRead, BufReader, BufWriter, Read, Write};
use std::path::{Path, PathBuf};
use std::string::{String, ToString};
use std::vec::Vec;

use crate::disasm::{Formatter, Options, Targets};
use crate::{DecodeErrorKind, Decoder, Generation};

use super::{Failure, names};

/// Bytes read at a time; the last instruction may reach into the next piece.
const PIECE: usize = 1 << 16;
/// Longest instruction.
const LONGEST: usize = 20;

/// Disassemble machine code: offset, bytes and LLVM's text, an instruction a line
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Generation (cdna5) or processor (gfx1250); an ELF code object says it itself
    #[arg(long, value_parser = names::isa, required_if_eq("lines", "true"))]
    isa: Option<Generation>,
    /// Lanes of a wave
    #[arg(long, value_name = "LANES", value_parser = ["32", "64"])]
    wave: Option<String>,
    /// Spell halves of registers (v5.l)
    #[arg(long)]
    true16: bool,
    /// Each line by itself: hex bytes in, text or `error: ...` out, one for one
    #[arg(long)]
    lines: bool,
    /// The code; standard input when absent or `-`
    file: Option<PathBuf>,
}

pub(super) fn run(args: &Args) -> Result<(), Failure> {
    let mut options = Options::default();
    if args.true16 {
        options.true16 = Some(true);
    }
    let mut input = open(args.file.as_deref())?;
    let unreadable = |error: std::io::Error| {
        let name = args.file.as_deref().map_or("standard input".to_string(), |path| path.display().to_string());
        Failure::Input(format!("cannot read {name}: {error}"))
    };
    if !args.lines && input.fill_buf().map_err(&unreadable)?.starts_with(b"\x7fELF") {
        let mut file = Vec::new();
        input.read_to_end(&mut file).map_err(&unreadable)?;
        return object::run(&file, args, options);
    }
    let Some(isa) = args.isa else {
        return Err(Failure::Usage("code without an ELF header needs --isa".to_string()));
    };
    let lanes = lanes(args, isa)?;
    if args.lines {
        return lines(isa, lanes, Formatter::new(options), input, unreadable);
    }
    options.targets = Targets::Absolute;
    raw(isa, lanes, &Formatter::new(options), input, unreadable)
}

/// The size of waves that is asked for, or the generation's usual one.
fn lanes(args: &Args, isa: Generation) -> Result<u32, Failure> {
    let lanes = match &args.wave {
        Some(wave) => wave.parse().unwrap_or(0),
        None => isa.wave_sizes()[0],
    };
    if !isa.wave_sizes().contains(&lanes) {
        return Err(Failure::Usage(format!("{isa} has no waves of {lanes} lanes")));
    }
    Ok(lanes)
}

fn open(file: Option<&Path>) -> Result<std::boxed::Box<dyn BufRead>, Failure> {
    match file.filter(|path| path.as_os_str() != "-") {
        None => Ok(std::boxed::Box::new(BufReader::new(std::io::stdin()))),
        Some(path) => match File::open(path) {
            Ok(file) => Ok(std::boxed::Box::new(BufReader::new(file))),
            Err(error) => Err(Failure::Input(format!("cannot read {}: {error}", path.display()))),
        },
    }
}

/// Answers each line as it comes.
fn lines(
    isa: Generation,
    lanes: u32,
    formatter: Formatter<'_>,
    mut input: impl BufRead,
    unreadable: impl Fn(std::io::Error) -> Failure,
) -> Result<(), Failure> {
    let mut output = BufWriter::new(std::io::stdout().lock());
    let (mut line, mut bytes, mut text) = (Vec::new(), Vec::new(), String::new());
    let mut good = true;
    loop {
        line.clear();
        if input.read_until(b'\n', &mut line).map_err(&unreadable)? == 0 {
            break;
        }
        text.clear();
        if let Err(error) = answer(isa, lanes, &formatter, &line, &mut bytes, &mut text) {
            good = false;
            text = format!("error: {error}");
        }
        text.push('\n');
        output.write_all(text.as_bytes())?;
    }
    output.flush()?;
    if good { Ok(()) } else { Err(Failure::Input("some lines are no instruction".to_string())) }
}

/// The text of one line of hex digits, which must be one instruction.
fn answer(
    isa: Generation,
    lanes: u32,
    formatter: &Formatter<'_>,
    line: &[u8],
    bytes: &mut Vec<u8>,
    text: &mut String,
) -> Result<(), String> {
    bytes.clear();
    let mut high = None;
    for &byte in line.iter().filter(|byte| !byte.is_ascii_whitespace()) {
        let digit =
            char::from(byte).to_digit(16).ok_or_else(|| format!("{:?} is no hex digit", char::from(byte)))? as u8;
        match high.take() {
            Some(first) => bytes.push(first << 4 | digit),
            None => high = Some(digit),
        }
    }
    if high.is_some() {
        return Err("half a byte at the end".to_string());
    }
    let mut decoder = Decoder::new(isa, bytes).wave_size(lanes);
    let inst = decoder.next().ok_or("no bytes")?.map_err(|error| error.to_string())?;
    if inst.len() != bytes.len() {
        return Err(format!("{} bytes of {} are an instruction", inst.len(), bytes.len()));
    }
    formatter.format(&inst, 0, text).map_err(|error| error.to_string())
}

/// Code without a container, read piece by piece.
fn raw(
    isa: Generation,
    lanes: u32,
    formatter: &Formatter<'_>,
    mut input: impl Read,
    unreadable: impl Fn(std::io::Error) -> Failure,
) -> Result<(), Failure> {
    let mut output = BufWriter::new(std::io::stdout().lock());
    let mut piece = Vec::with_capacity(PIECE + LONGEST);
    let (mut offset, mut good) = (0u64, true);
    let mut text = String::new();
    loop {
        let left = piece.len();
        let read = input.by_ref().take(PIECE as u64).read_to_end(&mut piece).map_err(&unreadable)?;
        let ended = read == 0;
        if ended && left == 0 {
            break;
        }
        let mut decoder = Decoder::new(isa, &piece).wave_size(lanes);
        let mut done = 0;
        // What could go on in the next piece waits for it.
        while done < piece.len() && (ended || piece.len() - done >= LONGEST) {
            let Some(result) = decoder.next() else { break };
            text.clear();
            let pc = offset + done as u64;
            let len = match result {
                Ok(inst) => {
                    formatter
                        .format(&inst, pc, &mut text)
                        .map_err(|_| Failure::Input("text is refused".to_string()))?;
                    inst.len()
                }
                Err(error) => {
                    good = false;
                    let kind = if error.kind == DecodeErrorKind::Truncated { "truncated" } else { "no instruction" };
                    text.push('<');
                    text.push_str(kind);
                    text.push('>');
                    error.len.max(1)
                }
            };
            let bytes = &piece[done..piece.len().min(done + len)];
            let mut hex = String::with_capacity(48);
            for byte in bytes {
                hex.push_str(&format!("{byte:02x}"));
            }
            writeln!(output, "{pc:8x}: {hex:24} {text}")?;
            done = decoder.offset();
        }
        piece.drain(..done);
        offset += done as u64;
    }
    output.flush()?;
    if good { Ok(()) } else { Err(Failure::Input("some of the code is no instruction".to_string())) }
}
