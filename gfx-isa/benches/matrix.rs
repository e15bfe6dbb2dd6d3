//! Speed of matrix instructions on one core: the time of one.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use gfx_isa::exec::{Program, Wave};
use gfx_isa::{Generation, cdna3, rdna3, rdna4};

const INSTRUCTIONS: u64 = 1000;

/// A program of one instruction over and over.
fn program(generation: Generation, lanes: u32, word: u64, end: u32) -> Program {
    let mut bytes: Vec<u8> = word.to_le_bytes().repeat(INSTRUCTIONS as usize);
    bytes.extend(end.to_le_bytes());
    Program::with_lanes(generation, &bytes, lanes)
}

/// A wave whose registers hold small 16-bit floats (or bytes), and sums that start at 0.
fn wave(generation: Generation, lanes: u32) -> Wave {
    let mut wave = Wave::new(generation, lanes).expect("a size of the generation");
    let mut random = 1u32;
    for register in 0..32 {
        for lane in 0..lanes as usize {
            random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            wave.set_vgpr(lane, register, 0x3000_3000 + (random >> 8 & 0x87ff_87ff));
        }
    }
    wave
}

fn matrix(criterion: &mut Criterion) {
    let v = |register: u32| 256 + register;
    let mfma = |op: u32| {
        let mai = cdna3::Vop3pMfma::new(op).with_vdst(64).with_src0(v(0)).with_src1(v(8)).with_src2(v(64));
        (Generation::Cdna3, 64, mai.0, cdna3::Sopp::new(cdna3::Sopp::S_ENDPGM).0)
    };
    let wmma4 = |op: u32, lanes: u32| {
        let wmma = rdna4::Vop3p::new(op).with_vdst(64).with_src0(v(0)).with_src1(v(8)).with_src2(v(64));
        (Generation::Rdna4, lanes, wmma.0, rdna4::Sopp::new(rdna4::Sopp::S_ENDPGM).0)
    };
    let wmma3 = |op: u32| {
        let wmma = rdna3::Vop3p::new(op).with_vdst(64).with_src0(v(0)).with_src1(v(8)).with_src2(v(64));
        (Generation::Rdna3, 32, wmma.0, rdna3::Sopp::new(rdna3::Sopp::S_ENDPGM).0)
    };
    let cases = [
        ("v_mfma_f32_32x32x8_f16", mfma(cdna3::Vop3pMfma::V_MFMA_F32_32X32X8_F16)),
        ("v_mfma_f32_32x32x2_f32", mfma(cdna3::Vop3pMfma::V_MFMA_F32_32X32X2_F32)),
        ("v_mfma_f32_16x16x32_fp8_fp8", mfma(cdna3::Vop3pMfma::V_MFMA_F32_16X16X32_FP8_FP8)),
        ("v_wmma_f32_16x16x16_f16 rdna3", wmma3(rdna3::Vop3p::V_WMMA_F32_16X16X16_F16)),
        ("v_wmma_f32_16x16x16_f16 rdna4", wmma4(rdna4::Vop3p::V_WMMA_F32_16X16X16_F16, 32)),
        ("v_wmma_f32_16x16x16_f16 rdna4 wave64", wmma4(rdna4::Vop3p::V_WMMA_F32_16X16X16_F16, 64)),
        ("v_wmma_i32_16x16x16_iu8 rdna4", wmma4(rdna4::Vop3p::V_WMMA_I32_16X16X16_IU8, 32)),
    ];
    let mut group = criterion.benchmark_group("matrix");
    group.sample_size(20);
    group.throughput(Throughput::Elements(INSTRUCTIONS));
    for (name, (generation, lanes, word, end)) in cases {
        let program = program(generation, lanes, word, end);
        let mut wave = wave(generation, lanes);
        group.bench_function(name, |bencher| {
            bencher.iter(|| {
                wave.set_pc(0);
                let finished = wave.run(&program, u64::MAX).expect("the instruction is known");
                assert!(finished.ended);
            });
        });
    }
    group.finish();
}

criterion_group!(benches, matrix);
criterion_main!(benches);
