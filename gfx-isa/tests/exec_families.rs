//! Families of instructions, on every generation that has them, against models in wider types.

#[path = "exec/support.rs"]
mod support;

use std::cmp::Ordering;

use gfx_isa::exec::{Mode, Wave};
use gfx_isa::{Generation, Op};
use proptest::prelude::*;
use rustc_apfloat::Float as _;
use rustc_apfloat::Round;
use rustc_apfloat::ieee::{Double, Half, Single};
use support::*;

/// The 64-bit word of a vector instruction with sources v[2:3], v[4:5], v[6:7] and destination v[0:1]; none where the
/// generation does not have it in a VOP3 encoding.
fn vop3(generation: Generation, name: &str) -> Option<u64> {
    let op = Op::from_name(name).unwrap_or_else(|| panic!("{name} is no instruction"));
    let info = generation.instructions_of(op).find(|info| {
        matches!(info.encoding().name(), "ENC_VOP3" | "ENC_VOP3P" | "VOP3_SDST_ENC" | "ENC_VOP3B" | "ENC_VOP3A")
    })?;
    let word = info.identifier() as u64 | u64::from(v(2)) << 32 | u64::from(v(4)) << 41 | u64::from(v(6)) << 50;
    Some(if info.encoding().name() == "ENC_VOP3P" { word | 3 << 59 | 1 << 14 } else { word })
}

/// Every generation's word; at least one must have the instruction.
fn everywhere(name: &str) -> Vec<(Generation, u64)> {
    let all: Vec<_> = Generation::all().iter().filter_map(|&g| Some((g, vop3(g, name)?))).collect();
    assert!(!all.is_empty(), "{name}: no generation has it in VOP3");
    all
}

/// Runs a word on one value of each source.
fn run(wave: &mut Wave, word: u64, sources: [u64; 3]) -> u64 {
    for (at, value) in sources.into_iter().enumerate() {
        for lane in 0..2 {
            wave.set_vgpr(lane, 2 * at + 2, value as u32);
            wave.set_vgpr(lane, 2 * at + 3, (value >> 32) as u32);
        }
    }
    step64(wave, word);
    u64::from(wave.vgpr(1, 1)) << 32 | u64::from(wave.vgpr(1, 0))
}

fn corner32() -> impl Strategy<Value = u32> {
    let corners = [0, 1, 2, 0x7f, 0x80, 0xff, 0x7fff, 0x8000, 0xffff, 0x7f_ffff, 0x80_0000, 0x7fff_ffff, 0x8000_0000];
    prop_oneof![any::<u32>(), proptest::sample::select(corners.to_vec()), (0..40u32), (0..40u32).prop_map(|x| !x)]
}

type Model = fn(i128, i128, i128) -> i128;

