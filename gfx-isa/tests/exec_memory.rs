//! Loads and stores of scalar, global, flat, scratch and shared memory on every generation, against arrays of bytes.

#[path = "exec/memory.rs"]
mod memory;
#[path = "exec/support.rs"]
mod support;

use gfx_isa::Generation;
use gfx_isa::exec::{Access, Reason, Space};
use memory::{Bench, spelt, word};

/// The older and the newer name of each load, its bytes, and whether it extends the sign.
const LOADS: [(&str, &str, usize, bool); 8] = [
    ("load_ubyte", "load_u8", 1, false),
    ("load_sbyte", "load_i8", 1, true),
    ("load_ushort", "load_u16", 2, false),
    ("load_sshort", "load_i16", 2, true),
    ("load_dword", "load_b32", 4, false),
    ("load_dwordx2", "load_b64", 8, false),
    ("load_dwordx3", "load_b96", 12, false),
    ("load_dwordx4", "load_b128", 16, false),
];

const STORES: [(&str, &str, usize); 6] = [
    ("store_byte", "store_b8", 1),
    ("store_short", "store_b16", 2),
    ("store_dword", "store_b32", 4),
    ("store_dwordx2", "store_b64", 8),
    ("store_dwordx3", "store_b96", 12),
    ("store_dwordx4", "store_b128", 16),
];

fn registers(first: usize, bytes: usize) -> String {
    match bytes {
        ..=4 => format!("v{first}"),
        _ => format!("v[{first}:{}]", first + bytes / 4 - 1),
    }
}

/// What a register holds after a load of some bytes.
fn loaded(bytes: &[u8], at: usize, size: usize, sign: bool, dword: usize) -> u32 {
    match (size, sign) {
        (1, false) => u32::from(bytes[at]),
        (1, true) => bytes[at] as i8 as u32,
        (2, false) => u32::from(u16::from_le_bytes([bytes[at], bytes[at + 1]])),
        (2, true) => i16::from_le_bytes([bytes[at], bytes[at + 1]]) as u32,
        _ => word(bytes, at + 4 * dword),
    }
}

/// Byte offset of a lane's data: aligned to the size, or not.
fn place(lane: usize, size: usize, odd: bool) -> usize {
    let at = (lane * 7 + 3) % 64 * 48;
    if odd { at + 1 + lane % 3 } else { at / size.next_power_of_two() * size.next_power_of_two() }
}

#[test]
fn loads_of_every_size_from_global_and_flat_memory() {
    for &generation in Generation::all() {
        for (old, new, size, sign) in LOADS {
            for odd in [false, true] {
                for form in ["global", "flat", "saddr"] {
                    let mut bench = Bench::new(generation);
                    let bytes = bench.fill();
                    let base = bench.base;
                    let name = spelt(generation, old, new);
                    let dst = registers(0, size);
                    let shift = if form == "flat" { 0 } else { 16 };
                    bench.each64(4, |lane| base + place(lane, size, odd) as u64 + shift);
                    bench.each(6, |lane| place(lane, size, odd) as u32);
                    bench.sgpr64(2, base + 16);
                    bench.each(0, |_| 0xdddd_dddd);
                    bench.wave.set_exec(0xffff_fff7_ffff_fffd);
                    bench.ok(&match form {
                        "global" => format!("global_{name} {dst}, v[4:5], off offset:-16"),
                        "flat" => format!("flat_{name} {dst}, v[4:5]"),
                        _ => format!("global_{name} {dst}, v6, s[2:3] offset:-16"),
                    });
                    for lane in 0..bench.lanes() {
                        for dword in 0..size.div_ceil(4) {
                            let expected = loaded(&bytes, place(lane, size, odd), size, sign, dword);
                            let expected = match (lane, dword) {
                                (1, 0) | (35, 0) => 0xdddd_dddd,
                                (1 | 35, _) => 0,
                                _ => expected,
                            };
                            assert_eq!(bench.lane(lane, dword), expected, "{generation} {form} {name} {lane} {dword}");
                        }
                    }
                }
            }
        }
    }
}

