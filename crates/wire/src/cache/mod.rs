//! Rules of a private HTTP cache (RFC 9111, RFC 5861), as pure functions of heads and times. The caller
//! stores the responses. Times are seconds since 1970, all by the same clock.

mod control;
mod dictionary;
mod parts;
mod range;
#[cfg(test)]
mod tests;

pub use control::Control;
pub use dictionary::UseAsDictionary;
pub use parts::{
    Assembly, Piece, RestVerdict, StoredBytes, are_of_one_content, assemble, completes, if_range,
    rest_verdict,
};
pub use range::{ByteRange, ContentRange, RangeSource, Selection, has_strong_validator, is_part, select};

use crate::date;

/// Name and value of a field, without its surrounding blanks.
pub type Field = (Vec<u8>, Vec<u8>);

/// Heuristic freshness: the fraction of the time since the last modification (§4.2.2), and its maximum.
const HEURISTIC_PART: i64 = 10;
const LONGEST_HEURISTIC_S: i64 = 24 * 3600;

/// Final statuses whose caching rules are understood.
const UNDERSTOOD: [u16; 15] = [200, 203, 204, 206, 300, 301, 302, 303, 307, 308, 404, 405, 410, 414, 501];
/// Statuses that are never stored: confirmations (§4.3.3), challenges, which a login answers, ranges that are
/// not satisfiable, and answers to a client that is too slow, early or frequent.
const NEVER: [u16; 7] = [304, 401, 407, 408, 416, 425, 429];
/// Statuses that may be stored without explicit permission (RFC 9110 §15.1).
const BY_DEFAULT: [u16; 12] = [200, 203, 204, 206, 300, 301, 308, 404, 405, 410, 414, 501];

/// Fields of the connection, not of the reply (§3.1, RFC 9110 §7.6.1).
const OF_THE_CONNECTION: [&str; 10] = [
    "Connection",
    "Keep-Alive",
    "Proxy-Authenticate",
    "Proxy-Authentication-Info",
    "Proxy-Authorization",
    "Proxy-Connection",
    "TE",
    "Trailer",
    "Transfer-Encoding",
    "Upgrade",
];
/// Fields that a 304 must not change: they describe the octets of the stored body (§3.2).
const OF_THE_BODY: [&str; 4] = ["Content-Encoding", "Content-Length", "Content-MD5", "Content-Range"];

/// Fields with which an application itself asks whether something has changed, or sends a part.
const CONDITIONS: [&str; 6] =
    ["If-Match", "If-Modified-Since", "If-None-Match", "If-Range", "If-Unmodified-Since", "Content-Range"];

/// A stored response.
#[derive(Clone, Copy, Debug)]
pub struct StoredResponse<'a> {
    pub status: u16,
    pub fields: &'a [Field],
    /// When it was requested, and when its head was received.
    pub asked: i64,
    pub received: i64,
}

/// The decision about a request with a stored response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The reply serves, and has this age in seconds.
    Serve { age: i64, stale: bool },
    /// Ask the server whether the stored response is still valid.
    Validate,
}

/// The values of a field, one behind the other as in one line; none where it is not there.
pub fn value(fields: &[Field], name: &str) -> Option<Vec<u8>> {
    let values: Vec<&[u8]> = all(fields, name).collect();
    (!values.is_empty()).then(|| values.join(b", ".as_slice()))
}

fn all<'a>(fields: &'a [Field], name: &'a str) -> impl Iterator<Item = &'a [u8]> {
    let same = move |own: &[u8]| own.eq_ignore_ascii_case(name.as_bytes());
    fields.iter().filter(move |(own, _)| same(own)).map(|(_, value)| value.as_slice())
}

/// Returns the value of the first field with this name.
fn first<'a>(fields: &'a [Field], name: &'a str) -> Option<&'a [u8]> {
    all(fields, name).next()
}

/// Returns whether a request has conditions of its own, or a Range that is not one range of bytes.
pub fn is_conditional(request: &[Field]) -> bool {
    let odd_range = first(request, "Range").is_some() && ByteRange::of(request).is_none();
    odd_range || CONDITIONS.iter().any(|name| first(request, name).is_some())
}

