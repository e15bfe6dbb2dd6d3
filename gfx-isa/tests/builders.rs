//! Instructions from operands: LLVM's vectors rebuilt, the functions of each generation, labels, and what is refused.

use std::path::Path;

use gfx_isa::asm::ErrorKind;
use gfx_isa::encode::{
    Arg, CodeBuffer, EXEC, InstBuilder, M0, NULL, OFF, Part, Rest, VCC, VCC_LO, Vreg, a, registers, s, ttmp, v,
};
use gfx_isa::{Decoder, Generation, Inst, Op, RegFile, Special};

fn hex(text: &str) -> Vec<u8> {
    let digits: Vec<u32> = text.chars().filter_map(|c| c.to_digit(16)).collect();
    digits.chunks(2).map(|pair| (pair[0] << 4 | pair[1]) as u8).collect()
}

/// A register with a name and its dwords.
fn special(name: &str) -> Option<Arg> {
    Some(match name {
        "vcc" => VCC.into(),
        "exec" => EXEC.into(),
        "flat_scratch" => Arg::pair(Special::FlatScratchLo),
        "xnack_mask" => Arg::pair(Special::XnackMaskLo),
        "vcc_lo" => Special::VccLo.into(),
        "vcc_hi" => Special::VccHi.into(),
        "exec_lo" => Special::ExecLo.into(),
        "exec_hi" => Special::ExecHi.into(),
        "m0" => M0.into(),
        "null" => NULL.into(),
        "flat_scratch_lo" => Special::FlatScratchLo.into(),
        "flat_scratch_hi" => Special::FlatScratchHi.into(),
        "xnack_mask_lo" => Special::XnackMaskLo.into(),
        "xnack_mask_hi" => Special::XnackMaskHi.into(),
        "src_shared_base" => Special::SharedBase.into(),
        "src_shared_limit" => Special::SharedLimit.into(),
        "src_private_base" => Special::PrivateBase.into(),
        "src_private_limit" => Special::PrivateLimit.into(),
        "src_flat_scratch_base_lo" => Special::FlatScratchBaseLo.into(),
        "src_flat_scratch_base_hi" => Special::FlatScratchBaseHi.into(),
        "src_pops_exiting_wave_id" => Special::PopsExitingWaveId.into(),
        "src_vccz" => Special::Vccz.into(),
        "src_execz" => Special::Execz.into(),
        "src_scc" => Special::Scc.into(),
        "src_lds_direct" => Special::LdsDirect.into(),
        _ => return None,
    })
}

fn register(text: &str) -> Option<Arg> {
    let (text, half) = match text.strip_suffix(".l") {
        Some(text) => (text, 1),
        None => text.strip_suffix(".h").map_or((text, 0), |text| (text, 2)),
    };
    let at = text.find(|c: char| !c.is_ascii_lowercase())?;
    let (file, rest) = text.split_at(at);
    let (first, last) = match rest.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
        Some(range) => {
            let (first, last) = range.split_once(':')?;
            (first.parse::<u16>().ok()?, last.parse::<u16>().ok()?)
        }
        None => {
            let number = rest.parse().ok()?;
            (number, number)
        }
    };
    let halves = |reg: Vreg| match half {
        0 => reg,
        1 => reg.lo(),
        _ => reg.hi(),
    };
    Some(match file {
        "v" => halves(v(first).to(last)).into(),
        "a" => halves(a(first).to(last)).into(),
        "s" => s(first).to(last).into(),
        "ttmp" => ttmp(first).to(last).into(),
        _ => return None,
    })
}

