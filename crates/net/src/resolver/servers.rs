//! Name servers queried by UDP and TCP (RFC 1035, RFC 7766, RFC 9715): those of resolv.conf, or the
//! application's.
//!
//! A forged reply has to guess the number, the port, and the case of each letter in the name. After a
//! truncated reply, or one with another case, the query is repeated over TCP. Everything runs on the reactor
//! of the caller.

use std::future::{Future, poll_fn};
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use runtime::{Reactor, boxed};
use wire::dns::{Answer, Kind, MessageError, Name, Question, Reply, Verdict};
use wire::resolv_conf::ResolvConf;

use super::family::{Family, NoAnswer};
use super::hosts;
use super::means::{NameServers, PendingAnswer};
use super::reread::Reread;
use crate::filter::messages::Messages;
use crate::filter::open::{LocalBinding, SocketOptions, Transport};
use crate::random;
use crate::sys::NAME_SERVERS;

static CONFIGURED: Reread<ResolvConf> = Reread::new(NAME_SERVERS, ResolvConf::parse);

/// Maximum size of a UDP reply that is not fragmented (RFC 9715 section 3.1).
const ROOM: u16 = 1232;
/// Maximum number of datagrams that are not a reply to the query, before a server is abandoned.
const MOST_STRANGERS: usize = 64;

/// The local addresses of queries.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LocalEnds {
    /// An interface's name (CURLOPT_DNS_INTERFACE).
    pub interface: Option<String>,
    pub v4: Option<Ipv4Addr>,
    pub v6: Option<Ipv6Addr>,
}

/// Name servers, and the parameters of queries.
#[derive(Clone)]
pub struct Servers {
    conf: Arc<ResolvConf>,
    local: LocalEnds,
    reactor: Arc<Reactor>,
    owner: u64,
}

impl Servers {
    /// The system's.
    pub fn configured(reactor: &Arc<Reactor>, owner: u64) -> Servers {
        Servers::with(CONFIGURED.now(), reactor, owner)
    }

    /// These.
    pub fn with(conf: Arc<ResolvConf>, reactor: &Arc<Reactor>, owner: u64) -> Servers {
        Servers { conf, local: LocalEnds::default(), reactor: reactor.clone(), owner }
    }

    /// Uses other servers, if there are any.
    pub fn instead(self, servers: Vec<SocketAddr>) -> Servers {
        if servers.is_empty() {
            return self;
        }
        let conf = Arc::new(ResolvConf { servers, ..ResolvConf::clone(&self.conf) });
        Servers { conf, ..self }
    }

    /// Uses these local addresses.
    pub fn from(self, local: LocalEnds) -> Servers {
        Servers { local, ..self }
    }

    /// A name is looked for as it is and in the search domains; where it exists the search ends, so that
    /// questions for different types end at the same name.
    async fn search(&self, question: &Question, searched: bool) -> Result<Answer, NoAnswer> {
        let names = match question.name.host().filter(|_| searched) {
            Some(host) => self.conf.names(&host),
            None => return self.ask_each(question).await,
        };
        let mut nothing = None;
        for name in names.iter().filter_map(|name| Name::parse(name).ok()) {
            let answer = self.ask_each(&Question { name, kind: question.kind }).await?;
            if answer.verdict != Verdict::NoSuchName {
                return Ok(answer);
            }
            nothing.get_or_insert(answer);
        }
        nothing.ok_or(NoAnswer)
    }

    /// Asks one server after the other, until one of them has an answer.
    async fn ask_each(&self, question: &Question) -> Result<Answer, NoAnswer> {
        let count = self.conf.servers.len();
        let mut first = [0];
        if self.conf.rotate {
            let _ = random(&mut first);
        }
        for _ in 0..self.conf.attempts {
            for i in 0..count {
                let server = self.conf.servers[(usize::from(first[0]) + i) % count];
                if let Some(Ok(answer)) = self.within(self.patience(i), self.ask_one(server, question)).await
                {
                    return Ok(answer);
                }
            }
        }
        Err(NoAnswer)
    }

    /// Returns how long to wait for the i-th server: for later ones twice as long, for all of them together
    /// as long as for one.
    fn patience(&self, i: usize) -> Duration {
        let count = u32::try_from(self.conf.servers.len()).unwrap_or(1);
        match u32::try_from(i).unwrap_or_default().min(8) {
            0 => self.conf.timeout,
            i => (self.conf.timeout * (1 << i) / count).max(Duration::from_secs(1)),
        }
    }

