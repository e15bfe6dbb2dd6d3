//! Kernels made by Triton (`triton/make.py`) against references computed here.

use std::collections::HashMap;
use std::io::{Cursor, Read};

use gfx_isa::elf::CodeObject;
use gfx_isa::exec::{Arg, Device, Grid};
use serde_json::Value;

/// One object of the index.
struct Made {
    name: String,
    target: String,
    kernel: String,
    group: u32,
    lds: u32,
    types: Vec<String>,
    constants: HashMap<String, u64>,
    object: Vec<u8>,
}

/// Every object whose name begins like this.
fn made(prefix: &str) -> Vec<Made> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/triton");
    let archive = std::fs::read(format!("{folder}/objects.zip")).expect("the objects are committed");
    let mut archive = zip::ZipArchive::new(Cursor::new(archive)).expect("an archive");
    let index = std::fs::read_to_string(format!("{folder}/index.json")).expect("the index is committed");
    let index: Vec<Value> = serde_json::from_str(&index).expect("JSON");
    let text = |value: &Value| value.as_str().expect("a string").to_string();
    let number = |value: &Value| value.as_u64().expect("a number");
    let mut found = Vec::new();
    for entry in &index {
        let name = text(&entry["object"]);
        if !name.starts_with(prefix) {
            continue;
        }
        let mut object = Vec::new();
        archive.by_name(&name).expect("in the archive").read_to_end(&mut object).expect("whole");
        found.push(Made {
            target: text(&entry["target"]),
            kernel: text(&entry["kernel"]),
            group: number(&entry["group"]) as u32,
            lds: number(&entry["lds"]) as u32,
            types: entry["arguments"].as_array().expect("a list").iter().map(text).collect(),
            constants: entry["constants"]
                .as_object()
                .expect("a map")
                .iter()
                .map(|(k, v)| (k.clone(), number(v)))
                .collect(),
            name,
            object,
        });
    }
    assert!(!found.is_empty(), "no object is called {prefix}");
    found
}

/// What a kernel is given.
enum In<'a> {
    Buffer(&'a [u8]),
    I32(i32),
    F32(f32),
}

