//! Programs in the form they run from: operands resolved, constants spread over lanes, kernels chosen.

use std::boxed::Box;
use std::vec::Vec;

use super::error::ExecError;
use super::lanes::{Kernel, Picked, Ty, Vector};
use super::mem::{self, Env};
use super::simd::Base;
use super::state::{VGPRS, Wave, slot};
use crate::sem::mma::Job;
use crate::sem::{self, Convert, Denormals, Exec, ModifierBits, ScalarSem, Traits, VectorSem};
use crate::table::{Float, Row, Source, Special};
use crate::{
    DecodeError, Decoder, Dpp8, Dpp16, Field, Generation, Inst, Op, Operand, OperandRef, RegFile, Registers, Sdwa,
};

/// Constants, spread over the lanes: dwords from the lowest on.
pub(crate) type Constants = Vec<[Vector; 4]>;

/// Where a source's value comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Src {
    None,
    /// First of consecutive vector registers; accumulation registers are behind the others.
    Vector(u16),
    /// First of consecutive scalar registers, by [`slot`].
    Scalar(u8),
    /// The value, and its place among the constants.
    Constant(u64, u32),
    Scc,
    Vccz,
    Execz,
}

/// Where the rows of a source are when the vector path reads them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Rows {
    /// 0: the vector registers, 1: the constants, 2: the rows that stand for scalars, four a source.
    pub(crate) file: u8,
    pub(crate) count: u8,
    pub(crate) first: u32,
}

impl Rows {
    const NONE: Rows = Rows { file: 0, count: 0, first: 0 };

    /// The rows, of the file that they are in.
    #[inline(always)]
    pub(crate) fn of<'a>(&self, file: &'a [Vector]) -> &'a [Vector] {
        let first = self.first as usize;
        &file[first..first + usize::from(self.count)]
    }

    fn new(at: usize, source: Src, count: u8) -> Rows {
        match source {
            Src::None => Rows::NONE,
            Src::Vector(first) => Rows { file: 0, count, first: first.into() },
            Src::Constant(_, at) => Rows { file: 1, count, first: 4 * at },
            Src::Scalar(_) | Src::Scc | Src::Vccz | Src::Execz => Rows { file: 2, count, first: 4 * at as u32 },
        }
    }
}

/// Where a result goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Dst {
    None,
    /// First vector register and how many.
    Vector(u16, u8),
    /// First scalar register and how many.
    Scalar(u8, u8),
}

/// A lane permutation of source 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Permute {
    None,
    Dpp16(Dpp16),
    Dpp8(Dpp8),
}

/// Modifiers. Bit k is about source k.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Modifiers {
    pub(crate) neg: u8,
    pub(crate) abs: u8,
    pub(crate) neg_hi: u8,
    /// The upper half of a 16-bit source, or what the lower half of a packed one comes from; bit 3: the destination.
    pub(crate) op_sel: u8,
    /// What the upper half of a packed source comes from.
    pub(crate) op_sel_hi: u8,
    pub(crate) omod: u8,
    pub(crate) clamp: bool,
    pub(crate) permute: Permute,
    pub(crate) sdwa: Option<Sdwa>,
}

impl Modifiers {
    pub(crate) const NONE: Modifiers = Modifiers {
        neg: 0,
        abs: 0,
        neg_hi: 0,
        op_sel: 0,
        op_sel_hi: 7,
        omod: 0,
        clamp: false,
        permute: Permute::None,
        sdwa: None,
    };

    fn of(inst: &Inst) -> Modifiers {
        let field = |field| inst.field(field).unwrap_or(0) as u8;
        let mut modifiers = Modifiers {
            neg: field(Field::NEG),
            abs: field(Field::ABS),
            neg_hi: field(Field::NEG_HI),
            op_sel: field(Field::OPSEL),
            op_sel_hi: inst.field(Field::OPSEL_HI).map_or(7, |bits| bits as u8),
            omod: field(Field::OMOD),
            clamp: field(Field::CLAMP) != 0,
            permute: Permute::None,
            sdwa: inst.sdwa(),
        };
        if let Some(dpp) = inst.dpp16() {
            modifiers.permute = Permute::Dpp16(dpp);
            if inst.row().dwords() == 1 {
                modifiers.neg = dpp.neg();
                modifiers.abs = dpp.abs();
            }
        }
        if let Some(dpp) = inst.dpp8() {
            modifiers.permute = Permute::Dpp8(dpp);
        }
        if let Some(sdwa) = modifiers.sdwa {
            modifiers.neg = sdwa.neg();
            modifiers.abs = sdwa.abs();
            // A compare has its scalar destination where others have these.
            if !is_compare(inst) {
                modifiers.clamp = sdwa.clamp();
                modifiers.omod = sdwa.omod();
            }
        }
        modifiers
    }
}

fn is_compare(inst: &Inst) -> bool {
    inst.encoding() == "ENC_VOPC"
}

