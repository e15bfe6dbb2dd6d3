//! Buffers: memory behind a descriptor of four scalar registers.
//!
//! The descriptor is the program's own guard: what it says is out of range reads as 0 and is not written. An address in
//! its range that no allocation holds is a fault like any other.

use super::super::error::ExecError;
use super::super::lanes::Vector;
use super::super::state::Wave;
use super::access::{Access, Address, Scalar};
use super::address::{Addresses, Lanes};
use super::words::Words;
use super::{Access as Kind, Env, Fault};
use crate::Generation;
use crate::sem::format::{self, Format};
use crate::sem::mem::{Action, Part, Size, Unit};

/// When an access is out of range.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Check {
    Never,
    Always,
    /// The first byte is not below the number of bytes.
    Start,
    /// The last byte is not below the number of bytes.
    Bytes,
    /// The index is not below the number of records.
    Index,
    /// As [`Check::Index`], or the offset's first byte is outside of the record.
    IndexAndStart,
    /// As [`Check::Index`], or the offset's last byte is outside of the record.
    IndexAndBytes,
    /// The last byte of all is outside, or the offset's last byte outside of the record.
    BytesAndStride,
}

/// A descriptor.
#[derive(Debug, Clone, Copy)]
struct Descriptor {
    base: u64,
    stride: u64,
    records: u64,
    /// Bytes of an element where the buffer is swizzled, and indices of a block.
    swizzle: Option<(u64, u64)>,
    add_lane: bool,
    check: Check,
    /// The bounds count the scalar offset.
    counts_scalar: bool,
    /// The scalar offset is part of what is swizzled.
    swizzles_scalar: bool,
    format: u32,
    select: [u8; 4],
}

/// What of an instruction a descriptor is read by.
#[derive(Debug, Clone, Copy)]
struct Use {
    indexed: bool,
    formatted: bool,
}

impl Descriptor {
    fn read(generation: Generation, words: [u32; 4], by: Use) -> Descriptor {
        use Generation::{Cdna1, Cdna2, Cdna3, Cdna4, Cdna5, Rdna1, Rdna2, Rdna4};
        if generation == Cdna5 {
            return Descriptor::read_cdna5(words);
        }
        let [_, second, records, last] = words;
        let bits = |at: u32, count: u32| last >> at & ((1 << count) - 1);
        let gfx9 = matches!(generation, Cdna1 | Cdna2 | Cdna3 | Cdna4);
        let gfx10 = matches!(generation, Rdna1 | Rdna2);
        let add_lane = bits(23, 1) != 0;
        let block = 8 << bits(21, 2);
        let mut stride = u64::from(second >> 16 & 0x3fff);
        let element = match second >> 30 {
            0 => 0,
            _ if gfx9 || gfx10 => 4 * (second >> 31),
            3 => 16,
            _ => 4,
        };
        if gfx9 && add_lane && !by.formatted {
            stride |= u64::from(bits(15, 4)) << 14;
        }
        if generation == Rdna4 {
            stride *= [1, 4, 8, 32][bits(18, 2) as usize];
        }
        let swizzle = (element != 0).then_some((u64::from(element), block));
        let check = if words == [0; 4] {
            Check::Always
        } else if gfx9 {
            match (add_lane, by.indexed) {
                (true, false) => Check::Never,
                (_, true) if stride != 0 => Check::Index,
                (false, false) if swizzle.is_none() => Check::Start,
                _ => Check::Never,
            }
        } else {
            match bits(28, 2) {
                0 if gfx10 => Check::IndexAndStart,
                0 => Check::IndexAndBytes,
                1 => Check::Index,
                2 if records == 0 => Check::Always,
                2 => Check::Never,
                _ if swizzle.is_some() && stride != 0 => Check::IndexAndBytes,
                _ => Check::Bytes,
            }
        };
        let format = match (gfx9, gfx10) {
            // The format of numbers above that of the data.
            (true, _) => bits(12, 3) << 4 | bits(15, 4),
            (_, true) => bits(12, 7),
            _ => bits(12, 6),
        };
        Descriptor {
            base: base(words) & ((1 << 48) - 1),
            stride,
            records: records.into(),
            swizzle,
            add_lane,
            check,
            counts_scalar: !gfx9 && check == Check::Bytes,
            swizzles_scalar: false,
            format,
            select: core::array::from_fn(|at| bits(3 * at as u32, 3) as u8),
        }
    }

