//! Commands that do not wait for each other: which are sent together, when one is sent ahead, and the meaning
//! of a lost reply.

use std::ops::RangeInclusive;
use std::time::Duration;

use net::filter::open::LocalBinding;
use tables::Code;

use super::super::servers::Stream;
use crate::settings::FtpPipelining;
use crate::why::event::OneByOne;

/// An unknown server is tried after this many files.
const WORTH_AN_ATTEMPT: u32 = 8;

/// A reply counts as lost if it is later than the one before it and than this many times the server's usual
/// delay.
const PACES: u32 = 8;

/// Limits of the time for a reply.
const PATIENCE: RangeInclusive<Duration> = Duration::from_millis(300)..=Duration::from_secs(3);

/// One file follows another if it begins within this time.
const IN_A_ROW: Duration = Duration::from_secs(1);

/// A port that was asked for by default is given up after this time. Firewalls that read the reply let the
/// data connection in for some minutes.
const PORT_LIFETIME: Duration = Duration::from_secs(10);

/// Number of control connections to a server that take turns (`FtpPipelining::InTurn`): one round trip each
/// for the end of a file, the next port, the data connection, and the file.
pub const IN_TURN: usize = 4;

/// A file, and the connection for it.
#[derive(Clone, Copy, Debug)]
pub struct Candidate {
    /// How many commands may be sent together.
    pub level: FtpPipelining,
    /// Whether the connection has served a transfer before.
    pub reused: bool,
    /// How the server handles commands that arrive together.
    pub stream: Stream,
    /// Number of files moved over the connection.
    pub moved: u32,
    /// Whether TYPE is not needed.
    pub type_is_set: bool,
    /// Whether the server is known to need one command at a time.
    pub objected: bool,
    /// Whether the file is one of several that match a pattern.
    pub listed: bool,
    /// Whether a part of the file is wanted.
    pub partial: bool,
    /// Whether the server connects to us.
    pub active: bool,
    /// Whether the file's size has a limit.
    pub limited: bool,
    /// CURLOPT_FTP_USE_PRET.
    pub pret: bool,
    /// Whether there are commands of CURLOPT_PREQUOTE.
    pub prequote: bool,
}

/// Returns whether the commands for a file are sent together: none of them depends on a reply, and a fresh
/// connection can repair any failure.
pub fn leaves_together(f: &Candidate) -> bool {
    let waits = f.objected || f.listed || f.partial || f.active || f.limited || f.pret || f.prequote;
    f.level >= FtpPipelining::Together && f.reused && !waits && is_worth_it(f)
}

/// Returns why the commands for a file are not sent together.
pub fn why_one_by_one(f: &Candidate) -> OneByOne {
    if f.level < FtpPipelining::Together {
        OneByOne::Setting
    } else if f.objected || f.stream == Stream::Objected {
        OneByOne::Objected
    } else if !f.reused {
        OneByOne::NewConnection
    } else if is_worth_it(f) {
        OneByOne::Dependent
    } else {
        OneByOne::Unknown
    }
}

fn is_worth_it(f: &Candidate) -> bool {
    match f.stream {
        Stream::Unknown => f.moved >= WORTH_AN_ATTEMPT && f.type_is_set,
        Stream::Believed | Stream::Proven => f.moved > 0,
        Stream::Objected => false,
    }
}

/// Returns whether SIZE is one of the commands.
pub fn asks_for_size(level: FtpPipelining, text: bool, ignored: bool) -> bool {
    level < FtpPipelining::Ahead && !text && !ignored
}

/// Returns the commands that fetch a file, in curl's order.
pub fn commands(data_type: Option<u8>, asks_for_size: bool, file: &[u8]) -> Vec<Vec<u8>> {
    let all = [
        data_type.map(|data_type| [b"TYPE ", &[data_type][..]].concat()),
        asks_for_size.then(|| [b"SIZE ", file].concat()),
        Some([b"RETR ", file].concat()),
    ];
    all.into_iter().flatten().collect()
}

/// Returns the time after which a command without a reply counts as lost.
pub fn patience(pace: Duration) -> Duration {
    (pace * PACES).clamp(*PATIENCE.start(), *PATIENCE.end())
}

/// Returns whether the replies show that the server did not understand commands that arrived together.
pub fn is_misunderstood(codes: impl IntoIterator<Item = u16>) -> bool {
    codes.into_iter().any(|code| matches!(code, 500..=503))
}

