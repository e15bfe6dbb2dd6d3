//! Splits a line into operands and modifiers, whatever the instruction is.

use super::error::{ErrorKind, Fault};
use super::expr::{self, Symbols};
use super::lex::{Cursor, Number, is_name};
use super::names::is_flag;
pub(crate) use super::names::{ids, modifier_id, modifier_name, sets};
use crate::operand::RegFile;
use crate::table::Special;

/// Most operands of a line; more are a fault.
pub(crate) const ARGS: usize = 16;
/// Most modifiers of a line.
pub(crate) const MODS: usize = 24;
/// Most registers in brackets.
pub(crate) const LIST: usize = 16;

/// A half of a 32-bit register.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum HalfName {
    Whole,
    Low,
    High,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Reg {
    pub(crate) file: RegFile,
    pub(crate) first: u16,
    pub(crate) count: u8,
    pub(crate) half: HalfName,
}

/// A marker that makes a constant a literal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Marker {
    Free,
    Lit,
    Lit64,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Value {
    Reg(Reg),
    /// With its dwords; 0: as many as are asked for.
    Special(Special, u8),
    Int(i64),
    Float(f64),
    Off,
    /// Registers in brackets, as many as [`Line::list`] holds from the first number on.
    List(u8, u8),
    /// Something that has meaning in its place only; or a symbol.
    Text,
}

/// What stands between commas.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Arg {
    pub(crate) at: u32,
    pub(crate) end: u32,
    pub(crate) neg: bool,
    pub(crate) abs: bool,
    pub(crate) sext: bool,
    pub(crate) lit: Marker,
    pub(crate) value: Value,
}

impl Arg {
    const NONE: Arg = Arg { at: 0, end: 0, neg: false, abs: false, sext: false, lit: Marker::Free, value: Value::Off };

    pub(crate) fn has_modifiers(&self) -> bool {
        self.neg | self.abs | self.sext
    }
}

/// A list of small numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Small {
    pub(crate) items: [u8; 8],
    pub(crate) len: u8,
}

impl Small {
    pub(crate) fn as_slice(&self) -> &[u8] {
        &self.items[..usize::from(self.len)]
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ModValue {
    /// `glc` or `noglc`
    Flag(bool),
    Int(i64),
    List(Small),
    /// Names: [`Mod::at`] and [`Mod::end`] of the value.
    Text,
}

/// What stands after the operands.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Mod {
    pub(crate) id: u8,
    /// The value, or the name where there is none.
    pub(crate) at: u32,
    pub(crate) end: u32,
    pub(crate) value: ModValue,
}

impl Mod {
    const NONE: Mod = Mod { id: 0, at: 0, end: 0, value: ModValue::Flag(false) };
}

/// A line of one instruction.
#[derive(Debug)]
pub(crate) struct Line {
    args: [Arg; ARGS],
    arg_count: usize,
    mods: [Mod; MODS],
    mod_count: usize,
    list: [Reg; LIST],
    list_count: usize,
    /// Bit of each modifier's number.
    pub(crate) present: u128,
    index: [u8; 128],
}

impl Line {
    pub(crate) const fn new() -> Line {
        let reg = Reg { file: RegFile::Vgpr, first: 0, count: 1, half: HalfName::Whole };
        Line {
            args: [Arg::NONE; ARGS],
            arg_count: 0,
            mods: [Mod::NONE; MODS],
            mod_count: 0,
            list: [reg; LIST],
            list_count: 0,
            present: 0,
            index: [0; 128],
        }
    }

    #[inline]
    pub(crate) fn clear(&mut self) {
        self.arg_count = 0;
        self.mod_count = 0;
        self.list_count = 0;
        self.present = 0;
    }

    #[inline]
    pub(crate) fn args(&self) -> &[Arg] {
        &self.args[..self.arg_count]
    }

    pub(crate) fn list(&self, first: u8, count: u8) -> &[Reg] {
        &self.list[usize::from(first)..][..usize::from(count)]
    }

