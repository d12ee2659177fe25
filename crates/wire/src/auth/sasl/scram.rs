//! SCRAM (RFC 5802, with SHA-256 RFC 7677): both sides prove that they know the password without sending it.
//! With a channel binding (`-PLUS`) both also prove that they are the two ends of the TLS connection, which
//! excludes an intermediary.

use hmac::{Hmac, KeyInit, Mac};
use sha1::Sha1;
use sha2::{Digest, Sha256};

use super::prep::prepared;
use super::{Channel, Login};
use crate::base64;

/// No server is allowed to have us compute longer.
const ITERATIONS_LIMIT: u32 = 1_000_000;

/// Longest message of a server.
const MESSAGE_LIMIT: usize = 4096;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hash {
    Sha1,
    Sha256,
}

/// The server's message makes no sense, or is about another exchange.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Malformed;

/// State kept between the messages.
pub struct Scram {
    hash: Hash,
    /// `n,,` or with the identity to act as; `p=` and the kind of channel binding.
    header: Vec<u8>,
    /// The channel binding data, if it is part of the proof.
    channel: Vec<u8>,
    /// The first message without the header.
    bare: Vec<u8>,
    nonce: Vec<u8>,
    /// The signature that the server must send last.
    signature: Vec<u8>,
}

impl Scram {
    /// The first message.
    pub fn begin(hash: Hash, who: &Login, channel: Option<&Channel>, nonce: &[u8]) -> (Vec<u8>, Scram) {
        let binding = channel.map_or_else(|| b"n".to_vec(), |c| [b"p=", c.kind.as_bytes()].concat());
        let header = match &who.authzid[..] {
            b"" => [&binding[..], b",,"].concat(),
            authzid => [&binding[..], b",a=", &escaped(&prepared(authzid))[..], b","].concat(),
        };
        let bare = [b"n=", &escaped(&prepared(&who.user))[..], b",r=", nonce].concat();
        let message = [&header[..], &bare].concat();
        let channel = channel.map(|channel| channel.name.clone()).unwrap_or_default();
        (message, Scram { hash, header, channel, bare, nonce: nonce.to_vec(), signature: Vec::new() })
    }

    /// The proof, in answer to the server's first message.
    pub fn respond(mut self, challenge: &[u8], password: &[u8]) -> Result<(Vec<u8>, Scram), Malformed> {
        if challenge.len() > MESSAGE_LIMIT {
            return Err(Malformed);
        }
        let mut parts = challenge.split(|b| *b == b',');
        let mut part = |name: &[u8]| parts.next().and_then(|p| p.strip_prefix(name)).ok_or(Malformed);
        let (nonce, salt, count) = (part(b"r=")?, part(b"s=")?, part(b"i=")?);
        if nonce.len() <= self.nonce.len() || !nonce.starts_with(&self.nonce) {
            return Err(Malformed);
        }
        let salt = base64::decode(salt).filter(|salt| !salt.is_empty()).ok_or(Malformed)?;
        let count = std::str::from_utf8(count).ok().and_then(|text| text.parse::<u32>().ok());
        let count = count.filter(|n| (1..=ITERATIONS_LIMIT).contains(n)).ok_or(Malformed)?;
        let binding = base64::encode(&[&self.header[..], &self.channel].concat());
        let unproved = [b"c=", binding.as_bytes(), b",r=", nonce].concat();
        let all = [&self.bare[..], challenge, &unproved].join(&b',');
        let hash = self.hash;
        let salted = hash.salted(&prepared(password), &salt, count);
        let client_key = hash.hmac(&salted, b"Client Key");
        let client_signature = hash.hmac(&hash.digest(&client_key), &all);
        let proof: Vec<u8> = client_key.iter().zip(&client_signature).map(|(a, b)| a ^ b).collect();
        self.signature = hash.hmac(&hash.hmac(&salted, b"Server Key"), &all);
        let message = [&unproved[..], b",p=", base64::encode(&proof).as_bytes()].concat();
        Ok((message, self))
    }

    /// Whether the server's last message proves that it knows the password, too.
    pub fn proves(&self, message: &[u8]) -> bool {
        let proof = message.split(|b| *b == b',').next().and_then(|part| part.strip_prefix(b"v="));
        !self.signature.is_empty()
            && proof.and_then(base64::decode).is_some_and(|proof| proof == self.signature)
    }
}

impl Hash {
    fn digest(self, input: &[u8]) -> Vec<u8> {
        match self {
            Hash::Sha1 => Sha1::digest(input).to_vec(),
            Hash::Sha256 => Sha256::digest(input).to_vec(),
        }
    }

    fn hmac(self, key: &[u8], input: &[u8]) -> Vec<u8> {
        const ANY: &str = "HMAC takes keys of any length";
        match self {
            Hash::Sha1 => {
                let mut mac = Hmac::<Sha1>::new_from_slice(key).expect(ANY);
                mac.update(input);
                mac.finalize().into_bytes().to_vec()
            }
            Hash::Sha256 => {
                let mut mac = Hmac::<Sha256>::new_from_slice(key).expect(ANY);
                mac.update(input);
                mac.finalize().into_bytes().to_vec()
            }
        }
    }

    /// `Hi` of RFC 5802 section 2.2: PBKDF2 with one block.
    fn salted(self, password: &[u8], salt: &[u8], count: u32) -> Vec<u8> {
        let mut last = self.hmac(password, &[salt, &[0, 0, 0, 1]].concat());
        let mut sum = last.clone();
        for _ in 1..count {
            last = self.hmac(password, &last);
            sum.iter_mut().zip(&last).for_each(|(sum, octet)| *sum ^= octet);
        }
        sum
    }
}

fn escaped(name: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(name.len());
    for &octet in name {
        match octet {
            b'=' => out.extend_from_slice(b"=3D"),
            b',' => out.extend_from_slice(b"=2C"),
            _ => out.push(octet),
        }
    }
    out
}
