//! A device: memory, loaded code, and launches.

use core::fmt;
use std::boxed::Box;
use std::format;
use std::string::{String, ToString};
use std::sync::{Arc, OnceLock};
use std::vec::Vec;

use super::arguments::{Arg, Hidden, Segment, lay_out};
use super::barrier::GROUP;
use super::decoded::{Program, decode_one};
use super::dispatch::{Dispatch, Failure, GROUPS, Grid, SCRATCH, Totals, resident};
use super::error::ExecError;
use super::group::Cause;
use super::mem::{Fault, Memory, PRIVATE_APERTURE, SHARED_APERTURE};
use super::observe::{Observer, Watch, Watched};
use super::setup::{Scratch, Setup, preload_skip};
use super::stats::{Counter, Stats};
#[cfg(feature = "elf")]
use crate::elf::CodeObject;
use crate::kernel::{KernelDescriptor, KernelInfo};
use crate::{Formatter, Generation, Inst, Options};

/// The most instructions of a wave, unless told otherwise.
const LIMIT: u64 = 1 << 32;

/// The most work-items of a group.
const GROUP_ITEMS: u64 = 1024;

/// Compilers read arguments in larger pieces than there are arguments, up to this alignment, in bytes.
const KERNARG_GRANULE: usize = 64;

/// Private memory of a work-item of a kernel whose stack grows as it runs, in bytes.
const DYNAMIC_STACK: u32 = 16 << 10;

/// A device that runs kernels: memory, and how launches are done.
///
/// ```
/// # #[cfg(all(feature = "asm", feature = "rdna3"))] {
/// use gfx_isa::Generation;
/// use gfx_isa::asm::Assembler;
/// use gfx_isa::exec::{Device, Grid};
///
/// let mut code = Vec::new();
/// Assembler::new(Generation::Rdna3).assemble_line("s_endpgm", &mut code)?;
/// let mut device = Device::new();
/// let kernel = device.load_code("nothing", Generation::Rdna3, &code)?;
/// let report = device.launch(&kernel, Grid::new([2, 1, 1], [64, 1, 1]), &[])?;
/// assert_eq!((report.groups, report.waves, report.instructions), (2, 4, 4));
/// # }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Device {
    /// The memory that kernels reach; what is allocated here is freed by its owner.
    pub memory: Memory,
    threads: usize,
    limit: u64,
}

/// Code that has been loaded.
#[derive(Debug)]
pub(super) struct Code {
    generation: Generation,
    /// Address of the first byte that may be an instruction.
    base: u64,
    bytes: Vec<u8>,
    /// Offsets at which functions begin, sorted.
    entries: Vec<u64>,
    /// The decoded code for waves of 32 and of 64 lanes.
    programs: [OnceLock<Program>; 2],
}

impl Code {
    /// The decoded code for waves of a size.
    pub(super) fn program(&self, lanes: u32) -> &Program {
        self.programs[usize::from(lanes == 64)]
            .get_or_init(|| Program::at(self.generation, &self.bytes, lanes, self.base, &self.entries))
    }

    /// The instruction at an address.
    pub(super) fn inst(&self, lanes: u32, pc: u64) -> Option<Inst> {
        let at = usize::try_from(pc.checked_sub(self.base)?).ok()?;
        decode_one(self.generation, lanes, self.bytes.get(at..)?)?.ok()
    }
}

/// A kernel that has been loaded.
#[derive(Debug, Clone)]
pub struct Kernel {
    info: Arc<KernelInfo>,
    code: Arc<Code>,
    /// Address of the first instruction.
    entry: u64,
    /// Address of the descriptor.
    object: u64,
}

impl Kernel {
    /// What the code object says of it.
    pub fn info(&self) -> &KernelInfo {
        &self.info
    }

    /// The generation that it was compiled for.
    pub fn generation(&self) -> Generation {
        self.code.generation
    }

    /// Address of the first instruction.
    pub fn entry(&self) -> u64 {
        self.entry
    }
}

