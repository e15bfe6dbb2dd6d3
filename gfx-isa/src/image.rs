//! Which registers hold the data and the address of an image instruction.

use crate::Generation;
use crate::generated::field::Field;
use crate::inst::Inst;
use crate::syntax::{Slot, SlotKind};
use crate::table::Form;

/// [`Slot::extra`] of image data: atomics.
const ATOMIC: u32 = 1;
/// As many registers as the slot says.
const FIXED: u32 = 2;
/// Four components whatever DMASK says.
const GATHER: u32 = 4;
const COMPARE_SWAP: u32 = 9;
const MULTISAMPLE: u32 = 12;

/// Most runs of an address.
const RUNS: usize = 13;

/// Runs of vector registers: first and count.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Runs {
    runs: [(u16, u8); RUNS],
    len: usize,
    /// Written in brackets.
    pub(crate) list: bool,
}

impl Runs {
    fn one(first: u32, count: u32) -> Runs {
        let mut runs = Runs { runs: [(0, 0); RUNS], len: 0, list: false };
        runs.push(first, count);
        runs
    }

    fn list() -> Runs {
        Runs { runs: [(0, 0); RUNS], len: 0, list: true }
    }

    fn push(&mut self, first: u32, count: u32) {
        if let Some(place) = self.runs.get_mut(self.len) {
            *place = (first as u16, count as u8);
            self.len += 1;
        }
    }

    pub(crate) fn as_slice(&self) -> &[(u16, u8)] {
        &self.runs[..self.len]
    }
}

impl Inst {
    fn is_gfx11_plus(&self) -> bool {
        matches!(self.generation(), Generation::Rdna3 | Generation::Rdna3_5) || self.is_gfx12_plus()
    }

    fn is_gfx12_plus(&self) -> bool {
        matches!(self.generation(), Generation::Rdna4 | Generation::Cdna5)
    }

    fn field_or_zero(&self, field: Field) -> u32 {
        self.field(field).unwrap_or_default()
    }

    /// Dwords of image data: a register for each bit of DMASK, half as many for packed 16-bit data, one more for TFE.
    pub(crate) fn image_data_registers(&self, slot: Slot) -> u32 {
        let first = self.bits(slot.offset(), slot.count());
        let kind = slot.extra();
        let usual = match kind {
            FIXED => slot.dwords(),
            COMPARE_SWAP | GATHER | MULTISAMPLE => 2,
            _ => 1,
        };
        match self.image_data_dwords(kind, first) {
            Some(count) if kind != FIXED && self.image_address_fits() => count,
            _ => usual,
        }
    }

    /// Dwords of image data; none where LLVM has no such variant or the registers run out. It then shows its first
    /// variant of the instruction.
    fn image_data_dwords(&self, kind: u32, first: u32) -> Option<u32> {
        let mut count = match kind {
            GATHER | MULTISAMPLE => 4,
            _ => self.field_or_zero(Field::DMASK).count_ones().max(1),
        };
        if self.field_or_zero(Field::D16) != 0 {
            count = count.div_ceil(2);
        }
        count += u32::from(self.field_or_zero(Field::TFE) != 0);
        let exists = match kind {
            ATOMIC => count <= 3,
            COMPARE_SWAP => count >= 2,
            GATHER => count != 3,
            _ => true,
        };
        // On CDNA 2 a run begins at an even number.
        let even = self.generation() != Generation::Cdna2 || count == 1 || first.is_multiple_of(2);
        (exists && first + count <= 256 && even).then_some(count)
    }

    /// Registers of the address of an image instruction.
    pub(crate) fn image_address_registers(&self, slot: Slot) -> Runs {
        let first = self.bits(slot.offset(), slot.count());
        let a16 = self.field_or_zero(Field::A16) != 0;
        let kind = slot.extra();
        if kind & 128 != 0 {
            return self.ray(kind, first, a16);
        }
        let data = self.field_slot_of_data();
        let count = self.address_dwords(kind, a16);
        let fits = data.is_none_or(|(kind, first)| self.image_data_dwords(kind, first).is_some());
        let range = !self.is_gfx12_plus() && self.form() != Form::Nsa;
        if range && (!fits || !self.image_address_fits()) {
            return Runs::one(first, address_dwords_gfx9(kind));
        }
        match self.form() {
            Form::Nsa => self.address_list(first, count),
            _ if self.is_gfx12_plus() => self.address_list_gfx12(count),
            _ => Runs::one(first, address_class(count)),
        }
    }

    /// Whether there are enough registers for an address that is a range.
    fn image_address_fits(&self) -> bool {
        if self.form() == Form::Nsa || self.is_gfx12_plus() {
            return true;
        }
        let slots = self.row().syntax().slots();
        slots.iter().find(|slot| slot.kind() == SlotKind::ImageAddr && slot.extra() & 128 == 0).is_none_or(|slot| {
            let a16 = self.field_or_zero(Field::A16) != 0;
            let count = address_class(self.address_dwords(slot.extra(), a16));
            self.bits(slot.offset(), slot.count()) + count <= 256
        })
    }

    /// Kind and first register of the data of an image instruction.
    fn field_slot_of_data(&self) -> Option<(u32, u32)> {
        let slots = self.row().syntax().slots();
        let slot = slots.iter().find(|slot| slot.kind() == SlotKind::ImageData && slot.extra() != FIXED)?;
        Some((slot.extra(), self.bits(slot.offset(), slot.count())))
    }

