//! Operands of an instruction and what their fields may hold.

use core::fmt;

use crate::table::{DataFormat, Kind, OperandDesc, OperandType, Run};
use crate::{Field, Op};

use super::{EncodingRef, FieldRef};

/// An operand of an instruction in one encoding.
#[derive(Debug, Clone, Copy)]
pub struct OperandInfo {
    pub(super) desc: OperandDesc,
    pub(super) encoding: EncodingRef,
    pub(super) literals: u8,
    pub(super) literal64: bool,
}

impl OperandInfo {
    /// The field that holds it; implicit operands have none.
    pub fn field(self) -> Option<FieldRef> {
        let name = self.desc.field()?;
        let mut fields = self.encoding.fields().filter(|field| field.field() == name);
        let offset = self.desc.offset();
        fields.clone().find(|field| field.ranges().any(|range| range.offset == offset)).or_else(|| fields.next())
    }

    /// The field's name that is the same in all generations.
    pub fn field_name(self) -> Option<Field> {
        self.desc.field()
    }

    /// Width of the field in bits; 0 for an operand without one.
    pub fn field_bits(self) -> u32 {
        self.desc.count()
    }

    /// The field counts registers in steps of two to this power.
    pub fn scale(self) -> u32 {
        self.desc.scale()
    }

    /// AMD's name of the operand type, for example `OPR_SRC`.
    pub fn type_name(self) -> &'static str {
        self.desc.ty().name
    }

    /// The format of the data.
    pub fn format(self) -> &'static DataFormat {
        self.desc.format()
    }

    /// Size of the data in bits.
    pub fn size(self) -> u32 {
        self.desc.size()
    }

    /// Whether the instruction reads it.
    pub fn is_read(self) -> bool {
        self.desc.is_input()
    }

    /// Whether the instruction writes it.
    pub fn is_written(self) -> bool {
        self.desc.is_output()
    }

    /// Whether assembly does not write it.
    pub fn is_implicit(self) -> bool {
        self.desc.is_implicit()
    }

    /// Whether it may be a 32-bit literal in this instruction.
    pub fn takes_literal(self) -> bool {
        let source = self.desc.source();
        source < 3 && self.literals >> source & 1 != 0
    }

    /// Whether it may be a 64-bit literal in this instruction.
    pub fn takes_literal64(self) -> bool {
        self.takes_literal() && self.literal64
    }

    /// The named values of the operand type, in ascending order; empty where a value is just a number.
    pub fn values(self) -> impl ExactSizeIterator<Item = ValueRun> + Clone {
        self.ty().runs.iter().map(ValueRun)
    }

    /// The bit fields of a structured immediate.
    pub fn sub_fields(self) -> impl ExactSizeIterator<Item = SubField> + Clone {
        let ty = self.ty();
        (0..ty.fields.len()).map(move |index| SubField { ty, index })
    }

    /// What the field may hold, in words.
    pub fn accepts(self) -> Accepts {
        Accepts(self)
    }

    fn ty(self) -> &'static OperandType {
        self.desc.ty()
    }

    /// Whether two operand types allow the same values, whatever their names' case.
    #[cfg(feature = "std")]
    pub(crate) fn same_values(self, other: OperandInfo) -> bool {
        let runs = |operand: OperandInfo| {
            operand.values().filter(|run| !run.is_literal()).map(|run| (run.name(), run.first(), run.count()))
        };
        let same =
            |(a, b): ((&str, u32, u32), (&str, u32, u32))| a.0.eq_ignore_ascii_case(b.0) && (a.1, a.2) == (b.1, b.2);
        runs(self).count() == runs(other).count()
            && runs(self).zip(runs(other)).all(same)
            && (self.takes_literal(), self.takes_literal64()) == (other.takes_literal(), other.takes_literal64())
    }
}

/// Consecutive values of an operand type whose names are numbered, or one named value.
#[derive(Debug, Clone, Copy)]
pub struct ValueRun(&'static Run);

impl ValueRun {
    /// AMD's name without the number; empty for inline integers.
    pub fn name(self) -> &'static str {
        self.0.name
    }

    /// The first value.
    pub fn first(self) -> u32 {
        self.0.value.into()
    }

    /// How many values.
    pub fn count(self) -> u32 {
        self.0.count.into()
    }

    /// The numbers of the first and the last value, where the name is numbered.
    pub fn numbers(self) -> Option<(i32, i32)> {
        let run = self.0;
        let last = i32::from(run.number) + i32::from(run.step) * (i32::from(run.count) - 1);
        (run.step != 0).then(|| (run.number.into(), last))
    }

    fn is_literal(self) -> bool {
        ["LITERAL", "SRC_LITERAL", "SRC_LITERAL64"].iter().any(|name| name.eq_ignore_ascii_case(self.name()))
    }
}

/// A bit field of a structured immediate.
#[derive(Debug, Clone, Copy)]
pub struct SubField {
    ty: &'static OperandType,
    index: usize,
}

impl SubField {
    /// AMD's name.
    pub fn name(self) -> &'static str {
        self.ty.fields[self.index].0
    }

    /// Its bits within the operand.
    pub fn range(self) -> super::BitRange {
        let (_, offset, count) = self.ty.fields[self.index];
        super::BitRange { offset: offset.into(), count: count.into() }
    }

    /// Values with names.
    pub fn values(self) -> impl Iterator<Item = (u32, &'static str)> + Clone {
        let index = self.index;
        let own = self.ty.field_values.iter().filter(move |&&(field, ..)| usize::from(field) == index);
        own.map(|&(_, value, name)| (value.into(), name))
    }
}

