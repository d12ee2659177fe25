//! The values of all options, kept until they are changed or reset.
//! Transfer state lives elsewhere and is made anew each time, so that nothing stale survives.
//!
//! Values are stored by option number (`values`); [`set`](Settings::set_long) checks ranges and folds the
//! pairs of options that mean the same (seconds and milliseconds, long and curl_off_t) into one slot.

mod choices;
pub mod ech;
mod environment_proxy;
mod following;
mod numbers;
pub mod option_map;
mod pipelining;
mod policy;
mod support;
mod texts;
mod uncommon;
mod values;
mod way;
mod websocket;

use std::cell::Cell;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use net::tls::Module;
use tables::easy_option::{NumberRule, PointerRule, RequestMethod, Rule, TextRule};
use tables::{Code, EasyOption as O, Scheme};

pub use choices::{Choices, ProxiedSchemes, ProxyRule, TlsLibrary};
pub use environment_proxy::proxy_of_process;
pub use following::follow_names;
pub(crate) use following::process_follows_names;
pub use pipelining::{FtpPipelining, SmtpPipelining};
pub use policy::{bind_program, read_policy};
pub use support::{HTTP2_BUILT, HTTP3_BUILT, SCHEMES_BUILT, SCHEMES_KNOWN, WITHOUT_HTTP3, answer};
pub use uncommon::UncommonSettings;
pub use values::List;
use values::{Value, Values, own_value};
pub use way::{FormerSettings, WayTerms};
pub use websocket::WebSocketOptions;

use wire::policy::{Guard, Policy};
use wire::url::Url;

use crate::Error;
use crate::mime::MimeSource;
use crate::rare::Rare;

/// A text or a piece of binary data that the application gave; not necessarily UTF-8.
pub type Text = Rc<[u8]>;

/// Copies a text for a duplicated handle. The handles may be used by different threads, and the counts of
/// an `Rc` are not atomic.
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
    generation: u64,
    route: u64,
    way: u64,
    /// The derived value under construction. It may read only options whose change discards it.
    routing: Cell<Routing>,
    /// Whether a setting that is not public was made since they were the defaults: data derived from it may
    /// exist.
    had_secrets: Cell<bool>,
    policy: Option<Arc<Policy>>,
    /// No policy binds transfers of the library itself.
    unguarded: bool,
    /// Settings that few handles have.
    pub uncommon: Rare<UncommonSettings>,
    /// The method that the last of POST, UPLOAD, HTTPGET, NOBODY, MIMEPOST … chose.
    pub method: Method,
}

