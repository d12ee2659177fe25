//! A record as one JSON object. The guide describes the members; new ones may be added.

use std::net::SocketAddr;
use std::time::Duration;

use wire::json::Writer;
use wire::policy;

use super::event::{
    CacheStep, CertificateExpiry, CloseReason, Event, GoAhead, NameSource, Named, NewReason, OneByOne,
    Opened, Proxied, ProxyDropped, Refused, ReplayReason, Reused, Secured, SendLimits, VersionReason,
    Withheld,
};
use super::{Outcome, Record, Request, certificates, story};
use net::{Eviction, NoneFromBroker, Refusal};

/// Writes the object, in one line.
pub fn text(record: &Record) -> String {
    let mut json = Writer::default();
    json.object(|json| {
        json.key("version").number(1);
        json.key("requests").array(|json| {
            record.by_request().for_each(|(one, events)| request(json, one, events));
        });
        if let Some(outcome) = &record.outcome {
            self::outcome(json, outcome);
        }
        json.key("left_out").number(record.left_out);
    });
    json.into_string()
}

/// Writes an array of the requests, with their times and without their events.
pub fn requests(record: &Record) -> String {
    let mut json = Writer::default();
    json.array(|json| {
        for one in &record.requests {
            json.object(|json| facts(json, one));
        }
    });
    json.into_string()
}

/// Writes an array of the reports about certificates.
pub fn certificates(record: &Record) -> String {
    let mut json = Writer::default();
    json.array(|json| {
        for (host, report) in record.reports() {
            json.object(|json| certificates::json(json, host, report));
        }
    });
    json.into_string()
}

/// Writes the members of the end of a transfer.
pub fn outcome(json: &mut Writer, outcome: &Outcome) {
    json.key("code").number(outcome.code.id());
    json.key("error").text(&outcome.message);
    time(json, "total_ms", outcome.total);
}

/// Writes a time in milliseconds with three digits of a fraction.
pub fn time(json: &mut Writer, key: &str, time: Duration) {
    let micros = time.as_micros();
    json.key(key).number(format_args!("{}.{:03}", micros / 1_000, micros % 1_000));
}

fn request(json: &mut Writer, request: &Request, events: &[(Duration, Event)]) {
    json.object(|json| {
        facts(json, request);
        if let Some(rounds) = story::round_trips(events) {
            json.key("round_trips").number(rounds);
        }
        json.key("events").array(|json| {
            for (at, one) in events {
                json.object(|json| {
                    time(json, "at_ms", *at);
                    event(json, one);
                });
            }
        });
    });
}

/// Writes the members of a request, without its events.
pub fn facts(json: &mut Writer, request: &Request) {
    json.key("method").text(&*request.method);
    json.key("url").text(&request.url);
    json.key("status").number(request.status);
    json.key("http").text(request.version);
    json.key("auth").text(request.auth);
    json.key("received").number(request.received);
    json.key("sent").number(request.sent);
    time(json, "from_ms", request.from);
    time(json, "to_ms", request.to);
    json.key("stages").array(|json| {
        for (stage, length) in request.stages.iter() {
            json.object(|json| {
                json.key("stage").text(stage.name());
                time(json, "ms", length);
            });
        }
    });
}