    #[inline]
    pub(crate) fn modifier(&self, id: u8) -> Option<&Mod> {
        (self.present >> id & 1 != 0).then(|| &self.mods[usize::from(self.index[usize::from(id)])])
    }

    fn push(&mut self, arg: Arg) -> Result<(), Fault> {
        let place =
            self.args.get_mut(self.arg_count).ok_or_else(|| Fault::syntax(arg.at as usize, "too many operands"))?;
        *place = arg;
        self.arg_count += 1;
        Ok(())
    }

    fn push_mod(&mut self, modifier: Mod) -> Result<(), Fault> {
        let at = modifier.at as usize;
        if self.present >> modifier.id & 1 != 0 {
            return Err(Fault::syntax(at, "the modifier is given twice"));
        }
        let place = self.mods.get_mut(self.mod_count).ok_or_else(|| Fault::syntax(at, "too many modifiers"))?;
        *place = modifier;
        self.present |= 1 << modifier.id;
        self.index[usize::from(modifier.id)] = self.mod_count as u8;
        self.mod_count += 1;
        Ok(())
    }

    /// Adds an operand that was not read from text.
    pub(crate) fn add(&mut self, arg: Arg) -> Result<(), Fault> {
        self.push(arg)
    }

    /// Adds registers as in brackets; gives the operand of them.
    pub(crate) fn add_list(&mut self, registers: impl Iterator<Item = Reg>) -> Result<Value, Fault> {
        let first = self.list_count;
        for reg in registers {
            let place = self.list.get_mut(self.list_count).ok_or_else(|| Fault::syntax(0, "too many registers"))?;
            *place = reg;
            self.list_count += 1;
        }
        if self.list_count == first {
            return Err(Fault::syntax(0, "whole registers, one at least and few enough, are expected"));
        }
        Ok(Value::List(first as u8, (self.list_count - first) as u8))
    }

    /// Adds a modifier that was not read from text; `span`: of its name in the text beside.
    pub(crate) fn add_modifier(&mut self, name: &str, value: ModValue, span: (u32, u32)) -> Result<(), Fault> {
        let Some(id) = modifier_id(name.as_bytes()).filter(|&id| is_flag(id) == matches!(value, ModValue::Flag(_)))
        else {
            return Err(Fault::syntax(0, "unknown modifier"));
        };
        self.push_mod(Mod { id, at: span.0, end: span.1, value })
    }

    /// Takes everything up to the end as one operand.
    pub(crate) fn whole(&mut self, cursor: &mut Cursor) -> Result<(), Fault> {
        cursor.space();
        if cursor.done() {
            return Ok(());
        }
        let at = cursor.at as u32;
        cursor.at = cursor.text.len();
        let end = cursor.text.trim_ascii_end().len() as u32;
        self.push(Arg { at, end, value: Value::Text, ..Arg::NONE })
    }

    /// Reads operands and modifiers up to the end or `::`.
    pub(crate) fn parse(&mut self, cursor: &mut Cursor, symbols: &dyn Symbols) -> Result<(), Fault> {
        // A comma at the end is harmless.
        let mut comma = false;
        loop {
            cursor.space();
            if cursor.done() || (cursor.peek() == b':' && cursor.peek_at(1) == b':') {
                return Ok(());
            }
            // Most operands are plain registers.
            if matches!(cursor.peek(), b'v' | b's') && matches!(cursor.peek_at(1), b'0'..=b'9' | b'[') {
                let at = cursor.at as u32;
                if let Some(value) = register(cursor, symbols)? {
                    self.push(Arg { at, end: cursor.at as u32, value, ..Arg::NONE })?;
                    comma = cursor.eat_after_space(b',');
                    continue;
                }
            }
            if !self.modifier_at(cursor, symbols, comma || self.arg_count == 0)? {
                let arg = self.arg(cursor, symbols)?;
                self.push(arg)?;
            }
            comma = cursor.eat_after_space(b',');
        }
    }

