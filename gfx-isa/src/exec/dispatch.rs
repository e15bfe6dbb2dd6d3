//! A launch: groups of a grid over threads.
//!
//! Threads take groups one by one. A group that runs for long is put aside so that others get their turn: groups may
//! wait for each other. What a program without races computes does not depend on the number of threads, and of several
//! faults the one of the group with the lowest number is reported.

use core::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::boxed::Box;
use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::vec::Vec;

use super::arguments::Hidden;
use super::decoded::Program;
use super::group::{Group, Progress, Stop};
use super::mem::Memory;
use super::observe::Watch;
use super::setup::{Place, Setup};
use super::state::Wave;
use crate::kernel::ValueKind;

/// Instructions after which a group is put aside.
const BUDGET: u64 = 1 << 20;

/// Waves that exist at once, where a group is not larger by itself.
const RESIDENT_WAVES: u64 = 512;

/// The most private memory of a launch, in bytes.
pub(super) const SCRATCH: u64 = 1 << 30;

/// The most groups of a launch.
pub(super) const GROUPS: u64 = 1 << 40;

/// How many groups of how many work-items run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Grid {
    pub(super) items: [u64; 3],
    pub(super) size: [u32; 3],
    pub(super) lds: u32,
}

impl Grid {
    /// `groups` groups of `size` work-items in each dimension.
    pub fn new(groups: [u32; 3], size: [u32; 3]) -> Grid {
        Grid { items: core::array::from_fn(|at| u64::from(groups[at]) * u64::from(size[at])), size, lds: 0 }
    }

    /// `items` work-items in groups of `size`; the last groups of a dimension have fewer where it does not divide.
    pub fn items(items: [u32; 3], size: [u32; 3]) -> Grid {
        Grid { items: items.map(u64::from), size, lds: 0 }
    }

    /// Adds bytes of local memory to what the kernel declares.
    #[must_use]
    pub fn lds(self, bytes: u32) -> Grid {
        Grid { lds: bytes, ..self }
    }

    /// Groups in each dimension.
    pub(super) fn groups(&self) -> [u64; 3] {
        core::array::from_fn(|at| self.items[at].div_ceil(u64::from(self.size[at].max(1))))
    }

    /// Number of groups; none where it is not a number of 64 bits.
    pub fn count(&self) -> Option<u64> {
        let [x, y, z] = self.groups();
        x.checked_mul(y)?.checked_mul(z)
    }

    /// Dimensions: those behind the last one that is larger than 1 do not count.
    pub(super) fn dimensions(&self) -> u32 {
        (0..3).rev().find(|at| self.items[*at] > 1).map_or(1, |at| at as u32 + 1)
    }

    /// Numbers and size of the group of an index.
    fn place(&self, index: u64) -> Place {
        let [x, y, _] = self.groups();
        let group = [index % x, index / x % y, index / (x * y)];
        let size = core::array::from_fn(|at| {
            let first = group[at] * u64::from(self.size[at]);
            (self.items[at] - first).min(u64::from(self.size[at])) as u32
        });
        Place { group: group.map(|id| id as u32), size, number: 0, scratch_slot: 0 }
    }

    /// The value of a hidden argument.
    pub(super) fn hidden(&self, kind: ValueKind, hidden: &Hidden) -> u64 {
        let full = |at: usize| self.items[at] / u64::from(self.size[at].max(1));
        let rest = |at: usize| self.items[at] % u64::from(self.size[at].max(1));
        match kind {
            ValueKind::HiddenBlockCountX => full(0),
            ValueKind::HiddenBlockCountY => full(1),
            ValueKind::HiddenBlockCountZ => full(2),
            ValueKind::HiddenGroupSizeX => self.size[0].into(),
            ValueKind::HiddenGroupSizeY => self.size[1].into(),
            ValueKind::HiddenGroupSizeZ => self.size[2].into(),
            ValueKind::HiddenRemainderX => rest(0),
            ValueKind::HiddenRemainderY => rest(1),
            ValueKind::HiddenRemainderZ => rest(2),
            ValueKind::HiddenGridDims => self.dimensions().into(),
            ValueKind::HiddenDynamicLdsSize => self.lds.into(),
            ValueKind::HiddenSharedBase => hidden.shared_base.into(),
            ValueKind::HiddenPrivateBase => hidden.private_base.into(),
            ValueKind::HiddenQueuePtr => hidden.queue,
            // Offsets begin at 0, and the services behind the others do not exist.
            _ => 0,
        }
    }
}

/// What a launch runs.
#[derive(Debug)]
pub(super) struct Dispatch<'a> {
    pub(super) setup: &'a Setup,
    pub(super) program: &'a Program,
    pub(super) memory: &'a Memory,
    pub(super) grid: Grid,
    /// Bytes of local memory of a group.
    pub(super) lds: u32,
    /// The most instructions of a wave.
    pub(super) limit: u64,
    /// Groups that exist at once.
    pub(super) resident: u64,
}

