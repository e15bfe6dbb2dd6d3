//! From the [`Ir`] to the text of the generated files. Nothing else in the workspace writes Rust.

mod builders;
mod checks;
mod generation;
mod render;
mod shared;

use std::collections::BTreeMap;

use proc_macro2::TokenStream;
use quote::{format_ident, quote};

use crate::ir::Ir;
use render::File;

/// The text of every generated file, by path below `gfx-isa/src/generated`.
pub(crate) fn emit(ir: &Ir) -> BTreeMap<String, String> {
    let sources: Vec<String> = ir.generations.iter().map(|g| format!("{} {}", g.name, g.sha256)).collect();
    let mut files = BTreeMap::new();
    let mut add = |path: String, sources: &[String], file: File| {
        files.insert(path, file.finish(sources));
    };
    add("mod.rs".into(), &sources, modules(ir));
    add("op.rs".into(), &sources, shared::ops(ir));
    add("field.rs".into(), &sources, shared::fields(ir));
    add("mnemonic.rs".into(), &sources, shared::mnemonics(ir).0);
    let checks = checks::Checks::new(ir);
    add("check.rs".into(), &sources, checks.file());
    add("operand.rs".into(), &sources, shared::operands(ir));
    add("layout.rs".into(), &sources, shared::layouts(ir));
    add("group.rs".into(), &sources, shared::groups(ir));
    add("syntax.rs".into(), &sources, shared::syntax(ir));
    let builders = builders::Builders::new(ir);
    add("builders.rs".into(), &sources, builders.file());
    let pool = shared::mnemonics(ir).1;
    for (index, generation) in ir.generations.iter().enumerate() {
        let source = &sources[index..=index];
        let name = &generation.name;
        add(format!("{name}/mod.rs"), source, generation::module(generation));
        add(format!("{name}/rows.rs"), source, generation::rows(generation, &pool, &checks));
        add(format!("{name}/encodings.rs"), source, generation::encodings(generation));
        add(format!("{name}/views.rs"), source, generation::views(ir, generation));
        add(format!("{name}/builders.rs"), source, builders.exports(index, &generation.title));
    }
    files
}

fn modules(ir: &Ir) -> File {
    let mut file = File::new("Tables of all generations.");
    let modules = ir.generations.iter().map(|g| {
        let module = format_ident!("{}", g.name);
        let feature = &g.name;
        let doc = format!(" Encodings and opcodes of {}.", g.title);
        quote! {
            #[cfg(feature = #feature)]
            #[doc = #doc]
            pub mod #module;
        }
    });
    let exports = ir.generations.iter().map(|g| {
        let (module, feature) = (format_ident!("{}", g.name), &g.name);
        quote! {
            #[cfg(feature = #feature)]
            pub use super::#module;
        }
    });
    file.items(quote! {
        #[cfg(feature = "asm")]
        pub mod builders;
        pub(crate) mod check;
        pub(crate) mod field;
        pub(crate) mod group;
        pub(crate) mod layout;
        pub(crate) mod mnemonic;
        pub(crate) mod op;
        pub(crate) mod operand;
        pub(crate) mod syntax;
        #(#modules)*

        /// The generations compiled in.
        #[allow(unreachable_pub)] // The crate's root exports what is in it.
        pub mod modules {
            #(#exports)*
        }
    });
    let variants = ir.generations.iter().map(|g| {
        let variant = variant(&g.name);
        let doc = format!(" {}", g.title);
        quote!(#[doc = #doc] #variant)
    });
    let all = ir.generations.iter().map(|g| variant(&g.name));
    let tables = ir.generations.iter().map(|g| {
        let (variant, module, feature) = (variant(&g.name), format_ident!("{}", g.name), &g.name);
        quote! {
            #[cfg(feature = #feature)]
            Generation::#variant => Some(&#module::TABLES),
        }
    });
    let facts = ir.generations.iter().map(generation_facts);
    let count = ir.generations.len();
    file.items(quote! {
        use crate::table::{GenerationFacts, Tables};

        /// A generation of instruction sets.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(u8)]
        pub enum Generation {
            #(#variants,)*
        }

        /// Every generation, whether compiled in or not.
        pub(crate) static GENERATIONS: [Generation; #count] = [#(Generation::#all),*];

        /// Facts about each generation, in the order of the enum.
        pub(crate) static FACTS: [GenerationFacts; #count] = [#(#facts),*];

        /// The tables of a generation, where its feature is on.
        pub(crate) fn tables(generation: Generation) -> Option<&'static Tables> {
            match generation {
                #(#tables)*
                #[allow(unreachable_patterns)]
                _ => None,
            }
        }
    });
    file
}

fn generation_facts(generation: &crate::ir::Generation) -> TokenStream {
    let (name, title) = (&generation.name, &generation.title);
    let targets = generation.targets.iter().map(|(name, mach)| quote!((#name, #mach)));
    let waves = &generation.waves;
    quote! {
        GenerationFacts { name: #name, title: #title, targets: &[#(#targets),*], waves: &[#(#waves),*] }
    }
}

/// `rdna3_5` is `Generation::Rdna3_5`.
fn variant(name: &str) -> proc_macro2::Ident {
    let mut chars = name.chars();
    let first = chars.next().map(|c| c.to_ascii_uppercase()).into_iter();
    format_ident!("{}", first.chain(chars).collect::<String>())
}
