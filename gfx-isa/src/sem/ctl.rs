//! Branches, calls, the program's end, waits, and the mode.

use super::sem;
use crate::exec::{Decoded, Dst, Env, ExecError, Flow, Mode, Src, Wave, slot};

sem! { LINES:
    S_BRANCH => branch(|_| true);
    S_CBRANCH_SCC0 => branch(|wave| !wave.scc());
    S_CBRANCH_SCC1 => branch(|wave| wave.scc());
    S_CBRANCH_VCCZ => branch(|wave| wave.vcc() == 0);
    S_CBRANCH_VCCNZ => branch(|wave| wave.vcc() != 0);
    S_CBRANCH_EXECZ => branch(|wave| wave.exec() == 0);
    S_CBRANCH_EXECNZ => branch(|wave| wave.exec() != 0);
    S_GETPC_B64 => control(get_pc);
    S_GET_PC_I64 => control(get_pc);
    S_SETPC_B64 => control(set_pc);
    S_SET_PC_I64 => control(set_pc);
    S_SWAPPC_B64 => control(swap_pc);
    S_SWAP_PC_I64 => control(swap_pc);
    S_CALL_B64 => control(call);
    S_CALL_I64 => control(call);
    S_ADD_PC_I64 => control(add_pc);
    S_ENDPGM => control(|_, _| Ok(Flow::End));
    S_ENDPGM_SAVED => control(|_, _| Ok(Flow::End));
    S_ROUND_MODE => control(round_mode);
    S_DENORM_MODE => control(denorm_mode);

    S_BARRIER => group(barrier);
    S_BARRIER_SIGNAL => group(barrier_signal);
    S_BARRIER_SIGNAL_ISFIRST => group(signal_is_first);
    S_BARRIER_WAIT => group(barrier_wait);
    S_BARRIER_INIT => group(barrier_init);
    S_BARRIER_JOIN => group(barrier_join);
    S_BARRIER_LEAVE => group(barrier_leave);
    S_GET_BARRIER_STATE => group(barrier_state);

    // Execution is in order: what one waits for has happened.
    S_NOP => control(nothing);
    V_NOP => control(nothing);
    // Whoever sleeps waits for others.
    S_SLEEP => control(|_, _| Ok(Flow::Yield));
    S_SLEEP_VAR => control(|_, _| Ok(Flow::Yield));
    S_WAKEUP_BARRIER => control(nothing);
    S_SETPRIO => control(nothing);
    S_SETPRIO_INC_WG => control(nothing);
    S_CLAUSE => control(nothing);
    S_DELAY_ALU => control(nothing);
    S_VERSION => control(nothing);
    S_CODE_END => control(|_, decoded| Err(ExecError::Unimplemented(decoded.op)));
    S_INST_PREFETCH => control(nothing);
    S_SET_INST_PREFETCH_DISTANCE => control(nothing);
    S_ICACHE_INV => control(nothing);
    S_TTRACEDATA => control(nothing);
    S_TTRACEDATA_IMM => control(nothing);
    S_INCPERFLEVEL => control(nothing);
    S_DECPERFLEVEL => control(nothing);
    S_WAITCNT => control(nothing);
    S_WAITCNT_DEPCTR => control(nothing);
    S_WAITCNT_EXPCNT => control(nothing);
    S_WAITCNT_LGKMCNT => control(nothing);
    S_WAITCNT_VMCNT => control(nothing);
    S_WAITCNT_VSCNT => control(nothing);
    S_WAIT_ALU => control(nothing);
    S_WAIT_ASYNCCNT => control(nothing);
    S_WAIT_BVHCNT => control(nothing);
    S_WAIT_DSCNT => control(nothing);
    S_WAIT_EVENT => control(nothing);
    S_WAIT_EXPCNT => control(nothing);
    S_WAIT_IDLE => control(nothing);
    S_WAIT_KMCNT => control(nothing);
    S_WAIT_LOADCNT => control(nothing);
    S_WAIT_LOADCNT_DSCNT => control(nothing);
    S_WAIT_SAMPLECNT => control(nothing);
    S_WAIT_STORECNT => control(nothing);
    S_WAIT_STORECNT_DSCNT => control(nothing);
    S_WAIT_TENSORCNT => control(nothing);
    S_WAIT_XCNT => control(nothing);
}

fn nothing(_: &mut Wave, _: &Decoded) -> Result<Flow, ExecError> {
    Ok(Flow::Next)
}

fn first_source(wave: &Wave, decoded: &Decoded) -> u64 {
    wave.scalar(decoded.sources[0], decoded.counts[0])
}

fn store(wave: &mut Wave, decoded: &Decoded, value: u64) {
    if let Dst::Scalar(first, count) = decoded.dst {
        wave.set_scalar(first, count, value);
    }
}

