//! The client. It connects anew for each call and keeps no descriptor: an application may close descriptors
//! that it does not know, or fork.

use std::io;
use std::os::fd::BorrowedFd;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::process::geteuid;
use zeroize::{Zeroize, Zeroizing};

use super::folder::{Folder, Missing, Refused};
use super::link::{Link, Received};
use super::start;
use crate::message::{
    Give, Head, Instance, MAX_MESSAGE, MAX_RECORD, MAX_STATE, Page, Reply, Request, UNKNOWN, VERSION,
};
use crate::{Entry, Key, Parcel, Secret, Status, Taken, Unavailable};

/// How long a call waits for the broker.
const PATIENCE: Duration = Duration::from_millis(5);
/// How long a person waits who asks for the state of the broker.
const PATIENCE_OF_USER: Duration = Duration::from_secs(2);
/// How long a slow broker is left alone.
const PAUSE_OF_SLOW: Duration = Duration::from_secs(1);
/// Time between two attempts to start a broker.
const PAUSE_OF_STARTS: Duration = Duration::from_secs(10);
/// Pause before another attempt to enter the listener's queue.
const FULL_QUEUE: Duration = Duration::from_micros(200);
/// No user has this number.
const NOBODY: u32 = u32::MAX;
/// Replies without a state or a list fit.
const SHORT: usize = MAX_RECORD + 256;

/// Replies are received here. Its pages exist when a reply reaches them; a buffer on the heap would be zeroed
/// as a whole for each call.
static BUFFER: Mutex<[u8; MAX_MESSAGE]> = Mutex::new([0; MAX_MESSAGE]);

/// Client of the broker of this user.
#[derive(Debug)]
pub struct Client {
    /// The secret of the broker that answered last. The lock is only tried: after a fork, the thread that
    /// holds it may not exist.
    welcome: Mutex<Option<Welcome>>,
    /// The user at the first call.
    user: AtomicU32,
    /// When a slow broker is asked again, and when a missing one is started again.
    pauses: Mutex<Pauses>,
    /// The folder, if not that of the user.
    folder: Option<PathBuf>,
    patience: Duration,
}

/// The broker's answer to a process that did not know it.
#[derive(Debug)]
pub struct Greeting {
    pub secret: Secret,
    link: Option<Link>,
}

#[derive(Debug, Default)]
struct Pauses {
    slow: Option<Instant>,
    start: Option<Instant>,
}

#[derive(Debug)]
struct Welcome {
    secret: Zeroizing<[u8; 32]>,
    instance: Instance,
    /// The place of its socket: later calls need not search for the folder.
    folder: PathBuf,
}

impl Default for Client {
    fn default() -> Client {
        Client::new()
    }
}

impl Client {
    /// Returns a client, without a system call.
    pub fn new() -> Client {
        Client {
            welcome: Mutex::new(None),
            user: AtomicU32::new(NOBODY),
            pauses: Mutex::default(),
            folder: None,
            patience: PATIENCE,
        }
    }

    /// Returns a client of the broker in that folder, which waits that long instead of 5 ms and starts none.
    pub fn at(folder: &Path, patience: Duration) -> Client {
        Client { folder: Some(folder.to_owned()), patience, ..Client::new() }
    }

    /// Returns the broker's secret. Starts a broker in the background if none listens.
    pub fn secret(&self) -> Result<Secret, Unavailable> {
        self.greet().map(|greeting| greeting.secret)
    }

    /// Returns the broker's secret, and the connection to the broker if one was made for it.
    pub fn greet(&self) -> Result<Greeting, Unavailable> {
        let user = self.user()?;
        if let Some(secret) = self.known(user) {
            return Ok(Greeting { secret, link: None });
        }
        let until = self.deadline()?;
        let (link, folder) = self.find(user, until).inspect_err(|error| {
            if *error == Unavailable::NotRunning {
                self.start(user);
            }
        })?;
        let mut buffer = Zeroizing::new([0; 256]);
        let received = self.exchange(&link, &Request::Hello, &UNKNOWN, &mut buffer[..], until)?;
        let message = &buffer[..received.bytes];
        let (head, reply) = read(message)?;
        let Reply::Welcome(secret) = reply else { return Err(unexpected()) };
        if let Ok(mut welcome) = self.welcome.try_lock() {
            *welcome = Some(Welcome { secret: Zeroizing::new(*secret), instance: head.instance, folder });
            self.user.store(user, Ordering::Relaxed);
        }
        let secret = Secret::new(*secret, head.instance, user);
        Ok(Greeting { secret, link: Some(link) })
    }

