//! Conversions from and to floats of 8, 6 and 4 bits, derived from their names:
//! `V_CVT_[SCALE_|SCALEF32_][SR_][PK_|PK8_|..]<to>_<from>`.

use super::shapes::three;
use super::{Exec, Traits, VectorSem};
use crate::exec::lanes::{Io, Kernels, Ty, Vector, each_lane};
use crate::exec::simd::{Base, Wide};
use crate::exec::small::{Overflow, Rounding, Small, Value, e8m0};
use crate::exec::{Execution, Mode};

/// A format, as names have it or as a generation has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
enum Kind {
    F32,
    F16,
    Bf16,
    Fp8,
    Bf8,
    Fp6,
    Bf6,
    Fp4,
    Fp8Fnuz,
    Bf8Fnuz,
    E5m3,
}

/// How many of them are no small floats.
const LARGE: usize = 3;

/// In the order of the codes; the last three have no name of their own.
const KINDS: [(&str, Kind, Small); 11] = [
    ("F32", Kind::F32, Small::F32),
    ("F16", Kind::F16, Small::F16),
    ("BF16", Kind::Bf16, Small::BF16),
    ("FP8", Kind::Fp8, Small::FP8),
    ("BF8", Kind::Bf8, Small::BF8),
    ("FP6", Kind::Fp6, Small::FP6),
    ("BF6", Kind::Bf6, Small::BF6),
    ("FP4", Kind::Fp4, Small::FP4),
    ("", Kind::Fp8Fnuz, Small::FP8_FNUZ),
    ("", Kind::Bf8Fnuz, Small::BF8_FNUZ),
    ("", Kind::E5m3, Small::E5M3),
];

impl Kind {
    const fn format(self) -> Small {
        KINDS[self as usize].2
    }

    const fn bits(self) -> u32 {
        self.format().width()
    }
}

/// Where a scale comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
enum Scale {
    None,
    /// The exponent of a 32-bit float in each lane.
    Exponent,
    /// Bytes that lanes share; `OPSEL` says which.
    Bytes,
}

/// A conversion.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Convert {
    to: Kind,
    from: Kind,
    /// Numbers in each lane.
    count: u8,
    /// Numbers come from two sources in turn.
    pairs: bool,
    scale: Scale,
    stochastic: bool,
    /// Infinity becomes NaN where overflow is clamped.
    infinity_is_nan: bool,
}

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

const SCALES: [(&str, Scale); 2] = [("SCALEF32_", Scale::Exponent), ("SCALE_", Scale::Bytes)];
const COUNTS: [(&str, u8, bool); 5] =
    [("PK_", 2, false), ("PK8_", 8, false), ("PK16_", 16, false), ("PK32_", 32, false), ("2XPK16_", 32, true)];

/// The conversion of a name; none where it is not one of these.
pub(super) const fn parse(name: &str) -> Option<Convert> {
    let name = name.as_bytes();
    if !stands(name, 0, b"V_CVT_") {
        return None;
    }
    let mut at = 6;
    let mut convert = Convert {
        to: Kind::F32,
        from: Kind::F32,
        count: 1,
        pairs: false,
        scale: Scale::None,
        stochastic: false,
        infinity_is_nan: false,
    };
    let mut i = 0;
    while i < SCALES.len() {
        if stands(name, at, SCALES[i].0.as_bytes()) {
            at += SCALES[i].0.len();
            convert.scale = SCALES[i].1;
        }
        i += 1;
    }
    if stands(name, at, b"SR_") {
        at += 3;
        convert.stochastic = true;
    }
    let mut i = 0;
    while i < COUNTS.len() {
        if stands(name, at, COUNTS[i].0.as_bytes()) {
            at += COUNTS[i].0.len();
            (convert.count, convert.pairs) = (COUNTS[i].1, COUNTS[i].2);
        }
        i += 1;
    }
    let mut to = 0;
    while to < 8 {
        let behind = at + KINDS[to].0.len();
        if stands(name, at, KINDS[to].0.as_bytes()) && stands(name, behind, b"_") {
            let mut from = 0;
            while from < 8 {
                let text = KINDS[from].0.as_bytes();
                if name.len() == behind + 1 + text.len() && stands(name, behind + 1, text) {
                    (convert.to, convert.from) = (KINDS[to].1, KINDS[from].1);
                    // Those between larger formats are in the table of conversions.
                    return if to < LARGE && from < LARGE { None } else { Some(convert) };
                }
                from += 1;
            }
        }
        to += 1;
    }
    None
}

