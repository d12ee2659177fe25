//! Protocols with one query, such as Gopher and DICT: everything until the server closes is the reply.

use std::task::{Context, Poll, ready};

use net::Connection;
use net::exchange::BodyStep;

use super::Transfer;
use super::body::{BodySource, receive_failed, send_failed};
use crate::callbacks::DebugKind;
use crate::error::Result;

/// Connects, sends the query and delivers the reply.
pub async fn ask(t: &mut Transfer, question: &[u8]) -> Result<()> {
    let mut whole = t.connect(false).await?.into_whole()?;
    t.mark(|info, elapsed| info.pre_transfer = elapsed);
    t.easy.callbacks.debug_if_wanted(DebugKind::HeaderOut, question);
    t.easy.info.borrow_mut().request_size += question.len() as i64;
    whole.connection().write_all(question).await.map_err(|e| send_failed(&e))?;
    t.flow.pump_body(&mut UntilClose(whole.connection())).await?;
    t.retire(whole);
    Ok(())
}

/// All that comes on a connection.
struct UntilClose<'a>(&'a mut Connection);

impl BodySource for UntilClose<'_> {
    fn poll_body(&mut self, cx: &mut Context<'_>, buf: &mut [u8]) -> Poll<Result<BodyStep>> {
        let n = ready!(self.0.filter().poll_read(cx, buf)).map_err(|e| receive_failed(&e))?;
        Poll::Ready(Ok(if n == 0 { BodyStep::End } else { BodyStep::Bytes(n) }))
    }

    fn forget_read(&mut self, cx: &mut Context<'_>) {
        self.0.filter().forget_read(cx);
    }
}
