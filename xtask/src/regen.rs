//! `cargo xtask regen`: specs → the generated files of gfx-isa.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context, Result, bail};
use codegen::names::Names;
use codegen::sources::{Generation, Sources};
use isa_xml::Spec;
use rayon::prelude::*;

/// Arguments of the command.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Compare instead of write: fails on any difference and on stray files.
    #[arg(long)]
    check: bool,
    /// Generate from the XML files in this folder or bundle instead of from the recorded facts.
    #[arg(long, value_name = "PATH")]
    xml: Option<PathBuf>,
}

/// The root of the workspace.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("xtask lies in the workspace").to_owned()
}

pub(crate) fn sources() -> Result<Sources> {
    let path = root().join("data/sources.toml");
    let text = fs::read_to_string(&path).with_context(|| path.display().to_string())?;
    codegen::sources::parse(&text).with_context(|| path.display().to_string())
}

/// The specs of all generations as recorded or, where a path is given, as the XML has them.
pub(crate) fn specs(sources: &Sources, xml: Option<&Path>) -> Result<Vec<(Generation, Spec)>> {
    let files = xml.map(isa_xml::read_dir).transpose()?;
    sources
        .generations
        .par_iter()
        .map(|generation| {
            let spec = match &files {
                Some(files) => {
                    let file = files.iter().find(|f| f.name == generation.xml);
                    let file = file.with_context(|| format!("no {} for {}", generation.xml, generation.name))?;
                    isa_xml::import(file)?.spec
                }
                None => {
                    let path = root().join("specs").join(format!("{}.json", generation.name));
                    let text = fs::read_to_string(&path).with_context(|| path.display().to_string())?;
                    isa_xml::from_json(&text).with_context(|| path.display().to_string())?
                }
            };
            Ok((generation.clone(), spec))
        })
        .collect()
}

/// The specs after the errata, and the names of their instructions.
pub(crate) fn corrected(specs: Vec<(Generation, Spec)>) -> Result<(Vec<(Generation, Spec)>, Names)> {
    let read = |file: &str| {
        let path = root().join("data").join(file);
        fs::read_to_string(&path).with_context(|| path.display().to_string())
    };
    let errata = codegen::errata::parse(&read("errata.toml")?)?;
    let names = Names::parse(&read("names.toml")?)?;
    let (generations, specs): (Vec<Generation>, Vec<Spec>) = specs.into_iter().unzip();
    let mut named: Vec<(&str, Spec)> = generations.iter().map(|g| g.name.as_str()).zip(specs).collect();
    codegen::errata::apply(&mut named, &errata)?;
    names.check(&named)?;
    let specs: Vec<Spec> = named.into_iter().map(|(_, spec)| spec).collect();
    Ok((generations.into_iter().zip(specs).collect(), names))
}

pub(crate) fn run(args: &Args) -> Result<()> {
    let start = Instant::now();
    let sources = sources()?;
    let specs = specs(&sources, args.xml.as_deref())?;
    let read = start.elapsed();
    let (inputs, names) = corrected(specs)?;
    let path = root().join("data/syntax.toml");
    let text = fs::read_to_string(&path).with_context(|| path.display().to_string())?;
    let exceptions = codegen::Exceptions::parse(&text).with_context(|| path.display().to_string())?;
    let (ir, files) = codegen::generate(&inputs, &names, &exceptions)?;
    for ((generation, spec), tables) in inputs.iter().zip(&ir.generations) {
        let prefix = format!("{}/", generation.name);
        let bytes: usize = files.iter().filter(|(path, _)| path.starts_with(&prefix)).map(|(_, text)| text.len()).sum();
        println!(
            "{:8} {:3} encodings {:5} instructions {:5} rows {:5} operand lists {:8} bytes",
            generation.name,
            spec.encodings.len(),
            spec.instructions.len(),
            tables.rows.iter().flatten().count(),
            spec.operand_lists.len(),
            bytes,
        );
    }
    let rows: usize = ir.generations.iter().map(|g| g.rows.iter().flatten().count()).sum();
    let bytes: usize = files.values().map(String::len).sum();
    println!(
        "{:8} {} instructions, {rows} rows, {} operand lists, {bytes} bytes; read {} ms, total {} ms",
        "total",
        ir.ops.len(),
        ir.lists.len(),
        read.as_millis(),
        start.elapsed().as_millis(),
    );
    let target = root().join("gfx-isa/src/generated");
    let differences = differences(&target, &files)?;
    if args.check {
        if !differences.is_empty() {
            bail!("gfx-isa/src/generated is stale, run `cargo xtask regen`: {}", differences.join(", "));
        }
        return Ok(());
    }
    write(&target, &files)
}

/// Files that differ, are missing or are stray.
fn differences(target: &Path, files: &BTreeMap<String, String>) -> Result<Vec<String>> {
    let mut differences: Vec<String> = files
        .iter()
        .filter(|(path, text)| fs::read_to_string(target.join(path)).ok().as_deref() != Some(text))
        .map(|(path, _)| path.clone())
        .collect();
    for path in existing(target, target)? {
        if !files.contains_key(&path) {
            differences.push(format!("{path} (stray)"));
        }
    }
    Ok(differences)
}

fn existing(root: &Path, dir: &Path) -> Result<Vec<String>> {
    let mut found = Vec::new();
    let Ok(entries) = fs::read_dir(dir) else { return Ok(found) };
    for entry in entries {
        let path = entry?.path();
        if path.is_dir() {
            found.extend(existing(root, &path)?);
        } else {
            let relative = path.strip_prefix(root).expect("below the root");
            found.push(relative.to_string_lossy().replace('\\', "/"));
        }
    }
    Ok(found)
}

/// Writes everything beside the old files, then puts it in their place.
fn write(target: &Path, files: &BTreeMap<String, String>) -> Result<()> {
    let staging = target.with_extension("new");
    if staging.exists() {
        fs::remove_dir_all(&staging)?;
    }
    for (path, text) in files {
        let path = staging.join(path);
        fs::create_dir_all(path.parent().expect("a file has a folder"))?;
        fs::write(&path, text).with_context(|| path.display().to_string())?;
    }
    if target.exists() {
        fs::remove_dir_all(target)?;
    }
    fs::rename(&staging, target).with_context(|| target.display().to_string())
}
