//! Where the data of a transfer comes from, and where it goes.

use std::any::Any;
use std::fs::File;

use bytes::Bytes;

/// The data to upload.
#[derive(Default)]
pub enum Upload {
    /// Nothing, or the data that the options contain.
    #[default]
    Nothing,
    /// These pieces, one after the other. They are sent again where the exchange requires it.
    Memory(Vec<Bytes>),
    /// Data passed to [`Transfers::feed`](super::Transfers::feed) until
    /// [`Transfers::end_upload`](super::Transfers::end_upload).
    Fed,
}

/// The destination of a body.
#[derive(Default)]
pub enum Sink {
    /// A buffer, emptied by [`Transfers::take_body`](super::Transfers::take_body).
    #[default]
    Memory,
    /// A file, written at its current position.
    File(File),
}

/// Memory of the caller for bodies: a body of a known length is received into it directly.
pub trait BodyMemory {
    /// Returns memory for a body of this length; `None` leaves the body in the engine's own buffer.
    fn allocate(&self, length: usize) -> Option<Box<dyn BodyBuffer>>;
}

/// Memory for one body.
pub trait BodyBuffer: Any {
    /// Returns the part from this offset on, or the beginning of that part: where the next bytes go.
    fn room(&mut self, offset: usize) -> &mut [u8];
}

/// A place among the pieces of an upload.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct PiecePosition {
    piece: usize,
    offset: usize,
}

impl PiecePosition {
    /// Copies what follows this place, and moves the place behind it. Returns 0 at the end alone.
    pub(super) fn read(&mut self, pieces: &[Bytes], buffer: &mut [u8]) -> usize {
        let mut filled = 0;
        while let Some(piece) = pieces.get(self.piece) {
            let rest = &piece[self.offset..];
            let count = rest.len().min(buffer.len() - filled);
            buffer[filled..filled + count].copy_from_slice(&rest[..count]);
            filled += count;
            if count < rest.len() {
                self.offset += count;
                break;
            }
            *self = PiecePosition { piece: self.piece + 1, offset: 0 };
        }
        filled
    }

    /// Returns the place that so many bytes are before; `None` is behind the last one.
    pub(super) fn of_offset(pieces: &[Bytes], offset: u64) -> Option<PiecePosition> {
        let mut offset = usize::try_from(offset).ok()?;
        for (piece, bytes) in pieces.iter().enumerate() {
            match offset.checked_sub(bytes.len()) {
                Some(rest) => offset = rest,
                None => return Some(PiecePosition { piece, offset }),
            }
        }
        (offset == 0).then_some(PiecePosition { piece: pieces.len(), offset })
    }
}

/// Length up to which memory for a whole body is allocated when its head arrives.
const AT_ONCE: u64 = 64 * 1024 * 1024;
/// Length from which a body is worth memory of its own.
const WORTH_IT: u64 = 32 * 1024;
/// A longer body has memory of its own once this part of it has arrived.
const PART: u64 = 8;

/// Returns the length of the memory for a body, of which `received` bytes have arrived and `left` are still
/// to come; `None` if it is not allocated yet. A server that announces more than it sends makes the client
/// allocate at most 64 MiB, or eight times the bytes that it has sent.
pub(super) fn allocation(received: usize, left: u64) -> Option<usize> {
    let length = left.checked_add(received as u64)?;
    let is_due = length <= AT_ONCE || received as u64 >= length / PART;
    usize::try_from(length).ok().filter(|_| is_due && length >= WORTH_IT && left > 0)
}

/// The body of a transfer in memory of the caller.
pub(super) struct Placed {
    buffer: Box<dyn BodyBuffer>,
    length: usize,
    filled: usize,
}

impl Placed {
    /// Copies what has arrived into new memory.
    pub(super) fn new(mut buffer: Box<dyn BodyBuffer>, length: usize, arrived: &[u8]) -> Placed {
        let filled = copy(buffer.as_mut(), 0, arrived);
        Placed { buffer, length, filled }
    }

    /// Returns where the next bytes go, if so many fit.
    pub(super) fn room(&mut self, left: u64) -> Option<&mut [u8]> {
        let fits = left <= (self.length - self.filled) as u64;
        fits.then(|| self.buffer.room(self.filled)).filter(|room| !room.is_empty())
    }

