# Usage: many.sh URL. Fetches ten files in parallel, and prints a table at the end.
warmwire -Z --parallel-max 4 --summary -sS -o 'part-#1' "$1/bytes/[1-10]"
