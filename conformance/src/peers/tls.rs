//! TLS for the servers that need it, with certificates made for each run: a root, and the leaves that the
//! cases name, with the names and properties that their checks require. Nothing here is a secret.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, LazyLock};

use rustls::ServerConfig;
use testkit::certs::{Authority, Leaf};

/// The certificate of a server whose case names none.
const DEFAULT: &str = "test-localhost.pem";

/// File stem, common name, alternative names.
const LEAVES: [(&str, &str, &[&str]); 5] = [
    ("test-localhost", "localhost", &["localhost", "127.0.0.1", "::1"]),
    ("test-localhost.nn", "localhost.nn", &["localhost.nn"]),
    // the NUL in the alternative name is the point: it must not be taken for localhost
    ("test-localhost0h", "localhost", &["localhost\0h"]),
    ("test-localhost-san-first", "localhost.nn", &["localhost", "localhost1", "localhost2"]),
    ("test-localhost-san-last", "localhost.nn", &["localhost1", "localhost2", "localhost"]),
];
/// Serial number of the first of them, which the lists of revoked certificates name.
const FIRST_SERIAL: u64 = 10;

/// The root and the certificates of the run.
struct Certificates {
    authority: Authority,
    leaves: BTreeMap<&'static str, Leaf>,
    client: Leaf,
}

static CERTIFICATES: LazyLock<Certificates> = LazyLock::new(|| {
    let authority = Authority::new();
    let leaf = |(serial, (stem, common_name, names)): (u64, &(&'static str, &str, &[&str]))| {
        (*stem, authority.numbered(serial, common_name, names))
    };
    let leaves = (FIRST_SERIAL..).zip(&LEAVES).map(leaf).collect();
    let client = authority.numbered(FIRST_SERIAL - 1, "Client cert", &[]);
    Certificates { authority, leaves, client }
});

/// SHA-256 of the data, for pins.
pub fn sha256(data: &[u8]) -> impl AsRef<[u8]> {
    ring::digest::digest(&ring::digest::SHA256, data)
}

/// The configuration of a TLS server that shows the named certificate.
pub fn server(role: &str, certificate: Option<&str>) -> Result<Arc<ServerConfig>, String> {
    let name = certificate.unwrap_or(DEFAULT);
    let stem = name.strip_suffix(".pem").unwrap_or(name);
    let leaf = CERTIFICATES.leaves.get(stem).ok_or_else(|| format!("no certificate {name}"))?;
    let config =
        if role == "https-mtls" { CERTIFICATES.authority.demanding(leaf) } else { leaf.server_config() };
    config.map_err(|e| e.to_string())
}

/// Returns the certificate of a server whose case names none.
pub fn usual_leaf() -> &'static Leaf {
    &CERTIFICATES.leaves[DEFAULT.trim_end_matches(".pem")]
}

/// Writes the files that cases name under `%CERTDIR/certs`.
pub fn write_files(folder: &Path) -> Result<(), String> {
    let Certificates { authority, leaves, client } = &*CERTIFICATES;
    let put = |name: &str, data: &[u8]| {
        std::fs::write(folder.join(name), data).map_err(|e| format!("cannot write {name}: {e}"))
    };
    for name in ["test-ca.crt", "test-ca.cacert"] {
        put(name, authority.ca_pem().as_bytes())?;
    }
    put("test-ca.crl", authority.empty_crl().as_bytes())?;
    let revoked = authority.crl(&[FIRST_SERIAL]);
    for (stem, leaf) in leaves.iter().map(|(s, l)| (*s, l)).chain([("test-client-cert", client)]) {
        put(&format!("{stem}.crt"), leaf.cert_pem.as_bytes())?;
        put(&format!("{stem}.der"), &leaf.cert_der().map_err(|e| e.to_string())?)?;
        put(&format!("{stem}.key"), leaf.key_pem.as_bytes())?;
        put(&format!("{stem}.pem"), [&leaf.key_pem, "\n", &leaf.cert_pem].concat().as_bytes())?;
        put(&format!("{stem}.pub.der"), &leaf.public_key_der())?;
        put(&format!("{stem}.pub.pem"), leaf.public_key_pem().as_bytes())?;
        put(&format!("{stem}.crl"), revoked.as_bytes())?;
    }
    Ok(())
}
