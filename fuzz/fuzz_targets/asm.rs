//! Any text: code in whole dwords or errors that lie within the text.
#![no_main]

use gfx_isa::asm::Assembler;
use gfx_isa_fuzz::pick;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let Some((generation, lanes, text)) = pick(data) else { return };
    let Ok(text) = std::str::from_utf8(text) else { return };
    let mut code = Vec::new();
    for line in text.lines() {
        let before = code.len();
        match Assembler::new(generation).wave_size(lanes).assemble_line(line, &mut code) {
            Ok(()) => assert_eq!((code.len() - before) % 4, 0, "{line}"),
            Err(error) => {
                assert_eq!(code.len(), before, "{line}");
                assert!(error.span.end <= line.len() && error.column >= 1, "{line}: {error:?}");
                let _ = error.report();
            }
        }
    }
    match Assembler::new(generation).wave_size(lanes).assemble(text) {
        Ok(_) => {}
        Err(errors) => {
            assert!(!errors.is_empty());
            let lines = text.lines().count();
            for error in errors {
                assert!(error.line >= 1 && error.line <= lines.max(1), "{error:?}");
                let _ = error.report();
            }
        }
    }
});