    /// Removes the newest connection of a key from the broker.
    pub fn take(&self, key: &Key) -> Result<Option<Taken>, Unavailable> {
        with_buffer(MAX_MESSAGE, |buffer| self.take_by(buffer, key, None))
    }

    /// Removes the newest connection of a key that was made from the greeting's secret. The first call of a
    /// process asks on the connection of the greeting: another one would cost seven system calls here and
    /// three in the broker.
    pub fn take_greeted(&self, greeting: Greeting, key: &Key) -> Result<Option<Taken>, Unavailable> {
        with_buffer(MAX_MESSAGE, |buffer| self.take_by(buffer, key, greeting.link))
    }

    fn take_by(
        &self,
        buffer: &mut [u8],
        key: &Key,
        link: Option<Link>,
    ) -> Result<Option<Taken>, Unavailable> {
        let until = self.deadline()?;
        let link = link.map_or_else(|| self.connect_for(key, until), Ok)?;
        let received = self.exchange(&link, &Request::Take(key.mac), &key.instance, buffer, until)?;
        let taken = match (self.read_for(key, &buffer[..received.bytes]), received.descriptor) {
            (Ok(Reply::Taken { times, state }), Some(socket)) => {
                let state = Zeroizing::new(state.to_vec());
                Ok(Some(Taken { state, socket, age: times.age, idle: times.idle, uses: times.uses }))
            }
            (Ok(Reply::Nothing), None) => Ok(None),
            (Ok(_), _) => Err(unexpected()),
            (Err(error), _) => Err(error),
        };
        buffer[..received.bytes].zeroize();
        taken
    }

    /// Sends a connection to the broker. After `Ok` the message is on its way: the caller closes its
    /// descriptor and wipes its keys. After `Err` nothing was sent.
    pub fn give(&self, key: &Key, parcel: &Parcel<'_>, until: Instant) -> Result<(), Unavailable> {
        if parcel.state.len() > MAX_STATE {
            return Err(Unavailable::TooLarge);
        }
        let request = Request::Give(Give {
            mac: key.mac,
            times: crate::message::Times { age: parcel.age, idle: parcel.idle, uses: parcel.uses },
            idle_limit: parcel.idle_limit,
            scheme: parcel.label.scheme,
            host: parcel.label.host,
            port: parcel.label.port,
            state: parcel.state,
        });
        self.post(key, &request, Some(parcel.socket), until)
    }

    /// Stores a record in the broker.
    pub fn put(
        &self,
        key: &Key,
        time_to_live: Duration,
        value: &[u8],
        until: Instant,
    ) -> Result<(), Unavailable> {
        if value.len() > MAX_RECORD {
            return Err(Unavailable::TooLarge);
        }
        let request = Request::Put { mac: key.mac, time_to_live, value };
        self.post(key, &request, None, until)
    }

    /// Returns the record of a key, which stays in the broker.
    pub fn get(&self, key: &Key) -> Result<Option<Entry>, Unavailable> {
        with_buffer(SHORT, |buffer| self.get_by(buffer, key))
    }

    fn get_by(&self, buffer: &mut [u8], key: &Key) -> Result<Option<Entry>, Unavailable> {
        let until = self.deadline()?;
        let link = self.connect_for(key, until)?;
        let received = self.exchange(&link, &Request::Get(key.mac), &key.instance, buffer, until)?;
        let entry = match self.read_for(key, &buffer[..received.bytes]) {
            Ok(Reply::Entry { left, value }) => {
                Ok(Some(Entry { value: Zeroizing::new(value.to_vec()), left }))
            }
            Ok(Reply::Nothing) => Ok(None),
            Ok(_) => Err(unexpected()),
            Err(error) => Err(error),
        };
        buffer[..received.bytes].zeroize();
        entry
    }

