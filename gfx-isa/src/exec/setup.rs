//! The state in which a wave starts: registers by the calling convention of each generation.
//!
//! Sources: LLVM's AMDGPUUsage, chapters "Initial Kernel Execution State" and "Kernel Prolog" for the order of user and
//! system registers, private memory and work-item numbers; AMD's manuals of RDNA 4 and CDNA 5, chapter "Wave state
//! initialization", for TTMP registers; ROCr's queue set-up for the buffer descriptor of private memory.

use super::state::{Mode, Wave, slot};
use crate::Generation;
use crate::kernel::{KernelDescriptor, UserRegister};

/// Scalar registers that a kernel may have.
const SGPRS: usize = slot::VCC as usize;

/// What all waves of a launch have in common.
#[derive(Debug, Clone)]
pub(super) struct Setup {
    pub(super) generation: Generation,
    pub(super) lanes: u32,
    pub(super) descriptor: KernelDescriptor,
    /// Address of the first instruction.
    pub(super) entry: u64,
    /// Address of the arguments.
    pub(super) kernarg: u64,
    /// Dwords of the arguments that go into registers.
    pub(super) preloaded: std::vec::Vec<u32>,
    /// Address of the dispatch packet.
    pub(super) packet: u64,
    /// Address of the queue.
    pub(super) queue: u64,
    /// Private memory of all waves that may exist at once.
    pub(super) scratch: Scratch,
    /// Waves of a full group.
    pub(super) waves: u32,
    /// Groups of a cluster in each dimension.
    pub(super) cluster: [u32; 3],
}

/// Private memory of a launch.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Scratch {
    /// Its address.
    pub(super) base: u64,
    /// Bytes of a lane.
    pub(super) lane_bytes: u32,
    /// Bytes of a wave.
    pub(super) wave_bytes: u64,
    /// Bytes of all waves.
    pub(super) bytes: u64,
}

/// A wave's place.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place {
    /// The group's numbers in the grid.
    pub(super) group: [u32; 3],
    /// Work-items of this group in each dimension.
    pub(super) size: [u32; 3],
    /// The wave's number in the group.
    pub(super) number: u32,
    /// Which part of the private memory is the wave's.
    pub(super) scratch_slot: u64,
}

impl Place {
    /// Waves of the group.
    pub(super) fn waves(&self, lanes: u32) -> u32 {
        self.items().div_ceil(lanes)
    }

    fn items(&self) -> u32 {
        self.size.iter().product()
    }
}

/// The generation has registers for private memory that instructions read by themselves.
pub(super) const fn architected_scratch(generation: Generation) -> bool {
    use Generation::{Cdna1, Cdna2, Rdna1, Rdna2};
    !matches!(generation, Cdna1 | Cdna2 | Rdna1 | Rdna2)
}

/// The group's numbers are in TTMP registers.
const fn ids_in_ttmp(generation: Generation) -> bool {
    matches!(generation, Generation::Rdna4 | Generation::Cdna5)
}

/// The three numbers of a work-item share `v0`.
const fn packs_ids(generation: Generation) -> bool {
    use Generation::{Cdna1, Rdna1, Rdna2};
    !matches!(generation, Cdna1 | Rdna1 | Rdna2)
}

/// Kernels whose arguments are loaded into registers start this many bytes later: what lies before loads them by
/// itself, for firmware that does not.
pub(super) const fn preload_skip(generation: Generation) -> u64 {
    match generation {
        Generation::Cdna2 | Generation::Cdna3 | Generation::Cdna4 => 256,
        _ => 0,
    }
}

/// Scalar registers that are written one after the other, no further than a limit.
struct Registers<'a> {
    wave: &'a mut Wave,
    next: usize,
    end: usize,
}

impl Registers<'_> {
    fn push(&mut self, value: u32) {
        if self.next < self.end {
            self.wave.set_sgpr(self.next, value);
        }
        self.next += 1;
    }

    fn push_pair(&mut self, value: u64) {
        self.push(value as u32);
        self.push((value >> 32) as u32);
    }
}

impl Setup {
    /// Makes a wave what it is at its first instruction. What is not said here is 0.
    pub(super) fn start(&self, wave: &mut Wave, place: &Place) {
        let Setup { generation, lanes, descriptor, .. } = self;
        wave.clear();
        wave.number = place.number as u16;
        wave.set_pc(self.entry);
        wave.set_mode(mode(*generation, descriptor));
        let first = place.number * lanes;
        let items = place.items().saturating_sub(first).min(*lanes);
        wave.set_exec(u64::MAX.checked_shr(64 - items).unwrap_or(0));
        let scratch = self.scratch.base + place.scratch_slot * self.scratch.wave_bytes;
        wave.set_scratch(scratch, self.scratch.lane_bytes);
        self.scalars(wave, place);
        self.workitem_ids(wave, place, first);
    }