#[test]
fn stores_of_every_size_to_global_and_flat_memory() {
    for &generation in Generation::all() {
        for (old, new, size) in STORES {
            for odd in [false, true] {
                for form in ["global", "flat", "saddr"] {
                    let mut bench = Bench::new(generation);
                    let mut bytes = bench.fill();
                    let base = bench.base;
                    let name = spelt(generation, old, new);
                    let src = registers(0, size);
                    for dword in 0..4 {
                        bench.each(dword, |lane| 0x0101_0101 * lane as u32 + dword as u32 * 0x1000_0000);
                    }
                    bench.each64(4, |lane| base + place(lane, size, odd) as u64);
                    bench.each(6, |lane| place(lane, size, odd) as u32 + 8);
                    bench.sgpr64(2, base);
                    let exec = 0x8fff_fff7_7fff_fffd;
                    bench.wave.set_exec(exec);
                    bench.ok(&match form {
                        "global" => format!("global_{name} v[4:5], {src}, off"),
                        "flat" => format!("flat_{name} v[4:5], {src}"),
                        _ => format!("global_{name} v6, {src}, s[2:3] offset:-8"),
                    });
                    for lane in (0..bench.lanes()).filter(|lane| exec >> lane & 1 != 0) {
                        let data: Vec<u8> = (0..4).flat_map(|dword| bench.lane(lane, dword).to_le_bytes()).collect();
                        let at = place(lane, size, odd);
                        bytes[at..at + size].copy_from_slice(&data[..size]);
                    }
                    assert_eq!(bench.bytes(), bytes, "{generation} {form} {name} {odd}");
                }
            }
        }
    }
}

#[test]
fn halves_of_registers_are_loaded_and_stored_alone() {
    // Older name, newer name, bytes, high half, sign.
    let loads = [
        ("load_ubyte_d16", "load_d16_u8", 1, false, false),
        ("load_ubyte_d16_hi", "load_d16_hi_u8", 1, true, false),
        ("load_sbyte_d16", "load_d16_i8", 1, false, true),
        ("load_sbyte_d16_hi", "load_d16_hi_i8", 1, true, true),
        ("load_short_d16", "load_d16_b16", 2, false, false),
        ("load_short_d16_hi", "load_d16_hi_b16", 2, true, false),
    ];
    for &generation in Generation::all() {
        for (old, new, size, high, sign) in loads {
            let mut bench = Bench::new(generation);
            let bytes = bench.fill();
            let base = bench.base;
            bench.each64(4, |lane| base + 2 * lane as u64);
            bench.each(0, |_| 0x1234_5678);
            bench.ok(&format!("global_{} v0, v[4:5], off", spelt(generation, old, new)));
            for lane in 0..bench.lanes() {
                let half = loaded(&bytes, 2 * lane, size, sign, 0) & 0xffff;
                let expected = if high { half << 16 | 0x5678 } else { half | 0x1234_0000 };
                assert_eq!(bench.lane(lane, 0), expected, "{generation} {new} {lane}");
            }
        }
        for (old, new, size) in
            [("store_byte_d16_hi", "store_d16_hi_b8", 1), ("store_short_d16_hi", "store_d16_hi_b16", 2)]
        {
            let mut bench = Bench::new(generation);
            let base = bench.base;
            bench.each64(4, |lane| base + 4 * lane as u64);
            bench.each(0, |lane| 0xaabb_0000 + lane as u32);
            bench.ok(&format!("global_{} v[4:5], v0, off", spelt(generation, old, new)));
            let expected = if size == 1 { 0xbb } else { 0xaabb };
            assert!((0..bench.lanes()).all(|lane| bench.read(4 * lane as u64) == expected), "{generation} {new}");
        }
    }
}

#[test]
fn addresses_may_lie_in_the_result() {
    for &generation in Generation::all() {
        let mut bench = Bench::new(generation);
        let bytes = bench.fill();
        let base = bench.base;
        bench.each64(2, |lane| base + 16 * lane as u64);
        bench.ok(&format!("global_{} v[0:3], v[2:3], off", spelt(generation, "load_dwordx4", "load_b128")));
        for lane in 0..bench.lanes() {
            for dword in 0..4 {
                assert_eq!(bench.lane(lane, dword), word(&bytes, 16 * lane + 4 * dword), "{generation}");
            }
        }
    }
}

