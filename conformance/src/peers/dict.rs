//! The DICT server of the cases: it sends a greeting and finds nothing. Behaviour after tests/dictserver.py
//! of curl's repository.

use std::sync::Arc;

use super::wire::Conn;
use super::{CaseContext, Peer};

pub fn server() -> Arc<dyn Peer> {
    Arc::new(Dict)
}

struct Dict;

impl Peer for Dict {
    fn serve(&self, conn: &mut Conn, stage: &CaseContext) {
        if conn.write(b"220 dictserver <xnooptions> <msgid@msgid>\n", stage).is_ok() {
            conn.read(&mut [0; 1024], stage);
            let _ = conn.write(b"552 No matches\n", stage);
        }
    }
}
