//! Decodes machine code of a generation, given as hexadecimal dwords, and shows what each instruction reads and writes.
//!
//! ```text
//! cargo run -q -p examples --example decode_bytes
//! cargo run -q -p examples --example decode_bytes -- gfx1201 06060501 bfb00000
//! ```

use std::process::ExitCode;

use gfx_isa::{Decoder, Generation};

fn main() -> ExitCode {
    let mut args = std::env::args().skip(1);
    let isa = args.next().unwrap_or_else(|| "rdna4".to_owned());
    let mut dwords: Vec<String> = args.collect();
    if dwords.is_empty() {
        // v_add_f32 with a literal, a reserved word, s_endpgm.
        dwords = ["060604ff", "40490fdb", "ffffffff", "bfb00000"].map(str::to_owned).to_vec();
    }
    let generation: Generation = match isa.parse() {
        Ok(generation) => generation,
        Err(error) => {
            eprintln!("error: {error}");
            return ExitCode::from(2);
        }
    };
    let mut code = Vec::new();
    for dword in &dwords {
        match u32::from_str_radix(dword, 16) {
            Ok(word) => code.extend(word.to_le_bytes()),
            Err(error) => {
                eprintln!("error: {dword}: {error}");
                return ExitCode::from(2);
            }
        }
    }
    decode(generation, &code);
    ExitCode::SUCCESS
}

fn decode(generation: Generation, code: &[u8]) {
    let mut offset = 0;
    for item in Decoder::new(generation, code) {
        match item {
            Ok(inst) => {
                println!("{offset:04x}: {inst}    // {}, {} bytes", inst.encoding(), inst.len());
                for operand in inst.operands().filter(|operand| !operand.is_implicit()) {
                    let access = if operand.is_written() { "writes" } else { "reads" };
                    println!(
                        "      {access} {:?}, {} bits, {}",
                        operand.value(),
                        operand.size(),
                        operand.format().describe()
                    );
                }
                offset += inst.len();
            }
            // Decoding goes on behind what is not an instruction.
            Err(error) => {
                println!("{offset:04x}: {error}");
                offset += error.len;
            }
        }
    }
}
