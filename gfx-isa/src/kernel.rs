//! What a kernel asks of whoever launches it: its descriptor and its arguments.
//!
//! The layouts are those of LLVM's AMDGPUUsage, chapters "Kernel Descriptor" and "Code Object V3 to V6 Metadata".

use core::fmt;
use std::string::String;
use std::vec::Vec;

use crate::Generation;

/// A kernel of a code object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KernelInfo {
    /// The name that a launch uses.
    pub name: String,
    /// Address of the first instruction, from the start of the code object.
    pub entry: u64,
    /// Address of the descriptor, from the start of the code object.
    pub descriptor_address: u64,
    /// The descriptor.
    pub descriptor: KernelDescriptor,
    /// The arguments, hidden ones among them, by offset; none where the code object has no metadata.
    pub args: Option<Vec<ArgInfo>>,
    /// Lanes of its waves.
    pub wave_size: u32,
    /// Alignment of the arguments' segment in bytes, a power of two.
    pub kernarg_align: u32,
    /// The most work-items of a group, where the metadata says.
    pub max_group_size: Option<u32>,
    /// The size that its groups must have, where it was compiled for one.
    pub required_group_size: Option<[u32; 3]>,
    /// Groups of a cluster in each dimension (CDNA 5), where it was compiled for clusters.
    pub cluster: Option<[u32; 3]>,
    /// Scalar registers used, where the metadata says.
    pub sgpr_count: Option<u32>,
    /// Vector registers used, where the metadata says.
    pub vgpr_count: Option<u32>,
}

/// An argument of a kernel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArgInfo {
    /// The name in the source; empty where the metadata has none.
    pub name: String,
    /// The type in the source; empty where the metadata has none.
    pub type_name: String,
    /// Offset in the arguments' segment, in bytes.
    pub offset: u32,
    /// Size in bytes.
    pub size: u32,
    /// What it holds.
    pub kind: ValueKind,
    /// Alignment that a pointer to local memory needs, in bytes.
    pub pointee_align: u32,
}

impl ArgInfo {
    /// Whether the launch fills it in by itself.
    pub fn is_hidden(&self) -> bool {
        !matches!(
            self.kind,
            ValueKind::ByValue
                | ValueKind::GlobalBuffer
                | ValueKind::DynamicSharedPointer
                | ValueKind::Sampler
                | ValueKind::Image
                | ValueKind::Pipe
                | ValueKind::Queue
                | ValueKind::Other
        )
    }
}