    /// Dwords of the address of an image instruction.
    fn address_dwords(&self, kind: u32, a16: bool) -> u32 {
        // Coordinates, derivatives in each direction, whether there is a slice.
        const DIMENSIONS: [(u32, u32); 8] = [(1, 2), (2, 4), (3, 6), (3, 4), (2, 2), (3, 4), (3, 4), (4, 4)];
        let dim = match self.field(Field::DIM) {
            Some(dim) => dim,
            // A gather has two coordinates and may have a level or clamp; with 16 bits each two fill a register.
            None if a16 && kind >> 3 & 1 != 0 && self.field_slot_of_data().is_some_and(|(data, _)| data == GATHER) => {
                return address_dwords_gfx9(kind) + 1;
            }
            None => return address_dwords_gfx9(kind),
        };
        if kind & 64 != 0 {
            return 1;
        }
        let (coordinates, derivatives) = DIMENSIONS[dim as usize & 7];
        let coordinates = coordinates + (kind >> 3 & 1);
        let extra = kind & 1;
        let compare = kind >> 1 & 1;
        let bias = kind >> 2 & 1;
        let derivatives = if kind >> 4 & 1 != 0 { derivatives } else { 0 };
        let derivatives = if kind >> 5 & 1 != 0 { (derivatives / 2).div_ceil(2) * 2 } else { derivatives };
        let coordinates = if a16 { coordinates.div_ceil(2) } else { coordinates };
        extra + compare + bias + derivatives + coordinates
    }

    /// Addresses in separate registers: the first, then the bytes of the dwords that follow.
    fn address_list(&self, first: u32, count: u32) -> Runs {
        let at = self.row().dwords() as u32 * 32;
        let most = 1 + (self.words().len() as u32 * 32 - at) / 8;
        let gfx11 = self.is_gfx11_plus();
        let limit = if gfx11 { 5 } else { 13 };
        let mut runs = Runs::list();
        for index in 0..count.min(most).min(limit) {
            let register = if index == 0 { first } else { self.bits(at + 8 * (index - 1), 8) };
            let last = gfx11 && index == 4 && count > 5;
            runs.push(register, if last { count - 4 } else { 1 });
        }
        runs
    }

    /// RDNA 4: up to four or five registers, the last of which begins the rest.
    fn address_list_gfx12(&self, count: u32) -> Runs {
        let sample = self.field(Field::SAMP).is_some();
        let fields: &[u32] = if sample { &[64, 72, 80, 88] } else { &[64, 72, 80, 88, 56] };
        if count == 1 {
            return Runs::one(self.bits(fields[0], 8), 1);
        }
        let mut runs = Runs::list();
        for (index, &offset) in fields.iter().enumerate().take(count as usize) {
            let rest = if index + 1 == fields.len() { count - index as u32 } else { 1 };
            runs.push(self.bits(offset, 8), rest);
        }
        runs
    }

    /// The operands of a ray intersection.
    fn ray(&self, kind: u32, first: u32, a16: bool) -> Runs {
        let wide = kind & 1 != 0;
        if self.is_gfx12_plus() {
            let (dual, eight) = (kind & 2 != 0, kind & 4 != 0);
            let sizes: &[u32] = match (dual || eight, wide, a16) {
                (true, ..) => &[2, 2, 3, 3, 1],
                (_, true, false) => &[2, 1, 3, 3, 3],
                (_, true, true) => &[2, 1, 3, 3],
                (_, false, false) => &[1, 1, 3, 3, 3],
                (_, false, true) => &[1, 1, 3, 3],
            };
            let sizes: &[u32] = if dual { &[2, 2, 3, 3, 2] } else { sizes };
            return self.ray_list(sizes, &[64, 72, 80, 88, 56]);
        }
        let count = match (wide, a16) {
            (false, false) => 11,
            (true, false) => 12,
            (false, true) => 8,
            (true, true) => 9,
        };
        if self.form() != Form::Nsa {
            return Runs::one(first, address_class(count));
        }
        if !self.is_gfx11_plus() {
            return self.address_list(first, count);
        }
        let base = self.row().dwords() as u32 * 32;
        let sizes: &[u32] = match (wide, a16) {
            (false, false) => &[1, 1, 3, 3, 3],
            (true, false) => &[2, 1, 3, 3, 3],
            (false, true) => &[1, 1, 3, 3],
            (true, true) => &[2, 1, 3, 3],
        };
        self.ray_list(sizes, &[32, base, base + 8, base + 16, base + 24])
    }

    fn ray_list(&self, sizes: &[u32], offsets: &[u32]) -> Runs {
        let mut runs = Runs::list();
        for (&size, &offset) in sizes.iter().zip(offsets) {
            runs.push(self.bits(offset, 8), size);
        }
        runs
    }
}

fn address_dwords_gfx9(kind: u32) -> u32 {
    if kind & 64 != 0 {
        return 1;
    }
    1 + (kind & 1) + (kind >> 1 & 1) + (kind >> 2 & 1) + (kind >> 4 & 1)
}

/// Registers of the smallest of LLVM's register classes that holds so many.
fn address_class(count: u32) -> u32 {
    match count {
        0..=12 => count.max(1),
        _ => 16,
    }
}
