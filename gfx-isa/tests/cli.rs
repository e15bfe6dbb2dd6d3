//! The command line as a user runs it.

use std::path::PathBuf;
use std::process::{Command, Output};

use serde_json::Value;

fn run(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_gfx-isa")).args(args).env("NO_COLOR", "1").output().expect("the program starts")
}

/// What a command writes that must succeed.
fn good(args: &[&str]) -> String {
    let output = run(args);
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!((output.status.code(), error.as_str()), (Some(0), ""), "{args:?}");
    String::from_utf8(output.stdout).expect("UTF-8")
}

/// What a command says that must fail; nothing goes to standard output.
fn bad(args: &[&str], code: i32) -> String {
    let output = run(args);
    assert_eq!((output.status.code(), output.stdout.as_slice()), (Some(code), &b""[..]), "{args:?}");
    let error = String::from_utf8(output.stderr).expect("UTF-8");
    assert!(error.starts_with("error: "), "{error}");
    error
}

fn json(args: &[&str]) -> Value {
    serde_json::from_str(&good(args)).expect("JSON")
}

/// Bit ranges of a drawn layout, each with its text, from the high bit down.
fn drawn(page: &str) -> Vec<(String, String)> {
    let mut cells = Vec::new();
    let lines: Vec<&str> = page.lines().collect();
    for window in lines.windows(3).filter(|window| window[1].trim_start().starts_with('┌')) {
        let ranges = window[0].split_whitespace();
        let texts = lines[lines.iter().position(|line| std::ptr::eq(*line, window[1])).expect("there") + 1];
        let texts = texts.trim().trim_matches('│').split('│').map(str::trim);
        cells.extend(ranges.zip(texts).map(|(range, text)| (range.to_owned(), text.to_owned())));
    }
    cells
}

fn pieces(page: &str) -> String {
    drawn(page).into_iter().map(|(range, text)| format!("{text} {range}")).collect::<Vec<_>>().join(", ")
}

#[test]
fn page_of_v_msad_u8() {
    let page = good(&["show", "V_MSAD_U8", "--isa", "cdna5"]);
    assert_eq!(
        pieces(&page),
        "NEG 63:61, OMOD 60:59, SRC2 58:50, SRC1 49:41, SRC0 40:32, 110101 31:26, 1000111001 25:16, CLAMP 15, \
         OPSEL 14:11, ABS 10:8, VDST 7:0"
    );
    assert!(page.contains("ENC_VOP3  64 bits, opcode 569, identifier 0x00000000D6390000, mask 0x00000000FFFF0000"));
    assert!(page.contains(
        "generations: same in RDNA 4; field layout differs in RDNA 3, 3.5; opcode (369) and layout in RDNA 1, 2; \
         opcode (484) and layout in CDNA 1–4"
    ));
    insta::assert_snapshot!("show_v_msad_u8", page);
}

#[test]
fn page_of_v_med3_u32() {
    let page = good(&["show", "v_med3_u32", "--isa", "gfx1250"]);
    assert!(page.contains("opcode 545, identifier 0x00000000D6210000"));
    assert!(page.contains(
        "generations: same in RDNA 4; field layout differs in RDNA 3, 3.5; opcode (345) and layout in RDNA 1, 2; \
         opcode (472) and layout in CDNA 1–4"
    ));
}

#[test]
fn page_of_v_pk_mad_u16() {
    let page = good(&["show", "V_PK_MAD_U16", "--isa", "cdna5"]);
    assert!(page.contains("ENC_VOP3P  64 bits, opcode 9, identifier 0x00000000CC090000"));
    let cells = drawn(&page);
    let split: Vec<&str> =
        cells.iter().filter(|(_, text)| text.starts_with("OPSEL_HI[")).map(|(range, _)| range.as_str()).collect();
    assert_eq!(split, ["60:59", "14"]);
    assert!(page.contains("generations: field layout differs in RDNA 1–4, CDNA 1–4"));
}

