//! The path of an IMAP URL (RFC 5092 section 11): a mailbox, and parameters that select one message or a part
//! of it.

use crate::escape::{self, Reject, RejectedOctet};

/// The path is invalid, or contains control characters, which cannot be sent in a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Malformed;

/// A place on a server. All is decoded.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UrlPath {
    pub mailbox: Option<Vec<u8>>,
    /// `;UIDVALIDITY=`: the value required of the mailbox, if it reports one.
    pub uid_validity: Option<u32>,
    /// `;UID=`: the message, by its unique identifier.
    pub uid: Option<Vec<u8>>,
    /// `;MAILINDEX=`: the message, by its number in the mailbox.
    pub index: Option<Vec<u8>>,
    /// `;SECTION=`: the part of it.
    pub section: Option<Vec<u8>>,
    /// `;PARTIAL=`: the octets of that.
    pub partial: Option<Vec<u8>>,
}

impl From<RejectedOctet> for Malformed {
    fn from(_: RejectedOctet) -> Malformed {
        Malformed
    }
}

impl UrlPath {
    /// Parses a path, which begins with a slash.
    pub fn parse(path: &[u8]) -> Result<UrlPath, Malformed> {
        let (mailbox, mut rest) = split(path.get(1..).unwrap_or_default());
        let mut place = UrlPath::default();
        if !mailbox.is_empty() {
            let mailbox = mailbox.strip_suffix(b"/").filter(|m| !m.is_empty()).unwrap_or(mailbox);
            place.mailbox = Some(escape::decode(mailbox, Reject::Control)?);
        }
        while let Some(parameter) = rest.strip_prefix(b";") {
            let equals = parameter.iter().position(|&octet| octet == b'=').ok_or(Malformed)?;
            let name = escape::decode(&parameter[..equals], Reject::Control)?;
            let value;
            (value, rest) = split(&parameter[equals + 1..]);
            if !value.is_empty() {
                place.set(&name, escape::decode(value, Reject::Control)?)?;
            }
        }
        if rest.is_empty() { Ok(place) } else { Err(Malformed) }
    }

    /// Takes one parameter, once.
    fn set(&mut self, name: &[u8], mut value: Vec<u8>) -> Result<(), Malformed> {
        if value.last() == Some(&b'/') {
            value.pop();
        }
        if name.eq_ignore_ascii_case(b"UIDVALIDITY") && self.uid_validity.is_none() {
            self.uid_validity = super::response::number(&value).and_then(|n| u32::try_from(n).ok());
            return Ok(());
        }
        let parameters: [(&[u8], &mut Option<Vec<u8>>); 4] = [
            (b"UID", &mut self.uid),
            (b"MAILINDEX", &mut self.index),
            (b"SECTION", &mut self.section),
            (b"PARTIAL", &mut self.partial),
        ];
        let free =
            parameters.into_iter().find(|(known, slot)| name.eq_ignore_ascii_case(known) && slot.is_none());
        *free.ok_or(Malformed)?.1 = Some(value);
        Ok(())
    }

    /// Whether one message is meant.
    pub fn is_message(&self) -> bool {
        self.uid.is_some() || self.index.is_some()
    }

    /// FETCH for that message (RFC 9051 sections 6.4.5 and 6.4.9).
    pub fn fetch(&self) -> Option<Vec<u8>> {
        let (verb, message): (&[u8], _) = match (&self.uid, &self.index) {
            (Some(uid), _) => (b"UID FETCH ", uid),
            (None, Some(index)) => (b"FETCH ", index),
            (None, None) => return None,
        };
        let section = self.section.as_deref().unwrap_or_default();
        let mut command = [verb, message, b" BODY[", section, b"]"].concat();
        if let Some(partial) = &self.partial {
            command.extend([b"<", &partial[..], b">"].concat());
        }
        Some(command)
    }
}

/// Splits off the characters allowed in a mailbox or a value (`bchar` of RFC 5092).
fn split(text: &[u8]) -> (&[u8], &[u8]) {
    let may = |octet: &u8| octet.is_ascii_alphanumeric() || b":@/&=-._~!$'()*+,%".contains(octet);
    text.split_at(text.iter().position(|octet| !may(octet)).unwrap_or(text.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(path: &str) -> Result<String, Malformed> {
        let place = UrlPath::parse(path.as_bytes())?;
        let text =
            |part: &Option<Vec<u8>>| part.as_deref().map_or("-".into(), String::from_utf8_lossy).into_owned();
        let parts = [&place.mailbox, &place.uid, &place.index, &place.section, &place.partial].map(text);
        Ok(format!("{} {:?}", parts.join(" "), place.uid_validity))
    }

    #[test]
    fn paths() {
        let rows = [
            ("", "- - - - - None"),
            ("/", "- - - - - None"),
            ("/INBOX", "INBOX - - - - None"),
            ("/a/b/", "a/b - - - - None"),
            ("//", "/ - - - - None"),
            ("/my%20box;UID=4", "my box 4 - - - None"),
            ("/800/;MAILINDEX=1", "800 - 1 - - None"),
            ("/800/;uid=1/;Section=2.3/;PARTIAL=0.1024", "800 1 - 2.3 0.1024 None"),
            ("/800;UIDVALIDITY=3857529045/;UID=2", "800 2 - - - Some(3857529045)"),
            ("/800;UIDVALIDITY=12x", "800 - - - - Some(12)"),
            ("/800;UIDVALIDITY=99999999999", "800 - - - - None"),
            ("/800;UIDVALIDITY=abc", "800 - - - - None"),
            ("/800;UID=", "800 - - - - None"),
        ];
        for (path, wanted) in rows {
            assert_eq!(shown(path).as_deref(), Ok(wanted), "{path}");
        }
    }

    #[test]
    fn refused() {
        for path in [
            "/a;UID",
            "/a;OTHER=1",
            "/a;UID=1/;UID=2",
            "/a%0d%0aA999%20LOGOUT",
            "/a;UID=1%0a",
            "/a;SECTION=%00",
            "/a;UID=1/<x",
            "/a b",
            "/a;=1",
            "/a;UID%0d=1",
            "/a?b",
            "/a;UIDVALIDITY=1/;UIDVALIDITY=2",
        ] {
            assert_eq!(UrlPath::parse(path.as_bytes()), Err(Malformed), "{path}");
        }
    }

    #[test]
    fn fetching() {
        let rows = [
            ("/a/;MAILINDEX=123/;SECTION=1", Some("FETCH 123 BODY[1]")),
            ("/a/;UID=1", Some("UID FETCH 1 BODY[]")),
            ("/a/;UID=1/;MAILINDEX=2", Some("UID FETCH 1 BODY[]")),
            ("/a/;UID=9/;SECTION=TEXT/;PARTIAL=0.10", Some("UID FETCH 9 BODY[TEXT]<0.10>")),
            ("/a", None),
        ];
        for (path, wanted) in rows {
            let place = UrlPath::parse(path.as_bytes()).unwrap();
            assert_eq!(place.fetch().as_deref(), wanted.map(str::as_bytes), "{path}");
        }
    }
}
