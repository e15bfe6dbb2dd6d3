//! The compiled kernels of the reference data folder on every generation, against what a CPU computes.

#[path = "kernels/support.rs"]
mod support;

use std::iter::repeat_with;

use fastrand::Rng;
use gfx_isa::exec::{Arg, Grid};
use rustc_apfloat::Float;
use rustc_apfloat::ieee::{Half, Single};

use support::{Data, Loaded, Value, buffer, near, same, shared, values};

/// Groups of 64 that cover some items.
fn groups(items: usize) -> Grid {
    Grid::new([items.div_ceil(64) as u32, 1, 1], [64, 1, 1])
}

fn half(bits: u16) -> Half {
    Half::from_bits(bits.into())
}

fn fused(a: u16, b: u16, c: u16) -> u16 {
    half(a).mul_add(half(b), half(c)).value.to_bits() as u16
}

fn to_half(value: f32) -> u16 {
    let mut loses = false;
    let half: Half = rustc_apfloat::FloatConvert::convert(Single::from_bits(value.to_bits().into()), &mut loses).value;
    half.to_bits() as u16
}

/// Finite halves of every size.
fn random_half(rng: &mut Rng) -> u16 {
    loop {
        let bits = rng.u16(..);
        if bits & 0x7c00 != 0x7c00 {
            return bits;
        }
    }
}

/// Finite floats of moderate size.
fn random_float(rng: &mut Rng) -> f32 {
    let scale = 2f32.powi(rng.i32(-20..20));
    (rng.f32() * 2.0 - 1.0) * scale
}

fn list<T>(rng: &mut Rng, count: usize, f: impl Fn(&mut Rng) -> T) -> Vec<T> {
    repeat_with(|| f(rng)).take(count).collect()
}

/// A kernel with its reference.
type Check = fn(&mut Loaded, &mut Rng) -> Result<(), String>;

/// A kernel on three lists and a count: the last list is what it computes from all three.
fn three<T: Data + PartialEq + std::fmt::Debug>(
    loaded: &mut Loaded,
    name: &str,
    lists: [&[T]; 3],
    f: impl Fn(T, T, T) -> T,
) -> Result<(), String> {
    let [a, b, c] = lists;
    // The last few items are left as they are.
    let n = a.len() - 5;
    let args = vec![buffer(a), buffer(b), buffer(c), Value::from(n as u32)];
    let out = loaded.run(name, groups(a.len()), args)?;
    let each = (0..a.len()).map(|at| if at < n { f(a[at], b[at], c[at]) } else { c[at] });
    same(name, &out[2], &each.collect::<Vec<T>>())
}

