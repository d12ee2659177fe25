#!/bin/sh
# Makes the site that tests/packages/programs.sh reads: site.sh FOLDER ADDRESS OSTREE_REPOSITORY
#
# A file, a grid, a git repository with one commit, and repositories of cargo, dnf, zypper, pacman and ostree. ADDRESS is
# where the folder is served; cargo's index names it. Needs git and createrepo_c.
set -eu
site=${1:?folder} address=${2:?address} ostree=${3:?repository of ostree}
hello="hello from the server"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
echo "$hello" >"$site/file"
printf 'ncols 2\nnrows 2\nxllcorner 0\nyllcorner 0\ncellsize 1\n1 2\n3 4\n' >"$site/grid.asc"
cp -r "$ostree" "$site/ostree"

git init -q -b main "$work/git"
echo "$hello" >"$work/git/file"
git -C "$work/git" add file
git -C "$work/git" -c user.name=nobody -c user.email=nobody@example.org commit -q -m "Add a file"
git clone -q --bare "$work/git" "$site/greeting.git"
git -C "$site/greeting.git" update-server-info

# cargo: one crate in a sparse index.
mkdir -p "$work/greeting-1.0.0/src" "$site/index/gr/ee" "$site/crates"
printf '[package]\nname = "greeting"\nversion = "1.0.0"\n' >"$work/greeting-1.0.0/Cargo.toml"
echo "//! $hello" >"$work/greeting-1.0.0/src/lib.rs"
tar -C "$work" -czf "$site/crates/greeting-1.0.0.crate" greeting-1.0.0
printf '{"dl": "%s/crates/{crate}-{version}.crate"}' "$address" >"$site/index/config.json"
printf '{"name":"greeting","vers":"1.0.0","deps":[],"features":{},"yanked":false,"cksum":"%s"}\n' \
	"$(sha256sum "$site/crates/greeting-1.0.0.crate" | cut -d' ' -f1)" >"$site/index/gr/ee/greeting"

mkdir "$site/rpm"
createrepo_c -q --revision "$hello" "$site/rpm"

# pacman: a database with the description of one package.
mkdir -p "$work/pacman/greeting-1.0-1" "$site/pacman"
printf '%%FILENAME%%\ngreeting-1.0-1-any.pkg.tar.zst\n\n%%NAME%%\ngreeting\n\n%%VERSION%%\n1.0-1\n\n%%DESC%%\n%s\n\n%%ARCH%%\nany\n' \
	"$hello" >"$work/pacman/greeting-1.0-1/desc"
tar -C "$work/pacman" -czf "$site/pacman/tried.db" greeting-1.0-1
