//! The schema as the files have it, one type an element: nothing is resolved, and order is kept.
//!
//! One reader serves schema 1.0.0, 1.1.0, 1.1.1 and 1.2.0: where they differ, it takes what any of them has. Elements
//! and attributes that no type here has a place for are counted in [`Notes::unknown`].
//!
//! The mirror is filled from quick-xml's events and not through its serde deserializer, which gives no line for a wrong
//! value and took twice as long when measured on AMD's files.

mod read;

use std::borrow::Cow;

use crate::error::Error;
use crate::source::Source;
use crate::spec::Signedness;
use crate::xml::{Cursor, Notes};

/// Text of the file, borrowed unless it holds entities.
pub type Text<'a> = Cow<'a, str>;

/// `Spec`: one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Raw<'a> {
    /// `Document`
    pub document: Document<'a>,
    /// `ISA/Architecture/ArchitectureName`
    pub architecture: Text<'a>,
    /// `ISA/Architecture/ArchitectureId`
    pub architecture_id: u32,
    /// `ISA/Encodings`
    pub encodings: Vec<Encoding<'a>>,
    /// `ISA/Instructions`
    pub instructions: Vec<Instruction<'a>>,
    /// `ISA/DataFormats`
    pub formats: Vec<DataFormat<'a>>,
    /// `ISA/OperandTypes`
    pub operand_types: Vec<OperandType<'a>>,
    /// `ISA/FunctionalGroups`: the names.
    pub groups: Vec<Text<'a>>,
    /// `ISA/FunctionalSubgroups`: the names.
    pub subgroups: Vec<Text<'a>>,
}

/// `Document`
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Document<'a> {
    /// `Copyright`
    pub copyright: Text<'a>,
    /// `Sensitivity`
    pub sensitivity: Text<'a>,
    /// `License`
    pub license: Text<'a>,
    /// `ReleaseDate`
    pub release_date: Text<'a>,
    /// `SchemaVersion`
    pub schema_version: Text<'a>,
}

/// `Encoding`
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Encoding<'a> {
    /// `@Order`
    pub order: i32,
    /// `EncodingName`
    pub name: Text<'a>,
    /// `BitCount`
    pub bits: u16,
    /// `EncodingIdentifierMask`
    pub identifier_mask: u128,
    /// `EncodingIdentifiers`
    pub identifiers: Vec<u128>,
    /// `EncodingConditions`
    pub conditions: Vec<Condition<'a>>,
    /// `MicrocodeFormat/BitMap`
    pub fields: Vec<Field<'a>>,
}

/// `EncodingConditions/EncodingCondition`
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Condition<'a> {
    /// `ConditionName`
    pub name: Text<'a>,
    /// `ConditionId`, from schema 1.2.0.
    pub id: Option<u32>,
    /// `CondtionExpression`, spelt so in all schemas.
    pub expr: Expr<'a>,
}

/// A condition's expression; both grammars give the same tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Expr<'a> {
    /// `Expression[@Type='Operator']`, or `op`.
    Op {
        /// `Operator`, or `@type`.
        operator: Text<'a>,
        /// `Subexpressions`, or the children.
        args: Vec<Expr<'a>>,
    },
    /// `Expression[@Type='Id']/Label`, or `id/@val`.
    Id(Text<'a>),
    /// `Expression[@Type='Literal']/Value`, or `lit/@val`. Empty in some files.
    Literal(Text<'a>, Option<Type<'a>>),
    /// `Expression[@Type='ReturnType']`, or `ty`: the type of the value of the enclosing operator.
    ReturnType(Type<'a>),
}

/// `ValueType`, or `ty`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Type<'a> {
    /// `ValueType[@Name='Base']`, or `ty/t`.
    Base {
        /// `BaseType`: `I` or `U`.
        base: Text<'a>,
        /// `Size` in bits.
        size: u32,
    },
    /// An array, a function or a record: no condition has such a value, and what it is made of is not kept.
    Other,
}