/// How many groups exist at once: enough for threads, few enough for memory.
pub(super) fn resident(threads: u64, group_waves: u64, wave_scratch: u64) -> u64 {
    let by_waves = (RESIDENT_WAVES / group_waves.max(1)).max(threads);
    let by_scratch = SCRATCH.checked_div(wave_scratch.saturating_mul(group_waves)).unwrap_or(u64::MAX);
    by_waves.min(by_scratch).max(1)
}

/// What a launch did.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Totals {
    pub(super) executed: u64,
    pub(super) waves: u64,
}

/// A group's fault.
#[derive(Debug)]
pub(super) struct Failure {
    pub(super) group: [u32; 3],
    pub(super) stop: Stop,
}

/// What threads share.
struct Shared {
    pool: Mutex<Pool>,
    /// Index of the first group that failed.
    failed: AtomicU64,
    done: AtomicU64,
}

struct Pool {
    /// The next group to start.
    next: u64,
    /// Groups put aside.
    parked: VecDeque<Box<Group>>,
    /// Free places for groups.
    slots: Vec<u64>,
    totals: Totals,
    failure: Option<Failure>,
}

/// A group to run.
enum Work {
    Fresh { index: u64, slot: u64 },
    Parked(Box<Group>),
}

impl Shared {
    fn pool(&self) -> MutexGuard<'_, Pool> {
        self.pool.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn take(&self, count: u64) -> Option<Work> {
        let mut pool = self.pool();
        let end = count.min(self.failed.load(Relaxed));
        if pool.next < end
            && let Some(slot) = pool.slots.pop()
        {
            let index = pool.next;
            pool.next += 1;
            return Some(Work::Fresh { index, slot });
        }
        while let Some(group) = pool.parked.pop_front() {
            if group.index < end {
                return Some(Work::Parked(group));
            }
        }
        None
    }

    fn finish(&self, group: Box<Group>, result: Result<(), Stop>) -> Vec<Wave> {
        let mut pool = self.pool();
        pool.slots.push(group.slot);
        pool.totals.executed += group.executed();
        pool.totals.waves += group.len() as u64;
        self.done.fetch_add(1, Relaxed);
        if let Err(stop) = result
            && group.index < self.failed.load(Relaxed)
        {
            self.failed.store(group.index, Relaxed);
            pool.failure = Some(Failure { group: group.id, stop });
        }
        group.into_waves()
    }
}

impl Dispatch<'_> {
    /// Runs all groups on some threads. `watches` gives each thread its watch; `progress` hears of groups done.
    pub(super) fn run<W: Watch + Send>(
        &self,
        watches: Vec<&mut W>,
        progress: Option<&(dyn Fn(u64) + Sync)>,
    ) -> Result<Totals, Failure> {
        let pool = Pool {
            next: 0,
            parked: VecDeque::new(),
            slots: (0..self.resident).rev().collect(),
            totals: Totals::default(),
            failure: None,
        };
        let shared = Shared { pool: Mutex::new(pool), failed: AtomicU64::new(u64::MAX), done: AtomicU64::new(0) };
        let mut watches = watches.into_iter();
        let own = watches.next();
        rayon::in_place_scope(|scope| {
            for watch in watches {
                let shared = &shared;
                scope.spawn(move |_| self.work(shared, watch, progress));
            }
            if let Some(own) = own {
                self.work(&shared, own, progress);
            }
        });
        let pool = shared.pool.into_inner().unwrap_or_else(PoisonError::into_inner);
        match pool.failure {
            Some(failure) => Err(failure),
            None => Ok(pool.totals),
        }
    }

    /// One thread's work.
    fn work<W: Watch>(&self, shared: &Shared, watch: &mut W, progress: Option<&(dyn Fn(u64) + Sync)>) {
        let count = self.grid.count().unwrap_or(0);
        let mut spare = Vec::new();
        while let Some(work) = shared.take(count) {
            let mut group = match work {
                Work::Parked(group) => group,
                Work::Fresh { index, slot } => {
                    let place = self.grid.place(index);
                    Box::new(Group::new(self.setup, index, slot, &place, self.lds, core::mem::take(&mut spare)))
                }
            };
            watch.enter(group.id);
            match group.run(self.program, self.memory, BUDGET, self.limit, watch) {
                Ok(Progress::Paused) => shared.pool().parked.push_back(group),
                Ok(Progress::Done) => spare = shared.finish(group, Ok(())),
                Err(stop) => spare = shared.finish(group, Err(stop)),
            }
            if let Some(progress) = progress {
                progress(shared.done.load(Relaxed));
            }
        }
    }
}
