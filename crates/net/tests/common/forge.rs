//! Correctly signed certificates and lists of any shape, which no library would create.

use rcgen::{KeyPair, PublicKeyData, SigningKey};
use wire::der::{self, wrap};

pub const ECDSA_SHA256: &[u8] = &[0x2a, 0x86, 0x48, 0xce, 0x3d, 4, 3, 2];
pub const ECDSA_SHA384: &[u8] = &[0x2a, 0x86, 0x48, 0xce, 0x3d, 4, 3, 3];

pub fn sequence(parts: &[Vec<u8>]) -> Vec<u8> {
    wrap(der::SEQUENCE, &parts.concat())
}

pub fn ce(number: u8) -> Vec<u8> {
    vec![0x55, 0x1d, number]
}

/// A Name of common names, each under its own string tag.
pub fn name(parts: &[(u8, &str)]) -> Vec<u8> {
    let set = |(tag, text): &(u8, &str)| {
        wrap(der::SET, &sequence(&[wrap(der::OID, &[0x55, 4, 3]), wrap(*tag, text.as_bytes())]))
    };
    sequence(&parts.iter().map(set).collect::<Vec<_>>())
}

#[derive(Clone, Debug)]
pub struct Extension {
    pub oid: Vec<u8>,
    pub critical: bool,
    pub value: Vec<u8>,
}

impl Extension {
    fn der(&self) -> Vec<u8> {
        let critical = if self.critical { wrap(der::BOOLEAN, &[0xff]) } else { Vec::new() };
        sequence(&[wrap(der::OID, &self.oid), critical, wrap(der::OCTET_STRING, &self.value)])
    }
}

/// A certificate before it is signed.
#[derive(Clone, Debug)]
pub struct Plan {
    pub version: u8,
    pub serial: Vec<u8>,
    pub issuer: Vec<u8>,
    pub subject: Vec<u8>,
    /// UTCTime.
    pub from: String,
    pub until: String,
    /// Which key it is for, and which one signs it.
    pub key: usize,
    pub signer: usize,
    pub extensions: Vec<Extension>,
    /// The outer signature algorithm.
    pub outer: &'static [u8],
}

impl Plan {
    pub fn set(&mut self, oid: Vec<u8>, critical: bool, value: Vec<u8>) {
        self.remove(&oid);
        self.extensions.push(Extension { oid, critical, value });
    }

    pub fn remove(&mut self, oid: &[u8]) {
        self.extensions.retain(|e| e.oid != oid);
    }

    pub fn sign(&self, keys: &[KeyPair]) -> Vec<u8> {
        signed(self.unsigned(keys), &keys[self.signer], self.outer)
    }

    /// Returns the part that is signed.
    pub fn unsigned(&self, keys: &[KeyPair]) -> Vec<u8> {
        let time =
            |t: &String| wrap(if t.len() > 13 { der::GENERALIZED_TIME } else { der::UTC_TIME }, t.as_bytes());
        let version = match self.version {
            0 => Vec::new(),
            n => wrap(der::context(0), &wrap(der::INTEGER, &[n])),
        };
        let extensions = match self.extensions.is_empty() {
            true => Vec::new(),
            false => {
                let list: Vec<_> = self.extensions.iter().map(Extension::der).collect();
                wrap(der::context(3), &sequence(&list))
            }
        };
        sequence(&[
            version,
            wrap(der::INTEGER, &self.serial),
            sequence(&[wrap(der::OID, ECDSA_SHA256)]),
            self.issuer.clone(),
            sequence(&[time(&self.from), time(&self.until)]),
            self.subject.clone(),
            keys[self.key].subject_public_key_info(),
            extensions,
        ])
    }
}

/// A list before it is signed.
#[derive(Clone, Debug)]
pub struct List {
    pub issuer: Vec<u8>,
    pub from: String,
    pub until: Option<String>,
    pub signer: usize,
    /// Serial numbers, and extensions of their entries.
    pub revoked: Vec<(Vec<u8>, Vec<Extension>)>,
    pub extensions: Vec<Extension>,
}

impl List {
    pub fn sign(&self, keys: &[KeyPair]) -> Vec<u8> {
        let all = |list: &[Extension]| sequence(&list.iter().map(Extension::der).collect::<Vec<_>>());
        let entry = |(serial, extensions): &(Vec<u8>, Vec<Extension>)| {
            let tail = if extensions.is_empty() { Vec::new() } else { all(extensions) };
            sequence(&[wrap(der::INTEGER, serial), wrap(der::UTC_TIME, b"200101000000Z"), tail])
        };
        let entries: Vec<_> = self.revoked.iter().map(entry).collect();
        let tbs = sequence(&[
            wrap(der::INTEGER, &[1]),
            sequence(&[wrap(der::OID, ECDSA_SHA256)]),
            self.issuer.clone(),
            wrap(der::UTC_TIME, self.from.as_bytes()),
            self.until.iter().flat_map(|t| wrap(der::UTC_TIME, t.as_bytes())).collect(),
            if entries.is_empty() { Vec::new() } else { sequence(&entries) },
            if self.extensions.is_empty() {
                Vec::new()
            } else {
                wrap(der::context(0), &all(&self.extensions))
            },
        ]);
        signed(tbs, &keys[self.signer], ECDSA_SHA256)
    }
}

/// A signed structure; `outer` is the algorithm that it names.
pub fn signed(tbs: Vec<u8>, key: &KeyPair, outer: &[u8]) -> Vec<u8> {
    let signature = key.sign(&tbs).expect("a key of our own signs");
    let bits = [&[0][..], &signature].concat();
    sequence(&[tbs, sequence(&[wrap(der::OID, outer)]), wrap(der::BIT_STRING, &bits)])
}
