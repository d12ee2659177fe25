//! Checks that a list of fields is a valid message (RFC 9113 §8). A violation of the message format is an
//! error. A field that must not be passed on (a control character in a value) is dropped.

use super::fields::Fields;

/// The status of a response, whose fields then have no pseudo-fields.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReplyHead {
    pub status: u16,
    pub length: Option<u64>,
}

/// Why a list is malformed (RFC 9113 §8.1.1).
pub type Malformed = &'static str;

/// A reply's head.
pub fn reply(fields: &mut Fields) -> Result<ReplyHead, Malformed> {
    let mut status = None;
    let mut length = None;
    judge(fields, |name, value| match name {
        b":status" if status.is_some() => Err("two :status"),
        b":status" => {
            status = Some(status_code(value).ok_or("invalid :status")?);
            Ok(false)
        }
        [b':', ..] => Err("unknown pseudo-field in a reply"),
        b"content-length" => {
            let declared = decimal(value).ok_or("invalid content-length")?;
            match length.replace(declared) {
                Some(before) if before != declared => Err("two lengths"),
                before => Ok(before.is_none()),
            }
        }
        _ => Ok(true),
    })?;
    Ok(ReplyHead { status: status.ok_or("no :status")?, length })
}

/// Fields after a body.
pub fn trailers(fields: &mut Fields) -> Result<(), Malformed> {
    judge(fields, |name, _| if name.starts_with(b":") { Err("pseudo-field in trailers") } else { Ok(true) })
}

/// Checks a request that a server promises to answer. Pseudo-fields stay, and a dropped field is an error.
pub fn promise(fields: &mut Fields) -> Result<(), Malformed> {
    const PSEUDO: [&[u8]; 4] = [b":method", b":scheme", b":authority", b":path"];
    let mut seen = [false; PSEUDO.len()];
    judge(fields, |name, value| {
        if let Some(at) = PSEUDO.iter().position(|known| *known == name) {
            if std::mem::replace(&mut seen[at], true) || value.is_empty() {
                return Err("pseudo-field of a promise twice or empty");
            }
            // A promised request must be safe and without a body (RFC 9113 §8.4).
            if at == 0 && value != b"GET" && value != b"HEAD" {
                return Err("promise of an unsafe method");
            }
            return Ok(true);
        }
        if name.starts_with(b":") { Err("unknown pseudo-field in a promise") } else { Ok(true) }
    })?;
    if seen == [true; PSEUDO.len()] { Ok(()) } else { Err("promise without a pseudo-field") }
}

/// Checks the rules that all messages share, and calls `own` for each field; `Ok(false)` drops the field.
fn judge(
    fields: &mut Fields,
    mut own: impl FnMut(&[u8], &[u8]) -> Result<bool, Malformed>,
) -> Result<(), Malformed> {
    let mut verdict = Ok(());
    let mut regular = false;
    fields.retain(|name, value| {
        if verdict.is_err() {
            return false;
        }
        let pseudo = name.first() == Some(&b':');
        let kept = common(name, value, pseudo, regular).and_then(|fit| Ok(own(name, value)? && fit));
        regular |= !pseudo;
        kept.unwrap_or_else(|why| {
            verdict = Err(why);
            false
        })
    });
    verdict
}

/// Whether a field may be handed on (RFC 9113 §8.2, §8.3).
fn common(name: &[u8], value: &[u8], pseudo: bool, regular: bool) -> Result<bool, Malformed> {
    if pseudo && regular {
        return Err("pseudo-field behind others");
    }
    let (in_all, in_any) = classes_of(name);
    if in_any & UPPER != 0 {
        return Err("upper case in the name of a field");
    }
    if hop_by_hop(name) || (name == b"te" && value != b"trailers") {
        return Err("field of a connection");
    }
    let name_fits = pseudo || (!name.is_empty() && in_all & TOKEN != 0);
    let value_fits = classes_of(value).0 & TEXT != 0;
    match pseudo && !value_fits {
        true => Err("control character in a pseudo-field"),
        false => Ok(name_fits && value_fits),
    }
}

/// Returns whether a field concerns an HTTP/1 connection (RFC 9113 §8.2.2). Requests omit such fields.
pub fn hop_by_hop(name: &[u8]) -> bool {
    const NAMES: [&[u8]; 5] =
        [b"connection", b"transfer-encoding", b"upgrade", b"keep-alive", b"proxy-connection"];
    NAMES.iter().any(|known| known.eq_ignore_ascii_case(name))
}

