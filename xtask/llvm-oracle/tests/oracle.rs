//! The oracle against rows whose answer is known.

use std::io::Read;
use std::path::{Path, PathBuf};

use llvm_oracle::{Answer, ChildOracle, Error, Oracle};

/// `None`, said aloud, where the toolchain has no LLVM library; any other failure fails the test.
fn oracle() -> Option<Oracle> {
    match Oracle::load() {
        Ok(oracle) => Some(oracle),
        Err(error @ Error::NotFound(_)) => {
            eprintln!("SKIPPED: {error}");
            None
        }
        Err(error) => panic!("{error}: {error:?}"),
    }
}

#[test]
fn disassembles_and_assembles_each_generation() {
    let Some(oracle) = oracle() else { return };
    assert!(oracle.version().0 >= 19, "{:?}", oracle.version());
    let rows: &[(&str, &str, &[u8], &str)] = &[
        ("gfx908", "", &[0x00, 0x00, 0x80, 0xbf], "s_nop 0"),
        ("gfx90a", "", &[0x01, 0x03, 0x00, 0x7e], "v_mov_b32_e32 v0, v1"),
        ("gfx942", "", &[0x01, 0x03, 0x00, 0x7e], "v_mov_b32_e32 v0, v1"),
        ("gfx950", "", &[0x00, 0x00, 0x81, 0xbf], "s_endpgm"),
        ("gfx1030", "", &[0xc1, 0x02, 0x00, 0x7e], "v_mov_b32_e32 v0, -1"),
        ("gfx1100", "", &[0x00, 0x00, 0xb0, 0xbf], "s_endpgm"),
        ("gfx1100", "", &[0xff, 0x02, 0x00, 0x7e, 0x78, 0x56, 0x34, 0x12], "v_mov_b32_e32 v0, 0x12345678"),
        ("gfx1250", "", &[0x00, 0x00, 0xb0, 0xbf], "s_endpgm"),
        ("gfx1200", "+wavefrontsize64", &[0x02, 0x01, 0x80, 0xbe], "s_mov_b64 s[0:1], s[2:3]"),
    ];
    for &(cpu, features, bytes, text) in rows {
        let target = oracle.target(cpu, features).unwrap();
        // More bytes than the instruction has, as in a stream.
        let mut stream = bytes.to_vec();
        stream.extend([0; 8]);
        assert_eq!(target.disassemble(&stream), Some((bytes.len(), text.to_owned())), "{cpu}");
        assert_eq!(target.assemble(text).as_deref(), Ok(bytes), "{cpu} {text}");
    }
}

#[test]
fn refuses_what_is_not_valid() {
    let Some(oracle) = oracle() else { return };
    let target = oracle.target("gfx1100", "").unwrap();
    assert_eq!(target.disassemble(&[]), None);
    assert_eq!(target.disassemble(&[0x00, 0x00]), None);
    assert_eq!(target.disassemble(&[0xff; 4]), None);
    assert!(target.assemble("v_nonsense v0").unwrap_err().contains("invalid instruction"));
    assert!(target.assemble("s_nop 0\ns_nop 1").is_err());
}

#[test]
fn one_bad_line_leaves_the_others_alone() {
    let Some(oracle) = oracle() else { return };
    let target = oracle.target("gfx1100", "").unwrap();
    let lines = ["s_nop 1", "v_nonsense v0", "/* open", "", "v_mov_b32 v0, v300", ".rept 1", "s_nop 2"];
    let answers = target.assemble_lines(&lines);
    let bytes: Vec<Option<&[u8]>> = answers.iter().map(|answer| answer.as_deref().ok()).collect();
    assert_eq!(bytes[0], Some(&[1, 0, 0x80, 0xbf][..]));
    assert_eq!(bytes[1], None);
    assert_eq!(bytes[2], None);
    assert_eq!(bytes[3], Some(&[][..]));
    assert_eq!(bytes[4], None);
    assert_eq!(bytes[5], None);
    assert_eq!(bytes[6], Some(&[2, 0, 0x80, 0xbf][..]));
}

#[test]
fn a_worker_answers() {
    if oracle().is_none() {
        return;
    }
    let worker = Path::new(env!("CARGO_BIN_EXE_llvm-oracle-worker"));
    let mut child = ChildOracle::new(worker, &[], "gfx1100", "");
    let nop: &[u8] = &[1, 0, 0x80, 0xbf];
    let words: Vec<&[u8]> = std::iter::repeat_n(nop, 5000).chain([&[0xff; 4][..]]).collect();
    let answers = child.disassemble(&words).unwrap();
    assert_eq!(answers.len(), 5001);
    assert!(answers[..5000].iter().all(|answer| *answer == Answer::Text(4, "s_nop 1".to_owned())));
    assert_eq!(answers[5000], Answer::Refused(String::new()));
    let answers = child.assemble(&["s_nop 1", "v_nonsense"]).unwrap();
    assert_eq!(answers[0], Answer::Bytes(nop.to_vec()));
    assert!(matches!(&answers[1], Answer::Refused(why) if why.contains("invalid")), "{answers:?}");
}

