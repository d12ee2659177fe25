//! The messages of RFC 1961, GSS-API in SOCKS 5: tokens of a security context, the protection level, and then
//! protected data. All have the same header; the contents belong to the security context.

use tables::ProxyCode;

use crate::socks::SocksError;

/// A token's length is two bytes.
pub const LONGEST_TOKEN: usize = u16::MAX as usize;
/// Version, type and length.
pub const HEAD: usize = 4;

const VERSION: u8 = 1;
const REJECTED: u8 = 255;

/// The type of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A token of the context.
    Authentication = 1,
    /// The level of protection.
    Protection = 2,
    /// Data at that level.
    Data = 3,
}

impl Kind {
    /// Returns the name in messages to the user.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Authentication => "authentication",
            Kind::Protection => "encryption",
            Kind::Data => "data",
        }
    }
}

/// How data is protected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// No protection: data follows in clear.
    None = 0,
    /// Signed.
    Integrity = 1,
    /// Signed and encrypted.
    Confidentiality = 2,
    /// Each message in the way that its sender wants.
    Selective = 3,
}

impl Level {
    /// The level of this number.
    pub fn of(number: u8) -> Option<Level> {
        [Level::None, Level::Integrity, Level::Confidentiality, Level::Selective]
            .into_iter()
            .find(|level| *level as u8 == number)
    }

    /// Returns the name in messages to the user.
    pub fn name(self) -> &'static str {
        match self {
            Level::None => "no",
            Level::Integrity => "integrity",
            Level::Confidentiality => "confidentiality",
            Level::Selective => "selective",
        }
    }
}

/// A message with this token, which a context never makes empty.
pub fn message(kind: Kind, token: &[u8]) -> Result<Vec<u8>, SocksError> {
    let Ok(length) = u16::try_from(token.len()) else {
        return Err(error(format!("Too long a GSS-API {} token ({}).", kind.name(), token.len())));
    };
    let mut out = vec![VERSION, kind as u8];
    out.extend(length.to_be_bytes());
    out.extend(token);
    Ok(out)
}

/// Checks version and type of a reply. A rejection has no further bytes. The version is ignored, as servers
/// differ.
pub fn answer(kind: Kind, [version, found]: [u8; 2]) -> Result<(), SocksError> {
    match found {
        REJECTED => Err(error(format!("User was rejected by the SOCKS5 server ({version} {found})."))),
        found if found == kind as u8 => Ok(()),
        _ => Err(error(format!("Invalid GSS-API {} response type ({version} {found}).", kind.name()))),
    }
}

/// The length of an answer's token.
pub fn token_length(kind: Kind, length: [u8; 2]) -> Result<usize, SocksError> {
    match u16::from_be_bytes(length) {
        0 => Err(error(format!("Invalid zero-length GSS-API {} token.", kind.name()))),
        length => Ok(usize::from(length)),
    }
}

/// The level that an answer names in one byte.
pub fn level(answer: &[u8]) -> Result<Level, SocksError> {
    let [number] = answer else {
        return Err(error(format!("Invalid GSS-API encryption response length ({}).", answer.len())));
    };
    Level::of(*number).ok_or_else(|| SocksError {
        code: ProxyCode::GssapiProtection,
        text: format!("SOCKS5 GSS-API protection level {number} is not known."),
    })
}

/// The length of the token behind the head of a data message; `None` when this is none.
pub fn data_length([version, kind, high, low]: [u8; HEAD]) -> Option<usize> {
    let length = usize::from(u16::from_be_bytes([high, low]));
    (version == VERSION && kind == Kind::Data as u8 && length > 0).then_some(length)
}

fn error(text: String) -> SocksError {
    SocksError { code: ProxyCode::Gssapi, text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages() {
        assert_eq!(message(Kind::Authentication, b"ab").unwrap(), b"\x01\x01\0\x02ab");
        assert_eq!(message(Kind::Protection, &[2]).unwrap(), b"\x01\x02\0\x01\x02");
        let longest = message(Kind::Data, &[0; LONGEST_TOKEN]).unwrap();
        assert_eq!((&longest[..HEAD], longest.len()), (&b"\x01\x03\xff\xff"[..], HEAD + LONGEST_TOKEN));
        let error = message(Kind::Data, &[0; LONGEST_TOKEN + 1]).unwrap_err();
        assert_eq!((error.code, &*error.text), (ProxyCode::Gssapi, "Too long a GSS-API data token (65536)."));
    }

    #[test]
    fn answers() {
        assert_eq!(answer(Kind::Authentication, [1, 1]), Ok(()));
        assert_eq!(answer(Kind::Protection, [9, 2]), Ok(()), "as in curl, the version does not matter");
        let text = |kind, head| answer(kind, head).unwrap_err().text;
        assert_eq!(text(Kind::Protection, [1, 255]), "User was rejected by the SOCKS5 server (1 255).");
        assert_eq!(text(Kind::Protection, [1, 1]), "Invalid GSS-API encryption response type (1 1).");
        assert_eq!(text(Kind::Authentication, [5, 0]), "Invalid GSS-API authentication response type (5 0).");
        assert_eq!(token_length(Kind::Protection, [1, 2]), Ok(258));
        let text = token_length(Kind::Protection, [0, 0]).unwrap_err().text;
        assert_eq!(text, "Invalid zero-length GSS-API encryption token.");
    }

    #[test]
    fn levels() {
        let levels: Vec<Level> = (0..4).map(|number| level(&[number]).unwrap()).collect();
        let named = [Level::None, Level::Integrity, Level::Confidentiality, Level::Selective];
        assert_eq!(levels, named);
        assert_eq!(level(&[4]).unwrap_err().code, ProxyCode::GssapiProtection);
        for odd in [&b""[..], b"\x01\x01"] {
            let error = level(odd).unwrap_err();
            assert_eq!(error.code, ProxyCode::Gssapi);
            assert!(error.text.ends_with(&format!("({}).", odd.len())), "{error}");
        }
    }

    #[test]
    fn data() {
        assert_eq!(data_length([1, 3, 0, 1]), Some(1));
        assert_eq!(data_length([1, 3, 255, 255]), Some(LONGEST_TOKEN));
        for odd in [[1, 3, 0, 0], [1, 2, 0, 1], [2, 3, 0, 1], [72, 84, 84, 80]] {
            assert_eq!(data_length(odd), None);
        }
    }
}
