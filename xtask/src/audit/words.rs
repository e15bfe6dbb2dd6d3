//! Words to ask LLVM about: an encoding's fixed bits and opcode, with operands that are likely to be valid.

use std::collections::{BTreeMap, BTreeSet};

use isa_xml::spec::{Encoding, Field, Spec};

/// The longest encoding takes 20 bytes; the rest is zero, as what follows in a stream.
pub(super) const BYTES: usize = 36;

/// What distinguishes a variant from its base encoding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Form {
    Base,
    Literal,
    Literal64,
    Dpp16,
    Dpp8,
    Sdwa,
    Nsa(u8),
}

impl Form {
    pub(super) fn of(encoding: &str) -> Self {
        match encoding {
            name if name.contains("LITERAL64") => Self::Literal64,
            name if name.contains("LITERAL") => Self::Literal,
            name if name.contains("DPP8") => Self::Dpp8,
            name if name.contains("DPP") => Self::Dpp16,
            name if name.contains("SDWA") => Self::Sdwa,
            name => match name.split_once("_NSA") {
                Some((_, count)) => Self::Nsa(count.parse().unwrap_or(1)),
                None => Self::Base,
            },
        }
    }

    /// Whether LLVM's text is of this form.
    pub(super) fn agrees(self, text: &str) -> bool {
        let mnemonic = text.split(' ').next().unwrap_or_default();
        match self {
            // Compares have no suffix in VOPC.
            Self::Dpp8 => text.contains(" dpp8:"),
            Self::Dpp16 => text.contains(" row_mask:"),
            Self::Sdwa => mnemonic.ends_with("_sdwa") || text.contains("src0_sel:"),
            _ => !mnemonic.ends_with("_dpp") && !mnemonic.ends_with("_sdwa"),
        }
    }
}

/// Which field holds the opcode.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Slot {
    /// `OP`, or no field at all.
    Single,
    /// `OPX` of a dual instruction.
    X,
    /// `OPY` of a dual instruction.
    Y,
}

impl Slot {
    pub(super) fn field(self) -> &'static str {
        match self {
            Self::Single => "OP",
            Self::X => "OPX",
            Self::Y => "OPY",
        }
    }
}

/// A deterministic source of variety (xorshift64*).
struct Dice(u64);

impl Dice {
    fn new(seed: u64) -> Self {
        Self(seed | 1)
    }

    fn roll(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        let high = self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33;
        usize::try_from(high).unwrap_or(0) % sides.max(1)
    }

    fn pick(&mut self, values: &[u64]) -> u64 {
        values[self.roll(values.len())]
    }
}

/// The bits of an instruction, the first dword's least significant bit first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Bits([u8; BYTES]);

impl Bits {
    fn put(&mut self, field: &Field, value: u64) {
        let mut rest = value;
        for range in &field.ranges {
            for bit in 0..range.count {
                let at = usize::from(range.offset + bit);
                if let Some(byte) = self.0.get_mut(at / 8) {
                    *byte = *byte & !(1 << (at % 8)) | (((rest & 1) as u8) << (at % 8));
                }
                rest >>= 1;
            }
        }
    }

    fn overlay(&mut self, mask: u128, value: u128) {
        for (byte, (mask, value)) in self.0.iter_mut().zip(mask.to_le_bytes().into_iter().zip(value.to_le_bytes())) {
            *byte = *byte & !mask | value & mask;
        }
    }

    pub(super) fn low(&self) -> u128 {
        self.0[..16].iter().rev().fold(0, |word, &byte| word << 8 | u128::from(byte))
    }

    pub(super) fn bytes(&self) -> &[u8] {
        &self.0
    }
}

pub(super) fn field_mask(field: &Field) -> u128 {
    let bits = field.ranges.iter().flat_map(|range| range.offset..range.offset + range.count);
    bits.filter(|&bit| bit < 128).fold(0, |mask, bit| mask | 1 << bit)
}

fn width(field: &Field) -> u16 {
    field.ranges.iter().map(|range| range.count).sum()
}

