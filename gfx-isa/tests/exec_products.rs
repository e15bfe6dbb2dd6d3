//! Dot products, mixed-precision arithmetic, byte sums and packing conversions, on every generation that has them.

#[path = "exec/support.rs"]
mod support;

use gfx_isa::Generation;
use gfx_isa::exec::{Mode, Wave};
use proptest::prelude::*;
use support::*;

/// A wave of a generation with values in v1, v2, ..
fn with(generation: Generation, values: &[u32]) -> Wave {
    let mut wave = wave(generation);
    for (at, value) in values.iter().enumerate() {
        fill(&mut wave, at + 1, &[*value]);
    }
    wave
}

fn run(generation: Generation, text: &str, values: &[u32]) -> u32 {
    let mut wave = with(generation, values);
    exec(&mut wave, text);
    wave.vgpr(3, 0)
}

fn elements(x: u32, bits: u32, signed: bool) -> Vec<i64> {
    (0..32 / bits)
        .map(|at| {
            let part = i64::from(x >> (bits * at)) & ((1 << bits) - 1);
            if signed && part >> (bits - 1) != 0 { part - (1 << bits) } else { part }
        })
        .collect()
}

fn product_sum(a: u32, b: u32, bits: u32, signs: (bool, bool)) -> i64 {
    elements(a, bits, signs.0).iter().zip(elements(b, bits, signs.1)).map(|(a, b)| a * b).sum()
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn integer_dot_products(a: u32, b: u32, c: u32) {
        for (name, bits, signed) in [
            ("v_dot2_i32_i16", 16, true),
            ("v_dot2_u32_u16", 16, false),
            ("v_dot4_i32_i8", 8, true),
            ("v_dot4_u32_u8", 8, false),
            ("v_dot8_i32_i4", 4, true),
            ("v_dot8_u32_u4", 4, false),
        ] {
            let products = product_sum(a, b, bits, (signed, signed));
            for generation in having(&name.to_uppercase()) {
                let wrapped = run(generation, &format!("{name} v0, v1, v2, v3"), &[a, b, c]);
                let clamped = run(generation, &format!("{name} v0, v1, v2, v3 clamp"), &[a, b, c]);
                let (sum, saturated) = if signed {
                    let sum = i64::from(c as i32) + products;
                    (sum, sum.clamp(i32::MIN.into(), i32::MAX.into()))
                } else {
                    let sum = i64::from(c) + products;
                    (sum, sum.min(u32::MAX.into()))
                };
                prop_assert_eq!(wrapped, sum as u32, "{} {}", generation, name);
                prop_assert_eq!(clamped, saturated as u32, "{} {} clamp", generation, name);
            }
        }
        for (name, bits) in [("v_dot2c_i32_i16", 16), ("v_dot4c_i32_i8", 8), ("v_dot8c_i32_i4", 4)] {
            for generation in having(&name.to_uppercase()) {
                let mut wave = with(generation, &[a, b]);
                fill(&mut wave, 0, &[c]);
                exec(&mut wave, &format!("{name} v0, v1, v2"));
                let sum = i64::from(c) + product_sum(a, b, bits, (true, true));
                prop_assert_eq!(wave.vgpr(0, 0), sum as u32, "{} {}", generation, name);
            }
        }
        for (name, bits) in [("v_dot4_i32_iu8", 8), ("v_dot8_i32_iu4", 4)] {
            for generation in having(&name.to_uppercase()) {
                for signs in 0..4u32 {
                    let modifier = format!("neg_lo:[{},{},0]", signs & 1, signs >> 1);
                    let got = run(generation, &format!("{name} v0, v1, v2, v3 {modifier}"), &[a, b, c]);
                    let sum = i64::from(c as i32) + product_sum(a, b, bits, (signs & 1 != 0, signs & 2 != 0));
                    prop_assert_eq!(got, sum as u32, "{} {} {}", generation, name, modifier);
                }
            }
        }
    }

    #[test]
    fn byte_sums(a: u64, b: u32, c: u64, d: u64) {
        let sum = |window: u32, masked: bool| -> u32 {
            window.to_le_bytes().iter().zip(b.to_le_bytes()).map(|(x, y)| match masked && y == 0 {
                true => 0,
                false => u32::from(x.abs_diff(y)),
            }).sum()
        };
        let windows = [0, 8, 16, 24].map(|by| (a >> by) as u32);
        for generation in Generation::all() {
            let mut wave = wave(*generation);
            fill64(&mut wave, 2, a);
            fill(&mut wave, 4, &[b]);
            fill64(&mut wave, 6, c);
            fill64(&mut wave, 8, d);
            for (name, masked) in [("v_qsad_pk_u16_u8", false), ("v_mqsad_pk_u16_u8", true)] {
                exec(&mut wave, &format!("{name} v[10:11], v[2:3], v4, v[6:7]"));
                for (at, window) in windows.iter().enumerate() {
                    let expected = (c >> (16 * at)) as u16;
                    let got = (read64(&wave, 0, 10) >> (16 * at)) as u16;
                    prop_assert_eq!(got, expected.wrapping_add(sum(*window, masked) as u16), "{} {}", generation, name);
                }
            }
            exec(&mut wave, "v_mqsad_u32_u8 v[10:13], v[2:3], v4, v[6:9]");
            for (at, window) in windows.iter().enumerate() {
                let before = [c as u32, (c >> 32) as u32, d as u32, (d >> 32) as u32][at];
                prop_assert_eq!(wave.vgpr(0, 10 + at), before.wrapping_add(sum(*window, true)), "{}", generation);
            }
        }
    }

    #[test]
    fn element_tables(a: u64, b: u64, indices: u64) {
        let mut wave = wave(Generation::Cdna5);
        for (register, value) in [(2, a), (4, b), (6, indices)] {
            fill64(&mut wave, register, value);
        }
        let index = |at: u32| (indices >> (4 * at) & 15) as u32;
        exec(&mut wave, "v_perm_pk16_b4_u4 v[10:11], v2, v4, v[6:7]");
        let table = a << 32 | b & 0xffff_ffff;
        let expected = (0..16).fold(0, |sum, at| sum | (table >> (4 * index(at)) & 15) << (4 * at));
        prop_assert_eq!(read64(&wave, 0, 10), expected);
        exec(&mut wave, "v_perm_pk16_b8_u4 v[10:13], v[2:3], v[4:5], v[6:7]");
        let bytes: Vec<u8> = b.to_le_bytes().into_iter().chain(a.to_le_bytes()).collect();
        for at in 0..16 {
            let got = wave.vgpr(0, 10 + at / 4).to_le_bytes()[at % 4];
            prop_assert_eq!(got, bytes[index(at as u32) as usize]);
        }
        exec(&mut wave, "v_perm_pk16_b6_u4 v[10:12], v2, v[4:5], v[6:7]");
        let table = u128::from(a as u32) << 64 | u128::from(b);
        let got = u128::from(read64(&wave, 0, 10)) | u128::from(wave.vgpr(0, 12)) << 64;
        for at in 0..16 {
            prop_assert_eq!(got >> (6 * at) & 63, table >> (6 * index(at)) & 63);
        }
    }

    #[test]
    fn stochastic_rounding_adds_the_seed_below_the_result(value in -60000f32..60000.0, seed: u32) {
        // Of what the result has no room for: the seed's upper bits are added, then it is cut off.
        let model = |lost: u32| {
            let bits = value.to_bits();
            let sum = bits.wrapping_add(seed >> (32 - lost));
            sum & !((1 << lost) - 1)
        };
        prop_assume!(value.abs() > 1e-3);
        let bf16 = run(Generation::Cdna4, "v_cvt_sr_bf16_f32 v0, v1, v2", &[value.to_bits(), seed]);
        prop_assert_eq!(bf16 & 0xffff, model(16) >> 16);
        let half = run(Generation::Cdna4, "v_cvt_sr_f16_f32 v0, v1, v2", &[value.to_bits(), seed]);
        let back = run(Generation::Cdna4, "v_cvt_f32_f16 v0, v1", &[half & 0xffff]);
        prop_assert_eq!(back, model(13), "{}", value);
    }
}

