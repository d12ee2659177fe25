//! Version of HTTP: the version of a request, and when HTTP/2 is requested or avoided.

/// A version of HTTP, as requests have it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Version {
    /// RFC 1945.
    Http10,
    /// RFC 9112.
    Http11,
    /// RFC 9113.
    Http2,
    /// RFC 9114.
    Http3,
}

impl Version {
    /// Returns its name in a request line.
    pub fn name(self) -> &'static str {
        match self {
            Version::Http10 => "HTTP/1.0",
            Version::Http11 => "HTTP/1.1",
            Version::Http2 => "HTTP/2",
            Version::Http3 => "HTTP/3",
        }
    }

    /// Returns whether requests are streams that frame their bodies themselves.
    pub fn has_streams(self) -> bool {
        matches!(self, Version::Http2 | Version::Http3)
    }
}

/// The connection of a request, and the wishes about its version.
#[derive(Clone, Copy, Debug, Default)]
pub struct Link {
    /// The URL's scheme is ws or wss.
    pub websocket: bool,
    /// The request is a stream of a session.
    pub stream: bool,
    /// That session is QUIC's.
    pub quic: bool,
    /// CURLOPT_HTTP_VERSION is CURL_HTTP_VERSION_1_0.
    pub wants_http10: bool,
    /// A server of this transfer has replied in HTTP/1.0.
    pub heard_http10: bool,
    /// The last reply on this connection was one of HTTP/1.0.
    pub answers_http10: bool,
}

/// Decides the version of the request.
pub fn of_request(link: &Link) -> Version {
    match (link.websocket, link.stream) {
        (true, true) => Version::Http2,
        (true, false) => Version::Http11,
        (false, true) if link.quic => Version::Http3,
        (false, true) => Version::Http2,
        (false, false) if asks_for_http10(link) || link.answers_http10 => Version::Http10,
        (false, false) => Version::Http11,
    }
}

/// Returns whether the request uses HTTP/1.0: the application requests it, or the server supports nothing
/// else. A WebSocket cannot use it.
pub fn asks_for_http10(link: &Link) -> bool {
    !link.websocket && (link.heard_http10 || link.wants_http10)
}

/// Returns whether the request asks the server for HTTP/2 in an Upgrade field (RFC 7540 §3.2).
pub fn asks_for_upgrade(link: &Link, wanted: bool) -> bool {
    wanted && !link.stream && of_request(link) == Version::Http11
}

/// Returns whether HTTP/2 is omitted from the next connection's offer: a server has refused it, or the login
/// authenticates the whole connection, which would then serve other streams, too.
pub fn avoids_http2(offered: bool, refused: bool, bound: bool) -> bool {
    offered && (refused || bound)
}

#[cfg(test)]
mod tests {
    use super::*;
    use Version::{Http2, Http3, Http10, Http11};

    const PLAIN: Link = Link {
        websocket: false,
        stream: false,
        quic: false,
        wants_http10: false,
        heard_http10: false,
        answers_http10: false,
    };
    const STREAM: Link = Link { stream: true, ..PLAIN };
    const WEBSOCKET: Link = Link { websocket: true, ..PLAIN };

    #[test]
    fn versions() {
        let rows = [
            ("RFC 9112 §2.3: the highest version that both know", PLAIN, Http11),
            ("CURLOPT_HTTP_VERSION(3): 1.0 is asked for", Link { wants_http10: true, ..PLAIN }, Http10),
            (
                "RFC 9112 §2.3: the server has shown an older one",
                Link { heard_http10: true, ..PLAIN },
                Http10,
            ),
            (
                "RFC 9112 §2.3: this connection's last reply was an older one",
                Link { answers_http10: true, ..PLAIN },
                Http10,
            ),
            ("RFC 9113 §3.2: ALPN h2", STREAM, Http2),
            (
                "RFC 9113 §3.2: a session stays one, whatever is wished",
                Link { wants_http10: true, ..STREAM },
                Http2,
            ),
            ("RFC 9114 §3.1: ALPN h3", Link { quic: true, ..STREAM }, Http3),
            ("RFC 6455 §4.1: the handshake is HTTP/1.1 or higher", WEBSOCKET, Http11),
            ("RFC 6455 §4.1: not even if 1.0 is asked for", Link { wants_http10: true, ..WEBSOCKET }, Http11),
            (
                "RFC 6455 §4.1: nor behind a reply of 1.0",
                Link { answers_http10: true, heard_http10: true, ..WEBSOCKET },
                Http11,
            ),
            ("RFC 8441 §4: CONNECT on a stream", Link { stream: true, ..WEBSOCKET }, Http2),
        ];
        for (name, link, wanted) in rows {
            assert_eq!(of_request(&link), wanted, "{name}");
        }
    }

    /// A 101 reply to a request of HTTP/1.0 is an error, but a WebSocket always uses HTTP/1.1.
    #[test]
    fn wishes() {
        let rows = [
            ("RFC 9112 §2.3: no wish", PLAIN, false),
            ("CURLOPT_HTTP_VERSION(3): the application's", Link { wants_http10: true, ..PLAIN }, true),
            ("RFC 9112 §2.3: a server's", Link { heard_http10: true, ..PLAIN }, true),
            ("RFC 6455 §4.1: not for a WebSocket", Link { wants_http10: true, ..WEBSOCKET }, false),
            ("RFC 6455 §4.1: whatever a server said", Link { heard_http10: true, ..WEBSOCKET }, false),
        ];
        for (name, link, wanted) in rows {
            assert_eq!(asks_for_http10(&link), wanted, "{name}");
        }
    }

    #[test]
    fn upgrades() {
        let rows = [
            ("RFC 7540 §3.2: in a request of 1.1", PLAIN, true, true),
            ("CURLOPT_HTTP_VERSION(3): only where CURL_HTTP_VERSION_2_0 says so", PLAIN, false, false),
            ("RFC 7540 §3.2: a session has it already", STREAM, true, false),
            ("RFC 7540 §3.2: 1.0 knows no upgrade", Link { wants_http10: true, ..PLAIN }, true, false),
            (
                "RFC 9110 §7.8: a server of 1.0 ignores it",
                Link { answers_http10: true, ..PLAIN },
                true,
                false,
            ),
        ];
        for (name, link, wish, wanted) in rows {
            assert_eq!(asks_for_upgrade(&link, wish), wanted, "{name}");
        }
    }

    #[test]
    fn avoidance() {
        let rows = [
            ("RFC 9113 §3.3: offered as a rule", (true, false, false), false),
            ("RFC 9113 §8.1.1: after HTTP_1_1_REQUIRED", (true, true, false), true),
            ("CURLOPT_HTTPAUTH(3): NTLM and Negotiate need HTTP/1.1", (true, false, true), true),
            ("CURLOPT_HTTP_VERSION(3): nothing to leave out", (false, true, true), false),
        ];
        for (name, (offered, refused, bound), wanted) in rows {
            assert_eq!(avoids_http2(offered, refused, bound), wanted, "{name}");
        }
    }

    #[test]
    fn names() {
        let all = [Http10, Http11, Http2, Http3];
        assert_eq!(all.map(Version::name), ["HTTP/1.0", "HTTP/1.1", "HTTP/2", "HTTP/3"]);
        assert_eq!(all.map(Version::has_streams), [false, false, true, true]);
    }
}
