//! Where an instruction is the same, and what became of a generation's instructions in a later one.
//!
//! ```text
//! cargo run -q -p examples --example compare_generations
//! cargo run -q -p examples --example compare_generations -- V_MED3_U32 rdna2 rdna4
//! ```

use std::process::ExitCode;

use gfx_isa::compare::{self, Changes, Summary};
use gfx_isa::{Generation, Op, ParseGenerationError};

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let arg = |at: usize, default: &'static str| args.get(at).map_or(default, String::as_str);
    let Some(op) = Op::from_name(arg(0, "V_MSAD_U8")) else {
        eprintln!("error: no instruction {}", arg(0, ""));
        return ExitCode::from(1);
    };
    let generations = || Ok::<_, ParseGenerationError>((arg(1, "rdna3").parse()?, arg(2, "rdna4").parse()?));
    match generations() {
        Ok((old, new)) => {
            instruction(op);
            generation(old, new);
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(2)
        }
    }
}

fn instruction(op: Op) {
    let Some(newest) = compare::newest_with(op) else { return };
    for info in newest.instructions_of(op) {
        println!("{op} in {newest}, {}, opcode {}: {}", info.encoding().name(), info.opcode(), Summary::new(info));
        for piece in info.layout() {
            println!("  {:>7}  {}", piece.range.to_string(), piece.name().unwrap_or("unused"));
        }
    }
}

fn generation(old: Generation, new: Generation) {
    let changes = Changes::between(old, new);
    let count = |is: fn(&compare::InstructionChange) -> bool| changes.instructions.iter().filter(|c| is(c)).count();
    println!(
        "{old} to {new}: {} added, {} removed, {} renamed, {} renumbered, {} unchanged",
        count(compare::InstructionChange::is_added),
        count(compare::InstructionChange::is_removed),
        count(compare::InstructionChange::is_renamed),
        count(compare::InstructionChange::is_renumbered),
        changes.unchanged
    );
    for change in changes.instructions.iter().filter(|change| change.is_renamed()).take(5) {
        if let (Some(old), Some(new)) = (change.old, change.new) {
            println!("  {} is now {}", old.name(), new.name());
        }
    }
}
