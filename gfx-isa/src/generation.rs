//! Generations and the processors that belong to them.

use core::fmt;
use core::str::FromStr;

use crate::Generation;
use crate::generated::{self, FACTS, GENERATIONS};
use crate::table::{GenerationFacts, Tables};

impl Generation {
    /// Every generation, whether its feature is on or not.
    pub const fn all() -> &'static [Generation] {
        &GENERATIONS
    }

    /// The generations that are compiled in.
    pub fn available() -> impl Iterator<Item = Generation> {
        GENERATIONS.into_iter().filter(|g| g.is_available())
    }

    /// Whether the generation's feature is on.
    pub fn is_available(self) -> bool {
        self.tables().is_some()
    }

    /// The name that the command line and the cargo feature have: `rdna3_5`.
    pub const fn name(self) -> &'static str {
        self.facts().name
    }

    /// The name for people: `RDNA 3.5`.
    pub const fn title(self) -> &'static str {
        self.facts().title
    }

    /// Wave sizes in lanes, LLVM's default first.
    pub const fn wave_sizes(self) -> &'static [u32] {
        self.facts().waves
    }

    /// The processors of the generation.
    pub fn targets(self) -> impl Iterator<Item = Target> {
        self.facts().targets.iter().map(move |&(name, mach)| Target { name, mach, generation: self })
    }

    const fn facts(self) -> &'static GenerationFacts {
        &FACTS[self as usize]
    }

    pub(crate) fn tables(self) -> Option<&'static Tables> {
        generated::tables(self)
    }
}

/// A processor.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Target {
    /// LLVM's name: `gfx1201`.
    pub name: &'static str,
    /// `EF_AMDGPU_MACH` in the ELF header's `e_flags`.
    pub mach: u32,
    /// The generation it belongs to.
    pub generation: Generation,
}

impl Target {
    /// The processor with this `EF_AMDGPU_MACH`.
    pub fn from_mach(mach: u32) -> Option<Target> {
        GENERATIONS.into_iter().flat_map(Generation::targets).find(|t| t.mach == mach)
    }
}

impl fmt::Display for Generation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.title())
    }
}

/// Neither a generation nor a processor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ParseGenerationError;

impl fmt::Display for ParseGenerationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("unknown generation; known are")?;
        for (at, generation) in GENERATIONS.into_iter().enumerate() {
            write!(f, "{} {}", if at == 0 { "" } else { "," }, generation.name())?;
            for target in generation.targets() {
                write!(f, " {}", target.name)?;
            }
        }
        Ok(())
    }
}

impl core::error::Error for ParseGenerationError {}

impl FromStr for Generation {
    type Err = ParseGenerationError;

    /// Takes a name (`rdna4`), with `.` or `-` for `_` and in any case, or a processor (`gfx1201`).
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let same = |name: &str| {
            let fold = |c: u8| if matches!(c, b'.' | b'-') { b'_' } else { c.to_ascii_lowercase() };
            name.bytes().eq(text.bytes().map(fold))
        };
        let found = GENERATIONS.into_iter().find(|g| same(g.name()) || g.targets().any(|t| same(t.name)));
        found.ok_or(ParseGenerationError)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_targets_parse() {
        for &generation in Generation::all() {
            assert_eq!(generation.name().parse(), Ok(generation));
            for target in generation.targets() {
                assert_eq!(target.name.parse(), Ok(generation));
                assert_eq!(Target::from_mach(target.mach), Some(target));
            }
        }
        assert_eq!("RDNA3.5".parse(), Ok(Generation::Rdna3_5));
        assert_eq!("gfx9".parse::<Generation>(), Err(ParseGenerationError));
    }
}
