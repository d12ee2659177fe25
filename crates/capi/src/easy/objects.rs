//! The form and the URL handle that were set by their address.

use std::ffi::c_void;

use crate::form::HttpPost;

/// Objects that were set by address and are read when a transfer starts.
#[derive(Clone, Copy, Default)]
pub struct Objects {
    pub form: Option<Form>,
    pub url: Option<*const c_void>,
}

#[derive(Clone, Copy)]
pub enum Form {
    Mime(*mut c_void),
    Posts(*const HttpPost),
}
