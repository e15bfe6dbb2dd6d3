//! What instructions read and write, beside the registers that LLVM prints and what manuals say.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use gfx_isa::asm::Assembler;
use gfx_isa::{Decoder, Generation, Inst, RegFile, Registers, Resource, Special};

fn hex(text: &str) -> Vec<u8> {
    let digits: Vec<u32> = text.chars().filter_map(|c| c.to_digit(16)).collect();
    digits.chunks(2).map(|pair| (pair[0] << 4 | pair[1]) as u8).collect()
}

type Run = (char, u16, u8);

/// The registers that a text names: file, first, count.
fn printed(text: &str) -> BTreeSet<Run> {
    let mut runs = BTreeSet::new();
    // The modifier has the name of a register.
    let plain = if text.starts_with("image_") { format!("{text} ").replace(" a16 ", " ") } else { text.to_owned() };
    let text = plain.as_str();
    let bytes = text.as_bytes();
    let is_word = |b: u8| b.is_ascii_alphanumeric() || b == b'_' || b == b'.';
    let mut at = 0;
    while at < bytes.len() {
        if at > 0 && is_word(bytes[at - 1]) || !bytes[at].is_ascii_lowercase() {
            at += 1;
            continue;
        }
        let rest = &text[at..];
        let letters = rest.find(|c: char| !c.is_ascii_lowercase()).unwrap_or(rest.len());
        let (file, tail) = rest.split_at(letters);
        at += letters;
        let file = match file {
            "v" | "s" | "a" => file.chars().next().expect("a letter"),
            "ttmp" => 't',
            _ => continue,
        };
        if let Some(range) = tail.strip_prefix('[') {
            let range = &range[..range.find(']').expect("a bracket")];
            let (first, last) = range.split_once(':').unwrap_or((range, range));
            let (first, last): (u16, u16) = (first.parse().expect("a number"), last.parse().expect("a number"));
            runs.insert((file, first, (last - first + 1) as u8));
        } else {
            let end = tail.find(|c: char| !c.is_ascii_digit()).unwrap_or(tail.len());
            if let Ok(number) = tail[..end].parse() {
                let half = matches!(tail.as_bytes().get(end..end + 2), Some(b".l" | b".h"));
                if half || !tail.as_bytes().get(end).is_some_and(|&b| is_word(b)) {
                    runs.insert((file, number, 1));
                }
            }
        }
    }
    runs
}

fn run(registers: Registers) -> Run {
    let file = match registers.file {
        RegFile::Vgpr => 'v',
        RegFile::Agpr => 'a',
        RegFile::Sgpr => 's',
        RegFile::Ttmp => 't',
    };
    (file, registers.first, registers.count)
}

fn named(inst: &Inst) -> BTreeSet<Run> {
    let registers = |resource| match resource {
        Resource::Registers(registers) => Some(run(registers)),
        _ => None,
    };
    inst.reads().chain(inst.writes()).filter_map(registers).collect()
}

/// Compares a file of vectors; gives how many rows there are and what differs.
fn compare(generation: Generation, wave: Option<u32>, text: &str, wrong: &mut Vec<String>) -> usize {
    let mut rows = 0;
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let (bytes, text) = line.split_once('\t').expect("a tab");
        let bytes = hex(bytes);
        let decoder = Decoder::new(generation, &bytes);
        let Some(Ok(inst)) = wave.into_iter().fold(decoder, Decoder::wave_size).next() else { continue };
        rows += 1;
        // LLVM prints one address register less than three or more 16-bit coordinates take.
        if generation == Generation::Cdna1 && text.starts_with("image_gather4") && text.ends_with(" a16") {
            continue;
        }
        let (expected, found) = (printed(text), named(&inst));
        if expected != found {
            wrong.push(format!("{} {text}: {found:?}, not {expected:?}", generation.name()));
        }
    }
    rows
}

fn report(rows: usize, least: usize, wrong: &[String]) {
    assert!(rows > least, "only {rows} rows");
    assert!(wrong.is_empty(), "{} of {rows} differ:\n{}", wrong.len(), wrong[..wrong.len().min(60)].join("\n"));
}

/// Every run of registers that LLVM prints, as long as LLVM prints it, and no other.
#[test]
fn registers_are_those_of_llvms_text() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data");
    let (mut rows, mut wrong) = (0, Vec::new());
    for &generation in Generation::all() {
        let path = folder.join(format!("{}.dis.tsv", generation.name()));
        let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        rows += compare(generation, None, &text, &mut wrong);
    }
    report(rows, 9000, &wrong);
}

