//! Matrix products: MFMA, SMFMAC, WMMA and SWMMAC.
//!
//! [`Job`] is an instruction in the form it runs from: where its matrices are, by runs of lanes, and which arithmetic it
//! has. Running one gathers the operands into arrays, multiplies, and scatters the result; `EXEC` counts for nothing.
//! Layouts are those of [`crate::matrix`]; the arithmetic of each family is in [`dot`] and [`rows`], and chosen in
//! [`arithmetic`] alone.

mod dot;
mod elements;
mod rows;
mod run;

use std::boxed::Box;
use std::vec::Vec;

pub(crate) use run::Scratch;

use crate::exec::lanes::Ty;
use crate::exec::{ExecError, Src, operand_source};
use crate::matrix::{Format, Matrix, MatrixOp};
use crate::{Field, Float, Generation, Inst, Op, Operand, RegFile, Registers};

/// Whether a name is one of a matrix instruction, or of a prefix that loads scales for one.
pub(super) const fn is_matrix(name: &str) -> bool {
    const STARTS: [&str; 4] = ["V_MFMA_", "V_SMFMAC_", "V_WMMA_", "V_SWMMAC_"];
    let name = name.as_bytes();
    let mut at = 0;
    while at < STARTS.len() {
        let start = STARTS[at].as_bytes();
        let mut same = name.len() > start.len();
        let mut byte = 0;
        while same && byte < start.len() {
            same = name[byte] == start[byte];
            byte += 1;
        }
        if same {
            return true;
        }
        at += 1;
    }
    false
}

/// Consecutive lanes that hold consecutive elements of a matrix, each in the same bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Run {
    register: u16,
    bit: u8,
    lane: u8,
}

/// A matrix in registers: for each block and each index along which lanes do not run, a run.
#[derive(Debug, Clone)]
struct Place {
    runs: Vec<Run>,
    /// Lanes of a run.
    width: usize,
    bits: u32,
}

/// Where an accumulator is.
#[derive(Debug, Clone)]
enum Accumulator {
    Registers(Place),
    Constant(u64),
}

/// A source of scales: registers, or a byte for all.
#[derive(Debug, Clone)]
enum Scale {
    Registers(Place),
    /// A scalar register, and the byte of it.
    Scalar(Src, u32),
    Constant(u32),
}

/// Signs and magnitudes of operands.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Signs {
    /// Negate the elements in even places, and in odd ones, of A and of B.
    even: [bool; 2],
    odd: [bool; 2],
    /// The accumulator's magnitude, and its negation.
    abs: bool,
    neg: bool,
    /// Integers of A and of B are signed.
    signed: [bool; 2],
}

/// How sums are made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Arithmetic {
    /// Fused multiply-adds, one after the other.
    Chain {
        flushes: bool,
    },
    Chain64,
    /// CDNA 1 and 2.
    Pairwise {
        group: usize,
        flush: bool,
    },
    /// CDNA 3 and 4: groups of products, and of 8 bits.
    Cdna3 {
        group: usize,
        bytes: bool,
    },
    Rdna3,
    Rdna4 {
        bytes: bool,
    },
    /// Blocks of k with scales.
    Scaled {
        block: usize,
    },
    Integer {
        clamp: bool,
    },
}

/// A matrix instruction in the form it runs from.
#[derive(Debug, Clone)]
pub(crate) struct Job {
    op: MatrixOp,
    arithmetic: Arithmetic,
    a: Place,
    b: Place,
    c: Accumulator,
    d: Place,
    index: Option<Place>,
    scales: Option<[(Scale, Format); 2]>,
    signs: Signs,
    /// Lanes that lanes of A and B are read from.
    lanes: Option<Box<[[u8; 64]; 2]>>,
    /// Whether `FP16_OVFL` makes results that overflow the largest numbers.
    overflow: bool,
}

