//! The committed records: whole, small, without prose, and equal to AMD's XML where that is at hand.

mod common;

use std::collections::{BTreeSet, HashMap};
use std::fs;

use common::{FIXTURES, V1_0_0, V1_1_0, V1_2_0, edit, generations, import, reference_xml, repository};
use isa_xml::{Change, Severity, differences, from_json, to_json, validate};
use rayon::prelude::*;

fn record(name: &str) -> String {
    let path = repository().join("specs").join(format!("{name}.json"));
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

#[test]
fn committed_records_are_whole() {
    let mut total = 0;
    for (name, _) in generations() {
        let text = record(&name);
        total += text.len();
        let spec = from_json(&text).unwrap();
        assert_eq!(to_json(&spec), text, "{name}: reading and writing changes nothing");
        let errors: Vec<_> =
            validate(&spec).into_iter().filter(|finding| finding.severity == Severity::Error).collect();
        assert_eq!(errors, [], "{name}");
        assert!(spec.instructions.len() > 1000, "{name}");
        let lines: HashMap<&str, usize> = text
            .lines()
            .filter_map(|line| line.strip_prefix("{\"name\":\"")?.split_once('"'))
            .fold(HashMap::new(), |mut counts, (name, _)| {
                *counts.entry(name).or_default() += 1;
                counts
            });
        for instruction in &spec.instructions {
            let line = lines.get(instruction.name.as_str());
            assert_eq!(line, Some(&1), "{name}: {} has one line", instruction.name);
        }
        assert!(!text.contains("escription"), "{name}: no prose");
    }
    assert!(total < 10_000_000, "{total} bytes");
    let files = fs::read_dir(repository().join("specs")).unwrap();
    let files: BTreeSet<String> = files.map(|f| f.unwrap().file_name().into_string().unwrap()).collect();
    let expected = generations().into_iter().map(|(name, _)| format!("{name}.json"));
    assert_eq!(files, expected.collect(), "a record for each generation and no other");
}

#[test]
fn committed_conditions_can_be_evaluated() {
    for (name, _) in generations() {
        let spec = from_json(&record(&name)).unwrap();
        for encoding in &spec.encodings {
            for condition in &encoding.conditions {
                // With no literal, DPP or SDWA marker anywhere a condition is decided one way or the other.
                let value = condition.expr.eval(&|field| encoding.field(field).map(|_| 0));
                assert!(value.is_some(), "{name}: {}: {}", encoding.name, condition.name);
            }
        }
    }
}

#[test]
fn records_agree_with_the_reference_xml() {
    let Some(folder) = reference_xml() else {
        return;
    };
    let sources = isa_xml::read_dir(&folder).unwrap();
    generations().par_iter().for_each(|(name, file)| {
        let source = sources.iter().find(|s| s.name == *file);
        let source = source.unwrap_or_else(|| panic!("{file} in {}", folder.display()));
        let import = isa_xml::import(source).unwrap();
        assert!(import.notes.unknown.is_empty(), "{name}: {:?}", import.notes);
        let json = to_json(&import.spec);
        let record = from_json(&record(name)).unwrap();
        assert_eq!(differences(&record, &import.spec), [], "{name}");
        assert!(record == import.spec, "{name}: order included");
        assert!(from_json(&json).unwrap() == import.spec, "{name}: round trip");
    });
}

#[test]
fn fixtures_survive_the_round_trip() {
    for (version, text) in FIXTURES {
        let spec = import(text).unwrap().spec;
        let json = to_json(&spec);
        assert_eq!(from_json(&json).unwrap(), spec, "{version}");
        assert_eq!(json, to_json(&import(text).unwrap().spec), "deterministic");
    }
}

#[test]
fn a_new_operand_list_renames_no_other() {
    let before = to_json(&import(V1_0_0).unwrap().spec);
    let after = edit(V1_0_0, "<OperandSize>32</OperandSize>", "<OperandSize>64</OperandSize>");
    let after = to_json(&import(&after).unwrap().spec);
    let line = |json: &str, start: &str| {
        let line = json.lines().find(|line| line.starts_with(start)).unwrap();
        line.trim_end_matches(',').to_owned()
    };
    let (mov, read) = ("{\"name\":\"V_MOV_F32\"", "{\"name\":\"V_READ\"");
    assert_ne!(line(&before, mov), line(&after, mov));
    assert_eq!(line(&before, read), line(&after, read));
}

#[test]
fn differences_name_what_changed() {
    let old = import(V1_1_0).unwrap().spec;
    assert_eq!(differences(&old, &old), []);
    let text = edit(V1_1_0, "<Opcode Radix=\"10\">9<", "<Opcode Radix=\"10\">10<");
    let text = edit(&text, "<InstructionName>S_NOP<", "<InstructionName>S_NAP<");
    let text = edit(&text, "<Value>15<", "<Value>14<");
    let found = differences(&old, &import(&text).unwrap().spec);
    let found: Vec<String> = found.iter().map(ToString::to_string).collect();
    assert_eq!(
        found,
        [
            "~ document sha256",
            "+ instruction S_NAP",
            "- instruction S_NOP",
            "~ instruction V_PK_MOV",
            "~ operand type OPR_WAIT",
        ]
    );
    assert!(differences(&old, &old).iter().all(|d| d.change == Change::Changed));
}

#[test]
fn faults_of_a_record() {
    let json = to_json(&import(V1_2_0).unwrap().spec);
    let fault = |from: &str, to: &str| from_json(&edit(&json, from, to)).unwrap_err().to_string();
    assert!(fault("\"record\": 1", "\"record\": 2").contains("layout 2 is not 1"));
    assert!(fault("\"record\": 1", "\"recrod\": 1").starts_with("line 2, column"));
    assert!(fault("{", "").starts_with("line "));
    assert_eq!(fault("[\"ENC_SMEM\",", "[\"ENC_X\","), "instruction S_LOAD_B32: unknown encoding ENC_X");
    assert!(fault("\"type\":\"OPR_SREG\"", "\"type\":\"OPR_X\"").contains("operand 1: unknown operand type OPR_X"));
    assert!(fault("\"format\":\"FMT_", "\"format\":\"TMF_").contains("unknown data format TMF_"));
    assert!(fault("be800000", "xyz").contains("\"xyz\" is not a hexadecimal number"));
    assert!(fault("\".within\"", "\".witin\"").contains("encoding ENC_SOP1 → condition has_lit_0: bad expression"));
    assert!(fault("\"operand_lists\": {", "\"operand_lists\": {\"00000000\": [],").contains("no row uses it"));
    assert!(fault("\"name\":\"ENC_SMEM\"", "\"name\":\"ENC_SOP1\"").contains("ENC_SOP1: declared twice"));
    let deep = format!("[{}", "[\"!\",".repeat(100_000));
    assert!(fault("[\".within\"", &deep).contains("recursion limit"));
    assert!(from_json("").is_err());
}
