//! Flags for HTTP: methods, bodies, headers, cookies, redirects and versions.

use super::flag::{Arg, Declaration, FLAG, Multi, Set};
use crate::act;
use crate::options::{Key::Lib, Key::Tool, ToolOption};
use crate::raw::EasyOption as O;

pub const FLAGS: &[Declaration] = &[
    Declaration {
        name: "alt-svc",
        arg: Arg::Text("<filename>"),
        multi: Multi::Append,
        categories: &["http"],
        protocols: "HTTPS",
        since: "7.64.1",
        help: "Keep an alternative-services cache in this file",
        about: "Alternative services that HTTPS servers announce are remembered and used for later \
            requests. When the file exists it is loaded first, and it is rewritten at the end. \
            An empty name keeps the cache in memory only.",
        needs: "alt-svc",
        set: Set::AnyText(Lib(O::AltSvc)),
        ..FLAG
    },
    Declaration {
        name: "anyauth",
        arg: Arg::None,
        multi: Multi::Custom,
        categories: &["http", "proxy", "auth"],
        protocols: "HTTP",
        since: "7.10.6",
        help: "Choose the safest HTTP login the server offers",
        about: "The first request is made without credentials so that the server says which methods \
            it takes. As that costs a second request, an upload whose data cannot be rewound \
            (standard input) may fail.",
        set: Set::Mark(act::anyauth),
        ..FLAG
    },
    Declaration {
        name: "compressed",
        categories: &["http"],
        protocols: "HTTP",
        since: "7.10",
        help: "Ask for a compressed answer and unpack it",
        about: "Offers the encodings that can be undone here and writes the decoded body. Headers \
            are left as they came.",
        set: Set::On(Tool(ToolOption::Compressed)),
        ..FLAG
    },
    Declaration {
        name: "cookie-jar",
        short: 'c',
        arg: Arg::Text("<filename>"),
        multi: Multi::Single,
        categories: &["http"],
        protocols: "HTTP",
        since: "7.9",
        help: "Write the cookies to this file at the end",
        about: "All cookies known after the run are saved in the Netscape format; a dash writes them \
            to standard output. It also switches the cookie engine on.",
        set: Set::Text(Lib(O::CookieJar)),
        ..FLAG
    },
    Declaration {
        name: "cookie",
        short: 'b',
        arg: Arg::Text("<data|filename>"),
        multi: Multi::Append,
        categories: &["http"],
        protocols: "HTTP",
        since: "4.9",
        help: "Send these cookies, or read cookies from a file",
        about: "Text with an equals sign is sent as it stands, as name=value pairs. Anything else \
            names a file with cookies in the Netscape format or as headers; an empty name only \
            turns the cookie engine on.",
        set: Set::Act(act::cookie),
        ..FLAG
    },
    Declaration {
        name: "data-ascii",
        arg: Arg::Text("<data>"),
        multi: Multi::Append,
        categories: &["http", "post", "upload"],
        protocols: "HTTP",
        since: "7.2",
        help: "Same as --data",
        about: "Another name for --data.",
        set: Set::Act(act::data),
        ..FLAG
    },
    Declaration {
        name: "data-binary",
        arg: Arg::Text("<data>"),
        multi: Multi::Append,
        categories: &["http", "post", "upload"],
        protocols: "HTTP",
        since: "7.2",
        help: "Post data exactly as given",
        about: "Like --data, but a file named after an @ is sent with its line ends kept.",
        set: Set::Act(act::data_binary),
        ..FLAG
    },
    Declaration {
        name: "data-raw",
        arg: Arg::Text("<data>"),
        multi: Multi::Append,
        categories: &["http", "post", "upload"],
        protocols: "HTTP",
        since: "7.43.0",
        help: "Post data, with no meaning for @",
        about: "Like --data, but a leading @ is just a character.",
        set: Set::Act(act::data_raw),
        ..FLAG
    },
    Declaration {
        name: "data-urlencode",
        arg: Arg::Text("<data>"),
        multi: Multi::Append,
        categories: &["http", "post", "upload"],
        protocols: "HTTP",
        since: "7.18.0",
        help: "Post data, URL-encoded for you",
        about: "The argument is content, =content, name=content, @file or name@file; only the \
            content is encoded, the name must be proper already.",
        set: Set::Act(act::data_urlencode),
        ..FLAG
    },
    Declaration {
        name: "data",
        short: 'd',
        arg: Arg::Text("<data>"),
        multi: Multi::Append,
        categories: &["important", "http", "post", "upload", "mqtt"],
        protocols: "HTTP MQTT",
        since: "4.0",
        help: "Post data",
        about: "The text is sent as the body of a POST with the type of a web form. Several uses are \
            joined by an ampersand. An argument that starts with @ names a file to read, from \
            which line ends and null bytes are removed; @- is standard input.",
        set: Set::Act(act::data),
        ..FLAG
    },
    Declaration {
        name: "dump-header",
        short: 'D',
        arg: Arg::File("<filename>"),
        multi: Multi::Single,
        categories: &["http", "ftp"],
        protocols: "HTTP FTP",
        since: "5.7",
        help: "Write the received headers to this file",
        about: "The headers of all answers in the run go to the file; a dash is standard output and \
            a percent sign standard error. With a scheme without headers the file stays empty.",
        set: Set::Text(Tool(ToolOption::DumpHeader)),
        ..FLAG
    },
    Declaration {
        name: "etag-compare",
        arg: Arg::File("<file>"),
        multi: Multi::Single,
        categories: &["http"],
        protocols: "HTTP",
        since: "7.68.0",
        help: "Fetch only if the ETag differs from this file's",
        about: "The tag in the file is sent in If-None-Match, so that the server can answer 304. \
            Works for one URL at a time.",
        set: Set::Act(act::etag_compare),
        ..FLAG
    },
    Declaration {
        name: "etag-save",
        arg: Arg::File("<file>"),
        multi: Multi::Single,
        categories: &["http"],
        protocols: "HTTP",
        since: "7.68.0",
        help: "Save the answer's ETag in this file",
        about: "When the answer holds an ETag it is written to the file. Works for one URL at a \
            time; a dash is standard output.",
        set: Set::Act(act::etag_save),
        ..FLAG
    },
    Declaration {
        name: "expect100-timeout",
        arg: Arg::Text("<seconds>"),
        multi: Multi::Single,
        categories: &["http", "timeout"],
        protocols: "HTTP",
        since: "7.47.0",
        help: "How long to wait for 100-continue",
        about: "After this many seconds the body is sent although the server has not said that it \
            wants it. The default is one second.",
        set: Set::Millis(Lib(O::Expect100TimeoutMs)),
        ..FLAG
    },
    Declaration {
        name: "fail-with-body",
        categories: &["http", "output"],
        protocols: "HTTP",
        since: "7.76.0",
        help: "Fail on HTTP errors, but keep the body",
        about: "An answer of 400 or above ends with exit code 22, after its body has been saved.",
        set: Set::Toggle(act::fail_with_body),
        ..FLAG
    },
    Declaration {
        name: "fail",
        short: 'f',
        categories: &["important", "http"],
        protocols: "HTTP",
        since: "4.0",
        help: "Fail fast with no output on HTTP errors",
        about: "An answer of 400 or above gives exit code 22 and nothing is written. Some logins \
            that end in 401 or 407 can slip through.",
        set: Set::Toggle(act::fail),
        ..FLAG
    },
    Declaration {
        name: "follow",
        categories: &["http"],
        protocols: "HTTP",
        since: "8.16.0",
        help: "Follow redirects as the standard asks",
        about: "Like --location, but a method chosen with --request is changed where the status code \
            says so.",
        set: Set::Toggle(act::follow),
        ..FLAG
    },
    Declaration {
        name: "form-escape",
        multi: Multi::Single,
        categories: &["http", "upload", "post", "imap", "smtp"],
        protocols: "HTTP IMAP SMTP",
        since: "7.81.0",
        help: "Escape form names with backslashes",
        about: "Names and file names in a multipart form are escaped with backslashes instead of \
            percent codes.",
        set: Set::Bits(Lib(O::MimeOptions), 1),
        ..FLAG
    },
    Declaration {
        name: "form-string",
        arg: Arg::Text("<name=string>"),
        multi: Multi::Append,
        categories: &["http", "upload", "post", "smtp", "imap"],
        protocols: "HTTP SMTP IMAP",
        since: "7.13.2",
        help: "Add a form field whose value is taken literally",
        about: "Like --form, but @, < and ;type= in the value have no meaning.",
        set: Set::Act(act::form_string),
        ..FLAG
    },
    Declaration {
        name: "form",
        short: 'F',
        arg: Arg::Text("<name=content>"),
        multi: Multi::Append,
        categories: &["http", "upload", "post", "imap", "smtp"],
        protocols: "HTTP SMTP IMAP",
        since: "5.0",
        help: "Post a form field or file as multipart data",
        about: "name=value adds a field, name=@file uploads a file, name=<file takes the value from \
            a file. After a semicolon come type=, filename=, headers= and encoder=. name=( opens \
            a nested part that =) closes.",
        set: Set::Act(act::form),
        ..FLAG
    },
    Declaration {
        name: "get",
        short: 'G',
        categories: &["http"],
        protocols: "HTTP",
        since: "7.8.1",
        help: "Put the post data in the URL and use GET",
        about: "What --data and its kin gave is added to the URL after a question mark. With --head \
            the request is HEAD.",
        set: Set::Field(|r| &mut r.get),
        ..FLAG
    },
    Declaration {
        name: "head",
        short: 'I',
        categories: &["important", "http", "ftp", "file"],
        protocols: "HTTP FTP FILE",
        since: "4.0",
        help: "Show document info only",
        about: "Uses HEAD with HTTP. For FTP and FILE the size and time of the file are shown.",
        set: Set::Toggle(act::head),
        ..FLAG
    },
    Declaration {
        name: "header",
        short: 'H',
        arg: Arg::Text("<header/@file>"),
        multi: Multi::Append,
        categories: &["important", "http", "imap", "smtp"],
        protocols: "HTTP IMAP SMTP",
        since: "5.0",
        help: "Pass custom header(s) to server",
        about: "A header without a value removes the one that would be sent, one that ends in a \
            semicolon is sent empty. @file reads headers from a file, one per line.",
        set: Set::Act(act::header),
        ..FLAG
    },
    Declaration {
        name: "hsts",
        arg: Arg::Text("<filename>"),
        multi: Multi::Append,
        categories: &["http"],
        protocols: "HTTPS",
        since: "7.74.0",
        help: "Keep an HSTS cache in this file",
        about: "Hosts that demanded HTTPS are remembered, and http URLs for them become https. An \
            empty name keeps the cache in memory only.",
        needs: "HSTS",
        set: Set::AnyText(Lib(O::Hsts)),
        ..FLAG
    },
    Declaration {
        name: "http0.9",
        categories: &["http"],
        protocols: "HTTP",
        since: "7.64.0",
        help: "Accept answers without a header",
        about: "A server that sends plain data is taken at its word instead of being an error.",
        set: Set::On(Lib(O::Http09Allowed)),
        ..FLAG
    },
    Declaration {
        name: "http1.0",
        short: '0',
        arg: Arg::None,
        multi: Multi::Mutex,
        categories: &["http"],
        protocols: "HTTP",
        since: "7.9.1",
        help: "Speak HTTP 1.0",
        about: "Requests are made with HTTP 1.0 whatever would be preferred.",
        set: Set::Mark(act::http10),
        ..FLAG
    },
    Declaration {
        name: "http1.1",
        arg: Arg::None,
        multi: Multi::Mutex,
        categories: &["http"],
        protocols: "HTTP",
        since: "7.33.0",
        help: "Speak HTTP 1.1",
        about: "Requests are made with HTTP 1.1 whatever would be preferred.",
        set: Set::Mark(act::http11),
        ..FLAG
    },
    Declaration {
        name: "http2-prior-knowledge",
        arg: Arg::None,
        categories: &["http"],
        protocols: "HTTP",
        since: "7.49.0",
        help: "Speak HTTP 2 at once, also without TLS",
        about: "No upgrade is asked for on http URLs; the server must know HTTP 2.",
        set: Set::Mark(act::http2_prior),
        ..FLAG
    },
    Declaration {
        name: "http2",
        arg: Arg::None,
        multi: Multi::Mutex,
        categories: &["http"],
        protocols: "HTTP",
        since: "7.33.0",
        help: "Speak HTTP 2 if possible",
        about: "Negotiated in the TLS handshake for https, by an upgrade for http.",
        set: Set::Mark(act::http2),
        ..FLAG
    },
    Declaration {
        name: "http3-only",
        arg: Arg::None,
        multi: Multi::Mutex,
        categories: &["http"],
        protocols: "HTTP",
        since: "7.88.0",
        help: "Speak HTTP 3 or fail",
        about: "There is no fall-back to another version.",
        set: Set::Mark(act::http3_only),
        ..FLAG
    },
    Declaration {
        name: "http3",
        arg: Arg::None,
        multi: Multi::Mutex,
        categories: &["http"],
        protocols: "HTTP",
        since: "7.66.0",
        help: "Speak HTTP 3 if possible",
        about: "Falls back to older versions when the server cannot be reached over QUIC.",
        set: Set::Mark(act::http3),
        ..FLAG
    },
    Declaration {
        name: "ignore-content-length",
        categories: &["http", "ftp"],
        protocols: "FTP HTTP",
        since: "7.14.1",
        help: "Do not believe Content-Length",
        about: "The body is read to the end of the connection. With FTP the SIZE command is left \
            out.",
        set: Set::On(Lib(O::IgnoreContentLength)),
        ..FLAG
    },
    Declaration {
        name: "json",
        arg: Arg::Text("<data>"),
        multi: Multi::Append,
        categories: &["http", "post", "upload"],
        protocols: "HTTP",
        since: "7.82.0",
        help: "Post JSON",
        about: "Like --data-binary with the headers Content-Type and Accept set to application/json. \
            Several uses are joined without a separator.",
        set: Set::Act(act::json),
        ..FLAG
    },
    Declaration {
        name: "junk-session-cookies",
        short: 'j',
        categories: &["http"],
        protocols: "HTTP",
        since: "7.9.7",
        help: "Start without the session cookies of the file",
        about: "Cookies without an end date are dropped when read with --cookie.",
        set: Set::On(Lib(O::CookieSession)),
        ..FLAG
    },
    Declaration {
        name: "location-trusted",
        categories: &["http", "auth"],
        protocols: "HTTP",
        since: "7.10.4",
        help: "Follow redirects and send credentials everywhere",
        about: "Like --location, but user name, password and own headers also go to other hosts. \
            This can give secrets away.",
        set: Set::Toggle(act::location_trusted),
        ..FLAG
    },
    Declaration {
        name: "location",
        short: 'L',
        categories: &["http"],
        protocols: "HTTP",
        since: "4.9",
        help: "Follow redirects",
        about: "When the server says the page is elsewhere the request is made again there. \
            Credentials stay with the first host.",
        set: Set::Toggle(act::location),
        ..FLAG
    },
    Declaration {
        name: "max-redirs",
        arg: Arg::Text("<num>"),
        multi: Multi::Single,
        categories: &["http"],
        protocols: "HTTP",
        since: "7.5",
        help: "Most redirects to follow",
        about: "The default is 50; -1 takes away the limit.",
        set: Set::Act(act::max_redirs),
        ..FLAG
    },
    Declaration {
        name: "post301",
        categories: &["http", "post"],
        protocols: "HTTP",
        since: "7.17.1",
        help: "Stay with POST after a 301",
        about: "Browsers change to GET, and so does this program without this flag.",
        set: Set::Bits(Lib(O::PostRedir), 1),
        ..FLAG
    },
    Declaration {
        name: "post302",
        categories: &["http", "post"],
        protocols: "HTTP",
        since: "7.19.1",
        help: "Stay with POST after a 302",
        about: "Browsers change to GET, and so does this program without this flag.",
        set: Set::Bits(Lib(O::PostRedir), 2),
        ..FLAG
    },
    Declaration {
        name: "post303",
        categories: &["http", "post"],
        protocols: "HTTP",
        since: "7.26.0",
        help: "Stay with POST after a 303",
        about: "The standard says GET.",
        set: Set::Bits(Lib(O::PostRedir), 4),
        ..FLAG
    },
    Declaration {
        name: "range",
        short: 'r',
        arg: Arg::Text("<range>"),
        multi: Multi::Single,
        categories: &["http", "ftp", "sftp", "file"],
        protocols: "HTTP FTP SFTP FILE",
        since: "4.0",
        help: "Retrieve only the bytes within RANGE",
        about: "first-last, first-, -last for the end, and several with commas for HTTP. A server \
            may ignore it and send all.",
        set: Set::Act(act::range),
        ..FLAG
    },
    Declaration {
        name: "raw",
        categories: &["http"],
        protocols: "HTTP",
        since: "7.16.2",
        help: "No decoding of transfer or content encodings",
        about: "The body is passed on as it came.",
        set: Set::On(Tool(ToolOption::Raw)),
        ..FLAG
    },
    Declaration {
        name: "referer",
        short: 'e',
        arg: Arg::Text("<URL>"),
        multi: Multi::Single,
        categories: &["http"],
        protocols: "HTTP",
        since: "4.0",
        help: "Page the request comes from",
        about: "Sets the Referer header. With ;auto at the end it is updated when redirects are \
            followed.",
        set: Set::Act(act::referer),
        ..FLAG
    },
    Declaration {
        name: "request-target",
        arg: Arg::Text("<path>"),
        multi: Multi::Single,
        categories: &["http"],
        protocols: "HTTP",
        since: "7.55.0",
        help: "Ask for this instead of the path of the URL",
        about: "Goes into the request line as it is.",
        set: Set::Text(Lib(O::RequestTarget)),
        ..FLAG
    },
    Declaration {
        name: "time-cond",
        short: 'z',
        arg: Arg::Text("<time>"),
        multi: Multi::Single,
        categories: &["http", "ftp"],
        protocols: "HTTP FTP",
        since: "5.8",
        help: "Only if newer (or older) than a time",
        about: "A date, or a file whose time is taken. A leading dash asks for older ones.",
        set: Set::Act(act::time_cond),
        ..FLAG
    },
    Declaration {
        name: "tr-encoding",
        categories: &["http"],
        protocols: "HTTP",
        since: "7.21.6",
        help: "Ask for compressed transfer encoding",
        about: "With the TE header; what comes is unpacked.",
        set: Set::On(Lib(O::TransferEncoding)),
        ..FLAG
    },
    Declaration {
        name: "url-query",
        arg: Arg::Text("<data>"),
        multi: Multi::Append,
        categories: &["http", "post", "upload"],
        since: "7.87.0",
        help: "Add to the query part of the URL",
        about: "Forms as for --data-urlencode; with a leading plus the text is taken as it is.",
        set: Set::Act(act::url_query),
        ..FLAG
    },
    Declaration {
        name: "user-agent",
        short: 'A',
        arg: Arg::Text("<name>"),
        multi: Multi::Single,
        categories: &["important", "http"],
        protocols: "HTTP",
        since: "4.5.1",
        help: "Send User-Agent <name> to server",
        about: "An empty text leaves the header out.",
        set: Set::AnyText(Lib(O::UserAgent)),
        ..FLAG
    },
];
