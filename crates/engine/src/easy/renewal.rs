//! The state of a new easy handle, and a closed handle made as new for the next one.

use std::cell::Cell;
use std::rc::Rc;

use runtime::cell::RefCell;

use super::{Easy, EasyState, PauseState};
use crate::callbacks::Callbacks;
use crate::memories::Memories;
use crate::multi::Multi;
use crate::outputs;
use crate::settings::Settings;
use crate::stores::Stores;
use crate::why::Why;

impl Easy {
    /// Makes a closed handle as new for the next one, which has its storage and its callbacks. Returns false
    /// if anything refers to it still: then nothing has changed that a dropped handle would not lose.
    pub fn renew(&mut self) -> bool {
        // With outputs of the process, a handle's callbacks may be watched, and its reasons are kept.
        if outputs::need_reasons() {
            return false;
        }
        let Some(state) = Rc::get_mut(&mut self.0) else { return false };
        let new = EasyState::new(state.callbacks.clone(), Settings::default());
        let mut old = std::mem::replace(state, new);
        let (settings, former) = old.settings.take().renewed(old.former.take());
        state.settings = RefCell::new(settings);
        if former.is_some() {
            state.derived = std::mem::take(&mut old.derived);
        }
        state.former = RefCell::new(former);
        state.headers = RefCell::new(old.headers.take().renewed());
        state.spare_multi = RefCell::new(old.spare_multi.take());
        true
    }

    /// Takes a closed private multi handle that is as new.
    pub(crate) fn spare_multi(&self) -> Option<Multi> {
        self.0.spare_multi.take()
    }
}

impl EasyState {
    /// Returns the state of a new handle.
    pub(super) fn new(callbacks: Rc<dyn Callbacks>, settings: Settings) -> EasyState {
        EasyState {
            callbacks,
            settings: RefCell::new(settings),
            info: RefCell::default(),
            headers: RefCell::default(),
            stores: Stores::default(),
            memories: Memories::default(),
            derived: Memories::default(),
            former: RefCell::default(),
            flow: PauseState::default(),
            share: RefCell::default(),
            connected: RefCell::default(),
            adopted: RefCell::default(),
            websocket: RefCell::default(),
            ahead: Cell::new(false),
            ftp_pipelining: Cell::new(None),
            smtp_pipelining: Cell::new(None),
            why: Why::default(),
            stall_limit: Cell::new(None),
            idles: Cell::new(false),
            tag: Cell::new(0),
            os_errno: Cell::new(0),
            rtsp_received: Cell::new(0),
            published: RefCell::default(),
            inner: Cell::new(false),
            wildcard_pins: Cell::new(false),
            transfer_id: Cell::new(-1),
            multi: RefCell::default(),
            task: Cell::new(None),
            place: Cell::new(None),
            message_waits: Cell::new(false),
            own_multi: RefCell::default(),
            spare_multi: RefCell::default(),
            message: RefCell::default(),
            frames: RefCell::default(),
        }
    }
}
