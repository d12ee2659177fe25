//! A record as a short story for a person: a head for each request, and a line for each decision.

use std::fmt::Write as _;
use std::net::SocketAddr;
use std::time::Duration;

use net::tls::TrustReport;
use net::{Eviction, NoneFromBroker, Refusal};
use tables::Code;
use wire::policy;

use super::event::{
    CacheStep, CloseReason, Event, GoAhead, NameSource, Named, NewReason, OneByOne, Opened, Proxied,
    ProxyDropped, Refused, ReplayReason, Reused, Secured, SendLimits, VersionReason, Withheld,
};
use super::{Record, Request, certificates};

/// Most names in one line.
const MAX_NAMES: usize = 8;
/// Writes the story.
pub fn text(record: &Record) -> String {
    let mut out = String::new();
    for (request, events) in record.by_request() {
        head(&mut out, request);
        let mut attempts = Vec::new();
        for (number, (at, event)) in events.iter().enumerate() {
            for (label, line) in lines(*at, event, &events[..number], &mut attempts) {
                line_into(&mut out, label, &line);
            }
        }
        if let Some(rounds) = round_trips(events) {
            line_into(
                &mut out,
                "commands",
                &match rounds {
                    1 => "1 round trip in all".to_owned(),
                    _ => format!("{rounds} round trips in all"),
                },
            );
        }
        line_into(&mut out, "time", &time(request));
    }
    end(&mut out, record);
    out
}

/// Writes the reports about certificates alone.
pub fn certificates(record: &Record) -> String {
    let mut out = String::new();
    for (host, report) in record.reports() {
        certificates::lines(host, report).iter().for_each(|(label, line)| line_into(&mut out, label, line));
    }
    out
}

fn line_into(out: &mut String, label: &str, text: &str) {
    let _ = writeln!(out, "  {label:<11} {text}"); // a String takes all
}

fn head(out: &mut String, request: &Request) {
    let Request { method, url, status, version, received, sent, .. } = request;
    let verb = if method.is_empty() { "" } else { " " };
    let _ = write!(out, "{method}{verb}{url}");
    if *status > 0 {
        let _ = write!(out, ": {status}");
    }
    if !version.is_empty() {
        let _ = write!(out, " by {version}");
    }
    let _ = write!(out, ", {} received", bytes(*received));
    if *sent > 0 {
        let _ = write!(out, ", {} sent", bytes(*sent));
    }
    out.push('\n');
}

fn end(out: &mut String, record: &Record) {
    if let Some(outcome) = record.outcome.as_ref().filter(|outcome| outcome.code != Code::Ok) {
        let text = if outcome.message.is_empty() { outcome.code.text() } else { &outcome.message };
        line_into(out, "failed", &format!("({}) {text}", outcome.code.id()));
    }
    if let Some(total) = record.outcome.as_ref().map(|o| o.total).filter(|_| record.requests.len() > 1) {
        line_into(out, "total", &format!("{} in {} requests", time_text(total), record.requests.len()));
    }
    if record.left_out > 0 {
        line_into(out, "...", &format!("{} more events were not recorded", record.left_out));
    }
}

/// The time of a request by stage.
fn time(request: &Request) -> String {
    let mut text = time_text(request.to.saturating_sub(request.from));
    for (number, (stage, length)) in request.stages.iter().enumerate() {
        let sign = if number == 0 { " =" } else { " +" };
        let _ = write!(text, "{sign} {} {}", stage.name(), time_text(length));
    }
    text
}

/// Returns how often commands waited for a reply, for protocols that have commands.
pub fn round_trips(events: &[(Duration, Event)]) -> Option<usize> {
    let waits = |(_, event): &(Duration, Event)| match event {
        Event::Commands { waits, .. } => Some(usize::from(*waits)),
        _ => None,
    };
    events.iter().filter_map(waits).reduce(|sum, one| sum + one)
}