/// Exact values from unsigned sources; the result is what is left of it in the width given.
const UNSIGNED: &[(&str, u32, Model)] = &[
    ("V_AND_B32", 32, |a, b, _| a & b),
    ("V_OR_B32", 32, |a, b, _| a | b),
    ("V_XOR_B32", 32, |a, b, _| a ^ b),
    ("V_XNOR_B32", 32, |a, b, _| !(a ^ b)),
    ("V_NOT_B32", 32, |a, _, _| !a),
    ("V_AND_OR_B32", 32, |a, b, c| a & b | c),
    ("V_OR3_B32", 32, |a, b, c| a | b | c),
    ("V_XOR3_B32", 32, |a, b, c| a ^ b ^ c),
    ("V_BFI_B32", 32, |a, b, c| c ^ (a & (b ^ c))),
    ("V_ADD3_U32", 32, |a, b, c| a + b + c),
    ("V_ADD_U32", 32, |a, b, _| a + b),
    ("V_SUB_U32", 32, |a, b, _| a - b),
    ("V_SUBREV_U32", 32, |a, b, _| b - a),
    ("V_ADD_NC_U32", 32, |a, b, _| a + b),
    ("V_SUB_NC_U32", 32, |a, b, _| a - b),
    ("V_SUBREV_NC_U32", 32, |a, b, _| b - a),
    ("V_MUL_LO_U32", 32, |a, b, _| a * b),
    ("V_MUL_HI_U32", 32, |a, b, _| (a * b) >> 32),
    ("V_MUL_U32_U24", 32, |a, b, _| (a % (1 << 24)) * (b % (1 << 24))),
    ("V_MUL_HI_U32_U24", 32, |a, b, _| ((a % (1 << 24)) * (b % (1 << 24))) >> 32),
    ("V_MAD_U32_U24", 32, |a, b, c| (a % (1 << 24)) * (b % (1 << 24)) + c),
    ("V_MAD_U32_U16", 32, |a, b, c| (a % (1 << 16)) * (b % (1 << 16)) + c),
    ("V_LSHLREV_B32", 32, |a, b, _| b << (a % 32)),
    ("V_LSHRREV_B32", 32, |a, b, _| b >> (a % 32)),
    ("V_LSHL_ADD_U32", 32, |a, b, c| (a << (b % 32)) + c),
    ("V_ADD_LSHL_U32", 32, |a, b, c| (a + b) << (c % 32)),
    ("V_LSHL_OR_B32", 32, |a, b, c| (a << (b % 32)) | c),
    ("V_XAD_U32", 32, |a, b, c| (a ^ b) + c),
    ("V_BFE_U32", 32, |a, b, c| (a >> (b % 32)) % (1 << (c % 32))),
    ("V_BFM_B32", 32, |a, b, _| ((1 << (a % 32)) - 1) << (b % 32)),
    ("V_ALIGNBIT_B32", 32, |a, b, c| ((a << 32) + b) >> (c % 32)),
    ("V_ALIGNBYTE_B32", 32, |a, b, c| ((a << 32) + b) >> (c % 4 * 8)),
    ("V_MIN_U32", 32, |a, b, _| a.min(b)),
    ("V_MAX_U32", 32, |a, b, _| a.max(b)),
    ("V_MIN3_U32", 32, |a, b, c| a.min(b).min(c)),
    ("V_MAX3_U32", 32, |a, b, c| a.max(b).max(c)),
    ("V_MED3_U32", 32, |a, b, c| a + b + c - a.min(b).min(c) - a.max(b).max(c)),
    ("V_MINMAX_U32", 32, |a, b, c| a.min(b).max(c)),
    ("V_MAXMIN_U32", 32, |a, b, c| a.max(b).min(c)),
    ("V_BCNT_U32_B32", 32, |a, b, _| i128::from(a.count_ones()) + b),
    ("V_BFREV_B32", 32, |a, _, _| (0..32).map(|bit| (a >> bit & 1) << (31 - bit)).sum()),
    ("V_FFBL_B32", 32, |a, _, _| (0..32).find(|bit| a >> bit & 1 != 0).unwrap_or(-1)),
    ("V_FFBH_U32", 32, |a, _, _| (0..32).find(|bit| a >> (31 - bit) & 1 != 0).unwrap_or(-1)),
    ("V_SAD_U32", 32, |a, b, c| (a - b).abs() + c),
    ("V_SAD_U16", 32, |a, b, c| (a % 65536 - b % 65536).abs() + (a / 65536 - b / 65536).abs() + c),
    ("V_SAD_U8", 32, |a, b, c| c + bytes_apart(a, b)),
    ("V_SAD_HI_U8", 32, |a, b, c| c + bytes_apart(a, b) * 65536),
    ("V_LERP_U8", 32, |a, b, c| (0..4).map(|at| ((byte(a, at) + byte(b, at) + byte(c, at) % 2) / 2) << (8 * at)).sum()),
    ("V_MAD_U64_U32", 64, |a, b, c| a * b + c),
    ("V_ADD_U16", 16, |a, b, _| a + b),
    ("V_SUB_U16", 16, |a, b, _| a - b),
    ("V_MUL_LO_U16", 16, |a, b, _| a * b),
    ("V_MAD_U16", 16, |a, b, c| a * b + c),
    ("V_ADD_NC_U16", 16, |a, b, _| a + b),
    ("V_LSHLREV_B16", 16, |a, b, _| b << (a % 16)),
    ("V_LSHRREV_B16", 16, |a, b, _| (b % 65536) >> (a % 16)),
    ("V_MIN_U16", 16, |a, b, _| (a % 65536).min(b % 65536)),
    ("V_MAX3_U16", 16, |a, b, c| (a % 65536).max(b % 65536).max(c % 65536)),
];

