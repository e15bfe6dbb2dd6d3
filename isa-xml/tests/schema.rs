//! Each schema version's own way of saying things comes out the same.

mod common;

use common::{FIXTURES, V1_0_0, V1_1_0, V1_1_1, V1_1_1_REISSUED, V1_2_0, edit, import};
use isa_xml::Notes;
use isa_xml::spec::{BitRange, Field, Signedness, Spec};

fn spec(text: &str) -> Spec {
    import(text).unwrap().spec
}

fn plain(offset: u16, count: u16) -> BitRange {
    BitRange { offset, count, padding: None }
}

fn field<'s>(spec: &'s Spec, encoding: &str, field: &str) -> &'s Field {
    let encoding = spec.encodings.iter().find(|e| e.name == encoding).unwrap();
    encoding.field(field).unwrap()
}

#[test]
fn all_versions_are_read_whole() {
    for (version, text) in FIXTURES {
        let import = import(text).unwrap();
        assert_eq!(import.spec.document.schema_version, version);
        assert_eq!(import.notes.unknown, Notes::default().unknown, "{version}");
        assert_eq!(isa_xml::validate(&import.spec), [], "{version}");
        assert_eq!(import.spec.document.sha256.len(), 64);
    }
}

#[test]
fn both_condition_grammars_give_the_same_tree() {
    let old = &spec(V1_0_0).encodings[0].conditions[0].expr;
    let new = &spec(V1_1_1_REISSUED).encodings[0].conditions[0].expr;
    assert_eq!(old.to_string(), "((VOP1.SRC0 != 249) && (VOP1.SRC0 != 250))");
    assert_eq!(old, new);
}

#[test]
fn conditions_can_be_evaluated() {
    let spec = spec(V1_2_0);
    let [without, with, default] = &spec.encodings[0].conditions[..] else {
        panic!("three conditions");
    };
    assert_eq!(without.name, "!has_lit64_0&!has_lit_0");
    assert_eq!((without.id, with.id, default.id), (Some(18), Some(1), Some(0)));
    let holds = |condition: &isa_xml::spec::Condition, value| {
        condition.expr.holds(&|field| (field == "SSRC0").then_some(value))
    };
    for (value, literal) in [(0, false), (253, false), (254, true), (255, true)] {
        assert_eq!(holds(with, value), Some(literal));
        assert_eq!(holds(without, value), Some(!literal));
        assert_eq!(holds(default, value), Some(true));
    }
    assert_eq!(with.expr.holds(&|_| None), None);
    assert_eq!(default.expr.holds(&|_| None), Some(true));
}

#[test]
fn a_decided_condition_needs_no_other_field() {
    let spec = spec(V1_0_0);
    let expr = &spec.encodings[0].conditions[0].expr;
    assert_eq!(expr.holds(&|_| Some(249)), Some(false));
    assert_eq!(expr.holds(&|_| Some(1)), Some(true));
    // `SRC0 != 249 && OTHER != 250` is false for 249 whatever OTHER is.
    let text = V1_0_0.replacen("<Label>SRC0</Label>", "<Label>OTHER</Label>", 2);
    let text = edit(&text, "<Label>OTHER</Label>", "<Label>SRC0</Label>");
    let spec = import(&text).unwrap().spec;
    let expr = &spec.encodings[0].conditions[0].expr;
    assert_eq!(expr.to_string(), "((VOP1.SRC0 != 249) && (VOP1.OTHER != 250))");
    let only_src0 = |value| move |name: &str| (name == "SRC0").then_some(value);
    assert_eq!(expr.holds(&only_src0(249)), Some(false));
    assert_eq!(expr.holds(&only_src0(1)), None);
}

