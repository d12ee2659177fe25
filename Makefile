# Thin doors to cargo and the project's own programs. `make demo` and `make test` are all that a newcomer needs.
CARGO_TARGET_DIR ?= target
export CARGO_TARGET_DIR
LIB := $(CARGO_TARGET_DIR)/release/lib

.PHONY: all lib tool coverage deps demo fuzz test test-deep bench bench-perl bench-php warm install deb check unit servers sanitize sanitize-if-possible
all: lib tool

# libcurl.so.4, libcurl.a, libcurl.pc and curl-config below $(LIB)
lib:
	sh crates/capi/link.sh

tool:
	cargo build --quiet --release -p warmwire-tool

deps:
	sh tests/install.sh

check:
	cargo fmt --all --check
	cargo clippy --workspace --all-targets --quiet

unit:
	cargo test --workspace --quiet

# Programs nobody here wrote, and small C, C++, PHP and Python ones, on the distribution's libcurl and on ours.
servers: lib tool
	cargo run --quiet -p warmwire-servers -- --ours $(LIB)

include conformance/targets.mk

# COVERAGE.md claims nothing that the built library and tool refuse.
coverage: lib tool
	cargo xtask coverage --check

# The C programs of tests/abi and eight threads over one share, library and std instrumented; a dated nightly compiler,
# fetched for this alone, builds them (crates/capi/link.sh).
sanitize: deps
	WARMWIRE_SANITIZE=thread cargo test --quiet -p warmwire-capi --test abi sane_
	WARMWIRE_SANITIZE=address cargo test --quiet -p warmwire-capi --test abi sane_

# `make test` says so where that compiler can't be fetched, and goes on; `make sanitize` fails there.
sanitize-if-possible:
	if sh crates/capi/link.sh --nightly; then $(MAKE) sanitize; \
	else echo "NOT RUN: the sanitizers, for want of their compiler" >&2; fi

test: deps check unit fuzz servers conformance odd-replies sanitize-if-possible coverage

# Every parser on mutated input for a minute in all.
fuzz:
	sh fuzz/run.sh 60

# Everything long besides.
test-deep: test conformance-lib
	sh tests/install.sh h2spec
	cargo run --quiet -p warmwire-servers -- --ours $(LIB) --deep

demo: lib
	cargo run --quiet --release -p warmwire-demo -- --ours $(LIB)

bench: deps lib tool
	cargo run --quiet --release -p warmwire-bench -- --ours $(LIB)
	cargo run --quiet --release -p warmwire-bench --bin warmwire-bench-mail -- --ours $(LIB)

# Which functions stand together in the library (crates/capi/warm.ld): to be done again when the way of a request changes.
warm: deps
	sh crates/capi/link.sh --symbols
	cargo run --quiet --release -p warmwire-bench -- --ours $(LIB) warm
	sh crates/capi/link.sh --no-build

# What Perl and PHP programs notice, beside the clients of their own.
bench-perl bench-php: deps lib
	cargo run --quiet --release -p warmwire-bench -- --ours $(LIB) $(@:bench-%=%)

# Small files over a link of 20 ms, in namespaces of its own: root only.
.PHONY: bench-ftp
bench-ftp: deps lib
	cargo run --quiet --release -p warmwire-bench --bin warmwire-bench-ftp -- --ours $(LIB)

PREFIX ?= /usr/local
install: lib tool
	sh packaging/install.sh $(LIB) $(CARGO_TARGET_DIR)/release/warmwire $(DESTDIR)$(PREFIX) $(PREFIX)

# A Debian package for a private folder, beside the distribution's libcurl.
deb: lib tool
	sh packaging/deb.sh $(LIB) $(CARGO_TARGET_DIR)/release/warmwire $(CARGO_TARGET_DIR)/deb
