//! A policy: the schemes, hosts, ports and addresses that transfers may reach (WARMWIRE_POLICY, `--policy`).
//!
//! A [`Policy`] answers a [`Question`] without a socket. The first rule of the question's kind that matches
//! decides. If none matches, the question is refused if the policy allows anything of that kind by a rule;
//! otherwise the default of the kind decides. A file that cannot be read or parsed makes a policy that
//! refuses everything.

mod address;
mod parse;
mod refusal;
#[cfg(test)]
mod tests;

use std::hash::{Hash, Hasher};
use std::net::{IpAddr, SocketAddr};
use std::ops::RangeInclusive;
use std::sync::Arc;

use address::{AddressSet, forms, is_public};
pub use parse::MAX_SIZE;
use parse::Statements;
pub use refusal::{Check, Refusal};

use crate::url::Url;

/// Schemes that are allowed if no `allow scheme` line says otherwise.
const DEFAULT_SCHEMES: [&str; 2] = ["http", "https"];
/// The first port that FTP's data connections may use without an `allow port` line. Servers choose data ports
/// above those of well-known services (RFC 6335 section 6).
const FIRST_DATA_PORT: u16 = 1024;

/// A policy, read from a file.
#[derive(Debug)]
pub struct Policy {
    /// The name of the file, for messages.
    name: String,
    /// The text that was parsed. Policies are equal if their texts are.
    source: Vec<u8>,
    /// The rules, or why there are none.
    rules: Result<Statements, String>,
}

