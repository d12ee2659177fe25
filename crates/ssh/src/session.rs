//! The connection layer (RFC 4254): channels of type "session" on an authenticated transport. Each channel
//! has an inbox that is bounded by its window; reading from it makes room again.

use std::collections::VecDeque;

use crate::bytes::{Put, Reader};
use crate::error::{Error, printable};
use crate::numbers::*;
use crate::queue::Queue;
use crate::transport::{Step, Transport};

/// Which channel.
pub type ChannelId = usize;

/// Size of a channel's window: at first, and at most.
const WINDOW: u32 = 2 << 20;
pub const MAX_WINDOW: u32 = 64 << 20;
/// Size up to which the window grows by itself while the reader keeps up: a gigabit per second over 60
/// milliseconds.
const GROWN_WINDOW: u32 = 8 << 20;
/// The longest piece of data that is taken: longer ones cost less.
const PACKET: u32 = 128 << 10;
/// Amount of queued output beyond which data has to wait.
const MAX_OUTPUT: usize = 256 << 10;
/// Maximum of queued replies to the server's requests, if it sends requests and does not read.
const MAX_ANSWERS: usize = 4 << 20;
/// Maximum of a program's stderr that is kept.
const MAX_STDERR: usize = 4096;
/// Maximum number of channels, including those that wait for the server's close.
const MAX_CHANNELS: usize = 1024;

/// The state of a channel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum State {
    /// The server has not answered.
    Opening,
    Open,
    /// It does not want one: RFC 4254 §5.1's reason, and its words.
    Refused(u32, String),
    /// Closed by the server.
    Closed,
}

/// A channel.
pub struct Channel {
    state: State,
    remote: u32,
    inbox: Queue,
    /// Bytes that the server may still send, and the size of the window.
    window_in: u32,
    target: u32,
    window_out: u32,
    packet_out: usize,
    ended: bool,
    answers: VecDeque<bool>,
    exit: Option<u32>,
    stderr: Vec<u8>,
    said_goodbye: bool,
    abandoned: bool,
}

/// A transport with channels.
pub struct Session {
    transport: Transport,
    channels: Vec<Option<Channel>>,
    /// Channels of which there is news.
    news: Vec<ChannelId>,
    /// The channel that was requested before the session existed, until it is used.
    ahead: Option<ChannelId>,
    /// Channels to request once the abandoned ones are closed.
    later: Vec<ChannelId>,
}

impl Session {
    /// Creates a session on an authenticated transport.
    pub fn new(transport: Transport) -> Session {
        Session { transport, channels: Vec::new(), news: Vec::new(), ahead: None, later: Vec::new() }
    }

    /// Requests the first channel before the session exists: right after the authentication request, without
    /// waiting for its result. By RFC 4252 §6, a server that refuses the login has to disconnect.
    pub fn ask_ahead(transport: &mut Transport) -> Result<(), Error> {
        ask(transport, 0)
    }

    /// Like [`Session::new`], after [`Session::ask_ahead`] and a successful login.
    pub fn with_channel(transport: Transport) -> Session {
        Session { channels: vec![Some(Channel::new())], ahead: Some(0), ..Session::new(transport) }
    }

    pub fn transport(&mut self) -> &mut Transport {
        &mut self.transport
    }

    /// Processes received messages. Afterwards [`Session::news`] lists the channels with changes.
    pub fn take_in(&mut self) -> Result<(), Error> {
        let was_open = self.transport.is_open();
        while let Some(step) = self.transport.step()? {
            if step != Step::Message {
                return Err(Error::Protocol("a host key again"));
            }
            self.dispatch()?;
            if self.transport.output().len() > MAX_ANSWERS {
                return Err(Error::Protocol("the server asks and does not read"));
            }
        }
        if !was_open && self.transport.is_open() {
            // The keys are new: who could not send can.
            let used = |id: &ChannelId| self.channel(*id).is_some_and(|channel| !channel.abandoned);
            let all = (0..self.channels.len()).filter(used).collect::<Vec<_>>();
            self.news.extend(all);
        }
        Ok(())
    }

    /// The channels that something has happened to since the last look.
    pub fn news(&mut self) -> Vec<ChannelId> {
        std::mem::take(&mut self.news)
    }

