//! Sums of byte differences, look-ups of small elements, saturating packs.

use super::sem;
use super::small::prng;
use super::valu::sad_bytes;
use crate::exec::lanes::Run;

sem! { LINES:
    V_QSAD_PK_U16_U8 => map(u64, u32, u64 => u64; |a, b, c| four_sums(a, b, c, |_| true));
    V_MQSAD_PK_U16_U8 => map(u64, u32, u64 => u64; |a, b, c| four_sums(a, b, c, |byte| byte != 0));
    V_MQSAD_U32_U8 => map(u64, u32, Run<4> => Run<4>; |a, b, c: Run<4>| {
        Run(core::array::from_fn(|at| sad_bytes(window(a, at), b, c.0[at], |byte| byte != 0)))
    });
    V_PERM_PK16_B4_U4 => map(u32, u32, u64 => u64; |a, b, indices| {
        (0..16).fold(0, |out, at| out | element(table(a, b), 4, indices, at) << (4 * at)) as u64
    });
    V_PERM_PK16_B6_U4 => map(u32, u64, u64 => Run<3>; |a, b, indices| {
        let table = u128::from(a) << 64 | u128::from(b);
        pieces((0..16).fold(0, |out, at| out | element(table, 6, indices, at) << (6 * at)))
    });
    V_PERM_PK16_B8_U4 => map(u64, u64, u64 => Run<4>; |a, b, indices| {
        let table = u128::from(a) << 64 | u128::from(b);
        pieces((0..16).fold(0, |out, at| out | element(table, 8, indices, at) << (8 * at)))
    });
    V_SAT_PK4_I4_I8 => keep(u32 => u16; |a| {
        (0..4).fold(0, |out, at| out | (((a >> (8 * at)) as i8).clamp(-8, 7) as u16 & 15) << (4 * at))
    });
    V_SAT_PK4_U4_U8 => keep(u32 => u16; |a| {
        (0..4).fold(0, |out, at| out | u16::from(((a >> (8 * at)) as u8).min(15)) << (4 * at))
    });
    V_ASHR_PK_I8_I32 => keep(i32, i32, u32 => u16; |a, b, c| {
        let byte = |x: i32| u16::from((x >> (c & 31)).clamp(-128, 127) as u8);
        byte(a) | byte(b) << 8
    });
    V_ASHR_PK_U8_I32 => keep(i32, i32, u32 => u16; |a, b, c| {
        let byte = |x: i32| (x >> (c & 31)).clamp(0, 255) as u16;
        byte(a) | byte(b) << 8
    });
    V_PRNG_B32 => u32x1(prng);
    V_SCREEN_PARTITION_4SE_B32 => u32x1(screen_partition);
}

/// Four of the eight bytes, from a number on.
fn window(a: u64, at: usize) -> u32 {
    (a >> (8 * at)) as u32
}

fn four_sums(a: u64, b: u32, sums: u64, counts: impl Fn(u32) -> bool) -> u64 {
    (0..4).fold(0, |out, at| {
        let sum = sad_bytes(window(a, at), b, (sums >> (16 * at)) as u16 as u32, &counts);
        out | u64::from(sum as u16) << (16 * at)
    })
}

fn table(a: u32, b: u32) -> u128 {
    u128::from(a) << 32 | u128::from(b)
}

/// The table's element, of some bits, that an index of four bits names.
fn element(table: u128, bits: u32, indices: u64, at: u32) -> u128 {
    table >> (bits * (indices >> (4 * at) & 15) as u32) & ((1 << bits) - 1)
}

fn pieces<const N: usize>(value: u128) -> Run<N> {
    Run(core::array::from_fn(|at| (value >> (32 * at)) as u32))
}

/// Which of four shader engines a rectangle touches whose corners are given in tiles, two bits a coordinate: y and x of
/// the end, y and x of the start. A tile belongs to the engine `{ x[0] ^ y[1], y[0] ^ x[1] }`.
fn screen_partition(corners: u32) -> u32 {
    let coordinate = |at: u32| corners >> at & 3;
    let (y1, x1, y0, x0) = (coordinate(0), coordinate(2), coordinate(4), coordinate(6));
    let mut engines = 0;
    for y in (0..=y1.wrapping_sub(y0) & 3).map(|by| (y0 + by) & 3) {
        for x in (0..=x1.wrapping_sub(x0) & 3).map(|by| (x0 + by) & 3) {
            engines |= 1 << ((x & 1 ^ y >> 1) << 1 | (y & 1 ^ x >> 1));
        }
    }
    engines
}
