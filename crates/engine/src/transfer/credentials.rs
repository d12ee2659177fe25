//! The user and password for the current URL: set by the application, in the URL, or in a .netrc file
//! (CURLOPT_USERPWD(3), CURLOPT_NETRC(3)). Each is for one server only.

use tables::constant::{CURL_NETRC_IGNORED, CURL_NETRC_REQUIRED};
use tables::scheme::Family;
use tables::{Code, EasyOption as O};
use wire::url::Url;

use super::Route;
use super::login::{ANONYMOUS, Login};
use super::secret::{Peer, Secret};
use crate::error::{Error, Result};
use crate::sys::path_buf;

/// Returns the login for the current URL. The application's login has precedence over the URL's, and that
/// over the file's.
pub fn credentials(t: &Route) -> Result<Option<Secret<Login>>> {
    let peer = t.peer();
    let set = |option| t.text(option).and_then(|text| t.secret(text).for_peer(&peer).map(|s| s.to_vec()));
    let (user, password) = (set(O::Username), set(O::Password));
    // If HTTP authentication is not requested, an empty login counts as one; a file's has precedence over it.
    let nothing = |user: &[u8], password: Option<&[u8]>| {
        user.is_empty() && password.is_none_or(<[u8]>::is_empty) && !t.scheme().family().asks_by_http()
    };
    let filed = || Ok::<_, Error>(from_file(t, None)?.unwrap_or_default());
    // If it is requested, an empty login yields to the URL's.
    let empty = user.as_ref().is_some_and(Vec::is_empty) && password.as_ref().is_none_or(Vec::is_empty);
    let gives_way = empty && t.scheme().family().asks_by_http() && in_url(t, &peer).is_some();
    if let Some(user) = user.filter(|_| !gives_way) {
        if nothing(&user, password.as_deref()) {
            return Ok(Some(Secret::of(peer, filed()?)));
        }
        // Has precedence over a file, even without a password.
        let password = password.unwrap_or_default();
        return Ok(Some(Secret::of(peer, Login { user, password })));
    }
    let login = match in_url(t, &peer) {
        Some((user, password)) if nothing(&user, password.as_deref()) => Some(filed()?),
        // --netrc has precedence over a password in the URL, but not over a user without one.
        Some((user, password)) if password.is_none() || t.long(O::Netrc) != CURL_NETRC_REQUIRED => {
            Some(complete(t, user, password)?)
        }
        // The file decides; a user in the URL chooses among its lines.
        Some((user, _)) => match from_file(t, Some(&user))? {
            Some(login) => Some(login),
            None => from_file(t, None)?,
        },
        // A password alone belongs to the empty user, or to the default one.
        None => {
            let family = t.scheme().family();
            let alone = password.filter(|password| !family.asks_by_http() || !password.is_empty());
            let user = if family == Family::Ftp { ANONYMOUS.to_vec() } else { Vec::new() };
            from_file(t, None)?.or_else(|| alone.map(|password| Login { user, password }))
        }
    };
    Ok(login.map(|login| Secret::of(peer, login)))
}

/// The login for the server of the current URL, to be sent to it.
pub fn given(t: &Route) -> Result<Option<Login>> {
    Ok(credentials(t)?.and_then(|login| login.for_peer(&t.peer()).cloned()))
}

/// Returns user and password of [`given`], which may be empty.
pub fn own(t: &Route) -> Result<(Vec<u8>, Vec<u8>)> {
    let login = given(t)?.unwrap_or_default();
    Ok((login.user, login.password))
}

/// Refuses a user or password in the URL that no line of a protocol can contain, before connecting.
pub fn check_url(t: &Route) -> Result<()> {
    for part in [t.url.user(), t.url.password()].into_iter().flatten() {
        let bad = |_| Error::new(Code::UrlMalformat, "error extracting credentials from URL");
        wire::escape::decode(part, wire::escape::Reject::Control).map_err(bad)?;
    }
    Ok(())
}

