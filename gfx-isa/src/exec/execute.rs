//! Executes decoded instructions: fetches operands, runs kernels, writes results back. The only place that knows `EXEC`
//! and modifiers.

use std::vec::Vec;

use super::decoded::{
    Constants, Decoded, Dot2, Dst, Execution, Flow, Modifiers, Order, Pair, Permute, Program, Rows, Run, Src, execution,
};
use super::error::ExecError;
use super::float::{BF16_FORMAT, F16_FORMAT, F32_FORMAT, F64_FORMAT, Format};
use super::lanes::{Kernel, Picked, Ty, Vector};
use super::mem::{Env, Lds, Memory};
use super::observe::Watch;
use super::simd::{Base, Level, Wide};
use super::state::{Denorm, Mode, Round, Wave, slot};
use crate::sem::{self, Convert, Denormals, Scalars};
use crate::{Dpp16, Generation, Inst};

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Finished {
    /// Instructions executed.
    pub executed: u64,
    /// The program ended; otherwise the limit was reached.
    pub ended: bool,
}

/// For each byte of a lane mask the masks of its eight lanes.
static LANE_MASKS: [[u32; 8]; 256] = {
    let mut masks = [[0; 8]; 256];
    let mut byte = 0;
    while byte < 256 {
        let mut lane = 0;
        while lane < 8 {
            if byte >> lane & 1 != 0 {
                masks[byte][lane] = u32::MAX;
            }
            lane += 1;
        }
        byte += 1;
    }
    masks
};

/// Writes the lanes of a mask.
#[inline(always)]
fn blend(dst: &mut Vector, from: &Vector, mask: u64) {
    if mask == u64::MAX {
        *dst = *from;
        return;
    }
    if mask == u64::from(u32::MAX) {
        dst[..32].copy_from_slice(&from[..32]);
        return;
    }
    for (byte, (dst, from)) in dst.chunks_exact_mut(8).zip(from.chunks_exact(8)).enumerate() {
        let lanes = &LANE_MASKS[(mask >> (8 * byte)) as usize & 0xff];
        for ((dst, from), lane) in dst.iter_mut().zip(from).zip(lanes) {
            *dst = *dst & !lane | from & lane;
        }
    }
}

impl Wave {
    /// Executes one instruction and moves the program counter.
    ///
    /// # Errors
    /// Where the instruction has no meaning yet, or an operand cannot be used; the wave is then as it was before.
    pub fn step(&mut self, inst: &Inst) -> Result<Flow, ExecError> {
        self.step_in(inst, &mut Env::new(&Memory::new(), &mut Lds::default()))
    }

    /// As [`Wave::step`], with memory to reach.
    ///
    /// # Errors
    /// As [`Wave::step`], and where memory refuses an access; lanes before the one at fault have then done theirs.
    pub fn step_in(&mut self, inst: &Inst, env: &mut Env) -> Result<Flow, ExecError> {
        if inst.generation() != self.generation || inst.wave_size() != self.lanes {
            return Err(ExecError::Foreign { op: inst.op(), wave: self.generation });
        }
        let mut constants = Vec::new();
        let decoded = Decoded::new(inst, self.pc, &mut constants)?;
        let flow = self.execute(&decoded, &constants, env)?;
        self.pc = match flow {
            Flow::Next | Flow::Yield => decoded.next,
            Flow::Jump(pc) => pc,
            Flow::End | Flow::Wait => self.pc,
        };
        Ok(flow)
    }

    /// Runs a program that needs no memory from the program counter on, at most `limit` instructions.
    ///
    /// # Errors
    /// Where an instruction cannot be executed; the program counter is then at that instruction.
    pub fn run(&mut self, program: &Program, limit: u64) -> Result<Finished, ExecError> {
        self.run_in(program, &mut Env::new(&Memory::new(), &mut Lds::default()), limit)
    }

    /// As [`Wave::run`], with memory to reach.
    ///
    /// # Errors
    /// As [`Wave::run`], and where memory refuses an access.
    pub fn run_in(&mut self, program: &Program, env: &mut Env, limit: u64) -> Result<Finished, ExecError> {
        let mut executed = 0;
        loop {
            let part = self.run_observed(program, env, limit - executed, &mut ())?;
            executed += part.executed;
            // Alone, a wave has its turn again at once.
            if part.ended || executed == limit || part.executed == 0 {
                return Ok(Finished { executed, ended: part.ended });
            }
        }
    }

