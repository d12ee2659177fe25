//! TELNET (RFC 854): separates data and commands of a server, and answers commands: options by the states of
//! RFC 1143 (a client that never withdraws an option needs three of them), and subnegotiations: terminal type
//! (RFC 1091), X display (RFC 1096), environment (RFC 1572) and window size (RFC 1073).

pub const IAC: u8 = 255;
const DONT: u8 = 254;
const DO: u8 = 253;
const WONT: u8 = 252;
const WILL: u8 = 251;
const SB: u8 = 250;
const SE: u8 = 240;

const BINARY: u8 = 0;
const ECHO: u8 = 1;
const SUPPRESS_GO_AHEAD: u8 = 3;
const TERMINAL_TYPE: u8 = 24;
const NAWS: u8 = 31;
const DISPLAY_LOCATION: u8 = 35;
const NEW_ENVIRON: u8 = 39;
/// The options that a client of these may open with, in the order of their numbers.
const KNOWN: [u8; 6] = [BINARY, SUPPRESS_GO_AHEAD, TERMINAL_TYPE, NAWS, DISPLAY_LOCATION, NEW_ENVIRON];

const IS: u8 = 0;
const SEND: u8 = 1;
const VARIABLE: u8 = 0;
const VALUE: u8 = 1;
const ESCAPE: u8 = 2;

/// A terminal's or a display's name is no longer than this.
const NAME_LIMIT: usize = 1000;
/// Variables that would make the environment longer than this are omitted.
const ENVIRONMENT_LIMIT: usize = 2042;

/// The application's options (CURLOPT_TELNETOPTIONS(3)).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TelnetOptions {
    terminal: Option<Vec<u8>>,
    display: Option<Vec<u8>>,
    /// `NAME,VALUE` or `NAME` each.
    variables: Vec<Vec<u8>>,
    /// Columns and rows.
    size: Option<(u16, u16)>,
    /// Eight bits in both directions (RFC 856).
    binary: bool,
}

impl Default for TelnetOptions {
    fn default() -> TelnetOptions {
        TelnetOptions { terminal: None, display: None, variables: Vec::new(), size: None, binary: true }
    }
}

/// Why a wish is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BadWish {
    Unknown,
    Syntax,
}

impl TelnetOptions {
    /// Adds one of `TTYPE=name`, `XDISPLOC=display`, `NEW_ENV=name,value`, `WS=80x24` and `BINARY=0`, the
    /// name in any case. A value outside ASCII is passed over.
    pub fn add(&mut self, wish: &[u8]) -> Result<(), BadWish> {
        let at = wish.iter().position(|byte| *byte == b'=').ok_or(BadWish::Syntax)?;
        let (name, value) = (&wish[..at], &wish[at + 1..]);
        if !value.is_ascii() {
            return Ok(());
        }
        match &name.to_ascii_uppercase()[..] {
            b"TTYPE" => self.terminal = Some(value.to_vec()),
            b"XDISPLOC" => self.display = Some(value.to_vec()),
            b"NEW_ENV" => self.variables.push(value.to_vec()),
            b"WS" => self.size = Some(window(value).ok_or(BadWish::Syntax)?),
            b"BINARY" => self.binary &= number(value).is_none_or(|(number, _)| number != 0),
            _ => return Err(BadWish::Unknown),
        }
        Ok(())
    }

    /// The user's name as the variable USER; only ASCII.
    pub fn user(&mut self, name: &[u8]) {
        self.variables.push([b"USER,", name].concat());
    }

    fn ours(&self, option: u8) -> bool {
        match option {
            BINARY => self.binary,
            SUPPRESS_GO_AHEAD => true,
            TERMINAL_TYPE => self.terminal.is_some(),
            DISPLAY_LOCATION => self.display.is_some(),
            NEW_ENVIRON => !self.variables.is_empty(),
            NAWS => self.size.is_some(),
            _ => false,
        }
    }

    /// Returns whether the server may enable an option.
    fn theirs(&self, option: u8) -> bool {
        match option {
            BINARY => self.binary,
            SUPPRESS_GO_AHEAD | ECHO => true,
            _ => false,
        }
    }
}

