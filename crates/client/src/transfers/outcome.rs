//! The result of a transfer.

use tables::Code;

use crate::Failure;

/// The result of a transfer.
#[derive(Debug)]
pub struct Outcome {
    /// curl's code.
    pub code: Code,
    /// A description in words; empty after a success.
    pub message: String,
}

impl Outcome {
    /// Converts the outcome to a `Result`.
    pub fn result(self) -> Result<(), Failure> {
        match self.code {
            Code::Ok => Ok(()),
            code => Err(Failure { code, message: self.message }),
        }
    }
}
