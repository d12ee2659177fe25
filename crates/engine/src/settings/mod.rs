//! What the application asked for: one value per option, kept until it is changed or reset.
//! Transfer state lives elsewhere and is made anew each time, so that nothing stale survives.
//!
//! Values are stored by option number (`values`); [`set`](Settings::set_long) checks ranges and folds the pairs
//! of options that mean the same (seconds and milliseconds, long and curl_off_t) into one slot.

pub mod ech;
pub mod given;
mod pipelining;
mod support;
mod values;
mod websocket;

use std::cell::Cell;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use net::filter::open::LocalBinding;
use net::tls::Module;
use tables::constant::{CURL_HTTP_VERSION_3, CURL_HTTP_VERSION_3ONLY, CURLULFLAG_SEEN};
use tables::{ArgKind, Code, EasyOption as O, Scheme};

pub use pipelining::{FtpPipelining, SmtpPipelining};
pub use support::{HTTP2_BUILT, SCHEMES_BUILT, SCHEMES_KNOWN, Support, support};
pub use values::Value;
use values::Values;
pub use websocket::WebSocketOptions;

use crate::Error;
use crate::mime::MimeSource;

/// A text or a piece of binary data that the application gave; not necessarily UTF-8.
pub type Text = Rc<[u8]>;

/// The same text for a copied handle: the two may be used by different threads, and `Rc` counts aren't atomic.
pub fn own_text(text: &Text) -> Text {
    Text::from(&text[..])
}

/// Longest string that an option takes (CURL_MAX_INPUT_LENGTH).
pub const MAX_INPUT_LENGTH: usize = 8_000_000;

/// Which kind of request the last method option asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Method {
    /// Fetch.
    #[default]
    Get,
    /// Fetch the head only.
    Head,
    /// Fields or read callback.
    Post,
    /// A multipart form.
    PostMime,
    /// Upload.
    Put,
}

impl Method {
    /// Its name in HTTP.
    pub fn verb(self) -> &'static str {
        match self {
            Method::Get => "GET",
            Method::Head => "HEAD",
            Method::Post | Method::PostMime => "POST",
            Method::Put => "PUT",
        }
    }
}

/// All options of an easy handle.
#[derive(Clone)]
pub struct Settings {
    values: Values,
    /// The list that is not set: asked for in every transfer, made once.
    nothing: Rc<[Text]>,
    generation: u64,
    route: u64,
    way: u64,
    /// What is made now is kept until an option changes that counts for it: no other may be asked for.
    routing: Cell<Routing>,
    websocket: Option<WebSocketOptions>,
    tls_hook: Option<[usize; 2]>,
    /// What CURLOPT_SSLENGINE named.
    tls_module: Option<Arc<Module>>,
    /// The method that the last of POST, UPLOAD, HTTPGET, NOBODY, MIMEPOST … chose.
    pub method: Method,
    /// The multipart form, when one is set.
    pub mime: Option<Rc<dyn MimeSource>>,
    /// The parsed URL of CURLOPT_CURLU, which goes before CURLOPT_URL.
    pub url_handle: Option<Rc<dyn Fn() -> wire::url::Url>>,
    /// COPYPOSTFIELDS' own copy; POSTFIELDS stays the application's memory.
    pub copied_post_fields: Option<Text>,
}

/// What is being made of the settings, and will be kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Routing {
    #[default]
    Nothing,
    /// The URL, or anything else until [`Settings::route`] changes.
    Route,
    /// The way to a host.
    Way,
}

impl Routing {
    fn allows(self, option: O) -> bool {
        match self {
            Routing::Nothing => true,
            Routing::Route => option.routes(),
            Routing::Way => option.routes() && option != O::Url,
        }
    }
}

/// Numbers states of settings, unique in the process: a copied or reset handle never has an old number.
fn next_generation() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

impl Default for Settings {
    fn default() -> Self {
        let generation = next_generation();
        Settings {
            values: Values::default(),
            nothing: Rc::from([]),
            generation,
            route: generation,
            way: generation,
            routing: Cell::default(),
            websocket: None,
            tls_hook: None,
            tls_module: None,
            method: Method::Get,
            mime: None,
            url_handle: None,
            copied_post_fields: None,
        }
    }
}