    /// As [`Wave::run_in`], with an observer. A wave that waits for others, or gives them their turn, stops early.
    pub(super) fn run_observed<W: Watch>(
        &mut self,
        program: &Program,
        env: &mut Env,
        limit: u64,
        watch: &mut W,
    ) -> Result<Finished, ExecError> {
        if program.generation != self.generation || program.lanes != self.lanes {
            let op = program.code.iter().flatten().next().map(|decoded| decoded.op);
            return Err(op.map_or(ExecError::Pc(self.pc), |op| ExecError::Foreign { op, wave: self.generation }));
        }
        match Wide::detect() {
            Some(level) => level.run(|| self.run_inline(program, env, limit, watch)),
            None => self.run_inline(program, env, limit, watch),
        }
    }

    /// The loop of [`Wave::run_in`], compiled for each level of CPU features.
    #[inline(always)]
    fn run_inline<W: Watch>(
        &mut self,
        program: &Program,
        env: &mut Env,
        limit: u64,
        watch: &mut W,
    ) -> Result<Finished, ExecError> {
        let mut executed = 0;
        let mut at = program.index(self.pc).ok_or(ExecError::Pc(self.pc))?;
        while executed < limit {
            let Some(entry) = program.code.get(at) else { return Err(ExecError::Pc(self.pc)) };
            let decoded = entry.as_ref().map_err(ExecError::clone)?;
            watch.before(self, at);
            let flow = self.execute(decoded, &program.constants, env)?;
            if flow == Flow::Wait {
                break;
            }
            executed += 1;
            watch.after(self, at);
            match flow {
                Flow::Next => {
                    self.pc = decoded.next;
                    at += 1;
                }
                Flow::Yield | Flow::Wait => {
                    self.pc = decoded.next;
                    break;
                }
                Flow::Jump(pc) => {
                    self.pc = pc;
                    at = program.index(pc).ok_or(ExecError::Pc(pc))?;
                }
                Flow::End => return Ok(Finished { executed, ended: true }),
            }
        }
        Ok(Finished { executed, ended: false })
    }

    #[inline(always)]
    fn execute(&mut self, decoded: &Decoded, constants: &Constants, env: &mut Env) -> Result<Flow, ExecError> {
        if self.moves {
            return self.execute_moved(decoded, constants, env);
        }
        self.execute_at(decoded, constants, env)
    }

    /// In a mode that moves the numbers of vector registers or skips vector instructions.
    #[cold]
    fn execute_moved(&mut self, decoded: &Decoded, constants: &Constants, env: &mut Env) -> Result<Flow, ExecError> {
        if let (Run::Matrix, Some(job)) = (&decoded.run, &decoded.matrix) {
            match self.generation {
                Generation::Cdna5 => job.moved(self.moved_by()).run(self),
                _ if self.mode.0 & Mode::VSKIP != 0 => {}
                _ => job.run(self),
            }
            return Ok(Flow::Next);
        }
        let vector = match decoded.run {
            Run::Vector { .. } | Run::Pair => true,
            Run::Memory => decoded.access.as_ref().is_some_and(|access| access.is_vector()),
            Run::Control(_) => {
                let reads = decoded.sources.iter().any(|source| matches!(source, Src::Vector(_)));
                reads || matches!(decoded.dst, Dst::Vector(..))
            }
            _ => false,
        };
        if !vector {
            return self.execute_at(decoded, constants, env);
        }
        if self.mode.0 & Mode::VSKIP != 0 && self.generation != Generation::Cdna5 {
            return Ok(Flow::Next);
        }
        // Indices are for arithmetic alone, high bits for everything.
        if self.generation != Generation::Cdna5 && matches!(decoded.run, Run::Memory) {
            return self.execute_at(decoded, constants, env);
        }
        match decoded.moved(self.moved_by(), self.vector_registers()) {
            Some(moved) => self.execute_at(&moved, constants, env),
            None => Ok(Flow::Next),
        }
    }

