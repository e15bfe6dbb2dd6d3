//! Operands with their meaning.

use crate::generated::field::Field;
use crate::inst::Inst;
use crate::table::{DataFormat, Float, Form, Kind, OperandDesc, Source, Special};

/// A register file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RegFile {
    /// Vector registers.
    Vgpr,
    /// Accumulation vector registers (CDNA).
    Agpr,
    /// Scalar registers.
    Sgpr,
    /// Trap temporaries.
    Ttmp,
}

/// A run of registers of one file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Registers {
    /// The file.
    pub file: RegFile,
    /// Number of the first.
    pub first: u16,
    /// How many 32-bit registers; the data may fill the last in part.
    pub count: u8,
}

/// What an operand is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Operand {
    /// Registers.
    Registers(Registers),
    /// A register with a name of its own; 64-bit operands name its low half.
    Special(Special),
    /// An inline integer, -16 to 64.
    Int(i8),
    /// An inline floating-point constant.
    Float(Float),
    /// A 32-bit literal.
    Literal(u32),
    /// A 64-bit literal.
    Literal64(u64),
    /// A number in a field, not extended.
    Immediate(u32),
    /// A branch target: signed dwords from the next instruction.
    Label(i16),
    /// A number whose values have names: export targets, attributes.
    Named(u32),
    /// Something that no field names: memory, the program counter, the condition code.
    Implicit,
}

/// An operand of an instruction.
#[derive(Debug, Clone, Copy)]
pub struct OperandRef {
    desc: OperandDesc,
    value: Operand,
    size: u32,
}

impl OperandRef {
    pub(crate) fn new(inst: &Inst, desc: OperandDesc) -> OperandRef {
        let size = size(inst, desc);
        OperandRef { desc, value: value(inst, desc, dwords(size)), size }
    }

    /// What it is.
    pub fn value(&self) -> Operand {
        self.value
    }

    /// The field that holds it; implicit operands have none.
    pub fn field(&self) -> Option<Field> {
        self.desc.field()
    }

    /// AMD's name of the operand type, for example `OPR_SRC`.
    pub fn type_name(&self) -> &'static str {
        self.desc.ty().name
    }

    /// The format of the data.
    pub fn format(&self) -> &'static DataFormat {
        self.desc.format()
    }

    /// Size of the data in bits; of a lane mask the size of the wave.
    pub fn size(&self) -> u32 {
        self.size
    }

    /// Number of 32-bit registers that hold the data.
    pub fn registers(&self) -> u8 {
        dwords(self.size)
    }

    /// Whether the instruction reads it.
    pub fn is_read(&self) -> bool {
        self.desc.is_input()
    }

    /// Whether the instruction writes it.
    pub fn is_written(&self) -> bool {
        self.desc.is_output()
    }

    /// Whether assembly does not write it.
    pub fn is_implicit(&self) -> bool {
        self.desc.is_implicit()
    }
}

fn size(inst: &Inst, desc: OperandDesc) -> u32 {
    if desc.is_mask() { inst.wave_size() } else { desc.size() }
}

fn dwords(size: u32) -> u8 {
    size.div_ceil(32).clamp(1, 255) as u8
}

