//! Which kind of difference two answers to one word are.

use std::fmt;

use gfx_isa::{DecodeErrorKind, Form};

/// A kind of difference: what differs, and the family of the instruction.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Kind {
    /// For example `only-llvm reserved-operand` or `text modifier dmask`.
    pub(super) what: String,
    /// The first two parts of the mnemonic: `v_cmp`, `image_sample`.
    pub(super) family: String,
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.what, self.family)
    }
}

/// What gfx-isa makes of a word.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Ours {
    Text { length: usize, text: String, form: Form },
    Refused(DecodeErrorKind),
}

/// What LLVM makes of a word.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Theirs {
    Text { length: usize, text: String },
    Refused,
    Crash,
}

/// What LLVM complains of in a text that it prints all the same: in a comment that an operand is not valid, by the name
/// `v_illegal` that an instruction is not.
fn doubt(text: &str) -> Option<&'static str> {
    match text {
        text if text.contains("/*Invalid immediate") => Some("immediate"),
        text if text.contains("/*") => Some("register"),
        text if text.contains("; Warning") => Some("alignment"),
        text if text.starts_with("v_illegal") => Some("illegal"),
        _ => None,
    }
}

/// The difference between two answers, if any.
pub(super) fn compare(ours: &Ours, theirs: &Theirs) -> Option<Kind> {
    let (what, text) = match (ours, theirs) {
        (Ours::Refused(_), Theirs::Refused | Theirs::Crash) => return None,
        (Ours::Refused(kind), Theirs::Text { text, .. }) => {
            if doubt(text).is_some() {
                return None;
            }
            (format!("only-llvm {}", reason(*kind)), text)
        }
        (Ours::Text { text, form, .. }, Theirs::Refused) => (format!("only-ours {}", form_name(*form)), text),
        (Ours::Text { text, .. }, Theirs::Crash) => ("llvm-crash".to_owned(), text),
        (Ours::Text { length, text, .. }, Theirs::Text { length: theirs, text: other }) => {
            if text == other {
                if length == theirs {
                    return None;
                }
                ("length".to_owned(), text)
            } else if let Some(doubt) = doubt(other) {
                (format!("llvm-doubts {doubt}"), text)
            } else if length != theirs {
                ("length".to_owned(), text)
            } else {
                (texts(text, other), text)
            }
        }
    };
    Some(Kind { what, family: family(text) })
}

/// What two texts of one word differ in.
fn texts(ours: &str, theirs: &str) -> String {
    let mut pieces = [pieces(ours), pieces(theirs)];
    let [a, b] = &mut pieces;
    if a.next() != b.next() {
        return "text mnemonic".to_owned();
    }
    loop {
        match (a.next(), b.next()) {
            (Some(ours), Some(theirs)) if ours == theirs => {}
            (Some(ours), Some(theirs)) => {
                // Of a missing piece the other side has the next one; a modifier says more than an operand.
                return match modifier(ours).or_else(|| modifier(theirs)) {
                    Some(name) => format!("text modifier {name}"),
                    None => format!("text operand {} {}", class(ours), class(theirs)),
                };
            }
            (Some(more), None) | (None, Some(more)) => {
                return match modifier(more) {
                    Some(name) => format!("text modifier {name}"),
                    None => format!("text operand {} missing", class(more)),
                };
            }
            (None, None) => return "text spaces".to_owned(),
        }
    }
}

fn pieces(text: &str) -> impl Iterator<Item = &str> {
    text.split([' ', ',']).filter(|piece| !piece.is_empty())
}

/// What an operand is.
fn class(piece: &str) -> &'static str {
    let bare = piece.trim_start_matches(['-', '|']).trim_end_matches('|');
    let (first, second) = (bare.chars().next().unwrap_or(' '), bare.chars().nth(1).unwrap_or(' '));
    let number = second.is_ascii_digit() || second == '[';
    match first {
        _ if bare.starts_with("lit(") || bare.starts_with("lit64(") => "lit",
        _ if bare.len() < piece.len() && !piece[..1].eq("-") => "abs",
        'v' if number => "vgpr",
        'a' if number => "agpr",
        's' if number => "sgpr",
        '0' if second == 'x' => "hex",
        _ if first.is_ascii_digit() => {
            if bare.contains('.') {
                "float"
            } else {
                "int"
            }
        }
        _ => "name",
    }
}

/// The name of a modifier: `offset:16` or `glc`; operands have digits or brackets.
fn modifier(piece: &str) -> Option<&str> {
    const WORDS: [&str; 26] = [
        "glc",
        "slc",
        "dlc",
        "sc0",
        "sc1",
        "nt",
        "scc",
        "tfe",
        "lwe",
        "d16",
        "a16",
        "r128",
        "unorm",
        "da",
        "lds",
        "gds",
        "offen",
        "idxen",
        "addr64",
        "clamp",
        "nv",
        "scale_offset",
        "done",
        "vm",
        "row_en",
        "compr",
    ];
    let name = piece.split(':').next().unwrap_or_default();
    let named = piece.contains(':') && name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_');
    (named || WORDS.contains(&piece)).then_some(name)
}

