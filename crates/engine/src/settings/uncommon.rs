//! Settings that are no values of options, and that few handles have: ten thousand do without their storage.

use std::rc::Rc;
use std::sync::Arc;

use net::tls::Module;
use wire::url::Url;

use super::{Choices, Text, WebSocketOptions, own_text};
use crate::mime::MimeSource;
use crate::rare::Nothing;

/// The uncommon settings of a handle.
#[derive(Clone, Default)]
pub struct UncommonSettings {
    /// warmwire_websocket(); `None` is the default from the environment.
    pub(super) websocket: Option<WebSocketOptions>,
    pub(super) choices: Choices,
    /// CURLOPT_SSL_CTX_FUNCTION and its data.
    pub(super) tls_hook: Option<[usize; 2]>,
    /// The module that CURLOPT_SSLENGINE names.
    pub(super) tls_module: Option<Arc<Module>>,
    /// The multipart form, when one is set.
    pub mime: Option<Rc<dyn MimeSource>>,
    /// The parsed URL of CURLOPT_CURLU, which goes before CURLOPT_URL.
    pub url_handle: Option<Rc<dyn Fn() -> Url>>,
    /// COPYPOSTFIELDS' own copy; POSTFIELDS stays the application's memory.
    pub copied_post_fields: Option<Text>,
}

impl Nothing for UncommonSettings {
    const NOTHING: &'static UncommonSettings = &UncommonSettings {
        websocket: None,
        choices: Choices { tls: None, proxies: None, follow_names: None, priority: None },
        tls_hook: None,
        tls_module: None,
        mime: None,
        url_handle: None,
        copied_post_fields: None,
    };
}

impl UncommonSettings {
    /// Returns a copy for another handle, without form and URL handle, which are the owner's to set anew.
    pub(super) fn own_copy(&self) -> UncommonSettings {
        UncommonSettings {
            websocket: self.websocket,
            choices: self.choices.clone(),
            tls_hook: self.tls_hook,
            tls_module: self.tls_module.clone(),
            mime: None,
            url_handle: None,
            copied_post_fields: self.copied_post_fields.as_ref().map(own_text),
        }
    }

    /// Returns whether one of the settings affects the way to a host.
    pub(super) fn affects_way(&self) -> bool {
        self.websocket.is_some()
            || self.choices.tls.is_some()
            || self.choices.proxies.is_some()
            || self.tls_hook.is_some()
            || self.tls_module.is_some()
    }

    /// Returns whether a request depends on objects of the application.
    pub(super) fn affects_request(&self) -> bool {
        self.mime.is_some() || self.url_handle.is_some() || self.copied_post_fields.is_some()
    }
}
