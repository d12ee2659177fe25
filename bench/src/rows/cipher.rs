//! The limit for TLS: the time of its cipher for the bytes alone, record by record, without a network.

use std::hint::black_box;
use std::io;
use std::path::Path;
use std::time::Instant;

use ring::aead::{AES_256_GCM, Aad, LessSafeKey, Nonce, UnboundKey};
use ring::error::Unspecified;

use crate::quiet::nanoseconds_of_thread;

/// The cipher's name for the report: the one that both sides of our TLS prefer.
pub const NAME: &str = "AES-256-GCM alone";
/// Largest size of a record.
const RECORD: usize = 16 * 1024;
/// A record's header, which is authenticated.
const HEADER: [u8; 5] = [23, 3, 3, 0x40, 0x11];

/// Microseconds of CPU and of wall time for so many bytes, encrypted (up) or decrypted (down).
pub fn measure(up: bool, bytes: u64) -> io::Result<Vec<f64>> {
    let key = UnboundKey::new(&AES_256_GCM, &[7; 32]).map(LessSafeKey::new).map_err(refused)?;
    let nonce = || Nonce::assume_unique_for_key([0; 12]);
    let mut sealed = vec![0; RECORD];
    key.seal_in_place_append_tag(nonce(), Aad::from(HEADER), &mut sealed).map_err(refused)?;
    let mut record = sealed.clone();
    let (started, cpu_before) = (Instant::now(), cpu_us()?);
    for _ in 0..bytes.div_ceil(RECORD as u64) {
        if up {
            let tag = key.seal_in_place_separate_tag(nonce(), Aad::from(HEADER), &mut record[..RECORD]);
            black_box(tag.map_err(refused)?.as_ref());
        } else {
            // Decrypting overwrote the record in place.
            record.copy_from_slice(&sealed);
            black_box(key.open_in_place(nonce(), Aad::from(HEADER), &mut record).map_err(refused)?);
        }
    }
    Ok(vec![cpu_us()? - cpu_before, started.elapsed().as_secs_f64() * 1e6])
}

fn refused(_: Unspecified) -> io::Error {
    io::Error::other("the cipher refuses")
}

/// Returns the CPU time of this thread in microseconds.
fn cpu_us() -> io::Result<f64> {
    Ok(nanoseconds_of_thread(Path::new("/proc/thread-self"))? / 1e3)
}

#[cfg(test)]
mod tests {
    #[test]
    fn upload_and_download_are_measured() {
        for up in [false, true] {
            let figures = super::measure(up, 1 << 26).unwrap();
            assert!(figures.iter().all(|figure| *figure > 0.0), "{figures:?}");
        }
    }
}
