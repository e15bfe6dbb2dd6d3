//! `matrix`: which lane and register holds each element of a matrix instruction's operands.

use std::format;
use std::string::{String, ToString};
use std::vec::Vec;

use serde::Serialize;

use crate::Generation;
use crate::matrix::{Format, Layout, Matrix, MatrixOp, Place, Shape};

use super::Failure;
use super::names::{self, Named};
use super::output::{FAINT, Output, STRONG, VALUE, line};
use super::table::Table;

/// Show where a matrix instruction keeps the elements of its matrices
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// AMD's name, another name of it, or LLVM's mnemonic, in any case
    name: String,
    /// Generation (cdna3) or processor (gfx942); without it the newest generation that has the instruction
    #[arg(long, value_parser = names::isa)]
    isa: Option<Generation>,
    /// Lanes of a wave
    #[arg(long, value_name = "32|64")]
    wave: Option<u32>,
    /// Only this matrix, with every element
    #[arg(long, value_parser = matrix, value_name = "A|B|C|D|index|scale-a|scale-b")]
    matrix: Option<Matrix>,
    /// Format of A of an F8F6F4 instruction: fp8, bf8, fp6, bf6 or fp4
    #[arg(long, value_parser = format, value_name = "FORMAT")]
    a: Option<Format>,
    /// Format of B
    #[arg(long, value_parser = format, value_name = "FORMAT")]
    b: Option<Format>,
    /// The place that a modifier chooses: half of 16-bit results, set of sparse indices, byte or lanes of scales
    #[arg(long, default_value_t = 0)]
    set: u32,
    /// Only the element in this row and column, and block
    #[arg(long, value_name = "ROW,COLUMN[,BLOCK]", value_delimiter = ',', num_args = 1)]
    at: Option<Vec<u32>>,
    /// Only what this lane holds
    #[arg(long)]
    lane: Option<u32>,
    /// Only what this register of the operand holds, counted from 0
    #[arg(long)]
    register: Option<u32>,
    /// Write JSON
    #[arg(long)]
    json: bool,
    /// Write CSV: a line an element
    #[arg(long, conflicts_with = "json")]
    csv: bool,
}

fn matrix(text: &str) -> Result<Matrix, String> {
    let name = text.replace('-', " ");
    let found = Matrix::ALL.into_iter().find(|matrix| matrix.name().eq_ignore_ascii_case(&name));
    found.ok_or_else(|| "one of A, B, C, D, index, scale-a, scale-b".to_string())
}

fn format(text: &str) -> Result<Format, String> {
    let known = (0..8).map_while(Format::of_f8f6f4);
    known
        .into_iter()
        .find(|format| format.name().eq_ignore_ascii_case(text))
        .ok_or_else(|| "one of fp8, bf8, fp6, bf6, fp4".to_string())
}

/// `--json`.
#[derive(Debug, Serialize)]
struct Report {
    instruction: &'static str,
    generation: &'static str,
    title: &'static str,
    lanes: u32,
    m: u32,
    n: u32,
    k: u32,
    blocks: u32,
    sparse: bool,
    values_per_scale: Option<u32>,
    matrices: Vec<MatrixReport>,
}

#[derive(Debug, Serialize)]
struct MatrixReport {
    matrix: &'static str,
    format: &'static str,
    rows: u32,
    columns: u32,
    registers: u32,
    copies: u32,
    sets: u32,
    elements: Vec<Element>,
}

/// An element and its place.
#[derive(Debug, Serialize)]
struct Element {
    block: u32,
    row: u32,
    column: u32,
    lane: u32,
    register: u32,
    bit: u32,
    bits: u32,
}