    /// Reads a modifier; gives whether there was one.
    #[inline]
    fn modifier_at(&mut self, cursor: &mut Cursor, symbols: &dyn Symbols, operand: bool) -> Result<bool, Fault> {
        if !cursor.peek().is_ascii_lowercase() {
            return Ok(false);
        }
        let before = *cursor;
        let name = cursor.name();
        let end = cursor.at as u32;
        let id = modifier_id(name);
        if cursor.peek() == b':' && cursor.peek_at(1) != b':' {
            let Some(id) = id else {
                return Err(Fault::syntax(before.at, "unknown modifier"));
            };
            cursor.at += 1;
            cursor.space();
            let modifier = modifier_value(id, cursor, symbols)?;
            self.push_mod(modifier)?;
            return Ok(true);
        }
        let at = before.at as u32;
        let flag = match id {
            // After a comma it is the condition code.
            Some(ids::SCC) if operand => None,
            Some(id) if is_flag(id) => Some((id, true)),
            _ => name.strip_prefix(b"no").and_then(modifier_id).filter(|&id| is_flag(id)).map(|id| (id, false)),
        };
        match flag {
            Some((id, set)) => {
                self.push_mod(Mod { id, at, end, value: ModValue::Flag(set) })?;
                Ok(true)
            }
            None => {
                *cursor = before;
                Ok(false)
            }
        }
    }

    fn arg(&mut self, cursor: &mut Cursor, symbols: &dyn Symbols) -> Result<Arg, Fault> {
        let mut arg = Arg { at: cursor.at as u32, ..Arg::NONE };
        let mut closers = 0usize;
        // Signs and functions around a value, outermost first.
        loop {
            cursor.space();
            match cursor.peek() {
                b'-' if !arg.neg && !arg.abs && self.is_negated(cursor) => {
                    cursor.at += 1;
                    arg.neg = true;
                }
                b'|' if !arg.abs => {
                    cursor.at += 1;
                    arg.abs = true;
                    let marked = literal_marker(cursor);
                    arg.lit = marked.unwrap_or(arg.lit);
                    self.value(cursor, symbols, &mut arg, true)?;
                    if marked.is_some() {
                        cursor.expect(b')', "`)` is expected")?;
                    }
                    cursor.expect(b'|', "`|` is expected")?;
                    break;
                }
                b'a' | b'n' | b's' | b'l' => {
                    let before = *cursor;
                    let name = cursor.name();
                    cursor.space();
                    let call = cursor.peek() == b'(';
                    match name {
                        b"neg" if call && !arg.neg && !arg.abs => arg.neg = true,
                        b"abs" if call && !arg.abs => arg.abs = true,
                        b"sext" if call && !arg.sext => arg.sext = true,
                        b"lit" if call => arg.lit = Marker::Lit,
                        b"lit64" if call => arg.lit = Marker::Lit64,
                        _ => {
                            *cursor = before;
                            self.value(cursor, symbols, &mut arg, false)?;
                            break;
                        }
                    }
                    cursor.at += 1;
                    closers += 1;
                }
                _ => {
                    self.value(cursor, symbols, &mut arg, false)?;
                    break;
                }
            }
        }
        for _ in 0..closers {
            cursor.expect(b')', "`)` is expected")?;
        }
        arg.end = cursor.at as u32;
        Ok(arg)
    }

    /// Whether a minus sign stands before something that is no number.
    fn is_negated(&self, cursor: &Cursor) -> bool {
        let mut after = *cursor;
        after.at += 1;
        after.space();
        match after.peek() {
            b'|' => true,
            byte if byte.is_ascii_alphabetic() => {
                let mut ahead = after;
                let name = ahead.name();
                ahead.space();
                (ahead.peek() == b'(' && matches!(name, b"abs" | b"sext" | b"lit" | b"lit64"))
                    || is_register_name(after, name)
            }
            _ => false,
        }
    }

