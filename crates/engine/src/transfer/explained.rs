//! Gathers the facts for a transfer's reasons ([`crate::why`]). Nothing here runs unless they are kept.

use std::borrow::Cow;
use std::hash::{BuildHasher, BuildHasherDefault, Hasher};
use std::net::IpAddr;
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

use net::connect::RaceEvent;
use net::resolver::{QuestionAnswer, is_in_hosts_file};
use net::tls::x509::Certificate;
use net::tls::{CaSource, TlsConfig, TlsInfo, TrustReport, certinfo};
use net::{About, AcquireRequest, AnyConnection, Connection, Granted, HashedKey, NetError, Pool};
use runtime::{SendLimits, Socket};
use tables::constant::{
    CURL_HTTP_VERSION_1_0, CURL_HTTP_VERSION_1_1, CURL_HTTP_VERSION_2_0, CURL_HTTP_VERSION_3,
    CURLAUTH_AWS_SIGV4, CURLAUTH_BASIC, CURLAUTH_BEARER, CURLAUTH_DIGEST, CURLAUTH_NEGOTIATE, CURLAUTH_NTLM,
};
use tables::{Code, EasyOption as O, Info};

use super::Connector;
use super::proxy::{self, Proxy, ProxyKind};
use super::route::plan::Plan;
use super::route::url::without_credentials;
use crate::archive::{self, redact};
use crate::easy::{Easy, EasyState};
use crate::error::Error;
use crate::info::{TransferInfo, get};
use crate::outputs::trace::{self, Connect};
use crate::outputs::{self, Output, archives, log, report};
use crate::stores::now as wall_clock;
use crate::why::connection::{Closings, Facts, reason};
use crate::why::event::{
    CertificateExpiry, CloseReason, Event, NameSource, Named, Opened, Past, Proxied, ProxyDropped, Refused,
    Reused, Secured,
};
use crate::why::{Heads, MIN_TEXT, Outcome, Reasons, Request, spans};

/// The commands of FTP and mail that are shown. Other lines may be secrets: the rounds of a login are.
const VERBS: [&str; 48] = [
    "ABOR", "ACCT", "ALLO", "APPE", "AUTH", "CWD", "DELE", "EPRT", "EPSV", "FEAT", "LIST", "MDTM", "MKD",
    "MLSD", "NLST", "NOOP", "OPTS", "PASS", "PASV", "PBSZ", "PORT", "PRET", "PROT", "PWD", "QUIT", "REST",
    "RETR", "RNFR", "RNTO", "SITE", "SIZE", "STOR", "SYST", "TYPE", "USER", "CCC", "EHLO", "HELO", "MAIL",
    "RCPT", "DATA", "BDAT", "STARTTLS", "VRFY", "CAPA", "STAT", "UIDL", "TOP",
];

/// Returns the event of commands that leave in one write. `waits` says that no reply is outstanding.
pub fn commands(layer: &'static str, lines: &[&[u8]], waits: bool) -> Event {
    let verb = |line: &&[u8]| {
        let mut words = line.split(|byte| *byte == b' ');
        let first = words.next().unwrap_or_default();
        // A command of IMAP has a tag before it.
        let word = if layer == "imap" { words.next().unwrap_or(first) } else { first };
        let word = String::from_utf8_lossy(word).to_ascii_uppercase();
        let is_known =
            VERBS.contains(&word.as_str()) || layer == "imap" && IMAP_VERBS.contains(&word.as_str());
        if is_known { word } else { "(data)".to_owned() }
    };
    Event::Commands { layer, verbs: lines.iter().map(verb).collect(), waits }
}

/// Commands of IMAP.
const IMAP_VERBS: [&str; 14] = [
    "CAPABILITY",
    "STARTTLS",
    "LOGIN",
    "AUTHENTICATE",
    "SELECT",
    "EXAMINE",
    "FETCH",
    "UID",
    "APPEND",
    "LIST",
    "SEARCH",
    "LOGOUT",
    "NOOP",
    "STORE",
];

/// Names of the schemes of authentication, by their CURLAUTH_* bits.
pub fn schemes(bits: i64) -> Vec<&'static str> {
    const NAMES: [(u64, &str); 6] = [
        (CURLAUTH_NEGOTIATE, "Negotiate"),
        (CURLAUTH_DIGEST, "Digest"),
        (CURLAUTH_NTLM, "NTLM"),
        (CURLAUTH_BEARER, "Bearer"),
        (CURLAUTH_BASIC, "Basic"),
        (CURLAUTH_AWS_SIGV4, "AWS SigV4"),
    ];
    NAMES.into_iter().filter(|(bit, _)| bits as u64 & bit != 0).map(|(_, name)| name).collect()
}

