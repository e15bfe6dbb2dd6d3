//! Buffers: descriptors of each generation, bounds, swizzle and formats.

#[path = "exec/memory.rs"]
mod memory;
#[path = "exec/support.rs"]
mod support;

use Generation::{Cdna1, Cdna2, Cdna3, Cdna4, Cdna5, Rdna1, Rdna2, Rdna3, Rdna3_5, Rdna4};
use gfx_isa::Generation;
use memory::{Bench, renamed, spelt, word};

/// What a test wants of a descriptor.
#[derive(Clone, Copy, Default)]
struct Desc {
    stride: u32,
    records: u32,
    /// Bytes of an element, or 0: linear.
    element: u32,
    add_lane: bool,
    /// `OOB_SELECT`, where there is one.
    bounds: u32,
    /// Number of a unified format of RDNA 3 and the same as DFMT and NFMT.
    format: Option<(u32, u32, u32, u32)>,
}

/// Places the fields of a descriptor in s[8:11].
fn describe(bench: &mut Bench, address: u64, desc: Desc) {
    let generation = bench.wave.generation();
    let words = if generation == Cdna5 {
        let swizzle = u128::from(desc.element != 0);
        let all = u128::from(address)
            | u128::from(desc.records) << 57
            | u128::from(desc.stride) << 108
            | swizzle << 124
            | u128::from(desc.bounds == 1) << 125;
        [0, 32, 64, 96].map(|at| (all >> at) as u32)
    } else {
        let (gfx10, gfx11, dfmt, nfmt) = desc.format.unwrap_or((22, 22, 4, 7));
        let swizzle = match (generation, desc.element) {
            (_, 0) => 0,
            (Rdna3 | Rdna3_5 | Rdna4, 16) => 3 << 30,
            (Rdna3 | Rdna3_5 | Rdna4, _) => 1 << 30,
            _ => 1 << 31,
        };
        let format = match generation {
            // With the lane added the field is part of the stride.
            Cdna1 | Cdna2 | Cdna3 | Cdna4 if desc.add_lane => 0,
            Cdna1 | Cdna2 | Cdna3 | Cdna4 => nfmt << 12 | dfmt << 15,
            Rdna1 | Rdna2 => gfx10 << 12,
            _ => gfx11 << 12,
        };
        let block = if bench.lanes() == 64 { 3 } else { 2 } << 21;
        let last = 4 | 5 << 3 | 6 << 6 | 7 << 9 | format | block | u32::from(desc.add_lane) << 23;
        let bounds = if matches!(generation, Cdna1 | Cdna2 | Cdna3 | Cdna4) { 0 } else { desc.bounds << 28 };
        [address as u32, (address >> 32) as u32 | desc.stride << 16 | swizzle, desc.records, last | bounds]
    };
    for (at, word) in words.into_iter().enumerate() {
        bench.wave.set_sgpr(8 + at, word);
    }
}

fn is_gfx9(generation: Generation) -> bool {
    matches!(generation, Cdna1 | Cdna2 | Cdna3 | Cdna4)
}

/// No scalar offset, as the generation writes it.
fn none(generation: Generation) -> &'static str {
    if matches!(generation, Rdna4 | Cdna5) { "null" } else { "0" }
}

#[test]
fn raw_buffers_check_each_dword() {
    for &generation in Generation::all() {
        let mut bench = Bench::new(generation);
        let bytes = bench.fill();
        let base = bench.base;
        describe(&mut bench, base + 16, Desc { records: 64, bounds: 3, ..Desc::default() });
        bench.each(1, |lane| 4 * lane as u32);
        bench.each(4, |_| 99);
        let load = spelt(generation, "buffer_load_dwordx3", "buffer_load_b96");
        let none = none(generation);
        bench.ok(&format!("{load} v[4:6], v1, s[8:11], {none} offen offset:8"));
        for lane in 0..bench.lanes() {
            for dword in 0..3 {
                let at = 4 * lane + 8 + 4 * dword;
                let expected = if at + 4 <= 64 { word(&bytes, 16 + at) } else { 0 };
                assert_eq!(bench.lane(lane, 4 + dword), expected, "{generation} {lane} {dword}");
            }
        }
        let store = spelt(generation, "buffer_store_dwordx2", "buffer_store_b64");
        bench.each(4, |lane| 0x100 + lane as u32);
        bench.each(5, |lane| 0x200 + lane as u32);
        bench.each(1, |lane| 8 * lane as u32);
        bench.ok(&format!("{store} v[4:5], v1, s[8:11], {none} offen"));
        assert_eq!((bench.read(16 + 56), bench.read(16 + 60)), (0x107, 0x207), "{generation}");
        assert_eq!(bench.read(16 + 64), word(&bytes, 16 + 64), "{generation}: out of range");
        // A record count of no bytes keeps all out; memory behind an open range is checked by itself.
        describe(&mut bench, base + 4096 - 8, Desc { records: 64, bounds: 3, ..Desc::default() });
        let fault = bench.fault(&format!("{load} v[4:6], v1, s[8:11], {none} offen"));
        assert_eq!(fault.lane, Some(1), "{generation}");
        describe(&mut bench, 0, Desc { bounds: 3, ..Desc::default() });
        bench.ok(&format!("{load} v[4:6], v1, s[8:11], {none} offen"));
        assert_eq!(bench.lane(3, 5), 0, "{generation}");
    }
}

