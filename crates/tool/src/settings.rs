//! From a request and one of its transfers to the options of libcurl, in the order in which curl sets them.
//!
//! The list is applied to a handle and is what `--libcurl` writes out, so both always agree.

use crate::bytes::Bytes;
use crate::form::part::Part;
use crate::options::Value;
use crate::request::{Fail, Globals, Method, Request, Resume};
use crate::trace::TraceKind;

/// The size of the buffer asked for; a slower transfer takes a smaller one.
const BUFFER: i64 = 100 * 1024;

/// A value for an option.
#[derive(Clone, Debug, PartialEq)]
pub enum SetTo {
    Text(Bytes),
    /// A long.
    Long(i64),
    /// A curl_off_t.
    Offset(i64),
    List(Vec<Bytes>),
    Form(Vec<Part>),
    /// A function or an object that cannot be written down.
    Function,
    Object,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Setting {
    /// Without `CURLOPT_`.
    pub name: &'static str,
    pub to: SetTo,
}

/// One transfer of a request, as far as its options go.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Job {
    pub url: Bytes,
    /// The scheme in lower case, as far as it can be told.
    pub scheme: String,
    pub upload: bool,
    /// The file of known hosts, where none was named.
    pub known_hosts: Option<Bytes>,
    /// Headers to send besides those of the request.
    pub extra_headers: Vec<Bytes>,
    pub resume_from: i64,
    pub post: Option<Bytes>,
    pub method: Method,
    /// What to say in User-Agent when nothing was given.
    pub user_agent: Bytes,
}

pub fn settings(request: &Request, globals: &Globals, job: &Job) -> Vec<Setting> {
    let mut list = List { request, out: Vec::with_capacity(32) };
    list.callbacks(globals);
    list.out.push(Setting { name: "URL", to: SetTo::Text(job.url.clone()) });
    list.put("NOPROGRESS", i64::from(globals.no_progress || globals.silent));
    list.more_callbacks();
    list.proxy();
    list.login();
    list.request(job);
    list.limits(job);
    list.requests_of_files();
    match job.scheme.as_str() {
        "http" | "https" => {
            list.http();
            list.cookies(job);
        }
        "ftp" | "ftps" => list.ftp(),
        "scp" | "sftp" => list.ssh(job),
        _ => {}
    }
    list.security();
    list.rest(job);
    list.out
}

struct List<'r> {
    request: &'r Request,
    out: Vec<Setting>,
}