/// As above, from signed sources.
const SIGNED: &[(&str, u32, Model)] = &[
    ("V_ADD_I32", 32, |a, b, _| a + b),
    ("V_SUB_I32", 32, |a, b, _| a - b),
    ("V_ADD_NC_I32", 32, |a, b, _| a + b),
    ("V_SUB_NC_I32", 32, |a, b, _| a - b),
    ("V_MUL_HI_I32", 32, |a, b, _| (a * b) >> 32),
    ("V_MUL_I32_I24", 32, |a, b, _| low_signed(a, 24) * low_signed(b, 24)),
    ("V_MUL_HI_I32_I24", 32, |a, b, _| (low_signed(a, 24) * low_signed(b, 24)) >> 32),
    ("V_MAD_I32_I24", 32, |a, b, c| low_signed(a, 24) * low_signed(b, 24) + c),
    ("V_MAD_I32_I16", 32, |a, b, c| low_signed(a, 16) * low_signed(b, 16) + c),
    ("V_MAD_I64_I32", 64, |a, b, c| a * b + c),
    ("V_ASHRREV_I32", 32, |a, b, _| b >> a.rem_euclid(32)),
    ("V_BFE_I32", 32, |a, b, c| match c.rem_euclid(32) as u32 {
        0 => 0,
        width => low_signed(a.rem_euclid(1 << 32) >> b.rem_euclid(32), width),
    }),
    ("V_MIN_I32", 32, |a, b, _| a.min(b)),
    ("V_MAX_I32", 32, |a, b, _| a.max(b)),
    ("V_MIN3_I32", 32, |a, b, c| a.min(b).min(c)),
    ("V_MAX3_I32", 32, |a, b, c| a.max(b).max(c)),
    ("V_MED3_I32", 32, |a, b, c| a + b + c - a.min(b).min(c) - a.max(b).max(c)),
    ("V_MINMAX_I32", 32, |a, b, c| a.min(b).max(c)),
    ("V_FFBH_I32", 32, |a, _, _| (1..32).find(|at| (a >> (31 - at)) & 1 != (a >> 31) & 1).unwrap_or(-1)),
    ("V_ASHRREV_I16", 16, |a, b, _| low_signed(b, 16) >> a.rem_euclid(16)),
    ("V_MAD_I16", 16, |a, b, c| a * b + c),
    ("V_MED3_I16", 16, |a, b, c| {
        let [a, b, c] = [a, b, c].map(|x| low_signed(x, 16));
        a + b + c - a.min(b).min(c) - a.max(b).max(c)
    }),
];

/// What clamping makes of the exact values: results of so many bits, signed or not.
const CLAMPED: &[(&str, bool, Model)] = &[
    ("V_ADD_U32", false, |a, b, _| a + b),
    ("V_SUB_U32", false, |a, b, _| a - b),
    ("V_ADD_NC_U32", false, |a, b, _| a + b),
    ("V_SUB_NC_U32", false, |a, b, _| a - b),
    ("V_SUBREV_NC_U32", false, |a, b, _| b - a),
    ("V_ADD_I32", true, |a, b, _| a + b),
    ("V_ADD_NC_I32", true, |a, b, _| a + b),
    ("V_SUB_NC_I32", true, |a, b, _| a - b),
    ("V_MAD_U32_U24", false, |a, b, c| (a % (1 << 24)) * (b % (1 << 24)) + c),
    ("V_MAD_I32_I24", true, |a, b, c| low_signed(a, 24) * low_signed(b, 24) + c),
];

