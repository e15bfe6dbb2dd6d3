//! Scalar instructions, branches and calls on every generation, against models in wider types.

#[path = "exec/support.rs"]
mod support;

use gfx_isa::exec::{Finished, Flow, Program, Wave};
use gfx_isa::{Generation, Op};
use proptest::prelude::*;
use support::*;

/// Sources s[2:3] and s[4:5], destination s[0:1]; where the instruction has an immediate of 16 bits, it is given.
fn word(generation: Generation, name: &str, immediate: u16) -> Option<u32> {
    let op = Op::from_name(name).unwrap_or_else(|| panic!("{name} is no instruction"));
    let info = generation.instructions_of(op).next()?;
    let word = info.identifier() as u32;
    Some(match info.encoding().name() {
        "ENC_SOP1" => word | 2,
        "ENC_SOP2" => word | 2 | 4 << 8,
        "ENC_SOPC" => word | 2 | 4 << 8,
        "ENC_SOPK" | "ENC_SOPP" => word | u32::from(immediate),
        other => panic!("{name} is in {other}"),
    })
}

fn everywhere(name: &str, immediate: u16) -> Vec<(Generation, u32)> {
    let all: Vec<_> = Generation::all().iter().filter_map(|&g| Some((g, word(g, name, immediate)?))).collect();
    assert!(!all.is_empty(), "no generation has {name}");
    all
}

fn set_pair(wave: &mut Wave, register: usize, value: u64) {
    wave.set_sgpr(register, value as u32);
    wave.set_sgpr(register + 1, (value >> 32) as u32);
}

fn pair(wave: &Wave, register: usize) -> u64 {
    u64::from(wave.sgpr(register + 1)) << 32 | u64::from(wave.sgpr(register))
}

struct Given {
    a: i128,
    b: i128,
    /// The old destination.
    d: i128,
    scc: bool,
}

/// The exact result, and the condition code where it is not "the result is not 0".
type Model = fn(&Given) -> (i128, bool);

fn nz(value: i128, bits: u32) -> (i128, bool) {
    (value, value & ((1 << bits) - 1) != 0)
}

fn outside(value: i128, least: i128, most: i128) -> (i128, bool) {
    (value, !(least..=most).contains(&value))
}

const U: (i128, i128) = (0, u32::MAX as i128);
const I: (i128, i128) = (i32::MIN as i128, i32::MAX as i128);