impl List<'_> {
    /// A long that differs from its default of 0.
    fn put(&mut self, name: &'static str, value: i64) {
        if value != 0 {
            self.out.push(Setting { name, to: SetTo::Long(value) });
        }
    }

    /// A long whose default is 1.
    fn put_off(&mut self, name: &'static str) {
        if self.request.options.long(name) == Some(0) {
            self.out.push(Setting { name, to: SetTo::Long(0) });
        }
    }

    fn put_offset(&mut self, name: &'static str, value: i64) {
        if value != 0 {
            self.out.push(Setting { name, to: SetTo::Offset(value) });
        }
    }

    fn put_text(&mut self, name: &'static str, text: &[u8]) {
        self.out.push(Setting { name, to: SetTo::Text(text.to_vec()) });
    }

    /// What the flags set under that name, if they did.
    fn copy(&mut self, names: &[&'static str]) {
        for name in names {
            match self.request.options.get(name) {
                Some(Value::Text(text)) => self.put_text(name, text),
                Some(Value::Long(value)) if name.ends_with("_LARGE") => self.put_offset(name, *value),
                Some(Value::Long(value)) => self.put(name, *value),
                Some(Value::List(list)) => self.out.push(Setting { name, to: SetTo::List(list.clone()) }),
                None => {}
            }
        }
    }

    fn mark(&mut self, name: &'static str, to: SetTo) {
        self.out.push(Setting { name, to });
    }

    fn callbacks(&mut self, globals: &Globals) {
        if globals.trace != TraceKind::None {
            self.mark("DEBUGFUNCTION", SetTo::Function);
            self.mark("DEBUGDATA", SetTo::Object);
            self.put("VERBOSE", 1);
        }
        let speed = self.request.options.long("MAX_RECV_SPEED_LARGE").unwrap_or(0);
        self.put("BUFFERSIZE", if speed > 0 && speed < BUFFER { speed } else { BUFFER });
    }

    fn more_callbacks(&mut self) {
        for (function, data) in [("WRITEDATA", "WRITEFUNCTION"), ("READDATA", "READFUNCTION")] {
            self.mark(function, SetTo::Object);
            self.mark(data, SetTo::Function);
        }
        self.mark("SEEKDATA", SetTo::Object);
        self.mark("SEEKFUNCTION", SetTo::Function);
        self.mark("HEADERFUNCTION", SetTo::Function);
        self.mark("HEADERDATA", SetTo::Object);
    }

    fn proxy(&mut self) {
        let request = self.request;
        self.copy(&["PROXY"]);
        if request.options.text("PROXY").is_some() {
            self.copy(&["PROXYTYPE"]);
        }
        self.copy(&["PROXYUSERPWD", "HTTPPROXYTUNNEL", "PRE_PROXY"]);
        let auth = &request.proxy_auth;
        let masks = [
            (auth.any, !16 & 0xffff_ffff),
            (auth.negotiate, 4),
            (auth.ntlm, 8),
            (auth.digest, 2),
            (auth.basic, 1),
        ];
        if let Some((_, mask)) = masks.iter().find(|(on, _)| *on) {
            self.put("PROXYAUTH", *mask);
        }
        self.copy(&["NOPROXY", "SUPPRESS_CONNECT_HEADERS", "PROXY_SERVICE_NAME"]);
        self.copy(&["HAPROXYPROTOCOL", "HAPROXY_CLIENT_IP", "PROXY_KEYPASSWD"]);
    }

    fn login(&mut self) {
        let request = self.request;
        self.copy(&["XOAUTH2_BEARER"]);
        if request.netrc_optional {
            self.put("NETRC", 1);
        } else if request.netrc || request.options.text("NETRC_FILE").is_some() {
            self.put("NETRC", 2);
        }
        self.copy(&["NETRC_FILE", "LOGIN_OPTIONS", "USERPWD"]);
        self.mark("ERRORBUFFER", SetTo::Object);
        self.copy(&["HTTPAUTH"]);
    }

    fn request(&mut self, job: &Job) {
        let request = self.request;
        let mut headers = request.options.list("HTTPHEADER").to_vec();
        headers.extend(job.extra_headers.iter().cloned());
        if !headers.is_empty() {
            self.mark("HTTPHEADER", SetTo::List(headers));
        }
        self.copy(&["REFERER"]);
        match request.options.text("USERAGENT") {
            Some(b"") => {}
            Some(text) => self.put_text("USERAGENT", text),
            None => self.put_text("USERAGENT", &job.user_agent),
        }
        self.copy(&["KEYPASSWD"]);
        self.put("NOBODY", i64::from(request.head));
        self.put("FAILONERROR", i64::from(request.fail == Fail::WithoutBody));
        self.copy(&["REQUEST_TARGET"]);
        self.put("UPLOAD", i64::from(job.upload));
        self.copy(&["DIRLISTONLY", "APPEND", "TRANSFERTEXT", "RANGE", "TIMEOUT_MS"]);
        match job.method {
            Method::Post => {
                let post = job.post.as_deref().unwrap_or_default();
                self.put_text("POSTFIELDS", post);
                self.mark("POSTFIELDSIZE_LARGE", SetTo::Offset(post.len() as i64));
            }
            Method::Form => self.mark("MIMEPOST", SetTo::Form(request.form.clone())),
            _ => {}
        }
        self.copy(&["MIME_OPTIONS"]);
    }

    fn http(&mut self) {
        let request = self.request;
        self.put("FOLLOWLOCATION", request.follow);
        self.copy(&["UNRESTRICTED_AUTH", "AWS_SIGV4", "AUTOREFERER", "PROXYHEADER"]);
        self.copy(&["HTTPSIG_ALGORITHM", "HTTPSIG_KEY", "HTTPSIG_KEYID", "HTTPSIG_HEADERS"]);
        self.mark("MAXREDIRS", SetTo::Long(request.options.long("MAXREDIRS").unwrap_or(50)));
        self.copy(&["HTTP_VERSION", "POSTREDIR"]);
        if request.options.is_on("compressed") {
            self.put_text("ACCEPT_ENCODING", b"");
        }
        self.copy(&["TRANSFER_ENCODING", "HTTP09_ALLOWED", "ALTSVC", "HSTS", "EXPECT_100_TIMEOUT_MS"]);
    }

    fn cookies(&mut self, job: &Job) {
        let request = self.request;
        if !request.cookies.is_empty() {
            self.put_text("COOKIE", &request.cookies.join(b"; ".as_slice()));
        }
        for file in &request.cookie_files {
            self.put_text("COOKIEFILE", file);
        }
        self.copy(&["COOKIEJAR", "COOKIESESSION"]);
        let options = &request.options;
        let by_proxy = options.text("PROXY").is_some() || !options.list("PROXYHEADER").is_empty();
        if options.is_on("HTTPPROXYTUNNEL") || by_proxy && job.scheme == "https" {
            self.put("HEADEROPT", 1);
        }
    }

    fn ftp(&mut self) {
        self.copy(&["FTPPORT"]);
        self.put_off("FTP_USE_EPSV");
        self.put_off("FTP_USE_EPRT");
        self.put("FTP_SSL_CCC", self.request.ftp_ccc.unwrap_or(0));
        self.copy(&["FTP_ACCOUNT"]);
        self.put("FTP_SKIP_PASV_IP", self.request.options.long("FTP_SKIP_PASV_IP").unwrap_or(1));
        self.put_off("FTP_SKIP_PASV_IP");
        self.copy(&["FTP_FILEMETHOD", "FTP_ALTERNATIVE_TO_USER", "FTP_USE_PRET"]);
    }

    fn limits(&mut self, job: &Job) {
        self.copy(&["LOW_SPEED_LIMIT", "LOW_SPEED_TIME", "MAX_SEND_SPEED_LARGE", "MAX_RECV_SPEED_LARGE"]);
        self.put_offset("RESUME_FROM_LARGE", job.resume_from);
    }

    /// What else is wanted of the resource, and by what commands.
    fn requests_of_files(&mut self) {
        let request = self.request;
        self.copy(&["PATH_AS_IS"]);
        self.put("FILETIME", i64::from(request.head || request.remote_time));
        self.copy(&["CRLF", "QUOTE", "POSTQUOTE", "PREQUOTE", "TIMECONDITION", "TIMEVALUE_LARGE"]);
        self.copy(&["CUSTOMREQUEST"]);
    }

    fn security(&mut self) {
        let request = self.request;
        self.copy(&["CAINFO", "PROXY_CAINFO", "CAPATH"]);
        self.copy_or("PROXY_CAPATH", "CAPATH");
        self.copy(&["CRLFILE"]);
        self.copy_or("PROXY_CRLFILE", "CRLFILE");
        self.copy(&["PINNEDPUBLICKEY", "PROXY_PINNEDPUBLICKEY", "SSL_EC_CURVES", "SSL_SIGNATURE_ALGORITHMS"]);
        if request.options.text("write-out").is_some() {
            self.put("CERTINFO", 1);
        }
        self.copy(&["SSLCERT", "PROXY_SSLCERT", "SSLCERTTYPE", "PROXY_SSLCERTTYPE"]);
        if let Some(key) = request.options.text("key") {
            self.put_text("SSLKEY", key);
        }
        self.copy(&["PROXY_SSLKEY", "SSLKEYTYPE", "PROXY_SSLKEYTYPE"]);
        for (on, names) in [
            (request.insecure, ["SSL_VERIFYPEER", "SSL_VERIFYHOST"]),
            (request.doh_insecure && self.asks_over_https(), ["DOH_SSL_VERIFYPEER", "DOH_SSL_VERIFYHOST"]),
            (request.proxy_insecure, ["PROXY_SSL_VERIFYPEER", "PROXY_SSL_VERIFYHOST"]),
        ] {
            for name in names.into_iter().filter(|_| on) {
                self.mark(name, SetTo::Long(0));
            }
        }
        self.copy(&["SSL_VERIFYSTATUS"]);
        if self.asks_over_https() {
            self.copy(&["DOH_SSL_VERIFYSTATUS"]);
        }
        self.put("SSLVERSION", tls_versions(request.tls_min, request.tls_max));
        if request.options.text("PROXY").is_some() {
            self.copy(&["PROXY_SSLVERSION"]);
        }
        self.copy(&["SSL_OPTIONS", "PROXY_SSL_OPTIONS", "SSL_CIPHER_LIST", "PROXY_SSL_CIPHER_LIST"]);
        self.copy(&["TLS13_CIPHERS", "PROXY_TLS13_CIPHERS"]);
        self.put_off("SSL_SESSIONID_CACHE");
        for entry in request.options.list("ECH") {
            self.put_text("ECH", entry);
        }
        self.copy(&["SSLENGINE"]);
        self.put("USE_SSL", use_ssl(request));
        self.put_off("SSL_ENABLE_ALPN");
    }

    /// An empty URL goes back to the system's resolver; flags about the DoH server then have nothing to be about.
    fn asks_over_https(&self) -> bool {
        self.request.options.text("DOH_URL").is_some_and(|url| !url.is_empty())
    }

    fn copy_or(&mut self, name: &'static str, other: &str) {
        let options = &self.request.options;
        if let Some(text) = options.text(name).or(options.text(other)) {
            self.put_text(name, text);
        }
    }

    fn ssh(&mut self, job: &Job) {
        let options = &self.request.options;
        if let Some(key) = options.text("key") {
            self.put_text("SSH_PRIVATE_KEYFILE", key);
        }
        self.copy(&[
            "SSH_PUBLIC_KEYFILE",
            "SSH_HOST_PUBLIC_KEY_MD5",
            "SSH_HOST_PUBLIC_KEY_SHA256",
            "SSH_COMPRESSION",
        ]);
        if !self.request.insecure {
            match &job.known_hosts {
                Some(file) => self.put_text("SSH_KNOWNHOSTS", file),
                None => self.copy(&["SSH_KNOWNHOSTS"]),
            }
        }
    }

    fn rest(&mut self, job: &Job) {
        let request = self.request;
        self.mark("STDERR", SetTo::Object);
        self.copy(&["INTERFACE", "TELNETOPTIONS", "CONNECTTIMEOUT_MS"]);
        if self.asks_over_https() {
            self.copy(&["DOH_URL"]);
        }
        self.put("FTP_CREATE_MISSING_DIRS", 2 * request.options.long("FTP_CREATE_MISSING_DIRS").unwrap_or(0));
        self.copy(&["MAXFILESIZE_LARGE", "IPRESOLVE", "SOCKS5_GSSAPI_NEC", "SOCKS5_AUTH", "SERVICE_NAME"]);
        self.copy(&["IGNORE_CONTENT_LENGTH", "LOCALPORT", "LOCALPORTRANGE"]);
        if request.options.is_on("raw") {
            self.mark("HTTP_CONTENT_DECODING", SetTo::Long(0));
            self.mark("HTTP_TRANSFER_DECODING", SetTo::Long(0));
        }
        self.tcp();
        self.copy(&["TFTP_BLKSIZE", "MAIL_FROM", "MAIL_RCPT", "MAIL_RCPT_ALLOWFAILS", "NEW_FILE_PERMS"]);
        self.copy(&["RESOLVE", "CONNECT_TO", "PROTOCOLS_STR", "REDIR_PROTOCOLS_STR", "GSSAPI_DELEGATION"]);
        self.copy(&["MAIL_AUTH", "SASL_AUTHZID", "SASL_IR", "ABSTRACT_UNIX_SOCKET", "UNIX_SOCKET_PATH"]);
        self.copy(&["DNS_INTERFACE", "DNS_LOCAL_IP4", "DNS_LOCAL_IP6", "DNS_SERVERS"]);
        self.copy(&["DEFAULT_PROTOCOL", "TFTP_NO_OPTIONS"]);
        if let Some(millis) = request.options.long("HAPPY_EYEBALLS_TIMEOUT_MS") {
            self.mark("HAPPY_EYEBALLS_TIMEOUT_MS", SetTo::Long(millis));
        }
        self.copy(&["DISALLOW_USERNAME_IN_URL"]);
        if job.upload {
            // Without a flag is not the same as not asked for, which is \Seen.
            if let Some(flags) = request.options.long("UPLOAD_FLAGS") {
                self.mark("UPLOAD_FLAGS", SetTo::Long(flags));
            }
        }
    }

    fn tcp(&mut self) {
        let options = &self.request.options;
        self.put_off("TCP_NODELAY");
        self.copy(&["TCP_FASTOPEN"]);
        if options.long("TCP_KEEPALIVE") == Some(0) {
            return;
        }
        self.put("TCP_KEEPALIVE", 1);
        let seconds = options.long("keepalive-time").unwrap_or(0);
        self.put("TCP_KEEPIDLE", seconds);
        self.put("TCP_KEEPINTVL", seconds);
        self.copy(&["TCP_KEEPCNT"]);
    }
}

