//! What fuzzing feeds: nothing in a code object, an instruction, a register or an argument may panic, hang or take memory
//! without bound. `tests/fuzz.rs` runs these on random bytes, `fuzz/` under libFuzzer.
#![allow(dead_code)] // Each fuzz target uses one of them.

use gfx_isa::Generation;
use gfx_isa::elf::CodeObject;
use gfx_isa::exec::{Arg, Device, Env, Grid, Lds, Memory, Program, Wave};

/// The most instructions of a wave.
const LIMIT: u64 = 500;

/// Bytes, one after the other; zeros behind the last one.
struct Bytes<'a>(&'a [u8]);

impl Bytes<'_> {
    fn byte(&mut self) -> u8 {
        let Some((first, rest)) = self.0.split_first() else { return 0 };
        self.0 = rest;
        *first
    }

    fn word(&mut self) -> u32 {
        u32::from_le_bytes(std::array::from_fn(|_| self.byte()))
    }

    /// Values at which instructions are at their limits, and any others.
    fn value(&mut self) -> u32 {
        match self.byte() {
            0 => 0,
            1 => u32::MAX,
            2 => 0x8000_0000,
            3 => 0x7f80_0000,
            4 => 0x7fc0_0000,
            5 => 0x3f80_0000,
            6 => 1,
            7 => 0x7bff_3c00,
            small @ 8..=63 => u32::from(small),
            _ => self.word(),
        }
    }
}

/// Reads a code object.
pub(crate) fn elf(data: &[u8]) {
    if let Ok(object) = CodeObject::parse(data) {
        assert_eq!(object.image(0x7f00_0000_0000).len() as u64, object.size());
    }
}

/// Executes instructions that mostly are some, on registers that hold anything, with a little memory.
pub(crate) fn exec(data: &[u8]) {
    let mut bytes = Bytes(data);
    let all: Vec<Generation> = Generation::available().collect();
    let generation = all[usize::from(bytes.byte()) % all.len()];
    let sizes = generation.wave_sizes();
    let lanes = sizes[usize::from(bytes.byte()) % sizes.len()];
    let instructions: Vec<_> = generation.instructions().collect();
    let mut code = Vec::new();
    for _ in 0..1 + bytes.byte() % 12 {
        // The bits that make an instruction what it is, the others at random.
        let info = instructions[bytes.word() as usize % instructions.len()];
        let (identifier, mask) = (info.identifier(), info.mask());
        for at in 0..info.encoding().bits().div_ceil(32) {
            let (identifier, mask) = ((identifier >> (32 * at)) as u32, (mask >> (32 * at)) as u32);
            code.extend((identifier | bytes.word() & !mask).to_le_bytes());
        }
        if bytes.byte() & 3 == 0 {
            code.extend(bytes.word().to_le_bytes());
        }
    }
    let program = Program::with_lanes(generation, &code, lanes);
    let mut memory = Memory::new();
    let base = memory.allocate("a buffer", 4096).expect("there is room for a page");
    let mut lds = Lds::new(1024);
    let mut wave = Wave::new(generation, lanes).expect("a size of the generation");
    for register in 0..106 {
        wave.set_sgpr(register, bytes.value());
    }
    for register in (0..12).step_by(2) {
        wave.set_sgpr(register, base as u32 + u32::from(bytes.byte()) * 4);
        wave.set_sgpr(register + 1, (base >> 32) as u32);
    }
    for register in 0..32 {
        let (value, step) = (bytes.value(), bytes.value());
        for lane in 0..lanes as usize {
            wave.set_vgpr(lane, register, value.wrapping_add(step.wrapping_mul(lane as u32)));
        }
    }
    for lane in 0..lanes as usize {
        wave.set_vgpr(lane, 0, base as u32 + 8 * lane as u32);
        wave.set_vgpr(lane, 1, (base >> 32) as u32);
    }
    wave.set_m0(bytes.value());
    wave.set_vcc(u64::from(bytes.word()) << 32 | u64::from(bytes.word()));
    wave.set_scratch(base, 32);
    if bytes.byte() & 3 == 0 {
        wave.set_exec(u64::from(bytes.word()) << 32 | u64::from(bytes.word()));
    }
    let _ = wave.run_in(&program, &mut Env::new(&memory, &mut lds), LIMIT);
}

/// Launches the kernels of a code object in which some bytes are changed.
pub(crate) fn launch(object: &[u8], data: &[u8]) {
    let mut bytes = Bytes(data);
    let mut object = object.to_vec();
    for _ in 0..bytes.byte() % 8 {
        let at = bytes.word() as usize % object.len();
        object[at] ^= bytes.byte();
    }
    let Ok(object) = CodeObject::parse(&object) else { return };
    let mut device = Device::new().threads(1).limit(LIMIT);
    let Ok(module) = device.load(&object) else { return };
    let buffer = device.memory.allocate("a buffer", 4096).expect("there is room for a page");
    let count = module.kernels().len().max(1);
    let Some(kernel) = module.kernels().get(usize::from(bytes.byte()) % count) else { return };
    let mut args = Vec::new();
    for info in kernel.info().args.iter().flatten().filter(|arg| !arg.is_hidden()) {
        args.push(match (info.size, info.kind) {
            (_, gfx_isa::kernel::ValueKind::DynamicSharedPointer) => Arg::Local(bytes.value() & 0xfff),
            (8, _) => Arg::Pointer(buffer + u64::from(bytes.byte())),
            (4, _) => Arg::U32(bytes.value()),
            (size, _) => Arg::Bytes(vec![bytes.byte(); size.min(4096) as usize]),
        });
    }
    let size = kernel.info().max_group_size.unwrap_or(64).min(64);
    let _ = device.launch(kernel, Grid::new([2, 1, 1], [size, 1, 1]), &args);
}
