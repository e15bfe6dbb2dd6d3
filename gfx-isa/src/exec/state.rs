//! The state of a wave.

use std::boxed::Box;
use std::vec;
use std::vec::Vec;

use super::error::ExecError;
use super::lanes::{Io, Vector};
use super::mem::PRIVATE_APERTURE;
use crate::Generation;
use crate::sem::mma::Scratch;

/// Scalar registers that have a place of their own, by the number under which [`Wave`] keeps them.
pub(crate) mod slot {
    pub(crate) const FLAT_SCRATCH: u8 = 102;
    pub(crate) const XNACK_MASK: u8 = 104;
    pub(crate) const VCC: u8 = 106;
    pub(crate) const TTMP: u8 = 108;
    pub(crate) const M0: u8 = 124;
    pub(crate) const EXEC: u8 = 126;
    /// Behind room for the widest operand that begins at the last register.
    pub(crate) const FLAT_SCRATCH_BASE: u8 = 144;
    pub(crate) const COUNT: usize = 146;
}

/// Vector registers of each file, the accumulation registers behind the others.
pub(crate) const VGPRS: usize = 256;

/// Vector registers of a wave, of both files.
fn registers(generation: Generation) -> usize {
    if generation == Generation::Cdna5 { 4 * VGPRS } else { 2 * VGPRS }
}

/// Hardware registers by their numbers.
mod hardware {
    use crate::Generation;

    pub(super) const MODE: u32 = 1;
    pub(super) const STATUS: u32 = 2;
    /// RDNA 4 and CDNA 5.
    pub(super) const STATE_PRIV: u32 = 4;

    /// What stands behind a register.
    pub(super) enum Place {
        /// The address of scratch memory, from some bit on.
        Scratch(u32),
        /// The clock, from some bit on.
        Clock(u32),
    }

    pub(super) fn of(generation: Generation, register: u32) -> Option<Place> {
        use Generation::{Cdna1, Cdna2, Cdna3, Cdna4, Rdna1};
        let old = matches!(generation, Cdna1 | Cdna2 | Cdna3 | Cdna4);
        Some(match register {
            20 | 21 if !old => Place::Scratch(32 * (register - 20)),
            29 | 30 if !old && generation != Rdna1 => Place::Clock(32 * (register - 29)),
            _ => return None,
        })
    }
}

/// Floating-point mode: the `MODE` hardware register.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Mode(pub u32);

/// How results are rounded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Round {
    /// To the nearest value, ties to the even one.
    NearestEven,
    /// Towards positive infinity.
    Up,
    /// Towards negative infinity.
    Down,
    /// Towards zero.
    Zero,
}

/// What becomes of denormals.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Denorm {
    pub(crate) flush_in: bool,
    pub(crate) flush_out: bool,
}

impl Mode {
    const IEEE: u32 = 1 << 9;
    const DX10_CLAMP: u32 = 1 << 8;
    /// Vector registers are indexed by `M0` (CDNA 1 to 4).
    pub(crate) const GPR_IDX_EN: u32 = 1 << 27;
    /// Vector instructions are skipped (CDNA 1 to 4).
    pub(crate) const VSKIP: u32 = 1 << 28;
    /// Where the depth of the stack of forks begins (CDNA 1 to 4).
    pub(crate) const CSP: u32 = 29;
    /// High bits of the numbers of vector registers: of the destination, then of the sources (CDNA 5).
    pub(crate) const VGPR_MSB: u32 = 0xff << 12;

    /// What the loader of compute kernels sets: round to nearest even, keep denormals, and IEEE and DX10_CLAMP where
    /// the generation has them.
    pub fn compute(generation: Generation) -> Mode {
        match generation {
            Generation::Rdna4 | Generation::Cdna5 => Mode(0xf0),
            _ => Mode(0xf0 | Mode::IEEE | Mode::DX10_CLAMP),
        }
    }

    fn round(bits: u32) -> Round {
        match bits & 3 {
            0 => Round::NearestEven,
            1 => Round::Up,
            2 => Round::Down,
            _ => Round::Zero,
        }
    }

