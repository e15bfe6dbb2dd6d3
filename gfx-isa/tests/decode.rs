//! Decoding: LLVM's vectors, bytes that are damaged, and bytes that are anything.

use gfx_isa::{DecodeErrorKind, Decoder, Generation};
use proptest::prelude::*;

/// Bytes and text of the committed sample of LLVM's vectors.
fn sample(generation: Generation) -> Vec<(Vec<u8>, String)> {
    let path = format!("{}/tests/data/{}.dis.tsv", env!("CARGO_MANIFEST_DIR"), generation.name());
    let text = std::fs::read_to_string(&path).expect(&path);
    let row = |line: &str| {
        let (hex, text) = line.split_once('\t').expect("hex TAB text");
        (hex_bytes(hex), text.to_owned())
    };
    text.lines().map(row).collect()
}

fn hex_bytes(hex: &str) -> Vec<u8> {
    (0..hex.len() / 2).map(|at| u8::from_str_radix(&hex[2 * at..2 * at + 2], 16).expect("hex")).collect()
}

/// LLVM's mnemonic without the suffixes that name the encoding.
fn base(mnemonic: &str) -> &str {
    let mut base = mnemonic;
    for suffix in ["_dpp", "_sdwa", "_e32", "_e64"] {
        base = base.strip_suffix(suffix).unwrap_or(base);
    }
    base
}

#[test]
fn every_vector_has_its_length_and_its_instruction() {
    for generation in Generation::available() {
        let rows = sample(generation);
        assert_eq!(rows.len(), 1000, "{generation}");
        for (bytes, text) in rows {
            let inst = generation.decode(&bytes).unwrap_or_else(|error| panic!("{generation} {text}: {error}"));
            assert_eq!(inst.len(), bytes.len(), "{generation} {text}");
            let mut halves = text.split(" :: ").map(|half| base(half.split_whitespace().next().unwrap_or_default()));
            assert_eq!(Some(inst.mnemonic()), halves.next(), "{generation} {text}");
            assert_eq!(inst.mnemonic_y(), halves.next(), "{generation} {text}");
        }
    }
}

#[test]
fn every_truncation_is_an_error_of_its_own() {
    for generation in Generation::available() {
        for (bytes, text) in sample(generation) {
            for len in 1..bytes.len() {
                let error = match generation.decode(&bytes[..len]) {
                    Err(error) => error,
                    // The first half of a pair may be an instruction by itself.
                    Ok(inst) if bytes.len() == 16 && inst.len() == 8 => continue,
                    Ok(inst) => panic!("{generation} {text}: {len} of {} bytes are {inst:?}", bytes.len()),
                };
                assert_eq!(error.kind, DecodeErrorKind::Truncated, "{generation} {text} cut to {len}");
                assert_eq!((error.offset, error.len), (0, len));
            }
            let empty = generation.decode(&[]).unwrap_err();
            assert_eq!((empty.kind, empty.len), (DecodeErrorKind::Truncated, 0));
        }
    }
}

/// Whatever the bytes are, decoding gives instructions and errors that cover all of them in order.
fn covers(generation: Generation, bytes: &[u8]) {
    let mut decoder = Decoder::new(generation, bytes);
    let mut expected = 0;
    while let Some(result) = decoder.next() {
        let len = match &result {
            Ok(inst) => {
                // Reading everything must not panic either.
                for operand in inst.operands() {
                    let _ = (operand.value(), operand.format(), operand.type_name());
                }
                let _ = (inst.reads().count(), inst.writes().count(), inst.branch_target(0), inst.op_y());
                let words = inst.words().iter().flat_map(|word| word.to_le_bytes());
                assert!(words.eq(bytes[expected..][..inst.len()].iter().copied()));
                inst.len()
            }
            Err(error) => {
                assert_eq!(error.offset, expected);
                error.len
            }
        };
        assert!((1..=20).contains(&len), "{generation}: {result:?}");
        expected += len;
        assert_eq!(decoder.offset(), expected);
    }
    assert_eq!(expected, bytes.len());
}

#[test]
fn every_flipped_bit_decodes_or_is_an_error() {
    for generation in Generation::available() {
        for (mut bytes, _) in sample(generation) {
            for bit in 0..bytes.len() * 8 {
                bytes[bit / 8] ^= 1 << (bit % 8);
                covers(generation, &bytes);
                bytes[bit / 8] ^= 1 << (bit % 8);
            }
        }
    }
}

/// Tuples that run out of the scalar registers, or begin at a register that is the high half of a pair or has no next.
#[test]
fn tuples_end_in_their_file() {
    let cases = [
        // S_BREV_B64: M0 as a pair.
        (Generation::Rdna4, "0005fdbe"),
        // S_ATOMIC_CMPSWAP: the high half of XNACK_MASK and what follows it.
        (Generation::Cdna2, "401a04c200000000"),
        // BUFFER_LOAD_FORMAT_X: a descriptor at M0.
        (Generation::Rdna2, "000000e000001f00"),
        // IMAGE_GATHER4H_PCK: a descriptor that begins at s104.
        (Generation::Rdna1, "000088f100001a00"),
    ];
    for (generation, hex) in cases {
        let error = generation.decode(&hex_bytes(hex)).expect_err(hex);
        assert_eq!((error.kind, error.offset, error.len), (DecodeErrorKind::ReservedOperand, 0, 4), "{hex}");
    }
    let cases = [
        // s[100:103] of CDNA 1, in LLVM's tests.
        (Generation::Cdna1, "000180f001052203"),
        // The last pair, a pair by name, and no register at all.
        (Generation::Rdna4, "0005e8be"),
        (Generation::Rdna4, "0005eabe"),
        (Generation::Rdna4, "0005fcbe"),
    ];
    for (generation, hex) in cases {
        generation.decode(&hex_bytes(hex)).expect(hex);
    }
}

/// A stream of words from a counter, as SplitMix64 makes them.
fn random_words(seed: u64, count: usize) -> Vec<u8> {
    let mix = |n: u64| {
        let mut z = seed.wrapping_add(n.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) as u32
    };
    (0..count as u64).flat_map(|n| mix(n).to_le_bytes()).collect()
}

/// A hundred thousand words a generation; `GFX_ISA_RANDOM_WORDS` sets another number.
#[test]
fn random_words_never_panic() {
    let count = std::env::var("GFX_ISA_RANDOM_WORDS").ok().and_then(|n| n.parse().ok()).unwrap_or(100_000usize);
    for generation in Generation::available() {
        let mut left = count;
        while left > 0 {
            let chunk = left.min(1 << 20);
            covers(generation, &random_words(left as u64, chunk));
            left -= chunk;
        }
    }
}

proptest! {
    #[test]
    fn any_bytes_are_covered(bytes in prop::collection::vec(any::<u8>(), 0..200), at in 0..10usize) {
        let all: Vec<_> = Generation::available().collect();
        covers(all[at % all.len()], &bytes);
    }
}

#[test]
fn decoding_goes_on_behind_an_error() {
    let bytes = hex_bytes("ffffffff00000000000080bf");
    let results: Vec<_> = Decoder::new(Generation::Rdna4, &bytes).collect();
    assert_eq!(results[0].as_ref().unwrap_err().offset, 0);
    assert_eq!(results.last().unwrap().as_ref().unwrap().mnemonic(), "s_nop");
}