/// Adds an operand as LLVM writes it.
fn operand(builder: InstBuilder, text: &str) -> InstBuilder {
    let wrapped = |name: &str| text.strip_prefix(name).and_then(|rest| rest.strip_suffix(')'));
    let plain = |text: &str| {
        let number = || {
            let (sign, digits) = text.strip_prefix('-').map_or((1, text), |digits| (-1, digits));
            if let Some(digits) = digits.strip_prefix("0x") {
                return i64::from_str_radix(digits, 16).ok().map(|value| Arg::from(sign * value));
            }
            text.parse::<i64>().map(Arg::from).ok().or_else(|| text.parse::<f64>().map(Arg::from).ok())
        };
        special(text).or_else(|| register(text)).or_else(number)
    };
    if text == "off" {
        return builder.arg(OFF);
    }
    if let Some(list) = text.strip_prefix('[').and_then(|list| list.strip_suffix(']')) {
        let parts: Vec<&str> = list.split(", ").collect();
        // Ranges within brackets are consecutive registers.
        let numbers = parts.iter().map(|part| match part.strip_prefix("v[") {
            Some(range) => {
                let (first, last) = range.trim_end_matches(']').split_once(':').expect("a range");
                first.parse::<u16>().expect("a number")..=last.parse::<u16>().expect("a number")
            }
            None => {
                let number = part.trim_start_matches('v').parse::<u16>().expect("a number");
                number..=number
            }
        });
        let single = parts.iter().all(|part| !part.contains('['));
        let numbers: Vec<u16> =
            if single { numbers.flatten().collect() } else { numbers.map(|r| *r.start()).collect() };
        macro_rules! list {
            ($($n:literal)*) => {
                match numbers.len() {
                    $($n => builder.arg(<[Vreg; $n]>::try_from(numbers.iter().map(|&n| v(n)).collect::<Vec<_>>()).expect("as many")),)*
                    _ => panic!("{text}"),
                }
            };
        }
        return list!(1 2 3 4 5 6 7 8 9 10 11 12 13);
    }
    let modified = |inner: &str| plain(inner).expect("an operand");
    if let Some(inner) = wrapped("neg(") {
        return builder.arg(modified(inner).neg());
    }
    if let Some(inner) = wrapped("sext(") {
        return builder.arg(modified(inner).sext());
    }
    if let Some(inner) = wrapped("lit64(") {
        return builder.arg(modified(inner).literal64());
    }
    if let Some(inner) = wrapped("lit(") {
        return builder.arg(modified(inner).literal());
    }
    if let Some(inner) = text.strip_prefix("-|").and_then(|rest| rest.strip_suffix('|')) {
        return builder.arg(modified(inner).abs().neg());
    }
    if let Some(inner) = text.strip_prefix('|').and_then(|rest| rest.strip_suffix('|')) {
        return builder.arg(modified(inner).abs());
    }
    if let Some(inner) = text.strip_prefix('-').and_then(register) {
        return builder.arg(-inner);
    }
    if let Some(inner) = text.strip_prefix('-').and_then(special) {
        return builder.arg(-inner);
    }
    match plain(text) {
        Some(arg) => builder.arg(arg),
        None => builder.arg(&*String::leak(text.to_owned())),
    }
}

/// Adds a modifier as LLVM writes it.
fn modifier(builder: InstBuilder, text: &str) -> InstBuilder {
    let Some((name, value)) = text.split_once(':') else { return builder.flag(text) };
    if let Some(list) = value.strip_prefix('[').and_then(|list| list.strip_suffix(']'))
        && name != "format"
    {
        let items: Vec<u8> = list.split(',').map(|item| item.parse().expect("a number")).collect();
        return builder.list(name, &items);
    }
    let number = match value.strip_prefix("0x") {
        Some(digits) => i64::from_str_radix(digits, 16).ok(),
        None => value.parse().ok(),
    };
    match number {
        Some(number) => builder.number(name, number),
        None => builder.name(name, value),
    }
}

