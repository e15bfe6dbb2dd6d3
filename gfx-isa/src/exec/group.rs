//! A group: its waves take turns until all have ended.

use std::vec::Vec;

use super::barrier::{Barriers, GROUP};
use super::decoded::Program;
use super::error::ExecError;
use super::mem::{Env, Lds, Memory};
use super::observe::Watch;
use super::setup::{Place, Setup};
use super::state::Wave;

/// Instructions that a wave executes before the next one has its turn.
const SLICE: u64 = 4096;

/// A group that runs.
#[derive(Debug)]
pub(super) struct Group {
    /// Number of the group in the launch.
    pub(super) index: u64,
    pub(super) id: [u32; 3],
    /// Which of the places for groups that exist at once it has.
    pub(super) slot: u64,
    waves: Vec<Wave>,
    /// Instructions that each wave has executed.
    executed: Vec<u64>,
    ended: Vec<bool>,
    lds: Lds,
    barriers: Barriers,
}

/// How far a group got.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Progress {
    /// All waves have ended.
    Done,
    /// The budget is used up.
    Paused,
}

/// Why a group stops.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Stop {
    pub(super) wave: u32,
    pub(super) pc: u64,
    pub(super) cause: Cause,
}

/// What stops a group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Cause {
    Exec(ExecError),
    /// A wave has executed as many instructions as it may.
    Limit(u64),
    /// Every wave waits: which barrier the first one waits for, how many have signalled, of how many.
    Deadlock {
        barrier: i32,
        signals: u32,
        members: u32,
    },
}

impl Group {
    /// A group at its start. `waves` are used again; as many as are needed are added.
    pub(super) fn new(setup: &Setup, index: u64, slot: u64, place: &Place, lds: u32, mut waves: Vec<Wave>) -> Group {
        let count = place.waves(setup.lanes);
        waves.truncate(count as usize);
        for number in 0..count {
            let at = number as usize;
            if at == waves.len() {
                waves.push(Wave::of(setup.generation, setup.lanes));
            }
            let scratch_slot = slot * u64::from(setup.waves) + u64::from(number);
            setup.start(&mut waves[at], &Place { number, scratch_slot, ..*place });
        }
        let count = waves.len();
        Group {
            index,
            id: place.group,
            slot,
            waves,
            executed: std::vec![0; count],
            ended: std::vec![false; count],
            lds: Lds::new(lds),
            barriers: Barriers::new(count, setup.descriptor.named_barriers(setup.generation))
                .in_cluster(setup.cluster != [1; 3]),
        }
    }

    /// Instructions executed so far.
    pub(super) fn executed(&self) -> u64 {
        self.executed.iter().sum()
    }

    /// Number of waves.
    pub(super) fn len(&self) -> usize {
        self.waves.len()
    }

    /// The waves, to be used again.
    pub(super) fn into_waves(self) -> Vec<Wave> {
        self.waves
    }

    /// Runs about `budget` instructions; `limit` is the most for one wave.
    pub(super) fn run<W: Watch>(
        &mut self,
        program: &Program,
        memory: &Memory,
        budget: u64,
        limit: u64,
        watch: &mut W,
    ) -> Result<Progress, Stop> {
        let mut env = Env::new(memory, &mut self.lds);
        core::mem::swap(&mut env.barriers, &mut self.barriers);
        let mut spent = 0;
        let result = loop {
            let mut moved = false;
            let mut busy = false;
            let mut alive = false;
            let mut stop = None;
            for (number, wave) in self.waves.iter_mut().enumerate() {
                if self.ended[number] {
                    continue;
                }
                alive = true;
                if env.barriers.blocks(number) {
                    continue;
                }
                moved = true;
                let left = limit - self.executed[number];
                let slice = left.min(SLICE);
                let result = wave.run_observed(program, &mut env, slice, watch);
                let cause = match result {
                    Err(error) => Cause::Exec(error),
                    Ok(finished) => {
                        spent += finished.executed;
                        self.executed[number] += finished.executed;
                        // Otherwise it sleeps, or has come to a barrier.
                        busy |=
                            finished.ended || finished.executed == slice || env.barriers.waits_for(number).is_some();
                        if finished.ended {
                            self.ended[number] = true;
                            env.barriers.end(number);
                            continue;
                        }
                        if self.executed[number] < limit {
                            continue;
                        }
                        Cause::Limit(limit)
                    }
                };
                stop = Some(Stop { wave: number as u32, pc: wave.pc(), cause });
                break;
            }
            if let Some(stop) = stop {
                break Err(stop);
            }
            if !alive {
                break Ok(Progress::Done);
            }
            if !moved {
                break Err(deadlock(&self.waves, &self.ended, &env.barriers));
            }
            // Who sleeps may wait for other groups.
            if spent >= budget || !busy {
                break Ok(Progress::Paused);
            }
        };
        core::mem::swap(&mut env.barriers, &mut self.barriers);
        result
    }
}

/// What to say when every wave waits.
fn deadlock(waves: &[Wave], ended: &[bool], barriers: &Barriers) -> Stop {
    let first = ended.iter().position(|ended| !ended).unwrap_or(0);
    let barrier = barriers.waits_for(first).unwrap_or(GROUP);
    let (signals, members) = barriers.counts(barrier);
    Stop { wave: first as u32, pc: waves[first].pc(), cause: Cause::Deadlock { barrier, signals, members } }
}