    #[inline(always)]
    fn execute_at(&mut self, decoded: &Decoded, constants: &Constants, env: &mut Env) -> Result<Flow, ExecError> {
        match decoded.run {
            Run::Vector { kernel, soft, extra } => {
                if decoded.plain && (!decoded.floats || self.mode.is_plain()) {
                    self.plain_vector(decoded, constants, kernel, extra);
                } else {
                    self.modified_vector(decoded, constants, kernel, soft, extra);
                }
                Ok(Flow::Next)
            }
            Run::Pair => {
                // Waves of 64 lanes skip dual-issue words.
                match &decoded.pair {
                    Some(pair) if self.lanes == 32 => self.dual(pair, constants),
                    _ => {}
                }
                Ok(Flow::Next)
            }
            Run::Convert(convert) => {
                self.convert(decoded, constants, convert);
                Ok(Flow::Next)
            }
            Run::Scalar(scalar) => {
                let sources = decoded.sources.map_with(&decoded.counts, |source, count| self.scalar(source, count));
                let old = match decoded.dst {
                    Dst::Scalar(first, count) => self.scalar(Src::Scalar(first), count),
                    _ => 0,
                };
                let exec = self.pair(slot::EXEC);
                let out = (scalar.run)(&Scalars { sources, old, scc: self.scc, exec, mode: self.mode });
                if let (Some(value), Dst::Scalar(first, count)) = (out.value, decoded.dst) {
                    self.set_scalar(first, count, value);
                }
                if let Some(scc) = out.scc {
                    self.scc = scc;
                }
                match (out.exec, decoded.exec_out) {
                    (Some(exec), Some(64)) => self.set_pair(slot::EXEC, exec),
                    (Some(exec), _) => self.set_scalar(slot::EXEC, 1, exec),
                    _ => {}
                }
                Ok(Flow::Next)
            }
            Run::Branch(condition) => Ok(if condition(self) { Flow::Jump(decoded.target) } else { Flow::Next }),
            Run::Control(control) => control(self, decoded),
            Run::Memory => {
                if let Some(access) = &decoded.access {
                    access.run(self, env)?;
                }
                Ok(Flow::Next)
            }
            Run::Group(group) => group(self, decoded, env),
            Run::Matrix => {
                if let Some(job) = &decoded.matrix {
                    job.run(self);
                }
                Ok(Flow::Next)
            }
        }
    }

    /// Both halves of a dual-issue word.
    fn dual(&mut self, pair: &Pair, constants: &Constants) {
        match pair.order {
            Order::XFirst => {
                self.half(&pair.x, constants);
                self.half(&pair.y, constants);
            }
            Order::YFirst => {
                self.half(&pair.y, constants);
                self.half(&pair.x, constants);
            }
            Order::Restore(first, count) => {
                let registers = usize::from(first)..usize::from(first) + usize::from(count);
                let mut rows = [[0; 64]; 4];
                let rows = &mut rows[..usize::from(count)];
                rows.copy_from_slice(&self.vgprs[registers.clone()]);
                self.half(&pair.x, constants);
                self.vgprs[registers.clone()].swap_with_slice(rows);
                self.half(&pair.y, constants);
                self.vgprs[registers].swap_with_slice(rows);
            }
        }
    }

    #[inline]
    fn half(&mut self, decoded: &Decoded, constants: &Constants) {
        if let Run::Vector { kernel, soft, extra } = decoded.run {
            if decoded.plain && (!decoded.floats || self.mode.is_plain()) {
                self.plain_vector(decoded, constants, kernel, extra);
            } else {
                self.modified_vector(decoded, constants, kernel, soft, extra);
            }
        }
    }

    /// A scalar source of one register or two.
    #[inline]
    pub(crate) fn scalar(&self, source: Src, count: u8) -> u64 {
        match source {
            Src::Scalar(first) if count == 2 => self.pair(first),
            Src::Scalar(first) => u64::from(self.scalars[usize::from(first)]),
            Src::Constant(bits, _) => bits,
            Src::Scc => u64::from(self.scc),
            Src::Vccz => u64::from(self.vcc() == 0),
            Src::Execz => u64::from(self.exec() == 0),
            Src::None | Src::Vector(_) => 0,
        }
    }

    #[inline]
    pub(crate) fn set_scalar(&mut self, first: u8, count: u8, value: u64) {
        if count == 2 {
            self.set_pair(first, value);
        } else {
            self.scalars[usize::from(first)] = value as u32;
        }
    }