/// Splits at a separator outside of brackets.
fn split(text: &str, separator: char) -> Vec<&str> {
    let (mut depth, mut start, mut parts) = (0, 0, Vec::new());
    for (at, c) in text.char_indices() {
        match c {
            '[' | '(' | '{' => depth += 1,
            ']' | ')' | '}' => depth -= 1,
            c if c == separator && depth == 0 => {
                parts.push(text[start..at].trim());
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(text[start..].trim());
    parts.retain(|part| !part.is_empty());
    parts
}

/// One half of a line.
fn half(op: Op, text: &str) -> InstBuilder {
    let (name, rest) = text.split_once(' ').unwrap_or((text, ""));
    let mut builder = InstBuilder::new(op);
    if name.ends_with("_e32") {
        builder = builder.e32();
    } else if name.ends_with("_e64") || name.ends_with("_e64_dpp") {
        builder = builder.e64();
    }
    let structured = ["s_waitcnt", "s_delay_alu", "s_wait_alu", "s_waitcnt_depctr", "s_set_gpr_idx_mode", "s_version"];
    if structured.contains(&name) {
        return operand(builder, rest.trim());
    }
    let mut rest = rest;
    if matches!(name, "exp" | "export") {
        // A blank follows the target.
        let (target, sources) = rest.split_once(' ').expect("a target");
        builder = if target == "null" { builder.arg(NULL) } else { operand(builder, target) };
        rest = sources;
    }
    let mut parts = split(rest, ',');
    let last = parts.pop().unwrap_or_default();
    for part in parts {
        builder = operand(builder, part);
    }
    // Modifiers stand behind the last operand, or in its place.
    let mut words = split(last, ' ');
    let is_modifier = |word: &str| {
        let names = ["clamp", "gds", "glc", "slc", "dlc", "sc0", "sc1", "nt", "idxen", "offen", "row_mirror", "done"];
        names.contains(&word) || (word.contains(':') && !word.contains('[')) || word.starts_with("quad_perm")
    };
    if !words.is_empty() && !is_modifier(words[0]) {
        builder = operand(builder, words.remove(0));
    }
    words.into_iter().fold(builder, modifier)
}

fn whole(inst: &Inst, text: &str) -> InstBuilder {
    match text.split_once(" :: ") {
        Some((x, y)) => half(inst.op(), x).dual(half(inst.op_y().expect("a second half"), y)),
        None => half(inst.op(), text),
    }
}

/// Whatever LLVM's text says can be said with builders, and gives LLVM's bytes.
#[test]
fn llvm_vectors_can_be_built() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data");
    let (mut rows, mut wrong) = (0, Vec::new());
    for &generation in Generation::all() {
        let path = folder.join(format!("{}.dis.tsv", generation.name()));
        let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        for line in text.lines().filter(|line| !line.starts_with('#')) {
            let (bytes, text) = line.split_once('\t').expect("a tab");
            let bytes = hex(bytes);
            let inst = generation.decode(&bytes).unwrap_or_else(|error| panic!("{line}: {error}"));
            rows += 1;
            match whole(&inst, text).build(generation) {
                Ok(built) if built == inst => {
                    let mut code = Vec::new();
                    built.encode(&mut code);
                    assert_eq!(code, bytes, "{text}");
                }
                Ok(built) => {
                    wrong.push(format!("{} {text}: {built} {:08x?}, not {line}", generation.name(), built.words()))
                }
                Err(error) => wrong.push(format!("{} {text}: {error}", generation.name())),
            }
        }
    }
    assert!(rows > 5000, "only {rows} rows");
    assert!(wrong.is_empty(), "{} of {rows} differ:\n{}", wrong.len(), wrong[..wrong.len().min(40)].join("\n"));
}

/// Each generation's functions, beside the bytes that LLVM gives for the same text.
#[test]
fn functions_of_each_generation() {
    use gfx_isa::{cdna1, cdna2, cdna3, cdna4, cdna5, rdna1, rdna2, rdna3, rdna3_5, rdna4};

    let cases = [
        (
            Generation::Cdna1,
            cdna1::v_add_f32(v(0), v(0), v(0))
                .src0_sel(Part::Word1)
                .src1_sel(Part::Byte2)
                .dst_sel(Part::Dword)
                .dst_unused(Rest::Pad),
            "f900000200060502",
        ),
        (
            Generation::Cdna1,
            cdna1::v_add_f32(v(0), v(0).abs().neg(), -v(0))
                .src0_sel(Part::Word1)
                .src1_sel(Part::Byte2)
                .dst_sel(Part::Dword)
                .dst_unused(Rest::Pad),
            "f900000200063512",
        ),
        (Generation::Cdna1, cdna1::image_load(v(5), v(1), s(8).to(15)).dmask(1).d16(), "000100f001050280"),
        (Generation::Cdna1, cdna1::v_mfma_f32_32x32x1f32(a(0).to(31), v(0), v(1), a(33).to(64)), "0000c0d300038604"),
        (Generation::Cdna1, cdna1::tbuffer_load_format_xyz(v(5).to(7), OFF, s(8).to(11), s(3)), "000009e800050203"),
        (Generation::Cdna1, cdna1::s_getreg_b32(s(0), "hwreg(HW_REG_HW_ID)"), "04f880b8"),
        (
            Generation::Cdna1,
            cdna1::ds_swizzle_b32(v(5), v(1)).name("offset", "swizzle(ROTATE,0,0)"),
            "00c07ad801000005",
        ),
        (Generation::Cdna1, cdna1::v_interp_p1_f32(v(2), v(0), "attr0.y").e32(), "000108d4"),
        (Generation::Cdna2, cdna2::v_pk_mul_f32(v(0).to(1), v(2).to(3), 1.0), "0040b1d302e50118"),
        (
            Generation::Cdna2,
            cdna2::global_atomic_add_f64_rtn(v(0).to(1), v(0).to(1), v(2).to(3), OFF),
            "00803ddd00027f00",
        ),
        (Generation::Cdna2, cdna2::global_atomic_add_f64(v(0).to(1), v(2).to(3), OFF), "00803cdd00027f00"),
        (Generation::Cdna2, cdna2::buffer_atomic_add(a(255), OFF, s(8).to(11), s(3)).offset(4095), "ff0f08e100ff8203"),
        (Generation::Cdna2, cdna2::v_cndmask_b32(v(1), v(2), v(3), VCC), "02070200"),
        (
            Generation::Cdna3,
            cdna3::v_mfma_f32_16x16x16_f16(v(0).to(3), a(0).to(1), v(2).to(3), v(2).to(5)),
            "0000cdd300050a0c",
        ),
        (Generation::Cdna3, cdna3::global_load_lds_dword(v(2), s(4).to(5)).offset(4), "0480a8dc02000400"),
        (Generation::Cdna3, cdna3::buffer_load_dword_to_lds(OFF, s(8).to(11), s(3)).offset(4095), "ff0f51e000000203"),
        (Generation::Cdna3, cdna3::flat_atomic_add_f64_rtn(v(0).to(1), v(0).to(1), v(2).to(3)), "00003ddd00020000"),
        (Generation::Cdna3, cdna3::s_waitcnt("vmcnt(2) expcnt(0) lgkmcnt(0)"), "02008cbf"),
        (Generation::Cdna3, cdna3::s_waitcnt(2), "02008cbf"),
        (
            Generation::Cdna3,
            cdna3::v_pk_fma_f32(v(8).to(9), v(0).to(1), s(0).to(1), v(4).to(5)).op_sel_hi(&[0, 0, 0]),
            "0800b0d300011004",
        ),
        (Generation::Cdna3, cdna3::v_cmpx_eq_u32(s(10).to(11), v(1), 0), "0a00dad001010100"),
        (Generation::Cdna3, cdna3::v_accvgpr_read(v(2), a(10)), "0240d8d30a010018"),
        (Generation::Cdna4, cdna4::v_cvt_scalef32_pk_bf8_f32(v(0), -13, v(1), s(0)), "000036d2cd020200"),
        (Generation::Cdna4, cdna4::ds_read_b64_tr_b4(v(0).to(1), v(1)), "0000c0d901000000"),
        (Generation::Cdna4, cdna4::v_permlane16_swap_b32(v(1), v(2)).e64().bound_ctrl().fi(), "011899d102010000"),
        (Generation::Cdna4, cdna4::v_bitop3_b32(v(5), v(1), v(2), s(3)), "050034d201050e00"),
        (Generation::Cdna4, cdna4::buffer_load_dwordx4_to_lds(v(0), s(8).to(11), s(101)).offen(), "00105de000000265"),
        (
            Generation::Cdna5,
            cdna5::v_wmma_f32_16x16x128_f8f6f4(v(0).to(7), v(8).to(23), v(24).to(35), v(40).to(47))
                .matrix_b_fmt("MATRIX_FMT_BF6"),
            "000033cc0831a21c",
        ),
        (
            Generation::Cdna5,
            cdna5::tensor_load_to_lds(s(0).to(3), s(4).to(11), s(12).to(15), s(16).to(19)),
            "010071d00000007c00040c10",
        ),
        (
            Generation::Cdna5,
            cdna5::tensor_load_to_lds(s(0).to(3), s(4).to(11), NULL, NULL).th("TH_LOAD_BYPASS").scope("SCOPE_SYS"),
            "010071d000003c7c00047c7c",
        ),
        (
            Generation::Cdna5,
            cdna5::v_dual_fma_f64(v(254).to(255), v(2).to(3), v(4).to(5), v(10).to(11)).dual(cdna5::v_dual_fmac_f32(
                v(9),
                v(253),
                v(3),
            )),
            "020180cffd01040afe030009",
        ),
        (
            Generation::Cdna5,
            cdna5::global_load_async_to_lds_b32(v(1), v(2), s(2).to(3)).offset(64),
            "020018ee0100000002400000",
        ),
        (Generation::Cdna5, cdna5::s_add_nc_u64(EXEC, s(0).to(1), s(2).to(3)), "0002fea9"),
        (Generation::Cdna5, cdna5::v_bitop3_b32(v(5), M0, 0.5, M0).bitop3(5), "050034d67de0f5a1"),
        (
            Generation::Rdna1,
            rdna1::image_sample(v(64).to(65), [v(32), v(33), v(34)], s(4).to(11), s(100).to(103))
                .dmask(12)
                .dim("SQ_RSRC_IMG_CUBE"),
            "1a0c80f02040210321220000",
        ),
        (
            Generation::Rdna1,
            rdna1::v_add_nc_u32(v(5), v(1), v(2))
                .dst_sel(Part::Byte3)
                .dst_unused(Rest::Pad)
                .src0_sel(Part::Dword)
                .src1_sel(Part::Dword),
            "f9040a4a01030606",
        ),
        (Generation::Rdna1, rdna1::v_add_nc_u32(v(255), v(255), v(255)).dpp8([0; 8]).fi(), "eafeff4bff000000"),
        (Generation::Rdna1, rdna1::global_atomic_add_rtn(v(0), v(1).to(2), v(2), OFF).slc(), "0080cbdc01027d00"),
        (Generation::Rdna1, rdna1::s_subvector_loop_end(s(105), 4660), "341269be"),
        (Generation::Rdna1, rdna1::exp("param0", OFF, OFF, OFF, OFF).compr(), "000600f800000000"),
        (
            Generation::Rdna2,
            rdna2::image_bvh_intersect_ray(v(4).to(7), v(9).to(16), s(4).to(7)).a16(),
            "019f98f109040140",
        ),
        (Generation::Rdna2, rdna2::v_dot2_f32_f16(v(5), v(1), 1, v(2)), "054013cc0103091c"),
        (Generation::Rdna2, rdna2::v_fma_mix_f32(v(5), v(1), v(2), 0x1c8), "050020cc0105fe03c8010000"),
        (Generation::Rdna2, rdna2::s_load_dwordx2(s(10).to(11), s(2).to(3), VCC_LO), "810204f4000000d4"),
        (
            Generation::Rdna3,
            rdna3::v_add_f16(v(0).lo(), v(0).lo(), Arg::from(0xfe0b).neg()).e64(),
            "000032d500ff01400bfe0000",
        ),
        (
            Generation::Rdna3,
            rdna3::v_dual_fmac_f32(v(255), s(1), v(2)).dual(rdna3::v_dual_mul_f32(v(6), s(105), v(3))),
            "010406c8690606ff",
        ),
        (Generation::Rdna3, rdna3::lds_param_load(v(3), "attr0.z").wait_vdst(13), "03020dce"),
        (
            Generation::Rdna3,
            rdna3::v_wmma_i32_16x16x16_iu8(v(2).to(9), v(0).to(3), v(1).to(4), v(2).to(9)).neg_lo(&[0, 1, 0]),
            "024044cc00030a5c",
        ),
        (Generation::Rdna3, rdna3::s_delay_alu("instid1(SALU_CYCLE_2)"), "000587bf"),
        (Generation::Rdna3, rdna3::v_interp_p10_f32(v(0), v(1), -v(2), v(3)).wait_exp(0), "000000cd01050e44"),
        (Generation::Rdna3_5, rdna3_5::s_fmamk_f32(s(5), s(1), 0x1121_3141, s(3)), "010305a341312111"),
        (
            Generation::Rdna3_5,
            rdna3_5::v_add_f32(v(5), v(1), s(3)).dpp8([7, 6, 5, 4, 3, 2, 1, 0]),
            "050003d5e906000001773905",
        ),
        (
            Generation::Rdna3_5,
            rdna3_5::v_dual_mov_b32(v(255), v(2)).dual(rdna3_5::v_dual_cndmask_b32(v(6), v(3), v(255))),
            "020112ca03ff07ff",
        ),
        (Generation::Rdna4, rdna4::v_msad_u8(v(5), s(105), s(105), gfx_isa::encode::EXEC_LO), "050039d669d2f801"),
        (Generation::Rdna4, rdna4::s_load_b64(s(12).to(13), s(2).to(3), s(0)), "012300f400000000"),
        (
            Generation::Rdna4,
            rdna4::buffer_load_b64(v(5).to(6), v(0), s(8).to(11), s(3)).offen().offset(4095),
            "034005c40510804000ff0f00",
        ),
        (
            Generation::Rdna4,
            rdna4::global_atomic_add_u32_rtn(v(1), v(0), v(2), s(0).to(1)).offset(-64),
            "00400dee0100100100c0ffff",
        ),
        (
            Generation::Rdna4,
            rdna4::tbuffer_load_format_xy(v(4).to(5), v(1).to(2), s(8).to(11), s(0))
                .format("[BUF_FMT_16_16_FLOAT]")
                .idxen()
                .offen()
                .offset(52),
            "004020c4041080ce01340000",
        ),
        (Generation::Rdna4, rdna4::v_cmp_lt_f32(s(5), VCC_LO, ttmp(15)), "050011d46af60000"),
        (Generation::Rdna4, rdna4::v_wmma_f32_16x16x16_f16(v(4).to(11), v(0).to(3), v(2).to(5), 1), "044040cc0005061a"),
        (Generation::Rdna4, rdna4::export("mrt0", v(0), OFF, OFF, OFF), "010000f800000000"),
        (
            Generation::Rdna4,
            rdna4::v_add_f32(v(5), v(1), v(2)).mul4().dpp8([7, 6, 5, 4, 3, 2, 1, 0]).e64(),
            "050003d5e904021001773905",
        ),
        (Generation::Rdna4, rdna4::s_setreg_imm32_b32("hwreg(HW_REG_WAVE_MODE)", 0xaf12_3456_u32), "01f880b9563412af"),
        (Generation::Rdna4, rdna4::s_sendmsg("sendmsg(MSG_DEALLOC_VGPRS)"), "0300b6bf"),
    ];
    for (generation, builder, expected) in cases {
        let what = format!("{generation} {builder:?}");
        let inst = builder.build(generation).unwrap_or_else(|error| panic!("{error}: {what}"));
        let mut code = Vec::new();
        inst.encode(&mut code);
        assert_eq!(code, hex(expected), "{inst}");
        assert_eq!(generation.decode(&code), Ok(inst));
    }
}

#[test]
fn wave_size_gives_masks_their_width() {
    use gfx_isa::rdna3;

    let wide = || rdna3::v_cmp_lt_f32(s(2).to(3), v(1), v(2));
    assert!(matches!(wide().build(Generation::Rdna3), Err(ErrorKind::Operand { number: 1, .. })));
    let inst = wide().wave_size(64).build(Generation::Rdna3).expect("a compare");
    assert_eq!(inst.to_string(), "v_cmp_lt_f32_e64 s[2:3], v1, v2");
    let mut code = CodeBuffer::new(Generation::Rdna3).wave_size(64);
    code.push(wide()).expect("a compare");
    assert_eq!(code.finish().expect("no labels").len(), 8);
}

#[test]
fn invalid_instructions_are_errors() {
    use gfx_isa::{cdna3, rdna3, rdna4};

    let error = |builder: InstBuilder| builder.build(Generation::Rdna4).expect_err("no instruction").to_string();
    let cases = [
        (rdna4::v_add_f64(v(0).to(1), v(2), v(4).to(5)), "operand 2 must be two registers"),
        (rdna4::v_add_f32(v(0), 0x1234, 0x5678), "an instruction can have one literal only"),
        (rdna4::v_add_f32(v(256), v(0), v(1)), "operand 1 must be a register below v256"),
        (rdna4::s_add_co_u32(s(106), s(0), s(1)), "operand 1 must be a scalar register"),
        (rdna4::v_add_f32(v(0), v(1), v(2)).glc(), "glc: the instruction has no such modifier"),
        (rdna4::v_add_f32(v(0), v(1), v(2)).clamp().clamp(), "the modifier is given twice"),
        (rdna4::v_add_f32(v(0), v(1), v(2)).flag("nonsense"), "unknown modifier"),
        (rdna4::global_load_b32(v(0), v(1), s(2).to(3)).offset(1 << 23), "offset: the number is out of range"),
        (rdna4::v_add_f32(v(0), s(1), v(2)).e32().clamp(), "clamp: the instruction has no such modifier"),
        (rdna4::v_add_f32(v(0), v(1), v(2)).quad_perm([4, 0, 0, 0]), "quad_perm: four lanes from 0 to 3 are expected"),
        (rdna4::s_waitcnt("nonsense(3)"), "`vmcnt`, `expcnt` or `lgkmcnt` is expected"),
        (rdna4::s_sleep("text"), "operand 1 must be a number that fits its field"),
        (rdna4::s_sleep(0x1_0000), "operand 1 must be a number that fits its field"),
        (rdna4::v_dual_mov_b32(v(0), v(1)), "V_DUAL_MOV_B32 is half of a dual-issue word"),
        (
            rdna4::v_dual_mov_b32(v(0), v(1)).dual(rdna4::v_dual_mov_b32(v(2), v(3))),
            "the destinations of X and Y must be one even and one odd register",
        ),
        (
            rdna4::v_dual_add_f32(v(0), v(1), v(2)).dual(rdna4::v_dual_add_f32(v(3), v(5), v(3))),
            "source 0 of X and of Y must be registers of different banks (number modulo 4)",
        ),
        (
            rdna4::image_sample(v(0), [v(1), v(2), v(3), v(4), v(5), v(6)], s(0).to(7), s(8).to(11)).dmask(1),
            "operand 2 must be at most five registers",
        ),
        (
            rdna4::image_sample(v(0), [v(1).to(2)], s(0).to(7), s(8).to(11)).dmask(1),
            "whole registers, one at least and few enough, are expected",
        ),
        (cdna3::v_accvgpr_read(v(2), a(10)), "RDNA 4 has no V_ACCVGPR_READ"),
        (rdna3::s_waitcnt_vscnt(NULL, 0), "RDNA 4 has no S_WAITCNT_VSCNT"),
        (InstBuilder::new(Op::V_ADD_F32).arg(v(1)).arg(v(2)), "2 operands, but the instruction takes 3"),
        (InstBuilder::new(Op::V_ADD_F32).arg(s(1)).arg(v(2)).arg(v(3)), "operand 1 must be a vector register"),
        (
            InstBuilder::new(Op::V_ADD_F32).arg(v(1)).arg("label").arg(v(3)),
            "only a structured immediate is given as text",
        ),
        (InstBuilder::new(Op::V_ADD_F32).arg(v(3).to(1)).arg(v(2)).arg(v(3)), "operand 1 must be one register"),
    ];
    for (builder, expected) in cases {
        assert_eq!(error(builder), expected);
    }
    let many = (0..40).fold(InstBuilder::new(Op::S_NOP), |builder, at| builder.arg(at));
    assert!(error(many).contains("too many operands"));
    let list = InstBuilder::new(Op::V_ADD_F32).list("op_sel", &[1; 300]);
    assert!(error(list).contains("the list is too long"));
}

#[test]
fn registers_of_a_known_file() {
    let load = InstBuilder::new(Op::GLOBAL_LOAD_B32).arg(v(1)).arg(v(2)).arg(registers(RegFile::Sgpr, 4, 2));
    let load = load.number("offset", -8).build(Generation::Rdna4).expect("a load");
    assert_eq!(load.to_string(), "global_load_b32 v1, v2, s[4:5] offset:-8");
}

/// Branches back and forth, each to where its label is.
#[test]
fn labels_are_filled_in() {
    use gfx_isa::rdna4;

    let mut code = CodeBuffer::new(Generation::Rdna4);
    let start = code.here();
    let end = code.label();
    code.push(rdna4::s_cbranch_scc1(end)).expect("a branch");
    code.push(rdna4::v_add_f32(v(0), 0x1234_5678, v(1))).expect("an addition");
    assert_eq!(code.offset(), 12);
    let call = code.push(rdna4::s_call_b64(s(30).to(31), start)).expect("a call");
    code.push(rdna4::s_branch(-1)).expect("a branch");
    code.bind(end).expect("no place yet");
    code.push(rdna4::s_endpgm()).expect("the end");
    code.dword(0xbf9f_0000);
    assert!(code.bind(end).is_err() && code.bind(start).is_err());
    let bytes = code.finish().expect("all labels have places");
    let insts: Vec<Inst> = Decoder::new(Generation::Rdna4, &bytes).map(|inst| inst.expect("code")).collect();
    let targets: Vec<Option<u64>> = {
        let mut pc = 0;
        let mut target = |inst: &Inst| {
            let target = inst.branch_target(pc);
            pc += inst.len() as u64;
            target
        };
        insts.iter().map(&mut target).collect()
    };
    assert_eq!(targets, [Some(20), None, Some(0), Some(16), None, None]);
    assert_eq!(call, 12);
}

#[test]
fn labels_out_of_place_are_errors() {
    use gfx_isa::rdna4;

    let mut code = CodeBuffer::new(Generation::Rdna4);
    let label = code.label();
    assert_eq!(
        rdna4::s_branch(label).build(Generation::Rdna4).expect_err("no place").to_string(),
        "a label has a place in a code buffer alone"
    );
    code.push(rdna4::s_nop(0)).expect("a no-op");
    code.push(rdna4::s_branch(label)).expect("a branch");
    assert_eq!(code.clone().finish().expect_err("no place").to_string(), "offset 0x4: the label has no place");
    let mut other = CodeBuffer::new(Generation::Rdna4);
    assert_eq!(
        other.push(rdna4::s_branch(label)).expect_err("not its label").to_string(),
        "the label is another buffer's"
    );
    assert_eq!(other.offset(), 0);
    // A literal is no place for a label.
    assert!(other.push(InstBuilder::new(Op::S_MOV_B32).arg(s(0)).arg(label)).is_err());
    assert_eq!(other.offset(), 0);
    for _ in 0..0x8000 {
        code.dword(0xbf80_0000);
    }
    code.bind(label).expect("no place yet");
    assert_eq!(code.finish().expect_err("too far").to_string(), "offset 0x4: the branch's target is too far away");
}
