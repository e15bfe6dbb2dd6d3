//! Tables that all generations share: names, fields, operand types, operands, layouts.

use quote::{format_ident, quote};

use super::render::{File, literal};
use crate::ir::{Ir, Layout, Run};

pub(crate) fn ops(ir: &Ir) -> File {
    let mut file = File::new("Every instruction of every generation.");
    let count = ir.ops.len();
    let variants = ir.ops.iter().map(|name| {
        let doc = format!(" `{}`", name.to_ascii_lowercase());
        let name = format_ident!("{name}");
        quote!(#[doc = #doc] #name)
    });
    file.items(quote! {
        /// An instruction, by AMD's name. The numbers are not stable between releases.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(u16)]
        #[allow(non_camel_case_types)]
        pub enum Op {
            #(#variants,)*
        }
        /// Number of instructions.
        #[cfg(feature = "exec")]
        pub(crate) const COUNT: usize = #count;
    });
    let entries: Vec<String> = ir.ops.iter().map(|name| format!("Op::{name}")).collect();
    file.table("Every instruction, by number.", "ALL", "Op", &entries);
    let entries: Vec<String> = ir.ops.iter().map(|name| literal(name)).collect();
    file.table("AMD's name of each instruction; sorted.", "NAMES", "&str", &entries);
    let entries: Vec<String> =
        ir.aliases.iter().map(|(alias, op)| format!("({}, Op::{})", literal(alias), ir.ops[*op as usize])).collect();
    file.table("Other names and the instruction that each means; sorted.", "ALIASES", "(&str, Op)", &entries);
    file
}

pub(crate) fn fields(ir: &Ir) -> File {
    let mut file = File::new("Every field of every encoding.");
    let variants = ir.fields.iter().map(|name| {
        let doc = format!(" `{name}`");
        let name = format_ident!("{name}");
        quote!(#[doc = #doc] #name)
    });
    file.items(quote! {
        /// A field of an encoding, by one name over all generations: `OP_SEL` and `OPSEL` are [`Field::OPSEL`].
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(u8)]
        #[allow(non_camel_case_types)]
        pub enum Field {
            #(#variants,)*
        }
    });
    let entries: Vec<String> = ir.fields.iter().map(|name| format!("Field::{name}")).collect();
    file.table("Every field, by number.", "ALL", "Field", &entries);
    let entries: Vec<String> = ir.fields.iter().map(|name| literal(name)).collect();
    file.table("Name of each field; sorted.", "NAMES", "&str", &entries);
    file
}

/// The pool of mnemonics and the place of each in it: offset and length.
pub(crate) fn mnemonics(ir: &Ir) -> (File, Vec<(u32, u8)>) {
    let mut file = File::new("LLVM's mnemonics; rows hold offset and length.");
    let mut places = Vec::new();
    let mut offset = 0;
    file.text("\n/// All mnemonics, one after the other.\npub(crate) static POOL: &str = concat!(\n");
    for name in &ir.mnemonics {
        places.push((offset, u8::try_from(name.len()).expect("mnemonics are short")));
        offset += name.len() as u32;
        file.text(&format!("    {},\n", literal(name)));
    }
    file.text(");\n");
    (file, places)
}

pub(crate) fn groups(ir: &Ir) -> File {
    let mut file = File::new("Functional groups.");
    let entries: Vec<String> = ir.groups.iter().map(|name| literal(name)).collect();
    file.table("Functional groups.", "GROUPS", "&str", &entries);
    let entries: Vec<String> = ir.subgroups.iter().map(|name| literal(name)).collect();
    file.table("Functional subgroups.", "SUBGROUPS", "&str", &entries);
    file
}

fn run(run: &Run) -> String {
    let Run { name, number, value, count, falling } = run;
    let step = match (number, falling) {
        (None, _) => 0,
        (Some(_), false) => 1,
        (Some(_), true) => -1,
    };
    format!("Run::new({}, {}, {step}, {value}, {count})", literal(name), number.unwrap_or(0))
}

pub(crate) fn operands(ir: &Ir) -> File {
    let mut file = File::new("Operand types, data formats, operands and operand lists.");
    file.items(quote! {
        use crate::table::{DataFormat, Kind, OperandDesc, OperandList, OperandType, Run};
    });
    let mut entries = Vec::new();
    for ty in &ir.operand_types {
        let runs: Vec<String> = ty.runs.iter().map(run).collect();
        let fields: Vec<String> =
            ty.fields.iter().map(|(name, offset, count)| format!("({}, {offset}, {count})", literal(name))).collect();
        let values: Vec<String> = ty
            .field_values
            .iter()
            .map(|(field, value, name)| format!("({field}, {value}, {})", literal(name)))
            .collect();
        entries.push(format!(
            "OperandType {{ name: {}, kind: Kind::{:?}, runs: &[{}], fields: &[{}], field_values: &[{}] }}",
            literal(&ty.name),
            ty.kind,
            runs.join(", "),
            fields.join(", "),
            values.join(", ")
        ));
    }
    file.table("Operand types over all generations.", "TYPES", "OperandType", &entries);
    let entries: Vec<String> = ir
        .formats
        .iter()
        .map(|f| {
            format!(
                "DataFormat {{ name: {}, data_type: {}, bits: {}, components: {} }}",
                literal(&f.name),
                literal(&f.data_type),
                f.bits,
                f.components
            )
        })
        .collect();
    file.table("Data formats over all generations.", "FORMATS", "DataFormat", &entries);
    let entries: Vec<String> = ir
        .operands
        .iter()
        .map(|o| {
            let field = o.field.map_or(0xff, u64::from);
            let bits = [
                (field, 0),
                (u64::from(o.offset), 8),
                (u64::from(o.count), 16),
                (u64::from(o.scale), 23),
                (u64::from(o.ty), 25),
                (u64::from(o.format), 34),
                (u64::from(o.size), 43),
                (u64::from(o.input), 55),
                (u64::from(o.output), 56),
                (u64::from(o.implicit), 57),
                (o.source.map_or(3, u64::from), 58),
                (u64::from(ir.formats[o.format as usize].name == "FMT_NUM_M64"), 60),
            ];
            format!("OperandDesc({:#x})", pack(&bits))
        })
        .collect();
    file.table("Operands of all lists.", "OPERANDS", "OperandDesc", &entries);
    let entries: Vec<String> =
        ir.lists.iter().map(|(start, len)| format!("OperandList {{ start: {start}, len: {len} }}")).collect();
    file.table("Operand lists.", "LISTS", "OperandList", &entries);
    file
}

/// Values at their places; a value that reaches into the next place is a fault of the generator.
pub(crate) fn pack(places: &[(u64, u32)]) -> u64 {
    let ends = places.iter().skip(1).map(|p| p.1).chain([64]);
    places.iter().zip(ends).fold(0, |word, (&(value, at), end)| {
        assert!(end - at == 64 || value >> (end - at) == 0, "value {value} does not fit bits {at} to {end}");
        word | (value << at)
    })
}

pub(crate) fn layouts(ir: &Ir) -> File {
    let mut file = File::new("Field layouts of encodings.");
    file.items(quote! {
        use crate::generated::field::Field;
        use crate::table::{FieldLayout, Layout};
    });
    let entries: Vec<String> = ir.layouts.iter().map(|layout| self::layout(ir, layout)).collect();
    file.table("Layouts over all generations; fields from the high bit down.", "LAYOUTS", "Layout", &entries);
    file
}

pub(crate) fn syntax(ir: &Ir) -> File {
    let mut file = File::new("Assembly syntax of rows.");
    file.items(quote! {
        use crate::syntax::Family as F;
        use crate::syntax::Half as H;
        use crate::syntax::ModifierKind as M;
        use crate::syntax::Mods as S;
        use crate::syntax::SlotKind as K;
        use crate::syntax::Suffix as X;
        use crate::syntax::Value as V;
        use crate::syntax::{Modifier, Slot, Syntax};
    });
    let slots: Vec<String> = ir
        .slots
        .iter()
        .map(|s| {
            format!(
                "Slot::new(K::{}, ({}, {}, {}), {}, V::{}, {}, S::{}, H::{}, {}, {}, {})",
                s.kind,
                s.offset,
                s.count,
                s.scale,
                s.dwords,
                s.value,
                s.source,
                s.mods,
                s.half,
                s.acc,
                s.returns,
                s.extra
            )
        })
        .collect();
    file.table("Slots of all syntaxes.", "SLOTS", "Slot", &slots);
    let modifiers: Vec<String> = ir
        .modifiers
        .iter()
        .map(|m| format!("Modifier::new(M::{}, {}, {}, {})", m.kind, m.offset, m.count, m.extra))
        .collect();
    file.table("Modifiers of all syntaxes.", "MODIFIERS", "Modifier", &modifiers);
    let syntaxes: Vec<String> = ir
        .syntaxes
        .iter()
        .map(|s| {
            format!(
                "Syntax::new(({}, {}), ({}, {}), F::{}, X::{})",
                s.slots.0, s.slots.1, s.modifiers.0, s.modifiers.1, s.family, s.suffix
            )
        })
        .collect();
    file.table("Syntaxes; rows hold the index.", "SYNTAXES", "Syntax", &syntaxes);
    file
}

fn layout(ir: &Ir, layout: &Layout) -> String {
    let fields: Vec<String> = layout
        .fields
        .iter()
        .map(|(name, field, ranges)| {
            let ranges: Vec<String> = ranges.iter().map(|(offset, count)| format!("({offset}, {count})")).collect();
            format!(
                "FieldLayout {{ name: {}, field: Field::{}, ranges: &[{}] }}",
                literal(name),
                ir.fields[*field as usize],
                ranges.join(", ")
            )
        })
        .collect();
    format!("Layout {{ fields: &[{}] }}", fields.join(", "))
}

#[cfg(test)]
mod tests {
    use super::pack;

    #[test]
    fn packs_at_places() {
        assert_eq!(pack(&[(3, 0), (1, 8), (5, 60)]), 0x5000_0000_0000_0103);
    }

    #[test]
    #[should_panic(expected = "does not fit")]
    fn refuses_overflow() {
        pack(&[(256, 0), (1, 8)]);
    }
}
