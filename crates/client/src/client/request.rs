//! Requests, and their conversion to options.

use std::sync::Arc;
use std::time::Duration;

use tables::EasyOption;

use super::body::{Body, Kind, Source};
use super::call::Prepared;
use super::error::{Error, RequestPhase};
use super::hub::Shared;
use super::multipart::Multipart;
use super::options::{HttpVersion, Options, milliseconds, settings};
use super::response::Response;
use super::running::Running;
use crate::PlainValue;
use crate::transfers::Upload;

/// A request under construction. Nothing happens until it is [sent](Self::send).
#[must_use = "a request does nothing before it is sent"]
pub struct RequestBuilder {
    client: Arc<Shared>,
    method: String,
    url: String,
    options: Options,
    body: Body,
    form: Option<Multipart>,
}

settings!(RequestBuilder);

impl RequestBuilder {
    pub(super) fn new(client: Arc<Shared>, method: &str, url: &str) -> RequestBuilder {
        let options = client.options.clone();
        RequestBuilder {
            client,
            method: method.to_owned(),
            url: url.to_owned(),
            options,
            body: Body::default(),
            form: None,
        }
    }

    /// Adds names and values to the URL's query, percent-encoded.
    pub fn query<N: AsRef<str>, V: AsRef<str>>(mut self, pairs: impl IntoIterator<Item = (N, V)>) -> Self {
        let added = encoded(pairs);
        if !added.is_empty() {
            let end = self.url.find('#').unwrap_or(self.url.len());
            let link = match self.url[..end].find('?') {
                None => "?",
                Some(at) if at + 1 == end => "",
                Some(_) => "&",
            };
            self.url.insert_str(end, &format!("{link}{added}"));
        }
        self
    }

    /// Sets the body. No Content-Type is added; set it with [`header`](Self::header).
    pub fn body(mut self, body: impl Into<Body>) -> Self {
        self.body = body.into();
        self
    }

    /// Sends a form's names and values (application/x-www-form-urlencoded).
    pub fn form<N: AsRef<str>, V: AsRef<str>>(self, pairs: impl IntoIterator<Item = (N, V)>) -> Self {
        self.of_type("application/x-www-form-urlencoded").body(encoded(pairs))
    }

    /// Sends a form of parts (multipart/form-data).
    pub fn multipart(mut self, form: Multipart) -> Self {
        self.form = Some(form);
        self
    }

    /// Sends a value as JSON. A serialization error is reported when the request is sent.
    #[cfg(feature = "json")]
    pub fn json<T: serde::Serialize + ?Sized>(mut self, value: &T) -> Self {
        match serde_json::to_vec(value) {
            Ok(bytes) => self.of_type("application/json").body(bytes),
            Err(error) => {
                self.options.refused.get_or_insert(format!("the value is not JSON: {error}"));
                self
            }
        }
    }

    fn of_type(mut self, media_type: &str) -> Self {
        if !self.options.has_header("Content-Type") {
            self.options.set_header("Content-Type".to_owned(), media_type.to_owned());
        }
        self
    }

    /// Sends the request and returns the response when its head has been received, whatever its status.
    /// Dropping the future aborts the transfer: the connection is closed, or its stream reset.
    pub async fn send(mut self) -> Result<Response, Error> {
        self.options.check().map_err(|error| error.at(&*self.url, RequestPhase::Nothing))?;
        let client = self.client.clone();
        let (prepared, source) = self.prepare();
        let mut running = Running::start(client, prepared, source);
        let head = std::future::poll_fn(|cx| running.poll_head(cx)).await?;
        Ok(Response::new(head, running))
    }

    /// Converts method and body to options. They depend on each other.
    fn prepare(self) -> (Prepared, Option<Source>) {
        let RequestBuilder { method, url, mut options, body, form, .. } = self;
        let is_http = url.get(..4).is_some_and(|start| start.eq_ignore_ascii_case("http"));
        let sends = !matches!(body.0, Kind::Nothing) || form.is_some();
        let (mut upload, mut source) = (Upload::Nothing, None);
        let mut untyped = false;
        // The method that the options imply. Any other one must be named.
        let implied = match body.0 {
            Kind::Nothing if form.is_some() => "POST",
            Kind::Nothing => match method.as_str() {
                "HEAD" => {
                    options.set(EasyOption::Nobody, true);
                    "HEAD"
                }
                "POST" | "PUT" | "PATCH" if is_http => {
                    untyped = true;
                    post(&mut options, Vec::new())
                }
                _ => "GET",
            },
            Kind::Bytes(bytes) if is_http && method != "PUT" => {
                untyped = true;
                post(&mut options, bytes)
            }
            Kind::Bytes(bytes) => {
                let name = put(&mut options, Some(bytes.len() as u64));
                upload = Upload::Memory(bytes);
                name
            }
            Kind::Stream(stream, size) => {
                (upload, source) = (Upload::Fed, Some(stream));
                put(&mut options, size)
            }
        };
        // Protocols other than HTTP express GET and PUT by what they do, and have no method to name.
        if method != implied && is_http {
            options.set(EasyOption::Customrequest, method.as_str());
        }
        let mut rows: Vec<Vec<u8>> = Vec::with_capacity(options.headers.len() + 2);
        if untyped && !options.has_header("Content-Type") {
            rows.push(b"Content-Type:".to_vec());
        }
        if sends && !options.has_header("Expect") {
            rows.push(b"Expect:".to_vec()); // a server that does not know it costs a second
        }
        rows.extend(options.headers.into_iter().map(|(name, value)| match value.as_str() {
            "" => format!("{name};").into_bytes(),
            value => format!("{name}: {value}").into_bytes(),
        }));
        if !rows.is_empty() {
            options.list.push((EasyOption::Httpheader, PlainValue::List(rows)));
        }
        let Options { list: options, window, stall_limit, explain, .. } = options;
        (Prepared { url, options, form, upload, window, stall_limit, explain }, source)
    }
}

fn post(options: &mut Options, bytes: Vec<u8>) -> &'static str {
    options.set(EasyOption::PostfieldsizeLarge, bytes.len() as i64);
    options.set(EasyOption::Copypostfields, bytes);
    "POST"
}

fn put(options: &mut Options, size: Option<u64>) -> &'static str {
    options.set(EasyOption::Upload, true);
    if let Some(size) = size.and_then(|size| i64::try_from(size).ok()) {
        options.set(EasyOption::InfilesizeLarge, size);
    }
    "PUT"
}

/// Encodes names and values for a query or a form.
fn encoded<N: AsRef<str>, V: AsRef<str>>(pairs: impl IntoIterator<Item = (N, V)>) -> String {
    let octets = |text: &str| String::from_utf8_lossy(&wire::escape::encode(text.as_bytes())).into_owned();
    let pair = |(name, value): (N, V)| format!("{}={}", octets(name.as_ref()), octets(value.as_ref()));
    pairs.into_iter().map(pair).collect::<Vec<_>>().join("&")
}
