//! Memory instructions in the form they run from: registers, offsets and forms of addresses resolved.

use super::super::decoded::{scalar_number, special_slot};
use super::super::error::ExecError;
use super::super::lanes::Vector;
use super::super::state::{VGPRS, Wave, slot};
use super::Env;
use crate::sem::mem::{Action, Mem, Part, Place, Returns, Size, Unit};
use crate::table::{Source, Special};
use crate::{Field, Generation, Inst, Op, Operand, RegFile, Registers};

/// A scalar part of an address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Scalar {
    None,
    /// A register, by its slot.
    Register(u8),
    Constant(u32),
}

/// How addresses are made.
#[derive(Debug, Clone, Copy)]
pub(super) enum Address {
    None,
    /// `base` is the first of two registers, or of a descriptor's four.
    Scalar {
        base: u8,
        offset: i64,
        register: Scalar,
        scale: u32,
    },
    /// An address of 32 bits from a vector register.
    Ds {
        register: u16,
        offsets: [u32; 2],
    },
    /// An address of 64 bits from two vector registers.
    Vector {
        register: u16,
        offset: i64,
    },
    /// A base from two scalar registers and an offset of 32 bits from a vector register.
    Based {
        base: u8,
        register: u16,
        offset: i64,
        signed: bool,
        scale: u32,
    },
    /// A base from two scalar registers and 4 times the lane.
    Lanes {
        base: u8,
        offset: i64,
    },
    /// `descriptor` is the first of four scalar registers.
    Buffer {
        descriptor: u8,
        index: Option<u16>,
        offset: Option<u16>,
        immediate: i64,
        scalar: Scalar,
    },
    Scratch {
        register: Option<u16>,
        scalar: Option<u8>,
        offset: u32,
        scale: u32,
    },
}

/// A memory instruction as it runs.
#[derive(Debug, Clone)]
pub(crate) struct Access {
    pub(super) unit: Unit,
    pub(super) action: Action,
    pub(super) place: Place,
    pub(super) address: Address,
    /// First registers of the data: of the vector file, or scalar slots.
    pub(super) data: [u16; 2],
    /// First register of the result, likewise; none where it goes nowhere.
    pub(super) dst: Option<u16>,
    /// The format that a typed instruction gives.
    pub(super) format: u32,
    /// A register behind the result that says which memory was not resident: none is, so it is 0.
    pub(super) tfe: Option<u16>,
    /// The other side of a transfer between memory and the local data share.
    pub(super) lds: Option<LdsPlace>,
}

/// Where in the local data share each lane's data is.
#[derive(Debug, Clone, Copy)]
pub(super) struct LdsPlace {
    /// A vector register with addresses; without one M0 has the first lane's address.
    register: Option<u16>,
    offset: u32,
}

impl LdsPlace {
    /// The address of each lane.
    pub(super) fn addresses(self, wave: &Wave, bytes: u32) -> [u64; 64] {
        match self.register {
            Some(register) => wave.vector(usize::from(register)).map(|at| u64::from(at.wrapping_add(self.offset))),
            None => {
                // Small data fills a dword.
                let (base, bytes) = ((wave.m0() & 0x3_fffc).wrapping_add(self.offset), bytes.max(4));
                core::array::from_fn(|lane| u64::from(base.wrapping_add(bytes * lane as u32)))
            }
        }
    }

    /// What is written for each lane: small data is extended to a dword where M0 says where it goes.
    pub(super) fn size(self, size: Size) -> Size {
        match (self.register, size) {
            (None, Size::U8 | Size::I8 | Size::U16 | Size::I16) => Size::Dwords(1),
            _ => size,
        }
    }
}

