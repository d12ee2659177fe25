#!/bin/sh
# Makes a zip for Windows: windows.sh RELEASE_FOLDER OUTPUT_FOLDER; prints its path.
#
# RELEASE_FOLDER is what `make windows` made. Laid out as curl's own builds are, so that what finds those finds this:
#   bin/        warmwire.exe, libcurl-x64.dll, libcurl-x64.def
#   lib/        libcurl.dll.a, libcurl.a, pkgconfig/libcurl.pc (its prefix is the folder that it was unpacked to)
#   include/    headers
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/.." && pwd)
release=${1:?folder of the release build} output=${2:?output folder}

version=$(sed -n 's/^version = "\(.*\)"/\1/p' "$root/Cargo.toml" | head -n 1)
name=warmwire-$version-x64-mingw
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
to=$work/$name
mkdir -p "$to/bin" "$to/lib/pkgconfig" "$to/include/curl" "$output"
cp "$release/lib/libcurl-x64.dll" "$release/lib/libcurl-x64.def" "$to/bin/"
x86_64-w64-mingw32-strip -o "$to/bin/warmwire.exe" "$release/warmwire.exe"
cp "$release/lib/libcurl.dll.a" "$release/lib/libcurl.a" "$to/lib/"
cp "$release/lib/libcurl.pc" "$to/lib/pkgconfig/"
cp "$root"/include/curl/*.h "$to/include/curl/"
for text in LICENSE-MIT LICENSE-APACHE CHANGELOG.md README.md; do
	sed 's/$/\r/' "$root/$text" >"$to/${text%.md}.txt"
done
(cd "$root" && cargo xtask supply) >"$to/bom.cdx.json"

zip=$(cd "$output" && pwd)/$name.zip
rm -f "$zip"
(cd "$work" && python3 -m zipfile -c "$zip" "$name")
echo "$zip"
