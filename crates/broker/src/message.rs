//! The protocol between a process and the broker: encoding and decoding, without sockets.
//!
//! A message is one datagram of a SOCK_SEQPACKET socket. It begins with a head of 22 bytes: "WWB", the kind,
//! the version (2 bytes) and the instance of the broker (16 bytes). Numbers are big-endian, times are
//! milliseconds in 8 bytes, short texts are preceded by their length in one byte. A payload (state, value) is
//! the rest of the message, so that it is sent from its own memory without a copy.

use std::time::Duration;

/// The version of the protocol. A broker and a process of different versions do not talk.
pub const VERSION: u16 = 2;
/// Largest state of a connection. HPACK tables and certificate chains need some 20 KiB.
pub const MAX_STATE: usize = 64 << 10;
/// Largest record.
pub const MAX_RECORD: usize = 16 << 10;
/// Largest message: a head, the fields of a parked connection, and a state.
pub const MAX_MESSAGE: usize = MAX_STATE + 1024;
/// Size of a page of the list of parked connections.
const PAGE: usize = 16 << 10;

const MAGIC: &[u8; 3] = b"WWB";
const HEAD: usize = 22;

/// A MAC that names a connection or a record: a small value, such as the addresses of a host.
pub type Mac = [u8; 32];
/// A number that a broker draws when it starts.
pub type Instance = [u8; 16];
/// The instance in a message of a process that does not know the broker yet.
pub const UNKNOWN: Instance = [0; 16];

/// The first bytes of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Head {
    pub version: u16,
    pub instance: Instance,
    kind: u8,
}

/// The fields of a connection that both directions have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Times {
    pub age: Duration,
    pub idle: Duration,
    pub uses: u32,
}

/// A connection that a process gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Give<'a> {
    pub mac: Mac,
    pub times: Times,
    pub idle_limit: Duration,
    pub scheme: &'a str,
    pub host: &'a str,
    pub port: u16,
    pub state: &'a [u8],
}

/// A message of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Request<'a> {
    Hello,
    /// The message carries the socket. It has no reply.
    Give(Give<'a>),
    Take(Mac),
    /// Stores a record. It has no reply.
    Put {
        mac: Mac,
        time_to_live: Duration,
        value: &'a [u8],
    },
    /// Asks for a record, which stays.
    Get(Mac),
    /// Asks for the list of connections, beginning with that number.
    Status(u32),
    Stop,
}

/// A message of the broker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reply<'a> {
    /// The secret; the head contains the instance.
    Welcome(&'a [u8; 32]),
    /// The message carries the socket.
    Taken {
        times: Times,
        state: &'a [u8],
    },
    Entry {
        left: Duration,
        value: &'a [u8],
    },
    /// There is no such connection or record.
    Nothing,
    Status(Page),
    Stopping,
    /// The key belongs to another instance.
    OtherInstance,
    /// The head alone counts: it has the version of the broker.
    OtherVersion,
}

/// A part of the list of parked connections.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Page {
    pub process: u32,
    pub exit_after: Duration,
    /// Number of records.
    pub names: u32,
    /// Number of parked connections in all.
    pub total: u32,
    pub parked: Vec<Parked>,
}

/// A parked connection in the list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parked {
    pub scheme: String,
    pub host: String,
    pub port: u16,
    pub age: Duration,
    pub idle: Duration,
    pub uses: u32,
}

impl Page {
    /// Adds a connection if the page has room for it.
    pub fn add(&mut self, parked: Parked) -> bool {
        let used: usize = self.parked.iter().map(Parked::size).sum();
        let fits = used + parked.size() <= PAGE;
        if fits {
            self.parked.push(parked);
        }
        fits
    }
}

impl Parked {
    fn size(&self) -> usize {
        self.scheme.len() + self.host.len() + 24
    }
}

/// Writes the fields of a message.
struct Writer(Vec<u8>);

impl Writer {
    fn new(kind: u8, instance: &Instance) -> Writer {
        let mut writer = Writer(Vec::with_capacity(128));
        writer.bytes(MAGIC);
        writer.byte(kind);
        writer.bytes(&VERSION.to_be_bytes());
        writer.bytes(instance);
        writer
    }

    fn byte(&mut self, byte: u8) {
        self.0.push(byte);
    }

    fn bytes(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
    }

