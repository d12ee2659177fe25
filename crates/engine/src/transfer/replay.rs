//! A request that dies on a kept connection is made again: the server had closed that while it was idle, and nothing of a reply
//! has come. Who finds that out marks the error as stale.

use std::hint::cold_path;

use super::Transfer;
use crate::error::Result;

impl Transfer {
    /// Makes an attempt, and so many more at most while they end stale; the last is told to take a new connection.
    pub async fn replayed<T>(
        &mut self,
        most: u32,
        mut attempt: impl AsyncFnMut(&mut Transfer, bool) -> Result<T>,
    ) -> Result<T> {
        let mut replays = 0;
        loop {
            let fresh = replays > 0 && replays == most;
            match attempt(self, fresh).await {
                Err(e) if e.is_stale() && replays < most => {
                    cold_path();
                    replays += 1;
                    let now = self.now();
                    self.easy.info.borrow_mut().begin_request(now); // with a connect time-out of its own
                    self.easy.note(|| match e.is_for_http1() {
                        true => "Downgrades to HTTP/1.1".to_owned(),
                        false => {
                            format!("Connection died, retrying a fresh connect (retry count: {replays})")
                        }
                    });
                }
                outcome => return outcome,
            }
        }
    }
}
