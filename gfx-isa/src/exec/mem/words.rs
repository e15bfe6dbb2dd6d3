//! Words that lanes read and write: an allocation shared by threads, or a group's local data share.

use core::sync::atomic::{
    AtomicU32,
    Ordering::{AcqRel, Acquire, Release},
};
use std::sync::{Mutex, PoisonError};
use std::vec::Vec;

use super::LOCKS;

/// Dwords by index. An index that does not exist reads as 0 and is not written; callers check bounds before.
pub(super) trait Words {
    fn get(&self, at: usize) -> u32;
    fn set(&mut self, at: usize, value: u32);
    /// Replaces the bits of a mask.
    fn merge(&mut self, at: usize, mask: u32, bits: u32);
    /// Replaces a dword by what a function makes of it and gives the old one.
    fn update(&mut self, at: usize, f: impl Fn(u32) -> u32) -> u32;
    /// The same with two dwords, the low one first.
    fn update_pair(&mut self, at: usize, f: impl Fn(u64) -> u64) -> u64;

    /// Up to four bytes from a byte offset on; what lies beyond is cut off by the caller. `next` is the index of the
    /// dword behind, as a distance.
    #[inline(always)]
    fn get_at(&self, byte: usize, bytes: usize, next: usize) -> u32 {
        let (at, shift) = (byte / 4, 8 * (byte % 4));
        let low = self.get(at) >> shift;
        if shift + 8 * bytes <= 32 { low } else { low | self.get(at + next) << (32 - shift) }
    }

    /// Writes the low `bytes` bytes of a value.
    #[inline(always)]
    fn set_at(&mut self, byte: usize, bytes: usize, next: usize, value: u32) {
        let (at, shift) = (byte / 4, 8 * (byte % 4));
        if shift == 0 && bytes == 4 {
            return self.set(at, value);
        }
        let mask = u32::MAX >> (32 - 8 * bytes);
        self.merge(at, mask << shift, value << shift);
        if shift + 8 * bytes > 32 {
            self.merge(at + next, mask >> (32 - shift), value >> (32 - shift));
        }
    }
}

/// An allocation.
#[derive(Clone, Copy)]
pub(super) struct View<'a> {
    pub(super) words: &'a [AtomicU32],
    /// Its address.
    pub(super) base: u64,
    pub(super) locks: &'a [Mutex<()>; LOCKS],
}

impl Words for View<'_> {
    #[inline(always)]
    fn get(&self, at: usize) -> u32 {
        self.words.get(at).map_or(0, |word| word.load(Acquire))
    }

    #[inline(always)]
    fn set(&mut self, at: usize, value: u32) {
        if let Some(word) = self.words.get(at) {
            word.store(value, Release);
        }
    }

    fn merge(&mut self, at: usize, mask: u32, bits: u32) {
        self.update(at, |old| old & !mask | bits & mask);
    }

    #[inline]
    fn update(&mut self, at: usize, f: impl Fn(u32) -> u32) -> u32 {
        let word = self.words.get(at);
        // The closure never refuses, so both results hold the old value.
        word.map_or(0, |word| match word.fetch_update(AcqRel, Acquire, |old| Some(f(old))) {
            Ok(old) | Err(old) => old,
        })
    }

    fn update_pair(&mut self, at: usize, f: impl Fn(u64) -> u64) -> u64 {
        let _guard = self.locks[at / 2 % LOCKS].lock().unwrap_or_else(PoisonError::into_inner);
        let old = u64::from(self.get(at + 1)) << 32 | u64::from(self.get(at));
        let new = f(old);
        self.set(at, new as u32);
        self.set(at + 1, (new >> 32) as u32);
        old
    }
}

/// A group's local data share.
#[derive(Debug, Clone, Default)]
pub struct Lds {
    words: Vec<u32>,
}

impl Lds {
    /// Zeroed bytes, rounded up to dwords.
    pub fn new(bytes: u32) -> Lds {
        Lds { words: std::vec![0; bytes.div_ceil(4) as usize] }
    }

    /// Size in bytes.
    pub fn bytes(&self) -> u32 {
        (self.words.len() * 4) as u32
    }

    /// The dwords.
    pub fn words(&self) -> &[u32] {
        &self.words
    }

    /// The dwords, to be changed.
    pub fn words_mut(&mut self) -> &mut [u32] {
        &mut self.words
    }
}

impl Words for Lds {
    #[inline(always)]
    fn get(&self, at: usize) -> u32 {
        self.words.get(at).copied().unwrap_or(0)
    }

    #[inline(always)]
    fn set(&mut self, at: usize, value: u32) {
        if let Some(word) = self.words.get_mut(at) {
            *word = value;
        }
    }

    #[inline]
    fn merge(&mut self, at: usize, mask: u32, bits: u32) {
        self.update(at, |old| old & !mask | bits & mask);
    }

    #[inline]
    fn update(&mut self, at: usize, f: impl Fn(u32) -> u32) -> u32 {
        let old = self.get(at);
        self.set(at, f(old));
        old
    }

    #[inline]
    fn update_pair(&mut self, at: usize, f: impl Fn(u64) -> u64) -> u64 {
        let old = u64::from(self.get(at + 1)) << 32 | u64::from(self.get(at));
        let new = f(old);
        self.set(at, new as u32);
        self.set(at + 1, (new >> 32) as u32);
        old
    }
}
