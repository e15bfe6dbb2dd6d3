//! What stands between registers and the arithmetic: permutations, halves, parts, accumulation registers, constants.

#[path = "exec/support.rs"]
mod support;

use gfx_isa::exec::{ExecError, Flow, Wave};
use gfx_isa::{Generation, Op, cdna1, cdna2, cdna3, cdna5, rdna1, rdna2, rdna3, rdna4};
use support::*;

const BOUND_CTRL: u32 = 1 << 19;
const FETCH_INACTIVE: u32 = 1 << 18;

/// `v_mov_b32_dpp v0, v1` with a DPP16 dword's control and flags.
fn dpp(wave: &mut Wave, ctrl: u32, flags: u32, masks: u32) {
    let mov = rdna1::Vop1::new(rdna1::Vop1::V_MOV_B32).with_src0(250).0;
    step(wave, &[mov, 1 | ctrl << 8 | flags | masks << 24]).expect("executes");
}

/// A wave whose v1 holds 1000 + lane and whose v0 holds 7.
fn numbered(generation: Generation, lanes: u32) -> Wave {
    let mut wave = Wave::new(generation, lanes).expect("a size of the generation");
    fill(&mut wave, 0, &[7]);
    for lane in 0..lanes as usize {
        wave.set_vgpr(lane, 1, 1000 + lane as u32);
    }
    wave
}

#[test]
fn dpp16_moves_lanes() {
    // Control, and for some lanes where they read from; none: outside.
    type Moves<'a> = &'a [(usize, Option<u32>)];
    let cases: [(u32, Moves); 8] = [
        (0b00_01_10_11, &[(0, Some(3)), (1, Some(2)), (6, Some(5)), (31, Some(28))]),
        (0x101, &[(0, Some(1)), (14, Some(15)), (15, None), (16, Some(17))]),
        (0x112, &[(0, None), (1, None), (2, Some(0)), (18, Some(16))]),
        (0x121, &[(0, Some(15)), (1, Some(0)), (16, Some(31))]),
        (0x140, &[(0, Some(15)), (5, Some(10)), (16, Some(31))]),
        (0x141, &[(0, Some(7)), (8, Some(15)), (23, Some(16))]),
        (0x153, &[(0, Some(3)), (15, Some(3)), (16, Some(19))]),
        (0x165, &[(0, Some(5)), (7, Some(2)), (16, Some(21))]),
    ];
    for (ctrl, lanes) in cases {
        for (flags, outside) in [(0, 7), (BOUND_CTRL, 0)] {
            let mut wave = numbered(Generation::Rdna2, 32);
            dpp(&mut wave, ctrl, flags, 0xff);
            for &(lane, from) in lanes {
                assert_eq!(wave.vgpr(lane, 0), from.map_or(outside, |from| 1000 + from), "{ctrl:#x} lane {lane}");
            }
        }
    }
}

#[test]
fn dpp_of_cdna_crosses_rows() {
    let cases: [(u32, usize, Option<u32>); 10] = [
        (0x130, 0, Some(1)),
        (0x130, 63, None),
        (0x134, 63, Some(0)),
        (0x138, 0, None),
        (0x138, 16, Some(15)),
        (0x13c, 0, Some(63)),
        (0x142, 16, Some(15)),
        (0x142, 5, None),
        (0x143, 40, Some(31)),
        (0x143, 31, None),
    ];
    for (ctrl, lane, from) in cases {
        let mut wave = numbered(Generation::Cdna1, 64);
        let mov = cdna1::Vop1::new(cdna1::Vop1::V_MOV_B32).with_src0(250).0;
        step(&mut wave, &[mov, 1 | ctrl << 8 | 0xff << 24]).expect("executes");
        assert_eq!(wave.vgpr(lane, 0), from.map_or(7, |from| 1000 + from), "{ctrl:#x} lane {lane}");
    }
}

#[test]
fn dpp16_leaves_masked_and_inactive_lanes() {
    let mut wave = numbered(Generation::Rdna2, 32);
    dpp(&mut wave, 0b11_10_01_00, 0, 0b0001_0101);
    let written = |lane: usize| lane < 16 && (lane / 4).is_multiple_of(2);
    for lane in 0..32 {
        assert_eq!(wave.vgpr(lane, 0), if written(lane) { 1000 + lane as u32 } else { 7 }, "lane {lane}");
    }
    // Lane 0 reads lane 1, which is off.
    for (flags, expected) in [(0, 7), (BOUND_CTRL, 0), (FETCH_INACTIVE, 1001)] {
        let mut wave = numbered(Generation::Rdna2, 32);
        wave.set_exec(!0b10);
        dpp(&mut wave, 0x101, flags, 0xff);
        assert_eq!((wave.vgpr(0, 0), wave.vgpr(1, 0)), (expected, 7), "{flags:#x}");
    }
}

