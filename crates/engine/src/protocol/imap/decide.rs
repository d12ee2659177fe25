//! Decisions of IMAP (RFC 9051): pure functions from facts to a verdict.

use wire::auth::sasl::{Kind, Mechanisms};
use wire::imap::{Status, Untagged, UrlPath, argument, escaped, literal_at_end};

use crate::error::Result;
use crate::transfer::mail_commands::decode;

/// Literals that may follow their announcement without a continuation request (RFC 7888).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Literals {
    /// None.
    #[default]
    Asked,
    /// Short ones (LITERAL-).
    Short,
    /// Any (LITERAL+).
    Any,
}

/// Longest literal of LITERAL-.
const SHORT_LITERAL: u64 = 4096;

/// Longest literal that is sent unasked with LITERAL+: a server that refuses it has to read all of it.
const UNASKED_LIMIT: u64 = 64 * 1024;

/// Returns whether the server accepts a literal of this length without a continuation request.
pub fn takes_unasked(literals: Literals, size: u64) -> bool {
    match literals {
        Literals::Asked => false,
        Literals::Short => size <= SHORT_LITERAL,
        Literals::Any => size <= UNASKED_LIMIT,
    }
}

/// A server that has refused SASL, or has no mechanism in common with us.
#[derive(Clone, Copy, Debug)]
pub struct Login {
    /// The server has said LOGINDISABLED.
    pub disabled: bool,
    /// The ways that the login options allow.
    pub kind: Kind,
    /// There is a user.
    pub has_user: bool,
    /// There is a bearer token.
    pub has_token: bool,
}

/// The method that remains.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlainLogin {
    /// The command LOGIN.
    Login,
    /// No login.
    Nobody,
    /// There is none.
    None,
}

/// Decides how to log in without SASL.
pub fn without_sasl(f: &Login) -> PlainLogin {
    match f {
        Login { disabled: true, .. } | Login { kind: Kind::Sasl, .. } => PlainLogin::None,
        Login { has_user: true, .. } => PlainLogin::Login,
        Login { has_token: true, .. } => PlainLogin::None,
        _ => PlainLogin::Nobody,
    }
}

/// Returns whether a mailbox need not be selected. Names are compared as curl does, and a UIDVALIDITY counts
/// where both are known.
pub fn is_selected(selected: Option<&[u8]>, known: Option<u32>, mailbox: &[u8], wanted: Option<u32>) -> bool {
    selected.is_some_and(|selected| selected.eq_ignore_ascii_case(mailbox)) && !has_changed(wanted, known)
}

/// Returns whether the mailbox is another one than the URL means: its UIDVALIDITY has changed.
pub fn has_changed(wanted: Option<u32>, reported: Option<u32>) -> bool {
    wanted.zip(reported).is_some_and(|(wanted, reported)| wanted != reported)
}

/// Returns how many octets of a literal follow this line, of `left` before it; `None` if the response has
/// ended with it.
pub fn literal_left(line: &[u8], left: u64) -> Option<u64> {
    match (line.len() as u64).checked_sub(left) {
        None => Some(left - line.len() as u64),
        Some(0) => Some(0),
        Some(_) => literal_at_end(&line[left as usize..]),
    }
}

/// The request to a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Request {
    /// One message, or a part of it.
    Fetch(Vec<u8>),
    /// `?query`.
    Search(Vec<u8>),
    /// CURLOPT_CUSTOMREQUEST(3): the first word, and all of it.
    Own(Vec<u8>, Vec<u8>),
    /// The mailboxes below the URL's.
    List(Vec<u8>),
}

