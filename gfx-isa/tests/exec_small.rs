//! Conversions from and to small floats, against tables made from the formats' definitions in 64-bit arithmetic, where
//! every number of theirs and every tie between two of them is exact.
#![cfg(all(feature = "exec", feature = "asm"))]

#[path = "exec/support.rs"]
mod support;

use gfx_isa::asm::Assembler;
use gfx_isa::exec::{Mode, Wave};
use gfx_isa::{Decoder, Generation, Inst};
use rustc_apfloat::ieee::{BFloat, Single};
use rustc_apfloat::{Float, FloatConvert};
use support::*;

use Generation::{Cdna3, Cdna4, Cdna5, Rdna4};

/// What the top codes of a format are.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Top {
    Ieee,
    Nan,
    Fnuz,
    Finite,
}

#[derive(Debug, Clone, Copy)]
struct Format {
    name: &'static str,
    exp: u32,
    man: u32,
    bias: i32,
    top: Top,
}

const fn format(name: &'static str, exp: u32, man: u32, bias: i32, top: Top) -> Format {
    Format { name, exp, man, bias, top }
}

const FP8: Format = format("fp8", 4, 3, 7, Top::Nan);
const BF8: Format = format("bf8", 5, 2, 15, Top::Ieee);
const FP8_FNUZ: Format = format("fp8", 4, 3, 8, Top::Fnuz);
const BF8_FNUZ: Format = format("bf8", 5, 2, 16, Top::Fnuz);
const FP6: Format = format("fp6", 2, 3, 1, Top::Finite);
const BF6: Format = format("bf6", 3, 2, 3, Top::Finite);
const FP4: Format = format("fp4", 2, 1, 1, Top::Finite);
const F16: Format = format("f16", 5, 10, 15, Top::Ieee);
const BF16: Format = format("bf16", 8, 7, 127, Top::Ieee);
const F32: Format = format("f32", 8, 23, 127, Top::Ieee);

impl Format {
    fn bits(self) -> u32 {
        1 + self.exp + self.man
    }

    fn sign(self) -> u32 {
        1 << (self.exp + self.man)
    }

    /// The number of a code: `(-1)^s * 2^(e - bias) * 1.f`.
    fn number(self, code: u32) -> f64 {
        let magnitude = code & (self.sign() - 1);
        let (field, fraction) = (magnitude >> self.man, magnitude & ((1 << self.man) - 1));
        let last = (1 << self.exp) - 1;
        let nan = match self.top {
            Top::Ieee => field == last && fraction != 0,
            Top::Nan => magnitude == self.sign() - 1,
            Top::Fnuz => code & (2 * self.sign() - 1) == self.sign(),
            Top::Finite => false,
        };
        let fraction = f64::from(fraction) / f64::from(1 << self.man);
        let value = match field {
            _ if nan => f64::NAN,
            _ if self.top == Top::Ieee && field == last => f64::INFINITY,
            0 => fraction * 2f64.powi(1 - self.bias),
            _ => (1.0 + fraction) * 2f64.powi(field as i32 - self.bias),
        };
        if code & self.sign() != 0 { -value } else { value }
    }

    /// The code of the largest finite magnitude.
    fn largest(self) -> u32 {
        match self.top {
            Top::Ieee => (((1 << self.exp) - 1) << self.man) - 1,
            Top::Nan => self.sign() - 2,
            Top::Fnuz | Top::Finite => self.sign() - 1,
        }
    }

    /// The code that a number rounds to, ties to even.
    fn nearest(self, value: f64, clamps: bool) -> u32 {
        let sign = if value.is_sign_negative() { self.sign() } else { 0 };
        let largest = self.largest();
        if value.is_nan() {
            return match self.top {
                Top::Ieee => sign | ((1 << self.exp) - 1) << self.man | 1 << (self.man - 1),
                Top::Nan | Top::Finite => sign | (self.sign() - 1),
                Top::Fnuz => self.sign(),
            };
        }
        let magnitude = value.abs();
        let power = (((magnitude.to_bits() >> 52) as i32) - 1023).max(1 - self.bias);
        let code = if magnitude.is_finite() {
            let units = (magnitude / 2f64.powi(power - self.man as i32)).round_ties_even();
            (u64::from((power + self.bias - 1) as u32) << self.man) + units as u64
        } else {
            u64::MAX
        };
        let code = code.min(u64::from(self.sign())) as u32;
        match code {
            _ if code > largest => match self.top {
                _ if clamps || self.top == Top::Finite => sign | largest,
                Top::Ieee => sign | ((1 << self.exp) - 1) << self.man,
                _ => self.nearest(f64::NAN.copysign(value), clamps),
            },
            0 if self.top == Top::Fnuz => 0,
            code => sign | code,
        }
    }
}

/// The 8-bit formats of a generation.
fn eights(generation: Generation) -> [Format; 2] {
    if generation == Cdna3 { [FP8_FNUZ, BF8_FNUZ] } else { [FP8, BF8] }
}

/// One instruction, run again and again on one wave.
struct Runner {
    wave: Wave,
    inst: Inst,
}

impl Runner {
    fn new(generation: Generation, text: &str) -> Runner {
        Runner { wave: wave(generation), inst: assemble(generation, text) }
    }

    /// Lets FP16_OVFL be set.
    fn clamping(mut self, on: bool) -> Runner {
        let mode = Mode::compute(self.wave.generation()).0 | u32::from(on) << 23;
        self.wave.set_mode(Mode(mode));
        self
    }

    fn set(&mut self, register: usize, values: &[u32]) -> &mut Runner {
        fill(&mut self.wave, register, values);
        self
    }

    fn run(&mut self) -> &mut Runner {
        self.wave.step(&self.inst).unwrap_or_else(|error| panic!("{}: {error}", self.inst));
        self
    }

    fn lanes(&self) -> usize {
        self.wave.lanes() as usize
    }
}

fn assemble(generation: Generation, text: &str) -> Inst {
    let mut bytes = Vec::new();
    Assembler::new(generation)
        .assemble_line(text, &mut bytes)
        .unwrap_or_else(|error| panic!("{generation} {text}: {error}"));
    let inst = Decoder::new(generation, &bytes).next().expect("not empty");
    inst.unwrap_or_else(|error| panic!("{generation} {text}: {error}"))
}

