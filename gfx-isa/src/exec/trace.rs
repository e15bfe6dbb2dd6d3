//! A trace: each wave's instructions with the registers that they change.

use std::format;
use std::io::{self, Write};
use std::string::String;
use std::vec::Vec;

use super::lanes::Vector;
use super::observe::{Observer, Step};
use super::state::{VGPRS, Wave, slot};
use crate::{Formatter, Options, RegFile, Registers, Resource, Targets};

/// Writes a line for each instruction: group, wave, address, text, and what changed.
///
/// Vector registers show the lanes that changed, neighbours together: one value where it is the same in all of them.
#[derive(Debug)]
pub struct Trace<W> {
    output: W,
    /// The registers that the instruction may change, before it did.
    vectors: Vec<(usize, Vector)>,
    scalars: [u32; slot::COUNT],
    scc: bool,
    line: String,
    error: Option<io::Error>,
}

impl<W: Write + Send> Trace<W> {
    /// A trace that goes to a writer.
    pub fn new(output: W) -> Trace<W> {
        let (vectors, line) = (Vec::new(), String::new());
        Trace { output, vectors, scalars: [0; slot::COUNT], scc: false, line, error: None }
    }

    /// Ends the trace.
    ///
    /// # Errors
    /// The first error of the writer; nothing was written behind it.
    pub fn finish(mut self) -> io::Result<W> {
        match self.error {
            Some(error) => Err(error),
            None => {
                self.output.flush()?;
                Ok(self.output)
            }
        }
    }
}

/// Place of a register in the wave's vector file, and how many there are.
fn vector(registers: Registers) -> Option<(usize, usize)> {
    let file = match registers.file {
        RegFile::Vgpr => 0,
        RegFile::Agpr => VGPRS,
        _ => return None,
    };
    let first = usize::from(registers.first);
    Some((file + first, usize::from(registers.count).min(VGPRS.saturating_sub(first))))
}

/// A scalar register's name.
fn scalar_name(at: usize) -> String {
    match at as u8 {
        slot::VCC => "vcc_lo".into(),
        107 => "vcc_hi".into(),
        slot::M0 => "m0".into(),
        slot::EXEC => "exec_lo".into(),
        127 => "exec_hi".into(),
        ttmp @ slot::TTMP..=123 => format!("ttmp{}", ttmp - slot::TTMP),
        _ => format!("s{at}"),
    }
}

impl<W: Write + Send> Observer for Trace<W> {
    fn before(&mut self, step: &Step<'_>) {
        self.vectors.clear();
        for resource in step.inst.writes() {
            let Resource::Registers(registers) = resource else { continue };
            let Some((first, count)) = vector(registers) else { continue };
            self.vectors.extend((first..first + count).map(|at| (at, *step.wave.vector(at))));
        }
        self.scalars = step.wave.scalars;
        self.scc = step.wave.scc;
    }

    fn after(&mut self, step: &Step<'_>) {
        if self.error.is_some() {
            return;
        }
        let [x, y, z] = step.group;
        let mut line = core::mem::take(&mut self.line);
        line.clear();
        line.push_str(&format!("{x},{y},{z} w{} {:012x}: ", step.number, step.pc));
        let options = Options { targets: Targets::Absolute, ..Options::default() };
        // Text is refused to no string.
        let _ = Formatter::new(options).format(step.inst, step.pc, &mut line);
        self.changes(step.wave, &mut line);
        line.push('\n');
        self.error = self.output.write_all(line.as_bytes()).err();
        self.line = line;
    }
}

impl<W> Trace<W> {
    fn changes(&self, wave: &Wave, line: &mut String) {
        let mut separator = "  ; ";
        for (at, (old, new)) in self.scalars.iter().zip(&wave.scalars).enumerate() {
            if old != new {
                line.push_str(&format!("{separator}{}={new:08x}", scalar_name(at)));
                separator = " ";
            }
        }
        if self.scc != wave.scc {
            line.push_str(&format!("{separator}scc={}", u8::from(wave.scc)));
            separator = " ";
        }
        let lanes = wave.lanes() as usize;
        for (at, old) in &self.vectors {
            let new = wave.vector(*at);
            let name = if *at < VGPRS { format!("v{at}") } else { format!("a{}", at - VGPRS) };
            let mut lane = 0;
            while lane < lanes {
                let first = lane;
                lane += 1;
                if old[first] == new[first] {
                    continue;
                }
                while lane < lanes && old[lane] != new[lane] {
                    lane += 1;
                }
                let run = &new[first..lane];
                let range = if run.len() == 1 { format!("{first}") } else { format!("{first}-{}", lane - 1) };
                line.push_str(&format!("{separator}{name}[{range}]={:08x}", run[0]));
                if run.iter().any(|value| *value != run[0]) {
                    for value in &run[1..] {
                        line.push_str(&format!(",{value:08x}"));
                    }
                }
                separator = " ";
            }
        }
    }
}