    /// Writes the active lanes of a vector register.
    pub(crate) fn write_lanes(&mut self, register: usize, values: &Vector) {
        let exec = self.exec();
        blend(&mut self.vgprs[register], values, exec);
    }

    /// Writes some lanes of a vector register.
    pub(crate) fn write_some(&mut self, register: usize, values: &Vector, lanes: u64) {
        if let Some(row) = self.vgprs.get_mut(register) {
            blend(row, values, lanes);
        }
    }

    /// The registers of a source: in place, or spread over the lanes of `room`.
    #[inline(always)]
    fn fetch<'a>(
        scalars: &[u32; slot::COUNT],
        vgprs: &'a [Vector],
        constants: &'a Constants,
        room: &'a mut [Vector; 4],
        source: Src,
        count: u8,
        special: [bool; 3],
    ) -> &'a [Vector] {
        let count = usize::from(count);
        match source {
            Src::Vector(first) => &vgprs[usize::from(first)..][..count],
            Src::Constant(_, at) => &constants[at as usize],
            Src::Scalar(first) => {
                for (row, value) in room.iter_mut().zip(&scalars[usize::from(first)..][..count]) {
                    *row = [*value; 64];
                }
                &*room
            }
            Src::Scc => Wave::flag(room, special[0]),
            Src::Vccz => Wave::flag(room, special[1]),
            Src::Execz => Wave::flag(room, special[2]),
            Src::None => &*room,
        }
    }

    #[cold]
    fn flag(room: &mut [Vector; 4], value: bool) -> &[Vector] {
        room[0] = [u32::from(value); 64];
        room[1] = [0; 64];
        room
    }

    #[inline(always)]
    fn kernel_state(&mut self, decoded: &Decoded, extra: u32) -> u64 {
        let exec = self.exec();
        self.io.exec = exec;
        self.io.mode = self.mode;
        self.io.extra = extra;
        self.io.mask_in = decoded.mask_in.map_or(0, |slot| self.mask(slot));
        exec
    }

    /// The path of most instructions: nothing between fetch, kernel and write.
    #[inline(always)]
    fn plain_vector(&mut self, decoded: &Decoded, constants: &Constants, kernel: Picked, extra: u32) {
        let exec = self.kernel_state(decoded, extra);
        if decoded.spreads {
            self.spread(decoded);
        }
        let Wave { vgprs, scratch, io, .. } = self;
        let [a, b, c] = &decoded.rows;
        if decoded.registers {
            kernel.run(a.of(vgprs), b.of(vgprs), c.of(vgprs), io);
        } else {
            let files = [&**vgprs, constants.as_flattened(), scratch.as_flattened()];
            let file = |rows: &Rows| rows.of(files[usize::from(rows.file)]);
            kernel.run(file(a), file(b), file(c), io);
        }
        match decoded.dst {
            Dst::Vector(first, 1) => blend(&mut vgprs[usize::from(first)], &io.out[0], exec),
            Dst::Vector(first, count) => {
                for (dst, from) in vgprs[usize::from(first)..].iter_mut().zip(&io.out[..usize::from(count)]) {
                    blend(dst, from, exec);
                }
            }
            _ => {}
        }
        if decoded.mask_out.is_some() || decoded.exec_out.is_some() {
            self.write_masks(decoded, exec);
        }
    }

    /// Spreads the scalar sources over the lanes of the rows that stand for them.
    #[inline(never)]
    fn spread(&mut self, decoded: &Decoded) {
        let special = self.special(decoded);
        for at in 0..3 {
            let (source, count) = (decoded.sources[at], decoded.counts[at]);
            if !matches!(source, Src::Vector(_) | Src::Constant(..)) {
                let Wave { scalars, vgprs, scratch, .. } = self;
                Wave::fetch(scalars, vgprs, &Vec::new(), &mut scratch[at], source, count, special);
            }
        }
    }

    #[inline(always)]
    fn special(&self, decoded: &Decoded) -> [bool; 3] {
        let flags = decoded.sources.iter().any(|source| matches!(source, Src::Scc | Src::Vccz | Src::Execz));
        if flags { [self.scc, self.vcc() == 0, self.exec() == 0] } else { [false; 3] }
    }

    /// Masks have 0 for lanes that are off.
    #[inline(always)]
    fn write_masks(&mut self, decoded: &Decoded, active: u64) {
        if let Some(slot) = decoded.mask_out {
            self.set_mask(slot, self.io.mask_out & active);
        }
        if decoded.exec_out.is_some() {
            self.set_exec(self.io.mask_out & active);
        }
    }

    #[inline(never)]
    fn modified_vector(
        &mut self,
        decoded: &Decoded,
        constants: &Constants,
        kernel: Picked,
        soft: Option<Kernel<Base>>,
        extra: u32,
    ) {
        let exec = self.kernel_state(decoded, extra);
        let special = self.special(decoded);
        let facts = execution(self.generation);
        let modifiers = &decoded.modifiers;
        let mode = self.mode;
        let lanes = self.lanes as usize;
        let mut active = exec;
        for at in 0..3 {
            let (source, count, ty) = (decoded.sources[at], decoded.counts[at], decoded.types[at]);
            if source == Src::None {
                continue;
            }
            let Wave { scalars, vgprs, scratch, .. } = self;
            let mut room = [[0; 64]; 4];
            let rows = Wave::fetch(scalars, vgprs, constants, &mut room, source, count, special);
            let rows = &rows[..usize::from(count)];
            let into = &mut scratch[at][..usize::from(count)];
            into.copy_from_slice(rows);
            if at == 0 {
                active &= permute(into, modifiers.permute, exec, lanes);
            }
            modify(into, at, ty, modifiers);
            if let Some((format, denorm)) = denorm(ty, mode, decoded.traits.denormals, facts.dot2)
                && denorm.flush_in
            {
                each_part(into, ty, |bits| flush(format, bits));
            }
        }
        {
            let Wave { scratch, io, .. } = self;
            let [a, b, c] = &**scratch;
            let exact = match decoded.dst_ty {
                Ty::F32 | Ty::PkF32 => mode.round_f32(),
                _ => mode.round_f16_f64(),
            };
            match soft {
                Some(soft) if exact != Round::NearestEven => soft(Base, a, b, c, io),
                _ => kernel.run(a, b, c, io),
            }
        }
        self.finish(decoded, facts, mode);
        let Wave { vgprs, io, .. } = self;
        if let Dst::Vector(first, count) = decoded.dst {
            let dst = &mut vgprs[usize::from(first)..][..usize::from(count)];
            if let Some(sdwa) = modifiers.sdwa {
                insert(&mut io.out[0], &dst[0], sdwa.dst_sel(), sdwa.dst_unused());
            } else if decoded.dst_ty == Ty::U8 {
                insert(&mut io.out[0], &dst[0], modifiers.op_sel >> 2 & 3, 2);
            } else if decoded.dst_ty.bits() == 16 {
                let clears = facts.clears_high && !decoded.traits.keeps_high && modifiers.op_sel & 8 == 0;
                merge_half(&mut io.out[0], &dst[0], modifiers.op_sel & 8 != 0, clears);
            }
            for (dst, from) in dst.iter_mut().zip(&io.out) {
                blend(dst, from, active);
            }
        }
        if let Dst::Scalar(first, _) = decoded.dst {
            let value = io.out[0][0];
            self.set_scalar(first, 1, u64::from(value));
        }
        self.write_masks(decoded, active);
    }

    /// A conversion of more numbers a lane than vector kernels take.
    #[inline(never)]
    fn convert(&mut self, decoded: &Decoded, constants: &Constants, convert: Convert) {
        let exec = self.exec();
        let special = self.special(decoded);
        let mut out = [[0; 64]; 32];
        let mut rooms = [[[0; 64]; 4]; 3];
        let mut at = 0..;
        let [a, b, c] = rooms.each_mut().map(|room| {
            let at = at.next().unwrap_or_default();
            let (source, count) = (decoded.sources[at], decoded.counts[at]);
            Wave::fetch(&self.scalars, &self.vgprs, constants, room, source, count, special)
        });
        let (numbers, sides) = match convert.source_registers(1) {
            Some(_) => ([a, b], [&c[0], &c[0]]),
            None => ([a, a], [&b[0], &c[0]]),
        };
        let op_sel = decoded.modifiers.op_sel;
        sem::small::wide(convert, numbers, sides, op_sel, self.mode, &mut out, self.lanes as usize);
        if let Dst::Vector(first, count) = decoded.dst {
            let dst = &mut self.vgprs[usize::from(first)..][..usize::from(count)];
            for (dst, from) in dst.iter_mut().zip(&out) {
                blend(dst, from, exec);
            }
        }
    }

    /// Output modifier, clamp and flush of the results.
    fn finish(&mut self, decoded: &Decoded, facts: Execution, mode: Mode) {
        let ty = decoded.dst_ty;
        let Some((format, denorm)) = denorm(ty, mode, decoded.traits.denormals, facts.dot2) else { return };
        let modifiers = &decoded.modifiers;
        let round = if format == F32_FORMAT { mode.round_f32() } else { mode.round_f16_f64() };
        let scales = modifiers.omod != 0 && !ty.is_packed() && (facts.modeless || (!mode.ieee() && denorm.flush_out));
        let rows = &mut self.io.out[..ty.bits().div_ceil(32) as usize];
        if scales {
            let by = [0, 1, 2, -1][usize::from(modifiers.omod & 3)];
            each_part(rows, ty, |bits| {
                let scaled = flush(format, format.scale(bits, by, round));
                if format.is_zero(scaled) { 0 } else { scaled }
            });
        }
        if modifiers.clamp {
            let nan_to_zero = facts.modeless || mode.dx10_clamp();
            each_part(rows, ty, |bits| {
                if format.is_nan(bits) {
                    return if nan_to_zero { 0 } else { bits };
                }
                if format.is_negative(bits) { 0 } else { bits.min(format.one()) }
            });
        }
        if denorm.flush_out {
            each_part(rows, ty, |bits| flush(format, bits));
        }
    }
}

