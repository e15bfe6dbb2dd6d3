//! Waves, programs and the three instructions that every generation has in another place.

#[path = "exec/support.rs"]
mod support;

use gfx_isa::exec::{ExecError, Finished, Flow, Program, Wave};
use gfx_isa::{Generation, rdna4};
use proptest::prelude::*;
use support::*;

/// Runs a three-source instruction on one value and gives lane 0.
fn three(generation: Generation, word: u64, sources: [u32; 3]) -> u32 {
    let mut wave = wave(generation);
    for (at, value) in sources.into_iter().enumerate() {
        fill(&mut wave, at + 1, &[value]);
    }
    step64(&mut wave, word);
    let first = wave.vgpr(0, 0);
    assert!(lanes(&wave, 0).iter().all(|value| *value == first));
    first
}

#[test]
fn msad_u8_on_every_generation() {
    let words = words!(Vop3::V_MSAD_U8, with_src0 = v(1), with_src1 = v(2), with_src2 = v(3));
    assert_eq!(words.len(), 10);
    for (generation, word) in words {
        // Bytes of source 1 that are 0 do not count: |0x10-0x20| + |0x05-0x01|, the others masked.
        assert_eq!(three(generation, word, [0x10ff_05ff, 0x2000_0100, 1000]), 1000 + 0x10 + 4, "{generation}");
        assert_eq!(three(generation, word, [0, 0xffff_ffff, 0xffff_ffff]), 4 * 255 - 1, "{generation}: wraps");
    }
}

#[test]
fn pk_mad_u16_on_every_generation() {
    let words = words!(Vop3p::V_PK_MAD_U16, with_src0 = v(1), with_src1 = v(2), with_src2 = v(3));
    assert_eq!(words.len(), 10);
    let model = |a: u32, b: u32, c: u32| (a.wrapping_mul(b).wrapping_add(c)) & 0xffff;
    for (generation, word) in words {
        // OPSEL_HI, which generations name differently, is in bits 60:59 and 14.
        let word = word | 3 << 59 | 1 << 14;
        let (a, b, c) = (0x0003_ffff, 0x0005_ffff, 0x0007_8000);
        let expected = model(3, 5, 7) << 16 | model(0xffff, 0xffff, 0x8000);
        assert_eq!(expected, 0x0016_8001);
        assert_eq!(three(generation, word, [a, b, c]), expected, "{generation}");
        // Clamped: 0xffff * 0xffff does not fit.
        assert_eq!(three(generation, word | 1 << 15, [a, b, c]), 0x0016_ffff, "{generation} clamp");
        // Halves of source 0 swapped, by OPSEL bit 0 (bit 11) and OPSEL_HI bit 0 (bit 59).
        let swapped = (word | 1 << 11) & !(1 << 59);
        let expected = model(0xffff, 5, 7) << 16 | model(3, 0xffff, 0x8000);
        assert_eq!(three(generation, swapped, [a, b, c]), expected, "{generation} swapped");
    }
}

#[test]
fn med3_u32_on_every_generation() {
    let words = words!(Vop3::V_MED3_U32, with_src0 = v(1), with_src1 = v(2), with_src2 = v(3));
    assert_eq!(words.len(), 10);
    for (generation, word) in words {
        for (a, b, c) in [(1, 2, 3), (3, 1, 2), (2, 3, 1), (3, 2, 1), (1, 3, 2), (2, 1, 3), (7, 7, 0)] {
            let mut sorted = [a, b, c];
            sorted.sort_unstable();
            assert_eq!(three(generation, word, [a, b, c]), sorted[1], "{generation} {a} {b} {c}");
        }
        assert_eq!(three(generation, word, [0, u32::MAX, 0x8000_0000]), 0x8000_0000, "{generation}: unsigned");
    }
}

