//! Development commands that need the generated tables. `cargo xtask <command>` runs them; they are a program of
//! their own so that `cargo xtask regen` builds without the files that it writes.

#![forbid(unsafe_code)]

mod conform;
mod conform_asm;
mod coverage;
mod verify;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Development commands of the gfx-isa workspace.
#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Run golden vectors and print a line a file.
    Conform(conform::Args),
    /// Check that no instruction lost its meaning.
    Coverage(coverage::Args),
    /// Compare random words with the LLVM library of the Rust toolchain.
    Verify(verify::Args),
    /// Answer questions about LLVM on stdin; `verify` starts it.
    #[command(hide = true)]
    LlvmWorker(verify::WorkerArgs),
}

fn main() -> ExitCode {
    let result = match Cli::parse().command {
        Command::Conform(args) => conform::run(&args),
        Command::Coverage(args) => coverage::run(&args),
        Command::Verify(args) => verify::run(&args),
        Command::LlvmWorker(args) => verify::serve(&args),
    };
    match result {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}
