//! `docs/audit.md`.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::*;

/// A page of what was found; the same findings give the same page.
pub(super) fn page(
    version: (u32, u32, u32),
    findings: &[Findings],
    errata: &[Erratum],
    names: &Names,
    exceptions: &Exceptions,
) -> String {
    let mut page = String::new();
    // Writing to a string does not fail.
    let _ = write_page(&mut page, version, findings, errata, names, exceptions);
    page
}

fn write_page(
    page: &mut String,
    (major, minor, patch): (u32, u32, u32),
    findings: &[Findings],
    errata: &[Erratum],
    names: &Names,
    exceptions: &Exceptions,
) -> std::fmt::Result {
    writeln!(page, "# AMD's instruction set files against LLVM\n")?;
    writeln!(page, "<!-- Written by `cargo xtask audit --write`. Do not edit. -->\n")?;
    writeln!(
        page,
        "AMD publishes each GPU instruction set as an XML file, and AMD's engineers write LLVM's AMDGPU assembler and \
         disassembler. The two are kept apart, so each shows where the other errs. This page is the comparison of \
         AMD's files, corrected by the errata below, with LLVM {major}.{minor}.{patch}, both ways:\n"
    )?;
    writeln!(
        page,
        "- *Forth.* For every row (an instruction in an encoding under a condition) words are made until LLVM takes \
         one as an instruction of the encoding's length and form, up to {ROW_ATTEMPTS} of them. Its mnemonic must be \
         AMD's name in lower case or what `data/names.toml` says.\n\
         - *Back.* For every opcode that an encoding leaves free, and for every variant (literal, DPP, SDWA) that an \
         instruction lacks, LLVM is asked whether it decodes ({FREE_ATTEMPTS} and {FORM_ATTEMPTS} words).\n"
    )?;
    writeln!(
        page,
        "Every difference is an erratum, a name, or an exception with a reason. The words are chosen, not all words \
         there are: what is rare may hide.\n"
    )?;
    counts(page, findings, errata)?;
    errata_table(page, errata)?;
    name_table(page, names)?;
    exception_list(page, findings, exceptions)?;
    relatives(page, findings)
}

fn counts(page: &mut String, findings: &[Findings], errata: &[Erratum]) -> std::fmt::Result {
    writeln!(page, "## Counts\n")?;
    writeln!(
        page,
        "*Agreed*: LLVM gives the row its name on one of the generation's targets. *Relatives*: only another \
         processor of the family takes it. *Unsupported*: an erratum marks it so, and LLVM refuses it. The last three \
         columns count explained exceptions, once for each instruction and encoding or variant.\n"
    )?;
    writeln!(
        page,
        "| generation | targets | instructions | rows | agreed | relatives | unsupported | free opcodes | errata | \
         LLVM refuses | LLVM crashes | only LLVM has |\n\
         | --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |"
    )?;
    for finding in findings {
        let generation = &finding.generation;
        let targets: Vec<&str> = generation.targets.iter().map(|target| target.name.as_str()).collect();
        let count = |kinds: &[Kind]| finding.differences.iter().filter(|other| kinds.contains(&other.kind)).count();
        writeln!(
            page,
            "| {} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {} |",
            generation.title,
            targets.join(", "),
            finding.instructions,
            finding.rows,
            finding.agreed,
            finding.relative_rows,
            finding.unsupported,
            finding.free,
            errata.iter().filter(|erratum| erratum.generations.contains(&generation.name)).count(),
            count(&[Kind::Refused, Kind::Name]),
            count(&[Kind::Crash]),
            count(&[Kind::Extra, Kind::Form]),
        )?;
    }
    writeln!(page)
}

