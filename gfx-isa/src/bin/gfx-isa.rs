//! The command line of gfx-isa.

#![forbid(unsafe_code)]

use std::process::ExitCode;

fn main() -> ExitCode {
    gfx_isa::cli::main()
}
