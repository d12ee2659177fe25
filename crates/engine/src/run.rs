//! One run of a handle, from its options to its result. Here the handles meet the protocols: below, a
//! transfer knows no protocol, and a handle no transfer.

use std::future::{Future, poll_fn};
use std::hint::cold_path;
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::sync::Arc;
use std::task::Poll;

use runtime::{Clock, boxed};
use tables::{Code, Scheme};

use crate::easy::{Easy, EasyState};
use crate::error::Result;
use crate::export;
use crate::multi::{Multi, MultiState, Runs};
use crate::protocol::{self, HttpTransfer, Next};
use crate::recording::{self, Recording};
use crate::stores;
use crate::transfer::Transfer;
use crate::transfer::explained;
use crate::transfer::route::scheme::check_scheme;
use crate::transfer::route::target;
use crate::transfer::route::url::url_text;
use crate::transfer::watch::Watch;

/// How a multi handle has its transfers run.
const RUNS: Runs = Runs {
    task,
    inside: |multi, easy| boxed(|| complete(multi, easy)),
    decode_memory: protocol::decode_memory,
};

impl Default for Multi {
    fn default() -> Self {
        Multi::new(Clock::system(), false)
    }
}

impl Multi {
    /// A multi handle on this clock.
    pub fn new(clock: Clock, for_easy: bool) -> Multi {
        Multi::with(clock, for_easy, &RUNS).of_program()
    }

    /// Adds what the process has asked for to a handle for transfers of the application.
    fn of_program(self) -> Multi {
        recording::of_process().into_iter().for_each(|recording| self.record(recording));
        self
    }

    /// A multi handle for requests of the library's own. They are neither recorded nor replayed.
    pub(crate) fn of_library() -> Multi {
        Multi::with(Clock::system(), true, &RUNS)
    }

    /// Records or replays the exchanges of this handle. Has no effect if it does already.
    pub fn record(&self, recording: Arc<Recording>) {
        let _ = self.0.recording.set(recording);
    }
}

impl Easy {
    /// The scheme of the URL that was set, when it is a URL of a known scheme.
    pub fn scheme(&self) -> Option<Scheme> {
        target::first(&self.0).ok()?.scheme
    }

    /// Reuses the route of another handle, after this one received that one's settings
    /// ([`Settings`](crate::settings::Settings), cloned) and a URL of the same server.
    pub fn follow(&self, other: &Easy) {
        target::follow(&self.0, &other.0);
    }

    /// Runs the transfer to its end on this thread. The connections stay with the handle.
    pub fn perform(&self) -> Code {
        if self.multi().is_some() {
            self.0.set_message("easy handle already used in multi handle");
            return Code::FailedInit;
        }
        let multi = self.own_multi_or(|| match self.spare_multi() {
            Some(spare) => {
                spare.find_process_pool();
                spare.of_program()
            }
            None => Multi::new(Clock::system(), true),
        });
        multi.run_one(self, pin!(complete(&multi.0, &self.0)))
    }
}

fn task(multi: Rc<MultiState>, easy: Rc<EasyState>) -> Pin<Box<dyn Future<Output = ()>>> {
    boxed(move || async move {
        let code = complete(&multi, &easy).await;
        multi.finished(&easy, code);
    })
}

/// Runs an easy handle to its result.
#[expect(clippy::manual_async_fn, reason = "the future of an async fn contains each parameter twice")]
fn complete(multi: &Rc<MultiState>, easy: &Rc<EasyState>) -> impl Future<Output = Code> {
    async move {
        let result = begin(multi, easy).await;
        conclude(easy, multi, result)
    }
}

async fn begin(multi: &Rc<MultiState>, easy: &Rc<EasyState>) -> Result<()> {
    let now = multi.runtime.reactor().now();
    {
        let mut info = easy.info.borrow_mut();
        (info.started, info.request_started) = (Some(now), Some(now));
    }
    easy.why.begin(Some(now));
    easy.trace("multi", || "the transfer begins".to_owned());
    stores::begin(easy.keeper())?;
    easy.settings.borrow_mut().succeed(&mut easy.former.borrow_mut());
    let transfer = Transfer::new(multi.clone(), easy.clone(), target::first(easy)?);
    let mut transfer = HttpTransfer::new(transfer);
    let mut watch = Watch::new(multi, easy, now);
    let mut exchange = pin!(drive(&mut transfer));
    // The clock is checked first: a result after the time limit is too late, even if the caller slept.
    let result = poll_fn(|cx| {
        easy.tell_frames();
        match watch.too_late() {
            Some(late) => Poll::Ready(Err(late)),
            None => match exchange.as_mut().poll(cx) {
                Poll::Ready(result) => Poll::Ready(result),
                Poll::Pending => watch.poll(cx).map(Err),
            },
        }
    });
    let result = result.await;
    watch.conclude(result)
}

