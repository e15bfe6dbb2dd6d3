//! Loads that transpose: lanes read rows of a matrix and get columns.
//!
//! Sixteen lanes hold a block of rows with 16 elements each, a lane as many neighbours as its registers take. Each lane
//! gets the elements of its own column, in the order of the rows. Which lane has which part of which row is in the
//! manuals: CDNA 4 (11.4), CDNA 5 (10.9.2 with its figure, 11.2.4), RDNA 4 (11.6.2). `EXEC` must be all ones.

use super::super::error::ExecError;
use super::super::lanes::Vector;
use super::super::state::Wave;
use super::Env;
use super::access::{Access, rows_mut};
use crate::Generation;
use crate::sem::mem::{Action, Part};

/// Lanes of a block, and elements of one of its rows.
const BLOCK: usize = 16;

impl Access {
    /// Loads as without the transposition, then moves the elements between the lanes.
    pub(super) fn run_transposed(&self, wave: &mut Wave, env: &mut Env) -> Result<(), ExecError> {
        let (Action::Load(size, Part::Transposed(bits)), Some(dst)) = (self.action, self.dst) else { return Ok(()) };
        let plain = Access { action: Action::Load(size, Part::Whole), ..self.clone() };
        let (exec, lanes) = (wave.exec(), wave.lanes() as usize);
        let source = if wave.generation() == Generation::Cdna4 { row_by_row } else { half_by_half };
        plain.run(wave, env)?;
        if exec != 0 {
            let registers = rows_mut(&mut wave.vgprs, dst, size.dwords());
            for first in (0..lanes).step_by(BLOCK) {
                transpose(registers, first, u32::from(bits), source);
            }
        }
        Ok(())
    }
}

/// The lane of a block that has an element of a row, and the element's number there; `count` are a lane's.
type Source = fn(row: usize, column: usize, count: usize, bits: u32) -> (usize, usize);

/// CDNA 4: the lanes of a row are neighbours.
fn row_by_row(row: usize, column: usize, count: usize, _: u32) -> (usize, usize) {
    (BLOCK / count * row + column / count, column % count)
}

/// RDNA 4 and CDNA 5, as the figure shows: of 16 bits eight rows' first halves, then their second ones; of 8 bits the same
/// with four rows, twice; of 6 bits the fours of rows change places; of 4 bits a row a lane.
fn half_by_half(row: usize, column: usize, count: usize, bits: u32) -> (usize, usize) {
    let half = column / 8;
    let lane = match bits {
        16 => row | half << 3,
        8 => row & 3 | (row & 4) << 1 | half << 2,
        6 => row & 3 | (row & 4) << 1 | (row & 8) >> 1,
        _ => row,
    };
    (lane, column % count)
}

/// Transposes the block of the lanes from `first` on.
fn transpose(registers: &mut [Vector], first: usize, bits: u32, source: Source) {
    let count = (registers.len() * 32) / bits as usize;
    let lanes: [u128; BLOCK] = core::array::from_fn(|lane| {
        registers.iter().rev().fold(0, |all, row| all << 32 | u128::from(row[(first + lane) & 63]))
    });
    let mask = (1u128 << bits) - 1;
    for column in 0..BLOCK {
        let mut all = 0;
        for row in 0..count {
            let (lane, element) = source(row, column, count, bits);
            all |= (lanes[lane % BLOCK] >> (bits * element as u32) & mask) << (bits * row as u32);
        }
        for (at, register) in registers.iter_mut().enumerate() {
            register[(first + column) & 63] = (all >> (32 * at)) as u32;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::vec::Vec;

    use super::*;

    /// Where memory has the elements: for each of 16 lanes its row, or the numbers of its rows, and first column.
    fn check(bits: u32, dwords: usize, source: Source, places: &[(usize, usize)], rows: &[usize]) {
        let count = dwords * 32 / bits as usize;
        let element = |row: usize, column: usize| (row * 7 + column * 3 + 1) as u128 & ((1 << bits) - 1);
        let mut registers = std::vec![[0u32; 64]; dwords];
        for (lane, &(row, column)) in places.iter().enumerate() {
            let all = (0..count).fold(0u128, |all, at| {
                // Lanes with several rows have them one after the other.
                let at_column = column + at;
                all | element(row + at_column / BLOCK, at_column % BLOCK) << (bits as usize * at)
            });
            for (at, register) in registers.iter_mut().enumerate() {
                register[16 + lane] = (all >> (32 * at)) as u32;
            }
        }
        transpose(&mut registers, 16, bits, source);
        for column in 0..BLOCK {
            let all = registers.iter().rev().fold(0u128, |all, row| all << 32 | u128::from(row[16 + column]));
            for (at, &row) in rows.iter().enumerate() {
                let got = all >> (bits as usize * at) & ((1 << bits) - 1);
                assert_eq!(got, element(row, column), "{bits} bits: row {row} of column {column}");
            }
        }
    }

    #[test]
    fn rows_of_cdna4_become_columns() {
        for (bits, dwords) in [(16, 2), (8, 2), (6, 3), (4, 2)] {
            let count = dwords * 32 / bits as usize;
            let places: Vec<_> = (0..BLOCK).map(|lane| (lane * count / BLOCK, lane * count % BLOCK)).collect();
            check(bits, dwords, row_by_row, &places, &(0..count).collect::<Vec<_>>());
        }
    }

    #[test]
    fn rows_of_the_figure_become_columns() {
        let lanes = |parts: &[(usize, usize, usize)]| -> Vec<(usize, usize)> {
            parts.iter().flat_map(|&(row, column, count)| (row..row + count).map(move |row| (row, column))).collect()
        };
        let eight: Vec<_> = (0..8).collect();
        check(16, 4, half_by_half, &lanes(&[(0, 0, 8), (0, 8, 8)]), &eight);
        check(8, 2, half_by_half, &lanes(&[(0, 0, 4), (0, 8, 4), (4, 0, 4), (4, 8, 4)]), &eight);
        let sixteen: Vec<_> = (0..16).collect();
        check(6, 3, half_by_half, &lanes(&[(0, 0, 4), (8, 0, 4), (4, 0, 4), (12, 0, 4)]), &sixteen);
        let rows: Vec<_> = (0..8).chain(16..24).collect();
        check(4, 2, half_by_half, &lanes(&[(0, 0, 8), (16, 0, 8)]), &rows);
    }
}
