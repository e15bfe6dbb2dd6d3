//! Loads, stores and atomics, derived from their names: `<unit>_<LOAD|STORE|ATOMIC>_<type>` and the older spellings.

use super::atomic::{self, Atomic};

/// What a memory instruction goes through.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unit {
    /// Scalar memory with a 64-bit address.
    Scalar,
    /// Scalar memory with a buffer descriptor.
    ScalarBuffer,
    /// Scalar memory whose offset counts 64 bytes.
    ScalarScratch,
    /// The local data share.
    Ds,
    Flat,
    Global,
    Scratch,
    Buffer,
    /// Buffers whose format is in the instruction.
    TypedBuffer,
}

/// What a lane transfers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Size {
    U8,
    I8,
    U16,
    I16,
    Dwords(u8),
}

impl Size {
    pub(crate) const fn bytes(self) -> u32 {
        match self {
            Size::U8 | Size::I8 => 1,
            Size::U16 | Size::I16 => 2,
            Size::Dwords(count) => 4 * count as u32,
        }
    }

    /// Registers that hold it.
    pub(crate) const fn dwords(self) -> usize {
        match self {
            Size::Dwords(count) => count as usize,
            _ => 1,
        }
    }
}

/// Which part of a register small data is in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Part {
    Whole,
    Low,
    High,
    /// Whole registers, whose elements of so many bits trade places: rows of 16 elements become columns.
    Transposed(u8),
}

/// Where the address comes from, where not from the usual fields.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    Usual,
    /// A dword a lane, in the lanes' order.
    ByLane,
    /// The data is in the data share too, its offset from the address in the instruction or in the address's upper bits.
    Second,
    /// Two addresses from one register, their offsets in units of the data, or of 64 times the data.
    Pair {
        stride: u8,
    },
}

/// Whether an atomic gives the old value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Returns {
    Always,
    Never,
    /// A bit of the instruction says so.
    Bit,
}

/// What a memory instruction does.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Action {
    /// Caches, prefetches: nothing that a program could see.
    Nothing,
    Load(Size, Part),
    Store(Size, Part),
    /// From memory to the local data share.
    ToLds(Size),
    /// From the local data share to memory.
    FromLds(Size),
    /// Components of an element; `half`: in 16 bits each, two a register, or one in the upper half.
    LoadFormat {
        components: u8,
        half: bool,
        high: bool,
    },
    StoreFormat {
        components: u8,
        half: bool,
        high: bool,
    },
    /// Up to 32 registers, those that M0 has a bit for.
    LoadBlock,
    StoreBlock,
    Atomic(Atomic, Returns),
    /// Counters in the local data share: adds the number of active lanes, or subtracts it.
    Append,
    Consume,
    /// Lanes exchange values.
    Permute,
    BackwardPermute {
        inactive: bool,
    },
    Swizzle,
    /// A counter that grows.
    Clock,
    /// The wave's number in its group.
    WaveNumber,
}

impl Action {
    /// Registers of the data at one place.
    pub(crate) const fn dwords(&self) -> usize {
        match self {
            Action::Load(size, _) | Action::Store(size, _) => size.dwords(),
            Action::Atomic(atomic, _) => atomic.dwords(),
            Action::LoadFormat { components, half, .. } | Action::StoreFormat { components, half, .. } => {
                let components = *components as usize;
                if *half { components.div_ceil(2) } else { components }
            }
            _ => 1,
        }
    }
}

/// A memory instruction.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Mem {
    pub(crate) unit: Unit,
    pub(crate) place: Place,
    pub(crate) action: Action,
}

const UNITS: [(&str, Unit); 10] = [
    ("S_BUFFER_", Unit::ScalarBuffer),
    ("S_SCRATCH_", Unit::ScalarScratch),
    ("S_", Unit::Scalar),
    ("DS_", Unit::Ds),
    ("FLAT_", Unit::Flat),
    ("GLOBAL_", Unit::Global),
    // Without a cluster these are what global loads are.
    ("CLUSTER_", Unit::Global),
    ("SCRATCH_", Unit::Scratch),
    ("BUFFER_", Unit::Buffer),
    ("TBUFFER_", Unit::TypedBuffer),
];