/// Facts about how a generation reaches memory.
#[derive(Debug, Clone, Copy)]
pub(super) struct Reach {
    /// The base of scratch is a register that the program sets; otherwise it is part of the wave's state.
    pub(super) flat_scratch: FlatScratch,
    /// 32-bit offsets of global addresses are signed.
    pub(super) signed_offsets: bool,
    /// Additions to floats in memory flush denormals.
    pub(super) flushes: bool,
    /// Flat addresses of scratch name the lane, and the memory behind it.
    pub(super) shared_scratch: bool,
}

/// Where the base address of scratch is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FlatScratch {
    /// The scalar registers of that name.
    Registers,
    /// The hardware registers of that name.
    Hardware,
    /// Set when the wave starts.
    Architected,
}

pub(super) const fn reach(generation: Generation) -> Reach {
    use Generation::{Cdna1, Cdna2, Cdna5, Rdna1, Rdna2, Rdna3, Rdna3_5};
    Reach {
        flat_scratch: match generation {
            Cdna1 | Cdna2 => FlatScratch::Registers,
            Rdna1 | Rdna2 => FlatScratch::Hardware,
            _ => FlatScratch::Architected,
        },
        signed_offsets: matches!(generation, Cdna5),
        flushes: matches!(generation, Cdna1 | Cdna2 | Rdna3 | Rdna3_5),
        shared_scratch: matches!(generation, Cdna5),
    }
}

/// Decodes the fields of one instruction.
struct Fields<'a> {
    inst: &'a Inst,
    op: Op,
}

