//! Writes structured immediates and image operands.

use super::Writer;
use crate::syntax::{Slot, SlotKind, names};
use crate::table::Form;
use crate::{Field, Generation};

/// [`Slot::extra`] of image data.
const ATOMIC: u32 = 1;
/// All registers of the operand.
const FIXED: u32 = 2;
const GATHER: u32 = 4;
const COMPARE_SWAP: u32 = 9;
const MULTISAMPLE: u32 = 12;

impl Writer<'_> {
    pub(super) fn hardware_register(&mut self, value: u32) {
        let (id, offset, size) = (value & 63, value >> 6 & 31, (value >> 11 & 31) + 1);
        self.text.str("hwreg(");
        match names::name_of(names::hardware_registers(self.generation), id) {
            Some(name) => self.text.str(name),
            None => self.text.dec(id),
        }
        if (offset, size) != (0, 32) {
            self.text.str(", ");
            self.text.dec(offset);
            self.text.str(", ");
            self.text.dec(size);
        }
        self.text.push(b')');
    }

    pub(super) fn message(&mut self, value: u32) {
        const GS: u32 = 2;
        const GS_DONE: u32 = 3;
        const SYSMSG: u32 = 15;
        let gfx11 = self.gfx11_plus();
        let (id, operation, stream) =
            if gfx11 { (value & 0xff, 0, 0) } else { (value & 15, value >> 4 & 7, value >> 8 & 3) };
        let name = names::name_of(names::messages(self.generation), id);
        let operation_name = match id {
            GS if !gfx11 && (1..4).contains(&operation) => Some(names::GS_OPERATIONS[operation as usize]),
            GS_DONE if !gfx11 && operation < 4 => Some(names::GS_OPERATIONS[operation as usize]),
            SYSMSG if !gfx11 => names::name_of(&names::SYSTEM_OPERATIONS, operation),
            _ => None,
        };
        let needs_operation = !gfx11 && matches!(id, GS | GS_DONE | SYSMSG);
        let has_stream = !gfx11 && matches!(id, GS | GS_DONE) && operation != 0;
        let valid =
            (if needs_operation { operation_name.is_some() } else { operation == 0 }) && (has_stream || stream == 0);
        match name {
            Some(name) if valid => {
                self.text.str("sendmsg(");
                self.text.str(name);
                if let Some(operation) = operation_name {
                    self.text.str(", ");
                    self.text.str(operation);
                    if has_stream {
                        self.text.str(", ");
                        self.text.dec(stream);
                    }
                }
                self.text.push(b')');
            }
            _ if id | operation << 4 | stream << 8 == value => {
                self.text.str("sendmsg(");
                self.text.dec(id);
                self.text.str(", ");
                self.text.dec(operation);
                self.text.str(", ");
                self.text.dec(stream);
                self.text.push(b')');
            }
            _ => self.text.dec(value),
        }
    }

    pub(super) fn wait_counters(&mut self, value: u32) {
        let fields = names::wait_fields(self.generation);
        let read = |ranges: &[(u8, u8)]| {
            let (mut number, mut at) = (0, 0);
            for &(offset, count) in ranges {
                number |= (value >> offset & ((1 << count) - 1)) << at;
                at += count;
            }
            (number, (1 << at) - 1)
        };
        let all = fields.iter().all(|(_, ranges)| {
            let (number, most) = read(ranges);
            number == most
        });
        let mut first = true;
        for (name, ranges) in fields {
            let (number, most) = read(ranges);
            if number != most || all {
                if !first {
                    self.text.push(b' ');
                }
                first = false;
                self.text.str(name);
                self.text.push(b'(');
                self.text.dec(number);
                self.text.push(b')');
            }
        }
    }

    pub(super) fn dependency_counters(&mut self, value: u32) {
        let first = usize::from(self.generation == Generation::Rdna1);
        let counters = &names::DEPENDENCY_COUNTERS[first..];
        let most = |bits: u8| (1 << bits) - 1;
        let used = counters.iter().fold(0, |mask, &(_, offset, bits)| mask | most(bits) << offset);
        if value & !used != 0 {
            self.text.hex(value.into());
            return;
        }
        let all = value == used;
        let mut separate = false;
        for &(name, offset, bits) in counters {
            let number = value >> offset & most(bits);
            if number != most(bits) || all {
                if separate {
                    self.text.push(b' ');
                }
                separate = true;
                self.text.str(name);
                self.text.push(b'(');
                self.text.dec(number);
                self.text.push(b')');
            }
        }
    }

    pub(super) fn delay(&mut self, value: u32) {
        let parts = [
            ("instid0(", value & 15, &names::DELAY_IDS[..], "/* invalid instid value */"),
            ("instskip(", value >> 4 & 7, &names::DELAY_SKIPS[..], "/* invalid instskip value */"),
            ("instid1(", value >> 7 & 15, &names::DELAY_IDS[..], "/* invalid instid value */"),
        ];
        let mut separate = false;
        for (name, number, table, invalid) in parts {
            if number != 0 {
                if separate {
                    self.text.str(" | ");
                }
                separate = true;
                self.text.str(name);
                self.text.str(table.get(number as usize).unwrap_or(&invalid));
                self.text.push(b')');
            }
        }
        if !separate {
            self.text.push(b'0');
        }
    }

    pub(super) fn version(&mut self, value: u32) {
        let flags = names::VERSION_FLAGS.iter().fold(0, |mask, &(bit, _)| mask | u32::from(bit));
        let (version, set) = (value & 0xff, value & flags);
        let name = names::name_of(&names::VERSIONS, version);
        if value & !(flags | 0xff) != 0 || (name.is_none() && set == 0) {
            self.text.hex(value.into());
            return;
        }
        // LLVM builds an expression: each further operator puts what is before it in parentheses.
        for _ in 1..set.count_ones() {
            self.text.push(b'(');
        }
        match name {
            Some(name) => self.text.str(name),
            None => self.text.dec(version),
        }
        let mut left = set.count_ones();
        for &(bit, name) in &names::VERSION_FLAGS {
            if set & u32::from(bit) != 0 {
                self.text.push(b'|');
                self.text.str(name);
                left -= 1;
                if left > 0 {
                    self.text.push(b')');
                }
            }
        }
    }

    /// Image data: a register for each bit of DMASK, half as many for packed 16-bit data, one more for TFE.
    pub(super) fn image_data(&mut self, slot: Slot) {
        let first = self.bits(slot.offset(), slot.count());
        let file = if self.is_acc(slot) { "a" } else { "v" };
        let kind = slot.extra();
        let usual = match kind {
            FIXED => slot.dwords(),
            COMPARE_SWAP | GATHER | MULTISAMPLE => 2,
            _ => 1,
        };
        let count = match self.image_data_dwords(kind, first) {
            Some(count) if kind != FIXED && self.image_address_fits() => count,
            _ => usual,
        };
        self.text.registers(file, first, count);
    }

    /// Dwords of image data; none where LLVM has no such variant or the registers run out. It then shows its first
    /// variant of the instruction.
    fn image_data_dwords(&self, kind: u32, first: u32) -> Option<u32> {
        let field = |field| self.inst.field(field).unwrap_or_default();
        let mut count = match kind {
            GATHER | MULTISAMPLE => 4,
            _ => field(Field::DMASK).count_ones().max(1),
        };
        if field(Field::D16) != 0 {
            count = count.div_ceil(2);
        }
        count += u32::from(field(Field::TFE) != 0);
        let exists = match kind {
            ATOMIC => count <= 3,
            COMPARE_SWAP => count >= 2,
            GATHER => count != 3,
            _ => true,
        };
        (exists && self.has_registers(first, count)).then_some(count)
    }

    /// Whether a run of vector registers ends in time and, on CDNA 2, begins at an even number.
    fn has_registers(&self, first: u32, count: u32) -> bool {
        first + count <= 256 && (self.generation != Generation::Cdna2 || count == 1 || first.is_multiple_of(2))
    }

    /// Image addresses: a range of registers, or a list of them.
    pub(super) fn image_address(&mut self, slot: Slot) {
        let field = |field| self.inst.field(field).unwrap_or_default();
        let first = self.bits(slot.offset(), slot.count());
        let a16 = field(Field::A16) != 0;
        let kind = slot.extra();
        if kind & 128 != 0 {
            return self.ray(kind, first, a16);
        }
        let data = self.field_slot_of_data();
        let count = self.address_dwords(kind, a16);
        let fits = data.is_none_or(|(kind, first)| self.image_data_dwords(kind, first).is_some());
        let range = !self.gfx12_plus() && self.form != Form::Nsa;
        if range && (!fits || !self.image_address_fits()) {
            return self.text.registers("v", first, self.address_dwords_gfx9(kind));
        }
        match self.form {
            Form::Nsa => self.address_list(first, count),
            _ if self.gfx12_plus() => self.address_list_gfx12(first, count),
            _ => self.text.registers("v", first, address_class(count)),
        }
    }

    /// Whether there are enough registers for an address that is a range.
    fn image_address_fits(&self) -> bool {
        if self.form == Form::Nsa || self.gfx12_plus() {
            return true;
        }
        let slots = self.inst.row().syntax().slots();
        slots.iter().find(|slot| slot.kind() == SlotKind::ImageAddr && slot.extra() & 128 == 0).is_none_or(|slot| {
            let a16 = self.inst.field(Field::A16).unwrap_or_default() != 0;
            let count = address_class(self.address_dwords(slot.extra(), a16));
            self.bits(slot.offset(), slot.count()) + count <= 256
        })
    }

    /// Kind and first register of the data of an image instruction.
    fn field_slot_of_data(&self) -> Option<(u32, u32)> {
        let slots = self.inst.row().syntax().slots();
        let slot = slots.iter().find(|slot| slot.kind() == SlotKind::ImageData && slot.extra() != FIXED)?;
        Some((slot.extra(), self.bits(slot.offset(), slot.count())))
    }

    /// Dwords of the address of an image instruction.
    fn address_dwords(&self, kind: u32, a16: bool) -> u32 {
        // Coordinates, derivatives in each direction, whether there is a slice.
        const DIMENSIONS: [(u32, u32); 8] = [(1, 2), (2, 4), (3, 6), (3, 4), (2, 2), (3, 4), (3, 4), (4, 4)];
        let dim = match self.inst.field(Field::DIM) {
            Some(dim) => dim,
            // CDNA: the address has as many registers as LLVM's variant of the instruction says; the smallest.
            None => return self.address_dwords_gfx9(kind),
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

    fn address_dwords_gfx9(&self, kind: u32) -> u32 {
        if kind & 64 != 0 {
            return 1;
        }
        1 + (kind & 1) + (kind >> 1 & 1) + (kind >> 2 & 1) + (kind >> 4 & 1)
    }

    /// Addresses in separate registers: the first, then the bytes of the dwords that follow.
    fn address_list(&mut self, first: u32, count: u32) {
        let at = self.inst.row().dwords() as u32 * 32;
        let most = 1 + (self.inst.words().len() as u32 * 32 - at) / 8;
        let gfx11 = self.gfx11_plus();
        let limit = if gfx11 { 5 } else { 13 };
        self.text.push(b'[');
        for index in 0..count.min(most).min(limit) {
            if index > 0 {
                self.text.str(", ");
            }
            let register = if index == 0 { first } else { self.bits(at + 8 * (index - 1), 8) };
            let last = gfx11 && index == 4 && count > 5;
            self.text.registers("v", register, if last { count - 4 } else { 1 });
        }
        self.text.push(b']');
    }

    /// RDNA 4: up to four or five registers, the last of which begins the rest.
    fn address_list_gfx12(&mut self, first: u32, count: u32) {
        let sample = self.inst.field(Field::SAMP).is_some();
        let fields: &[u32] = if sample { &[64, 72, 80, 88] } else { &[64, 72, 80, 88, 56] };
        let _ = first;
        if count == 1 {
            let register = self.bits(fields[0], 8);
            return self.text.registers("v", register, 1);
        }
        self.text.push(b'[');
        for (index, &offset) in fields.iter().enumerate().take(count as usize) {
            if index > 0 {
                self.text.str(", ");
            }
            let rest = if index + 1 == fields.len() { count - index as u32 } else { 1 };
            let register = self.bits(offset, 8);
            self.text.registers("v", register, rest);
        }
        self.text.push(b']');
    }

    /// The operands of a ray intersection.
    fn ray(&mut self, kind: u32, first: u32, a16: bool) {
        let wide = kind & 1 != 0;
        if self.gfx12_plus() {
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
        if self.form != Form::Nsa {
            let count = match (wide, a16) {
                (false, false) => 11,
                (true, false) => 12,
                (false, true) => 8,
                (true, true) => 9,
            };
            self.text.registers("v", first, address_class(count));
            return;
        }
        let base = self.inst.row().dwords() as u32 * 32;
        if self.gfx11_plus() {
            let sizes: &[u32] = match (wide, a16) {
                (false, false) => &[1, 1, 3, 3, 3],
                (true, false) => &[2, 1, 3, 3, 3],
                (false, true) => &[1, 1, 3, 3],
                (true, true) => &[2, 1, 3, 3],
            };
            return self.ray_list(sizes, &[32, base, base + 8, base + 16, base + 24]);
        }
        let count = match (wide, a16) {
            (false, false) => 11,
            (true, false) => 12,
            (false, true) => 8,
            (true, true) => 9,
        };
        self.address_list(first, count);
    }

    fn ray_list(&mut self, sizes: &[u32], offsets: &[u32]) {
        self.text.push(b'[');
        for (index, (&size, &offset)) in sizes.iter().zip(offsets).enumerate() {
            if index > 0 {
                self.text.str(", ");
            }
            let register = self.bits(offset, 8);
            self.text.registers("v", register, size);
        }
        self.text.push(b']');
    }
}

/// Registers of the smallest of LLVM's register classes that holds so many.
fn address_class(count: u32) -> u32 {
    match count {
        0..=12 => count.max(1),
        _ => 16,
    }
}
