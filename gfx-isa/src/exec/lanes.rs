//! What a vector kernel sees, and the loops over lanes that the tables of meanings are made of.

use super::state::Mode;

/// A vector register: a value a lane.
pub(crate) type Vector = [u32; 64];

/// A vector kernel: three sources of one to four registers each, results to `Io`.
pub(crate) type Kernel<L> = fn(L, &[Vector], &[Vector], &[Vector], &mut Io);

/// What goes in and out of a kernel beside the sources.
#[derive(Debug, Clone)]
pub(crate) struct Io {
    /// Results; all lanes are computed.
    pub(crate) out: [Vector; 4],
    /// A lane mask that is read: carry, selector.
    pub(crate) mask_in: u64,
    /// A lane mask that is written: carry, comparison.
    pub(crate) mask_out: u64,
    pub(crate) exec: u64,
    pub(crate) lanes: usize,
    pub(crate) mode: Mode,
    /// What the decoded form carries for the kernel: a comparison's condition, a truth table.
    pub(crate) extra: u32,
}

impl Io {
    pub(crate) fn new(lanes: usize) -> Io {
        Io { out: [[0; 64]; 4], mask_in: 0, mask_out: 0, exec: 0, lanes, mode: Mode(0), extra: 0 }
    }
}

/// What the bits of an operand are: says which constants and modifiers fit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ty {
    None,
    /// Any 32 bits: float modifiers apply.
    B32,
    U32,
    I32,
    F32,
    B64,
    U64,
    I64,
    F64,
    B16,
    U16,
    I16,
    F16,
    /// Two 16-bit integers.
    Pk16,
    /// Two 16-bit floats.
    PkF16,
    /// Two 32-bit floats.
    PkF32,
    /// Two 32-bit values.
    Pk32,
    Bf16,
    /// Two bfloat16s.
    PkBf16,
    /// A 32-bit float, or the half of a register that the selectors name as a 16-bit float.
    MixF16,
    /// The same with bfloat16.
    MixBf16,
    /// 96 bits without a type.
    B96,
    /// 128 bits without a type.
    B128,
    /// A byte of a register, which the selectors name.
    U8,
    /// Two 16-bit floats that change their signs together.
    Halves,
    /// Scales of a byte each.
    Scales,
}

impl Ty {
    pub(crate) const fn bits(self) -> u32 {
        match self {
            Ty::None => 0,
            Ty::U8 => 8,
            Ty::B16 | Ty::U16 | Ty::I16 | Ty::F16 | Ty::Bf16 => 16,
            Ty::B64 | Ty::U64 | Ty::I64 | Ty::F64 | Ty::PkF32 | Ty::Pk32 => 64,
            Ty::B96 => 96,
            Ty::B128 => 128,
            _ => 32,
        }
    }

    pub(crate) const fn is_packed(self) -> bool {
        matches!(self, Ty::Pk16 | Ty::PkF16 | Ty::PkBf16 | Ty::PkF32 | Ty::Pk32 | Ty::Halves)
    }

    pub(crate) const fn is_float(self) -> bool {
        matches!(self, Ty::F16 | Ty::F32 | Ty::F64 | Ty::Bf16 | Ty::PkF16 | Ty::PkBf16 | Ty::PkF32) || self.is_mix()
    }

    /// Whether selectors say what the operand is.
    pub(crate) const fn is_mix(self) -> bool {
        matches!(self, Ty::MixF16 | Ty::MixBf16)
    }

    /// Whether negation and absolute value apply: not to integers.
    pub(crate) const fn takes_sign(self) -> bool {
        self.is_float() || matches!(self, Ty::B16 | Ty::B32 | Ty::B64)
    }
}

/// A value in one lane of an operand.
pub(crate) trait Lane: Copy {
    const TY: Ty;
    fn get(source: &[Vector], lane: usize, mode: Mode) -> Self;
    fn put(self, out: &mut [Vector; 4], lane: usize);
}

macro_rules! lane32 {
    ($($ty:ty, $code:ident, $from:expr, $to:expr;)*) => {$(
        impl Lane for $ty {
            const TY: Ty = Ty::$code;

            #[inline(always)]
            fn get(source: &[Vector], lane: usize, _: Mode) -> $ty {
                $from(source[0][lane])
            }

            #[inline(always)]
            fn put(self, out: &mut [Vector; 4], lane: usize) {
                out[0][lane] = $to(self);
            }
        }
    )*};
}

