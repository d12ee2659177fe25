//! The capabilities of the curl under test, read from its `-V` as curl's own harness does: the features that
//! a case may require, the protocols of its servers, and the version in its requests.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

/// The output of `-V`, in the words of `<features>` and `<server>`.
#[derive(Debug, Default, Clone)]
pub struct Features {
    words: BTreeSet<String>,
    protocols: BTreeSet<String>,
    /// `%VERSION`: the version as printed.
    pub version: String,
}

/// Features of every build that does not say otherwise; no published curl lists them in `-V`.
const ALWAYS: [&str; 27] = [
    "--libcurl",
    "aws",
    "cookies",
    "crypto",
    "digest",
    "DoH",
    "form-api",
    "getrlimit",
    "headers-api",
    "HTTP-auth",
    "hsts",
    "large-size",
    "large-time",
    "local-http",
    "Mime",
    "netrc",
    "parsedate",
    "proxy",
    "sha512-256",
    "shuffle-dns",
    "socks",
    "typecheck",
    "verbose-strings",
    "wakeup",
    "xattr",
    "codeset-utf8",
    "ld_preload",
];

/// Features in `ALWAYS` that Windows lacks.
const ELSEWHERE: [&str; 4] = ["codeset-utf8", "getrlimit", "ld_preload", "xattr"];

/// Words that are spelled otherwise in `-V`.
const RENAMED: [(&str, &str); 4] = [
    ("HTTP2", "http/2"),
    ("HTTP3", "http/3"),
    ("SSLS-EXPORT", "ssl-sessions"),
    ("AsynchDNS", "threaded-resolver"),
];

/// TLS backends by the name before the slash in the first line of `-V`, and whether they can pin a key.
const BACKENDS: [(&str, &str, bool); 9] = [
    ("OpenSSL", "OpenSSL", true),
    ("LibreSSL", "OpenSSL", true),
    ("BoringSSL", "OpenSSL", true),
    ("GnuTLS", "GnuTLS", true),
    ("wolfSSL", "wolfssl", true),
    ("mbedTLS", "mbedtls", true),
    ("rustls-ffi", "rustls", false),
    ("Schannel", "Schannel", true),
    ("Warmwire", "Warmwire", false),
];

impl Features {
    /// Runs the binary, by the command `through` if the system cannot run it directly. `library` is the
    /// directory of the libcurl to load, if not its own.
    pub fn of(curl: &Path, through: Option<&str>, library: Option<&Path>) -> Result<Features, String> {
        let ask = |argument: &str| {
            let mut command = Command::new(through.map_or(curl, Path::new));
            command.args(through.map(|_| curl));
            command.arg(argument);
            if let Some(folder) = library {
                command.env("LD_LIBRARY_PATH", folder);
            }
            command.output().map_err(|e| format!("cannot run {}: {e}", curl.display()))
        };
        let output = ask("-V")?;
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        if !output.status.success() || !text.starts_with("curl ") {
            return Err(format!("{} -V does not answer as curl does", curl.display()));
        }
        let manual = ask("-M")?;
        let manual = [manual.stdout, manual.stderr].concat();
        let mut features = Features::read(&text);
        // A debug build of curl's takes the name server from CURL_DNS_SERVER, ours from a flag in each of its
        // builds.
        if features.has("Warmwire") && library.is_none() {
            features.words.insert("override-dns".into());
        }
        if manual.len() > 1000 {
            features.words.insert("manual".into());
        }
        Ok(features)
    }

    fn read(text: &str) -> Features {
        let mut this = Features::default();
        this.words.extend(ALWAYS.iter().map(|w| (*w).to_owned()));
        for line in text.lines() {
            if let Some(rest) = line.strip_prefix("curl ") {
                this.version = rest.split(' ').next().unwrap_or_default().to_owned();
                this.library(rest);
                this.system(rest);
            } else if let Some(rest) = line.strip_prefix("Protocols: ") {
                this.protocols(rest);
            } else if let Some(rest) = line.strip_prefix("Features: ") {
                this.features(rest);
            }
        }
        this
    }

    fn library(&mut self, line: &str) {
        let names: Vec<&str> = line.split([' ', '/', '(', ')']).collect();
        for (name, word, pins) in BACKENDS {
            if names.iter().any(|n| n.eq_ignore_ascii_case(name)) {
                self.words.insert(word.to_owned());
                if pins {
                    self.words.insert("SSLpinning".to_owned());
                }
            }
        }
        // The harness takes the upgrade to HTTP/2 for a feature of nghttp2's.
        if names.contains(&"nghttp2") {
            self.words.insert("h2c".to_owned());
        }
        for name in ["libssh2", "libssh", "wolfssh", "c-ares"] {
            if names.contains(&name) {
                self.words.insert(name.to_owned());
            }
        }
    }

    /// Adds features of one system, derived from the platform that curl was built for.
    fn system(&mut self, line: &str) {
        if ["mingw32", "mingw64", "Windows"].iter().any(|name| line.contains(name)) {
            self.words.insert("win32".to_owned());
            self.words.retain(|word| !ELSEWHERE.contains(&word.as_str()));
        }
    }

