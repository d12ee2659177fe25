//! Verifies a server's key: by its fingerprint, by the application's functions, or by known_hosts
//! (CURLOPT_SSH_HOST_PUBLIC_KEY_SHA256(3), CURLOPT_SSH_HOSTKEYFUNCTION(3), CURLOPT_SSH_KNOWNHOSTS(3),
//! CURLOPT_SSH_KEYFUNCTION(3)). All that the application sets must agree. Only the application's functions
//! can accept a changed key.

use std::path::PathBuf;

use runtime::seconds_since_1970;
use ssh::Hash;
use ssh::known_hosts::{KnownHosts, Verdict};
use ssh::public::{self, CERT_SUFFIX, Certificate, HOST_ALGORITHMS};
use tables::{Code, EasyOption as O};
use wire::base64;

use crate::callbacks::{HostKey, HostMatch, HostVerdict};
use crate::error::{Error, Result};
use crate::sys::path_buf;
use crate::transfer::Connector;
use crate::transfer::route::plan::Plan;

/// The requirements for the key of one server.
pub struct Judge {
    host: String,
    port: u16,
    sha256: Option<Vec<u8>>,
    md5: Option<Vec<u8>>,
    known: Option<(PathBuf, KnownHosts)>,
}

impl Judge {
    pub fn new(t: &Connector, plan: &Plan) -> Result<Judge> {
        let print = |option| t.text(option).filter(|text| !text.is_empty()).map(|text| text.to_vec());
        let known = t.text(O::SshKnownHosts).filter(|name| !name.is_empty()).map(|name| path_buf(&name)).map(
            |file| {
                let bytes = std::fs::read(&file).unwrap_or_else(|_| {
                    t.easy.note(|| format!("Failed to read known hosts from {}", file.display()));
                    Vec::new()
                });
                (file, KnownHosts::parse(&bytes))
            },
        );
        let origin = &plan.key.origin;
        Ok(Judge {
            host: origin.host.to_string(),
            port: origin.port,
            sha256: print(O::SshHostPublicKeySha256),
            md5: print(O::SshHostPublicKeyMd5),
            known,
        })
    }

    /// The algorithms for the server's proof: certificates only if something verifies them.
    pub fn preferred(&self) -> Vec<String> {
        match &self.known {
            Some((_, known)) if self.sha256.is_none() && self.md5.is_none() => {
                known.preferred(&self.host, self.port)
            }
            _ => HOST_ALGORITHMS.iter().map(|name| (*name).to_owned()).collect(),
        }
    }

    /// Checks whether this key is the server's.
    pub fn judge(&self, t: &Connector, key: &[u8]) -> Result<()> {
        let key = self.vouched_for(key)?;
        let Some(key) = key else { return Ok(()) };
        let sha256 = base64::encode(&Hash::Sha256.of(&[&key]));
        let sha256 = sha256.trim_end_matches('=');
        let md5 = ssh::md5_hex(&key);
        t.easy.note(|| format!("SSH MD5 fingerprint: {md5}"));
        t.easy.note(|| format!("SSH SHA256 fingerprint: {sha256}"));
        let mut fixed = false;
        if let Some(wanted) = &self.sha256 {
            let wanted = String::from_utf8_lossy(wanted);
            if wanted.trim_end_matches('=') != sha256 {
                return Err(denied("SHA256", sha256, &wanted));
            }
            t.easy.note(|| "SHA256 checksum match".to_owned());
            fixed = true;
        }
        if let Some(wanted) = &self.md5 {
            if !wanted.eq_ignore_ascii_case(md5.as_bytes()) {
                return Err(denied("MD5", &md5, &String::from_utf8_lossy(wanted)));
            }
            t.easy.note(|| "MD5 checksum match".to_owned());
            fixed = true;
        }
        if fixed {
            return Ok(());
        }
        let found = HostKey { kind: kind(public::type_of(&key)), bytes: key.clone(), coded: false };
        match t.easy.callbacks.ssh_host_key(&found) {
            Some(true) => Ok(()),
            Some(false) => {
                Err(Error::new(Code::PeerFailedVerification, "the application refuses the SSH host key"))
            }
            None => self.by_known_hosts(t, &found),
        }
    }

