//! Matches operands with a row's slots and builds the words.

use super::constant::{self, Constant, Given};
use super::error::{ErrorKind, Fault};
use super::expr::Symbols;
use super::index::{Base, Index};
use super::lex::Cursor;
use super::parse::{Arg, HalfName, Line, Marker, ModValue, Reg, Value, ids, range};
use super::rules::Bus;
use super::special::Reader;
use crate::Generation;
use crate::operand::RegFile;
use crate::syntax::{Family, Half, Mods, Slot, SlotKind, Value as Type};
use crate::table::{Form, Row, Special, Tables};

/// Why a row does not take a line.
#[derive(Debug, Clone)]
pub(crate) enum Why {
    /// Number of the operand and what it may be.
    Operand(u8, &'static str),
    Count(u8),
    /// Number of the modifier.
    Modifier(u8, &'static str),
    Rule(&'static str),
    Fault(Fault),
}

pub(crate) type Result<T> = core::result::Result<T, Why>;

impl From<Fault> for Why {
    fn from(fault: Fault) -> Why {
        Why::Fault(fault)
    }
}

/// A symbol whose value goes into the words later.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Pending {
    /// Place of the symbol in the line.
    pub(crate) at: u32,
    pub(crate) end: u32,
    /// A branch offset in the first dword; a literal otherwise.
    pub(crate) branch: bool,
}

/// What does not change from line to line.
#[derive(Clone, Copy)]
pub(crate) struct Context<'a> {
    pub(crate) generation: Generation,
    pub(crate) tables: &'static Tables,
    pub(crate) index: &'static Index,
    pub(crate) wave64: bool,
    pub(crate) symbols: &'a dyn Symbols,
    pub(crate) text: &'a [u8],
}

impl Context<'_> {
    pub(crate) fn gfx9(&self) -> bool {
        matches!(self.generation, Generation::Cdna1 | Generation::Cdna2 | Generation::Cdna3 | Generation::Cdna4)
    }

    pub(crate) fn gfx12_plus(&self) -> bool {
        matches!(self.generation, Generation::Rdna4 | Generation::Cdna5)
    }

    pub(crate) fn gfx11_plus(&self) -> bool {
        self.gfx12_plus() || matches!(self.generation, Generation::Rdna3 | Generation::Rdna3_5)
    }

    /// Whether tuples of vector registers begin at even ones: CDNA 2 and later.
    pub(crate) fn even_tuples(&self) -> bool {
        matches!(self.generation, Generation::Cdna2 | Generation::Cdna3 | Generation::Cdna4 | Generation::Cdna5)
    }

    /// The scalar register that stands for none.
    pub(crate) fn off(&self) -> u32 {
        match self.generation {
            _ if self.gfx9() => 0x7f,
            _ if self.gfx11_plus() => 0x7c,
            _ => 0x7d,
        }
    }
}

/// Builds the words of one row.
pub(crate) struct Encoder<'a> {
    pub(crate) cx: Context<'a>,
    pub(crate) line: &'a Line,
    pub(crate) row: Row,
    pub(crate) form: Form,
    pub(crate) family: Family,
    pub(crate) word: u128,
    pub(crate) dwords: usize,
    /// The dword of a DPP or SDWA form.
    pub(crate) variant: u32,
    pub(crate) literal: Option<(u64, bool)>,
    /// Further address registers.
    pub(super) nsa: [u8; 12],
    pub(super) nsa_dwords: usize,
    /// Modifiers that have been used.
    pub(crate) used: u128,
    pub(crate) pending: Option<Pending>,
    /// Number of an operand, and why it is likely not what was meant.
    pub(crate) doubt: Option<(u8, &'static str)>,
    /// The scalar address was left out.
    no_saddr: bool,
    pub(crate) bus: Bus,
    pub(super) image_data: Option<(u8, Slot)>,
    seen_source: bool,
    /// Vector registers of sources 0 to 2 and of the destination: the first and how many.
    pub(crate) vectors: [Option<(u16, u8)>; 4],
}

/// [`Slot::dwords`] of lane masks.
const MASK: u32 = 62;

