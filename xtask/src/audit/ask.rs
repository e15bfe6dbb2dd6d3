//! LLVM's answers to many words, by every configuration that may run them.

use anyhow::{Context, Result};
use codegen::sources::Generation;
use llvm_oracle::{Answer, ChildOracle};

use super::words::{Bits, Shape};

/// A processor with features.
struct Configuration {
    label: String,
    own: bool,
    oracle: ChildOracle,
}

/// The configurations of one generation, its default first.
pub(super) struct Asker {
    configurations: Vec<Configuration>,
}

/// What LLVM made of a shape's words.
#[derive(Debug, Clone, Default)]
pub(super) struct Outcome {
    /// The first word that is as wanted.
    pub(super) hit: Option<Hit>,
    /// Text of a word that is of the wanted length but not as wanted.
    pub(super) other: Option<String>,
    /// Number of words that crashed LLVM.
    pub(super) crashes: usize,
}

#[derive(Debug, Clone)]
pub(super) struct Hit {
    pub(super) text: String,
    /// The processor, where it is not one of the generation's own.
    pub(super) relative: Option<String>,
}

/// What a word's text is to the asker.
pub(super) enum Verdict {
    Hit,
    Other,
    No,
}

/// Words of one shape in a batch.
const BATCH: usize = 8;
/// Crashes after which a shape is given up.
const PATIENCE: usize = 3;

impl Asker {
    pub(super) fn new(generation: &Generation, also_ask: &[String]) -> Result<Self> {
        let program = std::env::current_exe().context("own executable")?;
        let mut wanted: Vec<(String, String)> = Vec::new();
        for target in &generation.targets {
            let features = if generation.waves.len() > 1 { &["", "+wavefrontsize64"][..] } else { &[""] };
            wanted.extend(features.iter().map(|features| (target.name.clone(), (*features).to_owned())));
        }
        for text in also_ask {
            let (cpu, features) = text.split_once(' ').unwrap_or((text, ""));
            wanted.push((cpu.to_owned(), features.to_owned()));
        }
        let configurations = wanted
            .into_iter()
            .map(|(cpu, features)| Configuration {
                own: generation.targets.iter().any(|target| target.name == cpu),
                oracle: ChildOracle::new(&program, &["llvm-worker"], &cpu, &features),
                label: cpu,
            })
            .collect();
        Ok(Self { configurations })
    }

    /// Asks for up to `attempts` words of each shape until one is as wanted.
    pub(super) fn probe(
        &mut self,
        shapes: &[Shape<'_>],
        attempts: usize,
        judge: impl Fn(&Shape<'_>, &Bits, usize, &str) -> Verdict,
    ) -> Result<Vec<Outcome>> {
        let mut outcomes = vec![Outcome::default(); shapes.len()];
        let mut first = 0;
        while first < attempts {
            // The plainest word by itself: for nearly all shapes it is enough.
            let last = if first == 0 { 1 } else { (first + BATCH).min(attempts) };
            for configuration in &mut self.configurations {
                let mut words = Vec::new();
                let mut owners = Vec::new();
                for (place, (shape, outcome)) in shapes.iter().zip(&outcomes).enumerate() {
                    if outcome.hit.is_some() || outcome.crashes >= PATIENCE {
                        continue;
                    }
                    for attempt in first..last {
                        words.push(shape.word(attempt));
                        owners.push(place);
                    }
                }
                let bytes: Vec<&[u8]> = words.iter().map(Bits::bytes).collect();
                let answers = configuration.oracle.disassemble(&bytes)?;
                for ((answer, word), place) in answers.into_iter().zip(&words).zip(owners) {
                    let outcome = &mut outcomes[place];
                    match answer {
                        Answer::Crash => outcome.crashes += 1,
                        // In comments LLVM says that an operand is not valid, by name that an instruction is not.
                        Answer::Text(_, text) if text.contains("/*") || text.starts_with("v_illegal") => {}
                        Answer::Text(length, text) if outcome.hit.is_none() => {
                            match judge(&shapes[place], word, length, &text) {
                                Verdict::Hit => {
                                    let relative = (!configuration.own).then(|| configuration.label.clone());
                                    outcome.hit = Some(Hit { text, relative });
                                }
                                Verdict::Other => outcome.other = outcome.other.take().or(Some(text)),
                                Verdict::No => {}
                            }
                        }
                        _ => {}
                    }
                }
            }
            first = last;
        }
        Ok(outcomes)
    }

    /// How often LLVM crashed.
    pub(super) fn crashes(&self) -> usize {
        self.configurations.iter().map(|configuration| configuration.oracle.crashes()).sum()
    }
}
