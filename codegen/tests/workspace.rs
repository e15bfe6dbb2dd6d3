//! What must hold over the whole workspace, checked on its files.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use codegen::Data;
use codegen::sources::{Generation, Sources};
use isa_xml::Spec;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("codegen lies in the workspace").to_owned()
}

fn read(path: impl AsRef<Path>) -> String {
    let path = root().join(path);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn manifest(path: &str) -> toml::Table {
    read(path).parse().expect("a manifest is TOML")
}

/// Rust files below a folder, by path from the root.
fn rust_files(dir: &str) -> Vec<String> {
    fn walk(dir: &Path, found: &mut Vec<PathBuf>) {
        for entry in fs::read_dir(dir).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                walk(&path, found);
            } else if path.extension().is_some_and(|ending| ending == "rs") {
                found.push(path);
            }
        }
    }
    let mut found = Vec::new();
    walk(&root().join(dir), &mut found);
    let relative =
        |path: PathBuf| path.strip_prefix(root()).expect("below the root").to_string_lossy().replace('\\', "/");
    found.into_iter().map(relative).collect()
}

fn sources() -> Sources {
    codegen::sources::parse(&read("data/sources.toml")).expect("the list of generations parses")
}

fn specs() -> Vec<(Generation, Spec)> {
    let record = |generation: Generation| {
        let spec = isa_xml::from_json(&read(format!("specs/{}.json", generation.name))).expect("a record parses");
        (generation, spec)
    };
    sources().generations.into_iter().map(record).collect()
}

fn data() -> Data {
    Data::parse(&read("data/errata.toml"), &read("data/names.toml"), &read("data/syntax.toml")).expect("data parses")
}

#[test]
fn gfx_isa_needs_neither_reader_nor_generator() {
    let manifest = manifest("gfx-isa/Cargo.toml");
    for table in ["dependencies", "dev-dependencies", "build-dependencies"] {
        let names: Vec<&String> = manifest.get(table).and_then(|t| t.as_table()).map_or(vec![], |t| t.keys().collect());
        assert!(!names.iter().any(|name| *name == "isa-xml" || *name == "codegen"), "{table}: {names:?}");
    }
}

#[test]
fn every_generation_is_a_feature() {
    let names: Vec<String> = sources().generations.into_iter().map(|g| g.name).collect();
    let manifest = manifest("gfx-isa/Cargo.toml");
    let features = manifest["features"].as_table().expect("features");
    let all: BTreeSet<&str> =
        features["all-generations"].as_array().expect("a list").iter().filter_map(|v| v.as_str()).collect();
    assert_eq!(all, names.iter().map(String::as_str).collect());
    assert!(names.iter().all(|name| features.contains_key(name)));
}

#[test]
fn only_emit_writes_rust() {
    for file in rust_files("codegen/src").into_iter().filter(|file| !file.starts_with("codegen/src/emit/")) {
        let text = read(&file);
        let imports = text.lines().any(|line| line.trim_start().starts_with("use quote") || line.contains("quote!"));
        assert!(!imports, "{file} writes Rust");
    }
}

/// Crates forbid unsafe code but for the modules whose job it is.
#[test]
fn unsafe_code_stays_where_it_belongs() {
    let allowed = ["xtask/llvm-oracle/src/ffi.rs", "gfx-isa/src/exec/simd.rs"];
    let files = ["isa-xml/src", "codegen/src", "gfx-isa/src", "xtask/src", "xtask/verify/src", "xtask/llvm-oracle/src"];
    for file in files.into_iter().flat_map(rust_files) {
        let text = read(&file);
        let code = |line: &&str| !line.trim_start().starts_with("//") && !line.contains("unsafe_code");
        let has = text.lines().filter(code).any(|line| line.contains("unsafe "));
        assert!(!has || allowed.contains(&file.as_str()), "{file} has unsafe code");
    }
}

#[test]
fn generated_files_are_current_and_the_same_every_time() {
    let data = data();
    let inputs = data.correct(specs()).expect("errata apply");
    let (_, files) = codegen::generate(&inputs, &data).expect("specs lower");
    let (_, again) = codegen::generate(&inputs, &data).expect("specs lower");
    assert!(files == again, "two runs differ");
    let expected: BTreeSet<String> = files.keys().map(|path| format!("gfx-isa/src/generated/{path}")).collect();
    let found: BTreeSet<String> = rust_files("gfx-isa/src/generated").into_iter().collect();
    assert_eq!(found, expected, "stray or missing files");
    for (path, text) in &files {
        assert!(read(format!("gfx-isa/src/generated/{path}")) == *text, "{path} is stale: run `cargo xtask regen`");
        assert!(text.contains("sha256 of the XML") && text.contains("cargo xtask regen"), "{path} has no header");
    }
}

/// An opcode that does not fit its field is an error that names the instruction.
#[test]
fn an_opcode_must_fit() {
    let data = data();
    let mut inputs = data.correct(specs()).expect("errata apply");
    let (_, spec) = inputs.iter_mut().find(|(g, _)| g.name == "rdna4").expect("RDNA 4");
    let row = spec.instructions.iter_mut().find(|i| i.name == "V_MSAD_U8").expect("V_MSAD_U8");
    row.rows[0].opcode = 1024;
    let error = codegen::generate(&inputs, &data).expect_err("1024 needs eleven bits").to_string();
    assert!(error.contains("rdna4") && error.contains("V_MSAD_U8") && error.contains("1024"), "{error}");
}

/// Two instructions cannot have one opcode.
#[test]
fn an_opcode_has_one_owner() {
    let data = data();
    let mut inputs = data.correct(specs()).expect("errata apply");
    let (_, spec) = inputs.iter_mut().find(|(g, _)| g.name == "cdna3").expect("CDNA 3");
    let row = spec.instructions.iter_mut().find(|i| i.name == "V_MSAD_U8").expect("V_MSAD_U8");
    row.rows[0].opcode += 1;
    let error = codegen::generate(&inputs, &data).expect_err("the next opcode is taken").to_string();
    assert!(error.contains("cdna3") && error.contains("V_MSAD_U8"), "{error}");
}