/// Returns whether an error is of a kind for which CURLINFO_OS_ERRNO.md promises a number; file errors are
/// not.
fn is_of_network(code: Code) -> bool {
    use Code::*;
    matches!(code, CouldntConnect | FailedInit | InterfaceFailed | OperationTimedout | RecvError | SendError)
}

/// Writes down how it ended.
fn conclude(easy: &Rc<EasyState>, multi: &Rc<MultiState>, result: Result<()>) -> Code {
    easy.tell_frames();
    easy.leave_websocket();
    drop(easy.adopted.take());
    let now = multi.runtime.reactor().now();
    let explains = easy.why.is_on();
    if explains {
        explained::conclude(easy, now, result.as_ref().err());
    }
    {
        let mut info = easy.info.borrow_mut();
        info.conclude(now, result.is_err());
        if let Err(e) = &result {
            cold_path();
            if e.os_errno() != 0 && is_of_network(e.code()) {
                easy.os_errno.set(i64::from(e.os_errno()));
            }
            if e.proxy_code() != 0 {
                info.rare.proxy_error = e.proxy_code();
            }
            if e.verify_result() != 0 {
                info.note_verify_result(e.verify_result());
            }
        }
    }
    if explains {
        explained::publish(easy, export::connect);
    }
    easy.trace("multi", || match &result {
        Ok(()) => "the transfer has ended".to_owned(),
        Err(e) => format!("the transfer has failed with {}", e.code().id()),
    });
    match result {
        Ok(()) => Code::Ok,
        Err(e) => {
            cold_path();
            let text = e.to_string();
            easy.note(|| text.clone());
            easy.set_message(&text);
            e.code()
        }
    }
}

/// Runs requests until none follows.
async fn drive(t: &mut HttpTransfer) -> Result<()> {
    loop {
        t.upgrade()?;
        check_scheme(t)?;
        t.note_url();
        let next = match protocol::run(t).await {
            // It begins anew: nothing was sent to the server.
            Err(e) if t.leave_dead_proxy(&e) => continue,
            next => next?,
        };
        match next {
            Next::Done => {
                // Data that the application was not ready for is delivered first, whatever the protocol.
                poll_fn(|cx| t.flow.writer.poll_ready(cx)).await?;
                return t.flow.writer.finish();
            }
            Next::Follow(url) => {
                t.follow(*url);
                t.easy.callbacks.redirected(&url_text(&t.url));
            }
            Next::Again => {}
            Next::Stop(error) => return Err(error),
        }
        let now = t.now();
        if t.easy.why.is_on() {
            explained::note_request(&t.easy, now);
        }
        t.easy.info.borrow_mut().begin_request(now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::callbacks::Callbacks;
    use tables::EasyOption as O;

    struct Nobody;

    impl Callbacks for Nobody {}

    /// A waiting transfer takes 5,000 bytes with its handle, and these are a quarter of them. State of rare
    /// steps is in boxes.
    #[test]
    fn an_http_transfer_is_small() {
        let multi = Multi::default();
        let easy = Easy::new(Rc::new(Nobody));
        easy.set_text(O::Url, Some(b"http://host/")).unwrap();
        let task = size_of_val(&*task(multi.0.clone(), easy.0.clone()));
        let url = target::first(&easy.0).unwrap();
        let transfer = Transfer::new(multi.0.clone(), easy.0.clone(), url);
        let mut transfer = HttpTransfer::new(transfer);
        let http = protocol::http_size(&mut transfer);
        let all = [("task with the transfer", task), ("http", http)];
        let sum: usize = all.iter().map(|(_, size)| size).sum();
        println!("{all:?}");
        assert!(sum <= 1280, "{all:?}");
    }
}