#[test]
fn structured_buffers_count_records() {
    for &generation in Generation::all() {
        let mut bench = Bench::new(generation);
        let bytes = bench.fill();
        let base = bench.base;
        // On CDNA 5 records are bytes.
        let records = if generation == Cdna5 { 10 * 24 } else { 10 };
        let bounds = u32::from(generation == Cdna5);
        describe(&mut bench, base, Desc { stride: 24, records, bounds, ..Desc::default() });
        bench.each(2, |lane| lane as u32);
        bench.each(3, |lane| if lane % 2 == 0 { 4 } else { 20 });
        bench.wave.set_sgpr(12, 100);
        let load = spelt(generation, "buffer_load_ushort", "buffer_load_u16");
        // The scalar offset is outside of the record.
        let scalar = if generation == Cdna5 { "null" } else { "s12" };
        bench.ok(&format!("{load} v4, v[2:3], s[8:11], {scalar} idxen offen offset:2"));
        let shift = if generation == Cdna5 { 0 } else { 100 };
        for lane in 0..bench.lanes() {
            let offset = if lane % 2 == 0 { 6 } else { 22 };
            let at = shift + 24 * lane + offset;
            let expected = if lane < 10 { word(&bytes, at) & 0xffff } else { 0 };
            assert_eq!(bench.lane(lane, 4), expected, "{generation} {lane}");
        }
        // Beyond the record: CDNA 1 to 4 look at the index alone.
        bench.each(3, |_| 23);
        bench.ok(&format!("{load} v4, v[2:3], s[8:11], {} idxen offen", none(generation)));
        let expected = match generation {
            Cdna1 | Cdna2 | Cdna3 | Cdna4 => word(&bytes, 23) & 0xffff,
            // The first byte counts.
            Rdna1 | Rdna2 => word(&bytes, 23) & 0xffff,
            _ => 0,
        };
        assert_eq!(bench.lane(0, 4), expected, "{generation}");
    }
}

#[test]
fn halves_out_of_range_are_zero_alone() {
    for &generation in Generation::all() {
        let mut bench = Bench::new(generation);
        let base = bench.base;
        describe(&mut bench, base, Desc { records: 4, bounds: 3, ..Desc::default() });
        bench.write(0, 0x8899_aabb);
        bench.each(1, |lane| 4 * lane as u32);
        bench.each(4, |_| 0x1234_5678);
        let load = spelt(generation, "buffer_load_sbyte_d16_hi", "buffer_load_d16_hi_i8");
        bench.ok(&format!("{load} v4, v1, s[8:11], {} offen", none(generation)));
        assert_eq!((bench.lane(0, 4), bench.lane(1, 4)), (0xffbb_5678, 0x5678), "{generation}");
    }
}

