//! LLVM's mnemonics: AMD's names in lower case but for the entries of `data/names.toml`.

use std::collections::{BTreeMap, BTreeSet};

use isa_xml::spec::Spec;
use serde::Deserialize;

/// How LLVM spells the instructions that it does not spell like AMD.
#[derive(Debug, Clone, Default)]
pub struct Names {
    entries: Vec<Entry>,
    /// By generation and AMD's name.
    by_name: BTreeMap<(String, String), Vec<Spelling>>,
}

/// LLVM's mnemonic, and the encoding where the entry is limited to some.
type Spelling = (Option<String>, String);

/// One entry of the file.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    /// The generations that it is about.
    pub generations: Vec<String>,
    /// Only in these encodings; in all when empty.
    #[serde(default)]
    pub encodings: Vec<String>,
    /// Why the names differ.
    pub why: String,
    /// LLVM's mnemonic by AMD's name.
    pub names: BTreeMap<String, String>,
}

/// What is wrong with the file.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Not TOML, or not of this shape.
    #[error("names.toml: {0}")]
    Toml(#[from] toml::de::Error),
    /// Two entries are about the same thing.
    #[error("names.toml: two entries name {instruction} of {generation}")]
    Repeated {
        /// The generation.
        generation: String,
        /// AMD's name.
        instruction: String,
    },
    /// An entry says what holds without it.
    #[error("names.toml: {0} in lower case is what the name is anyway")]
    Idle(String),
    /// An entry names an instruction or encoding that the specs lack.
    #[error("names.toml: {generation} has no {instruction}{}", .encoding.as_ref().map(|name| format!(" in {name}")).unwrap_or_default())]
    Unused {
        /// The generation.
        generation: String,
        /// AMD's name.
        instruction: String,
        /// The encoding that the entry is limited to.
        encoding: Option<String>,
    },
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    name: Vec<Entry>,
}

impl Names {
    /// Reads `data/names.toml`.
    ///
    /// # Errors
    /// On text that is not TOML of the right shape and on entries that contradict each other or say nothing.
    pub fn parse(text: &str) -> Result<Self, Error> {
        let file: File = toml::from_str(text)?;
        let mut by_name: BTreeMap<_, Vec<Spelling>> = BTreeMap::new();
        for entry in &file.name {
            for (instruction, mnemonic) in &entry.names {
                if *mnemonic == instruction.to_ascii_lowercase() {
                    return Err(Error::Idle(instruction.clone()));
                }
                for generation in &entry.generations {
                    let places = by_name.entry((generation.clone(), instruction.clone())).or_default();
                    let wanted: Vec<Option<String>> = match entry.encodings.as_slice() {
                        [] => vec![None],
                        encodings => encodings.iter().cloned().map(Some).collect(),
                    };
                    for encoding in wanted {
                        let clash = |(other, _): &Spelling| other.is_none() || encoding.is_none() || *other == encoding;
                        if places.iter().any(clash) {
                            let (generation, instruction) = (generation.clone(), instruction.clone());
                            return Err(Error::Repeated { generation, instruction });
                        }
                        places.push((encoding, mnemonic.clone()));
                    }
                }
            }
        }
        Ok(Self { entries: file.name, by_name })
    }

    /// The file's entries.
    #[must_use]
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// LLVM's mnemonic without a suffix for the encoding (`_e32`, `_e64`, `_dpp`, `_sdwa`).
    #[must_use]
    pub fn llvm_name(&self, generation: &str, instruction: &str, encoding: &str) -> String {
        let key = (generation.to_owned(), instruction.to_owned());
        let places = self.by_name.get(&key).map_or(&[][..], Vec::as_slice);
        let found = places.iter().find(|(limit, _)| limit.as_deref().is_none_or(|limit| limit == encoding));
        found.map_or_else(|| instruction.to_ascii_lowercase(), |(_, mnemonic)| mnemonic.clone())
    }

    /// Checks that every entry is about instructions that the corrected specs have. A generation that is not among
    /// them is left out.
    ///
    /// # Errors
    /// On the first entry that matches nothing.
    pub fn check(&self, specs: &[(&str, Spec)]) -> Result<(), Error> {
        for (generation, spec) in specs {
            let mut present = BTreeSet::new();
            for instruction in &spec.instructions {
                for row in &instruction.rows {
                    let encoding = &spec.encodings[usize::from(row.encoding.0)];
                    present.insert((instruction.name.as_str(), Some(encoding.name.as_str())));
                }
                present.insert((instruction.name.as_str(), None));
            }
            for ((wanted, instruction), places) in &self.by_name {
                if wanted != generation {
                    continue;
                }
                for (encoding, _) in places {
                    if !present.contains(&(instruction.as_str(), encoding.as_deref())) {
                        return Err(Error::Unused {
                            generation: wanted.clone(),
                            instruction: instruction.clone(),
                            encoding: encoding.clone(),
                        });
                    }
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ENTRIES: &str = r#"
        [[name]]
        generations = ["cdna1", "cdna2"]
        why = "LLVM has one name"
        names = { V_MAD_MIX_F32 = "v_fma_mix_f32" }
        [[name]]
        generations = ["cdna1"]
        encodings = ["ENC_DS"]
        why = "only there"
        names = { DS_A = "ds_b" }
    "#;

    #[test]
    fn entries_override_the_lower_case_name() {
        let names = Names::parse(ENTRIES).unwrap();
        assert_eq!(names.llvm_name("cdna1", "V_MAD_MIX_F32", "ENC_VOP3P"), "v_fma_mix_f32");
        assert_eq!(names.llvm_name("cdna3", "V_MAD_MIX_F32", "ENC_VOP3P"), "v_mad_mix_f32");
        assert_eq!(names.llvm_name("cdna1", "DS_A", "ENC_DS"), "ds_b");
        assert_eq!(names.llvm_name("cdna1", "DS_A", "ENC_FLAT"), "ds_a");
        assert_eq!(names.llvm_name("nowhere", "S_NOP", ""), "s_nop");
    }

    #[test]
    fn faults_are_named() {
        let twice = ENTRIES.replace("DS_A = \"ds_b\"", "V_MAD_MIX_F32 = \"x\"");
        assert!(matches!(Names::parse(&twice), Err(Error::Repeated { .. })));
        let idle = ENTRIES.replace("\"ds_b\"", "\"ds_a\"");
        assert!(matches!(Names::parse(&idle), Err(Error::Idle(name)) if name == "DS_A"));
        assert!(matches!(Names::parse("[[nam]]"), Err(Error::Toml(_))));
    }
}
