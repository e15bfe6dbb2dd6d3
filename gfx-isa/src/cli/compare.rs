//! `compare`: an instruction over all generations, or two generations.

use std::format;
use std::string::{String, ToString};
use std::vec::Vec;

use crate::compare::{self, Changes, Differences, EncodingChange, FieldChange, InstructionChange};
use crate::{EncodingRef, FieldRef, Generation, Half, InstructionInfo, Op};

use super::Failure;
use super::names;
use super::output::{Output, STRONG, line};
use super::report::{self, hex};
use super::table::Table;

/// Compare an instruction over all generations, or two generations
#[derive(Debug, clap::Args)]
#[command(group(clap::ArgGroup::new("what").args(["name", "isa"]).multiple(true).required(true)))]
pub(super) struct Args {
    /// The instruction, by AMD's name, another name of it, or LLVM's mnemonic
    name: Option<String>,
    /// The two generations or processors to compare; with an instruction, where to compare it
    #[arg(long, num_args = 2, value_names = ["OLD", "NEW"], value_parser = names::isa)]
    isa: Vec<Generation>,
    /// Write JSON
    #[arg(long, conflicts_with = "csv")]
    json: bool,
    /// Write comma-separated values
    #[arg(long)]
    csv: bool,
}

pub(super) fn run(args: &Args, output: &mut Output) -> Result<(), Failure> {
    match (args.name.as_deref(), args.isa.as_slice()) {
        (Some(name), _) => instruction(name, args, output),
        (None, &[old, new]) => {
            let changes = Changes::between(old, new);
            if args.json {
                output.json(&report::CompareGenerations::from(&changes))
            } else if args.csv {
                changes_csv(&changes, output)
            } else {
                changes_text(&changes, output);
                Ok(())
            }
        }
        (None, _) => Err(Failure::Usage("an instruction or two generations are needed".to_string())),
    }
}

/// One line of the table of an instruction.
struct Line {
    info: InstructionInfo,
    layout: String,
    operands: String,
}

fn instruction(name: &str, args: &Args, output: &mut Output) -> Result<(), Failure> {
    let generations: Vec<Generation> = match args.isa.as_slice() {
        [] => Generation::available().collect(),
        chosen => chosen.to_vec(),
    };
    let op = names::instruction(name, None)?.op;
    let mut lines: Vec<Line> = Vec::new();
    let mut absent = Vec::new();
    let mut layouts: Vec<InstructionInfo> = Vec::new();
    let mut operands: Vec<InstructionInfo> = Vec::new();
    for &generation in &generations {
        let infos = in_generation(op, generation);
        if infos.is_empty() {
            absent.push(generation);
        }
        for info in infos {
            let layout = class(info, &mut layouts, |a, b| a.encoding().same_fields(b.encoding()));
            let operands = class(info, &mut operands, |a, b| !Differences::between(a, b).operands);
            lines.push(Line { info, layout, operands });
        }
    }
    if args.json {
        return output.json(&report::CompareInstruction {
            instruction: op.name(),
            generations: lines
                .into_iter()
                .map(|line| report::Compared {
                    generation: line.info.generation().name(),
                    title: line.info.generation().title(),
                    targets: report::targets(line.info.generation()),
                    brief: line.info.into(),
                    layout: line.layout,
                    operands: line.operands,
                })
                .collect(),
            absent: absent.iter().map(|generation| generation.name()).collect(),
            layouts: layouts
                .iter()
                .enumerate()
                .map(|(at, info)| report::LayoutClass {
                    class: letter(at),
                    fields: info.encoding().fields().map(report::FieldReport::from).collect(),
                })
                .collect(),
        });
    }
    let cells = |line: &Line| {
        let info = line.info;
        [
            info.generation().title().to_string(),
            report::targets(info.generation()).join(", "),
            info.name().to_string(),
            encoding_name(info),
            info.opcode().to_string(),
            hex(info.identifier(), info.encoding()),
            line.layout.clone(),
            line.operands.clone(),
        ]
    };
    const HEADINGS: [&str; 8] =
        ["generation", "targets", "instruction", "encoding", "opcode", "identifier", "layout", "operands"];
    if args.csv {
        return csv(HEADINGS, lines.iter().map(cells), output);
    }
    let mut table = Table::new(HEADINGS);
    lines.iter().for_each(|line| table.row(cells(line)));
    line!(output, "{STRONG}{}{STRONG:#}", op.name());
    line!(output);
    if !table.is_empty() {
        table.print(output);
    }
    if !absent.is_empty() {
        line!(output, "not in {}", compare::titles(&absent));
    }
    line!(output);
    line!(output, "layouts");
    let fields = |info: &InstructionInfo| info.encoding().fields().map(place).collect::<Vec<_>>().join(", ");
    layouts.iter().enumerate().for_each(|(at, info)| line!(output, "  {}  {}", letter(at), fields(info)));
    line!(output, "operands");
    for (at, info) in operands.iter().enumerate() {
        let list: Vec<String> = info
            .operands()
            .filter_map(|operand| {
                let name = operand.field()?.name();
                let access = match (operand.is_read(), operand.is_written()) {
                    (true, true) => "read, written",
                    (false, true) => "written",
                    _ => "read",
                };
                Some(format!("{name} ({access})"))
            })
            .collect();
        line!(output, "  {}  {}", letter(at), if list.is_empty() { "none".to_string() } else { list.join(", ") });
    }
    Ok(())
}

