//! Authentication (RFC 9110 §11): which side a reply challenges, and whether another request follows.
//! `transfer::auth` implements the schemes.

use crate::settings::Method;

/// A side of the conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The origin server.
    Server,
    /// A proxy that requests are handed to.
    Proxy,
}

/// Decides which side a reply's challenges are taken from. Only a proxy that the request was handed to is
/// believed.
pub fn challenged_side(status: u16, has_proxy: bool) -> Option<Side> {
    match status {
        401 => Some(Side::Server),
        407 if has_proxy => Some(Side::Proxy),
        _ => None,
    }
}

/// Returns whether a request omits its body: a request that is only sent to get a challenge would send it for
/// nothing.
pub fn withholds_body(asks: bool, method: Method) -> bool {
    asks && !matches!(method, Method::Get | Method::Head)
}

/// A reply, seen by a client that has something to prove.
#[derive(Clone, Copy, Debug)]
pub struct ChallengedReply {
    /// Status of the reply.
    pub status: u16,
    /// Whether the request omitted its body.
    pub withheld: bool,
    /// There are credentials for the server.
    pub server: bool,
    /// There are credentials for the proxy that the request was handed to.
    pub proxy: bool,
    /// Schemes offered by the challenges of this reply that are still usable.
    pub usable: u64,
}

/// The choice that each side has to make: `Some` are the schemes to choose from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Choices {
    /// The server's side.
    pub server: Option<u64>,
    /// The proxy's side.
    pub proxy: Option<u64>,
}

impl ChallengedReply {
    /// Returns whether the server has accepted a request without a body before it wanted to know who is
    /// asking.
    fn is_unasked(&self) -> bool {
        self.withheld && self.status < 300
    }
}

/// Decides which sides choose a scheme for another request.
pub fn choices(f: &ChallengedReply) -> Choices {
    let choice = |own: u16, has_login: bool| {
        let challenged = f.status == own;
        (has_login && (challenged || f.is_unasked())).then_some(if challenged { f.usable } else { 0 })
    };
    Choices { server: choice(401, f.server), proxy: choice(407, f.proxy) }
}

/// Returns whether the request is sent again, after the sides have chosen. `found` says for each side with a
/// choice whether it has found a scheme; `through`, whether the server's side was already done.
pub fn is_repeated(f: &ChallengedReply, found: [Option<bool>; 2], through: bool) -> bool {
    found.contains(&Some(true)) || f.is_unasked() && f.server && !through
}

