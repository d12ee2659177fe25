//! `WWW-Authenticate:` and `Proxy-Authenticate:` (RFC 9110 section 11.6.1): one value may hold several
//! challenges, and the comma separates both challenges and their parameters.

/// A challenge of a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Challenge {
    /// As written; compare with `is`.
    pub scheme: String,
    /// The token that Negotiate and NTLM send in place of parameters.
    pub token: Option<Vec<u8>>,
    /// Names in lower case, values without quotes. Repeated ones are all there.
    pub parameters: Vec<(String, Vec<u8>)>,
}

/// More challenges or parameters than this are not read.
const LIMIT: usize = 64;

impl Challenge {
    pub fn is(&self, scheme: &str) -> bool {
        self.scheme.eq_ignore_ascii_case(scheme)
    }

    /// The last parameter of this name: curl lets the last one win.
    pub fn parameter(&self, name: &str) -> Option<&[u8]> {
        self.parameters.iter().rev().find(|(known, _)| known == name).map(|(_, value)| value.as_slice())
    }
}

/// The challenges of one header value, as far as they make sense.
pub fn parse(value: &[u8]) -> Vec<Challenge> {
    let mut challenges: Vec<Challenge> = Vec::new();
    let mut rest = value;
    for _ in 0..LIMIT {
        rest = skip(rest, |octet| octet == b',' || is_blank(octet));
        if rest.is_empty() {
            break;
        }
        let Some((name, tail)) = token(rest) else {
            rest = skip(rest, |octet| octet != b',');
            continue;
        };
        if let (Some(challenge), Some((value, tail))) = (challenges.last_mut(), parameter_value(tail)) {
            challenge.parameters.push((name.to_ascii_lowercase(), value));
            rest = tail;
            continue;
        }
        let scheme = name.to_owned();
        let (given, tail) = token68(skip(tail, is_blank));
        challenges.push(Challenge { scheme, token: given, parameters: Vec::new() });
        rest = tail;
    }
    challenges
}

fn skip(input: &[u8], skips: impl Fn(u8) -> bool) -> &[u8] {
    &input[input.iter().position(|&octet| !skips(octet)).unwrap_or(input.len())..]
}

fn is_blank(octet: u8) -> bool {
    matches!(octet, b' ' | b'\t' | b'\r' | b'\n')
}

fn token(input: &[u8]) -> Option<(&str, &[u8])> {
    let is_token = |octet: u8| octet.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&octet);
    let (name, rest) = input.split_at(input.len() - skip(input, is_token).len());
    if name.is_empty() { None } else { Some((std::str::from_utf8(name).ok()?, rest)) }
}

/// `= value`, quoted or not; an unfinished quote ends with the line.
fn parameter_value(input: &[u8]) -> Option<(Vec<u8>, &[u8])> {
    let rest = skip(input, is_blank).strip_prefix(b"=")?;
    let rest = skip(rest, is_blank);
    let Some(mut rest) = rest.strip_prefix(b"\"") else {
        let tail = skip(rest, |octet| octet != b',' && !is_blank(octet));
        return Some((rest[..rest.len() - tail.len()].to_vec(), tail));
    };
    let mut value = Vec::new();
    loop {
        let (octet, tail) = match rest {
            [b'"', tail @ ..] => return Some((value, tail)),
            [b'\\', escaped, tail @ ..] => (*escaped, tail),
            [plain, tail @ ..] => (*plain, tail),
            [] => return Some((value, rest)),
        };
        value.push(octet);
        rest = tail;
    }
}

/// Parses a token68: it extends to the comma. Anything else is left for the parameters.
fn token68(input: &[u8]) -> (Option<Vec<u8>>, &[u8]) {
    let is_digit = |octet: u8| octet.is_ascii_alphanumeric() || b"-._~+/".contains(&octet);
    let after_digits = skip(input, is_digit);
    let after = skip(after_digits, |octet| octet == b'=');
    let end = skip(after, is_blank);
    let length = input.len() - after.len();
    let is_all = after_digits.len() < input.len() && (end.is_empty() || end.starts_with(b","));
    if is_all { (Some(input[..length].to_vec()), end) } else { (None, input) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(value: &str) -> String {
        let mut out = String::new();
        for challenge in parse(value.as_bytes()) {
            out += &format!("[{}", challenge.scheme);
            if let Some(token) = &challenge.token {
                out += &format!(" {}", String::from_utf8_lossy(token));
            }
            for (name, value) in &challenge.parameters {
                out += &format!(" {name}={}", String::from_utf8_lossy(value));
            }
            out += "]";
        }
        out
    }

    #[test]
    fn challenges() {
        let rows = [
            ("Basic realm=\"a, b\"", "[Basic realm=a, b]"),
            ("NTLM", "[NTLM]"),
            ("NTLM TlRMTVNTUAAC==", "[NTLM TlRMTVNTUAAC==]"),
            ("Negotiate, NTLM, Basic realm=x", "[Negotiate][NTLM][Basic realm=x]"),
            ("Negotiate abc= , Digest nonce=1, qop=\"auth\"", "[Negotiate abc=][Digest nonce=1 qop=auth]"),
            (
                "Digest realm=\"a \\\"b\\\\\", NONCE = \"n\"  ,stale=true",
                "[Digest realm=a \"b\\ nonce=n stale=true]",
            ),
            (
                "Basic realm=\"simple\", Newauth realm=\"apps\", type=1, title=\"Login\"",
                "[Basic realm=simple][Newauth realm=apps type=1 title=Login]",
            ),
            ("Digest nonce=1, nonce=2", "[Digest nonce=1 nonce=2]"),
            ("Basic realm=\"open", "[Basic realm=open]"),
            ("Basic", "[Basic]"),
            (",,, ,", ""),
            ("", ""),
            ("=x, \"y\", Basic realm=a", "[Basic realm=a]"),
        ];
        for (value, wanted) in rows {
            assert_eq!(shown(value), wanted, "{value}");
        }
        assert_eq!(parse(&b"a,".repeat(1000)).len(), LIMIT);
        assert_eq!(parse(b"Digest nonce=1, nonce=2")[0].parameter("nonce"), Some(&b"2"[..]));
    }
}