    fn read_cdna5(words: [u32; 4]) -> Descriptor {
        let all = words.iter().rev().fold(0u128, |all, word| all << 32 | u128::from(*word));
        let bits = |at: u32, count: u32| (all >> at) as u64 & ((1 << count) - 1);
        let swizzled = bits(124, 1) != 0;
        let check = match (all, swizzled, bits(125, 1)) {
            (0, _, _) => Check::Always,
            (_, true, _) => Check::Never,
            (_, false, 0) => Check::Bytes,
            _ => Check::BytesAndStride,
        };
        Descriptor {
            base: bits(0, 57),
            stride: bits(108, 14) * [1, 4, 8, 32][bits(122, 2) as usize],
            records: bits(57, 45),
            swizzle: swizzled.then_some((16, 32)),
            add_lane: false,
            check,
            counts_scalar: true,
            swizzles_scalar: true,
            format: 0,
            select: [4, 5, 6, 7],
        }
    }

    /// The address of a byte of a record, less what the scalar offset adds where that is not swizzled.
    fn address(&self, index: u64, offset: u64) -> u64 {
        let within = match self.swizzle {
            None => index.wrapping_mul(self.stride).wrapping_add(offset),
            Some((element, block)) => {
                let row = (index / block).wrapping_mul(self.stride).wrapping_add(offset / element * element);
                row.wrapping_mul(block).wrapping_add(index % block * element + offset % element)
            }
        };
        self.base.wrapping_add(within)
    }

    /// Whether some bytes of a record are out of range.
    fn is_outside(&self, index: u64, offset: u64, bytes: u64) -> bool {
        let end = offset.saturating_add(bytes);
        match self.check {
            Check::Never => false,
            Check::Always => true,
            Check::Start => offset >= self.records,
            Check::Bytes => index.saturating_mul(self.stride).saturating_add(end) > self.records,
            Check::Index => index >= self.records,
            Check::IndexAndStart => index >= self.records || offset >= self.stride,
            Check::IndexAndBytes => index >= self.records || end > self.stride,
            Check::BytesAndStride => {
                index.saturating_mul(self.stride).saturating_add(end) > self.records || end > self.stride
            }
        }
    }
}

fn base(words: [u32; 4]) -> u64 {
    u64::from(words[1]) << 32 | u64::from(words[0])
}

/// The base and the size in bytes that scalar memory sees in a descriptor.
pub(super) fn scalar_extent(generation: Generation, words: [u32; 4]) -> (u64, u64) {
    let descriptor = Descriptor::read(generation, words, Use { indexed: false, formatted: true });
    (descriptor.base, descriptor.records.saturating_mul(descriptor.stride.max(1)))
}

/// The indices and offsets of each lane, without the scalar offset.
struct Parts {
    descriptor: Descriptor,
    index: Addresses,
    offset: Addresses,
    scalar: u64,
}

impl Parts {
    /// Addresses of what lies `skip` bytes into each lane's data.
    fn addresses(&self, skip: u64) -> Addresses {
        core::array::from_fn(|lane| {
            let offset = self.offset[lane].wrapping_add(skip);
            if self.descriptor.swizzles_scalar {
                self.descriptor.address(self.index[lane], offset.wrapping_add(self.scalar))
            } else {
                self.descriptor.address(self.index[lane], offset).wrapping_add(self.scalar)
            }
        })
    }

    /// The lanes of some whose bytes are in range.
    fn inside(&self, active: u64, skip: u64, bytes: u64) -> u64 {
        let scalar = if self.descriptor.counts_scalar { self.scalar } else { 0 };
        let mut inside = 0;
        for lane in (0..64).filter(|lane| active >> lane & 1 != 0) {
            let offset = self.offset[lane].wrapping_add(skip).wrapping_add(scalar);
            inside |= u64::from(!self.descriptor.is_outside(self.index[lane], offset, bytes)) << lane;
        }
        inside
    }
}

