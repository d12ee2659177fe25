//! Names of local files: from URLs and from servers, made safe.

use crate::bytes::Bytes;
use crate::devices;
use crate::raw::content_disposition;
use crate::system::NAMES_DEVICES;

/// Used when a URL has no last part.
const UNNAMED: &[u8] = b"curl_response";

/// The last part of the path of a URL, for `--remote-name`; false when there was none.
pub fn from_url(path: &[u8]) -> (Bytes, bool) {
    let is_slash = |byte: &u8| matches!(byte, b'/' | b'\\');
    let name = path.rsplit(is_slash).find(|part| !part.is_empty()).unwrap_or_default();
    if matches!(name, b"" | b"." | b"..") {
        return (UNNAMED.to_vec(), false);
    }
    (made_safe(name.to_vec(), devices::plain), true)
}

fn last_part(path: &[u8]) -> &[u8] {
    path.rsplit(|byte| *byte == b'/').next().unwrap_or(path)
}

/// Some servers name files as Windows does.
fn after_backslash(name: &[u8]) -> &[u8] {
    name.rsplit(|byte| *byte == b'\\').next().unwrap_or(name)
}

/// Returns the name in a Content-Disposition header by RFC 6266, given its value. A value that violates the
/// grammar is read as curl reads it.
pub fn from_encoded_disposition(value: &[u8]) -> Option<Bytes> {
    match content_disposition::file_name(value) {
        Some(name) => from_document(&without_format_characters(name)),
        None => from_document(&from_disposition(value)?),
    }
}

/// Replaces control characters beyond ASCII, and those that change the direction of text: a listing shows
/// `photo\u{202e}gpj.exe` as `photoexe.jpg`.
fn without_format_characters(name: Bytes) -> Bytes {
    let reorders =
        |c: char| matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    match std::str::from_utf8(&name) {
        Ok(text) => text.replace(|c: char| c.is_control() && !c.is_ascii() || reorders(c), "_").into_bytes(),
        Err(_) => name,
    }
}

/// Returns the name in a Content-Disposition header as curl reads it, given its value.
pub fn from_disposition(value: &[u8]) -> Option<Bytes> {
    let mut rest = value;
    loop {
        let start = rest.iter().position(u8::is_ascii_alphabetic)?;
        rest = &rest[start..];
        // The encoded form, filename*=, is ignored, as in curl.
        if let Some(given) = rest.strip_prefix(b"filename=") {
            return safe(unquoted(given.trim_ascii_start()));
        }
        let next = rest.iter().position(|byte| *byte == b';')?;
        rest = &rest[next..];
    }
}

/// Returns the text inside quotes of either kind, or up to a semicolon.
fn unquoted(given: &[u8]) -> &[u8] {
    let (inside, stop) = match given.first() {
        Some(quote @ (b'"' | b'\'')) => (&given[1..], *quote),
        _ => (given, b';'),
    };
    let end = inside.iter().position(|byte| *byte == stop).unwrap_or(inside.len());
    &inside[..end]
}

/// The name at the end of a Location header's URL.
pub fn from_location(value: &[u8]) -> Option<Bytes> {
    let value = value.trim_ascii();
    let end = value.iter().position(|byte| matches!(byte, b'?' | b'#')).unwrap_or(value.len());
    safe(&value[..end])
}

/// Makes a name chosen by a server safe: no directories, no line ends, no control characters.
fn safe(name: &[u8]) -> Option<Bytes> {
    let name = after_backslash(last_part(name));
    let end = name.iter().position(|byte| matches!(byte, b'\r' | b'\n' | 0)).unwrap_or(name.len());
    let name: Bytes =
        name[..end].iter().map(|byte| if byte.is_ascii_control() { b'_' } else { *byte }).collect();
    (!matches!(name.as_slice(), b"" | b"." | b"..")).then(|| made_safe(name, devices::plain))
}

/// Returns the name that a document gives a file, without directories. Hidden files and `_netrc` or `_curlrc`
/// configure programs, and `-` is standard output: none of these is a valid name for a download.
pub fn from_document(name: &[u8]) -> Option<Bytes> {
    let name = safe(name)?;
    let configures = ["_netrc", "_curlrc"].iter().any(|file| name.eq_ignore_ascii_case(file.as_bytes()));
    (!name.starts_with(b".") && name != b"-" && !configures).then_some(name)
}

/// Converts a name from a URL or a server, on systems where names can mean other things than files.
pub fn made_safe(name: Bytes, by: fn(&[u8]) -> Bytes) -> Bytes {
    if NAMES_DEVICES { by(&name) } else { name }
}

