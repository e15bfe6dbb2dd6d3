//! Scalar floats, computed register numbers, permutations of lanes, hardware registers, and control flow that keeps
//! state, on every generation that has them.

#[path = "exec/support.rs"]
mod support;

use gfx_isa::asm::Assembler;
use gfx_isa::exec::{Env, ExecError, Flow, Lds, Memory, Mode, Wave};
use gfx_isa::{Generation, Op};
use proptest::prelude::*;
use support::*;

fn scalar(generation: Generation, text: &str, values: [u32; 2]) -> (u32, bool) {
    let mut wave = wave(generation);
    wave.set_sgpr(1, values[0]);
    wave.set_sgpr(2, values[1]);
    exec(&mut wave, text);
    (wave.sgpr(0), wave.scc())
}

const FLOAT_SALU: [Generation; 3] = [Generation::Rdna3_5, Generation::Rdna4, Generation::Cdna5];

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 500, ..ProptestConfig::default() })]

    #[test]
    fn scalar_floats_are_ieee(a: u32, b: u32, at in 0usize..3, close in 0u32..4) {
        let generation = FLOAT_SALU[at];
        for b in [b, a, a ^ close << 22] {
            let (x, y) = (f32::from_bits(a), f32::from_bits(b));
            let models: [(&str, f32); 6] = [
                ("add", x + y),
                ("sub", x - y),
                ("mul", x * y),
                ("ceil", x.ceil()),
                ("floor", x.floor()),
                ("trunc", x.trunc()),
            ];
            for (name, exact) in models {
                let text = if matches!(name, "add" | "sub" | "mul") { format!("s_{name}_f32 s0, s1, s2") } else { format!("s_{name}_f32 s0, s1") };
                let got = f32::from_bits(scalar(generation, &text, [a, b]).0);
                if exact.is_nan() {
                    prop_assert!(got.is_nan(), "{text} {x:e} {y:e}");
                } else {
                    prop_assert_eq!(got.to_bits(), exact.to_bits(), "{} {:e} {:e}", text, x, y);
                }
            }
            let unordered = x.is_nan() || y.is_nan();
            #[allow(clippy::neg_cmp_op_on_partial_ord)] // The negations are what is tested.
            let conditions = [
                ("lt", x < y), ("eq", x == y), ("le", x <= y), ("gt", x > y), ("lg", x.partial_cmp(&y).is_some_and(|order| order.is_ne())), ("ge", x >= y),
                ("o", !unordered), ("u", unordered), ("nlt", !(x < y)), ("neq", x != y), ("nle", !(x <= y)),
                ("ngt", !(x > y)), ("nlg", unordered || x == y), ("nge", !(x >= y)),
            ];
            for (name, expected) in conditions {
                let got = scalar(generation, &format!("s_cmp_{name}_f32 s1, s2"), [a, b]).1;
                prop_assert_eq!(got, expected, "{} {:e} {:e}", name, x, y);
            }
        }
    }
}