/// A loaded code object.
#[derive(Debug, Clone)]
pub struct Module {
    kernels: Vec<Kernel>,
    base: u64,
}

impl Module {
    /// The kernels, in the order of the code object.
    pub fn kernels(&self) -> &[Kernel] {
        &self.kernels
    }

    /// The kernel of a name.
    pub fn kernel(&self, name: &str) -> Option<&Kernel> {
        self.kernels.iter().find(|kernel| kernel.info.name == name)
    }

    /// Where address 0 of the code object was loaded.
    pub fn base(&self) -> u64 {
        self.base
    }
}

/// What a launch tells beside its report.
#[derive(Default)]
pub struct Extras<'a> {
    /// Counts what is executed, also where the launch fails.
    pub stats: Option<&'a mut Stats>,
    /// Hears how many groups are done, from any thread.
    pub progress: Option<&'a (dyn Fn(u64) + Sync)>,
}

impl fmt::Debug for Extras<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Extras").field("stats", &self.stats).finish_non_exhaustive()
    }
}

/// What a launch did.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Report {
    /// Instructions executed, one for each wave.
    pub instructions: u64,
    /// Waves.
    pub waves: u64,
    /// Groups.
    pub groups: u64,
}

/// Why code could not be loaded or a kernel could not be run to its end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LaunchError {
    /// The kernel's name; empty where code is loaded.
    pub kernel: String,
    /// What is wrong.
    pub cause: LaunchCause,
}

/// What is wrong with a launch.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum LaunchCause {
    /// The arguments are not those of the kernel.
    Arguments(String),
    /// The grid is not one that the kernel can have.
    Grid(String),
    /// There is no room in memory.
    Room {
        /// For what.
        what: &'static str,
        /// How many bytes.
        bytes: u64,
    },
    /// A wave could not go on.
    Stopped(Box<Stopped>),
}

/// Where a wave could not go on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stopped {
    /// The group's numbers.
    pub group: [u32; 3],
    /// The wave's number in the group.
    pub wave: u32,
    /// Address of the instruction.
    pub pc: u64,
    /// The same from the kernel's first instruction on.
    pub offset: i64,
    /// The instruction's text; empty where there is none.
    pub text: String,
    /// Why.
    pub reason: StopReason,
}

/// Why a wave could not go on.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum StopReason {
    /// The instruction could not be executed. A [`Fault`] of memory names the lane and the address.
    Exec(ExecError),
    /// The wave has executed as many instructions as it may.
    Limit(u64),
    /// Every wave of the group waits for a barrier that nobody can complete.
    Deadlock {
        /// The barrier's number; -1 is the group's.
        barrier: i32,
        /// Signals that it has received.
        signals: u32,
        /// Signals that it needs.
        members: u32,
    },
}

impl LaunchError {
    /// The access that memory refused, where that is why.
    pub fn fault(&self) -> Option<&Fault> {
        match &self.cause {
            LaunchCause::Stopped(stopped) => match &stopped.reason {
                StopReason::Exec(ExecError::Memory(fault)) => Some(fault),
                _ => None,
            },
            _ => None,
        }
    }
}

impl fmt::Display for LaunchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.kernel.is_empty() {
            write!(f, "kernel {}: ", self.kernel)?;
        }
        match &self.cause {
            LaunchCause::Arguments(message) | LaunchCause::Grid(message) => f.write_str(message),
            LaunchCause::Room { what, bytes } => write!(f, "no room in memory for {bytes} bytes of {what}"),
            LaunchCause::Stopped(stopped) => stopped.fmt(f),
        }
    }
}

