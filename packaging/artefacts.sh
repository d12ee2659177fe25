#!/bin/sh
# Writes the table of a release's files: artefacts.sh DIST_FOLDER TRIES_FOLDER
#
# Names and sizes are those of the folder. What was tried is what the tries of tests/packages noted (tried.sh), for files
# whose checksum is the same. The guide contains the table as a page.
set -eu
dist=${1:?folder of a release} tries=${2:?folder of notes}
version=$(cd "$dist" && for name in libwarmwire4_*.deb; do echo "$name"; done | cut -d_ -f2)
commit=$(xz -dc "$dist/warmwire-$version.tar.xz" | git get-tar-commit-id)
cat <<HEAD
# Files of a release

Written by \`make artefacts\` from the files that \`make dist\` left in \`dist/\`, and from what the
tries of \`make try-dist\` and \`make again\` noted for files of the same checksum.

Version $version, commit $(echo "$commit" | cut -c1-8).

| file | bytes | tried |
| --- | --: | --- |
HEAD
for file in "$dist"/*; do
	name=$(basename "$file")
	sum=$(sha256sum <"$file" | cut -d' ' -f1)
	texts=$(cat "$tries"/*.tsv 2>/dev/null | awk -F'\t' -v sum="$sum" -v name="$name" \
		'$1 == sum && $2 == name && !seen[$3]++ { printf "%s%s", between, $3; between = "; " }')
	case $name in SHA256SUMS*) continue ;; esac
	echo "| \`$name\` | $(stat -c %s "$file" | sed -E ':a; s/^([0-9]+)([0-9]{3})/\1,\2/; ta') | ${texts:-not tried} |"
done
