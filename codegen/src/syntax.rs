//! Derives the assembly syntax of each row from its operands, its encoding and the exceptions of `data/syntax.toml`.
//! The names of kinds are the variants of the runtime's enums.

use std::collections::{BTreeMap, BTreeSet};

use crate::ir::{self, Ir, Modifier, Slot, Syntax};

pub(crate) mod exceptions;

use exceptions::Exceptions;

/// An operand with its names.
struct Operand<'a> {
    field: &'a str,
    ty: &'a str,
    kind: ir::Kind,
    format: &'a str,
    raw: &'a ir::Operand,
}

/// What is known of a row.
struct Context<'a> {
    generation: &'a str,
    encoding: &'a str,
    op: &'a str,
    operands: Vec<Operand<'a>>,
    /// Offset and count of each field with one range.
    fields: BTreeMap<&'a str, (u8, u8)>,
    /// The other encodings that have the instruction.
    elsewhere: &'a BTreeSet<&'a str>,
    exceptions: &'a Exceptions,
}

/// Derives and interns the syntax of every row.
pub(crate) fn attach(ir: &mut Ir, exceptions: &Exceptions) {
    let mut pools = Pools::default();
    let mut of_rows: Vec<Vec<u16>> = Vec::new();
    for generation in &ir.generations {
        let mut encodings: BTreeMap<u16, BTreeSet<&str>> = BTreeMap::new();
        for row in generation.rows.iter().flatten() {
            let name = generation.encodings[row.encoding as usize].name.as_str();
            encodings.entry(row.op).or_default().insert(name);
        }
        let mut indices = Vec::new();
        for row in &generation.rows {
            let Some(row) = row else {
                indices.push(0);
                continue;
            };
            let (start, len) = ir.lists[row.list as usize];
            let encoding = &generation.encodings[row.encoding as usize];
            let context = Context {
                generation: &generation.name,
                encoding: &encoding.name,
                op: &ir.ops[row.op as usize],
                operands: ir.operands[start as usize..][..len as usize].iter().map(|raw| operand(ir, raw)).collect(),
                fields: fields(ir, encoding),
                elsewhere: &encodings[&row.op],
                exceptions,
            };
            indices.push(pools.syntax(context.derive()));
        }
        of_rows.push(indices);
    }
    for (generation, indices) in ir.generations.iter_mut().zip(of_rows) {
        for (row, index) in generation.rows.iter_mut().zip(indices) {
            if let Some(row) = row {
                row.syntax = index;
            }
        }
    }
    ir.slots = pools.slots;
    ir.modifiers = pools.modifiers;
    ir.syntaxes = pools.syntaxes;
}

fn operand<'a>(ir: &'a Ir, raw: &'a ir::Operand) -> Operand<'a> {
    let ty = &ir.operand_types[raw.ty as usize];
    Operand {
        field: raw.field.map_or("", |at| &ir.fields[at as usize]),
        ty: &ty.name,
        kind: ty.kind,
        format: ir.formats[raw.format as usize].name.trim_start_matches("FMT_").trim_start_matches("NUM_"),
        raw,
    }
}

fn fields<'a>(ir: &'a Ir, encoding: &ir::Encoding) -> BTreeMap<&'a str, (u8, u8)> {
    let mut fields = BTreeMap::new();
    for (name, canonical, ranges) in &ir.layouts[encoding.layout as usize].fields {
        if let [range] = ranges.as_slice() {
            fields.insert(name.as_str(), *range);
            fields.entry(ir.fields[*canonical as usize].as_str()).or_insert(*range);
        }
    }
    fields
}

#[derive(Default)]
struct Pools {
    slots: Vec<Slot>,
    slot_lists: BTreeMap<Vec<Slot>, u16>,
    modifiers: Vec<Modifier>,
    modifier_lists: BTreeMap<Vec<Modifier>, u16>,
    syntaxes: Vec<Syntax>,
    index: BTreeMap<Syntax, u16>,
}

impl Pools {
    fn syntax(&mut self, derived: Derived) -> u16 {
        fn place<T: Clone + Ord>(all: &mut Vec<T>, known: &mut BTreeMap<Vec<T>, u16>, list: Vec<T>) -> (u16, u8) {
            let len = list.len() as u8;
            let at = *known.entry(list).or_insert_with_key(|list| {
                all.extend(list.iter().cloned());
                u16::try_from(all.len() - list.len()).expect("fewer than 65,536 entries")
            });
            (at, len)
        }
        let syntax = Syntax {
            slots: place(&mut self.slots, &mut self.slot_lists, derived.slots),
            modifiers: place(&mut self.modifiers, &mut self.modifier_lists, derived.modifiers),
            family: derived.family,
            suffix: derived.suffix,
        };
        *self.index.entry(syntax).or_insert_with_key(|syntax| {
            self.syntaxes.push(*syntax);
            u16::try_from(self.syntaxes.len() - 1).expect("fewer than 65,536 syntaxes")
        })
    }
}

struct Derived {
    slots: Vec<Slot>,
    modifiers: Vec<Modifier>,
    family: &'static str,
    suffix: &'static str,
}

