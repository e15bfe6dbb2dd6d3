//! Faults that people met in other tools: each has its right answer here.

use gfx_isa::asm::{Assembler, Error};
use gfx_isa::{DecodeErrorKind, Decoder, Generation, Inst};

/// What this crate has to do with one input.
struct Fact<'a> {
    generation: Generation,
    wave: u32,
    kind: &'a str,
    input: &'a str,
    expected: &'a str,
}

const FACTS: &str = include_str!("data/reports.tsv");

fn facts() -> impl Iterator<Item = Fact<'static>> {
    FACTS.lines().filter(|line| !line.starts_with('#')).map(|line| {
        let mut parts = line.split('\t');
        let mut part = || parts.next().expect("five columns");
        let generation: Generation = part().parse().expect("a generation");
        let wave = part().parse().unwrap_or(generation.wave_sizes()[0]);
        Fact { generation, wave, kind: part(), input: part(), expected: part() }
    })
}

fn hex(text: &str) -> Vec<u8> {
    text.as_bytes().chunks(2).map(|pair| u8::from_str_radix(str::from_utf8(pair).unwrap(), 16).expect("hex")).collect()
}

impl Fact<'_> {
    fn decode(&self) -> Result<Inst, DecodeErrorKind> {
        let bytes = hex(self.input);
        Decoder::new(self.generation, &bytes).wave_size(self.wave).next().expect("bytes").map_err(|error| error.kind)
    }

    /// The bytes, and the warning if there is one.
    fn assemble(&self, text: &str) -> Result<(Vec<u8>, Option<Error>), Error> {
        let mut assembler = Assembler::new(self.generation).wave_size(self.wave);
        let mut code = Vec::new();
        assembler.assemble_line(text, &mut code)?;
        Ok((code, assembler.warning(text)))
    }

    /// What is wrong, if anything.
    fn check(&self) -> Result<(), String> {
        let Fact { kind, input, expected, .. } = *self;
        match kind {
            "text" | "loose" => {
                let text = self.decode().map_err(|error| format!("{error:?}"))?.to_string();
                if text != expected {
                    return Err(text);
                }
                let back = self.assemble(&text).map(|(code, _)| code).map_err(|error| error.to_string())?;
                if kind == "text" && back != hex(input) { Err(format!("back: {back:02x?}")) } else { Ok(()) }
            }
            "reject" => match self.decode() {
                Err(DecodeErrorKind::Truncated) => Err("truncated".to_owned()),
                Err(_) => Ok(()),
                Ok(inst) => Err(inst.to_string()),
            },
            "bytes" => {
                let (code, warning) = self.assemble(input).map_err(|error| error.to_string())?;
                if code == hex(expected) && warning.is_none() {
                    Ok(())
                } else {
                    Err(format!("{code:02x?} {warning:?}"))
                }
            }
            "error" => match self.assemble(input) {
                Err(error) if error.to_string().contains(expected) => Ok(()),
                other => Err(format!("{other:02x?}")),
            },
            "warning" => match self.assemble(input) {
                Ok((_, Some(warning))) if warning.to_string().contains(expected) => Ok(()),
                other => Err(format!("{other:02x?}")),
            },
            other => Err(format!("no kind {other}")),
        }
    }
}

#[test]
fn what_others_got_wrong() {
    let (mut count, mut wrong) = (0, Vec::new());
    for fact in facts() {
        count += 1;
        if let Err(found) = fact.check() {
            wrong.push(format!("{} {}: {} expected, found {found}", fact.generation, fact.input, fact.expected));
        }
    }
    assert!(count > 60, "only {count} facts");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
