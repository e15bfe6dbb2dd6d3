//! The arithmetic of [`super::dot`] and the plain chains, on rows of results: loops that the compiler vectorises.

use super::dot::EMPTY;

/// Factors of A and B with what belongs to them, and where each value of A finds its row of B.
pub(super) struct Product<'a, T> {
    /// By k and row.
    pub(super) a: &'a [T],
    /// By k and column.
    pub(super) b: &'a [T],
    /// By k and row: the row of B that a value of A meets; none where it is k.
    pub(super) meets: Option<&'a [u16]>,
    /// Rows of A, values of each, and rows of B.
    pub(super) m: usize,
    pub(super) kept: usize,
    pub(super) k: usize,
}

impl<T: Copy> Product<'_, T> {
    #[inline(always)]
    pub(super) fn a(&self, block: usize, row: usize, k: usize) -> T {
        self.a[(block * self.kept + k) * self.m + row]
    }

    /// The row of B that a value of A meets.
    #[inline(always)]
    pub(super) fn at(&self, row: usize, k: usize) -> usize {
        self.meets.map_or(k, |meets| usize::from(meets[k * self.m + row]))
    }

    #[inline(always)]
    pub(super) fn b<const N: usize>(&self, block: usize, row: usize) -> &[T; N] {
        let first = (block * self.k + row) * N;
        self.b[first..first + N].first_chunk().unwrap_or_else(|| unreachable!("a slice of N"))
    }
}

/// Fused multiply-adds, one after the other.
#[inline(always)]
pub(super) fn chain<const N: usize>(p: &Product<f32>, c: &mut [f32], blocks: usize) {
    for (at, c) in c.chunks_exact_mut(N).enumerate().take(blocks * p.m) {
        let (block, row) = (at / p.m, at % p.m);
        let mut sums: [f32; N] = core::array::from_fn(|j| c[j]);
        for k in 0..p.kept {
            let a = p.a(block, row, k);
            let b: &[f32; N] = p.b(block, p.at(row, k));
            for j in 0..N {
                sums[j] = a.mul_add(b[j], sums[j]);
            }
        }
        c.copy_from_slice(&sums);
    }
}

/// As [`chain`], in 64 bits.
#[inline(always)]
pub(super) fn chain64<const N: usize>(p: &Product<f64>, c: &mut [f64], blocks: usize) {
    for (at, c) in c.chunks_exact_mut(N).enumerate().take(blocks * p.m) {
        let (block, row) = (at / p.m, at % p.m);
        for k in 0..p.kept {
            let a = p.a(block, row, k);
            let b: &[f64; N] = p.b(block, p.at(row, k));
            for j in 0..N {
                c[j] = a.mul_add(b[j], c[j]);
            }
        }
    }
}

/// Pairs of products, pairs of pairs, then the accumulator, each sum rounded: CDNA 1 and 2, where `flush` says what
/// becomes of each sum's denormals.
#[inline(always)]
pub(super) fn pairwise<const N: usize>(
    p: &Product<f32>,
    c: &mut [f32],
    blocks: usize,
    group: usize,
    flush: impl Fn(f32) -> f32,
) {
    for (at, c) in c.chunks_exact_mut(N).enumerate().take(blocks * p.m) {
        let (block, row) = (at / p.m, at % p.m);
        for first in (0..p.kept).step_by(group) {
            let product = |k: usize| -> [f32; N] {
                let a = p.a(block, row, k);
                let b: &[f32; N] = p.b(block, p.at(row, k));
                core::array::from_fn(|j| flush(a * b[j]))
            };
            let pair = |k: usize| -> [f32; N] {
                let (x, y) = (product(k), product(k + 1));
                core::array::from_fn(|j| flush(x[j] + y[j]))
            };
            let mut sum = pair(first);
            if group == 4 {
                let more = pair(first + 2);
                for j in 0..N {
                    sum[j] = flush(sum[j] + more[j]);
                }
            }
            for j in 0..N {
                c[j] = flush(c[j] + sum[j]);
            }
        }
    }
}