/// The same on all vectors of the reference data folder.
#[test]
fn registers_are_those_of_all_vectors() {
    let beside = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared");
    let folder = std::env::var_os("GFX_ISA_SHARED").map_or_else(beside, PathBuf::from).join("golden");
    if !folder.is_dir() {
        eprintln!("NOTE: no reference data folder: only the committed vectors are compared");
        return;
    }
    let (mut rows, mut wrong) = (0, Vec::new());
    for &generation in Generation::all() {
        for (suffix, wave) in [("", None), ("_w64", Some(64))] {
            let path = folder.join(format!("{}{suffix}.dis.tsv.gz", generation.name()));
            let Ok(file) = std::fs::File::open(&path) else { continue };
            let mut text = String::new();
            std::io::Read::read_to_string(&mut flate2::read::GzDecoder::new(file), &mut text).expect("text");
            rows += compare(generation, wave, &text, &mut wrong);
        }
    }
    report(rows, 100_000, &wrong);
}

fn inst(generation: Generation, lanes: u32, text: &str) -> Inst {
    let mut code = Vec::new();
    Assembler::new(generation)
        .wave_size(lanes)
        .assemble_line(text, &mut code)
        .unwrap_or_else(|e| panic!("{}", e.report()));
    Decoder::new(generation, &code).wave_size(lanes).next().expect("an instruction").expect("valid")
}

/// Resources as words: `v1+2` is `v[1:2]`.
fn words(resources: impl Iterator<Item = Resource>) -> String {
    let word = |resource| match resource {
        Resource::Registers(registers) => {
            let (file, first, count) = run(registers);
            if count == 1 { format!("{file}{first}") } else { format!("{file}{first}+{count}") }
        }
        Resource::Special(Special::VccHi) => "vcc_hi".to_owned(),
        other => format!("{other:?}").to_lowercase(),
    };
    resources.map(word).collect::<Vec<_>>().join(" ")
}

