//! Matrix instructions against products in wider arithmetic, their operands placed by recorded layouts.

#[path = "exec/matrices.rs"]
mod matrices;

use gfx_isa::Generation;
use gfx_isa::exec::{Mode, Wave};
use gfx_isa::matrix::{Format, Matrix, MatrixOp};
use matrices::{
    Base, CHOICES, Facts, LETTERS, Random, Recorded, dwords, encode, identifier, recorded, scale_value, step, value,
};

#[test]
fn layouts_are_those_of_amds_calculator_and_manuals() {
    let mut compared = 0;
    for Recorded { op, matrices } in recorded() {
        for (letter, kind) in LETTERS {
            let Some(facts) = matrices.get(&letter) else { continue };
            let layout = op.layout(kind).expect("the instruction has it");
            let packed = op.is_sparse() && matches!(kind, Matrix::A | Matrix::Index);
            let columns = if packed { facts.size[2] / 2 } else { facts.size[2] };
            let name = format!("{} {} wave{} {kind}", op.generation(), op.op(), op.lanes());
            assert_eq!(
                [layout.blocks(), layout.rows(), layout.columns()],
                [facts.size[0], facts.size[1], columns],
                "{name}"
            );
            assert_eq!(layout.copies() as usize, facts.copies.len() + 1, "{name}");
            for (block, row, column, place) in layout.elements() {
                // Of a sparse A the place of each pair of kept values is recorded.
                if packed && column % 2 != 0 {
                    continue;
                }
                let of_facts = facts.place([block, row, if packed { 2 * column } else { column }]);
                assert_eq!((place.lane, 32 * place.register + place.bit), of_facts, "{name} {block} {row} {column}");
                compared += 1;
            }
        }
    }
    assert!(compared > 0 || Generation::available().all(|g| !g.is_available()), "nothing compared");
}

/// `F8F6F4` instructions take any two formats, each in its own layout.
fn mixed(random: &mut Random, recorded: Vec<Recorded>) -> Vec<Recorded> {
    let mut all = recorded.clone();
    for one in recorded.iter().filter(|one| one.op.chooses_formats()) {
        let others: Vec<&Recorded> = recorded
            .iter()
            .filter(|other| (other.op.op(), other.op.generation()) == (one.op.op(), one.op.generation()))
            .collect();
        let other = others[random.below(others.len() as u64) as usize];
        let format = |recorded: &Recorded, matrix| recorded.op.format(matrix).expect("every instruction has it");
        let op = one.op.with_formats(format(one, Matrix::A), format(other, Matrix::B)).expect("any two");
        let mut matrices = one.matrices.clone();
        matrices.insert('B', other.matrices[&'B'].clone());
        all.push(Recorded { op, matrices });
    }
    all
}

/// How an instruction is encoded, and what its modifiers do to the product.
#[derive(Debug, Clone)]
struct Case {
    a: Base,
    b: Base,
    c: Result<Base, (u32, f64)>,
    d: Base,
    index: u32,
    cbsz: u32,
    abid: u32,
    blgp: u32,
    neg: u32,
    neg_hi: u32,
    op_sel: u32,
    clamp: bool,
    scales: [Scale; 2],
}

/// A source of scales: registers, or another operand that gives one byte for all.
#[derive(Debug, Clone, Copy)]
struct Scale {
    source: Result<Base, (u32, u32)>,
    set: u32,
    format: u32,
}

fn plain_scale(at: u32) -> Scale {
    Scale { source: Ok(Base::v(210 + 4 * at)), set: 0, format: 0 }
}

impl Case {
    fn plain(op: &MatrixOp) -> Case {
        let old = op.generation() == Generation::Cdna1;
        Case {
            a: Base::v(2),
            b: Base::v(34),
            c: Ok(Base { accumulation: old, first: 66 }),
            d: Base { accumulation: old, first: 128 },
            index: 200,
            cbsz: 0,
            abid: 0,
            blgp: 0,
            neg: 0,
            neg_hi: 0,
            op_sel: 0,
            clamp: false,
            scales: [plain_scale(0), plain_scale(1)],
        }
    }

