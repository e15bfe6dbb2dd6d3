//! From recorded facts to the text of the generated files, all generations.

use std::hint::black_box;
use std::path::Path;

use codegen::Data;
use codegen::sources::Generation;
use criterion::{Criterion, criterion_group, criterion_main};
use isa_xml::Spec;

fn read(path: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(path);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn benches(criterion: &mut Criterion) {
    let sources = codegen::sources::parse(&read("data/sources.toml")).expect("sources");
    let records: Vec<String> = sources.generations.iter().map(|g| read(&format!("specs/{}.json", g.name))).collect();
    let parse = || records.iter().map(|text| isa_xml::from_json(text).expect("record")).collect::<Vec<Spec>>();
    let inputs: Vec<(Generation, Spec)> = sources.generations.iter().cloned().zip(parse()).collect();
    let data =
        Data::parse(&read("data/errata.toml"), &read("data/names.toml"), &read("data/syntax.toml")).expect("data");
    let inputs = data.correct(inputs).expect("errata apply");
    let mut group = criterion.benchmark_group("regen");
    group.sample_size(10);
    group.bench_function("read records", |bench| bench.iter(|| black_box(parse())));
    group.bench_function("generate", |bench| {
        bench.iter(|| black_box(codegen::generate(&inputs, &data)).expect("specs lower"));
    });
    group.finish();
}

criterion_group!(regen, benches);
criterion_main!(regen);