#[test]
fn offsets_of_32_bits_are_signed_on_cdna5_alone() {
    for &generation in Generation::all() {
        let mut bench = Bench::new(generation);
        bench.write(96, 0xabcd);
        let base = bench.base;
        let signed = generation == Generation::Cdna5;
        bench.each(2, |_| 0xffff_fffc);
        let start = base + 100;
        bench.sgpr64(4, if signed { start } else { start - (1 << 32) });
        bench.ok(&format!("global_{} v1, v2, s[4:5]", spelt(generation, "load_dword", "load_b32")));
        assert_eq!(bench.lane(0, 1), 0xabcd, "{generation}");
    }
    let mut bench = Bench::new(Generation::Cdna5);
    bench.write(40, 7);
    let base = bench.base;
    bench.sgpr64(4, base + 64);
    bench.each(2, |_| -3i32 as u32);
    bench.ok("global_load_b64 v[0:1], v2, s[4:5] scale_offset");
    assert_eq!(bench.lane(0, 0), 7, "-3 times 8 bytes");
}

#[test]
fn scalar_loads_of_every_size() {
    let sizes = [("dword", "b32", 1), ("dwordx2", "b64", 2), ("dwordx4", "b128", 4), ("dwordx8", "b256", 8)];
    for &generation in Generation::all() {
        for (old, new, count) in sizes.into_iter().chain([("dwordx16", "b512", 16)]) {
            let mut bench = Bench::new(generation);
            let bytes = bench.fill();
            let base = bench.base;
            let name = spelt(generation, old, new);
            let dst = if count == 1 { "s16".to_owned() } else { format!("s[16:{}]", 15 + count) };
            bench.sgpr64(2, base + 256);
            bench.wave.set_sgpr(4, 64);
            bench.wave.set_exec(0);
            let check = |bench: &Bench, at: usize| {
                for dword in 0..count {
                    assert_eq!(bench.wave.sgpr(16 + dword), word(&bytes, at + 4 * dword), "{generation} {name} {at}");
                }
            };
            bench.ok(&format!("s_load_{name} {dst}, s[2:3], 0x20"));
            check(&bench, 256 + 32);
            bench.ok(&format!("s_load_{name} {dst}, s[2:3], -0x20"));
            check(&bench, 256 - 32);
            let register = match generation {
                Generation::Rdna4 | Generation::Cdna5 => "s4 offset:0x0",
                _ => "s4",
            };
            bench.ok(&format!("s_load_{name} {dst}, s[2:3], {register}"));
            check(&bench, 256 + 64);
            let both = match generation {
                Generation::Cdna1 | Generation::Cdna2 | Generation::Cdna3 | Generation::Cdna4 => "s4 offset:0x10",
                Generation::Rdna1 | Generation::Rdna2 | Generation::Rdna3 | Generation::Rdna3_5 => "s4 offset:0x10",
                _ => "s4 offset:0x10",
            };
            bench.ok(&format!("s_load_{name} {dst}, s[2:3], {both}"));
            check(&bench, 256 + 64 + 16);
        }
    }
}

#[test]
fn scalar_loads_of_small_data() {
    for generation in [Generation::Rdna4, Generation::Cdna5] {
        let mut bench = Bench::new(generation);
        let base = bench.base;
        bench.write(0, 0x80ff_8281);
        bench.sgpr64(2, base);
        for (name, at, expected) in [
            ("u8", 1, 0x82),
            ("i8", 1, 0xffff_ff82),
            ("u16", 2, 0x80ff),
            ("i16", 2, 0xffff_80ff),
            // The lowest bit of an address is dropped.
            ("u16", 3, 0x80ff),
        ] {
            bench.ok(&format!("s_load_{name} s5, s[2:3], {at}"));
            assert_eq!(bench.wave.sgpr(5), expected, "{generation} {name}");
        }
        bench.write(4, 1);
        bench.write(8, 2);
        bench.wave.set_sgpr(7, 99);
        bench.ok("s_load_b96 s[4:6], s[2:3], 0x0");
        assert_eq!((4..8).map(|at| bench.wave.sgpr(at)).collect::<Vec<_>>(), [0x80ff_8281, 1, 2, 99]);
    }
}

