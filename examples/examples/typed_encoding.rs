//! Builds an instruction word from its fields, takes it apart again, and checks it with the decoder.
//!
//! ```text
//! cargo run -q -p examples --example typed_encoding
//! ```

use gfx_isa::rdna4::Vop3;
use gfx_isa::{DecodeError, Field, Generation};

fn main() -> Result<(), DecodeError> {
    // v_msad_u8 v0, v1, v2, v3: source values from 256 on are vector registers.
    let word = Vop3::new(Vop3::V_MSAD_U8).with_vdst(0).with_src0(256 + 1).with_src1(256 + 2).with_src2(256 + 3);
    println!("{:#018x}: opcode {}, destination v{}", word.0, word.op(), word.vdst());

    let inst = Generation::Rdna4.decode(&word.0.to_le_bytes())?;
    println!("{inst}: SRC2 is {:?}", inst.operand(Field::SRC2));

    // The same opcode in another encoding's type would not compile; another value of a field is one call.
    let clamped = word.with_clamp(1);
    println!("{:#018x}: clamp {}", clamped.0, clamped.clamp());
    Ok(())
}