pub(super) fn run(args: &Args, output: &mut Output) -> Result<(), Failure> {
    let Named { op, generation, .. } = names::instruction(&args.name, args.isa)?;
    let lanes = args.wave.unwrap_or(generation.wave_sizes()[0]);
    if !generation.wave_sizes().contains(&lanes) {
        return Err(Failure::Usage(format!("{generation} has no waves of {lanes} lanes")));
    }
    let Some(mut found) = MatrixOp::new(generation, op, lanes) else {
        return Err(Failure::Input(format!("{} multiplies no matrices", op.name())));
    };
    let formats = [(args.a, Matrix::A), (args.b, Matrix::B)].map(|(asked, matrix)| asked.or(found.format(matrix)));
    if let [Some(a), Some(b)] = formats {
        found = found
            .with_formats(a, b)
            .ok_or_else(|| Failure::Usage(format!("the formats of {} are fixed", op.name())))?;
    }
    let matrices: Vec<(Matrix, Layout)> = Matrix::ALL
        .into_iter()
        .filter(|matrix| args.matrix.is_none_or(|wanted| wanted == *matrix))
        .filter_map(|matrix| Some((matrix, found.layout(matrix)?.with_set(args.set))))
        .collect();
    if matrices.is_empty() {
        let wanted = args.matrix.map_or("", Matrix::name);
        return Err(Failure::Input(format!("{} has no {wanted}", op.name())));
    }
    if let Some(at) = &args.at
        && !matches!(at.len(), 2 | 3)
    {
        return Err(Failure::Usage("--at takes a row and a column, or a row, a column and a block".to_string()));
    }
    if args.json {
        return output.json(&report(&found, args, &matrices));
    }
    if args.csv {
        return csv(args, &matrices, output);
    }
    heading(&found, output);
    for (matrix, layout) in &matrices {
        line!(output);
        page(&found, *matrix, layout, output);
        if args.at.is_some() || args.lane.is_some() || args.register.is_some() {
            list(args, *matrix, layout, output);
        } else if args.matrix.is_some() {
            grid(*matrix, layout, output);
        }
    }
    Ok(())
}

/// The elements that are asked for. One with copies is in several lanes.
fn elements<'a>(args: &'a Args, layout: &'a Layout) -> impl Iterator<Item = Element> + 'a {
    layout
        .elements()
        .flat_map(|(block, row, column, place)| {
            (0..layout.copies()).map(move |copy| (block, row, column, Place { lane: place.lane + 16 * copy, ..place }))
        })
        .filter(|(block, row, column, place)| {
            let at = args
                .at
                .as_ref()
                .is_none_or(|at| at[..2] == [*row, *column] && at.get(2).is_none_or(|wanted| wanted == block));
            at && args.lane.is_none_or(|lane| lane == place.lane)
                && args.register.is_none_or(|register| register == place.register)
        })
        .map(|(block, row, column, place)| {
            let Place { lane, register, bit, bits } = place;
            Element { block, row, column, lane, register, bit, bits }
        })
}

fn report(op: &MatrixOp, args: &Args, matrices: &[(Matrix, Layout)]) -> Report {
    let Shape { m, n, k, blocks } = op.shape();
    let matrices = matrices.iter().map(|(matrix, layout)| MatrixReport {
        matrix: matrix.name(),
        format: op.format(*matrix).map_or("", Format::name),
        rows: layout.rows(),
        columns: layout.columns(),
        registers: layout.registers(),
        copies: layout.copies(),
        sets: layout.sets(),
        elements: elements(args, layout).collect(),
    });
    Report {
        instruction: op.op().name(),
        generation: op.generation().name(),
        title: op.generation().title(),
        lanes: op.lanes(),
        m,
        n,
        k,
        blocks,
        sparse: op.is_sparse(),
        values_per_scale: op.values_per_scale(),
        matrices: matrices.collect(),
    }
}

fn csv(args: &Args, matrices: &[(Matrix, Layout)], output: &mut Output) -> Result<(), Failure> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    let fault = |error: csv::Error| Failure::Io(std::io::Error::other(error));
    writer.write_record(["matrix", "block", "row", "column", "lane", "register", "bit", "bits"]).map_err(fault)?;
    for (matrix, layout) in matrices {
        for Element { block, row, column, lane, register, bit, bits } in elements(args, layout) {
            let numbers = [block, row, column, lane, register, bit, bits].map(|number| number.to_string());
            let record = core::iter::once(matrix.name()).chain(numbers.iter().map(String::as_str));
            writer.write_record(record).map_err(fault)?;
        }
    }
    let bytes = writer.into_inner().map_err(|error| Failure::Io(error.into_error()))?;
    output.text(&String::from_utf8_lossy(&bytes));
    Ok(())
}

