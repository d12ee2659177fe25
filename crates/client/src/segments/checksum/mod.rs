//! Checksums of downloads: hashes data as it arrives, and compares at the end.

pub mod field;
mod sum;

pub use sum::{ALGORITHMS, Algorithm, Sum};

use sha2::digest::DynDigest;
use std::io::{self, Read};
use wire::{base64, hex};

enum Hasher {
    Blake3(Box<blake3::Hasher>),
    Other(Box<dyn DynDigest>),
}

impl Hasher {
    fn of(algorithm: Algorithm) -> Hasher {
        Hasher::Other(match algorithm {
            Algorithm::Md5 => Box::<md5::Md5>::default(),
            Algorithm::Sha1 => Box::<sha1::Sha1>::default(),
            Algorithm::Sha256 => Box::<sha2::Sha256>::default(),
            Algorithm::Sha384 => Box::<sha2::Sha384>::default(),
            Algorithm::Sha512 => Box::<sha2::Sha512>::default(),
            Algorithm::Sha3_256 => Box::<sha3::Sha3_256>::default(),
            Algorithm::Sha3_384 => Box::<sha3::Sha3_384>::default(),
            Algorithm::Sha3_512 => Box::<sha3::Sha3_512>::default(),
            Algorithm::Blake3 => return Hasher::Blake3(Box::default()),
        })
    }

    fn update(&mut self, data: &[u8]) {
        match self {
            Hasher::Blake3(hasher) => {
                hasher.update(data);
            }
            Hasher::Other(hasher) => hasher.update(data),
        }
    }

    fn digest(&self) -> Vec<u8> {
        match self {
            Hasher::Blake3(hasher) => hasher.finalize().as_bytes().to_vec(),
            Hasher::Other(hasher) => hasher.box_clone().finalize().into_vec(),
        }
    }
}

/// Hashers that see the same bytes.
#[derive(Default)]
struct Hashers(Vec<(Algorithm, Hasher)>);

impl Hashers {
    fn new(algorithms: &[Algorithm]) -> Hashers {
        Hashers(algorithms.iter().map(|algorithm| (*algorithm, Hasher::of(*algorithm))).collect())
    }

    fn update(&mut self, data: &[u8]) {
        self.0.iter_mut().for_each(|(_, hasher)| hasher.update(data));
    }

    fn digest(&self, wanted: Algorithm) -> Vec<u8> {
        let found = self.0.iter().find(|(algorithm, _)| *algorithm == wanted);
        found.map(|(_, hasher)| hasher.digest()).unwrap_or_default()
    }
}

/// The hashes of one transfer, and the expected values.
pub struct Check {
    sums: Vec<Sum>,
    /// Repr-Digest and Content-Digest are looked at.
    fields: bool,
    whole: Hashers,
    /// Hashes of this message alone, if data preceded it.
    message: Option<Hashers>,
}

impl Check {
    /// Returns `None` if there is nothing to compare.
    pub fn new(sums: Vec<Sum>, fields: bool) -> Option<Check> {
        let wanted = fields || !sums.is_empty();
        let mut check = Check { sums, fields, whole: Hashers::default(), message: None };
        check.restart();
        wanted.then_some(check)
    }

    fn algorithms(&self) -> Vec<Algorithm> {
        let mut all: Vec<Algorithm> = self.sums.iter().map(|sum| sum.algorithm).collect();
        if self.fields {
            all.extend(field::ALGORITHMS.map(|row| row.1));
        }
        all.sort_unstable_by_key(|algorithm| *algorithm as u8);
        all.dedup();
        all
    }

    /// Starts again without data.
    pub fn restart(&mut self) {
        self.whole = Hashers::new(&self.algorithms());
        self.message = None;
    }

    /// Starts another message after the existing data.
    pub fn go_on(&mut self) {
        let fields: &[Algorithm] = &field::ALGORITHMS.map(|row| row.1);
        self.message = Some(Hashers::new(if self.fields { fields } else { &[] }));
    }

    pub fn update(&mut self, data: &[u8]) {
        self.whole.update(data);
        if let Some(message) = &mut self.message {
            message.update(data);
        }
    }

    /// Starts again after existing data, which is read.
    pub fn restart_behind(&mut self, before: &mut dyn Read) -> io::Result<()> {
        self.restart();
        let mut buffer = vec![0; 64 * 1024];
        loop {
            match before.read(&mut buffer)? {
                0 => break,
                count => self.whole.update(&buffer[..count]),
            }
        }
        self.go_on();
        Ok(())
    }

    /// Returns the hash of the data so far, by one of the algorithms of the sums.
    pub fn digest(&self, algorithm: Algorithm) -> Vec<u8> {
        self.whole.digest(algorithm)
    }

    /// Compares the user's sums; the error says which one differs.
    pub fn compare_sums(&self) -> Result<(), String> {
        for sum in &self.sums {
            let got = self.whole.digest(sum.algorithm);
            if got != sum.digest {
                let (name, want, got) = (sum.algorithm.name(), hex::encode(&sum.digest), hex::encode(&got));
                return Err(format!("Checksum mismatch: {name} is {got}, expected {want}"));
            }
        }
        Ok(())
    }

