//! Operand types: what their values are, and their named values as runs.

use std::collections::BTreeMap;

use isa_xml::spec::{self, Spec};

use crate::ir::{Kind, OperandType, Run, Source};

/// What the values of an operand type are, from its name.
fn kind(name: &str) -> Result<Kind, String> {
    Ok(match name {
        "OPR_VGPR" => Kind::Vgpr,
        "OPR_VGPR_OR_ACCVGPR" => Kind::VgprOrAcc,
        "OPR_ACCVGPR" => Kind::Acc,
        "OPR_SRC_VGPR_OR_ACCVGPR" | "OPR_SRC_VGPR_OR_ACCVGPR_OR_CONST" => Kind::SourceOrAcc,
        "OPR_SRC_ACCVGPR" | "OPR_SRC_ACCVGPR_OR_CONST" => Kind::SourceAcc,
        "OPR_DSMEM" | "OPR_GPUMEM" | "OPR_PC" | "OPR_FLAT_SCRATCH" | "OPR_VCC" | "OPR_SSRC_SPECIAL_SCC" => {
            Kind::Implicit
        }
        "OPR_LABEL" => Kind::Label,
        "OPR_ATTR" | "OPR_PARAM" | "OPR_TGT" => Kind::Named,
        "OPR_HWREG" | "OPR_SENDMSG" | "OPR_SENDMSG_RTN" | "OPR_CLAUSE" | "OPR_DELAY" | "OPR_SLEEP" | "OPR_VERSION"
        | "OPR_SET_VGPR_MSB" => Kind::Packed,
        _ if name.starts_with("OPR_SIMM") => Kind::Immediate,
        _ if name.starts_with("OPR_WAIT") => Kind::Packed,
        "OPR_EXEC" | "OPR_VGPR_OR_LDS" => Kind::Source,
        _ if ["OPR_SRC", "OPR_SSRC", "OPR_SDST", "OPR_SREG", "OPR_SGPR", "OPR_SMEM_OFFSET"]
            .iter()
            .any(|p| name.starts_with(p)) =>
        {
            Kind::Source
        }
        _ => return Err(format!("operand type {name} is not known")),
    })
}

/// Lowers an operand type of a generation with this source map.
pub(crate) fn lower(ty: &spec::OperandType, sources: &[Option<Source>]) -> Result<OperandType, String> {
    let mut fields = Vec::new();
    let mut field_values = Vec::new();
    for (at, field) in ty.fields.iter().enumerate() {
        let (offset, count) =
            (field.ranges.first().map_or(0, |r| r.offset), field.ranges.iter().map(|r| r.count).sum::<u16>());
        fields.push((field.name.clone(), offset as u8, count as u8));
        for value in &field.values {
            let number = u16::try_from(value.value)
                .map_err(|_| format!("{}: value {} of {}", ty.name, value.value, value.name))?;
            field_values.push((at as u8, number, value.name.clone()));
        }
    }
    let (kind, runs) = (kind(&ty.name)?, runs(ty)?);
    let valid = valid(&ty.name, kind, &runs, sources);
    let scalar = matches!(kind, Kind::Source | Kind::SourceOrAcc | Kind::SourceAcc);
    let tuples = [2, 4, 8, 16].map(|dwords| if scalar { tuples(dwords, sources) } else { [u64::MAX; 2] });
    Ok(OperandType { name: ty.name.clone(), kind, valid, tuples, runs, fields, field_values })
}