    /// Rounding of 32-bit floats.
    #[inline]
    pub fn round_f32(self) -> Round {
        Mode::round(self.0)
    }

    /// Rounding of 16-bit and 64-bit floats.
    #[inline]
    pub fn round_f16_f64(self) -> Round {
        Mode::round(self.0 >> 2)
    }

    #[inline]
    pub(crate) fn denorm_f32(self) -> Denorm {
        Denorm { flush_in: self.0 & 0x10 == 0, flush_out: self.0 & 0x20 == 0 }
    }

    #[inline]
    pub(crate) fn denorm_f16_f64(self) -> Denorm {
        Denorm { flush_in: self.0 & 0x40 == 0, flush_out: self.0 & 0x80 == 0 }
    }

    /// Signalling NaNs are quieted by minimum and maximum.
    #[inline]
    pub(crate) fn ieee(self) -> bool {
        self.0 & Mode::IEEE != 0
    }

    /// Clamping turns NaN to 0.
    #[inline]
    pub(crate) fn dx10_clamp(self) -> bool {
        self.0 & Mode::DX10_CLAMP != 0
    }

    /// Results of 16 and 8 bits that overflow become the largest number instead of infinity; matrix products saturate.
    #[inline]
    pub(crate) fn fp16_ovfl(self) -> bool {
        self.0 >> 23 & 1 != 0
    }

    /// Round to nearest even and no denormal flushed.
    #[inline]
    pub(crate) fn is_plain(self) -> bool {
        self.0 & 0xff == 0xf0
    }
}

/// A wave: 32 or 64 lanes that run one program.
///
/// Registers are 32 bits wide; vector registers have one value a lane. All start at 0, `EXEC` with every lane on.
#[derive(Debug, Clone)]
pub struct Wave {
    pub(super) generation: Generation,
    pub(super) lanes: u32,
    pub(super) scalars: [u32; slot::COUNT],
    pub(super) scc: bool,
    pub(super) mode: Mode,
    pub(super) pc: u64,
    /// Its place among the waves of its group.
    pub(super) number: u16,
    pub(super) vgprs: Vec<Vector>,
    pub(super) scratch: Box<[[Vector; 4]; 3]>,
    pub(super) io: Box<Io>,
    pub(super) private: Private,
    /// The hardware register `FLAT_SCR` of RDNA 1 and 2.
    pub(super) flat_scratch: u64,
    /// Room for matrix products, once there was one.
    pub(crate) matrix: Option<Box<Scratch>>,
    /// The mode moves the numbers of vector registers, or skips vector instructions.
    pub(super) moves: bool,
    /// Hardware registers that are nothing but storage.
    pub(super) hardware: [u32; 64],
}

/// The private memory of a wave's lanes.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Private {
    pub(super) base: u64,
    /// Of each lane.
    pub(super) bytes: u32,
}

impl Wave {
    /// A wave of 32 or 64 lanes.
    ///
    /// # Errors
    /// Where the generation does not have waves of this size.
    pub fn new(generation: Generation, lanes: u32) -> Result<Wave, ExecError> {
        if !generation.wave_sizes().contains(&lanes) {
            return Err(ExecError::WaveSize { generation, lanes });
        }
        let mut wave = Wave {
            generation,
            lanes,
            scalars: [0; slot::COUNT],
            scc: false,
            mode: Mode::compute(generation),
            pc: 0,
            number: 0,
            vgprs: vec![[0; 64]; registers(generation)],
            scratch: Box::new([[[0; 64]; 4]; 3]),
            io: Box::new(Io::new(lanes as usize)),
            private: Private::default(),
            flat_scratch: 0,
            matrix: None,
            moves: false,
            hardware: [0; 64],
        };
        wave.set_exec(u64::MAX);
        Ok(wave)
    }

    /// A wave of a size that the generation is known to have.
    pub(super) fn of(generation: Generation, lanes: u32) -> Wave {
        Wave::new(generation, lanes).unwrap_or_else(|error| unreachable!("{error}"))
    }

