//! Launches: grids, groups, barriers, register set-up, faults. The kernels are assembled here and need no memory: what
//! they find in their registers is looked at by an observer.

use std::collections::BTreeMap;

use gfx_isa::asm::Assembler;
use gfx_isa::exec::{
    Arg, Device, ExecError, Extras, Grid, LaunchCause, LaunchError, Observer, Stats, Step, StopReason,
};
use gfx_isa::{Generation, Op};

fn assemble(generation: Generation, lines: &[&str]) -> Vec<u8> {
    let mut code = Vec::new();
    let mut assembler = Assembler::new(generation);
    for line in lines {
        assembler.assemble_line(line, &mut code).unwrap_or_else(|error| panic!("{generation} {line}: {error}"));
    }
    code
}

/// Scalar and lane values of each wave at its end, by group and number.
#[derive(Default)]
struct Ends {
    waves: BTreeMap<([u32; 3], u32), End>,
}

struct End {
    exec: u64,
    sgprs: Vec<u32>,
    vgprs: Vec<Vec<u32>>,
}

impl Observer for Ends {
    fn before(&mut self, step: &Step<'_>) {
        if step.inst.op() == Op::S_ENDPGM {
            let lanes = step.wave.lanes() as usize;
            let vgprs = (0..4).map(|register| (0..lanes).map(|lane| step.wave.vgpr(lane, register)).collect());
            let sgprs = (0..20).map(|register| step.wave.sgpr(register)).collect();
            let end = End { exec: step.wave.exec(), sgprs, vgprs: vgprs.collect() };
            assert!(self.waves.insert((step.group, step.number), end).is_none(), "a wave ends once");
        }
    }