/// Returns whether a failure may be caused by commands that arrived together.
pub fn may_be_objection(code: Code) -> bool {
    matches!(
        code,
        Code::RecvError
            | Code::SendError
            | Code::CouldntConnect
            | Code::FtpCouldntSetType
            | Code::FtpCouldntRetrFile
            | Code::WeirdServerReply
            | Code::PartialFile
            | Code::SslConnectError
    )
}

/// A control connection at the end of a file.
#[derive(Clone, Copy, Debug)]
pub struct FileEnd {
    /// How many commands may be sent together.
    pub level: FtpPipelining,
    /// Whether EPSV is sent already, or its port is known.
    pub asked: bool,
    /// Whether EPSV can be used.
    pub epsv: bool,
    /// Whether the server connects to us.
    pub active: bool,
    /// CURLOPT_FTP_USE_PRET.
    pub pret: bool,
    /// Whether a file has moved over the connection.
    pub moved: bool,
    /// Whether the server has not replied to EPSV sent ahead before, or needs one command at a time.
    pub refused: bool,
    /// CURLOPT_FORBID_REUSE.
    pub forbidden: bool,
    /// Whether the server confirms a file one round trip after its last byte.
    pub confirms_late: bool,
    /// Whether the file followed another one.
    pub follows: bool,
    /// Whether the idle connection may go to another process, which it cannot while a reply is pending.
    pub leaves_process: bool,
}

/// Returns whether the next passive port is asked for at the end of a file.
pub fn asks_ahead(f: &FileEnd) -> bool {
    f.level >= FtpPipelining::Ahead && can_ask(f)
}

/// Returns whether the next passive port is asked for while a file that is complete waits for its
/// confirmation: where that saves a round trip, and only if a next file is likely. Until then the server
/// holds the port open.
pub fn asks_behind_data(f: &FileEnd) -> bool {
    f.level == FtpPipelining::Together && f.confirms_late && f.follows && !f.leaves_process && can_ask(f)
}

fn can_ask(f: &FileEnd) -> bool {
    let possible = f.epsv && !f.active && !f.pret;
    f.moved && possible && !f.asked && !f.refused && !f.forbidden
}

/// Returns whether a transfer follows another one on its connection, after this pause.
pub fn follows(pause: Option<Duration>) -> bool {
    pause.is_some_and(|pause| pause <= IN_A_ROW)
}

/// Returns whether a port that was asked for ahead may be used after this pause. Users of the other levels
/// have asked for it.
pub fn port_is_usable(level: FtpPipelining, pause: Option<Duration>) -> bool {
    level >= FtpPipelining::Ahead || pause.is_some_and(|pause| pause <= PORT_LIFETIME)
}

/// The idle connections to a server.
#[derive(Clone, Copy, Debug)]
pub struct Idle {
    /// How many commands may be sent together.
    pub level: FtpPipelining,
    /// Number of those that wait for the end of their last file.
    pub asked: usize,
    /// Number of those that can begin at once.
    pub ready: usize,
    /// Whether the pool has room for one more.
    pub room: bool,
    /// Whether commands are not encrypted: under TLS each connection costs two round trips and a handshake.
    pub clear: bool,
}

/// Returns whether one more connection is opened.
pub fn opens_one_more(f: &Idle) -> bool {
    let busy = f.ready == 0 && (1..IN_TURN).contains(&f.asked);
    f.level == FtpPipelining::InTurn && busy && f.room && f.clear
}

/// Returns whether these lines, which an idle connection has received, leave it open (421 does not).
pub fn stays_open(lines: &[u8]) -> bool {
    !lines.split(|octet| *octet == b'\n').any(|line| line.starts_with(b"421"))
}

/// Returns whether a pool with these limits (0 is none) has room for connections that take turns.
pub fn has_room(per_host: usize, total: usize, kept: usize) -> bool {
    per_host == 0 && total == 0 && (kept == 0 || kept >= IN_TURN)
}

/// Returns whether a socket may be opened to a port before its transfer: only the address decides where it
/// leads.
pub fn is_plain(direct: bool, private: bool, local: &LocalBinding) -> bool {
    direct && !private && local.device.is_none() && local.interface.is_none() && local.host.is_none()
}

#[cfg(test)]
mod tests {
    use super::*;
    use FtpPipelining::{Ahead, InTurn, Together, Wait};