/// Checks each of some kernels and fails with what is wrong with any.
fn each(prefix: &str, mut check: impl FnMut(&Made) -> Result<(), String>) {
    let faults: Vec<String> = made(prefix)
        .iter()
        .filter_map(|made| check(made).err().map(|fault| format!("{}: {fault}", made.name)))
        .collect();
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// Runs a kernel whose first argument is a result of `bytes` bytes.
fn run(made: &Made, groups: [u32; 3], bytes: usize, args: &[In]) -> Result<Vec<u8>, String> {
    let object = CodeObject::parse(&made.object).map_err(|error| error.to_string())?;
    let mut device = Device::new();
    let module = device.load(&object).map_err(|error| error.to_string())?;
    let kernel = module.kernel(&made.kernel).ok_or_else(|| format!("there is no {}", made.kernel))?.clone();
    let out = device.memory.allocate("out", bytes as u64).expect("there is room");
    // What is not written shows.
    device.memory.write(out, &vec![0xff; bytes]).expect("it is there");
    let mut all = vec![Arg::Pointer(out)];
    for arg in args {
        all.push(match arg {
            In::I32(value) => Arg::I32(*value),
            In::F32(value) => Arg::F32(*value),
            In::Buffer(bytes) => {
                let at = device.memory.allocate("in", bytes.len() as u64).expect("there is room");
                device.memory.write(at, bytes).expect("it is there");
                Arg::Pointer(at)
            }
        });
    }
    // Scratch memory of Triton, which these kernels do not use.
    all.extend([Arg::Pointer(0), Arg::Pointer(0)]);
    let grid = Grid::new(groups, [made.group, 1, 1]).lds(made.lds);
    device.launch(&kernel, grid, &all).map_err(|error| error.to_string())?;
    let mut result = vec![0; bytes];
    device.memory.read(out, &mut result).expect("it is there");
    Ok(result)
}

fn floats(bytes: &[u8]) -> Vec<f32> {
    bytes.chunks_exact(4).map(|b| f32::from_le_bytes(b.try_into().expect("four bytes"))).collect()
}

fn bytes(values: &[f32]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

fn close(got: &[f32], expected: &[f64], tolerance: f64) -> Result<(), String> {
    assert_eq!(got.len(), expected.len());
    for (at, (got, expected)) in got.iter().zip(expected).enumerate() {
        let error = (f64::from(*got) - expected).abs();
        if error.is_nan() || error > tolerance * expected.abs().max(1.0) {
            return Err(format!("element {at} is {got}, not {expected}"));
        }
    }
    Ok(())
}

/// Numbers between -1 and 1.
fn noise(count: usize, seed: u64) -> Vec<f32> {
    let mut random = fastrand::Rng::with_seed(seed);
    (0..count).map(|_| random.f32() * 2.0 - 1.0).collect()
}

#[test]
fn softmax() {
    let (rows, columns) = (3, 200);
    let x = noise(rows * columns, 1);
    let x: Vec<f32> = x.iter().map(|x| x * 8.0).collect();
    let expected: Vec<f64> = x
        .chunks(columns)
        .flat_map(|row| {
            let sum: f64 = row.iter().map(|x| f64::from(*x).exp()).sum();
            row.iter().map(move |x| f64::from(*x).exp() / sum)
        })
        .collect();
    each("softmax", |made| {
        let out = run(made, [rows as u32, 1, 1], 4 * x.len(), &[In::Buffer(&bytes(&x)), In::I32(columns as i32)])?;
        close(&floats(&out), &expected, 1e-6)
    });
}

#[test]
fn layernorm() {
    let (rows, columns, eps) = (3, 200, 1e-5);
    let (x, weight, bias) = (noise(rows * columns, 2), noise(columns, 3), noise(columns, 4));
    let expected: Vec<f64> = x
        .chunks(columns)
        .flat_map(|row| {
            let mean = row.iter().map(|x| f64::from(*x)).sum::<f64>() / columns as f64;
            let variance = row.iter().map(|x| (f64::from(*x) - mean).powi(2)).sum::<f64>() / columns as f64;
            let scale = 1.0 / (variance + f64::from(eps)).sqrt();
            let parts = row.iter().zip(&weight).zip(&bias);
            parts.map(move |((x, w), b)| (f64::from(*x) - mean) * scale * f64::from(*w) + f64::from(*b))
        })
        .collect();
    each("layernorm", |made| {
        let (x, weight, bias) = (bytes(&x), bytes(&weight), bytes(&bias));
        let buffers = [In::Buffer(&x), In::Buffer(&weight), In::Buffer(&bias)];
        let args: Vec<In> = buffers.into_iter().chain([In::I32(columns as i32), In::F32(eps)]).collect();
        let out = run(made, [rows as u32, 1, 1], x.len(), &args)?;
        close(&floats(&out), &expected, 2e-6)
    });
}

/// A number in a type of Triton's; the number must be one of that type.
fn element(ty: &str, value: f32) -> Vec<u8> {
    match ty {
        "*fp32" => value.to_le_bytes().to_vec(),
        "*fp16" => half::f16::from_f32(value).to_le_bytes().to_vec(),
        "*bf16" => half::bf16::from_f32(value).to_le_bytes().to_vec(),
        "*i8" => vec![value as i8 as u8],
        // Sign, 4 bits of exponent and 3 of mantissa; the bias is 7, or 8 where there is no negative zero.
        "*fp8e4nv" => vec![fp8(value, 7)],
        "*fp8e4b8" => vec![fp8(value, 8)],
        _ => panic!("{ty} is no type of these kernels"),
    }
}

fn fp8(value: f32, bias: i32) -> u8 {
    if value == 0.0 {
        return 0;
    }
    let exponent = value.abs().log2().floor() as i32;
    let mantissa = value.abs() / 2f32.powi(exponent) * 8.0 - 8.0;
    assert!(mantissa.fract() == 0.0 && (1..16).contains(&(exponent + bias)), "{value} has no place in 8 bits");
    u8::from(value < 0.0) << 7 | ((exponent + bias) as u8) << 3 | mantissa as u8
}

#[test]
fn matmul() {
    // Not multiples of the blocks, so that masks count; small multiples of 1/2, so that every sum is exact.
    let (m, n, k) = (50, 40, 70);
    let mut random = fastrand::Rng::with_seed(5);
    each("matmul", |made| {
        let whole = made.types[1] == "*i8";
        let mut matrix = |count: usize| -> Vec<f32> {
            let scale = if whole { 1.0 } else { 0.5 };
            (0..count).map(|_| random.i32(-7..=7) as f32 * scale).collect()
        };
        let (a, b) = (matrix(m * k), matrix(k * n));
        let encode = |values: &[f32]| -> Vec<u8> { values.iter().flat_map(|x| element(&made.types[1], *x)).collect() };
        let (left, right) = (encode(&a), encode(&b));
        let groups = |size: usize, block: &str| size.div_ceil(made.constants[block] as usize) as u32;
        let args = [In::Buffer(&left), In::Buffer(&right), In::I32(m as i32), In::I32(n as i32), In::I32(k as i32)];
        let out = run(made, [groups(m, "BM"), groups(n, "BN"), 1], 4 * m * n, &args)?;
        for (at, got) in out.chunks_exact(4).enumerate() {
            let (i, j) = (at / n, at % n);
            let expected: f32 = (0..k).map(|k_| a[i * k + k_] * b[k_ * n + j]).sum();
            let got = <[u8; 4]>::try_from(got).expect("four bytes");
            let got = if whole { i32::from_le_bytes(got) as f32 } else { f32::from_le_bytes(got) };
            // Sums of RDNA 3 lose a little even where they need not.
            let slack = if made.target.starts_with("gfx11") { 1e-5 } else { 0.0 };
            if (got - expected).abs() > slack * expected.abs().max(1.0) || got.is_nan() {
                return Err(format!("element ({i}, {j}) is {got}, not {expected}"));
            }
        }
        Ok(())
    });
}

#[test]
fn attention() {
    let (length, heads, depth, scale) = (50, 2, 32, 0.25f32);
    let count = heads * length * depth;
    let round = |values: Vec<f32>| -> Vec<half::f16> { values.into_iter().map(half::f16::from_f32).collect() };
    let [q, k, v] = [6, 7, 8].map(|seed| round(noise(count, seed)));
    let mut expected = Vec::new();
    for head in 0..heads {
        let row = |values: &[half::f16], at: usize| -> Vec<f64> {
            let first = (head * length + at) * depth;
            values[first..first + depth].iter().map(|x| x.to_f64()).collect()
        };
        for i in 0..length {
            let query = row(&q, i);
            let score = |j| row(&k, j).iter().zip(&query).map(|(a, b)| a * b).sum::<f64>() * f64::from(scale);
            let weights: Vec<f64> = (0..length).map(|j| score(j).exp()).collect();
            let total: f64 = weights.iter().sum();
            for d in 0..depth {
                expected.push((0..length).map(|j| weights[j] * row(&v, j)[d]).sum::<f64>() / total);
            }
        }
    }
    let [q, k, v] = [q, k, v].map(|values| -> Vec<u8> { values.iter().flat_map(|x| x.to_le_bytes()).collect() });
    each("attention", |made| {
        let buffers = [In::Buffer(&q), In::Buffer(&k), In::Buffer(&v)];
        let args: Vec<In> = buffers.into_iter().chain([In::I32(length as i32), In::F32(scale)]).collect();
        let groups = length.div_ceil(made.constants["BM"] as usize) as u32;
        let out = run(made, [groups, heads as u32, 1], 4 * count, &args)?;
        // The weights are rounded to 16 bits before the second product.
        close(&floats(&out), &expected, 1e-3)
    });
}