#[test]
fn dpp8_selects_within_eight_lanes() {
    let selectors = (0..8u32).fold(0, |sum, at| sum | (7 - at) << (8 + 3 * at));
    for (marker, inactive) in [(233, 0), (234, 1007)] {
        let mut wave = numbered(Generation::Rdna2, 32);
        wave.set_exec(!0x80);
        let mov = rdna2::Vop1::new(rdna2::Vop1::V_MOV_B32).with_src0(marker).0;
        step(&mut wave, &[mov, 1 | selectors]).expect("executes");
        assert_eq!(lanes(&wave, 0)[..8], [inactive, 1006, 1005, 1004, 1003, 1002, 1001, 7]);
        assert_eq!(wave.vgpr(17, 0), 1022);
    }
}

#[test]
fn dpp_comes_before_the_sign() {
    let mut wave = wave(Generation::Rdna4);
    fill(&mut wave, 1, &[1.0f32.to_bits(), (-2.0f32).to_bits()]);
    fill(&mut wave, 2, &[0.25f32.to_bits()]);
    // -|v1 of the neighbour| + v2.
    let add = rdna4::Vop2::new(rdna4::Vop2::V_ADD_F32).with_src0(250).with_vsrc1(2).0;
    step(&mut wave, &[add, 1 | 0b10_11_00_01 << 8 | 1 << 20 | 1 << 21 | 0xff << 24]).expect("executes");
    assert_eq!((f32::from_bits(wave.vgpr(0, 0)), f32::from_bits(wave.vgpr(1, 0))), (-1.75, -0.75));
}

#[test]
fn sixteen_bit_results_keep_or_clear_the_upper_half() {
    for (generation, word) in words!(Vop2::V_ADD_F16, with_src0 = v(1), with_vsrc1 = 2) {
        let mut wave = wave(generation);
        fill(&mut wave, 0, &[0xabcd_1234]);
        fill(&mut wave, 1, &[0x5555_3c00]);
        fill(&mut wave, 2, &[0x6666_4000]);
        step(&mut wave, &[word as u32]).expect("executes");
        let upper = if CDNA.contains(&generation) { 0 } else { 0xabcd_0000 };
        assert_eq!(wave.vgpr(0, 0), upper | 0x4200, "{generation}");
    }
    // Multiply-add keeps it on CDNA too.
    let fma = cdna3::Vop3::new(cdna3::Vop3::V_FMA_F16).with_src0(v(1)).with_src1(v(2)).with_src2(v(1)).0;
    let mut wave = wave(Generation::Cdna3);
    fill(&mut wave, 0, &[0xabcd_1234]);
    fill(&mut wave, 1, &[0x3c00]);
    fill(&mut wave, 2, &[0x4000]);
    step64(&mut wave, fma);
    assert_eq!(wave.vgpr(0, 0), 0xabcd_4200);
}

#[test]
fn op_sel_picks_halves() {
    for (generation, word) in words!(Vop3::V_MAD_U16, with_src0 = v(1), with_src1 = v(2), with_src2 = v(3)) {
        let mut wave = wave(generation);
        fill(&mut wave, 0, &[0x1111_2222]);
        fill(&mut wave, 1, &[0x0003_0005]);
        fill(&mut wave, 2, &[0x0007_000b]);
        fill(&mut wave, 3, &[0x000d_0011]);
        // Upper half of sources 0 and 2, result to the upper half.
        step64(&mut wave, word | 0b1101 << 11);
        assert_eq!(wave.vgpr(0, 0), (3 * 11 + 13) << 16 | 0x2222, "{generation}");
    }
}

#[test]
fn short_encodings_name_halves_with_bit_7() {
    // v0.h = v1.h + v2.l
    let words = words!(Vop2::V_ADD_F16, with_vdst = 128, with_src0 = v(1 + 128), with_vsrc1 = 2;
        Rdna3 = rdna3, Rdna3_5 = rdna3_5, Rdna4 = rdna4, Cdna5 = cdna5);
    for (generation, word) in words {
        let mut wave = wave(generation);
        fill(&mut wave, 0, &[0xaaaa_bbbb]);
        fill(&mut wave, 1, &[0x3c00_0000]);
        fill(&mut wave, 2, &[0x0000_4000]);
        step(&mut wave, &[word as u32]).expect("executes");
        assert_eq!(wave.vgpr(0, 0), 0x4200_bbbb, "{generation}");
    }
    // Where there are no halves it is v128.
    let add = rdna2::Vop2::new(rdna2::Vop2::V_ADD_F16).with_vdst(128).with_src0(v(1)).with_vsrc1(2).0;
    let mut wave = wave(Generation::Rdna2);
    fill(&mut wave, 1, &[0x3c00]);
    step(&mut wave, &[add]).expect("executes");
    assert_eq!((wave.vgpr(0, 128), wave.vgpr(0, 0)), (0x3c00, 0));
}

