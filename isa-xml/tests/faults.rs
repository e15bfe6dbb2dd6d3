//! A broken or hostile file gives one clear error that names the place.

mod common;

use common::{V1_0_0, V1_1_0, V1_2_0, edit, import};
use isa_xml::Source;

fn fault(text: &str) -> String {
    let message = import(text).unwrap_err().to_string();
    assert!(!message.contains('\n'), "one line: {message}");
    assert!(message.len() < 400, "short: {message}");
    message
}

/// The fault of a fixture with one thing replaced.
#[track_caller]
fn check(fixture: &str, from: &str, to: &str, expected: &str) {
    let message = fault(&edit(fixture, from, to));
    assert!(message.contains(expected), "{message:?} does not say {expected:?}");
}

/// `line:column` of the first `needle`, as an error at its beginning has it.
fn place(text: &str, needle: &str) -> String {
    let before = &text[..text.find(needle).unwrap()];
    let line = before.matches('\n').count() + 1;
    let column = before.chars().rev().take_while(|c| *c != '\n').count() + 1;
    format!("test.xml:{line}:{column}: ")
}

#[test]
fn malformed() {
    check(V1_0_0, "</BitCount>", "</BitCont>", "expected `</BitCount>`, but `</BitCont>` was found");
    check(V1_0_0, "Order=\"-1\"", "Order=-1", "malformed XML");
    check(V1_0_0, "Order=\"-1\"", "Order=\"-1\" Order=\"2\"", "malformed XML");
    check(V1_0_0, "Moves &amp;", "Moves &", "malformed XML");
    check(V1_0_0, "<ISA>", "<ISA><!-- ", "comment not closed");
    check(V1_0_0, "<ISA>", "<ISA>?<x", "unexpected text \"?\" in <ISA>");
    check(V1_0_0, "<ISA>", "<ISA><![CDATA[x]]>", "unexpected text \"x\" in <ISA>");
    check(V1_0_0, "<License>MIT", "<License><b>MIT</b>", "unexpected element <b> in <License>");
    check(V1_0_0, "</Spec>", "</Spec><Spec/>", "content after the root element");
}

#[test]
fn faults_of_xml_have_line_and_column() {
    let text = edit(V1_0_0, "<Opcode Radix=\"10\">5<", "<Opcode Radix=\"10\">five<");
    let expected = place(&text, "<Opcode Radix=\"10\">five");
    assert_eq!(fault(&text), format!("{expected}Opcode is \"five\", expected a decimal number below 2^128"));
    // Columns count characters.
    let text = edit(&text, "<Opcode Radix=\"10\">five", "<!-- ümläut --><Opcode Radix=\"10\">five");
    assert!(fault(&text).starts_with(&place(&text, "<Opcode Radix=\"10\">five")));
}

#[test]
fn truncated_anywhere() {
    for fixture in [V1_0_0, V1_2_0] {
        let end = fixture.rfind("</Spec>").unwrap();
        for cut in (0..end).step_by(7) {
            let message = fault(&fixture[..cut]);
            assert!(message.starts_with("test.xml:"), "{message}");
        }
        let message = fault(&fixture[..end]);
        assert!(message.contains("the file ends inside <Spec>: it is truncated"), "{message}");
    }
}

#[test]
fn not_an_isa_file() {
    assert!(fault("<html><body/></html>").contains("the root element is <html>, not <Spec>"));
    assert!(fault("").contains("no root element"));
    assert!(fault("just text").contains("no root element"));
    assert!(fault("<Spec/>").contains("<Spec> has no ISA"));
    assert!(fault("{\"record\": 1}").contains("no root element"));
}

#[test]
fn not_utf8() {
    let mut bytes = V1_0_0.as_bytes().to_vec();
    bytes[100] = 0xff;
    let message = Source::new("test.xml", bytes).unwrap_err().to_string();
    assert_eq!(message, "test.xml: not UTF-8: an invalid byte sequence at byte 100");
    let utf16: Vec<u8> = std::iter::once(0xfeff).chain(V1_0_0.encode_utf16()).flat_map(u16::to_le_bytes).collect();
    let message = Source::new("test.xml", utf16).unwrap_err().to_string();
    assert!(message.contains("a UTF-16 byte order mark"), "{message}");
}

#[test]
fn entities_do_not_expand() {
    let laughs = "<!DOCTYPE lolz [<!ENTITY a \"lol\"><!ENTITY b \"&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;\">]>";
    check(V1_0_0, "<Spec>", &format!("{laughs}<Spec>"), "a document type declaration");
    check(V1_0_0, "<ISA>", &format!("{laughs}<ISA>"), "a document type declaration");
    check(V1_0_0, "<License>MIT", "<License>&b;", "unknown entity &b;");
    check(V1_0_0, "<License>MIT", "<License>&#xD800;", "malformed XML");
    check(V1_0_0, "Order=\"-1\"", "Order=\"&b;\"", "malformed XML");
}

#[test]
fn nested_too_deep() {
    let deep = "<x>".repeat(100_000);
    check(V1_0_0, "<ISA>", &format!("<ISA>{deep}"), "nested deeper than 128 levels");
    let deep = "<op type=\"!\">".repeat(100_000);
    check(V1_2_0, "<op type=\".within\">", &deep, "nested deeper than 128 levels");
    let deep = "<Expression Type=\"Operator\"><Operator>!</Operator><Subexpressions>".repeat(100_000);
    check(V1_0_0, "<CondtionExpression>", &format!("<CondtionExpression>{deep}"), "nested deeper");
}

