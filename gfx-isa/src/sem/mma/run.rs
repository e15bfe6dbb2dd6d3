//! Runs jobs: gather, multiply, scatter.

use std::boxed::Box;
use std::vec;
use std::vec::Vec;

use super::dot::{self, EMPTY, Factor, Kind, Narrow, Split};
use super::elements::{small, values};
use super::rows::{self, Parts, Product};
use super::{Accumulator, Arithmetic, Job, Place, Run, Scale};
use crate::exec::float::{F16_FORMAT, F32_FORMAT};
use crate::exec::lanes::Vector;
use crate::exec::simd::{Base, Level, Wide};
use crate::exec::{Round, Wave};
use crate::matrix::{Format, Matrix};

/// Room for operands, kept from one instruction to the next.
#[derive(Debug, Clone)]
pub(crate) struct Scratch {
    /// Bits of A, B, C and the result, by block, k or row, and lane.
    a: Vec<u32>,
    b: Vec<u32>,
    c: Vec<u32>,
    d: Vec<u32>,
    /// The row of B that a value of a sparse A meets.
    meets: Vec<u16>,
    floats: [Vec<f32>; 3],
    /// Significands, exponents and signs.
    parts: [[Vec<i32>; 3]; 2],
    scales: [Vec<f32>; 2],
}

impl Scratch {
    fn new() -> Scratch {
        Scratch {
            a: Vec::new(),
            b: Vec::new(),
            c: Vec::new(),
            d: Vec::new(),
            meets: Vec::new(),
            floats: [const { Vec::new() }; 3],
            parts: [const { [const { Vec::new() }; 3] }; 2],
            scales: [const { Vec::new() }; 2],
        }
    }
}

/// Sizes of an operation.
#[derive(Debug, Clone, Copy)]
struct Sizes {
    m: usize,
    n: usize,
    k: usize,
    kept: usize,
    blocks: usize,
}

impl Job {
    /// Executes the instruction.
    pub(crate) fn run(&self, wave: &mut Wave) {
        let mut scratch = wave.matrix.take().unwrap_or_else(|| Box::new(Scratch::new()));
        let shape = self.op.shape();
        let sizes = Sizes {
            m: shape.m as usize,
            n: shape.n as usize,
            k: shape.k as usize,
            kept: if self.op.is_sparse() { shape.k / 2 } else { shape.k } as usize,
            blocks: shape.blocks as usize,
        };
        match (self.arithmetic, Wide::detect()) {
            (Arithmetic::Chain64, Some(level)) => level.run(|| self.doubles(sizes, wave)),
            (Arithmetic::Chain64, None) => Base.run(|| self.doubles(sizes, wave)),
            (_, Some(level)) => level.run(|| self.singles(sizes, wave, &mut scratch)),
            (_, None) => Base.run(|| self.singles(sizes, wave, &mut scratch)),
        }
        wave.matrix = Some(scratch);
    }

    fn format(&self, matrix: Matrix) -> Format {
        self.op.format(matrix).unwrap_or(Format::F32)
    }

    #[inline(always)]
    fn singles(&self, sizes: Sizes, wave: &mut Wave, scratch: &mut Scratch) {
        self.gather(sizes, wave, scratch);
        match sizes.n {
            4 => self.multiply::<4>(sizes, wave, scratch),
            16 => self.multiply::<16>(sizes, wave, scratch),
            _ => self.multiply::<32>(sizes, wave, scratch),
        }
        scatter(&self.d, wave, &scratch.d);
    }