#[test]
fn scalar_floats_of_all_kinds() {
    let f = |x: f32| x.to_bits();
    for generation in FLOAT_SALU {
        let mut cases = vec![
            ("s_cvt_f32_i32 s0, s1", [-3i32 as u32, 0], f(-3.0)),
            ("s_cvt_f32_u32 s0, s1", [0x8000_0000, 0], f(2_147_483_648.0)),
            ("s_cvt_i32_f32 s0, s1", [f(-3.9), 0], -3i32 as u32),
            ("s_cvt_u32_f32 s0, s1", [f(-3.9), 0], 0),
            ("s_cvt_f16_f32 s0, s1", [f(1.5), 0], 0x3e00),
            ("s_cvt_f32_f16 s0, s1", [0xffff_3e00, 0], f(1.5)),
            ("s_cvt_hi_f32_f16 s0, s1", [0x3e00_ffff, 0], f(1.5)),
            // 1 + 2^-11 is cut off.
            ("s_cvt_pk_rtz_f16_f32 s0, s1, s2", [f(1.000_976), f(-2.0)], 0xc000_3c00),
            ("s_rndne_f32 s0, s1", [f(2.5), 0], f(2.0)),
            ("s_rndne_f16 s0, s1", [0x4300, 0], 0x4400),
            ("s_ceil_f16 s0, s1", [0x3e00, 0], 0x4000),
            ("s_floor_f16 s0, s1", [0x3e00, 0], 0x3c00),
            ("s_trunc_f16 s0, s1", [0xbe00, 0], 0xbc00),
            ("s_add_f16 s0, s1, s2", [0x3e00, 0x4000], 0x4300),
            ("s_sub_f16 s0, s1, s2", [0x3e00, 0x4000], 0xb800),
            ("s_mul_f16 s0, s1, s2", [0x3e00, 0x4000], 0x4200),
            ("s_fmaak_f32 s0, s1, s2, 0x40400000", [f(2.0), f(5.0)], f(13.0)),
            ("s_fmamk_f32 s0, s1, 0x40400000, s2", [f(2.0), f(5.0)], f(11.0)),
        ];
        let names: &[&str] = if generation == Generation::Rdna3_5 { &["min", "max"] } else { &["min_num", "max_num"] };
        for (name, low) in names.iter().zip([true, false]) {
            let pick = |a: f32, b: f32| if low { a.min(b) } else { a.max(b) };
            for (a, b) in [(1.0, 2.0), (-1.0, f32::NAN), (f32::NAN, 4.0)] {
                let text = format!("s_{name}_f32 s0, s1, s2");
                assert_eq!(scalar(generation, &text, [f(a), f(b)]).0, f(pick(a, b)), "{generation} {text}");
            }
            let text = format!("s_{name}_f16 s0, s1, s2");
            assert_eq!(scalar(generation, &text, [0x3c00, 0x4000]).0, if low { 0x3c00 } else { 0x4000 });
        }
        if generation != Generation::Rdna3_5 {
            cases.push(("s_minimum_f32 s0, s1, s2", [f(1.0), 0x7fc0_0001], 0x7fc0_0001));
            cases.push(("s_maximum_f32 s0, s1, s2", [f(1.0), f(2.0)], f(2.0)));
            cases.push(("s_minimum_f16 s0, s1, s2", [0x3c00, 0x7e01], 0x7e01));
            cases.push(("s_maximum_f16 s0, s1, s2", [0x3c00, 0x4000], 0x4000));
        }
        for (text, values, expected) in cases {
            assert_eq!(scalar(generation, text, values).0, expected, "{generation} {text}");
        }
        let mut wave = wave(generation);
        for (register, value) in [(0, 10.0), (1, 2.0), (2, 3.0)] {
            wave.set_sgpr(register, f(value));
        }
        exec(&mut wave, "s_fmac_f32 s0, s1, s2");
        assert_eq!(wave.sgpr(0), f(16.0));
        wave.set_sgpr(0, 0x4900);
        wave.set_sgpr(1, 0x4000);
        exec(&mut wave, "s_fmac_f16 s0, s1, s1");
        assert_eq!(wave.sgpr(0), 0x4b00);
        // 1 + 2^-24 towards positive infinity.
        wave.set_mode(Mode(0xf1));
        wave.set_sgpr(1, f(1.0));
        wave.set_sgpr(2, f(2f32.powi(-24)));
        exec(&mut wave, "s_add_f32 s0, s1, s2");
        assert_eq!(wave.sgpr(0), 0x3f80_0001);
        // Flushed: half of the smallest normal number.
        wave.set_mode(Mode(0xc0));
        wave.set_sgpr(2, 0x0080_0000);
        exec(&mut wave, "s_mul_f32 s0, 0.5, s2");
        assert_eq!(wave.sgpr(0), 0);
        for (name, expected) in [
            ("lt", true),
            ("eq", false),
            ("le", true),
            ("gt", false),
            ("lg", true),
            ("ge", false),
            ("o", true),
            ("u", false),
            ("nge", true),
            ("nlg", false),
            ("ngt", true),
            ("nle", false),
            ("neq", true),
            ("nlt", false),
        ] {
            assert_eq!(scalar(generation, &format!("s_cmp_{name}_f16 s1, s2"), [0x3c00, 0x4000]).1, expected, "{name}");
        }
    }
}