proptest! {
    #[test]
    fn med3_is_the_middle(a: u32, b: u32, c: u32) {
        let word = rdna4::Vop3::new(rdna4::Vop3::V_MED3_U32).with_src0(v(1)).with_src1(v(2)).with_src2(v(3)).0;
        let mut sorted = [a, b, c];
        sorted.sort_unstable();
        prop_assert_eq!(three(Generation::Rdna4, word, [a, b, c]), sorted[1]);
    }

    #[test]
    fn msad_is_a_sum_of_differences(a: u32, b: u32, c: u32) {
        let word = rdna4::Vop3::new(rdna4::Vop3::V_MSAD_U8).with_src0(v(1)).with_src1(v(2)).with_src2(v(3)).0;
        let pairs = a.to_le_bytes().into_iter().zip(b.to_le_bytes());
        let differences = pairs.filter(|(_, y)| *y != 0).map(|(x, y)| i128::from(x) - i128::from(y));
        let sum = i128::from(c) + differences.map(i128::abs).sum::<i128>();
        prop_assert_eq!(u128::from(three(Generation::Rdna4, word, [a, b, c])), sum as u128 % (1 << 32));
    }
}

#[test]
fn lanes_that_are_off_keep_their_values() {
    let words = words!(Vop2::V_AND_B32, with_src0 = v(1), with_vsrc1 = 2);
    for (generation, word) in words {
        for &size in generation.wave_sizes() {
            let mut wave = Wave::new(generation, size).expect("its own size");
            fill(&mut wave, 0, &[0xaaaa_aaaa]);
            fill(&mut wave, 1, &[0x0ff0_1234]);
            fill(&mut wave, 2, &[0xffff_00ff]);
            let exec = 0x8000_0001_f0f0_1234 & (u64::MAX >> (64 - size));
            wave.set_exec(exec);
            assert_eq!(step(&mut wave, &[word as u32]), Ok(Flow::Next));
            for lane in 0..size as usize {
                let expected = if exec >> lane & 1 != 0 { 0x0ff0_0034 } else { 0xaaaa_aaaa };
                assert_eq!(wave.vgpr(lane, 0), expected, "{generation} lane {lane}");
            }
        }
    }
}

/// s0 counts down from 5; v0 doubles each time.
fn loop_program() -> Vec<u8> {
    bytes(&[
        rdna4::Sopk::new(rdna4::Sopk::S_MOVK_I32).with_sdst(0).with_simm16(5).0,
        rdna4::Vop2::new(rdna4::Vop2::V_LSHLREV_B32).with_vdst(0).with_src0(129).with_vsrc1(0).0,
        rdna4::Sop2::new(rdna4::Sop2::S_ADD_CO_I32).with_sdst(0).with_ssrc0(0).with_ssrc1(193).0,
        rdna4::Sopc::new(rdna4::Sopc::S_CMP_LG_U32).with_ssrc0(0).with_ssrc1(128).0,
        rdna4::Sopp::new(rdna4::Sopp::S_CBRANCH_SCC1).with_simm16(-4i32 as u32 & 0xffff).0,
        rdna4::Sopp::new(rdna4::Sopp::S_ENDPGM).0,
    ])
}

#[test]
fn programs_loop_and_end() {
    let program = Program::new(Generation::Rdna4, &loop_program());
    assert_eq!(program.len(), 6);
    let mut wave = wave(Generation::Rdna4);
    fill(&mut wave, 0, &[3]);
    assert_eq!(wave.run(&program, 1000), Ok(Finished { executed: 22, ended: true }));
    assert_eq!((wave.vgpr(31, 0), wave.sgpr(0), wave.pc()), (96, 0, 20));

    let mut wave = support::wave(Generation::Rdna4);
    assert_eq!(wave.run(&program, 7), Ok(Finished { executed: 7, ended: false }));
    assert_eq!(wave.pc(), 12);
    assert_eq!(wave.run(&program, 1000), Ok(Finished { executed: 15, ended: true }));
}

