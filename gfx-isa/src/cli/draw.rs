//! A word's bits, drawn.

use std::format;
use std::string::{String, ToString};
use std::vec::Vec;

use crate::{BitRange, LayoutPiece, Role};

use super::output::{FAINT, Output, STRONG, VALUE, line};

struct Cell {
    range: BitRange,
    text: String,
    role: Role,
}

/// Draws the pieces of a layout, one line of cells a dword, the high dword first.
pub(super) fn layout(pieces: impl Iterator<Item = LayoutPiece>, output: &mut Output) {
    let cells: Vec<Cell> = pieces.flat_map(cells).collect();
    for dword in cells.chunk_by(|a, b| a.range.offset / 32 == b.range.offset / 32) {
        draw(dword, output);
    }
}

/// A piece as one cell for each dword that it is in.
fn cells(piece: LayoutPiece) -> Vec<Cell> {
    let LayoutPiece { range, role, .. } = piece;
    let mut cells = Vec::new();
    let mut high = range.high();
    loop {
        let low = range.offset.max(high / 32 * 32);
        let part = BitRange { offset: low, count: high - low + 1 };
        cells.push(Cell { range: part, text: text(piece, part), role });
        if low == range.offset {
            return cells;
        }
        high = low - 1;
    }
}

fn text(piece: LayoutPiece, shown: BitRange) -> String {
    let first = shown.offset - piece.range.offset;
    if let Some(value) = piece.value {
        let value = value >> first & !(u128::MAX << shown.count);
        return format!("{value:0width$b}", width = shown.count as usize);
    }
    let Some(name) = piece.name() else { return String::new() };
    let split = shown.count != piece.range.count;
    match piece.part {
        None if !split => name.to_string(),
        part => {
            let base = part.map_or(0, |part| part.offset);
            format!("{name}[{}]", BitRange { offset: base + first, count: shown.count })
        }
    }
}

fn draw(cells: &[Cell], output: &mut Output) {
    let labels: Vec<String> = cells.iter().map(|cell| cell.range.to_string()).collect();
    let width = |(cell, label): (&Cell, &String)| cell.text.chars().count().max(label.chars().count()) + 2;
    let widths: Vec<usize> = cells.iter().zip(&labels).map(width).collect();
    let edge = |left: char, middle: &str, right: char| {
        let bars: Vec<String> = widths.iter().map(|&width| "─".repeat(width)).collect();
        format!("{left}{}{right}", bars.join(middle))
    };
    let heads: Vec<String> = labels.iter().zip(&widths).map(|(label, &width)| format!("{label:^width$}")).collect();
    let bodies = cells.iter().zip(&widths).map(|(cell, &width)| {
        let style = match cell.role {
            Role::Opcode => VALUE,
            Role::Fixed | Role::Unused => FAINT,
            Role::Field => STRONG,
        };
        format!("{style}{:^width$}{style:#}", cell.text)
    });
    let bodies: Vec<String> = bodies.collect();
    line!(output, "  {}", format!(" {}", heads.join(" ")).trim_end());
    line!(output, "  {}", edge('┌', "┬", '┐'));
    line!(output, "  │{}│", bodies.join("│"));
    line!(output, "  {}", edge('└', "┴", '┘'));
}
