//! Policies: the schemes, hosts, ports and addresses that requests may reach.

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use engine::{Policy, read_policy};

/// A policy that requests must satisfy: which schemes, hosts, ports and addresses they may reach.
///
/// Programs that fetch URLs which their users name need one: such a URL may lead to services inside the
/// network. Each address is judged when a socket is connected to it, also after redirects and for proxies. A
/// request that is refused fails with [`Code::RemoteAccessDenied`](crate::Code), and the error names the
/// rule. The guide describes the file.
///
/// ```
/// let policy = warmwire::AccessPolicy::parse("version 1\nallow scheme https\nallow port 443\n")?;
/// let client = warmwire::Client::builder().access_policy(policy).build()?;
/// # drop(client);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AccessPolicy(Arc<Policy>);

impl AccessPolicy {
    /// Reads a policy from a file.
    pub fn read(path: impl AsRef<Path>) -> Result<AccessPolicy, InvalidPolicy> {
        AccessPolicy::checked(read_policy(path.as_ref()))
    }

    /// Parses the text of a policy.
    pub fn parse(text: &str) -> Result<AccessPolicy, InvalidPolicy> {
        AccessPolicy::checked(Policy::parse("of the program", text.as_bytes()))
    }

    fn checked(policy: Policy) -> Result<AccessPolicy, InvalidPolicy> {
        match policy.fault() {
            Some(fault) => Err(InvalidPolicy(fault)),
            None => Ok(AccessPolicy(Arc::new(policy))),
        }
    }

    /// Binds all handles of the process that have no policy of their own. Call it before the first transfer;
    /// returns whether it is the first call.
    pub fn bind_process(self) -> bool {
        engine::bind_program(self.0)
    }

    pub(crate) fn into_inner(self) -> Arc<Policy> {
        self.0
    }
}

/// The reason why a policy cannot be used: an error in the text with its line, or a file that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidPolicy(String);

impl fmt::Display for InvalidPolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for InvalidPolicy {}
