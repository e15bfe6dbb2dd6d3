//! Development commands of the gfx-isa workspace: `cargo xtask <command>`.

#![forbid(unsafe_code)]

use clap::{Parser, Subcommand};

/// Development commands of the gfx-isa workspace.
#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {}

fn main() -> anyhow::Result<()> {
    match Cli::parse().command {}
}
