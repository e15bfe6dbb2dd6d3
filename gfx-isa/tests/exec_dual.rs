//! Dual-issue words: both halves read before either writes.

#[path = "exec/support.rs"]
mod support;

use gfx_isa::Generation;
use gfx_isa::exec::Wave;
use support::*;

const DUAL: [Generation; 4] = [Generation::Rdna3, Generation::Rdna3_5, Generation::Rdna4, Generation::Cdna5];

fn floats(wave: &mut Wave, values: &[(usize, f32)]) {
    for &(register, value) in values {
        fill(wave, register, &[value.to_bits()]);
    }
}

#[test]
fn halves_read_before_either_writes() {
    for generation in DUAL {
        // X writes what Y reads, Y writes what X reads, both, none.
        for (text, expected) in [
            ("v_dual_mov_b32 v2, 0 :: v_dual_add_nc_u32 v1, v2, v2", (200, 0)),
            ("v_dual_add_f32 v2, v1, v3 :: v_dual_mov_b32 v1, 7", (7, 0x4040_0000)),
            ("v_dual_mov_b32 v1, v2 :: v_dual_mov_b32 v2, v1", (100, 0x3f80_0000)),
            ("v_dual_mov_b32 v1, v3 :: v_dual_mov_b32 v2, v4", (0x4000_0000, 44)),
        ] {
            let mut wave = wave(generation);
            floats(&mut wave, &[(1, 1.0), (3, 2.0)]);
            fill(&mut wave, 2, &[100]);
            fill(&mut wave, 4, &[44]);
            exec(&mut wave, text);
            assert_eq!((wave.vgpr(5, 1), wave.vgpr(5, 2)), expected, "{generation} {text}");
        }
    }
}

#[test]
fn literals_are_shared_and_accumulators_read() {
    for generation in DUAL {
        let mut wave = wave(generation);
        floats(&mut wave, &[(0, 2.0), (1, 3.0), (3, 1.0), (6, 0.5)]);
        exec(&mut wave, "v_dual_fmaak_f32 v2, v0, v1, 0x41200000 :: v_dual_fmac_f32 v3, v1, v6");
        assert_eq!(wave.vgpr(0, 2), 16f32.to_bits(), "{generation}");
        assert_eq!(wave.vgpr(0, 3), 2.5f32.to_bits(), "{generation}");
        exec(&mut wave, "v_dual_fmamk_f32 v2, v0, 0x41200000, v1 :: v_dual_mul_f32 v3, 0x41200000, v6");
        assert_eq!(wave.vgpr(0, 2), 23f32.to_bits(), "{generation}");
        assert_eq!(wave.vgpr(0, 3), 5f32.to_bits(), "{generation}");
        exec(&mut wave, "v_dual_mov_b32 v2, s1 :: v_dual_fmaak_f32 v3, v0, v1, 0x41200000");
        assert_eq!(wave.vgpr(0, 3), 16f32.to_bits(), "{generation}");
    }
}

#[test]
fn conditional_moves_take_vcc_or_a_scalar() {
    for generation in DUAL {
        let mut wave = wave(generation);
        fill(&mut wave, 2, &[2]);
        fill(&mut wave, 3, &[3]);
        fill(&mut wave, 6, &[3]);
        wave.set_vcc(0x5);
        exec(&mut wave, "v_dual_cndmask_b32 v0, v2, v3 :: v_dual_cndmask_b32 v1, 7, v6");
        assert_eq!(lanes(&wave, 0)[..4], [3, 2, 3, 2], "{generation}");
        assert_eq!(lanes(&wave, 1)[..4], [3, 7, 3, 7], "{generation}");
    }
    let mut wave = wave(Generation::Cdna5);
    fill(&mut wave, 2, &[2]);
    fill(&mut wave, 3, &[3]);
    fill(&mut wave, 5, &[5]);
    wave.set_sgpr(9, 0xffff_0000);
    exec(&mut wave, "v_dual_cndmask_b32 v1, v2, v3, s9 :: v_dual_mov_b32 v4, v5");
    assert_eq!((wave.vgpr(15, 1), wave.vgpr(16, 1), wave.vgpr(0, 4)), (2, 3, 5));
}

