//! Instructions from operands, without text.
//!
//! A builder takes what stands between the commas of assembly text, in the same order, and chooses the encoding as the
//! assembler does; it gives an instruction or says why there is none.
//!
//! ```
//! # #[cfg(feature = "rdna4")] {
//! use gfx_isa::encode::{InstBuilder, v};
//! use gfx_isa::{Generation, Op};
//!
//! let inst = InstBuilder::new(Generation::Rdna4, Op::V_ADD_F32).arg(v(3)).arg(v(1)).arg(1.5).build().unwrap();
//! assert_eq!(inst.to_string(), "v_add_f32_e64 v3, v1, 0x3fc00000");
//! # }
//! ```

use std::vec::Vec;

use crate::asm::{Arguments, ErrorKind};
use crate::{Decoder, Generation, Inst, Op, RegFile, Registers, Special};

/// What stands between commas.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Arg {
    pub(crate) value: ArgValue,
    pub(crate) neg: bool,
    pub(crate) abs: bool,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum ArgValue {
    Registers(Registers),
    /// With its dwords; 0: as many as are asked for.
    Special(Special, u8),
    Int(i64),
    Float(f64),
    Off,
}

impl Arg {
    const fn new(value: ArgValue) -> Arg {
        Arg { value, neg: false, abs: false }
    }

    /// No register where one could stand: `off`.
    pub const OFF: Arg = Arg::new(ArgValue::Off);

    /// `-x`
    #[must_use]
    pub const fn neg(mut self) -> Arg {
        self.neg = true;
        self
    }

    /// `|x|`
    #[must_use]
    pub const fn abs(mut self) -> Arg {
        self.abs = true;
        self
    }

    /// The pair that a register with a name begins: `vcc`, `exec`.
    #[must_use]
    pub const fn pair(low: Special) -> Arg {
        Arg::new(ArgValue::Special(low, 2))
    }
}

/// A vector register.
pub const fn v(number: u16) -> Arg {
    registers(RegFile::Vgpr, number, 1)
}

/// A scalar register.
pub const fn s(number: u16) -> Arg {
    registers(RegFile::Sgpr, number, 1)
}

/// Consecutive registers of a file.
pub const fn registers(file: RegFile, first: u16, count: u8) -> Arg {
    Arg::new(ArgValue::Registers(Registers { file, first, count }))
}

impl From<Registers> for Arg {
    fn from(registers: Registers) -> Arg {
        Arg::new(ArgValue::Registers(registers))
    }
}

impl From<Special> for Arg {
    fn from(special: Special) -> Arg {
        let any = matches!(
            special,
            Special::Null
                | Special::SharedBase
                | Special::SharedLimit
                | Special::PrivateBase
                | Special::PrivateLimit
                | Special::FlatScratchBaseLo
                | Special::FlatScratchBaseHi
                | Special::PopsExitingWaveId
                | Special::Vccz
                | Special::Execz
                | Special::Scc
                | Special::LdsDirect
        );
        Arg::new(ArgValue::Special(special, u8::from(!any)))
    }
}

impl From<i64> for Arg {
    fn from(value: i64) -> Arg {
        Arg::new(ArgValue::Int(value))
    }
}

impl From<i32> for Arg {
    fn from(value: i32) -> Arg {
        Arg::from(i64::from(value))
    }
}

impl From<u32> for Arg {
    fn from(value: u32) -> Arg {
        Arg::from(i64::from(value))
    }
}

impl From<f64> for Arg {
    fn from(value: f64) -> Arg {
        Arg::new(ArgValue::Float(value))
    }
}

/// Builds one instruction.
#[derive(Debug)]
pub struct InstBuilder {
    generation: Generation,
    op: Op,
    lanes: u32,
    arguments: Arguments,
    fault: Option<ErrorKind>,
}

impl InstBuilder {
    /// A builder of an instruction of a generation, for its usual wave size.
    pub fn new(generation: Generation, op: Op) -> InstBuilder {
        let lanes = generation.wave_sizes()[0];
        InstBuilder { generation, op, lanes, arguments: Arguments::new(), fault: None }
    }

    /// For waves of 32 or 64 lanes.
    #[must_use]
    pub fn wave_size(mut self, lanes: u32) -> InstBuilder {
        if self.generation.wave_sizes().contains(&lanes) {
            self.lanes = lanes;
        }
        self
    }

    /// The next operand.
    #[must_use]
    pub fn arg(mut self, arg: impl Into<Arg>) -> InstBuilder {
        let result = self.arguments.push(arg.into());
        self.keep(result)
    }

    /// A modifier without a value: `clamp`, `glc`.
    #[must_use]
    pub fn flag(mut self, name: &str) -> InstBuilder {
        let result = self.arguments.flag(name);
        self.keep(result)
    }

    /// A modifier with a number: `offset:16`.
    #[must_use]
    pub fn number(mut self, name: &str, value: i64) -> InstBuilder {
        let result = self.arguments.number(name, value);
        self.keep(result)
    }

    /// A modifier with a list: `op_sel:[0,1]`.
    #[must_use]
    pub fn list(mut self, name: &str, values: &[u8]) -> InstBuilder {
        let result = self.arguments.list(name, values);
        self.keep(result)
    }

    fn keep(mut self, result: Result<(), ErrorKind>) -> InstBuilder {
        if let (Err(fault), None) = (result, &self.fault) {
            self.fault = Some(fault);
        }
        self
    }

    /// The instruction.
    ///
    /// # Errors
    /// Where the generation has no such instruction, or it does not take the operands or modifiers.
    pub fn build(self) -> Result<Inst, ErrorKind> {
        if let Some(fault) = self.fault {
            return Err(fault);
        }
        let mut code = Vec::new();
        self.arguments.encode(self.generation, self.op, self.lanes == 64, &mut code)?;
        match Decoder::new(self.generation, &code).wave_size(self.lanes).next() {
            Some(Ok(inst)) if inst.len() == code.len() => Ok(inst),
            // AMD reserves what the operands ask for.
            _ => Err(ErrorKind::Rule("the generation reserves this combination".into())),
        }
    }
}

impl Inst {
    /// Appends the instruction's bytes; decoding them gives the instruction again.
    pub fn encode(&self, out: &mut Vec<u8>) {
        for word in self.words() {
            out.extend_from_slice(&word.to_le_bytes());
        }
    }
}
