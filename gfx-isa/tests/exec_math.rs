//! Transcendentals, division, fractions and exponents on every generation that has them.

#[path = "exec/support.rs"]
mod support;

use gfx_isa::Generation;
use gfx_isa::exec::{Mode, Wave};
use proptest::prelude::*;
use support::*;

/// `name v0, v1` on one value.
fn unary(generation: Generation, name: &str, value: u32) -> u32 {
    let mut wave = wave(generation);
    fill(&mut wave, 1, &[value]);
    let (dst, src) = if generation == Generation::Rdna3 || generation == Generation::Rdna3_5 {
        if name.ends_with("_f16") { ("v0.l", "v1.l") } else { ("v0", "v1") }
    } else {
        ("v0", "v1")
    };
    exec(&mut wave, &format!("{name} {dst}, {src}"));
    wave.vgpr(0, 0)
}

/// What AMD's manuals list.
const MANUAL_F32: &[(&str, &[(u32, u32)])] = &[
    (
        "V_RCP_F32",
        &[
            (0xff80_0000, 0x8000_0000),
            (0xc000_0000, 0xbf00_0000),
            (0x8000_0000, 0xff80_0000),
            (0x0000_0000, 0x7f80_0000),
            (0x7f80_0000, 0x0000_0000),
        ],
    ),
    (
        "V_RSQ_F32",
        &[
            (0xff80_0000, 0xffc0_0000),
            (0x8000_0000, 0xff80_0000),
            (0x0000_0000, 0x7f80_0000),
            (0x4080_0000, 0x3f00_0000),
            (0x7f80_0000, 0x0000_0000),
        ],
    ),
    (
        "V_SQRT_F32",
        &[
            (0xff80_0000, 0xffc0_0000),
            (0x8000_0000, 0x8000_0000),
            (0x0000_0000, 0x0000_0000),
            (0x4080_0000, 0x4000_0000),
            (0x7f80_0000, 0x7f80_0000),
        ],
    ),
    (
        "V_EXP_F32",
        &[(0xff80_0000, 0), (0x8000_0000, 0x3f80_0000), (0x7f80_0000, 0x7f80_0000), (0x4040_0000, 0x4100_0000)],
    ),
    (
        "V_LOG_F32",
        &[
            (0xff80_0000, 0xffc0_0000),
            (0xbf80_0000, 0xffc0_0000),
            (0x8000_0000, 0xff80_0000),
            (0x0000_0000, 0xff80_0000),
            (0x3f80_0000, 0x0000_0000),
            (0x7f80_0000, 0x7f80_0000),
        ],
    ),
    (
        "V_SIN_F32",
        &[
            (0xff80_0000, 0xffc0_0000),
            (0xff7f_ffff, 0x0000_0000),
            (0x8000_0000, 0x8000_0000),
            (0x3e80_0000, 0x3f80_0000),
            (0x7f80_0000, 0xffc0_0000),
        ],
    ),
    (
        "V_COS_F32",
        &[
            (0xff80_0000, 0xffc0_0000),
            (0xff7f_ffff, 0x3f80_0000),
            (0x8000_0000, 0x3f80_0000),
            (0x3e80_0000, 0x0000_0000),
            (0x7f80_0000, 0xffc0_0000),
        ],
    ),
];

