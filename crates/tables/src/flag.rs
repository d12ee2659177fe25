//! The command-line flags of curl: their names, so that missing ones are known.
//!
//! The tool declares the effect, the help text and the category of a flag, one declaration per flag. The
//! coverage report and the tool's tests compare those with this list.

/// A flag of the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Flag {
    /// Without the two dashes.
    pub long: &'static str,
    pub short: Option<char>,
    /// Whether a value follows.
    pub argument: bool,
    /// The curl version that introduced it.
    pub since: &'static str,
}

macro_rules! flags {
    ($($long:literal, $short:expr, $argument:literal, $since:literal;)*) => {
        /// All of them, sorted by their long names.
        pub const FLAGS: &[Flag] =
            &[$(Flag { long: $long, short: $short, argument: $argument, since: $since },)*];
    };
}

/// Variables that `--write-out` knows, apart from `header{}` and `output{}`.
pub const WRITE_OUT: &[&str] = &[
    "certs",
    "conn_id",
    "content_type",
    "errormsg",
    "exitcode",
    "filename_effective",
    "ftp_entry_path",
    "header_json",
    "http_code",
    "http_connect",
    "http_version",
    "json",
    "local_ip",
    "local_port",
    "method",
    "num_certs",
    "num_connects",
    "num_headers",
    "num_redirects",
    "num_retries",
    "onerror",
    "proxy_ssl_verify_result",
    "proxy_used",
    "redirect_url",
    "referer",
    "remote_ip",
    "remote_port",
    "response_code",
    "scheme",
    "size_delivered",
    "size_download",
    "size_header",
    "size_request",
    "size_upload",
    "speed_download",
    "speed_upload",
    "ssl_verify_result",
    "stderr",
    "stdout",
    "time_appconnect",
    "time_connect",
    "time_namelookup",
    "time_posttransfer",
    "time_pretransfer",
    "time_queue",
    "time_redirect",
    "time_starttransfer",
    "time_total",
    "tls_earlydata",
    "url",
    "url.fragment",
    "url.host",
    "url.options",
    "url.password",
    "url.path",
    "url.port",
    "url.query",
    "url.scheme",
    "url.user",
    "url.zoneid",
    "url_effective",
    "urle.fragment",
    "urle.host",
    "urle.options",
    "urle.password",
    "urle.path",
    "urle.port",
    "urle.query",
    "urle.scheme",
    "urle.user",
    "urle.zoneid",
    "urlnum",
    "xfer_id",
];

