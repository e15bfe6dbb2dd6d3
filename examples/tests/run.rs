//! Runs the examples as a user does and looks at what they print.

use std::path::PathBuf;
use std::process::{Command, Output};

/// Cargo builds the examples beside this test before it runs it.
fn run(name: &str, args: &[&str]) -> Output {
    let own = std::env::current_exe().expect("the test has a path");
    let folder: PathBuf = own.ancestors().nth(2).expect("deps is in the profile's folder").join("examples");
    let program = folder.join(name).with_extension(std::env::consts::EXE_EXTENSION);
    assert!(program.exists(), "{} is not built; run the tests of the whole package", program.display());
    Command::new(program).args(args).output().expect("the example starts")
}

fn text(name: &str, args: &[&str]) -> String {
    let output = run(name, args);
    assert!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("UTF-8")
}

#[test]
fn decode_bytes() {
    let own = text("decode_bytes", &[]);
    assert!(own.contains("0000: v_add_f32_e32 v3, 0x40490fdb, v2    // ENC_VOP2, 8 bytes\n"), "{own}");
    assert!(own.contains("offset 0x8: reserved") && own.contains("000c: s_endpgm"), "{own}");
    let given = text("decode_bytes", &["gfx942", "7e020302"]);
    assert!(given.starts_with("0000: v_mov_b32_e32 v1, v2"), "{given}");
    assert_eq!(run("decode_bytes", &["gfx1"]).status.code(), Some(2));
    assert_eq!(run("decode_bytes", &["rdna4", "xyz"]).status.code(), Some(2));
}

#[test]
fn compare_generations() {
    let own = text("compare_generations", &[]);
    assert!(
        own.starts_with("V_MSAD_U8 in CDNA 5, ENC_VOP3, opcode 569: same in RDNA 4; field layout differs in"),
        "{own}"
    );
    assert!(own.contains("    63:61  NEG\n") && own.contains("RDNA 3 to RDNA 4: "), "{own}");
    assert!(text("compare_generations", &["v_med3_u32", "cdna3", "gfx1250"]).contains("CDNA 3 to CDNA 5: "));
    assert_eq!(run("compare_generations", &["V_NONSENSE"]).status.code(), Some(1));
}

#[test]
fn typed_encoding() {
    let own = text("typed_encoding", &[]);
    assert!(
        own.contains("0x040e0501d6390000: opcode 569, destination v0\nv_msad_u8 v0, v1, v2, v3: SRC2 is Some("),
        "{own}"
    );
    assert!(own.contains("0x040e0501d6398000: clamp 1"), "{own}");
}

#[test]
fn build_code() {
    let own = text("build_code", &[]);
    let lines: Vec<&str> = own.lines().collect();
    assert_eq!(lines.len(), 11, "{own}");
    assert_eq!(lines[0], "0000: v_lshlrev_b32_e32 v1, 2, v0");
    assert_eq!(lines[2], "0008: s_cbranch_scc1 0x3c");
    assert_eq!(lines[7], "0024: global_store_b32 v1, v2, s[0:1] th:TH_STORE_NT");
    assert_eq!(lines[9], "0038: s_branch 0x4");
    assert_eq!(lines[10], "003c: s_endpgm");
}

#[test]
fn run_kernel() {
    let own = text("run_kernel", &[]);
    // 40 + 2 and 1000 - 1, by a kernel of a code object.
    assert!(own.starts_with("RDNA 4: add in waves of 32 lanes\n") && own.contains("\nc[2] = 42\n"), "{own}");
    assert!(own.contains("s_endpgm") && own.contains("1 group, 8 waves, "), "{own}");
    let own = text("run_kernel", &["gfx908"]);
    assert!(own.starts_with("CDNA 1: add in waves of 64 lanes\n") && own.contains("\nc[3] = 999\n"), "{own}");
}