/// `map` with the elements of another array.
trait MapWith<T, const N: usize> {
    fn map_with<U: Copy, R>(self, other: &[U; N], f: impl FnMut(T, U) -> R) -> [R; N];
}

impl<T: Copy, const N: usize> MapWith<T, N> for [T; N] {
    #[inline(always)]
    fn map_with<U: Copy, R>(self, other: &[U; N], mut f: impl FnMut(T, U) -> R) -> [R; N] {
        core::array::from_fn(|at| f(self[at], other[at]))
    }
}

/// Format of a type's floats and what becomes of their denormals; none for integers.
fn denorm(ty: Ty, mode: Mode, denormals: Denormals, dot2: Dot2) -> Option<(Format, Denorm)> {
    const FLUSH: Denorm = Denorm { flush_in: true, flush_out: true };
    const KEEP: Denorm = Denorm { flush_in: false, flush_out: false };
    let format = match ty {
        Ty::F32 | Ty::PkF32 | Ty::MixF16 | Ty::MixBf16 => F32_FORMAT,
        Ty::F16 | Ty::PkF16 => F16_FORMAT,
        Ty::Bf16 | Ty::PkBf16 => BF16_FORMAT,
        Ty::F64 => F64_FORMAT,
        _ => return None,
    };
    let by_mode = if format == F32_FORMAT { mode.denorm_f32() } else { mode.denorm_f16_f64() };
    let denorm = match (denormals, dot2) {
        (Denormals::Flush, _) if format == F32_FORMAT => FLUSH,
        (Denormals::Read, _) => Denorm { flush_in: false, ..by_mode },
        (Denormals::Dot, Dot2::Flush) if ty.is_packed() => FLUSH,
        (Denormals::Dot, Dot2::Keep) => KEEP,
        _ => by_mode,
    };
    Some((format, denorm))
}