    /// Brings the bits of the operands together.
    #[inline(always)]
    fn gather(&self, sizes: Sizes, wave: &Wave, scratch: &mut Scratch) {
        let Scratch { a, b, c, meets, .. } = scratch;
        let from = |at: usize| self.lanes.as_ref().map(|lanes| &lanes[at]);
        gather(&self.a, wave, from(0), a);
        gather(&self.b, wave, from(1), b);
        for (place, bits, at) in [(&self.a, a, 0), (&self.b, b, 1)] {
            if self.signs.even[at] || self.signs.odd[at] {
                negate(place, bits, self.signs.even[at], self.signs.odd[at]);
            }
        }
        match &self.c {
            Accumulator::Registers(place) => gather(place, wave, None, c),
            Accumulator::Constant(bits) => {
                c.clear();
                c.resize(sizes.blocks * sizes.m * sizes.n, *bits as u32);
            }
        }
        if (self.signs.abs || self.signs.neg) && !self.format(Matrix::C).is_integer() {
            let sign = 1u32 << (self.format(Matrix::C).bits() - 1);
            let (clear, flip) = (if self.signs.abs { sign } else { 0 }, if self.signs.neg { sign } else { 0 });
            for bits in c.iter_mut() {
                *bits = *bits & !clear ^ flip;
            }
        }
        if let Some(index) = &self.index {
            let mut bits = Vec::new();
            gather(index, wave, None, &mut bits);
            meets.clear();
            meets.extend(bits.iter().enumerate().map(|(at, index)| {
                let k = at / sizes.m;
                (k / 2 * 4) as u16 + *index as u16
            }));
        }
    }

    #[inline(always)]
    fn multiply<const N: usize>(&self, sizes: Sizes, wave: &Wave, scratch: &mut Scratch) {
        let ovfl = wave.mode().fp16_ovfl();
        match self.arithmetic {
            Arithmetic::Integer { clamp } => {
                let clamp = clamp || (ovfl && self.overflow);
                self.integers::<N>(sizes, clamp, scratch);
            }
            Arithmetic::Chain { .. } | Arithmetic::Pairwise { .. } | Arithmetic::Scaled { .. } => {
                self.chains::<N>(sizes, wave, scratch);
                self.finish(sizes, ovfl, scratch);
            }
            _ => match self.format(Matrix::D) {
                Format::F32 => {
                    self.fused::<N>(sizes, scratch);
                    self.finish(sizes, ovfl, scratch);
                }
                // The accumulator is rounded after each step.
                Format::F16 => self.narrow(sizes, Narrow::F16 { clamp: ovfl }, scratch),
                _ => self.narrow(sizes, Narrow::Bf16, scratch),
            },
        }
    }

    #[inline(always)]
    fn integers<const N: usize>(&self, sizes: Sizes, clamp: bool, scratch: &mut Scratch) {
        let Scratch { a, b, c, d, meets, parts: [[ints_a, ..], [ints_b, ..]], .. } = scratch;
        for (matrix, bits, ints, signed) in
            [(Matrix::A, &*a, &mut *ints_a, self.signs.signed[0]), (Matrix::B, &*b, &mut *ints_b, self.signs.signed[1])]
        {
            let unused = 32 - self.format(matrix).bits();
            ints.clear();
            ints.extend(bits.iter().map(|&bits| {
                if signed { (bits << unused) as i32 >> unused } else { (bits << unused >> unused) as i32 }
            }));
        }
        let product = product(sizes, ints_a, ints_b, self.index.is_some().then_some(meets));
        d.clear();
        d.extend_from_slice(c);
        if clamp {
            rows::clamped::<N>(&product, d, sizes.blocks)
        } else {
            rows::integers::<N>(&product, d, sizes.blocks)
        }
    }

    #[inline(always)]
    fn chains<const N: usize>(&self, sizes: Sizes, wave: &Wave, scratch: &mut Scratch) {
        let Scratch { a, b, c, floats: [floats_a, floats_b, sums], meets, scales, .. } = scratch;
        to_floats(self.format(Matrix::A), a, floats_a);
        to_floats(self.format(Matrix::B), b, floats_b);
        to_floats(self.format(Matrix::C), c, sums);
        let flush_in = match self.arithmetic {
            Arithmetic::Chain { flushes } => flushes && wave.mode().denorm_f32().flush_in,
            _ => false,
        };
        let zero = |x: &mut f32| {
            if x.is_subnormal() {
                *x = 0.0;
            }
        };
        if flush_in {
            floats_a.iter_mut().chain(floats_b.iter_mut()).for_each(zero);
        }
        let meets = self.index.is_some().then_some(&*meets);
        match self.arithmetic {
            Arithmetic::Pairwise { group, flush: true } => {
                // Factors whose own format calls them denormal.
                let least = if self.format(Matrix::A) == Format::F16 { 1.0 / 16384.0 } else { f32::MIN_POSITIVE };
                for x in floats_a.iter_mut().chain(floats_b.iter_mut()).filter(|x| x.abs() < least) {
                    *x = 0.0;
                }
                sums.iter_mut().for_each(zero);
                let flush = |x: f32| if x.abs() < f32::MIN_POSITIVE { 0f32.copysign(x) } else { x };
                rows::pairwise::<N>(&product(sizes, floats_a, floats_b, meets), sums, sizes.blocks, group, flush);
            }
            Arithmetic::Pairwise { group, flush: false } => {
                rows::pairwise::<N>(&product(sizes, floats_a, floats_b, meets), sums, sizes.blocks, group, |x| x);
            }
            Arithmetic::Scaled { block } => {
                self.scales(sizes, block, wave, scales);
                let [of_a, of_b] = scales;
                rows::scaled::<N>(&product(sizes, floats_a, floats_b, meets), [of_a, of_b], sums, block);
            }
            _ => rows::chain::<N>(&product(sizes, floats_a, floats_b, meets), sums, sizes.blocks),
        }
    }

