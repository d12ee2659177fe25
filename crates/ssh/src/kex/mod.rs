//! Key exchange (RFC 4253 §7 and §8): the offers of both sides, the choice, and the keys derived from the
//! shared secret.

mod method;

use crate::bytes::{Put, Reader};
use crate::cipher::{CIPHERS, Cipher, Keys, MACS, MacKind};
use crate::crypto::{Hash, Secret, random};
use crate::error::Error;
use crate::numbers::KEXINIT;
use zeroize::Zeroizing;

pub use method::{ClientExchange, METHODS, Method};

/// The server's announcement of strict key exchange: it resets the packet counters with each key and allows
/// no other messages during the first exchange, so that nothing can be removed from its beginning (OpenSSH's
/// PROTOCOL §1.10, CVE-2023-48795).
const STRICT_CLIENT: &str = "kex-strict-c-v00@openssh.com";
const STRICT_SERVER: &str = "kex-strict-s-v00@openssh.com";
/// RFC 8308 §2.1.
const EXT_INFO_CLIENT: &str = "ext-info-c";

/// The client's offer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Offer {
    pub methods: Vec<String>,
    pub host_keys: Vec<String>,
    pub ciphers: Vec<String>,
    pub macs: Vec<String>,
    pub compression: bool,
}

impl Default for Offer {
    /// All that is known, the best first.
    fn default() -> Offer {
        let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        Offer {
            methods: METHODS.iter().map(|(name, _)| (*name).to_owned()).collect(),
            host_keys: names(&crate::public::HOST_ALGORITHMS),
            ciphers: CIPHERS.iter().map(|(name, _)| (*name).to_owned()).collect(),
            macs: MACS.iter().map(|(name, _)| (*name).to_owned()).collect(),
            compression: false,
        }
    }
}

/// How one direction is compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Packing {
    None,
    /// From the new keys on.
    Zlib,
    /// After authentication.
    Delayed,
}

const PACKINGS: [(&str, Packing); 3] =
    [("zlib@openssh.com", Packing::Delayed), ("zlib", Packing::Zlib), ("none", Packing::None)];

/// The negotiated algorithms of one direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Direction {
    pub cipher: Cipher,
    pub mac: Option<MacKind>,
    pub packing: Packing,
}

/// The negotiated algorithms.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Algorithms {
    pub method: Method,
    pub host_key: String,
    pub out: Direction,
    pub inward: Direction,
    pub strict: bool,
    /// The server has guessed wrong: its next packet is to be passed over.
    pub skip: bool,
    /// Names of method and cipher, for who wants to know.
    pub names: [String; 2],
}

impl Offer {
    /// Returns the KEXINIT message. The first one of a connection also has the markers that are not
    /// algorithms.
    pub fn message(&self, first: bool) -> Result<Vec<u8>, Error> {
        let mut out = vec![KEXINIT];
        let mut cookie = [0; 16];
        random(&mut cookie)?;
        out.extend_from_slice(&cookie);
        let mut methods = self.methods.join(",");
        if first {
            methods = [&methods, EXT_INFO_CLIENT, STRICT_CLIENT].join(",");
        }
        out.put_string(methods);
        out.put_string(self.host_keys.join(","));
        for list in [&self.ciphers, &self.macs] {
            out.put_string(list.join(","));
            out.put_string(list.join(","));
        }
        for _ in 0..2 {
            out.put_string(self.packings().join(","));
        }
        out.put_string("");
        out.put_string("");
        out.put_flag(false);
        out.put_u32(0);
        Ok(out)
    }

    fn packings(&self) -> Vec<&'static str> {
        let names = PACKINGS.iter().map(|(name, _)| *name);
        names.filter(|name| self.compression || *name == "none").collect()
    }

    /// Negotiates with the server's offer: of each kind, our first algorithm that the server has.
    pub fn choose(&self, message: &[u8]) -> Result<Algorithms, Error> {
        let mut reader = Reader::new(message);
        reader.take(17)?;
        let mut lists = Vec::with_capacity(10);
        for _ in 0..10 {
            lists.push(reader.names()?);
        }
        let guessed = reader.flag()?;
        reader.u32()?;
        let method = first(&self.methods, &lists[0], "key exchange method")?;
        let host_key = first(&self.host_keys, &lists[1], "host key algorithm")?;
        let skip = guessed && (lists[0].first() != Some(&method) || lists[1].first() != Some(&host_key));
        let (out, cipher) = self.direction(&lists, 0)?;
        let (inward, _) = self.direction(&lists, 1)?;
        Ok(Algorithms {
            method: named(METHODS, method),
            host_key: host_key.to_owned(),
            out,
            inward,
            strict: lists[0].contains(&STRICT_SERVER),
            skip,
            names: [method.to_owned(), cipher],
        })
    }

    fn direction(&self, lists: &[Vec<&str>], which: usize) -> Result<(Direction, String), Error> {
        let name = first(&self.ciphers, &lists[2 + which], "cipher")?;
        let cipher = named(CIPHERS, name);
        let mac = match cipher.is_aead() {
            true => None,
            false => Some(named(MACS, first(&self.macs, &lists[4 + which], "MAC")?)),
        };
        let packings = self.packings();
        let packing = named(&PACKINGS, first(&packings, &lists[6 + which], "compression")?);
        Ok((Direction { cipher, mac, packing }, name.to_owned()))
    }
}

