//! Evaluating the conditions of encodings.

use std::fmt;

use crate::spec::{Expr, Operator};

impl Operator {
    const SYMBOLS: [(Self, &'static str); 11] = [
        (Self::And, "&&"),
        (Self::Or, "||"),
        (Self::Not, "!"),
        (Self::Eq, "=="),
        (Self::Ne, "!="),
        (Self::Lt, "<"),
        (Self::Le, "<="),
        (Self::Gt, ">"),
        (Self::Ge, ">="),
        (Self::Within, ".within"),
        (Self::NotWithin, ".notwithin"),
    ];

    /// The operator that AMD's files spell so.
    #[must_use]
    pub fn from_symbol(symbol: &str) -> Option<Self> {
        // AMD's reader knows second spellings of two operators.
        let symbol = match symbol {
            ".boolneg" => "!",
            "<>" => "!=",
            symbol => symbol,
        };
        Self::SYMBOLS.iter().find(|(_, s)| *s == symbol).map(|(operator, _)| *operator)
    }

    /// As AMD's files spell it.
    #[must_use]
    pub fn symbol(self) -> &'static str {
        Self::SYMBOLS.iter().find(|(operator, _)| *operator == self).map_or("", |(_, symbol)| symbol)
    }

    /// Whether the operator takes so many arguments.
    #[must_use]
    pub fn takes(self, args: usize) -> bool {
        match self {
            Self::And | Self::Or => args >= 1,
            Self::Not => args == 1,
            _ => args == 2,
        }
    }
}

impl fmt::Display for Operator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.symbol())
    }
}

impl Expr {
    /// The value, given those of the encoding's fields; `None` if it depends on a field that has none.
    ///
    /// ```
    /// use isa_xml::spec::{Expr, Operator};
    /// let src0 = Expr::Field { encoding: "VOP1".into(), field: "SRC0".into() };
    /// let literal = Expr::Op(Operator::Eq, vec![src0, Expr::Literal(255)]);
    /// assert_eq!(literal.eval(&|field| (field == "SRC0").then_some(255)), Some(1));
    /// assert_eq!(literal.eval(&|_| None), None);
    /// ```
    pub fn eval(&self, field: &dyn Fn(&str) -> Option<u64>) -> Option<u64> {
        match self {
            Self::Field { field: name, .. } => field(name),
            Self::Literal(value) => Some(*value),
            Self::Array(_) => None,
            Self::Op(operator, args) => operate(*operator, args, field),
        }
    }

    /// Whether the condition holds: [`Expr::eval`] gives something other than 0.
    pub fn holds(&self, field: &dyn Fn(&str) -> Option<u64>) -> Option<bool> {
        self.eval(field).map(|value| value != 0)
    }
}

fn operate(operator: Operator, args: &[Expr], field: &dyn Fn(&str) -> Option<u64>) -> Option<u64> {
    // An argument that decides the result makes up for others that have no value.
    let any = |wanted: bool| {
        let mut all_known = true;
        for arg in args {
            match arg.holds(field) {
                Some(holds) if holds == wanted => return Some(true),
                Some(_) => {}
                None => all_known = false,
            }
        }
        all_known.then_some(false)
    };
    let pair = || match args {
        [left, right] => Some((left.eval(field)?, right.eval(field)?)),
        _ => None,
    };
    let within = || match args {
        [value, Expr::Array(items)] => {
            let value = value.eval(field)?;
            let mut all_known = true;
            for item in items {
                match item.eval(field) {
                    Some(item) if item == value => return Some(true),
                    Some(_) => {}
                    None => all_known = false,
                }
            }
            all_known.then_some(false)
        }
        _ => None,
    };
    let result = match operator {
        Operator::And => !any(false)?,
        Operator::Or => any(true)?,
        Operator::Not => match args {
            [arg] => !arg.holds(field)?,
            _ => return None,
        },
        Operator::Eq => pair().map(|(l, r)| l == r)?,
        Operator::Ne => pair().map(|(l, r)| l != r)?,
        Operator::Lt => pair().map(|(l, r)| l < r)?,
        Operator::Le => pair().map(|(l, r)| l <= r)?,
        Operator::Gt => pair().map(|(l, r)| l > r)?,
        Operator::Ge => pair().map(|(l, r)| l >= r)?,
        Operator::Within => within()?,
        Operator::NotWithin => !within()?,
    };
    Some(u64::from(result))
}

impl fmt::Display for Expr {
    /// Infix, fully parenthesised.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Field { encoding, field } => write!(f, "{encoding}.{field}"),
            Self::Literal(value) => write!(f, "{value}"),
            Self::Array(items) => {
                f.write_str("{")?;
                join(f, items, ", ")?;
                f.write_str("}")
            }
            Self::Op(Operator::Not, args) => {
                f.write_str("!(")?;
                join(f, args, ", ")?;
                f.write_str(")")
            }
            Self::Op(operator, args) => {
                let name = match operator {
                    Operator::Within => "in",
                    Operator::NotWithin => "not in",
                    _ => operator.symbol(),
                };
                f.write_str("(")?;
                join(f, args, &format!(" {name} "))?;
                f.write_str(")")
            }
        }
    }
}

fn join(f: &mut fmt::Formatter<'_>, items: &[Expr], between: &str) -> fmt::Result {
    for (i, item) in items.iter().enumerate() {
        if i > 0 {
            f.write_str(between)?;
        }
        write!(f, "{item}")?;
    }
    Ok(())
}