/// Writes the members of an event.
pub fn event(json: &mut Writer, event: &Event) {
    json.key("event").text(kind(event));
    match event {
        Event::Proxied(proxied) => proxy(json, proxied),
        Event::Unproxied { by } | Event::Direct { by } => json.key("by").text(by),
        Event::ProxyDropped { proxy, why } => dropped(json, proxy, why),
        Event::Reused(reused) => reuse(json, reused),
        Event::Opened(opened) => new(json, opened),
        Event::Closed { id, why, .. } => {
            json.key("id").number(id);
            json.key("reason").text(close_name(*why));
        }
        Event::Spoilt(why) => json.key("reason").text(close_name(*why)),
        Event::Named(named) => name(json, named),
        Event::Trying(address) => json.key("address").text(address.to_string()),
        Event::Reached { address, preferred } => {
            json.key("address").text(address.to_string());
            json.key("preferred").boolean(*preferred);
        }
        Event::Unreachable { address, error } => {
            json.key("address").text(address.to_string());
            json.key("error").text(error);
        }
        Event::Secured(secured) => tls(json, secured),
        Event::Refused(refused) => certificate(json, refused),
        Event::CertificateChecks { host, report } => certificates::json(json, host, report),
        Event::Denied { refusal, address } => denial(json, refusal, *address),
        Event::Version { version, why } => {
            json.key("version").text(version);
            json.key("reason").text(version_name(*why));
        }
        Event::Redirected { status, to } => {
            json.key("status").number(status);
            json.key("to").text(to);
        }
        Event::Challenged { status, offered } => {
            json.key("status").number(status);
            json.key("offered").array(|json| offered.iter().for_each(|scheme| json.text(scheme)));
        }
        Event::Waits { limit } => time(json, "limit_ms", *limit),
        Event::GoesOn(how) => json.key("reason").text(go_ahead_name(*how)),
        Event::Informed { status, links } => informed(json, *status, links),
        Event::Replayed { why, count } => {
            json.key("reason").text(replay_name(*why));
            json.key("count").number(count);
        }
        Event::Cookies { sent, withheld } => cookies(json, sent, withheld),
        Event::Strict { url } => json.key("url").text(url),
        Event::Alternative { from, to } => alternative(json, from, to),
        Event::Cache(step) => json.key("step").text(cache_name(*step)),
        Event::Commands { layer, verbs, waits } => commands(json, layer, verbs, *waits),
        Event::OneByOne(why) => json.key("reason").text(one_by_one_name(*why)),
        Event::Limited(of_upload) => limits(json, of_upload),
        Event::PartsPresent { present, of } => parts(json, *present, *of),
        Event::UploadCompared => {}
    }
}

fn proxy(json: &mut Writer, Proxied { proxy, by, tunnel }: &Proxied) {
    json.key("proxy").text(proxy);
    json.key("by").text(by);
    json.key("tunnel").boolean(*tunnel);
}

fn dropped(json: &mut Writer, proxy: &str, why: &ProxyDropped) {
    json.key("proxy").text(proxy);
    match why {
        ProxyDropped::Failed(error) => json.key("error").text(error),
        ProxyDropped::Remembered(rest) => json.key("rest_s").number(rest.as_secs()),
    }
}

fn kind(event: &Event) -> &'static str {
    match event {
        Event::Proxied(_) => "proxy",
        Event::Unproxied { .. } => "no-proxy",
        Event::Direct { .. } => "direct",
        Event::ProxyDropped { .. } => "proxy-dropped",
        Event::Reused(_) => "connection-reused",
        Event::Opened(_) => "connection-new",
        Event::Closed { .. } => "connection-closed",
        Event::Spoilt(_) => "connection-spoilt",
        Event::Named(_) => "name",
        Event::Trying(_) => "address-tried",
        Event::Unreachable { .. } => "address-failed",
        Event::Reached { .. } => "address-connected",
        Event::Secured(_) => "tls",
        Event::Refused(_) => "certificate-refused",
        Event::CertificateChecks { .. } => "certificate-checks",
        Event::Denied { .. } => "policy-refused",
        Event::Version { .. } => "http-version",
        Event::Redirected { .. } => "redirect",
        Event::Challenged { .. } => "challenge",
        Event::Waits { .. } => "expect",
        Event::GoesOn(_) => "expect-ended",
        Event::Informed { .. } => "informational",
        Event::Replayed { .. } => "replay",
        Event::Cookies { .. } => "cookies",
        Event::Strict { .. } => "hsts",
        Event::Alternative { .. } => "alt-svc",
        Event::Cache(_) => "cache",
        Event::Commands { .. } => "commands",
        Event::OneByOne(_) => "one-by-one",
        Event::Limited(_) => "upload-limited",
        Event::PartsPresent { .. } => "upload-continues",
        Event::UploadCompared => "upload-compared",
    }
}

fn alternative(json: &mut Writer, from: &str, to: &str) {
    json.key("from").text(from);
    json.key("to").text(to);
}

fn informed(json: &mut Writer, status: u16, links: &[String]) {
    json.key("status").number(status);
    json.key("links").array(|json| links.iter().for_each(|link| json.text(link)));
}

fn parts(json: &mut Writer, present: u32, of: u32) {
    json.key("present").number(present);
    json.key("of").number(of);
}