#[test]
fn float_dot_products() {
    // Two pairs and a sum that 32 bits hold exactly: 1.5 * 2 - 0.25 * 4 + 10.
    let halves = [0xb400_3e00, 0x4400_4000, 10f32.to_bits()];
    let bfloats = [0xbe80_3fc0, 0x4080_4000, 10f32.to_bits()];
    for (name, values) in [("v_dot2_f32_f16", halves), ("v_dot2_f32_bf16", bfloats)] {
        for generation in having(&name.to_uppercase()) {
            assert_eq!(
                run(generation, &format!("{name} v0, v1, v2, v3"), &values),
                12f32.to_bits(),
                "{generation} {name}"
            );
            let negated = run(generation, &format!("{name} v0, v1, v2, v3 neg_lo:[1,0,1]"), &values);
            assert_eq!(negated, (-14f32).to_bits(), "{generation} {name}");
        }
    }
    for (name, values) in [("v_dot2c_f32_f16", halves), ("v_dot2c_f32_bf16", bfloats), ("v_dot2acc_f32_f16", halves)] {
        for generation in having(&name.to_uppercase()) {
            let mut wave = with(generation, &values[..2]);
            fill(&mut wave, 0, &[10f32.to_bits()]);
            exec(&mut wave, &format!("{name} v0, v1, v2"));
            assert_eq!(wave.vgpr(0, 0), 12f32.to_bits(), "{generation} {name}");
        }
    }
    for generation in [Generation::Rdna3, Generation::Rdna3_5, Generation::Rdna4] {
        let mut wave = with(generation, &bfloats[..2]);
        fill(&mut wave, 4, &halves[..1]);
        fill(&mut wave, 5, &halves[1..2]);
        for register in [6, 7] {
            fill(&mut wave, register, &[10f32.to_bits()]);
        }
        exec(&mut wave, "v_dual_dot2acc_f32_bf16 v6, v1, v2 :: v_dual_dot2acc_f32_f16 v7, v4, v5");
        assert_eq!((wave.vgpr(0, 6), wave.vgpr(0, 7)), (12f32.to_bits(), 12f32.to_bits()), "{generation}");
        let text = if generation == Generation::Rdna4 {
            "v_dot2_f16_f16 v0, v1, v2, v3"
        } else {
            "v_dot2_f16_f16 v0.l, v1, v2, v3.l"
        };
        assert_eq!(run(generation, text, &[halves[0], halves[1], 0x4900]) & 0xffff, 0x4a00, "{generation}");
    }
}

