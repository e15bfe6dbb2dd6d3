//! What the targets share: the first byte of an input picks the generation and the size of waves.

use gfx_isa::{Decoder, Generation};

/// A generation, the lanes of a wave, and the rest of an input.
pub fn pick(data: &[u8]) -> Option<(Generation, u32, &[u8])> {
    let (&first, rest) = data.split_first()?;
    let generation = Generation::all()[usize::from(first & 127) % Generation::all().len()];
    let sizes = generation.wave_sizes();
    Some((generation, sizes[usize::from(first >> 7) % sizes.len()], rest))
}

/// A decoder of a generation's code for waves of a size.
pub fn decoder(generation: Generation, lanes: u32, code: &[u8]) -> Decoder<'_> {
    Decoder::new(generation, code).wave_size(lanes)
}
