# Sourced by the tries of artefacts. `tried TEXT FILE...` notes that a try of these files has passed: a line of
# target/tries/NAME.tsv has the file's checksum, its name and the text. packaging/artefacts.sh makes a table of these lines.
# A line counts only for a file of the same bytes, so that no table names a try of another build.
tries=${CARGO_TARGET_DIR:-target}/tries
mkdir -p "$tries"
tries=$(cd "$tries" && pwd)/$(basename "$0" .sh).tsv
rm -f "$tries"
tried() {
	text=$1
	shift
	for file; do printf '%s\t%s\t%s\n' "$(sha256sum <"$file" | cut -d' ' -f1)" "$(basename "$file")" "$text" >>"$tries"; done
}