    /// Counts bytes that were written to [`room`](Self::room).
    pub(super) fn advance(&mut self, count: usize) {
        self.filled = self.length.min(self.filled + count);
    }

    /// Appends bytes, and returns those that do not fit.
    pub(super) fn append<'a>(&mut self, bytes: &'a [u8]) -> &'a [u8] {
        let (fitting, rest) = bytes.split_at(bytes.len().min(self.length - self.filled));
        self.filled += copy(self.buffer.as_mut(), self.filled, fitting);
        rest
    }

    /// Returns how many bytes have arrived.
    pub(super) fn filled(&self) -> usize {
        self.filled
    }

    /// Returns the memory, and how many bytes of it are the body.
    pub(super) fn into_parts(self) -> (Box<dyn BodyBuffer>, usize) {
        (self.buffer, self.filled)
    }
}

fn copy(to: &mut dyn BodyBuffer, offset: usize, bytes: &[u8]) -> usize {
    let mut done = 0;
    while done < bytes.len() {
        let room = to.room(offset + done);
        let count = room.len().min(bytes.len() - done);
        if count == 0 {
            break;
        }
        room[..count].copy_from_slice(&bytes[done..done + count]);
        done += count;
    }
    done
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: u64 = 1024 * 1024;

    #[test]
    fn memory_is_bounded_by_what_has_arrived() {
        let rows = [
            ("a small body stays in the buffer", 0, 1024, None),
            ("a file", 0, 10 * MIB, Some(10 * MIB)),
            ("the longest that is allocated at once", 0, 64 * MIB, Some(64 * MIB)),
            ("a longer one, at its head", 0, 64 * MIB + 1, None),
            ("a longer one, of which little has arrived", 100 * MIB, 700 * MIB + 8, None),
            ("a longer one, of which an eighth has arrived", 100 * MIB, 700 * MIB, Some(800 * MIB)),
            ("a lie", 0, u64::MAX, None),
            ("a lie after a byte", 1, u64::MAX, None),
            ("a body that is complete", 10 * MIB, 0, None),
        ];
        for (name, received, left, wanted) in rows {
            assert_eq!(allocation(received as usize, left), wanted.map(|n| n as usize), "{name}");
        }
    }

    #[test]
    fn pieces_are_read_as_one_body_from_any_place() {
        let pieces: Vec<Bytes> = ["", "abc", "", "d", "efgh", ""].map(Bytes::from).into();
        let whole = b"abcdefgh";
        for offset in 0..=whole.len() {
            for size in 1..=whole.len() + 1 {
                let mut position = PiecePosition::of_offset(&pieces, offset as u64).unwrap();
                let mut read = Vec::new();
                let mut buffer = vec![0; size];
                loop {
                    match position.read(&pieces, &mut buffer) {
                        0 => break,
                        count => read.extend_from_slice(&buffer[..count]),
                    }
                }
                assert_eq!(read, whole[offset..], "from {offset}, {size} at a time");
            }
        }
        for offset in [9, u64::MAX] {
            assert_eq!(PiecePosition::of_offset(&pieces, offset), None, "{offset}");
        }
        assert_eq!(PiecePosition::default().read(&[], &mut [0; 4]), 0);
    }

    /// Memory that is lent three bytes at a time.
    struct Threes(Vec<u8>);

    impl BodyBuffer for Threes {
        fn room(&mut self, offset: usize) -> &mut [u8] {
            let end = self.0.len().min(offset + 3);
            &mut self.0[offset..end]
        }
    }

    #[test]
    fn bytes_beyond_the_announced_length_are_returned() {
        let mut placed = Placed::new(Box::new(Threes(vec![0; 8])), 8, b"abcd");
        assert!(placed.room(5).is_none(), "more than what was announced");
        placed.room(4).unwrap()[..2].copy_from_slice(b"ef");
        placed.advance(2);
        assert_eq!(placed.append(b"ghij"), b"ij");
        assert!(placed.room(0).is_none());
        let (mut buffer, filled) = placed.into_parts();
        assert_eq!((filled, &buffer.room(5)[..]), (8, &b"fgh"[..]));
    }
}