    /// Scales as floats, by block of k and row or column.
    fn scales(&self, sizes: Sizes, block: usize, wave: &Wave, scales: &mut [Vec<f32>; 2]) {
        let count = sizes.k / block;
        for (at, (scales, outer)) in scales.iter_mut().zip([sizes.m, sizes.n]).enumerate() {
            scales.clear();
            let Some((source, format)) = self.scales.as_ref().map(|scales| &scales[at]) else {
                scales.resize(count * outer, 1.0);
                continue;
            };
            let Some(values) = values(*format) else { continue };
            let value = |bits: u32| values[bits as usize & 0xff];
            match source {
                Scale::Registers(place) => {
                    let mut bits = Vec::new();
                    gather(place, wave, None, &mut bits);
                    scales.extend(bits.iter().map(|&bits| value(bits)));
                }
                Scale::Scalar(source, byte) => {
                    scales.resize(count * outer, value((wave.scalar(*source, 1) >> (8 * byte)) as u32));
                }
                Scale::Constant(byte) => scales.resize(count * outer, value(*byte)),
            }
        }
    }

    /// 32-bit results of the aligned sums: rows first, then again by the scalar rule what they do not cover.
    #[inline(always)]
    fn fused<const N: usize>(&self, sizes: Sizes, scratch: &mut Scratch) {
        let Scratch { a, b, c, floats: [_, _, sums], meets, parts, .. } = scratch;
        let [Some(split_a), Some(split_b)] = [Matrix::A, Matrix::B].map(|matrix| self.split(matrix)) else { return };
        let fraction = split_a.fraction + split_b.fraction;
        let [parts_a, parts_b] = parts;
        let odd_a = to_parts(split_a, self.format(Matrix::A), a, 24 - fraction, parts_a);
        let odd_b = to_parts(split_b, self.format(Matrix::B), b, 0, parts_b);
        sums.clear();
        sums.extend(c.iter().map(|&bits| f32::from_bits(bits)));
        let meets = self.index.is_some().then_some(&*meets);
        let rows = |at: usize| product(sizes, &parts_a[at], &parts_b[at], meets);
        let parts = Parts { significand: rows(0), exponent: rows(1), sign: rows(2) };
        let exact = match self.arithmetic {
            Arithmetic::Cdna3 { group, bytes } => {
                rows::cdna3::<N>(&parts, sums, sizes.blocks, group, bytes);
                odd_a.most + odd_b.most < 126
            }
            Arithmetic::Rdna4 { bytes } => rows::rdna4::<N>(&parts, sums, sizes.blocks, bytes),
            _ => rows::rdna3::<N>(&parts, sums, sizes.blocks),
        };
        let odd_c = c.iter().any(|bits| bits & 0x7f80_0000 == 0x7f80_0000);
        if !exact || odd_a.special || odd_b.special || odd_c {
            let bits = [&**a, &**b, &**c];
            self.scalar(sizes, Narrow::F32, bits, meets.map(Vec::as_slice), |at, bits| sums[at] = f32::from_bits(bits));
        }
    }

    fn split(&self, matrix: Matrix) -> Option<Split> {
        let format = self.format(matrix);
        let split = Split::of(format)?;
        let flushes = self.arithmetic == Arithmetic::Rdna3 && format == Format::Bf16;
        Some(if flushes { split.flushing() } else { split })
    }

