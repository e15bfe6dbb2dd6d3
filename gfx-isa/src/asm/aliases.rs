//! Names that LLVM takes besides its own for an instruction, where AMD's specification does not list them.

use std::vec::Vec;

use crate::Generation;

/// Another name of an instruction.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Alias {
    pub(crate) name: &'static str,
    pub(crate) means: &'static str,
    generations: &'static [Generation],
}

use Generation::{Cdna1, Cdna2, Cdna3, Cdna4, Cdna5, Rdna3, Rdna3_5, Rdna4};

const CDNA: &[Generation] = &[Cdna1, Cdna2, Cdna3, Cdna4];
const SINCE_RDNA3: &[Generation] = &[Rdna3, Rdna3_5, Rdna4, Cdna5];

const fn alias(name: &'static str, means: &'static str, generations: &'static [Generation]) -> Alias {
    Alias { name, means, generations }
}

static ALIASES: &[Alias] = &[
    alias("v_mul_lo_i32", "v_mul_lo_u32", CDNA),
    alias("v_add_u32", "v_add_nc_u32", SINCE_RDNA3),
    alias("v_sub_u32", "v_sub_nc_u32", SINCE_RDNA3),
    alias("v_subrev_u32", "v_subrev_nc_u32", SINCE_RDNA3),
    alias("v_add_i32", "v_add_nc_i32", SINCE_RDNA3),
    alias("v_sub_i32", "v_sub_nc_i32", SINCE_RDNA3),
    alias("ds_bvh_stack_rtn_b32", "ds_bvh_stack_push4_pop1_rtn_b32", &[Rdna4]),
    alias("global_load_b96_tr_b6", "global_load_tr6_b96", &[Cdna5]),
    alias("v_fma_mix_f32_f16", "v_fma_mix_f32", &[Cdna5]),
    alias("buffer_atomic_max_f64", "buffer_atomic_max_num_f64", &[Cdna5]),
    alias("buffer_atomic_min_f64", "buffer_atomic_min_num_f64", &[Cdna5]),
    alias("flat_atomic_max_f64", "flat_atomic_max_num_f64", &[Cdna5]),
    alias("flat_atomic_min_f64", "flat_atomic_min_num_f64", &[Cdna5]),
    alias("global_atomic_max_f64", "global_atomic_max_num_f64", &[Cdna5]),
    alias("global_atomic_min_f64", "global_atomic_min_num_f64", &[Cdna5]),
];

/// The names of a generation.
pub(crate) fn of(generation: Generation) -> impl Iterator<Item = &'static Alias> {
    ALIASES.iter().filter(move |alias| alias.generations.contains(&generation))
}

/// Names that follow from a rule: matrix instructions without the underscores between shape and types.
pub(crate) fn derived(name: &[u8]) -> Option<Vec<u8>> {
    let text = core::str::from_utf8(name).ok()?;
    if !text.starts_with("v_mfma_") && !text.starts_with("v_smfmac_") {
        return None;
    }
    let shape =
        text.split('_').position(|part| part.contains('x') && part.starts_with(|c: char| c.is_ascii_digit()))?;
    let mut parts = text.split('_');
    let mut joined: Vec<u8> = Vec::new();
    for at in 0..=shape {
        if at > 0 {
            joined.push(b'_');
        }
        joined.extend_from_slice(parts.next()?.as_bytes());
    }
    for part in parts {
        // Nor is the number of blocks.
        let blocks = part.strip_suffix('b').is_some_and(|n| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit()));
        if blocks {
            continue;
        }
        // `_1k` and the like stay apart.
        if part.starts_with(|c: char| c.is_ascii_digit()) {
            joined.push(b'_');
        }
        joined.extend_from_slice(part.as_bytes());
    }
    (joined != name).then_some(joined)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn matrix_names_join() {
        let joined = |name: &str| derived(name.as_bytes()).map(|name| std::string::String::from_utf8(name).unwrap());
        assert_eq!(joined("v_mfma_f32_16x16x32_bf16").as_deref(), Some("v_mfma_f32_16x16x32bf16"));
        assert_eq!(joined("v_smfmac_f32_32x32x64_bf8_fp8").as_deref(), Some("v_smfmac_f32_32x32x64bf8fp8"));
        assert_eq!(joined("v_mfma_f32_16x16x32bf16"), None);
        assert_eq!(joined("v_add_f32"), None);
    }
}
