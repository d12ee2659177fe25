//! RTSP (RFC 2326), where it differs from HTTP/1: its methods, the status line, three fields, and the packets
//! between messages on the same connection (section 10.12).

use crate::http1::StatusLine;
use crate::http1::status::Opening;

/// A request method; the numbers are those of CURLOPT_RTSP_REQUEST(3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Method {
    Options = 1,
    Describe,
    Announce,
    Setup,
    Play,
    Pause,
    Teardown,
    GetParameter,
    SetParameter,
    Record,
    /// No request: only receive packets.
    Receive,
}

impl Method {
    const ALL: [Method; 11] = [
        Method::Options,
        Method::Describe,
        Method::Announce,
        Method::Setup,
        Method::Play,
        Method::Pause,
        Method::Teardown,
        Method::GetParameter,
        Method::SetParameter,
        Method::Record,
        Method::Receive,
    ];

    /// Returns the method with this number.
    pub fn from_number(number: i64) -> Option<Method> {
        Method::ALL.into_iter().find(|method| *method as i64 == number)
    }

    /// Returns the method's name in a request.
    pub fn name(self) -> &'static str {
        match self {
            Method::Options => "OPTIONS",
            Method::Describe => "DESCRIBE",
            Method::Announce => "ANNOUNCE",
            Method::Setup => "SETUP",
            Method::Play => "PLAY",
            Method::Pause => "PAUSE",
            Method::Teardown => "TEARDOWN",
            Method::GetParameter => "GET_PARAMETER",
            Method::SetParameter => "SET_PARAMETER",
            Method::Record => "RECORD",
            Method::Receive => "",
        }
    }

    /// The type of the body that such a request carries, if it may carry one.
    pub fn content_type(self) -> Option<&'static str> {
        match self {
            Method::Announce => Some("application/sdp"),
            Method::GetParameter | Method::SetParameter => Some("text/parameters"),
            _ => None,
        }
    }
}

const PREFIX: &[u8] = b"RTSP/";

/// Parses a status line: "RTSP/1.0 200 OK". No other version is supported (RFC 7826 differs). The rest of the
/// head is as in HTTP/1.1.
pub fn status(line: &[u8]) -> Option<StatusLine> {
    let rest = line.trim_ascii_start().strip_prefix(PREFIX)?;
    let [b'1', b'.', b'0', b' ' | b'\t', rest @ ..] = rest else { return None };
    let (code, rest) = rest.split_first_chunk::<3>()?;
    let digits = code.iter().all(u8::is_ascii_digit);
    let ends = matches!(rest.first(), None | Some(b' ' | b'\t' | b'\r' | b'\n'));
    let code = code.iter().fold(0, |sum, digit| sum * 10 + u16::from(digit.wrapping_sub(b'0')));
    (digits && ends).then_some(StatusLine { version: 11, code })
}

/// The number in a CSeq field.
pub fn sequence_number(value: &[u8]) -> Option<i64> {
    let digits = value.iter().position(|b| !b.is_ascii_digit()).unwrap_or(value.len());
    std::str::from_utf8(&value[..digits]).ok()?.parse().ok()
}

/// The identifier in a Session field, without the parameters behind it; `None` if there is none.
pub fn session_id(value: &[u8]) -> Option<&[u8]> {
    let end = value.iter().position(|b| matches!(b, b';' | b' ' | b'\t')).unwrap_or(value.len());
    Some(&value[..end]).filter(|id| !id.is_empty())
}

/// The channels on which packets may arrive: those that a server has named.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Channels([u64; 4]);

impl Channels {
    /// Takes in a Transport field: "RTP/AVP/TCP;unicast;interleaved=0-1".
    pub fn announced(&mut self, transport: &[u8]) {
        for parameter in transport.split(|b| matches!(b, b';' | b',')) {
            let Some(range) = strip(parameter.trim_ascii(), b"interleaved=") else { continue };
            let mut ends = range.splitn(2, |b| *b == b'-').map(number);
            let Some(first) = ends.next().flatten() else { continue };
            let last = ends.next().flatten().unwrap_or(first);
            (first..=last).for_each(|channel| self.0[usize::from(channel / 64)] |= 1 << (channel % 64));
        }
    }

    fn has(&self, channel: u8) -> bool {
        self.0[usize::from(channel / 64)] & 1 << (channel % 64) != 0
    }
}

fn strip<'a>(text: &'a [u8], prefix: &[u8]) -> Option<&'a [u8]> {
    let (start, rest) = text.split_at_checked(prefix.len())?;
    start.eq_ignore_ascii_case(prefix).then_some(rest)
}

fn number(text: &[u8]) -> Option<u8> {
    std::str::from_utf8(text.trim_ascii()).ok()?.parse().ok()
}

/// The contents at the front of received bytes, between two messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Front {
    /// A packet of that many bytes: a dollar sign, its channel, a length in two bytes, and a payload of that
    /// length.
    Packet(usize),
    /// The beginning of a message.
    Message,
    /// Number of bytes that are neither.
    Junk(usize),
    /// The beginning of one of them, or nothing: more input is needed.
    Incomplete,
}

