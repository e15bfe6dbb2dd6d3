//! Writes what stands between commas.

use super::Writer;
use crate::syntax::names;
use crate::syntax::{Half, Mods, Slot, SlotKind, Value};
use crate::table::{Float, Form, Source, Special};

/// Registers after alignment rules of LLVM's register classes: 8 and up come in steps of their own.
const NULL_GFX10: u32 = 125;
const NULL_GFX11: u32 = 124;

impl Writer<'_> {
    #[inline(never)]
    pub(super) fn slot(&mut self, slot: Slot) {
        match slot.kind() {
            SlotKind::Vgpr => self.vector(slot),
            SlotKind::Src | SlotKind::LaneSel => self.source(slot),
            SlotKind::Vcc => self.vcc(),
            SlotKind::VopcDst => self.compare_destination(),
            SlotKind::Literal => self.constant(slot),
            SlotKind::Hex => self.text.hex(self.bits(slot.offset(), slot.count()).into()),
            SlotKind::Inline => self.inline_number(self.bits(slot.offset(), slot.count())),
            SlotKind::Endpgm => {
                let value = self.bits(slot.offset(), slot.count());
                if value != 0 {
                    self.number(value);
                }
            }
            SlotKind::Label => self.label = Some(self.bits(slot.offset(), slot.count()) as u16),
            SlotKind::HwReg => self.hardware_register(self.bits(slot.offset(), slot.count())),
            SlotKind::SendMsg | SlotKind::SendMsgRtn => self.message(self.bits(slot.offset(), slot.count())),
            SlotKind::WaitCnt => self.wait_counters(self.bits(slot.offset(), slot.count())),
            SlotKind::Depctr => self.dependency_counters(self.bits(slot.offset(), slot.count())),
            SlotKind::DelayAlu => self.delay(self.bits(slot.offset(), slot.count())),
            SlotKind::Version => self.version(self.bits(slot.offset(), slot.count())),
            SlotKind::GprIdx => self.gpr_index_modes(self.bits(slot.offset(), slot.count())),
            SlotKind::Attr => self.attribute(slot),
            SlotKind::Param => match self.bits(slot.offset(), slot.count()) {
                0 => self.text.str("p10"),
                1 => self.text.str("p20"),
                2 => self.text.str("p0"),
                other => {
                    self.text.str("invalid_param_");
                    self.text.dec(other);
                }
            },
            SlotKind::ExpTarget => self.export_target(self.bits(slot.offset(), slot.count())),
            SlotKind::ExpSrc => self.export_source(slot),
            SlotKind::Saddr => {
                if self.is_off(self.bits(slot.offset(), slot.count())) {
                    if slot.extra() == 0 {
                        self.text.str("off");
                    }
                } else {
                    self.source(slot);
                }
            }
            SlotKind::GlobalAddr => {
                let scalar = slot.extra() != 0 && !self.is_off(self.bits(slot.returns(), 7));
                self.text.registers("v", self.bits(slot.offset(), slot.count()), if scalar { 1 } else { 2 });
            }
            SlotKind::ScratchAddr => {
                let used = match slot.extra() {
                    0 => {
                        let scalar = self.bits(slot.returns(), 7);
                        // RDNA 1 and 2 have two values for no scalar address, one of which means no address at all.
                        if self.gfx9() { scalar == 0x7f } else { scalar == NULL_GFX10 }
                    }
                    bit => self.bit(bit),
                };
                if used {
                    self.text.registers("v", self.bits(slot.offset(), slot.count()), 1);
                } else {
                    self.text.str("off");
                }
            }
            SlotKind::BufferAddr => {
                let count = self.bits(slot.extra(), 1) + self.bits(slot.returns(), 1);
                if count == 0 {
                    self.text.str("off");
                } else {
                    self.text.registers("v", self.bits(slot.offset(), slot.count()), count);
                }
            }
            SlotKind::BufferData => {
                let lds = slot.returns() != 0 && self.bit(slot.returns());
                if !lds {
                    let tfe = slot.extra() != 0 && self.bit(slot.extra());
                    self.vector_registers(slot, slot.dwords() + u32::from(tfe));
                }
            }
            SlotKind::SmemOffset => self.scalar_offset(slot),
            SlotKind::SignedHex => self.signed_hex(self.bits(slot.offset(), slot.count()), slot.count()),
            SlotKind::ImageData => self.image_data(slot),
            SlotKind::ImageAddr => self.image_address(slot),
            SlotKind::Nothing => {}
            SlotKind::MatrixSrc => {
                let number = self.bits(slot.offset(), slot.count()) & 0xff;
                let file = if self.is_acc(slot) { "a" } else { "v" };
                let count = self.inst.matrix_dwords(slot);
                self.text.registers(file, number, count);
            }
            SlotKind::TensorGroup => {
                let null = self.null_register();
                if self.bits(80, 8) != null || self.bits(88, 8) != null {
                    self.source(slot);
                }
            }
            SlotKind::DualDst => {
                let number = self.bits(slot.offset(), slot.count()) << 1 | (self.bits(slot.extra(), 1) ^ 1);
                self.text.registers("v", number, slot.dwords());
            }
        }
    }

    /// A number that LLVM writes in decimal where it is small.
    pub(super) fn inline_number(&mut self, value: u32) {
        if value <= 64 && !self.options.hex {
            self.text.dec(value);
        } else {
            self.text.hex(value.into());
        }
    }

    /// A number that LLVM writes in decimal.
    pub(super) fn number(&mut self, value: u32) {
        if self.options.hex {
            self.text.hex(value.into());
        } else {
            self.text.dec(value);
        }
    }

    pub(super) fn signed_hex(&mut self, raw: u32, count: u32) {
        let value = sign_extend(raw, count);
        if value < 0 {
            self.text.push(b'-');
        }
        self.text.hex(value.unsigned_abs().into());
    }

    fn null_register(&self) -> u32 {
        if self.gfx11_plus() { NULL_GFX11 } else { NULL_GFX10 }
    }

    /// Whether a scalar address field says that there is none.
    pub(super) fn is_off(&self, raw: u32) -> bool {
        match raw {
            0x7f => !self.gfx11_plus(),
            raw => !self.gfx9() && raw == self.null_register(),
        }
    }

    pub(super) fn vcc(&mut self) {
        self.text.str(if self.inst.wave_size() == 64 { "vcc" } else { "vcc_lo" });
    }

    fn compare_destination(&mut self) {
        match self.inst.sdwa().and_then(|sdwa| sdwa.sdst()) {
            Some(register) => {
                self.scalar(u32::from(register), if self.inst.wave_size() == 64 { 2 } else { 1 }, Value::I32)
            }
            None => self.vcc(),
        }
    }

    #[inline]
    pub(super) fn is_acc(&self, slot: Slot) -> bool {
        match slot.acc() {
            0 | 254 => false,
            255 => true,
            bit => self.bit(bit),
        }
    }

    /// A VGPR or AGPR of its own field.
    #[inline]
    pub(super) fn vector(&mut self, slot: Slot) {
        if slot.returns() != 0 && !self.bit(slot.returns()) {
            return;
        }
        let source = slot.source();
        if source == 3 || source == 7 {
            // A load to LDS has no destination.
            if slot.extra() == 0 || !self.bit(slot.extra()) {
                self.vector_registers(slot, self.vector_dwords(slot));
            }
        } else if source == 1 && self.form == Form::Sdwa {
            self.with_modifiers(slot, |writer| writer.source1_of_sdwa(slot));
        } else {
            self.with_modifiers(slot, |writer| writer.vector_registers(slot, slot.dwords()));
        }
    }

    /// Registers of a vector operand: matrices of wave64 are spread over twice as many lanes.
    #[inline]
    fn vector_dwords(&self, slot: Slot) -> u32 {
        if slot.acc() == 254 && self.inst.wave_size() == 64 { slot.dwords() / 2 } else { slot.dwords() }
    }

    fn source1_of_sdwa(&mut self, slot: Slot) {
        let number = self.bits(slot.offset(), slot.count());
        if self.inst.sdwa().is_some_and(|sdwa| sdwa.s1()) {
            self.scalar(number, slot.dwords(), slot.value());
        } else {
            self.text.registers("v", number, slot.dwords());
        }
    }

    #[inline]
    fn vector_registers(&mut self, slot: Slot, count: u32) {
        let raw = self.bits(slot.offset(), slot.count());
        // Fields of nine bits hold source values.
        if slot.count() == 9 && raw < 256 {
            return self.scalar(raw, count, slot.value());
        }
        let number = raw & 0xff;
        if self.is_acc(slot) {
            self.text.registers("a", number, count);
        } else {
            self.vgpr(slot, number, count);
        }
    }

    /// A VGPR with its half.
    #[inline]
    fn vgpr(&mut self, slot: Slot, number: u32, count: u32) {
        if !self.true16 || slot.half() == Half::None {
            self.text.registers("v", number, count);
            return;
        }
        let (number, high) = match slot.half() {
            Half::Bit7 => (number & 0x7f, number & 0x80 != 0),
            _ => (number, self.sources.half >> (slot.source() & 3) & 1 != 0),
        };
        self.text.push(b'v');
        self.text.dec(number);
        self.text.str(if high { ".h" } else { ".l" });
    }

    /// Writes a source between its modifiers.
    #[inline]
    fn with_modifiers(&mut self, slot: Slot, write: impl FnOnce(&mut Self)) {
        let source = slot.source();
        if source > 3 {
            return write(self);
        }
        if slot.extra() != 0 {
            let start = self.text.len();
            write(self);
            if self.bit(slot.extra()) {
                self.negate(start);
            }
            return;
        }
        let bits = self.sources;
        if (bits.neg | bits.abs | bits.sext) >> source & 1 == 0 {
            return write(self);
        }
        match slot.mods() {
            Mods::None => write(self),
            Mods::Float => {
                let (neg, abs) = (bits.neg >> source & 1 != 0, bits.abs >> source & 1 != 0);
                let start = self.text.len();
                if neg {
                    self.text.push(b'-');
                }
                if abs {
                    self.text.push(b'|');
                }
                let value = self.text.len();
                write(self);
                if neg && !abs && self.is_number(value) {
                    self.text.wrap_from(start, value, "neg(", ")");
                } else if abs {
                    self.text.push(b'|');
                }
            }
            Mods::Int => {
                if bits.sext >> source & 1 != 0 {
                    self.text.str("sext(");
                    write(self);
                    self.text.push(b')');
                } else {
                    write(self);
                }
            }
        }
    }

    /// Whether what is written from here on is a number, of which a minus sign before it would be part.
    fn is_number(&self, at: usize) -> bool {
        self.text.as_str().as_bytes().get(at).is_some_and(|b| b.is_ascii_digit() || *b == b'-')
    }

    /// Puts a minus sign before what was written from here on.
    fn negate(&mut self, at: usize) {
        if self.is_number(at) {
            self.text.wrap_from(at, at, "neg(", ")");
        } else {
            self.text.wrap_from(at, at, "-", "");
        }
    }

    /// A value of the source map.
    #[inline]
    pub(super) fn source(&mut self, slot: Slot) {
        let raw = self.bits(slot.offset(), slot.count()) << slot.scale();
        let source = slot.source();
        if source == 0 {
            match self.form {
                Form::Base | Form::Literal | Form::Literal64 | Form::Nsa => {}
                _ => return self.with_modifiers(slot, |writer| writer.source_of_variant(slot)),
            }
        }
        self.with_modifiers(slot, |writer| writer.plain_source(slot, raw));
    }

    #[inline]
    fn plain_source(&mut self, slot: Slot, raw: u32) {
        if raw >= 256 {
            if self.is_acc(slot) {
                self.text.registers("a", raw - 256, slot.dwords());
            } else {
                self.vgpr(slot, raw - 256, self.vector_dwords(slot));
            }
        } else {
            self.scalar(raw, self.mask_dwords(slot), slot.value());
        }
    }

    /// Registers of a lane mask depend on the size of waves.
    #[inline]
    fn mask_dwords(&self, slot: Slot) -> u32 {
        match slot.dwords() {
            MASK => {
                if self.inst.wave_size() == 64 {
                    2
                } else {
                    1
                }
            }
            count => count,
        }
    }

    /// Source 0 of a DPP or SDWA form.
    #[inline(never)]
    fn source_of_variant(&mut self, slot: Slot) {
        if let Some(dpp) = self.inst.dpp16() {
            self.vgpr(slot, dpp.vsrc0().into(), slot.dwords());
        } else if let Some(dpp) = self.inst.dpp8() {
            self.vgpr(slot, dpp.vsrc0().into(), slot.dwords());
        } else if let Some(sdwa) = self.inst.sdwa() {
            if sdwa.s0() {
                self.scalar(sdwa.src0().into(), slot.dwords(), slot.value());
            } else {
                self.text.registers("v", sdwa.src0().into(), slot.dwords());
            }
        }
    }

    /// A source value from 0 to 255.
    pub(super) fn scalar(&mut self, raw: u32, count: u32, value: Value) {
        let Some(&source) = self.inst.tables().sources.get(raw as usize) else { return };
        match source {
            Source::Sgpr(number) => self.text.registers("s", number.into(), count),
            Source::Ttmp(number) => self.text.registers("ttmp", number.into(), count),
            Source::Int(number) => self.text.signed(number.into()),
            Source::Float(number) => self.float(number, value),
            Source::Special(register) => self.special(register, count),
            Source::Literal | Source::Literal64 => self.any_literal(source == Source::Literal64, value),
            Source::Reserved => self.text.str("<reserved>"),
        }
    }

    #[inline(never)]
    fn any_literal(&mut self, wide: bool, value: Value) {
        if wide {
            self.literal64(self.inst.literal64().unwrap_or_default(), value);
        } else {
            self.literal(self.inst.literal().unwrap_or_default(), value);
        }
    }

    fn float(&mut self, number: Float, value: Value) {
        self.text.str(match number {
            Float::Half => "0.5",
            Float::NegHalf => "-0.5",
            Float::One => "1.0",
            Float::NegOne => "-1.0",
            Float::Two => "2.0",
            Float::NegTwo => "-2.0",
            Float::Four => "4.0",
            Float::NegFour => "-4.0",
            Float::InvTwoPi => match value {
                Value::F64 | Value::I64 => "0.15915494309189532",
                _ => "0.15915494",
            },
        });
    }

    fn special(&mut self, register: Special, count: u32) {
        let pair = count == 2;
        self.text.str(match (register, pair) {
            (Special::VccLo, true) => "vcc",
            (Special::VccLo, _) => "vcc_lo",
            (Special::VccHi, _) => "vcc_hi",
            (Special::ExecLo, true) => "exec",
            (Special::ExecLo, _) => "exec_lo",
            (Special::ExecHi, _) => "exec_hi",
            (Special::M0, _) => "m0",
            (Special::Null, _) => "null",
            (Special::FlatScratchLo, true) => "flat_scratch",
            (Special::FlatScratchLo, _) => "flat_scratch_lo",
            (Special::FlatScratchHi, _) => "flat_scratch_hi",
            (Special::XnackMaskLo, true) => "xnack_mask",
            (Special::XnackMaskLo, _) => "xnack_mask_lo",
            (Special::XnackMaskHi, _) => "xnack_mask_hi",
            (Special::TbaLo, true) => "tba",
            (Special::TbaLo, _) => "tba_lo",
            (Special::TbaHi, _) => "tba_hi",
            (Special::TmaLo, true) => "tma",
            (Special::TmaLo, _) => "tma_lo",
            (Special::TmaHi, _) => "tma_hi",
            (Special::SharedBase, _) => "src_shared_base",
            (Special::SharedLimit, _) => "src_shared_limit",
            (Special::PrivateBase, _) => "src_private_base",
            (Special::PrivateLimit, _) => "src_private_limit",
            (Special::FlatScratchBaseLo, _) => "src_flat_scratch_base_lo",
            (Special::FlatScratchBaseHi, _) => "src_flat_scratch_base_hi",
            (Special::PopsExitingWaveId, _) => "src_pops_exiting_wave_id",
            (Special::Vccz, _) => "src_vccz",
            (Special::Execz, _) => "src_execz",
            (Special::Scc, _) => "src_scc",
            (Special::LdsDirect, _) => "src_lds_direct",
        });
    }

    /// The constant of FMAMK and FMAAK.
    fn constant(&mut self, slot: Slot) {
        let low = self.bits(slot.offset(), 32);
        if slot.dwords() == 2 {
            let high = self.bits(slot.offset() + 32, 32);
            self.literal64(u64::from(high) << 32 | u64::from(low), slot.value());
        } else if slot.extra() != 0 {
            self.literal_as_inline(low);
        } else if matches!(slot.value(), Value::F16 | Value::Bf16 | Value::I16) {
            self.text.hex(u64::from(low & 0xffff));
        } else {
            self.text.hex(low.into());
        }
    }

    /// A literal written like the inline constant of its value, where there is one.
    fn literal_as_inline(&mut self, value: u32) {
        let float = match value {
            0x3f00_0000 => "0.5",
            0xbf00_0000 => "-0.5",
            0x3f80_0000 => "1.0",
            0xbf80_0000 => "-1.0",
            0x4000_0000 => "2.0",
            0xc000_0000 => "-2.0",
            0x4080_0000 => "4.0",
            0xc080_0000 => "-4.0",
            0x3e22_f983 => "0.15915494",
            _ if is_inline_int(i64::from(value as i32)) => return self.text.signed(value as i32),
            _ => return self.text.hex(value.into()),
        };
        self.text.str(float);
    }

    /// A 32-bit literal: `lit(..)` where the number alone would mean an inline constant.
    fn literal(&mut self, value: u32, ty: Value) {
        // Of 16-bit operands only the low half is written, but for literals in need of a marker.
        let short = |inline| if inline { (value, true) } else { (value & 0xffff, false) };
        let (shown, inline) = match ty {
            Value::I16 => short(is_inline_f32(value)),
            Value::F16 => short(is_inline_f16(value as u16)),
            Value::Bf16 => short(is_inline_bf16(value as u16)),
            Value::V2F16 => {
                (value, is_inline_f16(value as u16) && value >> 16 == 0 || is_inline_int(i64::from(value as i32)))
            }
            Value::V2Bf16 => {
                (value, is_inline_bf16(value as u16) && value >> 16 == 0 || is_inline_int(i64::from(value as i32)))
            }
            Value::NoInline => {
                let short = value as u16 as i16;
                return if is_inline_int(short.into()) {
                    self.text.signed(short.into())
                } else {
                    self.text.hex(u64::from(value & 0xffff))
                };
            }
            Value::F64 => (value, is_inline_f64(u64::from(value) << 32)),
            Value::I64 | Value::Lit64 => (value, is_inline_f64(u64::from(value)) || is_inline_int(i64::from(value))),
            _ => (value, is_inline_f32(value)),
        };
        if inline {
            self.text.str("lit(");
        }
        self.text.hex(shown.into());
        if inline {
            self.text.push(b')');
        }
    }

    /// A 64-bit literal: `lit64(..)` where the number alone would fit 32 bits.
    fn literal64(&mut self, value: u64, ty: Value) {
        let marker = match ty {
            Value::F64 if value as u32 == 0 => return self.text.hex(value >> 32),
            Value::F64 | Value::Lit64 if value >> 32 == 0 => "lit64(",
            Value::F64 => "",
            Value::I64 | Value::Lit64 if is_inline_f64(value) => "lit(",
            Value::I64 | Value::Lit64 => "",
            // A narrower operand reads its part of the literal.
            _ => "lit64(",
        };
        self.text.str(marker);
        self.text.hex(value);
        if !marker.is_empty() {
            self.text.push(b')');
        }
    }

    fn attribute(&mut self, slot: Slot) {
        self.text.str("attr");
        self.text.dec(self.bits(slot.offset(), slot.count()));
        self.text.push(b'.');
        let channel = self.bits(slot.extra(), 2);
        self.text.push(b"xyzw"[channel as usize & 3]);
    }

    fn export_source(&mut self, slot: Slot) {
        let enabled = self.bits(0, 4);
        let compressed = slot.extra() != 0 && self.bit(slot.extra());
        let number = slot.source();
        // Compressed exports use sources 0 and 1 and two bits for each.
        let (bit, offset) = if compressed {
            (number, slot.offset().saturating_sub(if number >= 2 { 8 } else { 0 }))
        } else {
            (number, slot.offset())
        };
        if enabled >> bit & 1 == 0 {
            self.text.str("off");
        } else if compressed {
            let field = 32 + 8 * (number / 2);
            let _ = offset;
            self.text.registers("v", self.bits(field, 8), 1);
        } else {
            self.text.registers("v", self.bits(offset, 8), 1);
        }
    }

    /// The offset of a scalar memory access: a register, an immediate, or both.
    fn scalar_offset(&mut self, slot: Slot) {
        let bits = slot.dwords();
        let immediate = self.bits(32, bits);
        let register = self.bits(slot.offset(), slot.count());
        if self.gfx9() {
            let (has_immediate, has_register) = (self.bit(slot.extra()), self.bit(slot.returns()));
            match (has_immediate, has_register) {
                (true, true) => {
                    self.scalar(register, 1, Value::I32);
                    self.text.str(" offset:");
                    self.signed_hex(immediate, bits);
                }
                (true, false) => self.signed_hex(immediate, bits),
                (false, true) => self.scalar(register, 1, Value::I32),
                (false, false) => self.scalar(immediate & 0x7f, 1, Value::I32),
            }
            return;
        }
        if register == self.null_register() && (immediate != 0 || self.gfx12_plus()) {
            self.signed_hex(immediate, bits);
            return;
        }
        self.scalar(register, 1, Value::I32);
        if immediate != 0 || self.gfx12_plus() {
            self.text.str(" offset:");
            self.signed_hex(immediate, bits);
        }
    }

    fn export_target(&mut self, target: u32) {
        let gfx10 = !self.gfx9();
        let (name, number) = match target {
            0..=7 => ("mrt", Some(target)),
            8 => ("mrtz", None),
            9 if !self.gfx11_plus() => ("null", None),
            12..=15 => ("pos", Some(target - 12)),
            16 if gfx10 => ("pos", Some(4)),
            20 if gfx10 => ("prim", None),
            21 | 22 if self.gfx11_plus() => ("dual_src_blend", Some(target - 21)),
            32..=63 if !self.gfx11_plus() => ("param", Some(target - 32)),
            _ => ("invalid_target_", Some(target)),
        };
        self.text.str(name);
        if let Some(number) = number {
            self.text.dec(number);
        }
    }

    fn gpr_index_modes(&mut self, modes: u32) {
        if modes > 15 {
            return self.text.hex(modes.into());
        }
        self.text.str("gpr_idx(");
        let mut first = true;
        for (bit, name) in names::GPR_INDEX_MODES.iter().enumerate() {
            if modes >> bit & 1 != 0 {
                if !first {
                    self.text.push(b',');
                }
                self.text.str(name);
                first = false;
            }
        }
        self.text.push(b')');
    }
}

