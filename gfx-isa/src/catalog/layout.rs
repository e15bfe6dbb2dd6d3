//! Encodings and where their fields are.

use core::fmt;

use crate::table::{FieldLayout, Form, Tables};
use crate::{Field, Generation};

use super::{Half, opcode_fields};

/// An encoding of AMD's XML, in one generation.
#[derive(Clone, Copy)]
pub struct EncodingRef {
    pub(super) tables: &'static Tables,
    pub(super) index: usize,
}

impl EncodingRef {
    fn info(self) -> &'static crate::table::EncodingInfo {
        &self.tables.encodings[self.index]
    }

    /// AMD's name, for example `ENC_VOP3`.
    pub fn name(self) -> &'static str {
        self.info().name
    }

    /// Whether a name means this encoding, in any case and with or without `ENC_`.
    pub fn is_named(self, name: &str) -> bool {
        let own = self.name();
        own.eq_ignore_ascii_case(name) || own.strip_prefix("ENC_").is_some_and(|own| own.eq_ignore_ascii_case(name))
    }

    /// The generation.
    pub fn generation(self) -> Generation {
        self.tables.generation
    }

    /// Which variant of [`EncodingRef::base`] it is.
    pub fn form(self) -> Form {
        self.info().form
    }

    /// The encoding that it is a variant of; itself where it is none.
    pub fn base(self) -> EncodingRef {
        EncodingRef { index: usize::from(self.info().base), ..self }
    }

    /// The encodings that are variants of this one.
    pub fn variants(self) -> impl Iterator<Item = EncodingRef> + Clone {
        let all = (0..self.tables.encodings.len()).map(move |index| EncodingRef { index, ..self });
        all.filter(move |other| *other != self && other.base() == self)
    }

    /// Width in bits.
    pub fn bits(self) -> u32 {
        u32::from(self.info().bits)
    }

    /// AMD's identifier mask: the bits that tell the encoding and most opcodes.
    pub fn mask(self) -> u128 {
        self.info().mask
    }

    /// Value of the masked bits that are no opcode.
    pub fn fixed(self) -> u128 {
        self.info().fixed
    }

    /// AMD's order of decoding.
    pub fn order(self) -> i32 {
        i32::from(self.info().order)
    }

    /// The fields, from the high bit down.
    pub fn fields(self) -> impl Iterator<Item = FieldRef> + Clone {
        self.info().layout().fields.iter().map(FieldRef)
    }

    /// Every bit of the word, from the high bit down.
    pub fn layout(self) -> LayoutPieces {
        LayoutPieces::new(self, None, None)
    }

    /// Whether two encodings have the same fields, by AMD's names, in the same bits.
    pub fn same_fields(self, other: EncodingRef) -> bool {
        self.bits() == other.bits() && self.info().layout() == other.info().layout()
    }

    /// Whether the bits that mark two encodings are the same.
    pub fn same_fixed_bits(self, other: EncodingRef) -> bool {
        let opcodes = |e: EncodingRef| {
            [None, Some(Half::X), Some(Half::Y)].into_iter().fold(0, |bits, half| bits | e.place_opcode(u32::MAX, half))
        };
        self.fixed() == other.fixed() && self.mask() & !opcodes(self) == other.mask() & !opcodes(other)
    }

    /// Bits of the opcode, least significant first.
    pub(super) fn opcode_ranges(self, half: Option<Half>) -> impl Iterator<Item = BitRange> {
        let of = move |&name: &Field| self.fields().filter(move |field| field.field() == name);
        opcode_fields(half).iter().flat_map(of).flat_map(FieldRef::ranges)
    }

    pub(super) fn place_opcode(self, opcode: u32, half: Option<Half>) -> u128 {
        let (mut word, mut at) = (0, 0);
        for range in self.opcode_ranges(half) {
            let part = u128::from(opcode.checked_shr(at).unwrap_or(0)) & !(u128::MAX << range.count.min(127));
            word |= part.checked_shl(range.offset).unwrap_or(0);
            at += range.count;
        }
        word
    }
}

impl fmt::Debug for EncodingRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "EncodingRef({} {})", self.generation().name(), self.name())
    }
}

impl PartialEq for EncodingRef {
    fn eq(&self, other: &Self) -> bool {
        (self.generation(), self.index) == (other.generation(), other.index)
    }
}

impl Eq for EncodingRef {}

/// Consecutive bits of a word. Shows as AMD writes them: `63:61`, or `15` for one bit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BitRange {
    /// The lowest bit.
    pub offset: u32,
    /// How many; at least one.
    pub count: u32,
}

impl BitRange {
    /// The highest bit.
    pub const fn high(self) -> u32 {
        self.offset + self.count - 1
    }

    /// The bits of a word that the range covers; 0 for bits above 127.
    pub(super) fn mask(self) -> u128 {
        let ones = if self.count >= 128 { u128::MAX } else { (1 << self.count) - 1 };
        if self.offset >= 128 { 0 } else { ones << self.offset }
    }
}