/// Columns and rows of `80x24`.
fn window(text: &[u8]) -> Option<(u16, u16)> {
    let (columns, rest) = number(text)?;
    let (rows, _) = number(rest.strip_prefix(b"x")?)?;
    Some((columns, rows))
}

/// Parses a decimal number; returns it and the rest.
fn number(text: &[u8]) -> Option<(u16, &[u8])> {
    let digits = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let value = std::str::from_utf8(&text[..digits]).ok()?.parse().ok()?;
    Some((value, &text[digits..]))
}

/// Doubles octets that would begin a command.
pub fn escape(data: &[u8], out: &mut Vec<u8>) {
    for &byte in data {
        out.push(byte);
        if byte == IAC {
            out.push(IAC);
        }
    }
}

/// Why a conversation can't go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TelnetError {
    /// A subnegotiation with a command in it.
    Subnegotiation,
    /// The server requests what was not offered.
    NotOffered,
    /// The name of a terminal or display is too long.
    TooLong,
}

/// The state of an option on one side.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Agreed {
    No,
    Asked,
    Yes,
}

#[derive(Clone, Copy)]
enum At {
    Data,
    AfterCr,
    Command,
    /// WILL, WONT, DO or DONT.
    Option(u8),
    Sub,
    SubCommand,
}

/// The client's side of a connection.
pub struct Session {
    wishes: TelnetOptions,
    at: At,
    ours: [Agreed; 256],
    theirs: [Agreed; 256],
    /// Option and first byte of a subnegotiation: no more of it matters.
    sub: [Option<u8>; 2],
    /// Whether the server has negotiated options. Until then no option is sent: it may not be a TELNET
    /// server.
    asked: bool,
    opened: bool,
    answers: Vec<u8>,
}

impl Session {
    pub fn new(wishes: TelnetOptions) -> Session {
        let none = [Agreed::No; 256];
        Session {
            wishes,
            at: At::Data,
            ours: none,
            theirs: none,
            sub: [None; 2],
            asked: false,
            opened: false,
            answers: Vec::new(),
        }
    }

    /// Removes the commands from received bytes, and returns how many bytes of data are at the front. Replies
    /// to commands are in [`Session::answers`].
    pub fn receive(&mut self, bytes: &mut [u8]) -> Result<usize, TelnetError> {
        let mut data = 0;
        for at in 0..bytes.len() {
            if let Some(byte) = self.step(bytes[at])? {
                bytes[data] = byte;
                data += 1;
            }
        }
        if self.asked && !self.opened {
            self.opened = true;
            self.open();
        }
        Ok(data)
    }

    /// Returns the pending output; the caller empties it.
    pub fn answers(&mut self) -> &mut Vec<u8> {
        &mut self.answers
    }

    fn step(&mut self, byte: u8) -> Result<Option<u8>, TelnetError> {
        let (next, data) = match (self.at, byte) {
            (At::Data | At::AfterCr, IAC) => (At::Command, None),
            (At::AfterCr, 0) => (At::Data, None),
            (At::Data | At::AfterCr, b'\r') => (At::AfterCr, Some(b'\r')),
            (At::Data | At::AfterCr, _) => (At::Data, Some(byte)),
            (At::Command, IAC) => (At::Data, Some(IAC)),
            (At::Command, WILL..=DONT) => (At::Option(byte), None),
            (At::Command, SB) => {
                self.sub = [None; 2];
                (At::Sub, None)
            }
            (At::Command, _) => (At::Data, None),
            (At::Option(verb), option) => {
                self.asked = true;
                self.option(verb, option);
                (At::Data, None)
            }
            (At::Sub, IAC) => (At::SubCommand, None),
            (At::Sub, _) | (At::SubCommand, IAC) => {
                if let Some(free) = self.sub.iter_mut().find(|byte| byte.is_none()) {
                    *free = Some(byte);
                }
                (At::Sub, None)
            }
            (At::SubCommand, SE) => {
                self.subnegotiation()?;
                (At::Data, None)
            }
            (At::SubCommand, _) => return Err(TelnetError::Subnegotiation),
        };
        self.at = next;
        Ok(data)
    }