/// Exact products of each block of k, scaled, then the accumulator, rounded once a block.
#[inline(always)]
pub(super) fn scaled<const N: usize>(p: &Product<f32>, scales: [&[f32]; 2], c: &mut [f32], block_of_k: usize) {
    let [scale_a, scale_b] = scales;
    for (row, c) in c.chunks_exact_mut(N).enumerate().take(p.m) {
        for first in (0..p.k).step_by(block_of_k) {
            let mut sums = [0f64; N];
            for k in first..first + block_of_k {
                let a = f64::from(p.a(0, row, k));
                let b: &[f32; N] = p.b(0, k);
                for j in 0..N {
                    sums[j] += a * f64::from(b[j]);
                }
            }
            let by_a = f64::from(scale_a[first / block_of_k * p.m + row]);
            let by_b = &scale_b[first / block_of_k * N..][..N];
            for j in 0..N {
                c[j] = (f64::from(c[j]) + sums[j] * by_a * f64::from(by_b[j])) as f32;
            }
        }
    }
}

/// Integers: sums wrap.
#[inline(always)]
pub(super) fn integers<const N: usize>(p: &Product<i32>, c: &mut [u32], blocks: usize) {
    for (at, c) in c.chunks_exact_mut(N).enumerate().take(blocks * p.m) {
        let (block, row) = (at / p.m, at % p.m);
        let mut sums: [u32; N] = core::array::from_fn(|j| c[j]);
        for k in 0..p.kept {
            let a = p.a(block, row, k);
            let b: &[i32; N] = p.b(block, p.at(row, k));
            for j in 0..N {
                sums[j] = sums[j].wrapping_add(a.wrapping_mul(b[j]) as u32);
            }
        }
        c.copy_from_slice(&sums);
    }
}

/// Integers: the sum is exact, then clamped to 32 bits.
#[inline(always)]
pub(super) fn clamped<const N: usize>(p: &Product<i32>, c: &mut [u32], blocks: usize) {
    for (at, c) in c.chunks_exact_mut(N).enumerate().take(blocks * p.m) {
        let (block, row) = (at / p.m, at % p.m);
        for (j, c) in c.iter_mut().enumerate() {
            let products = (0..p.kept).map(|k| {
                let b: &[i32; N] = p.b(block, p.at(row, k));
                i64::from(p.a(block, row, k)) * i64::from(b[j])
            });
            let sum = i64::from(*c as i32) + products.sum::<i64>();
            *c = sum.clamp(i32::MIN.into(), i32::MAX.into()) as i32 as u32;
        }
    }
}

/// A finite factor for the rows: the significand, of A already where a product of this format has 24 bits below its
/// exponent; and all ones where it is negative.
#[derive(Debug, Clone, Copy)]
pub(super) struct Part {
    pub(super) significand: i32,
    pub(super) exponent: i32,
    pub(super) sign: i32,
}

/// The parts of factors, apart.
pub(super) struct Parts<'a> {
    pub(super) significand: Product<'a, i32>,
    pub(super) exponent: Product<'a, i32>,
    pub(super) sign: Product<'a, i32>,
}

impl Parts<'_> {
    #[inline(always)]
    fn a(&self, block: usize, row: usize, k: usize) -> Part {
        Part {
            significand: self.significand.a(block, row, k),
            exponent: self.exponent.a(block, row, k),
            sign: self.sign.a(block, row, k),
        }
    }

    /// Magnitudes, exponents and signs of a row of products.
    #[inline(always)]
    fn products<const N: usize>(&self, block: usize, row: usize, k: usize) -> [[i32; N]; 3] {
        let a = self.a(block, row, k);
        let at = self.significand.at(row, k);
        let (significand, exponent): (&[i32; N], &[i32; N]) =
            (self.significand.b(block, at), self.exponent.b(block, at));
        let sign: &[i32; N] = self.sign.b(block, at);
        [
            core::array::from_fn(|j| a.significand.wrapping_mul(significand[j])),
            core::array::from_fn(|j| a.exponent + exponent[j]),
            core::array::from_fn(|j| a.sign ^ sign[j]),
        ]
    }
}

