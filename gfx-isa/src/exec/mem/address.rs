//! Flat, global and scratch memory: addresses of each lane, and which space they are in.

use super::super::error::ExecError;
use super::super::lanes::Vector;
use super::super::state::Wave;
use super::access::{Access, Address, FlatScratch, Reach, reach, rows, rows_mut};
use super::transfer::{self, Places};
use super::words::Words;
use super::{Access as Kind, Env, Fault, Reason, Space};
use crate::sem::mem::{Action, Part, Size, Unit};

/// Upper half of the flat addresses of the local data share.
pub(crate) const SHARED_APERTURE: u32 = 0x0001_0000;

/// Upper half of the flat addresses of scratch; on CDNA 5, where they name the lane, its upper six bits.
pub(crate) const PRIVATE_APERTURE: u32 = 0x0400_0000;

/// An address or offset a lane.
pub(super) type Addresses = [u64; 64];

/// The lanes of an access that lie in one space.
#[derive(Clone, Copy)]
pub(super) struct Lanes<'a> {
    pub(super) at: &'a Addresses,
    pub(super) active: u64,
}

fn widen(low: &Vector, high: &Vector) -> Addresses {
    core::array::from_fn(|lane| u64::from(high[lane]) << 32 | u64::from(low[lane]))
}

impl Access {
    /// Executes a flat, global or scratch access.
    pub(super) fn run_vector(&self, wave: &mut Wave, env: &mut Env) -> Result<(), ExecError> {
        let active = wave.exec();
        if active == 0 {
            return Ok(());
        }
        let at = self.addresses(wave);
        let lanes = Lanes { at: &at, active };
        match (self.unit, self.action) {
            (_, Action::LoadBlock | Action::StoreBlock) => self.block(wave, env, &at, active),
            (Unit::Scratch, _) => self.in_scratch(wave, env, lanes),
            (Unit::Flat, _) => self.in_flat(wave, env, lanes),
            _ => self.in_memory(wave, env, lanes),
        }
    }

    /// What the registers add up to in each lane.
    fn addresses(&self, wave: &Wave) -> Addresses {
        let register = |first: u16| wave.vector(usize::from(first));
        match self.address {
            Address::Vector { register: first, offset } => {
                let mut at = widen(register(first), register(first + 1));
                at.iter_mut().for_each(|at| *at = at.wrapping_add_signed(offset));
                at
            }
            Address::Based { base, register: first, offset, signed, scale } => {
                let base = wave.pair(base).wrapping_add_signed(offset);
                let scale = u64::from(scale);
                let lanes = register(first);
                if signed {
                    core::array::from_fn(|lane| base.wrapping_add((lanes[lane] as i32 as u64).wrapping_mul(scale)))
                } else {
                    core::array::from_fn(|lane| base.wrapping_add(u64::from(lanes[lane]).wrapping_mul(scale)))
                }
            }
            Address::Lanes { base, offset } => {
                let base = wave.pair(base).wrapping_add_signed(offset);
                core::array::from_fn(|lane| base.wrapping_add(4 * lane as u64))
            }
            Address::Scratch { register: first, scalar, offset, scale } => {
                let scalar = scalar.map_or(0, |slot| wave.slot(slot.into())).wrapping_add(offset);
                match first {
                    Some(first) => register(first).map(|lane| u64::from(lane.wrapping_mul(scale).wrapping_add(scalar))),
                    None => [u64::from(scalar); 64],
                }
            }
            _ => [0; 64],
        }
    }

    /// What kind of access it is, and its bytes in each lane.
    pub(super) fn kind(&self) -> (Kind, u32) {
        match self.action {
            Action::Load(size, _) | Action::ToLds(size) => (Kind::Read, size.bytes()),
            Action::Store(size, _) | Action::FromLds(size) => (Kind::Write, size.bytes()),
            Action::Atomic(atomic, _) => (Kind::Atomic, 4 * atomic.dwords() as u32),
            Action::StoreBlock => (Kind::Write, 4),
            _ => (Kind::Read, 4),
        }
    }

