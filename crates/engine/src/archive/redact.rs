//! Replaces secrets in files that are meant to be shared (archives, pictures, logs, traces) or that remain
//! (the journal of the tool's `--segments`).

use wire::url::{Url, flag};

use super::fields;

/// The replacement for a secret.
pub const REDACTED: &str = "(redacted)";

/// Whether an archive contains secrets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Secrets {
    #[default]
    Omitted,
    Kept,
}

impl Secrets {
    /// Returns a URL as an archive shows it.
    pub fn url(self, text: &str) -> String {
        if self == Secrets::Kept { text.to_owned() } else { url(text) }
    }

    /// Returns a form as an archive shows it.
    pub fn form(self, text: &str) -> String {
        if self == Secrets::Kept { text.to_owned() } else { form(text) }
    }

    /// Returns the value of a cookie as an archive shows it.
    pub fn cookie(self, value: &str) -> &str {
        if self == Secrets::Kept { value } else { REDACTED }
    }

    /// Returns the value of a field of a request as an archive shows it.
    pub fn sent(self, name: &str, value: &str) -> String {
        if self == Secrets::Kept { value.to_owned() } else { sent(name, value) }
    }

    /// Returns the value of a field of a reply as an archive shows it.
    pub fn received(self, name: &str, value: &str) -> String {
        if self == Secrets::Kept { value.to_owned() } else { received(name, value) }
    }
}

/// Parts of the names of parameters and fields with secrets in them, and whole names; without `-` and `_`.
const PARTS: [&str; 13] = [
    "accesskey",
    "apikey",
    "assertion",
    "auth",
    "cookie",
    "credential",
    "jwt",
    "passphrase",
    "passw",
    "secret",
    "session",
    "signature",
    "token",
];
const WHOLE: [&str; 12] =
    ["code", "hmac", "key", "otp", "pass", "pin", "privatekey", "pw", "pwd", "sid", "sig", "ticket"];
/// Fields of a reply that sound like secrets and are none.
const CHALLENGES: [&str; 3] = ["WWW-Authenticate", "Proxy-Authenticate", "Access-Control-Allow-Credentials"];
/// Request fields that describe the user, but do not authenticate anybody.
const OPEN: [&str; 3] = ["Host", "From", "Origin"];

/// Returns a URL without user name and password.
pub fn without_login(url: &[u8]) -> Vec<u8> {
    let start = authority_start(url);
    let rest = &url[start..];
    let end = rest.iter().position(|byte| b"/?#".contains(byte)).unwrap_or(rest.len());
    let last_at = |text: &[u8]| text.iter().rposition(|byte| *byte == b'@');
    // Text that is not a URL may have a slash in its password.
    let parse = || Url::parse(url, flag::GUESS_SCHEME | flag::NON_SUPPORT_SCHEME);
    let odd = || !url.starts_with(b"/") && parse().is_err();
    let at = last_at(&rest[..end]).or_else(|| odd().then(|| last_at(rest)).flatten());
    [&url[..start], &rest[at.map_or(0, |at| at + 1)..]].concat()
}

/// Returns the position of the host or login: after the scheme and one to three slashes.
fn authority_start(url: &[u8]) -> usize {
    let letters = url.iter().take_while(|byte| byte.is_ascii_alphanumeric() || b"+.-".contains(byte)).count();
    let is_slash = |byte: &&u8| matches!(byte, b'/' | b'\\');
    let slashes = url.get(letters + 1..).unwrap_or_default().iter().take_while(is_slash).count();
    match url.get(letters) {
        Some(b':') if slashes > 0 => letters + 1 + slashes,
        _ if url.starts_with(b"//") => 2,
        _ => 0,
    }
}

/// Returns a URL without login, query and fragment.
pub fn place(url: &[u8]) -> Vec<u8> {
    let mut url = without_login(url);
    let end = url.iter().position(|byte| b"?#".contains(byte)).unwrap_or(url.len());
    url.truncate(end);
    url
}

/// Like [`place`], for display; a mark replaces the query.
pub fn shown_place(url: &str) -> String {
    let mark = if url.contains('?') { "?…" } else { "" };
    format!("{}{mark}", String::from_utf8_lossy(&place(url.as_bytes())))
}

/// Returns a URL without login, and without the values of parameters that look like secrets.
pub fn url(url: &str) -> String {
    let url = String::from_utf8_lossy(&without_login(url.as_bytes())).into_owned();
    let Some((before, rest)) = url.split_once('?') else { return url };
    let (query, fragment) = rest.split_once('#').map_or((rest, None), |(query, rest)| (query, Some(rest)));
    let fragment = fragment.map_or(String::new(), |text| format!("#{}", form(text)));
    format!("{before}?{}{fragment}", form(query))
}