/// Returns the login options (CURLOPT_LOGIN_OPTIONS(3)): the option has precedence over the URL.
pub fn options(t: &Route) -> Result<Vec<u8>> {
    let peer = t.peer();
    let set = t.text(O::LoginOptions).and_then(|text| t.secret(text).for_peer(&peer).map(|s| s.to_vec()));
    let bad = |_| Error::new(Code::UrlMalformat, "control characters in the login options");
    match set {
        Some(options) => Ok(options),
        None => Ok(t.url.options_decoded(wire::escape::Reject::Control).map_err(bad)?.unwrap_or_default()),
    }
}

/// Returns the login in the URL, or in the first one if a redirect leads to the same server by an absolute
/// URL. In HTTP an empty user without a password is no login; elsewhere it is one with an empty name.
fn in_url(t: &Route, peer: &Peer) -> Option<(Vec<u8>, Option<Vec<u8>>)> {
    let of = |url: &Url| {
        let (user, password) = (url.user().map(decoded), url.password().map(decoded));
        let none_is_one = !t.scheme().family().asks_by_http();
        user.filter(|user| none_is_one || !user.is_empty() || password.is_some()).map(|user| (user, password))
    };
    let first = || of(&t.first_url).filter(|_| *t.first_url.peer == *peer);
    of(&t.url).or_else(first)
}

/// Completes a user whose password may be in the file.
fn complete(t: &Route, user: Vec<u8>, password: Option<Vec<u8>>) -> Result<Login> {
    match password {
        Some(password) => Ok(Login { user, password }),
        None => Ok(from_file(t, Some(&user))?.unwrap_or(Login { user, password: Vec::new() })),
    }
}

fn decoded(text: &[u8]) -> Vec<u8> {
    wire::escape::decode(text, wire::escape::Reject::Nothing).unwrap_or_default()
}

/// Returns the .netrc entry for the current host. A file that cannot be read or parsed is an error only if it
/// is required (CURL_NETRC_REQUIRED).
fn from_file(t: &Route, user: Option<&[u8]>) -> Result<Option<Login>> {
    let level = t.long(O::Netrc);
    if level == CURL_NETRC_IGNORED {
        return Ok(None);
    }
    let failed = |why: &str| match level {
        CURL_NETRC_REQUIRED => Err(Error::new(Code::ReadError, format!(".netrc error: {why}"))),
        _ => Ok(None),
    };
    let file = match t.text(O::NetrcFile) {
        Some(name) => path_buf(&name),
        None => match std::env::home_dir() {
            Some(home) => home.join(".netrc"),
            None => return failed("no such file"),
        },
    };
    let Ok(text) = read(&file) else { return failed("no such file") };
    let host = t.url.host_name().unwrap_or_default();
    let Ok(found) = wire::netrc::find(&text, &host, user) else { return failed("syntax error") };
    if found.is_none() {
        let shown = String::from_utf8_lossy(&host).into_owned();
        t.easy.note(|| format!("Could not find host {shown} in the {} file; using defaults", file.display()));
    }
    let login = found.map(|found| Login { user: found.login, password: found.password });
    let http = t.scheme().family().asks_by_http();
    let control = |login: &Login| login.user.iter().chain(&login.password).any(|b| *b < b' ' && *b != b'\t');
    if login.as_ref().is_some_and(|login| !http && control(login)) {
        return Err(Error::new(Code::ReadError, "control code detected in .netrc credentials"));
    }
    Ok(login.filter(|login| *login != Login::default()))
}

