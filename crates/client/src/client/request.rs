//! Requests, and their conversion to options.

use std::fmt::{self, Display};

use bytes::Bytes;
use http::header::{ACCEPT_ENCODING, CONTENT_TYPE, EXPECT, HeaderMap, HeaderName, HeaderValue, RANGE};
use http::{Method, Version};
use serde::Serialize;
use tables::constant as c;
use tables::{Code, EasyOption};

use super::body::{Body, Kind, Source, total};
use super::call::Prepared;
use super::error::{Error, RequestPhase};
use super::multipart::Form;
use super::options::{Options, WINDOW};
use super::shared::Shared;
use crate::transfers::Upload;
use crate::{IntoUrl, PlainValue, Url};

/// A request that has not been sent.
///
/// [`RequestBuilder`](crate::RequestBuilder) makes one, and [`Client::execute`](crate::Client::execute) sends
/// it.
///
/// ```no_run
/// # async fn send(client: warmwire::Client) -> Result<(), warmwire::Error> {
/// let mut request = client.get("https://example.com/").build()?;
/// request.headers_mut().insert("accept", warmwire::header::HeaderValue::from_static("text/html"));
/// client.execute(request).await?;
/// # Ok(())
/// # }
/// ```
pub struct Request {
    method: Method,
    url: Url,
    headers: HeaderMap,
    body: Body,
    form: Option<Form>,
    pub(crate) options: Options,
}

impl Request {
    /// Creates a request without header fields and body.
    pub fn new(method: Method, url: Url) -> Request {
        Request {
            method,
            url,
            headers: HeaderMap::new(),
            body: Body::default(),
            form: None,
            options: Options::default(),
        }
    }

    pub(crate) fn to(method: Method, url: impl IntoUrl) -> Result<Request, Error> {
        Ok(Request::new(method, url.into_url()?))
    }

    /// Returns the method.
    pub fn method(&self) -> &Method {
        &self.method
    }

    /// Returns the method, to change it.
    pub fn method_mut(&mut self) -> &mut Method {
        &mut self.method
    }

    /// Returns the URL.
    pub fn url(&self) -> &Url {
        &self.url
    }

    /// Returns the URL, to change it.
    pub fn url_mut(&mut self) -> &mut Url {
        &mut self.url
    }

    /// Returns the header fields of the request. Those of its client are added when it is sent.
    pub fn headers(&self) -> &HeaderMap {
        &self.headers
    }

    /// Returns the header fields, to change them.
    pub fn headers_mut(&mut self) -> &mut HeaderMap {
        &mut self.headers
    }

    /// Returns the body, if it has one.
    pub fn body(&self) -> Option<&Body> {
        (!matches!(self.body.0, Kind::Nothing)).then_some(&self.body)
    }

    /// Returns the body, to change it.
    pub fn body_mut(&mut self) -> &mut Body {
        &mut self.body
    }

    /// Copies the request. A body that is a stream or a reader cannot be copied.
    pub fn try_clone(&self) -> Option<Request> {
        Some(Request {
            method: self.method.clone(),
            url: self.url.clone(),
            headers: self.headers.clone(),
            body: self.body.try_clone()?,
            form: match &self.form {
                Some(form) => Some(form.try_clone()?),
                None => None,
            },
            options: self.options.clone(),
        })
    }

    pub(crate) fn add_header<K, V>(&mut self, name: K, value: V) -> Result<(), Error>
    where
        K: TryInto<HeaderName>,
        K::Error: Into<http::Error>,
        V: TryInto<HeaderValue>,
        V::Error: Into<http::Error>,
    {
        let name = name.try_into().map_err(Into::<http::Error>::into)?;
        self.headers.append(name, value.try_into().map_err(Into::<http::Error>::into)?);
        Ok(())
    }

    /// Replaces the fields of these names.
    pub(crate) fn set_headers(&mut self, headers: HeaderMap) {
        headers.keys().for_each(|name| drop(self.headers.remove(name)));
        self.headers.extend(headers);
    }