impl Fields<'_> {
    fn fault<T>(&self) -> Result<T, ExecError> {
        Err(ExecError::Operand(self.op))
    }

    fn get(&self, field: Field) -> u32 {
        self.inst.field(field).unwrap_or(0)
    }

    fn has(&self, field: Field) -> bool {
        self.inst.field(field).is_some_and(|bits| bits != 0)
    }

    /// Consecutive vector registers. Data may be accumulation registers.
    fn vector(&self, field: Field, count: usize, data: bool) -> Result<u16, ExecError> {
        let first = self.get(field) as usize;
        if first + count > VGPRS {
            return self.fault();
        }
        let file = if data && self.has(Field::ACC) { VGPRS } else { 0 };
        Ok((file + first) as u16)
    }

    /// Consecutive scalar registers by the number that a field has for them.
    fn scalar_at(&self, number: u32, count: usize) -> Result<u8, ExecError> {
        let slot = u8::try_from(number).ok().and_then(|number| scalar_number(self.inst, number));
        match slot {
            Some(first) if usize::from(first) + count <= slot::COUNT => Ok(first),
            _ => self.fault(),
        }
    }

    fn is_null(&self, number: u32) -> bool {
        matches!(self.inst.tables().sources[number as usize & 0xff], Source::Special(Special::Null))
    }

    /// A scalar that is added to an address.
    fn addend(&self, field: Field) -> Result<Scalar, ExecError> {
        let number = self.get(field) as usize & 0xff;
        Ok(match self.inst.tables().sources[number] {
            Source::Special(Special::Null) => Scalar::None,
            Source::Int(value) => Scalar::Constant(i32::from(value) as u32),
            Source::Special(special) => match special_slot(special) {
                Some(slot) => Scalar::Register(slot),
                None => return self.fault(),
            },
            _ => Scalar::Register(self.scalar_at(number as u32, 1)?),
        })
    }

    /// The offset field as a signed number.
    fn signed_offset(&self) -> i64 {
        let bits = self.offset_bits();
        let value = u64::from(self.get(Field::OFFSET));
        (value << (64 - bits)) as i64 >> (64 - bits)
    }

    fn offset_bits(&self) -> u32 {
        let fields = self.inst.encoding_info().layout().fields;
        let ranges = fields.iter().filter(|f| f.field == Field::OFFSET).flat_map(|f| f.ranges);
        ranges.map(|&(_, count)| u32::from(count)).sum::<u32>().clamp(1, 32)
    }

    /// Scale of an offset where the instruction asks for it.
    fn scale(&self, bytes: u32) -> u32 {
        if self.has(Field::SCALE_OFFSET) { bytes } else { 1 }
    }

    /// The scalar base of a global address, or the scalar offset of a scratch address: none where the field is off.
    fn saddr(&self, count: usize) -> Result<Option<u8>, ExecError> {
        use Generation::{Cdna1, Cdna2, Cdna3, Cdna4, Rdna1, Rdna2};
        let number = self.get(Field::SADDR);
        let old = matches!(self.inst.generation(), Cdna1 | Cdna2 | Cdna3 | Cdna4 | Rdna1 | Rdna2);
        if self.is_null(number) || (old && number == 0x7f) || self.inst.field(Field::SADDR).is_none() {
            return Ok(None);
        }
        self.scalar_at(number, count).map(Some)
    }

    fn scalar_address(&self, bytes: u32, descriptor: bool) -> Result<Address, ExecError> {
        use Generation::{Cdna1, Cdna2, Cdna3, Cdna4};
        let count = if descriptor { 4 } else { 2 };
        // The lowest bit of the number is not in the field.
        let base = self.scalar_at(self.get(Field::SBASE) << 1, count)?;
        let old = matches!(self.inst.generation(), Cdna1 | Cdna2 | Cdna3 | Cdna4);
        let (offset, register) = if !old {
            (self.signed_offset(), self.addend(Field::SOFFSET)?)
        } else {
            let register = |on: bool, number: u32| -> Result<Scalar, ExecError> {
                Ok(if on { Scalar::Register(self.scalar_at(number, 1)?) } else { Scalar::None })
            };
            match (self.has(Field::IMM), self.has(Field::SOFFSET_EN)) {
                (false, false) => (0, register(true, self.get(Field::OFFSET) & 0x7f)?),
                (immediate, soffset) => {
                    let offset = if immediate { self.signed_offset() } else { 0 };
                    (offset, register(soffset, self.get(Field::SOFFSET))?)
                }
            }
        };
        Ok(Address::Scalar { base, offset, register, scale: self.scale(bytes) })
    }

    fn flat_address(&self, mem: &Mem, bytes: u32) -> Result<Address, ExecError> {
        use Generation::{Cdna5, Rdna4};
        let generation = self.inst.generation();
        let signed = mem.unit != Unit::Flat || matches!(generation, Rdna4 | Cdna5);
        let offset = if signed {
            self.signed_offset()
        } else {
            // Twelve bits, or one fewer than the field has.
            let bits = self.offset_bits();
            let unsigned = if bits == 12 && generation.wave_sizes()[0] == 64 { 12 } else { bits - 1 };
            i64::from(self.get(Field::OFFSET) & ((1 << unsigned) - 1))
        };
        let base = if mem.unit == Unit::Flat && generation != Cdna5 { None } else { self.saddr(2)? };
        Ok(match (mem.place, base) {
            (Place::ByLane, Some(base)) => Address::Lanes { base, offset },
            (Place::ByLane, None) => return self.fault(),
            (_, Some(base)) => Address::Based {
                base,
                register: self.vector(Field::VADDR, 1, false)?,
                offset,
                signed: reach(generation).signed_offsets,
                scale: self.scale(bytes),
            },
            (_, None) => Address::Vector { register: self.vector(Field::VADDR, 2, false)?, offset },
        })
    }

    fn scratch_address(&self, bytes: u32) -> Result<Address, ExecError> {
        use Generation::{Cdna1, Cdna2, Rdna1, Rdna2};
        let scalar = self.saddr(1)?;
        let vector = match self.inst.generation() {
            Cdna1 | Cdna2 | Rdna1 => scalar.is_none(),
            // No scalar and the last number: no register at all.
            Rdna2 => scalar.is_none() && self.get(Field::SADDR) != 0x7f,
            _ => self.has(Field::SVE),
        };
        let register = if vector { Some(self.vector(Field::VADDR, 1, false)?) } else { None };
        Ok(Address::Scratch { register, scalar, offset: self.signed_offset() as u32, scale: self.scale(bytes) })
    }

    fn buffer_address(&self) -> Result<Address, ExecError> {
        let Some(Operand::Registers(Registers { file, first, .. })) = self.inst.operand(Field::RSRC) else {
            return self.fault();
        };
        let descriptor = match file {
            RegFile::Sgpr => first,
            RegFile::Ttmp => u16::from(slot::TTMP) + first,
            _ => return self.fault(),
        };
        if usize::from(descriptor) + 4 > slot::COUNT {
            return self.fault();
        }
        let (indexed, offset) = (self.has(Field::IDXEN), self.has(Field::OFFEN));
        let first = self.vector(Field::VADDR, usize::from(indexed) + usize::from(offset), false)?;
        let immediate = match self.offset_bits() {
            24 => self.signed_offset(),
            _ => self.get(Field::OFFSET).into(),
        };
        Ok(Address::Buffer {
            descriptor: descriptor as u8,
            index: indexed.then_some(first),
            offset: offset.then_some(first + u16::from(indexed)),
            immediate,
            scalar: self.addend(Field::SOFFSET)?,
        })
    }

    fn ds_address(&self, mem: &Mem, bytes: u32) -> Result<Address, ExecError> {
        let (low, high) = (self.get(Field::OFFSET0) & 0xff, self.get(Field::OFFSET1) & 0xff);
        let offsets = match mem.place {
            Place::Pair { stride } => [low, high].map(|offset| offset * bytes * u32::from(stride)),
            _ => [high << 8 | low; 2],
        };
        let register = match mem.action {
            Action::Append | Action::Consume => 0,
            _ if mem.place == Place::ByLane => 0,
            _ => self.vector(Field::VADDR, 1, false)?,
        };
        Ok(Address::Ds { register, offsets })
    }
}

