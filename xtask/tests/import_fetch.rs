//! `import` and `fetch` as a user runs them.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const FIXTURE: &str = include_str!("../../isa-xml/tests/fixtures/schema_1_1_0.xml");

fn xtask(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_xtask"));
    command.args(args);
    command
}

fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    folder
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// The one line of a command that the input makes fail.
#[track_caller]
fn fails(output: &Output) -> String {
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let error = text(&output.stderr);
    assert!(error.starts_with("error: "), "{error}");
    assert_eq!(error.lines().count(), 1, "{error}");
    error
}

fn record() -> Vec<u8> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../specs/rdna4.json");
    fs::read(path).unwrap()
}

#[test]
fn a_bad_file_is_refused_and_nothing_is_written() {
    let folder = folder("import");
    let file = folder.join("amdgpu_isa_rdna4.xml");
    let before = record();
    let import = || xtask(&["import", "--xml"]).arg(&folder).output().unwrap();

    fs::write(&file, &FIXTURE[..FIXTURE.len() / 2]).unwrap();
    assert!(fails(&import()).contains("amdgpu_isa_rdna4.xml:"));

    let wide = "<BitCount>7</BitCount><BitOffset>16</BitOffset>";
    assert!(FIXTURE.contains(wide));
    fs::write(&file, FIXTURE.replace(wide, &wide.replace('7', "1"))).unwrap();
    let error = fails(&import());
    assert!(
        error.contains("amdgpu_isa_rdna4.xml: instruction S_BRANCH → encoding ENC_SOPP: opcode 2 does not fit 1 bits"),
        "{error}"
    );

    fs::rename(&file, folder.join("unknown.xml")).unwrap();
    let output = import();
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stderr).contains("unknown.xml is not in data/sources.toml"));
    assert_eq!(record(), before);
}

#[test]
fn check_says_what_differs() {
    let folder = folder("check");
    fs::write(folder.join("amdgpu_isa_rdna4.xml"), FIXTURE.replace("<License>", "<Colour/><License>")).unwrap();
    let output = xtask(&["import", "--check", "-v", "--xml"]).arg(&folder).output().unwrap();
    assert!(fails(&output).contains("XML and record differ for rdna4"));
    let out = text(&output.stdout);
    assert!(out.contains("unknown: Spec/Document/Colour (1)"), "{out}");
    assert!(out.contains("~ document schema version") || out.contains("~ document architecture"), "{out}");
    assert!(out.contains("cdna1    no amdgpu_isa_cdna1.xml there"), "{out}");
}

#[test]
fn bad_usage_is_2() {
    assert_eq!(xtask(&["import"]).output().unwrap().status.code(), Some(2));
    assert_eq!(xtask(&["fetch", "--nonsense"]).output().unwrap().status.code(), Some(2));
}

#[test]
fn without_a_downloader_fetch_says_what_to_do() {
    let folder = folder("fetch-nothing");
    let output = xtask(&["fetch", "--to"]).arg(folder.join("cache")).env("PATH", &folder).output().unwrap();
    let error = fails(&output);
    assert!(error.contains("neither curl nor wget is installed"), "{error}");
    assert!(
        error.contains("download it in a browser, then run `cargo xtask regen --xml AMD_GPU_MR_ISA_XML"),
        "{error}"
    );
}

/// A curl that says or writes what the test wants.
#[cfg(unix)]
fn fetch_with_curl(name: &str, script: &str) -> (Output, PathBuf) {
    use std::os::unix::fs::PermissionsExt;
    let folder = folder(name);
    let curl = folder.join("curl");
    fs::write(&curl, format!("#!/bin/sh\nfor last; do url=$last; done\n{script}\n")).unwrap();
    fs::set_permissions(&curl, fs::Permissions::from_mode(0o755)).unwrap();
    let cache = folder.join("cache");
    let output = xtask(&["fetch", "--to"]).arg(&cache).env("PATH", &folder).output().unwrap();
    (output, cache)
}

#[cfg(unix)]
#[test]
fn offline_fetch_is_one_line_and_leaves_nothing() {
    let (output, cache) = fetch_with_curl("fetch-offline", "echo 'curl: (6) Could not resolve host: x' >&2; exit 6");
    let error = fails(&output);
    assert!(error.contains("(curl: (6) Could not resolve host: x)"), "{error}");
    assert_eq!(fs::read_dir(cache).unwrap().count(), 0);
}

#[cfg(unix)]
#[test]
fn a_download_with_the_wrong_checksum_is_thrown_away() {
    // Writes to what follows --output.
    let write = "while [ \"$1\" != --output ]; do shift; done; echo wrong > \"$2\"";
    let (output, cache) = fetch_with_curl("fetch-wrong", write);
    let error = fails(&output);
    assert!(error.contains("the download has sha256 "), "{error}");
    assert_eq!(fs::read_dir(cache).unwrap().count(), 0);
}