    fn scalars(&self, wave: &mut Wave, place: &Place) {
        let Setup { generation, descriptor, scratch, .. } = self;
        let offset = place.scratch_slot * scratch.wave_bytes;
        let user = descriptor.user_sgprs(*generation) as usize;
        let mut registers = Registers { wave, next: 0, end: user };
        for register in descriptor.user_registers() {
            match register {
                UserRegister::PrivateSegmentBuffer => {
                    for word in buffer(*generation, self.lanes, scratch) {
                        registers.push(word);
                    }
                }
                UserRegister::DispatchPtr => registers.push_pair(self.packet),
                UserRegister::QueuePtr => registers.push_pair(self.queue),
                UserRegister::KernargSegmentPtr => registers.push_pair(self.kernarg),
                UserRegister::DispatchId => registers.push_pair(0),
                UserRegister::FlatScratchInit => registers.push_pair(scratch.base),
                UserRegister::PrivateSegmentSize => registers.push(scratch.lane_bytes),
            }
        }
        for word in &self.preloaded {
            registers.push(*word);
        }
        // The system's registers follow those that the kernel counts.
        let mut registers = Registers { wave, next: user, end: SGPRS };
        if ids_in_ttmp(*generation) {
            self.ttmp(registers.wave, place);
        } else {
            for (id, _) in place.group.iter().zip(descriptor.workgroup_ids()).filter(|(_, on)| *on) {
                registers.push(*id);
            }
            if descriptor.workgroup_info() {
                let waves = place.waves(self.lanes);
                registers.push(u32::from(place.number == 0) << 31 | waves & 0x3f);
            }
        }
        if descriptor.enables_private_segment() && !architected_scratch(*generation) {
            registers.push(offset as u32);
        }
    }

    /// Numbers of the group, or of its cluster and of the group in that, and of the wave.
    fn ttmp(&self, wave: &mut Wave, place: &Place) {
        let mut set = |register: u8, value: u32| wave.scalars[usize::from(slot::TTMP + register)] = value;
        let [x, y, z] = core::array::from_fn(|at| place.group[at] / self.cluster[at]);
        set(9, x);
        set(7, y & 0xffff | z << 16);
        set(8, place.number << 25);
        if self.cluster != [1; 3] {
            let mut bits = 0;
            for (at, size) in self.cluster.iter().enumerate() {
                bits |= (place.group[at] % size) << (4 * at) | (size - 1) << (12 + 4 * at);
            }
            bits |= ((self.cluster.iter().product::<u32>() - 1) & 0xf) << 24;
            set(6, bits);
        }
    }

    fn workitem_ids(&self, wave: &mut Wave, place: &Place, first: u32) {
        let count = self.descriptor.workitem_ids();
        let [width, height, _] = place.size.map(|size| size.max(1));
        let packs = packs_ids(self.generation);
        for lane in 0..self.lanes {
            let item = first + lane;
            let ids = [item % width, item / width % height, item / (width * height)];
            let ids = ids.into_iter().take(count as usize);
            if packs {
                let packed = ids.enumerate().fold(0, |bits, (at, id)| bits | (id & 0x3ff) << (10 * at));
                wave.set_vgpr(lane as usize, 0, packed);
            } else {
                for (at, id) in ids.enumerate() {
                    wave.set_vgpr(lane as usize, at, id);
                }
            }
        }
    }
}

/// The mode register that a descriptor asks for.
fn mode(generation: Generation, descriptor: &KernelDescriptor) -> Mode {
    let mut bits = descriptor.float_mode();
    if !ids_in_ttmp(generation) {
        bits |= u32::from(descriptor.dx10_clamp()) << 8 | u32::from(descriptor.ieee_mode()) << 9;
    }
    Mode(bits | u32::from(descriptor.fp16_overflow()) << 23)
}

/// The buffer descriptor of private memory: swizzled by lane in dwords, the lane's number added.
fn buffer(generation: Generation, lanes: u32, scratch: &Scratch) -> [u32; 4] {
    const SWIZZLE: u32 = 1 << 31;
    const SELECT_XYZW: u32 = 4 | 5 << 3 | 6 << 6 | 7 << 9;
    const ADD_LANE: u32 = 1 << 23;
    let stride = if lanes == 64 { 3 } else { 2 } << 21;
    let format = match generation {
        // A number format of unsigned integers, a data format of 32 bits.
        Generation::Cdna1 | Generation::Cdna2 => 4 << 12 | 4 << 15,
        // One format of both; the resource level; no check of bounds.
        _ => 20 << 12 | 1 << 24 | 2 << 28,
    };
    let size = u32::try_from(scratch.bytes).unwrap_or(u32::MAX);
    let high = (scratch.base >> 32) as u32 & 0xffff | SWIZZLE;
    [scratch.base as u32, high, size, SELECT_XYZW | format | stride | ADD_LANE]
}
