//! Transfers without a pooled connection: by datagrams (TFTP), and of files. As in curl, they have connection
//! numbers too.

use std::net::SocketAddr;

use net::Datagrams;
use runtime::boxed;
use tables::Code;

use super::Connector;
use super::connect::ends;
use crate::error::{Error, Result};
use crate::info::Nanos;

impl Connector {
    /// Opens a socket for datagrams to the origin of the current URL, and returns it with the first address.
    /// No proxy is used.
    pub async fn datagrams(&mut self) -> Result<(Datagrams, SocketAddr)> {
        let plan = self.plan()?;
        let started = self.easy.info.borrow().request_started.unwrap_or_else(|| self.now());
        if let Some(proxy) = &plan.proxy {
            return Err(match proxy.kind.is_socks() {
                true => Error::new(Code::Proxy, "datagrams cannot be sent by way of a SOCKS proxy"),
                false => Error::new(Code::UnsupportedProtocol, "TFTP cannot be done over CONNECT"),
            });
        }
        let found = self.look_up(&plan.host, plan.port, &plan.resolve).await?;
        self.mark(|info, elapsed| info.name_lookup = elapsed.max(Nanos::LEAST));
        let local_hosts = match plan.key.socket.local.host_name() {
            Some(name) => boxed(|| self.local_hosts(name, &plan)).await,
            None => Vec::new(),
        };
        let first = *found.list.first().ok_or_else(|| Error::from(Code::CouldntResolveHost))?;
        let reactor = self.multi.runtime.reactor();
        let (callbacks, owner) = (self.easy.callbacks.sockets(), self.easy.owner_number());
        self.count_connection();
        self.easy.note(|| format!("  Trying {first}..."));
        let opened = Datagrams::open(reactor, first, &plan.key.socket, &local_hosts, callbacks, owner)?;
        self.mark_queued(started, self.now());
        self.begins_to_move();
        let mut info = self.easy.info.borrow_mut();
        info.ends = ends(&net::connect::Endpoints { remote: Some(opened.1), local: None });
        info.connects += 1;
        drop(info);
        self.note_established(&plan);
        Ok(opened)
    }

    /// Reserves a connection number for a file or a datagram socket, which no pool keeps.
    pub fn count_connection(&self) -> i64 {
        let number = self.pool().next_number() as i64;
        let mut info = self.easy.info.borrow_mut();
        (info.connection_id, info.attempted_connection) = (number, number);
        number
    }
}
