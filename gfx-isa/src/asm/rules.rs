//! Rules that concern several operands.

use super::encode::{Context, Encoder, Result, Why};
use super::parse::{ModValue, ids};
use crate::Generation;
use crate::syntax::{Family, Slot, SlotKind};
use crate::table::Row;

/// Scalar registers that an instruction reads over the constant bus.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Bus {
    values: [u16; 4],
    pub(super) count: u8,
}

/// Source values of VCC and M0 before RDNA 3.
const VCC: u16 = 106;
const M0: u16 = 124;

impl Bus {
    fn holds(self, value: u16) -> bool {
        self.values[..usize::from(self.count)].contains(&value)
    }

    pub(super) fn add(&mut self, value: u16) {
        if let (false, Some(place)) = (self.holds(value), self.values.get_mut(usize::from(self.count))) {
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
        let name = self.row.op().name();
        // RDNA's two places leave room for the constant of FMAMK and FMAAK.
        let literal = self.literal.is_some() && (self.row.mandatory() == 0 || self.cx.gfx9());
        let mut bus = self.bus;
        if name.starts_with("V_DIV_FMAS") {
            // It reads VCC without naming it.
            bus.add(VCC);
        }
        // As a lane's number M0 does not come over the bus.
        let free = name.starts_with("V_WRITELANE") && bus.holds(M0);
        let count = u32::from(bus.count) + u32::from(literal) - u32::from(free);
        if count < 2 {
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

/// Vector registers of a half of a dual-issue word: sources 0 to 2 and the destination.
type Vectors = [Option<(u16, u8)>; 4];

/// Sources of the same number must lie in different banks of vector registers: the number modulo 4.
pub(super) fn dual_conflict(cx: Context<'_>, (row, x): (Row, Vectors), (row_y, y): (Row, Vectors)) -> Option<Why> {
    // Banks of both halves of a 64-bit register; CDNA 5 reads a register once for both.
    let once = cx.generation == Generation::Cdna5;
    let meets = |x: Option<(u16, u8)>, y: Option<(u16, u8)>| {
        let registers = |(first, count): (u16, u8)| (first..first + u16::from(count)).take(2);
        let (Some(x), Some(y)) = (x, y) else { return false };
        let same = once && x == y;
        !same && registers(x).any(|x| registers(y).any(|y| x % 4 == y % 4))
    };
    // Two moves: since RDNA 4 that of Y reads by the way of source 2.
    let is_move = |row: Row| row.op() == crate::Op::V_DUAL_MOV_B32;
    let moves = cx.gfx12_plus() && is_move(row) && is_move(row_y);
    if meets(x[0], y[0]) && !moves {
        return Some(Why::Rule("source 0 of X and of Y must be registers of different banks (number modulo 4)"));
    }
    if meets(x[1], y[1]) {
        return Some(Why::Rule("source 1 of X and of Y must be registers of different banks (number modulo 4)"));
    }
    if row.syntax().family != Family::Vopd3 {
        return None;
    }
    // An accumulating half reads its destination as source 2.
    let third = |row: Row, vectors: Vectors| {
        let name = row.op().name();
        if name.contains("FMAC") || name.contains("DOT2ACC") { vectors[3] } else { vectors[2] }
    };
    if meets(third(row, x), third(row_y, y)) {
        return Some(Why::Rule("source 2 of X and of Y must be registers of different banks (number modulo 4)"));
    }
    let overlap = |x: Option<(u16, u8)>, y: Option<(u16, u8)>| {
        let (Some((x, of_x)), Some((y, of_y))) = (x, y) else { return false };
        x < y + u16::from(of_y) && y < x + u16::from(of_x)
    };
    overlap(x[3], y[3]).then_some(Why::Rule("the destinations of X and Y must be different registers"))
}
