//! GeneralName (RFC 5280, section 4.2.1.6): the names of subjectAltName, of constraints and of key
//! identifiers.

use super::dn;
use wire::der::{self, Reader};

#[derive(Clone, Debug, PartialEq)]
pub enum GeneralName<'a> {
    Email(&'a [u8]),
    Dns(&'a [u8]),
    /// In canonical form.
    Directory(Vec<u8>),
    Uri(&'a [u8]),
    Ip(&'a [u8]),
    /// otherName: the OID of its kind. Its value is never compared.
    Other(&'a [u8]),
    /// x400Address, ediPartyName, registeredID: the tag.
    Unsupported(u8),
}

/// An internationalized mailbox (RFC 8398), to which constraints of mail addresses apply.
const SMTP_UTF8_MAILBOX: &[u8] = &[0x2b, 6, 1, 5, 5, 7, 8, 9];

impl<'a> GeneralName<'a> {
    fn read(r: &mut Reader<'a>) -> Option<GeneralName<'a>> {
        let v = r.value()?;
        Some(match v.tag {
            0xa0 => GeneralName::Other(Reader::new(v.body).expect(der::OID)?),
            0x81 => GeneralName::Email(v.body),
            0x82 => GeneralName::Dns(v.body),
            0xa4 => GeneralName::Directory(dn::canonical(Reader::new(v.body).expect(der::SEQUENCE)?)?),
            0x86 => GeneralName::Uri(v.body),
            0x87 => GeneralName::Ip(v.body),
            0xa3 | 0xa5 | 0x88 => GeneralName::Unsupported(v.tag),
            _ => return None,
        })
    }

    /// Returns whether constraints of that kind apply to this name.
    pub fn is_same_kind(&self, constraint: &GeneralName<'_>) -> bool {
        use GeneralName as N;
        match (self, constraint) {
            (N::Other(SMTP_UTF8_MAILBOX), other) => matches!(other, N::Email(_)),
            (N::Other(a), N::Other(b)) => a == b,
            (N::Unsupported(a), N::Unsupported(b)) => a == b,
            (a, b) => std::mem::discriminant(a) == std::mem::discriminant(b),
        }
    }
}

/// Parses GeneralNames.
pub fn list(value: &[u8]) -> Option<Vec<GeneralName<'_>>> {
    all(Reader::new(value).sequence()?)
}

/// Parses names up to the end.
pub fn all(mut r: Reader<'_>) -> Option<Vec<GeneralName<'_>>> {
    let mut out = Vec::new();
    while !r.is_empty() {
        out.push(GeneralName::read(&mut r)?);
    }
    Some(out)
}

/// Parses the next name.
pub fn next<'a>(r: &mut Reader<'a>) -> Option<GeneralName<'a>> {
    GeneralName::read(r)
}
