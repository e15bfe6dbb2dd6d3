//! Matrix instructions, from their names.

use core::fmt;

use super::{Format, Layout, family};
use crate::{Generation, Op};

/// Sizes of the matrices: A is m × k, B k × n, C and D m × n, and there are some blocks of each.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Shape {
    /// Rows of A, C and D.
    pub m: u32,
    /// Columns of B, C and D.
    pub n: u32,
    /// Columns of A, those of zeros in a sparse one included, and rows of B.
    pub k: u32,
    /// Independent products.
    pub blocks: u32,
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}×{}×{}", self.m, self.n, self.k)?;
        if self.blocks > 1 { write!(f, ", {} blocks", self.blocks) } else { Ok(()) }
    }
}

/// A matrix of an instruction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Matrix {
    /// The left factor; of a sparse one the values that are kept, `k / 2` columns.
    A,
    /// The right factor.
    B,
    /// What is added.
    C,
    /// The result.
    D,
    /// For each value of a sparse A which of its four columns it stands in.
    Index,
    /// Scales of A: a column for each block of k.
    ScaleA,
    /// Scales of B: a row for each block of k.
    ScaleB,
}

impl Matrix {
    /// Every kind of matrix.
    pub const ALL: [Matrix; 7] =
        [Matrix::A, Matrix::B, Matrix::C, Matrix::D, Matrix::Index, Matrix::ScaleA, Matrix::ScaleB];

    /// A short name: `A`, `index`, `scale A`.
    pub const fn name(self) -> &'static str {
        match self {
            Matrix::A => "A",
            Matrix::B => "B",
            Matrix::C => "C",
            Matrix::D => "D",
            Matrix::Index => "index",
            Matrix::ScaleA => "scale A",
            Matrix::ScaleB => "scale B",
        }
    }
}

impl fmt::Display for Matrix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A matrix instruction of a generation, for waves of a size.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct MatrixOp {
    op: Op,
    generation: Generation,
    lanes: u32,
    shape: Shape,
    formats: [Format; 4],
    sparse: bool,
    /// Values that share a scale, or 0.
    scaled: u8,
    chooses: bool,
}

impl MatrixOp {
    /// The matrix instruction that an [`Op`] is in a generation; none where it is not one, or the generation does not
    /// have it for waves of this size. The instruction's tables need not be compiled in.
    ///
    /// Operands of `F8F6F4` instructions are `fp8` until [`MatrixOp::with_formats`] says otherwise.
    pub fn new(generation: Generation, op: Op, lanes: u32) -> Option<MatrixOp> {
        if !generation.wave_sizes().contains(&lanes) {
            return None;
        }
        let name = parse(op.name())?;
        let family = family::of(generation)?;
        if !family.has(&name) {
            return None;
        }
        // CDNA 3 reads small floats of its own kind.
        let own = |format| match (generation, format) {
            (Generation::Cdna3, Format::Fp8) => Format::Fp8Fnuz,
            (Generation::Cdna3, Format::Bf8) => Format::Bf8Fnuz,
            (_, format) => format,
        };
        Some(MatrixOp {
            op,
            generation,
            lanes,
            shape: name.shape,
            formats: [own(name.a), own(name.b), name.c, name.d],
            sparse: name.sparse,
            scaled: name.scaled,
            chooses: name.chooses,
        })
    }

    /// The matrix instruction with this name or another name of it, in any case, for waves of the generation's usual size.
    pub fn find(generation: Generation, name: &str) -> Option<MatrixOp> {
        let lanes = generation.wave_sizes()[0];
        let named = Op::from_name(name).into_iter();
        let ops = named.chain(Op::from_alias(name)).filter_map(|op| MatrixOp::new(generation, op, lanes));
        ops.into_iter().next()
    }

    /// The instruction.
    pub fn op(&self) -> Op {
        self.op
    }

    /// The generation.
    pub fn generation(&self) -> Generation {
        self.generation
    }

    /// Lanes of the wave.
    pub fn lanes(&self) -> u32 {
        self.lanes
    }

    /// Sizes of the matrices.
    pub fn shape(&self) -> Shape {
        self.shape
    }

    /// Whether A is sparse: of four columns two have values.
    pub fn is_sparse(&self) -> bool {
        self.sparse
    }

    /// How many values along k share a scale; none where there are no scales.
    pub fn values_per_scale(&self) -> Option<u32> {
        (self.scaled != 0).then_some(self.scaled.into())
    }

    /// Whether modifiers choose the formats of A and B.
    pub fn chooses_formats(&self) -> bool {
        self.chooses
    }

