//! A request as a span of OpenTelemetry, in the JSON form of OTLP 1.x. Attributes follow the semantic
//! conventions for HTTP clients; secrets in URLs are omitted.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use tables::Code;
use wire::hex;
use wire::json::Writer;
use wire::url::{Part, Url, flag};

use crate::archive::redact;
use crate::why::{Event, Outcome, Request, SpanIds, Stage, json};

/// Kinds of spans (`SpanKind`).
const INTERNAL: u8 = 1;
const CLIENT: u8 = 3;
/// The status of a failed span (`StatusCode`).
const ERROR: u8 = 2;

/// Returns the spans of a request as JSON objects: its own and, below it, those of the stages of a new
/// connection. `began` is the start of the transfer, `number` the place of the request in it.
pub fn texts(
    ids: &SpanIds,
    began: SystemTime,
    number: usize,
    request: &Request,
    events: &[(Duration, Event)],
    outcome: Option<&Outcome>,
) -> impl Iterator<Item = String> {
    let own = own(ids, began, number, request, events, outcome);
    let mut from = request.from;
    let mut stages = Vec::new();
    for (stage, length) in request.stages.iter() {
        if matches!(stage, Stage::Name | Stage::Connect | Stage::Secure) {
            stages.extend(of_stage(ids, stage.name(), began, (from, from + length)));
        }
        from += length;
    }
    std::iter::once(own).chain(stages)
}

fn own(
    ids: &SpanIds,
    began: SystemTime,
    number: usize,
    request: &Request,
    events: &[(Duration, Event)],
    outcome: Option<&Outcome>,
) -> String {
    let url = redact::url(&request.url);
    let name = match &*request.method {
        "" => url.split(':').next().unwrap_or_default().to_ascii_uppercase(),
        method => method.to_owned(),
    };
    let failure = outcome.filter(|outcome| outcome.code != Code::Ok);
    let mut out = Writer::default();
    out.object(|out| {
        let parent = ids.parent.map(|parent| parent.span_id);
        head(out, (ids, ids.own.span_id, parent), &name, CLIENT, began, (request.from, request.to));
        out.key("attributes").array(|out| attributes(out, number, request, &url, events, failure));
        if failure.is_some() || request.status >= 400 {
            out.key("status").object(|out| {
                out.key("code").number(ERROR);
                if let Some(failure) = failure {
                    out.key("message").text(&failure.message);
                }
            });
        }
    });
    out.into_string()
}

/// Writes the members that each span has. `span` has the trace, the span and its parent.
fn head(
    out: &mut Writer,
    span: (&SpanIds, [u8; 8], Option<[u8; 8]>),
    name: &str,
    kind: u8,
    began: SystemTime,
    (from, to): (Duration, Duration),
) {
    let nanos = |at: Duration| (began + at).duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos();
    let (ids, own, parent) = span;
    out.key("traceId").text(hex::encode(&ids.own.trace_id));
    out.key("spanId").text(hex::encode(&own));
    if let Some(parent) = parent {
        out.key("parentSpanId").text(hex::encode(&parent));
    }
    out.key("name").text(name);
    out.key("kind").number(kind);
    // In JSON, 64-bit numbers are texts.
    out.key("startTimeUnixNano").text(nanos(from).to_string());
    out.key("endTimeUnixNano").text(nanos(to).to_string());
}

/// Returns the span of a stage, below that of its request.
fn of_stage(ids: &SpanIds, name: &str, began: SystemTime, times: (Duration, Duration)) -> Option<String> {
    let mut id = [0; 8];
    net::random(&mut id).ok()?;
    let mut out = Writer::default();
    out.object(|out| head(out, (ids, id, Some(ids.own.span_id)), name, INTERNAL, began, times));
    Some(out.into_string())
}

