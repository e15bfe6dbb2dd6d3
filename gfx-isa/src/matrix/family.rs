//! The layouts, one description for each family of matrix cores.
//!
//! CDNA 1 to 4: "General input and output layout" of AMD's manuals. RDNA 3 and 4, CDNA 5: "Matrix Element Storage in
//! VGPRs". What the manuals leave open was taken from AMD's matrix instruction calculator (RDNA 4's sparse matrices) and
//! from kernels that run on hardware (CDNA 4's 8-bit operands, CDNA 5's sparse 8-bit ones).

use super::layout::{Axis, Layout, To};
use super::op::Name;
use super::{Format, Matrix, MatrixOp, Shape};
use crate::Generation;

/// Matrix cores that keep matrices alike.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Family {
    /// CDNA 1 to 4.
    Mfma,
    /// RDNA 3 and 3.5: each lane holds whole rows of A and columns of B, and each half of the wave all of them.
    Wmma11,
    /// RDNA 4.
    Wmma12,
    /// CDNA 5.
    Wmma125,
}

pub(super) fn of(generation: Generation) -> Option<Family> {
    use Generation::{Cdna1, Cdna2, Cdna3, Cdna4, Cdna5, Rdna3, Rdna3_5, Rdna4};
    match generation {
        Cdna1 | Cdna2 | Cdna3 | Cdna4 => Some(Family::Mfma),
        Rdna3 | Rdna3_5 => Some(Family::Wmma11),
        Rdna4 => Some(Family::Wmma12),
        Cdna5 => Some(Family::Wmma125),
        _ => None,
    }
}

/// How the values along k (or the rows of a result) are shared among lanes: runs of consecutive ones in a lane, and the
/// bits of the lane's number that count the runs, the fastest first. More runs follow in the lanes' next items.
struct Runs {
    run: u32,
    lanes: &'static [u8],
}

const fn runs(run: u32, lanes: &'static [u8]) -> Runs {
    Runs { run, lanes }
}

/// Builds layouts: items are numbered in the order in which their bits are given away.
struct Builder {
    items: u8,
}

impl Builder {
    fn item(&mut self) -> To {
        self.items += 1;
        To::Item(self.items - 1)
    }

    /// An axis along lanes from a bit on; beyond some lanes along items.
    fn across(&mut self, size: u32, from: u8, most: u32) -> Axis {
        let mut axis = Axis::NONE;
        for bit in 0..size.ilog2() as u8 {
            let to = if 1 << bit < most { To::Lane(from + bit) } else { self.item() };
            axis = axis.push(to);
        }
        axis
    }

    fn shared(&mut self, size: u32, runs: &Runs) -> Axis {
        let (bits, run) = (size.ilog2() as usize, runs.run.ilog2() as usize);
        let mut axis = Axis::NONE;
        for bit in 0..bits {
            let lane = bit.checked_sub(run).and_then(|at| runs.lanes.get(at));
            let to = lane.map_or_else(|| self.item(), |&lane| To::Lane(lane));
            axis = axis.push(to);
        }
        axis
    }
}

impl Family {
    pub(super) fn has(self, name: &Name) -> bool {
        name.mfma == (self == Family::Mfma)
    }

    pub(super) fn layout(self, op: &MatrixOp, matrix: Matrix, format: Format) -> Layout {
        let Shape { m, n, k, .. } = op.shape();
        let kept = if op.is_sparse() { k / 2 } else { k };
        match matrix {
            Matrix::A => self.input(op, m, kept, format, op.is_sparse()),
            Matrix::B => turned(self.input(op, n, k, format, false)),
            Matrix::C | Matrix::D => self.output(op, format),
            Matrix::Index => self.index(op, kept),
            Matrix::ScaleA => self.scale(op, m),
            Matrix::ScaleB => turned(self.scale(op, n)),
        }
    }

    /// A, or B with rows and columns exchanged. `packed`: the kept values of a sparse A.
    fn input(self, op: &MatrixOp, outer: u32, k: u32, format: Format, packed: bool) -> Layout {
        let bits = format.bits();
        let blocks = op.shape().blocks;
        let mut builder = Builder { items: 0 };
        let lanes = if self == Family::Mfma { outer } else { 16 };
        let runs = self.runs(op, outer, k, format, packed);
        let column = builder.shared(k, &runs);
        let row = builder.across(outer, 0, lanes);
        let block = builder.across(blocks, outer.ilog2() as u8, blocks);
        let mut layout = Layout::new(row, column, block, bits);
        if self == Family::Wmma11 {
            layout.copies = (op.lanes() / 16) as u8;
        }
        layout
    }

