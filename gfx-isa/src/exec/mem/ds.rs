//! The local data share.

use super::super::error::ExecError;
use super::super::lanes::Vector;
use super::super::state::Wave;
use super::access::{Access, Address};
use super::address::{Lanes, misaligned};
use super::transfer::{self, Places};
use super::words::{Lds, Words};
use super::{Access as Kind, Env, Fault, Reason, Space};
use crate::Generation;
use crate::sem::atomic::Atomic;
use crate::sem::mem::{Action, Part, Place, Size};

impl Lds {
    /// The active lanes whose bytes are inside.
    ///
    /// The hardware drops what lies outside and loads 0. Compilers rely on that to turn lanes off, with addresses that
    /// no data share has (Triton's are 0x7fffffff); an address that another group could have is a fault.
    pub(super) fn check(&self, access: Kind, lanes: Lanes, bytes: u32) -> Result<u64, Fault> {
        const BEYOND: u64 = 1 << 20;
        let size = u64::from(self.bytes());
        let (mut inside, mut rest) = (lanes.active, lanes.active);
        while rest != 0 {
            let lane = rest.trailing_zeros() as usize;
            let address = lanes.at[lane];
            if address >= BEYOND {
                inside &= !(1 << lane);
            } else if address + u64::from(bytes) > size {
                return Err(Fault {
                    access,
                    reason: Reason::Outside,
                    space: Space::Lds,
                    address,
                    bytes,
                    lane: Some(lane as u8),
                    nearest: None,
                });
            }
            rest &= rest - 1;
        }
        Ok(inside)
    }
}

impl Access {
    /// Executes an instruction of the data share.
    pub(super) fn run_ds(&self, wave: &mut Wave, env: &mut Env) -> Result<(), ExecError> {
        let active = wave.exec();
        let Address::Ds { register, offsets } = self.address else { return Ok(()) };
        let lane_addresses = |wave: &Wave, offset: u32| -> [u64; 64] {
            wave.vector(usize::from(register)).map(|at| u64::from(at.wrapping_add(offset)))
        };
        match (self.action, self.place) {
            (Action::Append | Action::Consume, _) => self.count(wave, env, offsets[0], active),
            (Action::Permute, _) => {
                self.permute(wave, offsets[0], register, active);
                Ok(())
            }
            (Action::BackwardPermute { inactive }, _) => {
                self.permute_back(wave, offsets[0], register, active, inactive);
                Ok(())
            }
            (Action::Swizzle, _) => {
                self.swizzle(wave, offsets[0], register, active);
                Ok(())
            }
            (Action::Atomic(atomic, _), Place::Second) => self.second(wave, env, atomic, offsets[0], register, active),
            (_, Place::ByLane) => {
                let base = offsets[0] + (wave.m0() & 0xffff);
                let at = core::array::from_fn(|lane| u64::from(base) + 4 * lane as u64);
                self.in_lds(wave, env, Lanes { at: &at, active })
            }
            (_, Place::Pair { .. }) => {
                // Both addresses come from the register as it is before the first result is written.
                let at = offsets.map(|offset| lane_addresses(wave, offset));
                for (half, at) in at.iter().enumerate() {
                    let mut one = self.clone();
                    one.data = [self.data[half]; 2];
                    one.dst = self.dst.map(|dst| dst + (half * self.action.dwords()) as u16);
                    one.in_lds(wave, env, Lanes { at, active })?;
                }
                Ok(())
            }
            _ => {
                let at = lane_addresses(wave, offsets[0]);
                self.in_lds(wave, env, Lanes { at: &at, active })
            }
        }
    }

    /// An atomic whose data is in the data share, at a distance in dwords.
    fn second(
        &self,
        wave: &mut Wave,
        env: &mut Env,
        atomic: Atomic,
        offset: u32,
        register: u16,
        active: u64,
    ) -> Result<(), ExecError> {
        let bytes = 4 * atomic.dwords() as u32;
        let own_offset = offset & 0x8000 != 0;
        let address = *wave.vector(usize::from(register));
        let first = address.map(|at| if own_offset { at & 0x1_ffff } else { at });
        let second: [u64; 64] = core::array::from_fn(|lane| {
            // The instruction's offset has 15 bits and a sign; the address's upper 15 bits are signed likewise.
            let dwords = if own_offset { address[lane] as i32 >> 17 } else { (offset << 17) as i32 >> 17 };
            u64::from(first[lane].wrapping_add_signed(4 * dwords))
        });
        let first = first.map(u64::from);
        env.lds.check(Kind::Read, Lanes { at: &second, active }, bytes)?;
        env.lds.check(Kind::Atomic, Lanes { at: &first, active }, bytes)?;
        let lanes = wave.lanes() as usize;
        let places = Places { at: &first, base: 0, active, lanes, next: 1 };
        if !places.aligned(bytes.into()) {
            return Err(misaligned(Space::Lds, &places, bytes).into());
        }
        let (mut data, mut old) = ([[0; 64]; 2], [[0; 64]; 2]);
        let size = Size::Dwords(atomic.dwords() as u8);
        transfer::load(env.lds, &Places { at: &second, ..places }, size, Part::Whole, &mut data);
        let flush = wave.mode().denorm_f32().flush_in;
        transfer::atomic(env.lds, &places, atomic, flush, [&data, &data], &mut old);
        Ok(())
    }

