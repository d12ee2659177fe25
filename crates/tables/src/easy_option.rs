//! Easy options: one row per `CURLOPT_` option, with its number, argument type, first version and scope.
//!
//! Follows curl_easy_setopt(3) and curl_easy_option_next(3) of the version in `version::CURL`. What an option does is
//! the engine's matter; here stands only what the C headers and the option look-up functions must know, and
//! whether the option is part of a connection's identity.
//!
//! Variant names are made from the option's name: words between underscores are capitalised, and a trailing
//! `DATA` or `FUNCTION` counts as a word (`WRITEDATA` is `WriteData`, `HTTPHEADER` is `Httpheader`).

/// What an option takes as its argument; the numbers are those of `curl_easytype`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(i32)]
pub enum ArgKind {
    /// A `long`.
    Long = 0,
    /// A `long` out of a documented set or a bitmask.
    Values = 1,
    /// A `curl_off_t`.
    OffT = 2,
    /// A pointer to something else than a string: a handle, a buffer, a `FILE *`.
    Object = 3,
    /// A NUL-terminated string that the library copies.
    String = 4,
    /// A `struct curl_slist *` that stays the application's.
    SList = 5,
    /// A pointer handed to a callback.
    CbPtr = 6,
    /// A `struct curl_blob *`.
    Blob = 7,
    /// A function pointer.
    Function = 8,
}

/// How far an option reaches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Bound {
    /// The transfer only: a connection made with another value can be used again.
    Transfer,
    /// The same, but what leads to a connection is made from it: the parsed URL, or the way to its host.
    Route,
    /// The connection: one made with another value must not be used.
    Connection,
    /// The login: part of the identity where scheme or authentication method tie credentials to the connection.
    Login,
}

struct Row {
    name: &'static str,
    kind: ArgKind,
    since: &'static str,
    deprecated: &'static str,
    bound: Bound,
}

macro_rules! easy_options {
    ($($variant:ident, $name:literal, $id:literal, $kind:ident, $since:literal, $deprecated:literal, $bound:ident;)*) => {
        /// An option of an easy handle; the discriminant is its `CURLOPT_` number.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr(i32)]
        pub enum EasyOption { $($variant = $id,)* }

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

            const fn row(self) -> &'static Row {
                match self {
                    $(EasyOption::$variant => &Row {
                        name: $name,
                        kind: ArgKind::$kind,
                        since: $since,
                        deprecated: $deprecated,
                        bound: Bound::$bound,
                    },)*
                }
            }
        }
    };
}

impl EasyOption {
    /// The `CURLOPT_` number.
    pub const fn id(self) -> i32 {
        self as i32
    }

    /// The name without `CURLOPT_`.
    pub const fn name(self) -> &'static str {
        self.row().name
    }

    pub const fn kind(self) -> ArgKind {
        self.row().kind
    }

    /// The curl version that introduced it.
    pub const fn since(self) -> &'static str {
        self.row().since
    }

    /// The curl version that deprecated it.
    pub const fn deprecated(self) -> Option<&'static str> {
        match self.row().deprecated.as_bytes() {
            [] => None,
            _ => Some(self.row().deprecated),
        }
    }

    pub const fn bound(self) -> Bound {
        self.row().bound
    }

    /// Whether a changed value forbids using a connection made with the old one.
    pub const fn identity(self) -> bool {
        matches!(self.row().bound, Bound::Connection)
    }

    /// Whether a URL parsed, or a way to a host planned, with another value cannot be used again. The engine keeps both
    /// until such an option changes, and asks for no other while it makes them.
    pub const fn routes(self) -> bool {
        !matches!(self.row().bound, Bound::Transfer)
    }

    /// Finds an option by its name without `CURLOPT_`, ignoring case; true says that the name is an old alias.
    pub fn from_name(name: &str) -> Option<(Self, bool)> {
        let wanted = || name.bytes().map(|byte| byte.to_ascii_uppercase());
        let at = BY_NAME.binary_search_by(|(known, ..)| known.bytes().cmp(wanted())).ok()?;
        let (_, option, alias) = BY_NAME[at];
        Some((option, alias))
    }
}

/// Old names: name, option, first version, version that deprecated the name (empty when curl names none).
pub const ALIASES: &[(&str, EasyOption, &str, &str)] = &[
    ("FTPLISTONLY", EasyOption::Dirlistonly, "7.1", "7.16.4"),
    ("FTPAPPEND", EasyOption::Append, "7.1", "7.16.4"),
    ("FTP_RESPONSE_TIMEOUT", EasyOption::ServerResponseTimeout, "7.10.8", "7.85.0"),
    ("FTP_SSL", EasyOption::UseSsl, "7.11.0", "7.16.4"),
    ("POST301", EasyOption::Postredir, "7.17.1", "7.19.1"),
    ("MAIL_RCPT_ALLLOWFAILS", EasyOption::MailRcptAllowfails, "7.69.0", "8.2.0"),
    ("FILE", EasyOption::WriteData, "7.1", "7.9.7"),
    ("INFILE", EasyOption::ReadData, "7.1", "7.9.7"),
    ("RTSPHEADER", EasyOption::Httpheader, "7.20.0", ""),
    ("SSLCERTPASSWD", EasyOption::Keypasswd, "7.1.1", "7.17.0"),
    ("SSLKEYPASSWD", EasyOption::Keypasswd, "7.9.3", "7.17.0"),
    ("WRITEHEADER", EasyOption::HeaderData, "7.1", ""),
    ("PROGRESSDATA", EasyOption::XferinfoData, "7.1", ""),
    ("KRB4LEVEL", EasyOption::Krblevel, "7.3", "7.17.0"),
    ("ENCODING", EasyOption::AcceptEncoding, "7.10", "7.21.6"),
];

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

