//! zlib@openssh.com and zlib (RFC 4253 §6.2): one stream for each direction, flushed with each packet.

use flate2::{Compress, Compression, FlushCompress};
use wire::inflater::Inflater;

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

pub struct Inflate(Inflater);

impl Inflate {
    pub fn new() -> Inflate {
        Inflate(Inflater::zlib())
    }

    /// Decompresses the payload of a packet. Output beyond the maximum size of a packet is refused.
    pub fn packet(&mut self, mut bytes: &[u8]) -> Result<Vec<u8>, Error> {
        let mut out = vec![0; (bytes.len() * 4).clamp(1024, MAX_PACKET)];
        let mut made = 0;
        loop {
            let step = self.0.step(bytes, &mut out[made..]).map_err(|_| BROKEN)?;
            bytes = &bytes[step.used..];
            made += step.made;
            if made == out.len() {
                if made > MAX_PACKET {
                    return Err(BROKEN);
                }
                out.resize(made + made.max(4096), 0);
            } else if step.used + step.made == 0 {
                break;
            }
        }
        // The stream has an end, and something behind it.
        if !bytes.is_empty() {
            return Err(BROKEN);
        }
        out.truncate(made);
        Ok(out)
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

    /// The decompressor's window is a ring of 32 KiB. If a packet's last match wraps around, all input has
    /// been read and part of the output is pending.
    #[test]
    fn a_packet_that_goes_over_the_rings_end_comes_whole() {
        for before in (0..2000).step_by(37) {
            let (mut deflate, mut inflate) = (Deflate::new(), Inflate::new());
            for payload in [vec![7; 32768 - before], vec![7; 1000], vec![9; 40_000]] {
                let packed = deflate.packet(&[&payload]).unwrap();
                assert!(inflate.packet(&packed).unwrap() == payload, "{before} {}", payload.len());
            }
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