#[inline(always)]
fn power(exponent: i32) -> f64 {
    f64::from_bits(((i64::from(exponent.clamp(-1022, 1023)) + 1023) << 52) as u64)
}

/// Two powers of two whose product is `2^exponent`.
#[inline(always)]
fn powers(exponent: i32) -> [f32; 2] {
    let half = exponent >> 1;
    [half, exponent - half].map(|exponent| f32::from_bits(((exponent.clamp(-126, 127) + 127) as u32) << 23))
}

#[inline(always)]
fn maximum<const N: usize>(a: &[i32; N], b: &[i32; N]) -> [i32; N] {
    core::array::from_fn(|j| a[j].max(b[j]))
}

/// [`super::dot::cdna3`] on rows.
#[inline(always)]
pub(super) fn cdna3<const N: usize>(p: &Parts, c: &mut [f32], blocks: usize, group: usize, bytes: bool) {
    let (m, kept) = (p.significand.m, p.significand.kept);
    for (at, c) in c.chunks_exact_mut(N).enumerate().take(blocks * m) {
        let (block, row) = (at / m, at % m);
        for first in (0..kept).step_by(group) {
            let sum = |from: usize, step: usize| -> [[i32; N]; 2] {
                let mut most = [2 * EMPTY; N];
                for k in (first + from..first + group).step_by(step) {
                    let a = p.exponent.a(block, row, k);
                    let b: &[i32; N] = p.exponent.b(block, p.exponent.at(row, k));
                    most = core::array::from_fn(|j| most[j].max(a + b[j]));
                }
                let mut sum = [0i32; N];
                for k in (first + from..first + group).step_by(step) {
                    let [magnitude, exponent, sign] = p.products::<N>(block, row, k);
                    for j in 0..N {
                        let kept = magnitude[j] >> (most[j] - exponent[j]).min(31);
                        sum[j] += (kept ^ sign[j]) - sign[j];
                    }
                }
                [sum, most]
            };
            let [sum, most] = if bytes {
                let ([even, at_even], [odd, at_odd]) = (sum(0, 2), sum(1, 2));
                let most = maximum(&at_even, &at_odd);
                let sum = core::array::from_fn(|j| {
                    (even[j] >> (most[j] - at_even[j]).min(31)) + (odd[j] >> (most[j] - at_odd[j]).min(31))
                });
                [sum, most]
            } else {
                sum(0, 1)
            };
            for j in 0..N {
                let bits = c[j].to_bits();
                let field = (bits >> 23 & 0xff) as i32;
                let at_c = field.max(1) - 127;
                let top = most[j].max(at_c);
                let total = (f64::from(sum[j]) * power(7 + most[j] - top)).floor();
                let mut kept = (f64::from(c[j]) * power(24 - top)).floor();
                if bytes && at_c < top - 25 {
                    kept = 0.0;
                }
                let rounded = ((total + kept * 128.0) * power(top - 31)) as f32;
                c[j] = if field == 255 { c[j] } else { rounded };
            }
        }
    }
}

