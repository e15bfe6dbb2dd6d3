//! Instructions to text: LLVM's assembly syntax, letter for letter.
//!
//! ```
//! # #[cfg(feature = "rdna4")] {
//! use gfx_isa::Generation;
//!
//! let inst = Generation::Rdna4.decode(&[0x01, 0x05, 0x06, 0x06]).unwrap();
//! assert_eq!(inst.to_string(), "v_add_f32_e32 v3, v1, v2");
//! # }
//! ```

mod modifier;
mod operand;
mod special;
mod text;

use core::fmt;

use crate::Generation;
use crate::inst::Inst;
use crate::syntax::{Family, SlotKind, Suffix, Syntax};
use crate::table::{Form, Row};

pub(crate) use operand::MASK;
use text::Text;

/// How text is to look. The default is what `llvm-mc` prints for the generation.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Options {
    /// Spell halves of 16-bit operands (`v5.l`). `None`: as LLVM does for the generation by default, which is on RDNA 3
    /// and 3.5 only.
    pub true16: Option<bool>,
    /// Write every immediate in hexadecimal.
    pub hex: bool,
    /// How branch targets are written.
    pub targets: Targets,
}

/// How branch targets are written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Targets {
    /// The 16 bits of the offset as a decimal number, in dwords from the next instruction: LLVM's text.
    #[default]
    Raw,
    /// The address in hexadecimal.
    Absolute,
}

/// Writes instructions as text.
#[derive(Clone, Copy, Default)]
pub struct Formatter<'a> {
    options: Options,
    labels: Option<&'a dyn Fn(u64) -> Option<&'a str>>,
}

impl fmt::Debug for Formatter<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Formatter").field("options", &self.options).finish_non_exhaustive()
    }
}

impl<'a> Formatter<'a> {
    /// A formatter with options.
    #[must_use]
    pub const fn new(options: Options) -> Formatter<'a> {
        Formatter { options, labels: None }
    }

    /// Writes branch targets by the names that a function gives to addresses, where it gives one.
    #[must_use]
    pub const fn with_labels(mut self, labels: &'a dyn Fn(u64) -> Option<&'a str>) -> Formatter<'a> {
        self.labels = Some(labels);
        self
    }

    /// Writes one instruction that lies at the address `pc`, without a line break.
    ///
    /// # Errors
    /// Where the output refuses text.
    pub fn format(&self, inst: &Inst, pc: u64, out: &mut impl fmt::Write) -> fmt::Result {
        let mut writer = Writer::new(inst, self.options);
        writer.instruction();
        out.write_str(writer.text.as_str())?;
        match writer.label {
            Some(offset) => self.label(inst, pc, offset, out),
            None => Ok(()),
        }
    }

    /// A branch target; labels are always the last operand.
    fn label(&self, inst: &Inst, pc: u64, offset: u16, out: &mut impl fmt::Write) -> fmt::Result {
        let distance = i64::from(offset as i16) * 4 + inst.len() as i64;
        let address = pc.wrapping_add(distance as u64);
        if let Some(name) = self.labels.and_then(|labels| labels(address)) {
            return out.write_str(name);
        }
        match self.options.targets {
            Targets::Raw => write!(out, "{offset}"),
            Targets::Absolute => write!(out, "{address:#x}"),
        }
    }
}

impl fmt::Display for Inst {
    /// As [`Formatter::format`] with default options at address 0.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Formatter::default().format(self, 0, f)
    }
}

/// Source modifiers as bits, bit 0 for source 0.
#[derive(Clone, Copy, Default)]
struct SourceBits {
    neg: u32,
    abs: u32,
    sext: u32,
    /// Upper halves; bit 3 is the destination.
    half: u32,
}

/// Writes one instruction.
struct Writer<'i> {
    text: Text,
    inst: &'i Inst,
    generation: Generation,
    options: Options,
    true16: bool,
    form: Form,
    sources: SourceBits,
    /// A branch offset still to be written.
    label: Option<u16>,
    /// Which half of a dual-issue word is written: 0 X, 1 Y.
    half: u8,
}