fn on(generation: Generation) -> bool {
    Generation::available().any(|available| available == generation)
}

/// Whether two codes are the same number of a format, all NaNs being one.
fn same(format: Format, a: u32, b: u32) -> bool {
    a == b || (format.number(a).is_nan() && format.number(b).is_nan())
}

#[track_caller]
fn check(format: Format, got: u32, want: f64, what: impl std::fmt::Display) {
    let want = format.nearest(want, false);
    assert!(same(format, got, want), "{what}: {got:#x}, not {want:#x}");
}

/// How a byte of the source is named.
fn byte_of_source(generation: Generation, op: &str, byte: u32) -> String {
    match generation {
        Cdna3 | Cdna4 => format!("{op}_sdwa v0, v1 src0_sel:BYTE_{byte}"),
        _ => format!("{op} v0, v1 byte_sel:{byte}"),
    }
}

#[test]
fn every_byte_to_f32() {
    for generation in [Cdna3, Cdna4, Cdna5, Rdna4].into_iter().filter(|g| on(*g)) {
        for format in eights(generation) {
            for byte in 0..4 {
                let text = byte_of_source(generation, &format!("v_cvt_f32_{}", format.name), byte);
                let mut runner = Runner::new(generation, &text);
                for first in (0..256u32).step_by(runner.lanes()) {
                    // What is around the byte must not matter.
                    let codes: Vec<u32> = (first..first + runner.lanes() as u32).collect();
                    let words: Vec<u32> =
                        codes.iter().map(|code| 0xa5a5_a5a5 & !(0xff << (8 * byte)) | code << (8 * byte)).collect();
                    runner.set(1, &words).run();
                    for (lane, &code) in codes.iter().enumerate() {
                        check(
                            F32,
                            runner.wave.vgpr(lane, 0),
                            format.number(code),
                            format!("{generation} {text} {code:#x}"),
                        );
                    }
                }
            }
        }
    }
}

#[test]
fn every_pair_of_bytes_to_f32() {
    for generation in [Cdna3, Cdna4, Cdna5, Rdna4].into_iter().filter(|g| on(*g)) {
        for format in eights(generation) {
            let op = format!("v_cvt_pk_f32_{}", format.name);
            let texts = match generation {
                Cdna3 | Cdna4 => [0, 1].map(|word| format!("{op}_sdwa v[2:3], v1 src0_sel:WORD_{word}")),
                _ => [format!("{op} v[2:3], v1"), format!("{op}_e64 v[2:3], v1 op_sel:[1,0]")],
            };
            for (word, text) in texts.iter().enumerate() {
                let mut runner = Runner::new(generation, text);
                for first in (0..256u32).step_by(runner.lanes()) {
                    let codes: Vec<u32> = (first..first + runner.lanes() as u32).collect();
                    let words: Vec<u32> = codes
                        .iter()
                        .map(|code| 0xa5a5_a5a5 & !(0xffff << (16 * word)) | (code | (code ^ 0x55) << 8) << (16 * word))
                        .collect();
                    runner.set(1, &words).run();
                    for (lane, &code) in codes.iter().enumerate() {
                        let what = format!("{generation} {text} {code:#x}");
                        check(F32, runner.wave.vgpr(lane, 2), format.number(code), &what);
                        check(F32, runner.wave.vgpr(lane, 3), format.number(code ^ 0x55), &what);
                    }
                }
            }
        }
    }
}

/// The half of a register is part of a 32-bit encoding's register number.
#[cfg(feature = "cdna5")]
#[test]
fn halves_of_short_forms() {
    let mut runner = Runner::new(Cdna5, "v_cvt_pk_f32_fp8 v[2:3], v1");
    // v1.h is number 129.
    let word = gfx_isa::cdna5::Vop1::new(gfx_isa::cdna5::Vop1::V_CVT_PK_F32_FP8).with_vdst(2).with_src0(v(129)).0;
    runner.set(1, &[0x4038_0000]);
    step(&mut runner.wave, &[word]).expect("executes");
    assert_eq!([2, 3].map(|register| runner.wave.vgpr(0, register)), [1.0f32, 2.0].map(f32::to_bits));
}

#[test]
fn every_byte_to_f16() {
    if !on(Cdna5) {
        return;
    }
    for format in [FP8, BF8] {
        for (byte, half) in [(0, 0), (1, 0), (2, 1), (3, 1)] {
            let text = format!("v_cvt_f16_{} v0, v1 op_sel:[0,{half}] byte_sel:{byte}", format.name);
            let mut runner = Runner::new(Cdna5, &text);
            for code in 0..256u32 {
                runner.set(0, &[0x1234_5678]).set(1, &[code << (8 * byte)]).run();
                let got = runner.wave.vgpr(0, 0);
                check(F16, got >> (16 * half) & 0xffff, format.number(code), format!("{text} {code:#x}"));
                assert_eq!(got >> (16 * (1 - half)) & 0xffff, if half == 0 { 0x1234 } else { 0x5678 }, "{text}");
            }
        }
        let text = format!("v_cvt_pk_f16_{}_e64 v0, v1 op_sel:[1,0]", format.name);
        let mut runner = Runner::new(Cdna5, &text);
        for code in 0..256u32 {
            runner.set(1, &[code << 16 | (code ^ 0x81) << 24]).run();
            let got = runner.wave.vgpr(0, 0);
            check(F16, got & 0xffff, format.number(code), format!("{text} {code:#x}"));
            check(F16, got >> 16, format.number(code ^ 0x81), format!("{text} {code:#x}"));
        }
    }
}

/// 32-bit floats around every number with 11 bits of fraction or fewer that small formats round to.
fn singles() -> impl Iterator<Item = u32> {
    (0..=0xffffu32)
        .map(|high| high << 16)
        .chain((0..=0xffffu32).step_by(7).flat_map(|high| [high << 16 | 1, (high << 16).wrapping_sub(1)]))
}

