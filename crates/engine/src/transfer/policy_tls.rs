//! TLS under policies: the least version, and the keys of hosts.

use net::tls::{PinnedKey, TlsConfig, TlsVersion};
use tables::Code;
use wire::policy::{Guard, LeastTls};

use crate::error::{Error, Result};

/// Raises the least version of TLS to the one that the policies demand.
pub fn demand_version(config: &mut TlsConfig, guard: &Guard) -> Result<()> {
    for policy in guard.policies() {
        let (least, name) = match policy.least_tls() {
            None => continue,
            Some(LeastTls::Tls12) => (TlsVersion::Tls12, "1.2"),
            Some(LeastTls::Tls13) => (TlsVersion::Tls13, "1.3"),
        };
        if config.max_version < least {
            let text = format!(
                "policy {} demands TLS {name}, and CURLOPT_SSLVERSION allows only older versions",
                policy.name()
            );
            return Err(Error::new(Code::RemoteAccessDenied, text));
        }
        config.min_version = config.min_version.max(least);
    }
    Ok(())
}

/// Pins the keys that the policies name for a host. A key must match these and CURLOPT_PINNEDPUBLICKEY.
pub fn pin_keys(config: &mut TlsConfig, guard: &Guard, host: &str) -> Result<()> {
    for policy in guard.policies() {
        for hashes in policy.pins(host) {
            let both = match config.pinned_key.take() {
                None => hashes.join(";"),
                Some(PinnedKey::Hashes(given)) => {
                    let given: Vec<&str> = given.split(';').collect();
                    let both: Vec<&str> =
                        hashes.iter().map(String::as_str).filter(|hash| given.contains(hash)).collect();
                    both.join(";")
                }
                Some(PinnedKey::File(_)) => {
                    let text = format!(
                        "policy {} pins keys of \"{host}\": CURLOPT_PINNEDPUBLICKEY needs hashes, not a file",
                        policy.name()
                    );
                    return Err(Error::new(Code::RemoteAccessDenied, text));
                }
            };
            config.pinned_key = Some(PinnedKey::Hashes(both));
        }
    }
    Ok(())
}
