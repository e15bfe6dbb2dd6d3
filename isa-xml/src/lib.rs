//! Reader of AMD's machine-readable GPU ISA XML.
//!
//! ```no_run
//! # fn main() -> Result<(), isa_xml::Error> {
//! for source in isa_xml::source::read_dir("AMD_GPU_MR_ISA_XML.zip".as_ref())? {
//!     let import = isa_xml::import(&source)?;
//!     println!("{}: {} instructions", import.spec.architecture, import.spec.instructions.len());
//! }
//! # Ok(())
//! # }
//! ```
//!
//! The way of a file: [`source`] finds and unpacks it, [`raw`] mirrors its elements, [`resolve`] links them into a
//! [`spec::Spec`], [`mod@validate`] looks for contradictions, [`record`] writes that down as the facts that the repository keeps.

#![forbid(unsafe_code)]

use std::collections::BTreeMap;

pub mod difference;
pub mod error;
mod expr;
pub mod raw;
pub mod record;
pub mod resolve;
pub mod source;
pub mod spec;
pub mod validate;
mod xml;

pub use difference::{Change, Difference, Kind, differences};
pub use error::Error;
pub use record::{from_json, to_json};
pub use source::{Source, read_dir};
pub use spec::Spec;
pub use validate::{Finding, Severity, validate};
pub use xml::Notes;

/// What a file holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Import {
    /// The facts.
    pub spec: Spec,
    /// What the model has no place for.
    pub notes: Notes,
}

/// Reads one file.
pub fn import(source: &Source) -> Result<Import, Error> {
    let (raw, notes) = raw::parse(source)?;
    let spec = resolve::resolve(&raw, source)?;
    Ok(Import { spec, notes })
}

/// AMD's descriptions, by instruction name. They are prose: for use in local builds, never recorded.
pub fn describe(source: &Source) -> Result<BTreeMap<String, String>, Error> {
    let (raw, _) = raw::parse(source)?;
    Ok(raw
        .instructions
        .into_iter()
        .filter_map(|instruction| {
            let description = instruction.description?;
            Some((instruction.name.into_owned(), description.into_owned()))
        })
        .collect())
}