fn errata_table(page: &mut String, errata: &[Erratum]) -> std::fmt::Result {
    writeln!(page, "## Errata of AMD's files\n")?;
    writeln!(page, "The corrections themselves are in `data/errata.toml`.\n")?;
    for erratum in errata {
        writeln!(page, "### {} ({})\n", erratum.id, erratum.generations.join(", "))?;
        writeln!(page, "{} {}\n", erratum.what, erratum.why)?;
        let added: BTreeSet<&str> =
            erratum.add.iter().flat_map(|add| add.instructions.keys()).map(String::as_str).collect();
        if !added.is_empty() {
            writeln!(page, "Adds: {}.\n", join_code(added))?;
        }
        writeln!(page, "Evidence:\n")?;
        for evidence in &erratum.evidence {
            writeln!(page, "- {evidence}")?;
        }
        writeln!(page)?;
    }
    Ok(())
}

fn join_code<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    names.into_iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

fn name_table(page: &mut String, names: &Names) -> std::fmt::Result {
    writeln!(page, "## Names that differ\n")?;
    writeln!(page, "| AMD | LLVM | generations | why |\n| --- | --- | --- | --- |")?;
    for entry in names.entries() {
        for (name, mnemonic) in &entry.names {
            let generations = entry.generations.join(", ");
            writeln!(page, "| `{name}` | `{mnemonic}` | {generations} | {} |", entry.why)?;
        }
    }
    writeln!(page)
}

fn exception_list(page: &mut String, findings: &[Findings], exceptions: &Exceptions) -> std::fmt::Result {
    writeln!(page, "## Exceptions\n")?;
    writeln!(page, "Differences that are neither faults of AMD's files nor matters of spelling.\n")?;
    let mut by_exception: BTreeMap<usize, Vec<(&str, &Difference)>> = BTreeMap::new();
    for finding in findings {
        // What the reference data add depends on whether they are at hand.
        for difference in finding.differences.iter().filter(|difference| difference.kind != Kind::Reference) {
            if let Some(place) = difference.explained {
                by_exception.entry(place).or_default().push((&finding.generation.name, difference));
            }
        }
    }
    let mut title = "";
    for kind in [Kind::Refused, Kind::Crash, Kind::Name, Kind::Extra, Kind::Form] {
        for (&place, differences) in &by_exception {
            let exception = &exceptions.list[place];
            if exception.kind != kind {
                continue;
            }
            if title != kind.title() {
                title = kind.title();
                writeln!(page, "### {title}\n")?;
            }
            let mut generations: BTreeMap<&str, usize> = BTreeMap::new();
            let mut instructions = BTreeSet::new();
            let mut encodings = BTreeSet::new();
            for (generation, difference) in differences {
                *generations.entry(generation).or_default() += 1;
                instructions.insert(difference.instruction.as_str());
                encodings.insert(difference.encoding.as_str());
            }
            let generations: Vec<String> =
                generations.iter().map(|(generation, count)| format!("{generation} ({count})")).collect();
            writeln!(page, "- {}  ", exception.reason)?;
            writeln!(page, "  {} in {}: {}", generations.join(", "), join_code(encodings), shorten(&instructions))?;
        }
        if title == kind.title() {
            writeln!(page)?;
        }
    }
    Ok(())
}

/// All of a few names, the first of many.
fn shorten(names: &BTreeSet<&str>) -> String {
    const MANY: usize = 24;
    let shown = join_code(names.iter().take(MANY).copied());
    match names.len().saturating_sub(MANY) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

fn relatives(page: &mut String, findings: &[Findings]) -> std::fmt::Result {
    writeln!(page, "## Instructions of relatives\n")?;
    writeln!(
        page,
        "A file describes a family. LLVM refuses these on the generation's target and takes them on a relative.\n"
    )?;
    for finding in findings {
        for (relative, instructions) in &finding.relatives {
            writeln!(
                page,
                "- {}, {relative}: {}",
                finding.generation.title,
                join_code(instructions.iter().map(String::as_str))
            )?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_names_are_shortened() {
        let names: Vec<String> = (0..30).map(|number| format!("A{number:02}")).collect();
        let names: BTreeSet<&str> = names.iter().map(String::as_str).collect();
        assert!(shorten(&names).ends_with("`A23` and 6 more"));
        assert_eq!(shorten(&BTreeSet::from(["B"])), "`B`");
    }
}