/// Name, bits of sources and destination, signed sources.
const MODELS: &[(&str, u32, u32, bool, Model)] = &[
    ("S_AND_B32", 32, 32, false, |g| nz(g.a & g.b, 32)),
    ("S_AND_B64", 64, 64, false, |g| nz(g.a & g.b, 64)),
    ("S_OR_B32", 32, 32, false, |g| nz(g.a | g.b, 32)),
    ("S_XOR_B64", 64, 64, false, |g| nz(g.a ^ g.b, 64)),
    ("S_NAND_B32", 32, 32, false, |g| nz(!(g.a & g.b), 32)),
    ("S_NOR_B64", 64, 64, false, |g| nz(!(g.a | g.b), 64)),
    ("S_XNOR_B32", 32, 32, false, |g| nz(!(g.a ^ g.b), 32)),
    ("S_ANDN2_B64", 64, 64, false, |g| nz(g.a & !g.b, 64)),
    ("S_AND_NOT1_B32", 32, 32, false, |g| nz(g.a & !g.b, 32)),
    ("S_ORN2_B32", 32, 32, false, |g| nz(g.a | !g.b, 32)),
    ("S_OR_NOT1_B64", 64, 64, false, |g| nz(g.a | !g.b, 64)),
    ("S_NOT_B32", 32, 32, false, |g| nz(!g.a, 32)),
    ("S_NOT_B64", 64, 64, false, |g| nz(!g.a, 64)),
    ("S_ADD_U32", 32, 32, false, |g| outside(g.a + g.b, U.0, U.1)),
    ("S_SUB_U32", 32, 32, false, |g| outside(g.a - g.b, U.0, U.1)),
    ("S_ADD_CO_U32", 32, 32, false, |g| outside(g.a + g.b, U.0, U.1)),
    ("S_ADD_I32", 32, 32, true, |g| outside(g.a + g.b, I.0, I.1)),
    ("S_SUB_I32", 32, 32, true, |g| outside(g.a - g.b, I.0, I.1)),
    ("S_SUB_CO_I32", 32, 32, true, |g| outside(g.a - g.b, I.0, I.1)),
    ("S_ADDC_U32", 32, 32, false, |g| outside(g.a + g.b + i128::from(g.scc), U.0, U.1)),
    ("S_SUBB_U32", 32, 32, false, |g| outside(g.a - g.b - i128::from(g.scc), U.0, U.1)),
    ("S_ADD_CO_CI_U32", 32, 32, false, |g| outside(g.a + g.b + i128::from(g.scc), U.0, U.1)),
    ("S_SUB_CO_CI_U32", 32, 32, false, |g| outside(g.a - g.b - i128::from(g.scc), U.0, U.1)),
    ("S_LSHL1_ADD_U32", 32, 32, false, |g| outside(g.a * 2 + g.b, U.0, U.1)),
    ("S_LSHL4_ADD_U32", 32, 32, false, |g| outside(g.a * 16 + g.b, U.0, U.1)),
    ("S_MUL_I32", 32, 32, true, |g| (g.a * g.b, g.scc)),
    ("S_MUL_HI_U32", 32, 32, false, |g| ((g.a * g.b) >> 32, g.scc)),
    ("S_MUL_HI_I32", 32, 32, true, |g| ((g.a * g.b) >> 32, g.scc)),
    ("S_MUL_U64", 64, 64, false, |g| (((g.a as u128).wrapping_mul(g.b as u128)) as i128, g.scc)),
    ("S_ADD_NC_U64", 64, 64, false, |g| (g.a + g.b, g.scc)),
    ("S_MIN_I32", 32, 32, true, |g| (g.a.min(g.b), g.a < g.b)),
    ("S_MAX_I32", 32, 32, true, |g| (g.a.max(g.b), g.a >= g.b)),
    ("S_MIN_U32", 32, 32, false, |g| (g.a.min(g.b), g.a < g.b)),
    ("S_MAX_U32", 32, 32, false, |g| (g.a.max(g.b), g.a >= g.b)),
    ("S_ABS_I32", 32, 32, true, |g| nz(g.a.abs(), 32)),
    ("S_LSHL_B32", 32, 32, false, |g| nz(g.a << (g.b % 32), 32)),
    ("S_LSHR_B32", 32, 32, false, |g| nz(g.a >> (g.b % 32), 32)),
    ("S_ASHR_I32", 32, 32, true, |g| nz(g.a >> g.b.rem_euclid(32), 32)),
    ("S_LSHR_B64", 64, 64, false, |g| nz(g.a >> (g.b % 64), 64)),
    ("S_LSHL_B64", 64, 64, false, |g| nz(((g.a as u128) << (g.b % 64)) as i128, 64)),
    ("S_ASHR_I64", 64, 64, true, |g| nz(g.a >> g.b.rem_euclid(64), 64)),
    ("S_BFM_B32", 32, 32, false, |g| (((1 << (g.a % 32)) - 1) << (g.b % 32), g.scc)),
    ("S_BREV_B32", 32, 32, false, |g| ((0..32).map(|bit| (g.a >> bit & 1) << (31 - bit)).sum(), g.scc)),
    ("S_BCNT1_I32_B64", 64, 32, false, |g| nz(i128::from(g.a.count_ones()), 32)),
    ("S_BCNT0_I32_B32", 32, 32, false, |g| nz(32 - i128::from(g.a.count_ones()), 32)),
    ("S_FF1_I32_B32", 32, 32, false, |g| ((0..32).find(|bit| g.a >> bit & 1 != 0).unwrap_or(-1), g.scc)),
    ("S_FF0_I32_B64", 64, 32, false, |g| ((0..64).find(|bit| g.a >> bit & 1 == 0).unwrap_or(-1), g.scc)),
    ("S_CTZ_I32_B64", 64, 32, false, |g| ((0..64).find(|bit| g.a >> bit & 1 != 0).unwrap_or(-1), g.scc)),
    ("S_FLBIT_I32_B32", 32, 32, false, |g| ((0..32).find(|at| g.a >> (31 - at) & 1 != 0).unwrap_or(-1), g.scc)),
    ("S_CLZ_I32_U64", 64, 32, false, |g| ((0..64).find(|at| g.a >> (63 - at) & 1 != 0).unwrap_or(-1), g.scc)),
    ("S_FLBIT_I32", 32, 32, true, |g| (sign_run(g.a, 32), g.scc)),
    ("S_CLS_I32_I64", 64, 32, true, |g| (sign_run(g.a, 64), g.scc)),
    ("S_SEXT_I32_I8", 32, 32, false, |g| (i128::from(g.a as i8), g.scc)),
    ("S_PACK_LL_B32_B16", 32, 32, false, |g| (g.a % 65536 + g.b * 65536, g.scc)),
    ("S_PACK_LH_B32_B16", 32, 32, false, |g| (g.a % 65536 + g.b / 65536 * 65536, g.scc)),
    ("S_PACK_HH_B32_B16", 32, 32, false, |g| (g.a / 65536 + g.b / 65536 * 65536, g.scc)),
    ("S_PACK_HL_B32_B16", 32, 32, false, |g| (g.a / 65536 + g.b * 65536, g.scc)),
    ("S_CSELECT_B32", 32, 32, false, |g| (if g.scc { g.a } else { g.b }, g.scc)),
    ("S_CSELECT_B64", 64, 64, false, |g| (if g.scc { g.a } else { g.b }, g.scc)),
    ("S_CMOV_B32", 32, 32, false, |g| (if g.scc { g.a } else { g.d }, g.scc)),
    ("S_MOV_B64", 64, 64, false, |g| (g.a, g.scc)),
    ("S_BITSET0_B32", 32, 32, false, |g| (g.d & !(1 << (g.a % 32)), g.scc)),
    ("S_BITSET1_B64", 32, 64, false, |g| (g.d | 1 << (g.a % 64), g.scc)),
    ("S_BFE_U32", 32, 32, false, |g| nz(g.a >> (g.b % 32) & ((1 << (g.b >> 16 & 127).min(64)) - 1), 32)),
    ("S_WQM_B32", 32, 32, false, |g| nz((0..8).filter(|q| g.a >> (4 * q) & 15 != 0).map(|q| 15 << (4 * q)).sum(), 32)),
    ("S_QUADMASK_B64", 64, 64, false, |g| nz((0..16).filter(|q| g.a >> (4 * q) & 15 != 0).map(|q| 1 << q).sum(), 64)),
    ("S_BITREPLICATE_B64_B32", 32, 64, false, |g| {
        ((0..32).map(|bit| ((g.a >> bit & 1) * 3) << (2 * bit)).sum(), g.scc)
    }),
];