#[test]
fn types_of_conditions_are_read_and_dropped() {
    let plain = spec(V1_2_0).encodings;
    let array = "<ty><arr size=\"2\"><t base=\"I\" size=\"32\"/></arr></ty>";
    let text = V1_2_0
        .replace("<id val=\"INST\"/>", &format!("<id val=\"INST\">{array}</id>"))
        .replace("</op><ty><t base=\"U\"", &format!("{array}</op><ty><t base=\"U\""));
    assert_ne!(text, V1_2_0);
    let other = import(&text).unwrap();
    assert_eq!(other.spec.encodings, plain);
    assert!(other.notes.unknown.is_empty(), "{:?}", other.notes);

    let plain = spec(V1_0_0).encodings;
    let text = edit(
        V1_0_0,
        "<ValueType Name=\"Base\"><BaseType>I</BaseType><Size>32</Size></ValueType>",
        "<ValueType Name=\"Array\"><ArraySize>2</ArraySize></ValueType>",
    );
    assert_eq!(spec(&text).encodings, plain);
}

#[test]
fn operators_have_second_spellings() {
    let text = V1_2_0.replace("<op type=\".notwithin\">", "<op type=\".boolneg\"><op type=\".within\">");
    let text = edit(&text, "</op><ty><t base=\"U\"", "</op></op><ty><t base=\"U\"");
    let spec = spec(&text);
    let expr = &spec.encodings[0].conditions[0].expr;
    assert_eq!(expr.to_string(), "!((SOP1.SSRC0 in {254, 255}))");
    assert_eq!(expr.holds(&|_| Some(254)), Some(false));
    assert_eq!(expr.holds(&|_| Some(1)), Some(true));
}

#[test]
fn an_empty_literal_is_true_and_counted() {
    let import = import(V1_1_1).unwrap();
    let condition = &import.spec.encodings[0].conditions[0];
    assert_eq!(condition.expr.holds(&|_| None), Some(true));
    assert_eq!(import.notes.quirks.values().sum::<usize>(), 1);
}

#[test]
fn subgroups_in_both_shapes() {
    assert_eq!(spec(V1_0_0).instructions[0].subgroups, ["FLOATING_POINT"]);
    assert!(spec(V1_0_0).instructions[1].subgroups.is_empty());
    assert_eq!(spec(V1_1_1).instructions[0].subgroups, ["FLOATING_POINT", "STATIC"]);
}

#[test]
fn ranges_are_in_order_and_padded() {
    let split = field(&spec(V1_1_1), "ENC_VOP3P", "OP_SEL_HI").ranges.clone();
    assert_eq!(split, [plain(59, 2), plain(14, 1)]);
    let before = spec(V1_1_0);
    assert_eq!(field(&before, "ENC_VOP3P", "OP_SEL_HI").ranges, [plain(59, 2)]);
    assert_eq!(field(&before, "ENC_VOP3P", "OP_SEL_HI_2").ranges, [plain(14, 1)]);
    let padded = BitRange { padding: Some((1, 0)), ..plain(0, 6) };
    assert_eq!(field(&spec(V1_2_0), "ENC_SMEM", "SBASE").ranges, [padded]);

    // The order is what `Order` says, not the order in the file.
    let swapped = V1_1_1.replace("<Range Order=\"0\"><BitCount>2<", "<Range Order=\"7\"><BitCount>2<").replace(
        "<Range Order=\"1\"><BitCount>1</BitCount><BitOffset>14<",
        "<Range Order=\"3\"><BitCount>1</BitCount><BitOffset>14<",
    );
    let swapped = spec(&swapped);
    assert_eq!(field(&swapped, "ENC_VOP3P", "OP_SEL_HI").ranges, [plain(14, 1), plain(59, 2)]);
}