    /// A counter at M0 plus the offset, which the number of active lanes is added to or taken from.
    ///
    /// Some manuals leave M0 out; compilers put the pointer there for every generation.
    fn count(&self, wave: &mut Wave, env: &mut Env, offset: u32, active: u64) -> Result<(), ExecError> {
        if active == 0 {
            return Ok(());
        }
        let at = [u64::from(offset.wrapping_add(wave.m0() & 0xffff) & !3); 64];
        if env.lds.check(Kind::Atomic, Lanes { at: &at, active: 1 }, 4)? == 0 {
            return Ok(());
        }
        let lanes = active.count_ones();
        let add = if matches!(self.action, Action::Append) { lanes } else { lanes.wrapping_neg() };
        let old = env.lds.update(at[0] as usize / 4, |old| old.wrapping_add(add));
        if let Some(dst) = self.dst {
            wave.write_some(usize::from(dst), &[old; 64], active);
        }
        Ok(())
    }

    /// Each active lane sends its value to the lane that its address names.
    fn permute(&self, wave: &mut Wave, offset: u32, register: u16, active: u64) {
        let (lanes, group) = (wave.lanes() as usize, permuted(wave));
        let (to, data) = (*wave.vector(usize::from(register)), *wave.vector(usize::from(self.data[0])));
        let mut out: Vector = [0; 64];
        for lane in (0..lanes).filter(|lane| active >> lane & 1 != 0) {
            let to = (to[lane].wrapping_add(offset) / 4) as usize % group;
            out[lane / group * group + to] = data[lane];
        }
        self.put(wave, &out, active);
    }

    /// Each lane takes the value of the lane that its address names; of an inactive one 0, or its value.
    fn permute_back(&self, wave: &mut Wave, offset: u32, register: u16, active: u64, inactive: bool) {
        let group = permuted(wave);
        let (from, data) = (wave.vector(usize::from(register)), wave.vector(usize::from(self.data[0])));
        let out = core::array::from_fn(|lane| {
            let from = lane / group * group + (from[lane].wrapping_add(offset) / 4) as usize % group;
            if inactive || active >> from & 1 != 0 { data[from] } else { 0 }
        });
        self.put(wave, &out, active);
    }

    /// Each lane takes the value of the lane that the pattern gives for it; of an inactive one 0.
    fn swizzle(&self, wave: &mut Wave, pattern: u32, register: u16, active: u64) {
        let data = wave.vector(usize::from(register));
        let out = core::array::from_fn(|lane| {
            let from = swizzle_source(pattern, lane as u32) as usize & 63;
            if active >> from & 1 != 0 { data[from] } else { 0 }
        });
        self.put(wave, &out, active);
    }

    fn put(&self, wave: &mut Wave, values: &Vector, active: u64) {
        if let Some(dst) = self.dst {
            wave.write_some(usize::from(dst), values, active);
        }
    }
}

/// Lanes among which permutations stay: RDNA 1 to 3 run a wave of 64 lanes as two halves.
fn permuted(wave: &Wave) -> usize {
    match wave.generation() {
        Generation::Rdna1 | Generation::Rdna2 | Generation::Rdna3 | Generation::Rdna3_5 => 32,
        _ => wave.lanes() as usize,
    }
}

/// The lane whose value a lane gets under a pattern of `DS_SWIZZLE_B32`.
fn swizzle_source(pattern: u32, lane: u32) -> u32 {
    let (group, at) = (lane & 0x20, lane & 0x1f);
    let mask = pattern & 0x1f;
    if pattern >= 0xe000 {
        // The order of a fast Fourier transform.
        let reversed = (at.reverse_bits() >> 27) >> mask.count_ones();
        group | (reversed | at & mask) & 0x1f
    } else if pattern >= 0xc000 {
        let by = pattern >> 5 & 0x1f;
        let turned = if pattern >> 10 & 1 != 0 { at.wrapping_sub(by) } else { at + by };
        group | at & mask | turned & !mask & 0x1f
    } else if pattern & 0x8000 != 0 {
        lane & !3 | pattern >> (2 * (lane & 3)) & 3
    } else {
        let (or, xor) = (pattern >> 5 & 0x1f, pattern >> 10 & 0x1f);
        group | (at & mask | or) ^ xor
    }
}
