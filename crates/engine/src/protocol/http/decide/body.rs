//! Body of a request: its framing, whether it waits for a go-ahead (RFC 9110 §10.1.1), and the effect of an
//! early reply.

use net::exchange::RequestBody;

use super::version::Version;

/// A body longer than this asks for a go-ahead first (curl's EXPECT_100_THRESHOLD).
pub const EXPECT_THRESHOLD: u64 = 1024 * 1024;

/// Status 417 (RFC 9110 §15.5.18).
pub const EXPECTATION_FAILED: u16 = 417;

/// The body of a request whose framing is to be chosen.
#[derive(Clone, Copy, Debug)]
pub struct Framing<'a> {
    /// The version of the request.
    pub version: Version,
    /// There is no body.
    pub is_nothing: bool,
    /// Its length, where that is known.
    pub size: Option<u64>,
    /// The value of the application's own Transfer-Encoding field.
    pub own_coding: Option<&'a [u8]>,
    /// The application names Transfer-Encoding, if only to remove it.
    pub names_coding: bool,
}

/// A body of unknown length that HTTP/1.0 has no framing for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoFraming;

/// Decides how the body is framed. A body of unknown length is sent in chunks if nothing else can mark its
/// end, or if the application requests chunks.
pub fn framing(f: &Framing<'_>) -> Result<RequestBody, NoFraming> {
    let plain = if f.is_nothing { RequestBody::None } else { RequestBody::Plain };
    if f.version.has_streams() {
        return Ok(plain);
    }
    // The application's header also applies to an empty body: the last chunk is sent.
    if let Some(value) = f.own_coding {
        let chunked = value.to_ascii_lowercase().windows(7).any(|w| w == b"chunked");
        return Ok(if chunked { RequestBody::Chunked } else { plain });
    }
    if f.is_nothing || f.size.is_some() || f.names_coding {
        return Ok(plain);
    }
    if f.version == Version::Http10 { Err(NoFraming) } else { Ok(RequestBody::Chunked) }
}

/// A request that may ask for a go-ahead.
#[derive(Clone, Copy, Debug)]
pub struct Expectation<'a> {
    /// The version of the request.
    pub version: Version,
    /// Whether the body is omitted, because the request is only sent to get a challenge.
    pub withheld: bool,
    /// There is no body.
    pub is_nothing: bool,
    /// Its length as the application gave it.
    pub size: Option<u64>,
    /// The value of the application's own Expect field.
    pub own: Option<&'a [u8]>,
    /// The application names Expect, if only to remove it.
    pub named: bool,
    /// A server has answered 417 in this transfer.
    pub refused: bool,
}

/// The Expect field of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expect {
    /// None is added, and the body does not wait.
    Absent,
    /// The application's own field asks for a go-ahead.
    Own,
    /// A field is added.
    Added,
}

/// Decides whether the request asks for a go-ahead before its body is sent.
pub fn expectation(f: &Expectation<'_>) -> Expect {
    if f.withheld || f.is_nothing {
        return Expect::Absent;
    }
    if let Some(value) = f.own {
        let asks = value.eq_ignore_ascii_case(b"100-continue");
        return if asks { Expect::Own } else { Expect::Absent };
    }
    let long = f.size.is_none_or(|size| size > EXPECT_THRESHOLD);
    let adds = long && f.version == Version::Http11 && !f.refused && !f.named;
    if adds { Expect::Added } else { Expect::Absent }
}

/// The first step of sending.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum First {
    /// The head is all.
    Head,
    /// The head, then a pause until the server or the clock says go.
    Wait,
    /// The head and the body together.
    Body,
}

/// Decides how sending begins.
pub fn first_step(body: RequestBody, expects: bool) -> First {
    match (body, expects) {
        (RequestBody::None, _) => First::Head,
        (_, true) => First::Wait,
        (_, false) => First::Body,
    }
}

/// A final reply that comes while the body is still to be sent.
#[derive(Clone, Copy, Debug)]
pub struct Overtaken {
    /// Its status.
    pub status: u16,
    /// Whether the whole request was sent, or sending was given up.
    pub ended: bool,
    /// The body waits for a go-ahead.
    pub waiting: bool,
    /// CURLOPT_KEEP_SENDING_ON_ERROR.
    pub keep_sending: bool,
}

/// The effect of an early final reply on the body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// None: sending continues unchanged.
    None,
    /// The body is not sent: the request is made again without an expectation.
    Withdraw,
    /// The body is sent although the server refuses it.
    KeepSending,
    /// The body is not sent any further.
    Stop,
}

/// Decides about the body when a final reply comes early. A success says nothing about the body: the server
/// reads it later.
pub fn overtaken(f: &Overtaken) -> Effect {
    if f.status < 300 || f.ended {
        return Effect::None;
    }
    match f.keep_sending {
        _ if f.status == EXPECTATION_FAILED && f.waiting => Effect::Withdraw,
        true => Effect::KeepSending,
        false => Effect::Stop,
    }
}

