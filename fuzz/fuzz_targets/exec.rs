//! `cargo +nightly fuzz run exec`
#![no_main]

#[path = "../../gfx-isa/tests/fuzz/targets.rs"]
mod targets;

libfuzzer_sys::fuzz_target!(|data: &[u8]| targets::exec(data));
