//! Replaces secrets in what is recorded: credentials of requests, values of cookies, passwords and secret
//! parameters in URLs, FTP's PASS and ACCT.

use crate::archive::redact::{REDACTED, is_secret};

/// Request fields whose value is a secret behind the name of a scheme.
const CREDENTIALS: [&str; 2] = ["Authorization", "Proxy-Authorization"];
/// Fields of requests and replies that contain a URL.
const LINKS: [&str; 5] = ["Location", "Content-Location", "Referer", "Link", "Refresh"];

/// Replaces the secrets in the head of a request.
pub fn request_head(head: &[u8]) -> Vec<u8> {
    let mut lines = head.split_inclusive(|b| *b == b'\n');
    let mut out = url(lines.next().unwrap_or_default());
    lines.for_each(|line| out.extend(sent_field(line)));
    out
}

/// Replaces the secrets in the heads or trailers of a reply.
pub fn reply_lines(lines: &[u8]) -> Vec<u8> {
    lines.split_inclusive(|b| *b == b'\n').flat_map(received_field).collect()
}

/// Replaces the password or account in a command of FTP.
pub fn command(line: &[u8]) -> Vec<u8> {
    let verb = line.split(|b| b" \r\n".contains(b)).next().unwrap_or_default();
    let secret = verb.eq_ignore_ascii_case(b"PASS") || verb.eq_ignore_ascii_case(b"ACCT");
    match secret {
        true => [verb, b" ", REDACTED.as_bytes(), ending(line)].concat(),
        false => line.to_vec(),
    }
}

/// Replaces the login in URLs, and the values of parameters whose name says that they are secret
/// ([`is_secret`]).
pub fn url(text: &[u8]) -> Vec<u8> {
    let text = logins(text);
    let mut out = Vec::with_capacity(text.len());
    let mut rest = &text[..];
    while let Some(at) = rest.iter().position(|b| b"?&;".contains(b)) {
        let (before, parameter) = rest.split_at(at + 1);
        out.extend_from_slice(before);
        let end = parameter.iter().position(|b| b"?&;# \t\r\n>\"".contains(b)).unwrap_or(parameter.len());
        let (parameter, behind) = parameter.split_at(end);
        match parameter.iter().position(|b| *b == b'=') {
            Some(at) if is_secret(&String::from_utf8_lossy(&parameter[..at])) => {
                out.extend_from_slice(&parameter[..=at]);
                out.extend_from_slice(REDACTED.as_bytes());
            }
            _ => out.extend_from_slice(parameter),
        }
        rest = behind;
    }
    out.extend_from_slice(rest);
    out
}

/// Removes user name and password behind each `://`.
fn logins(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.windows(3).position(|window| window == b"://") {
        let (before, behind) = rest.split_at(at + 3);
        out.extend_from_slice(before);
        let end = behind.iter().position(|b| b"/?# \t\r\n>\"".contains(b)).unwrap_or(behind.len());
        rest = &behind[behind[..end].iter().rposition(|b| *b == b'@').map_or(0, |at| at + 1)..];
    }
    out.extend_from_slice(rest);
    out
}

fn ending(line: &[u8]) -> &[u8] {
    &line[line.trim_ascii_end().len()..]
}

/// Splits a line into name, value and the rest of it.
fn split(line: &[u8]) -> Option<(&[u8], &[u8])> {
    let colon = line.iter().position(|b| *b == b':').filter(|at| *at > 0)?;
    Some((&line[..colon], line[colon + 1..].trim_ascii()))
}

fn with_value(name: &[u8], value: &[u8], line: &[u8]) -> Vec<u8> {
    [name, b": ", value, ending(line)].concat()
}

fn is(name: &[u8], known: &str) -> bool {
    name.eq_ignore_ascii_case(known.as_bytes())
}

fn sent_field(line: &[u8]) -> Vec<u8> {
    let Some((name, value)) = split(line) else { return line.to_vec() };
    if value.is_empty() {
        return line.to_vec();
    }
    if CREDENTIALS.iter().any(|known| is(name, known)) {
        let scheme = value.split(|b| *b == b' ').next().filter(|scheme| scheme.len() < value.len());
        let shown = scheme.map_or_else(Vec::new, |scheme| [scheme, b" "].concat());
        return with_value(name, &[&shown[..], REDACTED.as_bytes()].concat(), line);
    }
    if is_secret(&String::from_utf8_lossy(name)) {
        return with_value(name, REDACTED.as_bytes(), line);
    }
    link(name, line)
}