    fn words(&self, op: &MatrixOp, mfma: bool) -> Vec<u32> {
        let source = |base: Base| u128::from(256 + base.first);
        let third = match self.c {
            _ if op.is_sparse() => u128::from(256 + self.index),
            Ok(base) => source(base),
            Err((code, _)) => code.into(),
        };
        let bit = |base: Base| u128::from(base.accumulation);
        let mut word = u128::from(self.d.first) | source(self.a) << 32 | source(self.b) << 41 | third << 50;
        let [mut cbsz, mut blgp, mut op_sel, mut op_sel_hi] = [self.cbsz, self.blgp, self.op_sel, 0];
        if op.chooses_formats() {
            let number = |matrix| CHOICES.iter().position(|format| op.format(matrix) == Some(*format));
            let [a, b] = [Matrix::A, Matrix::B].map(|matrix| number(matrix).expect("one of them") as u32);
            if mfma {
                (cbsz, blgp) = (a, b);
            } else {
                (op_sel, op_sel_hi) = (a, b);
            }
        }
        if mfma {
            word |= u128::from(cbsz) << 8 | u128::from(self.abid) << 11 | u128::from(blgp) << 61;
            word |= bit(self.a) << 59 | bit(self.b) << 60;
            if op.generation() != Generation::Cdna1 {
                word |= bit(self.d) << 15;
            }
        } else {
            word |= u128::from(self.neg_hi) << 8 | u128::from(op_sel) << 11 | u128::from(self.clamp) << 15;
            word |= u128::from(self.neg) << 61 | u128::from(op_sel_hi & 3) << 59 | u128::from(op_sel_hi >> 2) << 14;
        }
        if op.values_per_scale().is_none() {
            return dwords(word | identifier(op), 2);
        }
        let mut prefix = 0u128;
        for (at, scale) in self.scales.iter().enumerate() {
            let code = match scale.source {
                Ok(base) => 256 + base.first,
                Err((code, _)) => code,
            };
            prefix |= u128::from(code) << [32, 41][at];
            if mfma {
                prefix |= u128::from(scale.set & 1) << (11 + at) | u128::from(scale.set >> 1) << (59 + at);
            } else {
                prefix |= u128::from(scale.set) << [11, 59][at] | u128::from(scale.format) << [61, 8][at];
            }
        }
        if mfma {
            prefix |= u128::from(self.neg_hi) << 8 | u128::from(self.neg) << 61;
        } else {
            prefix |= 256 << 50;
        }
        dwords(prefix | word << 64 | identifier(op), 4)
    }
}

/// Values of A, B and C, by block, row and column.
struct Operands {
    a: Vec<u64>,
    b: Vec<u64>,
    c: Vec<u64>,
    /// Columns of the kept values of a sparse A.
    index: Vec<u32>,
    /// Bytes of scales, by row or column and block of k.
    scales: [Vec<u32>; 2],
}

struct Sizes {
    m: u32,
    n: u32,
    k: u32,
    kept: u32,
    blocks: u32,
}

impl Sizes {
    fn of(op: &MatrixOp) -> Sizes {
        let shape = op.shape();
        let kept = if op.is_sparse() { shape.k / 2 } else { shape.k };
        Sizes { m: shape.m, n: shape.n, k: shape.k, kept, blocks: shape.blocks }
    }
}

fn operands(op: &MatrixOp, random: &mut Random, mut pick: impl FnMut(&mut Random, Format, bool) -> u64) -> Operands {
    let Sizes { m, n, k, kept, blocks } = Sizes::of(op);
    let format = |matrix| op.format(matrix).expect("every instruction has it");
    let mut fill = |matrix, count: u32, random: &mut Random| -> Vec<u64> {
        (0..count).map(|_| pick(random, format(matrix), matrix == Matrix::C)).collect()
    };
    let a = fill(Matrix::A, blocks * m * kept, random);
    let b = fill(Matrix::B, blocks * k * n, random);
    let c = fill(Matrix::C, blocks * m * n, random);
    let mut index = Vec::new();
    for _ in 0..m * kept / 2 {
        let pairs = [[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3]];
        index.extend(pairs[random.below(6) as usize]);
    }
    let count = op.values_per_scale().map_or(0, |values| k / values);
    let mut scale = |outer: u32| (0..outer * count).map(|_| 119 + random.below(16) as u32).collect();
    let scales = [scale(m), scale(n)];
    Operands { a, b, c, index, scales }
}

