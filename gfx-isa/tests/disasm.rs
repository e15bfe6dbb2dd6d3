//! Text: LLVM's vectors, options, and bytes that are anything.

use gfx_isa::{Decoder, Formatter, Generation, Inst, Options, Targets};
use proptest::prelude::*;

fn hex_bytes(hex: &str) -> Vec<u8> {
    (0..hex.len() / 2).map(|at| u8::from_str_radix(&hex[2 * at..2 * at + 2], 16).expect("hex")).collect()
}

fn inst(generation: Generation, hex: &str) -> Inst {
    generation.decode(&hex_bytes(hex)).unwrap_or_else(|error| panic!("{generation} {hex}: {error}"))
}

fn text(formatter: &Formatter, inst: &Inst, pc: u64) -> String {
    let mut text = String::new();
    formatter.format(inst, pc, &mut text).expect("a string takes all text");
    text
}

#[test]
fn the_committed_vectors_are_letter_for_letter_llvms() {
    for generation in Generation::available() {
        let path = format!("{}/tests/data/{}.dis.tsv", env!("CARGO_MANIFEST_DIR"), generation.name());
        let rows = std::fs::read_to_string(&path).expect(&path);
        let mut wrong = Vec::new();
        for line in rows.lines() {
            let (hex, expected) = line.split_once('\t').expect("hex TAB text");
            let found = inst(generation, hex).to_string();
            if found != expected {
                wrong.push(format!("{hex}: expected {expected}, found {found}"));
            }
        }
        assert!(wrong.is_empty(), "{generation}, {} rows:\n{}", wrong.len(), wrong.join("\n"));
    }
}

#[cfg(feature = "rdna4")]
#[test]
fn options_change_the_spelling() {
    let add = inst(Generation::Rdna4, "01050264");
    assert_eq!(add.to_string(), "v_add_f16_e32 v1, v1, v2");
    let mut options = Options::default();
    options.true16 = Some(true);
    assert_eq!(text(&Formatter::new(options), &add, 0), "v_add_f16_e32 v1.l, v1.l, v2.l");

    let nop = inst(Generation::Rdna4, "030080bf");
    assert_eq!(nop.to_string(), "s_nop 3");
    let mut options = Options::default();
    options.hex = true;
    assert_eq!(text(&Formatter::new(options), &nop, 0), "s_nop 0x3");
}

#[cfg(feature = "rdna4")]
#[test]
fn branch_targets_are_offsets_addresses_or_names() {
    let back = inst(Generation::Rdna4, "feffa0bf");
    assert_eq!(back.to_string(), "s_branch 65534");
    let mut options = Options::default();
    options.targets = Targets::Absolute;
    let absolute = Formatter::new(options);
    assert_eq!(text(&absolute, &back, 0x1000), "s_branch 0xffc");
    let names = |address: u64| (address == 0xffc).then_some("loop");
    assert_eq!(text(&absolute.with_labels(&names), &back, 0x1000), "s_branch loop");
    assert_eq!(text(&absolute.with_labels(&names), &back, 0x2000), "s_branch 0x1ffc");
}

/// Bits of a source or destination that the instruction lacks: the text is LLVM's of the word without them.
#[test]
fn halves_and_signs_of_absent_operands_are_not_written() {
    let cases = [
        ("rdna3_5", "7c4080d400000000", "v_cmpx_f_f16_e64 s0, s0"),
        ("cdna2", "000081d300000080", "v_pk_mul_lo_u16 v0, s0, s0 op_sel_hi:[0,0]"),
    ];
    for (generation, hex, expected) in cases {
        let generation: Generation = generation.parse().expect("a generation");
        if generation.is_available() {
            assert_eq!(inst(generation, hex).to_string(), expected);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    /// Whatever decodes has a text of one printable line that begins with its mnemonic.
    #[test]
    fn any_bytes_have_text_or_an_error(bytes in proptest::collection::vec(any::<u8>(), 4..64), wave64: bool, true16: bool) {
        let mut options = Options::default();
        options.true16 = Some(true16);
        let formatter = Formatter::new(options);
        for generation in Generation::available() {
            let decoder = Decoder::new(generation, &bytes).wave_size(if wave64 { 64 } else { 32 });
            for inst in decoder.flatten() {
                let text = text(&formatter, &inst, 0);
                prop_assert!(text.starts_with(inst.mnemonic()), "{:?}: {}", inst, text);
                prop_assert!(text.bytes().all(|byte| (b' '..=b'~').contains(&byte)), "{:?}: {}", inst, text);
            }
        }
    }
}
