//! What the tests of kernels share: buffers as values, random data.
#![allow(dead_code)] // Each test file uses a part of it.

use std::path::{Path, PathBuf};

use gfx_isa::elf::CodeObject;
use gfx_isa::exec::{Arg, Device, Grid, Module};

/// Something that lies in memory.
pub(crate) trait Data: Copy {
    const SIZE: usize;
    fn put(self, bytes: &mut Vec<u8>);
    fn get(bytes: &[u8]) -> Self;
}

macro_rules! data {
    ($($ty:ty)*) => {$(
        impl Data for $ty {
            const SIZE: usize = size_of::<$ty>();
            fn put(self, bytes: &mut Vec<u8>) {
                bytes.extend(self.to_le_bytes());
            }
            fn get(bytes: &[u8]) -> $ty {
                <$ty>::from_le_bytes(bytes.try_into().expect("its size"))
            }
        }
    )*};
}
data!(u8 u16 u32 u64 i32 i64 f32 f64);

pub(crate) fn bytes<T: Data>(values: &[T]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for value in values {
        value.put(&mut bytes);
    }
    bytes
}

pub(crate) fn values<T: Data>(bytes: &[u8]) -> Vec<T> {
    bytes.chunks_exact(T::SIZE).map(T::get).collect()
}

/// An argument: a buffer with what it holds, or a value.
pub(crate) enum Value {
    Buffer(Vec<u8>),
    Plain(Arg),
}

/// A buffer.
pub(crate) fn buffer<T: Data>(values: &[T]) -> Value {
    Value::Buffer(bytes(values))
}

impl<T: Into<Arg>> From<T> for Value {
    fn from(value: T) -> Value {
        Value::Plain(value.into())
    }
}

/// A loaded code object.
pub(crate) struct Loaded {
    pub(crate) device: Device,
    pub(crate) module: Module,
    pub(crate) lanes: u32,
}

impl Loaded {
    pub(crate) fn new(path: &Path) -> Loaded {
        let file = std::fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let object = CodeObject::parse(&file).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let mut device = Device::new().limit(1 << 26);
        let module = device.load(&object).expect("there is room");
        let lanes = module.kernels()[0].info().wave_size;
        Loaded { device, module, lanes }
    }

    /// Runs a kernel; what its buffers hold in the end.
    pub(crate) fn run(&mut self, name: &str, grid: Grid, values: Vec<Value>) -> Result<Vec<Vec<u8>>, String> {
        let kernel = self.module.kernel(name).ok_or(format!("there is no kernel {name}"))?;
        let mut buffers = Vec::new();
        let mut args = Vec::new();
        for value in values {
            args.push(match value {
                Value::Plain(arg) => arg,
                Value::Buffer(bytes) => {
                    let name = format!("argument {}", args.len() + 1);
                    let address = self.device.memory.allocate(name, bytes.len() as u64).ok_or("no room")?;
                    self.device.memory.write(address, &bytes).map_err(|error| error.to_string())?;
                    buffers.push((address, bytes.len()));
                    Arg::Pointer(address)
                }
            });
        }
        let result = self.device.launch(kernel, grid, &args).map_err(|error| error.to_string());
        let mut contents = Vec::new();
        for (address, size) in buffers {
            let mut bytes = vec![0; size];
            self.device.memory.read(address, &mut bytes).map_err(|error| error.to_string())?;
            contents.push(bytes);
            self.device.memory.free(address);
        }
        result.map(|_| contents)
    }
}

/// Says where two lists differ.
pub(crate) fn same<T: Data + PartialEq + std::fmt::Debug>(
    what: &str,
    got: &[u8],
    expected: &[T],
) -> Result<(), String> {
    let got: Vec<T> = values(got);
    if got.len() != expected.len() {
        return Err(format!("{what}: {} values, not {}", got.len(), expected.len()));
    }
    // Bits, so that NaNs are equal to themselves and zeros have a sign.
    let differs = |at: &usize| bytes(&got[*at..*at + 1]) != bytes(&expected[*at..*at + 1]);
    match (0..got.len()).find(differs) {
        None => Ok(()),
        Some(at) => {
            let count = (0..got.len()).filter(differs).count();
            Err(format!("{what}[{at}] is {:?}, not {:?}; {count} of {} differ", got[at], expected[at], got.len()))
        }
    }
}

/// Says where floats differ by more than some units in the last place.
pub(crate) fn near(what: &str, got: &[u8], expected: &[f32], ulps: u32) -> Result<(), String> {
    let got: Vec<f32> = values(got);
    let order = |value: f32| {
        let bits = value.to_bits() as i32;
        i64::from(if bits < 0 { i32::MIN - bits } else { bits })
    };
    let differs = |at: &usize| (order(got[*at]) - order(expected[*at])).unsigned_abs() > u64::from(ulps);
    match (0..expected.len()).find(differs) {
        None => Ok(()),
        Some(at) => Err(format!("{what}[{at}] is {:?}, not {:?} within {ulps} units", got[at], expected[at])),
    }
}

/// The reference data folder's part of a name, where it is there.
pub(crate) fn shared(name: &str) -> Option<PathBuf> {
    let folder = std::env::var_os("GFX_ISA_SHARED").map(PathBuf::from);
    let folder = folder.unwrap_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../shared"));
    let path = folder.join(name);
    if path.exists() {
        return Some(path);
    }
    eprintln!("SKIPPED: the reference data folder has no {name}");
    None
}