const MANUAL_F16: &[(&str, &[(u32, u32)])] = &[
    ("V_RCP_F16", &[(0xfc00, 0x8000), (0xc000, 0xb800), (0x8000, 0xfc00), (0, 0x7c00), (0x7c00, 0)]),
    ("V_RSQ_F16", &[(0xfc00, 0xfe00), (0x8000, 0xfc00), (0, 0x7c00), (0x4400, 0x3800), (0x7c00, 0)]),
    ("V_SQRT_F16", &[(0xfc00, 0xfe00), (0x8000, 0x8000), (0, 0), (0x4400, 0x4000), (0x7c00, 0x7c00)]),
    ("V_LOG_F16", &[(0xfc00, 0xfe00), (0xbc00, 0xfe00), (0x8000, 0xfc00), (0, 0xfc00), (0x3c00, 0), (0x7c00, 0x7c00)]),
    ("V_EXP_F16", &[(0xfc00, 0), (0x8000, 0x3c00), (0x7c00, 0x7c00), (0x4000, 0x4400)]),
    ("V_SIN_F16", &[(0xfc00, 0xfe00), (0x8000, 0x8000), (0x3400, 0x3c00), (0x7c00, 0xfe00), (0xfbff, 0)]),
    ("V_COS_F16", &[(0xfc00, 0xfe00), (0x8000, 0x3c00), (0x3400, 0), (0x7c00, 0xfe00), (0xfbff, 0x3c00)]),
];

#[test]
fn the_manuals_examples() {
    for (name, cases) in MANUAL_F32.iter().chain(MANUAL_F16) {
        for generation in having(name) {
            for (input, expected) in *cases {
                let got = unary(generation, &name.to_lowercase(), *input);
                let got = if name.ends_with("F16") { got & 0xffff } else { got };
                assert_eq!(got, *expected, "{generation} {name} of {input:#x}");
            }
        }
    }
}

/// Distance in units of the last place, of positive or negative floats.
fn apart(a: f32, b: f32) -> i64 {
    let key = |x: f32| {
        let bits = i64::from(x.to_bits() & 0x7fff_ffff);
        if x.is_sign_negative() { -bits } else { bits }
    };
    (key(a) - key(b)).abs()
}

