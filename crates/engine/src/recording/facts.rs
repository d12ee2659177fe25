//! The text `exchange.txt` of a recorded exchange: one fact a line, `Name: value`.

use std::net::SocketAddr;

/// The version of the format.
const FORMAT: &str = "1";
/// The last line of a complete text.
const LAST: &str = "Record-Complete: yes";

/// The facts about an exchange.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Facts {
    /// `http` or `ftp`.
    pub protocol: String,
    /// The method; for FTP the verb that moves the data: RETR, LIST or STOR, or SIZE without data.
    pub method: String,
    /// The URL, without login and fragment.
    pub url: String,
    /// HTTP version of the request: 10, 11, 20 or 30; 0 for FTP.
    pub version: u8,
    /// The address of the peer.
    pub remote: Option<SocketAddr>,
    /// Our address.
    pub local: Option<SocketAddr>,
    /// The version of TLS.
    pub tls: Option<String>,
    /// Seconds since 1970.
    pub started: i64,
    /// Microseconds from the start to the first byte of the reply, if there was one.
    pub first_byte_us: Option<u64>,
    /// Microseconds from the start to the end.
    pub total_us: u64,
    /// Size of the request's body; for FTP, of what was sent over data connections.
    pub request_body: u64,
    /// Size of the reply's body; for FTP, of what was received over data connections.
    pub response_body: u64,
    /// SHA-256 of the request's body in hexadecimal, if there is one.
    pub request_digest: Option<String>,
    /// Whether the request's body stopped before its end, because the reply came first.
    pub request_stopped: bool,
    /// How it ended.
    pub end: End,
}

/// The end of an exchange.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum End {
    /// The reply was read to its end.
    Complete,
    /// The server closed the connection before the end.
    Closed,
    /// It failed, with this number of curl's code and this message.
    Failed(i32, String),
    /// The program stopped reading.
    #[default]
    Stopped,
}

impl Facts {
    /// Returns the text.
    pub fn text(&self) -> String {
        let mut lines = vec![("Warmwire-Record", FORMAT.to_owned())];
        let optional = |name, value: Option<String>| value.map(|value| (name, value));
        lines.push(("Protocol", self.protocol.clone()));
        lines.push(("Method", self.method.clone()));
        lines.push(("URL", self.url.clone()));
        lines.extend(optional("HTTP-Version", version_name(self.version).map(str::to_owned)));
        lines.extend(optional("Remote", self.remote.map(|address| address.to_string())));
        lines.extend(optional("Local", self.local.map(|address| address.to_string())));
        lines.extend(optional("TLS", self.tls.clone()));
        lines.push(("Started", wire::date::http(self.started)));
        lines.extend(optional("First-Byte-us", self.first_byte_us.map(|us| us.to_string())));
        lines.push(("Total-us", self.total_us.to_string()));
        lines.push(("Request-Body", self.request_body.to_string()));
        lines.extend(optional("Request-SHA256", self.request_digest.clone()));
        lines.extend(optional("Request-Stopped", self.request_stopped.then(|| "yes".to_owned())));
        lines.push(("Response-Body", self.response_body.to_string()));
        lines.push(("End", self.end.text()));
        let lines = lines.into_iter().map(|(name, value)| format!("{name}: {}\n", one_line(&value)));
        lines.chain([format!("{LAST}\n")]).collect()
    }

