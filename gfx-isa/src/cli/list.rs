//! `list`: the instructions of all generations, or of one.

use std::collections::BTreeMap;
use std::format;
use std::string::{String, ToString};
use std::vec::Vec;

use crate::{Generation, Half, InstructionInfo, Op, compare};

use super::Failure;
use super::names;
use super::output::Output;
use super::report::{self, hex};
use super::table::Table;

/// List instructions
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Generation (rdna4) or processor (gfx1201); without it all generations
    #[arg(long, value_parser = names::isa)]
    isa: Option<Generation>,
    /// Only this functional group or subgroup, for example VALU or MFMA
    #[arg(long)]
    group: Option<String>,
    /// Only what this encoding or variant has, for example ENC_VOP3 or VOP3_VOP_DPP16
    #[arg(long, value_name = "NAME")]
    encoding: Option<String>,
    /// Write JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &Args, output: &mut Output) -> Result<(), Failure> {
    let generations: Vec<Generation> = match args.isa {
        Some(generation) => Vec::from([generation]),
        None => Generation::available().collect(),
    };
    check_group(args, &generations)?;
    check_encoding(args, &generations)?;
    let wanted = |info: &InstructionInfo| {
        let same = |name: &str| args.group.as_deref().is_none_or(|group| group.eq_ignore_ascii_case(name));
        let encoding = args
            .encoding
            .as_deref()
            .is_none_or(|name| info.encoding().is_named(name) || info.variants().any(|variant| variant.is_named(name)));
        (same(info.group()) || info.subgroup().is_some_and(same)) && encoding
    };
    match args.isa {
        Some(generation) => one(generation, generation.instructions().filter(wanted), args.json, output),
        None => {
            every(generations.iter().flat_map(|generation| generation.instructions()).filter(wanted), args.json, output)
        }
    }
}

fn one(
    generation: Generation,
    infos: impl Iterator<Item = InstructionInfo>,
    json: bool,
    output: &mut Output,
) -> Result<(), Failure> {
    if json {
        let listed = |info: InstructionInfo| report::Listed {
            brief: info.into(),
            mnemonic: info.mnemonic(),
            group: info.group(),
            subgroup: info.subgroup(),
        };
        let instructions = infos.map(listed).collect();
        return output.json(&report::List { generation: Some(generation.name()), instructions });
    }
    let mut table = Table::new(["instruction", "encoding", "opcode", "identifier", "group"]);
    for info in infos {
        table.row([
            info.name().to_string(),
            format!(
                "{}{}",
                info.encoding().name(),
                info.half().map_or(String::new(), |half: Half| format!(" {}", half.name()))
            ),
            info.opcode().to_string(),
            hex(info.identifier(), info.encoding()),
            group(info),
        ]);
    }
    print(&table, output);
    Ok(())
}

fn every(infos: impl Iterator<Item = InstructionInfo>, json: bool, output: &mut Output) -> Result<(), Failure> {
    let mut ops: BTreeMap<Op, (InstructionInfo, Vec<Generation>)> = BTreeMap::new();
    for info in infos {
        let (_, generations) = ops.entry(info.op()).or_insert_with(|| (info, Vec::new()));
        if generations.last() != Some(&info.generation()) {
            generations.push(info.generation());
        }
    }
    if json {
        let known = |(op, (info, generations)): (&Op, &(InstructionInfo, Vec<Generation>))| report::Known {
            instruction: op.name(),
            group: info.group(),
            subgroup: info.subgroup(),
            generations: generations.iter().map(|generation| generation.name()).collect(),
        };
        return output.json(&report::List { generation: None, instructions: ops.iter().map(known).collect() });
    }
    let mut table = Table::new(["instruction", "group", "generations"]);
    for (op, (info, generations)) in &ops {
        table.row([op.name().to_string(), group(*info), compare::titles(generations)]);
    }
    print(&table, output);
    Ok(())
}

fn group(info: InstructionInfo) -> String {
    match info.subgroup() {
        Some(subgroup) => format!("{}, {subgroup}", info.group()),
        None => info.group().to_string(),
    }
}

fn print(table: &Table, output: &mut Output) {
    if !table.is_empty() {
        table.print(output);
    }
}

fn check_group(args: &Args, generations: &[Generation]) -> Result<(), Failure> {
    let Some(group) = args.group.as_deref() else { return Ok(()) };
    let infos = generations.iter().flat_map(|generation| generation.instructions());
    let mut known: Vec<&str> = infos.flat_map(|info| core::iter::once(info.group()).chain(info.subgroup())).collect();
    known.sort_unstable();
    known.dedup();
    if known.iter().any(|name| name.eq_ignore_ascii_case(group)) {
        return Ok(());
    }
    let hint = names::suggest(group, known.iter().copied());
    let hint = hint.unwrap_or_else(|| format!("known are {}", known.join(", ")));
    Err(Failure::Usage(format!("no group {group:?}; {hint}")))
}

fn check_encoding(args: &Args, generations: &[Generation]) -> Result<(), Failure> {
    let Some(name) = args.encoding.as_deref() else { return Ok(()) };
    if generations.iter().any(|generation| generation.encoding(name).is_some()) {
        return Ok(());
    }
    let mut known: Vec<&str> =
        generations.iter().flat_map(|generation| generation.encodings()).map(|e| e.name()).collect();
    known.sort_unstable();
    known.dedup();
    let hint = names::suggest(name, known.iter().copied());
    let hint = hint.unwrap_or_else(|| format!("known are {}", known.join(", ")));
    Err(Failure::Usage(format!("no encoding {name:?}; {hint}")))
}
