//! DIGEST-MD5 (RFC 2831), with curl's field order. It is historic (RFC 6331), but some servers offer nothing
//! better.

use md5::{Digest as _, Md5};

use super::Login;
use crate::auth::challenge;
use crate::hex;

/// Longest challenge (RFC 2831 section 2.1.1).
const CHALLENGE_LIMIT: usize = 2048;

/// The value by which the server proves that it knows the password, too (RFC 2831 section 2.1.3).
pub struct ServerProof(String);

impl ServerProof {
    /// Whether the server's last challenge holds it.
    pub fn is_in(&self, challenge: &[u8]) -> bool {
        let parsed = challenge::parse(&[b"Digest ", challenge].concat()).into_iter().next();
        let given = parsed.as_ref().and_then(|parsed| parsed.parameter("rspauth"));
        given.is_some_and(|given| given.eq_ignore_ascii_case(self.0.as_bytes()))
    }
}

/// The answer to a challenge, and the proof that the server owes for it, unless the challenge lacks a nonce
/// or wants more than authentication by MD5.
pub fn respond(challenge: &[u8], who: &Login, cnonce: &[u8]) -> Option<(Vec<u8>, ServerProof)> {
    if challenge.len() > CHALLENGE_LIMIT {
        return None;
    }
    let parsed = challenge::parse(&[b"Digest ", challenge].concat()).into_iter().next()?;
    let nonce = parsed.parameter("nonce").filter(|nonce| !nonce.is_empty())?;
    let realm = parsed.parameter("realm").unwrap_or_default();
    let algorithm = parsed.parameter("algorithm")?;
    let offers = parsed.parameter("qop")?;
    let mut qops = offers.split(|b| *b == b',').map(|qop| qop.trim_ascii());
    if !algorithm.eq_ignore_ascii_case(b"md5-sess") || !qops.any(|qop| qop.eq_ignore_ascii_case(b"auth")) {
        return None;
    }
    let uri = [&who.service[..], b"/", &who.host].concat();
    let secret = Md5::digest([&who.user[..], realm, &who.password].join(&b':'));
    let a1 = md5_hex(&[&secret[..], b":", nonce, b":", cnonce].concat());
    let proof = |verb: &[u8]| {
        let a2 = md5_hex(&[verb, b":", &uri[..]].concat());
        md5_hex(&[a1.as_bytes(), nonce, b"00000001", cnonce, b"auth", a2.as_bytes()].join(&b':'))
    };
    let quoted = |name: &str, value: &[u8]| [name.as_bytes(), b"=\"", &escaped(value)[..], b"\","].concat();
    let mut out = [quoted("username", &who.user), quoted("realm", realm), quoted("nonce", nonce)].concat();
    out.extend_from_slice(&[quoted("cnonce", cnonce), quoted("nc", b"00000001")].concat());
    out.extend_from_slice(&quoted("digest-uri", &uri));
    out.extend_from_slice(format!("response={},qop=auth", proof(b"AUTHENTICATE")).as_bytes());
    Some((out, ServerProof(proof(b""))))
}

fn md5_hex(input: &[u8]) -> String {
    hex::encode(&Md5::digest(input))
}

fn escaped(value: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(value.len());
    for &octet in value {
        if matches!(octet, b'"' | b'\\') {
            out.push(b'\\');
        }
        out.push(octet);
    }
    out
}