impl Convert {
    pub(super) const fn exec(self) -> Exec {
        Exec::Convert(self)
    }

    /// Whether operands have more registers than a vector kernel takes.
    pub(crate) const fn is_wide(self) -> bool {
        self.count > 2
    }

    /// Registers of a source of a wide conversion that holds numbers; none of the others.
    pub(crate) fn source_registers(self, source: usize) -> Option<u8> {
        let numbers = if self.pairs { self.count / 2 } else { self.count };
        (source <= usize::from(self.pairs)).then_some((u32::from(numbers) * self.from.bits()).div_ceil(32) as u8)
    }

    /// Registers of a wide conversion's result.
    pub(crate) fn result_registers(self) -> u8 {
        (u32::from(self.count) * self.to.bits()).div_ceil(32) as u8
    }

    /// Type of a wide conversion's source that does not hold numbers.
    pub(crate) fn side_type(self, source: usize) -> Option<Ty> {
        let sides = 1 + usize::from(self.pairs);
        let all = sides + usize::from(self.stochastic) + usize::from(self.scale != Scale::None);
        let last = source + 1 == all && self.scale != Scale::None;
        (source < all).then_some(if last && self.scale == Scale::Bytes { Ty::Scales } else { Ty::U32 })
    }

    /// The conversion with the formats that a generation has.
    pub(crate) fn on(self, facts: Execution, clamp: bool) -> Convert {
        let kind = |kind| match kind {
            Kind::Fp8 if facts.fnuz => Kind::Fp8Fnuz,
            Kind::Bf8 if facts.fnuz => Kind::Bf8Fnuz,
            // Clamping chooses the format of block scales.
            Kind::Fp8 if facts.clamp_is_e5m3 && clamp && self.scale == Scale::None => Kind::E5m3,
            kind => kind,
        };
        let infinity_is_nan = facts.scaled_infinity_is_nan && self.scale != Scale::None;
        Convert { to: kind(self.to), from: kind(self.from), infinity_is_nan, ..self }
    }

    /// A conversion that is not wide as a vector instruction.
    pub(crate) fn vector(self) -> VectorSem {
        let single = match self.from {
            Kind::F32 => Ty::F32,
            Kind::F16 => Ty::F16,
            Kind::Bf16 => Ty::B16,
            _ => Ty::U8,
        };
        let seed = if self.stochastic { Ty::U32 } else { Ty::None };
        let scale = if self.scale == Scale::None { Ty::None } else { Ty::U32 };
        let numbers = match (self.count, self.from) {
            (1, _) => [single, Ty::None],
            (_, Kind::F32) if self.stochastic && self.scale != Scale::None => [Ty::PkF32, Ty::None],
            (_, Kind::F32) => [Ty::F32, Ty::F32],
            (_, Kind::F16 | Kind::Bf16) => [Ty::Halves, Ty::None],
            (_, Kind::Fp4) => [Ty::U8, Ty::None],
            _ => [Ty::U16, Ty::None],
        };
        let mut sources = three::<0>([]);
        let all = [numbers[0], numbers[1], seed, scale];
        for (place, ty) in sources.iter_mut().zip(all.into_iter().filter(|ty| *ty != Ty::None)) {
            *place = ty;
        }
        let dst = match u32::from(self.count) * self.to.bits() {
            8 => Ty::U8,
            16 => Ty::U16,
            64 => Ty::Pk32,
            _ if self.count == 1 && self.scale == Scale::None => Ty::F32,
            _ => Ty::U32,
        };
        VectorSem {
            kernels: Kernels { base: kernel, wide: |_: Wide, a, b, c, io| kernel(Base, a, b, c, io) },
            clamp: None,
            soft: None,
            sources,
            dst,
            extra: self.pack(),
            traits: Traits { keeps_high: true, ..Traits::NONE },
        }
    }

