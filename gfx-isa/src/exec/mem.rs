//! Memory that waves reach: allocations with bounds, shared by the threads of a launch, and a group's local data share.
//!
//! Words are atomic, so that waves on several threads may share them without locks; loads and stores of one dword never
//! tear, wider ones may, as on the hardware. Other threads see a wave's accesses in the wave's order. Atomics of 32 bits
//! exclude every access to the dword; atomics of 64 bits exclude each other.

mod access;
mod address;
mod buffer;
mod ds;
mod scalar;
mod transfer;
mod transpose;
mod words;

use core::fmt;
use core::sync::atomic::{
    AtomicU32,
    Ordering::{AcqRel, Acquire},
};
use std::boxed::Box;
use std::string::String;
use std::sync::Mutex;
use std::vec::Vec;

use super::barrier::Barriers;
pub(crate) use access::Access as Decoded;
pub(crate) use address::{PRIVATE_APERTURE, SHARED_APERTURE};
pub use words::Lds;
use words::View;

/// Allocations begin at multiples of this, with as much left free behind each: a guard.
const PAGE: u64 = 4096;

/// Where the first allocation lies: above what 32-bit addresses reach, below the apertures of LDS and scratch.
const FIRST: u64 = 0x7f00_0000_0000;

/// The most that one memory holds, in bytes.
const LIMIT: u64 = 1 << 38;

/// Locks of 64-bit atomics, by address.
const LOCKS: usize = 64;

/// A piece of memory with its name.
struct Allocation {
    name: String,
    base: u64,
    bytes: u64,
    words: Box<[AtomicU32]>,
}

/// Global memory: allocations with free pages between them.
///
/// An access outside every allocation is a [`Fault`].
pub struct Memory {
    /// By address.
    allocations: Vec<Allocation>,
    next: u64,
    locks: [Mutex<()>; LOCKS],
}

/// An access that memory refuses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// What was tried.
    pub access: Access,
    /// Why it is refused.
    pub reason: Reason,
    /// Where it was tried.
    pub space: Space,
    /// First address, in bytes; of LDS, from its start.
    pub address: u64,
    /// Bytes accessed.
    pub bytes: u32,
    /// The lane, where one lane did it.
    pub lane: Option<u8>,
    /// The nearest allocation.
    pub nearest: Option<Near>,
}

/// An allocation near a [`Fault`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Near {
    /// The allocation's name.
    pub name: String,
    /// Its address.
    pub base: u64,
    /// Its size in bytes.
    pub bytes: u64,
}

/// Why memory refuses an access.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Reason {
    /// Not all of it is inside one allocation, the local data share, or the lane's scratch.
    Outside,
    /// An atomic whose address is not a multiple of its size.
    Misaligned,
}

/// Kinds of access.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Access {
    /// A load.
    Read,
    /// A store.
    Write,
    /// A read, a computation and a write in one.
    Atomic,
}

/// Address spaces.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Space {
    /// Global memory.
    Global,
    /// A group's local data share.
    Lds,
    /// A lane's private memory.
    Scratch,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Fault { access, reason, space, address, bytes, lane, nearest } = self;
        let misaligned = if *reason == Reason::Misaligned { "misaligned " } else { "" };
        let access = match access {
            Access::Read => "read",
            Access::Write => "write",
            Access::Atomic => "atomic",
        };
        let place = match space {
            Space::Global => "memory",
            Space::Lds => "LDS",
            Space::Scratch => "scratch",
        };
        write!(f, "{misaligned}{access} of {bytes} bytes at {place} address {address:#x}")?;
        if let Some(lane) = lane {
            write!(f, " by lane {lane}")?;
        }
        match nearest {
            Some(near) if *address < near.base => {
                let by = near.base - address;
                write!(f, ", {by} bytes before {} ({:#x}, {} bytes)", near.name, near.base, near.bytes)
            }
            Some(near) => {
                let by = address - near.base;
                write!(f, ", {by} bytes into {} ({:#x}, {} bytes)", near.name, near.base, near.bytes)
            }
            None if *space == Space::Global => write!(f, ": nothing is allocated"),
            None => Ok(()),
        }
    }
}

impl core::error::Error for Fault {}

impl fmt::Debug for Memory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list = self.allocations.iter().map(|a| (&a.name, a.base, a.bytes));
        f.debug_list().entries(list).finish()
    }
}

impl Default for Memory {
    fn default() -> Memory {
        Memory::new()
    }
}

impl Memory {
    /// Memory without allocations.
    pub fn new() -> Memory {
        Memory { allocations: Vec::new(), next: FIRST, locks: [const { Mutex::new(()) }; LOCKS] }
    }

    /// Allocates zeroed bytes and gives their address, a multiple of 4,096.
    ///
    /// The name is for messages. None where there is no room.
    pub fn allocate(&mut self, name: impl Into<String>, bytes: u64) -> Option<u64> {
        let words = usize::try_from(bytes.div_ceil(4)).ok().filter(|_| bytes <= LIMIT)?;
        let base = self.next;
        let next = base.checked_add(bytes.checked_next_multiple_of(PAGE)?)?.checked_add(PAGE)?;
        if next > FIRST + LIMIT {
            return None;
        }
        let mut room = Vec::new();
        room.try_reserve_exact(words).ok()?;
        room.resize_with(words, || AtomicU32::new(0));
        self.next = next;
        self.allocations.push(Allocation { name: name.into(), base, bytes, words: room.into_boxed_slice() });
        Some(base)
    }

    /// Gives an allocation back. Whether there was one at the address.
    pub fn free(&mut self, address: u64) -> bool {
        match self.allocations.binary_search_by_key(&address, |a| a.base) {
            Ok(at) => {
                self.allocations.remove(at);
                true
            }
            Err(_) => false,
        }
    }