fn sign_run(a: i128, bits: i128) -> i128 {
    (1..bits).find(|at| (a >> (bits - 1 - at)) & 1 != (a >> (bits - 1)) & 1).unwrap_or(-1)
}

fn value() -> impl Strategy<Value = u64> {
    prop_oneof![any::<u64>(), 0..70u64, (0..70u64).prop_map(|x| !x), Just(1 << 31), Just(0xffff_ffff), Just(1 << 63)]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn results_and_conditions_are_exact(a in value(), b in value(), d in value(), scc: bool) {
        for &(name, from, to, signed, model) in MODELS {
            let cut = |x: u64| match (from, signed) {
                (32, true) => i128::from(x as i32),
                (32, false) => i128::from(x as u32),
                (_, true) => i128::from(x as i64),
                (_, false) => i128::from(x),
            };
            // A shift's or a field's second source is always 32 bits wide.
            let second = if name.contains("SH") { i128::from(b as u32) } else { cut(b) };
            let (expected, condition) = model(&Given { a: cut(a), b: second, d: d.into(), scc });
            for (generation, word) in everywhere(name, 0) {
                let mut wave = wave(generation);
                set_pair(&mut wave, 0, d);
                set_pair(&mut wave, 2, a);
                set_pair(&mut wave, 4, b);
                wave.set_scc(scc);
                prop_assert_eq!(step(&mut wave, &[word]), Ok(Flow::Next));
                let result = if to == 64 { pair(&wave, 0) } else { wave.sgpr(0).into() };
                let mask = if to == 64 { u64::MAX } else { u32::MAX.into() };
                prop_assert_eq!(result, expected as u64 & mask, "{} {}", name, generation);
                prop_assert_eq!(wave.scc(), condition, "{} {}", name, generation);
                if to == 32 {
                    prop_assert_eq!(wave.sgpr(1), (d >> 32) as u32, "{}: the next register", name);
                }
            }
        }
    }

    #[test]
    fn immediates_are_extended_as_the_name_says(d in value(), k: u16, scc: bool) {
        let (du, di, ku, ki) = (i128::from(d as u32), i128::from(d as i32), i128::from(k), i128::from(k as i16));
        let set: [(&str, i128, bool); 4] = [
            ("S_MOVK_I32", ki, scc),
            ("S_CMOVK_I32", if scc { ki } else { du }, scc),
            ("S_MULK_I32", di * ki, scc),
            ("S_ADDK_I32", di + ki, outside(di + ki, I.0, I.1).1),
        ];
        for (name, expected, condition) in set {
            for (generation, word) in everywhere(name, k) {
                let mut wave = wave(generation);
                wave.set_sgpr(0, d as u32);
                wave.set_scc(scc);
                prop_assert_eq!(step(&mut wave, &[word]), Ok(Flow::Next));
                prop_assert_eq!((wave.sgpr(0), wave.scc()), (expected as u32, condition), "{} {}", name, generation);
            }
        }
        let tests: [(&str, bool); 8] = [
            ("S_CMPK_EQ_I32", di == ki),
            ("S_CMPK_LG_I32", di != ki),
            ("S_CMPK_GT_I32", di > ki),
            ("S_CMPK_LE_I32", di <= ki),
            ("S_CMPK_EQ_U32", du == ku),
            ("S_CMPK_GE_U32", du >= ku),
            ("S_CMPK_LT_U32", du < ku),
            ("S_CMPK_LE_U32", du <= ku),
        ];
        for (name, expected) in tests {
            for (generation, word) in everywhere(name, k) {
                let mut wave = wave(generation);
                wave.set_sgpr(0, d as u32);
                prop_assert_eq!(step(&mut wave, &[word]), Ok(Flow::Next));
                prop_assert_eq!((wave.sgpr(0), wave.scc()), (d as u32, expected), "{} {}", name, generation);
            }
        }
    }

    #[test]
    fn exec_is_saved_and_changed(a in value(), exec in value()) {
        type Mask = fn(u64, u64) -> u64;
        let models: [(&str, bool, Mask); 12] = [
            ("S_AND_SAVEEXEC_B64", true, |a, e| a & e),
            ("S_OR_SAVEEXEC_B64", true, |a, e| a | e),
            ("S_XOR_SAVEEXEC_B64", true, |a, e| a ^ e),
            ("S_NAND_SAVEEXEC_B64", true, |a, e| !(a & e)),
            ("S_NOR_SAVEEXEC_B64", true, |a, e| !(a | e)),
            ("S_XNOR_SAVEEXEC_B64", true, |a, e| !(a ^ e)),
            ("S_ANDN1_SAVEEXEC_B64", true, |a, e| !a & e),
            ("S_ANDN2_SAVEEXEC_B64", true, |a, e| a & !e),
            ("S_ORN2_SAVEEXEC_B64", true, |a, e| a | !e),
            ("S_AND_NOT1_SAVEEXEC_B64", true, |a, e| a & !e),
            ("S_ANDN1_WREXEC_B64", false, |a, e| !a & e),
            ("S_AND_NOT1_WREXEC_B64", false, |a, e| a & !e),
        ];
        for (name, saves, model) in models {
            for (generation, word) in everywhere(name, 0) {
                let Ok(mut wave) = Wave::new(generation, 64) else { continue };
                wave.set_exec(exec);
                set_pair(&mut wave, 2, a);
                prop_assert_eq!(step(&mut wave, &[word]), Ok(Flow::Next));
                let expected = model(a, exec);
                prop_assert_eq!(wave.exec(), expected, "{} {}", name, generation);
                prop_assert_eq!(pair(&wave, 0), if saves { exec } else { expected }, "{} {}", name, generation);
                prop_assert_eq!(wave.scc(), expected != 0);
            }
        }
    }
}