macro_rules! lane64 {
    ($($ty:ty, $code:ident, $from:expr, $to:expr;)*) => {$(
        impl Lane for $ty {
            const TY: Ty = Ty::$code;

            #[inline(always)]
            fn get(source: &[Vector], lane: usize, _: Mode) -> $ty {
                $from(u64::from(source[1][lane]) << 32 | u64::from(source[0][lane]))
            }

            #[inline(always)]
            fn put(self, out: &mut [Vector; 4], lane: usize) {
                let bits: u64 = $to(self);
                out[0][lane] = bits as u32;
                out[1][lane] = (bits >> 32) as u32;
            }
        }
    )*};
}

/// 32 bits without a type: moves and selections.
#[derive(Debug, Clone, Copy)]
pub(crate) struct B32(pub(crate) u32);

/// 16 bits without a type.
#[derive(Debug, Clone, Copy)]
pub(crate) struct B16(pub(crate) u16);

/// 64 bits without a type.
#[derive(Debug, Clone, Copy)]
pub(crate) struct B64(pub(crate) u64);

/// A 16-bit float, as bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct F16(pub(crate) u16);

/// A bfloat16, as bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Bf16(pub(crate) u16);

/// A 32-bit float that came from a [`Ty::MixF16`] operand.
#[derive(Debug, Clone, Copy)]
pub(crate) struct MixF16(pub(crate) f32);

/// A 32-bit float that came from a [`Ty::MixBf16`] operand.
#[derive(Debug, Clone, Copy)]
pub(crate) struct MixBf16(pub(crate) f32);

/// Registers side by side.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Run<const N: usize>(pub(crate) [u32; N]);

macro_rules! run {
    ($($count:literal, $code:ident;)*) => {$(
        impl Lane for Run<$count> {
            const TY: Ty = Ty::$code;

            #[inline(always)]
            fn get(source: &[Vector], lane: usize, _: Mode) -> Self {
                Run(core::array::from_fn(|at| source[at][lane]))
            }

            #[inline(always)]
            fn put(self, out: &mut [Vector; 4], lane: usize) {
                for (row, bits) in out.iter_mut().zip(self.0) {
                    row[lane] = bits;
                }
            }
        }
    )*};
}

run! {
    3, B96;
    4, B128;
}

lane32! {
    u32, U32, |x: u32| x, |x: u32| x;
    i32, I32, |x: u32| x as i32, |x: i32| x as u32;
    f32, F32, f32::from_bits, f32::to_bits;
    B32, B32, B32, |x: B32| x.0;
    u16, U16, |x: u32| x as u16, u32::from;
    i16, I16, |x: u32| x as i16, |x: i16| u32::from(x as u16);
    B16, B16, |x: u32| B16(x as u16), |x: B16| u32::from(x.0);
    F16, F16, |x: u32| F16(x as u16), |x: F16| u32::from(x.0);
    Bf16, Bf16, |x: u32| Bf16(x as u16), |x: Bf16| u32::from(x.0);
    MixF16, MixF16, |x: u32| MixF16(f32::from_bits(x)), |x: MixF16| x.0.to_bits();
    MixBf16, MixBf16, |x: u32| MixBf16(f32::from_bits(x)), |x: MixBf16| x.0.to_bits();
}

lane64! {
    u64, U64, |x: u64| x, |x: u64| x;
    i64, I64, |x: u64| x as i64, |x: i64| x as u64;
    f64, F64, f64::from_bits, f64::to_bits;
    B64, B64, B64, |x: B64| x.0;
}

/// Two 16-bit values.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pk<T>(pub(crate) T, pub(crate) T);

macro_rules! packed {
    ($($ty:ty, $code:ident, $from:expr, $to:expr;)*) => {$(
        impl Lane for Pk<$ty> {
            const TY: Ty = Ty::$code;

            #[inline(always)]
            fn get(source: &[Vector], lane: usize, _: Mode) -> Self {
                let bits = source[0][lane];
                Pk($from(bits as u16), $from((bits >> 16) as u16))
            }

            #[inline(always)]
            fn put(self, out: &mut [Vector; 4], lane: usize) {
                out[0][lane] = u32::from($to(self.0)) | u32::from($to(self.1)) << 16;
            }
        }
    )*};
}

