//! Barriers of a group: plain (`S_BARRIER`), split (signal and wait), and named ones.
//!
//! A barrier is a number of members and a number of signals; it completes when every member has signalled. Each wave
//! remembers which barriers have completed since it last waited. From the chapter "Barriers" of AMD's manuals of RDNA 4
//! and CDNA 5.

use std::vec::Vec;

/// The most named barriers of a group; their numbers begin at 1.
pub(crate) const NAMED: u32 = 16;

/// A barrier.
#[derive(Debug, Clone, Copy, Default)]
struct Unit {
    members: u32,
    signals: u32,
}

/// What a wave knows of barriers.
#[derive(Debug, Clone, Copy, Default)]
struct Wave {
    /// It has signalled by `S_BARRIER` and has not passed yet.
    arrived: bool,
    /// The group's barrier has completed and the wave has not waited yet.
    complete: bool,
    /// The same of the named barrier that it has joined.
    named_complete: bool,
    /// The named barrier that it has joined, 0 for none.
    joined: u32,
    /// It waits, for a named barrier or the group's.
    waits: Option<Kind>,
    ended: bool,
}

/// Kinds of barriers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Group,
    Named,
}

/// The barriers of a group.
#[derive(Debug, Clone)]
pub(crate) struct Barriers {
    waves: Vec<Wave>,
    /// The group's barrier, then the named ones.
    units: [Unit; 1 + NAMED as usize],
    named: u32,
    /// The group is part of a cluster, which has a barrier of its own.
    in_cluster: bool,
}

/// Number of the group's barrier.
pub(crate) const GROUP: i32 = -1;

/// Number of the cluster's barrier.
const CLUSTER: i32 = -3;

impl Barriers {
    /// Barriers of a group of some waves, with `named` named ones.
    pub(crate) fn new(waves: usize, named: u32) -> Barriers {
        let mut units = [Unit::default(); 1 + NAMED as usize];
        units[0].members = waves as u32;
        // A group of one wave has no barriers.
        let named = if waves > 1 { named.min(NAMED) } else { 0 };
        Barriers { waves: std::vec![Wave::default(); waves], units, named, in_cluster: false }
    }

    /// The same for a group that may be part of a cluster.
    pub(crate) fn in_cluster(self, in_cluster: bool) -> Barriers {
        Barriers { in_cluster, ..self }
    }

    /// Whether a number means a barrier that cannot be executed: groups of a cluster do not wait for each other here.
    pub(crate) fn is_missing(&self, barrier: i32) -> bool {
        self.in_cluster && barrier == CLUSTER
    }

    /// Whether there is anybody to wait for.
    fn in_group(&self) -> bool {
        self.waves.len() > 1
    }

    /// The barrier of a number, where the program may use it.
    fn unit(&self, barrier: i32) -> Option<usize> {
        match barrier {
            GROUP if self.in_group() => Some(0),
            1.. if barrier as u32 <= self.named => Some(barrier as usize),
            _ => None,
        }
    }

    /// Whether a wave cannot go on yet.
    pub(crate) fn blocks(&self, wave: usize) -> bool {
        let state = &self.waves[wave];
        match state.waits {
            None => false,
            Some(Kind::Group) => !state.complete,
            Some(Kind::Named) => !state.named_complete,
        }
    }

    /// What a wave waits for, for messages: none, or the barrier's number.
    pub(crate) fn waits_for(&self, wave: usize) -> Option<i32> {
        let state = self.waves.get(wave)?;
        state.waits.map(|kind| if kind == Kind::Group { GROUP } else { state.joined as i32 })
    }

    /// Signals received and needed by a barrier.
    pub(crate) fn counts(&self, barrier: i32) -> (u32, u32) {
        self.unit(barrier).map_or((0, 0), |unit| (self.units[unit].signals, self.units[unit].members))
    }

    /// Completes a barrier whose members have all signalled.
    fn check(&mut self, unit: usize) {
        let state = &mut self.units[unit];
        if state.members == 0 || state.signals < state.members {
            return;
        }
        state.signals = 0;
        for wave in &mut self.waves {
            if unit == 0 {
                wave.complete = true;
            } else if wave.joined == unit as u32 {
                wave.named_complete = true;
            }
        }
    }

    /// A wave arrives and waits. True where it may go on.
    pub(crate) fn arrive_and_wait(&mut self, wave: usize) -> bool {
        if !self.in_group() {
            return true;
        }
        if !self.waves[wave].arrived {
            self.waves[wave].arrived = true;
            self.units[0].signals += 1;
            self.check(0);
        }
        let passes = self.wait(wave, GROUP);
        self.waves[wave].arrived = !passes;
        passes
    }

    /// Signals a barrier; `members` sets a named barrier's number of members. Whether it was the first signal, where
    /// the barrier exists.
    pub(crate) fn signal(&mut self, barrier: i32, members: Option<u32>) -> Option<bool> {
        let unit = self.unit(barrier)?;
        if let Some(members) = members.filter(|members| *members != 0 && unit != 0) {
            self.units[unit].members = members;
        }
        let first = self.units[unit].signals == 0;
        self.units[unit].signals += 1;
        self.check(unit);
        Some(first)
    }