/// Returns whether a request is made again without its expectation.
pub fn drops_expectation(status: u16, expected: bool, sent: bool, refused_before: bool) -> bool {
    status == EXPECTATION_FAILED && expected && !sent && !refused_before
}

#[cfg(test)]
mod tests {
    use super::*;

    const FRAMED: Framing<'static> = Framing {
        version: Version::Http11,
        is_nothing: false,
        size: None,
        own_coding: None,
        names_coding: false,
    };

    #[test]
    fn framings() {
        let (none, plain, chunked) =
            (Ok(RequestBody::None), Ok(RequestBody::Plain), Ok(RequestBody::Chunked));
        let v = |version, f| Framing { version, ..f };
        let sized = Framing { size: Some(5), ..FRAMED };
        let empty = Framing { is_nothing: true, size: Some(0), ..FRAMED };
        let own = Framing { own_coding: Some(b"Chunked"), names_coding: true, ..sized };
        let removed = Framing { names_coding: true, ..FRAMED };
        let rows = [
            ("RFC 9112 §6.1: a length that is not known", FRAMED, chunked),
            ("RFC 9112 §6.2: a length that is known", sized, plain),
            ("RFC 9112 §6.3: no body", empty, none),
            ("CURLOPT_POST(3): the application asks for chunks", own, chunked),
            (
                "CURLOPT_POST(3): it asks for them without a body",
                Framing { is_nothing: true, ..own },
                chunked,
            ),
            (
                "RFC 9112 §7: chunked behind another coding",
                Framing { own_coding: Some(b"gzip, chunked"), ..own },
                chunked,
            ),
            ("RFC 9112 §7: another coding alone", Framing { own_coding: Some(b"gzip"), ..own }, plain),
            ("CURLOPT_HTTPHEADER(3): Transfer-Encoding is removed", removed, plain),
            ("RFC 9112 §6.1: not in HTTP/1.0", v(Version::Http10, FRAMED), Err(NoFraming)),
            ("RFC 9112 §6.1: HTTP/1.0 with a length", v(Version::Http10, sized), plain),
            ("RFC 1945 §7.2: HTTP/1.0 without a body", v(Version::Http10, empty), none),
            ("CURLOPT_HTTPHEADER(3): removed in HTTP/1.0", v(Version::Http10, removed), plain),
            ("RFC 9113 §8.1: HTTP/2 frames bodies itself", v(Version::Http2, FRAMED), plain),
            ("RFC 9113 §8.2.2: HTTP/2 knows no Transfer-Encoding", v(Version::Http2, own), plain),
            ("RFC 9114 §4.1: HTTP/3 frames bodies itself", v(Version::Http3, FRAMED), plain),
            ("RFC 9113 §8.1: HTTP/2 without a body", v(Version::Http2, empty), none),
        ];
        for (name, facts, wanted) in rows {
            assert_eq!(framing(&facts), wanted, "{name}");
        }
    }

    /// A body of unknown length.
    const EXPECTING: Expectation<'static> = Expectation {
        version: Version::Http11,
        withheld: false,
        is_nothing: false,
        size: None,
        own: None,
        named: false,
        refused: false,
    };

    #[test]
    fn expectations() {
        use Expect::{Absent, Added, Own};
        let sized = |size| Expectation { size: Some(size), ..EXPECTING };
        let v = |version| Expectation { version, ..EXPECTING };
        let own = |value| Expectation { own: Some(value), named: true, ..sized(3) };
        let rows = [
            ("RFC 9110 §10.1.1: a body of unknown length", EXPECTING, Added),
            ("CURLOPT_EXPECT_100_TIMEOUT_MS(3): 1 MiB and a byte", sized(EXPECT_THRESHOLD + 1), Added),
            ("CURLOPT_EXPECT_100_TIMEOUT_MS(3): 1 MiB", sized(EXPECT_THRESHOLD), Absent),
            ("RFC 9110 §10.1.1: a short one", sized(3), Absent),
            (
                "RFC 9110 §10.1.1: never without content",
                Expectation { is_nothing: true, ..EXPECTING },
                Absent,
            ),
            ("RFC 9110 §10.1.1: HTTP/1.0 does not know it", v(Version::Http10), Absent),
            ("RFC 9113 §8.1: HTTP/2 stops a body by RST_STREAM", v(Version::Http2), Absent),
            ("RFC 9114 §4.1: HTTP/3 stops it by STOP_SENDING", v(Version::Http3), Absent),
            ("RFC 9110 §15.5.18: not again after a 417", Expectation { refused: true, ..EXPECTING }, Absent),
            (
                "CURLOPT_HTTPHEADER(3): \"Expect:\" removes it",
                Expectation { named: true, ..EXPECTING },
                Absent,
            ),
            ("CURLOPT_HTTPHEADER(3): the application's own, for a short body", own(b"100-Continue"), Own),
            ("RFC 9110 §10.1.1: an unknown expectation is none that is waited for", own(b"other"), Absent),
            (
                "CURLOPT_HTTPHEADER(3): the application's own, without a body",
                Expectation { is_nothing: true, ..own(b"100-continue") },
                Absent,
            ),
            (
                "CURLOPT_HTTPAUTH(3): the body is left out to get a challenge",
                Expectation { withheld: true, ..EXPECTING },
                Absent,
            ),
            (
                "CURLOPT_HTTPAUTH(3): left out although the application has its own field",
                Expectation { withheld: true, ..own(b"100-continue") },
                Absent,
            ),
            (
                "CURLOPT_HTTPHEADER(3): the application's own holds after a 417",
                Expectation { refused: true, ..own(b"100-continue") },
                Own,
            ),
        ];
        for (name, facts, wanted) in rows {
            assert_eq!(expectation(&facts), wanted, "{name}");
        }
    }

    #[test]
    fn first_steps() {
        use RequestBody::{Chunked, None, Plain};
        let rows = [
            ("RFC 9112 §6.3: no body", None, false, First::Head),
            ("RFC 9110 §10.1.1: a client must not expect without content", None, true, First::Head),
            ("RFC 9112 §6.2: head and body travel together", Plain, false, First::Body),
            ("RFC 9112 §7.1: chunks, too", Chunked, false, First::Body),
            ("CURLOPT_EXPECT_100_TIMEOUT_MS(3): the body waits", Plain, true, First::Wait),
            ("CURLOPT_EXPECT_100_TIMEOUT_MS(3): so do chunks", Chunked, true, First::Wait),
        ];
        for (name, body, expects, wanted) in rows {
            assert_eq!(first_step(body, expects), wanted, "{name}");
        }
    }

    #[test]
    fn early_replies() {
        use Effect::{KeepSending, None, Stop, Withdraw};
        let sending = Overtaken { status: 413, ended: false, waiting: false, keep_sending: false };
        let keeping = Overtaken { keep_sending: true, ..sending };
        let waiting = Overtaken { waiting: true, ..sending };
        let rows = [
            ("RFC 9112 §9.5: an error says that the rest is not wanted", sending, Stop),
            ("CURLOPT_KEEP_SENDING_ON_ERROR(3): it is sent all the same", keeping, KeepSending),
            (
                "RFC 9110 §15.4: a redirect leads the body elsewhere",
                Overtaken { status: 307, ..sending },
                Stop,
            ),
            ("RFC 9110 §15.4: the lowest redirect", Overtaken { status: 300, ..sending }, Stop),
            ("RFC 9110 §15.3: a success may be early", Overtaken { status: 200, ..sending }, None),
            ("RFC 9110 §15.3: the highest success", Overtaken { status: 299, ..sending }, None),
            ("RFC 9112 §9.5: all has been sent", Overtaken { ended: true, ..sending }, None),
            ("RFC 9110 §10.1.1: a final reply instead of 100", waiting, Stop),
            (
                "CURLOPT_KEEP_SENDING_ON_ERROR(3): it ends the wait",
                Overtaken { waiting: true, ..keeping },
                KeepSending,
            ),
            ("RFC 9110 §15.5.18: 417 while waiting", Overtaken { status: 417, ..waiting }, Withdraw),
            (
                "RFC 9110 §15.5.18: 417 while waiting, whatever is kept sending",
                Overtaken { status: 417, keep_sending: true, ..waiting },
                Withdraw,
            ),
            (
                "RFC 9110 §15.5.18: 417 when the body is on its way",
                Overtaken { status: 417, ..sending },
                Stop,
            ),
        ];
        for (name, facts, wanted) in rows {
            assert_eq!(overtaken(&facts), wanted, "{name}");
        }
    }

    #[test]
    fn dropped_expectations() {
        // Status, expected, sent, refused before.
        let rows = [
            ("RFC 9110 §15.5.18: the request is repeated without", (417, true, false, false), true),
            ("RFC 9110 §15.5.18: once in a transfer", (417, true, false, true), false),
            ("RFC 9110 §15.5.18: the body has gone out", (417, true, true, false), false),
            ("RFC 9110 §15.5.18: nothing was expected", (417, false, false, false), false),
            ("RFC 9110 §10.1.1: another refusal is final", (413, true, false, false), false),
        ];
        for (name, (status, expected, sent, before), wanted) in rows {
            assert_eq!(drops_expectation(status, expected, sent, before), wanted, "{name}");
        }
    }
}