/// Puts operands where the recorded layouts have them.
fn place(wave: &mut Wave, recorded: &Recorded, case: &Case, operands: &Operands) {
    let Recorded { op, matrices } = recorded;
    let facts = [&matrices[&'A'], &matrices[&'B'], matrices.get(&'C').unwrap_or(&matrices[&'D'])];
    let Sizes { m, n, k, kept, blocks } = Sizes::of(op);
    let bits = |matrix| op.format(matrix).expect("every instruction has it").bits();
    let put = |wave: &mut Wave, base: Base, facts: &Facts, (lane, bit): (u32, u32), bits: u32, value: u64| {
        for copy in std::iter::once(0).chain(facts.copies.iter().copied()) {
            base.write(wave, lane + copy, bit, bits, value);
        }
    };
    let half = if bits(Matrix::C) == 16 { 16 * (case.op_sel >> 2) } else { 0 };
    for block in 0..blocks {
        for row in 0..m {
            for column in 0..kept {
                let value = operands.a[((block * m + row) * kept + column) as usize];
                let at = if op.is_sparse() { column / 2 * 4 } else { column };
                let (lane, bit) = facts[0].place([block, row, at]);
                let within = if op.is_sparse() { column % 2 * bits(Matrix::A) } else { 0 };
                put(wave, case.a, facts[0], (lane, bit + within), bits(Matrix::A), value);
            }
            for column in 0..n {
                let value = operands.c[((block * m + row) * n + column) as usize];
                let base = if op.is_sparse() { Some(case.d) } else { case.c.ok() };
                let (lane, bit) = facts[2].place([block, row, column]);
                if let Some(base) = base {
                    base.write(wave, lane, bit + half, bits(Matrix::C), value);
                }
            }
        }
        for row in 0..k {
            for column in 0..n {
                let value = operands.b[((block * k + row) * n + column) as usize];
                put(wave, case.b, facts[1], facts[1].place([block, row, column]), bits(Matrix::B), value);
            }
        }
    }
    if let Some(facts) = matrices.get(&'k') {
        let set_bits = 2 * facts.bits[2].iter().filter(|(lane, _)| *lane == 0).fold(1, |items, _| items * 2) / 2;
        let set = match op.lanes() {
            64 if op.generation().wave_sizes()[0] == 64 => {
                if case.cbsz == 0 {
                    case.abid
                } else {
                    0
                }
            }
            _ => case.op_sel,
        };
        for row in 0..m {
            for column in 0..kept {
                let (lane, bit) = facts.place([0, row, column / 2 * 4]);
                let bit = bit + column % 2 * 2 + if set_bits < 32 { set * set_bits % 32 } else { 0 };
                let value = operands.index[(row * kept + column) as usize];
                Base::v(case.index).write(wave, lane, bit, 2, value.into());
            }
        }
    }
}

/// Puts scales where the recorded layouts have them.
fn place_scales(wave: &mut Wave, recorded: &Recorded, case: &Case, operands: &Operands) {
    let mfma = recorded.op.generation().wave_sizes()[0] == 64;
    for (at, letter) in ['S', 'T'].into_iter().enumerate() {
        let Some(facts) = recorded.matrices.get(&letter) else { continue };
        let (count, outer) = if at == 0 { (facts.size[2], facts.size[1]) } else { (facts.size[1], facts.size[2]) };
        let Scale { source: Ok(base), set, .. } = case.scales[at] else { continue };
        for of_k in 0..count {
            for lane in 0..outer {
                let (row, column) = if at == 0 { (lane, of_k) } else { (of_k, lane) };
                let (lane, bit) = facts.place([0, row, column]);
                let (lane, bit) = if mfma { (lane, bit + 8 * set) } else { (lane + 16 * set, bit) };
                let byte = operands.scales[at][(if at == 0 { row } else { column } * count + of_k) as usize];
                base.write(wave, lane, bit, 8, byte.into());
            }
        }
    }
}

/// The exact sum of an element's products and the sum of their magnitudes. `signs` change A's, B's and C's values.
fn expected(
    op: &MatrixOp,
    operands: &Operands,
    case: &Case,
    [block, row, column]: [u32; 3],
    a_of: impl Fn(u32, u32, u32) -> f64,
    b_of: impl Fn(u32, u32, u32) -> f64,
    c: f64,
) -> (f64, f64) {
    let Sizes { kept, k, .. } = Sizes::of(op);
    let scale = |at: usize, outer: u32, k_at: u32| match (op.values_per_scale(), case.scales[at]) {
        (None, _) => 1.0,
        (_, Scale { source: Err((_, byte)), format, .. }) => scale_value(format, byte),
        (Some(values), Scale { format, .. }) => {
            scale_value(format, operands.scales[at][(outer * (k / values) + k_at / values) as usize])
        }
    };
    let (mut sum, mut magnitude) = (c, c.abs());
    for at in 0..kept {
        let k = if op.is_sparse() { at / 2 * 4 + operands.index[(row * kept + at) as usize] } else { at };
        let scales = scale(0, row, k) * scale(1, column, k);
        let product = a_of(block, row, at) * b_of(block, k, column) * scales;
        sum += product;
        magnitude += product.abs();
    }
    (sum, magnitude)
}

