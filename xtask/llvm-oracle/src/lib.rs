//! LLVM as an AMDGPU assembler and disassembler to compare with.
//!
//! rustup's toolchains carry the LLVM shared library with every target compiled in. [`Oracle::load`] finds and
//! opens it, so that comparisons with LLVM need no LLVM installation. Where the library is missing (Windows,
//! distributions that link LLVM statically) it returns [`Error::NotFound`], and callers skip loudly.
//!
//! LLVM crashes on some words. [`Oracle`] runs inside the calling process and a crash ends it; [`ChildOracle`]
//! asks a worker process, reports the word that killed it as [`Answer::Crash`] and starts a new worker.
//!
//! This crate holds the workspace's foreign-function calls; they are all in one private module.

mod child;
mod ffi;

pub use child::{Answer, ChildOracle, serve};
pub use ffi::{Oracle, Target};

use std::path::PathBuf;

/// Names the library to open instead of searching the toolchain.
pub const LIBRARY_VARIABLE: &str = "GFX_ISA_LLVM";

/// Why LLVM could not be asked.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// No library where one is looked for.
    #[error("no LLVM library in {}; set {LIBRARY_VARIABLE} to a libLLVM shared library", .0.display())]
    NotFound(PathBuf),
    /// `rustc --print sysroot` did not run.
    #[error("cannot ask `{0} --print sysroot` for the toolchain's folder")]
    Sysroot(String),
    /// The file is no library that can be opened, or lacks a function.
    #[error("cannot use {}", .0.display())]
    Load(PathBuf, #[source] libloading::Error),
    /// The library was built without the AMDGPU target.
    #[error("the LLVM library has no AMDGPU target: {0}")]
    NoTarget(String),
    /// A worker process could not be started or spoken to.
    #[error("cannot run the LLVM worker process")]
    Worker(#[from] std::io::Error),
    /// A worker process did not take up the target.
    #[error("the LLVM worker process failed: {0}")]
    WorkerFailed(String),
}
