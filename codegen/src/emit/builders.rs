//! A function for each instruction of a generation, by signature.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::render::File;
use crate::ir::{Encoding, Generation, Ir, Row, Slot};

/// What an operand may be: a trait of the runtime's `encode::operand`.
type Class = &'static str;

/// Operands with names, and what else the function does.
#[derive(PartialEq, Eq, PartialOrd, Ord, Clone)]
struct Signature {
    operands: Vec<(String, Class)>,
    /// A method of the runtime's `InstBuilder` that follows.
    then: Option<&'static str>,
}

/// The functions of all generations, and which of them each generation has.
pub(crate) struct Builders {
    /// Functions of one name and different signatures lie in different modules.
    modules: Vec<BTreeMap<Signature, Vec<(String, String)>>>,
    /// The names in each module that a generation has.
    of_generation: Vec<Vec<Vec<String>>>,
}

impl Builders {
    pub(crate) fn new(ir: &Ir) -> Builders {
        let mut known: BTreeMap<String, Vec<Signature>> = BTreeMap::new();
        let mut builders = Builders { modules: Vec::new(), of_generation: Vec::new() };
        for generation in &ir.generations {
            let mut by_op: BTreeMap<u16, Vec<&Row>> = BTreeMap::new();
            for row in generation.rows.iter().flatten() {
                by_op.entry(row.op).or_default().push(row);
            }
            let mut own: Vec<Vec<String>> = Vec::new();
            for (op, rows) in by_op {
                let op = &ir.ops[usize::from(op)];
                for (suffix, signature) in signatures(ir, generation, op, &rows) {
                    let function = op.to_ascii_lowercase() + suffix;
                    let variants = known.entry(function.clone()).or_default();
                    let module = variants.iter().position(|known| *known == signature).unwrap_or_else(|| {
                        variants.push(signature.clone());
                        let module = variants.len() - 1;
                        if builders.modules.len() == module {
                            builders.modules.push(BTreeMap::new());
                        }
                        let group = builders.modules[module].entry(signature).or_default();
                        group.push((function.clone(), op.clone()));
                        module
                    });
                    if own.len() <= module {
                        own.resize(module + 1, Vec::new());
                    }
                    own[module].push(function);
                }
            }
            builders.of_generation.push(own);
        }
        builders
    }

    /// The functions.
    pub(crate) fn file(&self) -> File {
        let mut file = File::new("A function for each instruction, by signature.");
        for (at, groups) in self.modules.iter().enumerate() {
            let _ = writeln!(file, "\n/// Functions, signature {} of each.", at + 1);
            let _ = writeln!(file, "pub mod {} {{\n    use crate::encode::builders;", module_name(at));
            for (signature, functions) in groups {
                let operands: Vec<String> =
                    signature.operands.iter().map(|(name, class)| format!("{name}: {class}")).collect();
                let then = signature.then.map_or(String::new(), |then| format!(" {then}"));
                let _ = writeln!(file, "    builders! {{ ({}){then}", operands.join(", "));
                wrapped(&mut file, functions.iter().map(|(function, op)| format!(" {function} {op};")));
                file.text("    }\n");
            }
            file.text("}\n");
        }
        file
    }

    /// The names of one generation.
    pub(crate) fn exports(&self, index: usize, title: &str) -> File {
        let mut file = File::new(&format!("A function for each instruction of {title}."));
        for (at, functions) in self.of_generation[index].iter().enumerate() {
            if functions.is_empty() {
                continue;
            }
            let _ = writeln!(file, "\n#[doc(no_inline)]\npub use crate::generated::builders::{}::{{", module_name(at));
            wrapped(&mut file, functions.iter().map(|function| format!(" {function},")));
            file.text("};\n");
        }
        file
    }
}

/// `a`, `b`, `c`
fn module_name(at: usize) -> char {
    char::from(b'a' + u8::try_from(at).expect("fewer than 26 signatures of one name"))
}

fn wrapped(file: &mut File, items: impl Iterator<Item = String>) {
    let mut line = String::new();
    for item in items {
        if line.len() + item.len() > 112 {
            let _ = writeln!(file, "       {line}");
            line.clear();
        }
        line += &item;
    }
    let _ = writeln!(file, "       {line}");
}