#[test]
fn scalar_registers_by_m0() {
    for generation in Generation::all() {
        let mut wave = wave(*generation);
        for register in 0..60 {
            wave.set_sgpr(register, 100 + register as u32);
        }
        wave.set_m0(10);
        exec(&mut wave, "s_movrels_b32 s0, s5");
        assert_eq!(wave.sgpr(0), 115, "{generation}");
        exec(&mut wave, "s_movrels_b64 s[0:1], s[6:7]");
        assert_eq!((wave.sgpr(0), wave.sgpr(1)), (116, 117), "{generation}");
        exec(&mut wave, "s_movreld_b32 s5, s20");
        assert_eq!(wave.sgpr(15), 120, "{generation}");
        exec(&mut wave, "s_movreld_b64 s[6:7], s[20:21]");
        assert_eq!((wave.sgpr(16), wave.sgpr(17)), (120, 121), "{generation}");
        // What does not exist is not written, and the first register is read.
        wave.set_m0(0x7fff_ffff);
        exec(&mut wave, "s_movreld_b32 s5, s20");
        exec(&mut wave, "s_movrels_b32 s3, s5");
        assert_eq!(wave.sgpr(3), wave.sgpr(0), "{generation}");
    }
    for generation in having("S_MOVRELSD_2_B32") {
        let mut wave = wave(generation);
        wave.set_sgpr(17, 42);
        wave.set_m0(20 << 16 | 10);
        exec(&mut wave, "s_movrelsd_2_b32 s5, s7");
        assert_eq!(wave.sgpr(25), 42, "{generation}");
    }
}

#[test]
fn vector_registers_by_m0() {
    // The manual's examples.
    for generation in having("V_MOVRELS_B32") {
        for (text, m0, from, to) in [
            ("v_movreld_b32 v5, v7", 10, 7, 15),
            ("v_movrels_b32 v5, v7", 10, 17, 5),
            ("v_movrelsd_b32 v5, v7", 10, 17, 15),
            ("v_movrelsd_2_b32 v5, v7", 20 << 16 | 10, 17, 25),
        ] {
            let mut wave = wave(generation);
            wave.set_m0(m0);
            wave.set_exec(2);
            fill(&mut wave, from, &[42]);
            exec(&mut wave, text);
            assert_eq!((wave.vgpr(0, to), wave.vgpr(1, to)), (0, 42), "{generation} {text}");
        }
        let mut wave = wave(generation);
        wave.set_m0(20 << 16 | 10);
        fill(&mut wave, 17, &[17]);
        fill(&mut wave, 25, &[25]);
        exec(&mut wave, "v_swaprel_b32 v5, v7");
        assert_eq!((wave.vgpr(3, 17), wave.vgpr(3, 25)), (25, 17), "{generation}");
        wave.set_m0(2000);
        exec(&mut wave, "v_movreld_b32 v5, v7");
    }
}

