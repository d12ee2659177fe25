//! HTTP/1 messages as bytes (RFC 9112): status lines, header lines and the chunked coding.
//! Who reads them from where, and what a field means for the transfer, is the engine's matter.

pub mod chunked;
pub mod header;
pub mod status;

pub use chunked::{ChunkedDecoder, Decoded};
pub use header::{HeaderLine, LineBuffer, Part, TooLarge, is_empty_line, own_line, text_of};
pub use status::StatusLine;
