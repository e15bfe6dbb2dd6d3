//! Execution: waves that run instructions.
//!
//! A [`Wave`] holds registers; [`Wave::step`] executes one instruction and [`Wave::run`] a [`Program`], which is decoded
//! once. What instructions do is in tables that all generations share; [`meaning`] gives the line of one.

mod coverage;
mod decoded;
mod error;
mod execute;
pub(crate) mod float;
pub(crate) mod lanes;
mod mem;
pub(crate) mod simd;
#[allow(dead_code)]
pub(crate) mod small;
pub(crate) mod state;

pub use coverage::{Covered, Stub, coverage};
pub(crate) use decoded::{Decoded, Dst, Src};
pub use decoded::{Flow, Program};
pub use error::ExecError;
pub use execute::Finished;
pub use mem::{Access, Env, Fault, Lds, Memory, Near, Space};
pub use state::{Mode, Round, Wave};

/// What an instruction does, as its line in the tables says it; none where it has no meaning yet.
pub fn meaning(op: crate::Op) -> Option<&'static str> {
    crate::sem::text(op)
}