fn flushed(x: f32) -> f32 {
    if x.is_subnormal() { 0f32.copysign(x) } else { x }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 2000, ..ProptestConfig::default() })]

    #[test]
    fn results_are_within_the_promised_error(bits: u32, small in -40f32..40.0, turns in -300f32..300.0) {
        let value = f32::from_bits(bits);
        prop_assume!(!value.is_nan());
        type Model = (&'static str, f32, fn(f64) -> f64);
        let models: [Model; 7] = [
            ("v_rcp_f32", value, |x| 1.0 / x),
            ("v_rcp_iflag_f32", value, |x| 1.0 / x),
            ("v_rsq_f32", value.abs(), |x| 1.0 / x.sqrt()),
            ("v_sqrt_f32", value.abs(), f64::sqrt),
            ("v_log_f32", value.abs(), f64::log2),
            ("v_exp_f32", small, f64::exp2),
            ("v_sin_f32", turns, |x| (x.fract() * std::f64::consts::TAU).sin()),
        ];
        for (name, input, model) in models {
            let exact = flushed(model(f64::from(flushed(input))) as f32);
            let got = f32::from_bits(unary(Generation::Rdna3, name, input.to_bits()));
            if name == "v_sin_f32" {
                prop_assert!((got - exact).abs() < 1e-6, "{name} of {input}: {got} for {exact}");
            } else {
                prop_assert!(apart(got, exact) <= 1, "{name} of {input:e}: {got:e} for {exact:e}");
            }
        }
    }

    #[test]
    fn compiled_division_is_correctly_rounded(n: u32, d: u32, near in 0u32..40, at in 0usize..10) {
        let generation = Generation::all()[at];
        // Numbers whose exponents are close to each other or far apart.
        for d in [d, n.wrapping_add(near) ^ near << 23] {
            let (numerator, denominator) = (f32::from_bits(n), f32::from_bits(d));
            let exact = numerator / denominator;
            let got = divide32(generation, n, d);
            if exact.is_nan() {
                prop_assert!(f32::from_bits(got).is_nan());
            } else {
                prop_assert_eq!(got, exact.to_bits(), "{} {:e} / {:e} = {:e}", generation, numerator, denominator, exact);
            }
        }
    }

    #[test]
    fn compiled_division_of_doubles_is_correctly_rounded(n: u64, d: u64, near in 0u64..40, at in 0usize..10) {
        let generation = Generation::all()[at];
        for d in [d, n.wrapping_add(near) ^ near << 52] {
            let exact = f64::from_bits(n) / f64::from_bits(d);
            let got = divide64(generation, n, d);
            if exact.is_nan() {
                prop_assert!(f64::from_bits(got).is_nan());
            } else {
                prop_assert_eq!(got, exact.to_bits(), "{} {:e} / {:e}", generation, f64::from_bits(n), f64::from_bits(d));
            }
        }
    }

    #[test]
    fn exponents_and_fractions_make_the_number(bits: u64, at in 0usize..10) {
        let generation = Generation::all()[at];
        let mut wave = wave(generation);
        fill64(&mut wave, 2, bits);
        let value = f64::from_bits(bits);
        exec(&mut wave, "v_frexp_mant_f64 v[0:1], v[2:3]");
        exec(&mut wave, "v_frexp_exp_i32_f64 v4, v[2:3]");
        let (mantissa, exponent) = (f64::from_bits(read64(&wave, 0, 0)), wave.vgpr(0, 4) as i32);
        if !value.is_finite() {
            prop_assert_eq!((exponent, mantissa.is_nan()), (0, value.is_nan()));
        } else if value != 0.0 {
            prop_assert!((0.5..1.0).contains(&mantissa.abs()), "{mantissa}");
            // In two steps, so that no power of two overflows.
            let half = exponent / 2;
            prop_assert_eq!(mantissa * 2f64.powi(half) * 2f64.powi(exponent - half), value);
        }
        let single = f32::from_bits(bits as u32);
        exec(&mut wave, "v_frexp_mant_f32 v0, v2");
        exec(&mut wave, "v_frexp_exp_i32_f32 v4, v2");
        let (mantissa, exponent) = (f32::from_bits(wave.vgpr(0, 0)), wave.vgpr(0, 4) as i32);
        if single.is_finite() && single != 0.0 {
            prop_assert!((0.5..1.0).contains(&mantissa.abs()), "{mantissa}");
            prop_assert_eq!(f64::from(mantissa) * 2f64.powi(exponent), f64::from(single));
        }
        exec(&mut wave, "v_fract_f32 v0, v2");
        let fraction = f32::from_bits(wave.vgpr(0, 0));
        if single.is_finite() {
            let exact = f64::from(single) - f64::from(single).floor();
            prop_assert_eq!(fraction, (exact as f32).min(f32::from_bits(0x3f7f_ffff)));
        } else {
            prop_assert!(fraction.is_nan());
        }
    }
}

fn condition(wave: &Wave) -> (&'static str, &'static str) {
    if wave.lanes() == 64 { ("vcc", "s[4:5]") } else { ("vcc_lo", "s4") }
}

/// Division as LLVM compiles it: v2 by v3.
fn divide32(generation: Generation, n: u32, d: u32) -> u32 {
    let mut wave = wave(generation);
    fill(&mut wave, 2, &[n]);
    fill(&mut wave, 3, &[d]);
    let (vcc, other) = condition(&wave);
    for text in [
        &format!("v_div_scale_f32 v4, {other}, v3, v3, v2"),
        &format!("v_div_scale_f32 v5, {vcc}, v2, v3, v2"),
        "v_rcp_f32 v6, v4",
        "v_fma_f32 v7, -v4, v6, 1.0",
        "v_fma_f32 v6, v7, v6, v6",
        "v_mul_f32 v7, v5, v6",
        "v_fma_f32 v8, -v4, v7, v5",
        "v_fma_f32 v7, v8, v6, v7",
        "v_fma_f32 v4, -v4, v7, v5",
        "v_div_fmas_f32 v4, v4, v6, v7",
        "v_div_fixup_f32 v0, v4, v3, v2",
    ] {
        exec(&mut wave, text);
    }
    wave.vgpr(0, 0)
}

