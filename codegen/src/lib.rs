//! Lowers the specs of all generations to the source files of `gfx-isa/src/generated`.
//!
//! [`generate`] is a pure function: the same specs and data give the same bytes on every machine.

#![forbid(unsafe_code)]

mod emit;
pub mod errata;
pub mod ir;
mod lower;
pub mod names;
mod operand_type;
pub mod sources;
mod syntax;

use std::collections::BTreeMap;

use isa_xml::spec::Spec;

pub use lower::{LowerError, lower};
pub use syntax::exceptions::Exceptions;

/// The text of every generated file by its path below `gfx-isa/src/generated`, from corrected specs.
pub fn generate(
    inputs: &[(sources::Generation, Spec)],
    names: &names::Names,
    exceptions: &Exceptions,
) -> Result<(ir::Ir, BTreeMap<String, String>), LowerError> {
    let mut ir = lower(inputs, names)?;
    syntax::attach(&mut ir, exceptions);
    let files = emit::emit(&ir);
    Ok((ir, files))
}
