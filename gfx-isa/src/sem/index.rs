//! Registers whose number is computed: moves by `M0`, indexing modes, and parts of vector registers that wide files have.

use super::cross::vector;
use super::sem;
use crate::exec::{Decoded, Dst, ExecError, Flow, Mode, Src, Wave, slot};

sem! { LINES:
    S_MOVRELS_B32 => control(scalar_source);
    S_MOVRELS_B64 => control(scalar_source);
    S_MOVRELD_B32 => control(scalar_destination);
    S_MOVRELD_B64 => control(scalar_destination);
    S_MOVRELSD_2_B32 => control(scalar_both);
    V_MOVRELS_B32 => control(|wave, decoded| {
        let offset = wave.m0();
        vector_move(wave, decoded, offset, 0)
    });
    V_MOVRELD_B32 => control(|wave, decoded| {
        let offset = wave.m0();
        vector_move(wave, decoded, 0, offset)
    });
    V_MOVRELSD_B32 => control(|wave, decoded| {
        let offset = wave.m0();
        vector_move(wave, decoded, offset, offset)
    });
    V_MOVRELSD_2_B32 => control(|wave, decoded| {
        let (source, destination) = two_offsets(wave);
        vector_move(wave, decoded, source, destination)
    });
    V_SWAPREL_B32 => control(vector_swap);

    S_SET_GPR_IDX_ON => control(|wave, decoded| {
        let mask = wave.scalar(decoded.sources[1], 1) as u32 & 15;
        wave.set_mode(Mode(wave.mode().0 | Mode::GPR_IDX_EN));
        set_index(wave, decoded, 0xf0ff, mask << 12)
    });
    S_SET_GPR_IDX_OFF => control(|wave, _| {
        wave.set_mode(Mode(wave.mode().0 & !Mode::GPR_IDX_EN));
        Ok(Flow::Next)
    });
    S_SET_GPR_IDX_IDX => control(|wave, decoded| set_index(wave, decoded, 0xff, 0));
    S_SET_GPR_IDX_MODE => control(|wave, decoded| {
        let mask = wave.scalar(decoded.sources[0], 1) as u32 & 15;
        wave.set_m0(wave.m0() & !0xf000 | mask << 12);
        Ok(Flow::Next)
    });
    S_SETVSKIP => control(|wave, decoded| {
        let (bits, at) = (wave.scalar(decoded.sources[0], 1), wave.scalar(decoded.sources[1], 1) & 31);
        let skip = if bits >> at & 1 != 0 { Mode::VSKIP } else { 0 };
        wave.set_mode(Mode(wave.mode().0 & !Mode::VSKIP | skip));
        Ok(Flow::Next)
    });
    S_SET_VGPR_MSB => control(|wave, decoded| {
        // Source 0 is lowest here, the destination lowest in the mode.
        let bits = wave.scalar(decoded.sources[0], 1) as u32;
        let msb = (bits >> 6 & 3) | (bits & 0x3f) << 2;
        wave.set_mode(Mode(wave.mode().0 & !Mode::VGPR_MSB | msb << Mode::VGPR_MSB.trailing_zeros()));
        Ok(Flow::Next)
    });
}

/// Sets the index, and the bits of `M0` outside it that `cleared` has.
fn set_index(wave: &mut Wave, decoded: &Decoded, cleared: u32, bits: u32) -> Result<Flow, ExecError> {
    let index = wave.scalar(decoded.sources[0], 1) as u32 & 0xff;
    wave.set_m0(wave.m0() & !cleared | index | bits);
    Ok(Flow::Next)
}

/// Offsets of source and destination in `M0`.
fn two_offsets(wave: &Wave) -> (u32, u32) {
    (wave.m0() & 0x3ff, wave.m0() >> 16 & 0x3ff)
}

/// A scalar register some places behind one, where the operand's registers exist there.
fn behind(first: u8, offset: u32, count: u8) -> Option<u8> {
    let moved = u32::from(first).checked_add(offset)?;
    (moved + u32::from(count) <= u32::from(slot::TTMP)).then_some(moved as u8)
}

/// The source, moved; of registers that do not exist the first one.
fn moved_source(wave: &Wave, decoded: &Decoded, offset: u32, count: u8) -> u64 {
    match decoded.sources[0] {
        Src::Scalar(first) => wave.scalar(Src::Scalar(behind(first, offset, count).unwrap_or(0)), count),
        other => wave.scalar(other, count),
    }
}

fn scalar_source(wave: &mut Wave, decoded: &Decoded) -> Result<Flow, ExecError> {
    if let Dst::Scalar(first, count) = decoded.dst {
        let value = moved_source(wave, decoded, wave.m0(), count);
        wave.set_scalar(first, count, value);
    }
    Ok(Flow::Next)
}

fn scalar_destination(wave: &mut Wave, decoded: &Decoded) -> Result<Flow, ExecError> {
    if let Dst::Scalar(first, count) = decoded.dst
        && let Some(moved) = behind(first, wave.m0(), count)
    {
        let value = wave.scalar(decoded.sources[0], count);
        wave.set_scalar(moved, count, value);
    }
    Ok(Flow::Next)
}

fn scalar_both(wave: &mut Wave, decoded: &Decoded) -> Result<Flow, ExecError> {
    let (source, destination) = two_offsets(wave);
    if let Dst::Scalar(first, count) = decoded.dst
        && let Some(moved) = behind(first, destination, count)
    {
        let value = moved_source(wave, decoded, source, count);
        wave.set_scalar(moved, count, value);
    }
    Ok(Flow::Next)
}

/// A vector register some places behind one; none where there is none.
fn vector_behind(wave: &Wave, first: usize, offset: u32) -> Option<usize> {
    let moved = first.checked_add(offset as usize)?;
    (moved < wave.vector_registers()).then_some(moved)
}

fn vector_move(wave: &mut Wave, decoded: &Decoded, source: u32, destination: u32) -> Result<Flow, ExecError> {
    let Dst::Vector(first, _) = decoded.dst else { return Err(ExecError::Operand(decoded.op)) };
    if let Some(to) = vector_behind(wave, usize::from(first), destination) {
        let values = match decoded.sources[0] {
            // Of registers that do not exist the first one.
            Src::Vector(from) => *wave.vector(vector_behind(wave, usize::from(from), source).unwrap_or(0)),
            scalar => [wave.scalar(scalar, 1) as u32; 64],
        };
        wave.write_lanes(to, &values);
    }
    Ok(Flow::Next)
}

fn vector_swap(wave: &mut Wave, decoded: &Decoded) -> Result<Flow, ExecError> {
    let Dst::Vector(first, _) = decoded.dst else { return Err(ExecError::Operand(decoded.op)) };
    let (source, destination) = two_offsets(wave);
    let from = vector_behind(wave, vector(decoded.sources[0], decoded)?, source);
    let to = vector_behind(wave, usize::from(first), destination);
    if let (Some(from), Some(to)) = (from, to) {
        let (a, b) = (*wave.vector(from), *wave.vector(to));
        wave.write_lanes(to, &a);
        wave.write_lanes(from, &b);
    }
    Ok(Flow::Next)
}
