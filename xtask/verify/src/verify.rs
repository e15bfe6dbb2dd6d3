//! `cargo xtask verify --llvm`: random words against the LLVM library of the Rust toolchain.
//!
//! A worker process answers for LLVM, which crashes on some words. Every difference is counted by kind and one word of
//! each kind made as plain as it goes; a kind that docs/llvm-differences.md does not list is a failure.

mod cause;
mod kind;
mod listed;
mod shrink;
mod words;

use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use gfx_isa::asm::Assembler;
use gfx_isa::{Decoder, Formatter, Generation, Options};
use llvm_oracle::{Answer, ChildOracle};

use kind::{Kind, Ours, Theirs};
use listed::Listed;
use shrink::Word;
use words::Words;

/// Arguments of the command.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Compare with LLVM; there is nothing else to compare with yet.
    #[arg(long, required = true)]
    llvm: bool,
    /// How long to search; making the examples plain takes a little more.
    #[arg(long, default_value_t = 60)]
    seconds: u64,
    /// Where the random numbers begin.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Only this generation; may be given several times.
    #[arg(long, value_name = "GENERATION")]
    isa: Vec<Generation>,
}

/// Arguments of the hidden command that answers a [`ChildOracle`].
#[derive(clap::Args)]
pub(crate) struct WorkerArgs {
    cpu: String,
    #[arg(default_value = "", allow_hyphen_values = true)]
    features: String,
}

pub(crate) fn serve(args: &WorkerArgs) -> Result<bool> {
    llvm_oracle::serve(&args.cpu, &args.features)?;
    Ok(true)
}

/// Words in a batch, all asked of one configuration.
const BATCH: usize = 500;
/// For [`Configuration::compare`]: assemble no text.
const NEVER: usize = usize::MAX;
/// One in so many texts is assembled, too: LLVM takes long over it.
const ASSEMBLED: usize = 4;
/// Questions to make a word plain that crashes LLVM: each takes a new worker.
const CRASHES: usize = 40;

/// What was found of one kind.
struct Finding {
    count: u64,
    word: Word,
    /// The configuration that showed it.
    label: String,
    ours: String,
    theirs: String,
}

/// What was found in one generation.
#[derive(Default)]
struct Report {
    words: u64,
    decoded: u64,
    assembled: u64,
    crashes: usize,
    findings: BTreeMap<Kind, Finding>,
}

/// Searches; gives whether every difference is listed.
pub(crate) fn run(args: &Args) -> Result<bool> {
    debug_assert!(args.llvm);
    let (major, minor, patch) = match llvm_oracle::Oracle::load() {
        Ok(oracle) => oracle.version(),
        Err(error) => bail!("verify needs the LLVM library: {error}"),
    };
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/llvm-differences.md");
    let page = std::fs::read_to_string(&page).with_context(|| page.display().to_string())?;
    let listed = Listed::parse(&page).context("docs/llvm-differences.md")?;
    let generations: Vec<Generation> =
        Generation::available().filter(|generation| args.isa.is_empty() || args.isa.contains(generation)).collect();
    println!("LLVM {major}.{minor}.{patch}, seed {}, {} s", args.seed, args.seconds);
    let deadline = Instant::now() + Duration::from_secs(args.seconds);
    let reports: Vec<Result<Report>> = std::thread::scope(|scope| {
        let searches: Vec<_> = generations
            .iter()
            .map(|&generation| scope.spawn(move || search(generation, args.seed, deadline)))
            .collect();
        searches
            .into_iter()
            .map(|search| search.join().unwrap_or_else(|_| Err(anyhow::anyhow!("the search panicked"))))
            .collect()
    });
    let mut unlisted = 0;
    for (&generation, report) in generations.iter().zip(reports) {
        let report = report.with_context(|| generation.name())?;
        unlisted += report.print(generation, &listed);
    }
    println!("{unlisted} kinds that docs/llvm-differences.md does not list");
    Ok(unlisted == 0)
}

impl Report {
    /// Prints a line a kind; gives how many kinds are not listed.
    fn print(&self, generation: Generation, listed: &Listed) -> usize {
        let Report { words, decoded, assembled, crashes, findings } = self;
        let name = generation.name();
        let differences: u64 = findings.values().map(|finding| finding.count).sum();
        println!(
            "\n{name}: {words} words, {decoded} decoded, {assembled} assembled, {differences} differences of {} kinds, \
             {crashes} crashes of LLVM",
            findings.len()
        );
        let mut unlisted = 0;
        for (kind, Finding { count, word, label, ours, theirs }) in findings {
            let right = listed.find(generation, kind).map(|entry| entry.right.name());
            unlisted += usize::from(right.is_none());
            let right = right.unwrap_or("NOT LISTED");
            println!("{count:8} {right:10} {kind} | {label} {} | {ours} | {theirs}", hex(word));
        }
        unlisted
    }
}