/// A fact about a transfer that a policy allows or refuses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Question<'a> {
    /// The scheme of a URL.
    Scheme(&'a str),
    /// The host of a URL, or one that replaces it (CURLOPT_CONNECT_TO, an alternative service).
    Host(&'a str),
    /// The port of such a host.
    Port(u16),
    /// The port of an FTP data connection.
    DataPort(u16),
    /// The address that a socket is connected to.
    Address(IpAddr),
    /// A proxy.
    Proxy { host: &'a str, port: u16 },
    /// A host whose address is looked up by a proxy.
    LookupByProxy(&'a str),
    /// A unix socket, by its path.
    Unix(&'a [u8]),
    /// An abstract unix socket (Linux).
    AbstractUnix(&'a [u8]),
}

impl Question<'_> {
    /// Returns the check at which the question is usually asked.
    fn check(&self) -> Check {
        match self {
            Question::Scheme(_) | Question::Host(_) | Question::Port(_) => Check::Url,
            Question::DataPort(_) => Check::DataConnection,
            Question::Address(_) => Check::Address,
            Question::Proxy { .. } => Check::Proxy,
            Question::LookupByProxy(_) => Check::LookupByProxy,
            Question::Unix(_) | Question::AbstractUnix(_) => Check::UnixSocket,
        }
    }
}

/// The least version of TLS that a policy demands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum LeastTls {
    Tls12,
    Tls13,
}

/// A line of the file, which a refusal quotes.
#[derive(Debug)]
struct Line {
    number: usize,
    text: String,
}

/// A value of an `allow` or `deny` line.
#[derive(Debug)]
struct Rule<T> {
    line: Arc<Line>,
    allow: bool,
    value: T,
}

/// A pattern for hosts, in the form of parsed URLs: lower case, ASCII, no trailing dot, no brackets.
#[derive(Clone, Debug, PartialEq, Eq)]
enum HostPattern {
    Any,
    /// `*.example.com`: names below it, not itself. Kept with the leading dot.
    Below(String),
    Exact(String),
}

impl HostPattern {
    fn matches(&self, host: &str) -> bool {
        match self {
            HostPattern::Any => true,
            HostPattern::Below(suffix) => host.len() > suffix.len() && host.ends_with(suffix.as_str()),
            HostPattern::Exact(name) => host == name,
        }
    }
}

/// A unix socket that a rule names.
#[derive(Clone, Debug, PartialEq, Eq)]
enum UnixName {
    Path(String),
    Abstract(String),
}

/// The hosts and hashes of a `pin` line.
#[derive(Debug)]
struct Pin {
    host: HostPattern,
    hashes: Vec<String>,
}

/// The answer of the rules of one kind.
enum Verdict<'a, T> {
    Allowed,
    Denied(&'a Rule<T>),
    /// No rule matches, but some allow others.
    Unlisted,
    /// No rule matches, and none allows anything.
    Default,
}

fn decide<T>(rules: &[Rule<T>], matches: impl Fn(&T) -> bool) -> Verdict<'_, T> {
    match rules.iter().find(|rule| matches(&rule.value)) {
        Some(rule) if rule.allow => Verdict::Allowed,
        Some(rule) => Verdict::Denied(rule),
        None if rules.iter().any(|rule| rule.allow) => Verdict::Unlisted,
        None => Verdict::Default,
    }
}

/// The refused value, and the rule that refuses it.
type Refused = (String, String);

/// Returns the answer for a value of a kind. `default` allows it where no rule decides.
fn answer<T>(
    verdict: Verdict<'_, T>,
    default: bool,
    kind: &str,
    subject: impl FnOnce() -> String,
) -> Result<(), Refused> {
    let rule = match verdict {
        Verdict::Allowed => return Ok(()),
        Verdict::Default if default => return Ok(()),
        Verdict::Denied(rule) => format!("line {}, \"{}\"", rule.line.number, rule.line.text),
        Verdict::Default | Verdict::Unlisted => format!("no \"allow {kind}\" line covers it"),
    };
    Err((subject(), rule))
}

impl Policy {
    /// Parses the text of a file with this name. Text with an error makes a policy that refuses everything.
    pub fn parse(name: &str, text: &[u8]) -> Policy {
        let rules = parse::statements(text).map_err(|error| error.to_string());
        Policy { name: name.to_owned(), source: text.to_vec(), rules }
    }

    /// Returns a policy that refuses everything, because the file with this name could not be read.
    pub fn unreadable(name: &str, reason: &str) -> Policy {
        Policy {
            name: name.to_owned(),
            source: Vec::new(),
            rules: Err(format!("the file cannot be read: {reason}")),
        }
    }

    /// Returns why the policy refuses everything, if its file could not be read or parsed.
    pub fn fault(&self) -> Option<String> {
        self.rules.as_ref().err().map(|reason| format!("policy {}: {reason}", self.name))
    }

    /// Returns the name of the file.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the text that was parsed.
    pub fn source(&self) -> &[u8] {
        &self.source
    }

    /// Decides a question.
    pub fn judge(&self, question: Question<'_>) -> Result<(), Refusal> {
        let refused = match &self.rules {
            Ok(rules) => rules.judge(question),
            Err(reason) => Err(("every transfer".to_owned(), reason.clone())),
        };
        refused.map_err(|(subject, rule)| self.refusal(question.check(), subject, rule))
    }

    /// Returns a refusal by this policy.
    pub fn refusal(&self, check: Check, subject: String, rule: String) -> Refusal {
        Refusal { check, policy: self.name.clone(), subject, rule }
    }

    /// Returns the least version of TLS.
    pub fn least_tls(&self) -> Option<LeastTls> {
        self.rules.as_ref().ok()?.least_tls
    }

    /// Returns the hashes of which the key of this host must have one, in the form of
    /// CURLOPT_PINNEDPUBLICKEY, for each `pin` line that names the host.
    pub fn pins(&self, host: &str) -> impl Iterator<Item = &[String]> {
        let host = comparable(host);
        let pins = self.rules.as_ref().map_or(&[][..], |rules| &rules.pins);
        pins.iter().filter(move |pin| pin.host.matches(&host)).map(|pin| pin.hashes.as_slice())
    }
}

impl Statements {
    /// Decides a question by the rules of its kind.
    fn judge(&self, question: Question<'_>) -> Result<(), Refused> {
        match question {
            Question::Scheme(name) => {
                let name = name.to_ascii_lowercase();
                let verdict = decide(&self.schemes, |rule| rule.as_ref().is_none_or(|rule| *rule == name));
                let default = DEFAULT_SCHEMES.contains(&&*name);
                answer(verdict, default, "scheme", || format!("scheme \"{}\"", name.escape_debug()))
            }
            Question::Host(host) => {
                let host = comparable(host);
                let verdict = decide(&self.hosts, |pattern| pattern.matches(&host));
                answer(verdict, true, "host", || format!("host \"{}\"", host.escape_debug()))
            }
            Question::Port(port) => {
                let verdict = decide(&self.ports, |range| range.contains(&port));
                answer(verdict, true, "port", || format!("port {port}"))
            }
            Question::DataPort(port) => {
                let verdict = match decide(&self.ports, |range: &RangeInclusive<u16>| range.contains(&port)) {
                    Verdict::Unlisted if port >= FIRST_DATA_PORT => Verdict::Allowed,
                    // Without rules a data connection gets no port of a well-known service either.
                    Verdict::Default if port < FIRST_DATA_PORT => Verdict::Unlisted,
                    verdict => verdict,
                };
                answer(verdict, true, "port", || format!("port {port} of a data connection"))
            }
            Question::Address(ip) => self.judge_address(ip),
            Question::Proxy { host, port } => {
                let host = comparable(host);
                let verdict =
                    decide(&self.proxies, |(pattern, range)| pattern.matches(&host) && range.contains(&port));
                answer(verdict, false, "proxy", || format!("proxy \"{}:{port}\"", host.escape_debug()))
            }
            Question::LookupByProxy(host) => {
                let host = comparable(host);
                let verdict = decide(&self.lookups, |pattern| pattern.matches(&host));
                answer(verdict, false, "lookup-by-proxy", || {
                    let host = host.escape_debug();
                    format!("host \"{host}\", whose address only the proxy sees")
                })
            }
            Question::Unix(path) => {
                let name = |name: &UnixName| matches!(name, UnixName::Path(it) if it.as_bytes() == path);
                self.judge_unix(name, "", path)
            }
            Question::AbstractUnix(given) => {
                let name = |name: &UnixName| matches!(name, UnixName::Abstract(it) if it.as_bytes() == given);
                self.judge_unix(name, "@", given)
            }
        }
    }

    fn judge_unix(
        &self,
        is_named: impl Fn(&UnixName) -> bool,
        mark: &str,
        name: &[u8],
    ) -> Result<(), Refused> {
        let shown = String::from_utf8_lossy(name);
        let what = || format!("unix socket \"{mark}{}\"", shown.escape_debug());
        answer(decide(&self.unix, is_named), false, "unix", what)
    }

    /// Decides about an address and each IPv4 address that is embedded in it: all must be allowed.
    fn judge_address(&self, ip: IpAddr) -> Result<(), Refused> {
        for form in forms(ip) {
            let verdict = decide(&self.addresses, |set: &AddressSet| set.contains(form));
            let what = || match form == ip {
                true => format!("address {ip}"),
                false => format!("address {form} (in {ip})"),
            };
            match verdict {
                Verdict::Default if !is_public(form) => {
                    let reason = "it is not public, and no \"allow address\" line covers it";
                    return Err((what(), reason.to_owned()));
                }
                verdict => answer(verdict, true, "address", what)?,
            }
        }
        Ok(())
    }
}

/// Returns a host in the form that patterns have.
fn comparable(host: &str) -> String {
    let bare = host.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(host);
    let (bare, _) = bare.split_once('%').unwrap_or((bare, "")); // a zone
    let name = bare.strip_suffix('.').unwrap_or(bare).to_ascii_lowercase();
    // An address has many spellings. URLs have the usual one already; other options may not.
    let name = match name.starts_with(|c: char| c.is_ascii_digit()) {
        true => usual_address(&name).unwrap_or(name),
        false => name,
    };
    name.parse::<IpAddr>().map_or(name, |ip| ip.to_canonical().to_string())
}

/// Returns an IPv4 address in octal, hexadecimal or with fewer parts in its usual form.
fn usual_address(name: &str) -> Option<String> {
    let url = Url::parse(format!("http://{name}/").as_bytes(), 0).ok()?;
    String::from_utf8(url.host_ascii().ok()?).ok()
}

impl PartialEq for Policy {
    fn eq(&self, other: &Policy) -> bool {
        self.source == other.source && self.rules.is_ok() == other.rules.is_ok()
    }
}

impl Eq for Policy {}

impl Hash for Policy {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.source.hash(state);
        self.rules.is_ok().hash(state);
    }
}

/// The policies that bind a transfer: all must allow what it does.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Guard {
    /// Of the process (WARMWIRE_POLICY).
    pub process: Option<Arc<Policy>>,
    /// Of the handle.
    pub own: Option<Arc<Policy>>,
    /// Whether it guards a data connection of FTP, whose port the server chooses.
    pub of_data: bool,
}

