//! Code objects: AMD's ELF files of compiled kernels, versions 3 to 6.
//!
//! [`CodeObject::parse`] reads what a launch needs and copies it out of the file. The formats are those of LLVM's
//! AMDGPUUsage, chapter "ELF Code Object". A file that is not a usable code object gives an [`ElfError`] that says what
//! is wrong and where.

mod metadata;

use core::fmt;
use std::collections::HashSet;
use std::format;
use std::string::{String, ToString};
use std::vec::Vec;

use object::elf;
use object::read::elf::{ElfFile64, FileHeader, ProgramHeader};
use object::{LittleEndian, Object, ObjectSymbol, RelocationFlags, RelocationTarget, SymbolKind};

use crate::kernel::{KernelDescriptor, KernelInfo};
use crate::{Generation, Target};

/// The most that a loaded code object may take, in bytes.
const LARGEST: u64 = 1 << 28;

/// `EI_OSABI` of AMD's HSA.
const OSABI_HSA: u8 = 64;

/// A code object: kernels, and the memory that they are loaded to.
#[derive(Debug, Clone)]
pub struct CodeObject {
    processor: Processor,
    version: u8,
    xnack: Feature,
    sramecc: Feature,
    generic_version: u8,
    kernels: Vec<KernelInfo>,
    symbols: Vec<Symbol>,
    segments: Vec<Segment>,
    relocations: Vec<Relocation>,
    first: u64,
    size: u64,
}

/// The processor that a code object was compiled for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Processor {
    /// LLVM's name: `gfx1201`, `gfx12-generic`.
    pub name: &'static str,
    /// The generation whose instructions it has.
    pub generation: Generation,
}

/// Whether a target feature is needed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Feature {
    /// The processor does not have it, or the code object does not say.
    Unsupported,
    /// The code runs with it and without.
    Any,
    /// It must be off.
    Off,
    /// It must be on.
    On,
}

/// A symbol with its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Symbol {
    /// The name.
    pub name: String,
    /// Address, from the start of the code object.
    pub address: u64,
    /// Size in bytes; 0 where unknown.
    pub size: u64,
    /// A function or a kernel.
    pub is_function: bool,
}

/// A piece that is loaded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Segment {
    /// Address, from the start of the code object.
    pub address: u64,
    /// What it holds; zeros follow up to [`Segment::size`].
    pub bytes: Vec<u8>,
    /// Bytes in memory.
    pub size: u64,
    /// Holds instructions.
    pub executable: bool,
}

/// A place that is filled in when the load address is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Relocation {
    address: u64,
    kind: RelocationKind,
    /// The symbol's address, 0 for none.
    symbol: u64,
    /// The symbol moves with the code object.
    moves: bool,
    addend: i64,
}

/// How a relocated value is made: `R_AMDGPU_*`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RelocationKind {
    Abs32Lo,
    Abs32Hi,
    Abs64,
    Rel32,
    Rel64,
    Abs32,
    Rel32Lo,
    Rel32Hi,
    Relative64,
}

impl RelocationKind {
    fn from_type(r_type: u32) -> Option<RelocationKind> {
        Some(match r_type {
            1 => RelocationKind::Abs32Lo,
            2 => RelocationKind::Abs32Hi,
            3 => RelocationKind::Abs64,
            4 => RelocationKind::Rel32,
            5 => RelocationKind::Rel64,
            6 => RelocationKind::Abs32,
            10 => RelocationKind::Rel32Lo,
            11 => RelocationKind::Rel32Hi,
            13 => RelocationKind::Relative64,
            _ => return None,
        })
    }
}

/// Why a file is not a code object that can be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ElfError(String);

impl fmt::Display for ElfError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl core::error::Error for ElfError {}

/// A file as the object crate reads it.
type Elf<'data> = ElfFile64<'data, LittleEndian>;

/// Makes an error.
fn fault(message: impl Into<String>) -> ElfError {
    ElfError(message.into())
}

