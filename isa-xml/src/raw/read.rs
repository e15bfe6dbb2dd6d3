//! One function an element.

use std::borrow::Cow;

use quick_xml::events::BytesStart;

use super::{
    Condition, DataFormat, Document, Encoding, Expr, Field, FormatField, Instruction, Operand, OperandType,
    PredefinedValue, Range, Raw, Row, Text, Type,
};
use crate::error::{Error, XmlFault};
use crate::spec::Signedness;
use crate::xml::Cursor;

type Start<'a> = BytesStart<'a>;

/// Reads `$start`'s children: single elements into options, the others by a statement.
macro_rules! element {
    ($x:ident, $start:ident, $name:literal, {
        $($tag:literal => $slot:ident = $read:expr,)*
        $(; $($many:literal => $run:expr,)*)?
    }) => {
        $x.children($name, |$x, $start| {
            match $start.name().as_ref() {
                $($tag => {
                    let value = $read;
                    $x.once($name, $tag, &mut $slot, value)?;
                })*
                $($($many => $run,)*)?
                _ => $x.unknown($start)?,
            }
            Ok(())
        })?;
    };
}

/// The children of `$start`, all of one kind, as a vector.
fn list<'a, T>(
    x: &mut Cursor<'a>,
    start: &Start<'a>,
    element: &'static str,
    item: &'static str,
    mut read: impl FnMut(&mut Cursor<'a>, &Start<'a>) -> Result<T, Error>,
) -> Result<Vec<T>, Error> {
    let mut items = Vec::new();
    x.plain_children(start, element, |x, child| {
        if child.name().as_ref() == item {
            items.push(read(x, child)?);
            Ok(())
        } else {
            x.unknown(child)
        }
    })?;
    Ok(items)
}

fn text<'a>(x: &mut Cursor<'a>, start: &Start<'a>) -> Result<Text<'a>, Error> {
    x.text(start)
}

pub(super) fn spec<'a>(x: &mut Cursor<'a>, start: &Start<'a>) -> Result<Raw<'a>, Error> {
    let (mut doc, mut all) = (None, None);
    // Schema locations and namespaces.
    x.attributes(start, |_, name, _| Ok(name.starts_with("xmlns") || name.starts_with("xsi:")))?;
    element!(x, start, "Spec", {
        "Document" => doc = document(x, start)?,
        "ISA" => all = isa(x, start)?,
    });
    let mut raw: Raw<'a> = x.require("Spec", "ISA", all)?;
    raw.document = x.require("Spec", "Document", doc)?;
    Ok(raw)
}

fn document<'a>(x: &mut Cursor<'a>, start: &Start<'a>) -> Result<Document<'a>, Error> {
    let (mut copyright, mut sensitivity, mut license) = (None, None, None);
    let (mut release_date, mut schema_version) = (None, None);
    x.no_attributes(start)?;
    element!(x, start, "Document", {
        "Copyright" => copyright = x.text(start)?,
        "Sensitivity" => sensitivity = x.text(start)?,
        "License" => license = x.text(start)?,
        "ReleaseDate" => release_date = x.text(start)?,
        "SchemaVersion" => schema_version = x.text(start)?,
    });
    Ok(Document {
        copyright: copyright.unwrap_or_default(),
        sensitivity: sensitivity.unwrap_or_default(),
        license: license.unwrap_or_default(),
        release_date: release_date.unwrap_or_default(),
        schema_version: x.require("Document", "SchemaVersion", schema_version)?,
    })
}