/// What runs.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Run {
    Vector {
        kernel: Picked,
        soft: Option<Kernel<Base>>,
        extra: u32,
    },
    /// Converts more numbers a lane than vector kernels do.
    Convert(Convert),
    Scalar(ScalarSem),
    Branch(fn(&Wave) -> bool),
    Control(fn(&mut Wave, &Decoded) -> Result<Flow, ExecError>),
    /// [`Decoded::access`].
    Memory,
    Group(fn(&mut Wave, &Decoded, &mut Env) -> Result<Flow, ExecError>),
    /// [`Decoded::matrix`].
    Matrix,
    /// The halves of a dual-issue word, in [`Decoded::pair`].
    Pair,
}

/// The halves of a dual-issue word.
#[derive(Debug, Clone)]
pub(crate) struct Pair {
    pub(crate) x: Decoded,
    pub(crate) y: Decoded,
    pub(crate) order: Order,
}

/// The order in which halves of a dual-issue word may run one by one, though both read before either writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Order {
    XFirst,
    YFirst,
    /// Each half writes what the other reads: this vector register, which X writes, must be restored between them.
    Restore(u16, u8),
}

impl Pair {
    fn order(x: &Decoded, y: &Decoded) -> Order {
        let disturbs = |writer: &Decoded, reader: &Decoded| {
            let Dst::Vector(first, count) = writer.dst else { return false };
            reader.sources.iter().zip(reader.counts).any(|(source, read)| {
                matches!(*source, Src::Vector(other)
                    if other < first + u16::from(count) && first < other + u16::from(read))
            })
        };
        match x.dst {
            Dst::Vector(first, count) if disturbs(x, y) && disturbs(y, x) => Order::Restore(first, count),
            _ if disturbs(x, y) => Order::YFirst,
            _ => Order::XFirst,
        }
    }
}

/// An instruction in the form it runs from.
#[derive(Debug, Clone)]
pub(crate) struct Decoded {
    pub(crate) op: Op,
    pub(crate) run: Run,
    pub(crate) sources: [Src; 3],
    /// Types of the sources as the kernel sees them.
    pub(crate) types: [Ty; 3],
    /// Registers of each source.
    pub(crate) counts: [u8; 3],
    pub(crate) rows: [Rows; 3],
    /// Every source is a vector register.
    pub(crate) registers: bool,
    /// A source is a scalar, to be spread over the lanes.
    pub(crate) spreads: bool,
    pub(crate) dst: Dst,
    pub(crate) dst_ty: Ty,
    /// Scalar register of the lane mask that is read.
    pub(crate) mask_in: Option<u8>,
    /// Scalar register of the lane mask that is written.
    pub(crate) mask_out: Option<u8>,
    /// Whether `EXEC` is written, and in how many bits.
    pub(crate) exec_out: Option<u8>,
    pub(crate) modifiers: Modifiers,
    pub(crate) traits: Traits,
    /// No modifier is set, and sources and result fill their registers.
    pub(crate) plain: bool,
    /// A source or the result is a float, so the mode counts.
    pub(crate) floats: bool,
    /// Address of the instruction behind this one.
    pub(crate) next: u64,
    /// Where a label points, or an immediate.
    pub(crate) target: u64,
    pub(crate) pair: Option<Box<Pair>>,
    /// What a memory instruction does.
    pub(crate) access: Option<Box<mem::Decoded>>,
    pub(crate) matrix: Option<Box<Job>>,
    /// Which source is the destination's old value.
    pub(crate) old: Option<u8>,
}

/// Where execution goes after an instruction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Flow {
    /// To the next instruction.
    Next,
    /// To an address.
    Jump(u64),
    /// To the next instruction, once other waves have had their turn.
    Yield,
    /// Nowhere yet: the wave waits at this instruction for others of its group.
    Wait,
    /// Nowhere: the wave has ended.
    End,
}

/// A program, decoded once and run many times, by many waves at once.
#[derive(Debug, Clone)]
pub struct Program {
    pub(super) generation: Generation,
    pub(super) lanes: u32,
    pub(super) code: Vec<Result<Decoded, ExecError>>,
    /// Address of the first byte.
    pub(super) base: u64,
    /// For each dword the index of the instruction that begins there.
    pub(super) starts: Vec<u32>,
    pub(super) constants: Constants,
}

impl Program {
    /// Decodes machine code for waves of the generation's usual size (64 lanes on CDNA 1 to 4, 32 on the others).
    ///
    /// Bytes that are no instruction are an error only when they are executed. Instructions that RDNA 3.5 added are
    /// instructions in programs of RDNA 3 too.
    ///
    /// # Panics
    /// Where the generation's feature is off.
    pub fn new(generation: Generation, bytes: &[u8]) -> Program {
        Program::with_lanes(generation, bytes, generation.wave_sizes()[0])
    }

    /// As [`Program::new`], for waves of 32 or 64 lanes; a size that the generation does not have is ignored.
    ///
    /// # Panics
    /// Where the generation's feature is off.
    pub fn with_lanes(generation: Generation, bytes: &[u8], lanes: u32) -> Program {
        Program::at(generation, bytes, lanes, 0, &[])
    }

