//! What atomics compute: memory's new value from the old one and the data.

use super::mem::{Place, Returns};
use crate::exec::Round;
use crate::exec::float::{BF16_FORMAT, F16_FORMAT, F32_FORMAT, F64_FORMAT, Format, max_num, min_num};

/// Makes memory's new value from the old one and up to two pieces of data.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Atomic {
    B32(fn(u32, u32, u32) -> u32),
    B64(fn(u64, u64, u64) -> u64),
    /// Addition of 32-bit floats, whose denormals may be flushed.
    AddF32,
}

impl Atomic {
    /// Dwords of memory.
    pub(crate) const fn dwords(self) -> usize {
        match self {
            Atomic::B64(_) => 2,
            _ => 1,
        }
    }
}

/// Operations of one data type, by the names of the data share.
struct Line(&'static str, &'static str, Atomic);

/// The sizes differ in the type of the numbers alone: the first is unsigned, the second signed.
macro_rules! integers {
    ($kind:ident, $u:ty, $i:ty, $un:literal, $in:literal, $bn:literal) => {
        [
            Line("ADD", $un, Atomic::$kind(|old, a, _| old.wrapping_add(a))),
            Line("SUB", $un, Atomic::$kind(|old, a, _| old.wrapping_sub(a))),
            Line("RSUB", $un, Atomic::$kind(|old, a, _| a.wrapping_sub(old))),
            Line("INC", $un, Atomic::$kind(|old, a, _| if old >= a { 0 } else { old + 1 })),
            Line("DEC", $un, Atomic::$kind(|old, a, _| if old == 0 || old > a { a } else { old - 1 })),
            Line("MIN", $un, Atomic::$kind(|old, a, _| old.min(a))),
            Line("MAX", $un, Atomic::$kind(|old, a, _| old.max(a))),
            Line("MIN", $in, Atomic::$kind(|old, a, _| (old as $i).min(a as $i) as $u)),
            Line("MAX", $in, Atomic::$kind(|old, a, _| (old as $i).max(a as $i) as $u)),
            Line("AND", $bn, Atomic::$kind(|old, a, _| old & a)),
            Line("OR", $bn, Atomic::$kind(|old, a, _| old | a)),
            Line("XOR", $bn, Atomic::$kind(|old, a, _| old ^ a)),
            Line("MSKOR", $bn, Atomic::$kind(|old, a, b| old & !a | b)),
            Line("SWAP", $bn, Atomic::$kind(|_, a, _| a)),
            Line("WRXCHG", $bn, Atomic::$kind(|_, a, _| a)),
            Line("STOREXCHG", $bn, Atomic::$kind(|_, a, _| a)),
            // The value that is stored comes first, the one that is compared second; CMPST has them the other way.
            Line("CMPSWAP", $bn, Atomic::$kind(|old, a, b| if old == b { a } else { old })),
            Line("CMPSTORE", $bn, Atomic::$kind(|old, a, b| if old == b { a } else { old })),
            Line("CMPST", $bn, Atomic::$kind(|old, a, b| if old == a { b } else { old })),
            Line("WRAP", $bn, Atomic::$kind(|old, a, b| if old >= a { old - a } else { old.wrapping_add(b) })),
            Line("COND_SUB", $un, Atomic::$kind(|old, a, _| if old >= a { old - a } else { old })),
            Line("SUB_CLAMP", $un, Atomic::$kind(|old, a, _| old.saturating_sub(a))),
            Line("CSUB", $un, Atomic::$kind(|old, a, _| old.saturating_sub(a))),
        ]
    };
}

macro_rules! floats {
    ($kind:ident, $float:ty, $name:literal) => {
        [
            Line("MIN", $name, Atomic::$kind(|old, a, _| if less::<$float>(a, old) { a } else { old })),
            Line("MAX", $name, Atomic::$kind(|old, a, _| if less::<$float>(old, a) { a } else { old })),
            Line(
                "MIN_NUM",
                $name,
                Atomic::$kind(|old, a, _| min_num(<$float>::from_bits(a), <$float>::from_bits(old)).to_bits()),
            ),
            Line(
                "MAX_NUM",
                $name,
                Atomic::$kind(|old, a, _| max_num(<$float>::from_bits(a), <$float>::from_bits(old)).to_bits()),
            ),
            Line("CMPSWAP", $name, Atomic::$kind(|old, a, b| if equal::<$float>(old, b) { a } else { old })),
            Line("CMPSTORE", $name, Atomic::$kind(|old, a, b| if equal::<$float>(old, b) { a } else { old })),
            Line("CMPST", $name, Atomic::$kind(|old, a, b| if equal::<$float>(old, a) { b } else { old })),
        ]
    };
}

