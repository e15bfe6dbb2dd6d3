//! Reads characters, names and numbers.

use super::error::Fault;

/// A place in a line.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Cursor<'t> {
    pub(crate) text: &'t [u8],
    pub(crate) at: usize,
}

/// A number as written.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Number {
    Int(u64),
    Float(f64),
}

pub(crate) const fn is_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'$' | b'@')
}

impl<'t> Cursor<'t> {
    pub(crate) fn new(text: &'t [u8]) -> Cursor<'t> {
        Cursor { text, at: 0 }
    }

    #[inline]
    pub(crate) fn peek(&self) -> u8 {
        self.text.get(self.at).copied().unwrap_or(0)
    }

    #[inline]
    pub(crate) fn peek_at(&self, ahead: usize) -> u8 {
        self.text.get(self.at + ahead).copied().unwrap_or(0)
    }

    #[inline]
    pub(crate) fn done(&self) -> bool {
        self.at >= self.text.len()
    }

    /// Passes over blanks and `/* .. */`.
    #[inline]
    pub(crate) fn space(&mut self) {
        match self.peek() {
            b' ' => self.at += 1,
            b'\t' | b'\r' | b'/' => {}
            _ => return,
        }
        loop {
            match self.peek() {
                b' ' | b'\t' | b'\r' => self.at += 1,
                b'/' if self.peek_at(1) == b'*' => {
                    let rest = &self.text[self.at + 2..];
                    let end = rest.windows(2).position(|pair| pair == b"*/");
                    self.at = end.map_or(self.text.len(), |end| self.at + 2 + end + 2);
                }
                _ => return,
            }
        }
    }

    /// Passes over a character where it is next.
    #[inline]
    pub(crate) fn eat(&mut self, byte: u8) -> bool {
        let is = self.peek() == byte;
        self.at += usize::from(is);
        is
    }

    /// As [`Cursor::eat`], after blanks.
    #[inline]
    pub(crate) fn eat_after_space(&mut self, byte: u8) -> bool {
        self.space();
        self.eat(byte)
    }

    pub(crate) fn expect(&mut self, byte: u8, what: &'static str) -> Result<(), Fault> {
        if self.eat_after_space(byte) { Ok(()) } else { Err(Fault::syntax(self.at, what)) }
    }

    /// A name; empty where there is none.
    #[inline]
    pub(crate) fn name(&mut self) -> &'t [u8] {
        let start = self.at;
        while self.at < self.text.len() && is_name(self.text[self.at]) {
            self.at += 1;
        }
        &self.text[start..self.at]
    }

    /// A decimal number of up to nine digits.
    #[inline]
    pub(crate) fn digits(&mut self) -> Option<u32> {
        let start = self.at;
        let mut value = 0u32;
        while let digit @ b'0'..=b'9' = self.peek() {
            value = value.wrapping_mul(10).wrapping_add(u32::from(digit - b'0'));
            self.at += 1;
        }
        matches!(self.at - start, 1..=9).then_some(value)
    }

    /// A hexadecimal number of up to eight digits.
    #[inline]
    pub(crate) fn hex_digits(&mut self) -> Option<i64> {
        let start = self.at;
        let mut value = 0i64;
        while let Some(digit) = char::from(self.peek()).to_digit(16) {
            value = value.wrapping_mul(16).wrapping_add(i64::from(digit));
            self.at += 1;
        }
        matches!(self.at - start, 1..=8).then_some(value)
    }

    /// Passes over everything up to the bracket that closes the one that is next.
    pub(crate) fn balanced(&mut self) -> Result<(), Fault> {
        let start = self.at;
        let mut depth = 0usize;
        while let Some(&byte) = self.text.get(self.at) {
            self.at += 1;
            match byte {
                b'(' | b'[' | b'{' => depth += 1,
                b')' | b']' | b'}' => {
                    depth = depth.saturating_sub(1);
                    if depth == 0 {
                        return Ok(());
                    }
                }
                _ => {}
            }
        }
        Err(Fault::syntax(start, "the bracket is not closed"))
    }