/// Returns whether a response to GET or HEAD may be stored (§3) and can be useful later: it is fresh for a
/// while, or can be revalidated.
pub fn is_storable(request: &[Field], kept: StoredResponse) -> bool {
    let (from_client, from_server) = (Control::of(request), Control::of(kept.fields));
    let explicit = from_server.max_age.is_some() || first(kept.fields, "Expires").is_some();
    let allowed = match is_error(kept.status) {
        // A passing error is not worth a revalidation.
        true => explicit && lifetime(kept) > 0,
        false => from_server.public || from_server.private || explicit || BY_DEFAULT.contains(&kept.status),
    };
    let ranged = first(request, "Range").is_some();
    let fits_range = match kept.status {
        200 => true,
        206 => ranged && ContentRange::of(kept.fields).is_some(),
        // Another status may be the server's answer to the range, not to the URL.
        _ => !ranged,
    };
    let understood = UNDERSTOOD.contains(&kept.status)
        || !from_server.must_understand && kept.status >= 200 && !NEVER.contains(&kept.status);
    understood
        && fits_range
        && !from_client.no_store
        && !from_server.no_store
        && allowed
        && nominated(kept.fields).is_some()
        && (lifetime(kept) > 0 || !conditions(kept.fields).is_empty())
}

/// How long a reply is fresh (§4.2.1), in seconds from when the server made it.
pub fn lifetime(kept: StoredResponse) -> i64 {
    let from_server = Control::of(kept.fields);
    if let Some(seconds) = from_server.max_age {
        return seconds;
    }
    let date = made(kept);
    if let Some(expires) = first(kept.fields, "Expires") {
        // Several different dates are invalid, and an invalid date counts as past (§5.3, §4.2.1).
        let agree = all(kept.fields, "Expires").all(|other| other == expires);
        let at = date::parse_strictly(expires, kept.received).filter(|_| agree);
        return at.map_or(0, |at| (at - date).max(0));
    }
    if !from_server.public && !BY_DEFAULT.contains(&kept.status) {
        return 0;
    }
    let changed = first(kept.fields, "Last-Modified").and_then(date::parse);
    changed.map_or(0, |changed| ((date - changed) / HEURISTIC_PART).clamp(0, LONGEST_HEURISTIC_S))
}

/// Returns when the server generated the response: its Date, or else when it was received (RFC 9110 §5.6.1).
fn made(kept: StoredResponse) -> i64 {
    first(kept.fields, "Date").and_then(date::parse).unwrap_or(kept.received)
}

/// Returns the current age (§4.2.3). If the clock went back, the age is unknown, and the response counts as
/// old.
pub fn age(kept: StoredResponse, now: i64) -> Option<i64> {
    let apparent = (kept.received - made(kept)).max(0);
    let in_field = first(kept.fields, "Age").map_or(0, |value| {
        let end = value.iter().position(|byte| *byte == b',').unwrap_or(value.len());
        control::seconds(value[..end].trim_ascii()).unwrap_or(0)
    });
    let delay = kept.received - kept.asked;
    let resident = now - kept.received;
    (delay >= 0 && resident >= 0).then(|| apparent.max(in_field + delay) + resident)
}

/// Whether a reply serves this request as it is (§4.2, §5.2.1).
pub fn verdict(request: &[Field], kept: StoredResponse, now: i64) -> Verdict {
    let (from_client, from_server) = (Control::of(request), Control::of(kept.fields));
    let Some(age) = age(kept, now).filter(|_| !from_client.no_cache && !from_server.no_cache) else {
        return Verdict::Validate;
    };
    let left = lifetime(kept) - age;
    // A reload asks by max-age=0 whether something has changed; the server has said that nothing will
    // (RFC 8246 §2). `no-cache` asks all the same.
    let needless_reload = from_server.immutable && left > 0 && from_client.max_age == Some(0);
    if from_client.max_age.is_some_and(|most| age > most) && !needless_reload {
        return Verdict::Validate;
    }
    if left > 0 && from_client.min_fresh.is_none_or(|least| left >= least) {
        return Verdict::Serve { age, stale: false };
    }
    let late =
        from_client.max_stale.filter(|_| !from_server.must_revalidate && from_client.min_fresh.is_none());
    match late {
        Some(most) if -left <= most => Verdict::Serve { age, stale: true },
        _ => Verdict::Validate,
    }
}