impl Guard {
    /// Whether no policy binds the transfer.
    #[inline]
    pub fn is_free(&self) -> bool {
        self.process.is_none() && self.own.is_none()
    }

    /// Returns the policies.
    pub fn policies(&self) -> impl Iterator<Item = &Policy> {
        self.process.iter().chain(&self.own).map(|policy| &**policy)
    }

    /// Decides whether a socket may be connected to this address and port.
    pub fn judge_socket(&self, address: SocketAddr) -> Result<(), Refusal> {
        let port = address.port();
        let of_address = self.judge(Question::Address(address.ip()));
        let verdict = of_address.and_then(|()| match self.of_data {
            true => self.judge(Question::DataPort(port)),
            false => self.judge(Question::Port(port)),
        });
        let check = if self.of_data { Check::DataConnection } else { Check::Address };
        verdict.map_err(|refusal| refusal.at(check))
    }

    /// Decides whether a name may go to a proxy that looks it up. An address is judged in any spelling.
    pub fn judge_behind_proxy(&self, host: &str) -> Result<(), Refusal> {
        match comparable(host).parse() {
            Ok(ip) => self.judge(Question::Address(ip)),
            Err(_) => self.judge(Question::LookupByProxy(host)),
        }
    }

    /// Returns the guard of a data connection of FTP.
    pub fn for_data(&self) -> Guard {
        Guard { of_data: true, ..self.clone() }
    }

    /// Returns the refusal of the first policy that refuses.
    pub fn judge(&self, question: Question<'_>) -> Result<(), Refusal> {
        self.policies().try_for_each(|policy| policy.judge(question))
    }
}
