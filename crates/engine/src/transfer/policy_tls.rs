//! TLS under policies: the least version, and the keys of hosts.

use net::tls::{PinnedKey, TlsConfig, TlsVersion};
use wire::policy::{Check, Guard, LeastTls, Policy, Refusal};

/// Returns the refusal of a transfer for an option of TLS.
fn refusal(policy: &Policy, rule: String) -> Refusal {
    policy.refusal(Check::Tls, "the transfer".to_owned(), rule)
}

/// Raises the least version of TLS to the one that the policies demand.
pub fn demand_version(config: &mut TlsConfig, guard: &Guard) -> Result<(), Refusal> {
    for policy in guard.policies() {
        let (least, name) = match policy.least_tls() {
            None => continue,
            Some(LeastTls::Tls12) => (TlsVersion::Tls12, "1.2"),
            Some(LeastTls::Tls13) => (TlsVersion::Tls13, "1.3"),
        };
        if config.max_version < least {
            let rule = format!("it demands TLS {name}, and CURLOPT_SSLVERSION allows only older versions");
            return Err(refusal(policy, rule));
        }
        config.min_version = config.min_version.max(least);
    }
    Ok(())
}

/// Pins the keys that the policies name for a host. A key must match these and CURLOPT_PINNEDPUBLICKEY.
pub fn pin_keys(config: &mut TlsConfig, guard: &Guard, host: &str) -> Result<(), Refusal> {
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
                    let rule = format!(
                        "it pins keys of \"{host}\": CURLOPT_PINNEDPUBLICKEY needs hashes, not a file"
                    );
                    return Err(refusal(policy, rule));
                }
            };
            config.pinned_key = Some(PinnedKey::Hashes(both));
        }
    }
    Ok(())
}