/// Returns the age if the response may be used stale because of an error (RFC 5861 §4).
pub fn stands_in(request: &[Field], kept: StoredResponse, now: i64) -> Option<i64> {
    let (from_client, from_server) = (Control::of(request), Control::of(kept.fields));
    let most = from_client.stale_if_error.or(from_server.stale_if_error)?;
    let age = age(kept, now)
        .filter(|_| !from_server.must_revalidate && !from_server.no_cache && !from_client.no_cache)?;
    (age - lifetime(kept) <= most).then_some(age)
}

/// Returns whether a status is an error for which a stale response may be used, and after which a retry may
/// succeed.
pub fn is_error(status: u16) -> bool {
    matches!(status, 500 | 502 | 503 | 504)
}

/// Returns the conditional fields for the revalidation of a stored response (§4.3.1); empty if it cannot be
/// validated. A part needs a strong validator: the requester may join it with others.
pub fn revalidation(request: &[Field], kept: StoredResponse) -> Vec<Field> {
    let ranged = first(request, "Range").is_some();
    if is_error(kept.status) || ranged && !has_strong_validator(kept.fields) {
        return Vec::new();
    }
    conditions(kept.fields)
}

/// Returns the conditional fields for the validators of a response.
fn conditions(reply: &[Field]) -> Vec<Field> {
    let pair = |name: &str, from: &str| {
        let value = first(reply, from).filter(|value| !value.is_empty())?;
        Some((name.as_bytes().to_vec(), value.to_vec()))
    };
    let changed =
        pair("If-Modified-Since", "Last-Modified").filter(|(_, value)| date::parse(value).is_some());
    pair("If-None-Match", "ETag").into_iter().chain(changed).collect()
}

/// Returns whether a 304 confirms this stored response (§4.3.4).
pub fn confirms(reply: &[Field], answer: &[Field]) -> bool {
    let opaque = |tag: &[u8]| tag.strip_prefix(b"W/").unwrap_or(tag).to_vec();
    match (first(answer, "ETag"), first(reply, "ETag")) {
        (Some(new), Some(old)) => opaque(new) == opaque(old),
        (Some(_), None) => false,
        // Without an entity tag the dates decide. Without either, the 304 answers our condition.
        (None, _) => match (first(answer, "Last-Modified"), first(reply, "Last-Modified")) {
            (Some(new), Some(old)) => new == old,
            _ => true,
        },
    }
}

/// Merges the fields of a 304 into those of the stored response (§3.2).
pub fn merged(reply: &[Field], answer: &[Field]) -> Vec<Field> {
    let fixed = |name: &[u8]| OF_THE_BODY.iter().any(|own| name.eq_ignore_ascii_case(own.as_bytes()));
    let new: Vec<Field> = lasting(answer).into_iter().filter(|(name, _)| !fixed(name)).collect();
    let replaced = |name: &[u8]| new.iter().any(|(other, _)| other.eq_ignore_ascii_case(name));
    // The old age says nothing about the current one.
    let old = reply.iter().filter(|(name, _)| !replaced(name) && !name.eq_ignore_ascii_case(b"Age"));
    old.cloned().chain(new.clone()).collect()
}

/// Returns the fields to store (§3.1).
pub fn lasting(reply: &[Field]) -> Vec<Field> {
    let connection = value(reply, "Connection").unwrap_or_default();
    let named = connection.split(|byte| *byte == b',').map(<[u8]>::trim_ascii);
    let named: Vec<&[u8]> = named.filter(|name| !name.is_empty()).collect();
    let passing = |name: &[u8]| {
        OF_THE_CONNECTION.iter().any(|own| name.eq_ignore_ascii_case(own.as_bytes()))
            || named.iter().any(|own| name.eq_ignore_ascii_case(own))
    };
    reply.iter().filter(|(name, _)| !passing(name)).cloned().collect()
}

