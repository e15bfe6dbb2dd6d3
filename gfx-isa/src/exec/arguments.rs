//! Arguments of a kernel: from typed values to the bytes that it reads.

use std::format;
use std::string::{String, ToString};
use std::vec::Vec;

use super::dispatch::Grid;
use super::float::{F16_FORMAT, F64_FORMAT};
use super::state::Round;
use crate::kernel::{ArgInfo, KernelInfo, ValueKind};

/// The most bytes of arguments.
const LARGEST: u32 = 1 << 20;

/// An argument of a kernel.
#[derive(Debug, Clone, PartialEq)]
pub enum Arg {
    /// An address in the device's memory.
    Pointer(u64),
    /// A signed integer of 32 bits.
    I32(i32),
    /// An unsigned integer of 32 bits.
    U32(u32),
    /// A signed integer of 64 bits.
    I64(i64),
    /// An unsigned integer of 64 bits.
    U64(u64),
    /// The bits of a float of 16 bits.
    F16(u16),
    /// A float of 32 bits.
    F32(f32),
    /// A float of 64 bits.
    F64(f64),
    /// A structure, as it lies in memory.
    Bytes(Vec<u8>),
    /// A pointer to so many bytes of local memory, behind what the kernel declares and earlier such arguments.
    Local(u32),
}

/// Makes an argument from each type that has one.
macro_rules! from {
    ($($ty:ty = $kind:ident),*) => {$(
        impl From<$ty> for Arg {
            fn from(value: $ty) -> Arg {
                Arg::$kind(value)
            }
        }
    )*};
}
from!(i32 = I32, u32 = U32, i64 = I64, u64 = U64, f32 = F32, f64 = F64, Vec<u8> = Bytes);

impl Arg {
    /// A float of 16 bits: the nearest one to a value, ties to even.
    pub fn f16(value: f64) -> Arg {
        Arg::F16(F64_FORMAT.convert(value.to_bits(), F16_FORMAT, Round::NearestEven) as u16)
    }

    /// The bytes as they lie in memory; an offset in local memory takes the place of [`Arg::Local`].
    fn bytes(&self, local: u32) -> Vec<u8> {
        match self {
            Arg::Pointer(value) | Arg::U64(value) => value.to_le_bytes().to_vec(),
            Arg::I64(value) => value.to_le_bytes().to_vec(),
            Arg::I32(value) => value.to_le_bytes().to_vec(),
            Arg::U32(value) => value.to_le_bytes().to_vec(),
            Arg::F16(bits) => bits.to_le_bytes().to_vec(),
            Arg::F32(value) => value.to_le_bytes().to_vec(),
            Arg::F64(value) => value.to_le_bytes().to_vec(),
            Arg::Bytes(bytes) => bytes.clone(),
            Arg::Local(_) => local.to_le_bytes().to_vec(),
        }
    }

    fn describe(&self) -> String {
        match self {
            Arg::Pointer(_) => "a pointer".to_string(),
            Arg::Local(_) => "local memory".to_string(),
            Arg::Bytes(bytes) => format!("{} bytes", bytes.len()),
            Arg::I32(value) => format!("the i32 {value}"),
            Arg::U32(value) => format!("the u32 {value}"),
            Arg::I64(value) => format!("the i64 {value}"),
            Arg::U64(value) => format!("the u64 {value}"),
            Arg::F16(bits) => format!("the f16 {bits:#06x}"),
            Arg::F32(value) => format!("the f32 {value}"),
            Arg::F64(value) => format!("the f64 {value}"),
        }
    }

    fn fits(&self, arg: &ArgInfo) -> bool {
        match (self, arg.kind) {
            (Arg::Local(_), kind) => kind == ValueKind::DynamicSharedPointer,
            (_, ValueKind::DynamicSharedPointer) => false,
            (Arg::Pointer(_) | Arg::U64(_), ValueKind::GlobalBuffer) => arg.size == 8,
            (_, ValueKind::GlobalBuffer) => false,
            (value, _) => value.bytes(0).len() == arg.size as usize,
        }
    }
}