/// Bytes that a lane (or the wave, for scalar memory) transfers at one place.
fn bytes(action: &Action) -> u32 {
    match action {
        Action::Load(size, _) | Action::Store(size, _) | Action::ToLds(size) | Action::FromLds(size) => size.bytes(),
        Action::Atomic(atomic, _) => 4 * atomic.dwords() as u32,
        _ => 4,
    }
}

impl Access {
    pub(crate) fn new(inst: &Inst, mem: &Mem) -> Result<Access, ExecError> {
        let fields = Fields { inst, op: inst.op() };
        let bytes = bytes(&mem.action);
        let mut access = Access {
            unit: mem.unit,
            action: mem.action,
            place: mem.place,
            address: Address::None,
            data: [0; 2],
            dst: None,
            format: 0,
            tfe: None,
            lds: None,
        };
        if matches!(mem.action, Action::Nothing) {
            return Ok(access);
        }
        if fields.has(Field::GDS) || (mem.unit == Unit::Flat && fields.has(Field::LDS)) {
            return Err(ExecError::Unimplemented(inst.op()));
        }
        // A bit of the older encodings sends what is loaded to the local data share.
        let mem = &match mem.action {
            Action::Load(size, Part::Whole) if fields.has(Field::LDS) => Mem { action: Action::ToLds(size), ..*mem },
            _ => *mem,
        };
        access.action = mem.action;
        access.registers(&fields, mem)?;
        access.address = match mem.unit {
            Unit::Scalar | Unit::ScalarScratch | Unit::ScalarBuffer
                if matches!(mem.action, Action::Clock | Action::WaveNumber) =>
            {
                Address::None
            }
            Unit::Scalar | Unit::ScalarScratch => fields.scalar_address(bytes, false)?,
            Unit::ScalarBuffer => fields.scalar_address(bytes, true)?,
            Unit::Ds => fields.ds_address(mem, bytes)?,
            Unit::Flat | Unit::Global => fields.flat_address(mem, bytes)?,
            Unit::Scratch => fields.scratch_address(bytes)?,
            Unit::Buffer | Unit::TypedBuffer => {
                access.format = match inst.field(Field::FORMAT) {
                    Some(format) => format,
                    None => fields.get(Field::NFMT) << 4 | fields.get(Field::DFMT),
                };
                if fields.has(Field::TFE)
                    && let Some(dst) = access.dst
                {
                    access.tfe = Some(dst + mem.action.dwords() as u16).filter(|dst| usize::from(*dst) % VGPRS != 0);
                }
                fields.buffer_address()?
            }
        };
        Ok(access)
    }