/// Runs a case and compares each element of D: exactly, or within what the family may lose.
fn check(recorded: &Recorded, case: &Case, operands: &Operands, exact: bool, random: &mut Random) {
    let Recorded { op, matrices } = recorded;
    let Sizes { m, n, k, kept, blocks } = Sizes::of(op);
    let mfma = op.generation().wave_sizes()[0] == 64;
    let mut wave = Wave::new(op.generation(), op.lanes()).expect("a size of the generation");
    let around = case.d.first as usize - 2..case.d.first as usize + 34;
    for register in around.clone().chain(0..72) {
        for lane in 0..op.lanes() as usize {
            wave.set_vgpr(lane, register, random.next() as u32);
            wave.set_agpr(lane, register, random.next() as u32);
        }
    }
    wave.set_sgpr(10, 0x0482_7d80);
    // Matrix products do not ask which lanes are on.
    wave.set_exec(random.next());
    let facts = [&matrices[&'A'], &matrices[&'B'], &matrices[&'D']];
    place(&mut wave, recorded, case, operands);
    place_scales(&mut wave, recorded, case, operands);
    let before = wave.clone();
    let words = case.words(op, mfma);
    let name = format!("{} {} wave{} {case:x?}", op.generation(), op.op(), op.lanes());
    step(&mut wave, &words).unwrap_or_else(|error| panic!("{name}: {error}"));

    let format = |matrix| op.format(matrix).expect("every instruction has it");
    let integer = format(Matrix::A).is_integer();
    let bit = |bits: u32, at: u32| bits >> at & 1 != 0;
    let signed = [0, 1].map(|at| mfma || bit(case.neg, at));
    let doubles = format(Matrix::A) == Format::F64;
    let fixed = doubles || op.is_sparse() || op.chooses_formats();
    // Where the lanes that hold A and B are replaced by others, the elements that those hold are read.
    let size = 64 >> case.cbsz;
    let moved_a = |lane: u32| if case.cbsz == 0 || fixed { lane } else { lane % size + size * case.abid };
    let moved_b = |lane: u32| match case.blgp {
        _ if fixed => lane,
        0 => lane,
        1 => lane % 32,
        2 => lane % 32 + 32,
        3 => (lane + 16) % 64,
        group => lane % 16 + 16 * (group - 4),
    };
    let flip = |negate: bool, value: f64| if negate && !integer { -value } else { value };
    let odd = |bit_of: u32, format: Format| !(bit_of / format.bits()).is_multiple_of(2) && format.bits() == 16;
    let negated = |at: u32, bit_at: u32, format: Format| {
        if doubles {
            bit(case.blgp, at)
        } else if mfma {
            false
        } else if odd(bit_at, format) {
            bit(case.neg_hi, at)
        } else {
            bit(case.neg, at)
        }
    };
    let takes = !doubles || op.generation() != Generation::Cdna2;
    let small = format(Matrix::A).bits() == 8;
    let a_of = |block: u32, row: u32, at: u32| {
        let column = if op.is_sparse() { at / 2 * 4 } else { at };
        let (lane, place) = facts[0].place([block, row, column]);
        let place = place + if op.is_sparse() { at % 2 * format(Matrix::A).bits() } else { 0 };
        let bits = case.a.read(&before, moved_a(lane), place, format(Matrix::A).bits());
        let plain = value(format(Matrix::A), signed[0], bits);
        flip(takes && !small && negated(0, place, format(Matrix::A)), plain)
    };
    let b_of = |block: u32, row: u32, column: u32| {
        let (lane, place) = facts[1].place([block, row, column]);
        let bits = case.b.read(&before, moved_b(lane), place, format(Matrix::B).bits());
        flip(takes && !small && negated(1, place, format(Matrix::B)), value(format(Matrix::B), signed[1], bits))
    };
    let half = if format(Matrix::D).bits() == 16 { 16 * (case.op_sel >> 2) } else { 0 };
    assert_eq!(operands.b.len() as u32, blocks * k * n);
    assert_eq!(operands.a.len() as u32, blocks * m * kept);
    let mut written = vec![[0u32; 64]; 32];
    for at in 0..blocks * m * n {
        let [block, row, column] = [at / n / m, at / n % m, at % n];
        let (lane, place) = facts[2].place([block, row, column]);
        let bits = format(Matrix::D).bits();
        let got = case.d.read(&wave, lane, place + half, bits);
        let c = match case.c {
            Err((_, value)) if !op.is_sparse() => value,
            _ => value(format(Matrix::C), true, operands.c[at as usize]),
        };
        let signs = !mfma || op.values_per_scale().is_some();
        let c = if !integer && signs && bit(case.neg_hi, 2) { c.abs() } else { c };
        let negative = if doubles { takes && bit(case.blgp, 2) } else { signs && bit(case.neg, 2) };
        let c = flip(negative, c);
        let (sum, magnitude) = expected(op, operands, case, [block, row, column], a_of, b_of, c);
        let sum = match (integer, case.clamp) {
            (true, true) => sum.clamp(f64::from(i32::MIN), f64::from(i32::MAX)),
            (true, false) => f64::from(sum as i64 as i32),
            _ => sum,
        };
        let result = value(format(Matrix::D), true, got);
        if result == sum || (result.is_nan() && sum.is_nan()) {
            // As it should be.
        } else if exact || integer {
            assert_eq!(result, sum, "{name} D[{block},{row},{column}]");
        } else {
            let lost = match format(Matrix::D) {
                Format::F64 => 2f64.powi(-50),
                Format::F16 => 2f64.powi(-8),
                Format::Bf16 => 2f64.powi(-4),
                _ => 2f64.powi(-21),
            };
            // Beyond the numbers of 16 bits.
            let beyond = format(Matrix::D) == Format::F16 && sum.abs() > 65_000.0;
            let special = (beyond && result == f64::INFINITY.copysign(sum)) || (result.is_nan() && sum.is_nan());
            let near = special || (result - sum).abs() <= magnitude * lost + 2f64.powi(-140);
            assert!(near, "{name} D[{block},{row},{column}]: {result} for {sum}");
        }
        for bit in place + half..place + half + bits {
            written[(bit / 32) as usize][lane as usize] |= 1 << (bit % 32);
        }
    }
    // What no element lies in stays as it was.
    for register in around.map(|register| register as u32) {
        for lane in 0..op.lanes() {
            for accumulation in [false, true] {
                let base = Base { accumulation, first: register };
                let of_d =
                    register.checked_sub(case.d.first).filter(|at| *at < 32 && accumulation == case.d.accumulation);
                let mask = of_d.map_or(0, |at| written[at as usize][lane as usize]);
                let [old, new] = [&before, &wave].map(|wave| base.read(wave, lane, 0, 32) as u32 & !mask);
                assert_eq!(old, new, "{name} register {register} lane {lane}");
            }
        }
    }
}

