//! What an instruction reads and writes, and where it goes.

use crate::inst::Inst;
use crate::operand::{Operand, OperandRef, RegFile, Registers};
use crate::table::Special;

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

impl Inst {
    /// What the instruction reads: explicit operands in AMD's order, implicit ones included. Vector instructions read
    /// EXEC. Constants and immediates are not listed.
    ///
    /// Sizes are those of AMD's operand lists; for images the registers of all four components.
    pub fn reads(&self) -> impl Iterator<Item = Resource> + '_ {
        let exec = self.is_vector().then_some(Resource::Exec(self.mask_dwords()));
        let listed = move |resource: &Resource| !matches!(resource, Resource::Exec(_)) || exec.is_none();
        self.operands().filter(OperandRef::is_read).filter_map(|o| self.resource(&o)).filter(listed).chain(exec)
    }

    /// What the instruction writes, implicit operands included.
    pub fn writes(&self) -> impl Iterator<Item = Resource> + '_ {
        self.operands().filter(OperandRef::is_written).filter_map(|o| self.resource(&o))
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

    fn resource(&self, operand: &OperandRef) -> Option<Resource> {
        let special = match operand.value() {
            Operand::Registers(registers) => return Some(Resource::Registers(registers)),
            Operand::Special(special) => special,
            Operand::Implicit => {
                return Some(match operand.type_name() {
                    "OPR_VCC" => Resource::Vcc(self.mask_dwords()),
                    "OPR_EXEC" | "OPR_SDST_EXEC" => Resource::Exec(self.mask_dwords()),
                    "OPR_SSRC_SPECIAL_SCC" => Resource::Scc,
                    "OPR_SDST_M0" => Resource::M0,
                    "OPR_PC" => Resource::Pc,
                    "OPR_FLAT_SCRATCH" => Resource::FlatScratch,
                    "OPR_DSMEM" => Resource::Lds,
                    "OPR_GPUMEM" => Resource::Memory,
                    // A register that no field names, such as the second result of an atomic.
                    "OPR_VGPR" => return None,
                    _ => return None,
                });
            }
            _ => return None,
        };
        let dwords = operand.registers();
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
