//! Our own compiled kernels (`kernels/kernels.cl`) on every generation, against what a CPU computes.

#[path = "kernels/support.rs"]
mod support;

use std::iter::repeat_with;
use std::path::{Path, PathBuf};

use fastrand::Rng;
use gfx_isa::Generation;
use gfx_isa::elf::CodeObject;
use gfx_isa::exec::{Arg, Device, Extras, Grid, Stats, Trace};
use gfx_isa::kernel::ValueKind;
use rustc_apfloat::Float;
use rustc_apfloat::ieee::Half;

use support::{Loaded, Value, buffer, same, values};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/kernels")
}

/// Every code object, with the generation that it is for.
const OBJECTS: [(&str, Generation); 14] = [
    ("gfx908", Generation::Cdna1),
    ("gfx90a", Generation::Cdna2),
    ("gfx942", Generation::Cdna3),
    ("gfx950", Generation::Cdna4),
    ("gfx1250", Generation::Cdna5),
    ("gfx1010", Generation::Rdna1),
    ("gfx1030", Generation::Rdna2),
    ("gfx1030-v4", Generation::Rdna2),
    ("gfx1030-wave64", Generation::Rdna2),
    ("gfx1100", Generation::Rdna3),
    ("gfx11-generic", Generation::Rdna3),
    ("gfx1150", Generation::Rdna3_5),
    ("gfx1201", Generation::Rdna4),
    ("gfx1201-wave64", Generation::Rdna4),
];

