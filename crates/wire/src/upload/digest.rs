//! Checksums of a file that a server has received: FTP's HASH (draft-bryan-ftpext-hash-02), and the older
//! commands XSHA256, XSHA1, XMD5, XCRC and the like, as servers list them in their reply to FEAT.

use crate::hex;

/// A hash function that servers offer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Function {
    Sha256,
    Sha512,
    Sha1,
    Md5,
    Crc32,
}

/// The functions in the order of preference, with the name in HASH, the bytes of a digest, and the commands
/// of their own.
const FUNCTIONS: [(Function, &str, usize, &[&str]); 5] = [
    (Function::Sha256, "SHA-256", 32, &["XSHA256"]),
    (Function::Sha512, "SHA-512", 64, &["XSHA512"]),
    (Function::Sha1, "SHA-1", 20, &["XSHA1", "XSHA"]),
    (Function::Md5, "MD5", 16, &["XMD5", "MD5"]),
    (Function::Crc32, "CRC32", 4, &["XCRC"]),
];

impl Function {
    fn row(self) -> &'static (Function, &'static str, usize, &'static [&'static str]) {
        &FUNCTIONS[self as usize]
    }

    /// Returns the usual name, like `SHA-256`.
    pub fn name(self) -> &'static str {
        self.row().1
    }

    /// Returns the bytes of a digest.
    pub fn length(self) -> usize {
        self.row().2
    }
}

/// The functions by their names in SFTP's extension check-file, in the order of preference.
pub const SFTP_NAMES: &str = "sha256,sha512,sha1,md5,crc32";

/// Returns the checksum in a reply to check-file.
pub fn of_sftp(function: &[u8], value: &[u8]) -> Option<Digest> {
    let index = SFTP_NAMES.split(',').position(|name| name.as_bytes() == function)?;
    let function = FUNCTIONS[index].0;
    (value.len() == function.length()).then(|| Digest { function, value: value.to_vec() })
}

/// The checksum that a server has of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Digest {
    pub function: Function,
    pub value: Vec<u8>,
}

/// The question for a checksum over FTP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Question {
    pub function: Function,
    /// The command that gets the name of the file.
    pub command: &'static str,
    /// Whether OPTS HASH has to select the function before.
    pub selects: bool,
}

/// Chooses the best question that the lines of a reply to FEAT offer.
pub fn choose(features: &[Vec<u8>]) -> Option<Question> {
    let mut features = features.iter().filter_map(|line| Feature::of(line)).collect::<Vec<_>>();
    features.sort_by_key(|feature| !feature.name.eq_ignore_ascii_case(b"HASH"));
    FUNCTIONS.iter().find_map(|(function, name, _, commands)| {
        features.iter().find_map(|feature| {
            if feature.name.eq_ignore_ascii_case(b"HASH") {
                let offer =
                    feature.offers().find(|(offered, _)| offered.eq_ignore_ascii_case(name.as_bytes()))?;
                return Some(Question { function: *function, command: "HASH", selects: !offer.1 });
            }
            let command =
                commands.iter().find(|command| feature.name.eq_ignore_ascii_case(command.as_bytes()))?;
            Some(Question { function: *function, command, selects: false })
        })
    })
}

/// A line of a reply to FEAT (RFC 2389 §3.2): a blank, a name, and perhaps parameters.
struct Feature<'a> {
    name: &'a [u8],
    parameters: &'a [u8],
}

impl Feature<'_> {
    fn of(line: &[u8]) -> Option<Feature<'_>> {
        let line = line.strip_prefix(b" ")?.trim_ascii();
        let end = line.iter().position(|octet| *octet == b' ').unwrap_or(line.len());
        Some(Feature { name: &line[..end], parameters: line[end..].trim_ascii() })
    }

    /// Returns the functions of HASH, and whether each is the selected one, which has an asterisk.
    fn offers(&self) -> impl Iterator<Item = (&[u8], bool)> {
        let offers = self.parameters.split(|octet| *octet == b';').map(<[u8]>::trim_ascii);
        offers.map(|offer| match offer.strip_suffix(b"*") {
            Some(name) => (name, true),
            None => (offer, false),
        })
    }
}

