//! Writes seeds of every target from the committed vectors; README.md has the command.

use std::error::Error;
use std::fs;
use std::path::Path;

use gfx_isa::Generation;

/// Vectors a file.
const EACH: usize = 12;

fn main() -> Result<(), Box<dyn Error>> {
    let folder = std::env::args().nth(1).ok_or("usage: seeds FOLDER")?;
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../gfx-isa/tests/data");
    for target in ["decode", "disasm", "asm", "roundtrip", "elf", "exec"] {
        fs::create_dir_all(Path::new(&folder).join(target))?;
    }
    for (number, generation) in Generation::all().iter().enumerate() {
        let dis = fs::read_to_string(data.join(format!("{}.dis.tsv", generation.name())))?;
        let rows: Vec<(Vec<u8>, &str)> = dis
            .lines()
            .filter_map(|line| line.split_once('\t'))
            .filter_map(|(hex, text)| Some((bytes(hex)?, text)))
            .collect();
        for (at, rows) in rows.chunks(EACH).enumerate() {
            let mut code = vec![number as u8];
            let mut source = vec![number as u8];
            for (bytes, text) in rows {
                code.extend(bytes);
                source.extend(text.as_bytes());
                source.push(b'\n');
            }
            for (target, seed) in
                [("decode", &code), ("disasm", &code), ("roundtrip", &code), ("exec", &code), ("asm", &source)]
            {
                fs::write(Path::new(&folder).join(target).join(format!("{}-{at}", generation.name())), seed)?;
            }
        }
    }
    Ok(())
}

fn bytes(hex: &str) -> Option<Vec<u8>> {
    (0..hex.len() / 2).map(|at| u8::from_str_radix(hex.get(2 * at..2 * at + 2)?, 16).ok()).collect()
}