/// The arithmetic of an instruction; see [`dot`] for what is known of it.
fn arithmetic(op: &MatrixOp, clamp: bool) -> Arithmetic {
    use Generation::{Cdna1, Cdna2, Cdna3, Cdna4, Rdna3, Rdna3_5, Rdna4};
    let format = op.format(Matrix::A).unwrap_or(Format::F32);
    let shape = op.shape();
    let kept = if op.is_sparse() { shape.k / 2 } else { shape.k } as usize;
    if op.chooses_formats() || op.values_per_scale().is_some() {
        // Not known: blocks of 32 values, the sum of each exact.
        return Arithmetic::Scaled { block: op.values_per_scale().unwrap_or(32) as usize };
    }
    match (op.generation(), format) {
        (_, Format::I8 | Format::Iu8 | Format::Iu4) => Arithmetic::Integer { clamp },
        (_, Format::F64) => Arithmetic::Chain64,
        (generation, Format::F32) => Arithmetic::Chain { flushes: generation != Generation::Cdna5 },
        (Cdna1 | Cdna2, format) => {
            let old = format == Format::Bf16 && !op.op().name().ends_with("_1K");
            Arithmetic::Pairwise { group: if old { 2 } else { 4 }, flush: op.generation() == Cdna2 }
        }
        (Cdna3 | Cdna4, Format::Xf32) => Arithmetic::Cdna3 { group: 4, bytes: false },
        (Cdna3 | Cdna4, format) => {
            let bytes = format.bits() == 8;
            Arithmetic::Cdna3 { group: kept.min(if bytes { 16 } else { 8 }), bytes }
        }
        (Rdna3 | Rdna3_5, _) => Arithmetic::Rdna3,
        (Rdna4, format) => Arithmetic::Rdna4 { bytes: format.bits() == 8 },
        // CDNA 5: not known.
        _ => Arithmetic::Chain { flushes: false },
    }
}

impl Job {
    pub(crate) fn new(inst: &Inst) -> Result<Job, ExecError> {
        let op = inst.op();
        let fault = || ExecError::Operand(op);
        let generation = inst.generation();
        let bits = |field| inst.field(field).unwrap_or(0);
        let mut matrix = MatrixOp::new(generation, op, inst.wave_size()).ok_or(ExecError::Unimplemented(op))?;
        let mfma = inst.field(Field::BLGP).is_some();
        let (op_sel, op_sel_hi) = (bits(Field::OPSEL), bits(Field::OPSEL_HI));
        let (cbsz, abid, blgp) = (bits(Field::CBSZ), bits(Field::ABID), bits(Field::BLGP));
        if matrix.chooses_formats() {
            let [a, b] = if mfma { [cbsz, blgp] } else { [op_sel, op_sel_hi & 7] };
            let formats = Format::of_f8f6f4(a & 7).zip(Format::of_f8f6f4(b & 7));
            let (a, b) = formats.ok_or_else(fault)?;
            matrix = matrix.with_formats(a, b).ok_or_else(fault)?;
        }
        let set = match (mfma, matrix.is_sparse()) {
            (true, true) => {
                if cbsz & 3 == 0 {
                    abid
                } else {
                    0
                }
            }
            (true, false) => 0,
            (false, true) => op_sel & 3,
            // Halves of 16-bit accumulators.
            (false, false) => op_sel >> 2 & 1,
        };
        let place = |kind, operand: Option<Operand>, set: u32| -> Option<Place> {
            let Some(Operand::Registers(Registers { file, first, .. })) = operand else { return None };
            let base = match file {
                RegFile::Vgpr => 0,
                RegFile::Agpr => crate::exec::VGPRS as u16,
                _ => return None,
            };
            Place::new(&matrix, kind, first, base, set)
        };
        let dst = inst.operand(Field::VDST);
        let third = inst.operand(Field::SRC2);
        let c = match (matrix.is_sparse(), third) {
            (true, _) => Accumulator::Registers(place(Matrix::C, dst, set).ok_or_else(fault)?),
            (false, operand @ Some(Operand::Registers(_))) => {
                Accumulator::Registers(place(Matrix::C, operand, set).ok_or_else(fault)?)
            }
            (false, Some(value)) => Accumulator::Constant(constant(&matrix, value).ok_or_else(fault)?),
            (false, None) => return Err(fault()),
        };
        let index = if matrix.is_sparse() { Some(place(Matrix::Index, third, set).ok_or_else(fault)?) } else { None };
        let scales = match matrix.values_per_scale() {
            None => None,
            Some(_) => {
                let scale = |at: usize| -> Option<(Scale, Format)> {
                    let (field, kind) = [(Field::SCALE_SRC0, Matrix::ScaleA), (Field::SCALE_SRC1, Matrix::ScaleB)][at];
                    let (low, high, format) = if mfma {
                        (op_sel >> at & 1, op_sel_hi >> at & 1, 0)
                    } else {
                        let select = [Field::SCALE_OPSEL, Field::SCALE_OPSEL_HI][at];
                        let format = [Field::SCALE_NEG, Field::SCALE_NEG_HI][at];
                        (bits(select) & 1, 0, bits(format) & 3)
                    };
                    let format = *[Format::E8m0, Format::E5m3, Format::E4m3].get(format as usize)?;
                    let set = low | high << 1;
                    let value = inst.operand(field)?;
                    Some((scale(value, mfma, set, || place(kind, Some(value), set))?, format))
                };
                Some([scale(0).ok_or_else(fault)?, scale(1).ok_or_else(fault)?])
            }
        };
        Ok(Job {
            op: matrix,
            arithmetic: arithmetic(&matrix, bits(Field::CLAMP) != 0),
            a: place(Matrix::A, inst.operand(Field::SRC0), 0).ok_or_else(fault)?,
            b: place(Matrix::B, inst.operand(Field::SRC1), 0).ok_or_else(fault)?,
            c,
            d: place(Matrix::D, dst, set).ok_or_else(fault)?,
            index,
            scales,
            signs: signs(inst, &matrix, mfma, blgp),
            lanes: if mfma { broadcast(&matrix, cbsz, abid, blgp) } else { None },
            overflow: !matches!(generation, Generation::Cdna1 | Generation::Cdna2),
        })
    }
}

