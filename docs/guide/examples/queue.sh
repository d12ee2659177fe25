# Usage: queue.sh URL. Adds URLs to a queue, and continues after an interruption.
warmwire -sS --fail --queue jobs -o one "$1/bytes/1000" -o two "$1/bytes/2000"
# More is added while the queue exists; what is done stays done.
printf '%s\n  output = three\n' "$1/bytes/3000" >list
warmwire -sS --fail --queue jobs --input-file list
# Without URLs: continues with what is not done.
warmwire -sS --fail --queue jobs
warmwire --queue jobs --queue-list
warmwire --queue jobs --queue-remove done
