//! What an instruction reads and writes, and where it goes.

use crate::generated::field::Field;
use crate::generated::op::Op;
use crate::inst::Inst;
use crate::operand::{Operand, OperandRef, RegFile, Registers};
use crate::syntax::{Family, Slot, SlotKind};
use crate::table::{Form, OperandDesc, Row, Source, Special};
use crate::{Generation, disasm};

/// Something that an instruction reads or writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Resource {
    /// Registers of a file.
    Registers(Registers),
    /// The vector condition code, of this many dwords.
    Vcc(u8),
    /// The execution mask, of this many dwords.
    Exec(u8),
    /// The scalar condition code.
    Scc,
    /// M0.
    M0,
    /// Rounding, denormals and clamping of floating-point instructions.
    Mode,
    /// The program counter.
    Pc,
    /// The base address of scratch memory.
    FlatScratch,
    /// Local data share.
    Lds,
    /// Global memory.
    Memory,
    /// Another register with a name of its own.
    Special(Special),
}

/// Most resources of an instruction: both halves of a pair, an address of separate registers, the implicit ones.
const MOST: usize = 28;

/// What an instruction does with its resources. It lives on the stack.
#[derive(Debug, Clone, Copy)]
struct Accesses {
    items: [(Resource, bool, bool); MOST],
    len: usize,
}

impl Accesses {
    fn new() -> Accesses {
        Accesses { items: [(Resource::Scc, false, false); MOST], len: 0 }
    }

    /// Each resource is there once.
    fn add(&mut self, resource: Resource, read: bool, written: bool) {
        if let Some(known) = self.items[..self.len].iter_mut().find(|known| known.0 == resource) {
            known.1 |= read;
            known.2 |= written;
        } else if let (Some(place), true) = (self.items.get_mut(self.len), read | written) {
            *place = (resource, read, written);
            self.len += 1;
        }
    }

    fn into_iter(self) -> impl Iterator<Item = (Resource, bool, bool)> {
        self.items.into_iter().take(self.len)
    }
}

impl Inst {
    /// What the instruction reads, each once: explicit operands in the order of assembly, then implicit ones. Constants
    /// and immediates are not listed.
    ///
    /// A register that keeps part of what it held is listed as read too: destinations of accumulating instructions, halves
    /// of a register, rows that a DPP form does not write. That inactive lanes keep theirs is not.
    pub fn reads(&self) -> impl Iterator<Item = Resource> {
        self.accesses().into_iter().filter(|access| access.1).map(|access| access.0)
    }

    /// What the instruction writes, each once, implicit operands included.
    pub fn writes(&self) -> impl Iterator<Item = Resource> {
        self.accesses().into_iter().filter(|access| access.2).map(|access| access.0)
    }

    /// Absolute target of a direct branch at `pc`, both in bytes.
    pub fn branch_target(&self, pc: u64) -> Option<u64> {
        self.operands().find_map(|operand| match operand.value() {
            Operand::Label(dwords) => {
                Some(pc.wrapping_add(self.len() as u64).wrapping_add_signed(i64::from(dwords) * 4))
            }
            _ => None,
        })
    }

    /// Whether lanes execute it under EXEC.
    pub fn is_vector(&self) -> bool {
        !matches!(self.group(), "SALU" | "SMEM" | "BRANCH" | "MESSAGE" | "WAVE_CONTROL" | "TRAP")
    }

    fn mask_dwords(&self) -> u8 {
        (self.wave_size() / 32) as u8
    }

    fn accesses(&self) -> Accesses {
        let mut accesses = Accesses::new();
        let row = self.row();
        self.add_row(row, &mut accesses);
        if matches!(row.syntax().family, Family::Vopd | Family::Vopd3)
            && let Some(y) = self.row_y()
        {
            self.add_row(y, &mut accesses);
        }
        self.add_implied(row, &mut accesses);
        accesses
    }

