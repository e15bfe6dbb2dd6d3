//! Watching waves as they run.

use std::collections::HashMap;

use super::device::Code;
use super::state::Wave;
use crate::Inst;

/// Sees every instruction of a launch.
pub trait Observer: Send {
    /// Before an instruction. One that waits for other waves is seen again when it is tried again.
    fn before(&mut self, step: &Step<'_>);
    /// After an instruction that did its work.
    fn after(&mut self, step: &Step<'_>);
}

/// An instruction of a wave.
#[derive(Debug, Clone, Copy)]
pub struct Step<'a> {
    /// The group's numbers.
    pub group: [u32; 3],
    /// The wave's number in its group.
    pub number: u32,
    /// Address of the instruction.
    pub pc: u64,
    /// The instruction.
    pub inst: &'a Inst,
    /// The wave.
    pub wave: &'a Wave,
}

/// Called around each instruction; `at` is the instruction's index in the program.
///
/// The loop over instructions is compiled for each kind of watch, so that no watch costs nothing.
pub(super) trait Watch {
    /// The waves of a group run now.
    fn enter(&mut self, group: [u32; 3]);
    /// Before an instruction; it may still wait, and be tried again.
    fn before(&mut self, wave: &Wave, at: usize);
    /// After an instruction; the program counter has not moved yet.
    fn after(&mut self, wave: &Wave, at: usize);
}

/// Nobody watches.
impl Watch for () {
    #[inline(always)]
    fn enter(&mut self, _: [u32; 3]) {}

    #[inline(always)]
    fn before(&mut self, _: &Wave, _: usize) {}

    #[inline(always)]
    fn after(&mut self, _: &Wave, _: usize) {}
}

/// Shows an observer what a launch does.
pub(super) struct Watched<'a, O: ?Sized> {
    observer: &'a mut O,
    code: &'a Code,
    group: [u32; 3],
    /// Instructions by address.
    known: HashMap<u64, Inst>,
}

impl<'a, O: Observer + ?Sized> Watched<'a, O> {
    pub(super) fn new(observer: &'a mut O, code: &'a Code) -> Watched<'a, O> {
        Watched { observer, code, group: [0; 3], known: HashMap::new() }
    }

    fn tell(&mut self, wave: &Wave, f: impl FnOnce(&mut O, &Step<'_>)) {
        let pc = wave.pc();
        let inst = match self.known.get(&pc) {
            Some(inst) => *inst,
            None => {
                // What runs has been decoded before.
                let Some(inst) = self.code.inst(wave.lanes(), pc) else { return };
                *self.known.entry(pc).or_insert(inst)
            }
        };
        let step = Step { group: self.group, number: wave.number() as u32, pc, inst: &inst, wave };
        f(self.observer, &step);
    }
}

impl<O: Observer + ?Sized> Watch for Watched<'_, O> {
    fn enter(&mut self, group: [u32; 3]) {
        self.group = group;
    }

    fn before(&mut self, wave: &Wave, _: usize) {
        self.tell(wave, |observer, step| observer.before(step));
    }

    fn after(&mut self, wave: &Wave, _: usize) {
        self.tell(wave, |observer, step| observer.after(step));
    }
}