#[test]
fn pages_of_unusual_words() {
    insta::assert_snapshot!("show_split_opcode", good(&["show", "IMAGE_SAMPLE", "--isa", "rdna2"]));
    insta::assert_snapshot!("show_dual", good(&["show", "V_DUAL_FMAMK_F32", "--isa", "rdna3"]));
    insta::assert_snapshot!("show_pair", good(&["show", "V_WMMA_SCALE_F32_16X16X128_F8F6F4"]));
    insta::assert_snapshot!("show_packed", good(&["show", "s_waitcnt", "--isa", "rdna3"]));
    insta::assert_snapshot!("show_segment", good(&["show", "GLOBAL_LOAD_DWORD", "--isa", "cdna3"]));
}

#[test]
fn without_a_generation_the_newest_is_shown() {
    assert!(good(&["show", "V_MSAD_U8"]).contains("CDNA 5 (gfx1250)  the newest generation that has it"));
    assert!(good(&["show", "V_MFMA_F32_32X32X8_F16"]).contains("CDNA 4 (gfx950)  the newest"));
}

#[test]
fn other_names_are_understood() {
    let by_alias = json(&["show", "buffer_load_dword", "--isa", "rdna4", "--json"]);
    assert_eq!(by_alias["instruction"], "BUFFER_LOAD_B32");
    let by_mnemonic = json(&["show", "v_add_f32_e64", "--isa", "rdna4", "--json"]);
    assert_eq!(by_mnemonic["instruction"], "V_ADD_F32");
    assert!(good(&["show", "buffer_load_dword", "--isa", "rdna4"]).contains("BUFFER_LOAD_DWORD is another name of it"));
}

#[test]
fn one_encoding_or_all() {
    let both = good(&["show", "V_ADD_F32", "--isa", "rdna2"]);
    assert!(both.contains("\nENC_VOP2  ") && both.contains("\nENC_VOP3  "));
    assert!(!both.contains("DPP_CTRL"));
    let variant = good(&["show", "V_ADD_F32", "--isa", "rdna2", "--encoding", "vop2_vop_dpp16"]);
    assert!(variant.contains("\nVOP2_VOP_DPP16  64 bits, opcode 3") && variant.contains("DPP_CTRL"));
    assert!(!variant.contains("\nENC_VOP3  "));
    let all = good(&["show", "V_ADD_F32", "--isa", "rdna2", "--all"]);
    assert!(["ENC_VOP2", "VOP2_VOP_DPP8", "VOP2_VOP_SDWA", "VOP3_INST_LITERAL"].iter().all(|name| all.contains(name)));
    assert!(all.contains("DPP_CTRL") && all.contains("LANE_SEL_7"));
    // A carry needs a destination, a sum has none.
    let carry = good(&["show", "V_ADD_CO_CI_U32", "--isa", "rdna2"]);
    assert!(carry.contains("VOP2_VOP_SDWA_SDST_ENC") && !both.contains("SDWA_SDST_ENC"));
}

#[test]
fn json_of_show_is_as_documented() {
    let page = json(&["show", "V_MSAD_U8", "--isa", "cdna5", "--json"]);
    assert_eq!(page["targets"], serde_json::json!(["gfx1250"]));
    assert_eq!(page["group"], "VALU");
    let word = &page["encodings"][0];
    assert_eq!(word["opcode"], 569);
    assert_eq!(
        word["layout"][0],
        serde_json::json!({
            "high": 63, "low": 61, "role": "field", "field": "NEG", "part": null, "value": null
        })
    );
    assert_eq!(word["layout"][6]["value"], "1000111001");
    let others = word["generations"]["others"].as_array().expect("a list");
    assert_eq!(others.len(), 9);
    let of = |name: &str| others.iter().find(|other| other["generation"] == name).expect(name);
    assert_eq!((&of("rdna4")["same"], &of("cdna1")["opcode"]), (&Value::from(true), &Value::from(484)));
    insta::assert_snapshot!("show_json", serde_json::to_string_pretty(&page).expect("JSON"));
}

