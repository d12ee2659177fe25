#!/bin/sh
# Writes manifests of package managers for Windows: manifests.sh ZIP ADDRESS OUTPUT_FOLDER
#
# ZIP is what packaging/windows.sh made, ADDRESS is where it will be downloaded from. Makes in OUTPUT_FOLDER:
#   winget/                       the tool, for `winget install --manifest winget`
#   vcpkg/curl/                   libcurl for x64-mingw-dynamic in place of vcpkg's own port, for `--overlay-ports=vcpkg`
# The zip's checksums are in them.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
zip=${1:?zip} address=${2:?address of the zip}
mkdir -p "${3:?output folder}"
output=$(cd "$3" && pwd)
folder=$(basename "$zip" .zip)
version=$(sed -n 's/^version = "\(.*\)"/\1/p' "$root/Cargo.toml" | head -n 1)
homepage=$(sed -n 's/^repository = "\([^"]*\)".*/\1/p' "$root/Cargo.toml" | head -n 1)
date=$(date -u -d "@${SOURCE_DATE_EPOCH:-$(git -C "$root" log -1 --format=%ct 2>/dev/null || date +%s)}" +%Y-%m-%d)
about="Transfers data by URL, in place of the curl command"

# manifest FILE TYPE, with the other fields as input.
mkdir -p "$output/winget" "$output/vcpkg/curl"
manifest() {
	{
		printf 'PackageIdentifier: Warmwire.Warmwire\nPackageVersion: %s\n' "$version"
		cat
		printf 'ManifestType: %s\nManifestVersion: 1.6.0\n' "$2"
	} >"$output/winget/Warmwire.Warmwire$1.yaml"
}
manifest "" version <<FIELDS
DefaultLocale: en-US
FIELDS
manifest .locale.en-US defaultLocale <<FIELDS
PackageLocale: en-US
Publisher: Warmwire contributors
PackageName: Warmwire
PackageUrl: $homepage
License: MIT OR Apache-2.0
ShortDescription: $about
Moniker: warmwire
FIELDS
manifest .installer installer <<FIELDS
InstallerType: zip
NestedInstallerType: portable
NestedInstallerFiles:
- RelativeFilePath: $folder\\bin\\warmwire.exe
  PortableCommandAlias: warmwire
ReleaseDate: $date
Installers:
- Architecture: x64
  InstallerUrl: $address
  InstallerSha256: $(sha256sum "$zip" | cut -d' ' -f1 | tr a-f A-F)
FIELDS

curl=$(sed -n 's/^pub const CURL: &str = "\(.*\)";/\1/p' "$root/crates/tables/src/version.rs")
cat >"$output/vcpkg/curl/vcpkg.json" <<FIELDS
{
  "name": "curl",
  "version": "$curl",
  "description": "Warmwire $version, a drop-in for libcurl, in place of it",
  "homepage": "$homepage",
  "license": "MIT OR Apache-2.0",
  "supports": "mingw & x64 & !static"
}
FIELDS
cat >"$output/vcpkg/curl/portfile.cmake" <<FIELDS
# Written by packaging/manifests.sh. The library is built already: the port unpacks it.
set(VCPKG_POLICY_DLLS_WITHOUT_EXPORTS enabled)
set(VCPKG_POLICY_MISMATCHED_NUMBER_OF_BINARIES enabled)
vcpkg_download_distfile(ARCHIVE
  URLS "$address"
  FILENAME "$folder.zip"
  SHA512 $(sha512sum "$zip" | cut -d' ' -f1)
)
vcpkg_extract_source_archive(SOURCE_PATH ARCHIVE "\${ARCHIVE}")
file(INSTALL "\${SOURCE_PATH}/include/curl" DESTINATION "\${CURRENT_PACKAGES_DIR}/include")
file(INSTALL "\${SOURCE_PATH}/bin/libcurl-x64.dll" DESTINATION "\${CURRENT_PACKAGES_DIR}/bin")
file(INSTALL "\${SOURCE_PATH}/lib/libcurl.dll.a" DESTINATION "\${CURRENT_PACKAGES_DIR}/lib")
file(INSTALL "\${SOURCE_PATH}/lib/pkgconfig/libcurl.pc" DESTINATION "\${CURRENT_PACKAGES_DIR}/lib/pkgconfig")
vcpkg_fixup_pkgconfig()
vcpkg_install_copyright(FILE_LIST "\${SOURCE_PATH}/LICENSE-MIT.txt" "\${SOURCE_PATH}/LICENSE-APACHE.txt")
FIELDS
