//! WARMWIRE_TRACE: a span for each request, exported to an OpenTelemetry collector, and the field
//! `traceparent`, by which the spans of servers join the trace.
//!
//! `span` writes a request as a span, `queue` collects spans for a helper thread, which exports them.

mod queue;
mod span;

use std::hint::cold_path;

use runtime::{LockFreeOnce, environment, secure_execution};
use tables::environment::{TRACE, TRACE_HOSTS};
use wire::trace_context::TraceParent;
use wire::url::{Part, Url};

use crate::why::{Record, SpanIds};

pub use queue::{Connect, Exporter, finish};

/// The settings of the process.
struct Settings {
    /// The URL to which spans are posted.
    collector: String,
    /// The hosts that get the field; all if there are none.
    hosts: Vec<String>,
    /// The span that started the process, from the variable TRACEPARENT.
    parent: Option<TraceParent>,
}

fn settings() -> Option<&'static Settings> {
    static SETTINGS: LockFreeOnce<Option<Settings>> = LockFreeOnce::new();
    let read = || {
        let value = environment::text(&TRACE)?;
        let hosts = environment::text(&TRACE_HOSTS).unwrap_or_default();
        let hosts = hosts.split(',').map(|host| host.trim().trim_start_matches('.').to_ascii_lowercase());
        let parent = std::env::var("TRACEPARENT").ok().filter(|_| !secure_execution());
        Some(Settings {
            collector: collector(value.strip_prefix("otlp:")?),
            hosts: hosts.filter(|host| !host.is_empty()).collect(),
            parent: parent.and_then(|text| TraceParent::parse(text.trim().as_bytes())),
        })
    };
    SETTINGS.get(read).as_ref()
}

/// Returns the URL for spans: a URL without a path gets the path of the OTLP specification.
fn collector(url: &str) -> String {
    let path = Url::parse(url.as_bytes(), 0).and_then(|url| url.get(Part::Path, 0));
    match path.is_ok_and(|path| path == b"/") {
        true => format!("{}/v1/traces", url.trim_end_matches('/')),
        false => url.to_owned(),
    }
}

/// Returns whether spans are asked for.
pub fn is_wanted() -> bool {
    settings().is_some()
}

/// Returns whether a host gets the field.
pub fn is_sent_to(host: &[u8]) -> bool {
    settings().is_some_and(|settings| covers(&settings.hosts, host))
}

/// Returns whether a host or one of its parent domains is in the list. An empty list has all hosts.
fn covers(hosts: &[String], host: &[u8]) -> bool {
    let host = String::from_utf8_lossy(host).to_ascii_lowercase();
    let below = |domain: &String| {
        host.strip_suffix(domain.as_str()).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
    };
    hosts.is_empty() || hosts.iter().any(below)
}

/// Creates the identifiers of a request's span. Its parent is, in this order: the span that the application
/// names, the first span of the same transfer, the span that started the process. Without one, the request
/// begins a trace.
pub fn begin(application: Option<TraceParent>, first: Option<&SpanIds>) -> Option<SpanIds> {
    cold_path();
    let of_process = settings().and_then(|settings| settings.parent);
    let parent = application.or(first.map(SpanIds::parent_of_next)).or(of_process);
    let mut random = [0; 24];
    net::random(&mut random).ok()?;
    let (trace_id, span_id) = (random[..16].try_into().ok()?, random[16..].try_into().ok()?);
    Some(SpanIds {
        own: TraceParent {
            trace_id: parent.map_or(trace_id, |parent| parent.trace_id),
            span_id,
            sampled: parent.is_none_or(|parent| parent.sampled),
        },
        parent,
    })
}

/// Exports the spans of an ended transfer. `connect` makes the exporter, on its thread.
#[cold]
#[inline(never)]
pub fn add(record: &Record, connect: Connect) {
    let Some(settings) = settings() else { return };
    let Some(started) = record.started_at() else { return };
    let date = super::archives::date(started);
    let mut first = None;
    for (number, (request, events)) in record.by_request().enumerate() {
        let ids = request.span.or_else(|| begin(None, first.as_ref()));
        let Some(ids) = ids else { return };
        first = first.or(Some(ids));
        if ids.own.sampled {
            let last = number + 1 == record.requests.len();
            let failure = record.outcome.as_ref().filter(|_| last);
            span::texts(&ids, date, number, request, events, failure).for_each(|text| {
                queue::add(text, &settings.collector, connect);
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_collector_without_a_path_gets_that_of_the_specification() {
        for (url, wanted) in [
            ("http://h:4318", "http://h:4318/v1/traces"),
            ("http://h:4318/", "http://h:4318/v1/traces"),
            ("https://h/otlp/v1/traces", "https://h/otlp/v1/traces"),
        ] {
            assert_eq!(collector(url), wanted);
        }
    }

    #[test]
    fn a_domain_covers_the_hosts_below_it() {
        let hosts = ["example.org".to_owned(), "10.0.0.1".to_owned()];
        for (host, wanted) in [
            ("example.org", true),
            ("API.Example.ORG", true),
            ("notexample.org", false),
            ("example.org.evil.test", false),
            ("10.0.0.1", true),
            ("", false),
        ] {
            assert_eq!(covers(&hosts, host.as_bytes()), wanted, "{host}");
        }
        assert!(covers(&[], b"any.test"));
    }

    #[test]
    fn a_span_joins_the_nearest_trace() {
        let named = TraceParent { trace_id: [1; 16], span_id: [2; 8], sampled: false };
        let of_application = begin(Some(named), None).unwrap();
        assert_eq!((of_application.own.trace_id, of_application.own.sampled), ([1; 16], false));
        assert_eq!(of_application.parent, Some(named));
        let root = begin(None, None).unwrap();
        assert_eq!((root.parent, root.own.sampled), (None, true));
        let redirected = begin(None, Some(&root)).unwrap();
        assert_eq!((redirected.own.trace_id, redirected.parent), (root.own.trace_id, Some(root.own)));
        let sibling = begin(None, Some(&of_application)).unwrap();
        assert_eq!(sibling.parent, Some(named));
        assert_ne!(root.own, begin(None, None).unwrap().own);
    }
}