/// The first two parts of the mnemonic without the suffix of the encoding.
pub(super) fn family(text: &str) -> String {
    let mnemonic = text.split_whitespace().next().unwrap_or_default();
    let mut parts = mnemonic.splitn(3, '_');
    let first = parts.next().unwrap_or_default();
    match parts.next() {
        Some(second) => format!("{first}_{second}"),
        None => first.to_owned(),
    }
}

/// LLVM's message without the register or instruction that it begins with.
pub(super) fn said(message: &str) -> &str {
    match message.split_once(' ') {
        Some((first, rest)) if first.contains('_') && rest.starts_with("register") => rest,
        _ => message,
    }
}

fn reason(kind: DecodeErrorKind) -> &'static str {
    match kind {
        DecodeErrorKind::ReservedEncoding => "reserved-encoding",
        DecodeErrorKind::ReservedOpcode => "reserved-opcode",
        DecodeErrorKind::ReservedVariant => "reserved-variant",
        DecodeErrorKind::ReservedOperand => "reserved-operand",
        DecodeErrorKind::Truncated => "truncated",
    }
}

fn form_name(form: Form) -> &'static str {
    match form {
        Form::Base => "base",
        Form::Literal => "literal",
        Form::Literal64 => "literal64",
        Form::Dpp16 => "dpp16",
        Form::Dpp8 => "dpp8",
        Form::Sdwa => "sdwa",
        Form::Nsa => "nsa",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ours(length: usize, text: &str) -> Ours {
        Ours::Text { length, text: text.to_owned(), form: Form::Base }
    }

    fn theirs(length: usize, text: &str) -> Theirs {
        Theirs::Text { length, text: text.to_owned() }
    }

    fn kind(ours: &Ours, theirs: &Theirs) -> Option<String> {
        compare(ours, theirs).map(|kind| kind.to_string())
    }

    #[test]
    fn agreement_is_no_difference() {
        assert_eq!(kind(&ours(4, "s_nop 0"), &theirs(4, "s_nop 0")), None);
        let refused = Ours::Refused(DecodeErrorKind::ReservedOperand);
        assert_eq!(kind(&refused, &Theirs::Refused), None);
        assert_eq!(kind(&refused, &Theirs::Crash), None);
        assert_eq!(kind(&refused, &theirs(4, "s_nop /*Invalid immediate*/")), None);
    }

    #[test]
    fn acceptance() {
        let refused = Ours::Refused(DecodeErrorKind::ReservedOperand);
        let found = kind(&refused, &theirs(4, "v_cmp_lt_f32 vcc, v0, v1"));
        assert_eq!(found.as_deref(), Some("only-llvm reserved-operand: v_cmp"));
        let word = ours(8, "v_add_f32_e64 v0, v1, v2");
        assert_eq!(kind(&word, &Theirs::Refused).as_deref(), Some("only-ours base: v_add"));
        assert_eq!(kind(&word, &Theirs::Crash).as_deref(), Some("llvm-crash: v_add"));
        let doubt = theirs(8, "v_add_f32_e64 v0, v1, /*Invalid register*/s0");
        assert_eq!(kind(&word, &doubt).as_deref(), Some("llvm-doubts register: v_add"));
        let doubt = theirs(8, "s_mov_b64 s[0:1], s[0:1] ; Warning: SGPR_64: scalar reg isn't aligned 1");
        assert_eq!(kind(&ours(4, "s_mov_b64 s[1:2], s[0:1]"), &doubt).as_deref(), Some("llvm-doubts alignment: s_mov"));
    }

    #[test]
    fn messages_that_name_a_register_are_one_kind() {
        let message = "src_flat_scratch_base_lo register not available on this GPU";
        assert_eq!(said(message), "register not available on this GPU");
        assert_eq!(said("invalid op_sel operand"), "invalid op_sel operand");
    }

    #[test]
    fn length_and_text() {
        assert_eq!(kind(&ours(4, "s_nop 0"), &theirs(8, "s_nop 0")).as_deref(), Some("length: s_nop"));
        let cases = [
            ("v_mov_b32_e32 v0, v1", "v_mov_b32_dpp v0, v1", "text mnemonic: v_mov"),
            ("v_mov_b32_e32 v0, v1", "v_mov_b32_e32 v0, s1", "text operand vgpr sgpr: v_mov"),
            ("ds_read_b32 v0, v1 offset:4", "ds_read_b32 v0, v1 offset:8", "text modifier offset: ds_read"),
            ("ds_read_b32 v0, v1 gds", "ds_read_b32 v0, v1", "text modifier gds: ds_read"),
            ("v_add_u16 v0, 0.5, v0", "v_add_u16 v0, 0x3800, v0", "text operand float hex: v_add"),
            ("v_rcp_f64 v[0:1], lit(0x0)", "v_rcp_f64 v[0:1], 0", "text operand lit int: v_rcp"),
            ("s_endpgm 1", "s_endpgm", "text operand int missing: s_endpgm"),
            ("v_min_f16 v0, |v1|", "v_min_f16 v0, v1", "text operand abs vgpr: v_min"),
            ("ds_read_b32 v[0:1], v1", "ds_read_b32 v0, v1", "text operand vgpr vgpr: ds_read"),
        ];
        for (a, b, expected) in cases {
            assert_eq!(kind(&ours(4, a), &theirs(4, b)).as_deref(), Some(expected));
        }
    }
}