fn flush(format: Format, bits: u64) -> u64 {
    if format.is_denormal(bits) { bits & format.sign() } else { bits }
}

/// Changes each float (or part of a packed one) of some rows.
fn each_part(rows: &mut [Vector], ty: Ty, f: impl Fn(u64) -> u64) {
    match (ty, rows) {
        (Ty::F64 | Ty::B64, [low, high, ..]) => {
            for (low, high) in low.iter_mut().zip(high) {
                let bits = f(u64::from(*high) << 32 | u64::from(*low));
                (*low, *high) = (bits as u32, (bits >> 32) as u32);
            }
        }
        (Ty::PkF16 | Ty::PkBf16, [row, ..]) => {
            for bits in row {
                *bits = f(u64::from(*bits & 0xffff)) as u32 | (f(u64::from(*bits >> 16)) as u32) << 16;
            }
        }
        (Ty::F16 | Ty::Bf16 | Ty::B16, [row, ..]) => {
            for bits in row {
                *bits = f(u64::from(*bits & 0xffff)) as u32;
            }
        }
        (_, rows) => {
            for bits in rows.iter_mut().flatten() {
                *bits = f(u64::from(*bits)) as u32;
            }
        }
    }
}

/// Selects parts of a source and changes its sign.
fn modify(rows: &mut [Vector], at: usize, ty: Ty, modifiers: &Modifiers) {
    let bit = |bits: u8| bits >> at & 1 != 0;
    if let Some(sdwa) = modifiers.sdwa {
        let select = match at {
            0 => Some((sdwa.src0_sel(), sdwa.sext() & 1 != 0)),
            1 => Some((sdwa.src1_sel(), sdwa.sext() & 2 != 0)),
            _ => None,
        };
        if let Some((select, extend)) = select {
            for bits in rows.iter_mut().flatten() {
                *bits = extract(*bits, select, extend);
            }
        }
    }
    match ty {
        Ty::MixF16 | Ty::MixBf16 => {
            let format = if ty == Ty::MixF16 { F16_FORMAT } else { BF16_FORMAT };
            let (half, shift) = (bit(modifiers.op_sel_hi), 16 * u32::from(bit(modifiers.op_sel)));
            let clear = if bit(modifiers.neg_hi) { 1 << 31 } else { 0 };
            let flip = if bit(modifiers.neg) { 1 << 31 } else { 0 };
            for bits in &mut rows[0] {
                if half {
                    let part = u64::from(*bits >> shift & 0xffff);
                    *bits = format.convert(part, F32_FORMAT, Round::NearestEven) as u32;
                }
                *bits = *bits & !clear ^ flip;
            }
            return;
        }
        Ty::U8 => {
            let shift = 8 * u32::from(modifiers.op_sel & 3);
            for bits in &mut rows[0] {
                *bits >>= shift;
            }
            return;
        }
        Ty::Halves => {
            let clear = if bit(modifiers.abs) { 0x8000_8000 } else { 0 };
            let flip = if bit(modifiers.neg) { 0x8000_8000 } else { 0 };
            for bits in &mut rows[0] {
                *bits = *bits & !clear ^ flip;
            }
            return;
        }
        Ty::Pk16 | Ty::PkF16 | Ty::PkBf16 => {
            let (low, high) = (16 * u32::from(bit(modifiers.op_sel)), 16 * u32::from(bit(modifiers.op_sel_hi)));
            let sign = u32::from(ty != Ty::Pk16) << 15;
            let flip = if bit(modifiers.neg) { sign } else { 0 } | if bit(modifiers.neg_hi) { sign << 16 } else { 0 };
            for bits in &mut rows[0] {
                *bits = ((*bits >> low & 0xffff) | (*bits >> high & 0xffff) << 16) ^ flip;
            }
            return;
        }
        Ty::PkF32 | Ty::Pk32 => {
            let [low, high] = rows else { return };
            let sign = u32::from(ty == Ty::PkF32) << 31;
            let flip = |bits: u8| if bit(bits) { sign } else { 0 };
            for (low, high) in low.iter_mut().zip(high) {
                let pair = [*low, *high];
                *low = pair[usize::from(bit(modifiers.op_sel))] ^ flip(modifiers.neg);
                *high = pair[usize::from(bit(modifiers.op_sel_hi))] ^ flip(modifiers.neg_hi);
            }
            return;
        }
        _ => {}
    }
    if ty.bits() == 16 && bit(modifiers.op_sel) {
        for bits in &mut rows[0] {
            *bits >>= 16;
        }
    }
    if ty.takes_sign() && (bit(modifiers.abs) || bit(modifiers.neg)) {
        let sign = 1u64 << (ty.bits() - 1);
        let (clear, flip) = (if bit(modifiers.abs) { sign } else { 0 }, if bit(modifiers.neg) { sign } else { 0 });
        each_part(rows, ty, |bits| bits & !clear ^ flip);
    }
}

