//! `--upload-protocol`: an upload over HTTP as a series of requests, which `upload::http` chooses.

use super::{Transfer, Uploading};
use crate::bytes::Bytes;
use crate::raw::upload::Protocol;
use crate::raw::upload::http::{Answer, HttpUpload, Next, Request};
use crate::raw::{Easy, EasyOption as O, Url, UrlPart, url_flag};
use std::cell::{Cell, RefCell};

/// CURLE_HTTP_RETURNED_ERROR
const HTTP_ERROR: i32 = 22;
/// CURLE_RANGE_ERROR
const RANGE_ERROR: i32 = 33;

const METADATA: &[u8] = b"upload-metadata";

/// The consequence of a request of an upload.
pub enum UploadStep {
    /// Another request follows at once.
    Request,
    /// The server is busy.
    Later,
    End,
    Failed(i32, String),
}

/// The state of an upload over HTTP.
pub struct HttpUploading {
    machine: RefCell<HttpUpload>,
    /// The user's URL, method and fields.
    url: Bytes,
    method: Option<Bytes>,
    headers: Vec<Bytes>,
    size: Cell<Option<u64>>,
    /// The byte of the source at which the body begins.
    pub(super) base: Cell<u64>,
    /// Whether the user's secrets may go to other hosts.
    trusts_others: bool,
    head: RefCell<Head>,
}

/// The fields of the last head that matter.
#[derive(Default)]
struct Head {
    status: u16,
    offset: Option<Bytes>,
    complete: Option<Bytes>,
    version: Option<Bytes>,
    location: Option<Bytes>,
}

impl Head {
    fn answer(&self) -> Answer<'_> {
        Answer {
            status: self.status,
            offset: self.offset.as_deref(),
            complete: self.complete.as_deref(),
            version: self.version.as_deref(),
            location: self.location.as_deref(),
        }
    }

    /// Takes a line; a status line begins another head.
    fn push(&mut self, line: &[u8]) {
        if line.starts_with(b"HTTP/") {
            let status = line.split(|octet| *octet == b' ').nth(1);
            let status = status.and_then(|digits| std::str::from_utf8(digits).ok()?.trim().parse().ok());
            *self = Head { status: status.unwrap_or(0), ..Head::default() };
            return;
        }
        for (name, field) in [
            ("upload-offset:", &mut self.offset),
            ("upload-complete:", &mut self.complete),
            ("upload-draft-interop-version:", &mut self.version),
            ("location:", &mut self.location),
        ] {
            let start = line.get(..name.len());
            if start.is_some_and(|start| start.eq_ignore_ascii_case(name.as_bytes())) {
                *field = Some(line[name.len()..].trim_ascii().to_vec());
            }
        }
    }
}

/// The parts of a new upload.
pub struct HttpParts {
    pub protocol: Protocol,
    pub url: Bytes,
    pub method: Option<Bytes>,
    pub headers: Vec<Bytes>,
    pub size: Option<u64>,
    pub name: Bytes,
    pub trusts_others: bool,
    /// The URL of an upload that an earlier command has begun.
    pub resource: Option<Bytes>,
}

impl HttpUploading {
    pub fn new(parts: HttpParts) -> HttpUploading {
        let HttpParts { protocol, url, method, headers, size, name, trusts_others, resource } = parts;
        HttpUploading {
            machine: RefCell::new(HttpUpload::new(protocol, size, &name, resource)),
            url,
            method,
            headers,
            size: Cell::new(size),
            base: Cell::new(0),
            trusts_others,
            head: RefCell::default(),
        }
    }

    /// Returns the URL of the upload. Logins and fields of the user go there, so it must be at the same
    /// server unless the user trusts others.
    fn resource(&self) -> Result<Option<Bytes>, String> {
        let machine = self.machine.borrow();
        let Some(location) = machine.location() else { return Ok(None) };
        let bad = || "The server names an invalid URL for the upload".to_owned();
        let base = Url::parse(&self.url, url_flag::GUESS_SCHEME).map_err(|_| bad())?;
        let mut url = base.clone();
        url.set(UrlPart::Url, Some(location), 0).map_err(|_| bad())?;
        let part = |url: &Url, part| url.get(part, url_flag::DEFAULT_PORT).unwrap_or_default();
        let origin = |url: &Url| {
            let host = part(url, UrlPart::Host).to_ascii_lowercase();
            (part(url, UrlPart::Scheme), host, part(url, UrlPart::Port))
        };
        if origin(&base) != origin(&url) && !self.trusts_others {
            let (scheme, host, port) = origin(&url);
            let at = [scheme.as_slice(), b"://", &host, b":", &port].concat();
            let at = String::from_utf8_lossy(&at).into_owned();
            return Err(format!(
                "The server names {at} for the upload, which is another server; --location-trusted allows it"
            ));
        }
        if origin(&base) == origin(&url) {
            for login in [UrlPart::User, UrlPart::Password] {
                let _ = url.set(login, base.get(login, 0).ok().as_deref(), 0);
            }
        }
        url.get(UrlPart::Url, url_flag::NO_GUESS_SCHEME).map(Some).map_err(|_| bad())
    }

