//! What can be wrong with a source, an XML file or a record, and where.

use std::fmt;
use std::path::PathBuf;

/// Any failure of this crate. Each message names the place and the cause.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The operating system refused.
    #[error("{}: {error}", path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// Why. Part of the message, and so not a source.
        error: std::io::Error,
    },
    /// A file or archive cannot be taken as a source of XML.
    #[error("{file}: {fault}")]
    Source {
        /// The file, and for an entry of an archive `archive.zip!entry`.
        file: String,
        /// Why.
        fault: SourceFault,
    },
    /// The XML is malformed or does not have the shape of the schema.
    #[error("{place}: {fault}")]
    Xml {
        /// Where.
        place: Place,
        /// Why.
        fault: XmlFault,
    },
    /// The XML is well formed, but what it says contradicts itself.
    #[error("{file}: {path}: {fault}")]
    Meaning {
        /// The file's name.
        file: String,
        /// For example `instruction V_ADD_F32 → encoding ENC_VOP3 → operand 2`.
        path: String,
        /// Why.
        fault: MeaningFault,
    },
    /// A record of facts (`specs/<generation>.json`) cannot be read.
    #[error("{path}: {message}")]
    Record {
        /// Where: a line and column, or the path to an element.
        path: String,
        /// Why.
        message: String,
    },
}

/// A position in a text file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The file's name.
    pub file: String,
    /// From 1.
    pub line: usize,
    /// From 1, in characters.
    pub column: usize,
}

impl Place {
    /// The place of byte `offset` of `text`; an offset past the end means the end.
    pub(crate) fn of(file: &str, text: &[u8], offset: usize) -> Self {
        let before = &text[..offset.min(text.len())];
        let line_start = before.iter().rposition(|&b| b == b'\n').map_or(0, |at| at + 1);
        Self {
            file: file.to_owned(),
            line: before.iter().filter(|&&b| b == b'\n').count() + 1,
            column: String::from_utf8_lossy(&before[line_start..]).chars().count() + 1,
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.file, self.line, self.column)
    }
}

/// Why a file or archive is refused before any XML is read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SourceFault {
    /// More bytes than a specification has.
    #[error("larger than {limit} MiB when unpacked, which no ISA specification is; refused")]
    TooLarge {
        /// The limit that was passed.
        limit: u64,
    },
    /// All files of one folder together are too large.
    #[error("all files together are larger than {limit} MiB when unpacked; refused")]
    TooLargeTogether {
        /// The limit that was passed.
        limit: u64,
    },
    /// Too many files or archive entries.
    #[error("holds more than {limit} files; refused")]
    TooMany {
        /// The limit that was passed.
        limit: usize,
    },
    /// An archive entry whose name is absolute, leaves the folder, or is no plain path.
    #[error("the entry's name {name:?} is not a plain relative path; refused")]
    UnsafeName {
        /// The name.
        name: String,
    },
    /// An archive entry that is a symbolic link.
    #[error("the entry is a symbolic link; refused")]
    Symlink,
    /// An archive entry that needs a password.
    #[error("the entry is encrypted")]
    Encrypted,
    /// The packed data is broken.
    #[error("cannot unpack: {0}")]
    Unpack(String),
    /// The same file name with different content.
    #[error("a file of this name with different content is also in {other}; keep one of them")]
    Ambiguous {
        /// Where the other one is.
        other: String,
    },
    /// The text is not UTF-8.
    #[error("not UTF-8: {hint} at byte {offset}")]
    NotUtf8 {
        /// What was found.
        hint: &'static str,
        /// Where.
        offset: usize,
    },
    /// Nothing to read.
    #[error("holds no .xml, .xml.xz, .xml.gz or .zip file")]
    Empty,
}

/// Why an XML file is refused.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum XmlFault {
    /// Not well formed.
    #[error("malformed XML: {0}")]
    Malformed(String),
    /// The file ends before the root element does.
    #[error("the file ends inside <{0}>: it is truncated")]
    Truncated(String),
    /// Not an ISA specification.
    #[error("the root element is <{0}>, not <Spec>: this is not a machine-readable ISA file")]
    WrongRoot(String),
    /// No element at all.
    #[error("no root element: this is not an XML file")]
    NoRoot,
    /// Something after the root element.
    #[error("content after the root element")]
    TrailingContent,
    /// `<!DOCTYPE ..>`: AMD's files have none, and entities declared there can expand without bound.
    #[error("a document type declaration, which ISA files do not have; refused")]
    DocType,
    /// An entity other than the five of XML.
    #[error("unknown entity &{0};")]
    UnknownEntity(String),
    /// Nested deeper than the schema allows.
    #[error("elements are nested deeper than {0} levels; refused")]
    TooDeep(usize),
    /// Text between elements.
    #[error("unexpected text {found:?} in <{element}>")]
    UnexpectedText {
        /// The enclosing element.
        element: String,
        /// The beginning of the text.
        found: String,
    },
    /// An element within an element that holds only text.
    #[error("unexpected element <{child}> in <{element}>, which holds only text")]
    UnexpectedElement {
        /// The enclosing element.
        element: String,
        /// The element found.
        child: String,
    },
    /// A required element or attribute is missing.
    #[error("<{element}> has no {what}")]
    Missing {
        /// The element.
        element: &'static str,
        /// What it lacks.
        what: &'static str,
    },
    /// An element that may occur once occurs again.
    #[error("<{element}> has more than one {what}")]
    Repeated {
        /// The element.
        element: &'static str,
        /// What is repeated.
        what: &'static str,
    },
    /// A value that does not parse.
    #[error("{what} is {found:?}, expected {expected}")]
    BadValue {
        /// The element or attribute.
        what: String,
        /// Its text.
        found: String,
        /// What would be right.
        expected: &'static str,
    },
}

/// Why a well-formed file is refused.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MeaningFault {
    /// A name that nothing declares.
    #[error("unknown {kind} {name}")]
    Unknown {
        /// `encoding`, `data format` or `operand type`.
        kind: &'static str,
        /// The name.
        name: String,
    },
    /// A name that must be unique is declared again.
    #[error("{kind} {name} is declared twice")]
    Duplicate {
        /// `encoding`, `data format`, `operand type` or `instruction`.
        kind: &'static str,
        /// The name.
        name: String,
    },
    /// A condition's expression makes no sense.
    #[error("bad condition: {0}")]
    Condition(String),
    /// More things than an index can count.
    #[error("more than {limit} {kind}s")]
    TooMany {
        /// What there is too much of.
        kind: &'static str,
        /// The limit.
        limit: usize,
    },
}