impl fmt::Display for Stopped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Stopped { group: [x, y, z], wave, pc, offset, text, reason } = self;
        write!(f, "group {x},{y},{z}, wave {wave}, pc {pc:#x} (kernel {offset:+#x})")?;
        if !text.is_empty() {
            write!(f, ", {text}")?;
        }
        match reason {
            StopReason::Exec(error) => write!(f, ": {error}"),
            StopReason::Limit(limit) => write!(f, ": the wave has executed {limit} instructions and may not go on"),
            StopReason::Deadlock { barrier, signals, members } => {
                let name = if *barrier == GROUP { "the group's barrier".into() } else { format!("barrier {barrier}") };
                write!(f, ": deadlock: every wave waits; {name} has {signals} signals of {members}")
            }
        }
    }
}

impl core::error::Error for LaunchError {}

impl Default for Device {
    fn default() -> Device {
        Device::new()
    }
}

impl Device {
    /// A device with empty memory, which runs groups on as many threads as there are processors.
    pub fn new() -> Device {
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        Device { memory: Memory::new(), threads, limit: LIMIT }
    }

    /// Runs groups on so many threads, at least one.
    #[must_use]
    pub fn threads(self, threads: usize) -> Device {
        Device { threads: threads.max(1), ..self }
    }

    /// Stops a wave that has executed so many instructions, instead of 2³².
    #[must_use]
    pub fn limit(self, instructions: u64) -> Device {
        Device { limit: instructions, ..self }
    }

    /// Loads a code object.
    ///
    /// # Errors
    /// Where memory has no room.
    #[cfg(feature = "elf")]
    pub fn load(&mut self, object: &CodeObject) -> Result<Module, LaunchError> {
        let room =
            |bytes| LaunchError { kernel: String::new(), cause: LaunchCause::Room { what: "the code object", bytes } };
        let address = self.memory.allocate("the code object", object.size()).ok_or_else(|| room(object.size()))?;
        let base = address.wrapping_sub(object.first());
        let image = object.image(base);
        self.memory.write(address, &image).map_err(|_| room(object.size()))?;
        let executable = || object.segments().iter().filter(|segment| segment.executable);
        let first = executable().map(|segment| segment.address).min().unwrap_or(object.first());
        let end = executable().map(|segment| segment.address + segment.bytes.len() as u64).max().unwrap_or(first);
        let skip = preload_skip(object.generation());
        let functions = object.symbols().iter().filter(|symbol| symbol.is_function).map(|symbol| symbol.address);
        let kernels = object.kernels().iter().flat_map(|kernel| {
            let preloads = kernel.descriptor.preload().0 != 0;
            [kernel.entry, kernel.entry.wrapping_add(if preloads { skip } else { 0 })]
        });
        let mut entries: Vec<u64> = functions.chain(kernels).filter_map(|at| at.checked_sub(first)).collect();
        entries.sort_unstable();
        entries.dedup();
        let code = Arc::new(Code {
            generation: object.generation(),
            base: base.wrapping_add(first),
            bytes: image[(first - object.first()) as usize..(end - object.first()) as usize].to_vec(),
            entries,
            programs: [OnceLock::new(), OnceLock::new()],
        });
        let kernels = object.kernels().iter().map(|info| Kernel {
            entry: base.wrapping_add(info.entry),
            object: base.wrapping_add(info.descriptor_address),
            info: Arc::new(info.clone()),
            code: Arc::clone(&code),
        });
        Ok(Module { kernels: kernels.collect(), base })
    }

