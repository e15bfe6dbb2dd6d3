//! Any bytes: every instruction is covered once, is what its bytes say, and answers every question.
#![no_main]

use gfx_isa::{Field, Generation};
use gfx_isa_fuzz::{decoder, pick};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let Some((generation, lanes, code)) = pick(data) else { return };
    let mut decoder = decoder(generation, lanes, code);
    let mut at = 0;
    while let Some(item) = decoder.next() {
        let len = match item {
            Ok(inst) => {
                let mut bytes = Vec::new();
                inst.encode(&mut bytes);
                assert_eq!(bytes, &code[at..at + inst.len()]);
                let again = gfx_isa::Decoder::new(generation, &bytes).wave_size(lanes).next();
                assert_eq!(again, Some(Ok(inst)), "the instruction does not depend on what follows");
                ask(&inst, generation);
                inst.len()
            }
            Err(error) => {
                assert_eq!(error.offset, at);
                assert!(error.len > 0);
                error.len
            }
        };
        at += len;
        assert_eq!(decoder.offset(), at);
    }
    assert_eq!(at, code.len());
});

fn ask(inst: &gfx_isa::Inst, generation: Generation) {
    assert_eq!(inst.generation(), generation);
    for operand in inst.operands() {
        let _ = (operand.value(), operand.type_name(), operand.format(), operand.registers());
    }
    for &field in Field::all() {
        let _ = inst.field(field);
    }
    let accesses = inst.reads().count() + inst.writes().count();
    assert!(accesses < 56);
    let _ = (inst.branch_target(u64::MAX), inst.literal(), inst.literal64(), inst.dpp16(), inst.dpp8(), inst.sdwa());
    let _ = (inst.op_y(), inst.mnemonic(), inst.mnemonic_y(), inst.encoding(), inst.group(), inst.flags());
}