/// Returns a URL without user name, password and fragment. A URL without their marks has none.
fn shown_url(url: &[u8]) -> String {
    // Nearly every URL: each search is one of memchr's, and ASCII is checked by the word.
    if !url.contains(&b'@') && !url.contains(&b'#') {
        let text = String::from_utf8(url.to_vec());
        return text.unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned());
    }
    let parsed = wire::url::Url::parse(url, wire::url::flag::NON_SUPPORT_SCHEME);
    let shown = parsed.map_or_else(|_| redact::without_login(url), |parsed| without_credentials(&parsed));
    String::from_utf8_lossy(&shown).into_owned()
}

/// Returns the method of the current request; nothing if it is not one of HTTP.
fn method(easy: &EasyState) -> Cow<'static, str> {
    {
        let info = easy.info.borrow();
        if !info.is_of_http() {
            return Cow::Borrowed("");
        }
        if !info.effective_method.is_empty() {
            return info.effective_method.clone();
        }
    }
    Cow::Owned(String::from_utf8_lossy(&easy.effective_method()).into_owned())
}

/// Records the request that ends at `now`.
pub fn note_request(easy: &EasyState, now: Instant) {
    let url = shown_url(&easy.effective_url());
    let from = easy.why.last_end();
    let method = method(easy);
    let request = {
        let info = easy.info.borrow();
        let to = Duration::from(info.since_start(now)).max(from);
        let version = match info.http_version {
            CURL_HTTP_VERSION_1_0 => "HTTP/1.0",
            CURL_HTTP_VERSION_1_1 => "HTTP/1.1",
            CURL_HTTP_VERSION_2_0 => "HTTP/2",
            CURL_HTTP_VERSION_3 => "HTTP/3",
            _ => "",
        };
        let auth = match info.rare.auth_used {
            0 => "",
            bits => schemes(bits).first().copied().unwrap_or_default(),
        };
        Request {
            method,
            url,
            status: info.response_code,
            version,
            auth,
            is_plain_text: info.is_of_http() && info.downloaded >= MIN_TEXT && is_plain_text(easy, &info),
            received: info.downloaded,
            sent: info.uploaded,
            from,
            to,
            stages: spans::cut(from, to, spans::moments(&info)),
            reads: (0, 0),
            events: 0,
            span: None,
        }
    };
    if outputs::has(Output::Log) {
        log::request(easy.transfer_id.get(), &request);
    }
    easy.why.add_request(request);
}

/// Returns whether the reply is text that came uncompressed, because the request did not ask for a coding.
fn is_plain_text(easy: &EasyState, info: &TransferInfo) -> bool {
    let settings = easy.settings.borrow();
    let own = settings.list(O::HttpHeader);
    let asks = |line: &[u8]| line.to_ascii_lowercase().starts_with(b"accept-encoding");
    let asked = settings.text(O::AcceptEncoding).is_some() || own.iter().any(|line| asks(line));
    !asked && info.content_type.as_deref().is_some_and(is_text)
}

/// Returns whether a media type is text, which codings make smaller.
fn is_text(media_type: &[u8]) -> bool {
    const TEXTS: [&[u8]; 6] = [
        b"text/",
        b"application/json",
        b"application/xml",
        b"application/javascript",
        b"image/svg",
        b"+json",
    ];
    let media_type = media_type.to_ascii_lowercase();
    TEXTS.iter().any(|text| media_type.windows(text.len()).any(|part| part == *text))
}

/// Records the end of a transfer, before its times are completed. Its frame would count for every transfer
/// if it became part of the caller's.
#[cold]
#[inline(never)]
pub fn conclude(easy: &EasyState, now: Instant, failure: Option<&Error>) {
    if let Some(refusal) = failure.and_then(Error::refusal) {
        easy.explain_denial(refusal, None);
    }
    note_request(easy, now);
    let total = easy.info.borrow().since_start(now).into();
    let (code, message) = failure.map_or((Code::Ok, String::new()), |e| (e.code(), e.to_string()));
    easy.why.end(Outcome { code, message, total });
}

/// Passes an ended transfer on to the outputs of the process. `exporter` makes what exports spans.
#[cold]
#[inline(never)]
pub fn publish(easy: &Rc<EasyState>, exporter: Connect) {
    if outputs::has(Output::Report) {
        easy.why.read(report::add);
    }
    if outputs::has(Output::Log) {
        easy.why.read(|record| {
            let url = record.requests.last().map_or("", |request| request.url.as_str());
            record.outcome.iter().for_each(|outcome| log::end(easy.transfer_id.get(), url, outcome));
        });
    }
    if outputs::has(Output::Trace) {
        easy.why.read(|record| trace::add(record, exporter));
    }
    if outputs::has(Output::Archives) {
        archive(easy);
    }
}

