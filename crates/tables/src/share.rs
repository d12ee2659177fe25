//! Share options and the kinds of data that a share handle can hold (curl_share_setopt(3)).

macro_rules! numbered {
    ($(#[$doc:meta])* $type:ident, $prefix:literal: $($variant:ident, $name:literal, $id:literal, $since:literal;)*) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr(i32)]
        pub enum $type { $($variant = $id,)* }

        impl $type {
            pub const ALL: &'static [$type] = &[$($type::$variant,)*];
            /// The prefix of the C names.
            pub const PREFIX: &'static str = $prefix;

            pub const fn from_id(id: i32) -> Option<Self> {
                match id {
                    $($id => Some($type::$variant),)*
                    _ => None,
                }
            }

            pub const fn id(self) -> i32 {
                self as i32
            }

            /// The name without its prefix.
            pub const fn name(self) -> &'static str {
                match self {
                    $($type::$variant => $name,)*
                }
            }

            /// The curl version that introduced it.
            pub const fn since(self) -> &'static str {
                match self {
                    $($type::$variant => $since,)*
                }
            }
        }
    };
}

numbered! {
    /// An option of a share handle.
    ShareOption, "CURLSHOPT_":
    Share, "SHARE", 1, "7.10.3";
    Unshare, "UNSHARE", 2, "7.10.3";
    LockFunction, "LOCKFUNC", 3, "7.10.3";
    UnlockFunction, "UNLOCKFUNC", 4, "7.10.3";
    UserData, "USERDATA", 5, "7.10.3";
}

numbered! {
    /// Data that can be shared, and that a lock callback locks.
    LockData, "CURL_LOCK_DATA_":
    Share, "SHARE", 1, "7.10.4";
    Cookie, "COOKIE", 2, "7.10.3";
    Dns, "DNS", 3, "7.10.3";
    SslSession, "SSL_SESSION", 4, "7.10.3";
    Connect, "CONNECT", 5, "7.10.3";
    Psl, "PSL", 6, "7.61.0";
    Hsts, "HSTS", 7, "7.88.0";
}

numbered! {
    /// How a lock is wanted.
    LockAccess, "CURL_LOCK_ACCESS_":
    Shared, "SHARED", 1, "7.10.3";
    Single, "SINGLE", 2, "7.10.3";
}