#[test]
fn instructions_rows_and_operands() {
    let spec = spec(V1_1_0);
    let [nop, branch, pk] = &spec.instructions[..] else {
        panic!("three instructions");
    };
    assert!(branch.flags.branch && !branch.flags.program_terminator && !nop.flags.branch);
    assert_eq!(pk.aliases, ["V_PK_COPY"]);
    assert!(spec.operands(nop.rows[0].operands).is_empty());
    // Two rows with equal operands share a list.
    assert_eq!(pk.rows[0].operands, pk.rows[1].operands);
    assert_eq!(spec.operand_lists.len(), 3);
    assert_eq!(pk.rows[1].condition, "has_lit_0");
    assert_eq!(spec.encoding(pk.rows[0].encoding).name, "ENC_VOP3P");
    let [to, from] = spec.operands(pk.rows[0].operands) else {
        panic!("two operands");
    };
    assert_eq!((to.field.as_deref(), to.output, to.input, to.size), (Some("VDST"), true, false, 32));
    assert_eq!((from.order, from.input), (2, true));
    assert_eq!(spec.operand_type(from.ty).subtypes, ["OPR_VGPR"]);
    assert_eq!(spec.operand_type(from.ty).values[0].value, -16);
    assert_eq!(spec.format(to.format).components, 2);
    assert_eq!(spec.format(to.format).bitmaps[1][0].ranges, [plain(16, 10)]);
    assert_eq!(spec.format(to.format).bitmaps[1][0].signedness, Signedness::DoesNotApply);
    let wait = spec.operand_types.iter().find(|t| t.name == "OPR_WAIT").unwrap();
    assert!(wait.partitioned);
    assert_eq!(wait.fields[0].values[0].value, 15);
}

#[test]
fn implicit_operands_and_condition_ids() {
    let spec = spec(V1_2_0);
    let load = &spec.instructions[1];
    assert_eq!(load.rows[0].condition_id, Some(0));
    assert_eq!(spec.instructions[0].rows[0].condition_id, Some(18));
    let memory = &spec.operands(load.rows[0].operands)[2];
    assert!(memory.implicit && memory.field.is_none());
}

#[test]
fn identifiers_are_numbers() {
    let spec = spec(V1_0_0);
    assert_eq!(spec.encodings[0].identifier_mask, 0xfe01_fe00);
    assert_eq!(spec.encodings[0].identifiers, [0x7e00_0200, 0x7e00_0a00]);
    assert_eq!(spec.encodings[0].order, -1);
}

#[test]
fn what_the_model_does_not_know_is_counted() {
    let text = V1_0_0
        .replace("<IsBranch>", "<IsMagic>TRUE</IsMagic><IsBranch>")
        .replace("<Operand Input", "<Operand Colour=\"red\" Input");
    let text = edit(&text, "<Encodings>", "<Prelude a=\"1\"><x><y/></x></Prelude><Encodings>");
    let text = edit(&text, "<License>", "<License by=\"x\">");
    let notes = import(&text).unwrap().notes;
    let unknown: Vec<_> = notes.unknown.iter().map(|(path, n)| (path.as_str(), *n)).collect();
    assert_eq!(
        unknown,
        [
            ("Spec/Document/License/@by", 1),
            ("Spec/ISA/Instructions/Instruction/InstructionEncodings/InstructionEncoding/Operands/Operand/@Colour", 4),
            ("Spec/ISA/Instructions/Instruction/InstructionFlags/IsMagic", 2),
            ("Spec/ISA/Prelude", 1),
        ]
    );
    assert_eq!(import(&text).unwrap().spec.instructions, import(V1_0_0).unwrap().spec.instructions);
}

#[test]
fn descriptions_are_kept_apart_from_facts() {
    let source = isa_xml::Source::new("test.xml", V1_0_0.as_bytes().to_vec()).unwrap();
    let descriptions = isa_xml::describe(&source).unwrap();
    assert_eq!(descriptions["V_MOV_F32"], "Moves & nothing else.");
    assert!(!descriptions.contains_key("V_READ"));
    assert!(!isa_xml::to_json(&isa_xml::import(&source).unwrap().spec).contains("nothing else"));
}

#[test]
fn comments_cdata_and_spaces_change_nothing() {
    let plain = spec(V1_0_0);
    let text = edit(V1_0_0, "<Name>VALU</Name>", "<!-- x --><Name> <![CDATA[VA]]>&#76;U\n</Name><?pi?>");
    let mut other = spec(&text);
    other.document.sha256.clone_from(&plain.document.sha256);
    assert_eq!(other, plain);
    // A byte order mark is no content.
    assert!(import(&format!("\u{feff}{V1_0_0}")).is_ok());
}