/// Adds the transfer to the archives.
fn archive(easy: &Rc<EasyState>) {
    let Some(started) = easy.info.borrow().started else { return };
    let handle = Easy(easy.clone());
    let number = |info: Info| get(&handle, info).number();
    let text =
        |info: Info| String::from_utf8_lossy(get(&handle, info).text().unwrap_or_default()).into_owned();
    let record = archive::Record::of(&number, &text, Duration::ZERO, archives::date(started));
    let outcome = easy.why.read(|record| record.outcome.clone()).flatten();
    let (code, error) = outcome.map_or((0, String::new()), |outcome| (outcome.code.id(), outcome.message));
    let heads = easy.why.heads();
    let take = |heads: Rc<Heads>| std::mem::take(&mut heads.exchanges.borrow_mut().all);
    let exchanges = heads.map_or(Vec::new(), take);
    let connection = number(Info::ConnId);
    archives::add(started, archive::Record { code, error, connection, exchanges, ..record });
}

/// Shortest time that counts as a limit of an upload: a piece on its way within a machine takes less.
const MIN_LIMIT: Duration = Duration::from_millis(1);

/// Returns the figures of a connection before an upload, if reasons are kept.
pub fn limits_before(easy: &EasyState, socket: &Socket) -> Option<SendLimits> {
    if easy.why.is_on() { socket.send_limits() } else { None }
}

/// Records what limited an upload, from the figures of its connection before and after it. They are read when
/// the reply has arrived: the system sends the last of an upload after the last write.
#[cold]
pub fn explain_limits(easy: &EasyState, before: SendLimits, after: Option<SendLimits>) {
    if let Some(limits) = after.map(|after| after.since(before))
        && limits.window + limits.buffer >= MIN_LIMIT
    {
        easy.explain(|| Event::Limited(limits));
    }
}

/// Returns the number of a key, for connections that a pool of the process may have; otherwise 0.
fn key_number(key: &HashedKey) -> u64 {
    match key.is_portable() {
        true => BuildHasherDefault::<KeyNumber>::default().hash_one(key).max(1),
        false => 0,
    }
}

/// Returns the number that a hashed key writes.
#[derive(Default)]
struct KeyNumber(u64);

impl Hasher for KeyNumber {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.0 = self.0.rotate_left(8) ^ u64::from(*byte));
    }

    fn write_u64(&mut self, number: u64) {
        self.0 = number;
    }
}

/// Returns where the trusted certificates of a configuration are, as texts show it; nothing if the chain is
/// not checked.
fn trusted(config: &TlsConfig) -> String {
    let source = |source: &CaSource| match source {
        CaSource::File(file) | CaSource::Path(file) | CaSource::System(Some(file)) => {
            file.given().display().to_string()
        }
        CaSource::Blob(_) => "CURLOPT_CAINFO_BLOB".to_owned(),
        CaSource::System(None) => "the system's store".to_owned(),
    };
    match config.verify_peer {
        true => config.ca.iter().map(source).collect::<Vec<_>>().join(" and "),
        false => String::new(),
    }
}

/// Returns the past of a connection that is idle.
fn past(connection: &AnyConnection, now: Instant) -> Past {
    fn of<C: net::Carrier + ?Sized + 'static>(connection: &Connection<C>, now: Instant) -> Past {
        Past {
            age: now.saturating_duration_since(connection.created),
            idle: now.saturating_duration_since(connection.last_used),
            // The use that begins is counted already.
            uses: connection.uses.saturating_sub(1),
        }
    }
    match connection {
        AnyConnection::Bytes(connection) => of(connection, now),
        AnyConnection::Quic(connection) => of(connection, now),
    }
}

/// A proxy as texts show it, without its login.
fn shown(proxy: &Proxy) -> String {
    let scheme = match proxy.kind {
        ProxyKind::Http | ProxyKind::Http10 => "http",
        ProxyKind::Https | ProxyKind::Https2 | ProxyKind::Https3 => "https",
        ProxyKind::Socks4 => "socks4",
        ProxyKind::Socks4a => "socks4a",
        ProxyKind::Socks5 => "socks5",
        ProxyKind::Socks5h => "socks5h",
    };
    format!("{scheme}://{}:{}", proxy.host, proxy.port)
}