/// Every member that docs/json.md names is there, and every member that is there is named.
#[test]
fn json_members_are_documented() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/json.md");
    let Ok(text) = std::fs::read_to_string(path) else {
        eprintln!("skipped: no {path}");
        return;
    };
    fn members(value: &Value, into: &mut std::collections::BTreeSet<String>) {
        match value {
            Value::Array(items) => items.iter().for_each(|item| members(item, into)),
            Value::Object(map) => map.iter().for_each(|(key, item)| {
                into.insert(key.clone());
                members(item, into);
            }),
            _ => {}
        }
    }
    let sections: [(&str, &[&[&str]]); 5] = [
        (
            "## show",
            &[&["show", "V_MSAD_U8", "--json"], &["show", "V_PK_MAD_U16", "--json"], &["show", "S_SENDMSG", "--json"]],
        ),
        ("## list", &[&["list", "--json"], &["list", "--isa", "rdna4", "--json"]]),
        ("## compare NAME", &[&["compare", "V_MSAD_U8", "--json"]]),
        ("## compare --isa", &[&["compare", "--isa", "rdna3", "rdna4", "--json"]]),
        ("## matrix", &[&["matrix", "V_MFMA_F32_32X32X8_F16", "--isa", "cdna3", "--json"]]),
    ];
    for (heading, commands) in sections {
        let start = text.find(&format!("\n{heading}\n")).unwrap_or_else(|| panic!("no section {heading}"));
        let section = &text[start + heading.len() + 1..];
        let section = &section[..section.find("\n## ").unwrap_or(section.len())];
        let named: std::collections::BTreeSet<String> = section
            .lines()
            .filter_map(|line| line.strip_prefix("| `")?.split_once('`'))
            .map(|(name, _)| name.rsplit('.').next().unwrap_or(name).trim_end_matches("[]").to_owned())
            .collect();
        let mut present = std::collections::BTreeSet::new();
        commands.iter().for_each(|args| members(&json(args), &mut present));
        assert_eq!(present, named, "{heading}");
    }
}

/// Places are those that AMD's matrix instruction calculator gives.
#[test]
fn elements_of_matrices() {
    let page = good(&["matrix", "v_mfma_f32_32x32x8_f16", "--isa", "gfx942"]);
    assert!(page.contains("D = A × B + C with m × n × k = 32×32×8\n"), "{page}");
    assert!(page.contains("A[i, k]  32 × 8 f16, 2 registers\n  lane      i + 32 · (k / 4)\n"), "{page}");
    assert!(page.contains("  register  k / 2 % 2\n  from bit  16 · (k % 2)\n"), "{page}");
    assert!(page.contains("  lane      32 · (i / 4 % 2) + j\n  register  i % 4 + 4 · (i / 8)\n"), "{page}");
    let one = good(&["matrix", "V_MFMA_F32_32X32X8_F16", "--isa", "cdna3", "--matrix", "A", "--at", "3,5", "--csv"]);
    assert_eq!(one, "matrix,block,row,column,lane,register,bit,bits\nA,0,3,5,35,0,16,16\n");
    // RDNA 3 keeps A twice.
    let copies =
        good(&["matrix", "V_WMMA_F32_16X16X16_F16", "--isa", "rdna3", "--matrix", "a", "--at", "1,2", "--csv"]);
    assert!(copies.ends_with("\nA,0,1,2,1,1,0,16\nA,0,1,2,17,1,0,16\n"), "{copies}");
    let grid = good(&["matrix", "V_WMMA_I32_16X16X16_IU8", "--isa", "rdna4", "--matrix", "D"]);
    assert!(grid.lines().any(|line| line.starts_with("9     16:v1 17:v1 18:v1")), "{grid}");
    let whole = json(&["matrix", "V_SMFMAC_F32_16X16X32_F16", "--isa", "cdna3", "--json"]);
    let index = &whole["matrices"][4];
    assert_eq!((&index["matrix"], &index["sets"], &index["rows"]), (&"index".into(), &4.into(), &16.into()));
    bad(&["matrix", "V_ADD_F32", "--isa", "cdna3"], 1);
    bad(&["matrix", "V_MFMA_F32_32X32X8_F16", "--isa", "cdna3", "--a", "fp4"], 2);
    bad(&["matrix", "V_MFMA_F32_32X32X8_F16", "--isa", "cdna3", "--wave", "32"], 2);
    bad(&["matrix", "V_MFMA_F32_32X32X8_F16", "--isa", "cdna3", "--matrix", "scale-a"], 1);
}