fn low_signed(value: i128, bits: u32) -> i128 {
    value << (128 - bits) >> (128 - bits)
}

fn byte(value: i128, at: u32) -> i128 {
    value >> (8 * at) & 0xff
}

fn bytes_apart(a: i128, b: i128) -> i128 {
    (0..4).map(|at| (byte(a, at) - byte(b, at)).abs()).sum()
}

fn low(value: i128, bits: u32) -> u64 {
    (value & ((1 << bits) - 1)) as u64
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn integers_are_exact_values_cut_to_size(a in corner32(), b in corner32(), c in corner32()) {
        let unsigned = [a, b, c].map(i128::from);
        let signed = [a, b, c].map(|x| i128::from(x as i32));
        let both = UNSIGNED.iter().map(|line| (line, unsigned)).chain(SIGNED.iter().map(|line| (line, signed)));
        for (&(name, bits, model), [x, y, z]) in both {
            // The third source is 64 bits wide where the result is.
            let third = if bits == 64 { z as u64 } else { u64::from(c) };
            for (generation, word) in everywhere(name) {
                let mut wave = wave(generation);
                let result = run(&mut wave, word, [a.into(), b.into(), third]);
                prop_assert_eq!(low(result.into(), bits), low(model(x, y, z), bits), "{} {}", name, generation);
            }
        }
    }

    #[test]
    fn clamped_integers_saturate(a in corner32(), b in corner32(), c in corner32()) {
        for &(name, signed, model) in CLAMPED {
            let wide = |x: u32| if signed { i128::from(x as i32) } else { i128::from(x) };
            let (least, most) = if signed { (i32::MIN.into(), i32::MAX.into()) } else { (0, u32::MAX.into()) };
            let expected = model(wide(a), wide(b), wide(c)).clamp(least, most);
            for (generation, word) in everywhere(name) {
                let result = run(&mut wave(generation), word | 1 << 15, [a.into(), b.into(), c.into()]);
                prop_assert_eq!(result, low(expected, 32), "{} {}", name, generation);
            }
        }
    }

    #[test]
    fn carries_go_in_and_out(a in corner32(), b in corner32(), carry: bool) {
        type Sum = fn(i128, i128, i128) -> i128;
        let with: [(&str, bool, Sum); 9] = [
            ("V_ADD_CO_U32", false, |a, b, _| a + b),
            ("V_SUB_CO_U32", false, |a, b, _| a - b),
            ("V_SUBREV_CO_U32", false, |a, b, _| b - a),
            ("V_ADDC_CO_U32", true, |a, b, c| a + b + c),
            ("V_SUBB_CO_U32", true, |a, b, c| a - b - c),
            ("V_SUBBREV_CO_U32", true, |a, b, c| b - a - c),
            ("V_ADD_CO_CI_U32", true, |a, b, c| a + b + c),
            ("V_SUB_CO_CI_U32", true, |a, b, c| a - b - c),
            ("V_SUBREV_CO_CI_U32", true, |a, b, c| b - a - c),
        ];
        for (name, reads, model) in with {
            for (generation, word) in everywhere(name) {
                // The carry is read from s[10:11] and written to s[12:13].
                let word = (word & !(0x1ff << 50)) | 10 << 50 | 12 << 8;
                let mut wave = wave(generation);
                wave.set_sgpr(10, if carry { u32::MAX } else { 0 });
                wave.set_exec(0b110);
                let result = run(&mut wave, word, [a.into(), b.into(), 0]);
                let exact = model(a.into(), b.into(), i128::from(reads && carry));
                prop_assert_eq!(result, low(exact, 32), "{} {}", name, generation);
                let out = u32::from(!(0..1 << 32).contains(&exact));
                prop_assert_eq!(wave.sgpr(12) >> 1 & 1, out, "{} {}", name, generation);
                prop_assert_eq!(wave.sgpr(12) & !0b110, 0, "lanes that are off");
            }
        }
    }

    #[test]
    fn compares_follow_their_names(a in corner32(), b in prop_oneof![corner32(), Just(0)], same: bool) {
        let b = if same { a } else { b };
        for (ty, order) in [
            ("U32", Some(a.cmp(&b))),
            ("I32", Some((a as i32).cmp(&(b as i32)))),
            ("U16", Some((a as u16).cmp(&(b as u16)))),
            ("I16", Some((a as i16).cmp(&(b as i16)))),
            ("F32", f32::from_bits(a).partial_cmp(&f32::from_bits(b))),
            ("F16", Half::from_bits(u128::from(a as u16)).partial_cmp(&Half::from_bits(u128::from(b as u16)))),
        ] {
            compare(ty, [a.into(), b.into(), 0], order)?;
        }
        let (x, y) = (u64::from(a) << 32 | u64::from(b), u64::from(a) << 32 | u64::from(a));
        compare("U64", [x, y, 0], Some(x.cmp(&y)))?;
        compare("I64", [x, y, 0], Some((x as i64).cmp(&(y as i64))))?;
        compare("F64", [x, y, 0], f64::from_bits(x).partial_cmp(&f64::from_bits(y)))?;
    }
}

