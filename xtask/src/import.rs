//! `cargo xtask import`: AMD's XML → the recorded facts in specs/.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context, Result, bail};
use codegen::sources::Generation;
use isa_xml::{Finding, Import, Severity};
use rayon::prelude::*;

use crate::regen::{root, sources};

/// Differences shown for each generation.
const SHOWN: usize = 20;

/// Errors shown; one cause often has hundreds.
const SHOWN_ERRORS: usize = 5;

/// Arguments of the command.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// A folder with AMD's XML files (plain, .xz, .gz or the .zip as downloaded), or one such file.
    #[arg(long, value_name = "PATH")]
    xml: PathBuf,
    /// Compare instead of write: fails where XML and record differ, and shows what differs.
    #[arg(long)]
    check: bool,
    /// Report what the model has no place for, and every contradiction within the files.
    #[arg(short, long)]
    verbose: bool,
}

/// One generation's file, read and checked.
struct Imported {
    generation: Generation,
    import: Import,
    findings: Vec<Finding>,
    json: String,
    ms: u128,
}

pub(crate) fn run(args: &Args) -> Result<()> {
    let start = Instant::now();
    let generations = sources()?.generations;
    let files = isa_xml::read_dir(&args.xml)?;
    for file in &files {
        if !generations.iter().any(|g| g.xml == file.name) {
            eprintln!("{} is not in data/sources.toml: passed over", file.name);
        }
    }
    let imported: Vec<Imported> = generations
        .par_iter()
        .filter_map(|generation| {
            let file = files.iter().find(|file| file.name == generation.xml)?;
            let start = Instant::now();
            Some(isa_xml::import(file).map(|import| Imported {
                generation: generation.clone(),
                findings: isa_xml::validate(&import.spec),
                json: isa_xml::to_json(&import.spec),
                import,
                ms: start.elapsed().as_millis(),
            }))
        })
        .collect::<Result<_, _>>()?;
    if imported.is_empty() {
        bail!("{}: none of the files that data/sources.toml names", args.xml.display());
    }

    for one in &imported {
        print(one, args.verbose);
    }
    refuse_errors(&imported)?;
    for generation in &generations {
        if !imported.iter().any(|one| one.generation == *generation) {
            println!("{:8} no {} there: the record stays", generation.name, generation.xml);
        }
    }
    if args.check {
        check(&imported)?;
    } else {
        let files: BTreeMap<PathBuf, &str> =
            imported.iter().map(|one| (record_path(&one.generation), one.json.as_str())).collect();
        write_together(&files)?;
    }
    println!(
        "{:8} {} generations, {} bytes, {} ms",
        "total",
        imported.len(),
        imported.iter().map(|one| one.json.len()).sum::<usize>(),
        start.elapsed().as_millis()
    );
    Ok(())
}

fn record_path(generation: &Generation) -> PathBuf {
    root().join("specs").join(format!("{}.json", generation.name))
}

fn print(one: &Imported, verbose: bool) {
    let spec = &one.import.spec;
    let notes = &one.import.notes;
    println!(
        "{:8} schema {} {:3} encodings {:5} instructions {:5} rows {:5} operand lists {:8} bytes {:4} unknown {:4} findings {:4} ms",
        one.generation.name,
        spec.document.schema_version,
        spec.encodings.len(),
        spec.instructions.len(),
        spec.instructions.iter().map(|i| i.rows.len()).sum::<usize>(),
        spec.operand_lists.len(),
        one.json.len(),
        notes.unknown.values().sum::<usize>(),
        one.findings.len(),
        one.ms,
    );
    if verbose {
        for (path, count) in &notes.unknown {
            println!("    unknown: {path} ({count})");
        }
        for (what, count) in &notes.quirks {
            println!("    quirk: {what} ({count})");
        }
        for finding in &one.findings {
            println!("    {finding}");
        }
    }
}

/// One faulty file stops all: a half-updated set of records would be worse than an old one.
fn refuse_errors(imported: &[Imported]) -> Result<()> {
    let mut errors = Vec::new();
    for one in imported {
        for finding in one.findings.iter().filter(|f| f.severity == Severity::Error) {
            errors.push(format!("{}: {}: {}", one.generation.xml, finding.path, finding.message));
        }
    }
    let more = errors.len().saturating_sub(SHOWN_ERRORS);
    errors.truncate(SHOWN_ERRORS);
    match (errors.is_empty(), more) {
        (true, _) => Ok(()),
        (false, 0) => bail!("{}", errors.join("\n")),
        (false, more) => bail!("{}\n... and {more} more: -v lists them", errors.join("\n")),
    }
}

fn check(imported: &[Imported]) -> Result<()> {
    let mut stale = Vec::new();
    for one in imported {
        let path = record_path(&one.generation);
        let recorded = fs::read_to_string(&path).with_context(|| path.display().to_string())?;
        if recorded == one.json {
            continue;
        }
        stale.push(one.generation.name.as_str());
        let record = match isa_xml::from_json(&recorded) {
            Ok(record) => record,
            Err(error) => {
                println!("{}: the record cannot be read: {error}", one.generation.name);
                continue;
            }
        };
        let differences = isa_xml::differences(&record, &one.import.spec);
        println!("{}: {} differences from the record", one.generation.name, differences.len());
        for difference in differences.iter().take(SHOWN) {
            println!("    {difference}");
        }
        if differences.len() > SHOWN {
            println!("    ... and {} more", differences.len() - SHOWN);
        } else if differences.is_empty() {
            println!("    only the order or the spelling of the record");
        }
    }
    if !stale.is_empty() {
        bail!(
            "XML and record differ for {}: if the XML is right, run `cargo xtask import --xml` without --check",
            stale.join(", ")
        );
    }
    Ok(())
}

/// Writes all files beside the old ones, then puts each in its place, so that a full disk leaves the old set whole.
fn write_together(files: &BTreeMap<PathBuf, &str>) -> Result<()> {
    let staged = |path: &Path| path.with_extension("json.new");
    let write = || -> Result<()> {
        for (path, text) in files {
            let staged = staged(path);
            if let Some(folder) = path.parent() {
                fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
            }
            fs::write(&staged, text).with_context(|| staged.display().to_string())?;
        }
        for path in files.keys() {
            fs::rename(staged(path), path).with_context(|| path.display().to_string())?;
        }
        Ok(())
    };
    let result = write();
    if result.is_err() {
        for path in files.keys() {
            // Best effort: the first error is the one to report.
            let _ = fs::remove_file(staged(path));
        }
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_write_that_fails_leaves_the_old_files() {
        let folder = std::env::temp_dir().join(format!("gfx-isa-import-{}", std::process::id()));
        fs::create_dir_all(folder.join("b.json.new/full")).unwrap();
        fs::write(folder.join("a.json"), "old").unwrap();
        let files = BTreeMap::from([(folder.join("a.json"), "new a"), (folder.join("b.json"), "new b")]);
        // `b.json.new` is a folder, so that b cannot be staged.
        assert!(write_together(&files).is_err());
        assert_eq!(fs::read_to_string(folder.join("a.json")).unwrap(), "old");
        assert!(!folder.join("a.json.new").exists());

        fs::remove_dir_all(folder.join("b.json.new")).unwrap();
        write_together(&files).unwrap();
        assert_eq!(fs::read_to_string(folder.join("a.json")).unwrap(), "new a");
        assert_eq!(fs::read_to_string(folder.join("b.json")).unwrap(), "new b");
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 2);
        fs::remove_dir_all(folder).unwrap();
    }
}
