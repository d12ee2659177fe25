//! A transport connected directly to testkit's server; fuzz/ssh.rs uses it, too.

use ssh::{Error, Step, Transport};
use testkit::ssh::Peer;

/// Bytes of the server's go to the client.
pub fn to_client(transport: &mut Transport, bytes: &[u8]) {
    let mut bytes = bytes;
    while !bytes.is_empty() {
        let space = transport.space();
        let n = space.len().min(bytes.len());
        space[..n].copy_from_slice(&bytes[..n]);
        transport.received(n);
        bytes = &bytes[n..];
    }
}

/// Passes messages from the client to the server, and returns those that are not about keys.
pub fn to_server(transport: &mut Transport, peer: &mut Peer) -> Vec<Vec<u8>> {
    let out = transport.output().to_vec();
    transport.sent(out.len());
    peer.input(&out)
}

/// The first exchange, to its end. The host key is taken as it is.
pub fn agree(transport: &mut Transport, peer: &mut Peer) -> Result<(), Error> {
    while peer.exchanges == 0 || !transport.is_open() {
        to_server(transport, peer);
        to_client(transport, &peer.output());
        if transport.step()? == Some(Step::HostKey) {
            transport.accept_host()?;
        }
    }
    Ok(())
}