packed! {
    u16, Pk16, |x: u16| x, |x: u16| x;
    i16, Pk16, |x: u16| x as i16, |x: i16| x as u16;
    F16, PkF16, F16, |x: F16| x.0;
    Bf16, PkBf16, Bf16, |x: Bf16| x.0;
}

impl Lane for Pk<u32> {
    const TY: Ty = Ty::Pk32;

    #[inline(always)]
    fn get(source: &[Vector], lane: usize, _: Mode) -> Self {
        Pk(source[0][lane], source[1][lane])
    }

    #[inline(always)]
    fn put(self, out: &mut [Vector; 4], lane: usize) {
        (out[0][lane], out[1][lane]) = (self.0, self.1);
    }
}

/// Does something for each lane of a wave of 32 or 64.
#[inline(always)]
pub(crate) fn each_lane(lanes: usize, mut f: impl FnMut(usize)) {
    // In this form the compiler sees a multiple of 32 and at most 64: a vector loop without remainder or bounds checks.
    for lane in 0..(lanes >> 1 & 32) + 32 {
        f(lane);
    }
}

/// `f` of each lane.
#[inline(always)]
pub(crate) fn map1<A: Lane, R: Lane>(a: &[Vector], _: &[Vector], _: &[Vector], io: &mut Io, f: impl Fn(A) -> R) {
    each_lane(io.lanes, |lane| {
        f(A::get(a, lane, io.mode)).put(&mut io.out, lane);
    });
}

/// `f` of each lane of two sources.
#[inline(always)]
pub(crate) fn map2<A: Lane, B: Lane, R: Lane>(
    a: &[Vector],
    b: &[Vector],
    _: &[Vector],
    io: &mut Io,
    f: impl Fn(A, B) -> R,
) {
    each_lane(io.lanes, |lane| {
        f(A::get(a, lane, io.mode), B::get(b, lane, io.mode)).put(&mut io.out, lane);
    });
}

/// `f` of each lane of three sources.
#[inline(always)]
pub(crate) fn map3<A: Lane, B: Lane, C: Lane, R: Lane>(
    a: &[Vector],
    b: &[Vector],
    c: &[Vector],
    io: &mut Io,
    f: impl Fn(A, B, C) -> R,
) {
    each_lane(io.lanes, |lane| {
        f(A::get(a, lane, io.mode), B::get(b, lane, io.mode), C::get(c, lane, io.mode)).put(&mut io.out, lane);
    });
}

/// Floats of the CPU.
pub(crate) trait Native: Lane {
    fn nan(self) -> bool;
    /// The first NaN of some operands, quieted; where none is one the default NaN, which is negative as measured.
    fn propagate(operands: &[Self]) -> Self;
}

macro_rules! native {
    ($($ty:ty, $quiet:literal, $default:literal;)*) => {$(
        impl Native for $ty {
            #[inline(always)]
            fn nan(self) -> bool {
                self.is_nan()
            }

            fn propagate(operands: &[Self]) -> Self {
                let found = operands.iter().find(|x| x.is_nan());
                <$ty>::from_bits(found.map_or($default, |x| x.to_bits() | $quiet))
            }
        }
    )*};
}

native! {
    f32, 0x0040_0000, 0xffc0_0000;
    f64, 0x0008_0000_0000_0000, 0xfff8_0000_0000_0000;
}

/// Arithmetic of the CPU on two sources, with the GPU's choice of NaN. Rust does not say which NaN the CPU gives, so
/// lanes with a NaN are done again.
#[inline(always)]
pub(crate) fn float2<T: Native>(a: &[Vector], b: &[Vector], _: &[Vector], io: &mut Io, f: impl Fn(T, T) -> T) {
    let mut nan = false;
    each_lane(io.lanes, |lane| {
        let value = f(T::get(a, lane, io.mode), T::get(b, lane, io.mode));
        nan |= value.nan();
        value.put(&mut io.out, lane);
    });
    if nan {
        fix(io, |lane, mode| [T::get(a, lane, mode), T::get(b, lane, mode)]);
    }
}

