//! Converts a request and one of its transfers to options of libcurl, in curl's order.
//!
//! The list is set on a handle and written by `--libcurl`, so both always agree.

use crate::bytes::Bytes;
use crate::options::{ToolOption, Value};
use crate::proxy_command;
use crate::raw::EasyOption as O;
use crate::request::{Globals, Method, Request, Resume};
use crate::trace::TraceKind;
use crate::writeout;

/// The requested buffer size; a slower transfer uses a smaller one.
const BUFFER: i64 = 100 * 1024;

/// An option with its value.
#[derive(Clone, Debug)]
pub struct Setting {
    pub option: O,
    /// [`Value::Default`] for a function or an object, which cannot be written down.
    pub value: Value,
}

impl Setting {
    pub fn new(option: O, value: impl Into<Value>) -> Setting {
        Setting { option, value: value.into() }
    }

    /// Returns whether the option is a function or an object of the program, of which no value is known here.
    pub fn is_pointer(&self) -> bool {
        self.value == Value::Default
    }
}

/// A transfer of a request, as far as its options go.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Job {
    pub url: Bytes,
    /// The scheme in lower case, as far as it is known.
    pub scheme: String,
    pub upload: bool,
    /// The file of known hosts, where none was named.
    pub known_hosts: Option<Bytes>,
    /// Headers in addition to those of the request.
    pub extra_headers: Vec<Bytes>,
    pub resume_from: i64,
    pub post: Option<Bytes>,
    pub method: Method,
    /// The default User-Agent.
    pub user_agent: Bytes,
}

