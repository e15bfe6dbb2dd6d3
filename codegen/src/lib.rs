//! Lowers the specs of all generations to the source files of `gfx-isa/src/generated`.

#![forbid(unsafe_code)]