impl Connector {
    /// Returns the event of a connection that is used again.
    pub(super) fn reuse(&self, plan: &Plan, lease: &Granted, now: Instant) -> Event {
        let (origin, key) = (plan.key.origin.clone(), key_number(&plan.key));
        match lease {
            net::pool::Lease::Whole(whole) => {
                let connection = whole.held();
                let id = connection.about().id;
                Event::Reused(Reused { id, key, origin, stream: false, past: Some(past(connection, now)) })
            }
            net::pool::Lease::Stream(share) => {
                let id = share.session().about().id;
                Event::Reused(Reused { id, key, origin, stream: true, past: None })
            }
        }
    }

    /// Records why a connection is opened, and by way of which proxy.
    pub(super) fn explain_opening(&self, plan: &Plan, pool: &Pool, wish: &AcquireRequest<'_>, id: u64) {
        if !self.easy.why.is_on() {
            return;
        }
        pool.watch_evictions();
        self.explain_proxy(plan);
        let fresh = self.on(O::FreshConnect);
        let facts = Facts {
            fresh,
            in_turns: self.easy.why.take_in_turns(),
            repeated: wish.fresh && !fresh && !self.easy.ahead.get(),
            refusal: wish.refusal.and_then(|refusal| refusal.get()),
            closed: self.multi.memories.of::<Closings>().borrow().of(&plan.key),
            eviction: pool.take_eviction(&plan.key),
            own_sockets: plan.key.owner.is_some(),
            ..Facts::default()
        };
        let why = reason(&facts.with_neighbours(&plan.key, &pool.neighbours(&plan.key.origin)));
        let (origin, tls) = (plan.key.origin.clone(), plan.key.tls.is_some());
        let key = key_number(&plan.key);
        self.easy.explain(|| Event::Opened(Opened { id, key, origin, tls, why }));
    }

    fn explain_proxy(&self, plan: &Plan) {
        let settings = self.easy.settings.borrow();
        let selection = self.proxies.borrow();
        let listed = selection.as_ref().map(|selection| selection.by.clone());
        let left_out: Vec<_> = selection.iter().flat_map(|selection| selection.left_out()).collect();
        let chose_direct = selection.as_ref().is_some_and(|selection| selection.is_direct());
        drop(selection);
        for (proxy, rest) in left_out {
            self.easy.explain(|| Event::ProxyDropped { proxy, why: ProxyDropped::Remembered(rest) });
        }
        let by = listed.or_else(|| proxy::source(&settings, &self.scheme()));
        let event = match plan.proxy.as_ref() {
            Some(proxy) => {
                let (proxy, tunnel) = (shown(proxy), proxy.tunnel);
                Some(Event::Proxied(Proxied { proxy, by: by.unwrap_or_default(), tunnel }))
            }
            None if chose_direct => Some(Event::Direct { by: by.unwrap_or_default() }),
            None if plan.key.unix.is_none() && by.is_some() => {
                let by = match settings.is_set(O::NoProxy) {
                    true => "CURLOPT_NOPROXY",
                    false => "no_proxy",
                };
                Some(Event::Unproxied { by: by.to_owned() })
            }
            None => None,
        };
        drop(settings);
        event.into_iter().for_each(|event| self.easy.explain(|| event));
    }

    /// Records an event of the race between addresses.
    pub(super) fn explain_race(&self, host: &str, plan: &Plan, started: Instant, event: &RaceEvent<'_>) {
        if !self.easy.why.is_on() {
            return;
        }
        let event = match event {
            RaceEvent::Answered(answered) => {
                let source = self.name_source(host, plan, answered, started);
                Event::Named(Named {
                    host: host.to_owned(),
                    record: answered.part.record(),
                    addresses: answered.candidates.len(),
                    source,
                    servers: self.servers_of(source),
                    took: answered.at.saturating_duration_since(started),
                })
            }
            RaceEvent::Failed(address, _, NetError { refusal: Some(refusal), .. }) => {
                return self.easy.explain_denial(refusal, Some(**address));
            }
            RaceEvent::Failed(address, _, error) => {
                Event::Unreachable { address: **address, error: error.reason() }
            }
            RaceEvent::Trying(address) => Event::Trying(**address),
            RaceEvent::Waiting(_) => return,
        };
        self.easy.explain(|| event);
    }

