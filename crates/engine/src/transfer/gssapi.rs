//! The login of the mail protocols with a Kerberos ticket: SASL's GSSAPI (RFC 4752), in the order of its
//! messages. Tokens are computed on a helper thread, because they may need a key distribution centre.

use gss::{Context, Mechanism, Step};
use tables::Code;
use wire::auth::sasl::{Login, no_protection};
use wire::base64;

use super::Transfer;
use super::negotiate::delegation;
use super::sasl::{SaslReply, Speaker};
use crate::error::{Error, Result};

/// Longest challenge, in base64; tickets with the groups of large realms have 64 KiB.
const CHALLENGE_LIMIT: usize = 128 * 1024;

/// How it ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    Success,
    Failure,
    /// The server's reply is invalid: the exchange is cancelled.
    Senseless,
}

/// Logs in; with `early`, the first token is sent with the command. Without a ticket the error is
/// CURLE_AUTH_ERROR, as in curl.
pub async fn log_in<S: Speaker>(
    t: &mut Transfer,
    speaker: &mut S,
    who: &Login,
    early: bool,
) -> Result<Verdict> {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (service, host, delegation) = (text(&who.service), text(&who.host), delegation(t));
    let begin = move || {
        let mut context = Context::new(&service, &host, Mechanism::Kerberos, delegation)?;
        let step = context.step(None)?;
        Ok((context, step))
    };
    let (mut context, mut step) = on_a_thread(t, begin).await?;
    let token = base64::encode(step.token());
    let mut line = [&speaker.command()[..], b"GSSAPI"].concat();
    let early = early && (S::LIMIT == 0 || "GSSAPI".len() + token.len() <= S::LIMIT);
    if early {
        line.extend_from_slice(&[b" ", token.as_bytes()].concat());
    }
    let mut reply = send(t, speaker, &line).await?;
    if !early {
        let SaslReply::Continue(_) = reply else { return Ok(verdict(&reply)) };
        reply = send(t, speaker, token.as_bytes()).await?;
    }
    while let Step::Continue(_) = step {
        let Some(token) = challenge(&reply) else { return Ok(verdict(&reply)) };
        let next = move || {
            let step = context.step(Some(&token))?;
            Ok((context, step))
        };
        (context, step) = on_a_thread(t, next).await?;
        reply = send(t, speaker, base64::encode(step.token()).as_bytes()).await?;
    }
    let Some(offer) = challenge(&reply) else { return Ok(verdict(&reply)) };
    let chosen = context.unwrap(&offer).ok().and_then(|(offer, _)| no_protection(&offer, &who.authzid));
    let Some(chosen) = chosen else { return Ok(Verdict::Senseless) };
    let chosen = context.wrap(&chosen, false).map_err(|e| failed(&e))?;
    speaker.dialogue().by_ticket = true;
    match send(t, speaker, base64::encode(&chosen).as_bytes()).await? {
        SaslReply::Success => Ok(Verdict::Success),
        _ => Ok(Verdict::Failure),
    }
}

async fn send<S: Speaker>(t: &mut Transfer, speaker: &mut S, line: &[u8]) -> Result<SaslReply> {
    speaker.dialogue().send(t, line).await?;
    speaker.reply(t).await
}

/// The challenge, if it is one.
fn challenge(reply: &SaslReply) -> Option<Vec<u8>> {
    match reply {
        SaslReply::Continue(challenge) if challenge.len() <= CHALLENGE_LIMIT => base64::decode(challenge),
        _ => None,
    }
}

/// Interprets the end of the exchange. A success before the server has proved itself counts as a failure.
fn verdict(reply: &SaslReply) -> Verdict {
    if matches!(reply, SaslReply::Continue(_)) { Verdict::Senseless } else { Verdict::Failure }
}

async fn on_a_thread(
    t: &Transfer,
    work: impl FnOnce() -> Result<(Context, Step), gss::Error> + Send + 'static,
) -> Result<(Context, Step)> {
    t.easy.trace("auth", || "a security context makes its next token".to_owned());
    let done = runtime::offload(t.multi.runtime.reactor(), "warmwire-gss", work).await;
    let done = done.map_err(|e| Error::new(Code::AuthError, format!("GSS-API: {e}")))?;
    done.map_err(|e| failed(&e))
}

fn failed(error: &gss::Error) -> Error {
    Error::new(Code::AuthError, error.to_string())
}
