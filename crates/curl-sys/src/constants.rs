//! The constants of the C headers, written by build.rs.

use crate::types::*;
use libc::{c_int, c_long, c_short, c_uint, c_ulong, size_t};

include!(concat!(env!("OUT_DIR"), "/constants.rs"));