    /// 16-bit results.
    fn narrow(&self, sizes: Sizes, to: Narrow, scratch: &mut Scratch) {
        let Scratch { a, b, c, d, meets, .. } = scratch;
        d.clear();
        d.resize(c.len(), 0);
        let meets = self.index.is_some().then_some(meets.as_slice());
        self.scalar(sizes, to, [a, b, c], meets, |at, bits| d[at] = bits);
    }

    /// Each result by the scalar rule.
    #[inline(never)]
    fn scalar(
        &self,
        sizes: Sizes,
        to: Narrow,
        [a, b, c]: [&[u32]; 3],
        meets: Option<&[u16]>,
        mut put: impl FnMut(usize, u32),
    ) {
        let [Some(split_a), Some(split_b)] = [Matrix::A, Matrix::B].map(|matrix| self.split(matrix)) else { return };
        let fraction = split_a.fraction + split_b.fraction;
        let Sizes { m, n, k, kept, blocks } = sizes;
        let (step, bytes) = match self.arithmetic {
            Arithmetic::Cdna3 { group, bytes } => (group, bytes),
            Arithmetic::Rdna4 { bytes } => (4, bytes),
            _ => (2, false),
        };
        const NONE: Factor = Factor { negative: false, significand: 0, exponent: 0, kind: Kind::Finite };
        for (at, &c) in c.iter().enumerate().take(blocks * m * n) {
            let (block, row, column) = (at / n / m, at / n % m, at % n);
            let mut acc = c;
            for first in (0..kept).step_by(step) {
                let (mut left, mut right) = ([NONE; 16], [NONE; 16]);
                for (k_of_step, (left, right)) in left.iter_mut().zip(&mut right).enumerate().take(step) {
                    let of_a = first + k_of_step;
                    let of_b = meets.map_or(of_a, |meets| usize::from(meets[of_a * m + row]));
                    *left = split_a.factor(a[(block * kept + of_a) * m + row]);
                    *right = split_b.factor(b[(block * k + of_b) * n + column]);
                }
                let (left, right) = (&left[..step], &right[..step]);
                acc = match self.arithmetic {
                    Arithmetic::Cdna3 { .. } => dot::cdna3(left, right, fraction, bytes, acc),
                    Arithmetic::Rdna4 { .. } => dot::rdna4(left, right, fraction, bytes, to.widen(acc), to),
                    _ => dot::rdna3(left, right, fraction, to.widen(acc), to),
                };
            }
            put(at, acc);
        }
    }

    /// From 32-bit sums to results.
    #[inline(always)]
    fn finish(&self, sizes: Sizes, ovfl: bool, scratch: &mut Scratch) {
        let Scratch { a, b, c, d, floats: [_, _, sums], meets, .. } = scratch;
        let own_nan = matches!(self.arithmetic, Arithmetic::Rdna3 | Arithmetic::Rdna4 { .. });
        d.clear();
        // The CPU's choice of NaN is not the GPU's.
        d.extend(sums.iter().map(|x| if x.is_nan() && !own_nan { 0x7fc0_0000 } else { x.to_bits() }));
        let format = self.format(Matrix::D);
        match format {
            Format::F16 => {
                for bits in d.iter_mut() {
                    *bits = F32_FORMAT.convert(u64::from(*bits), F16_FORMAT, Round::NearestEven) as u32;
                }
            }
            Format::Bf16 => {
                for bits in d.iter_mut() {
                    let nan = *bits & 0x7fff_ffff > 0x7f80_0000;
                    *bits = if nan { *bits >> 16 } else { (*bits + 0x7fff + (*bits >> 16 & 1)) >> 16 };
                }
            }
            _ => {}
        }
        let counts = match self.arithmetic {
            Arithmetic::Rdna3 | Arithmetic::Rdna4 { .. } => false,
            _ => self.overflow && (self.op.lanes() == 64 || format != Format::F32),
        };
        if ovfl && counts {
            let meets = self.index.is_some().then_some(meets.as_slice());
            self.clamp(sizes, [a, b, c], meets, d);
        }
    }

