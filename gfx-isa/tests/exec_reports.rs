//! Faults that people met in other emulators of AMD GPUs, each with the value that is right.

#[path = "exec/support.rs"]
mod support;

use gfx_isa::exec::{Mode, Wave};
use gfx_isa::{Generation, cdna2, cdna3, cdna4, cdna5, rdna2, rdna3};
use support::*;

/// Runs one instruction on registers that hold one value in all lanes and gives lane 0 of v0.
fn run(generation: Generation, words: &[u32], registers: &[(usize, u32)]) -> u32 {
    let mut wave = wave(generation);
    for &(register, value) in registers {
        fill(&mut wave, register, &[value]);
    }
    step(&mut wave, words).unwrap_or_else(|error| panic!("{generation} {words:08x?}: {error}"));
    wave.vgpr(0, 0)
}

fn two(word: u64) -> [u32; 2] {
    [word as u32, (word >> 32) as u32]
}

#[test]
fn subrev_saturates_where_clamped() {
    let mut wave = wave(Generation::Cdna5);
    fill(&mut wave, 2, &[120, 121, 122, 123, 124, 125, 126, 127]);
    step(&mut wave, &hex("01 80 27 d5 ff 04 02 00 7e 00 00 00")).expect("executes");
    assert_eq!(lanes(&wave, 1)[..8], [0, 0, 0, 0, 0, 0, 0, 1]);
}

#[test]
fn cls_counts_sign_bits() {
    let word = cdna5::Vop1::new(cdna5::Vop1::V_CLS_I32).with_src0(v(1)).0;
    let cases = [
        (0, u32::MAX),
        (0xffff_ffff, u32::MAX),
        (1, 31),
        (0x4000_0000, 1),
        (0x7fff_ffff, 1),
        (0x8000_0000, 1),
        (0x0001_0000, 15),
    ];
    for (input, expected) in cases {
        assert_eq!(run(Generation::Cdna5, &[word], &[(1, input)]), expected, "{input:#x}");
    }
}

#[test]
fn bitop3_numbers_its_table_by_source_0_first() {
    let base = cdna4::Vop3::new(cdna4::Vop3::V_BITOP3_B32).with_src0(v(1)).with_src1(v(2)).with_src2(v(3));
    let sources = [(1, 0xf0f0_f0f0), (2, 0xcccc_cccc), (3, 0xaaaa_aaaa)];
    for table in 0..256u32 {
        let word = base.with_neg(table & 7).with_abs(table >> 3 & 7).with_omod(table >> 6).0;
        // The sources' columns spell out every row of the table.
        assert_eq!(run(Generation::Cdna4, &two(word), &sources), table * 0x0101_0101, "{table:#x}");
    }
}

#[test]
fn compares_write_0_for_lanes_that_are_off() {
    for (generation, word) in words!(Vopc::V_CMP_EQ_U32, with_src0 = v(1), with_vsrc1 = 1) {
        let mut wave = wave(generation);
        wave.set_vcc(u64::MAX);
        wave.set_exec(0x0f);
        step(&mut wave, &[word as u32]).expect("executes");
        assert_eq!(wave.vcc(), 0x0f, "{generation}");
    }
}

#[test]
fn cmpx_writes_exec_and_on_cdna_its_destination() {
    let words = words!(Vop3::V_CMPX_EQ_U32, with_vdst = 4, with_src0 = v(1), with_src1 = v(2);
        Cdna1 = cdna1, Cdna2 = cdna2, Cdna3 = cdna3, Cdna4 = cdna4);
    for (generation, word) in words {
        let mut wave = wave(generation);
        fill(&mut wave, 1, &[7, 8, 7, 8]);
        fill(&mut wave, 2, &[7]);
        wave.set_exec(0xff);
        step64(&mut wave, word);
        assert_eq!((wave.exec(), wave.sgpr(4), wave.sgpr(5)), (0x55, 0x55, 0), "{generation}");
    }
    let words = words!(Vop3::V_CMPX_EQ_U32, with_vdst = 126, with_src0 = v(1), with_src1 = v(2);
        Rdna1 = rdna1, Rdna2 = rdna2, Rdna3 = rdna3, Rdna3_5 = rdna3_5, Rdna4 = rdna4, Cdna5 = cdna5);
    for (generation, word) in words {
        let mut wave = wave(generation);
        wave.set_vcc(0x1234);
        fill(&mut wave, 1, &[7, 8]);
        fill(&mut wave, 2, &[8]);
        step64(&mut wave, word);
        assert_eq!((wave.exec(), wave.vcc()), (0xaaaa_aaaa, 0x1234), "{generation}");
    }
}

#[test]
fn or3_takes_all_three() {
    let words = words!(Vop3::V_OR3_B32, with_src0 = v(1), with_src1 = v(2), with_src2 = v(3));
    for (generation, word) in words {
        assert_eq!(run(generation, &two(word), &[(1, 1), (2, 2), (3, 4)]), 7, "{generation}");
    }
}

