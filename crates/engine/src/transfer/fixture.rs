//! Handles and transfers for tests of decisions: an application without functions, and no network.

use std::ops::{Deref, DerefMut};
use std::rc::Rc;

use tables::EasyOption as O;

use super::Transfer;
use super::route::target;
use crate::callbacks::Callbacks;
use crate::settings::Text;
use crate::{Easy, Multi};

/// An application without functions.
struct NoCallbacks;

impl Callbacks for NoCallbacks {}

/// A transfer that has not begun, with the handle that it belongs to.
pub struct Unstarted {
    /// The handle.
    pub easy: Easy,
    _multi: Multi,
    transfer: Transfer,
}

impl Deref for Unstarted {
    type Target = Transfer;

    fn deref(&self) -> &Transfer {
        &self.transfer
    }
}

impl DerefMut for Unstarted {
    fn deref_mut(&mut self) -> &mut Transfer {
        &mut self.transfer
    }
}

/// Creates a handle with these options.
pub fn easy(texts: &[(O, &str)], numbers: &[(O, i64)]) -> Easy {
    let easy = Easy::new(Rc::new(NoCallbacks));
    for (option, text) in texts {
        easy.set_text(*option, Some(text.as_bytes())).unwrap();
    }
    for (option, number) in numbers {
        easy.0.settings.borrow_mut().set_long(*option, *number).unwrap();
    }
    easy
}

/// Creates a transfer to a URL. The proxies of the environment do not count.
pub fn transfer(url: &str, texts: &[(O, &str)], numbers: &[(O, i64)]) -> Unstarted {
    let easy = easy(&[&[(O::Proxy, ""), (O::NoProxy, "")], texts].concat(), numbers);
    easy.set_text(O::Url, Some(url.as_bytes())).unwrap();
    begin(easy)
}

/// Creates a transfer of a handle.
pub fn begin(easy: Easy) -> Unstarted {
    let multi = Multi::default();
    let url = target::first(&easy.0).unwrap();
    let transfer = Transfer::new(multi.0.clone(), easy.0.clone(), url);
    Unstarted { easy, _multi: multi, transfer }
}

/// Returns lines of a list option.
pub fn lines(texts: &[&str]) -> Vec<Text> {
    texts.iter().map(|text| Text::from(text.as_bytes())).collect()
}