#[test]
fn singles_to_bytes() {
    for generation in [Cdna3, Cdna4, Cdna5, Rdna4].into_iter().filter(|g| on(*g)) {
        for format in eights(generation) {
            for (clamps, word) in [(false, 0), (true, 1)] {
                let text = format!("v_cvt_pk_{}_f32 v0, v1, v2 op_sel:[0,0,{word}]", format.name);
                let mut runner = Runner::new(generation, &text).clamping(clamps);
                let all: Vec<u32> = singles().collect();
                for chunk in all.chunks(runner.lanes()) {
                    let others: Vec<u32> = chunk.iter().rev().copied().collect();
                    runner.set(0, &[0xbeef_cafe]).set(1, chunk).set(2, &others).run();
                    for (lane, (&a, &b)) in chunk.iter().zip(&others).enumerate() {
                        let got = runner.wave.vgpr(lane, 0);
                        let code = |bits: u32| format.nearest(f64::from(f32::from_bits(bits)), clamps);
                        let pair = got >> (16 * word) & 0xffff;
                        for (got, bits) in [(pair & 0xff, a), (pair >> 8, b)] {
                            assert!(same(format, got, code(bits)), "{generation} {text} {bits:#x}: {got:#x}");
                        }
                        assert_eq!(got >> (16 * (1 - word)) & 0xffff, [0xbeef, 0xcafe][word], "{text} keeps a half");
                    }
                }
            }
        }
    }
}

#[test]
fn modifiers_of_single_sources() {
    for generation in [Cdna3, Cdna4].into_iter().filter(|g| on(*g)) {
        let mut runner = Runner::new(generation, "v_cvt_pk_fp8_f32 v0, -v1, |v2|");
        runner.set(1, &[1f32.to_bits()]).set(2, &[(-2f32).to_bits()]).run();
        let [fp8, _] = eights(generation);
        assert_eq!(runner.wave.vgpr(0, 0), fp8.nearest(-1.0, false) | fp8.nearest(2.0, false) << 8);
    }
}

/// With the clamp bit the format is that of block scales: five exponent bits, three of fraction, no sign.
#[test]
fn block_scales() {
    if !on(Cdna5) {
        return;
    }
    let e5m3 = |code: u32| match (code >> 3, f64::from(code & 7) / 8.0) {
        _ if code == 0xff => f64::NAN,
        (0, fraction) => fraction * 2f64.powi(-14),
        (field, fraction) => (1.0 + fraction) * 2f64.powi(field as i32 - 15),
    };
    let mut back = Runner::new(Cdna5, "v_cvt_f32_fp8_e64 v0, v1 clamp");
    let mut there = Runner::new(Cdna5, "v_cvt_pk_fp8_f32 v0, v1, v2 clamp");
    for code in 0..256 {
        back.set(1, &[code]).run();
        check(F32, back.wave.vgpr(0, 0), e5m3(code), format!("{code:#x}"));
        let bits = (e5m3(code) as f32).to_bits();
        there.set(1, &[bits]).set(2, &[114_688f32.to_bits()]).run();
        assert_eq!(there.wave.vgpr(0, 0), 0xfe00 | code);
    }
    there.set(1, &[1e6f32.to_bits()]).set(2, &[f32::INFINITY.to_bits()]).run();
    assert_eq!(there.wave.vgpr(0, 0), 0xffff);
    let mut there = there.clamping(true);
    there.set(0, &[0]).run();
    assert_eq!(there.wave.vgpr(0, 0), 0xfefe);
}

#[test]
fn halves_to_bytes() {
    if !on(Cdna5) {
        return;
    }
    for format in [FP8, BF8] {
        for clamps in [false, true] {
            let text = format!("v_cvt_pk_{}_f16 v0, v1 op_sel:[0,1]", format.name);
            let mut runner = Runner::new(Cdna5, &text).clamping(clamps);
            for bits in 0..=0xffffu32 {
                if bits.is_multiple_of(32) {
                    let values: Vec<u32> = (bits..bits + 32).map(|bits| bits | (bits ^ 0xffff) << 16).collect();
                    runner.set(0, &[0x1234_5678]).set(1, &values).run();
                }
                let got = runner.wave.vgpr(bits as usize % 32, 0);
                for (got, bits) in [(got >> 16 & 0xff, bits), (got >> 24, bits ^ 0xffff)] {
                    let want = format.nearest(F16.number(bits), clamps);
                    assert!(same(format, got, want), "{text} {bits:#x}: {got:#x}, not {want:#x}");
                }
                assert_eq!(got & 0xffff, 0x5678);
            }
        }
    }
}

/// Signs of packed sources change together. No assembler writes these modifiers.
#[cfg(feature = "cdna5")]
#[test]
fn signs_of_packed_sources() {
    let word =
        gfx_isa::cdna5::Vop3::new(gfx_isa::cdna5::Vop3::V_CVT_PK_FP8_F16).with_src0(v(1)).with_abs(1).with_neg(1).0;
    let mut wave = wave(Cdna5);
    fill(&mut wave, 1, &[0xbc00_3c00]);
    step64(&mut wave, word);
    assert_eq!(wave.vgpr(0, 0), 0xb8b8);
}

/// Adds the seed's upper bits below the last kept bit of a number and cuts off the rest, in integers.
fn stochastic(from: Format, to: Format, bits: u32, scale: i32, seed: u32) -> u32 {
    let value = from.number(bits) * 2f64.powi(scale);
    if !value.is_finite() {
        return to.nearest(value, false);
    }
    let lost = from.man - to.man;
    let sign = if value.is_sign_negative() { to.sign() } else { 0 };
    let magnitude = value.abs();
    // The exponent of the last kept bit, by the number's own size but not below that of denormals.
    let power = (((magnitude.to_bits() >> 52) as i32) - 1023).max(1 - to.bias);
    let unit = power - to.man as i32;
    let parts = (magnitude / 2f64.powi(unit) * 2f64.powi(lost as i32)).floor() as u64;
    let kept = (parts + u64::from(seed >> (32 - lost))) >> lost;
    // The kept bits are exact, so this only looks up their code.
    let code = to.nearest(kept as f64 * 2f64.powi(unit), false);
    if to.top == Top::Fnuz && (code == 0 || code == to.sign()) { code } else { sign | code }
}