    /// Returns the state of the broker.
    pub fn status(&self) -> Result<Status, Unavailable> {
        let user = self.user()?;
        let until = Instant::now() + PATIENCE_OF_USER;
        let (link, _) = self.find(user, until)?;
        let mut parked = Vec::new();
        loop {
            let page = page(&link, parked.len(), until)?;
            let is_last = page.parked.is_empty() || parked.len() + page.parked.len() >= page.total as usize;
            parked.extend(page.parked);
            if is_last {
                let Page { process, exit_after, names, .. } = page;
                return Ok(Status { process, exit_after, names, parked });
            }
        }
    }

    /// Ends the broker; its connections are closed.
    pub fn stop(&self) -> Result<(), Unavailable> {
        let user = self.user()?;
        let until = Instant::now() + PATIENCE_OF_USER;
        let (link, _) = self.find(user, until)?;
        let mut buffer = [0; 256];
        let received = exchange(&link, &Request::Stop, &UNKNOWN, &mut buffer, until)?;
        match read(&buffer[..received.bytes])?.1 {
            Reply::Stopping => Ok(()),
            _ => Err(unexpected()),
        }
    }

    /// Returns the user, if the process has not changed it, and has no privileges beyond it.
    fn user(&self) -> Result<u32, Unavailable> {
        let user = geteuid().as_raw();
        match self.user.load(Ordering::Relaxed) {
            NOBODY if start::is_privileged() => Err(Unavailable::Privileges),
            first if first == NOBODY || first == user => Ok(user),
            _ => Err(Unavailable::Privileges),
        }
    }

    /// Returns the instant at which a call gives up. A broker that was slow is left alone for a while, since
    /// each call would cost the time limit again.
    fn deadline(&self) -> Result<Instant, Unavailable> {
        let now = Instant::now();
        let rests = self.pauses.try_lock().is_ok_and(|pauses| pauses.slow.is_some_and(|end| now < end));
        if rests { Err(Unavailable::Slow) } else { Ok(now + self.patience) }
    }

    /// Starts a broker, at most once in a while.
    fn start(&self, user: u32) {
        let now = Instant::now();
        let Ok(mut pauses) = self.pauses.try_lock() else { return };
        if self.folder.is_some() || pauses.start.is_some_and(|end| now < end) {
            return;
        }
        pauses.start = Some(now + PAUSE_OF_STARTS);
        start::start(user);
    }

    /// Sends a request and receives its reply.
    fn exchange(
        &self,
        link: &Link,
        request: &Request<'_>,
        instance: &Instance,
        buffer: &mut [u8],
        until: Instant,
    ) -> Result<Received, Unavailable> {
        exchange(link, request, instance, buffer, until).inspect_err(|error| {
            if *error == Unavailable::Slow
                && let Ok(mut pauses) = self.pauses.try_lock()
            {
                pauses.slow = Some(Instant::now() + PAUSE_OF_SLOW);
            }
        })
    }

    /// Searches for a broker of this user. Returns a connection to it and the path of its folder.
    fn find(&self, user: u32, until: Instant) -> Result<(Link, PathBuf), Unavailable> {
        let folder = match &self.folder {
            Some(path) => Folder::open(path, Missing::Fail, user)?,
            None => Folder::find(Missing::Fail, user)?,
        };
        Ok((connect(&folder, user, until)?, folder.path().to_owned()))
    }

    fn known(&self, user: u32) -> Option<Secret> {
        let welcome = self.welcome.try_lock().ok()?;
        welcome.as_ref().map(|welcome| Secret::new(*welcome.secret, welcome.instance, user))
    }

    /// Forgets the broker that made this key.
    fn forget(&self, key: &Key) {
        if let Ok(mut welcome) = self.welcome.try_lock()
            && welcome.as_ref().is_some_and(|welcome| welcome.instance == key.instance)
        {
            *welcome = None;
        }
    }

    /// Connects to the broker that made the key. If no broker listens there any more, the next call of
    /// `secret` searches for another one.
    fn connect_for(&self, key: &Key, until: Instant) -> Result<Link, Unavailable> {
        let Some(path) = self.folder_of(key) else { return Ok(self.find(key.user, until)?.0) };
        let folder = Folder::open(&path, Missing::Fail, key.user).map_err(Unavailable::from);
        folder.and_then(|folder| connect(&folder, key.user, until)).inspect_err(|error| {
            if matches!(error, Unavailable::NotRunning | Unavailable::OtherUser | Unavailable::Folder(_)) {
                self.forget(key);
            }
        })
    }