fn get_pc(wave: &mut Wave, decoded: &Decoded) -> Result<Flow, ExecError> {
    store(wave, decoded, decoded.next);
    Ok(Flow::Next)
}

fn set_pc(wave: &mut Wave, decoded: &Decoded) -> Result<Flow, ExecError> {
    Ok(Flow::Jump(first_source(wave, decoded)))
}

fn swap_pc(wave: &mut Wave, decoded: &Decoded) -> Result<Flow, ExecError> {
    let target = first_source(wave, decoded);
    store(wave, decoded, decoded.next);
    Ok(Flow::Jump(target))
}

fn call(wave: &mut Wave, decoded: &Decoded) -> Result<Flow, ExecError> {
    store(wave, decoded, decoded.next);
    Ok(Flow::Jump(decoded.target))
}

fn add_pc(wave: &mut Wave, decoded: &Decoded) -> Result<Flow, ExecError> {
    Ok(Flow::Jump(decoded.next.wrapping_add(first_source(wave, decoded))))
}

fn round_mode(wave: &mut Wave, decoded: &Decoded) -> Result<Flow, ExecError> {
    let bits = first_source(wave, decoded) as u32 & 15;
    wave.set_mode(Mode(wave.mode().0 & !0xf | bits));
    Ok(Flow::Next)
}

fn denorm_mode(wave: &mut Wave, decoded: &Decoded) -> Result<Flow, ExecError> {
    let bits = first_source(wave, decoded) as u32 & 15;
    wave.set_mode(Mode(wave.mode().0 & !0xf0 | bits << 4));
    Ok(Flow::Next)
}

fn barrier(wave: &mut Wave, _: &Decoded, env: &mut Env) -> Result<Flow, ExecError> {
    Ok(if env.barriers.arrive_and_wait(wave.number()) { Flow::Next } else { Flow::Wait })
}

/// The barrier that an instruction names, and the number of members that goes with one in M0.
fn named(wave: &Wave, decoded: &Decoded) -> (i32, Option<u32>) {
    match decoded.sources[0] {
        Src::Scalar(slot::M0) => ((wave.m0() & 0x1f) as i32, Some(wave.m0() >> 16 & 0x7f)),
        source => (wave.scalar(source, 1) as i32, None),
    }
}

/// Signals a barrier. Whether it was the first signal, where there is such a barrier.
fn signal(wave: &Wave, decoded: &Decoded, env: &mut Env) -> Result<Option<bool>, ExecError> {
    let (barrier, members) = named(wave, decoded);
    if env.barriers.is_missing(barrier) {
        return Err(ExecError::Unimplemented(decoded.op));
    }
    Ok(env.barriers.signal(barrier, members))
}

fn barrier_signal(wave: &mut Wave, decoded: &Decoded, env: &mut Env) -> Result<Flow, ExecError> {
    signal(wave, decoded, env)?;
    Ok(Flow::Next)
}

fn signal_is_first(wave: &mut Wave, decoded: &Decoded, env: &mut Env) -> Result<Flow, ExecError> {
    if let Some(first) = signal(wave, decoded, env)? {
        wave.set_scc(first);
    }
    Ok(Flow::Next)
}

fn barrier_wait(wave: &mut Wave, decoded: &Decoded, env: &mut Env) -> Result<Flow, ExecError> {
    let barrier = i32::from(first_source(wave, decoded) as u16 as i16);
    if env.barriers.is_missing(barrier) {
        return Err(ExecError::Unimplemented(decoded.op));
    }
    Ok(if env.barriers.wait(wave.number(), barrier) { Flow::Next } else { Flow::Wait })
}

fn barrier_init(wave: &mut Wave, decoded: &Decoded, env: &mut Env) -> Result<Flow, ExecError> {
    let (barrier, members) = named(wave, decoded);
    env.barriers.init(barrier, members);
    Ok(Flow::Next)
}

fn barrier_join(wave: &mut Wave, decoded: &Decoded, env: &mut Env) -> Result<Flow, ExecError> {
    env.barriers.join(wave.number(), named(wave, decoded).0);
    Ok(Flow::Next)
}

fn barrier_leave(wave: &mut Wave, _: &Decoded, env: &mut Env) -> Result<Flow, ExecError> {
    let last = env.barriers.leave(wave.number());
    wave.set_scc(last);
    Ok(Flow::Next)
}

fn barrier_state(wave: &mut Wave, decoded: &Decoded, env: &mut Env) -> Result<Flow, ExecError> {
    let state = env.barriers.state(named(wave, decoded).0);
    store(wave, decoded, u64::from(state));
    Ok(Flow::Next)
}