/// As [`float2`], of three sources.
#[inline(always)]
pub(crate) fn float3<T: Native>(a: &[Vector], b: &[Vector], c: &[Vector], io: &mut Io, f: impl Fn(T, T, T) -> T) {
    let mut nan = false;
    each_lane(io.lanes, |lane| {
        let value = f(T::get(a, lane, io.mode), T::get(b, lane, io.mode), T::get(c, lane, io.mode));
        nan |= value.nan();
        value.put(&mut io.out, lane);
    });
    if nan {
        fix(io, |lane, mode| [T::get(a, lane, mode), T::get(b, lane, mode), T::get(c, lane, mode)]);
    }
}

#[cold]
#[inline(never)]
fn fix<T: Native, const N: usize>(io: &mut Io, operands: impl Fn(usize, Mode) -> [T; N]) {
    each_lane(io.lanes, |lane| {
        if T::get(&io.out, lane, io.mode).nan() {
            T::propagate(&operands(lane, io.mode)).put(&mut io.out, lane);
        }
    });
}

/// `f` of each lane of two sources and of its bit of the mask that is read.
#[inline(always)]
pub(crate) fn select<A: Lane>(a: &[Vector], b: &[Vector], _: &[Vector], io: &mut Io, f: impl Fn(A, A, bool) -> A) {
    let mask = io.mask_in;
    each_lane(io.lanes, |lane| {
        f(A::get(a, lane, io.mode), A::get(b, lane, io.mode), mask >> lane & 1 != 0).put(&mut io.out, lane);
    });
}

/// `f` of each lane of three sources and of its bit of the mask that is read.
#[inline(always)]
pub(crate) fn select3<A: Lane>(a: &[Vector], b: &[Vector], c: &[Vector], io: &mut Io, f: impl Fn(A, A, A, bool) -> A) {
    let mask = io.mask_in;
    each_lane(io.lanes, |lane| {
        let (a, b, c) = (A::get(a, lane, io.mode), A::get(b, lane, io.mode), A::get(c, lane, io.mode));
        f(a, b, c, mask >> lane & 1 != 0).put(&mut io.out, lane);
    });
}

/// `f` of each lane of three sources: a result and its bit of the mask that is written.
#[inline(always)]
pub(crate) fn flagged<A: Lane>(
    a: &[Vector],
    b: &[Vector],
    c: &[Vector],
    io: &mut Io,
    f: impl Fn(A, A, A) -> (A, bool),
) {
    let mut bits = [0; 64];
    each_lane(io.lanes, |lane| {
        let (value, bit) = f(A::get(a, lane, io.mode), A::get(b, lane, io.mode), A::get(c, lane, io.mode));
        value.put(&mut io.out, lane);
        bits[lane] = u32::from(bit);
    });
    io.mask_out = pack(&bits);
}

/// Adds or subtracts with the carry that is read (0 where none is) as the third argument; bit 32 of the sum is the
/// carry that is written.
#[inline(always)]
pub(crate) fn carry(a: &[Vector], b: &[Vector], _: &[Vector], io: &mut Io, f: impl Fn(i64, i64, i64) -> i64) {
    let mask = io.mask_in;
    let mut carries = [0; 64];
    each_lane(io.lanes, |lane| {
        let sum = f(i64::from(a[0][lane]), i64::from(b[0][lane]), (mask >> lane & 1) as i64);
        io.out[0][lane] = sum as u32;
        carries[lane] = (sum >> 32) as u32 & 1;
    });
    io.mask_out = pack(&carries);
}

/// As [`carry`], the sum clamped to 32 unsigned bits.
#[inline(always)]
pub(crate) fn carry_clamp(a: &[Vector], b: &[Vector], _: &[Vector], io: &mut Io, f: impl Fn(i64, i64, i64) -> i64) {
    let mask = io.mask_in;
    let mut carries = [0; 64];
    each_lane(io.lanes, |lane| {
        let sum = f(i64::from(a[0][lane]), i64::from(b[0][lane]), (mask >> lane & 1) as i64);
        io.out[0][lane] = sum.clamp(0, i64::from(u32::MAX)) as u32;
        carries[lane] = (sum >> 32) as u32 & 1;
    });
    io.mask_out = pack(&carries);
}

