//! Compares a source with the checksum that the server has of it.

use std::io::{self, Read};

use wire::hex;
use wire::upload::digest::{Digest, Function};

use crate::segments::checksum::{Algorithm, Check, Sum};

/// Compares the source with the server's checksum. The inner error says how they differ.
pub fn compare(source: &mut dyn Read, digest: &Digest) -> io::Result<Result<(), String>> {
    let algorithm = match digest.function {
        Function::Sha256 => Algorithm::Sha256,
        Function::Sha512 => Algorithm::Sha512,
        Function::Sha1 => Algorithm::Sha1,
        Function::Md5 => Algorithm::Md5,
        Function::Crc32 => {
            let mut hasher = crc32fast::Hasher::new();
            pieces(source, |piece| hasher.update(piece))?;
            return Ok(judge(digest, &hasher.finalize().to_be_bytes()));
        }
    };
    let sum = Sum { algorithm, digest: digest.value.clone() };
    let mut check = Check::new(vec![sum], false).expect("there is a sum");
    pieces(source, |piece| check.update(piece))?;
    Ok(judge(digest, &check.digest(algorithm)))
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
