//! What the tests share.
#![allow(dead_code, unreachable_pub)]

use std::path::{Path, PathBuf};

use isa_xml::{Error, Import, Source};

pub const FIXTURES: [(&str, &str); 5] = [
    ("1.0.0", include_str!("../fixtures/schema_1_0_0.xml")),
    ("1.1.0", include_str!("../fixtures/schema_1_1_0.xml")),
    ("1.1.1", include_str!("../fixtures/schema_1_1_1.xml")),
    ("1.1.1", include_str!("../fixtures/schema_1_1_1_reissued.xml")),
    ("1.2.0", include_str!("../fixtures/schema_1_2_0.xml")),
];

pub const V1_0_0: &str = FIXTURES[0].1;
pub const V1_1_0: &str = FIXTURES[1].1;
pub const V1_1_1: &str = FIXTURES[2].1;
pub const V1_1_1_REISSUED: &str = FIXTURES[3].1;
pub const V1_2_0: &str = FIXTURES[4].1;

pub fn import(text: &str) -> Result<Import, Error> {
    isa_xml::import(&Source::new("test.xml", text.as_bytes().to_vec())?)
}

/// The text with one thing replaced, which must be there.
pub fn edit(text: &str, from: &str, to: &str) -> String {
    assert!(text.contains(from), "the fixture has no {from:?}");
    text.replacen(from, to, 1)
}

pub fn repository() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap()
}

/// The folder of AMD's files beside the repository, or where `GFX_ISA_SHARED` says.
pub fn reference_xml() -> Option<PathBuf> {
    let folder = std::env::var_os("GFX_ISA_SHARED")
        .map_or_else(|| repository().parent().unwrap().join("shared"), PathBuf::from)
        .join("isa-xml");
    if folder.is_dir() {
        return Some(folder);
    }
    eprintln!("NOT TESTED: the reference data folder is absent ({})", folder.display());
    None
}

/// The names in data/sources.toml, which this crate does not depend on.
pub fn generations() -> Vec<(String, String)> {
    let text = std::fs::read_to_string(repository().join("data/sources.toml")).unwrap();
    let value = |line: &str, key: &str| {
        let value = line.strip_prefix(key)?.trim_start().strip_prefix('=')?;
        Some(value.trim().trim_matches('"').to_owned())
    };
    let names = text.lines().filter_map(|line| value(line, "name"));
    let files = text.lines().filter_map(|line| value(line, "xml"));
    let all: Vec<_> = names.zip(files).collect();
    assert!(!all.is_empty());
    all
}