/// A 64-bit result; bit 64 of the exact one is the mask that is written.
#[inline(always)]
pub(crate) fn wide_carry<A: Lane, C: Lane>(
    a: &[Vector],
    b: &[Vector],
    c: &[Vector],
    io: &mut Io,
    f: impl Fn(A, A, C) -> u128,
) {
    let mut carries = [0; 64];
    each_lane(io.lanes, |lane| {
        let sum = f(A::get(a, lane, io.mode), A::get(b, lane, io.mode), C::get(c, lane, io.mode));
        (sum as u64).put(&mut io.out, lane);
        carries[lane] = (sum >> 64) as u32 & 1;
    });
    io.mask_out = pack(&carries);
}

/// `f` of each lane's number and its values of two sources.
#[inline(always)]
pub(crate) fn indexed(a: &[Vector], b: &[Vector], _: &[Vector], io: &mut Io, f: impl Fn(u32, u32, u32) -> u32) {
    each_lane(io.lanes, |lane| {
        io.out[0][lane] = f(lane as u32, a[0][lane], b[0][lane]);
    });
}

/// First step of an interpolation: `f` of each lane with source 0 of lane 1 and source 2 of lane 0 of its group of four.
#[inline(always)]
pub(crate) fn interpolate10<A: Lane, R: Lane>(
    a: &[Vector],
    b: &[Vector],
    c: &[Vector],
    io: &mut Io,
    f: impl Fn(Mode, A, f32, A) -> R,
) {
    each_lane(io.lanes, |lane| {
        let (a, c) = (A::get(a, lane & !3 | 1, io.mode), A::get(c, lane & !3, io.mode));
        f(io.mode, a, f32::get(b, lane, io.mode), c).put(&mut io.out, lane);
    });
}

/// Second step of an interpolation: `f` of each lane with source 0 of lane 2 of its group of four.
#[inline(always)]
pub(crate) fn interpolate2<A: Lane, R: Lane>(
    a: &[Vector],
    b: &[Vector],
    c: &[Vector],
    io: &mut Io,
    f: impl Fn(Mode, A, f32, f32) -> R,
) {
    each_lane(io.lanes, |lane| {
        let a = A::get(a, lane & !3 | 2, io.mode);
        f(io.mode, a, f32::get(b, lane, io.mode), f32::get(c, lane, io.mode)).put(&mut io.out, lane);
    });
}

/// A condition of each lane of two sources to the mask that is written.
#[inline(always)]
pub(crate) fn test<A: Lane, B: Lane>(
    a: &[Vector],
    b: &[Vector],
    _: &[Vector],
    io: &mut Io,
    f: impl Fn(A, B, u32) -> bool,
) {
    let mut bits = [0; 64];
    each_lane(io.lanes, |lane| {
        bits[lane] = u32::from(f(A::get(a, lane, io.mode), B::get(b, lane, io.mode), io.extra));
    });
    io.mask_out = pack(&bits);
}

/// Bit 0 of each lane as a mask.
#[inline(always)]
pub(crate) fn pack(bits: &Vector) -> u64 {
    bits.iter().enumerate().fold(0, |mask, (lane, &bit)| mask | u64::from(bit & 1) << lane)
}

/// Chooses the fastest kernel that the CPU can run.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Kernels {
    pub(crate) base: Kernel<super::simd::Base>,
    pub(crate) wide: Kernel<super::simd::Wide>,
}

/// A kernel with the level that it runs at.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Picked {
    Base(Kernel<super::simd::Base>),
    Wide(Kernel<super::simd::Wide>, super::simd::Wide),
}

impl Kernels {
    pub(crate) fn pick(&self) -> Picked {
        match super::simd::Wide::detect() {
            Some(level) => Picked::Wide(self.wide, level),
            None => Picked::Base(self.base),
        }
    }
}

impl Picked {
    #[inline(always)]
    pub(crate) fn run(self, a: &[Vector], b: &[Vector], c: &[Vector], io: &mut Io) {
        match self {
            Picked::Base(kernel) => kernel(super::simd::Base, a, b, c, io),
            Picked::Wide(kernel, level) => kernel(level, a, b, c, io),
        }
    }
}