fn attributes(
    out: &mut Writer,
    number: usize,
    request: &Request,
    url: &str,
    events: &[(Duration, Event)],
    failure: Option<&Outcome>,
) {
    if !request.method.is_empty() {
        text(out, "http.request.method", &request.method);
    }
    text(out, "url.full", url);
    if let Ok(url) = Url::parse(url.as_bytes(), flag::NON_SUPPORT_SCHEME) {
        let part = |part| {
            String::from_utf8_lossy(&url.get(part, flag::DEFAULT_PORT).unwrap_or_default()).into_owned()
        };
        text(out, "server.address", &part(Part::Host));
        if let Ok(port) = part(Part::Port).parse() {
            integer(out, "server.port", port);
        }
    }
    if request.status > 0 && !request.method.is_empty() {
        integer(out, "http.response.status_code", request.status);
    }
    if let Some(version) = request.version.strip_prefix("HTTP/") {
        text(out, "network.protocol.name", "http");
        text(out, "network.protocol.version", version);
    }
    if number > 0 && !request.method.is_empty() {
        integer(out, "http.request.resend_count", number as i64);
    }
    match failure {
        Some(failure) => text(out, "error.type", &failure.code.id().to_string()),
        None if request.status >= 400 => text(out, "error.type", &request.status.to_string()),
        None => {}
    }
    for (_, event) in events {
        match event {
            Event::Opened(opened) => {
                text(out, "warmwire.connection", "new");
                text(out, "warmwire.connection.reason", json::new_name(&opened.why));
            }
            Event::Reused(_) => text(out, "warmwire.connection", "reused"),
            _ => {}
        }
    }
}

/// Writes an attribute.
pub fn text(out: &mut Writer, name: &str, value: &str) {
    attribute(out, name, |out| out.key("stringValue").text(value));
}

pub fn integer(out: &mut Writer, name: &str, value: i64) {
    attribute(out, name, |out| out.key("intValue").text(value.to_string()));
}

fn attribute(out: &mut Writer, name: &str, value: impl FnOnce(&mut Writer)) {
    out.object(|out| {
        out.key("key").text(name);
        out.key("value").object(value);
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use wire::trace_context::TraceParent;

    #[test]
    fn a_request_is_a_span_and_a_new_connection_spans_below_it() {
        let own = TraceParent { trace_id: [0xab; 16], span_id: [0xcd; 8], sampled: true };
        let parent = Some(TraceParent { span_id: [0xef; 8], ..own });
        let ms = Duration::from_millis;
        let request = Request {
            method: "GET".into(),
            url: "https://h.test/a?token=t&b=c".to_owned(),
            status: 404,
            version: "HTTP/2",
            from: ms(1),
            to: ms(30),
            stages: [(Stage::Name, ms(9)), (Stage::Secure, ms(10)), (Stage::Server, ms(10))].into(),
            ..Request::default()
        };
        let began = UNIX_EPOCH + Duration::from_secs(7);
        let texts: Vec<String> = texts(&SpanIds { own, parent }, began, 1, &request, &[], None).collect();
        assert_eq!(texts.len(), 3);
        for piece in [
            "\"traceId\":\"abababababababababababababababab\",\"spanId\":\"cdcdcdcdcdcdcdcd\",\
             \"parentSpanId\":\"efefefefefefefef\",\"name\":\"GET\",\"kind\":3,\
             \"startTimeUnixNano\":\"7001000000\",\"endTimeUnixNano\":\"7030000000\"",
            "{\"key\":\"url.full\",\"value\":{\"stringValue\":\"https://h.test/a?token=(redacted)&b=c\"}}",
            "{\"key\":\"server.port\",\"value\":{\"intValue\":\"443\"}}",
            "{\"key\":\"http.response.status_code\",\"value\":{\"intValue\":\"404\"}}",
            "{\"key\":\"network.protocol.version\",\"value\":{\"stringValue\":\"2\"}}",
            "{\"key\":\"http.request.resend_count\",\"value\":{\"intValue\":\"1\"}}",
            "{\"key\":\"error.type\",\"value\":{\"stringValue\":\"404\"}}",
            "\"status\":{\"code\":2}",
        ] {
            assert!(texts[0].contains(piece), "{piece}: {}", texts[0]);
        }
        assert!(
            texts[2].contains("\"parentSpanId\":\"cdcdcdcdcdcdcdcd\",\"name\":\"tls\",\"kind\":1"),
            "{}",
            texts[2]
        );
        assert!(texts[2].contains("\"startTimeUnixNano\":\"7010000000\",\"endTimeUnixNano\":\"7020000000\""));
    }
}