    /// Reads the text; the error says what is wrong.
    pub fn parse(text: &str) -> Result<Facts, String> {
        let mut facts = Facts::default();
        let mut lines = text.lines();
        match lines.next().and_then(|line| line.strip_prefix("Warmwire-Record: ")) {
            Some(FORMAT) => {}
            Some(other) => return Err(format!("its format is {other}, this version reads {FORMAT}")),
            None => return Err("it does not begin with Warmwire-Record".to_owned()),
        }
        if text.lines().last() != Some(LAST) {
            return Err("it is cut off".to_owned());
        }
        for line in lines {
            let (name, value) = line.split_once(": ").ok_or_else(|| format!("no value in {line:?}"))?;
            let bad = || format!("bad value in {line:?}");
            match name {
                "Protocol" => value.clone_into(&mut facts.protocol),
                "Method" => value.clone_into(&mut facts.method),
                "URL" => value.clone_into(&mut facts.url),
                "HTTP-Version" => facts.version = version_of(value).ok_or_else(bad)?,
                "Remote" => facts.remote = Some(value.parse().map_err(|_| bad())?),
                "Local" => facts.local = Some(value.parse().map_err(|_| bad())?),
                "TLS" => facts.tls = Some(value.to_owned()),
                "Started" => facts.started = wire::date::parse(value.as_bytes()).ok_or_else(bad)?,
                "First-Byte-us" => facts.first_byte_us = Some(value.parse().map_err(|_| bad())?),
                "Total-us" => facts.total_us = value.parse().map_err(|_| bad())?,
                "Request-Body" => facts.request_body = value.parse().map_err(|_| bad())?,
                "Request-SHA256" => facts.request_digest = Some(value.to_ascii_lowercase()),
                "Request-Stopped" => facts.request_stopped = value == "yes",
                "Response-Body" => facts.response_body = value.parse().map_err(|_| bad())?,
                "End" => facts.end = End::parse(value).ok_or_else(bad)?,
                // Later versions may add facts.
                _ => {}
            }
        }
        if facts.protocol.is_empty() || facts.method.is_empty() || facts.url.is_empty() {
            return Err("protocol, method or URL is missing".to_owned());
        }
        Ok(facts)
    }
}

impl End {
    fn text(&self) -> String {
        match self {
            End::Complete => "complete".to_owned(),
            End::Closed => "closed".to_owned(),
            End::Failed(code, text) => format!("failed {code} {text}"),
            End::Stopped => "stopped".to_owned(),
        }
    }

    fn parse(text: &str) -> Option<End> {
        Some(match text {
            "complete" => End::Complete,
            "closed" => End::Closed,
            "stopped" => End::Stopped,
            _ => {
                let (code, text) = text.strip_prefix("failed ")?.split_once(' ')?;
                End::Failed(code.parse().ok()?, text.to_owned())
            }
        })
    }
}

fn version_name(version: u8) -> Option<&'static str> {
    [(10, "1.0"), (11, "1.1"), (20, "2"), (30, "3")].into_iter().find(|row| row.0 == version).map(|row| row.1)
}

fn version_of(name: &str) -> Option<u8> {
    [10, 11, 20, 30].into_iter().find(|version| version_name(*version) == Some(name))
}

/// A value without line breaks: they would begin another fact.
fn one_line(value: &str) -> String {
    value.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn some() -> Facts {
        Facts {
            protocol: "http".into(),
            method: "GET".into(),
            url: "http://h/a".into(),
            version: 20,
            remote: Some("127.0.0.1:80".parse().unwrap()),
            local: Some("[::1]:4".parse().unwrap()),
            tls: Some("TLSv1.3".into()),
            started: 1_795_782_543,
            first_byte_us: Some(5),
            total_us: 9,
            request_body: 1,
            response_body: 2,
            request_digest: Some("a1".into()),
            request_stopped: true,
            end: End::Failed(92, "HTTP/2 stream 1 was reset".into()),
        }
    }

    #[test]
    fn texts_are_read_as_they_were_written() {
        for end in [End::Complete, End::Closed, End::Stopped, some().end] {
            let facts = Facts { end, ..some() };
            assert_eq!(Facts::parse(&facts.text()), Ok(facts));
        }
        let least = Facts {
            protocol: "ftp".into(),
            method: "RETR".into(),
            url: "ftp://h/".into(),
            ..Facts::default()
        };
        assert_eq!(Facts::parse(&least.text()), Ok(least));
        let broken = Facts { end: End::Failed(7, "a\nEnd: complete".into()), ..some() };
        assert_eq!(Facts::parse(&broken.text()).unwrap().end, End::Failed(7, "a End: complete".into()));
    }

    #[test]
    fn damaged_texts_are_refused() {
        let text = some().text();
        for (damaged, wanted) in [
            ("".to_owned(), "does not begin"),
            (text.replace("Record: 1", "Record: 2"), "its format is 2"),
            (text.replace("Record-Complete: yes\n", ""), "cut off"),
            (text.replace("GET", ""), "missing"),
            (text.replace("HTTP-Version: 2", "HTTP-Version: 4"), "bad value"),
            (text.replace("Response-Body: 2", "Response-Body: -2"), "bad value"),
            (text.replace("End: failed 92", "End: odd"), "bad value"),
        ] {
            let error = Facts::parse(&damaged).expect_err(wanted);
            assert!(error.contains(wanted), "{error} has no {wanted}");
        }
    }
}
