//! Bytes to instructions.

use core::fmt;

use crate::Generation;
use crate::inst::{Dpp16, Inst, Sdwa};
use crate::table::{Class, Form, Row, Source, Space, Tables};

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
        if self.tables.generation.wave_sizes().contains(&lanes) {
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
        let rest = self.bytes.get(self.offset..)?;
        if let Some(inst) = rest.first_chunk().and_then(|chunk| common(self.tables, dwords(chunk), self.wave64)) {
            self.offset += inst.len();
            return Some(Ok(inst));
        }
        if rest.is_empty() { None } else { Some(self.uncommon(rest)) }
    }
}

impl Decoder<'_> {
    /// Decodes what [`common`] leaves: every form, every error, the end of the input.
    #[cold]
    fn uncommon(&mut self, rest: &[u8]) -> Result<Inst, DecodeError> {
        let (words, available) = load(rest);
        let result = decode(self.tables, words, available, self.wave64).map_err(|kind| {
            let len = if kind == DecodeErrorKind::Truncated { rest.len() } else { rest.len().min(4) };
            DecodeError { kind, offset: self.offset, len }
        });
        self.offset += result.as_ref().map_or_else(|error| error.len, Inst::len);
        result
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

#[inline]
fn dwords(bytes: &[u8; MAX_DWORDS * 4]) -> [u32; MAX_DWORDS] {
    let mut words = [0; MAX_DWORDS];
    for (word, chunk) in words.iter_mut().zip(bytes.chunks_exact(4)) {
        *word = u32::from_le_bytes([chunk[0], chunk[1], chunk[2], chunk[3]]);
    }
    words
}

/// Up to five dwords and how many of them are whole.
fn load(bytes: &[u8]) -> ([u32; MAX_DWORDS], usize) {
    let mut whole = [0; MAX_DWORDS * 4];
    let len = bytes.len().min(whole.len()) & !3;
    whole[..len].copy_from_slice(&bytes[..len]);
    (dwords(&whole), len / 4)
}

/// Decodes base forms and 32-bit literals, most of any program, without finding out what is wrong with the rest.
#[inline]
fn common(tables: &'static Tables, words: [u32; MAX_DWORDS], wave64: bool) -> Option<Inst> {
    let space = tables.spaces.get(usize::from(tables.prefixes[(words[0] >> 23) as usize]))?;
    let index = space.index(pair(words[0], words[1]))?;
    let row = tables.rows[index];
    if row.is_reserved() || !row.is_simple() {
        return None;
    }
    let mut literal = false;
    for &check in row.checks() {
        if check.is_end() {
            break;
        }
        let value = check.value(&words);
        if !check.allows(value) {
            // The marker of a variant is no allowed value either.
            if value != marker::LITERAL || row.literals() >> check.source() & 1 == 0 {
                return None;
            }
            literal = true;
        }
    }
    let form = if literal { Form::Literal } else { Form::Base };
    Some(Inst::new(tables, index, words, row.dwords() + usize::from(literal), form, wave64))
}

fn decode(
    tables: &'static Tables,
    words: [u32; MAX_DWORDS],
    available: usize,
    wave64: bool,
) -> Result<Inst, DecodeErrorKind> {
    use DecodeErrorKind::{ReservedEncoding, ReservedOpcode, Truncated};
    if available == 0 {
        return Err(Truncated);
    }
    let prefix = tables.prefixes[(words[0] >> 23) as usize];
    let Some(mut space) = tables.spaces.get(usize::from(prefix)) else { return Err(ReservedEncoding) };
    // Dual-issue words are for waves of 32 lanes.
    if wave64 && space.class == Class::Vopd {
        return Err(ReservedEncoding);
    }
    let mut index = space.index(pair(words[0], words[1])).ok_or(ReservedOpcode)?;
    let mut row = tables.rows[index];
    if row.is_reserved() {
        return Err(ReservedOpcode);
    }
    if let Some(second) = row.prefix_of() {
        let second = &tables.spaces[second];
        let found = (tables.prefixes[(words[2] >> 23) as usize] == prefix)
            .then(|| second.index(pair(words[2], words[3])))
            .flatten()
            .filter(|&index| available >= 4 && !tables.rows[index].is_reserved());
        match found {
            Some(at) => (index, row, space) = (at, tables.rows[at], second),
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
    Ok(Inst::new(tables, index, words, dwords, form, wave64))
}

#[inline]
const fn pair(low: u32, high: u32) -> u64 {
    (high as u64) << 32 | low as u64
}

/// Finds the variant and the length in dwords, and checks the operands.
fn shape(
    tables: &'static Tables,
    space: &Space,
    row: Row,
    words: &[u32; MAX_DWORDS],
) -> Result<(Form, usize), DecodeErrorKind> {
    let base = row.dwords();
    match space.class {
        Class::Plain | Class::Scalar => {}
        Class::Mimg => {
            let extra = space.extra_dwords(words[0]);
            check(row, words, None)?;
            return Ok((if extra == 0 { Form::Base } else { Form::Nsa }, base + extra));
        }
        Class::Vop | Class::Vop3 => {
            let selector = words[usize::from(space.class == Class::Vop3)] & 0x1ff;
            if (marker::DPP8..=marker::DPP16).contains(&selector)
                && let Some(form) = variant(tables, row, words, selector)?
            {
                return Ok((form, base + 1));
            }
        }
        Class::Vopd => return dual_shape(tables, space, row, words),
    }
    let literal = check(row, words, None)?;
    let mandatory = row.mandatory();
    Ok(match literal {
        0 => (Form::Base, base + mandatory),
        1 => (Form::Literal, base + mandatory.max(1)),
        _ => (Form::Literal64, base + mandatory.max(2)),
    })
}

/// The form that the selector of source 0 marks, where the row has it.
fn variant(
    tables: &Tables,
    row: Row,
    words: &[u32; MAX_DWORDS],
    selector: u32,
) -> Result<Option<Form>, DecodeErrorKind> {
    let form = match selector {
        marker::DPP16 if row.dpp16() => Form::Dpp16,
        marker::DPP8 | marker::DPP8_FI if row.dpp8() => Form::Dpp8,
        marker::SDWA if row.sdwa() => Form::Sdwa,
        _ => return Ok(None),
    };
    let dword = words[row.dwords()];
    let valid = match form {
        Form::Sdwa => sdwa_is_valid(tables, dword, words[0], row),
        Form::Dpp16 => dpp_is_valid(tables.generation, Dpp16(dword)),
        _ => true,
    };
    // The variant's dword stands where a literal would.
    if !valid || row.mandatory() != 0 || check(row, words, Some(0))? != 0 {
        return Err(DecodeErrorKind::ReservedVariant);
    }
    Ok(Some(form))
}

/// [`shape`] of a dual-issue word.
fn dual_shape(
    tables: &Tables,
    space: &Space,
    row: Row,
    words: &[u32; MAX_DWORDS],
) -> Result<(Form, usize), DecodeErrorKind> {
    let half = tables.spaces.get(usize::from(space.pair));
    let y = half.and_then(|half| half.index(pair(words[0], words[1]))).map(|at| tables.rows[at]);
    let y = y.filter(|y| !y.is_reserved()).ok_or(DecodeErrorKind::ReservedOpcode)?;
    let literal = check(row, words, None)? | check(y, words, None)?;
    let (base, mandatory) = (row.dwords(), row.mandatory() | y.mandatory());
    Ok(if literal == 0 { (Form::Base, base + mandatory) } else { (Form::Literal, base + 1) })
}

/// Whether a DPP control has a meaning.
fn dpp_is_valid(generation: Generation, dpp: Dpp16) -> bool {
    let gfx9 = generation <= Generation::Cdna4;
    match dpp.ctrl() {
        0..=0xff | 0x101..=0x10f | 0x111..=0x11f | 0x121..=0x12f | 0x140 | 0x141 => true,
        0x130 | 0x134 | 0x138 | 0x13c | 0x142 | 0x143 => gfx9,
        0x150..=0x15f => generation != Generation::Cdna1,
        0x160..=0x16f => !gfx9,
        _ => false,
    }
}

/// Whether the selectors of an SDWA dword have a meaning and scalar sources exist. `low`: the word before.
fn sdwa_is_valid(tables: &Tables, word: u32, low: u32, row: Row) -> bool {
    let sdwa = Sdwa(word);
    // Compares have a scalar destination in the place of the destination's selectors.
    let is_compare = tables.encodings[row.encoding()].name == "ENC_VOPC";
    let destination = is_compare || (sdwa.dst_sel() < 7 && sdwa.dst_unused() < 3);
    let exists = |value: u32| {
        let source = tables.sources[(value & 0xff) as usize];
        !matches!(source, Source::Reserved | Source::Literal | Source::Literal64)
    };
    let source0 = !sdwa.s0() || exists(sdwa.src0().into());
    let source1 = !sdwa.s1() || !row.operands().iter().any(|desc| desc.source() == 1) || exists(low >> 9);
    destination && source0 && source1 && sdwa.src0_sel() < 7 && sdwa.src1_sel() < 7
}

/// Checks that every checked field holds a value that it may; gives 1 for a literal, 2 for a 64-bit literal, 0 for none.
/// `marked` is the source whose field holds the marker of a variant instead.
fn check(row: Row, words: &[u32; MAX_DWORDS], marked: Option<u32>) -> Result<u32, DecodeErrorKind> {
    let mut literal = 0;
    for &check in row.checks() {
        if check.is_end() {
            break;
        }
        let value = check.value(words);
        if !check.allows(value) && marked != Some(check.source()) {
            literal |= literal_kind(row, check.source(), value)?;
        }
    }
    Ok(literal)
}

/// Of a value that the field's set does not have: 1 or 2 for a literal that the row takes in that source.
fn literal_kind(row: Row, source: u32, value: u32) -> Result<u32, DecodeErrorKind> {
    let takes = source < 3 && row.literals() >> source & 1 != 0;
    match value {
        marker::LITERAL if takes => Ok(1),
        marker::LITERAL64 if takes && row.literal64() => Ok(2),
        marker::LITERAL if source < 3 => Err(DecodeErrorKind::ReservedVariant),
        _ => Err(DecodeErrorKind::ReservedOperand),
    }
}