/// `MicrocodeFormat/BitMap/Field`
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Field<'a> {
    /// `@IsConditional`
    pub conditional: bool,
    /// `FieldName`
    pub name: Text<'a>,
    /// `BitLayout`, sorted by `Order`.
    pub ranges: Vec<Range>,
    /// `FieldPredefinedValues`
    pub values: Vec<PredefinedValue<'a>>,
}

/// `BitLayout/Range`
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Range {
    /// `@Order`
    pub order: u32,
    /// `BitOffset`
    pub offset: u16,
    /// `BitCount`
    pub count: u16,
    /// `Padding/BitCount` and `Padding/Value`
    pub padding: Option<(u16, u64)>,
}

/// `PredefinedValue`
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PredefinedValue<'a> {
    /// `Name`
    pub name: Text<'a>,
    /// `Value`
    pub value: i64,
}

/// `Instruction`
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Instruction<'a> {
    /// `InstructionName`
    pub name: Text<'a>,
    /// `AliasedInstructionNames`
    pub aliases: Vec<Text<'a>>,
    /// `Description`: AMD's prose.
    pub description: Option<Text<'a>>,
    /// `InstructionFlags`
    pub flags: crate::spec::InstructionFlags,
    /// `FunctionalGroup/Name`
    pub group: Text<'a>,
    /// `FunctionalGroup/Subgroup`, from schema 1.1.1 `FunctionalGroup/FunctionalSubgroups/Subgroup`.
    pub subgroups: Vec<Text<'a>>,
    /// `InstructionEncodings`
    pub rows: Vec<Row<'a>>,
}

/// `InstructionEncoding`
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row<'a> {
    /// `EncodingName`
    pub encoding: Text<'a>,
    /// `EncodingCondition`
    pub condition: Text<'a>,
    /// `EncodingCondition/@Id`, from schema 1.2.0.
    pub condition_id: Option<u32>,
    /// `Opcode`
    pub opcode: u32,
    /// `Operands`, sorted by `Order`.
    pub operands: Vec<Operand<'a>>,
}

/// `Operand`
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Operand<'a> {
    /// `@Input`
    pub input: bool,
    /// `@Output`
    pub output: bool,
    /// `@IsImplicit`
    pub implicit: bool,
    /// `@IsBinaryMicrocodeRequired`
    pub binary_required: bool,
    /// `@Order`
    pub order: u16,
    /// `FieldName`
    pub field: Option<Text<'a>>,
    /// `DataFormatName`
    pub format: Text<'a>,
    /// `OperandType`
    pub ty: Text<'a>,
    /// `OperandSize`
    pub size: u16,
}

/// `DataFormat`
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DataFormat<'a> {
    /// `DataFormatName`
    pub name: Text<'a>,
    /// `DataType`
    pub data_type: Text<'a>,
    /// `BitCount`
    pub bits: u32,
    /// `ComponentCount`
    pub components: u32,
    /// `DataAttributes/BitMap`, sorted by `Order`: order and fields.
    pub bitmaps: Vec<(u32, Vec<FormatField<'a>>)>,
}

/// `DataAttributes/BitMap/Field`
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FormatField<'a> {
    /// `@Signedness`
    pub signedness: Signedness,
    /// `FieldName`
    pub name: Text<'a>,
    /// `BitLayout`, sorted by `Order`.
    pub ranges: Vec<Range>,
}

/// `OperandType`
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OperandType<'a> {
    /// `@IsPartitioned`
    pub partitioned: bool,
    /// `OperandTypeName`
    pub name: Text<'a>,
    /// `OperandPredefinedValues`
    pub values: Vec<PredefinedValue<'a>>,
    /// `MicrocodeFormat/BitMap`
    pub fields: Vec<Field<'a>>,
    /// `Subtypes`
    pub subtypes: Vec<Text<'a>>,
}

/// Reads a file.
pub fn parse(source: &Source) -> Result<(Raw<'_>, Notes), Error> {
    let mut x = Cursor::new(source);
    let raw = x.document("Spec", read::spec)?;
    Ok((raw, x.notes))
}
