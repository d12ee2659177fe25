//! Replies of S3 to an upload in parts, with the properties that hold for any input; see parsers.rs.

use wire::upload::s3::{Answer, Reply, S3Upload, Step};
use wire::upload::series::Next;

type Parser = (&'static str, fn(&[u8]));

/// Name (also that of its directory of seeds) and function.
pub const PARSERS: &[Parser] = &[("s3_reply", s3_replies)];

/// An upload takes any reply.
pub fn s3_replies(input: &[u8]) {
    let reply = Reply::read(input);
    for upload_id in [None, Some(b"u".to_vec())] {
        let mut upload = S3Upload::new(100 << 20, upload_id);
        let answer = Answer {
            status: 200,
            etag: Some(input),
            length: None,
            hides_digest: false,
            reply: &reply,
            sent: Some([0; 16]),
        };
        // Each part at most three times, and some requests around them.
        for _ in 0..100 {
            while let Step::Digest(..) = upload.step() {
                upload.take_digest([0; 16]);
            }
            if upload.answered(&answer) != Next::Request {
                break;
            }
        }
    }
}
