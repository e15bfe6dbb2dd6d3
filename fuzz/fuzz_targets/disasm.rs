//! Any bytes: text under every option, the same each time.
#![no_main]

use gfx_isa::{Formatter, Options, Targets};
use gfx_isa_fuzz::{decoder, pick};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let Some((generation, lanes, code)) = pick(data) else { return };
    let label = |address: u64| (address % 3 == 0).then_some("label");
    for inst in decoder(generation, lanes, code).flatten() {
        let plain = inst.to_string();
        assert!(plain.starts_with(inst.mnemonic()), "{plain}");
        assert!(plain.is_ascii() && !plain.contains('\n') && plain.len() < 320, "{plain}");
        for (true16, hex, targets) in
            [(Some(true), false, Targets::Raw), (Some(false), true, Targets::Absolute), (None, true, Targets::Raw)]
        {
            let mut options = Options::default();
            (options.true16, options.hex, options.targets) = (true16, hex, targets);
            for formatter in [Formatter::new(options), Formatter::new(options).with_labels(&label)] {
                let mut text = String::new();
                formatter.format(&inst, u64::MAX - 3, &mut text).expect("a string takes all text");
                assert!(text.starts_with(inst.mnemonic()), "{text}");
            }
        }
    }
});
