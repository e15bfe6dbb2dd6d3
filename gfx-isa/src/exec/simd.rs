//! The one place that calls code compiled for CPU features beyond the baseline.
//!
//! A [`Level`] is a token: [`Wide`] exists only where the CPU has AVX2 and FMA, so that running code at that level is
//! sound and `mul_add` becomes one instruction. At [`Base`] the same code runs with the baseline's instructions, where
//! `mul_add` is the C library's exact function.
#![allow(unsafe_code)] // Calls of `#[target_feature]` functions, guarded by the token.

use super::lanes::{Io, Vector};

/// A level of CPU features.
pub(crate) trait Level: Copy {
    /// Runs code that is inlined and compiled for the level.
    fn run<R>(self, code: impl FnOnce() -> R) -> R;

    /// As [`Level::run`], for a vector kernel. Its operands are arguments of the compiled function, so that the compiler
    /// knows that they do not overlap.
    fn kernel(
        self,
        a: &[Vector],
        b: &[Vector],
        c: &[Vector],
        io: &mut Io,
        code: impl FnOnce(&[Vector], &[Vector], &[Vector], &mut Io),
    );
}

/// What every CPU of the target has.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Base;

impl Level for Base {
    #[inline(always)]
    fn run<R>(self, code: impl FnOnce() -> R) -> R {
        code()
    }

    #[inline(always)]
    fn kernel(
        self,
        a: &[Vector],
        b: &[Vector],
        c: &[Vector],
        io: &mut Io,
        code: impl FnOnce(&[Vector], &[Vector], &[Vector], &mut Io),
    ) {
        code(a, b, c, io);
    }
}

/// AVX2 and FMA.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Wide(());

impl Wide {
    /// The token, where the CPU has the features.
    #[inline]
    pub(crate) fn detect() -> Option<Wide> {
        #[cfg(target_arch = "x86_64")]
        if std::is_x86_feature_detected!("avx2") && std::is_x86_feature_detected!("fma") {
            return Some(Wide(()));
        }
        None
    }
}

impl Level for Wide {
    #[inline(always)]
    fn run<R>(self, code: impl FnOnce() -> R) -> R {
        #[cfg(target_arch = "x86_64")]
        {
            #[target_feature(enable = "avx2,fma")]
            #[inline]
            fn featured<R>(code: impl FnOnce() -> R) -> R {
                code()
            }
            // SAFETY: the token is made only by `detect`, which saw both features.
            unsafe { featured(code) }
        }
        #[cfg(not(target_arch = "x86_64"))]
        code()
    }

    #[inline(always)]
    fn kernel(
        self,
        a: &[Vector],
        b: &[Vector],
        c: &[Vector],
        io: &mut Io,
        code: impl FnOnce(&[Vector], &[Vector], &[Vector], &mut Io),
    ) {
        #[cfg(target_arch = "x86_64")]
        {
            #[target_feature(enable = "avx2,fma")]
            #[inline]
            fn featured(
                a: &[Vector],
                b: &[Vector],
                c: &[Vector],
                io: &mut Io,
                code: impl FnOnce(&[Vector], &[Vector], &[Vector], &mut Io),
            ) {
                code(a, b, c, io);
            }
            // SAFETY: the token is made only by `detect`, which saw both features.
            unsafe { featured(a, b, c, io, code) }
        }
        #[cfg(not(target_arch = "x86_64"))]
        code(a, b, c, io);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dot(level: impl Level, a: &[f32; 64], b: &[f32; 64], c: &[f32; 64]) -> [u32; 64] {
        level.run(|| core::array::from_fn(|i| a[i].mul_add(b[i], c[i]).to_bits()))
    }

    #[test]
    fn levels_agree_and_fuse() {
        // The product is 1 + 2^-11 + 2^-24, half an ulp above what a rounded product keeps.
        let a = [1.0 + 1.0 / 4096.0; 64];
        let c: [f32; 64] = core::array::from_fn(|i| -1.0 - i as f32);
        let base = dot(Base, &a, &a, &c);
        let exact = f64::from(a[0]) * f64::from(a[0]) - 1.0;
        assert_eq!(f32::from_bits(base[0]), exact as f32);
        match Wide::detect() {
            Some(wide) => assert_eq!(dot(wide, &a, &a, &c), base),
            None => std::eprintln!("this CPU has no AVX2 with FMA: only the baseline is tested"),
        }
    }
}
