//! The proxy settings of GNOME, as `gsettings` prints them. A machine without that program or its schema has
//! none.

use std::io::Read;
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::thread;
use std::time::{Duration, Instant};

use runtime::LockFreeOnce;
use tables::Scheme;
use wire::escape;
use wire::proxy_list::ProxyEntry;

/// How long an answer of `gsettings` counts.
const KEPT: Duration = Duration::from_secs(60);
/// Longest time of the program.
const MAX_TIME: Duration = Duration::from_secs(2);
/// Most bytes of its output that are read.
const MAX_OUTPUT: u64 = 64 << 10;

const SCHEMA: &str = "org.gnome.system.proxy";

/// The settings of a desktop.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DesktopSettings {
    /// `none`, `manual` or `auto`.
    mode: String,
    autoconfig_url: String,
    /// Hosts, domains and networks that are reached directly.
    ignored: Vec<String>,
    http: Place,
    https: Place,
    ftp: Place,
    socks: Place,
    /// User and password for the HTTP proxy.
    login: Option<(String, String)>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Place {
    host: String,
    port: String,
}

/// The decision of a desktop about a URL.
#[derive(Debug, PartialEq, Eq)]
pub enum DesktopChoice {
    /// It leaves the choice to the environment.
    Nothing,
    /// Through this proxy, or directly.
    Entry(ProxyEntry),
    /// As the PAC file at this URL says.
    Pac(String),
}

impl DesktopSettings {
    /// Parses the output of `gsettings list-recursively`: a line for each key, `SCHEMA KEY VALUE`.
    pub fn parse(output: &str) -> DesktopSettings {
        let mut settings = DesktopSettings::default();
        let (mut user, mut password, mut authenticates) = (String::new(), String::new(), false);
        for line in output.lines() {
            let mut words = line.splitn(3, ' ');
            let (Some(schema), Some(key), Some(value)) = (words.next(), words.next(), words.next()) else {
                continue;
            };
            let Some(part) = schema.strip_prefix(SCHEMA) else { continue };
            let text = || quoted(value).into_iter().next().unwrap_or_default();
            let place = match part {
                ".http" => Some(&mut settings.http),
                ".https" => Some(&mut settings.https),
                ".ftp" => Some(&mut settings.ftp),
                ".socks" => Some(&mut settings.socks),
                _ => None,
            };
            match (part, key, place) {
                ("", "mode", _) => settings.mode = text(),
                ("", "autoconfig-url", _) => settings.autoconfig_url = text(),
                ("", "ignore-hosts", _) => settings.ignored = quoted(value),
                (".http", "authentication-user", _) => user = text(),
                (".http", "authentication-password", _) => password = text(),
                (".http", "use-authentication", _) => authenticates = value == "true",
                (_, "host", Some(place)) => place.host = text(),
                (_, "port", Some(place)) => place.port = value.to_owned(),
                _ => {}
            }
        }
        settings.login = (authenticates && !user.is_empty()).then_some((user, password));
        settings
    }

    /// Decides about a URL of this scheme and host.
    pub fn choose(&self, scheme: &Scheme, host: &str) -> DesktopChoice {
        if self.mode != "manual" && self.mode != "auto" {
            return DesktopChoice::Nothing;
        }
        // "*.example.com" is that domain; CURLOPT_NOPROXY writes it with a dot.
        let listed =
            |entry: &String| entry.strip_prefix('*').filter(|_| entry != "*").unwrap_or(entry).to_owned();
        let ignored = self.ignored.iter().map(listed).collect::<Vec<_>>().join(",");
        if wire::noproxy::matches(host, &ignored) {
            return DesktopChoice::Entry(ProxyEntry::Direct);
        }
        match self.mode.as_str() {
            "auto" if self.autoconfig_url.is_empty() => DesktopChoice::Nothing, // WPAD
            "auto" => DesktopChoice::Pac(self.autoconfig_url.clone()),
            _ => DesktopChoice::Entry(self.manual(scheme)),
        }
    }

    fn manual(&self, scheme: &Scheme) -> ProxyEntry {
        let login = self.login.as_ref();
        let own = match scheme {
            Scheme::Http | Scheme::Ws => self.http.url("http", 8080, login),
            Scheme::Https | Scheme::Wss => self.https.url("http", 8080, None),
            Scheme::Ftp | Scheme::Ftps => self.ftp.url("http", 8080, None),
            _ => None,
        };
        let url = own.or_else(|| self.socks.url("socks5h", 1080, None));
        url.map_or(ProxyEntry::Direct, |url| ProxyEntry::Proxy(url.into_bytes()))
    }
}

impl Place {
    /// Returns the URL of a proxy there, if one is set.
    fn url(&self, scheme: &str, default: u16, login: Option<&(String, String)>) -> Option<String> {
        let host = Some(self.host.as_str()).filter(|host| !host.is_empty())?;
        let host =
            if host.contains(':') && !host.starts_with('[') { format!("[{host}]") } else { host.to_owned() };
        let port = self.port.parse().ok().filter(|port| *port > 0).unwrap_or(default);
        let encoded = |text: &str| String::from_utf8_lossy(&escape::encode(text.as_bytes())).into_owned();
        let login = login
            .map_or_else(String::new, |(user, password)| format!("{}:{}@", encoded(user), encoded(password)));
        Some(format!("{scheme}://{login}{host}:{port}"))
    }
}

/// Returns the texts in quotes of a value as GLib prints it: `'a'` or `['a', "b'c"]`.
fn quoted(value: &str) -> Vec<String> {
    let mut texts = Vec::new();
    let mut chars = value.chars();
    while let Some(quote) = chars.find(|c| *c == '\'' || *c == '"') {
        let mut text = String::new();
        while let Some(c) = chars.next().filter(|c| *c != quote) {
            text.push(if c == '\\' { chars.next().unwrap_or(c) } else { c });
        }
        texts.push(text);
    }
    texts
}