impl<'a> Encoder<'a> {
    pub(crate) fn new(cx: Context<'a>, line: &'a Line, row: Row, base: &Base, form: Form) -> Encoder<'a> {
        Encoder {
            cx,
            line,
            row,
            form,
            family: row.syntax().family,
            word: base.word,
            dwords: row.dwords(),
            variant: 0,
            literal: None,
            nsa: [0; 12],
            nsa_dwords: 0,
            used: 0,
            pending: None,
            doubt: None,
            no_saddr: false,
            bus: Bus::default(),
            image_data: None,
            seen_source: false,
            vectors: [None; 4],
        }
    }

    #[inline]
    pub(crate) fn set(&mut self, offset: u32, count: u32, value: u32) {
        let mask = if count >= 32 { u32::MAX } else { (1 << count) - 1 };
        self.word |= u128::from(value & mask) << offset;
    }

    #[inline]
    pub(crate) fn bit(&self, offset: u32) -> bool {
        self.word >> offset & 1 != 0
    }

    /// Appends the bytes.
    pub(crate) fn write(&self, out: &mut std::vec::Vec<u8>) {
        out.extend_from_slice(&self.word.to_le_bytes()[..self.dwords * 4]);
        if self.nsa_dwords != 0 {
            out.extend_from_slice(&self.nsa[..self.nsa_dwords * 4]);
        }
        match self.form {
            Form::Dpp16 | Form::Dpp8 | Form::Sdwa => out.extend_from_slice(&self.variant.to_le_bytes()),
            _ => match self.literal {
                None => {}
                Some((value, true)) => out.extend_from_slice(&value.to_le_bytes()),
                Some((value, false)) => out.extend_from_slice(&(value as u32).to_le_bytes()),
            },
        }
    }

    /// Reads all operands and modifiers.
    pub(crate) fn run(&mut self) -> Result<()> {
        self.operands()?;
        self.modifiers()?;
        match self.form {
            Form::Dpp16 => self.dpp16()?,
            Form::Dpp8 => self.dpp8()?,
            Form::Sdwa => self.sdwa()?,
            _ => {}
        }
        self.finish()
    }

    pub(crate) fn operands(&mut self) -> Result<()> {
        let slots = self.row.syntax().slots();
        let found = self.line.args().len();
        let count = slots.iter().filter(|slot| slot.kind() != SlotKind::Nothing).count();
        let mut missing = count.checked_sub(found).ok_or(Why::Count(count as u8))?;
        // FLAT instructions may leave out the scalar address.
        let no_saddr =
            missing > 0 && slots.iter().any(|s| s.kind() == SlotKind::Saddr && s.extra() != 0) && !self.has_scalar();
        missing -= usize::from(no_saddr);
        self.no_saddr = no_saddr;
        let mut at = 0;
        for &slot in slots {
            if slot.kind() == SlotKind::Saddr && no_saddr {
                self.set(slot.offset(), slot.count(), self.cx.off());
                continue;
            }
            if slot.kind() == SlotKind::Nothing {
                continue;
            }
            if missing > 0 && self.is_left_out(slot, at) {
                missing -= 1;
                continue;
            }
            if at >= found {
                return Err(Why::Count(count as u8));
            }
            self.slot(slot, at as u8)?;
            at += 1;
        }
        if at == found { Ok(()) } else { Err(Why::Count(count as u8)) }
    }

    /// Whether an operand is a scalar register or `off`.
    fn has_scalar(&self) -> bool {
        self.line.args().iter().any(|arg| match arg.value {
            Value::Off | Value::Special(..) => true,
            Value::Reg(reg) => matches!(reg.file, RegFile::Sgpr | RegFile::Ttmp),
            _ => false,
        })
    }

    /// Whether a slot stays empty, where there are fewer operands than slots; `at`: the operand whose turn it is.
    fn is_left_out(&mut self, slot: Slot, at: usize) -> bool {
        let lds = matches!(self.line.modifier(ids::LDS).map(|m| m.value), Some(ModValue::Flag(true)));
        match slot.kind() {
            SlotKind::Endpgm => true,
            SlotKind::BufferData => slot.returns() != 0 && lds,
            SlotKind::Vgpr if slot.returns() != 0 => true,
            SlotKind::Vgpr => slot.extra() != 0 && lds && self.family == Family::Plain,
            SlotKind::VopcDst => true,
            SlotKind::Vcc => {
                !self.line.args().get(at).is_some_and(|arg| matches!(arg.value, Value::Special(Special::VccLo, _)))
            }
            SlotKind::SmemOffset => {
                if self.cx.gfx9() {
                    self.set(slot.extra(), 1, 1);
                } else {
                    self.set(slot.offset(), slot.count(), self.cx.off());
                }
                true
            }
            SlotKind::TensorGroup => {
                self.set(slot.offset(), slot.count(), self.cx.off());
                true
            }
            _ => false,
        }
    }

    pub(super) fn arg(&self, number: u8) -> &'a Arg {
        &self.line.args()[usize::from(number)]
    }

    pub(super) fn dwords_of(&self, slot: Slot) -> u32 {
        match slot.dwords() {
            MASK => {
                if self.cx.wave64 {
                    2
                } else {
                    1
                }
            }
            count => count,
        }
    }

    fn reader(&self, arg: &Arg) -> Reader<'a, 'a> {
        let mut cursor = Cursor::new(&self.cx.text[..arg.end as usize]);
        cursor.at = arg.at as usize;
        Reader { generation: self.cx.generation, symbols: self.cx.symbols, cursor }
    }

    fn slot(&mut self, slot: Slot, number: u8) -> Result<()> {
        let arg = self.arg(number);
        let (offset, count) = (slot.offset(), slot.count());
        let value = match slot.kind() {
            SlotKind::Vgpr | SlotKind::Src | SlotKind::LaneSel | SlotKind::MatrixSrc | SlotKind::TensorGroup => {
                return self.source(slot, number);
            }
            SlotKind::Vcc => {
                // After sources it is one.
                if self.seen_source {
                    self.bus.add(106);
                }
                return self.vcc(arg, number);
            }
            SlotKind::VopcDst => return self.compare_destination(arg, number),
            SlotKind::Literal => return self.constant_slot(slot, arg, number),
            SlotKind::Hex | SlotKind::Inline | SlotKind::Endpgm => self.immediate(arg, count, number)?,
            SlotKind::Label => match arg.value {
                Value::Text => {
                    self.pending = Some(Pending { at: arg.at, end: arg.end, branch: true });
                    0
                }
                _ => self.immediate(arg, count, number)?,
            },
            SlotKind::HwReg
            | SlotKind::SendMsg
            | SlotKind::SendMsgRtn
            | SlotKind::WaitCnt
            | SlotKind::Depctr
            | SlotKind::DelayAlu
            | SlotKind::Version
            | SlotKind::GprIdx
                if matches!(arg.value, Value::Int(_)) =>
            {
                self.immediate(arg, 16, number)?
            }
            SlotKind::ExpTarget if matches!(arg.value, Value::Int(_)) => self.immediate(arg, count, number)?,
            SlotKind::HwReg => self.reader(arg).hardware_register()?,
            SlotKind::SendMsg | SlotKind::SendMsgRtn => self.reader(arg).message()?,
            SlotKind::WaitCnt => self.reader(arg).wait_counters()?,
            SlotKind::Depctr => self.reader(arg).dependency_counters()?,
            SlotKind::DelayAlu => self.reader(arg).delay()?,
            SlotKind::Version => self.reader(arg).version()?,
            SlotKind::GprIdx => self.reader(arg).gpr_index_modes()?,
            SlotKind::Attr => {
                let (attribute, channel) = self.reader(arg).attribute()?;
                self.attribute(slot, attribute, channel);
                return Ok(());
            }
            SlotKind::Param => match &self.cx.text[arg.at as usize..arg.end as usize] {
                b"p10" => 0,
                b"p20" => 1,
                b"p0" => 2,
                _ => self.immediate(arg, count, number).map_err(|_| Why::Operand(number, "`p10`, `p20` or `p0`"))?,
            },
            SlotKind::ExpTarget => match arg.value {
                Value::Special(Special::Null, _) if !self.cx.gfx11_plus() => 9,
                _ => self.reader(arg).export_target()?,
            },
            SlotKind::ExpSrc => return self.export_source(slot, arg, number),
            SlotKind::Saddr => match arg.value {
                // RDNA 1 and 2 have another value for no address at all.
                Value::Off if !self.cx.gfx9() && !self.cx.gfx11_plus() && self.no_vector_address() => 0x7f,
                Value::Off => self.cx.off(),
                _ => return self.source(slot, number),
            },
            SlotKind::GlobalAddr => {
                let reg = self.vgpr(arg, number)?;
                u32::from(reg.first)
            }
            SlotKind::ScratchAddr => match arg.value {
                Value::Off => 0,
                _ => {
                    let reg = self.vgpr(arg, number)?;
                    if slot.extra() != 0 {
                        self.set(slot.extra(), 1, 1);
                    }
                    u32::from(reg.first)
                }
            },
            SlotKind::BufferAddr => match arg.value {
                Value::Off => 0,
                _ => u32::from(self.vgpr(arg, number)?.first),
            },
            SlotKind::BufferData => {
                let reg = self.vector(slot, arg, number)?;
                u32::from(reg.first)
            }
            SlotKind::SmemOffset => return self.scalar_offset(slot, arg, number),
            SlotKind::SignedHex => self.immediate(arg, count, number)?,
            SlotKind::ImageData => {
                let reg = self.vector(slot, arg, number)?;
                self.image_data = Some((reg.count, slot));
                u32::from(reg.first)
            }
            SlotKind::ImageAddr => return self.image_address(slot, arg, number),
            SlotKind::DualDst => {
                let reg = self.vgpr(arg, number)?;
                let other = (self.word >> slot.extra()) as u32 & 1;
                if u32::from(reg.first) & 1 == other {
                    return Err(Why::Rule("the destinations of X and Y must be one even and one odd register"));
                }
                u32::from(reg.first >> 1)
            }
            #[allow(unreachable_patterns)] // Kinds may be added.
            _ => return Err(Why::Operand(number, "something else")),
        };
        self.set(offset, count, value);
        Ok(())
    }

    /// A number of so many bits, signed or not.
    pub(super) fn immediate(&self, arg: &Arg, count: u32, number: u8) -> Result<u32> {
        let bits = count.clamp(1, 32);
        match arg.value {
            Value::Int(value) if value >= -(1i64 << (bits - 1)) && value < 1i64 << bits => Ok(value as u32),
            Value::Float(value) if bits == 16 && value == 0.0 => Ok(0),
            _ => Err(Why::Operand(number, "a number that fits its field")),
        }
    }

    /// A VGPR, whole.
    pub(super) fn vgpr(&self, arg: &Arg, number: u8) -> Result<Reg> {
        const EXPECTED: &str = "a vector register";
        let reg = match arg.value {
            Value::Reg(reg) => reg,
            Value::List(first, count) => range(self.line.list(first, count)).ok_or(Why::Operand(number, EXPECTED))?,
            _ => return Err(Why::Operand(number, EXPECTED)),
        };
        if reg.file != RegFile::Vgpr || arg.has_modifiers() || reg.half != HalfName::Whole {
            return Err(Why::Operand(number, EXPECTED));
        }
        self.in_file(reg, number)
    }

    /// A VGPR or, where the slot has a bit for it, an AGPR.
    pub(super) fn vector(&mut self, slot: Slot, arg: &Arg, number: u8) -> Result<Reg> {
        let reg = match arg.value {
            Value::Reg(reg) => reg,
            Value::List(first, count) => {
                range(self.line.list(first, count)).ok_or(Why::Operand(number, "a vector register"))?
            }
            _ => return Err(Why::Operand(number, "a vector register")),
        };
        if arg.has_modifiers() {
            return Err(Why::Operand(number, "a vector register without a modifier"));
        }
        self.file(slot, reg, number)?;
        self.in_file(reg, number)
    }

    pub(super) fn in_file(&self, reg: Reg, number: u8) -> Result<Reg> {
        // Transposing loads of 6-bit data begin anywhere.
        let odd = || ["_B96_TR_B6", "_TR6_B96"].iter().any(|part| self.row.op().name().ends_with(part));
        if reg.count > 1 && !reg.first.is_multiple_of(2) && self.cx.even_tuples() && !odd() {
            return Err(Why::Operand(number, "a tuple of registers that begins at an even one"));
        }
        // Of CDNA 5's 1,024 registers a tuple may reach beyond those that have names.
        let beyond = if self.cx.generation == Generation::Cdna5 { u32::from(reg.count) - 1 } else { 0 };
        let last = u32::from(reg.first) + u32::from(reg.count);
        if last > 256 + beyond { Err(Why::Operand(number, "a register below v256")) } else { Ok(reg) }
    }

    /// Checks the file of a vector register and sets the bit that says which it is.
    fn file(&mut self, slot: Slot, reg: Reg, number: u8) -> Result<()> {
        match (reg.file, slot.acc()) {
            (RegFile::Vgpr, 255) => Err(Why::Operand(number, "an accumulation register")),
            (RegFile::Vgpr, _) | (RegFile::Agpr, 255) => Ok(()),
            (RegFile::Agpr, 0 | 254) => Err(Why::Operand(number, "a vector register, not an accumulation register")),
            (RegFile::Agpr, bit) => {
                self.set(bit, 1, 1);
                Ok(())
            }
            _ => Err(Why::Operand(number, "a vector register")),
        }
    }

    fn vcc(&mut self, arg: &Arg, number: u8) -> Result<()> {
        let dwords = if self.cx.wave64 { 2 } else { 1 };
        match arg.value {
            Value::Special(Special::VccLo, count) if count == dwords && !arg.has_modifiers() => Ok(()),
            _ => Err(Why::Operand(number, if self.cx.wave64 { "`vcc`" } else { "`vcc_lo`" })),
        }
    }

    fn compare_destination(&mut self, arg: &Arg, number: u8) -> Result<()> {
        if self.form != Form::Sdwa || self.vcc(arg, number).is_ok() {
            return self.vcc(arg, number);
        }
        let dwords = if self.cx.wave64 { 2 } else { 1 };
        let value = self.scalar_register(arg, dwords).ok_or(Why::Operand(number, "a scalar register"))?;
        self.variant |= 1 << 15 | (value & 0x7f) << 8;
        Ok(())
    }

    /// The source value of a scalar register of so many dwords.
    pub(super) fn scalar_register(&self, arg: &Arg, dwords: u32) -> Option<u32> {
        match arg.value {
            Value::Reg(reg) => self.scalar_of(reg, dwords),
            Value::List(first, count) => self.scalar_of(range(self.line.list(first, count))?, dwords),
            Value::Special(special, count) if count == 0 || u32::from(count) == dwords => {
                self.cx.index.special(special).map(u32::from)
            }
            _ => None,
        }
    }

    fn scalar_of(&self, reg: Reg, dwords: u32) -> Option<u32> {
        let count = u32::from(reg.count);
        let first = u32::from(reg.first);
        let aligned = match count {
            1 => true,
            2 => first % 2 == 0,
            _ => first % 4 == 0,
        };
        if count != dwords || !aligned || reg.half != HalfName::Whole {
            return None;
        }
        match reg.file {
            RegFile::Sgpr if first + count <= if self.cx.gfx9() { 102 } else { 106 } => Some(first),
            RegFile::Ttmp if first + count <= 16 => Some(u32::from(self.cx.index.ttmp) + first),
            _ => None,
        }
    }

    /// A register, constant or literal.
    pub(super) fn source(&mut self, slot: Slot, number: u8) -> Result<()> {
        let arg = self.arg(number);
        let dwords = match slot.acc() {
            254 if self.cx.wave64 => (self.dwords_of(slot) / 2).max(1),
            _ => self.dwords_of(slot),
        };
        let reg = match arg.value {
            Value::Reg(reg) => Some(reg),
            Value::List(first, count) => range(self.line.list(first, count)),
            _ => None,
        };
        self.seen_source |= slot.source() < 3;
        if let Some(reg) = reg.filter(|reg| matches!(reg.file, RegFile::Vgpr | RegFile::Agpr)) {
            // The constant of FMAMK takes the place of source 1.
            let source = if self.literal_before(slot) { 2 } else { slot.source().min(3) as usize };
            if let Some(place) = self.vectors.get_mut(source) {
                *place = Some((reg.first, reg.count));
            }
            self.source_modifiers(slot, arg, number)?;
            return self.vector_source(slot, reg, number, dwords);
        }
        let number_given = match arg.value {
            Value::Int(value) => Some(Given::Int(value)),
            Value::Float(value) => Some(Given::Float(value)),
            _ => None,
        };
        let sdwa = self.form == Form::Sdwa && slot.source() < 2;
        let dpp0 = matches!(self.form, Form::Dpp16 | Form::Dpp8) && slot.source() == 0;
        // Interpolation takes vector registers alone.
        let interpolates = self.family == Family::Vop3
            && slot.source() < 3
            && self.row.syntax().slots().iter().any(|s| s.kind() == SlotKind::Attr);
        if slot.kind() == SlotKind::Vgpr && !sdwa || dpp0 || interpolates {
            return Err(Why::Operand(number, "a vector register"));
        }
        let raw = if let Some(given) = number_given {
            let given = self.folded(slot, arg, given, number)?;
            self.constant(slot, given, arg.lit, number)?
        } else if arg.value == Value::Text {
            let literal = self.takes_literal(slot) && !arg.has_modifiers();
            if !literal {
                return Err(Why::Operand(number, self.expected(slot)));
            }
            self.pending = Some(Pending { at: arg.at, end: arg.end, branch: false });
            self.literal_word(0, false)?
        } else {
            self.source_modifiers(slot, arg, number)?;
            if self.cx.gfx11_plus()
                && slot.source() > 3
                && slot.count() == 7
                && self.row.op().name().starts_with("S_WAITCNT_")
                && !matches!(arg.value, Value::Special(Special::Null, _))
            {
                return Err(Why::Operand(number, "`null`"));
            }
            let raw = self.scalar_register(arg, dwords);
            let raw = raw.ok_or_else(|| Why::Operand(number, self.expected(slot)))?;
            let null = arg.value == Value::Special(Special::Null, 0);
            let lds = arg.value == Value::Special(Special::LdsDirect, 0);
            if slot.source() < 3 && !null && !lds {
                self.bus.add(raw as u16);
            }
            raw
        };
        if sdwa {
            if slot.source() == 0 {
                self.variant |= raw & 0xff | 1 << 23;
            } else {
                self.word |= u128::from(raw & 0xff) << slot.offset();
                self.variant |= 1 << 31;
            }
            return if raw == 255 { Err(Why::Operand(number, "no literal in this form")) } else { Ok(()) };
        }
        let truncated = raw > 127
            && slot.count() == 7
            && self.row.syntax().slots().iter().any(|s| s.kind() == SlotKind::BufferAddr);
        if truncated && number_given.is_none() {
            // LLVM takes registers whose number does not fit the field.
            self.set(slot.offset(), 7, raw);
            return Ok(());
        }
        let scaled = raw >> slot.scale();
        if slot.count() < 9 && scaled >> slot.count() != 0 || scaled << slot.scale() != raw {
            return Err(Why::Operand(number, self.expected(slot)));
        }
        self.set(slot.offset(), slot.count(), scaled);
        Ok(())
    }

    fn expected(&self, slot: Slot) -> &'static str {
        match (slot.count(), slot.kind()) {
            (_, SlotKind::Vgpr) => "a vector register",
            (7, _) => "a scalar register",
            (8, _) => "a scalar register or a constant",
            (9, _) if self.takes_literal(slot) => "a register, a constant or a literal",
            (9, _) => "a register or an inline constant",
            _ => "a scalar register",
        }
    }

    fn vector_source(&mut self, slot: Slot, reg: Reg, number: u8, dwords: u32) -> Result<()> {
        if slot.kind() != SlotKind::Vgpr && slot.count() != 9 {
            return Err(Why::Operand(number, self.expected(slot)));
        }
        if u32::from(reg.count) != dwords && slot.kind() != SlotKind::MatrixSrc {
            return Err(Why::Operand(
                number,
                match dwords {
                    1 => "one register",
                    2 => "two registers",
                    _ => "as many registers as the data takes",
                },
            ));
        }
        self.in_file(reg, number)?;
        self.file(slot, reg, number)?;
        let mut value = u32::from(reg.first);
        match (slot.half(), reg.half) {
            (Half::None, HalfName::High) => return Err(Why::Operand(number, "a whole register")),
            (Half::None, _) => {}
            (Half::Bit7, half) => {
                if value > 127 {
                    return Err(Why::Operand(number, "a register below v128"));
                }
                value |= u32::from(half == HalfName::High) << 7;
            }
            (Half::OpSel, HalfName::High) => self.set(11 + slot.source(), 1, 1),
            (Half::OpSel, _) => {}
        }
        let variant = matches!(self.form, Form::Dpp16 | Form::Dpp8 | Form::Sdwa);
        if variant && slot.source() == 0 {
            self.variant |= value;
        } else if slot.count() == 9 {
            self.set(slot.offset(), 9, 256 | value);
        } else {
            self.set(slot.offset(), slot.count(), value);
        }
        Ok(())
    }

    /// Encodes `-x`, `|x|` and `sext(x)`.
    pub(crate) fn source_modifiers(&mut self, slot: Slot, arg: &Arg, number: u8) -> Result<()> {
        if !arg.has_modifiers() {
            return Ok(());
        }
        let none = Why::Operand(number, "a register without `-`, `|..|` or `sext(..)`");
        let source = slot.source();
        if source > 2 {
            return Err(none);
        }
        if slot.extra() != 0 && matches!(self.family, Family::Vopd | Family::Vopd3) {
            if arg.abs | arg.sext {
                return Err(none);
            }
            self.set(slot.extra(), 1, 1);
            return Ok(());
        }
        let (neg, abs, sext) = (u32::from(arg.neg), u32::from(arg.abs), u32::from(arg.sext));
        match slot.mods() {
            Mods::Float if !arg.sext => {}
            Mods::Int if arg.sext && !arg.neg && !arg.abs => {}
            _ => return Err(none),
        }
        match (self.family, self.form) {
            (Family::Vop | Family::Vopc, Form::Dpp16) if source < 2 && !arg.sext => {
                self.variant |= neg << (20 + 2 * source) | abs << (21 + 2 * source);
            }
            (Family::Vop | Family::Vopc, Form::Sdwa) if source < 2 => {
                let at = 8 * source;
                self.variant |= sext << (19 + at) | neg << (20 + at) | abs << (21 + at);
            }
            (Family::Vop3 | Family::Mix, _) if !arg.sext => {
                self.set(61 + source, 1, neg);
                self.set(8 + source, 1, abs);
            }
            (Family::Vop3Sdst | Family::Interp, _) if !arg.sext && !arg.abs => self.set(61 + source, 1, neg),
            _ => return Err(none),
        }
        Ok(())
    }

    /// A number with its modifiers, which become part of it where the encoding has no bits for them.
    fn folded(&mut self, slot: Slot, arg: &Arg, given: Given, number: u8) -> Result<Given> {
        if !arg.has_modifiers() {
            return Ok(given);
        }
        let folds = matches!((self.family, self.form), (Family::Vop | Family::Vopc | Family::Vopd, Form::Base));
        if !folds {
            self.source_modifiers(slot, arg, number)?;
            return Ok(given);
        }
        let wide = matches!(given, Given::Int(_)) && matches!(slot.value(), Type::F64 | Type::I64);
        if arg.sext || slot.mods() != Mods::Float || wide {
            return Err(Why::Operand(number, "a number without modifiers"));
        }
        let sign: u32 = match (given, slot.value()) {
            (Given::Float(_), _) | (_, Type::F64 | Type::I64) => 63,
            (_, Type::F16 | Type::Bf16 | Type::I16) => 15,
            _ => 31,
        };
        let mut bits = match given {
            Given::Int(value) => value as u64,
            Given::Float(value) => value.to_bits(),
        };
        if arg.abs {
            bits &= !(1 << sign);
        }
        if arg.neg {
            bits ^= 1 << sign;
        }
        Ok(match given {
            Given::Int(_) => Given::Int(bits as i64),
            Given::Float(_) => Given::Float(f64::from_bits(bits)),
        })
    }

    fn value_type(&self, slot: Slot) -> Type {
        match (slot.value(), self.family) {
            // Scalar instructions read whole registers.
            (Type::I16, Family::Plain) => Type::I32,
            // Some of AMD's files do not part packed halves from dwords.
            (Type::I32 | Type::F16, Family::Vop3p) if self.row.op().name().ends_with("_F16") => Type::V2F16,
            (ty, _) => ty,
        }
    }

    fn takes_literal(&self, slot: Slot) -> bool {
        if !matches!(self.form, Form::Base | Form::Nsa) || slot.kind() == SlotKind::Vgpr {
            return false;
        }
        if slot.source() < 3 {
            return self.row.literals() >> slot.source() & 1 != 0;
        }
        slot.count() == 8 && (self.row.literals() != 0 || self.dwords == 1)
    }

    /// The source value of a number.
    fn constant(&mut self, slot: Slot, given: Given, lit: Marker, number: u8) -> Result<u32> {
        let wide = self.row.literal64();
        let ty = self.value_type(slot);
        if self.row.mandatory() == 2 {
            // The literal that always follows has 64 bits.
            let bits = constant::wide(given, lit);
            return match constant::inline64(bits) {
                Some(raw) if lit == Marker::Free => Ok(raw),
                _ => self.literal_word(bits, true),
            };
        }
        if self.cx.gfx11_plus() && self.family == Family::Vop && self.row.op().name() == "V_PK_FMAC_F16" {
            // Inline constants stand for both halves.
            let Some(Constant::Literal(value)) = constant::literal(given, ty) else {
                return Err(Why::Operand(number, "a number that its type can hold"));
            };
            let both = value >> 16 == value & 0xffff;
            return match constant::inline16(value as u16) {
                Some(raw) if lit == Marker::Free && (both || matches!(given, Given::Int(-16..=64))) => Ok(raw),
                _ => self.literal_word(value.into(), false),
            };
        }
        // With 64-bit literals a marker means all 64 bits, which this encoding cannot hold.
        if self.cx.generation == Generation::Cdna5 && !wide && ty == Type::F64 && lit != Marker::Free {
            return Err(Why::Operand(number, "no 64-bit literal in this encoding"));
        }
        let constant = constant::encode(given, ty, lit, wide);
        let constant = constant.ok_or(Why::Operand(number, "a number that its type can hold"))?;
        match constant {
            Constant::Inline(raw) => {
                // CDNA 5: the constant has 32 bits, and VOP1 cannot select the half that holds a bf16.
                if ty == Type::Bf16 && self.family == Family::Vop && self.cx.generation == Generation::Cdna5 {
                    self.doubt =
                        Some((number, "the lower half of an inline constant is read: use `_e64` and `op_sel:[1,0]`"));
                }
                Ok(raw)
            }
            Constant::Literal64(value) if !wide && matches!(ty, Type::F64) && value as u32 == 0 => {
                self.literal_word(value >> 32, false)
            }
            _ if !self.takes_literal(slot) => Err(Why::Operand(number, self.expected(slot))),
            Constant::Literal(value) => self.literal_word(value.into(), false),
            Constant::Literal64(value) if wide => self.literal_word(value, true),
            Constant::Literal64(value) => {
                let value = u32::try_from(value).map_err(|_| Why::Operand(number, "a number of 32 bits"))?;
                self.literal_word(value.into(), false)
            }
        }
    }

    /// Takes the one literal; gives its source value.
    fn literal_word(&mut self, value: u64, wide: bool) -> Result<u32> {
        match self.literal {
            Some(known) if known != (value, wide) => Err(Why::Rule("an instruction can have one literal only")),
            _ => {
                self.literal = Some((value, wide));
                Ok(if wide { 254 } else { 255 })
            }
        }
    }

    /// The constant of FMAMK and FMAAK.
    fn constant_slot(&mut self, slot: Slot, arg: &Arg, number: u8) -> Result<()> {
        let given = match arg.value {
            Value::Int(value) => Given::Int(value),
            Value::Float(value) => Given::Float(value),
            Value::Text => {
                self.pending = Some(Pending { at: arg.at, end: arg.end, branch: false });
                Given::Int(0)
            }
            _ => return Err(Why::Operand(number, "a number")),
        };
        let given = if arg.has_modifiers() { self.folded(slot, arg, given, number)? } else { given };
        let none = Why::Operand(number, "a number that its type can hold");
        if slot.dwords() == 2 {
            self.literal_word(constant::wide(given, arg.lit), true)?;
            return Ok(());
        }
        // It has the type of the other operands.
        let ty = self.row.syntax().slots().iter().find(|s| s.source() == 0).map_or(slot.value(), |s| s.value());
        match constant::literal(given, ty).ok_or(none)? {
            Constant::Literal(value) => self.literal_word(value.into(), false).map(|_| ()),
            _ => Ok(()),
        }
    }

    /// Checks what concerns several parts, and fills in what the text leaves out.
    pub(crate) fn finish(&mut self) -> Result<()> {
        let left = self.line.present & !self.used;
        if left != 0 {
            return Err(Why::Modifier(left.trailing_zeros() as u8, "the instruction has no such modifier"));
        }
        self.constant_bus()?;
        self.image_data_size()?;
        if let Some(slot) = self.row.syntax().slots().first().filter(|s| s.returns() != 0 && s.kind() == SlotKind::Vgpr)
        {
            let given = self.line.args().len() + usize::from(self.no_saddr) == self.row.syntax().slots().len();
            if given != self.bit(slot.returns()) && (given || !self.cx.gfx12_plus()) {
                return Err(Why::Rule(if given {
                    "a returned value must be asked for: `glc`, `sc0` or `th:TH_ATOMIC_RETURN`"
                } else {
                    "the returned value has no destination"
                }));
            }
        }
        Ok(())
    }

    pub(crate) fn finish_fields(&mut self, base: &Base) {
        if let (Some(at), true) = (base.nsa, self.nsa_dwords > 0) {
            self.set(at.into(), 2, self.nsa_dwords as u32);
        }
        let slots = self.row.syntax().slots();
        let written = |at| slots.iter().any(|slot| slot.count() != 0 && slot.offset() == at);
        match base.saddr {
            Some(at) if !self.cx.gfx9() && !written(u32::from(at)) => self.set(at.into(), 7, self.cx.off()),
            _ => {}
        }
    }
}

