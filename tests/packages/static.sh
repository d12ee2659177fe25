#!/bin/sh
# Tries the static tool: tests/packages/static.sh FOLDER_OF_ARTEFACTS
#
# Each one is a single file below 12 MB, stripped, that asks for no library and no loader. It runs in an empty folder as
# root directory, where there is no file but itself: https with a CA file, ftp and file. That of another processor runs
# under qemu (user mode). An image contains no more than it should, and runs from its unpacked layers. As root.
set -eu
artefacts=$(cd "${1:?folder of artefacts}" && pwd)
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
. "$here/tried.sh"
: "${CARGO_TARGET_DIR:=$root/target}"
[ "$(id -u)" = 0 ] || { echo "left out: the static tool is tried as root"; exit 0; }
for program in openssl readelf umoci "$CARGO_TARGET_DIR/pyftpdlib/bin/python"; do
	command -v "$program" >/dev/null || { echo "left out: needs $program"; exit 0; }
done
work=$(mktemp -d)
server=
trap '[ -z "$server" ] || kill "$server"; rm -rf "$work"' EXIT
failed() { echo "not ok: $1"; exit 1; }
ok() { echo "ok: $1"; }

# An HTTPS server and an FTP server with one file, in one process.
mkdir -p "$work/site"
echo "hello from the server" >"$work/site/file"
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=localhost \
	-addext subjectAltName=DNS:localhost,IP:127.0.0.1 -keyout "$work/key.pem" -out "$work/ca.pem" 2>/dev/null
"$CARGO_TARGET_DIR/pyftpdlib/bin/python" -u "$here/serve.py" "$work/site" "$work/ca.pem" "$work/key.pem" >"$work/ports" 2>"$work/server.log" &
server=$!
while [ "$(wc -l <"$work/ports")" -lt 3 ]; do kill -0 "$server"; sleep 0.1; done
https=$(sed -n 's/^https //p' "$work/ports") ftp=$(sed -n 's/^ftp //p' "$work/ports") http=$(sed -n 's/^http //p' "$work/ports")

# transfers NAME COMMAND...: the command runs the tool in a folder that is its root.
transfers() {
	name=$1
	shift
	for url in "https://localhost:$https/file" "http://127.0.0.1:$http/file" "ftp://127.0.0.1:$ftp/file" file:///ca.pem; do
		"$@" -sS --resolve "localhost:$https:127.0.0.1" --cacert /ca.pem "$url" >"$work/got" 2>"$work/errors" ||
			{ cat "$work/errors"; failed "$name: $url"; }
		case $url in file:*) wanted=$work/ca.pem ;; *) wanted=$work/site/file ;; esac
		cmp -s "$wanted" "$work/got" || failed "$name: $url answers other bytes"
	done
	! "$@" -sS --resolve "localhost:$https:127.0.0.1" "https://localhost:$https/file" >/dev/null 2>&1 ||
		failed "$name: https succeeds without the CA file"
	ok "$name: https, http, ftp and file"
}

for archive in "$artefacts"/*-static.tar.xz; do
	name=$(basename "$archive" -static.tar.xz)
	cpu=${name##*-linux-}
	mkdir -p "$work/$cpu/empty"
	tar -C "$work/$cpu" -xJf "$archive"
	for path in warmwire share/man/man1/warmwire.1 share/bash-completion/completions/warmwire \
		share/zsh/site-functions/_warmwire share/fish/vendor_completions.d/warmwire.fish licences.txt LICENSE-MIT LICENSE-APACHE; do
		[ -s "$work/$cpu/$name-static/$path" ] || failed "$name lacks $path"
	done
	program=$work/$cpu/empty/warmwire
	cp "$work/$cpu/$name-static/warmwire" "$program"
	cp "$work/ca.pem" "$work/$cpu/empty/ca.pem"
	size=$(stat -c %s "$program")
	[ "$size" -lt 12000000 ] || failed "$name has $size bytes"
	readelf -ldS "$program" >"$work/elf"
	! grep -qE 'INTERP|NEEDED|\.symtab|\.debug' "$work/elf" || failed "$name asks for a loader or is not stripped"
	ok "$name: one file of $size bytes, static and stripped"
	if [ "$cpu" = "$(uname -m)" ]; then
		transfers "$name in an empty root" chroot "$work/$cpu/empty" /warmwire
		! "$program" -V | grep -q GSS-API || failed "$name names a feature whose library it cannot load"
		tried "tool of $size bytes; transfers in an empty root" "$archive"
	elif command -v "qemu-$cpu" >/dev/null; then
		"qemu-$cpu" "$program" -V >"$work/got" || failed "$name -V"
		grep -q '^warmwire\|^curl' "$work/got" || failed "$name -V: $(cat "$work/got")"
		[ "$("qemu-$cpu" "$program" -sS "http://127.0.0.1:$http/file")" = "hello from the server" ] || failed "$name: http"
		[ "$("qemu-$cpu" "$program" -sS --cacert "$work/ca.pem" "https://127.0.0.1:$https/file")" = "hello from the server" ] ||
			failed "$name: https"
		ok "$name under qemu: -V, http and https"
		tried "tool of $size bytes; transfers under qemu" "$archive"
	else
		echo "left out: $name needs qemu-$cpu"
	fi
done

for archive in "$artefacts"/*.oci.tar; do
	name=$(basename "$archive" .oci.tar)
	cpu=${name##*-linux-}
	mkdir -p "$work/image-$cpu"
	tar -C "$work/image-$cpu" -xf "$archive"
	tag=$(sed -n 's/.*"org.opencontainers.image.ref.name":"\([^"]*\)".*/\1/p' "$work/image-$cpu/index.json")
	umoci unpack --image "$work/image-$cpu:$tag" "$work/bundle-$cpu" >"$work/log" 2>&1 || { cat "$work/log"; failed "$name"; }
	files=$work/bundle-$cpu/rootfs
	(cd "$files" && find . -type f | LC_ALL=C sort | xargs) >"$work/got"
	[ "$(cat "$work/got")" = "./etc/ssl/certs/ca-certificates.crt ./licences/LICENSE-APACHE ./licences/LICENSE-MIT ./licences/licences.txt ./warmwire" ] ||
		failed "$name contains $(cat "$work/got")"
	cmp -s "$files/warmwire" "$work/$cpu/empty/warmwire" || failed "$name contains another tool than the archive"
	[ "$(grep -c 'BEGIN CERTIFICATE' "$files/etc/ssl/certs/ca-certificates.crt")" -gt 100 ] || failed "$name: few certificates"
	ok "$name: an image of the tool, certificates and licences"
	tried "unpacked: the tool, certificates and licences, no other file" "$archive"
	[ "$cpu" = "$(uname -m)" ] || continue
	cp "$work/ca.pem" "$files/ca.pem"
	transfers "$name as its user" chroot --userspec=65534:65534 "$files" /warmwire
	tried "transfers as its user" "$archive"
done
