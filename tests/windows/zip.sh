#!/bin/sh
# What `make windows-zip` made, unpacked where nothing of it was built, in a folder whose name has a blank: the tool starts and reads a
# file, and programs are built on the DLL and on the static library by what libcurl.pc says, and run. Needs wine.sh's Wine.
# Usage: tests/windows/zip.sh ZIP
set -eu
zip=$(realpath "${1:?zip}")
cd "$(dirname "$0")/../.."
root=$(pwd)
work=$(mktemp -d)
# Who sources wine.sh stops its server at the end; this is a process of its own.
trap 'rm -rf "$work"' EXIT
mkdir "$work/a folder"
cd "$work/a folder"
python3 -m zipfile -e "$zip" .
name=$(basename "$zip" .zip)
[ "$(ls)" = "$name" ]
cd "$name"
for file in bin/warmwire.exe bin/libcurl-x64.dll bin/libcurl-x64.def lib/libcurl.dll.a lib/libcurl.a lib/pkgconfig/libcurl.pc \
	include/curl/curl.h README.txt CHANGELOG.txt LICENSE-MIT.txt LICENSE-APACHE.txt bom.cdx.json; do
	[ -s "$file" ] || { echo "zip.sh: no $file" >&2 && exit 1; }
done

export PKG_CONFIG_LIBDIR="$PWD/lib/pkgconfig"
version=$(pkg-config --modversion libcurl)
wine bin/warmwire.exe -V | tr -d '\r' >"$work/version"
grep -q "x86_64-w64-mingw32) libcurl/$version" "$work/version" || { cat "$work/version" >&2 && exit 1; }
wine bin/warmwire.exe -sS "file:///Z:$(echo "$PWD" | sed 's/ /%20/g')/README.txt" >"$work/README.txt"
cmp "$work/README.txt" README.txt

# These two talk to no server.
for program in handles printf; do
	for link in shared static; do
		# Of libcurl.dll.a and libcurl.a GCC takes the second by -static.
		flags="--cflags --libs" static=
		[ $link = shared ] || flags="--static $flags" static=-static
		# shellcheck disable=SC2086 # words are meant to be split; pkg-config writes blanks of a name as the shell reads them
		eval x86_64-w64-mingw32-gcc $static -std=gnu11 -o bin/$link.exe '"$root/tests/abi/$program.c"' '-I "$root/tests/windows/unix" -include unix.h' \
			"$(pkg-config $flags libcurl)" -lws2_32 -static-libgcc
		x86_64-w64-mingw32-objdump -p bin/$link.exe | grep -q "DLL Name: libcurl-x64.dll" && found=shared || found=static
		[ $found = $link ] || { echo "zip.sh: $program is linked $found, not $link" >&2 && exit 1; }
		wine bin/$link.exe || { echo "zip.sh: $program, $link: $?" >&2 && exit 1; }
	done
done
echo "the zip holds: $(head -n 1 "$work/version")"
