//! Development commands of the gfx-isa workspace: `cargo xtask <command>`.

#![forbid(unsafe_code)]

mod audit;
mod fetch;
mod forward;
mod import;
mod regen;

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
    /// Generate gfx-isa's tables from the recorded facts or from AMD's XML.
    Regen(regen::Args),
    /// Record the facts of AMD's XML in specs/.
    Import(import::Args),
    /// Download AMD's bundle of XML files.
    Fetch(fetch::Args),
    /// Compare the specs with the LLVM library of the Rust toolchain, both ways.
    Audit(audit::Args),
    /// Answer questions about LLVM on stdin; the audit starts it.
    #[command(hide = true)]
    LlvmWorker(audit::WorkerArgs),
    /// Run golden vectors and print a line a file; `conform --help` tells.
    #[command(disable_help_flag = true)]
    Conform(forward::Args),
    /// Which instructions execute; `coverage --help` tells.
    #[command(disable_help_flag = true)]
    Coverage(forward::Args),
    /// Compare random words with LLVM; `verify --help` tells.
    #[command(disable_help_flag = true)]
    Verify(forward::Args),
}

fn main() -> ExitCode {
    let result = match Cli::parse().command {
        Command::Regen(args) => regen::run(&args),
        Command::Import(args) => import::run(&args),
        Command::Fetch(args) => fetch::run(&args),
        Command::Audit(args) => audit::run(&args),
        Command::LlvmWorker(args) => audit::serve(&args),
        Command::Conform(args) => return forward::run("conform", &args),
        Command::Coverage(args) => return forward::run("coverage", &args),
        Command::Verify(args) => return forward::run("verify", &args),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}