    /// Requests the wanted options. Requesting the server's echo could make it disconnect.
    fn open(&mut self) {
        for option in KNOWN {
            let at = usize::from(option);
            if self.wishes.ours(option) && self.ours[at] == Agreed::No {
                self.ours[at] = Agreed::Asked;
                self.answer(WILL, option);
            }
            if self.wishes.theirs(option) && self.theirs[at] == Agreed::No {
                self.theirs[at] = Agreed::Asked;
                self.answer(DO, option);
            }
        }
    }

    fn answer(&mut self, verb: u8, option: u8) {
        self.answers.extend_from_slice(&[IAC, verb, option]);
    }

    fn option(&mut self, verb: u8, option: u8) {
        match verb {
            WILL | WONT => self.they(verb == WILL, option),
            _ => self.we(verb == DO, option),
        }
    }

    /// The server does something, or doesn't.
    fn they(&mut self, will: bool, option: u8) {
        let at = usize::from(option);
        let (next, answer) = match (self.theirs[at], will) {
            (Agreed::No, true) if self.wishes.theirs(option) => (Agreed::Yes, Some(DO)),
            (Agreed::No, true) => (Agreed::No, Some(DONT)),
            (Agreed::Asked | Agreed::Yes, true) => (Agreed::Yes, None),
            (Agreed::Yes, false) => (Agreed::No, Some(DONT)),
            (Agreed::No | Agreed::Asked, false) => (Agreed::No, None),
        };
        self.theirs[at] = next;
        if let Some(verb) = answer {
            self.answer(verb, option);
        }
    }

    /// Handles a request to enable or disable an option on our side. A window of unknown size is never sent.
    fn we(&mut self, shall: bool, option: u8) {
        let at = usize::from(option);
        let before = self.ours[at];
        let (next, answer) = match (before, shall) {
            (Agreed::No, true) if self.wishes.ours(option) || option == NAWS => (Agreed::Yes, Some(WILL)),
            (Agreed::No, true) => (Agreed::No, Some(WONT)),
            (Agreed::Asked | Agreed::Yes, true) => (Agreed::Yes, None),
            (Agreed::Yes, false) => (Agreed::No, Some(WONT)),
            (Agreed::No | Agreed::Asked, false) => (Agreed::No, None),
        };
        self.ours[at] = next;
        if let Some(verb) = answer {
            self.answer(verb, option);
        }
        if option == NAWS && before != Agreed::Yes && next == Agreed::Yes {
            let (columns, rows) = self.wishes.size.unwrap_or((0, 0));
            self.subnegotiate(NAWS, &[columns.to_be_bytes(), rows.to_be_bytes()].concat());
        }
    }

    /// Queues a subnegotiation: the value of an option (RFC 855).
    fn subnegotiate(&mut self, option: u8, value: &[u8]) {
        self.answers.extend_from_slice(&[IAC, SB, option]);
        escape(value, &mut self.answers);
        self.answers.extend_from_slice(&[IAC, SE]);
    }

    fn subnegotiation(&mut self) -> Result<(), TelnetError> {
        let [Some(option), Some(SEND)] = self.sub else { return Ok(()) };
        let value = match option {
            TERMINAL_TYPE => name(self.wishes.terminal.as_deref())?.to_vec(),
            DISPLAY_LOCATION => name(self.wishes.display.as_deref())?.to_vec(),
            NEW_ENVIRON => self.environment(),
            _ => return Ok(()),
        };
        self.subnegotiate(option, &[&[IS][..], &value].concat());
        Ok(())
    }

    fn environment(&self) -> Vec<u8> {
        let mut all = Vec::new();
        for variable in self.wishes.variables.iter() {
            if all.len() + variable.len() + 1 >= ENVIRONMENT_LIMIT {
                continue;
            }
            let mut parts = variable.splitn(2, |byte| *byte == b',');
            for (mark, part) in [VARIABLE, VALUE].into_iter().zip(&mut parts) {
                all.push(mark);
                for &byte in part {
                    if byte <= 3 {
                        all.push(ESCAPE);
                    }
                    all.push(byte);
                }
            }
        }
        all
    }
}

