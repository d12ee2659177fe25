//! Brotli (RFC 7932); the work is the crate brotli-decompressor's.

use brotli_decompressor::{BrotliDecompressStream, BrotliResult, BrotliState, StandardAlloc};

use super::{Error, Failure, SLICE_LIMIT, Sink};

pub(super) struct Brotli {
    state: BrotliState<StandardAlloc, StandardAlloc, StandardAlloc>,
    progress: Progress,
    total_out: usize,
    output: Vec<u8>,
}

#[derive(PartialEq, Eq)]
enum Progress {
    Nothing,
    Inside,
    End,
}

impl Brotli {
    pub fn new() -> Brotli {
        let alloc = StandardAlloc::default;
        let mut state = BrotliState::new(alloc(), alloc(), alloc());
        // Large windows are no part of the content coding, and would let a peer ask for a gigabyte.
        state.large_window = false;
        Brotli { state, progress: Progress::Nothing, total_out: 0, output: vec![0; SLICE_LIMIT] }
    }

    pub fn may_end(&self) -> bool {
        self.progress != Progress::Inside
    }

    pub fn push<E>(&mut self, input: &[u8], out: Sink<'_, Failure<E>>) -> Result<(), Failure<E>> {
        if self.progress == Progress::End {
            return Err(Failure::Coding(Error::TrailingData));
        }
        self.progress = Progress::Inside;
        let (mut available_in, mut input_offset) = (input.len(), 0);
        loop {
            let (mut available_out, mut made) = (self.output.len(), 0);
            let result = BrotliDecompressStream(
                &mut available_in,
                &mut input_offset,
                input,
                &mut available_out,
                &mut made,
                &mut self.output,
                &mut self.total_out,
                &mut self.state,
            );
            if made > 0 {
                out(&self.output[..made])?;
            }
            match result {
                BrotliResult::ResultSuccess if available_in > 0 => {
                    return Err(Failure::Coding(Error::TrailingData));
                }
                BrotliResult::ResultSuccess => {
                    self.progress = Progress::End;
                    return Ok(());
                }
                BrotliResult::NeedsMoreInput => return Ok(()),
                BrotliResult::NeedsMoreOutput => {}
                BrotliResult::ResultFailure => return Err(Failure::Coding(Error::Corrupt)),
            }
        }
    }
}
