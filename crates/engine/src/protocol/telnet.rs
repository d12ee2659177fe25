//! telnet:// (RFC 854): a dialogue. Data of the read callback is sent, the server's data is delivered, and
//! wire::telnet negotiates options, until the server or the application ends it.

use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use net::Whole;
use net::exchange::BodyStep;
use runtime::Sleep;
use tables::{Code, EasyOption as O};
use wire::telnet::{self, BadWish, Session, TelnetError, TelnetOptions};

use crate::callbacks::{DebugKind, ReadAnswer};
use crate::easy::EasyState;
use crate::error::{Error, Result};
use crate::settings::Text;
use crate::transfer::Transfer;
use crate::transfer::body::{BodySource, Idling, receive_failed, send_failed};
use crate::transfer::credentials::own;

/// Interval between queries of an application without data, and the time in which the server may start
/// negotiations.
const SILENCE: Duration = Duration::from_millis(100);
/// Size of one read from the callback.
const PIECE: usize = 4096;
/// So often in one turn; then others have theirs.
const TURN: usize = 64;
/// Size of one receive. It may contain only commands, and fairness is measured by bytes received.
const HEARD: usize = 16 * 1024;

/// Runs one conversation.
pub async fn run(t: &mut Transfer) -> Result<()> {
    let whole = t.connect(false).await?.into_whole()?;
    let (user, _) = own(t)?;
    let options = t.easy.settings.borrow().list(O::TelnetOptions);
    let session = Session::new(wishes(&user, &options)?);
    t.mark(|info, elapsed| info.pre_transfer = elapsed);
    let mut conversation = Conversation {
        whole,
        session,
        easy: t.easy.clone(),
        unsent: Vec::new(),
        silence: t.multi.runtime.reactor().sleep_until(t.now() + SILENCE),
        silent: true,
        paused: false,
        received: 0,
        heard: 0,
        idling: Idling::default(),
    };
    t.flow.pump_body(&mut conversation).await?;
    t.retire(conversation.whole);
    Ok(())
}

/// Reads CURLOPT_TELNETOPTIONS(3), and the user as a variable.
fn wishes(user: &[u8], options: &[Text]) -> Result<TelnetOptions> {
    let mut wishes = TelnetOptions::default();
    if !user.is_ascii() {
        return Err(Error::new(Code::BadFunctionArgument, "a TELNET user's name is ASCII"));
    }
    if !user.is_empty() {
        wishes.user(user);
    }
    for option in options {
        let shown = || String::from_utf8_lossy(option);
        wishes.add(option).map_err(|bad| match bad {
            BadWish::Unknown => Error::new(Code::UnknownOption, format!("Unknown telnet option {}", shown())),
            BadWish::Syntax => {
                Error::new(Code::SetoptOptionSyntax, format!("Syntax error in telnet option: {}", shown()))
            }
        })?;
    }
    Ok(wishes)
}

/// Both directions of a connection, as a body that ends when one side ends it.
struct Conversation {
    whole: Whole,
    session: Session,
    easy: Rc<EasyState>,
    /// Output that is sent before anything else.
    unsent: Vec<u8>,
    silence: Sleep,
    /// Whether the application had no data: it is asked again after the interval, or when the server has sent
    /// something.
    silent: bool,
    /// It said so by pausing, and may take that back earlier.
    paused: bool,
    /// Bytes received including commands, up to the last delivery.
    received: u64,
    /// Heard since.
    heard: u64,
    idling: Idling,
}

impl Conversation {
    /// Some data at the front of the buffer; none at the end.
    fn poll_hear(&mut self, cx: &mut Context<'_>, buf: &mut [u8]) -> Poll<Result<usize>> {
        loop {
            ready!(self.idling.poll_step(&self.easy, cx));
            let room = buf.len().min(HEARD);
            let read = ready!(self.whole.connection().filter().poll_read(cx, &mut buf[..room]));
            let n = read.map_err(|e| receive_failed(&e))?;
            if n == 0 {
                self.received += std::mem::take(&mut self.heard);
                return Poll::Ready(Ok(0));
            }
            self.heard += n as u64;
            self.silent = false;
            let data = self.session.receive(&mut buf[..n]).map_err(fault)?;
            self.unsent.append(self.session.answers());
            self.poll_say(cx)?;
            if data > 0 {
                self.received += std::mem::take(&mut self.heard);
                return Poll::Ready(Ok(data));
            }
        }
    }

    /// Sends replies, then the application's data, as long as there is some and the socket accepts it.
    fn poll_say(&mut self, cx: &mut Context<'_>) -> Result<()> {
        for _ in 0..TURN {
            if self.poll_unsent(cx)?.is_pending() || self.is_silent(cx) {
                return Ok(());
            }
            self.ask()?;
        }
        cx.waker().wake_by_ref();
        Ok(())
    }

