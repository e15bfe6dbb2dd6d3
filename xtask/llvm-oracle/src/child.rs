//! LLVM in a process of its own, started again when it dies.

use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use crate::{Error, Oracle};

/// What a worker says to one question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// LLVM decodes: the length in bytes and the text.
    Text(usize, String),
    /// LLVM assembles: the bytes.
    Bytes(Vec<u8>),
    /// LLVM refuses, with its message (empty when it disassembles).
    Refused(String),
    /// LLVM crashed or did not answer in time.
    Crash,
}

/// A target asked through a worker process, so that LLVM's crashes are answers.
#[derive(Debug)]
pub struct ChildOracle {
    program: std::path::PathBuf,
    args: Vec<String>,
    worker: Option<Worker>,
    crashes: usize,
}

#[derive(Debug)]
struct Worker {
    child: Child,
    replies: Receiver<String>,
}

impl Drop for Worker {
    fn drop(&mut self) {
        // It may be gone already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Longest that a worker may take over one question.
const PATIENCE: Duration = Duration::from_secs(20);
/// Bytes sent before the replies are read: less than any pipe holds, so that neither side blocks for ever.
const WINDOW: usize = 4000;

impl ChildOracle {
    /// A worker that `program args.. cpu features` starts; that command must call [`serve`].
    #[must_use]
    pub fn new(program: &std::path::Path, args: &[&str], cpu: &str, features: &str) -> Self {
        let args = args.iter().copied().chain([cpu, features]).map(str::to_owned).collect();
        Self { program: program.to_owned(), args, worker: None, crashes: 0 }
    }

    /// How often LLVM crashed so far.
    #[must_use]
    pub fn crashes(&self) -> usize {
        self.crashes
    }

    /// [`crate::Target::disassemble`] for each word: one answer a word.
    ///
    /// # Errors
    /// When no worker can be started.
    pub fn disassemble<B: AsRef<[u8]>>(&mut self, words: &[B]) -> Result<Vec<Answer>, Error> {
        self.ask(words.iter().map(|word| format!("d {}\n", hex(word.as_ref()))))
    }

    /// [`crate::Target::assemble`] for each line: one answer a line.
    ///
    /// # Errors
    /// When no worker can be started.
    pub fn assemble<S: AsRef<str>>(&mut self, lines: &[S]) -> Result<Vec<Answer>, Error> {
        // Hexadecimal, so that no text can break the protocol's lines.
        self.ask(lines.iter().map(|line| format!("a {}\n", hex(line.as_ref().as_bytes()))))
    }

    fn ask(&mut self, questions: impl Iterator<Item = String>) -> Result<Vec<Answer>, Error> {
        let questions: Vec<String> = questions.collect();
        let mut answers = Vec::with_capacity(questions.len());
        while answers.len() < questions.len() {
            let rest = &questions[answers.len()..];
            let mut bytes = 0;
            let fits = |question: &&String| {
                bytes += question.len();
                bytes <= WINDOW
            };
            let count = rest.iter().take_while(fits).count().max(1);
            let window = &rest[..count];
            let worker = match &mut self.worker {
                Some(worker) => worker,
                none => none.insert(Worker::start(&self.program, &self.args)?),
            };
            // A failing write means that the worker died; the missing reply tells where.
            if let Some(stdin) = &mut worker.child.stdin {
                let _ = stdin.write_all(window.concat().as_bytes()).and_then(|()| stdin.flush());
            }
            for _ in window {
                match worker.replies.recv_timeout(PATIENCE) {
                    Ok(reply) => answers.push(parse_reply(&reply)),
                    Err(_) => {
                        answers.push(Answer::Crash);
                        self.crashes += 1;
                        self.worker = None;
                        break;
                    }
                }
            }
        }
        Ok(answers)
    }
}

impl Worker {
    fn start(program: &std::path::Path, args: &[String]) -> Result<Self, Error> {
        let mut child = Command::new(program)
            .args(args)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()?;
        let stdout = child.stdout.take().ok_or_else(|| Error::WorkerFailed("no stdout".to_owned()))?;
        let (sender, replies) = channel();
        std::thread::spawn(move || {
            for line in BufReader::new(stdout).lines() {
                let Ok(line) = line else { break };
                if sender.send(line).is_err() {
                    break;
                }
            }
        });
        let worker = Self { child, replies };
        match worker.replies.recv_timeout(PATIENCE) {
            Ok(greeting) if greeting == "ready" => Ok(worker),
            Ok(other) => Err(Error::WorkerFailed(other)),
            Err(_) => Err(Error::WorkerFailed("it ended before it was ready".to_owned())),
        }
    }
}

fn parse_reply(reply: &str) -> Answer {
    match reply.split_at_checked(2) {
        Some(("t ", rest)) => {
            let (length, text) = rest.split_once(' ').unwrap_or((rest, ""));
            Answer::Text(length.parse().unwrap_or(0), text.to_owned())
        }
        Some(("b ", rest)) => Answer::Bytes(unhex(rest).unwrap_or_default()),
        Some(("r ", rest)) => Answer::Refused(rest.to_owned()),
        _ => Answer::Refused(reply.trim_start_matches('r').to_owned()),
    }
}

/// A worker's main: answers questions on stdin until it ends. Says `ready` first, or why it cannot work.
///
/// # Errors
/// When stdin or stdout fail.
pub fn serve(cpu: &str, features: &str) -> std::io::Result<()> {
    let mut out = std::io::stdout().lock();
    let target = match Oracle::load().and_then(|oracle| oracle.target(cpu, features)) {
        Ok(target) => target,
        Err(error) => return writeln!(out, "{error}"),
    };
    writeln!(out, "ready")?;
    out.flush()?;
    for line in std::io::stdin().lock().lines() {
        let line = line?;
        let reply = match (line.get(..2), unhex(line.get(2..).unwrap_or_default())) {
            (Some("d "), Some(bytes)) => match target.disassemble(&bytes) {
                Some((length, text)) => format!("t {length} {text}"),
                None => "r ".to_owned(),
            },
            (Some("a "), Some(text)) => match target.assemble(&String::from_utf8_lossy(&text)) {
                Ok(bytes) => format!("b {}", hex(&bytes)),
                Err(message) => format!("r {}", message.replace('\n', " ")),
            },
            _ => "r not a question".to_owned(),
        };
        writeln!(out, "{reply}")?;
        // At once: after a crash the replies that arrived tell which question was its cause.
        out.flush()?;
    }
    Ok(())
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

fn unhex(text: &str) -> Option<Vec<u8>> {
    if !text.is_ascii() || !text.len().is_multiple_of(2) {
        return None;
    }
    (0..text.len()).step_by(2).map(|at| u8::from_str_radix(&text[at..at + 2], 16).ok()).collect()
}
