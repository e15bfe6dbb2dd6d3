//! Opcode spaces: which rows a word's first bits lead to.

use std::collections::{BTreeMap, BTreeSet};

use super::{GenerationLowering, LowerError, Side, bits_of};
use crate::ir::{self, Class};

/// What the decoder needs of a base encoding.
struct BaseEncoding {
    /// Mask and value of bits 31:23 of the first dword.
    prefix: (u16, u16),
    /// Ranges of the opcode: OP, then OPM, then SEG.
    key: Vec<(u8, u8)>,
    /// The encoding's segment, shifted above the opcode.
    segment: u32,
    /// Prefix opcode of a paired encoding (VOP3PX2), as key of the space of its first half.
    first_half: Option<u32>,
    dual: bool,
}

/// Encodings that share a space.
struct Group {
    /// Mask and value of bits 31:23 of the first dword.
    prefix: (u16, u16),
    /// Ranges of the opcode.
    key: Vec<ir::Range>,
    side: Side,
    /// Indices of base encodings.
    members: Vec<usize>,
}

/// The spaces of a generation and their rows.
pub(super) struct Spaces {
    pub(super) prefixes: Vec<Option<u8>>,
    pub(super) spaces: Vec<ir::Space>,
    pub(super) rows: Vec<Option<ir::Row>>,
}