    /// Global memory: all lanes at once where one allocation holds them, else lane by lane.
    pub(super) fn in_memory(&self, wave: &mut Wave, env: &mut Env, lanes: Lanes) -> Result<(), ExecError> {
        let (kind, bytes) = self.kind();
        let mut lanes = lanes;
        if let (Action::ToLds(size), Some(lds)) = (self.action, self.lds) {
            // What the data share drops is not loaded.
            let at = lds.addresses(wave, size.bytes());
            lanes.active = env.lds.check(Kind::Write, Lanes { at: &at, ..lanes }, lds.size(size).bytes())?;
            if lanes.active == 0 {
                return Ok(());
            }
        }
        let (mut least, mut most) = (u64::MAX, 0);
        let mut rest = lanes.active;
        if rest == wave.lane_mask() {
            for at in &lanes.at[..wave.lanes() as usize] {
                (least, most) = (least.min(*at), most.max(*at));
            }
        } else {
            while rest != 0 {
                let at = lanes.at[rest.trailing_zeros() as usize];
                (least, most) = (least.min(at), most.max(at));
                rest &= rest - 1;
            }
        }
        let span = (most - least).saturating_add(u64::from(bytes));
        let memory = env.memory;
        if let Some(mut view) = memory.find(&mut env.hint, least, span) {
            let base = view.base;
            return self.transfer(wave, env, &mut view, lanes, base, 1, Space::Global);
        }
        let mut rest = lanes.active;
        while rest != 0 {
            let lane = rest.trailing_zeros() as usize;
            let Some(mut view) = memory.find(&mut env.hint, lanes.at[lane], bytes.into()) else {
                let fault = memory.fault(kind, lanes.at[lane], bytes);
                return Err(Fault { lane: Some(lane as u8), ..fault }.into());
            };
            let one = Lanes { active: 1 << lane, ..lanes };
            let base = view.base;
            self.transfer(wave, env, &mut view, one, base, 1, Space::Global)?;
            rest &= rest - 1;
        }
        Ok(())
    }

    /// The lane's own scratch memory: `lanes` holds offsets.
    fn in_scratch(&self, wave: &mut Wave, env: &mut Env, lanes: Lanes) -> Result<(), ExecError> {
        let (kind, bytes) = self.kind();
        let size = wave.scratch_bytes();
        let count = u64::from(wave.lanes());
        let mut at = [0; 64];
        let mut rest = lanes.active;
        while rest != 0 {
            let lane = rest.trailing_zeros() as usize;
            let offset = lanes.at[lane];
            if offset + u64::from(bytes) > u64::from(size) {
                let outside = Fault {
                    access: kind,
                    reason: Reason::Outside,
                    space: Space::Scratch,
                    address: offset,
                    bytes,
                    lane: Some(lane as u8),
                    nearest: None,
                };
                return Err(outside.into());
            }
            at[lane] = (offset & !3) * count + 4 * lane as u64 + (offset & 3);
            rest &= rest - 1;
        }
        let base = wave.scratch_base();
        let memory = env.memory;
        let whole = u64::from(size) * count;
        let Some(mut view) = memory.find(&mut env.hint, base, whole) else {
            return Err(memory.fault(kind, base, whole.min(u32::MAX.into()) as u32).into());
        };
        let lanes = Lanes { at: &at, ..lanes };
        let start = view.base.wrapping_sub(base);
        self.transfer(wave, env, &mut view, lanes, start, count as usize, Space::Scratch)
    }