    fn after(&mut self, _: &Step<'_>) {}
}

fn ends(generation: Generation, lines: &[&str], grid: Grid) -> Result<Ends, LaunchError> {
    let mut device = Device::new();
    let kernel = device.load_code("k", generation, &assemble(generation, lines))?;
    let mut ends = Ends::default();
    device.launch_observed(&kernel, grid, &[], &mut ends)?;
    Ok(ends)
}

#[test]
fn every_group_and_item_has_its_numbers() {
    for generation in Generation::available() {
        // 5 items of 4 in x: the second group of x has one.
        let grid = Grid::items([5, 3, 22], [4, 3, 11]);
        let ids = match generation {
            Generation::Rdna4 | Generation::Cdna5 => {
                vec!["s_mov_b32 s2, ttmp9", "s_and_b32 s3, ttmp7, 0xffff", "s_lshr_b32 s4, ttmp7, 16", "s_endpgm"]
            }
            _ => vec!["s_endpgm"],
        };
        let ends = ends(generation, &ids, grid).expect("it runs");
        let lanes = generation.wave_sizes()[0];
        let mut seen = Vec::new();
        for ((group, number), end) in &ends.waves {
            assert_eq!(end.sgprs[2..5], *group, "{generation}");
            let width = if group[0] == 0 { 4 } else { 1 };
            for lane in 0..lanes as usize {
                let item = number * lanes + lane as u32;
                let active = item < width * 33;
                assert_eq!(end.exec >> lane & 1 != 0, active, "{generation} {group:?} wave {number} lane {lane}");
                let packed = [0, 10, 20].map(|shift| end.vgprs[0][lane] >> shift & 0x3ff);
                let plain = [0, 1, 2].map(|register: usize| end.vgprs[register][lane]);
                let old = matches!(generation, Generation::Cdna1 | Generation::Rdna1 | Generation::Rdna2);
                let ids = if old { plain } else { packed };
                if active {
                    assert_eq!(ids, [item % width, item / width % 3, item / (width * 3)], "{generation} item {item}");
                    seen.push([group[0] * 4 + ids[0], group[1] * 3 + ids[1], group[2] * 11 + ids[2]]);
                }
            }
        }
        seen.sort_unstable();
        let all = (0..5).flat_map(|x| (0..3).flat_map(move |y| (0..22).map(move |z| [x, y, z])));
        assert!(seen.into_iter().eq(all), "{generation}");
    }
}

#[test]
fn arguments_are_where_the_register_points() {
    let mut device = Device::new();
    let kernel = device.load_code("k", Generation::Rdna2, &assemble(Generation::Rdna2, &["s_endpgm"])).expect("room");
    struct Look(Option<u64>);
    impl Observer for Look {
        fn before(&mut self, step: &Step<'_>) {
            self.0 = Some(u64::from(step.wave.sgpr(1)) << 32 | u64::from(step.wave.sgpr(0)));
        }
        fn after(&mut self, _: &Step<'_>) {}
    }
    let mut look = Look(None);
    let grid = Grid::new([1; 3], [1; 3]);
    device.launch_observed(&kernel, grid, &[Arg::U32(7)], &mut look).expect("it runs");
    let address = look.0.expect("a wave ran");
    assert!(
        address.is_multiple_of(16) && device.memory.read(address, &mut [0; 4]).is_err(),
        "the launch frees what it made"
    );
}

/// Waves of a group that leave a barrier see what the others did before it: here their count of instructions.
#[test]
fn barriers_hold_waves_together() {
    for generation in Generation::available() {
        let barrier: &[&str] = match generation {
            Generation::Rdna4 | Generation::Cdna5 => &["s_barrier_signal -1", "s_barrier_wait -1"],
            _ => &["s_barrier"],
        };
        struct Order {
            /// Waves that have begun each phase, in order.
            phases: Vec<(u32, u32)>,
        }
        impl Observer for Order {
            fn before(&mut self, _: &Step<'_>) {}
            fn after(&mut self, step: &Step<'_>) {
                if step.inst.op() == Op::S_MOVK_I32 {
                    self.phases.push((step.wave.sgpr(10), step.number));
                }
            }
        }
        let mut lines = Vec::new();
        let moves: Vec<String> = (0..4).map(|phase| format!("s_movk_i32 s10, {phase}")).collect();
        for text in &moves {
            lines.push(text.as_str());
            lines.extend(barrier);
        }
        lines.push("s_endpgm");
        let mut device = Device::new();
        let kernel = device.load_code("k", generation, &assemble(generation, &lines)).expect("room");
        let lanes = generation.wave_sizes()[0];
        let mut order = Order { phases: Vec::new() };
        let grid = Grid::new([1, 1, 1], [lanes * 4, 1, 1]);
        device.launch_observed(&kernel, grid, &[], &mut order).unwrap_or_else(|error| panic!("{generation}: {error}"));
        assert_eq!(order.phases.len(), 16, "{generation}");
        for (at, phase) in order.phases.chunks(4).enumerate() {
            let mut waves: Vec<u32> = phase.iter().map(|(_, wave)| *wave).collect();
            waves.sort_unstable();
            assert!(phase.iter().all(|(number, _)| *number == at as u32), "{generation}: {:?}", order.phases);
            assert_eq!(waves, [0, 1, 2, 3], "{generation}");
        }
    }
}

#[test]
fn a_barrier_that_cannot_complete_is_a_deadlock() {
    let lines = ["s_barrier_wait -1", "s_endpgm"];
    let Err(error) = ends(Generation::Rdna4, &lines, Grid::new([2, 1, 1], [64, 1, 1])) else {
        panic!("nobody signals")
    };
    let LaunchCause::Stopped(stopped) = &error.cause else { panic!("{error}") };
    assert_eq!(stopped.reason, StopReason::Deadlock { barrier: -1, signals: 0, members: 2 });
    let text = error.to_string();
    assert!(text.starts_with("kernel k: group 0,0,0, wave 0, pc 0x7f"), "{text}");
    let end =
        "(kernel +0x0), s_barrier_wait 0xffff: deadlock: every wave waits; the group's barrier has 0 signals of 2";
    assert!(text.ends_with(end), "{text}");
}

#[test]
fn endless_loops_stop() {
    let mut device = Device::new().limit(1000).threads(2);
    let code = assemble(Generation::Rdna3, &["s_branch -1"]);
    let kernel = device.load_code("k", Generation::Rdna3, &code).expect("room");
    let error = device.launch(&kernel, Grid::new([3, 1, 1], [32, 1, 1]), &[]).expect_err("it never ends");
    let LaunchCause::Stopped(stopped) = &error.cause else { panic!("{error}") };
    assert_eq!((stopped.group, &stopped.reason), ([0, 0, 0], &StopReason::Limit(1000)));
}

#[test]
fn the_first_fault_is_reported_whatever_the_threads() {
    // Groups from the fifth on leave the code.
    let lines = ["s_cmp_lt_u32 s2, 5", "s_cbranch_scc1 1", "s_branch 100", "s_endpgm"];
    for threads in [1, 2, 7] {
        let mut device = Device::new().threads(threads);
        let code = assemble(Generation::Cdna3, &lines);
        let kernel = device.load_code("k", Generation::Cdna3, &code).expect("room");
        let error = device.launch(&kernel, Grid::new([64, 1, 1], [64, 1, 1]), &[]).expect_err("it leaves the code");
        let LaunchCause::Stopped(stopped) = &error.cause else { panic!("{error}") };
        assert_eq!(stopped.group, [5, 0, 0], "{threads} threads");
        let target = kernel.entry() + 12 + 400;
        assert_eq!(stopped.reason, StopReason::Exec(ExecError::Pc(target)), "{threads} threads");
    }
}

#[test]
fn grids_are_checked() {
    let mut device = Device::new();
    let kernel = device.load_code("k", Generation::Rdna1, &assemble(Generation::Rdna1, &["s_endpgm"])).expect("room");
    let mut message = |grid: Grid| device.launch(&kernel, grid, &[]).expect_err("it is wrong").to_string();
    assert_eq!(
        message(Grid::new([1; 3], [33, 32, 1])),
        "kernel k: a group of 33 x 32 x 1 work-items is larger than 1024"
    );
    assert_eq!(message(Grid::new([1; 3], [8, 0, 1])), "kernel k: a group of 8 x 0 x 1 work-items is empty");
    assert!(message(Grid::new([u32::MAX, 1, 1], [64, 1, 1])).contains("work-items in a dimension"));
    assert!(message(Grid::new([1 << 20, 1 << 20, 1 << 20], [1; 3])).contains("groups"));
    let report = device.launch(&kernel, Grid::new([0, 5, 5], [64, 1, 1]), &[]).expect("nothing to do");
    assert_eq!(report.groups, 0);
}

#[test]
fn statistics_count_lanes() {
    let lines = ["v_mov_b32 v1, 5", "s_mov_b32 s4, 1", "v_mov_b32 v2, 5", "s_endpgm"];
    let mut device = Device::new().threads(3);
    let kernel = device.load_code("k", Generation::Rdna2, &assemble(Generation::Rdna2, &lines)).expect("room");
    let mut stats = Stats::default();
    // Ten groups of two waves, the second one with 16 of 32 lanes.
    let extras = Extras { stats: Some(&mut stats), progress: None };
    let report = device.launch_with(&kernel, Grid::new([10, 1, 1], [48, 1, 1]), &[], extras).expect("it runs");
    assert_eq!((report.instructions, report.waves, report.groups), (80, 20, 10));
    let moves = stats.mnemonics["v_mov_b32"];
    assert_eq!((moves.instructions, moves.lanes, moves.lane_use()), (40, 20 * 48, Some(0.75)));
    assert_eq!(stats.mnemonics["s_mov_b32"].lane_use(), None);
    assert_eq!(stats.groups.values().map(|count| count.instructions).sum::<u64>(), 80);
}

/// A wave that spins for another one's sake lets it run: here on a barrier that the other reaches late.
#[test]
fn spinning_waves_do_not_starve_others() {
    let lines =
        ["s_sleep 1", "s_add_u32 s6, s6, 1", "s_cmp_lt_u32 s6, 30000", "s_cbranch_scc1 -4", "s_barrier", "s_endpgm"];
    let ends = ends(Generation::Rdna1, &lines, Grid::new([1; 3], [128, 1, 1])).expect("it runs");
    assert!(ends.waves.len() == 4 && ends.waves.values().all(|end| end.sgprs[6] == 30000));
}
