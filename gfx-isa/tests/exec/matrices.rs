//! What the matrix tests share: recorded layouts, formats by their definitions, encodings, random values.
#![allow(dead_code)] // Each test file uses a part of it.

use std::collections::BTreeMap;

use gfx_isa::exec::{ExecError, Flow, Wave};
use gfx_isa::matrix::{Format, Matrix, MatrixOp};
use gfx_isa::{Decoder, Generation, Op};

/// Where elements of a matrix lie: what each bit of block, row and column adds to the lane and to the bits from the
/// first register's lowest on.
#[derive(Debug, Clone, Default)]
pub(crate) struct Facts {
    pub(crate) size: [u32; 3],
    pub(crate) bits: [Vec<(u32, u32)>; 3],
    pub(crate) copies: Vec<u32>,
}

impl Facts {
    /// From lists as the recorded tables have them.
    pub(crate) fn parse(size: &str, lists: [&str; 3], copies: &str) -> Facts {
        let mut sizes = size.split('x').map(|size| size.parse().expect("a size"));
        let list = |list: &str| -> Vec<(u32, u32)> {
            let places = list.split(' ').filter(|place| *place != "-");
            let numbers =
                |place: &str| -> Vec<u32> { place.split('.').map(|n| n.parse().expect("a number")).collect() };
            places.map(numbers).map(|n| (n[0], 32 * n[1] + n[2])).collect()
        };
        Facts {
            size: std::array::from_fn(|_| sizes.next().expect("three sizes")),
            bits: lists.map(list),
            copies: list(copies).into_iter().map(|(lane, _)| lane).collect(),
        }
    }

    /// Lane and bit of an element.
    pub(crate) fn place(&self, at: [u32; 3]) -> (u32, u32) {
        let mut sum = (0, 0);
        for (index, bits) in at.into_iter().zip(&self.bits) {
            for (bit, (lane, place)) in bits.iter().enumerate() {
                if index >> bit & 1 != 0 {
                    sum = (sum.0 + lane, sum.1 + place);
                }
            }
        }
        sum
    }
}

/// An instruction whose layouts are recorded.
#[derive(Debug, Clone)]
pub(crate) struct Recorded {
    pub(crate) op: MatrixOp,
    pub(crate) matrices: BTreeMap<char, Facts>,
}

/// Formats that `F8F6F4` instructions choose from, by number.
pub(crate) const CHOICES: [Format; 5] = [Format::Fp8, Format::Bf8, Format::Fp6, Format::Bf6, Format::Fp4];

/// The tables recorded from AMD's calculator and manuals, for the generations that are compiled in.
pub(crate) fn recorded() -> Vec<Recorded> {
    let mut all: Vec<(Vec<&str>, Recorded)> = Vec::new();
    let tables = [include_str!("../data/matrix-layouts.tsv"), include_str!("../data/matrix-manuals.tsv")];
    for line in tables.iter().flat_map(|table| table.lines()).filter(|line| !line.starts_with('#')) {
        let fields: Vec<&str> = line.split('\t').collect();
        let generation: Generation = fields[0].parse().expect("a generation");
        if !generation.is_available() {
            continue;
        }
        if all.last().is_none_or(|(key, _)| *key != fields[..3]) {
            let (name, chosen) = fields[2].split_once(':').unwrap_or((fields[2], ""));
            let op = find(generation, name, fields[1].parse().expect("a number"));
            let op = match CHOICES.iter().find(|format| format.name() == chosen) {
                Some(&format) => op.with_formats(format, format).expect("it chooses formats"),
                None => op,
            };
            all.push((fields[..3].to_vec(), Recorded { op, matrices: BTreeMap::new() }));
        }
        let matrix = fields[3].chars().next().expect("a letter");
        let facts = Facts::parse(fields[4], [fields[5], fields[6], fields[7]], fields[8]);
        all.last_mut().expect("pushed above").1.matrices.insert(matrix, facts);
    }
    all.into_iter().map(|(_, recorded)| recorded).collect()
}

pub(crate) fn find(generation: Generation, name: &str, lanes: u32) -> MatrixOp {
    let ops = Op::from_name(name).into_iter().chain(Op::from_alias(name)).filter(|op| generation.has(*op));
    let found = ops.into_iter().find_map(|op| MatrixOp::new(generation, op, lanes));
    found.unwrap_or_else(|| panic!("{generation} {name} is no matrix instruction"))
}

/// The value of an element, by the definition of its format; NaN and infinities too.
pub(crate) fn value(format: Format, signed: bool, bits: u64) -> f64 {
    let float = |exp: i32, man: i32, bias: i32, kind: u8| {
        let sign = if bits >> (exp + man) & 1 != 0 { -1.0 } else { 1.0 };
        let magnitude = bits & ((1 << (exp + man)) - 1);
        let (field, fraction) = ((magnitude >> man) as i32, magnitude & ((1 << man) - 1));
        let last = (1 << exp) - 1;
        match kind {
            b'i' if field == last => return if fraction == 0 { sign * f64::INFINITY } else { f64::NAN },
            b'n' if magnitude == (1 << (exp + man)) - 1 => return f64::NAN,
            b'z' if magnitude == 0 && sign < 0.0 => return f64::NAN,
            _ => {}
        }
        let fraction = fraction as f64 / (1u64 << man) as f64;
        sign * if field == 0 { fraction * 2f64.powi(1 - bias) } else { (1.0 + fraction) * 2f64.powi(field - bias) }
    };
    let integer = |size: u32| match bits & ((1 << size) - 1) {
        bits if signed && bits >> (size - 1) != 0 => bits as f64 - (1u64 << size) as f64,
        bits => bits as f64,
    };
    match format {
        Format::F64 => f64::from_bits(bits),
        Format::F32 => f64::from(f32::from_bits(bits as u32)),
        Format::Xf32 => f64::from(f32::from_bits(bits as u32 & 0xffff_e000)),
        Format::F16 => float(5, 10, 15, b'i'),
        Format::Bf16 => float(8, 7, 127, b'i'),
        Format::Fp8 => float(4, 3, 7, b'n'),
        Format::Bf8 => float(5, 2, 15, b'i'),
        Format::Fp8Fnuz => float(4, 3, 8, b'z'),
        Format::Bf8Fnuz => float(5, 2, 16, b'z'),
        Format::Fp6 => float(2, 3, 1, b'-'),
        Format::Bf6 => float(3, 2, 3, b'-'),
        Format::Fp4 => float(2, 1, 1, b'-'),
        Format::I32 => f64::from(bits as u32 as i32),
        Format::I8 | Format::Iu8 => integer(8),
        Format::Iu4 => integer(4),
        other => panic!("{other} is not multiplied"),
    }
}