    /// What the operands of a row name, explicit ones by the text's slots, which know their widths.
    fn add_row(&self, row: Row, accesses: &mut Accesses) {
        let slots = row.syntax().slots();
        let partial = self.keeps_part(row);
        for &slot in slots {
            let Some(desc) = described(row, slot) else { continue };
            let (mut read, mut written) = (desc.is_input(), desc.is_output());
            if matches!(slot.kind(), SlotKind::BufferData | SlotKind::ImageData) && read && written {
                // An atomic gives back what was there where that is asked for.
                written = self.returns();
            }
            read |= written && partial && self.is_vector();
            self.add_slot(slot, accesses, read, written);
        }
        for &desc in row.operands() {
            let explicit = slots.iter().any(|&slot| {
                desc.count() > 0 && slot.offset() == desc.offset() && slot.kind() != SlotKind::Literal
                    || slot.kind() == SlotKind::VopcDst && desc.ty().name == "OPR_VCC" && self.form() == Form::Sdwa
            });
            if explicit && desc.ty().name != "OPR_EXEC" {
                continue;
            }
            if let Some(resource) = self.implicit(&OperandRef::new(self, desc)) {
                accesses.add(resource, desc.is_input(), desc.is_output());
            }
        }
    }

    /// What no operand names.
    fn add_implied(&self, row: Row, accesses: &mut Accesses) {
        let name = row.op().name();
        let lds = name.starts_with("BUFFER_LOAD") && self.field(Field::LDS) == Some(1)
            || name == "BUFFER_STORE_LDS_DWORD"
            || name.contains("LOAD_LDS_");
        if lds {
            let stores = name == "BUFFER_STORE_LDS_DWORD";
            accesses.add(Resource::Lds, stores, !stores);
            accesses.add(Resource::M0, true, false);
        }
        if name.starts_with("DS_GWS_") || self.field(Field::GDS) == Some(1) {
            accesses.add(Resource::M0, true, false);
        }
        if matches!(self.group(), "VMEM" | "SMEM") && !name.starts_with("DS_") && !name.contains("_PARAM_LOAD") {
            let (loads, stores) = memory_access(name);
            accesses.add(Resource::Memory, loads, stores);
            if name.starts_with("FLAT_") {
                // The address may be one of LDS.
                accesses.add(Resource::Lds, loads, stores);
            }
        }
        if self.is_vector() && !matches!(row.op(), Op::V_READLANE_B32 | Op::V_WRITELANE_B32) {
            accesses.add(Resource::Exec(self.mask_dwords()), true, false);
        }
        match row.op() {
            Op::S_ROUND_MODE | Op::S_DENORM_MODE => return accesses.add(Resource::Mode, false, true),
            Op::S_SETREG_B32 | Op::S_SETREG_IMM32_B32 => {
                // All of MODE or part of it.
                let register = self.field(Field::SIMM16).unwrap_or_default();
                if register & 63 == 1 {
                    accesses.add(Resource::Mode, register >> 11 != 31, true);
                }
                return;
            }
            Op::S_GETREG_B32 if self.field(Field::SIMM16).unwrap_or_default() & 63 == 1 => {
                return accesses.add(Resource::Mode, true, false);
            }
            _ => {}
        }
        // Bits are moved as they are; what names a float computes with it.
        let computes = matches!(self.group(), "VALU" | "SALU") && !name.contains("_MOV") && !name.contains("CNDMASK");
        let float = |desc: &OperandDesc| desc.format().data_type == "float";
        if computes
            && (row.operands().iter().any(float) || self.row_y().is_some_and(|y| y.operands().iter().any(float)))
        {
            accesses.add(Resource::Mode, true, false);
        }
    }

    /// Whether an atomic gives back what was in memory.
    fn returns(&self) -> bool {
        let atomic_hint = |th: u32| th & 1 != 0;
        match self.generation() {
            Generation::Rdna4 | Generation::Cdna5 => self.field(Field::TH).is_some_and(atomic_hint),
            _ => self.field(Field::GLC).or(self.field(Field::SC0)).is_some_and(|bit| bit != 0),
        }
    }

