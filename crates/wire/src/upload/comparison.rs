//! Compares a source with the checksum that the server has of it.

use std::io::{self, Read};

use md5::Md5;
use sha1::Sha1;
use sha2::{Sha256, Sha512};

use super::digest::{Digest, Function};
use crate::hex;

/// Compares the source with the server's checksum. The inner error says how they differ.
pub fn compare(source: &mut dyn Read, digest: &Digest) -> io::Result<Result<(), String>> {
    let of_source = match digest.function {
        Function::Sha256 => digest_of::<Sha256>(source)?,
        Function::Sha512 => digest_of::<Sha512>(source)?,
        Function::Sha1 => digest_of::<Sha1>(source)?,
        Function::Md5 => digest_of::<Md5>(source)?,
        Function::Crc32 => {
            let mut hasher = crc32fast::Hasher::new();
            pieces(source, |piece| hasher.update(piece))?;
            hasher.finalize().to_be_bytes().to_vec()
        }
    };
    Ok(judge(digest, &of_source))
}

fn digest_of<H: sha2::Digest>(source: &mut dyn Read) -> io::Result<Vec<u8>> {
    let mut hasher = H::new();
    pieces(source, |piece| hasher.update(piece))?;
    Ok(hasher.finalize().to_vec())
}

fn pieces(source: &mut dyn Read, mut take: impl FnMut(&[u8])) -> io::Result<()> {
    let mut buffer = vec![0; 64 * 1024];
    loop {
        match source.read(&mut buffer) {
            Ok(0) => return Ok(()),
            Ok(count) => take(&buffer[..count]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

fn judge(digest: &Digest, of_source: &[u8]) -> Result<(), String> {
    if digest.value == of_source {
        return Ok(());
    }
    let (name, there, here) = (digest.function.name(), hex::encode(&digest.value), hex::encode(of_source));
    Err(format!(
        "The server's file differs from the source: its {name} is {there}, that of the source {here}"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_function_compares_the_whole_source() {
        // Of "123456789", by the published check values and coreutils.
        for (function, text) in [
            (Function::Crc32, "cbf43926"),
            (Function::Md5, "25f9e794323b453885f5181f1b624d0b"),
            (Function::Sha1, "f7c3bc1d808e04732adf679965ccc34ca7ae3441"),
            (Function::Sha256, "15e2b0d3c33891ebb0f1ef609ec419420c20e320ce94c65fbc8c3312448eb225"),
        ] {
            let digest = Digest { function, value: hex::decode(text.as_bytes()).unwrap() };
            assert_eq!(compare(&mut b"123456789".as_slice(), &digest).unwrap(), Ok(()), "{text}");
            let other = compare(&mut b"123456788".as_slice(), &digest).unwrap().unwrap_err();
            assert!(other.contains(text) && other.contains(function.name()), "{other}");
        }
    }
}
