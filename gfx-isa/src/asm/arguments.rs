//! Operands and modifiers that come from a program instead of text.

use std::vec::Vec;

use super::encode::Context;
use super::error::{ErrorKind, Fault};
use super::expr::Symbols;
use super::index::{Candidate, Index};
use super::parse::{HalfName, Line, ModValue, Reg, Small, Value};
use super::{Suffix, single};
use crate::encode::{Arg, ArgValue};
use crate::{Generation, Op};

/// The operands and modifiers of an instruction.
#[derive(Debug)]
pub(crate) struct Arguments(std::boxed::Box<Line>);

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
        Arguments(std::boxed::Box::new(Line::new()))
    }

    pub(crate) fn push(&mut self, arg: Arg) -> Result<(), ErrorKind> {
        let value = match arg.value {
            ArgValue::Registers(r) => {
                Value::Reg(Reg { file: r.file, first: r.first, count: r.count, half: HalfName::Whole })
            }
            ArgValue::Special(special, dwords) => Value::Special(special, dwords),
            ArgValue::Int(value) => Value::Int(value),
            ArgValue::Float(value) => Value::Float(value),
            ArgValue::Off => Value::Off,
        };
        self.0.add(value, arg.neg, arg.abs).map_err(kind)
    }

    pub(crate) fn flag(&mut self, name: &str) -> Result<(), ErrorKind> {
        self.0.add_modifier(name, ModValue::Flag(true)).map_err(kind)
    }

    pub(crate) fn number(&mut self, name: &str, value: i64) -> Result<(), ErrorKind> {
        self.0.add_modifier(name, ModValue::Int(value)).map_err(kind)
    }

    pub(crate) fn list(&mut self, name: &str, values: &[u8]) -> Result<(), ErrorKind> {
        let mut small = Small { items: [0; 8], len: 0 };
        let Some(items) = small.items.get_mut(..values.len()) else {
            return Err(ErrorKind::Modifier(std::format!("{name}: the list is too long").into()));
        };
        items.copy_from_slice(values);
        small.len = values.len() as u8;
        self.0.add_modifier(name, ModValue::List(small)).map_err(kind)
    }

    /// Appends the bytes of the first of the instruction's encodings that takes the operands.
    pub(crate) fn encode(
        &self,
        generation: Generation,
        op: Op,
        wave64: bool,
        out: &mut Vec<u8>,
    ) -> Result<(), ErrorKind> {
        let missing = || ErrorKind::Rule(std::format!("{generation} has no {op}").into());
        let tables = generation.tables().ok_or_else(missing)?;
        let index = Index::of(tables);
        let mnemonic =
            tables.rows.iter().find(|row| !row.is_reserved() && row.op() == op).ok_or_else(missing)?.mnemonic();
        let is_op = |c: &Candidate| tables.rows[usize::from(c.row)].op() == op;
        let found = index.find(mnemonic.as_bytes()).ok_or_else(missing)?;
        let candidates: Vec<Candidate> = found.iter().copied().filter(is_op).collect();
        let cx = Context { generation, tables, index, wave64, symbols: &NoSymbols, text: &[] };
        single(cx, &self.0, &candidates, Suffix::None, (0, 0), out).map(|_| ()).map_err(kind)
    }
}
