//! What instructions do: tables of one line an instruction, shared by every generation that has it.
//!
//! A line gives a shape and a body: `V_ADD_F32 => f32x2(|a, b| a + b);`. The shape says what the operands are and which
//! loop runs the body; the body is a small expression over one lane. [`find`] gives what a line became.

use std::sync::LazyLock;
use std::vec::Vec;

pub(crate) use small::Convert;

use crate::Op;
use crate::exec::lanes::{Kernel, Kernels, Ty};
use crate::exec::simd::Base;
use crate::exec::{Decoded, Env, ExecError, Flow, Mode, Wave};
use crate::generated::op::{ALL, COUNT};

#[macro_use]
mod shapes;
pub(crate) mod atomic;
mod bytes;
mod compare;
mod cross;
mod ctl;
mod cvt;
mod division;
mod dot;
mod dual;
pub(crate) mod format;
mod hwreg;
mod index;
pub(crate) mod mem;
mod mix;
pub(crate) mod mma;
mod permlane;
mod salu;
mod scalar_float;
pub(crate) mod small;
mod transcendental;
mod valu;
mod valu16;

/// What executes an instruction.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Exec {
    /// Computes each lane by itself.
    Vector(VectorSem),
    /// Converts numbers of few bits.
    Convert(Convert),
    /// Computes on scalars.
    Scalar(ScalarSem),
    /// Goes to the label where the condition holds.
    Branch(fn(&Wave) -> bool),
    /// Reaches across lanes or steers the wave.
    Control(fn(&mut Wave, &Decoded) -> Result<Flow, ExecError>),
    /// Reaches memory.
    Memory(mem::Mem),
    /// Reaches the other waves of the group.
    Group(fn(&mut Wave, &Decoded, &mut Env) -> Result<Flow, ExecError>),
    /// Multiplies matrices: the name says which.
    Matrix,
}

/// A vector instruction.
#[derive(Debug, Clone, Copy)]
pub(crate) struct VectorSem {
    pub(crate) kernels: Kernels,
    /// Where clamping is not a float's: saturates.
    pub(crate) clamp: Option<Kernels>,
    /// Computes with the rounding of the mode; where absent, nothing is rounded or the kernels look at the mode.
    pub(crate) soft: Option<Kernel<Base>>,
    pub(crate) sources: [Ty; 3],
    pub(crate) dst: Ty,
    /// A constant for the kernel.
    pub(crate) extra: u32,
    pub(crate) traits: Traits,
}

/// What sets a vector instruction apart from others of its shape.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Traits {
    /// A 16-bit result leaves the upper half of the register on CDNA 1 to 4 too, where most clear it.
    pub(crate) keeps_high: bool,
    /// A 16-bit result goes to the upper half of the register.
    pub(crate) high: bool,
    /// The result goes to a scalar register, of the first lane and whatever `EXEC` says.
    pub(crate) to_scalar: bool,
    pub(crate) denormals: Denormals,
    pub(crate) bits: ModifierBits,
}

/// What becomes of 32-bit denormals, or of the 16-bit ones of a dot product.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Denormals {
    /// What the mode says.
    Mode,
    /// They are flushed.
    Flush,
    /// As sources they are kept.
    Read,
    /// As the generation has it for dot products of 16-bit floats.
    Dot,
}

/// What the bits of the modifiers are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ModifierBits {
    Modifiers,
    /// Part of [`VectorSem::extra`], every one: a truth table.
    TruthTable,
    /// Those of negation are part of [`VectorSem::extra`]: which integers are signed.
    Signs,
}

impl Traits {
    pub(crate) const NONE: Traits = Traits {
        keeps_high: false,
        high: false,
        to_scalar: false,
        denormals: Denormals::Mode,
        bits: ModifierBits::Modifiers,
    };
}

/// A scalar instruction.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ScalarSem {
    pub(crate) run: fn(&Scalars) -> Scalar,
}

/// What a scalar instruction reads.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Scalars {
    /// The sources in AMD's order, those that are also destinations not among them.
    pub(crate) sources: [u64; 3],
    /// The destination's old value.
    pub(crate) old: u64,
    pub(crate) scc: bool,
    pub(crate) exec: u64,
    pub(crate) mode: Mode,
}

/// What a scalar instruction gives.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Scalar {
    pub(crate) value: Option<u64>,
    pub(crate) scc: Option<bool>,
    pub(crate) exec: Option<u64>,
}

