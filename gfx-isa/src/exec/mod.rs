//! Execution: waves that run instructions.
//!
//! A [`Wave`] holds registers; [`Wave::step`] executes one instruction and [`Wave::run`] a [`Program`], which is decoded
//! once. What instructions do is in tables that all generations share; [`meaning`] gives the line of one.

mod arguments;
mod barrier;
mod coverage;
mod decoded;
mod device;
mod dispatch;
mod error;
mod execute;
pub(crate) mod float;
mod group;
pub(crate) mod lanes;
pub(crate) mod mem;
mod observe;
mod setup;
pub(crate) mod simd;
pub(crate) mod small;
pub(crate) mod state;
mod stats;
mod trace;

pub use arguments::Arg;
pub use coverage::{Covered, Stub, coverage};
pub(crate) use decoded::{Decoded, Dst, Execution, Src, operand_source};
pub use decoded::{Flow, Program};
pub use device::{Device, Extras, Kernel, LaunchCause, LaunchError, Module, Report, StopReason, Stopped};
pub use dispatch::Grid;
pub use error::ExecError;
pub use execute::Finished;
pub use mem::{Access, Env, Fault, Lds, Memory, Near, Reason, Space};
pub use observe::{Observer, Step};
pub(crate) use state::VGPRS;
pub(crate) use state::slot;
pub use state::{Mode, Round, Wave};
pub use stats::{Count, Stats};
pub use trace::Trace;

/// What an instruction does, as its line in the tables says it; none where it has no meaning yet.
pub fn meaning(op: crate::Op) -> Option<&'static str> {
    crate::sem::text(op)
}