impl Access {
    /// Executes a buffer access.
    pub(super) fn run_buffer(&self, wave: &mut Wave, env: &mut Env) -> Result<(), ExecError> {
        let active = wave.exec();
        let Some(parts) = self.parts(wave) else { return Ok(()) };
        let tfe = self.tfe;
        match self.action {
            Action::Load(Size::Dwords(count), _) | Action::Store(Size::Dwords(count), _) => {
                self.dwords(wave, env, &parts, active, count)?;
            }
            Action::LoadFormat { .. } | Action::StoreFormat { .. } => self.formatted(wave, env, &parts, active)?,
            _ => {
                let bytes = self.kind().1;
                let inside = parts.inside(active, 0, bytes.into());
                if inside != 0 {
                    let at = parts.addresses(0);
                    self.in_memory(wave, env, Lanes { at: &at, active: inside })?;
                }
                if let (Some(dst), true) = (self.dst, inside != active) {
                    self.zero(wave, dst, active & !inside);
                }
            }
        }
        if let Some(register) = tfe {
            wave.write_some(register.into(), &[0; 64], active);
        }
        Ok(())
    }

    fn parts(&self, wave: &Wave) -> Option<Parts> {
        let Address::Buffer { descriptor, index, offset, immediate, scalar } = self.address else { return None };
        let words = core::array::from_fn(|at| wave.slot(u16::from(descriptor) + at as u16));
        let formatted = matches!(self.action, Action::LoadFormat { .. } | Action::StoreFormat { .. });
        let by = Use { indexed: index.is_some(), formatted };
        let descriptor = Descriptor::read(wave.generation(), words, by);
        let lanes =
            |register: Option<u16>| register.map_or([0; 64], |register| wave.vector(register.into()).map(u64::from));
        let mut index = lanes(index);
        if descriptor.add_lane {
            index.iter_mut().enumerate().for_each(|(lane, index)| *index += lane as u64);
        }
        let mut offset = lanes(offset);
        offset.iter_mut().for_each(|offset| *offset = offset.wrapping_add_signed(immediate));
        let scalar = match scalar {
            Scalar::None => 0,
            Scalar::Register(slot) => wave.slot(slot.into()),
            Scalar::Constant(value) => value,
        };
        Some(Parts { descriptor, index, offset, scalar: scalar.into() })
    }

    /// Zeros the result of lanes that are out of range.
    fn zero(&self, wave: &mut Wave, dst: u16, lanes: u64) {
        let part = match self.action {
            Action::Load(_, part) => part,
            _ => Part::Whole,
        };
        for register in 0..self.action.dwords() {
            let register = usize::from(dst) + register;
            let old = wave.vgprs.get(register).copied().unwrap_or([0; 64]);
            let zeros: Vector = match part {
                Part::Whole | Part::Transposed(_) => [0; 64],
                Part::Low => old.map(|bits| bits & 0xffff_0000),
                Part::High => old.map(|bits| bits & 0xffff),
            };
            wave.write_some(register, &zeros, lanes);
        }
    }

    /// Dwords, each of which has its own bounds and, in a swizzled buffer, its own place.
    fn dwords(&self, wave: &mut Wave, env: &mut Env, parts: &Parts, active: u64, count: u8) -> Result<(), ExecError> {
        let whole = parts.descriptor.swizzle.is_none()
            && parts.inside(active, 4 * u64::from(count) - 4, 4) == active
            && parts.inside(active, 0, 4) == active;
        if active == 0 {
            return Ok(());
        }
        if whole {
            let at = parts.addresses(0);
            return self.in_memory(wave, env, Lanes { at: &at, active });
        }
        for dword in 0..u16::from(count) {
            let skip = 4 * u64::from(dword);
            let inside = parts.inside(active, skip, 4);
            let mut one = self.clone();
            one.data[0] += dword;
            one.dst = self.dst.map(|dst| dst + dword);
            one.action = match self.action {
                Action::Load(..) => Action::Load(Size::Dwords(1), Part::Whole),
                _ => Action::Store(Size::Dwords(1), Part::Whole),
            };
            if inside != 0 {
                let at = parts.addresses(skip);
                one.in_memory(wave, env, Lanes { at: &at, active: inside })?;
            }
            if let Some(dst) = one.dst {
                wave.write_some(dst.into(), &[0; 64], active & !inside);
            }
        }
        Ok(())
    }

