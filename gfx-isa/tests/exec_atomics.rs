//! Atomics on memory and on the data share, and the data share's exchanges between lanes, on every generation.

#[path = "exec/memory.rs"]
mod memory;
#[path = "exec/support.rs"]
mod support;

use Generation::{Cdna1, Cdna2, Cdna3, Cdna4, Cdna5, Rdna1, Rdna2, Rdna3, Rdna3_5, Rdna4};
use gfx_isa::Generation;
use gfx_isa::exec::{Reason, Space};
use memory::{Bench, renamed, spelt};
use proptest::prelude::*;

/// The bit that makes an atomic give the old value, as text.
fn returning(generation: Generation) -> &'static str {
    match generation {
        Cdna3 | Cdna4 => "sc0",
        Rdna4 | Cdna5 => "th:TH_ATOMIC_RETURN",
        _ => "glc",
    }
}

/// Older suffix, newer suffix, and the operation on unsigned numbers of a width: memory, first data, second data.
type Line = (&'static str, &'static str, fn(u128, u128, u128, u32) -> u128);

fn signed(value: u128, bits: u32) -> i128 {
    (value << (128 - bits)) as i128 >> (128 - bits)
}

const OPERATIONS: [Line; 13] = [
    ("swap", "swap_b", |_, a, _, _| a),
    ("cmpswap", "cmpswap_b", |m, a, b, _| if m == b { a } else { m }),
    ("add", "add_u", |m, a, _, _| m + a),
    ("sub", "sub_u", |m, a, _, bits| m + (1 << bits) - a),
    ("smin", "min_i", |m, a, _, bits| if signed(m, bits) < signed(a, bits) { m } else { a }),
    ("umin", "min_u", |m, a, _, _| m.min(a)),
    ("smax", "max_i", |m, a, _, bits| if signed(m, bits) > signed(a, bits) { m } else { a }),
    ("umax", "max_u", |m, a, _, _| m.max(a)),
    ("and", "and_b", |m, a, _, _| m & a),
    ("or", "or_b", |m, a, _, _| m | a),
    ("xor", "xor_b", |m, a, _, _| m ^ a),
    ("inc", "inc_u", |m, a, _, _| if m >= a { 0 } else { m + 1 }),
    ("dec", "dec_u", |m, a, _, _| if m == 0 || m > a { a } else { m - 1 }),
];

/// Corner values that the operations tell apart.
const CORNERS: [u64; 8] = [0, 1, 2, 0x7fff_ffff, 0x8000_0000, 0xffff_ffff, 0x8000_0000_0000_0000, u64::MAX];

#[test]
fn integer_atomics_on_memory() {
    for &generation in Generation::all() {
        for (old, new, model) in OPERATIONS {
            for bits in [32, 64] {
                let name = match (renamed(generation), bits) {
                    (true, _) => format!("{new}{bits}"),
                    (false, 32) => old.to_owned(),
                    (false, _) => format!("{old}_x2"),
                };
                let mask = (1u128 << bits) - 1;
                for form in ["global", "flat"] {
                    let mut bench = Bench::new(generation);
                    let base = bench.base;
                    let memory = |lane: usize| CORNERS[lane % 8];
                    let first = |lane: usize| CORNERS[lane / 8 % 8];
                    let second = |lane: usize| CORNERS[lane % 5];
                    for lane in 0..bench.lanes() {
                        bench.write(8 * lane as u64, memory(lane) as u32);
                        bench.write(8 * lane as u64 + 4, (memory(lane) >> 32) as u32);
                    }
                    bench.each64(0, |lane| base + 8 * lane as u64);
                    let dwords = bits as usize / 32;
                    if bits == 64 {
                        bench.each64(4, first);
                        bench.each64(6, second);
                    } else {
                        bench.each(4, |lane| first(lane) as u32);
                        bench.each(5, |lane| second(lane) as u32);
                    }
                    let count = dwords * if old == "cmpswap" { 2 } else { 1 };
                    let registers = |first: usize, count: usize| match count {
                        1 => format!("v{first}"),
                        _ => format!("v[{first}:{}]", first + count - 1),
                    };
                    let off = if form == "global" { ", off" } else { "" };
                    bench.ok(&format!(
                        "{form}_atomic_{name} {}, v[0:1], {}{off} {}",
                        registers(8, dwords),
                        registers(4, count),
                        returning(generation)
                    ));
                    for lane in 0..bench.lanes() {
                        let cut = |value: u64| u128::from(value) & mask;
                        let expected = model(cut(memory(lane)), cut(first(lane)), cut(second(lane)), bits) & mask;
                        let at = 8 * lane as u64;
                        let found = u128::from(bench.read64(at)) & mask;
                        assert_eq!(found, expected, "{generation} {form} {name} {lane}");
                        let old = u64::from(bench.lane(lane, 9)) << 32 | u64::from(bench.lane(lane, 8));
                        assert_eq!(cut(old), cut(memory(lane)), "{generation} {form} {name} {lane}: old value");
                    }
                }
            }
        }
    }
}