pub fn settings(request: &Request, globals: &Globals, job: &Job) -> Vec<Setting> {
    let mut list = List { request, out: Vec::with_capacity(32) };
    list.callbacks(globals);
    list.put_text(O::Url, &job.url);
    list.put(O::NoProgress, i64::from(globals.no_progress || globals.silent));
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
    fn set(&mut self, option: O, value: impl Into<Value>) {
        self.out.push(Setting::new(option, value));
    }

    /// Sets a number that differs from its default of 0.
    fn put(&mut self, option: O, value: i64) {
        if value != 0 {
            self.set(option, value);
        }
    }

    /// Sets a number whose default is 1.
    fn put_off(&mut self, option: O) {
        if self.request.options.long(option) == Some(0) {
            self.set(option, 0);
        }
    }

    fn put_text(&mut self, option: O, text: &[u8]) {
        self.set(option, text.to_vec());
    }

    /// Copies options that flags have set. Numbers that are 0 are omitted.
    fn copy(&mut self, options: &[O]) {
        for option in options {
            match self.request.options.get(*option) {
                None | Some(Value::Long(0)) => {}
                Some(value) => self.set(*option, value.clone()),
            }
        }
    }

    /// Notes functions and objects of the program.
    fn point(&mut self, options: &[O]) {
        for option in options {
            self.set(*option, Value::Default);
        }
    }

    fn callbacks(&mut self, globals: &Globals) {
        if globals.trace != TraceKind::None {
            self.point(&[O::DebugFunction, O::DebugData]);
            self.put(O::Verbose, 1);
        }
        let speed = self.request.options.long(O::MaxRecvSpeedLarge).unwrap_or(0);
        self.put(O::BufferSize, if speed > 0 && speed < BUFFER { speed } else { BUFFER });
    }

    fn more_callbacks(&mut self) {
        self.point(&[O::WriteData, O::WriteFunction, O::ReadData, O::ReadFunction]);
        self.point(&[O::SeekData, O::SeekFunction, O::HeaderFunction, O::HeaderData]);
    }

    fn proxy(&mut self) {
        let request = self.request;
        if request.options.text(ToolOption::ProxyCommand).is_some() {
            self.proxy_command();
        }
        self.copy(&[O::Proxy]);
        if request.options.text(O::Proxy).is_some() {
            self.copy(&[O::ProxyType]);
        }
        self.copy(&[O::ProxyUserPwd, O::HttpProxyTunnel, O::PreProxy]);
        let auth = &request.proxy_auth;
        let masks = [
            (auth.any, !16 & 0xffff_ffff),
            (auth.negotiate, 4),
            (auth.ntlm, 8),
            (auth.digest, 2),
            (auth.basic, 1),
        ];
        if let Some((_, mask)) = masks.iter().find(|(on, _)| *on) {
            self.put(O::ProxyAuth, *mask);
        }
        self.copy(&[O::NoProxy, O::SuppressConnectHeaders, O::ProxyServiceName]);
        self.copy(&[O::HaProxyProtocol, O::HaProxyClientIp, O::ProxyKeyPasswd]);
    }

    /// Sets the proxy that stands for a command. Only a flag exempts hosts from it, not the environment.
    fn proxy_command(&mut self) {
        self.put_text(O::Proxy, proxy_command::PROXY);
        self.point(&[O::OpenSocketFunction, O::SockOptFunction, O::CloseSocketFunction]);
        if self.request.options.text(O::NoProxy).is_none() {
            self.put_text(O::NoProxy, b"");
        }
    }

    fn login(&mut self) {
        let request = self.request;
        self.copy(&[O::Xoauth2Bearer]);
        if request.netrc_optional {
            self.put(O::Netrc, 1);
        } else if request.netrc || request.options.text(O::NetrcFile).is_some() {
            self.put(O::Netrc, 2);
        }
        self.copy(&[O::NetrcFile, O::LoginOptions, O::UserPwd]);
        self.point(&[O::ErrorBuffer]);
        self.copy(&[O::HttpAuth]);
    }

    fn request(&mut self, job: &Job) {
        let request = self.request;
        let mut headers = request.options.list(O::HttpHeader).to_vec();
        headers.extend(job.extra_headers.iter().cloned());
        if !headers.is_empty() {
            self.set(O::HttpHeader, headers);
        }
        self.copy(&[O::Referer]);
        match request.options.text(O::UserAgent) {
            Some(b"") => {}
            Some(text) => self.put_text(O::UserAgent, text),
            None => self.put_text(O::UserAgent, &job.user_agent),
        }
        self.copy(&[O::KeyPasswd]);
        self.put(O::NoBody, i64::from(request.head));
        self.put(O::FailOnError, i64::from(request.fails_in_library()));
        self.copy(&[O::RequestTarget]);
        self.put(O::Upload, i64::from(job.upload));
        self.copy(&[O::DirListOnly, O::Append, O::TransferText, O::Range, O::TimeoutMs]);
        match job.method {
            Method::Post => {
                let post = job.post.as_deref().unwrap_or_default();
                self.put_text(O::PostFields, post);
                self.set(O::PostFieldSizeLarge, post.len() as i64);
            }
            Method::Form => self.set(O::MimePost, Value::Form(request.form.clone())),
            _ => {}
        }
        self.copy(&[O::MimeOptions]);
    }

    fn http(&mut self) {
        let request = self.request;
        self.put(O::FollowLocation, request.follow);
        self.copy(&[O::UnrestrictedAuth, O::AwsSigV4, O::AutoReferer, O::ProxyHeader]);
        self.copy(&[O::HttpSigAlgorithm, O::HttpSigKey, O::HttpSigKeyId, O::HttpSigHeaders]);
        self.set(O::MaxRedirs, request.options.long(O::MaxRedirs).unwrap_or(50));
        self.copy(&[O::HttpVersion, O::PostRedir]);
        if request.options.is_on(ToolOption::Compressed) {
            self.put_text(O::AcceptEncoding, b"");
        }
        self.copy(&[O::TransferEncoding, O::Http09Allowed, O::AltSvc, O::Hsts, O::Expect100TimeoutMs]);
    }

    fn cookies(&mut self, job: &Job) {
        let request = self.request;
        if !request.cookies.is_empty() {
            self.put_text(O::Cookie, &request.cookies.join(b"; ".as_slice()));
        }
        for file in &request.cookie_files {
            self.put_text(O::CookieFile, file);
        }
        self.copy(&[O::CookieJar, O::CookieSession]);
        let options = &request.options;
        let by_proxy = options.text(O::Proxy).is_some() || !options.list(O::ProxyHeader).is_empty();
        if options.is_on(O::HttpProxyTunnel) || by_proxy && job.scheme == "https" {
            self.put(O::HeaderOpt, 1);
        }
    }

    fn ftp(&mut self) {
        self.copy(&[O::FtpPort]);
        self.put_off(O::FtpUseEpsv);
        self.put_off(O::FtpUseEprt);
        self.put(O::FtpSslCcc, self.request.ftp_ccc.unwrap_or(0));
        self.copy(&[O::FtpAccount]);
        self.put(O::FtpSkipPasvIp, self.request.options.long(O::FtpSkipPasvIp).unwrap_or(1));
        self.put_off(O::FtpSkipPasvIp);
        self.copy(&[O::FtpFileMethod, O::FtpAlternativeToUser, O::FtpUsePret]);
    }

    fn limits(&mut self, job: &Job) {
        self.copy(&[O::LowSpeedLimit, O::LowSpeedTime, O::MaxSendSpeedLarge, O::MaxRecvSpeedLarge]);
        self.put(O::ResumeFromLarge, job.resume_from);
    }

    /// Sets what is requested besides the body, and commands.
    fn requests_of_files(&mut self) {
        let request = self.request;
        self.copy(&[O::PathAsIs]);
        self.put(O::FileTime, i64::from(request.head || request.remote_time));
        self.copy(&[O::Crlf, O::Quote, O::PostQuote, O::PreQuote, O::TimeCondition, O::TimeValueLarge]);
        self.copy(&[O::CustomRequest]);
    }

    fn security(&mut self) {
        let request = self.request;
        self.copy(&[O::CaInfo, O::ProxyCaInfo, O::CaPath]);
        self.copy_or(O::ProxyCaPath, O::CaPath);
        self.copy(&[O::CrlFile]);
        self.copy_or(O::ProxyCrlFile, O::CrlFile);
        self.copy(&[O::PinnedPublicKey, O::ProxyPinnedPublicKey, O::SslEcCurves, O::SslSignatureAlgorithms]);
        if request.options.text(ToolOption::WriteOut).is_some_and(writeout::asks_for_certificates) {
            self.put(O::CertInfo, 1);
        }
        self.copy(&[O::SslCert, O::ProxySslCert, O::SslCertType, O::ProxySslCertType]);
        if let Some(key) = request.options.text(ToolOption::Key) {
            self.put_text(O::SslKey, key);
        }
        self.copy(&[O::ProxySslKey, O::SslKeyType, O::ProxySslKeyType]);
        for (on, options) in [
            (request.insecure, [O::SslVerifyPeer, O::SslVerifyHost]),
            (request.doh_insecure && self.asks_over_https(), [O::DohSslVerifyPeer, O::DohSslVerifyHost]),
            (request.proxy_insecure, [O::ProxySslVerifyPeer, O::ProxySslVerifyHost]),
        ] {
            for option in options.into_iter().filter(|_| on) {
                self.set(option, 0);
            }
        }
        self.copy(&[O::SslVerifyStatus]);
        if self.asks_over_https() {
            self.copy(&[O::DohSslVerifyStatus]);
        }
        self.put(O::SslVersion, tls_versions(request.tls_min, request.tls_max));
        if request.options.text(O::Proxy).is_some() {
            self.copy(&[O::ProxySslVersion]);
        }
        self.copy(&[O::SslOptions, O::ProxySslOptions, O::SslCipherList, O::ProxySslCipherList]);
        self.copy(&[O::Tls13Ciphers, O::ProxyTls13Ciphers]);
        self.put_off(O::SslSessionIdCache);
        for entry in request.options.list(O::Ech) {
            self.put_text(O::Ech, entry);
        }
        self.copy(&[O::SslEngine]);
        self.put(O::UseSsl, use_ssl(request));
        self.put_off(O::SslEnableAlpn);
    }

    /// Returns whether DNS over HTTPS is used. An empty URL selects the system's resolver; flags about the
    /// DoH server then have no effect.
    fn asks_over_https(&self) -> bool {
        self.request.options.text(O::DohUrl).is_some_and(|url| !url.is_empty())
    }

    fn copy_or(&mut self, option: O, other: O) {
        let options = &self.request.options;
        if let Some(text) = options.text(option).or(options.text(other)) {
            self.put_text(option, text);
        }
    }

    fn ssh(&mut self, job: &Job) {
        let options = &self.request.options;
        if let Some(key) = options.text(ToolOption::Key) {
            self.put_text(O::SshPrivateKeyFile, key);
        }
        self.copy(&[
            O::SshPublicKeyFile,
            O::SshHostPublicKeyMd5,
            O::SshHostPublicKeySha256,
            O::SshCompression,
        ]);
        if !self.request.insecure {
            match &job.known_hosts {
                Some(file) => self.put_text(O::SshKnownHosts, file),
                None => self.copy(&[O::SshKnownHosts]),
            }
        }
    }

    fn rest(&mut self, job: &Job) {
        let request = self.request;
        self.point(&[O::StdErr]);
        self.copy(&[O::Interface, O::TelnetOptions, O::ConnectTimeoutMs]);
        if self.asks_over_https() {
            self.copy(&[O::DohUrl]);
        }
        self.put(O::FtpCreateMissingDirs, 2 * request.options.long(O::FtpCreateMissingDirs).unwrap_or(0));
        self.copy(&[O::MaxFileSizeLarge, O::IpResolve, O::Socks5GssapiNec, O::Socks5Auth, O::ServiceName]);
        self.copy(&[O::IgnoreContentLength, O::LocalPort, O::LocalPortRange]);
        if request.options.is_on(ToolOption::Raw) {
            self.set(O::HttpContentDecoding, 0);
            self.set(O::HttpTransferDecoding, 0);
        }
        self.tcp();
        self.copy(&[O::TftpBlkSize, O::MailFrom, O::MailRcpt, O::MailRcptAllowFails, O::NewFilePerms]);
        self.copy(&[O::Resolve, O::ConnectTo, O::ProtocolsStr, O::RedirProtocolsStr, O::GssapiDelegation]);
        self.copy(&[O::MailAuth, O::SaslAuthzId, O::SaslIr, O::AbstractUnixSocket, O::UnixSocketPath]);
        self.copy(&[O::DnsInterface, O::DnsLocalIp4, O::DnsLocalIp6, O::DnsServers]);
        self.copy(&[O::DefaultProtocol, O::TftpNoOptions]);
        if let Some(millis) = request.options.long(O::HappyEyeballsTimeoutMs) {
            self.set(O::HappyEyeballsTimeoutMs, millis);
        }
        self.copy(&[O::DisallowUsernameInUrl]);
        if job.upload {
            // No flags differs from the option's default, which is \Seen.
            if let Some(flags) = request.options.long(O::UploadFlags) {
                self.set(O::UploadFlags, flags);
            }
        }
    }

    fn tcp(&mut self) {
        let options = &self.request.options;
        self.put_off(O::TcpNoDelay);
        self.copy(&[O::TcpFastOpen]);
        if options.long(O::TcpKeepAlive) == Some(0) {
            return;
        }
        self.put(O::TcpKeepAlive, 1);
        let seconds = options.long(ToolOption::KeepaliveTime).unwrap_or(0);
        self.put(O::TcpKeepIdle, seconds);
        self.put(O::TcpKeepIntvl, seconds);
        self.copy(&[O::TcpKeepCnt]);
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

/// Returns CURL_SSLVERSION_ numbers; the minimum is 1.2 unless a lower one is requested, also by a lower
/// maximum.
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

/// Returns the offset of a resumed transfer, unless it has to be determined.
pub fn fixed_resume(request: &Request) -> i64 {
    match request.resume {
        Some(Resume::At(offset)) => offset as i64,
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::request::Fail;

    fn names(request: &Request, scheme: &str) -> Vec<&'static str> {
        let job =
            Job { url: b"u".to_vec(), scheme: scheme.into(), user_agent: b"a".to_vec(), ..Job::default() };
        settings(request, &Globals::default(), &job)
            .into_iter()
            .filter(|setting| !setting.is_pointer())
            .map(|setting| setting.option.name())
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
        request.options.set_text(O::FtpPort, b"-");
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
        let texts =
            [O::Range, O::CustomRequest, O::Proxy, O::RequestTarget, O::UserPwd, O::KeyPasswd, O::Resolve];
        texts.iter().for_each(|option| request.options.set_text(*option, b"x"));
        for option in [O::TimeoutMs, O::HttpAuth, O::Crlf, O::PathAsIs, O::HttpProxyTunnel, O::LowSpeedLimit]
        {
            request.options.set_long(option, 1);
        }
        (request.head, request.remote_time, request.fail) = (true, true, Fail::WithoutBody);
        let expected = "BUFFERSIZE URL PROXY HTTPPROXYTUNNEL USERPWD HTTPAUTH USERAGENT KEYPASSWD NOBODY FAILONERROR \
            REQUEST_TARGET RANGE TIMEOUT_MS LOW_SPEED_LIMIT PATH_AS_IS FILETIME CRLF CUSTOMREQUEST MAXREDIRS HEADEROPT \
            SSLVERSION TCP_KEEPALIVE RESOLVE";
        assert_eq!(names(&request, "http").join(" "), expected);
    }

    /// The positions of options in curl 8.22: people compare the output of `--libcurl`.
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
        for option in
            [O::UserPwd, O::KeyPasswd, O::Range, O::CustomRequest, O::FtpPort, O::CaInfo, O::Interface]
        {
            request.options.set_text(option, b"x");
        }
        for option in [O::DirListOnly, O::TransferText, O::LowSpeedLimit, O::TimeCondition] {
            request.options.set_long(option, 1);
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
