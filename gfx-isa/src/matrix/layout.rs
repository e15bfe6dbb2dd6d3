//! Where elements are. Every size but the width of an element is a power of two, and each bit of an element's row,
//! column and block is a bit of the lane's number or of the item's number within the lane.

/// Where a bit of an index goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum To {
    /// A bit of the lane's number.
    Lane(u8),
    /// A bit of the number of the item within the lane.
    Item(u8),
}

const MOST: usize = 8;

/// Where the bits of an index go, the lowest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Axis {
    to: [To; MOST],
    bits: u8,
}

impl Axis {
    pub(super) const NONE: Axis = Axis { to: [To::Item(0); MOST], bits: 0 };

    pub(super) const fn push(mut self, to: To) -> Axis {
        self.to[self.bits as usize] = to;
        self.bits += 1;
        self
    }

    const fn size(&self) -> u32 {
        1 << self.bits
    }

    /// How many items of a lane it numbers.
    const fn items(&self) -> u32 {
        let mut items = 1;
        let mut at = 0;
        while at < self.bits as usize {
            if matches!(self.to[at], To::Item(_)) {
                items *= 2;
            }
            at += 1;
        }
        items
    }

    /// Lane and item.
    fn place(&self, index: u32) -> (u32, u32) {
        let (mut lane, mut item) = (0, 0);
        for (at, to) in self.to[..usize::from(self.bits)].iter().enumerate() {
            let bit = index >> at & 1;
            match *to {
                To::Lane(place) => lane |= bit << place,
                To::Item(place) => item |= bit << place,
            }
        }
        (lane, item)
    }
}

/// Where an element is: bits of consecutive registers of a lane.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Place {
    /// The lane, or the first of those that hold a copy.
    pub lane: u32,
    /// The register, counted from the operand's first.
    pub register: u32,
    /// The lowest bit in the register. An element of 6 bits may go on in the next register; one of 64 does.
    pub bit: u32,
    /// Number of bits.
    pub bits: u32,
}

/// The places of a matrix's elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Layout {
    pub(super) row: Axis,
    pub(super) column: Axis,
    pub(super) block: Axis,
    /// Bits of an element, and from one item to the next.
    pub(super) bits: u8,
    pub(super) stride: u8,
    /// Lanes, 16 apart, that hold the same.
    pub(super) copies: u8,
    /// Alternatives that a modifier chooses from, and how far apart they are.
    pub(super) sets: u8,
    pub(super) set_bits: u8,
    pub(super) set_lanes: u8,
    /// The alternative chosen.
    pub(super) set: u8,
}

impl Layout {
    pub(super) const fn new(row: Axis, column: Axis, block: Axis, bits: u32) -> Layout {
        Layout {
            row,
            column,
            block,
            bits: bits as u8,
            stride: bits as u8,
            copies: 1,
            sets: 1,
            set_bits: 0,
            set_lanes: 0,
            set: 0,
        }
    }

    /// Rows of each block.
    pub const fn rows(&self) -> u32 {
        self.row.size()
    }

    /// Columns of each block.
    pub const fn columns(&self) -> u32 {
        self.column.size()
    }

    /// Independent matrices of this shape.
    pub const fn blocks(&self) -> u32 {
        self.block.size()
    }

    /// Bits of an element.
    pub const fn bits(&self) -> u32 {
        self.bits as u32
    }

    /// Lanes that hold the same element, 16 apart.
    pub const fn copies(&self) -> u32 {
        self.copies as u32
    }

    /// How many places there are for the whole matrix, of which a modifier selects one: the halves of registers of 16-bit
    /// results (OP_SEL), the sets of a sparse index (ABID, index_key), bytes or lanes of scales (OP_SEL, matrix_a_scale).
    pub const fn sets(&self) -> u32 {
        self.sets as u32
    }

    /// The layout in the place that a modifier selects; numbers beyond the last wrap around.
    pub const fn with_set(mut self, set: u32) -> Layout {
        self.set = (set % self.sets as u32) as u8;
        self
    }

    /// Registers that the matrix takes; of one with alternatives, those of the first.
    pub const fn registers(&self) -> u32 {
        (self.items() * self.stride as u32).div_ceil(32)
    }

    /// Elements that a lane holds.
    pub(super) const fn items(&self) -> u32 {
        self.row.items() * self.column.items() * self.block.items()
    }

    /// The place of an element; none where the matrix has no such element.
    pub fn place(&self, block: u32, row: u32, column: u32) -> Option<Place> {
        if block >= self.blocks() || row >= self.rows() || column >= self.columns() {
            return None;
        }
        let parts = [self.block.place(block), self.row.place(row), self.column.place(column)];
        let (lane, item) = parts.iter().fold((0, 0), |(lane, item), part| (lane | part.0, item | part.1));
        let bit = item * u32::from(self.stride) + u32::from(self.set) * u32::from(self.set_bits);
        Some(Place {
            lane: lane + u32::from(self.set) * u32::from(self.set_lanes),
            register: bit / 32,
            bit: bit % 32,
            bits: self.bits(),
        })
    }

    /// Every element: block, row, column and place, in this order.
    pub fn elements(&self) -> impl Iterator<Item = (u32, u32, u32, Place)> + '_ {
        (0..self.blocks() * self.rows() * self.columns()).filter_map(|at| {
            let (row, column) = (at / self.columns() % self.rows(), at % self.columns());
            let block = at / self.columns() / self.rows();
            Some((block, row, column, self.place(block, row, column)?))
        })
    }
}
