//! Examples of the gfx-isa crate; see the `examples` folder.
