//! The shapes of lines: macros that turn a body into kernels.

use crate::exec::lanes::{F16, Lane};

/// Integers that clamping saturates.
pub(super) trait Int: Lane {
    fn wide(self) -> i64;
    fn wrap(value: i64) -> Self;
    fn saturate(value: i64) -> Self;
}

macro_rules! int {
    ($($ty:ty)*) => {$(
        impl Int for $ty {
            #[inline(always)]
            fn wide(self) -> i64 {
                i64::from(self)
            }
            #[inline(always)]
            fn wrap(value: i64) -> $ty {
                value as $ty
            }
            #[inline(always)]
            fn saturate(value: i64) -> $ty {
                value.clamp(i64::from(<$ty>::MIN), i64::from(<$ty>::MAX)) as $ty
            }
        }
    )*};
}

int!(u32 i32 u16 i16);

// Closures passed to these get their argument types from the other arguments.
#[inline(always)]
pub(super) fn apply2<A, B, R>(a: A, b: B, f: impl Fn(A, B) -> R) -> R {
    f(a, b)
}

#[inline(always)]
pub(super) fn apply3<A, B, C, R>(a: A, b: B, c: C, f: impl Fn(A, B, C) -> R) -> R {
    f(a, b, c)
}

#[inline(always)]
pub(super) fn apply4<A, B, C, D, R>(a: A, b: B, c: C, d: D, f: impl Fn(A, B, C, D) -> R) -> R {
    f(a, b, c, d)
}

#[inline(always)]
pub(super) fn apply5<A, B, C, D, E, R>(a: A, b: B, c: C, d: D, e: E, f: impl Fn(A, B, C, D, E) -> R) -> R {
    f(a, b, c, d, e)
}

/// Bits of a scalar operand.
pub(super) trait Bits: Copy {
    fn from_bits(bits: u64) -> Self;
    fn bits(self) -> u64;
}

macro_rules! bits {
    ($($ty:ty: $from:expr, $to:expr;)*) => {$(
        impl Bits for $ty {
            #[inline(always)]
            fn from_bits(bits: u64) -> $ty {
                $from(bits)
            }
            #[inline(always)]
            fn bits(self) -> u64 {
                $to(self)
            }
        }
    )*};
}

bits! {
    u32: |x: u64| x as u32, u64::from;
    i32: |x: u64| x as i32, |x: i32| u64::from(x as u32);
    u64: |x: u64| x, |x: u64| x;
    i64: |x: u64| x as i64, |x: i64| x as u64;
    F16: |x: u64| F16(x as u16), |x: F16| u64::from(x.0);
    f32: |x: u64| f32::from_bits(x as u32), |x: f32| u64::from(x.to_bits());
}

/// A kernel for each level of CPU features, from a loop of `lanes` and a body.
macro_rules! kernels {
    ($run:ident::<$($ty:ty),*>($io:ident, $body:expr)) => {{
        fn kernel<L: $crate::exec::simd::Level>(
            level: L,
            a: &[$crate::exec::lanes::Vector],
            b: &[$crate::exec::lanes::Vector],
            c: &[$crate::exec::lanes::Vector],
            $io: &mut $crate::exec::lanes::Io,
        ) {
            level.kernel(a, b, c, $io, |a, b, c, $io| $crate::exec::lanes::$run::<$($ty),*>(a, b, c, $io, $body));
        }
        $crate::exec::lanes::Kernels { base: kernel, wide: kernel }
    }};
}

/// The same kernel for every level: for bodies that branch, call or are rare, which wider vectors do not help.
macro_rules! narrow {
    ($run:ident::<$($ty:ty),*>($io:ident, $body:expr)) => {{
        fn kernel(
            _: $crate::exec::simd::Base,
            a: &[$crate::exec::lanes::Vector],
            b: &[$crate::exec::lanes::Vector],
            c: &[$crate::exec::lanes::Vector],
            $io: &mut $crate::exec::lanes::Io,
        ) {
            $crate::exec::lanes::$run::<$($ty),*>(a, b, c, $io, $body);
        }
        fn wide(
            _: $crate::exec::simd::Wide,
            a: &[$crate::exec::lanes::Vector],
            b: &[$crate::exec::lanes::Vector],
            c: &[$crate::exec::lanes::Vector],
            io: &mut $crate::exec::lanes::Io,
        ) {
            kernel($crate::exec::simd::Base, a, b, c, io);
        }
        $crate::exec::lanes::Kernels { base: kernel, wide }
    }};
}