/// Returns the parameters of a query or a form, joined by `&`, without the values of secrets.
fn form(text: &str) -> String {
    let one = |pair: &str| match pair.split_once('=') {
        Some((name, value)) if is_secret(name) && !value.is_empty() => format!("{name}={REDACTED}"),
        _ => pair.to_owned(),
    };
    text.split('&').map(one).collect::<Vec<_>>().join("&")
}

/// Returns whether a parameter or field of that name is likely to be a secret.
pub fn is_secret(name: &str) -> bool {
    let name: String =
        name.chars().filter(|c| !matches!(c, '-' | '_')).map(|c| c.to_ascii_lowercase()).collect();
    PARTS.iter().any(|part| name.contains(part)) || WHOLE.contains(&name.as_str())
}

/// Returns the displayable value of a sent field. Only known fields without credentials are shown.
fn sent(name: &str, value: &str) -> String {
    let open = OPEN.iter().any(|known| name.eq_ignore_ascii_case(known));
    if open || fields::is_harmless(name.as_bytes()) {
        return links(name, value);
    }
    // Which way of logging in it was is no secret.
    let scheme =
        name.to_ascii_lowercase().ends_with("authorization").then(|| value.split_once(' ')).flatten();
    scheme.map_or(REDACTED.to_owned(), |(scheme, _)| format!("{scheme} {REDACTED}"))
}

/// Returns the displayable value of a field that was received.
fn received(name: &str, value: &str) -> String {
    let challenge = CHALLENGES.iter().any(|known| name.eq_ignore_ascii_case(known));
    if is_secret(name) && !challenge { REDACTED.to_owned() } else { links(name, value) }
}

/// URLs in the values of fields that have some.
fn links(name: &str, value: &str) -> String {
    let is = |known: &str| name.eq_ignore_ascii_case(known);
    if is("Location") || is("Content-Location") || is("Referer") {
        return url(value);
    }
    if !is("Link") {
        return value.to_owned();
    }
    let link = |piece: &str| match piece.split_once('>') {
        Some((target, rest)) => format!("<{}>{rest}", url(target)),
        None => format!("<{}", url(piece)),
    };
    let mut pieces = value.split('<');
    let first = pieces.next().unwrap_or_default().to_owned();
    first + &pieces.map(link).collect::<String>()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logins_go_from_any_url() {
        let of = |text: &str| String::from_utf8(without_login(text.as_bytes())).unwrap();
        for (from, to) in [
            ("http://me:pw@h/a@b?c@d", "http://h/a@b?c@d"),
            ("me:pw@h/a", "h/a"),
            ("http:/me:pw@h/a", "http:/h/a"),
            ("http:///me:pw@h/a", "http:///h/a"),
            ("ftp://me@h", "ftp://h"),
            ("http://a@b:pw@h/", "http://h/"),
            ("http://me:p/w@h o/", "http://h o/"),
            ("http://h/@scope/x", "http://h/@scope/x"),
            ("//me@h/a", "//h/a"),
            ("/@scope/x", "/@scope/x"),
            ("", ""),
        ] {
            assert_eq!(of(from), to, "{from}");
        }
        assert_eq!(place(b"https://me:pw@h/a?token=x#y"), b"https://h/a");
        assert_eq!(shown_place("http://me:pw@h/a?b=c"), "http://h/a?…");
    }

    #[test]
    fn parameters_keep_their_names() {
        let text = "http://h/a?X-Amz-Signature=s&q=1&access_token=t&code=c&author&key=#id_token=i&x=2";
        let expected = "http://h/a?X-Amz-Signature=(redacted)&q=1&access_token=(redacted)&code=(redacted)\
                        &author&key=#id_token=(redacted)&x=2";
        assert_eq!(url(text), expected);
        assert_eq!(form("user=me&Password=x&page=2"), "user=me&Password=(redacted)&page=2");
    }

    #[test]
    fn fields_that_are_not_known_are_not_shown() {
        assert_eq!(sent("authorization", "Basic bWU6cHc="), "Basic (redacted)");
        for name in ["Cookie", "X-Api-Key", "PRIVATE-TOKEN", "Anything", "proxy-authorization"] {
            assert_eq!(sent(name, "x"), REDACTED, "{name}");
        }
        assert_eq!(sent("Accept", "a/b"), "a/b");
        assert_eq!(sent("Referer", "http://me:pw@h/?token=x"), "http://h/?token=(redacted)");
        assert_eq!(received("Set-Cookie", "a=b"), REDACTED);
        assert_eq!(received("X-Auth-Token", "a"), REDACTED);
        assert_eq!(received("WWW-Authenticate", "Basic"), "Basic");
        assert_eq!(received("Location", "//me:pw@h/?sig=1"), "//h/?sig=(redacted)");
        assert_eq!(
            received("Link", "<http://me:pw@h/>; a, <b?token=c>"),
            "<http://h/>; a, <b?token=(redacted)>"
        );
    }
}