fn heading(op: &MatrixOp, output: &mut Output) {
    let generation = op.generation();
    line!(output, "{STRONG}{}{STRONG:#}  {generation}, {} lanes", op.op().name(), op.lanes());
    let scales = op.values_per_scale().map_or(String::new(), |values| format!(", {values} values a scale"));
    let sparse = if op.is_sparse() { ", A sparse" } else { "" };
    line!(output, "D = A × B + C with m × n × k = {}{sparse}{scales}", op.shape());
    if op.chooses_formats() {
        line!(output, "{FAINT}--a and --b choose the formats of A and B{FAINT:#}");
    }
}

/// Names of a matrix's rows and columns.
fn names_of(matrix: Matrix) -> [&'static str; 2] {
    match matrix {
        Matrix::A | Matrix::Index => ["i", "k"],
        Matrix::B => ["k", "j"],
        Matrix::C | Matrix::D => ["i", "j"],
        Matrix::ScaleA => ["i", "q"],
        Matrix::ScaleB => ["q", "j"],
    }
}

fn page(op: &MatrixOp, matrix: Matrix, layout: &Layout, output: &mut Output) {
    let format = op.format(matrix).map_or("", Format::name);
    let registers = layout.registers();
    let plural = if registers == 1 { "register" } else { "registers" };
    let (rows, columns) = (layout.rows(), layout.columns());
    let [row, column] = names_of(matrix);
    line!(output, "{STRONG}{matrix}[{row}, {column}]{STRONG:#}  {rows} × {columns} {format}, {registers} {plural}");
    for (name, formula) in formulas(matrix, layout) {
        line!(output, "  {name:<9} {VALUE}{formula}{VALUE:#}");
    }
    if layout.copies() > 1 {
        line!(output, "  {FAINT}the same in each 16 lanes{FAINT:#}");
    }
    if layout.sets() > 1 {
        line!(output, "  {FAINT}one of {} places, --set chooses{FAINT:#}", layout.sets());
    }
    match matrix {
        Matrix::A if op.is_sparse() => line!(output, "  {FAINT}k counts the kept values, two of each four{FAINT:#}"),
        Matrix::ScaleA | Matrix::ScaleB => {
            let values = op.values_per_scale().unwrap_or_default();
            line!(output, "  {FAINT}q = k / {values}{FAINT:#}");
        }
        _ => {}
    }
}

/// Bits of an index that go to consecutive bits: from which on, how many, and the weight of the first.
struct Term {
    name: &'static str,
    from: u32,
    count: u32,
    weight: u32,
    all: u32,
}

impl Term {
    fn text(&self) -> String {
        let Term { name, from, count, weight, all } = self;
        let mut text = name.to_string();
        if *from > 0 {
            text = format!("{text} / {}", 1u32 << from);
        }
        if from + count < *all {
            text = format!("{text} % {}", 1u32 << count);
        }
        match (*weight, text.contains(' ')) {
            (1, _) => text,
            (weight, true) => format!("{weight} · ({text})"),
            (weight, false) => format!("{weight} · {text}"),
        }
    }
}