impl Settings {
    #[inline]
    fn value(&self, option: O) -> &Value {
        debug_assert!(
            self.routing.get().allows(option),
            "{} makes the route: let its row say so",
            option.name()
        );
        self.values.get(option)
    }

    /// A number, or its default.
    #[inline]
    pub fn long(&self, option: O) -> i64 {
        match self.value(option) {
            Value::Long(n) => *n,
            _ => default_long(option),
        }
    }

    /// Whether a boolean option is on.
    #[inline]
    pub fn on(&self, option: O) -> bool {
        self.long(option) != 0
    }

    /// A string or blob.
    #[inline]
    pub fn text(&self, option: O) -> Option<Text> {
        match self.value(option) {
            Value::Text(t) => Some(t.clone()),
            _ => None,
        }
    }

    /// A string that must be UTF-8 to mean anything (a host, a path of ours, a list of names).
    pub fn string(&self, option: O) -> Option<String> {
        self.text(option).map(|t| String::from_utf8_lossy(&t).into_owned())
    }

    /// A string list; empty when not set.
    pub fn list(&self, option: O) -> Rc<[Text]> {
        match self.value(option) {
            Value::List(l) => l.clone(),
            _ => self.nothing.clone(),
        }
    }

    /// Whether a value was given at all.
    #[inline]
    pub fn is_set(&self, option: O) -> bool {
        !matches!(self.value(option), Value::Unset)
    }

    /// A copy that shares nothing (`own_text`). Forms and URL handles are the owner's to set anew.
    pub fn own_copy(&self) -> Settings {
        let own = |value: &Value| match value {
            Value::Unset => Value::Unset,
            Value::Long(number) => Value::Long(*number),
            Value::Text(value) => Value::Text(own_text(value)),
            Value::List(list) => Value::List(list.iter().map(own_text).collect()),
        };
        let generation = next_generation();
        Settings {
            values: self.values.map(own),
            nothing: Rc::from([]),
            generation,
            route: generation,
            way: generation,
            routing: Cell::default(),
            websocket: self.websocket,
            tls_hook: self.tls_hook,
            tls_module: self.tls_module.clone(),
            method: self.method,
            mime: None,
            url_handle: None,
            copied_post_fields: self.copied_post_fields.as_ref().map(own_text),
        }
    }

    /// warmwire_websocket(); `None` is what the environment says.
    pub fn set_websocket(&mut self, options: Option<WebSocketOptions>) {
        self.websocket = options;
        self.changed_entirely();
    }

    /// CURLOPT_SSL_CTX_FUNCTION and its data, by which connections are told apart that they have changed; `None` when there is
    /// no function.
    pub fn set_tls_hook(&mut self, hook: Option<[usize; 2]>) {
        if self.tls_hook != hook {
            self.tls_hook = hook;
            self.changed_entirely();
        }
    }

    /// What [`set_tls_hook`](Self::set_tls_hook) was told.
    pub fn tls_hook(&self) -> Option<[usize; 2]> {
        self.tls_hook
    }

    fn set_tls_module(&mut self, module: Option<Arc<Module>>) {
        self.tls_module = module;
        self.changed_entirely();
    }

    /// The engine or the provider that CURLOPT_SSLENGINE named.
    pub fn tls_module(&self) -> Option<&Arc<Module>> {
        self.tls_module.as_ref()
    }

    /// Whether a function is to be shown OpenSSL's own context, or a key is where only OpenSSL finds it.
    pub fn is_for_openssl(&self) -> bool {
        let elsewhere = |option| {
            let kind = self.text(option);
            kind.is_some_and(|kind| kind.eq_ignore_ascii_case(b"ENG") || kind.eq_ignore_ascii_case(b"PROV"))
        };
        self.tls_hook.is_some()
            || self.tls_module.is_some()
            || elsewhere(O::Sslcerttype)
            || elsewhere(O::Sslkeytype)
    }

    /// What a WebSocket may try beyond curl's.
    pub fn websocket(&self) -> WebSocketOptions {
        self.websocket.unwrap_or_else(WebSocketOptions::of_process)
    }

    /// Counts changes: equal numbers mean equal settings.
    pub fn generation(&self) -> u64 {
        self.generation
    }

    /// Counts changes of what the URL and the way to its host are made from.
    pub fn route(&self) -> u64 {
        self.route
    }