    fn number(&mut self, number: u32) {
        self.bytes(&number.to_be_bytes());
    }

    fn time(&mut self, time: Duration) {
        let ms = u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        self.bytes(&ms.to_be_bytes());
    }

    fn text(&mut self, text: &str) {
        let mut cut = text.len().min(255);
        while !text.is_char_boundary(cut) {
            cut -= 1;
        }
        self.byte(cut as u8);
        self.bytes(&text.as_bytes()[..cut]);
    }

    fn times(&mut self, times: &Times) {
        self.time(times.age);
        self.time(times.idle);
        self.number(times.uses);
    }
}

/// Reads fields from the front; `None` where bytes are missing or invalid.
struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn array<const N: usize>(&mut self) -> Option<&'a [u8; N]> {
        let (array, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(array)
    }

    fn byte(&mut self) -> Option<u8> {
        self.array().map(|[byte]| *byte)
    }

    fn short(&mut self) -> Option<u16> {
        self.array().map(|bytes| u16::from_be_bytes(*bytes))
    }

    fn number(&mut self) -> Option<u32> {
        self.array().map(|bytes| u32::from_be_bytes(*bytes))
    }

    fn time(&mut self) -> Option<Duration> {
        self.array().map(|bytes| Duration::from_millis(u64::from_be_bytes(*bytes)))
    }

    fn text(&mut self) -> Option<&'a str> {
        let length = self.byte()?.into();
        let (text, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        std::str::from_utf8(text).ok()
    }

    fn times(&mut self) -> Option<Times> {
        Some(Times { age: self.time()?, idle: self.time()?, uses: self.number()? })
    }

    /// Returns the rest, if it has at most that many bytes.
    fn payload(&mut self, limit: usize) -> Option<&'a [u8]> {
        let payload = std::mem::take(&mut self.0);
        (payload.len() <= limit).then_some(payload)
    }
}

impl Head {
    /// Reads the head of a message of any version.
    pub fn decode(message: &[u8]) -> Option<Head> {
        let mut fields = Reader(message);
        if fields.array()? != MAGIC {
            return None;
        }
        let kind = fields.byte()?;
        Some(Head { kind, version: fields.short()?, instance: *fields.array()? })
    }
}

impl<'a> Request<'a> {
    fn kind(&self) -> u8 {
        match self {
            Request::Hello => b'h',
            Request::Give(_) => b'g',
            Request::Take(_) => b't',
            Request::Put { .. } => b'p',
            Request::Get(_) => b'r',
            Request::Status(_) => b's',
            Request::Stop => b'x',
        }
    }

    /// Returns the message up to the payload.
    pub fn encode(&self, instance: &Instance) -> Vec<u8> {
        let mut fields = Writer::new(self.kind(), instance);
        match self {
            Request::Hello | Request::Stop => {}
            Request::Take(mac) | Request::Get(mac) => fields.bytes(mac),
            Request::Status(from) => fields.number(*from),
            Request::Give(give) => {
                fields.bytes(&give.mac);
                fields.times(&give.times);
                fields.time(give.idle_limit);
                fields.text(give.scheme);
                fields.text(give.host);
                fields.bytes(&give.port.to_be_bytes());
            }
            Request::Put { mac, time_to_live, .. } => {
                fields.bytes(mac);
                fields.time(*time_to_live);
            }
        }
        fields.0
    }

    /// The rest of the message.
    pub fn payload(&self) -> &'a [u8] {
        match self {
            Request::Give(give) => give.state,
            Request::Put { value, .. } => value,
            _ => &[],
        }
    }

    /// Reads a message of this version.
    pub fn decode(message: &'a [u8]) -> Option<Request<'a>> {
        let head = Head::decode(message).filter(|head| head.version == VERSION)?;
        let mut fields = Reader(&message[HEAD..]);
        let request = match head.kind {
            b'h' => Request::Hello,
            b'x' => Request::Stop,
            b't' => Request::Take(*fields.array()?),
            b's' => Request::Status(fields.number()?),
            b'g' => Request::Give(Give {
                mac: *fields.array()?,
                times: fields.times()?,
                idle_limit: fields.time()?,
                scheme: fields.text()?,
                host: fields.text()?,
                port: fields.short()?,
                state: fields.payload(MAX_STATE)?,
            }),
            b'p' => Request::Put {
                mac: *fields.array()?,
                time_to_live: fields.time()?,
                value: fields.payload(MAX_RECORD)?,
            },
            b'r' => Request::Get(*fields.array()?),
            _ => return None,
        };
        fields.0.is_empty().then_some(request)
    }
}