impl Why {
    /// How far the match went; the farthest is what a person meant.
    pub(crate) fn rank(&self) -> u32 {
        match self {
            Why::Count(_) => 0,
            Why::Operand(number, _) => 1 + u32::from(*number),
            Why::Fault(_) => 30,
            Why::Modifier(..) => 40,
            Why::Rule(_) => 50,
        }
    }

    pub(crate) fn fault(self, line: &Line, name: (u32, u32)) -> Fault {
        let at = |(at, end): (u32, u32), kind| Fault { at, end, kind };
        match self {
            Why::Fault(fault) => fault,
            Why::Operand(number, expected) => {
                let span = line.args().get(usize::from(number)).map_or(name, |arg| (arg.at, arg.end));
                at(span, ErrorKind::Operand { number: usize::from(number) + 1, expected: expected.into() })
            }
            Why::Count(expected) => at(name, ErrorKind::Count { found: line.args().len(), expected: expected.into() }),
            Why::Modifier(id, what) => {
                let span = line.modifier(id).map_or(name, |modifier| (modifier.at, modifier.end));
                at(span, ErrorKind::Modifier(std::format!("{}: {what}", super::parse::modifier_name(id)).into()))
            }
            Why::Rule(what) => at(name, ErrorKind::Rule(what.into())),
        }
    }
}