#[test]
fn branches_look_at_their_condition() {
    let taken = |generation, word: u32, set: &dyn Fn(&mut Wave)| {
        let mut wave = wave(generation);
        wave.set_pc(100);
        set(&mut wave);
        match step(&mut wave, &[word]).expect("executes") {
            Flow::Next => {
                assert_eq!(wave.pc(), 104);
                false
            }
            flow => {
                assert_eq!((flow, wave.pc()), (Flow::Jump(96), 96), "two dwords back from the next instruction");
                true
            }
        }
    };
    for (name, when) in [("S_CBRANCH_SCC0", false), ("S_CBRANCH_SCC1", true)] {
        for (generation, word) in everywhere(name, 0xfffe) {
            for scc in [false, true] {
                assert_eq!(taken(generation, word, &|wave| wave.set_scc(scc)), scc == when, "{name} {generation}");
            }
        }
    }
    for (name, when) in [("S_CBRANCH_VCCZ", true), ("S_CBRANCH_VCCNZ", false)] {
        for (generation, word) in everywhere(name, 0xfffe) {
            for vcc in [0, 1 << 31] {
                assert_eq!(
                    taken(generation, word, &|wave| wave.set_vcc(vcc)),
                    (vcc == 0) == when,
                    "{name} {generation}"
                );
            }
        }
    }
    for (name, when) in [("S_CBRANCH_EXECZ", true), ("S_CBRANCH_EXECNZ", false)] {
        for (generation, word) in everywhere(name, 0xfffe) {
            for exec in [0, 2] {
                assert_eq!(
                    taken(generation, word, &|wave| wave.set_exec(exec)),
                    (exec == 0) == when,
                    "{name} {generation}"
                );
            }
        }
    }
    for (generation, word) in everywhere("S_BRANCH", 0xfffe) {
        assert!(taken(generation, word, &|_| {}), "{generation}");
    }
}