/// The value of a field in a word.
pub(super) fn value(field: &Field, word: u128) -> u64 {
    let bits = field.ranges.iter().flat_map(|range| range.offset..range.offset + range.count);
    bits.filter(|&bit| bit < 128).enumerate().fold(0, |value, (at, bit)| value | ((word >> bit & 1) as u64) << at)
}

/// What to make words of: one encoding, opcode and set of operand fields.
#[derive(Debug, Clone)]
pub(super) struct Shape<'a> {
    pub(super) encoding: &'a Encoding,
    pub(super) form: Form,
    pub(super) slot: Slot,
    pub(super) opcode: u32,
    /// The bits that tell the encoding and opcode, and their values.
    fixed: (u128, u128),
    /// Where the shape is a row's: the fields that its operands name, and the sources that hold the literal.
    row: Option<(BTreeSet<&'a str>, Vec<String>)>,
    /// Values that LLVM is known to want.
    pub(super) hints: &'a BTreeMap<String, u64>,
}

/// No hints.
static NO_HINTS: BTreeMap<String, u64> = BTreeMap::new();

impl<'a> Shape<'a> {
    /// The shape of a row.
    pub(super) fn of_row(spec: &'a Spec, row: &'a isa_xml::spec::Row) -> Option<Self> {
        let encoding = spec.encoding(row.encoding);
        let named: BTreeSet<&str> =
            spec.operands(row.operands).iter().filter_map(|operand| operand.field.as_deref()).collect();
        let slot = match encoding.field("OPX") {
            None => Slot::Single,
            Some(_) if named.iter().any(|name| name.ends_with('Y') || name.contains("SRCY")) => Slot::Y,
            Some(_) => Slot::X,
        };
        let literals = literals(&row.condition, slot);
        Some(Self { row: Some((named, literals)), ..Self::new(encoding, slot, row.opcode)? })
    }

    /// A shape with the opcode, whether or not the spec has it.
    pub(super) fn new(encoding: &'a Encoding, slot: Slot, opcode: u32) -> Option<Self> {
        let form = Form::of(&encoding.name);
        let mut fixed = pattern(encoding)?;
        if let Some(field) = encoding.field(slot.field()) {
            let mut bits = Bits([0; BYTES]);
            bits.put(field, u64::from(opcode));
            let mask = field_mask(field);
            if value(field, bits.low()) != u64::from(opcode) {
                return None;
            }
            fixed = (fixed.0 | mask, fixed.1 & !mask | bits.low() & mask);
        }
        Some(Self { encoding, form, slot, opcode, fixed, row: None, hints: &NO_HINTS })
    }