fn isa<'a>(x: &mut Cursor<'a>, start: &Start<'a>) -> Result<Raw<'a>, Error> {
    let (mut arch, mut encodings, mut instructions) = (None, None, None);
    let (mut formats, mut operand_types, mut groups, mut subgroups) = (None, None, None, None);
    x.no_attributes(start)?;
    element!(x, start, "ISA", {
        "Architecture" => arch = architecture(x, start)?,
        "Encodings" => encodings = list(x, start, "Encodings", "Encoding", encoding)?,
        "Instructions" => instructions = list(x, start, "Instructions", "Instruction", instruction)?,
        "DataFormats" => formats = list(x, start, "DataFormats", "DataFormat", data_format)?,
        "OperandTypes" => operand_types = list(x, start, "OperandTypes", "OperandType", operand_type)?,
        "FunctionalGroups" => groups = list(x, start, "FunctionalGroups", "FunctionalGroup",
            |x, start| named(x, start, "FunctionalGroup"))?,
        "FunctionalSubgroups" => subgroups = list(x, start, "FunctionalSubgroups", "FunctionalSubgroup",
            |x, start| named(x, start, "FunctionalSubgroup"))?,
    });
    let (architecture, architecture_id) = x.require("ISA", "Architecture", arch)?;
    Ok(Raw {
        document: Document {
            copyright: Text::default(),
            sensitivity: Text::default(),
            license: Text::default(),
            release_date: Text::default(),
            schema_version: Text::default(),
        },
        architecture,
        architecture_id,
        encodings: x.require("ISA", "Encodings", encodings)?,
        instructions: x.require("ISA", "Instructions", instructions)?,
        formats: x.require("ISA", "DataFormats", formats)?,
        operand_types: x.require("ISA", "OperandTypes", operand_types)?,
        groups: groups.unwrap_or_default(),
        subgroups: subgroups.unwrap_or_default(),
    })
}

fn architecture<'a>(x: &mut Cursor<'a>, start: &Start<'a>) -> Result<(Text<'a>, u32), Error> {
    let (mut name, mut id) = (None, None);
    x.no_attributes(start)?;
    element!(x, start, "Architecture", {
        "ArchitectureName" => name = x.text(start)?,
        "ArchitectureId" => id = x.number(start)?,
    });
    Ok((x.require("Architecture", "ArchitectureName", name)?, x.require("Architecture", "ArchitectureId", id)?))
}

/// A functional group or subgroup: its name.
fn named<'a>(x: &mut Cursor<'a>, start: &Start<'a>, element: &'static str) -> Result<Text<'a>, Error> {
    let mut name = None;
    x.plain_children(start, element, |x, start| {
        match start.name().as_ref() {
            "Name" => {
                let value = x.text(start)?;
                x.once(element, "Name", &mut name, value)?;
            }
            "Description" => x.skip()?,
            _ => x.unknown(start)?,
        }
        Ok(())
    })?;
    x.require(element, "Name", name)
}

fn encoding<'a>(x: &mut Cursor<'a>, start: &Start<'a>) -> Result<Encoding<'a>, Error> {
    let (mut order, mut name, mut bits, mut identifier_mask) = (None, None, None, None);
    let (mut identifiers, mut conditions, mut fields) = (None, None, None);
    x.attributes(start, |x, name, value| {
        if name == "Order" {
            order = Some(x.parse("Order", value)?);
        }
        Ok(name == "Order")
    })?;
    element!(x, start, "Encoding", {
        "EncodingName" => name = x.text(start)?,
        "BitCount" => bits = x.number(start)?,
        "EncodingIdentifierMask" => identifier_mask = x.radix_number(start)?,
        "EncodingIdentifiers" => identifiers = list(x, start, "EncodingIdentifiers", "EncodingIdentifier",
            |x, start| x.radix_number(start))?,
        "EncodingConditions" => conditions = list(x, start, "EncodingConditions", "EncodingCondition", condition)?,
        "MicrocodeFormat" => fields = microcode_format(x, start)?,
        ;
        "Description" => x.skip()?,
    });
    Ok(Encoding {
        order: x.require("Encoding", "Order", order)?,
        name: x.require("Encoding", "EncodingName", name)?,
        bits: x.require("Encoding", "BitCount", bits)?,
        identifier_mask: x.require("Encoding", "EncodingIdentifierMask", identifier_mask)?,
        identifiers: identifiers.unwrap_or_default(),
        conditions: conditions.unwrap_or_default(),
        fields: x.require("Encoding", "MicrocodeFormat", fields)?,
    })
}

