//! Text to bytes: LLVM's vectors, faults that people met in other assemblers, whole sources, and text of any kind.

use std::path::Path;

use gfx_isa::Generation;
use gfx_isa::asm::{Assembler, ErrorKind, FixupKind};
use proptest::prelude::*;

fn hex(text: &str) -> Vec<u8> {
    let digits: Vec<u32> = text.chars().filter_map(|c| c.to_digit(16)).collect();
    digits.chunks(2).map(|pair| (pair[0] << 4 | pair[1]) as u8).collect()
}

fn assemble(generation: Generation, line: &str) -> Result<Vec<u8>, ErrorKind> {
    let mut code = Vec::new();
    Assembler::new(generation).assemble_line(line, &mut code).map(|()| code).map_err(|error| error.kind)
}

fn message(generation: Generation, line: &str) -> String {
    assemble(generation, line).expect_err(line).to_string()
}

#[test]
fn sample_of_llvm_vectors() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data");
    let mut rows = 0;
    let mut wrong = Vec::new();
    for &generation in Generation::all() {
        let path = folder.join(format!("{}.asm.tsv", generation.name()));
        let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let mut assembler = Assembler::new(generation);
        let mut code = Vec::new();
        for line in text.lines().filter(|line| !line.starts_with('#')) {
            let (source, expected) = line.rsplit_once('\t').expect("a tab");
            rows += 1;
            code.clear();
            match assembler.assemble_line(source, &mut code) {
                Ok(()) if code == hex(expected) => {}
                Ok(()) => wrong.push(format!("{} {source}: {code:02x?}, not {expected}", generation.name())),
                Err(error) => wrong.push(format!("{} {source}: {error}", generation.name())),
            }
        }
    }
    assert!(rows > 1000, "only {rows} rows");
    assert!(wrong.is_empty(), "{} of {rows} differ:\n{}", wrong.len(), wrong[..wrong.len().min(20)].join("\n"));
}

#[test]
fn reported_encodings() {
    let cases = [
        (Generation::Cdna1, "image_gather4h v[252:255], v[1:2], s[8:15], s[12:15] dmask:0x1", "000108f101fc6200"),
        (
            Generation::Rdna3,
            "v_dot2_f32_f16 v0, v1, v2, v3 quad_perm:[2,2,3,1] row_mask:0xf bank_mask:0xf fi:1",
            "004013ccfa040e1c017a04ff",
        ),
        (
            Generation::Rdna3,
            "v_dual_dot2acc_f32_bf16 v0, v2, v4 :: v_dual_dot2acc_f32_bf16 v1, v3, v5",
            "02095acb030b0000",
        ),
        (Generation::Rdna1, "v_cndmask_b32 v1, 0x70eac201, v9, vcc_lo", "ff12020201c2ea70"),
        (Generation::Rdna1, "v_add_co_ci_u32 v1, vcc_lo, v2, v3, vcc_lo", "02070250"),
        (
            Generation::Cdna1,
            "v_cndmask_b32_sdwa v5, v1, -v2, vcc dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:DWORD src1_sel:DWORD",
            "f9040a0001060616",
        ),
        (Generation::Rdna1, "s_sext_i32_i16 s0, 0.5", "f01a80be"),
        (Generation::Rdna4, "s_wait_event 2", "02008bbf"),
        (Generation::Rdna3, "s_waitcnt_expcnt null, 0x3141", "41317cbd"),
    ];
    for (generation, line, expected) in cases {
        assert_eq!(assemble(generation, line).as_deref(), Ok(hex(expected).as_slice()), "{line}");
    }
    // Two 16-bit sources share the literal.
    assert!(assemble(Generation::Rdna4, "v_fma_f16 v0, -17, 0xffef, v1").is_ok());
}

#[test]
fn reported_faults_are_errors() {
    let cases = [
        (Generation::Rdna3, "v_dual_and_b32 v17, v22, v26 :: v_dual_and_b32 v16, v21, v25", "Y half"),
        (Generation::Rdna1, "v_addc_co_u32 v1, vcc, v2, v3, vcc", "v_add_co_ci_u32"),
        (Generation::Cdna1, "v_cndmask_b32_e64 v5, sext(v1), v2, s[0:1]", "operand 2"),
        (Generation::Rdna3, "v_fmaak_f32 v2, 0xaf123456, v5, -1", "one literal"),
        (Generation::Cdna3, "v_mac_f32_dpp v5, v1, v2 quad_perm:[0,1,2,3] row_mask:0xf bank_mask:0xf", "belongs to"),
        (Generation::Rdna1, "v_ceil_f64_dpp v[10:11], v[2:3] row_newbcast:1 row_mask:0xf bank_mask:0xf", "_dpp"),
        (Generation::Cdna2, "image_atomic_add v1, v2, s[12:19] dmask:0x3", "dmask"),
        (Generation::Rdna3, "s_waitcnt_expcnt s1, 0x3141", "null"),
        (Generation::Cdna1, "v_interp_p2_f16 v5, v2, attr0.x, 1", "vector register"),
        (Generation::Cdna5, "v_add_f64 v[0:1], v[0:1], lit(1)", "operand 3"),
        (Generation::Cdna5, "v_add_f64_e64 v[4:5], lit64(101.0), v[8:9]", "64-bit literal"),
    ];
    for (generation, line, part) in cases {
        let text = message(generation, line);
        assert!(text.contains(part), "{line}: {text:?} lacks {part:?}");
    }
}