fn divide64(generation: Generation, n: u64, d: u64) -> u64 {
    let mut wave = wave(generation);
    fill64(&mut wave, 2, n);
    fill64(&mut wave, 4, d);
    let (vcc, other) = condition(&wave);
    for text in [
        &format!("v_div_scale_f64 v[6:7], {other}, v[4:5], v[4:5], v[2:3]"),
        "v_rcp_f64 v[8:9], v[6:7]",
        "v_fma_f64 v[10:11], -v[6:7], v[8:9], 1.0",
        "v_fma_f64 v[8:9], v[8:9], v[10:11], v[8:9]",
        "v_fma_f64 v[10:11], -v[6:7], v[8:9], 1.0",
        "v_fma_f64 v[8:9], v[8:9], v[10:11], v[8:9]",
        &format!("v_div_scale_f64 v[10:11], {vcc}, v[2:3], v[4:5], v[2:3]"),
        "v_mul_f64 v[12:13], v[10:11], v[8:9]",
        "v_fma_f64 v[6:7], -v[6:7], v[12:13], v[10:11]",
        "v_div_fmas_f64 v[6:7], v[6:7], v[8:9], v[12:13]",
        "v_div_fixup_f64 v[0:1], v[6:7], v[4:5], v[2:3]",
    ] {
        exec(&mut wave, text);
    }
    read64(&wave, 0, 0)
}

#[test]
fn scaling_as_measured_on_hardware() {
    // RDNA 3: source to scale, denominator, numerator; result and condition.
    let cases = [
        (1.0f32, 4.0, 1.0, Some(1.0f32), 0),
        (2.0, 4.0, 2.0, Some(2.0), 0),
        (1.0, 0.0, 1.0, None, 1),
        (0.0, 1.0, 0.0, None, 1),
        (1.0, 1.0, f32::MAX, Some(2f32.powi(64)), 1),
        (f32::MIN_POSITIVE, 1.0, f32::MIN_POSITIVE, Some(2f32.powi(-62)), 1),
        (1.0, 2f32.powi(127), 1.0, Some(1.0), 1),
    ];
    for (source, denominator, numerator, expected, flag) in cases {
        let mut wave = wave(Generation::Rdna3);
        for (register, value) in [(1, source), (2, denominator), (3, numerator)] {
            fill(&mut wave, register, &[value.to_bits()]);
        }
        exec(&mut wave, "v_div_scale_f32 v0, vcc_lo, v1, v2, v3");
        let got = f32::from_bits(wave.vgpr(0, 0));
        assert_eq!((Some(got).filter(|x| !x.is_nan()), wave.vcc() & 1), (expected, flag), "{denominator} {numerator}");
    }
    // The scale of the third source chooses the direction.
    for (vcc, c, expected) in [(0, 1.0, 7.0), (1, 1.0, 7.0 * 2f32.powi(-64)), (1, 2.0, 8.0 * 2f32.powi(64))] {
        for generation in Generation::all() {
            let mut wave = wave(*generation);
            wave.set_vcc(vcc);
            for (register, value) in [(1, 2.0f32), (2, 3.0), (3, c)] {
                fill(&mut wave, register, &[value.to_bits()]);
            }
            exec(&mut wave, "v_div_fmas_f32 v0, v1, v2, v3");
            assert_eq!(f32::from_bits(wave.vgpr(0, 0)), expected, "{generation}");
        }
    }
}