    /// How many channels are in use.
    pub fn count(&self) -> usize {
        let used = self.channels.iter().flatten().filter(|channel| !channel.abandoned).count();
        used - usize::from(self.ahead.is_some())
    }

    /// Returns whether nothing is pending: the connection may become idle.
    pub fn is_quiet(&self) -> bool {
        self.transport.is_open() && self.transport.output().is_empty()
    }

    /// Opens a channel.
    pub fn open(&mut self) -> Result<ChannelId, Error> {
        if let Some(asked) = self.ahead.take() {
            return Ok(asked);
        }
        let free = self.channels.iter().position(Option::is_none).unwrap_or(self.channels.len());
        if free >= MAX_CHANNELS {
            return Err(Error::Protocol("too many channels"));
        }
        if free == self.channels.len() {
            self.channels.push(None);
        }
        self.channels[free] = Some(Channel::new());
        self.later.push(free);
        self.ask_for_later()?;
        Ok(free)
    }

    /// Requests postponed channels. Dropbear (2022.83) closes a channel without a reply if it is opened while
    /// it waits for the command of another one: there, abandoned channels must be closed first.
    fn ask_for_later(&mut self) -> Result<(), Error> {
        let is_left = |channel: &Channel| channel.abandoned && channel.said_goodbye;
        if !self.later.is_empty()
            && self.channels.iter().flatten().any(is_left)
            && self.transport.server().contains("dropbear")
        {
            return Ok(());
        }
        std::mem::take(&mut self.later).into_iter().try_for_each(|id| ask(&mut self.transport, id))
    }

    /// Asks for something on a channel that is open; [`Channel::answer`] has the server's word.
    pub fn request(&mut self, id: ChannelId, kind: &str, argument: &[u8]) -> Result<(), Error> {
        let Some(channel) = self.channels.get(id).and_then(Option::as_ref) else { return Ok(()) };
        let mut message = vec![CHANNEL_REQUEST];
        message.put_u32(channel.remote);
        message.put_string(kind);
        message.put_flag(true);
        message.put_string(argument);
        self.transport.send(&[&message])
    }

    /// A channel, to be looked at.
    pub fn channel(&self, id: ChannelId) -> Option<&Channel> {
        self.channels.get(id).and_then(Option::as_ref)
    }

    /// Sends as much as the server and the connection have room for, and says how much that was.
    pub fn send(&mut self, id: ChannelId, bytes: &[u8]) -> Result<usize, Error> {
        let mut sent = 0;
        while sent < bytes.len() && self.transport.is_open() && self.transport.output().len() < MAX_OUTPUT {
            let Some(channel) = self.channels.get_mut(id).and_then(Option::as_mut) else { break };
            let piece = (bytes.len() - sent).min(channel.packet_out).min(channel.window_out as usize);
            if piece == 0 || channel.state != State::Open {
                break;
            }
            channel.window_out -= piece as u32;
            let mut head = [0; 9];
            head[0] = CHANNEL_DATA;
            head[1..5].copy_from_slice(&channel.remote.to_be_bytes());
            head[5..].copy_from_slice(&(piece as u32).to_be_bytes());
            self.transport.send(&[&head, &bytes[sent..sent + piece]])?;
            sent += piece;
        }
        Ok(sent)
    }

    /// Announces that nothing more is sent on the channel.
    pub fn end(&mut self, id: ChannelId) -> Result<(), Error> {
        match self.channel(id) {
            Some(channel) if channel.state == State::Open => {
                let remote = channel.remote;
                self.send_to_channel(CHANNEL_EOF, remote)
            }
            _ => Ok(()),
        }
    }

    /// So much of the inbox was read.
    pub fn consume(&mut self, id: ChannelId, n: usize) -> Result<(), Error> {
        let Some(channel) = self.channels.get_mut(id).and_then(Option::as_mut) else { return Ok(()) };
        channel.inbox.take(n);
        self.give_room(id)
    }

    /// Lets the server send `window` bytes ahead of the reader from now on.
    pub fn widen(&mut self, id: ChannelId, window: u32) -> Result<(), Error> {
        let Some(channel) = self.channels.get_mut(id).and_then(Option::as_mut) else { return Ok(()) };
        channel.target = channel.target.max(window.min(MAX_WINDOW));
        self.give_room(id)
    }