    /// Runs `make`, whose result will be kept until [`route`](Self::route) changes.
    pub fn for_route<R>(&self, make: impl FnOnce() -> R) -> R {
        self.making(Routing::Route, make)
    }

    /// Counts changes of what the way to a host is made from, besides the URL.
    pub fn way(&self) -> u64 {
        self.way
    }

    /// Runs `make`, whose result will be kept until [`way`](Self::way) changes, for URLs of one authority.
    pub fn for_way<R>(&self, make: impl FnOnce() -> R) -> R {
        self.making(Routing::Way, make)
    }

    fn making<R>(&self, routing: Routing, make: impl FnOnce() -> R) -> R {
        self.routing.set(routing);
        let made = make();
        self.routing.set(Routing::Nothing);
        made
    }

    /// Many programs set all their options before each request: an equal value is no change.
    fn put(&mut self, option: O, value: Value) {
        if *self.values.get(option) != value {
            self.values.put(option, value);
            self.changed(option);
        }
    }

    fn put_text(&mut self, option: O, value: Option<&[u8]>) {
        let same = match (self.values.get(option), value) {
            (Value::Text(known), Some(value)) => **known == *value,
            _ => false,
        };
        if !same {
            self.put(option, value.map_or(Value::Unset, |v| Value::Text(v.into())));
        }
    }

    /// What is no option was changed, and a request may go another way for it.
    fn changed_entirely(&mut self) {
        self.generation = next_generation();
        (self.route, self.way) = (self.generation, self.generation);
    }

    fn changed(&mut self, option: O) {
        self.generation = next_generation();
        if option.routes() {
            self.route = self.generation;
        }
        if option.routes() && option != O::Url {
            self.way = self.generation;
        }
    }

    /// Sets a number option.
    pub fn set_long(&mut self, option: O, value: i64) -> Result<(), Code> {
        support(option).answer(false)?;
        if !matches!(option.kind(), ArgKind::Long | ArgKind::Values | ArgKind::OffT) {
            return Err(Code::BadFunctionArgument);
        }
        if let Some(result) = self.set_method(option, value) {
            return result;
        }
        if option == O::SslengineDefault {
            // Whatever the number: the engine that was chosen becomes everybody's.
            let module = self.tls_module.as_ref();
            return module
                .map_or(Ok(()), |module| module.make_default().map_err(|_| Code::SslEngineSetfailed));
        }
        // Another weight than HTTP/2 has is taken for nothing said.
        if option == O::StreamWeight && !(1..=256).contains(&value) {
            return Ok(());
        }
        let (option, value) = folded(option, value)?;
        check_range(option, value)?;
        self.put(option, Value::Long(value));
        Ok(())
    }

    /// The copy of COPYPOSTFIELDS is void; what is posted is asked for.
    pub fn forget_copied_post_fields(&mut self) {
        self.copied_post_fields = None;
    }

    /// Sets a string or blob option; `None` resets it.
    pub fn set_text(&mut self, option: O, value: Option<&[u8]>) -> Result<(), Code> {
        if option == O::Sslengine && value.unwrap_or_default().is_empty() {
            return Ok(()); // asks for nothing: what was chosen stays, as in curl
        }
        support(option).answer(value.is_none())?;
        let bounded = matches!(option.kind(), ArgKind::String | ArgKind::Blob);
        if bounded && value.is_some_and(|v| v.len() > MAX_INPUT_LENGTH) {
            return Err(Code::BadFunctionArgument);
        }
        if value.is_some_and(|value| !is_address(option, value)) {
            return Err(Code::BadFunctionArgument);
        }
        match option {
            O::Userpwd => return self.set_pair(O::Username, O::Password, value),
            O::Proxyuserpwd => return self.set_pair(O::Proxyusername, O::Proxypassword, value),
            // Two names of one thing.
            O::Socks5GssapiService => return self.set_text(O::ProxyServiceName, value),
            O::Copypostfields => {
                self.copied_post_fields = value.map(Rc::from);
                self.method = Method::Post;
                return Ok(());
            }
            O::ProtocolsStr | O::RedirProtocolsStr => {
                let (bits, read) = value.map_or((None, Ok(())), |list| {
                    let (bits, read) = parse_protocols(list);
                    (Some(bits), read)
                });
                // Of a list with a mistake, what stands before that is allowed, and nothing else: not what was allowed before.
                self.put(protocol_bits(option), bits.map_or(Value::Unset, |bits| Value::Long(bits as i64)));
                return read;
            }
            O::Sslengine => {
                let name = String::from_utf8_lossy(value.unwrap_or_default());
                let module = net::tls::openssl::open(&name).map_err(|e| Error::from(e).code())?;
                self.set_tls_module(Some(Arc::new(module)));
            }
            // Each call says one thing, and they add up.
            O::Ech => {
                let all = value
                    .map(|word| ech::merged(&self.text(O::Ech).unwrap_or_default(), word))
                    .transpose()?;
                self.put_text(option, all.as_deref());
                return Ok(());
            }
            O::AcceptEncoding => {
                // An empty string asks for all encodings that we decode.
                let all = value
                    .map(|v| if v.is_empty() { wire::content_encoding::SUPPORTED.as_bytes() } else { v });
                self.put_text(option, all);
                return Ok(());
            }
            _ => {}
        }
        self.put_text(option, value);
        Ok(())
    }

