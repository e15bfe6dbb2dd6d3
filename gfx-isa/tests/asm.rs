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

/// Rules of the manuals that concern several operands.
#[test]
fn broken_rules_are_named() {
    let cases = [
        // The constant bus of GFX9 takes one value: VCC, a scalar register, or the constant of MADAK.
        (Generation::Cdna1, "v_madak_f32 v0, s0, v1, 0x11", "constant bus"),
        (Generation::Cdna1, "v_cndmask_b32 v0, s0, v1, vcc", "constant bus"),
        (Generation::Cdna1, "v_div_fmas_f32 v0, s0, v0, v1", "constant bus"),
        (Generation::Cdna1, "v_writelane_b32 v0, s1, s2", "constant bus"),
        (Generation::Rdna3, "v_div_fmas_f32 v0, s0, s1, v1", "constant bus"),
        // CDNA 2 and later: tuples begin at even registers.
        (Generation::Cdna2, "v_rcp_f64 v[1:2], v[2:3]", "even"),
        (Generation::Cdna3, "global_load_dwordx2 v[1:2], v[2:3], off", "even"),
        (Generation::Cdna5, "v_add_f64 v[1:2], v[2:3], v[4:5]", "even"),
        // Dual issue.
        (Generation::Cdna5, "v_dual_add_f32 v0, -v1, v2 :: v_dual_add_f32 v0, -v4, v3", "destinations"),
        (Generation::Cdna5, "v_dual_add_f32 v0, -v1, v3 :: v_dual_add_f32 v2, -v4, v7", "source 1"),
        // Integers have no output modifier.
        (Generation::Rdna4, "v_xor3_b32 v0, v1, v2, v3 mul:2", "mul"),
        (Generation::Rdna4, "v_xor3_b32 v0, v1, v2, v3 clamp", "clamp"),
    ];
    for (generation, line, part) in cases {
        let text = message(generation, line);
        assert!(text.contains(part), "{line}: {text:?} lacks {part:?}");
    }
    let mut assembler = Assembler::new(Generation::Rdna3).wave_size(64);
    let line = "v_dual_mov_b32 v0, v1 :: v_dual_mov_b32 v3, v4";
    assert!(assembler.assemble_line(line, &mut Vec::new()).unwrap_err().to_string().contains("32 lanes"));
    // Lane M0 is free, and one literal may be source and constant.
    assert!(assemble(Generation::Cdna1, "v_writelane_b32 v0, s1, m0").is_ok());
    assert!(assemble(Generation::Rdna3, "v_fmaak_f32 v2, 0xaf123456, v5, 0xaf123456").is_ok());
}