/// By the manuals: instruction, what it reads, what it writes.
#[test]
fn reads_and_writes() {
    use Generation::{Cdna1, Cdna2, Cdna3, Cdna4, Cdna5, Rdna1, Rdna2, Rdna3, Rdna4};

    let cases = [
        // Returning atomics and wide loads define as many registers as they return.
        (Rdna2, 32, "ds_add_rtn_u32 v1, v2, v3", "v2 v3 lds exec(1)", "v1 lds"),
        (Rdna2, 32, "ds_wrxchg_rtn_b32 v1, v2, v3", "v2 v3 lds exec(1)", "v1 lds"),
        (Rdna2, 32, "ds_read_b96 v[1:3], v4", "v4 lds exec(1)", "v1+3"),
        (Rdna2, 32, "ds_read_b128 v[4:7], v0", "v0 lds exec(1)", "v4+4"),
        (Rdna4, 32, "ds_store_b64 v1, v[2:3]", "v1 v2+2 exec(1)", "lds"),
        // Accumulating instructions read their destination.
        (Cdna4, 64, "v_fmac_f32_e32 v1, v2, v3", "v1 v2 v3 exec(2) mode", "v1"),
        (Cdna4, 64, "v_fmac_f64_e32 v[0:1], v[2:3], v[4:5]", "v0+2 v2+2 v4+2 exec(2) mode", "v0+2"),
        (Cdna4, 64, "v_pk_fmac_f16 v1, v2, v3", "v1 v2 v3 exec(2) mode", "v1"),
        (Cdna5, 32, "v_pk_fmac_f16 v1, v2, v3", "v1 v2 v3 exec(1) mode", "v1"),
        (Rdna4, 32, "v_fmac_f32_e32 v1, v2, v3", "v1 v2 v3 exec(1) mode", "v1"),
        (Cdna4, 64, "v_swap_b32 v1, v2", "v1 v2 exec(2)", "v1 v2"),
        (Cdna4, 64, "s_cmov_b32 s1, s2", "s1 s2 scc", "s1"),
        // Lane masks are as wide as the wave.
        (Rdna3, 32, "v_cmp_lt_f32_e64 s2, v1, v2", "v1 v2 exec(1) mode", "s2"),
        (Rdna3, 64, "v_cmp_lt_f32_e64 s[2:3], v1, v2", "v1 v2 exec(2) mode", "s2+2"),
        (Rdna3, 32, "v_cmp_lt_u32_e32 vcc_lo, v1, v2", "v1 v2 exec(1)", "vcc(1)"),
        (Cdna3, 64, "v_cmpx_eq_u32_e64 s[4:5], v1, v2", "v1 v2 exec(2)", "s4+2 exec(2)"),
        (Rdna3, 32, "v_cmpx_eq_u32_e32 v1, v2", "v1 v2 exec(1)", "exec(1)"),
        (Cdna1, 64, "v_cmp_ne_u16_sdwa s[6:7], v1, v2 src0_sel:BYTE_1 src1_sel:WORD_1", "v1 v2 exec(2)", "s6+2"),
        (Rdna1, 32, "v_add_co_ci_u32_e32 v1, vcc_lo, v2, v3, vcc_lo", "v2 v3 vcc(1) exec(1)", "v1 vcc(1)"),
        (Cdna1, 64, "v_div_fmas_f32 v0, v1, v2, v3", "v1 v2 v3 vcc(2) exec(2) mode", "v0"),
        // Scalar state.
        (Rdna4, 32, "s_and_saveexec_b32 s1, s2", "s2 exec(1)", "s1 exec(1) scc"),
        (Rdna3, 32, "s_addc_u32 s0, s1, s2", "s1 s2 scc", "s0 scc"),
        (Rdna3, 32, "s_cbranch_vccz 4", "vcc(1)", ""),
        (Rdna3, 64, "s_cbranch_execz 4", "exec(2)", ""),
        (Rdna3, 32, "s_swappc_b64 s[0:1], s[2:3]", "s2+2 pc", "s0+2 pc"),
        (Rdna3, 32, "s_mov_b32 vcc_hi, m0", "m0", "vcc_hi"),
        (Rdna3, 32, "s_mov_b32 null, scc", "scc", ""),
        (Rdna3, 32, "s_round_mode 3", "", "mode"),
        (Rdna3, 32, "s_setreg_b32 hwreg(HW_REG_MODE, 0, 4), s1", "s1 mode", "mode"),
        (Rdna3, 32, "s_getreg_b32 s1, hwreg(HW_REG_MODE)", "mode", "s1"),
        (Rdna3, 32, "s_sendmsg sendmsg(MSG_INTERRUPT)", "m0", ""),
        // Lanes that one instruction reads or writes alone.
        (Rdna3, 32, "v_readlane_b32 s1, v2, s3", "v2 s3", "s1"),
        (Rdna3, 32, "v_writelane_b32 v1, s2, s3", "v1 s2 s3", "v1"),
        (Rdna3, 32, "v_readfirstlane_b32 s1, v2", "v2 exec(1)", "s1"),
        // Addresses of memory.
        (Rdna3, 32, "global_load_b64 v[0:1], v[2:3], off", "v2+2 memory exec(1)", "v0+2"),
        (Rdna3, 32, "global_load_b64 v[0:1], v2, s[4:5]", "v2 s4+2 memory exec(1)", "v0+2"),
        (Rdna3, 32, "global_store_b96 v[0:1], v[2:4], off", "v0+2 v2+3 exec(1)", "memory"),
        (Rdna3, 32, "global_atomic_add_u32 v[0:1], v2, off", "v0+2 v2 memory exec(1)", "memory"),
        (Rdna3, 32, "global_atomic_add_u32 v3, v[0:1], v2, off glc", "v0+2 v2 memory exec(1)", "v3 memory"),
        (Rdna3, 32, "flat_load_b32 v0, v[2:3]", "v2+2 flatscratch memory lds exec(1)", "v0"),
        (Rdna4, 32, "scratch_load_b32 v0, off, s3", "s3 memory exec(1)", "v0"),
        (Cdna3, 64, "buffer_load_dword v0, v[2:3], s[4:7], s1 idxen offen", "v2+2 s4+4 s1 memory exec(2)", "v0"),
        (Rdna1, 32, "buffer_load_dword v0, v2, s[4:7], s1 idxen", "v2 s4+4 s1 memory exec(1)", "v0"),
        (Rdna1, 32, "buffer_load_dword v[0:1], off, s[4:7], s1 tfe", "s4+4 s1 memory exec(1)", "v0+2"),
        (Cdna3, 64, "buffer_load_dword v1, s[4:7], s1 offen lds", "v1 s4+4 s1 m0 memory exec(2)", "lds"),
        (Cdna2, 64, "buffer_atomic_add v1, off, s[4:7], s1", "v1 s4+4 s1 memory exec(2)", "memory"),
        (Cdna2, 64, "buffer_atomic_add v1, off, s[4:7], s1 glc", "v1 s4+4 s1 memory exec(2)", "v1 memory"),
        (Cdna4, 64, "buffer_atomic_add v1, off, s[4:7], s1 sc0", "v1 s4+4 s1 memory exec(2)", "v1 memory"),
        (Rdna4, 32, "s_load_b128 s[4:7], s[2:3], s9 offset:0x10", "s2+2 s9 memory", "s4+4"),
        // Halves that stay.
        (Cdna1, 64, "global_load_short_d16_hi v1, v[2:3], off", "v1 v2+2 m0 memory exec(2)", "v1"),
        (Rdna3, 32, "v_mov_b32_dpp v1, v2 quad_perm:[0,1,2,3] row_mask:0x3 bank_mask:0xf", "v1 v2 exec(1)", "v1"),
        (
            Rdna3,
            32,
            "v_mov_b32_dpp v1, v2 quad_perm:[0,1,2,3] row_mask:0xf bank_mask:0xf bound_ctrl:1",
            "v2 exec(1)",
            "v1",
        ),
        (
            Cdna1,
            64,
            "v_add_u32_sdwa v1, v2, v3 dst_sel:BYTE_1 dst_unused:UNUSED_PRESERVE src0_sel:DWORD src1_sel:DWORD",
            "v1 v2 v3 exec(2)",
            "v1",
        ),
        // Images: registers by DMASK, D16 and TFE; addresses by dimension and A16.
        (
            Rdna2,
            32,
            "image_load v[0:3], v[4:6], s[8:15] dmask:0xe dim:SQ_RSRC_IMG_3D tfe",
            "v4+3 s8+8 memory exec(1)",
            "v0+4",
        ),
        (
            Rdna2,
            32,
            "image_load v[0:1], v[4:5], s[8:15] dmask:0xf dim:SQ_RSRC_IMG_3D a16 d16",
            "v4+2 s8+8 memory exec(1)",
            "v0+2",
        ),
        (
            Rdna2,
            32,
            "image_sample v0, [v4, v9], s[8:15], s[0:3] dmask:0x1 dim:SQ_RSRC_IMG_2D",
            "v4 v9 s8+8 s0+4 memory exec(1)",
            "v0",
        ),
        // Tiles of matrices.
        (
            Cdna3,
            64,
            "v_mfma_f32_32x32x8_f16 a[0:15], v[0:1], v[2:3], a[16:31]",
            "v0+2 v2+2 a16+16 exec(2) mode",
            "a0+16",
        ),
        (Cdna4, 64, "v_smfmac_f32_16x16x32_f16 v[0:3], v[4:5], v[6:9], v10", "v0+4 v4+2 v6+4 v10 exec(2) mode", "v0+4"),
        (Rdna4, 64, "v_wmma_f32_16x16x16_f16 v[0:3], v[4:5], v[6:7], v[0:3]", "v0+4 v4+2 v6+2 exec(2) mode", "v0+4"),
        // Both halves of a pair.
        (
            Rdna3,
            32,
            "v_dual_fmac_f32 v0, v1, v2 :: v_dual_cndmask_b32 v5, v6, v7",
            "v0 v1 v2 v6 v7 vcc(1) exec(1) mode",
            "v0 v5",
        ),
    ];
    let mut wrong = Vec::new();
    for (generation, lanes, text, reads, writes) in cases {
        let inst = inst(generation, lanes, text);
        let (found_reads, found_writes) = (words(inst.reads()), words(inst.writes()));
        if found_reads != reads || found_writes != writes {
            wrong.push(format!("{generation} {text}\n    reads  {found_reads}\n    not    {reads}\n    writes {found_writes}\n    not    {writes}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn branch_targets_are_absolute() {
    let target = |text, pc| inst(Generation::Rdna3, 32, text).branch_target(pc);
    assert_eq!(target("s_branch 3", 0x100), Some(0x110));
    assert_eq!(target("s_cbranch_scc0 0xffff", 0x100), Some(0x100));
    assert_eq!(target("s_branch 0x8000", 0), Some(0u64.wrapping_sub(0x1fffc)));
    assert_eq!(target("s_code_end", 0x100), None);
    assert_eq!(target("s_setpc_b64 s[0:1]", 0x100), None);
}
