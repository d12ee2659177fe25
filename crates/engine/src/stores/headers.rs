//! Received header fields, kept for curl_easy_header and curl_easy_nextheader.

/// Where a field came from; the numbers are CURLH_*.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Origin {
    /// A final reply.
    Header = 1,
    /// Behind a chunked body.
    Trailer = 2,
    /// A CONNECT reply.
    Connect = 4,
    /// A 1xx reply.
    Interim = 8,
    /// HTTP/2 and later.
    Pseudo = 16,
}

/// One field.
#[derive(Clone, Debug)]
pub struct Field {
    /// Name as received.
    pub name: Vec<u8>,
    /// Value without surrounding blanks.
    pub value: Vec<u8>,
    /// Where it came from.
    pub origin: Origin,
    /// Which request of the transfer it answered, from 0.
    pub request: usize,
}

/// All fields of a transfer, in the order received.
#[derive(Default, Debug)]
pub struct Headers {
    fields: Vec<Field>,
}

/// More is not kept (curl's MAX_HTTP_RESP_HEADER_COUNT).
const MAX_FIELDS: usize = 5000;

impl Headers {
    /// Forgets all.
    pub fn clear(&mut self) {
        self.fields.clear();
    }

    /// Keeps one line.
    pub fn add(&mut self, origin: Origin, request: usize, line: &[u8]) {
        let Some(field) = wire::http1::HeaderLine::parse(line) else { return };
        if self.fields.len() < MAX_FIELDS {
            self.fields.push(Field {
                name: field.name.to_vec(),
                value: field.value.to_vec(),
                origin,
                request,
            });
        }
    }

    /// All fields whose origin is one of the bits, of one request (or of the last, for `None`).
    pub fn of(&self, origins: u32, request: Option<usize>) -> Vec<(usize, &Field)> {
        let last = self.fields.last().map_or(0, |f| f.request);
        let request = request.unwrap_or(last);
        self.fields
            .iter()
            .enumerate()
            .filter(|(_, f)| f.request == request && origins & f.origin as u32 != 0)
            .collect()
    }

    /// Number of the last request that left fields.
    pub fn last_request(&self) -> Option<usize> {
        self.fields.last().map(|f| f.request)
    }

    /// A field by its place.
    pub fn at(&self, index: usize) -> Option<&Field> {
        self.fields.get(index)
    }
}
