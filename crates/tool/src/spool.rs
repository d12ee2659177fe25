//! Standard input that may have to be sent again: data that was read is stored in an unnamed file.

use crate::system;
use std::fs::File;
use std::io;
use std::time::SystemTime;

/// Names tried for the file before giving up.
const MOST_NAMES: u32 = 100;

pub struct Spool {
    file: File,
    stored: u64,
    at: u64,
}

impl Spool {
    /// Creates the file in the directory for temporary files, for this user only. It is removed with this
    /// process.
    pub fn new() -> io::Result<Spool> {
        let nanos =
            SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0, |now| now.subsec_nanos());
        for number in 0..MOST_NAMES {
            let name = format!("warmwire-{}-{nanos:x}-{number}", std::process::id());
            let path = std::env::temp_dir().join(name);
            match system::open_fleeting(&path) {
                Ok(file) => return Ok(Spool { file, stored: 0, at: 0 }),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
        Err(io::ErrorKind::AlreadyExists.into())
    }

    /// Reads stored data first, then more of the source.
    pub fn read(
        &mut self,
        buf: &mut [u8],
        source: impl FnOnce(&mut [u8]) -> io::Result<usize>,
    ) -> io::Result<usize> {
        let left = usize::try_from(self.stored - self.at).unwrap_or(usize::MAX);
        if left > 0 {
            let room = left.min(buf.len());
            let count = system::read_at(&self.file, &mut buf[..room], self.at)?;
            self.at += count as u64;
            return Ok(count);
        }
        let count = source(buf)?;
        system::write_all_at(&self.file, &buf[..count], self.stored)?;
        self.stored += count as u64;
        self.at = self.stored;
        Ok(count)
    }

    /// Moves to the offset; false if it has not been read yet.
    pub fn seek(&mut self, offset: u64) -> bool {
        let known = offset <= self.stored;
        if known {
            self.at = offset;
        }
        known
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;

    #[test]
    fn a_rewound_spool_repeats_its_bytes() {
        let mut source = b"abcdefgh".as_slice();
        let mut spool = Spool::new().unwrap();
        let mut take = |spool: &mut Spool, most: usize| {
            let mut buf = vec![0; most];
            let count = spool.read(&mut buf, |buf| source.read(buf)).unwrap();
            String::from_utf8(buf[..count].to_vec()).unwrap()
        };
        assert_eq!(take(&mut spool, 3), "abc");
        assert!(!spool.seek(4) && spool.seek(1));
        assert_eq!(take(&mut spool, 9), "bc");
        assert_eq!(take(&mut spool, 9), "defgh");
        assert_eq!(take(&mut spool, 9), "");
        assert!(spool.seek(0));
        assert_eq!(take(&mut spool, 99), "abcdefgh");
    }
}