#[test]
fn fixing_a_quotient_up() {
    let nan = f32::NAN;
    // Quotient, denominator, numerator. A quotient that is NaN has overflowed, and 0 / 0 is positive: measured on RDNA 3.
    let cases = [
        (3.0, 2.0, 6.0, 0x4040_0000),
        (3.0, -2.0, 6.0, 0xc040_0000),
        (9.0, 0.0, 0.0, 0x7fc0_0000),
        (9.0, f32::INFINITY, f32::NEG_INFINITY, 0x7fc0_0000),
        (9.0, 0.0, -1.0, 0xff80_0000),
        (9.0, f32::NEG_INFINITY, 1.0, 0x8000_0000),
        (9.0, 1.0, f32::INFINITY, 0x7f80_0000),
        (9.0, 1.0, nan, 0x7fc0_0000),
        (nan, 1.0, 1.0, 0x7f80_0000),
        (nan, -1.0, 1.0, 0xff80_0000),
    ];
    for (quotient, denominator, numerator, expected) in cases {
        for generation in Generation::all() {
            let mut wave = wave(*generation);
            for (register, value) in [(1, quotient), (2, denominator), (3, numerator)] {
                fill(&mut wave, register, &[f32::to_bits(value)]);
            }
            exec(&mut wave, "v_div_fixup_f32 v0, v1, v2, v3");
            assert_eq!(wave.vgpr(0, 0), expected, "{generation} {numerator} / {denominator}");
        }
    }
    // 16-bit floats, a quotient of 1.5.
    for (denominator, numerator, expected) in [(0x4000, 0xc200, 0xbe00), (0, 0, 0x7e00), (0x8000, 0x3c00, 0xfc00)] {
        for generation in Generation::all() {
            let mut wave = wave(*generation);
            for (register, value) in [(1, 0x3e00), (2, denominator), (3, numerator)] {
                fill(&mut wave, register, &[value]);
            }
            let half = matches!(generation, Generation::Rdna3 | Generation::Rdna3_5);
            exec(
                &mut wave,
                if half { "v_div_fixup_f16 v0.l, v1.l, v2.l, v3.l" } else { "v_div_fixup_f16 v0, v1, v2, v3" },
            );
            assert_eq!(wave.vgpr(0, 0) & 0xffff, expected, "{generation}");
        }
    }
}

#[test]
fn denormals_of_32_bits_are_flushed_in_every_mode() {
    for generation in Generation::all() {
        for (name, expected) in
            [("v_rcp_f32", 0x7f80_0000), ("v_sqrt_f32", 0), ("v_log_f32", 0xff80_0000), ("v_rsq_f32", 0x7f80_0000)]
        {
            assert_eq!(unary(*generation, name, 0x0040_0000), expected, "{generation} {name}");
        }
        // 2^-127 and 1 / 2^127 are denormal.
        assert_eq!(unary(*generation, "v_exp_f32", (-127f32).to_bits()), 0);
        assert_eq!(unary(*generation, "v_rcp_f32", 2f32.powi(127).to_bits()), 0);
    }
}

#[test]
fn segments_of_two_over_pi() {
    // 24 bits each, as C libraries list them.
    const BITS: [u32; 10] =
        [0xa2_f983, 0x6e_4e44, 0x15_29fc, 0x27_57d1, 0xf5_34dd, 0xc0_db62, 0x95_993c, 0x43_9041, 0xfe_5163, 0xab_debb];
    let bit = |at: usize| BITS[at / 24] >> (23 - at % 24) & 1;
    for generation in Generation::all() {
        for (exponent, segment, start) in [(0, 0, 0), (10, 1, 53), (0, 3, 159), (60, 2, 106 + 6), (60, 0, 6)] {
            let mut wave = wave(*generation);
            // The exponent counts from 1077 - 1023 on.
            fill64(&mut wave, 2, 2f64.powi(exponent).to_bits());
            fill(&mut wave, 4, &[segment]);
            exec(&mut wave, "v_trig_preop_f64 v[0:1], v[2:3], v4");
            let expected =
                (0..53).fold(0.0, |sum, at| 2.0 * sum + f64::from(bit(start + at))) * 2f64.powi(-53 - start as i32);
            assert_eq!(f64::from_bits(read64(&wave, 0, 0)), expected, "{generation} 2^{exponent} {segment}");
        }
    }
}