#[test]
fn dot_products_as_measured_on_hardware() {
    // CDNA 2 flushes 16-bit denormals whatever the mode says, CDNA 4 never does.
    for mode in [0xf0, 0x00] {
        for (generation, expected) in [(Generation::Cdna2, 0), (Generation::Cdna4, 0xac80_0000)] {
            let mut wave = with(generation, &[0x8001, 0x0400, 0]);
            wave.set_mode(Mode(mode));
            exec(&mut wave, "v_dot2_f32_f16 v0, v1, v2, v3");
            assert_eq!(wave.vgpr(0, 0), expected, "{generation} {mode:#x}");
            fill(&mut wave, 0, &[0]);
            exec(&mut wave, "v_dot2c_f32_f16 v0, v1, v2");
            assert_eq!(wave.vgpr(0, 0), expected, "{generation} {mode:#x}");
        }
    }
    // RDNA 4 cuts the bits below a bfloat16 off.
    assert_eq!(run(Generation::Rdna4, "v_dot2_bf16_bf16 v0, v1, v2, 0", &[0x3fa0, 0x3fce]) & 0xffff, 0x4000);
}

#[test]
fn mixed_sources() {
    let one = 1f32.to_bits();
    // Halves of v3: 0.5 above, -1 below.
    let values = [2f32.to_bits(), 3f32.to_bits(), 0x3800_bc00];
    for (name, generations) in [("v_fma_mix", having("V_FMA_MIX_F32")), ("v_mad_mix", having("V_MAD_MIX_F32"))] {
        for generation in generations {
            let single =
                |text: &str| f32::from_bits(run(generation, &format!("{name}_f32 v0, v1, v2, {text}"), &values));
            assert_eq!(single("1.0"), 7.0, "{generation}");
            assert_eq!(single("v3 op_sel_hi:[0,0,1]"), 5.0, "{generation}");
            assert_eq!(single("v3 op_sel:[0,0,1] op_sel_hi:[0,0,1]"), 6.5, "{generation}");
            assert_eq!(single("|v3| op_sel_hi:[0,0,1]"), 7.0, "{generation}");
            assert_eq!(single("-v3 op_sel_hi:[0,0,1]"), 7.0, "{generation}");
            assert_eq!(single("-|v3| op_sel_hi:[0,0,1]"), 5.0, "{generation}");
            assert_eq!(single("1.0 op_sel_hi:[0,0,1]"), 7.0, "{generation}: a 16-bit constant");
            for (half, expected) in [("lo", 0xdead_4700), ("hi", 0x4700_beef)] {
                let mut wave = with(generation, &[values[0], values[1], one]);
                fill(&mut wave, 0, &[0xdead_beef]);
                exec(&mut wave, &format!("{name}{half}_f16 v0, v1, v2, v3"));
                assert_eq!(wave.vgpr(0, 0), expected, "{generation} {half}");
            }
        }
    }
    // 1.25 as bfloat16 by 1.609375: 2.01171875, nearest to 2.015625.
    let mut wave = with(Generation::Cdna5, &[0x3fa0, 1.609_375f32.to_bits()]);
    fill(&mut wave, 0, &[0xdead_beef]);
    exec(&mut wave, "v_fma_mixlo_bf16 v0, v1, v2, 0 op_sel_hi:[1,0,0]");
    assert_eq!(wave.vgpr(0, 0), 0xdead_4001);
    exec(&mut wave, "v_fma_mixhi_bf16 v0, v1, v2, 0 op_sel_hi:[1,0,0]");
    assert_eq!(wave.vgpr(0, 0), 0x4001_4001);
    exec(&mut wave, "v_fma_mix_f32_bf16 v0, v1, v2, 0 op_sel_hi:[1,0,0]");
    assert_eq!(f32::from_bits(wave.vgpr(0, 0)), 2.0 + 3.0 / 256.0);
}