const SEEDS: [u32; 8] = [0, 0x8000_0000, 0xffff_ffff, 0x7fff_ffff, 0xdead_beef, 0x0123_4567, 0x0000_1000, 0xfff0_0000];

#[test]
fn stochastic_bytes() {
    for generation in [Cdna3, Cdna4, Cdna5, Rdna4].into_iter().filter(|g| on(*g)) {
        for format in eights(generation) {
            for byte in 0..4 {
                let text = match generation {
                    Cdna3 | Cdna4 => {
                        let (low, high) = (byte & 1, byte >> 1);
                        format!("v_cvt_sr_{}_f32 v0, v1, v2 op_sel:[0,0,{low},{high}]", format.name)
                    }
                    _ => format!("v_cvt_sr_{}_f32 v0, v1, v2 byte_sel:{byte}", format.name),
                };
                let mut runner = Runner::new(generation, &text);
                for high in (0..=0xffffu32).step_by(997) {
                    for seed in SEEDS {
                        let values: Vec<u32> = (0..32).map(|lane| (high << 16) + lane * 2053).collect();
                        runner.set(0, &[0x1122_3344]).set(1, &values).set(2, &[seed]).run();
                        for (lane, &bits) in values.iter().enumerate() {
                            let got = runner.wave.vgpr(lane, 0);
                            let want = stochastic(F32, format, bits, 0, seed);
                            let code = got >> (8 * byte) & 0xff;
                            assert!(
                                same(format, code, want),
                                "{generation} {text} of {bits:#x}, seed {seed:#x}: {code:#x}, not {want:#x}"
                            );
                            assert_eq!((got ^ 0x1122_3344) & !(0xff << (8 * byte)), 0, "{text} keeps bytes");
                        }
                    }
                }
            }
        }
    }
    if on(Cdna5) {
        for format in [FP8, BF8] {
            let mut runner = Runner::new(Cdna5, &format!("v_cvt_sr_{}_f16 v0, v1, v2 byte_sel:2", format.name));
            runner.set(2, &SEEDS);
            for first in (0..=0xffffu32).step_by(4) {
                let values: Vec<u32> = (0..32).map(|lane| first + lane / 8).collect();
                runner.set(1, &values).run();
                for (lane, &bits) in values.iter().enumerate() {
                    let (got, seed) = (runner.wave.vgpr(lane, 0) >> 16, SEEDS[lane % 8]);
                    let want = stochastic(F16, format, bits, 0, seed);
                    assert!(
                        same(format, got, want),
                        "{} of {bits:#x}, {seed:#x}: {got:#x}, not {want:#x}",
                        format.name
                    );
                }
            }
        }
    }
}

#[test]
fn bfloats() {
    let library = |bits: u32| -> u32 {
        let single = Single::from_bits(bits.into());
        let value: BFloat = single.convert(&mut false).value;
        value.to_bits() as u32
    };
    for generation in [Cdna4, Cdna5].into_iter().filter(|g| on(*g)) {
        let mut runner = Runner::new(generation, "v_cvt_pk_bf16_f32 v0, v1, v2");
        let all: Vec<u32> = singles().collect();
        for chunk in all.chunks(runner.lanes()) {
            let others: Vec<u32> = chunk.iter().map(|bits| bits ^ 0x8000_8000).collect();
            runner.set(1, chunk).set(2, &others).run();
            for (lane, (&a, &b)) in chunk.iter().zip(&others).enumerate() {
                let got = runner.wave.vgpr(lane, 0);
                for (got, bits) in [(got & 0xffff, a), (got >> 16, b)] {
                    assert!(
                        same(BF16, got, library(bits)),
                        "{generation} {bits:#x}: {got:#x}, not {:#x}",
                        library(bits)
                    );
                }
            }
        }
        let mut runner = Runner::new(generation, "v_cvt_f32_bf16_e64 v0, v1");
        for first in (0..=0xffffu32).step_by(32) {
            let values: Vec<u32> = (first..first + 32).map(|bits| 0xdead_0000 | bits).collect();
            runner.set(1, &values).run();
            for (lane, bits) in (first..first + 32).enumerate() {
                let got = runner.wave.vgpr(lane, 0);
                assert!(same(F32, got, bits << 16), "{generation} {bits:#x}: {got:#x}");
            }
        }
    }
}

#[test]
fn stochastic_halves() {
    if on(Cdna4) {
        for (name, format) in [("f16", F16), ("bf16", BF16)] {
            for half in 0..2u32 {
                let mut runner = Runner::new(Cdna4, &format!("v_cvt_sr_{name}_f32 v0, v1, v2 op_sel:[0,0,{half}]"));
                for high in (0..=0xffffu32).step_by(331) {
                    for seed in SEEDS {
                        let values: Vec<u32> = (0..64).map(|lane| (high << 16) + lane * 1021).collect();
                        runner.set(0, &[0x1122_3344]).set(1, &values).set(2, &[seed]).run();
                        for (lane, &bits) in values.iter().enumerate() {
                            let got = runner.wave.vgpr(lane, 0);
                            let want = stochastic(F32, format, bits, 0, seed);
                            let code = got >> (16 * half) & 0xffff;
                            assert!(
                                same(format, code, want),
                                "{name} of {bits:#x}, {seed:#x}: {code:#x}, not {want:#x}"
                            );
                            assert_eq!((got ^ 0x1122_3344) & !(0xffff << (16 * half)), 0);
                        }
                    }
                }
            }
        }
    }
    if on(Cdna5) {
        // Each half of the seed rounds one number.
        let mut runner = Runner::new(Cdna5, "v_cvt_sr_pk_bf16_f32 v0, v1, v2, v3");
        for bits in (0..0x7f80_0000u32).step_by(65_537 * 31) {
            for seed in SEEDS {
                let other = bits ^ 0x8000_0123;
                runner.set(1, &[bits]).set(2, &[other]).set(3, &[seed]).run();
                let want = (bits + (seed & 0xffff)) >> 16 | (other + (seed >> 16)) & 0xffff_0000;
                assert_eq!(runner.wave.vgpr(0, 0), want, "{bits:#x} {seed:#x}");
            }
        }
    }
}