fn value(inst: &Inst, desc: OperandDesc, count: u8) -> Operand {
    let ty = desc.ty();
    let registers = |file, first: u32| Operand::Registers(Registers { file, first: first as u16, count });
    let raw = inst.raw(desc);
    if desc.source() == 0
        && let Some(variant) = source0_of_variant(inst, count)
    {
        return variant;
    }
    match ty.kind {
        // The lowest bit of a Y half's destination is the opposite of the X half's.
        Kind::Vgpr if desc.field() == Some(Field::VDSTY) && desc.count() == 7 => {
            registers(RegFile::Vgpr, raw << 1 | !inst.field(Field::VDSTX).unwrap_or(0) & 1)
        }
        // A field of nine bits numbers vector registers as sources do, from 256 on. What lies below is a scalar, which
        // assemblers refuse and RDNA 3 was seen to read.
        Kind::Vgpr if desc.count() == 9 && raw < 256 => source(inst, raw, count),
        Kind::Vgpr if desc.count() == 9 => registers(RegFile::Vgpr, raw & 0xff),
        Kind::Vgpr => registers(RegFile::Vgpr, raw),
        Kind::Acc => registers(RegFile::Agpr, raw),
        Kind::VgprOrAcc if is_acc(inst, desc) => registers(RegFile::Agpr, raw),
        Kind::VgprOrAcc => registers(RegFile::Vgpr, raw),
        Kind::SourceOrAcc if raw >= 256 && is_acc(inst, desc) => registers(RegFile::Agpr, raw - 256),
        Kind::SourceAcc if raw >= 256 => registers(RegFile::Agpr, raw - 256),
        Kind::Source | Kind::SourceOrAcc | Kind::SourceAcc if desc.count() == 0 => Operand::Implicit,
        Kind::Source | Kind::SourceOrAcc | Kind::SourceAcc => source(inst, raw << desc.scale(), count),
        Kind::Immediate if desc.field() == Some(Field::LITERAL) => match desc.count() {
            64 => Operand::Literal64(inst.literal64().unwrap_or_default()),
            _ => Operand::Literal(raw),
        },
        Kind::Immediate | Kind::Packed => Operand::Immediate(raw),
        Kind::Label => Operand::Label(raw as i16),
        Kind::Named => Operand::Named(raw),
        Kind::Implicit => Operand::Implicit,
    }
}

/// Whether the encoding's ACC bits make an operand an accumulation register.
fn is_acc(inst: &Inst, desc: OperandDesc) -> bool {
    let bit = |field, at: u32| inst.field(field).is_some_and(|bits| bits >> at & 1 != 0);
    match desc.field() {
        Some(Field::SRC0) => bit(Field::ACC, 0),
        Some(Field::SRC1) => bit(Field::ACC, 1),
        Some(Field::SRC2) => bit(Field::ACC_CD, 0),
        Some(Field::VDST) if inst.field(Field::ACC_CD).is_some() => bit(Field::ACC_CD, 0),
        _ => bit(Field::ACC, 0),
    }
}

/// Source 0 of a variant form, whose field holds only the marker of the form.
fn source0_of_variant(inst: &Inst, count: u8) -> Option<Operand> {
    let vgpr = |first: u8| Operand::Registers(Registers { file: RegFile::Vgpr, first: u16::from(first), count });
    match inst.form() {
        Form::Dpp16 => inst.dpp16().map(|dpp| vgpr(dpp.vsrc0())),
        Form::Dpp8 => inst.dpp8().map(|dpp| vgpr(dpp.vsrc0())),
        Form::Sdwa => inst.sdwa().map(|sdwa| {
            let number = sdwa.src0();
            if sdwa.s0() { source(inst, u32::from(number), count) } else { vgpr(number) }
        }),
        _ => None,
    }
}

fn source(inst: &Inst, raw: u32, count: u8) -> Operand {
    let registers = |file, first: u32| Operand::Registers(Registers { file, first: first as u16, count });
    let Ok(value) = u8::try_from(raw) else { return registers(RegFile::Vgpr, raw - 256) };
    match inst.tables().sources[usize::from(value)] {
        Source::Sgpr(number) => registers(RegFile::Sgpr, u32::from(number)),
        Source::Ttmp(number) => registers(RegFile::Ttmp, u32::from(number)),
        Source::Int(number) => Operand::Int(number),
        Source::Float(number) => Operand::Float(number),
        Source::Special(register) => Operand::Special(register),
        Source::Literal => Operand::Literal(inst.literal().unwrap_or_default()),
        Source::Literal64 => Operand::Literal64(inst.literal64().unwrap_or_default()),
        Source::Reserved => Operand::Immediate(raw),
    }
}
