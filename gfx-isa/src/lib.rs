//! AMD GPU instruction sets, CDNA 1 to 5 and RDNA 1 to 4: decode, show, compare and execute.
//!
//! The tables are generated from AMD's machine-readable ISA specification.

#![no_std]
#![deny(unsafe_code)]
#![cfg_attr(docsrs, feature(doc_cfg))]

#[cfg(feature = "std")]
extern crate std;

#[cfg(feature = "asm")]
pub mod asm;
mod catalog;
#[cfg(feature = "cli")]
#[doc(hidden)]
pub mod cli;
#[cfg(feature = "std")]
pub mod compare;
mod decode;
mod disasm;
#[cfg(feature = "elf")]
pub mod elf;
#[cfg(feature = "asm")]
pub mod encode;
#[cfg(feature = "exec")]
pub mod exec;
#[rustfmt::skip]
mod generated;
mod generation;
mod image;
mod info;
mod inst;
#[cfg(any(feature = "elf", feature = "exec"))]
pub mod kernel;
pub mod matrix;
mod operand;
#[cfg(feature = "exec")]
mod sem;
mod syntax;
mod table;
mod view;

pub use catalog::{
    Accepts, BitRange, EncodingRef, FieldRef, Half, InstructionInfo, LayoutPiece, LayoutPieces, OperandInfo, Role,
    SubField, ValueRun,
};
pub use decode::{DecodeError, DecodeErrorKind, Decoder};
pub use disasm::{Formatter, Options, Targets};
pub use generated::Generation;
pub use generated::field::Field;
#[doc(inline)]
pub use generated::modules::*;
pub use generated::op::Op;
pub use generation::{ParseGenerationError, Target};
pub use info::Resource;
pub use inst::{Dpp8, Dpp16, Inst, Sdwa};
pub use operand::{Operand, OperandRef, RegFile, Registers};
pub use table::{DataFormat, Flags, Float, Form, Special};

/// The code of the readme, run as tests.
#[cfg(all(doctest, feature = "asm", feature = "elf", feature = "exec", feature = "all-generations"))]
#[doc = include_str!("../../README.md")]
pub struct ReadmeDoctests;
