//! The stored bytes of an answer: pieces of one or several files, one behind the other.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};

/// Pieces of files.
#[derive(Default)]
pub struct StoredBody {
    pieces: Vec<StoredPiece>,
    /// The piece that is read.
    current: usize,
}

impl StoredBody {
    pub fn of(pieces: Vec<StoredPiece>) -> StoredBody {
        StoredBody { pieces, current: 0 }
    }

    /// Returns the number of bytes that are left.
    pub fn length(&self) -> u64 {
        self.pieces.iter().map(|piece| piece.length).sum()
    }
}

impl Read for StoredBody {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        while let Some(piece) = self.pieces.get_mut(self.current) {
            if piece.length > 0 {
                return piece.read(buf);
            }
            self.current += 1;
        }
        Ok(0)
    }
}

/// A piece of a file.
pub struct StoredPiece {
    file: File,
    /// Where it begins, before the first read.
    offset: Option<u64>,
    /// How many bytes are left.
    length: u64,
}

impl StoredPiece {
    pub fn new(file: File, offset: u64, length: u64) -> StoredPiece {
        StoredPiece { file, offset: Some(offset), length }
    }
}

impl Read for StoredPiece {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        if let Some(offset) = self.offset.take() {
            self.file.seek(SeekFrom::Start(offset))?;
        }
        let count = (&mut self.file).take(self.length).read(buf)?;
        self.length -= count as u64;
        Ok(count)
    }
}
