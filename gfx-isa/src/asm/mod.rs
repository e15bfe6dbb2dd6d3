//! Text to instructions: LLVM's assembly syntax.
//!
//! ```
//! # #[cfg(feature = "rdna4")] {
//! use gfx_isa::{Generation, asm::Assembler};
//!
//! let mut assembler = Assembler::new(Generation::Rdna4);
//! let mut code = Vec::new();
//! assembler.assemble_line("v_add_f32 v3, v1, v2", &mut code).unwrap();
//! assert_eq!(code, [0x01, 0x05, 0x06, 0x06]);
//! # }
//! ```

mod aliases;
mod arguments;
mod constant;
mod diagnose;
mod encode;
mod error;
mod expr;
mod index;
mod lex;
mod memory;
mod modifier;
mod names;
mod parse;
mod rules;
mod source;
mod special;

use std::collections::HashMap;
use std::string::String;
use std::vec::Vec;

pub(crate) use arguments::Arguments;
pub use error::{Error, ErrorKind};
pub use source::Assembly;

use crate::Generation;
use crate::syntax::{Family, SlotKind};
use crate::table::{Form, Row, Tables};
use encode::{Context, Encoder, Pending, Why};
use error::Fault;
use expr::Symbols;
use index::{Candidate, Index, is_long};
use lex::Cursor;
use parse::{Line, ids, sets};

/// Turns text into instructions of a generation.
#[derive(Debug)]
pub struct Assembler {
    tables: &'static Tables,
    wave64: bool,
    symbols: Table,
    lines: std::boxed::Box<[Line; 2]>,
    fixups: Vec<Fixup>,
    warning: Option<Fault>,
}

/// A place in the bytes that waits for a symbol's value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fixup {
    /// Offset in the bytes of the line's instruction.
    pub offset: usize,
    /// What is to be written there.
    pub kind: FixupKind,
    /// The symbol, with its modifiers (`name@abs32@lo`).
    pub symbol: String,
}

/// What a [`Fixup`] writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FixupKind {
    /// The 16 bits of a branch: dwords from the next instruction.
    Branch,
    /// A 32-bit literal.
    Literal,
}

/// Values of symbols.
#[derive(Debug, Default)]
struct Table {
    values: HashMap<Vec<u8>, i64>,
    /// Offsets in the code; operands that name them are filled in at the end.
    labels: HashMap<Vec<u8>, i64>,
}

/// Values of symbols and labels.
struct All<'a>(&'a Table);

impl Symbols for All<'_> {
    fn value(&self, name: &[u8]) -> Option<i64> {
        self.0.value(name).or_else(|| self.0.labels.get(name).copied())
    }
}

impl Symbols for Table {
    fn value(&self, name: &[u8]) -> Option<i64> {
        if self.values.is_empty() { None } else { self.values.get(name).copied() }
    }
}

/// The encoding that a mnemonic's suffix asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Suffix {
    None,
    E32,
    E64,
    Dpp,
    E64Dpp,
    Sdwa,
}

impl Suffix {
    const fn name(self) -> &'static str {
        match self {
            Suffix::None => "",
            Suffix::E32 => "_e32",
            Suffix::E64 => "_e64",
            Suffix::Dpp => "_dpp",
            Suffix::E64Dpp => "_e64_dpp",
            Suffix::Sdwa => "_sdwa",
        }
    }

    /// Parts a mnemonic from its suffix.
    fn split(name: &[u8]) -> (&[u8], Suffix) {
        let Some(&last) = name.last() else { return (name, Suffix::None) };
        if !matches!(last, b'2' | b'4' | b'p' | b'a') {
            return (name, Suffix::None);
        }
        for suffix in [Suffix::E64Dpp, Suffix::E32, Suffix::E64, Suffix::Dpp, Suffix::Sdwa] {
            if let Some(base) = name.strip_suffix(suffix.name().as_bytes()) {
                return (base, suffix);
            }
        }
        (name, Suffix::None)
    }
}

/// Longest mnemonic.
const MNEMONIC: usize = 64;

impl Assembler {
    /// An assembler with the generation's usual wave size.
    ///
    /// # Panics
    /// When the generation is not compiled in ([`Generation::is_available`]).
    pub fn new(generation: Generation) -> Assembler {
        let tables = generation.tables().expect("the generation's cargo feature is on");
        Assembler {
            tables,
            wave64: generation.wave_sizes()[0] == 64,
            symbols: Table::default(),
            lines: std::boxed::Box::new([const { Line::new() }; 2]),
            fixups: Vec::new(),
            warning: None,
        }
    }