#[test]
fn faults_name_lane_address_and_neighbour() {
    for &generation in Generation::all() {
        let load = format!("global_{} v0, v[4:5], off", spelt(generation, "load_dwordx2", "load_b64"));
        let load = load.replace("v0,", "v[0:1],");
        let mut bench = Bench::new(generation);
        let base = bench.base;
        bench.each64(4, |lane| if lane == 5 { base + 4092 } else { base });
        let fault = bench.fault(&load);
        assert_eq!((fault.access, fault.space, fault.reason), (Access::Read, Space::Global, Reason::Outside));
        assert_eq!((fault.lane, fault.address, fault.bytes), (Some(5), base + 4092, 8), "{generation}");
        assert_eq!(fault.nearest.map(|near| near.name), Some("data".to_owned()));
        // A lane that is off may have any address.
        bench.wave.set_exec(!(1 << 5));
        bench.ok(&load);
        let name = spelt(generation, "s_load_dword", "s_load_b32");
        bench.sgpr64(2, base + 4096);
        assert_eq!(bench.fault(&format!("{name} s5, s[2:3], 0x0")).lane, None);
        bench.ok(&format!("{name} s5, s[2:3], -0x4"));
    }
}

#[test]
fn scratch_is_interleaved_by_lane() {
    for &generation in Generation::all() {
        for &lanes in generation.wave_sizes() {
            let mut bench = Bench::with_lanes(generation, lanes);
            let base = bench.base;
            bench.wave.set_scratch(base + 512, 12);
            match generation {
                Generation::Cdna1 | Generation::Cdna2 => bench.sgpr64(102, base + 512),
                Generation::Rdna1 | Generation::Rdna2 => bench.wave.set_flat_scratch(base + 512),
                _ => {}
            }
            bench.each(1, |lane| 0x100 + lane as u32);
            bench.each(2, |_| 4);
            let store = spelt(generation, "scratch_store_dword", "scratch_store_b32");
            let load = spelt(generation, "scratch_load_ushort", "scratch_load_u16");
            bench.ok(&format!("{store} v2, v1, off offset:4"));
            for lane in 0..lanes as u64 {
                let at = 512 + (2 * u64::from(lanes) + lane) * 4;
                assert_eq!(bench.read(at), 0x100 + lane as u32, "{generation} {lanes} {lane}");
            }
            bench.wave.set_sgpr(8, 8);
            bench.ok(&format!("{load} v3, off, s8"));
            bench.each(4, |_| 0);
            for lane in 0..lanes as usize {
                assert_eq!(bench.lane(lane, 3), 0x100 + lane as u32, "{generation} {lanes} {lane}");
            }
            // Bytes 7 to 10: the last of one dword and three of the next.
            bench.each(1, |lane| 0xa1b2_c300 + lane as u32);
            bench.each(2, |_| 7);
            bench.ok(&format!("{store} v2, v1, off"));
            for lane in 0..lanes as u64 {
                let at = 512 + (u64::from(lanes) + lane) * 4;
                assert_eq!(bench.read(at) >> 24, lane as u32, "{generation} {lanes} {lane}");
                assert_eq!(bench.read(at + 4 * u64::from(lanes)) & 0x00ff_ffff, 0x00a1_b2c3);
            }
            let fault = bench.fault(&format!("{store} v2, v1, off offset:2"));
            assert_eq!((fault.space, fault.address, fault.lane), (Space::Scratch, 9, Some(0)), "{generation}");
            assert_eq!(bench.fault(&format!("{store} v2, v1, off offset:-8")).space, Space::Scratch);
        }
    }
}