    /// Returns the host's key, or the one inside its certificate. `None`: an authority has certified it.
    fn vouched_for(&self, blob: &[u8]) -> Result<Option<Vec<u8>>> {
        if !public::type_of(blob).ends_with(CERT_SUFFIX) {
            return Ok(Some(blob.to_vec()));
        }
        let bad = || Error::new(Code::PeerFailedVerification, "the SSH host certificate is none");
        let certificate = Certificate::parse(blob).map_err(|_| bad())?;
        let now = seconds_since_1970() as u64; // never below 0
        let vouches =
            |(_, known): &(PathBuf, KnownHosts)| known.vouches(&self.host, self.port, &certificate, now);
        Ok((!self.known.as_ref().is_some_and(vouches)).then(|| certificate.key.to_blob()))
    }

    fn by_known_hosts(&self, t: &Connector, found: &HostKey) -> Result<()> {
        let Some((file, known)) = &self.known else { return Ok(()) };
        let verdict = known.check(&self.host, self.port, &found.bytes);
        let (matches, standing) = match &verdict {
            Verdict::Known => {
                let coded = base64::encode(&found.bytes).into_bytes();
                (HostMatch::Ok, Some(HostKey { kind: found.kind, bytes: coded, coded: true }))
            }
            Verdict::Other(key) => {
                let kind = kind(&key.key_type);
                (
                    HostMatch::Mismatch,
                    Some(HostKey { kind, bytes: key.base64.clone().into_bytes(), coded: true }),
                )
            }
            Verdict::Missing => (HostMatch::Missing, None),
            Verdict::Revoked => {
                return Err(Error::new(Code::PeerFailedVerification, "the SSH host key is revoked"));
            }
        };
        t.easy.note(|| {
            let key = standing.as_ref().map_or("<none>".into(), |key| String::from_utf8_lossy(&key.bytes));
            format!("SSH host check: {}, key: {key}", matches as i32)
        });
        let answer = t.easy.callbacks.ssh_known_host(standing.as_ref(), found, matches);
        let answer = answer.unwrap_or(match matches {
            HostMatch::Ok => HostVerdict::Fine,
            _ => HostVerdict::Reject,
        });
        let mut known = known.clone();
        match answer {
            HostVerdict::Fine => return Ok(()),
            HostVerdict::Reject | HostVerdict::Defer => return Err(self.rejected(&verdict)),
            HostVerdict::Replace => {
                if let Verdict::Other(key) = &verdict {
                    known.forget(&self.host, self.port, key);
                }
            }
            HostVerdict::Add => {}
        }
        if verdict != Verdict::Known {
            known.add(&self.host, self.port, &found.bytes);
            if std::fs::write(file, known.to_bytes()).is_err() {
                t.easy.note(|| format!("WARNING: writing {} failed", file.display()));
            }
        }
        Ok(())
    }

    fn rejected(&self, verdict: &Verdict) -> Error {
        let text = match verdict {
            Verdict::Other(_) => format!("the SSH host key of {} has changed", self.host),
            Verdict::Missing => format!("the SSH host key of {} is not known", self.host),
            _ => "the application refuses the SSH host key".to_owned(),
        };
        Error::new(Code::PeerFailedVerification, text)
    }
}

fn denied(kind: &str, remote: &str, wanted: &str) -> Error {
    let text = format!(
        "Denied establishing ssh session: mismatch {kind} fingerprint. Remote {remote} is not equal to {wanted}"
    );
    Error::new(Code::PeerFailedVerification, text)
}

/// Returns the CURLKHTYPE_ of a key.
fn kind(key_type: &str) -> i64 {
    use tables::constant::{
        CURLKHTYPE_DSS, CURLKHTYPE_ECDSA, CURLKHTYPE_ED25519, CURLKHTYPE_RSA, CURLKHTYPE_UNKNOWN,
    };
    i64::from(match key_type {
        "ssh-rsa" => CURLKHTYPE_RSA,
        "ssh-dss" => CURLKHTYPE_DSS,
        "ssh-ed25519" => CURLKHTYPE_ED25519,
        _ if key_type.starts_with("ecdsa-sha2-") => CURLKHTYPE_ECDSA,
        _ => CURLKHTYPE_UNKNOWN,
    })
}