/// The buffer that the calling convention of CDNA 1 and 2 and RDNA 1 and 2 passes for private memory.
#[test]
fn swizzled_buffers_and_scratch_instructions_see_the_same_bytes() {
    for generation in [Cdna1, Cdna2, Rdna1, Rdna2] {
        for &lanes in generation.wave_sizes() {
            let mut bench = Bench::with_lanes(generation, lanes);
            let base = bench.base;
            bench.fill();
            let desc = Desc { element: 4, add_lane: true, records: 0xffff_ffff, bounds: 2, ..Desc::default() };
            describe(&mut bench, base, desc);
            bench.wave.set_scratch(base + 1024, 12);
            bench.wave.set_flat_scratch(base + 1024);
            bench.sgpr64(102, base + 1024);
            bench.wave.set_sgpr(12, 1024);
            for dword in 0..2 {
                bench.each(4 + dword, |lane| 0x1000 * dword as u32 + lane as u32);
            }
            bench.each(1, |_| 4);
            bench.ok("buffer_store_dwordx2 v[4:5], v1, s[8:11], s12 offen");
            bench.ok("buffer_store_byte v4, off, s[8:11], s12 offset:3");
            bench.ok("scratch_load_dwordx3 v[6:8], v0, off");
            for lane in 0..lanes as usize {
                assert_eq!(bench.lane(lane, 6) >> 24, lane as u32, "{generation} {lane}");
                assert_eq!(bench.lane(lane, 7), lane as u32, "{generation} {lane}");
                assert_eq!(bench.lane(lane, 8), 0x1000 + lane as u32, "{generation} {lane}");
            }
        }
    }
}

#[test]
fn swizzled_arrays_of_structures() {
    // Dwords of records of 16 bytes, in blocks of as many records as a wave has lanes.
    for &generation in Generation::all() {
        let mut bench = Bench::new(generation);
        let bytes = bench.fill();
        let base = bench.base;
        let element = if generation == Cdna5 { 16 } else { 4 };
        let records = 128;
        let desc = Desc { stride: 16, records, element, bounds: 0, ..Desc::default() };
        describe(&mut bench, base, desc);
        let lanes = bench.lanes();
        bench.each(2, |lane| (lane * 3 % 50) as u32);
        bench.each(3, |lane| 4 * (lane as u32 % 4));
        let load = spelt(generation, "buffer_load_dword", "buffer_load_b32");
        bench.ok(&format!("{load} v4, v[2:3], s[8:11], {} idxen offen", none(generation)));
        for lane in 0..lanes {
            let (index, offset) = (lane * 3 % 50, 4 * (lane % 4));
            let block = lanes;
            let at = match element {
                4 => (index / block * 16 + offset) * block + index % block * 4,
                _ => index * 16 + offset,
            };
            assert_eq!(bench.lane(lane, 4), word(&bytes, at), "{generation} {lane}");
        }
    }
}

#[test]
fn formats_convert_both_ways() {
    for &generation in Generation::all().iter().filter(|generation| **generation != Cdna5) {
        let mut bench = Bench::new(generation);
        let base = bench.base;
        // 8_8_8_8_UNORM by its number of RDNA 1, of RDNA 3, and as data and number format.
        let desc = Desc { stride: 4, records: 64, format: Some((56, 42, 10, 0)), ..Desc::default() };
        describe(&mut bench, base, desc);
        bench.write(0, 0xff33_0080);
        bench.each(2, |lane| lane as u32);
        let none = none(generation);
        bench.ok(&format!("buffer_load_format_xyzw v[4:7], v2, s[8:11], {none} idxen"));
        let got: Vec<f32> = (4..8).map(|at| f32::from_bits(bench.lane(0, at))).collect();
        assert_eq!(got, [128.0 / 255.0, 0.0, 0.2, 1.0], "{generation}");
        let half = spelt(generation, "buffer_load_format_d16_xyz", "buffer_load_d16_format_xyz");
        bench.ok(&format!("{half} v[4:5], v2, s[8:11], {none} idxen"));
        // 0.2 in 16 bits is 0x3266.
        assert_eq!((bench.lane(0, 4) >> 16, bench.lane(0, 5) & 0xffff), (0, 0x3266), "{generation}");
        bench.each(4, |_| 1.5f32.to_bits());
        bench.each(5, |_| (-1f32).to_bits());
        bench.each(6, |_| 0.5f32.to_bits());
        bench.each(7, |_| f32::NAN.to_bits());
        bench.ok(&format!("buffer_store_format_xyzw v[4:7], v2, s[8:11], {none} idxen"));
        assert_eq!(bench.read(0), 0x0080_00ff, "{generation}: clamped; a half rounds to even");
        // Typed: 16_16_SINT.
        describe(&mut bench, base, Desc { records: 64, bounds: 3, ..Desc::default() });
        bench.write(8, 0x8000_7fff);
        bench.each(3, |_| 8);
        let format = match generation {
            Cdna1 | Cdna2 | Cdna3 | Cdna4 => "[BUF_DATA_FORMAT_16_16,BUF_NUM_FORMAT_SINT]",
            _ => "[BUF_FMT_16_16_SINT]",
        };
        bench.ok(&format!("tbuffer_load_format_xyz v[4:6], v3, s[8:11], {none} format:{format} offen"));
        assert_eq!((bench.lane(0, 4), bench.lane(0, 5), bench.lane(0, 6)), (0x7fff, 0xffff_8000, 0), "{generation}");
        bench.each(4, |_| 5);
        bench.each(5, |_| -6i32 as u32);
        bench.ok(&format!("tbuffer_store_format_xy v[4:5], v3, s[8:11], {none} format:{format} offen"));
        assert_eq!(bench.read(8), 0xfffa_0005, "{generation}");
    }
}

