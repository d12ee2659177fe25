//! A layer without a network: the peer is a script of this process (replay of recorded exchanges).

use std::io;
use std::sync::Arc;
use std::task::{Context, Poll};

use runtime::{Idle, Reactor, Socket};

use super::Filter;
use crate::Carrier;

/// The far end of a connection that leads nowhere.
pub trait Script: Send {
    /// Takes what was sent.
    fn write(&mut self, bytes: &[u8]) -> io::Result<()>;

    /// Reads what the peer sends next; 0 is its end. A script never makes a reader wait.
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize>;
}

/// A connection to a script. Its descriptor leads nowhere, and no reactor watches it.
pub struct Scripted<S> {
    descriptor: Socket,
    script: S,
}

impl<S: Script> Scripted<S> {
    /// Connects to a script.
    pub fn new(script: S) -> io::Result<Scripted<S>> {
        Ok(Scripted { descriptor: Socket::unconnected()?, script })
    }
}

impl<S: Script> Carrier for Scripted<S> {
    fn retire(&mut self) {}

    fn idle_state(&mut self) -> Idle {
        Idle::Alive
    }

    fn attach(&mut self, _: &Arc<Reactor>, _: u64) {}

    fn detach(&mut self) {}

    fn socket(&self) -> &Socket {
        &self.descriptor
    }
}

impl<S: Script> Filter for Scripted<S> {
    fn poll_read(&mut self, _: &mut Context<'_>, buf: &mut [u8]) -> Poll<io::Result<usize>> {
        Poll::Ready(self.script.read(buf))
    }

    fn poll_write(&mut self, _: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        Poll::Ready(self.script.write(buf).map(|()| buf.len()))
    }

    fn poll_flush(&mut self, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn forget_read(&mut self, _: &mut Context<'_>) {}

    fn poll_end(&mut self, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

/// A script that never sends anything: for protocols whose exchange replaces the connection.
pub struct Silence;

impl Script for Silence {
    fn write(&mut self, _: &[u8]) -> io::Result<()> {
        Ok(())
    }

    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        Ok(0)
    }
}