const CHECKS: [(&str, Check); 27] = [
    ("vadd_i32", |loaded, rng| {
        let [a, b, c] = [(); 3].map(|()| list(rng, 300, |rng| rng.i32(..)));
        three(loaded, "vadd_i32", [&a, &b, &c], |a, b, _| a.wrapping_add(b))
    }),
    ("saxpy_f32", |loaded, rng| {
        let (x, y, a) = (list(rng, 300, random_float), list(rng, 300, random_float), random_float(rng));
        let args = vec![buffer(&x), buffer(&y), a.into(), 290u32.into()];
        let out = loaded.run("saxpy_f32", groups(300), args)?;
        let each = x.iter().zip(&y).enumerate().map(|(at, (x, y))| if at < 290 { a.mul_add(*x, *y) } else { *y });
        same("y", &out[1], &each.collect::<Vec<f32>>())
    }),
    ("daxpy_f64", |loaded, rng| {
        let random = |rng: &mut Rng| f64::from(random_float(rng)) * rng.f64();
        let (x, y, a) = (list(rng, 300, random), list(rng, 300, random), random(rng));
        let args = vec![buffer(&x), buffer(&y), a.into(), 290u32.into()];
        let out = loaded.run("daxpy_f64", groups(300), args)?;
        let each = x.iter().zip(&y).enumerate().map(|(at, (x, y))| if at < 290 { a.mul_add(*x, *y) } else { *y });
        same("y", &out[1], &each.collect::<Vec<f64>>())
    }),
    ("haxpy_f16", |loaded, rng| {
        let (x, y, a) = (list(rng, 300, random_half), list(rng, 300, random_half), random_half(rng));
        let args = vec![buffer(&x), buffer(&y), Value::Plain(Arg::F16(a)), 290u32.into()];
        let out = loaded.run("haxpy_f16", groups(300), args)?;
        let each = x.iter().zip(&y).enumerate().map(|(at, (x, y))| if at < 290 { fused(a, *x, *y) } else { *y });
        same("y", &out[1], &each.collect::<Vec<u16>>())
    }),
    ("reduce_lds", |loaded, rng| {
        let x = list(rng, 320, random_float);
        let out = loaded.run("reduce_lds", groups(320), vec![buffer(&x), buffer(&[0f32; 5])])?;
        let sum = |group: &[f32]| {
            let mut t = group.to_vec();
            let mut s = 32;
            while s > 0 {
                for at in 0..s {
                    t[at] += t[at + s];
                }
                s /= 2;
            }
            t[0]
        };
        same("out", &out[1], &x.chunks(64).map(sum).collect::<Vec<f32>>())
    }),
    ("matmul_tiled", |loaded, rng| {
        let n = 24;
        let (a, b) = (list(rng, n * n, random_float), list(rng, n * n, random_float));
        let args = vec![buffer(&a), buffer(&b), buffer(&vec![0f32; n * n]), (n as u32).into()];
        let out = loaded.run("matmul_tiled", groups(n * n), args)?;
        let each = (0..n * n).map(|at| {
            let (row, column) = (at / n, at % n);
            (0..n).fold(0f32, |sum, k| a[row * n + k].mul_add(b[k * n + column], sum))
        });
        same("C", &out[2], &each.collect::<Vec<f32>>())
    }),
    ("histogram", |loaded, rng| {
        let x = list(rng, 5000, |rng| rng.u8(..) & rng.u8(..));
        let args = vec![buffer(&x), buffer(&[3u32; 256]), 5000u32.into()];
        let out = loaded.run("histogram", groups(256), args)?;
        let mut bins = [3u32; 256];
        for byte in x {
            bins[usize::from(byte)] += 1;
        }
        same("bins", &out[1], &bins)
    }),
    ("atomics_mix", |loaded, _| {
        let n = 250u32;
        let args = vec![buffer(&[0i32, 0]), buffer(&[5u32, 0, u32::MAX]), buffer(&[u64::MAX - 9]), n.into()];
        let out = loaded.run("atomics_mix", groups(256), args)?;
        let each = || (0..n).map(|i| i.wrapping_mul(2_654_435_761) as i32);
        same("m", &out[0], &[each().max().unwrap_or(0).max(0), each().min().unwrap_or(0).min(0)])?;
        let xor = (0..n).fold(5, |old, i| old ^ i.wrapping_mul(0x9e37_79b9));
        let or = (0..n).fold(0, |old, i| old | 1 << (i & 31));
        let and = (0..n).fold(u32::MAX, |old, i| old & !(1 << (i & 15)));
        same("u", &out[1], &[xor, or, and])?;
        let add = (0..u64::from(n)).fold(u64::MAX - 9, |old, i| old.wrapping_add(i * i));
        same("w", &out[2], &[add])
    }),
    ("collatz", |loaded, rng| {
        let x = list(rng, 100, |rng| rng.u32(..) >> rng.u32(0..32));
        let args = vec![buffer(&x), buffer(&[9u32; 100]), 100u32.into()];
        let out = loaded.run("collatz", groups(100), args)?;
        let each = x.iter().map(|x| {
            let (mut v, mut s) = (u64::from(*x), 0);
            while v > 1 && s < 1000 {
                v = if v & 1 != 0 { 3 * v + 1 } else { v >> 1 };
                s += 1;
            }
            s
        });
        same("steps", &out[1], &each.collect::<Vec<u32>>())
    }),
    ("mandelbrot", |loaded, _| {
        // Powers of two, so that every way to divide is exact.
        let (w, h) = (32u32, 16u32);
        let out = loaded.run("mandelbrot", groups(512), vec![buffer(&[0u32; 512]), w.into(), h.into()])?;
        let each = (0..w * h).map(|i| {
            let cx = -2.0 + 3.0 * (i % w) as f32 / w as f32;
            let cy = -1.0 + 2.0 * (i / w) as f32 / h as f32;
            let (mut x, mut y, mut k) = (0f32, 0f32, 0);
            // The compiler fuses products with sums inside an expression.
            while k < 256 && x.mul_add(x, y * y) <= 4.0 {
                let t = x.mul_add(x, -(y * y)) + cx;
                y = (2.0 * x).mul_add(y, cy);
                x = t;
                k += 1;
            }
            k
        });
        same("out", &out[0], &each.collect::<Vec<u32>>())
    }),
    ("crc32", |loaded, rng| {
        let len = 19;
        let data = list(rng, 64 * len, |rng| rng.u8(..));
        let args = vec![buffer(&data), buffer(&[0u32; 64]), (len as u32).into()];
        let out = loaded.run("crc32", groups(64), args)?;
        let crc = |bytes: &[u8]| {
            !bytes.iter().fold(!0u32, |mut c, byte| {
                c ^= u32::from(*byte);
                for _ in 0..8 {
                    c = (c >> 1) ^ (0xedb8_8320 & (c & 1).wrapping_neg());
                }
                c
            })
        };
        assert_eq!(crc(b"123456789"), 0xcbf4_3926, "the check value of CRC-32");
        same("out", &out[1], &data.chunks(len).map(crc).collect::<Vec<u32>>())
    }),
    ("idiv_mix", |loaded, rng| {
        let mut a = list(rng, 100, |rng| rng.i32(..));
        let mut b = list(rng, 100, |rng| (rng.i32(..) >> rng.u32(0..30)) | 1);
        a[..6].copy_from_slice(&[i32::MIN, i32::MIN, i32::MAX, 0, -1, 1]);
        b[..6].copy_from_slice(&[1, i32::MIN, -1, 5, i32::MAX, i32::MIN]);
        let zeros = [0i32; 100];
        let args = vec![buffer(&a), buffer(&b), buffer(&zeros), buffer(&zeros), buffer(&zeros), 100u32.into()];
        let out = loaded.run("idiv_mix", groups(100), args)?;
        let pairs = || a.iter().zip(&b);
        same("q", &out[2], &pairs().map(|(a, b)| a / b).collect::<Vec<i32>>())?;
        same("r", &out[3], &pairs().map(|(a, b)| a % b).collect::<Vec<i32>>())?;
        same("uq", &out[4], &pairs().map(|(a, b)| *a as u32 / *b as u32).collect::<Vec<u32>>())
    }),
    ("ldiv_mix", |loaded, rng| {
        let a = list(rng, 100, |rng| rng.i64(..) >> rng.u32(0..63));
        let b = list(rng, 100, |rng| (rng.i64(..) >> rng.u32(0..62)) | 2);
        let zeros = [0i64; 100];
        let args = vec![buffer(&a), buffer(&b), buffer(&zeros), buffer(&zeros), 100u32.into()];
        let out = loaded.run("ldiv_mix", groups(100), args)?;
        let pairs = || a.iter().zip(&b);
        same("q", &out[2], &pairs().map(|(a, b)| a / b).collect::<Vec<i64>>())?;
        let high = |(a, b): (&i64, &i64)| ((u128::from(*a as u64) * u128::from(*b as u64)) >> 64) as u64;
        same("hi", &out[3], &pairs().map(high).collect::<Vec<u64>>())
    }),
    ("bits", |loaded, rng| {
        let mut x = list(rng, 100, |rng| rng.u32(..) >> rng.u32(0..32));
        x[..3].copy_from_slice(&[0, u32::MAX, 1 << 31]);
        let args = vec![buffer(&x), buffer(&[0u32; 600]), 100u32.into()];
        let out = loaded.run("bits", groups(100), args)?;
        let each = x.iter().flat_map(|v| {
            let rotated = v.rotate_left(v & 31);
            [v.count_ones(), v.leading_zeros(), v.trailing_zeros(), v.reverse_bits(), rotated, v.swap_bytes()]
        });
        same("o", &out[1], &each.collect::<Vec<u32>>())
    }),
    ("scan_lds", |loaded, rng| {
        let x = list(rng, 192, |rng| rng.u32(..));
        let out = loaded.run("scan_lds", groups(192), vec![buffer(&x), buffer(&[0u32; 192])])?;
        let mut expected = Vec::new();
        for group in x.chunks(64) {
            expected.extend(group.iter().scan(0u32, |sum, x| {
                *sum = sum.wrapping_add(*x);
                Some(*sum)
            }));
        }
        same("out", &out[1], &expected)
    }),
    ("bitonic64", |loaded, rng| {
        let mut x = list(rng, 192, |rng| rng.u32(..));
        let out = loaded.run("bitonic64", groups(192), vec![buffer(&x)])?;
        x.chunks_mut(64).for_each(<[u32]>::sort_unstable);
        same("x", &out[0], &x)
    }),
    ("shuffle_sum", |loaded, rng| {
        let x = list(rng, 192, |rng| rng.i32(..));
        let out = loaded.run("shuffle_sum", groups(192), vec![buffer(&x), buffer(&[0i32; 192])])?;
        let sums = x.chunks(32).map(|half| half.iter().fold(0i32, |sum, x| sum.wrapping_add(*x)));
        same("out", &out[1], &sums.flat_map(|sum| [sum; 32]).collect::<Vec<i32>>())
    }),
    ("ballot_count", |loaded, rng| {
        let x = list(rng, 192, |rng| rng.i32(-5..5));
        let out = loaded.run("ballot_count", groups(192), vec![buffer(&x), buffer(&[0u32; 192])])?;
        let lanes = loaded.lanes as usize;
        let counts = x.chunks(lanes).map(|wave| wave.iter().filter(|x| **x > 0).count() as u32);
        same("out", &out[1], &counts.flat_map(|count| vec![count; lanes]).collect::<Vec<u32>>())
    }),
    ("scratch_sort", |loaded, rng| {
        let mut x = list(rng, 16 * 100 + 7, |rng| rng.i32(-1000..1000));
        let args = vec![buffer(&x), (x.len() as u32).into()];
        let out = loaded.run("scratch_sort", groups(101), args)?;
        x.chunks_exact_mut(16).for_each(<[i32]>::sort_unstable);
        same("x", &out[0], &x)
    }),
    ("nbody", |loaded, rng| {
        let n = 70;
        let p = list(rng, 4 * n, |rng| rng.f32() * 4.0);
        let args = vec![buffer(&p), buffer(&vec![0f32; 4 * n]), (n as u32).into()];
        let out = values::<f32>(&loaded.run("nbody", groups(n), args)?[1]);
        for (i, me) in p.chunks(4).enumerate() {
            let mut sum = [0f64; 3];
            let mut size = 0f64;
            for other in p.chunks(4) {
                let d: [f64; 3] = std::array::from_fn(|at| f64::from(other[at]) - f64::from(me[at]));
                let r2 = d.iter().map(|d| d * d).sum::<f64>() + 0.01;
                let s = f64::from(other[3]) / (r2 * r2.sqrt());
                for at in 0..3 {
                    sum[at] += d[at] * s;
                    size += (d[at] * s).abs();
                }
            }
            for at in 0..3 {
                let got = f64::from(out[4 * i + at]);
                if (got - sum[at]).abs() > 4e-7 * size {
                    return Err(format!("f[{i}].{at} is {got}, not {}", sum[at]));
                }
            }
        }
        Ok(())
    }),
    ("fdiv_sqrt", |loaded, rng| {
        let (a, b) = (list(rng, 100, random_float), list(rng, 100, random_float));
        let zeros = [0f32; 100];
        let args = vec![buffer(&a), buffer(&b), buffer(&zeros), buffer(&zeros), 100u32.into()];
        let out = loaded.run("fdiv_sqrt", groups(100), args)?;
        // OpenCL's limits are 2.5 and 3 units; without device library the compiler chooses how to come below.
        near("q", &out[2], &a.iter().zip(&b).map(|(a, b)| a / b).collect::<Vec<f32>>(), 2)?;
        near("s", &out[3], &a.iter().map(|a| a.abs().sqrt()).collect::<Vec<f32>>(), 2)
    }),
    ("ddiv_sqrt", |loaded, rng| {
        let random = |rng: &mut Rng| loop {
            let value = f64::from_bits(rng.u64(..));
            if value.is_finite() && value.abs() > 1e-150 && value.abs() < 1e150 {
                return value;
            }
        };
        let (a, b) = (list(rng, 100, random), list(rng, 100, random));
        let zeros = [0f64; 100];
        let args = vec![buffer(&a), buffer(&b), buffer(&zeros), buffer(&zeros), 100u32.into()];
        let out = loaded.run("ddiv_sqrt", groups(100), args)?;
        same("q", &out[2], &a.iter().zip(&b).map(|(a, b)| a / b).collect::<Vec<f64>>())?;
        same("s", &out[3], &a.iter().map(|a| a.abs().sqrt()).collect::<Vec<f64>>())
    }),
    ("cvt_mix", |loaded, rng| {
        let x = list(rng, 100, random_float);
        let args = vec![
            buffer(&x),
            buffer(&[0i32; 100]),
            buffer(&[0u16; 100]),
            buffer(&[0f64; 100]),
            buffer(&[0u8; 100]),
            100u32.into(),
        ];
        let out = loaded.run("cvt_mix", groups(100), args)?;
        same("o", &out[1], &x.iter().map(|x| *x as i32).collect::<Vec<i32>>())?;
        same("h", &out[2], &x.iter().map(|x| to_half(*x)).collect::<Vec<u16>>())?;
        same("d", &out[3], &x.iter().map(|x| f64::from(*x) * 0.1).collect::<Vec<f64>>())?;
        same("u8", &out[4], &x.iter().map(|x| x.clamp(0.0, 255.0) as u8).collect::<Vec<u8>>())
    }),
    ("half2_dot", |loaded, rng| {
        let [a, b, c] =
            [(); 3].map(|()| list(rng, 300, |rng| u32::from(random_half(rng)) << 16 | u32::from(random_half(rng))));
        three(loaded, "half2_dot", [&a, &b, &c], |a, b, c| {
            let part = |shift: u32| u32::from(fused((a >> shift) as u16, (b >> shift) as u16, (c >> shift) as u16));
            part(16) << 16 | part(0)
        })
    }),
    ("short2_mad", |loaded, rng| {
        let [a, b, c] = [(); 3].map(|()| list(rng, 300, |rng| rng.u32(..)));
        three(loaded, "short2_mad", [&a, &b, &c], |a, b, c| {
            let part = |shift: u32| {
                let [a, b, c] = [a, b, c].map(|bits| (bits >> shift) as u16);
                u32::from(a.wrapping_mul(b).wrapping_add(c))
            };
            part(16) << 16 | part(0)
        })
    }),
    ("sad_u8", |loaded, rng| {
        let [a, b, c] = [(); 3].map(|()| list(rng, 300, |rng| rng.u32(..) & rng.u32(..)));
        three(loaded, "sad_u8", [&a, &b, &c], |a, b, c| {
            let bytes = a.to_le_bytes().into_iter().zip(b.to_le_bytes());
            bytes.filter(|(_, b)| *b != 0).fold(c, |sum, (a, b)| sum.wrapping_add(a.abs_diff(b).into()))
        })
    }),
    ("med3", |loaded, rng| {
        let [a, b, c] = [(); 3].map(|()| list(rng, 300, |rng| rng.i32(-9..9)));
        three(loaded, "med3", [&a, &b, &c], |a, b, c| {
            let mut all = [a, b, c];
            all.sort_unstable();
            all[1]
        })
    }),
];

#[test]
fn every_kernel_on_every_target() {
    let Some(folder) = shared("kernels") else { return };
    let mut failures = Vec::new();
    for target in [
        "gfx908",
        "gfx90a",
        "gfx942",
        "gfx950",
        "gfx1250",
        "gfx1010",
        "gfx1030",
        "gfx1030-w64",
        "gfx1100",
        "gfx1100-w64",
        "gfx1150",
        "gfx1201",
        "gfx1201-w64",
    ] {
        let mut loaded = Loaded::new(&folder.join(format!("kernels.{target}.hsaco")));
        for (name, check) in CHECKS {
            for seed in 0..3 {
                if let Err(message) = check(&mut loaded, &mut Rng::with_seed(seed)) {
                    failures.push(format!("{target} {name}: {message}"));
                    break;
                }
            }
        }
    }
    assert!(failures.is_empty(), "{} of {} fail:\n{}", failures.len(), 13 * CHECKS.len(), failures.join("\n"));
}
