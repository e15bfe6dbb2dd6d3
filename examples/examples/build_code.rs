//! Builds a small loop from operands, with a branch in each direction, and prints the machine code.
//!
//! Adds 1 to `s2` dwords, one wave of 32 lanes at a time; `s[0:1]` points to them.
//!
//! ```text
//! cargo run -q -p examples --example build_code
//! ```

use std::process::ExitCode;

use gfx_isa::asm::ErrorKind;
use gfx_isa::encode::{CodeBuffer, s, v};
use gfx_isa::{Decoder, Formatter, Generation, Options, Targets, rdna4};

const GENERATION: Generation = Generation::Rdna4;

fn build() -> Result<Vec<u8>, ErrorKind> {
    let mut code = CodeBuffer::new(GENERATION);
    let (again, end) = (code.label(), code.label());
    code.push(rdna4::v_lshlrev_b32(v(1), 2, v(0)))?;
    code.bind(again)?;
    code.push(rdna4::s_cmp_eq_u32(s(2), 0))?;
    code.push(rdna4::s_cbranch_scc1(end))?;
    code.push(rdna4::global_load_b32(v(2), v(1), s(0).to(1)))?;
    code.push(rdna4::s_sub_co_u32(s(2), s(2), 32))?;
    code.push(rdna4::s_wait_loadcnt(0))?;
    code.push(rdna4::v_add_nc_u32(v(2), 1, v(2)))?;
    code.push(rdna4::global_store_b32(v(1), v(2), s(0).to(1)).th("TH_STORE_NT"))?;
    code.push(rdna4::v_add_nc_u32(v(1), 0x80, v(1)))?;
    code.push(rdna4::s_branch(again))?;
    code.bind(end)?;
    code.push(rdna4::s_endpgm())?;
    code.finish()
}

fn main() -> ExitCode {
    let code = match build() {
        Ok(code) => code,
        Err(error) => {
            eprintln!("error: {error}");
            return ExitCode::FAILURE;
        }
    };
    let mut options = Options::default();
    options.targets = Targets::Absolute;
    let formatter = Formatter::new(options);
    let mut pc = 0;
    for inst in Decoder::new(GENERATION, &code) {
        let inst = match inst {
            Ok(inst) => inst,
            Err(error) => {
                eprintln!("error: {error}");
                return ExitCode::FAILURE;
            }
        };
        let mut text = String::new();
        if formatter.format(&inst, pc, &mut text).is_err() {
            return ExitCode::FAILURE;
        }
        println!("{pc:04x}: {text}");
        pc += inst.len() as u64;
    }
    ExitCode::SUCCESS
}
