//! One generation's instruction set with every reference resolved.
//!
//! References are indices into the vectors of [`Spec`]; [`crate::resolve`] and [`crate::record`] are the only
//! makers, so an index is always in range.

/// One generation's instruction set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spec {
    /// Where the facts come from.
    pub document: Document,
    /// `ArchitectureName`, for example `AMD RDNA 4`.
    pub architecture: String,
    /// `ArchitectureId`.
    pub architecture_id: u32,
    /// In file order, which is also the order of [`Encoding::order`].
    pub encodings: Vec<Encoding>,
    /// In file order.
    pub instructions: Vec<Instruction>,
    /// Interned: rows with equal operands share one list. Each list is sorted by `Order`.
    pub operand_lists: Vec<Vec<Operand>>,
    /// In file order.
    pub formats: Vec<DataFormat>,
    /// In file order.
    pub operand_types: Vec<OperandType>,
    /// Functional group names, in file order.
    pub groups: Vec<String>,
    /// Functional subgroup names, in file order.
    pub subgroups: Vec<String>,
}

/// The facts of the `Document` element. Licence and copyright are kept for attribution.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Document {
    /// `Copyright`.
    pub copyright: String,
    /// `Sensitivity`.
    pub sensitivity: String,
    /// `License`.
    pub license: String,
    /// `ReleaseDate`, `YYYY-MM-DD`.
    pub release_date: String,
    /// `SchemaVersion`, for example `1.1.0`.
    pub schema_version: String,
    /// Lower-case hex sha256 of the XML text (unpacked).
    pub sha256: String,
}

/// Index into [`Spec::encodings`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EncodingId(pub u16);

/// Index into [`Spec::formats`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FormatId(pub u16);

/// Index into [`Spec::operand_types`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct OperandTypeId(pub u16);

/// Index into [`Spec::operand_lists`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct OperandListId(pub u32);

/// One microcode format.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Encoding {
    /// `ENC_VOP3`, `VOP3_INST_LITERAL`, ...
    pub name: String,
    /// The order in which AMD tries encodings; may be -1.
    pub order: i32,
    /// Width in bits: 32 to 160.
    pub bits: u16,
    /// Bits that every identifier fixes.
    pub identifier_mask: u128,
    /// Values of the masked bits, one an opcode (and segment, where the encoding has one).
    pub identifiers: Vec<u128>,
    /// Names may repeat in AMD's files (three `default` in ENC_FLAT).
    pub conditions: Vec<Condition>,
    /// In file order.
    pub fields: Vec<Field>,
}

/// A named condition on the fields of an encoding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Condition {
    /// `default`, `has_lit_0`, ...
    pub name: String,
    /// `ConditionId`; schema 1.2.0 only.
    pub id: Option<u32>,
    /// When it holds.
    pub expr: Expr,
}

/// A condition's expression tree. Truth is a value other than 0.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Expr {
    /// `INST.<encoding>.<field>`: the value of a field.
    Field {
        /// The encoding's short name as the condition spells it: `SOP1`, `VOP`, ...
        encoding: String,
        /// The field's name.
        field: String,
    },
    /// An integer.
    Literal(u64),
    /// A list of values, the right side of `Within`.
    Array(Vec<Expr>),
    /// An operator and its arguments.
    Op(Operator, Vec<Expr>),
}

/// Operators of condition expressions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Operator {
    /// `&&`
    And,
    /// `||`
    Or,
    /// `!`
    Not,
    /// `==`
    Eq,
    /// `!=`
    Ne,
    /// `<`
    Lt,
    /// `<=`
    Le,
    /// `>`
    Gt,
    /// `>=`
    Ge,
    /// `.within`
    Within,
    /// `.notwithin`
    NotWithin,
}

/// A contiguous run of bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct BitRange {
    /// First bit, from the least significant bit of the first dword.
    pub offset: u16,
    /// Number of bits.
    pub count: u16,
    /// Constant bits that the field's value has below this range's bits (`Padding`): number and value.
    pub padding: Option<(u16, u64)>,
}

/// A field of an encoding or of a partitioned operand type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Field {
    /// `VDST`, `OP`, ...
    pub name: String,
    /// Least significant range of the value first (`Order`).
    pub ranges: Vec<BitRange>,
    /// `IsConditional`.
    pub conditional: bool,
    /// Named values; only fields of operand types have them.
    pub values: Vec<NamedValue>,
}