#[test]
fn packed_bfloat16() {
    let pair = |low: f32, high: f32| low.to_bits() >> 16 | high.to_bits() & 0xffff_0000;
    let values = [pair(1.5, -3.0), pair(2.0, 0.5), pair(0.25, 1.0)];
    for (text, expected) in [
        ("v_pk_add_bf16 v0, v1, v2", pair(3.5, -2.5)),
        ("v_pk_mul_bf16 v0, v1, v2", pair(3.0, -1.5)),
        ("v_pk_fma_bf16 v0, v1, v2, v3", pair(3.25, -0.5)),
        ("v_pk_min_num_bf16 v0, v1, v2", pair(1.5, -3.0)),
        ("v_pk_max_num_bf16 v0, v1, v2", pair(2.0, 0.5)),
        ("v_pk_add_bf16 v0, v1, v2 neg_lo:[1,0] neg_hi:[0,1]", pair(0.5, -3.5)),
        ("v_pk_add_bf16 v0, v1, v2 op_sel:[1,0] op_sel_hi:[0,1]", pair(-1.0, 2.0)),
    ] {
        assert_eq!(run(Generation::Cdna5, text, &values), expected, "{text}");
    }
    // 1 + 2^-8 is halfway between neighbours, and 1 is the even one.
    let tie = [pair(1.0, 1.0), pair(1.0 / 256.0, 3.0 / 256.0)];
    assert_eq!(run(Generation::Cdna5, "v_pk_add_bf16 v0, v1, v2", &tie), pair(1.0, 1.015_625));
    for generation in having("V_CVT_F32_BF16") {
        assert_eq!(run(generation, "v_cvt_f32_bf16 v0, v1", &[0x1234_c040]), (-3f32).to_bits(), "{generation}");
    }
}

