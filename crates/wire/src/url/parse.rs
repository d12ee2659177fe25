//! Splitting a whole URL into its parts.

use std::borrow::Cow;

use tables::Scheme;

use super::encode::{Space, encode_piece};
use super::host::parse_authority;
use super::path::has_no_dot_segments;
use super::texts::{PartTexts, TextPart};
use super::{DEFAULT_SCHEME, INPUT_LIMIT, SCHEME_LIMIT, Url, UrlError, flag, remove_dot_segments, scheme};

pub(super) fn parse(input: &[u8], flags: u32) -> Result<Url, UrlError> {
    scan_for_junk(input, flags)?;
    let guesses = flags & (flag::GUESS_SCHEME | flag::DEFAULT_SCHEME) != 0;
    let mut url = Url { texts: PartTexts::with_capacity(input.len()), ..Url::default() };
    let tail = match split_scheme(input, guesses) {
        Some((name, rest)) => {
            url.texts.set(TextPart::Scheme, Some(&in_lower_case(name)));
            if url.is_file() { file_path(input, rest, DRIVES)? } else { after_scheme(&mut url, rest, flags)? }
        }
        None if !guesses => {
            return Err(if input.is_empty() { UrlError::MalformedInput } else { UrlError::BadScheme });
        }
        None => without_scheme(&mut url, input, flags)?,
    };
    split_tail(&mut url, tail, flags);
    Ok(url)
}

/// Splits off the scheme. While guessing, "name:80" is a host and its port, so then a slash
/// must follow the colon.
pub(super) fn split_scheme(input: &[u8], guesses: bool) -> Option<(&[u8], &[u8])> {
    let is_scheme_octet = |octet: &u8| octet.is_ascii_alphanumeric() || b"+-.".contains(octet);
    let end = input.iter().take(SCHEME_LIMIT).position(|octet| !is_scheme_octet(octet));
    let end = end.unwrap_or(SCHEME_LIMIT.min(input.len()));
    let starts_well = input.first().is_some_and(u8::is_ascii_alphabetic);
    if !starts_well || input.get(end) != Some(&b':') || (guesses && input.get(end + 1) != Some(&b'/')) {
        return None;
    }
    Some((&input[..end], &input[end + 1..]))
}

fn in_lower_case(scheme: &[u8]) -> Cow<'_, [u8]> {
    match Scheme::from_name(scheme) {
        Some(known) => known.name().as_bytes().into(),
        None => scheme.to_ascii_lowercase().into(),
    }
}

/// Control characters are never allowed, spaces only on request.
fn scan_for_junk(input: &[u8], flags: u32) -> Result<(), UrlError> {
    let least = if flags & flag::ALLOW_SPACE != 0 { b' ' } else { b'!' };
    if input.is_empty()
        || input.len() > INPUT_LIMIT
        || input.iter().any(|&octet| octet < least || octet == 0x7f)
    {
        return Err(UrlError::MalformedInput);
    }
    Ok(())
}

/// Whether files are on drives with letters.
pub(super) const DRIVES: bool = cfg!(windows);

/// Returns the path of a file URL (RFC 8089; the host is empty, localhost or 127.0.0.1). On systems with
/// drives, the letter follows a slash, `/C:/folder`, or replaces the host; on other systems a URL with a
/// drive is refused.
fn file_path<'a>(input: &[u8], rest: &'a [u8], drives: bool) -> Result<&'a [u8], UrlError> {
    if input.len() <= "file:/".len() {
        return Err(UrlError::BadFileUrl);
    }
    let path = match rest.strip_prefix(b"//") {
        Some(after) if after.starts_with(b"/") => after,
        Some(_) if drives && has_drive(&rest[1..]) => &rest[1..],
        Some(after) => {
            let is_local =
                |host: &[u8]| after.get(..host.len()).is_some_and(|start| start.eq_ignore_ascii_case(host));
            if !is_local(b"localhost/") && !is_local(b"127.0.0.1/") {
                return Err(UrlError::BadFileUrl);
            }
            &after["localhost".len()..]
        }
        None => rest,
    };
    if !path.starts_with(b"/") || (!drives && has_drive(path)) {
        return Err(UrlError::BadFileUrl);
    }
    Ok(path)
}

fn has_drive(path: &[u8]) -> bool {
    matches!(path, [b'/', letter, b':' | b'|'] | [b'/', letter, b':' | b'|', b'/' | b'\\', ..]
        if letter.is_ascii_alphabetic())
}

