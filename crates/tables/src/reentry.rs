//! Functions that the application may call on a handle, or on its multi handle, from inside one of their
//! callbacks.
//!
//! libcurl-easy(3) and libcurl-multi(3) name the refusals one by one; this is the whole table. Calls on other
//! handles are allowed. capi checks it at each entry. A function without a row (curl_easy_init, the slist and
//! URL functions) uses no running handle and is allowed.

/// The kind of callback that the thread is in; of nested ones the strictest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Where {
    /// A callback of a transfer: write, read, header, progress, debug, resolver start, ...
    AnyCallback,
    /// The multi handle's notify callback.
    Notify,
    /// The multi handle's socket or timer callback.
    SocketOrTimer,
}

/// How a forbidden call is answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Refusal {
    /// It never is forbidden.
    Never,
    /// The function returns nothing and has no effect.
    Ignored,
    /// `CURLE_RECURSIVE_API_CALL`
    Code,
    /// `CURLM_RECURSIVE_API_CALL`
    MultiCode,
}

macro_rules! entries {
    ($($variant:ident, $name:literal, $any:literal, $notify:literal, $socket:literal, $refusal:ident;)*) => {
        /// An exported function that acts on a handle.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Entry { $($variant,)* }

        impl Entry {
            pub const ALL: &'static [Entry] = &[$(Entry::$variant,)*];

            /// The exported symbol.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Entry::$variant => $name,)*
                }
            }

            pub const fn refusal(self) -> Refusal {
                match self {
                    $(Entry::$variant => Refusal::$refusal,)*
                }
            }
        }

        /// Returns whether `entry` may be called there on the handle whose call is running.
        pub const fn allowed(entry: Entry, place: Where) -> bool {
            match (entry, place) {
                $((Entry::$variant, Where::AnyCallback) => $any,
                (Entry::$variant, Where::Notify) => $notify,
                (Entry::$variant, Where::SocketOrTimer) => $socket,)*
            }
        }
    };
}

// function, inside any callback, inside notify, inside socket or timer, answer
entries! {
    EasyCleanup, "curl_easy_cleanup", false, false, false, Ignored;
    EasyDuphandle, "curl_easy_duphandle", true, true, true, Never;
    EasyGetinfo, "curl_easy_getinfo", true, true, true, Never;
    EasyHeader, "curl_easy_header", true, true, true, Never;
    EasyNextheader, "curl_easy_nextheader", true, true, true, Never;
    EasyPause, "curl_easy_pause", true, true, false, Code;
    EasyPerform, "curl_easy_perform", false, false, false, Code;
    EasyRecv, "curl_easy_recv", false, false, false, Code;
    EasySend, "curl_easy_send", false, false, false, Code;
    EasyReset, "curl_easy_reset", false, false, false, Ignored;
    EasySetopt, "curl_easy_setopt", true, true, true, Never;
    EasySslsExport, "curl_easy_ssls_export", false, false, false, Code;
    EasySslsImport, "curl_easy_ssls_import", false, false, false, Code;
    EasyUpkeep, "curl_easy_upkeep", false, false, false, Code;
    WsRecv, "curl_ws_recv", true, true, true, Never;
    WsSend, "curl_ws_send", true, true, true, Never;
    WsStartFrame, "curl_ws_start_frame", true, true, true, Never;
    MultiAddHandle, "curl_multi_add_handle", false, true, false, MultiCode;
    MultiAssign, "curl_multi_assign", true, true, true, Never;
    MultiCleanup, "curl_multi_cleanup", false, false, false, MultiCode;
    MultiFdset, "curl_multi_fdset", false, true, false, MultiCode;
    MultiGetHandles, "curl_multi_get_handles", true, true, true, Never;
    MultiGetOfft, "curl_multi_get_offt", true, true, true, Never;
    MultiInfoRead, "curl_multi_info_read", true, true, true, Never;
    MultiNotifyDisable, "curl_multi_notify_disable", true, true, true, Never;
    MultiNotifyEnable, "curl_multi_notify_enable", true, true, true, Never;
    MultiPerform, "curl_multi_perform", false, false, false, MultiCode;
    MultiPoll, "curl_multi_poll", false, true, false, MultiCode;
    MultiRemoveHandle, "curl_multi_remove_handle", false, true, false, MultiCode;
    MultiSetopt, "curl_multi_setopt", false, true, false, MultiCode;
    MultiSocketAction, "curl_multi_socket_action", false, false, false, MultiCode;
    MultiSocketAll, "curl_multi_socket_all", false, false, false, MultiCode;
    MultiSocket, "curl_multi_socket", false, false, false, MultiCode;
    MultiTimeout, "curl_multi_timeout", false, true, false, MultiCode;
    MultiWait, "curl_multi_wait", false, true, false, MultiCode;
    MultiWaitfds, "curl_multi_waitfds", false, true, false, MultiCode;
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLACES: [Where; 3] = [Where::AnyCallback, Where::Notify, Where::SocketOrTimer];

    #[test]
    fn every_entry_that_can_be_refused_has_a_refusal() {
        for &entry in Entry::ALL {
            let refused = PLACES.iter().any(|&place| !allowed(entry, place));
            assert_eq!(refused, entry.refusal() != Refusal::Never, "{}", entry.name());
            assert!(crate::export::EXPORTS.contains(&entry.name()), "{}", entry.name());
        }
    }

    #[test]
    fn pausing_is_free_except_from_socket_callbacks() {
        assert!(allowed(Entry::EasyPause, Where::AnyCallback));
        assert!(!allowed(Entry::EasyPause, Where::SocketOrTimer));
        assert!(!allowed(Entry::MultiPerform, Where::Notify));
    }
}
