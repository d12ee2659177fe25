//! A watched URL: how it is polled, and what its transfers are.

use std::hash::{BuildHasher, RandomState};
use std::rc::Rc;
use std::time::{Duration, Instant};

use crate::Easy;
use crate::info::get;
use crate::repeated_query::{Answer, Answered, RepeatedQuery, Wish};
use crate::stores::headers::Origin;
use tables::{Code, EasyOption as O, Info};
use wire::url::{Part, Url, flag};

use super::detect::{Condition, Detector, Stamp};
use super::event_stream::EventStream;
use super::latency::Latencies;
use super::mailbox::Mailbox;
use super::reception::{News, Reception};
use crate::error::{Failure, refused_option};

/// How a URL is polled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// Size and time are asked for (FTP, SFTP, SCP, FILE).
    Described,
    /// A conditional GET (HTTP).
    Conditional,
    /// The content is fetched each time.
    Content,
    /// The server reports what happens in a mailbox (IMAP).
    Mailbox,
}

/// The step of a poll.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Nothing runs.
    Rest,
    /// Size and time.
    Describe,
    /// The content.
    Fetch,
}

/// The result of a transfer.
#[derive(Debug)]
pub enum Outcome {
    /// The marks of a file.
    Stamp(Stamp),
    /// The content with its marks, and a hash of it.
    Content(Stamp, u64),
    /// HTTP's 304.
    NotModified,
    /// There is no such file.
    Absent,
    /// A failure, and the pause that the server has asked for.
    Failed(Failure, Option<Duration>),
}

/// A watched URL.
pub struct Target {
    pub url: String,
    /// Scheme, host and port.
    pub server: String,
    pub easy: Easy,
    pub reception: Rc<Reception>,
    pub method: Method,
    pub phase: Phase,
    /// The marks that the first step of the poll has seen.
    pub seen: Stamp,
    pub detector: Detector,
    pub latencies: Latencies,
    pub events: EventStream,
    pub mailbox: Mailbox,
    pub begun: Instant,
    /// CURLINFO_CONN_ID of the last transfer, and whether the poll has opened a connection.
    pub connection: i64,
    pub opened: bool,
    pub answered_at: Option<Instant>,
    pub changed_at: Option<Instant>,
    pub failure: Option<Failure>,
    /// The header fields of the options, and what is set beside them now.
    fields: Vec<Rc<[u8]>>,
    added: Option<Vec<u8>>,
    hashes: RandomState,
    /// The query that a transfer repeats (FTP).
    query: Rc<RepeatedQuery>,
    /// Whether that transfer has answered a query.
    pub repeats: bool,
    /// Whether the content is fetched when that transfer has ended.
    pub fetch_follows: bool,
}

/// The place of a URL, as far as polls need it.
struct Place {
    scheme: String,
    server: String,
    /// A path that ends in a slash, or a listing by type.
    is_folder: bool,
}

impl Place {
    fn of(url: &str) -> Result<Place, Failure> {
        let bad = |_| Failure { code: Code::UrlMalformat, message: format!("{url:?} is no URL") };
        let parsed = Url::parse(url.as_bytes(), flag::GUESS_SCHEME).map_err(|e| match e {
            wire::url::UrlError::UnsupportedScheme => Failure {
                code: Code::UnsupportedProtocol,
                message: format!("the protocol of {url:?} is not supported"),
            },
            other => bad(other),
        })?;
        let part = |part, flags| {
            let text = parsed.get(part, flags).unwrap_or_default();
            String::from_utf8_lossy(&text).into_owned()
        };
        let scheme = part(Part::Scheme, 0).to_ascii_lowercase();
        let (host, port) = (part(Part::Host, 0), part(Part::Port, flag::DEFAULT_PORT));
        let path = part(Part::Path, 0);
        let listed = [";type=d", ";type=D"].iter().any(|end| path.ends_with(end));
        Ok(Place {
            server: format!("{scheme}://{}:{port}", host.to_ascii_lowercase()),
            is_folder: path.ends_with('/') || listed,
            scheme,
        })
    }

    fn method(&self) -> Method {
        match self.scheme.as_str() {
            "http" | "https" => Method::Conditional,
            "imap" | "imaps" => Method::Mailbox,
            "ftp" | "ftps" | "sftp" | "scp" | "file" if !self.is_folder => Method::Described,
            _ => Method::Content,
        }
    }
}

