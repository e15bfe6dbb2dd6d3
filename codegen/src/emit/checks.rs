//! What the decoder checks of each operand list: the fields whose values may be reserved.

use super::render::File;
use crate::ir::{Ir, Kind, Operand};

/// Checks a list has at the most: the sources of a scaled matrix instruction.
const MOST: usize = 6;

/// Sets of allowed values and check lists, interned.
pub(crate) struct Checks {
    /// Sets of allowed values 0 to 511, one bit each.
    masks: Vec<[u64; 8]>,
    /// Lists as text; the empty list is the first.
    lists: Vec<String>,
    /// Check list of each operand list.
    pub(crate) of_list: Vec<u16>,
}

impl Checks {
    pub(crate) fn new(ir: &Ir) -> Checks {
        let mut checks = Checks { masks: Vec::new(), lists: vec![list(&[])], of_list: Vec::new() };
        for &(start, len) in &ir.lists {
            let operands = &ir.operands[usize::from(start)..][..usize::from(len)];
            let entries: Vec<String> = operands
                .iter()
                .filter(|operand| is_checked(ir, operand))
                .map(|operand| checks.check(ir, operand))
                .collect();
            assert!(entries.len() <= MOST, "an operand list has more than {MOST} checked fields");
            let list = list(&entries);
            let at = checks.lists.iter().position(|known| *known == list).unwrap_or_else(|| {
                checks.lists.push(list);
                checks.lists.len() - 1
            });
            checks.of_list.push(u16::try_from(at).expect("fewer than 65,536 check lists"));
        }
        checks
    }

    /// Whether an operand list has no field to check.
    pub(crate) fn is_empty(&self, list: u16) -> bool {
        self.of_list[usize::from(list)] == 0
    }

    fn check(&mut self, ir: &Ir, operand: &Operand) -> String {
        let ty = &ir.operand_types[usize::from(operand.ty)];
        let mut valid = ty.valid;
        if let Some(tuples) = tuple(ir, operand).map(|at| ty.tuples[at]) {
            valid[0] &= tuples[0];
            valid[1] &= tuples[1];
            // FLAT's `off` on CDNA 1 to 4.
            if operand.field.is_some_and(|field| ir.fields[usize::from(field)] == "SADDR") {
                valid[1] |= 1 << 63;
            }
        }
        // Sixteen SGPRs are the longest range that the scalar file has; longer data is in VGPRs or a constant.
        if operand.size > 512 {
            valid[0] = 0;
            valid[1] = 0;
        }
        let set = self.masks.iter().position(|known| *known == valid).unwrap_or_else(|| {
            self.masks.push(valid);
            self.masks.len() - 1
        });
        let (word, shift) = (operand.offset / 32, operand.offset % 32);
        assert!(shift + operand.count <= 32, "a checked field crosses a dword");
        let source = operand.source.unwrap_or(3);
        format!("Check::new({word}, {shift}, {}, {}, {set}, {source})", operand.count, operand.scale)
    }

    /// The file of sets and check lists.
    pub(crate) fn file(&self) -> File {
        let mut file = File::new("Fields whose values may be reserved.");
        file.items(quote::quote!(
            use crate::table::Check;
        ));
        let entries: Vec<String> = self
            .masks
            .iter()
            .map(|mask| {
                let words: Vec<String> = mask.iter().map(|w| format!("{w:#x}")).collect();
                format!("[{}]", words.join(", "))
            })
            .collect();
        file.table("Sets of allowed values 0 to 511, one bit each.", "MASKS", "[u64; 8]", &entries);
        file.table("Lists of checks.", "LISTS", &format!("[Check; {MOST}]"), &self.lists);
        file
    }
}

/// Which of [`OperandType::tuples`](crate::ir::OperandType::tuples) an operand needs; none of single registers and of
/// lane masks, which are as wide as the wave.
fn tuple(ir: &Ir, operand: &Operand) -> Option<usize> {
    let mask = ir.formats[usize::from(operand.format)].name.ends_with("M64");
    match operand.size {
        33..=64 if !mask => Some(0),
        // Descriptors of images may be half as long (R128).
        65..=256 => Some(1),
        257.. => Some(3),
        _ => None,
    }
}

fn list(entries: &[String]) -> String {
    let end = "Check::END".to_owned();
    let padded: Vec<&str> = entries.iter().chain(std::iter::repeat(&end)).take(MOST).map(String::as_str).collect();
    format!("[{}]", padded.join(", "))
}

fn is_checked(ir: &Ir, operand: &Operand) -> bool {
    let kind = ir.operand_types[usize::from(operand.ty)].kind;
    matches!(kind, Kind::Source | Kind::SourceOrAcc | Kind::SourceAcc) && (1..=9).contains(&operand.count)
}
