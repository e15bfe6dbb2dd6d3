//! Writes structured immediates and image operands.

use super::Writer;
use crate::Generation;
use crate::syntax::{Slot, names};

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
        if value & !(flags | 0xff) != 0 {
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

    /// Image data.
    pub(super) fn image_data(&mut self, slot: Slot) {
        let file = if self.is_acc(slot) { "a" } else { "v" };
        let first = self.bits(slot.offset(), slot.count());
        self.text.registers(file, first, self.inst.image_data_registers(slot));
    }

    /// Image addresses: a range of registers, or a list of them.
    pub(super) fn image_address(&mut self, slot: Slot) {
        let runs = self.inst.image_address_registers(slot);
        if runs.list {
            self.text.push(b'[');
        }
        for (index, &(first, count)) in runs.as_slice().iter().enumerate() {
            if index > 0 {
                self.text.str(", ");
            }
            self.text.registers("v", first.into(), count.into());
        }
        if runs.list {
            self.text.push(b']');
        }
    }
}