impl Target {
    /// Prepares the polls of a URL with the options of `like`, or with the defaults.
    pub fn new(
        number: usize,
        url: &str,
        like: Option<&Easy>,
        limit: usize,
        news: &News,
        answered: &Answered,
    ) -> Result<Target, Failure> {
        let place = Place::of(url)?;
        let method = place.method();
        let reception = Reception::new(number, limit, news.clone());
        let easy = match like {
            Some(like) => like.duplicate(reception.clone()),
            None => Easy::new(reception.clone()),
        };
        easy.set_text(O::Url, Some(url.as_bytes())).map_err(refused_option(O::Url))?;
        let mut numbers = vec![
            (O::NoProgress, 1),
            // The deadline of polls takes its place; streams have none.
            (O::TimeoutMs, 0),
            (O::FailOnError, 0),
            (O::FileTime, i64::from(method == Method::Described)),
        ];
        if like.is_none() {
            numbers.extend([(O::FollowLocation, 1), (O::MaxRedirs, 10)]);
        }
        for (option, number) in numbers {
            easy.state().settings.borrow_mut().set_long(option, number).map_err(refused_option(option))?;
        }
        easy.state().tag.set(number);
        let query = Rc::new(RepeatedQuery::new(number, answered.clone()));
        if method == Method::Described && place.scheme.starts_with("ftp") {
            let _ = easy.state().repeated.set(query.clone());
        }
        let fields = easy.state().settings.borrow().list(O::HttpHeader).iter().cloned().collect();
        Ok(Target {
            url: url.to_owned(),
            server: place.server,
            easy,
            reception,
            method,
            phase: Phase::Rest,
            seen: Stamp::default(),
            detector: Detector::default(),
            latencies: Latencies::default(),
            events: EventStream::default(),
            mailbox: Mailbox::default(),
            begun: Instant::now(),
            connection: -1,
            opened: false,
            answered_at: None,
            changed_at: None,
            failure: None,
            fields,
            added: None,
            hashes: RandomState::new(),
            query,
            repeats: false,
            fetch_follows: false,
        })
    }

    /// Adapts the transfers to the interval: connections stay open from one poll to the next, however long it
    /// is, and a mailbox whose server does not report by itself is polled so often.
    pub fn adapt_to(&self, interval: Duration) {
        self.easy.state().idles.set((self.method == Method::Mailbox).then_some(interval));
        let seconds = i64::try_from(interval.as_secs()).unwrap_or(i64::MAX / 4) * 2 + 60;
        let mut settings = self.easy.state().settings.borrow_mut();
        if settings.long(O::MaxAgeConn) < seconds {
            let set = settings.set_long(O::MaxAgeConn, seconds);
            debug_assert!(set.is_ok(), "seconds are in range");
        }
    }

    /// Begins a poll. Returns whether the transfer of an earlier one answers it; otherwise one is to be
    /// started.
    pub fn begin(&mut self, now: Instant) -> bool {
        (self.begun, self.opened) = (now, false);
        self.phase = if self.method == Method::Described { Phase::Describe } else { Phase::Fetch };
        if self.query.is_waiting() {
            self.query.wish(Wish::Repeat);
            return true;
        }
        self.prepare_first(now);
        false
    }

    /// Prepares the first transfer of a poll.
    pub fn prepare_first(&mut self, now: Instant) {
        self.forget_query();
        if self.method == Method::Conditional {
            self.add_field(now);
        }
        if self.method == Method::Mailbox {
            self.mailbox.restart();
        }
        self.prepare();
    }

    /// Prepares the transfer of the content, after that of the marks.
    pub fn begin_fetch(&mut self) {
        self.phase = Phase::Fetch;
        self.prepare();
    }

    /// Ends the transfer that repeats a query, so that the content can be fetched on its connection. Returns
    /// whether there is one.
    pub fn end_query(&mut self) -> bool {
        self.fetch_follows = self.query.is_waiting();
        if self.fetch_follows {
            self.query.wish(Wish::End);
        }
        self.fetch_follows
    }

    /// Forgets the transfer that repeated a query.
    pub fn forget_query(&mut self) {
        self.query.clear();
        (self.repeats, self.fetch_follows) = (false, false);
    }

    fn prepare(&mut self) {
        if matches!(self.method, Method::Described | Method::Content) {
            let describes = i64::from(self.phase == Phase::Describe);
            let set = self.easy.state().settings.borrow_mut().set_long(O::NoBody, describes);
            debug_assert!(set.is_ok(), "a switch takes both values");
        }
        self.reception.begin(self.method == Method::Mailbox);
    }

    /// Sets the field that makes the request conditional, or continues an event stream.
    fn add_field(&mut self, now: Instant) {
        let wanted = match self.detector.condition(now) {
            Some(Condition::NoneMatch(etag)) => Some([b"If-None-Match: ", &etag[..]].concat()),
            Some(Condition::ModifiedSince(time)) => {
                Some(format!("If-Modified-Since: {}", wire::date::http(time)).into_bytes())
            }
            None => match self.events.last_id() {
                "" => None,
                id => Some(format!("Last-Event-ID: {id}").into_bytes()),
            },
        };
        if wanted != self.added {
            let field = wanted.as_deref().map(Rc::from);
            let fields = self.fields.iter().cloned().chain(field).collect();
            let set = self.easy.state().settings.borrow_mut().set_list(O::HttpHeader, Some(fields));
            debug_assert!(set.is_ok(), "any list of texts is one of fields");
            self.added = wanted;
        }
    }

    /// Returns whether the transfer of this URL lasts until the next poll, and notices a closed connection.
    pub fn lasts(&self) -> bool {
        self.query.is_waiting()
    }

