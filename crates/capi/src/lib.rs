//! The C API and ABI of libcurl on the engine: the only crate with unsafe code.