#[test]
fn errors_say_what_and_where() {
    let mut code = Vec::new();
    let error = Assembler::new(Generation::Rdna4).assemble_line("  v_add_f32 v1, v2, s[1:2]", &mut code).unwrap_err();
    assert!(code.is_empty());
    let error_lines: Vec<String> = error.report().lines().map(str::to_owned).collect();
    assert_eq!(error_lines[1], "  v_add_f32 v1, v2, s[1:2]");
    assert_eq!(error_lines[2].find('^'), Some(20), "{error_lines:?}");
    assert!(message(Generation::Rdna4, "v_add_f23 v1, v2, v3").contains("did you mean v_add_f"));
    assert!(message(Generation::Cdna1, "v_add_f32 v1, s2, s3").contains("constant bus"));
    let dual = "v_dual_mov_b32 v0, v1 :: v_dual_mov_b32 v3, v5";
    assert!(message(Generation::Rdna3, dual).contains("bank"));
    let parity = "v_dual_mov_b32 v0, v1 :: v_dual_mov_b32 v2, v6";
    assert!(message(Generation::Rdna3, parity).contains("even"));
    assert!(message(Generation::Rdna4, "v_mov_b32 v0, v1 clamped").contains("operand"));
    assert!(message(Generation::Rdna4, "s_nop 1 offset:4").contains("offset"));
}

#[test]
fn sources_have_labels_symbols_and_comments() {
    let source = "\
        .set limit, 2 + 2 * 3 // eight\n\
        start:\n\
        \ts_mov_b32 s0, limit ; a comment\n\
        S_BRANCH end\n\
        other = limit << 1\n\
        s_mov_b32 s1, other /* inner */\n\
        s_cbranch_scc0 start\n\
        end: s_endpgm\n";
    let assembly = Assembler::new(Generation::Rdna3).assemble(source).expect("good source");
    let expected = hex("880080be 0200a0bf 900081be fcffa1bf 0000b0bf");
    assert_eq!(assembly.code, expected, "{:02x?}", assembly.code);
    assert_eq!(assembly.labels, [("start".to_owned(), 0), ("end".to_owned(), 16)]);
    assert_eq!(assembly.instructions().count(), 5);
    let errors = Assembler::new(Generation::Rdna3).assemble("s_branch nowhere\ns_mov_b32 s0\nx:\nx:\n").unwrap_err();
    assert_eq!(errors.iter().map(|error| error.line).collect::<Vec<_>>(), [1, 2, 4]);
}

#[test]
fn symbols_without_values_are_left_to_be_filled_in() {
    let mut assembler = Assembler::new(Generation::Rdna3);
    let mut code = Vec::new();
    assembler.assemble_line("v_mad_u32_u24 v0, v0, 12, g0@abs32@lo", &mut code).expect("a literal");
    assert_eq!(code[..8], hex("00000bd60019fd03"));
    let [fixup] = assembler.fixups() else { panic!("one place") };
    assert_eq!((fixup.offset, fixup.kind, fixup.symbol.as_str()), (8, FixupKind::Literal, "g0@abs32@lo"));
}

proptest! {
    #[test]
    fn any_text_is_code_or_an_error(line in "\\PC{0,80}", pick in 0usize..10) {
        let _ = assemble(Generation::all()[pick], &line);
    }

    #[test]
    fn mutated_text_is_code_or_an_error(
        pick in 0usize..10,
        parts in prop::collection::vec(prop_oneof![
            Just("v_add_f32"), Just("v_dual_mov_b32"), Just("image_load"), Just("s_waitcnt"), Just("buffer_load_dword"),
            Just(" v0,"), Just(" v[1:2],"), Just(" -|v3|,"), Just(" s[4:7],"), Just(" 1.5,"), Just(" lit(1)"), Just(" off,"),
            Just(" [v0, v2],"), Just(" :: "), Just(" dpp8:[0,1,2,3,4,5,6,7]"), Just(" quad_perm:[0,1,2,3]"), Just(" offset:"),
            Just(" 0x7fffffff"), Just(" dmask:15 dim:2D"), Just("("), Just(")"), Just("]"), Just(" sext("), Just(" vmcnt(0)"),
        ], 0..8),
    ) {
        let _ = assemble(Generation::all()[pick], &parts.concat());
    }
}
