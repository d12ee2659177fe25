//! Easy options: one row per `CURLOPT_` option, with its number, argument type, first version and scope.
//!
//! Follows curl_easy_setopt(3) and curl_easy_option_next(3) of the version in `version::CURL`. A row also
//! says whether the option is part of a connection key, whether this build honours it, the rule by
//! which its value is checked and stored ([`Rule`]), its default, and the corresponding option for an HTTPS
//! proxy. The engine implements the effect.
//!
//! Variant names are the words of the option's name, each capitalised (`HTTPHEADER` is `HttpHeader`).

use EasyOption as O;

use crate::constant::{CURLAUTH_BASIC, CURLSSH_AUTH_DEFAULT, CURLULFLAG_SEEN};
use crate::inline_text::InlineText;
pub use crate::option_rule::*;

/// The rule of an option, by the class of its argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// A number: `long` or `curl_off_t`.
    Number(NumberRule),
    /// A string or a blob.
    Text(TextRule),
    /// A `struct curl_slist *`.
    List,
    /// A pointer to a function, to its data or to an object.
    Pointer(PointerRule),
}

/// How a number is checked and stored. A number outside the range is CURLE_BAD_FUNCTION_ARGUMENT unless the
/// rule says otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NumberRule {
    /// Accepts every number.
    Any,
    /// Accepts this number and everything above it.
    AtLeast(i64),
    /// Accepts everything from the first number to the second.
    Within(i64, i64),
    /// Refuses 0.
    NotZero,
    /// Refuses negative numbers and stores the largest allowed one for everything above it.
    Capped(i64),
    /// Refuses negative numbers and stores the nearest number of the range.
    Clamped(i64, i64),
    /// Seconds, stored as milliseconds in this option.
    Seconds(EasyOption),
    /// Another name or width of this option, which stores it under its own rule.
    StoredAs(EasyOption),
    /// 1 means 2: both ask for the check of the certificate's name.
    NameCheck,
    /// CURLAUTH_ bits. Schemes that are not built in are removed; CURLE_NOT_BUILT_IN if none is left.
    AuthSchemes,
    /// CURLAUTH_ bits for SOCKS 5: [`SOCKS5_SCHEMES`], CURLE_NOT_BUILT_IN for others.
    SocksSchemes,
    /// CURL_SSLVERSION_ for the lowest version in the lower half and CURL_SSLVERSION_MAX_ in the upper half.
    TlsVersions,
    /// CURL_HTTP_VERSION_; CURLE_UNSUPPORTED_PROTOCOL for unknown positive numbers.
    HttpVersion,
    /// A weight of RFC 7540; others are ignored.
    StreamWeight,
    /// Chooses the request method.
    Method(RequestMethod),
    /// Makes the chosen crypto module the default of the process, whatever the number.
    DefaultModule,
}

/// How a text is checked and stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TextRule {
    /// Stored as it is.
    Plain,
    /// The URL; CURLINFO_EFFECTIVE_URL reports it at once.
    Url,
    /// The referrer; CURLINFO_REFERER reports it at once.
    Referer,
    /// `user:password`, stored in two options.
    Login(EasyOption, EasyOption),
    /// Another name of this option.
    StoredAs(EasyOption),
    /// Names of protocols with commas between them, stored as CURLPROTO_ bits in this option.
    Protocols(EasyOption),
    /// The name of a crypto module, which is loaded at once; an empty name changes nothing.
    Module,
    /// One setting of Encrypted Client Hello; calls add up.
    Ech,
    /// Content codings; an empty text selects all that are built in.
    Encodings,
    /// The local end of connections.
    Interface,
    /// Addresses of name servers.
    NameServers,
    /// An IPv4 address, or an empty text.
    Ipv4,
    /// An IPv6 address, or an empty text.
    Ipv6,
    /// A file that is read into the Alt-Svc store at once.
    AltsvcFile,
    /// A file that is added to the HSTS store.
    HstsFile,
    /// A file of cookies to read.
    CookieFile,
    /// The file that cookies are written to.
    CookieJar,
    /// A cookie, or a command to the cookie store, run at once.
    CookieCommand,
}

#[derive(Clone, Copy)]
struct Row {
    name: InlineText<27>,
    kind: ArgKind,
    since: InlineText<7>,
    bound: Bound,
    support: Support,
    rule: Rule,
    // Columns that a row may leave out.
    deprecated: InlineText<7>,
    default: i64,
    twin: Option<EasyOption>,
    secret: bool,
    reply_neutral: bool,
    impersonal: bool,
}

impl Row {
    /// The columns that most rows omit; also a placeholder in the table for a missing option.
    const PLAIN: Row = Row {
        name: InlineText::new(""),
        kind: ArgKind::Long,
        since: InlineText::new(""),
        bound: Bound::Transfer,
        support: Support::Removed,
        rule: Rule::List,
        deprecated: InlineText::new(""),
        default: 0,
        twin: None,
        secret: false,
        reply_neutral: false,
        impersonal: false,
    };
}

/// The rule of a row: the argument's kind decides which rules there are.
macro_rules! rule {
    (Long $($rule:tt)*) => { Rule::Number(NumberRule::$($rule)*) };
    (Values $($rule:tt)*) => { Rule::Number(NumberRule::$($rule)*) };
    (OffT $($rule:tt)*) => { Rule::Number(NumberRule::$($rule)*) };
    (String $($rule:tt)*) => { Rule::Text(TextRule::$($rule)*) };
    (Blob $($rule:tt)*) => { Rule::Text(TextRule::$($rule)*) };
    (SList Plain) => { Rule::List };
    (Object $($rule:tt)*) => { Rule::Pointer(PointerRule::$($rule)*) };
    (CbPtr $($rule:tt)*) => { Rule::Pointer(PointerRule::$($rule)*) };
    (Function $($rule:tt)*) => { Rule::Pointer(PointerRule::$($rule)*) };
}

/// A column that a row may leave out.
macro_rules! column {
    (deprecated $value:expr) => {
        InlineText::new($value)
    };
    ($column:ident $value:expr) => {
        $value
    };
}

/// Number of places in the table: options are numbered from 1, without the offset of the argument's type.
const PLACES: usize = 333;

const fn place(option: EasyOption) -> usize {
    (option as i32 % 10_000) as usize
}

macro_rules! easy_options {
    ($(
        $variant:ident, $name:literal, $id:literal, $kind:ident, $since:literal, $bound:ident, $support:ident,
        $rule:ident $(($($argument:expr),*))? $(, $column:ident: $value:expr)*;
    )*) => {
        /// An option of an easy handle; the discriminant is its `CURLOPT_` number.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr(i32)]
        pub enum EasyOption {
            $(
                #[doc = concat!(
                    "[`CURLOPT_", $name, "`](https://curl.se/libcurl/c/CURLOPT_", $name, ".html), ",
                    "since curl ", $since, "."
                )]
                $variant = $id,
            )*
        }

        static ROWS: [Row; PLACES] = {
            let mut rows = [Row::PLAIN; PLACES];
            $(rows[place(O::$variant)] = Row {
                name: InlineText::new($name),
                kind: ArgKind::$kind,
                since: InlineText::new($since),
                bound: Bound::$bound,
                support: Support::$support,
                rule: rule!($kind $rule $(($($argument),*))?),
                $($column: column!($column $value),)*
                ..Row::PLAIN
            };)*
            rows
        };

        impl EasyOption {
            /// Every option, in the order of their numbers without the type offset.
            pub const ALL: &'static [EasyOption] = &[$(EasyOption::$variant,)*];

            /// The option with this `CURLOPT_` number.
            pub const fn from_id(id: i32) -> Option<Self> {
                match id {
                    $($id => Some(EasyOption::$variant),)*
                    _ => None,
                }
            }

            /// Returns the number that represents an unset option. A match and not a lookup: callers name the
            /// option, and the compiler reduces the match to the number.
            #[inline]
            pub const fn default(self) -> i64 {
                match self {
                    $(EasyOption::$variant => const {
                        Row { $($column: column!($column $value),)* ..Row::PLAIN }.default
                    },)*
                }
            }
        }
    };
}

