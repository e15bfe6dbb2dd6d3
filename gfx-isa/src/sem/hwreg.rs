//! Hardware registers, messages, traps, and branches that keep a stack.

use super::sem;
use crate::exec::{Decoded, Dst, Env, ExecError, Flow, Mode, Src, Wave, slot};

sem! { LINES:
    S_GETREG_B32 => group(get);
    S_SETREG_B32 => control(set);
    S_SETREG_IMM32_B32 => control(set);
    S_GET_SHADER_CYCLES_U64 => group(|wave, decoded, env| {
        store(wave, decoded, env.tick());
        Ok(Flow::Next)
    });

    // Nobody outside listens.
    S_SENDMSG => control(nothing);
    S_SENDMSG_RTN_B32 => group(message);
    S_SENDMSG_RTN_B64 => group(message);
    S_WAKEUP => control(nothing);
    S_SET_VALU_COEXEC_MODE => control(nothing);
    V_CLREXCP => control(nothing);
    V_PIPEFLUSH => control(nothing);
    S_MONITOR_SLEEP => control(|_, _| Ok(Flow::Yield));
    // All registers are always there.
    S_ALLOC_VGPR => control(|wave, _| {
        wave.set_scc(true);
        Ok(Flow::Next)
    });

    S_SENDMSGHALT => control(|_, decoded| Err(ExecError::Stopped(decoded.op)));
    S_SETHALT => control(|wave, decoded| match wave.scalar(decoded.sources[0], 1) & 1 {
        0 => Ok(Flow::Next),
        _ => Err(ExecError::Stopped(decoded.op)),
    });
    S_SETKILL => control(|wave, decoded| match wave.scalar(decoded.sources[0], 1) & 1 {
        0 => Ok(Flow::Next),
        _ => Ok(Flow::End),
    });
    S_TRAP => control(|wave, decoded| match wave.scalar(decoded.sources[0], 1) & 0xff {
        // For debuggers: without one nothing happens.
        3 => Ok(Flow::Next),
        _ => Err(ExecError::Stopped(decoded.op)),
    });
    S_RFE_B64 => control(return_from_trap);
    S_RFE_I64 => control(return_from_trap);
    S_RFE_RESTORE_B64 => control(return_from_trap);
    S_ENDPGM_ORDERED_PS_DONE => control(|_, _| Ok(Flow::End));
    // No debugger sets the conditions.
    S_CBRANCH_CDBGSYS => branch(|_| false);
    S_CBRANCH_CDBGUSER => branch(|_| false);
    S_CBRANCH_CDBGSYS_OR_USER => branch(|_| false);
    S_CBRANCH_CDBGSYS_AND_USER => branch(|_| false);

    S_CBRANCH_G_FORK => control(|wave, decoded| {
        let target = wave.scalar(decoded.sources[1], 2);
        fork(wave, decoded, target)
    });
    S_CBRANCH_I_FORK => control(|wave, decoded| fork(wave, decoded, decoded.target));
    S_CBRANCH_JOIN => control(join);
    S_SUBVECTOR_LOOP_BEGIN => control(subvector_begin);
    S_SUBVECTOR_LOOP_END => control(subvector_end);
}

fn nothing(_: &mut Wave, _: &Decoded) -> Result<Flow, ExecError> {
    Ok(Flow::Next)
}

fn store(wave: &mut Wave, decoded: &Decoded, value: u64) {
    if let Dst::Scalar(first, count) = decoded.dst {
        wave.set_scalar(first, count, value);
    }
}

/// Number, offset and width of a hardware register's field.
fn field(decoded: &Decoded) -> (u32, u32, u32) {
    let bits = decoded.target as u32;
    (bits & 0x3f, bits >> 6 & 31, (bits >> 11 & 31) + 1)
}

fn get(wave: &mut Wave, decoded: &Decoded, env: &mut Env) -> Result<Flow, ExecError> {
    let (register, offset, width) = field(decoded);
    let value = wave.hardware(register, env.tick()) >> offset & u32::MAX >> (32 - width);
    store(wave, decoded, value.into());
    Ok(Flow::Next)
}

