//! Writes what stands after the operands.

use super::Writer;
use super::operand::sign_extend;
use crate::syntax::{Modifier, ModifierKind, SlotKind, Syntax, names};
use crate::table::{Form, Row};
use crate::{Generation, syntax::Family};

impl Writer<'_> {
    #[inline]
    pub(super) fn modifiers(&mut self, syntax: &Syntax) {
        if syntax.is_quiet(self.inst.first_words()) {
            return;
        }
        for &modifier in syntax.modifiers() {
            let value = match modifier.count() {
                0 => 0,
                count => self.bits(modifier.offset(), count),
            };
            self.modifier(modifier, value);
        }
    }

    #[inline]
    fn modifier(&mut self, modifier: Modifier, value: u32) {
        let extra = modifier.extra();
        match modifier.kind() {
            ModifierKind::Flag => {
                if value != 0 {
                    self.text.push(b' ');
                    self.text.str(names::FLAGS[extra as usize % names::FLAGS.len()]);
                }
            }
            ModifierKind::Number if value == 0 => {}
            ModifierKind::Number | ModifierKind::NumberAlways => self.named_number(extra, value),
            ModifierKind::DsOffset if value == 0 => {}
            ModifierKind::DsOffset => {
                self.text.str(" offset:");
                self.number(value);
            }
            ModifierKind::SignedOffset | ModifierKind::FlatOffset => {
                let offset = if modifier.kind() == ModifierKind::FlatOffset {
                    value as i32
                } else {
                    sign_extend(value, modifier.count())
                };
                if offset != 0 {
                    self.text.str(" offset:");
                    self.text.signed(offset);
                }
            }
            ModifierKind::Swizzle => self.swizzle(value),
            ModifierKind::Dmask => {
                if value != 0 {
                    self.text.str(" dmask:");
                    self.text.hex(value.into());
                }
            }
            ModifierKind::Dim => {
                self.text.str(" dim:");
                self.text.str(names::DIMENSIONS[value as usize & 7]);
            }
            ModifierKind::Format => self.format_name(value),
            ModifierKind::FormatDfmt => self.format_pair(value),
            ModifierKind::Th => self.temporal_hint(extra, value, modifier.offset()),
            ModifierKind::Scope => {
                if value != 0 {
                    self.text.push(b' ');
                    self.text.str("scope:");
                    self.text.str(names::SCOPES[value as usize & 3]);
                }
            }
            ModifierKind::OpSel => self.op_sel(extra, value),
            ModifierKind::OpSelHi => {
                let value = value | self.op_sel_hi_2(modifier.offset(), extra) << 2;
                let sources = extra & 7;
                let all = (1 << sources) - 1;
                let usual = if extra & 8 != 0 { 0 } else { all };
                if value & all != usual {
                    self.bit_list(" op_sel_hi:[", value, sources);
                }
            }
            ModifierKind::NegLo => {
                if value & ((1 << (extra & 7)) - 1) != 0 {
                    self.bit_list(" neg_lo:[", value, extra);
                }
            }
            ModifierKind::NegHi => {
                if value & ((1 << (extra & 7)) - 1) != 0 {
                    self.bit_list(" neg_hi:[", value, extra);
                }
            }
            ModifierKind::MfmaNeg => {
                if value != 0 {
                    self.bit_list(" neg:[", value, 3);
                }
            }
            ModifierKind::Clamp => {
                if value != 0 {
                    self.text.str(" clamp");
                }
            }
            ModifierKind::Omod => self.omod(value),
            ModifierKind::ByteSel => {
                // The two bits are the other way round for sources.
                let value = if extra == 0 { (value & 1) << 1 | value >> 1 } else { value };
                if value != 0 {
                    self.text.str(" byte_sel:");
                    self.text.dec(value);
                }
            }
            ModifierKind::Bitop3 => {
                let in_word = || self.bits(8, 3) << 3 | self.bits(59, 2) << 6 | self.bits(61, 3);
                let table = if modifier.count() == 0 { in_word() } else { value };
                if table != 0 {
                    self.text.str(" bitop3:");
                    if table <= 10 {
                        self.number(table);
                    } else {
                        self.text.hex(table.into());
                    }
                }
            }
            ModifierKind::PermlaneOpSel => {
                if value != 0 {
                    self.bit_list(" op_sel:[", value, 2);
                }
            }
            ModifierKind::MatrixFmt => {
                let value = if extra == 1 { value | self.bits(modifier.offset() - 59 + 14, 1) << 2 } else { value };
                if value != 0 {
                    self.text.str(if extra == 0 { " matrix_a_fmt:" } else { " matrix_b_fmt:" });
                    match names::MATRIX_FORMATS.get(value as usize) {
                        Some(name) => self.text.str(name),
                        None => self.text.dec(value),
                    }
                }
            }
            ModifierKind::MatrixScale => {
                if value != 0 {
                    self.text.str(if extra == 0 { " matrix_a_scale:" } else { " matrix_b_scale:" });
                    self.text.str("MATRIX_SCALE_ROW1");
                }
            }
            ModifierKind::MatrixScaleFmt => {
                if value != 0 {
                    self.text.str(if extra == 0 { " matrix_a_scale_fmt:" } else { " matrix_b_scale_fmt:" });
                    match value {
                        1 => self.text.str("MATRIX_SCALE_FMT_E5M3"),
                        2 => self.text.str("MATRIX_SCALE_FMT_E4M3"),
                        _ => self.text.dec(value),
                    }
                }
            }
            ModifierKind::MatrixReuse => {
                if value != 0 {
                    self.text.str(if extra == 0 { " matrix_a_reuse" } else { " matrix_b_reuse" });
                }
            }
        }
    }

    fn named_number(&mut self, name: u32, value: u32) {
        self.text.push(b' ');
        self.text.str(names::NUMBERS[name as usize % names::NUMBERS.len()]);
        self.text.push(b':');
        self.number(value);
    }

    /// `[1,0,1]`, bit 0 first.
    fn bit_list(&mut self, open: &str, value: u32, count: u32) {
        self.text.str(open);
        for bit in 0..count {
            if bit > 0 {
                self.text.push(b',');
            }
            self.text.push(b'0' + (value >> bit & 1) as u8);
        }
        self.text.push(b']');
    }

    /// `extra` as [`ModifierKind::OpSel`] has it.
    fn op_sel(&mut self, extra: u32, value: u32) {
        let sources = extra & 7;
        if value == 0 || (extra & 64 != 0 && self.true16) {
            return;
        }
        if extra & 32 != 0 {
            return self.bit_list(" op_sel:[", value << sources, sources + 1);
        }
        let variant = matches!(self.form, Form::Dpp16 | Form::Dpp8);
        if extra & 8 == 0 || (extra & 128 != 0 && variant) {
            let count = if extra & 16 != 0 { sources + 1 } else { sources };
            if value & ((1 << count) - 1) != 0 {
                self.bit_list(" op_sel:[", value, count);
            }
            return;
        }
        let mask = (1 << sources) - 1;
        if value & (mask | 8) != 0 {
            self.bit_list(" op_sel:[", value & mask | (value >> 3) << sources, sources + 1);
        }
    }

    /// OPSEL_HI of source 2, which lies apart, or its usual value where there is no source 2.
    fn op_sel_hi_2(&self, offset: u32, extra: u32) -> u32 {
        if extra & 7 > 2 { self.bits(offset - 59 + 14, 1) } else { 0 }
    }

    fn omod(&mut self, value: u32) {
        match value {
            1 => self.text.str(" mul:2"),
            2 => self.text.str(" mul:4"),
            3 => self.text.str(" div:2"),
            _ => {}
        }
    }

    fn format_name(&mut self, value: u32) {
        let table: &[&str] = if self.gfx11_plus() { &names::FORMATS_GFX11 } else { &names::FORMATS_GFX10 };
        if value == 1 {
            return;
        }
        self.text.str(" format:");
        match table.get(value as usize) {
            Some(name) => {
                self.text.push(b'[');
                self.text.str(name);
                self.text.push(b']');
            }
            None => self.text.dec(value),
        }
    }

    /// The default is `8` and `UNORM`; of two names that which is not the default is written, both where both are not.
    fn format_pair(&mut self, value: u32) {
        let (data, number) = (value & 15, value >> 4 & 7);
        if (data, number) == (1, 0) {
            return;
        }
        self.text.str(" format:[");
        if data != 1 {
            self.text.str(names::DATA_FORMATS[data as usize & 15]);
        }
        if number != 0 {
            if data != 1 {
                self.text.push(b',');
            }
            self.text.str(names::NUMBER_FORMATS[number as usize & 7]);
        }
        self.text.push(b']');
    }

    /// `kind`: 0 load, 1 store, 2 atomic. The scope lies below the hint.
    fn temporal_hint(&mut self, kind: u32, value: u32, offset: u32) {
        const SYS: u32 = 3;
        const DEV: u32 = 2;
        if value == 0 {
            return;
        }
        let scope = self.bits(offset - 2, 2);
        self.text.str(" th:");
        match kind {
            2 => {
                self.text.str("TH_ATOMIC_");
                match value {
                    4.. if scope >= DEV => self.text.str(if value & 2 != 0 { "CASCADE_NT" } else { "CASCADE_RT" }),
                    1 => self.text.str("RETURN"),
                    2 => self.text.str("NT"),
                    3 => self.text.str("NT_RETURN"),
                    _ => self.text.hex(value.into()),
                }
            }
            1 if scope == SYS && value == 3 => self.text.str("TH_STORE_BYPASS"),
            1 => self.text.str(names::STORE_HINTS[value as usize & 7]),
            _ if scope == SYS && value == 3 => self.text.str("TH_LOAD_BYPASS"),
            _ if value == 7 => self.text.hex(value.into()),
            _ => self.text.str(names::LOAD_HINTS[value as usize & 7]),
        }
    }

    fn swizzle(&mut self, value: u32) {
        if value == 0 {
            return;
        }
        self.text.str(" offset:");
        let list = |writer: &mut Self, values: &[u32]| {
            for &value in values {
                writer.text.push(b',');
                writer.text.dec(value);
            }
            writer.text.push(b')');
        };
        if value >= 0xe000 {
            self.text.str("swizzle(FFT");
            return list(self, &[value & 31]);
        }
        if value >= 0xc000 {
            self.text.str("swizzle(ROTATE");
            return list(self, &[value >> 10 & 1, value >> 5 & 31]);
        }
        if value > 0x80ff {
            return self.number(value);
        }
        if value & 0xff00 == 0x8000 {
            self.text.str("swizzle(QUAD_PERM");
            list(self, &[value & 3, value >> 2 & 3, value >> 4 & 3, value >> 6 & 3]);
            return;
        }
        let (and, or, xor) = (value & 31, value >> 5 & 31, value >> 10 & 31);
        if and == 31 && or == 0 && xor.is_power_of_two() {
            self.text.str("swizzle(SWAP");
            list(self, &[xor]);
        } else if and == 31 && or == 0 && xor > 0 && (xor + 1).is_power_of_two() {
            self.text.str("swizzle(REVERSE");
            list(self, &[xor + 1]);
        } else {
            let group = 32 - and;
            if group > 1 && group.is_power_of_two() && or < group && xor == 0 {
                self.text.str("swizzle(BROADCAST");
                list(self, &[group, or]);
            } else {
                self.text.str("swizzle(BITMASK_PERM,\"");
                for bit in (0..5).rev() {
                    let (p0, p1) = ((or ^ xor) >> bit & 1, ((and | or) ^ xor) >> bit & 1);
                    // What becomes of a 0 and of a 1 at this bit.
                    self.text.push(match (p0, p1) {
                        (0, 0) => b'0',
                        (1, 1) => b'1',
                        (0, 1) => b'p',
                        _ => b'i',
                    });
                }
                self.text.str("\")");
            }
        }
    }

    pub(super) fn dpp16(&mut self) {
        let Some(dpp) = self.inst.dpp16() else { return };
        let ctrl = u32::from(dpp.ctrl());
        let gfx9 = self.gfx9();
        let share = self.generation == Generation::Cdna2 || self.gfx940();
        let numbered = match ctrl {
            0..=0xff => {
                self.text.str(" quad_perm:[");
                for lane in 0..4 {
                    if lane > 0 {
                        self.text.push(b',');
                    }
                    self.text.push(b'0' + (ctrl >> (2 * lane) & 3) as u8);
                }
                self.text.push(b']');
                None
            }
            0x101..=0x10f => Some(" row_shl:"),
            0x111..=0x11f => Some(" row_shr:"),
            0x121..=0x12f => Some(" row_ror:"),
            0x150..=0x15f if share => Some(" row_newbcast:"),
            0x150..=0x15f if !gfx9 => Some(" row_share:"),
            0x160..=0x16f if !gfx9 => Some(" row_xmask:"),
            _ => {
                self.text.str(match ctrl {
                    0x130 => " wave_shl:1",
                    0x134 => " wave_rol:1",
                    0x138 => " wave_shr:1",
                    0x13c => " wave_ror:1",
                    0x140 => " row_mirror",
                    0x141 => " row_half_mirror",
                    0x142 => " row_bcast:15",
                    0x143 => " row_bcast:31",
                    // The decoder takes no other.
                    _ => "",
                });
                None
            }
        };
        if let Some(name) = numbered {
            self.text.str(name);
            self.text.dec(ctrl & 15);
        }
        self.text.str(" row_mask:0x");
        self.hex_digit(dpp.row_mask());
        self.text.str(" bank_mask:0x");
        self.hex_digit(dpp.bank_mask());
        if dpp.bound_ctrl() {
            self.text.str(" bound_ctrl:1");
        }
        if dpp.fetch_inactive() && !gfx9 {
            self.text.str(" fi:1");
        }
    }

    fn hex_digit(&mut self, digit: u8) {
        self.text.push(b"0123456789abcdef"[usize::from(digit & 15)]);
    }

    pub(super) fn dpp8(&mut self) {
        let Some(dpp) = self.inst.dpp8() else { return };
        self.text.str(" dpp8:[");
        for (at, lane) in dpp.lanes().into_iter().enumerate() {
            if at > 0 {
                self.text.push(b',');
            }
            self.text.push(b'0' + lane);
        }
        self.text.push(b']');
        if dpp.fetch_inactive() {
            self.text.str(" fi:1");
        }
    }

    pub(super) fn sdwa(&mut self, row: Row, syntax: &Syntax) {
        let _ = row;
        let Some(sdwa) = self.inst.sdwa() else { return };
        let select = |writer: &mut Self, name: &str, value: u8| {
            writer.text.str(name);
            match names::SDWA_SELECTS.get(usize::from(value)) {
                Some(select) => writer.text.str(select),
                None => writer.text.dec(value.into()),
            }
        };
        if syntax.family != Family::Vopc {
            if sdwa.clamp() {
                self.text.str(" clamp");
            }
            self.omod(sdwa.omod().into());
            if syntax.slots().iter().any(|slot| slot.source() == 3) {
                select(self, " dst_sel:", sdwa.dst_sel());
                self.text.str(" dst_unused:");
                match names::SDWA_UNUSED.get(usize::from(sdwa.dst_unused())) {
                    Some(name) => self.text.str(name),
                    None => self.text.dec(sdwa.dst_unused().into()),
                }
            }
        }
        let has = |source| {
            syntax
                .slots()
                .iter()
                .any(|slot| slot.source() == source && matches!(slot.kind(), SlotKind::Src | SlotKind::Vgpr))
        };
        if has(0) {
            select(self, " src0_sel:", sdwa.src0_sel());
        }
        if has(1) {
            select(self, " src1_sel:", sdwa.src1_sel());
        }
    }
}
