//! The catalogue beside the recorded facts that the tables are generated from.

use std::collections::BTreeSet;
use std::path::Path;

use gfx_isa::{Generation, Half, Role};
use serde_json::Value;

fn record(generation: Generation) -> Option<Value> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../specs").join(format!("{}.json", generation.name()));
    let Ok(text) = std::fs::read_to_string(&path) else {
        eprintln!("skipped: no {}", path.display());
        return None;
    };
    Some(serde_json::from_str(&text).expect("the record is JSON"))
}

fn number(text: &Value) -> u128 {
    u128::from_str_radix(text.as_str().expect("a hexadecimal text"), 16).expect("a hexadecimal number")
}

/// Name, encoding and opcode of every row.
fn rows(record: &Value) -> BTreeSet<(String, String, u32)> {
    let mut rows = BTreeSet::new();
    for instruction in record["instructions"].as_array().expect("a list") {
        let name = instruction["name"].as_str().expect("a name");
        for row in instruction["rows"].as_array().expect("a list") {
            let encoding = row[0].as_str().expect("an encoding");
            rows.insert((name.to_owned(), encoding.to_owned(), row[2].as_u64().expect("an opcode") as u32));
        }
    }
    rows
}

/// Every text of the errata of a generation: names of instructions and encodings that are not as recorded.
fn errata_words(generation: Generation) -> BTreeSet<String> {
    fn collect(value: &toml::Value, words: &mut BTreeSet<String>) {
        match value {
            toml::Value::String(text) => words.extend(std::iter::once(text.clone())),
            toml::Value::Array(items) => items.iter().for_each(|item| collect(item, words)),
            toml::Value::Table(table) => table.iter().for_each(|(key, item)| {
                words.insert(key.clone());
                collect(item, words);
            }),
            _ => {}
        }
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../data/errata.toml");
    let text = std::fs::read_to_string(path).expect("the errata beside the records");
    let errata: toml::Table = text.parse().expect("the errata are TOML");
    let mut words = BTreeSet::new();
    for erratum in errata["erratum"].as_array().expect("a list") {
        let generations = erratum["generations"].as_array().expect("a list");
        if generations.iter().any(|name| name.as_str() == Some(generation.name())) {
            collect(erratum, &mut words);
        }
    }
    words
}

#[test]
fn every_recorded_row_is_in_the_catalogue_unless_an_erratum_says_so() {
    for generation in Generation::available() {
        let Some(record) = record(generation) else { return };
        let recorded = rows(&record);
        let mut known = BTreeSet::new();
        for info in generation.instructions() {
            for encoding in std::iter::once(info.encoding()).chain(info.variants()) {
                known.insert((info.name().to_owned(), encoding.name().to_owned(), info.opcode()));
            }
        }
        let words = errata_words(generation);
        let unexplained = recorded.symmetric_difference(&known);
        // Before RDNA 4, AMD lists the literal form of a dual-issue word only for what always has a literal.
        let dual = |name: &str, encoding: &str| name.starts_with("V_DUAL_") && encoding == "VOPDXY_INST_LITERAL";
        let unexplained: Vec<_> = unexplained
            .filter(|(name, encoding, _)| !words.contains(name) && !words.contains(encoding) && !dual(name, encoding))
            .collect();
        assert!(unexplained.is_empty(), "{generation}: {unexplained:?}");
    }
}

#[test]
fn identifiers_are_amds() {
    for generation in Generation::available() {
        let Some(record) = record(generation) else { return };
        let words = errata_words(generation);
        for encoding in record["encodings"].as_array().expect("a list") {
            let name = encoding["name"].as_str().expect("a name");
            let own = generation.encoding(name).expect(name);
            if words.contains(name) {
                continue;
            }
            assert_eq!(own.mask(), number(&encoding["mask"]), "{generation} {name}");
            let identifiers: BTreeSet<u128> =
                encoding["identifiers"].as_array().expect("a list").iter().map(number).collect();
            // AMD's identifiers of a dual-issue word say the opcode of the first half only.
            let mine = generation.instructions().filter(|info| info.encoding() == own && info.half() != Some(Half::Y));
            for info in mine.filter(|info| !words.contains(info.name())) {
                assert!(identifiers.contains(&(info.identifier() & own.mask())), "{info:?}");
            }
        }
    }
}

#[test]
fn layouts_cover_every_bit_once() {
    for generation in Generation::available() {
        for info in generation.instructions() {
            for encoding in std::iter::once(info.encoding()).chain(info.variants()) {
                let (identifier, mask) = (info.identifier_in(encoding), info.mask_in(encoding));
                assert_eq!(identifier & !mask, 0, "{info:?}");
                let (mut top, mut word) = (encoding.bits(), 0);
                for piece in info.layout_in(encoding) {
                    assert_eq!(piece.range.high() + 1, top, "{info:?} {encoding:?}");
                    assert_eq!(
                        piece.value.is_some(),
                        matches!(piece.role, Role::Fixed | Role::Opcode),
                        "{info:?} {piece:?}"
                    );
                    top = piece.range.offset;
                    word |= piece.value.unwrap_or(0).checked_shl(top).unwrap_or(0);
                }
                assert_eq!((top, word), (0, identifier), "{info:?} {encoding:?}");
            }
        }
    }
}
