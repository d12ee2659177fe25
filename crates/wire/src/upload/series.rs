//! One request of an upload that is a series of requests, and the consequence of its answer.

/// A request of an upload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// `None` is the method that the user has chosen.
    pub method: Option<&'static str>,
    /// Whether it goes to the URL of the upload rather than the user's.
    pub to_resource: bool,
    /// Parameters that are added to the query of the URL; may be empty.
    pub query: String,
    pub fields: Vec<String>,
    /// Which of the user's own fields are sent, too.
    pub own_fields: OwnFields,
    pub body: Payload,
}

/// The body of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Payload {
    /// The method has no body.
    Nothing,
    Bytes(Vec<u8>),
    /// The source from a byte on: so many bytes, or all to its end.
    Source {
        from: u64,
        length: Option<u64>,
    },
}

/// The consequence of an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Next {
    /// Another request follows at once.
    Request,
    /// The server is busy with an earlier request of this upload, or failed: a request may follow later.
    Later,
    /// The upload has ended, and this is its answer.
    End,
    /// The server refuses, with this status.
    Refused(u16),
    /// The server contradicts itself, or the source.
    Failed(String),
}

/// The user's own fields that a request carries. An upload of one request has them all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OwnFields {
    All,
    /// Those of a request to an upload that exists: metadata belongs to its creation.
    OfResource,
    /// Those of CreateMultipartUpload: they describe the object, but not its bytes or its replacement.
    OfObject,
    /// Those of a request for a part or for the list of parts.
    OfPart,
    /// Those of CompleteMultipartUpload, which replaces an object.
    OfCompletion,
}

/// Fields of a request to S3 that are about the bytes of its own body.
const OF_BYTES: [&str; 2] = ["content-md5", "x-amz-sdk-checksum-algorithm"];
/// Fields that set a condition for the replacement of an object.
const CONDITIONS: [&str; 2] = ["if-match", "if-none-match"];
/// Fields that describe an object, beside those that begin with x-amz-.
const DESCRIPTIONS: [&str; 6] = [
    "cache-control",
    "content-disposition",
    "content-encoding",
    "content-language",
    "content-type",
    "expires",
];
/// Fields of S3 that every request may have: who asks, who pays, and the key of an encrypted object.
const OF_EVERY_REQUEST: [&str; 6] = [
    "x-amz-content-sha256",
    "x-amz-date",
    "x-amz-expected-bucket-owner",
    "x-amz-request-payer",
    "x-amz-security-token",
    "x-amz-server-side-encryption-customer-",
];

impl OwnFields {
    /// Returns whether a field with this name is sent.
    pub fn includes(self, name: &[u8]) -> bool {
        let name = String::from_utf8_lossy(name).to_ascii_lowercase();
        let name = name.as_str();
        let is_of_bytes = OF_BYTES.contains(&name) || name.starts_with("x-amz-checksum-");
        match self {
            OwnFields::All => true,
            OwnFields::OfResource => name != "upload-metadata",
            OwnFields::OfObject => !is_of_bytes && !CONDITIONS.contains(&name),
            OwnFields::OfPart => {
                !CONDITIONS.contains(&name) && OwnFields::OfCompletion.includes(name.as_bytes())
            }
            OwnFields::OfCompletion => {
                let is_of_object = DESCRIPTIONS.contains(&name) || name.starts_with("x-amz-");
                let is_usual = OF_EVERY_REQUEST.iter().any(|usual| match usual.ends_with('-') {
                    true => name.starts_with(usual),
                    false => name == *usual,
                });
                !is_of_bytes && (is_usual || !is_of_object)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each row: a field, and whether CreateMultipartUpload, UploadPart and CompleteMultipartUpload have it,
    /// by the reference of Amazon S3.
    #[test]
    fn a_request_to_s3_has_the_fields_that_are_about_it() {
        for (name, wanted) in [
            ("Content-Type", [true, false, false]),
            ("Cache-Control", [true, false, false]),
            ("x-amz-acl", [true, false, false]),
            ("X-Amz-Storage-Class", [true, false, false]),
            ("x-amz-meta-owner", [true, false, false]),
            ("x-amz-tagging", [true, false, false]),
            ("x-amz-server-side-encryption", [true, false, false]),
            ("x-amz-server-side-encryption-aws-kms-key-id", [true, false, false]),
            ("x-amz-server-side-encryption-customer-key", [true, true, true]),
            ("x-amz-server-side-encryption-customer-key-MD5", [true, true, true]),
            ("x-amz-security-token", [true, true, true]),
            ("x-amz-request-payer", [true, true, true]),
            ("x-amz-expected-bucket-owner", [true, true, true]),
            ("If-None-Match", [false, false, true]),
            ("If-Match", [false, false, true]),
            ("Content-MD5", [false, false, false]),
            ("x-amz-checksum-crc32", [false, false, false]),
            ("Authorization", [true, true, true]),
            ("User-Agent", [true, true, true]),
            ("Expect", [true, true, true]),
        ] {
            let kinds = [OwnFields::OfObject, OwnFields::OfPart, OwnFields::OfCompletion];
            assert_eq!(kinds.map(|kind| kind.includes(name.as_bytes())), wanted, "{name}");
            assert!(OwnFields::All.includes(name.as_bytes()));
        }
    }

    #[test]
    fn metadata_is_sent_when_an_upload_is_created() {
        for (name, wanted) in
            [("Upload-Metadata", false), ("upload-metadata", false), ("Authorization", true)]
        {
            assert_eq!(OwnFields::OfResource.includes(name.as_bytes()), wanted, "{name}");
        }
    }
}
