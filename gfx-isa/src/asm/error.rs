//! What is wrong with a line of assembly.

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;
use std::string::String;

/// Why a line could not be assembled, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Error {
    /// Line from 1; 1 where a single line was given.
    pub line: usize,
    /// Column from 1, in bytes.
    pub column: usize,
    /// Bytes of the line that are at fault.
    pub span: Range<usize>,
    /// What is wrong.
    pub kind: ErrorKind,
    /// The line itself.
    pub source: String,
}

/// What is wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// No generation has such an instruction.
    UnknownMnemonic {
        /// A name that is close to it.
        suggestion: Option<String>,
    },
    /// Other generations have the instruction.
    OtherGeneration {
        /// The generation that was asked for.
        generation: &'static str,
        /// Those that have it.
        known: String,
        /// What this generation calls the same.
        spelling: Option<String>,
    },
    /// The instruction has no such form.
    NoForm {
        /// The suffix that asks for the form.
        suffix: &'static str,
    },
    /// The text does not follow the syntax.
    Syntax(Cow<'static, str>),
    /// An operand is not what the instruction takes.
    Operand {
        /// Number of the operand from 1.
        number: usize,
        /// What it may be.
        expected: Cow<'static, str>,
    },
    /// Operands are missing or too many.
    Count {
        /// How many there are.
        found: usize,
        /// How many the instruction takes.
        expected: usize,
    },
    /// The instruction does not have a modifier.
    Modifier(Cow<'static, str>),
    /// A rule that concerns several operands is broken.
    Rule(Cow<'static, str>),
    /// A symbol has no value.
    Symbol(String),
}

impl fmt::Display for ErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ErrorKind::UnknownMnemonic { suggestion: None } => f.write_str("unknown instruction"),
            ErrorKind::UnknownMnemonic { suggestion: Some(name) } => {
                write!(f, "unknown instruction; did you mean {name}?")
            }
            ErrorKind::OtherGeneration { generation, known, spelling } => {
                write!(f, "{generation} has no such instruction; it belongs to {known}")?;
                match spelling {
                    Some(name) => write!(f, "; {generation}'s spelling is {name}"),
                    None => Ok(()),
                }
            }
            ErrorKind::NoForm { suffix } => write!(f, "the instruction has no {suffix} form here"),
            ErrorKind::Syntax(what) => f.write_str(what),
            ErrorKind::Operand { number, expected } => write!(f, "operand {number} must be {expected}"),
            ErrorKind::Count { found, expected } => write!(f, "{found} operands, but the instruction takes {expected}"),
            ErrorKind::Modifier(what) | ErrorKind::Rule(what) => f.write_str(what),
            ErrorKind::Symbol(name) => write!(f, "the symbol {name} has no value"),
        }
    }
}

impl fmt::Display for Error {
    /// The message without the line; [`Error::report`] shows the place.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.line, self.column, self.kind)
    }
}

impl std::error::Error for Error {}

impl std::error::Error for ErrorKind {}

impl Error {
    /// The message, the line, and a caret below the fault.
    #[must_use]
    pub fn report(&self) -> String {
        let mut text = std::format!("{self}\n");
        text.push_str(self.source.trim_end());
        text.push('\n');
        let before = self.source.get(..self.span.start).unwrap_or_default();
        // Tabs stay tabs so that the caret stands below its place.
        text.extend(before.chars().map(|c| if c == '\t' { '\t' } else { ' ' }));
        text.push('^');
        let width = self.source.get(self.span.clone()).map_or(0, |s| s.chars().count());
        text.extend(std::iter::repeat_n('~', width.saturating_sub(1)));
        text
    }
}

/// A fault before it is known on which line it is.
#[derive(Debug, Clone)]
pub(crate) struct Fault {
    pub(crate) at: u32,
    pub(crate) end: u32,
    pub(crate) kind: ErrorKind,
}

impl Fault {
    pub(crate) fn syntax(at: usize, what: &'static str) -> Fault {
        Fault { at: at as u32, end: at as u32 + 1, kind: ErrorKind::Syntax(Cow::Borrowed(what)) }
    }
}
