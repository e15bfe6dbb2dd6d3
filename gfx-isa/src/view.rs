//! The macro that makes typed views of encodings.

/// Defines a typed view of an encoding: a word with a getter and a setter for each field and a constant for each
/// opcode. A field may have several ranges (`offset + count`); the first holds the least significant bits.
macro_rules! encoding {
    (
        $(#[$doc:meta])*
        $name:ident($word:tt) fixed $fixed:literal op [$($op_offset:literal + $op_count:literal),*] {
            $($get:ident $set:ident $ty:ident [$($offset:literal + $count:literal),+],)*
        }
        $($op:ident = $opcode:literal;)*
    ) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub struct $name(pub $word);

        #[allow(missing_docs)] // The names are AMD's.
        impl $name {
            $(pub const $op: u32 = $opcode;)*

            /// The encoding's fixed bits and an opcode, zero elsewhere.
            #[must_use]
            pub const fn new(opcode: u32) -> Self {
                let word = $crate::view::word!($word, from $fixed);
                $crate::view::word!($word, set word, opcode, u32 [$($op_offset + $op_count),*]);
                Self(word)
            }

            $(
                #[must_use]
                pub const fn $get(self) -> $ty {
                    $crate::view::word!($word, get self.0, $ty [$($offset + $count),+])
                }

                /// Bits of the value above the field's are dropped.
                #[must_use]
                pub const fn $set(self, value: $ty) -> Self {
                    let word = self.0;
                    $crate::view::word!($word, set word, value, $ty [$($offset + $count),+]);
                    Self(word)
                }
            )*
        }
    };
}
pub(crate) use encoding;

/// Bit access to a word that is an integer or, wider than 128 bits, an array of dwords.
macro_rules! word {
    ([u32; 5], from $fixed:literal) => {{
        let fixed: u128 = $fixed;
        [fixed as u32, (fixed >> 32) as u32, (fixed >> 64) as u32, (fixed >> 96) as u32, 0]
    }};
    ([u32; 5], get $word:expr, $ty:ident [$($offset:literal + $count:literal),+]) => {{
        let (mut value, mut at): ($ty, u32) = (0, 0);
        $(
            value |= $crate::view::get_bits(&$word, $offset, $count) << at;
            at += $count;
        )+
        let _ = at;
        value
    }};
    ([u32; 5], set $word:ident, $value:expr, $ty:ident [$($offset:literal + $count:literal),*]) => {
        #[allow(unused_mut)]
        let mut at: u32 = 0;
        $(
            let $word = $crate::view::set_bits($word, $offset, $count, $value >> at);
            at += $count;
        )*
        let _ = (at, $value);
    };
    ($int:tt, from $fixed:literal) => { $fixed as $int };
    ($int:tt, get $word:expr, $ty:ident [$($offset:literal + $count:literal),+]) => {{
        let (mut value, mut at): ($ty, u32) = (0, 0);
        $(
            value |= ((($word >> $offset) & ($int::MAX >> ($int::BITS - $count))) as $ty) << at;
            at += $count;
        )+
        let _ = at;
        value
    }};
    ($int:tt, set $word:ident, $value:expr, $ty:ident [$($offset:literal + $count:literal),*]) => {
        #[allow(unused_mut)]
        let mut at: u32 = 0;
        $(
            let mask = ($int::MAX >> ($int::BITS - $count)) << $offset;
            let $word = ($word & !mask) | (((($value >> at) as $int) << $offset) & mask);
            at += $count;
        )*
        let _ = (at, $value);
    };
}
pub(crate) use word;

/// Up to 32 bits of an array of dwords; the range may cross dwords.
pub(crate) const fn get_bits(words: &[u32; 5], offset: u32, count: u32) -> u32 {
    let at = (offset / 32) as usize;
    let high = if at < 4 { words[at + 1] as u64 } else { 0 };
    (((high << 32 | words[at] as u64) >> (offset % 32)) & (u64::MAX >> (64 - count))) as u32
}

/// The array with up to 32 bits replaced.
#[allow(dead_code)] // Only RDNA 1 and 2 have words this wide.
pub(crate) const fn set_bits(mut words: [u32; 5], offset: u32, count: u32, value: u32) -> [u32; 5] {
    let at = (offset / 32) as usize;
    let high = if at < 4 { words[at + 1] as u64 } else { 0 };
    let mask = (u64::MAX >> (64 - count)) << (offset % 32);
    let both = ((high << 32 | words[at] as u64) & !mask) | (((value as u64) << (offset % 32)) & mask);
    words[at] = both as u32;
    if at < 4 {
        words[at + 1] = (both >> 32) as u32;
    }
    words
}

#[cfg(test)]
#[allow(unreachable_pub)] // The macro makes public types.
mod tests {
    encoding! {
        /// A word with a split field.
        Split(u64) fixed 0xcc00_0000 op [16+7] {
            lo_hi with_lo_hi u32 [59+2, 14+1],
            op with_op u32 [16+7],
        }
        V_TEST = 9;
    }

    encoding! {
        /// A word of five dwords.
        Wide([u32; 5]) fixed 0xf000_0000 op [18+7, 0+1] {
            last with_last u32 [152+8],
            across with_across u32 [60+8],
        }
    }

    #[test]
    fn split_fields() {
        let word = Split::new(Split::V_TEST).with_lo_hi(0b110);
        assert_eq!(word.0, (0b10 << 59) | (1 << 14) | 0xcc09_0000);
        assert_eq!((word.lo_hi(), word.op()), (0b110, 9));
        assert_eq!(word.with_lo_hi(0).0, 0xcc09_0000);
        assert_eq!(Split(0).with_op(0xfff).op(), 0x7f);
    }

    #[test]
    fn wide_words() {
        let word = Wide::new(0x80).with_last(0xab).with_across(0x1a5);
        assert_eq!(word.0, [0xf000_0001, 0x5000_0000, 0xa, 0, 0xab00_0000]);
        assert_eq!((word.last(), word.across()), (0xab, 0xa5));
    }
}
