//! Bytes to instructions.

use core::fmt;

use crate::Generation;
use crate::inst::{Inst, Sdwa};
use crate::table::{Class, Form, Kind, OperandDesc, Row, Source, Space, Tables};
use crate::view::get_bits;

/// Longest instruction in dwords: an image instruction of RDNA 1 and 2 with three dwords of addresses.
const MAX_DWORDS: usize = 5;

/// Source values that mark a variant instead of naming an operand.
mod marker {
    pub(super) const DPP8: u32 = 233;
    pub(super) const DPP8_FI: u32 = 234;
    pub(super) const SDWA: u32 = 249;
    pub(super) const DPP16: u32 = 250;
    pub(super) const LITERAL64: u32 = 254;
    pub(super) const LITERAL: u32 = 255;
}

/// Why bytes are not an instruction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum DecodeErrorKind {
    /// No encoding begins with these bits.
    ReservedEncoding,
    /// The encoding has no such opcode in this generation.
    ReservedOpcode,
    /// The instruction does not have this variant (literal, DPP, SDWA), or a field of the variant is reserved.
    ReservedVariant,
    /// A field holds a value that its operand may not have.
    ReservedOperand,
    /// The bytes end within the instruction.
    Truncated,
}

/// Bytes that are not an instruction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct DecodeError {
    /// Why.
    pub kind: DecodeErrorKind,
    /// Bytes from the start of the input.
    pub offset: usize,
    /// Bytes to skip before decoding can go on: 4, or what is left.
    pub len: usize,
}

impl fmt::Display for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = match self.kind {
            DecodeErrorKind::ReservedEncoding => "reserved encoding",
            DecodeErrorKind::ReservedOpcode => "reserved opcode",
            DecodeErrorKind::ReservedVariant => "the instruction has no such literal, DPP or SDWA form",
            DecodeErrorKind::ReservedOperand => "reserved operand value",
            DecodeErrorKind::Truncated => "the input ends within an instruction",
        };
        write!(f, "offset {:#x}: {what}", self.offset)
    }
}

impl core::error::Error for DecodeError {}

/// Decodes one instruction after the other.
///
/// After an error it goes on behind the bytes that the error skips.
#[derive(Debug, Clone)]
pub struct Decoder<'a> {
    tables: &'static Tables,
    bytes: &'a [u8],
    offset: usize,
    wave64: bool,
}

impl<'a> Decoder<'a> {
    /// A decoder of little-endian machine code.
    ///
    /// # Panics
    /// Where the generation's feature is off; [`Generation::is_available`] tells.
    pub fn new(generation: Generation, bytes: &'a [u8]) -> Decoder<'a> {
        let tables = generation.tables().expect("the generation's cargo feature is on");
        Decoder { tables, bytes, offset: 0, wave64: generation.wave_sizes()[0] == 64 }
    }

    /// Sets the size of the waves that run the code, where the generation has both: the width of lane masks.
    #[must_use]
    pub fn wave_size(mut self, lanes: u32) -> Decoder<'a> {
        let known = self.tables.generation.wave_sizes().iter().any(|&size| size == lanes);
        if known {
            self.wave64 = lanes == 64;
        }
        self
    }

    /// Bytes from the start of the input to the next instruction.
    pub fn offset(&self) -> usize {
        self.offset
    }

    /// Moves to another place of the input; past its end decoding is over.
    pub fn set_offset(&mut self, offset: usize) {
        self.offset = offset;
    }
}

impl Iterator for Decoder<'_> {
    type Item = Result<Inst, DecodeError>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        let rest = self.bytes.get(self.offset..).filter(|rest| !rest.is_empty())?;
        let (words, available) = load(rest);
        match decode(self.tables, words, available, self.wave64) {
            Ok(inst) => {
                self.offset += inst.len();
                Some(Ok(inst))
            }
            Err(kind) => {
                let len = if kind == DecodeErrorKind::Truncated { rest.len() } else { rest.len().min(4) };
                let error = DecodeError { kind, offset: self.offset, len };
                self.offset += len;
                Some(Err(error))
            }
        }
    }
}

