//! `run`: a kernel of a code object.

use std::format;
use std::fs;
use std::io::{BufWriter, IsTerminal};
use std::path::{Path, PathBuf};
use std::string::{String, ToString};
use std::time::{Duration, Instant};
use std::vec::Vec;

use indicatif::{ProgressBar, ProgressStyle};

use super::Failure;
use super::output::{Output, line};
use super::table::Table;
use crate::elf::CodeObject;
use crate::exec::{Arg, Count, Device, Extras, Grid, Kernel, Report, Stats, Trace};

/// Work that takes longer than this shows how far it is.
const PATIENCE: Duration = Duration::from_secs(1);

/// Run a kernel of an ELF code object
#[derive(Debug, clap::Args)]
#[command(after_help = "Arguments, in the kernel's order:\n  \
    in=FILE          a buffer with the file's bytes\n  \
    inout=FILE:OUT   the same; written to OUT in the end\n  \
    out=BYTES:OUT    a buffer of zeros; written to OUT in the end\n  \
    local=BYTES      local memory\n  \
    i32= u32= i64= u64= f16= f32= f64=   a number, integers also as 0x...")]
pub(super) struct Args {
    /// The code object
    file: PathBuf,
    /// The kernel; may be left out where there is only one
    #[arg(long, value_name = "NAME")]
    kernel: Option<String>,
    /// Groups in each dimension
    #[arg(long, value_name = "X[,Y,Z]", value_parser = triple)]
    groups: Triple,
    /// Work-items of a group in each dimension
    #[arg(long, value_name = "X[,Y,Z]", value_parser = triple)]
    group_size: Triple,
    /// Local memory of a group, beside what the kernel declares
    #[arg(long, value_name = "BYTES", default_value_t = 0)]
    lds: u32,
    /// An argument of the kernel, in its order
    #[arg(long = "arg", value_name = "ARG", value_parser = argument, allow_hyphen_values = true)]
    args: Vec<Argument>,
    /// Print each wave's instructions and the registers that they change
    #[arg(long, conflicts_with = "stats")]
    trace: bool,
    /// Threads; as many as there are processors when absent
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..), conflicts_with = "trace")]
    threads: Option<u16>,
    /// Print how many instructions of each kind were executed, by how many lanes
    #[arg(long)]
    stats: bool,
    /// The most instructions that a wave may execute
    #[arg(long, value_name = "INSTRUCTIONS")]
    limit: Option<u64>,
}

/// Three numbers above 0; those that are left out are 1.
#[derive(Debug, Clone, Copy)]
struct Triple([u32; 3]);

fn triple(text: &str) -> Result<Triple, String> {
    let mut numbers = [1; 3];
    let mut parts = text.split(',');
    for number in &mut numbers {
        let Some(part) = parts.next() else { break };
        *number = part.trim().parse().ok().filter(|n| *n != 0).ok_or(format!("{part:?} is not a number above 0"))?;
    }
    if parts.next().is_some() { Err("there are three dimensions".to_string()) } else { Ok(Triple(numbers)) }
}

/// An argument as it is given.
#[derive(Debug, Clone)]
enum Argument {
    Value(Arg),
    /// A buffer: where its bytes come from, how many zeros it has otherwise, and where it goes.
    Buffer {
        input: Option<PathBuf>,
        bytes: u64,
        output: Option<PathBuf>,
    },
}