/// The settings that were read last, and when.
static LAST: LockFreeOnce<Mutex<Option<(Instant, DesktopSettings)>>> = LockFreeOnce::new();

/// Returns the settings of this user's desktop that were read in the last minute.
pub fn recent_settings() -> Option<DesktopSettings> {
    let last = LAST.get(Mutex::default).try_lock().ok()?;
    last.as_ref().filter(|(at, _)| at.elapsed() < KEPT).map(|(_, settings)| settings.clone())
}

/// Reads the settings of this user's desktop. Blocks for two seconds at most.
pub fn read_settings() -> DesktopSettings {
    let settings = DesktopSettings::parse(&output_of_gsettings().unwrap_or_default());
    if let Ok(mut last) = LAST.get(Mutex::default).try_lock() {
        *last = Some((Instant::now(), settings.clone()));
    }
    settings
}

/// Returns the output of the program; `None` if there is none, if it fails or takes too long.
fn output_of_gsettings() -> Option<String> {
    if !cfg!(unix) {
        return None;
    }
    let mut command = Command::new("gsettings");
    command.args(["list-recursively", SCHEMA]).stdin(Stdio::null()).stderr(Stdio::null());
    let mut child = command.stdout(Stdio::piped()).spawn().ok()?;
    let output = child.stdout.take()?;
    let reader = thread::spawn(move || {
        let mut text = String::new();
        output.take(MAX_OUTPUT).read_to_string(&mut text).map(|_| text)
    });
    let end = Instant::now() + MAX_TIME;
    let status = loop {
        match child.try_wait() {
            Ok(None) if Instant::now() < end => thread::sleep(Duration::from_millis(2)),
            Ok(Some(status)) => break Some(status),
            _ => break None,
        }
    };
    if status.is_none() {
        let _ = child.kill();
        let _ = child.wait();
        return None; // the reader ends by itself; something may still hold the pipe
    }
    status.filter(|status| status.success())?;
    reader.join().ok()?.ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const OUTPUT: &str = "\
org.gnome.system.proxy autoconfig-url 'http://h.test/it\\'s.pac'
org.gnome.system.proxy ignore-hosts ['localhost', '127.0.0.0/8', '::1', '*.near.test', \"o'dd.test\"]
org.gnome.system.proxy mode 'MODE'
org.gnome.system.proxy use-same-proxy true
org.gnome.system.proxy.ftp host ''
org.gnome.system.proxy.ftp port 0
org.gnome.system.proxy.http authentication-password 's:crt'
org.gnome.system.proxy.http authentication-user 'me'
org.gnome.system.proxy.http enabled false
org.gnome.system.proxy.http host 'web.test'
org.gnome.system.proxy.http port 3128
org.gnome.system.proxy.http use-authentication true
org.gnome.system.proxy.https host '2001:db8::1'
org.gnome.system.proxy.https port 0
org.gnome.system.proxy.socks host 'socks.test'
org.gnome.system.proxy.socks port 1081
a line of something else";

    #[test]
    fn settings_choose_by_mode_scheme_and_host() {
        let settings = |mode: &str| DesktopSettings::parse(&OUTPUT.replace("MODE", mode));
        let proxy = |url: &str| DesktopChoice::Entry(ProxyEntry::Proxy(url.into()));
        let direct = || DesktopChoice::Entry(ProxyEntry::Direct);
        let pac = DesktopChoice::Pac("http://h.test/it's.pac".to_owned());
        for (mode, scheme, host, wanted) in [
            ("none", Scheme::Http, "far.test", DesktopChoice::Nothing),
            ("", Scheme::Http, "far.test", DesktopChoice::Nothing),
            ("manual", Scheme::Http, "far.test", proxy("http://me:s%3Acrt@web.test:3128")),
            ("manual", Scheme::Https, "far.test", proxy("http://[2001:db8::1]:8080")),
            ("manual", Scheme::Ftp, "far.test", proxy("socks5h://socks.test:1081")),
            ("manual", Scheme::Imap, "far.test", proxy("socks5h://socks.test:1081")),
            ("manual", Scheme::Http, "localhost", direct()),
            ("manual", Scheme::Http, "127.3.4.5", direct()),
            ("manual", Scheme::Http, "::1", direct()),
            ("manual", Scheme::Http, "a.near.test", direct()),
            ("manual", Scheme::Http, "o'dd.test", direct()),
            ("auto", Scheme::Http, "far.test", pac),
            ("auto", Scheme::Http, "localhost", direct()),
        ] {
            assert_eq!(settings(mode).choose(&scheme, host), wanted, "{mode} {scheme:?} {host}");
        }
    }

    #[test]
    fn settings_may_be_empty() {
        for (output, wanted) in [
            ("", DesktopChoice::Nothing),
            ("org.gnome.system.proxy mode 'manual'", DesktopChoice::Entry(ProxyEntry::Direct)),
            ("org.gnome.system.proxy mode 'auto'", DesktopChoice::Nothing),
            (
                "org.gnome.system.proxy mode 'manual'\norg.gnome.system.proxy ignore-hosts @as []",
                DesktopChoice::Entry(ProxyEntry::Direct),
            ),
            ("No such schema “org.gnome.system.proxy”", DesktopChoice::Nothing),
        ] {
            assert_eq!(DesktopSettings::parse(output).choose(&Scheme::Http, "h"), wanted, "{output}");
        }
    }
}