impl Generation {
    /// Decodes the instruction at the start of some bytes.
    ///
    /// # Errors
    /// Where the bytes are no instruction of this generation.
    ///
    /// # Panics
    /// Where the generation's feature is off.
    pub fn decode(self, bytes: &[u8]) -> Result<Inst, DecodeError> {
        let truncated = DecodeError { kind: DecodeErrorKind::Truncated, offset: 0, len: 0 };
        Decoder::new(self, bytes).next().unwrap_or(Err(truncated))
    }
}

/// Up to five dwords and how many of them are whole.
#[inline]
fn load(bytes: &[u8]) -> ([u32; MAX_DWORDS], usize) {
    let mut words = [0; MAX_DWORDS];
    if let Some(whole) = bytes.first_chunk::<{ MAX_DWORDS * 4 }>() {
        for (word, chunk) in words.iter_mut().zip(whole.chunks_exact(4)) {
            *word = u32::from_le_bytes([chunk[0], chunk[1], chunk[2], chunk[3]]);
        }
        return (words, MAX_DWORDS);
    }
    let chunks = bytes.chunks_exact(4);
    let available = chunks.len();
    for (word, chunk) in words.iter_mut().zip(chunks) {
        *word = u32::from_le_bytes([chunk[0], chunk[1], chunk[2], chunk[3]]);
    }
    (words, available)
}

#[inline]
fn decode(
    tables: &'static Tables,
    mut words: [u32; MAX_DWORDS],
    available: usize,
    wave64: bool,
) -> Result<Inst, DecodeErrorKind> {
    use DecodeErrorKind::{ReservedEncoding, ReservedOpcode, Truncated};
    if available == 0 {
        return Err(Truncated);
    }
    let prefix = tables.prefixes[(words[0] >> 23) as usize];
    let Some(mut space) = tables.spaces.get(usize::from(prefix)) else { return Err(ReservedEncoding) };
    let first = u64::from(words[1]) << 32 | u64::from(words[0]);
    let mut index = space.index(first).ok_or(ReservedOpcode)?;
    let mut row = tables.rows[index];
    if row.is_reserved() {
        return Err(ReservedOpcode);
    }
    if let Some(second) = row.prefix_of() {
        let pair = (tables.prefixes[(words[2] >> 23) as usize] == prefix)
            .then(|| tables.spaces[second].index(u64::from(words[3]) << 32 | u64::from(words[2])))
            .flatten()
            .filter(|&index| available >= 4 && !tables.rows[index].is_reserved());
        match pair {
            Some(at) => {
                index = at;
                row = tables.rows[at];
                space = &tables.spaces[second];
            }
            // Not a pair: the first half by itself, where that is an instruction.
            None if row.dwords() > 2 => return Err(if available < 4 { Truncated } else { ReservedOpcode }),
            None => {}
        }
    }
    if row.dwords() > available {
        return Err(Truncated);
    }
    let (form, dwords) = shape(tables, space, row, &words)?;
    if dwords > available {
        return Err(Truncated);
    }
    for word in &mut words[dwords..] {
        *word = 0;
    }
    Ok(Inst::new(tables, index, words, dwords, form, wave64))
}