fn condition<'a>(x: &mut Cursor<'a>, start: &Start<'a>) -> Result<Condition<'a>, Error> {
    let (mut name, mut id, mut expr) = (None, None, None);
    x.no_attributes(start)?;
    element!(x, start, "EncodingCondition", {
        "ConditionName" => name = x.text(start)?,
        "ConditionId" => id = x.number(start)?,
        // The second spelling is in no file yet, but one day somebody will correct the first.
        "CondtionExpression" => expr = only_expression(x, start, "CondtionExpression")?,
        "ConditionExpression" => expr = only_expression(x, start, "ConditionExpression")?,
    });
    Ok(Condition {
        name: x.require("EncodingCondition", "ConditionName", name)?,
        id,
        expr: x.require("EncodingCondition", "CondtionExpression", expr)?,
    })
}

fn only_expression<'a>(x: &mut Cursor<'a>, start: &Start<'a>, element: &'static str) -> Result<Expr<'a>, Error> {
    let mut expr = None;
    x.plain_children(start, element, |x, start| {
        if let Some(value) = expression(x, start)? {
            x.once(element, "expression", &mut expr, value)?;
        }
        Ok(())
    })?;
    x.require(element, "expression", expr)
}

/// One node in either grammar; `None` for an element that is in neither.
fn expression<'a>(x: &mut Cursor<'a>, start: &Start<'a>) -> Result<Option<Expr<'a>>, Error> {
    Ok(Some(match start.name().as_ref() {
        "Expression" => typed_expression(x, start)?,
        "op" => {
            let operator = one_attribute(x, start, "op", "type")?;
            Expr::Op { operator, args: expressions(x, "op")? }
        }
        "id" => {
            let name = one_attribute(x, start, "id", "val")?;
            let mut _of = None;
            element!(x, start, "id", {
                "ty" => _of = short_type(x, start)?,
            });
            Expr::Id(name)
        }
        "lit" => {
            let value = one_attribute(x, start, "lit", "val")?;
            let mut of = None;
            element!(x, start, "lit", {
                "ty" => of = short_type(x, start)?,
            });
            Expr::Literal(value, of)
        }
        "ty" => Expr::ReturnType(short_type(x, start)?),
        _ => {
            x.unknown(start)?;
            return Ok(None);
        }
    }))
}

fn expressions<'a>(x: &mut Cursor<'a>, element: &'static str) -> Result<Vec<Expr<'a>>, Error> {
    let mut args = Vec::new();
    x.children(element, |x, start| {
        args.extend(expression(x, start)?);
        Ok(())
    })?;
    Ok(args)
}

fn one_attribute<'a>(
    x: &mut Cursor<'a>,
    start: &Start<'a>,
    element: &'static str,
    wanted: &'static str,
) -> Result<Text<'a>, Error> {
    let mut found = None;
    x.attributes(start, |_, name, value| {
        if name == wanted {
            found = Some(Cow::Owned(value.to_owned()));
        }
        Ok(name == wanted)
    })?;
    x.require(element, wanted, found)
}

/// `Expression`, the grammar before schema 1.2.0.
fn typed_expression<'a>(x: &mut Cursor<'a>, start: &Start<'a>) -> Result<Expr<'a>, Error> {
    let (mut operator, mut args, mut label, mut value, mut of) = (None, None, None, None, None);
    let kind = one_attribute(x, start, "Expression", "Type")?;
    let at = x.here();
    element!(x, start, "Expression", {
        "Operator" => operator = x.text(start)?,
        "Subexpressions" => args = {
            x.no_attributes(start)?;
            expressions(x, "Subexpressions")?
        },
        "Label" => label = x.text(start)?,
        "Value" => value = x.text(start)?,
        "ValueType" => of = long_type(x, start)?,
    });
    Ok(match &*kind {
        "Operator" => Expr::Op {
            operator: x.require("Expression", "Operator", operator)?,
            args: x.require("Expression", "Subexpressions", args)?,
        },
        "Id" => Expr::Id(x.require("Expression", "Label", label)?),
        "Literal" => {
            let value = x.require("Expression", "Value", value)?;
            if value.is_empty() {
                x.quirk("a literal without a value, taken as 1");
            }
            Expr::Literal(value, of)
        }
        "ReturnType" => Expr::ReturnType(x.require("Expression", "ValueType", of)?),
        _ => {
            return Err(x.fault_at(
                at,
                XmlFault::BadValue {
                    what: "Expression/@Type".to_owned(),
                    found: kind.into_owned(),
                    expected: "Operator, Id, Literal or ReturnType",
                },
            ));
        }
    })
}

