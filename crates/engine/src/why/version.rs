//! Why a connection speaks its version of HTTP and no higher one: a pure function of what was offered and
//! agreed.

use super::event::VersionReason;

/// The facts about a new connection.
#[derive(Clone, Copy, Debug, Default)]
pub struct Facts<'a> {
    /// The request is one of HTTP/1.0.
    pub http10: bool,
    /// It is a stream of HTTP/2 or HTTP/3.
    pub stream: bool,
    /// TLS protects the connection.
    pub tls: bool,
    /// CURLOPT_HTTP_VERSION is set to 1.0 or 1.1.
    pub limited: bool,
    /// CURLOPT_SSL_ENABLE_ALPN is on.
    pub alpn: bool,
    /// HTTP/2 was offered.
    pub offered: bool,
    /// HTTP/2 was not offered, because of a login or an earlier refusal.
    pub avoided: bool,
    /// The protocol that the server chose.
    pub agreed: Option<&'a str>,
}

/// Returns the reason.
pub fn reason(facts: &Facts<'_>) -> VersionReason {
    match facts {
        Facts { stream: true, .. } => VersionReason::Highest,
        Facts { limited: true, .. } => VersionReason::Option,
        Facts { http10: true, .. } => VersionReason::AnswersHttp10,
        Facts { avoided: true, .. } => VersionReason::Avoided,
        Facts { tls: false, .. } => VersionReason::NoTls,
        Facts { alpn: false, .. } => VersionReason::AlpnOff,
        Facts { offered: true, agreed: None, .. } => VersionReason::NoAlpn,
        Facts { offered: true, .. } => VersionReason::ServerChose,
        Facts { offered: false, .. } => VersionReason::Highest,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_have_reasons() {
        let over_tls = Facts { tls: true, alpn: true, offered: true, ..Facts::default() };
        let chose = Some("http/1.1");
        let rows = [
            ("ALPN h2", Facts { stream: true, agreed: Some("h2"), ..over_tls }, VersionReason::Highest),
            ("http:", Facts::default(), VersionReason::NoTls),
            ("1.1 is asked for", Facts { limited: true, offered: false, ..over_tls }, VersionReason::Option),
            ("the server knows 1.1", Facts { agreed: chose, ..over_tls }, VersionReason::ServerChose),
            ("the server knows no ALPN", over_tls, VersionReason::NoAlpn),
            ("ALPN is off", Facts { alpn: false, offered: false, ..over_tls }, VersionReason::AlpnOff),
            (
                "NTLM",
                Facts { avoided: true, offered: false, agreed: chose, ..over_tls },
                VersionReason::Avoided,
            ),
            ("HTTP/1.0 before", Facts { http10: true, ..over_tls }, VersionReason::AnswersHttp10),
            ("a WebSocket", Facts { offered: false, agreed: chose, ..over_tls }, VersionReason::Highest),
        ];
        for (name, facts, wanted) in rows {
            assert_eq!(reason(&facts), wanted, "{name}");
        }
    }
}