    /// Makes infinities that no operand had the largest numbers.
    #[inline(never)]
    fn clamp(&self, sizes: Sizes, [a, b, c]: [&[u32]; 3], meets: Option<&[u16]>, d: &mut [u32]) {
        let Sizes { m, n, k, kept, .. } = sizes;
        let infinity = match self.format(Matrix::D) {
            Format::F16 => 0x7c00,
            Format::Bf16 => 0x7f80,
            _ => 0x7f80_0000,
        };
        let sign = if infinity > 0xffff { 1 << 31 } else { 1 << 15 };
        let mut value = Vec::new();
        let mut infinite = |format: Format, bits: u32| {
            to_floats(format, &[bits], &mut value);
            value[0].is_infinite()
        };
        for (at, bits) in d.iter_mut().enumerate().filter(|(_, bits)| **bits & !sign == infinity) {
            let (block, row, column) = (at / n / m, at / n % m, at % n);
            let mut has = infinite(self.format(Matrix::C), c[at]);
            for of_a in 0..kept {
                let of_b = meets.map_or(of_a, |meets| usize::from(meets[of_a * m + row]));
                has |= infinite(self.format(Matrix::A), a[(block * kept + of_a) * m + row]);
                has |= infinite(self.format(Matrix::B), b[(block * k + of_b) * n + column]);
            }
            if !has {
                *bits -= 1;
            }
        }
    }

    /// 64-bit products.
    #[inline(always)]
    fn doubles(&self, sizes: Sizes, wave: &mut Wave) {
        let a = gather64(&self.a, wave, self.signs.even[0], false);
        let b = gather64(&self.b, wave, self.signs.even[1], false);
        let mut c = match &self.c {
            Accumulator::Registers(place) => gather64(place, wave, self.signs.neg, self.signs.abs),
            Accumulator::Constant(bits) => {
                let value = f64::from_bits(*bits);
                let value = if self.signs.abs { value.abs() } else { value };
                vec![if self.signs.neg { -value } else { value }; sizes.blocks * sizes.m * sizes.n]
            }
        };
        let product = product(sizes, &a, &b, None);
        match sizes.n {
            4 => rows::chain64::<4>(&product, &mut c, sizes.blocks),
            _ => rows::chain64::<16>(&product, &mut c, sizes.blocks),
        }
        for (run, values) in self.d.runs.iter().zip(c.chunks_exact(self.d.width)) {
            for (at, value) in values.iter().enumerate() {
                let bits = if value.is_nan() { 0x7ff8_0000_0000_0000 } else { value.to_bits() };
                let (register, lane) = (usize::from(run.register), usize::from(run.lane) + at);
                wave.vector_mut(register)[lane] = bits as u32;
                wave.vector_mut(register + 1)[lane] = (bits >> 32) as u32;
            }
        }
    }
}

fn product<'a, T>(sizes: Sizes, a: &'a [T], b: &'a [T], meets: Option<&'a Vec<u16>>) -> Product<'a, T> {
    Product { a, b, meets: meets.map(Vec::as_slice), m: sizes.m, kept: sizes.kept, k: sizes.k }
}

/// The elements of a matrix, the bits of each.
#[inline(always)]
fn gather(place: &Place, wave: &Wave, from: Option<&[u8; 64]>, into: &mut Vec<u32>) {
    into.clear();
    let mask = u32::MAX >> (32 - place.bits.min(32));
    for &Run { register, bit, lane } in &place.runs {
        let (first, bit) = (usize::from(lane), u32::from(bit));
        let row: &Vector = wave.vector(register.into());
        if let Some(from) = from {
            into.extend((first..first + place.width).map(|lane| row[usize::from(from[lane])] >> bit & mask));
            continue;
        }
        let low = &row[first..first + place.width];
        if bit + place.bits > 32 {
            // 6 bits, some of them in the next register.
            let high = &wave.vector(usize::from(register) + 1)[first..first + place.width];
            into.extend(low.iter().zip(high).map(|(low, high)| (low >> bit | high << (32 - bit)) & mask));
        } else {
            into.extend(low.iter().map(|low| low >> bit & mask));
        }
    }
}

/// Flips the signs of elements in even or odd places of their registers.
fn negate(place: &Place, bits: &mut [u32], even: bool, odd: bool) {
    let sign = 1u32 << (place.bits - 1);
    for (run, bits) in place.runs.iter().zip(bits.chunks_exact_mut(place.width)) {
        let is_odd = !(u32::from(run.bit) / place.bits).is_multiple_of(2);
        if if is_odd { odd } else { even } {
            bits.iter_mut().for_each(|bits| *bits ^= sign);
        }
    }
}