fn long_type<'a>(x: &mut Cursor<'a>, start: &Start<'a>) -> Result<Type<'a>, Error> {
    let (mut base, mut size) = (None, None);
    let mut is_base = true;
    x.attributes(start, |_, name, value| {
        if name == "Name" {
            is_base = value == "Base";
        }
        Ok(name == "Name")
    })?;
    if !is_base {
        x.skip()?;
        return Ok(Type::Other);
    }
    element!(x, start, "ValueType", {
        "BaseType" => base = x.text(start)?,
        "Size" => size = x.number(start)?,
    });
    Ok(Type::Base { base: x.require("ValueType", "BaseType", base)?, size: x.require("ValueType", "Size", size)? })
}

fn short_type<'a>(x: &mut Cursor<'a>, start: &Start<'a>) -> Result<Type<'a>, Error> {
    let (mut of, mut other) = (None, None);
    x.no_attributes(start)?;
    element!(x, start, "ty", {
        "t" => of = base_type(x, start)?,
        "arr" => other = x.skip()?,
        "lambda" => other = x.skip()?,
        "rec" => other = x.skip()?,
    });
    x.require("ty", "t", of.or(other.map(|()| Type::Other)))
}

fn base_type<'a>(x: &mut Cursor<'a>, start: &Start<'a>) -> Result<Type<'a>, Error> {
    let (mut base, mut size) = (None, None);
    x.attributes(start, |x, name, value| {
        match name {
            "base" => base = Some(Cow::Owned(value.to_owned())),
            "size" => size = Some(x.parse("size", value)?),
            _ => return Ok(false),
        }
        Ok(true)
    })?;
    x.children("t", |x, start| x.unknown(start))?;
    Ok(Type::Base { base: x.require("t", "base", base)?, size: x.require("t", "size", size)? })
}

fn microcode_format<'a>(x: &mut Cursor<'a>, start: &Start<'a>) -> Result<Vec<Field<'a>>, Error> {
    let mut fields = None;
    x.no_attributes(start)?;
    element!(x, start, "MicrocodeFormat", {
        "BitMap" => fields = list(x, start, "BitMap", "Field", field)?,
    });
    x.require("MicrocodeFormat", "BitMap", fields)
}

fn field<'a>(x: &mut Cursor<'a>, start: &Start<'a>) -> Result<Field<'a>, Error> {
    let (mut name, mut ranges, mut values, mut conditional) = (None, None, None, false);
    x.attributes(start, |x, name, value| {
        if name == "IsConditional" {
            conditional = x.boolean(name, value)?;
        }
        Ok(name == "IsConditional")
    })?;
    element!(x, start, "Field", {
        "FieldName" => name = x.text(start)?,
        "BitLayout" => ranges = bit_layout(x, start)?,
        "FieldPredefinedValues" => values =
            list(x, start, "FieldPredefinedValues", "PredefinedValue", predefined_value)?,
        ;
        "Description" => x.skip()?,
    });
    Ok(Field {
        conditional,
        name: x.require("Field", "FieldName", name)?,
        ranges: x.require("Field", "BitLayout", ranges)?,
        values: values.unwrap_or_default(),
    })
}

fn bit_layout<'a>(x: &mut Cursor<'a>, start: &Start<'a>) -> Result<Vec<Range>, Error> {
    let mut count: Option<usize> = None;
    x.attributes(start, |x, name, value| {
        if name == "RangeCount" {
            count = Some(x.parse(name, value)?);
        }
        Ok(name == "RangeCount")
    })?;
    let mut ranges = Vec::new();
    element!(x, start, "BitLayout", {
        ;
        "Range" => ranges.push(range(x, start)?),
    });
    if count.is_some_and(|count| count != ranges.len()) {
        x.quirk("BitLayout/@RangeCount is not the number of ranges");
    }
    ranges.sort_by_key(|range| range.order);
    Ok(ranges)
}