impl Job {
    /// The instruction with its registers moved: those of the destination, and of the three sources. Scales stay.
    pub(crate) fn moved(&self, [dst, a, b, c]: [u16; 4]) -> Job {
        let mut job = self.clone();
        let accumulator = if job.op.is_sparse() { dst } else { c };
        job.a.shift(a);
        job.b.shift(b);
        job.d.shift(dst);
        if let Accumulator::Registers(place) = &mut job.c {
            place.shift(accumulator);
        }
        if let Some(index) = &mut job.index {
            index.shift(c);
        }
        job
    }
}

impl Place {
    fn shift(&mut self, by: u16) {
        self.runs.iter_mut().for_each(|run| run.register += by);
    }

    /// The runs of a matrix from a register on; none where it does not fit into the file.
    fn new(op: &MatrixOp, kind: Matrix, first: u16, file: u16, set: u32) -> Option<Place> {
        let layout = op.layout(kind)?.with_set(set);
        // Lanes run along the rows of A and what belongs to it, and along the columns of the others.
        let across = matches!(kind, Matrix::A | Matrix::Index | Matrix::ScaleA);
        let (outer, inner) = if across { (layout.columns(), layout.rows()) } else { (layout.rows(), layout.columns()) };
        let at = |block, outer, inner| {
            let (row, column) = if across { (inner, outer) } else { (outer, inner) };
            layout.place(block, row, column)
        };
        let width = inner.min(if op.generation().wave_sizes()[0] == 64 { 64 } else { 16 });
        let scales = matches!(kind, Matrix::ScaleA | Matrix::ScaleB);
        let width = if scales { inner } else { width };
        let mut runs = Vec::new();
        for block in 0..layout.blocks() {
            for outer in 0..outer {
                for inner in (0..inner).step_by(width as usize) {
                    let place = at(block, outer, inner)?;
                    let last = u32::from(first) + place.register + (place.bit + place.bits).div_ceil(32).max(1);
                    if last > crate::exec::VGPRS as u32 {
                        return None;
                    }
                    let register = file + first + place.register as u16;
                    runs.push(Run { register, bit: place.bit as u8, lane: place.lane as u8 });
                }
            }
        }
        Some(Place { runs, width: width as usize, bits: layout.bits() })
    }
}

/// An inline accumulator, the same for each element, in the accumulator's format.
fn constant(op: &MatrixOp, value: Operand) -> Option<u64> {
    let format = op.format(Matrix::C)?;
    let ty = match format {
        Format::F64 => Ty::F64,
        Format::F16 => Ty::F16,
        _ => Ty::F32,
    };
    let Some(Src::Constant(bits, _)) = operand_source(value, ty) else { return None };
    Some(match (format, value) {
        (Format::F64, _) => bits,
        // The upper half of the 32-bit float.
        (Format::Bf16, Operand::Float(_)) => bits >> 16 & 0xffff,
        (Format::F16 | Format::Bf16, _) => bits & 0xffff,
        _ => bits & 0xffff_ffff,
    })
}

