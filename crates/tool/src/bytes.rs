//! Text of the system: file names, arguments and header values need not be UTF-8.

pub type Bytes = Vec<u8>;