    /// Reads the answer to a repeated query.
    pub fn answer(&mut self) -> Option<Outcome> {
        let answer = self.query.take_answer()?;
        if !std::mem::replace(&mut self.repeats, true) {
            self.note_connection();
        }
        Some(match answer {
            Answer::Present { modified, size } => Outcome::Stamp(Stamp { modified, size, etag: None }),
            Answer::Absent => Outcome::Absent,
        })
    }

    fn note_connection(&mut self) {
        let number = |info| get(&self.easy, info).number();
        self.opened |= number(Info::NumConnects) > 0;
        self.connection = number(Info::ConnId);
    }

    /// Reads the result of a transfer that has ended.
    pub fn outcome(&mut self, code: Code) -> Outcome {
        self.note_connection();
        let number = |info| get(&self.easy, info).number();
        if self.reception.has_overflowed() {
            let message = "the content is larger than the limit".to_owned();
            return Outcome::Failed(Failure { code: Code::FilesizeExceeded, message }, None);
        }
        if self.is_absence(code) {
            return Outcome::Absent;
        }
        if code != Code::Ok {
            let message = match self.easy.state().message() {
                text if text.is_empty() => code.text().to_owned(),
                text => text,
            };
            return Outcome::Failed(Failure { code, message }, None);
        }
        if self.phase == Phase::Describe {
            return Outcome::Stamp(self.stamp());
        }
        if self.method == Method::Conditional
            && let Some(outcome) = self.by_status(number(Info::ResponseCode))
        {
            return outcome;
        }
        let stamp = match self.method {
            Method::Conditional => self.http_stamp(),
            Method::Described => self.seen.clone(),
            Method::Content | Method::Mailbox => Stamp::default(),
        };
        let hash = self.reception.with_body(|body| self.hashes.hash_one(body));
        Outcome::Content(stamp, hash)
    }

    /// Returns whether a code means that there is no such file.
    fn is_absence(&self, code: Code) -> bool {
        match code {
            // A folder of the path is missing.
            Code::RemoteAccessDenied => self.server.starts_with("ftp"),
            Code::RemoteFileNotFound => self.method != Method::Mailbox,
            Code::FtpCouldntRetrFile | Code::FileCouldntReadFile | Code::TftpNotfound => true,
            _ => false,
        }
    }

    /// Judges a status other than a success.
    fn by_status(&self, status: i64) -> Option<Outcome> {
        match status {
            200..=299 => None,
            304 => Some(Outcome::NotModified),
            404 | 410 => Some(Outcome::Absent),
            status => {
                let seconds = get(&self.easy, Info::RetryAfter).number();
                let pause = u64::try_from(seconds).ok().filter(|seconds| *seconds > 0);
                let message = format!("the server answers with status {status}");
                let failure = Failure { code: Code::HttpReturnedError, message };
                Some(Outcome::Failed(failure, pause.map(|seconds| Duration::from_secs(seconds.min(3600)))))
            }
        }
    }

    /// Reads the marks after a transfer without a body.
    fn stamp(&self) -> Stamp {
        let number = |info| get(&self.easy, info).number();
        Stamp {
            modified: Some(number(Info::FileTimeT)).filter(|time| *time >= 0),
            size: u64::try_from(number(Info::ContentLengthDownloadT)).ok(),
            etag: None,
        }
    }

    fn http_stamp(&self) -> Stamp {
        let headers = self.easy.state().headers.borrow();
        let fields = headers.of(Origin::Header as u32, headers.last_request());
        let field = |name: &[u8]| {
            fields
                .iter()
                .find(|(_, field)| field.name.eq_ignore_ascii_case(name))
                .map(|(_, field)| field.value)
        };
        let modified = field(b"last-modified").and_then(wire::date::parse);
        let size = self.reception.with_body(<[u8]>::len);
        Stamp { modified, size: Some(size as u64), etag: field(b"etag").map(<[u8]>::to_vec) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_scheme_selects_the_method() {
        let rows = [
            ("http://a/", Method::Conditional, "http://a:80"),
            ("https://A:8443/x", Method::Conditional, "https://a:8443"),
            ("ftp://u:p@a/f", Method::Described, "ftp://a:21"),
            ("ftp://a/d/", Method::Content, "ftp://a:21"),
            ("ftp://a/d;type=d", Method::Content, "ftp://a:21"),
            ("sftp://a/f", Method::Described, "sftp://a:22"),
            ("imaps://a/INBOX", Method::Mailbox, "imaps://a:993"),
            ("file:///etc/passwd", Method::Described, "file://:0"),
        ];
        for (url, method, server) in rows {
            let place = Place::of(url).unwrap();
            assert_eq!((place.method(), &*place.server), (method, server), "{url}");
        }
        assert_eq!(Place::of("http://a b/").err().map(|e| e.code), Some(Code::UrlMalformat));
        assert_eq!(Place::of("nosuch://a/").err().map(|e| e.code), Some(Code::UnsupportedProtocol));
    }
}
