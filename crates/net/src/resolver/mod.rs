//! Resolves names to candidates: numeric hosts and localhost at once, pinned and cached entries, otherwise
//! getaddrinfo on threads, separately for each family.
//!
//! The system's rules (nsswitch, /etc/hosts, search domains) are left to getaddrinfo. Simultaneous look-ups
//! of one name share one call and its answer.

mod cache;
mod candidate;
mod candidates;
mod family;
mod hosts;
mod limits;
mod lookup;
mod means;
mod names;
mod options;
mod pins;
mod reread;
mod servers;
mod services;
mod silence;
mod system;

use std::sync::Arc;
use std::time::Instant;

use crate::error::NetError;
use cache::CachedName;
pub use cache::ResolveCache;
pub use candidate::{Candidate, Part, QuestionAnswer};
pub use candidates::{Candidates, RESOLUTION_DELAY};
pub use family::{Family, Found, LookupResult, NoAnswer};
pub use hosts::knows as is_in_hosts_file;
pub use lookup::{LookupFn, Resolver, SharedNames};
pub use means::{LookUpWrapper, Means, NameServers, PendingAnswer, Services, Source};
pub use names::zone_number;
use names::{at_once, refuse_early};
pub use options::{Addresses, DEFAULT_TTL, IpVersion, ResolveOptions};
pub use pins::speaks_of;
pub use servers::{LocalEnds, Servers, is_for_dns};
pub use silence::Silence;

/// Resolves a host, and waits for all answers that arrive within the resolution delay.
pub async fn resolve(
    means: &Means,
    name: &str,
    port: u16,
    options: &ResolveOptions,
) -> Result<Arc<Addresses>, NetError> {
    Candidates::look_up(means, (name, port), options)?.settled().await
}

/// Whether a look-up would go beyond the cache. curl counts numeric hosts and localhost as look-ups, and
/// caches them.
pub fn is_new(cache: &ResolveCache, name: &str, port: u16, options: &ResolveOptions, now: Instant) -> bool {
    let name = name.to_ascii_lowercase();
    let mut families = options.ip_version.families();
    let known = match cache.find(&name, port, options, now) {
        CachedName::Pinned(_) => true,
        CachedName::Parts(parts) if at_once(&name, port, options).is_some() => {
            families.any(|family| parts.of(*family).is_some())
        }
        CachedName::Parts(parts) => families.all(|family| parts.of(*family).is_some()),
    };
    !known && refuse_early(&name, options).is_ok()
}