#[test]
fn lanes_that_are_off_keep_their_values() {
    for generation in DUAL {
        let mut wave = wave(generation);
        wave.set_exec(0b10);
        exec(&mut wave, "v_dual_mov_b32 v0, 1 :: v_dual_mov_b32 v1, 2");
        assert_eq!((lanes(&wave, 0)[..3].to_vec(), lanes(&wave, 1)[..3].to_vec()), (vec![0, 1, 0], vec![0, 2, 0]));
    }
}

#[test]
fn waves_of_64_do_not_have_them() {
    // v_dual_mov_b32 v0, v1 :: v_dual_mov_b32 v1, v2
    let bytes: Vec<u8> = hex("01 01 10 ca 02 01 00 00").iter().flat_map(|word| word.to_le_bytes()).collect();
    let decoded = |lanes| gfx_isa::Decoder::new(Generation::Rdna3, &bytes).wave_size(lanes).next().expect("not empty");
    assert!(decoded(32).is_ok() && decoded(64).is_err());
}

#[test]
fn three_source_words_have_signs_doubles_and_integers() {
    let mut wave = wave(Generation::Cdna5);
    let double = |wave: &mut Wave, register: usize, value: f64| {
        fill(wave, register, &[value.to_bits() as u32]);
        fill(wave, register + 1, &[(value.to_bits() >> 32) as u32]);
    };
    for (register, value) in [(8, 3.0), (12, 5.0), (18, 0.25)] {
        double(&mut wave, register, value);
    }
    fill(&mut wave, 2, &[0xf000_0000]);
    fill(&mut wave, 3, &[4]);
    let read =
        |wave: &Wave, at: usize| f64::from_bits(u64::from(wave.vgpr(1, at + 1)) << 32 | u64::from(wave.vgpr(1, at)));
    exec(&mut wave, "v_dual_fma_f64 v[20:21], v[8:9], -v[12:13], v[18:19] :: v_dual_ashrrev_i32 v22, v3, v2");
    assert_eq!((read(&wave, 20), wave.vgpr(1, 22)), (-14.75, 0xff00_0000));
    exec(&mut wave, "v_dual_max_num_f64 v[20:21], v[8:9], v[12:13] :: v_dual_lshrrev_b32 v22, v3, v2");
    assert_eq!((read(&wave, 20), wave.vgpr(1, 22)), (5.0, 0x0f00_0000));
    exec(&mut wave, "v_dual_min_num_f64 v[20:21], -v[8:9], v[12:13] :: v_dual_max_i32 v22, v3, v2");
    assert_eq!((read(&wave, 20), wave.vgpr(1, 22)), (-3.0, 4));
    exec(&mut wave, "v_dual_add_f64 v[20:21], v[8:9], v[12:13] :: v_dual_min_i32 v22, v3, v2");
    assert_eq!((read(&wave, 20), wave.vgpr(1, 22)), (8.0, 0xf000_0000));
    exec(&mut wave, "v_dual_mul_f64 v[20:21], v[8:9], v[12:13] :: v_dual_sub_nc_u32 v22, v3, v2");
    assert_eq!((read(&wave, 20), wave.vgpr(1, 22)), (15.0, 0x1000_0004));
    fill(&mut wave, 1, &[0b1100]);
    fill(&mut wave, 3, &[0b1010]);
    exec(&mut wave, "v_dual_lshlrev_b32 v20, v3, v1 :: v_dual_bitop2_b32 v7, v1, v3 bitop3:0x14");
    // Rows of the table with a third source of 0: 000, 010, 100, 110; the table has the rows 010 and 100.
    assert_eq!((wave.vgpr(1, 20), wave.vgpr(1, 7)), (0b1100 << 10, 0b0110));
}
