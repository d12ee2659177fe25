//! Replies without a head: HTTP/0.9, and the openings that an application takes for a status line.

use std::hint::cold_path;

use tables::{Code, EasyOption as O};
use wire::http1::status::Opening;

use super::active_exchange::ActiveExchange;
use super::decide::reply::{self, Headless, Http09};
use super::response::{more, nothing};
use crate::callbacks::DebugKind;
use crate::error::{Error, Result};
use crate::transfer::Transfer;

/// Returns whether the reply has no head at all. Peeks at its first bytes.
pub async fn http09(t: &mut Transfer, active: &mut ActiveExchange) -> Result<bool> {
    // The first line decides; a reply shorter than "HTTP/" is recognised by its end.
    let found = loop {
        match active.exchange.opening() {
            Opening::Http => break false,
            Opening::Other => break true,
            Opening::Undecided => {}
        }
        if !more(t, active).await? {
            return Err(nothing(active));
        }
    };
    t.note_late();
    t.mark_first_byte();
    if !found || is_alias(t, active.exchange.rest()) {
        return Ok(false);
    }
    cold_path();
    let headless =
        Headless { reused: active.reused, allowed: t.on(O::Http09Allowed), head_only: active.head_only };
    match reply::headless(&headless) {
        Http09::Body => Ok(true),
        Http09::NoStatusLine => Err(Error::new(Code::WeirdServerReply, "Invalid status line")),
        Http09::NotAllowed => {
            empty_first_line(t, active)?;
            Err(Error::new(Code::UnsupportedProtocol, "Received HTTP/0.9 when not allowed"))
        }
        Http09::NoBody => Err(Error::from(Code::WeirdServerReply)),
    }
}

/// Treats an empty line as a head, as curl does, although it is not the start of a reply.
fn empty_first_line(t: &mut Transfer, active: &ActiveExchange) -> Result<()> {
    let rest = active.exchange.rest();
    let line = rest.iter().position(|b| *b == b'\n').map_or(rest, |at| &rest[..=at]);
    if !matches!(line, b"\r\n" | b"\n") {
        return Ok(());
    }
    t.easy.callbacks.debug_if_wanted(DebugKind::HeaderIn, line);
    t.flow.writer.header(line, t.on(O::Header))?;
    t.easy.info.borrow_mut().header_size += line.len() as i64;
    Ok(())
}

/// CURLOPT_HTTP200ALIASES: other openings that count as a status line with 200.
fn is_alias(t: &Transfer, bytes: &[u8]) -> bool {
    t.easy.settings.borrow().list(O::Http200Aliases).iter().any(|a| !a.is_empty() && bytes.starts_with(a))
}
