//! Scalar memory: one access for the whole wave.

use super::super::error::ExecError;
use super::super::state::Wave;
use super::access::{Access, Address, Scalar};
use super::buffer::scalar_extent;
use super::transfer::extend;
use super::words::Words;
use super::{Access as Kind, Env};
use crate::sem::atomic::{Atomic, add_f32};
use crate::sem::mem::{Action, Size, Unit};

impl Access {
    /// Executes a scalar access.
    pub(super) fn run_scalar(&self, wave: &mut Wave, env: &mut Env) -> Result<(), ExecError> {
        if matches!(self.action, Action::Clock) {
            let clock = env.tick();
            if let Some(dst) = self.dst {
                wave.set_slot(dst, clock as u32);
                wave.set_slot(dst + 1, (clock >> 32) as u32);
            }
            return Ok(());
        }
        if matches!(self.action, Action::WaveNumber) {
            if let Some(dst) = self.dst {
                wave.set_slot(dst, wave.number.into());
            }
            return Ok(());
        }
        let Address::Scalar { base, offset, register, scale } = self.address else { return Ok(()) };
        let register = match register {
            Scalar::None => 0,
            Scalar::Register(slot) => wave.slot(slot.into()),
            Scalar::Constant(value) => value,
        };
        let size = match self.action {
            Action::Load(size, _) | Action::Store(size, _) => size,
            Action::Atomic(atomic, _) => Size::Dwords(atomic.dwords() as u8),
            _ => return Ok(()),
        };
        // The hardware drops the low bits of every part by itself.
        let mask = match size {
            Size::U8 | Size::I8 => u64::MAX,
            Size::U16 | Size::I16 => !1,
            Size::Dwords(_) => !3,
        };
        let unit = if self.unit == Unit::ScalarScratch { 64 } else { scale };
        let offset = (offset as u64 & mask).wrapping_add(u64::from(register).wrapping_mul(unit.into()) & mask);
        if self.unit == Unit::ScalarBuffer {
            let words = core::array::from_fn(|at| wave.slot(u16::from(base) + at as u16));
            let (start, extent) = scalar_extent(wave.generation(), words);
            let address = (start & mask).wrapping_add(offset);
            return self.scalar_buffer(wave, env, address, extent.saturating_sub(offset), size);
        }
        let address = (wave.pair(base) & mask).wrapping_add(offset);
        self.scalar_at(wave, env, address, size)
    }

    /// An access of which the first `room` bytes are in range: dwords behind read as 0 and are not written.
    fn scalar_buffer(
        &self,
        wave: &mut Wave,
        env: &mut Env,
        address: u64,
        room: u64,
        size: Size,
    ) -> Result<(), ExecError> {
        let bytes = u64::from(size.bytes());
        if bytes <= room {
            return self.scalar_at(wave, env, address, size);
        }
        let fit = room.div_ceil(4) as u8;
        let mut part = self.clone();
        let size = Size::Dwords(fit);
        part.action = match (self.action, size) {
            _ if fit == 0 || bytes < 4 => Action::Nothing,
            (Action::Load(_, part), size) => Action::Load(size, part),
            (Action::Store(_, part), size) => Action::Store(size, part),
            _ => Action::Nothing,
        };
        let fits = !matches!(part.action, Action::Nothing);
        if fits {
            part.scalar_at(wave, env, address, size)?;
        }
        if let (Action::Load(size, _), Some(dst)) = (self.action, self.dst) {
            for dword in (if fits { fit.into() } else { 0 })..size.dwords() as u16 {
                wave.set_slot(dst + dword, 0);
            }
        }
        Ok(())
    }

    fn scalar_at(&self, wave: &mut Wave, env: &mut Env, address: u64, size: Size) -> Result<(), ExecError> {
        let bytes = size.bytes();
        let kind = match self.action {
            Action::Store(..) => Kind::Write,
            Action::Atomic(..) => Kind::Atomic,
            _ => Kind::Read,
        };
        let found = env.memory.find(&mut env.hint, address, bytes.into());
        let mut view = found.ok_or_else(|| env.memory.fault(kind, address, bytes))?;
        let at = (address - view.base) as usize;
        match self.action {
            Action::Load(Size::Dwords(count), _) => {
                let Some(dst) = self.dst else { return Ok(()) };
                for dword in 0..u16::from(count) {
                    wave.set_slot(dst + dword, view.get(at / 4 + usize::from(dword)));
                }
            }
            Action::Load(small, _) => {
                let bits = extend(small, view.get_at(at, bytes as usize, 1));
                if let Some(dst) = self.dst {
                    wave.set_slot(dst, bits);
                }
            }
            Action::Store(_, _) => {
                for dword in 0..bytes.div_ceil(4) as u16 {
                    view.set(at / 4 + usize::from(dword), wave.slot(self.data[0] + dword));
                }
            }
            Action::Atomic(atomic, _) => {
                let pair = |first: u16| u64::from(wave.slot(first + 1)) << 32 | u64::from(wave.slot(first));
                let (a, b) = (wave.slot(self.data[0]), wave.slot(self.data[1]));
                let old = match atomic {
                    Atomic::B32(f) => u64::from(view.update(at / 4, |old| f(old, a, b))),
                    Atomic::AddF32 => u64::from(view.update(at / 4, |old| add_f32(true, old, a))),
                    Atomic::B64(f) => {
                        if !address.is_multiple_of(8) {
                            return Err(env.memory.misaligned(address, bytes).into());
                        }
                        let (a, b) = (pair(self.data[0]), pair(self.data[1]));
                        view.update_pair(at / 4, |old| f(old, a, b))
                    }
                };
                if let Some(dst) = self.dst {
                    wave.set_slot(dst, old as u32);
                    if bytes == 8 {
                        wave.set_slot(dst + 1, (old >> 32) as u32);
                    }
                }
            }
            _ => {}
        }
        Ok(())
    }
}