fn range<'a>(x: &mut Cursor<'a>, start: &Start<'a>) -> Result<Range, Error> {
    let (mut order, mut count, mut offset, mut pad) = (None, None, None, None);
    x.attributes(start, |x, name, value| {
        if name == "Order" {
            order = Some(x.parse(name, value)?);
        }
        Ok(name == "Order")
    })?;
    element!(x, start, "Range", {
        "BitCount" => count = x.number(start)?,
        "BitOffset" => offset = x.number(start)?,
        "Padding" => pad = padding(x, start)?,
    });
    Ok(Range {
        order: x.require("Range", "Order", order)?,
        offset: x.require("Range", "BitOffset", offset)?,
        count: x.require("Range", "BitCount", count)?,
        padding: pad,
    })
}

fn padding<'a>(x: &mut Cursor<'a>, start: &Start<'a>) -> Result<(u16, u64), Error> {
    let (mut count, mut value) = (None, None);
    x.no_attributes(start)?;
    element!(x, start, "Padding", {
        "BitCount" => count = x.number(start)?,
        "Value" => value = narrow::<u64>(x, start)?,
    });
    Ok((x.require("Padding", "BitCount", count)?, x.require("Padding", "Value", value)?))
}

/// A number with a radix that must fit a smaller type.
fn narrow<'a, T: TryFrom<u128>>(x: &mut Cursor<'a>, start: &Start<'a>) -> Result<T, Error> {
    let value = x.radix_number(start)?;
    T::try_from(value).map_err(|_| {
        x.fault(XmlFault::BadValue {
            what: start.name().as_ref().to_owned(),
            found: value.to_string(),
            expected: "a smaller number",
        })
    })
}

fn predefined_value<'a>(x: &mut Cursor<'a>, start: &Start<'a>) -> Result<PredefinedValue<'a>, Error> {
    let (mut name, mut value) = (None, None);
    x.no_attributes(start)?;
    element!(x, start, "PredefinedValue", {
        "Name" => name = x.text(start)?,
        "Value" => value = x.number(start)?,
        ;
        "Description" => x.skip()?,
    });
    Ok(PredefinedValue {
        name: x.require("PredefinedValue", "Name", name)?,
        value: x.require("PredefinedValue", "Value", value)?,
    })
}

fn instruction<'a>(x: &mut Cursor<'a>, start: &Start<'a>) -> Result<Instruction<'a>, Error> {
    let (mut name, mut aliases, mut description, mut flags) = (None, None, None, None);
    let (mut group, mut rows) = (None, None);
    x.no_attributes(start)?;
    element!(x, start, "Instruction", {
        "InstructionName" => name = x.text(start)?,
        "AliasedInstructionNames" => aliases =
            list(x, start, "AliasedInstructionNames", "InstructionName", text)?,
        "Description" => description = x.text(start)?,
        "InstructionFlags" => flags = instruction_flags(x, start)?,
        "InstructionEncodings" => rows =
            list(x, start, "InstructionEncodings", "InstructionEncoding", row)?,
        "FunctionalGroup" => group = functional_group(x, start)?,
    });
    let (group, subgroups) = x.require("Instruction", "FunctionalGroup", group)?;
    Ok(Instruction {
        name: x.require("Instruction", "InstructionName", name)?,
        aliases: aliases.unwrap_or_default(),
        description,
        flags: x.require("Instruction", "InstructionFlags", flags)?,
        group,
        subgroups,
        rows: x.require("Instruction", "InstructionEncodings", rows)?,
    })
}