    /// Returns the fields of a request: the user's, and those of the protocol in place of his.
    fn fields(&self, request: &Request) -> Vec<Bytes> {
        let name = |line: &[u8]| {
            let end = line.iter().position(|octet| matches!(octet, b':' | b';')).unwrap_or(line.len());
            line[..end].to_ascii_lowercase()
        };
        let own: Vec<Bytes> = request.fields.iter().map(|field| field.clone().into_bytes()).collect();
        // A name for the file may be the user's.
        let has_metadata = self.headers.iter().any(|line| name(line) == METADATA);
        let own: Vec<Bytes> =
            own.into_iter().filter(|field| !has_metadata || name(field) != METADATA).collect();
        let users = self.headers.iter().filter(|line| match name(line) {
            of_user if of_user == METADATA => !request.to_resource,
            of_user => own.iter().all(|field| name(field) != of_user),
        });
        users.chain(&own).cloned().collect()
    }

    fn set(&self, easy: &Easy) -> Result<(), String> {
        let request = self.machine.borrow().request();
        let url = if request.to_resource { self.resource()? } else { None };
        let size = match request.body {
            Some(from) => self.size.get().map_or(-1, |size| size.saturating_sub(from) as i64),
            None => 0,
        };
        self.base.set(request.body.unwrap_or(0));
        let method = match request.method {
            Some("HEAD") => None,
            Some(method) => Some(method.as_bytes().to_vec()),
            None => self.method.clone(),
        };
        let head = request.method == Some("HEAD");
        let fields = self.fields(&request);
        let set = [
            easy.set(O::Url, url.unwrap_or_else(|| self.url.clone())),
            easy.set(O::Upload, i64::from(!head)),
            easy.set(O::NoBody, i64::from(head)),
            // A HEAD that ends makes a GET.
            easy.set(O::Upload, i64::from(!head)),
            easy.set(O::NoBody, i64::from(head)),
            easy.set(O::InFileSizeLarge, size),
            easy.set(O::HttpHeader, fields),
            easy.set(O::CustomRequest, method),
        ];
        debug_assert!(set.iter().all(Result::is_ok), "{set:?}");
        Ok(())
    }
}

impl Transfer {
    fn with_http<R>(&self, run: impl FnOnce(&HttpUploading, Option<&Uploading>) -> R) -> Option<R> {
        let resuming = self.resuming.borrow();
        let resuming = resuming.as_ref()?;
        resuming.http.as_ref().map(|http| run(http, resuming.uploading.as_ref()))
    }

    /// Takes a line of a head. The URL of the upload may come while the body is being sent (104).
    pub(super) fn note_upload_head(&self, line: &[u8]) {
        self.with_http(|http, uploading| {
            let mut head = http.head.borrow_mut();
            head.push(line);
            let is_end = matches!(line, b"\r\n" | b"\n");
            if is_end && http.machine.borrow_mut().informed(&head.answer()) {
                self.keep_resource(http, uploading);
            }
        });
    }

    fn keep_resource(&self, http: &HttpUploading, uploading: Option<&Uploading>) {
        if let (Ok(Some(resource)), Some(uploading)) = (http.resource(), uploading) {
            uploading.keep(&self.env, &resource);
        }
    }

    /// Returns whether a reply's body is that of the upload's end.
    pub(super) fn is_upload_reply(&self) -> Option<bool> {
        self.with_http(|http, _| {
            let sends = http.machine.borrow().request().body.is_some();
            sends && http.head.borrow().status / 100 == 2
        })
    }

    /// Returns the byte of the source at which the body begins.
    pub(super) fn upload_base(&self) -> u64 {
        self.with_http(|http, _| http.base.get()).unwrap_or(0)
    }

    /// After a request of an upload that was answered: returns what follows.
    pub fn upload_answered(&self, code: i32) -> Option<UploadStep> {
        if !matches!(code, 0 | HTTP_ERROR) {
            return None;
        }
        self.with_http(|http, uploading| {
            let next = http.machine.borrow_mut().answered(&http.head.borrow().answer());
            match next {
                Next::Request => match http.resource() {
                    Err(why) => UploadStep::Failed(HTTP_ERROR, why),
                    Ok(Some(resource)) => {
                        uploading.inspect(|uploading| uploading.keep(&self.env, &resource));
                        UploadStep::Request
                    }
                    Ok(None) => UploadStep::Request,
                },
                Next::Later => UploadStep::Later,
                Next::End => UploadStep::End,
                Next::Refused(status) => {
                    UploadStep::Failed(HTTP_ERROR, format!("The requested URL returned error: {status}"))
                }
                Next::Failed(why) => UploadStep::Failed(RANGE_ERROR, why),
            }
        })
    }

    /// Sets the next request of an upload over HTTP.
    pub fn set_upload_request(&self, easy: &Easy) {
        self.with_http(|http, _| {
            if let Err(why) = http.set(easy) {
                self.env.warn(&why);
                http.machine.borrow_mut().restart(http.size.get());
                let set = http.set(easy);
                debug_assert!(set.is_ok(), "the user's URL is known");
            }
            *http.head.borrow_mut() = Head::default();
        });
        let sought = self.upload.borrow_mut().seek(self.upload_base());
        debug_assert!(sought.is_ok(), "a file, or what was stored of a stream");
    }

    /// Prepares another attempt of an upload over HTTP, perhaps of a source of another size. Returns false
    /// for other transfers.
    pub(super) fn repeats_http_upload(&self, changed: Option<u64>) -> bool {
        let is_one = self.with_http(|http, _| match changed {
            Some(size) => {
                http.size.set(Some(size));
                http.machine.borrow_mut().restart(Some(size));
            }
            None => http.machine.borrow_mut().interrupted(),
        });
        if let (Some(()), Some(easy)) = (is_one, self.easy.borrow().as_ref()) {
            self.set_upload_request(easy);
        }
        is_one.is_some()
    }
}