#[test]
fn packed_f32_negates_halves_by_themselves() {
    for generation in [Generation::Cdna2, Generation::Cdna3] {
        let mut wave = wave(generation);
        for (register, value) in [(2, 2.0f32), (3, 3.0), (4, 4.0), (5, 5.0), (6, 1.0), (7, 1.0)] {
            fill(&mut wave, register, &[value.to_bits()]);
        }
        step(&mut wave, &hex("00 42 b0 d3 02 09 1a 3c")).expect("executes");
        assert_eq!(f32::from_bits(wave.vgpr(0, 0)), -7.0, "{generation}");
        assert_eq!(f32::from_bits(wave.vgpr(0, 1)), -14.0, "{generation}");
    }
}

#[test]
fn exec_hi_is_a_source_of_mbcnt() {
    let word = cdna2::Vop3::new(cdna2::Vop3::V_MBCNT_HI_U32_B32).with_src0(127).with_src1(v(1)).0;
    let mut wave = wave(Generation::Cdna2);
    fill(&mut wave, 1, &[100]);
    step64(&mut wave, word);
    assert_eq!(wave.vgpr(40, 0), 108);
    assert!((0..32).all(|lane| wave.vgpr(lane, 0) == 100));
}

#[test]
fn sdwa_selects_parts() {
    for generation in CDNA {
        let mut wave = wave(generation);
        fill(&mut wave, 1, &[0x0000_ab00, 0x0000_ac00]);
        fill(&mut wave, 2, &[0x00ab_0000]);
        step(&mut wave, &hex("f9 04 5a 7d 01 00 01 05")).expect("executes");
        assert_eq!(wave.vcc() & 3, 0b10, "{generation}: equal in lane 0");
    }
    let rdna2 = Generation::Rdna2;
    assert_eq!(run(rdna2, &hex("f9 a4 00 7e 01 06 16 00"), &[(1, 0xc500)]), 5, "negated");
    let preserved = run(rdna2, &hex("f9 0e 00 7e 03 15 06 00"), &[(0, 0xaaaa_bbbb), (3, 7.0f32.to_bits())]);
    assert_eq!(preserved, 0x0007_bbbb);
}

#[test]
fn inline_constants_have_the_operands_format() {
    let rdna2 = Generation::Rdna2;
    assert_eq!(run(rdna2, &hex("f2 16 00 7e"), &[]), 0x3f80_0000, "f16 1.0 to f32");
    let word = rdna2::Vop2::new(rdna2::Vop2::V_ADD_F16).with_src0(129).with_vsrc1(1).0;
    assert_eq!(run(rdna2, &[word], &[]), 1, "an integer is a bit pattern");

    let base = rdna2::Vop3p::new(rdna2::Vop3p::V_PK_ADD_F16).with_src0(242).with_src1(v(1));
    let word = base.with_op_sel_hi(3).with_op_sel_hi_2(1).0;
    assert_eq!(run(rdna2, &two(word), &[]), 0x0000_3c00, "0 in the high half");

    let word = rdna3::Vop2::new(rdna3::Vop2::V_PK_FMAC_F16).with_src0(242).with_vsrc1(1).0;
    let sources = [(0, 0), (1, 0x4200_4000)];
    assert_eq!(run(Generation::Rdna3, &[word], &sources), 0x4200_4000, "repeated in both halves");
    let word = rdna2::Vop2::new(rdna2::Vop2::V_PK_FMAC_F16).with_src0(242).with_vsrc1(1).0;
    assert_eq!(run(rdna2, &[word], &sources), 0x0000_4000, "not repeated");
}

#[test]
fn med3_of_nan_is_the_minimum() {
    let word = rdna2::Vop3::new(rdna2::Vop3::V_MED3_F16).with_src0(v(1)).with_src1(v(2)).with_src2(v(3)).0;
    assert_eq!(run(Generation::Rdna2, &two(word), &[(1, 0x7e00), (2, 0x3c00), (3, 0x4000)]), 0x3c00);
}

#[test]
fn ldexp_changes_the_sign_of_its_number_only() {
    let result = run(Generation::Rdna2, &hex("00 01 62 d7 01 05 02 20"), &[(1, 1.5f32.to_bits()), (2, 3)]);
    assert_eq!(f32::from_bits(result), -12.0);
}

fn scalar(wave: &mut Wave, word: u32) {
    step(wave, &[word]).unwrap_or_else(|error| panic!("{word:08x}: {error}"));
}