    /// Loads machine code without a code object: a kernel that begins at the first byte, runs in waves of the
    /// generation's usual size, and finds in its registers what compilers ask for: the address of its arguments in
    /// `s[0:1]`, then (before RDNA 4) the group's three numbers in `s2` to `s4`, and all three numbers of the work-item.
    ///
    /// # Errors
    /// Where memory has no room.
    ///
    /// # Panics
    /// Where the generation's feature is off.
    pub fn load_code(&mut self, name: &str, generation: Generation, code: &[u8]) -> Result<Kernel, LaunchError> {
        let size = code.len() as u64;
        let room =
            || LaunchError { kernel: name.to_string(), cause: LaunchCause::Room { what: "the code", bytes: size } };
        let base = self.memory.allocate(format!("the code of {name}"), size.max(4)).ok_or_else(room)?;
        self.memory.write(base, code).map_err(|_| room())?;
        let lanes = generation.wave_sizes()[0];
        let descriptor = KernelDescriptor {
            rsrc1: 0xf0 << 12 | 1 << 21 | 1 << 23,
            // Two user registers, the group's numbers, all of a work-item's numbers.
            rsrc2: 2 << 1 | 7 << 7 | 2 << 11,
            properties: 1 << 3 | u16::from(lanes == 32) << 10,
            ..KernelDescriptor::default()
        };
        let info = KernelInfo {
            name: name.to_string(),
            entry: 0,
            descriptor_address: 0,
            descriptor,
            args: None,
            wave_size: lanes,
            kernarg_align: 16,
            max_group_size: None,
            required_group_size: None,
            cluster: None,
            sgpr_count: None,
            vgpr_count: None,
        };
        let code = Code {
            generation,
            base,
            bytes: code.to_vec(),
            entries: Vec::new(),
            programs: [OnceLock::new(), OnceLock::new()],
        };
        Ok(Kernel { info: Arc::new(info), code: Arc::new(code), entry: base, object: base })
    }

    /// Runs a kernel to its end.
    ///
    /// # Errors
    /// Where grid or arguments are not the kernel's, memory has no room, or a wave cannot go on; other groups may then
    /// have run.
    pub fn launch(&mut self, kernel: &Kernel, grid: Grid, args: &[Arg]) -> Result<Report, LaunchError> {
        self.launch_with(kernel, grid, args, Extras::default())
    }

    /// As [`Device::launch`], with statistics or word of progress.
    ///
    /// # Errors
    /// As [`Device::launch`].
    pub fn launch_with(
        &mut self,
        kernel: &Kernel,
        grid: Grid,
        args: &[Arg],
        extras: Extras<'_>,
    ) -> Result<Report, LaunchError> {
        let Extras { stats, progress } = extras;
        let Some(stats) = stats else {
            return self.run(kernel, grid, args, progress, &mut std::vec![(); self.threads]);
        };
        let instructions = kernel.code.program(kernel.info.wave_size).len();
        let mut counters: Vec<Counter> = (0..self.threads).map(|_| Counter::new(instructions)).collect();
        let result = self.run(kernel, grid, args, progress, &mut counters);
        for counter in &counters {
            counter.report(&kernel.code, stats);
        }
        result
    }

    /// As [`Device::launch`], on one thread, with an observer that sees every instruction.
    ///
    /// # Errors
    /// As [`Device::launch`].
    pub fn launch_observed(
        &mut self,
        kernel: &Kernel,
        grid: Grid,
        args: &[Arg],
        observer: &mut (impl Observer + ?Sized),
    ) -> Result<Report, LaunchError> {
        self.run(kernel, grid, args, None, &mut [Watched::new(observer, &kernel.code)])
    }

    fn run<W: Watch + Send>(
        &mut self,
        kernel: &Kernel,
        grid: Grid,
        args: &[Arg],
        progress: Option<&(dyn Fn(u64) + Sync)>,
        watches: &mut [W],
    ) -> Result<Report, LaunchError> {
        let mut rooms = Vec::new();
        let result = self.run_in(kernel, grid, args, progress, watches, &mut rooms);
        for room in rooms {
            let _ = self.memory.free(room);
        }
        result.map_err(|cause| LaunchError { kernel: kernel.info.name.clone(), cause })
    }

    /// Allocates memory that only this launch has.
    fn room(&mut self, what: &'static str, bytes: u64, rooms: &mut Vec<u64>) -> Result<u64, LaunchCause> {
        let address = self.memory.allocate(what, bytes).ok_or(LaunchCause::Room { what, bytes })?;
        rooms.push(address);
        Ok(address)
    }

