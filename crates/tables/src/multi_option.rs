//! Multi options: one row per `CURLMOPT_` option, as curl_multi_setopt(3) has them.

use crate::easy_option::ArgKind;

macro_rules! multi_options {
    ($($variant:ident, $name:literal, $id:literal, $kind:ident, $since:literal;)*) => {
        /// An option of a multi handle; the discriminant is its `CURLMOPT_` number.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr(i32)]
        pub enum MultiOption { $($variant = $id,)* }

        impl MultiOption {
            pub const ALL: &'static [MultiOption] = &[$(MultiOption::$variant,)*];

            /// The option with this `CURLMOPT_` number.
            pub const fn from_id(id: i32) -> Option<Self> {
                match id {
                    $($id => Some(MultiOption::$variant),)*
                    _ => None,
                }
            }

            /// The name without `CURLMOPT_`.
            pub const fn name(self) -> &'static str {
                match self {
                    $(MultiOption::$variant => $name,)*
                }
            }

            pub const fn kind(self) -> ArgKind {
                match self {
                    $(MultiOption::$variant => ArgKind::$kind,)*
                }
            }

            /// The curl version that introduced it.
            pub const fn since(self) -> &'static str {
                match self {
                    $(MultiOption::$variant => $since,)*
                }
            }
        }
    };
}

impl MultiOption {
    /// The `CURLMOPT_` number.
    pub const fn id(self) -> i32 {
        self as i32
    }
}

multi_options! {
    SocketFunction, "SOCKETFUNCTION", 20001, Function, "7.15.4";
    SocketData, "SOCKETDATA", 10002, Object, "7.15.4";
    Pipelining, "PIPELINING", 3, Long, "7.16.0";
    TimerFunction, "TIMERFUNCTION", 20004, Function, "7.16.0";
    TimerData, "TIMERDATA", 10005, Object, "7.16.0";
    Maxconnects, "MAXCONNECTS", 6, Long, "7.16.3";
    MaxHostConnections, "MAX_HOST_CONNECTIONS", 7, Long, "7.30.0";
    MaxPipelineLength, "MAX_PIPELINE_LENGTH", 8, Long, "7.30.0";
    ContentLengthPenaltySize, "CONTENT_LENGTH_PENALTY_SIZE", 30009, OffT, "7.30.0";
    ChunkLengthPenaltySize, "CHUNK_LENGTH_PENALTY_SIZE", 30010, OffT, "7.30.0";
    PipeliningSiteBl, "PIPELINING_SITE_BL", 10011, Object, "7.30.0";
    PipeliningServerBl, "PIPELINING_SERVER_BL", 10012, Object, "7.30.0";
    MaxTotalConnections, "MAX_TOTAL_CONNECTIONS", 13, Long, "7.30.0";
    PushFunction, "PUSHFUNCTION", 20014, Function, "7.44.0";
    PushData, "PUSHDATA", 10015, Object, "7.44.0";
    MaxConcurrentStreams, "MAX_CONCURRENT_STREAMS", 16, Long, "7.67.0";
    NetworkChanged, "NETWORK_CHANGED", 17, Long, "8.16.0";
    NotifyFunction, "NOTIFYFUNCTION", 20018, Function, "8.17.0";
    NotifyData, "NOTIFYDATA", 10019, Object, "8.17.0";
    ResolveThreadsMax, "RESOLVE_THREADS_MAX", 20, Long, "8.20.0";
    QuickExit, "QUICK_EXIT", 21, Long, "8.20.0";
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_finds_its_row() {
        for &option in MultiOption::ALL {
            assert_eq!(MultiOption::from_id(option.id()), Some(option));
        }
        assert_eq!(MultiOption::ALL.len(), 21);
        assert_eq!(MultiOption::from_id(22), None);
    }
}