/// The operation of the data share's name, its data as the manuals give it: memory, DATA0, DATA1.
fn shared_model(name: &str, bits: u32, m: u128, a: u128, b: u128) -> Option<u128> {
    let find = |operation: &str| OPERATIONS.iter().find(|line| line.0 == operation).map(|line| line.2(m, a, b, bits));
    Some(match name {
        "add" | "sub" | "inc" | "dec" | "and" | "or" | "xor" => return find(name),
        "rsub" => a + (1 << bits) - m,
        "min_i" => return find("smin"),
        "max_i" => return find("smax"),
        "min_u" => return find("umin"),
        "max_u" => return find("umax"),
        "mskor" => m & !a | b,
        "wrxchg" | "storexchg" => a,
        "cmpst" => {
            if m == a {
                b
            } else {
                m
            }
        }
        "cmpstore" => {
            if m == b {
                a
            } else {
                m
            }
        }
        "wrap" => {
            if m >= a {
                m - a
            } else {
                m + b
            }
        }
        "cond_sub" => {
            if m >= a {
                m - a
            } else {
                m
            }
        }
        "sub_clamp" => m.saturating_sub(a),
        "condxchg32" => {
            let part = |at: u32| {
                let (old, new) = (m >> at & 0xffff_ffff, a >> at & 0xffff_ffff);
                (if new >> 31 != 0 { new & 0x7fff_ffff } else { old }) << at
            };
            part(32) | part(0)
        }
        _ => return None,
    })
}

#[test]
fn integer_atomics_on_the_data_share() {
    let mut tested = std::collections::BTreeSet::new();
    for &generation in Generation::all() {
        for info in generation.instructions() {
            let name = info.name().to_lowercase();
            let Some(rest) = name.strip_prefix("ds_") else { continue };
            // With a type at the end, of unsigned, signed or no numbers; both operands are there.
            let Some((operation, ty)) = rest.rsplit_once('_') else { continue };
            let returns = operation.ends_with("_rtn");
            let operation = operation.trim_end_matches("_rtn");
            let bits = match ty {
                "u32" | "i32" | "b32" => 32,
                "u64" | "i64" | "b64" => 64,
                _ => continue,
            };
            let key = match operation {
                "min" | "max" => format!("{operation}_{}", &ty[..1]),
                _ => operation.to_owned(),
            };
            if shared_model(&key, bits, 0, 0, 0).is_none() {
                continue;
            }
            tested.insert(name.clone());
            let mut bench = Bench::new(generation);
            let memory = |lane: usize| CORNERS[lane % 8];
            let first = |lane: usize| CORNERS[lane / 8 % 8];
            let second = |lane: usize| CORNERS[lane % 5];
            for lane in 0..bench.lanes() {
                bench.lds.words_mut()[2 * lane] = memory(lane) as u32;
                bench.lds.words_mut()[2 * lane + 1] = (memory(lane) >> 32) as u32;
            }
            bench.each(0, |lane| 8 * lane as u32);
            bench.each64(4, first);
            bench.each64(6, second);
            let register =
                |first: usize| if bits == 32 { format!("v{first}") } else { format!("v[{first}:{}]", first + 1) };
            let mut text = format!("{} ", info.name().to_lowercase());
            if returns {
                text += &format!("{}, ", register(8));
            }
            text += &format!("v0, {}", register(4));
            if matches!(operation, "mskor" | "cmpst" | "cmpstore" | "wrap") {
                text += &format!(", {}", register(6));
            }
            bench.ok(&text);
            let mask = (1u128 << bits) - 1;
            for lane in 0..bench.lanes() {
                let cut = |value: u64| u128::from(value) & mask;
                let (m, a, b) = (cut(memory(lane)), cut(first(lane)), cut(second(lane)));
                let expected = shared_model(&key, bits, m, a, b).expect("known") & mask;
                let words = bench.lds.words();
                let found = u128::from(words[2 * lane + 1]) << 32 | u128::from(words[2 * lane]);
                assert_eq!(found & mask, expected, "{generation} {text} {lane}");
                if returns {
                    let old = u64::from(bench.lane(lane, 9)) << 32 | u64::from(bench.lane(lane, 8));
                    assert_eq!(cut(old), m, "{generation} {text} {lane}");
                }
            }
        }
    }
    assert!(tested.len() > 60, "{tested:?}");
}