/// Bytes up to the last that is not zero, in whole dwords.
fn hex(word: &Word) -> String {
    let used = word.iter().rposition(|&byte| byte != 0).map_or(4, |last| (last / 4 + 1) * 4);
    word[..used].iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A processor and features, on both sides.
struct Configuration {
    label: String,
    generation: Generation,
    wave: u32,
    formatter: Formatter<'static>,
    assembler: Assembler,
    oracle: ChildOracle,
}

/// Both sides' answers to a word.
struct Compared {
    kind: Option<Kind>,
    ours: String,
    theirs: String,
    assembled: bool,
}

impl Configuration {
    /// Every wave size, and the halves of registers where LLVM does not spell them by itself.
    fn all(generation: Generation) -> Result<Vec<Configuration>> {
        let program = std::env::current_exe().context("own executable")?;
        let target = generation.targets().next().context("no processor")?.name;
        let mut wanted: Vec<(u32, &str, bool)> = Vec::new();
        for (index, &wave) in generation.wave_sizes().iter().enumerate() {
            wanted.push((wave, if index == 0 { "" } else { "+wavefrontsize64" }, false));
        }
        if matches!(generation, Generation::Rdna4 | Generation::Cdna5) {
            wanted.push((generation.wave_sizes()[0], "+real-true16", true));
        }
        let make = |(wave, features, true16): (u32, &str, bool)| {
            let mut options = Options::default();
            if true16 {
                options.true16 = Some(true);
            }
            Configuration {
                label: format!("{target}{features}"),
                generation,
                wave,
                formatter: Formatter::new(options),
                assembler: Assembler::new(generation).wave_size(wave),
                oracle: ChildOracle::new(&program, &["llvm-worker"], target, features),
            }
        };
        Ok(wanted.into_iter().map(make).collect())
    }

    fn decode(&self, word: &Word) -> Result<Ours> {
        Ok(match Decoder::new(self.generation, word).wave_size(self.wave).next() {
            Some(Ok(inst)) => {
                let mut text = String::new();
                self.formatter.format(&inst, 0, &mut text)?;
                Ours::Text { length: inst.len(), text, form: inst.form() }
            }
            Some(Err(error)) => Ours::Refused(error.kind),
            None => bail!("an empty word"),
        })
    }

    /// Compares words; one in `assembled` of the texts that agree is assembled, too.
    fn compare(&mut self, words: &[Word], assembled: usize) -> Result<Vec<Compared>> {
        let answers = self.oracle.disassemble(words)?;
        let mut compared = Vec::with_capacity(words.len());
        let mut texts = Vec::new();
        let mut alone = Vec::new();
        for (word, answer) in words.iter().zip(answers) {
            let ours = self.decode(word)?;
            let theirs = match answer {
                Answer::Text(length, text) => Theirs::Text { length, text },
                Answer::Crash => Theirs::Crash,
                Answer::Refused(_) | Answer::Bytes(_) => Theirs::Refused,
            };
            let kind = kind::compare(&ours, &theirs);
            let ours = match ours {
                Ours::Text { length, text, .. } => {
                    if kind.is_none() && (compared.len() + 1).is_multiple_of(assembled) {
                        texts.push((compared.len(), text.clone()));
                    }
                    if kind.as_ref().is_some_and(|kind| kind.what.starts_with("only-ours")) {
                        alone.push((compared.len(), text.clone()));
                    }
                    format!("{length}: {text}")
                }
                Ours::Refused(kind) => format!("{kind:?}"),
            };
            let theirs = match theirs {
                Theirs::Text { length, text } => format!("{length}: {text}"),
                Theirs::Refused => "refused".to_owned(),
                Theirs::Crash => "crash".to_owned(),
            };
            compared.push(Compared { kind, ours, theirs, assembled: false });
        }
        self.explain(words, &alone, &mut compared)?;
        let lines: Vec<&str> = texts.iter().map(|(_, text)| text.as_str()).collect();
        let answers = self.oracle.assemble(&lines)?;
        for ((place, text), answer) in texts.iter().zip(answers) {
            self.assemble(text, answer, &mut compared[*place]);
        }
        Ok(compared)
    }

    /// Finds out why LLVM refuses what gfx-isa decodes: each word's place and text.
    ///
    /// The cause is the field with whose plain value LLVM takes the word; `silent` where gfx-isa's text does not show it.
    fn explain(&mut self, words: &[Word], alone: &[(usize, String)], compared: &mut [Compared]) -> Result<()> {
        let mut suspects = Vec::with_capacity(alone.len());
        let mut questions: Vec<Word> = Vec::new();
        for (place, _) in alone {
            let word = &words[*place];
            let inst = Decoder::new(self.generation, word).wave_size(self.wave).next();
            let found = inst.and_then(Result::ok).map(|inst| cause::suspects(self.generation, &inst, word));
            let found = found.unwrap_or_default();
            questions.extend(found.iter().flat_map(|suspect| &suspect.plain));
            questions.extend(found.iter().map(|suspect| suspect.all_before));
            suspects.push(found);
        }
        let mut answers = self.oracle.disassemble(&questions)?.into_iter();
        let mut unexplained = Vec::new();
        for ((place, text), suspects) in alone.iter().zip(&suspects) {
            let mut cause = None;
            let taken = |answer: Option<Answer>| matches!(answer, Some(Answer::Text(..)));
            for suspect in suspects {
                for _ in &suspect.plain {
                    if taken(answers.next()) && cause.is_none() {
                        cause = Some(suspect);
                    }
                }
            }
            for suspect in suspects {
                if taken(answers.next()) && cause.is_none() {
                    cause = Some(suspect);
                }
            }
            let Some(suspect) = cause else {
                unexplained.push((*place, text.as_str()));
                continue;
            };
            let shown = match self.decode(&suspect.plain[0])? {
                Ours::Text { text: other, .. } if other == *text => "silent",
                _ => "shown",
            };
            let name = suspect.name;
            if let Some(kind) = &mut compared[*place].kind {
                kind.what = format!("{} {name} {shown}", kind.what);
            }
        }
        let lines: Vec<&str> = unexplained.iter().map(|(_, text)| *text).collect();
        for ((place, _), answer) in unexplained.iter().zip(self.oracle.assemble(&lines)?) {
            let why = match &answer {
                Answer::Bytes(_) => "assembled-by-llvm".to_owned(),
                Answer::Refused(message) => format!("refused-twice {}", kind::said(message)),
                _ => "refused-twice".to_owned(),
            };
            if let Some(kind) = &mut compared[*place].kind {
                kind.what = format!("{} {why}", kind.what);
            }
        }
        Ok(())
    }

    /// Compares what the assemblers make of a text.
    fn assemble(&mut self, text: &str, answer: Answer, compared: &mut Compared) {
        let mut code = Vec::new();
        let ours = self.assembler.assemble_line(text, &mut code);
        let what = match (&ours, &answer) {
            (Ok(()), Answer::Bytes(bytes)) if *bytes == code => None,
            (Ok(()), Answer::Bytes(_)) => Some("asm-bytes"),
            (Ok(()), Answer::Crash) => Some("asm-llvm-crash"),
            (Ok(()), _) => Some("asm-only-ours"),
            (Err(_), Answer::Bytes(_)) => Some("asm-only-llvm"),
            (Err(_), _) => None,
        };
        compared.assembled = true;
        if let Some(what) = what {
            let what = match &answer {
                Answer::Refused(message) => format!("{what} {}", kind::said(message)),
                _ => what.to_owned(),
            };
            compared.kind = Some(Kind { what, family: kind::family(text) });
            let list = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
            let ours = ours.map_or_else(|error| error.to_string(), |()| list(&code));
            compared.ours = format!("{text}: {}", ours.lines().next().unwrap_or_default());
            compared.theirs = match answer {
                Answer::Bytes(bytes) => list(&bytes),
                Answer::Refused(message) => message,
                Answer::Crash | Answer::Text(..) => "crash".to_owned(),
            };
        }
    }

    /// A word of a kind, made plain.
    fn plain(&mut self, word: Word, kind: &Kind) -> Result<(Word, Compared)> {
        let crash = kind.what.contains("crash");
        let assembled = if kind.what.starts_with("asm") { 1 } else { NEVER };
        let mut left = if crash { CRASHES } else { usize::MAX };
        let found = shrink::shrink(word, |word| {
            if left == 0 {
                return Ok(false);
            }
            left -= 1;
            let compared = self.compare(&[*word], assembled)?;
            Ok::<_, anyhow::Error>(compared[0].kind.as_ref() == Some(kind))
        })?;
        let compared = self.compare(&[found], assembled)?.pop().context("no answer")?;
        Ok((found, compared))
    }
}

fn search(generation: Generation, seed: u64, deadline: Instant) -> Result<Report> {
    let mut configurations = Configuration::all(generation)?;
    let mut words = Words::new(generation, seed);
    let mut report = Report::default();
    for turn in (0..configurations.len()).cycle() {
        if Instant::now() >= deadline {
            break;
        }
        let configuration = &mut configurations[turn];
        let batch: Vec<Word> = std::iter::repeat_with(|| words.next()).take(BATCH).collect();
        let compared = configuration.compare(&batch, ASSEMBLED)?;
        for (word, Compared { kind, ours, assembled, .. }) in batch.into_iter().zip(compared) {
            report.words += 1;
            report.decoded += u64::from(ours.contains(": "));
            report.assembled += u64::from(assembled);
            let Some(kind) = kind else { continue };
            if let Some(finding) = report.findings.get_mut(&kind) {
                finding.count += 1;
                continue;
            }
            let (word, compared) = configuration.plain(word, &kind)?;
            let (label, Compared { ours, theirs, .. }) = (configuration.label.clone(), compared);
            report.findings.insert(kind, Finding { count: 1, word, label, ours, theirs });
        }
    }
    report.crashes = configurations.iter().map(|configuration| configuration.oracle.crashes()).sum();
    Ok(report)
}