/// Returns the lines of an event. `before` has the events before it, and `attempts` the addresses that are
/// being tried, with their times.
fn lines(
    at: Duration,
    event: &Event,
    before: &[(Duration, Event)],
    attempts: &mut Vec<(SocketAddr, Duration)>,
) -> Vec<(&'static str, String)> {
    let one = |label, text| vec![(label, text)];
    match event {
        Event::Trying(address) => {
            attempts.push((*address, at));
            Vec::new()
        }
        Event::Reached { address, preferred } => {
            let raced = match attempts.len() {
                ..=1 => String::new(),
                n => format!(", first of {n} attempts: {}", outcome(attempts, before, address)),
            };
            let first = if *preferred { ", tried first because it won the last time" } else { "" };
            let waited = match resolution_delay(before) {
                Some(delay) => format!(", after {} for IPv6 (RFC 8305 §3)", time_text(delay)),
                None => String::new(),
            };
            one("address", format!("{address} in {}{raced}{first}{waited}", since(attempts, address, at)))
        }
        Event::Unreachable { address, error } => {
            one("address", format!("{address} failed after {}: {error}", since(attempts, address, at)))
        }
        Event::Named(Named { source: NameSource::Written, addresses: 0, .. }) => Vec::new(),
        Event::CertificateChecks { host, report } => certificates::lines(host, report),
        event => vec![described(event)],
    }
}

/// Says what became of the attempt that was made first.
fn outcome(attempts: &[(SocketAddr, Duration)], before: &[(Duration, Event)], winner: &SocketAddr) -> String {
    let Some((first, _)) = attempts.first() else { return String::new() };
    let any = |is_so: &dyn Fn(&Event) -> bool| before.iter().any(|(_, event)| is_so(event));
    let failed = any(&|event| matches!(event, Event::Unreachable { address, .. } if address == first));
    let denied = any(&|event| matches!(event, Event::Denied { address, .. } if *address == Some(*first)));
    if first == winner {
        format!("{first} was tried first")
    } else if denied {
        format!("{first} came first, and a policy refuses it")
    } else if failed {
        format!("{first} was tried first and failed")
    } else {
        format!("{first} was tried first and did not answer in time")
    }
}

/// Returns how long the addresses of IPv4 waited for those of IPv6, if they did.
fn resolution_delay(events: &[(Duration, Event)]) -> Option<Duration> {
    let begun = events.iter().rposition(|(_, event)| matches!(event, Event::Named(_)))?;
    let (tried, _) = events[begun..].iter().find(|(_, event)| matches!(event, Event::Trying(_)))?;
    let (answered, _) = events[..=begun]
        .iter()
        .find(|(_, event)| matches!(event, Event::Named(Named { record: "A", addresses: 1.., .. })))?;
    Some(tried.saturating_sub(*answered)).filter(|delay| *delay >= Duration::from_millis(1))
}

fn since(attempts: &[(SocketAddr, Duration)], address: &SocketAddr, at: Duration) -> String {
    let begun = attempts.iter().rfind(|(tried, _)| tried == address).map_or(at, |(_, begun)| *begun);
    time_text(at.saturating_sub(begun))
}