impl EasyOption {
    /// Returns whether no reply depends on the option, or only one with Vary: a cached reply serves any
    /// value. An option without this mark separates cached replies.
    pub const fn is_reply_neutral(self) -> bool {
        self.row().reply_neutral
    }

    /// Returns whether the option reveals nothing about the user, and may also be used for a URL named by a
    /// document or a server: network, proxy, trust, limits and local files. An option without this mark
    /// applies only to the user's own URL.
    pub const fn is_impersonal(self) -> bool {
        self.row().impersonal
    }

    /// The `CURLOPT_` number.
    pub const fn id(self) -> i32 {
        self as i32
    }

    /// The name without `CURLOPT_`.
    pub const fn name(self) -> &'static str {
        self.row().name.as_str()
    }

    pub const fn kind(self) -> ArgKind {
        self.row().kind
    }

    /// The curl version that introduced it.
    pub const fn since(self) -> &'static str {
        self.row().since.as_str()
    }

    /// The curl version that deprecated it.
    pub const fn deprecated(self) -> Option<&'static str> {
        let version = self.row().deprecated.as_str();
        match version.as_bytes() {
            [] => None,
            _ => Some(version),
        }
    }

    /// Whether this build honours the option.
    pub const fn support(self) -> Support {
        self.row().support
    }

    /// How its value is checked and stored.
    pub const fn rule(self) -> Rule {
        self.row().rule
    }

    /// The option that says the same about an HTTPS proxy, for an option about the TLS of the origin.
    pub const fn proxy_twin(self) -> Option<Self> {
        self.row().twin
    }

    /// Whether the value is overwritten in memory before that is freed.
    pub const fn is_secret(self) -> bool {
        self.row().secret
    }

    const fn row(self) -> &'static Row {
        &ROWS[place(self)]
    }

    pub const fn bound(self) -> Bound {
        self.row().bound
    }

    /// Whether a changed value forbids using a connection made with the old one.
    pub const fn binds_connection(self) -> bool {
        matches!(self.row().bound, Bound::Connection)
    }

    /// Returns whether a URL parsed, or a route planned, with another value of the option cannot be reused.
    /// The engine keeps both until such an option changes, and reads no other option while it makes them.
    pub const fn routes(self) -> bool {
        !matches!(self.row().bound, Bound::Transfer)
    }

    /// Finds an option by its name without `CURLOPT_`, ignoring case; true says that the name is an old
    /// alias.
    pub fn from_name(name: &str) -> Option<(Self, bool)> {
        let wanted = || name.bytes().map(|byte| byte.to_ascii_uppercase());
        let at = BY_NAME.binary_search_by(|(known, ..)| known.bytes().cmp(wanted())).ok()?;
        let (_, option, alias) = BY_NAME[at];
        Some((option, alias))
    }
}

/// Old names: name, option, first version, version that deprecated the name (empty when curl names none).
pub const ALIASES: &[(&str, EasyOption, &str, &str)] = &[
    ("FTPLISTONLY", EasyOption::DirListOnly, "7.1", "7.16.4"),
    ("FTPAPPEND", EasyOption::Append, "7.1", "7.16.4"),
    ("FTP_RESPONSE_TIMEOUT", EasyOption::ServerResponseTimeout, "7.10.8", "7.85.0"),
    ("FTP_SSL", EasyOption::UseSsl, "7.11.0", "7.16.4"),
    ("POST301", EasyOption::PostRedir, "7.17.1", "7.19.1"),
    ("MAIL_RCPT_ALLLOWFAILS", EasyOption::MailRcptAllowFails, "7.69.0", "8.2.0"),
    ("FILE", EasyOption::WriteData, "7.1", "7.9.7"),
    ("INFILE", EasyOption::ReadData, "7.1", "7.9.7"),
    ("RTSPHEADER", EasyOption::HttpHeader, "7.20.0", ""),
    ("SSLCERTPASSWD", EasyOption::KeyPasswd, "7.1.1", "7.17.0"),
    ("SSLKEYPASSWD", EasyOption::KeyPasswd, "7.9.3", "7.17.0"),
    ("WRITEHEADER", EasyOption::HeaderData, "7.1", ""),
    ("PROGRESSDATA", EasyOption::XferInfoData, "7.1", ""),
    ("KRB4LEVEL", EasyOption::KrbLevel, "7.3", "7.17.0"),
    ("ENCODING", EasyOption::AcceptEncoding, "7.10", "7.21.6"),
];

const SECRETS: usize = {
    let (mut count, mut at) = (0, 0);
    while at < EasyOption::ALL.len() {
        count += EasyOption::ALL[at].is_secret() as usize;
        at += 1;
    }
    count
};

/// The options whose values are overwritten before their memory is freed.
pub static SECRET: [EasyOption; SECRETS] = {
    let mut secret = [EasyOption::Url; SECRETS];
    let (mut count, mut at) = (0, 0);
    while at < EasyOption::ALL.len() {
        if EasyOption::ALL[at].is_secret() {
            secret[count] = EasyOption::ALL[at];
            count += 1;
        }
        at += 1;
    }
    secret
};

const NAMES: usize = EasyOption::ALL.len() + ALIASES.len();

/// All names, aliases among them, sorted; the order in which curl_easy_option_next walks.
pub static BY_NAME: [(&str, EasyOption, bool); NAMES] = sorted_names();

