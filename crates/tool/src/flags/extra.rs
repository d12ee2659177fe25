//! Flags that curl does not have; off by default, so that scripts see curl's behaviour.

use super::flag::{Arg, FLAG, Flag, Multi, Set};
use crate::act;

pub const FLAGS: &[Flag] = &[
    Flag {
        name: "agent",
        categories: &["extra", "global"],
        help: "Have an agent make the call, on warm connections",
        about: "A process of the same user that an earlier command left behind; if there is none, one is started. Output, exit \
            code and signals are as without it. It shares the caller's environment, rights, name spaces, control group and label \
            (AppArmor, SELinux): commands that differ in them, or run at the same time, have one each. Keyrings, scheduling and \
            other resource limits are not compared. In a config file this has no effect; WARMWIRE_AGENT=auto in the \
            environment is the same for all commands, and --no-agent excepts one. The command makes the call itself \
            if it names files of its own process (/dev/fd, /dev/stdin and so on, /dev/tty, /proc/self), if its CPU time, \
            memory or file size is limited, or if no agent can be had.",
        set: Set::Toggle(act::agent),
        ..FLAG
    },
    Flag {
        name: "agent-idle",
        arg: Arg::Text("<seconds>"),
        multi: Multi::Single,
        categories: &["extra", "global"],
        help: "How long an agent stays without calls",
        about: "Said with the last call it makes; 120 seconds unless WARMWIRE_AGENT_IDLE says otherwise.",
        set: Set::Act(act::agent_idle),
        ..FLAG
    },
    Flag {
        name: "agent-status",
        arg: Arg::None,
        categories: &["extra", "global"],
        help: "Show this user's agents",
        about: "With their numbers of calls and of connections kept. The exit code is 1 if there is none.",
        set: Set::Mark(act::agent_status),
        ..FLAG
    },
    Flag {
        name: "agent-stop",
        arg: Arg::None,
        categories: &["extra", "global"],
        help: "End this user's agents",
        about: "One that makes a call ends after it. The exit code is 1 if there is none.",
        set: Set::Mark(act::agent_stop),
        ..FLAG
    },
    Flag {
        name: "cache",
        arg: Arg::File("<folder>"),
        multi: Multi::Single,
        categories: &["extra", "global"],
        protocols: "HTTP",
        help: "Keep replies in this folder, and use them",
        about: "A private cache by RFC 9111, for GET and HEAD: what is fresh is not asked for, what is not is asked about by its \
            ETag or Last-Modified, and what a server does not let be kept is not. Each redirect has an entry of its own. \
            Replies are told apart by what Vary names, by login, Authorization, Cookie and Host, and by all options that say \
            from whom or under which checks they came. A reply stands in for an error if its server allows it \
            (stale-if-error); nothing is asked about behind the back of a command that has ended \
            (stale-while-revalidate). What -H says in Cache-Control is obeyed. Other methods remove what they make untrue. \
            %{cache} in --write-out is hit, revalidated, stale, miss or bypass. The cache is passed by with --range, \
            --continue-at, --retry-resume, --segments, --mirror, --etag-compare, --time-cond, conditions in -H, --request, \
            --request-target, --raw, --ignore-content-length, --netrc, --negotiate, --ntlm and --anyauth. A body whose \
            end only the connection's tells is not kept. Many processes may use one folder; only this user can read it.",
        set: Set::Act(act::cache),
        ..FLAG
    },
    Flag {
        name: "cache-size",
        arg: Arg::Text("<bytes>"),
        multi: Multi::Single,
        categories: &["extra", "global"],
        protocols: "HTTP",
        help: "What a cache may take",
        about: "1G unless said otherwise; suffixes as for --limit-rate. What was not used for longest goes first, and a reply that \
            is larger than all of it is not kept.",
        set: Set::Act(act::cache_size),
        ..FLAG
    },
    Flag {
        name: "checksum",
        arg: Arg::Text("<algorithm=sum>"),
        multi: Multi::PerUrl,
        categories: &["extra"],
        help: "Compare what comes with a checksum",
        about: "One of md5, sha1, sha256, sha384, sha512, sha3-256, sha3-384, sha3-512 and blake3, an equals sign, and \
            hexadecimal digits; several with commas between. It is computed while bytes arrive, over the whole file \
            where a transfer resumes one. If it differs, the transfer fails with code 56 and the file is removed.",
        set: Set::Act(act::checksum),
        ..FLAG
    },
    Flag {
        name: "checksum-file",
        arg: Arg::File("<file>"),
        multi: Multi::Append,
        categories: &["extra"],
        help: "Compare what comes with a file of checksums",
        about: "As sha256sum and its like write them, plain or with --tag. A file's sum is found by the name under which \
            it is saved, or by the last part of the URL, folders aside; a URL whose sum is missing is not fetched. The \
            algorithm is told by the length of a sum, unless it stands in front of the file's name: blake3=B3SUMS.",
        set: Set::Act(act::checksum_file),
        ..FLAG
    },
    Flag {
        name: "deadline",
        arg: Arg::Text("<seconds>"),
        multi: Multi::Single,
        categories: &["extra"],
        help: "Time for a transfer with all its retries",
        about: "Unlike --max-time, which each attempt has anew, and --retry-max-time, within which the last one begins.",
        set: Set::Act(act::deadline),
        ..FLAG
    },
    Flag {
        name: "dry-run",
        categories: &["extra"],
        help: "Show what would be requested, and do nothing",
        about: "Each transfer is shown with its method, URL, output file and the options it would set.",
        set: Set::Global(|g| &mut g.dry_run),
        ..FLAG
    },
    Flag {
        name: "generate",
        arg: Arg::Text("<what>"),
        multi: Multi::Custom,
        categories: &["extra"],
        help: "Print the manual page or completions",
        about: "One of man, bash, zsh and fish; for those who install the program.",
        set: Set::Act(act::generate),
        ..FLAG
    },
    Flag {
        name: "har",
        arg: Arg::File("<file>"),
        multi: Multi::Single,
        categories: &["extra"],
        help: "Write an HTTP Archive of the run",
        about: "Requests, answers and timings of all transfers, in the HAR 1.2 format. Logins, cookies, fields of requests that may \
            be credentials, and parameters whose names sound like secrets are left out; other bodies that are posted are not \
            looked at. The file is this user's alone.",
        set: Set::Act(act::har),
        ..FLAG
    },
    Flag {
        name: "metalink4",
        arg: Arg::File("<file>"),
        multi: Multi::Append,
        categories: &["extra"],
        help: "Fetch what a Metalink describes",
        about: "A document of version 4 (RFC 5854): each file in it is saved under its name, without folders, fetched from \
            its URLs of HTTP and FTP by their priority as with --segments and --mirror, and compared with its hashes. Nothing of \
            yours is sent to these URLs: no login, cookies, headers or certificate. A file that exists stays, unless --clobber is \
            given, and hidden files are refused.",
        set: Set::Act(act::metalink),
        ..FLAG
    },
    Flag {
        name: "mirror",
        arg: Arg::Text("<URL>"),
        multi: Multi::Append,
        categories: &["extra"],
        help: "Where else the file is",
        about: "Pieces are fetched from there, too, as with --segments. A mirror must have a file of the same size, and \
            the same strong ETag unless a checksum is known; else it is left, and so is one that fails or is slow. Login, \
            cookies, certificate and headers that were given go to the URL alone.",
        set: Set::Act(act::mirror),
        ..FLAG
    },
    Flag {
        name: "progress",
        arg: Arg::Text("<style>"),
        multi: Multi::Single,
        categories: &["extra"],
        help: "Style of the progress display: meter, bar or bars",
        about: "With bars each transfer has a bar with rate and time left, if standard error is a terminal. With --parallel each stays \
            in its line; what the terminal has no room for is summed, and the last line tells how many are done, the bytes, the \
            present rate and the time left for all. Lines that have changed are written anew, ten times a second at most.",
        set: Set::Act(act::progress),
        ..FLAG
    },
    Flag {
        name: "retry-resume",
        categories: &["extra"],
        help: "Retry after a cut, and ask for the rest only",
        about: "With --retry. A connection that is cut or refused counts as passing, and the next attempt goes on where the \
            last one ended: over HTTP if the server told a strong ETag or Last-Modified, which is sent as If-Range, over \
            FTP, SFTP and FILE if time and size are the same. A file that has changed is fetched anew, and never mixed. \
            What an upload took from standard input is kept in a temporary file and sent again; over FTP and SFTP \
            uploads go on where they were.",
        set: Set::Field(|r| &mut r.retry_resume),
        ..FLAG
    },
    Flag {
        name: "segments",
        arg: Arg::Text("<number|auto>"),
        multi: Multi::Single,
        categories: &["extra"],
        protocols: "HTTP FTP SFTP",
        help: "Fetch a file over several connections",
        about: "In pieces, up to 64 at a time; auto adds connections while that makes it faster. The file is put together \
            as NAME.part, with a journal beside it, and gets its name when it is complete. A run that was ended at any \
            moment is gone on with by the same command. What the server tells of the file (ETag, Last-Modified, length, \
            time) binds the pieces: one that has changed is an error; a server that tells nothing, or has no ranges, is \
            asked for the file in one piece. Mirrors that it names by Link fields (RFC 6249) are used. HTTP/1.1 is \
            spoken unless another version is asked for. Not together with --parallel, which is refused: several files come one after the \
            other, each over its own connections.",
        set: Set::Act(act::segments),
        ..FLAG
    },
    Flag {
        name: "summary",
        arg: Arg::Optional("<table|json>"),
        multi: Multi::Single,
        categories: &["extra", "global"],
        help: "Tell at the end what the run came to",
        about: "On standard error, when all transfers have ended: how many there were, the bytes both ways, the connections, \
            the five slowest, the answers by status and the errors by kind. A table, or with --summary=json one line of JSON, \
            the last that is written. A file that is fetched in pieces is one transfer, and one that was tried again counts \
            with all its attempts; URLs are told without login. --silent does not silence it.",
        set: Set::Act(act::summary),
        ..FLAG
    },
    Flag {
        name: "timeline",
        arg: Arg::File("<file>"),
        multi: Multi::Single,
        categories: &["extra"],
        help: "Draw the run as an SVG or HTML picture",
        about: "A row for each transfer with its phases, and the connection and the stream that it used. The first phase, queued, is \
            the wait for a place among the connections, for a stream, or for a connection that another transfer opens. Below them \
            stands what each connection carried when, one line for each stream that it had at a time.",
        set: Set::Act(act::timeline),
        ..FLAG
    },
    Flag {
        name: "verify-digest",
        categories: &["extra"],
        protocols: "HTTP",
        help: "Check the digests that a server sends",
        about: "Asks for a Repr-Digest (RFC 9530), and compares it and Content-Digest with what comes, in header or \
            trailer, where they are of SHA-256 or SHA-512. If one differs, the transfer fails with code 56 and the file \
            is removed. A body that --compressed decodes is not checked, and that is said.",
        set: Set::Field(|r| &mut r.verify_digest),
        ..FLAG
    },
];