/// Whether sums of small numbers are exact: RDNA 3 loses a bit where signs differ, bfloat16 has few, and scales make
/// numbers differ much.
fn is_exact(op: &MatrixOp) -> bool {
    let rdna3 = matches!(op.generation(), Generation::Rdna3 | Generation::Rdna3_5);
    let integer = op.format(Matrix::A).is_some_and(Format::is_integer);
    integer || (!rdna3 && op.format(Matrix::D) != Some(Format::Bf16) && op.values_per_scale().is_none())
}

/// Values that every format has and whose sums are exact.
fn exact_value(random: &mut Random, format: Format, accumulator: bool) -> u64 {
    if format.is_integer() && !accumulator {
        return random.next() & (u64::MAX >> (64 - format.bits()));
    }
    let values = if accumulator {
        [-7.0, -4.0, -2.0, 0.0, 1.0, 3.0, 5.0, 6.0]
    } else {
        [-3.0, -2.0, -1.0, 0.0, 0.0, 1.0, 1.5, 2.0]
    };
    let value = values[random.below(8) as usize];
    encode(format, if format.is_integer() { value * 1e8 } else { value })
}

/// Random finite values, of any bits for the small formats and of exponents near 0 for the others.
fn any_value(random: &mut Random, format: Format, _: bool) -> u64 {
    loop {
        let bits = random.next() & (u64::MAX >> (64 - format.bits()));
        let near = |bias: u64, man: u32, exp: u32| {
            let field = bias - 12 + random_below(bits, 16);
            bits & !(((1 << exp) - 1) << man) | field << man
        };
        let bits = match format {
            Format::F64 => near(1023, 52, 11),
            Format::F32 | Format::Xf32 => near(127, 23, 8),
            Format::Bf16 => near(127, 7, 8),
            Format::F16 => near(15, 10, 5),
            _ => bits,
        };
        if value(format, true, bits).is_finite() {
            return bits;
        }
    }
}

fn random_below(bits: u64, n: u64) -> u64 {
    (bits >> 3 ^ bits >> 17 ^ bits >> 40) % n
}