#[test]
fn an_instruction_over_all_generations() {
    insta::assert_snapshot!("compare_v_msad_u8", good(&["compare", "V_MSAD_U8"]));
    insta::assert_snapshot!("compare_renamed", good(&["compare", "BUFFER_LOAD_DWORD"]));
    let two = json(&["compare", "V_MSAD_U8", "--isa", "rdna3", "cdna5", "--json"]);
    let opcodes: Vec<&Value> =
        two["generations"].as_array().expect("a list").iter().map(|line| &line["opcode"]).collect();
    assert_eq!(opcodes, [569, 569]);
    let table = good(&["compare", "V_MSAD_U8", "--csv"]);
    assert!(table.contains("\nRDNA 4,\"gfx1200, gfx1201\",V_MSAD_U8,ENC_VOP3,569,0x00000000D6390000,"));
}

#[test]
fn two_generations() {
    let text = good(&["compare", "--isa", "rdna3", "rdna4"]);
    let line = |parts: &[&str]| text.lines().any(|line| line.split_whitespace().eq(parts.iter().copied()));
    assert!(line(&["renamed", "DS_MAX_F32", "→", "DS_MAX_NUM_F32", "ENC_DS", "→", "ENC_VDS", "19"]));
    assert!(line(&["added", "BUFFER_ATOMIC_PK_ADD_F16", "ENC_VBUFFER", "89"]));
    assert!(line(&["removed", "BUFFER_GL0_INV", "ENC_MUBUF", "43"]));
    assert!(text.contains("ENC_VOP3  64 bits: relaid\n    OP_SEL 14:11 → OPSEL 14:11\n"));
    // An encoding's new layout is said once, not for each instruction.
    assert!(!text.lines().any(|line| line.contains("V_MSAD_U8")));
    let backwards = good(&["compare", "--isa", "rdna4", "rdna3"]);
    assert!(
        backwards.contains("added")
            && backwards.lines().any(|line| line.starts_with("added") && line.contains("BUFFER_GL0_INV"))
    );
    let none = good(&["compare", "--isa", "rdna4", "gfx1201"]);
    assert!(none.contains("0 added, 0 removed, 0 renamed, 0 renumbered"));
}

#[test]
fn two_generations_as_json_and_csv() {
    let changes = json(&["compare", "--isa", "rdna3", "rdna4", "--json"]);
    let all = changes["instructions"].as_array().expect("a list");
    let msad = all.iter().find(|change| change["new"]["instruction"] == "V_MSAD_U8").expect("its layout differs");
    assert_eq!(
        (&msad["changes"], &msad["differences"]),
        (&serde_json::json!(["relaid"]), &serde_json::json!(["layout"]))
    );
    let table = good(&["compare", "--isa", "rdna3", "rdna4", "--csv"]);
    let mut lines = table.lines();
    let columns = lines.next().expect("a heading").split(',').count();
    assert_eq!(columns, 9);
    let encodings = changes["encodings"].as_array().expect("a list");
    assert_eq!(lines.count(), all.len() + encodings.len());
}