    /// One word; the first of a shape is the plainest. The same shape gives the same words in every run.
    pub(super) fn word(&self, attempt: usize) -> Bits {
        let name = self.encoding.name.bytes().chain(self.slot.field().bytes());
        let seed =
            name.fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3));
        let seed = seed ^ u64::from(self.opcode) << 32 ^ attempt as u64;
        let dice = &mut Dice::new(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        const WILD: [u64; 22] =
            [0, 1, 2, 4, 8, 12, 16, 31, 32, 106, 0x7c, 0x7d, 0x7e, 0x7f, 128, 129, 242, 255, 260, 264, 272, u64::MAX];
        let mut bits = Bits([0; BYTES]);
        for field in &self.encoding.fields {
            if self.is_fixed(field) {
                continue;
            }
            if let Some(&value) = self.hints.get(&field.name) {
                bits.put(field, value);
                continue;
            }
            let values = self.candidates(field);
            // LLVM crashes on some reserved selections.
            let tame = values.len() <= 2 || field.name.contains("SEL") || field.name == "DST_UNUSED";
            let value = match attempt {
                0 => values[0],
                _ if attempt.is_multiple_of(4) && !tame => dice.pick(&WILD),
                _ => dice.pick(&values),
            };
            bits.put(field, value);
        }
        bits.overlay(self.fixed.0, self.fixed.1);
        bits
    }

    fn is_fixed(&self, field: &Field) -> bool {
        let mask = field_mask(field);
        mask != 0 && self.fixed.0 & mask == mask
    }

    /// Likely values, the plainest first. At most two mean that no other value makes the form.
    fn candidates(&self, field: &Field) -> Vec<u64> {
        let name = field.name.as_str();
        let bits = width(field);
        if let Some(values) = self.marker(name) {
            return values;
        }
        if is_source(name) {
            let mut values = match (bits, name.contains('Y')) {
                (0..9, _) => vec![8, 0, 128, 106, 242, 2, 129, 0x7e, 1],
                (_, false) => vec![0x104, 0x108, 8, 128, 0x100, 106, 242, 0x7e],
                (_, true) => vec![0x105, 0x107, 8, 128, 0x103],
            };
            let literal = match self.form {
                Form::Literal => Some(255),
                Form::Literal64 => Some(254),
                _ => None,
            };
            match (&self.row, literal) {
                // Some rows name the field of the source that their condition says is a literal.
                (Some((_, literals)), Some(literal)) if literals.iter().any(|other| other == name) => {
                    return vec![literal];
                }
                (Some((named, _)), _) if named.contains(name) => {}
                // Without meaning; LLVM wants nothing there.
                (Some(_), _) => values.splice(0..0, [0, 0, 0, 0]).for_each(drop),
                (None, Some(literal)) => values.splice(0..0, [literal, literal, literal, 0, 0]).for_each(drop),
                (None, None) => {}
            }
            return values;
        }
        if name.starts_with("VSRC") && self.row.as_ref().is_some_and(|(named, _)| !named.contains(name)) {
            return vec![0, 0, 0, 4, 5];
        }
        let values: &[u64] = match name {
            "VDST" => &[0x10, 8, 106, 4, 0, 126, 0x7c, 1],
            "VDSTX" => &[0x10, 0x11, 4],
            "VDSTY" if bits == 7 => &[8, 9],
            "VDSTY" => &[0x11, 0x10, 5],
            "SDST" => &[8, 0, 106, 2, 0x7c, 126, 16],
            "SADDR" => &[0x7f, 0x7c, 0x7d, 0, 8, 2],
            "SBASE" => &[4, 2, 0],
            "SRSRC" => &[2, 0, 1],
            "SSAMP" => &[1, 0, 2],
            "RSRC" => &[8, 4, 0, 0x7c],
            "SAMP" => &[8, 4],
            "DMASK" => &[1, 15, 3],
            "DIM" => &[0, 1, 2, 3, 4, 5, 6, 7],
            // The second is the only one that 64-bit instructions of CDNA take.
            "DPP_CTRL" => &[0, 0x150, 0x101, 0x1f, 0xe4, 0x140],
            "ROW_MASK" | "BANK_MASK" => &[15, 0, 1],
            "SOFFSET" => &[128, 8, 0, 0x7c, 0x7d, 0x7f],
            "SIMM16" => &[0, 1, 2, 4, 0x8000, 0xffff, 0xf807, 0x41, 0x6a00, 0x7a00],
            "TGT" => &[0, 12, 20],
            "EN" => &[15, 0, 1],
            "DST_SEL" => &[6, 4, 0],
            "SRC0_SEL" => &[6, 4, 1],
            "SRC1_SEL" => &[0, 6, 4],
            "DST_UNUSED" => &[0, 2, 1],
            "OP_SEL_HI" | "OPSEL_HI" => &[0, 3, 7],
            "NFMT" => &[0, 4, 7],
            "DFMT" => &[4, 1, 14],
            "FORMAT" => &[1, 20, 0, 63, 77],
            "OPX" | "OPY" => &[8, 0, 3, 4, 10],
            "VSRCX1" | "VSRCX2" => &[4, 6, 8],
            "VSRCY1" | "VSRCY2" => &[5, 7, 9],
            _ if name.starts_with("VADDR") || name.starts_with("VDATA") || name.starts_with("VSRC") => {
                &[4, 8, 12, 0, 0x7c]
            }
            "ADDR" | "DATA" | "DATA0" | "DATA1" => &[4, 8, 12, 0],
            _ => &[0, 0, 0, 0, 0, 0, 0, 1, u64::MAX],
        };
        values.to_vec()
    }

    /// The values of the fields that make a variant.
    fn marker(&self, name: &str) -> Option<Vec<u64>> {
        let first = matches!(name, "SRC0" | "SSRC0");
        match self.form {
            Form::Sdwa if first => Some(vec![0xf9]),
            Form::Dpp8 if first => Some(vec![0xe9, 0xea]),
            Form::Dpp16 if first => Some(vec![0xfa]),
            Form::Nsa(count) if name == "NSA" => Some(vec![u64::from(count)]),
            _ if name == "NSA" => Some(vec![0]),
            _ => None,
        }
    }
}