/// Processors beyond those of [`Generation::targets`] that run the same instructions, by `EF_AMDGPU_MACH`, from LLVM's
/// "AMDGPU ELF Header e_flags" table.
static RELATIVES: [(u32, &str, Generation); 22] = {
    use Generation::{Cdna1, Cdna3, Cdna5, Rdna1, Rdna2, Rdna3, Rdna3_5, Rdna4};
    [
        (0x034, "gfx1011", Rdna1),
        (0x035, "gfx1012", Rdna1),
        (0x042, "gfx1013", Rdna1),
        (0x037, "gfx1031", Rdna2),
        (0x038, "gfx1032", Rdna2),
        (0x039, "gfx1033", Rdna2),
        (0x03e, "gfx1034", Rdna2),
        (0x03d, "gfx1035", Rdna2),
        (0x045, "gfx1036", Rdna2),
        (0x046, "gfx1101", Rdna3),
        (0x047, "gfx1102", Rdna3),
        (0x044, "gfx1103", Rdna3),
        (0x04a, "gfx1151", Rdna3_5),
        (0x055, "gfx1152", Rdna3_5),
        (0x058, "gfx1153", Rdna3_5),
        (0x05a, "gfx1251", Cdna5),
        (0x051, "gfx9-generic", Cdna1),
        (0x05f, "gfx9-4-generic", Cdna3),
        (0x052, "gfx10-1-generic", Rdna1),
        (0x053, "gfx10-3-generic", Rdna2),
        (0x054, "gfx11-generic", Rdna3),
        (0x059, "gfx12-generic", Rdna4),
    ]
};

impl Processor {
    /// The processor with this `EF_AMDGPU_MACH`.
    pub fn from_mach(mach: u32) -> Option<Processor> {
        if let Some(target) = Target::from_mach(mach) {
            return Some(Processor { name: target.name, generation: target.generation });
        }
        let (_, name, generation) = *RELATIVES.iter().find(|(number, ..)| *number == mach)?;
        Some(Processor { name, generation })
    }
}

impl CodeObject {
    /// Reads a linked code object.
    ///
    /// # Errors
    /// Where the file is no ELF file, is not linked, is of a processor that is not compiled into this crate, or holds
    /// something that a loader could not use: segments without their bytes, relocations of unknown kinds, descriptors
    /// outside of the file, broken metadata.
    pub fn parse(file: &[u8]) -> Result<CodeObject, ElfError> {
        let broken = |error: object::Error| fault(format!("not a usable ELF file: {error}"));
        let elf_file = Elf::parse(file).map_err(broken)?;
        let header = elf_file.elf_header();
        let endian = LittleEndian;
        if header.e_machine(endian) != elf::EM_AMDGPU {
            let message = format!("ELF machine {} is not an AMD GPU ({})", header.e_machine(endian), elf::EM_AMDGPU);
            return Err(fault(message));
        }
        if header.e_type(endian) != elf::ET_DYN {
            let message = format!("ELF type {} is not a linked code object ({})", header.e_type(endian), elf::ET_DYN);
            return Err(fault(message));
        }
        let ident = header.e_ident();
        // Version 2 had 0 here, version 6 has 4. Files of other systems than HSA do not say.
        let version = match (ident.os_abi, ident.abi_version) {
            (OSABI_HSA, 0) => return Err(fault("code object version 2 is not supported; 3 to 6 are")),
            (OSABI_HSA, abi @ 1..=4) => abi + 2,
            (OSABI_HSA, abi) => return Err(fault(format!("ELF ABI version {abi} of HSA is not known; 1 to 4 are"))),
            _ => 6,
        };
        let flags = header.e_flags(endian);
        let mach = flags & 0xff;
        let processor = Processor::from_mach(mach);
        let processor =
            processor.ok_or_else(|| fault(format!("no known processor has the ELF machine number {mach:#x}")))?;
        if !processor.generation.is_available() {
            return Err(fault(format!("{} is not compiled into this program", processor.generation)));
        }
        let (xnack, sramecc) = features(flags, version);
        let mut object = CodeObject {
            processor,
            version,
            xnack,
            sramecc,
            generic_version: (flags >> 24) as u8,
            kernels: Vec::new(),
            symbols: Vec::new(),
            segments: Vec::new(),
            relocations: Vec::new(),
            first: u64::MAX,
            size: 0,
        };
        object.read_segments(&elf_file, file)?;
        object.read_symbols(&elf_file);
        object.read_relocations(&elf_file)?;
        object.read_kernels(&elf_file, file)?;
        Ok(object)
    }