const DOLLAR: u8 = b'$';
const HEADER: usize = 4;

/// Classifies the front of received bytes. Messages are expected while one is awaited; packets only on the
/// given channels.
pub fn front(bytes: &[u8], channels: &Channels, awaits_message: bool) -> Front {
    match bytes {
        [] | [DOLLAR] => Front::Incomplete,
        [DOLLAR, channel, rest @ ..] if channels.has(*channel) => {
            let length = rest.first_chunk().map(|length| HEADER + usize::from(u16::from_be_bytes(*length)));
            length.filter(|length| *length <= bytes.len()).map_or(Front::Incomplete, Front::Packet)
        }
        _ if awaits_message && opening(bytes) == Opening::Http => Front::Message,
        _ if awaits_message && opening(bytes) == Opening::Undecided => Front::Incomplete,
        _ => {
            let next = bytes[1..].iter().position(|b| *b == DOLLAR || awaits_message && *b == PREFIX[0]);
            Front::Junk(next.map_or(bytes.len(), |at| at + 1))
        }
    }
}

/// Returns whether a response begins there. As in HTTP, its kind is [`Opening::Http`].
pub fn opening(bytes: &[u8]) -> Opening {
    let n = bytes.len().min(PREFIX.len());
    match bytes[..n] == PREFIX[..n] {
        true if n == PREFIX.len() => Opening::Http,
        true => Opening::Undecided,
        false => Opening::Other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_lines() {
        for (line, code) in [
            ("RTSP/1.0 200 OK\r\n", Some(200)),
            ("RTSP/1.0 454", Some(454)),
            ("RTSP/1.1 200 OK", None),
            ("RTSP/2.0 454", None),
            ("  RTSP/1.0\t100\tgo on", Some(100)),
            ("RTSP/1.0 2000", None),
            ("RTSP/1.0 20\r\n", None),
            ("RTSP/1 200", None),
            ("RTSP/1.0200", None),
            ("rtsp/1.0 200", None),
            ("HTTP/1.1 200 OK", None),
            ("RTSP/x.0 200", None),
        ] {
            assert_eq!(status(line.as_bytes()).map(|status| status.code), code, "{line}");
        }
    }

    #[test]
    fn fields() {
        assert_eq!(sequence_number(b"12"), Some(12));
        assert_eq!(sequence_number(b"12 x"), Some(12));
        assert_eq!(sequence_number(b"x"), None);
        assert_eq!(sequence_number(b"99999999999999999999"), None);
        assert_eq!(session_id(b"asdf;timeout=60"), Some(&b"asdf"[..]));
        assert_eq!(session_id(b"a$-_.+ x"), Some(&b"a$-_.+"[..]));
        assert_eq!(session_id(b";timeout=60"), None);
        assert_eq!(session_id(b""), None);
    }

    #[test]
    fn channels_are_those_that_were_named() {
        let mut channels = Channels::default();
        channels.announced(b"RTP/AVP;unicast;client_port=1-2");
        assert_eq!(channels, Channels::default());
        channels.announced(b"RTP/AVP/TCP;unicast; Interleaved=0-1,RTP/AVP/TCP;interleaved=200");
        let has: Vec<u8> = (0..=255).filter(|channel| channels.has(*channel)).collect();
        assert_eq!(has, [0, 1, 200]);
        for odd in ["interleaved=", "interleaved=256", "interleaved=x-3", "interleaved=9-5"] {
            let mut channels = Channels::default();
            channels.announced(odd.as_bytes());
            assert_eq!(channels, Channels::default(), "{odd}");
        }
    }

    #[test]
    fn packets_messages_and_what_is_neither() {
        let mut channels = Channels::default();
        channels.announced(b"interleaved=0-1");
        let rows: [(&[u8], bool, Front); 14] = [
            (b"", true, Front::Incomplete),
            (b"$", true, Front::Incomplete),
            (b"$\0", true, Front::Incomplete),
            (b"$\0\0\x02a", true, Front::Incomplete),
            (b"$\x01\0\x02abc", true, Front::Packet(6)),
            (b"$\0\0\0", false, Front::Packet(4)),
            (b"$99\n", true, Front::Junk(4)),
            (b"$9$\0", true, Front::Junk(2)),
            (b"RTSP/1.0", true, Front::Message),
            (b"RTS", true, Front::Incomplete),
            (b"RTSP/1.0", false, Front::Junk(8)),
            (b"xyRTSP/", true, Front::Junk(2)),
            (b"RRTSP/", true, Front::Junk(1)),
            (b"RTSP$\0", false, Front::Junk(4)),
        ];
        for (bytes, awaits_message, found) in rows {
            assert_eq!(front(bytes, &channels, awaits_message), found, "{bytes:?}");
        }
    }
}