impl fmt::Display for BitRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.count {
            1 => write!(f, "{}", self.offset),
            _ => write!(f, "{}:{}", self.high(), self.offset),
        }
    }
}

/// A field of an encoding.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct FieldRef(&'static FieldLayout);

impl FieldRef {
    /// AMD's name in this generation.
    pub fn name(self) -> &'static str {
        self.0.name
    }

    /// The name that is the same in all generations.
    pub fn field(self) -> Field {
        self.0.field
    }

    /// Its bits, those of the least significant bits of the value first.
    pub fn ranges(self) -> impl ExactSizeIterator<Item = BitRange> + Clone {
        self.0.ranges.iter().map(|&(offset, count)| BitRange { offset: offset.into(), count: count.into() })
    }

    /// Width in bits.
    pub fn bits(self) -> u32 {
        self.ranges().map(|range| range.count).sum()
    }
}

impl fmt::Debug for FieldRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "FieldRef({}", self.name())?;
        self.ranges().try_for_each(|range| write!(f, " {range}"))?;
        f.write_str(")")
    }
}

/// What a piece of a layout is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Role {
    /// Bits that mark the encoding.
    Fixed,
    /// Bits of the opcode.
    Opcode,
    /// A field, or a part of one.
    Field,
    /// Bits that no field has.
    Unused,
}

/// Consecutive bits of a layout that belong together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LayoutPiece {
    /// The bits.
    pub range: BitRange,
    /// What they are.
    pub role: Role,
    /// The field; none for unused bits.
    pub field: Option<FieldRef>,
    /// Of a field in several pieces, the bits of the field's value that this piece holds.
    pub part: Option<BitRange>,
    /// The value of fixed bits and, for an instruction's layout, of the opcode.
    pub value: Option<u128>,
}

impl LayoutPiece {
    /// AMD's name of the field; none for unused bits.
    pub fn name(self) -> Option<&'static str> {
        self.field.map(FieldRef::name)
    }
}

/// Every bit of a word, in pieces from the high bit down.
#[derive(Debug, Clone)]
pub struct LayoutPieces {
    encoding: EncodingRef,
    /// Value and mask of the bits whose value is known.
    known: (u128, u128),
    opcode: u128,
    /// One above the next bit.
    top: u32,
}

impl LayoutPieces {
    pub(super) fn new(encoding: EncodingRef, known: Option<(u128, u128)>, half: Option<Half>) -> LayoutPieces {
        let mut opcode = encoding.place_opcode(u32::MAX, half);
        if known.is_none() {
            opcode |= encoding.place_opcode(u32::MAX, Some(Half::X)) | encoding.place_opcode(u32::MAX, Some(Half::Y));
        }
        let known = known.unwrap_or((encoding.fixed(), encoding.mask() & !opcode));
        LayoutPieces { encoding, known, opcode, top: encoding.bits() }
    }
}

impl Iterator for LayoutPieces {
    type Item = LayoutPiece;

    fn next(&mut self) -> Option<LayoutPiece> {
        let top = self.top;
        if top == 0 {
            return None;
        }
        let pieces = self.encoding.fields().flat_map(|field| {
            field
                .ranges()
                .scan(0, |at, range| {
                    let part = BitRange { offset: *at, count: range.count };
                    *at += range.count;
                    Some((range, part))
                })
                .map(move |(range, part)| (range, part, field))
        });
        let below =
            pieces.filter(|(range, ..)| range.offset + range.count <= top).max_by_key(|(range, ..)| range.high());
        let start = below.map_or(0, |(range, ..)| range.offset + range.count);
        let piece = match below {
            Some((range, part, field)) if start == top => {
                let part = Some(part).filter(|_| field.ranges().len() > 1);
                LayoutPiece { range, role: Role::Field, field: Some(field), part, value: None }
            }
            // A gap; where the identifier says some of its bits, they are a piece of their own.
            _ => {
                let known = |bit: u32| self.known.1 & BitRange { offset: bit, count: 1 }.mask() != 0;
                let first = known(top - 1);
                let offset = (start..top).rev().take_while(|&bit| known(bit) == first).last().unwrap_or(top - 1);
                let range = BitRange { offset, count: top - offset };
                LayoutPiece { range, role: Role::Unused, field: None, part: None, value: None }
            }
        };
        self.top = piece.range.offset;
        let mask = piece.range.mask();
        let role = match () {
            () if mask != 0 && self.opcode & mask == mask => Role::Opcode,
            () if mask != 0 && self.known.1 & mask == mask => Role::Fixed,
            () => piece.role,
        };
        let value = (mask != 0 && self.known.1 & mask == mask).then(|| (self.known.0 & mask) >> piece.range.offset);
        Some(LayoutPiece { role, value, ..piece })
    }
}
