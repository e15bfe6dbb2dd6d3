//! A buffer that text is assembled in: numbers and short strings without `core::fmt`.

/// Longer than any instruction, and room for the last fixed-size copy.
const CAPACITY: usize = 320;

/// Decimal digits of the numbers below 512 and how many they are.
static DECIMAL: [([u8; 3], u8); 512] = {
    let mut table = [([0; 3], 0); 512];
    let mut value = 0;
    while value < 512 {
        let (hundreds, tens, ones) = (value / 100, value / 10 % 10, value % 10);
        let [h, t, o] = [b'0' + hundreds as u8, b'0' + tens as u8, b'0' + ones as u8];
        table[value] = match value {
            0..10 => ([o, b' ', b' '], 1),
            10..100 => ([t, o, b' '], 2),
            _ => ([h, t, o], 3),
        };
        value += 1;
    }
    table
};

/// Text under construction. What does not fit is dropped.
pub(super) struct Text {
    bytes: [u8; CAPACITY],
    len: usize,
}

impl Text {
    #[inline]
    pub(super) const fn new() -> Text {
        Text { bytes: [0; CAPACITY], len: 0 }
    }

    #[inline]
    pub(super) const fn len(&self) -> usize {
        self.len
    }

    #[inline]
    pub(super) fn truncate(&mut self, len: usize) {
        self.len = self.len.min(len);
    }

    /// Drops a space at the end.
    pub(super) fn trim_end(&mut self) {
        if self.as_str().ends_with(' ') {
            self.len -= 1;
        }
    }

    #[inline]
    pub(super) fn as_str(&self) -> &str {
        core::str::from_utf8(&self.bytes[..self.len]).unwrap_or_default()
    }

    #[inline]
    pub(super) fn push(&mut self, byte: u8) {
        if let Some(slot) = self.bytes.get_mut(self.len) {
            *slot = byte;
            self.len += 1;
        }
    }

    /// Two bytes.
    #[inline]
    pub(super) fn pair(&mut self, bytes: [u8; 2]) {
        if let Some(room) = self.bytes.get_mut(self.len..).and_then(|rest| rest.first_chunk_mut()) {
            *room = bytes;
            self.len += 2;
        }
    }

    /// Short texts are copied as two pieces of fixed size that may overlap: a call of `memcpy` costs more.
    #[inline]
    pub(super) fn str(&mut self, text: &str) {
        let text = text.as_bytes();
        let Some(room) = self.bytes.get_mut(self.len..self.len + text.len()) else { return };
        self.len += text.len();
        match text.len() {
            0 => {}
            1 => room[0] = text[0],
            2..4 => overlap::<2>(room, text),
            4..8 => overlap::<4>(room, text),
            8..16 => overlap::<8>(room, text),
            16..=32 => overlap::<16>(room, text),
            _ => room.copy_from_slice(text),
        }
    }

    /// A decimal number.
    #[inline]
    pub(super) fn dec(&mut self, value: u32) {
        match DECIMAL.get(value as usize) {
            Some(&(digits, count)) => {
                if let Some(room) = self.bytes.get_mut(self.len..).and_then(|rest| rest.first_chunk_mut::<3>()) {
                    *room = digits;
                    self.len += usize::from(count);
                }
            }
            None => self.dec_long(value),
        }
    }

    #[cold]
    fn dec_long(&mut self, mut value: u32) {
        let mut digits = [0; 10];
        let mut at = digits.len();
        while value > 0 {
            at -= 1;
            digits[at] = b'0' + (value % 10) as u8;
            value /= 10;
        }
        for &digit in &digits[at..] {
            self.push(digit);
        }
    }

    /// A signed decimal number.
    pub(super) fn signed(&mut self, value: i32) {
        if value < 0 {
            self.push(b'-');
        }
        self.dec(value.unsigned_abs());
    }

    /// `0x1f`
    pub(super) fn hex(&mut self, value: u64) {
        self.str("0x");
        let digits = (64 - value.leading_zeros()).div_ceil(4).max(1);
        for at in (0..digits).rev() {
            let digit = (value >> (4 * at) & 15) as u8;
            self.push(if digit < 10 { b'0' + digit } else { b'a' - 10 + digit });
        }
    }

    /// Replaces what lies between `start` and `value` and puts brackets around what follows.
    pub(super) fn wrap_from(&mut self, start: usize, value: usize, open: &str, close: &str) {
        let end = self.len;
        let to = start + open.len();
        if start <= value && value <= end && to + (end - value) + close.len() <= CAPACITY {
            self.bytes.copy_within(value..end, to);
            self.bytes[start..to].copy_from_slice(open.as_bytes());
            self.len = to + (end - value);
            self.str(close);
        }
    }

    /// `v5` or `v[5:6]`
    #[inline]
    pub(super) fn registers(&mut self, file: &str, first: u32, count: u32) {
        match file.as_bytes() {
            &[letter] => self.push(letter),
            _ => self.str(file),
        }
        if count <= 1 {
            self.dec(first);
        } else {
            self.push(b'[');
            self.dec(first);
            self.push(b':');
            self.dec(first + count - 1);
            self.push(b']');
        }
    }
}

/// Copies `N` to `2 * N` bytes between slices of one length.
#[inline]
fn overlap<const N: usize>(to: &mut [u8], from: &[u8]) {
    if let (Some(to), Some(from)) = (to.first_chunk_mut::<N>(), from.first_chunk::<N>()) {
        *to = *from;
    }
    if let (Some(to), Some(from)) = (to.last_chunk_mut::<N>(), from.last_chunk::<N>()) {
        *to = *from;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(write: impl Fn(&mut Text)) -> std::string::String {
        let mut text = Text::new();
        write(&mut text);
        text.as_str().into()
    }

    #[test]
    fn numbers() {
        for value in [0, 9, 10, 99, 100, 65535, u32::MAX] {
            assert_eq!(text(|t| t.dec(value)), std::format!("{value}"));
            assert_eq!(text(|t| t.hex(value.into())), std::format!("{value:#x}"));
            assert_eq!(text(|t| t.signed(value as i32)), std::format!("{}", value as i32));
        }
        for value in 0..600 {
            assert_eq!(text(|t| t.dec(value)), std::format!("{value}"));
        }
        assert_eq!(text(|t| t.hex(u64::MAX)), "0xffffffffffffffff");
    }

    #[test]
    fn texts_of_every_length() {
        let long: std::string::String = ('a'..='z').cycle().take(60).collect();
        for len in 0..=long.len() {
            assert_eq!(text(|t| t.str(&long[..len])), &long[..len]);
        }
    }

    #[test]
    fn what_does_not_fit_is_dropped() {
        let long = text(|t| (0..CAPACITY).for_each(|_| t.str("ab")));
        assert_eq!(long.len(), CAPACITY);
    }
}
