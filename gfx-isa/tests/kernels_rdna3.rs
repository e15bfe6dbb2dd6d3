//! Programs whose results were checked on RDNA 3 hardware, from the reference data folder: each leaves exactly the
//! expected buffer.

use std::path::{Path, PathBuf};

use gfx_isa::elf::CodeObject;
use gfx_isa::exec::{Arg, Device, Grid};

fn folder() -> Option<PathBuf> {
    let folder = std::env::var_os("GFX_ISA_SHARED").map(PathBuf::from);
    let folder = folder.unwrap_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../shared"));
    let path = folder.join("exec/rdna3");
    if !path.exists() {
        eprintln!("SKIPPED: the reference data folder has no exec/rdna3: programs checked on hardware are not run");
        return None;
    }
    Some(path)
}

fn hex(text: &str) -> Vec<u8> {
    let digit = |at: usize| u8::from_str_radix(&text[at..at + 2], 16).expect("hex digits");
    (0..text.len()).step_by(2).map(digit).collect()
}

/// Runs a program; what is wrong with what it leaves.
fn run(file: &Path, lanes: u32, initial: &[u8], expected: &[u8]) -> Result<(), String> {
    let object = CodeObject::parse(&std::fs::read(file).expect("the program is there")).map_err(|e| e.to_string())?;
    let mut device = Device::new().threads(1).limit(1 << 20);
    let module = device.load(&object).map_err(|error| error.to_string())?;
    let kernel = module.kernel("test").ok_or("there is no kernel")?;
    let buffer = device.memory.allocate("the buffer", expected.len() as u64).ok_or("there is no room")?;
    device.memory.write(buffer, initial).map_err(|error| error.to_string())?;
    let grid = Grid::new([1; 3], [lanes, 1, 1]);
    device.launch(kernel, grid, &[Arg::Pointer(buffer)]).map_err(|error| error.to_string())?;
    let mut got = vec![0; expected.len()];
    device.memory.read(buffer, &mut got).map_err(|error| error.to_string())?;
    let words = |bytes: &[u8]| -> Vec<u32> {
        bytes.chunks_exact(4).map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]])).collect()
    };
    let (got, expected) = (words(&got), words(expected));
    let differing = got.iter().zip(&expected).filter(|(got, expected)| got != expected).count();
    match got.iter().zip(&expected).position(|(got, expected)| got != expected) {
        None => Ok(()),
        Some(at) => {
            Err(format!("dword {at} is {:08x}, not {:08x}; {differing} of {} differ", got[at], expected[at], got.len()))
        }
    }
}

#[test]
fn programs_leave_what_the_hardware_left() {
    let Some(folder) = folder() else { return };
    let index = std::fs::read_to_string(folder.join("index.tsv")).expect("the index is there");
    let mut count = 0;
    let mut failures = Vec::new();
    for line in index.lines().filter(|line| !line.starts_with('#')) {
        let fields: Vec<&str> = line.split('\t').collect();
        let [id, lanes, initial, expected, ..] = fields[..] else { panic!("a short line: {line}") };
        let expected = hex(expected);
        let initial = if initial == "-" { vec![0; expected.len()] } else { hex(initial) };
        let lanes = lanes.parse().expect("a number");
        count += 1;
        if let Err(message) = run(&folder.join(format!("{id}.hsaco")), lanes, &initial, &expected) {
            failures.push(format!("{id}\t{}\t{message}", fields.get(4).unwrap_or(&"")));
        }
    }
    assert!(count > 400, "only {count} programs");
    assert!(failures.is_empty(), "{} of {count} programs fail:\n{}", failures.len(), failures.join("\n"));
}
