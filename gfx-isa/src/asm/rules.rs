//! Rules that concern several operands.

use super::encode::{Encoder, Result, Why};
use super::parse::{ModValue, ids};
use crate::Generation;
use crate::syntax::{Family, Slot, SlotKind};

/// Scalar registers that an instruction reads over the constant bus.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Bus {
    values: [u16; 4],
    pub(super) count: u8,
}

impl Bus {
    pub(super) fn add(&mut self, value: u16) {
        let known = self.values[..usize::from(self.count)].contains(&value);
        if let (false, Some(place)) = (known, self.values.get_mut(usize::from(self.count))) {
            *place = value;
            self.count += 1;
        }
    }
}

impl Encoder<'_> {
    /// Whether a constant stands between source 0 and this source of a dual instruction.
    pub(super) fn literal_before(&self, slot: Slot) -> bool {
        let slots = self.row.syntax().slots();
        slot.source() == 1 && self.family == Family::Vopd && slots.len() == 4 && slots[2].kind() == SlotKind::Literal
    }

    /// Checks how many scalar values the instruction reads.
    pub(super) fn constant_bus(&self) -> Result<()> {
        if matches!(self.family, Family::Plain | Family::Vopd | Family::Vopd3) {
            return Ok(());
        }
        let count = u32::from(self.bus.count) + u32::from(self.literal.is_some() && self.row.mandatory() == 0);
        if count < 2 {
            return Ok(());
        }
        let name = self.row.op().name();
        if name.starts_with("V_WRITELANE") || name.starts_with("V_READLANE") {
            return Ok(());
        }
        let shift = matches!(
            name,
            "V_LSHLREV_B64" | "V_LSHRREV_B64" | "V_ASHRREV_I64" | "V_LSHL_B64" | "V_LSHR_B64" | "V_ASHR_I64"
        );
        if self.cx.gfx9() || (shift && self.cx.generation != Generation::Cdna5) {
            return Err(Why::Rule("the constant bus takes one scalar register or literal, not two"));
        }
        if count > 2 {
            return Err(Why::Rule("the constant bus takes two scalar registers or literals, not three"));
        }
        Ok(())
    }

    /// Checks that image data have as many registers as DMASK, D16 and TFE say.
    pub(super) fn image_data_size(&self) -> Result<()> {
        let Some((count, slot)) = self.image_data.filter(|(_, slot)| slot.extra() & 2 == 0) else { return Ok(()) };
        let number = |id| match self.line.modifier(id).map(|m| m.value) {
            Some(ModValue::Int(value)) => value as u32,
            Some(ModValue::Flag(set)) => u32::from(set),
            _ => 0,
        };
        let mask = number(ids::DMASK);
        let mut expected = if slot.extra() & 4 != 0 { 4 } else { mask.count_ones().max(1) };
        if number(ids::D16) != 0 {
            expected = expected.div_ceil(2);
        }
        expected += number(ids::TFE);
        if u32::from(count) == expected {
            Ok(())
        } else {
            Err(Why::Rule("the data's registers do not match `dmask`, `d16` and `tfe`"))
        }
    }
}