fn compare(ty: &str, sources: [u64; 3], order: Option<Ordering>) -> Result<(), TestCaseError> {
    let float = ty.starts_with('F');
    let conditions: [(&str, bool); 15] = [
        ("F", false),
        ("LT", order == Some(Ordering::Less)),
        ("EQ", order == Some(Ordering::Equal)),
        ("LE", matches!(order, Some(Ordering::Less | Ordering::Equal))),
        ("GT", order == Some(Ordering::Greater)),
        (if float { "LG" } else { "NE" }, matches!(order, Some(Ordering::Less | Ordering::Greater))),
        ("GE", matches!(order, Some(Ordering::Greater | Ordering::Equal))),
        ("O", order.is_some()),
        ("U", order.is_none()),
        ("NGE", !matches!(order, Some(Ordering::Greater | Ordering::Equal))),
        ("NLG", !matches!(order, Some(Ordering::Less | Ordering::Greater))),
        ("NGT", order != Some(Ordering::Greater)),
        ("NLE", !matches!(order, Some(Ordering::Less | Ordering::Equal))),
        ("NEQ", order != Some(Ordering::Equal)),
        ("NLT", order != Some(Ordering::Less)),
    ];
    for (condition, expected) in conditions.into_iter().take(if float { 15 } else { 7 }) {
        let name = format!("V_CMP_{condition}_{ty}");
        let Some(op) = Op::from_name(&name) else { continue };
        for &generation in Generation::all() {
            let Some(word) = vop3(generation, op.name()) else { continue };
            let mut wave = wave(generation);
            wave.set_exec(0b11);
            run(&mut wave, word | 20, sources);
            prop_assert_eq!(wave.sgpr(20), if expected { 0b11 } else { 0 }, "{} {}", name, generation);
        }
    }
    Ok(())
}

/// Numbers that round, cancel, overflow and underflow.
fn float_bits<const BITS: u32, const MANTISSA: u32>() -> impl Strategy<Value = u64> {
    let bias = (1u64 << (BITS - MANTISSA - 2)) - 1;
    let near_one = (any::<u64>(), 0..8u64).prop_map(move |(bits, exponent)| {
        bits & ((1 << MANTISSA) - 1) | (bias - 4 + exponent) << MANTISSA | bits >> 63 << (BITS - 1)
    });
    let sparse = (0..BITS, 0..BITS, any::<bool>())
        .prop_map(move |(a, b, sign)| (1u64 << a | 1 << b) & ((1 << (BITS - 1)) - 1) | u64::from(sign) << (BITS - 1));
    prop_oneof![any::<u64>().prop_map(|bits| bits & (u64::MAX >> (64 - BITS))), near_one, sparse]
}

const ROUNDS: [Round; 4] = [Round::NearestTiesToEven, Round::TowardPositive, Round::TowardNegative, Round::TowardZero];