/// Returns whether a connection that closes ends the conversation: NTLM's last message must follow its second
/// one on the same connection.
pub fn is_cut_off(expects_answer: bool, keep_alive: bool) -> bool {
    expects_answer && !keep_alive
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sides() {
        let rows = [
            ("RFC 9110 §15.5.2: 401 is the server's", 401, false, Some(Side::Server)),
            ("RFC 9110 §11.6.1: also behind a proxy", 401, true, Some(Side::Server)),
            ("RFC 9110 §15.5.8: 407 is the proxy's", 407, true, Some(Side::Proxy)),
            ("RFC 9110 §11.7.1: a server that is no proxy gets no proxy's login", 407, false, None),
            ("RFC 9110 §15.5.4: 403 asks for nothing", 403, true, None),
            ("RFC 9110 §11.6.1: WWW-Authenticate with another status changes nothing", 200, true, None),
        ];
        for (name, status, has_proxy, wanted) in rows {
            assert_eq!(challenged_side(status, has_proxy), wanted, "{name}");
        }
    }

    #[test]
    fn withheld_bodies() {
        use Method::{Get, Head, Post, PostMime, Put};
        let rows = [
            ("CURLOPT_HTTPAUTH(3): a POST that asks for a challenge", true, Post, true),
            ("CURLOPT_HTTPAUTH(3): a form", true, PostMime, true),
            ("CURLOPT_HTTPAUTH(3): a PUT", true, Put, true),
            ("RFC 9110 §9.3.1: a GET has none", true, Get, false),
            ("RFC 9110 §9.3.2: a HEAD has none", true, Head, false),
            ("RFC 7617 §2: Basic proves at once", false, Post, false),
        ];
        for (name, asks, method, wanted) in rows {
            assert_eq!(withholds_body(asks, method), wanted, "{name}");
        }
    }

    const BITS: u64 = 0b10;
    /// A request with credentials for the server, challenged.
    const CHALLENGED: ChallengedReply =
        ChallengedReply { status: 401, withheld: false, server: true, proxy: false, usable: BITS };

    #[test]
    fn challenged_sides() {
        let [server, proxy] = [(Some(BITS), None), (None, Some(BITS))];
        let both_of_none = (Some(0), Some(0));
        let nobody = (None, None);
        let withheld = ChallengedReply { withheld: true, status: 200, ..CHALLENGED };
        let rows = [
            ("RFC 9110 §11.3: the server's challenge", CHALLENGED, server),
            (
                "RFC 9110 §11.3: without credentials there is no choice",
                ChallengedReply { server: false, ..CHALLENGED },
                nobody,
            ),
            (
                "RFC 9110 §11.7.1: the proxy's challenge",
                ChallengedReply { status: 407, proxy: true, ..CHALLENGED },
                proxy,
            ),
            (
                "RFC 9110 §11.7.1: 407 without a login for the proxy",
                ChallengedReply { status: 407, ..CHALLENGED },
                nobody,
            ),
            (
                "RFC 9110 §11.6.1: the server's challenge is nothing to the proxy",
                ChallengedReply { proxy: true, ..CHALLENGED },
                server,
            ),
            ("RFC 9110 §11.4: a success ends it", ChallengedReply { status: 200, ..CHALLENGED }, nobody),
            (
                "CURLOPT_HTTPAUTH(3): a success without the body settles on no scheme",
                withheld,
                (Some(0), None),
            ),
            (
                "CURLOPT_PROXYAUTH(3): for both sides",
                ChallengedReply { proxy: true, ..withheld },
                both_of_none,
            ),
            (
                "RFC 9110 §15.4: a redirect of such a request is followed",
                ChallengedReply { status: 302, ..withheld },
                nobody,
            ),
            ("RFC 9110 §15.5: so is an error final", ChallengedReply { status: 404, ..withheld }, nobody),
            (
                "RFC 9110 §11.3: a challenge to a request without its body",
                ChallengedReply { withheld: true, ..CHALLENGED },
                server,
            ),
        ];
        for (name, facts, wanted) in rows {
            let Choices { server, proxy } = choices(&facts);
            assert_eq!((server, proxy), wanted, "{name}");
        }
    }

    #[test]
    fn repeats() {
        let withheld = ChallengedReply { withheld: true, status: 200, ..CHALLENGED };
        let rows = [
            ("RFC 9110 §11.4: the server's side has a scheme", CHALLENGED, [Some(true), None], false, true),
            ("RFC 9110 §11.4: it has none left", CHALLENGED, [Some(false), None], false, false),
            ("RFC 9110 §11.7.2: the proxy's side has a scheme", CHALLENGED, [None, Some(true)], false, true),
            ("RFC 9110 §11.7.2: one of two is enough", CHALLENGED, [Some(false), Some(true)], true, true),
            ("RFC 9110 §11.4: nobody had a choice", CHALLENGED, [None, None], false, false),
            (
                "CURLOPT_HTTPAUTH(3): the body that nobody asked a login for is still to be sent",
                withheld,
                [Some(false), None],
                false,
                true,
            ),
            ("CURLOPT_HTTPAUTH(3): all was said before", withheld, [Some(false), None], true, false),
            (
                "CURLOPT_HTTPAUTH(3): there was nothing to say to the server",
                ChallengedReply { server: false, ..withheld },
                [None, Some(false)],
                false,
                false,
            ),
            (
                "RFC 9110 §15.5: an error is final",
                ChallengedReply { status: 500, ..withheld },
                [None, None],
                false,
                false,
            ),
        ];
        for (name, facts, found, through, wanted) in rows {
            assert_eq!(is_repeated(&facts, found, through), wanted, "{name}");
        }
    }

    #[test]
    fn hindrances() {
        let rows = [
            (
                "[MS-NTHT] 3.1.5.1: the connection goes between challenge and answer",
                is_cut_off(true, false),
                true,
            ),
            ("[MS-NTHT] 3.1.5.1: it stays", is_cut_off(true, true), false),
            ("RFC 7616 §3.3: Digest needs no connection", is_cut_off(false, false), false),
        ];
        for (name, found, wanted) in rows {
            assert_eq!(found, wanted, "{name}");
        }
    }
}