/// Returns the label and the text of an event that has a line of its own.
fn described(event: &Event) -> (&'static str, String) {
    match event {
        Event::Proxied(proxied) => ("proxy", proxy(proxied)),
        Event::Unproxied { by } => ("proxy", format!("none: {by} names this host")),
        Event::Direct { by } => ("proxy", format!("none: direct, from {by}")),
        Event::ProxyDropped { proxy, why } => ("proxy", dropped(proxy, why)),
        Event::Reused(reused) => ("connection", reuse(reused)),
        Event::Opened(opened) => ("connection", new(opened)),
        Event::Closed { id, why, .. } => ("connection", format!("#{id} closed: {}", closed(*why))),
        Event::Spoilt(why) => ("connection", format!("cannot be kept: {}", closed(*why))),
        Event::Named(named) => ("name", name(named)),
        Event::Trying(address) | Event::Reached { address, .. } => ("address", address.to_string()),
        Event::Unreachable { address, error } => ("address", format!("{address}: {error}")),
        Event::Secured(secured) => ("tls", tls(secured)),
        Event::Refused(refused) => ("tls", certificate(refused)),
        Event::CertificateChecks { host, report } => ("tls", checks(host, report)),
        Event::Denied { refusal, .. } => ("policy", denial(refusal)),
        Event::Version { version, why } => ("version", format!("{version}: {}", version_reason(*why))),
        Event::Redirected { status, to } => ("redirect", format!("{status} to {to}")),
        Event::Challenged { status, offered } => {
            let offered = if offered.is_empty() { "another round".to_owned() } else { offered.join(", ") };
            ("login", format!("{status}, the request is repeated; offered: {offered}"))
        }
        Event::Waits { limit } => {
            ("expect", format!("the body waits up to {} for 100 Continue", time_text(*limit)))
        }
        Event::GoesOn(how) => ("expect", go_ahead(*how).to_owned()),
        Event::Informed { status, links } => ("early", informed(*status, links)),
        Event::Replayed { why, count } => ("replay", format!("{} (attempt {})", replayed(*why), count + 1)),
        Event::Cookies { sent, withheld } => ("cookies", cookies(sent, withheld)),
        Event::Strict { url } => ("hsts", format!("the host allows TLS only (RFC 6797): {url}")),
        Event::Alternative { from, to } => ("alt-svc", format!("{from} is served by {to} (RFC 7838)")),
        Event::Cache(step) => ("cache", cache(*step).to_owned()),
        Event::Commands { layer, verbs, waits } => ("commands", commands(layer, verbs, *waits)),
        Event::OneByOne(why) => ("commands", format!("one at a time: {}", one_by_one(*why))),
        Event::Limited(limits) => ("upload", limited(limits)),
        Event::PartsPresent { present, of } => {
            ("upload", format!("continues: the server has {present} of {of} parts"))
        }
        Event::UploadCompared => ("upload", "the server's ETags are those of the source".to_owned()),
    }
}

fn dropped(proxy: &str, why: &ProxyDropped) -> String {
    match why {
        ProxyDropped::Failed(error) => format!("{proxy} failed: {error}"),
        ProxyDropped::Remembered(rest) => {
            format!("{proxy} is tried last for {} s: it had failed", rest.as_secs())
        }
    }
}

fn proxy(Proxied { proxy, by, tunnel }: &Proxied) -> String {
    let how = if *tunnel { ", as a tunnel" } else { "" };
    format!("{proxy}{how}, from {by}")
}

fn denial(policy::Refusal { check, policy, subject, rule }: &policy::Refusal) -> String {
    format!("{policy} refuses {subject} (check: {}): {rule}", check.name())
}

fn reuse(reused: &Reused) -> String {
    let Reused { id, origin, stream, past, .. } = reused;
    match past {
        Some(past) => {
            let (age, idle) = (time_text(past.age), time_text(past.idle));
            let uses = if past.uses == 1 { "transfer" } else { "transfers" };
            format!("#{id} to {origin} reused: {age} old, idle for {idle}, {} {uses} before", past.uses)
        }
        None if *stream => format!("#{id} to {origin} reused: one more stream on it"),
        None => format!("#{id} to {origin} reused"),
    }
}

fn new(opened: &Opened) -> String {
    let Opened { id, origin, why, .. } = opened;
    format!("#{id} to {origin} is new: {}", new_reason(why))
}