/// Finds the variant and the length in dwords, and checks the operands.
#[inline]
fn shape(
    tables: &'static Tables,
    space: &Space,
    row: Row,
    words: &[u32; MAX_DWORDS],
) -> Result<(Form, usize), DecodeErrorKind> {
    use DecodeErrorKind::ReservedVariant;
    let base = row.dwords();
    let mut form = Form::Base;
    match space.class {
        Class::Plain => {}
        Class::Mimg => {
            let extra = nsa_dwords(tables, row, words);
            check(row.operands(), words, row, u32::MAX)?;
            return Ok((if extra == 0 { Form::Base } else { Form::Nsa }, base + extra));
        }
        Class::Scalar => {}
        Class::Vop | Class::Vop3 => {
            let selector = words[usize::from(space.class == Class::Vop3)] & 0x1ff;
            form = match selector {
                marker::DPP16 if row.dpp16() => Form::Dpp16,
                marker::DPP8 | marker::DPP8_FI if row.dpp8() => Form::Dpp8,
                marker::SDWA if row.sdwa() => Form::Sdwa,
                _ => Form::Base,
            };
            if form != Form::Base {
                if row.mandatory() != 0 {
                    return Err(ReservedVariant);
                }
                check(row.operands(), words, row, 0)?;
                if form == Form::Sdwa && !sdwa_is_valid(tables, words[base], row) {
                    return Err(ReservedVariant);
                }
                return Ok((form, base + 1));
            }
        }
        Class::Vopd => {
            let first = u64::from(words[1]) << 32 | u64::from(words[0]);
            let pair = tables.spaces.get(usize::from(space.pair));
            let y = pair.and_then(|pair| pair.index(first)).map(|at| tables.rows[at]);
            let y = y.filter(|y| !y.is_reserved()).ok_or(DecodeErrorKind::ReservedOpcode)?;
            let literal = check(row.operands(), words, row, u32::MAX)? | check(y.operands(), words, y, u32::MAX)?;
            let mandatory = row.mandatory() | y.mandatory();
            return Ok(match literal {
                0 if mandatory == 0 => (Form::Base, base),
                0 => (Form::Base, base + mandatory),
                _ => (Form::Literal, base + 1),
            });
        }
    }
    let literal = check(row.operands(), words, row, u32::MAX)?;
    let mandatory = row.mandatory();
    Ok(match literal {
        0 => (form, base + mandatory),
        1 => (Form::Literal, base + mandatory.max(1)),
        _ => (Form::Literal64, base + mandatory.max(2)),
    })
}

/// Whether the selectors of an SDWA dword have a meaning and a scalar source 0 exists.
fn sdwa_is_valid(tables: &Tables, word: u32, row: Row) -> bool {
    let sdwa = Sdwa(word);
    // Compares have a scalar destination in the place of the destination's selectors.
    let is_compare = tables.encodings[row.encoding()].name == "ENC_VOPC";
    let destination = is_compare || (sdwa.dst_sel() < 7 && sdwa.dst_unused() < 3);
    let source0 = !sdwa.s0() || !matches!(tables.sources[usize::from(sdwa.src0())], Source::Reserved);
    destination && source0 && sdwa.src0_sel() < 7 && sdwa.src1_sel() < 7
}

/// Dwords of addresses behind an image instruction.
fn nsa_dwords(tables: &Tables, row: Row, words: &[u32; MAX_DWORDS]) -> usize {
    let layout = tables.encodings[row.encoding()].layout();
    let field = layout.fields.iter().find(|f| f.field == crate::Field::NSA);
    field.map_or(0, |f| f.ranges.iter().fold(0, |_, &(offset, count)| get_bits(words, offset.into(), count.into()) as usize))
}

/// Checks that every field operand holds a value that it may; gives 1 for a literal, 2 for a 64-bit literal, 0 for none.
/// `source0` is 0 where the field of source 0 holds the marker of a variant.
#[inline]
fn check(operands: &[OperandDesc], words: &[u32; MAX_DWORDS], row: Row, source0: u32) -> Result<u32, DecodeErrorKind> {
    let mut literal = 0;
    for &desc in operands {
        let count = desc.count();
        if count == 0 || count > 16 {
            continue;
        }
        let source = desc.source();
        if source == 0 && source0 == 0 {
            continue;
        }
        let ty = desc.ty();
        if !matches!(ty.kind, Kind::Source | Kind::SourceOrAcc | Kind::SourceAcc) {
            continue;
        }
        let value = get_bits(words, desc.offset(), count) << desc.scale();
        if source < 3 && value >= marker::LITERAL64 && value <= marker::LITERAL {
            let allowed = row.literals() >> source & 1 != 0;
            if value == marker::LITERAL && allowed {
                literal |= 1;
                continue;
            }
            if value == marker::LITERAL64 && allowed && row.literal64() {
                literal |= 2;
                continue;
            }
            if value == marker::LITERAL {
                return Err(DecodeErrorKind::ReservedVariant);
            }
        }
        // Sixteen SGPRs are the longest range that the scalar file has; longer data is in VGPRs.
        let scalar_range = value < 128 && desc.size() > 512;
        if scalar_range || !ty.allows(value) {
            return Err(DecodeErrorKind::ReservedOperand);
        }
    }
    Ok(literal)
}
