//! zlib itself, whole inputs at a time.

use std::ffi::c_int;
use std::mem::MaybeUninit;

use libz_sys::*;

/// How an input ended, if it did within the limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The stream ended with this many octets after it.
    Whole(usize),
    Refused,
    Short,
    /// More output than the limit.
    Long,
}

/// The result of `inflateInit2` with these window bits, at most `most` octets of it.
pub fn inflate(input: &[u8], window_bits: c_int, most: usize) -> (Vec<u8>, End) {
    // SAFETY: zlib accepts a stream of zeros as one with its own allocator, and the pointers are to `input`
    // and `out`, with their lengths; the stream is ended before either is dropped.
    unsafe {
        let mut stream = MaybeUninit::<z_stream>::zeroed();
        let started =
            inflateInit2_(stream.as_mut_ptr(), window_bits, zlibVersion(), size_of::<z_stream>() as c_int);
        assert_eq!(started, Z_OK);
        let stream = stream.assume_init_mut();
        (stream.next_in, stream.avail_in) = (input.as_ptr().cast_mut(), input.len() as uInt);
        let mut out = vec![0; most];
        (stream.next_out, stream.avail_out) = (out.as_mut_ptr(), most as uInt);
        let code = inflate_(stream);
        out.truncate(most - stream.avail_out as usize);
        let end = match code {
            Z_STREAM_END => End::Whole(stream.avail_in as usize),
            Z_OK | Z_BUF_ERROR if stream.avail_out == 0 => End::Long,
            Z_OK | Z_BUF_ERROR => End::Short,
            _ => End::Refused,
        };
        inflateEnd(stream);
        (out, end)
    }
}

/// SAFETY: as [`libz_sys::inflate`].
unsafe fn inflate_(stream: &mut z_stream) -> c_int {
    unsafe { libz_sys::inflate(stream, Z_FINISH) }
}

/// The parameters of `deflateInit2`.
#[derive(Clone, Copy)]
pub struct Manner {
    pub level: c_int,
    pub window_bits: c_int,
    pub memory: c_int,
    pub strategy: c_int,
}

/// The pieces one behind the other, each with its flush.
pub fn deflate(pieces: &[(&[u8], c_int)], manner: Manner) -> Vec<u8> {
    let mut out = Vec::new();
    // SAFETY: as above; each piece lives while it is the stream's input, and each buffer while it is its
    // output.
    unsafe {
        let mut stream = MaybeUninit::<z_stream>::zeroed();
        let (at, size) = (stream.as_mut_ptr(), size_of::<z_stream>() as c_int);
        let Manner { level, window_bits, memory, strategy } = manner;
        let started =
            deflateInit2_(at, level, Z_DEFLATED, window_bits, memory, strategy, zlibVersion(), size);
        assert_eq!(started, Z_OK);
        let stream = stream.assume_init_mut();
        for (piece, flush) in pieces.iter().copied().chain([(&[][..], Z_FINISH)]) {
            (stream.next_in, stream.avail_in) = (piece.as_ptr().cast_mut(), piece.len() as uInt);
            loop {
                let mut buffer = [0; 4096];
                (stream.next_out, stream.avail_out) = (buffer.as_mut_ptr(), buffer.len() as uInt);
                let code = libz_sys::deflate(stream, flush);
                out.extend_from_slice(&buffer[..buffer.len() - stream.avail_out as usize]);
                if stream.avail_out > 0 || code == Z_STREAM_END {
                    break;
                }
            }
        }
        deflateEnd(stream);
    }
    out
}