/// Decides which request a URL means.
pub fn request(own: Option<&[u8]>, place: &UrlPath, query: Option<&[u8]>) -> Result<Request> {
    if let Some(own) = own {
        let command = decode(own)?;
        let word = command.split(|octet| *octet == b' ').next().unwrap_or_default().to_vec();
        return Ok(Request::Own(word, command));
    }
    // Without a mailbox, there is nothing to search for a message or a query.
    let Some(mailbox) = &place.mailbox else { return Ok(Request::List(b"LIST \"\" *".to_vec())) };
    if let Some(command) = place.fetch() {
        return Ok(Request::Fetch(command));
    }
    match query {
        Some(query) => {
            // A plus is a blank, as in any query.
            let query: Vec<u8> = query.iter().map(|b| if *b == b'+' { b' ' } else { *b }).collect();
            Ok(Request::Search(decode(&query)?))
        }
        None => Ok(Request::List([b"LIST \"", &escaped(mailbox)[..], b"\" *"].concat())),
    }
}

/// Returns whether a custom command is a FETCH, by UID or not, of a range or a list: `FETCH 1:* (FLAGS)`.
pub fn fetches_many(command: &[u8]) -> bool {
    fn after<'t>(text: &'t [u8], word: &[u8]) -> Option<&'t [u8]> {
        let (front, rest) = text.split_at_checked(word.len())?;
        front.eq_ignore_ascii_case(word).then_some(rest)
    }
    let messages = after(after(command, b"UID ").unwrap_or(command), b"FETCH ").unwrap_or_default();
    messages.iter().find(|octet| !octet.is_ascii_digit()).is_some_and(|octet| b":,".contains(octet))
}

/// Returns whether an untagged line is part of the reply to a custom command that begins with this word.
pub fn answers(word: &[u8], line: Untagged<'_>) -> bool {
    /// These are answered by lines of several kinds.
    const OPEN: [&[u8]; 8] =
        [b"SELECT", b"EXAMINE", b"SEARCH", b"EXPUNGE", b"LSUB", b"UID", b"GETQUOTAROOT", b"NOOP"];
    line.is(word)
        || OPEN.iter().any(|open| word.eq_ignore_ascii_case(open))
        || word.eq_ignore_ascii_case(b"STORE") && line.is(b"FETCH")
}

/// The capabilities of a server that decide about the login.
#[derive(Debug, Default)]
pub struct Capabilities {
    /// STARTTLS.
    pub starttls: bool,
    /// LOGINDISABLED.
    pub login_disabled: bool,
    /// SASL-IR (RFC 4959).
    pub initial_response: bool,
    /// LITERAL- and LITERAL+.
    pub literals: Literals,
    /// IDLE (RFC 2177).
    pub idle: bool,
    /// AUTH=.
    pub mechanisms: Mechanisms,
}

impl Capabilities {
    /// Takes one word of a CAPABILITY line.
    pub fn take(&mut self, word: &[u8]) {
        let is = |name: &str| word.eq_ignore_ascii_case(name.as_bytes());
        self.starttls |= is("STARTTLS");
        self.login_disabled |= is("LOGINDISABLED");
        self.initial_response |= is("SASL-IR");
        self.idle |= is("IDLE");
        for (name, literals) in [("LITERAL-", Literals::Short), ("LITERAL+", Literals::Any)] {
            self.literals = self.literals.max(if is(name) { literals } else { Literals::Asked });
        }
        if let Some((prefix, mechanism)) = word.split_at_checked(5)
            && prefix.eq_ignore_ascii_case(b"AUTH=")
        {
            self.mechanisms.offer(mechanism);
        }
    }

    /// Returns whether a login by SASL is tried: both sides know a mechanism.
    pub fn tries_sasl(&self, kind: Kind, wanted: Mechanisms) -> bool {
        kind != Kind::Own && !self.mechanisms.both(wanted).is_empty()
    }
}

/// Returns whether a greeting says that the server knows us already (PREAUTH); `None` if the server takes no
/// client.
pub fn is_recognised(greeting: Status) -> Option<bool> {
    match greeting {
        Status::Ok => Some(false),
        Status::PreAuth => Some(true),
        _ => None,
    }
}

/// Returns whether STARTTLS may be sent. A client that is known before TLS cannot begin it (RFC 9051 §7.1.4).
pub fn offers_starttls(understood: bool, known: &Capabilities, recognised: bool) -> bool {
    understood && known.starttls && !recognised
}

