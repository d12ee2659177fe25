# Usage: list.sh URL. Fetches what lists name, with options for each URL.
cat >list <<END
# Lines that begin with # are comments.
$1/bytes/300
  output = small.bin
$1/bytes/20000
  output = large.bin
  header = X-Reason: nightly copy
  retry = 3
END
warmwire -sS --fail -Z --input-file list -w '%{filename_effective}: %{http_code}\n' | sort
# Standard input and pipes are read while transfers run.
for number in 1 2 3; do
  echo "$1/bytes/$number"
  echo "  output = part-$number"
done | warmwire -sS --fail --input-file -