/// Part of a dword by an SDWA selector.
fn extract(bits: u32, select: u8, extend: bool) -> u32 {
    match (select, extend) {
        (0..=3, false) => bits >> (8 * u32::from(select)) & 0xff,
        (0..=3, true) => (bits >> (8 * u32::from(select))) as u8 as i8 as u32,
        (4 | 5, false) => bits >> (16 * u32::from(select - 4)) & 0xffff,
        (4 | 5, true) => (bits >> (16 * u32::from(select - 4))) as u16 as i16 as u32,
        _ => bits,
    }
}

/// Puts results into the part of the old values that an SDWA selector names.
fn insert(results: &mut Vector, old: &Vector, select: u8, unused: u8) {
    let (shift, width) = match select {
        0..=3 => (8 * u32::from(select), 8),
        4 | 5 => (16 * u32::from(select - 4), 16),
        _ => return,
    };
    let mask = ((1u32 << width) - 1) << shift;
    for (bits, old) in results.iter_mut().zip(old) {
        let placed = *bits << shift & mask;
        let extended = match unused {
            // Sign bits above, zeros below.
            1 => ((*bits << (32 - width)) as i32 >> (32 - width)) as u32 & !((1u32 << width) - 1),
            _ => 0,
        };
        *bits = match unused {
            2 => old & !mask | placed,
            1 => placed | extended << shift,
            _ => placed,
        };
    }
}