#[test]
fn sdwa_writes_parts() {
    // v0 = v1 + v2 into byte 2, the rest by DST_UNUSED: 0 zero, 1 sign, 2 kept.
    let add = cdna2::Vop2::new(cdna2::Vop2::V_ADD_U32).with_vdst(0).with_src0(249).with_vsrc1(2).0;
    for (unused, expected) in [(0, 0x00f0_0000), (1, 0xfff0_0000), (2, 0x11f0_3344)] {
        let mut wave = wave(Generation::Cdna2);
        fill(&mut wave, 0, &[0x1122_3344]);
        fill(&mut wave, 1, &[0x0000_f100]);
        fill(&mut wave, 2, &[0xffff_1234]);
        // Byte 1 of v1, the upper word of v2 with its sign.
        step(&mut wave, &[add, 1 | 2 << 8 | unused << 11 | 1 << 16 | 5 << 24 | 1 << 27]).expect("executes");
        assert_eq!(wave.vgpr(0, 0), expected, "{unused}");
    }
}

#[test]
fn literals_fill_the_operand() {
    for (generation, word) in words!(Vop2::V_ADD_F32, with_src0 = 255, with_vsrc1 = 2) {
        let mut wave = wave(generation);
        fill(&mut wave, 2, &[1.0f32.to_bits()]);
        step(&mut wave, &[word as u32, 0.5f32.to_bits()]).expect("executes");
        assert_eq!(f32::from_bits(wave.vgpr(3, 0)), 1.5, "{generation}");
    }
    // A 32-bit literal is the upper half of a double.
    let word = rdna3::Vop3::new(rdna3::Vop3::V_ADD_F64).with_src0(255).with_src1(v(2)).0;
    let mut wave = wave(Generation::Rdna3);
    step(&mut wave, &[word as u32, (word >> 32) as u32, 0x4004_0000]).expect("executes");
    assert_eq!((wave.vgpr(0, 0), wave.vgpr(0, 1)), (0, 0x4004_0000));
}

#[test]
fn multiply_add_with_a_constant() {
    let (k, two, three) = (10.0f32.to_bits(), 2.0f32.to_bits(), 3.0f32.to_bits());
    let run = |generation, word: u32| {
        let mut wave = wave(generation);
        fill(&mut wave, 1, &[two]);
        fill(&mut wave, 2, &[three]);
        step(&mut wave, &[word, k]).expect("executes");
        f32::from_bits(wave.vgpr(0, 0))
    };
    let mut found = 0;
    for (name, expected) in [("V_FMAMK_F32", 23.0), ("V_FMAAK_F32", 16.0), ("V_MADMK_F32", 23.0), ("V_MADAK_F32", 16.0)]
    {
        let op = Op::from_name(name).expect("an instruction");
        for &generation in Generation::all() {
            let Some(info) = generation.instructions_of(op).next() else { continue };
            let word = info.identifier() as u32 | v(1) | 2 << 9;
            assert_eq!(run(generation, word), expected, "{name} {generation}");
            found += 1;
        }
    }
    assert!(found >= 20, "{found}");
}

#[test]
fn accumulating_instructions_read_their_destination() {
    let words = words!(Vop2::V_FMAC_F32, with_src0 = v(1), with_vsrc1 = 2; Cdna1 = cdna1, Cdna2 = cdna2, Cdna3 = cdna3,
        Cdna4 = cdna4, Cdna5 = cdna5, Rdna1 = rdna1, Rdna2 = rdna2, Rdna3 = rdna3, Rdna3_5 = rdna3_5, Rdna4 = rdna4);
    for (generation, word) in words {
        let mut wave = wave(generation);
        fill(&mut wave, 0, &[1.0f32.to_bits()]);
        fill(&mut wave, 1, &[2.0f32.to_bits()]);
        fill(&mut wave, 2, &[3.0f32.to_bits()]);
        step(&mut wave, &[word as u32]).expect("executes");
        step(&mut wave, &[word as u32]).expect("executes");
        assert_eq!(f32::from_bits(wave.vgpr(0, 0)), 13.0, "{generation}");
    }
}