fn set(wave: &mut Wave, decoded: &Decoded) -> Result<Flow, ExecError> {
    let (register, offset, width) = field(decoded);
    let mask = u32::MAX >> (32 - width) << offset;
    let value = (wave.scalar(decoded.sources[0], 1) as u32) << offset & mask;
    wave.set_hardware(register, wave.hardware(register, 0) & !mask | value);
    Ok(Flow::Next)
}

/// Messages that want the time.
const REALTIME: u64 = 0x83;

fn message(wave: &mut Wave, decoded: &Decoded, env: &mut Env) -> Result<Flow, ExecError> {
    let answer = match wave.scalar(decoded.sources[0], 1) & 0xff {
        REALTIME => env.tick(),
        _ => 0,
    };
    store(wave, decoded, answer);
    Ok(Flow::Next)
}

fn return_from_trap(wave: &mut Wave, decoded: &Decoded) -> Result<Flow, ExecError> {
    Ok(Flow::Jump(wave.scalar(decoded.sources[0], 2)))
}

/// Runs the smaller part of the active lanes first and keeps the other part, with where it goes on, in four scalar
/// registers of a stack.
fn fork(wave: &mut Wave, decoded: &Decoded, target: u64) -> Result<Flow, ExecError> {
    let mask = wave.scalar(decoded.sources[0], 2);
    let (pass, fail) = (wave.exec() & mask, wave.exec() & !mask);
    if fail == 0 {
        return Ok(Flow::Jump(target));
    }
    if pass == 0 {
        return Ok(Flow::Next);
    }
    let first_fails = fail.count_ones() < pass.count_ones();
    let (now, later, at) = if first_fails { (fail, pass, target) } else { (pass, fail, decoded.next) };
    let depth = wave.mode().0 >> Mode::CSP;
    let place = 4 * depth as u8;
    wave.set_scalar(place, 2, later);
    wave.set_scalar(place + 2, 2, at);
    wave.set_mode(Mode(wave.mode().0 & !(7 << Mode::CSP) | ((depth + 1) & 7) << Mode::CSP));
    wave.set_exec(now);
    Ok(if first_fails { Flow::Next } else { Flow::Jump(target) })
}

fn join(wave: &mut Wave, decoded: &Decoded) -> Result<Flow, ExecError> {
    let depth = wave.mode().0 >> Mode::CSP;
    if u64::from(depth) == wave.scalar(decoded.sources[0], 1) {
        return Ok(Flow::Next);
    }
    let depth = depth.wrapping_sub(1) & 7;
    wave.set_mode(Mode(wave.mode().0 & !(7 << Mode::CSP) | depth << Mode::CSP));
    let place = 4 * depth as u8;
    let (lanes, at) = (wave.scalar(Src::Scalar(place), 2), wave.scalar(Src::Scalar(place + 2), 2));
    wave.set_exec(lanes);
    Ok(Flow::Jump(at))
}

/// Both halves of `EXEC`.
fn halves(wave: &Wave) -> (u64, u64) {
    (wave.scalar(Src::Scalar(slot::EXEC), 1), wave.scalar(Src::Scalar(slot::EXEC + 1), 1))
}

/// Turns the upper lanes off, or goes past the loop where none is on.
fn subvector_begin(wave: &mut Wave, decoded: &Decoded) -> Result<Flow, ExecError> {
    match halves(wave) {
        (0, 0) => return Ok(Flow::Jump(decoded.target)),
        (0, _) => store(wave, decoded, 0),
        (_, high) => {
            store(wave, decoded, high);
            wave.set_scalar(slot::EXEC + 1, 1, 0);
        }
    }
    Ok(Flow::Next)
}

/// After the lower lanes the upper ones, then all.
fn subvector_end(wave: &mut Wave, decoded: &Decoded) -> Result<Flow, ExecError> {
    let Dst::Scalar(saved, _) = decoded.dst else { return Ok(Flow::Next) };
    let kept = wave.scalar(Src::Scalar(saved), 1);
    let (low, high) = halves(wave);
    if high != 0 {
        wave.set_scalar(slot::EXEC, 1, kept);
    } else if kept != 0 {
        wave.set_scalar(slot::EXEC + 1, 1, kept);
        store(wave, decoded, low);
        wave.set_scalar(slot::EXEC, 1, 0);
        return Ok(Flow::Jump(decoded.target));
    }
    Ok(Flow::Next)
}
