//! Whole sources: lines with labels, symbols and comments.

use std::ops::Range;
use std::string::{String, ToString};
use std::vec::Vec;

use super::error::{ErrorKind, Fault};
use super::lex::Cursor;
use super::{All, Assembler, Error, Fixup, FixupKind, expr, located, without_comment};

/// Code and labels of a source.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Assembly {
    /// The code.
    pub code: Vec<u8>,
    /// Labels and their offsets, in order.
    pub labels: Vec<(String, u64)>,
    /// What could be assembled and is likely not what was meant.
    pub warnings: Vec<Error>,
    /// Where each instruction or datum begins.
    starts: Vec<usize>,
}

impl Assembly {
    /// The bytes of each instruction, in order; data are listed directive by directive.
    pub fn instructions(&self) -> impl Iterator<Item = Range<usize>> {
        let ends = self.starts.iter().skip(1).copied().chain([self.code.len()]);
        self.starts.iter().copied().zip(ends).map(|(start, end)| start..end)
    }
}

/// A symbol that is not known yet: where in the code, and on which line.
struct Open {
    offset: usize,
    next: usize,
    line: usize,
    fixup: Fixup,
}

impl Assembler {
    /// Assembles a source: instructions, labels (`name:`), `.set name, value`, `name = value`, comments. Directives that
    /// make no code are passed over.
    ///
    /// # Errors
    /// All that is wrong, in the order of the lines.
    pub fn assemble(&mut self, source: &str) -> Result<Assembly, Vec<Error>> {
        let mut assembly = Assembly::default();
        let mut errors = Vec::new();
        let mut open = Vec::new();
        for (at, text) in source.lines().enumerate() {
            let before = assembly.code.len();
            self.warning = None;
            if let Err(fault) = self.statement(text, at + 1, &mut assembly, &mut open) {
                errors.push(located(fault, text, at + 1));
            }
            assembly.warnings.extend(self.warning.take().map(|fault| located(fault, text, at + 1)));
            if assembly.code.len() > before {
                assembly.starts.push(before);
            }
        }
        let lines: Vec<&str> = if open.is_empty() { Vec::new() } else { source.lines().collect() };
        for Open { offset, next, line, fixup } in open {
            let text = lines.get(line - 1).copied().unwrap_or_default();
            let name = fixup.symbol.as_str();
            let start = text.find(name).unwrap_or(0) as u32;
            let fault = |kind| located(Fault { at: start, end: start + name.len() as u32, kind }, text, line);
            let value = {
                let mut cursor = Cursor::new(name.as_bytes());
                expr::expression(&mut cursor, &All(&self.symbols)).ok().filter(|_| cursor.done())
            };
            let Some(value) = value else {
                errors.push(fault(ErrorKind::Symbol(name.to_string())));
                continue;
            };
            match fixup.kind {
                FixupKind::Branch => {
                    let dwords = (value - next as i64) / 4;
                    match i16::try_from(dwords) {
                        Ok(dwords) => assembly.code[offset..offset + 2].copy_from_slice(&dwords.to_le_bytes()),
                        Err(_) => errors.push(fault(ErrorKind::Rule("the branch's target is too far away".into()))),
                    }
                }
                FixupKind::Literal => {
                    assembly.code[offset..offset + 4].copy_from_slice(&(value as u32).to_le_bytes());
                }
            }
        }
        if errors.is_empty() {
            Ok(assembly)
        } else {
            errors.sort_by_key(|error| (error.line, error.column));
            Err(errors)
        }
    }

    fn statement(
        &mut self,
        text: &str,
        line: usize,
        assembly: &mut Assembly,
        open: &mut Vec<Open>,
    ) -> Result<(), Fault> {
        let bytes = without_comment(text.as_bytes());
        let mut cursor = Cursor::new(bytes);
        loop {
            cursor.space();
            let start = cursor.at;
            let name = cursor.name();
            let end = cursor.at;
            if name.is_empty() {
                cursor.at = start;
                break;
            }
            cursor.space();
            if cursor.peek() == b':' && cursor.peek_at(1) != b':' {
                cursor.at += 1;
                let here = assembly.code.len() as u64;
                self.define(name, here as i64, start, end, true)?;
                assembly.labels.push((String::from_utf8_lossy(name).into_owned(), here));
                continue;
            }
            if cursor.peek() == b'=' && cursor.peek_at(1) != b'=' {
                cursor.at += 1;
                let value = expr::expression(&mut cursor, &All(&self.symbols))?;
                return self.define(name, value, start, end, false);
            }
            if name.first() == Some(&b'.') {
                return self.directive(name, &mut cursor, assembly);
            }
            cursor.at = start;
            break;
        }
        if cursor.done() {
            return Ok(());
        }
        let skipped = cursor.at;
        let offset = assembly.code.len();
        let result = self.instruction(&bytes[skipped..], &mut assembly.code);
        result.map_err(|mut fault| {
            fault.at += skipped as u32;
            fault.end += skipped as u32;
            fault
        })?;
        if let Some(fault) = &mut self.warning {
            fault.at += skipped as u32;
            fault.end += skipped as u32;
        }
        let next = assembly.code.len();
        for mut fixup in self.fixups.drain(..) {
            // The operand may be a label's name with an addend.
            fixup.symbol = fixup.symbol.trim().into();
            open.push(Open { offset: offset + fixup.offset, next, line, fixup });
        }
        Ok(())
    }

    fn define(&mut self, name: &[u8], value: i64, start: usize, end: usize, label: bool) -> Result<(), Fault> {
        let known = self.symbols.labels.contains_key(name) || (label && self.symbols.values.contains_key(name));
        let table = if label { &mut self.symbols.labels } else { &mut self.symbols.values };
        table.insert(name.to_vec(), value);
        if known {
            let kind = ErrorKind::Syntax("the symbol is defined twice".into());
            return Err(Fault { at: start as u32, end: end as u32, kind });
        }
        Ok(())
    }

    fn directive(&mut self, name: &[u8], cursor: &mut Cursor, assembly: &mut Assembly) -> Result<(), Fault> {
        match name {
            b".set" | b".equ" | b".equiv" => {
                cursor.space();
                let start = cursor.at;
                let symbol = cursor.name();
                let end = cursor.at;
                if symbol.is_empty() {
                    return Err(Fault::syntax(start, "a symbol is expected"));
                }
                cursor.expect(b',', "`,` is expected")?;
                let value = expr::expression(cursor, &All(&self.symbols))?;
                self.define(symbol, value, start, end, false)
            }
            b".long" | b".int" | b".4byte" => loop {
                let value = expr::expression(cursor, &All(&self.symbols))?;
                assembly.code.extend_from_slice(&(value as u32).to_le_bytes());
                if !cursor.eat_after_space(b',') {
                    return Ok(());
                }
            },
            _ => Ok(()),
        }
    }
}