    /// Sets a list option; `None` resets it.
    pub fn set_list(&mut self, option: O, value: Option<Vec<Text>>) -> Result<(), Code> {
        support(option).answer(value.is_none())?;
        if option.kind() != ArgKind::SList {
            return Err(Code::BadFunctionArgument);
        }
        self.put(option, value.map_or(Value::Unset, |v| Value::List(v.into())));
        Ok(())
    }

    /// CURLOPT_MIMEPOST and CURLOPT_HTTPPOST.
    /// The one before is handed back: freeing it may call the application, which must find nothing borrowed.
    pub fn set_mime(&mut self, mime: Option<Rc<dyn MimeSource>>) -> Option<Rc<dyn MimeSource>> {
        // NULL is a form without parts: the request stays a POST.
        self.method = Method::PostMime;
        self.put(O::Nobody, Value::Long(0));
        std::mem::replace(&mut self.mime, mime)
    }

    /// CURLOPT_POSTFIELDS was set (its memory is asked for through the callbacks).
    pub fn post_fields_given(&mut self) {
        self.copied_post_fields = None;
        self.method = Method::Post;
    }

    /// "user:password" in one string: both halves are set, a missing password is not.
    fn set_pair(&mut self, user: O, password: O, value: Option<&[u8]>) -> Result<(), Code> {
        let (name, secret) = match value {
            None => (Value::Unset, Value::Unset),
            Some(v) => match v.iter().position(|b| *b == b':') {
                Some(at) => (Value::Text(v[..at].into()), Value::Text(v[at + 1..].into())),
                None => (Value::Text(v.into()), Value::Unset),
            },
        };
        self.put(user, name);
        self.put(password, secret);
        Ok(())
    }

    /// The options that choose the request method, each overriding what an earlier one chose.
    fn set_method(&mut self, option: O, value: i64) -> Option<Result<(), Code>> {
        let on = value != 0;
        self.method = match option {
            O::Post if on => Method::Post,
            O::Upload | O::Put if on => Method::Put,
            O::Post | O::Upload | O::Put => Method::Get,
            O::Httpget if on => Method::Get,
            O::Httpget => return Some(Ok(())),
            O::Nobody if on => Method::Head,
            O::Nobody if self.method == Method::Head => Method::Get,
            O::Nobody => self.method,
            _ => return None,
        };
        if matches!(option, O::Nobody | O::Upload | O::Put | O::Post) {
            self.put(option, Value::Long(i64::from(on)));
        }
        if !matches!(option, O::Nobody) && on {
            self.put(O::Nobody, Value::Long(0));
        }
        if !matches!(option, O::Nobody) {
            self.put(O::Upload, Value::Long(i64::from(self.method == Method::Put)));
        }
        Some(Ok(()))
    }

    /// Protocols allowed for the first request, or for redirects: bits as in CURLPROTO_*.
    pub fn protocols(&self, option: O) -> u64 {
        let bits = protocol_bits(option);
        match option {
            _ if self.is_set(bits) => self.long(bits) as u64,
            O::RedirProtocolsStr => default_redirect_protocols(),
            _ => u64::MAX,
        }
    }
}

