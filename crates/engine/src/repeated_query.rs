//! A query about a file that one transfer repeats on its connection, each time its owner asks (FTP's MDTM and
//! SIZE).
//!
//! A transfer of its own for each query costs ten times as much: settings, route, pool, log-in state and the
//! result are the same each time. The transfer also notices at once that the server closes the connection.

use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use runtime::cell::RefCell;

/// The numbers of the queries that have been answered, for an owner of several.
pub type Answered = Rc<RefCell<Vec<usize>>>;

/// The description of a file by its server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// The file exists. A member is `None` if the server does not say it.
    Present {
        /// Seconds since 1970.
        modified: Option<i64>,
        /// Bytes.
        size: Option<u64>,
    },
    /// There is no such file.
    Absent,
}

/// The owner's wish.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wish {
    /// Ask once more.
    Repeat,
    /// End the transfer successfully and keep its connection.
    End,
}

/// A query that its owner and the transfer share.
pub struct RepeatedQuery {
    number: usize,
    answered: Answered,
    state: RefCell<State>,
}

#[derive(Default)]
struct State {
    wish: Option<Wish>,
    answer: Option<Answer>,
    /// The transfer waits for a wish.
    waits: bool,
    waker: Option<Waker>,
}

impl RepeatedQuery {
    /// Creates a query. Each answer adds `number` to the list.
    pub fn new(number: usize, answered: Answered) -> RepeatedQuery {
        RepeatedQuery { number, answered, state: RefCell::default() }
    }

    /// Returns whether a transfer waits for a wish: its connection is open and logged in.
    pub fn is_waiting(&self) -> bool {
        self.state.borrow().waits
    }

    /// Passes a wish to the transfer.
    pub fn wish(&self, wish: Wish) {
        let mut state = self.state.borrow_mut();
        (state.wish, state.waits) = (Some(wish), false);
        let waker = state.waker.take();
        drop(state);
        waker.into_iter().for_each(Waker::wake);
    }

    /// Takes the last answer.
    pub fn take_answer(&self) -> Option<Answer> {
        self.state.borrow_mut().answer.take()
    }

    /// Forgets a transfer that has ended or was removed.
    pub fn clear(&self) {
        let old = self.state.take();
        drop(old);
    }

    /// Delivers an answer.
    pub(crate) fn deliver(&self, answer: Answer) {
        self.state.borrow_mut().answer = Some(answer);
        self.answered.borrow_mut().push(self.number);
    }

    /// Waits for the next wish.
    pub(crate) fn poll_wish(&self, cx: &mut Context<'_>) -> Poll<Wish> {
        let mut state = self.state.borrow_mut();
        if let Some(wish) = state.wish.take() {
            return Poll::Ready(wish);
        }
        state.waits = true;
        if !state.waker.as_ref().is_some_and(|waker| waker.will_wake(cx.waker())) {
            let old = state.waker.replace(cx.waker().clone());
            drop(state);
            drop(old);
        }
        Poll::Pending
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wish_reaches_the_transfer_once_and_its_answer_the_owner() {
        let answered = Answered::default();
        let query = RepeatedQuery::new(7, answered.clone());
        let mut cx = Context::from_waker(Waker::noop());
        assert!(!query.is_waiting() && query.poll_wish(&mut cx).is_pending() && query.is_waiting());
        query.wish(Wish::Repeat);
        assert!(!query.is_waiting(), "it is being asked");
        assert_eq!(query.poll_wish(&mut cx), Poll::Ready(Wish::Repeat));
        query.deliver(Answer::Absent);
        assert!(query.poll_wish(&mut cx).is_pending());
        assert_eq!((answered.take(), query.take_answer()), (vec![7], Some(Answer::Absent)));
        assert_eq!(query.take_answer(), None);
        query.clear();
        assert!(!query.is_waiting());
    }
}