    /// Flat memory: each lane's address says which space it is in.
    fn in_flat(&self, wave: &mut Wave, env: &mut Env, lanes: Lanes) -> Result<(), ExecError> {
        let facts = reach(wave.generation());
        let (mut shared, mut private) = (0, 0);
        for (lane, at) in lanes.at.iter().enumerate() {
            let high = (at >> 32) as u32;
            shared |= u64::from(high == SHARED_APERTURE) << lane;
            private |= u64::from(is_private(facts, high)) << lane;
        }
        let (shared, private) = (shared & lanes.active, private & lanes.active);
        let global = lanes.active & !shared & !private;
        if global == lanes.active {
            return self.in_memory(wave, env, lanes);
        }
        if shared != 0 {
            let at = lanes.at.map(|at| at & 0xffff_ffff);
            self.in_lds(wave, env, Lanes { at: &at, active: shared })?;
        }
        if private != 0 && facts.shared_scratch {
            self.in_shared_scratch(wave, env, Lanes { active: private, ..lanes })?;
        } else if private != 0 {
            let at = lanes.at.map(|at| at & 0xffff_ffff);
            self.in_scratch(wave, env, Lanes { at: &at, active: private })?;
        }
        if global != 0 { self.in_memory(wave, env, Lanes { active: global, ..lanes }) } else { Ok(()) }
    }

    /// Flat addresses of scratch that name a lane, and where its wave's scratch memory is.
    fn in_shared_scratch(&self, wave: &mut Wave, env: &mut Env, lanes: Lanes) -> Result<(), ExecError> {
        let (kind, bytes) = self.kind();
        let mut rest = lanes.active;
        while rest != 0 {
            let lane = rest.trailing_zeros() as usize;
            let flat = lanes.at[lane];
            let address = (flat >> 2 & ((1 << 50) - 1)) << 7 | (flat >> 52 & 31) << 2 | flat & 3;
            let memory = env.memory;
            let words = u64::from((flat & 3) as u32 + bytes).div_ceil(4);
            let span = (words - 1) * 128 + 4;
            let Some(mut view) = memory.find(&mut env.hint, address & !3, span) else {
                let fault = memory.fault(kind, address, bytes);
                return Err(Fault { lane: Some(lane as u8), ..fault }.into());
            };
            let at = [address; 64];
            let one = Lanes { at: &at, active: 1 << lane };
            let base = view.base;
            self.transfer(wave, env, &mut view, one, base, 32, Space::Scratch)?;
            rest &= rest - 1;
        }
        Ok(())
    }

    /// The local data share: `lanes` holds offsets.
    pub(super) fn in_lds(&self, wave: &mut Wave, env: &mut Env, lanes: Lanes) -> Result<(), ExecError> {
        let (kind, bytes) = self.kind();
        let inside = env.lds.check(kind, lanes, bytes)?;
        let mut lds = core::mem::take(env.lds);
        let result = self.transfer(wave, env, &mut lds, Lanes { active: inside, ..lanes }, 0, 1, Space::Lds);
        *env.lds = lds;
        if let Some(dst) = self.dst {
            for register in 0..self.action.dwords() {
                wave.write_some(usize::from(dst) + register, &[0; 64], lanes.active & !inside);
            }
        }
        result
    }

