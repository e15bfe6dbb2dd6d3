//! Text in columns.

use std::string::String;
use std::vec::Vec;

use super::output::{FAINT, Output, line};

/// A table whose columns are as wide as they need be.
#[derive(Debug)]
pub(super) struct Table {
    rows: Vec<Vec<String>>,
}

impl Table {
    pub(super) fn new<const N: usize>(headings: [&str; N]) -> Table {
        Table { rows: std::vec![headings.map(String::from).to_vec()] }
    }

    pub(super) fn row<const N: usize>(&mut self, cells: [String; N]) {
        self.rows.push(cells.to_vec());
    }

    pub(super) fn is_empty(&self) -> bool {
        self.rows.len() < 2
    }

    /// Writes the table. Columns that are empty in every row are left out.
    pub(super) fn print(&self, output: &mut Output) {
        let columns = self.rows[0].len();
        let width = |column: usize| self.rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
        let used = |&column: &usize| self.rows[1..].iter().any(|row| !row[column].is_empty());
        let columns: Vec<(usize, usize)> = (0..columns).filter(used).map(|column| (column, width(column))).collect();
        for (at, row) in self.rows.iter().enumerate() {
            let mut text = String::new();
            for &(column, width) in &columns {
                let cell = &row[column];
                text.push_str(cell);
                text.extend(core::iter::repeat_n(' ', width + 2 - cell.chars().count()));
            }
            let text = text.trim_end();
            match at {
                0 => line!(output, "{FAINT}{text}{FAINT:#}"),
                _ => line!(output, "{text}"),
            }
        }
    }
}
