//! Builds one instruction.

use std::boxed::Box;
use std::vec::Vec;

use super::Label;
use super::operand::{ArgValue, Operand};
use crate::asm::{Arguments, ErrorKind, Suffix};
use crate::{Decoder, Generation, Inst, Op};

/// Builds one instruction.
///
/// Operands come in the order of assembly text; modifiers in any. What is wrong is told by [`InstBuilder::build`].
#[derive(Debug)]
#[must_use = "a builder does nothing until it is built or put into a code buffer"]
pub struct InstBuilder {
    op: Op,
    lanes: Option<u32>,
    suffix: Suffix,
    arguments: Arguments,
    label: Option<Label>,
    returns: bool,
    /// The Y half of a dual-issue word.
    second: Option<Box<InstBuilder>>,
    fault: Option<ErrorKind>,
}

/// A part of a register that an SDWA form reads or writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)] // The names are the assembler's.
pub enum Part {
    Byte0,
    Byte1,
    Byte2,
    Byte3,
    Word0,
    Word1,
    Dword,
}

/// What an SDWA form does with the rest of the destination.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rest {
    /// Fill it with zeros.
    Pad,
    /// Fill it with the sign.
    Sext,
    /// Leave it.
    Preserve,
}

/// Modifiers without a value.
macro_rules! flags {
    ($($(#[$doc:meta])* $name:ident;)*) => {$(
        $(#[$doc])*
        pub fn $name(self) -> InstBuilder {
            self.flag(stringify!($name))
        }
    )*};
}

/// Modifiers with a number.
macro_rules! numbers {
    ($($(#[$doc:meta])* $name:ident: $ty:ty;)*) => {$(
        $(#[$doc])*
        pub fn $name(self, value: $ty) -> InstBuilder {
            self.number(stringify!($name), value.into())
        }
    )*};
}

/// Modifiers with a list of numbers.
macro_rules! lists {
    ($($(#[$doc:meta])* $name:ident;)*) => {$(
        $(#[$doc])*
        pub fn $name(self, values: &[u8]) -> InstBuilder {
            self.list(stringify!($name), values)
        }
    )*};
}

/// Modifiers with a name.
macro_rules! names {
    ($($(#[$doc:meta])* $name:ident;)*) => {$(
        $(#[$doc])*
        pub fn $name(self, value: &str) -> InstBuilder {
            self.name(stringify!($name), value)
        }
    )*};
}

impl InstBuilder {
    /// A builder of an instruction.
    pub fn new(op: Op) -> InstBuilder {
        InstBuilder {
            op,
            lanes: None,
            suffix: Suffix::None,
            arguments: Arguments::new(),
            label: None,
            returns: false,
            second: None,
            fault: None,
        }
    }

    /// For waves of 32 or 64 lanes, instead of the generation's usual size; one that it does not have changes nothing.
    pub fn wave_size(mut self, lanes: u32) -> InstBuilder {
        self.lanes = Some(lanes);
        self
    }

    /// The next operand.
    pub fn arg(mut self, operand: impl Operand) -> InstBuilder {
        let arg = operand.into_arg();
        if let ArgValue::Label(label) = arg.value {
            self.label = Some(label);
        }
        let result = self.arguments.push(arg);
        self.keep(result)
    }

    /// A modifier without a value: `clamp`, `glc`.
    pub fn flag(mut self, name: &str) -> InstBuilder {
        let result = self.arguments.flag(name);
        self.keep(result)
    }

    /// A modifier with a number: `offset:16`.
    pub fn number(mut self, name: &str, value: i64) -> InstBuilder {
        let result = self.arguments.number(name, value);
        self.keep(result)
    }

    /// A modifier with a list: `op_sel:[0,1]`.
    pub fn list(mut self, name: &str, values: &[u8]) -> InstBuilder {
        let result = self.arguments.list(name, values);
        self.keep(result)
    }

    /// A modifier with a name: `dim:SQ_RSRC_IMG_2D`, `offset:swizzle(SWAP,16)`.
    pub fn name(mut self, name: &str, value: &str) -> InstBuilder {
        let result = self.arguments.name(name, value);
        self.keep(result)
    }

    fn keep(mut self, result: Result<(), ErrorKind>) -> InstBuilder {
        if let (Err(fault), None) = (result, &self.fault) {
            self.fault = Some(fault);
        }
        self
    }

    /// Only the 32-bit encoding (`_e32`).
    pub fn e32(mut self) -> InstBuilder {
        self.suffix = Suffix::E32;
        self
    }

    /// Only the 64-bit encoding (`_e64`), also of a DPP form.
    pub fn e64(mut self) -> InstBuilder {
        self.suffix = Suffix::E64;
        self
    }

    /// An atomic gives back what was there: `glc`, `sc0` or `th:TH_ATOMIC_RETURN`, whichever the generation has.
    pub fn returning(mut self) -> InstBuilder {
        self.returns = true;
        self
    }

    /// Makes this the X half of a dual-issue word (`::`) and another instruction its Y half.
    pub fn dual(mut self, second: InstBuilder) -> InstBuilder {
        self.second = Some(Box::new(second));
        self
    }

    flags! {
        /// Clamp the result.
        clamp;
        /// Address by index.
        idxen;
        /// Address by offset.
        offen;
        /// Globally coherent, or an atomic that returns (before GFX12).
        glc;
        /// System-level coherent (before GFX12).
        slc;
        /// Device-level coherent (RDNA 1 to 3.5).
        dlc;
        /// Scope bit 0, or an atomic that returns (CDNA 3 and 4).
        sc0;
        /// Scope bit 1 (CDNA 3 and 4).
        sc1;
        /// Non-temporal (CDNA 3 and 4).
        nt;
        /// Non-volatile.
        nv;
        /// Global data share.
        gds;
        /// Load to LDS.
        lds;
        /// Texture fail enable: one more register for the status.
        tfe;
        /// LOD warning enable.
        lwe;
        /// Data of 16 bits.
        d16;
        /// Addresses of 16 bits.
        a16;
        /// A resource of 128 bits.
        r128;
        /// Addresses that are not normalised.
        unorm;
        /// An array of images (CDNA).
        da;
        /// Scale the offset by the size of the data.
        scale_offset;
        /// The last export.
        done;
        /// Valid mask of an export.
        vm;
        /// Compressed export.
        compr;
        /// Row of an export is in M0.
        row_en;
        /// High half of an attribute.
        high;
        /// Keep the A matrix for the next instruction.
        matrix_a_reuse;
        /// Keep the B matrix for the next instruction.
        matrix_b_reuse;
        /// DPP: reverse the row.
        row_mirror;
        /// DPP: reverse each half of the row.
        row_half_mirror;
    }

    numbers! {
        /// Offset in bytes.
        offset: i32;
        /// First offset of an LDS access with two.
        offset0: u8;
        /// Second offset of an LDS access with two.
        offset1: u8;
        /// Control of broadcast, or format of the A matrix.
        cbsz: u8;
        /// Block of the A matrix to broadcast.
        abid: u8;
        /// Permutation, or format, of the B matrix.
        blgp: u8;
        /// Wait for exports.
        wait_exp: u8;
        /// Wait for vector destinations.
        wait_vdst: u8;
        /// Wait for vector ALU destinations.
        wait_va_vdst: u8;
        /// Wait for vector memory sources.
        wait_vm_vsrc: u8;
        /// Selection of a scale.
        scale_sel: u8;
        /// Selection of a byte.
        byte_sel: u8;
        /// Which part of the index register.
        index_key: u8;
        /// Truth table: bit `src0 << 2 | src1 << 1 | src2`.
        bitop3: u8;
        /// Components that are accessed, a bit each.
        dmask: u8;
        /// DPP: shift the row left.
        row_shl: u8;
        /// DPP: shift the row right.
        row_shr: u8;
        /// DPP: rotate the row right.
        row_ror: u8;
        /// DPP: all read one lane of the row (RDNA, CDNA 5).
        row_share: u8;
        /// DPP: lane numbers exclusive-or this (RDNA, CDNA 5).
        row_xmask: u8;
        /// DPP: all read one lane of the row (CDNA 2 to 4).
        row_newbcast: u8;
        /// DPP: lane 15 or 31 to the next row (CDNA).
        row_bcast: u8;
        /// DPP: rows that are written, 4 bits.
        row_mask: u8;
        /// DPP: banks that are written, 4 bits.
        bank_mask: u8;
    }

    lists! {
        /// Halves of sources and destination, a bit each.
        op_sel;
        /// Halves of sources for the upper result, a bit each.
        op_sel_hi;
        /// Negate the lower halves, a bit each.
        neg_lo;
        /// Negate the upper halves, a bit each.
        neg_hi;
    }

    names! {
        /// Temporal hint: `TH_LOAD_NT` (GFX12).
        th;
        /// Scope: `SCOPE_DEV` (GFX12).
        scope;
        /// Dimension of an image: `SQ_RSRC_IMG_2D` (RDNA).
        dim;
        /// Format of a buffer: `[BUF_FMT_32_FLOAT]`.
        format;
        /// Format of the A matrix: `MATRIX_FMT_BF8` (CDNA 5).
        matrix_a_fmt;
        /// Format of the B matrix (CDNA 5).
        matrix_b_fmt;
        /// Row of scales of the A matrix: `MATRIX_SCALE_ROW1` (CDNA 5).
        matrix_a_scale;
        /// Row of scales of the B matrix (CDNA 5).
        matrix_b_scale;
        /// Format of scales of the A matrix: `MATRIX_SCALE_FMT_E5M3` (CDNA 5).
        matrix_a_scale_fmt;
        /// Format of scales of the B matrix (CDNA 5).
        matrix_b_scale_fmt;
    }

    /// Output modifier: twice the result (`mul:2`).
    pub fn mul2(self) -> InstBuilder {
        self.number("mul", 2)
    }

    /// Output modifier: four times the result (`mul:4`).
    pub fn mul4(self) -> InstBuilder {
        self.number("mul", 4)
    }

    /// Output modifier: half the result (`div:2`).
    pub fn div2(self) -> InstBuilder {
        self.number("div", 2)
    }

    /// DPP: a permutation within each four lanes.
    pub fn quad_perm(self, lanes: [u8; 4]) -> InstBuilder {
        self.list("quad_perm", &lanes)
    }

    /// DPP8: a permutation within each eight lanes (RDNA, CDNA 5).
    pub fn dpp8(self, lanes: [u8; 8]) -> InstBuilder {
        self.list("dpp8", &lanes)
    }

    /// DPP: lanes outside the row read 0.
    pub fn bound_ctrl(self) -> InstBuilder {
        self.number("bound_ctrl", 1)
    }

    /// DPP: read inactive lanes (RDNA, CDNA 5).
    pub fn fi(self) -> InstBuilder {
        self.number("fi", 1)
    }

    /// SDWA: the part of the destination that is written.
    pub fn dst_sel(self, part: Part) -> InstBuilder {
        self.name("dst_sel", part.name())
    }

    /// SDWA: what becomes of the rest of the destination.
    pub fn dst_unused(self, rest: Rest) -> InstBuilder {
        let name = match rest {
            Rest::Pad => "UNUSED_PAD",
            Rest::Sext => "UNUSED_SEXT",
            Rest::Preserve => "UNUSED_PRESERVE",
        };
        self.name("dst_unused", name)
    }

    /// SDWA: the part of source 0 that is read.
    pub fn src0_sel(self, part: Part) -> InstBuilder {
        self.name("src0_sel", part.name())
    }

    /// SDWA: the part of source 1 that is read.
    pub fn src1_sel(self, part: Part) -> InstBuilder {
        self.name("src1_sel", part.name())
    }

    /// The instruction of a generation.
    ///
    /// # Errors
    /// Where the generation has no such instruction, it does not take the operands or modifiers, or a branch goes to a
    /// label: only a [`CodeBuffer`](super::CodeBuffer) knows where that is.
    pub fn build(self, generation: Generation) -> Result<Inst, ErrorKind> {
        if self.label.is_some() {
            return Err(ErrorKind::Rule("a label has a place in a code buffer alone".into()));
        }
        let mut code = Vec::new();
        self.append(generation, None, &mut code).map(|(inst, _)| inst)
    }

    /// Appends the bytes; gives the instruction and the label that it goes to. `lanes`: of the code that it goes into.
    pub(super) fn append(
        mut self,
        generation: Generation,
        lanes: Option<u32>,
        out: &mut Vec<u8>,
    ) -> Result<(Inst, Option<Label>), ErrorKind> {
        if let Some(fault) = self.fault.or(self.second.as_mut().and_then(|second| second.fault.take())) {
            return Err(fault);
        }
        if self.returns {
            self.arguments.add_return(generation)?;
        }
        let sizes = generation.wave_sizes();
        let lanes = self.lanes.filter(|lanes| sizes.contains(lanes)).or(lanes).unwrap_or(sizes[0]);
        let start = out.len();
        let written = match &self.second {
            Some(second) => {
                let second = (second.op, &second.arguments);
                self.arguments.encode_dual(generation, self.op, second, lanes == 64, out)?
            }
            None => self.arguments.encode(generation, self.op, self.suffix, lanes == 64, out)?,
        };
        let pending = written.pending;
        let is_branch = pending.is_some_and(|pending| pending.branch);
        let result = match (pending.is_some(), self.label) {
            (true, None) => Err(ErrorKind::Rule("only a structured immediate is given as text".into())),
            (true, Some(_)) if !is_branch => Err(ErrorKind::Rule("only a branch goes to a label".into())),
            _ => match Decoder::new(generation, &out[start..]).wave_size(lanes).next() {
                Some(Ok(inst)) if inst.len() == out.len() - start => Ok((inst, self.label.filter(|_| is_branch))),
                // AMD reserves what the operands ask for.
                _ => Err(ErrorKind::Rule("the generation reserves this combination".into())),
            },
        };
        if result.is_err() {
            out.truncate(start);
        }
        result
    }
}

impl Part {
    const fn name(self) -> &'static str {
        match self {
            Part::Byte0 => "BYTE_0",
            Part::Byte1 => "BYTE_1",
            Part::Byte2 => "BYTE_2",
            Part::Byte3 => "BYTE_3",
            Part::Word0 => "WORD_0",
            Part::Word1 => "WORD_1",
            Part::Dword => "DWORD",
        }
    }
}