/// The older option, which says with bits what `option` says with names: both are kept there.
fn protocol_bits(option: O) -> O {
    if option == O::RedirProtocolsStr { O::RedirProtocols } else { O::Protocols }
}

/// "http,https" to bits, as far as it can be read; "all" alone is every scheme. An unknown name is
/// CURLE_UNSUPPORTED_PROTOCOL.
fn parse_protocols(list: &[u8]) -> (u64, Result<(), Code>) {
    if list.eq_ignore_ascii_case(b"all") {
        return (u64::MAX, Ok(()));
    }
    let mut bits = 0;
    for name in list.split(|b| *b == b',').filter(|n| !n.is_empty()) {
        let scheme = std::str::from_utf8(name).ok().and_then(Scheme::from_name).filter(|s| s.built());
        match scheme {
            Some(scheme) => bits |= scheme.bit(),
            None => return (bits, Err(Code::UnsupportedProtocol)),
        }
    }
    (bits, if bits == 0 { Err(Code::BadFunctionArgument) } else { Ok(()) })
}

/// Redirects go to http, https, ftp and ftps unless the application says otherwise.
fn default_redirect_protocols() -> u64 {
    [Scheme::Http, Scheme::Https, Scheme::Ftp, Scheme::Ftps].iter().map(|s| s.bit()).sum()
}

/// Where CURLAUTH_* has schemes; the bit above these changes what the others mean.
const SCHEME_BITS: u64 = 0x7fff_ffff;

/// Basic (a password) and GSSAPI, as CURLAUTH_* bits.
const SOCKS5_WAYS: i64 = 5;

/// Options that say the same in another unit or width share one slot.
fn folded(option: O, value: i64) -> Result<(O, i64), Code> {
    let seconds = |target: O| {
        if value < 0 { Err(Code::BadFunctionArgument) } else { Ok((target, value.saturating_mul(1000))) }
    };
    match option {
        O::Timeout => seconds(O::TimeoutMs),
        O::Connecttimeout => seconds(O::ConnecttimeoutMs),
        O::ServerResponseTimeout => seconds(O::ServerResponseTimeoutMs),
        O::Infilesize => Ok((O::InfilesizeLarge, value)),
        O::ResumeFrom => Ok((O::ResumeFromLarge, value)),
        O::Postfieldsize => Ok((O::PostfieldsizeLarge, value)),
        O::Maxfilesize => Ok((O::MaxfilesizeLarge, value)),
        O::Timevalue => Ok((O::TimevalueLarge, value)),
        // Like curl, 1 and 2 both ask for the check of the name.
        O::SslVerifyhost | O::ProxySslVerifyhost => Ok((option, if value == 1 { 2 } else { value })),
        // What asks for schemes that are not built, and for nothing besides, must not end up asking for none.
        O::Httpauth | O::Proxyauth => {
            let left = value as u64 & !(SCHEMES_KNOWN & !SCHEMES_BUILT) & SCHEME_BITS;
            let refused = value != 0 && left == 0;
            if refused { Err(Code::NotBuiltIn) } else { Ok((option, (value as u64 & SCHEMES_KNOWN) as i64)) }
        }
        O::Maxconnects => Ok((option, value.min(i64::from(i32::MAX)))),
        O::Socks5Auth if value & !SOCKS5_WAYS != 0 => Err(Code::NotBuiltIn),
        O::Buffersize | O::UploadBuffersize if value < 0 => Err(Code::BadFunctionArgument),
        O::Buffersize => Ok((option, value.clamp(1024, 10 * 1024 * 1024))),
        O::UploadBuffersize => Ok((option, value.clamp(16 * 1024, 2 * 1024 * 1024))),
        _ => Ok((option, value)),
    }
}