impl<'a> Reply<'a> {
    fn kind(&self) -> u8 {
        match self {
            Reply::Welcome(_) => b'W',
            Reply::Taken { .. } => b'T',
            Reply::Entry { .. } => b'E',
            Reply::Nothing => b'N',
            Reply::Status(_) => b'S',
            Reply::Stopping => b'X',
            Reply::OtherInstance => b'I',
            Reply::OtherVersion => b'V',
        }
    }

    /// Returns the message up to the payload.
    pub fn encode(&self, instance: &Instance) -> Vec<u8> {
        let mut fields = Writer::new(self.kind(), instance);
        match self {
            Reply::Nothing | Reply::Stopping | Reply::OtherInstance | Reply::OtherVersion => {}
            Reply::Welcome(_) => {}
            Reply::Taken { times, .. } => fields.times(times),
            Reply::Entry { left, .. } => fields.time(*left),
            Reply::Status(page) => page.encode(&mut fields),
        }
        fields.0
    }

    /// The rest of the message.
    pub fn payload(&self) -> &'a [u8] {
        match *self {
            Reply::Welcome(secret) => secret,
            Reply::Taken { state, .. } => state,
            Reply::Entry { value, .. } => value,
            _ => &[],
        }
    }

    /// Reads a message of this version.
    pub fn decode(message: &'a [u8]) -> Option<Reply<'a>> {
        let head = Head::decode(message).filter(|head| head.version == VERSION)?;
        let mut fields = Reader(&message[HEAD..]);
        let reply = match head.kind {
            b'W' => Reply::Welcome(fields.array()?),
            b'T' => Reply::Taken { times: fields.times()?, state: fields.payload(MAX_STATE)? },
            b'E' => Reply::Entry { left: fields.time()?, value: fields.payload(MAX_RECORD)? },
            b'N' => Reply::Nothing,
            b'S' => Reply::Status(Page::decode(&mut fields)?),
            b'X' => Reply::Stopping,
            b'I' => Reply::OtherInstance,
            b'V' => Reply::OtherVersion,
            _ => return None,
        };
        fields.0.is_empty().then_some(reply)
    }
}

impl Page {
    fn encode(&self, fields: &mut Writer) {
        fields.number(self.process);
        fields.time(self.exit_after);
        fields.number(self.names);
        fields.number(self.total);
        for parked in &self.parked {
            fields.text(&parked.scheme);
            fields.text(&parked.host);
            fields.bytes(&parked.port.to_be_bytes());
            fields.times(&Times { age: parked.age, idle: parked.idle, uses: parked.uses });
        }
    }

    fn decode(fields: &mut Reader<'_>) -> Option<Page> {
        let mut page = Page {
            process: fields.number()?,
            exit_after: fields.time()?,
            names: fields.number()?,
            total: fields.number()?,
            parked: Vec::new(),
        };
        while !fields.0.is_empty() {
            let (scheme, host) = (fields.text()?.to_owned(), fields.text()?.to_owned());
            let port = fields.short()?;
            let Times { age, idle, uses } = fields.times()?;
            page.parked.push(Parked { scheme, host, port, age, idle, uses });
        }
        Some(page)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const INSTANCE: Instance = [7; 16];
    const TIMES: Times =
        Times { age: Duration::from_millis(90_000), idle: Duration::from_millis(1_500), uses: 3 };

    fn requests() -> Vec<Request<'static>> {
        let give = Give {
            mac: [1; 32],
            times: TIMES,
            idle_limit: Duration::from_secs(118),
            scheme: "https",
            host: "example.org",
            port: 443,
            state: b"state",
        };
        let time_to_live = Duration::from_secs(60);
        vec![
            Request::Hello,
            Request::Give(give),
            Request::Give(Give { scheme: "", host: "", state: b"", ..give }),
            Request::Take([2; 32]),
            Request::Put { mac: [3; 32], time_to_live, value: b"127.0.0.1" },
            Request::Put { mac: [3; 32], time_to_live, value: b"" },
            Request::Get([4; 32]),
            Request::Status(17),
            Request::Stop,
        ]
    }

