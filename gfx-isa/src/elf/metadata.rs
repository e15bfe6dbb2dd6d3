//! The metadata note: MessagePack in an ELF note of AMDGPU.

use std::format;
use std::string::{String, ToString};
use std::vec::Vec;

use object::LittleEndian;
use object::read::elf::{ProgramHeader, SectionHeader};
use rmpv::ValueRef;
use rmpv::decode::read_value_ref_with_max_depth;

use super::{Elf, ElfError, fault};
use crate::kernel::{ArgInfo, ValueKind};

/// `NT_AMDGPU_METADATA`.
const NOTE_TYPE: u32 = 32;

/// Deeper than any metadata.
const DEPTH: usize = 16;

/// What the metadata says of a kernel.
#[derive(Debug)]
pub(super) struct Kernel {
    pub(super) name: String,
    /// The descriptor's symbol.
    pub(super) symbol: String,
    pub(super) args: Vec<ArgInfo>,
    pub(super) kernarg_size: u32,
    pub(super) kernarg_align: u32,
    pub(super) wave_size: Option<u32>,
    pub(super) max_group_size: Option<u32>,
    pub(super) required_group_size: Option<[u32; 3]>,
    pub(super) cluster: Option<[u32; 3]>,
    pub(super) sgpr_count: Option<u32>,
    pub(super) vgpr_count: Option<u32>,
}

/// The kernels that the metadata describes; none where there is no metadata.
pub(super) fn read(file: &Elf<'_>, data: &[u8]) -> Result<Vec<Kernel>, ElfError> {
    let Some(bytes) = note(file, data)? else { return Ok(Vec::new()) };
    let mut rest = bytes;
    let root = read_value_ref_with_max_depth(&mut rest, DEPTH);
    let root = root.map_err(|error| fault(format!("metadata is not MessagePack: {error}")))?;
    let kernels = match get(&root, "amdhsa.kernels") {
        None => return Ok(Vec::new()),
        Some(ValueRef::Array(kernels)) => kernels,
        Some(_) => return Err(fault("metadata: amdhsa.kernels is not a list")),
    };
    kernels.iter().enumerate().map(|(at, value)| kernel(value, at)).collect()
}

/// The description of the metadata note, in a segment or else a section.
fn note<'a>(file: &Elf<'_>, data: &'a [u8]) -> Result<Option<&'a [u8]>, ElfError> {
    let broken = |error: object::Error| fault(format!("the notes cannot be read: {error}"));
    let endian = LittleEndian;
    let segments = file.elf_program_headers().iter().map(|header| header.notes(endian, data));
    let sections = file.elf_section_table().iter().map(|header| header.notes(endian, data));
    for notes in segments.chain(sections) {
        let Some(mut notes) = notes.map_err(broken)? else { continue };
        while let Some(note) = notes.next().map_err(broken)? {
            if note.n_type(endian) == NOTE_TYPE && note.name() == b"AMDGPU" {
                return Ok(Some(note.desc()));
            }
        }
    }
    Ok(None)
}

/// The value of a key of a map.
fn get<'a, 'b>(map: &'b ValueRef<'a>, key: &str) -> Option<&'b ValueRef<'a>> {
    let ValueRef::Map(entries) = map else { return None };
    entries
        .iter()
        .find(|(name, _)| matches!(name, ValueRef::String(name) if name.as_str() == Some(key)))
        .map(|(_, v)| v)
}

fn text(map: &ValueRef<'_>, key: &str, place: &str) -> Result<Option<String>, ElfError> {
    match get(map, key) {
        None => Ok(None),
        Some(ValueRef::String(text)) if text.as_str().is_some() => Ok(text.as_str().map(ToString::to_string)),
        Some(_) => Err(fault(format!("metadata: {place}{key} is not text"))),
    }
}

fn number(map: &ValueRef<'_>, key: &str, place: &str) -> Result<Option<u32>, ElfError> {
    match get(map, key) {
        None => Ok(None),
        Some(ValueRef::Integer(number)) => {
            let number = number.as_u64().and_then(|number| u32::try_from(number).ok());
            number.map(Some).ok_or_else(|| fault(format!("metadata: {place}{key} is not a number of 32 bits")))
        }
        Some(_) => Err(fault(format!("metadata: {place}{key} is not a number"))),
    }
}