    /// Moves the data of lanes whose places are known to exist.
    #[allow(clippy::too_many_arguments)]
    fn transfer(
        &self,
        wave: &mut Wave,
        env: &mut Env,
        words: &mut impl Words,
        lanes: Lanes,
        base: u64,
        next: usize,
        space: Space,
    ) -> Result<(), ExecError> {
        let count = wave.lanes() as usize;
        let places = Places { at: lanes.at, base, active: lanes.active, lanes: count, next };
        match self.action {
            Action::Load(size, part) => {
                let dst = rows_mut(&mut wave.vgprs, self.dst.unwrap_or(0), size.dwords());
                transfer::load(words, &places, size, part, dst);
            }
            Action::Store(size, part) => {
                let data = rows(&wave.vgprs, self.data[0], size.dwords());
                transfer::store(words, &places, size, part, data);
            }
            Action::Atomic(atomic, _) => {
                let dwords = atomic.dwords();
                if !places.aligned(4 * dwords as u64) || (dwords == 2 && next != 1) {
                    return Err(misaligned(space, &places, 4 * dwords as u32).into());
                }
                let mut old = [[0; 64]; 2];
                let data = self.data.map(|first| rows(&wave.vgprs, first, dwords));
                let flush = match space {
                    Space::Lds => wave.mode().denorm_f32().flush_in,
                    _ => reach(wave.generation()).flushes,
                };
                transfer::atomic(words, &places, atomic, flush, data, &mut old);
                if let Some(dst) = self.dst {
                    for (at, row) in old.iter().enumerate().take(dwords) {
                        wave.write_some(usize::from(dst) + at, row, lanes.active);
                    }
                }
            }
            Action::ToLds(size) => {
                let Some(lds) = self.lds else { return Ok(()) };
                let mut data = [[0; 64]; 4];
                transfer::load(words, &places, size, Part::Whole, &mut data);
                let at = lds.addresses(wave, size.bytes());
                let size = lds.size(size);
                let active = env.lds.check(Kind::Write, Lanes { at: &at, ..lanes }, size.bytes())?;
                let places = Places { at: &at, base: 0, next: 1, active, ..places };
                transfer::store(env.lds, &places, size, Part::Whole, &data);
            }
            Action::FromLds(size) => {
                let Some(lds) = self.lds else { return Ok(()) };
                let mut data = [[0; 64]; 4];
                let at = lds.addresses(wave, size.bytes());
                let active = env.lds.check(Kind::Read, Lanes { at: &at, ..lanes }, size.bytes())?;
                let from = Places { at: &at, base: 0, next: 1, active, ..places };
                transfer::load(env.lds, &from, size, Part::Whole, &mut data);
                transfer::store(words, &places, size, Part::Whole, &data);
            }
            _ => {}
        }
        Ok(())
    }

    /// Up to 32 registers, as M0 says.
    fn block(&self, wave: &mut Wave, env: &mut Env, at: &Addresses, active: u64) -> Result<(), ExecError> {
        let mut rest = wave.m0();
        while rest != 0 {
            let register = rest.trailing_zeros() as u16;
            rest &= rest - 1;
            let mut one = self.clone();
            let first = self.dst.unwrap_or(self.data[0]);
            // Registers that do not exist are not loaded; those that would be stored are the first.
            let exists = usize::from(first % 256 + register) < 256;
            let dword = Size::Dwords(1);
            match self.action {
                Action::LoadBlock if !exists => continue,
                Action::LoadBlock => {
                    one.action = Action::Load(dword, Part::Whole);
                    one.dst = Some(first + register);
                }
                _ => {
                    one.action = Action::Store(dword, Part::Whole);
                    one.data[0] = if exists { first + register } else { 0 };
                }
            }
            let at = at.map(|at| at.wrapping_add(4 * u64::from(register)));
            let lanes = Lanes { at: &at, active };
            match self.unit {
                Unit::Scratch => one.in_scratch(wave, env, lanes)?,
                _ => one.in_memory(wave, env, lanes)?,
            }
        }
        Ok(())
    }
}

fn is_private(facts: Reach, high: u32) -> bool {
    if facts.shared_scratch { high >> 26 == PRIVATE_APERTURE >> 26 } else { high == PRIVATE_APERTURE }
}

/// What to say of an atomic whose address is not a multiple of its size.
#[cold]
pub(super) fn misaligned(space: Space, places: &Places, bytes: u32) -> Fault {
    let lane = (0..64).find(|lane| {
        places.active >> lane & 1 != 0 && !places.at[*lane].wrapping_sub(places.base).is_multiple_of(bytes.into())
    });
    let lane = lane.unwrap_or(places.active.trailing_zeros() as usize & 63);
    Fault {
        access: Kind::Atomic,
        reason: Reason::Misaligned,
        space,
        address: places.at[lane],
        bytes,
        lane: Some(lane as u8),
        nearest: None,
    }
}

impl Wave {
    /// The address of scratch that instructions start from.
    fn scratch_base(&self) -> u64 {
        match reach(self.generation()).flat_scratch {
            FlatScratch::Registers => self.pair(super::super::state::slot::FLAT_SCRATCH),
            FlatScratch::Hardware => self.flat_scratch,
            FlatScratch::Architected => self.private.base,
        }
    }

    fn scratch_bytes(&self) -> u32 {
        self.private.bytes
    }
}