#[cfg(unix)]
#[test]
fn a_crash_is_an_answer_and_the_rest_is_asked_again() {
    // Answers one question and dies at the next.
    let script = "echo ready; read line; echo \"r ${line%% *}\"; read line; kill -SEGV $$";
    let mut child = ChildOracle::new(Path::new("sh"), &["-c", script], "gfx1100", "");
    let answers = child.disassemble(&[[0u8; 4]; 5]).unwrap();
    let refused = || Answer::Refused("d".to_owned());
    assert_eq!(answers, [refused(), Answer::Crash, refused(), Answer::Crash, refused()]);
    assert_eq!(child.crashes(), 2);
}

#[test]
fn a_worker_that_ends_is_an_error() {
    let mut child = ChildOracle::new(Path::new("true"), &[], "gfx1100", "");
    assert!(matches!(child.disassemble(&[[0u8; 4]]), Err(Error::WorkerFailed(_) | Error::Worker(_))));
}

fn reference_folder() -> PathBuf {
    std::env::var_os("GFX_ISA_SHARED")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared"), PathBuf::from)
}

/// The processor and features of a golden file's name.
fn configuration(name: &str) -> (&'static str, &'static str) {
    let (generation, variant) = match name.strip_suffix("_w64") {
        Some(generation) => (generation, "+wavefrontsize64"),
        None => name.strip_suffix("_t16").map_or((name, ""), |generation| (generation, "+real-true16")),
    };
    let cpu = match generation {
        "cdna1" => "gfx908",
        "cdna2" => "gfx90a",
        "cdna3" => "gfx942",
        "cdna4" => "gfx950",
        "cdna5" => "gfx1250",
        "rdna1" => "gfx1010",
        "rdna2" => "gfx1030",
        "rdna3" => "gfx1100",
        "rdna3_5" => "gfx1150",
        "rdna4" => "gfx1201",
        other => panic!("no generation {other}"),
    };
    (cpu, variant)
}

/// Releases of LLVM 22.1 differ in where they write `lit64(..)`.
fn plain(text: &str) -> String {
    text.replace("lit64(", "").replace("lit(", "").replace(')', "")
}

#[test]
fn agrees_with_the_reference_rows() {
    let folder = reference_folder().join("golden");
    let Ok(entries) = std::fs::read_dir(&folder) else {
        eprintln!("SKIPPED: no reference data folder {}", folder.display());
        return;
    };
    let Some(oracle) = oracle() else { return };
    let mut files = 0;
    for entry in entries {
        let path = entry.unwrap().path();
        let file = path.file_name().unwrap().to_string_lossy().into_owned();
        let Some(name) = file.strip_suffix(".dis.tsv.gz") else {
            continue;
        };
        let (cpu, features) = configuration(name);
        let target = oracle.target(cpu, features).unwrap();
        let mut text = String::new();
        flate2::read::GzDecoder::new(std::fs::File::open(&path).unwrap()).read_to_string(&mut text).unwrap();
        // Every 97th row: the full files are what the conformance command is for.
        let rows: Vec<(Vec<u8>, &str)> = text
            .lines()
            .step_by(97)
            .map(|row| {
                let (hex, text) = row.split_once('\t').unwrap();
                let byte = |at: usize| u8::from_str_radix(&hex[at..at + 2], 16).unwrap();
                ((0..hex.len()).step_by(2).map(byte).collect(), text)
            })
            .collect();
        assert!(!rows.is_empty(), "{file}");
        for (bytes, text) in &rows {
            let (length, ours) = target.disassemble(bytes).unwrap_or_else(|| panic!("{file} {bytes:02x?} {text}"));
            assert_eq!(length, bytes.len(), "{file} {bytes:02x?} {text}");
            assert_eq!(plain(&ours), plain(text), "{file} {bytes:02x?}");
        }
        let lines: Vec<&str> = rows.iter().map(|(_, text)| *text).collect();
        for ((bytes, text), answer) in rows.iter().zip(target.assemble_lines(&lines)) {
            assert_eq!(answer.as_ref(), Ok(bytes), "{file} {text}");
        }
        files += 1;
    }
    assert!(files > 0, "no files in {}", folder.display());
}
