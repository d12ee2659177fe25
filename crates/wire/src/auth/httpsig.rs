//! HTTP Message Signatures (RFC 9421), as far as CURLOPT_HTTPSIG_ALGORITHM and its siblings ask for them:
//! which parts of a request are signed, and the text that the signature covers. Ed25519 is the caller's; HMAC
//! is here.

use super::hash;

/// The request to sign.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    pub method: &'a [u8],
    /// Host, with the port unless it is the scheme's own.
    pub authority: &'a [u8],
    /// As in the request line.
    pub path: &'a [u8],
    pub query: Option<&'a [u8]>,
    /// The application's own headers.
    pub headers: &'a [(&'a [u8], &'a [u8])],
    /// Component names separated by blanks; header names end in a colon. `None` selects the defaults.
    pub components: Option<&'a str>,
    pub key_id: &'a str,
    pub algorithm: Algorithm,
    /// Seconds since 1970.
    pub created: i64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Algorithm {
    Ed25519,
    HmacSha256,
}

/// The signature base, and the value of Signature-Input for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Base {
    pub text: Vec<u8>,
    pub parameters: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Error {
    /// No such component.
    Unknown(String),
    /// The request has no such header.
    Missing(String),
    /// RFC 9421, 2: each may be there once.
    Twice(String),
    /// The key ID is not printable ASCII (RFC 8941, 3.3.3).
    KeyId,
}

impl Algorithm {
    fn name(self) -> &'static str {
        match self {
            Algorithm::Ed25519 => "ed25519",
            Algorithm::HmacSha256 => "hmac-sha256",
        }
    }
}

/// HMAC-SHA256 of a text.
pub fn hmac(key: &[u8], text: &[u8]) -> [u8; 32] {
    hash::hmac_sha256(key, text)
}

/// RFC 9421, 2.5.
pub fn base(request: &Request<'_>) -> Result<Base, Error> {
    let usual = if request.query.is_some() { "method authority path query" } else { "method authority path" };
    let mut names: Vec<String> = Vec::new();
    let mut text = Vec::new();
    for word in request.components.unwrap_or(usual).split_ascii_whitespace() {
        let (name, value) = component(request, word)?;
        if names.contains(&name) {
            return Err(Error::Twice(word.to_owned()));
        }
        text.extend_from_slice(format!("\"{name}\": ").as_bytes());
        text.extend_from_slice(&value);
        text.push(b'\n');
        names.push(name);
    }
    let names: Vec<String> = names.iter().map(|name| format!("\"{name}\"")).collect();
    let (names, key_id) = (names.join(" "), quoted(request.key_id)?);
    let (created, algorithm) = (request.created, request.algorithm.name());
    let parameters = format!("({names});created={created};keyid={key_id};alg=\"{algorithm}\"");
    text.extend_from_slice(format!("\"@signature-params\": {parameters}").as_bytes());
    Ok(Base { text, parameters })
}

/// Identifier and value of one component (RFC 9421, 2.1 and 2.2).
fn component(request: &Request<'_>, word: &str) -> Result<(String, Vec<u8>), Error> {
    if let Some(name) = word.strip_suffix(':') {
        let name = name.to_ascii_lowercase();
        let lines = request.headers.iter().filter(|(own, _)| own.eq_ignore_ascii_case(name.as_bytes()));
        let values: Vec<&[u8]> = lines.map(|(_, value)| value.trim_ascii()).collect();
        return if values.is_empty() {
            Err(Error::Missing(name))
        } else {
            Ok((name, values.join(&b", "[..])))
        };
    }
    let value = match word {
        "method" => request.method.to_vec(),
        "authority" => request.authority.to_ascii_lowercase(),
        "path" if request.path.is_empty() => b"/".to_vec(),
        "path" => request.path.to_vec(),
        "query" => [b"?", request.query.unwrap_or_default()].concat(),
        _ => return Err(Error::Unknown(word.to_owned())),
    };
    Ok((format!("@{word}"), value))
}

fn quoted(text: &str) -> Result<String, Error> {
    if !text.bytes().all(|byte| (0x20..0x7f).contains(&byte)) {
        return Err(Error::KeyId);
    }
    Ok(format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\"")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base64;

    fn request() -> Request<'static> {
        Request {
            method: b"GET",
            authority: b"Example.com:7000",
            path: b"/5002/resource",
            query: None,
            headers: &[],
            components: None,
            key_id: "shared-key-1",
            algorithm: Algorithm::HmacSha256,
            created: 0,
        }
    }

    /// Key and signature of curl's case 5002.
    #[test]
    fn the_signature_of_a_published_case() {
        let signed = base(&request()).unwrap();
        let parameters =
            "(\"@method\" \"@authority\" \"@path\");created=0;keyid=\"shared-key-1\";alg=\"hmac-sha256\"";
        assert_eq!(signed.parameters, parameters);
        let key: Vec<u8> = [0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef].repeat(4);
        assert_eq!(base64::encode(&hmac(&key, &signed.text)), "jvajJheXE4H/TqWfAn8m0d0Rx0XWYKADN/1P0qn+FLw=");
    }

    #[test]
    fn components() {
        let headers: &[(&[u8], &[u8])] = &[(b"X-A", b" one "), (b"x-a", b"two")];
        let own = Request { headers, components: Some("X-a: query"), key_id: "a\"b", ..request() };
        let text = "\"x-a\": one, two\n\"@query\": ?\n\
                    \"@signature-params\": (\"x-a\" \"@query\");created=0;keyid=\"a\\\"b\";alg=\"hmac-sha256\"";
        assert_eq!(String::from_utf8(base(&own).unwrap().text).unwrap(), text);
        let with_query = Request { query: Some(b"a=b"), ..request() };
        assert!(
            base(&with_query)
                .unwrap()
                .parameters
                .starts_with("(\"@method\" \"@authority\" \"@path\" \"@query\")")
        );
    }

    #[test]
    fn invalid_components_are_refused() {
        let wrong = |components| base(&Request { components: Some(components), ..request() }).unwrap_err();
        assert_eq!(wrong("method method"), Error::Twice("method".into()));
        assert_eq!(wrong("nonsense"), Error::Unknown("nonsense".into()));
        assert_eq!(wrong("x-none:"), Error::Missing("x-none".into()));
        assert_eq!(base(&Request { key_id: "\u{e9}", ..request() }), Err(Error::KeyId));
    }
}
