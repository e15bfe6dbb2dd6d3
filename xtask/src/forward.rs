//! Commands that need gfx-isa's tables: the program xtask-verify runs them.

use std::ffi::OsString;
use std::process::{Command, ExitCode};

use crate::regen::root;

/// Everything after the command's name.
#[derive(clap::Args)]
pub(crate) struct Args {
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    rest: Vec<OsString>,
}

/// Builds and runs the other program; golden vectors are many, so it is a release build.
pub(crate) fn run(command: &str, args: &Args) -> ExitCode {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let status = Command::new(cargo)
        .args(["run", "--quiet", "--release", "--package", "xtask-verify", "--manifest-path"])
        .arg(root().join("Cargo.toml"))
        .args(["--", command])
        .args(&args.rest)
        .status();
    match status {
        Ok(status) => ExitCode::from(u8::try_from(status.code().unwrap_or(1)).unwrap_or(1)),
        Err(error) => {
            eprintln!("error: cargo did not start: {error}");
            ExitCode::FAILURE
        }
    }
}