#[test]
fn calls_return() {
    for &generation in Generation::all() {
        let named = |names: &[&str]| names.iter().find_map(|name| Op::from_name(name).filter(|op| generation.has(*op)));
        let call = named(&["S_CALL_B64", "S_CALL_I64"]).expect("a call");
        let back = named(&["S_SETPC_B64", "S_SET_PC_I64"]).expect("a return");
        let get = named(&["S_GETPC_B64", "S_GET_PC_I64"]).expect("the program counter");
        let w = |op: Op, immediate| word(generation, op.name(), immediate).expect("the generation has it");
        // Call to the fourth dword; it notes its place in s[8:9] and returns to the second, which ends.
        let code = [w(call, 2) | 2 << 16, w(Op::S_ENDPGM, 0), w(Op::S_ENDPGM, 0), w(get, 0) | 8 << 16, w(back, 0)];
        let program = Program::new(generation, &bytes(&code));
        let mut wave = wave(generation);
        assert_eq!(wave.run(&program, 100), Ok(Finished { executed: 4, ended: true }), "{generation}");
        assert_eq!((pair(&wave, 2), pair(&wave, 8), wave.pc()), (4, 16, 4), "{generation}");
    }
}

#[test]
fn literals_and_inline_constants() {
    for &generation in Generation::all() {
        let mov = |name| word(generation, name, 0).expect("every generation moves") & !0xff;
        let mut wave = wave(generation);
        step(&mut wave, &[mov("S_MOV_B32") | 255, 0x89ab_cdef]).expect("executes");
        assert_eq!(wave.sgpr(0), 0x89ab_cdef, "{generation}");
        for (source, single, double) in [
            (128, 0u32, 0u64),
            (192, 64, 64),
            (193, u32::MAX, u64::MAX),
            (208, -16i32 as u32, -16i64 as u64),
            (240, 0.5f32.to_bits(), 0.5f64.to_bits()),
            (247, (-4.0f32).to_bits(), (-4.0f64).to_bits()),
            (248, 0x3e22_f983, 0x3fc4_5f30_6dc9_c882),
        ] {
            step(&mut wave, &[mov("S_MOV_B32") | source]).expect("executes");
            assert_eq!(wave.sgpr(0), single, "{generation} {source}");
            step(&mut wave, &[mov("S_MOV_B64") | source]).expect("executes");
            assert_eq!(pair(&wave, 0), double, "{generation} {source}");
        }
    }
}
