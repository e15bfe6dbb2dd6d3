//! Families of instructions against models in wider types.

#[path = "exec/support.rs"]
mod support;
