//! `cargo xtask regen`: specs → the generated files of gfx-isa.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context, Result, bail};
use codegen::Data;
use codegen::sources::{Generation, Sources};
use isa_xml::validate::Severity;
use isa_xml::{Spec, validate};
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

/// A generation with its spec and the time that reading it took.
struct Read {
    generation: Generation,
    spec: Spec,
    ms: u128,
}

/// Reads the specs of all generations: as recorded or, where a path is given, as the XML there has them. AMD's bundle may
/// lack a generation; its record stands in.
fn read(sources: &Sources, xml: Option<&Path>) -> Result<Vec<Read>> {
    let files = xml.map(isa_xml::read_dir).transpose()?.unwrap_or_default();
    let read = |generation: &Generation| {
        let start = Instant::now();
        let spec = match files.iter().find(|file| file.name == generation.xml) {
            Some(file) => valid(isa_xml::import(file)?.spec, &file.name)?,
            None => {
                if let Some(xml) = xml {
                    eprintln!("note: no {} in {}: using specs/{}.json", generation.xml, xml.display(), generation.name);
                }
                recorded(&generation.name)?
            }
        };
        Ok(Read { generation: generation.clone(), spec, ms: start.elapsed().as_millis() })
    };
    sources.generations.par_iter().map(read).collect()
}

/// The specs of all generations, uncorrected.
pub(crate) fn specs(sources: &Sources, xml: Option<&Path>) -> Result<Vec<(Generation, Spec)>> {
    Ok(read(sources, xml)?.into_iter().map(|read| (read.generation, read.spec)).collect())
}

/// The recorded facts of a generation.
fn recorded(name: &str) -> Result<Spec> {
    let path = root().join("specs").join(format!("{name}.json"));
    let text = fs::read_to_string(&path).with_context(|| path.display().to_string())?;
    isa_xml::from_json(&text).with_context(|| path.display().to_string())
}

fn valid(spec: Spec, name: &str) -> Result<Spec> {
    let findings = validate(&spec);
    match findings.iter().find(|finding| finding.severity == Severity::Error) {
        Some(finding) => bail!("{name}: {}: {}", finding.path, finding.message),
        None => Ok(spec),
    }
}

/// The files of data/.
fn data() -> Result<Data> {
    let read = |file: &str| {
        let path = root().join("data").join(file);
        fs::read_to_string(&path).with_context(|| path.display().to_string())
    };
    Ok(Data::parse(&read("errata.toml")?, &read("names.toml")?, &read("syntax.toml")?)?)
}

pub(crate) fn run(args: &Args) -> Result<()> {
    let start = Instant::now();
    let data = data()?;
    let read = read(&sources()?, args.xml.as_deref())?;
    let times: Vec<u128> = read.iter().map(|read| read.ms).collect();
    let inputs = data.correct(read.into_iter().map(|read| (read.generation, read.spec)).collect())?;
    let (ir, files) = codegen::generate(&inputs, &data)?;
    for (((generation, spec), tables), ms) in inputs.iter().zip(&ir.generations).zip(times) {
        let prefix = format!("{}/", generation.name);
        let bytes: usize = files.iter().filter(|(path, _)| path.starts_with(&prefix)).map(|(_, text)| text.len()).sum();
        println!(
            "{:8} {:3} encodings {:5} instructions {:5} rows {:5} operand lists {:8} bytes {ms:5} ms",
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
        "{:8} {} instructions, {rows} rows, {} operand lists, {bytes} bytes, {} ms",
        "total",
        ir.ops.len(),
        ir.lists.len(),
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