#[test]
fn scratch_without_a_register_and_with_two() {
    use Generation::{Cdna3, Cdna4, Cdna5, Rdna2, Rdna3, Rdna3_5, Rdna4};
    for generation in [Cdna3, Cdna4, Cdna5, Rdna2, Rdna3, Rdna3_5, Rdna4] {
        let mut bench = Bench::new(generation);
        let base = bench.base;
        bench.wave.set_scratch(base, 32);
        bench.wave.set_flat_scratch(base);
        bench.each(1, |lane| 50 + lane as u32);
        bench.ok(&format!("{} off, v1, off offset:16", spelt(generation, "scratch_store_dword", "scratch_store_b32")));
        bench.each(2, |_| 4);
        bench.wave.set_sgpr(3, 20);
        if generation != Rdna2 {
            let load = spelt(generation, "scratch_load_dword", "scratch_load_b32");
            bench.ok(&format!("{load} v0, v2, s3 offset:-8"));
            assert!((0..bench.lanes()).all(|lane| bench.lane(lane, 0) == 50 + lane as u32), "{generation}");
        }
    }
    let mut bench = Bench::new(Cdna5);
    let base = bench.base;
    bench.wave.set_scratch(base, 32);
    bench.each(1, |lane| 50 + lane as u32);
    bench.each(2, |_| 3);
    bench.ok("scratch_store_b32 v2, v1, off scale_offset");
    assert_eq!(bench.read(3 * 128 + 4 * 9), 59, "dword 3 of lane 9");
}

#[test]
fn flat_addresses_reach_all_spaces_at_once() {
    for &generation in Generation::all() {
        let mut bench = Bench::new(generation);
        let base = bench.base;
        bench.wave.set_scratch(base + 1024, 16);
        match generation {
            Generation::Cdna1 | Generation::Cdna2 => bench.sgpr64(102, base + 1024),
            Generation::Rdna1 | Generation::Rdna2 => bench.wave.set_flat_scratch(base + 1024),
            _ => {}
        }
        let lanes = bench.lanes() as u64;
        let private = |lane: u64| match generation {
            // The lane in bits 56:52, the address of its dword divided by 32 below.
            Generation::Cdna5 => 1 << 58 | lane << 52 | ((base + 1024) / 128 * 4 + 8),
            _ => (4 << 56) + 8,
        };
        bench.each64(4, |lane| match lane % 3 {
            0 => base + 4 * lane as u64,
            1 => 0x0001_0000_0000_0000 + 4 * lane as u64,
            _ => private(lane as u64),
        });
        bench.each(1, |lane| 1000 + lane as u32);
        bench.ok(&format!("flat_{} v[4:5], v1", spelt(generation, "store_dword", "store_b32")));
        for lane in 0..lanes {
            let found = match lane % 3 {
                0 => bench.read(4 * lane),
                1 => bench.lds.words()[lane as usize],
                _ => bench.read(1024 + 4 * (2 * lanes + lane)),
            };
            assert_eq!(found, 1000 + lane as u32, "{generation} {lane}");
        }
        bench.ok(&format!("flat_{} v2, v[4:5]", spelt(generation, "load_dword", "load_b32")));
        assert!((0..lanes as usize).all(|lane| bench.lane(lane, 2) == 1000 + lane as u32), "{generation}");
    }
}

