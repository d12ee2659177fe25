//! Private key files: those that the application names, or those at the default locations.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use ssh::keys::{KeyError, PrivateKey};
use tables::EasyOption as O;
use zeroize::Zeroizing;

use crate::sys::path_buf;
use crate::transfer::Handles;
use crate::transfer::usual_keys::usual_key_files;

/// No key is longer.
const MAX_FILE: u64 = 1 << 20;
/// The key that the application names.
pub fn named(t: &Handles) -> Option<PrivateKey> {
    let name = t.text(O::SshPrivateKeyFile).filter(|name| !name.is_empty())?;
    let public = t.text(O::SshPublicKeyFile).filter(|name| !name.is_empty()).map(|name| path_buf(&name));
    load(t, &path_buf(&name), public.as_deref(), &passphrase(t))
}

/// Returns the keys at the default locations, if none is named.
pub fn usual(t: &Handles) -> Vec<PrivateKey> {
    if t.text(O::SshPrivateKeyFile).is_some_and(|name| !name.is_empty()) {
        return Vec::new();
    }
    usual_key_files().iter().filter_map(|file| load(t, file, None, &passphrase(t))).collect()
}

fn passphrase(t: &Handles) -> Zeroizing<Vec<u8>> {
    t.text(O::KeyPasswd).map(|text| Zeroizing::new(text.to_vec())).unwrap_or_default()
}

fn load(t: &Handles, file: &Path, public: Option<&Path>, passphrase: &[u8]) -> Option<PrivateKey> {
    t.easy.note(|| format!("Using SSH private key file '{}'", file.display()));
    if let Some(public) = public {
        t.easy.note(|| format!("Using SSH public key file '{}'", public.display()));
    }
    match read_key(file, public, passphrase) {
        Ok(key) => Some(key),
        Err(why) => {
            t.easy.note(|| format!("SSH public key authentication failed: {why}"));
            None
        }
    }
}

fn read_key(file: &Path, public: Option<&Path>, passphrase: &[u8]) -> Result<PrivateKey, &'static str> {
    let bytes = read(file).ok_or("Unable to open private key file")?;
    // Deriving a cipher's key leaves the passphrase in stack frames.
    let parsed = runtime::stack::without_trace(|| parse(&bytes, passphrase));
    let mut key = parsed.map_err(|e| match e {
        KeyError::Passphrase => "Wrong passphrase or invalid/unrecognized private key file format",
        KeyError::Unusable => "invalid/unrecognized private key file format",
    })?;
    if let Some(public) = public {
        let bytes = read(public).ok_or("Unable to open public key file")?;
        key.show(&bytes).map_err(|_| "Invalid public key data")?;
    }
    Ok(key)
}

fn read(file: &Path) -> Option<Zeroizing<Vec<u8>>> {
    let file = File::open(file).ok()?;
    // Room for everything: a buffer that grows leaves copies behind.
    let length = file.metadata().map_or(0, |known| known.len().min(MAX_FILE));
    let mut bytes = Zeroizing::new(Vec::with_capacity(length as usize + 1));
    file.take(MAX_FILE).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}

/// Parses OpenSSH's own format, or the formats of TLS keys.
fn parse(bytes: &[u8], passphrase: &[u8]) -> Result<PrivateKey, KeyError> {
    let sections = net::tls::pem::sections(bytes);
    if let Some(own) = sections.into_iter().find(|section| section.label == "OPENSSH PRIVATE KEY") {
        return PrivateKey::from_openssh(&own.body, passphrase);
    }
    let der = net::tls::keys::private_key(bytes, passphrase).map(Zeroizing::new);
    let der = der.ok_or(KeyError::Passphrase)?;
    PrivateKey::from_der(der.secret_der())
}