    /// As [`Program::with_lanes`], for code whose first byte lies at the address `base`.
    ///
    /// Decoding begins anew at each of `entries`, sorted offsets in bytes: what lies before may be data.
    ///
    /// # Panics
    /// Where the generation's feature is off.
    pub fn at(generation: Generation, bytes: &[u8], lanes: u32, base: u64, entries: &[u64]) -> Program {
        let lanes = if generation.wave_sizes().contains(&lanes) { lanes } else { generation.wave_sizes()[0] };
        let mut program = Program {
            generation,
            lanes,
            code: Vec::new(),
            base,
            starts: std::vec![u32::MAX; bytes.len().div_ceil(4)],
            constants: Vec::new(),
        };
        let mut first = 0;
        for end in entries.iter().map(|entry| *entry as usize).chain([bytes.len()]) {
            let end = end.min(bytes.len()) & !3;
            if first < end {
                program.decode(&bytes[first..end], first);
                first = end;
            }
        }
        program.decode(&bytes[first..], first);
        program
    }

    /// Decodes a piece of the code that begins `first` bytes behind its start.
    fn decode(&mut self, bytes: &[u8], first: usize) {
        let mut at = 0;
        while let Some(result) = decode_one(self.generation, self.lanes, &bytes[at..]) {
            let place = first + at;
            if let Some(start) = self.starts.get_mut(place / 4) {
                *start = self.code.len() as u32;
            }
            let decoded = match result {
                Ok(inst) => {
                    at += inst.len();
                    Decoded::new(&inst, self.base.wrapping_add(place as u64), &mut self.constants)
                }
                Err(error) => {
                    at = bytes.len().min(at + error.len.max(1));
                    Err(ExecError::Decode(DecodeError { offset: place, ..error }))
                }
            };
            self.code.push(decoded);
        }
    }

    /// The generation it was decoded for.
    pub fn generation(&self) -> Generation {
        self.generation
    }

    /// Lanes of the waves it was decoded for.
    pub fn lanes(&self) -> u32 {
        self.lanes
    }

    /// Number of instructions.
    pub fn len(&self) -> usize {
        self.code.len()
    }

    /// Whether there is no instruction.
    pub fn is_empty(&self) -> bool {
        self.code.is_empty()
    }

    /// Index of the instruction at an address.
    #[inline]
    pub(super) fn index(&self, pc: u64) -> Option<usize> {
        let offset = pc.wrapping_sub(self.base);
        if !offset.is_multiple_of(4) {
            return None;
        }
        let start = *self.starts.get(usize::try_from(offset / 4).ok()?)?;
        (start != u32::MAX).then_some(start as usize)
    }
}

/// The first instruction of some bytes; none at their end.
///
/// RDNA 3.5 is RDNA 3 with instructions added, and code of either family is found under the other's name: what RDNA 3
/// does not know may be one of those.
pub(super) fn decode_one(generation: Generation, lanes: u32, bytes: &[u8]) -> Option<Result<Inst, DecodeError>> {
    let decode = |generation| Decoder::new(generation, bytes).wave_size(lanes).next();
    let result = decode(generation)?;
    let later = Generation::Rdna3_5;
    if result.is_err() && generation == Generation::Rdna3 && later.is_available() {
        return decode(later).filter(Result::is_ok).or(Some(result));
    }
    Some(result)
}

/// Facts about how a generation executes, beyond what the tables say.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Execution {
    /// Instructions clear the upper half of the register of a 16-bit result.
    pub(crate) clears_high: bool,
    /// Bit 7 of a vector register field is the upper half in 32-bit encodings.
    pub(crate) true16: bool,
    /// `V_PK_FMAC_F16` repeats an inline float in both halves.
    pub(crate) pk_fmac_repeats: bool,
    /// The mode has no IEEE and DX10_CLAMP bits: output modifiers always apply, and clamping always turns NaN to 0.
    pub(crate) modeless: bool,
    pub(crate) dot2: Dot2,
    /// Eight-bit floats have no infinity, one NaN and no -0.
    pub(crate) fnuz: bool,
    /// Selectors of a source's byte have their bits the other way round: the first says which half.
    pub(crate) reversed_bytes: bool,
    /// Clamping makes conversions of FP8 ones of E5M3.
    pub(crate) clamp_is_e5m3: bool,
    /// Scaled conversions make NaN of infinity where others clamp it.
    pub(crate) scaled_infinity_is_nan: bool,
}

/// What dot products of 16-bit floats do with denormal sources.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Dot2 {
    /// What the mode says.
    Mode,
    /// Flush them.
    Flush,
    /// Keep them.
    Keep,
}

pub(crate) const fn execution(generation: Generation) -> Execution {
    use Generation::{Cdna1, Cdna2, Cdna3, Cdna4, Cdna5, Rdna1, Rdna2, Rdna4};
    let clears_high = matches!(generation, Cdna1 | Cdna2 | Cdna3 | Cdna4);
    let true16 = !clears_high && !matches!(generation, Rdna1 | Rdna2);
    // Measured on CDNA 2 and on CDNA 4.
    let dot2 = match generation {
        Cdna1 | Cdna2 | Cdna3 => Dot2::Flush,
        Cdna4 => Dot2::Keep,
        _ => Dot2::Mode,
    };
    Execution {
        clears_high,
        true16,
        pk_fmac_repeats: true16,
        modeless: matches!(generation, Rdna4 | Cdna5),
        dot2,
        fnuz: matches!(generation, Cdna3),
        reversed_bytes: matches!(generation, Rdna4 | Cdna5),
        clamp_is_e5m3: matches!(generation, Cdna5),
        scaled_infinity_is_nan: matches!(generation, Cdna5),
    }
}