#[test]
fn products_are_those_of_wider_arithmetic() {
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let mut tested = 0;
    for recorded in mixed(&mut random, recorded()) {
        let op = recorded.op;
        let mfma = op.generation().wave_sizes()[0] == 64;
        for round in 0..2 {
            let mut case = Case::plain(&op);
            if mfma && op.generation() != Generation::Cdna1 {
                case.a.accumulation = random.below(2) != 0;
                case.b.accumulation = random.below(2) != 0;
                case.d.accumulation = random.below(2) != 0;
                case.c = Ok(Base { accumulation: case.d.accumulation, ..Base::v(66) });
            }
            if op.is_sparse() {
                // One of the sets of the index.
                let sets = 32 / (2 * op.layout(Matrix::Index).map_or(1, |index| 32 / index.sets() / 2));
                let set = random.below(u64::from(sets.max(1))) as u32;
                if mfma { case.abid = set } else { case.op_sel = set }
            } else if op.layout(Matrix::D).is_some_and(|d| d.sets() == 2) {
                case.op_sel = 4 * random.below(2) as u32;
            }
            for (scale, matrix) in case.scales.iter_mut().zip([Matrix::ScaleA, Matrix::ScaleB]) {
                let sets = op.layout(matrix).map_or(1, |layout| layout.sets());
                scale.set = random.below(sets.into()) as u32;
                if !mfma {
                    scale.format = random.below(3) as u32;
                }
            }
            let exact = round < 1 && is_exact(&op);
            let operands = match round < 1 {
                true => operands(&op, &mut random, exact_value),
                false => operands(&op, &mut random, any_value),
            };
            check(&recorded, &case, &operands, exact, &mut random);
        }
        tested += 1;
    }
    let some = [Generation::Cdna1, Generation::Cdna2, Generation::Cdna3, Generation::Rdna3, Generation::Rdna4];
    assert!(tested > 0 || some.iter().all(|generation| !generation.is_available()));
}

#[test]
fn modifiers_change_operands() {
    let mut random = Random(0x0123_4567_89ab_cdef);
    for recorded in recorded() {
        let op = recorded.op;
        let mfma = op.generation().wave_sizes()[0] == 64;
        let integer = op.format(Matrix::A).is_some_and(Format::is_integer);
        let plain = Case::plain(&op);
        let mut cases = Vec::new();
        if mfma && !op.is_sparse() {
            // As many blocks of A as there are can be broadcast.
            for cbsz in 0..=op.shape().blocks.ilog2() {
                let abid = random.below(1 << cbsz) as u32;
                cases.push(Case { cbsz, abid, blgp: random.below(8) as u32, ..plain.clone() });
            }
            for (code, bits) in [(128, 0u32), (193, u32::MAX), (242, 1f32.to_bits()), (247, (-4f32).to_bits())] {
                let value = match op.format(Matrix::C) {
                    Some(Format::I32) => f64::from(bits as i32),
                    Some(Format::F64) => match code {
                        242.. => f64::from(f32::from_bits(bits)),
                        _ => f64::from_bits(i64::from(bits as i32) as u64),
                    },
                    _ => f64::from(f32::from_bits(bits)),
                };
                if value.is_finite() {
                    cases.push(Case { c: Err((code, value)), ..plain.clone() });
                }
            }
        } else if mfma {
            cases.push(Case { cbsz: 1, abid: 1, ..plain.clone() });
        } else {
            let signs = if integer { 4 } else { 8 };
            for neg in 0..signs {
                let neg_hi = if integer { 0 } else { random.below(8) as u32 };
                let neg = if op.is_sparse() { neg & 3 } else { neg };
                let neg_hi = if op.is_sparse() { neg_hi & 3 } else { neg_hi };
                if op.format(Matrix::A).is_some_and(|a| a.bits() < 16) && !integer && (neg | neg_hi) & 3 != 0 {
                    // These have no signs of A and B.
                    continue;
                }
                cases.push(Case { neg, neg_hi, ..plain.clone() });
            }
            if integer {
                cases.push(Case { clamp: true, neg: 3, ..plain.clone() });
                cases.push(Case { clamp: false, neg: 3, ..plain.clone() });
            }
            if !op.is_sparse() && !op.chooses_formats() {
                let (code, value) = if integer { (193, -1.0) } else { (242, 1.0) };
                cases.push(Case { c: Err((code, value)), neg: if integer { 3 } else { 0 }, ..plain });
            }
        }
        if op.values_per_scale().is_some() {
            // Operands that are no registers: s10 is 0x04_82_7d_80, of which CDNA 5 takes the lowest byte.
            let sources: &[(u32, u32)] =
                if mfma { &[(242, 127), (244, 128), (10, 0x80)] } else { &[(128, 127), (10, 0x80)] };
            for &source in sources {
                let scale = Scale { source: Err(source), set: 0, format: 0 };
                cases.push(Case { scales: [scale, plain_scale(1)], neg: 4, ..Case::plain(&op) });
                cases.push(Case { scales: [plain_scale(0), scale], neg_hi: 4, ..Case::plain(&op) });
            }
            if mfma {
                let scale = Scale { source: Err((10, 0x7d)), set: 1, format: 0 };
                cases.push(Case { scales: [scale, scale], ..Case::plain(&op) });
            }
        }
        for case in cases {
            let exact = is_exact(&op);
            let mut operands = operands(&op, &mut random, exact_value);
            if integer {
                // Near the largest, so that sums wrap or saturate.
                operands.c.iter_mut().step_by(3).for_each(|c| *c = 0x7fff_ff80);
                operands.c.iter_mut().skip(1).step_by(3).for_each(|c| *c = 0x8000_0080);
            }
            check(&recorded, &case, &operands, exact, &mut random);
        }
    }
}

