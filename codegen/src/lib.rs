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

/// The hand-kept facts beside the specs: the files of `data/`.
#[derive(Debug)]
pub struct Data {
    /// `errata.toml`
    pub errata: Vec<errata::Erratum>,
    /// `names.toml`
    pub names: names::Names,
    /// `syntax.toml`
    pub exceptions: Exceptions,
}

/// Specs or data that nothing can be generated from.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A correction.
    #[error(transparent)]
    Errata(#[from] errata::Error),
    /// A mnemonic.
    #[error(transparent)]
    Names(#[from] names::Error),
    /// An exception of assembly syntax.
    #[error("syntax.toml: {0}")]
    Syntax(#[from] toml::de::Error),
    /// A corrected spec.
    #[error(transparent)]
    Lower(#[from] LowerError),
}

impl Data {
    /// Reads the text of `errata.toml`, `names.toml` and `syntax.toml`.
    ///
    /// # Errors
    /// Where one of them is not of its shape or contradicts itself.
    pub fn parse(errata: &str, names: &str, syntax: &str) -> Result<Data, Error> {
        Ok(Data {
            errata: errata::parse(errata)?,
            names: names::Names::parse(names)?,
            exceptions: Exceptions::parse(syntax)?,
        })
    }

    /// The specs after the errata.
    ///
    /// # Errors
    /// Where a correction or a name no longer applies.
    pub fn correct(&self, specs: Vec<(sources::Generation, Spec)>) -> Result<Vec<(sources::Generation, Spec)>, Error> {
        let (generations, specs): (Vec<_>, Vec<_>) = specs.into_iter().unzip();
        let mut named: Vec<(&str, Spec)> = generations.iter().map(|g| g.name.as_str()).zip(specs).collect();
        errata::apply(&mut named, &self.errata)?;
        self.names.check(&named)?;
        let specs: Vec<Spec> = named.into_iter().map(|(_, spec)| spec).collect();
        Ok(generations.into_iter().zip(specs).collect())
    }
}

/// The tables and the text of every generated file by its path below `gfx-isa/src/generated`, from corrected specs.
///
/// # Errors
/// Where a spec cannot be lowered: two instructions of one opcode, an opcode that does not fit, an unknown operand type.
pub fn generate(
    inputs: &[(sources::Generation, Spec)],
    data: &Data,
) -> Result<(ir::Ir, BTreeMap<String, String>), Error> {
    let mut ir = lower(inputs, &data.names)?;
    syntax::attach(&mut ir, &data.exceptions);
    let files = emit::emit(&ir);
    Ok((ir, files))
}