/// Values 0 to 127 where a tuple of registers may begin: one that does not run out of its file, or a pair of registers
/// that have a name together. Misaligned tuples stay: their results are undefined, but words have them. So do tuples
/// over the registers behind s101 of CDNA 1 to 4, which LLVM's tests hold.
fn tuples(dwords: u16, sources: &[Option<Source>]) -> [u64; 2] {
    let at = |value: u16| sources.get(usize::from(value)).and_then(Option::as_ref);
    let begins = |value: u16| match at(value) {
        Some(Source::Sgpr(_)) => value + dwords <= VCC,
        Some(Source::Ttmp(_)) => matches!(at(value + dwords - 1), Some(Source::Ttmp(_))),
        Some(Source::Special(name)) => name == "null" || (dwords == 2 && name.ends_with("_lo")),
        Some(Source::Int(_)) | None => true,
    };
    let mut bits = [0; 2];
    for value in (0..128).filter(|&value| begins(value)) {
        bits[usize::from(value / 64)] |= 1 << (value % 64);
    }
    bits
}

/// Values 0 to 511 that a type allows, one bit each.
///
/// AMD lists the registers that make sense for a scalar operand. The hardware reads and writes any of the source map
/// there (compares write EXEC, buffer offsets are SCC), and LLVM takes them: only values without a meaning in the
/// generation are reserved. What may be a literal is a matter of the row.
fn valid(name: &str, kind: Kind, runs: &[Run], sources: &[Option<Source>]) -> [u64; 8] {
    let scalar =
        ["OPR_SSRC", "OPR_SDST", "OPR_SREG", "OPR_SGPR", "OPR_SMEM_OFFSET"].iter().any(|p| name.starts_with(p));
    let named = |value: u16| runs.iter().any(|r| (r.value..r.value + r.count).contains(&value));
    let mapped = |value: u16| matches!(sources.get(value as usize), Some(Some(_)));
    // Literals are checked by the row before the set is asked.
    let literal = |value: u16| matches!(sources.get(value as usize), Some(Some(Source::Special(name))) if name.starts_with("src_literal"));
    let allowed = |value: u16| match kind {
        Kind::Source | Kind::SourceOrAcc | Kind::SourceAcc if literal(value) => false,
        Kind::Source if scalar => named(value) || mapped(value),
        // Accumulation registers have values 512 above those of the VGPRs: the encoding's ACC bit is bit 9.
        Kind::Source | Kind::SourceOrAcc | Kind::SourceAcc => {
            named(value) || (value >= 256 && named(value + 512)) || is_foreign(value, sources)
        }
        _ => true,
    };
    let mut bits = [0; 8];
    for value in (0..512).filter(|&value| allowed(value)) {
        bits[value as usize / 64] |= 1 << (value % 64);
    }
    bits
}

/// The value of the low half of VCC, which follows the SGPRs.
const VCC: u16 = 106;

/// Splits a trailing number off a name. Inline integers are all number.
fn split_number(name: &str) -> (&str, Option<i16>) {
    if let Ok(number) = name.parse::<i16>() {
        return ("", Some(number));
    }
    let digits = name.len() - name.bytes().rev().take_while(u8::is_ascii_digit).count();
    let registers = ["s", "v", "ttmp", "TTMP", "acc", "attr", "mrt", "pos", "param"];
    match name[digits..].parse() {
        Ok(number) if registers.contains(&&name[..digits]) => (&name[..digits], Some(number)),
        _ => (name, None),
    }
}

/// One name for each value. Where AMD gives two, a numbered register wins over a name, and of two numbers the later:
/// RDNA 1 lists GCN's trap registers (`tba_lo`, `ttmp0` at 112) before its own.
fn names_by_value(ty: &spec::OperandType) -> Result<BTreeMap<u16, &str>, String> {
    let mut values: BTreeMap<u16, &str> = BTreeMap::new();
    for value in &ty.values {
        let number =
            u16::try_from(value.value).map_err(|_| format!("{}: value {} of {}", ty.name, value.value, value.name))?;
        let numbered = split_number(&value.name).1.is_some();
        match values.get(&number) {
            Some(_) if !numbered => {}
            _ => {
                values.insert(number, &value.name);
            }
        }
    }
    Ok(values)
}