/// What only caches and the predictor of addresses see.
const NOTHING: [&str; 27] = [
    "BUFFER_GL0_INV",
    "BUFFER_GL1_INV",
    "BUFFER_INV",
    "BUFFER_INVL2",
    "BUFFER_WBINVL1",
    "BUFFER_WBINVL1_VOL",
    "BUFFER_WBL2",
    "DS_NOP",
    "FLAT_PREFETCH_B8",
    "GLOBAL_INV",
    "GLOBAL_PREFETCH_B8",
    "GLOBAL_WB",
    "GLOBAL_WBINV",
    "S_ATC_PROBE",
    "S_ATC_PROBE_BUFFER",
    "S_BUFFER_PREFETCH_DATA",
    "S_DCACHE_DISCARD",
    "S_DCACHE_DISCARD_X2",
    "S_DCACHE_INV",
    "S_DCACHE_INV_VOL",
    "S_DCACHE_WB",
    "S_DCACHE_WB_VOL",
    "S_GL1_INV",
    "S_PREFETCH_DATA",
    "S_PREFETCH_DATA_PC_REL",
    "S_PREFETCH_INST",
    "S_PREFETCH_INST_PC_REL",
];

const SIZES: [(&str, Size); 26] = [
    ("UBYTE", Size::U8),
    ("SBYTE", Size::I8),
    ("BYTE", Size::U8),
    ("USHORT", Size::U16),
    ("SSHORT", Size::I16),
    ("SHORT", Size::U16),
    ("DWORD", Size::Dwords(1)),
    ("DWORDX2", Size::Dwords(2)),
    ("DWORDX3", Size::Dwords(3)),
    ("DWORDX4", Size::Dwords(4)),
    ("DWORDX8", Size::Dwords(8)),
    ("DWORDX16", Size::Dwords(16)),
    ("U8", Size::U8),
    ("I8", Size::I8),
    ("B8", Size::U8),
    ("U16", Size::U16),
    ("I16", Size::I16),
    ("B16", Size::U16),
    ("B32", Size::Dwords(1)),
    ("B64", Size::Dwords(2)),
    ("B96", Size::Dwords(3)),
    ("B128", Size::Dwords(4)),
    ("B256", Size::Dwords(8)),
    ("B512", Size::Dwords(16)),
    ("X2", Size::Dwords(2)),
    ("X4", Size::Dwords(4)),
];

/// Reads a name; none where it is not a memory instruction with meaning.
pub(super) fn parse(name: &str) -> Option<Mem> {
    let (unit, rest) = UNITS.iter().find_map(|&(prefix, unit)| Some((unit, name.strip_prefix(prefix)?)))?;
    let usual = |action| Some(Mem { unit, place: Place::Usual, action });
    if NOTHING.contains(&name) {
        return usual(Action::Nothing);
    }
    match name {
        "S_MEMTIME" | "S_MEMREALTIME" => return usual(Action::Clock),
        "S_GET_WAVEID_IN_WORKGROUP" => return usual(Action::WaveNumber),
        "DS_APPEND" => return usual(Action::Append),
        "DS_CONSUME" => return usual(Action::Consume),
        "DS_PERMUTE_B32" => return usual(Action::Permute),
        "DS_BPERMUTE_B32" => return usual(Action::BackwardPermute { inactive: false }),
        "DS_BPERMUTE_FI_B32" => return usual(Action::BackwardPermute { inactive: true }),
        "DS_SWIZZLE_B32" => return usual(Action::Swizzle),
        _ => {}
    }
    let (verb, rest) = rest.split_once('_')?;
    match verb {
        "WRITE" if rest.starts_with("SRC2_") => {
            let (place, returns, action) = atomic::data_share("WRXCHG", rest)?;
            Some(Mem { unit, place, action: Action::Atomic(action, returns) })
        }
        "LOAD" | "READ" | "READ2" | "READ2ST64" => transfer(unit, verb, rest, false),
        "STORE" | "WRITE" | "WRITE2" | "WRITE2ST64" => transfer(unit, verb, rest, true),
        _ if unit == Unit::Ds => {
            let (place, returns, action) = atomic::data_share(verb, rest)?;
            Some(Mem { unit, place, action: Action::Atomic(action, returns) })
        }
        "ATOMIC" => usual(Action::Atomic(atomic::memory(rest)?, Returns::Bit)),
        _ => None,
    }
}

