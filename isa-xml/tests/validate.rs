//! Each contradiction is found, and only that.

mod common;

use common::{V1_0_0, V1_1_0, V1_1_1, V1_2_0, edit, import};
use isa_xml::validate::Check;
use isa_xml::{Severity, validate};

/// The only finding of a fixture with one thing replaced.
#[track_caller]
fn check(fixture: &str, from: &str, to: &str, severity: Severity, check: Check, text: &str) {
    let findings = validate(&import(&edit(fixture, from, to)).unwrap().spec);
    let [finding] = &findings[..] else {
        panic!("one finding: {findings:#?}");
    };
    assert_eq!((finding.severity, finding.check), (severity, check), "{finding}");
    assert_eq!(format!("{}: {}", finding.path, finding.message), text);
    assert_eq!(finding.to_string(), format!("{severity}: {text}"));
}

#[track_caller]
fn error(fixture: &str, from: &str, to: &str, kind: Check, text: &str) {
    check(fixture, from, to, Severity::Error, kind, text);
}

#[track_caller]
fn warning(fixture: &str, from: &str, to: &str, kind: Check, text: &str) {
    check(fixture, from, to, Severity::Warning, kind, text);
}

#[test]
fn opcodes() {
    error(
        V1_0_0,
        "<BitCount>8</BitCount><BitOffset>9</BitOffset>",
        "<BitCount>2</BitCount><BitOffset>9</BitOffset>",
        Check::Opcode,
        "instruction V_READ → encoding ENC_VOP1: opcode 5 does not fit 2 bits",
    );
    // The high bit of the opcode in a field of its own.
    let split = "<BitCount>2</BitCount><BitOffset>9</BitOffset></Range></BitLayout></Field>\
        <Field><FieldName>OPM</FieldName><BitLayout RangeCount=\"1\"><Range Order=\"0\"><BitCount>1</BitCount><BitOffset>11</BitOffset>";
    let text = edit(V1_0_0, "<BitCount>8</BitCount><BitOffset>9</BitOffset>", split);
    assert_eq!(validate(&import(&text).unwrap().spec), []);
    warning(
        V1_0_0,
        "<EncodingIdentifier Radix=\"2\">01111110000000000000101000000000</EncodingIdentifier>",
        "",
        Check::UnlistedIdentifier,
        "encoding ENC_VOP1: no identifier has the opcodes 5 (V_READ)",
    );
    warning(
        V1_0_0,
        "<EncodingIdentifiers>",
        "<EncodingIdentifiers><EncodingIdentifier Radix=\"16\">7e000600</EncodingIdentifier>",
        Check::UnlistedIdentifier,
        "encoding ENC_VOP1: identifiers of opcodes without rows: 3",
    );
    warning(
        V1_1_0,
        "<EncodingCondition>has_lit_0</EncodingCondition>",
        "<EncodingCondition>default</EncodingCondition>",
        Check::DuplicateKey,
        "instruction V_PK_MOV → encoding ENC_VOP3P: opcode 9 under condition default is already V_PK_MOV's, with the same operands",
    );
}

#[test]
fn identifiers() {
    error(
        V1_0_0,
        "<EncodingIdentifierMask Radix=\"2\">",
        "<EncodingIdentifierMask Radix=\"2\">1",
        Check::Identifier,
        "encoding ENC_VOP1: the identifier mask 0x1fe01fe00 is wider than 32 bits",
    );
    warning(
        V1_0_0,
        "11111110000000011111111000000000",
        "11111110000000011111011000000000",
        Check::Identifier,
        "encoding ENC_VOP1: identifiers with bits outside the mask 0xfe01f600: 0x7e000a00",
    );
    let twice = "<EncodingIdentifier Radix=\"2\">01111110000000000000101000000000</EncodingIdentifier>";
    warning(
        V1_0_0,
        twice,
        &twice.repeat(2),
        Check::Identifier,
        "encoding ENC_VOP1: identifier 0x7e000a00 is listed twice",
    );
}

#[test]
fn fields_of_encodings() {
    error(
        V1_0_0,
        "<BitCount>8</BitCount><BitOffset>17</BitOffset>",
        "<BitCount>9</BitCount><BitOffset>17</BitOffset>",
        Check::Overlap,
        "encoding ENC_VOP1 → field ENCODING: shares bits with field VDST",
    );
    error(
        V1_0_0,
        "<BitCount>7</BitCount><BitOffset>25</BitOffset>",
        "<BitCount>9</BitCount><BitOffset>25</BitOffset>",
        Check::OutOfBounds,
        "encoding ENC_VOP1 → field ENCODING: bits 25 to 33 are beyond the width of 32 bits",
    );
    error(
        V1_1_0,
        "<FieldName>OP_SEL_HI_2</FieldName>",
        "<FieldName>OP_SEL_HI</FieldName>",
        Check::DuplicateName,
        "encoding ENC_VOP3P → field OP_SEL_HI: declared twice",
    );
    error(
        V1_1_1,
        "<BitCount>1</BitCount><BitOffset>14</BitOffset>",
        "<BitCount>0</BitCount><BitOffset>14</BitOffset>",
        Check::Width,
        "encoding ENC_VOP3P → field OP_SEL_HI: has a range of 0 bits",
    );
    error(
        V1_2_0,
        "<BitCount>1</BitCount><Value Radix=\"2\">0</Value>",
        "<BitCount>1</BitCount><Value Radix=\"2\">10</Value>",
        Check::Width,
        "encoding ENC_SMEM → field SBASE: padding 2 does not fit 1 bits",
    );
    error(
        V1_1_1,
        "<BitCount>64</BitCount>",
        "<BitCount>65</BitCount>",
        Check::Width,
        "encoding ENC_VOP3P: 65 bits are not one to five dwords",
    );
}

