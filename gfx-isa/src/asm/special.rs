//! Reads structured immediates: hardware registers, messages, wait counters.

use super::error::{ErrorKind, Fault};
use super::expr::{self, Symbols};
use super::lex::{Cursor, same};
use crate::Generation;
use crate::syntax::names;

type Result<T> = core::result::Result<T, Fault>;

/// Reads structured immediates of a generation.
pub(crate) struct Reader<'a, 't> {
    pub(crate) generation: Generation,
    pub(crate) symbols: &'a dyn Symbols,
    pub(crate) cursor: Cursor<'t>,
}

fn is_gfx9(generation: Generation) -> bool {
    matches!(generation, Generation::Cdna1 | Generation::Cdna2 | Generation::Cdna3 | Generation::Cdna4)
}

fn is_gfx11_plus(generation: Generation) -> bool {
    matches!(generation, Generation::Rdna3 | Generation::Rdna3_5 | Generation::Rdna4 | Generation::Cdna5)
}

impl<'t> Reader<'_, 't> {
    fn fail<T>(&self, what: &'static str) -> Result<T> {
        Err(Fault::syntax(self.cursor.at, what))
    }

    fn number(&mut self) -> Result<i64> {
        expr::expression(&mut self.cursor, self.symbols)
    }

    /// A number that fits so many bits without sign.
    fn unsigned(&mut self, bits: u32, what: &'static str) -> Result<u32> {
        self.cursor.space();
        let at = self.cursor.at;
        let value = self.number()?;
        if (0..1 << bits).contains(&value) { Ok(value as u32) } else { Err(Fault::syntax(at, what)) }
    }

    /// A 16-bit number, signed or not.
    fn word(&mut self) -> Result<u32> {
        let at = self.cursor.at;
        let value = self.number()?;
        if (-0x8000..0x1_0000).contains(&value) {
            Ok(value as u32 & 0xffff)
        } else {
            Err(Fault::syntax(at, "a number of 16 bits is expected"))
        }
    }

    fn end(&mut self) -> Result<()> {
        self.cursor.space();
        if self.cursor.done() { Ok(()) } else { self.fail("this does not belong here") }
    }

    /// A name that is no symbol.
    fn name(&mut self) -> Option<&'t [u8]> {
        self.cursor.space();
        let first = self.cursor.peek();
        if !first.is_ascii_alphabetic() && first != b'_' {
            return None;
        }
        let before = self.cursor;
        let name = self.cursor.name();
        if self.symbols.value(name).is_some() {
            self.cursor = before;
            return None;
        }
        Some(name)
    }

    fn unknown<T>(&self, name: &[u8], what: &'static str) -> Result<T> {
        let end = self.cursor.at;
        Err(Fault { at: (end - name.len()) as u32, end: end as u32, kind: ErrorKind::Syntax(what.into()) })
    }

    /// `hwreg(NAME, offset, size)`, `{id: .., offset: .., size: ..}` or a number.
    pub(crate) fn hardware_register(&mut self) -> Result<u32> {
        let (mut id, mut offset, mut size) = (0, 0, 32);
        self.cursor.space();
        let before = self.cursor;
        if self.cursor.eat(b'{') {
            if !self.cursor.eat_after_space(b'}') {
                loop {
                    let name = self.name().unwrap_or_default();
                    self.cursor.expect(b':', "`:` is expected")?;
                    match name {
                        b"id" => id = self.register_id()?,
                        b"offset" => offset = self.unsigned(5, "a bit number from 0 to 31 is expected")?,
                        b"size" => size = self.size()?,
                        _ => return self.fail("`id`, `offset` or `size` is expected"),
                    }
                    if self.cursor.eat_after_space(b'}') {
                        break;
                    }
                    self.cursor.expect(b',', "`,` or `}` is expected")?;
                }
            }
        } else if self.name().is_some_and(|name| name == b"hwreg") {
            self.cursor.expect(b'(', "`(` is expected")?;
            id = self.register_id()?;
            if self.cursor.eat_after_space(b',') {
                offset = self.unsigned(5, "a bit number from 0 to 31 is expected")?;
                self.cursor.expect(b',', "`,` is expected")?;
                size = self.size()?;
            }
            self.cursor.expect(b')', "`)` is expected")?;
        } else {
            self.cursor = before;
            let value = self.word()?;
            self.end()?;
            return Ok(value);
        }
        self.end()?;
        Ok(id | offset << 6 | (size - 1) << 11)
    }

    fn size(&mut self) -> Result<u32> {
        let at = self.cursor.at;
        let size = self.unsigned(6, "a number of bits from 1 to 32 is expected")?;
        if (1..=32).contains(&size) {
            Ok(size)
        } else {
            Err(Fault::syntax(at, "a number of bits from 1 to 32 is expected"))
        }
    }

    fn register_id(&mut self) -> Result<u32> {
        let Some(name) = self.name() else { return self.unsigned(6, "a hardware register's number is expected") };
        let table = names::hardware_registers(self.generation);
        let find = |name: &[u8]| table.iter().find(|(_, known)| known.as_bytes() == name).map(|&(id, _)| u32::from(id));
        let found = find(name).or_else(|| {
            // Newer generations have names with `WAVE` in them; the older ones are as good.
            let text = core::str::from_utf8(name).ok()?;
            let rest = text.strip_prefix("HW_REG_")?;
            if rest == "HW_ID" {
                return find(b"HW_REG_HW_ID1");
            }
            let other = match rest.strip_prefix("WAVE_") {
                Some(rest) => std::format!("HW_REG_{rest}"),
                None => std::format!("HW_REG_WAVE_{rest}"),
            };
            find(other.as_bytes())
        });
        match found {
            Some(id) => Ok(id),
            None => self.unknown(name, "this generation has no such hardware register"),
        }
    }

    /// `sendmsg(MSG, OP, STREAM)` or a number.
    pub(crate) fn message(&mut self) -> Result<u32> {
        const GS: u32 = 2;
        const GS_DONE: u32 = 3;
        const SYSMSG: u32 = 15;
        self.cursor.space();
        let before = self.cursor;
        if self.name().is_none_or(|name| name != b"sendmsg") {
            self.cursor = before;
            let value = self.word()?;
            self.end()?;
            return Ok(value);
        }
        self.cursor.expect(b'(', "`(` is expected")?;
        let gfx11 = is_gfx11_plus(self.generation);
        let id = match self.name() {
            Some(name) => {
                let table = names::messages(self.generation);
                match table.iter().find(|(_, known)| known.as_bytes() == name) {
                    Some(&(id, _)) => u32::from(id),
                    None if name == b"MSG_SYSMSG" => SYSMSG,
                    None => return self.unknown(name, "this generation has no such message"),
                }
            }
            None => self.unsigned(if gfx11 { 8 } else { 4 }, "a message's number is expected")?,
        };
        let (mut operation, mut stream) = (0, 0);
        if self.cursor.eat_after_space(b',') {
            operation = match self.name() {
                Some(name) => {
                    let gs = names::GS_OPERATIONS.iter().position(|known| known.as_bytes() == name).map(|at| at as u32);
                    let sys = names::SYSTEM_OPERATIONS.iter().find(|(_, known)| known.as_bytes() == name);
                    let found = match id {
                        SYSMSG => sys.map(|&(value, _)| u32::from(value)),
                        GS | GS_DONE => gs,
                        _ => None,
                    };
                    match found {
                        Some(value) => value,
                        None => return self.unknown(name, "the message has no such operation"),
                    }
                }
                None => self.unsigned(3, "an operation's number is expected")?,
            };
            if self.cursor.eat_after_space(b',') {
                stream = self.unsigned(2, "a stream from 0 to 3 is expected")?;
            }
        }
        self.cursor.expect(b')', "`)` is expected")?;
        self.end()?;
        Ok(id | operation << 4 | stream << 8)
    }

    /// Passes over `&`, `,` or blanks between counters; gives whether more follows.
    fn more(&mut self) -> bool {
        let separated = self.cursor.eat_after_space(b'&') || self.cursor.eat(b',');
        self.cursor.space();
        separated || !self.cursor.done()
    }

    /// `vmcnt(0) lgkmcnt(0)` or a number.
    pub(crate) fn wait_counters(&mut self) -> Result<u32> {
        self.cursor.space();
        let before = self.cursor;
        if self.name().is_none() || {
            self.cursor.space();
            self.cursor.peek() != b'('
        } {
            self.cursor = before;
            let value = self.word()?;
            self.end()?;
            return Ok(value);
        }
        self.cursor = before;
        let fields = names::wait_fields(self.generation);
        let most = |ranges: &[(u8, u8)]| (1u32 << ranges.iter().map(|r| r.1).sum::<u8>()) - 1;
        let mut values = [0; 3];
        for (value, (_, ranges)) in values.iter_mut().zip(fields) {
            *value = most(ranges);
        }
        loop {
            let name = self.name().unwrap_or_default();
            let (base, saturate) = match name.strip_suffix(b"_sat") {
                Some(base) => (base, true),
                None => (name, false),
            };
            let Some(at) = fields.iter().position(|(known, _)| known.as_bytes() == base) else {
                return self.unknown(name, "`vmcnt`, `expcnt` or `lgkmcnt` is expected");
            };
            self.cursor.expect(b'(', "`(` is expected")?;
            let start = self.cursor.at;
            let value = self.number()?;
            self.cursor.expect(b')', "`)` is expected")?;
            let limit = most(fields[at].1);
            values[at] = match u32::try_from(value) {
                Ok(value) if value <= limit => value,
                _ if saturate => limit,
                _ => return Err(Fault::syntax(start, "the counter does not go so far")),
            };
            if !self.more() {
                break;
            }
        }
        let mut word = 0;
        for (value, (_, ranges)) in values.iter().zip(fields) {
            let mut left = *value;
            for &(offset, count) in *ranges {
                word |= (left & ((1 << count) - 1)) << offset;
                left >>= count;
            }
        }
        Ok(word)
    }

    /// `depctr_va_vdst(0) depctr_sa_sdst(0)` or a number.
    pub(crate) fn dependency_counters(&mut self) -> Result<u32> {
        self.cursor.space();
        let before = self.cursor;
        if self.name().is_none_or(|name| !name.starts_with(b"depctr_")) {
            self.cursor = before;
            let value = self.word()?;
            self.end()?;
            return Ok(value);
        }
        self.cursor = before;
        let first = usize::from(self.generation == Generation::Rdna1);
        let counters = &names::DEPENDENCY_COUNTERS[first..];
        let mut word = counters.iter().fold(0u32, |word, &(_, offset, bits)| word | ((1 << bits) - 1) << offset);
        loop {
            let name = self.name().unwrap_or_default();
            let Some(&(_, offset, bits)) = counters.iter().find(|(known, ..)| known.as_bytes() == name) else {
                return self.unknown(name, "this generation has no such counter");
            };
            self.cursor.expect(b'(', "`(` is expected")?;
            let value = self.unsigned(bits.into(), "the counter does not go so far")?;
            self.cursor.expect(b')', "`)` is expected")?;
            word = word & !(((1 << bits) - 1) << offset) | value << offset;
            if !self.more() {
                return Ok(word);
            }
        }
    }

    /// `instid0(..) | instskip(..) | instid1(..)` or a number.
    pub(crate) fn delay(&mut self) -> Result<u32> {
        self.cursor.space();
        let before = self.cursor;
        if self.name().is_none_or(|name| !name.starts_with(b"inst")) {
            self.cursor = before;
            let value = self.word()?;
            self.end()?;
            return Ok(value);
        }
        self.cursor = before;
        let mut word = 0;
        loop {
            let name = self.name().unwrap_or_default();
            let (shift, table) = match name {
                b"instid0" => (0, &names::DELAY_IDS[..]),
                b"instskip" => (4, &names::DELAY_SKIPS[..]),
                b"instid1" => (7, &names::DELAY_IDS[..]),
                _ => return self.unknown(name, "`instid0`, `instskip` or `instid1` is expected"),
            };
            self.cursor.expect(b'(', "`(` is expected")?;
            let value = match self.name() {
                Some(name) => match table.iter().position(|known| known.as_bytes() == name) {
                    Some(at) => at as u32,
                    None => return self.unknown(name, "unknown dependency"),
                },
                None => self.unsigned(4, "a dependency is expected")?,
            };
            word |= value << shift;
            self.cursor.expect(b')', "`)` is expected")?;
            if !self.cursor.eat_after_space(b'|') {
                self.end()?;
                return Ok(word);
            }
        }
    }

    /// `UC_VERSION_GFX12 | UC_VERSION_W32_BIT` or a number.
    pub(crate) fn version(&mut self) -> Result<u32> {
        struct Versions<'a>(&'a dyn Symbols);
        impl Symbols for Versions<'_> {
            fn value(&self, name: &[u8]) -> Option<i64> {
                let version =
                    names::VERSIONS.iter().find(|(_, known)| known.as_bytes() == name).map(|&(v, _)| i64::from(v));
                let flag =
                    names::VERSION_FLAGS.iter().find(|(_, known)| known.as_bytes() == name).map(|&(v, _)| i64::from(v));
                version.or(flag).or_else(|| self.0.value(name))
            }
        }
        let at = self.cursor.at;
        let value = expr::expression(&mut self.cursor, &Versions(self.symbols))?;
        self.end()?;
        u16::try_from(value).map(u32::from).map_err(|_| Fault::syntax(at, "a number of 16 bits is expected"))
    }

    /// `gpr_idx(SRC0,DST)` or a number.
    pub(crate) fn gpr_index_modes(&mut self) -> Result<u32> {
        self.cursor.space();
        let before = self.cursor;
        if self.name().is_none_or(|name| name != b"gpr_idx") {
            self.cursor = before;
            let value = self.unsigned(4, "a number of 4 bits is expected")?;
            self.end()?;
            return Ok(value);
        }
        self.cursor.expect(b'(', "`(` is expected")?;
        let mut modes = 0;
        if !self.cursor.eat_after_space(b')') {
            loop {
                let name = self.name().unwrap_or_default();
                let Some(at) = names::GPR_INDEX_MODES.iter().position(|known| known.as_bytes() == name) else {
                    return self.unknown(name, "`SRC0`, `SRC1`, `SRC2` or `DST` is expected");
                };
                modes |= 1 << at;
                if self.cursor.eat_after_space(b')') {
                    break;
                }
                self.cursor.expect(b',', "`,` or `)` is expected")?;
            }
        }
        self.end()?;
        Ok(modes)
    }

    /// The name of an export target.
    pub(crate) fn export_target(&mut self) -> Result<u32> {
        let Some(name) = self.name() else { return self.unsigned(6, "an export target is expected") };
        let text = core::str::from_utf8(name).unwrap_or_default();
        let digits = text.len() - text.bytes().rev().take_while(u8::is_ascii_digit).count();
        let (kind, number) = (&text[..digits], text[digits..].parse::<u32>().ok());
        let gfx11 = is_gfx11_plus(self.generation);
        let gfx10 = !is_gfx9(self.generation);
        let target = match (kind, number) {
            ("mrt", Some(n @ 0..=7)) => n,
            ("mrtz", None) => 8,
            ("null", None) if !gfx11 => 9,
            ("pos", Some(n @ 0..=3)) => 12 + n,
            ("pos", Some(4)) if gfx10 => 16,
            ("prim", None) if gfx10 => 20,
            ("dual_src_blend", Some(n @ 0..=1)) if gfx11 => 21 + n,
            ("param", Some(n @ 0..=31)) if !gfx11 => 32 + n,
            ("invalid_target_", Some(n @ 0..=63)) => n,
            _ => return self.unknown(name, "this generation has no such export target"),
        };
        self.end()?;
        Ok(target)
    }

    /// `attr3.x`: attribute and channel.
    pub(crate) fn attribute(&mut self) -> Result<(u32, u32)> {
        let name = self.name().unwrap_or_default();
        let parsed = core::str::from_utf8(name).ok().and_then(|text| {
            let (number, channel) = text.strip_prefix("attr")?.split_once('.')?;
            let channel = ["x", "y", "z", "w"].iter().position(|&known| known == channel)?;
            Some((number.parse::<u32>().ok().filter(|&n| n < 64)?, channel as u32))
        });
        match parsed {
            Some(found) => Ok(found),
            None => self.unknown(name, "an attribute such as `attr0.x` is expected"),
        }
    }

    /// `swizzle(..)` or a number.
    pub(crate) fn swizzle(&mut self) -> Result<u32> {
        self.cursor.space();
        let before = self.cursor;
        if self.name().is_none_or(|name| name != b"swizzle") {
            self.cursor = before;
            let value = self.unsigned(16, "a number of 16 bits is expected")?;
            return Ok(value);
        }
        self.cursor.expect(b'(', "`(` is expected")?;
        let mode = self.name().unwrap_or_default();
        let mut items = [0u32; 4];
        let mut list = |reader: &mut Self, count: usize, most: u32| -> Result<[u32; 4]> {
            for item in items.iter_mut().take(count) {
                reader.cursor.expect(b',', "`,` is expected")?;
                let at = reader.cursor.at;
                *item = reader.unsigned(16, "a small number is expected")?;
                if *item > most {
                    return Err(Fault::syntax(at, "the number is too large"));
                }
            }
            Ok(items)
        };
        let word = match mode {
            b"QUAD_PERM" => {
                let [a, b, c, d] = list(self, 4, 3)?;
                0x8000 | a | b << 2 | c << 4 | d << 6
            }
            b"BITMASK_PERM" => {
                self.cursor.expect(b',', "`,` is expected")?;
                self.bitmask()?
            }
            b"BROADCAST" => {
                let [size, lane, ..] = list(self, 2, 32)?;
                if !(size.is_power_of_two() && (2..=32).contains(&size) && lane < size) {
                    return self.fail("a group of 2, 4, 8, 16 or 32 lanes and a lane of it are expected");
                }
                (32 - size) | lane << 5
            }
            b"SWAP" => {
                let [size, ..] = list(self, 1, 16)?;
                if !size.is_power_of_two() {
                    return self.fail("1, 2, 4, 8 or 16 lanes are expected");
                }
                31 | size << 10
            }
            b"REVERSE" => {
                let [size, ..] = list(self, 1, 32)?;
                if !(size.is_power_of_two() && size >= 2) {
                    return self.fail("2, 4, 8, 16 or 32 lanes are expected");
                }
                31 | (size - 1) << 10
            }
            b"FFT" => {
                let [value, ..] = list(self, 1, 31)?;
                0xe000 | value
            }
            b"ROTATE" => {
                let [direction, size, ..] = list(self, 2, 31)?;
                if direction > 1 {
                    return self.fail("a direction of 0 or 1 is expected");
                }
                0xc000 | direction << 10 | size << 5
            }
            _ => return self.unknown(mode, "unknown kind of swizzle"),
        };
        self.cursor.expect(b')', "`)` is expected")?;
        Ok(word)
    }

    fn bitmask(&mut self) -> Result<u32> {
        self.cursor.expect(b'"', "five of `0`, `1`, `p` and `i` in quotes are expected")?;
        let (mut and, mut or, mut xor) = (0, 0, 0);
        for bit in (0..5).rev() {
            match self.cursor.peek() {
                b'0' => {}
                b'1' => or |= 1 << bit,
                b'p' => and |= 1 << bit,
                b'i' => {
                    and |= 1 << bit;
                    xor |= 1 << bit;
                }
                _ => return self.fail("five of `0`, `1`, `p` and `i` in quotes are expected"),
            }
            self.cursor.at += 1;
        }
        self.cursor.expect(b'"', "a quote is expected")?;
        Ok(and | or << 5 | xor << 10)
    }

    /// A name of a table, with or without a prefix, or a number.
    pub(crate) fn named(&mut self, table: &[&str], prefix: &str, most: u32, what: &'static str) -> Result<u32> {
        self.cursor.space();
        let start = self.cursor;
        let name = self.cursor.name();
        let found = table.iter().position(|known| {
            !known.is_empty()
                && (same(name, known) || known.strip_prefix(prefix).is_some_and(|short| same(name, short)))
        });
        if let Some(at) = found {
            return Ok(at as u32);
        }
        self.cursor = start;
        if !start.peek().is_ascii_digit() && start.peek() != b'(' {
            return Err(Fault {
                at: start.at as u32,
                end: (start.at + name.len()) as u32,
                kind: ErrorKind::Syntax(what.into()),
            });
        }
        let value = self.unsigned(8, what)?;
        if value <= most { Ok(value) } else { Err(Fault::syntax(start.at, what)) }
    }
}