fn first<'a>(ours: &'a [impl AsRef<str>], theirs: &[&str], kind: &'static str) -> Result<&'a str, Error> {
    let mut ours = ours.iter().map(AsRef::as_ref);
    ours.find(|name| theirs.contains(name)).ok_or(Error::NothingInCommon(kind))
}

fn named<T: Copy>(table: &[(&str, T)], name: &str) -> T {
    let row = table.iter().find(|(known, _)| *known == name);
    row.expect("nothing is offered that is not in its table").1
}

/// Input of the key derivation (RFC 4253 §7.2): the shared secret in the form that is hashed, and the
/// exchange hash.
pub struct Material<'a> {
    pub hash: Hash,
    pub secret: &'a [u8],
    pub exchange: &'a [u8],
    pub session: &'a [u8],
}

impl Material<'_> {
    /// Derives the keys from client to server, or those of the other direction.
    pub fn keys(&self, direction: Direction, outward: bool) -> Keys {
        let letters = if outward { *b"ACE" } else { *b"BDF" };
        let (key, iv) = direction.cipher.needs();
        let mac_key = match direction.mac.map(|mac| mac.hash) {
            None => 0,
            Some(Hash::Sha1) => 20,
            Some(Hash::Sha256) => 32,
            Some(Hash::Sha384) => 48,
            Some(Hash::Sha512) => 64,
        };
        Keys {
            cipher: direction.cipher,
            mac: direction.mac,
            iv: self.derive(letters[0], iv),
            key: self.derive(letters[1], key),
            mac_key: self.derive(letters[2], mac_key),
        }
    }

    fn derive(&self, letter: u8, length: usize) -> Secret {
        let mut out = Zeroizing::new(self.hash.of(&[self.secret, self.exchange, &[letter], self.session]));
        while out.len() < length {
            let more = Zeroizing::new(self.hash.of(&[self.secret, self.exchange, &out]));
            let longer = Zeroizing::new([out.as_slice(), more.as_slice()].concat());
            out = longer;
        }
        out.truncate(length);
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn server(methods: &str, ciphers: &str, macs: &str, guess: bool) -> Vec<u8> {
        let mut out = vec![KEXINIT];
        out.extend_from_slice(&[0; 16]);
        for list in
            [methods, "rsa-sha2-512,ssh-ed25519", ciphers, "aes128-ctr", macs, macs, "none", "none", "", ""]
        {
            out.put_string(list);
        }
        out.put_flag(guess);
        out.put_u32(0);
        out
    }

    #[test]
    fn the_first_of_ours_is_chosen() {
        let offer = Offer::default();
        let message = server(
            "ecdh-sha2-nistp256,curve25519-sha256,kex-strict-s-v00@openssh.com",
            "aes128-ctr,aes256-gcm@openssh.com",
            "hmac-sha2-256",
            false,
        );
        let chosen = offer.choose(&message).unwrap();
        assert_eq!(chosen.names, ["curve25519-sha256", "aes256-gcm@openssh.com"]);
        assert_eq!(chosen.host_key, "ssh-ed25519");
        assert_eq!((chosen.out.mac, chosen.inward.mac.is_some()), (None, true));
        assert!(chosen.strict && !chosen.skip);
    }

    #[test]
    fn a_wrongly_guessed_packet_is_skipped() {
        let offer = Offer::default();
        let message = server("ecdh-sha2-nistp256,curve25519-sha256", "aes128-ctr", "hmac-sha2-256", true);
        assert!(offer.choose(&message).unwrap().skip);
    }

    #[test]
    fn an_error_names_the_kind_of_algorithm_without_a_match() {
        let offer = Offer::default();
        for (message, kind) in [
            (server("diffie-hellman-group1-sha1", "aes128-ctr", "hmac-sha1", false), "key exchange method"),
            (server("curve25519-sha256", "3des-cbc", "hmac-sha1", false), "cipher"),
            (server("curve25519-sha256", "aes128-ctr", "hmac-md5", false), "MAC"),
            (server("curve25519-sha256", "aes128-ctr", "hmac-sha1", false), "MAC"),
        ] {
            assert_eq!(offer.choose(&message), Err(Error::NothingInCommon(kind)));
        }
        let message = offer.message(true).unwrap();
        assert!((0..message.len()).all(|n| offer.choose(&message[..n]).is_err()));
    }
}