#[test]
fn packing_conversions() {
    let f = |x: f32| x.to_bits();
    for (name, values, expected) in [
        // As measured on RDNA 3: the range is symmetric.
        ("v_cvt_pknorm_i16_f32", [f(1.0), f(-1.0)], 0x8001_7fff),
        ("v_cvt_pk_norm_i16_f32", [f(1.0), f(-1.0)], 0x8001_7fff),
        ("v_cvt_pknorm_i16_f32", [f(-9.0), f(f32::NAN)], 0x0000_8001),
        ("v_cvt_pknorm_u16_f32", [f(1.0), f(-1.0)], 0x0000_ffff),
        // 0.25 * 65535 is 16383.75.
        ("v_cvt_pk_norm_u16_f32", [f(0.25), f(7.0)], 0xffff_4000),
        ("v_cvt_pk_i16_f32", [f(100.5), f(-50.7)], 0xffce_0064),
        ("v_cvt_pk_i16_f32", [f(1e9), f(-1e9)], 0x8000_7fff),
        ("v_cvt_pk_u16_f32", [f(100.9), f(-3.0)], 0x0000_0064),
        ("v_cvt_pk_bf16_f32", [f(1.5), f(-2.0)], 0xc000_3fc0),
        // Halfway: to the even neighbour.
        ("v_cvt_pk_bf16_f32", [0x3f80_8000, 0x3f81_8000], 0x3f82_3f80),
        ("v_cvt_pk_f16_f32", [f(1.5), f(-65536.0)], 0xfc00_3e00),
        ("v_cvt_sr_pk_bf16_f32", [f(1.5), f(-2.0)], 0xc000_3fc0),
        ("v_cvt_sr_pk_f16_f32", [f(1.5), f(-2.0)], 0xc000_3e00),
    ] {
        for generation in having(&name.to_uppercase()) {
            let third = if name.contains("_sr_") { ", 0" } else { "" };
            let got = run(generation, &format!("{name} v0, v1, v2{third}"), &values);
            assert_eq!(got, expected, "{generation} {name}");
        }
    }
    // The seed's halves are added below what is kept.
    let ties = [0x3f80_8000, 0x3f80_8000, 0x8000_7fff];
    assert_eq!(run(Generation::Cdna5, "v_cvt_sr_pk_bf16_f32 v0, v1, v2, v3", &ties), 0x3f81_3f80);
    // 16-bit sources: 1 and -1, 0.5.
    for name in ["v_cvt_pknorm_i16_f16", "v_cvt_pk_norm_i16_f16"] {
        for generation in having(&name.to_uppercase()) {
            let halves = matches!(generation, Generation::Rdna3 | Generation::Rdna3_5);
            let text = if halves { format!("{name} v0, v1.l, v2.l") } else { format!("{name} v0, v1, v2") };
            assert_eq!(run(generation, &text, &[0x3c00, 0xbc00]), 0x8001_7fff, "{generation}");
            assert_eq!(run(generation, &text.replace("_i16", "_u16"), &[0x3c00, 0xbc00]), 0x0000_ffff, "{generation}");
        }
    }
    for generation in Generation::all() {
        let halves = matches!(generation, Generation::Rdna3 | Generation::Rdna3_5);
        for (name, input, expected) in
            [("i16", 0xbc00, 0x8001), ("i16", 0x3c00, 0x7fff), ("u16", 0x3c00, 0xffff), ("u16", 0xbc00, 0)]
        {
            let text = format!("v_cvt_norm_{name}_f16 {}", if halves { "v0.l, v1.l" } else { "v0, v1" });
            assert_eq!(run(*generation, &text, &[input]) & 0xffff, expected, "{generation} {text}");
        }
        // 128.5 rounds to the even neighbour.
        for (input, byte, expected) in [(128.5, 0, 0xaabb_cc80), (-1.0, 1, 0xaabb_00dd), (300.0, 3, 0xffbb_ccdd)] {
            let got = run(*generation, "v_cvt_pk_u8_f32 v0, v1, v2, v3", &[f(input), byte, 0xaabb_ccdd]);
            assert_eq!(got, expected, "{generation} {input}");
        }
        for (input, expected) in [(2.5, 3), (-2.5, -2), (0.499_999_97, 0), (3e9, i32::MAX), (-0.6, -1)] {
            let name =
                if halves || matches!(generation, Generation::Rdna4 | Generation::Cdna5) { "nearest" } else { "rpi" };
            let got = run(*generation, &format!("v_cvt_{name}_i32_f32 v0, v1"), &[f(input)]);
            assert_eq!(got as i32, expected, "{generation} {input}");
        }
    }
    for generation in having("V_CVT_PKACCUM_U8_F32") {
        let mut wave = with(generation, &[f(200.0), 2]);
        fill(&mut wave, 0, &[0x1122_3344]);
        exec(&mut wave, "v_cvt_pkaccum_u8_f32 v0, v1, v2");
        assert_eq!(wave.vgpr(0, 0), 0x11c8_3344, "{generation}");
    }
}