    /// The processor that it was compiled for.
    pub fn processor(&self) -> Processor {
        self.processor
    }

    /// The generation whose instructions it has.
    pub fn generation(&self) -> Generation {
        self.processor.generation
    }

    /// Version of the code object: 3 to 6.
    pub fn version(&self) -> u8 {
        self.version
    }

    /// Whether replay of faulting memory instructions must be on or off.
    pub fn xnack(&self) -> Feature {
        self.xnack
    }

    /// Whether error correction of on-chip memory must be on or off.
    pub fn sramecc(&self) -> Feature {
        self.sramecc
    }

    /// The version of a generic processor; 0 for others.
    pub fn generic_version(&self) -> u8 {
        self.generic_version
    }

    /// The kernels, in the order of the metadata or else by name.
    pub fn kernels(&self) -> &[KernelInfo] {
        &self.kernels
    }

    /// The kernel of a name.
    pub fn kernel(&self, name: &str) -> Option<&KernelInfo> {
        self.kernels.iter().find(|kernel| kernel.name == name)
    }

    /// Defined symbols with names, by address.
    pub fn symbols(&self) -> &[Symbol] {
        &self.symbols
    }

    /// What is loaded, by address.
    pub fn segments(&self) -> &[Segment] {
        &self.segments
    }

    /// Bytes from the first loaded one to the last.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// The address of the first loaded byte.
    pub fn first(&self) -> u64 {
        self.first
    }

    /// What memory holds when the code object is loaded so that its address 0 lies at `base`: [`CodeObject::size`]
    /// bytes from [`CodeObject::first`] on.
    pub fn image(&self, base: u64) -> Vec<u8> {
        let mut image = std::vec![0; self.size as usize];
        for segment in &self.segments {
            let at = (segment.address - self.first) as usize;
            image[at..][..segment.bytes.len()].copy_from_slice(&segment.bytes);
        }
        for relocation in &self.relocations {
            let at = (relocation.address - self.first) as usize;
            let (bytes, size) = relocation.value(base);
            image[at..][..size].copy_from_slice(&bytes[..size]);
        }
        image
    }

    fn read_segments(&mut self, elf_file: &Elf<'_>, file: &[u8]) -> Result<(), ElfError> {
        let endian = LittleEndian;
        let mut end = 0;
        for header in elf_file.elf_program_headers() {
            let (address, size) = (header.p_vaddr(endian), header.p_memsz(endian));
            if header.p_type(endian) != elf::PT_LOAD || size == 0 {
                continue;
            }
            let bytes = header.data(endian, file);
            let bytes = bytes.map_err(|()| fault(format!("the segment at {address:#x} reaches behind the file")))?;
            if bytes.len() as u64 > size {
                let message = format!("the segment at {address:#x} has {} bytes for {size}", bytes.len());
                return Err(fault(message));
            }
            self.first = self.first.min(address);
            end = end.max(address.checked_add(size).ok_or_else(|| {
                fault(format!("the segment at {address:#x} with {size} bytes reaches behind the last address"))
            })?);
            // Checked in each round, since segments may overlap and be many.
            if end - self.first > LARGEST {
                let message = format!("loaded, the file takes {} bytes; the limit is {LARGEST}", end - self.first);
                return Err(fault(message));
            }
            let executable = header.p_flags(endian) & elf::PF_X != 0;
            let copied: usize = self.segments.iter().map(|segment| segment.bytes.len()).sum();
            if copied + bytes.len() > file.len() {
                return Err(fault(format!("the segment at {address:#x} overlaps another one in the file")));
            }
            self.segments.push(Segment { address, bytes: bytes.to_vec(), size, executable });
        }
        if self.segments.is_empty() {
            return Err(fault("nothing in the file is to be loaded: there is no segment"));
        }
        self.segments.sort_by_key(|segment| segment.address);
        self.size = end - self.first;
        Ok(())
    }