/// Lane, register and bits as functions of the indices.
fn formulas(matrix: Matrix, layout: &Layout) -> Vec<(&'static str, String)> {
    let [row, column] = names_of(matrix);
    let whole = |place: Place| (place.lane, 32 * place.register + place.bit);
    let place = |block, row, column| layout.place(block, row, column).map_or((0, 0), whole);
    let origin = place(0, 0, 0);
    // Elements of 6 bits lie across registers; their bits are counted through.
    let across = !layout.bits().is_power_of_two();
    let mut terms: [Vec<Term>; 3] = Default::default();
    type Axis<'a> = (&'static str, u32, &'a dyn Fn(u32) -> (u32, u32));
    let axes: [Axis; 3] = [
        ("block", layout.blocks(), &|at| place(at, 0, 0)),
        (row, layout.rows(), &|at| place(0, at, 0)),
        (column, layout.columns(), &|at| place(0, 0, at)),
    ];
    for (name, size, of) in axes {
        let all = size.ilog2();
        for from in 0..all {
            let (lane, bit) = of(1 << from);
            let (lane, bit) = (lane - origin.0, bit - origin.1);
            let (kind, weight) = match (lane, bit) {
                (0, bit) if across || bit < 32 => (2, bit),
                (0, bit) => (1, bit / 32),
                (lane, _) => (0, lane),
            };
            match terms[kind].last_mut() {
                Some(last)
                    if last.name == name && last.from + last.count == from && last.weight << last.count == weight =>
                {
                    last.count += 1;
                }
                _ => terms[kind].push(Term { name, from, count: 1, weight, all }),
            }
        }
    }
    let start = [origin.0, if across { 0 } else { origin.1 / 32 }, if across { origin.1 } else { origin.1 % 32 }];
    let mut texts = terms.iter().zip(start).map(|(terms, start)| {
        let mut parts: Vec<String> = terms.iter().map(Term::text).collect();
        if start > 0 || parts.is_empty() {
            parts.push(start.to_string());
        }
        parts.join(" + ")
    });
    let mut next = || texts.next().unwrap_or_default();
    let (lane, register, bit) = (next(), next(), next());
    let mut all = Vec::from([("lane", lane)]);
    if !across {
        all.push(("register", register));
    }
    let name = if across { "bit" } else { "from bit" };
    if across || layout.bits() < 32 {
        all.push((name, bit));
    }
    all
}

/// `v3[15:0]`, or `v3` of a whole register.
fn text(place: Place) -> String {
    let Place { register, bit, bits, .. } = place;
    match bits {
        32 => format!("v{register}"),
        64 => format!("v[{register}:{}]", register + 1),
        _ if bit + bits > 32 => format!("v{register}[31:{bit}]+v{}[{}:0]", register + 1, bit + bits - 33),
        _ => format!("v{register}[{}:{bit}]", bit + bits - 1),
    }
}

/// Every element: a line a row.
fn grid(matrix: Matrix, layout: &Layout, output: &mut Output) {
    let [row_name, column_name] = names_of(matrix);
    for block in 0..layout.blocks() {
        if layout.blocks() > 1 {
            line!(output, "block {block}");
        }
        let cells: Vec<Vec<String>> = (0..layout.rows())
            .map(|row| {
                let place = |column| layout.place(block, row, column);
                (0..layout.columns()).filter_map(place).map(|p| format!("{}:{}", p.lane, text(p))).collect()
            })
            .collect();
        let width = cells.iter().flatten().map(String::len).max().unwrap_or(0);
        let columns: Vec<String> = (0..layout.columns()).map(|at| format!("{at:<width$}")).collect();
        line!(output, "{FAINT}{:<5} {}{FAINT:#}", format!("{row_name}\\{column_name}"), columns.join(" ").trim_end());
        for (row, cells) in cells.iter().enumerate() {
            let cells: Vec<String> = cells.iter().map(|cell| format!("{cell:<width$}")).collect();
            line!(output, "{row:<5} {}", cells.join(" ").trim_end());
        }
    }
    line!(output, "{FAINT}each as lane:register[bits]{FAINT:#}");
}

/// The elements that are asked for, one a line.
fn list(args: &Args, matrix: Matrix, layout: &Layout, output: &mut Output) {
    let [row, column] = names_of(matrix);
    let mut table = Table::new(["block", row, column, "lane", "register"]);
    for Element { block, row, column, lane, register, bit, bits } in elements(args, layout) {
        let block = if layout.blocks() > 1 { block.to_string() } else { String::new() };
        let place = text(Place { lane, register, bit, bits });
        table.row([block, row.to_string(), column.to_string(), lane.to_string(), place]);
    }
    if table.is_empty() {
        line!(output, "  {FAINT}no element{FAINT:#}");
    } else {
        table.print(output);
    }
}