    pub(crate) fn add_query<T: Serialize + ?Sized>(&mut self, query: &T) -> Result<(), Error> {
        self.url.add_query(&encoded(query, "query")?);
        Ok(())
    }

    pub(crate) fn set_form<T: Serialize + ?Sized>(&mut self, form: &T) -> Result<(), Error> {
        self.body = encoded(form, "form")?.into();
        self.set_type("application/x-www-form-urlencoded");
        Ok(())
    }

    #[cfg(feature = "json")]
    pub(crate) fn set_json<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Error> {
        let bytes = serde_json::to_vec(value);
        self.body = bytes.map_err(|e| Error::option(format!("the value is not JSON: {e}")))?.into();
        self.set_type("application/json");
        Ok(())
    }

    fn set_type(&mut self, media_type: &'static str) {
        self.headers.entry(CONTENT_TYPE).or_insert(HeaderValue::from_static(media_type));
    }

    pub(crate) fn set_body(&mut self, body: Body) {
        self.body = body;
    }

    pub(crate) fn set_parts(&mut self, form: Form) {
        self.form = Some(form);
    }

    /// Sets the login, and the methods of HTTP by which it may be sent.
    pub(crate) fn log_in<P: Display>(&mut self, user: impl Display, password: Option<P>, methods: u64) {
        let password = password.map(|password| password.to_string()).unwrap_or_default();
        self.options.set(EasyOption::Username, &*user.to_string());
        self.options.set(EasyOption::Password, &*password);
        self.options.set(EasyOption::HttpAuth, methods as i64);
    }

    pub(crate) fn set_token(&mut self, token: &str) {
        self.options.set(EasyOption::Xoauth2Bearer, token);
        self.options.set(EasyOption::HttpAuth, c::CURLAUTH_BEARER as i64);
    }

    pub(crate) fn set_version(&mut self, version: Version) -> Result<(), Error> {
        let number = match version {
            Version::HTTP_10 => c::CURL_HTTP_VERSION_1_0,
            Version::HTTP_11 => c::CURL_HTTP_VERSION_1_1,
            Version::HTTP_2 => c::CURL_HTTP_VERSION_2TLS,
            Version::HTTP_3 => c::CURL_HTTP_VERSION_3,
            other => return Err(Error::option(format!("{other:?} cannot be sent"))),
        };
        self.options.set(EasyOption::HttpVersion, number);
        Ok(())
    }

    pub(crate) fn add_cookie(&mut self, name: &str, value: &str) -> Result<(), Error> {
        if [name, value].iter().any(|text| text.contains(['\r', '\n', '\0', ';'])) {
            return Err(Error::option(format!("the cookie {name:?} cannot be sent")));
        }
        let known = self.options.list.iter_mut().find(|(option, _)| *option == EasyOption::Cookie);
        match known {
            Some((_, PlainValue::Text(line))) => {
                line.extend_from_slice(format!("; {name}={value}").as_bytes())
            }
            _ => self.options.set(EasyOption::Cookie, format!("{name}={value}").as_str()),
        }
        Ok(())
    }