/// CURLUSESSL_ numbers.
fn use_ssl(request: &Request) -> i64 {
    if request.ssl_required {
        3
    } else if request.ssl_try {
        1
    } else if request.ssl_control {
        2
    } else {
        0
    }
}

/// CURL_SSLVERSION_ numbers; the lowest is 1.2 unless a lower one is asked for, also by a lower maximum.
fn tls_versions(min: u8, max: u8) -> i64 {
    let min = if min == 0 && max != 0 && max < 3 { max } else { min };
    let low = match min {
        1 => 4,
        2 => 5,
        4 => 7,
        _ => 6,
    };
    let high = if max == 0 { 0 } else { (i64::from(max) + 3) << 16 };
    low | high
}

/// Where a transfer begins, unless that has to be found out.
pub fn fixed_resume(request: &Request) -> i64 {
    match request.resume {
        Some(Resume::At(offset)) => offset as i64,
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(request: &Request, scheme: &str) -> Vec<&'static str> {
        let job =
            Job { url: b"u".to_vec(), scheme: scheme.into(), user_agent: b"a".to_vec(), ..Job::default() };
        settings(request, &Globals::default(), &job)
            .into_iter()
            .filter(|setting| !matches!(setting.to, SetTo::Function | SetTo::Object))
            .map(|setting| setting.name)
            .collect()
    }

    #[test]
    fn a_plain_get_sets_little() {
        let expected = ["BUFFERSIZE", "URL", "USERAGENT", "MAXREDIRS", "SSLVERSION", "TCP_KEEPALIVE"];
        assert_eq!(names(&Request::new(), "http"), expected);
    }

    #[test]
    fn schemes_choose_their_options() {
        let mut request = Request::new();
        request.options.set_text("FTPPORT", b"-");
        request.cookies.push(b"a=b".to_vec());
        assert!(names(&request, "ftp").contains(&"FTPPORT") && !names(&request, "ftp").contains(&"COOKIE"));
        assert!(
            names(&request, "https").contains(&"COOKIE") && !names(&request, "https").contains(&"FTPPORT")
        );
    }

    /// `--libcurl` writes them out in this order, and people compare such files.
    #[test]
    fn the_order_is_the_one_of_curl() {
        let mut request = Request::new();
        let texts = ["RANGE", "CUSTOMREQUEST", "PROXY", "REQUEST_TARGET", "USERPWD", "KEYPASSWD", "RESOLVE"];
        texts.iter().for_each(|name| request.options.set_text(name, b"x"));
        for name in ["TIMEOUT_MS", "HTTPAUTH", "CRLF", "PATH_AS_IS", "HTTPPROXYTUNNEL", "LOW_SPEED_LIMIT"] {
            request.options.set_long(name, 1);
        }
        (request.head, request.remote_time, request.fail) = (true, true, Fail::WithoutBody);
        let expected = "BUFFERSIZE URL PROXY HTTPPROXYTUNNEL USERPWD HTTPAUTH USERAGENT KEYPASSWD NOBODY FAILONERROR \
            REQUEST_TARGET RANGE TIMEOUT_MS LOW_SPEED_LIMIT PATH_AS_IS FILETIME CRLF CUSTOMREQUEST MAXREDIRS HEADEROPT \
            SSLVERSION TCP_KEEPALIVE RESOLVE";
        assert_eq!(names(&request, "http").join(" "), expected);
    }

    /// Where curl 8.22 was seen to have them: people compare what `--libcurl` writes.
    #[test]
    fn options_stand_in_curls_order() {
        let wanted = [
            "BUFFERSIZE",
            "URL",
            "USERPWD",
            "USERAGENT",
            "KEYPASSWD",
            "DIRLISTONLY",
            "TRANSFERTEXT",
            "RANGE",
            "LOW_SPEED_LIMIT",
            "TIMECONDITION",
            "CUSTOMREQUEST",
            "FTPPORT",
            "FTP_SKIP_PASV_IP",
            "CAINFO",
            "SSLVERSION",
            "INTERFACE",
            "TCP_KEEPALIVE",
        ];
        let mut request = Request::new();
        for name in ["USERPWD", "KEYPASSWD", "RANGE", "CUSTOMREQUEST", "FTPPORT", "CAINFO", "INTERFACE"] {
            request.options.set_text(name, b"x");
        }
        for name in ["DIRLISTONLY", "TRANSFERTEXT", "LOW_SPEED_LIMIT", "TIMECONDITION"] {
            request.options.set_long(name, 1);
        }
        assert_eq!(names(&request, "ftp"), wanted);
    }

    #[test]
    fn tls_versions_combine() {
        assert_eq!(tls_versions(0, 0), 6);
        assert_eq!(tls_versions(0, 4), 6 | 7 << 16);
        assert_eq!(tls_versions(0, 1), 4 | 4 << 16);
        assert_eq!(tls_versions(4, 0), 7);
    }
}
