//! Flags of `--mirror-site` and `--sync`, which curl does not have.

use super::flag::{Arg, Declaration, FLAG, Multi, Set};
use crate::act;

pub const FLAGS: &[Declaration] = &[
    Declaration {
        name: "accept",
        arg: Arg::Text("<patterns>"),
        multi: Multi::Append,
        categories: &["extra", "global"],
        help: "Store only such files of a --mirror-site",
        about: "Patterns with *, ? and [], separated by commas. A pattern without a slash is compared with \
            the last part of the path, another one with the whole path and query. Pages and folders are \
            still read for links, and not stored.",
        set: Set::Act(act::accept),
        ..FLAG
    },
    Declaration {
        name: "convert-links",
        categories: &["extra", "global"],
        help: "Make the links of a --mirror-site fit its files",
        about: "When all files are there, links in HTML and CSS to files of the mirror become relative, \
            and all others absolute. The documents as the server sent them are kept in the folder \
            .warmwire-mirror, for --sync and for later conversions.",
        set: Set::Global(|g| &mut g.mirror.convert_links),
        ..FLAG
    },
    Declaration {
        name: "depth",
        arg: Arg::Text("<number>"),
        multi: Multi::Single,
        categories: &["extra", "global"],
        help: "How far a --mirror-site follows links or folders",
        about: "The default is 20. With 0 only the URL itself is fetched, with the images, style sheets \
            and scripts that it needs; these do not count.",
        set: Set::Act(act::depth),
        ..FLAG
    },
    Declaration {
        name: "max-files",
        arg: Arg::Text("<number>"),
        multi: Multi::Single,
        categories: &["extra", "global"],
        help: "Most URLs of a --mirror-site",
        about: "The default is 100000. Further links are counted, and not followed.",
        set: Set::Act(act::max_files),
        ..FLAG
    },
    Declaration {
        name: "max-total",
        arg: Arg::Text("<bytes>"),
        multi: Multi::Single,
        categories: &["extra", "global"],
        help: "End a --mirror-site after so many bytes",
        about: "Suffixes are as for --limit-rate. Files that are being fetched are completed. The same \
            command then continues where it ended. --max-filesize limits each file.",
        set: Set::Act(act::max_total),
        ..FLAG
    },
    Declaration {
        name: "mirror-hosts",
        arg: Arg::Text("<hosts>"),
        multi: Multi::Append,
        categories: &["extra", "global"],
        help: "Other hosts that belong to a --mirror-site",
        about: "Names, separated by commas: example.com, *.example.com for all names below it, \
            example.com:8443 for one port, * for all. Login, cookies, certificate and headers are sent \
            only to the servers of the URLs on the command line.",
        set: Set::Act(act::mirror_hosts),
        ..FLAG
    },
    Declaration {
        name: "mirror-parents",
        categories: &["extra", "global"],
        help: "Let a --mirror-site leave the folder of its URL",
        about: "Pages above and beside the folder of the URL are fetched, too, if they are on its host. \
            Images, style sheets and scripts always are.",
        set: Set::Global(|g| &mut g.mirror.parents),
        ..FLAG
    },
    Declaration {
        name: "mirror-site",
        categories: &["extra", "global"],
        protocols: "HTTP FTP SFTP",
        help: "Fetch a URL and all that is below it",
        about: "Links in HTML and CSS are followed on the host of the URL, below its folder, and \
            folders of FTP and SFTP are listed. Files are named HOST/PATH below --output-dir. \
            robots.txt is obeyed, in the rules for the product of --user-agent (curl by default). Up \
            to --parallel-max files are fetched at a time, six from one server or \
            --parallel-max-host; with --rate or Crawl-delay, one after the other. A file gets its \
            name when it is complete. The folder .warmwire-mirror has the state: after an \
            interruption, the same command continues. Symbolic links in listings are not followed. \
            The exit code is that of the last failure, 22 for an HTTP status other than success; \
            what robots.txt refuses is none.",
        set: Set::Global(|g| &mut g.mirror.is_on),
        ..FLAG
    },
    Declaration {
        name: "reject",
        arg: Arg::Text("<patterns>"),
        multi: Multi::Append,
        categories: &["extra", "global"],
        help: "Do not fetch such files of a --mirror-site",
        about: "Patterns as for --accept.",
        set: Set::Act(act::reject),
        ..FLAG
    },
    Declaration {
        name: "no-robots",
        categories: &["extra", "global"],
        protocols: "HTTP",
        help: "Ignore robots.txt in a --mirror-site",
        about: "Nofollow in <meta name=robots> is ignored, too. Use it only for your own servers.",
        set: Set::Global(|g| &mut g.mirror.obeys_robots),
        ..FLAG
    },
    Declaration {
        name: "sync",
        categories: &["extra", "global"],
        protocols: "HTTP FTP SFTP",
        help: "Fetch only what has changed since the last time",
        about: "HTTP is asked with ETag and Last-Modified, FTP and SFTP are asked for size and time; \
            where a listing has exact times (MLSD), it decides. Without --mirror-site, each URL needs \
            --output or --remote-name, and their folder gets the state, .warmwire-mirror. A file gets its \
            name when it is complete, and the time of the server. A file that has another size than when it \
            was fetched is fetched again.",
        set: Set::Global(|g| &mut g.mirror.sync),
        ..FLAG
    },
    Declaration {
        name: "sync-delete",
        categories: &["extra", "global"],
        protocols: "HTTP FTP SFTP",
        help: "Like --sync, and remove files whose URL is gone",
        about: "Only files that the state lists are removed: those for which an HTTP server \
            answers 404 or 410, or that are missing in a listing which was read completely.",
        set: Set::Toggle(act::sync_delete),
        ..FLAG
    },
];