/// Says why a connection is new.
pub fn new_reason(why: &NewReason) -> String {
    match why {
        NewReason::NothingOpen => "this handle has no open connection there".to_owned(),
        NewReason::Differs { terms, others } => {
            let names: Vec<String> = terms.iter().take(MAX_NAMES).map(|term| term.name()).collect();
            let of = if *others > 1 {
                format!("the nearest of {others} open ones")
            } else {
                "the open one".to_owned()
            };
            format!("{of} differs in {}", names.join(", "))
        }
        NewReason::AllInUse { count: 1 } => "the open one is in use".to_owned(),
        NewReason::AllInUse { count } => format!("all {count} open ones are in use"),
        NewReason::Refused(refusal) => refused(*refusal),
        NewReason::LastClosed(why) => format!("the one before was closed: {}", closed(*why)),
        NewReason::Evicted(Eviction::Kept(most)) => {
            format!("the one before was closed: at most {most} are kept (CURLOPT_MAXCONNECTS)")
        }
        NewReason::Evicted(Eviction::Limit) => {
            "the one before was closed to make room (CURLMOPT_MAX_TOTAL_CONNECTIONS)".to_owned()
        }
        NewReason::Evicted(Eviction::Idle) => {
            "the one before was idle for too long (CURLOPT_MAXAGE_CONN)".to_owned()
        }
        NewReason::Forbidden(option) => format!("CURLOPT_{} forbids an open one", option.name()),
        NewReason::InTurns => "files take turns on several connections (WARMWIRE_FTP=turns)".to_owned(),
        NewReason::Repeated => "the request failed on an open one and is repeated".to_owned(),
        NewReason::OwnSockets => {
            "the open ones were made by other socket functions (CURLOPT_OPENSOCKETFUNCTION)".to_owned()
        }
    }
}

fn refused(refusal: Refusal) -> String {
    match refusal {
        Refusal::Inherited => "the open one belongs to the parent process".to_owned(),
        Refusal::Idle(idle) => format!("the open one was idle for {} (CURLOPT_MAXAGE_CONN)", time_text(idle)),
        Refusal::Aged(age) => format!("the open one was {} old (CURLOPT_MAXLIFETIME_CONN)", time_text(age)),
        Refusal::Dead => "the server had closed the open one".to_owned(),
        Refusal::Moved(peer) => {
            format!("the name does not resolve any more to the address of the open one, {peer}")
        }
        Refusal::Broker(why) => format!("none is open in this process, and {}", of_broker(why)),
    }
}

/// Says why the broker of the user gave no connection.
fn of_broker(why: NoneFromBroker) -> String {
    match why {
        NoneFromBroker::Nothing => "the broker has none with these settings".to_owned(),
        NoneFromBroker::NotRunning => "no broker runs yet".to_owned(),
        NoneFromBroker::Slow => "the broker did not answer within 5 ms".to_owned(),
        NoneFromBroker::OtherVersion => "the broker speaks another version of the protocol".to_owned(),
        NoneFromBroker::Unusable => "the broker can't be used (see `warmwire --pool-status`)".to_owned(),
        NoneFromBroker::Stays(reason) => format!("such a connection stays in its process: {reason}"),
    }
}

/// Says why a connection was closed.
pub fn closed(why: CloseReason) -> &'static str {
    match why {
        CloseReason::PeerSaidClose => "the server said `Connection: close`",
        CloseReason::EndsBody => "only its end ended the body: the server gave no length",
        CloseReason::Http10 => "the server speaks HTTP/1.0 without keep-alive",
        CloseReason::Forbidden => "CURLOPT_FORBID_REUSE",
        CloseReason::Surplus => "the server sent more than its reply",
        CloseReason::UploadStopped => "the request's body was not sent to its end",
        CloseReason::BodySkipped => "the body was not read, a new connection costs less",
        CloseReason::Failed => "the transfer failed on it",
        CloseReason::OutOfStep => "the replies to its commands were not all read",
        CloseReason::ByTicket => "a Kerberos ticket logged in, and its user cannot be compared",
        CloseReason::NoSessionLeft => "the server sent no further TLS session for data connections",
    }
}

fn limited(limits: &SendLimits) -> String {
    let waited = [
        (limits.window, "for the receiver, whose window was full"),
        (limits.buffer, "because the send buffer held no more"),
    ];
    let waited = waited.into_iter().filter(|(time, _)| !time.is_zero());
    let waited: Vec<String> = waited.map(|(time, why)| format!("{} {why}", time_text(time))).collect();
    format!("waited {}", waited.join(", and "))
}