/// A kernel that rounds as the mode says.
macro_rules! soft {
    ($run:ident::<$($ty:ty),*>($body:expr)) => {{
        fn kernel(
            _: $crate::exec::simd::Base,
            a: &[$crate::exec::lanes::Vector],
            b: &[$crate::exec::lanes::Vector],
            c: &[$crate::exec::lanes::Vector],
            io: &mut $crate::exec::lanes::Io,
        ) {
            $crate::exec::lanes::$run::<$($ty),*>(a, b, c, io, $body);
        }
        Some(kernel as $crate::exec::lanes::Kernel<$crate::exec::simd::Base>)
    }};
}

/// A vector instruction from its parts.
macro_rules! vector {
    ([$($src:ty),*] -> $dst:ty, $kernels:expr) => { vector!([$($src),*] -> $dst, $kernels, clamp None, soft None) };
    ([$($src:ty),*] -> $dst:ty, $kernels:expr, clamp $clamp:expr, soft $soft:expr) => {
        $crate::sem::Exec::Vector($crate::sem::VectorSem {
            kernels: $kernels,
            clamp: $clamp,
            soft: $soft,
            sources: $crate::sem::shapes::three([$(<$src as $crate::exec::lanes::Lane>::TY),*]),
            dst: <$dst as $crate::exec::lanes::Lane>::TY,
            extra: 0,
            traits: $crate::sem::Traits::NONE,
        })
    };
}

/// Types of up to three sources.
pub(super) const fn three<const N: usize>(types: [crate::exec::lanes::Ty; N]) -> [crate::exec::lanes::Ty; 3] {
    let mut all = [crate::exec::lanes::Ty::None; 3];
    let mut at = 0;
    while at < N {
        all[at] = types[at];
        at += 1;
    }
    all
}

/// The same vector instruction with a trait changed.
macro_rules! with {
    ($exec:expr, $($field:ident: $value:expr),*) => {
        match $exec {
            $crate::sem::Exec::Vector(vector) => $crate::sem::Exec::Vector($crate::sem::VectorSem {
                traits: $crate::sem::Traits { $($field: $value,)* ..vector.traits },
                ..vector
            }),
            other => other,
        }
    };
}

