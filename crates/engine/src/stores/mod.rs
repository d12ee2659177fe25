//! What a handle remembers from one transfer to the next, besides its connections: cookies and
//! received headers.

pub mod cookies;
pub mod headers;

use crate::easy::EasyState;
use crate::transfer::Transfer;

/// The stores of one easy handle.
#[derive(Default)]
pub struct Stores {
    /// Cookies, once the cookie engine is on.
    pub cookies: cookies::Store,
}

impl Stores {
    /// curl_easy_duphandle copies the cookies.
    pub fn copy_from(&self, other: &Stores) {
        self.cookies.copy_from(&other.cookies);
    }
}

/// Writes files that were asked for (CURLOPT_COOKIEJAR) when the handle goes.
pub fn save_at_close(easy: &EasyState) {
    cookies::save(easy);
}

/// Strict-Transport-Security came; not kept in this build (CURLOPT_HSTS answers so).
pub fn hsts_received(_t: &Transfer, _value: &[u8]) {}