    /// Converts method, fields and body to options. They depend on each other.
    pub(super) fn prepare(mut self, client: &Shared) -> Result<(Prepared, Option<Source>), Error> {
        self.stream_form()?;
        let Request { method, url, headers, body, form, options } = self;
        let mut options = client.options.with(options);
        let is_http = url.is_http();
        let sends = !matches!(body.0, Kind::Nothing) || form.is_some();
        let has_form = form.is_some();
        let (implied, upload, source) = convert_body(body, method.as_str(), is_http, has_form, &mut options);
        // Protocols other than HTTP express GET and PUT by what they do, and have no method to name.
        if method != implied && is_http {
            options.set(EasyOption::CustomRequest, method.as_str());
        }
        let fields = [&headers, &client.headers];
        let has = |name: &HeaderName| fields.iter().any(|fields| fields.contains_key(name));
        let mut rows: Vec<Vec<u8>> = Vec::with_capacity(headers.len() + client.headers.len() + 2);
        let is_post = implied == "POST" && !has_form;
        if is_post && !has(&CONTENT_TYPE) {
            rows.push(b"Content-Type:".to_vec());
        }
        if sends && !has(&EXPECT) {
            rows.push(b"Expect:".to_vec()); // a server that does not know it costs a second
        }
        let defaults = default_fields(&headers, &client.headers);
        rows.extend(headers.iter().chain(defaults).map(|(name, value)| row(name, value)));
        // A part of a coded body cannot be decoded.
        if has(&RANGE) && !has(&ACCEPT_ENCODING) {
            options.list.retain(|(option, _)| *option != EasyOption::AcceptEncoding);
        }
        if !rows.is_empty() {
            options.set(EasyOption::HttpHeader, rows);
        }
        let Options { list, window, read_timeout, explain, choices, access_policy } = options;
        let prepared = Prepared {
            decodes: list.iter().any(|(option, _)| *option == EasyOption::AcceptEncoding),
            url,
            options: list,
            form,
            upload,
            window: window.unwrap_or(WINDOW).min(usize::MAX - 1),
            stall_limit: read_timeout,
            explain: explain.unwrap_or_default(),
            choices,
            access_policy,
        };
        Ok((prepared, source))
    }

    /// Returns the parts that a transfer of a file needs.
    #[cfg(feature = "download")]
    pub(super) fn into_parts(self) -> (Url, HeaderMap, Options) {
        (self.url, self.headers, self.options)
    }

    /// Makes a form with a stream the body.
    fn stream_form(&mut self) -> Result<(), Error> {
        let Some(form) = self.form.take_if(|form| form.is_streamed()) else { return Ok(()) };
        let (content_type, body) = form.into_stream().map_err(|e| {
            let error = Error::of(Code::ReadError, e.to_string());
            error.at(self.url.clone(), RequestPhase::Nothing).because(e)
        })?;
        let content_type = HeaderValue::from_bytes(&content_type).map_err(http::Error::from)?;
        self.headers.insert(CONTENT_TYPE, content_type);
        self.body = body;
        Ok(())
    }
}

/// Returns the method that the body's options imply. Any other one must be named.
fn convert_body(
    body: Body,
    method: &str,
    is_http: bool,
    has_form: bool,
    options: &mut Options,
) -> (&'static str, Upload, Option<Source>) {
    match body.0 {
        Kind::Nothing if has_form => ("POST", Upload::Nothing, None),
        Kind::Nothing => match method {
            "HEAD" => {
                options.set(EasyOption::NoBody, true);
                ("HEAD", Upload::Nothing, None)
            }
            "POST" | "PUT" | "PATCH" if is_http => (post(options, Bytes::new()), Upload::Nothing, None),
            _ => ("GET", Upload::Nothing, None),
        },
        Kind::Bytes(bytes) if is_http && method != "PUT" => (post(options, bytes), Upload::Nothing, None),
        Kind::Bytes(bytes) => upload(options, vec![bytes]),
        Kind::Pieces(pieces) => upload(options, pieces),
        Kind::Stream(stream, size) => (put(options, size), Upload::Fed, Some(stream)),
    }
}

fn post(options: &mut Options, bytes: Bytes) -> &'static str {
    options.set(EasyOption::PostFieldSizeLarge, bytes.len() as i64);
    options.set(EasyOption::CopyPostFields, Vec::from(bytes));
    "POST"
}

fn upload(options: &mut Options, pieces: Vec<Bytes>) -> (&'static str, Upload, Option<Source>) {
    (put(options, Some(total(&pieces))), Upload::Memory(pieces), None)
}

fn put(options: &mut Options, size: Option<u64>) -> &'static str {
    options.set(EasyOption::Upload, true);
    if let Some(size) = size.and_then(|size| i64::try_from(size).ok()) {
        options.set(EasyOption::InFileSizeLarge, size);
    }
    "PUT"
}

/// Returns the client's header fields that a request does not replace: a request's own fields replace all of
/// the same name.
pub(super) fn default_fields<'c>(
    own: &HeaderMap,
    client: &'c HeaderMap,
) -> impl Iterator<Item = (&'c HeaderName, &'c HeaderValue)> {
    client.iter().filter(|(name, _)| !own.contains_key(*name))
}

