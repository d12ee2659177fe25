//! Digest access authentication (RFC 7616, RFC 2617), the header laid out as curl lays it out.

use md5::Md5;
use sha2::{Digest as _, Sha256, Sha512_256};

use super::challenge::Challenge;
use crate::hex;

/// A longer parameter value is refused.
const VALUE_LIMIT: usize = 1024;

/// A Digest challenge, and how often its nonce has been used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Digest {
    realm: Vec<u8>,
    nonce: Vec<u8>,
    opaque: Option<Vec<u8>>,
    qop: Option<Qop>,
    algorithm: Algorithm,
    is_session: bool,
    /// The server's spelling is sent back.
    algorithm_text: Option<Vec<u8>>,
    hashes_user: bool,
    is_stale: bool,
    count: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Qop {
    Auth,
    AuthInt,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Algorithm {
    Md5,
    Sha256,
    Sha512Of256,
}

/// The challenge lacks a nonce, or wants something that is not known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unusable;

/// The request to authenticate.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    pub user: &'a [u8],
    pub password: &'a [u8],
    pub method: &'a [u8],
    /// Path and query as in the request line.
    pub uri: &'a [u8],
    /// Of the caller's making, fresh and printable.
    pub cnonce: &'a [u8],
}

impl Digest {
    pub fn new(challenge: &Challenge) -> Result<Digest, Unusable> {
        if challenge.parameters.iter().any(|(_, value)| value.len() >= VALUE_LIMIT) {
            return Err(Unusable);
        }
        let value = |name: &str| challenge.parameter(name);
        let is = |name: &str, wanted: &str| {
            value(name).is_some_and(|value| value.eq_ignore_ascii_case(wanted.as_bytes()))
        };
        let (algorithm, is_session) = match value("algorithm") {
            Some(name) => algorithm(name)?,
            None => (Algorithm::Md5, false),
        };
        Ok(Digest {
            realm: value("realm").unwrap_or_default().to_vec(),
            nonce: value("nonce").filter(|nonce| !nonce.is_empty()).ok_or(Unusable)?.to_vec(),
            opaque: value("opaque").map(<[u8]>::to_vec),
            qop: value("qop").and_then(qop),
            algorithm,
            is_session,
            algorithm_text: value("algorithm").map(<[u8]>::to_vec),
            hashes_user: is("userhash", "true"),
            is_stale: is("stale", "true"),
            count: 0,
        })
    }

    /// Whether a challenge that answers a request with credentials only wants a new nonce. If not, the
    /// credentials were wrong.
    pub fn is_stale(&self) -> bool {
        self.is_stale
    }

    /// Returns the text after "Digest " in the header.
    pub fn respond(&mut self, request: Request<'_>) -> Vec<u8> {
        self.count = self.count.saturating_add(1);
        let count = format!("{:08x}", self.count);
        let response = self.response(request, &count);
        let user = if self.hashes_user {
            self.hash(&[request.user, &self.realm]).into_bytes()
        } else {
            quoted(request.user)
        };
        let mut fields = Vec::new();
        let mut add = |name: &str, value: &[u8], quote: &str| {
            if !fields.is_empty() {
                fields.extend_from_slice(b", ");
            }
            fields.extend_from_slice(name.as_bytes());
            fields.push(b'=');
            fields.extend_from_slice(quote.as_bytes());
            fields.extend_from_slice(value);
            fields.extend_from_slice(quote.as_bytes());
        };
        add("username", &user, "\"");
        add("realm", &quoted(&self.realm), "\"");
        add("nonce", &quoted(&self.nonce), "\"");
        add("uri", &quoted(request.uri), "\"");
        if let Some(qop) = self.qop {
            add("cnonce", request.cnonce, "\"");
            add("nc", count.as_bytes(), "");
            add("qop", qop.name(), "");
        }
        add("response", response.as_bytes(), "\"");
        if let Some(opaque) = &self.opaque {
            add("opaque", &quoted(opaque), "\"");
        }
        if let Some(algorithm) = &self.algorithm_text {
            add("algorithm", algorithm, "");
        }
        if self.hashes_user {
            add("userhash", b"true", "");
        }
        fields
    }