#[test]
fn infinities_and_nan_reach_the_results_they_belong_to() {
    let mut random = Random(0xfedc_ba98_7654_3210);
    for recorded in recorded() {
        let op = recorded.op;
        let Sizes { m, n, k, kept, blocks } = Sizes::of(&op);
        for matrix in [Matrix::A, Matrix::B, Matrix::C] {
            let format = op.format(matrix).expect("every instruction has it");
            let (infinity, nan, sign) = match format {
                Format::F64 => (0x7ff0_0000_0000_0000, 0x7ff8_0000_0000_0000, 63),
                Format::F32 | Format::Xf32 => (0x7f80_0000, 0x7fc0_0000, 31),
                Format::F16 => (0x7c00, 0x7e00, 15),
                Format::Bf16 => (0x7f80, 0x7fc0, 15),
                Format::Bf8 => (0x7c, 0x7f, 7),
                Format::Fp8 => (0x7f, 0x7f, 7),
                Format::Fp8Fnuz | Format::Bf8Fnuz => (0x80, 0x80, 6),
                _ => continue,
            };
            let mut operands = operands(&op, &mut random, exact_value);
            let (values, count) = match matrix {
                Matrix::A => (&mut operands.a, blocks * m * kept),
                Matrix::B => (&mut operands.b, blocks * k * n),
                _ => (&mut operands.c, blocks * m * n),
            };
            let mut put = |value: u64| values[random.below(count.into()) as usize] = value;
            put(infinity);
            put(infinity | 1 << sign);
            put(nan);
            check(&recorded, &Case::plain(&op), &operands, is_exact(&op), &mut random);
        }
    }
}

/// Fills an operand with one value; gives lane 0 of D's first register.
fn uniform(op: &MatrixOp, mode: Option<Mode>, case: &Case, values: [u32; 3], registers: u32) -> u32 {
    let mut wave = Wave::new(op.generation(), op.lanes()).expect("a size of the generation");
    if let Some(mode) = mode {
        wave.set_mode(mode);
    }
    let c = case.c.expect("registers");
    for (base, value) in [case.a, case.b, c].into_iter().zip(values) {
        for register in 0..registers {
            for lane in 0..op.lanes() {
                base.write(&mut wave, lane, 32 * register, 32, value.into());
            }
        }
    }
    let mfma = op.generation().wave_sizes()[0] == 64;
    step(&mut wave, &case.words(op, mfma)).expect("executes");
    case.d.read(&wave, 0, 0, 32) as u32
}

#[cfg(feature = "cdna3")]
#[test]
fn single_products_of_cdna3_are_fused() {
    let op = matrices::find(Generation::Cdna3, "V_MFMA_F32_16X16X4_F32", 64);
    // One product a sum: other lanes hold 0.
    let case = Case::plain(&op);
    let mut wave = Wave::new(Generation::Cdna3, 64).expect("a size of the generation");
    let c = -(1.0 + 2f32.powi(-11));
    case.a.write(&mut wave, 0, 0, 32, 0x3f80_0800);
    case.b.write(&mut wave, 0, 0, 32, 0x3f80_0800);
    case.c.expect("registers").write(&mut wave, 0, 0, 32, c.to_bits().into());
    step(&mut wave, &case.words(&op, true)).expect("executes");
    assert_eq!(case.d.read(&wave, 0, 0, 32), 0x3380_0000);
}

#[cfg(all(feature = "rdna3", feature = "rdna4"))]
#[test]
fn integer_sums_wrap_unless_clamped() {
    for generation in [Generation::Rdna3, Generation::Rdna4] {
        let op = matrices::find(generation, "V_WMMA_I32_16X16X16_IU8", 32);
        for (clamp, expected) in [(false, 0x8000_000f), (true, 0x7fff_ffff)] {
            let case = Case { clamp, neg: 3, ..Case::plain(&op) };
            assert_eq!(uniform(&op, None, &case, [0x0101_0101, 0x0101_0101, 0x7fff_ffff], 8), expected, "{generation}");
        }
    }
}