// The last column: does a connection made with another value serve this transfer? Socket callbacks and their data
// count, since the application's pointers may dangle; what decides how names become addresses counts, since it
// decides who the peer is. Rules about when to reuse (FRESH_CONNECT, MAXAGE_CONN) are no part of the identity.
// The origin (URL, CURLU, DEFAULT_PROTOCOL) always is, through the transfer's URL.
easy_options! {
    WriteData,               "WRITEDATA",                  10001, CbPtr,    "7.9.7",  "",       Transfer;
    Url,                     "URL",                        10002, String,   "7.1",    "",       Route;
    Port,                    "PORT",                       3,     Long,     "7.1",    "",       Connection;
    Proxy,                   "PROXY",                      10004, String,   "7.1",    "",       Connection;
    Userpwd,                 "USERPWD",                    10005, String,   "7.1",    "",       Login;
    Proxyuserpwd,            "PROXYUSERPWD",               10006, String,   "7.1",    "",       Connection;
    Range,                   "RANGE",                      10007, String,   "7.1",    "",       Transfer;
    ReadData,                "READDATA",                   10009, CbPtr,    "7.9.7",  "",       Transfer;
    Errorbuffer,             "ERRORBUFFER",                10010, Object,   "7.1",    "",       Transfer;
    WriteFunction,           "WRITEFUNCTION",              20011, Function, "7.1",    "",       Transfer;
    ReadFunction,            "READFUNCTION",               20012, Function, "7.1",    "",       Transfer;
    Timeout,                 "TIMEOUT",                    13,    Long,     "7.1",    "",       Transfer;
    Infilesize,              "INFILESIZE",                 14,    Long,     "7.1",    "",       Transfer;
    Postfields,              "POSTFIELDS",                 10015, Object,   "7.1",    "",       Transfer;
    Referer,                 "REFERER",                    10016, String,   "7.1",    "",       Transfer;
    Ftpport,                 "FTPPORT",                    10017, String,   "7.1",    "",       Transfer;
    Useragent,               "USERAGENT",                  10018, String,   "7.1",    "",       Transfer;
    LowSpeedLimit,           "LOW_SPEED_LIMIT",            19,    Long,     "7.1",    "",       Transfer;
    LowSpeedTime,            "LOW_SPEED_TIME",             20,    Long,     "7.1",    "",       Transfer;
    ResumeFrom,              "RESUME_FROM",                21,    Long,     "7.1",    "",       Transfer;
    Cookie,                  "COOKIE",                     10022, String,   "7.1",    "",       Transfer;
    Httpheader,              "HTTPHEADER",                 10023, SList,    "7.1",    "",       Transfer;
    Httppost,                "HTTPPOST",                   10024, Object,   "7.1",    "7.56.0", Transfer;
    Sslcert,                 "SSLCERT",                    10025, String,   "7.1",    "",       Connection;
    Keypasswd,               "KEYPASSWD",                  10026, String,   "7.17.0", "",       Connection;
    Crlf,                    "CRLF",                       27,    Long,     "7.1",    "",       Transfer;
    Quote,                   "QUOTE",                      10028, SList,    "7.1",    "",       Transfer;
    HeaderData,              "HEADERDATA",                 10029, CbPtr,    "7.10",   "",       Transfer;
    Cookiefile,              "COOKIEFILE",                 10031, String,   "7.1",    "",       Transfer;
    Sslversion,              "SSLVERSION",                 32,    Values,   "7.1",    "",       Connection;
    Timecondition,           "TIMECONDITION",              33,    Values,   "7.1",    "",       Transfer;
    Timevalue,               "TIMEVALUE",                  34,    Long,     "7.1",    "",       Transfer;
    Customrequest,           "CUSTOMREQUEST",              10036, String,   "7.1",    "",       Transfer;
    Stderr,                  "STDERR",                     10037, Object,   "7.1",    "",       Transfer;
    Postquote,               "POSTQUOTE",                  10039, SList,    "7.1",    "",       Transfer;
    Verbose,                 "VERBOSE",                    41,    Long,     "7.1",    "",       Transfer;
    Header,                  "HEADER",                     42,    Long,     "7.1",    "",       Transfer;
    Noprogress,              "NOPROGRESS",                 43,    Long,     "7.1",    "",       Transfer;
    Nobody,                  "NOBODY",                     44,    Long,     "7.1",    "",       Transfer;
    Failonerror,             "FAILONERROR",                45,    Long,     "7.1",    "",       Transfer;
    Upload,                  "UPLOAD",                     46,    Long,     "7.1",    "",       Transfer;
    Post,                    "POST",                       47,    Long,     "7.1",    "",       Transfer;
    Dirlistonly,             "DIRLISTONLY",                48,    Long,     "7.17.0", "",       Transfer;
    Append,                  "APPEND",                     50,    Long,     "7.17.0", "",       Transfer;
    Netrc,                   "NETRC",                      51,    Values,   "7.1",    "",       Login;
    Followlocation,          "FOLLOWLOCATION",             52,    Long,     "7.1",    "",       Transfer;
    Transfertext,            "TRANSFERTEXT",               53,    Long,     "7.1.1",  "",       Transfer;
    Put,                     "PUT",                        54,    Long,     "7.1",    "7.12.1", Transfer;
    ProgressFunction,        "PROGRESSFUNCTION",           20056, Function, "7.1",    "7.32.0", Transfer;
    XferinfoData,            "XFERINFODATA",               10057, CbPtr,    "7.32.0", "",       Transfer;
    Autoreferer,             "AUTOREFERER",                58,    Long,     "7.1",    "",       Transfer;
    Proxyport,               "PROXYPORT",                  59,    Long,     "7.1",    "",       Connection;
    Postfieldsize,           "POSTFIELDSIZE",              60,    Long,     "7.2",    "",       Transfer;
    Httpproxytunnel,         "HTTPPROXYTUNNEL",            61,    Long,     "7.3",    "",       Connection;
    Interface,               "INTERFACE",                  10062, String,   "7.3",    "",       Connection;
    Krblevel,                "KRBLEVEL",                   10063, String,   "7.16.4", "8.17.0", Connection;
    SslVerifypeer,           "SSL_VERIFYPEER",             64,    Long,     "7.4.2",  "",       Connection;
    Cainfo,                  "CAINFO",                     10065, String,   "7.4.2",  "",       Connection;
    Maxredirs,               "MAXREDIRS",                  68,    Long,     "7.5",    "",       Transfer;
    Filetime,                "FILETIME",                   69,    Long,     "7.5",    "",       Transfer;
    Telnetoptions,           "TELNETOPTIONS",              10070, SList,    "7.7",    "",       Transfer;
    Maxconnects,             "MAXCONNECTS",                71,    Long,     "7.7",    "",       Transfer;
    FreshConnect,            "FRESH_CONNECT",              74,    Long,     "7.7",    "",       Transfer;
    ForbidReuse,             "FORBID_REUSE",               75,    Long,     "7.7",    "",       Transfer;
    RandomFile,              "RANDOM_FILE",                10076, String,   "7.7",    "7.84.0", Transfer;
    Egdsocket,               "EGDSOCKET",                  10077, String,   "7.7",    "7.84.0", Transfer;
    Connecttimeout,          "CONNECTTIMEOUT",             78,    Long,     "7.7",    "",       Transfer;
    HeaderFunction,          "HEADERFUNCTION",             20079, Function, "7.7.2",  "",       Transfer;
    Httpget,                 "HTTPGET",                    80,    Long,     "7.8.1",  "",       Transfer;
    SslVerifyhost,           "SSL_VERIFYHOST",             81,    Long,     "7.8.1",  "",       Connection;
    Cookiejar,               "COOKIEJAR",                  10082, String,   "7.9",    "",       Transfer;
    SslCipherList,           "SSL_CIPHER_LIST",            10083, String,   "7.9",    "",       Connection;
    HttpVersion,             "HTTP_VERSION",               84,    Values,   "7.9.1",  "",       Connection;
    FtpUseEpsv,              "FTP_USE_EPSV",               85,    Long,     "7.9.2",  "",       Transfer;
    Sslcerttype,             "SSLCERTTYPE",                10086, String,   "7.9.3",  "",       Connection;
    Sslkey,                  "SSLKEY",                     10087, String,   "7.9.3",  "",       Connection;
    Sslkeytype,              "SSLKEYTYPE",                 10088, String,   "7.9.3",  "",       Connection;
    Sslengine,               "SSLENGINE",                  10089, String,   "7.9.3",  "",       Connection;
    SslengineDefault,        "SSLENGINE_DEFAULT",          90,    Long,     "7.9.3",  "",       Connection;
    DnsUseGlobalCache,       "DNS_USE_GLOBAL_CACHE",       91,    Long,     "7.9.3",  "7.11.1", Transfer;
    DnsCacheTimeout,         "DNS_CACHE_TIMEOUT",          92,    Long,     "7.9.3",  "",       Route;
    Prequote,                "PREQUOTE",                   10093, SList,    "7.9.5",  "",       Transfer;
    DebugFunction,           "DEBUGFUNCTION",              20094, Function, "7.9.6",  "",       Transfer;
    DebugData,               "DEBUGDATA",                  10095, CbPtr,    "7.9.6",  "",       Transfer;
    Cookiesession,           "COOKIESESSION",              96,    Long,     "7.9.7",  "",       Transfer;
    Capath,                  "CAPATH",                     10097, String,   "7.9.8",  "",       Connection;
    Buffersize,              "BUFFERSIZE",                 98,    Long,     "7.10",   "",       Transfer;
    Nosignal,                "NOSIGNAL",                   99,    Long,     "7.10",   "",       Transfer;
    Share,                   "SHARE",                      10100, Object,   "7.10",   "",       Transfer;
    Proxytype,               "PROXYTYPE",                  101,   Values,   "7.10",   "",       Connection;
    AcceptEncoding,          "ACCEPT_ENCODING",            10102, String,   "7.21.6", "",       Transfer;
    Private,                 "PRIVATE",                    10103, Object,   "7.10.3", "",       Transfer;
    Http200aliases,          "HTTP200ALIASES",             10104, SList,    "7.10.3", "",       Transfer;
    UnrestrictedAuth,        "UNRESTRICTED_AUTH",          105,   Long,     "7.10.4", "",       Route;
    FtpUseEprt,              "FTP_USE_EPRT",               106,   Long,     "7.10.5", "",       Transfer;
    Httpauth,                "HTTPAUTH",                   107,   Values,   "7.10.6", "",       Login;
    SslCtxFunction,          "SSL_CTX_FUNCTION",           20108, Function, "7.10.6", "",       Connection;
    SslCtxData,              "SSL_CTX_DATA",               10109, CbPtr,    "7.10.6", "",       Connection;
    FtpCreateMissingDirs,    "FTP_CREATE_MISSING_DIRS",    110,   Long,     "7.10.7", "",       Transfer;
    Proxyauth,               "PROXYAUTH",                  111,   Values,   "7.10.7", "",       Connection;
    ServerResponseTimeout,   "SERVER_RESPONSE_TIMEOUT",    112,   Long,     "7.20.0", "",       Transfer;
    Ipresolve,               "IPRESOLVE",                  113,   Values,   "7.10.8", "",       Connection;
    Maxfilesize,             "MAXFILESIZE",                114,   Long,     "7.10.8", "",       Transfer;
    InfilesizeLarge,         "INFILESIZE_LARGE",           30115, OffT,     "7.11.0", "",       Transfer;
    ResumeFromLarge,         "RESUME_FROM_LARGE",          30116, OffT,     "7.11.0", "",       Transfer;
    MaxfilesizeLarge,        "MAXFILESIZE_LARGE",          30117, OffT,     "7.11.0", "",       Transfer;
    NetrcFile,               "NETRC_FILE",                 10118, String,   "7.11.0", "",       Login;
    UseSsl,                  "USE_SSL",                    119,   Values,   "7.17.0", "",       Connection;
    PostfieldsizeLarge,      "POSTFIELDSIZE_LARGE",        30120, OffT,     "7.11.1", "",       Transfer;
    TcpNodelay,              "TCP_NODELAY",                121,   Long,     "7.11.2", "",       Connection;
    Ftpsslauth,              "FTPSSLAUTH",                 129,   Values,   "7.12.2", "",       Connection;
    IoctlFunction,           "IOCTLFUNCTION",              20130, Function, "7.12.3", "7.18.0", Transfer;
    IoctlData,               "IOCTLDATA",                  10131, CbPtr,    "7.12.3", "7.18.0", Transfer;
    FtpAccount,              "FTP_ACCOUNT",                10134, String,   "7.13.0", "",       Login;
    Cookielist,              "COOKIELIST",                 10135, String,   "7.14.1", "",       Transfer;
    IgnoreContentLength,     "IGNORE_CONTENT_LENGTH",      136,   Long,     "7.14.1", "",       Transfer;
    FtpSkipPasvIp,           "FTP_SKIP_PASV_IP",           137,   Long,     "7.15.0", "",       Transfer;
    FtpFilemethod,           "FTP_FILEMETHOD",             138,   Values,   "7.15.1", "",       Transfer;
    Localport,               "LOCALPORT",                  139,   Long,     "7.15.2", "",       Connection;
    Localportrange,          "LOCALPORTRANGE",             140,   Long,     "7.15.2", "",       Connection;
    ConnectOnly,             "CONNECT_ONLY",               141,   Long,     "7.15.2", "",       Connection;
    ConvFromNetworkFunction, "CONV_FROM_NETWORK_FUNCTION", 20142, Function, "7.15.4", "7.82.0", Transfer;
    ConvToNetworkFunction,   "CONV_TO_NETWORK_FUNCTION",   20143, Function, "7.15.4", "7.82.0", Transfer;
    ConvFromUtf8Function,    "CONV_FROM_UTF8_FUNCTION",    20144, Function, "7.15.4", "7.82.0", Transfer;
    MaxSendSpeedLarge,       "MAX_SEND_SPEED_LARGE",       30145, OffT,     "7.15.5", "",       Transfer;
    MaxRecvSpeedLarge,       "MAX_RECV_SPEED_LARGE",       30146, OffT,     "7.15.5", "",       Transfer;
    FtpAlternativeToUser,    "FTP_ALTERNATIVE_TO_USER",    10147, String,   "7.15.5", "",       Login;
    SockoptFunction,         "SOCKOPTFUNCTION",            20148, Function, "7.16.0", "",       Connection;
    SockoptData,             "SOCKOPTDATA",                10149, CbPtr,    "7.16.0", "",       Transfer;
    SslSessionidCache,       "SSL_SESSIONID_CACHE",        150,   Long,     "7.16.0", "",       Connection;
    SshAuthTypes,            "SSH_AUTH_TYPES",             151,   Values,   "7.16.1", "",       Connection;
    SshPublicKeyfile,        "SSH_PUBLIC_KEYFILE",         10152, String,   "7.16.1", "",       Connection;
    SshPrivateKeyfile,       "SSH_PRIVATE_KEYFILE",        10153, String,   "7.16.1", "",       Connection;
    FtpSslCcc,               "FTP_SSL_CCC",                154,   Long,     "7.16.1", "",       Connection;
    TimeoutMs,               "TIMEOUT_MS",                 155,   Long,     "7.16.2", "",       Transfer;
    ConnecttimeoutMs,        "CONNECTTIMEOUT_MS",          156,   Long,     "7.16.2", "",       Transfer;
    HttpTransferDecoding,    "HTTP_TRANSFER_DECODING",     157,   Long,     "7.16.2", "",       Transfer;
    HttpContentDecoding,     "HTTP_CONTENT_DECODING",      158,   Long,     "7.16.2", "",       Transfer;
    NewFilePerms,            "NEW_FILE_PERMS",             159,   Long,     "7.16.4", "",       Transfer;
    NewDirectoryPerms,       "NEW_DIRECTORY_PERMS",        160,   Long,     "7.16.4", "",       Transfer;
    Postredir,               "POSTREDIR",                  161,   Values,   "7.19.1", "",       Transfer;
    SshHostPublicKeyMd5,     "SSH_HOST_PUBLIC_KEY_MD5",    10162, String,   "7.17.1", "",       Connection;
    OpensocketFunction,      "OPENSOCKETFUNCTION",         20163, Function, "7.17.1", "",       Connection;
    OpensocketData,          "OPENSOCKETDATA",             10164, CbPtr,    "7.17.1", "",       Transfer;
    Copypostfields,          "COPYPOSTFIELDS",             10165, Object,   "7.17.1", "",       Transfer;
    ProxyTransferMode,       "PROXY_TRANSFER_MODE",        166,   Long,     "7.18.0", "",       Transfer;
    SeekFunction,            "SEEKFUNCTION",               20167, Function, "7.18.0", "",       Transfer;
    SeekData,                "SEEKDATA",                   10168, CbPtr,    "7.18.0", "",       Transfer;
    Crlfile,                 "CRLFILE",                    10169, String,   "7.19.0", "",       Connection;
    Issuercert,              "ISSUERCERT",                 10170, String,   "7.19.0", "",       Connection;
    AddressScope,            "ADDRESS_SCOPE",              171,   Long,     "7.19.0", "",       Connection;
    Certinfo,                "CERTINFO",                   172,   Long,     "7.19.1", "",       Route;
    Username,                "USERNAME",                   10173, String,   "7.19.1", "",       Login;
    Password,                "PASSWORD",                   10174, String,   "7.19.1", "",       Login;
    Proxyusername,           "PROXYUSERNAME",              10175, String,   "7.19.1", "",       Connection;
    Proxypassword,           "PROXYPASSWORD",              10176, String,   "7.19.1", "",       Connection;
    Noproxy,                 "NOPROXY",                    10177, String,   "7.19.4", "",       Connection;
    TftpBlksize,             "TFTP_BLKSIZE",               178,   Long,     "7.19.4", "",       Transfer;
    Socks5GssapiService,     "SOCKS5_GSSAPI_SERVICE",      10179, String,   "7.19.4", "7.49.0", Connection;
    Socks5GssapiNec,         "SOCKS5_GSSAPI_NEC",          180,   Long,     "7.19.4", "",       Connection;
    Protocols,               "PROTOCOLS",                  181,   Long,     "7.19.4", "7.85.0", Transfer;
    RedirProtocols,          "REDIR_PROTOCOLS",            182,   Long,     "7.19.4", "7.85.0", Transfer;
    SshKnownhosts,           "SSH_KNOWNHOSTS",             10183, String,   "7.19.6", "",       Connection;
    SshKeyFunction,          "SSH_KEYFUNCTION",            20184, Function, "7.19.6", "",       Connection;
    SshKeyData,              "SSH_KEYDATA",                10185, CbPtr,    "7.19.6", "",       Connection;
    MailFrom,                "MAIL_FROM",                  10186, String,   "7.20.0", "",       Transfer;
    MailRcpt,                "MAIL_RCPT",                  10187, SList,    "7.20.0", "",       Transfer;
    FtpUsePret,              "FTP_USE_PRET",               188,   Long,     "7.20.0", "",       Transfer;
    RtspRequest,             "RTSP_REQUEST",               189,   Values,   "7.20.0", "",       Transfer;
    RtspSessionId,           "RTSP_SESSION_ID",            10190, String,   "7.20.0", "",       Transfer;
    RtspStreamUri,           "RTSP_STREAM_URI",            10191, String,   "7.20.0", "",       Transfer;
    RtspTransport,           "RTSP_TRANSPORT",             10192, String,   "7.20.0", "",       Transfer;
    RtspClientCseq,          "RTSP_CLIENT_CSEQ",           193,   Long,     "7.20.0", "",       Transfer;
    RtspServerCseq,          "RTSP_SERVER_CSEQ",           194,   Long,     "7.20.0", "",       Transfer;
    InterleaveData,          "INTERLEAVEDATA",             10195, CbPtr,    "7.20.0", "",       Transfer;
    InterleaveFunction,      "INTERLEAVEFUNCTION",         20196, Function, "7.20.0", "",       Transfer;
    Wildcardmatch,           "WILDCARDMATCH",              197,   Long,     "7.21.0", "",       Transfer;
    ChunkBgnFunction,        "CHUNK_BGN_FUNCTION",         20198, Function, "7.21.0", "",       Transfer;
    ChunkEndFunction,        "CHUNK_END_FUNCTION",         20199, Function, "7.21.0", "",       Transfer;
    FnmatchFunction,         "FNMATCH_FUNCTION",           20200, Function, "7.21.0", "",       Transfer;
    ChunkData,               "CHUNK_DATA",                 10201, CbPtr,    "7.21.0", "",       Transfer;
    FnmatchData,             "FNMATCH_DATA",               10202, CbPtr,    "7.21.0", "",       Transfer;
    Resolve,                 "RESOLVE",                    10203, SList,    "7.21.3", "",       Connection;
    TlsauthUsername,         "TLSAUTH_USERNAME",           10204, String,   "7.21.4", "8.22.0", Connection;
    TlsauthPassword,         "TLSAUTH_PASSWORD",           10205, String,   "7.21.4", "8.22.0", Connection;
    TlsauthType,             "TLSAUTH_TYPE",               10206, String,   "7.21.4", "8.22.0", Connection;
    TransferEncoding,        "TRANSFER_ENCODING",          207,   Long,     "7.21.6", "",       Transfer;
    ClosesocketFunction,     "CLOSESOCKETFUNCTION",        20208, Function, "7.21.7", "",       Connection;
    ClosesocketData,         "CLOSESOCKETDATA",            10209, CbPtr,    "7.21.7", "",       Transfer;
    GssapiDelegation,        "GSSAPI_DELEGATION",          210,   Values,   "7.22.0", "",       Login;
    DnsServers,              "DNS_SERVERS",                10211, String,   "7.24.0", "",       Connection;
    AccepttimeoutMs,         "ACCEPTTIMEOUT_MS",           212,   Long,     "7.24.0", "",       Transfer;
    TcpKeepalive,            "TCP_KEEPALIVE",              213,   Long,     "7.25.0", "",       Connection;
    TcpKeepidle,             "TCP_KEEPIDLE",               214,   Long,     "7.25.0", "",       Connection;
    TcpKeepintvl,            "TCP_KEEPINTVL",              215,   Long,     "7.25.0", "",       Connection;
    SslOptions,              "SSL_OPTIONS",                216,   Values,   "7.25.0", "",       Connection;
    MailAuth,                "MAIL_AUTH",                  10217, String,   "7.25.0", "",       Transfer;
    SaslIr,                  "SASL_IR",                    218,   Long,     "7.31.0", "",       Transfer;
    XferinfoFunction,        "XFERINFOFUNCTION",           20219, Function, "7.32.0", "",       Transfer;
    Xoauth2Bearer,           "XOAUTH2_BEARER",             10220, String,   "7.33.0", "",       Login;
    DnsInterface,            "DNS_INTERFACE",              10221, String,   "7.33.0", "",       Connection;
    DnsLocalIp4,             "DNS_LOCAL_IP4",              10222, String,   "7.33.0", "",       Connection;
    DnsLocalIp6,             "DNS_LOCAL_IP6",              10223, String,   "7.33.0", "",       Connection;
    LoginOptions,            "LOGIN_OPTIONS",              10224, String,   "7.34.0", "",       Login;
    SslEnableNpn,            "SSL_ENABLE_NPN",             225,   Long,     "7.36.0", "7.86.0", Transfer;
    SslEnableAlpn,           "SSL_ENABLE_ALPN",            226,   Long,     "7.36.0", "",       Connection;
    Expect100TimeoutMs,      "EXPECT_100_TIMEOUT_MS",      227,   Long,     "7.36.0", "",       Transfer;
    Proxyheader,             "PROXYHEADER",                10228, SList,    "7.37.0", "",       Connection;
    Headeropt,               "HEADEROPT",                  229,   Values,   "7.37.0", "",       Route;
    Pinnedpublickey,         "PINNEDPUBLICKEY",            10230, String,   "7.39.0", "",       Connection;
    UnixSocketPath,          "UNIX_SOCKET_PATH",           10231, String,   "7.40.0", "",       Connection;
    SslVerifystatus,         "SSL_VERIFYSTATUS",           232,   Long,     "7.41.0", "",       Connection;
    SslFalsestart,           "SSL_FALSESTART",             233,   Long,     "7.42.0", "8.15.0", Transfer;
    PathAsIs,                "PATH_AS_IS",                 234,   Long,     "7.42.0", "",       Route;
    ProxyServiceName,        "PROXY_SERVICE_NAME",         10235, String,   "7.43.0", "",       Connection;
    ServiceName,             "SERVICE_NAME",               10236, String,   "7.43.0", "",       Login;
    Pipewait,                "PIPEWAIT",                   237,   Long,     "7.43.0", "",       Transfer;
    DefaultProtocol,         "DEFAULT_PROTOCOL",           10238, String,   "7.45.0", "",       Route;
    StreamWeight,            "STREAM_WEIGHT",              239,   Long,     "7.46.0", "",       Transfer;
    StreamDepends,           "STREAM_DEPENDS",             10240, Object,   "7.46.0", "8.21.0", Transfer;
    StreamDependsE,          "STREAM_DEPENDS_E",           10241, Object,   "7.46.0", "8.21.0", Transfer;
    TftpNoOptions,           "TFTP_NO_OPTIONS",            242,   Long,     "7.48.0", "",       Transfer;
    ConnectTo,               "CONNECT_TO",                 10243, SList,    "7.49.0", "",       Connection;
    TcpFastopen,             "TCP_FASTOPEN",               244,   Long,     "7.49.0", "",       Connection;
    KeepSendingOnError,      "KEEP_SENDING_ON_ERROR",      245,   Long,     "7.51.0", "",       Transfer;
    ProxyCainfo,             "PROXY_CAINFO",               10246, String,   "7.52.0", "",       Connection;
    ProxyCapath,             "PROXY_CAPATH",               10247, String,   "7.52.0", "",       Connection;
    ProxySslVerifypeer,      "PROXY_SSL_VERIFYPEER",       248,   Long,     "7.52.0", "",       Connection;
    ProxySslVerifyhost,      "PROXY_SSL_VERIFYHOST",       249,   Long,     "7.52.0", "",       Connection;
    ProxySslversion,         "PROXY_SSLVERSION",           250,   Values,   "7.52.0", "",       Connection;
    ProxyTlsauthUsername,    "PROXY_TLSAUTH_USERNAME",     10251, String,   "7.52.0", "8.22.0", Connection;
    ProxyTlsauthPassword,    "PROXY_TLSAUTH_PASSWORD",     10252, String,   "7.52.0", "8.22.0", Connection;
    ProxyTlsauthType,        "PROXY_TLSAUTH_TYPE",         10253, String,   "7.52.0", "8.22.0", Connection;
    ProxySslcert,            "PROXY_SSLCERT",              10254, String,   "7.52.0", "",       Connection;
    ProxySslcerttype,        "PROXY_SSLCERTTYPE",          10255, String,   "7.52.0", "",       Connection;
    ProxySslkey,             "PROXY_SSLKEY",               10256, String,   "7.52.0", "",       Connection;
    ProxySslkeytype,         "PROXY_SSLKEYTYPE",           10257, String,   "7.52.0", "",       Connection;
    ProxyKeypasswd,          "PROXY_KEYPASSWD",            10258, String,   "7.52.0", "",       Connection;
    ProxySslCipherList,      "PROXY_SSL_CIPHER_LIST",      10259, String,   "7.52.0", "",       Connection;
    ProxyCrlfile,            "PROXY_CRLFILE",              10260, String,   "7.52.0", "",       Connection;
    ProxySslOptions,         "PROXY_SSL_OPTIONS",          261,   Long,     "7.52.0", "",       Connection;
    PreProxy,                "PRE_PROXY",                  10262, String,   "7.52.0", "",       Connection;
    ProxyPinnedpublickey,    "PROXY_PINNEDPUBLICKEY",      10263, String,   "7.52.0", "",       Connection;
    AbstractUnixSocket,      "ABSTRACT_UNIX_SOCKET",       10264, String,   "7.53.0", "",       Connection;
    SuppressConnectHeaders,  "SUPPRESS_CONNECT_HEADERS",   265,   Long,     "7.54.0", "",       Transfer;
    RequestTarget,           "REQUEST_TARGET",             10266, String,   "7.55.0", "",       Transfer;
    Socks5Auth,              "SOCKS5_AUTH",                267,   Long,     "7.55.0", "",       Connection;
    SshCompression,          "SSH_COMPRESSION",            268,   Long,     "7.56.0", "",       Connection;
    Mimepost,                "MIMEPOST",                   10269, Object,   "7.56.0", "",       Transfer;
    TimevalueLarge,          "TIMEVALUE_LARGE",            30270, OffT,     "7.59.0", "",       Transfer;
    HappyEyeballsTimeoutMs,  "HAPPY_EYEBALLS_TIMEOUT_MS",  271,   Long,     "7.59.0", "",       Transfer;
    ResolverStartFunction,   "RESOLVER_START_FUNCTION",    20272, Function, "7.59.0", "",       Transfer;
    ResolverStartData,       "RESOLVER_START_DATA",        10273, CbPtr,    "7.59.0", "",       Transfer;
    Haproxyprotocol,         "HAPROXYPROTOCOL",            274,   Long,     "7.60.0", "",       Connection;
    DnsShuffleAddresses,     "DNS_SHUFFLE_ADDRESSES",      275,   Long,     "7.60.0", "",       Route;
    Tls13Ciphers,            "TLS13_CIPHERS",              10276, String,   "7.61.0", "",       Connection;
    ProxyTls13Ciphers,       "PROXY_TLS13_CIPHERS",        10277, String,   "7.61.0", "",       Connection;
    DisallowUsernameInUrl,   "DISALLOW_USERNAME_IN_URL",   278,   Long,     "7.61.0", "",       Route;
    DohUrl,                  "DOH_URL",                    10279, String,   "7.62.0", "",       Connection;
    UploadBuffersize,        "UPLOAD_BUFFERSIZE",          280,   Long,     "7.62.0", "",       Transfer;
    UpkeepIntervalMs,        "UPKEEP_INTERVAL_MS",         281,   Long,     "7.62.0", "",       Transfer;
    Curlu,                   "CURLU",                      10282, Object,   "7.63.0", "",       Route;
    TrailerFunction,         "TRAILERFUNCTION",            20283, Function, "7.64.0", "",       Transfer;
    TrailerData,             "TRAILERDATA",                10284, CbPtr,    "7.64.0", "",       Transfer;
    Http09Allowed,           "HTTP09_ALLOWED",             285,   Long,     "7.64.0", "",       Transfer;
    AltsvcCtrl,              "ALTSVC_CTRL",                286,   Long,     "7.64.1", "",       Route;
    Altsvc,                  "ALTSVC",                     10287, String,   "7.64.1", "",       Route;
    MaxageConn,              "MAXAGE_CONN",                288,   Long,     "7.65.0", "",       Transfer;
    SaslAuthzid,             "SASL_AUTHZID",               10289, String,   "7.66.0", "",       Login;
    MailRcptAllowfails,      "MAIL_RCPT_ALLOWFAILS",       290,   Long,     "8.2.0",  "",       Transfer;
    SslcertBlob,             "SSLCERT_BLOB",               40291, Blob,     "7.71.0", "",       Connection;
    SslkeyBlob,              "SSLKEY_BLOB",                40292, Blob,     "7.71.0", "",       Connection;
    ProxySslcertBlob,        "PROXY_SSLCERT_BLOB",         40293, Blob,     "7.71.0", "",       Connection;
    ProxySslkeyBlob,         "PROXY_SSLKEY_BLOB",          40294, Blob,     "7.71.0", "",       Connection;
    IssuercertBlob,          "ISSUERCERT_BLOB",            40295, Blob,     "7.71.0", "",       Connection;
    ProxyIssuercert,         "PROXY_ISSUERCERT",           10296, String,   "7.71.0", "",       Connection;
    ProxyIssuercertBlob,     "PROXY_ISSUERCERT_BLOB",      40297, Blob,     "7.71.0", "",       Connection;
    SslEcCurves,             "SSL_EC_CURVES",              10298, String,   "7.73.0", "",       Connection;
    HstsCtrl,                "HSTS_CTRL",                  299,   Long,     "7.74.0", "",       Transfer;
    Hsts,                    "HSTS",                       10300, String,   "7.74.0", "",       Transfer;
    HstsreadFunction,        "HSTSREADFUNCTION",           20301, Function, "7.74.0", "",       Transfer;
    HstsreadData,            "HSTSREADDATA",               10302, CbPtr,    "7.74.0", "",       Transfer;
    HstswriteFunction,       "HSTSWRITEFUNCTION",          20303, Function, "7.74.0", "",       Transfer;
    HstswriteData,           "HSTSWRITEDATA",              10304, CbPtr,    "7.74.0", "",       Transfer;
    AwsSigv4,                "AWS_SIGV4",                  10305, String,   "7.75.0", "",       Transfer;
    DohSslVerifypeer,        "DOH_SSL_VERIFYPEER",         306,   Long,     "7.76.0", "",       Connection;
    DohSslVerifyhost,        "DOH_SSL_VERIFYHOST",         307,   Long,     "7.76.0", "",       Connection;
    DohSslVerifystatus,      "DOH_SSL_VERIFYSTATUS",       308,   Long,     "7.76.0", "",       Connection;
    CainfoBlob,              "CAINFO_BLOB",                40309, Blob,     "7.77.0", "",       Connection;
    ProxyCainfoBlob,         "PROXY_CAINFO_BLOB",          40310, Blob,     "7.77.0", "",       Connection;
    SshHostPublicKeySha256,  "SSH_HOST_PUBLIC_KEY_SHA256", 10311, String,   "7.80.0", "",       Connection;
    PrereqFunction,          "PREREQFUNCTION",             20312, Function, "7.80.0", "",       Transfer;
    PrereqData,              "PREREQDATA",                 10313, CbPtr,    "7.80.0", "",       Transfer;
    MaxlifetimeConn,         "MAXLIFETIME_CONN",           314,   Long,     "7.80.0", "",       Transfer;
    MimeOptions,             "MIME_OPTIONS",               315,   Long,     "7.81.0", "",       Transfer;
    SshHostkeyFunction,      "SSH_HOSTKEYFUNCTION",        20316, Function, "7.84.0", "",       Connection;
    SshHostkeyData,          "SSH_HOSTKEYDATA",            10317, CbPtr,    "7.84.0", "",       Connection;
    ProtocolsStr,            "PROTOCOLS_STR",              10318, String,   "7.85.0", "",       Transfer;
    RedirProtocolsStr,       "REDIR_PROTOCOLS_STR",        10319, String,   "7.85.0", "",       Transfer;
    WsOptions,               "WS_OPTIONS",                 320,   Long,     "7.86.0", "",       Transfer;
    CaCacheTimeout,          "CA_CACHE_TIMEOUT",           321,   Long,     "7.87.0", "",       Route;
    QuickExit,               "QUICK_EXIT",                 322,   Long,     "7.87.0", "",       Transfer;
    HaproxyClientIp,         "HAPROXY_CLIENT_IP",          10323, String,   "8.2.0",  "",       Connection;
    ServerResponseTimeoutMs, "SERVER_RESPONSE_TIMEOUT_MS", 324,   Long,     "8.6.0",  "",       Transfer;
    Ech,                     "ECH",                        10325, String,   "8.8.0",  "",       Connection;
    TcpKeepcnt,              "TCP_KEEPCNT",                326,   Long,     "8.9.0",  "",       Connection;
    UploadFlags,             "UPLOAD_FLAGS",               327,   Long,     "8.13.0", "",       Transfer;
    SslSignatureAlgorithms,  "SSL_SIGNATURE_ALGORITHMS",   10328, String,   "8.14.0", "",       Connection;
    HttpsigAlgorithm,        "HTTPSIG_ALGORITHM",          329,   Values,   "8.22.0", "",       Transfer;
    HttpsigKey,              "HTTPSIG_KEY",                10330, String,   "8.22.0", "",       Transfer;
    HttpsigKeyid,            "HTTPSIG_KEYID",              10331, String,   "8.22.0", "",       Transfer;
    HttpsigHeaders,          "HTTPSIG_HEADERS",            10332, String,   "8.22.0", "",       Transfer;
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
        assert_eq!(EasyOption::from_name("SSLKEYPASSWD"), Some((EasyOption::Keypasswd, true)));
        assert_eq!(EasyOption::from_name("nonsense"), None);
        assert!(BY_NAME.is_sorted_by(|a, b| a.0 < b.0));
    }

    #[test]
    fn every_callback_pointer_shares_its_functions_bound() {
        for option in EasyOption::ALL {
            let Some(stem) = option.name().strip_suffix("DATA") else { continue };
            // Handles with the same socket functions use each other's connections, whatever data each gives them.
            if matches!(stem, "SOCKOPT" | "OPENSOCKET" | "CLOSESOCKET") {
                assert_eq!(option.bound(), Bound::Transfer);
            } else if let Some((function, false)) = EasyOption::from_name(&format!("{stem}FUNCTION")) {
                assert_eq!(option.bound(), function.bound(), "{}", option.name());
            }
        }
    }
}
