//! Reader of AMD's machine-readable GPU ISA XML.

#![forbid(unsafe_code)]

pub mod spec;