/// What an operand is to the one who executes.
enum Role {
    Source,
    OldDst,
    Dst,
    MaskIn,
    MaskOut,
    ExecOut,
    Other,
}

fn role(operand: &OperandRef, vector: bool) -> Role {
    let name = operand.type_name();
    let hidden = operand.field().is_none();
    if hidden {
        return match (name, operand.is_read(), operand.is_written()) {
            ("OPR_VCC", true, false) if vector => Role::MaskIn,
            ("OPR_VCC", false, true) if vector => Role::MaskOut,
            ("OPR_SDST_EXEC", false, true) => Role::ExecOut,
            _ => Role::Other,
        };
    }
    let is_vector =
        matches!(operand.value(), Operand::Registers(Registers { file: RegFile::Vgpr | RegFile::Agpr, .. }));
    let mask = vector && !is_vector && matches!(operand.format().name, "FMT_NUM_M64" | "FMT_NUM_M32");
    match (operand.is_read(), operand.is_written()) {
        (true, true) => Role::OldDst,
        (true, false) if mask => Role::MaskIn,
        (true, false) => Role::Source,
        (false, true) if vector && !is_vector => Role::MaskOut,
        (false, true) => Role::Dst,
        (false, false) => Role::Other,
    }
}

impl Decoded {
    pub(crate) fn new(inst: &Inst, at: u64, constants: &mut Constants) -> Result<Decoded, ExecError> {
        let next = at.wrapping_add(inst.len() as u64);
        if let Some(y) = inst.row_y() {
            let x = Decoded::dual_half(inst, inst.row(), Field::NEGX, next, constants)?;
            let y = Decoded::dual_half(inst, y, Field::NEGY, next, constants)?;
            let order = Pair::order(&x, &y);
            return Ok(Decoded {
                run: Run::Pair,
                pair: Some(Box::new(Pair { x, y, order })),
                ..Decoded::empty(inst.op(), next)
            });
        }
        let op = inst.op();
        let exec = sem::find(op).ok_or(ExecError::Unimplemented(op))?;
        let mut decoded = Decoded::empty(op, next);
        match exec {
            Exec::Vector(vector) => decoded.vector(inst, inst.operands(), Modifiers::of(inst), &vector, constants)?,
            Exec::Convert(convert) => decoded.convert(inst, convert, constants)?,
            Exec::Scalar(scalar) => {
                decoded.run = Run::Scalar(scalar);
                decoded.scalar(inst, constants)?;
            }
            Exec::Branch(condition) => {
                decoded.run = Run::Branch(condition);
                decoded.scalar(inst, constants)?;
            }
            Exec::Control(control) => {
                decoded.run = Run::Control(control);
                decoded.modifiers = Modifiers::of(inst);
                decoded.scalar(inst, constants)?;
            }
            Exec::Memory(mem) => {
                decoded.run = Run::Memory;
                decoded.access = Some(Box::new(mem::Decoded::new(inst, &mem)?));
            }
            Exec::Matrix => {
                decoded.run = Run::Matrix;
                decoded.matrix = Some(Box::new(Job::new(inst)?));
            }
            Exec::Group(group) => {
                decoded.run = Run::Group(group);
                decoded.scalar(inst, constants)?;
            }
        }
        Ok(decoded)
    }

    fn empty(op: Op, next: u64) -> Decoded {
        Decoded {
            op,
            run: Run::Branch(|_| false),
            sources: [Src::None; 3],
            types: [Ty::None; 3],
            counts: [0; 3],
            rows: [Rows::NONE; 3],
            registers: false,
            spreads: false,
            dst: Dst::None,
            dst_ty: Ty::None,
            mask_in: None,
            mask_out: None,
            exec_out: None,
            modifiers: Modifiers::NONE,
            traits: Traits::NONE,
            plain: true,
            floats: false,
            next,
            target: 0,
            pair: None,
            access: None,
            matrix: None,
            old: None,
        }
    }

    /// The same with other vector registers: moved by the destination's number, then by the sources'. None where the
    /// destination does not exist then; of sources that do not exist the first register is read.
    pub(crate) fn moved(&self, by: [u16; 4], registers: usize) -> Option<Decoded> {
        let fits = |first: u16, count: u8| usize::from(first) + usize::from(count) <= registers;
        let mut moved = self.clone();
        if let Dst::Vector(first, count) = self.dst
            && usize::from(first) < registers
        {
            moved.dst = Dst::Vector(first + by[0], count);
            if !fits(first + by[0], count) {
                return None;
            }
        }
        for at in 0..3 {
            if let Src::Vector(first) = self.sources[at]
                && usize::from(first) < registers
            {
                let first = first + if self.old == Some(at as u8) { by[0] } else { by[at + 1] };
                moved.sources[at] = Src::Vector(if fits(first, self.counts[at].max(1)) { first } else { 0 });
                moved.rows[at] = Rows::new(at, moved.sources[at], self.counts[at]);
            }
        }
        if let Some(access) = &self.access {
            moved.access = Some(Box::new(access.moved(by)));
        }
        if let Some(pair) = &self.pair {
            let (x, y) = (pair.x.moved(by, registers)?, pair.y.moved(by, registers)?);
            let order = Pair::order(&x, &y);
            moved.pair = Some(Box::new(Pair { x, y, order }));
        }
        Some(moved)
    }

