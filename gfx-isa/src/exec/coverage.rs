//! Which instructions have meaning and which are stubs.

use core::fmt;

use crate::{Generation, InstructionInfo};

/// Why an instruction has no meaning yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Stub {
    /// It reaches memory or the local data share.
    Memory,
    /// It works on floats of 8, 6 or 4 bits.
    SmallFloat,
    /// It samples, loads or stores images, or walks bounding volumes.
    Image,
    /// It exports pixels and vertices, or interpolates attributes.
    Graphics,
    /// It is half of a dual-issue word.
    Dual,
    /// It talks to the host, other waves or the trap handler.
    Message,
    /// Nobody has written its line.
    Unwritten,
}

impl Stub {
    /// One word for it.
    pub const fn name(self) -> &'static str {
        match self {
            Stub::Memory => "memory",
            Stub::SmallFloat => "small-float",
            Stub::Image => "image",
            Stub::Graphics => "graphics",
            Stub::Dual => "dual",
            Stub::Message => "message",
            Stub::Unwritten => "unwritten",
        }
    }

    fn of(info: InstructionInfo) -> Stub {
        let (name, encoding) = (info.name(), info.encoding().name());
        let names = |parts: &[&str]| parts.iter().any(|part| name.contains(part));
        let encodes = |parts: &[&str]| parts.iter().any(|part| encoding.contains(part));
        if names(&["FP8", "BF8", "FP6", "BF6", "FP4"]) {
            Stub::SmallFloat
        } else if encodes(&["MIMG", "VIMAGE", "VSAMPLE"]) {
            Stub::Image
        } else if info.group() == "EXPORT" || encodes(&["EXP", "INTERP", "LDSDIR", "VDSDIR"]) || names(&["INTERP"]) {
            Stub::Graphics
        } else if info.half().is_some() {
            Stub::Dual
        } else if matches!(info.group(), "VMEM" | "SMEM") {
            Stub::Memory
        } else if matches!(info.group(), "MESSAGE" | "TRAP") {
            Stub::Message
        } else {
            Stub::Unwritten
        }
    }
}

impl fmt::Display for Stub {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// An instruction in one encoding, and whether it can be executed.
#[derive(Debug, Clone, Copy)]
pub struct Covered {
    /// The instruction.
    pub info: InstructionInfo,
    /// Its line in the tables of meanings, or why there is none.
    pub meaning: Result<&'static str, Stub>,
}

/// Every instruction of a generation in every encoding that it has, in AMD's order.
pub fn coverage(generation: Generation) -> impl Iterator<Item = Covered> {
    generation
        .instructions()
        .map(|info| Covered { info, meaning: super::meaning(info.op()).ok_or_else(|| Stub::of(info)) })
}

#[cfg(all(test, feature = "rdna4"))]
mod tests {
    use super::*;

    #[test]
    fn meanings_are_what_executes() {
        let find = |name: &str| coverage(Generation::Rdna4).find(|covered| covered.info.name() == name);
        let covered = find("V_ADD_F32").expect("in the catalogue");
        assert_eq!(covered.meaning, Ok("f32x2(|a, b| a + b)"));
        assert_eq!(find("V_CMP_LT_U32").map(|covered| covered.meaning), Some(Ok("compare")));
        let stub = |name| find(name).expect("in the catalogue").meaning;
        assert_eq!(stub("GLOBAL_LOAD_TR_B128"), Ok("memory"));
        assert_eq!(stub("V_WMMA_F32_16X16X16_F16"), Ok("matrix"));
        assert_eq!(stub("V_DUAL_ADD_F32"), Ok("f32x2(|a, b| a + b)"));
        assert_eq!(stub("IMAGE_LOAD"), Err(Stub::Image));
        assert_eq!(stub("EXPORT"), Err(Stub::Graphics));
    }
}
