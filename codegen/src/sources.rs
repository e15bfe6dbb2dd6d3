//! `data/sources.toml`: the only list of generations.

use std::collections::BTreeMap;

use serde::Deserialize;

/// The parsed file.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sources {
    /// AMD's download.
    pub bundle: Bundle,
    /// In the order of the file.
    #[serde(rename = "generation")]
    pub generations: Vec<Generation>,
}

/// AMD's bundle of XML files.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Bundle {
    /// Where it can be downloaded.
    pub url: String,
    /// Where AMD's newest bundle can be downloaded.
    pub latest: String,
    /// Its file name.
    pub file: String,
    /// Lower-case hex sha256 of that file.
    pub sha256: String,
}

/// One generation.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Generation {
    /// `rdna4`: as the crate, the command line and the cargo feature spell it.
    pub name: String,
    /// `RDNA 4`
    pub title: String,
    /// The file in AMD's bundle.
    pub xml: String,
    /// Wave sizes the hardware runs, the assembler's default first.
    pub waves: Vec<u32>,
    /// LLVM processors, the usual one first.
    pub targets: Vec<Target>,
}

/// A processor as LLVM names it.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Target {
    /// `gfx1200`
    pub name: String,
    /// `EF_AMDGPU_MACH` of the ELF header.
    pub mach: u32,
}

/// What is wrong with the list.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Not TOML, or not of this shape; the message has line and column.
    #[error("sources.toml: {0}")]
    Toml(#[from] toml::de::Error),
    /// The list contradicts itself.
    #[error("sources.toml: generation {generation}: {message}")]
    Generation {
        /// Its name.
        generation: String,
        /// What is wrong.
        message: String,
    },
    /// A sha256 that is none.
    #[error("sources.toml: bundle: sha256 is not 64 lower-case hexadecimal digits")]
    Sha256,
}

/// Parses the list and checks that names, files, targets and machine numbers are unique.
pub fn parse(text: &str) -> Result<Sources, Error> {
    let sources: Sources = toml::from_str(text)?;
    let sha256 = &sources.bundle.sha256;
    if sha256.len() != 64 || !sha256.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f')) {
        return Err(Error::Sha256);
    }
    let mut seen = BTreeMap::new();
    for generation in &sources.generations {
        let fail = |message: String| Error::Generation { generation: generation.name.clone(), message };
        let name = &generation.name;
        // The name becomes a module, a cargo feature and a file name.
        if !name.starts_with(|c: char| c.is_ascii_lowercase())
            || !name.chars().all(|c| matches!(c, 'a'..='z' | '0'..='9' | '_'))
        {
            return Err(fail("a name is lower-case letters, digits and underscores".to_owned()));
        }
        if generation.targets.is_empty() || generation.waves.is_empty() {
            return Err(fail("has no targets or no waves".to_owned()));
        }
        if let Some(wave) = generation.waves.iter().find(|w| !matches!(w, 32 | 64)) {
            return Err(fail(format!("a wave of {wave} is neither 32 nor 64")));
        }
        let mut unique = |what: &str, value: String| {
            let key = format!("{what} {value}");
            match seen.insert(key.clone(), name.clone()) {
                Some(other) => Err(fail(format!("{key} is already {other}'s"))),
                None => Ok(()),
            }
        };
        unique("name", name.clone())?;
        unique("xml", generation.xml.clone())?;
        for target in &generation.targets {
            unique("target", target.name.clone())?;
            unique("mach", format!("{:#x}", target.mach))?;
        }
    }
    Ok(sources)
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIST: &str = include_str!("../../data/sources.toml");

    #[test]
    fn the_list_of_this_repository_is_good() {
        let sources = parse(LIST).unwrap();
        assert_eq!(sources.generations.len(), 10);
        let rdna4 = sources.generations.iter().find(|g| g.name == "rdna4").unwrap();
        assert_eq!(rdna4.targets.len(), 2);
        assert_eq!(rdna4.waves, [32, 64]);
    }

    #[test]
    fn faults_are_named() {
        let fault = |from: &str, to: &str| {
            assert!(LIST.contains(from), "{from}");
            parse(&LIST.replacen(from, to, 1)).unwrap_err().to_string()
        };
        assert!(fault("gfx1201", "gfx1200").contains("rdna4: target gfx1200 is already rdna4's"));
        assert!(fault("0x4e", "0x48").contains("mach 0x48"));
        assert!(fault("\"cdna2\"", "\"cdna1\"").contains("name cdna1 is already cdna1's"));
        assert!(fault("\"cdna2\"", "\"../x\"").contains("lower-case letters"));
        assert!(fault("waves = [64]", "waves = [16]").contains("16 is neither"));
        assert!(fault("title = ", "tilte = ").contains("tilte"));
        assert!(fault("sha256 = \"6", "sha256 = \"X").contains("hexadecimal"));
        assert!(fault("[[generation]]", "[[generation").contains("line"));
    }
}
