//! A short, repeatable piece of fuzzing. `GFX_ISA_FUZZ_SECONDS` makes it longer and different each time.

#[path = "fuzz/targets.rs"]
mod targets;

use std::iter::repeat_with;
use std::time::{Duration, Instant};

use fastrand::Rng;

/// Calls a target with random bytes, `rounds` times or as long as the environment says.
fn rounds(rounds: u64, mut target: impl FnMut(&mut Rng)) {
    let seconds = std::env::var("GFX_ISA_FUZZ_SECONDS").ok().and_then(|seconds| seconds.parse().ok());
    let Some(seconds) = seconds else {
        return (0..rounds).for_each(|seed| target(&mut Rng::with_seed(seed)));
    };
    let (start, mut rng) = (Instant::now(), Rng::new());
    while start.elapsed() < Duration::from_secs(seconds) {
        let seed = rng.u64(..);
        let _named = Named(seed);
        target(&mut Rng::with_seed(seed));
    }
}

/// Says with which seed a panic happened.
struct Named(u64);

impl Drop for Named {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("seed {}", self.0);
        }
    }
}

fn random(rng: &mut Rng, most: usize) -> Vec<u8> {
    let count = rng.usize(..most);
    repeat_with(|| rng.u8(..)).take(count).collect()
}

#[test]
fn execution_of_anything_ends() {
    rounds(600, |rng| targets::exec(&random(rng, 2000)));
}

#[test]
fn changed_code_objects_do_no_harm() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/kernels");
    let names =
        ["gfx908", "gfx90a", "gfx942", "gfx950", "gfx1250", "gfx1010", "gfx1030", "gfx1100", "gfx1150", "gfx1201"];
    let objects: Vec<Vec<u8>> =
        names.iter().map(|name| std::fs::read(folder.join(format!("{name}.co"))).expect("it is there")).collect();
    rounds(100, |rng| {
        let object = &objects[rng.usize(..objects.len())];
        let data = random(rng, 100);
        targets::launch(object, &data);
        // The headers, notes and descriptors are in front.
        let mut changed = object.clone();
        for _ in 0..1 + rng.usize(..4) {
            let at = rng.usize(..0x4000.min(changed.len()));
            changed[at] = rng.u8(..);
        }
        changed.truncate(if rng.bool() { changed.len() } else { rng.usize(..changed.len()) });
        targets::elf(&changed);
        if !changed.is_empty() {
            targets::launch(&changed, &data);
        }
    });
}
