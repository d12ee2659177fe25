//! The chapters of the manual around the list of options.

/// A piece of a chapter.
pub enum Piece<T = &'static str> {
    Text(T),
    /// A term and its description.
    Item(T, T),
    /// Lines to be shown as they are.
    Example(T),
}

use Piece::{Example, Item, Text};

pub struct Chapter {
    pub title: &'static str,
    pub pieces: &'static [Piece],
}

pub const BEFORE: &[Chapter] = &[
    Chapter { title: "NAME", pieces: &[Text("curl - transfer a URL")] },
    Chapter { title: "SYNOPSIS", pieces: &[Text("curl [options / URLs]")] },
    Chapter {
        title: "DESCRIPTION",
        pieces: &[
            Text(
                "Fetches and sends data with URLs. It asks nothing while it works, so it fits into scripts, and takes \
                 the command lines of curl. This program is Warmwire, written anew in Rust; it calls itself curl in \
                 its messages because scripts look for that name.",
            ),
            Text("What was built into a given program is shown by curl --version."),
        ],
    },
    Chapter {
        title: "URLS",
        pieces: &[
            Text(
                "Any number of URLs can be given; they are worked on in the order given unless --parallel is used, \
                 and connections are kept for the next one where possible. Without a scheme http is assumed, or what \
                 the host name hints at (ftp.example.com is FTP).",
            ),
            Text(
                "Options that stand before --next belong to the URLs before it, those after it to the rest.",
            ),
        ],
    },
    Chapter {
        title: "GLOBBING",
        pieces: &[
            Text(
                "Braces and brackets make several URLs of one. Quote them so that the shell leaves them alone.",
            ),
            Item("{one,two,three}", "each of the words."),
            Item("[1-100], [001-100], [1-100:10]", "numbers, with leading zeros, or in steps."),
            Item("[a-z], [a-z:2]", "letters, also in steps."),
            Item("{<name>a,b}, [<name>1-9]", "the same with a name for the output file."),
            Text(
                "Several globs in one URL give all combinations. In --output, #1 is what the first glob stands for \
                 and #<name> what the one of that name does. An IPv6 address in brackets is no glob, and --globoff \
                 turns all of this off.",
            ),
            Example("curl \"https://example.com/{a,b}/[1-3].txt\" -o \"#1-#2.txt\""),
        ],
    },
    Chapter {
        title: "VARIABLES",
        pieces: &[
            Text(
                "--variable sets a variable to a text, to the content of a file, or to a variable of the \
                 environment. An option with --expand- in front of its name has {{name}} in its argument replaced. \
                 Functions after a colon are applied from left to right.",
            ),
            Item("trim", "blanks at both ends are removed."),
            Item("json", "the text is made fit for a JSON string."),
            Item("url", "the text is percent-encoded."),
            Item("b64, 64dec", "base64, and back."),
            Example("curl --variable %USER --expand-url \"https://example.com/{{USER:trim:url}}\""),
        ],
    },
    Chapter {
        title: "OUTPUT",
        pieces: &[Text(
            "What is received goes to standard output. --output and --remote-name save it in files instead; one of \
             them is needed for each URL. Control characters in names that a server sends never reach the terminal. On \
             Windows a name that comes with a URL or from a server is changed if it would mean a device, a stream or \
             another file: nul.txt becomes nul_txt.",
        )],
    },
    Chapter {
        title: "PROGRESS METER",
        pieces: &[Text(
            "While data does not go to the terminal, standard error shows how much has come, how fast, and how long \
             it takes, in bytes with the suffixes k, M, G, T and P for powers of 1024. --progress-bar is a simpler \
             display, --no-progress-meter none, and --silent also hides messages.",
        )],
    },
];

pub const AFTER: &[Chapter] = &[
    Chapter {
        title: "FILES",
        pieces: &[Item(
            "~/.curlrc",
            "The default config file, see --config. $CURL_HOME/.curlrc, $XDG_CONFIG_HOME/curlrc and \
             $HOME/.config/curlrc are looked for as well. On Windows %USERPROFILE%, %APPDATA% and the folder of the \
             program come after them, and _curlrc is as good a name, if there is no .curlrc.",
        )],
    },
    Chapter {
        title: "ENVIRONMENT",
        pieces: &[
            Item(
                "http_proxy, HTTPS_PROXY, [scheme]_PROXY",
                "The proxy for a scheme. http_proxy counts in lower case only, because a web server sets \
                 HTTP_PROXY from a request.",
            ),
            Item("ALL_PROXY, all_proxy", "The proxy for schemes without a variable of their own."),
            Item("NO_PROXY, no_proxy", "Hosts to reach directly, separated by commas, as in --noproxy."),
            Item(
                "CURL_CA_BUNDLE, SSL_CERT_FILE, SSL_CERT_DIR",
                "Certificate authorities, as in --cacert and --capath. Only the tool reads them; the \
                 library does not.",
            ),
            Item(
                "CURL_SSL_BACKEND",
                "Selects the TLS library for the tool and for programs, as curl_global_sslset(3) does.",
            ),
            Item(
                "SSLKEYLOGFILE",
                "A file that receives the keys of TLS connections, for programs that record packets.",
            ),
            Item("QLOGDIR", "A folder that receives a file (qlog) with the events of each QUIC connection."),
            Item(
                "CURL_HOME, XDG_CONFIG_HOME, HOME",
                "The folders of the default config file and of .ssh/known_hosts, in this order. On Windows, \
                 USERPROFILE and APPDATA come after them. HOME also has .netrc and SSH's keys.",
            ),
            Item(
                "XDG_STATE_HOME",
                "The folder for the state of uploads with --retry-resume. The default is \
                 .local/state in HOME, on Windows in USERPROFILE.",
            ),
            Item("NETRC", "The file that --netrc reads instead of .netrc, unless --netrc-file names one."),
            Item("COLUMNS", "The width of the terminal."),
            Item("TERM", "With the value dumb, --progress=bars is off: the cursor cannot be moved."),
            Item(
                "COMPUTERNAME",
                "On Windows, the name of this machine, which EHLO of SMTP sends if the URL has no path.",
            ),
            Item("KRB5CCNAME", "The cache of Kerberos tickets for --negotiate."),
            Item("OTEL_SERVICE_NAME", "The name of the service in spans that WARMWIRE_TRACE exports."),
            Item(
                "LOCALDOMAIN, RES_OPTIONS, HOSTALIASES",
                "Variables of the system's resolver. With --pool user, processes share looked-up names \
                 only if they agree in these.",
            ),
            Item(
                "IPFS_GATEWAY, IPFS_PATH",
                "The gateway for ipfs:// and ipns://, or the folder with its address.",
            ),
            Item("SSH_AUTH_SOCK", "The socket of the SSH agent that has the keys for SFTP and SCP."),
        ],
    },
];

pub const LAST: &[Chapter] = &[
    Chapter {
        title: "AUTHORS",
        pieces: &[Text(
            "The authors of Warmwire. The interface is that of curl by Daniel Stenberg and others.",
        )],
    },
    Chapter { title: "SEE ALSO", pieces: &[Text("ftp(1), wget(1), libcurl(3)")] },
];
