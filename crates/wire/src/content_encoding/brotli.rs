//! Brotli (RFC 7932); the work is the crate brotli-decompressor's.

use std::rc::Rc;

use brotli_decompressor::{BrotliDecompressStreamWithDictionary, BrotliResult, BrotliState, StandardAlloc};

use super::dictionary::Dictionary;
use super::{Error, NOTHING, Progress};

pub(super) struct Brotli {
    state: BrotliState<StandardAlloc, StandardAlloc, StandardAlloc>,
    place: StreamPosition,
    total_out: usize,
    dictionary: Option<Rc<Dictionary>>,
}

#[derive(PartialEq, Eq)]
enum StreamPosition {
    Start,
    Inside,
    End,
}

impl Brotli {
    pub fn new() -> Brotli {
        let alloc = StandardAlloc::default;
        let mut state = BrotliState::new(alloc(), alloc(), alloc());
        // Large windows are not part of the content coding, and would let a peer request a gigabyte of
        // memory.
        state.large_window = false;
        Brotli { state, place: StreamPosition::Start, total_out: 0, dictionary: None }
    }

    /// Returns a decoder for data that was compressed with a dictionary (RFC 9841 section 3.2).
    pub fn with_dictionary(dictionary: Rc<Dictionary>) -> Brotli {
        let mut brotli = Brotli::new();
        let attached = brotli.state.attach_external_dictionary(dictionary.bytes.len());
        brotli.dictionary = Some(dictionary).filter(|_| attached);
        brotli
    }

    pub fn may_end(&self) -> bool {
        self.place != StreamPosition::Inside
    }

    pub fn step(&mut self, input: &[u8], output: &mut [u8]) -> Result<Progress, Error> {
        match self.place {
            StreamPosition::End if !input.is_empty() => return Err(Error::TrailingData),
            StreamPosition::End => return Ok(NOTHING),
            StreamPosition::Start if input.is_empty() => return Ok(NOTHING),
            StreamPosition::Start | StreamPosition::Inside => self.place = StreamPosition::Inside,
        }
        let (mut available_in, mut used) = (input.len(), 0);
        let (mut available_out, mut made) = (output.len(), 0);
        let dictionary = self.dictionary.as_ref().map_or(&[][..], |dictionary| &dictionary.bytes);
        let result = BrotliDecompressStreamWithDictionary(
            &mut available_in,
            &mut used,
            input,
            &mut available_out,
            &mut made,
            output,
            &mut self.total_out,
            dictionary,
            &mut self.state,
        );
        match result {
            BrotliResult::ResultSuccess => self.place = StreamPosition::End,
            BrotliResult::NeedsMoreInput | BrotliResult::NeedsMoreOutput => {}
            // Output before the fault is returned; the next step finds the fault again.
            BrotliResult::ResultFailure if made > 0 => {}
            BrotliResult::ResultFailure => return Err(Error::Corrupt),
        }
        Ok(Progress { used, made })
    }
}