#[test]
fn the_data_share_exchanges_at_two_addresses() {
    for &generation in Generation::all() {
        let mut bench = Bench::new(generation);
        for (at, word) in bench.lds.words_mut().iter_mut().enumerate() {
            *word = 1000 + at as u32;
        }
        bench.each(0, |lane| 4 * (lane as u32 % 8));
        bench.each(1, |lane| lane as u32 % 8);
        bench.each(2, |lane| 100 + lane as u32 % 8);
        let name = spelt(generation, "wrxchg2st64_rtn_b32", "storexchg_2addr_stride64_rtn_b32");
        bench.wave.set_exec(0xff);
        bench.ok(&format!("ds_{name} v[4:5], v0, v1, v2 offset0:1 offset1:3"));
        for lane in 0..8 {
            assert_eq!((bench.lane(lane, 4), bench.lane(lane, 5)), (1064 + lane as u32, 1192 + lane as u32));
            let words = bench.lds.words();
            assert_eq!((words[64 + lane], words[192 + lane]), (lane as u32, 100 + lane as u32), "{generation}");
        }
    }
}

#[test]
fn data_may_be_in_the_data_share_too() {
    for generation in [Cdna1, Rdna1] {
        let mut bench = Bench::new(generation);
        bench.wave.set_exec(0b11);
        bench.lds.words_mut()[..10].copy_from_slice(&[1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
        bench.each(0, |lane| 4 * lane as u32);
        // Four dwords on, and two back.
        bench.ok("ds_add_src2_u32 v0 offset:4");
        assert_eq!(bench.lds.words()[..6], [6, 8, 3, 4, 5, 6], "{generation}");
        bench.each(0, |_| 16);
        bench.wave.set_exec(1);
        bench.ok("ds_rsub_src2_u32 v0 offset:0x7ffe");
        assert_eq!(bench.lds.words()[4], 3u32.wrapping_sub(5), "{generation}");
        bench.ok("ds_write_src2_b64 v0 offset:2");
        assert_eq!(bench.lds.words()[4..6], [7, 8], "{generation}");
        // The distance in the address's upper bits: one dword back.
        bench.each(0, |_| 12 | 0xffff << 17);
        bench.ok("ds_max_src2_i32 v0 offset:0x8000");
        assert_eq!(bench.lds.words()[3], 4, "{generation}");
        bench.lds.words_mut()[2] = 50;
        bench.ok("ds_max_src2_i32 v0 offset:0x8000");
        assert_eq!(bench.lds.words()[3], 50, "{generation}");
    }
}

#[test]
fn float_atomics() {
    let one = 1f32.to_bits();
    for &generation in Generation::all() {
        let mut bench = Bench::new(generation);
        bench.each(0, |_| 16);
        bench.each(1, |lane| (lane as f32).to_bits());
        bench.lds.words_mut()[4] = one;
        bench.ok("ds_add_f32 v0, v1");
        let sum = (0..bench.lanes()).sum::<usize>() as f32 + 1.0;
        assert_eq!(f32::from_bits(bench.lds.words()[4]), sum, "{generation}");
        // Numbers beat NaN in the newer minima and maxima; the older ones compare.
        let newer = matches!(generation, Rdna4 | Cdna5);
        bench.wave.set_exec(1);
        for (name, memory, data, expected) in [
            ("min", 2f32, 1f32, 1f32.to_bits()),
            ("max", 2f32, 1f32, 2f32.to_bits()),
            ("min", 2f32, f32::NAN, 2f32.to_bits()),
            ("max", 2f32, 3f32, 3f32.to_bits()),
            ("min", f32::INFINITY, -0f32, 0x8000_0000),
        ] {
            bench.lds.words_mut()[4] = memory.to_bits();
            bench.each(1, |_| data.to_bits());
            bench.ok(&format!("ds_{name}_{}f32 v0, v1", if newer { "num_" } else { "" }));
            assert_eq!(bench.lds.words()[4], expected, "{generation} {name} {memory} {data}");
        }
    }
    // Whether additions in memory keep denormals.
    for (generation, keeps) in
        [(Cdna1, false), (Cdna2, false), (Cdna3, true), (Cdna4, true), (Cdna5, true), (Rdna3, false), (Rdna4, true)]
    {
        let mut bench = Bench::new(generation);
        let base = bench.base;
        bench.wave.set_exec(1);
        bench.each64(0, |_| base);
        bench.each(2, |_| 5);
        bench.write(0, 3);
        bench.ok("global_atomic_add_f32 v[0:1], v2, off");
        assert_eq!(bench.read(0), if keeps { 8 } else { 0 }, "{generation}");
    }
    for generation in [Cdna2, Cdna3, Cdna4, Cdna5] {
        let mut bench = Bench::new(generation);
        let base = bench.base;
        bench.wave.set_exec(0b11);
        bench.each64(0, |_| base + 8);
        bench.each64(2, |_| 0.1f64.to_bits());
        bench.ok("global_atomic_add_f64 v[0:1], v[2:3], off");
        assert_eq!(f64::from_bits(bench.read64(8)), 0.2, "{generation}");
        let max = if generation == Cdna5 { "flat_atomic_max_num_f64" } else { "flat_atomic_max_f64" };
        bench.each64(2, |_| 7f64.to_bits());
        bench.ok(&format!("{max} v[0:1], v[2:3]"));
        assert_eq!(f64::from_bits(bench.read64(8)), 7.0, "{generation}");
    }
    for generation in [Cdna3, Cdna4, Rdna4, Cdna5] {
        let mut bench = Bench::new(generation);
        let base = bench.base;
        bench.wave.set_exec(1);
        bench.each64(0, |_| base);
        // 1.0 and 2.0 to 1.5 and -0.5, in both formats of 16 bits.
        bench.each(2, |_| 0xb800_3e00);
        bench.write(0, 0x4000_3c00);
        bench.ok("global_atomic_pk_add_f16 v[0:1], v2, off");
        assert_eq!(bench.read(0), 0x3e00_4100, "{generation}");
        bench.each(2, |_| 0xbf00_3fc0);
        bench.write(0, 0x4000_3f80);
        bench.ok("global_atomic_pk_add_bf16 v[0:1], v2, off");
        assert_eq!(bench.read(0), 0x3fc0_4020, "{generation}");
    }
    for generation in [Rdna1, Rdna2, Rdna3, Rdna3_5] {
        let mut bench = Bench::new(generation);
        let base = bench.base;
        bench.wave.set_exec(1);
        bench.each64(0, |_| base);
        // -0 equals 0.
        bench.write(0, 0x8000_0000);
        bench.each(2, |_| 77);
        bench.each(3, |_| 0);
        bench.ok(&format!("global_atomic_{} v[0:1], v[2:3], off", spelt(generation, "fcmpswap", "cmpswap_f32")));
        assert_eq!(bench.read(0), 77, "{generation}");
    }
}

#[test]
fn subtraction_that_stops_at_zero() {
    for (generation, name) in [
        (Rdna2, "global_atomic_csub"),
        (Rdna3, "global_atomic_csub_u32"),
        (Rdna3_5, "global_atomic_csub_u32"),
        (Rdna4, "global_atomic_sub_clamp_u32"),
        (Cdna5, "global_atomic_sub_clamp_u32"),
    ] {
        let mut bench = Bench::new(generation);
        let base = bench.base;
        bench.write(0, 5);
        bench.each64(0, |lane| base + 4 * (lane as u64 % 2));
        bench.each(2, |_| 3);
        bench.write(4, 1000);
        bench.ok(&format!("{name} v3, v[0:1], v2, off {}", returning(generation)));
        assert_eq!((bench.read(0), bench.read(4)), (0, 1000 - 3 * bench.lanes() as u32 / 2), "{generation}");
        assert_eq!((bench.lane(0, 3), bench.lane(2, 3), bench.lane(4, 3)), (5, 2, 0), "{generation}");
    }
    for generation in [Rdna4, Cdna5] {
        let mut bench = Bench::new(generation);
        let base = bench.base;
        bench.write(0, 5);
        bench.each64(0, |_| base);
        bench.each(2, |_| 3);
        bench.ok("global_atomic_cond_sub_u32 v[0:1], v2, off");
        assert_eq!(bench.read(0), 2, "{generation}");
    }
    let mut bench = Bench::new(Rdna4);
    let base = bench.base;
    bench.write(0, 4);
    bench.write(4, 50);
    bench.each64(0, |_| base);
    bench.each64(2, |lane| (10 << 32) | (4 + lane as u64 % 3));
    bench.wave.set_exec(0b111);
    bench.ok("global_atomic_ordered_add_b64 v[4:5], v[0:1], v[2:3], off th:TH_ATOMIC_RETURN");
    assert_eq!((bench.read(0), bench.read(4)), (7, 80), "each lane finds its number");
    assert_eq!((bench.lane(2, 4), bench.lane(2, 5)), (6, 70));
}

#[test]
fn atomics_must_be_aligned() {
    for &generation in Generation::all() {
        let mut bench = Bench::new(generation);
        let base = bench.base;
        bench.each64(0, |lane| base + if lane == 2 { 4 } else { 0 });
        bench.ok(&format!("global_atomic_{} v[0:1], v2, off", spelt(generation, "add", "add_u32")));
        let fault =
            bench.fault(&format!("global_atomic_{} v[0:1], v[2:3], off", spelt(generation, "add_x2", "add_u64")));
        assert_eq!((fault.reason, fault.lane, fault.bytes), (Reason::Misaligned, Some(2), 8), "{generation}");
        assert!(fault.to_string().starts_with("misaligned atomic of 8 bytes"), "{fault}");
        bench.each(0, |_| 2);
        let fault = bench.fault("ds_add_u32 v0, v1");
        assert_eq!((fault.reason, fault.space), (Reason::Misaligned, Space::Lds));
    }
}

#[test]
fn scalar_atomics_and_stores() {
    for generation in [Cdna1, Cdna2, Cdna3, Cdna4] {
        let mut bench = Bench::new(generation);
        let base = bench.base;
        bench.sgpr64(2, base);
        bench.sgpr64(4, 0x1_0000_0002);
        bench.ok("s_store_dwordx2 s[4:5], s[2:3], 0x8");
        assert_eq!(bench.read64(8), 0x1_0000_0002, "{generation}");
        bench.ok("s_atomic_add_x2 s[4:5], s[2:3], 0x8 glc");
        assert_eq!((bench.read64(8), bench.wave.sgpr(4)), (0x2_0000_0004, 2), "{generation}");
        bench.wave.set_sgpr(6, 40);
        bench.wave.set_sgpr(7, 4);
        bench.ok("s_atomic_cmpswap s[6:7], s[2:3], 0x8");
        assert_eq!((bench.read(8), bench.wave.sgpr(6)), (40, 40), "{generation}");
        // Offsets of scratch count 64 bytes.
        bench.wave.set_sgpr(8, 2);
        bench.ok("s_scratch_store_dword s6, s[2:3], s8");
        assert_eq!(bench.read(128), 40, "{generation}");
        bench.ok("s_memtime s[10:11]");
        assert_ne!(bench.wave.sgpr(10), 0, "{generation}");
        bench.ok("s_dcache_wb");
    }
}

#[test]
fn lanes_are_counted_in_the_data_share() {
    for &generation in Generation::all() {
        let mut bench = Bench::new(generation);
        bench.lds.words_mut()[10] = 7;
        bench.wave.set_m0(32);
        bench.wave.set_exec(0b1011);
        bench.each(1, |_| 99);
        bench.ok("ds_append v1 offset:8");
        assert_eq!((bench.lds.words()[10], bench.lane(0, 1), bench.lane(2, 1), bench.lane(3, 1)), (10, 7, 99, 7));
        bench.ok("ds_consume v1 offset:8");
        assert_eq!((bench.lds.words()[10], bench.lane(1, 1)), (7, 10), "{generation}");
        let store = spelt(generation, "ds_write_addtid_b32", "ds_store_addtid_b32");
        let load = spelt(generation, "ds_read_addtid_b32", "ds_load_addtid_b32");
        bench.each(2, |lane| 500 + lane as u32);
        bench.ok(&format!("{store} v2 offset:64"));
        assert_eq!((bench.lds.words()[24], bench.lds.words()[26], bench.lds.words()[27]), (500, 0, 503));
        bench.ok(&format!("{load} v3 offset:64"));
        assert_eq!((bench.lane(3, 3), bench.lane(2, 3)), (503, 0), "{generation}");
    }
}

#[test]
fn lanes_permute() {
    for &generation in Generation::all() {
        for &lanes in generation.wave_sizes() {
            let mut bench = Bench::with_lanes(generation, lanes);
            // The manuals' examples on four lanes.
            bench.each(0, |lane| [0, 0, 12, 4][lane % 4]);
            bench.each(1, |lane| [0xa, 0xb, 0xc, 0xd][lane % 4]);
            let four = |bench: &Bench| [0, 1, 2, 3].map(|lane| bench.lane(lane, 2));
            for (name, exec, expected) in [
                ("ds_permute_b32", 0xf, [0xb, 0xd, 0, 0xc]),
                ("ds_permute_b32", 0xa, [99, 0xd, 99, 0]),
                ("ds_bpermute_b32", 0xf, [0xa, 0xa, 0xd, 0xb]),
                ("ds_bpermute_b32", 0xa, [99, 0, 99, 0xb]),
            ] {
                bench.each(2, |_| 99);
                bench.wave.set_exec(exec);
                bench.ok(&format!("{name} v2, v0, v1"));
                assert_eq!(four(&bench), expected, "{generation} {name} {exec:#x}");
            }
            if matches!(generation, Rdna4 | Cdna5) {
                bench.ok("ds_bpermute_fi_b32 v2, v0, v1");
                assert_eq!(four(&bench), [99, 0xa, 99, 0xb], "{generation}: lanes that are off give their value");
            }
            // RDNA 1 to 3 permute within halves.
            bench.wave.set_exec(u64::MAX);
            bench.each(0, |lane| 4 * (lanes - 1 - lane as u32) + 4 * 64);
            bench.each(1, |lane| lane as u32);
            bench.ok("ds_bpermute_b32 v2, v0, v1");
            let halves = matches!(generation, Rdna1 | Rdna2 | Rdna3 | Rdna3_5);
            for lane in 0..lanes {
                let expected = if halves { lane / 32 * 32 + 31 - lane % 32 } else { lanes - 1 - lane };
                assert_eq!(bench.lane(lane as usize, 2), expected, "{generation} {lanes} {lane}");
            }
        }
    }
}

#[test]
fn lanes_swizzle() {
    // Patterns with lanes 1 to 32 as the manuals list them.
    let fft0: Vec<u32> = vec![
        0x1, 0x11, 0x9, 0x19, 0x5, 0x15, 0xd, 0x1d, 0x3, 0x13, 0xb, 0x1b, 0x7, 0x17, 0xf, 0x1f, 0x2, 0x12, 0xa, 0x1a,
        0x6, 0x16, 0xe, 0x1e, 0x4, 0x14, 0xc, 0x1c, 0x8, 0x18, 0x10, 0x20,
    ];
    let fft10: Vec<u32> = vec![
        0x1, 0x9, 0x5, 0xd, 0x3, 0xb, 0x7, 0xf, 0x2, 0xa, 0x6, 0xe, 0x4, 0xc, 0x8, 0x10, 0x11, 0x19, 0x15, 0x1d, 0x13,
        0x1b, 0x17, 0x1f, 0x12, 0x1a, 0x16, 0x1e, 0x14, 0x1c, 0x18, 0x20,
    ];
    let left: Vec<u32> = (2..=32).chain([1]).collect();
    let right: Vec<u32> = [32].into_iter().chain(1..=31).collect();
    let odd_right: Vec<u32> = (0..32).map(|lane: i32| (lane & 1 | (lane - 1) & 0x1e) as u32 + 1).collect();
    let patterns: [(u32, Vec<u32>); 10] = [
        (0xe000, fft0),
        (0xe010, fft10),
        (0xe01f, (1..=32).collect()),
        (0xc000 | 1 << 5, left),
        (0xc000 | 1 << 10 | 1 << 5, right),
        (0xc000 | 1 << 10 | 1 << 5 | 1, odd_right),
        // Reverse 32 lanes, swap 16, broadcast lane 3 of each 8, and a permutation of four.
        (0x1f << 10 | 0x1f, (1..=32).rev().collect()),
        (0x10 << 10 | 0x1f, (17..=32).chain(1..=16).collect()),
        (3 << 5 | 0x18, (0..32).map(|lane| lane / 8 * 8 + 4).collect()),
        (0x8000 | 0b00_01_10_11, (0..32).map(|lane| lane / 4 * 4 + 4 - lane % 4).collect()),
    ];
    for &generation in Generation::all() {
        for &lanes in generation.wave_sizes() {
            for (pattern, expected) in &patterns {
                let mut bench = Bench::with_lanes(generation, lanes);
                bench.each(0, |lane| lane as u32 + 1);
                bench.ok(&format!("ds_swizzle_b32 v1, v0 offset:{pattern:#x}"));
                for lane in 0..lanes as usize {
                    let expected = expected[lane % 32] + lane as u32 / 32 * 32;
                    assert_eq!(bench.lane(lane, 1), expected, "{generation} {pattern:#x} {lane}");
                }
                bench.wave.set_exec(!1);
                bench.ok(&format!("ds_swizzle_b32 v2, v0 offset:{pattern:#x}"));
                let zero = (1..32).find(|lane| expected[*lane] == 1);
                assert!(zero.is_none_or(|lane| bench.lane(lane, 2) == 0), "{generation} {pattern:#x}");
            }
        }
    }
}

proptest! {
    /// Lanes that meet at one place act one after the other.
    #[test]
    fn atomics_of_lanes_add_up(values: [u32; 32], places: [u8; 32], exec: u32) {
        let mut bench = Bench::with_lanes(Rdna4, 32);
        let base = bench.base;
        bench.wave.set_exec(exec.into());
        bench.each64(0, |lane| base + 4 * u64::from(places[lane] % 4));
        bench.each(2, |lane| values[lane]);
        bench.ok("global_atomic_add_u32 v3, v[0:1], v2, off th:TH_ATOMIC_RETURN");
        let mut model = [0u64; 4];
        for lane in (0..32).filter(|lane| exec >> lane & 1 != 0) {
            let place = &mut model[usize::from(places[lane] % 4)];
            prop_assert_eq!(u64::from(bench.lane(lane, 3)), *place % (1 << 32));
            *place += u64::from(values[lane]);
        }
        for (at, sum) in model.into_iter().enumerate() {
            prop_assert_eq!(u64::from(bench.read(4 * at as u64)), sum % (1 << 32));
        }
    }
}
