//! `cargo xtask coverage`: keeps the number of instructions with meaning from falling.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};
use gfx_isa::Generation;
use gfx_isa::exec::coverage;

/// Arguments of the command.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Record what is there now.
    #[arg(long)]
    bless: bool,
}

/// Instructions with meaning and all, by generation and encoding.
type Counts = BTreeMap<(String, String), (u32, u32)>;

const HEADING: &str = "\
# Instructions with meaning, of all, by generation and encoding. `cargo xtask coverage` fails where a count falls;
# `cargo xtask coverage --bless` records higher ones.
";

fn count() -> Counts {
    let mut counts = Counts::new();
    for generation in Generation::available() {
        for covered in coverage(generation) {
            let key = (generation.name().to_owned(), covered.info.encoding().name().to_owned());
            let (meant, all) = counts.entry(key).or_default();
            *meant += u32::from(covered.meaning.is_ok());
            *all += 1;
        }
    }
    counts
}

fn text(counts: &Counts) -> String {
    let mut text = HEADING.to_owned();
    for ((generation, encoding), (meant, all)) in counts {
        let _ = writeln!(text, "{generation} {encoding} {meant} {all}");
    }
    text
}

fn parse(text: &str) -> Result<Counts> {
    let mut counts = Counts::new();
    for (number, line) in text.lines().enumerate().filter(|(_, line)| !line.starts_with('#')) {
        let words: Vec<&str> = line.split_whitespace().collect();
        let [generation, encoding, meant, all] = words[..] else {
            bail!("line {}: not a generation, an encoding and two counts", number + 1);
        };
        let number_of = |word: &str| word.parse().with_context(|| format!("line {}: {word:?}", number + 1));
        let counted = (number_of(meant)?, number_of(all)?);
        counts.insert((generation.to_owned(), encoding.to_owned()), counted);
    }
    Ok(counts)
}

/// What fell, a line each.
fn fallen(recorded: &Counts, now: &Counts) -> Vec<String> {
    let fell = |(key, &(before, _)): (&(String, String), &(u32, u32))| {
        let meant = now.get(key).map_or(0, |counts| counts.0);
        (meant < before).then(|| format!("{} {}: {meant} instructions have meaning, {before} had", key.0, key.1))
    };
    recorded.iter().filter_map(fell).collect()
}

fn record() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data/coverage.txt")
}

pub(crate) fn run(args: &Args) -> Result<bool> {
    let now = count();
    let mut generations: BTreeMap<&str, (u32, u32)> = BTreeMap::new();
    for ((generation, _), (meant, all)) in &now {
        let sum = generations.entry(generation).or_default();
        *sum = (sum.0 + meant, sum.1 + all);
    }
    for (generation, (meant, all)) in &generations {
        println!(
            "{generation:8} {meant:5} of {all:5} rows have meaning, {:.1}%",
            f64::from(*meant) * 100.0 / f64::from(*all)
        );
    }
    let path = record();
    if args.bless {
        std::fs::write(&path, text(&now)).with_context(|| path.display().to_string())?;
        return Ok(true);
    }
    let recorded = std::fs::read_to_string(&path).with_context(|| path.display().to_string())?;
    let recorded = parse(&recorded).with_context(|| path.display().to_string())?;
    let fallen = fallen(&recorded, &now);
    for line in &fallen {
        eprintln!("{line}");
    }
    if fallen.is_empty() && recorded != now {
        eprintln!("more than recorded: `cargo xtask coverage --bless` records it");
    }
    Ok(fallen.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_survive_their_text() {
        let counts = count();
        assert_eq!(parse(&text(&counts)).expect("parses"), counts);
        assert!(parse("rdna4 ENC_VOP2 1").is_err());
        assert!(parse("rdna4 ENC_VOP2 1 x").is_err());
    }

    #[test]
    fn coverage_never_falls() {
        let recorded = std::fs::read_to_string(record()).expect("the record is there");
        assert_eq!(fallen(&parse(&recorded).expect("parses"), &count()), Vec::<String>::new());
        let key = ("rdna4".to_owned(), "ENC_VOP2".to_owned());
        let (before, now) = (Counts::from([(key.clone(), (2, 3))]), Counts::from([(key, (1, 3))]));
        assert_eq!(fallen(&before, &now).len(), 1);
        assert!(fallen(&now, &before).is_empty());
    }
}