    /// RFC 7616 section 3.4.1.
    fn response(&self, request: Request<'_>, count: &str) -> String {
        let mut secret = self.hash(&[request.user, &self.realm, request.password]);
        if self.is_session {
            secret = self.hash(&[secret.as_bytes(), &self.nonce, request.cnonce]);
        }
        let what = match self.qop {
            // The body is not hashed: an upload's content is unknown when the header is written.
            Some(Qop::AuthInt) => self.hash(&[request.method, request.uri, self.hash(&[b""]).as_bytes()]),
            _ => self.hash(&[request.method, request.uri]),
        };
        match self.qop {
            Some(qop) => self.hash(&[
                secret.as_bytes(),
                &self.nonce,
                count.as_bytes(),
                request.cnonce,
                qop.name(),
                what.as_bytes(),
            ]),
            None => self.hash(&[secret.as_bytes(), &self.nonce, what.as_bytes()]),
        }
    }

    /// The digits of the hash of the parts with colons between them.
    fn hash(&self, parts: &[&[u8]]) -> String {
        let input = parts.join(&b':');
        match self.algorithm {
            Algorithm::Md5 => hex::encode(&Md5::digest(&input)),
            Algorithm::Sha256 => hex::encode(&Sha256::digest(&input)),
            Algorithm::Sha512Of256 => hex::encode(&Sha512_256::digest(&input)),
        }
    }
}

impl Qop {
    fn name(self) -> &'static [u8] {
        match self {
            Qop::Auth => b"auth",
            Qop::AuthInt => b"auth-int",
        }
    }
}

fn algorithm(name: &[u8]) -> Result<(Algorithm, bool), Unusable> {
    let name = String::from_utf8_lossy(name).to_ascii_lowercase();
    let (base, is_session) = match name.strip_suffix("-sess") {
        Some(base) => (base, true),
        None => (name.as_str(), false),
    };
    let algorithm = match base {
        "md5" => Algorithm::Md5,
        "sha-256" => Algorithm::Sha256,
        "sha-512-256" => Algorithm::Sha512Of256,
        _ => return Err(Unusable),
    };
    Ok((algorithm, is_session))
}

/// Chooses "auth" before "auth-int"; other values are ignored.
fn qop(list: &[u8]) -> Option<Qop> {
    let has = |name: &[u8]| {
        list.split(|&octet| octet == b',').any(|item| item.trim_ascii().eq_ignore_ascii_case(name))
    };
    if has(b"auth") {
        Some(Qop::Auth)
    } else if has(b"auth-int") {
        Some(Qop::AuthInt)
    } else {
        None
    }
}

