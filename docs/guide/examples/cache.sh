# Usage: cache.sh URL. The second command reads the reply from the folder, if the server allows it.
for turn in 1 2; do
    warmwire -sS --cache replies -w '%{cache}\n' -o list "$1/bytes/100"
done