    /// Registers of data and result.
    fn registers(&mut self, fields: &Fields, mem: &Mem) -> Result<(), ExecError> {
        let pair = matches!(mem.place, Place::Pair { .. });
        let times = if pair { 2 } else { 1 };
        if matches!(mem.unit, Unit::Scalar | Unit::ScalarBuffer | Unit::ScalarScratch) {
            let count = bytes(&mem.action).div_ceil(4) as usize;
            let number = fields.get(Field::SDATA);
            match mem.action {
                Action::Load(..) | Action::Clock | Action::WaveNumber => {
                    let count = if matches!(mem.action, Action::Clock) { 2 } else { count };
                    if !fields.is_null(number) {
                        self.dst = Some(fields.scalar_at(number, count)?.into());
                    }
                }
                Action::Store(..) => self.data[0] = fields.scalar_at(number, count)?.into(),
                Action::Atomic(..) => {
                    // A comparison's data is two values.
                    let first = fields.scalar_at(number, 2 * count).or_else(|_| fields.scalar_at(number, count))?;
                    self.data = [first.into(), u16::from(first) + count as u16];
                    if fields.has(Field::GLC) || fields.has(Field::SC0) {
                        self.dst = Some(first.into());
                    }
                }
                _ => return fields.fault(),
            }
            return Ok(());
        }
        let ds = mem.unit == Unit::Ds;
        let buffer = matches!(mem.unit, Unit::Buffer | Unit::TypedBuffer);
        let result = if buffer { Field::VDATA } else { Field::VDST };
        let source = if ds {
            Field::DATA0
        } else if buffer {
            Field::VDATA
        } else if fields.inst.field(Field::VSRC).is_some() {
            Field::VSRC
        } else {
            Field::DATA
        };
        match mem.action {
            // Waves of 64 lanes get half as many registers, in an order that nobody has published.
            Action::Load(_, Part::Transposed(_)) if !ds && fields.inst.wave_size() == 64 => {
                return Err(ExecError::Unimplemented(fields.inst.op()));
            }
            Action::Load(size, _) => {
                self.dst = Some(fields.vector(result, times * size.dwords(), true)?);
            }
            Action::Store(size, _) => {
                self.data[0] = fields.vector(source, size.dwords(), true)?;
                if pair {
                    self.data[1] = fields.vector(Field::DATA1, size.dwords(), true)?;
                }
            }
            Action::LoadFormat { .. } => {
                self.dst = Some(fields.vector(result, mem.action.dwords(), true)?);
            }
            Action::StoreFormat { .. } => self.data[0] = fields.vector(source, mem.action.dwords(), true)?,
            Action::LoadBlock => self.dst = Some(fields.vector(Field::VDST, 1, true)?),
            Action::StoreBlock => self.data[0] = fields.vector(source, 1, true)?,
            Action::FromLds(_) | Action::ToLds(_) => {
                let register = if fields.inst.generation() == Generation::Cdna5 {
                    let field = if matches!(mem.action, Action::ToLds(_)) { Field::VDST } else { source };
                    Some(fields.vector(field, 1, false)?)
                } else {
                    None
                };
                let offset = if buffer { fields.get(Field::OFFSET) } else { fields.signed_offset() as u32 };
                self.lds = Some(LdsPlace { register, offset });
            }
            Action::Atomic(atomic, returns) => {
                let dwords = atomic.dwords();
                let returns = match returns {
                    Returns::Always => true,
                    Returns::Never => false,
                    Returns::Bit => fields.has(Field::GLC) || fields.has(Field::SC0) || fields.get(Field::TH) & 1 != 0,
                };
                if returns {
                    self.dst = Some(fields.vector(result, times * dwords, true)?);
                }
                self.data[0] = fields.vector(source, dwords, true)?;
                if ds {
                    self.data[1] = fields.vector(Field::DATA1, dwords, true)?;
                } else {
                    // The second piece is behind the first; operations of one piece do not look at it.
                    let behind = fields.vector(source, 2 * dwords, true);
                    self.data[1] = behind.map_or(self.data[0], |first| first + dwords as u16);
                }
            }
            Action::Append | Action::Consume => self.dst = Some(fields.vector(Field::VDST, 1, true)?),
            Action::Swizzle => self.dst = Some(fields.vector(Field::VDST, 1, true)?),
            Action::Permute | Action::BackwardPermute { .. } => {
                self.dst = Some(fields.vector(Field::VDST, 1, true)?);
                self.data[0] = fields.vector(Field::DATA0, 1, true)?;
            }
            Action::Nothing | Action::Clock | Action::WaveNumber => {}
        }
        Ok(())
    }

