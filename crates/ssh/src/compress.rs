//! zlib@openssh.com and zlib (RFC 4253 §6.2): one stream for each direction, flushed with each packet.

use flate2::{Compress, Compression, Decompress, FlushCompress, FlushDecompress};

use crate::cipher::MAX_PACKET;
use crate::error::Error;

const BROKEN: Error = Error::Protocol("compressed SSH packet that cannot be expanded");

pub struct Deflate(Compress);

impl Deflate {
    pub fn new() -> Deflate {
        Deflate(Compress::new(Compression::new(6), true))
    }

    /// A packet's payload, compressed.
    pub fn packet(&mut self, parts: &[&[u8]]) -> Result<Vec<u8>, Error> {
        let mut out = Vec::with_capacity(parts.iter().map(|part| part.len()).sum::<usize>() + 64);
        for part in parts {
            self.feed(part, FlushCompress::None, &mut out)?;
        }
        self.feed(&[], FlushCompress::Partial, &mut out)?;
        Ok(out)
    }

    fn feed(&mut self, mut bytes: &[u8], flush: FlushCompress, out: &mut Vec<u8>) -> Result<(), Error> {
        loop {
            if out.capacity() - out.len() < 64 {
                out.reserve(4096);
            }
            let before = self.0.total_in();
            self.0.compress_vec(bytes, out, flush).map_err(|_| Error::Protocol("cannot compress"))?;
            bytes = &bytes[(self.0.total_in() - before) as usize..];
            if bytes.is_empty() && out.len() < out.capacity() {
                return Ok(());
            }
        }
    }
}

pub struct Inflate(Decompress);

impl Inflate {
    pub fn new() -> Inflate {
        Inflate(Decompress::new(true))
    }

    /// The payload of a packet. One that grows over what a packet may have is refused.
    pub fn packet(&mut self, mut bytes: &[u8]) -> Result<Vec<u8>, Error> {
        let mut out = Vec::with_capacity((bytes.len() * 4).clamp(1024, MAX_PACKET));
        loop {
            let (before, had) = (self.0.total_in(), out.len());
            self.0.decompress_vec(bytes, &mut out, FlushDecompress::Sync).map_err(|_| BROKEN)?;
            bytes = &bytes[(self.0.total_in() - before) as usize..];
            if out.len() < out.capacity() {
                match bytes.is_empty() {
                    true => return Ok(out),
                    false if out.len() == had && self.0.total_in() == before => return Err(BROKEN),
                    false => continue,
                }
            }
            if out.len() > MAX_PACKET {
                return Err(BROKEN);
            }
            out.reserve(out.len().max(4096));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_go_through_one_by_one() {
        let (mut deflate, mut inflate) = (Deflate::new(), Inflate::new());
        for n in 0..200 {
            let payload: Vec<u8> = (0..n * 97).map(|i| (i * n) as u8).collect();
            let packed = deflate.packet(&[&payload[..n], &payload[n..]]).unwrap();
            assert_eq!(inflate.packet(&packed).unwrap(), payload, "{n}");
        }
    }

    /// A hundred megabytes of zeros in a small packet.
    #[test]
    fn a_bomb_is_refused() {
        let packed = Deflate::new().packet(&[&vec![0; 100 << 20]]).unwrap();
        assert!(packed.len() < MAX_PACKET);
        assert_eq!(Inflate::new().packet(&packed), Err(BROKEN));
    }
}