#[test]
fn cube_faces() {
    // A direction; face, twice the major axis, S and T, by the manual's table.
    let cases = [
        ([3.0, 1.0, -2.0], [0.0, 6.0, 2.0, -1.0]),
        ([-3.0, 1.0, -2.0], [1.0, -6.0, -2.0, -1.0]),
        ([1.0, 3.0, -2.0], [2.0, 6.0, 1.0, -2.0]),
        ([1.0, -3.0, -2.0], [3.0, -6.0, 1.0, 2.0]),
        ([1.0, 2.0, 3.0], [4.0, 6.0, 1.0, -2.0]),
        ([1.0, 2.0, -3.0], [5.0, -6.0, -1.0, -2.0]),
        ([1.0, 1.0, 1.0], [4.0, 2.0, 1.0, -1.0]),
    ];
    for generation in Generation::all() {
        for (direction, expected) in cases {
            let mut wave = wave(*generation);
            for (at, value) in direction.iter().enumerate() {
                fill(&mut wave, at + 1, &[f32::to_bits(*value)]);
            }
            for (name, expected) in ["id", "ma", "sc", "tc"].into_iter().zip(expected) {
                exec(&mut wave, &format!("v_cube{name}_f32 v0, v1, v2, v3"));
                assert_eq!(f32::from_bits(wave.vgpr(0, 0)), expected, "{generation} {name} {direction:?}");
            }
        }
    }
}

#[test]
fn lit_multiplication() {
    for generation in having("V_MULLIT_F32") {
        for (a, b, c, expected) in
            [(2.0, 3.0, 1.0, 6.0), (2.0, 3.0, 0.0, f32::MIN), (2.0, f32::NEG_INFINITY, 1.0, f32::MIN)]
        {
            let mut wave = wave(generation);
            for (register, value) in [(1, a), (2, b), (3, c)] {
                fill(&mut wave, register, &[f32::to_bits(value)]);
            }
            exec(&mut wave, "v_mullit_f32 v0, v1, v2, v3");
            assert_eq!(f32::from_bits(wave.vgpr(0, 0)), expected, "{generation}");
        }
    }
}

#[test]
fn hyperbolic_tangent_and_bfloat16() {
    let cdna5 = Generation::Cdna5;
    for x in [0.0f32, 0.0005, 0.3, -0.7, 2.5, 7.9, 8.0, -100.0] {
        let got = f32::from_bits(unary(cdna5, "v_tanh_f32", x.to_bits()));
        let exact = if x.abs() < 1.0 / 1024.0 {
            x
        } else if x.abs() >= 8.0 {
            x.signum()
        } else {
            f64::from(x).tanh() as f32
        };
        assert!(apart(got, exact) <= 1, "{x}: {got} for {exact}");
    }
    // In steps of the upper half of a 32-bit float: 1/4, 1/2, 2, 4, 3, a quarter turn.
    for (name, input, expected) in [
        ("v_rcp_bf16", 0x3e80, 0x4080),
        ("v_sqrt_bf16", 0x4080, 0x4000),
        ("v_rsq_bf16", 0x3e80, 0x4000),
        ("v_exp_bf16", 0x4000, 0x4080),
        ("v_log_bf16", 0x4100, 0x4040),
        ("v_sin_bf16", 0x3e80, 0x3f80),
        ("v_cos_bf16", 0x3f00, 0xbf80),
        ("v_tanh_bf16", 0xc180, 0xbf80),
        ("v_rcp_bf16", 0x7fc1, 0x7fc1),
    ] {
        assert_eq!(unary(cdna5, name, input) & 0xffff, expected, "{name}");
    }
}