fn one_by_one(why: OneByOne) -> &'static str {
    match why {
        OneByOne::Setting => "WARMWIRE_FTP, WARMWIRE_SMTP or a call chose `wait`",
        OneByOne::NewConnection => "the connection is new",
        OneByOne::Objected => "the server showed that it reads no more",
        OneByOne::NotOffered => "the server does not announce PIPELINING (RFC 2920)",
        OneByOne::Unknown => "nothing shows yet that the server reads more",
        OneByOne::Dependent => "an option makes a command depend on the reply before it",
    }
}

fn name(Named { host, record, addresses, source, servers, took }: &Named) -> String {
    let count = match addresses {
        0 => format!("no {record} record"),
        1 => format!("1 {record} record"),
        n => format!("{n} {record} records"),
    };
    match source {
        NameSource::Written => format!("{host}: an address, or this machine"),
        NameSource::Pinned => format!("{host}: {count} from CURLOPT_RESOLVE"),
        NameSource::Cache => format!("{host}: {count} from the cache"),
        NameSource::Hosts => format!("{host}: {count} from the hosts file"),
        NameSource::System => format!("{host}: {count} from the system in {}", time_text(*took)),
        NameSource::Broker => format!("{host}: {count} from the broker in {}", time_text(*took)),
        NameSource::Servers => {
            format!("{host}: {count} from {servers} (CURLOPT_DNS_SERVERS) in {}", time_text(*took))
        }
        NameSource::OverHttps => {
            format!("{host}: {count} from {servers} (CURLOPT_DOH_URL) in {}", time_text(*took))
        }
    }
}

fn tls(secured: &Secured) -> String {
    let Secured { host, version, cipher, group, verified, trusted, expiry, .. } = secured;
    let with = if group.is_empty() { "" } else { ", " };
    let kind = match secured {
        Secured { resumed: true, .. } => "a resumed session",
        Secured { cached: false, .. } => "a full handshake (CURLOPT_SSL_SESSIONID_CACHE is off)",
        Secured { known: true, .. } => "a full handshake (a session was known and did not serve)",
        _ => "a full handshake (no session was known)",
    };
    let check = match verified {
        true if trusted.is_empty() => "certificate verified".to_owned(),
        true => format!("certificate verified against {trusted}"),
        false => "certificate NOT verified".to_owned(),
    };
    let end = match expiry.as_ref().and_then(|expiry| Some((&expiry.authority, expiry.notice()?))) {
        None => String::new(),
        Some((None, notice)) => format!(", it {notice}"),
        Some((Some(authority), notice)) => format!(", that of its authority ({authority}) {notice}"),
    };
    format!("{host}: {version}{with}{group}, {cipher}, {kind}; {check}{end}")
}

/// Returns the verdict and the failed checks in one line.
fn checks(host: &str, report: &TrustReport) -> String {
    let lines = certificates::lines(host, report).into_iter();
    let shown = lines.filter(|(label, _)| matches!(*label, "certificate" | "failed" | "ignored"));
    shown.map(|(_, text)| text).collect::<Vec<_>>().join("; ")
}

fn certificate(Refused { host, subject, issuer, why, trusted }: &Refused) -> String {
    let against = if trusted.is_empty() { String::new() } else { format!("; checked against {trusted}") };
    format!("{host}: its certificate ({subject}; issued by {issuer}) was refused: {why}{against}")
}

/// Says why HTTP has no higher version.
pub fn version_reason(why: VersionReason) -> &'static str {
    match why {
        VersionReason::Highest => "the highest that was offered",
        VersionReason::Option => "CURLOPT_HTTP_VERSION allows no higher one",
        VersionReason::ServerChose => "the server chose it, HTTP/2 was offered",
        VersionReason::NoAlpn => "the server ignored the offer of HTTP/2 (ALPN)",
        VersionReason::NoTls => "HTTP/2 is negotiated over TLS only",
        VersionReason::AlpnOff => "CURLOPT_SSL_ENABLE_ALPN is off",
        VersionReason::Avoided => {
            "HTTP/2 was avoided: the login belongs to the connection, or the server refused it"
        }
        VersionReason::AnswersHttp10 => "the server answered with it before",
    }
}