/// One line of a table.
#[derive(Debug)]
pub(crate) struct Line {
    pub(crate) op: Op,
    pub(crate) exec: Exec,
    /// The line's right side.
    pub(crate) text: &'static str,
}

/// Makes a table of lines.
macro_rules! sem {
    ($table:ident: $($op:ident => $shape:ident($($body:tt)*);)*) => {
        pub(super) static $table: &[$crate::sem::Line] = &[$($crate::sem::Line {
            op: $crate::Op::$op,
            exec: shape!($shape $($body)*),
            text: concat!(stringify!($shape), "(", stringify!($($body)*), ")"),
        },)*];
    };
}
use sem;

static TABLES: &[&[Line]] = &[
    valu::LINES,
    valu16::LINES,
    cvt::LINES,
    cross::LINES,
    dual::LINES,
    salu::LINES,
    ctl::LINES,
    bytes::LINES,
    division::LINES,
    dot::LINES,
    mix::LINES,
    transcendental::LINES,
    hwreg::LINES,
    index::LINES,
    permlane::LINES,
    scalar_float::LINES,
];

/// Where each instruction's line is: table and index, or none.
static PLACES: [Option<(u8, u16)>; COUNT] = places();

const fn places() -> [Option<(u8, u16)>; COUNT] {
    let mut places = [None; COUNT];
    let mut table = 0;
    while table < TABLES.len() {
        let mut at = 0;
        while at < TABLES[table].len() {
            let op = TABLES[table][at].op as usize;
            assert!(places[op].is_none(), "an instruction has two lines");
            places[op] = Some((table as u8, at as u16));
            at += 1;
        }
        table += 1;
    }
    places
}

/// The comparisons, from their names.
static COMPARES: [Option<compare::Compare>; COUNT] = {
    let mut all = [None; COUNT];
    let mut at = 0;
    while at < COUNT {
        all[at] = compare::parse(ALL[at].name());
        assert!(all[at].is_none() || PLACES[at].is_none(), "a comparison has a line too");
        at += 1;
    }
    all
};

/// The memory instructions, from their names.
static MEMORY: LazyLock<Vec<Option<mem::Mem>>> = LazyLock::new(|| ALL.iter().map(|op| mem::parse(op.name())).collect());
/// The matrix instructions, from their names.
static MATRICES: [bool; COUNT] = {
    let mut all = [false; COUNT];
    let mut at = 0;
    while at < COUNT {
        all[at] = mma::is_matrix(ALL[at].name());
        assert!(!all[at] || PLACES[at].is_none(), "a matrix instruction has a line too");
        at += 1;
    }
    all
};

/// The conversions, from their names.
static CONVERSIONS: [Option<Convert>; COUNT] = {
    let mut all = [None; COUNT];
    let mut at = 0;
    while at < COUNT {
        all[at] = small::parse(ALL[at].name());
        assert!(all[at].is_none() || PLACES[at].is_none(), "a conversion has a line too");
        at += 1;
    }
    all
};

/// What executes an instruction; none where nothing does yet.
pub(crate) fn find(op: Op) -> Option<Exec> {
    let op = dual::single(op);
    if let Some((table, at)) = PLACES[op as usize] {
        return Some(TABLES[usize::from(table)][usize::from(at)].exec);
    }
    if MATRICES[op as usize] {
        // Scales that nothing follows have no effect.
        return Some(if mma::is_prefix(op) { Exec::Control(|_, _| Ok(Flow::Next)) } else { Exec::Matrix });
    }
    if let Some(compare) = COMPARES[op as usize] {
        return Some(compare.exec());
    }
    if let Some(convert) = CONVERSIONS[op as usize] {
        return Some(convert.exec());
    }
    MEMORY[op as usize].map(Exec::Memory)
}

/// The table's line of an instruction, as written.
pub(crate) fn text(op: Op) -> Option<&'static str> {
    let op = dual::single(op);
    if let Some((table, at)) = PLACES[op as usize] {
        return Some(TABLES[usize::from(table)][usize::from(at)].text);
    }
    if MATRICES[op as usize] {
        return Some(if mma::is_prefix(op) { "scales" } else { "matrix" });
    }
    if COMPARES[op as usize].is_some() {
        return Some("compare");
    }
    if CONVERSIONS[op as usize].is_some() {
        return Some("convert");
    }
    MEMORY[op as usize].map(|_| "memory")
}