#[cfg(all(feature = "cdna1", feature = "cdna2", feature = "cdna3"))]
#[test]
fn denormals_are_kept_or_not() {
    let names = ["V_MFMA_F32_4X4X4F16", "V_MFMA_F32_4X4X4F16", "V_MFMA_F32_4X4X4_16B_F16"];
    let four = (4.0 * 2f32.powi(-24)).to_bits();
    for ((generation, name), expected) in
        [Generation::Cdna1, Generation::Cdna2, Generation::Cdna3].into_iter().zip(names).zip([four, 0, four])
    {
        let op = matrices::find(generation, name, 64);
        assert_eq!(uniform(&op, None, &Case::plain(&op), [0x0001_0001, 0x3c00_3c00, 0], 2), expected, "{generation}");
    }
    // Factors of 32 bits obey the mode, the accumulator does not.
    let op = matrices::find(Generation::Cdna3, "V_MFMA_F32_4X4X1_16B_F32", 64);
    let two = 2f32.to_bits();
    for (mode, expected) in [(0xf0, 4), (0xe0, 2)] {
        assert_eq!(uniform(&op, Some(Mode(mode)), &Case::plain(&op), [1, two, 2], 1), expected, "{mode:#x}");
    }
}

#[cfg(all(feature = "cdna3", feature = "rdna4"))]
#[test]
fn overflow_gives_the_largest_number_where_the_mode_says_so() {
    // Sums of products of 2^127 and 1.
    let op = matrices::find(Generation::Cdna3, "V_MFMA_F32_32X32X8_BF16", 64);
    let operands = [0x7f00_7f00, 0x3f80_3f80, 0];
    let ovfl = 1 << 23;
    for (mode, expected) in [(0xf0, 0x7f80_0000), (0xf0 | ovfl, f32::MAX.to_bits())] {
        assert_eq!(uniform(&op, Some(Mode(mode)), &Case::plain(&op), operands, 2), expected, "{mode:#x}");
    }
    // What is infinite by itself stays so.
    let infinite = [0x7f00_7f00, 0x3f80_3f80, f32::INFINITY.to_bits()];
    assert_eq!(uniform(&op, Some(Mode(0xf0 | ovfl)), &Case::plain(&op), infinite, 2), 0x7f80_0000);
    let op = matrices::find(Generation::Rdna4, "V_WMMA_F16_16X16X16_F16", 32);
    let operands = [0x7bff_7bff, 0x3c00_3c00, 0x7bff_7bff];
    for (mode, expected) in [(0xf0, 0x7c00_7c00), (0xf0 | ovfl, 0x7bff_7bff)] {
        assert_eq!(uniform(&op, Some(Mode(mode)), &Case::plain(&op), operands, 4), expected, "{mode:#x}");
    }
    // Integers saturate.
    let op = matrices::find(Generation::Cdna3, "V_MFMA_I32_32X32X16_I8", 64);
    for (mode, expected) in [(0xf0, 0x8000_000f), (0xf0 | ovfl, 0x7fff_ffff)] {
        let operands = [0x0101_0101, 0x0101_0101, 0x7fff_ffff];
        assert_eq!(uniform(&op, Some(Mode(mode)), &Case::plain(&op), operands, 2), expected, "{mode:#x}");
    }
}

#[cfg(feature = "cdna5")]
#[test]
fn high_bits_of_registers_move_the_operands_of_cdna5() {
    let mut random = Random(0x5555_1234_9876_abcd);
    for name in ["V_WMMA_F32_16X16X32_F16", "V_SWMMAC_F32_16X16X64_F16"] {
        let op = matrices::find(Generation::Cdna5, name, 32);
        let plain = Case::plain(&op);
        let high = |base: Base, bank: u32| Base { first: base.first + 256 * bank, ..base };
        // Of the destination 3, of the sources 1, 2 and 1.
        let [mut low, mut moved] = [0, 1].map(|_| Wave::new(Generation::Cdna5, 32).expect("a size of the generation"));
        moved.set_mode(Mode(0xf0 | 3 << 12 | 1 << 14 | 2 << 16 | 1 << 18));
        for register in 0..32 {
            for lane in 0..32 {
                // Small 16-bit floats, and for the index and the accumulator the same bits.
                let value = 0x3c00_3800 + (random.next() & 0x01ff_81ff);
                let third = Base::v(if op.is_sparse() { plain.index } else { 66 });
                let sums = if op.is_sparse() { [plain.d, high(plain.d, 3)] } else { [plain.d, plain.d] };
                for [base, there] in
                    [[plain.a, high(plain.a, 1)], [plain.b, high(plain.b, 2)], [third, high(third, 1)], sums]
                {
                    base.write(&mut low, lane, 32 * register, 32, value);
                    there.write(&mut moved, lane, 32 * register, 32, value);
                }
            }
        }
        step(&mut low, &plain.words(&op, false)).expect("executes");
        step(&mut moved, &plain.words(&op, false)).expect("executes");
        for bit in (0..256).step_by(32) {
            let results = [plain.d.read(&low, 7, bit, 32), high(plain.d, 3).read(&moved, 7, bit, 32)];
            assert_eq!(results[0], results[1], "{name}");
        }
    }
}
