//! Header compression for HTTP/2 (RFC 7541).

mod decode;
mod encode;
mod huffman;
pub(crate) mod integer;
mod statics;
mod table;

pub use decode::{Decoder, DecoderState, Fit};
pub use encode::{Encoder, EncoderState};
pub use table::{OVERHEAD, TableState};

/// Why a block cannot be read. The tables of both sides differ from then on, so that the connection is lost
/// (COMPRESSION_ERROR, RFC 9113 §4.3).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HpackError {
    /// It ends in the middle of a field.
    Truncated,
    /// An integer is larger than anything may be.
    TooLong,
    /// A name or value is longer than 64 KiB.
    TextTooLong,
    /// A string is not in the Huffman code.
    Huffman,
    /// No entry has this index.
    Index,
    /// The table is made larger than was allowed, or in the middle of a block.
    TableSize,
}

impl HpackError {
    /// Returns the text for GOAWAY.
    pub fn text(self) -> &'static str {
        match self {
            HpackError::Truncated => "header block ends too soon",
            HpackError::TooLong => "integer too large in header block",
            HpackError::TextTooLong => "name or value longer than 64 KiB in header block",
            HpackError::Huffman => "invalid Huffman code in header block",
            HpackError::Index => "invalid index in header block",
            HpackError::TableSize => "invalid size of header table",
        }
    }
}