    fn name_source(
        &self,
        host: &str,
        plan: &Plan,
        answered: &QuestionAnswer,
        started: Instant,
    ) -> NameSource {
        let plain = host.trim_start_matches('[').trim_end_matches(']');
        let here =
            plain.eq_ignore_ascii_case("localhost") || plain.to_ascii_lowercase().ends_with(".localhost");
        let given = |option| self.text(option).is_some_and(|text| !text.is_empty());
        if plain.parse::<IpAddr>().is_ok() || here {
            NameSource::Written
        } else if self.is_pinned(plan) {
            NameSource::Pinned
        } else if answered.at < started {
            NameSource::Cache
        } else if given(O::DohUrl) {
            NameSource::OverHttps
        } else if is_in_hosts_file(plain) {
            NameSource::Hosts
        } else if given(O::DnsServers) {
            NameSource::Servers
        } else if answered.shared {
            NameSource::Broker
        } else {
            NameSource::System
        }
    }

    /// Returns the servers of a source, as the option names them. The path of a URL may be a secret.
    fn servers_of(&self, source: NameSource) -> String {
        let text = |option| String::from_utf8_lossy(&self.text(option).unwrap_or_default()).into_owned();
        match source {
            NameSource::Servers => text(O::DnsServers),
            NameSource::OverHttps => {
                let url = shown_url(text(O::DohUrl).as_bytes());
                url.split_inclusive('/').take(3).collect::<String>().trim_end_matches('/').to_owned()
            }
            _ => String::new(),
        }
    }

    /// Records why a connection is closed after its request.
    pub fn explain_closing(&self, about: &About, why: impl FnOnce() -> CloseReason) {
        if self.easy.why.is_on() {
            let why = why();
            self.multi.memories.of::<Closings>().borrow_mut().note(about.key.clone(), why);
            let origin = &about.key.origin;
            let ticket = about.tls.is_some() && self.sessions().has_session(&origin.host, origin.port);
            self.easy.explain(|| Event::Closed { id: about.id, why, ticket });
        }
    }

    /// Records the outcome of a TLS handshake.
    pub(super) fn explain_tls(&self, config: Option<&TlsConfig>, host: &str, tls: &TlsInfo) {
        self.easy.explain(|| {
            Event::Secured(Secured {
                host: host.to_owned(),
                version: tls.version,
                cipher: tls.cipher,
                group: tls.group,
                resumed: tls.resumed,
                cached: self.on(O::SslSessionIdCache),
                known: self.easy.why.is_session_known(),
                alpn: tls.alpn.clone(),
                verified: tls.verify_result == 0 && self.on(O::SslVerifyPeer) && self.on(O::SslVerifyHost),
                trusted: config.map(trusted).unwrap_or_default(),
                expiry: tls.expiry.as_ref().map(|expiry| CertificateExpiry {
                    left: expiry.not_after - wall_clock(),
                    lifetime: expiry.lifetime,
                    authority: expiry.authority.clone(),
                }),
            })
        });
        self.explain_checks(host, tls.trust.as_ref());
    }

    /// Records a report about certificates.
    fn explain_checks(&self, host: &str, report: Option<&Arc<TrustReport>>) {
        if let Some(report) = report {
            self.easy.explain(|| Event::CertificateChecks { host: host.to_owned(), report: report.clone() });
        }
    }

    /// Records why the server's certificate was refused.
    #[cold]
    pub(super) fn explain_refusal(&self, config: &TlsConfig, host: &str, error: &NetError) {
        let asked = self.easy.why.reasons() == Reasons::Certificates;
        self.explain_checks(host, error.trust.as_ref().filter(|_| asked));
        let Some(certificate) = error.refused.as_deref().and_then(Certificate::parse) else { return };
        self.easy.explain(|| {
            Event::Refused(Refused {
                host: host.to_owned(),
                subject: certinfo::name(certificate.subject),
                issuer: certinfo::name(certificate.issuer),
                why: error.message.clone(),
                trusted: trusted(config),
            })
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A line of a login by SASL is a secret in base64.
    #[test]
    fn lines_that_are_no_commands_are_not_shown() {
        let shown = |layer, line: &str| match commands(layer, &[line.as_bytes()], true) {
            Event::Commands { verbs, .. } => verbs.concat(),
            _ => unreachable!("commands make that event"),
        };
        let rows = [
            ("ftp", "RETR secret.txt", "RETR"),
            ("ftp", "PASS word", "PASS"),
            ("smtp", "AHVzZXIAcGFzcw==", "(data)"),
            ("imap", "A001 LOGIN user word", "LOGIN"),
            ("imap", "dXNlcg==", "(data)"),
            ("ftp", "type I", "TYPE"),
        ];
        for (layer, line, wanted) in rows {
            assert_eq!(shown(layer, line), wanted, "{line}");
        }
    }

    #[test]
    fn schemes_are_named_by_their_bits() {
        assert_eq!(schemes(3), ["Digest", "Basic"]);
        assert_eq!(schemes(0), [""; 0]);
    }
}