    /// Makes the wave what a new one is.
    pub(super) fn clear(&mut self) {
        let Wave {
            generation,
            lanes: _,
            scalars,
            scc,
            mode,
            pc,
            number,
            vgprs,
            scratch: _,
            io: _,
            private,
            flat_scratch,
            matrix: _,
            moves,
            hardware,
        } = self;
        (*moves, *hardware) = (false, [0; 64]);
        *scalars = [0; slot::COUNT];
        *scc = false;
        *mode = Mode::compute(*generation);
        *pc = 0;
        *number = 0;
        *private = Private::default();
        *flat_scratch = 0;
        vgprs.fill([0; 64]);
        self.set_exec(u64::MAX);
    }

    /// The generation it belongs to.
    pub fn generation(&self) -> Generation {
        self.generation
    }

    /// Number of lanes: 32 or 64.
    pub fn lanes(&self) -> u32 {
        self.lanes
    }

    /// Bits of the lanes there are.
    #[inline]
    pub(crate) fn lane_mask(&self) -> u64 {
        u64::MAX >> (64 - self.lanes)
    }

    #[inline]
    pub(super) fn pair(&self, slot: u8) -> u64 {
        let at = usize::from(slot);
        u64::from(self.scalars[at + 1]) << 32 | u64::from(self.scalars[at])
    }

    #[inline]
    pub(super) fn set_pair(&mut self, slot: u8, value: u64) {
        let at = usize::from(slot);
        self.scalars[at] = value as u32;
        self.scalars[at + 1] = (value >> 32) as u32;
    }

    /// A lane mask of the wave's size: one scalar register or two.
    #[inline]
    pub(super) fn mask(&self, slot: u8) -> u64 {
        if self.lanes == 64 { self.pair(slot) } else { u64::from(self.scalars[usize::from(slot)]) }
    }

    #[inline]
    pub(super) fn set_mask(&mut self, slot: u8, value: u64) {
        if self.lanes == 64 {
            self.set_pair(slot, value);
        } else {
            self.scalars[usize::from(slot)] = value as u32;
        }
    }

    /// The active lanes, one bit each.
    #[inline]
    pub fn exec(&self) -> u64 {
        self.mask(slot::EXEC)
    }

    /// Sets the active lanes; bits of lanes that the wave does not have are dropped.
    pub fn set_exec(&mut self, lanes: u64) {
        self.set_mask(slot::EXEC, lanes & self.lane_mask());
    }

    /// The vector condition code, one bit a lane.
    pub fn vcc(&self) -> u64 {
        self.mask(slot::VCC)
    }

    /// Sets the vector condition code; bits of lanes that the wave does not have are dropped.
    pub fn set_vcc(&mut self, lanes: u64) {
        self.set_mask(slot::VCC, lanes & self.lane_mask());
    }

    /// The scalar condition code.
    pub fn scc(&self) -> bool {
        self.scc
    }

    /// Sets the scalar condition code.
    pub fn set_scc(&mut self, value: bool) {
        self.scc = value;
    }

    /// `M0`.
    pub fn m0(&self) -> u32 {
        self.scalars[usize::from(slot::M0)]
    }

    /// Sets `M0`.
    pub fn set_m0(&mut self, value: u32) {
        self.scalars[usize::from(slot::M0)] = value;
    }

    /// The floating-point mode.
    pub fn mode(&self) -> Mode {
        self.mode
    }

    /// Sets the floating-point mode.
    pub fn set_mode(&mut self, mode: Mode) {
        self.mode = mode;
        let moving = match self.generation {
            Generation::Cdna1 | Generation::Cdna2 | Generation::Cdna3 | Generation::Cdna4 => {
                Mode::GPR_IDX_EN | Mode::VSKIP
            }
            Generation::Cdna5 => Mode::VGPR_MSB,
            _ => 0,
        };
        self.moves = mode.0 & moving != 0;
    }