    /// Assembles for waves of 32 or 64 lanes; a size that the generation does not have changes nothing.
    #[must_use]
    pub fn wave_size(mut self, lanes: u32) -> Assembler {
        if self.tables.generation.wave_sizes().contains(&lanes) {
            self.wave64 = lanes == 64;
        }
        self
    }

    /// The generation.
    pub fn generation(&self) -> Generation {
        self.tables.generation
    }

    /// Gives a symbol a value.
    pub fn set_symbol(&mut self, name: &str, value: i64) {
        self.symbols.values.insert(name.as_bytes().to_vec(), value);
    }

    /// What the last line's instruction leaves to be filled in: symbols without a value.
    pub fn fixups(&self) -> &[Fixup] {
        &self.fixups
    }

    /// Assembles one instruction and appends its bytes; a line with a comment or nothing appends none.
    ///
    /// # Errors
    /// On text that is no instruction of the generation; nothing is appended then.
    pub fn assemble_line(&mut self, line: &str, out: &mut Vec<u8>) -> Result<(), Error> {
        self.instruction(line.as_bytes(), out).map_err(|fault| located(fault, line, 1))
    }

    /// What is likely wrong with the last line given to [`Assembler::assemble_line`], though it could be assembled.
    ///
    /// `line`: the same line again.
    pub fn warning(&self, line: &str) -> Option<Error> {
        self.warning.clone().map(|fault| located(fault, line, 1))
    }

    fn instruction(&mut self, text: &[u8], out: &mut Vec<u8>) -> Result<(), Fault> {
        self.fixups.clear();
        self.warning = None;
        let text = without_comment(text);
        let tables = self.tables;
        let mut cursor = Cursor::new(text);
        cursor.space();
        if cursor.done() {
            return Ok(());
        }
        let start = cursor.at;
        let name = cursor.name();
        let span = (start as u32, cursor.at as u32);
        let mut lower = [0; MNEMONIC];
        let lower = lowercase(name, &mut lower).ok_or_else(|| Fault::syntax(start, "an instruction is expected"))?;
        let (base, suffix) = Suffix::split(lower);
        let index = Index::of(tables);
        if base == b"v_illegal" && !is_gfx9(tables.generation) {
            out.extend_from_slice(&[0; 4]);
            return Ok(());
        }
        let Some(candidates) = index.find(base) else {
            return Err(diagnose::unknown(index, tables.generation, base, span));
        };
        let cx =
            Context { generation: tables.generation, tables, index, wave64: self.wave64, symbols: &self.symbols, text };
        let [line, second] = &mut *self.lines;
        line.clear();
        let first = tables.rows[usize::from(candidates[0].row)];
        let whole = first.syntax().slots().first().is_some_and(|slot| {
            matches!(
                slot.kind(),
                SlotKind::WaitCnt
                    | SlotKind::Depctr
                    | SlotKind::DelayAlu
                    | SlotKind::Version
                    | SlotKind::SendMsg
                    | SlotKind::GprIdx
            )
        });
        if whole {
            line.whole(&mut cursor)?;
        } else {
            line.parse(&mut cursor, cx.symbols)?;
        }
        let Written { bytes, pending, doubt } = if cursor.peek() == b':' {
            cursor.at += 2;
            dual_text(cx, (line, candidates, span), second, &mut cursor, out)?
        } else {
            single(cx, line, candidates, suffix, span, out)?
        };
        if let Some(pending) = pending {
            self.fixups.push(fixup(text, pending, bytes));
        }
        if let Some((number, what)) = doubt {
            let span = line.args().get(usize::from(number)).map_or(span, |arg| (arg.at, arg.end));
            self.warning = Some(Fault { at: span.0, end: span.1, kind: ErrorKind::Rule(what.into()) });
        }
        Ok(())
    }
}

/// What an instruction has become.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Written {
    pub(crate) bytes: usize,
    /// The symbol that the bytes lack.
    pub(crate) pending: Option<Pending>,
    /// Number of an operand, and why it is likely not what was meant.
    pub(crate) doubt: Option<(u8, &'static str)>,
}

impl Written {
    fn of(encoder: &Encoder<'_>, bytes: usize) -> Written {
        Written { bytes, pending: encoder.pending, doubt: encoder.doubt }
    }
}