    fn read_symbols(&mut self, elf_file: &Elf<'_>) {
        let mut known = HashSet::new();
        for symbol in elf_file.dynamic_symbols().chain(elf_file.symbols()) {
            let Ok(name) = symbol.name() else { continue };
            if symbol.is_undefined() || name.is_empty() || !known.insert(name) {
                continue;
            }
            self.symbols.push(Symbol {
                name: name.to_string(),
                address: symbol.address(),
                size: symbol.size(),
                is_function: symbol.kind() == SymbolKind::Text,
            });
        }
        self.symbols.sort_by(|a, b| (a.address, &a.name).cmp(&(b.address, &b.name)));
    }

    fn read_relocations(&mut self, elf_file: &Elf<'_>) -> Result<(), ElfError> {
        let Some(all) = elf_file.dynamic_relocations() else { return Ok(()) };
        for (address, relocation) in all {
            let RelocationFlags::Elf { r_type } = relocation.flags() else { continue };
            if r_type == 0 {
                continue;
            }
            let unknown = || fault(format!("the relocation at {address:#x} is of the unknown type {r_type}"));
            let kind = RelocationKind::from_type(r_type).ok_or_else(unknown)?;
            let (symbol, moves) = match relocation.target() {
                RelocationTarget::Symbol(index) => self.relocation_symbol(elf_file, address, index)?,
                _ => (0, false),
            };
            let entry = Relocation { address, kind, symbol, moves, addend: relocation.addend() };
            let size = entry.value(0).1 as u64;
            let inside = address >= self.first && address - self.first <= self.size.saturating_sub(size);
            if !inside || self.size < size {
                return Err(fault(format!("the relocation at {address:#x} is not in a loaded segment")));
            }
            self.relocations.push(entry);
        }
        Ok(())
    }

    /// The address of a relocation's symbol, and whether it moves with the code object.
    fn relocation_symbol(
        &self,
        elf_file: &Elf<'_>,
        address: u64,
        index: object::SymbolIndex,
    ) -> Result<(u64, bool), ElfError> {
        let table = elf_file.dynamic_symbol_table();
        let symbol = table.and_then(|table| object::ObjectSymbolTable::symbol_by_index(&table, index).ok());
        let symbol =
            symbol.ok_or_else(|| fault(format!("the relocation at {address:#x} is of a symbol that is not there")))?;
        if symbol.is_undefined() {
            if symbol.is_weak() {
                return Ok((0, false));
            }
            let name = symbol.name().unwrap_or("without a name");
            return Err(fault(format!("the relocation at {address:#x} needs the symbol {name}, which is not defined")));
        }
        Ok((symbol.address(), symbol.section_index().is_some()))
    }

    fn read_kernels(&mut self, elf_file: &Elf<'_>, file: &[u8]) -> Result<(), ElfError> {
        let described = metadata::read(elf_file, file)?;
        let mut done = HashSet::new();
        for kernel in &described {
            let address = self.symbols.iter().find(|symbol| symbol.name == kernel.symbol).map(|symbol| symbol.address);
            let missing = || fault(format!("kernel {}: there is no symbol {}", kernel.name, kernel.symbol));
            let address = address.ok_or_else(missing)?;
            let info = self.kernel_info(&kernel.name, address, Some(kernel))?;
            self.kernels.push(info);
            done.insert(kernel.symbol.as_str());
        }
        let mut others: Vec<(String, u64)> = Vec::new();
        for symbol in &self.symbols {
            let Some(name) = symbol.name.strip_suffix(".kd") else { continue };
            if !done.contains(symbol.name.as_str()) {
                others.push((name.to_string(), symbol.address));
            }
        }
        others.sort();
        for (name, address) in others {
            let info = self.kernel_info(&name, address, None)?;
            self.kernels.push(info);
        }
        Ok(())
    }