#[test]
fn the_data_share_loads_and_stores_every_size() {
    let sizes = [
        ("read_u8", "load_u8", 1, false),
        ("read_i8", "load_i8", 1, true),
        ("read_u16", "load_u16", 2, false),
        ("read_i16", "load_i16", 2, true),
        ("read_b32", "load_b32", 4, false),
        ("read_b64", "load_b64", 8, false),
        ("read_b96", "load_b96", 12, false),
        ("read_b128", "load_b128", 16, false),
    ];
    let at = |lane: usize| (lane * 5 + 2) % 64 * 12;
    for &generation in Generation::all() {
        for (old, new, size, sign) in sizes {
            let mut bench = Bench::new(generation);
            let bytes = bench.fill_lds();
            bench.each(8, |lane| at(lane) as u32);
            bench.ok(&format!("ds_{} {}, v8 offset:4", spelt(generation, old, new), registers(0, size)));
            for lane in 0..bench.lanes() {
                for dword in 0..size.div_ceil(4) {
                    let expected = loaded(&bytes, at(lane) + 4, size, sign, dword);
                    assert_eq!(bench.lane(lane, dword), expected, "{generation} {new} {lane}");
                }
            }
        }
        for (old, new, size) in [
            ("write_b8", "store_b8", 1),
            ("write_b16", "store_b16", 2),
            ("write_b32", "store_b32", 4),
            ("write_b64", "store_b64", 8),
            ("write_b96", "store_b96", 12),
            ("write_b128", "store_b128", 16),
        ] {
            let mut bench = Bench::new(generation);
            let mut bytes = bench.fill_lds();
            for dword in 0..4 {
                bench.each(dword, |lane| 0x0101_0101 * lane as u32 + dword as u32 * 0x1000_0000);
            }
            bench.each(8, |lane| at(lane) as u32);
            bench.ok(&format!("ds_{} v8, {} offset:8", spelt(generation, old, new), registers(0, size)));
            for lane in 0..bench.lanes() {
                let data: Vec<u8> = (0..4).flat_map(|dword| bench.lane(lane, dword).to_le_bytes()).collect();
                bytes[at(lane) + 8..at(lane) + 8 + size].copy_from_slice(&data[..size]);
            }
            assert_eq!(bench.lds_bytes(), bytes, "{generation} {new}");
        }
    }
}

#[test]
fn the_data_share_takes_two_addresses() {
    for &generation in Generation::all() {
        let mut bench = Bench::new(generation);
        let name = |old, new| spelt(generation, old, new);
        bench.fill_lds();
        // Units of the data's size: dwords 1 and 3 from the address, then quadwords.
        bench.each(0, |lane| 8 * (lane as u32 % 4));
        bench.each(1, |lane| 0x1000 + lane as u32 % 4);
        bench.each(2, |lane| 0x2000 + lane as u32 % 4);
        bench.ok(&format!("ds_{} v0, v1, v2 offset0:1 offset1:33", name("write2_b32", "store_2addr_b32")));
        for lane in 0..4 {
            assert_eq!(bench.lds.words()[2 * lane + 1], 0x1000 + lane as u32, "{generation}");
            assert_eq!(bench.lds.words()[2 * lane + 33], 0x2000 + lane as u32, "{generation}");
        }
        // Of 64 times the size.
        bench.ok(&format!("ds_{} v0, v1, v2 offset0:1 offset1:2", name("write2st64_b32", "store_2addr_stride64_b32")));
        assert_eq!((bench.lds.words()[64 + 2], bench.lds.words()[128 + 2]), (0x1001, 0x2001), "{generation}");
        // The result may cover the address.
        bench.each(5, |lane| 16 * (lane as u32 % 4));
        bench.ok(&format!("ds_{} v[4:7], v5 offset0:0 offset1:10", name("read2_b64", "load_2addr_b64")));
        let words = bench.lds.words().to_vec();
        for lane in 0..4 {
            let got: Vec<u32> = (4..8).map(|register| bench.lane(lane, register)).collect();
            let at = 4 * lane;
            assert_eq!(got, [words[at], words[at + 1], words[at + 20], words[at + 21]], "{generation} {lane}");
        }
    }
}

#[test]
fn the_data_share_has_bounds() {
    for &generation in Generation::all() {
        let mut bench = Bench::new(generation);
        bench.each(0, |lane| if lane == 3 { 1022 } else { 0 });
        let fault = bench.fault(&format!("ds_{} v1, v0", spelt(generation, "read_b32", "load_b32")));
        assert_eq!((fault.space, fault.address, fault.lane), (Space::Lds, 1022, Some(3)));
        bench.each(0, |_| 0xffff_fffc);
        bench.lds.words_mut()[1] = 77;
        bench.ok(&format!("ds_{} v1, v0 offset:8", spelt(generation, "read_b32", "load_b32")));
        assert_eq!(bench.lane(0, 1), 77, "addresses wrap at 32 bits");
    }
}