    const KEPT: Candidate = Candidate {
        level: Together,
        reused: true,
        stream: Stream::Proven,
        moved: 1,
        type_is_set: true,
        objected: false,
        listed: false,
        partial: false,
        active: false,
        limited: false,
        pret: false,
        prequote: false,
    };

    #[test]
    fn commands_leave_together_when_none_depends_on_a_reply() {
        let rows = [
            ("warmwire_ftp_pipeline: together", KEPT, true),
            ("warmwire_ftp_pipeline: wait", Candidate { level: Wait, ..KEPT }, false),
            ("warmwire_ftp_pipeline: ahead", Candidate { level: Ahead, ..KEPT }, true),
            ("RFC 959 §5.4: a new connection", Candidate { reused: false, ..KEPT }, false),
            ("RFC 959 §5.4: it has objected", Candidate { objected: true, ..KEPT }, false),
            ("CURLOPT_WILDCARDMATCH(3)", Candidate { listed: true, ..KEPT }, false),
            ("CURLOPT_RANGE(3): REST depends on SIZE", Candidate { partial: true, ..KEPT }, false),
            ("CURLOPT_FTPPORT(3)", Candidate { active: true, ..KEPT }, false),
            ("CURLOPT_MAXFILESIZE(3): RETR depends on SIZE", Candidate { limited: true, ..KEPT }, false),
            ("CURLOPT_FTP_USE_PRET(3)", Candidate { pret: true, ..KEPT }, false),
            ("CURLOPT_PREQUOTE(3)", Candidate { prequote: true, ..KEPT }, false),
        ];
        for (name, facts, wanted) in rows {
            assert_eq!(leaves_together(&facts), wanted, "{name}");
        }
    }

    #[test]
    fn the_reason_why_commands_wait_is_named() {
        let unknown = Candidate { stream: Stream::Unknown, ..KEPT };
        let rows = [
            (Candidate { level: Wait, objected: true, ..KEPT }, OneByOne::Setting),
            (Candidate { objected: true, ..KEPT }, OneByOne::Objected),
            (Candidate { stream: Stream::Objected, ..KEPT }, OneByOne::Objected),
            (Candidate { reused: false, ..KEPT }, OneByOne::NewConnection),
            (Candidate { active: true, ..KEPT }, OneByOne::Dependent),
            (unknown, OneByOne::Unknown),
        ];
        for (facts, why) in rows {
            assert!(!leaves_together(&facts), "{facts:?}");
            assert_eq!(why_one_by_one(&facts), why, "{facts:?}");
        }
    }

    #[test]
    fn an_unknown_server_is_tried_after_eight_files() {
        let unknown = Candidate { stream: Stream::Unknown, moved: WORTH_AN_ATTEMPT, ..KEPT };
        let rows = [
            ("RFC 959 §5.4: eight files", unknown, true),
            ("RFC 959 §5.4: seven", Candidate { moved: WORTH_AN_ATTEMPT - 1, ..unknown }, false),
            ("RFC 959 §4.1.2: TYPE would be one more", Candidate { type_is_set: false, ..unknown }, false),
            ("RFC 959 §4.2: believed by its greeting", Candidate { stream: Stream::Believed, ..KEPT }, true),
            (
                "RFC 959 §4.2: believed, before the first file",
                Candidate { stream: Stream::Believed, moved: 0, ..KEPT },
                false,
            ),
            ("RFC 959 §4.2: it lost some", Candidate { stream: Stream::Objected, ..KEPT }, false),
        ];
        for (name, facts, wanted) in rows {
            assert_eq!(leaves_together(&facts), wanted, "{name}");
        }
    }

    #[test]
    fn size_is_left_out_where_it_is_not_needed() {
        let rows = [
            ("RFC 3659 §4: SIZE", Together, false, false, true),
            ("RFC 3659 §4.2: a text", Together, true, false, false),
            ("CURLOPT_IGNORE_CONTENT_LENGTH(3)", Together, false, true, false),
            ("warmwire_ftp_pipeline: ahead", Ahead, false, false, false),
        ];
        for (name, level, text, ignored, wanted) in rows {
            assert_eq!(asks_for_size(level, text, ignored), wanted, "{name}");
        }
        let lines = |data_type, size| commands(data_type, size, b"f").join(&b'|');
        assert_eq!(lines(Some(b'I'), true), b"TYPE I|SIZE f|RETR f", "curl's order");
        assert_eq!(lines(None, false), b"RETR f", "the file alone");
    }

