//! One generation's tables and typed views.

use std::fmt::Write as _;

use quote::{format_ident, quote};

use super::checks::Checks;
use super::render::{File, literal};
use super::shared::pack;
use crate::ir::{Class, Encoding, Generation, Ir, Row, Source};

pub(crate) fn module(generation: &Generation) -> File {
    let mut file = File::new(&format!("{}: {}.", generation.title, generation.origin));
    let variant = super::variant(&generation.name);
    file.items(quote! {
        #[cfg(feature = "asm")]
        mod builders;
        mod encodings;
        mod rows;
        mod views;

        #[cfg(feature = "asm")]
        pub use builders::*;
        pub use views::*;

        use crate::table::{Float, Source, SourceRun, Special, Tables, source_map};

        /// The tables of this generation.
        pub(crate) static TABLES: Tables = Tables {
            generation: crate::Generation::#variant,
            prefixes: &rows::PREFIXES,
            spaces: &rows::SPACES,
            rows: &rows::ROWS,
            encodings: &encodings::ENCODINGS,
            sources: &SOURCES,
        };
    });
    let runs = source_runs(&generation.sources);
    file.text(&format!("\nstatic SOURCES: [Source; 256] = source_map(&[\n{}]);\n", runs));
    file
}

fn source_runs(sources: &[Option<Source>]) -> String {
    let mut text = String::new();
    let mut at = 0;
    while at < sources.len() {
        let Some(first) = &sources[at] else {
            at += 1;
            continue;
        };
        let next = |n: i16| match first {
            Source::Sgpr(r) => Some(Source::Sgpr((i16::from(*r) + n) as u8)),
            Source::Ttmp(r) => Some(Source::Ttmp((i16::from(*r) + n) as u8)),
            Source::Int(v) => Some(Source::Int(v.wrapping_add(n as i8))),
            Source::Special(_) => None,
        };
        let count = |sign: i16| {
            (1..)
                .take_while(|&n| {
                    let expected = next(sign * n);
                    expected.is_some() && sources.get(at + n as usize) == Some(&expected)
                })
                .count()
                + 1
        };
        let (rising, falling) = (count(1), if matches!(first, Source::Int(_)) { count(-1) } else { 1 });
        let (count, step) = if falling > rising { (falling, -1) } else { (rising, 1) };
        let what = match first {
            Source::Sgpr(n) => format!("Source::Sgpr({n})"),
            Source::Ttmp(n) => format!("Source::Ttmp({n})"),
            Source::Int(n) => format!("Source::Int({n})"),
            Source::Special(name) => format!("Source::{}", camel(name)),
        };
        let _ = writeln!(text, "    SourceRun {{ first: {at}, count: {count}, step: {step}, source: {what} }},");
        at += count;
    }
    text
}

/// `src_flat_scratch_base_lo` is `FlatScratchBaseLo`; inline floats are `Half`, `NegHalf`, ...
fn camel(name: &str) -> String {
    match name {
        "0.5" => "Float(Float::Half)".into(),
        "-0.5" => "Float(Float::NegHalf)".into(),
        "1.0" => "Float(Float::One)".into(),
        "-1.0" => "Float(Float::NegOne)".into(),
        "2.0" => "Float(Float::Two)".into(),
        "-2.0" => "Float(Float::NegTwo)".into(),
        "4.0" => "Float(Float::Four)".into(),
        "-4.0" => "Float(Float::NegFour)".into(),
        "0.15915494" => "Float(Float::InvTwoPi)".into(),
        _ => {
            let words = name.trim_start_matches("src_").split('_');
            let name: String = words.map(|w| w[..1].to_ascii_uppercase() + &w[1..]).collect();
            match name.as_str() {
                "Literal" | "Literal64" => name,
                _ => format!("Special(Special::{name})"),
            }
        }
    }
}

/// `special`: the length is not only a matter of literals.
fn row(row: &Row, special: bool, pool: &[(u32, u8)], checks: &Checks) -> String {
    // Nothing that is checked holds the marker of a variant: `V_NOP`.
    let unmarked = (row.dpp16 || row.dpp8 || row.sdwa) && checks.is_empty(row.list);
    let hot = pack(&[
        (u64::from(row.op), 0),
        (u64::from(row.encoding), 13),
        (u64::from(row.list), 20),
        (u64::from(row.dwords), 33),
        (u64::from(row.literals), 36),
        (u64::from(row.literal64), 39),
        (u64::from(row.dpp16), 40),
        (u64::from(row.dpp8), 41),
        (u64::from(row.sdwa), 42),
        (u64::from(row.mandatory), 43),
        (row.prefix_of.map_or(0, |space| u64::from(space) + 1), 45),
        (u64::from(checks.of_list[usize::from(row.list)]), 51),
        (u64::from(special || row.mandatory != 0 || row.prefix_of.is_some() || unmarked), 63),
    ]);
    let (offset, len) = pool[row.mnemonic as usize];
    let cold = pack(&[
        (u64::from(offset), 0),
        (u64::from(len), 20),
        (u64::from(row.group), 26),
        (u64::from(row.subgroup), 31),
        (u64::from(row.flags), 38),
        (u64::from(row.syntax), 43),
    ]);
    format!("Row({hot:#x}, {cold:#x})")
}

