//! What the execution tests share.
#![allow(dead_code, unused_macros)] // Each test file uses a part of it.

use gfx_isa::asm::Assembler;
use gfx_isa::exec::{ExecError, Flow, Wave};
use gfx_isa::{Decoder, Generation, Inst, Op};

/// A word of each generation that has an instruction in an encoding, through the typed views.
#[macro_export]
macro_rules! words {
    ($view:ident::$op:ident $(, $set:ident = $value:expr)*; $($generation:ident = $module:ident),*) => {
        $crate::words!(@all $view $op [$(.$set($value))*] $($generation = $module)*)
    };
    ($view:ident::$op:ident $(, $set:ident = $value:expr)*) => {
        $crate::words!($view::$op $(, $set = $value)*; Cdna1 = cdna1, Cdna2 = cdna2, Cdna3 = cdna3, Cdna4 = cdna4,
            Cdna5 = cdna5, Rdna1 = rdna1, Rdna2 = rdna2, Rdna3 = rdna3, Rdna3_5 = rdna3_5, Rdna4 = rdna4)
    };
    (@all $view:ident $op:ident $set:tt $($generation:ident = $module:ident)*) => {
        vec![$($crate::words!(@one $view $op $set $generation $module)),*]
    };
    (@one $view:ident $op:ident [$($set:tt)*] $generation:ident $module:ident) => {
        (
            gfx_isa::Generation::$generation,
            u64::from(gfx_isa::$module::$view::new(gfx_isa::$module::$view::$op)$($set)*.0),
        )
    };
}

/// Source value of a vector register.
pub(crate) const fn v(register: u32) -> u32 {
    256 + register
}

pub(crate) const CDNA: [Generation; 4] = [Generation::Cdna1, Generation::Cdna2, Generation::Cdna3, Generation::Cdna4];

pub(crate) fn bytes(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

/// Decodes one instruction for waves of a size.
pub(crate) fn decode(generation: Generation, lanes: u32, words: &[u32]) -> Inst {
    let bytes = bytes(words);
    let inst = Decoder::new(generation, &bytes).wave_size(lanes).next().expect("not empty");
    let inst = inst.unwrap_or_else(|error| panic!("{generation} {words:08x?}: {error}"));
    assert_eq!(inst.len(), words.len() * 4, "{generation} {words:08x?}");
    inst
}

/// Bytes of a hex string as dwords.
pub(crate) fn hex(text: &str) -> Vec<u32> {
    let digits: String = text.chars().filter(|c| !c.is_whitespace()).collect();
    let byte = |at: usize| u8::from_str_radix(&digits[at..at + 2], 16).expect("hex");
    let bytes: Vec<u8> = (0..digits.len()).step_by(2).map(byte).collect();
    bytes.chunks_exact(4).map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]])).collect()
}

pub(crate) fn wave(generation: Generation) -> Wave {
    Wave::new(generation, generation.wave_sizes()[0]).expect("its own size")
}

/// Decodes and executes one instruction.
pub(crate) fn step(wave: &mut Wave, words: &[u32]) -> Result<Flow, ExecError> {
    let inst = decode(wave.generation(), wave.lanes(), words);
    wave.step(&inst)
}

/// As [`step`], of a two-dword instruction that must work.
pub(crate) fn step64(wave: &mut Wave, word: u64) {
    let words = [word as u32, (word >> 32) as u32];
    let flow = step(wave, &words).unwrap_or_else(|error| panic!("{} {word:016x}: {error}", wave.generation()));
    assert_eq!(flow, Flow::Next);
}

/// Fills a vector register with values, repeated over the lanes.
pub(crate) fn fill(wave: &mut Wave, register: usize, values: &[u32]) {
    for lane in 0..wave.lanes() as usize {
        wave.set_vgpr(lane, register, values[lane % values.len()]);
    }
}

pub(crate) fn lanes(wave: &Wave, register: usize) -> Vec<u32> {
    (0..wave.lanes() as usize).map(|lane| wave.vgpr(lane, register)).collect()
}

/// Assembles and executes one instruction on a wave.
pub(crate) fn asm(wave: &mut Wave, text: &str) -> Result<Flow, ExecError> {
    let generation = wave.generation();
    let mut bytes = Vec::new();
    let mut assembler = Assembler::new(generation).wave_size(wave.lanes());
    assembler.assemble_line(text, &mut bytes).unwrap_or_else(|error| panic!("{generation} {text}: {error}"));
    let inst = Decoder::new(generation, &bytes).wave_size(wave.lanes()).next().expect("not empty");
    wave.step(&inst.unwrap_or_else(|error| panic!("{generation} {text}: {error}")))
}

/// As [`asm`], of an instruction that must work.
pub(crate) fn exec(wave: &mut Wave, text: &str) {
    let flow = asm(wave, text).unwrap_or_else(|error| panic!("{} {text}: {error}", wave.generation()));
    assert_eq!(flow, Flow::Next, "{text}");
}

/// The generations that have an instruction; at least one.
pub(crate) fn having(name: &str) -> Vec<Generation> {
    let op = Op::from_name(name).unwrap_or_else(|| panic!("{name} is no instruction"));
    let all: Vec<_> = Generation::all().iter().copied().filter(|g| g.instructions_of(op).next().is_some()).collect();
    assert!(!all.is_empty(), "no generation has {name}");
    all
}

/// Sets a pair of vector registers in every lane.
pub(crate) fn fill64(wave: &mut Wave, register: usize, value: u64) {
    fill(wave, register, &[value as u32]);
    fill(wave, register + 1, &[(value >> 32) as u32]);
}

pub(crate) fn read64(wave: &Wave, lane: usize, register: usize) -> u64 {
    u64::from(wave.vgpr(lane, register + 1)) << 32 | u64::from(wave.vgpr(lane, register))
}