/// Puts a directory in front of a name.
pub fn in_directory(directory: Option<&[u8]>, name: &[u8]) -> Bytes {
    match directory {
        Some(directory) if !directory.is_empty() => [directory, b"/", name].concat(),
        _ => name.to_vec(),
    }
}

/// The part of an upload's path that names the file.
pub fn upload_name(path: &[u8]) -> &[u8] {
    after_backslash(last_part(path))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(name: Option<Bytes>) -> Option<String> {
        name.map(|name| String::from_utf8(name).unwrap())
    }

    #[test]
    fn names_from_urls() {
        assert_eq!(from_url(b"/a/b.txt"), (b"b.txt".to_vec(), true));
        assert_eq!(from_url(b"/a/b/"), (b"b".to_vec(), true));
        assert_eq!(from_url(b"/a/b///"), (b"b".to_vec(), true));
        assert_eq!(from_url(b"/a/b/\\/"), (b"b".to_vec(), true));
        assert_eq!(from_url(b"///"), (b"curl_response".to_vec(), false));
        assert_eq!(from_url(b"/a/b\\c"), (b"c".to_vec(), true));
        assert_eq!(from_url(b"/a/b\\"), (b"b".to_vec(), true));
        assert_eq!(from_url(b"/"), (b"curl_response".to_vec(), false));
        assert_eq!(from_url(b"/a/.."), (b"curl_response".to_vec(), false));
    }

    /// CVE-2010-3842 (directories, with either slash)
    #[test]
    fn names_from_headers() {
        let named = |value: &str| text(from_disposition(value.as_bytes()));
        assert_eq!(named(" attachment; filename=\"a b.txt\"; x=y").as_deref(), Some("a b.txt"));
        assert_eq!(named("filename=name;x").as_deref(), Some("name"));
        assert_eq!(named("filename='it';").as_deref(), Some("it"));
        assert_eq!(named("inline; filename=\"../../etc/passwd\"").as_deref(), Some("passwd"));
        assert_eq!(named("filename=C:\\dir\\x.exe\r\n").as_deref(), Some("x.exe"));
        assert_eq!(named("filename=a\x1bb").as_deref(), Some("a_b"));
        assert_eq!(named("filename=\"dir/\""), None);
        assert_eq!(named("filename=.."), None);
        assert_eq!(named("attachment; filename*=UTF-8''x"), None);
        assert_eq!(named(""), None);
        assert_eq!(text(from_location(b" /a/b?x#y\r\n")).as_deref(), Some("b"));
        assert_eq!(text(from_location(b"http://host/")), None);
    }

    /// RFC 6266 section 4.3
    #[test]
    fn names_from_encoded_headers() {
        let named = |value: &str| text(from_encoded_disposition(value.as_bytes()));
        for (value, name) in [
            (" attachment; filename=x; filename*=UTF-8''%e2%82%ac%20rates\r\n", Some("\u{20ac} rates")),
            ("attachment; filename*=iso-8859-1'en'%A3", Some("\u{a3}")),
            ("attachment; filename*=UTF-8''..%2f..%2fetc%2fpasswd", Some("passwd")),
            ("attachment; filename*=UTF-8''C%3a%5Cdir%5Cx.exe", Some("x.exe")),
            ("attachment; filename*=UTF-8''a%0Ab", Some("a")),
            ("attachment; filename*=UTF-8''a%1bb%c2%9bc", Some("a_b_c")),
            ("attachment; filename*=UTF-8''photo%e2%80%aegpj.exe", Some("photo_gpj.exe")),
            ("attachment; filename*=UTF-8''.bashrc", None),
            ("attachment; filename*=UTF-8''..", None),
            ("attachment; filename*=UTF-8''-", None),
            ("attachment; filename=.netrc", None),
            ("attachment; filename=name with blanks", Some("name with blanks")),
            ("filename=unusual", Some("unusual")),
            ("attachment", None),
        ] {
            assert_eq!(named(value).as_deref(), name, "{value}");
        }
    }

    #[test]
    fn names_from_documents() {
        let named = |value: &str| text(from_document(value.as_bytes()));
        assert_eq!(named("a/b.iso").as_deref(), Some("b.iso"));
        assert_eq!(named("..\\x").as_deref(), Some("x"));
        assert_eq!(named("a\x07b").as_deref(), Some("a_b"));
        for name in ["", ".", "..", ".netrc", "x/.bashrc", "_NETRC", "a\\_curlrc", "-", "a/-", "dir/"] {
            assert_eq!(named(name), None, "{name}");
        }
    }

    #[test]
    fn directories_and_uploads() {
        assert_eq!(in_directory(Some(b"d"), b"n"), b"d/n");
        assert_eq!(in_directory(None, b"n"), b"n");
        assert_eq!(upload_name(b"/x/y\\z"), b"z");
    }
}
