//! Matrix instructions: what they multiply, and which lane and register holds each element.
//!
//! A [`MatrixOp`] is an MFMA, SMFMAC (CDNA 1 to 4), WMMA or SWMMAC (RDNA 3 to 4, CDNA 5) instruction of a generation and
//! a wave size. Its [`Layout`]s place the elements of A, B, C and D, of the index of a sparse A, and of block scales.
//!
//! ```
//! # #[cfg(feature = "cdna3")] {
//! use gfx_isa::Generation;
//! use gfx_isa::matrix::{Matrix, MatrixOp};
//!
//! let op = MatrixOp::find(Generation::Cdna3, "V_MFMA_F32_32X32X8_F16").expect("an instruction of CDNA 3");
//! let place = op.layout(Matrix::A).and_then(|a| a.place(0, 3, 5)).expect("A has this element");
//! assert_eq!((place.lane, place.register, place.bit), (35, 0, 16));
//! # }
//! ```

mod family;
mod format;
mod layout;
mod op;

pub use format::Format;
pub use layout::{Layout, Place};
pub use op::{Matrix, MatrixOp, Shape};
