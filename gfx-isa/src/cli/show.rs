//! `show`: one instruction's page.

use std::collections::BTreeSet;
use std::format;
use std::string::{String, ToString};
use std::vec::Vec;

use crate::compare::{Differences, Summary, counterparts, titles};
use crate::{EncodingRef, Form, Generation, Half, InstructionInfo, OperandInfo};

use super::names::{self, Named};
use super::output::{FAINT, Output, STRONG, VALUE, line};
use super::report::{self, hex};
use super::table::Table;
use super::{Failure, draw};

/// Show one instruction: bit layout, opcode, operands, and where it differs
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// AMD's name, another name of it, or LLVM's mnemonic, in any case
    name: String,
    /// Generation (cdna5) or processor (gfx1250); without it the newest generation that has the instruction
    #[arg(long, value_parser = names::isa)]
    isa: Option<Generation>,
    /// Only this encoding or variant, for example ENC_VOP3 or VOP3_VOP_DPP16
    #[arg(long, value_name = "NAME")]
    encoding: Option<String>,
    /// Draw the variants (literal, DPP, SDWA), too
    #[arg(long)]
    all: bool,
    /// Write JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &Args, output: &mut Output) -> Result<(), Failure> {
    let named = names::instruction(&args.name, args.isa)?;
    let Named { op, generation, .. } = named;
    let wanted = args.encoding.as_deref().map(|name| names::encoding(name, generation)).transpose()?;
    let all: Vec<InstructionInfo> = generation.instructions_of(op).collect();
    let in_wanted = |info: &InstructionInfo| {
        wanted.is_none_or(|wanted| info.encoding() == wanted || info.variants().any(|variant| variant == wanted))
    };
    let infos: Vec<InstructionInfo> = all.iter().copied().filter(in_wanted).collect();
    let Some(first) = infos.first() else {
        let wanted = wanted.map_or("", EncodingRef::name);
        let mut has: Vec<&str> = all
            .iter()
            .flat_map(|info| core::iter::once(info.encoding()).chain(info.variants()))
            .map(EncodingRef::name)
            .collect();
        has.dedup();
        return Err(Failure::Input(format!(
            "{generation} has {} not in {wanted} but in {}",
            op.name(),
            has.join(", ")
        )));
    };
    if args.json {
        return output.json(&report::Show {
            instruction: op.name(),
            generation: generation.name(),
            title: generation.title(),
            targets: report::targets(generation),
            aliases: op.aliases().collect(),
            group: first.group(),
            subgroup: first.subgroup(),
            flags: report::flags(first.flags()),
            encodings: infos.iter().map(|&info| report::Encoded::new(info)).collect(),
        });
    }
    heading(args, named, *first, output);
    for info in infos {
        let word = wanted.unwrap_or_else(|| info.encoding());
        page(info, word, args.all && wanted.is_none(), output);
    }
    Ok(())
}

fn heading(args: &Args, named: Named, info: InstructionInfo, output: &mut Output) {
    let Named { op, generation, alias } = named;
    let subgroup = info.subgroup().map_or(String::new(), |subgroup| format!(", {subgroup}"));
    line!(output, "{STRONG}{}{STRONG:#}  {}{}", op.name(), info.group(), subgroup);
    let targets = report::targets(generation).join(", ");
    let choice = match args.isa {
        None => format!("  {FAINT}the newest generation that has it; --isa chooses another{FAINT:#}"),
        Some(_) => String::new(),
    };
    line!(output, "{generation} ({targets}){choice}");
    if alias && !args.name.eq_ignore_ascii_case(op.name()) {
        line!(output, "{FAINT}{} is another name of it{FAINT:#}", args.name.trim().to_ascii_uppercase());
    }
    let mnemonic = info.mnemonic();
    if !mnemonic.eq_ignore_ascii_case(op.name()) {
        line!(output, "LLVM's mnemonic: {mnemonic}");
    }
    let aliases: Vec<&str> = op.aliases().collect();
    if !aliases.is_empty() {
        line!(output, "also known as {}", aliases.join(", "));
    }
    let flags = report::flags(info.flags());
    if !flags.is_empty() {
        line!(output, "flags: {}", flags.join(", ").replace('_', " "));
    }
}

