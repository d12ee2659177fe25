//! Flags that curl does not have; off by default, so that scripts see curl's behaviour.

use super::flag::{Arg, Declaration, FLAG, Multi, Set};
use crate::act;

pub const FLAGS: &[Declaration] = &[
    Declaration {
        name: "cache",
        arg: Arg::File("<folder>"),
        multi: Multi::Single,
        categories: &["extra", "global"],
        protocols: "HTTP",
        help: "Store replies in this folder, and reuse them",
        about: "A private cache (RFC 9111) for GET and HEAD. A fresh reply is served without a request, \
            another one is validated by its ETag or Last-Modified, and a reply that its server forbids to \
            store is not stored. Each redirect has its own entry. Replies are stored separately by the \
            fields that Vary names, by login, Authorization, Cookie and Host, and by all options that \
            select the server or how it is verified. With --range, a stored reply answers with status 206 \
            if it has these bytes; a reply to --range is stored and answers ranges inside it. Stored \
            parts with the same strong validator are joined, also to the whole; what they lack at the \
            end, at the beginning or between is requested with If-Range. Several ranges in one request \
            bypass the cache. A reply with status 500, 502, 503 or 504 is stored only if it says how long \
            it is fresh, and is not used with --retry. A stored reply replaces an error if its server \
            allows that (stale-if-error). Nothing is validated after the command has ended \
            (stale-while-revalidate). Cache-Control in -H is obeyed. Other methods remove the entries that \
            they make invalid; a reply to POST is stored if it names its own URL in Content-Location and \
            is explicitly fresh. %{cache} in --write-out is hit, revalidated, completed (the server sent \
            what stored parts lack), stale, miss or bypass. With --compressed, a fresh reply serves as a \
            dictionary for others of its origin if its server says so (RFC 9842: Use-As-Dictionary, dcb, \
            dcz). The cache is bypassed with --continue-at, \
            --retry-resume, --segments, --mirror, --etag-compare, --time-cond, conditions in -H, \
            --request, --request-target, --raw, --ignore-content-length, --netrc, --negotiate, --ntlm and \
            --anyauth, and with --range beside --compressed. A body that ends with its connection is not \
            stored. Many processes may use one folder; only this user can read it.",
        set: Set::Act(act::cache),
        ..FLAG
    },
    Declaration {
        name: "cache-size",
        arg: Arg::Text("<bytes>"),
        multi: Multi::Single,
        categories: &["extra", "global"],
        protocols: "HTTP",
        help: "Size limit of the cache",
        about: "The default is 1G; suffixes are as for --limit-rate. The least recently used replies are removed first, and a reply \
            larger than the limit is not stored.",
        set: Set::Act(act::cache_size),
        ..FLAG
    },
    Declaration {
        name: "checksum",
        arg: Arg::Text("<algorithm=sum>"),
        multi: Multi::PerUrl,
        categories: &["extra"],
        help: "Compare the file with a checksum",
        about: "One of md5, sha1, sha256, sha384, sha512, sha3-256, sha3-384, sha3-512 and blake3, an equals sign, and \
            hexadecimal digits; several are separated by commas. It is computed while bytes arrive, and over the whole file \
            if a transfer resumes one. If it differs, the transfer fails with code 56 and the file is removed.",
        set: Set::Act(act::checksum),
        ..FLAG
    },
    Declaration {
        name: "checksum-file",
        arg: Arg::File("<file>"),
        multi: Multi::Append,
        categories: &["extra"],
        help: "Compare files with a list of checksums",
        about: "The list is in the format of sha256sum and similar programs, plain or with --tag. A file's sum is found by the name under \
            which it is saved, or by the last part of the URL, without directories. A URL whose sum is missing is not fetched. \
            The length of a sum selects the algorithm, unless its name precedes the file's: blake3=B3SUMS.",
        set: Set::Act(act::checksum_file),
        ..FLAG
    },
    Declaration {
        name: "content-disposition",
        categories: &["extra", "output", "http"],
        protocols: "HTTP",
        help: "Take the file name from the answer, as RFC 6266 says",
        about: "Like --remote-header-name, with --remote-name, but an encoded name (filename*, in UTF-8 or \
            ISO-8859-1) is preferred to a plain one. Directories in it are cut off, control \
            characters become underscores, names of hidden files are refused, and existing files \
            are not overwritten.",
        set: Set::Toggle(act::content_disposition),
        ..FLAG
    },
    Declaration {
        name: "deadline",
        arg: Arg::Text("<seconds>"),
        multi: Multi::Single,
        categories: &["extra"],
        help: "Time limit for a transfer with all its retries",
        about: "Unlike --max-time, which limits each attempt, and --retry-max-time, which limits the start of the last one.",
        set: Set::Act(act::deadline),
        ..FLAG
    },
    Declaration {
        name: "dry-run",
        categories: &["extra"],
        help: "Show what would be requested, and do nothing",
        about: "Each transfer is shown with its method, URL, output file and the options it would set.",
        set: Set::Global(|g| &mut g.dry_run),
        ..FLAG
    },
    Declaration {
        name: "exec",
        arg: Arg::Text("<command>"),
        multi: Multi::Single,
        categories: &["extra", "global"],
        help: "Run a command when --watch has found a change",
        about: "The command is run by /bin/sh, and on Windows it is a program without arguments. It learns about the change from the environment: WATCH_EVENT (changed, gone, appeared \
            or message), WATCH_URL without user and password, and where they are known WATCH_FILE (the file of --output), \
            WATCH_MODIFIED, WATCH_SIZE, and WATCH_TYPE, WATCH_DATA and WATCH_ID of a message. No text of a server becomes part \
            of the command. For each URL one command runs at a time; after it, one more runs for the newest change that came \
            meanwhile. Its standard output goes to standard error.",
        set: Set::Act(act::exec),
        ..FLAG
    },
    Declaration {
        name: "explain-cert",
        arg: Arg::Optional("<text|json>"),
        multi: Multi::Single,
        categories: &["extra", "global", "tls", "verbose"],
        help: "Say how each certificate was checked, and what failed",
        about: "Printed on standard error after each transfer, of the server and of an HTTPS proxy: the \
            chain as it was built, with names, dates, keys and signatures; certificates that were sent \
            for nothing; and each check with its outcome, a stapled OCSP answer among them. With \
            --insecure it says what would have failed. No TLS session is resumed then. \
            --explain-cert=json prints one JSON array for each transfer. With --why the report is part of \
            what that prints.",
        set: Set::Act(act::explain_cert),
        ..FLAG
    },
    Declaration {
        name: "fail-on",
        arg: Arg::Text("<statuses>"),
        multi: Multi::Single,
        categories: &["extra", "http"],
        protocols: "HTTP",
        help: "Fail on these HTTP statuses, and on no others",
        about: "Statuses, classes and ranges, separated by commas: 404,5xx,300-399. A final response \
            with one of them gives exit code 22 and nothing of its body is written, as with --fail; \
            with --fail-with-body the body is written. Any other status is a success, also from 400 \
            on. --retry repeats those of them that are transient.",
        set: Set::Act(act::fail_on),
        ..FLAG
    },
    Declaration {
        name: "follow-names",
        categories: &["extra", "global", "connection"],
        help: "Leave a connection when its host has moved",
        about: "Before an open connection is used again, the name of its host is looked up if the \
            answer that led to it is older than its time to live, or than 60 seconds. If the name \
            does not resolve any more to the connection's address, a new connection is opened; --why \
            says so. On by default with --pool process and user, and off otherwise; \
            --no-follow-names turns it off. WARMWIRE_FOLLOW_NAMES does the same for any program.",
        set: Set::Toggle(act::follow_names),
        ..FLAG
    },
    Declaration {
        name: "generate",
        arg: Arg::Text("<what>"),
        multi: Multi::Custom,
        categories: &["extra"],
        help: "Print the manual page or completions",
        about: "A manual page (man, markdown) or completions (bash, zsh, fish).",
        set: Set::Act(act::generate),
        ..FLAG
    },
    Declaration {
        name: "har",
        arg: Arg::File("<file>"),
        multi: Multi::Single,
        categories: &["extra"],
        help: "Write an HTTP Archive of the run",
        about: "Requests, responses and timings of all transfers, in the HAR 1.2 format. Logins, cookies, request fields that may be \
            credentials, and parameters whose names suggest secrets are left out; other posted bodies are not searched. Only \
            this user can read the file.",
        set: Set::Act(act::har),
        ..FLAG
    },
    Declaration {
        name: "input-file",
        arg: Arg::File("<file>"),
        multi: Multi::Append,
        categories: &["extra"],
        help: "Fetch the URLs of a file, with options for each",
        about: "Each line is a URL, taken literally; further URLs of the same file follow behind tabs, \
            as for --mirror. Indented lines below it are options for this URL alone: the long name of an \
            option as in a config file, and its value after a blank, a colon or an equals sign, up to the \
            end of the line. aria2's names out, dir, split and others are known. Options of the command \
            line, and of config files, apply to all entries. A file has its remote name unless an option \
            says otherwise. Lines that begin with # are comments. A single dash reads standard input. A \
            file is checked as a whole before the first transfer; standard input and pipes are read while \
            transfers run.",
        set: Set::Act(act::input_file),
        ..FLAG
    },
    Declaration {
        name: "metalink4",
        arg: Arg::File("<file>"),
        multi: Multi::Append,
        categories: &["extra"],
        help: "Fetch the files that a Metalink describes",
        about: "A document of version 4 (RFC 5854): each file in it is saved under its name, without directories, fetched \
            from its HTTP and FTP URLs by their priority as with --segments and --mirror, and compared with its hashes. No login, \
            cookies, headers or certificate of yours are sent to these URLs. An existing file is kept unless you pass \
            --clobber, and hidden files are refused.",
        set: Set::Act(act::metalink),
        ..FLAG
    },
    Declaration {
        name: "mirror",
        arg: Arg::Text("<URL>"),
        multi: Multi::Append,
        categories: &["extra"],
        help: "Another URL of the same file",
        about: "Pieces are also fetched from this URL, as with --segments. A mirror must have a file of the same size, and the same \
            strong ETag unless a checksum is known. A mirror that does not, fails or is slow is dropped. Login, cookies, \
            certificate and headers are sent only to the original URL.",
        set: Set::Act(act::mirror),
        ..FLAG
    },
    Declaration {
        name: "pool",
        arg: Arg::Text("<kind>"),
        multi: Multi::Single,
        categories: &["extra", "global", "connection"],
        help: "Keep idle connections: process, user or off",
        about: "With user, idle connections outlive the command: a broker, which is a small process of the same user, keeps them \
            for 118 seconds, and the next command or program takes one that was made with the same settings. The broker is \
            started when it is first needed and exits when it had nothing to do for two minutes. Without a broker, the command \
            works as with off. With process, connections go to other transfers of this command. The default is WARMWIRE_POOL, \
            or off.",
        set: Set::Act(act::pool),
        ..FLAG
    },
    Declaration {
        name: "pool-status",
        arg: Arg::None,
        categories: &["extra", "global", "connection"],
        help: "List the connections that the broker keeps",
        about: "Shows scheme, host, age, idle time and number of transfers of each connection. The exit code is 1 if no broker runs.",
        set: Set::Mark(act::pool_status),
        ..FLAG
    },
    Declaration {
        name: "pool-stop",
        arg: Arg::None,
        categories: &["extra", "global", "connection"],
        help: "Stop the broker and close its connections",
        about: "The exit code is 1 if no broker runs.",
        set: Set::Mark(act::pool_stop),
        ..FLAG
    },
    Declaration {
        name: "pac",
        arg: Arg::Text("<file|URL>"),
        multi: Multi::Single,
        categories: &["extra", "proxy"],
        help: "Go through the proxies that a PAC file names",
        about: "A proxy auto-config file names the proxies for each URL, in the order in which they are \
            tried. It is fetched by http, https or from a file, without a proxy, and has at most 1 MiB, \
            500 ms and 16 MiB of memory. If it cannot be fetched or fails, so do the transfers. It sees \
            neither path nor query of a URL of TLS. --noproxy exempts hosts. WARMWIRE_PROXY takes a PAC \
            file as pac+URL.",
        set: Set::Act(act::pac),
        ..FLAG
    },
    Declaration {
        name: "progress",
        arg: Arg::Text("<style>"),
        multi: Multi::Single,
        categories: &["extra"],
        help: "Style of the progress display: meter, bar or bars",
        about: "With bars each transfer has a bar with rate and time left, if standard error is a terminal. With --parallel each keeps \
            its line. Transfers beyond the terminal's height are summed up, and the last line shows how many are done, the \
            bytes, the current rate and the time left for all. Changed lines are rewritten, at most ten times a second.",
        set: Set::Act(act::progress),
        ..FLAG
    },
    Declaration {
        name: "policy",
        arg: Arg::File("<file>"),
        multi: Multi::Single,
        categories: &["extra", "global", "connection"],
        help: "Reach only what a policy allows",
        about: "The file says which schemes, hosts, ports and addresses may be reached; the guide \
            describes it. Each address is checked when a connection to it is opened, also after \
            redirects and for proxies. Without rules, http and https to public addresses are allowed, \
            through no proxy. A transfer that is refused fails with code 9, and its message names the \
            rule. If the file cannot be read or has an error, nothing is transferred. \
            WARMWIRE_POLICY does the same for any program.",
        set: Set::Act(act::policy),
        ..FLAG
    },
    Declaration {
        name: "priority",
        arg: Arg::Text("<priority>"),
        multi: Multi::Single,
        categories: &["extra", "http"],
        protocols: "HTTP",
        help: "How urgent a request is among others",
        about: "Sets the field Priority (RFC 9218), by which servers and proxies choose what they send \
            first: u=0 (first) to u=7 (last; 3 is the default), i for a reply that can be processed as it \
            arrives and may share the bandwidth, or both, as in u=1,i. A Priority field in --header \
            replaces it.",
        set: Set::Act(act::priority),
        ..FLAG
    },
    Declaration {
        name: "proxy-command",
        arg: Arg::Text("<command>"),
        multi: Multi::Single,
        categories: &["extra", "connection", "proxy"],
        help: "Connect through the input and output of a command",
        about: "The command is run by /bin/sh for each connection, and its standard input and output are \
            the connection, as with OpenSSH's ProxyCommand: ssh -W %h:%p gateway. %h is the host, %p the \
            port and %% a percent sign. The host is not looked up here. TLS, logins and the data \
            connections of FTP work through it, and a connection that stays open keeps its command. The \
            command is ended by SIGTERM when its connection is closed. Its standard error is that of this \
            program. A host name that a shell or a program could misread is refused. --noproxy exempts \
            hosts; the variables of the environment for proxies have no effect. Of --proxy and \
            --proxy-command the last one is used.",
        set: Set::Act(act::proxy_command),
        ..FLAG
    },
    Declaration {
        name: "queue",
        arg: Arg::File("<file>"),
        multi: Multi::Single,
        categories: &["extra", "global"],
        help: "Keep the transfers in a file until they are done",
        about: "The URLs of the command line, with the options for them, and the entries of --input-file \
            are added to the file, and every entry that is not done is transferred: also those that a \
            killed command has left, and those that have failed. Without URLs, the command continues with \
            what is there. A URL with the same output is added once. Downloads continue where they were \
            cut if the server sent a strong ETag or Last-Modified (--retry-resume is included), in the \
            folder in which they were added. Options for the whole command line, such as --parallel, and \
            those of the default config file are not kept: give them again. The file has the passwords of \
            the options and URLs, and only this user can read it. One command at a time uses it. The exit \
            code is that of the last entry that failed.",
        set: Set::Act(act::queue),
        ..FLAG
    },
    Declaration {
        name: "queue-list",
        arg: Arg::Optional("<table|json>"),
        multi: Multi::Single,
        categories: &["extra", "global"],
        help: "List the entries of --queue, and transfer nothing",
        about: "Shows number, state, exit code of the last failure, number of starts and URL of each \
            entry, without passwords; --queue-list=json has a line of JSON for each. Another command may \
            work on the queue meanwhile.",
        set: Set::Act(act::queue_list),
        ..FLAG
    },
    Declaration {
        name: "queue-remove",
        arg: Arg::Text("<which>"),
        multi: Multi::Single,
        categories: &["extra", "global"],
        help: "Remove entries from --queue, and transfer nothing",
        about: "Numbers of --queue-list with commas between them, or all entries in a state: done, failed, \
            waiting, running (left by a killed command), or all. Files stay.",
        set: Set::Act(act::queue_remove),
        ..FLAG
    },
    Declaration {
        name: "record",
        arg: Arg::File("<dir>"),
        multi: Multi::Single,
        categories: &["extra", "global"],
        help: "Record all exchanges to a folder",
        about: "Keeps request, response, timing and addresses of each HTTP and FTP exchange in a folder \
            of its own, which only this user can read. Logins, bearer tokens and values of cookies \
            are replaced; bodies are kept as they are. --replay answers from the folder. \
            WARMWIRE_RECORD does the same for any program.",
        set: Set::Act(act::record),
        ..FLAG
    },
    Declaration {
        name: "replay",
        arg: Arg::File("<dir>"),
        multi: Multi::Single,
        categories: &["extra", "global"],
        help: "Answer from a folder of --record, without a network",
        about: "Requests are matched by method and URL, in the order in which they were recorded, and \
            each recorded exchange is used once. A request that is not in the folder fails with code \
            7. No name is looked up and no connection is opened. WARMWIRE_REPLAY_HEADERS names \
            request fields that must be equal as well. WARMWIRE_REPLAY does the same for any \
            program.",
        set: Set::Act(act::replay),
        ..FLAG
    },
    Declaration {
        name: "retry-resume",
        categories: &["extra"],
        help: "Retry after a cut, and request only the rest",
        about: "Needs --retry. A connection that is cut or refused counts as a transient error, and \
            the next attempt resumes where the last one ended: over HTTP if the server sent a \
            strong ETag or Last-Modified, which is returned as If-Range, over FTP, SFTP and FILE \
            if time and size are the same. A file that has changed is fetched from its start, and \
            never mixed. An upload over FTP (REST and STOR) or SFTP continues where the server \
            says it ended, and its size is compared at the end. A file's upload also continues \
            after the command was killed, with the same command: its state is kept in the folder \
            warmwire/uploads in XDG_STATE_HOME or ~/.local/state. If the file has changed, it is \
            uploaded from its start. Upload data from standard input is kept in a temporary file \
            and sent again.",
        set: Set::Field(|r| &mut r.retry_resume),
        ..FLAG
    },
    Declaration {
        name: "segments",
        arg: Arg::Text("<number|auto>"),
        multi: Multi::Single,
        categories: &["extra"],
        protocols: "HTTP FTP SFTP",
        help: "Fetch a file over several connections",
        about: "The file is fetched in pieces, up to 64 at a time; auto adds connections while that makes it faster. It is assembled as \
            NAME.part, with a journal next to it, and gets its name when it is complete. After an interruption, the same command \
            resumes it. ETag, Last-Modified, length and time identify the file: if they change, the transfer fails. If the \
            server sends none of them or supports no ranges, the file is fetched in one piece. Mirrors that the server \
            names in Link fields (RFC 6249) are used. HTTP/1.1 is used unless you select another version. --parallel is \
            refused: several files are fetched one after the other, each over its own connections.",
        set: Set::Act(act::segments),
        ..FLAG
    },
    Declaration {
        name: "summary",
        arg: Arg::Optional("<table|json>"),
        multi: Multi::Single,
        categories: &["extra", "global"],
        help: "Print a summary after all transfers",
        about: "Printed on standard error when all transfers have ended: their number, the bytes in both directions, the connections, \
            the five slowest, the responses by status and the errors by kind. The default is a table; --summary=json prints one \
            line of JSON as the last line. A file that is fetched in pieces is one transfer, and a retried transfer includes all \
            its attempts. URLs are printed without login. --silent does not turn it off.",
        set: Set::Act(act::summary),
        ..FLAG
    },
    Declaration {
        name: "timeline",
        arg: Arg::File("<file>"),
        multi: Multi::Single,
        categories: &["extra"],
        help: "Draw the run as an SVG or HTML picture",
        about: "Each transfer has a row with its phases, and the connection and the stream that it used. The first phase, queued, is the \
            wait for a free connection or stream, or for a connection that another transfer opens. Below are the \
            connections over time, with a line for each simultaneous stream.",
        set: Set::Act(act::timeline),
        ..FLAG
    },
    Declaration {
        name: "upload-protocol",
        arg: Arg::Text("<tus|ietf|s3>"),
        multi: Multi::Single,
        categories: &["extra", "upload"],
        protocols: "HTTP",
        help: "Upload so that it can continue: tus, ietf or s3",
        about: "With tus, --upload-file creates an upload at the URL by POST, and sends the file to \
            the URL that the server names (tus 1.0). With ietf, the request announces that it can \
            continue (draft-ietf-httpbis-resumable-upload, interop version 6): PUT, or the method \
            of --request; a server that does not know it gets an ordinary upload. With both, the \
            URL is used as it is, also with a slash at its end. With s3, a file of more than \
            8 MiB is sent in parts of that size, which become an object when all are there \
            (Amazon S3 and services like it; --aws-sigv4 signs). --retry-resume is included: \
            after a cut the server is asked what it has, and so it is when the same command is \
            started again after it was killed. A URL at another server is refused, unless \
            --location-trusted is used.",
        set: Set::Act(act::upload_protocol),
        ..FLAG
    },
    Declaration {
        name: "verify-digest",
        categories: &["extra"],
        protocols: "HTTP",
        help: "Check the digests that a server sends",
        about: "Requests a Repr-Digest (RFC 9530), and compares it and Content-Digest, in header or trailer, with the received data if \
            they are SHA-256 or SHA-512. If one differs, the transfer fails with code 56 and the file is removed. A body that \
            --compressed decodes is not checked; a note says so.",
        set: Set::Field(|r| &mut r.verify_digest),
        ..FLAG
    },
    Declaration {
        name: "watch",
        arg: Arg::Text("<interval>"),
        multi: Multi::Single,
        categories: &["extra", "global"],
        help: "Poll the URLs, and show what has changed",
        about: "Each URL is polled once in each interval (200ms, 5s, 10m; seconds without a unit), on a connection that stays open. \
            FTP, SFTP and FILE are asked for time and size in one round trip, HTTP is asked with the ETag or date of the last \
            reply, and other content is compared. A mailbox (IMAP IDLE) and an event stream (text/event-stream) report by \
            themselves. On a terminal, a table shows each URL with the age of its last answer, its last change, the median and \
            99th percentile of the latencies, and the intervals with and without an answer in time. Otherwise each event is a \
            line of JSON. With --output or --remote-name, a changed content replaces the file. A server that fails is asked \
            less often until it answers. --max-time limits each poll, --deadline the watch, --parallel-max-host the \
            simultaneous polls of one server. Ctrl-C ends the watch.",
        set: Set::Act(act::watch),
        ..FLAG
    },
    Declaration {
        name: "watch-json",
        categories: &["extra", "global"],
        help: "Print events as JSON",
        about: "With --watch on a terminal, too: without this flag, a terminal gets a table, and a file or a \
            program gets the lines. With --mirror-site and --sync, a line for each file that is new (first), \
            changed or removed (gone), and for each failure (failed).",
        set: Set::Global(|g| &mut g.watch_json),
        ..FLAG
    },
    Declaration {
        name: "why",
        arg: Arg::Optional("<text|json>"),
        multi: Multi::Single,
        categories: &["extra", "global", "verbose"],
        help: "Say what each transfer decided, and why",
        about: "Printed on standard error after each transfer: whether its connection was new or reused, \
            and why, with the option that kept it from using an open one; name look-ups and addresses, \
            proxy, TLS, HTTP version, redirects, logins, cookies sent and withheld, repetitions, the \
            decision of --cache, and where the time went. --why=json prints one line of JSON for each \
            transfer. Passwords and values of cookies are not shown.",
        set: Set::Act(act::why),
        ..FLAG
    },
];