    #[test]
    fn patience_follows_the_pace_within_bounds() {
        let ms = Duration::from_millis;
        let rows = [
            ("a server nearby", ms(1), ms(300)),
            ("eight times its pace", ms(100), ms(800)),
            ("a server on the moon", ms(2600), ms(3000)),
        ];
        for (name, pace, wanted) in rows {
            assert_eq!(patience(pace), wanted, "{name}");
        }
    }

    #[test]
    fn syntax_errors_show_that_commands_were_misunderstood() {
        let rows: [(_, &[u16], _); 5] = [
            ("RFC 959 §4.2.1: all well", &[200, 213, 150], false),
            ("RFC 959 §4.2.1: 500", &[200, 500, 150], true),
            ("RFC 959 §4.2.1: 503, bad sequence", &[503], true),
            ("RFC 959 §4.2.1: 504, a parameter", &[504], false),
            ("RFC 959 §4.2.1: 550, no such file", &[550, 550], false),
        ];
        for (name, codes, wanted) in rows {
            assert_eq!(is_misunderstood(codes.iter().copied()), wanted, "{name}");
        }
    }

    #[test]
    fn failures_that_waiting_may_mend() {
        let rows = [
            ("RFC 959 §4.2: the server closed", Code::RecvError, true),
            ("RFC 959 §5.4: it lost TYPE", Code::FtpCouldntSetType, true),
            ("RFC 959 §5.4: it lost RETR", Code::FtpCouldntRetrFile, true),
            ("RFC 959 §5.4: the end came too early", Code::PartialFile, true),
            ("RFC 3659 §4.3: a file that is not there", Code::RemoteFileNotFound, false),
            ("CURLOPT_TIMEOUT(3)", Code::OperationTimedout, false),
            ("CURLOPT_WRITEFUNCTION(3)", Code::WriteError, false),
        ];
        for (name, code, wanted) in rows {
            assert_eq!(may_be_objection(code), wanted, "{name}");
        }
    }

    #[test]
    fn the_next_port_is_asked_for_where_it_can_be_used() {
        let leaving = FileEnd {
            level: Ahead,
            asked: false,
            epsv: true,
            active: false,
            pret: false,
            moved: true,
            refused: false,
            forbidden: false,
            confirms_late: false,
            follows: false,
            leaves_process: false,
        };
        let rows = [
            ("RFC 2428 §3: EPSV", leaving, true),
            ("warmwire_ftp_pipeline: together", FileEnd { level: Together, ..leaving }, false),
            ("RFC 2428 §3: asked already", FileEnd { asked: true, ..leaving }, false),
            ("RFC 2428 §3: refused, or off", FileEnd { epsv: false, ..leaving }, false),
            ("CURLOPT_FTPPORT(3)", FileEnd { active: true, ..leaving }, false),
            ("CURLOPT_FTP_USE_PRET(3)", FileEnd { pret: true, ..leaving }, false),
            ("RFC 959 §3.2: nothing was fetched", FileEnd { moved: false, ..leaving }, false),
            ("RFC 959 §4.2: the server has objected", FileEnd { refused: true, ..leaving }, false),
            ("CURLOPT_FORBID_REUSE(3)", FileEnd { forbidden: true, ..leaving }, false),
        ];
        for (name, facts, wanted) in rows {
            assert_eq!(asks_ahead(&facts), wanted, "{name}");
        }
    }

    #[test]
    fn by_default_the_next_port_is_asked_for_where_that_saves_a_round_trip() {
        let late = FileEnd {
            level: Together,
            asked: false,
            epsv: true,
            active: false,
            pret: false,
            moved: true,
            refused: false,
            forbidden: false,
            confirms_late: true,
            follows: true,
            leaves_process: false,
        };
        let rows = [
            ("RFC 959 §5.4: vsftpd and proftpd confirm late", late, true),
            ("RFC 959 §5.4: others confirm at once", FileEnd { confirms_late: false, ..late }, false),
            ("a single file", FileEnd { follows: false, ..late }, false),
            ("WARMWIRE_POOL=user", FileEnd { leaves_process: true, ..late }, false),
            ("warmwire_ftp_pipeline: wait", FileEnd { level: Wait, ..late }, false),
            ("warmwire_ftp_pipeline: ahead asks later", FileEnd { level: Ahead, ..late }, false),
            ("RFC 2428 §3: refused, or off", FileEnd { epsv: false, ..late }, false),
            ("CURLOPT_FTPPORT(3)", FileEnd { active: true, ..late }, false),
            ("CURLOPT_FORBID_REUSE(3)", FileEnd { forbidden: true, ..late }, false),
            ("RFC 959 §4.2: the server has objected", FileEnd { refused: true, ..late }, false),
        ];
        for (name, facts, wanted) in rows {
            assert_eq!(asks_behind_data(&facts), wanted, "{name}");
        }
    }