    /// Whether each lane does its own.
    pub(crate) fn is_vector(&self) -> bool {
        !matches!(self.unit, Unit::Scalar | Unit::ScalarBuffer | Unit::ScalarScratch)
    }

    /// The same with other vector registers: moved by the destination's number, then by the sources'.
    pub(crate) fn moved(&self, by: [u16; 4]) -> Access {
        let mut moved = self.clone();
        let [dst, address, first, second] = match self.unit {
            _ if !self.is_vector() => return moved,
            Unit::Ds => by,
            Unit::Flat | Unit::Global | Unit::Scratch => [by[0], by[1], by[2], by[2]],
            _ => [by[0], by[1], by[0], by[0]],
        };
        moved.data = [self.data[0] + first, self.data[1] + second];
        moved.dst = self.dst.map(|register| register + dst);
        if let Some(LdsPlace { register: Some(register), .. }) = &mut moved.lds {
            *register += if matches!(self.action, Action::ToLds(_)) { dst } else { first };
        }
        match &mut moved.address {
            Address::Ds { register, .. } | Address::Vector { register, .. } | Address::Based { register, .. } => {
                *register += address;
            }
            Address::Scratch { register: Some(register), .. } => *register += address,
            Address::Buffer { index, offset, .. } => {
                for register in [index, offset].into_iter().flatten() {
                    *register += address;
                }
            }
            Address::None | Address::Scalar { .. } | Address::Lanes { .. } | Address::Scratch { .. } => {}
        }
        moved
    }

    /// Executes it.
    pub(crate) fn run(&self, wave: &mut Wave, env: &mut Env) -> Result<(), ExecError> {
        match self.unit {
            _ if matches!(self.action, Action::Nothing) => Ok(()),
            _ if matches!(self.action, Action::Load(_, Part::Transposed(_))) => self.run_transposed(wave, env),
            Unit::Scalar | Unit::ScalarBuffer | Unit::ScalarScratch => self.run_scalar(wave, env),
            Unit::Ds => self.run_ds(wave, env),
            Unit::Buffer | Unit::TypedBuffer => self.run_buffer(wave, env),
            _ => self.run_vector(wave, env),
        }
    }
}

/// Rows of a file from a register on.
pub(super) fn rows(file: &[Vector], first: u16, count: usize) -> &[Vector] {
    let first = usize::from(first);
    file.get(first..first + count).unwrap_or(&[])
}

/// Rows of a file from a register on, to be written.
pub(super) fn rows_mut(file: &mut [Vector], first: u16, count: usize) -> &mut [Vector] {
    let first = usize::from(first);
    file.get_mut(first..first + count).unwrap_or(&mut [])
}