    /// A number without sign.
    #[inline]
    pub(crate) fn number(&mut self) -> Result<Number, Fault> {
        let start = self.at;
        if self.peek() == b'0' {
            let radix = match self.peek_at(1) {
                b'x' | b'X' => 16,
                b'b' | b'B' => 2,
                b'o' | b'O' => 8,
                _ => 10,
            };
            if radix != 10 {
                self.at += 2;
                return self.radix(radix, start);
            }
        }
        let mut value: u64 = 0;
        let mut fits = true;
        while self.peek().is_ascii_digit() {
            let next = value.checked_mul(10).and_then(|v| v.checked_add(u64::from(self.peek() - b'0')));
            fits &= next.is_some();
            value = next.unwrap_or(0);
            self.at += 1;
        }
        let exponent = matches!(self.peek(), b'e' | b'E')
            && (self.peek_at(1).is_ascii_digit()
                || (matches!(self.peek_at(1), b'+' | b'-') && self.peek_at(2).is_ascii_digit()));
        if self.peek() == b'.' || exponent {
            return self.float(start);
        }
        let digits = &self.text[start..self.at];
        if digits.is_empty() {
            return Err(Fault::syntax(start, "a number is expected"));
        }
        if digits.len() > 1 && digits[0] == b'0' {
            // A leading zero makes it octal.
            let octal = digits.iter().try_fold(0u64, |all, &digit| {
                if digit > b'7' { None } else { all.checked_mul(8)?.checked_add(u64::from(digit - b'0')) }
            });
            return octal.map(Number::Int).ok_or_else(|| Fault::syntax(start, "this is no octal number"));
        }
        if !fits {
            return Err(Fault::syntax(start, "the number does not fit 64 bits"));
        }
        Ok(Number::Int(value))
    }

    fn radix(&mut self, radix: u32, start: usize) -> Result<Number, Fault> {
        let first = self.at;
        let mut value: u64 = 0;
        while let Some(digit) = char::from(self.peek()).to_digit(radix) {
            if value > (u64::MAX - u64::from(digit)) / u64::from(radix) {
                return Err(Fault::syntax(start, "the number does not fit 64 bits"));
            }
            value = value * u64::from(radix) + u64::from(digit);
            self.at += 1;
        }
        if self.at == first || self.peek().is_ascii_alphanumeric() {
            return Err(Fault::syntax(start, "this is no number"));
        }
        Ok(Number::Int(value))
    }

    fn float(&mut self, start: usize) -> Result<Number, Fault> {
        if self.eat(b'.') {
            while self.peek().is_ascii_digit() {
                self.at += 1;
            }
        }
        if matches!(self.peek(), b'e' | b'E') {
            self.at += 1;
            if matches!(self.peek(), b'+' | b'-') {
                self.at += 1;
            }
            while self.peek().is_ascii_digit() {
                self.at += 1;
            }
        }
        let text = std::str::from_utf8(&self.text[start..self.at]).unwrap_or_default();
        text.parse().map(Number::Float).map_err(|_| Fault::syntax(start, "this is no number"))
    }
}

/// Whether two names are the same but for case.
pub(crate) fn same(a: &[u8], b: &str) -> bool {
    a.eq_ignore_ascii_case(b.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(text: &str) -> Option<Number> {
        let mut cursor = Cursor::new(text.as_bytes());
        let number = cursor.number().ok()?;
        cursor.done().then_some(number)
    }

    #[test]
    fn numbers_of_all_bases() {
        assert_eq!(number("42"), Some(Number::Int(42)));
        assert_eq!(number("0x2A"), Some(Number::Int(42)));
        assert_eq!(number("0b101010"), Some(Number::Int(42)));
        assert_eq!(number("052"), Some(Number::Int(42)));
        assert_eq!(number("09"), None);
        assert_eq!(number("18446744073709551615"), Some(Number::Int(u64::MAX)));
        assert_eq!(number("18446744073709551616"), None);
        assert_eq!(number("0x1ffffffffffffffff"), None);
        assert_eq!(number("1e-320"), Some(Number::Float(1e-320)));
        assert_eq!(number("1."), Some(Number::Float(1.0)));
        assert_eq!(number(".5"), Some(Number::Float(0.5)));
        assert_eq!(number("0x"), None);
    }

    #[test]
    fn brackets_balance() {
        let mut cursor = Cursor::new(b"(a, [b], (c)) d");
        cursor.balanced().unwrap();
        assert_eq!(cursor.at, 13);
        assert!(Cursor::new(b"((a)").balanced().is_err());
    }
}