    /// One half of a dual-issue word; `neg` is the field of its signs.
    fn dual_half(
        inst: &Inst,
        row: Row,
        neg: Field,
        next: u64,
        constants: &mut Constants,
    ) -> Result<Decoded, ExecError> {
        let mut decoded = Decoded::empty(row.op(), next);
        let Some(Exec::Vector(vector)) = sem::find(row.op()) else {
            return Err(ExecError::Unimplemented(row.op()));
        };
        let modifiers = Modifiers { neg: inst.field(neg).unwrap_or(0) as u8, ..Modifiers::NONE };
        let operands = row.operands().iter().map(|desc| OperandRef::new(inst, *desc));
        decoded.vector(inst, operands, modifiers, &vector, constants)?;
        Ok(decoded)
    }

    fn vector(
        &mut self,
        inst: &Inst,
        operands: impl Iterator<Item = OperandRef>,
        modifiers: Modifiers,
        vector: &VectorSem,
        constants: &mut Constants,
    ) -> Result<(), ExecError> {
        let fault = ExecError::Operand(self.op);
        let facts = execution(inst.generation());
        let truth_table = match self.op {
            Op::V_DUAL_BITOP2_B32 => inst.field(Field::VSRCY2).unwrap_or(0),
            _ => u32::from(modifiers.neg & 7) | u32::from(modifiers.abs & 7) << 3 | u32::from(modifiers.omod & 3) << 6,
        };
        self.modifiers = modifiers;
        match vector.traits.bits {
            ModifierBits::Modifiers => {}
            ModifierBits::TruthTable => self.modifiers = Modifiers { neg: 0, abs: 0, omod: 0, ..modifiers },
            ModifierBits::Signs => self.modifiers = Modifiers { neg: 0, ..modifiers },
        }
        if vector.traits.high {
            self.modifiers.op_sel |= 8;
        }
        self.traits = vector.traits;
        self.types = vector.sources;
        self.dst_ty = vector.dst;
        let short = facts.true16 && inst.row().dwords() == 1 && self.op == inst.op();
        let wanted = vector.sources.iter().filter(|ty| **ty != Ty::None).count();
        let mut found = 0;
        let mut old = None;
        for operand in operands {
            match role(&operand, true) {
                Role::Source if found < wanted => {
                    let ty = vector.sources[found];
                    let value = sdwa_scalar(inst, &operand).unwrap_or(operand.value());
                    let value = if short { self.half(found, ty, value) } else { value };
                    // A constant has the format that the selectors name.
                    let ty = match ty {
                        Ty::MixF16 | Ty::MixBf16 if modifiers.op_sel_hi >> found & 1 == 0 => Ty::F32,
                        Ty::MixF16 => Ty::F16,
                        Ty::MixBf16 => Ty::Bf16,
                        ty => ty,
                    };
                    let repeats = facts.pk_fmac_repeats && self.op == Op::V_PK_FMAC_F16;
                    self.sources[found] = source(value, ty, repeats, constants).ok_or_else(|| fault.clone())?;
                    found += 1;
                }
                Role::Source => return Err(fault),
                Role::OldDst => old = Some(operand.value()),
                // An accumulating instruction reads it, whether AMD's tables say so or not.
                Role::Dst => old = Some(operand.value()),
                Role::MaskIn => self.mask_in = Some(mask_slot(&operand).ok_or_else(|| fault.clone())?),
                Role::MaskOut if vector.traits.to_scalar => {
                    self.dst = mask_slot(&operand).map_or(Dst::None, |slot| Dst::Scalar(slot, 1));
                }
                Role::MaskOut => self.mask_out = mask_slot(&operand),
                Role::ExecOut => self.exec_out = Some(operand.size() as u8),
                Role::Other => {}
            }
        }
        if let Some(old) = old {
            self.vector_dst(old, short).ok_or_else(|| fault.clone())?;
            if found < wanted {
                let ty = vector.sources[found];
                let old = if short { self.half(found, ty, old) } else { old };
                // The destination's half is the old value's too.
                self.modifiers.op_sel |= (self.modifiers.op_sel >> 3 & 1) << found;
                self.sources[found] = source(old, ty, false, constants).ok_or_else(|| fault.clone())?;
                self.old = Some(found as u8);
                found += 1;
            }
        }
        if found != wanted {
            return Err(fault);
        }
        if let Some(scalar) = self.modifiers.sdwa.filter(|_| is_compare(inst)).and_then(Sdwa::sdst) {
            // The last register has none behind it for the other half of the mask.
            self.mask_out = scalar_number(inst, scalar).filter(|slot| usize::from(*slot) + 1 < slot::COUNT);
        }
        for (count, ty) in self.counts.iter_mut().zip(self.types) {
            *count = ty.bits().div_ceil(32) as u8;
        }
        self.rows = core::array::from_fn(|at| Rows::new(at, self.sources[at], self.counts[at]));
        self.registers = self.rows.iter().all(|rows| rows.file == 0);
        self.spreads = self.rows.iter().any(|rows| rows.file == 2);
        let clamps = self.modifiers.clamp && vector.clamp.is_some();
        let kernels = if clamps { vector.clamp.unwrap_or(vector.kernels) } else { vector.kernels };
        if clamps {
            self.modifiers.clamp = false;
        }
        let extra = match vector.traits.bits {
            ModifierBits::Modifiers => vector.extra,
            ModifierBits::TruthTable => truth_table,
            ModifierBits::Signs => u32::from(modifiers.neg & 3),
        };
        self.run = Run::Vector { kernel: kernels.pick(), soft: vector.soft, extra };
        let halves = self.dst_ty.bits() < 32;
        let special = match vector.traits.denormals {
            Denormals::Mode | Denormals::Read => vector.traits.to_scalar || self.types.iter().any(|ty| ty.is_mix()),
            Denormals::Flush => true,
            Denormals::Dot => facts.dot2 == Dot2::Flush,
        };
        self.plain = self.modifiers == Modifiers::NONE && !halves && !special;
        self.floats = self.types.iter().chain([&self.dst_ty]).any(|ty| ty.is_float());
        Ok(())
    }