fn instruction_flags<'a>(x: &mut Cursor<'a>, start: &Start<'a>) -> Result<crate::spec::InstructionFlags, Error> {
    let mut flags = crate::spec::InstructionFlags::default();
    x.plain_children(start, "InstructionFlags", |x, start| {
        let slot = match start.name().as_ref() {
            "IsBranch" => &mut flags.branch,
            "IsConditionalBranch" => &mut flags.conditional_branch,
            "IsIndirectBranch" => &mut flags.indirect_branch,
            "IsProgramTerminator" => &mut flags.program_terminator,
            "IsImmediatelyExecuted" => &mut flags.immediately_executed,
            _ => return x.unknown(start),
        };
        let value = x.text(start)?;
        *slot = x.boolean(start.name().as_ref(), &value)?;
        Ok(())
    })?;
    Ok(flags)
}

fn functional_group<'a>(x: &mut Cursor<'a>, start: &Start<'a>) -> Result<(Text<'a>, Vec<Text<'a>>), Error> {
    let mut name = None;
    let mut subgroups = Vec::new();
    x.no_attributes(start)?;
    element!(x, start, "FunctionalGroup", {
        "Name" => name = x.text(start)?,
        ;
        "Subgroup" => subgroups.push(x.text(start)?),
        "FunctionalSubgroups" => {
            subgroups.extend(list(x, start, "FunctionalSubgroups", "Subgroup", text)?);
        },
    });
    Ok((x.require("FunctionalGroup", "Name", name)?, subgroups))
}

fn row<'a>(x: &mut Cursor<'a>, start: &Start<'a>) -> Result<Row<'a>, Error> {
    let (mut encoding, mut condition, mut opcode, mut operands) = (None, None, None, None);
    x.no_attributes(start)?;
    element!(x, start, "InstructionEncoding", {
        "EncodingName" => encoding = x.text(start)?,
        "EncodingCondition" => condition = {
            let mut id = None;
            x.attributes(start, |x, name, value| {
                if name == "Id" {
                    id = Some(x.parse(name, value)?);
                }
                Ok(name == "Id")
            })?;
            (x.content(start)?, id)
        },
        "Opcode" => opcode = narrow::<u32>(x, start)?,
        "Operands" => operands = list(x, start, "Operands", "Operand", operand)?,
    });
    let (condition, condition_id) = x.require("InstructionEncoding", "EncodingCondition", condition)?;
    let mut operands: Vec<Operand<'a>> = operands.unwrap_or_default();
    operands.sort_by_key(|operand| operand.order);
    Ok(Row {
        encoding: x.require("InstructionEncoding", "EncodingName", encoding)?,
        condition,
        condition_id,
        opcode: x.require("InstructionEncoding", "Opcode", opcode)?,
        operands,
    })
}

fn operand<'a>(x: &mut Cursor<'a>, start: &Start<'a>) -> Result<Operand<'a>, Error> {
    let (mut input, mut output, mut implicit, mut binary_required, mut order) = (None, None, None, None, None);
    let (mut field, mut format, mut ty, mut size) = (None, None, None, None);
    x.attributes(start, |x, name, value| {
        match name {
            "Input" => input = Some(x.boolean(name, value)?),
            "Output" => output = Some(x.boolean(name, value)?),
            "IsImplicit" => implicit = Some(x.boolean(name, value)?),
            "IsBinaryMicrocodeRequired" => binary_required = Some(x.boolean(name, value)?),
            "Order" => order = Some(x.parse(name, value)?),
            _ => return Ok(false),
        }
        Ok(true)
    })?;
    element!(x, start, "Operand", {
        "FieldName" => field = x.text(start)?,
        "DataFormatName" => format = x.text(start)?,
        "OperandType" => ty = x.text(start)?,
        "OperandSize" => size = x.number(start)?,
    });
    Ok(Operand {
        input: x.require("Operand", "Input", input)?,
        output: x.require("Operand", "Output", output)?,
        implicit: x.require("Operand", "IsImplicit", implicit)?,
        binary_required: binary_required.unwrap_or(true),
        order: x.require("Operand", "Order", order)?,
        field,
        format: x.require("Operand", "DataFormatName", format)?,
        ty: x.require("Operand", "OperandType", ty)?,
        size: size.unwrap_or(0),
    })
}