#[test]
fn halves_are_swapped() {
    for (generation, text, expected) in [
        (Generation::Rdna3, "v_swap_b16 v0.l, v1.h", (0x1111_4444, 0x2222_3333)),
        (Generation::Rdna3, "v_swap_b16 v0.h, v1.h", (0x4444_2222, 0x1111_3333)),
        (Generation::Rdna3, "v_swap_b16 v0.h, v0.l", (0x2222_1111, 0x4444_3333)),
    ] {
        let mut wave = wave(generation);
        fill(&mut wave, 0, &[0x1111_2222]);
        fill(&mut wave, 1, &[0x4444_3333]);
        exec(&mut wave, text);
        assert_eq!((wave.vgpr(7, 0), wave.vgpr(7, 1)), expected, "{text}");
    }
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
fn lanes_are_permuted_within_and_across_rows() {
    for generation in having("V_PERMLANE16_B32") {
        for lanes in generation.wave_sizes() {
            // A rotation, as the manual has it.
            let mut wave = numbered(generation, *lanes);
            wave.set_sgpr(0, 0x8765_4321);
            wave.set_sgpr(1, 0x0fed_cba9);
            exec(&mut wave, "v_permlane16_b32 v2, v1, s0, s1");
            exec(&mut wave, "v_permlanex16_b32 v3, v1, s0, s1");
            for lane in 0..*lanes as usize {
                let rotated = (lane & !15 | (lane + 1) & 15) as u32;
                assert_eq!(wave.vgpr(lane, 2), 1000 + rotated, "{generation}");
                assert_eq!(wave.vgpr(lane, 3), 1000 + (rotated ^ 16), "{generation}");
            }
            // From lanes that are off: nothing, 0, or what is there.
            for (modifiers, expected) in
                [("", 7), (" op_sel:[0,1]", 0), (" op_sel:[1,0]", 1001), (" op_sel:[1,1]", 1001)]
            {
                let mut wave = numbered(generation, *lanes);
                wave.set_exec(1);
                wave.set_sgpr(0, 1);
                exec(&mut wave, &format!("v_permlane16_b32 v0, v1, s0, s1{modifiers}"));
                assert_eq!((wave.vgpr(0, 0), wave.vgpr(1, 0)), (expected, 7), "{generation}{modifiers}");
            }
        }
    }
    for generation in having("V_PERMLANE16_VAR_B32") {
        let mut wave = numbered(generation, 32);
        fill(&mut wave, 4, &[3, 15, 0]);
        exec(&mut wave, "v_permlane16_var_b32 v2, v1, v4");
        exec(&mut wave, "v_permlanex16_var_b32 v3, v1, v4");
        for lane in 0..32 {
            let from = (lane & !15) as u32 + [3, 15, 0][lane % 3];
            assert_eq!((wave.vgpr(lane, 2), wave.vgpr(lane, 3)), (1000 + from, 1000 + (from ^ 16)), "{generation}");
        }
    }
    for generation in having("V_PERMLANE64_B32") {
        let mut wave = numbered(generation, 32);
        exec(&mut wave, "v_permlane64_b32 v0, v1");
        assert_eq!(wave.vgpr(3, 0), 7, "{generation}: nothing in small waves");
        if generation.wave_sizes().contains(&64) {
            let mut wave = numbered(generation, 64);
            exec(&mut wave, "v_permlane64_b32 v0, v1");
            assert_eq!((wave.vgpr(3, 0), wave.vgpr(40, 0)), (1035, 1008), "{generation}");
        }
    }
}

#[test]
fn lanes_are_permuted_within_groups() {
    type Case = (&'static str, u32, [(usize, u32); 4]);
    let cases: [Case; 5] = [
        ("bcast", 5, [(0, 5), (7, 5), (8, 13), (31, 29)]),
        ("up", 3, [(0, 0), (3, 0), (7, 4), (12, 9)]),
        ("down", 3, [(0, 3), (4, 7), (5, 5), (8, 11)]),
        ("xor", 6, [(0, 6), (1, 7), (15, 9), (24, 30)]),
        ("xor", 8, [(0, 0), (9, 1), (15, 7), (24, 16)]),
    ];
    for (name, by, expected) in cases {
        let mut wave = numbered(Generation::Cdna5, 32);
        wave.set_sgpr(0, by);
        exec(&mut wave, &format!("v_permlane_{name}_b32 v0, v1, s0, 8"));
        for (lane, from) in expected {
            assert_eq!(wave.vgpr(lane, 0), 1000 + from, "{name} {by} lane {lane}");
        }
    }
    let mut wave = wave(Generation::Cdna5);
    fill(&mut wave, 1, &[13]);
    exec(&mut wave, "v_permlane_idx_gen_b32 v0, v1, 8");
    assert_eq!((wave.vgpr(0, 0), wave.vgpr(9, 0), wave.vgpr(31, 0)), (5 * 4, 13 * 4, 29 * 4));
}

#[test]
fn parts_of_two_registers_are_swapped() {
    for generation in having("V_PERMLANE16_SWAP_B32") {
        let mut wave = numbered(generation, generation.wave_sizes()[0]);
        for lane in 0..wave.lanes() as usize {
            wave.set_vgpr(lane, 0, lane as u32);
        }
        exec(&mut wave, "v_permlane16_swap_b32 v0, v1");
        for lane in 0..wave.lanes() as usize {
            let odd = lane & 16 != 0;
            let (first, second) = if odd { (1000 + lane - 16, 1000 + lane) } else { (lane, lane + 16) };
            assert_eq!((wave.vgpr(lane, 0), wave.vgpr(lane, 1)), (first as u32, second as u32), "{generation} {lane}");
        }
    }
    let mut wave = numbered(Generation::Cdna4, 64);
    for lane in 0..64 {
        wave.set_vgpr(lane, 0, lane as u32);
    }
    exec(&mut wave, "v_permlane32_swap_b32 v0, v1");
    assert_eq!((wave.vgpr(3, 0), wave.vgpr(35, 0), wave.vgpr(3, 1), wave.vgpr(35, 1)), (3, 1003, 35, 1035));
}

#[test]
fn accumulation_registers_are_moved() {
    for generation in having("V_ACCVGPR_READ") {
        let mut wave = wave(generation);
        fill(&mut wave, 1, &[42]);
        exec(&mut wave, "v_accvgpr_write_b32 a3, v1");
        exec(&mut wave, "v_accvgpr_read_b32 v2, a3");
        assert_eq!((wave.agpr(5, 3), wave.vgpr(5, 2)), (42, 42), "{generation}");
        if generation != Generation::Cdna1 {
            exec(&mut wave, "v_accvgpr_mov_b32 a4, a3");
            assert_eq!(wave.agpr(9, 4), 42, "{generation}");
        }
    }
}

#[test]
fn the_mode_is_a_hardware_register() {
    for generation in Generation::all() {
        let mut wave = wave(*generation);
        // Round of 32-bit floats towards zero, then read back all and a field. Register 1, offset 0, two bits.
        for (text, expected) in
            [("s_setreg_imm32_b32 hwreg(1, 0, 2), 3", 0xf3), ("s_setreg_imm32_b32 hwreg(1, 4, 2), 0", 0xc3)]
        {
            exec(&mut wave, text);
            assert_eq!(wave.mode().0 & 0xff, expected, "{generation} {text}");
        }
        wave.set_sgpr(3, 0xffff_fff5);
        exec(&mut wave, "s_setreg_b32 hwreg(1, 0, 4), s3");
        exec(&mut wave, "s_getreg_b32 s0, hwreg(1, 0, 8)");
        exec(&mut wave, "s_getreg_b32 s1, hwreg(1, 4, 2)");
        assert_eq!((wave.sgpr(0), wave.sgpr(1)), (0xc5, 0), "{generation}");
        // 1 + 2^-24 rounds as the new mode says: up.
        wave.set_mode(Mode(0xf0));
        exec(&mut wave, "s_setreg_imm32_b32 hwreg(1, 0, 4), 1");
        fill(&mut wave, 1, &[1f32.to_bits()]);
        fill(&mut wave, 2, &[2f32.powi(-24).to_bits()]);
        exec(&mut wave, "v_add_f32 v0, v1, v2");
        assert_eq!(wave.vgpr(0, 0), 0x3f80_0001, "{generation}");
        // The status knows that no lane is on.
        wave.set_exec(0);
        exec(&mut wave, "s_getreg_b32 s0, hwreg(2, 9, 1)");
        assert_eq!(wave.sgpr(0), 1, "{generation}");
    }
    let mut wave = wave(Generation::Cdna5);
    step(&mut wave, &hex("01 f8 80 b9 c0 03 00 00")).expect("executes");
    assert_eq!(wave.mode(), Mode(0x3c0));
    // Time passes with every reading.
    let (memory, mut lds) = (Memory::new(), Lds::default());
    let mut env = Env::new(&memory, &mut lds);
    let word = hex("00 06 80 be");
    let inst = decode(Generation::Cdna5, 32, &word);
    assert_eq!(inst.op(), Op::S_GET_SHADER_CYCLES_U64);
    wave.step_in(&inst, &mut env).expect("executes");
    let first = wave.sgpr(0);
    wave.step_in(&inst, &mut env).expect("executes");
    assert!(wave.sgpr(0) > first);
}

#[test]
fn vector_registers_are_indexed() {
    for generation in CDNA {
        let mut wave = wave(generation);
        for register in 0..40 {
            fill(&mut wave, register, &[100 + register as u32]);
        }
        wave.set_sgpr(0, 5);
        // Source 0 and the destination.
        exec(&mut wave, "s_set_gpr_idx_on s0, gpr_idx(SRC0,DST)");
        exec(&mut wave, "v_add_u32 v1, v2, v3");
        assert_eq!(wave.vgpr(0, 6), 107 + 103, "{generation}");
        exec(&mut wave, "s_set_gpr_idx_mode gpr_idx(SRC1)");
        exec(&mut wave, "v_sub_u32 v1, v2, v3");
        assert_eq!(wave.vgpr(0, 1), 102u32.wrapping_sub(108), "{generation}");
        wave.set_sgpr(0, 7);
        exec(&mut wave, "s_set_gpr_idx_idx s0");
        exec(&mut wave, "v_mov_b32 v2, v3");
        assert_eq!(wave.vgpr(0, 2), 103, "{generation}: source 0 is not moved");
        exec(&mut wave, "s_set_gpr_idx_off");
        exec(&mut wave, "v_mov_b32 v20, v21");
        assert_eq!(wave.vgpr(0, 20), 121, "{generation}");
        // Skipped vector instructions.
        exec(&mut wave, "s_setvskip 1, 0");
        exec(&mut wave, "v_mov_b32 v20, 9");
        exec(&mut wave, "s_setvskip 0, 0");
        assert_eq!(wave.vgpr(0, 20), 121, "{generation}");
        exec(&mut wave, "v_mov_b32 v20, 9");
        assert_eq!(wave.vgpr(0, 20), 9, "{generation}");
    }
}

#[test]
fn wide_register_files_have_high_bits() {
    let mut wave = wave(Generation::Cdna5);
    // Memory: data and address of a store, then address and destination of a load.
    let (mut memory, mut lds) = (Memory::new(), Lds::default());
    let base = memory.allocate("data", 4096).expect("there is room");
    wave.set_sgpr(2, base as u32);
    wave.set_sgpr(3, (base >> 32) as u32);
    for lane in 0..32 {
        wave.set_vgpr(lane, 256 + 1, 4 * lane as u32);
        wave.set_vgpr(lane, 512 + 2, 70 + lane as u32);
    }
    let mut env = Env::new(&memory, &mut lds);
    for text in [
        "s_set_vgpr_msb 0x09",
        "global_store_b32 v1, v2, s[2:3]",
        "s_set_vgpr_msb 0xc1",
        "global_load_b32 v3, v1, s[2:3]",
    ] {
        let mut bytes = Vec::new();
        Assembler::new(Generation::Cdna5).assemble_line(text, &mut bytes).expect("assembles");
        let words: Vec<u32> = bytes.chunks_exact(4).map(|w| u32::from_le_bytes([w[0], w[1], w[2], w[3]])).collect();
        wave.step_in(&decode(Generation::Cdna5, 32, &words), &mut env).expect("executes");
    }
    assert_eq!((wave.vgpr(5, 768 + 3), wave.vgpr(31, 768 + 3)), (75, 101));
    exec(&mut wave, "s_set_vgpr_msb 0");
    fill(&mut wave, 1, &[11]);
    fill(&mut wave, 256 + 2, &[22]);
    fill(&mut wave, 768 + 3, &[33]);
    fill(&mut wave, 512 + 4, &[44]);
    // Destination 2, source 0 none, source 1 one, source 2 three.
    exec(&mut wave, "s_set_vgpr_msb 0xb4");
    exec(&mut wave, "v_add3_u32 v4, v1, v2, v3");
    assert_eq!(wave.vgpr(9, 512 + 4), 66);
    // The old value is the destination's.
    fill(&mut wave, 512 + 5, &[1f32.to_bits()]);
    fill(&mut wave, 256 + 6, &[2f32.to_bits()]);
    fill(&mut wave, 7, &[3f32.to_bits()]);
    exec(&mut wave, "v_fmac_f32 v5, v7, v6");
    assert_eq!(wave.vgpr(9, 512 + 5), 7f32.to_bits());
    exec(&mut wave, "s_getreg_b32 s0, hwreg(1, 12, 8)");
    assert_eq!(wave.sgpr(0), 0b11_01_00_10);
    exec(&mut wave, "v_readfirstlane_b32 s1, v1");
    assert_eq!(wave.sgpr(1), 11);
    // A pair past the end of the file is not written; scalars are never moved.
    exec(&mut wave, "s_set_vgpr_msb 0xc0");
    exec(&mut wave, "v_mov_b64 v[254:255], 5");
    assert_eq!(wave.vgpr(0, 768 + 254), 5);
    exec(&mut wave, "s_set_vgpr_msb 0");
    exec(&mut wave, "v_mov_b32 v0, v1");
    assert_eq!(wave.vgpr(0, 0), 11);
}

#[test]
fn forks_run_both_sides() {
    for generation in CDNA {
        let mut wave = wave(generation);
        wave.set_exec(0xff);
        // Lanes 0 to 2 jump; they are fewer, so they go first.
        wave.set_sgpr(20, 0x07);
        wave.set_sgpr(22, 0x400);
        wave.set_pc(0x100);
        let flow = asm(&mut wave, "s_cbranch_g_fork s[20:21], s[22:23]").expect("executes");
        assert_eq!((flow, wave.exec(), wave.pc()), (Flow::Jump(0x400), 0x07, 0x400), "{generation}");
        // The first join goes to the other side, the second on. The depth of the stack before was 0.
        let flow = asm(&mut wave, "s_cbranch_join s30").expect("executes");
        assert_eq!((flow, wave.exec()), (Flow::Jump(0x104), 0xf8), "{generation}");
        assert_eq!(asm(&mut wave, "s_cbranch_join s30"), Ok(Flow::Next), "{generation}");
        // All lanes jump, or none.
        wave.set_sgpr(20, 0xff);
        assert_eq!(asm(&mut wave, "s_cbranch_g_fork s[20:21], s[22:23]"), Ok(Flow::Jump(0x400)), "{generation}");
        wave.set_sgpr(20, 0);
        assert_eq!(asm(&mut wave, "s_cbranch_g_fork s[20:21], s[22:23]"), Ok(Flow::Next), "{generation}");
        // Most lanes jump: they wait.
        wave.set_exec(0xff);
        wave.set_sgpr(20, 0x7f);
        wave.set_pc(0x100);
        assert_eq!(asm(&mut wave, "s_cbranch_i_fork s[20:21], 0x10"), Ok(Flow::Next), "{generation}");
        assert_eq!(wave.exec(), 0x80, "{generation}");
        assert_eq!(asm(&mut wave, "s_cbranch_join s30"), Ok(Flow::Jump(0x144)), "{generation}");
        assert_eq!(wave.exec(), 0x7f, "{generation}");
    }
}

#[test]
fn subvectors_are_looped_over() {
    for generation in having("S_SUBVECTOR_LOOP_BEGIN") {
        let mut wave = Wave::new(generation, 64).expect("it has them");
        wave.set_pc(0);
        wave.set_exec(0x0000_00f0_0000_000f);
        assert_eq!(asm(&mut wave, "s_subvector_loop_begin s0, 4"), Ok(Flow::Next), "{generation}");
        assert_eq!(wave.exec(), 0xf, "{generation}");
        wave.set_pc(0x10);
        assert_eq!(asm(&mut wave, "s_subvector_loop_end s0, -4"), Ok(Flow::Jump(4)), "{generation}");
        assert_eq!(wave.exec(), 0x0000_00f0_0000_0000, "{generation}");
        wave.set_pc(0x10);
        assert_eq!(asm(&mut wave, "s_subvector_loop_end s0, -4"), Ok(Flow::Next), "{generation}");
        assert_eq!(wave.exec(), 0x0000_00f0_0000_000f, "{generation}");
        wave.set_exec(0);
        wave.set_pc(0);
        assert_eq!(asm(&mut wave, "s_subvector_loop_begin s0, 4"), Ok(Flow::Jump(0x14)), "{generation}");
    }
}

#[test]
fn messages_traps_and_halts() {
    for generation in Generation::all() {
        let mut wave = wave(*generation);
        exec(&mut wave, "s_sendmsg 1");
        exec(&mut wave, "s_sethalt 0");
        exec(&mut wave, "s_trap 3");
        exec(&mut wave, "s_wakeup");
        for (text, op) in
            [("s_trap 2", Op::S_TRAP), ("s_sethalt 1", Op::S_SETHALT), ("s_sendmsghalt 1", Op::S_SENDMSGHALT)]
        {
            assert_eq!(asm(&mut wave, text), Err(ExecError::Stopped(op)), "{generation} {text}");
        }
        let back = if *generation == Generation::Cdna5 { "s_rfe_i64 s[2:3]" } else { "s_rfe_b64 s[2:3]" };
        wave.set_sgpr(2, 0x40);
        assert_eq!(asm(&mut wave, back), Ok(Flow::Jump(0x40)), "{generation}");
    }
    for generation in having("S_SENDMSG_RTN_B64") {
        let mut wave = wave(generation);
        exec(&mut wave, "s_sendmsg_rtn_b64 s[0:1], sendmsg(MSG_RTN_GET_REALTIME)");
        assert_ne!(wave.sgpr(0), 0, "{generation}: the time");
        exec(&mut wave, "s_sendmsg_rtn_b32 s0, sendmsg(MSG_RTN_GET_DOORBELL)");
        assert_eq!(wave.sgpr(0), 0, "{generation}");
    }
    for generation in having("S_CBRANCH_CDBGSYS") {
        let mut wave = wave(generation);
        for text in [
            "s_cbranch_cdbgsys 4",
            "s_cbranch_cdbguser 4",
            "s_cbranch_cdbgsys_or_user 4",
            "s_cbranch_cdbgsys_and_user 4",
        ] {
            assert_eq!(asm(&mut wave, text), Ok(Flow::Next), "{generation}: no debugger");
        }
        assert_eq!(asm(&mut wave, "s_endpgm_ordered_ps_done"), Ok(Flow::End), "{generation}");
    }
    for generation in having("S_SETKILL") {
        assert_eq!(asm(&mut wave(generation), "s_setkill 1"), Ok(Flow::End), "{generation}");
    }
    for generation in having("S_ALLOC_VGPR") {
        let mut wave = wave(generation);
        exec(&mut wave, "s_alloc_vgpr 64");
        assert!(wave.scc(), "{generation}");
    }
}