#[test]
fn lists() {
    let all = good(&["list"]);
    assert!(all.lines().any(|line| line.split_whitespace().eq("V_MSAD_U8 VALU CDNA 1–5, RDNA 1–4".split_whitespace())));
    let mfma = good(&["list", "--isa", "cdna3", "--group", "mfma"]);
    assert!(mfma.lines().skip(1).all(|line| line.contains("MFMA")) && mfma.lines().count() > 20);
    let packed = json(&["list", "--isa", "rdna4", "--encoding", "VOP3P", "--json"]);
    let packed = packed["instructions"].as_array().expect("a list");
    assert!(packed.iter().all(|listed| listed["encoding"] == "ENC_VOP3P") && packed.len() > 20);
    insta::assert_snapshot!("list_encoding", good(&["list", "--isa", "cdna3", "--encoding", "ENC_SOPP"]));
    let dpp8 = good(&["list", "--isa", "rdna4", "--encoding", "VOP1_VOP_DPP8"]);
    assert!(dpp8.contains("V_MOV_B32") && !dpp8.contains("V_NOP"));
}

#[test]
fn unknown_names_get_a_suggestion() {
    let error = bad(&["show", "V_MSAD_U9"], 1);
    assert_eq!(error, "error: unknown instruction \"V_MSAD_U9\"; did you mean V_MSAD_U8, V_SAD_U8 or V_MAD_U16?\n");
    assert!(bad(&["show", "V_MSDA_U8", "--isa", "rdna2"], 1).contains("did you mean V_MSAD_U8"));
    assert!(bad(&["show", "qqqqqqqqqq"], 1).contains("`gfx-isa list` names all"));
    assert!(bad(&["show", ""], 1).contains("unknown instruction"));
    assert_eq!(
        bad(&["show", "S_WAIT_ALU", "--isa", "cdna1"], 1),
        "error: CDNA 1 has no S_WAIT_ALU; it is in CDNA 5, RDNA 4\n"
    );
    assert!(bad(&["compare", "V_MSAD"], 1).contains("did you mean"));
    assert!(bad(&["show", "V_NOP", "--isa", "rdan4"], 2).contains("did you mean rdna4"));
    assert!(bad(&["show", "V_NOP", "--isa", "x86"], 2).contains("known are cdna1"));
    assert!(bad(&["show", "V_NOP", "--isa", "cdna3", "--encoding", "ENC_VOP11"], 2).contains("did you mean ENC_VOP1"));
    assert!(bad(&["list", "--group", "VALLU"], 2).contains("did you mean VALU"));
    assert!(bad(&["list", "--encoding", "ENC_VOP33"], 2).contains("did you mean ENC_VOP3"));
}

#[test]
fn an_instruction_that_lacks_the_encoding() {
    let error = bad(&["show", "V_MSAD_U8", "--isa", "rdna4", "--encoding", "ENC_VOP2"], 1);
    assert!(error.contains("RDNA 4 has V_MSAD_U8 not in ENC_VOP2 but in ENC_VOP3, "), "{error}");
}

#[test]
fn bad_usage() {
    for args in [
        &["compare"][..],
        &["compare", "--isa", "rdna3"],
        &["compare", "--isa", "rdna3", "rdna4", "--json", "--csv"],
        &["show"],
        &["nonsense"],
        &["show", "V_NOP", "--nonsense"],
    ] {
        bad(args, 2);
    }
    assert_eq!(run(&[]).status.code(), Some(2));
    assert!(good(&["--version"]).starts_with("gfx-isa "));
    assert!(good(&["--help"]).contains("Exit status"));
}

#[test]
fn no_colour_where_there_is_no_terminal() {
    let output = Command::new(env!("CARGO_BIN_EXE_gfx-isa")).args(["show", "V_MSAD_U8"]).output().expect("it starts");
    assert!(!output.stdout.contains(&0x1b));
    let colour = Command::new(env!("CARGO_BIN_EXE_gfx-isa"))
        .args(["show", "V_MSAD_U8"])
        .env("CLICOLOR_FORCE", "1")
        .output()
        .expect("it starts");
    assert!(colour.stdout.contains(&0x1b));
}