/// Makes the enum of value kinds and its names.
macro_rules! value_kinds {
    ($($(#[$doc:meta])* $name:ident = $text:literal,)*) => {
        /// What an argument holds: `.value_kind` of the metadata.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum ValueKind {
            $($(#[$doc])* $name,)*
            /// Something that is not known here.
            Other,
        }

        impl ValueKind {
            /// The kind of a name in the metadata.
            pub fn from_name(name: &str) -> ValueKind {
                match name {
                    $($text => ValueKind::$name,)*
                    // An unknown hidden argument is left zero.
                    name if name.starts_with("hidden_") => ValueKind::HiddenNone,
                    _ => ValueKind::Other,
                }
            }

            /// The name in the metadata.
            pub fn name(self) -> &'static str {
                match self {
                    $(ValueKind::$name => $text,)*
                    ValueKind::Other => "other",
                }
            }
        }
    };
}

value_kinds! {
    /// The bytes themselves.
    ByValue = "by_value",
    /// An address in global or constant memory.
    GlobalBuffer = "global_buffer",
    /// An offset in the local data share, of memory that is sized by the launch.
    DynamicSharedPointer = "dynamic_shared_pointer",
    /// A sampler descriptor.
    Sampler = "sampler",
    /// An image descriptor.
    Image = "image",
    /// A pipe.
    Pipe = "pipe",
    /// A device queue.
    Queue = "queue",
    /// First global work-item, x.
    HiddenGlobalOffsetX = "hidden_global_offset_x",
    /// First global work-item, y.
    HiddenGlobalOffsetY = "hidden_global_offset_y",
    /// First global work-item, z.
    HiddenGlobalOffsetZ = "hidden_global_offset_z",
    /// Nothing.
    HiddenNone = "hidden_none",
    /// Buffer of `printf`.
    HiddenPrintfBuffer = "hidden_printf_buffer",
    /// Buffer of calls to the host.
    HiddenHostcallBuffer = "hidden_hostcall_buffer",
    /// The queue for device-side enqueueing.
    HiddenDefaultQueue = "hidden_default_queue",
    /// Completion of device-side enqueueing.
    HiddenCompletionAction = "hidden_completion_action",
    /// Synchronisation of a launch on several devices.
    HiddenMultigridSyncArg = "hidden_multigrid_sync_arg",
    /// The heap of device-side allocation.
    HiddenHeapV1 = "hidden_heap_v1",
    /// Bytes of local memory that the launch adds.
    HiddenDynamicLdsSize = "hidden_dynamic_lds_size",
    /// Full groups, x.
    HiddenBlockCountX = "hidden_block_count_x",
    /// Full groups, y.
    HiddenBlockCountY = "hidden_block_count_y",
    /// Full groups, z.
    HiddenBlockCountZ = "hidden_block_count_z",
    /// Work-items of a group, x.
    HiddenGroupSizeX = "hidden_group_size_x",
    /// Work-items of a group, y.
    HiddenGroupSizeY = "hidden_group_size_y",
    /// Work-items of a group, z.
    HiddenGroupSizeZ = "hidden_group_size_z",
    /// Work-items of the last, partial group, x.
    HiddenRemainderX = "hidden_remainder_x",
    /// Work-items of the last, partial group, y.
    HiddenRemainderY = "hidden_remainder_y",
    /// Work-items of the last, partial group, z.
    HiddenRemainderZ = "hidden_remainder_z",
    /// Dimensions of the grid.
    HiddenGridDims = "hidden_grid_dims",
    /// High half of the address at which flat addresses mean private memory.
    HiddenPrivateBase = "hidden_private_base",
    /// High half of the address at which flat addresses mean local memory.
    HiddenSharedBase = "hidden_shared_base",
    /// The queue's address.
    HiddenQueuePtr = "hidden_queue_ptr",
}

impl fmt::Display for ValueKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A kernel descriptor: what the hardware and the launch need to know before the first instruction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct KernelDescriptor {
    /// Bytes of local memory that the kernel declares.
    pub group_segment_size: u32,
    /// Bytes of private memory of each work-item.
    pub private_segment_size: u32,
    /// Bytes of the arguments' segment, hidden arguments included; 0 in descriptors that do not say.
    pub kernarg_size: u32,
    /// From the descriptor to the first instruction, in bytes.
    pub entry_offset: i64,
    /// `COMPUTE_PGM_RSRC1`.
    pub rsrc1: u32,
    /// `COMPUTE_PGM_RSRC2`.
    pub rsrc2: u32,
    /// `COMPUTE_PGM_RSRC3`.
    pub rsrc3: u32,
    /// Which user registers the kernel wants, and the wave size.
    pub properties: u16,
    /// Arguments that are loaded into registers before the kernel starts: dwords in bits 6:0, first dword above.
    pub kernarg_preload: u16,
}

/// Bits of [`KernelDescriptor::properties`].
mod property {
    pub(super) const PRIVATE_SEGMENT_BUFFER: u16 = 1 << 0;
    pub(super) const DISPATCH_PTR: u16 = 1 << 1;
    pub(super) const QUEUE_PTR: u16 = 1 << 2;
    pub(super) const KERNARG_SEGMENT_PTR: u16 = 1 << 3;
    pub(super) const DISPATCH_ID: u16 = 1 << 4;
    pub(super) const FLAT_SCRATCH_INIT: u16 = 1 << 5;
    pub(super) const PRIVATE_SEGMENT_SIZE: u16 = 1 << 6;
    pub(super) const WAVE32: u16 = 1 << 10;
    pub(super) const DYNAMIC_STACK: u16 = 1 << 11;
}

impl KernelDescriptor {
    /// Size in bytes.
    pub const SIZE: usize = 64;

    /// Reads a descriptor.
    pub fn parse(bytes: &[u8; Self::SIZE]) -> KernelDescriptor {
        let word = |at: usize| u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
        let half = |at: usize| u16::from_le_bytes([bytes[at], bytes[at + 1]]);
        KernelDescriptor {
            group_segment_size: word(0),
            private_segment_size: word(4),
            kernarg_size: word(8),
            entry_offset: (u64::from(word(20)) << 32 | u64::from(word(16))) as i64,
            rsrc3: word(44),
            rsrc1: word(48),
            rsrc2: word(52),
            properties: half(56),
            kernarg_preload: half(58),
        }
    }

    fn has(&self, property: u16) -> bool {
        self.properties & property != 0
    }

    /// Lanes of its waves: 32 or 64.
    pub fn wave_size(&self, generation: Generation) -> u32 {
        match generation.wave_sizes() {
            [only] => *only,
            _ if self.has(property::WAVE32) => 32,
            _ => 64,
        }
    }

    /// The user scalar registers that the launch sets, in the ABI's order.
    pub fn user_registers(&self) -> impl Iterator<Item = UserRegister> {
        let properties = self.properties;
        [
            (property::PRIVATE_SEGMENT_BUFFER, UserRegister::PrivateSegmentBuffer),
            (property::DISPATCH_PTR, UserRegister::DispatchPtr),
            (property::QUEUE_PTR, UserRegister::QueuePtr),
            (property::KERNARG_SEGMENT_PTR, UserRegister::KernargSegmentPtr),
            (property::DISPATCH_ID, UserRegister::DispatchId),
            (property::FLAT_SCRATCH_INIT, UserRegister::FlatScratchInit),
            (property::PRIVATE_SEGMENT_SIZE, UserRegister::PrivateSegmentSize),
        ]
        .into_iter()
        .filter(move |(bit, _)| properties & bit != 0)
        .map(|(_, register)| register)
    }

    /// The kernel's stack grows beyond [`KernelDescriptor::private_segment_size`].
    pub fn uses_dynamic_stack(&self) -> bool {
        self.has(property::DYNAMIC_STACK)
    }

    /// Number of user scalar registers; the system's registers follow them.
    pub fn user_sgprs(&self, generation: Generation) -> u32 {
        // CDNA 5 gave the trap handler's bit to the count.
        let bits = if generation == Generation::Cdna5 { 6 } else { 5 };
        self.rsrc2 >> 1 & ((1 << bits) - 1)
    }

    /// Waves need private memory.
    pub fn enables_private_segment(&self) -> bool {
        self.rsrc2 & 1 != 0
    }

    /// Which of the group's numbers (x, y, z) are put into scalar registers, on the generations that do so.
    pub fn workgroup_ids(&self) -> [bool; 3] {
        [self.rsrc2 >> 7 & 1 != 0, self.rsrc2 >> 8 & 1 != 0, self.rsrc2 >> 9 & 1 != 0]
    }

    /// The scalar register of the wave's place in its group is asked for.
    pub fn workgroup_info(&self) -> bool {
        self.rsrc2 >> 10 & 1 != 0
    }

    /// How many of a work-item's numbers are put into vector registers: 1 to 3.
    pub fn workitem_ids(&self) -> u32 {
        (self.rsrc2 >> 11 & 3).min(2) + 1
    }

    /// Float rounding and denormals: the low eight bits of the mode register.
    pub fn float_mode(&self) -> u32 {
        self.rsrc1 >> 12 & 0xff
    }

    /// Clamping turns NaN to 0; RDNA 4 and CDNA 5 have no such bit.
    pub fn dx10_clamp(&self) -> bool {
        self.rsrc1 >> 21 & 1 != 0
    }

    /// Signalling NaNs are quieted by every instruction; RDNA 4 and CDNA 5 have no such bit.
    pub fn ieee_mode(&self) -> bool {
        self.rsrc1 >> 23 & 1 != 0
    }

    /// Results of 16-bit floats saturate instead of becoming infinite.
    pub fn fp16_overflow(&self) -> bool {
        self.rsrc1 >> 26 & 1 != 0
    }

    /// Vector registers of a wave, from the granulated count.
    pub fn vgprs(&self, generation: Generation) -> u32 {
        use Generation::{Cdna1, Cdna2, Cdna3, Cdna4, Cdna5};
        let granule = match generation {
            Cdna1 => 4,
            Cdna2 | Cdna3 | Cdna4 => 8,
            Cdna5 => 16,
            _ if self.has(property::WAVE32) => 8,
            _ => 4,
        };
        ((self.rsrc1 & 0x3f) + 1) * granule
    }

    /// First vector register behind the accumulation registers' base (CDNA 2 to 4).
    pub fn accum_offset(&self) -> u32 {
        ((self.rsrc3 & 0x3f) + 1) * 4
    }

    /// Named barriers of a group (CDNA 5).
    pub fn named_barriers(&self, generation: Generation) -> u32 {
        if generation == Generation::Cdna5 { (self.rsrc3 >> 14 & 7).min(4) * 4 } else { 0 }
    }

    /// Dwords of arguments that are loaded into user registers before the kernel starts, and the first one.
    pub fn preload(&self) -> (u32, u32) {
        (u32::from(self.kernarg_preload & 0x7f), u32::from(self.kernarg_preload >> 7))
    }
}

/// User scalar registers, in the order in which they are set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum UserRegister {
    /// A buffer descriptor of private memory: four registers.
    PrivateSegmentBuffer,
    /// Address of the dispatch packet: two registers.
    DispatchPtr,
    /// Address of the queue: two registers.
    QueuePtr,
    /// Address of the arguments: two registers.
    KernargSegmentPtr,
    /// Number of the dispatch: two registers.
    DispatchId,
    /// What `FLAT_SCRATCH` is made from: two registers.
    FlatScratchInit,
    /// Bytes of private memory of a work-item: one register.
    PrivateSegmentSize,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bytes as LLVM's assembler makes them of a descriptor, by the table in AMDGPUUsage.
    #[test]
    fn descriptor_fields() {
        let mut bytes = [0; KernelDescriptor::SIZE];
        bytes[..4].copy_from_slice(&512u32.to_le_bytes());
        bytes[4..8].copy_from_slice(&80u32.to_le_bytes());
        bytes[8..12].copy_from_slice(&24u32.to_le_bytes());
        bytes[16..24].copy_from_slice(&(-256i64).to_le_bytes());
        bytes[44..48].copy_from_slice(&(2u32 << 14 | 5).to_le_bytes());
        bytes[48..52].copy_from_slice(&(3u32 | 0xf0 << 12 | 1 << 21).to_le_bytes());
        bytes[52..56].copy_from_slice(&(1u32 | 6 << 1 | 1 << 7 | 1 << 9 | 2 << 11).to_le_bytes());
        bytes[56..58].copy_from_slice(&(1u16 | 1 << 3 | 1 << 10).to_le_bytes());
        bytes[58..60].copy_from_slice(&(4u16 | 2 << 7).to_le_bytes());
        let d = KernelDescriptor::parse(&bytes);
        assert_eq!((d.group_segment_size, d.private_segment_size, d.kernarg_size), (512, 80, 24));
        assert_eq!(d.entry_offset, -256);
        let user: Vec<_> = d.user_registers().collect();
        assert_eq!(user, [UserRegister::PrivateSegmentBuffer, UserRegister::KernargSegmentPtr]);
        assert_eq!((d.user_sgprs(Generation::Cdna1), d.enables_private_segment()), (6, true));
        assert_eq!((d.workgroup_ids(), d.workgroup_info(), d.workitem_ids()), ([true, false, true], false, 3));
        assert_eq!((d.float_mode(), d.dx10_clamp(), d.ieee_mode()), (0xf0, true, false));
        assert_eq!((d.wave_size(Generation::Rdna2), d.wave_size(Generation::Cdna3)), (32, 64));
        assert_eq!((d.vgprs(Generation::Cdna1), d.vgprs(Generation::Cdna2), d.vgprs(Generation::Rdna2)), (16, 32, 32));
        assert_eq!((d.named_barriers(Generation::Cdna5), d.named_barriers(Generation::Rdna4)), (8, 0));
        assert_eq!((d.accum_offset(), d.preload()), (24, (4, 2)));
    }

    #[test]
    fn kinds_have_names() {
        assert_eq!(ValueKind::from_name("hidden_block_count_y"), ValueKind::HiddenBlockCountY);
        assert_eq!(ValueKind::from_name("hidden_of_next_year"), ValueKind::HiddenNone);
        assert_eq!(ValueKind::from_name("by_magic"), ValueKind::Other);
        assert_eq!(ValueKind::GlobalBuffer.name(), "global_buffer");
    }
}