    /// Allocates memory and fills it.
    fn filled(&mut self, what: &'static str, bytes: &[u8], rooms: &mut Vec<u64>) -> Result<u64, LaunchCause> {
        let size = bytes.len() as u64;
        let address = self.room(what, size.max(4), rooms)?;
        self.memory.write(address, bytes).map_err(|_| LaunchCause::Room { what, bytes: size })?;
        Ok(address)
    }

    fn run_in<W: Watch + Send>(
        &mut self,
        kernel: &Kernel,
        grid: Grid,
        args: &[Arg],
        progress: Option<&(dyn Fn(u64) + Sync)>,
        watches: &mut [W],
        rooms: &mut Vec<u64>,
    ) -> Result<Report, LaunchCause> {
        let info = &*kernel.info;
        let (generation, lanes) = (kernel.code.generation, info.wave_size);
        let groups = check(info, &grid)?;
        let queue = self.filled("the queue", &queue(), rooms)?;
        let hidden = Hidden { queue, shared_base: SHARED_APERTURE, private_base: PRIVATE_APERTURE };
        let Segment { bytes: segment, lds } = lay_out(info, args, &grid, &hidden).map_err(LaunchCause::Arguments)?;
        if lds > lds_limit(generation) {
            let message = format!("a group needs {lds} bytes of local memory; there are {}", lds_limit(generation));
            return Err(LaunchCause::Grid(message));
        }
        let mut padded = segment.clone();
        padded.resize(segment.len().next_multiple_of(KERNARG_GRANULE), 0);
        let kernarg = self.filled("the arguments", &padded, rooms)?;
        let group_items = grid.size.iter().product::<u32>();
        let waves = group_items.div_ceil(lanes);
        let private = match info.descriptor.uses_dynamic_stack() {
            true => info.descriptor.private_segment_size.max(DYNAMIC_STACK),
            false => info.descriptor.private_segment_size,
        };
        let wave_bytes = (u64::from(private).next_multiple_of(4) * u64::from(lanes)).next_multiple_of(1024);
        let wave_bytes = if private == 0 { 0 } else { wave_bytes };
        let resident = resident(watches.len() as u64, waves.into(), wave_bytes).min(groups.max(1));
        let mut scratch =
            Scratch { base: 0, lane_bytes: private, wave_bytes, bytes: wave_bytes * u64::from(waves) * resident };
        if scratch.bytes > SCRATCH {
            return Err(LaunchCause::Room { what: "private memory", bytes: scratch.bytes });
        }
        if scratch.bytes != 0 {
            scratch.base = self.room("private memory", scratch.bytes, rooms)?;
        }
        let packet = packet(&grid, &scratch, lds, kernel.object, kernarg);
        let packet = self.filled("the dispatch packet", &packet, rooms)?;
        let (preloads, first) = info.descriptor.preload();
        let preloaded = segment.chunks_exact(4).skip(first as usize).take(preloads as usize);
        let preloaded = preloaded.map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]])).collect();
        let skip = if preloads != 0 { preload_skip(generation) } else { 0 };
        let setup = Setup {
            generation,
            lanes,
            descriptor: info.descriptor,
            entry: kernel.entry.wrapping_add(skip),
            kernarg,
            preloaded,
            packet,
            queue,
            scratch,
            waves,
            cluster: info.cluster.unwrap_or([1; 3]),
        };
        let dispatch = Dispatch {
            setup: &setup,
            program: kernel.code.program(lanes),
            memory: &self.memory,
            grid,
            lds,
            limit: self.limit,
            resident,
        };
        let watches = watches.iter_mut().take(usize::try_from(resident).unwrap_or(usize::MAX)).collect();
        let result = dispatch.run(watches, progress);
        let Totals { executed, waves } = result.map_err(|failure| stopped(kernel, failure))?;
        Ok(Report { instructions: executed, waves, groups })
    }
}

/// The most local memory of a group, in bytes: from the chapters on LDS of AMD's manuals.
const fn lds_limit(generation: Generation) -> u32 {
    match generation {
        Generation::Cdna4 => 160 << 10,
        Generation::Cdna5 => 320 << 10,
        _ => 64 << 10,
    }
}