    /// Announces room once it is half of the window.
    fn give_room(&mut self, id: ChannelId) -> Result<(), Error> {
        let Some(channel) = self.channels.get_mut(id).and_then(Option::as_mut) else { return Ok(()) };
        let waiting = channel.inbox.len() as u32;
        let room = channel.target.saturating_sub(waiting).saturating_sub(channel.window_in);
        if room < channel.target / 2 || channel.state != State::Open || channel.ended {
            return Ok(());
        }
        let room = match waiting {
            // Everything was read: at most half a window was in transit, and a long link may need more.
            0 if channel.target < GROWN_WINDOW => {
                channel.target *= 2;
                room + channel.target / 2
            }
            _ => room,
        };
        channel.window_in += room;
        let mut message = vec![CHANNEL_WINDOW_ADJUST];
        message.put_u32(channel.remote);
        message.put_u32(room);
        self.transport.send(&[&message])
    }

    /// Abandons a channel. It is removed once the server has closed it, too.
    pub fn leave(&mut self, id: ChannelId) -> Result<(), Error> {
        let Some(channel) = self.channels.get_mut(id).and_then(Option::as_mut) else { return Ok(()) };
        channel.abandoned = true;
        channel.inbox.forget();
        match channel.state {
            State::Opening if self.later.contains(&id) => {
                self.later.retain(|later| *later != id);
                self.channels[id] = None;
            }
            State::Refused(..) => self.channels[id] = None,
            State::Closed if channel.said_goodbye => self.channels[id] = None,
            State::Open | State::Closed if !channel.said_goodbye => {
                channel.said_goodbye = true;
                let (remote, gone) = (channel.remote, channel.state == State::Closed);
                if gone {
                    self.channels[id] = None;
                }
                return self.send_to_channel(CHANNEL_CLOSE, remote);
            }
            _ => {}
        }
        Ok(())
    }

    fn send_to_channel(&mut self, number: u8, remote: u32) -> Result<(), Error> {
        let mut message = vec![number];
        message.put_u32(remote);
        self.transport.send(&[&message])
    }

    fn dispatch(&mut self) -> Result<(), Error> {
        let message = self.transport.message();
        let (number, body) = message.split_first().ok_or(Error::Malformed)?;
        let mut reader = Reader::new(body);
        match *number {
            GLOBAL_REQUEST => {
                reader.string()?;
                if reader.flag()? {
                    self.transport.send(&[&[REQUEST_FAILURE]])?;
                }
                Ok(())
            }
            // Replies to keep-alive requests.
            REQUEST_SUCCESS | REQUEST_FAILURE | USERAUTH_BANNER => Ok(()),
            CHANNEL_OPEN => {
                reader.string()?;
                let mut answer = vec![CHANNEL_OPEN_FAILURE];
                answer.put_u32(reader.u32()?);
                answer.put_u32(1);
                answer.put_string("");
                answer.put_string("");
                self.transport.send(&[&answer])
            }
            CHANNEL_OPEN_CONFIRMATION..=CHANNEL_FAILURE => self.of_channel(),
            _ => Err(Error::Protocol("a message that is not known")),
        }
    }

    fn of_channel(&mut self) -> Result<(), Error> {
        let message = self.transport.message();
        let number = message[0];
        let mut reader = Reader::new(&message[1..]);
        let id = reader.u32()? as usize;
        let unknown = Error::Protocol("a message for a channel that does not exist");
        let channel = self.channels.get_mut(id).and_then(Option::as_mut).ok_or(unknown)?;
        let owed = channel.receive(number, &mut reader)?;
        if let Some(answer) = owed {
            self.send_to_channel(CHANNEL_FAILURE, answer)?;
        }
        let Some(channel) = self.channels.get_mut(id).and_then(Option::as_mut) else { return Ok(()) };
        if !channel.abandoned {
            self.news.push(id);
            return Ok(());
        }
        channel.inbox.forget();
        match (number, &channel.state) {
            // The channel was abandoned before the server had replied.
            (CHANNEL_OPEN_CONFIRMATION | CHANNEL_OPEN_FAILURE, _) | (_, State::Closed) => self.leave(id)?,
            _ => {}
        }
        self.ask_for_later()
    }
}

