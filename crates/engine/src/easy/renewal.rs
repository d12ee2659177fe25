//! The state of a new easy handle, and a closed handle made as new for the next one.

use std::cell::{Cell, OnceCell};
use std::rc::Rc;

use runtime::cell::RefCell;

use super::{Easy, EasyState, PauseState};
use crate::callbacks::Callbacks;
use crate::memories::Memories;
use crate::multi::Multi;
use crate::outputs;
use crate::settings::Settings;
use crate::stores::Stores;
use crate::upload_resumption::UploadResumption;
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
        state.renew();
        true
    }

    /// Takes a closed private multi handle that is as new.
    pub(crate) fn spare_multi(&self) -> Option<Multi> {
        self.0.spare_multi.take()
    }
}

impl EasyState {
    fn renew(&mut self) {
        // Every field is named here: a new one must not carry something of one handle to another.
        let EasyState {
            callbacks: _,
            settings,
            info,
            headers,
            stores,
            memories,
            derived,
            former,
            flow,
            share,
            connected,
            adopted,
            websocket,
            ahead,
            ftp_pipelining,
            smtp_pipelining,
            why,
            stall_limit,
            idles,
            repeated,
            upload_resumption,
            tag,
            os_errno,
            rtsp_received,
            published,
            inner,
            wildcard_pins,
            transfer_id,
            multi,
            task,
            place,
            message_waits,
            own_multi,
            spare_multi: _,
            message,
            frames,
        } = self;
        settings.get_mut().renew(former.get_mut());
        if former.get_mut().is_none() {
            derived.clear();
        }
        headers.get_mut().renew();
        memories.clear();
        message.get_mut().clear();
        transfer_id.set(-1);
        (*info, *stores, *flow, *share, *why, *published, *frames) = Default::default();
        (*connected, *adopted, *websocket, *multi, *own_multi) = Default::default();
        (*ftp_pipelining, *smtp_pipelining, *stall_limit, *task, *place) = Default::default();
        (*ahead, *idles, *inner, *wildcard_pins, *message_waits) = Default::default();
        *repeated = Default::default();
        (*upload_resumption, *tag, *os_errno, *rtsp_received) = Default::default();
    }

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
            adopted: Cell::default(),
            websocket: RefCell::default(),
            ahead: Cell::new(false),
            ftp_pipelining: Cell::new(None),
            smtp_pipelining: Cell::new(None),
            why: Why::default(),
            stall_limit: Cell::new(None),
            idles: Cell::new(None),
            repeated: OnceCell::new(),
            upload_resumption: UploadResumption::default(),
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
            spare_multi: Cell::default(),
            message: RefCell::default(),
            frames: RefCell::default(),
        }
    }
}