    /// The instruction with formats of A and B; none where they are fixed and others.
    pub fn with_formats(mut self, a: Format, b: Format) -> Option<MatrixOp> {
        let choice = |format| matches!(format, Format::Fp8 | Format::Bf8 | Format::Fp6 | Format::Bf6 | Format::Fp4);
        let fits = self.chooses && choice(a) && choice(b);
        if !fits && self.formats[..2] != [a, b] {
            return None;
        }
        self.formats[0] = a;
        self.formats[1] = b;
        Some(self)
    }

    /// The format of a matrix's elements; none where the instruction does not have the matrix.
    pub fn format(&self, matrix: Matrix) -> Option<Format> {
        Some(match matrix {
            Matrix::A => self.formats[0],
            Matrix::B => self.formats[1],
            Matrix::C => self.formats[2],
            Matrix::D => self.formats[3],
            Matrix::Index if self.sparse => Format::Index,
            Matrix::ScaleA | Matrix::ScaleB if self.scaled != 0 => Format::E8m0,
            _ => return None,
        })
    }

    /// Where a matrix's elements are; none where the instruction does not have the matrix.
    pub fn layout(&self, matrix: Matrix) -> Option<Layout> {
        let format = self.format(matrix)?;
        Some(family::of(self.generation)?.layout(self, matrix, format))
    }
}

/// What a name says.
pub(super) struct Name {
    pub(super) mfma: bool,
    pub(super) sparse: bool,
    pub(super) scaled: u8,
    pub(super) shape: Shape,
    pub(super) a: Format,
    pub(super) b: Format,
    pub(super) c: Format,
    pub(super) d: Format,
    pub(super) chooses: bool,
}

fn parse(name: &str) -> Option<Name> {
    const KINDS: [(&str, bool, bool, u8); 7] = [
        ("V_MFMA_SCALE_", true, false, 32),
        ("V_MFMA_", true, false, 0),
        ("V_SMFMAC_", true, true, 0),
        ("V_WMMA_SCALE16_", false, false, 16),
        ("V_WMMA_SCALE_", false, false, 32),
        ("V_WMMA_", false, false, 0),
        ("V_SWMMAC_", false, true, 0),
    ];
    let (rest, &(_, mfma, sparse, scaled)) = KINDS.iter().find_map(|kind| Some((name.strip_prefix(kind.0)?, kind)))?;
    let mut parts = rest.split('_');
    let (c, d) = match parts.next()? {
        "BF16F32" => (Format::F32, Format::Bf16),
        name => (format(name)?, format(name)?),
    };
    let (m, rest) = size(parts.next()?)?;
    let (n, rest) = size(rest.strip_prefix('X')?)?;
    let (k, glued) = size(rest.strip_prefix('X')?)?;
    let mut blocks = None;
    let mut formats = [None; 2];
    let mut chooses = false;
    let mut one_k = false;
    // Old names have the format at the end of the shape.
    for part in core::iter::once(glued).filter(|part| !part.is_empty()).chain(parts) {
        if let Some(number) = part.strip_suffix('B').and_then(|number| number.parse().ok()) {
            blocks = Some(number);
        } else if part == "1K" {
            one_k = true;
        } else if part == "F8F6F4" {
            (formats, chooses) = ([Some(Format::Fp8); 2], true);
        } else {
            let format = format(part)?;
            if formats[0].is_none() {
                formats[0] = Some(format);
            }
            formats[1] = Some(format);
        }
    }
    let [Some(a), Some(b)] = formats else { return None };
    // They do not say how many blocks there are either, but how much a lane holds is known.
    let held = match a {
        Format::F16 | Format::I8 => 4,
        Format::Bf16 if one_k => 4,
        Format::Bf16 => 2,
        _ => 1,
    };
    let blocks = if mfma && !glued.is_empty() { (64 * held / (k * m)).max(1) } else { blocks.unwrap_or(1) };
    Some(Name { mfma, sparse, scaled, shape: Shape { m, n, k, blocks }, a, b, c, d, chooses })
}

/// A number and what follows it.
fn size(text: &str) -> Option<(u32, &str)> {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let number: u32 = text[..end].parse().ok()?;
    (number.is_power_of_two() && number <= 128).then_some((number, &text[end..]))
}

fn format(name: &str) -> Option<Format> {
    Some(match name {
        "F64" => Format::F64,
        "F32" => Format::F32,
        "XF32" => Format::Xf32,
        "F16" => Format::F16,
        "BF16" => Format::Bf16,
        "FP8" => Format::Fp8,
        "BF8" => Format::Bf8,
        "F4" => Format::Fp4,
        "I32" => Format::I32,
        "I8" => Format::I8,
        "IU8" => Format::Iu8,
        "IU4" => Format::Iu4,
        _ => return None,
    })
}
