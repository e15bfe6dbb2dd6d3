//! Code objects of the reference data folder, and broken files.

use std::path::PathBuf;

use gfx_isa::Generation;
use gfx_isa::elf::{CodeObject, Feature};
use gfx_isa::kernel::ValueKind;

/// The reference data folder, where it is there.
fn shared(name: &str) -> Option<PathBuf> {
    let folder = std::env::var_os("GFX_ISA_SHARED").map(PathBuf::from);
    let folder = folder.unwrap_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../shared"));
    let path = folder.join(name);
    if path.exists() {
        return Some(path);
    }
    eprintln!("SKIPPED: the reference data folder has no {name}");
    None
}

/// Facts as llvm-readelf 22 prints them.
#[test]
fn code_objects_are_read() {
    let Some(folder) = shared("kernels") else { return };
    for (target, generation, lanes, xnack, sramecc) in [
        ("gfx908", Generation::Cdna1, 64, Feature::Any, Feature::Any),
        ("gfx90a", Generation::Cdna2, 64, Feature::Any, Feature::Any),
        ("gfx942", Generation::Cdna3, 64, Feature::Any, Feature::Any),
        ("gfx950", Generation::Cdna4, 64, Feature::Any, Feature::Any),
        ("gfx1250", Generation::Cdna5, 32, Feature::Any, Feature::Any),
        ("gfx1010", Generation::Rdna1, 32, Feature::Any, Feature::Unsupported),
        ("gfx1030", Generation::Rdna2, 32, Feature::Unsupported, Feature::Unsupported),
        ("gfx1030-w64", Generation::Rdna2, 64, Feature::Unsupported, Feature::Unsupported),
        ("gfx1100", Generation::Rdna3, 32, Feature::Unsupported, Feature::Unsupported),
        ("gfx1100-w64", Generation::Rdna3, 64, Feature::Unsupported, Feature::Unsupported),
        ("gfx1150", Generation::Rdna3_5, 32, Feature::Unsupported, Feature::Unsupported),
        ("gfx1201", Generation::Rdna4, 32, Feature::Unsupported, Feature::Unsupported),
        ("gfx1201-w64", Generation::Rdna4, 64, Feature::Unsupported, Feature::Unsupported),
    ] {
        let bytes = std::fs::read(folder.join(format!("kernels.{target}.hsaco"))).expect("the file is there");
        let object = CodeObject::parse(&bytes).unwrap_or_else(|error| panic!("{target}: {error}"));
        assert_eq!(object.processor().name, target.trim_end_matches("-w64"));
        assert_eq!((object.generation(), object.xnack(), object.sramecc()), (generation, xnack, sramecc), "{target}");
        assert_eq!(object.kernels().len(), 27, "{target}");
        let kernel = object.kernel("vadd_i32").expect("it is there");
        assert_eq!((kernel.wave_size, kernel.max_group_size, kernel.descriptor.kernarg_size), (lanes, Some(64), 28));
        let args = kernel.args.as_ref().expect("there is metadata");
        let facts: Vec<_> = args.iter().filter(|arg| !arg.is_hidden()).map(|a| (a.offset, a.size, a.kind)).collect();
        let buffer = |offset| (offset, 8, ValueKind::GlobalBuffer);
        assert_eq!(facts, [buffer(0), buffer(8), buffer(16), (24, 4, ValueKind::ByValue)], "{target}");
        let local = object.kernel("matmul_tiled").expect("it is there");
        assert_eq!(local.descriptor.group_segment_size, 512, "{target}");
        assert_eq!(object.image(0x1000).len() as u64, object.size());
    }
}

#[test]
fn broken_files_are_errors() {
    assert!(CodeObject::parse(b"").is_err());
    assert!(CodeObject::parse(b"\x7fELF").is_err());
    let Some(folder) = shared("kernels") else { return };
    let bytes = std::fs::read(folder.join("kernels.gfx1030.hsaco")).expect("the file is there");
    let error = |change: &dyn Fn(&mut Vec<u8>)| {
        let mut bytes = bytes.clone();
        change(&mut bytes);
        CodeObject::parse(&bytes).expect_err("it is broken").to_string()
    };
    assert_eq!(error(&|b| b[18] = 62), "ELF machine 62 is not an AMD GPU (224)");
    assert_eq!(error(&|b| b[16] = 1), "ELF type 1 is not a linked code object (3)");
    assert_eq!(error(&|b| b[8] = 0), "code object version 2 is not supported; 3 to 6 are");
    assert_eq!(error(&|b| b[8] = 9), "ELF ABI version 9 of HSA is not known; 1 to 4 are");
    assert_eq!(error(&|b| b[48] = 0xff), "no known processor has the ELF machine number 0xff");
    assert!(error(&|b| b.truncate(0x3000)).contains("file"), "{}", error(&|b| b.truncate(0x3000)));
    // Nothing of a changed or cut file panics or takes long.
    let mut random = fastrand(7);
    for round in 0..3000 {
        let mut changed = bytes[..if round % 3 == 0 { random() as usize % bytes.len() } else { bytes.len() }].to_vec();
        for _ in 0..1 + random() % 8 {
            if let Some(byte) = changed.get_mut(random() as usize % 0x6000) {
                *byte = random() as u8;
            }
        }
        if let Ok(object) = CodeObject::parse(&changed) {
            assert_eq!(object.image(0x7000_0000).len() as u64, object.size());
        }
    }
}

/// Numbers that look random, from a seed.
fn fastrand(seed: u64) -> impl FnMut() -> u32 {
    let mut state = seed;
    move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as u32
    }
}