/// Reads at most one byte more than the parser takes, so that the parser notices a file that is too long.
fn read(file: &std::path::Path) -> std::io::Result<Vec<u8>> {
    use std::io::Read;
    let mut text = Vec::new();
    std::fs::File::open(file)?.take(wire::netrc::FILE_LIMIT as u64 + 1).read_to_end(&mut text)?;
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transfer::fixture::transfer;
    use tables::constant::CURL_NETRC_OPTIONAL;

    /// The login for the server of the URL, as "user:password".
    fn login(url: &str, texts: &[(O, &str)], numbers: &[(O, i64)]) -> Option<String> {
        shown(&transfer(url, texts, numbers))
    }

    fn shown(t: &Route) -> Option<String> {
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
        given(t).unwrap().map(|login| format!("{}:{}", text(&login.user), text(&login.password)))
    }

    #[test]
    fn options_go_before_the_url() {
        let (user, password) = ((O::Username, "o"), (O::Password, "q"));
        let rows: [(_, _, &[(O, &str)], _); 9] = [
            ("CURLOPT_USERNAME(3): nobody", "http://h/", &[], None),
            ("CURLOPT_USERNAME(3)", "http://h/", &[user, password], Some("o:q")),
            ("CURLOPT_USERNAME(3): without a password", "http://h/", &[user], Some("o:")),
            ("CURLOPT_USERNAME(3): goes before the URL's", "http://u:p@h/", &[user, password], Some("o:q")),
            ("RFC 3986 §3.2.1: the URL's", "http://u:p@h/", &[], Some("u:p")),
            ("RFC 3986 §2.1: encoded", "http://a%40b:c%3ad@h/", &[], Some("a@b:c:d")),
            ("CURLOPT_PASSWORD(3): alone", "http://h/", &[password], Some(":q")),
            ("CURLOPT_PASSWORD(3): alone with FTP", "ftp://h/", &[password], Some("anonymous:q")),
            (
                "CURLOPT_USERNAME(3): an empty one gives way",
                "http://u:p@h/",
                &[(O::Username, "")],
                Some("u:p"),
            ),
        ];
        for (name, url, texts, wanted) in rows {
            assert_eq!(login(url, texts, &[]).as_deref(), wanted, "{name}");
        }
    }

    #[test]
    fn logins_do_not_follow_to_another_server() {
        let after = |url: &str, texts: &[(O, &str)], unrestricted: i64, to: &str| {
            let mut t = transfer(url, texts, &[(O::UnrestrictedAuth, unrestricted)]);
            t.follow(Url::parse(to.as_bytes(), 0).unwrap());
            shown(&t)
        };
        let own = [(O::Username, "o"), (O::Password, "q")];
        let rows: [(_, _, &[(O, &str)], _, _, _); 7] = [
            ("CURLOPT_FOLLOWLOCATION(3): the same server", "http://h/", &own, 0, "http://h/x", Some("o:q")),
            ("CVE-2022-27774: another host", "http://h/", &own, 0, "http://i/", None),
            ("CVE-2022-27774: another port", "http://h/", &own, 0, "http://h:81/", None),
            ("CVE-2022-27774: another scheme", "http://h/", &own, 0, "https://h/", None),
            ("CURLOPT_UNRESTRICTED_AUTH(3)", "http://h/", &own, 1, "http://i/", Some("o:q")),
            ("RFC 3986 §3.2.1: the first URL's", "http://u:p@h/", &[], 0, "http://h/x", Some("u:p")),
            ("RFC 3986 §3.2.1: not elsewhere", "http://u:p@h/", &[], 0, "http://i/", None),
        ];
        for (name, url, texts, unrestricted, to, wanted) in rows {
            assert_eq!(after(url, texts, unrestricted, to).as_deref(), wanted, "{name}");
        }
    }

    /// A .netrc file that goes with the value.
    struct File(std::path::PathBuf);

    impl File {
        fn new(name: &str, text: &str) -> File {
            let path = std::env::temp_dir().join(format!("warmwire-unit-{name}-{}", std::process::id()));
            std::fs::write(&path, text).unwrap();
            File(path)
        }
    }

    impl Drop for File {
        fn drop(&mut self) {
            let _ = std::fs::remove_file(&self.0);
        }
    }

    #[test]
    fn a_netrc_file_fills_in_what_is_missing() {
        let file = File::new("netrc", "machine h login n password m\nmachine h login u password k\n");
        let path = file.0.to_str().unwrap();
        let of = |url: &str, level: i64, texts: &[(O, &str)]| {
            login(url, &[&[(O::NetrcFile, path)], texts].concat(), &[(O::Netrc, level)])
        };
        let (optional, required) = (CURL_NETRC_OPTIONAL, CURL_NETRC_REQUIRED);
        let user = [(O::Username, "o")];
        let rows: [(_, _, _, &[(O, &str)], _); 9] = [
            ("CURLOPT_NETRC(3): ignored", "http://h/", CURL_NETRC_IGNORED, &[], None),
            ("CURLOPT_NETRC(3): optional", "http://h/", optional, &[], Some("n:m")),
            ("CURLOPT_NETRC(3): a user in the URL", "http://u@h/", optional, &[], Some("u:k")),
            ("CURLOPT_NETRC(3): a login in the URL", "http://u:p@h/", optional, &[], Some("u:p")),
            ("CURLOPT_NETRC(3): required goes before it", "http://u:p@h/", required, &[], Some("u:k")),
            ("CURLOPT_NETRC(3): required, another user", "http://x:p@h/", required, &[], Some("n:m")),
            ("CURLOPT_NETRC(3): another host", "http://i/", optional, &[], None),
            ("CURLOPT_USERNAME(3): goes before the file", "http://h/", optional, &user, Some("o:")),
            ("CURLOPT_NETRC(3): a user that it does not know", "http://x@h/", optional, &[], Some("x:")),
        ];
        for (name, url, level, texts, wanted) in rows {
            assert_eq!(of(url, level, texts).as_deref(), wanted, "{name}");
        }
    }

    #[test]
    fn a_netrc_file_fails_only_where_it_is_required() {
        let broken = File::new("broken", "machine h login \"u");
        let control = File::new("control", "machine h login \"a\\nb\" password m\n");
        let of = |url: &str, file: &str, level| {
            let t = transfer(url, &[(O::NetrcFile, file)], &[(O::Netrc, level)]);
            given(&t).err().map(|e| e.code())
        };
        let read = Some(Code::ReadError);
        let missing = "/nonexistent/netrc";
        let broken = broken.0.to_str().unwrap();
        let control = control.0.to_str().unwrap();
        let rows = [
            ("CURLOPT_NETRC(3): required and not there", "http://h/", missing, CURL_NETRC_REQUIRED, read),
            ("CURLOPT_NETRC(3): optional and not there", "http://h/", missing, CURL_NETRC_OPTIONAL, None),
            ("CURLOPT_NETRC(3): required and broken", "http://h/", broken, CURL_NETRC_REQUIRED, read),
            ("CURLOPT_NETRC(3): optional and broken", "http://h/", broken, CURL_NETRC_OPTIONAL, None),
            ("RFC 959 §5.3: a line break for FTP", "ftp://h/", control, CURL_NETRC_OPTIONAL, read),
            ("RFC 7617 §2: HTTP encodes it", "http://h/", control, CURL_NETRC_OPTIONAL, None),
        ];
        for (name, url, file, level, wanted) in rows {
            assert_eq!(of(url, file, level), wanted, "{name}");
        }
    }

    #[test]
    fn login_options_are_the_options_then_the_urls() {
        let of = |url: &str, texts: &[(O, &str)]| options(&transfer(url, texts, &[])).unwrap();
        let own = [(O::LoginOptions, "AUTH=PLAIN")];
        assert_eq!(of("imap://u;AUTH=NTLM@h/", &[]), b"AUTH=NTLM", "RFC 5092 §3");
        assert_eq!(of("imap://u;AUTH=NTLM@h/", &own), b"AUTH=PLAIN", "CURLOPT_LOGIN_OPTIONS(3)");
        assert_eq!(of("imap://u@h/", &[]), b"", "RFC 5092 §3: none");
        let bad = options(&transfer("imap://u;AUTH=%0a@h/", &[], &[])).err().map(|e| e.code());
        assert_eq!(bad, Some(Code::UrlMalformat), "RFC 5092 §3: a line break");
    }
}
