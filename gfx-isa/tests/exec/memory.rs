//! What the tests of memory share: programs as text, and memory to run them on.
#![allow(dead_code)] // Each test file uses a part of it.

use gfx_isa::Generation;
use gfx_isa::asm::Assembler;
use gfx_isa::exec::{Env, ExecError, Fault, Flow, Lds, Memory, Wave};

use super::support;

/// An allocation of 4,096 bytes, a local data share of 1,024, and a wave.
pub(crate) struct Bench {
    pub(crate) memory: Memory,
    pub(crate) lds: Lds,
    pub(crate) wave: Wave,
    pub(crate) base: u64,
}

impl Bench {
    pub(crate) fn new(generation: Generation) -> Bench {
        Bench::with_lanes(generation, generation.wave_sizes()[0])
    }

    pub(crate) fn with_lanes(generation: Generation, lanes: u32) -> Bench {
        let mut memory = Memory::new();
        let base = memory.allocate("data", 4096).expect("there is room");
        let wave = Wave::new(generation, lanes).expect("its own size");
        Bench { memory, lds: Lds::new(1024), wave, base }
    }

    pub(crate) fn lanes(&self) -> usize {
        self.wave.lanes() as usize
    }

    /// Executes one instruction.
    pub(crate) fn run(&mut self, text: &str) -> Result<Flow, ExecError> {
        let inst = assemble(&self.wave, text);
        self.wave.step_in(&inst, &mut Env::new(&self.memory, &mut self.lds))
    }

    /// Executes an instruction that must work.
    pub(crate) fn ok(&mut self, text: &str) {
        let flow = self.run(text).unwrap_or_else(|error| panic!("{} {text}: {error}", self.wave.generation()));
        assert_eq!(flow, Flow::Next);
    }

    /// Executes an instruction that memory must refuse.
    pub(crate) fn fault(&mut self, text: &str) -> Fault {
        match self.run(text) {
            Err(ExecError::Memory(fault)) => *fault,
            other => panic!("{} {text}: {other:?}", self.wave.generation()),
        }
    }

    pub(crate) fn read(&self, offset: u64) -> u32 {
        let mut bytes = [0; 4];
        self.memory.read(self.base + offset, &mut bytes).expect("inside");
        u32::from_le_bytes(bytes)
    }

    pub(crate) fn read64(&self, offset: u64) -> u64 {
        u64::from(self.read(offset + 4)) << 32 | u64::from(self.read(offset))
    }

    pub(crate) fn write(&self, offset: u64, value: u32) {
        self.memory.write(self.base + offset, &value.to_le_bytes()).expect("inside");
    }

    pub(crate) fn bytes(&self) -> Vec<u8> {
        let mut bytes = vec![0; 4096];
        self.memory.read(self.base, &mut bytes).expect("inside");
        bytes
    }

    /// Fills the allocation with bytes that no two places near each other share.
    pub(crate) fn fill(&self) -> Vec<u8> {
        let bytes = pattern(4096);
        self.memory.write(self.base, &bytes).expect("inside");
        bytes
    }

    pub(crate) fn lds_bytes(&self) -> Vec<u8> {
        self.lds.words().iter().flat_map(|word| word.to_le_bytes()).collect()
    }

    pub(crate) fn fill_lds(&mut self) -> Vec<u8> {
        let bytes = pattern(1024);
        for (word, bytes) in self.lds.words_mut().iter_mut().zip(bytes.chunks_exact(4)) {
            *word = u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
        }
        bytes
    }

    /// Sets a register in each lane.
    pub(crate) fn each(&mut self, register: usize, value: impl Fn(usize) -> u32) {
        for lane in 0..self.lanes() {
            self.wave.set_vgpr(lane, register, value(lane));
        }
    }

    /// Sets two registers in each lane.
    pub(crate) fn each64(&mut self, register: usize, value: impl Fn(usize) -> u64) {
        self.each(register, |lane| value(lane) as u32);
        self.each(register + 1, |lane| (value(lane) >> 32) as u32);
    }

    pub(crate) fn sgpr64(&mut self, register: usize, value: u64) {
        self.wave.set_sgpr(register, value as u32);
        self.wave.set_sgpr(register + 1, (value >> 32) as u32);
    }

    pub(crate) fn lane(&self, lane: usize, register: usize) -> u32 {
        self.wave.vgpr(lane, register)
    }
}

fn pattern(bytes: usize) -> Vec<u8> {
    (0..bytes).map(|at| (at * 37 + at / 256 * 11 + 0x81) as u8).collect()
}

pub(crate) fn word(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}

pub(crate) fn assemble(wave: &Wave, text: &str) -> gfx_isa::Inst {
    let mut bytes = Vec::new();
    let mut assembler = Assembler::new(wave.generation()).wave_size(wave.lanes());
    if let Err(error) = assembler.assemble_line(text, &mut bytes) {
        panic!("{} {text}: {error}", wave.generation());
    }
    let words: Vec<u32> =
        bytes.chunks_exact(4).map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]])).collect();
    support::decode(wave.generation(), wave.lanes(), &words)
}

/// Whether a generation has the newer names: `b32` for `dword`.
pub(crate) fn renamed(generation: Generation) -> bool {
    matches!(generation, Generation::Rdna3 | Generation::Rdna3_5 | Generation::Rdna4 | Generation::Cdna5)
}

/// One of two spellings: before RDNA 3 and since.
pub(crate) fn spelt<'a>(generation: Generation, old: &'a str, new: &'a str) -> &'a str {
    if renamed(generation) { new } else { old }
}