    /// Reads a register, number, list or text.
    fn value(&mut self, cursor: &mut Cursor, symbols: &dyn Symbols, arg: &mut Arg, bars: bool) -> Result<(), Fault> {
        cursor.space();
        let start = cursor.at;
        let byte = cursor.peek();
        if byte.is_ascii_alphabetic()
            || byte == b'_'
            || byte == b'$'
            || byte == b'.' && !cursor.peek_at(1).is_ascii_digit()
        {
            if let Some(value) = register(cursor, symbols)? {
                arg.value = value;
                return Ok(());
            }
            let before = *cursor;
            let name = cursor.name();
            if name == b"off" {
                arg.value = Value::Off;
                return Ok(());
            }
            arg.value = Value::Text;
            let mut ahead = *cursor;
            ahead.space();
            if ahead.peek() == b'(' {
                *cursor = ahead;
                return cursor.balanced();
            }
            if name.is_empty() {
                return Err(Fault::syntax(start, "an operand is expected"));
            }
            if !bars && expr::operator(&ahead).is_some() || symbols.value(name).is_some() {
                *cursor = before;
                let value = if bars { expr::primary(cursor, symbols) } else { expr::expression(cursor, symbols) };
                match value {
                    Ok(value) => arg.value = Value::Int(value),
                    // Some symbol may get its value later.
                    Err(fault) if matches!(fault.kind, ErrorKind::Symbol(_)) && !bars => {
                        let rest = &cursor.text[before.at..];
                        cursor.at = before.at + rest.iter().position(|&b| b == b',').unwrap_or(rest.len());
                    }
                    Err(fault) => return Err(fault),
                }
            }
            return Ok(());
        }
        match byte {
            b'[' => self.bracket(cursor, symbols, arg),
            b'{' => {
                arg.value = Value::Text;
                cursor.balanced()
            }
            _ => {
                let negative = byte == b'-';
                let mut ahead = *cursor;
                if negative {
                    ahead.at += 1;
                    ahead.space();
                }
                let digit = ahead.peek().is_ascii_digit() || ahead.peek() == b'.';
                if !digit {
                    let value = if bars { expr::primary(cursor, symbols)? } else { expr::expression(cursor, symbols)? };
                    arg.value = Value::Int(value);
                    return Ok(());
                }
                match ahead.number()? {
                    Number::Float(value) => {
                        *cursor = ahead;
                        arg.value = Value::Float(if negative { -value } else { value });
                    }
                    Number::Int(value) => {
                        *cursor = ahead;
                        let value = if negative { (value as i64).wrapping_neg() } else { value as i64 };
                        arg.value = Value::Int(if bars { value } else { expr::rest(cursor, symbols, value)? });
                    }
                }
                Ok(())
            }
        }
    }

    /// `[s0, s1]`: consecutive registers of one are a range.
    fn bracket(&mut self, cursor: &mut Cursor, symbols: &dyn Symbols, arg: &mut Arg) -> Result<(), Fault> {
        let open = cursor.at;
        cursor.at += 1;
        let first = self.list_count;
        loop {
            cursor.space();
            let at = cursor.at;
            let reg = match register(cursor, symbols)? {
                Some(Value::Reg(reg)) => reg,
                Some(Value::Special(special, 1)) => return self.special_pair(cursor, symbols, special, arg),
                _ => return Err(Fault::syntax(at, "a register is expected")),
            };
            let place = self.list.get_mut(self.list_count).ok_or_else(|| Fault::syntax(open, "too many registers"))?;
            *place = reg;
            self.list_count += 1;
            if cursor.eat_after_space(b']') {
                break;
            }
            cursor.expect(b',', "`,` or `]` is expected")?;
        }
        arg.value = Value::List(first as u8, (self.list_count - first) as u8);
        Ok(())
    }

