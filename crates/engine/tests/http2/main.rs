//! HTTP/2 through the engine, with a peer that follows a script frame by frame: its faults, when it leaves,
//! how it replies, and the limits for it.

mod alternatives;
mod bodies;
mod floods;
mod going;
mod resets;
mod sharing;
mod websockets;

use std::rc::Rc;

use crate::common::{App, eventually, handle, long, run_until};
use tables::constant::CURL_HTTP_VERSION_2_PRIOR_KNOWLEDGE;
use tables::{Code, EasyOption as O};
use testkit::frames::FramePeer;
use warmwire_engine::{Easy, Multi};

/// A handle that speaks HTTP/2 to the peer without asking.
fn to(peer: &FramePeer) -> (Easy, Rc<App>) {
    let (easy, app) = handle(&format!("http://127.0.0.1:{}/", peer.port()));
    long(&easy, O::HttpVersion, CURL_HTTP_VERSION_2_PRIOR_KNOWLEDGE);
    (easy, app)
}

/// Returns a handle with an upload of that length.
fn put(peer: &FramePeer, length: usize) -> (Easy, Rc<App>) {
    let (easy, app) = to(peer);
    *app.upload.borrow_mut() = vec![b'x'; length];
    long(&easy, O::Upload, 1);
    long(&easy, O::InFileSizeLarge, length as i64);
    (easy, app)
}

fn message(easy: &Easy) -> String {
    easy.state().message()
}

fn status(easy: &Easy) -> i64 {
    easy.state().info.borrow().response_code
}

/// Lets transfers wait for the connection of the first one.
fn patient(easies: &[&Easy]) {
    easies.iter().for_each(|easy| long(easy, O::PipeWait, 1));
}

/// Runs all at once to their ends; the codes in the order of the handles.
fn together(multi: &Multi, easies: &[&Easy]) -> Vec<Code> {
    easies.iter().for_each(|easy| assert_eq!(multi.add(easy), tables::MultiCode::Ok));
    run_until(multi, || multi.running() == 0);
    let mut codes = vec![None; easies.len()];
    while let Some((message, _)) = multi.next_message() {
        let at = easies.iter().position(|easy| std::ptr::eq(easy.state(), message.easy.state())).unwrap();
        codes[at] = Some(message.code);
    }
    easies.iter().for_each(|easy| assert_eq!(multi.remove(easy), tables::MultiCode::Ok));
    codes.into_iter().map(|code| code.expect("each has ended")).collect()
}
