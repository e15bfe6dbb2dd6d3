//! Instructions that reach across lanes.

use super::sem;
use crate::exec::{Decoded, Dst, ExecError, Flow, Src, Wave};

sem! { LINES:
    V_READFIRSTLANE_B32 => control(read_first_lane);
    V_READLANE_B32 => control(read_lane);
    V_WRITELANE_B32 => control(write_lane);
    V_SWAP_B32 => control(swap);
    V_SWAP_B16 => control(swap_halves);
    V_MBCNT_LO_U32_B32 => indexed(|lane, a, b| b.wrapping_add((a & lanes_below(lane) as u32).count_ones()));
    V_MBCNT_HI_U32_B32 => indexed(|lane, a, b| b.wrapping_add((a & (lanes_below(lane) >> 32) as u32).count_ones()));
}

fn lanes_below(lane: u32) -> u64 {
    (1 << (lane & 63)) - 1
}

pub(super) fn vector(source: Src, decoded: &Decoded) -> Result<usize, ExecError> {
    match source {
        Src::Vector(register) => Ok(usize::from(register)),
        _ => Err(ExecError::Operand(decoded.op)),
    }
}

fn read(wave: &mut Wave, decoded: &Decoded, lane: usize) -> Result<Flow, ExecError> {
    let value = match decoded.sources[0] {
        Src::Vector(register) => wave.vector(usize::from(register))[lane],
        scalar => wave.scalar(scalar, 1) as u32,
    };
    if let Dst::Scalar(first, _) = decoded.dst {
        wave.set_scalar(first, 1, u64::from(value));
    }
    Ok(Flow::Next)
}

fn read_first_lane(wave: &mut Wave, decoded: &Decoded) -> Result<Flow, ExecError> {
    // With no lane on it is lane 0.
    let lane = match wave.exec() {
        0 => 0,
        exec => exec.trailing_zeros() as usize,
    };
    read(wave, decoded, lane)
}

/// The lane that the second source selects.
fn selected(wave: &Wave, decoded: &Decoded) -> usize {
    wave.scalar(decoded.sources[1], 1) as usize & (wave.lanes() as usize - 1)
}

fn read_lane(wave: &mut Wave, decoded: &Decoded) -> Result<Flow, ExecError> {
    read(wave, decoded, selected(wave, decoded))
}

fn write_lane(wave: &mut Wave, decoded: &Decoded) -> Result<Flow, ExecError> {
    let value = wave.scalar(decoded.sources[0], 1) as u32;
    let lane = selected(wave, decoded);
    if let Dst::Vector(first, _) = decoded.dst {
        wave.vector_mut(usize::from(first))[lane] = value;
    }
    Ok(Flow::Next)
}

fn swap(wave: &mut Wave, decoded: &Decoded) -> Result<Flow, ExecError> {
    let Dst::Vector(first, _) = decoded.dst else { return Err(ExecError::Operand(decoded.op)) };
    let (first, second) = (usize::from(first), vector(decoded.sources[0], decoded)?);
    let (a, b) = (*wave.vector(first), *wave.vector(second));
    wave.write_lanes(first, &b);
    wave.write_lanes(second, &a);
    Ok(Flow::Next)
}

/// Swaps 16-bit halves; bit 7 of a register's number is its upper half.
fn swap_halves(wave: &mut Wave, decoded: &Decoded) -> Result<Flow, ExecError> {
    let Dst::Vector(first, _) = decoded.dst else { return Err(ExecError::Operand(decoded.op)) };
    let place = |field: usize| (field & 0xff7f, if field & 0x80 != 0 { 16 } else { 0 });
    let ((first, to), (second, from)) = (place(first.into()), place(vector(decoded.sources[0], decoded)?));
    let (a, b) = (*wave.vector(first), *wave.vector(second));
    let put = |into: u32, at: u32, half: u32| into & !(0xffff << at) | (half & 0xffff) << at;
    let mut one: [u32; 64] = core::array::from_fn(|lane| put(a[lane], to, b[lane] >> from));
    if first == second {
        one = core::array::from_fn(|lane| put(one[lane], from, a[lane] >> to));
    } else {
        let two = core::array::from_fn(|lane| put(b[lane], from, a[lane] >> to));
        wave.write_lanes(second, &two);
    }
    wave.write_lanes(first, &one);
    Ok(Flow::Next)
}