fn gather64(place: &Place, wave: &Wave, negate: bool, absolute: bool) -> Vec<f64> {
    let mut values = Vec::with_capacity(place.runs.len() * place.width);
    for run in &place.runs {
        let [low, high] = [0, 1].map(|at| wave.vector(usize::from(run.register) + at));
        let first = usize::from(run.lane);
        values.extend((first..first + place.width).map(|lane| {
            let value = f64::from_bits(u64::from(high[lane]) << 32 | u64::from(low[lane]));
            let value = if absolute { value.abs() } else { value };
            if negate { -value } else { value }
        }));
    }
    values
}

/// Writes a matrix; other bits of the registers stay.
#[inline(always)]
fn scatter(place: &Place, wave: &mut Wave, values: &[u32]) {
    for (&Run { register, bit, lane }, values) in place.runs.iter().zip(values.chunks_exact(place.width)) {
        let row = &mut wave.vector_mut(register.into())[usize::from(lane)..][..place.width];
        if place.bits == 32 {
            row.copy_from_slice(values);
        } else {
            let mask = (u32::MAX >> (32 - place.bits)) << bit;
            for (old, value) in row.iter_mut().zip(values) {
                *old = *old & !mask | value << bit & mask;
            }
        }
    }
}

/// Elements as 32-bit floats, exactly.
#[inline(always)]
fn to_floats(format: Format, bits: &[u32], into: &mut Vec<f32>) {
    into.clear();
    match format {
        Format::F16 => into.extend(bits.iter().map(|&bits| {
            // The exponent's bias is put right by a product, which also makes denormals normal.
            let magnitude = f32::from_bits((bits & 0x7fff) << 13) * f32::from_bits((127 + 112) << 23);
            let special = if bits & 0x7c00 == 0x7c00 { 0x7f80_0000 } else { 0 };
            f32::from_bits(magnitude.to_bits() | special | (bits & 0x8000) << 16)
        })),
        Format::Bf16 => into.extend(bits.iter().map(|&bits| f32::from_bits(bits << 16))),
        format => match (values(format), small(format)) {
            (Some(values), _) => into.extend(bits.iter().map(|&bits| values[bits as usize & 0xff])),
            (None, Some(small)) => into.extend(bits.iter().map(|&bits| small.to_f32(bits))),
            (None, None) => into.extend(bits.iter().map(|&bits| f32::from_bits(bits))),
        },
    }
}

/// What is out of the ordinary among factors.
struct Odd {
    special: bool,
    /// The largest exponent.
    most: i32,
}

/// Factors, apart: significands shifted left, exponents, and signs as masks.
#[inline(always)]
fn to_parts(split: Split, format: Format, bits: &[u32], shift: u32, into: &mut [Vec<i32>; 3]) -> Odd {
    // A constant format makes a vector loop.
    const HALF: Option<Split> = Split::of(Format::F16);
    match (format, HALF) {
        (Format::F16, Some(split)) => parts(split, bits, shift, into),
        _ => parts(split, bits, shift, into),
    }
}

#[inline(always)]
fn parts(split: Split, bits: &[u32], shift: u32, into: &mut [Vec<i32>; 3]) -> Odd {
    let [significands, exponents, signs] = into;
    for part in [&mut *significands, &mut *exponents, &mut *signs] {
        part.resize(bits.len(), 0);
    }
    let (mut special, mut most) = (0u32, EMPTY);
    let parts = significands.iter_mut().zip(exponents.iter_mut()).zip(signs.iter_mut());
    for (&bits, ((significand, exponent), sign)) in bits.iter().zip(parts) {
        let factor = split.factor(bits);
        special |= u32::from(factor.kind != Kind::Finite);
        let empty = factor.significand == 0 || factor.kind != Kind::Finite;
        *significand = if empty { 0 } else { (factor.significand << shift) as i32 };
        *exponent = if empty { EMPTY } else { factor.exponent };
        *sign = -i32::from(factor.negative);
        most = most.max(*exponent);
    }
    Odd { special: special != 0, most }
}

#[cfg(all(test, feature = "cdna3", feature = "rdna3", feature = "rdna4"))]
mod tests {
    use super::*;
    use crate::{Decoder, Generation, Op};

