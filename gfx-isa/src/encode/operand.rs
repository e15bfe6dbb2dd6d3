//! What stands between commas, and which of it an operand takes.
//!
//! The traits are what the functions of a generation ask for: they keep a vector register from a scalar's place when the
//! program is compiled. What they leave open (alignment, how many registers, constants that do not fit, the constant bus)
//! is an error of [`InstBuilder::build`](super::InstBuilder::build).

use core::ops::Neg;

use super::Label;
use crate::{RegFile, Registers, Special};

/// An operand of any kind.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Arg {
    pub(crate) value: ArgValue,
    pub(crate) neg: bool,
    pub(crate) abs: bool,
    pub(crate) sext: bool,
    pub(crate) literal: Literal,
}

/// Whether a number must be a literal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Literal {
    Free,
    Short,
    Wide,
}

/// Half of a vector register.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Half {
    Whole,
    Low,
    High,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum ArgValue {
    Registers(Registers, Half),
    /// With its dwords; 0: as many as are asked for.
    Special(Special, u8),
    Int(i64),
    Float(f64),
    Off,
    /// Text of a structured immediate: `vmcnt(0)`, `hwreg(HW_REG_MODE)`.
    Text(&'static str),
    Label(Label),
    /// Registers that need not be consecutive.
    List([u16; LIST], u8),
}

/// Most address registers of an instruction.
const LIST: usize = 13;

impl Arg {
    pub(crate) const fn new(value: ArgValue) -> Arg {
        Arg { value, neg: false, abs: false, sext: false, literal: Literal::Free }
    }

    /// No register where one could stand: `off`.
    pub const OFF: Arg = Arg::new(ArgValue::Off);

    /// The pair that a register with a name begins: `vcc`, `exec`.
    #[must_use]
    pub const fn pair(low: Special) -> Arg {
        Arg::new(ArgValue::Special(low, 2))
    }

    /// `-x`
    #[must_use]
    pub const fn neg(mut self) -> Arg {
        self.neg = true;
        self
    }

    /// `|x|`
    #[must_use]
    pub const fn abs(mut self) -> Arg {
        self.abs = true;
        self
    }

    /// `sext(x)`, in SDWA forms.
    #[must_use]
    pub const fn sext(mut self) -> Arg {
        self.sext = true;
        self
    }

    /// `lit(x)`: a number becomes a literal although there is an inline constant.
    #[must_use]
    pub const fn literal(mut self) -> Arg {
        self.literal = Literal::Short;
        self
    }

    /// `lit64(x)`: a number becomes a literal of 64 bits (CDNA 5).
    #[must_use]
    pub const fn literal64(mut self) -> Arg {
        self.literal = Literal::Wide;
        self
    }
}

/// Vector registers of one file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Vreg(Registers, Half);

/// Scalar registers of one file, or one with a name.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sreg(ArgValue);

/// `off`: no register where one could stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Off;

/// `off`
pub const OFF: Off = Off;

/// A vector register.
#[must_use]
pub const fn v(number: u16) -> Vreg {
    Vreg(Registers { file: RegFile::Vgpr, first: number, count: 1 }, Half::Whole)
}

/// An accumulation register (CDNA 1 to 4).
#[must_use]
pub const fn a(number: u16) -> Vreg {
    Vreg(Registers { file: RegFile::Agpr, first: number, count: 1 }, Half::Whole)
}

/// A scalar register.
#[must_use]
pub const fn s(number: u16) -> Sreg {
    Sreg(ArgValue::Registers(Registers { file: RegFile::Sgpr, first: number, count: 1 }, Half::Whole))
}

/// A trap temporary.
#[must_use]
pub const fn ttmp(number: u16) -> Sreg {
    Sreg(ArgValue::Registers(Registers { file: RegFile::Ttmp, first: number, count: 1 }, Half::Whole))
}

/// Consecutive registers of a file.
#[must_use]
pub const fn registers(file: RegFile, first: u16, count: u8) -> Arg {
    Arg::new(ArgValue::Registers(Registers { file, first, count }, Half::Whole))
}

/// The condition code of 64 lanes.
pub const VCC: Sreg = Sreg(ArgValue::Special(Special::VccLo, 2));
/// The low half of the condition code; all of it in waves of 32 lanes.
pub const VCC_LO: Sreg = Sreg(ArgValue::Special(Special::VccLo, 1));
/// The high half of the condition code.
pub const VCC_HI: Sreg = Sreg(ArgValue::Special(Special::VccHi, 1));
/// The execution mask of 64 lanes.
pub const EXEC: Sreg = Sreg(ArgValue::Special(Special::ExecLo, 2));
/// The low half of the execution mask; all of it in waves of 32 lanes.
pub const EXEC_LO: Sreg = Sreg(ArgValue::Special(Special::ExecLo, 1));
/// The high half of the execution mask.
pub const EXEC_HI: Sreg = Sreg(ArgValue::Special(Special::ExecHi, 1));
/// M0
pub const M0: Sreg = Sreg(ArgValue::Special(Special::M0, 1));
/// Reads as zero, drops what is written (RDNA, CDNA 5).
pub const NULL: Sreg = Sreg(ArgValue::Special(Special::Null, 0));
/// The scalar condition code as a source.
pub const SCC: Sreg = Sreg(ArgValue::Special(Special::Scc, 0));

/// How many registers there are from one to another, both included; 0 where they are the wrong way round.
const fn count(first: u16, last: u16) -> u8 {
    if last < first || last - first > 254 { 0 } else { (last - first + 1) as u8 }
}

impl Vreg {
    /// The registers up to this one: `v(4).to(5)` is `v[4:5]`.
    #[must_use]
    pub const fn to(mut self, last: u16) -> Vreg {
        self.0.count = count(self.0.first, last);
        self
    }

    /// The low half: `v4.l` (RDNA 3 and later).
    #[must_use]
    pub const fn lo(mut self) -> Vreg {
        self.1 = Half::Low;
        self
    }

    /// The high half: `v4.h` (RDNA 3 and later).
    #[must_use]
    pub const fn hi(mut self) -> Vreg {
        self.1 = Half::High;
        self
    }

    const fn arg(self) -> Arg {
        Arg::new(ArgValue::Registers(self.0, self.1))
    }
}

impl Sreg {
    /// The registers up to this one: `s(4).to(7)` is `s[4:7]`. Nothing changes in a register with a name.
    #[must_use]
    pub const fn to(mut self, last: u16) -> Sreg {
        if let ArgValue::Registers(registers, _) = &mut self.0 {
            registers.count = count(registers.first, last);
        }
        self
    }

    const fn arg(self) -> Arg {
        Arg::new(self.0)
    }
}

/// The modifiers of [`Arg`] on registers.
macro_rules! modifiers {
    ($($ty:ty),*) => {$(
        impl $ty {
            /// `-x`
            #[must_use]
            pub const fn neg(self) -> Arg {
                self.arg().neg()
            }

            /// `|x|`
            #[must_use]
            pub const fn abs(self) -> Arg {
                self.arg().abs()
            }

            /// `sext(x)`, in SDWA forms.
            #[must_use]
            pub const fn sext(self) -> Arg {
                self.arg().sext()
            }
        }

        impl Neg for $ty {
            type Output = Arg;

            fn neg(self) -> Arg {
                self.arg().neg()
            }
        }

        impl From<$ty> for Arg {
            fn from(value: $ty) -> Arg {
                value.arg()
            }
        }
    )*};
}

modifiers!(Vreg, Sreg);

impl Neg for Arg {
    type Output = Arg;

    fn neg(self) -> Arg {
        self.neg()
    }
}

impl From<Off> for Arg {
    fn from(_: Off) -> Arg {
        Arg::OFF
    }
}

impl From<Registers> for Arg {
    fn from(registers: Registers) -> Arg {
        Arg::new(ArgValue::Registers(registers, Half::Whole))
    }
}

impl From<Special> for Arg {
    fn from(special: Special) -> Arg {
        let any = matches!(
            special,
            Special::Null
                | Special::SharedBase
                | Special::SharedLimit
                | Special::PrivateBase
                | Special::PrivateLimit
                | Special::FlatScratchBaseLo
                | Special::FlatScratchBaseHi
                | Special::PopsExitingWaveId
                | Special::Vccz
                | Special::Execz
                | Special::Scc
                | Special::LdsDirect
        );
        Arg::new(ArgValue::Special(special, u8::from(!any)))
    }
}

impl From<f64> for Arg {
    fn from(value: f64) -> Arg {
        Arg::new(ArgValue::Float(value))
    }
}

impl From<f32> for Arg {
    fn from(value: f32) -> Arg {
        Arg::from(f64::from(value))
    }
}

macro_rules! integers {
    ($($ty:ty),*) => {$(
        impl From<$ty> for Arg {
            fn from(value: $ty) -> Arg {
                Arg::new(ArgValue::Int(i64::from(value)))
            }
        }

        impl sealed::Operand for $ty {
            fn arg(self) -> Arg {
                self.into()
            }
        }

        impl Source for $ty {}

        impl Immediate for $ty {}
    )*};
}

integers!(i8, u8, i16, u16, i32, u32, i64);

mod sealed {
    use super::Arg;

    pub trait Operand: Sized {
        fn arg(self) -> Arg;
    }
}

macro_rules! operands {
    ($($ty:ty),*) => {$(
        impl sealed::Operand for $ty {
            fn arg(self) -> Arg {
                self.into()
            }
        }
    )*};
}

operands!(Arg, Vreg, Sreg, Off, Special, Registers, f32, f64);

/// What an operand can be made of.
pub trait Operand: sealed::Operand {
    /// The operand.
    fn into_arg(self) -> Arg {
        self.arg()
    }
}

impl<T: sealed::Operand> Operand for T {}

/// Vector registers.
#[diagnostic::on_unimplemented(message = "a vector register is expected: `v(0)`, `v(0).to(1)`, `a(0)`")]
pub trait Vector: Operand {}
impl Vector for Vreg {}

/// Vector registers or [`OFF`].
#[diagnostic::on_unimplemented(message = "a vector register or `OFF` is expected")]
pub trait VectorOrOff: Operand {}
impl VectorOrOff for Vreg {}
impl VectorOrOff for Off {}

/// Scalar registers.
#[diagnostic::on_unimplemented(message = "a scalar register is expected: `s(0)`, `s(0).to(1)`, `ttmp(0)`, `VCC`")]
pub trait Scalar: Operand {}
impl Scalar for Sreg {}
impl Scalar for Special {}

/// Scalar registers or [`OFF`].
#[diagnostic::on_unimplemented(message = "a scalar register or `OFF` is expected")]
pub trait ScalarOrOff: Operand {}
impl ScalarOrOff for Sreg {}
impl ScalarOrOff for Special {}
impl ScalarOrOff for Off {}

/// Registers of any file, with or without sign, and numbers.
#[diagnostic::on_unimplemented(message = "a register or a number is expected")]
pub trait Source: Operand {}
impl Source for Vreg {}
impl Source for Sreg {}
impl Source for Special {}
impl Source for Arg {}
impl Source for f32 {}
impl Source for f64 {}

/// Vector registers of an address: consecutive ones, or each on its own where the encoding can (`[v0, v4]`).
#[diagnostic::on_unimplemented(message = "a vector register or an array of them is expected")]
pub trait Address: Operand {}
impl Address for Vreg {}
impl<const N: usize> Address for [Vreg; N] {}

impl<const N: usize> sealed::Operand for [Vreg; N] {
    fn arg(self) -> Arg {
        let mut list = [0; LIST];
        let plain = |reg: &Vreg| *reg == v(reg.0.first);
        if N > LIST || N == 0 || !self.iter().all(plain) {
            // No encoding takes it; the error names the operand.
            return Arg::new(ArgValue::List(list, 0));
        }
        for (place, reg) in list.iter_mut().zip(&self) {
            *place = reg.0.first;
        }
        Arg::new(ArgValue::List(list, N as u8))
    }
}

/// A number in a field of its own; where it has a structure, also its text (`"vmcnt(0)"`, `"hwreg(HW_REG_MODE, 0, 4)"`).
#[diagnostic::on_unimplemented(message = "a number, or the text of a structured immediate, is expected")]
pub trait Immediate: Operand {}

impl sealed::Operand for &'static str {
    fn arg(self) -> Arg {
        Arg::new(ArgValue::Text(self))
    }
}

impl Immediate for &'static str {}

/// The target of a branch: a [`Label`] of the same [`CodeBuffer`](super::CodeBuffer), or dwords from the next instruction.
#[diagnostic::on_unimplemented(message = "a label or a number of dwords is expected")]
pub trait Target: Operand {}
impl Target for Label {}
impl Target for i16 {}
impl Target for i32 {}

impl sealed::Operand for Label {
    fn arg(self) -> Arg {
        Arg::new(ArgValue::Label(self))
    }
}
