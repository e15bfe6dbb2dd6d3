//! Permutations of lanes.

use super::cross::vector;
use super::sem;
use crate::exec::lanes::Vector;
use crate::exec::{Decoded, Dst, ExecError, Flow, Wave};

sem! { LINES:
    V_PERMLANE16_B32 => control(|wave, decoded| rows(wave, decoded, |lane| lane & !15));
    V_PERMLANEX16_B32 => control(|wave, decoded| rows(wave, decoded, |lane| lane & !15 ^ 16));
    V_PERMLANE16_VAR_B32 => control(|wave, decoded| rows_by_lane(wave, decoded, |lane| lane & !15));
    V_PERMLANEX16_VAR_B32 => control(|wave, decoded| rows_by_lane(wave, decoded, |lane| lane & !15 ^ 16));
    V_PERMLANE64_B32 => control(|wave, decoded| match wave.lanes() {
        64 => gather(wave, decoded, |lane| lane ^ 32),
        _ => Ok(Flow::Next),
    });
    V_PERMLANE_BCAST_B32 => control(|wave, decoded| groups(wave, decoded, |lane, by, width| {
        lane & !(width - 1) | (by & 63) & (width - 1)
    }));
    V_PERMLANE_UP_B32 => control(|wave, decoded| groups(wave, decoded, |lane, by, width| {
        if lane & (width - 1) < by { lane } else { lane - by }
    }));
    V_PERMLANE_DOWN_B32 => control(|wave, decoded| groups(wave, decoded, |lane, by, width| {
        if (lane & (width - 1)).saturating_add(by) < width { lane + by } else { lane }
    }));
    V_PERMLANE_XOR_B32 => control(|wave, decoded| {
        let lanes = wave.lanes() as usize;
        groups(wave, decoded, move |lane, mask, width| {
            let from = lane ^ (mask & 63);
            // A lane above the group reads itself.
            if mask >= lanes || from >= (lane & !(width - 1)) + width { lane } else { from }
        })
    });
    V_PERMLANE_IDX_GEN_B32 => indexed(|lane, a, width| {
        let mask = width.wrapping_sub(1);
        ((a & 63 & mask).wrapping_add(lane & !mask)) << 2
    });
    V_PERMLANE16_SWAP_B32 => control(|wave, decoded| swap_parts(wave, decoded, 16));
    V_PERMLANE32_SWAP_B32 => control(|wave, decoded| swap_parts(wave, decoded, 32));
}

/// Writes the active lanes from other lanes of source 0, whether those are active or not.
fn gather(wave: &mut Wave, decoded: &Decoded, from: impl Fn(usize) -> usize) -> Result<Flow, ExecError> {
    let Dst::Vector(first, _) = decoded.dst else { return Err(ExecError::Operand(decoded.op)) };
    let values = *wave.vector(vector(decoded.sources[0], decoded)?);
    let moved: Vector = core::array::from_fn(|lane| values[from(lane) & (wave.lanes() as usize - 1)]);
    wave.write_lanes(usize::from(first), &moved);
    Ok(Flow::Next)
}

/// Writes the active lanes from lanes of source 0. What is read of a lane that is off is 0, or nothing is written;
/// unless the instruction fetches from such lanes too.
fn gather_active(wave: &mut Wave, decoded: &Decoded, from: impl Fn(usize) -> usize) -> Result<Flow, ExecError> {
    let Dst::Vector(first, _) = decoded.dst else { return Err(ExecError::Operand(decoded.op)) };
    let (fetch_inactive, bound_ctrl) = (decoded.modifiers.op_sel & 1 != 0, decoded.modifiers.op_sel & 2 != 0);
    let values = *wave.vector(vector(decoded.sources[0], decoded)?);
    let (old, exec) = (*wave.vector(usize::from(first)), wave.exec());
    let moved: Vector = core::array::from_fn(|lane| {
        let from = from(lane) & (wave.lanes() as usize - 1);
        match (fetch_inactive || exec >> from & 1 != 0, bound_ctrl) {
            (true, _) => values[from],
            (false, true) => 0,
            (false, false) => old[lane],
        }
    });
    wave.write_lanes(usize::from(first), &moved);
    Ok(Flow::Next)
}

/// Each lane reads the lane of a row that four bits of two scalars name.
fn rows(wave: &mut Wave, decoded: &Decoded, row: impl Fn(usize) -> usize) -> Result<Flow, ExecError> {
    let [_, low, high] = decoded.sources.map(|source| wave.scalar(source, 1));
    let selectors = high << 32 | low & 0xffff_ffff;
    gather_active(wave, decoded, |lane| row(lane) + (selectors >> (4 * (lane & 15)) & 15) as usize)
}

/// Each lane reads the lane of a row that its own selector names.
fn rows_by_lane(wave: &mut Wave, decoded: &Decoded, row: impl Fn(usize) -> usize) -> Result<Flow, ExecError> {
    let selectors = *wave.vector(vector(decoded.sources[1], decoded)?);
    gather_active(wave, decoded, |lane| row(lane) + (selectors[lane] & 15) as usize)
}

/// Moves within groups of lanes: `f(lane, second source, width of a group)`.
fn groups(wave: &mut Wave, decoded: &Decoded, f: impl Fn(usize, usize, usize) -> usize) -> Result<Flow, ExecError> {
    let [_, by, width] = decoded.sources.map(|source| wave.scalar(source, 1) as u32 as usize);
    // Other widths are undefined; here the next lower power of two holds.
    let width = if width == 0 { 1 } else { 1 << width.ilog2() }.min(wave.lanes() as usize);
    gather(wave, decoded, |lane| f(lane, by, width))
}

/// Swaps odd parts, of some lanes each, of the destination with even parts of the source.
fn swap_parts(wave: &mut Wave, decoded: &Decoded, part: usize) -> Result<Flow, ExecError> {
    let Dst::Vector(first, _) = decoded.dst else { return Err(ExecError::Operand(decoded.op)) };
    let (first, second) = (usize::from(first), vector(decoded.sources[0], decoded)?);
    let (a, b) = (*wave.vector(first), *wave.vector(second));
    let odd = |lane: usize| lane & part != 0;
    let into_first: Vector = core::array::from_fn(|lane| if odd(lane) { b[lane - part] } else { a[lane] });
    let into_second: Vector = core::array::from_fn(|lane| if odd(lane) { b[lane] } else { a[(lane + part) & 63] });
    wave.write_lanes(first, &into_first);
    wave.write_lanes(second, &into_second);
    Ok(Flow::Next)
}