    /// Whether the destination keeps part of what it held.
    fn keeps_part(&self, row: Row) -> bool {
        if let Some(dpp) = self.dpp16() {
            return !dpp.bound_ctrl() || dpp.row_mask() != 15 || dpp.bank_mask() != 15;
        }
        if let Some(sdwa) = self.sdwa() {
            return row.syntax().family != Family::Vopc && sdwa.dst_unused() == 2 && sdwa.dst_sel() != 6;
        }
        let name = row.op().name();
        let short = row.operands().iter().find(|o| o.is_output() && !o.is_implicit()).is_some_and(|o| o.size() < 32);
        match self.group() {
            "VMEM" => name.contains("_D16") && name.contains("LOAD") && (short || !name.contains("FORMAT")),
            "VALU" if short => {
                // GFX9 fills the upper half with zeros, but where the half can be chosen.
                let gfx9 = matches!(
                    self.generation(),
                    Generation::Cdna1 | Generation::Cdna2 | Generation::Cdna3 | Generation::Cdna4
                );
                let chosen = row.syntax().family == Family::Vop3 && self.bits(14, 1) != 0;
                !gfx9 || chosen || ["_MIX", "FP8", "BF8", "FP4"].iter().any(|part| name.contains(part))
            }
            _ => false,
        }
    }

    /// The registers that a slot names.
    fn add_slot(&self, slot: Slot, accesses: &mut Accesses, read: bool, written: bool) {
        let bit = |at: u32| at != 0 && self.bits(at, 1) != 0;
        let raw = if slot.count() == 0 { 0 } else { self.bits(slot.offset(), slot.count()) };
        let gfx9 =
            matches!(self.generation(), Generation::Cdna1 | Generation::Cdna2 | Generation::Cdna3 | Generation::Cdna4);
        let mut vector = |file, first: u32, count: u32| {
            let registers = Registers { file, first: first as u16, count: count as u8 };
            accesses.add(Resource::Registers(registers), read, written);
        };
        let file = if self.slot_is_acc(slot) { RegFile::Agpr } else { RegFile::Vgpr };
        match slot.kind() {
            SlotKind::Vgpr => {
                if slot.returns() != 0 && !bit(slot.returns()) {
                    return;
                }
                let plain = matches!(slot.source(), 3 | 7);
                // A load to LDS has no destination.
                if plain && bit(slot.extra()) {
                    return;
                }
                let count = self.slot_dwords(slot);
                let scalar =
                    slot.source() == 1 && self.sdwa().is_some_and(|sdwa| sdwa.s1()) || slot.count() == 9 && raw < 256;
                if scalar {
                    return self.add_source(raw, slot.dwords(), accesses, read, written);
                }
                vector(file, self.without_half(slot, raw & 0xff), count);
            }
            SlotKind::Src | SlotKind::LaneSel => {
                if slot.source() == 0 {
                    let variant = match self.form() {
                        Form::Dpp16 => self.dpp16().map(|dpp| u32::from(dpp.vsrc0())),
                        Form::Dpp8 => self.dpp8().map(|dpp| u32::from(dpp.vsrc0())),
                        Form::Sdwa => match self.sdwa() {
                            Some(sdwa) if sdwa.s0() => {
                                let raw = u32::from(sdwa.src0());
                                return self.add_source(raw, slot.dwords(), accesses, read, written);
                            }
                            sdwa => sdwa.map(|sdwa| u32::from(sdwa.src0())),
                        },
                        _ => None,
                    };
                    if let Some(first) = variant {
                        return vector(RegFile::Vgpr, self.without_half(slot, first), slot.dwords());
                    }
                }
                let raw = raw << slot.scale();
                match raw {
                    256.. if file == RegFile::Agpr => vector(file, raw - 256, slot.dwords()),
                    256.. => vector(file, self.without_half(slot, raw - 256), self.slot_dwords(slot)),
                    _ => self.add_source(raw, self.slot_dwords(slot), accesses, read, written),
                }
            }
            SlotKind::MatrixSrc => vector(file, raw & 0xff, self.matrix_dwords(slot)),
            SlotKind::DualDst => vector(RegFile::Vgpr, raw << 1 | (self.bits(slot.extra(), 1) ^ 1), slot.dwords()),
            SlotKind::GlobalAddr => {
                let scalar = slot.extra() != 0 && !self.is_off(self.bits(slot.returns(), 7));
                vector(RegFile::Vgpr, raw, if scalar { 1 } else { 2 });
            }
            SlotKind::ScratchAddr => {
                let scalar = self.bits(slot.returns(), 7);
                let used = match slot.extra() {
                    0 if gfx9 => scalar == 0x7f,
                    0 => scalar == 0x7d,
                    at => bit(at),
                };
                if used {
                    vector(RegFile::Vgpr, raw, 1);
                }
            }
            SlotKind::BufferAddr => {
                let count = self.bits(slot.extra(), 1) + self.bits(slot.returns(), 1);
                if count > 0 {
                    vector(RegFile::Vgpr, raw, count);
                }
            }
            SlotKind::BufferData if !bit(slot.returns()) => {
                vector(file, raw & 0xff, slot.dwords() + u32::from(bit(slot.extra())));
            }
            SlotKind::ImageData => vector(file, raw, self.image_data_registers(slot)),
            SlotKind::ImageAddr => {
                for &(first, count) in self.image_address_registers(slot).as_slice() {
                    vector(RegFile::Vgpr, first.into(), count.into());
                }
            }
            SlotKind::ExpSrc => {
                let (enabled, number) = (self.bits(0, 4), slot.source());
                if enabled >> number & 1 != 0 {
                    let at = if bit(slot.extra()) { 32 + 8 * (number / 2) } else { slot.offset() };
                    vector(RegFile::Vgpr, self.bits(at, 8), 1);
                }
            }
            SlotKind::Saddr if !self.is_off(raw) => self.add_source(raw, slot.dwords(), accesses, read, written),
            SlotKind::TensorGroup => self.add_source(raw, slot.dwords(), accesses, read, written),
            SlotKind::SmemOffset => {
                let (immediate, register) = (bit(slot.extra()), bit(slot.returns()));
                match (gfx9, immediate, register) {
                    (false, ..) | (true, _, true) => self.add_source(raw, 1, accesses, read, written),
                    (true, false, false) => self.add_source(self.bits(32, 7), 1, accesses, read, written),
                    (true, true, false) => {}
                }
            }
            SlotKind::Vcc => accesses.add(Resource::Vcc(self.mask_dwords()), read, written),
            SlotKind::VopcDst => match self.sdwa().and_then(|sdwa| sdwa.sdst()) {
                Some(register) => {
                    self.add_source(register.into(), self.mask_dwords().into(), accesses, read, written);
                }
                None => accesses.add(Resource::Vcc(self.mask_dwords()), read, written),
            },
            _ => {}
        }
    }

