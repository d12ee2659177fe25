#!/bin/sh
# Installs everything: install.sh LIB_DIR TOOL DESTINATION [PREFIX]
#
# LIB_DIR is what crates/capi/link.sh made, TOOL the built command line tool; DESTINATION is where files are put (DESTDIR
# and prefix), PREFIX what they say of themselves (default DESTINATION). Refuses a PREFIX where the system would take the
# library for its own libcurl, unless REPLACE=yes is in the environment. Puts there:
#   lib/            the shared library under both names, the static one, pkg-config's and CMake's files
#   include/curl/   headers
#   bin/            warmwire, curl-config, warmwire-run
#   share/          manual pages, completions
#   lib/systemd/    units of the user by which systemd starts the broker of idle connections
# The library looks for the program of the broker at ../bin/warmwire from its own folder.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
lib=${1:?library folder} tool=${2:?tool} dest=${3:?destination} prefix=${4:-$3}

# Whether the dynamic loader looks for libraries of all programs in this folder.
searched() {
	case $1 in /lib | /usr/lib | /usr/local/lib) return 0 ;; esac
	cat /etc/ld.so.conf /etc/ld.so.conf.d/*.conf 2>/dev/null | grep -qxF -- "$1"
}

libraries=$(readlink -m -- "$prefix/lib")
if [ "${REPLACE:-}" != yes ] && searched "$libraries"; then
	cat >&2 <<-TEXT
		install.sh: nothing was installed. $libraries/libcurl.so.4 would replace the system's libcurl for every program at
		the next ldconfig. Either
		  install into a folder of its own:   make install PREFIX=/opt/warmwire
		  make a Debian package:              make deb
		  or replace the system's libcurl:    make install PREFIX=$prefix REPLACE=yes
	TEXT
	exit 1
fi

sh "$here/../crates/capi/install.sh" "$lib" "$dest" "$prefix"
install -D -s -m 755 "$tool" "$dest/bin/warmwire"
install -D -m 755 "$here/warmwire-run" "$dest/bin/warmwire-run"

units=$dest/lib/systemd/user
install -D -m 644 "$here/systemd/warmwire-broker.socket" "$units/warmwire-broker.socket"
sed -e "s|@PREFIX@|$prefix|" "$here/systemd/warmwire-broker.service" >"$units/warmwire-broker.service"
chmod 644 "$units/warmwire-broker.service"

sh "$here/texts.sh" "$tool" "$dest/share"
mkdir -p "$dest/share/man/man3"
install -m 644 "$here"/man/*.1 "$dest/share/man/man1/"
install -m 644 "$here"/man/*.3 "$dest/share/man/man3/"
# Writes pages that include the page $1.
alias_pages() {
	page=$1
	shift
	for name; do echo ".so man3/$page.3" >"$dest/share/man/man3/$name.3"; done
}
alias_pages warmwire_pool warmwire_each warmwire_close warmwire_open
alias_pages warmwire_upload warmwire_upload_place warmwire_upload_verify
alias_pages warmwire_watch warmwire_watch_add warmwire_watch_free warmwire_watch_run warmwire_watch_status warmwire_watch_stop