impl Question {
    /// Reads the digest in the text of the reply. HASH names function and range before it; the others have it
    /// alone, or behind a name.
    pub fn digest(&self, text: &[u8]) -> Option<Digest> {
        let mut words = text.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
        let value = |word: &[u8]| hex::decode(word).filter(|value| value.len() == self.function.length());
        let value = match self.command {
            "HASH" => {
                let named = words.next()?.eq_ignore_ascii_case(self.function.name().as_bytes());
                value(words.nth(1)?).filter(|_| named)
            }
            _ => words.filter_map(value).next_back(),
        }?;
        Some(Digest { function: self.function, value })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chosen(features: &[&str]) -> Option<(&'static str, Function, bool)> {
        let lines: Vec<Vec<u8>> = features.iter().map(|line| line.as_bytes().to_vec()).collect();
        choose(&lines).map(|question| (question.command, question.function, question.selects))
    }

    #[test]
    fn the_best_function_that_a_server_offers_is_chosen() {
        for (features, wanted) in [
            (&[" SIZE", " REST STREAM"][..], None),
            (&["211-Features:", "HASH SHA-256"], None),
            (&[" HASH CRC32;MD5;SHA-1*;SHA-256;SHA-512"], Some(("HASH", Function::Sha256, true))),
            (&[" HASH SHA-1;SHA-256*;MD5"], Some(("HASH", Function::Sha256, false))),
            (&[" XCRC", " XMD5", " XSHA256 name;start;end"], Some(("XSHA256", Function::Sha256, false))),
            (&[" XSHA256", " HASH SHA-256*"], Some(("HASH", Function::Sha256, false))),
            (&[" HASH MD5*", " XSHA512"], Some(("XSHA512", Function::Sha512, false))),
            (&[" XSHA", " XMD5"], Some(("XSHA", Function::Sha1, false))),
            (&[" md5"], Some(("MD5", Function::Md5, false))),
            (&[" XCRC filename;start;end"], Some(("XCRC", Function::Crc32, false))),
            (&[" HASH BLAKE3*;"], None),
        ] {
            assert_eq!(chosen(features), wanted, "{features:?}");
        }
    }

    #[test]
    fn a_digest_is_read_or_there_is_none() {
        let crc = Question { function: Function::Crc32, command: "XCRC", selects: false };
        let hash = Question { command: "HASH", ..crc };
        let found =
            |question: Question, text: &str| question.digest(text.as_bytes()).map(|digest| digest.value);
        let value = Some(vec![0xca, 0xfe, 0x00, 0x01]);
        for (question, text, wanted) in [
            (crc, "CAFE0001", value.clone()),
            (crc, "cafe0001 ", value.clone()),
            (crc, "\"deadbeef\" cafe0001", value.clone()),
            (crc, "deadbeef cafe0001", value.clone()),
            (crc, "", None),
            (crc, "cafe001", None),
            (crc, "cafe0001ff", None),
            (crc, "no checksum here", None),
            (hash, "CRC32 0-10 cafe0001 deadbeef", value.clone()),
            (hash, "crc32 0-10 cafe0001", value),
            (hash, "MD5 0-10 cafe0001 name", None),
            (hash, "cafe0001", None),
        ] {
            assert_eq!(found(question, text), wanted, "{} {text:?}", question.command);
        }
    }

    #[test]
    fn digests_of_sftp_have_the_length_of_their_function() {
        let function =
            |name: &str, length| of_sftp(name.as_bytes(), &vec![7; length]).map(|digest| digest.function);
        assert_eq!(function("sha256", 32), Some(Function::Sha256));
        assert_eq!(function("md5", 16), Some(Function::Md5));
        assert_eq!(function("crc32", 4), Some(Function::Crc32));
        for (name, length) in [("sha256", 31), ("sha256", 64), ("sha224", 28), ("", 0), ("SHA256", 32)] {
            assert_eq!(function(name, length), None, "{name} {length}");
        }
    }

    #[test]
    fn rows_stand_in_the_order_of_the_functions() {
        for (function, name, length, _) in FUNCTIONS {
            assert_eq!((function.name(), function.length()), (name, length));
        }
    }
}