fn quoted(value: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(value.len());
    for &octet in value {
        match octet {
            b'"' | b'\\' => out.extend_from_slice(&[b'\\', octet]),
            // A line end in a name must not end the header's line.
            b'\r' | b'\n' => out.extend_from_slice(format!("%{octet:02X}").as_bytes()),
            _ => out.push(octet),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::auth::challenge;

    fn digest(header: &str) -> Result<Digest, Unusable> {
        Digest::new(&challenge::parse(header.as_bytes())[0])
    }

    fn answer(digest: &mut Digest, user: &str, password: &str, uri: &str, cnonce: &str) -> String {
        let request = Request {
            user: user.as_bytes(),
            password: password.as_bytes(),
            method: b"GET",
            uri: uri.as_bytes(),
            cnonce: cnonce.as_bytes(),
        };
        String::from_utf8(digest.respond(request)).unwrap()
    }

    #[test]
    fn examples_of_rfc_7616() {
        let header = |algorithm: &str| {
            format!(
                "Digest realm=\"http-auth@example.org\", qop=\"auth, auth-int\", algorithm={algorithm}, \
                 nonce=\"7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v\", \
                 opaque=\"FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS\""
            )
        };
        let cnonce = "f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ";
        let rows = [
            ("MD5", "8ca523f5e9506fed4657c9700eebdbec"),
            ("SHA-256", "753927fa0e85d155564e2e272a28d1802ca10daf4496794697cf8db5856cb6c1"),
        ];
        for (algorithm, response) in rows {
            let mut digest = digest(&header(algorithm)).unwrap();
            let got = answer(&mut digest, "Mufasa", "Circle of Life", "/dir/index.html", cnonce);
            let wanted = format!(
                "username=\"Mufasa\", realm=\"http-auth@example.org\", \
                 nonce=\"7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v\", uri=\"/dir/index.html\", \
                 cnonce=\"{cnonce}\", nc=00000001, qop=auth, response=\"{response}\", \
                 opaque=\"FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS\", algorithm={algorithm}"
            );
            assert_eq!(got, wanted);
        }
    }

    #[test]
    fn user_hash_example_of_rfc_7616() {
        // The response in the RFC is for another algorithm; the one below was computed by another program.
        let mut digest = digest(
            "Digest realm=\"api@example.org\", qop=\"auth\", algorithm=SHA-512-256, \
             nonce=\"5TsQWLVdgBdmrQ0XsxbDODV+57QdFR34I9HAbC/RVvkK\", \
             opaque=\"HRPCssKJSGjCrkzDg8OhwpzCiGPChXYjwrI2QmXDnsOS\", charset=UTF-8, userhash=true",
        )
        .unwrap();
        let cnonce = "NTg6RKcb9boFIAS3KrFK9BGeh+niz/sm";
        let got = answer(&mut digest, "J\u{e4}s\u{f8}n Doe", "Secret, or not?", "/doe.json", cnonce);
        assert!(
            got.contains("username=\"793263caabb707a56211940d90411ea4a575adeccb7e360aeb624ed06ece9b0b\""),
            "{got}"
        );
        assert!(
            got.contains("response=\"7a4e1192babbba02e91182d2895bfdbf7adafc6e48d4e517ca301974843d840c\""),
            "{got}"
        );
        assert!(got.ends_with(", algorithm=SHA-512-256, userhash=true"), "{got}");
    }

    #[test]
    fn without_qop_and_with_session() {
        let mut plain = digest("Digest realm=testrealm, nonce=1053604145").unwrap();
        let got = answer(&mut plain, "testuser", "testpass", "/1", "c");
        assert!(got.starts_with(
            "username=\"testuser\", realm=\"testrealm\", nonce=\"1053604145\", uri=\"/1\", response="
        ));
        let mut session = digest("Digest realm=r, nonce=n, algorithm=md5-SESS, qop=auth-int").unwrap();
        let first = answer(&mut session, "u", "p", "/", "c");
        let second = answer(&mut session, "u", "p", "/", "c");
        assert!(
            first.contains("nc=00000001, qop=auth-int") && first.ends_with("algorithm=md5-SESS"),
            "{first}"
        );
        assert!(second.contains("nc=00000002"));
        let mut strange = digest("Digest realm=r, nonce=n, qop=\"crypt\"").unwrap();
        assert!(!answer(&mut strange, "u", "p", "/", "c").contains("qop"));
    }

    #[test]
    fn quotes_are_escaped() {
        let mut digest = digest("Digest realm=\"a\\\"b\", nonce=n").unwrap();
        let got = answer(&mut digest, "us\"er\\", "p", "/", "c");
        assert!(got.starts_with("username=\"us\\\"er\\\\\", realm=\"a\\\"b\", "), "{got}");
    }

    #[test]
    fn unusable_challenges() {
        assert_eq!(digest("Digest realm=r"), Err(Unusable));
        assert_eq!(digest("Digest realm=r, nonce=\"\""), Err(Unusable));
        assert_eq!(digest("Digest realm=r, nonce=n, algorithm=SHA3"), Err(Unusable));
        assert_eq!(digest(&format!("Digest nonce={}", "n".repeat(2000))), Err(Unusable));
        assert!(digest("Digest nonce=n, stale=TRUE").unwrap().is_stale());
    }
}
