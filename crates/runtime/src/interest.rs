//! Interest in a descriptor's readiness: a set of two bits.

use std::ops::{BitAnd, BitOr, BitOrAssign, Not};

/// A set of directions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Interest(u8);

/// A direction in which bytes move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    Read,
    Write,
}

impl Interest {
    pub const NONE: Interest = Interest(0);
    pub const READ: Interest = Interest(1);
    pub const WRITE: Interest = Interest(2);
    pub const BOTH: Interest = Interest(3);

    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    pub fn reads(self) -> bool {
        self.0 & 1 != 0
    }

    pub fn writes(self) -> bool {
        self.0 & 2 != 0
    }

    /// Whether everything in `other` is in `self`.
    pub fn contains(self, other: Interest) -> bool {
        self.0 & other.0 == other.0
    }

    pub(crate) fn of(read: bool, write: bool) -> Interest {
        Interest(u8::from(read) | u8::from(write) << 1)
    }
}

impl From<Direction> for Interest {
    fn from(direction: Direction) -> Interest {
        match direction {
            Direction::Read => Interest::READ,
            Direction::Write => Interest::WRITE,
        }
    }
}

impl BitOr for Interest {
    type Output = Interest;
    fn bitor(self, other: Interest) -> Interest {
        Interest(self.0 | other.0)
    }
}

impl BitOrAssign for Interest {
    fn bitor_assign(&mut self, other: Interest) {
        self.0 |= other.0;
    }
}

impl BitAnd for Interest {
    type Output = Interest;
    fn bitand(self, other: Interest) -> Interest {
        Interest(self.0 & other.0)
    }
}

impl Not for Interest {
    type Output = Interest;
    fn not(self) -> Interest {
        Interest(!self.0 & 3)
    }
}