fn go_ahead(how: GoAhead) -> &'static str {
    match how {
        GoAhead::Continue => "the server sent 100 Continue",
        GoAhead::Late => "no 100 Continue came in time, the body is sent (CURLOPT_EXPECT_100_TIMEOUT_MS)",
        GoAhead::Answered => "the final reply came instead, the body is not sent",
        GoAhead::Refused => "the server refused the expectation (417), the request is repeated without it",
    }
}

fn replayed(why: ReplayReason) -> &'static str {
    match why {
        ReplayReason::ConnectionDied => "the server had closed the connection, the request is sent again",
        ReplayReason::Http11Required => "the server wants HTTP/1.1, the request is sent again",
    }
}

fn cookies(sent: &[String], withheld: &[(String, Withheld)]) -> String {
    let mut parts = Vec::new();
    if !sent.is_empty() {
        parts.push(format!("sent {}", listed(sent.iter().cloned())));
    }
    if !withheld.is_empty() {
        let row = |(name, why): &(String, Withheld)| format!("{name} ({})", withheld_reason(*why));
        parts.push(format!("withheld {}", listed(withheld.iter().map(row))));
    }
    parts.join("; ")
}

fn listed(names: impl Iterator<Item = String>) -> String {
    let names: Vec<String> = names.collect();
    match names.len() {
        ..=MAX_NAMES => names.join(", "),
        all => format!("{}, and {} more", names[..MAX_NAMES].join(", "), all - MAX_NAMES),
    }
}

fn withheld_reason(why: Withheld) -> &'static str {
    match why {
        Withheld::Domain => "another host",
        Withheld::Path => "another path",
        Withheld::Secure => "Secure, and no TLS",
        Withheld::Expired => "expired",
    }
}

fn informed(status: u16, links: &[String]) -> String {
    let name = if status == 103 { " early hints (RFC 8297)" } else { "" };
    let sign = if links.is_empty() { "" } else { ": " };
    format!("{status}{name} before the reply{sign}{}", listed(links.iter().cloned()))
}

fn cache(step: CacheStep) -> &'static str {
    match step {
        CacheStep::Fresh => "a stored reply is fresh (RFC 9111 §4.2): no request",
        CacheStep::Asked => "no fresh reply is stored: the server is asked (RFC 9111 §4.3)",
        CacheStep::Confirmed => "the server confirmed the stored reply (RFC 9111 §4.3.4)",
        CacheStep::Dictionary => "a stored reply is offered as a dictionary (RFC 9842)",
        CacheStep::Joined => "the server sent what the stored reply lacks (RFC 9111 §3.4)",
        CacheStep::Stale => "a stale reply serves in place of a failure (RFC 9111 §4.2.4)",
    }
}

fn commands(layer: &str, verbs: &[String], waits: bool) -> String {
    let together = match verbs.len() {
        1 => verbs[0].clone(),
        _ => format!("{} together", verbs.join(", ")),
    };
    let before = if waits { "" } else { ", without waiting for the reply before" };
    format!("{layer}: {together}{before}")
}

/// Returns a time with a unit and at most three significant digits.
pub fn time_text(time: Duration) -> String {
    let micros = time.as_micros();
    match micros {
        0..1_000 => format!("{micros} us"),
        1_000..10_000 => format!("{}.{} ms", micros / 1_000, micros / 100 % 10),
        10_000..1_000_000 => format!("{} ms", micros / 1_000),
        1_000_000..100_000_000 => format!("{}.{:02} s", micros / 1_000_000, micros / 10_000 % 100),
        _ => format!("{} s", micros / 1_000_000),
    }
}

/// Returns a number of bytes with a unit.
pub fn bytes(count: i64) -> String {
    match count {
        ..10_000 => format!("{count} bytes"),
        10_000..10_000_000 => format!("{} kB", count / 1_000),
        _ => format!("{} MB", count / 1_000_000),
    }
}
