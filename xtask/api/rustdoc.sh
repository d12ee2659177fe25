#!/bin/sh
# rustdoc with its JSON output, which stable versions have behind this variable. cargo starts it as RUSTDOC; a
# variable for cargo itself would compile all crates again.
RUSTC_BOOTSTRAP=1 exec rustdoc "$@"