    fn kernel_info(
        &self,
        name: &str,
        address: u64,
        described: Option<&metadata::Kernel>,
    ) -> Result<KernelInfo, ElfError> {
        let bytes = self.bytes(address, KernelDescriptor::SIZE).and_then(|bytes| bytes.try_into().ok());
        let bytes: &[u8; KernelDescriptor::SIZE] = bytes.ok_or_else(|| {
            fault(format!("kernel {name}: the descriptor at {address:#x} is not in a loaded segment"))
        })?;
        let descriptor = KernelDescriptor::parse(bytes);
        let entry = address.wrapping_add_signed(descriptor.entry_offset);
        let executable = self.segments.iter().filter(|segment| segment.executable);
        if !executable.into_iter().any(|s| entry.wrapping_sub(s.address) < s.bytes.len() as u64) {
            return Err(fault(format!("kernel {name}: the entry {entry:#x} is not in a segment of instructions")));
        }
        let wave_size = descriptor.wave_size(self.processor.generation);
        if let Some(size) = described.and_then(|kernel| kernel.wave_size).filter(|size| *size != wave_size) {
            let message =
                format!("kernel {name}: metadata has waves of {size} lanes, the descriptor of {wave_size} lanes");
            return Err(fault(message));
        }
        let mut info = KernelInfo {
            name: name.to_string(),
            entry,
            descriptor_address: address,
            descriptor,
            args: None,
            wave_size,
            kernarg_align: 16,
            max_group_size: None,
            required_group_size: None,
            cluster: None,
            sgpr_count: None,
            vgpr_count: None,
        };
        if let Some(kernel) = described {
            info.args = Some(kernel.args.clone());
            info.kernarg_align = kernel.kernarg_align;
            info.max_group_size = kernel.max_group_size;
            info.required_group_size = kernel.required_group_size;
            info.cluster = kernel.cluster;
            info.sgpr_count = kernel.sgpr_count;
            info.vgpr_count = kernel.vgpr_count;
            // The descriptor's field is optional.
            info.descriptor.kernarg_size = info.descriptor.kernarg_size.max(kernel.kernarg_size);
        }
        Ok(info)
    }

    /// Bytes of one segment, as the file has them.
    fn bytes(&self, address: u64, size: usize) -> Option<&[u8]> {
        self.segments.iter().find_map(|segment| {
            let at = usize::try_from(address.checked_sub(segment.address)?).ok()?;
            segment.bytes.get(at..at.checked_add(size)?)
        })
    }
}

/// XNACK and SRAMECC of the header's flags.
fn features(flags: u32, version: u8) -> (Feature, Feature) {
    if version == 3 {
        let on = |bit: u32| if flags & bit != 0 { Feature::On } else { Feature::Off };
        return (on(0x100), on(0x200));
    }
    let feature = |shift: u32| match flags >> shift & 3 {
        0 => Feature::Unsupported,
        1 => Feature::Any,
        2 => Feature::Off,
        _ => Feature::On,
    };
    (feature(8), feature(10))
}

impl Relocation {
    /// The bytes to write and how many there are.
    fn value(&self, base: u64) -> ([u8; 8], usize) {
        let symbol = if self.moves { self.symbol.wrapping_add(base) } else { self.symbol };
        let absolute = symbol.wrapping_add_signed(self.addend);
        let relative = absolute.wrapping_sub(base.wrapping_add(self.address));
        let (value, size) = match self.kind {
            RelocationKind::Abs64 => (absolute, 8),
            RelocationKind::Abs32 | RelocationKind::Abs32Lo => (absolute, 4),
            RelocationKind::Abs32Hi => (absolute >> 32, 4),
            RelocationKind::Rel64 => (relative, 8),
            RelocationKind::Rel32 | RelocationKind::Rel32Lo => (relative, 4),
            RelocationKind::Rel32Hi => (relative >> 32, 4),
            RelocationKind::Relative64 => (base.wrapping_add_signed(self.addend), 8),
        };
        (value.to_le_bytes(), size)
    }
}