pub(crate) fn rows(generation: &Generation, pool: &[(u32, u8)], checks: &Checks) -> File {
    let mut file = File::new("Opcode spaces and rows.");
    file.items(quote!(
        use crate::table::{Class, Row, Space};
    ));
    let lines: Vec<String> = generation
        .prefixes
        .chunks(32)
        .map(|chunk| {
            let values: Vec<String> = chunk.iter().map(|p| p.map_or(255, u16::from).to_string()).collect();
            values.join(", ")
        })
        .collect();
    file.text("\n/// Space of each value of bits 31:23 of the first dword; 255 is reserved.\npub(crate) static PREFIXES: [u8; 512] = [\n");
    for line in lines {
        file.text(&format!("    {line},\n"));
    }
    file.text("];\n");
    let spaces: Vec<String> = generation
        .spaces
        .iter()
        .map(|space| {
            let mut key: Vec<String> = space.key.iter().map(|(offset, count)| format!("({offset}, {count})")).collect();
            key.resize(3, "(0, 0)".into());
            format!(
                "Space::new([{}], {}, {}, {}, Class::{:?}, {:?})",
                key.join(", "),
                space.base,
                space.len,
                space.pair.unwrap_or(255),
                space.class,
                space.extra
            )
        })
        .collect();
    file.table("Opcode spaces.", "SPACES", "Space", &spaces);
    let mut rows = Vec::with_capacity(generation.rows.len());
    for space in &generation.spaces {
        let special = matches!(space.class, Class::Vopd | Class::Mimg);
        for slot in &generation.rows[usize::from(space.base)..][..usize::from(space.len)] {
            rows.push(slot.as_ref().map_or("Row(0, 0)".into(), |r| row(r, special, pool, checks)));
        }
    }
    file.table("Rows of all spaces, by key.", "ROWS", "Row", &rows);
    file
}

pub(crate) fn encodings(generation: &Generation) -> File {
    let mut file = File::new("Encodings, in AMD's order.");
    file.items(quote!(
        use crate::table::{EncodingInfo, Form};
    ));
    let entries: Vec<String> = generation.encodings.iter().map(|e| {
        let base = generation.encodings.iter().position(|b| b.name == e.base).unwrap_or(0);
        format!(
            "EncodingInfo {{ name: {}, base: {base}, form: Form::{:?}, bits: {}, mask: {:#x}, fixed: {:#x}, order: {}, layout: {} }}",
            literal(&e.name), e.form, e.bits, e.mask, e.fixed, e.order, e.layout
        )
    }).collect();
    file.table("All encodings.", "ENCODINGS", "EncodingInfo", &entries);
    file
}

/// `ENC_VOP3` is `Vop3`, `VOP3_SDST_ENC_VOP_DPP16` is `Vop3SdstEncVopDpp16`.
fn view_name(encoding: &str) -> String {
    let words = encoding.strip_prefix("ENC_").unwrap_or(encoding).split('_').filter(|w| !w.is_empty());
    words.map(|w| w[..1].to_ascii_uppercase() + &w[1..].to_ascii_lowercase()).collect()
}

pub(crate) fn views(ir: &Ir, generation: &Generation) -> File {
    let mut file = File::new(&format!("Typed views of the encodings of {}.", generation.title));
    file.items(quote!(
        use crate::view::encoding;
    ));
    for encoding in &generation.encodings {
        file.text(&view(ir, encoding));
    }
    file
}

fn view(ir: &Ir, encoding: &Encoding) -> String {
    let name = format_ident!("{}", view_name(&encoding.name));
    let word = match encoding.bits {
        0..=32 => "u32",
        33..=64 => "u64",
        65..=128 => "u128",
        _ => "[u32; 5]",
    };
    let fields = &ir.layouts[encoding.layout as usize].fields;
    let place = |ranges: &[(u8, u8)]| {
        let ranges: Vec<String> = ranges.iter().map(|(offset, count)| format!("{offset}+{count}")).collect();
        format!("[{}]", ranges.join(", "))
    };
    let ranges = |name: &'static str| fields.iter().filter(move |f| f.0 == name).flat_map(|f| f.2.iter().copied());
    let opcode: Vec<(u8, u8)> = ranges("OP").chain(ranges("OPM")).chain(ranges("OPX")).collect();
    let mut text = format!(
        "\nencoding! {{\n    /// `{}`, {} bits.\n    {name}({word}) fixed {:#x} op {} {{\n",
        encoding.name,
        encoding.bits,
        encoding.fixed,
        place(&opcode)
    );
    for (field, _, ranges) in fields.iter().rev() {
        let lower = field.to_ascii_lowercase();
        let ty = if ranges.iter().map(|(_, count)| u32::from(*count)).sum::<u32>() > 32 { "u64" } else { "u32" };
        let _ = writeln!(text, "        {lower} with_{lower} {ty} {},", place(ranges));
    }
    text.push_str("    }\n");
    for (name, opcode) in &encoding.opcodes {
        let _ = writeln!(text, "    {name} = {opcode};");
    }
    text.push_str("}\n");
    text
}