    /// What a kernel must know, in its constant.
    const fn pack(self) -> u32 {
        self.to as u32
            | (self.from as u32) << 4
            | (self.count as u32) << 8
            | (self.scale as u32) << 16
            | (self.stochastic as u32) << 18
            | (self.infinity_is_nan as u32) << 19
    }

    const fn unpack(bits: u32) -> Convert {
        Convert {
            to: KINDS[bits as usize & 15].1,
            from: KINDS[bits as usize >> 4 & 15].1,
            count: (bits >> 8) as u8,
            pairs: false,
            scale: if bits >> 16 & 3 == 0 { Scale::None } else { Scale::Exponent },
            stochastic: bits >> 18 & 1 != 0,
            infinity_is_nan: bits >> 19 & 1 != 0,
        }
    }

    fn overflow(self, mode: Mode) -> Overflow {
        match self.to {
            _ if !mode.fp16_ovfl() => Overflow::Special,
            Kind::F32 => Overflow::Special,
            Kind::F16 | Kind::Bf16 => Overflow::Clamp,
            _ => Overflow::ClampAll,
        }
    }

    /// One number. A scale that is none is NaN.
    fn one(self, bits: u32, scale: Option<i32>, seed: Option<u32>, overflow: Overflow) -> u32 {
        let (from, to) = (self.from.format(), self.to.format());
        let value = match (from.decode(bits), scale) {
            (value, None) => Value::Nan { negative: value.is_negative(), payload: 0 },
            (Value::Infinite { negative }, _) if self.infinity_is_nan && overflow == Overflow::ClampAll => {
                Value::Nan { negative, payload: 0 }
            }
            // Small numbers are multiplied by their scale, numbers that are to be small divided.
            (value, Some(scale)) => value.scaled(if from.width() < to.width() { scale } else { -scale }),
        };
        let rounding = seed.map_or(Rounding::NEAREST, |seed| Rounding::stochastic(seed, from, to));
        to.encode(value, rounding, overflow)
    }
}

/// The exponent that stands for a scale: bits 30 to 23, read as E8M0.
fn exponent(scale: u32) -> Option<i32> {
    e8m0((scale >> 23) as u8)
}

/// What a random number is followed by: `V_PRNG_B32`.
pub(super) const fn prng(seed: u32) -> u32 {
    seed << 1 ^ if seed >> 31 != 0 { 0xc5 } else { 0 }
}

/// The seeds of a lane's numbers.
struct Seeds {
    seed: u32,
    /// Each half serves one number, for the bits just below the last kept one.
    halves: bool,
    high: bool,
}

impl Seeds {
    fn new(convert: Convert, seed: u32) -> Seeds {
        Seeds { seed, halves: matches!(convert.count, 8 | 16), high: false }
    }

    fn next(&mut self) -> u32 {
        let now = match (self.halves, self.high) {
            (false, _) => self.seed,
            (true, false) => self.seed << 16,
            (true, true) => self.seed & 0xffff_0000,
        };
        if !self.halves || self.high {
            self.seed = prng(self.seed);
        }
        self.high = !self.high;
        now
    }
}