/// The value of a scale; NaN where it is none.
pub(crate) fn scale_value(format: u32, byte: u32) -> f64 {
    let float = |bias: i32, field: i32| {
        let fraction = f64::from(byte & 7) / 8.0;
        if field == 0 { fraction * 2f64.powi(1 - bias) } else { (1.0 + fraction) * 2f64.powi(field - bias) }
    };
    match format {
        0 if byte == 255 => f64::NAN,
        0 => 2f64.powi(byte as i32 - 127),
        1 if byte == 255 => f64::NAN,
        1 => float(15, (byte >> 3) as i32),
        _ if byte & 0x7f == 0x7f => f64::NAN,
        _ => float(7, (byte >> 3 & 15) as i32),
    }
}

/// Bits of an exactly representable value.
pub(crate) fn encode(format: Format, wanted: f64) -> u64 {
    // A small float's values rise with its bits; those of NaN and infinity are above all others.
    match format {
        Format::F64 => wanted.to_bits(),
        Format::F32 | Format::Xf32 => (wanted as f32).to_bits().into(),
        Format::I32 | Format::I8 | Format::Iu8 | Format::Iu4 => {
            (wanted as i64) as u64 & (u64::MAX >> (64 - format.bits()))
        }
        _ => {
            let (mut low, mut high) = (0, 1u64 << (format.bits() - 1));
            while high - low > 1 {
                let middle = (low + high) / 2;
                if value(format, true, middle) <= wanted.abs() {
                    low = middle;
                } else {
                    high = middle;
                }
            }
            assert_eq!(value(format, true, low), wanted.abs(), "{format} has no {wanted}");
            low | if wanted < 0.0 { 1 << (format.bits() - 1) } else { 0 }
        }
    }
}

/// Random numbers (xorshift).
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    pub(crate) fn below(&mut self, n: u64) -> u64 {
        (self.next() >> 11) % n
    }
}

/// Registers of a wave, vector or accumulation ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Base {
    pub(crate) accumulation: bool,
    pub(crate) first: u32,
}

impl Base {
    pub(crate) const fn v(first: u32) -> Base {
        Base { accumulation: false, first }
    }

    pub(crate) fn read(self, wave: &Wave, lane: u32, bit: u32, bits: u32) -> u64 {
        let dword = |at: u32| {
            let (lane, register) = (lane as usize, (self.first + at) as usize);
            u64::from(if self.accumulation { wave.agpr(lane, register) } else { wave.vgpr(lane, register) })
        };
        let mut value = u128::from(dword(bit / 32));
        if bit % 32 + bits > 32 {
            value |= u128::from(dword(bit / 32 + 1)) << 32;
        }
        (value >> (bit % 32)) as u64 & (u64::MAX >> (64 - bits))
    }

    pub(crate) fn write(self, wave: &mut Wave, lane: u32, bit: u32, bits: u32, value: u64) {
        let (mask, value) = (u128::from(u64::MAX >> (64 - bits)) << (bit % 32), u128::from(value) << (bit % 32));
        for at in 0..(bit % 32 + bits).div_ceil(32) {
            let (lane, register) = (lane as usize, (self.first + bit / 32 + at) as usize);
            let [mask, value] = [mask, value].map(|bits| (bits >> (32 * at)) as u32);
            let old = if self.accumulation { wave.agpr(lane, register) } else { wave.vgpr(lane, register) };
            let new = old & !mask | value & mask;
            if self.accumulation { wave.set_agpr(lane, register, new) } else { wave.set_vgpr(lane, register, new) }
        }
    }
}

/// Decodes and executes one instruction.
pub(crate) fn step(wave: &mut Wave, words: &[u32]) -> Result<Flow, ExecError> {
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    let inst = Decoder::new(wave.generation(), &bytes).wave_size(wave.lanes()).next().expect("not empty")?;
    assert_eq!(inst.len(), bytes.len(), "{words:08x?}");
    wave.step(&inst)
}

/// The first words of an instruction's encoding.
pub(crate) fn identifier(op: &MatrixOp) -> u128 {
    let info = op.generation().instructions_of(op.op()).next().expect("the generation has it");
    info.identifier()
}

pub(crate) fn dwords(word: u128, count: usize) -> Vec<u32> {
    (0..count).map(|at| (word >> (32 * at)) as u32).collect()
}

/// Letters of the recorded tables.
pub(crate) const LETTERS: [(char, Matrix); 7] = [
    ('A', Matrix::A),
    ('B', Matrix::B),
    ('C', Matrix::C),
    ('D', Matrix::D),
    ('k', Matrix::Index),
    ('S', Matrix::ScaleA),
    ('T', Matrix::ScaleB),
];