/// Slashes and authority of any other scheme; returns path, query and fragment.
fn after_scheme<'a>(url: &mut Url, rest: &'a [u8], flags: u32) -> Result<&'a [u8], UrlError> {
    let name = url.scheme_as_written().unwrap_or_default();
    if flags & flag::NON_SUPPORT_SCHEME == 0 && scheme(name).is_none() {
        return Err(UrlError::UnsupportedScheme);
    }
    let slashes = rest.iter().take_while(|&&octet| octet == b'/').count();
    if flags & flag::NO_AUTHORITY != 0 && slashes > 2 {
        url.texts.set(TextPart::Host, Some(b""));
        return Ok(&rest[2..]);
    }
    if !(1..=3).contains(&slashes) {
        return Err(UrlError::BadSlashes);
    }
    let (authority, tail) = split_authority(&rest[slashes..]);
    if !authority.is_empty() {
        parse_authority(url, authority, flags, true)?;
    } else if flags & flag::NO_AUTHORITY != 0 {
        url.texts.set(TextPart::Host, Some(b""));
    } else {
        return Err(UrlError::NoHost);
    }
    Ok(tail)
}

/// A URL that starts with its host.
fn without_scheme<'a>(url: &mut Url, input: &'a [u8], flags: u32) -> Result<&'a [u8], UrlError> {
    let uses_default = flags & flag::DEFAULT_SCHEME != 0;
    if uses_default {
        url.texts.set(TextPart::Scheme, Some(DEFAULT_SCHEME.as_bytes()));
    }
    let (authority, tail) = split_authority(input);
    if authority.is_empty() {
        if flags & flag::NO_AUTHORITY == 0 {
            return Err(UrlError::NoHost);
        }
        url.texts.set(TextPart::Host, Some(b""));
        return Ok(tail);
    }
    parse_authority(url, authority, flags, uses_default)?;
    if !uses_default {
        let name = guess_scheme(url.host().unwrap_or_default());
        url.texts.set(TextPart::Scheme, Some(name.as_bytes()));
        url.scheme_was_guessed = true;
    }
    Ok(tail)
}

/// Guesses the scheme by the first label of the host, if there is a second one.
fn guess_scheme(host: &[u8]) -> &'static str {
    let label = host.split(|&octet| octet == b'.').next().unwrap_or_default();
    let has_more = label.len() < host.len();
    ["ftp", "dict", "ldap", "imap", "smtp", "pop3"]
        .into_iter()
        .find(|name| has_more && label.eq_ignore_ascii_case(name.as_bytes()))
        .unwrap_or("http")
}

fn split_authority(input: &[u8]) -> (&[u8], &[u8]) {
    input.split_at(input.iter().position(|octet| b"/?#".contains(octet)).unwrap_or(input.len()))
}

/// Path, query and fragment.
fn split_tail(url: &mut Url, tail: &[u8], flags: u32) {
    let encodes = flags & flag::URLENCODE != 0;
    let piece = |part, space| if encodes { encode_piece(part, space).into() } else { Cow::Borrowed(part) };
    let (tail, fragment) = split_at_octet(tail, b'#');
    let (path, query) = split_at_octet(tail, b'?');
    let path = piece(path, Space::Percent);
    if path.len() > 1 {
        let as_is = flags & flag::PATH_AS_IS != 0;
        let stays = as_is || has_no_dot_segments(&path);
        let path = if stays { path } else { remove_dot_segments(&path).into() };
        url.texts.set(TextPart::Path, Some(&path));
    }
    url.texts.set(TextPart::Query, query.map(|part| piece(part, Space::Plus)).as_deref());
    url.texts.set(TextPart::Fragment, fragment.map(|part| piece(part, Space::Percent)).as_deref());
}

fn split_at_octet(input: &[u8], separator: u8) -> (&[u8], Option<&[u8]>) {
    match input.iter().position(|&octet| octet == separator) {
        Some(at) => (&input[..at], Some(&input[at + 1..])),
        None => (input, None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The text after `file:`, and the path with and without drives.
    #[test]
    fn paths_of_file_urls() {
        let table: [(&str, Option<&str>, Option<&str>); 10] = [
            ("///C:/a/b", Some("/C:/a/b"), None),
            ("///c|/a", Some("/c|/a"), None),
            ("/C:/a", Some("/C:/a"), None),
            ("///C:", Some("/C:"), None),
            ("//C:/a", Some("/C:/a"), None),
            ("//localhost/C:/a", Some("/C:/a"), None),
            ("///Cx/a", Some("/Cx/a"), Some("/Cx/a")),
            ("///C:a", Some("/C:a"), Some("/C:a")),
            ("//host/C:/a", None, None),
            ("C:/a", None, None),
        ];
        for (rest, with_drives, without) in table {
            let path = |drives| {
                let input = format!("file:{rest}");
                file_path(input.as_bytes(), rest.as_bytes(), drives).ok().map(|path| path.to_vec())
            };
            assert_eq!(
                path(true).as_deref(),
                with_drives.map(str::as_bytes),
                "{rest} where there are drives"
            );
            assert_eq!(path(false).as_deref(), without.map(str::as_bytes), "{rest} where there are none");
        }
    }
}