    fn replies() -> Vec<Reply<'static>> {
        let Times { age, idle, uses } = TIMES;
        let parked = Parked { scheme: "ftp".into(), host: "h".into(), port: 21, age, idle, uses };
        let exit_after = Duration::from_secs(120);
        let page =
            Page { process: 4711, exit_after, names: 1, total: 2, parked: vec![parked.clone(), parked] };
        vec![
            Reply::Welcome(&[9; 32]),
            Reply::Taken { times: TIMES, state: b"state" },
            Reply::Entry { left: Duration::from_secs(5), value: b"value" },
            Reply::Nothing,
            Reply::Status(page),
            Reply::Status(Page::default()),
            Reply::Stopping,
            Reply::OtherInstance,
            Reply::OtherVersion,
        ]
    }

    fn whole(head: Vec<u8>, payload: &[u8]) -> Vec<u8> {
        [&head, payload].concat()
    }

    #[test]
    fn requests_arrive_as_they_were_sent() {
        for request in requests() {
            let message = whole(request.encode(&INSTANCE), request.payload());
            assert_eq!(Request::decode(&message), Some(request));
            assert_eq!(Head::decode(&message).unwrap().instance, INSTANCE);
            assert_eq!(Reply::decode(&message), None, "{request:?}");
        }
    }

    #[test]
    fn replies_arrive_as_they_were_sent() {
        for reply in replies() {
            let message = whole(reply.encode(&INSTANCE), reply.payload());
            assert_eq!(Reply::decode(&message), Some(reply));
            assert_eq!(Head::decode(&message).unwrap().instance, INSTANCE);
        }
    }

    /// A message without a payload ends where its fields end.
    #[test]
    fn cut_and_longer_messages_are_refused() {
        for request in requests() {
            let head = request.encode(&INSTANCE);
            for length in 0..head.len() {
                assert_eq!(Request::decode(&head[..length]), None, "{request:?} {length}");
            }
            if !matches!(request, Request::Give(_) | Request::Put { .. }) {
                assert_eq!(Request::decode(&whole(head, b"x")), None, "{request:?}");
            }
        }
    }

    #[test]
    fn limits_of_payloads() {
        let give = |state| Request::Give(Give { state, ..give() }).encode(&INSTANCE);
        let (fits, exceeds) = (vec![0; MAX_STATE], vec![0; MAX_STATE + 1]);
        let message = whole(give(&[]), &fits);
        assert!(Request::decode(&message).is_some());
        assert!(message.len() <= MAX_MESSAGE);
        assert_eq!(Request::decode(&whole(give(&[]), &exceeds)), None);
        let put = Request::Put { mac: [0; 32], time_to_live: Duration::ZERO, value: b"" };
        assert_eq!(Request::decode(&whole(put.encode(&INSTANCE), &vec![0; MAX_RECORD + 1])), None);
    }

    fn give() -> Give<'static> {
        match requests()[1] {
            Request::Give(give) => give,
            _ => unreachable!("the second one is a connection"),
        }
    }

    #[test]
    fn long_hosts_are_cut_between_characters() {
        let host = "ä".repeat(200);
        let message = Request::Give(Give { host: &host, ..give() }).encode(&INSTANCE);
        let Some(Request::Give(read)) = Request::decode(&message) else { panic!("it can be read") };
        assert_eq!(read.host, "ä".repeat(127));
    }

    #[test]
    fn other_versions_are_recognised_and_not_read() {
        let mut message = Request::Hello.encode(&INSTANCE);
        message[4..6].copy_from_slice(&(VERSION + 1).to_be_bytes());
        assert_eq!(Head::decode(&message).unwrap().version, VERSION + 1);
        assert_eq!(Request::decode(&message), None);
        message[0] = b'X';
        assert_eq!(Head::decode(&message), None);
    }

    #[test]
    fn a_page_of_the_list_fits_into_a_message() {
        let mut page = Page::default();
        let parked = Parked {
            scheme: "https".into(),
            host: "h".repeat(255),
            port: 443,
            age: Duration::MAX,
            idle: Duration::MAX,
            uses: u32::MAX,
        };
        while page.add(parked.clone()) {}
        assert!(page.parked.len() > 50);
        assert!(Reply::Status(page).encode(&INSTANCE).len() <= MAX_MESSAGE);
    }
}
