//! Instructions from operands, without text.
//!
//! Each generation's module has a function for each of its instructions, with the operands that stand between the commas
//! of assembly text, in the same order. Modifiers follow. The encoding is chosen as the assembler does, and the result is
//! an instruction or says why there is none:
//!
//! ```
//! # #[cfg(feature = "rdna4")] {
//! use gfx_isa::encode::{s, v};
//! use gfx_isa::{Generation, rdna4};
//!
//! let inst = rdna4::v_add_f32(v(3), v(1), 1.5).clamp().build(Generation::Rdna4).unwrap();
//! assert_eq!(inst.to_string(), "v_add_f32_e64 v3, v1, 0x3fc00000 clamp");
//!
//! let load = rdna4::global_load_b64(v(4).to(5), v(0), s(2).to(3)).offset(-8).build(Generation::Rdna4).unwrap();
//! assert_eq!(load.to_string(), "global_load_b64 v[4:5], v0, s[2:3] offset:-8");
//!
//! // A scalar register cannot take a vector's place: `rdna4::v_add_f32(s(3), v(1), v(2))` does not compile.
//! let error = rdna4::v_add_f64(v(0).to(1), v(2), v(4).to(5)).build(Generation::Rdna4).unwrap_err();
//! assert_eq!(error.to_string(), "operand 2 must be two registers");
//! # }
//! ```
//!
//! [`CodeBuffer`] puts instructions one after the other and fills in branches. [`InstBuilder`] takes any [`Op`](crate::Op),
//! known when the program runs. Generations that have an instruction with the same operands share its function; what it
//! becomes is settled by the generation that it is built for.

mod builder;
mod code;
pub mod operand;

pub use crate::generated::builders as functions;
pub use builder::{InstBuilder, Part, Rest};
pub use code::{CodeBuffer, Label};
pub use operand::{Arg, OFF, Sreg, VCC, VCC_HI, VCC_LO, Vreg, a, registers, s, ttmp, v};
pub use operand::{EXEC, EXEC_HI, EXEC_LO, M0, NULL, SCC};

use std::vec::Vec;

use crate::Inst;

impl Inst {
    /// Appends the instruction's bytes; decoding them gives the instruction again.
    pub fn encode(&self, out: &mut Vec<u8>) {
        for word in self.words() {
            out.extend_from_slice(&word.to_le_bytes());
        }
    }
}

/// Functions of one signature: `builders! { (vdst: Vector, src0: Source) v_mov_b32 V_MOV_B32; }`.
macro_rules! builders {
    ($operands:tt $($function:ident $op:ident;)*) => {
        $($crate::encode::builders!(@ $function $op $operands);)*
    };
    ($operands:tt $then:ident $($function:ident $op:ident;)*) => {
        $($crate::encode::builders!(@ $function $op $operands $then);)*
    };
    (@ $function:ident $op:ident ($($operand:ident: $class:ident),*) $($then:ident)?) => {
        #[doc = concat!("`", stringify!($op), "`")]
        #[allow(dead_code)] // Not every generation has each.
        pub fn $function($($operand: impl $crate::encode::operand::$class),*) -> $crate::encode::InstBuilder {
            $crate::encode::InstBuilder::new($crate::Op::$op)$(.arg($operand))*$(.$then())?
        }
    };
}

pub(crate) use builders;
