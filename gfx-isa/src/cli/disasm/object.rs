//! ELF code objects: functions under their names, branch targets as labels. The text can be assembled again.

use std::collections::BTreeMap;
use std::format;
use std::io::{BufWriter, Write};
use std::string::{String, ToString};

use object::read::elf::ElfFile64;
use object::{FileFlags, LittleEndian, Object, ObjectSection, ObjectSymbol, SectionFlags, SymbolKind, elf};

use super::{Args, Failure, lanes};
use crate::disasm::{Formatter, Options};
use crate::{Decoder, Generation, Target};

pub(super) fn run(bytes: &[u8], args: &Args, options: Options) -> Result<(), Failure> {
    let fault = |error: object::Error| Failure::Input(format!("not a usable ELF file: {error}"));
    let file = ElfFile64::<LittleEndian>::parse(bytes).map_err(fault)?;
    let isa = match args.isa {
        Some(isa) => isa,
        None => generation(&file)?,
    };
    let lanes = lanes(args, isa)?;
    let mut output = BufWriter::new(std::io::stdout().lock());
    for section in file.sections() {
        let SectionFlags::Elf { sh_flags } = section.flags() else { continue };
        if sh_flags & u64::from(elf::SHF_EXECINSTR) == 0 {
            continue;
        }
        let (code, start) = (section.data().map_err(fault)?, section.address());
        let mut labels = targets(isa, lanes, code, start);
        for symbol in file.symbols().chain(file.dynamic_symbols()) {
            let inside = symbol.address() >= start && symbol.address() - start < code.len() as u64;
            let name = symbol.name().unwrap_or_default();
            if inside && symbol.kind() == SymbolKind::Text && !symbol.is_undefined() && !name.is_empty() {
                labels.insert(symbol.address(), name.to_string());
            }
        }
        listing(isa, lanes, code, start, &labels, options, &mut output)?;
    }
    output.flush()?;
    Ok(())
}

/// The generation that the ELF header's flags name.
fn generation(file: &ElfFile64<'_, LittleEndian>) -> Result<Generation, Failure> {
    let FileFlags::Elf { e_flags, .. } = file.flags() else {
        return Err(Failure::Input("the file has no ELF flags".to_string()));
    };
    let mach = e_flags & 0xff;
    let target = Target::from_mach(mach);
    let target =
        target.ok_or_else(|| Failure::Input(format!("no known processor has the ELF machine number {mach:#x}")))?;
    if !target.generation.is_available() {
        return Err(Failure::Input(format!("{} is not compiled into this program", target.generation)));
    }
    Ok(target.generation)
}

/// A label for each address in the code that a branch goes to.
fn targets(isa: Generation, lanes: u32, code: &[u8], start: u64) -> BTreeMap<u64, String> {
    let mut labels = BTreeMap::new();
    let mut decoder = Decoder::new(isa, code).wave_size(lanes);
    loop {
        let pc = start + decoder.offset() as u64;
        let Some(result) = decoder.next() else { return labels };
        let target = result.ok().and_then(|inst| inst.branch_target(pc));
        if let Some(target) = target.filter(|target| target.wrapping_sub(start) < code.len() as u64) {
            labels.insert(target, format!("L{target:x}"));
        }
    }
}

/// Writes the code of a section; what is no instruction is data.
fn listing(
    isa: Generation,
    lanes: u32,
    code: &[u8],
    start: u64,
    labels: &BTreeMap<u64, String>,
    options: Options,
    output: &mut impl Write,
) -> Result<(), Failure> {
    let name = |address: u64| labels.get(&address).map(String::as_str);
    let formatter = Formatter::new(options).with_labels(&name);
    let mut text = String::new();
    let mut decoder = Decoder::new(isa, code).wave_size(lanes);
    loop {
        let at = decoder.offset();
        let pc = start + at as u64;
        let Some(result) = decoder.next() else { return Ok(()) };
        if let Some(label) = name(pc) {
            writeln!(output, "{}{label}:", if at == 0 { "" } else { "\n" })?;
        }
        text.clear();
        let bytes = &code[at..decoder.offset().min(code.len())];
        match result {
            Ok(inst) => {
                formatter.format(&inst, pc, &mut text).map_err(|_| Failure::Input("text is refused".to_string()))?;
            }
            Err(_) => {
                for (index, word) in bytes.chunks(4).enumerate() {
                    let mut padded = [0; 4];
                    padded[..word.len()].copy_from_slice(word);
                    let separator = if index == 0 { ".long " } else { ", " };
                    text.push_str(&format!("{separator}{:#010x}", u32::from_le_bytes(padded)));
                }
            }
        }
        write!(output, "\t{text:<60} // {pc:012X}:")?;
        for word in bytes.chunks_exact(4) {
            write!(output, " {:08X}", u32::from_le_bytes([word[0], word[1], word[2], word[3]]))?;
        }
        writeln!(output)?;
    }
}
