//! Text on its way to standard output, with colour where that is a terminal.

use core::fmt::{self, Write as _};
use std::io::Write as _;
use std::string::String;

use anstyle::{AnsiColor, Style};
use serde::Serialize;

use super::Failure;

/// Headings and names.
pub(super) const STRONG: Style = Style::new().bold();
/// Opcodes and other values.
pub(super) const VALUE: Style = AnsiColor::Cyan.on_default();
/// Frames and remarks.
pub(super) const FAINT: Style = Style::new().dimmed();
const ERROR: Style = AnsiColor::Red.on_default().bold();

/// The output of a command, written when it is whole: a failing command writes nothing.
#[derive(Debug, Default)]
pub(super) struct Output {
    text: String,
}

impl Output {
    pub(super) fn line(&mut self, line: fmt::Arguments<'_>) {
        // Writing to a string cannot fail.
        let _ = writeln!(self.text, "{line}");
    }

    pub(super) fn json(&mut self, value: &impl Serialize) -> Result<(), Failure> {
        let text = serde_json::to_string_pretty(value).map_err(std::io::Error::from)?;
        self.line(format_args!("{text}"));
        Ok(())
    }

    pub(super) fn text(&mut self, text: &str) {
        self.text.push_str(text);
    }

    /// Writes what there is; escapes are dropped where standard output is no terminal.
    pub(super) fn flush(self) -> std::io::Result<()> {
        let mut stdout = anstream::stdout().lock();
        stdout.write_all(self.text.as_bytes())?;
        stdout.flush()
    }
}

/// A line of output.
macro_rules! line {
    ($output:expr) => { $output.line(format_args!("")) };
    ($output:expr, $($format:tt)+) => { $output.line(format_args!($($format)+)) };
}
pub(super) use line;

pub(super) fn error(message: &str) {
    let _ = writeln!(anstream::stderr(), "{ERROR}error:{ERROR:#} {message}");
}
