# Usage: watch.sh URL. Stores the content whenever it changes, and adds a line to the file "changes".
warmwire -sS --watch 100ms --deadline 3 --output state \
    --exec 'echo "$WATCH_EVENT $WATCH_FILE" >> changes' "$1/sum"