fn triple(map: &ValueRef<'_>, key: &str, place: &str) -> Result<Option<[u32; 3]>, ElfError> {
    let bad = || fault(format!("metadata: {place}{key} is not three numbers above 0"));
    let Some(value) = get(map, key) else { return Ok(None) };
    let ValueRef::Array(values) = value else { return Err(bad()) };
    let [x, y, z] = values.as_slice() else { return Err(bad()) };
    let mut numbers = [0; 3];
    for (number, value) in numbers.iter_mut().zip([x, y, z]) {
        let ValueRef::Integer(value) = value else { return Err(bad()) };
        *number = value.as_u64().and_then(|n| u32::try_from(n).ok()).filter(|n| *n != 0).ok_or_else(bad)?;
    }
    Ok(Some(numbers))
}

fn kernel(value: &ValueRef<'_>, at: usize) -> Result<Kernel, ElfError> {
    let symbol = text(value, ".symbol", &format!("kernel {at}: "))?;
    let name = text(value, ".name", &format!("kernel {at}: "))?;
    let (name, symbol) = match (name, symbol) {
        (Some(name), Some(symbol)) => (name, symbol),
        (Some(name), None) => (name.clone(), format!("{name}.kd")),
        (None, _) => return Err(fault(format!("metadata: kernel {at} has no .name"))),
    };
    let place = format!("kernel {name}: ");
    let mut args = Vec::new();
    match get(value, ".args") {
        None => {}
        Some(ValueRef::Array(values)) => {
            for (at, value) in values.iter().enumerate() {
                args.push(argument(value, &format!("{place}argument {at}: "))?);
            }
        }
        Some(_) => return Err(fault(format!("metadata: {place}.args is not a list"))),
    }
    args.sort_by_key(|arg| arg.offset);
    let kernarg_size = number(value, ".kernarg_segment_size", &place)?.unwrap_or(0);
    let kernarg_align = number(value, ".kernarg_segment_align", &place)?.unwrap_or(16);
    if !kernarg_align.is_power_of_two() {
        return Err(fault(format!("metadata: {place}.kernarg_segment_align {kernarg_align} is no power of two")));
    }
    for arg in &args {
        let end = u64::from(arg.offset) + u64::from(arg.size);
        if end > u64::from(kernarg_size) {
            return Err(fault(format!(
                "metadata: {place}the argument at {} with {} bytes reaches behind the {kernarg_size} bytes of arguments",
                arg.offset, arg.size
            )));
        }
    }
    Ok(Kernel {
        args,
        kernarg_size,
        kernarg_align,
        wave_size: number(value, ".wavefront_size", &place)?,
        max_group_size: number(value, ".max_flat_workgroup_size", &place)?.filter(|size| *size != 0),
        required_group_size: triple(value, ".reqd_workgroup_size", &place)?,
        cluster: triple(value, ".cluster_dims", &place)?,
        sgpr_count: number(value, ".sgpr_count", &place)?,
        vgpr_count: number(value, ".vgpr_count", &place)?,
        name,
        symbol,
    })
}

fn argument(value: &ValueRef<'_>, place: &str) -> Result<ArgInfo, ElfError> {
    let need = |key: &str| number(value, key, place)?.ok_or_else(|| fault(format!("metadata: {place}no {key}")));
    let kind = text(value, ".value_kind", place)?.ok_or_else(|| fault(format!("metadata: {place}no .value_kind")))?;
    Ok(ArgInfo {
        name: text(value, ".name", place)?.unwrap_or_default(),
        type_name: text(value, ".type_name", place)?.unwrap_or_default(),
        offset: need(".offset")?,
        size: need(".size")?,
        kind: ValueKind::from_name(&kind),
        pointee_align: number(value, ".pointee_align", place)?.unwrap_or(0),
    })
}