/// Writes a field as the engine takes it: a semicolon marks an empty value.
pub(super) fn row(name: &HeaderName, value: &HeaderValue) -> Vec<u8> {
    let name = name.as_str().as_bytes();
    match value.as_bytes() {
        [] => [name, b";"].concat(),
        value => [name, b": ", value].concat(),
    }
}

/// Encodes names and values for a query or a form.
fn encoded<T: Serialize + ?Sized>(pairs: &T, what: &str) -> Result<String, Error> {
    serde_urlencoded::to_string(pairs).map_err(|e| Error::option(format!("the {what} is not encoded: {e}")))
}

/// A request of the crate `http`.
impl<T: Into<Body>> TryFrom<http::Request<T>> for Request {
    type Error = Error;

    fn try_from(request: http::Request<T>) -> Result<Request, Error> {
        let (head, body) = request.into_parts();
        let mut request = Request::to(head.method, head.uri)?;
        (request.headers, request.body) = (head.headers, body.into());
        Ok(request)
    }
}

impl fmt::Debug for Request {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Request")
            .field("method", &self.method)
            .field("url", &self.url)
            .field("headers", &self.headers)
            .field("body", &self.body)
            .finish_non_exhaustive()
    }
}

/// Defines the settings that requests, uploads and downloads share, for a builder with `edit_request`. The
/// texts in braces are documentation: `scope` says which requests of the builder a value is for.
macro_rules! common_settings {
    (
        $builder:ident
        scope { $(#[$scope:meta])* }
        explain { $(#[$explain:meta])* }
        option { $(#[$option:meta])* }
    ) => {
        impl $builder {
            /// Adds a header field (HTTP). An invalid name or value is reported when the request is sent.
            $(#[$scope])*
            pub fn header<K, V>(self, name: K, value: V) -> Self
            where
                K: TryInto<http::HeaderName>,
                K::Error: Into<http::Error>,
                V: TryInto<http::HeaderValue>,
                V::Error: Into<http::Error>,
            {
                self.edit_request(|request| request.add_header(name, value))
            }

            /// Sets user and password, sent with the first request (HTTP's Basic, or the login of other
            /// protocols).
            $(#[$scope])*
            pub fn basic_auth<U, P>(self, user: U, password: Option<P>) -> Self
            where
                U: std::fmt::Display,
                P: std::fmt::Display,
            {
                self.with_request(|request| request.log_in(user, password, tables::constant::CURLAUTH_BASIC))
            }

            /// Sets a bearer token (RFC 6750).
            $(#[$scope])*
            pub fn bearer_auth<T: std::fmt::Display>(self, token: T) -> Self {
                self.with_request(|request| request.set_token(&token.to_string()))
            }

            /// Sets the priority among requests of the same client (HTTP), which servers and proxies may
            /// schedule by.
            $(#[$scope])*
            pub fn priority(self, priority: crate::Priority) -> Self {
                self.with_request(|request| request.options.choices.priority = Some(priority))
            }

            $(#[$explain])*
            pub fn explain(self, reasons: impl Into<crate::Reasons>) -> Self {
                self.with_request(|request| request.options.explain = Some(reasons.into()))
            }

            $(#[$option])*
            pub fn option(self, option: tables::EasyOption, value: impl Into<crate::PlainValue>) -> Self {
                self.with_request(|request| request.options.set(option, value))
            }

            fn with_request(self, change: impl FnOnce(&mut crate::client::Request)) -> Self {
                self.edit_request(|request| {
                    change(request);
                    Ok(())
                })
            }
        }
    };
}

pub(crate) use common_settings;

/// Defines the methods of a request's builder. Its field `request` is a result with a [`Request`].
macro_rules! request_settings {
    ($builder:ident) => {
        crate::client::request::common_settings! {
            $builder
            scope {}
            explain {
                /// Sets which reasons of the transfer are kept, or by `true` and `false` whether any are:
                /// [`Response::why`](crate::Response::why) and [`Error::why`](crate::Error::why) return them.
            }
            option {
                /// Sets any option of curl's (<https://curl.se/libcurl/c/curl_easy_setopt.html>). URL,
                /// method, header fields and body are not set this way: the request's own override them.
                /// [`send`](Self::send) reports an option that is refused.
            }
        }

        impl $builder {
            /// Sets header fields and replaces earlier ones of the same names.
            pub fn headers(self, headers: http::HeaderMap) -> Self {
                self.with_request(|request| request.set_headers(headers))
            }

            /// Adds names and values to the URL's query: a struct, a map, or a sequence of pairs.
            pub fn query<T: serde::Serialize + ?Sized>(self, query: &T) -> Self {
                self.edit_request(|request| request.add_query(query))
            }

            /// Sets the body. No Content-Type is added; set it with [`header`](Self::header).
            pub fn body(self, body: impl Into<Body>) -> Self {
                self.with_request(|request| request.set_body(body.into()))
            }

            /// Sends names and values as a form (application/x-www-form-urlencoded).
            pub fn form<T: serde::Serialize + ?Sized>(self, form: &T) -> Self {
                self.edit_request(|request| request.set_form(form))
            }

            /// Sends a form of parts (multipart/form-data).
            pub fn multipart(self, form: multipart::Form) -> Self {
                self.with_request(|request| request.set_parts(form))
            }

            /// Sends a value as JSON.
            #[cfg(feature = "json")]
            pub fn json<T: serde::Serialize + ?Sized>(self, value: &T) -> Self {
                self.edit_request(|request| request.set_json(value))
            }

            /// Sets user and password, for the best method that the server offers (Digest, NTLM, Negotiate
            /// …). The first request is sent without them to find out.
            pub fn any_auth<U: Display, P: Display>(self, user: U, password: Option<P>) -> Self {
                self.with_request(|request| request.log_in(user, password, tables::constant::CURLAUTH_ANY))
            }

            /// Adds a cookie to those of the client's store.
            pub fn cookie(self, name: &str, value: &str) -> Self {
                self.edit_request(|request| request.add_cookie(name, value))
            }

            /// Limits the time of the request in place of the client's limit; `None` is no limit.
            pub fn timeout(self, limit: impl Into<Option<Duration>>) -> Self {
                let limit = limit.into();
                self.with_request(|request| request.options.set_timeout(EasyOption::TimeoutMs, limit))
            }

            /// Sets the HTTP version. HTTP/2 is negotiated, HTTP/3 is raced against TCP.
            pub fn version(self, version: http::Version) -> Self {
                self.edit_request(|request| request.set_version(version))
            }

            /// Limits the received body that waits to be read, in place of the client's limit.
            pub fn window(self, bytes: usize) -> Self {
                self.with_request(|request| request.options.window = Some(bytes))
            }

            /// Returns the request, or the error of the first invalid value.
            pub fn build(self) -> Result<Request, Error> {
                self.request
            }

            /// Copies the builder. `None` if the body is a stream or a reader, or if a value was invalid.
            pub fn try_clone(&self) -> Option<Self> {
                let request = self.request.as_ref().ok()?.try_clone()?;
                Some(Self { client: self.client.clone(), request: Ok(request) })
            }

            fn edit_request(mut self, change: impl FnOnce(&mut Request) -> Result<(), Error>) -> Self {
                if let Ok(request) = &mut self.request
                    && let Err(error) = change(request)
                {
                    let url = request.url().clone();
                    self.request = Err(error.at(url, RequestPhase::Nothing));
                }
                self
            }
        }
    };
}

pub(crate) use request_settings;

/// The names that [`request_settings`] needs where it is used.
pub(crate) mod names {
    pub(crate) use super::super::error::{Error, RequestPhase};
    pub(crate) use super::super::multipart;
    pub(crate) use super::super::{body::Body, request::Request};
    pub(crate) use std::fmt::Display;
    pub(crate) use std::time::Duration;
    pub(crate) use tables::EasyOption;
}