    /// Number of vector registers, accumulation registers aside.
    pub(crate) fn vector_registers(&self) -> usize {
        if self.generation == Generation::Cdna5 { 4 * VGPRS } else { VGPRS }
    }

    /// How far the mode moves the numbers of vector registers: of the destination, then of the sources.
    pub(super) fn moved_by(&self) -> [u16; 4] {
        if self.generation == Generation::Cdna5 {
            return core::array::from_fn(|at| (self.mode.0 >> (12 + 2 * at) & 3) as u16 * VGPRS as u16);
        }
        if self.mode.0 & Mode::GPR_IDX_EN == 0 {
            return [0; 4];
        }
        let (index, chosen) = (self.m0() as u16 & 0xff, self.m0() >> 12);
        [3, 0, 1, 2].map(|at| if chosen >> at & 1 != 0 { index } else { 0 })
    }

    /// A hardware register by its number, at a time.
    pub(crate) fn hardware(&self, register: u32, clock: u64) -> u32 {
        let execz = u32::from(self.exec() == 0) << 9;
        let vccz = u32::from(self.vcc() == 0) << 10;
        let gfx12 = matches!(self.generation, Generation::Rdna4 | Generation::Cdna5);
        match (register, hardware::of(self.generation, register)) {
            (hardware::MODE, _) => self.mode.0,
            (hardware::STATUS, _) => {
                let scc = if gfx12 { 0 } else { u32::from(self.scc) };
                scc | execz | vccz | 1 << 16
            }
            (hardware::STATE_PRIV, _) if gfx12 => u32::from(self.scc) << 9,
            (_, Some(hardware::Place::Scratch(shift))) => (self.scratch_address() >> shift) as u32,
            (_, Some(hardware::Place::Clock(shift))) => (clock >> shift) as u32,
            _ => self.hardware[register as usize & 63],
        }
    }

    /// Sets a hardware register by its number; some never change.
    pub(crate) fn set_hardware(&mut self, register: u32, value: u32) {
        match (register, hardware::of(self.generation, register)) {
            (hardware::MODE, _) => self.set_mode(Mode(value)),
            (_, Some(hardware::Place::Scratch(shift))) if self.sets_scratch() => {
                let mask = u64::from(u32::MAX) << shift;
                self.flat_scratch = self.flat_scratch & !mask | u64::from(value) << shift;
            }
            (hardware::STATUS, _) | (_, Some(_)) => {}
            _ => self.hardware[register as usize & 63] = value,
        }
    }

    /// Whether the program sets the address of scratch memory by a hardware register.
    fn sets_scratch(&self) -> bool {
        matches!(self.generation, Generation::Rdna1 | Generation::Rdna2)
    }

    fn scratch_address(&self) -> u64 {
        if self.sets_scratch() { self.flat_scratch } else { self.private.base }
    }

    /// Gives the wave scratch memory: `bytes` for each lane, rounded up to dwords, at an address in [`Memory`].
    ///
    /// The memory holds dword 0 of every lane, then dword 1 of every lane, and so on: byte `b` of lane `l` of a wave of
    /// `n` lanes is at `base + (b / 4 * n + l) * 4 + b % 4`. Scratch instructions, flat addresses of scratch and the
    /// swizzled buffers of the older calling conventions agree on that. The base must be a multiple of `4 * n` on CDNA 5.
    ///
    /// Since CDNA 3 and RDNA 3 this is all that a wave needs. Before, the program finds the address from registers that
    /// it starts with, and sets `FLAT_SCRATCH` (CDNA 1 and 2: registers; RDNA 1 and 2: [`Wave::set_flat_scratch`] or
    /// `S_SETREG`) itself; `bytes` then only bounds what each lane may reach.
    ///
    /// [`Memory`]: super::Memory
    pub fn set_scratch(&mut self, base: u64, bytes: u32) {
        self.private = Private { base, bytes: bytes.checked_next_multiple_of(4).unwrap_or(bytes & !3) };
        // The flat address of lane 0: bits that name a lane are in between, the lowest two count the bytes of a dword.
        let (within, aperture) = (base >> (2 + self.lanes.ilog2()) << 2, u64::from(PRIVATE_APERTURE) << 32);
        self.set_pair(slot::FLAT_SCRATCH_BASE, within | aperture);
    }