    fn convert(&mut self, inst: &Inst, convert: Convert, constants: &mut Constants) -> Result<(), ExecError> {
        let facts = execution(inst.generation());
        let mut modifiers = Modifiers::of(inst);
        let convert = convert.on(facts, modifiers.clamp);
        if !convert.is_wide() {
            let vector = convert.vector();
            if facts.modeless {
                (modifiers.clamp, modifiers.omod) = (false, 0);
            }
            if facts.reversed_bytes && vector.sources[0] == Ty::U8 {
                modifiers.op_sel = modifiers.op_sel & !3 | (modifiers.op_sel & 1) << 1 | modifiers.op_sel >> 1 & 1;
            }
            return self.vector(inst, inst.operands(), modifiers, &vector, constants);
        }
        let fault = ExecError::Operand(self.op);
        let mut found = 0;
        for operand in inst.operands() {
            match role(&operand, true) {
                Role::Source if found < 3 => {
                    let (registers, place) = match (convert.source_registers(found), convert.side_type(found)) {
                        (Some(count), _) => (count, vectors(operand.value(), count)),
                        (None, Some(ty)) => (1, source(operand.value(), ty, false, constants)),
                        (None, None) => (0, None),
                    };
                    self.sources[found] = place.ok_or_else(|| fault.clone())?;
                    self.counts[found] = registers;
                    found += 1;
                }
                Role::OldDst | Role::Dst => {
                    let count = convert.result_registers();
                    match vectors(operand.value(), count) {
                        Some(Src::Vector(first)) => self.dst = Dst::Vector(first, count),
                        _ => return Err(fault),
                    }
                }
                _ => return Err(fault),
            }
        }
        if convert.side_type(found).is_some() {
            return Err(fault);
        }
        self.modifiers = modifiers;
        self.run = Run::Convert(convert);
        Ok(())
    }

    /// Takes the half out of a register field of a 32-bit encoding.
    fn half(&mut self, at: usize, ty: Ty, value: Operand) -> Operand {
        match value {
            Operand::Registers(registers)
                if registers.file == RegFile::Vgpr && ty.bits() == 16 && registers.first >= 128 =>
            {
                self.modifiers.op_sel |= 1 << at;
                Operand::Registers(Registers { first: registers.first - 128, ..registers })
            }
            value => value,
        }
    }

    fn vector_dst(&mut self, value: Operand, short: bool) -> Option<()> {
        let value = if short { self.half(3, self.dst_ty, value) } else { value };
        let count = self.dst_ty.bits().div_ceil(32) as u8;
        match source(value, self.dst_ty, false, &mut Vec::new())? {
            Src::Vector(first) => self.dst = Dst::Vector(first, count),
            _ => return None,
        }
        Some(())
    }

    fn scalar(&mut self, inst: &Inst, constants: &mut Constants) -> Result<(), ExecError> {
        let fault = ExecError::Operand(self.op);
        let mut found = 0;
        for operand in inst.operands() {
            let size = operand.size();
            let ty = match (size, operand.format().name) {
                (64, "FMT_NUM_I64") => Ty::I64,
                (33.., _) => Ty::B64,
                (16, "FMT_NUM_F16") => Ty::F16,
                _ => Ty::B32,
            };
            match (role(&operand, false), operand.value()) {
                (_, Operand::Immediate(bits) | Operand::Named(bits)) if operand.type_name() == "OPR_HWREG" => {
                    self.target = bits.into();
                }
                (Role::Source, Operand::Label(offset)) => {
                    self.target = self.next.wrapping_add_signed(i64::from(offset) * 4);
                }
                (Role::Source, value) if found < 3 => {
                    self.sources[found] = source(value, ty, false, constants).ok_or_else(|| fault.clone())?;
                    self.counts[found] = ty.bits().div_ceil(32) as u8;
                    found += 1;
                }
                (Role::Source, _) => return Err(fault),
                // Of two destinations the second is a source too: a swap's.
                (Role::Dst | Role::OldDst, value) if self.dst != Dst::None && found < 3 => {
                    self.sources[found] = source(value, ty, false, constants).ok_or_else(|| fault.clone())?;
                    found += 1;
                }
                (Role::Dst | Role::OldDst, Operand::Special(Special::Null)) => {}
                (Role::Dst | Role::OldDst, value) => {
                    let count = size.div_ceil(32).max(1) as u8;
                    self.dst = match source(value, ty, false, constants) {
                        Some(Src::Scalar(first)) => Dst::Scalar(first, count),
                        Some(Src::Vector(first)) => Dst::Vector(first, count),
                        _ => return Err(fault),
                    };
                }
                (Role::ExecOut, _) => self.exec_out = Some(size as u8),
                _ => {}
            }
        }
        Ok(())
    }
}