/// Scales: exponents of 32-bit floats, the last of them NaN.
const SCALES: [u32; 7] = [127, 128, 120, 0, 254, 130, 255];

fn scaled(value: f64, scale: u32, by: i32) -> f64 {
    if scale == 255 { f64::NAN } else { value * 2f64.powi(by * (scale as i32 - 127)) }
}

/// Bits of a scale operand: only the exponent counts.
fn scale_bits(scale: u32) -> u32 {
    0x8012_3456 & !0x7f80_0000 | scale << 23
}

#[test]
fn scaled_from_bytes() {
    if !on(Cdna4) {
        return;
    }
    for from in [FP8, BF8] {
        for scale in SCALES {
            for byte in 0..4u32 {
                let select = format!("op_sel:[{},{},0]", byte & 1, byte >> 1);
                let mut single = Runner::new(Cdna4, &format!("v_cvt_scalef32_f32_{} v0, v1, v2 {select}", from.name));
                let half_select = format!("op_sel:[{},{},{}]", byte & 1, byte >> 1, byte & 1);
                let mut half =
                    Runner::new(Cdna4, &format!("v_cvt_scalef32_f16_{} v0, v1, v2 {half_select}", from.name));
                for code in 0..256u32 {
                    let want = scaled(from.number(code), scale, 1);
                    let what = format!("{} {code:#x} scale {scale} byte {byte}", from.name);
                    for runner in [&mut single, &mut half] {
                        runner.set(0, &[0x1122_3344]).set(1, &[code << (8 * byte)]).set(2, &[scale_bits(scale)]);
                        runner.wave.set_exec(1);
                        runner.run();
                    }
                    check(F32, single.wave.vgpr(0, 0), want, &what);
                    let (got, place) = (half.wave.vgpr(0, 0), 16 * (byte & 1));
                    check(F16, got >> place & 0xffff, want, &what);
                    assert_eq!((got ^ 0x1122_3344) & !(0xffff << place), 0, "{what}");
                }
            }
            for to in [F32, F16, BF16] {
                for word in 0..2u32 {
                    let text = format!(
                        "v_cvt_scalef32_pk_{}_{} {}, v1, v4 op_sel:[{word},0,0]",
                        to.name,
                        from.name,
                        if to.bits() == 32 { "v[2:3]" } else { "v2" }
                    );
                    let mut runner = Runner::new(Cdna4, &text);
                    for code in 0..256u32 {
                        let other = code ^ 0x35;
                        runner.set(1, &[(code | other << 8) << (16 * word)]).set(4, &[scale_bits(scale)]);
                        runner.wave.set_exec(1);
                        runner.run();
                        let low = runner.wave.vgpr(0, 2);
                        let pair =
                            if to.bits() == 32 { [low, runner.wave.vgpr(0, 3)] } else { [low & 0xffff, low >> 16] };
                        check(to, pair[0], scaled(from.number(code), scale, 1), format!("{text} {code:#x} {scale}"));
                        check(to, pair[1], scaled(from.number(other), scale, 1), format!("{text} {other:#x} {scale}"));
                    }
                }
            }
        }
    }
    for to in [F32, F16, BF16] {
        for byte in 0..4u32 {
            let text = format!(
                "v_cvt_scalef32_pk_{}_fp4 {}, v1, v4 op_sel:[{},{},0]",
                to.name,
                if to.bits() == 32 { "v[2:3]" } else { "v2" },
                byte & 1,
                byte >> 1
            );
            let mut runner = Runner::new(Cdna4, &text);
            for (scale, codes) in SCALES.into_iter().flat_map(|scale| (0..256u32).map(move |codes| (scale, codes))) {
                runner.set(1, &[codes << (8 * byte)]).set(4, &[scale_bits(scale)]).run();
                let low = runner.wave.vgpr(0, 2);
                let pair = if to.bits() == 32 { [low, runner.wave.vgpr(0, 3)] } else { [low & 0xffff, low >> 16] };
                for (got, code) in [(pair[0], codes & 15), (pair[1], codes >> 4)] {
                    check(to, got, scaled(FP4.number(code), scale, 1), format!("{text} {codes:#x} {scale}"));
                }
            }
        }
    }
}

/// Every source of a scaled conversion where the scale is 1, some of them for the others.
fn sources(from: Format, scale: u32) -> Vec<u32> {
    let step = if scale == 127 { 1 } else { 61 };
    (0..=0xffffu32).step_by(step).map(|bits| if from.bits() == 32 { bits << 16 | bits & 1 } else { bits }).collect()
}

#[test]
fn scaled_to_bytes() {
    if !on(Cdna4) {
        return;
    }
    for (from, to) in [F32, F16, BF16].into_iter().flat_map(|from| [FP8, BF8, FP4].map(|to| (from, to))) {
        for (at, scale) in SCALES.into_iter().enumerate() {
            let clamps = at % 2 == 1;
            let place = (at as u32 & 3) & if to.bits() == 4 { 3 } else { 2 };
            let op_sel = format!("op_sel:[0,0,{},{}]", place & 1, place >> 1);
            let op_sel = match (to.bits(), from.bits()) {
                (4, _) => op_sel,
                (_, 32) => format!("op_sel:[0,0,0,{}]", place >> 1),
                _ => format!("op_sel:[0,0,{}]", place >> 1),
            };
            let registers = if from.bits() == 32 { "v1, v2, v3" } else { "v1, v3" };
            let text = format!("v_cvt_scalef32_pk_{}_{} v0, {registers} {op_sel}", to.name, from.name);
            let mut runner = Runner::new(Cdna4, &text).clamping(clamps);
            runner.set(3, &[scale_bits(scale)]);
            for chunk in sources(from, scale).chunks(64) {
                let others: Vec<u32> = chunk.iter().rev().copied().collect();
                runner.set(0, &[0x1122_3344]);
                if from.bits() == 32 {
                    runner.set(1, chunk).set(2, &others).run();
                } else {
                    let pairs: Vec<u32> = chunk.iter().zip(&others).map(|(a, b)| a | b << 16).collect();
                    runner.set(1, &pairs).run();
                }
                let (shift, width) = (8 * place, 2 * to.bits());
                for (lane, (&a, &b)) in chunk.iter().zip(&others).enumerate() {
                    let got = runner.wave.vgpr(lane, 0);
                    for (number, bits) in [a, b].into_iter().enumerate() {
                        let code = got >> (shift + number as u32 * to.bits()) & ((1 << to.bits()) - 1);
                        let value = from.number(bits);
                        let want = to.nearest(scaled(value, scale, -1).copysign(value), clamps);
                        assert!(same(to, code, want), "{text} of {bits:#x} scale {scale}: {code:#x}, not {want:#x}");
                    }
                    let mask = ((1u64 << width) - 1) as u32;
                    assert_eq!((got ^ 0x1122_3344) & !(mask << shift), 0, "{text} keeps the rest");
                }
            }
        }
    }
}

