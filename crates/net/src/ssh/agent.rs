//! One question to an agent behind a unix socket, and its answer.

use std::io::{self, ErrorKind};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use runtime::Reactor;
use ssh::agent::size;

use crate::Filter;
use crate::connect::{ConnectRequest, at_once, connect_unix};
use crate::filter::SocketFilter;
use crate::filter::open::{SocketOptions, Transport, UnixAddress};

/// Asks the agent that listens there.
pub async fn ask(
    reactor: &Arc<Reactor>,
    socket: &Path,
    question: &[u8],
    deadline: Option<Instant>,
    owner: u64,
) -> io::Result<Vec<u8>> {
    let request = ConnectRequest {
        place: &"agent",
        protocols: &[],
        needs_record: false,
        local_hosts: &[],
        transport: Transport::Tcp,
        options: &SocketOptions::default(),
        callbacks: None,
        attempt_delay: Duration::from_millis(200),
        favourite: None,
        report: None,
        started: reactor.now(),
        deadline,
        owner,
    };
    let address = UnixAddress::Path(socket.as_os_str().as_encoded_bytes().to_vec());
    let connected = connect_unix(reactor, &request, &address, &at_once).await.map_err(io::Error::other)?;
    let mut filter: Box<dyn Filter> = Box::new(SocketFilter::new(connected.socket));
    filter.write_all(question).await?;
    let mut answer = vec![0; 4];
    filter.read_exact(&mut answer).await?;
    let length = size(&answer).ok().flatten().ok_or(ErrorKind::InvalidData)?;
    answer.resize(length, 0);
    filter.read_exact(&mut answer[4..]).await?;
    Ok(answer)
}
