//! Speed of accesses to memory, in lanes a second (criterion's elements).

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use gfx_isa::Generation;
use gfx_isa::asm::Assembler;
use gfx_isa::exec::{Env, Lds, Memory, Program, Wave};

/// Accesses of one kind, a dword or four a lane; elements are lanes.
fn memory(criterion: &mut Criterion) {
    const ACCESSES: u64 = 1000;
    let mut group = criterion.benchmark_group("memory");
    group.sample_size(10);
    let cases = [
        ("load, in lane order", "global_load_b32 v1, v[2:3], off", 4),
        ("load, scattered", "global_load_b32 v1, v[2:3], off", 404),
        ("load of 4 dwords", "global_load_b128 v[4:7], v[2:3], off", 16),
        ("store, in lane order", "global_store_b32 v[2:3], v1, off", 4),
        ("store of 4 dwords", "global_store_b128 v[2:3], v[4:7], off", 16),
        ("atomic add", "global_atomic_add_u32 v[2:3], v1, off", 4),
        ("data share load", "ds_load_b32 v1, v8", 4),
        ("data share store", "ds_store_b32 v8, v1", 4),
        ("scratch load", "scratch_load_b32 v1, v9, off", 4),
    ];
    for (name, text, stride) in cases {
        let mut code = Vec::new();
        let mut assembler = Assembler::new(Generation::Rdna4);
        for _ in 0..ACCESSES {
            assembler.assemble_line(text, &mut code).expect("a line of rdna4");
        }
        assembler.assemble_line("s_endpgm", &mut code).expect("a line of rdna4");
        let program = Program::new(Generation::Rdna4, &code);
        let mut memory = Memory::new();
        memory.allocate("before", 4096).expect("room");
        let base = memory.allocate("data", 1 << 16).expect("room");
        let mut lds = Lds::new(1 << 14);
        let mut wave = Wave::new(Generation::Rdna4, 32).expect("its own size");
        wave.set_scratch(base, 64);
        for lane in 0..32 {
            let address = base + stride * lane as u64 % (1 << 15);
            wave.set_vgpr(lane, 2, address as u32);
            wave.set_vgpr(lane, 3, (address >> 32) as u32);
            wave.set_vgpr(lane, 8, 4 * lane as u32);
        }
        group.throughput(Throughput::Elements(32 * ACCESSES));
        group.bench_function(name, |bencher| {
            bencher.iter(|| {
                wave.set_pc(0);
                let mut env = Env::new(&memory, &mut lds);
                let finished = wave.run_in(&program, &mut env, u64::MAX).expect("every access is inside");
                assert!(finished.ended);
            });
        });
    }
    group.finish();
}

criterion_group!(benches, memory);
criterion_main!(benches);