fn check_range(option: O, value: i64) -> Result<(), Code> {
    let good = match option {
        O::TimeoutMs | O::ConnecttimeoutMs | O::ServerResponseTimeoutMs | O::AccepttimeoutMs => value >= 0,
        O::LowSpeedLimit | O::LowSpeedTime | O::MaxageConn | O::MaxlifetimeConn => value >= 0,
        O::Expect100TimeoutMs | O::HappyEyeballsTimeoutMs | O::UpkeepIntervalMs => value >= 0,
        O::Maxredirs | O::DnsCacheTimeout | O::CaCacheTimeout => value >= -1,
        O::PostfieldsizeLarge | O::InfilesizeLarge | O::ResumeFromLarge => value >= -1,
        O::AltsvcCtrl => value != 0,
        O::MaxfilesizeLarge | O::MaxSendSpeedLarge | O::MaxRecvSpeedLarge => value >= 0,
        O::Port | O::Proxyport | O::Localport | O::Localportrange => (0..=65535).contains(&value),
        O::AddressScope => (0..=i64::from(u32::MAX)).contains(&value),
        O::Maxconnects => value >= 0,
        O::Netrc => (0..=2).contains(&value),
        O::Timecondition => (0..=3).contains(&value),
        O::Ipresolve | O::HttpsigAlgorithm => (0..=2).contains(&value),
        O::UseSsl => (0..=3).contains(&value),
        O::FtpSslCcc => (0..=2).contains(&value),
        O::ConnectOnly => (0..=2).contains(&value),
        O::Followlocation => (0..=3).contains(&value),
        O::RtspClientCseq | O::RtspServerCseq => value >= 0,
        // Brought into RFC 2348's range when it is used.
        O::TftpBlksize => value >= 0,
        O::Postredir | O::TcpKeepidle | O::TcpKeepintvl | O::TcpKeepcnt => value >= 0,
        O::FtpFilemethod => (0..=3).contains(&value),
        O::Ftpsslauth => (0..=2).contains(&value),
        O::RtspRequest => (1..=11).contains(&value),
        // The lowest version in the lower half (SSL 2 and 3 are gone), the highest in the upper.
        O::Sslversion | O::ProxySslversion => {
            matches!(value & 0xffff, 0 | 1 | 4..=7) && matches!(value >> 16, 0 | 1 | 4..=7)
        }
        O::Proxytype => (0..=8).contains(&value),
        O::FtpCreateMissingDirs => (0..=2).contains(&value),
        O::HttpVersion => {
            (0..=5).contains(&value) || matches!(value, CURL_HTTP_VERSION_3 | CURL_HTTP_VERSION_3ONLY)
        }
        O::Httpauth | O::Proxyauth => value != 0 || option == O::Httpauth || option == O::Proxyauth,
        O::NewFilePerms | O::NewDirectoryPerms => (0..=0o777).contains(&value),
        _ => true,
    };
    match (good, option) {
        (true, _) => Ok(()),
        (false, O::HttpVersion) if value >= 0 => Err(Code::UnsupportedProtocol),
        (false, _) => Err(Code::BadFunctionArgument),
    }
}

/// What a number option means when nobody set it. Inlined, since nearly everybody who asks names the option.
#[inline]
fn default_long(option: O) -> i64 {
    match option {
        O::Noprogress | O::SslVerifypeer | O::ProxySslVerifypeer | O::DohSslVerifypeer => 1,
        O::SslVerifyhost | O::ProxySslVerifyhost | O::DohSslVerifyhost => 2,
        O::TcpNodelay | O::FtpUseEpsv | O::FtpUseEprt | O::FtpSkipPasvIp => 1,
        O::HttpTransferDecoding | O::HttpContentDecoding | O::Headeropt => 1,
        O::SslSessionidCache | O::SslEnableAlpn => 1,
        O::Maxredirs => 30,
        O::PostfieldsizeLarge | O::InfilesizeLarge => -1,
        O::UploadFlags => CURLULFLAG_SEEN,
        O::Httpauth | O::Proxyauth => 1,
        O::Socks5Auth => SOCKS5_WAYS,
        O::SshAuthTypes => tables::constant::CURLSSH_AUTH_DEFAULT as i64,
        O::NewFilePerms => 0o644,
        O::NewDirectoryPerms => 0o755,
        O::DnsCacheTimeout => 60,
        O::CaCacheTimeout => 86_400,
        O::ConnecttimeoutMs => 300_000,
        O::Expect100TimeoutMs => 1000,
        O::HappyEyeballsTimeoutMs => 200,
        O::AccepttimeoutMs => 60_000,
        O::ServerResponseTimeoutMs => 0,
        O::MaxageConn => 118,
        O::UpkeepIntervalMs => 60_000,
        O::Buffersize => 16 * 1024,
        O::UploadBuffersize => 64 * 1024,
        O::TcpKeepidle | O::TcpKeepintvl => 60,
        O::TcpKeepcnt => 9,
        O::FtpFilemethod => 1,
        O::Maxconnects => 5,
        O::TftpBlksize => 512,
        O::RtspRequest => 1,
        _ => 0,
    }
}