/// Number of groups of a grid that a kernel can have.
fn check(info: &KernelInfo, grid: &Grid) -> Result<u64, LaunchCause> {
    let fault = |message: String| Err(LaunchCause::Grid(message));
    let [x, y, z] = grid.size;
    let items = grid.size.iter().fold(1u64, |product, size| product.saturating_mul((*size).into()));
    let most = info.max_group_size.map_or(GROUP_ITEMS, u64::from).min(GROUP_ITEMS);
    if items == 0 {
        return fault(format!("a group of {x} x {y} x {z} work-items is empty"));
    }
    if items > most {
        return fault(format!("a group of {x} x {y} x {z} work-items is larger than {most}"));
    }
    if let Some([a, b, c]) = info.required_group_size.filter(|size| *size != grid.size) {
        return fault(format!("groups must be of {a} x {b} x {c} work-items, not of {x} x {y} x {z}"));
    }
    if let Some(items) = grid.items.iter().find(|items| u32::try_from(**items).is_err()) {
        return fault(format!("{items} work-items in a dimension are more than {}", u32::MAX));
    }
    let groups = grid.count().filter(|groups| *groups <= GROUPS);
    let Some(groups) = groups else {
        return fault(format!("the grid has more than {GROUPS} groups"));
    };
    if let Some(cluster) = info.cluster
        && (0..3).any(|at| !grid.groups()[at].is_multiple_of(cluster[at].into()) || cluster[at] > 16)
    {
        let [a, b, c] = cluster;
        return fault(format!("the grid does not divide into clusters of {a} x {b} x {c} groups"));
    }
    Ok(groups)
}

/// Where a wave could not go on, with the instruction's text.
fn stopped(kernel: &Kernel, failure: Failure) -> LaunchCause {
    let Failure { group, stop } = failure;
    let mut text = String::new();
    if let Some(inst) = kernel.code.inst(kernel.info.wave_size, stop.pc) {
        // Text is refused to no string.
        let _ = Formatter::new(Options::default()).format(&inst, stop.pc, &mut text);
    }
    LaunchCause::Stopped(Box::new(Stopped {
        group,
        wave: stop.wave,
        pc: stop.pc,
        offset: stop.pc.wrapping_sub(kernel.entry) as i64,
        text,
        reason: match stop.cause {
            Cause::Exec(error) => StopReason::Exec(error),
            Cause::Limit(limit) => StopReason::Limit(limit),
            Cause::Deadlock { barrier, signals, members } => StopReason::Deadlock { barrier, signals, members },
        },
    }))
}

/// A queue, as far as kernels read it: `amd_queue_t` of the HSA runtime.
fn queue() -> [u8; 256] {
    let mut bytes = [0; 256];
    bytes[0x40..0x44].copy_from_slice(&SHARED_APERTURE.to_le_bytes());
    bytes[0x44..0x48].copy_from_slice(&PRIVATE_APERTURE.to_le_bytes());
    bytes
}

/// A dispatch packet: `hsa_kernel_dispatch_packet_t` of the HSA specification.
fn packet(grid: &Grid, scratch: &Scratch, lds: u32, object: u64, kernarg: u64) -> [u8; 64] {
    let mut bytes = [0; 64];
    let mut put = |at: usize, value: &[u8]| bytes[at..][..value.len()].copy_from_slice(value);
    // The packet type of kernel dispatches.
    put(0, &2u16.to_le_bytes());
    put(2, &(grid.dimensions() as u16).to_le_bytes());
    for at in 0..3 {
        put(4 + 2 * at, &(grid.size[at] as u16).to_le_bytes());
        put(12 + 4 * at, &(grid.items[at] as u32).to_le_bytes());
    }
    put(24, &scratch.lane_bytes.to_le_bytes());
    put(28, &lds.to_le_bytes());
    put(32, &object.to_le_bytes());
    put(40, &kernarg.to_le_bytes());
    bytes
}
