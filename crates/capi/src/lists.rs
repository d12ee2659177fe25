//! Lists that were set as options. libcurl keeps the application's pointer and reads the list when a transfer
//! uses it, so that lines appended after curl_easy_setopt are sent (CURLOPT_HTTPHEADER.md: the list is not
//! copied). Here lists are copied when they are set, and compared with their current contents when a transfer
//! starts: an unchanged list costs only the comparison.

use std::ffi::CStr;
use std::rc::Rc;

use runtime::cell::RefCell;

use engine::Easy;
use tables::EasyOption as O;
use tables::scheme::Family;

use crate::slist::{self, Slist};

/// The lists of one handle, each with its option.
#[derive(Default)]
pub struct Lists(RefCell<Vec<(O, *const Slist)>>);

impl Lists {
    /// The application set this option to this list, or to NULL.
    pub fn keep(&self, option: O, list: *const Slist) {
        let mut kept = self.0.borrow_mut();
        kept.retain(|(known, _)| *known != option);
        if !list.is_null() {
            kept.push((option, list));
        }
    }

    /// A copied handle reads its original's lists, as in curl.
    pub fn share(&self, original: &Lists) {
        self.0.borrow_mut().clone_from(&original.0.borrow());
    }

    pub fn clear(&self) {
        self.0.borrow_mut().clear();
    }

    /// Starts a transfer: reads what was appended meanwhile.
    pub fn read_again(&self, easy: &Easy) {
        if self.0.borrow().is_empty() {
            return;
        }
        let settings = &easy.state().settings;
        let list_use = ListUse {
            family: easy.scheme().map(|scheme| scheme.family()),
            proxied: settings.borrow().text(O::Proxy).is_some_and(|proxy| !proxy.is_empty()),
            form: settings.borrow().uncommon.mime.is_some(),
        };
        for (option, list) in self.0.borrow().iter().filter(|(option, _)| list_use.reads(*option)) {
            // SAFETY: the manual requires the application to keep a list until no transfer uses it any more,
            // and this one does.
            let lines = || unsafe { slist::strings(*list) }.map(CStr::to_bytes);
            let known = settings.borrow().list(*option);
            if !lines().eq(known.iter().map(|line| &**line)) {
                let lines = lines().map(Rc::from).collect();
                let _ = settings.borrow_mut().set_list(*option, Some(lines));
            }
        }
        // curl reads this list once, and its cache then has the addresses: programs free it after the first
        // transfer.
        self.0.borrow_mut().retain(|(option, _)| *option != O::Resolve);
    }
}

/// The settings that decide which lists a transfer reads.
struct ListUse {
    family: Option<Family>,
    proxied: bool,
    form: bool,
}

impl ListUse {
    /// Returns whether curl always reads this list in such a transfer. A list that it does not read may have
    /// been freed.
    fn reads(&self, option: O) -> bool {
        let of = |families: &[Family]| self.family.is_some_and(|family| families.contains(&family));
        match option {
            O::Resolve | O::ConnectTo => true,
            O::HttpHeader if self.form => of(&[Family::Http, Family::Ws, Family::Smtp, Family::Imap]),
            O::HttpHeader | O::Http200Aliases => of(&[Family::Http, Family::Ws]),
            O::ProxyHeader => self.proxied && of(&[Family::Http]),
            O::Quote | O::PreQuote | O::PostQuote => of(&[Family::Ftp]),
            O::MailRcpt => of(&[Family::Smtp]),
            O::TelnetOptions => of(&[Family::Telnet]),
            _ => false,
        }
    }
}