static INTEGERS_32: [Line; 23] = integers!(B32, u32, i32, "U32", "I32", "B32");
static INTEGERS_64: [Line; 23] = integers!(B64, u64, i64, "U64", "I64", "B64");
static FLOATS_32: [Line; 7] = floats!(B32, f32, "F32");
static FLOATS_64: [Line; 7] = floats!(B64, f64, "F64");
static OTHERS: [Line; 6] = [
    Line("ADD", "F32", Atomic::AddF32),
    Line("ADD", "F64", Atomic::B64(|old, a, _| add_f64(old, a))),
    Line("PK_ADD", "F16", Atomic::B32(|old, a, _| add_halves(F16_FORMAT, old, a))),
    Line("PK_ADD", "BF16", Atomic::B32(|old, a, _| add_halves(BF16_FORMAT, old, a))),
    Line(
        "CONDXCHG32",
        "B64",
        Atomic::B64(|old, a, _| {
            let part = |old: u64, new: u64| if new >> 31 & 1 != 0 { new & 0x7fff_ffff } else { old & 0xffff_ffff };
            part(old >> 32, a >> 32) << 32 | part(old, a)
        }),
    ),
    // The mask that the number of the wave wraps at is state of the graphics pipeline: here it has every bit.
    Line(
        "ORDERED_ADD",
        "B64",
        Atomic::B64(|old, a, _| {
            let (number, value) = (old as u32, (old >> 32) as u32);
            if number != a as u32 {
                return old;
            }
            u64::from(value.wrapping_add((a >> 32) as u32)) << 32 | u64::from(number.wrapping_add(1))
        }),
    ),
];

trait Bits: Copy + PartialOrd {
    type Of;
    fn of(bits: Self::Of) -> Self;
}

impl Bits for f32 {
    type Of = u32;
    fn of(bits: u32) -> f32 {
        f32::from_bits(bits)
    }
}

impl Bits for f64 {
    type Of = u64;
    fn of(bits: u64) -> f64 {
        f64::from_bits(bits)
    }
}

fn less<T: Bits>(a: T::Of, b: T::Of) -> bool {
    T::of(a) < T::of(b)
}

fn equal<T: Bits>(a: T::Of, b: T::Of) -> bool {
    T::of(a) == T::of(b)
}

fn add_halves(format: Format, a: u32, b: u32) -> u32 {
    let add =
        |shift: u32| format.add(u64::from(a >> shift & 0xffff), u64::from(b >> shift & 0xffff), Round::NearestEven);
    (add(16) as u32) << 16 | add(0) as u32
}

/// Adds, to the nearest even; flushes denormals on both sides where asked to.
pub(crate) fn add_f32(flush: bool, old: u32, a: u32) -> u32 {
    let flushed = |bits: u32| {
        if flush && F32_FORMAT.is_denormal(u64::from(bits)) { bits & 0x8000_0000 } else { bits }
    };
    let (old, a) = (flushed(old), flushed(a));
    let sum = f32::from_bits(old) + f32::from_bits(a);
    if sum.is_nan() {
        return F32_FORMAT.add(u64::from(old), u64::from(a), Round::NearestEven) as u32;
    }
    flushed(sum.to_bits())
}

fn add_f64(old: u64, a: u64) -> u64 {
    let sum = f64::from_bits(old) + f64::from_bits(a);
    // Which NaN comes out is the hardware's rule, not the host's.
    if sum.is_nan() { F64_FORMAT.add(old, a, Round::NearestEven) } else { sum.to_bits() }
}

fn find(operation: &str, ty: &str) -> Option<Atomic> {
    let tables: [&[Line]; 5] = [&INTEGERS_32, &INTEGERS_64, &FLOATS_32, &FLOATS_64, &OTHERS];
    let all = tables.into_iter().flatten();
    all.into_iter().find(|line| line.0 == operation && line.1 == ty).map(|line| line.2)
}

/// An atomic on memory: what follows `ATOMIC_` in its name.
pub(super) fn memory(name: &str) -> Option<Atomic> {
    if let Some((operation, ty)) = name.rsplit_once('_')
        && let Some(atomic) = find(operation, ty)
    {
        return Some(atomic);
    }
    // The older names have the type in front and the size behind.
    let (name, wide) = name.strip_suffix("_X2").map_or((name, false), |name| (name, true));
    let (operation, letter) = match name {
        "SMIN" => ("MIN", "I"),
        "SMAX" => ("MAX", "I"),
        "UMIN" => ("MIN", "U"),
        "UMAX" => ("MAX", "U"),
        "FMIN" => ("MIN", "F"),
        "FMAX" => ("MAX", "F"),
        "FCMPSWAP" => ("CMPSWAP", "F"),
        "SWAP" | "CMPSWAP" | "AND" | "OR" | "XOR" => (name, "B"),
        "ADD" | "SUB" | "INC" | "DEC" | "CSUB" => (name, "U"),
        _ => return None,
    };
    let ty = std::format!("{letter}{}", if wide { 64 } else { 32 });
    find(operation, &ty)
}

/// An atomic on the data share: the first word of its name behind `DS_`, and the rest.
pub(super) fn data_share(verb: &str, rest: &str) -> Option<(Place, Returns, Atomic)> {
    let (mut operation, mut returns, mut place) = (std::string::String::from(verb), Returns::Never, Place::Usual);
    for (stride, suffix) in [(64, "2ST64"), (1, "2")] {
        if let Some(plain) = verb.strip_suffix(suffix).filter(|plain| *plain == "WRXCHG") {
            operation = plain.into();
            place = Place::Pair { stride };
        }
    }
    let mut ty = None;
    for word in rest.split('_') {
        match word {
            "RTN" => returns = Returns::Always,
            "SRC2" => place = Place::Second,
            "2ADDR" => place = Place::Pair { stride: 1 },
            "STRIDE64" => place = Place::Pair { stride: 64 },
            "SUB" | "CLAMP" | "NUM" | "ADD" => {
                operation.push('_');
                operation.push_str(word);
            }
            _ if ty.is_none() => ty = Some(word),
            _ => return None,
        }
    }
    Some((place, returns, find(&operation, ty?)?))
}
