//! Runs a compiled kernel: loads a code object, gives it buffers, launches a grid, reads the result, and shows where a
//! kernel with a wrong argument stops. The first argument names one of the code objects of the crate's tests.

use std::error::Error;
use std::path::Path;

use gfx_isa::elf::CodeObject;
use gfx_isa::exec::{Arg, Device, Extras, Grid, Stats};

fn main() -> Result<(), Box<dyn Error>> {
    let name = std::env::args().nth(1).unwrap_or("gfx1201".to_string());
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../gfx-isa/tests/kernels");
    let object = CodeObject::parse(&std::fs::read(folder.join(format!("{name}.co")))?)?;

    let mut device = Device::new();
    let module = device.load(&object)?;
    let kernel = module.kernel("add").ok_or("there is no kernel add")?;
    println!("{}: add in waves of {} lanes", kernel.generation(), kernel.info().wave_size);
    for arg in kernel.info().args.iter().flatten().filter(|arg| !arg.is_hidden()) {
        println!("  {} bytes at {}: {} {}", arg.size, arg.offset, arg.kind, arg.type_name);
    }

    // c[i] = a[i] + b[i]
    let buffer = |device: &mut Device, name: &str, values: &[i32]| -> Result<u64, Box<dyn Error>> {
        let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        let address = device.memory.allocate(name, bytes.len() as u64).ok_or("no room")?;
        device.memory.write(address, &bytes)?;
        Ok(address)
    };
    let a = buffer(&mut device, "a", &[1, 2, 40, 1000])?;
    let b = buffer(&mut device, "b", &[1, 1, 2, -1])?;
    let c = buffer(&mut device, "c", &[0; 4])?;
    let grid = Grid::new([1, 1, 1], [256, 1, 1]);
    let mut args = [Arg::Pointer(a), Arg::Pointer(b), Arg::Pointer(c), Arg::from(4u32)];
    let mut stats = Stats::default();
    let extras = Extras { stats: Some(&mut stats), progress: None };
    let report = device.launch_with(kernel, grid, &args, extras)?;

    let mut bytes = [0; 16];
    device.memory.read(c, &mut bytes)?;
    for (at, value) in bytes.chunks_exact(4).enumerate() {
        println!("c[{at}] = {}", i32::from_le_bytes([value[0], value[1], value[2], value[3]]));
    }
    println!("{} group, {} waves, {} instructions", report.groups, report.waves, report.instructions);
    for (mnemonic, count) in &stats.mnemonics {
        println!("{:6} {mnemonic}", count.instructions);
    }

    // More items than the buffers have: the error names instruction, wave, lane, address and buffer.
    args[3] = Arg::from(5u32);
    if let Err(error) = device.launch(kernel, grid, &args) {
        println!("{error}");
    }
    Ok(())
}