/// A value derived from the settings, and kept until they change.
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
            generation,
            route: generation,
            way: generation,
            routing: Cell::default(),
            had_secrets: Cell::default(),
            policy: None,
            unguarded: false,
            uncommon: Rare::default(),
            method: Method::Get,
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
            _ => option.default(),
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
    pub fn list(&self, option: O) -> List {
        match self.value(option) {
            Value::List(list) => List::from(list.clone()),
            _ => List::default(),
        }
    }

    /// Whether a value was given at all.
    #[inline]
    pub fn is_set(&self, option: O) -> bool {
        !matches!(self.value(option), Value::Default)
    }

    /// A copy that shares nothing (`own_text`). Forms and URL handles are the owner's to set anew.
    pub fn own_copy(&self) -> Settings {
        let generation = next_generation();
        Settings {
            values: self.values.map(own_value),
            generation,
            route: generation,
            way: generation,
            routing: Cell::default(),
            had_secrets: self.had_secrets.clone(),
            policy: self.policy.clone(),
            unguarded: self.unguarded,
            uncommon: self.uncommon.map(UncommonSettings::own_copy),
            method: self.method,
        }
    }

    /// warmwire_websocket(); `None` is what the environment says.
    pub fn set_websocket(&mut self, options: Option<WebSocketOptions>) {
        if self.uncommon.websocket != options {
            self.uncommon.websocket = options;
            self.changed_entirely();
        }
    }

    /// Stores choices that no option expresses.
    pub fn set_choices(&mut self, choices: &Choices) {
        if self.uncommon.choices != *choices {
            self.uncommon.choices = choices.clone();
            self.changed_entirely();
        }
    }

    /// Sets whether the handle leaves a connection whose host's name has moved (`warmwire_follow_names`).
    pub fn set_follow_names(&mut self, follow_names: Option<bool>) {
        self.set_choices(&Choices { follow_names, ..self.choices().clone() });
    }

    /// Returns the choices that [`set_choices`](Self::set_choices) stored.
    pub fn choices(&self) -> &Choices {
        &self.uncommon.choices
    }

    /// Sets the policy of the handle (`warmwire_policy`), which binds it beside that of the process.
    pub fn set_policy(&mut self, policy: Option<Arc<Policy>>) {
        if self.policy != policy {
            self.policy = policy;
            self.changed_entirely();
        }
    }

    /// Returns the policy of the handle.
    pub fn policy(&self) -> Option<&Arc<Policy>> {
        self.policy.as_ref()
    }

    /// Frees the transfers of the library itself from the policy of the process.
    pub fn set_unguarded(&mut self) {
        self.unguarded = true;
        self.changed_entirely();
    }

    /// Returns the policies that bind a transfer.
    pub fn guard(&self) -> Guard {
        if self.unguarded {
            return Guard::default();
        }
        let own = self.policy.clone().or_else(policy::of_program);
        Guard { process: policy::of_process(), own, of_data: false }
    }

    /// Stores CURLOPT_SSL_CTX_FUNCTION and its data, or `None` without a function. They are part of the
    /// connection key.
    pub fn set_tls_hook(&mut self, hook: Option<[usize; 2]>) {
        if self.uncommon.tls_hook != hook {
            self.uncommon.tls_hook = hook;
            self.changed_entirely();
        }
    }

    /// Returns the hook that [`set_tls_hook`](Self::set_tls_hook) stored.
    pub fn tls_hook(&self) -> Option<[usize; 2]> {
        self.uncommon.tls_hook
    }

    fn set_tls_module(&mut self, module: Option<Arc<Module>>) {
        self.uncommon.tls_module = module;
        self.changed_entirely();
    }

    /// The engine or the provider that CURLOPT_SSLENGINE named.
    pub fn tls_module(&self) -> Option<&Arc<Module>> {
        self.uncommon.tls_module.as_ref()
    }

    /// Whether a setting has a meaning for the system's TLS library alone: a function that is shown its
    /// context, or a key in an engine or a provider.
    pub fn needs_system_tls(&self) -> bool {
        let elsewhere = |option| {
            let kind = self.text(option);
            kind.is_some_and(|kind| kind.eq_ignore_ascii_case(b"ENG") || kind.eq_ignore_ascii_case(b"PROV"))
        };
        self.uncommon.tls_hook.is_some()
            || self.uncommon.tls_module.is_some()
            || elsewhere(O::SslCertType)
            || elsewhere(O::SslKeyType)
    }

    /// Returns whether the handle itself chooses the system's TLS library; `None` leaves it to the process.
    pub fn own_tls(&self) -> Option<bool> {
        self.uncommon.choices.tls.map(|library| library == TlsLibrary::System)
    }

    /// Returns the WebSocket extensions that curl does not have.
    pub fn websocket(&self) -> WebSocketOptions {
        self.uncommon.websocket.unwrap_or_else(WebSocketOptions::of_process)
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
            self.note_secrets(option, &value);
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
            self.put(option, value.map_or(Value::Default, |v| Value::Text(v.into())));
        }
    }

    /// Counts a change outside the options that may change the route of a request.
    fn changed_entirely(&mut self) {
        self.had_secrets.set(true);
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

    /// Sets a number option by the rule of its row.
    // exhaustive: options
    pub fn set_long(&mut self, option: O, value: i64) -> Result<(), Code> {
        support::answer(option, false)?;
        let Rule::Number(rule) = option.rule() else { return Err(Code::BadFunctionArgument) };
        let value = match rule {
            NumberRule::Seconds(_) if value < 0 => return Err(Code::BadFunctionArgument),
            NumberRule::Seconds(target) => return self.set_long(target, value.saturating_mul(1000)),
            NumberRule::StoredAs(target) => return self.set_long(target, value),
            NumberRule::Method(method) => {
                self.choose_method(option, method, value != 0);
                return Ok(());
            }
            NumberRule::DefaultModule => return self.make_module_default(),
            NumberRule::StreamWeight if !numbers::is_stream_weight(value) => return Ok(()),
            NumberRule::StreamWeight | NumberRule::Any => value,
            NumberRule::AtLeast(least) => numbers::within(value, least, i64::MAX)?,
            NumberRule::Within(least, most) => numbers::within(value, least, most)?,
            NumberRule::NotZero => numbers::not_zero(value)?,
            NumberRule::Capped(most) => numbers::within(value, 0, i64::MAX)?.min(most),
            NumberRule::Clamped(least, most) => numbers::within(value, 0, i64::MAX)?.clamp(least, most),
            NumberRule::NameCheck => numbers::name_check(value),
            NumberRule::AuthSchemes => numbers::auth_schemes(value)?,
            NumberRule::SocksSchemes => numbers::socks_schemes(value)?,
            NumberRule::TlsVersions => numbers::tls_versions(value)?,
            NumberRule::HttpVersion => numbers::http_version(value)?,
        };
        self.put(option, Value::Long(value));
        Ok(())
    }

    /// Sets the form and the URL handle, which are objects of the application.
    pub fn set_objects(&mut self, mime: Option<Rc<dyn MimeSource>>, url: Option<Rc<dyn Fn() -> Url>>) {
        if mime.is_some() || url.is_some() || self.uncommon.affects_request() {
            (self.uncommon.mime, self.uncommon.url_handle) = (mime, url);
        }
    }

    /// CURLOPT_SSLENGINE_DEFAULT: makes the chosen engine the default of the process, whatever the number.
    fn make_module_default(&self) -> Result<(), Code> {
        let Some(module) = &self.uncommon.tls_module else { return Ok(()) };
        module.make_default().map_err(|_| Code::SslEngineSetfailed)
    }

    /// The copy of COPYPOSTFIELDS is void; what is posted is asked for.
    pub fn forget_copied_post_fields(&mut self) {
        self.set_copied_post_fields(None);
    }

    fn set_copied_post_fields(&mut self, fields: Option<Text>) {
        if self.uncommon.copied_post_fields.is_some() || fields.is_some() {
            self.uncommon.copied_post_fields = fields;
        }
    }

    /// Sets a string or blob option by the rule of its row; `None` resets it.
    // exhaustive: options
    pub fn set_text(&mut self, option: O, value: Option<&[u8]>) -> Result<(), Code> {
        let rule = match option.rule() {
            // Asks for nothing: the chosen engine stays, as in curl.
            Rule::Text(TextRule::Module) if value.unwrap_or_default().is_empty() => return Ok(()),
            rule => rule,
        };
        support::answer(option, value.is_none())?;
        let rule = match rule {
            Rule::Text(rule) => rule,
            Rule::Pointer(PointerRule::CopiedPostFields) => {
                self.set_copied_post_fields(value.map(Rc::from));
                self.method = Method::Post;
                return Ok(());
            }
            Rule::Number(_) | Rule::List | Rule::Pointer(_) if value.is_none() => return Ok(()),
            Rule::Number(_) | Rule::List | Rule::Pointer(_) => return Err(Code::BadFunctionArgument),
        };
        if value.is_some_and(|text| text.len() > MAX_INPUT_LENGTH || !texts::is_accepted(rule, text)) {
            return Err(Code::BadFunctionArgument);
        }
        match (rule, value) {
            (TextRule::Login(user, password), _) => return self.set_pair(user, password, value),
            (TextRule::StoredAs(target), _) => return self.set_text(target, value),
            (TextRule::Protocols(bits), _) => return self.set_protocols(bits, value),
            (TextRule::Module, _) => self.load_module(value.unwrap_or_default())?,
            // Each call says one thing, and they add up.
            (TextRule::Ech, Some(word)) => {
                let all = ech::merged(&self.text(option).unwrap_or_default(), word)?;
                self.put_text(option, Some(&all));
                return Ok(());
            }
            (TextRule::Encodings, Some([])) => {
                self.put_text(option, Some(wire::content_encoding::SUPPORTED.as_bytes()));
                return Ok(());
            }
            (TextRule::Ech | TextRule::Encodings, _) => {}
            (TextRule::Interface | TextRule::NameServers | TextRule::Ipv4 | TextRule::Ipv6, _) => {}
            (TextRule::Plain | TextRule::Url | TextRule::Referer, _) => {}
            (TextRule::CookieFile | TextRule::CookieJar | TextRule::CookieCommand, _) => {}
            (TextRule::AltsvcFile | TextRule::HstsFile, _) => {}
        }
        self.put_text(option, value);
        Ok(())
    }

    /// Stores the allowed protocols as bits. Of a list with a mistake, the names before it are allowed and
    /// nothing else.
    fn set_protocols(&mut self, bits: O, list: Option<&[u8]>) -> Result<(), Code> {
        let (value, read) = list.map_or((Value::Default, Ok(())), |list| {
            let (bits, read) = texts::protocols(list);
            (Value::Long(bits as i64), read)
        });
        self.put(bits, value);
        read
    }

    /// Loads the engine or provider of this name.
    fn load_module(&mut self, name: &[u8]) -> Result<(), Code> {
        let module = net::tls::backend::open_module(&String::from_utf8_lossy(name));
        let module = module.map_err(|e| Error::from(e).code())?;
        self.set_tls_module(Some(Arc::new(module)));
        Ok(())
    }

    /// Sets a list option; `None` resets it.
    pub fn set_list(&mut self, option: O, value: Option<Vec<Text>>) -> Result<(), Code> {
        support::answer(option, value.is_none())?;
        if option.rule() != Rule::List {
            return Err(Code::BadFunctionArgument);
        }
        self.put(option, value.map_or(Value::Default, |v| Value::List(v.into())));
        Ok(())
    }

    /// CURLOPT_MIMEPOST and CURLOPT_HTTPPOST.
    /// The one before is handed back: freeing it may call the application, which must find nothing borrowed.
    pub fn set_mime(&mut self, mime: Option<Rc<dyn MimeSource>>) -> Option<Rc<dyn MimeSource>> {
        // NULL is a form without parts: the request stays a POST.
        self.method = Method::PostMime;
        self.put(O::NoBody, Value::Long(0));
        std::mem::replace(&mut self.uncommon.mime, mime)
    }

    /// CURLOPT_POSTFIELDS was set (its memory is asked for through the callbacks).
    pub fn post_fields_given(&mut self) {
        self.forget_copied_post_fields();
        self.method = Method::Post;
    }

    /// "user:password" in one string: both halves are set, a missing password is not.
    fn set_pair(&mut self, user: O, password: O, value: Option<&[u8]>) -> Result<(), Code> {
        let (name, secret) = match value {
            None => (Value::Default, Value::Default),
            Some(v) => match v.iter().position(|b| *b == b':') {
                Some(at) => (Value::Text(v[..at].into()), Value::Text(v[at + 1..].into())),
                None => (Value::Text(v.into()), Value::Default),
            },
        };
        self.put(user, name);
        self.put(password, secret);
        Ok(())
    }

    /// Switches a request method on or off; each overrides what an earlier one chose.
    // exhaustive: options
    fn choose_method(&mut self, option: O, method: RequestMethod, on: bool) {
        self.method = match method {
            RequestMethod::Get if !on => return,
            RequestMethod::Post if on => Method::Post,
            RequestMethod::Upload if on => Method::Put,
            RequestMethod::NoBody if on => Method::Head,
            RequestMethod::NoBody if self.method != Method::Head => self.method,
            RequestMethod::Get | RequestMethod::Post | RequestMethod::Upload | RequestMethod::NoBody => {
                Method::Get
            }
        };
        if method != RequestMethod::Get {
            self.put(option, Value::Long(i64::from(on)));
        }
        if method == RequestMethod::NoBody {
            return;
        }
        if on {
            self.put(O::NoBody, Value::Long(0));
        }
        self.put(O::Upload, Value::Long(i64::from(self.method == Method::Put)));
    }

    /// Protocols allowed for the first request, or for redirects: bits as in CURLPROTO_*.
    pub fn protocols(&self, option: O) -> u64 {
        let bits = if option == O::RedirProtocolsStr { O::RedirProtocols } else { O::Protocols };
        if self.is_set(bits) {
            self.long(bits) as u64
        } else if option == O::RedirProtocolsStr {
            default_redirect_protocols()
        } else {
            u64::MAX
        }
    }
}