    /// Adds what a source value below 256 selects, if that is no constant.
    fn add_source(&self, raw: u32, count: u32, accesses: &mut Accesses, read: bool, written: bool) {
        let registers =
            |file, first: u8| Resource::Registers(Registers { file, first: first.into(), count: count as u8 });
        let resource = match self.tables().sources.get(raw as usize) {
            Some(&Source::Sgpr(first)) => Some(registers(RegFile::Sgpr, first)),
            Some(&Source::Ttmp(first)) => Some(registers(RegFile::Ttmp, first)),
            Some(&Source::Special(special)) => named(special, count as u8),
            _ => None,
        };
        if let Some(resource) = resource {
            accesses.add(resource, read, written);
        }
    }

    fn is_off(&self, raw: u32) -> bool {
        match self.generation() {
            Generation::Cdna1 | Generation::Cdna2 | Generation::Cdna3 | Generation::Cdna4 => raw == 0x7f,
            Generation::Rdna1 | Generation::Rdna2 => raw == 0x7f || raw == 0x7d,
            _ => raw == 0x7c,
        }
    }

    fn slot_is_acc(&self, slot: Slot) -> bool {
        match slot.acc() {
            0 | 254 => false,
            255 => true,
            at => self.bits(at, 1) != 0,
        }
    }

