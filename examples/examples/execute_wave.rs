//! Executes instructions on a wave: builds two words from their fields, runs them as a program, prints some lanes.

use std::error::Error;

use gfx_isa::exec::{Program, Wave};
use gfx_isa::{Generation, cdna3};

/// Source value of a vector register.
const fn v(register: u32) -> u32 {
    256 + register
}

fn main() -> Result<(), Box<dyn Error>> {
    // v0 = sum of the differences of v1's and v2's bytes (v2's zero bytes do not count), plus 100.
    let sad = cdna3::Vop3::new(cdna3::Vop3::V_MSAD_U8).with_vdst(0).with_src0(v(1)).with_src1(v(2)).with_src2(v(3));
    let end = cdna3::Sopp::new(cdna3::Sopp::S_ENDPGM);
    let code: Vec<u8> = sad.0.to_le_bytes().into_iter().chain(end.0.to_le_bytes()).collect();

    // A program is decoded once; any number of waves can run it.
    let program = Program::new(Generation::Cdna3, &code);
    let mut wave = Wave::new(Generation::Cdna3, 64)?;
    for lane in 0..64 {
        wave.set_vgpr(lane, 1, 0x0a0a_0a0a);
        wave.set_vgpr(lane, 2, 0x0100_0000 * lane as u32);
        wave.set_vgpr(lane, 3, 100);
    }
    // Lane 4 and those above are off: they keep what they had.
    wave.set_exec(0b1111);
    let finished = wave.run(&program, 1000)?;
    println!("{} instructions executed", finished.executed);
    for lane in 0..5 {
        println!("lane {lane}: v0 = {}", wave.vgpr(lane, 0));
    }
    Ok(())
}
