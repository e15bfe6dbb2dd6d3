//! Words to compare: instructions of the tables with likely operands, and random words.

use fastrand::Rng;
use gfx_isa::{EncodingRef, Form, Generation, InstructionInfo, OperandInfo};

use super::shrink::{BYTES, Word};

/// Makes words of one generation, the same for the same seed.
pub(super) struct Words {
    rng: Rng,
    instructions: Vec<InstructionInfo>,
    last: Word,
}

/// Source values that mark a variant, name a literal, or lie at the edge of a range.
const MARKERS: [u32; 12] = [106, 124, 125, 128, 193, 233, 234, 249, 250, 253, 254, 255];

impl Words {
    pub(super) fn new(generation: Generation, seed: u64) -> Words {
        let rng = Rng::with_seed(seed ^ (generation as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15));
        Words { rng, instructions: generation.instructions().collect(), last: [0; BYTES] }
    }

    /// The next word.
    pub(super) fn next(&mut self) -> Word {
        let mut word = self.last;
        match self.rng.u32(..20) {
            0 => self.rng.fill(&mut word),
            1..4 => {
                for _ in 0..self.rng.u32(1..4) {
                    let bit = self.rng.usize(..64);
                    word[bit / 8] ^= 1 << (bit % 8);
                }
            }
            _ => {
                word = self.instruction();
                self.last = word;
            }
        }
        word
    }

    /// An instruction of the tables in one of its forms.
    fn instruction(&mut self) -> Word {
        let mut word = [0; BYTES];
        let Some(&info) = self.rng.choice(&self.instructions) else { return word };
        let variants: Vec<EncodingRef> = info.variants().collect();
        let encoding = match self.rng.choice(&variants) {
            Some(&variant) if self.rng.bool() => variant,
            _ => info.encoding(),
        };
        let (mut value, mut mask) = (info.identifier_in(encoding), info.mask_in(encoding));
        if info.half().is_some() {
            // The other half is some other instruction of the same encoding.
            let others: Vec<_> = self
                .instructions
                .iter()
                .filter(|other| other.half().is_some_and(|half| Some(half) != info.half()))
                .filter(|other| other.encoding().base() == encoding.base())
                .collect();
            if let Some(other) = self.rng.choice(others) {
                value |= other.identifier_in(encoding);
                mask |= other.mask_in(encoding);
            }
        }
        let operands: Vec<OperandInfo> = info.operands().collect();
        let literal_source = self.rng.usize(..3);
        let mut sources = 0;
        // Fields beside the markers that the form needs.
        for field in encoding.fields() {
            let operand = operands.iter().find(|operand| operand.field_name() == Some(field.field()));
            let bits = field.bits().min(32);
            let mut content = self.field(operand.copied(), bits);
            let source = matches!(field.name(), "SRC0" | "SRC1" | "SRC2" | "SSRC0" | "SSRC1" | "SRCX0" | "SRCY0");
            if source && bits >= 8 {
                let first = sources == 0;
                content = match encoding.form() {
                    Form::Dpp16 if first => 250,
                    Form::Dpp8 if first => 233 + self.rng.u32(..2),
                    Form::Sdwa if first => 249,
                    Form::Literal if sources == literal_source || first && bits == 9 && self.rng.bool() => 255,
                    Form::Literal64 if first => 254,
                    _ => content,
                };
                sources += 1;
            }
            let mut content = u128::from(content);
            for range in field.ranges() {
                let piece = (content & !(u128::MAX << range.count.min(127))) << range.offset.min(127);
                value |= piece & !mask;
                content >>= range.count.min(127);
            }
        }
        word[..16].copy_from_slice(&value.to_le_bytes());
        // What the form does not say is a literal, or the next instruction.
        let start = (encoding.bits() as usize / 8).min(16);
        if self.rng.u32(..4) != 0 {
            let literal = self.number(32);
            word[start..start + 4].copy_from_slice(&literal.to_le_bytes());
        }
        word
    }

    /// A value for a field: one that its operand names, or a number; fields without an operand are mostly 0.
    fn field(&mut self, operand: Option<OperandInfo>, bits: u32) -> u32 {
        let Some(operand) = operand else {
            return if self.rng.u32(..10) < 6 { 0 } else { self.number(bits) };
        };
        let values = operand.values();
        if bits >= 7 && self.rng.u32(..12) == 0 {
            return self.rng.choice(MARKERS).unwrap_or_default() & max(bits);
        }
        if values.len() == 0 || self.rng.u32(..12) == 0 {
            return self.number(bits);
        }
        let at = self.rng.usize(..values.len());
        let Some(run) = operand.values().nth(at) else { return 0 };
        let last = run.count().saturating_sub(1);
        let place = match self.rng.u32(..4) {
            0 => 0,
            1 => last,
            _ => self.rng.u32(..=last) & !1,
        };
        run.first().saturating_add(place) & max(bits)
    }

    /// A number: small, at the edge, or any.
    fn number(&mut self, bits: u32) -> u32 {
        let value = match self.rng.u32(..8) {
            0 => 0,
            1 => 1,
            2 => max(bits),
            3 => 1 << self.rng.u32(..bits.clamp(1, 32)),
            4 | 5 => self.rng.u32(..64),
            _ => self.rng.u32(..),
        };
        value & max(bits)
    }
}

fn max(bits: u32) -> u32 {
    u32::MAX.checked_shr(32 - bits.min(32)).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_gives_the_same_words() {
        let words = |seed| {
            let mut words = Words::new(Generation::Rdna4, seed);
            std::iter::repeat_with(|| words.next()).take(100).collect::<Vec<_>>()
        };
        assert_eq!(words(7), words(7));
        assert_ne!(words(7), words(8));
    }

    #[test]
    fn most_words_are_instructions_of_many_forms() {
        let mut words = Words::new(Generation::Rdna4, 1);
        let found: Vec<_> = (0..4000).filter_map(|_| Generation::Rdna4.decode(&words.next()).ok()).collect();
        assert!(found.len() > 2000, "{} of 4000", found.len());
        for form in [Form::Base, Form::Literal, Form::Dpp16, Form::Dpp8] {
            assert!(found.iter().any(|inst| inst.form() == form), "{form:?}");
        }
        let dual = found.iter().filter(|inst| inst.mnemonic_y().is_some()).count();
        assert!(dual > 5, "{dual} dual instructions");
    }
}
