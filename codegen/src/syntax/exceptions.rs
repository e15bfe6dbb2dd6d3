//! `data/syntax.toml`: where an instruction's text does not follow from its operands and encoding.

use std::collections::BTreeMap;

use serde::Deserialize;

/// The file's lists by name.
#[derive(Debug, Clone, Default)]
pub struct Exceptions {
    lists: BTreeMap<String, Vec<Entry>>,
}

/// Instructions of some generations.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    /// The list that the instructions belong to.
    list: String,
    /// Why.
    #[allow(dead_code)] // For people.
    why: String,
    /// In these generations; in all when empty.
    #[serde(default)]
    generations: Vec<String>,
    /// AMD's names; `*` stands for any characters.
    instructions: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    syntax: Vec<Entry>,
}

impl Exceptions {
    /// Reads `data/syntax.toml`.
    ///
    /// # Errors
    /// On text that is not TOML of the right shape.
    pub fn parse(text: &str) -> Result<Self, toml::de::Error> {
        let file: File = toml::from_str(text)?;
        let mut lists: BTreeMap<String, Vec<Entry>> = BTreeMap::new();
        for entry in file.syntax {
            lists.entry(entry.list.clone()).or_default().push(entry);
        }
        Ok(Self { lists })
    }

    /// Whether an instruction is on a list.
    pub(crate) fn has(&self, list: &str, generation: &str, op: &str) -> bool {
        self.lists.get(list).is_some_and(|entries| {
            entries.iter().any(|entry| {
                (entry.generations.is_empty() || entry.generations.iter().any(|g| g == generation))
                    && entry.instructions.iter().any(|pattern| matches(pattern, op))
            })
        })
    }

    /// What the OPSEL bits of a VOP3 instruction are, where they are no halves: the list `op_sel.<meaning>`.
    pub(crate) fn op_sel(&self, generation: &str, op: &str) -> Option<&str> {
        let lists = self.lists.keys().filter_map(|list| list.strip_prefix("op_sel."));
        lists.into_iter().find(|meaning| self.has(&format!("op_sel.{meaning}"), generation, op))
    }
}

/// Whether a name is a pattern's, in which `*` stands for any characters.
fn matches(pattern: &str, name: &str) -> bool {
    let Some((before, after)) = pattern.split_once('*') else { return pattern == name };
    let Some(rest) = name.strip_prefix(before) else { return false };
    (0..=rest.len()).any(|at| rest.is_char_boundary(at) && matches(after, &rest[at..]))
}

/// What an image instruction's address holds besides coordinates: bit 0 offset, 1 compare value, 2 bias, 3 lod or clamp,
/// 4 derivatives, 5 16-bit derivatives; 64 no coordinates of DIM (resinfo), 128 a ray.
pub(crate) fn image_address(op: &str) -> u8 {
    if op.contains("BVH") {
        return 128
            | u8::from(op.contains("BVH64"))
            | (u8::from(op.contains("DUAL")) << 1)
            | (u8::from(op.contains("BVH8")) << 2);
    }
    if op.contains("RESINFO") {
        return 64;
    }
    let has = |part: &str| op.split('_').any(|p| p == part);
    let sample = op.contains("SAMPLE") || op.contains("GATHER") || op.contains("GET_LOD");
    let mip = op.contains("_MIP") && !sample;
    u8::from(sample && has("O"))
        | (u8::from(sample && has("C")) << 1)
        | (u8::from(sample && has("B")) << 2)
        | (u8::from(mip || (sample && (has("L") || has("CL")))) << 3)
        | (u8::from(sample && (has("D") || has("CD"))) << 4)
        | (u8::from(sample && has("G16")) << 5)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_match() {
        assert!(matches("V_CMP_*_F16", "V_CMP_LT_F16"));
        assert!(matches("*", ""));
        assert!(!matches("V_CMP_*_F16", "V_CMPX_LT_F16"));
        assert!(!matches("V_ADD", "V_ADD_F32"));
    }

    #[test]
    fn lists_are_by_generation() {
        let text = r#"
            [[syntax]]
            list = "op_sel.byte_sel"
            why = "its own meaning"
            generations = ["rdna4"]
            instructions = ["V_A*"]
        "#;
        let exceptions = Exceptions::parse(text).unwrap();
        assert_eq!(exceptions.op_sel("rdna4", "V_AB"), Some("byte_sel"));
        assert_eq!(exceptions.op_sel("rdna3", "V_AB"), None);
    }
}