#[test]
fn selection_by_a_mask() {
    for (generation, word) in words!(Vop2::V_CNDMASK_B32, with_src0 = v(1), with_vsrc1 = 2) {
        let mut wave = wave(generation);
        fill(&mut wave, 1, &[10]);
        fill(&mut wave, 2, &[20]);
        wave.set_vcc(0b1010);
        step(&mut wave, &[word as u32]).expect("executes");
        assert_eq!(lanes(&wave, 0)[..4], [10, 20, 10, 20], "{generation}");
    }
    for (generation, word) in
        words!(Vop3::V_CNDMASK_B32, with_src0 = v(1), with_src1 = v(2), with_src2 = 6, with_neg = 2)
    {
        let mut wave = wave(generation);
        fill(&mut wave, 1, &[1.0f32.to_bits()]);
        fill(&mut wave, 2, &[2.0f32.to_bits()]);
        wave.set_sgpr(6, 0b0110);
        step64(&mut wave, word);
        let values: Vec<f32> = lanes(&wave, 0)[..4].iter().map(|bits| f32::from_bits(*bits)).collect();
        assert_eq!(values, [1.0, -2.0, -2.0, 1.0], "{generation}");
    }
}

#[test]
fn lanes_are_read_and_written_by_number() {
    for (generation, word) in words!(Vop1::V_READFIRSTLANE_B32, with_vdst = 9, with_src0 = v(1)) {
        let mut wave = numbered(generation, generation.wave_sizes()[0]);
        wave.set_exec(0b1000);
        step(&mut wave, &[word as u32]).expect("executes");
        assert_eq!(wave.sgpr(9), 1003, "{generation}");
        wave.set_exec(0);
        step(&mut wave, &[word as u32]).expect("executes");
        assert_eq!(wave.sgpr(9), 1000, "{generation}: lane 0 where none is on");
    }
    for (generation, word) in words!(Vop3::V_READLANE_B32, with_vdst = 9, with_src0 = v(1), with_src1 = 4) {
        let mut wave = numbered(generation, generation.wave_sizes()[0]);
        // Off lanes are read too, and the number wraps.
        wave.set_exec(1);
        wave.set_sgpr(4, 17 + 64);
        step64(&mut wave, word);
        assert_eq!(wave.sgpr(9), 1017, "{generation}");
    }
    for (generation, word) in words!(Vop3::V_WRITELANE_B32, with_src0 = 5, with_src1 = 128 + 21) {
        let mut wave = numbered(generation, generation.wave_sizes()[0]);
        wave.set_exec(1);
        wave.set_sgpr(5, 99);
        step64(&mut wave, word);
        assert_eq!((wave.vgpr(20, 0), wave.vgpr(21, 0), wave.vgpr(22, 0)), (7, 99, 7), "{generation}");
    }
    for (generation, word) in words!(Vop1::V_SWAP_B32, with_src0 = v(1)) {
        let mut wave = numbered(generation, generation.wave_sizes()[0]);
        wave.set_exec(0b10);
        step(&mut wave, &[word as u32]).expect("executes");
        assert_eq!((wave.vgpr(1, 0), wave.vgpr(1, 1), wave.vgpr(2, 0)), (1001, 7, 7), "{generation}");
    }
}

#[test]
fn registers_that_run_out_are_errors() {
    let add = cdna5::Vop3::new(cdna5::Vop3::V_ADD_F64).with_vdst(255).with_src0(v(0)).with_src1(v(2)).0;
    let mut wave = wave(Generation::Cdna5);
    let inst = Generation::Cdna5.decode(&add.to_le_bytes());
    if let Ok(inst) = inst {
        assert_eq!(wave.step(&inst), Err(ExecError::Operand(inst.op())));
        assert_eq!(wave.pc(), 0);
    }
    let end = rdna4::Sopp::new(rdna4::Sopp::S_CODE_END).0;
    let mut wave = support::wave(Generation::Rdna4);
    assert!(matches!(step(&mut wave, &[end]), Err(ExecError::Unimplemented(_))));
}

#[test]
fn waits_and_hints_do_nothing() {
    for (generation, word) in words!(Sopp::S_NOP, with_simm16 = 3) {
        let mut wave = numbered(generation, generation.wave_sizes()[0]);
        assert_eq!(step(&mut wave, &[word as u32]), Ok(Flow::Next));
        assert_eq!((wave.pc(), wave.vgpr(5, 1)), (4, 1005), "{generation}");
    }
}