/// The instruction in a generation, under its own name or another.
fn in_generation(op: Op, generation: Generation) -> Vec<InstructionInfo> {
    let own: Vec<InstructionInfo> = generation.instructions_of(op).collect();
    if !own.is_empty() {
        return own;
    }
    let newest = compare::newest_with(op);
    let other = op.renamings().find(|&other| generation.has(other) && !newest.is_some_and(|newest| newest.has(other)));
    other.map_or(Vec::new(), |other| generation.instructions_of(other).collect())
}

/// The letter of the class that an instruction is in; a new one where it is like none before.
fn class(
    info: InstructionInfo,
    classes: &mut Vec<InstructionInfo>,
    same: impl Fn(InstructionInfo, InstructionInfo) -> bool,
) -> String {
    let at = classes.iter().position(|&known| same(known, info)).unwrap_or_else(|| {
        classes.push(info);
        classes.len() - 1
    });
    letter(at)
}

/// A, B, … Z, A1, B1, …
fn letter(at: usize) -> String {
    let letter = char::from(b'A' + (at % 26) as u8);
    match at / 26 {
        0 => letter.to_string(),
        round => format!("{letter}{round}"),
    }
}

fn encoding_name(info: InstructionInfo) -> String {
    let half = info.half().map_or(String::new(), |half: Half| format!(" {}", half.name()));
    format!("{}{half}", info.encoding().name())
}

fn place(field: FieldRef) -> String {
    let mut ranges: Vec<String> = field.ranges().map(|range| range.to_string()).collect();
    ranges.reverse();
    format!("{} {}", field.name(), ranges.join(","))
}

/// What a change is called; nothing where it is only in what the operands may hold, their formats or the forms.
pub(super) fn instruction_kinds(change: &InstructionChange) -> Vec<&'static str> {
    let InstructionChange { elsewhere, differences, .. } = *change;
    let kinds = [
        ("added", change.is_added() && !elsewhere),
        ("encoding added", change.is_added() && elsewhere),
        ("removed", change.is_removed() && !elsewhere),
        ("encoding removed", change.is_removed() && elsewhere),
        ("renamed", differences.name),
        ("renumbered", differences.opcode),
        ("relaid", change.is_relaid()),
    ];
    kinds.into_iter().filter(|&(_, is)| is).map(|(kind, _)| kind).collect()
}

pub(super) fn encoding_kinds(change: &EncodingChange) -> Vec<&'static str> {
    let kinds = [
        ("added", change.old.is_none()),
        ("removed", change.new.is_none()),
        ("renamed", change.is_renamed()),
        ("relaid", change.is_relaid()),
        ("fixed bits", change.fixed),
    ];
    kinds.into_iter().filter(|&(_, is)| is).map(|(kind, _)| kind).collect()
}

/// Before and after where they differ.
fn arrow(old: Option<String>, new: Option<String>) -> String {
    match (old, new) {
        (Some(old), Some(new)) if old != new => format!("{old} → {new}"),
        (Some(one), _) | (None, Some(one)) => one,
        (None, None) => String::new(),
    }
}

fn operand_list(info: InstructionInfo) -> String {
    info.operands().filter_map(|operand| operand.field()).map(FieldRef::name).collect::<Vec<_>>().join(" ")
}