    pub fn looks_at_fields(&self) -> bool {
        self.fields
    }

    /// Compares a field of the reply: `Content-Digest` is of this message, `Repr-Digest` of the whole.
    pub fn compare_field(&self, name: &str, value: &[u8]) -> Result<(), String> {
        let message = self.message.as_ref().filter(|_| name.eq_ignore_ascii_case("Content-Digest"));
        let hashers = message.unwrap_or(&self.whole);
        for (key, sum) in field::sums(value) {
            let got = hashers.digest(sum.algorithm);
            if got != sum.digest {
                let [got, want] = [&got, &sum.digest].map(|digest| base64::encode(digest));
                return Err(format!("{name} mismatch: {key} is {got}, expected {want}"));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sums of "abc", from the standards and coreutils.
    const ABC: [&str; 9] = [
        "md5=900150983cd24fb0d6963f7d28e17f72",
        "sha1=a9993e364706816aba3e25717850c26c9cd0d89d",
        "sha256=ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
        "sha384=cb00753f45a35e8bb5a03d699ac65007272c32ab0eded1631a8b605a43ff5bed8086072ba1e7cc2358baeca134c825a7",
        "sha512=ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f",
        "sha3-256=3a985da74fe225b2045c172d6bd390bd855f086e3e9d525b46bfe24511431532",
        "sha3-384=ec01498288516fc926459f58e2c6ad8df9b473cb0fc08c2596da7cf0e49be4b298d88cea927ac7f539f1edf228376d25",
        "sha3-512=b751850b1a57168a5693cd924b6b096e08f621827444f70d884f5d0240d2712e10e116e9192af3c91a7ec57647e3934057340b4cf408d5a56592f8274eec53f0",
        "blake3=6437b3ac38465133ffb63b75273a8db548c558465d79db03fd359c6cd5bd9d85",
    ];

    fn check(text: &str) -> Check {
        Check::new(Sum::parse(text.as_bytes()).unwrap(), false).unwrap()
    }

    #[test]
    fn the_rows_stand_in_the_order_of_the_numbers() {
        for (at, row) in ALGORITHMS.iter().enumerate() {
            assert_eq!(row.0 as usize, at);
            assert_eq!(Hasher::of(row.0).digest().len(), row.2, "{}", row.1);
        }
    }

    #[test]
    fn every_algorithm_of_abc() {
        let mut check = check(&ABC.join(","));
        check.update(b"a");
        assert!(check.compare_sums().is_err());
        check.update(b"bc");
        assert_eq!(check.compare_sums(), Ok(()));
        check.update(b"d");
        assert!(check.compare_sums().unwrap_err().starts_with("Checksum mismatch: md5 is e2fc71"));
        check.restart_behind(&mut b"ab".as_slice()).unwrap();
        check.update(b"c");
        assert_eq!(check.compare_sums(), Ok(()));
    }

    #[test]
    fn names_in_other_spellings() {
        assert_eq!(Algorithm::from_name(b"SHA-256"), Some(Algorithm::Sha256));
        assert_eq!(Algorithm::from_name(b"SHA3_512"), Some(Algorithm::Sha3_512));
        assert_eq!(Algorithm::from_name(b"crc32"), None);
    }

    #[test]
    fn malformed_checksums_are_refused() {
        let wrong = |text: &str| Sum::parse(text.as_bytes()).unwrap_err();
        assert_eq!(wrong("900150983cd24fb0d6963f7d28e17f72"), "A checksum is given as algorithm=sum");
        assert!(wrong("crc=00").starts_with("Unknown checksum algorithm 'crc', known are md5, sha1"));
        assert_eq!(wrong("md5=00"), "A md5 sum has 32 hexadecimal digits");
        assert_eq!(wrong(&format!("{},md5=zz", ABC[0])), "A md5 sum has 32 hexadecimal digits");
    }

    #[test]
    fn fields_are_of_the_message_or_of_the_whole() {
        let mut check = Check::new(Vec::new(), true).unwrap();
        check.restart_behind(&mut b"ab".as_slice()).unwrap();
        check.update(b"c");
        let whole = b"sha-256=:ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=:";
        let mut rest = Check::new(Vec::new(), true).unwrap();
        rest.update(b"c");
        let of_c = base64::encode(&rest.whole.digest(Algorithm::Sha256));
        let of_c = [b"sha-256=:".as_slice(), of_c.as_bytes(), b":"].concat();
        assert_eq!(check.compare_field("Repr-Digest", whole), Ok(()));
        assert_eq!(check.compare_field("Content-Digest", &of_c), Ok(()));
        assert!(
            check
                .compare_field("Repr-Digest", &of_c)
                .unwrap_err()
                .starts_with("Repr-Digest mismatch: sha-256 ")
        );
        assert!(check.compare_field("Content-Digest", whole).is_err());
    }
}