fn object(name: &str) -> CodeObject {
    let file = std::fs::read(folder().join(format!("{name}.co"))).expect("the file is there");
    CodeObject::parse(&file).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// Runs a check on each code object and lists what fails.
fn everywhere(check: impl Fn(&mut Loaded, &mut Rng) -> Result<(), String>) {
    let mut failures = Vec::new();
    for (name, _) in OBJECTS {
        let mut loaded = Loaded::new(&folder().join(format!("{name}.co")));
        for seed in 0..2 {
            if let Err(message) = check(&mut loaded, &mut Rng::with_seed(seed)) {
                failures.push(format!("{name}: {message}"));
                break;
            }
        }
    }
    assert!(failures.is_empty(), "{} of {} fail:\n{}", failures.len(), OBJECTS.len(), failures.join("\n"));
}

fn list<T>(rng: &mut Rng, count: usize, f: impl Fn(&mut Rng) -> T) -> Vec<T> {
    repeat_with(|| f(rng)).take(count).collect()
}

/// Finite floats of moderate size.
fn random_float(rng: &mut Rng) -> f32 {
    let scale = 2f32.powi(rng.i32(-20..20));
    (rng.f32() * 2.0 - 1.0) * scale
}

fn groups(count: u32, size: u32) -> Grid {
    Grid::new([count, 1, 1], [size, 1, 1])
}

#[test]
fn objects_say_what_they_are() {
    for (name, generation) in OBJECTS {
        let object = object(name);
        assert_eq!(object.generation(), generation, "{name}");
        assert_eq!(
            object.processor().name,
            name.split("-v").next().and_then(|n| n.split("-w").next()).expect("a name")
        );
        let version = match name {
            "gfx1030-v4" => 4,
            "gfx11-generic" => 6,
            _ => 5,
        };
        // Clang writes version 6 by default since 22; what matters is that the two others differ.
        assert!(object.version() == version || (version == 5 && object.version() == 6), "{name}: {}", object.version());
        let kernel = object.kernel("chain").expect("it is there");
        let kinds: Vec<_> = kernel.args.iter().flatten().filter(|arg| !arg.is_hidden()).map(|arg| arg.kind).collect();
        let expected =
            [ValueKind::GlobalBuffer, ValueKind::GlobalBuffer, ValueKind::DynamicSharedPointer, ValueKind::ByValue];
        assert_eq!(kinds, expected, "{name}");
        assert_eq!(kernel.max_group_size, Some(64));
        let pointers = object.kernel("pointers").expect("it is there");
        assert!(pointers.descriptor.private_segment_size >= 9 * 4, "{name}");
    }
}

#[test]
fn add() {
    everywhere(|loaded, rng| {
        let (a, b) = (list(rng, 700, |rng| rng.i32(..)), list(rng, 700, |rng| rng.i32(..)));
        let args = vec![buffer(&a), buffer(&b), buffer(&[7i32; 700]), 650u32.into()];
        let out = loaded.run("add", groups(3, 256), args)?;
        let sums = a.iter().zip(&b).enumerate().map(|(at, (a, b))| if at < 650 { a.wrapping_add(*b) } else { 7 });
        same("c", &out[2], &sums.collect::<Vec<i32>>())
    });
}

#[test]
fn matmul() {
    everywhere(|loaded, rng| {
        let n = 32;
        let (a, b) = (list(rng, n * n, random_float), list(rng, n * n, random_float));
        let args = vec![buffer(&a), buffer(&b), buffer(&vec![0f32; n * n]), (n as u32).into()];
        let out = loaded.run("matmul", Grid::new([2, 2, 1], [16, 16, 1]), args)?;
        let each = (0..n * n).map(|at| {
            let (row, column) = (at / n, at % n);
            (0..n).fold(0f32, |sum, k| a[row * n + k].mul_add(b[k * n + column], sum))
        });
        same("c", &out[2], &each.collect::<Vec<f32>>())
    });
}

#[test]
fn nbody() {
    everywhere(|loaded, rng| {
        let n = 300;
        let p = list(rng, 4 * n, |rng| rng.f32() * 4.0);
        let out =
            loaded.run("nbody", groups(2, 256), vec![buffer(&p), buffer(&vec![0f32; 4 * n]), (n as u32).into()])?;
        let out = values::<f32>(&out[1]);
        for (i, me) in p.chunks(4).enumerate() {
            let (mut sum, mut size) = ([0f64; 3], 0f64);
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
    });
}

#[test]
fn crc32() {
    everywhere(|loaded, rng| {
        let len = 23;
        let data = list(rng, 256 * len, |rng| rng.u8(..));
        let out =
            loaded.run("crc32", groups(1, 256), vec![buffer(&data), buffer(&[0u32; 256]), (len as u32).into()])?;
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
    });
}

#[test]
fn mandelbrot() {
    everywhere(|loaded, _| {
        // No powers of two: the division is exact because it is compiled to be.
        let (w, h, most) = (37u32, 21u32, 200u32);
        let args = vec![buffer(&vec![9u32; (w * h) as usize]), w.into(), h.into(), most.into()];
        let out = loaded.run("mandelbrot", groups((w * h).div_ceil(256), 256), args)?;
        let each = (0..w * h).map(|i| {
            let cx = -2.0 + 3.0 * (i % w) as f32 / w as f32;
            let cy = -1.0 + 2.0 * (i / w) as f32 / h as f32;
            let (mut x, mut y, mut k) = (0f32, 0f32, 0);
            // The compiler fuses products with sums inside an expression.
            while k < most && x.mul_add(x, y * y) <= 4.0 {
                let t = x.mul_add(x, -(y * y)) + cx;
                y = (2.0 * x).mul_add(y, cy);
                x = t;
                k += 1;
            }
            k
        });
        same("out", &out[0], &each.collect::<Vec<u32>>())
    });
}

#[test]
fn scan() {
    everywhere(|loaded, rng| {
        let x = list(rng, 768, |rng| rng.u32(..));
        let out = loaded.run("scan", groups(3, 256), vec![buffer(&x), buffer(&[0u32; 768])])?;
        let mut expected = Vec::new();
        for group in x.chunks(256) {
            expected.extend(group.iter().scan(0u32, |sum, x| {
                *sum = sum.wrapping_add(*x);
                Some(*sum)
            }));
        }
        same("out", &out[1], &expected)
    });
}

#[test]
fn histogram() {
    everywhere(|loaded, rng| {
        let x = list(rng, 5000, |rng| rng.u8(..) & rng.u8(..));
        let out = loaded.run("histogram", groups(4, 256), vec![buffer(&x), buffer(&[3u32; 256]), 5000u32.into()])?;
        let mut bins = [3u32; 256];
        for byte in x {
            bins[usize::from(byte)] += 1;
        }
        same("bins", &out[1], &bins)
    });
}

#[test]
fn atomics() {
    everywhere(|loaded, _| {
        let n = 700u32;
        let args = vec![buffer(&[0i32, 0, 5, 0, 100, 0]), buffer(&[u64::MAX - 9]), buffer(&vec![0u32; 700]), n.into()];
        let out = loaded.run("atomics", groups(3, 256), args)?;
        let each = || (0..n).map(|i| i.wrapping_mul(2_654_435_761) as i32);
        let (most, least) = (each().max().unwrap_or(0).max(0), each().min().unwrap_or(0).min(0));
        let xor = each().fold(5, |old, h| old ^ h);
        let or = (0..n).fold(0, |old, i| old | 1 << (i & 30));
        same("m", &out[0], &[most, least, xor, or, 100 + 3 * n as i32, n as i32])?;
        let sum = (0..n)
            .zip(each())
            .fold(u64::MAX - 9, |old, (i, h)| old.wrapping_add(u64::from(h as u32).wrapping_mul(i.into())));
        same("w", &out[1], &[sum])?;
        let mut old = values::<u32>(&out[2]);
        old.sort_unstable();
        same("old, sorted", &support::bytes(&old), &(0..n).collect::<Vec<u32>>())
    });
}

#[test]
fn stack() {
    everywhere(|loaded, rng| {
        let n = 150usize;
        let x = list(rng, n, |rng| rng.u32(..));
        let out = loaded.run("stack", groups(3, 64), vec![buffer(&x), buffer(&[0u32; 192]), (n as u32).into()])?;
        let each = (0..192).map(|i| {
            let (mut s, mut sum) = (Vec::new(), 0u32);
            let pop = |s: &mut Vec<u32>, sum: &mut u32| {
                if let Some(v) = s.pop() {
                    *sum = sum.wrapping_mul(31).wrapping_add(v);
                }
            };
            for k in 0..n {
                let v = x[(i + k * 7) % n];
                if v & 3 != 0 && s.len() < 48 {
                    s.push(v)
                } else {
                    pop(&mut s, &mut sum)
                }
                if s.len() > 2 {
                    let at = v as usize % s.len();
                    s[at] ^= v;
                }
            }
            while !s.is_empty() {
                pop(&mut s, &mut sum);
            }
            sum
        });
        same("out", &out[1], &each.collect::<Vec<u32>>())
    });
}

#[test]
fn pointers() {
    everywhere(|loaded, rng| {
        let x = list(rng, 192, |rng| rng.u32(..));
        let out = loaded.run("pointers", groups(3, 64), vec![buffer(&x), buffer(&[0u32; 192])])?;
        let each = x.iter().map(|x| {
            let mut own: Vec<u32> = (0..9).map(|k| x.wrapping_add(k * k)).collect();
            let mut shared: Vec<u32> = (0..5).map(|k| x.wrapping_mul(3).wrapping_add(k)).collect();
            let chosen = if x & 1 != 0 { &mut own } else { &mut shared };
            let mut h = 17u32;
            for p in chosen {
                h = (h ^ *p).wrapping_mul(16_777_619);
                *p = h;
            }
            h.wrapping_add(own[3]).wrapping_add(shared[2])
        });
        same("out", &out[1], &each.collect::<Vec<u32>>())
    });
}

#[test]
fn numbers() {
    everywhere(|loaded, _| {
        let (groups, size) = ([3u32, 2, 2], [4u32, 8, 2]);
        let total: [u32; 3] = std::array::from_fn(|at| groups[at] * size[at]);
        let count = total.iter().product::<u32>() as usize;
        let out = loaded.run("numbers", Grid::new(groups, size), vec![buffer(&vec![0u32; 8 * count])])?;
        let mut expected = Vec::new();
        for z in 0..total[2] {
            for y in 0..total[1] {
                for x in 0..total[0] {
                    let pack = |v: [u32; 3]| v[0] | v[1] << 8 | v[2] << 16;
                    let (group, item) = ([x / 4, y / 8, z / 2], [x % 4, y % 8, z % 2]);
                    let packet = total[0] + total[1] * 1000 + total[2] * 1_000_000;
                    expected.extend([x, y, z, pack(size), pack(group), pack(item), packet, total[0] * total[1]]);
                }
            }
        }
        same("out", &out[0], &expected)
    });
}

#[test]
fn divide() {
    everywhere(|loaded, rng| {
        // Every finite size, denormals among them.
        let finite = |rng: &mut Rng| loop {
            let value = f32::from_bits(rng.u32(..));
            if value.is_finite() {
                return value;
            }
        };
        let wide = |rng: &mut Rng| loop {
            let value = f64::from_bits(rng.u64(..));
            if value.is_finite() {
                return value;
            }
        };
        let (mut a, mut b) = (list(rng, 256, finite), list(rng, 256, finite));
        a[..6].copy_from_slice(&[0.0, -1.0, f32::MIN_POSITIVE / 8.0, f32::MAX, 1.0, -0.0]);
        b[..6].copy_from_slice(&[3.0, f32::INFINITY, 3.0, 0.5, 3.0, 5.0]);
        let (c, d) = (list(rng, 256, wide), list(rng, 256, wide));
        let (single, double) = ([0f32; 256], [0f64; 256]);
        let args = vec![
            buffer(&a),
            buffer(&b),
            buffer(&single),
            buffer(&single),
            buffer(&c),
            buffer(&d),
            buffer(&double),
            buffer(&double),
        ];
        let out = loaded.run("divide", groups(4, 64), args)?;
        same("q", &out[2], &a.iter().zip(&b).map(|(a, b)| a / b).collect::<Vec<f32>>())?;
        same("s", &out[3], &a.iter().map(|a| a.abs().sqrt()).collect::<Vec<f32>>())?;
        same("r", &out[6], &c.iter().zip(&d).map(|(c, d)| c / d).collect::<Vec<f64>>())?;
        same("t", &out[7], &c.iter().map(|c| c.abs().sqrt()).collect::<Vec<f64>>())
    });
}

#[test]
fn integers() {
    everywhere(|loaded, rng| {
        let mut a = list(rng, 192, |rng| rng.i64(..) >> rng.u32(0..63));
        let mut b = list(rng, 192, |rng| (rng.i64(..) >> rng.u32(0..62)) | 2);
        a[..3].copy_from_slice(&[i64::MIN, i64::MAX, 0]);
        b[..3].copy_from_slice(&[3, -1, 7]);
        let zeros = [0i64; 192];
        let args = vec![buffer(&a), buffer(&b), buffer(&zeros), buffer(&zeros), buffer(&[0u32; 192])];
        let out = loaded.run("integers", groups(3, 64), args)?;
        let pairs = || a.iter().zip(&b);
        same("q", &out[2], &pairs().map(|(a, b)| a / b).collect::<Vec<i64>>())?;
        same("r", &out[3], &pairs().map(|(a, b)| *a as u64 % *b as u64).collect::<Vec<u64>>())?;
        let bits = |a: &i64| {
            let v = *a as u32;
            let counts = v.count_ones() + v.leading_zeros() * 100 + v.trailing_zeros() * 10000;
            counts.wrapping_add(v.reverse_bits())
        };
        same("bits", &out[4], &a.iter().map(bits).collect::<Vec<u32>>())
    });
}

#[test]
fn small() {
    everywhere(|loaded, rng| {
        let half = |rng: &mut Rng| loop {
            let bits = rng.u16(..);
            if bits & 0x7c00 != 0x7c00 {
                return bits;
            }
        };
        let pair = |rng: &mut Rng| u32::from(half(rng)) << 16 | u32::from(half(rng));
        let x = list(rng, 192, random_float);
        let [a, b, c] = [(); 3].map(|()| list(rng, 192, pair));
        let [u, v] = [(); 2].map(|()| list(rng, 192, |rng| rng.u32(..)));
        let args = vec![
            buffer(&x),
            buffer(&a),
            buffer(&b),
            buffer(&c),
            buffer(&u),
            buffer(&v),
            buffer(&[0u8; 192]),
            buffer(&[0f64; 192]),
        ];
        let out = loaded.run("small", groups(3, 64), args)?;
        let fused = |a: u32, b: u32, c: u32| {
            let [a, b, c] = [a, b, c].map(|bits| Half::from_bits(u128::from(bits & 0xffff)));
            a.mul_add(b, c).value.to_bits() as u32
        };
        let halves = (0..192).map(|i| fused(a[i] >> 16, b[i] >> 16, c[i] >> 16) << 16 | fused(a[i], b[i], c[i]));
        same("c", &out[3], &halves.collect::<Vec<u32>>())?;
        let product = |u: u32, v: u32| u32::from((u as u16).wrapping_mul(u as u16).wrapping_add(v as u16));
        let products = (0..192).map(|i| product(u[i] >> 16, v[i] >> 16) << 16 | product(u[i], v[i]));
        same("v", &out[5], &products.collect::<Vec<u32>>())?;
        same("byte", &out[6], &x.iter().map(|x| x.clamp(0.0, 255.0) as u8).collect::<Vec<u8>>())?;
        let wide = x.iter().map(|x| f64::from(*x).mul_add(0.1, f64::from(*x as i32)));
        same("wide", &out[7], &wide.collect::<Vec<f64>>())
    });
}

#[test]
fn lanes() {
    everywhere(|loaded, rng| {
        let x = list(rng, 192, |rng| rng.i32(..));
        let out = loaded.run("lanes", groups(3, 64), vec![buffer(&x), buffer(&[0i32; 192])])?;
        let each = (0..192usize).map(|i| {
            let sum = x[i / 32 * 32..][..32].iter().fold(0i32, |sum, x| sum.wrapping_add(*x));
            sum.wrapping_add(x[i / 64 * 64])
        });
        same("out", &out[1], &each.collect::<Vec<i32>>())
    });
}

#[test]
fn chain() {
    everywhere(|loaded, _| {
        let n = 9u32;
        let args = vec![buffer(&[0u32; 9]), buffer(&[0u32; 9]), Value::Plain(Arg::Local(16)), n.into()];
        let out = loaded.run("chain", groups(n, 64), args)?;
        let mut expected = vec![1u32];
        for g in (0..n - 1).rev() {
            expected.insert(0, expected[0].wrapping_mul(3) + g);
        }
        same("out", &out[1], &expected)
    });
}

#[test]
fn threads_change_nothing() {
    for (name, _) in OBJECTS {
        let mut results = Vec::new();
        for threads in [1, 3] {
            let mut device = Device::new().threads(threads);
            let module = device.load(&object(name)).expect("room");
            let x: Vec<u32> = (0..4096u32).map(|x| x.wrapping_mul(2_654_435_761)).collect();
            let input = device.memory.allocate("x", 4 * 4096).expect("room");
            let output = device.memory.allocate("out", 4 * 4096).expect("room");
            device.memory.write(input, &support::bytes(&x)).expect("inside");
            let kernel = module.kernel("scan").expect("it is there");
            let mut stats = Stats::default();
            let args = [Arg::Pointer(input), Arg::Pointer(output)];
            let extras = Extras { stats: Some(&mut stats), progress: None };
            let report = device.launch_with(kernel, groups(16, 256), &args, extras);
            let report = report.unwrap_or_else(|error| panic!("{name}: {error}"));
            let mut bytes = vec![0; 4 * 4096];
            device.memory.read(output, &mut bytes).expect("inside");
            assert_eq!(stats.groups.values().map(|count| count.instructions).sum::<u64>(), report.instructions);
            results.push((bytes, report, stats));
        }
        assert_eq!(results[0], results[1], "{name}");
    }
}

#[test]
fn stray_accesses_are_named() {
    for (name, _) in OBJECTS {
        let mut device = Device::new();
        let module = device.load(&object(name)).expect("room");
        let kernel = module.kernel("add").expect("it is there");
        let mut buffer =
            |label: &str, count: u64| Arg::Pointer(device.memory.allocate(label, 4 * count).expect("room"));
        let args = [buffer("a", 256), buffer("b", 256), buffer("c", 200), Arg::U32(256)];
        let error = device.launch(kernel, groups(1, 256), &args).expect_err("c is too short");
        let text = error.to_string();
        let fault = error.fault().unwrap_or_else(|| panic!("{name}: {text}"));
        // The 201st item is the first one outside.
        let lanes = kernel.info().wave_size;
        assert_eq!(fault.lane.map(u32::from), Some(200 % lanes), "{name}: {text}");
        assert_eq!(fault.nearest.as_ref().map(|near| near.name.as_str()), Some("c"), "{name}: {text}");
        assert!(text.contains(&format!("kernel add: group 0,0,0, wave {}, pc 0x", 200 / lanes)), "{name}: {text}");
        assert!(text.contains("store_"), "{name}: {text}");
    }
}

#[test]
fn traces_show_what_changes() {
    let mut device = Device::new();
    let module = device.load(&object("gfx1030")).expect("room");
    let kernel = module.kernel("add").expect("it is there");
    let buffer = device.memory.allocate("x", 4 * 256).expect("room");
    device.memory.write(buffer, &support::bytes(&(0..256u32).collect::<Vec<u32>>())).expect("inside");
    let args = [Arg::Pointer(buffer), Arg::Pointer(buffer), Arg::Pointer(buffer), Arg::U32(40)];
    let mut trace = Trace::new(Vec::new());
    let report = device.launch_observed(kernel, groups(1, 256), &args, &mut trace).expect("it runs");
    let text = String::from_utf8(trace.finish().expect("a list takes everything")).expect("UTF-8");
    assert_eq!(text.lines().count() as u64, report.instructions);
    // The second wave has 8 items left: the compare says so, and the sums are twice the numbers.
    let second: Vec<&str> = text.lines().filter(|line| line.starts_with("0,0,0 w1 ")).collect();
    assert!(
        second.iter().any(|line| line.contains("s_and_saveexec_b32") && line.contains("exec_lo=000000ff")),
        "{text}"
    );
    assert!(
        second.iter().any(|line| line.contains("v_add_nc_u32")
            && line.contains("=00000040,00000042,00000044,00000046,00000048,0000004a,0000004c,0000004e")),
        "{text}"
    );
    assert!(text.lines().last().is_some_and(|line| line.contains("w7") && line.ends_with("s_endpgm")), "{text}");
}
