//! Operands and modifiers that come from a program instead of text.

use std::vec::Vec;

use super::encode::Context;
use super::error::{ErrorKind, Fault};
use super::expr::Symbols;
use super::index::{Candidate, Index};
use super::parse::{Arg as Read, HalfName, Line, Marker, ModValue, Reg, Small, Value, ids};
use super::{Suffix, Written, dual, single};
use crate::encode::Arg;
use crate::encode::operand::{ArgValue, Half, Literal};
use crate::table::Tables;
use crate::{Generation, Op, RegFile};

/// The operands and modifiers of an instruction.
#[derive(Debug)]
pub(crate) struct Arguments {
    line: std::boxed::Box<Line>,
    /// What operands and modifiers give as text.
    text: Vec<u8>,
}

/// There are none.
struct NoSymbols;

impl Symbols for NoSymbols {
    fn value(&self, _: &[u8]) -> Option<i64> {
        None
    }
}

fn kind(fault: Fault) -> ErrorKind {
    fault.kind
}

impl Arguments {
    pub(crate) fn new() -> Arguments {
        Arguments { line: std::boxed::Box::new(Line::new()), text: Vec::new() }
    }

    /// Keeps some text; gives where it is.
    fn keep(&mut self, text: &str) -> (u32, u32) {
        let at = self.text.len() as u32;
        self.text.extend_from_slice(text.as_bytes());
        (at, self.text.len() as u32)
    }

    pub(crate) fn push(&mut self, arg: Arg) -> Result<(), ErrorKind> {
        let (mut at, mut end) = (0, 0);
        let value = match arg.value {
            ArgValue::Registers(r, half) => {
                let half = match half {
                    Half::Whole => HalfName::Whole,
                    Half::Low => HalfName::Low,
                    Half::High => HalfName::High,
                };
                Value::Reg(Reg { file: r.file, first: r.first, count: r.count, half })
            }
            ArgValue::Special(special, dwords) => Value::Special(special, dwords),
            ArgValue::Int(value) => Value::Int(value),
            ArgValue::Float(value) => Value::Float(value),
            ArgValue::Off => Value::Off,
            ArgValue::Label(_) => Value::Text,
            ArgValue::Text(text) => {
                (at, end) = self.keep(text);
                Value::Text
            }
            ArgValue::List(numbers, count) => {
                let reg = |&first| Reg { file: RegFile::Vgpr, first, count: 1, half: HalfName::Whole };
                self.line.add_list(numbers[..usize::from(count)].iter().map(reg)).map_err(kind)?
            }
        };
        let lit = match arg.literal {
            Literal::Free => Marker::Free,
            Literal::Short => Marker::Lit,
            Literal::Wide => Marker::Lit64,
        };
        self.line.add(Read { at, end, neg: arg.neg, abs: arg.abs, sext: arg.sext, lit, value }).map_err(kind)
    }

    pub(crate) fn flag(&mut self, name: &str) -> Result<(), ErrorKind> {
        self.line.add_modifier(name, ModValue::Flag(true), (0, 0)).map_err(kind)
    }

    pub(crate) fn number(&mut self, name: &str, value: i64) -> Result<(), ErrorKind> {
        self.line.add_modifier(name, ModValue::Int(value), (0, 0)).map_err(kind)
    }

    pub(crate) fn name(&mut self, name: &str, value: &str) -> Result<(), ErrorKind> {
        let span = self.keep(value);
        self.line.add_modifier(name, ModValue::Text, span).map_err(kind)
    }

    pub(crate) fn list(&mut self, name: &str, values: &[u8]) -> Result<(), ErrorKind> {
        let mut small = Small { items: [0; 8], len: 0 };
        let Some(items) = small.items.get_mut(..values.len()) else {
            return Err(ErrorKind::Modifier(std::format!("{name}: the list is too long").into()));
        };
        items.copy_from_slice(values);
        small.len = values.len() as u8;
        self.line.add_modifier(name, ModValue::List(small), (0, 0)).map_err(kind)
    }

    /// Asks an atomic for what was there, unless something does already.
    pub(crate) fn add_return(&mut self, generation: Generation) -> Result<(), ErrorKind> {
        let (id, name) = match generation {
            Generation::Cdna3 | Generation::Cdna4 => (ids::SC0, "sc0"),
            Generation::Rdna4 | Generation::Cdna5 => (ids::TH, "th"),
            _ => (ids::GLC, "glc"),
        };
        match self.line.modifier(id) {
            Some(_) => Ok(()),
            None if id == ids::TH => self.name(name, "TH_ATOMIC_RETURN"),
            None => self.flag(name),
        }
    }

    /// Appends the bytes of the first of the instruction's encodings that takes the operands.
    pub(crate) fn encode(
        &self,
        generation: Generation,
        op: Op,
        suffix: Suffix,
        wave64: bool,
        out: &mut Vec<u8>,
    ) -> Result<Written, ErrorKind> {
        let tables = tables(generation, op)?;
        let (cx, candidates) = context(tables, op, wave64, &self.text)?;
        if candidates.iter().all(|c| c.half != 0) {
            return Err(ErrorKind::Rule(std::format!("{op} is half of a dual-issue word").into()));
        }
        single(cx, &self.line, candidates, suffix, (0, 0), out).map_err(kind)
    }

    /// Appends the bytes of a dual-issue word with this as its X half.
    pub(crate) fn encode_dual(
        &self,
        generation: Generation,
        op: Op,
        (second, arguments): (Op, &Arguments),
        wave64: bool,
        out: &mut Vec<u8>,
    ) -> Result<Written, ErrorKind> {
        let tables = tables(generation, op)?;
        let (cx, candidates) = context(tables, op, wave64, &self.text)?;
        let (_, others) = context(tables, second, wave64, &self.text)?;
        dual(cx, (&self.line, candidates, (0, 0)), (&arguments.line, others, (0, 0)), out).map_err(kind)
    }
}

fn missing(generation: Generation, op: Op) -> ErrorKind {
    ErrorKind::Rule(std::format!("{generation} has no {op}").into())
}

fn tables(generation: Generation, op: Op) -> Result<&'static Tables, ErrorKind> {
    generation.tables().ok_or_else(|| missing(generation, op))
}

fn context<'a>(
    tables: &'static Tables,
    op: Op,
    wave64: bool,
    text: &'a [u8],
) -> Result<(Context<'a>, &'static [Candidate]), ErrorKind> {
    let index = Index::of(tables);
    let candidates = index.of_op(tables, op);
    if candidates.is_empty() {
        return Err(missing(tables.generation, op));
    }
    let generation = tables.generation;
    Ok((Context { generation, tables, index, wave64, symbols: &NoSymbols, text }, candidates))
}