    async fn ask_one(&self, server: SocketAddr, question: &Question) -> Result<Answer, MessageError> {
        let mut room = Some(ROOM);
        loop {
            let outcome = match self.conf.stream {
                true => self.ask_by(Transport::Tcp, server, question, room).await,
                false => match self.ask_by(Transport::Udp, server, question, room).await {
                    Ok(outcome) if outcome.is_none() => {
                        self.ask_by(Transport::Tcp, server, question, room).await
                    }
                    outcome => outcome,
                },
            };
            match outcome.map_err(|_| MessageError::NoReply)?.ok_or(MessageError::NoReply)? {
                // Servers older than RFC 6891 do not understand the size.
                Err(MessageError::Refused(1 | 4)) if room.is_some() => room = None,
                answer => return answer,
            }
        }
    }

    /// Returns the server's reply; `None` if it has to be repeated over TCP, for its length or its certainty.
    async fn ask_by(
        &self,
        transport: Transport,
        server: SocketAddr,
        question: &Question,
        room: Option<u16>,
    ) -> io::Result<Option<Result<Answer, MessageError>>> {
        let mut noise = [0; 34];
        random(&mut noise)?;
        let (number, noise) = (u16::from_be_bytes([noise[0], noise[1]]), &noise[2..]);
        let asked = Question { name: question.name.in_mixed_case(noise), kind: question.kind };
        let (options, hosts) = self.local_end(&server);
        let opened = Messages::open(&self.reactor, server, transport, &options, &hosts, self.owner);
        let mut messages = opened.map_err(|e| io::Error::other(e.message))?;
        messages.send(&asked.message(number, room)).await?;
        for _ in 0..MOST_STRANGERS {
            let message = messages.receive().await?;
            let Ok(reply) = Reply::parse(&message) else { continue };
            // A server that cannot parse the query may not repeat it.
            let unread = reply.code() == 1 && message.len() == 12;
            if reply.id() != number || !unread && !reply.is_to(&asked, false) {
                continue;
            }
            let by_datagram = transport == Transport::Udp;
            if by_datagram && !unread && (reply.is_truncated() || !reply.is_to(&asked, true)) {
                return Ok(None);
            }
            return Ok(Some(reply.answer(question)));
        }
        Ok(None)
    }

    fn local_end(&self, server: &SocketAddr) -> (SocketOptions, Vec<SocketAddr>) {
        let own: Option<IpAddr> = match server {
            SocketAddr::V4(_) => self.local.v4.map(IpAddr::from),
            SocketAddr::V6(_) => self.local.v6.map(IpAddr::from),
        };
        let local = LocalBinding {
            interface: self.local.interface.clone(),
            host: own.map(|ip| ip.to_string()),
            ..LocalBinding::default()
        };
        let options = SocketOptions { local, ..SocketOptions::default() };
        (options, own.map(|ip| SocketAddr::new(ip, 0)).into_iter().collect())
    }

    async fn within<T>(&self, patience: Duration, work: impl Future<Output = T>) -> Option<T> {
        let (mut work, mut timer) = (pin!(work), self.reactor.sleep(patience));
        poll_fn(|cx| match work.as_mut().poll(cx) {
            Poll::Ready(done) => Poll::Ready(Some(done)),
            Poll::Pending => Pin::new(&mut timer).poll(cx).map(|()| None),
        })
        .await
    }
}

impl NameServers for Servers {
    fn ask(&self, question: Question, searched: bool) -> PendingAnswer {
        let servers = self.clone();
        boxed(move || async move {
            match answer_of_hosts(&question) {
                Some(answer) => Ok(answer),
                None => servers.search(&question, searched).await,
            }
        })
    }
}

/// Returns the answer of the hosts file, which has precedence over DNS.
fn answer_of_hosts(question: &Question) -> Option<Answer> {
    let family = match question.kind {
        Kind::A => Family::V4,
        Kind::Aaaa => Family::V6,
        Kind::Https => return None,
    };
    let mut addresses = hosts::addresses(&question.name.host()?)?;
    addresses.retain(|ip| Family::of(ip) == family);
    let verdict = if addresses.is_empty() { Verdict::NoData } else { Verdict::Found };
    Some(Answer { verdict, addresses, bindings: Vec::new(), name: question.name.clone(), ttl: None })
}

/// Returns whether a name belongs to DNS: neither to the hosts file nor to the local network.
pub fn is_for_dns(name: &str) -> bool {
    let bare = name.strip_suffix('.').unwrap_or(name).to_ascii_lowercase();
    bare.contains('.') && !bare.ends_with(".local") && !hosts::knows(&bare)
}