    /// How the values along k are shared.
    fn runs(self, op: &MatrixOp, outer: u32, k: u32, format: Format, packed: bool) -> Runs {
        let bits = format.bits();
        let wide = op.lanes() == 64;
        let sparse = op.is_sparse();
        match self {
            Family::Mfma => {
                const GROUPS: [u8; 6] = [0, 1, 2, 3, 4, 5];
                let groups = 64 / (outer * op.shape().blocks);
                let held = k / groups;
                // Registers of CDNA 4's long ones are those of two short ones.
                let run = match (op.chooses_formats(), bits) {
                    (true, 8) => 16,
                    (false, _) if sparse => held.min(if packed { 64 } else { 128 } / bits),
                    _ => held,
                };
                runs(run, &GROUPS[6 - groups.ilog2() as usize..])
            }
            Family::Wmma11 => runs(k, &[]),
            Family::Wmma12 => match (bits, wide) {
                (16, false) if sparse && !packed => runs(8, &[4]),
                (16, true) if sparse && !packed => runs(8, &[4, 5]),
                (_, false) if sparse && !packed => runs(k / 2, &[4]),
                (_, true) if sparse && !packed => runs(k / 4, &[5, 4]),
                (16, false) => runs(4, &[4]),
                (16, true) => runs(4, &[4, 5]),
                (8, false) => runs(8, &[4]),
                (8, true) => runs(4, &[5, 4]),
                // The short 4-bit one uses half of the lanes of a wave of 64.
                (_, true) if k == 32 => runs(8, &[5, 4]),
                _ => runs(k / 2, &[4]),
            },
            Family::Wmma125 => match bits {
                32 => runs(2, &[4]),
                16 if sparse && !packed => runs(16, &[4]),
                16 => runs(8, &[4]),
                8 if packed => runs(16, &[4]),
                8 if sparse => runs(32, &[4]),
                8 if op.chooses_formats() => runs(16, &[4]),
                8 => runs(8, &[4]),
                _ => runs(32, &[4]),
            },
        }
    }

    /// C and D.
    fn output(self, op: &MatrixOp, format: Format) -> Layout {
        let Shape { m, n, blocks, .. } = op.shape();
        let bits = format.bits();
        let wide = op.lanes() == 64;
        let mut builder = Builder { items: 0 };
        let column = builder.across(n, 0, n);
        if self == Family::Mfma {
            let height = if format == Format::F64 { 1 } else { 4 };
            // Blocks whose rows together fill the lanes, and lanes that a block's column takes.
            let beside = (64 / (n * m / height)).max(1);
            let groups = 64 / beside / n;
            const LANES: [u8; 6] = [0, 1, 2, 3, 4, 5];
            // Blocks of 64-bit results lie between a row's columns and the next row, others' behind the rows.
            let [n, groups, beside_bits] = [n, groups, beside].map(|size| size.ilog2() as usize);
            let (first, of_block) = if height == 1 { (n + beside_bits, n) } else { (n, n + groups) };
            let row = builder.shared(m, &Runs { run: height, lanes: &LANES[first..first + groups] });
            let block = builder.across(blocks, of_block as u8, beside);
            return Layout::new(row, column, block, bits);
        }
        let runs = match (self, wide) {
            (Family::Wmma11, false) => runs(1, &[4]),
            (Family::Wmma11, true) => runs(1, &[4, 5]),
            (_, false) => runs(8, &[4]),
            (_, true) => runs(4, &[5, 4]),
        };
        let row = builder.shared(m, &runs);
        let mut layout = Layout::new(row, column, Axis::NONE, bits);
        if self == Family::Wmma11 && bits == 16 {
            // One value a register, in the half that OP_SEL names.
            layout.stride = 32;
            (layout.sets, layout.set_bits) = (2, 16);
        }
        layout
    }

    /// The index of a sparse A: as A itself, two bits a value.
    fn index(self, op: &MatrixOp, k: u32) -> Layout {
        let m = op.shape().m;
        let a = op.format(Matrix::A).unwrap_or(Format::F16);
        let mut layout = if self == Family::Wmma125 {
            // Here each half of the wave has the indices of half of the row.
            let mut builder = Builder { items: 0 };
            let column = builder.shared(k, &Runs { run: k / 2, lanes: &[4] });
            let row = builder.across(m, 0, 16);
            Layout::new(row, column, Axis::NONE, 2)
        } else {
            let a = self.input(op, m, k, a, true);
            Layout { bits: 2, stride: 2, ..a }
        };
        let bits = 2 * layout.items();
        if bits < 32 {
            (layout.sets, layout.set_bits) = ((32 / bits) as u8, bits as u8);
        }
        layout
    }

    /// Scales of A, or of B with rows and columns exchanged: a byte each.
    fn scale(self, op: &MatrixOp, outer: u32) -> Layout {
        let count = op.shape().k / op.values_per_scale().unwrap_or(32);
        let mut builder = Builder { items: 0 };
        if self == Family::Mfma {
            let row = builder.across(outer, 0, outer);
            let column = builder.across(count, outer.ilog2() as u8, count);
            let mut layout = Layout::new(row, column, Axis::NONE, 8);
            (layout.sets, layout.set_bits) = (4, 8);
            return layout;
        }
        let column = builder.shared(count, &runs(count, &[]));
        let row = builder.across(outer, 0, outer);
        let mut layout = Layout::new(row, column, Axis::NONE, 8);
        if outer == 16 {
            (layout.sets, layout.set_lanes) = (2, 16);
        }
        layout
    }
}

fn turned(layout: Layout) -> Layout {
    Layout { row: layout.column, column: layout.row, ..layout }
}
