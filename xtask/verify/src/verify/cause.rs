//! Which field of a word makes LLVM refuse it.

use gfx_isa::{EncodingRef, Generation, Inst};

use super::shrink::Word;

/// A field that is not as plain as can be.
pub(super) struct Suspect {
    pub(super) name: &'static str,
    /// The word with a plain value there: 0, and of sources the first vector register.
    pub(super) plain: Vec<Word>,
    /// The same with all suspects before it.
    pub(super) all_before: Word,
}

/// The fields of an instruction's form that hold something.
pub(super) fn suspects(generation: Generation, inst: &Inst, word: &Word) -> Vec<Suspect> {
    let Some(base) = generation.encoding(inst.encoding()) else { return Vec::new() };
    let form: EncodingRef = base.variants().find(|variant| variant.form() == inst.form()).unwrap_or(base);
    let mut opcode = 0;
    for op in [Some(inst.op()), inst.op_y()].into_iter().flatten() {
        let infos = generation.instructions_of(op).filter(|info| info.encoding().base() == base.base());
        opcode = infos.fold(opcode, |mask, info| mask | info.mask_in(form));
    }
    let low = u128::from_le_bytes(word[..16].try_into().unwrap_or_default());
    let with = |value: u128| {
        let mut word = *word;
        word[..16].copy_from_slice(&value.to_le_bytes());
        word
    };
    let mut before = low;
    let mut found = Vec::new();
    for field in form.fields() {
        let (mut mask, mut places) = (0, Vec::new());
        for range in field.ranges() {
            mask |= ((1u128 << range.count.min(127)) - 1) << range.offset.min(127);
            places.push(range);
        }
        if mask & opcode != 0 || low & mask == 0 {
            continue;
        }
        let mut plain = vec![with(low & !mask)];
        let source = field.bits() == 9 && places.len() == 1;
        let vgpr = source.then(|| 256u128 << places[0].offset.min(120));
        plain.extend(vgpr.map(|vgpr| with(low & !mask | vgpr)));
        // A source that was a vector register stays one.
        before = before & !mask | vgpr.filter(|vgpr| low & vgpr != 0).unwrap_or(0);
        found.push(Suspect { name: field.name(), plain, all_before: with(before) });
    }
    found
}
