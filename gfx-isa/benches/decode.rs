//! Decoding, and decoding with text, beside the LLVM library of the Rust toolchain in the same run.
//!
//! The stream is the committed sample of LLVM's vectors in a mixed order: every encoding and form, much less regular
//! than compiled code.

use std::hint::black_box;

use criterion::{BenchmarkGroup, Criterion, Throughput, criterion_group, criterion_main, measurement::WallTime};
use gfx_isa::{Decoder, Formatter, Generation, Options};
use llvm_oracle::Oracle;

/// Bytes of the sample in an order that no predictor learns, and the number of instructions.
fn stream(generation: Generation) -> (Vec<u8>, u64) {
    let path = format!("{}/tests/data/{}.dis.tsv", env!("CARGO_MANIFEST_DIR"), generation.name());
    let text = std::fs::read_to_string(&path).expect(&path);
    let mut rows: Vec<&str> = text.lines().filter_map(|line| line.split('\t').next()).collect();
    let mut state = 1u64;
    for at in (1..rows.len()).rev() {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        rows.swap(at, (state >> 33) as usize % (at + 1));
    }
    let byte = |hex: &str, at: usize| u8::from_str_radix(&hex[2 * at..2 * at + 2], 16).expect("hex");
    let bytes = rows.iter().flat_map(|hex| (0..hex.len() / 2).map(|at| byte(hex, at))).collect();
    (bytes, rows.len() as u64)
}

fn llvm(group: &mut BenchmarkGroup<'_, WallTime>, generation: Generation, bytes: &[u8]) {
    let target = generation.targets().next().expect("a generation has a target");
    let oracle = match Oracle::load().and_then(|oracle| oracle.target(target.name, "")) {
        Ok(oracle) => oracle,
        Err(error) => return eprintln!("NOTE: no LLVM to compare with: {error}"),
    };
    group.bench_function("llvm decode and text", |bench| {
        bench.iter(|| {
            let mut at = 0;
            while at < bytes.len() {
                at += oracle.disassemble(black_box(&bytes[at..])).map_or(4, |(len, text)| {
                    black_box(&text);
                    len
                });
            }
        });
    });
}

fn benches(criterion: &mut Criterion) {
    for generation in Generation::available() {
        let (bytes, count) = stream(generation);
        let mut group = criterion.benchmark_group(generation.name());
        group.throughput(Throughput::Elements(count));
        group.bench_function("decode", |bench| {
            bench.iter(|| {
                Decoder::new(generation, black_box(&bytes)).filter(|result| black_box(result).is_ok()).count()
            });
        });
        let formatter = Formatter::new(Options::default());
        let mut text = String::new();
        group.bench_function("decode and text", |bench| {
            bench.iter(|| {
                for inst in Decoder::new(generation, black_box(&bytes)).flatten() {
                    text.clear();
                    let _ = formatter.format(&inst, 0, &mut text);
                    black_box(&text);
                }
            });
        });
        llvm(&mut group, generation, &bytes);
        group.finish();
    }
}

criterion_group!(decode, benches);
criterion_main!(decode);