    /// `[vcc_lo, vcc_hi]`
    fn special_pair(
        &mut self,
        cursor: &mut Cursor,
        symbols: &dyn Symbols,
        low: Special,
        arg: &mut Arg,
    ) -> Result<(), Fault> {
        let high = match low {
            Special::VccLo => Special::VccHi,
            Special::ExecLo => Special::ExecHi,
            Special::FlatScratchLo => Special::FlatScratchHi,
            Special::XnackMaskLo => Special::XnackMaskHi,
            Special::TbaLo => Special::TbaHi,
            Special::TmaLo => Special::TmaHi,
            other => other,
        };
        if cursor.eat_after_space(b']') {
            arg.value = Value::Special(low, 1);
            return Ok(());
        }
        cursor.expect(b',', "`,` is expected")?;
        cursor.space();
        let at = cursor.at;
        if register(cursor, symbols)? != Some(Value::Special(high, 1)) || high == low {
            return Err(Fault::syntax(at, "the other half of the register is expected"));
        }
        arg.value = Value::Special(low, 2);
        cursor.expect(b']', "`]` is expected")
    }
}

/// The registers of a list as one range.
pub(crate) fn range(list: &[Reg]) -> Option<Reg> {
    let (&first, rest) = list.split_first()?;
    let mut next = first.first + u16::from(first.count);
    let mut all = first;
    for reg in rest {
        if reg.file != first.file || reg.first != next || reg.half != HalfName::Whole {
            return None;
        }
        next += u16::from(reg.count);
        all.count = all.count.checked_add(reg.count)?;
    }
    Some(all)
}

/// Takes `lit(` or `lit64(`.
fn literal_marker(cursor: &mut Cursor) -> Option<Marker> {
    let mut ahead = *cursor;
    ahead.space();
    let marker = match ahead.name() {
        b"lit" => Marker::Lit,
        b"lit64" => Marker::Lit64,
        _ => return None,
    };
    ahead.space();
    if ahead.peek() != b'(' {
        return None;
    }
    ahead.at += 1;
    *cursor = ahead;
    Some(marker)
}

fn is_register_name(cursor: Cursor, name: &[u8]) -> bool {
    if special(name).is_some() {
        return true;
    }
    let letters = name.iter().take_while(|b| b.is_ascii_alphabetic()).count();
    let file = matches!(&name[..letters], b"v" | b"s" | b"a" | b"ttmp" | b"acc");
    file && (name.get(letters).is_some_and(u8::is_ascii_digit)
        || (letters == name.len() && cursor.peek_at(letters) == b'['))
}

/// Reads a register; nothing where there is none.
#[inline]
fn register(cursor: &mut Cursor, symbols: &dyn Symbols) -> Result<Option<Value>, Fault> {
    let (file, letters) = match (cursor.peek(), cursor.peek_at(1)) {
        (b'v', b'0'..=b'9' | b'[') => (RegFile::Vgpr, 1),
        (b's', b'0'..=b'9' | b'[') => (RegFile::Sgpr, 1),
        (b'a', b'0'..=b'9' | b'[') => (RegFile::Agpr, 1),
        (b'a', b'c') if cursor.peek_at(2) == b'c' && matches!(cursor.peek_at(3), b'0'..=b'9' | b'[') => {
            (RegFile::Agpr, 3)
        }
        (b't', b't') if cursor.text[cursor.at..].starts_with(b"ttmp") => (RegFile::Ttmp, 4),
        _ => {
            let before = *cursor;
            let found = special(cursor.name());
            if found.is_none() {
                *cursor = before;
            }
            return Ok(found.map(|(special, dwords)| Value::Special(special, dwords)));
        }
    };
    let before = *cursor;
    cursor.at += letters;
    if cursor.peek() == b'[' {
        cursor.at += 1;
        let (first, last) = match plain_range(cursor) {
            Some(range) => range,
            None => {
                let first = expr::expression(cursor, symbols)?;
                let last = if cursor.eat_after_space(b':') { expr::expression(cursor, symbols)? } else { first };
                cursor.expect(b']', "`]` is expected")?;
                (first, last)
            }
        };
        let half = half(cursor);
        let valid = (0..=1023).contains(&first) && (first..=first + 63).contains(&last);
        if !valid {
            return Err(Fault::syntax(before.at, "this is no range of registers"));
        }
        let count = (last - first + 1) as u8;
        return Ok(Some(Value::Reg(Reg { file, first: first as u16, count, half })));
    }
    let mut number = 0u16;
    let start = cursor.at;
    while cursor.peek().is_ascii_digit() && cursor.at - start < 4 {
        number = number * 10 + u16::from(cursor.peek() - b'0');
        cursor.at += 1;
    }
    let half = half(cursor);
    if is_name(cursor.peek()) || cursor.at == start {
        *cursor = before;
        return Ok(None);
    }
    Ok(Some(Value::Reg(Reg { file, first: number, count: 1, half })))
}

/// `4:7]`: a range without expressions.
#[inline]
fn plain_range(cursor: &mut Cursor) -> Option<(i64, i64)> {
    let mut ahead = *cursor;
    let first = ahead.digits()?;
    let last = if ahead.eat(b':') { ahead.digits()? } else { first };
    if !ahead.eat(b']') {
        return None;
    }
    *cursor = ahead;
    Some((i64::from(first), i64::from(last)))
}

#[inline]
fn half(cursor: &mut Cursor) -> HalfName {
    let half = match (cursor.peek(), cursor.peek_at(1), is_name(cursor.peek_at(2))) {
        (b'.', b'l', false) => HalfName::Low,
        (b'.', b'h', false) => HalfName::High,
        _ => return HalfName::Whole,
    };
    cursor.at += 2;
    half
}

/// Registers with names and their dwords.
fn special(name: &[u8]) -> Option<(Special, u8)> {
    let name = name.strip_prefix(b"src_").unwrap_or(name);
    Some(match name {
        b"vcc" => (Special::VccLo, 2),
        b"vcc_lo" => (Special::VccLo, 1),
        b"vcc_hi" => (Special::VccHi, 1),
        b"exec" => (Special::ExecLo, 2),
        b"exec_lo" => (Special::ExecLo, 1),
        b"exec_hi" => (Special::ExecHi, 1),
        b"m0" => (Special::M0, 1),
        b"null" => (Special::Null, 0),
        b"flat_scratch" => (Special::FlatScratchLo, 2),
        b"flat_scratch_lo" => (Special::FlatScratchLo, 1),
        b"flat_scratch_hi" => (Special::FlatScratchHi, 1),
        b"xnack_mask" => (Special::XnackMaskLo, 2),
        b"xnack_mask_lo" => (Special::XnackMaskLo, 1),
        b"xnack_mask_hi" => (Special::XnackMaskHi, 1),
        b"tba" => (Special::TbaLo, 2),
        b"tba_lo" => (Special::TbaLo, 1),
        b"tba_hi" => (Special::TbaHi, 1),
        b"tma" => (Special::TmaLo, 2),
        b"tma_lo" => (Special::TmaLo, 1),
        b"tma_hi" => (Special::TmaHi, 1),
        b"shared_base" => (Special::SharedBase, 0),
        b"shared_limit" => (Special::SharedLimit, 0),
        b"private_base" => (Special::PrivateBase, 0),
        b"private_limit" => (Special::PrivateLimit, 0),
        b"flat_scratch_base_lo" => (Special::FlatScratchBaseLo, 0),
        b"flat_scratch_base_hi" => (Special::FlatScratchBaseHi, 0),
        b"pops_exiting_wave_id" => (Special::PopsExitingWaveId, 0),
        b"vccz" => (Special::Vccz, 0),
        b"execz" => (Special::Execz, 0),
        b"scc" => (Special::Scc, 0),
        b"lds_direct" => (Special::LdsDirect, 0),
        _ => return None,
    })
}

/// A number that stands alone: up to a blank or the end.
#[inline]
fn plain_number(cursor: &mut Cursor) -> Option<i64> {
    let mut ahead = *cursor;
    let negative = ahead.eat(b'-');
    let value = if ahead.peek() == b'0' && ahead.peek_at(1) == b'x' {
        ahead.at += 2;
        ahead.hex_digits()?
    } else {
        if ahead.peek() == b'0' && ahead.peek_at(1).is_ascii_digit() {
            return None;
        }
        i64::from(ahead.digits()?)
    };
    if !ahead.done() && ahead.peek() != b' ' {
        return None;
    }
    // An operator may follow.
    let end = ahead;
    ahead.space();
    if !ahead.done() && !ahead.peek().is_ascii_alphabetic() {
        return None;
    }
    *cursor = end;
    Some(if negative { -value } else { value })
}

fn modifier_value(id: u8, cursor: &mut Cursor, symbols: &dyn Symbols) -> Result<Mod, Fault> {
    let at = cursor.at as u32;
    let value = match cursor.peek() {
        b'[' if id != ids::FORMAT => {
            cursor.at += 1;
            let mut small = Small { items: [0; 8], len: 0 };
            loop {
                cursor.space();
                let start = cursor.at;
                let item = match (cursor.peek(), cursor.peek_at(1)) {
                    (digit @ b'0'..=b'9', b',' | b']') => {
                        cursor.at += 1;
                        i64::from(digit - b'0')
                    }
                    _ => expr::expression(cursor, symbols)?,
                };
                let place = small.items.get_mut(usize::from(small.len));
                let (Some(place), Ok(item)) = (place, u8::try_from(item)) else {
                    return Err(Fault::syntax(start, "up to eight small numbers are expected"));
                };
                *place = item;
                small.len += 1;
                if cursor.eat_after_space(b']') {
                    break;
                }
                cursor.expect(b',', "`,` or `]` is expected")?;
            }
            ModValue::List(small)
        }
        b'[' | b'{' => {
            cursor.balanced()?;
            ModValue::Text
        }
        byte if byte.is_ascii_alphabetic() || byte == b'_' => {
            let name = cursor.name();
            if cursor.peek() == b'(' {
                cursor.balanced()?;
                ModValue::Text
            } else if let Some(value) = symbols.value(name) {
                ModValue::Int(expr::rest(cursor, symbols, value)?)
            } else {
                ModValue::Text
            }
        }
        // `dim:1D` begins like a number.
        byte if byte.is_ascii_digit() && id == ids::DIM => {
            cursor.name();
            ModValue::Text
        }
        _ => match plain_number(cursor) {
            Some(value) => ModValue::Int(value),
            None => ModValue::Int(expr::expression(cursor, symbols)?),
        },
    };
    Ok(Mod { id, at, end: cursor.at as u32, value })
}

#[cfg(test)]
mod tests {
    use super::*;