fn reuse(json: &mut Writer, reused: &Reused) {
    json.key("id").number(reused.id);
    json.key("origin").text(reused.origin.to_string());
    json.key("stream").boolean(reused.stream);
    if let Some(past) = &reused.past {
        time(json, "age_ms", past.age);
        time(json, "idle_ms", past.idle);
        json.key("uses").number(past.uses);
    }
}

fn new(json: &mut Writer, opened: &Opened) {
    json.key("id").number(opened.id);
    json.key("origin").text(opened.origin.to_string());
    json.key("tls").boolean(opened.tls);
    json.key("reason").text(new_name(&opened.why));
    json.key("text").text(story::new_reason(&opened.why));
    match &opened.why {
        NewReason::Differs { terms, others } => {
            json.key("differs_in").array(|json| terms.iter().for_each(|term| json.text(term.name())));
            json.key("open").number(others);
        }
        NewReason::AllInUse { count } => json.key("in_use").number(count),
        NewReason::Refused(Refusal::Moved(peer)) => json.key("address").text(peer.to_string()),
        NewReason::LastClosed(why) => json.key("closed").text(close_name(*why)),
        _ => {}
    }
}

/// Returns the name of a reason for a new connection.
pub fn new_name(why: &NewReason) -> &'static str {
    match why {
        NewReason::NothingOpen => "nothing-open",
        NewReason::Differs { .. } => "differs",
        NewReason::AllInUse { .. } => "in-use",
        NewReason::Refused(Refusal::Inherited) => "inherited",
        NewReason::Refused(Refusal::Idle(_)) => "idle-too-long",
        NewReason::Refused(Refusal::Aged(_)) => "too-old",
        NewReason::Refused(Refusal::Dead) => "closed-by-server",
        NewReason::Refused(Refusal::Moved(_)) => "name-moved",
        NewReason::Refused(Refusal::Broker(why)) => match why {
            NoneFromBroker::Nothing => "broker-has-none",
            NoneFromBroker::NotRunning => "no-broker",
            NoneFromBroker::Slow => "broker-slow",
            NoneFromBroker::OtherVersion => "broker-of-other-version",
            NoneFromBroker::Unusable => "broker-unusable",
            NoneFromBroker::Stays(_) => "stays-in-process",
        },
        NewReason::LastClosed(_) => "last-closed",
        NewReason::Evicted(Eviction::Kept(_)) => "pool-too-small",
        NewReason::Evicted(Eviction::Limit) => "connection-limit",
        NewReason::Evicted(Eviction::Idle) => "evicted-idle",
        NewReason::Forbidden(_) => "forbidden",
        NewReason::Repeated => "repeated",
        NewReason::InTurns => "in-turns",
        NewReason::OwnSockets => "own-sockets",
    }
}

fn close_name(why: CloseReason) -> &'static str {
    match why {
        CloseReason::PeerSaidClose => "peer-said-close",
        CloseReason::EndsBody => "ends-body",
        CloseReason::Http10 => "http10",
        CloseReason::Forbidden => "forbid-reuse",
        CloseReason::Surplus => "surplus-bytes",
        CloseReason::UploadStopped => "upload-stopped",
        CloseReason::BodySkipped => "body-skipped",
        CloseReason::Failed => "failed",
        CloseReason::OutOfStep => "out-of-step",
        CloseReason::ByTicket => "kerberos-ticket",
        CloseReason::NoSessionLeft => "no-tls-session-left",
    }
}

fn replay_name(why: ReplayReason) -> &'static str {
    match why {
        ReplayReason::ConnectionDied => "connection-died",
        ReplayReason::Http11Required => "http11-required",
    }
}

fn one_by_one_name(why: OneByOne) -> &'static str {
    match why {
        OneByOne::Setting => "setting",
        OneByOne::NewConnection => "new-connection",
        OneByOne::Objected => "objected",
        OneByOne::NotOffered => "not-offered",
        OneByOne::Unknown => "unknown-server",
        OneByOne::Dependent => "dependent",
    }
}