/// An SDWA source 1 that is a scalar: a bit of the SDWA dword says so.
fn sdwa_scalar(inst: &Inst, operand: &OperandRef) -> Option<Operand> {
    let sdwa = inst.sdwa()?;
    if !sdwa.s1() || operand.field() != Some(Field::VSRC1) {
        return None;
    }
    let Operand::Registers(registers) = operand.value() else { return None };
    Some(match inst.tables().sources[usize::from(registers.first as u8)] {
        Source::Sgpr(number) => Operand::Registers(Registers { file: RegFile::Sgpr, first: number.into(), count: 1 }),
        Source::Ttmp(number) => Operand::Registers(Registers { file: RegFile::Ttmp, first: number.into(), count: 1 }),
        Source::Int(number) => Operand::Int(number),
        Source::Float(number) => Operand::Float(number),
        Source::Special(register) => Operand::Special(register),
        _ => return None,
    })
}

/// The scalar register of a number as scalar destinations have it.
pub(super) fn scalar_number(inst: &Inst, number: u8) -> Option<u8> {
    match inst.tables().sources[usize::from(number)] {
        Source::Sgpr(number) => Some(number),
        Source::Ttmp(number) => Some(slot::TTMP + number),
        Source::Special(special) => special_slot(special),
        _ => None,
    }
}

fn mask_slot(operand: &OperandRef) -> Option<u8> {
    if operand.field().is_none() {
        return Some(slot::VCC);
    }
    match source(operand.value(), Ty::B64, false, &mut Vec::new())? {
        Src::Scalar(first) => Some(first),
        _ => None,
    }
}

pub(super) fn special_slot(special: Special) -> Option<u8> {
    Some(match special {
        Special::VccLo => slot::VCC,
        Special::VccHi => slot::VCC + 1,
        Special::ExecLo => slot::EXEC,
        Special::ExecHi => slot::EXEC + 1,
        Special::M0 => slot::M0,
        Special::FlatScratchLo => slot::FLAT_SCRATCH,
        Special::FlatScratchHi => slot::FLAT_SCRATCH + 1,
        Special::FlatScratchBaseLo => slot::FLAT_SCRATCH_BASE,
        Special::FlatScratchBaseHi => slot::FLAT_SCRATCH_BASE + 1,
        Special::XnackMaskLo => slot::XNACK_MASK,
        Special::XnackMaskHi => slot::XNACK_MASK + 1,
        _ => return None,
    })
}

/// Resolves an operand by itself; a constant has no place among others.
pub(crate) fn operand_source(value: Operand, ty: Ty) -> Option<Src> {
    source(value, ty, false, &mut Vec::new())
}

/// Consecutive vector registers.
fn vectors(value: Operand, count: u8) -> Option<Src> {
    match value {
        Operand::Registers(Registers { file: RegFile::Vgpr, first, .. })
            if usize::from(first) + usize::from(count) <= VGPRS =>
        {
            Some(Src::Vector(first))
        }
        _ => None,
    }
}

/// Resolves an operand; none where nothing can be read there.
fn source(value: Operand, ty: Ty, repeats: bool, constants: &mut Constants) -> Option<Src> {
    let count = ty.bits().div_ceil(32) as usize;
    let scalar = |first: u8| {
        // The last slots are EXEC; a wider operand must not run out of the file.
        (usize::from(first) + count <= slot::COUNT).then_some(Src::Scalar(first))
    };
    Some(match value {
        Operand::Registers(Registers { file, first, .. }) => match file {
            RegFile::Vgpr | RegFile::Agpr => {
                if usize::from(first) + count > VGPRS {
                    return None;
                }
                Src::Vector(if file == RegFile::Agpr { first + VGPRS as u16 } else { first })
            }
            RegFile::Sgpr => return scalar(first as u8),
            RegFile::Ttmp => return scalar(slot::TTMP + first as u8),
        },
        Operand::Special(special) => match special {
            Special::Scc => Src::Scc,
            Special::Vccz => Src::Vccz,
            Special::Execz => Src::Execz,
            Special::Null => constant(0, constants),
            Special::SharedBase => constant(u64::from(mem::SHARED_APERTURE) << 32, constants),
            Special::SharedLimit => constant(u64::from(mem::SHARED_APERTURE) << 32 | 0xffff_ffff, constants),
            Special::PrivateBase => constant(u64::from(mem::PRIVATE_APERTURE) << 32, constants),
            Special::PrivateLimit => constant(u64::from(mem::PRIVATE_APERTURE) << 32 | 0xffff_ffff, constants),
            special => return scalar(special_slot(special)?),
        },
        Operand::Int(number) if ty == Ty::Scales => constant(u64::from(number as u8) * 0x0101_0101, constants),
        Operand::Int(number) => constant(i64::from(number) as u64, constants),
        Operand::Float(number) => constant(inline_float(number, ty, repeats), constants),
        Operand::Literal(bits) => constant(
            match ty {
                Ty::F64 => u64::from(bits) << 32,
                Ty::I64 => i64::from(bits as i32) as u64,
                _ => u64::from(bits),
            },
            constants,
        ),
        Operand::Literal64(bits) => constant(bits, constants),
        Operand::Immediate(bits) | Operand::Named(bits) => constant(u64::from(bits), constants),
        Operand::Label(_) | Operand::Implicit => return None,
    })
}