fn changes_text(changes: &Changes, output: &mut Output) {
    let Changes { old, new, .. } = *changes;
    line!(output, "{STRONG}{old} → {new}{STRONG:#}");
    line!(output);
    line!(output, "{STRONG}encodings{STRONG:#}");
    if changes.encodings.is_empty() {
        line!(output, "none");
    }
    for change in &changes.encodings {
        let both = |get: &dyn Fn(EncodingRef) -> String| arrow(change.old.map(get), change.new.map(get));
        let (name, bits) =
            (both(&|encoding| encoding.name().to_string()), both(&|encoding| encoding.bits().to_string()));
        line!(output, "{STRONG}{name}{STRONG:#}  {bits} bits: {}", encoding_kinds(change).join(", "));
        let fields: Vec<String> = change.fields.iter().map(field_change).collect();
        wrapped(&fields, output);
    }
    line!(output);
    line!(output, "{STRONG}instructions{STRONG:#}");
    let mut table = Table::new(["change", "instruction", "encoding", "opcode", "operands"]);
    let mut only_layout = 0;
    let mut details = 0;
    for change in &changes.instructions {
        let Differences { name, opcode, operands, layout, .. } = change.differences;
        let moved = changes.is_moved(change);
        let paired = change.old.is_some() && change.new.is_some();
        if paired && !(name || moved || opcode || operands) {
            // The encoding's line says it for all of them.
            if layout || change.differences.identifier {
                only_layout += 1;
            } else {
                details += 1;
            }
            continue;
        }
        let both = |get: &dyn Fn(InstructionInfo) -> String| arrow(change.old.map(get), change.new.map(get));
        let mut kinds = instruction_kinds(change);
        kinds.retain(|kind| {
            ["added", "encoding added", "removed", "encoding removed", "renamed", "renumbered"].contains(kind)
        });
        kinds.extend(moved.then_some("moved"));
        kinds.extend(operands.then_some("operands"));
        table.row([
            kinds.join(", "),
            both(&|info| info.name().to_string()),
            both(&encoding_name),
            both(&|info| info.opcode().to_string()),
            if operands { both(&operand_list) } else { String::new() },
        ]);
    }
    table_or_none(&table, output);
    line!(output);
    let count = |is: fn(&InstructionChange) -> bool| changes.instructions.iter().filter(|change| is(change)).count();
    line!(
        output,
        "{} added, {} removed, {} renamed, {} renumbered; {only_layout} more only by their encoding's layout; \
         {details} only in operand values, formats or forms; {} unchanged (an instruction in two encodings counts twice)",
        count(InstructionChange::is_added),
        count(InstructionChange::is_removed),
        count(InstructionChange::is_renamed),
        count(InstructionChange::is_renumbered),
        changes.unchanged,
    );
}

/// Items with commas between them, indented, in lines of about a hundred columns.
fn wrapped(items: &[String], output: &mut Output) {
    let mut text = String::new();
    for (at, item) in items.iter().enumerate() {
        let width = item.chars().count() + 2;
        if !text.is_empty() && text.chars().count() + width > 100 {
            line!(output, "    {}", text.trim_end());
            text.clear();
        }
        text.push_str(item);
        text.push_str(if at + 1 < items.len() { ", " } else { "" });
    }
    if !text.is_empty() {
        line!(output, "    {text}");
    }
}

fn table_or_none(table: &Table, output: &mut Output) {
    if table.is_empty() {
        line!(output, "none");
    } else {
        table.print(output);
    }
}

fn field_change(change: &FieldChange) -> String {
    match (change.old, change.new) {
        (Some(old), Some(new)) => format!("{} → {}", place(old), place(new)),
        (Some(old), None) => format!("−{}", place(old)),
        (None, Some(new)) => format!("+{}", place(new)),
        (None, None) => String::new(),
    }
}

fn changes_csv(changes: &Changes, output: &mut Output) -> Result<(), Failure> {
    const HEADINGS: [&str; 9] = [
        "kind",
        "change",
        "old_name",
        "new_name",
        "old_encoding",
        "new_encoding",
        "old_opcode",
        "new_opcode",
        "detail",
    ];
    let encodings = changes.encodings.iter().map(|change| {
        let name = |encoding: Option<EncodingRef>| encoding.map_or("", EncodingRef::name).to_string();
        let fields: Vec<String> = change.fields.iter().map(field_change).collect();
        let (old, new) = (name(change.old), name(change.new));
        let kinds = encoding_kinds(change).join(", ");
        [
            "encoding".to_string(),
            kinds,
            old.clone(),
            new.clone(),
            old,
            new,
            String::new(),
            String::new(),
            fields.join("; "),
        ]
    });
    let instructions = changes.instructions.iter().map(|change| {
        let text = |info: Option<InstructionInfo>, get: fn(InstructionInfo) -> String| info.map_or(String::new(), get);
        let name = |info: InstructionInfo| info.name().to_string();
        let opcode = |info: InstructionInfo| info.opcode().to_string();
        [
            "instruction".to_string(),
            instruction_kinds(change).join(", "),
            text(change.old, name),
            text(change.new, name),
            text(change.old, encoding_name),
            text(change.new, encoding_name),
            text(change.old, opcode),
            text(change.new, opcode),
            change.differences.names().collect::<Vec<_>>().join(" "),
        ]
    });
    csv(HEADINGS, encodings.chain(instructions), output)
}

fn csv<const N: usize>(
    headings: [&str; N],
    rows: impl Iterator<Item = [String; N]>,
    output: &mut Output,
) -> Result<(), Failure> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    let fault = |error: csv::Error| Failure::Io(std::io::Error::other(error));
    writer.write_record(headings).map_err(fault)?;
    for row in rows {
        writer.write_record(row).map_err(fault)?;
    }
    let bytes = writer.into_inner().map_err(|error| Failure::Io(error.into_error()))?;
    output.text(&String::from_utf8_lossy(&bytes));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_go_on_after_z() {
        assert_eq!([0, 25, 26, 53].map(letter), ["A", "Z", "A1", "B2"]);
    }
}