/// Asks for a channel, which will have this number here.
fn ask(transport: &mut Transport, id: ChannelId) -> Result<(), Error> {
    let mut message = vec![CHANNEL_OPEN];
    message.put_string("session");
    message.put_u32(id as u32);
    message.put_u32(WINDOW);
    message.put_u32(PACKET);
    transport.send(&[&message])
}

impl Channel {
    fn new() -> Channel {
        Channel {
            state: State::Opening,
            remote: 0,
            inbox: Queue::default(),
            window_in: WINDOW,
            target: WINDOW,
            window_out: 0,
            packet_out: 0,
            ended: false,
            answers: VecDeque::new(),
            exit: None,
            stderr: Vec::new(),
            said_goodbye: false,
            abandoned: false,
        }
    }

    pub fn state(&self) -> &State {
        &self.state
    }

    /// Returns the unread data.
    pub fn data(&self) -> &[u8] {
        self.inbox.waiting()
    }

    /// Returns whether nothing follows [`Channel::data`].
    pub fn has_ended(&self) -> bool {
        self.ended || self.state == State::Closed
    }

    /// The server's word on the oldest request that it has answered.
    pub fn answer(&self) -> Option<bool> {
        self.answers.front().copied()
    }

    /// Returns the exit status of the program on the other side.
    pub fn exit_status(&self) -> Option<u32> {
        self.exit
    }

    /// Returns the program's stderr.
    pub fn stderr(&self) -> String {
        printable(&self.stderr)
    }

    /// Processes a message. Returns the remote number if a request must be answered with a failure.
    fn receive(&mut self, number: u8, reader: &mut Reader) -> Result<Option<u32>, Error> {
        let opening = self.state == State::Opening;
        if opening != matches!(number, CHANNEL_OPEN_CONFIRMATION | CHANNEL_OPEN_FAILURE) {
            return Err(Error::Protocol("a message that does not fit its channel"));
        }
        match number {
            CHANNEL_OPEN_CONFIRMATION => {
                self.remote = reader.u32()?;
                self.window_out = reader.u32()?;
                // Less than this would be a packet for each few bytes.
                self.packet_out = (reader.u32()? as usize).clamp(256, 32 << 10);
                self.state = State::Open;
            }
            CHANNEL_OPEN_FAILURE => {
                self.state = State::Refused(reader.u32()?, printable(reader.string()?));
            }
            CHANNEL_WINDOW_ADJUST => self.window_out = self.window_out.saturating_add(reader.u32()?),
            CHANNEL_DATA => self.data_came(reader.string()?)?,
            CHANNEL_EXTENDED_DATA => {
                reader.u32()?;
                let bytes = reader.string()?;
                let room = MAX_STDERR.saturating_sub(self.stderr.len());
                self.stderr.extend_from_slice(&bytes[..bytes.len().min(room)]);
                self.take_window(bytes.len())?;
                // It is read at once.
                self.target = self.target.max(WINDOW);
            }
            CHANNEL_EOF => self.ended = true,
            CHANNEL_CLOSE => self.state = State::Closed,
            CHANNEL_SUCCESS | CHANNEL_FAILURE if self.answers.len() < 64 => {
                self.answers.push_back(number == CHANNEL_SUCCESS);
            }
            CHANNEL_REQUEST => return self.requested(reader),
            _ => return Err(Error::Protocol("answers that nobody has asked for")),
        }
        Ok(None)
    }

    fn requested(&mut self, reader: &mut Reader) -> Result<Option<u32>, Error> {
        let kind = reader.string()?;
        let wants_answer = reader.flag()?;
        if kind == b"exit-status" {
            self.exit = Some(reader.u32()?);
        }
        Ok(wants_answer.then_some(self.remote))
    }

    fn data_came(&mut self, bytes: &[u8]) -> Result<(), Error> {
        self.take_window(bytes.len())?;
        self.inbox.end().extend_from_slice(bytes);
        Ok(())
    }

    fn take_window(&mut self, n: usize) -> Result<(), Error> {
        let left = u32::try_from(n).ok().and_then(|n| self.window_in.checked_sub(n));
        self.window_in = left.ok_or(Error::Protocol("more data than there is room for"))?;
        Ok(())
    }
}