    /// A job of an instruction on v0, v32 and v64.
    fn job(generation: Generation, op: Op) -> Job {
        let info = generation.instructions_of(op).next().expect("the generation has it");
        let word = info.identifier() as u64 | 256 << 32 | (256 + 32) << 41 | (256 + 64) << 50;
        let inst = Decoder::new(generation, &word.to_le_bytes()).next().expect("not empty").expect("an instruction");
        Job::new(&inst).expect("resolves")
    }

    struct Random(u64);

    impl Random {
        fn next(&mut self) -> u32 {
            self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (self.0 >> 32) as u32
        }
    }

    /// Rows are a faster way to the scalar rule, for any operands.
    #[test]
    fn rows_give_what_the_scalar_rule_gives() {
        let mut random = Random(7);
        for (generation, op) in [
            (Generation::Cdna3, Op::V_MFMA_F32_32X32X8_F16),
            (Generation::Cdna3, Op::V_MFMA_F32_16X16X16_BF16),
            (Generation::Cdna3, Op::V_MFMA_F32_16X16X8_XF32),
            (Generation::Cdna3, Op::V_MFMA_F32_16X16X32_FP8_BF8),
            (Generation::Cdna3, Op::V_MFMA_F32_4X4X4_16B_F16),
            (Generation::Rdna3, Op::V_WMMA_F32_16X16X16_F16),
            (Generation::Rdna3, Op::V_WMMA_F32_16X16X16_BF16),
            (Generation::Rdna4, Op::V_WMMA_F32_16X16X16_F16),
            (Generation::Rdna4, Op::V_WMMA_F32_16X16X16_BF16),
            (Generation::Rdna4, Op::V_WMMA_F32_16X16X16_FP8_FP8),
            (Generation::Rdna4, Op::V_WMMA_F32_16X16X16_BF8_FP8),
        ] {
            let job = job(generation, op);
            let shape = job.op.shape();
            let [m, n, k, blocks] = [shape.m, shape.n, shape.k, shape.blocks].map(|size| size as usize);
            let sizes = Sizes { m, n, k, kept: k, blocks };
            for round in 0..24 {
                let mut scratch = Scratch::new();
                let [of_a, of_b] = [Matrix::A, Matrix::B].map(|matrix| job.format(matrix));
                // Rounds differ in what is common: any bits, near exponents, exponents near the ends, zeros.
                let mut value = |format: Format| {
                    let bits = random.next() & (u32::MAX >> (32 - format.bits()));
                    let (man, exp) = match format {
                        Format::F16 => (10, 5),
                        Format::Bf16 => (7, 8),
                        Format::Xf32 | Format::F32 => (23, 8),
                        _ => return if round % 4 == 3 && random.next().is_multiple_of(2) { bits & 0x80 } else { bits },
                    };
                    let field = bits >> man & ((1 << exp) - 1);
                    let near = match round % 4 {
                        0 => field,
                        1 => (1 << (exp - 1)) - 4 + field % 8,
                        2 => field % 3,
                        _ if random.next().is_multiple_of(2) => return bits & 1 << (man + exp),
                        _ => field % 64 + if exp == 8 { 90 } else { 0 },
                    };
                    bits & !(((1 << exp) - 1) << man) | (near & ((1 << exp) - 1)) << man
                };
                scratch.a = (0..blocks * m * k).map(|_| value(of_a)).collect();
                scratch.b = (0..blocks * k * n).map(|_| value(of_b)).collect();
                scratch.c = (0..blocks * m * n).map(|_| value(Format::F32)).collect();
                match n {
                    4 => job.fused::<4>(sizes, &mut scratch),
                    16 => job.fused::<16>(sizes, &mut scratch),
                    _ => job.fused::<32>(sizes, &mut scratch),
                }
                let Scratch { a, b, c, floats: [_, _, sums], .. } = &scratch;
                job.scalar(sizes, Narrow::F32, [a, b, c], None, |at, expected| {
                    let (got, expected) = (sums[at], f32::from_bits(expected));
                    let same = got.to_bits() == expected.to_bits() || (got.is_nan() && expected.is_nan());
                    assert!(same, "{op} round {round}: {got:e} for {expected:e} at {at}");
                });
            }
        }
    }
}
