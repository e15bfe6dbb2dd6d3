//! The differences of one instruction over all generations, as a sentence.

use core::cmp::Reverse;
use core::fmt;
use std::string::String;
use std::vec::Vec;
use std::{format, vec};

use crate::{Generation, InstructionInfo};

use super::{Counterpart, Differences, counterparts, version};

/// Where an instruction is the same and in what it differs elsewhere. Displays as a sentence without a full stop.
#[derive(Debug, Clone)]
pub struct Summary {
    info: InstructionInfo,
    groups: Vec<(Key, Vec<Generation>)>,
}

/// What generations of one group have in common.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Key {
    Same,
    Differs { name: Option<&'static str>, nouns: Vec<Noun> },
    Absent,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Noun {
    Encoding(&'static str),
    Opcode(u32),
    Identifier,
    Layout,
    Operands,
}

impl Summary {
    /// Compares an instruction with all other generations that are compiled in.
    pub fn new(info: InstructionInfo) -> Summary {
        Summary::of(info, &counterparts(info))
    }

    /// Puts counterparts that are known already into groups.
    pub fn of(info: InstructionInfo, counterparts: &[Counterpart]) -> Summary {
        let mut groups: Vec<(Key, Vec<Generation>)> = Vec::new();
        for other in counterparts {
            let key = other.found.map_or(Key::Absent, |(found, differences)| key(found, differences));
            match groups.iter_mut().find(|(known, _)| *known == key) {
                Some((_, generations)) => generations.push(other.generation),
                None => groups.push((key, vec![other.generation])),
            }
        }
        groups.sort_by_key(|(key, generations)| {
            let place = match key {
                Key::Same => 0,
                Key::Differs { .. } => 1,
                Key::Absent => 2,
            };
            (place, Reverse(generations.iter().map(|&generation| version(generation)).max()))
        });
        Summary { info, groups }
    }

    /// The instruction that was compared.
    pub fn info(&self) -> InstructionInfo {
        self.info
    }
}

fn key(found: InstructionInfo, differences: Differences) -> Key {
    if differences.is_same() {
        return Key::Same;
    }
    let mut nouns = Vec::new();
    let Differences { encoding, opcode, identifier, layout, operands, .. } = differences;
    nouns.extend(encoding.then(|| Noun::Encoding(found.encoding().name())));
    nouns.extend(opcode.then(|| Noun::Opcode(found.opcode())));
    nouns.extend(layout.then_some(Noun::Layout));
    // Another opcode or layout makes another identifier as well.
    nouns.extend((identifier && !encoding && !opcode && !layout).then_some(Noun::Identifier));
    nouns.extend(operands.then_some(Noun::Operands));
    Key::Differs { name: differences.name.then(|| found.name()), nouns }
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (mut verb, mut field) = (false, false);
        let elsewhere = self.groups.iter().any(|(key, _)| *key != Key::Absent);
        if !elsewhere {
            let others = self.groups.iter().flat_map(|(_, generations)| generations).next();
            return write!(f, "{} {}", if others.is_some() { "only in" } else { "in" }, self.info.generation());
        }
        for (at, (key, generations)) in self.groups.iter().enumerate() {
            f.write_str(if at == 0 { "" } else { "; " })?;
            match key {
                Key::Same => f.write_str("same in")?,
                Key::Absent => f.write_str("not in")?,
                Key::Differs { name, nouns } => {
                    if let Some(name) = name {
                        write!(f, "named {name}{}", if nouns.is_empty() { "" } else { " with other " })?;
                    }
                    for (at, noun) in nouns.iter().enumerate() {
                        f.write_str(match at {
                            0 => "",
                            _ if at + 1 == nouns.len() => " and ",
                            _ => ", ",
                        })?;
                        match noun {
                            Noun::Encoding(name) => write!(f, "encoding ({name})")?,
                            Noun::Opcode(opcode) => write!(f, "opcode ({opcode})")?,
                            Noun::Identifier => f.write_str("identifier")?,
                            Noun::Layout => f.write_str(if field { "layout" } else { "field layout" })?,
                            Noun::Operands => f.write_str("operands")?,
                        }
                        field |= *noun == Noun::Layout;
                    }
                    if !verb && name.is_none() {
                        verb = true;
                        let plural = nouns.len() > 1 || nouns[0] == Noun::Operands;
                        f.write_str(if plural { " differ" } else { " differs" })?;
                    }
                    f.write_str(" in")?;
                }
            }
            write!(f, " {}", titles(generations))?;
        }
        Ok(())
    }
}

/// Generations in short: "RDNA 1, 2, CDNA 1–4". Three or more in a row become a span.
pub fn titles(generations: &[Generation]) -> String {
    let all = Generation::all();
    let family =
        |generation: Generation| generation.title().rsplit_once(' ').map_or(("", generation.title()), |pair| pair);
    let mut families: Vec<(&str, Vec<Generation>)> = Vec::new();
    for &generation in all.iter().filter(|generation| generations.contains(generation)) {
        let name = family(generation).0;
        match families.iter_mut().find(|(known, _)| *known == name) {
            Some((_, members)) => members.push(generation),
            None => families.push((name, vec![generation])),
        }
    }
    families.sort_by_key(|(_, members)| Reverse(members.iter().map(|&member| version(member)).max()));
    let mut parts = Vec::new();
    for (name, members) in families {
        let place = |generation: &Generation| all.iter().position(|known| known == generation);
        let runs = members.chunk_by(|a, b| place(a).map(|at| at + 1) == place(b));
        let spans: Vec<String> = runs
            .flat_map(|run| match run {
                [first, .., last] if run.len() > 2 => vec![format!("{}–{}", family(*first).1, family(*last).1)],
                _ => run.iter().map(|&generation| String::from(family(generation).1)).collect(),
            })
            .collect();
        parts.push(format!("{name} {}", spans.join(", ")));
    }
    parts.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn generations_in_short() {
        use Generation::*;
        assert_eq!(titles(&[Rdna1, Rdna2]), "RDNA 1, 2");
        assert_eq!(titles(&[Cdna1, Cdna2, Cdna3, Cdna4]), "CDNA 1–4");
        assert_eq!(titles(&[Cdna1, Rdna3, Cdna2, Cdna3, Rdna3_5, Rdna4, Cdna5]), "CDNA 1–3, 5, RDNA 3–4");
        assert_eq!(titles(Generation::all()), "CDNA 1–5, RDNA 1–4");
        assert_eq!(titles(&[]), "");
    }
}