    fn poll_unsent(&mut self, cx: &mut Context<'_>) -> Poll<Result<()>> {
        while !self.unsent.is_empty() {
            let filter = self.whole.connection().filter();
            let n = ready!(filter.poll_write(cx, &self.unsent)).map_err(|e| send_failed(&e))?;
            self.unsent.drain(..n);
        }
        ready!(self.whole.connection().filter().poll_flush(cx)).map_err(|e| send_failed(&e))?;
        Poll::Ready(Ok(()))
    }

    fn is_silent(&mut self, cx: &mut Context<'_>) -> bool {
        let flow = &self.easy.flow;
        let resumed = self.paused && flow.poll_send(cx).is_ready();
        if self.silent && (resumed || Pin::new(&mut self.silence).poll(cx).is_ready()) {
            (self.silent, self.paused) = (false, false);
        }
        self.silent
    }

    /// Reads from the application. One without data now may have some later, so this is not the end.
    fn ask(&mut self) -> Result<()> {
        let mut piece = [0; PIECE];
        match self.easy.callbacks.read_now(&mut piece) {
            answer @ (ReadAnswer::Bytes(0) | ReadAnswer::Pause) => {
                self.paused = answer == ReadAnswer::Pause;
                if self.paused {
                    self.easy.flow.pause_send();
                }
                self.silence.reset_after(SILENCE);
                self.silent = true;
            }
            ReadAnswer::Bytes(n) => {
                self.easy.callbacks.debug_if_wanted(DebugKind::DataOut, &piece[..n]);
                telnet::escape(&piece[..n], &mut self.unsent);
                self.easy.info.borrow_mut().uploaded += n as i64;
            }
            ReadAnswer::Abort => {
                return Err(Error::new(Code::AbortedByCallback, "operation aborted by callback"));
            }
            ReadAnswer::TooMany => {
                return Err(Error::new(Code::ReadError, "read function returned funny value"));
            }
        }
        Ok(())
    }
}

impl BodySource for Conversation {
    fn poll_body(&mut self, cx: &mut Context<'_>, buf: &mut [u8]) -> Poll<Result<BodyStep>> {
        let n = ready!(self.poll_hear(cx, buf))?;
        Poll::Ready(Ok(if n == 0 { BodyStep::End } else { BodyStep::Bytes(n) }))
    }

    fn converted(&self) -> Option<u64> {
        Some(self.received)
    }

    fn poll_beside(&mut self, cx: &mut Context<'_>) -> Result<()> {
        self.poll_say(cx)
    }

    fn forget_read(&mut self, cx: &mut Context<'_>) {
        self.whole.connection().filter().forget_read(cx);
    }
}

fn fault(fault: TelnetError) -> Error {
    match fault {
        TelnetError::Subnegotiation => Error::new(Code::RecvError, "telnet: suboption error"),
        TelnetError::NotOffered => {
            Error::new(Code::BadFunctionArgument, "the server asks for what was not offered")
        }
        TelnetError::TooLong => Error::new(Code::SendError, "a telnet option that long"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transfer::fixture::lines;

    #[test]
    fn options_are_checked_before_anything_is_said() {
        let rows: [(_, &[u8], &[&str], _); 6] = [
            ("CURLOPT_TELNETOPTIONS(3): none", b"", &[], None),
            ("CURLOPT_TELNETOPTIONS(3): a terminal", b"me", &["TTYPE=vt100"], None),
            ("CURLOPT_TELNETOPTIONS(3): a variable", b"", &["NEW_ENV=A,b"], None),
            ("CURLOPT_TELNETOPTIONS(3): unknown", b"", &["X=1"], Some(Code::UnknownOption)),
            ("CURLOPT_TELNETOPTIONS(3): without a value", b"", &["TTYPE"], Some(Code::SetoptOptionSyntax)),
            ("RFC 1572: a user whose name is not ASCII", b"\xc3\xa9", &[], Some(Code::BadFunctionArgument)),
        ];
        for (name, user, options, wanted) in rows {
            assert_eq!(wishes(user, &lines(options)).err().map(|e| e.code()), wanted, "{name}");
        }
    }

    #[test]
    fn faults_have_codes_of_their_own() {
        let rows = [
            ("RFC 855: a subnegotiation that breaks off", TelnetError::Subnegotiation, Code::RecvError),
            ("RFC 855: an option that was not offered", TelnetError::NotOffered, Code::BadFunctionArgument),
            ("RFC 855: an option that does not fit", TelnetError::TooLong, Code::SendError),
        ];
        for (name, found, wanted) in rows {
            assert_eq!(fault(found).code(), wanted, "{name}");
        }
    }
}
