//! Record and replay below the protocols: the connection of a replayed exchange, and the facts that every
//! recorded exchange has.

use std::hint::cold_path;
use std::io;
use std::sync::Arc;

use net::{About, AnyConnection, Connection, Filter};
use tables::{Code, EasyOption as O};

use super::Transfer;
use super::connector::Connector;
use super::replayed_peer::ReplayedPeer;
use super::route::plan::Plan;
use super::route::url::without_credentials;
use crate::error::{Error, Result};
use crate::recording::draft::Draft;
use crate::recording::player::Player;
use crate::recording::{Recorder, Recording, secrets};

/// Returns the error of a request that the record does not answer.
pub fn unanswered(why: String) -> Error {
    Error::new(Code::CouldntConnect, why)
}

/// Returns the error of a replay that has no descriptor for a connection.
pub fn no_descriptor(e: &io::Error) -> Error {
    Error::os(Code::CouldntConnect, "no descriptor", e)
}

impl Connector {
    /// Returns the record that answers the transfer's requests, if there is one.
    #[inline]
    pub fn player(&self) -> Option<&Arc<Player>> {
        self.recording()?.player()
    }

    /// Returns the recorder of the transfer's exchanges, if there is one. Look-ups by HTTPS are not recorded:
    /// a replay looks up nothing.
    #[inline]
    pub fn recorder(&self) -> Option<&Arc<Recorder>> {
        self.recording()?.recorder().filter(|_| !self.easy.inner.get())
    }

    #[inline]
    fn recording(&self) -> Option<&Recording> {
        let recording = self.multi.recording.get()?;
        cold_path();
        Some(recording)
    }

    /// Opens a connection to the recorded peer.
    #[cold]
    #[inline(never)]
    pub(super) fn open_replayed(&self, plan: &Plan) -> Result<AnyConnection> {
        let Some(peer) = &self.replayed else {
            return Err(unanswered("a connection without a request is not replayed".to_owned()));
        };
        self.note_resolved();
        let filter = (peer.make_filter)().map_err(|e| no_descriptor(&e))?;
        let now = self.now();
        self.easy.info.borrow_mut().connects += 1;
        self.note_connected(now, &peer.endpoints);
        let mut connection = Connection::new(self.key_of_opened(plan), filter, peer.endpoints, now);
        connection.private = true;
        Ok(connection.into())
    }

    /// Opens a second connection to the recorded peer.
    #[cold]
    #[inline(never)]
    pub(super) fn open_replayed_beside(&self, peer: &ReplayedPeer) -> Result<Box<dyn Filter>> {
        self.easy.info.borrow_mut().connects += 1;
        (peer.make_filter)().map_err(|e| no_descriptor(&e))
    }

    /// Begins the record of an exchange, if exchanges are recorded.
    #[cold]
    #[inline(never)]
    pub fn draft(&self, protocol: &str, method: &[u8], about: &About) -> Option<Draft> {
        let mut draft = self.recorder()?.begin()?;
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let facts = &mut draft.facts;
        protocol.clone_into(&mut facts.protocol);
        facts.method = text(method);
        facts.url = text(&secrets::url(&self.recorded_url()));
        (facts.remote, facts.local) = (about.endpoints.remote, about.endpoints.local);
        facts.tls = about.tls.as_ref().map(|tls| format!("{:?}", tls.version));
        Some(draft)
    }

    /// Returns the current URL, as records name it.
    pub fn recorded_url(&self) -> Vec<u8> {
        without_credentials(&self.url)
    }
}

impl Transfer {
    /// Checks that a transfer may run: only HTTP and FTP are recorded and replayed, and no connection on
    /// which the application itself sends and receives.
    #[cold]
    #[inline(never)]
    pub fn check_recording(&self, recordable: bool) -> Result<()> {
        let scheme = self.scheme();
        let by_hand = self.on(O::ConnectOnly);
        if (recordable && !by_hand) || !scheme.network() {
            return Ok(());
        }
        let name = if by_hand { "CURLOPT_CONNECT_ONLY" } else { scheme.name() };
        if self.player().is_some() {
            let text = format!("{name} is not recorded: only HTTP and FTP are replayed");
            return Err(unanswered(text));
        }
        if let Some(recorder) = self.recorder() {
            recorder.report_protocol(name);
        }
        Ok(())
    }
}