impl Slot {
    fn new(kind: &'static str, place: (u8, u8)) -> Slot {
        Slot {
            kind,
            offset: place.0,
            count: place.1,
            scale: 0,
            dwords: 1,
            value: "I32",
            source: 7,
            mods: "None",
            half: "None",
            acc: 0,
            returns: 0,
            extra: 0,
        }
    }
}

fn modifier(kind: &'static str, place: (u8, u8), extra: u8) -> Modifier {
    Modifier { kind, offset: place.0, count: place.1, extra }
}

/// Names of one-bit modifiers, in the order of the runtime's `names::FLAGS`.
const FLAGS: [&str; 26] = [
    "idxen",
    "offen",
    "gds",
    "glc",
    "slc",
    "dlc",
    "sc0",
    "sc1",
    "nt",
    "nv",
    "lds",
    "tfe",
    "lwe",
    "d16",
    "a16",
    "r128",
    "unorm",
    "da",
    "scale_offset",
    "done",
    "vm",
    "compr",
    "row_en",
    "high",
    "scc",
    "fi:1",
];

/// Names of numbers, in the order of the runtime's `names::NUMBERS`.
const NUMBERS: [&str; 14] = [
    "offset",
    "offset0",
    "offset1",
    "cbsz",
    "abid",
    "blgp",
    "wait_exp",
    "wait_vdst",
    "wait_va_vdst",
    "wait_vm_vsrc",
    "scale_sel",
    "byte_sel",
    "index_key",
    "bound_ctrl",
];

/// Whether a modifier sends what is loaded to LDS.
pub(crate) fn is_lds(modifier: &Modifier) -> bool {
    modifier.kind == "Flag" && modifier.extra == index_of(&FLAGS, "lds")
}

fn index_of(names: &[&str], name: &str) -> u8 {
    names.iter().position(|known| *known == name).expect("a known name") as u8
}