fn data_format<'a>(x: &mut Cursor<'a>, start: &Start<'a>) -> Result<DataFormat<'a>, Error> {
    let (mut name, mut data_type, mut bits) = (None, None, None);
    let (mut components, mut bitmaps) = (None, None);
    x.no_attributes(start)?;
    element!(x, start, "DataFormat", {
        "DataFormatName" => name = x.text(start)?,
        "DataType" => data_type = x.text(start)?,
        "BitCount" => bits = x.number(start)?,
        "ComponentCount" => components = x.number(start)?,
        "DataAttributes" => bitmaps = list(x, start, "DataAttributes", "BitMap", format_bitmap)?,
        ;
        "Description" => x.skip()?,
    });
    let mut bitmaps: Vec<(u32, Vec<FormatField<'a>>)> = bitmaps.unwrap_or_default();
    bitmaps.sort_by_key(|bitmap| bitmap.0);
    Ok(DataFormat {
        name: x.require("DataFormat", "DataFormatName", name)?,
        data_type: x.require("DataFormat", "DataType", data_type)?,
        bits: x.require("DataFormat", "BitCount", bits)?,
        components: x.require("DataFormat", "ComponentCount", components)?,
        bitmaps,
    })
}

fn format_bitmap<'a>(x: &mut Cursor<'a>, start: &Start<'a>) -> Result<(u32, Vec<FormatField<'a>>), Error> {
    let mut order = 0;
    x.attributes(start, |x, name, value| {
        if name == "Order" {
            order = x.parse(name, value)?;
        }
        Ok(name == "Order")
    })?;
    let mut fields = Vec::new();
    element!(x, start, "BitMap", {
        ;
        "Field" => fields.push(format_field(x, start)?),
    });
    Ok((order, fields))
}

fn format_field<'a>(x: &mut Cursor<'a>, start: &Start<'a>) -> Result<FormatField<'a>, Error> {
    let (mut signedness, mut name, mut ranges) = (None, None, None);
    x.attributes(start, |x, name, value| {
        if name != "Signedness" {
            return Ok(false);
        }
        signedness = Some(match value {
            "DoesNotApply" => Signedness::DoesNotApply,
            "Unsigned" => Signedness::Unsigned,
            "Signed" => Signedness::Signed,
            "SignedByModifier" => Signedness::SignedByModifier,
            _ => {
                return Err(x.fault(XmlFault::BadValue {
                    what: name.to_owned(),
                    found: value.to_owned(),
                    expected: "DoesNotApply, Unsigned, Signed or SignedByModifier",
                }));
            }
        });
        Ok(true)
    })?;
    element!(x, start, "Field", {
        "FieldName" => name = x.text(start)?,
        "BitLayout" => ranges = bit_layout(x, start)?,
        ;
        "Description" => x.skip()?,
    });
    Ok(FormatField {
        signedness: x.require("Field", "Signedness", signedness)?,
        name: x.require("Field", "FieldName", name)?,
        ranges: x.require("Field", "BitLayout", ranges)?,
    })
}

fn operand_type<'a>(x: &mut Cursor<'a>, start: &Start<'a>) -> Result<OperandType<'a>, Error> {
    let (mut name, mut values, mut fields, mut subtypes) = (None, None, None, None);
    let mut partitioned = false;
    x.attributes(start, |x, name, value| {
        if name == "IsPartitioned" {
            partitioned = x.boolean(name, value)?;
        }
        Ok(name == "IsPartitioned")
    })?;
    element!(x, start, "OperandType", {
        "OperandTypeName" => name = x.text(start)?,
        "OperandPredefinedValues" => values =
            list(x, start, "OperandPredefinedValues", "PredefinedValue", predefined_value)?,
        "MicrocodeFormat" => fields = microcode_format(x, start)?,
        "Subtypes" => subtypes = list(x, start, "Subtypes", "Subtype", text)?,
        ;
        "Description" => x.skip()?,
    });
    Ok(OperandType {
        partitioned,
        name: x.require("OperandType", "OperandTypeName", name)?,
        values: values.unwrap_or_default(),
        fields: fields.unwrap_or_default(),
        subtypes: subtypes.unwrap_or_default(),
    })
}