/// [`super::dot::rdna4`] on rows, steps of four; whether no result needs to be done again is the answer: where one is near
/// the denormals, it may.
#[inline(always)]
pub(super) fn rdna4<const N: usize>(p: &Parts, c: &mut [f32], blocks: usize, bytes: bool) -> bool {
    let (m, kept) = (p.significand.m, p.significand.kept);
    let mut exact = true;
    for (at, c) in c.chunks_exact_mut(N).enumerate().take(blocks * m) {
        let (block, row) = (at / m, at % m);
        for first in (0..kept).step_by(4) {
            let products: [[[i32; N]; 3]; 4] = core::array::from_fn(|k| p.products::<N>(block, row, first + k));
            let [x, y, z, w] = &products;
            let (mut left, mut right) = (maximum(&x[1], &y[1]), maximum(&z[1], &w[1]));
            let most = maximum(&left, &right);
            if bytes {
                (left, right) = (most, most);
            }
            let mut near = 0u32;
            for j in 0..N {
                let part = |[magnitude, exponent, sign]: &[[i32; N]; 3], most: i32| {
                    ((magnitude[j] ^ sign[j]) - sign[j]) >> (most - exponent[j]).min(31)
                };
                let bits = c[j].to_bits();
                let field = (bits >> 23 & 0xff) as i32;
                let fraction = (bits & 0x7f_ffff) as i32;
                let significand = if field != 0 { fraction | 0x80_0000 } else { fraction };
                let negative = bits as i32 >> 31;
                let at_c = field.max(1) - 127;
                let grid = (most[j] - 24).max(at_c - 26);
                let shift = (grid - (at_c - 26)).min(31);
                let lost = grid > -126 && (significand << 3) >> shift == 0;
                let kept = (((significand << 3) ^ negative) - negative) >> shift;
                let kept = if lost { 0 } else { kept };
                let [sum_left, sum_right] =
                    [part(x, left[j]) + part(y, left[j]), part(z, right[j]) + part(w, right[j])];
                let fall = |most: i32| (grid + 24 - most).min(31);
                let total = if bytes {
                    (sum_left + sum_right) >> fall(most[j])
                } else {
                    (sum_left >> fall(left[j])) + (sum_right >> fall(right[j]))
                };
                let total = total + kept;
                let [high, low] = powers(grid);
                let rounded = total as f32 * high * low;
                near |= u32::from(rounded.abs() <= f32::MIN_POSITIVE && total != 0);
                c[j] = if field == 255 { c[j] } else { rounded };
            }
            exact &= near == 0;
        }
    }
    exact
}

/// [`super::dot::rdna3`] on rows; the answer is that of [`rdna4`].
#[inline(always)]
pub(super) fn rdna3<const N: usize>(p: &Parts, c: &mut [f32], blocks: usize) -> bool {
    let (m, kept) = (p.significand.m, p.significand.kept);
    let mut exact = true;
    for (at, c) in c.chunks_exact_mut(N).enumerate().take(blocks * m) {
        let (block, row) = (at / m, at % m);
        for first in (0..kept).step_by(2) {
            let products: [[[i32; N]; 3]; 2] = core::array::from_fn(|k| p.products::<N>(block, row, first + k));
            let [x, y] = &products;
            let most = maximum(&x[1], &y[1]);
            let mut near = 0u32;
            for j in 0..N {
                let bits = c[j].to_bits();
                let field = (bits >> 23 & 0xff) as i32;
                // Denormal accumulators are 0, and have no exponent.
                let significand = if field != 0 { (bits & 0x7f_ffff) as i32 | 0x80_0000 } else { 0 };
                let at_c = if field != 0 { field - 127 } else { EMPTY };
                let negative = bits as i32 >> 31;
                let grid = (most[j] - 24).max(at_c - 26);
                let part = |[magnitude, exponent, sign]: &[[i32; N]; 3]| {
                    (magnitude[j] >> (grid + 24 - exponent[j]).min(31)) ^ sign[j] ^ negative
                };
                let total = ((significand << 3) >> (grid - (at_c - 26)).min(31)) + part(x) + part(y);
                let nothing = most[j] < -1000 && significand == 0;
                let total = if nothing { 0 } else { (total ^ negative) - negative };
                let [high, low] = powers(grid);
                let rounded = total as f32 * high * low;
                near |= u32::from(rounded.abs() <= f32::MIN_POSITIVE && total != 0);
                c[j] = if field == 255 { c[j] } else { rounded };
            }
            exact &= near == 0;
        }
    }
    exact
}
