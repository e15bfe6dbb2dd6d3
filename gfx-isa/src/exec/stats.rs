//! Counts of what a launch executed.

use std::collections::BTreeMap;
use std::string::{String, ToString};
use std::vec::Vec;

use super::device::Code;
use super::observe::Watch;
use super::state::Wave;

/// Counts of instructions.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Stats {
    /// By group of instructions, as AMD's specification names them.
    pub groups: BTreeMap<&'static str, Count>,
    /// By mnemonic.
    pub mnemonics: BTreeMap<String, Count>,
}

/// How often something was executed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Count {
    /// Instructions, one for each wave.
    pub instructions: u64,
    /// Of instructions that lanes execute: lanes that did.
    pub lanes: u64,
    /// Of the same instructions: lanes that there were.
    pub room: u64,
}

impl Count {
    fn add(&mut self, other: Count) {
        self.instructions += other.instructions;
        self.lanes += other.lanes;
        self.room += other.room;
    }

    /// Part of the lanes that were active, 0 to 1; none where lanes play no part.
    pub fn lane_use(&self) -> Option<f64> {
        (self.room != 0).then(|| self.lanes as f64 / self.room as f64)
    }
}

/// Counts of one thread: for each instruction of the program how often it was executed, by how many lanes.
#[derive(Debug, Default)]
pub(super) struct Counter {
    counts: Vec<(u64, u64)>,
    /// Address of each instruction that was executed.
    addresses: Vec<u64>,
    lanes: u32,
}

impl Counter {
    pub(super) fn new(instructions: usize) -> Counter {
        Counter { counts: std::vec![(0, 0); instructions], addresses: std::vec![0; instructions], lanes: 0 }
    }

    /// Adds what was counted to the statistics.
    pub(super) fn report(&self, code: &Code, stats: &mut Stats) {
        for ((executed, active), address) in self.counts.iter().zip(&self.addresses) {
            if *executed == 0 {
                continue;
            }
            let Some(inst) = code.inst(self.lanes, *address) else { continue };
            let mut count = Count { instructions: *executed, ..Count::default() };
            if inst.is_vector() {
                count.lanes = *active;
                count.room = executed * u64::from(self.lanes);
            }
            stats.groups.entry(inst.group()).or_default().add(count);
            stats.mnemonics.entry(inst.mnemonic().to_string()).or_default().add(count);
        }
    }
}

impl Watch for Counter {
    fn enter(&mut self, _: [u32; 3]) {}

    #[inline]
    fn before(&mut self, wave: &Wave, at: usize) {
        // The mask under which it is executed, which it may change.
        if let Some((_, active)) = self.counts.get_mut(at) {
            *active += u64::from(wave.exec().count_ones());
        }
    }

    #[inline]
    fn after(&mut self, wave: &Wave, at: usize) {
        self.lanes = wave.lanes();
        if let (Some((executed, _)), Some(address)) = (self.counts.get_mut(at), self.addresses.get_mut(at)) {
            *executed += 1;
            *address = wave.pc();
        }
    }
}