    #[test]
    fn a_port_asked_for_by_default_is_for_a_file_that_follows() {
        let after = |seconds| Some(Duration::from_secs(seconds));
        let rows = [
            ("at once", Together, after(0), true, true),
            ("two seconds later", Together, after(2), false, true),
            ("a minute later: a firewall may have forgotten the port", Together, after(60), false, false),
            ("a minute later, as the user wants it", Ahead, after(60), false, true),
            ("from another process", Together, None, false, false),
        ];
        for (name, level, pause, follows_it, usable) in rows {
            assert_eq!(follows(pause), follows_it, "{name}");
            assert_eq!(port_is_usable(level, pause), usable, "{name}");
        }
    }

    #[test]
    fn one_more_connection_is_opened_while_all_are_busy() {
        let busy = Idle { level: InTurn, asked: 1, ready: 0, room: true, clear: true };
        let rows = [
            ("warmwire_ftp_pipeline: turns", busy, true),
            ("warmwire_ftp_pipeline: ahead", Idle { level: Ahead, ..busy }, false),
            ("one can begin at once", Idle { ready: 1, ..busy }, false),
            ("none is there: this is the first", Idle { asked: 0, ..busy }, false),
            ("three of four", Idle { asked: IN_TURN - 1, ..busy }, true),
            ("four are enough", Idle { asked: IN_TURN, ..busy }, false),
            ("CURLMOPT_MAX_HOST_CONNECTIONS(3)", Idle { room: false, ..busy }, false),
            ("RFC 4217 §4: TLS", Idle { clear: false, ..busy }, false),
        ];
        for (name, facts, wanted) in rows {
            assert_eq!(opens_one_more(&facts), wanted, "{name}");
        }
    }

    #[test]
    fn a_farewell_ends_an_idle_connection() {
        let rows: [(_, &[u8], _); 5] = [
            ("RFC 2428 §3: 229", b"229 Entering (|||4421|)\r\n", true),
            ("RFC 959 §4.2: nothing yet", b"", true),
            ("RFC 959 §4.2: 421", b"421 Timeout.\r\n", false),
            ("RFC 959 §4.2: 421 behind the port", b"229 Entering (|||1|)\r\n421 Timeout.\r\n", false),
            ("RFC 959 §4.2: in several lines", b"421-Timeout\r\n", false),
        ];
        for (name, lines, wanted) in rows {
            assert_eq!(stays_open(lines), wanted, "{name}");
        }
    }

    #[test]
    fn limits_of_the_pool_leave_no_room() {
        let rows = [
            ("CURLMOPT_MAXCONNECTS(3): not set", (0, 0, 0), true),
            ("CURLMOPT_MAXCONNECTS(3): four", (0, 0, IN_TURN), true),
            ("CURLMOPT_MAXCONNECTS(3): three", (0, 0, IN_TURN - 1), false),
            ("CURLMOPT_MAX_HOST_CONNECTIONS(3)", (9, 0, 0), false),
            ("CURLMOPT_MAX_TOTAL_CONNECTIONS(3)", (0, 9, 0), false),
        ];
        for (name, (per_host, total, kept), wanted) in rows {
            assert_eq!(has_room(per_host, total, kept), wanted, "{name}");
        }
    }

    #[test]
    fn sockets_are_opened_ahead_only_on_the_plain_way() {
        let local = |text| LocalBinding::parse(text).unwrap();
        let none = LocalBinding::default();
        let rows = [
            ("RFC 2428 §3: directly", true, false, none.clone(), true),
            ("CURLOPT_PROXY(3)", false, false, none.clone(), false),
            ("CURLOPT_OPENSOCKETFUNCTION(3): the application's sockets", true, true, none, false),
            ("CURLOPT_INTERFACE(3): an interface", true, false, local("if!lo"), false),
            ("CURLOPT_INTERFACE(3): a host", true, false, local("host!localhost"), false),
        ];
        for (name, direct, private, local, wanted) in rows {
            assert_eq!(is_plain(direct, private, &local), wanted, "{name}");
        }
    }
}