#[test]
fn scaled_stochastic() {
    if !on(Cdna4) {
        return;
    }
    for (from, to) in [F32, F16, BF16].into_iter().flat_map(|from| [FP8, BF8].map(|to| (from, to))) {
        let text = format!("v_cvt_scalef32_sr_{}_{} v0, v1, v2, v3 op_sel:[0,0,1,0]", to.name, from.name);
        let mut runner = Runner::new(Cdna4, &text);
        for (scale, seed) in [127, 130, 125].into_iter().flat_map(|scale| SEEDS.map(|seed| (scale, seed))) {
            runner.set(0, &[0]).set(2, &[seed]).set(3, &[scale_bits(scale)]);
            for chunk in sources(from, 0).chunks(64) {
                runner.set(1, chunk).run();
                for (lane, &bits) in chunk.iter().enumerate() {
                    let got = runner.wave.vgpr(lane, 0) >> 8;
                    let want = stochastic(from, to, bits, 127 - scale as i32, seed);
                    assert!(same(to, got, want), "{text} of {bits:#x}, {scale}, {seed:#x}: {got:#x}, not {want:#x}");
                }
            }
        }
    }
    // The second number's seed is the next of the generator.
    for from in [F32, F16, BF16] {
        let registers = if from.bits() == 32 { "v[4:5]" } else { "v4" };
        let text = format!("v_cvt_scalef32_sr_pk_fp4_{} v0, {registers}, v2, v3 op_sel:[0,0,1,1]", from.name);
        let mut runner = Runner::new(Cdna4, &text);
        let bits = |value: f64| from.nearest(value, false);
        for step in 0..128 {
            let pair = [f64::from(step) / 16.0, -f64::from(step) / 32.0];
            for seed in SEEDS {
                if from.bits() == 32 {
                    runner.set(4, &[bits(pair[0])]).set(5, &[bits(pair[1])]);
                } else {
                    runner.set(4, &[bits(pair[0]) | bits(pair[1]) << 16]);
                }
                runner.set(0, &[0]).set(2, &[seed]).set(3, &[scale_bits(127)]).run();
                let seeds = [seed, seed << 1 ^ if seed >> 31 == 1 { 197 } else { 0 }];
                let want = [0, 1].map(|at| stochastic(from, FP4, bits(pair[at]), 0, seeds[at]));
                assert_eq!(runner.wave.vgpr(0, 0), (want[0] | want[1] << 4) << 24, "{text} {pair:?} {seed:#x}");
            }
        }
    }
}

/// Puts numbers of some bits side by side into registers from one on, the same in all lanes.
fn put(runner: &mut Runner, first: usize, bits: u32, numbers: &[u32]) {
    let mut rows = vec![0u32; (numbers.len() * bits as usize).div_ceil(32)];
    for (at, number) in numbers.iter().enumerate() {
        for bit in 0..bits as usize {
            let place = at * bits as usize + bit;
            rows[place / 32] |= (number >> bit & 1) << (place % 32);
        }
    }
    for (at, row) in rows.into_iter().enumerate() {
        runner.set(first + at, &[row]);
    }
}

/// Numbers of some bits from registers of a lane.
fn get(runner: &Runner, lane: usize, first: usize, bits: u32, count: usize) -> Vec<u32> {
    let bit = |place: usize| runner.wave.vgpr(lane, first + place / 32) >> (place % 32) & 1;
    (0..count).map(|at| (0..bits as usize).map(|b| bit(at * bits as usize + b) << b).sum()).collect()
}

fn range(first: usize, bits: u32, count: usize) -> String {
    let registers = (bits as usize * count).div_ceil(32);
    if registers == 1 { format!("v{first}") } else { format!("v[{first}:{}]", first + registers - 1) }
}

/// Numbers that try every code, rounding and overflow, different in each place.
fn numbers(from: Format, count: usize, round: u32) -> Vec<u32> {
    (0..count as u32)
        .map(|at| {
            let all = round * 32 + at;
            match from.bits() {
                ..=8 => all & ((1 << from.bits()) - 1),
                _ => from.nearest(f64::from(all as i32 % 512 - 256) / 17.0 * 2f64.powi(all as i32 % 9 - 4), false),
            }
        })
        .collect()
}