/// Tries the rows of a mnemonic, one after the other.
fn single(
    cx: Context<'_>,
    line: &Line,
    candidates: &[Candidate],
    suffix: Suffix,
    span: (u32, u32),
    out: &mut Vec<u8>,
) -> Result<Written, Fault> {
    let mut best: Option<Why> = None;
    let mut tried = false;
    let dpp8 = line.present >> ids::DPP8 & 1 != 0;
    let dpp16 = line.present & sets::DPP16 != 0;
    // Alone it may be a modifier of the instruction itself.
    let bound_ctrl = line.present & sets::DPP16 == 1 << ids::BOUND_CTRL;
    let dpp = dpp8 || dpp16 || matches!(suffix, Suffix::Dpp | Suffix::E64Dpp);
    let sdwa = line.present & sets::SDWA != 0 || suffix == Suffix::Sdwa;
    let plain = !dpp && !sdwa;
    // SDWA forms may lack all their modifiers.
    let passes: &[Form] = if dpp8 {
        &[Form::Dpp8]
    } else if dpp && bound_ctrl && matches!(suffix, Suffix::None | Suffix::E64) {
        &[Form::Dpp16, Form::Base]
    } else if dpp {
        &[Form::Dpp16]
    } else if sdwa {
        &[Form::Sdwa]
    } else if suffix == Suffix::None {
        &[Form::Base, Form::Sdwa]
    } else {
        &[Form::Base]
    };
    for &form in passes {
        for candidate in candidates {
            let row: Row = cx.tables.rows[usize::from(candidate.row)];
            let long = is_long(row);
            let fits = match suffix {
                Suffix::None => true,
                Suffix::E32 => !long,
                Suffix::E64 => long,
                Suffix::Dpp => !long || candidates.iter().all(|c| !c.short),
                Suffix::E64Dpp => long,
                Suffix::Sdwa => !long,
            };
            let has = match form {
                Form::Dpp16 => row.dpp16(),
                Form::Dpp8 => row.dpp8(),
                // `v_nop` has no operands to select parts of.
                Form::Sdwa if row.syntax().slots().is_empty() => candidate.short && suffix == Suffix::Sdwa,

                Form::Sdwa => row.sdwa() && (!plain || best.is_some()),
                _ => true,
            };
            if !fits || !has || candidate.half != 0 {
                continue;
            }
            tried = true;
            let base = &cx.index.bases[usize::from(candidate.row)];
            let mut encoder = Encoder::new(cx, line, row, base, form);
            match encoder.run() {
                Ok(()) => {
                    encoder.finish_fields(base);
                    let before = out.len();
                    encoder.write(out);
                    return Ok(Written::of(&encoder, out.len() - before));
                }
                Err(why) => {
                    // The later forms take more.
                    if best.as_ref().is_none_or(|best| why.rank() >= best.rank()) {
                        best = Some(why);
                    }
                }
            }
        }
    }
    match best {
        Some(why) => Err(why.fault(line, span)),
        None => Err(diagnose::no_form(cx, candidates, suffix, dpp, tried, span)),
    }
}

/// Reads the Y half of a dual-issue word and assembles both.
fn dual_text(
    cx: Context<'_>,
    x: Half<'_>,
    y: &mut Line,
    cursor: &mut Cursor<'_>,
    out: &mut Vec<u8>,
) -> Result<Written, Fault> {
    cursor.space();
    let start = cursor.at;
    let name = cursor.name();
    let span_y = (start as u32, cursor.at as u32);
    let mut lower = [0; MNEMONIC];
    let lower =
        lowercase(name, &mut lower).ok_or_else(|| Fault::syntax(start, "an instruction is expected after `::`"))?;
    let Some(candidates_y) = cx.index.find(lower) else {
        return Err(diagnose::unknown(cx.index, cx.generation, lower, span_y));
    };
    y.clear();
    y.parse(cursor, cx.symbols)?;
    if !cursor.done() {
        return Err(Fault::syntax(cursor.at, "a dual-issue word has two halves"));
    }
    dual(cx, x, (y, candidates_y, span_y), out)
}

/// The operands of one half of a dual-issue word, the rows that it may mean, and where its mnemonic is.
type Half<'a> = (&'a Line, &'a [Candidate], (u32, u32));