/// The source fields that a condition such as `has_lit_0_has_lit_2` or `has_lit_0&!has_lit_1` says hold the literal.
fn literals(condition: &str, slot: Slot) -> Vec<String> {
    let numbered = |number: &u8| {
        ["has_lit_", "has_lit64_"].iter().any(|name| {
            let name = format!("{name}{number}");
            condition.match_indices(&name).any(|(at, _)| !condition[..at].ends_with('!'))
        })
    };
    let mut numbers: Vec<u8> = (0..3).filter(numbered).collect();
    if numbers.is_empty() && condition != "default" {
        numbers.push(0);
    }
    let letter = match slot {
        Slot::Single => "",
        Slot::X => "X",
        Slot::Y => "Y",
    };
    numbers.iter().flat_map(|number| [format!("SRC{letter}{number}"), format!("SSRC{letter}{number}")]).collect()
}

/// `SRC0`, `SSRC1`, `SRCX0`; not `SRC0_ABS`.
fn is_source(name: &str) -> bool {
    let rest = name.strip_prefix('S').map_or(name, |rest| if rest.starts_with("SRC") { rest } else { name });
    let rest = rest.strip_prefix("SCALE_").unwrap_or(rest);
    rest.strip_prefix("SRC").is_some_and(|rest| matches!(rest, "0" | "1" | "2" | "X0" | "Y0"))
}

/// The bits that tell the encoding, without those of its opcode.
pub(super) fn pattern(encoding: &Encoding) -> Option<(u128, u128)> {
    let opcodes = ["OP", "OPX", "OPY"].iter().filter_map(|name| encoding.field(name));
    let mask = encoding.identifier_mask & !opcodes.fold(0, |mask, field| mask | field_mask(field));
    Some((mask, encoding.identifiers.first()? & mask))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conditions_tell_the_literal() {
        assert_eq!(literals("has_lit_0_has_lit_2", Slot::Single), ["SRC0", "SSRC0", "SRC2", "SSRC2"]);
        assert_eq!(literals("has_lit_1&!has_lit_0", Slot::Single), ["SRC1", "SSRC1"]);
        assert_eq!(literals("has_lit", Slot::Y), ["SRCY0", "SSRCY0"]);
    }

    #[test]
    fn sources_are_told_from_modifiers() {
        assert!(["SRC0", "SSRC1", "SRCX0", "SRCY0", "SCALE_SRC2", "SRC2"].iter().all(|name| is_source(name)));
        assert!(!["SRC0_ABS", "VSRC0", "SRSRC", "SRC0_SEL"].iter().any(|name| is_source(name)));
    }

    #[test]
    fn forms_are_told_by_name() {
        assert_eq!(Form::of("VOP3_SDST_ENC_INST_LITERAL"), Form::Literal);
        assert_eq!(Form::of("SOP1_INST_LITERAL64"), Form::Literal64);
        assert_eq!(Form::of("VOP1_VOP_DPP"), Form::Dpp16);
        assert_eq!(Form::of("MIMG_NSA3"), Form::Nsa(3));
        assert_eq!(Form::of("ENC_VOP3PX2"), Form::Base);
    }
}
