//! HTTP/1 messages as bytes (RFC 9112): status lines, header lines, what tells a body's end, and the chunked
//! coding. Who reads them from where, and what a field means for the transfer, is the engine's matter.

pub mod chunked;
pub mod framing;
pub mod header;
pub mod status;

pub use chunked::{ChunkedDecoder, Decoded};
pub use framing::{TransferCodings, te_accepts_trailers};
pub use header::{
    BadOctet, HeaderLine, LineBuffer, Part, TooLarge, check_octets, continue_line, ends_head, own_line,
    text_of,
};
pub use status::StatusLine;
