//! Instructions one after the other, with labels.

use std::vec::Vec;

use super::InstBuilder;
use crate::Generation;
use crate::asm::ErrorKind;

/// A place in a [`CodeBuffer`], known or not yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Label(u32);

/// Collects instructions of one generation and fills in where branches go.
///
/// ```
/// # #[cfg(feature = "rdna4")] {
/// use gfx_isa::encode::{CodeBuffer, s};
/// use gfx_isa::{Generation, rdna4};
///
/// let mut code = CodeBuffer::new(Generation::Rdna4);
/// let (again, end) = (code.label(), code.label());
/// code.bind(again)?;
/// code.push(rdna4::s_cmp_eq_u32(s(0), 0))?;
/// code.push(rdna4::s_cbranch_scc1(end))?;
/// code.push(rdna4::s_add_co_i32(s(0), s(0), -1))?;
/// code.push(rdna4::s_branch(again))?;
/// code.bind(end)?;
/// code.push(rdna4::s_endpgm())?;
/// let bytes = code.finish()?;
/// assert_eq!(bytes.len(), 5 * 4);
/// assert_eq!(bytes[4..8], [0x02, 0x00, 0xa2, 0xbf]);
/// # }
/// # Ok::<(), gfx_isa::asm::ErrorKind>(())
/// ```
#[derive(Debug, Clone)]
pub struct CodeBuffer {
    generation: Generation,
    lanes: u32,
    code: Vec<u8>,
    /// Where each label is.
    labels: Vec<Option<usize>>,
    branches: Vec<Branch>,
}

/// A branch to be filled in.
#[derive(Debug, Clone, Copy)]
struct Branch {
    /// Offset of its 16 bits.
    at: usize,
    /// Offset of the next instruction.
    next: usize,
    label: Label,
}

impl CodeBuffer {
    /// An empty buffer for the generation's usual wave size.
    pub fn new(generation: Generation) -> CodeBuffer {
        CodeBuffer {
            generation,
            lanes: generation.wave_sizes()[0],
            code: Vec::new(),
            labels: Vec::new(),
            branches: Vec::new(),
        }
    }

    /// For waves of 32 or 64 lanes; a size that the generation does not have changes nothing.
    #[must_use]
    pub fn wave_size(mut self, lanes: u32) -> CodeBuffer {
        if self.generation.wave_sizes().contains(&lanes) {
            self.lanes = lanes;
        }
        self
    }

    /// Bytes so far: the offset of the next instruction.
    pub fn offset(&self) -> usize {
        self.code.len()
    }

    /// A label without a place.
    #[must_use]
    pub fn label(&mut self) -> Label {
        self.labels.push(None);
        Label(self.labels.len() as u32 - 1)
    }

    /// A label at the next instruction.
    #[must_use]
    pub fn here(&mut self) -> Label {
        self.labels.push(Some(self.code.len()));
        Label(self.labels.len() as u32 - 1)
    }

    /// Puts a label at the next instruction.
    ///
    /// # Errors
    /// Where it has a place already, or is another buffer's.
    pub fn bind(&mut self, label: Label) -> Result<(), ErrorKind> {
        match self.labels.get_mut(label.0 as usize) {
            Some(place @ None) => {
                *place = Some(self.code.len());
                Ok(())
            }
            Some(Some(_)) => Err(ErrorKind::Rule("the label has a place already".into())),
            None => Err(ErrorKind::Rule("the label is another buffer's".into())),
        }
    }

    /// Appends an instruction; gives its offset.
    ///
    /// # Errors
    /// As [`InstBuilder::build`], or where the label is another buffer's. Nothing is appended then.
    pub fn push(&mut self, builder: InstBuilder) -> Result<usize, ErrorKind> {
        let at = self.code.len();
        let (inst, label) = builder.append(self.generation, Some(self.lanes), &mut self.code)?;
        if let Some(label) = label {
            if label.0 as usize >= self.labels.len() {
                self.code.truncate(at);
                return Err(ErrorKind::Rule("the label is another buffer's".into()));
            }
            self.branches.push(Branch { at, next: at + inst.len(), label });
        }
        Ok(at)
    }

    /// Appends a dword of data.
    pub fn dword(&mut self, value: u32) {
        self.code.extend_from_slice(&value.to_le_bytes());
    }

    /// The machine code with all branches filled in.
    ///
    /// # Errors
    /// Where a branch goes to a label without a place, or farther than its 16 bits reach.
    pub fn finish(mut self) -> Result<Vec<u8>, ErrorKind> {
        for &Branch { at, next, label } in &self.branches {
            let target = self.labels[label.0 as usize]
                .ok_or_else(|| ErrorKind::Rule(std::format!("offset {at:#x}: the label has no place").into()))?;
            let dwords = (target as i64 - next as i64) / 4;
            let dwords = i16::try_from(dwords).map_err(|_| {
                ErrorKind::Rule(std::format!("offset {at:#x}: the branch's target is too far away").into())
            })?;
            self.code[at..at + 2].copy_from_slice(&dwords.to_le_bytes());
        }
        Ok(self.code)
    }
}