/// Puts 16-bit results into one half of the register.
fn merge_half(results: &mut Vector, old: &Vector, high: bool, clears: bool) {
    for (bits, old) in results.iter_mut().zip(old) {
        *bits = match (high, clears) {
            (true, _) => old & 0xffff | *bits << 16,
            (false, true) => *bits & 0xffff,
            (false, false) => old & 0xffff_0000 | *bits & 0xffff,
        };
    }
}

/// Moves the lanes of source 0; gives the lanes that are still written.
fn permute(rows: &mut [Vector], permute: Permute, exec: u64, lanes: usize) -> u64 {
    let mut active = u64::MAX;
    match permute {
        Permute::None => {}
        Permute::Dpp8(dpp) => {
            let selectors = dpp.lanes();
            let from = |lane: usize| lane & !7 | usize::from(selectors[lane & 7]);
            let fetch_inactive = dpp.fetch_inactive();
            for row in rows {
                let old = *row;
                for (lane, value) in row.iter_mut().take(lanes).enumerate() {
                    let from = from(lane);
                    *value = if fetch_inactive || exec >> from & 1 != 0 { old[from] } else { 0 };
                }
            }
        }
        Permute::Dpp16(dpp) => {
            for lane in 0..lanes {
                let source = dpp_lane(dpp, lane, lanes);
                let valid = source.filter(|&from| dpp.fetch_inactive() || exec >> from & 1 != 0);
                let masked = dpp.row_mask() >> (lane / 16) & 1 == 0 || dpp.bank_mask() >> (lane / 4 % 4) & 1 == 0;
                if masked || (valid.is_none() && !dpp.bound_ctrl()) {
                    active &= !(1 << lane);
                }
            }
            for row in rows {
                let old = *row;
                for (lane, value) in row.iter_mut().take(lanes).enumerate() {
                    let source = dpp_lane(dpp, lane, lanes);
                    let valid = source.filter(|&from| dpp.fetch_inactive() || exec >> from & 1 != 0);
                    *value = valid.map_or(0, |from| old[from]);
                }
            }
        }
    }
    active
}

/// The lane that a lane reads; none where it lies outside.
fn dpp_lane(dpp: Dpp16, lane: usize, lanes: usize) -> Option<usize> {
    let ctrl = usize::from(dpp.ctrl());
    let (row, at) = (lane & !15, lane & 15);
    let by = ctrl & 15;
    match ctrl {
        0x000..=0x0ff => Some(lane & !3 | (ctrl >> (2 * (lane & 3)) & 3)),
        0x101..=0x10f => (at + by < 16).then(|| row + at + by),
        0x111..=0x11f => at.checked_sub(by).map(|at| row + at),
        0x121..=0x12f => Some(row + (at + 16 - by) % 16),
        0x130 => (lane + 1 < lanes).then(|| lane + 1),
        0x134 => Some((lane + 1) % lanes),
        0x138 => lane.checked_sub(1),
        0x13c => Some((lane + lanes - 1) % lanes),
        0x140 => Some(row + 15 - at),
        0x141 => Some(lane & !7 | (7 - (lane & 7))),
        0x142 => row.checked_sub(1),
        0x143 => (lane >= 32).then_some(31),
        0x150..=0x15f => Some(row + by),
        0x160..=0x16f => Some(row + (at ^ by)),
        _ => None,
    }
}