#[test]
fn buffers_go_to_the_data_share() {
    for generation in [Cdna1, Cdna2, Cdna3, Cdna4, Rdna1, Rdna2] {
        let mut bench = Bench::new(generation);
        let bytes = bench.fill();
        let base = bench.base;
        describe(&mut bench, base, Desc { records: 4096, bounds: 3, ..Desc::default() });
        bench.each(1, |lane| 20 * lane as u32);
        bench.wave.set_m0(64);
        bench.ok("buffer_load_dword v1, s[8:11], 0 offen offset:4 lds");
        // The offset has no sign.
        let fault = bench.fault("buffer_load_dword v1, s[8:11], 0 offen offset:2052 lds");
        assert_eq!((fault.address, fault.lane), (64 + 2052, Some(0)), "{generation}");
        for lane in 0..bench.lanes() {
            assert_eq!(bench.lds.words()[17 + lane], word(&bytes, 20 * lane + 4), "{generation} {lane}");
        }
    }
}

#[test]
fn scalar_buffers_read_zero_beyond_their_end() {
    for &generation in Generation::all() {
        let mut bench = Bench::new(generation);
        let bytes = bench.fill();
        let base = bench.base;
        describe(&mut bench, base + 32, Desc { records: 24, ..Desc::default() });
        let load = spelt(generation, "s_buffer_load_dwordx4", "s_buffer_load_b128");
        bench.ok(&format!("{load} s[16:19], s[8:11], 0x10"));
        let got: Vec<u32> = (16..20).map(|at| bench.wave.sgpr(at)).collect();
        assert_eq!(got, [word(&bytes, 48), word(&bytes, 52), 0, 0], "{generation}");
        // Strides multiply the count.
        describe(&mut bench, base + 32, Desc { records: 3, stride: 8, ..Desc::default() });
        bench.ok(&format!("{load} s[16:19], s[8:11], 0x10"));
        let got: Vec<u32> = (16..20).map(|at| bench.wave.sgpr(at)).collect();
        assert_eq!(got, [word(&bytes, 48), word(&bytes, 52), 0, 0], "{generation}");
    }
}

#[test]
fn atomics_on_buffers() {
    for &generation in Generation::all() {
        let mut bench = Bench::new(generation);
        let base = bench.base;
        describe(&mut bench, base, Desc { records: 16, bounds: 3, ..Desc::default() });
        bench.write(8, 100);
        bench.each(1, |lane| if lane < 4 { 8 } else { 16 });
        bench.each(4, |lane| 1 << lane.min(20));
        let (name, returns) = match generation {
            Cdna3 | Cdna4 => ("buffer_atomic_add", "sc0"),
            Rdna4 | Cdna5 => ("buffer_atomic_add_u32", "th:TH_ATOMIC_RETURN"),
            _ if renamed(generation) => ("buffer_atomic_add_u32", "glc"),
            _ => ("buffer_atomic_add", "glc"),
        };
        let none = none(generation);
        bench.ok(&format!("{name} v4, v1, s[8:11], {none} offen"));
        assert_eq!((bench.read(8), bench.lane(2, 4)), (115, 4), "{generation}");
        bench.ok(&format!("{name} v4, v1, s[8:11], {none} offen {returns}"));
        assert_eq!(bench.read(8), 130, "{generation}");
        assert_eq!((bench.lane(0, 4), bench.lane(3, 4), bench.lane(9, 4)), (115, 122, 0), "{generation}");
        assert!(is_gfx9(generation) || bench.read(16) == 0, "{generation}");
    }
}