fn page(info: InstructionInfo, word: EncodingRef, all: bool, output: &mut Output) {
    let half = info.half().map_or(String::new(), |half: Half| format!(", {} half", half.name()));
    line!(output);
    line!(
        output,
        "{STRONG}{}{STRONG:#}{half}  {} bits, opcode {VALUE}{}{VALUE:#}, identifier {VALUE}{}{VALUE:#}, mask {}",
        word.name(),
        word.bits(),
        info.opcode(),
        hex(info.identifier_in(word), word),
        hex(info.mask_in(word), word)
    );
    line!(output);
    draw::layout(info.layout_in(word), output);
    // An instruction that always has its literal needs no mark.
    if let Some(marker) = marker(word.form()).filter(|_| word != info.encoding()) {
        line!(output, "{marker}");
    }
    operands(info, word, output);
    let variants: Vec<EncodingRef> = info.variants().filter(|variant| *variant != word).collect();
    if !variants.is_empty() {
        let names: Vec<String> =
            variants.iter().map(|variant| format!("{} ({} bits)", variant.name(), variant.bits())).collect();
        line!(output);
        line!(output, "variants: {}", names.join(", "));
    }
    line!(output);
    generations(info, output);
    if !all {
        return;
    }
    for variant in variants {
        line!(output);
        line!(output, "{STRONG}{}{STRONG:#}  {} bits", variant.name(), variant.bits());
        line!(output);
        draw::layout(info.layout_in(variant), output);
        if let Some(marker) = marker(variant.form()) {
            line!(output, "{marker}");
        }
    }
}

/// Where the instruction is the same, and in what it differs elsewhere.
fn generations(info: InstructionInfo, output: &mut Output) {
    let others = counterparts(info);
    line!(output, "generations: {}", Summary::of(info, &others));
    type Differs = fn(Differences) -> bool;
    let details: [(&str, Differs); 4] = [
        ("what fields may hold", |differences| differences.values && !differences.operands),
        ("formats or sizes", |differences| differences.formats && !differences.operands),
        ("implicit operands", |differences| differences.implicit),
        ("variants", |differences| differences.forms),
    ];
    let mut told = Vec::new();
    for (what, differs) in details {
        let found = others.iter().filter(|other| other.found.is_some_and(|(_, differences)| differs(differences)));
        let generations: Vec<Generation> = found.map(|other| other.generation).collect();
        if !generations.is_empty() {
            told.push(format!("{what} in {}", titles(&generations)));
        }
    }
    if !told.is_empty() {
        line!(output, "also different: {}", told.join("; "));
    }
}

/// How a word says that it is a variant.
fn marker(form: Form) -> Option<&'static str> {
    match form {
        Form::Base | Form::Nsa => None,
        Form::Literal => Some("a source that holds 255 is the literal in the last 32 bits"),
        Form::Literal64 => Some("a source that holds 254 is the literal in the last 64 bits"),
        Form::Dpp16 => Some("SRC0 holds 250; VSRC0 is the source"),
        Form::Dpp8 => Some("SRC0 holds 233, or 234 to read inactive lanes; VSRC0 is the source"),
        Form::Sdwa => Some("SRC0 holds 249; VSRC0 is the source"),
    }
}

fn access(operand: OperandInfo) -> &'static str {
    match (operand.is_read(), operand.is_written()) {
        (true, true) => "read, written",
        (true, false) => "read",
        (false, true) => "written",
        (false, false) => "not accessed",
    }
}

fn operands(info: InstructionInfo, word: EncodingRef, output: &mut Output) {
    let mut table = Table::new(["#", "field", "bits", "width", "access", "type", "format", "size", ""]);
    for (at, operand) in info.operands().enumerate() {
        let field = operand.field();
        let ranges = |field: crate::FieldRef| {
            let mut ranges: Vec<String> = field.ranges().map(|range| range.to_string()).collect();
            ranges.reverse();
            ranges.join(", ")
        };
        let width = if field.is_some() { operand.field_bits().to_string() } else { String::new() };
        let place = field.map_or(String::from("—"), |field| field.name().to_string());
        // The variant's word may lack the field that the base encoding has: its dword holds the operand instead.
        let here = field.filter(|field| word.fields().any(|own| own.field() == field.field()));
        table.row([
            (at + 1).to_string(),
            place,
            here.map_or(String::new(), ranges),
            width,
            access(operand).to_string(),
            operand.type_name().to_string(),
            format!("{}: {}", operand.format().name, operand.format().describe()),
            format!("{} bits", operand.size()),
            if operand.is_implicit() { "implicit".to_string() } else { String::new() },
        ]);
    }
    line!(output);
    if table.is_empty() {
        line!(output, "no operands");
        return;
    }
    table.print(output);
    let mut told = BTreeSet::new();
    line!(output);
    for operand in info.operands() {
        let mut accepts = operand.accepts().to_string();
        if operand.scale() != 0 {
            accepts.push_str(&format!("; the field counts in steps of {}", 1 << operand.scale()));
        }
        if told.insert((operand.type_name(), accepts.clone())) {
            line!(output, "{} holds {accepts}", operand.type_name());
        }
    }
}
