//! `coverage`: which instructions can be executed.

use std::collections::BTreeMap;
use std::format;
use std::string::{String, ToString};
use std::vec::Vec;

use serde::Serialize;

use crate::Generation;
use crate::exec::{Covered, Stub, coverage};

use super::Failure;
use super::names;
use super::output::Output;
use super::table::Table;

/// Show which instructions can be executed and which are stubs
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Generation (rdna4) or processor (gfx1201); without it all generations
    #[arg(long, value_parser = names::isa)]
    isa: Option<Generation>,
    /// Name each stub
    #[arg(long)]
    stubs: bool,
    /// Write JSON
    #[arg(long)]
    json: bool,
}

/// One instruction of `--json`.
#[derive(Debug, Serialize)]
struct Instruction {
    generation: &'static str,
    encoding: &'static str,
    instruction: &'static str,
    group: &'static str,
    /// The line in the tables of meanings.
    meaning: Option<&'static str>,
    /// Why there is none.
    stub: Option<&'static str>,
}

impl From<Covered> for Instruction {
    fn from(covered: Covered) -> Instruction {
        let Covered { info, meaning } = covered;
        Instruction {
            generation: info.generation().name(),
            encoding: info.encoding().name(),
            instruction: info.name(),
            group: info.group(),
            meaning: meaning.ok(),
            stub: meaning.err().map(Stub::name),
        }
    }
}

pub(super) fn run(args: &Args, output: &mut Output) -> Result<(), Failure> {
    let generations: Vec<Generation> = match args.isa {
        Some(generation) => Vec::from([generation]),
        None => Generation::available().collect(),
    };
    if args.json {
        let all = generations.into_iter().flat_map(coverage).map(Instruction::from);
        return output.json(&all.collect::<Vec<_>>());
    }
    if args.stubs {
        let mut table = Table::new(["generation", "encoding", "instruction", "why"]);
        for covered in generations.into_iter().flat_map(coverage) {
            if let Err(stub) = covered.meaning {
                let info = covered.info;
                table.row([
                    info.generation().title().to_string(),
                    info.encoding().name().to_string(),
                    info.name().to_string(),
                    stub.to_string(),
                ]);
            }
        }
        table.print(output);
        return Ok(());
    }
    let mut table = Table::new(["generation", "encoding", "with meaning", "of", "", "stubs"]);
    for generation in generations {
        let mut encodings: BTreeMap<&str, (u32, u32, BTreeMap<Stub, u32>)> = BTreeMap::new();
        for covered in coverage(generation) {
            for encoding in [covered.info.encoding().name(), "all"] {
                let (meant, all, stubs) = encodings.entry(encoding).or_default();
                *all += 1;
                match covered.meaning {
                    Ok(_) => *meant += 1,
                    Err(stub) => *stubs.entry(stub).or_default() += 1,
                }
            }
        }
        for (encoding, (meant, all, stubs)) in encodings {
            let stubs: Vec<String> = stubs.iter().map(|(stub, count)| format!("{count} {stub}")).collect();
            table.row([
                generation.title().to_string(),
                encoding.to_string(),
                meant.to_string(),
                all.to_string(),
                format!("{:.1}%", f64::from(meant) * 100.0 / f64::from(all)),
                stubs.join(", "),
            ]);
        }
    }
    table.print(output);
    Ok(())
}
