//! The command line. One file a subcommand; each gives its text to `Output` and its faults as `Failure`.

mod asm;
mod compare;
mod coverage;
mod disasm;
mod draw;
mod list;
mod matrix;
mod names;
mod output;
mod report;
mod run;
mod show;
mod table;

use std::format;
use std::process::ExitCode;
use std::string::String;

use clap::{Parser, Subcommand};

use output::Output;

/// AMD GPU instruction sets, CDNA 1 to 5 and RDNA 1 to 4.
#[derive(Debug, Parser)]
#[command(name = "gfx-isa", version, propagate_version = true, arg_required_else_help = true)]
#[command(after_help = "An ISA is a generation (rdna4) or a processor (gfx1201).\n\
    Exit status: 0 good, 1 the input is at fault, 2 bad usage.")]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Asm(asm::Args),
    Disasm(disasm::Args),
    Show(show::Args),
    List(list::Args),
    Compare(compare::Args),
    Matrix(matrix::Args),
    Run(run::Args),
    Coverage(coverage::Args),
}

/// Why a command did not do its work.
#[derive(Debug)]
enum Failure {
    /// The input is at fault.
    Input(String),
    /// The command line is at fault.
    Usage(String),
    /// Writing the output failed.
    Io(std::io::Error),
}

impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Failure {
        Failure::Io(error)
    }
}

/// Runs the command that the process's arguments name.
pub fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            // Help and version go to stdout and are good; a closed pipe is no fault of theirs.
            let _ = error.print();
            return ExitCode::from(if error.use_stderr() { 2 } else { 0 });
        }
    };
    let mut output = Output::default();
    let result = match cli.command {
        Command::Asm(args) => asm::run(&args, &mut output),
        Command::Disasm(args) => disasm::run(&args),
        Command::Show(args) => show::run(&args, &mut output),
        Command::List(args) => list::run(&args, &mut output),
        Command::Compare(args) => compare::run(&args, &mut output),
        Command::Matrix(args) => matrix::run(&args, &mut output),
        Command::Run(args) => run::run(&args, &mut output),
        Command::Coverage(args) => coverage::run(&args, &mut output),
    };
    match result.and_then(|()| Ok(output.flush()?)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(Failure::Io(error)) if error.kind() == std::io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(failure) => {
            let (message, code) = match failure {
                Failure::Input(message) => (message, 1),
                Failure::Usage(message) => (message, 2),
                Failure::Io(error) => (format!("cannot write the output: {error}"), 1),
            };
            output::error(&message);
            ExitCode::from(code)
        }
    }
}
