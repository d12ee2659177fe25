//! The wake-up descriptor: the near end of a connection with ourselves.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};

pub(crate) struct EventFd {
    near: TcpStream,
    far: TcpStream,
}

crate::sys::lend!(EventFd, it => &it.near);

/// Creates the pair. Another process on this machine may connect first: such a connection is closed.
pub(crate) fn create() -> io::Result<EventFd> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    let far = TcpStream::connect(listener.local_addr()?)?;
    let own = far.local_addr()?;
    let near = loop {
        match listener.accept() {
            Ok((near, peer)) if peer == own => break near,
            Ok(_) => {}
            Err(e) if e.kind() == ErrorKind::Interrupted => {}
            Err(e) => return Err(e),
        }
    };
    near.set_nonblocking(true)?;
    far.set_nonblocking(true)?;
    far.set_nodelay(true)?;
    Ok(EventFd { near, far })
}

/// Makes it readable. Failure means that there is no more room: it is readable already.
pub(crate) fn write(fd: &EventFd) {
    let _ = (&fd.far).write(&[1]);
}

pub(crate) fn drain(fd: &EventFd) {
    let mut bytes = [0; 64];
    while matches!((&fd.near).read(&mut bytes), Ok(1..)) {}
}