#[test]
fn many_at_once() {
    for (generation, count, small, floats) in [
        (Cdna4, 32, &[FP6, BF6][..], &[F32, F16, BF16][..]),
        (Cdna5, 16, &[FP6, BF6], &[F32, F16, BF16]),
        (Cdna5, 8, &[FP8, BF8, FP4], &[F32, F16, BF16]),
    ] {
        if !on(generation) {
            continue;
        }
        for (&small, &float) in small.iter().flat_map(|small| floats.iter().map(move |float| (small, float))) {
            // From the small format.
            let name = if generation == Cdna4 { "scalef32" } else { "scale" };
            let text = format!(
                "v_cvt_{name}_pk{count}_{}_{} {}, {}, v60",
                float.name,
                small.name,
                range(100, float.bits(), count),
                range(10, small.bits(), count)
            );
            let mut runner = Runner::new(generation, &text);
            for (scale, round) in SCALES.into_iter().flat_map(|scale| (0..8).map(move |round| (scale, round))) {
                let codes = numbers(small, count, round);
                put(&mut runner, 10, small.bits(), &codes);
                let bits = if generation == Cdna4 { scale_bits(scale) } else { scale * 0x0101_0101 };
                runner.set(60, &[bits]).run();
                for lane in [0, 17, runner.lanes() - 1] {
                    for (code, got) in codes.iter().zip(get(&runner, lane, 100, float.bits(), count)) {
                        let want = scaled(small.number(*code), scale, 1);
                        check(float, got, want, format!("{text} of {code:#x}, scale {scale}"));
                    }
                }
            }
            // To the small format, there being no such conversion of 32 floats of 32 bits but as two of 16.
            if (count, float.bits()) != (32, 32) {
                let text = format!(
                    "v_cvt_scalef32_pk{count}_{}_{} {}, {}, v60",
                    small.name,
                    float.name,
                    range(100, small.bits(), count),
                    range(10, float.bits(), count)
                );
                let mut runner = Runner::new(generation, &text);
                for (scale, round) in SCALES.into_iter().flat_map(|scale| (0..8).map(move |round| (scale, round))) {
                    let codes = numbers(float, count, round);
                    put(&mut runner, 10, float.bits(), &codes);
                    runner.set(60, &[scale_bits(scale)]).run();
                    for (code, got) in codes.iter().zip(get(&runner, 5, 100, small.bits(), count)) {
                        let value = float.number(*code);
                        let want = small.nearest(scaled(value, scale, -1).copysign(value), false);
                        assert!(same(small, got, want), "{text} of {code:#x}, scale {scale}: {got:#x}, not {want:#x}");
                    }
                }
            }
            let text = format!(
                "v_cvt_scalef32_sr_pk{count}_{}_{} {}, {}, v61, v60",
                small.name,
                float.name,
                range(100, small.bits(), count),
                range(10, float.bits(), count)
            );
            let mut runner = Runner::new(generation, &text);
            for (seed, round) in SEEDS.into_iter().flat_map(|seed| (0..8).map(move |round| (seed, round))) {
                let codes = numbers(float, count, round);
                put(&mut runner, 10, float.bits(), &codes);
                runner.set(60, &[scale_bits(129)]).set(61, &[seed]).run();
                let mut state = seed;
                for (at, (&code, got)) in codes.iter().zip(get(&runner, 5, 100, small.bits(), count)).enumerate() {
                    // CDNA 5 takes 16 bits of the generator for each number.
                    let seed = match (generation, at % 2) {
                        (Cdna4, _) => state,
                        (_, 0) => state << 16,
                        _ => state & 0xffff_0000,
                    };
                    let want = stochastic(float, small, code, -2, seed);
                    assert!(same(small, got, want), "{text} of {code:#x}, seed {seed:#x}: {got:#x}, not {want:#x}");
                    if generation == Cdna4 || at % 2 == 1 {
                        state = state << 1 ^ if state >> 31 == 1 { 197 } else { 0 };
                    }
                }
            }
        }
    }
}

#[test]
fn two_sources_in_turn() {
    if !on(Cdna4) {
        return;
    }
    for small in [FP6, BF6] {
        let text = format!("v_cvt_scalef32_2xpk16_{}_f32 v[100:105], v[10:25], v[30:45], v60", small.name);
        let mut runner = Runner::new(Cdna4, &text);
        for (scale, round) in SCALES.into_iter().flat_map(|scale| (0..16).map(move |round| (scale, round))) {
            let codes = numbers(F32, 32, round);
            let [even, odd] = [0, 1].map(|from| codes.iter().skip(from).step_by(2).copied().collect::<Vec<u32>>());
            put(&mut runner, 10, 32, &even);
            put(&mut runner, 30, 32, &odd);
            runner.set(60, &[scale_bits(scale)]).run();
            for (code, got) in codes.iter().zip(get(&runner, 63, 100, 6, 32)) {
                let value = F32.number(*code);
                assert_eq!(got, small.nearest(scaled(value, scale, -1).copysign(value), false), "{text} of {code:#x}");
            }
        }
    }
}

/// Lanes that are off keep what they had, in every register; sources may lie where results go.
#[test]
fn lanes_that_are_off() {
    if !on(Cdna4) {
        return;
    }
    let mut runner = Runner::new(Cdna4, "v_cvt_scalef32_pk32_f32_fp6 v[0:31], v[0:5], v5");
    for register in 0..32 {
        runner.set(register, &[0x2082_0820]);
    }
    runner.wave.set_exec(0xffff_0000_0000_0001);
    runner.run();
    for register in 0..32 {
        assert_eq!(runner.wave.vgpr(1, register), 0x2082_0820);
        assert_ne!(runner.wave.vgpr(0, register), 0x2082_0820);
        assert_eq!(runner.wave.vgpr(0, register), runner.wave.vgpr(63, register));
    }
}