#[test]
fn saturating_packs_and_shifts() {
    for generation in having("V_ASHR_PK_I8_I32") {
        let values = [0x7fff_0000, -0x300i32 as u32, 4];
        assert_eq!(run(generation, "v_ashr_pk_i8_i32 v0, v1, v2, v3", &values) & 0xffff, 0xd07f, "{generation}");
        assert_eq!(run(generation, "v_ashr_pk_u8_i32 v0, v1, v2, v3", &values) & 0xffff, 0x00ff, "{generation}");
        assert_eq!(run(generation, "v_prng_b32 v0, v1", &[0x8000_0001]), 2 ^ 0xc5, "{generation}");
        assert_eq!(run(generation, "v_prng_b32 v0, v1", &[0x4000_0001]), 0x8000_0002, "{generation}");
    }
    let cdna5 = Generation::Cdna5;
    assert_eq!(run(cdna5, "v_sat_pk4_i4_i8 v0, v1", &[0x80_7f_fd_05]) & 0xffff, 0x87d5);
    assert_eq!(run(cdna5, "v_sat_pk4_u4_u8 v0, v1", &[0x80_0f_10_05]) & 0xffff, 0xfff5);
}

/// The manual's table, a hexadecimal digit an entry.
const SCREEN_PARTITIONS: &str = concat!(
    "137f5fff7ffffffff26efafffbffffffdf4cff5fffdfffff9bf8fffafffeffff",
    "ffff4cdf6fffeffffffff89bf99ffdffffff7f13ff9fffbfffff6ef26ff6fff7",
    "bfffffff23bfaffff7fffffff19df5ffffefffffef8cffaffffdffff67f4fff5",
    "9fffdfffffff8ceff66ffefffffff467ff6fff7fffffbf239ff9fffbffff9df1",
);

#[test]
fn screen_partitions() {
    for generation in CDNA {
        for (corners, expected) in SCREEN_PARTITIONS.chars().enumerate() {
            let got = run(generation, "v_screen_partition_4se_b32 v0, v1", &[corners as u32]);
            assert_eq!(Some(got), expected.to_digit(16), "{generation} {corners:#x}");
        }
    }
}
