//! Why execution stops.

use core::fmt;
use std::boxed::Box;

use super::mem::Fault;
use crate::{DecodeError, Generation, Op};

/// Why an instruction could not be executed.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ExecError {
    /// The instruction has no meaning here yet.
    Unimplemented(Op),
    /// An operand names a register that does not exist or cannot be used like this.
    Operand(Op),
    /// The program stopped itself: a trap, or a halt that only a host could end.
    Stopped(Op),
    /// Memory refused an access.
    Memory(Box<Fault>),
    /// The program counter, in bytes, is not at an instruction.
    Pc(u64),
    /// The bytes at the program counter are not an instruction.
    Decode(DecodeError),
    /// The instruction is of another generation or another wave size than the wave.
    Foreign {
        /// The instruction.
        op: Op,
        /// The generation of the wave.
        wave: Generation,
    },
    /// The generation has no waves of this size.
    WaveSize {
        /// The generation.
        generation: Generation,
        /// Lanes asked for.
        lanes: u32,
    },
}

impl fmt::Display for ExecError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ExecError::Unimplemented(op) => write!(f, "{op} has no meaning here yet"),
            ExecError::Operand(op) => write!(f, "{op}: an operand names a register that cannot be used like this"),
            ExecError::Stopped(op) => write!(f, "the program stopped itself: {op}"),
            ExecError::Memory(fault) => fault.fmt(f),
            ExecError::Pc(pc) => write!(f, "program counter {pc:#x}: no instruction begins there"),
            ExecError::Decode(error) => error.fmt(f),
            ExecError::Foreign { op, wave } => {
                write!(f, "{op} was decoded for another kind of wave than one of {wave}")
            }
            ExecError::WaveSize { generation, lanes } => write!(f, "{generation} has no waves of {lanes} lanes"),
        }
    }
}

impl core::error::Error for ExecError {}

impl From<DecodeError> for ExecError {
    fn from(error: DecodeError) -> ExecError {
        ExecError::Decode(error)
    }
}

impl From<Fault> for ExecError {
    fn from(fault: Fault) -> ExecError {
        ExecError::Memory(Box::new(fault))
    }
}