impl<'i> Writer<'i> {
    fn new(inst: &'i Inst, options: Options) -> Writer<'i> {
        let generation = inst.generation();
        let true16 = match options.true16 {
            Some(wanted) => wanted && has_true16(generation),
            None => matches!(generation, Generation::Rdna3 | Generation::Rdna3_5),
        };
        Writer {
            text: Text::new(),
            inst,
            generation,
            options,
            true16,
            form: inst.form(),
            sources: SourceBits::default(),
            label: None,
            half: 0,
        }
    }

    /// CDNA 1 to 4, LLVM's GFX9.
    #[inline]
    fn gfx9(&self) -> bool {
        matches!(self.generation, Generation::Cdna1 | Generation::Cdna2 | Generation::Cdna3 | Generation::Cdna4)
    }

    /// CDNA 3 and 4.
    #[inline]
    fn gfx940(&self) -> bool {
        matches!(self.generation, Generation::Cdna3 | Generation::Cdna4)
    }

    /// RDNA 4 and CDNA 5.
    #[inline]
    fn gfx12_plus(&self) -> bool {
        matches!(self.generation, Generation::Rdna4 | Generation::Cdna5)
    }

    /// RDNA 3 and later, CDNA 5.
    #[inline]
    fn gfx11_plus(&self) -> bool {
        matches!(self.generation, Generation::Rdna3 | Generation::Rdna3_5) || self.gfx12_plus()
    }

    /// Bits of the instruction's words.
    #[inline]
    fn bits(&self, offset: u32, count: u32) -> u32 {
        self.inst.bits(offset, count)
    }

    #[inline]
    fn bit(&self, offset: u32) -> bool {
        self.bits(offset, 1) != 0
    }

    fn instruction(&mut self) {
        let row = self.inst.row();
        let syntax = row.syntax();
        self.sources = self.source_bits(syntax.family);
        self.mnemonic(row, syntax);
        self.operands(syntax);
        self.modifiers(syntax);
        if syntax.slots().first().is_some_and(|slot| slot.kind() == SlotKind::Nothing) {
            self.text.trim_end();
        }
        match self.form {
            Form::Dpp16 => self.dpp16(),
            Form::Dpp8 => self.dpp8(),
            Form::Sdwa => self.sdwa(row, syntax),
            _ => {}
        }
        if !matches!(syntax.family, Family::Vopd | Family::Vopd3) {
            return;
        }
        if let Some(y) = self.inst.row_y() {
            self.half = 1;
            self.text.str(" :: ");
            let syntax = y.syntax();
            self.mnemonic(y, syntax);
            self.operands(syntax);
            self.modifiers(syntax);
        }
    }

    #[inline]
    fn mnemonic(&mut self, row: Row, syntax: &Syntax) {
        self.text.str(row.mnemonic());
        let suffix = match (syntax.suffix, self.form) {
            (Suffix::Compare, Form::Dpp16 | Form::Dpp8) => "",
            (Suffix::E64 | Suffix::Vop3, Form::Dpp16 | Form::Dpp8) => "_e64_dpp",
            // `v_nop`
            (Suffix::None, Form::Dpp16 | Form::Dpp8) if syntax.slots().is_empty() => "",
            (_, Form::Dpp16 | Form::Dpp8) => "_dpp",
            (_, Form::Sdwa) => "_sdwa",
            (Suffix::E32 | Suffix::Compare, _) => "_e32",
            (Suffix::E64, _) => "_e64",
            (Suffix::Nsa, Form::Nsa) => " ",
            _ => "",
        };
        self.text.str(suffix);
    }

    #[inline]
    fn operands(&mut self, syntax: &Syntax) {
        let mut separator = None;
        for &slot in syntax.slots() {
            let before = self.text.len();
            match separator {
                Some(separator) => self.text.pair(separator),
                None => self.text.push(b' '),
            }
            let start = self.text.len();
            match slot.kind() {
                SlotKind::Vgpr => self.vector(slot),
                SlotKind::Src => self.source(slot),
                _ => self.slot(slot),
            }
            if slot.kind() == SlotKind::Nothing {
                continue;
            }
            if self.text.len() == start && self.label.is_none() {
                self.text.truncate(before);
                continue;
            }
            separator = if slot.kind() == SlotKind::ExpTarget { None } else { Some(*b", ") };
        }
    }

    /// Collects the bits of source modifiers from where the form keeps them.
    #[inline]
    fn source_bits(&self, family: Family) -> SourceBits {
        let mut bits = SourceBits::default();
        match family {
            Family::Plain | Family::Matrix | Family::Vopd | Family::Vop3p | Family::Vopd3 => {}
            Family::Vop | Family::Vopc => match self.form {
                Form::Dpp16 => {
                    if let Some(dpp) = self.inst.dpp16() {
                        (bits.neg, bits.abs) = (dpp.neg().into(), dpp.abs().into());
                    }
                }
                Form::Sdwa => {
                    if let Some(sdwa) = self.inst.sdwa() {
                        (bits.neg, bits.abs, bits.sext) = (sdwa.neg().into(), sdwa.abs().into(), sdwa.sext().into());
                    }
                }
                _ => {}
            },
            Family::Vop3 => {
                bits.neg = self.bits(61, 3);
                bits.abs = self.bits(8, 3);
                bits.half = self.bits(11, 4);
            }
            Family::Vop3Sdst => bits.neg = self.bits(61, 3),
            Family::Mix => {
                bits.neg = self.bits(61, 3);
                bits.abs = self.bits(8, 3);
            }
            Family::Interp => {
                bits.neg = self.bits(61, 3);
                bits.half = self.bits(11, 4);
            }
        }
        bits
    }
}

/// Whether the generation has 16-bit halves of vector registers as operands.
const fn has_true16(generation: Generation) -> bool {
    matches!(generation, Generation::Rdna3 | Generation::Rdna3_5 | Generation::Rdna4 | Generation::Cdna5)
}