fn name(wish: Option<&[u8]>) -> Result<&[u8], TelnetError> {
    let name = wish.ok_or(TelnetError::NotOffered)?;
    if name.len() > NAME_LIMIT { Err(TelnetError::TooLong) } else { Ok(name) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wishes(all: &[&str]) -> TelnetOptions {
        let mut wishes = TelnetOptions::default();
        for wish in all {
            wishes.add(wish.as_bytes()).unwrap();
        }
        wishes
    }

    /// Receives bytes; returns the data and the answers.
    fn exchange(session: &mut Session, bytes: &[u8]) -> (Vec<u8>, Vec<u8>) {
        let mut bytes = bytes.to_vec();
        let n = session.receive(&mut bytes).unwrap();
        (bytes[..n].to_vec(), std::mem::take(session.answers()))
    }

    /// A session whose initial requests have been sent.
    fn opened(all: &[&str]) -> Session {
        let mut session = Session::new(wishes(all));
        exchange(&mut session, &[IAC, WONT, ECHO]);
        session
    }

    #[test]
    fn data_in_pieces_of_any_size() {
        let bytes = b"a\xff\xffb\xff\xf1c\r\0d\r\ne\xff\xfa\x18\xff\xff\xff\xf0f\r\xff\xff";
        for size in 1..bytes.len() {
            let mut session = Session::new(TelnetOptions::default());
            let pieces: Vec<_> = bytes.chunks(size).map(|piece| exchange(&mut session, piece)).collect();
            let data: Vec<u8> = pieces.iter().flat_map(|(data, _)| data.clone()).collect();
            assert_eq!(data, b"a\xffbc\rd\r\nef\r\xff", "{size}");
            assert!(pieces.iter().all(|(_, answers)| answers.is_empty()), "it may be no TELNET server");
        }
        let mut out = Vec::new();
        escape(b"a\xffb", &mut out);
        assert_eq!(out, b"a\xff\xffb");
    }

    #[test]
    fn wishes_are_said_once_when_the_server_has_begun() {
        let mut session = Session::new(wishes(&["WS=80x24", "ttype=vt100", "XDISPLOC=:0", "NEW_ENV=A,b"]));
        let wanted = [
            &[IAC, DONT, 99][..],
            &[IAC, WILL, 0, IAC, DO, 0, IAC, WILL, 3, IAC, DO, 3, IAC, WILL, 24],
            &[IAC, WILL, 31, IAC, WILL, 35, IAC, WILL, 39],
        ];
        assert_eq!(exchange(&mut session, &[IAC, WILL, 99]).1, wanted.concat());
        assert_eq!(
            exchange(&mut session, &[IAC, DO, 24, IAC, DO, 35, IAC, WILL, 3]).1,
            b"",
            "agreed already"
        );
        let window_size = [IAC, SB, NAWS, 0, 80, 0, 24, IAC, SE];
        assert_eq!(exchange(&mut session, &[IAC, DO, NAWS, IAC, DO, NAWS]).1, window_size);
        let plain = exchange(&mut Session::new(wishes(&["BINARY=0"])), &[IAC, WONT, 99]).1;
        assert_eq!(plain, [IAC, WILL, 3, IAC, DO, 3]);
    }

    #[test]
    fn unwanted_options_are_refused_once() {
        let mut session = opened(&[]);
        let asked = [IAC, DO, 24, IAC, DO, 39, IAC, WILL, 31, IAC, WILL, ECHO, IAC, DO, ECHO, IAC, DO, 255];
        let answer =
            [IAC, WONT, 24, IAC, WONT, 39, IAC, DONT, 31, IAC, DO, ECHO, IAC, WONT, ECHO, IAC, WONT, 255];
        assert_eq!(exchange(&mut session, &asked).1, answer);
        let taken_back = [IAC, WONT, ECHO, IAC, WONT, ECHO, IAC, DO, 3, IAC, DONT, 3, IAC, DONT, 3];
        assert_eq!(exchange(&mut session, &taken_back).1, [IAC, DONT, ECHO, IAC, WONT, 3], "each once");
        let unknown = [IAC, WILL, NAWS, IAC, SB, NAWS, 0, 0, 0, 0, IAC, SE];
        assert_eq!(exchange(&mut session, &[IAC, DO, NAWS]).1, unknown);
    }

    /// CVE-2023-27533: the value of an option cannot start a command.
    #[test]
    fn subnegotiations_send_the_configured_values() {
        let mut session =
            opened(&["TTYPE=vt100", "XDISPLOC=h:0", "NEW_ENV=A,b,c", "NEW_ENV=ALONE", "WS=255x65535"]);
        let ask = |option| [IAC, SB, option, SEND, IAC, SE];
        assert_eq!(exchange(&mut session, &ask(24)).1, b"\xff\xfa\x18\0vt100\xff\xf0");
        assert_eq!(exchange(&mut session, &ask(35)).1, b"\xff\xfa\x23\0h:0\xff\xf0");
        assert_eq!(exchange(&mut session, &ask(39)).1, b"\xff\xfa\x27\0\0A\x01b,c\0ALONE\xff\xf0");
        assert_eq!(exchange(&mut session, &ask(99)).1, b"");
        let size = b"\xff\xfa\x1f\0\xff\xff\xff\xff\xff\xff\xff\xf0";
        assert_eq!(exchange(&mut session, &[IAC, DO, NAWS]).1, size, "IAC doubled");
        let mut foreign = TelnetOptions::default();
        for wish in [&b"TTYPE=a\xff\xf0"[..], b"XDISPLOC=\xff\xf0", b"NEW_ENV=A,\xff\xf0"] {
            foreign.add(wish).unwrap();
        }
        foreign.user(b"a\xff\xf0\x01b");
        let mut foreign = Session::new(foreign);
        exchange(&mut foreign, &[IAC, WONT, ECHO]);
        assert_eq!(
            exchange(&mut foreign, &ask(39)).1,
            b"\xff\xfa\x27\0\0USER\x01a\xff\xff\xf0\x02\x01b\xff\xf0"
        );
        assert_eq!(foreign.receive(&mut ask(24)), Err(TelnetError::NotOffered));
        assert_eq!(foreign.receive(&mut ask(35)), Err(TelnetError::NotOffered));
        let long = format!("TTYPE={}", "x".repeat(1001));
        let receive = |wishes: &[&str], bytes: &[u8]| opened(wishes).receive(&mut bytes.to_vec());
        assert_eq!(receive(&[&long], &ask(24)), Err(TelnetError::TooLong));
        assert_eq!(receive(&[], &ask(24)), Err(TelnetError::NotOffered));
        assert_eq!(receive(&[], &[IAC, SB, 24, IAC, WILL]), Err(TelnetError::Subnegotiation));
        let many: Vec<String> = (0..100).map(|n| format!("NEW_ENV=V{n},{}", "x".repeat(100))).collect();
        let many: Vec<&str> = many.iter().map(|wish| &wish[..]).collect();
        assert!(exchange(&mut opened(&many), &ask(39)).1.len() < 2060);
    }

    #[test]
    fn wishes_as_text() {
        let add = |wish: &str| TelnetOptions::default().add(wish.as_bytes());
        for good in
            ["TTYPE=", "xdisploc=x", "New_Env=a", "WS=1x2", "WS=80x24 or so", "BINARY=", "BINARY=7", "é=é"]
        {
            assert_eq!(add(good), Ok(()), "{good}");
        }
        for unknown in ["TTTYPE=vt100", "=", "TERM=x", "B=0"] {
            assert_eq!(add(unknown), Err(BadWish::Unknown), "{unknown}");
        }
        for wrong in ["", "TTYPE", "WS=", "WS=80", "WS=80x", "WS=x24", "WS=65536x1", "WS=-1x1", "WS=80X24"] {
            assert_eq!(add(wrong), Err(BadWish::Syntax), "{wrong}");
        }
        assert!(!wishes(&["BINARY=0", "BINARY=1"]).binary && wishes(&["BINARY=1"]).binary);
        let mut with_user = TelnetOptions::default();
        with_user.user(b"me");
        assert_eq!(with_user.variables, [b"USER,me"]);
    }
}