    /// Waits for a barrier. True where it has completed, or is none that the wave could wait for.
    pub(crate) fn wait(&mut self, wave: usize, barrier: i32) -> bool {
        let in_group = self.in_group();
        let state = &mut self.waves[wave];
        let (kind, complete) = match barrier {
            GROUP if in_group => (Kind::Group, &mut state.complete),
            // Any number that is not negative means the barrier that the wave has joined.
            0.. if state.joined != 0 => (Kind::Named, &mut state.named_complete),
            _ => return true,
        };
        let passes = core::mem::take(complete);
        state.waits = (!passes).then_some(kind);
        passes
    }

    /// Sets up a named barrier.
    pub(crate) fn init(&mut self, barrier: i32, members: Option<u32>) {
        if let Some(unit) = self.unit(barrier).filter(|unit| *unit != 0) {
            if let Some(members) = members.filter(|members| *members != 0) {
                self.units[unit].members = members;
            }
            self.units[unit].signals = 0;
        }
    }

    /// Joins a named barrier. Number 0 leaves the joined one without counting.
    pub(crate) fn join(&mut self, wave: usize, barrier: i32) {
        if barrier == 0 || self.unit(barrier).is_some_and(|unit| unit != 0) {
            self.waves[wave].joined = barrier as u32;
            self.waves[wave].named_complete = false;
        }
    }

    /// Leaves the joined barrier. Whether the wave was the last member.
    pub(crate) fn leave(&mut self, wave: usize) -> bool {
        let joined = core::mem::take(&mut self.waves[wave].joined);
        let Some(unit) = self.unit(joined as i32) else { return false };
        self.units[unit].members = self.units[unit].members.saturating_sub(1);
        let last = self.units[unit].members == 0;
        self.check(unit);
        last
    }

    /// A barrier's counts as `S_GET_BARRIER_STATE` gives them.
    pub(crate) fn state(&self, barrier: i32) -> u32 {
        let Some(unit) = self.unit(barrier) else { return 0 };
        let Unit { members, signals } = self.units[unit];
        (self.named / 4) << 24 | (signals & 0x7f) << 16 | (members & 0x7f) << 4 | 1
    }

    /// A wave has ended: the others do not wait for it.
    pub(crate) fn end(&mut self, wave: usize) {
        if !core::mem::replace(&mut self.waves[wave].ended, true) {
            self.units[0].members = self.units[0].members.saturating_sub(1);
            self.check(0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plain_barrier_holds_until_all_have_come() {
        let mut barriers = Barriers::new(3, 0);
        assert!(!barriers.arrive_and_wait(0) && barriers.blocks(0));
        // Trying again is no second arrival.
        assert!(!barriers.arrive_and_wait(0));
        assert!(!barriers.arrive_and_wait(2));
        assert_eq!((barriers.waits_for(2), barriers.counts(GROUP)), (Some(GROUP), (2, 3)));
        assert!(barriers.arrive_and_wait(1));
        assert!(!barriers.blocks(0) && barriers.arrive_and_wait(0));
        assert!(barriers.arrive_and_wait(2));
        // The next round: one wave has ended.
        assert!(!barriers.arrive_and_wait(2));
        barriers.end(1);
        assert!(barriers.blocks(2));
        assert!(barriers.arrive_and_wait(0) && !barriers.blocks(2));
    }

    #[test]
    fn the_end_of_the_last_missing_wave_completes() {
        let mut barriers = Barriers::new(2, 0);
        assert!(!barriers.arrive_and_wait(0));
        barriers.end(1);
        barriers.end(1);
        assert!(!barriers.blocks(0) && barriers.arrive_and_wait(0));
    }

    #[test]
    fn signals_may_run_ahead_of_waits() {
        let mut barriers = Barriers::new(2, 0);
        assert_eq!(barriers.signal(GROUP, None), Some(true));
        assert_eq!(barriers.state(GROUP), 1 << 16 | 2 << 4 | 1);
        assert!(!barriers.wait(0, GROUP));
        assert_eq!(barriers.signal(GROUP, None), Some(false));
        assert!(barriers.wait(1, GROUP) && barriers.wait(0, GROUP));
        assert_eq!(barriers.signal(-2, None), None, "the trap handler's");
        assert_eq!(barriers.signal(1, Some(1)), None, "there is no named barrier");
    }

    #[test]
    fn named_barriers_count_their_own_members() {
        let mut barriers = Barriers::new(4, 8);
        barriers.init(3, Some(2));
        barriers.join(0, 3);
        barriers.join(1, 3);
        assert_eq!(barriers.signal(3, None), Some(true));
        assert!(!barriers.wait(0, 3));
        assert_eq!(barriers.signal(3, None), Some(false));
        assert!(barriers.wait(0, 3) && barriers.wait(1, 3));
        // Leaving completes for those who stay.
        assert_eq!(barriers.signal(3, None), Some(true));
        assert!(!barriers.wait(0, 3));
        assert!(!barriers.leave(1) && !barriers.blocks(0));
        assert!(barriers.wait(0, 3) && barriers.leave(0));
        // Out of range, and none joined.
        assert_eq!((barriers.signal(9, None), barriers.signal(0, None)), (None, None));
        assert!(barriers.wait(2, 1));
        assert_eq!(barriers.state(1) >> 24, 2);
    }

    #[test]
    fn one_wave_never_waits() {
        let mut barriers = Barriers::new(1, 4);
        assert!(barriers.arrive_and_wait(0) && barriers.wait(0, GROUP));
        assert_eq!((barriers.signal(GROUP, None), barriers.signal(1, Some(9)), barriers.state(1)), (None, None, 0));
    }
}