#[test]
fn a_tag_with_a_million_attributes_does_not_hang() {
    let many: String = (0..1_000_000).map(|i| format!(" a{i}=\"\"")).collect();
    check(V1_0_0, "<ISA>", &format!("<ISA{many}>"), "an element with more than 64 attributes");
}

#[test]
fn a_million_unknown_names_share_one_line() {
    let many: String = (0..20_000).map(|i| format!("<a{i}/>")).collect();
    let notes = import(&edit(V1_0_0, "<ISA>", &format!("<ISA>{many}"))).unwrap().notes;
    assert!(notes.unknown.len() <= 1001);
    assert_eq!(notes.unknown.values().sum::<usize>(), 20_000);
}

#[test]
fn missing_and_repeated_elements() {
    check(
        V1_0_0,
        "<EncodingName>ENC_VOP1</EncodingName><BitCount>32",
        "<BitCount>32",
        "<Encoding> has no EncodingName",
    );
    check(
        V1_0_0,
        "<BitCount>32</BitCount>",
        "<BitCount>32</BitCount><BitCount>64</BitCount>",
        "<Encoding> has more than one BitCount",
    );
    check(V1_0_0, " Order=\"-1\"", "", "<Encoding> has no Order");
    check(V1_0_0, "<SchemaVersion>1.0.0</SchemaVersion>", "", "<Document> has no SchemaVersion");
    check(V1_0_0, "<DataFormats>", "<DataFormats/><DataFormats>", "<ISA> has more than one DataFormats");
}

#[test]
fn values_out_of_range() {
    check(V1_0_0, "<BitOffset>25<", "<BitOffset>65536<", "BitOffset is \"65536\", expected a number from 0 to 65535");
    check(V1_0_0, "<Value>193<", "<Value>9223372036854775808<", "expected a number from -2^63 to 2^63 - 1");
    check(V1_0_0, "Radix=\"2\"", "Radix=\"7\"", "Radix is \"7\", expected 2, 8, 10 or 16");
    check(V1_0_0, "<Opcode Radix=\"10\">1<", "<Opcode Radix=\"10\">4294967296<", "Opcode is \"4294967296\"");
    let wide = format!("<EncodingIdentifierMask Radix=\"2\">1{}<", "0".repeat(128));
    check(
        V1_0_0,
        "<EncodingIdentifierMask Radix=\"2\">11111110000000011111111000000000<",
        &wide,
        "expected a binary number below 2^128",
    );
    check(V1_0_0, "Input=\"false\"", "Input=\"maybe\"", "Input is \"maybe\", expected true or false");
    check(V1_0_0, "Signedness=\"DoesNotApply\"", "Signedness=\"Often\"", "Signedness is \"Often\"");
    let long = format!("<BitCount>{}<", "9".repeat(100_000));
    check(V1_0_0, "<BitCount>32<", &long, "BitCount is \"999");
}

#[test]
fn faults_of_meaning_have_the_path() {
    check(
        V1_0_0,
        "<OperandType>OPR_SRC<",
        "<OperandType>OPR_SCR<",
        "test.xml: instruction V_MOV_F32 → encoding ENC_VOP1 → operand 2: unknown operand type OPR_SCR",
    );
    check(
        V1_0_0,
        "<DataFormatName>FMT_NUM_F32</DataFormatName><OperandType>",
        "<DataFormatName>FMT_X</DataFormatName><OperandType>",
        "operand 1: unknown data format FMT_X",
    );
    check(
        V1_1_0,
        "<EncodingName>ENC_VOP3P</EncodingName><EncodingCondition>",
        "<EncodingName>ENC_X</EncodingName><EncodingCondition>",
        "instruction V_PK_MOV → encoding ENC_X: unknown encoding ENC_X",
    );
    check(V1_1_0, "<InstructionName>S_BRANCH<", "<InstructionName>S_NOP<", "instruction S_NOP is declared twice");
    check(V1_1_0, "<EncodingName>ENC_VOP3P<", "<EncodingName>ENC_SOPP<", "encoding ENC_SOPP is declared twice");
    check(V1_1_0, "<OperandTypeName>OPR_VGPR<", "<OperandTypeName>OPR_SRC<", "operand type OPR_SRC is declared twice");
}

#[test]
fn bad_conditions() {
    let path = "encoding ENC_VOP1 → condition default: bad condition: ";
    check(V1_0_0, "<Operator>!=<", "<Operator>~=<", &format!("{path}unknown operator ~="));
    check(V1_0_0, "<Operator>!=<", "<Operator>!<", &format!("{path}! with 2 arguments"));
    check(
        V1_0_0,
        "<Label>INST<",
        "<Label>WAVE<",
        &format!("{path}a field reference that is not INST.<encoding>.<field>"),
    );
    check(V1_0_0, "<Label>VOP1<", "<Label>VOP.1<", &format!("{path}a field reference"));
    check(V1_0_0, "<Value>249<", "<Value>-249<", &format!("{path}literal \"-249\" is not an unsigned number"));
    check(V1_0_0, "<Expression Type=\"Literal\">", "<Expression Type=\"Poem\">", "Expression/@Type is \"Poem\"");
    check(V1_2_0, "<lit val=\"254\">", "<lit>", "<lit> has no val");
    check(V1_2_0, "<op type=\".within\">", "<op>", "<op> has no type");
}
