//! Settings, handles, transfers, protocols and stores: what curl does, without C.