/// [`Slot::dwords`] of lane masks.
pub(crate) const MASK: u32 = 62;

/// A number of some bits with its sign.
pub(super) const fn sign_extend(raw: u32, count: u32) -> i32 {
    let unused = 32 - count;
    (raw << unused) as i32 >> unused
}

pub(crate) const fn is_inline_int(value: i64) -> bool {
    value >= -16 && value <= 64
}

pub(crate) const fn is_inline_f16(bits: u16) -> bool {
    is_inline_int(bits as i16 as i64)
        || matches!(bits, 0x3800 | 0xb800 | 0x3c00 | 0xbc00 | 0x4000 | 0xc000 | 0x4400 | 0xc400 | 0x3118)
}

pub(crate) const fn is_inline_bf16(bits: u16) -> bool {
    is_inline_int(bits as i16 as i64)
        || matches!(bits, 0x3f00 | 0xbf00 | 0x3f80 | 0xbf80 | 0x4000 | 0xc000 | 0x4080 | 0xc080 | 0x3e22)
}

pub(crate) const fn is_inline_f32(bits: u32) -> bool {
    is_inline_int(bits as i32 as i64)
        || matches!(
            bits,
            0x3f00_0000
                | 0xbf00_0000
                | 0x3f80_0000
                | 0xbf80_0000
                | 0x4000_0000
                | 0xc000_0000
                | 0x4080_0000
                | 0xc080_0000
                | 0x3e22_f983
        )
}

pub(crate) const fn is_inline_f64(bits: u64) -> bool {
    is_inline_int(bits as i64)
        || matches!(
            bits,
            0x3fe0_0000_0000_0000
                | 0xbfe0_0000_0000_0000
                | 0x3ff0_0000_0000_0000
                | 0xbff0_0000_0000_0000
                | 0x4000_0000_0000_0000
                | 0xc000_0000_0000_0000
                | 0x4010_0000_0000_0000
                | 0xc010_0000_0000_0000
                | 0x3fc4_5f30_6dc9_c882
        )
}