    fn protocols(&mut self, line: &str) {
        for name in line.split_whitespace().map(str::to_lowercase) {
            self.words.insert(name.clone());
            self.protocols.insert(name);
        }
    }

    fn features(&mut self, line: &str) {
        for word in line.split_whitespace() {
            let renamed = RENAMED.iter().find(|(from, _)| *from == word).map(|(_, to)| (*to).to_owned());
            self.words.insert(renamed.unwrap_or_else(|| word.to_owned()));
        }
        if self.has("HTTP2") || self.has("http/2") {
            self.words.insert("http/2".into());
        }
    }

    pub fn has(&self, word: &str) -> bool {
        self.words.contains(word)
    }

    /// Returns why the case's `<features>` prevent it from running, if they do.
    pub fn lacks(&self, wanted: &[String]) -> Option<String> {
        wanted.iter().find_map(|word| match word.strip_prefix('!') {
            None if !self.has(word) => Some(format!("curl lacks {word} support")),
            Some(word) if self.has(word) => Some(format!("curl has {word} support")),
            _ => None,
        })
    }

    /// Why curl has no use for the server, if so. SOCKS, DNS and `none` are no protocols of curl's.
    pub fn lacks_server(&self, server: &str) -> Option<String> {
        let name = server.strip_suffix("-ipv6").or_else(|| server.strip_suffix("-unix")).unwrap_or(server);
        let served = match name {
            "none" | "dns" | "http-proxy" => true,
            "https-proxy" => self.has("HTTPS-proxy"),
            "https-mtls" => self.protocols.contains("https"),
            "http/2" | "http/3" => self.has(name),
            _ => name.starts_with("socks") || self.protocols.contains(name),
        };
        (!served).then(|| format!("curl lacks {server} support"))
    }

    /// Whether the version is at least this one, for options that the harness itself adds.
    pub fn at_least(&self, major: u32, minor: u32) -> bool {
        let mut numbers = self.version.split(['.', '-']).map(|n| n.parse::<u32>().unwrap_or(0));
        (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0)) >= (major, minor)
    }

    /// `%VERNUM`: the version without anything after its numbers.
    pub fn version_number(&self) -> &str {
        let end = self.version.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(self.version.len());
        &self.version[..end]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OUTPUT: &str = "curl 8.22.0-DEV (x86_64-pc-linux-gnu) libcurl/8.22.0-DEV OpenSSL/3.0 nghttp2/1.52\n\
        Release-Date: x\nProtocols: file ftp HTTP https\nFeatures: HTTP2 HTTPS-proxy IPv6 SSL\n";

    #[test]
    fn words_of_a_version_text() {
        let features = Features::read(OUTPUT);
        for word in ["OpenSSL", "SSLpinning", "h2c", "http/2", "http", "ftp", "cookies", "IPv6", "SSL"] {
            assert!(features.has(word), "{word}");
        }
        assert!(!features.has("libz"));
        assert_eq!(features.lacks(&["libz".into()]).unwrap(), "curl lacks libz support");
        assert_eq!(features.lacks(&["!SSL".into()]).unwrap(), "curl has SSL support");
        assert_eq!(features.lacks(&["SSL".into(), "!libz".into()]), None);
        assert_eq!(features.version_number(), "8.22.0");
        assert!(features.at_least(8, 3) && !features.at_least(9, 0));
    }

    /// A name in parentheses is that of what is really used; the harness reads it all the same.
    #[test]
    fn our_own_words() {
        let line = "curl 8.22.0 (x86_64-pc-linux-gnu) libcurl/8.22.0 OpenSSL/3.0.0 (rustls/0.23) \
            nghttp2/1.52.0 (Warmwire/0.1.0) zlib/1.3.1\nProtocols: http\nFeatures: HTTP2\n";
        let features = Features::read(line);
        for word in ["OpenSSL", "SSLpinning", "h2c", "Warmwire"] {
            assert!(features.has(word), "{word}");
        }
        let without =
            Features::read(&line.replace("OpenSSL/3.0.0 (rustls/0.23) nghttp2/1.52.0", "rustls/0.23"));
        for word in ["OpenSSL", "SSLpinning", "h2c", "rustls"] {
            assert!(!without.has(word), "{word}");
        }
    }

    #[test]
    fn a_mingw_host_has_the_features_of_windows() {
        let features = Features::read(&OUTPUT.replace("pc-linux-gnu", "w64-mingw32"));
        assert!(features.has("win32") && !features.has("xattr") && !features.has("ld_preload"));
        assert!(!Features::read(OUTPUT).has("win32") && Features::read(OUTPUT).has("xattr"));
    }

    #[test]
    fn servers_need_their_protocol() {
        let features = Features::read(OUTPUT);
        for server in ["http", "http-ipv6", "http-unix", "https-proxy", "socks5", "none"] {
            assert_eq!(features.lacks_server(server), None, "{server}");
        }
        assert!(features.lacks_server("imap").is_some());
    }
}