/// Redirects go to http, https, ftp and ftps unless the application says otherwise.
fn default_redirect_protocols() -> u64 {
    [Scheme::Http, Scheme::Https, Scheme::Ftp, Scheme::Ftps].iter().map(|s| s.bit()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn later_method_options_win() {
        let mut s = Settings::default();
        s.set_long(O::NoBody, 1).unwrap();
        assert_eq!(s.method, Method::Head);
        s.set_long(O::HttpGet, 1).unwrap();
        assert_eq!((s.method, s.on(O::NoBody)), (Method::Get, false));
        s.set_text(O::CopyPostFields, Some(b"a=b")).unwrap();
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
        s.set_text(O::UserPwd, Some(b"me:se:cret")).unwrap();
        assert_eq!(s.text(O::Username).as_deref(), Some(&b"me"[..]));
        assert_eq!(s.text(O::Password).as_deref(), Some(&b"se:cret"[..]));
        s.set_text(O::UserPwd, None).unwrap();
        assert!(s.text(O::Password).is_none());
    }

    #[test]
    fn an_equal_value_is_no_change_and_few_options_count_for_the_route() {
        let mut s = Settings::default();
        s.set_text(O::Url, Some(b"http://host/")).unwrap();
        let (all, route) = (s.generation(), s.route());
        s.set_text(O::Url, Some(b"http://host/")).unwrap();
        s.set_long(O::NoProgress, 1).unwrap();
        s.set_text(O::UserAgent, None).unwrap();
        let first = (s.generation(), s.route());
        assert_ne!(first.0, all, "NOPROGRESS was not set before");
        assert_eq!(first.1, route);
        s.set_text(O::UserAgent, Some(b"me")).unwrap();
        s.set_list(O::HttpHeader, Some(vec![Text::from(&b"A: b"[..])])).unwrap();
        assert_eq!(s.route(), route);
        let with_fields = s.generation();
        s.set_list(O::HttpHeader, Some(vec![Text::from(&b"A: b"[..])])).unwrap();
        assert_eq!(s.generation(), with_fields);
        s.set_text(O::UserPwd, Some(b"me:secret")).unwrap();
        assert_ne!(s.route(), route, "a login may be part of a connection's key");
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
