//! No text makes the reader panic, and what it accepts it can also check and record.

mod common;

use common::{FIXTURES, import};
use isa_xml::{Source, from_json, to_json, validate};
use proptest::prelude::*;
use proptest::sample::Index;

/// An edit of a text: at some place, take away some bytes and put in others.
type Edit = (Index, u16, Vec<u8>);

/// Things that matter to the reader.
const TOKENS: [&str; 24] = [
    "<",
    ">",
    "/>",
    "</",
    "&",
    "&amp;",
    "&#0;",
    "\"",
    "=",
    "<!--",
    "-->",
    "<![CDATA[",
    "]]>",
    "<?",
    "<!DOCTYPE x>",
    "-1",
    "65535",
    "65536",
    "18446744073709551615",
    "340282366920938463463374607431768211455",
    "<Field>",
    "</Range>",
    " Radix=\"16\"",
    "\u{feff}",
];

fn edit() -> impl Strategy<Value = Edit> {
    let bytes = prop_oneof![
        prop::sample::select(&TOKENS[..]).prop_map(|token| token.as_bytes().to_vec()),
        prop::collection::vec(any::<u8>(), 0..4),
        Just(Vec::new()),
    ];
    (any::<Index>(), 0u16..40, bytes)
}

fn apply(text: &str, edits: &[Edit]) -> Vec<u8> {
    let mut bytes = text.as_bytes().to_vec();
    for (at, remove, insert) in edits {
        let from = at.index(bytes.len() + 1);
        let to = (from + usize::from(*remove)).min(bytes.len());
        bytes.splice(from..to, insert.iter().copied());
    }
    bytes
}

fn read(bytes: Vec<u8>) {
    let Ok(source) = Source::new("test.xml", bytes) else {
        return;
    };
    let _ = isa_xml::describe(&source);
    match isa_xml::import(&source) {
        Ok(import) => {
            for finding in validate(&import.spec) {
                assert!(!finding.to_string().is_empty());
            }
            let json = to_json(&import.spec);
            assert_eq!(from_json(&json).unwrap(), import.spec);
        }
        Err(error) => assert!(error.to_string().starts_with("test.xml:"), "{error}"),
    }
}

/// Replaces the n-th number of the text: well formed, so that the mutation reaches `validate`.
fn with_number(text: &str, n: &Index, number: &str) -> String {
    let places: Vec<(usize, &str)> = text
        .match_indices('>')
        .filter_map(|(at, _)| {
            let rest = &text[at + 1..];
            let content = &rest[..rest.find('<')?];
            (!content.is_empty() && content.bytes().all(|b| b.is_ascii_digit())).then_some((at + 1, content))
        })
        .collect();
    let (at, old) = places[n.index(places.len())];
    format!("{}{number}{}", &text[..at], &text[at + old.len()..])
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn edited_xml(fixture in 0..FIXTURES.len(), edits in prop::collection::vec(edit(), 1..6)) {
        read(apply(FIXTURES[fixture].1, &edits));
    }

    #[test]
    fn edited_numbers(
        fixture in 0..FIXTURES.len(),
        edits in prop::collection::vec((any::<Index>(), prop_oneof![any::<u16>().prop_map(u64::from), 0u64..200, any::<u64>()]), 1..5),
    ) {
        let mut text = FIXTURES[fixture].1.to_owned();
        for (n, number) in &edits {
            text = with_number(&text, n, &number.to_string());
        }
        read(text.into_bytes());
    }

    #[test]
    fn edited_records(fixture in 0..FIXTURES.len(), edits in prop::collection::vec(edit(), 1..6)) {
        let json = to_json(&import(FIXTURES[fixture].1).unwrap().spec);
        if let Ok(text) = String::from_utf8(apply(&json, &edits))
            && let Ok(spec) = from_json(&text)
        {
            let _ = validate(&spec);
            prop_assert_eq!(from_json(&to_json(&spec)).unwrap(), spec);
        }
    }
}