const fn sorted_names() -> [(&'static str, EasyOption, bool); NAMES] {
    let mut names = [("", EasyOption::Url, false); NAMES];
    let mut at = 0;
    while at < NAMES {
        let entry = if at < EasyOption::ALL.len() {
            (EasyOption::ALL[at].name(), EasyOption::ALL[at], false)
        } else {
            let alias = &ALIASES[at - EasyOption::ALL.len()];
            (alias.0, alias.1, true)
        };
        let mut hole = at;
        while hole > 0 && less(entry.0, names[hole - 1].0) {
            names[hole] = names[hole - 1];
            hole -= 1;
        }
        names[hole] = entry;
        at += 1;
    }
    names
}

const fn less(a: &str, b: &str) -> bool {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    let mut at = 0;
    while at < a.len() && at < b.len() {
        if a[at] != b[at] {
            return a[at] < b[at];
        }
        at += 1;
    }
    a.len() < b.len()
}

// Columns: variant, name, number, kind, first version, bound, support, rule; then optional ones, by name.
//
// `bound`: may a connection made with another value serve this transfer? Socket callbacks and their data
// count, since the application's pointers may dangle. Options that decide how names are resolved count, since
// they decide who the peer is. Rules about when to reuse (FRESH_CONNECT, MAXAGE_CONN) are not part of the
// connection key. The origin (URL, CURLU, DEFAULT_PROTOCOL) always is, through the transfer's URL.
easy_options! {
    WriteData, "WRITEDATA", 10001, CbPtr, "7.9.7", Transfer, Built, Plain;
    Url, "URL", 10002, String, "7.1", Route, Built, Url, reply_neutral: true;
    Port, "PORT", 3, Long, "7.1", Connection, Built, Within(0, 65535);
    Proxy, "PROXY", 10004, String, "7.1", Connection, Built, Plain, impersonal: true;
    UserPwd, "USERPWD", 10005, String, "7.1", Login, Built, Login(O::Username, O::Password);
    ProxyUserPwd, "PROXYUSERPWD", 10006, String, "7.1", Connection, Built,
        Login(O::ProxyUsername, O::ProxyPassword), impersonal: true;
    Range, "RANGE", 10007, String, "7.1", Transfer, Built, Plain;
    ReadData, "READDATA", 10009, CbPtr, "7.9.7", Transfer, Built, Plain;
    ErrorBuffer, "ERRORBUFFER", 10010, Object, "7.1", Transfer, Built, Plain;
    WriteFunction, "WRITEFUNCTION", 20011, Function, "7.1", Transfer, Built, Plain;
    ReadFunction, "READFUNCTION", 20012, Function, "7.1", Transfer, Built, Plain;
    Timeout, "TIMEOUT", 13, Long, "7.1", Transfer, Built, Seconds(O::TimeoutMs);
    InFileSize, "INFILESIZE", 14, Long, "7.1", Transfer, Built, StoredAs(O::InFileSizeLarge);
    PostFields, "POSTFIELDS", 10015, Object, "7.1", Transfer, Built, PostFields;
    Referer, "REFERER", 10016, String, "7.1", Transfer, Built, Referer, reply_neutral: true;
    FtpPort, "FTPPORT", 10017, String, "7.1", Transfer, Built, Plain, impersonal: true;
    UserAgent, "USERAGENT", 10018, String, "7.1", Transfer, Built, Plain, reply_neutral: true,
        impersonal: true;
    LowSpeedLimit, "LOW_SPEED_LIMIT", 19, Long, "7.1", Transfer, Built, AtLeast(0), reply_neutral: true,
        impersonal: true;
    LowSpeedTime, "LOW_SPEED_TIME", 20, Long, "7.1", Transfer, Built, AtLeast(0), reply_neutral: true,
        impersonal: true;
    ResumeFrom, "RESUME_FROM", 21, Long, "7.1", Transfer, Built, StoredAs(O::ResumeFromLarge);
    Cookie, "COOKIE", 10022, String, "7.1", Transfer, Built, Plain, reply_neutral: true;
    HttpHeader, "HTTPHEADER", 10023, SList, "7.1", Transfer, Built, Plain, reply_neutral: true;
    HttpPost, "HTTPPOST", 10024, Object, "7.1", Transfer, Built, OldForm, deprecated: "7.56.0";
    SslCert, "SSLCERT", 10025, String, "7.1", Connection, Built, Plain, twin: Some(O::ProxySslCert);
    KeyPasswd, "KEYPASSWD", 10026, String, "7.17.0", Connection, Built, Plain,
        twin: Some(O::ProxyKeyPasswd), secret: true;
    Crlf, "CRLF", 27, Long, "7.1", Transfer, Built, Any;
    Quote, "QUOTE", 10028, SList, "7.1", Transfer, Built, Plain;
    HeaderData, "HEADERDATA", 10029, CbPtr, "7.10", Transfer, Built, Plain;
    CookieFile, "COOKIEFILE", 10031, String, "7.1", Transfer, Built, CookieFile, reply_neutral: true;
    SslVersion, "SSLVERSION", 32, Values, "7.1", Connection, Built, TlsVersions,
        twin: Some(O::ProxySslVersion);
    TimeCondition, "TIMECONDITION", 33, Values, "7.1", Transfer, Built, Within(0, 3);
    TimeValue, "TIMEVALUE", 34, Long, "7.1", Transfer, Built, StoredAs(O::TimeValueLarge);
    CustomRequest, "CUSTOMREQUEST", 10036, String, "7.1", Transfer, Built, Plain;
    StdErr, "STDERR", 10037, Object, "7.1", Transfer, Built, Plain;
    PostQuote, "POSTQUOTE", 10039, SList, "7.1", Transfer, Built, Plain;
    Verbose, "VERBOSE", 41, Long, "7.1", Transfer, Built, Any, reply_neutral: true;
    Header, "HEADER", 42, Long, "7.1", Transfer, Built, Any;
    NoProgress, "NOPROGRESS", 43, Long, "7.1", Transfer, Built, Any, default: 1, reply_neutral: true;
    NoBody, "NOBODY", 44, Long, "7.1", Transfer, Built, Method(RequestMethod::NoBody), reply_neutral: true;
    FailOnError, "FAILONERROR", 45, Long, "7.1", Transfer, Built, Any, reply_neutral: true;
    Upload, "UPLOAD", 46, Long, "7.1", Transfer, Built, Method(RequestMethod::Upload);
    Post, "POST", 47, Long, "7.1", Transfer, Built, Method(RequestMethod::Post);
    DirListOnly, "DIRLISTONLY", 48, Long, "7.17.0", Transfer, Built, Any;
    Append, "APPEND", 50, Long, "7.17.0", Transfer, Built, Any;
    Netrc, "NETRC", 51, Values, "7.1", Login, Built, Within(0, 2);
    FollowLocation, "FOLLOWLOCATION", 52, Long, "7.1", Transfer, Built, Within(0, 3), reply_neutral: true;
    TransferText, "TRANSFERTEXT", 53, Long, "7.1.1", Transfer, Built, Any;
    Put, "PUT", 54, Long, "7.1", Transfer, Built, Method(RequestMethod::Upload), deprecated: "7.12.1";
    ProgressFunction, "PROGRESSFUNCTION", 20056, Function, "7.1", Transfer, Built, Plain,
        deprecated: "7.32.0";
    XferInfoData, "XFERINFODATA", 10057, CbPtr, "7.32.0", Transfer, Built, Plain;
    AutoReferer, "AUTOREFERER", 58, Long, "7.1", Transfer, Built, Any, reply_neutral: true;
    ProxyPort, "PROXYPORT", 59, Long, "7.1", Connection, Built, Within(0, 65535);
    PostFieldSize, "POSTFIELDSIZE", 60, Long, "7.2", Transfer, Built, StoredAs(O::PostFieldSizeLarge);
    HttpProxyTunnel, "HTTPPROXYTUNNEL", 61, Long, "7.3", Connection, Built, Any, impersonal: true;
    Interface, "INTERFACE", 10062, String, "7.3", Connection, Built, Interface, impersonal: true;
    KrbLevel, "KRBLEVEL", 10063, String, "7.16.4", Connection, NotBuilt, Plain, deprecated: "8.17.0";
    SslVerifyPeer, "SSL_VERIFYPEER", 64, Long, "7.4.2", Connection, Built, Any, default: 1,
        twin: Some(O::ProxySslVerifyPeer);
    CaInfo, "CAINFO", 10065, String, "7.4.2", Connection, Built, Plain, twin: Some(O::ProxyCaInfo),
        impersonal: true;
    MaxRedirs, "MAXREDIRS", 68, Long, "7.5", Transfer, Built, AtLeast(-1), default: 30,
        reply_neutral: true, impersonal: true;
    FileTime, "FILETIME", 69, Long, "7.5", Transfer, Built, Any, reply_neutral: true;
    TelnetOptions, "TELNETOPTIONS", 10070, SList, "7.7", Transfer, Built, Plain;
    MaxConnects, "MAXCONNECTS", 71, Long, "7.7", Transfer, Built, Capped(0x7fff_ffff), default: 5;
    FreshConnect, "FRESH_CONNECT", 74, Long, "7.7", Transfer, Built, Any;
    ForbidReuse, "FORBID_REUSE", 75, Long, "7.7", Transfer, Built, Any;
    RandomFile, "RANDOM_FILE", 10076, String, "7.7", Transfer, NoEffect, Plain, deprecated: "7.84.0";
    EgdSocket, "EGDSOCKET", 10077, String, "7.7", Transfer, NoEffect, Plain, deprecated: "7.84.0";
    ConnectTimeout, "CONNECTTIMEOUT", 78, Long, "7.7", Transfer, Built, Seconds(O::ConnectTimeoutMs);
    HeaderFunction, "HEADERFUNCTION", 20079, Function, "7.7.2", Transfer, Built, Plain;
    HttpGet, "HTTPGET", 80, Long, "7.8.1", Transfer, Built, Method(RequestMethod::Get);
    SslVerifyHost, "SSL_VERIFYHOST", 81, Long, "7.8.1", Connection, Built, NameCheck, default: 2,
        twin: Some(O::ProxySslVerifyHost);
    CookieJar, "COOKIEJAR", 10082, String, "7.9", Transfer, Built, CookieJar, reply_neutral: true;
    SslCipherList, "SSL_CIPHER_LIST", 10083, String, "7.9", Connection, Built, Plain,
        twin: Some(O::ProxySslCipherList), impersonal: true;
    HttpVersion, "HTTP_VERSION", 84, Values, "7.9.1", Connection, Built, HttpVersion, reply_neutral: true,
        impersonal: true;
    FtpUseEpsv, "FTP_USE_EPSV", 85, Long, "7.9.2", Transfer, Built, Any, default: 1, impersonal: true;
    SslCertType, "SSLCERTTYPE", 10086, String, "7.9.3", Connection, Built, Plain,
        twin: Some(O::ProxySslCertType);
    SslKey, "SSLKEY", 10087, String, "7.9.3", Connection, Built, Plain, twin: Some(O::ProxySslKey);
    SslKeyType, "SSLKEYTYPE", 10088, String, "7.9.3", Connection, Built, Plain,
        twin: Some(O::ProxySslKeyType);
    SslEngine, "SSLENGINE", 10089, String, "7.9.3", Connection, SystemTls, Module;
    SslEngineDefault, "SSLENGINE_DEFAULT", 90, Long, "7.9.3", Connection, SystemTls, DefaultModule;
    DnsUseGlobalCache, "DNS_USE_GLOBAL_CACHE", 91, Long, "7.9.3", Transfer, NoEffect, Any,
        deprecated: "7.11.1";
    DnsCacheTimeout, "DNS_CACHE_TIMEOUT", 92, Long, "7.9.3", Route, Built, AtLeast(-1), default: 60;
    PreQuote, "PREQUOTE", 10093, SList, "7.9.5", Transfer, Built, Plain;
    DebugFunction, "DEBUGFUNCTION", 20094, Function, "7.9.6", Transfer, Built, Plain;
    DebugData, "DEBUGDATA", 10095, CbPtr, "7.9.6", Transfer, Built, Plain;
    CookieSession, "COOKIESESSION", 96, Long, "7.9.7", Transfer, Built, Any, reply_neutral: true;
    CaPath, "CAPATH", 10097, String, "7.9.8", Connection, Built, Plain, twin: Some(O::ProxyCaPath),
        impersonal: true;
    BufferSize, "BUFFERSIZE", 98, Long, "7.10", Transfer, Built, Clamped(1024, 10 * 1024 * 1024),
        default: 16 * 1024, reply_neutral: true;
    NoSignal, "NOSIGNAL", 99, Long, "7.10", Transfer, NoEffect, Any;
    Share, "SHARE", 10100, Object, "7.10", Transfer, Built, Share;
    ProxyType, "PROXYTYPE", 101, Values, "7.10", Connection, Built, Within(0, 8), impersonal: true;
    AcceptEncoding, "ACCEPT_ENCODING", 10102, String, "7.21.6", Transfer, Built, Encodings;
    Private, "PRIVATE", 10103, Object, "7.10.3", Transfer, Built, Plain;
    Http200Aliases, "HTTP200ALIASES", 10104, SList, "7.10.3", Transfer, Built, Plain;
    UnrestrictedAuth, "UNRESTRICTED_AUTH", 105, Long, "7.10.4", Route, Built, Any;
    FtpUseEprt, "FTP_USE_EPRT", 106, Long, "7.10.5", Transfer, Built, Any, default: 1, impersonal: true;
    HttpAuth, "HTTPAUTH", 107, Values, "7.10.6", Login, Built, AuthSchemes, default: CURLAUTH_BASIC as i64;
    SslCtxFunction, "SSL_CTX_FUNCTION", 20108, Function, "7.10.6", Connection, SystemTls, TlsContext;
    SslCtxData, "SSL_CTX_DATA", 10109, CbPtr, "7.10.6", Connection, SystemTls, TlsContext;
    FtpCreateMissingDirs, "FTP_CREATE_MISSING_DIRS", 110, Long, "7.10.7", Transfer, Built, Within(0, 2);
    ProxyAuth, "PROXYAUTH", 111, Values, "7.10.7", Connection, Built, AuthSchemes,
        default: CURLAUTH_BASIC as i64;
    ServerResponseTimeout, "SERVER_RESPONSE_TIMEOUT", 112, Long, "7.20.0", Transfer, Built,
        Seconds(O::ServerResponseTimeoutMs);
    IpResolve, "IPRESOLVE", 113, Values, "7.10.8", Connection, Built, Within(0, 2), reply_neutral: true,
        impersonal: true;
    MaxFileSize, "MAXFILESIZE", 114, Long, "7.10.8", Transfer, Built, StoredAs(O::MaxFileSizeLarge);
    InFileSizeLarge, "INFILESIZE_LARGE", 30115, OffT, "7.11.0", Transfer, Built, AtLeast(-1), default: -1;
    ResumeFromLarge, "RESUME_FROM_LARGE", 30116, OffT, "7.11.0", Transfer, Built, AtLeast(-1);
    MaxFileSizeLarge, "MAXFILESIZE_LARGE", 30117, OffT, "7.11.0", Transfer, Built, AtLeast(0),
        reply_neutral: true, impersonal: true;
    NetrcFile, "NETRC_FILE", 10118, String, "7.11.0", Login, Built, Plain;
    UseSsl, "USE_SSL", 119, Values, "7.17.0", Connection, Built, Within(0, 3);
    PostFieldSizeLarge, "POSTFIELDSIZE_LARGE", 30120, OffT, "7.11.1", Transfer, Built, AtLeast(-1),
        default: -1;
    TcpNoDelay, "TCP_NODELAY", 121, Long, "7.11.2", Connection, Built, Any, default: 1,
        reply_neutral: true, impersonal: true;
    FtpSslAuth, "FTPSSLAUTH", 129, Values, "7.12.2", Connection, Built, Within(0, 2);
    IoctlFunction, "IOCTLFUNCTION", 20130, Function, "7.12.3", Transfer, Built, Plain, deprecated: "7.18.0";
    IoctlData, "IOCTLDATA", 10131, CbPtr, "7.12.3", Transfer, Built, Plain, deprecated: "7.18.0";
    FtpAccount, "FTP_ACCOUNT", 10134, String, "7.13.0", Login, Built, Plain;
    CookieList, "COOKIELIST", 10135, String, "7.14.1", Transfer, Built, CookieCommand;
    IgnoreContentLength, "IGNORE_CONTENT_LENGTH", 136, Long, "7.14.1", Transfer, Built, Any;
    FtpSkipPasvIp, "FTP_SKIP_PASV_IP", 137, Long, "7.15.0", Transfer, Built, Any, default: 1,
        impersonal: true;
    FtpFileMethod, "FTP_FILEMETHOD", 138, Values, "7.15.1", Transfer, Built, Within(0, 3), default: 1,
        impersonal: true;
    LocalPort, "LOCALPORT", 139, Long, "7.15.2", Connection, Built, Within(0, 65535), reply_neutral: true,
        impersonal: true;
    LocalPortRange, "LOCALPORTRANGE", 140, Long, "7.15.2", Connection, Built, Within(0, 65535),
        reply_neutral: true, impersonal: true;
    ConnectOnly, "CONNECT_ONLY", 141, Long, "7.15.2", Connection, Built, Within(0, 2);
    ConvFromNetworkFunction, "CONV_FROM_NETWORK_FUNCTION", 20142, Function, "7.15.4", Transfer, Removed,
        Plain, deprecated: "7.82.0";
    ConvToNetworkFunction, "CONV_TO_NETWORK_FUNCTION", 20143, Function, "7.15.4", Transfer, Removed, Plain,
        deprecated: "7.82.0";
    ConvFromUtf8Function, "CONV_FROM_UTF8_FUNCTION", 20144, Function, "7.15.4", Transfer, Removed, Plain,
        deprecated: "7.82.0";
    MaxSendSpeedLarge, "MAX_SEND_SPEED_LARGE", 30145, OffT, "7.15.5", Transfer, Built, AtLeast(0),
        reply_neutral: true;
    MaxRecvSpeedLarge, "MAX_RECV_SPEED_LARGE", 30146, OffT, "7.15.5", Transfer, Built, AtLeast(0),
        reply_neutral: true, impersonal: true;
    FtpAlternativeToUser, "FTP_ALTERNATIVE_TO_USER", 10147, String, "7.15.5", Login, Built, Plain;
    SockOptFunction, "SOCKOPTFUNCTION", 20148, Function, "7.16.0", Connection, Built, Plain;
    SockOptData, "SOCKOPTDATA", 10149, CbPtr, "7.16.0", Transfer, Built, Plain;
    SslSessionIdCache, "SSL_SESSIONID_CACHE", 150, Long, "7.16.0", Connection, Built, Any, default: 1,
        reply_neutral: true, impersonal: true;
    SshAuthTypes, "SSH_AUTH_TYPES", 151, Values, "7.16.1", Connection, Built, Any,
        default: CURLSSH_AUTH_DEFAULT as i64;
    SshPublicKeyFile, "SSH_PUBLIC_KEYFILE", 10152, String, "7.16.1", Connection, Built, Plain;
    SshPrivateKeyFile, "SSH_PRIVATE_KEYFILE", 10153, String, "7.16.1", Connection, Built, Plain;
    FtpSslCcc, "FTP_SSL_CCC", 154, Long, "7.16.1", Connection, Built, Within(0, 2);
    TimeoutMs, "TIMEOUT_MS", 155, Long, "7.16.2", Transfer, Built, AtLeast(0), reply_neutral: true,
        impersonal: true;
    ConnectTimeoutMs, "CONNECTTIMEOUT_MS", 156, Long, "7.16.2", Transfer, Built, AtLeast(0),
        default: 300_000, reply_neutral: true, impersonal: true;
    HttpTransferDecoding, "HTTP_TRANSFER_DECODING", 157, Long, "7.16.2", Transfer, Built, Any, default: 1;
    HttpContentDecoding, "HTTP_CONTENT_DECODING", 158, Long, "7.16.2", Transfer, Built, Any, default: 1;
    NewFilePerms, "NEW_FILE_PERMS", 159, Long, "7.16.4", Transfer, Built, Within(0, 0o777), default: 0o644;
    NewDirectoryPerms, "NEW_DIRECTORY_PERMS", 160, Long, "7.16.4", Transfer, Built, Within(0, 0o777),
        default: 0o755;
    PostRedir, "POSTREDIR", 161, Values, "7.19.1", Transfer, Built, AtLeast(0), reply_neutral: true;
    SshHostPublicKeyMd5, "SSH_HOST_PUBLIC_KEY_MD5", 10162, String, "7.17.1", Connection, Built, Plain;
    OpenSocketFunction, "OPENSOCKETFUNCTION", 20163, Function, "7.17.1", Connection, Built, Plain;
    OpenSocketData, "OPENSOCKETDATA", 10164, CbPtr, "7.17.1", Transfer, Built, Plain;
    CopyPostFields, "COPYPOSTFIELDS", 10165, Object, "7.17.1", Transfer, Built, CopiedPostFields;
    ProxyTransferMode, "PROXY_TRANSFER_MODE", 166, Long, "7.18.0", Transfer, Built, Any;
    SeekFunction, "SEEKFUNCTION", 20167, Function, "7.18.0", Transfer, Built, Plain;
    SeekData, "SEEKDATA", 10168, CbPtr, "7.18.0", Transfer, Built, Plain;
    CrlFile, "CRLFILE", 10169, String, "7.19.0", Connection, Built, Plain, twin: Some(O::ProxyCrlFile),
        impersonal: true;
    IssuerCert, "ISSUERCERT", 10170, String, "7.19.0", Connection, Built, Plain,
        twin: Some(O::ProxyIssuerCert);
    AddressScope, "ADDRESS_SCOPE", 171, Long, "7.19.0", Connection, Built, Within(0, 0xffff_ffff);
    CertInfo, "CERTINFO", 172, Long, "7.19.1", Route, Built, Any, reply_neutral: true;
    Username, "USERNAME", 10173, String, "7.19.1", Login, Built, Plain;
    Password, "PASSWORD", 10174, String, "7.19.1", Login, Built, Plain, secret: true;
    ProxyUsername, "PROXYUSERNAME", 10175, String, "7.19.1", Connection, Built, Plain;
    ProxyPassword, "PROXYPASSWORD", 10176, String, "7.19.1", Connection, Built, Plain, secret: true;
    NoProxy, "NOPROXY", 10177, String, "7.19.4", Connection, Built, Plain, impersonal: true;
    TftpBlkSize, "TFTP_BLKSIZE", 178, Long, "7.19.4", Transfer, Built, AtLeast(0), default: 512;
    Socks5GssapiService, "SOCKS5_GSSAPI_SERVICE", 10179, String, "7.19.4", Connection, Built,
        StoredAs(O::ProxyServiceName), deprecated: "7.49.0";
    Socks5GssapiNec, "SOCKS5_GSSAPI_NEC", 180, Long, "7.19.4", Connection, Built, Any, impersonal: true;
    Protocols, "PROTOCOLS", 181, Long, "7.19.4", Transfer, Built, Any, deprecated: "7.85.0";
    RedirProtocols, "REDIR_PROTOCOLS", 182, Long, "7.19.4", Transfer, Built, Any, deprecated: "7.85.0";
    SshKnownHosts, "SSH_KNOWNHOSTS", 10183, String, "7.19.6", Connection, Built, Plain;
    SshKeyFunction, "SSH_KEYFUNCTION", 20184, Function, "7.19.6", Connection, Built, Plain;
    SshKeyData, "SSH_KEYDATA", 10185, CbPtr, "7.19.6", Connection, Built, Plain;
    MailFrom, "MAIL_FROM", 10186, String, "7.20.0", Transfer, Built, Plain;
    MailRcpt, "MAIL_RCPT", 10187, SList, "7.20.0", Transfer, Built, Plain;
    FtpUsePret, "FTP_USE_PRET", 188, Long, "7.20.0", Transfer, Built, Any, impersonal: true;
    RtspRequest, "RTSP_REQUEST", 189, Values, "7.20.0", Transfer, Built, Within(1, 11), default: 1;
    RtspSessionId, "RTSP_SESSION_ID", 10190, String, "7.20.0", Transfer, Built, Plain;
    RtspStreamUri, "RTSP_STREAM_URI", 10191, String, "7.20.0", Transfer, Built, Plain;
    RtspTransport, "RTSP_TRANSPORT", 10192, String, "7.20.0", Transfer, Built, Plain;
    RtspClientCseq, "RTSP_CLIENT_CSEQ", 193, Long, "7.20.0", Transfer, Built, AtLeast(0);
    RtspServerCseq, "RTSP_SERVER_CSEQ", 194, Long, "7.20.0", Transfer, Built, AtLeast(0);
    InterleaveData, "INTERLEAVEDATA", 10195, CbPtr, "7.20.0", Transfer, Built, Plain;
    InterleaveFunction, "INTERLEAVEFUNCTION", 20196, Function, "7.20.0", Transfer, Built, Plain;
    WildcardMatch, "WILDCARDMATCH", 197, Long, "7.21.0", Transfer, Built, Any;
    ChunkBgnFunction, "CHUNK_BGN_FUNCTION", 20198, Function, "7.21.0", Transfer, Built, Plain;
    ChunkEndFunction, "CHUNK_END_FUNCTION", 20199, Function, "7.21.0", Transfer, Built, Plain;
    FnMatchFunction, "FNMATCH_FUNCTION", 20200, Function, "7.21.0", Transfer, Built, Plain;
    ChunkData, "CHUNK_DATA", 10201, CbPtr, "7.21.0", Transfer, Built, Plain;
    FnMatchData, "FNMATCH_DATA", 10202, CbPtr, "7.21.0", Transfer, Built, Plain;
    Resolve, "RESOLVE", 10203, SList, "7.21.3", Connection, Built, Plain, impersonal: true;
    TlsAuthUsername, "TLSAUTH_USERNAME", 10204, String, "7.21.4", Connection, NotBuilt, Plain,
        deprecated: "8.22.0";
    TlsAuthPassword, "TLSAUTH_PASSWORD", 10205, String, "7.21.4", Connection, NotBuilt, Plain,
        deprecated: "8.22.0";
    TlsAuthType, "TLSAUTH_TYPE", 10206, String, "7.21.4", Connection, NotBuilt, Plain, deprecated: "8.22.0";
    TransferEncoding, "TRANSFER_ENCODING", 207, Long, "7.21.6", Transfer, Built, Any;
    CloseSocketFunction, "CLOSESOCKETFUNCTION", 20208, Function, "7.21.7", Connection, Built, Plain;
    CloseSocketData, "CLOSESOCKETDATA", 10209, CbPtr, "7.21.7", Transfer, Built, Plain;
    GssapiDelegation, "GSSAPI_DELEGATION", 210, Values, "7.22.0", Login, Built, Any;
    DnsServers, "DNS_SERVERS", 10211, String, "7.24.0", Connection, Built, NameServers, impersonal: true;
    AcceptTimeoutMs, "ACCEPTTIMEOUT_MS", 212, Long, "7.24.0", Transfer, Built, AtLeast(0), default: 60_000;
    TcpKeepAlive, "TCP_KEEPALIVE", 213, Long, "7.25.0", Connection, Built, Any, reply_neutral: true,
        impersonal: true;
    TcpKeepIdle, "TCP_KEEPIDLE", 214, Long, "7.25.0", Connection, Built, AtLeast(0), default: 60,
        reply_neutral: true;
    TcpKeepIntvl, "TCP_KEEPINTVL", 215, Long, "7.25.0", Connection, Built, AtLeast(0), default: 60,
        reply_neutral: true;
    SslOptions, "SSL_OPTIONS", 216, Values, "7.25.0", Connection, Built, Any, twin: Some(O::ProxySslOptions);
    MailAuth, "MAIL_AUTH", 10217, String, "7.25.0", Transfer, Built, Plain;
    SaslIr, "SASL_IR", 218, Long, "7.31.0", Transfer, Built, Any;
    XferInfoFunction, "XFERINFOFUNCTION", 20219, Function, "7.32.0", Transfer, Built, Plain;
    Xoauth2Bearer, "XOAUTH2_BEARER", 10220, String, "7.33.0", Login, Built, Plain, secret: true;
    DnsInterface, "DNS_INTERFACE", 10221, String, "7.33.0", Connection, Built, Plain, impersonal: true;
    DnsLocalIp4, "DNS_LOCAL_IP4", 10222, String, "7.33.0", Connection, Built, Ipv4, impersonal: true;
    DnsLocalIp6, "DNS_LOCAL_IP6", 10223, String, "7.33.0", Connection, Built, Ipv6, impersonal: true;
    LoginOptions, "LOGIN_OPTIONS", 10224, String, "7.34.0", Login, Built, Plain;
    SslEnableNpn, "SSL_ENABLE_NPN", 225, Long, "7.36.0", Transfer, NoEffect, Any, deprecated: "7.86.0";
    SslEnableAlpn, "SSL_ENABLE_ALPN", 226, Long, "7.36.0", Connection, Built, Any, default: 1,
        impersonal: true;
    Expect100TimeoutMs, "EXPECT_100_TIMEOUT_MS", 227, Long, "7.36.0", Transfer, Built, AtLeast(0),
        default: 1000, reply_neutral: true;
    ProxyHeader, "PROXYHEADER", 10228, SList, "7.37.0", Connection, Built, Plain;
    HeaderOpt, "HEADEROPT", 229, Values, "7.37.0", Route, Built, Any, default: 1;
    PinnedPublicKey, "PINNEDPUBLICKEY", 10230, String, "7.39.0", Connection, Built, Plain,
        twin: Some(O::ProxyPinnedPublicKey), impersonal: true;
    UnixSocketPath, "UNIX_SOCKET_PATH", 10231, String, "7.40.0", Connection, UnixSockets, Plain;
    SslVerifyStatus, "SSL_VERIFYSTATUS", 232, Long, "7.41.0", Connection, Built, Any, impersonal: true;
    SslFalseStart, "SSL_FALSESTART", 233, Long, "7.42.0", Transfer, NotBuilt, Any, deprecated: "8.15.0";
    PathAsIs, "PATH_AS_IS", 234, Long, "7.42.0", Route, Built, Any, impersonal: true;
    ProxyServiceName, "PROXY_SERVICE_NAME", 10235, String, "7.43.0", Connection, Built, Plain,
        impersonal: true;
    ServiceName, "SERVICE_NAME", 10236, String, "7.43.0", Login, Built, Plain;
    PipeWait, "PIPEWAIT", 237, Long, "7.43.0", Transfer, Built, Any;
    DefaultProtocol, "DEFAULT_PROTOCOL", 10238, String, "7.45.0", Route, Built, Plain, impersonal: true;
    StreamWeight, "STREAM_WEIGHT", 239, Long, "7.46.0", Transfer, NoEffect, StreamWeight;
    StreamDepends, "STREAM_DEPENDS", 10240, Object, "7.46.0", Transfer, NoEffect, Ignored,
        deprecated: "8.21.0";
    StreamDependsE, "STREAM_DEPENDS_E", 10241, Object, "7.46.0", Transfer, NoEffect, Ignored,
        deprecated: "8.21.0";
    TftpNoOptions, "TFTP_NO_OPTIONS", 242, Long, "7.48.0", Transfer, Built, Any;
    ConnectTo, "CONNECT_TO", 10243, SList, "7.49.0", Connection, Built, Plain, impersonal: true;
    TcpFastOpen, "TCP_FASTOPEN", 244, Long, "7.49.0", Connection, Built, Any, reply_neutral: true,
        impersonal: true;
    KeepSendingOnError, "KEEP_SENDING_ON_ERROR", 245, Long, "7.51.0", Transfer, Built, Any;
    ProxyCaInfo, "PROXY_CAINFO", 10246, String, "7.52.0", Connection, Built, Plain, impersonal: true;
    ProxyCaPath, "PROXY_CAPATH", 10247, String, "7.52.0", Connection, Built, Plain, impersonal: true;
    ProxySslVerifyPeer, "PROXY_SSL_VERIFYPEER", 248, Long, "7.52.0", Connection, Built, Any, default: 1;
    ProxySslVerifyHost, "PROXY_SSL_VERIFYHOST", 249, Long, "7.52.0", Connection, Built, NameCheck, default: 2;
    ProxySslVersion, "PROXY_SSLVERSION", 250, Values, "7.52.0", Connection, Built, TlsVersions,
        impersonal: true;
    ProxyTlsAuthUsername, "PROXY_TLSAUTH_USERNAME", 10251, String, "7.52.0", Connection, NotBuilt, Plain,
        deprecated: "8.22.0";
    ProxyTlsAuthPassword, "PROXY_TLSAUTH_PASSWORD", 10252, String, "7.52.0", Connection, NotBuilt, Plain,
        deprecated: "8.22.0";
    ProxyTlsAuthType, "PROXY_TLSAUTH_TYPE", 10253, String, "7.52.0", Connection, NotBuilt, Plain,
        deprecated: "8.22.0";
    ProxySslCert, "PROXY_SSLCERT", 10254, String, "7.52.0", Connection, Built, Plain, impersonal: true;
    ProxySslCertType, "PROXY_SSLCERTTYPE", 10255, String, "7.52.0", Connection, Built, Plain,
        impersonal: true;
    ProxySslKey, "PROXY_SSLKEY", 10256, String, "7.52.0", Connection, Built, Plain, impersonal: true;
    ProxySslKeyType, "PROXY_SSLKEYTYPE", 10257, String, "7.52.0", Connection, Built, Plain, impersonal: true;
    ProxyKeyPasswd, "PROXY_KEYPASSWD", 10258, String, "7.52.0", Connection, Built, Plain, secret: true,
        impersonal: true;
    ProxySslCipherList, "PROXY_SSL_CIPHER_LIST", 10259, String, "7.52.0", Connection, Built, Plain,
        impersonal: true;
    ProxyCrlFile, "PROXY_CRLFILE", 10260, String, "7.52.0", Connection, Built, Plain, impersonal: true;
    ProxySslOptions, "PROXY_SSL_OPTIONS", 261, Long, "7.52.0", Connection, Built, Any, impersonal: true;
    PreProxy, "PRE_PROXY", 10262, String, "7.52.0", Connection, Built, Plain, impersonal: true;
    ProxyPinnedPublicKey, "PROXY_PINNEDPUBLICKEY", 10263, String, "7.52.0", Connection, Built, Plain,
        impersonal: true;
    AbstractUnixSocket, "ABSTRACT_UNIX_SOCKET", 10264, String, "7.53.0", Connection, UnixSockets, Plain;
    SuppressConnectHeaders, "SUPPRESS_CONNECT_HEADERS", 265, Long, "7.54.0", Transfer, Built, Any,
        reply_neutral: true, impersonal: true;
    RequestTarget, "REQUEST_TARGET", 10266, String, "7.55.0", Transfer, Built, Plain;
    Socks5Auth, "SOCKS5_AUTH", 267, Long, "7.55.0", Connection, Built, SocksSchemes,
        default: SOCKS5_SCHEMES as i64, impersonal: true;
    SshCompression, "SSH_COMPRESSION", 268, Long, "7.56.0", Connection, Built, Any;
    MimePost, "MIMEPOST", 10269, Object, "7.56.0", Transfer, Built, Form;
    TimeValueLarge, "TIMEVALUE_LARGE", 30270, OffT, "7.59.0", Transfer, Built, Any;
    HappyEyeballsTimeoutMs, "HAPPY_EYEBALLS_TIMEOUT_MS", 271, Long, "7.59.0", Transfer, Built, AtLeast(0),
        default: 200, reply_neutral: true, impersonal: true;
    ResolverStartFunction, "RESOLVER_START_FUNCTION", 20272, Function, "7.59.0", Transfer, Built, Plain;
    ResolverStartData, "RESOLVER_START_DATA", 10273, CbPtr, "7.59.0", Transfer, Built, Plain;
    HaProxyProtocol, "HAPROXYPROTOCOL", 274, Long, "7.60.0", Connection, Built, Any;
    DnsShuffleAddresses, "DNS_SHUFFLE_ADDRESSES", 275, Long, "7.60.0", Route, Built, Any;
    Tls13Ciphers, "TLS13_CIPHERS", 10276, String, "7.61.0", Connection, Built, Plain,
        twin: Some(O::ProxyTls13Ciphers), impersonal: true;
    ProxyTls13Ciphers, "PROXY_TLS13_CIPHERS", 10277, String, "7.61.0", Connection, Built, Plain,
        impersonal: true;
    DisallowUsernameInUrl, "DISALLOW_USERNAME_IN_URL", 278, Long, "7.61.0", Route, Built, Any;
    DohUrl, "DOH_URL", 10279, String, "7.62.0", Connection, Built, Plain, impersonal: true;
    UploadBufferSize, "UPLOAD_BUFFERSIZE", 280, Long, "7.62.0", Transfer, Built,
        Clamped(16 * 1024, 2 * 1024 * 1024), default: 64 * 1024;
    UpkeepIntervalMs, "UPKEEP_INTERVAL_MS", 281, Long, "7.62.0", Transfer, Built, AtLeast(0), default: 60_000;
    CurlU, "CURLU", 10282, Object, "7.63.0", Route, Built, UrlHandle;
    TrailerFunction, "TRAILERFUNCTION", 20283, Function, "7.64.0", Transfer, Built, Plain;
    TrailerData, "TRAILERDATA", 10284, CbPtr, "7.64.0", Transfer, Built, Plain;
    Http09Allowed, "HTTP09_ALLOWED", 285, Long, "7.64.0", Transfer, Built, Any, impersonal: true;
    AltSvcCtrl, "ALTSVC_CTRL", 286, Long, "7.64.1", Route, Built, NotZero;
    AltSvc, "ALTSVC", 10287, String, "7.64.1", Route, Built, AltsvcFile, reply_neutral: true;
    MaxAgeConn, "MAXAGE_CONN", 288, Long, "7.65.0", Transfer, Built, AtLeast(0), default: 118;
    SaslAuthzId, "SASL_AUTHZID", 10289, String, "7.66.0", Login, Built, Plain;
    MailRcptAllowFails, "MAIL_RCPT_ALLOWFAILS", 290, Long, "8.2.0", Transfer, Built, Any;
    SslCertBlob, "SSLCERT_BLOB", 40291, Blob, "7.71.0", Connection, Built, Plain,
        twin: Some(O::ProxySslCertBlob);
    SslKeyBlob, "SSLKEY_BLOB", 40292, Blob, "7.71.0", Connection, Built, Plain,
        twin: Some(O::ProxySslKeyBlob), secret: true;
    ProxySslCertBlob, "PROXY_SSLCERT_BLOB", 40293, Blob, "7.71.0", Connection, Built, Plain;
    ProxySslKeyBlob, "PROXY_SSLKEY_BLOB", 40294, Blob, "7.71.0", Connection, Built, Plain, secret: true;
    IssuerCertBlob, "ISSUERCERT_BLOB", 40295, Blob, "7.71.0", Connection, Built, Plain,
        twin: Some(O::ProxyIssuerCertBlob);
    ProxyIssuerCert, "PROXY_ISSUERCERT", 10296, String, "7.71.0", Connection, Built, Plain;
    ProxyIssuerCertBlob, "PROXY_ISSUERCERT_BLOB", 40297, Blob, "7.71.0", Connection, Built, Plain;
    SslEcCurves, "SSL_EC_CURVES", 10298, String, "7.73.0", Connection, Built, Plain, impersonal: true;
    HstsCtrl, "HSTS_CTRL", 299, Long, "7.74.0", Transfer, Built, Any;
    Hsts, "HSTS", 10300, String, "7.74.0", Transfer, Built, HstsFile, reply_neutral: true, impersonal: true;
    HstsReadFunction, "HSTSREADFUNCTION", 20301, Function, "7.74.0", Transfer, Built, Plain;
    HstsReadData, "HSTSREADDATA", 10302, CbPtr, "7.74.0", Transfer, Built, Plain;
    HstsWriteFunction, "HSTSWRITEFUNCTION", 20303, Function, "7.74.0", Transfer, Built, Plain;
    HstsWriteData, "HSTSWRITEDATA", 10304, CbPtr, "7.74.0", Transfer, Built, Plain;
    AwsSigV4, "AWS_SIGV4", 10305, String, "7.75.0", Transfer, Built, Plain;
    DohSslVerifyPeer, "DOH_SSL_VERIFYPEER", 306, Long, "7.76.0", Connection, Built, Any, default: 1;
    DohSslVerifyHost, "DOH_SSL_VERIFYHOST", 307, Long, "7.76.0", Connection, Built, Any, default: 2;
    DohSslVerifyStatus, "DOH_SSL_VERIFYSTATUS", 308, Long, "7.76.0", Connection, Built, Any, impersonal: true;
    CaInfoBlob, "CAINFO_BLOB", 40309, Blob, "7.77.0", Connection, Built, Plain,
        twin: Some(O::ProxyCaInfoBlob);
    ProxyCaInfoBlob, "PROXY_CAINFO_BLOB", 40310, Blob, "7.77.0", Connection, Built, Plain;
    SshHostPublicKeySha256, "SSH_HOST_PUBLIC_KEY_SHA256", 10311, String, "7.80.0", Connection, Built, Plain;
    PrereqFunction, "PREREQFUNCTION", 20312, Function, "7.80.0", Transfer, Built, Plain;
    PrereqData, "PREREQDATA", 10313, CbPtr, "7.80.0", Transfer, Built, Plain;
    MaxLifetimeConn, "MAXLIFETIME_CONN", 314, Long, "7.80.0", Transfer, Built, AtLeast(0);
    MimeOptions, "MIME_OPTIONS", 315, Long, "7.81.0", Transfer, Built, Any;
    SshHostKeyFunction, "SSH_HOSTKEYFUNCTION", 20316, Function, "7.84.0", Connection, Built, Plain;
    SshHostKeyData, "SSH_HOSTKEYDATA", 10317, CbPtr, "7.84.0", Connection, Built, Plain;
    ProtocolsStr, "PROTOCOLS_STR", 10318, String, "7.85.0", Transfer, Built, Protocols(O::Protocols),
        reply_neutral: true, impersonal: true;
    RedirProtocolsStr, "REDIR_PROTOCOLS_STR", 10319, String, "7.85.0", Transfer, Built,
        Protocols(O::RedirProtocols), reply_neutral: true, impersonal: true;
    WsOptions, "WS_OPTIONS", 320, Long, "7.86.0", Transfer, Built, Any;
    CaCacheTimeout, "CA_CACHE_TIMEOUT", 321, Long, "7.87.0", Route, Built, AtLeast(-1), default: 86_400;
    QuickExit, "QUICK_EXIT", 322, Long, "7.87.0", Transfer, NoEffect, Any;
    HaProxyClientIp, "HAPROXY_CLIENT_IP", 10323, String, "8.2.0", Connection, Built, Plain;
    ServerResponseTimeoutMs, "SERVER_RESPONSE_TIMEOUT_MS", 324, Long, "8.6.0", Transfer, Built, AtLeast(0);
    Ech, "ECH", 10325, String, "8.8.0", Connection, Built, Ech, impersonal: true;
    TcpKeepCnt, "TCP_KEEPCNT", 326, Long, "8.9.0", Connection, Built, AtLeast(0), default: 9,
        reply_neutral: true, impersonal: true;
    UploadFlags, "UPLOAD_FLAGS", 327, Long, "8.13.0", Transfer, Built, Any, default: CURLULFLAG_SEEN;
    SslSignatureAlgorithms, "SSL_SIGNATURE_ALGORITHMS", 10328, String, "8.14.0", Connection, Built, Plain,
        impersonal: true;
    HttpSigAlgorithm, "HTTPSIG_ALGORITHM", 329, Values, "8.22.0", Transfer, Built, Within(0, 2);
    HttpSigKey, "HTTPSIG_KEY", 10330, String, "8.22.0", Transfer, Built, Plain;
    HttpSigKeyId, "HTTPSIG_KEYID", 10331, String, "8.22.0", Transfer, Built, Plain;
    HttpSigHeaders, "HTTPSIG_HEADERS", 10332, String, "8.22.0", Transfer, Built, Plain;
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn ids_and_names_are_unique_and_found() {
        let mut ids = HashSet::new();
        for &option in EasyOption::ALL {
            assert!(ids.insert(option.id() % 10_000), "{}", option.name());
            assert_eq!(EasyOption::from_id(option.id()), Some(option));
            assert_eq!(EasyOption::from_name(&option.name().to_lowercase()), Some((option, false)));
        }
        assert_eq!(EasyOption::from_id(9999), None);
        assert_eq!(EasyOption::ALL.len(), 312);
    }

    #[test]
    fn columns_agree_with_each_other() {
        let places: HashSet<usize> = EasyOption::ALL.iter().map(|option| place(*option)).collect();
        assert_eq!((places.len(), places.iter().max()), (EasyOption::ALL.len(), Some(&(PLACES - 1))));
        for &option in EasyOption::ALL {
            let name = option.name();
            assert!(!name.is_empty());
            assert_eq!(option.default(), option.row().default, "{name}");
            let number = matches!(option.rule(), Rule::Number(_));
            assert!(number || option.default() == 0, "{name} has a default and no number");
            if let Some(twin) = option.proxy_twin() {
                assert_eq!(twin.name(), format!("PROXY_{name}"));
                let columns = |o: O| (o.rule(), o.default(), o.bound(), o.support(), o.is_secret());
                assert_eq!(columns(twin), columns(option), "{name}");
            }
            // An option that is stored as another has the same columns as that one.
            let stored = match option.rule() {
                Rule::Number(NumberRule::Seconds(to) | NumberRule::StoredAs(to)) => vec![to],
                Rule::Text(TextRule::StoredAs(to) | TextRule::Protocols(to)) => vec![to],
                Rule::Text(TextRule::Login(user, password)) => vec![user, password],
                _ => vec![],
            };
            assert!(stored.iter().all(|to| to.bound() == option.bound()), "{name}");
        }
    }

    #[test]
    fn the_number_says_the_type() {
        for option in EasyOption::ALL {
            let offset = match option.kind() {
                ArgKind::Long | ArgKind::Values => 0,
                ArgKind::Object | ArgKind::String | ArgKind::SList | ArgKind::CbPtr => 10_000,
                ArgKind::Function => 20_000,
                ArgKind::OffT => 30_000,
                ArgKind::Blob => 40_000,
            };
            assert_eq!(option.id() / 10_000 * 10_000, offset, "{}", option.name());
        }
    }

    #[test]
    fn aliases_are_found_as_such() {
        assert_eq!(EasyOption::from_name("file"), Some((EasyOption::WriteData, true)));
        assert_eq!(EasyOption::from_name("SSLKEYPASSWD"), Some((EasyOption::KeyPasswd, true)));
        assert_eq!(EasyOption::from_name("nonsense"), None);
        assert!(BY_NAME.is_sorted_by(|a, b| a.0 < b.0));
    }

    #[test]
    fn every_callback_pointer_shares_its_functions_bound() {
        for option in EasyOption::ALL {
            let Some(stem) = option.name().strip_suffix("DATA") else { continue };
            // Handles with the same socket functions share connections, whatever data each passes to them.
            if matches!(stem, "SOCKOPT" | "OPENSOCKET" | "CLOSESOCKET") {
                assert_eq!(option.bound(), Bound::Transfer);
            } else if let Some((function, false)) = EasyOption::from_name(&format!("{stem}FUNCTION")) {
                assert_eq!(option.bound(), function.bound(), "{}", option.name());
            }
        }
    }
}