/// One or two numbers of each lane.
fn kernel(_: Base, a: &[Vector], b: &[Vector], c: &[Vector], io: &mut Io) {
    let convert = Convert::unpack(io.extra);
    let overflow = convert.overflow(io.mode);
    let (from, to) = (convert.from.bits(), convert.to.bits());
    let two = convert.count == 2;
    // Two 32-bit floats are two sources, but where a seed and a scale need the others.
    let apart = two && from == 32 && !(convert.stochastic && convert.scale != Scale::None);
    let sides = if apart { [c, c] } else { [b, c] };
    let (seeds, scales) = (&sides[0], &sides[usize::from(convert.stochastic && !apart)]);
    each_lane(io.lanes, |lane| {
        let scale = if convert.scale == Scale::None { Some(0) } else { exponent(scales[0][lane]) };
        let mut seeds = convert.stochastic.then(|| Seeds::new(convert, seeds[0][lane]));
        let mut result = 0u64;
        for at in 0..u32::from(convert.count) {
            let bits = match at {
                0 => a[0][lane],
                _ if apart => b[0][lane],
                _ if from == 32 => a[1][lane],
                _ => a[0][lane] >> from,
            };
            let code = convert.one(bits, scale, seeds.as_mut().map(Seeds::next), overflow);
            result |= u64::from(code) << (at * to);
        }
        io.out[0][lane] = result as u32;
        if to == 32 && two {
            io.out[1][lane] = (result >> 32) as u32;
        }
    });
}

/// Number `at` of a lane in registers that hold them side by side.
fn number(rows: &[Vector], lane: usize, at: u32, bits: u32) -> u32 {
    let (row, shift) = ((at * bits / 32) as usize, at * bits % 32);
    let low = u64::from(rows[row][lane]);
    let high = if shift + bits > 32 { u64::from(rows[row + 1][lane]) } else { 0 };
    ((high << 32 | low) >> shift) as u32
}

/// Which lane a lane's scale comes from, and which byte of it. With blocks of 32 numbers both halves of a row of 8-bit
/// numbers have one scale; in all other cases they have their own.
///
/// `OPSEL`, from bit 0: the byte of the lower half (two bits for 8-bit numbers), the half of the wave that has the
/// scales, blocks of 16. The manual's table numbers bits from the left.
fn scale_place(bits: u32, op_sel: u8, lane: usize) -> (usize, u32) {
    let upper = lane as u32 >> 4 & 1;
    let bit = |at: u8| u32::from(op_sel >> at & 1);
    let (half, byte) = match (bits, bit(if bits == 8 { 3 } else { 2 })) {
        (8, 0) => (bit(2), u32::from(op_sel & 3)),
        (8, _) => (bit(1), 2 * bit(1) + upper),
        (_, 0) => (bit(1), 2 * bit(0) + upper),
        _ => (bit(1), bit(0) + 2 * upper),
    };
    (lane & !31 | (16 * half as usize) | lane & 15, byte)
}

/// Runs a wide conversion: numbers of one or two sources, and the seed and scale of each lane.
pub(crate) fn wide(
    convert: Convert,
    numbers: [&[Vector]; 2],
    sides: [&Vector; 2],
    op_sel: u8,
    mode: Mode,
    out: &mut [Vector; 32],
    lanes: usize,
) {
    let overflow = convert.overflow(mode);
    let (from, to) = (convert.from.bits(), convert.to.bits());
    let flush = from == 32 && mode.denorm_f32().flush_in;
    let [seeds, scales] = if convert.stochastic { sides } else { [sides[1], sides[0]] };
    for lane in 0..lanes {
        let scale = match convert.scale {
            Scale::None => Some(0),
            Scale::Exponent => exponent(scales[lane]),
            Scale::Bytes => {
                let (lane, byte) = scale_place(from, op_sel, lane);
                e8m0((scales[lane] >> (8 * byte)) as u8)
            }
        };
        let mut seeds = convert.stochastic.then(|| Seeds::new(convert, seeds[lane]));
        for at in 0..u32::from(convert.count) {
            let bits = match convert.pairs {
                true => number(numbers[at as usize & 1], lane, at >> 1, from),
                false => number(numbers[0], lane, at, from),
            };
            let bits = if flush && bits & 0x7f80_0000 == 0 { bits & 0x8000_0000 } else { bits };
            let code = convert.one(bits, scale, seeds.as_mut().map(Seeds::next), overflow);
            let (row, shift) = ((at * to / 32) as usize, at * to % 32);
            let placed = u64::from(code) << shift;
            out[row][lane] |= placed as u32;
            if shift + to > 32 {
                out[row + 1][lane] |= (placed >> 32) as u32;
            }
        }
    }
}
