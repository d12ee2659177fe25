#!/bin/sh
# Programs on libcurl: programs.sh SERVER WORD. Each makes a transfer, and those that can say which library they run on,
# which has WORD in its name.
set -eu
server=$1 word=$2 hello="hello from the server"

is() {
	case $3 in "$2"*) ;; *) echo "$1: wanted \"$2\", got \"$3\""; exit 1 ;; esac
}
on() {
	case $2 in *"$word"*) ;; *) echo "$1 runs on $2, not on $word"; exit 1 ;; esac
}

is php "$hello" "$(php -r '$c = curl_init($argv[1]); curl_setopt($c, CURLOPT_RETURNTRANSFER, true); echo curl_exec($c);' "$server/file")"
on php "libcurl/$(php -r 'echo curl_version()["version"], " ", curl_version()["ssl_version"];')"
is pycurl "$hello" "$(python3 -c 'import pycurl, sys
c = pycurl.Curl()
c.setopt(c.URL, sys.argv[1])
c.perform()' "$server/file")"
on pycurl "$(python3 -c 'import pycurl; print(pycurl.version)')"
is WWW::Curl "$hello" "$(perl -MWWW::Curl::Easy -e 'my $c = WWW::Curl::Easy->new;
$c->setopt(CURLOPT_URL, $ARGV[0]);
$c->perform == 0 or die;' "$server/file")"
on WWW::Curl "$(perl -MWWW::Curl::Easy -e 'print WWW::Curl::Easy::version()')"
git ls-remote "$server/empty.git"
echo "file(DOWNLOAD $server/file /tmp/by-cmake STATUS status)
message(\"\${status}\")" >/tmp/try.cmake
is cmake '0;"No error"' "$(cmake -P /tmp/try.cmake 2>&1)"
is cmake "$hello" "$(cat /tmp/by-cmake)"
is librepo "$hello" "$(python3 -c 'import librepo, os, sys
fd = os.open("/tmp/by-librepo", os.O_RDWR | os.O_CREAT | os.O_TRUNC)
librepo.download_url(sys.argv[1], fd)
print(open("/tmp/by-librepo").read())' "$server/file")"