/// Returns the mailbox that has to be selected before a request, which is the one that the URL names.
pub fn mailbox_of<'a>(request: &Request, place: &'a UrlPath) -> Option<&'a [u8]> {
    match request {
        Request::List(_) => None,
        Request::Fetch(_) | Request::Search(_) | Request::Own(..) => place.mailbox.as_deref(),
    }
}

/// Returns the command that adds a message of this size, up to its literal. `unasked` says that the literal
/// follows at once.
pub fn append_command(mailbox: &[u8], flags: &[u8], size: u64, unasked: bool) -> Vec<u8> {
    let size = if unasked { format!(" {{{size}+}}") } else { format!(" {{{size}}}") };
    [b"APPEND ", &argument(mailbox)[..], flags, size.as_bytes()].concat()
}

/// Returns how much may be read into a buffer: of what is held no more than the literal has, because what
/// stands behind it are lines.
pub fn literal_room(held: usize, left: u64, buffer: usize) -> usize {
    let left = usize::try_from(left).unwrap_or(usize::MAX);
    if held > left { left.min(buffer) } else { buffer }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tables::Code;

    #[test]
    fn capabilities_are_words_in_any_case() {
        let known = |words: &str| {
            let mut known = Capabilities::default();
            words.split(' ').for_each(|word| known.take(word.as_bytes()));
            let Capabilities { starttls, login_disabled, initial_response, literals, idle, .. } = known;
            (starttls, login_disabled, initial_response, idle, literals)
        };
        let rows = [
            ("RFC 9051 §7.2.2: none", "IMAP4rev1", (false, false, false, false, Literals::Asked)),
            ("RFC 9051 §6.2.1", "starttls", (true, false, false, false, Literals::Asked)),
            ("RFC 9051 §6.2.3", "LOGINDISABLED", (false, true, false, false, Literals::Asked)),
            ("RFC 4959 §3", "SASL-IR", (false, false, true, false, Literals::Asked)),
            ("RFC 7888 §4", "LITERAL+", (false, false, false, false, Literals::Any)),
            ("RFC 7888 §5", "LITERAL-", (false, false, false, false, Literals::Short)),
            ("RFC 7888 §5: both", "LITERAL+ LITERAL-", (false, false, false, false, Literals::Any)),
            ("RFC 2177 §3", "idle", (false, false, false, true, Literals::Asked)),
            ("RFC 9051 §7.2.2: a longer word", "STARTTLSX", (false, false, false, false, Literals::Asked)),
        ];
        for (name, words, wanted) in rows {
            assert_eq!(known(words), wanted, "{name}");
        }
    }

    #[test]
    fn sasl_is_tried_with_a_mechanism_that_both_know() {
        let mechanisms = |names: &[&[u8]]| {
            let mut all = Mechanisms::NONE;
            names.iter().for_each(|name| all.offer(name));
            all
        };
        let mut server = Capabilities::default();
        [&b"AUTH=PLAIN"[..], b"auth=LOGIN", b"AUTHX"].iter().for_each(|word| server.take(word));
        let (plain, ntlm) = (mechanisms(&[b"PLAIN"]), mechanisms(&[b"NTLM"]));
        let rows = [
            ("RFC 9051 §6.2.2: AUTH=PLAIN", Kind::Any, plain, true),
            ("RFC 9051 §6.2.2: in any case", Kind::Sasl, mechanisms(&[b"LOGIN"]), true),
            ("RFC 9051 §6.2.2: nothing in common", Kind::Any, ntlm, false),
            ("CURLOPT_LOGIN_OPTIONS(3): AUTH=+LOGIN", Kind::Own, plain, false),
        ];
        for (name, kind, wanted_mechanisms, wanted) in rows {
            assert_eq!(server.tries_sasl(kind, wanted_mechanisms), wanted, "{name}");
        }
    }

    #[test]
    fn greetings_may_recognise_the_client() {
        let rows = [
            ("RFC 9051 §7.1.1: OK", Status::Ok, Some(false)),
            ("RFC 9051 §7.1.4: PREAUTH", Status::PreAuth, Some(true)),
            ("RFC 9051 §7.1.5: anything else", Status::Not, None),
        ];
        for (name, status, wanted) in rows {
            assert_eq!(is_recognised(status), wanted, "{name}");
        }
    }

    #[test]
    fn a_recognised_client_cannot_begin_tls() {
        let with = Capabilities { starttls: true, ..Capabilities::default() };
        let without = Capabilities::default();
        let rows = [
            ("RFC 9051 §6.2.1: offered", true, &with, false, true),
            ("RFC 9051 §6.2.1: not offered", true, &without, false, false),
            ("RFC 9051 §7.1.4: PREAUTH (CVE-2021-22946's like)", true, &with, true, false),
            ("RFC 9051 §6.1.1: CAPABILITY has failed", false, &with, false, false),
        ];
        for (name, understood, known, recognised, wanted) in rows {
            assert_eq!(offers_starttls(understood, known, recognised), wanted, "{name}");
        }
    }

    #[test]
    fn mailboxes_are_selected_for_what_is_in_them() {
        let rows: [(_, Option<&str>, _, Option<&str>, Option<&[u8]>); 5] = [
            ("RFC 5092 §6: a list of mailboxes", None, "/box", None, None),
            ("RFC 5092 §6.2: a message", None, "/box/;UID=4", None, Some(b"box")),
            ("RFC 5092 §6.1: a query", None, "/box", Some("NEW"), Some(b"box")),
            ("CURLOPT_CUSTOMREQUEST(3)", Some("STORE 1 +Flags x"), "/box", None, Some(b"box")),
            ("CURLOPT_CUSTOMREQUEST(3): without a mailbox", Some("NOOP"), "/", None, None),
        ];
        for (name, own, path, query, wanted) in rows {
            let place = UrlPath::parse(path.as_bytes()).unwrap();
            assert_eq!(mailbox_of(&asked(own, path, query).unwrap(), &place), wanted, "{name}");
        }
    }

    #[test]
    fn append_announces_its_literal() {
        let text = |unasked| String::from_utf8(append_command(b"box", b" (\\Seen)", 7, unasked)).unwrap();
        assert_eq!(text(false), "APPEND box (\\Seen) {7}", "RFC 9051 §6.3.12");
        assert_eq!(text(true), "APPEND box (\\Seen) {7+}", "RFC 7888 §3: not asked for");
        let quoted = append_command(b"a b", b"", 0, false);
        assert_eq!(quoted, b"APPEND \"a b\" {0}", "RFC 9051 §9: a name with a blank");
    }

    #[test]
    fn a_literal_leaves_the_lines_behind_it() {
        let rows = [
            ("RFC 9051 §4.3: from the socket", 0, 10, 100, 100),
            ("RFC 9051 §4.3: all that is held belongs to it", 10, 10, 100, 100),
            ("RFC 9051 §4.3: more is held", 11, 10, 100, 10),
            ("RFC 9051 §4.3: and the buffer is small", 11, 10, 4, 4),
        ];
        for (name, held, left, buffer, wanted) in rows {
            assert_eq!(literal_room(held, left, buffer), wanted, "{name}");
        }
    }

    #[test]
    fn literals() {
        let rows = [
            ("RFC 9051 §4.3: asked for", Literals::Asked, 1, false),
            ("RFC 7888 §5: LITERAL-, short", Literals::Short, 4096, true),
            ("RFC 7888 §5: LITERAL-, too long", Literals::Short, 4097, false),
            ("RFC 7888 §4: LITERAL+", Literals::Any, 4097, true),
            ("RFC 7888 §4: LITERAL+, more than a refusal is worth", Literals::Any, 64 * 1024 + 1, false),
        ];
        for (name, literals, size, wanted) in rows {
            assert_eq!(takes_unasked(literals, size), wanted, "{name}");
        }
    }

    #[test]
    fn ways() {
        let user = Login { disabled: false, kind: Kind::Any, has_user: true, has_token: false };
        let nobody = Login { has_user: false, ..user };
        let rows = [
            ("RFC 9051 §6.2.3: LOGIN", user, PlainLogin::Login),
            ("RFC 9051 §7.2.2: LOGINDISABLED", Login { disabled: true, ..user }, PlainLogin::None),
            (
                "CURLOPT_LOGIN_OPTIONS(3): AUTH=* names SASL alone",
                Login { kind: Kind::Sasl, ..user },
                PlainLogin::None,
            ),
            ("CURLOPT_LOGIN_OPTIONS(3): AUTH=+LOGIN", Login { kind: Kind::Own, ..user }, PlainLogin::Login),
            ("CURLOPT_USERNAME(3): no user, no login", nobody, PlainLogin::Nobody),
            (
                "CURLOPT_XOAUTH2_BEARER(3): a token is no password",
                Login { has_token: true, ..nobody },
                PlainLogin::None,
            ),
            (
                "CURLOPT_XOAUTH2_BEARER(3): a user beside it has one",
                Login { has_token: true, ..user },
                PlainLogin::Login,
            ),
            (
                "RFC 9051 §7.2.2: LOGINDISABLED, and nobody",
                Login { disabled: true, ..nobody },
                PlainLogin::None,
            ),
        ];
        for (name, facts, wanted) in rows {
            assert_eq!(without_sasl(&facts), wanted, "{name}");
        }
    }

    #[test]
    fn selected_mailboxes() {
        // Selected, its UIDVALIDITY, the URL's mailbox and UIDVALIDITY.
        type Mailboxes = (Option<&'static [u8]>, Option<u32>, &'static [u8], Option<u32>);
        let rows: [(&str, Mailboxes, bool); 6] = [
            ("RFC 9051 §6.3.2: nothing is selected", (None, None, b"INBOX", None), false),
            ("RFC 9051 §6.3.2: the same", (Some(b"INBOX"), Some(7), b"INBOX", None), true),
            ("RFC 9051 §5.1: INBOX in any case", (Some(b"INBOX"), None, b"inbox", None), true),
            ("RFC 9051 §6.3.2: another", (Some(b"INBOX"), None, b"Sent", None), false),
            ("RFC 5092 §3: another UIDVALIDITY", (Some(b"INBOX"), Some(7), b"INBOX", Some(8)), false),
            (
                "RFC 5092 §3: a UIDVALIDITY that was not reported",
                (Some(b"INBOX"), None, b"INBOX", Some(8)),
                true,
            ),
        ];
        for (name, (selected, known, mailbox, uid_validity), wanted) in rows {
            assert_eq!(is_selected(selected, known, mailbox, uid_validity), wanted, "{name}");
        }
        assert!(has_changed(Some(1), Some(2)), "RFC 9051 §2.3.1.1");
        assert!(!has_changed(Some(1), None) && !has_changed(None, Some(2)) && !has_changed(Some(1), Some(1)));
    }

    #[test]
    fn literals_go_by() {
        let rows: [(_, &[u8], _, _); 5] = [
            ("RFC 9051 §4.3: all of the line is literal", b"abc\r\n", 9, Some(4)),
            ("RFC 9051 §4.3: it ends with the line", b"abc\r\n", 5, Some(0)),
            ("RFC 9051 §4.3: the response ends behind it", b"abc)\r\n", 3, None),
            ("RFC 9051 §4.3: another one begins behind it", b"abc {12}\r\n", 3, Some(12)),
            ("RFC 9051 §4.3: braces within it are octets", b"{99}\r\n", 6, Some(0)),
        ];
        for (name, line, left, wanted) in rows {
            assert_eq!(literal_left(line, left), wanted, "{name}");
        }
    }

    fn asked(own: Option<&str>, path: &str, query: Option<&str>) -> Result<Request, Code> {
        let place = UrlPath::parse(path.as_bytes()).unwrap();
        request(own.map(str::as_bytes), &place, query.map(str::as_bytes)).map_err(|e| e.code())
    }

    #[test]
    fn requests() {
        let own = |word: &str, all: &str| Ok(Request::Own(word.into(), all.into()));
        let rows = [
            ("RFC 5092 §6: no mailbox", asked(None, "/", None), Ok(Request::List(b"LIST \"\" *".to_vec()))),
            (
                "RFC 5092 §6: a mailbox",
                asked(None, "/box", None),
                Ok(Request::List(b"LIST \"box\" *".to_vec())),
            ),
            (
                "RFC 5092 §6: a mailbox whose name is quoted",
                asked(None, "/a%22b", None),
                Ok(Request::List(b"LIST \"a\\\"b\" *".to_vec())),
            ),
            (
                "RFC 5092 §6.1: a query",
                asked(None, "/box", Some("NEW+SEEN")),
                Ok(Request::Search(b"NEW SEEN".to_vec())),
            ),
            (
                "RFC 5092 §6.1: an encoded query",
                asked(None, "/box", Some("SUBJECT%20x")),
                Ok(Request::Search(b"SUBJECT x".to_vec())),
            ),
            (
                "CVE-2020-8285's like: no line break in a query",
                asked(None, "/box", Some("a%0d%0ab")),
                Err(Code::UrlMalformat),
            ),
            (
                "CURLOPT_CUSTOMREQUEST(3)",
                asked(Some("EXAMINE box"), "/box", None),
                own("EXAMINE", "EXAMINE box"),
            ),
            (
                "CURLOPT_CUSTOMREQUEST(3): goes before a query",
                asked(Some("NOOP"), "/box", Some("x")),
                own("NOOP", "NOOP"),
            ),
            (
                "CURLOPT_CUSTOMREQUEST(3): no line break",
                asked(Some("NOOP%0a"), "/", None),
                Err(Code::UrlMalformat),
            ),
        ];
        for (name, found, wanted) in rows {
            assert_eq!(found, wanted, "{name}");
        }
        let message = asked(None, "/box/;UID=4", None);
        assert!(matches!(message, Ok(Request::Fetch(_))), "RFC 5092 §6.2: a message");
        let without = asked(None, "/;UID=4", None);
        assert!(matches!(without, Ok(Request::List(_))), "RFC 5092 §6.2: a message of no mailbox");
    }

    #[test]
    fn many_messages() {
        let rows = [
            ("RFC 9051 §6.4.5: a range", "FETCH 1:* (FLAGS)", true),
            ("RFC 9051 §6.4.5: a list", "fetch 1,3 BODY[]", true),
            ("RFC 9051 §6.4.9: by UID", "UID FETCH 1:2 BODY[]", true),
            ("RFC 9051 §6.4.5: one message", "FETCH 1 BODY[]", false),
            ("RFC 9051 §6.4.4: no FETCH", "SEARCH 1:2", false),
            ("RFC 9051 §6.4.5: a word that begins alike", "FETCHED 1:2", false),
        ];
        for (name, command, wanted) in rows {
            assert_eq!(fetches_many(command.as_bytes()), wanted, "{name}");
        }
    }

    #[test]
    fn answering_lines() {
        let rows: [(_, &[u8], &[u8], _); 7] = [
            ("RFC 9051 §7.3.1: by its own name", b"LIST", b"LIST () \"/\" x\r\n", true),
            ("RFC 9051 §7: something unasked", b"LIST", b"2 EXISTS\r\n", false),
            ("RFC 9051 §6.3.2: EXAMINE has lines of many kinds", b"EXAMINE", b"2 EXISTS\r\n", true),
            ("RFC 9051 §6.4.6: STORE is answered by FETCH", b"STORE", b"1 FETCH (FLAGS ())\r\n", true),
            ("RFC 9051 §6.4.6: and by nothing else", b"STORE", b"2 EXISTS\r\n", false),
            ("RFC 9051 §6.1.2: NOOP has whatever is new", b"noop", b"2 EXISTS\r\n", true),
            ("RFC 9208 §4.1.3: GETQUOTAROOT has two kinds", b"GETQUOTAROOT", b"QUOTA \"\" ()\r\n", true),
        ];
        for (name, word, line, wanted) in rows {
            assert_eq!(answers(word, Untagged(line)), wanted, "{name}");
        }
    }
}
