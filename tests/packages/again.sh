#!/bin/sh
# Compares two builds of a release: tests/packages/again.sh DIST_FOLDER OTHER_DIST_FOLDER
#
# Each file of both folders must have the same bytes; where one differs, diffoscope says in what (Debian: diffoscope-minimal).
# The folders are to come from two clones of one commit in two places, which `make dist` has compiled apart (`make again`).
set -eu
one=$(cd "${1:?folder of a release}" && pwd)
other=$(cd "${2:?folder of the other build}" && pwd)
. "$(cd "$(dirname "$0")" && pwd)/tried.sh"
[ "$one" != "$other" ] || { echo "not ok: a folder is compared with itself"; exit 1; }
same=0 differ=0 alone=0
for file in "$one"/*; do
	name=$(basename "$file")
	case $name in SHA256SUMS*) continue ;; esac
	if [ ! -e "$other/$name" ]; then
		echo "not compared: $name, which $other does not have"
		alone=$((alone + 1))
	elif cmp -s "$file" "$other/$name"; then
		echo "ok: $name has the same bytes"
		tried "same bytes from a second folder" "$file"
		same=$((same + 1))
	else
		echo "not ok: $name differs"
		! command -v diffoscope >/dev/null || diffoscope --max-report-size 20000 "$file" "$other/$name" || true
		differ=$((differ + 1))
	fi
done
echo "$same with the same bytes, $differ that differ, $alone not compared"
[ $same -gt 0 ] && [ $differ = 0 ] && [ $alone = 0 ]