/// The signatures of an instruction, each with what its function's name ends in.
fn signatures(ir: &Ir, generation: &Generation, op: &str, rows: &[&Row]) -> Vec<(&'static str, Signature)> {
    let mut all: Vec<(&'static str, Signature)> = Vec::new();
    let mut add = |suffix: &'static str, operands: Vec<(String, Class)>, then: Option<&'static str>| {
        match all.iter_mut().find(|(known, _)| *known == suffix) {
            // The encodings of an instruction differ in what they take; a function takes what any does.
            Some((_, known)) if known.operands.len() == operands.len() => {
                for (known, other) in known.operands.iter_mut().zip(operands) {
                    known.1 = wider(known.1, other.1);
                }
            }
            Some((_, known)) if known.operands.len() > operands.len() => {}
            Some((_, known)) => known.operands = operands,
            None => all.push((suffix, Signature { operands, then })),
        }
    };
    for row in rows {
        let encoding = &generation.encodings[usize::from(row.encoding)];
        let syntax = &ir.syntaxes[usize::from(row.syntax)];
        let (start, len) = syntax.slots;
        let slots: Vec<&Slot> = ir.slots[usize::from(start)..][..usize::from(len)]
            .iter()
            .filter(|slot| !matches!(slot.kind, "Nothing" | "Endpgm"))
            .collect();
        let (start, len) = syntax.modifiers;
        let to_lds = op.contains("_LOAD_")
            && ir.modifiers[usize::from(start)..][..usize::from(len)].iter().any(crate::syntax::is_lds);
        let without = |first: usize| names(ir, encoding, &slots[first..]);
        let returns = slots.first().is_some_and(|slot| slot.kind == "Vgpr" && slot.returns != 0);
        let loads = slots.first().is_some_and(|slot| match slot.kind {
            "BufferData" => slot.returns != 0,
            "Vgpr" => slot.extra != 0 && syntax.family == "Plain",
            _ => false,
        });
        if returns {
            add("", without(1), None);
            add("_rtn", without(0), Some("returning"));
        } else {
            add("", without(0), None);
            if to_lds && loads {
                add("_to_lds", without(1), Some("lds"));
            }
        }
    }
    all
}

/// The class that takes what either takes.
fn wider(one: Class, other: Class) -> Class {
    match (one, other) {
        _ if one == other => one,
        ("Vector" | "Scalar" | "Source", "Vector" | "Scalar" | "Source") => "Source",
        _ => "Any",
    }
}

fn names(ir: &Ir, encoding: &Encoding, slots: &[&Slot]) -> Vec<(String, Class)> {
    let fields = &ir.layouts[usize::from(encoding.layout)].fields;
    let mut all: Vec<(String, Class)> = Vec::new();
    for slot in slots {
        let field = fields.iter().find(|(_, _, ranges)| ranges.first().is_some_and(|r| r.0 == slot.offset));
        let mut name = match slot.kind {
            "Vcc" | "VopcDst" => "vcc".into(),
            "Literal" => "literal".into(),
            "Label" => "target".into(),
            _ => field.map_or_else(|| "value".into(), |(name, ..)| name.to_ascii_lowercase()),
        };
        if all.iter().any(|(known, _)| *known == name) {
            name = format!("{name}_{}", all.len());
        }
        let class = class(slot, &name);
        all.push((name, class));
    }
    all
}

fn class(slot: &Slot, name: &str) -> Class {
    let scalar = ["sdst", "sdata", "sbase", "srsrc", "rsrc", "ssamp", "samp"].contains(&name)
        || (name == "vdst" && slot.kind == "Src");
    match slot.kind {
        _ if scalar => "Scalar",
        // It may have a sign.
        "Vgpr" if slot.source < 3 && slot.mods != "None" => "Source",
        "Vgpr" | "DualDst" | "GlobalAddr" | "BufferData" | "ImageData" => "Vector",
        "Src" if slot.count < 8 => "Scalar",
        "Src" | "LaneSel" | "MatrixSrc" | "SmemOffset" => "Source",
        "Vcc" | "VopcDst" => "Scalar",
        "Saddr" | "TensorGroup" => "ScalarOrOff",
        "ScratchAddr" | "BufferAddr" | "ExpSrc" => "VectorOrOff",
        "ImageAddr" => "Address",
        "Label" => "Target",
        "Literal" => "Source",
        _ => "Immediate",
    }
}
