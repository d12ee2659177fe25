//! HTTP/1 messages as bytes (RFC 9112): status lines, header lines, body framing, and the chunked coding. The
//! engine reads them and decides what a field means for the transfer.

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