/// Scales: registers, the low byte of a scalar, or a constant. Of a float constant the exponent counts; on CDNA 5, where
/// there are no scales to give, an inline 0 stands for 1.
fn scale(value: Operand, mfma: bool, set: u32, place: impl FnOnce() -> Option<Place>) -> Option<Scale> {
    Some(match value {
        Operand::Registers(Registers { file: RegFile::Vgpr | RegFile::Agpr, .. }) => Scale::Registers(place()?),
        Operand::Float(number) => Scale::Constant(exponent(number)),
        Operand::Int(0) if !mfma => Scale::Constant(127),
        Operand::Int(number) => {
            let byte = if mfma { set } else { 0 };
            Scale::Constant(i32::from(number) as u32 >> (8 * byte) & 0xff)
        }
        value => match operand_source(value, Ty::U32)? {
            Src::Constant(bits, _) => Scale::Constant(bits as u32 & 0xff),
            source => Scale::Scalar(source, if mfma { set } else { 0 }),
        },
    })
}

fn exponent(number: Float) -> u32 {
    match number {
        Float::Half | Float::NegHalf => 126,
        Float::One | Float::NegOne => 127,
        Float::Two | Float::NegTwo => 128,
        Float::Four | Float::NegFour => 129,
        Float::InvTwoPi => 124,
    }
}

fn signs(inst: &Inst, op: &MatrixOp, mfma: bool, blgp: u32) -> Signs {
    let bit = |bits: u32, at: u32| bits >> at & 1 != 0;
    let [neg, neg_hi] = [Field::NEG, Field::NEG_HI].map(|field| inst.field(field).unwrap_or(0));
    let format = op.format(Matrix::A);
    if mfma {
        // 64-bit products of CDNA 3 and 4 have their signs where others say how lanes of B move.
        let doubles = format == Some(Format::F64) && !matches!(op.generation(), Generation::Cdna1 | Generation::Cdna2);
        let both = if doubles { [bit(blgp, 0), bit(blgp, 1)] } else { [false; 2] };
        return Signs {
            even: both,
            odd: both,
            abs: bit(neg_hi, 2),
            neg: bit(neg, 2) || (doubles && bit(blgp, 2)),
            signed: [true; 2],
        };
    }
    match format {
        Some(Format::Iu8 | Format::Iu4) => Signs { signed: [bit(neg, 0), bit(neg, 1)], ..Signs::default() },
        Some(Format::F16 | Format::Bf16) => Signs {
            even: [bit(neg, 0), bit(neg, 1)],
            odd: [bit(neg_hi, 0), bit(neg_hi, 1)],
            abs: bit(neg_hi, 2),
            neg: bit(neg, 2),
            ..Signs::default()
        },
        Some(Format::F32) => Signs {
            even: [bit(neg, 0), bit(neg, 1)],
            odd: [bit(neg, 0), bit(neg, 1)],
            abs: bit(neg_hi, 2),
            neg: bit(neg, 2),
            ..Signs::default()
        },
        _ => Signs { abs: bit(neg_hi, 2), neg: bit(neg, 2), ..Signs::default() },
    }
}

/// The lanes that broadcasting and rotating make A and B come from; none where each lane is its own.
fn broadcast(op: &MatrixOp, cbsz: u32, abid: u32, blgp: u32) -> Option<Box<[[u8; 64]; 2]>> {
    let formats = op.chooses_formats() || op.is_sparse() || op.format(Matrix::A) == Some(Format::F64);
    if formats || (cbsz == 0 && blgp == 0) {
        return None;
    }
    let size = if cbsz == 0 { 64 } else { 64 >> cbsz.min(6) };
    let from_a = |lane: u32| if cbsz == 0 { lane } else { (lane % size + size * abid) % 64 };
    let from_b = |lane: u32| match blgp {
        1 => lane % 32,
        2 => lane % 32 + 32,
        3 => (lane + 16) % 64,
        4..=7 => lane % 16 + 16 * (blgp - 4),
        _ => lane,
    };
    Some(Box::new([
        core::array::from_fn(|lane| from_a(lane as u32) as u8),
        core::array::from_fn(|lane| from_b(lane as u32) as u8),
    ]))
}

/// The instructions that load scales for the next one; alone they do nothing that lasts.
pub(super) fn is_prefix(op: Op) -> bool {
    matches!(op, Op::V_MFMA_LD_SCALE_B32 | Op::V_WMMA_LD_SCALE_PAIRED_B32 | Op::V_WMMA_LD_SCALE16_PAIRED_B64)
}