impl GenerationLowering<'_> {
    fn base_encoding(&self, index: usize) -> Result<BaseEncoding, LowerError> {
        let encoding = &self.spec.encodings[index];
        let error = |cause: &str| self.error(encoding.name.clone(), cause);
        let first = *encoding.identifiers.first().ok_or_else(|| error("no identifiers"))?;
        let range = |name: &'static str| {
            let fields = encoding.fields.iter().filter(move |f| f.name == name);
            fields.flat_map(|f| f.ranges.iter().map(|r| (r.offset as u8, r.count as u8)))
        };
        let paired = encoding.fields.iter().any(|f| f.name == "X2ENCODING");
        let dual = encoding.fields.iter().any(|f| f.name == "OPX");
        let fixed = bits_of(&encoding.fields, &[if paired { "X2ENCODING" } else { "ENCODING" }]);
        let mask = (fixed as u32 >> 23) as u16;
        let mut key: Vec<_> = if dual { range("OPX").collect() } else { range("OP").chain(range("OPM")).collect() };
        let opcode_bits: u8 = key.iter().map(|(_, count)| count).sum();
        let segment: Vec<_> = range("SEG").collect();
        let segment_value = segment.first().map_or(0, |&(offset, count)| (first >> offset) as u32 & ((1 << count) - 1));
        key.extend(segment);
        Ok(BaseEncoding {
            prefix: (mask, (first as u32 >> 23) as u16 & mask),
            key,
            segment: segment_value << opcode_bits,
            // Bits 22:16 below the nine of the prefix are the first half's opcode.
            first_half: paired.then_some((first >> 16) as u32 & 0x7f),
            dual,
        })
    }

    pub(super) fn spaces(&self, folded: &BTreeMap<(usize, Side, u32), ir::Row>) -> Result<Spaces, LowerError> {
        let mut order: Vec<usize> = folded.keys().map(|&(e, ..)| e).collect::<BTreeSet<_>>().into_iter().collect();
        order.sort_by_key(|&e| (self.spec.encodings[e].order, e));
        let bases: Vec<BaseEncoding> = order.iter().map(|&e| self.base_encoding(e)).collect::<Result<_, _>>()?;
        // Encodings with the same prefix and key share a space; a paired encoding has one of its own.
        let mut groups: Vec<Group> = Vec::new();
        for (at, base) in bases.iter().enumerate() {
            let sides: &[Side] = if base.dual { &[Side::X, Side::Y] } else { &[Side::X] };
            for &side in sides {
                let key = if side == Side::Y { self.opy(order[at])? } else { base.key.clone() };
                let paired = base.first_half.is_some();
                let found = groups.iter_mut().find(|group| {
                    let same = group.prefix == base.prefix && group.key == key && group.side == side;
                    same && !paired && bases[group.members[0]].first_half.is_none()
                });
                match found {
                    Some(group) => group.members.push(at),
                    None => groups.push(Group { prefix: base.prefix, key, side, members: vec![at] }),
                }
            }
        }
        let mut spaces = Vec::new();
        let mut rows: Vec<Option<ir::Row>> = Vec::new();
        for Group { prefix, key, side, members } in &groups {
            let bits: u8 = key.iter().map(|(_, count)| count).sum();
            let mut table: Vec<Option<ir::Row>> = vec![None; 1 << bits];
            for &at in members {
                let mine = folded.range((order[at], *side, 0)..=(order[at], *side, u32::MAX));
                for (&(encoding, _, opcode), row) in mine {
                    let index = (opcode | bases[at].segment) as usize;
                    let path = || format!("{} in {}", self.op_name(row), self.spec.encodings[encoding].name);
                    let slot = table
                        .get_mut(index)
                        .ok_or_else(|| self.error(path(), format!("opcode {opcode} does not fit {bits} bits")))?;
                    if let Some(other) = slot {
                        let cause = format!("opcode {opcode} is also {}'s", self.op_name(other));
                        return Err(self.error(path(), cause));
                    }
                    *slot = Some(row.clone());
                }
            }
            let used = table.iter().rposition(Option::is_some).map_or(0, |last| last + 1);
            table.truncate(used);
            let pair = groups.iter().position(|other| {
                *side == Side::X && other.side == Side::Y && other.prefix == *prefix && bases[members[0]].dual
            });
            spaces.push(ir::Space {
                // The key of a paired encoding is read from the second half.
                key: key.iter().map(|&(offset, count)| (offset % 64, count)).collect(),
                base: u16::try_from(rows.len()).map_err(|_| self.error("rows", "more than 65,535 rows"))?,
                len: used as u16,
                pair: pair.map(|p| p as u8),
                class: class_of(&self.spec.encodings[order[members[0]]].name),
                extra: self.extra_dwords(order[members[0]]),
            });
            rows.extend(table);
        }
        // A paired encoding is reached through an opcode of the space of its first half.
        for (number, Group { prefix, members, .. }) in groups.iter().enumerate() {
            let Some(opcode) = bases[members[0]].first_half else { continue };
            let single = |group: &Group| bases[group.members[0]].first_half.is_none();
            let host = groups.iter().position(|group| single(group) && prefix.1 & group.prefix.0 == group.prefix.1);
            let name = &self.spec.encodings[order[members[0]]].name;
            let host = host.ok_or_else(|| self.error(name.clone(), "no encoding shares its prefix"))?;
            let host_bits: u8 = groups[host].key.iter().map(|(_, count)| count).sum();
            let first = self.spec.encodings[order[members[0]]].identifiers[0];
            let opcode = if host_bits > 7 { (first >> 16) as u32 & 0xff } else { opcode };
            let at = spaces[host].base as usize + opcode as usize;
            if opcode as usize >= spaces[host].len as usize {
                return Err(self.error(name.clone(), "prefix opcode above the opcodes of its space"));
            }
            // The first half may be an instruction by itself; where it is not, the row only leads to the pair.
            let pair = rows[spaces[number].base as usize..][..spaces[number].len as usize].iter().flatten().next();
            let mut row = rows[at]
                .clone()
                .or_else(|| pair.cloned())
                .ok_or_else(|| self.error(name.clone(), "no instructions"))?;
            row.prefix_of = Some(number as u8);
            rows[at] = Some(row);
        }
        let mut prefixes = vec![None; 512];
        for (value, slot) in prefixes.iter_mut().enumerate() {
            let begins = |group: &Group| value as u16 & group.prefix.0 == group.prefix.1;
            let found = groups.iter().position(|group| {
                group.side == Side::X && bases[group.members[0]].first_half.is_none() && begins(group)
            });
            *slot = found.map(|at| at as u8);
        }
        Ok(Spaces { prefixes, spaces, rows })
    }

    /// Where an image encoding counts its extra address dwords.
    fn extra_dwords(&self, encoding: usize) -> (u8, u8) {
        let field = self.spec.encodings[encoding].fields.iter().find(|f| f.name == "NSA");
        field.and_then(|f| f.ranges.first()).map_or((0, 0), |r| (r.offset as u8, r.count as u8))
    }

    fn opy(&self, encoding: usize) -> Result<Vec<(u8, u8)>, LowerError> {
        let encoding = &self.spec.encodings[encoding];
        let field = encoding.fields.iter().find(|f| f.name == "OPY");
        let field = field.ok_or_else(|| self.error(encoding.name.clone(), "no OPY field"))?;
        Ok(field.ranges.iter().map(|r| (r.offset as u8, r.count as u8)).collect())
    }
}

pub(super) fn class_of(encoding: &str) -> Class {
    match encoding {
        "ENC_SOP1" | "ENC_SOP2" | "ENC_SOPC" => Class::Scalar,
        "ENC_VOP1" | "ENC_VOP2" | "ENC_VOPC" => Class::Vop,
        "ENC_VOP3" | "VOP3_SDST_ENC" | "ENC_VOP3P" | "VOP3P_MFMA" => Class::Vop3,
        "ENC_MIMG" => Class::Mimg,
        name if name.starts_with("VOPD") => Class::Vopd,
        _ => Class::Plain,
    }
}
