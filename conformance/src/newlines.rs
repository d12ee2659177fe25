//! CRLF for content written with plain newlines: `crlf="yes"` for every line, `crlf="headers"` for lines that
//! look like a start line or a header, and for the blank line after one.

const METHODS: [&[u8]; 6] = [b"GET", b"HEAD", b"POST", b"PUT", b"DELETE", b"CONNECT"];
const RTSP_METHODS: [&[u8]; 5] = [b"SETUP", b"GET_PARAMETER", b"OPTIONS", b"ANNOUNCE", b"DESCRIBE"];

/// Makes the line end in CRLF, however many carriage returns it had.
pub fn force_crlf(line: &mut Vec<u8>) {
    if line.last() != Some(&b'\n') {
        return;
    }
    line.pop();
    while line.last() == Some(&b'\r') {
        line.pop();
    }
    line.extend_from_slice(b"\r\n");
}

/// Makes header lines end in CRLF, and leaves the others unchanged.
pub fn headers_to_crlf(lines: &mut [Vec<u8>]) {
    let mut after_header = false;
    for line in lines {
        let is_header = is_status_line(line) || is_request_line(line) || is_header(line);
        if is_header || (after_header && line == b"\n") {
            force_crlf(line);
        }
        after_header = is_header;
    }
}

fn is_status_line(line: &[u8]) -> bool {
    let Some(rest) = line.strip_prefix(b"HTTP/") else { return false };
    let rest = [&b"1.1 "[..], b"1.0 ", b"2 ", b"3 "].iter().find_map(|v| rest.strip_prefix(*v));
    rest.is_some_and(|r| matches!(r.first(), Some(b'1'..=b'5' | b'9')) && !r.contains(&b'\r'))
}

fn is_request_line(line: &[u8]) -> bool {
    let mut words = line.trim_ascii_end().split(|&b| b == b' ');
    let (Some(method), Some(target), Some(version)) = (words.next(), words.next(), words.next()) else {
        return false;
    };
    let numbered = |prefix: &[u8]| {
        version.strip_prefix(prefix).is_some_and(|v| v.first().is_some_and(u8::is_ascii_digit))
    };
    !target.is_empty()
        && (METHODS.contains(&method) && numbered(b"HTTP/")
            || RTSP_METHODS.contains(&method) && numbered(b"RTSP/"))
}

fn is_header(line: &[u8]) -> bool {
    let name = line.iter().take_while(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-')).count();
    name > 0 && line[name..].starts_with(b": ") && !line.contains(&b'\r') && !is_curl_message(line)
}

/// `curl: (6) …` looks like a header, but is a message of the tool.
fn is_curl_message(line: &[u8]) -> bool {
    line.strip_prefix(b"curl: (").is_some_and(|rest| {
        let digits = rest.iter().take_while(|b| b.is_ascii_digit()).count();
        digits > 0 && rest[digits..].starts_with(b") ")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn converted(text: &str) -> String {
        let mut lines: Vec<Vec<u8>> = text.split_inclusive('\n').map(|l| l.as_bytes().to_vec()).collect();
        headers_to_crlf(&mut lines);
        String::from_utf8(lines.concat()).unwrap()
    }

    #[test]
    fn only_headers_get_crlf() {
        let text = "GET /1 HTTP/1.1\nHost: a\n\nbody\n\nHTTP/2 200\nHTTP/1.1 777 x\ncurl: (6) no\n";
        let want = "GET /1 HTTP/1.1\r\nHost: a\r\n\r\nbody\n\nHTTP/2 200\r\nHTTP/1.1 777 x\ncurl: (6) no\n";
        assert_eq!(converted(text), want);
    }

    #[test]
    fn forced_on_every_line() {
        let mut line = b"x\r\r\n".to_vec();
        force_crlf(&mut line);
        assert_eq!(line, b"x\r\n");
        let mut open = b"x".to_vec();
        force_crlf(&mut open);
        assert_eq!(open, b"x");
    }
}
