//! Speed of execution: `exec` in lane operations a second, `kernels` and `threads` in wave instructions a second
//! (criterion's elements).

use std::path::Path;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use gfx_isa::elf::CodeObject;
use gfx_isa::exec::{Arg, Device, Grid, Kernel, Program, Wave};
use gfx_isa::{Generation, rdna4};

const WAVES: usize = 64;
const INSTRUCTIONS: u64 = 10_000;

/// `v_fma_f32` and `v_add_nc_u32` in turn, and the end.
fn alternating() -> Vec<u8> {
    let v = |register: u32| 256 + register;
    let fma = rdna4::Vop3::new(rdna4::Vop3::V_FMA_F32).with_vdst(0).with_src0(v(1)).with_src1(v(2)).with_src2(v(0)).0;
    let add = rdna4::Vop2::new(rdna4::Vop2::V_ADD_NC_U32).with_vdst(3).with_src0(v(4)).with_vsrc1(3).0;
    let mut bytes = Vec::new();
    for _ in 0..INSTRUCTIONS / 2 {
        bytes.extend(fma.to_le_bytes());
        bytes.extend(add.to_le_bytes());
    }
    bytes.extend(rdna4::Sopp::new(rdna4::Sopp::S_ENDPGM).0.to_le_bytes());
    bytes
}

fn waves(lanes: u32) -> Vec<Wave> {
    let mut waves = Vec::new();
    for number in 0..WAVES {
        let mut wave = Wave::new(Generation::Rdna4, lanes).expect("a size of the generation");
        for lane in 0..lanes as usize {
            wave.set_vgpr(lane, 1, (1.0 + lane as f32 / 64.0).to_bits());
            wave.set_vgpr(lane, 2, (0.5 + number as f32 / 64.0).to_bits());
            wave.set_vgpr(lane, 4, lane as u32);
        }
        waves.push(wave);
    }
    waves
}

fn exec(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("exec");
    group.sample_size(10);
    for lanes in [64, 32] {
        let program = Program::with_lanes(Generation::Rdna4, &alternating(), lanes);
        let mut waves = waves(lanes);
        group.throughput(Throughput::Elements(u64::from(lanes) * INSTRUCTIONS * WAVES as u64));
        group.bench_function(BenchmarkId::new("v_fma_f32/v_add_nc_u32", format!("wave{lanes}")), |bencher| {
            bencher.iter(|| {
                for wave in &mut waves {
                    wave.set_pc(0);
                    let finished = wave.run(&program, u64::MAX).expect("both instructions are known");
                    assert!(finished.ended);
                }
            });
        });
    }
    group.finish();
}

/// A kernel with memory and arguments.
struct Launch {
    device: Device,
    kernel: Kernel,
    grid: Grid,
    args: Vec<Arg>,
}

impl Launch {
    fn new(object: &str, name: &str, threads: usize) -> Launch {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/kernels");
        let file = std::fs::read(folder.join(format!("{object}.co"))).expect("the code object is there");
        let object = CodeObject::parse(&file).expect("it is a code object");
        let mut device = Device::new().threads(threads);
        let kernel = device.load(&object).expect("room").kernel(name).expect("it is there").clone();
        let mut floats = |count: u32| {
            let address = device.memory.allocate("floats", u64::from(count) * 4).expect("room");
            let values = (0..count).map(|at| (at.wrapping_mul(2_654_435_761) >> 8) as f32 / (1 << 24) as f32);
            let bytes: Vec<u8> = values.flat_map(f32::to_le_bytes).collect();
            device.memory.write(address, &bytes).expect("inside");
            Arg::Pointer(address)
        };
        let (grid, args) = match name {
            "matmul" => {
                let n = 128;
                let args = vec![floats(n * n), floats(n * n), floats(n * n), Arg::U32(n)];
                (Grid::new([n / 16, n / 16, 1], [16, 16, 1]), args)
            }
            "nbody" => (Grid::new([4, 1, 1], [256, 1, 1]), vec![floats(4096), floats(4096), Arg::U32(1024)]),
            "crc32" => (Grid::new([16, 1, 1], [256, 1, 1]), vec![floats(65536), floats(4096), Arg::U32(64)]),
            _ => {
                let args = vec![floats(65536), Arg::U32(256), Arg::U32(256), Arg::U32(256)];
                (Grid::new([256, 1, 1], [256, 1, 1]), args)
            }
        };
        Launch { device, kernel, grid, args }
    }

    /// Instructions executed, one for each wave.
    fn run(&mut self) -> u64 {
        self.device.launch(&self.kernel, self.grid, &self.args).expect("it runs").instructions
    }
}

/// Compiled kernels on one thread, in wave instructions a second.
fn kernels(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("kernels");
    group.sample_size(10);
    for object in ["gfx942", "gfx1201"] {
        for name in ["matmul", "nbody", "crc32", "mandelbrot"] {
            let mut launch = Launch::new(object, name, 1);
            group.throughput(Throughput::Elements(launch.run()));
            group.bench_function(BenchmarkId::new(name, object), |bencher| bencher.iter(|| launch.run()));
        }
    }
    group.finish();
}

/// One kernel on more and more threads.
fn threads(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("threads");
    group.sample_size(10);
    let most = std::thread::available_parallelism().map_or(1, usize::from);
    let mut threads = 1;
    while threads <= most {
        let mut launch = Launch::new("gfx1201", "mandelbrot", threads);
        group.throughput(Throughput::Elements(launch.run()));
        group.bench_function(BenchmarkId::new("mandelbrot", threads), |bencher| bencher.iter(|| launch.run()));
        threads *= 2;
    }
    group.finish();
}

criterion_group!(benches, exec, kernels, threads);
criterion_main!(benches);