    /// Registers of an operand: matrices of wave64 take half, lane masks twice as many.
    fn slot_dwords(&self, slot: Slot) -> u32 {
        match slot.dwords() {
            disasm::MASK => self.mask_dwords().into(),
            dwords if slot.acc() == 254 && self.wave_size() == 64 => (dwords / 2).max(1),
            dwords => dwords,
        }
    }

    /// Registers of a matrix by its element format: 8-bit, 6-bit and 4-bit elements.
    pub(crate) fn matrix_dwords(&self, slot: Slot) -> u32 {
        let gfx9 = self.generation() != Generation::Cdna5;
        let format = match (gfx9, slot.source()) {
            (false, 1) => self.bits(slot.extra(), 2) | self.bits(slot.extra() - 45, 1) << 2,
            _ => self.bits(slot.extra(), 3),
        };
        let quarters = match format {
            2 | 3 => 3,
            4 => 2,
            _ => 4,
        };
        if gfx9 { quarters * 2 } else { quarters * 4 }
    }

    /// A register's number where bit 7 tells its half.
    fn without_half(&self, slot: Slot, raw: u32) -> u32 {
        if slot.half() == crate::syntax::Half::Bit7 { raw & 0x7f } else { raw }
    }

    /// What an operand that text does not show stands for.
    fn implicit(&self, operand: &OperandRef) -> Option<Resource> {
        Some(match operand.type_name() {
            "OPR_VCC" => Resource::Vcc(self.mask_dwords()),
            "OPR_EXEC" | "OPR_SDST_EXEC" => Resource::Exec(self.mask_dwords()),
            "OPR_SSRC_SPECIAL_SCC" => Resource::Scc,
            "OPR_SDST_M0" => Resource::M0,
            "OPR_PC" => Resource::Pc,
            "OPR_FLAT_SCRATCH" => Resource::FlatScratch,
            "OPR_DSMEM" => Resource::Lds,
            "OPR_GPUMEM" => Resource::Memory,
            _ => return None,
        })
    }
}

/// The operand that a slot shows.
fn described(row: Row, slot: Slot) -> Option<OperandDesc> {
    let operands = row.operands();
    let at = |desc: &&OperandDesc| desc.count() > 0 && desc.offset() == slot.offset();
    match slot.kind() {
        SlotKind::Vcc | SlotKind::Literal => None,
        SlotKind::VopcDst => operands.iter().find(|desc| desc.ty().name == "OPR_VCC").copied(),
        // Some addresses have no field of their own.
        SlotKind::ImageAddr => operands
            .iter()
            .find(at)
            .or_else(|| {
                operands.iter().find(|desc| desc.field().is_none() && desc.ty().kind == crate::table::Kind::Vgpr)
            })
            .copied(),
        _ => operands.iter().find(at).copied(),
    }
}

/// A register with a name, of so many dwords.
fn named(special: Special, dwords: u8) -> Option<Resource> {
    Some(match special {
        Special::VccLo => Resource::Vcc(dwords),
        Special::ExecLo => Resource::Exec(dwords),
        Special::Scc => Resource::Scc,
        Special::M0 => Resource::M0,
        Special::Null => return None,
        Special::FlatScratchLo => Resource::FlatScratch,
        other => Resource::Special(other),
    })
}

/// Whether an instruction reads and writes memory.
fn memory_access(name: &str) -> (bool, bool) {
    let has = |part: &str| name.contains(part);
    if has("ATOMIC") {
        (true, true)
    } else if has("STORE") {
        (false, true)
    } else {
        let loads = has("LOAD") || has("SAMPLE") || has("GATHER") || has("INTERSECT");
        (loads, false)
    }
}

impl Registers {
    /// A single VGPR.
    pub const fn vgpr(number: u16) -> Registers {
        Registers { file: RegFile::Vgpr, first: number, count: 1 }
    }

    /// A single SGPR.
    pub const fn sgpr(number: u16) -> Registers {
        Registers { file: RegFile::Sgpr, first: number, count: 1 }
    }
}