macro_rules! arithmetic {
    ($test:ident, $float:ty, $bits:literal, $mantissa:literal, $suffix:literal, $shift:literal) => {
        proptest! {
            #![proptest_config(ProptestConfig::with_cases(256))]

            #[test]
            fn $test(
                a in float_bits::<$bits, $mantissa>(),
                b in float_bits::<$bits, $mantissa>(),
                c in float_bits::<$bits, $mantissa>(),
                round in 0..4usize,
            ) {
                let [x, y, z] = [a, b, c].map(|bits| <$float>::from_bits(bits.into()));
                let rounding = ROUNDS[round];
                let models = [
                    ("V_ADD_F", x.add_r(y, rounding).value),
                    ("V_MUL_F", x.mul_r(y, rounding).value),
                    ("V_FMA_F", x.mul_add_r(y, z, rounding).value),
                ];
                for (name, expected) in models {
                    let name = format!("{name}{}", $suffix);
                    for &generation in Generation::all() {
                        let Some(word) = vop3(generation, &name) else { continue };
                        let mut wave = wave(generation);
                        wave.set_mode(Mode(wave.mode().0 | (round as u32) << $shift));
                        let result = run(&mut wave, word, [a, b, c]) & (u64::MAX >> (64 - $bits));
                        let found = <$float>::from_bits(result.into());
                        if expected.is_nan() {
                            prop_assert!(found.is_nan() && !found.is_signaling(), "{} {}", name, generation);
                        } else {
                            prop_assert_eq!(u128::from(result), expected.to_bits(), "{} {} {:?}", name, generation, rounding);
                        }
                    }
                }
            }
        }
    };
}

arithmetic!(f32_arithmetic_rounds_as_the_mode_says, Single, 32, 23, "32", 0);
arithmetic!(f64_arithmetic_rounds_as_the_mode_says, Double, 64, 52, "64", 2);
arithmetic!(f16_arithmetic_rounds_as_the_mode_says, Half, 16, 10, "16", 2);

#[test]
fn nans_are_quieted_and_the_first_wins() {
    let cases = [
        (0x7f80_0001, 0x7fc0_1234, 0x7fc0_0001),
        (0xffc0_1234, 0x7f80_0001, 0xffc0_1234),
        (0x3f80_0000, 0x7f80_0001, 0x7fc0_0001),
        // As measured on RDNA 3, where there is none before.
        (0x7f80_0000, 0xff80_0000, 0xffc0_0000),
    ];
    for (generation, word) in everywhere("V_ADD_F32") {
        for (a, b, expected) in cases {
            assert_eq!(run(&mut wave(generation), word, [a, b, 0]), expected, "{generation} {a:#x} + {b:#x}");
        }
    }
}

#[test]
fn denormals_are_flushed_where_the_mode_says() {
    // The smallest denormal plus 0, kept or flushed on the way in or out.
    for (generation, word) in everywhere("V_ADD_F32") {
        for (denorm, expected) in [(3, 1), (0, 0), (1, 0), (2, 0)] {
            let mut wave = wave(generation);
            wave.set_mode(Mode(wave.mode().0 & !0x30 | denorm << 4));
            assert_eq!(run(&mut wave, word, [1, 0, 0]), expected, "{generation} {denorm}");
        }
        // 2^-126 less half of it is denormal; the sign stays.
        let mut wave = wave(generation);
        wave.set_mode(Mode(wave.mode().0 & !0x30 | 2 << 4));
        assert_eq!(run(&mut wave, word, [0x8100_0000, 0x00c0_0000, 0]), 0x8040_0000, "{generation} out");
        wave.set_mode(Mode(wave.mode().0 & !0x30 | 1 << 4));
        assert_eq!(run(&mut wave, word, [0x8100_0000, 0x00c0_0000, 0]), 0x8000_0000, "{generation} in");
    }
    for (generation, word) in everywhere("V_MAD_F32") {
        assert_eq!(run(&mut wave(generation), word, [1, 0x3f80_0000, 0]), 0, "{generation}: whatever the mode");
    }
}

