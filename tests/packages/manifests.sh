#!/bin/sh
# Tries the manifests for Windows: tests/packages/manifests.sh [ZIP]
#
# Without the zip of packaging/windows.sh, one with the same names is made. CMake runs the port of vcpkg with vcpkg's functions
# as files on this machine: the checksum must hold, and each file that the port installs must be in the zip. The manifests
# of winget name a file of the zip and its checksum. Neither vcpkg nor winget runs here.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
command -v cmake >/dev/null || { echo "left out: needs cmake"; exit 0; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed() { echo "not ok: $1"; exit 1; }
version=$(sed -n 's/^version = "\(.*\)"/\1/p' "$root/Cargo.toml" | head -n 1)
name=warmwire-$version-x64-mingw
if [ $# -gt 0 ]; then
	cp "$1" "$work/$name.zip"
else
	mkdir -p "$work/$name/bin" "$work/$name/lib/pkgconfig" "$work/$name/include"
	cp -r "$root/include/curl" "$work/$name/include/"
	cp "$root/LICENSE-MIT" "$work/$name/LICENSE-MIT.txt"
	cp "$root/LICENSE-APACHE" "$work/$name/LICENSE-APACHE.txt"
	for path in bin/warmwire.exe bin/libcurl-x64.dll lib/libcurl.dll.a lib/pkgconfig/libcurl.pc; do
		echo "$path" >"$work/$name/$path"
	done
	(cd "$work" && python3 -m zipfile -c "$name.zip" "$name")
fi
address=https://example.com/$name.zip
sh "$root/packaging/manifests.sh" "$work/$name.zip" "$address" "$work/made"

port=$work/made/vcpkg/curl
python3 -c 'import json, sys
port = json.load(open(sys.argv[1]))
assert port["name"] == "curl" and port["version"].startswith("8."), port' "$port/vcpkg.json"
cat >"$work/run.cmake" <<CMAKE
function(vcpkg_download_distfile out)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "FILENAME;SHA512" "URLS")
  file(SHA512 "$work/\${arg_FILENAME}" found)
  if(NOT "\${arg_URLS}" STREQUAL "$address" OR NOT found STREQUAL arg_SHA512)
    message(FATAL_ERROR "\${arg_URLS} with \${arg_SHA512}")
  endif()
  set(\${out} "$work/\${arg_FILENAME}" PARENT_SCOPE)
endfunction()
# As vcpkg does: the one folder of the archive is the source.
function(vcpkg_extract_source_archive out)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "ARCHIVE" "")
  file(ARCHIVE_EXTRACT INPUT "\${arg_ARCHIVE}" DESTINATION "$work/source")
  file(GLOB folder "$work/source/*")
  set(\${out} "\${folder}" PARENT_SCOPE)
endfunction()
function(vcpkg_fixup_pkgconfig)
endfunction()
function(vcpkg_install_copyright)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "" "FILE_LIST")
  file(INSTALL \${arg_FILE_LIST} DESTINATION "\${CURRENT_PACKAGES_DIR}/share/curl")
endfunction()
set(CURRENT_PACKAGES_DIR "$work/packages")
include("$port/portfile.cmake")
CMAKE
cmake -P "$work/run.cmake" >"$work/log" 2>&1 || { cat "$work/log"; failed "the port of vcpkg"; }
for path in bin/libcurl-x64.dll lib/libcurl.dll.a lib/pkgconfig/libcurl.pc include/curl/curl.h share/curl/LICENSE-MIT.txt; do
	[ -s "$work/packages/$path" ] || failed "the port of vcpkg installs no $path"
done
echo "ok: the port of vcpkg installs the zip's library"
sum=$(sha256sum "$work/$name.zip" | cut -d' ' -f1)
echo changed >>"$work/$name.zip"
! cmake -P "$work/run.cmake" >"$work/log" 2>&1 || failed "the port of vcpkg takes a changed zip"
echo "ok: the port refuses a changed zip"

installer=$work/made/winget/Warmwire.Warmwire.installer.yaml
inside=$(sed -n 's/^- RelativeFilePath: //p' "$installer" | tr '\\' /)
[ -s "$work/source/$inside" ] || failed "winget's manifest names $inside, which the zip lacks"
grep -qix "  InstallerSha256: $sum" "$installer" || failed "winget's manifest has another checksum"
grep -q "^  InstallerUrl: $address\$" "$installer" || failed "winget's manifest names another address"
for kind in version installer defaultLocale; do
	grep -lqx "ManifestType: $kind" "$work/made/winget"/*.yaml || failed "no manifest of winget has the type $kind"
done
[ "$(grep -hx "PackageVersion: $version" "$work/made/winget"/*.yaml | wc -l)" = 3 ] || failed "a manifest of winget has another version"
echo "ok: the manifests of winget"
