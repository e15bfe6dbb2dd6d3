//! Encodes what stands after the operands.

use super::encode::{Encoder, Result, Why};
use super::lex::{Cursor, same};
use super::parse::{Mod, ModValue, ids, sets};
use super::special::Reader;
use crate::Generation;
use crate::syntax::{Family, Modifier, ModifierKind, SlotKind, names};

impl<'a> Encoder<'a> {
    /// Takes a modifier of the line.
    fn take(&mut self, id: u8) -> Option<&'a Mod> {
        let found = self.line.modifier(id)?;
        self.used |= 1 << id;
        Some(found)
    }

    fn value_reader(&self, modifier: &Mod) -> Reader<'a, 'a> {
        let mut cursor = Cursor::new(&self.cx.text[..modifier.end as usize]);
        cursor.at = modifier.at as usize;
        Reader { generation: self.cx.generation, symbols: self.cx.symbols, cursor }
    }

    /// A number within bounds, bounds included.
    fn number(&mut self, id: u8, least: i64, most: i64) -> Result<Option<i64>> {
        match self.take(id).map(|m| m.value) {
            None => Ok(None),
            Some(ModValue::Int(value)) if (least..=most).contains(&value) => Ok(Some(value)),
            Some(_) => Err(Why::Modifier(id, "the number is out of range")),
        }
    }

    fn flag(&mut self, id: u8) -> bool {
        matches!(self.take(id).map(|m| m.value), Some(ModValue::Flag(true) | ModValue::Int(1)))
    }

    /// `[0,1]` as bits, and how many there are.
    fn bits(&mut self, id: u8, most: u32) -> Result<Option<(u32, u32)>> {
        let list = match self.take(id).map(|m| m.value) {
            None => return Ok(None),
            Some(ModValue::List(list)) => list,
            Some(_) => return Err(Why::Modifier(id, "a list in brackets is expected")),
        };
        let items = list.as_slice();
        if items.iter().any(|&bit| bit > 1) {
            return Err(Why::Modifier(id, "the values are 0 and 1"));
        }
        if items.len() > most as usize {
            return Err(Why::Modifier(id, "the list is too long"));
        }
        let bits = items.iter().enumerate().fold(0, |all, (at, &bit)| all | u32::from(bit) << at);
        Ok(Some((bits, items.len() as u32)))
    }

    /// A name of a table or a number.
    fn named(&mut self, id: u8, table: &[&str], prefix: &str, most: u32, what: &'static str) -> Result<Option<u32>> {
        let Some(&modifier) = self.take(id) else { return Ok(None) };
        Ok(Some(self.value_reader(&modifier).named(table, prefix, most, what)?))
    }

    #[inline]
    pub(crate) fn modifiers(&mut self) -> Result<()> {
        for &modifier in self.row.syntax().modifiers() {
            self.modifier(modifier)?;
        }
        Ok(())
    }

    fn modifier(&mut self, modifier: Modifier) -> Result<()> {
        let (offset, count, extra) = (modifier.offset(), modifier.count(), modifier.extra());
        let value = match modifier.kind() {
            ModifierKind::Flag => {
                let id = self.cx.index.flags[extra as usize % 64];
                let set = self.flag(id);
                // Atomics on floats of CDNA 2 have no such bit, but LLVM takes the name.
                let name = self.row.op().name();
                let floats = || name.contains("ATOMIC") && ["F64", "F32", "F16"].iter().any(|ty| name.ends_with(ty));
                u32::from(set && !(id == ids::SCC && floats()))
            }
            ModifierKind::Number | ModifierKind::NumberAlways => {
                let id = self.cx.index.numbers[extra as usize % 64];
                let most = (1i64 << count.clamp(1, 32)) - 1;
                let value = self.number(id, 0, most)?;
                // As in DPP forms, both values set the bit before RDNA 3.
                if id == ids::BOUND_CTRL && self.cx.gfx9() {
                    u32::from(value.is_some())
                } else {
                    value.unwrap_or(0) as u32
                }
            }
            ModifierKind::SignedOffset => {
                let limit = 1i64 << (count.max(1) - 1);
                self.number(ids::OFFSET, -limit, limit - 1)?.unwrap_or(0) as u32
            }
            ModifierKind::FlatOffset => {
                let most = (1i64 << count.clamp(1, 32)) - 1;
                self.number(ids::OFFSET, 0, most)?.unwrap_or(0) as u32
            }
            ModifierKind::DsOffset => self.number(ids::OFFSET, 0, 0xffff)?.unwrap_or(0) as u32,
            ModifierKind::Swizzle => match self.take(ids::OFFSET) {
                None => 0,
                Some(&modifier) => self.value_reader(&modifier).swizzle()?,
            },
            ModifierKind::Dmask => self.number(ids::DMASK, 0, 15)?.unwrap_or(0) as u32,
            ModifierKind::Dim => self.dimension()?,
            ModifierKind::Format => self.format()?,
            ModifierKind::FormatDfmt => self.format_pair()?,
            ModifierKind::Th => self.temporal_hint(extra)?,
            ModifierKind::Scope => {
                self.named(ids::SCOPE, &names::SCOPES, "", 3, "a scope such as `SCOPE_DEV` is expected")?.unwrap_or(0)
            }
            ModifierKind::OpSel => return self.op_sel(offset, extra),
            ModifierKind::OpSelHi => return self.op_sel_hi(offset, extra),
            ModifierKind::NegLo => self.bits(ids::NEG_LO, extra.max(1))?.map_or(0, |(bits, _)| bits),
            ModifierKind::NegHi => self.bits(ids::NEG_HI, extra.max(1))?.map_or(0, |(bits, _)| bits),
            ModifierKind::MfmaNeg => self.bits(ids::NEG, 3)?.map_or(0, |(bits, _)| bits),
            ModifierKind::Clamp => u32::from(self.flag(ids::CLAMP)),
            ModifierKind::Omod => self.omod()?,
            ModifierKind::ByteSel => {
                let value = self.number(ids::BYTE_SEL, 0, 3)?.unwrap_or(0) as u32;
                if extra == 0 { (value & 1) << 1 | value >> 1 } else { value }
            }
            ModifierKind::Bitop3 => {
                let table = self.number(ids::BITOP3, 0, 255)?.unwrap_or(0) as u32;
                if count != 0 {
                    self.set(offset, count, table);
                    return Ok(());
                }
                self.set(8, 3, table >> 3);
                self.set(59, 2, table >> 6);
                self.set(61, 3, table);
                return Ok(());
            }
            ModifierKind::PermlaneOpSel => self.bits(ids::OP_SEL, 2)?.map_or(0, |(bits, _)| bits),
            ModifierKind::MatrixFmt => {
                let (id, prefix) =
                    if extra == 0 { (ids::MATRIX_A_FMT, "MATRIX_FMT_") } else { (ids::MATRIX_B_FMT, "MATRIX_FMT_") };
                let value =
                    self.named(id, &names::MATRIX_FORMATS, prefix, 7, "a matrix format is expected")?.unwrap_or(0);
                if extra == 1 {
                    self.set(offset - 59 + 14, 1, value >> 2);
                }
                value
            }
            ModifierKind::MatrixScale => {
                let id = if extra == 0 { ids::MATRIX_A_SCALE } else { ids::MATRIX_B_SCALE };
                self.named(id, &["MATRIX_SCALE_ROW0", "MATRIX_SCALE_ROW1"], "", 1, "a row of scales is expected")?
                    .unwrap_or(0)
            }
            ModifierKind::MatrixScaleFmt => {
                let id = if extra == 0 { ids::MATRIX_A_SCALE_FMT } else { ids::MATRIX_B_SCALE_FMT };
                const FORMATS: [&str; 3] = ["MATRIX_SCALE_FMT_E8", "MATRIX_SCALE_FMT_E5M3", "MATRIX_SCALE_FMT_E4M3"];
                self.named(id, &FORMATS, "", 3, "a format of scales is expected")?.unwrap_or(0)
            }
            ModifierKind::MatrixReuse => {
                u32::from(self.flag(if extra == 0 { ids::MATRIX_A_REUSE } else { ids::MATRIX_B_REUSE }))
            }
            #[allow(unreachable_patterns)] // Kinds may be added.
            _ => return Ok(()),
        };
        self.set(offset, count, value);
        Ok(())
    }

    fn omod(&mut self) -> Result<u32> {
        let multiply = self.number(ids::MUL, 1, 4)?;
        let divide = self.number(ids::DIV, 1, 2)?;
        match (multiply, divide) {
            (None | Some(1), None | Some(1)) => Ok(0),
            (Some(2), None) => Ok(1),
            (Some(4), None) => Ok(2),
            (None, Some(2)) => Ok(3),
            _ => Err(Why::Modifier(
                if multiply.is_some() { ids::MUL } else { ids::DIV },
                "`mul:2`, `mul:4` and `div:2` are known",
            )),
        }
    }

    /// `extra` as [`ModifierKind::OpSel`] has it.
    fn op_sel(&mut self, offset: u32, extra: u32) -> Result<()> {
        let sources = extra & 7;
        let packed = matches!(self.family, Family::Vop3p | Family::Mix);
        let most = if packed { 4 } else { sources + u32::from(extra & 56 != 0) };
        let Some((mut bits, _)) = self.bits(ids::OP_SEL, most)? else { return Ok(()) };
        if packed {
            bits &= 7;
        } else if self.row.syntax().slots().iter().any(|s| s.kind() == SlotKind::Attr) {
            // An attribute has no halves.
            bits &= !2;
        }
        let mask = (1 << sources) - 1;
        if extra & 32 != 0 {
            self.set(offset, 1, bits >> sources);
            return Ok(());
        }
        let value = if extra & 8 != 0 { bits & mask | (bits >> sources) << 3 } else { bits };
        self.set(offset, 4, value);
        Ok(())
    }

    fn op_sel_hi(&mut self, offset: u32, extra: u32) -> Result<()> {
        let sources = extra & 7;
        let usual = if extra & 8 != 0 || self.family == Family::Matrix { 0 } else { 7 };
        let value = match self.bits(ids::OP_SEL_HI, 4)? {
            // Sources that are not named keep what is usual.
            Some((bits, len)) => bits | usual & !((1 << len.max(sources)) - 1),
            None => usual,
        };
        self.set(offset, 2, value);
        self.set(offset - 59 + 14, 1, value >> 2);
        Ok(())
    }

    fn dimension(&mut self) -> Result<u32> {
        self.named(ids::DIM, &names::DIMENSIONS, "SQ_RSRC_IMG_", 7, "a dimension such as `SQ_RSRC_IMG_2D` is expected")
            .map(|value| value.unwrap_or(0))
    }

    fn text(&self, modifier: &Mod) -> &'a [u8] {
        &self.cx.text[modifier.at as usize..modifier.end as usize]
    }

    /// Names in brackets.
    fn bracketed(&self, modifier: &Mod) -> impl Iterator<Item = &'a [u8]> + use<'a> {
        let text = self.text(modifier);
        let inner = text.strip_prefix(b"[").and_then(|t| t.strip_suffix(b"]")).unwrap_or(text);
        inner.split(|&b| b == b',').map(<[u8]>::trim_ascii)
    }

    /// The data and number format of names; either alone leaves the other as it is by default.
    fn split_format(&self, modifier: &Mod) -> Result<(u32, u32)> {
        let (mut data, mut number) = (None, None);
        for name in self.bracketed(modifier) {
            let find = |table: &[&str]| table.iter().position(|known| same(name, known)).map(|at| at as u32);
            if let (Some(at), None) = (find(&names::DATA_FORMATS), data) {
                data = Some(at);
            } else if let (Some(at), None) = (find(&names::NUMBER_FORMATS), number) {
                number = Some(at);
            } else {
                return Err(Why::Modifier(ids::FORMAT, "unknown format"));
            }
        }
        Ok((data.unwrap_or(1), number.unwrap_or(0)))
    }

    /// `dfmt:1, nfmt:2`
    fn legacy_format(&mut self) -> Result<Option<(u32, u32)>> {
        let data = self.number(ids::DFMT, 0, 15)?;
        let number = self.number(ids::NFMT, 0, 7)?;
        if data.is_none() && number.is_none() {
            return Ok(None);
        }
        Ok(Some((data.unwrap_or(1) as u32, number.unwrap_or(0) as u32)))
    }

    /// DFMT and NFMT of CDNA 1 to 4.
    fn format_pair(&mut self) -> Result<u32> {
        if let Some((data, number)) = self.legacy_format()? {
            return Ok(data | number << 4);
        }
        let Some(&modifier) = self.take(ids::FORMAT) else { return Ok(1) };
        match modifier.value {
            ModValue::Int(value @ 0..=127) => Ok(value as u32),
            ModValue::Text => self.split_format(&modifier).map(|(data, number)| data | number << 4),
            _ => Err(Why::Modifier(ids::FORMAT, "a format is expected")),
        }
    }

    /// FORMAT since RDNA 1.
    fn format(&mut self) -> Result<u32> {
        let table: &[&str] = if self.cx.gfx11_plus() { &names::FORMATS_GFX11 } else { &names::FORMATS_GFX10 };
        if let Some((data, number)) = self.legacy_format()? {
            return unified(data, number, table).ok_or(Why::Modifier(ids::DFMT, "the generation has no such format"));
        }
        let Some(&modifier) = self.take(ids::FORMAT) else { return Ok(1) };
        match modifier.value {
            ModValue::Int(value @ 0..=127) => Ok(value as u32),
            ModValue::Text => {
                let mut inner = self.bracketed(&modifier);
                let (first, more) = (inner.next().unwrap_or_default(), inner.next());
                if let (Some(at), None) = (table.iter().position(|known| same(first, known)), more) {
                    return Ok(at as u32);
                }
                let (data, number) = self.split_format(&modifier)?;
                unified(data, number, table).ok_or(Why::Modifier(ids::FORMAT, "the generation has no such format"))
            }
            _ => Err(Why::Modifier(ids::FORMAT, "a format is expected")),
        }
    }

    /// `kind`: 0 load, 1 store, 2 atomic.
    fn temporal_hint(&mut self, kind: u32) -> Result<u32> {
        let Some(&modifier) = self.take(ids::TH) else { return Ok(0) };
        let unknown = Why::Modifier(ids::TH, "the instruction has no such hint");
        if let ModValue::Int(value) = modifier.value {
            return u32::try_from(value).ok().filter(|&value| value < 8).ok_or(unknown);
        }
        let text = self.text(&modifier);
        if text == b"TH_DEFAULT" {
            return Ok(0);
        }
        let kind = if self.row.op().name() == "TENSOR_STOP" { 1 } else { kind };
        let prefix: &[u8] = match kind {
            0 => b"TH_LOAD_",
            1 => b"TH_STORE_",
            _ => b"TH_ATOMIC_",
        };
        let name = text.strip_prefix(prefix).ok_or(unknown.clone())?;
        let value = match (kind, name) {
            (_, b"RT") => 0,
            (2, b"RETURN" | b"RT_RETURN") => 1,
            (2, b"NT") => 2,
            (2, b"NT_RETURN") => 3,
            (2, b"CASCADE_RT") => 4,
            (2, b"CASCADE_NT") => 6,
            (2, _) => return Err(unknown),
            (_, b"NT") => 1,
            (_, b"HT") => 2,
            (0, b"LU") | (1, b"RT_WB" | b"WB") | (_, b"BYPASS") => 3,
            (_, b"NT_RT") => 4,
            (_, b"RT_NT") => 5,
            (_, b"NT_HT") => 6,
            (1, b"NT_WB") | (0, b"RESERVED") => 7,
            _ => return Err(unknown),
        };
        Ok(value)
    }

    pub(crate) fn dpp16(&mut self) -> Result<()> {
        let generation = self.cx.generation;
        let gfx9 = self.cx.gfx9();
        let given = self.line.present & sets::DPP_CTRL;
        if given.count_ones() > 1 {
            return Err(Why::Modifier(given.trailing_zeros() as u8, "one permutation only"));
        }
        let newbcast = matches!(generation, Generation::Cdna2 | Generation::Cdna3 | Generation::Cdna4);
        let id = given.trailing_zeros() as u8;
        let ctrl = if given == 0 {
            0xe4
        } else if id == ids::QUAD_PERM {
            match self.take(id).map(|m| m.value) {
                Some(ModValue::List(list)) if list.len == 4 && list.as_slice().iter().all(|&lane| lane < 4) => {
                    list.as_slice().iter().enumerate().fold(0, |all, (at, &lane)| all | u32::from(lane) << (2 * at))
                }
                _ => return Err(Why::Modifier(id, "four lanes from 0 to 3 are expected")),
            }
        } else {
            let (base, least, most, known) = match id {
                ids::ROW_SHL => (0x100, 1, 15, true),
                ids::ROW_SHR => (0x110, 1, 15, true),
                ids::ROW_ROR => (0x120, 1, 15, true),
                ids::ROW_SHARE => (0x150, 0, 15, !gfx9),
                ids::ROW_NEWBCAST => (0x150, 0, 15, newbcast),
                ids::ROW_XMASK => (0x160, 0, 15, !gfx9),
                ids::WAVE_SHL => (0x130 - 1, 1, 1, gfx9),
                ids::WAVE_ROL => (0x134 - 1, 1, 1, gfx9),
                ids::WAVE_SHR => (0x138 - 1, 1, 1, gfx9),
                ids::WAVE_ROR => (0x13c - 1, 1, 1, gfx9),
                ids::ROW_MIRROR => (0x140, 0, 0, true),
                ids::ROW_HALF_MIRROR => (0x141, 0, 0, true),
                _ => (0x142, 15, 31, gfx9),
            };
            if !known {
                return Err(Why::Modifier(id, "the generation has no such permutation"));
            }
            match id {
                ids::ROW_MIRROR | ids::ROW_HALF_MIRROR => {
                    self.used |= 1 << id;
                    base
                }
                ids::ROW_BCAST => match self.number(id, least, most)? {
                    Some(15) => 0x142,
                    Some(31) => 0x143,
                    _ => return Err(Why::Modifier(id, "`row_bcast:15` and `row_bcast:31` are known")),
                },
                _ => base + self.number(id, least, most)?.unwrap_or(0) as u32,
            }
        };
        let row_mask = self.number(ids::ROW_MASK, 0, 15)?.unwrap_or(15) as u32;
        let bank_mask = self.number(ids::BANK_MASK, 0, 15)?.unwrap_or(15) as u32;
        let bound = match self.number(ids::BOUND_CTRL, 0, 1)? {
            // Before RDNA 3 both values set the bit.
            Some(value) => value != 0 || !self.cx.gfx11_plus(),
            None => false,
        };
        let inactive = !gfx9 && self.number(ids::FI, 0, 1)? == Some(1);
        self.variant |=
            ctrl << 8 | u32::from(inactive) << 18 | u32::from(bound) << 19 | bank_mask << 24 | row_mask << 28;
        self.marker(0xfa);
        Ok(())
    }

    pub(crate) fn dpp8(&mut self) -> Result<()> {
        let lanes = match self.take(ids::DPP8).map(|m| m.value) {
            Some(ModValue::List(list)) if list.len == 8 && list.as_slice().iter().all(|&lane| lane < 8) => list,
            _ => return Err(Why::Modifier(ids::DPP8, "eight lanes from 0 to 7 are expected")),
        };
        for (at, &lane) in lanes.as_slice().iter().enumerate() {
            self.variant |= u32::from(lane) << (8 + 3 * at);
        }
        let inactive = self.number(ids::FI, 0, 1)? == Some(1);
        self.marker(if inactive { 0xea } else { 0xe9 });
        Ok(())
    }

    /// Marks the form where source 0 would stand.
    fn marker(&mut self, value: u32) {
        let long = !matches!(self.family, Family::Vop | Family::Vopc);
        self.set(if long { 32 } else { 0 }, 9, value);
    }

    pub(crate) fn sdwa(&mut self) -> Result<()> {
        let slots = self.row.syntax().slots();
        let has =
            |source| slots.iter().any(|s| s.source() == source && matches!(s.kind(), SlotKind::Src | SlotKind::Vgpr));
        let select = |encoder: &mut Self, id| {
            encoder.named(id, &names::SDWA_SELECTS, "", 6, "a part such as `WORD_1` is expected")
        };
        if self.family == Family::Vopc {
            if self.flag(ids::CLAMP) {
                self.variant |= 1 << 13;
            }
        } else {
            if self.flag(ids::CLAMP) {
                self.variant |= 1 << 13;
            }
            let omod = self.omod()?;
            self.variant |= omod << 14;
            let name = self.row.op().name();
            let small = name.ends_with("_F32_FP8") || name.ends_with("_F32_BF8");
            if has(3) {
                let part = select(self, ids::DST_SEL)?.unwrap_or(6);
                let rest = self.named(
                    ids::DST_UNUSED,
                    &names::SDWA_UNUSED,
                    "",
                    2,
                    "`UNUSED_PAD`, `UNUSED_SEXT` or `UNUSED_PRESERVE` is expected",
                )?;
                self.variant |= part << 8 | rest.unwrap_or(if small { 0 } else { 2 }) << 11;
            }
        }
        if has(0) {
            self.variant |= select(self, ids::SRC0_SEL)?.unwrap_or(6) << 16;
        }
        if has(1) {
            self.variant |= select(self, ids::SRC1_SEL)?.unwrap_or(6) << 24;
        }
        self.marker(0xf9);
        Ok(())
    }
}

/// The unified format of a data and a number format, by their names.
fn unified(data: u32, number: u32, table: &[&str]) -> Option<u32> {
    let data = names::DATA_FORMATS.get(data as usize)?.strip_prefix("BUF_DATA_FORMAT_")?;
    if data == "INVALID" {
        return Some(0);
    }
    let number = names::NUMBER_FORMATS.get(number as usize)?.strip_prefix("BUF_NUM_FORMAT_")?;
    let at = table.iter().position(|name| {
        name.strip_prefix("BUF_FMT_").and_then(|name| name.strip_prefix(data)?.strip_prefix('_')) == Some(number)
    });
    at.map(|at| at as u32)
}