fn runs(ty: &spec::OperandType) -> Result<Vec<Run>, String> {
    let values = names_by_value(ty)?;
    let mut runs: Vec<Run> = Vec::new();
    for (value, name) in values {
        let (prefix, number) = split_number(name);
        if let (Some(last), Some(number)) = (runs.last_mut(), number) {
            let next = last.value + last.count == value && last.name == prefix;
            if let (true, Some(first)) = (next, last.number) {
                let count = last.count as i16;
                let rising = number == first + count && (!last.falling);
                let falling = number == first - count && (last.falling || count == 1);
                if rising || falling {
                    last.falling = falling;
                    last.count += 1;
                    continue;
                }
            }
        }
        runs.push(Run { name: prefix.to_owned(), number, value, count: 1, falling: false });
    }
    Ok(runs)
}

/// Canonical lower-case names of what source values mean. AMD's spelling differs between schemas.
fn special(name: &str) -> String {
    match name.to_ascii_lowercase().as_str() {
        "literal" => "src_literal".to_owned(),
        other => other.to_owned(),
    }
}

/// The meaning of source values 0 to 255, from all the operand types that share the source map.
pub(crate) fn source_map(spec: &Spec) -> Result<Vec<Option<Source>>, String> {
    let mut map: Vec<Option<Source>> = vec![None; 256];
    for ty in spec.operand_types.iter().filter(|t| kind(&t.name) == Ok(Kind::Source)) {
        for (value, name) in names_by_value(ty)? {
            let Ok(at) = u8::try_from(value) else { continue };
            let source = match split_number(name) {
                ("s", Some(n)) => Source::Sgpr(n as u8),
                ("ttmp" | "TTMP", Some(n)) => Source::Ttmp(n as u8),
                ("", Some(n)) => Source::Int(n as i8),
                // Of the memory offset type: the register field is not used.
                ("src_simm21" | "exec", None) => continue,
                (name, _) => Source::Special(special(name)),
            };
            let slot = &mut map[at as usize];
            match slot {
                None => *slot = Some(source),
                Some(old) if *old == source => {}
                Some(old) => return Err(format!("{}: value {at} is {source:?} and {old:?}", ty.name)),
            }
        }
    }
    lend(&mut map);
    Ok(map)
}

/// Selectors that some generations have and others leave reserved. LLVM names them everywhere, and old code and
/// damaged words hold them, so they decode; [`is_foreign`] tells them where an operand type does not list them.
const LENT: [(u8, &str); 8] = [
    (125, "null"),
    (230, "src_flat_scratch_base_lo"),
    (231, "src_flat_scratch_base_hi"),
    (239, "src_pops_exiting_wave_id"),
    (251, "src_vccz"),
    (252, "src_execz"),
    (253, "src_scc"),
    (254, "src_lds_direct"),
];

/// Fills the gaps of a generation's map from [`LENT`]. CDNA 5, known by its 64-bit literals, reserves selector 239 for
/// good: its assembler refuses it.
fn lend(map: &mut [Option<Source>]) {
    let literal64 = map.iter().flatten().any(|source| *source == Source::Special("src_literal64".into()));
    for (value, name) in LENT {
        let slot = &mut map[usize::from(value)];
        if slot.is_none() && !(literal64 && value == 239) {
            *slot = Some(Source::Special(name.to_owned()));
        }
    }
}

/// Whether a source value is one of [`LENT`], which vector sources take though their type does not list it.
fn is_foreign(value: u16, sources: &[Option<Source>]) -> bool {
    let Some(Some(Source::Special(name))) = sources.get(value as usize) else { return false };
    LENT.iter().any(|(_, lent)| lent == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_split_from_names() {
        assert_eq!(split_number("s105"), ("s", Some(105)));
        assert_eq!(split_number("-16"), ("", Some(-16)));
        assert_eq!(split_number("src_literal64"), ("src_literal64", None));
        assert_eq!(split_number("0.5"), ("0.5", None));
        assert_eq!(split_number("m0"), ("m0", None));
    }
}
