use super::*;
use crate::names::Names;

const ERRATA: &str = include_str!("../../../data/errata.toml");
const NAMES: &str = include_str!("../../../data/names.toml");
const SOURCES: &str = include_str!("../../../data/sources.toml");

fn recorded(name: &str) -> Spec {
    let path = format!("{}/../specs/{name}.json", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
    isa_xml::from_json(&text).unwrap()
}

/// One erratum of the given operations on the given generations' recorded facts.
fn run(generations: &[&str], operations: &str) -> Result<Vec<Spec>, Error> {
    let head = format!(
        "[[erratum]]\nid = 'x'\ngenerations = ['{}']\nwhat = 'a'\nwhy = 'b'\nevidence = ['c']\n",
        generations[0]
    );
    let errata = parse(&(head + operations))?;
    let mut specs: Vec<(&str, Spec)> = generations.iter().map(|&name| (name, recorded(name))).collect();
    apply(&mut specs, &errata)?;
    Ok(specs.into_iter().map(|(_, spec)| spec).collect())
}

fn problem(generations: &[&str], operations: &str) -> String {
    run(generations, operations).unwrap_err().to_string()
}

#[test]
fn the_data_of_this_repository_applies() {
    let sources = crate::sources::parse(SOURCES).unwrap();
    let names: Vec<&str> = sources.generations.iter().map(|generation| generation.name.as_str()).collect();
    let errata = parse(ERRATA).unwrap();
    for erratum in &errata {
        for generation in &erratum.generations {
            assert!(names.contains(&generation.as_str()), "erratum {} names {generation}", erratum.id);
        }
    }
    let mut specs: Vec<(&str, Spec)> = names.iter().map(|&name| (name, recorded(name))).collect();
    let report = apply(&mut specs, &errata).unwrap();
    assert_eq!(report.applied.len(), errata.iter().map(|erratum| erratum.generations.len()).sum::<usize>());
    let mnemonics = Names::parse(NAMES).unwrap();
    mnemonics.check(&specs).unwrap();
    for entry in mnemonics.entries() {
        for generation in &entry.generations {
            assert!(names.contains(&generation.as_str()), "names.toml names {generation}");
        }
    }
    // Every opcode fits its field and has an identifier, except in encodings that select by other fields.
    for (name, spec) in &specs {
        for instruction in &spec.instructions {
            for row in &instruction.rows {
                let encoding = spec.encoding(row.encoding);
                let Some(field) = encoding.field("OP") else {
                    continue;
                };
                let opcode = place(field, u64::from(row.opcode)).unwrap();
                let known = encoding.identifiers.iter().any(|other| other & field_mask(field) == opcode);
                assert!(known, "{name} {} {}", instruction.name, encoding.name);
            }
        }
    }
    // Applied once, they no longer apply.
    assert!(apply(&mut specs, &errata).is_err());
}

#[test]
fn a_row_is_added_with_its_identifier() {
    let add = "[[erratum.add]]\ninstructions = { S_GET_BARRIER_STATE = 80 }\nencodings = ['ENC_SOP1']\n\
               like = 'cdna5/*'\ncondition = 'default'";
    let specs = run(&["rdna4", "cdna5"], add).unwrap();
    let spec = &specs[0];
    let row = &find(spec, "S_GET_BARRIER_STATE").unwrap().rows[0];
    assert_eq!((row.opcode, row.condition.as_str()), (80, "default"));
    let operands: Vec<_> = spec.operands(row.operands).iter().map(|operand| operand.field.as_deref()).collect();
    assert_eq!(operands, [Some("SDST"), Some("SSRC0")]);
    assert!(spec.encoding(row.encoding).identifiers.contains(&0xbe80_5000));
    assert!(problem(&["rdna4"], add).contains("no generation cdna5"));
    assert!(problem(&["rdna4", "cdna5"], &add.replace("= 80", "= 78")).contains("for S_BARRIER_SIGNAL"));
    assert!(problem(&["rdna4", "cdna5"], &add.replace("= 80", "= 256")).contains("256 does not fit the field OP"));
    assert!(problem(&["rdna4", "cdna5"], &add.replace("ENC_SOP1", "ENC_SOP9")).contains("no encoding ENC_SOP9"));
}

#[test]
fn operands_can_be_spelt_out() {
    let add = "[[erratum.add]]\ninstructions = { X = 84 }\nencodings = ['ENC_SOP1']\ngroup = 'SALU'\n\
               operands = ['SDST:OPR_SDST:FMT_NUM_B32:32:w', '-:OPR_SDST_M0:FMT_NUM_B32:32:r:implicit']";
    let specs = run(&["rdna4"], add).unwrap();
    let row = &find(&specs[0], "X").unwrap().rows[0];
    let operands = specs[0].operands(row.operands);
    assert!(operands[0].output && !operands[0].input && !operands[0].implicit && operands[0].size == 32);
    assert!(operands[1].implicit && operands[1].field.is_none() && operands[1].order == 2);
    assert!(problem(&["rdna4"], &add.replace(":w'", ":x'")).contains("is not FIELD"));
    assert!(problem(&["rdna4"], &add.replace("SDST:OPR", "VDST:OPR")).contains("has no field VDST"));
    assert!(problem(&["rdna4"], &add.replace("OPR_SDST:", "OPR_NONE:")).contains("no operand type OPR_NONE"));
    assert!(problem(&["rdna4"], &add.replace("group = 'SALU'\n", "")).contains("needs `group`"));
}

#[test]
fn rows_and_instructions_are_removed() {
    let remove = "[[erratum.remove]]\ninstructions = ['V_READFIRSTLANE_B32']\nencodings = ['ENC_VOP3']";
    let specs = run(&["cdna3"], remove).unwrap();
    let left = find(&specs[0], "V_READFIRSTLANE_B32").unwrap();
    assert!(!left.rows.is_empty());
    let vop3 = &specs[0].encodings[encoding_index(&specs[0], "ENC_VOP3").unwrap()];
    assert!(!vop3.identifiers.contains(&0xd142_0000), "{:x?}", vop3.identifiers);
    let whole = run(&["cdna3"], "[[erratum.remove]]\ninstructions = ['S_NOP']").unwrap();
    assert!(find(&whole[0], "S_NOP").is_err());
    assert!(problem(&["cdna3"], "[[erratum.remove]]\ninstructions = ['S_NOPE']").contains("no instruction S_NOPE"));
}

#[test]
fn names_and_operands_change() {
    let specs = run(&["cdna3"], "[[erratum.rename]]\nfrom = 'S_NOP'\nto = 'S_IDLE'").unwrap();
    assert_eq!(find(&specs[0], "S_IDLE").unwrap().aliases, ["S_NOP"]);
    let change = "[[erratum.operand]]\ninstructions = ['S_MOV_B32']\nat = 'SDST'\nsize = 64\naccess = 'rw'";
    let specs = run(&["cdna3"], change).unwrap();
    for row in &find(&specs[0], "S_MOV_B32").unwrap().rows {
        let operand = &specs[0].operands(row.operands)[0];
        assert!(operand.size == 64 && operand.input && operand.output);
    }
    let idle = "[[erratum.operand]]\ninstructions = ['S_MOV_B32']\nat = '#1'\nsize = 32";
    assert!(problem(&["cdna3"], idle).contains("is so already"));
    assert!(problem(&["cdna3"], &idle.replace("#1", "#7")).contains("no operand #7"));
    let alias = "[[erratum.alias]]\ninstruction = 'S_NOP'\nname = 'S_IDLE'";
    assert_eq!(find(&run(&["cdna3"], alias).unwrap()[0], "S_NOP").unwrap().aliases, ["S_IDLE"]);
}

#[test]
fn unsupported_rows_are_reported() {
    let text = "[[erratum]]\nid = 'x'\ngenerations = ['cdna3']\nwhat = 'a'\nwhy = 'b'\nevidence = ['c']\n\
                [[erratum.unsupported]]\ninstructions = ['V_READFIRSTLANE_B32']\nencodings = ['ENC_VOP3']";
    let mut specs = [("cdna3", recorded("cdna3"))];
    let report = apply(&mut specs, &parse(text).unwrap()).unwrap();
    let rows: Vec<_> = report.unsupported.iter().map(|row| (row.encoding.as_str(), row.opcode)).collect();
    assert_eq!(rows, [("ENC_VOP3", 322)]);
}

#[test]
fn encodings_change_once() {
    let change = "[[erratum.encoding]]\nencodings = ['ENC_MIMG']\nfields = { OP = '18+7, 0+1' }\n\
                  remove_fields = ['OPM']\nidentifiers_from_rows = true";
    let specs = run(&["rdna2"], change).unwrap();
    let mimg = &specs[0].encodings[encoding_index(&specs[0], "ENC_MIMG").unwrap()];
    assert_eq!(mimg.identifier_mask, 0xfdfc_0001);
    assert!(mimg.identifiers.contains(&0xf000_0001), "IMAGE_MSAA_LOAD");
    assert!(problem(&["rdna2"], &change.replace("0+1", "64+1")).contains("no range of 64 bits"));
    assert!(problem(&["cdna5"], &change.replace("ENC_MIMG", "ENC_VFLAT")).contains("has no field OPM"));
}

#[test]
fn entries_without_grounds_are_refused() {
    let entry = "[[erratum]]\nid = 'x'\ngenerations = ['cdna3']\nwhat = 'a'\nwhy = 'b'\nevidence = ['c']\n";
    assert!(matches!(parse(&entry.replace("'b'", "' '")), Err(Error::Unfounded(_))));
    assert!(matches!(parse(&entry.replace("['c']", "[]")), Err(Error::Unfounded(_))));
    assert!(matches!(parse(&entry.repeat(2)), Err(Error::DuplicateId(_))));
    assert!(matches!(parse(&entry.replace("why", "because")), Err(Error::Syntax(_))));
    let mut specs = [("cdna3", recorded("cdna3"))];
    let error = apply(&mut specs, &parse(entry).unwrap()).unwrap_err();
    assert_eq!(error.to_string(), "erratum `x` on cdna3: it has no operation");
}