fn transfer(unit: Unit, verb: &str, rest: &str, store: bool) -> Option<Mem> {
    let mut size = None;
    let mut components = 0;
    let (mut half, mut high, mut lds, mut block) = (false, false, false, false);
    let (mut transposed, mut element) = (false, None);
    let mut place = match verb {
        "READ2" | "WRITE2" => Place::Pair { stride: 1 },
        "READ2ST64" | "WRITE2ST64" => Place::Pair { stride: 64 },
        _ => Place::Usual,
    };
    for word in rest.split('_') {
        match word {
            "D16" => half = true,
            "HI" => high = true,
            "LDS" => lds = true,
            "ASYNC" | "TO" | "FROM" | "MONITOR" => {}
            "ADDTID" => place = Place::ByLane,
            "2ADDR" => place = Place::Pair { stride: 1 },
            "STRIDE64" => place = Place::Pair { stride: 64 },
            "BLOCK" => block = true,
            "FORMAT" => {}
            "X" | "XY" | "XYZ" | "XYZW" => components = word.len() as u8,
            "TR" => transposed = true,
            "TR16" | "TR8" | "TR6" | "TR4" => (transposed, element) = (true, word[2..].parse().ok()),
            // What stands behind the size is an element's.
            _ if transposed && size.is_some() && element.is_none() => element = word.strip_prefix('B')?.parse().ok(),
            _ if size.is_none() => size = Some(SIZES.iter().find(|(name, _)| *name == word)?.1),
            _ => return None,
        }
    }
    if transposed {
        let size = size?;
        let element = match (element, size) {
            (Some(bits), _) => bits,
            // RDNA 4 has these two, named by their size.
            (None, Size::Dwords(4)) => 16,
            (None, Size::Dwords(2)) => 8,
            _ => return None,
        };
        return Some(Mem { unit, place, action: Action::Load(size, Part::Transposed(element)) });
    }
    let part = match (half, high) {
        (false, _) => Part::Whole,
        (true, false) => Part::Low,
        (true, true) => Part::High,
    };
    if components != 0 {
        let action = match (size, lds) {
            (None, false) if store => Action::StoreFormat { components, half, high },
            (None, false) => Action::LoadFormat { components, half, high },
            _ => return None,
        };
        return Some(Mem { unit, place, action });
    }
    let action = match (block, size) {
        (true, None) if store => Action::StoreBlock,
        (true, None) => Action::LoadBlock,
        (false, Some(size)) if lds && store => Action::FromLds(size),
        (false, Some(size)) if lds => Action::ToLds(size),
        (false, Some(size)) if store => Action::Store(size, part),
        (false, Some(size)) => Action::Load(size, part),
        _ => return None,
    };
    Some(Mem { unit, place, action })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Op;
    use crate::generated::op::ALL;

    /// What is not an access of its own kind: exchanges with other units, walks of trees.
    const STUBS: [&str; 3] = ["_GWS_", "_GS_REG_", "_BVH_"];

    #[test]
    fn names_are_read() {
        for name in NOTHING {
            assert!(Op::from_name(name).is_some(), "{name} does not exist");
        }
        let (mut read, mut wrong) = (0, std::vec::Vec::new());
        for (at, op) in ALL.iter().enumerate() {
            let name = op.name();
            let known = parse(name).is_some();
            assert!(!known || super::super::PLACES[at].is_none(), "{name} has a line too");
            read += u32::from(known);
            let access = ["_LOAD_", "_STORE_", "_ATOMIC_", "_READ_", "_WRITE_"];
            let ours = UNITS.iter().any(|(prefix, _)| name.starts_with(prefix))
                && access.iter().any(|part| name.contains(part))
                || name.starts_with("DS_");
            let stub = STUBS.iter().any(|part| name.contains(part))
                || matches!(
                    name,
                    "BUFFER_LOAD_LDS_FORMAT_X"
                        | "DS_ORDERED_COUNT"
                        | "DS_ATOMIC_ASYNC_BARRIER_ARRIVE_B64"
                        | "DS_ATOMIC_BARRIER_ARRIVE_RTN_B64"
                        | "DS_DIRECT_LOAD"
                        | "DS_PARAM_LOAD"
                );
            if ours && known == stub {
                wrong.push(name);
            }
        }
        assert!(wrong.is_empty(), "{wrong:?}");
        assert!(read > 750, "{read}");
    }
}