#[test]
fn bit_fields_of_any_width_are_defined() {
    let mut wave = wave(Generation::Rdna2);
    let word = rdna2::Sop2::new(rdna2::Sop2::S_BFE_U64).with_sdst(4).with_ssrc0(0).with_ssrc1(2).0;
    for (offset, width, expected) in [(0, 0, 0), (60, 8, 0xf), (0, 127, u64::MAX), (63, 1, 1), (32, 64, 0xffff_ffff)] {
        wave.set_sgpr(0, u32::MAX);
        wave.set_sgpr(1, u32::MAX);
        wave.set_sgpr(2, offset | width << 16);
        scalar(&mut wave, word);
        let result = u64::from(wave.sgpr(5)) << 32 | u64::from(wave.sgpr(4));
        assert_eq!((result, wave.scc()), (expected, expected != 0), "{offset} {width}");
    }
}

#[test]
fn scalar_sources_of_all_kinds() {
    let mut wave = wave(Generation::Rdna2);
    wave.set_sgpr(1, 0x3ff0_0000);
    let word = rdna2::Sopc::new(rdna2::Sopc::S_CMP_EQ_U64).with_ssrc0(0).with_ssrc1(242).0;
    scalar(&mut wave, word);
    assert!(wave.scc(), "1.0 is a double here");

    wave.set_sgpr(4, 0x10);
    scalar(&mut wave, hex("fd 04 0a 88")[0]);
    assert_eq!(wave.sgpr(10), 0x11, "the condition code as a number");
}

#[test]
fn omod_and_clamp_follow_the_mode() {
    let base = rdna3::Vop3::new(rdna3::Vop3::V_ADD_F32).with_src0(v(1)).with_src1(v(2));
    let sum = |word: u64, mode: Mode| {
        let mut wave = wave(Generation::Rdna3);
        wave.set_mode(mode);
        fill(&mut wave, 1, &[1.5f32.to_bits()]);
        fill(&mut wave, 2, &[0.25f32.to_bits()]);
        step64(&mut wave, word);
        f32::from_bits(wave.vgpr(0, 0))
    };
    let compute = Mode::compute(Generation::Rdna3);
    assert_eq!(sum(base.0, compute), 1.75);
    assert_eq!(sum(base.with_omod(1).0, compute), 1.75, "ignored in IEEE mode and with denormals");
    assert_eq!(sum(base.with_omod(1).0, Mode(0xc0)), 3.5);
    assert_eq!(sum(base.with_omod(3).0, Mode(0xc0)), 0.875);
    assert_eq!(sum(base.with_clamp(1).0, compute), 1.0);
    assert_eq!(sum(base.with_clamp(1).with_neg(3).0, compute), 0.0);
}

#[test]
fn fp8_is_fnuz_on_cdna3() {
    let word = cdna3::Vop1::new(cdna3::Vop1::V_CVT_F32_FP8).with_src0(v(1)).0;
    assert_eq!(run(Generation::Cdna3, &[word], &[(1, 0x38)]), 0.5f32.to_bits());
    assert!(f32::from_bits(run(Generation::Cdna3, &[word], &[(1, 0x80)])).is_nan());
}

#[test]
fn rounding_carries_into_the_top_exponent() {
    for (value, code) in [(3.5f32, 6), (3.75, 6), (5.0, 6), (7.0, 7)] {
        let op = cdna4::Vop3::V_CVT_SCALEF32_PK_FP4_F32;
        let word = cdna4::Vop3::new(op).with_src0(v(1)).with_src1(v(1)).with_src2(v(2)).0;
        let registers = [(1, value.to_bits()), (2, 1f32.to_bits())];
        assert_eq!(run(Generation::Cdna4, &two(word), &registers), code * 0x11, "{value}");
    }
}

#[test]
fn packed_bytes_go_to_one_half() {
    let base = cdna4::Vop3::new(cdna4::Vop3::V_CVT_PK_FP8_F32).with_src0(v(1)).with_src1(v(2));
    let registers = [(0, 0x1234_5678), (1, 1f32.to_bits()), (2, 2f32.to_bits())];
    assert_eq!(run(Generation::Cdna4, &two(base.0), &registers), 0x1234_4038);
    assert_eq!(run(Generation::Cdna4, &two(base.with_op_sel(8).0), &registers), 0x4038_5678);
}

#[test]
fn bf8_has_infinity() {
    let word = cdna4::Vop3::new(cdna4::Vop3::V_CVT_PK_BF8_F32).with_src0(v(1)).with_src1(v(1)).0;
    assert_eq!(run(Generation::Cdna4, &two(word), &[(1, f32::INFINITY.to_bits())]), 0x7c7c);
}

#[test]
fn inline_numbers_are_in_the_upper_half_for_bfloat16() {
    assert_eq!(run(Generation::Cdna5, &hex("f2 e4 00 7e"), &[]), 0);
    assert_eq!(run(Generation::Cdna5, &hex("00 08 f2 d5 f2 00 00 00"), &[]), 1f32.to_bits());
}