/// A name for a value of an operand or a field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamedValue {
    /// For example `vcc_lo`, spelt as in the file.
    pub name: String,
    /// The encoded value. Some files hold negative values.
    pub value: i64,
}

/// One instruction and all its encodings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Instruction {
    /// AMD's name, upper case.
    pub name: String,
    /// `AliasedInstructionNames`: names of other generations.
    pub aliases: Vec<String>,
    /// The `InstructionFlags`.
    pub flags: InstructionFlags,
    /// Functional group.
    pub group: String,
    /// Functional subgroups; older schemas have at most one.
    pub subgroups: Vec<String>,
    /// In file order.
    pub rows: Vec<Row>,
}

/// The `InstructionFlags` element.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct InstructionFlags {
    /// `IsBranch`
    pub branch: bool,
    /// `IsConditionalBranch`
    pub conditional_branch: bool,
    /// `IsIndirectBranch`
    pub indirect_branch: bool,
    /// `IsProgramTerminator`
    pub program_terminator: bool,
    /// `IsImmediatelyExecuted`
    pub immediately_executed: bool,
}

/// One `InstructionEncoding`: an instruction in one encoding under one condition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    /// The encoding.
    pub encoding: EncodingId,
    /// The condition's name as written, for example `has_lit_0_has_lit_1` or `has_lit_0&has_lit_1`.
    pub condition: String,
    /// `EncodingCondition/@Id`; schema 1.2.0 only.
    pub condition_id: Option<u32>,
    /// Value of the encoding's `OP` field.
    pub opcode: u32,
    /// The operands.
    pub operands: OperandListId,
}

/// One operand of a row.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Operand {
    /// The encoding's field that holds it; implicit operands have none.
    pub field: Option<String>,
    /// Format of the data.
    pub format: FormatId,
    /// What the field's values mean.
    pub ty: OperandTypeId,
    /// Size of the data in bits; 0 where AMD gives none.
    pub size: u16,
    /// Read.
    pub input: bool,
    /// Written.
    pub output: bool,
    /// Not written in assembly.
    pub implicit: bool,
    /// `IsBinaryMicrocodeRequired`.
    pub binary_required: bool,
    /// Position, from 1.
    pub order: u16,
}

/// A format of data.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DataFormat {
    /// `FMT_NUM_F32`, ...
    pub name: String,
    /// `DataType`: `bits`, `float`, `descriptor`, ...
    pub data_type: String,
    /// Size in bits, all components together.
    pub bits: u32,
    /// Number of components.
    pub components: u32,
    /// One bit map a component, in `Order`.
    pub bitmaps: Vec<Vec<FormatField>>,
}

/// A bit field of a data format.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FormatField {
    /// `Mantissa`, `Exponent`, `Sign`, ...
    pub name: String,
    /// `Signedness`.
    pub signedness: Signedness,
    /// Where it is.
    pub ranges: Vec<BitRange>,
}

/// `Field/@Signedness` of a data format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Signedness {
    /// `DoesNotApply`
    DoesNotApply,
    /// `Unsigned`
    Unsigned,
    /// `Signed`
    Signed,
    /// `SignedByModifier`
    SignedByModifier,
}

/// What the values of an operand's field mean.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OperandType {
    /// `OPR_SRC`, ...
    pub name: String,
    /// Named values.
    pub values: Vec<NamedValue>,
    /// Bit fields, where the operand is partitioned (`IsPartitioned`).
    pub fields: Vec<Field>,
    /// Whether `IsPartitioned` is true.
    pub partitioned: bool,
    /// Operand types that this one contains (`Subtypes`).
    pub subtypes: Vec<String>,
}

impl Spec {
    /// The encoding of a row.
    #[must_use]
    pub fn encoding(&self, id: EncodingId) -> &Encoding {
        &self.encodings[usize::from(id.0)]
    }

    /// The format of an operand.
    #[must_use]
    pub fn format(&self, id: FormatId) -> &DataFormat {
        &self.formats[usize::from(id.0)]
    }

    /// The type of an operand.
    #[must_use]
    pub fn operand_type(&self, id: OperandTypeId) -> &OperandType {
        &self.operand_types[usize::from(id.0)]
    }

    /// The operands of a row.
    #[must_use]
    pub fn operands(&self, id: OperandListId) -> &[Operand] {
        &self.operand_lists[id.0 as usize]
    }
}

impl Encoding {
    /// The field of this name.
    #[must_use]
    pub fn field(&self, name: &str) -> Option<&Field> {
        self.fields.iter().find(|field| field.name == name)
    }
}