/// What a line's right side becomes.
macro_rules! shape {
    // Values of the types named, without rounding: `map(u32, u32 -> u64; |a, b| ..)`.
    (map $a:ty => $r:ty; $f:expr) => { vector!([$a] -> $r, narrow!(map1::<$a, $r>(io, $f))) };
    (map $a:ty, $b:ty => $r:ty; $f:expr) => { vector!([$a, $b] -> $r, narrow!(map2::<$a, $b, $r>(io, $f))) };
    (map $a:ty, $b:ty, $c:ty => $r:ty; $f:expr) => {
        vector!([$a, $b, $c] -> $r, narrow!(map3::<$a, $b, $c, $r>(io, $f)))
    };
    // The same; the body's first argument is the mode.
    (mode $a:ty => $r:ty; $f:expr) => {
        vector!([$a] -> $r, narrow!(map1::<$a, $r>(io, {
            let mode = io.mode;
            move |a| $crate::sem::shapes::apply2(mode, a, $f)
        })))
    };
    (mode $a:ty, $b:ty => $r:ty; $f:expr) => {
        vector!([$a, $b] -> $r, narrow!(map2::<$a, $b, $r>(io, {
            let mode = io.mode;
            move |a, b| $crate::sem::shapes::apply3(mode, a, b, $f)
        })))
    };
    (mode $a:ty, $b:ty, $c:ty => $r:ty; $f:expr) => {
        vector!([$a, $b, $c] -> $r, narrow!(map3::<$a, $b, $c, $r>(io, {
            let mode = io.mode;
            move |a, b, c| $crate::sem::shapes::apply4(mode, a, b, c, $f)
        })))
    };
    // The same in wide vectors.
    (wide $a:ty => $r:ty; $f:expr) => { vector!([$a] -> $r, kernels!(map1::<$a, $r>(io, $f))) };
    (wide $a:ty, $b:ty => $r:ty; $f:expr) => { vector!([$a, $b] -> $r, kernels!(map2::<$a, $b, $r>(io, $f))) };
    (wide $a:ty, $b:ty, $c:ty => $r:ty; $f:expr) => {
        vector!([$a, $b, $c] -> $r, kernels!(map3::<$a, $b, $c, $r>(io, $f)))
    };
    // The same, leaving the upper half of the destination on every generation.
    (keep $($body:tt)*) => { with!(shape!(map $($body)*), keeps_high: true) };
    (keep_mode $($body:tt)*) => { with!(shape!(mode $($body)*), keeps_high: true) };
    (u32x1 $f:expr) => { shape!(wide u32 => u32; $f) };
    (u32x2 $f:expr) => { shape!(wide u32, u32 => u32; $f) };
    (u32x3 $f:expr) => { shape!(wide u32, u32, u32 => u32; $f) };
    (i32x2 $f:expr) => { shape!(wide i32, i32 => i32; $f) };
    (i32x3 $f:expr) => { shape!(wide i32, i32, i32 => i32; $f) };
    (u16x2 $f:expr) => { shape!(map u16, u16 => u16; $f) };
    (i16x2 $f:expr) => { shape!(map i16, i16 => i16; $f) };
    (u16x3 $f:expr) => { shape!(keep u16, u16, u16 => u16; $f) };
    (i16x3 $f:expr) => { shape!(keep i16, i16, i16 => i16; $f) };
    (u64x2 $f:expr) => { shape!(map u64, u64 => u64; $f) };
    (i64x2 $f:expr) => { shape!(map i64, i64 => i64; $f) };
    // Exact in i64; wraps, or saturates where clamped.
    (clamp $a:ty, $b:ty => $r:ty; $f:expr) => {
        vector!([$a, $b] -> $r,
            kernels!(map2::<$a, $b, $r>(io, |a, b| {
                <$r as $crate::sem::shapes::Int>::wrap($crate::sem::shapes::apply2(
                    $crate::sem::shapes::Int::wide(a), $crate::sem::shapes::Int::wide(b), $f))
            })),
            clamp Some(narrow!(map2::<$a, $b, $r>(io, |a, b| {
                <$r as $crate::sem::shapes::Int>::saturate($crate::sem::shapes::apply2(
                    $crate::sem::shapes::Int::wide(a), $crate::sem::shapes::Int::wide(b), $f))
            }))), soft None)
    };
    (clamp $a:ty, $b:ty, $c:ty => $r:ty; $f:expr) => {
        vector!([$a, $b, $c] -> $r,
            kernels!(map3::<$a, $b, $c, $r>(io, |a, b, c| {
                <$r as $crate::sem::shapes::Int>::wrap($crate::sem::shapes::apply3(
                    $crate::sem::shapes::Int::wide(a), $crate::sem::shapes::Int::wide(b),
                    $crate::sem::shapes::Int::wide(c), $f))
            })),
            clamp Some(narrow!(map3::<$a, $b, $c, $r>(io, |a, b, c| {
                <$r as $crate::sem::shapes::Int>::saturate($crate::sem::shapes::apply3(
                    $crate::sem::shapes::Int::wide(a), $crate::sem::shapes::Int::wide(b),
                    $crate::sem::shapes::Int::wide(c), $f))
            }))), soft None)
    };
    (keep_clamp $($body:tt)*) => { with!(shape!(clamp $($body)*), keeps_high: true) };
    // The same for both halves of packed 16-bit integers.
    (pk_clamp $t:ty; |$a:pat_param, $b:pat_param| $f:expr) => {
        vector!([$crate::exec::lanes::Pk<$t>, $crate::exec::lanes::Pk<$t>] -> $crate::exec::lanes::Pk<$t>,
            shape!(@pk2 wrap $t, |$a: i64, $b: i64| $f),
            clamp Some(shape!(@pk2 saturate $t, |$a: i64, $b: i64| $f)), soft None)
    };
    (pk_clamp $t:ty; |$a:pat_param, $b:pat_param, $c:pat_param| $f:expr) => {
        vector!([$crate::exec::lanes::Pk<$t>, $crate::exec::lanes::Pk<$t>, $crate::exec::lanes::Pk<$t>]
                -> $crate::exec::lanes::Pk<$t>,
            shape!(@pk3 wrap $t, |$a: i64, $b: i64, $c: i64| $f),
            clamp Some(shape!(@pk3 saturate $t, |$a: i64, $b: i64, $c: i64| $f)), soft None)
    };
    (@pk2 $wrap:ident $t:ty, $f:expr) => {
        narrow!(map2::<$crate::exec::lanes::Pk<$t>, $crate::exec::lanes::Pk<$t>, $crate::exec::lanes::Pk<$t>>(io, |a, b| {
            let f = $f;
            let (lo, hi) = (f(a.0.into(), b.0.into()), f(a.1.into(), b.1.into()));
            $crate::exec::lanes::Pk(
                <$t as $crate::sem::shapes::Int>::$wrap(lo), <$t as $crate::sem::shapes::Int>::$wrap(hi))
        }))
    };
    (@pk3 $wrap:ident $t:ty, $f:expr) => {
        narrow!(map3::<$crate::exec::lanes::Pk<$t>, $crate::exec::lanes::Pk<$t>, $crate::exec::lanes::Pk<$t>,
                $crate::exec::lanes::Pk<$t>>(io, |a, b, c| {
            let f = $f;
            let (lo, hi) = (f(a.0.into(), b.0.into(), c.0.into()), f(a.1.into(), b.1.into(), c.1.into()));
            $crate::exec::lanes::Pk(
                <$t as $crate::sem::shapes::Int>::$wrap(lo), <$t as $crate::sem::shapes::Int>::$wrap(hi))
        }))
    };
    // Rounded arithmetic: the CPU's where it rounds to nearest even, in integers otherwise.
    (f32x2 $f:expr) => {
        vector!([f32, f32] -> f32, kernels!(float2::<f32>(io, $f)), clamp None, soft soft!(map2::<
            $crate::exec::float::Soft32, $crate::exec::float::Soft32, $crate::exec::float::Soft32>($f)))
    };
    (f32x3 $f:expr) => {
        vector!([f32, f32, f32] -> f32, kernels!(float3::<f32>(io, $f)), clamp None, soft soft!(map3::<
            $crate::exec::float::Soft32, $crate::exec::float::Soft32, $crate::exec::float::Soft32,
            $crate::exec::float::Soft32>($f)))
    };
    // The same, flushing denormals whatever the mode says: multiply-add with two roundings.
    (mad32 $f:expr) => { with!(shape!(f32x3 $f), denormals: $crate::sem::Denormals::Flush) };
    (flushing $shape:ident $($body:tt)*) => {
        with!(shape!($shape $($body)*), denormals: $crate::sem::Denormals::Flush)
    };
    // A 16-bit result of the mode to the upper half.
    (high $($body:tt)*) => { with!(shape!(keep_mode $($body)*), high: true) };
    (to_scalar $($body:tt)*) => { with!(shape!(map $($body)*), to_scalar: true) };
    (f64x2 $f:expr) => {
        vector!([f64, f64] -> f64, kernels!(float2::<f64>(io, $f)), clamp None, soft soft!(map2::<
            $crate::exec::float::Soft64, $crate::exec::float::Soft64, $crate::exec::float::Soft64>($f)))
    };
    (f64x3 $f:expr) => {
        vector!([f64, f64, f64] -> f64, kernels!(float3::<f64>(io, $f)), clamp None, soft soft!(map3::<
            $crate::exec::float::Soft64, $crate::exec::float::Soft64, $crate::exec::float::Soft64,
            $crate::exec::float::Soft64>($f)))
    };
    (f16x2 $f:expr) => {
        shape!(map $crate::exec::float::Soft16, $crate::exec::float::Soft16 => $crate::exec::float::Soft16; $f)
    };
    (f16x3 $f:expr) => {
        shape!(keep $crate::exec::float::Soft16, $crate::exec::float::Soft16, $crate::exec::float::Soft16
            => $crate::exec::float::Soft16; $f)
    };
    // The same, clearing the upper half of the destination where the generation does.
    (short_f16x3 $f:expr) => {
        shape!(map $crate::exec::float::Soft16, $crate::exec::float::Soft16, $crate::exec::float::Soft16
            => $crate::exec::float::Soft16; $f)
    };
    (pk_f16x2 $f:expr) => { shape!(@pkf2 $crate::exec::float::Soft16, $f) };
    (pk_f16x3 $f:expr) => { shape!(@pkf3 $crate::exec::float::Soft16, $f) };
    (pk_bf16x2 $f:expr) => { shape!(@pkf2 $crate::exec::float::SoftBf16, $f) };
    (pk_bf16x3 $f:expr) => { shape!(@pkf3 $crate::exec::float::SoftBf16, $f) };
    (pk_f32x2 $f:expr) => { shape!(@pkf2 $crate::exec::float::Soft32, $f) };
    (pk_f32x3 $f:expr) => { shape!(@pkf3 $crate::exec::float::Soft32, $f) };
    (@pkf2 $t:ty, $f:expr) => {
        shape!(map $crate::exec::lanes::Pk<$t>, $crate::exec::lanes::Pk<$t> => $crate::exec::lanes::Pk<$t>; |a, b| {
            $crate::exec::lanes::Pk(
                $crate::sem::shapes::apply2(a.0, b.0, $f), $crate::sem::shapes::apply2(a.1, b.1, $f))
        })
    };
    (@pkf3 $t:ty, $f:expr) => {
        shape!(map $crate::exec::lanes::Pk<$t>, $crate::exec::lanes::Pk<$t>, $crate::exec::lanes::Pk<$t>
            => $crate::exec::lanes::Pk<$t>; |a, b, c| {
            $crate::exec::lanes::Pk(
                $crate::sem::shapes::apply3(a.0, b.0, c.0, $f), $crate::sem::shapes::apply3(a.1, b.1, c.1, $f))
        })
    };
    // Both halves by a body over 16-bit floats that looks at the mode.
    (pk_mode $t:ty; |$m:pat_param, $a:pat_param, $b:pat_param| $f:expr) => {
        shape!(mode $crate::exec::lanes::Pk<$t>, $crate::exec::lanes::Pk<$t> => $crate::exec::lanes::Pk<$t>;
            |mode, a, b| {
                let f = |$m: $crate::exec::Mode, $a: $t, $b: $t| $f;
                $crate::exec::lanes::Pk(f(mode, a.0, b.0), f(mode, a.1, b.1))
            })
    };
    // A carry in and out: `|a, b, carry|` in exact arithmetic.
    (carry $f:expr) => {
        vector!([u32, u32] -> u32, kernels!(carry::<>(io, $f)), clamp Some(narrow!(carry_clamp::<>(io, $f))), soft None)
    };
    // A 64-bit sum of 32-bit factors, in exact arithmetic; bit 64 is the carry that is written.
    (wide_carry $t:ty, $sum:ty; $f:expr) => {
        vector!([$t, $t, $sum] -> $sum, kernels!(wide_carry::<$t, $sum>(io, $f)))
    };
    // The lane's number before the values.
    (indexed $f:expr) => { vector!([u32, u32] -> u32, kernels!(indexed::<>(io, $f))) };
    // A choice by a lane mask: `|a, b, bit|`.
    (select $t:ty; $f:expr) => { vector!([$t, $t] -> $t, kernels!(select::<$t>(io, $f))) };
    // The same of three sources; the body's first argument is the mode. Denormal sources are kept.
    (select3 $t:ty; $f:expr) => {
        with!(
            vector!([$t, $t, $t] -> $t, narrow!(select3::<$t>(io, {
                let mode = io.mode;
                move |a, b, c, bit| $crate::sem::shapes::apply5(mode, a, b, c, bit, $f)
            }))),
            denormals: $crate::sem::Denormals::Read)
    };
    // A result and a bit of a lane mask.
    (flagged $t:ty; $f:expr) => { vector!([$t, $t, $t] -> $t, narrow!(flagged::<$t>(io, $f))) };
    // Steps of an interpolation, the mode first.
    (interpolate10 $a:ty => $r:ty; $f:expr) => {
        vector!([$a, f32, $a] -> $r, narrow!(interpolate10::<$a, $r>(io, $f)))
    };
    (interpolate2 $a:ty => $r:ty; $f:expr) => {
        vector!([$a, f32, f32] -> $r, narrow!(interpolate2::<$a, $r>(io, $f)))
    };
    // Products of pairs, added to a 32-bit float.
    (dot $t:ty; $f:expr) => {
        with!(shape!(map $crate::exec::lanes::Pk<$t>, $crate::exec::lanes::Pk<$t>, f32 => f32; $f),
            denormals: $crate::sem::Denormals::Dot)
    };
    // An exact sum in i64, wrapped, or saturated where clamped. The body gets the last source as i64.
    (sums $a:ty, $b:ty, $r:ty; |$x:pat_param, $y:pat_param, $z:pat_param| $f:expr) => {
        vector!([$a, $b, $r] -> $r,
            kernels!(map3::<$a, $b, $r, $r>(io, |$x: $a, $y: $b, sum: $r| {
                let $z = $crate::sem::shapes::Int::wide(sum);
                <$r as $crate::sem::shapes::Int>::wrap($f)
            })),
            clamp Some(narrow!(map3::<$a, $b, $r, $r>(io, |$x: $a, $y: $b, sum: $r| {
                let $z = $crate::sem::shapes::Int::wide(sum);
                <$r as $crate::sem::shapes::Int>::saturate($f)
            }))), soft None)
    };
    // The same of packed integers whose signs the modifiers give: `|a, b, c, signs|`.
    (signed_sums $r:ty; |$x:pat_param, $y:pat_param, $z:pat_param, $s:pat_param| $f:expr) => {
        with!(
            vector!([u32, u32, $r] -> $r,
                kernels!(map3::<u32, u32, $r, $r>(io, {
                    let $s = io.extra;
                    move |$x: u32, $y: u32, sum: $r| {
                        let $z = $crate::sem::shapes::Int::wide(sum);
                        <$r as $crate::sem::shapes::Int>::wrap($f)
                    }
                })),
                clamp Some(narrow!(map3::<u32, u32, $r, $r>(io, {
                    let $s = io.extra;
                    move |$x: u32, $y: u32, sum: $r| {
                        let $z = $crate::sem::shapes::Int::wide(sum);
                        <$r as $crate::sem::shapes::Int>::saturate($f)
                    }
                }))), soft None),
            bits: $crate::sem::ModifierBits::Signs)
    };
    // A truth table held by the modifier fields.
    (table $t:ty; $f:expr) => {
        with!(
            vector!([$t, $t, $t] -> $t, kernels!(map3::<$t, $t, $t, $t>(io, {
                let table = io.extra;
                move |a, b, c| $crate::sem::shapes::apply4(a, b, c, table, $f)
            }))),
            bits: $crate::sem::ModifierBits::TruthTable, keeps_high: true)
    };
    // The same of two sources.
    (table2 $t:ty; $f:expr) => {
        with!(
            vector!([$t, $t] -> $t, kernels!(map2::<$t, $t, $t>(io, {
                let table = io.extra;
                move |a, b| $crate::sem::shapes::apply3(a, b, table, $f)
            }))),
            bits: $crate::sem::ModifierBits::TruthTable)
    };

    // Scalars. `d` is the old destination, `scc` the condition, `exec` the active lanes, `mode` the mode; other arguments
    // are sources.
    (val |$($arg:ident: $ty:ty),*| $body:expr) => {
        shape!(@scalar s, [$($arg: $ty),*], $crate::sem::Scalar {
            value: Some($crate::sem::shapes::Bits::bits($body)), ..Default::default()
        })
    };
    // SCC says whether the result is not 0.
    (nz |$($arg:ident: $ty:ty),*| $body:expr) => {
        shape!(@scalar s, [$($arg: $ty),*], {
            let value = $crate::sem::shapes::Bits::bits($body);
            $crate::sem::Scalar { value: Some(value), scc: Some(value != 0), ..Default::default() }
        })
    };
    // The body gives the result and SCC.
    (pair |$($arg:ident: $ty:ty),*| $body:expr) => {
        shape!(@scalar s, [$($arg: $ty),*], {
            let (value, scc) = $body;
            $crate::sem::Scalar { value: Some($crate::sem::shapes::Bits::bits(value)), scc: Some(scc), ..Default::default() }
        })
    };
    // The body gives SCC alone.
    (scc |$($arg:ident: $ty:ty),*| $body:expr) => {
        shape!(@scalar s, [$($arg: $ty),*], $crate::sem::Scalar { scc: Some($body), ..Default::default() })
    };
    // The old EXEC to the destination, the body's value to EXEC.
    (save |$($arg:ident: $ty:ty),*| $body:expr) => {
        shape!(@scalar s, [$($arg: $ty),*], {
            let exec = $crate::sem::shapes::Bits::bits($body);
            $crate::sem::Scalar { value: Some(s.exec), scc: Some(exec != 0), exec: Some(exec) }
        })
    };
    // The body's value to the destination and EXEC.
    (wrexec |$($arg:ident: $ty:ty),*| $body:expr) => {
        shape!(@scalar s, [$($arg: $ty),*], {
            let exec = $crate::sem::shapes::Bits::bits($body);
            $crate::sem::Scalar { value: Some(exec), scc: Some(exec != 0), exec: Some(exec) }
        })
    };
    (@scalar $s:ident, [$($arg:ident: $ty:ty),*], $out:expr) => {{
        fn run($s: &$crate::sem::Scalars) -> $crate::sem::Scalar {
            shape!(@bind $s, 0, $($arg $arg: $ty,)*);
            $out
        }
        $crate::sem::Exec::Scalar($crate::sem::ScalarSem { run })
    }};
    (@bind $s:ident, $at:expr,) => {};
    // Each argument comes twice: to be known by its name, and to be bound under it.
    (@bind $s:ident, $at:expr, d $arg:ident: $ty:ty, $($rest:tt)*) => {
        let $arg = <$ty as $crate::sem::shapes::Bits>::from_bits($s.old);
        shape!(@bind $s, $at, $($rest)*);
    };
    (@bind $s:ident, $at:expr, scc $arg:ident: $ty:ty, $($rest:tt)*) => {
        let $arg: bool = $s.scc;
        shape!(@bind $s, $at, $($rest)*);
    };
    (@bind $s:ident, $at:expr, mode $arg:ident: $ty:ty, $($rest:tt)*) => {
        let $arg: $ty = $s.mode;
        shape!(@bind $s, $at, $($rest)*);
    };
    (@bind $s:ident, $at:expr, exec $arg:ident: $ty:ty, $($rest:tt)*) => {
        let $arg = <$ty as $crate::sem::shapes::Bits>::from_bits($s.exec);
        shape!(@bind $s, $at, $($rest)*);
    };
    (@bind $s:ident, $at:expr, $name:ident $arg:ident: $ty:ty, $($rest:tt)*) => {
        let $arg = <$ty as $crate::sem::shapes::Bits>::from_bits($s.sources[$at]);
        shape!(@bind $s, $at + 1, $($rest)*);
    };

    (branch $f:expr) => { $crate::sem::Exec::Branch($f) };
    (control $f:expr) => { $crate::sem::Exec::Control($f) };
    (group $f:expr) => { $crate::sem::Exec::Group($f) };
}