    struct None;

    impl Symbols for None {
        fn value(&self, _: &[u8]) -> Option<i64> {
            Option::None
        }
    }

    fn parse(text: &str) -> Result<Line, Fault> {
        let mut line = Line::new();
        line.parse(&mut Cursor::new(text.as_bytes()), &None)?;
        Ok(line)
    }

    #[test]
    fn operands_and_modifiers_part() {
        let line = parse("v[1:2], -|s5|, neg(lit(0x10)), v7.h -2+1 offset:4 noglc op_sel:[0,1]").unwrap();
        let args = line.args();
        assert_eq!(args.len(), 5);
        assert_eq!(args[0].value, Value::Reg(Reg { file: RegFile::Vgpr, first: 1, count: 2, half: HalfName::Whole }));
        assert!(args[1].neg && args[1].abs && !args[0].neg);
        assert_eq!((args[2].value, args[2].lit, args[2].neg), (Value::Int(16), Marker::Lit, true));
        assert_eq!(args[3].value, Value::Reg(Reg { file: RegFile::Vgpr, first: 7, count: 1, half: HalfName::High }));
        assert_eq!(args[4].value, Value::Int(-1));
        assert_eq!(line.modifier(ids::OFFSET).unwrap().value, ModValue::Int(4));
        assert_eq!(line.modifier(ids::GLC).unwrap().value, ModValue::Flag(false));
        assert!(line.modifier(ids::SLC).is_none());
    }

    #[test]
    fn faults_are_no_panics() {
        for text in [
            "v[1",
            "v[",
            "|v1",
            "neg(v1",
            "[v1, ",
            "op_sel:[",
            "op_sel:[1,1,1,1,1,1,1,1,1]",
            "offset:",
            "v[0:9999]",
            "-",
        ] {
            assert!(parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn all_names_fit_the_set() {
        const { assert!(ids::SRC1_SEL < 128) };
        assert_eq!(modifier_id(b"row_mirror").map(modifier_name), Some("row_mirror"));
    }
}