/// Which lane and byte a scale comes from: rows of the manual's tables, lanes 0 and 16 of the numbers.
#[test]
fn shared_scales() {
    if !on(Cdna5) {
        return;
    }
    // OPSEL, (lane, byte) for lane 3, (lane, byte) for lane 19.
    let fours = [
        (0b000, (3, 0), (3, 1)),
        (0b010, (19, 0), (19, 1)),
        (0b001, (3, 2), (3, 3)),
        (0b011, (19, 2), (19, 3)),
        (0b100, (3, 0), (3, 2)),
        (0b110, (19, 0), (19, 2)),
        (0b101, (3, 1), (3, 3)),
        (0b111, (19, 1), (19, 3)),
    ];
    let eights = [
        (0b0000, (3, 0), (3, 0)),
        (0b0100, (19, 0), (19, 0)),
        (0b0010, (3, 2), (3, 2)),
        (0b0110, (19, 2), (19, 2)),
        (0b0001, (3, 1), (3, 1)),
        (0b0101, (19, 1), (19, 1)),
        (0b0011, (3, 3), (3, 3)),
        (0b0111, (19, 3), (19, 3)),
        (0b1000, (3, 0), (3, 1)),
        (0b1010, (19, 2), (19, 3)),
    ];
    let ones = [("pk8_f32_fp4", 32, 0x2222_2222), ("pk8_f32_fp8", 32, 0x3838_3838), ("pk16_f32_fp6", 32, 0x0820_8208)];
    for (op, bits, one) in ones {
        let count = if op.starts_with("pk16") { 16 } else { 8 };
        let small = match &op[op.len() - 1..] {
            "4" => 4,
            "6" => 6,
            _ => 8,
        };
        let table = if small == 8 { &eights[..] } else { &fours[..] };
        for &(select, low, high) in table {
            let text = format!(
                "v_cvt_scale_{op} {}, {}, v60 scale_sel:{select}",
                range(100, bits, count),
                range(10, small, count)
            );
            let mut runner = Runner::new(Cdna5, &text);
            for register in 10..13 {
                runner.set(register, &[one]);
            }
            // Each byte of each lane is another power of two.
            let scales: Vec<u32> =
                (0..32u32).map(|lane| (0..4).map(|byte| (4 * lane + byte + 60) << (8 * byte)).sum()).collect();
            runner.set(60, &scales).run();
            for (lane, (from, byte)) in [(3, low), (19, high)] {
                let got = get(&runner, lane, 100, bits, count)[0];
                assert_eq!(got >> 23, 4 * from + byte + 60, "{text}, lane {lane}");
            }
        }
    }
    // An inline number serves every byte.
    let mut runner = Runner::new(Cdna5, "v_cvt_scale_pk8_f32_fp4 v[100:107], v10, 64");
    runner.set(10, &[0x2222_2222]).run();
    for lane in 0..32 {
        assert_eq!(runner.wave.vgpr(lane, 100), 64 << 23, "lane {lane}");
    }
}

/// Infinity in scaled conversions of CDNA 5 is no number where overflow is clamped.
#[test]
fn infinities() {
    let infinity = [f32::INFINITY.to_bits(), f32::NEG_INFINITY.to_bits()];
    for generation in [Cdna3, Cdna4, Cdna5, Rdna4].into_iter().filter(|g| on(*g)) {
        for (format, special) in [(0, [0x7fu32, 0xff]), (1, [0x7c, 0xfc])] {
            let name = ["fp8", "bf8"][format];
            let formats = eights(generation);
            for clamps in [false, true] {
                let mut runner = Runner::new(generation, &format!("v_cvt_pk_{name}_f32 v0, v1, v2")).clamping(clamps);
                runner.set(1, &infinity[..1]).set(2, &infinity[1..]).run();
                let largest = formats[format].largest();
                let want = match (clamps, generation) {
                    (true, _) => largest | (largest | 0x80) << 8,
                    (false, Cdna3) => 0x8080,
                    _ => special[0] | special[1] << 8,
                };
                assert_eq!(runner.wave.vgpr(0, 0), want, "{generation} {name} {clamps}");
            }
        }
    }
    if on(Cdna5) {
        for (name, clamps, want) in
            [("fp8", false, 0x7f), ("fp8", true, 0x7f), ("bf8", false, 0x7c), ("bf8", true, 0x7e)]
        {
            let text = format!("v_cvt_scalef32_pk8_{name}_f32 v[0:1], v[2:9], v10");
            let mut runner = Runner::new(Cdna5, &text).clamping(clamps);
            runner.set(2, &infinity[..1]).set(3, &[1e9f32.to_bits()]).set(10, &[1f32.to_bits()]).run();
            let got = runner.wave.vgpr(0, 0);
            assert_eq!(got & 0xff, want, "{text} {clamps}");
            let over = if clamps { if name == "fp8" { 0x7e } else { 0x7b } } else { want };
            assert_eq!(got >> 8 & 0xff, over, "{text} {clamps}");
        }
    }
}

/// Results of 16 bits that overflow; infinity stays.
#[test]
fn overflow_of_halves() {
    if !on(Cdna4) {
        return;
    }
    for (to, clamps, want) in
        [("f16", false, 0x7c00), ("f16", true, 0x7bff), ("bf16", false, 0x7f80), ("bf16", true, 0x7f7f)]
    {
        let mut runner = Runner::new(Cdna4, &format!("v_cvt_scalef32_pk_{to}_bf8 v0, v1, v2")).clamping(clamps);
        runner.set(1, &[0x7c7b]).set(2, &[scale_bits(254)]).run();
        let infinity = if to == "f16" { 0x7c00 } else { 0x7f80 };
        assert_eq!(runner.wave.vgpr(0, 0), infinity << 16 | want, "{to} {clamps}");
    }
}

/// Denormal 32-bit sources go by the mode, small ones never do.
#[test]
fn denormals() {
    if !on(Cdna4) {
        return;
    }
    let keep = Mode(Mode::compute(Cdna4).0 | 0xf0);
    let flush = Mode(Mode::compute(Cdna4).0 & !0xf0);
    for (text, result, format, want) in [
        ("v_cvt_scalef32_pk_fp8_f32 v0, v2, v2, v3", 0, FP8, 0.5),
        ("v_cvt_scalef32_2xpk16_fp6_f32 v[100:105], v[10:25], v[10:25], v3", 100, FP6, 0.5),
    ] {
        for (mode, want) in [(keep, want), (flush, 0.0)] {
            let mut runner = Runner::new(Cdna4, text);
            runner.wave.set_mode(mode);
            for register in [2].into_iter().chain(10..26) {
                runner.set(register, &[1 << 21]);
            }
            // The exponent field 0 stands for 2^-127, and 2^-128 over it is a half.
            runner.set(3, &[0]).run();
            let code = runner.wave.vgpr(0, result) & ((1 << format.bits()) - 1);
            assert_eq!(code, format.nearest(want, false), "{text}");
        }
    }
    // A denormal of 8 bits and a denormal 32-bit result.
    let mut runner = Runner::new(Cdna4, "v_cvt_scalef32_f32_fp8 v0, v1, v2");
    runner.wave.set_mode(flush);
    runner.set(1, &[1]).set(2, &[scale_bits(0)]).run();
    assert_eq!(runner.wave.vgpr(0, 0), 1 << (149 - 136));
}
