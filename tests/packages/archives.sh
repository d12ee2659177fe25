#!/bin/sh
# Tries what else a release consists of: tests/packages/archives.sh DIST_FOLDER
#
# The checksums hold. The archive of the installed files is unpacked into a fresh root of Debian, in a folder that it was not
# built for: the tool makes a transfer, and Debian's curl makes one on the library by warmwire-run. The sources are those
# of their commit, and cargo resolves them without a change of the lock file. The bill of materials is valid CycloneDX and
# names packages of the lock file, each of which licences.txt names, too. Needs root, mmdebstrap and a Debian mirror.
set -eu
dist=$(cd "${1:?folder of a release}" && pwd)
here=$(cd "$(dirname "$0")" && pwd)
top=$(cd "$here/../.." && pwd)
. "$here/tried.sh"
built=$(cd "${CARGO_TARGET_DIR:-$top/target}" && pwd)
[ "$(id -u)" = 0 ] || { echo "left out: the archives are tried as root"; exit 0; }
command -v mmdebstrap >/dev/null || { echo "left out: needs mmdebstrap"; exit 0; }
work=$(mktemp -d)
server=
trap '[ -z "$server" ] || kill "$server"; rm -rf "$work"' EXIT
failed() { echo "not ok: $1"; exit 1; }
ok() { echo "ok: $1"; }

(cd "$dist" && sha256sum -c --quiet SHA256SUMS) || failed "a checksum"
for file in "$dist"/*; do
	name=$(basename "$file")
	case $name in SHA256SUMS*) ;; *) grep -q "  $name\$" "$dist/SHA256SUMS" || failed "SHA256SUMS lacks $name" ;; esac
done
ok "the checksums of all files"

version=$(sed -n 's/^version = "\(.*\)"/\1/p' "$top/Cargo.toml" | head -n 1)
sources=$dist/warmwire-$version.tar.xz
commit=$(xz -dc "$sources" | git get-tar-commit-id)
mkdir "$work/sources" "$work/checkout"
tar -xJf "$sources" -C "$work/sources"
git -C "$top" archive "$commit" | tar -x -C "$work/checkout"
diff -r "$work/sources/warmwire-$version" "$work/checkout" >"$work/log" || { head "$work/log"; failed "the sources differ from $commit"; }
(cd "$work/sources/warmwire-$version" && CARGO_TARGET_DIR=$work/target cargo metadata --locked --format-version 1 >"$work/metadata") ||
	failed "cargo does not resolve the sources"
ok "the sources are those of the commit, cargo resolves them as locked"
tried "the files of the commit; resolved as locked" "$sources"

python3 - "$dist/bom.cdx.json" "$work/metadata" "$dist/licences.txt" <<'CHECK' || failed "the bill of materials"
import json, sys
bom, metadata = (json.load(open(path)) for path in sys.argv[1:3])
licences = open(sys.argv[3]).read()
known = {(package["name"], package["version"]) for package in metadata["packages"]}
listed = {(component["name"], component["version"]) for component in bom["components"]}
assert bom["bomFormat"] == "CycloneDX" and len(listed) > 50, bom["bomFormat"]
assert listed <= known, listed - known
assert ("rustls", next(v for n, v in known if n == "rustls")) in listed
for name, version in listed:
    if not name.startswith("warmwire"):
        assert f"{name} {version}" in licences, f"licences.txt lacks {name} {version}"
CHECK
ok "components of the lock file alone, each with its licence"
tried "components of the lock file, each with its licence" "$dist/bom.cdx.json" "$dist/licences.txt"
judge=$built/cross-tools/bin/python
if "$judge" -c 'import cyclonedx.validation.json' 2>/dev/null; then
	"$judge" - "$dist/bom.cdx.json" <<-'CHECK' || failed "bom.cdx.json is not CycloneDX"
		import json, sys
		from cyclonedx.schema import SchemaVersion
		from cyclonedx.validation.json import JsonStrictValidator
		text = open(sys.argv[1]).read()
		version = SchemaVersion.from_version(json.loads(text)["specVersion"])
		fault = JsonStrictValidator(version).validate_str(text)
		sys.exit(str(fault) if fault else 0)
	CHECK
	ok "bom.cdx.json by the schema of CycloneDX"
	tried "valid by the schema of CycloneDX" "$dist/bom.cdx.json"
else
	echo "left out: the schema of CycloneDX needs sh tests/install.sh cross"
fi

mkdir -p "$work/site"
echo "hello from the server" >"$work/site/file"
python3 -u -m http.server 0 --bind 127.0.0.1 --directory "$work/site" >"$work/server.log" 2>&1 &
server=$!
port=
while [ -z "$port" ]; do kill -0 "$server"; sleep 0.1; port=$(sed -n 's/.* port \([0-9]*\) .*/\1/p' "$work/server.log"); done
name=warmwire-$version-linux-$(uname -m)
fresh=$work/root
mmdebstrap --quiet --variant=apt --include=curl "$(. /etc/os-release && echo "$VERSION_CODENAME")" "$fresh" >"$work/log" 2>&1 ||
	{ cat "$work/log"; failed "a root"; }
mkdir -p "$fresh/srv/any"
tar -xJf "$dist/$name.tar.xz" -C "$fresh/srv/any"
bin=/srv/any/$name/bin
url=http://127.0.0.1:$port/file
[ "$(chroot "$fresh" $bin/warmwire -sS "$url")" = "hello from the server" ] || failed "the tool of $name.tar.xz"
[ "$(chroot "$fresh" $bin/warmwire-run curl -sS "$url")" = "hello from the server" ] || failed "curl on the library of $name.tar.xz"
chroot "$fresh" $bin/warmwire-run curl -V | grep -q Warmwire || failed "warmwire-run of $name.tar.xz"
rm -r "$fresh/srv/any"
left=$(find "$fresh" -xdev -iname '*warmwire*')
[ -z "$left" ] || failed "$name.tar.xz leaves $left"
ok "$name.tar.xz: transfers of the tool and of Debian's curl in a fresh root, nothing is left"
tried "in a fresh Debian: transfers of the tool and of its curl on the library, no trace" "$dist/$name.tar.xz"