fn received_field(line: &[u8]) -> Vec<u8> {
    let Some((name, value)) = split(line) else { return line.to_vec() };
    if !is(name, "Set-Cookie") && !is(name, "Set-Cookie2") {
        return link(name, line);
    }
    // The replaying program gets a cookie of this name, with its attributes.
    let end = value.iter().position(|b| *b == b';').unwrap_or(value.len());
    let start = value[..end].iter().position(|b| *b == b'=').map_or(0, |at| at + 1);
    let kept = if value[start..end].trim_ascii().is_empty() { &b""[..] } else { REDACTED.as_bytes() };
    with_value(name, &[&value[..start], kept, &value[end..]].concat(), line)
}

fn link(name: &[u8], line: &[u8]) -> Vec<u8> {
    if LINKS.iter().any(|known| is(name, known)) { url(line) } else { line.to_vec() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(bytes: &[u8]) -> String {
        String::from_utf8_lossy(bytes).into_owned()
    }

    #[test]
    fn requests_keep_no_credentials() {
        let head = "GET http://u:pw@h/a?access_token=x HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer abc\r\n\
            Proxy-Authorization: Basic dTpw\r\nCookie: a=1; b=2\r\nX-Api-Key: k\r\nX-Auth-Token: t\r\n\
            Referer: http://u:pw@h/\r\nAccept: */*\r\n\r\n";
        let wanted = "GET http://h/a?access_token=x HTTP/1.1\r\nHost: h\r\n\
            Authorization: Bearer (redacted)\r\nProxy-Authorization: Basic (redacted)\r\n\
            Cookie: (redacted)\r\nX-Api-Key: (redacted)\r\n\
            X-Auth-Token: (redacted)\r\nReferer: http://h/\r\nAccept: */*\r\n\r\n";
        assert_eq!(
            text(&request_head(head.as_bytes())),
            wanted.replace("access_token=x", "access_token=(redacted)")
        );
    }

    #[test]
    fn replies_keep_names_and_attributes_of_cookies() {
        let head = "HTTP/1.1 302 Found\r\nSet-Cookie: sid=secret==; Path=/; HttpOnly\r\n\
            set-cookie: gone=; Max-Age=0\r\nLocation: https://u:p@x:1/y@z\r\n\
            WWW-Authenticate: Basic realm=\"a\"\r\nX: http://u:p@h\r\n\r\n";
        let wanted = "HTTP/1.1 302 Found\r\nSet-Cookie: sid=(redacted); Path=/; HttpOnly\r\n\
            set-cookie: gone=; Max-Age=0\r\nLocation: https://x:1/y@z\r\n\
            WWW-Authenticate: Basic realm=\"a\"\r\n\
            X: http://u:p@h\r\n\r\n";
        assert_eq!(text(&reply_lines(head.as_bytes())), wanted);
    }

    #[test]
    fn commands_and_urls() {
        let commands = [
            ("PASS secret word\r\n", "PASS (redacted)\r\n"),
            ("acct x\r\n", "acct (redacted)\r\n"),
            ("USER me\r\n", "USER me\r\n"),
            ("RETR PASS x\r\n", "RETR PASS x\r\n"),
        ];
        for (line, wanted) in commands {
            assert_eq!(text(&command(line.as_bytes())), wanted);
        }
        let urls = [
            ("http://u:p@h/a@b", "http://h/a@b"),
            ("http://h/?a=1&access_token=t&b=2#f", "http://h/?a=1&access_token=(redacted)&b=2#f"),
            ("http://p@q@h:1", "http://h:1"),
            ("/a;x?Api-Key=k&keys=1&password=", "/a;x?Api-Key=(redacted)&keys=1&password=(redacted)"),
            ("Link: <http://h/?sig=s>; rel=\"next\"", "Link: <http://h/?sig=(redacted)>; rel=\"next\""),
        ];
        for (line, wanted) in urls {
            assert_eq!(text(&url(line.as_bytes())), wanted);
        }
    }
}
