//! `cargo +nightly fuzz run elf`
#![no_main]

#[path = "../../gfx-isa/tests/fuzz/targets.rs"]
mod targets;

libfuzzer_sys::fuzz_target!(|data: &[u8]| targets::elf(data));
