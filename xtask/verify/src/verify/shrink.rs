//! Words made as plain as a difference allows.

/// Room for the longest instruction and what follows it in a stream.
pub(super) const BYTES: usize = 24;

/// An instruction with the bytes behind it.
pub(super) type Word = [u8; BYTES];

/// Clears every bit that does not matter: `same` says whether a word still shows the difference.
///
/// Wide pieces first, so that a tail of random bytes takes few questions.
pub(super) fn shrink<E>(mut word: Word, mut same: impl FnMut(&Word) -> Result<bool, E>) -> Result<Word, E> {
    loop {
        let before = word;
        for width in [64, 32, 8, 4, 2, 1] {
            for start in (0..BYTES * 8).step_by(width).rev() {
                let mut plain = word;
                for bit in start..start + width {
                    plain[bit / 8] &= !(1 << (bit % 8));
                }
                if plain != word && same(&plain)? {
                    word = plain;
                }
            }
        }
        // A bit that went may let an earlier one go.
        if word == before {
            return Ok(word);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(word: Word, same: impl Fn(&Word) -> bool) -> Word {
        shrink(word, |word| Ok::<_, ()>(same(word))).unwrap()
    }

    #[test]
    fn keeps_just_the_bits_that_matter() {
        let found = plain([0xff; BYTES], |word| word[3] & 0x41 == 0x41 && word[9] & 0x80 != 0);
        let mut expected = [0; BYTES];
        (expected[3], expected[9]) = (0x41, 0x80);
        assert_eq!(found, expected);
    }

    #[test]
    fn a_bit_that_holds_another_goes_after_it() {
        // Bit 0 of byte 0 may go only after byte 1.
        let found = plain([1; BYTES], |word| word[2] == 1 && (word[0] == 1 || word[1] == 0));
        let mut expected = [0; BYTES];
        expected[2] = 1;
        assert_eq!(found, expected);
    }

    #[test]
    fn an_error_ends_it() {
        assert_eq!(shrink([1; BYTES], |_| Err("gone")), Err("gone"));
    }
}