impl Context<'_> {
    fn is(&self, generations: &[&str]) -> bool {
        generations.contains(&self.generation)
    }

    /// GFX9: CDNA 1 to 4.
    fn gfx9(&self) -> bool {
        self.is(&["cdna1", "cdna2", "cdna3", "cdna4"])
    }

    fn gfx940(&self) -> bool {
        self.is(&["cdna3", "cdna4"])
    }

    fn gfx11_plus(&self) -> bool {
        self.is(&["rdna3", "rdna3_5", "rdna4", "cdna5"])
    }

    fn field(&self, name: &str) -> Option<(u8, u8)> {
        self.fields.get(name).copied()
    }

    fn bit(&self, name: &str) -> u8 {
        self.field(name).map_or(0, |(offset, _)| offset)
    }

    fn flag(&self, list: &mut Vec<Modifier>, field: &str, name: &str) {
        if let Some(place) = self.field(field) {
            list.push(modifier("Flag", place, index_of(&FLAGS, name)));
        }
    }

    fn number(&self, list: &mut Vec<Modifier>, kind: &'static str, field: &str, name: &str) {
        if let Some(place) = self.field(field) {
            list.push(modifier(kind, place, index_of(&NUMBERS, name)));
        }
    }

    fn listed(&self, list: &str) -> bool {
        self.exceptions.has(list, self.generation, self.op)
    }

    fn family(&self) -> &'static str {
        match self.encoding {
            "ENC_VOP1" | "ENC_VOP2" => "Vop",
            "ENC_VOPC" => "Vopc",
            "ENC_VOP3" => "Vop3",
            "VOP3_SDST_ENC" => "Vop3Sdst",
            "ENC_VINTERP" => "Interp",
            "VOP3P_MFMA" | "ENC_VOP3PX2" | "ENC_VOP3PX3" => "Matrix",
            "ENC_VOP3P" if self.op.contains("WMMA") || self.op.contains("SWMMAC") || self.op.contains("ACCVGPR") => {
                "Matrix"
            }
            "ENC_VOP3P" if self.op.contains("_MIX") => "Mix",
            "ENC_VOP3P" => "Vop3p",
            "VOPD3XY" => "Vopd3",
            name if name.starts_with("VOPD") => "Vopd",
            _ => "Plain",
        }
    }

    fn suffix(&self) -> &'static str {
        let short = |name: &&str| matches!(*name, "ENC_VOP1" | "ENC_VOP2" | "ENC_VOPC" | "ENC_VINTRP");
        let long = |name: &&str| matches!(*name, "ENC_VOP3" | "VOP3_SDST_ENC");
        let twins = self.elsewhere.iter().any(short) && self.elsewhere.iter().any(long);
        let twins = twins && !self.listed("no_suffix") || self.listed("suffix");
        match self.encoding {
            "ENC_VOPC" if self.gfx11_plus() => "Compare",
            "ENC_VOP1" | "ENC_VOP2" | "ENC_VOPC" | "ENC_VINTRP" if twins => "E32",
            "ENC_VOP3" | "VOP3_SDST_ENC" if twins => "E64",
            "ENC_VOP3" | "VOP3_SDST_ENC" | "ENC_VOP3P" => "Vop3",
            _ => "None",
        }
    }

    fn derive(&self) -> Derived {
        let family = self.family();
        let mut slots = Vec::new();
        for operand in &self.operands {
            if let Some(slot) = self.slot(operand, family) {
                slots.push(slot);
            }
        }
        self.reorder(&mut slots);
        let mut modifiers = Vec::new();
        match self.encoding {
            "ENC_VOP3" | "VOP3_SDST_ENC" | "ENC_VINTERP" => self.vop3_modifiers(&mut modifiers, &slots),
            "ENC_VOP3P" | "VOP3P_MFMA" | "ENC_VOP3PX2" | "ENC_VOP3PX3" => {
                self.vop3p_modifiers(&mut modifiers, &slots, family)
            }
            "ENC_SMEM" => self.smem_modifiers(&mut modifiers),
            "ENC_DS" | "ENC_VDS" => self.ds_modifiers(&mut modifiers),
            "ENC_MUBUF" | "ENC_MTBUF" | "ENC_VBUFFER" => self.buffer_modifiers(&mut modifiers),
            "ENC_MIMG" | "ENC_VIMAGE" | "ENC_VSAMPLE" => self.image_modifiers(&mut modifiers),
            "ENC_EXP" | "ENC_VEXPORT" => {
                self.flag(&mut modifiers, "DONE", "done");
                self.flag(&mut modifiers, "COMPR", "compr");
                self.flag(&mut modifiers, "VM", "vm");
                self.flag(&mut modifiers, "ROW_EN", "row_en");
            }
            "ENC_LDSDIR" | "ENC_VDSDIR" => {
                self.number(&mut modifiers, "NumberAlways", "WAIT_VDST", "wait_vdst");
                self.number(&mut modifiers, "NumberAlways", "WAIT_VA_VDST", "wait_va_vdst");
                self.number(&mut modifiers, "NumberAlways", "WAIT_VM_VSRC", "wait_vm_vsrc");
            }
            name if name.contains("FLAT") || name.contains("GLOBAL") || name.contains("SCRATCH") => {
                self.flat_modifiers(&mut modifiers);
            }
            _ => {}
        }
        if self.op == "V_DUAL_BITOP2_B32" {
            let y = self.operands.iter().any(|o| o.field == "SRCY0");
            modifiers.push(modifier("Bitop3", (if y { 80 } else { 56 }, 8), 0));
        }
        if self.op == "TENSOR_STOP" {
            slots.push(Slot::new("Nothing", (0, 0)));
        }
        if self.op == "S_ENDPGM" && slots.is_empty() {
            slots.push(Slot::new("Endpgm", (0, 16)));
        }
        let nsa = self.encoding == "ENC_MIMG" && !self.gfx9() && self.operands.iter().any(|o| o.field == "SAMP");
        Derived { slots, modifiers, family, suffix: if nsa { "Nsa" } else { self.suffix() } }
    }

    fn reorder(&self, slots: &mut [Slot]) {
        if self.op.starts_with("S_SETREG_B32") || self.op.starts_with("S_SETREG_IMM") {
            slots.sort_by_key(|slot| slot.kind != "HwReg");
        }
    }

    /// The slot of an operand; none for what assembly does not write.
    fn slot(&self, operand: &Operand, family: &'static str) -> Option<Slot> {
        let raw = operand.raw;
        let place = (raw.offset, raw.count);
        let image = matches!(self.encoding, "ENC_MIMG" | "ENC_VIMAGE" | "ENC_VSAMPLE");
        if operand.ty == "OPR_VCC" && matches!(family, "Vop" | "Vopc") {
            return Some(Slot::new(if family == "Vopc" { "VopcDst" } else { "Vcc" }, (0, 0)));
        }
        if image && operand.field.is_empty() && operand.kind == ir::Kind::Vgpr {
            return Some(self.image_address(self.field("VADDR").unwrap_or((0, 0)), raw));
        }
        if raw.implicit || (operand.field.is_empty() && raw.count == 0) {
            return None;
        }
        if operand.ty == "OPR_EXEC" {
            return None;
        }
        if operand.field == "LITERAL" && raw.count >= 32 {
            let mut slot = Slot::new("Literal", (raw.offset, 0));
            slot.value = value(operand);
            slot.dwords = if raw.count == 64 { 2 } else { 1 };
            slot.extra = u8::from(self.op.starts_with("S_SETREG"));
            if slot.value == "F16" {
                slot.value = "I32";
            }
            return Some(slot);
        }
        let scalar_memory = self.encoding == "ENC_SMEM";
        let flat =
            self.encoding.contains("FLAT") || self.encoding.contains("GLOBAL") || self.encoding.contains("SCRATCH");
        let scratch = self.encoding.contains("SCRATCH");
        let buffer = matches!(self.encoding, "ENC_MUBUF" | "ENC_MTBUF" | "ENC_VBUFFER");
        let slot = match (operand.field, operand.kind) {
            // What a tensor is saved to has no address to leave out.
            ("SADDR", _) if flat && !self.op.starts_with("TENSOR_") => {
                let mut slot = Slot::new("Saddr", place);
                slot.dwords = words(raw.size);
                slot.extra = u8::from(self.encoding == "ENC_VFLAT");
                slot
            }
            ("VADDR", _) if scratch => {
                let mut slot = Slot::new("ScratchAddr", place);
                slot.extra = self.bit("SVE");
                slot.returns = self.bit("SADDR");
                slot
            }
            ("VADDR", _) if flat => {
                let mut slot = Slot::new("GlobalAddr", place);
                let used = self.operands.iter().any(|o| o.field == "SADDR");
                slot.extra = if used { 1 } else { 0 };
                slot.returns = self.bit("SADDR");
                slot
            }
            ("VDST", _) if flat && self.op.contains("_LOAD_LDS_") => return None,
            ("VDST", _) if flat && !self.op.contains("ATOMIC") => {
                let mut slot = self.register(operand, family);
                slot.extra = self.bit("LDS");
                if self.generation == "rdna4" && self.op.contains("LOAD_TR_") {
                    slot.acc = HALVED;
                }
                slot
            }
            ("VDST", _) if flat => {
                let mut slot = self.register(operand, family);
                if self.op.contains("CMPSWAP") {
                    let data = self.operands.iter().find(|o| matches!(o.field, "DATA" | "VSRC"));
                    slot.dwords = data.map_or(slot.dwords, |data| words(data.raw.size) / 2);
                }
                if self.generation == "cdna1" {
                    // LLVM takes the NV bit for that which selects accumulation registers since CDNA 2.
                    slot.acc = self.bit("NV");
                }
                slot.returns = match self.field("GLC").or(self.field("SC0")).or(self.field("TH")) {
                    Some((offset, _)) => offset,
                    None => 0,
                };
                slot
            }
            ("VADDR", ir::Kind::Vgpr) if buffer => {
                let mut slot = Slot::new("BufferAddr", place);
                slot.extra = self.bit("OFFEN");
                slot.returns = self.bit("IDXEN");
                slot
            }
            ("VDATA", _) if buffer => {
                let mut slot = self.register(operand, family);
                slot.kind = "BufferData";
                slot.extra = self.bit("TFE");
                let to_lds = self.encoding == "ENC_MUBUF" && self.op.contains("LOAD");
                slot.returns = if to_lds { self.bit("LDS") } else { 0 };
                slot
            }
            ("VDATA", _) if image => {
                let mut slot = Slot::new("ImageData", place);
                slot.dwords = words(raw.size);
                let atomic = u8::from(self.op.contains("ATOMIC")) * if self.op.contains("CMPSWAP") { 9 } else { 1 };
                let fixed = if self.op.contains("BVH") || self.op.contains("MSAA_LOAD_") { 2 } else { 0 };
                let gather = match self.op {
                    "IMAGE_MSAA_LOAD" if self.gfx11_plus() => 12,
                    name if name.contains("GATHER4") => 4,
                    _ => 0,
                };
                slot.extra = atomic | fixed | gather;
                slot.acc = self.bit("ACC");
                slot
            }
            ("VADDR", ir::Kind::Vgpr) if image => self.image_address(place, raw),
            ("SOFFSET", _) if scalar_memory && operand.ty == "OPR_SMEM_OFFSET" => {
                let mut slot = Slot::new("SmemOffset", place);
                slot.extra = self.bit("IMM");
                slot.returns = self.bit("SOFFSET_EN");
                slot.dwords = self.field("OFFSET").map_or(21, |(_, count)| count);
                slot
            }
            ("OFFSET", ir::Kind::Immediate) if scalar_memory => Slot::new("SignedHex", place),
            (_, ir::Kind::Immediate) if scalar_memory => Slot::new("Inline", place),
            ("ATTR", _) => {
                let mut slot = Slot::new("Attr", place);
                slot.extra = self.bit("ATTR_CHAN");
                slot
            }
            ("SRC0", _) if self.encoding == "ENC_VOP3" && self.op.starts_with("V_INTERP_") => {
                let mut slot = Slot::new("Attr", (32, 6));
                slot.extra = 38;
                slot
            }
            (_, _) if self.op.starts_with("V_INTERP_MOV") && self.encoding == "ENC_VOP3" && operand.field != "VDST" => {
                Slot::new("Param", place)
            }
            ("VADDR", ir::Kind::Vgpr) if self.op.starts_with("DS_GWS_") => {
                let mut slot = self.register(operand, family);
                slot.acc = if self.generation == "cdna1" { 25 } else { self.bit("ACC") };
                slot
            }
            ("DATA", _) if flat && self.generation == "cdna1" && self.op.contains("ATOMIC") => {
                let mut slot = self.register(operand, family);
                slot.acc = self.bit("NV");
                slot
            }
            ("VADDR2" | "VADDR3", _) if self.op.starts_with("TENSOR_") => {
                let mut slot = self.register(operand, family);
                slot.kind = "TensorGroup";
                slot
            }
            (_, ir::Kind::Named) if operand.ty == "OPR_PARAM" => Slot::new("Param", place),
            (_, ir::Kind::Named) if operand.ty == "OPR_TGT" => Slot::new("ExpTarget", place),
            (field, ir::Kind::Vgpr) if matches!(self.encoding, "ENC_EXP" | "ENC_VEXPORT") => {
                let mut slot = Slot::new("ExpSrc", place);
                slot.source = field.trim_start_matches("VSRC").parse().unwrap_or(0);
                slot.extra = self.bit("COMPR");
                slot
            }
            (_, ir::Kind::Label) => Slot::new("Label", place),
            (_, ir::Kind::Packed | ir::Kind::Immediate) => self.immediate(operand, place),
            (_, ir::Kind::Implicit) => return None,
            _ => self.register(operand, family),
        };
        Some(slot)
    }

    fn image_address(&self, place: (u8, u8), raw: &ir::Operand) -> Slot {
        let mut slot = Slot::new("ImageAddr", place);
        slot.dwords = words(raw.size);
        slot.extra = exceptions::image_address(self.op);
        slot
    }

    fn immediate(&self, operand: &Operand, place: (u8, u8)) -> Slot {
        let kind = match operand.ty {
            "OPR_HWREG" => "HwReg",
            "OPR_SENDMSG" => "SendMsg",
            "OPR_SENDMSG_RTN" => "SendMsgRtn",
            "OPR_WAITCNT" => "WaitCnt",
            "OPR_WAIT_ALU" | "OPR_WAITCNT_DEPCTR" => "Depctr",
            "OPR_DELAY" => "DelayAlu",
            "OPR_VERSION" => "Version",
            _ if self.op == "S_ENDPGM" => "Endpgm",
            _ if self.listed("depctr") => "Depctr",
            _ if self.listed("gpr_idx") => "GprIdx",
            _ if self.listed("hex") || operand.ty.starts_with("OPR_WAIT") || operand.ty == "OPR_CLAUSE" => "Hex",
            _ if self.encoding == "ENC_SOPK" => "Hex",
            _ => "Inline",
        };
        Slot::new(kind, place)
    }

    /// A register or source operand.
    fn register(&self, operand: &Operand, family: &'static str) -> Slot {
        let raw = operand.raw;
        let kind = match operand.kind {
            ir::Kind::Vgpr | ir::Kind::VgprOrAcc | ir::Kind::Acc => "Vgpr",
            _ => "Src",
        };
        let mut slot = Slot::new(kind, (raw.offset, raw.count));
        slot.scale = raw.scale;
        slot.dwords = if operand.format == "M64" { MASK } else { words(raw.size) };
        slot.value = self.value(operand);
        if self.pairs() {
            (slot.dwords, slot.value) = (2, if self.op.contains("MOV") { "V2I32" } else { "V2F32" });
        }
        slot.acc = match (operand.kind, operand.field) {
            (ir::Kind::Acc | ir::Kind::SourceAcc, _) => 255,
            (ir::Kind::VgprOrAcc | ir::Kind::SourceOrAcc, field) => match (field, self.field("ACC_CD")) {
                ("SRC1", _) => self.bit("ACC") + 1,
                ("SRC2" | "VDST", Some((at, _))) => at,
                _ => self.bit("ACC"),
            },
            _ => 0,
        };
        if self.gfx11_plus() && operand.format.starts_with("WMMA_") && self.generation != "cdna5" {
            let halved =
                operand.format.contains("_DC_") || (self.generation == "rdna4" && operand.format.contains("_AB_"));
            slot.acc = if halved { HALVED } else { 0 };
        }
        let by_format = self.op.contains("F8F6F4") && matches!(operand.field, "SRC0" | "SRC1");
        if by_format {
            slot.kind = "MatrixSrc";
            slot.extra = self.matrix_format_bit(operand.field);
        }
        let source = match operand.field {
            "SRC0" | "SRCX0" | "SRCY0" => Some(0),
            "SRC1" | "VSRC1" | "VSRCX1" | "VSRCY1" => Some(1),
            "SRC2" | "VSRCX2" | "VSRCY2" => Some(2),
            "VDST" => Some(3),
            _ => None,
        };
        if let Some(source) = source {
            slot.source = source;
            let float = matches!(slot.value, "F16" | "Bf16" | "F32" | "F64" | "V2F16" | "V2Bf16" | "V2F32");
            let exponent =
                source == 1 && (self.op.contains("LDEXP") || (self.op.contains("_CLASS_") && !self.gfx11_plus()));
            let float = (float && !exponent || self.listed("float_modifiers")) && !self.listed("int_modifiers");
            let masks = matches!(operand.ty, "OPR_SREG" | "OPR_VCC");
            let packed = matches!(family, "Vop3p" | "Matrix");
            if source < 3 && !masks && !packed {
                slot.mods = if float || family == "Mix" { "Float" } else { "Int" };
            }
            let vector = matches!(operand.kind, ir::Kind::Vgpr | ir::Kind::Source);
            if self.gfx11_plus() && vector && raw.size == 16 && !self.listed("no_half") {
                slot.half = match family {
                    "Vop" | "Vopc" => "Bit7",
                    "Vop3" | "Interp" => "OpSel",
                    _ => "None",
                };
            }
        }
        if operand.field == "VDSTY" && family == "Vopd" {
            slot.kind = "DualDst";
            slot.extra = self.bit("VDSTX");
        }
        if family == "Vopd3" && matches!(operand.field, "SRCY0" | "VSRCY1" | "VSRCY2") {
            slot.extra = 44 + slot.source;
        } else if family == "Vopd3" && matches!(operand.field, "SRCX0" | "VSRCX1" | "VSRCX2") {
            slot.extra = 41 + slot.source;
        }
        slot
    }

    /// Whether OPSEL means something: an operand fills half a register, and the instruction has no short encoding that
    /// could not say which half (before RDNA 3).
    fn has_halves(&self) -> bool {
        let short = self.elsewhere.iter().any(|n| matches!(*n, "ENC_VOP1" | "ENC_VOP2" | "ENC_VOPC"));
        let halves = self.operands.iter().any(|o| !o.field.is_empty() && o.raw.size <= 16);
        (halves && !self.listed("no_op_sel") || self.listed("halves"))
            && (self.gfx11_plus() || !short || self.listed("halves"))
    }

    /// Packed 32-bit operations, whose operands AMD lists as one dword on CDNA 2.
    fn pairs(&self) -> bool {
        self.op.starts_with("V_PK_")
            && (self.op.ends_with("_F32") || self.op.ends_with("_MOV_B32"))
            && self.encoding == "ENC_VOP3P"
    }

    fn value(&self, operand: &Operand) -> &'static str {
        match value(operand) {
            "F16" | "Bf16" | "I16" if self.encoding.starts_with("ENC_SOP") => "I32",
            _ if operand.ty == "OPR_SRC_NOINLINE" => "NoInline",
            "I64" if self.listed("lit64") => "Lit64",
            other => other,
        }
    }

    /// First bit of the format of a matrix source.
    fn matrix_format_bit(&self, field: &str) -> u8 {
        let base = if self.encoding == "ENC_VOP3PX2" || self.encoding == "ENC_VOP3PX3" { 64 } else { 0 };
        match (self.generation, field) {
            ("cdna5", "SRC0") => base + 11,
            ("cdna5", _) => base + 59,
            (_, "SRC0") => base + 8,
            _ => base + 61,
        }
    }

    fn vop3_modifiers(&self, list: &mut Vec<Modifier>, slots: &[Slot]) {
        let sources = slots.iter().filter(|s| s.source < 3).count() as u8;
        if self.encoding == "ENC_VINTERP" {
            list.push(modifier("Clamp", (15, 1), 0));
            list.push(modifier("OpSel", (11, 4), sources | 8));
            self.number(list, "NumberAlways", "WAIT_EXP", "wait_exp");
            return;
        }
        if self.encoding == "ENC_VOP3" {
            if self.listed("bitop3") {
                list.push(modifier("Bitop3", (0, 0), 0));
            }
            let interp = self.op.starts_with("V_INTERP_");
            match self.exceptions.op_sel(self.generation, self.op) {
                _ if interp => {
                    if self.op.contains("_P2_") && self.op.ends_with("F16") {
                        list.push(modifier("OpSel", (11, 4), 3 | 8));
                    }
                    if self.op.ends_with("F16") {
                        list.push(modifier("Flag", (40, 1), index_of(&FLAGS, "high")));
                    }
                    list.push(modifier("Clamp", (15, 1), 0));
                    if self.scales() {
                        list.push(modifier("Omod", (59, 2), 0));
                    }
                    return;
                }
                None if !self.has_halves() => {}
                None if self.op.starts_with("V_CMPX") => list.push(modifier("OpSel", (11, 4), sources)),
                None if self.op.starts_with("V_CMP") => list.push(modifier("OpSel", (11, 4), sources | 8 | 128)),
                // The destination is a source of its own.
                None if self.op.contains("MAC_") && self.operands.iter().any(|o| o.field == "VDST" && o.raw.input) => {
                    list.push(modifier("OpSel", (11, 4), 3 | 8));
                }
                Some("byte_sel_src") => {
                    list.push(modifier("OpSel", (14, 1), sources | 32));
                    list.push(modifier("ByteSel", (11, 2), 0));
                }
                Some("four") => list.push(modifier("OpSel", (11, 4), 4)),
                Some("permlane_swap") => {
                    list.push(modifier("Number", (12, 1), index_of(&NUMBERS, "bound_ctrl")));
                    list.push(modifier("Flag", (11, 1), index_of(&FLAGS, "fi:1")));
                }
                Some("hidden") => list.push(modifier("OpSel", (11, 4), sources | 8 | 64)),
                Some("byte_sel_dst") => {
                    list.push(modifier("OpSel", (11, 1), sources | 16));
                    list.push(modifier("ByteSel", (13, 2), 1));
                }
                Some("scale_sel") => list.push(modifier("Number", (11, 4), index_of(&NUMBERS, "scale_sel"))),
                Some("permlane") => list.push(modifier("PermlaneOpSel", (11, 2), 0)),
                Some("sources") => list.push(modifier("OpSel", (11, 4), sources)),

                _ => list.push(modifier("OpSel", (11, 4), sources | 8)),
            }
        }
        if self.clamps() {
            list.push(modifier("Clamp", (15, 1), 0));
        }
        if self.scales() {
            list.push(modifier("Omod", (59, 2), 0));
        }
    }

    /// Whether the name is that of an instruction on floats.
    fn is_float(&self) -> bool {
        ["_F16", "_F32", "_F64"].iter().any(|end| self.op.ends_with(end)) || self.listed("omod")
    }

    fn clamps(&self) -> bool {
        (self.is_float() || self.listed("clamp")) && !self.listed("no_clamp")
    }

    /// Whether the result can be multiplied or divided.
    fn scales(&self) -> bool {
        self.is_float() && !self.listed("no_omod")
    }

    fn vop3p_modifiers(&self, list: &mut Vec<Modifier>, slots: &[Slot], family: &str) {
        let sources = slots.iter().filter(|s| s.source < 3).count() as u8;
        if self.encoding == "VOP3P_MFMA" {
            self.number(list, "Number", "CBSZ", "cbsz");
            self.number(list, "Number", "ABID", "abid");
            if self.gfx940() && self.op.contains("_F64_") {
                list.push(modifier("MfmaNeg", (61, 3), 0));
            } else {
                self.number(list, "Number", "BLGP", "blgp");
            }
            return;
        }
        if self.op.contains("ACCVGPR") {
            return;
        }
        let base = if self.encoding == "ENC_VOP3P" { 0 } else { 64 };
        if self.encoding == "ENC_VOP3PX2" && self.gfx9() {
            list.push(modifier("OpSel", (11, 3), 3));
            list.push(modifier("OpSelHi", (59, 2), 3));
            self.number(list, "Number", "CBSZ", "cbsz");
            self.number(list, "Number", "BLGP", "blgp");
            return;
        }
        if family == "Matrix" {
            self.matrix_modifiers(list, base);
            return;
        }
        if self.op.starts_with("V_MFMA_LD_SCALE") {
            list.push(modifier("OpSel", (11, 3), sources));
            list.push(modifier("OpSelHi", (59, 2), sources));
            return;
        }
        let whole = self.op.starts_with("V_DOT4") || self.op.starts_with("V_DOT8");
        if whole {
            list.push(modifier("NegLo", (base + 61, 3), sources));
            list.push(modifier("NegHi", (base + 8, 3), sources));
            if !self.op.contains("_F32_") {
                list.push(modifier("Clamp", (base + 15, 1), 0));
            }
            return;
        }
        list.push(modifier("OpSel", (base + 11, 3), sources));
        list.push(modifier("OpSelHi", (base + 59, 2), sources | if family == "Mix" { 8 } else { 0 }));
        if family != "Mix" {
            list.push(modifier("NegLo", (base + 61, 3), sources));
            list.push(modifier("NegHi", (base + 8, 3), sources));
        }
        list.push(modifier("Clamp", (base + 15, 1), 0));
    }

    /// WMMA and SWMMAC: format, scale, reuse and index fields take the place of OPSEL and OPSEL_HI.
    fn matrix_modifiers(&self, list: &mut Vec<Modifier>, base: u8) {
        let scales_only = self.op.contains("WMMA_LD_SCALE");
        if self.op.contains("SWMMAC") {
            list.push(modifier("Number", (base + 11, 2), index_of(&NUMBERS, "index_key")));
        }
        if self.op.contains("F8F6F4") {
            list.push(modifier("MatrixFmt", (base + 11, 3), 0));
            list.push(modifier("MatrixFmt", (base + 59, 2), 1));
        }
        if base != 0 || scales_only {
            list.push(modifier("MatrixScale", (11, 1), 0));
            list.push(modifier("MatrixScale", (59, 1), 1));
            list.push(modifier("MatrixScaleFmt", (61, 2), 0));
            list.push(modifier("MatrixScaleFmt", (8, 2), 1));
        }
        let formats = self.op.contains("F8F6F4") || self.op.contains("32X16X128_F4");
        if self.generation == "cdna5" && (base != 0 || !formats) && !self.listed("no_reuse") {
            list.push(modifier("MatrixReuse", (13, 1), 0));
            list.push(modifier("MatrixReuse", (14, 1), 1));
        }
        if scales_only {
            return;
        }
        if self.is(&["rdna3", "rdna3_5"]) {
            list.push(modifier("OpSel", (11, 3), 3));
        }
        list.push(modifier("NegLo", (base + 61, 3), 3));
        list.push(modifier("NegHi", (base + 8, 3), 3));
        // Floats have no clamp.
        if ["WMMA_I32_", "SWMMAC_I32_"].iter().any(|integer| self.op.contains(integer)) {
            list.push(modifier("Clamp", (base + 15, 1), 0));
        }
    }

    fn cache_modifiers(&self, list: &mut Vec<Modifier>) {
        self.flag(list, "SCALE_OFFSET", "scale_offset");
        if self.generation == "rdna4" && self.field("TH").is_some() {
            // RDNA 4 ignores the bit that CDNA 5 gave a meaning to; LLVM shows it.
            let place = match self.encoding {
                "ENC_SMEM" => Some(56),
                "ENC_VFLAT" | "ENC_VGLOBAL" | "ENC_VSCRATCH" => Some(48),
                _ => None,
            };
            list.extend(place.map(|at| modifier("Flag", (at, 1), index_of(&FLAGS, "scale_offset"))));
        }
        if let Some(place) = self.field("TH") {
            let kind = if self.op.contains("ATOMIC") {
                2
            } else if self.op.contains("STORE") || self.op.contains("TENSOR_SAVE") || self.op.contains("TENSOR_STOP") {
                1
            } else {
                0
            };
            list.push(modifier("Th", place, kind));
        }
        if let Some(place) = self.field("SCOPE") {
            list.push(modifier("Scope", place, 0));
        }
        for (field, name) in [
            ("GLC", "glc"),
            ("SLC", "slc"),
            ("DLC", "dlc"),
            ("SCC", "scc"),
            ("SC0", "sc0"),
            ("NT", "nt"),
            ("SC1", "sc1"),
        ] {
            self.flag(list, field, name);
        }
        if self.generation == "cdna5" || self.generation == "rdna4" {
            self.flag(list, "NV", "nv");
        }
    }

    fn smem_modifiers(&self, list: &mut Vec<Modifier>) {
        let loads = self.operands.iter().any(|o| o.field == "SDATA" && o.kind == ir::Kind::Source);
        if loads {
            self.cache_modifiers(list);
        }
    }

    fn ds_modifiers(&self, list: &mut Vec<Modifier>) {
        let two = self.listed("two_offsets")
            || ["2ADDR", "READ2", "WRITE2", "WRXCHG2"].iter().any(|part| self.op.contains(part));
        if self.op.contains("SWIZZLE") {
            list.push(modifier("Swizzle", (0, 16), 0));
        } else if two {
            self.number(list, "Number", "OFFSET0", "offset0");
            self.number(list, "Number", "OFFSET1", "offset1");
        } else if self.op != "DS_NOP" {
            list.push(modifier("DsOffset", (0, 16), 0));
        }
        // The global data share is gone since CDNA 2; its barriers stayed.
        if !self.is(&["cdna2", "cdna3", "cdna4"]) || self.op.starts_with("DS_GWS_") {
            self.flag(list, "GDS", "gds");
        }
    }

    fn buffer_modifiers(&self, list: &mut Vec<Modifier>) {
        let typed = self.op.starts_with("TBUFFER");
        if typed && self.field("DFMT").is_some() {
            list.push(modifier("FormatDfmt", (19, 7), 0));
        } else if let (true, Some(place)) = (typed, self.field("FORMAT")) {
            list.push(modifier("Format", place, 0));
        }
        let to_lds = self.op == "BUFFER_STORE_LDS_DWORD";
        let empty = self.operands.iter().all(|o| o.raw.implicit);
        if !empty {
            self.flag(list, "IDXEN", "idxen");
            self.flag(list, "OFFEN", "offen");
            let place = self.field("OFFSET").unwrap_or((0, 12));
            list.push(modifier("Number", place, 0));
        }
        if to_lds {
            self.flag(list, "LDS", "lds");
        }
        self.cache_modifiers(list);
        self.flag(list, "TFE", "tfe");
        if self.op.contains("LOAD") {
            self.flag(list, "LDS", "lds");
        }
    }

    fn flat_modifiers(&self, list: &mut Vec<Modifier>) {
        if let Some(place) = self.field("OFFSET") {
            let flat = matches!(self.encoding, "ENC_FLAT");
            // LLVM shows the bit above the field that FLAT has before RDNA 1.
            let place = if flat && self.gfx9() { (place.0, 13) } else { place };
            let kind = if flat { "FlatOffset" } else { "SignedOffset" };
            list.push(modifier(kind, place, 0));
        }
        self.cache_modifiers(list);
        if self.op.contains("LOAD") {
            self.flag(list, "LDS", "lds");
        }
    }

    fn image_modifiers(&self, list: &mut Vec<Modifier>) {
        let ray = self.op.contains("BVH");
        let tensor = self.op.starts_with("TENSOR");
        if !ray && !tensor {
            list.push(modifier("Dmask", self.field("DMASK").unwrap_or((8, 4)), 0));
            if let Some(place) = self.field("DIM") {
                list.push(modifier("Dim", place, 0));
            }
            self.flag(list, "UNORM", "unorm");
        }
        self.cache_modifiers(list);
        if tensor {
            return;
        }
        if !ray {
            self.flag(list, "R128", "r128");
        }
        self.flag(list, "A16", "a16");
        if !ray {
            self.flag(list, "TFE", "tfe");
            self.flag(list, "LWE", "lwe");
            if self.gfx9() {
                self.flag(list, "DA", "da");
            }
            self.flag(list, "D16", "d16");
        }
    }
}

/// `acc` of matrices that take half as many registers in wave64.
const HALVED: u8 = 254;

/// `dwords` of lane masks, whose registers depend on the size of waves.
const MASK: u8 = 62;

fn words(bits: u16) -> u8 {
    bits.div_ceil(32).clamp(1, 63) as u8
}

/// How a constant of the operand is written.
fn value(operand: &Operand) -> &'static str {
    match operand.format {
        "F16" if operand.raw.size == 16 => "F16",
        "BF16" if operand.raw.size == 16 => "Bf16",
        "PK2_F16" | "PK_F16" | "F16" => "V2F16",
        "PK2_BF16" | "PK_BF16" => "V2Bf16",
        "F32" => "F32",
        "PK2_F32" => "V2F32",
        "PK2_B32" => "V2I32",
        "F64" => "F64",
        "PK2_I16" | "PK2_U16" | "PK_I16" | "PK_U16" => "V2I16",
        "I16" | "U16" | "B16" if operand.raw.size == 16 => "I16",
        "FP8" | "BF8" => "Fp8",
        _ if operand.raw.size == 64 => "I64",
        _ => "I32",
    }
}