// long, short, argument, since
flags! {
    "abstract-unix-socket",         None,      true,  "7.53.0";
    "alt-svc",                      None,      true,  "7.64.1";
    "anyauth",                      None,      false, "7.10.6";
    "append",                       Some('a'), false, "4.8";
    "aws-sigv4",                    None,      true,  "7.75.0";
    "basic",                        None,      false, "7.10.6";
    "ca-native",                    None,      false, "8.2.0";
    "cacert",                       None,      true,  "7.5";
    "capath",                       None,      true,  "7.9.8";
    "cert",                         Some('E'), true,  "5.0";
    "cert-status",                  None,      false, "7.41.0";
    "cert-type",                    None,      true,  "7.9.3";
    "ciphers",                      None,      true,  "7.9";
    "compressed",                   None,      false, "7.10";
    "compressed-ssh",               None,      false, "7.56.0";
    "config",                       Some('K'), true,  "4.10";
    "connect-timeout",              None,      true,  "7.7";
    "connect-to",                   None,      true,  "7.49.0";
    "continue-at",                  Some('C'), true,  "4.8";
    "cookie",                       Some('b'), true,  "4.9";
    "cookie-jar",                   Some('c'), true,  "7.9";
    "create-dirs",                  None,      false, "7.10.3";
    "create-file-mode",             None,      true,  "7.75.0";
    "crlf",                         None,      false, "5.7";
    "crlfile",                      None,      true,  "7.19.7";
    "curves",                       None,      true,  "7.73.0";
    "data",                         Some('d'), true,  "4.0";
    "data-ascii",                   None,      true,  "7.2";
    "data-binary",                  None,      true,  "7.2";
    "data-raw",                     None,      true,  "7.43.0";
    "data-urlencode",               None,      true,  "7.18.0";
    "delegation",                   None,      true,  "7.22.0";
    "digest",                       None,      false, "7.10.6";
    "disable",                      Some('q'), false, "5.0";
    "disable-eprt",                 None,      false, "7.10.5";
    "disable-epsv",                 None,      false, "7.9.2";
    "disallow-username-in-url",     None,      false, "7.61.0";
    "dns-interface",                None,      true,  "7.33.0";
    "dns-ipv4-addr",                None,      true,  "7.33.0";
    "dns-ipv6-addr",                None,      true,  "7.33.0";
    "dns-servers",                  None,      true,  "7.33.0";
    "doh-cert-status",              None,      false, "7.76.0";
    "doh-insecure",                 None,      false, "7.76.0";
    "doh-url",                      None,      true,  "7.62.0";
    "dump-ca-embed",                None,      false, "8.10.0";
    "dump-header",                  Some('D'), true,  "5.7";
    "ech",                          None,      true,  "8.8.0";
    "egd-file",                     None,      true,  "7.7";
    "engine",                       None,      true,  "7.9.3";
    "etag-compare",                 None,      true,  "7.68.0";
    "etag-save",                    None,      true,  "7.68.0";
    "expect100-timeout",            None,      true,  "7.47.0";
    "fail",                         Some('f'), false, "4.0";
    "fail-early",                   None,      false, "7.52.0";
    "fail-with-body",               None,      false, "7.76.0";
    "false-start",                  None,      false, "7.42.0";
    "follow",                       None,      false, "8.16.0";
    "form",                         Some('F'), true,  "5.0";
    "form-escape",                  None,      false, "7.81.0";
    "form-string",                  None,      true,  "7.13.2";
    "ftp-account",                  None,      true,  "7.13.0";
    "ftp-alternative-to-user",      None,      true,  "7.15.5";
    "ftp-create-dirs",              None,      false, "7.10.7";
    "ftp-method",                   None,      true,  "7.15.1";
    "ftp-pasv",                     None,      false, "7.11.0";
    "ftp-port",                     Some('P'), true,  "4.0";
    "ftp-pret",                     None,      false, "7.20.0";
    "ftp-skip-pasv-ip",             None,      false, "7.15.0";
    "ftp-ssl-ccc",                  None,      false, "7.16.1";
    "ftp-ssl-ccc-mode",             None,      true,  "7.16.2";
    "ftp-ssl-control",              None,      false, "7.16.0";
    "get",                          Some('G'), false, "7.8.1";
    "globoff",                      Some('g'), false, "7.6";
    "happy-eyeballs-timeout-ms",    None,      true,  "7.59.0";
    "haproxy-clientip",             None,      true,  "8.2.0";
    "haproxy-protocol",             None,      false, "7.60.0";
    "head",                         Some('I'), false, "4.0";
    "header",                       Some('H'), true,  "5.0";
    "help",                         Some('h'), true,  "4.0";
    "hostpubmd5",                   None,      true,  "7.17.1";
    "hostpubsha256",                None,      true,  "7.80.0";
    "hsts",                         None,      true,  "7.74.0";
    "http0.9",                      None,      false, "7.64.0";
    "http1.0",                      Some('0'), false, "7.9.1";
    "http1.1",                      None,      false, "7.33.0";
    "http2",                        None,      false, "7.33.0";
    "http2-prior-knowledge",        None,      false, "7.49.0";
    "http3",                        None,      false, "7.66.0";
    "http3-only",                   None,      false, "7.88.0";
    "httpsig-algo",                 None,      true,  "8.22.0";
    "httpsig-headers",              None,      true,  "8.22.0";
    "httpsig-key",                  None,      true,  "8.22.0";
    "httpsig-keyid",                None,      true,  "8.22.0";
    "ignore-content-length",        None,      false, "7.14.1";
    "insecure",                     Some('k'), false, "7.10";
    "interface",                    None,      true,  "7.3";
    "ip-tos",                       None,      true,  "8.9.0";
    "ipfs-gateway",                 None,      true,  "8.4.0";
    "ipv4",                         Some('4'), false, "7.10.8";
    "ipv6",                         Some('6'), false, "7.10.8";
    "json",                         None,      true,  "7.82.0";
    "junk-session-cookies",         Some('j'), false, "7.9.7";
    "keepalive-cnt",                None,      true,  "8.9.0";
    "keepalive-time",               None,      true,  "7.18.0";
    "key",                          None,      true,  "7.9.3";
    "key-type",                     None,      true,  "7.9.3";
    "knownhosts",                   None,      true,  "8.17.0";
    "krb",                          None,      true,  "7.3";
    "libcurl",                      None,      true,  "7.16.1";
    "limit-rate",                   None,      true,  "7.10";
    "list-only",                    Some('l'), false, "4.0";
    "local-port",                   None,      true,  "7.15.2";
    "location",                     Some('L'), false, "4.9";
    "location-trusted",             None,      false, "7.10.4";
    "login-options",                None,      true,  "7.34.0";
    "mail-auth",                    None,      true,  "7.25.0";
    "mail-from",                    None,      true,  "7.20.0";
    "mail-rcpt",                    None,      true,  "7.20.0";
    "mail-rcpt-allowfails",         None,      false, "7.69.0";
    "manual",                       Some('M'), false, "5.2";
    "max-filesize",                 None,      true,  "7.10.8";
    "max-redirs",                   None,      true,  "7.5";
    "max-time",                     Some('m'), true,  "4.0";
    "metalink",                     None,      false, "7.27.0";
    "mptcp",                        None,      false, "8.9.0";
    "negotiate",                    None,      false, "7.10.6";
    "netrc",                        Some('n'), false, "4.6";
    "netrc-file",                   None,      true,  "7.21.5";
    "netrc-optional",               None,      false, "7.9.8";
    "next",                         Some(':'), false, "7.36.0";
    "no-alpn",                      None,      false, "7.36.0";
    "no-buffer",                    Some('N'), false, "6.5";
    "no-clobber",                   None,      false, "7.83.0";
    "no-keepalive",                 None,      false, "7.18.0";
    "no-npn",                       None,      false, "7.36.0";
    "no-progress-meter",            None,      false, "7.67.0";
    "no-sessionid",                 None,      false, "7.16.0";
    "noproxy",                      None,      true,  "7.19.4";
    "ntlm",                         None,      false, "7.10.6";
    "ntlm-wb",                      None,      false, "7.22.0";
    "oauth2-bearer",                None,      true,  "7.33.0";
    "out-null",                     None,      false, "8.16.0";
    "output",                       Some('o'), true,  "4.0";
    "output-dir",                   None,      true,  "7.73.0";
    "parallel",                     Some('Z'), false, "7.66.0";
    "parallel-immediate",           None,      false, "7.68.0";
    "parallel-max",                 None,      true,  "7.66.0";
    "parallel-max-host",            None,      true,  "8.16.0";
    "pass",                         None,      true,  "7.9.3";
    "path-as-is",                   None,      false, "7.42.0";
    "pinnedpubkey",                 None,      true,  "7.39.0";
    "post301",                      None,      false, "7.17.1";
    "post302",                      None,      false, "7.19.1";
    "post303",                      None,      false, "7.26.0";
    "preproxy",                     None,      true,  "7.52.0";
    "progress-bar",                 Some('#'), false, "5.10";
    "proto",                        None,      true,  "7.21.0";
    "proto-default",                None,      true,  "7.45.0";
    "proto-redir",                  None,      true,  "7.21.0";
    "proxy",                        Some('x'), true,  "4.0";
    "proxy-anyauth",                None,      false, "7.13.2";
    "proxy-basic",                  None,      false, "7.12.0";
    "proxy-ca-native",              None,      false, "8.2.0";
    "proxy-cacert",                 None,      true,  "7.52.0";
    "proxy-capath",                 None,      true,  "7.52.0";
    "proxy-cert",                   None,      true,  "7.52.0";
    "proxy-cert-type",              None,      true,  "7.52.0";
    "proxy-ciphers",                None,      true,  "7.52.0";
    "proxy-crlfile",                None,      true,  "7.52.0";
    "proxy-digest",                 None,      false, "7.12.0";
    "proxy-header",                 None,      true,  "7.37.0";
    "proxy-http2",                  None,      false, "8.1.0";
    "proxy-http3",                  None,      false, "8.21.0";
    "proxy-insecure",               None,      false, "7.52.0";
    "proxy-key",                    None,      true,  "7.52.0";
    "proxy-key-type",               None,      true,  "7.52.0";
    "proxy-negotiate",              None,      false, "7.17.1";
    "proxy-ntlm",                   None,      false, "7.10.7";
    "proxy-pass",                   None,      true,  "7.52.0";
    "proxy-pinnedpubkey",           None,      true,  "7.59.0";
    "proxy-service-name",           None,      true,  "7.43.0";
    "proxy-ssl-allow-beast",        None,      false, "7.52.0";
    "proxy-ssl-auto-client-cert",   None,      false, "7.77.0";
    "proxy-tls13-ciphers",          None,      true,  "7.61.0";
    "proxy-tlsauthtype",            None,      true,  "7.52.0";
    "proxy-tlspassword",            None,      true,  "7.52.0";
    "proxy-tlsuser",                None,      true,  "7.52.0";
    "proxy-tlsv1",                  None,      false, "7.52.0";
    "proxy-user",                   Some('U'), true,  "4.0";
    "proxy1.0",                     None,      true,  "7.19.4";
    "proxytunnel",                  Some('p'), false, "7.3";
    "pubkey",                       None,      true,  "7.16.2";
    "quote",                        Some('Q'), true,  "5.3";
    "random-file",                  None,      true,  "7.7";
    "range",                        Some('r'), true,  "4.0";
    "rate",                         None,      true,  "7.84.0";
    "raw",                          None,      false, "7.16.2";
    "referer",                      Some('e'), true,  "4.0";
    "remote-header-name",           Some('J'), false, "7.20.0";
    "remote-name",                  Some('O'), false, "4.0";
    "remote-name-all",              None,      false, "7.19.0";
    "remote-time",                  Some('R'), false, "7.9";
    "remove-on-error",              None,      false, "7.83.0";
    "request",                      Some('X'), true,  "6.0";
    "request-target",               None,      true,  "7.55.0";
    "resolve",                      None,      true,  "7.21.3";
    "retry",                        None,      true,  "7.12.3";
    "retry-all-errors",             None,      false, "7.71.0";
    "retry-connrefused",            None,      false, "7.52.0";
    "retry-delay",                  None,      true,  "7.12.3";
    "retry-max-time",               None,      true,  "7.12.3";
    "sasl-authzid",                 None,      true,  "7.66.0";
    "sasl-ir",                      None,      false, "7.31.0";
    "service-name",                 None,      true,  "7.43.0";
    "show-error",                   Some('S'), false, "5.9";
    "show-headers",                 Some('i'), false, "4.8";
    "sigalgs",                      None,      true,  "8.14.0";
    "silent",                       Some('s'), false, "4.0";
    "skip-existing",                None,      false, "8.10.0";
    "socks4",                       None,      true,  "7.15.2";
    "socks4a",                      None,      true,  "7.18.0";
    "socks5",                       None,      true,  "7.18.0";
    "socks5-basic",                 None,      false, "7.55.0";
    "socks5-gssapi",                None,      false, "7.55.0";
    "socks5-gssapi-nec",            None,      false, "7.19.4";
    "socks5-gssapi-service",        None,      true,  "7.19.4";
    "socks5-hostname",              None,      true,  "7.18.0";
    "speed-limit",                  Some('Y'), true,  "4.7";
    "speed-time",                   Some('y'), true,  "4.7";
    "ssl",                          None,      false, "7.20.0";
    "ssl-allow-beast",              None,      false, "7.25.0";
    "ssl-auto-client-cert",         None,      false, "7.77.0";
    "ssl-no-revoke",                None,      false, "7.44.0";
    "ssl-reqd",                     None,      false, "7.20.0";
    "ssl-revoke-best-effort",       None,      false, "7.70.0";
    "ssl-sessions",                 None,      true,  "8.12.0";
    "sslv2",                        Some('2'), false, "5.9";
    "sslv3",                        Some('3'), false, "5.9";
    "stderr",                       None,      true,  "6.2";
    "styled-output",                None,      false, "7.61.0";
    "suppress-connect-headers",     None,      false, "7.54.0";
    "tcp-fastopen",                 None,      false, "7.49.0";
    "tcp-nodelay",                  None,      false, "7.11.2";
    "telnet-option",                Some('t'), true,  "7.7";
    "tftp-blksize",                 None,      true,  "7.20.0";
    "tftp-no-options",              None,      false, "7.48.0";
    "time-cond",                    Some('z'), true,  "5.8";
    "tls-earlydata",                None,      false, "8.11.0";
    "tls-max",                      None,      true,  "7.54.0";
    "tls13-ciphers",                None,      true,  "7.61.0";
    "tlsauthtype",                  None,      true,  "7.21.4";
    "tlspassword",                  None,      true,  "7.21.4";
    "tlsuser",                      None,      true,  "7.21.4";
    "tlsv1",                        Some('1'), false, "7.9.2";
    "tlsv1.0",                      None,      false, "7.34.0";
    "tlsv1.1",                      None,      false, "7.34.0";
    "tlsv1.2",                      None,      false, "7.34.0";
    "tlsv1.3",                      None,      false, "7.52.0";
    "tr-encoding",                  None,      false, "7.21.6";
    "trace",                        None,      true,  "7.9.7";
    "trace-ascii",                  None,      true,  "7.9.7";
    "trace-config",                 None,      true,  "8.3.0";
    "trace-ids",                    None,      false, "8.2.0";
    "trace-time",                   None,      false, "7.14.0";
    "unix-socket",                  None,      true,  "7.40.0";
    "upload-file",                  Some('T'), true,  "4.0";
    "upload-flags",                 None,      true,  "8.13.0";
    "url",                          None,      true,  "7.5";
    "url-query",                    None,      true,  "7.87.0";
    "use-ascii",                    Some('B'), false, "5.0";
    "user",                         Some('u'), true,  "4.0";
    "user-agent",                   Some('A'), true,  "4.5.1";
    "variable",                     None,      true,  "8.3.0";
    "verbose",                      Some('v'), false, "4.0";
    "version",                      Some('V'), false, "4.0";
    "vlan-priority",                None,      true,  "8.9.0";
    "write-out",                    Some('w'), true,  "6.5";
    "xattr",                        None,      false, "7.21.3";
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn sorted_and_short_names_unique() {
        assert!(FLAGS.is_sorted_by(|a, b| a.long < b.long));
        let short: Vec<_> = FLAGS.iter().filter_map(|f| f.short).collect();
        assert_eq!(short.iter().collect::<HashSet<_>>().len(), short.len());
    }
}