fn argument(text: &str) -> Result<Argument, String> {
    let (kind, value) = text.split_once('=').ok_or("an argument is KIND=VALUE")?;
    let pair = || value.rsplit_once(':').filter(|(a, b)| !a.is_empty() && !b.is_empty());
    Ok(match kind {
        "in" if !value.is_empty() => Argument::Buffer { input: Some(value.into()), bytes: 0, output: None },
        "in" => return Err("in= needs a file".to_string()),
        "inout" => {
            let (input, output) = pair().ok_or("inout= needs FILE:OUT")?;
            Argument::Buffer { input: Some(input.into()), bytes: 0, output: Some(output.into()) }
        }
        "out" => {
            let (bytes, output) = value.split_once(':').filter(|(_, b)| !b.is_empty()).ok_or("out= needs BYTES:OUT")?;
            Argument::Buffer { input: None, bytes: unsigned(bytes, u64::MAX)?, output: Some(output.into()) }
        }
        "local" => Argument::Value(Arg::Local(unsigned(value, u32::MAX.into())? as u32)),
        "i32" => Argument::Value(Arg::I32(signed(value, i32::MIN.into(), i32::MAX.into())? as i32)),
        "u32" => Argument::Value(Arg::U32(unsigned(value, u32::MAX.into())? as u32)),
        "i64" => Argument::Value(Arg::I64(signed(value, i64::MIN, i64::MAX)?)),
        "u64" => Argument::Value(Arg::U64(unsigned(value, u64::MAX)?)),
        "f16" => Argument::Value(Arg::f16(float(value)?)),
        "f32" => Argument::Value(Arg::F32(value.parse().map_err(|_| format!("{value:?} is not a number"))?)),
        "f64" => Argument::Value(Arg::F64(float(value)?)),
        _ => return Err(format!("{kind:?} is none of in, inout, out, local, i32, u32, i64, u64, f16, f32, f64")),
    })
}

fn float(text: &str) -> Result<f64, String> {
    text.parse().map_err(|_| format!("{text:?} is not a number"))
}

fn unsigned(text: &str, most: u64) -> Result<u64, String> {
    let number = match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        Some(digits) => u64::from_str_radix(digits, 16),
        None => text.parse(),
    };
    number.ok().filter(|number| *number <= most).ok_or_else(|| format!("{text:?} is not a number of 0 to {most}"))
}

fn signed(text: &str, least: i64, most: i64) -> Result<i64, String> {
    let (negative, digits) = text.strip_prefix('-').map_or((false, text), |rest| (true, rest));
    let number = unsigned(digits, u64::MAX).ok().map(i128::from).map(|n| if negative { -n } else { n });
    let number = number.filter(|number| (i128::from(least)..=i128::from(most)).contains(number));
    number.map(|number| number as i64).ok_or_else(|| format!("{text:?} is not a number of {least} to {most}"))
}

fn read(path: &Path) -> Result<Vec<u8>, Failure> {
    fs::read(path).map_err(|error| Failure::Input(format!("cannot read {}: {error}", path.display())))
}

pub(super) fn run(args: &Args, output: &mut Output) -> Result<(), Failure> {
    let input = |error: &dyn core::fmt::Display| Failure::Input(format!("{}: {error}", args.file.display()));
    let object = CodeObject::parse(&read(&args.file)?).map_err(|error| input(&error))?;
    let mut device = Device::new();
    if let Some(threads) = args.threads {
        device = device.threads(threads.into());
    }
    if let Some(limit) = args.limit {
        device = device.limit(limit);
    }
    let module = device.load(&object).map_err(|error| input(&error))?;
    let names = || {
        let names: Vec<&str> = module.kernels().iter().map(|kernel| kernel.info().name.as_str()).collect();
        if names.is_empty() { "it has none".to_string() } else { format!("it has {}", names.join(", ")) }
    };
    let kernel = match (&args.kernel, module.kernels()) {
        (Some(name), _) => {
            module.kernel(name).ok_or_else(|| input(&format!("there is no kernel {name}; {}", names())))?
        }
        (None, [only]) => only,
        (None, _) => return Err(Failure::Usage(format!("--kernel must name a kernel of the file; {}", names()))),
    };
    let mut buffers = Vec::new();
    let mut values = Vec::new();
    for (at, arg) in args.args.iter().enumerate() {
        values.push(match arg {
            Argument::Value(value) => value.clone(),
            Argument::Buffer { input, bytes, output } => {
                let address = fill(&mut device, at, input.as_deref(), *bytes, output.as_deref(), &mut buffers)?;
                Arg::Pointer(address)
            }
        });
    }
    let grid = Grid::new(args.groups.0, args.group_size.0).lds(args.lds);
    if args.trace {
        traced(&mut device, kernel, grid, &values)?;
    } else {
        let mut stats = Stats::default();
        let report = counted(&mut device, kernel, grid, &values, args.stats.then_some(&mut stats))?;
        if args.stats {
            print(&stats, &report, output);
        }
    }
    for (path, address, bytes) in buffers {
        let mut data = std::vec![0; bytes];
        device.memory.read(address, &mut data).map_err(|error| Failure::Input(error.to_string()))?;
        let failure = |error| Failure::Input(format!("cannot write {}: {error}", path.display()));
        fs::write(path, data).map_err(failure)?;
    }
    Ok(())
}