#[test]
fn memory_goes_to_the_data_share_by_m0() {
    use Generation::{Cdna1, Cdna2, Cdna3, Cdna4};
    for generation in [Cdna1, Cdna2, Cdna3, Cdna4] {
        let old = matches!(generation, Cdna1 | Cdna2);
        let mut bench = Bench::new(generation);
        let bytes = bench.fill();
        let base = bench.base;
        bench.each64(4, |lane| base + 12 * lane as u64 - 8);
        bench.wave.set_m0(512);
        bench.wave.set_exec(!(1 << 7));
        bench.ok(if old {
            "global_load_dword v[4:5], off offset:8 lds"
        } else {
            "global_load_lds_dword v[4:5], off offset:8"
        });
        for lane in 0..64 {
            let expected = if lane == 7 { 0 } else { word(&bytes, 12 * lane) };
            assert_eq!(bench.lds.words()[(512 + 8) / 4 + lane], expected, "{generation} {lane}");
        }
        bench.wave.set_m0(0);
        bench.each64(4, |lane| base + lane as u64);
        bench.ok(if old { "global_load_sbyte v[4:5], off lds" } else { "global_load_lds_sbyte v[4:5], off" });
        assert_eq!(bench.lds.words()[63], bytes[63] as i8 as u32, "{generation}");
        bench.wave.set_m0(1024 - 128);
        let load = if old { "global_load_dword v[4:5], off lds" } else { "global_load_lds_dword v[4:5], off" };
        assert_eq!(bench.fault(load).space, Space::Lds, "{generation}");
    }
    let mut bench = Bench::new(Cdna4);
    let bytes = bench.fill();
    let base = bench.base;
    bench.each64(4, |lane| base + 20 * lane as u64);
    bench.ok("global_load_lds_dwordx4 v[4:5], off");
    for at in 0..256 {
        assert_eq!(bench.lds.words()[at], word(&bytes, 20 * (at / 4) + 4 * (at % 4)), "{at}");
    }
    bench.ok("global_load_lds_dwordx3 v[4:5], off");
    for at in 0..192 {
        assert_eq!(bench.lds.words()[at], word(&bytes, 20 * (at / 3) + 4 * (at % 3)), "{at}");
    }
}

#[test]
fn memory_and_the_data_share_exchange_by_register() {
    let mut bench = Bench::new(Generation::Cdna5);
    let bytes = bench.fill();
    let base = bench.base;
    bench.each64(4, |lane| base + 16 * lane as u64);
    bench.each(1, |lane| 8 * (31 - lane as u32));
    bench.ok("global_load_async_to_lds_b64 v1, v[4:5], off offset:16");
    for lane in 0..32 {
        let at = (8 * (31 - lane) + 16) / 4;
        assert_eq!(bench.lds.words()[at], word(&bytes, 16 * lane + 16), "{lane}");
        assert_eq!(bench.lds.words()[at + 1], word(&bytes, 16 * lane + 20), "{lane}");
    }
    bench.each(2, |lane| 16 * lane as u32);
    bench.sgpr64(2, base);
    bench.each(1, |lane| 4 * lane as u32 + 1);
    let lds = bench.fill_lds();
    bench.ok("global_store_async_from_lds_b8 v2, v1, s[2:3]");
    for lane in 0..32 {
        assert_eq!(bench.bytes()[16 * lane], lds[4 * lane + 1], "{lane}");
    }
}

