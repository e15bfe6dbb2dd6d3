//! Any bytes: text that assembles gives an instruction, whose text gives the same bytes.
//!
//! The first text may say less than the word: LLVM writes no fields that the hardware ignores.
#![no_main]

use gfx_isa::asm::Assembler;
use gfx_isa_fuzz::{decoder, pick};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let Some((generation, lanes, code)) = pick(data) else { return };
    let mut assembler = Assembler::new(generation).wave_size(lanes);
    for inst in decoder(generation, lanes, code).flatten() {
        let text = inst.to_string();
        let mut bytes = Vec::new();
        // Bits that the hardware ignores make words that no text stands for.
        if assembler.assemble_line(&text, &mut bytes).is_err() {
            continue;
        }
        let Some(Ok(again)) = decoder(generation, lanes, &bytes).next() else {
            panic!("{generation} {text}: {bytes:02x?} is no instruction");
        };
        assert_eq!(again.len(), bytes.len(), "{generation} {text}");
        let second = again.to_string();
        let mut twice = Vec::new();
        if let Err(error) = assembler.assemble_line(&second, &mut twice) {
            panic!("{generation} {text} became {second}: {error}");
        }
        assert_eq!(bytes, twice, "{generation} {text}, then {second}");
    }
});
