//! The bind (RFC 4511 §4.2): simple, or SASL if login options request it (CURLOPT_LOGIN_OPTIONS(3)); then the
//! server's mechanisms are queried first.

use std::future::poll_fn;

use tables::Code;
use wire::auth::sasl::{Action, Conversation, Mechanism, Mechanisms, Preference, Reply};
use wire::base64;
use wire::ldap::{self, Answer, Outcome, Search};

use super::{Session, nonsense, refused};
use crate::error::{Error, Result};
use crate::transfer::Transfer;
use crate::transfer::credentials::{options, own};
use crate::transfer::sasl::{fresh, service_login};

/// saslBindInProgress.
const IN_PROGRESS: u32 = 14;

impl Session {
    /// Binds, even without a user: this shows whether the server speaks LDAP 3.
    pub(super) async fn bind(&mut self, t: &Transfer) -> Result<()> {
        let options = options(t)?;
        if !options.is_empty() {
            let bad = |_| Error::new(Code::SetoptOptionSyntax, "login options that are not known");
            return self
                .bind_by_sasl(t, Preference::parse(&options, None, Mechanisms::DEFAULT).map_err(bad)?)
                .await;
        }
        let (user, password) = own(t)?;
        let id = self.next_id();
        self.send(&ldap::bind(id, &user, &password)).await?;
        let outcome = self.outcome(id).await?;
        if outcome.code == 0 { Ok(()) } else { Err(refused(&outcome, Code::LdapCannotBind, "bind")) }
    }

    async fn bind_by_sasl(&mut self, t: &Transfer, wanted: Preference) -> Result<()> {
        let mut offered = self.mechanisms().await?;
        offered.remove(Mechanism::Gssapi); // its messages may be sealed, and a whole session then is
        let denied = || Error::new(Code::LoginDenied, "Login denied");
        let who = service_login(t, "ldap", self.whole.about().tls.as_deref())?;
        let mut talk = Conversation::new(offered, wanted.mechanisms, true, 0);
        let mut action = talk.begin(&who, &fresh());
        let mut mechanism = "";
        loop {
            let response = match action {
                Action::Begin(name, first) => {
                    mechanism = name;
                    first.map(|first| if first == "=" { String::new() } else { first })
                }
                Action::Send(response) => Some(response),
                Action::Cancel => {
                    mechanism = ""; // no mechanism has this name: it aborts the exchange
                    None
                }
                Action::Done => return Ok(()),
                Action::Denied | Action::Exhausted | Action::Gssapi => return Err(denied()),
            };
            let response = response.map(|text| base64::decode(text.as_bytes()).unwrap_or_default());
            let outcome = self.step(mechanism, response.as_deref()).await?;
            let challenge = base64::encode(&outcome.credentials);
            let reply = match outcome.code {
                0 if outcome.credentials.is_empty() => Reply::Success,
                0 => Reply::SuccessAfter(challenge.as_bytes()),
                IN_PROGRESS => Reply::Continue(challenge.as_bytes()),
                _ => Reply::Failure,
            };
            action = talk.answer(reply, &who, &fresh());
        }
    }

    async fn step(&mut self, mechanism: &str, response: Option<&[u8]>) -> Result<Outcome> {
        let id = self.next_id();
        self.send(&ldap::bind_sasl(id, mechanism, response)).await?;
        self.outcome(id).await
    }

    /// Queries the server's mechanisms.
    async fn mechanisms(&mut self) -> Result<Mechanisms> {
        let id = self.next_id();
        let request = Search::for_mechanisms().request(id).expect("the filter is a good one");
        self.send(&request).await?;
        let mut offered = Mechanisms::NONE;
        loop {
            let Some((number, answer, length)) =
                ldap::answer(&self.received[self.taken..]).map_err(nonsense)?
            else {
                poll_fn(|cx| self.poll_fill(cx)).await?;
                continue;
            };
            let ends = matches!(answer, Answer::Done(_)) && number == id;
            if let Answer::Entry(entry) = answer {
                entry.values(|name| offered.offer(name)).map_err(nonsense)?;
            }
            self.taken += length;
            if ends {
                return Ok(offered);
            }
        }
    }
}