/// What the launch puts into hidden arguments beside the grid.
#[derive(Debug, Clone, Copy)]
pub(super) struct Hidden {
    pub(super) queue: u64,
    /// High halves of the addresses at which flat addresses mean local and private memory.
    pub(super) shared_base: u32,
    pub(super) private_base: u32,
}

/// The arguments' segment.
#[derive(Debug)]
pub(super) struct Segment {
    pub(super) bytes: Vec<u8>,
    /// Bytes of local memory: those that the kernel declares, those of arguments, those that the launch adds.
    pub(super) lds: u32,
}

/// Lays the arguments out.
pub(super) fn lay_out(kernel: &KernelInfo, args: &[Arg], grid: &Grid, hidden: &Hidden) -> Result<Segment, String> {
    let size = kernel.descriptor.kernarg_size;
    if size > LARGEST {
        return Err(format!("it wants {size} bytes of arguments; the limit is {LARGEST}"));
    }
    let mut segment = Segment { bytes: std::vec![0; size as usize], lds: kernel.descriptor.group_segment_size };
    match &kernel.args {
        Some(known) => {
            let explicit: Vec<&ArgInfo> = known.iter().filter(|arg| !arg.is_hidden()).collect();
            if explicit.len() != args.len() {
                let list: Vec<String> = explicit.iter().enumerate().map(|(at, arg)| title(at, arg)).collect();
                let count = match list.len() {
                    0 => "no arguments".to_string(),
                    1 => format!("1 argument ({})", list[0]),
                    count => format!("{count} arguments ({})", list.join(", ")),
                };
                return Err(format!("it takes {count}, given are {}", args.len()));
            }
            for (at, (info, arg)) in explicit.into_iter().zip(args).enumerate() {
                if !arg.fits(info) {
                    let takes = match info.kind {
                        ValueKind::GlobalBuffer => "a pointer".to_string(),
                        ValueKind::DynamicSharedPointer => "local memory".to_string(),
                        kind => format!("{} bytes {kind}", info.size),
                    };
                    return Err(format!("argument {} takes {takes}, given is {}", title(at, info), arg.describe()));
                }
                segment.put(info.offset as usize, arg, info.pointee_align)?;
            }
        }
        None => {
            let mut end = 0usize;
            for arg in args {
                let align = if let Arg::Bytes(_) = arg { 8 } else { arg.bytes(0).len() };
                let at = end.next_multiple_of(align);
                segment.put(at, arg, 0)?;
                end = at + arg.bytes(0).len();
            }
        }
    }
    let dynamic = grid.lds;
    segment.lds = segment.lds.checked_add(dynamic).ok_or("more local memory than there are addresses")?;
    for arg in kernel.args.iter().flatten().filter(|arg| arg.is_hidden()) {
        let value = grid.hidden(arg.kind, hidden);
        let count = (arg.size as usize).min(8);
        if let Some(room) = segment.bytes.get_mut(arg.offset as usize..).and_then(|rest| rest.get_mut(..count)) {
            room.copy_from_slice(&value.to_le_bytes()[..count]);
        }
    }
    Ok(segment)
}

/// An argument for messages: number, name, type.
fn title(at: usize, arg: &ArgInfo) -> String {
    let mut text = format!("{}", at + 1);
    for part in [&arg.name, &arg.type_name].into_iter().filter(|part| !part.is_empty()) {
        text.push(' ');
        text.push_str(part);
    }
    text
}