/// Classes of a byte: part of a token, an upper case letter, part of a value (RFC 9110 §5.6.2, §5.5).
const TOKEN: u8 = 1;
const UPPER: u8 = 2;
const TEXT: u8 = 4;

static CLASSES: [u8; 256] = {
    let mut classes = [0; 256];
    let mut byte = 0;
    while byte < classes.len() {
        let upper = (byte as u8).is_ascii_uppercase();
        let text = byte == b'\t' as usize || byte >= b' ' as usize && byte != 0x7f;
        classes[byte] = if upper { UPPER } else { 0 } | if text { TEXT } else { 0 };
        if (byte as u8).is_ascii_alphanumeric() {
            classes[byte] |= TOKEN;
        }
        byte += 1;
    }
    let mut others: &[u8] = b"!#$%&'*+-.^_`|~";
    while let [byte, rest @ ..] = others {
        classes[*byte as usize] |= TOKEN;
        others = rest;
    }
    classes
};

/// Returns the classes that all bytes have, and those that any has.
fn classes_of(text: &[u8]) -> (u8, u8) {
    text.iter().fold((TOKEN | UPPER | TEXT, 0), |(all, any), byte| {
        let classes = CLASSES[*byte as usize];
        (all & classes, any | classes)
    })
}

/// Three digits; the first says the class.
fn status_code(value: &[u8]) -> Option<u16> {
    match value {
        [a @ b'1'..=b'9', b @ b'0'..=b'9', c @ b'0'..=b'9'] => {
            Some([a, b, c].iter().fold(0, |code, digit| code * 10 + u16::from(**digit - b'0')))
        }
        _ => None,
    }
}

fn decimal(value: &[u8]) -> Option<u64> {
    if value.is_empty() || !value.iter().all(u8::is_ascii_digit) {
        return None;
    }
    value.iter().try_fold(0u64, |n, digit| n.checked_mul(10)?.checked_add(u64::from(digit - b'0')))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fields(list: &[(&str, &str)]) -> Fields {
        let mut fields = Fields::default();
        list.iter().for_each(|(name, value)| fields.push(name.as_bytes(), value.as_bytes()));
        fields
    }

    #[test]
    fn a_reply_is_its_status_and_fields() {
        let mut list = fields(&[
            (":status", "200"),
            ("content-length", "10"),
            ("content-length", "10"),
            ("a b", "x"),
            ("x", "a\r\nb"),
            ("te", "trailers"),
            ("y", "z"),
        ]);
        assert_eq!(reply(&mut list), Ok(ReplyHead { status: 200, length: Some(10) }));
        let names: Vec<_> = list.iter().map(|(name, _)| name).collect();
        assert_eq!(names, [&b"content-length"[..], b"te", b"y"]);
    }

    #[test]
    fn malformed_replies_are_refused() {
        for list in [
            &[("x", "y")][..],
            &[(":status", "20")],
            &[(":status", "+20")],
            &[(":status", "2000")],
            &[(":status", "200"), (":status", "200")],
            &[("x", "y"), (":status", "200")],
            &[(":status", "200"), (":method", "GET")],
            &[(":status", "200"), ("X", "y")],
            &[(":status", "200"), ("connection", "close")],
            &[(":status", "200"), ("transfer-encoding", "chunked")],
            &[(":status", "200"), ("te", "gzip")],
            &[(":status", "200"), ("content-length", "1"), ("content-length", "2")],
            &[(":status", "200"), ("content-length", "-1")],
            &[(":status", "200"), ("content-length", "99999999999999999999")],
        ] {
            assert!(reply(&mut fields(list)).is_err(), "{list:?}");
        }
        assert!(trailers(&mut fields(&[("a", "b")])).is_ok());
        assert!(trailers(&mut fields(&[(":status", "200")])).is_err());
    }

    #[test]
    fn promises_are_whole_and_safe() {
        let whole =
            [(":method", "GET"), (":scheme", "https"), (":authority", "h"), (":path", "/"), ("a", "b")];
        assert!(promise(&mut fields(&whole)).is_ok());
        assert!(promise(&mut fields(&whole[1..])).is_err());
        let unsafe_one = [(":method", "POST"), whole[1], whole[2], whole[3]];
        assert!(promise(&mut fields(&unsafe_one)).is_err());
    }
}