fn name(json: &mut Writer, named: &Named) {
    let source = match named.source {
        NameSource::Written => "literal",
        NameSource::Pinned => "resolve-option",
        NameSource::Cache => "cache",
        NameSource::Hosts => "hosts-file",
        NameSource::System => "system",
        NameSource::Broker => "broker",
        NameSource::Servers => "dns-servers",
        NameSource::OverHttps => "doh",
    };
    json.key("host").text(&named.host);
    json.key("record").text(named.record);
    json.key("addresses").number(named.addresses);
    json.key("source").text(source);
    if !named.servers.is_empty() {
        json.key("servers").text(&named.servers);
    }
    time(json, "took_ms", named.took);
}

fn tls(json: &mut Writer, secured: &Secured) {
    json.key("host").text(&secured.host);
    json.key("version").text(secured.version);
    json.key("cipher").text(secured.cipher);
    json.key("group").text(secured.group);
    json.key("resumed").boolean(secured.resumed);
    match &secured.alpn {
        Some(alpn) => json.key("alpn").text(alpn),
        None => json.key("alpn").null(),
    }
    if !secured.resumed {
        json.key("full_because").text(match secured {
            Secured { cached: false, .. } => "cache-off",
            Secured { known: true, .. } => "session-unused",
            _ => "no-session",
        });
    }
    json.key("verified").boolean(secured.verified);
    json.key("trusted").text(&secured.trusted);
    if let Some(CertificateExpiry { left, authority, .. }) = &secured.expiry {
        json.key("certificate_expires_in_s").number(left);
        if let Some(authority) = authority {
            json.key("certificate_expiring").text(authority);
        }
    }
}

fn commands(json: &mut Writer, layer: &str, verbs: &[String], waits: bool) {
    json.key("protocol").text(layer);
    json.key("commands").array(|json| verbs.iter().for_each(|verb| json.text(verb)));
    json.key("waited").boolean(waits);
}

fn limits(json: &mut Writer, SendLimits { window, buffer }: &SendLimits) {
    time(json, "by_window_ms", *window);
    time(json, "by_buffer_ms", *buffer);
}

fn certificate(json: &mut Writer, Refused { host, subject, issuer, why, trusted }: &Refused) {
    json.key("host").text(host);
    json.key("subject").text(subject);
    json.key("issuer").text(issuer);
    json.key("reason").text(why);
    json.key("trusted").text(trusted);
}

fn denial(json: &mut Writer, refusal: &policy::Refusal, address: Option<SocketAddr>) {
    let policy::Refusal { check, policy, subject, rule } = refusal;
    json.key("check").text(check.name());
    json.key("policy").text(policy);
    json.key("refused").text(subject);
    json.key("rule").text(rule);
    if let Some(address) = address {
        json.key("address").text(address.to_string());
    }
}

fn version_name(why: VersionReason) -> &'static str {
    match why {
        VersionReason::Highest => "highest",
        VersionReason::Option => "option",
        VersionReason::ServerChose => "server-chose",
        VersionReason::NoAlpn => "no-alpn",
        VersionReason::NoTls => "no-tls",
        VersionReason::AlpnOff => "alpn-off",
        VersionReason::Avoided => "avoided",
        VersionReason::AnswersHttp10 => "answers-http10",
    }
}

fn go_ahead_name(how: GoAhead) -> &'static str {
    match how {
        GoAhead::Continue => "continue",
        GoAhead::Late => "late",
        GoAhead::Answered => "answered",
        GoAhead::Refused => "refused",
    }
}

fn cookies(json: &mut Writer, sent: &[String], withheld: &[(String, Withheld)]) {
    json.key("sent").array(|json| sent.iter().for_each(|name| json.text(name)));
    json.key("withheld").array(|json| {
        for (name, why) in withheld {
            let why = match why {
                Withheld::Domain => "domain",
                Withheld::Path => "path",
                Withheld::Secure => "secure",
                Withheld::Expired => "expired",
            };
            json.object(|json| {
                json.key("name").text(name);
                json.key("reason").text(why);
            });
        }
    });
}

fn cache_name(step: CacheStep) -> &'static str {
    match step {
        CacheStep::Fresh => "fresh",
        CacheStep::Asked => "asked",
        CacheStep::Confirmed => "confirmed",
        CacheStep::Dictionary => "dictionary",
        CacheStep::Joined => "joined",
        CacheStep::Stale => "stale",
    }
}
