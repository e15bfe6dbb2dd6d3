//! Speed of execution, in lane operations a second (criterion's elements).

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use gfx_isa::exec::{Program, Wave};
use gfx_isa::{Generation, rdna4};

const WAVES: usize = 64;
const INSTRUCTIONS: u64 = 10_000;

/// `v_fma_f32` and `v_add_nc_u32` in turn, and the end.
fn alternating() -> Vec<u8> {
    let v = |register: u32| 256 + register;
    let fma = rdna4::Vop3::new(rdna4::Vop3::V_FMA_F32).with_vdst(0).with_src0(v(1)).with_src1(v(2)).with_src2(v(0)).0;
    let add = rdna4::Vop2::new(rdna4::Vop2::V_ADD_NC_U32).with_vdst(3).with_src0(v(4)).with_vsrc1(3).0;
    let mut bytes = Vec::new();
    for _ in 0..INSTRUCTIONS / 2 {
        bytes.extend(fma.to_le_bytes());
        bytes.extend(add.to_le_bytes());
    }
    bytes.extend(rdna4::Sopp::new(rdna4::Sopp::S_ENDPGM).0.to_le_bytes());
    bytes
}

fn waves(lanes: u32) -> Vec<Wave> {
    let mut waves = Vec::new();
    for number in 0..WAVES {
        let mut wave = Wave::new(Generation::Rdna4, lanes).expect("a size of the generation");
        for lane in 0..lanes as usize {
            wave.set_vgpr(lane, 1, (1.0 + lane as f32 / 64.0).to_bits());
            wave.set_vgpr(lane, 2, (0.5 + number as f32 / 64.0).to_bits());
            wave.set_vgpr(lane, 4, lane as u32);
        }
        waves.push(wave);
    }
    waves
}

fn exec(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("exec");
    group.sample_size(10);
    for lanes in [64, 32] {
        let program = Program::with_lanes(Generation::Rdna4, &alternating(), lanes);
        let mut waves = waves(lanes);
        group.throughput(Throughput::Elements(u64::from(lanes) * INSTRUCTIONS * WAVES as u64));
        group.bench_function(BenchmarkId::new("v_fma_f32/v_add_nc_u32", format!("wave{lanes}")), |bencher| {
            bencher.iter(|| {
                for wave in &mut waves {
                    wave.set_pc(0);
                    let finished = wave.run(&program, u64::MAX).expect("both instructions are known");
                    assert!(finished.ended);
                }
            });
        });
    }
    group.finish();
}

criterion_group!(benches, exec);
criterion_main!(benches);