#[test]
fn apertures_are_operands() {
    for &generation in Generation::all() {
        let mut bench = Bench::new(generation);
        let base = bench.base;
        bench.ok("s_mov_b64 s[4:5], src_shared_base");
        // CDNA 5 has the address of the wave's own scratch in its place.
        if generation != Generation::Cdna5 {
            bench.ok("s_mov_b64 s[6:7], src_private_base");
        }
        assert_eq!((bench.wave.sgpr(4), bench.wave.sgpr(6)), (0, 0));
        // Pointers to both, as compilers make them.
        bench.wave.set_scratch(base + 256, 32);
        bench.wave.set_flat_scratch(base + 256);
        if matches!(generation, Generation::Cdna1 | Generation::Cdna2) {
            bench.sgpr64(102, base + 256);
        }
        let shared = u64::from(bench.wave.sgpr(5)) << 32;
        let mut private = u64::from(bench.wave.sgpr(7)) << 32;
        if generation == Generation::Cdna5 {
            bench.ok("s_mov_b64 s[6:7], src_flat_scratch_base_lo");
            private = u64::from(bench.wave.sgpr(7)) << 32 | u64::from(bench.wave.sgpr(6));
        }
        bench.each64(0, |lane| if lane % 2 == 0 { shared + 4 * lane as u64 } else { private + 12 });
        if generation == Generation::Cdna5 {
            bench.each64(0, |lane| match lane % 2 {
                0 => shared + 4 * lane as u64,
                _ => private + 12 + ((lane as u64) << 52),
            });
        }
        bench.each(2, |lane| 7 + lane as u32);
        bench.ok(&format!("flat_{} v[0:1], v2", spelt(generation, "store_dword", "store_b32")));
        let lanes = bench.lanes();
        assert_eq!(bench.lds.words()[4], 11, "{generation}");
        assert_eq!(bench.read(256 + 4 * (3 * lanes as u64 + 5)), 12, "{generation}");
        bench.each(3, |_| 12);
        bench.ok(&format!("{} v4, v3, off", spelt(generation, "scratch_load_dword", "scratch_load_b32")));
        assert_eq!(bench.lane(5, 4), 12, "{generation}");
    }
}

/// Words that decode, with registers full of numbers and addresses near an allocation's ends: executed or refused.
#[test]
fn no_access_panics() {
    let mut seed = 0x2545_f491_4f6c_dd1du64;
    let mut random = move || {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        seed
    };
    for &generation in Generation::all() {
        let infos: Vec<_> = generation.instructions().filter(|info| matches!(info.group(), "VMEM" | "SMEM")).collect();
        for &lanes in generation.wave_sizes() {
            let mut bench = Bench::with_lanes(generation, lanes);
            let base = bench.base;
            let (mut executed, mut refused) = (0, 0);
            for round in 0..20 {
                // Every register may be part of an address or of a descriptor.
                bench.wave.set_scratch(base + random() % 5000, random() as u32 % 40);
                bench.wave.set_flat_scratch(base + random() % 5000);
                bench.wave.set_m0(random() as u32 >> (random() % 32));
                for pair in 0..52 {
                    let near = [base.wrapping_add(random() % 6000).wrapping_sub(1000), random(), random() % 64];
                    bench.sgpr64(2 * pair, near[random() as usize % 3]);
                }
                for pair in 0..128 {
                    let kind = random();
                    bench.each64(2 * pair, |lane| match kind % 4 {
                        0 => (kind >> 8) % 64 * lane as u64,
                        1 => base + (kind >> 8) % 70 * lane as u64,
                        2 => (1 << 48 | 1 << (50 + kind % 12)) + 4 * lane as u64,
                        _ => kind.wrapping_mul(lane as u64 | 1),
                    });
                }
                for info in &infos {
                    let noise = u128::from(random()) << 64 | u128::from(random());
                    // Small fields now and then, so that offsets stay near.
                    let noise = if round % 2 == 0 {
                        noise & (u128::from(random()) << 64 | u128::from(random()))
                    } else {
                        noise
                    };
                    let word = info.identifier() | noise & !info.mask();
                    let Ok(inst) = generation.decode(&word.to_le_bytes()) else { continue };
                    if inst.wave_size() != lanes {
                        continue;
                    }
                    bench.wave.set_exec(random() | random());
                    let mut env = gfx_isa::exec::Env::new(&bench.memory, &mut bench.lds);
                    match bench.wave.step_in(&inst, &mut env) {
                        Ok(_) => executed += 1,
                        Err(_) => refused += 1,
                    }
                }
            }
            if lanes == generation.wave_sizes()[0] {
                assert!(executed > 500 && refused > 500, "{generation} {lanes}: {executed} {refused}");
            }
        }
    }
}
