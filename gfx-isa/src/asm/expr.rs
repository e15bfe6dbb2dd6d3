//! Integer expressions, with the precedence of GNU assemblers.

use super::error::{ErrorKind, Fault};
use super::lex::{Cursor, Number};

/// Gives symbols their values.
pub(crate) trait Symbols {
    fn value(&self, name: &[u8]) -> Option<i64>;
}

/// How deep parentheses may nest.
const DEPTH: u32 = 64;

/// Reads an expression and evaluates it.
pub(crate) fn expression(cursor: &mut Cursor, symbols: &dyn Symbols) -> Result<i64, Fault> {
    binary(cursor, symbols, 1, DEPTH)
}

/// Reads a number, a symbol, or an expression in parentheses, with signs before it.
pub(crate) fn primary(cursor: &mut Cursor, symbols: &dyn Symbols) -> Result<i64, Fault> {
    unary(cursor, symbols, DEPTH)
}

/// Goes on with an expression whose first term has been read.
pub(crate) fn rest(cursor: &mut Cursor, symbols: &dyn Symbols, left: i64) -> Result<i64, Fault> {
    operators(cursor, symbols, left, 1, DEPTH)
}

/// The binary operator that is next, its precedence and length.
pub(crate) fn operator(cursor: &Cursor) -> Option<(&'static str, u8)> {
    let (a, b) = (cursor.peek(), cursor.peek_at(1));
    Some(match (a, b) {
        (b'|', b'|') => ("||", 1),
        (b'&', b'&') => ("&&", 2),
        (b'=', b'=') => ("==", 3),
        (b'!', b'=') => ("!=", 3),
        (b'<', b'>') => ("<>", 3),
        (b'<', b'<') => ("<<", 6),
        (b'>', b'>') => (">>", 6),
        (b'<', b'=') => ("<=", 3),
        (b'>', b'=') => (">=", 3),
        (b'<', _) => ("<", 3),
        (b'>', _) => (">", 3),
        (b'+', _) => ("+", 4),
        (b'-', _) => ("-", 4),
        (b'|', _) => ("|", 5),
        (b'^', _) => ("^", 5),
        (b'&', _) => ("&", 5),
        (b'*', _) => ("*", 6),
        (b'/', next) if next != b'/' && next != b'*' => ("/", 6),
        (b'%', _) => ("%", 6),
        _ => return None,
    })
}

fn binary(cursor: &mut Cursor, symbols: &dyn Symbols, least: u8, depth: u32) -> Result<i64, Fault> {
    let left = unary(cursor, symbols, depth)?;
    operators(cursor, symbols, left, least, depth)
}

fn operators(cursor: &mut Cursor, symbols: &dyn Symbols, mut left: i64, least: u8, depth: u32) -> Result<i64, Fault> {
    loop {
        let before = *cursor;
        cursor.space();
        let Some((name, precedence)) = operator(cursor).filter(|&(_, precedence)| precedence >= least) else {
            *cursor = before;
            return Ok(left);
        };
        let at = cursor.at;
        cursor.at += name.len();
        let right = binary(cursor, symbols, precedence + 1, depth)?;
        left = apply(name, left, right).ok_or_else(|| Fault::syntax(at, "division by zero"))?;
    }
}

fn apply(name: &str, a: i64, b: i64) -> Option<i64> {
    let truth = |is: bool| if is { -1 } else { 0 };
    let shift = |b: i64| u32::try_from(b).ok().filter(|&b| b < 64);
    Some(match name {
        "||" => i64::from(a != 0 || b != 0),
        "&&" => i64::from(a != 0 && b != 0),
        "==" => truth(a == b),
        "!=" | "<>" => truth(a != b),
        "<" => truth(a < b),
        "<=" => truth(a <= b),
        ">" => truth(a > b),
        ">=" => truth(a >= b),
        "+" => a.wrapping_add(b),
        "-" => a.wrapping_sub(b),
        "|" => a | b,
        "^" => a ^ b,
        "&" => a & b,
        "*" => a.wrapping_mul(b),
        "/" if b == 0 => return None,
        "/" => a.wrapping_div(b),
        "%" if b == 0 => return None,
        "%" => a.wrapping_rem(b),
        "<<" => shift(b).map_or(0, |b| a << b),
        _ => shift(b).map_or(0, |b| a >> b),
    })
}

fn unary(cursor: &mut Cursor, symbols: &dyn Symbols, depth: u32) -> Result<i64, Fault> {
    cursor.space();
    let start = cursor.at;
    let depth = depth.checked_sub(1).ok_or_else(|| Fault::syntax(start, "the expression is too deep"))?;
    match cursor.peek() {
        b'-' => {
            cursor.at += 1;
            Ok(unary(cursor, symbols, depth)?.wrapping_neg())
        }
        b'+' => {
            cursor.at += 1;
            unary(cursor, symbols, depth)
        }
        b'~' => {
            cursor.at += 1;
            Ok(!unary(cursor, symbols, depth)?)
        }
        b'!' => {
            cursor.at += 1;
            Ok(i64::from(unary(cursor, symbols, depth)? == 0))
        }
        b'(' => {
            cursor.at += 1;
            let value = binary(cursor, symbols, 1, depth)?;
            cursor.expect(b')', "`)` is expected")?;
            Ok(value)
        }
        byte if byte.is_ascii_digit() => match cursor.number()? {
            Number::Int(value) => Ok(value as i64),
            Number::Float(_) => Err(Fault::syntax(start, "an integer is expected")),
        },
        _ => {
            let name = cursor.name();
            if name.is_empty() {
                return Err(Fault::syntax(start, "a number or symbol is expected"));
            }
            symbols.value(name).ok_or_else(|| Fault {
                at: start as u32,
                end: cursor.at as u32,
                kind: ErrorKind::Symbol(std::string::String::from_utf8_lossy(name).into_owned()),
            })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct One;

    impl Symbols for One {
        fn value(&self, name: &[u8]) -> Option<i64> {
            (name == b"one").then_some(1)
        }
    }

    fn evaluate(text: &str) -> Option<i64> {
        let mut cursor = Cursor::new(text.as_bytes());
        expression(&mut cursor, &One).ok()
    }

    #[test]
    fn precedence_and_symbols() {
        assert_eq!(evaluate("2+3*4"), Some(14));
        assert_eq!(evaluate("(2 + 3) * 4"), Some(20));
        assert_eq!(evaluate("1 << 4 | one"), Some(17));
        assert_eq!(evaluate("-one - -3"), Some(2));
        assert_eq!(evaluate("~0 & 0xff"), Some(255));
        assert_eq!(evaluate("10 - 4 - 3"), Some(3));
        assert_eq!(evaluate("3 == 3"), Some(-1));
        assert_eq!(evaluate("1 / 0"), None);
        assert_eq!(evaluate("two"), None);
        assert_eq!(evaluate(&"(".repeat(1000)), None);
    }
}
