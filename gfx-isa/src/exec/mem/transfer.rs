//! Loops over lanes that move data between registers and words.

use super::words::Words;
use crate::exec::lanes::Vector;
use crate::sem::atomic::{Atomic, add_f32};
use crate::sem::mem::{Part, Size};

/// Where the data of each lane begins.
#[derive(Clone, Copy)]
pub(super) struct Places<'a> {
    /// Byte offsets into the words, less `base`.
    pub(super) at: &'a [u64; 64],
    pub(super) base: u64,
    pub(super) active: u64,
    /// Lanes of the wave.
    pub(super) lanes: usize,
    /// From one dword of a lane to its next, in dwords.
    pub(super) next: usize,
}

impl Places<'_> {
    #[inline(always)]
    fn offset(&self, lane: usize) -> usize {
        self.at[lane & 63].wrapping_sub(self.base) as usize
    }

    /// Whether every active lane's place is a multiple of a power of two.
    #[inline]
    pub(super) fn aligned(&self, to: u64) -> bool {
        let mut low = 0;
        let each = self.at.iter().enumerate().take(self.lanes);
        for (lane, at) in each {
            let on = (self.active >> lane & 1).wrapping_neg();
            low |= at.wrapping_sub(self.base) & on;
        }
        low & (to - 1) == 0
    }

    #[inline(always)]
    fn each(&self, mut f: impl FnMut(usize)) {
        if self.active == u64::MAX >> (64 - self.lanes.clamp(1, 64)) {
            for lane in 0..self.lanes {
                f(lane);
            }
        } else {
            let mut rest = self.active;
            while rest != 0 {
                f(rest.trailing_zeros() as usize & 63);
                rest &= rest - 1;
            }
        }
    }
}

/// Extends what was read to 32 bits.
#[inline(always)]
pub(super) fn extend(size: Size, bits: u32) -> u32 {
    match size {
        Size::U8 => bits & 0xff,
        Size::I8 => bits as u8 as i8 as u32,
        Size::U16 => bits & 0xffff,
        Size::I16 => bits as u16 as i16 as u32,
        Size::Dwords(_) => bits,
    }
}

/// Puts small data into its part of a register.
#[inline(always)]
fn insert(part: Part, old: u32, bits: u32) -> u32 {
    match part {
        Part::Whole | Part::Transposed(_) => bits,
        Part::Low => old & 0xffff_0000 | bits & 0xffff,
        Part::High => old & 0xffff | bits << 16,
    }
}

/// Reads into registers.
pub(super) fn load(words: &impl Words, places: &Places, size: Size, part: Part, into: &mut [Vector]) {
    match size {
        Size::Dwords(count) => {
            let aligned = places.aligned(4);
            for (row, into) in into.iter_mut().enumerate().take(usize::from(count)) {
                let skip = row * places.next;
                if aligned {
                    places.each(|lane| into[lane & 63] = words.get(places.offset(lane) / 4 + skip));
                } else {
                    places.each(|lane| {
                        into[lane & 63] = words.get_at(places.offset(lane) + 4 * skip, 4, places.next);
                    });
                }
            }
        }
        small => {
            let [into, ..] = into else { return };
            let bytes = small.bytes() as usize;
            places.each(|lane| {
                let bits = extend(small, words.get_at(places.offset(lane), bytes, places.next));
                into[lane & 63] = insert(part, into[lane & 63], bits);
            });
        }
    }
}

/// Writes from registers. Of lanes that write to one place the last wins.
pub(super) fn store(words: &mut impl Words, places: &Places, size: Size, part: Part, from: &[Vector]) {
    match size {
        Size::Dwords(count) => {
            let aligned = places.aligned(4);
            if count == 1 && aligned {
                let [from, ..] = from else { return };
                places.each(|lane| words.set(places.offset(lane) / 4, from[lane & 63]));
                return;
            }
            places.each(|lane| {
                for (row, from) in from.iter().enumerate().take(usize::from(count)) {
                    let at = places.offset(lane) + 4 * row * places.next;
                    words.set_at(at, 4, places.next, from[lane & 63]);
                }
            });
        }
        small => {
            let [from, ..] = from else { return };
            let shift = if part == Part::High { 16 } else { 0 };
            let bytes = small.bytes() as usize;
            places.each(|lane| words.set_at(places.offset(lane), bytes, places.next, from[lane & 63] >> shift));
        }
    }
}

/// Changes memory; gives the old values. `data` holds what the operation needs: one register or pair, or two.
pub(super) fn atomic(
    words: &mut impl Words,
    places: &Places,
    atomic: Atomic,
    flush: bool,
    data: [&[Vector]; 2],
    old: &mut [Vector],
) {
    let row = |rows: &[Vector], at: usize, lane: usize| rows.get(at).map_or(0, |row| row[lane & 63]);
    let pair = |rows: &[Vector], lane| u64::from(row(rows, 1, lane)) << 32 | u64::from(row(rows, 0, lane));
    places.each(|lane| {
        let at = places.offset(lane) / 4;
        let (a, b) = (row(data[0], 0, lane), row(data[1], 0, lane));
        let was = match atomic {
            Atomic::B32(f) => u64::from(words.update(at, |old| f(old, a, b))),
            Atomic::AddF32 => u64::from(words.update(at, |old| add_f32(flush, old, a))),
            Atomic::B64(f) => {
                let (a, b) = (pair(data[0], lane), pair(data[1], lane));
                words.update_pair(at, |old| f(old, a, b))
            }
        };
        for (at, old) in old.iter_mut().enumerate().take(2) {
            old[lane & 63] = (was >> (32 * at)) as u32;
        }
    });
}
