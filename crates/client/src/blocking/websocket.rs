//! WebSocket without futures.

use super::{RequestBuilder, wait};
use crate::Error;
use crate::websocket::{CloseFrame, Message};

/// A WebSocket: [`warmwire::websocket::WebSocket`](crate::websocket::WebSocket) for threads that wait.
///
/// ```no_run
/// use warmwire::websocket::Message;
/// let client = warmwire::blocking::Client::new();
/// let mut chat = client.get("wss://chat.example/room").websocket()?;
/// chat.send(Message::Text("Hello!".to_owned()))?;
/// println!("{:?}", chat.recv()?);
/// # Ok::<(), warmwire::Error>(())
/// ```
#[derive(Debug)]
pub struct WebSocket(crate::websocket::WebSocket);

impl RequestBuilder {
    /// Opens a WebSocket; see [`warmwire::RequestBuilder::websocket`](crate::RequestBuilder::websocket).
    pub fn websocket(self) -> Result<WebSocket, Error> {
        let client = self.client.0;
        wait(client.host(), client.resume(self.request?).websocket()).map(WebSocket)
    }
}

impl WebSocket {
    /// Returns the next message; `None` is the end, after a message [`Message::Close`].
    pub fn recv(&mut self) -> Result<Option<Message>, Error> {
        wait(self.0.host(), self.0.recv())
    }

    /// Sends a message.
    pub fn send(&mut self, message: Message) -> Result<(), Error> {
        wait(self.0.host(), self.0.send(message))
    }

    /// Sends a close frame. Messages may still arrive, until [`recv`](Self::recv) returns `None`.
    pub fn close(&mut self, frame: Option<CloseFrame>) -> Result<(), Error> {
        wait(self.0.host(), self.0.close(frame))
    }
}