#[test]
fn conditions() {
    warning(
        V1_0_0,
        "<EncodingCondition>default</EncodingCondition>",
        "<EncodingCondition>has_dpp</EncodingCondition>",
        Check::UndeclaredCondition,
        "encoding ENC_VOP1: condition has_dpp is not declared: V_MOV_F32",
    );
    warning(
        V1_0_0,
        "<Label>SRC0</Label>",
        "<Label>SRC7</Label>",
        Check::ConditionField,
        "encoding ENC_VOP1 → condition default: tests field SRC7, which the encoding does not have",
    );
    let twice = "<EncodingCondition><ConditionName>default</ConditionName><ConditionId>0</ConditionId>\
        <CondtionExpression><lit val=\"1\"/></CondtionExpression></EncodingCondition>";
    warning(
        V1_2_0,
        "<EncodingConditions>",
        &format!("<EncodingConditions>{twice}"),
        Check::DuplicateName,
        "encoding ENC_SOP1 → condition default: declared twice",
    );
}

#[test]
fn operands() {
    warning(
        V1_0_0,
        "<FieldName>SRC0</FieldName><DataFormatName>",
        "<FieldName>SRC1</FieldName><DataFormatName>",
        Check::OperandField,
        "instruction V_MOV_F32 → encoding ENC_VOP1 → operand 2: field SRC1 is not in the encoding",
    );
    warning(
        V1_0_0,
        "IsBinaryMicrocodeRequired=\"true\" Order=\"2\"",
        "IsBinaryMicrocodeRequired=\"true\" Order=\"3\"",
        Check::OperandOrder,
        "instruction V_MOV_F32 → encoding ENC_VOP1 → operand 3: is number 2 by its place",
    );
    warning(
        V1_0_0,
        "Input=\"true\"",
        "Input=\"false\"",
        Check::OperandUse,
        "instruction V_MOV_F32 → encoding ENC_VOP1 → operand 2: is neither read nor written",
    );
    warning(
        V1_0_0,
        "<OperandSize>32</OperandSize>",
        "<OperandSize>16</OperandSize>",
        Check::OperandSize,
        "instruction V_MOV_F32 → encoding ENC_VOP1 → operand 1: 16 bits cannot hold the 32 of format FMT_NUM_F32",
    );
}

#[test]
fn formats_types_and_groups() {
    warning(
        V1_0_0,
        "<BitCount>23</BitCount>",
        "<BitCount>22</BitCount>",
        Check::Width,
        "data format FMT_NUM_F32: fields of 31 bits in a format of 32",
    );
    warning(
        V1_1_1,
        "<ComponentCount>2</ComponentCount>",
        "<ComponentCount>3</ComponentCount>",
        Check::Width,
        "data format FMT_NUM_PK2_F16: 3 components have 2 bit maps",
    );
    warning(
        V1_1_1,
        "<BitOffset>16</BitOffset></Range></BitLayout></Field><Field Signedness",
        "<BitOffset>15</BitOffset></Range></BitLayout></Field><Field Signedness",
        Check::Overlap,
        "data format FMT_NUM_PK2_F16 → field Mantissa: shares bits with field Sign",
    );
    warning(
        V1_1_0,
        "<Value>15</Value>",
        "<Value>16</Value>",
        Check::Value,
        "operand type OPR_WAIT → field VM_CNT: values that do not fit 4 bits: vmcnt_none = 16",
    );
    warning(
        V1_0_0,
        "<Name>-1</Name>",
        "<Name>vcc_lo</Name>",
        Check::DuplicateName,
        "operand type OPR_SRC: names with two values: vcc_lo (106 and 193)",
    );
    warning(
        V1_1_0,
        "<Subtype>OPR_VGPR</Subtype>",
        "<Subtype>OPR_X</Subtype>",
        Check::MissingReference,
        "operand type OPR_SRC: unknown subtype OPR_X",
    );
    warning(
        V1_1_0,
        "<OperandType IsPartitioned=\"true\">",
        "<OperandType IsPartitioned=\"false\">",
        Check::Width,
        "operand type OPR_WAIT: IsPartitioned is false with 2 fields",
    );
    warning(
        V1_1_1,
        "<Subgroup>STATIC</Subgroup>",
        "<Subgroup>NOT_ASSIGNED</Subgroup>",
        Check::MissingReference,
        "functional subgroup NOT_ASSIGNED: is not declared: V_PK_MOV",
    );
    warning(
        V1_0_0,
        "<FunctionalGroup><Name>VALU</Name></FunctionalGroup><FunctionalGroup>",
        "<FunctionalGroup>",
        Check::MissingReference,
        "functional group VALU: is not declared: V_MOV_F32, V_READ",
    );
    warning(
        V1_1_0,
        "<InstructionName>V_PK_COPY</InstructionName>",
        "<InstructionName>S_NOP</InstructionName>",
        Check::DuplicateName,
        "instruction V_PK_MOV: alias S_NOP is another instruction's name",
    );
}

#[test]
fn fifty_thousand_fields_do_not_take_quadratic_time() {
    let field = |i: usize| {
        format!(
            "<Field><FieldName>F{i}</FieldName><BitLayout><Range Order=\"0\"><BitCount>1</BitCount>\
             <BitOffset>0</BitOffset></Range></BitLayout></Field>"
        )
    };
    let many: String = (0..50_000).map(field).collect();
    let text = edit(V1_0_0, "<MicrocodeFormat><BitMap>", &format!("<MicrocodeFormat><BitMap>{many}"));
    let findings = validate(&import(&text).unwrap().spec);
    assert!(findings.len() >= 49_999);
}