fn constant(bits: u64, constants: &mut Constants) -> Src {
    // What a constant leaves of a wider operand is its sign.
    let sign = (bits as i64 >> 63) as u32;
    let rows = [[bits as u32; 64], [(bits >> 32) as u32; 64], [sign; 64], [sign; 64]];
    // Programs use few constants over and over.
    let known = constants.iter().rposition(|c| c[0][0] == rows[0][0] && c[1][0] == rows[1][0]);
    let at = known.unwrap_or_else(|| {
        constants.push(rows);
        constants.len() - 1
    });
    Src::Constant(bits, at as u32)
}

/// An inline float in the operand's format. 16-bit integers see the low half of the 32-bit pattern, and packed integers
/// see the pattern itself.
fn inline_float(number: Float, ty: Ty, repeats: bool) -> u64 {
    let (half, single, double) = match number {
        Float::Half => (0x3800, 0.5, 0.5),
        Float::NegHalf => (0xb800, -0.5, -0.5),
        Float::One => (0x3c00, 1.0, 1.0),
        Float::NegOne => (0xbc00, -1.0, -1.0),
        Float::Two => (0x4000, 2.0, 2.0),
        Float::NegTwo => (0xc000, -2.0, -2.0),
        Float::Four => (0x4400, 4.0, 4.0),
        Float::NegFour => (0xc400, -4.0, -4.0),
        Float::InvTwoPi => (0x3118, f32::from_bits(0x3e22_f983), f64::from_bits(0x3fc4_5f30_6dc9_c882)),
    };
    let single = u64::from(f32::to_bits(single));
    match ty {
        Ty::F16 => half,
        Ty::PkF16 if repeats => half | half << 16,
        Ty::PkF16 => half,
        Ty::F64 | Ty::B64 | Ty::I64 | Ty::U64 => f64::to_bits(double),
        Ty::PkF32 | Ty::Pk32 => single | single << 32,
        _ => single,
    }
}

#[cfg(test)]
mod tests {
    use std::vec::Vec;

    use super::*;
    use crate::view::set_bits;

    /// A word of every instruction of a generation, its 9-bit sources v0.
    fn words(generation: Generation) -> Vec<[u32; 5]> {
        let mut all = Vec::new();
        for info in generation.instructions().filter(|info| info.half().is_none()) {
            let identifier = info.identifier();
            let mut word = core::array::from_fn(|at| identifier.checked_shr(32 * at as u32).unwrap_or(0) as u32);
            for field in info.operands().filter_map(|operand| operand.field()).filter(|field| field.bits() == 9) {
                let range = field.ranges().next().expect("a field is somewhere");
                word = set_bits(word, range.offset, 9, 256);
            }
            all.push(word);
        }
        assert!(all.len() > 1000, "{generation} has {} words", all.len());
        all
    }

    #[test]
    fn operands_of_every_meaning_resolve() {
        let mut faults = Vec::new();
        let mut resolved = 0;
        for generation in Generation::available() {
            for word in words(generation) {
                let bytes: Vec<u8> = word.iter().flat_map(|word| word.to_le_bytes()).collect();
                let Ok(inst) = generation.decode(&bytes) else { continue };
                match Decoded::new(&inst, 0, &mut Vec::new()) {
                    Ok(decoded) => {
                        resolved += 1;
                        let types = decoded.types.iter().zip(inst.operands().filter(|o| {
                            o.field().is_some() && o.is_read() && !o.is_written() && !o.format().name.ends_with("_M64")
                        }));
                        for (ty, operand) in types {
                            let packed = ty.is_packed() || *ty == Ty::None;
                            // Shift counts and masks of classes need few bits, and a literal always has 32.
                            let literal = operand.field() == Some(Field::LITERAL) || operand.size() == 24;
                            let few = *ty == Ty::U16 && matches!(operand.size(), 8 | 32);
                            if !packed && !literal && !few && ty.bits() != operand.size() {
                                faults.push(std::format!("{generation} {inst:?}: {ty:?} for {} bits", operand.size()));
                            }
                        }
                    }
                    Err(ExecError::Unimplemented(_)) => {}
                    // A scalar destination in a field that is wider than scalar registers are many.
                    Err(ExecError::Operand(Op::V_READFIRSTLANE_B32)) if word[0] >> 24 == 0x7f => {}
                    Err(error) => faults.push(std::format!("{generation} {inst:?}: {error}")),
                }
            }
        }
        assert!(faults.is_empty(), "{} of {resolved}:\n{}", faults.len(), faults.join("\n"));
        assert!(resolved > 0);
    }
}