/// Returns the request fields that the response varies by (§4.1), in lower case; `None` for "*", which never
/// matches.
pub fn nominated(reply: &[Field]) -> Option<Vec<Vec<u8>>> {
    let vary = value(reply, "Vary").unwrap_or_default();
    let words = vary.split(|byte| *byte == b',').map(|word| word.trim_ascii().to_ascii_lowercase());
    let mut names: Vec<Vec<u8>> = words.filter(|word| !word.is_empty()).collect();
    names.sort();
    names.dedup();
    (!names.iter().any(|name| name == b"*")).then_some(names)
}

/// Returns the values of those fields in a request; `None` for a missing field.
pub fn selected(names: &[Vec<u8>], request: &[Field]) -> Vec<(Vec<u8>, Option<Vec<u8>>)> {
    let of = |name: &Vec<u8>| {
        let values: Vec<&[u8]> = request
            .iter()
            .filter(|(own, _)| own.eq_ignore_ascii_case(name))
            .map(|(_, value)| value.trim_ascii())
            .collect();
        let value = (!values.is_empty()).then(|| values.join(b",".as_slice()));
        let normal = |value: Vec<u8>| match name.as_slice() {
            b"accept-language" => languages(&value),
            _ => normalized(&value),
        };
        (name.clone(), value.map(normal))
    };
    names.iter().map(of).collect()
}

/// Returns a field's value without blanks around the commas of a list. A recipient may join lines by a comma
/// with or without blanks (RFC 9110 §5.2), so the meaning cannot depend on them. Quoted text is kept.
pub fn normalized(value: &[u8]) -> Vec<u8> {
    let mut out: Vec<u8> = Vec::with_capacity(value.len());
    let (mut quoted, mut escaped) = (false, false);
    for byte in value.trim_ascii() {
        let blank = matches!(byte, b' ' | b'\t');
        if !quoted && *byte == b',' {
            out.truncate(out.trim_ascii_end().len());
        }
        if quoted || !blank || out.last().is_some_and(|last| *last != b',') {
            out.push(*byte);
        }
        quoted ^= *byte == b'"' && !escaped;
        escaped = quoted && *byte == b'\\' && !escaped;
    }
    out
}

/// Returns a list of languages without blanks, in lower case and sorted: neither case nor order matters
/// (RFC 9110 §12.5.4, RFC 5646 §2.1.1).
fn languages(value: &[u8]) -> Vec<u8> {
    let plain: Vec<u8> = value.iter().filter(|byte| !byte.is_ascii_whitespace()).copied().collect();
    let lower = plain.to_ascii_lowercase();
    let mut words: Vec<&[u8]> = lower.split(|byte| *byte == b',').filter(|word| !word.is_empty()).collect();
    words.sort_unstable();
    words.join(b",".as_slice())
}

/// Returns whether a response to POST may answer a later GET of its URL (RFC 9110 §9.3.3): it is a complete
/// 200 that names that URL as its own place, and is explicitly fresh.
pub fn is_storable_post(request: &[Field], kept: StoredResponse, own_place: bool) -> bool {
    let from_server = Control::of(kept.fields);
    let explicit = from_server.max_age.is_some() || first(kept.fields, "Expires").is_some();
    own_place && kept.status == 200 && explicit && lifetime(kept) > 0 && is_storable(request, kept)
}

/// Returns whether a response to that method invalidates the stored responses of its URL (§4.4): the method
/// is not known to be safe, and the status is not an error.
pub fn invalidates(method: &[u8], status: u16) -> bool {
    let safe =
        [b"GET".as_slice(), b"HEAD", b"OPTIONS", b"TRACE", b"PROPFIND", b"REPORT", b"SEARCH", b"QUERY"];
    !safe.contains(&method) && (200..400).contains(&status)
}