    /// Elements whose format the instruction or the descriptor gives. A lane's element is in range as a whole or not.
    fn formatted(&self, wave: &mut Wave, env: &mut Env, parts: &Parts, active: u64) -> Result<(), ExecError> {
        let typed = self.unit == Unit::TypedBuffer;
        let number = if typed { self.format } else { parts.descriptor.format };
        let format = format::find(wave.generation(), number);
        let select = if typed { [4, 5, 6, 7] } else { parts.descriptor.select };
        let bytes = format.map_or(4, Format::bytes);
        let inside = if format.is_some() { parts.inside(active, 0, bytes.into()) } else { 0 };
        let at = parts.addresses(0);
        let (store, components, half, high) = match self.action {
            Action::LoadFormat { components, half, high } => (false, components, half, high),
            Action::StoreFormat { components, half, high } => (true, components, half, high),
            _ => return Ok(()),
        };
        for lane in (0..64).filter(|lane| active >> lane & 1 != 0) {
            let exists = inside >> lane & 1 != 0;
            if store {
                let Some(format) = format.filter(|_| exists) else { continue };
                let given = self.gather(wave, lane, components, half, high);
                // Memory's component takes the register that would be loaded from it.
                let packed = core::array::from_fn(|component| {
                    let from = select.iter().position(|select| usize::from(*select) == 4 + component);
                    from.map_or(0, |from| given[from])
                });
                put(env, lane, at[lane], bytes, format.pack(packed, half))?;
                continue;
            }
            let (found, one) = match format {
                Some(format) if exists => (format.unpack(get(env, lane, at[lane], bytes)?, half), format.one(half)),
                Some(format) => ([0; 4], format.one(half)),
                None => ([0; 4], 0),
            };
            let selected = select.map(|select| match select {
                1 => one,
                4..=7 => found[usize::from(select - 4)],
                _ => 0,
            });
            self.scatter(wave, lane, components, half, high, selected);
        }
        Ok(())
    }

    /// The components that a lane's registers hold.
    fn gather(&self, wave: &Wave, lane: usize, components: u8, half: bool, high: bool) -> [u32; 4] {
        core::array::from_fn(|component| {
            if component >= usize::from(components) {
                return 0;
            }
            let (register, shift) = place(component, half, high);
            let row = wave.vgprs.get(usize::from(self.data[0]) + register);
            row.map_or(0, |row| row[lane] >> shift)
        })
    }

    fn scatter(&self, wave: &mut Wave, lane: usize, components: u8, half: bool, high: bool, values: [u32; 4]) {
        for (component, value) in values.into_iter().enumerate().take(components.into()) {
            let (register, shift) = place(component, half, high);
            let Some(row) = wave.vgprs.get_mut(usize::from(self.dst.unwrap_or(0)) + register) else { continue };
            row[lane] = match (half, shift) {
                (false, _) => value,
                (true, 0) => row[lane] & 0xffff_0000 | value & 0xffff,
                _ => row[lane] & 0xffff | value << 16,
            };
        }
    }
}

/// The register and the bit where a component is.
fn place(component: usize, half: bool, high: bool) -> (usize, u32) {
    match (half, high) {
        (false, _) => (component, 0),
        (true, false) => (component / 2, 16 * (component as u32 % 2)),
        (true, true) => (component, 16),
    }
}

/// Up to 16 bytes of memory for a lane.
fn get(env: &mut Env, lane: usize, address: u64, bytes: u32) -> Result<u128, Fault> {
    let memory = env.memory;
    let Some(view) = memory.find(&mut env.hint, address, bytes.into()) else {
        return Err(Fault { lane: Some(lane as u8), ..memory.fault(Kind::Read, address, bytes) });
    };
    let start = (address - view.base) as usize;
    let mut all = 0;
    for at in (0..bytes as usize).step_by(4) {
        let count = (bytes as usize - at).min(4);
        let mask = u32::MAX >> (32 - 8 * count);
        all |= u128::from(view.get_at(start + at, count, 1) & mask) << (8 * at);
    }
    Ok(all)
}

fn put(env: &mut Env, lane: usize, address: u64, bytes: u32, value: u128) -> Result<(), Fault> {
    let memory = env.memory;
    let Some(mut view) = memory.find(&mut env.hint, address, bytes.into()) else {
        return Err(Fault { lane: Some(lane as u8), ..memory.fault(Kind::Write, address, bytes) });
    };
    let start = (address - view.base) as usize;
    for at in (0..bytes as usize).step_by(4) {
        view.set_at(start + at, (bytes as usize - at).min(4), 1, (value >> (8 * at)) as u32);
    }
    Ok(())
}