/// What an operand's field may hold, as a list in words.
#[derive(Debug, Clone, Copy)]
pub struct Accepts(OperandInfo);

/// Writes items with commas between them.
struct List<'a, 'b> {
    f: &'a mut fmt::Formatter<'b>,
    first: bool,
}

impl List<'_, '_> {
    fn item(&mut self, item: fmt::Arguments<'_>) -> fmt::Result {
        if !self.first {
            self.f.write_str(", ")?;
        }
        self.first = false;
        self.f.write_fmt(item)
    }
}

impl fmt::Display for Accepts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let operand = self.0;
        let bits = operand.field_bits();
        let mut list = List { f, first: true };
        match operand.ty().kind {
            Kind::Label => return list.item(format_args!("signed distance in dwords from the next instruction")),
            Kind::Immediate if operand.values().len() == 0 || operand.type_name().starts_with("OPR_SIMM") => {
                return list.item(format_args!("a number of {} bits", if bits == 0 { operand.size() } else { bits }));
            }
            Kind::Packed if operand.sub_fields().len() != 0 => {
                for field in operand.sub_fields() {
                    list.item(format_args!("{} in bits {}", field.name(), field.range()))?;
                }
                return Ok(());
            }
            _ => {}
        }
        let mut runs = operand.values().peekable();
        let (mut integers, mut floats) = (false, false);
        while let Some(run) = runs.next() {
            if run.is_literal() {
                continue;
            }
            match run.numbers() {
                Some(_) if run.name().is_empty() => {
                    // The negative ones are a run of their own, before or after the others.
                    if !integers {
                        let ends = operand.values().filter(|run| run.name().is_empty()).filter_map(ValueRun::numbers);
                        let (low, high) =
                            ends.fold((0, 0), |(low, high), (a, b)| (low.min(a).min(b), high.max(a).max(b)));
                        list.item(format_args!("inline integers {low} to {high}"))?;
                    }
                    integers = true;
                }
                Some((first, last)) if run.count() > 1 => {
                    let name = spelling(run.name());
                    list.item(format_args!("{name}{first}–{name}{last}"))?;
                }
                Some((first, _)) => list.item(format_args!("{}{first}", spelling(run.name())))?,
                None if run.name().parse::<f32>().is_ok() => {
                    if !floats {
                        list.item(format_args!("inline floats {FLOATS}"))?;
                    }
                    floats = true;
                }
                None => {
                    let pair = runs.peek().and_then(|next| low_and_high(run.name(), next.name()));
                    if pair.is_some() {
                        runs.next();
                    }
                    list.item(format_args!("{}", special(pair.unwrap_or(run.name()))))?;
                }
            }
        }
        if operand.takes_literal() {
            list.item(format_args!("a 32-bit literal"))?;
        }
        if operand.takes_literal64() {
            list.item(format_args!("a 64-bit literal"))?;
        }
        if list.first {
            list.item(format_args!("a number of {bits} bits"))?;
        }
        Ok(())
    }
}

const FLOATS: &str = "±0.5, ±1.0, ±2.0, ±4.0, 1/(2π)";

/// The common part of the names of a register's two halves.
fn low_and_high(low: &'static str, high: &str) -> Option<&'static str> {
    let cut = low.len().checked_sub(3)?;
    let is_pair = low.get(cut..)?.eq_ignore_ascii_case("_lo")
        && high.get(cut..).is_some_and(|end| end.eq_ignore_ascii_case("_hi"))
        && high.get(..cut).is_some_and(|start| start.eq_ignore_ascii_case(&low[..cut]));
    is_pair.then(|| &low[..cut])
}

/// Register files in the assembler's spelling, whatever case a generation's file has.
fn spelling(name: &'static str) -> &'static str {
    match name {
        "acc" => "a",
        "TTMP" => "ttmp",
        name => name,
    }
}

/// A special value in words, or its name in upper case.
fn special(name: &'static str) -> Special {
    Special(name)
}

struct Special(&'static str);

impl fmt::Display for Special {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let start = self.0.get(..4).filter(|start| start.eq_ignore_ascii_case("src_"));
        let name = if start.is_some() { &self.0[4..] } else { self.0 };
        name.strip_suffix("_all")
            .or(name.strip_suffix("_ALL"))
            .unwrap_or(name)
            .chars()
            .try_for_each(|c| fmt::Write::write_char(f, c.to_ascii_uppercase()))
    }
}

impl DataFormat {
    /// The format in words, for example "2 × 16-bit float".
    pub fn describe(&'static self) -> impl fmt::Display {
        Describe(self)
    }
}

struct Describe(&'static DataFormat);

impl fmt::Display for Describe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let &DataFormat { data_type, bits, components, .. } = self.0;
        let each = bits / components.max(1);
        if self.0.name == "FMT_ANY" {
            return f.write_str("data of any format");
        }
        if components > 1 {
            write!(f, "{components} × ")?;
        }
        match data_type {
            "bits" => write!(f, "{each} bit{} of data", if each == 1 { "" } else { "s" }),
            "integer" => {
                let number = self.0.name.rsplit('_').next().unwrap_or_default();
                let sign = match number.as_bytes().first() {
                    Some(b'U') => "unsigned ",
                    Some(b'I') => "signed ",
                    _ => "",
                };
                write!(f, "{each}-bit {sign}integer")
            }
            other => write!(f, "{each}-bit {other}"),
        }
    }
}

impl Op {
    /// Every other name of the same instruction that is itself a name in some generation.
    pub fn renamings(self) -> impl Iterator<Item = Op> {
        let newer = Op::from_alias(self.name());
        let older = self.aliases().filter_map(Op::from_name);
        newer.chain(older).filter(move |&other| other != self)
    }
}