    /// Returns the folder of the broker that made the key, if it is the one that answered last.
    fn folder_of(&self, key: &Key) -> Option<PathBuf> {
        let welcome = self.welcome.try_lock().ok()?;
        let known = welcome.as_ref().filter(|welcome| welcome.instance == key.instance)?;
        Some(known.folder.clone())
    }

    /// Sends a request without a reply.
    fn post(
        &self,
        key: &Key,
        request: &Request<'_>,
        descriptor: Option<BorrowedFd<'_>>,
        until: Instant,
    ) -> Result<(), Unavailable> {
        let link = self.connect_for(key, until)?;
        let head = Zeroizing::new(request.encode(&key.instance));
        Ok(link.send([&head, request.payload()], descriptor, until)?)
    }

    /// Reads a reply to a request with a key.
    fn read_for<'a>(&self, key: &Key, message: &'a [u8]) -> Result<Reply<'a>, Unavailable> {
        match read(message) {
            Ok((_, Reply::OtherInstance)) => {
                self.forget(key);
                Err(Unavailable::Restarted)
            }
            Ok((_, reply)) => Ok(reply),
            Err(error) => Err(error),
        }
    }
}

/// Lends a buffer of that length. If another thread has the static one, or had it at a fork, a new one.
fn with_buffer<T>(length: usize, work: impl FnOnce(&mut [u8]) -> T) -> T {
    match BUFFER.try_lock() {
        Ok(mut buffer) => work(&mut buffer[..length]),
        Err(_) => work(&mut vec![0; length]),
    }
}

/// Connects to the broker in a folder, if it belongs to this user.
fn connect(folder: &Folder, user: u32, until: Instant) -> Result<Link, Unavailable> {
    let address = folder.address()?;
    let link = loop {
        match Link::connect(&address) {
            Ok(link) => break link,
            Err(Errno::NOENT | Errno::CONNREFUSED) => return Err(Unavailable::NotRunning),
            // The listener's queue is full. No event reports when it has room.
            Err(Errno::AGAIN) if Instant::now() < until => std::thread::sleep(FULL_QUEUE),
            Err(Errno::AGAIN) => return Err(Unavailable::Slow),
            Err(other) => return Err(io::Error::from(other).into()),
        }
    };
    if link.is_of_user(user) { Ok(link) } else { Err(Unavailable::OtherUser) }
}

impl From<Refused> for Unavailable {
    fn from(refused: Refused) -> Unavailable {
        match refused {
            Refused::Missing => Unavailable::NotRunning,
            Refused::Unusable(reason) => Unavailable::Folder(reason),
        }
    }
}

/// Sends a request and receives its reply.
fn exchange(
    link: &Link,
    request: &Request<'_>,
    instance: &Instance,
    buffer: &mut [u8],
    until: Instant,
) -> Result<Received, Unavailable> {
    let head = request.encode(instance);
    link.send([&head, request.payload()], None, until)?;
    Ok(link.receive(buffer, until)?)
}

fn page(link: &Link, from: usize, until: Instant) -> Result<Page, Unavailable> {
    let mut buffer = vec![0; MAX_MESSAGE];
    let from = u32::try_from(from).unwrap_or(u32::MAX);
    let received = exchange(link, &Request::Status(from), &UNKNOWN, &mut buffer, until)?;
    match read(&buffer[..received.bytes])?.1 {
        Reply::Status(page) => Ok(page),
        _ => Err(unexpected()),
    }
}

fn read(message: &[u8]) -> Result<(Head, Reply<'_>), Unavailable> {
    let head = Head::decode(message).ok_or_else(unexpected)?;
    if head.version != VERSION {
        return Err(Unavailable::OtherVersion(head.version));
    }
    Ok((head, Reply::decode(message).ok_or_else(unexpected)?))
}

fn unexpected() -> Unavailable {
    Unavailable::Broken("malformed reply".to_owned())
}