#[test]
fn minimum_and_maximum_treat_nan_as_the_generation_does() {
    let (one, two, quiet, signalling) = (0x3f80_0000, 0x4000_0000, 0x7fc0_0000, 0x7f80_0001);
    let check = |name: &str, cases: &[(u64, u64, u64)]| {
        for (generation, word) in everywhere(name) {
            for &(a, b, expected) in cases {
                assert_eq!(run(&mut wave(generation), word, [a, b, 0]), expected, "{name} {generation} {a:#x} {b:#x}");
            }
        }
    };
    let zero = 0x8000_0000;
    check("V_MIN_F32", &[(one, two, one), (quiet, two, two), (one, quiet, one), (0, zero, zero), (zero, 0, zero)]);
    // In IEEE mode, which compute has, a signalling NaN wins.
    check("V_MIN_F32", &[(signalling, two, 0x7fc0_0001), (two, signalling, 0x7fc0_0001)]);
    check("V_MAX_F32", &[(one, two, two), (quiet, two, two), (0, zero, 0), (zero, 0, 0)]);
    check(
        "V_MIN_NUM_F32",
        &[(one, two, one), (quiet, two, two), (signalling, two, two), (signalling, quiet, 0x7fc0_0001)],
    );
    check("V_MAX_NUM_F32", &[(one, two, two), (quiet, two, two), (0, zero, 0)]);
    check("V_MINIMUM_F32", &[(one, two, one), (quiet, two, quiet), (one, signalling, 0x7fc0_0001), (0, zero, zero)]);
    check("V_MAXIMUM_F32", &[(one, two, two), (one, quiet, quiet), (zero, 0, 0)]);
}

#[test]
fn conversions_saturate_and_round() {
    let f = |x: f32| u64::from(x.to_bits());
    let check = |name: &str, cases: &[(u64, u64)]| {
        for (generation, word) in everywhere(name) {
            for &(a, expected) in cases {
                let mask = if name.contains("16_F32") { 0xffff } else { u64::MAX };
                assert_eq!(run(&mut wave(generation), word, [a, 0, 0]) & mask, expected, "{name} {generation} {a:#x}");
            }
        }
    };
    let minus = |x: i32| u64::from(x as u32);
    check("V_CVT_I32_F32", &[(f(-1.9), minus(-1)), (f(1e20), 0x7fff_ffff), (f(-1e20), 0x8000_0000), (0x7fc0_0000, 0)]);
    check("V_CVT_U32_F32", &[(f(-1.0), 0), (f(4294967040.0), 0xffff_ff00), (f(1e20), 0xffff_ffff)]);
    check("V_CVT_F32_I32", &[(minus(-1), f(-1.0)), (0x7fff_ffff, f(2147483648.0)), (0x0100_0001, f(16777216.0))]);
    check("V_CVT_F32_U32", &[(0xffff_ffff, f(4294967296.0)), (0x0100_0003, f(16777220.0))]);
    check("V_CVT_F16_F32", &[(f(1.0), 0x3c00), (f(65520.0), 0x7c00), (f(65519.0), 0x7bff), (f(5.9604645e-8), 1)]);
    check(
        "V_CVT_F32_F16",
        &[(0x3c00, f(1.0)), (1, f(5.9604645e-8)), (0x7c00, f(f32::INFINITY)), (0xfbff, f(-65504.0))],
    );
    check("V_CVT_F32_UBYTE2", &[(0x00ab_0000, f(171.0))]);
    check("V_CVT_OFF_F32_I4", &[(8, f(-0.5)), (7, f(0.4375)), (0xf7, f(0.4375))]);
    check("V_RNDNE_F32", &[(f(2.5), f(2.0)), (f(3.5), f(4.0)), (f(-0.2), f(-0.0))]);
    check("V_FLOOR_F32", &[(f(-0.5), f(-1.0)), (f(1.9), f(1.0))]);
    check("V_CEIL_F32", &[(f(-0.5), f(-0.0)), (f(1.1), f(2.0))]);
}