impl Segment {
    fn put(&mut self, at: usize, arg: &Arg, align: u32) -> Result<(), String> {
        let mut offset = 0;
        if let Arg::Local(bytes) = arg {
            let start = self.lds.checked_next_multiple_of(align.max(16));
            let end = start.and_then(|start| start.checked_add(*bytes));
            let (Some(start), Some(end)) = (start, end) else {
                return Err("more local memory than there are addresses".to_string());
            };
            (offset, self.lds) = (start, end);
        }
        let bytes = arg.bytes(offset);
        let end = at + bytes.len();
        if end > LARGEST as usize {
            return Err(format!("more than {LARGEST} bytes of arguments"));
        }
        if end > self.bytes.len() {
            self.bytes.resize(end, 0);
        }
        self.bytes[at..end].copy_from_slice(&bytes);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::KernelDescriptor;

    fn info(args: Option<Vec<ArgInfo>>, size: u32) -> KernelInfo {
        KernelInfo {
            name: "k".to_string(),
            entry: 0,
            descriptor_address: 0,
            descriptor: KernelDescriptor { kernarg_size: size, group_segment_size: 20, ..Default::default() },
            args,
            wave_size: 32,
            kernarg_align: 8,
            max_group_size: None,
            required_group_size: None,
            cluster: None,
            sgpr_count: None,
            vgpr_count: None,
        }
    }

    fn arg(offset: u32, size: u32, kind: ValueKind) -> ArgInfo {
        ArgInfo { name: String::new(), type_name: "t".to_string(), offset, size, kind, pointee_align: 0 }
    }

    const HIDDEN: Hidden = Hidden { queue: 0x1122_3344_5566_7788, shared_base: 0x10000, private_base: 0x20000 };

    #[test]
    fn arguments_go_where_the_metadata_says() {
        let args = std::vec![
            arg(0, 8, ValueKind::GlobalBuffer),
            arg(8, 2, ValueKind::ByValue),
            arg(12, 4, ValueKind::DynamicSharedPointer),
            arg(16, 4, ValueKind::HiddenBlockCountX),
            arg(20, 2, ValueKind::HiddenRemainderY),
            arg(22, 2, ValueKind::HiddenGridDims),
            arg(24, 8, ValueKind::HiddenQueuePtr),
            arg(32, 4, ValueKind::HiddenDynamicLdsSize),
        ];
        let kernel = info(Some(args), 40);
        // 5 full groups of 64 and a bit, and 2 full ones of 4 with 3 more.
        let grid = Grid::items([330, 11, 1], [64, 4, 1]).lds(100);
        let values = [Arg::Pointer(0xaabb), Arg::F16(0x3c00), Arg::Local(8)];
        let segment = lay_out(&kernel, &values, &grid, &HIDDEN).expect("they fit");
        let mut expected = std::vec![0; 40];
        expected[..2].copy_from_slice(&[0xbb, 0xaa]);
        expected[8..10].copy_from_slice(&[0, 0x3c]);
        // Behind the 20 declared bytes, at a multiple of 16.
        expected[12] = 32;
        expected[16] = 5;
        expected[20] = 3;
        expected[22] = 2;
        expected[24..32].copy_from_slice(&[0x88, 0x77, 0x66, 0x55, 0x44, 0x33, 0x22, 0x11]);
        expected[32] = 100;
        assert_eq!((segment.bytes, segment.lds), (expected, 140));
    }

    #[test]
    fn without_metadata_arguments_are_packed() {
        let grid = Grid::new([1; 3], [1; 3]);
        let values = [Arg::U32(1), Arg::Pointer(2), Arg::F16(3), Arg::F32(1.0)];
        let segment = lay_out(&info(None, 0), &values, &grid, &HIDDEN).expect("they fit");
        let mut expected = std::vec![0; 24];
        expected[0] = 1;
        expected[8] = 2;
        expected[16] = 3;
        expected[20..].copy_from_slice(&1f32.to_le_bytes());
        assert_eq!(segment.bytes, expected);
    }

    #[test]
    fn what_does_not_fit_is_named() {
        let args = std::vec![arg(0, 8, ValueKind::GlobalBuffer), arg(8, 4, ValueKind::ByValue)];
        let kernel = info(Some(args), 12);
        let grid = Grid::new([1; 3], [1; 3]);
        let error = |values: &[Arg]| lay_out(&kernel, values, &grid, &HIDDEN).expect_err("they do not fit");
        assert_eq!(error(&[Arg::Pointer(0)]), "it takes 2 arguments (1 t, 2 t), given are 1");
        assert_eq!(error(&[Arg::U32(0), Arg::U32(7)]), "argument 1 t takes a pointer, given is the u32 0");
        assert_eq!(
            error(&[Arg::Pointer(0), Arg::F64(7.5)]),
            "argument 2 t takes 4 bytes by_value, given is the f64 7.5"
        );
    }
}