    /// The allocation that holds `bytes` bytes at an address. `hint` is the index of the one found last.
    #[inline]
    fn find(&self, hint: &mut usize, address: u64, bytes: u64) -> Option<View<'_>> {
        let inside = |a: &Allocation| {
            let offset = address.wrapping_sub(a.base);
            offset < a.bytes && a.bytes - offset >= bytes
        };
        if let Some(a) = self.allocations.get(*hint).filter(|a| inside(a)) {
            return Some(a.view(&self.locks));
        }
        let at = self.allocations.partition_point(|a| a.base <= address).checked_sub(1)?;
        let a = self.allocations.get(at).filter(|a| inside(a))?;
        *hint = at;
        Some(a.view(&self.locks))
    }

    /// What to say of an access that no allocation holds.
    #[cold]
    pub(crate) fn fault(&self, access: Access, address: u64, bytes: u32) -> Fault {
        let distance = |a: &&Allocation| {
            if address < a.base { a.base - address } else { address.saturating_sub(a.base + a.bytes) }
        };
        let nearest = self.allocations.iter().min_by_key(distance);
        let nearest = nearest.map(|a| Near { name: a.name.clone(), base: a.base, bytes: a.bytes });
        Fault { access, reason: Reason::Outside, space: Space::Global, address, bytes, lane: None, nearest }
    }

    /// What to say of an atomic whose address is not a multiple of its size.
    #[cold]
    fn misaligned(&self, address: u64, bytes: u32) -> Fault {
        Fault { reason: Reason::Misaligned, ..self.fault(Access::Atomic, address, bytes) }
    }

    /// Reads bytes.
    ///
    /// # Errors
    /// Where some lie outside of every allocation.
    pub fn read(&self, address: u64, into: &mut [u8]) -> Result<(), Fault> {
        let bytes = into.len() as u64;
        let found = self.find(&mut 0, address, bytes);
        let view = found.ok_or_else(|| self.fault(Access::Read, address, bytes as u32))?;
        let offset = (address - view.base) as usize;
        for (at, byte) in into.iter_mut().enumerate() {
            let at = offset + at;
            *byte = (view.words[at / 4].load(Acquire) >> (8 * (at % 4))) as u8;
        }
        Ok(())
    }

    /// Writes bytes.
    ///
    /// # Errors
    /// Where some lie outside of every allocation; nothing is then written.
    pub fn write(&self, address: u64, from: &[u8]) -> Result<(), Fault> {
        let bytes = from.len() as u64;
        let found = self.find(&mut 0, address, bytes);
        let view = found.ok_or_else(|| self.fault(Access::Write, address, bytes as u32))?;
        let offset = (address - view.base) as usize;
        for (at, byte) in from.iter().enumerate() {
            let (at, shift) = ((offset + at) / 4, 8 * ((offset + at) % 4));
            let word = &view.words[at];
            let _ = word.fetch_update(AcqRel, Acquire, |old| Some(old & !(0xff << shift) | u32::from(*byte) << shift));
        }
        Ok(())
    }
}

impl Allocation {
    #[inline]
    fn view<'a>(&'a self, locks: &'a [Mutex<()>; LOCKS]) -> View<'a> {
        View { words: &self.words, base: self.base, locks }
    }
}

/// What an instruction reaches beside the registers of its wave.
#[derive(Debug)]
pub struct Env<'a> {
    /// Global memory.
    pub memory: &'a Memory,
    /// The local data share of the wave's group.
    pub lds: &'a mut Lds,
    /// The barriers of the wave's group.
    pub(crate) barriers: Barriers,
    /// Index of the allocation found last.
    hint: usize,
    /// What the program reads as time: grows with every reading.
    clock: u64,
}

/// What a reading of the clock adds to it.
const TICK: u64 = 64;

impl<'a> Env<'a> {
    /// The surroundings of a wave that is alone in its group.
    pub fn new(memory: &'a Memory, lds: &'a mut Lds) -> Env<'a> {
        Env { memory, lds, barriers: Barriers::new(1, 0), hint: 0, clock: 0 }
    }

    /// Reads the clock.
    pub(crate) fn tick(&mut self) -> u64 {
        self.clock += TICK;
        self.clock
    }
}

#[cfg(test)]
mod tests {
    use std::string::ToString;

    use super::*;

    #[test]
    fn accesses_stay_inside_allocations() {
        let mut memory = Memory::new();
        let a = memory.allocate("a", 10).expect("there is room");
        let b = memory.allocate("b", 4096).expect("there is room");
        assert_eq!(memory.write(a + 3, &[1, 2, 3, 4, 5, 6, 7]), Ok(()));
        let mut bytes = [0xff; 10];
        assert_eq!(memory.read(a, &mut bytes), Ok(()));
        assert_eq!(bytes, [0, 0, 0, 1, 2, 3, 4, 5, 6, 7]);
        let fault = memory.write(a + 8, &[0; 4]).expect_err("two bytes are outside");
        assert_eq!(fault.nearest.as_ref().map(|near| near.name.as_str()), Some("a"));
        assert_eq!(
            fault.to_string(),
            "write of 4 bytes at memory address 0x7f0000000008, 8 bytes into a (0x7f0000000000, 10 bytes)"
        );
        assert!(memory.read(b - 1, &mut [0]).is_err() && memory.read(b + 4096, &mut [0]).is_err());
        assert!(memory.read(u64::MAX, &mut [0; 8]).is_err());
        assert!(memory.free(a) && !memory.free(a) && memory.read(a, &mut [0]).is_err());
        assert_eq!(memory.read(b, &mut [0; 4096]), Ok(()));
        assert_eq!(memory.allocate("too much", u64::MAX), None);
    }
}