    /// The hardware register `FLAT_SCR` of RDNA 1 and 2: the address of scratch memory.
    pub fn flat_scratch(&self) -> u64 {
        self.flat_scratch
    }

    /// Sets the hardware register `FLAT_SCR` of RDNA 1 and 2.
    pub fn set_flat_scratch(&mut self, address: u64) {
        self.flat_scratch = address;
    }

    /// A scalar register by its slot; one that does not exist reads as 0.
    #[inline]
    pub(super) fn slot(&self, slot: u16) -> u32 {
        self.scalars.get(usize::from(slot)).copied().unwrap_or(0)
    }

    /// Sets a scalar register by its slot, where it exists.
    #[inline]
    pub(super) fn set_slot(&mut self, slot: u16, value: u32) {
        if let Some(scalar) = self.scalars.get_mut(usize::from(slot)) {
            *scalar = value;
        }
    }

    /// The program counter: an address, in bytes.
    pub fn pc(&self) -> u64 {
        self.pc
    }

    /// Its place among the waves of its group.
    #[inline]
    pub(crate) fn number(&self) -> usize {
        usize::from(self.number)
    }

    /// Sets the program counter: an address, in bytes.
    pub fn set_pc(&mut self, pc: u64) {
        self.pc = pc;
    }

    /// A scalar register, 0 to 105.
    ///
    /// # Panics
    /// Where there is no such register.
    pub fn sgpr(&self, register: usize) -> u32 {
        assert!(register < usize::from(slot::VCC), "s{register} does not exist");
        self.scalars[register]
    }

    /// Sets a scalar register, 0 to 105.
    ///
    /// # Panics
    /// Where there is no such register.
    pub fn set_sgpr(&mut self, register: usize, value: u32) {
        assert!(register < usize::from(slot::VCC), "s{register} does not exist");
        self.scalars[register] = value;
    }

    fn place(&self, lane: usize, register: usize, file: usize) -> usize {
        assert!(lane < self.lanes as usize, "the wave has no lane {lane}");
        let registers = if file == 0 { self.vector_registers() } else { VGPRS };
        assert!(register < registers, "vector register {register} does not exist");
        file + register
    }

    /// A register of the vector file, accumulation registers behind the others.
    pub(crate) fn vector(&self, register: usize) -> &Vector {
        &self.vgprs[register]
    }

    pub(crate) fn vector_mut(&mut self, register: usize) -> &mut Vector {
        &mut self.vgprs[register]
    }

    /// One lane's value of a vector register, 0 to 255.
    ///
    /// # Panics
    /// Where there is no such lane or register.
    pub fn vgpr(&self, lane: usize, register: usize) -> u32 {
        self.vgprs[self.place(lane, register, 0)][lane]
    }

    /// Sets one lane's value of a vector register, 0 to 255.
    ///
    /// # Panics
    /// Where there is no such lane or register.
    pub fn set_vgpr(&mut self, lane: usize, register: usize, value: u32) {
        let at = self.place(lane, register, 0);
        self.vgprs[at][lane] = value;
    }

    /// One lane's value of an accumulation register (CDNA 1 to 4), 0 to 255.
    ///
    /// # Panics
    /// Where there is no such lane or register.
    pub fn agpr(&self, lane: usize, register: usize) -> u32 {
        self.vgprs[self.place(lane, register, VGPRS)][lane]
    }

    /// Sets one lane's value of an accumulation register (CDNA 1 to 4), 0 to 255.
    ///
    /// # Panics
    /// Where there is no such lane or register.
    pub fn set_agpr(&mut self, lane: usize, register: usize, value: u32) {
        let at = self.place(lane, register, VGPRS);
        self.vgprs[at][lane] = value;
    }
}
