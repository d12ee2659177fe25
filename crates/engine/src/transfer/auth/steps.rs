//! A connection's state of authentication, for schemes that authenticate connections.

use wire::auth::ntlm;

use crate::stores::now;
use crate::transfer::login::Login;
use crate::transfer::negotiate::Negotiate;

/// Progress of NTLM.
#[derive(Default)]
pub enum NtlmStep {
    /// Not begun.
    #[default]
    Idle,
    /// The first message is sent.
    Asked,
    /// The server's message has arrived.
    Challenged(ntlm::Message2),
    /// The last message is sent.
    Answered,
    /// The connection is authenticated.
    Established,
}

use NtlmStep::{Answered, Asked, Challenged, Established, Idle};

impl NtlmStep {
    /// The next request's message, if it has one, and whether it is the last; the step it leads to.
    pub fn speak(self, login: Option<&Login>) -> (NtlmStep, Result<Option<String>, ntlm::TooBig>) {
        match self {
            Idle | Asked => (Asked, Ok(Some(ntlm::message1()))),
            Challenged(message2) => {
                let login = login.cloned().unwrap_or_default();
                let who = ntlm::Credentials {
                    user: &login.user,
                    password: &login.password,
                    workstation: b"WORKSTATION",
                };
                let nonce = crate::mime::random_bytes();
                (Answered, message2.answer(who, nonce, now()).map(Some))
            }
            Answered | Established => (Established, Ok(None)),
        }
    }

    /// Returns the next state after a challenge with this token, and whether the scheme is still usable.
    pub fn receive(self, token: Option<&[u8]>) -> (NtlmStep, bool) {
        match (token.map(ntlm::Message2::parse), self) {
            (Some(Ok(message)), _) => (Challenged(message), true),
            (Some(Err(_)), _) => (Idle, false),
            // A new challenge on an authenticated connection, or the first one.
            (None, Established | Idle) => (Idle, true),
            (None, _) => (Idle, false),
        }
    }

    /// A challenge has arrived that an earlier transfer's login on this connection does not answer any more.
    pub fn forget(self) -> NtlmStep {
        if matches!(self, Answered | Established) { Idle } else { self }
    }
}

/// A connection's state for one side.
#[derive(Default)]
pub struct Steps {
    /// NTLM's.
    pub ntlm: NtlmStep,
    /// Negotiate's.
    pub negotiate: Negotiate,
}

impl Steps {
    fn begun(&self) -> bool {
        !matches!(self.ntlm, Idle) || self.negotiate.begun()
    }

    /// Whether NTLM's last message must follow on this connection.
    pub fn expects_answer(&self) -> bool {
        matches!(self.ntlm, Challenged(_))
    }
}

/// A connection's state for both sides.
#[derive(Default)]
pub struct ConnectionSteps {
    /// The server's.
    pub server: Steps,
    /// The proxy's.
    pub proxy: Steps,
}

impl net::Memory for ConnectionSteps {}

impl ConnectionSteps {
    /// Returns whether the connection has an owner.
    pub fn begun(&self) -> bool {
        self.server.begun() || self.proxy.begun()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MESSAGE_2: &[u8] = b"TlRMTVNTUAACAAAAAAAAADAAAAABAgAAASNFZ4mrze8AAAAAAAAAAAAAAAAwAAAA";

    fn name(step: &NtlmStep) -> &'static str {
        match step {
            Idle => "idle",
            Asked => "asked",
            Challenged(_) => "challenged",
            Answered => "answered",
            Established => "established",
        }
    }

    fn all() -> [NtlmStep; 5] {
        [Idle, Asked, Challenged(ntlm::Message2::parse(MESSAGE_2).unwrap()), Answered, Established]
    }

    #[test]
    fn speaking() {
        let states = all().map(|step| {
            let (next, message) = step.speak(None);
            (name(&next), message.unwrap().is_some())
        });
        let end = ("established", false);
        assert_eq!(states, [("asked", true), ("asked", true), ("answered", true), end, end]);
    }

    #[test]
    fn hearing() {
        let heard = |token: Option<&[u8]>| {
            all().map(|step| step.receive(token)).map(|(next, good)| (name(&next), good))
        };
        assert_eq!(heard(Some(MESSAGE_2)), [("challenged", true); 5]);
        assert_eq!(heard(Some(b"what?")), [("idle", false); 5]);
        let (fresh, refused) = (("idle", true), ("idle", false));
        assert_eq!(heard(None), [fresh, refused, refused, refused, fresh]);
        assert_eq!(
            all().map(NtlmStep::forget).map(|s| name(&s)),
            ["idle", "asked", "challenged", "idle", "idle"]
        );
    }
}