/// Makes a buffer and gives its address; notes where it goes in the end.
fn fill<'a>(
    device: &mut Device,
    at: usize,
    input: Option<&Path>,
    bytes: u64,
    output: Option<&'a Path>,
    buffers: &mut Vec<(&'a Path, u64, usize)>,
) -> Result<u64, Failure> {
    let data = input.map(read).transpose()?;
    let bytes = data.as_ref().map_or(bytes, |data| data.len() as u64);
    let name = format!("argument {}", at + 1);
    let room = || Failure::Input(format!("{name}: there is no room for {bytes} bytes"));
    let address = device.memory.allocate(name.clone(), bytes).ok_or_else(room)?;
    if let Some(data) = data.filter(|data| !data.is_empty()) {
        device.memory.write(address, &data).map_err(|error| Failure::Input(error.to_string()))?;
    }
    if let Some(path) = output {
        buffers.push((path, address, usize::try_from(bytes).map_err(|_| room())?));
    }
    Ok(address)
}

/// Runs the kernel and prints its trace.
fn traced(device: &mut Device, kernel: &Kernel, grid: Grid, args: &[Arg]) -> Result<(), Failure> {
    let mut trace = Trace::new(BufWriter::new(std::io::stdout()));
    let report = device.launch_observed(kernel, grid, args, &mut trace);
    trace.finish()?;
    report.map(|_| ()).map_err(|error| Failure::Input(error.to_string()))
}

/// Runs the kernel, on a terminal with a bar where it takes long.
fn counted(
    device: &mut Device,
    kernel: &Kernel,
    grid: Grid,
    args: &[Arg],
    stats: Option<&mut Stats>,
) -> Result<Report, Failure> {
    let start = Instant::now();
    let bar = ProgressBar::new(grid.count().unwrap_or(u64::MAX));
    if let Ok(style) = ProgressStyle::with_template("{wide_bar} {pos}/{len} groups, {eta} left") {
        bar.set_style(style);
    }
    let shows = std::io::stderr().is_terminal();
    let progress = |done| {
        if shows && start.elapsed() > PATIENCE {
            bar.set_position(done);
        }
    };
    let report = device.launch_with(kernel, grid, args, Extras { stats, progress: Some(&progress) });
    bar.finish_and_clear();
    report.map_err(|error| Failure::Input(error.to_string()))
}

/// Prints statistics: groups of instructions, then instructions, the most frequent first.
fn print(stats: &Stats, report: &Report, output: &mut Output) {
    let Report { instructions, waves, groups } = report;
    line!(output, "{instructions} instructions, {waves} waves, {groups} groups");
    let rows = |counts: Vec<(&str, Count)>, title: &str, output: &mut Output| {
        let mut counts = counts;
        counts.sort_by(|(a, x), (b, y)| y.instructions.cmp(&x.instructions).then(a.cmp(b)));
        let mut table = Table::new([title, "instructions", "lanes"]);
        for (name, count) in counts {
            let lanes = count.lane_use().map_or(String::new(), |part| format!("{:.1}%", 100.0 * part));
            table.row([name.to_string(), count.instructions.to_string(), lanes]);
        }
        line!(output);
        table.print(output);
    };
    rows(stats.groups.iter().map(|(name, count)| (*name, *count)).collect(), "group", output);
    rows(stats.mnemonics.iter().map(|(name, count)| (name.as_str(), *count)).collect(), "instruction", output);
}