#[test]
fn scalars_to_scalars_whatever_exec_says() {
    for generation in [Generation::Rdna4, Generation::Cdna5] {
        let mut wave = wave(generation);
        wave.set_exec(0);
        wave.set_sgpr(2, 2f32.to_bits());
        for (text, expected) in [
            ("v_s_rcp_f32 s1, s2", 0x3f00_0000),
            ("v_s_rcp_f32 s1, -s2", 0xbf00_0000),
            ("v_s_exp_f32 s1, s2", 0x4080_0000),
            ("v_s_log_f32 s1, s2", 0x3f80_0000),
            ("v_s_sqrt_f32 s1, 4.0", 0x4000_0000),
            ("v_s_rsq_f32 s1, 4.0", 0x3f00_0000),
            ("v_s_rcp_f16 s1, 2.0", 0x3800),
            ("v_s_exp_f16 s1, 2.0", 0x4400),
            ("v_s_log_f16 s1, 4.0", 0x4000),
            ("v_s_sqrt_f16 s1, 4.0", 0x4000),
            ("v_s_rsq_f16 s1, 4.0", 0x3800),
        ] {
            wave.set_sgpr(1, 0xffff_ffff);
            exec(&mut wave, text);
            assert_eq!(wave.sgpr(1), expected, "{generation} {text}");
        }
    }
}

#[test]
fn halves_of_the_clamp_and_the_mode() {
    // The reciprocal of 0.5 clamped, and of a 16-bit denormal where they are flushed.
    let mut wave = wave(Generation::Rdna2);
    fill(&mut wave, 1, &[0.5f32.to_bits()]);
    exec(&mut wave, "v_rcp_f32_e64 v0, v1 clamp");
    assert_eq!(wave.vgpr(0, 0), 1f32.to_bits());
    fill(&mut wave, 1, &[0x0200]);
    exec(&mut wave, "v_rcp_f16 v0, v1");
    assert_eq!(wave.vgpr(0, 0) & 0xffff, 0x7800, "1 / 2^-15");
    wave.set_mode(Mode(0x30));
    exec(&mut wave, "v_rcp_f16 v0, v1");
    assert_eq!(wave.vgpr(0, 0) & 0xffff, 0x7c00);
}

#[test]
fn interpolation_in_groups_of_four() {
    for generation in [Generation::Rdna3, Generation::Rdna3_5, Generation::Rdna4] {
        let mut wave = wave(generation);
        let f = |x: f32| x.to_bits();
        for lane in 0..32 {
            let quad = (lane / 4) as f32;
            // P0, P10 and P20 of an attribute; two coordinates.
            wave.set_vgpr(lane, 1, [f(quad), f(10.0), f(100.0), f(-1.0)][lane % 4]);
            wave.set_vgpr(lane, 2, f(0.5));
            wave.set_vgpr(lane, 3, f(0.25));
            // The same as 16-bit floats.
            wave.set_vgpr(lane, 4, [0x3c00, 0x4900, 0x5640, 0][lane % 4]);
        }
        exec(&mut wave, "v_interp_p10_f32 v5, v1, v2, v1");
        exec(&mut wave, "v_interp_p2_f32 v5, v1, v3, v5");
        for lane in 0..32 {
            assert_eq!(f32::from_bits(wave.vgpr(lane, 5)), (lane / 4) as f32 + 5.0 + 25.0, "{generation} {lane}");
        }
        let half = |register: u32| {
            if generation == Generation::Rdna4 { format!("v{register}") } else { format!("v{register}.l") }
        };
        // A scalar in the place of the coordinate, as measured on RDNA 3.
        if generation == Generation::Rdna3 {
            wave.set_sgpr(7, f(2.0));
            step(&mut wave, &[0xcd00_0005, v(1) | 7 << 9 | v(1) << 18]).expect("executes");
            assert_eq!(f32::from_bits(wave.vgpr(13, 5)), 3.0 + 20.0);
        }
        for kind in ["f16_f32", "rtz_f16_f32"] {
            exec(&mut wave, &format!("v_interp_p10_{kind} v5, {}, v2, {}", half(4), half(4)));
            assert_eq!(f32::from_bits(wave.vgpr(9, 5)), 6.0, "{generation} {kind}");
            exec(&mut wave, &format!("v_interp_p2_{kind} {}, {}, v3, v5", half(6), half(4)));
            assert_eq!(wave.vgpr(9, 6) & 0xffff, 0x4fc0, "{generation} {kind}: 31");
        }
    }
}