#[test]
fn instructions_of_every_generation_have_a_page() {
    // Through the library, and not each of 13,500: comparing takes a while in a debug build.
    for generation in gfx_isa::Generation::available() {
        for info in generation.instructions().step_by(17) {
            let summary = gfx_isa::compare::Summary::new(info).to_string();
            assert!(!summary.is_empty() && !summary.contains("  "), "{info:?}: {summary}");
            for operand in info.operands() {
                assert!(!operand.accepts().to_string().is_empty(), "{info:?} {operand:?}");
                assert_eq!(operand.field().is_some(), operand.field_name().is_some(), "{info:?} {operand:?}");
            }
        }
    }
}

/// A code object of the tests of kernels.
fn code_object(name: &str) -> String {
    format!("{}/tests/kernels/{name}.co", env!("CARGO_MANIFEST_DIR"))
}

/// A file of dwords in a folder of its own.
fn dwords(folder: &std::path::Path, name: &str, values: &[u32]) -> String {
    let path = folder.join(name);
    std::fs::write(&path, values.iter().flat_map(|value| value.to_le_bytes()).collect::<Vec<u8>>()).expect("written");
    path.to_str().expect("UTF-8").to_owned()
}

#[test]
fn kernels_run() {
    let folder = std::env::temp_dir().join(format!("gfx-isa-run-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let a = dwords(&folder, "a", &(0..300).collect::<Vec<u32>>());
    let b = dwords(&folder, "b", &(0..300).map(|x| 1000 * x).collect::<Vec<u32>>());
    let read = |name: &str| {
        let bytes = std::fs::read(folder.join(name)).expect("the kernel's output");
        bytes.chunks(4).map(|word| u32::from_le_bytes(word.try_into().expect("dwords"))).collect::<Vec<u32>>()
    };
    let out = |name: &str| folder.join(name).to_str().expect("UTF-8").to_owned();
    let sums: Vec<u32> = (0..300).map(|x| if x < 290 { 1001 * x } else { 0 }).collect();
    for target in ["gfx908", "gfx1100", "gfx1201"] {
        let file = code_object(target);
        let (input, other, result) = (format!("in={a}"), format!("in={b}"), format!("out=1200:{}", out("c")));
        let mut args = vec!["run", &file, "--kernel", "add", "--groups", "2", "--group-size", "256"];
        for arg in [&input, &other, &result, "u32=290"] {
            args.extend(["--arg", arg]);
        }
        assert_eq!(good(&args), "");
        assert_eq!(read("c"), sums, "{target}");
        let stats = good(&[&args[..], &["--stats", "--threads", "2"]].concat());
        assert!(
            stats.contains(" waves, 2 groups\n") && stats.contains("\nVMEM ") && stats.contains("s_endpgm"),
            "{stats}"
        );
        let trace = good(&[&args[..], &["--trace"]].concat());
        assert!(trace.lines().next().is_some_and(|line| line.starts_with("0,0,0 w0 7f")), "{trace}");
        assert!(trace.contains("\n1,0,0 w") && trace.contains("s_endpgm"), "{trace}");
    }
    // In place, hexadecimal numbers, local memory of the launch's.
    let file = code_object("gfx1030");
    let place = format!("inout={a}:{}", out("a2"));
    let chain = ["run", &file, "--kernel", "chain", "--groups", "3", "--group-size", "64", "--arg", &place];
    let flags = format!("out=12:{}", out("flags"));
    good(&[&chain[..8], &["--arg", &flags, "--arg", &place, "--arg", "local=64", "--arg", "u32=0x3"]].concat());
    assert_eq!((read("flags"), &read("a2")[..4]), (vec![1, 1, 1], &[12, 4, 1, 3][..]));
    std::fs::remove_dir_all(&folder).expect("the folder goes away");
}

#[test]
fn runs_that_fail_say_why() {
    let file = code_object("gfx1201");
    let run = |rest: &[&str], code| bad(&[&["run", &file, "--groups", "1", "--group-size", "64"], rest].concat(), code);
    assert!(run(&[], 2).contains("--kernel must name a kernel of the file; it has add, "));
    assert!(run(&["--kernel", "ad"], 1).contains("there is no kernel ad; it has add, "));
    let message = run(&["--kernel", "lanes", "--arg", "u32=7"], 1);
    assert!(message.contains("kernel lanes: it takes 2 arguments (1 int*, 2 int*), given are 1"), "{message}");
    assert!(run(&["--kernel", "lanes", "--arg", "u8=7"], 2).contains("none of in, inout, out, local, i32"));
    assert!(run(&["--kernel", "lanes", "--arg", "in=/does/not/exist"], 1).contains("cannot read /does/not/exist"));
    let message = run(&["--kernel", "lanes", "--arg", "out=8:/dev/null", "--arg", "out=256:/dev/null"], 1);
    assert!(message.contains("group 0,0,0, wave 0, pc 0x7f") && message.contains("global_load_b32"), "{message}");
    assert!(message.contains("read of 4 bytes") && message.contains("by lane 2") && message.contains("argument 1"));
    assert!(bad(&["run", &file, "--groups", "0", "--group-size", "64"], 2).contains("not a number above 0"));
    assert!(bad(&["run", &file, "--groups", "1,1,1,1", "--group-size", "64"], 2).contains("three dimensions"));
    let own = env!("CARGO_BIN_EXE_gfx-isa");
    assert!(bad(&["run", own, "--groups", "1", "--group-size", "64"], 1).contains("is not an AMD GPU"));
}

/// The executable sections of a code object.
#[cfg(feature = "elf")]
fn text_of(file: &[u8]) -> Vec<u8> {
    use object::{Object as _, ObjectSection as _, SectionKind};
    let object = object::File::parse(file).expect("ELF");
    let sections = object.sections().filter(|section| section.kind() == SectionKind::Text);
    sections.flat_map(|section| section.data().expect("bytes").to_vec()).collect()
}

/// What `disasm` writes of an object `asm` turns back into the object's bytes.
#[test]
fn disassembled_objects_assemble_to_the_same_bytes() {
    let beside = || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../shared");
    let folder = std::env::var_os("GFX_ISA_SHARED").map_or_else(beside, PathBuf::from).join("kernels");
    if !folder.is_dir() {
        eprintln!("SKIPPED: the reference data folder has no kernels");
        return;
    }
    let mut count = 0;
    for entry in std::fs::read_dir(&folder).expect("a folder") {
        let path = entry.expect("a file").path();
        let Some(target) = path.to_str().and_then(|name| name.strip_suffix(".hsaco")?.rsplit('.').next()) else {
            continue;
        };
        let (target, wave) = target.split_once("-w").unwrap_or((target, ""));
        let wave: &[&str] = if wave.is_empty() { &[] } else { &["--wave", wave] };
        let folder = std::env::temp_dir();
        let source = folder.join(format!("gfx-isa-{}-{count}.s", std::process::id()));
        let code = source.with_extension("bin");
        std::fs::write(&source, good(&[&["disasm", path.to_str().unwrap()], wave].concat())).expect("written");
        let files = ["-o", code.to_str().unwrap(), source.to_str().unwrap()];
        good(&[&["asm", "--isa", target], wave, &files].concat());
        let assembled = std::fs::read(&code).expect("written");
        for file in [source, code] {
            std::fs::remove_file(file).expect("removed");
        }
        let expected = text_of(&std::fs::read(&path).expect("readable"));
        assert!(assembled == expected, "{}: {} bytes of {}", path.display(), assembled.len(), expected.len());
        count += 1;
    }
    assert!(count >= 10, "{count} objects");
}