/// What is looked at when it is set: where connections begin, and as by a curl with c-ares addresses of name servers, and where
/// questions leave. An empty text is
/// none of the latter, and no list of name servers.
fn is_address(option: O, value: &[u8]) -> bool {
    let text = std::str::from_utf8(value).unwrap_or("?");
    match option {
        O::Interface => LocalBinding::parse(&String::from_utf8_lossy(value)).is_some(),
        O::DnsServers => wire::resolv_conf::servers(text).is_some(),
        O::DnsLocalIp4 => text.is_empty() || text.parse::<std::net::Ipv4Addr>().is_ok(),
        O::DnsLocalIp6 => text.is_empty() || text.parse::<std::net::Ipv6Addr>().is_ok(),
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn later_method_options_win() {
        let mut s = Settings::default();
        s.set_long(O::Nobody, 1).unwrap();
        assert_eq!(s.method, Method::Head);
        s.set_long(O::Httpget, 1).unwrap();
        assert_eq!((s.method, s.on(O::Nobody)), (Method::Get, false));
        s.set_text(O::Copypostfields, Some(b"a=b")).unwrap();
        assert_eq!(s.method, Method::Post);
        s.set_long(O::Upload, 1).unwrap();
        assert_eq!(s.method, Method::Put);
        s.set_long(O::Upload, 0).unwrap();
        assert_eq!(s.method, Method::Get);
    }

    #[test]
    fn units_and_pairs_share_a_slot() {
        let mut s = Settings::default();
        s.set_long(O::Timeout, 3).unwrap();
        assert_eq!(s.long(O::TimeoutMs), 3000);
        assert_eq!(s.set_long(O::TimeoutMs, -1), Err(Code::BadFunctionArgument));
        s.set_text(O::Userpwd, Some(b"me:se:cret")).unwrap();
        assert_eq!(s.text(O::Username).as_deref(), Some(&b"me"[..]));
        assert_eq!(s.text(O::Password).as_deref(), Some(&b"se:cret"[..]));
        s.set_text(O::Userpwd, None).unwrap();
        assert!(s.text(O::Password).is_none());
    }

    #[test]
    fn an_equal_value_is_no_change_and_few_options_count_for_the_route() {
        let mut s = Settings::default();
        s.set_text(O::Url, Some(b"http://host/")).unwrap();
        let (all, route) = (s.generation(), s.route());
        s.set_text(O::Url, Some(b"http://host/")).unwrap();
        s.set_long(O::Noprogress, 1).unwrap();
        s.set_text(O::Useragent, None).unwrap();
        let first = (s.generation(), s.route());
        assert_ne!(first.0, all, "NOPROGRESS was not set before");
        assert_eq!(first.1, route);
        s.set_text(O::Useragent, Some(b"me")).unwrap();
        s.set_list(O::Httpheader, Some(vec![Text::from(&b"A: b"[..])])).unwrap();
        assert_eq!(s.route(), route);
        let with_fields = s.generation();
        s.set_list(O::Httpheader, Some(vec![Text::from(&b"A: b"[..])])).unwrap();
        assert_eq!(s.generation(), with_fields);
        s.set_text(O::Userpwd, Some(b"me:secret")).unwrap();
        assert_ne!(s.route(), route, "a login may be part of a connection's identity");
        let (route, way) = (s.route(), s.way());
        s.set_text(O::Url, Some(b"http://other/")).unwrap();
        assert_ne!(s.route(), route);
        assert_eq!(s.way(), way);
        s.set_long(O::Port, 81).unwrap();
        assert_ne!(s.way(), way);
        assert_ne!(s.own_copy().route(), s.route());
    }

    #[test]
    fn a_wrong_kind_is_refused() {
        let mut s = Settings::default();
        assert_eq!(s.set_list(O::Url, None), Err(Code::BadFunctionArgument));
        assert_eq!(s.set_long(O::Url, 1), Err(Code::BadFunctionArgument));
        assert_eq!(s.set_text(O::ProtocolsStr, Some(b"gopherx")), Err(Code::UnsupportedProtocol));
    }
}
