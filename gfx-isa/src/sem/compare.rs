//! Comparisons, derived from their names: `V_CMP_<condition>_<type>` and `V_CMPX_..`.

use core::cmp::Ordering;

use super::shapes::three;
use super::{Exec, Traits, VectorSem};
use crate::exec::float::{Float, Format};
use crate::exec::lanes::{F16, Kernels, Ty};

/// Outcomes that make a condition true, and all of them.
const LT: u32 = 1;
const EQ: u32 = 2;
const GT: u32 = 4;
const UNORDERED: u32 = 8;

/// A comparison.
#[derive(Debug, Clone, Copy)]
pub(super) struct Compare {
    ty: Ty,
    /// The outcomes that make it true; none: a test of the class.
    outcomes: Option<u32>,
}

const CONDITIONS: [(&str, u32); 18] = [
    ("F", 0),
    ("LT", LT),
    ("EQ", EQ),
    ("LE", LT | EQ),
    ("GT", GT),
    ("LG", LT | GT),
    ("NE", LT | GT),
    ("GE", GT | EQ),
    ("O", LT | EQ | GT),
    ("U", UNORDERED),
    ("NGE", UNORDERED | LT),
    ("NLG", UNORDERED | EQ),
    ("NGT", UNORDERED | LT | EQ),
    ("NLE", UNORDERED | GT),
    ("NEQ", UNORDERED | LT | GT),
    ("NLT", UNORDERED | EQ | GT),
    ("TRU", UNORDERED | LT | EQ | GT),
    ("T", UNORDERED | LT | EQ | GT),
];

const TYPES: [(&str, Ty); 9] = [
    ("F16", Ty::F16),
    ("F32", Ty::F32),
    ("F64", Ty::F64),
    ("I16", Ty::I16),
    ("I32", Ty::I32),
    ("I64", Ty::I64),
    ("U16", Ty::U16),
    ("U32", Ty::U32),
    ("U64", Ty::U64),
];

/// Whether `part` stands in `name` from `at` on.
const fn stands(name: &[u8], at: usize, part: &[u8]) -> bool {
    if name.len() < at + part.len() {
        return false;
    }
    let mut i = 0;
    while i < part.len() {
        if name[at + i] != part[i] {
            return false;
        }
        i += 1;
    }
    true
}

/// The comparison of a name; none where it is not one.
pub(super) const fn parse(name: &str) -> Option<Compare> {
    let name = name.as_bytes();
    let at = if stands(name, 0, b"V_CMP_") {
        6
    } else if stands(name, 0, b"V_CMPX_") {
        7
    } else {
        return None;
    };
    if name.len() < at + 4 {
        return None;
    }
    let end = name.len() - 4;
    let mut t = 0;
    while t < TYPES.len() {
        if name[end] == b'_' && stands(name, end + 1, TYPES[t].0.as_bytes()) {
            let ty = TYPES[t].1;
            if end - at == 5 && stands(name, at, b"CLASS") {
                return Some(Compare { ty, outcomes: None });
            }
            let mut c = 0;
            while c < CONDITIONS.len() {
                let condition = CONDITIONS[c].0.as_bytes();
                if condition.len() == end - at && stands(name, at, condition) {
                    return Some(Compare { ty, outcomes: Some(CONDITIONS[c].1) });
                }
                c += 1;
            }
        }
        t += 1;
    }
    None
}

#[inline(always)]
fn outcome<T: PartialOrd>(a: T, b: T, outcomes: u32) -> bool {
    let found = match a.partial_cmp(&b) {
        Some(Ordering::Less) => LT,
        Some(Ordering::Equal) => EQ,
        Some(Ordering::Greater) => GT,
        None => UNORDERED,
    };
    outcomes & found != 0
}

impl PartialOrd for F16 {
    #[inline(always)]
    fn partial_cmp(&self, other: &F16) -> Option<Ordering> {
        F16::FORMAT.compare(self.bits(), other.bits())
    }
}

/// Which of the ten classes a float is in, one bit each.
#[inline(always)]
fn class(f: Format, bits: u64) -> u32 {
    let negative = f.is_negative(bits);
    let pick = |minus: u32, plus: u32| 1 << if negative { minus } else { plus };
    if f.is_signalling(bits) {
        1
    } else if f.is_nan(bits) {
        2
    } else if f.is_infinite(bits) {
        pick(2, 9)
    } else if f.is_zero(bits) {
        pick(5, 6)
    } else if f.is_denormal(bits) {
        pick(4, 7)
    } else {
        pick(3, 8)
    }
}

#[inline(always)]
fn in_class<T: Float>(a: T, classes: u32) -> bool {
    class(T::FORMAT, a.bits()) & classes != 0
}

impl Compare {
    /// What executes it.
    pub(super) fn exec(self) -> Exec {
        let Compare { ty, outcomes } = self;
        let kernels: Kernels = match (ty, outcomes) {
            (Ty::F16, None) => narrow!(test::<F16, u16>(io, |a, classes, _| in_class(a, classes.into()))),
            (Ty::F64, None) => narrow!(test::<f64, u32>(io, |a, classes, _| in_class(a, classes))),
            (_, None) => narrow!(test::<f32, u32>(io, |a, classes, _| in_class(a, classes))),
            (Ty::F16, _) => narrow!(test::<F16, F16>(io, outcome)),
            (Ty::F32, _) => kernels!(test::<f32, f32>(io, outcome)),
            (Ty::F64, _) => narrow!(test::<f64, f64>(io, outcome)),
            (Ty::I16, _) => narrow!(test::<i16, i16>(io, outcome)),
            (Ty::I32, _) => kernels!(test::<i32, i32>(io, outcome)),
            (Ty::I64, _) => narrow!(test::<i64, i64>(io, outcome)),
            (Ty::U16, _) => narrow!(test::<u16, u16>(io, outcome)),
            (Ty::U64, _) => narrow!(test::<u64, u64>(io, outcome)),
            _ => kernels!(test::<u32, u32>(io, outcome)),
        };
        let second = match (ty, outcomes) {
            (_, Some(_)) => ty,
            (Ty::F16, None) => Ty::U16,
            (_, None) => Ty::U32,
        };
        Exec::Vector(VectorSem {
            kernels,
            clamp: None,
            soft: None,
            sources: three([ty, second]),
            dst: Ty::None,
            extra: outcomes.unwrap_or(0),
            traits: Traits::NONE,
        })
    }
}