/// Assembles both halves of a dual-issue word.
fn dual(
    cx: Context<'_>,
    (x, candidates, span): Half<'_>,
    (y, candidates_y, span_y): Half<'_>,
    out: &mut Vec<u8>,
) -> Result<Written, Fault> {
    if cx.wave64 {
        let what = "dual-issue instructions are for waves of 32 lanes";
        return Err(Fault { at: span.0, end: span.1, kind: ErrorKind::Rule(what.into()) });
    }
    let mut best: Option<(Why, bool)> = None;
    let row_of = |candidate: &Candidate| cx.tables.rows[usize::from(candidate.row)];
    // LLVM writes this one in 64 bits only where a literal wants it.
    let late = |row: Row| row.op() == crate::Op::V_DUAL_DOT2ACC_F32_BF16 && row.syntax().family == Family::Vopd;
    let halves = || candidates.iter().filter(|c| c.half == 1);
    for candidate in halves().filter(|c| !late(row_of(c))).chain(halves().filter(|c| late(row_of(c)))) {
        let row = row_of(candidate);
        for other in candidates_y.iter().filter(|c| c.half == 2) {
            let row_y: Row = cx.tables.rows[usize::from(other.row)];
            if candidate.pair != other.pair {
                continue;
            }

            let (base, base_y) = (&cx.index.bases[usize::from(candidate.row)], &cx.index.bases[usize::from(other.row)]);
            let mut encoder = Encoder::new(cx, x, row, base, Form::Base);
            encoder.word |= base_y.word;
            let result = encoder.operands().and_then(|()| encoder.modifiers()).and_then(|()| encoder.finish());
            if let Err(why) = result {
                if best.as_ref().is_none_or(|(best, _)| why.rank() > best.rank()) {
                    best = Some((why, false));
                }
                continue;
            }
            let vectors = core::mem::take(&mut encoder.vectors);
            (encoder.row, encoder.line, encoder.family, encoder.used) = (row_y, y, row_y.syntax().family, 0);
            let result = encoder.operands().and_then(|()| encoder.modifiers()).and_then(|()| encoder.finish());
            if let Err(why) = result {
                if best.as_ref().is_none_or(|(best, _)| why.rank() > best.rank()) {
                    best = Some((why, true));
                }
                continue;
            }
            if let Some(why) = rules::dual_conflict(cx, (row, vectors), (row_y, encoder.vectors)) {
                if best.as_ref().is_none_or(|(best, _)| why.rank() > best.rank()) {
                    best = Some((why, true));
                }
                continue;
            }
            let before = out.len();
            encoder.write(out);
            return Ok(Written::of(&encoder, out.len() - before));
        }
    }
    match best {
        Some((why, true)) => Err(why.fault(y, span_y)),
        Some((why, false)) => Err(why.fault(x, span)),
        None => Err(diagnose::no_pair(candidates, candidates_y, span, span_y)),
    }
}

fn fixup(text: &[u8], pending: Pending, bytes: usize) -> Fixup {
    let symbol = String::from_utf8_lossy(&text[pending.at as usize..pending.end as usize]).trim().into();
    if pending.branch {
        Fixup { offset: 0, kind: FixupKind::Branch, symbol }
    } else {
        Fixup { offset: bytes.saturating_sub(4), kind: FixupKind::Literal, symbol }
    }
}

/// A name in lower case; none where it is empty or too long.
fn lowercase<'b>(name: &[u8], buffer: &'b mut [u8; MNEMONIC]) -> Option<&'b [u8]> {
    let lower = buffer.get_mut(..name.len()).filter(|lower| !lower.is_empty())?;
    lower.copy_from_slice(name);
    lower.make_ascii_lowercase();
    Some(lower)
}

/// A line up to its comment.
fn without_comment(text: &[u8]) -> &[u8] {
    // Most lines have none.
    let Some(first) = memchr::memchr3(b';', b'/', b'\n', text) else { return text.trim_ascii_end() };
    let mut at = first;
    while at < text.len() {
        match text[at] {
            b';' | b'\n' => break,
            b'/' if text.get(at + 1) == Some(&b'/') => break,
            b'/' if text.get(at + 1) == Some(&b'*') => {
                let end = text[at + 2..].windows(2).position(|pair| pair == b"*/");
                at = end.map_or(text.len(), |end| at + 2 + end + 1);
            }
            _ => {}
        }
        at += 1;
    }
    text[..at.min(text.len())].trim_ascii_end()
}

fn located(fault: Fault, source: &str, line: usize) -> Error {
    let start = (fault.at as usize).min(source.len());
    let end = (fault.end as usize).clamp(start, source.len());
    Error { line, column: start + 1, span: start..end, kind: fault.kind, source: source.into() }
}

fn is_gfx9(generation: Generation) -> bool {
    matches!(generation, Generation::Cdna1 | Generation::Cdna2 | Generation::Cdna3 | Generation::Cdna4)
}
