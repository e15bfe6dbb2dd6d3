//! `llvm-oracle-worker CPU FEATURES`: the worker process of [`llvm_oracle::ChildOracle`].

#![forbid(unsafe_code)]

fn main() -> std::io::Result<()> {
    let mut args = std::env::args().skip(1);
    let cpu = args.next().unwrap_or_default();
    let features = args.next().unwrap_or_default();
    llvm_oracle::serve(&cpu, &features)
}
