//! Operands of memory, image, interpolation and export instructions.

use super::encode::{Encoder, Result, Why};
use super::parse::{Arg, ModValue, Value, ids, range};
use crate::operand::RegFile;
use crate::syntax::{Slot, SlotKind};
use crate::table::Form;

impl Encoder<'_> {
    /// Whether the vector address of a scratch access is `off`.
    pub(super) fn no_vector_address(&self) -> bool {
        let scratch = self.row.syntax().slots().iter().any(|s| s.kind() == SlotKind::ScratchAddr);
        scratch && self.line.args().iter().filter(|arg| arg.value == Value::Off).count() == 2
    }

    pub(super) fn attribute(&mut self, slot: Slot, attribute: u32, channel: u32) {
        self.set(slot.offset(), slot.count(), attribute);
        self.set(slot.extra(), 2, channel);
    }

    pub(super) fn export_source(&mut self, slot: Slot, arg: &Arg, number: u8) -> Result<()> {
        let source = slot.source();
        let compressed = slot.extra() != 0 && self.line.modifier(ids::COMPR).is_some();
        if arg.value == Value::Off {
            return Ok(());
        }
        let reg = self.vgpr(arg, number)?;
        if compressed {
            self.set(source, 1, 1);
            if source.is_multiple_of(2) {
                self.set(32 + 4 * source, 8, reg.first.into());
            }
        } else {
            self.set(source, 1, 1);
            self.set(slot.offset(), slot.count(), reg.first.into());
        }
        Ok(())
    }

    /// The offset of a scalar memory access: a register, an immediate, or both.
    pub(super) fn scalar_offset(&mut self, slot: Slot, arg: &Arg, number: u8) -> Result<()> {
        let bits = slot.dwords();
        let named = match self.line.modifier(ids::OFFSET).map(|m| m.value) {
            Some(ModValue::Int(value)) => Some(value),
            _ => None,
        };
        let (register, immediate) = match arg.value {
            Value::Int(value) => (None, Some(value)),
            _ => {
                self.used |= 1 << ids::OFFSET;
                let register =
                    self.scalar_register(arg, 1).ok_or(Why::Operand(number, "a scalar register or a number"))?;
                (Some(register), named)
            }
        };
        if immediate.is_some_and(|value| value < -(1i64 << (bits - 1)) || value >= 1i64 << bits) {
            return Err(Why::Operand(number, "an offset that fits its field"));
        }
        if self.cx.gfx9() {
            match (register, immediate) {
                (Some(register), None) => self.set(32, bits, register),
                (register, immediate) => {
                    self.set(slot.extra(), 1, 1);
                    self.set(32, bits, immediate.unwrap_or_default() as u32);
                    if let Some(register) = register {
                        self.set(slot.returns(), 1, 1);
                        self.set(slot.offset(), slot.count(), register);
                    }
                }
            }
            return Ok(());
        }
        let off = self.cx.off();
        self.set(slot.offset(), slot.count(), register.unwrap_or(off));
        self.set(32, bits, immediate.unwrap_or_default() as u32);
        Ok(())
    }

    pub(super) fn image_address(&mut self, slot: Slot, arg: &Arg, number: u8) -> Result<()> {
        let (first, count) = match arg.value {
            Value::List(first, count) => (first, count),
            _ => {
                let reg = self.vgpr(arg, number)?;
                let offset = if self.cx.gfx12_plus() { 64 } else { slot.offset() };
                self.set(offset, 8, reg.first.into());
                return Ok(());
            }
        };
        let list = self.line.list(first, count);
        if list.iter().any(|reg| reg.file != RegFile::Vgpr) {
            return Err(Why::Operand(number, "vector registers"));
        }
        if self.cx.gfx9() {
            let reg = range(list).ok_or(Why::Operand(number, "consecutive registers"))?;
            self.set(slot.offset(), 8, reg.first.into());
            return Ok(());
        }
        if self.cx.gfx12_plus() {
            let places: &[u32] = &[64, 72, 80, 88, 56];
            if list.len() > places.len() {
                return Err(Why::Operand(number, "at most five registers"));
            }
            for (reg, &place) in list.iter().zip(places) {
                self.set(place, 8, reg.first.into());
            }
            return Ok(());
        }
        self.set(slot.offset(), 8, list[0].first.into());
        let rest = &list[1..];
        if rest.len() > self.nsa.len() {
            return Err(Why::Operand(number, "fewer registers"));
        }
        for (place, reg) in self.nsa.iter_mut().zip(rest) {
            *place = reg.first as u8;
        }
        self.nsa_dwords = rest.len().div_ceil(4);
        if self.nsa_dwords > 0 {
            self.form = Form::Nsa;
        }
        Ok(())
    }
}
