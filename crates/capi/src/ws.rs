//! WebSocket functions (libcurl-ws.md).

use std::ffi::{c_int, c_uint, c_void};
use std::ptr;

use engine::Callbacks;
use engine::websocket::Frame;
use tables::{Code, Entry};

use crate::easy::outputs::WsFrame;
use crate::easy::{EasyHandle, run, with};

fn show(easy: &EasyHandle, frame: Frame) -> *const WsFrame {
    let Frame { flags, offset, bytes_left, len } = frame;
    let place = &easy.outputs().ws_frame;
    place.set(WsFrame { age: 0, flags, offset, bytes_left, len });
    place.as_ptr()
}

/// # Safety
/// `buffer` has `len` writable bytes, or is NULL and `len` is 0; `received` and `meta` are writable.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn curl_ws_recv(
    easy: *mut c_void,
    buffer: *mut c_void,
    len: usize,
    received: *mut usize,
    meta: *mut *const WsFrame,
) -> c_int {
    // Also without a handle: programs that ignore the code then read zeros. SAFETY: each is NULL or writable,
    // by the caller's promise.
    unsafe {
        if !received.is_null() {
            *received = 0;
        }
        if !meta.is_null() {
            *meta = ptr::null();
        }
    }
    run(easy, Entry::WsRecv, |easy, _| {
        if received.is_null() || meta.is_null() || buffer.is_null() && len > 0 {
            return Err(Code::BadFunctionArgument);
        }
        let buffer = match len {
            0 => &mut [][..],
            // SAFETY: the caller's promise.
            _ => unsafe { std::slice::from_raw_parts_mut(buffer.cast::<u8>(), len) },
        };
        let frame = easy.easy.ws_receive(buffer)?;
        // SAFETY: the caller's promise.
        unsafe { (*received, *meta) = (frame.len, show(easy, frame)) };
        Ok(())
    })
}

/// # Safety
/// `buffer` has `len` bytes, or is NULL and `len` is 0; `sent` is writable or NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn curl_ws_send(
    easy: *mut c_void,
    buffer: *const c_void,
    len: usize,
    sent: *mut usize,
    fragment_size: i64,
    flags: c_uint,
) -> c_int {
    run(easy, Entry::WsSend, |easy, _| {
        if !sent.is_null() {
            // SAFETY: the caller's promise.
            unsafe { *sent = 0 };
        }
        if buffer.is_null() && len > 0 {
            easy.app.fail("[WS] buffer is NULL when buflen is not");
            return Err(Code::BadFunctionArgument);
        }
        let bytes = match len {
            0 => &[][..],
            // SAFETY: the application guarantees that number of bytes (curl_ws_send(3)).
            _ => unsafe { std::slice::from_raw_parts(buffer.cast::<u8>(), len) },
        };
        let taken = easy.easy.ws_send(bytes, fragment_size, flags)?;
        if !sent.is_null() {
            // SAFETY: the caller's promise.
            unsafe { *sent = taken };
        }
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn curl_ws_start_frame(easy: *mut c_void, flags: c_uint, len: i64) -> c_int {
    run(easy, Entry::WsStartFrame, |easy, _| easy.easy.ws_start_frame(flags, len))
}

/// NULL outside of a callback of a WebSocket transfer.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn curl_ws_meta(easy: *mut c_void) -> *const WsFrame {
    with(
        easy,
        Entry::WsRecv,
        |_| ptr::null(),
        |easy, _| easy.easy.ws_meta().map_or(ptr::null(), |frame| show(easy, frame)),
    )
}