#[test]
fn a_program_runs_as_its_steps_do() {
    let code = loop_program();
    let program = Program::new(Generation::Rdna4, &code);
    let (mut run, mut stepped) = (wave(Generation::Rdna4), wave(Generation::Rdna4));
    fill(&mut run, 0, &[1, 2, 3]);
    fill(&mut stepped, 0, &[1, 2, 3]);
    run.run(&program, 100).expect("runs");
    while {
        let inst = Generation::Rdna4.decode(&code[stepped.pc() as usize..]).expect("an instruction");
        stepped.step(&inst).expect("steps") != Flow::End
    } {}
    assert_eq!(lanes(&run, 0), lanes(&stepped, 0));
    assert_eq!(run.pc(), stepped.pc());
}

#[test]
fn errors_name_their_cause() {
    let generation = Generation::Rdna4;
    assert_eq!(
        Wave::new(Generation::Cdna1, 32).err(),
        Some(ExecError::WaveSize { generation: Generation::Cdna1, lanes: 32 })
    );
    // A branch to itself minus two dwords leaves the program.
    let out = rdna4::Sopp::new(rdna4::Sopp::S_BRANCH).with_simm16(-3i32 as u32 & 0xffff).0;
    let program = Program::new(generation, &bytes(&[out]));
    assert_eq!(wave(generation).run(&program, 10), Err(ExecError::Pc((-8i64) as u64)));
    // The end of the bytes is not the end of the program.
    let nop = rdna4::Sopp::new(rdna4::Sopp::S_NOP).0;
    let mut wave = wave(generation);
    assert_eq!(wave.run(&Program::new(generation, &bytes(&[nop])), 10), Err(ExecError::Pc(4)));
    // Bytes that are no instruction count only when they are reached.
    let program = Program::new(generation, &bytes(&[nop, 0xffff_ffff]));
    let mut fresh = support::wave(generation);
    assert_eq!(fresh.run(&program, 1), Ok(Finished { executed: 1, ended: false }));
    assert!(matches!(fresh.run(&program, 1), Err(ExecError::Decode(error)) if error.offset == 4));
    // A wave runs only its own generation's instructions.
    let foreign = Generation::Rdna3.decode(&bytes(&[nop])).expect("an instruction");
    assert!(matches!(fresh.step(&foreign), Err(ExecError::Foreign { .. })));
    assert!(Program::new(generation, &[]).is_empty());
    assert_eq!(support::wave(generation).run(&Program::new(generation, &[]), 1), Err(ExecError::Pc(0)));
    // One byte too few is a truncated instruction.
    assert!(matches!(
        support::wave(generation).run(&Program::new(generation, &[0, 0, 0]), 1),
        Err(ExecError::Decode(_))
    ));
}

/// Words that decode, on registers full of numbers, are executed or refused, and never panic.
#[test]
fn no_instruction_panics() {
    let mut seed = 0x9e37_79b9_7f4a_7c15u64;
    let mut random = move || {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        seed
    };
    for &generation in Generation::all() {
        let known: Vec<u128> = generation.instructions().map(|info| info.identifier()).collect();
        let masks: Vec<u128> = generation.instructions().map(|info| info.mask()).collect();
        let mut wave = wave(generation);
        let mut executed = 0;
        for round in 0..12 {
            for (identifier, mask) in known.iter().zip(&masks) {
                let noise = u128::from(random()) << 64 | u128::from(random());
                let word = identifier | noise & !mask;
                let mut bytes = word.to_le_bytes().to_vec();
                bytes.extend(random().to_le_bytes());
                let Ok(inst) = generation.decode(&bytes) else { continue };
                wave.set_exec(random());
                wave.set_mode(gfx_isa::exec::Mode(random() as u32 & 0x3ff | if round < 6 { 0xf0 } else { 0 }));
                let register = random() as usize;
                wave.set_vgpr(register % 32, register / 32 % 256, random() as u32);
                wave.set_sgpr(register % 106, random() as u32);
                executed += u32::from(wave.step(&inst).is_ok());
            }
        }
        assert!(executed > 1000, "{generation}: {executed}");
    }
}
