# The published test cases of curl, run against our tool and against our library, and odd replies to our tool. See README.md
# beside this file.
#   make conformance     CASES=<folder> [CURL=<binary>] [ONLY="1 2 3"] [VERBOSE=1] [AGREE=1] [JOBS=n] [KEEP=1] [PRUNE=1] [QUICK=1]
#   make conformance-windows the same with the program for Windows, under Wine (one that is there: make windows)
#   make conformance-lib CASES=<folder> [LIBDIR=<folder of libcurl.so.4>] and the same
#   make odd-replies     [ODD=<file of cases>] [CURL=<binary>] [ONLY="1 2 3"] [VERBOSE=1] [JOBS=n]

CASES ?= $(or $(CURL_TESTS),$(or $(WARMWIRE_SHARED),../shared)/curl-tests)
LIBDIR ?= $(CARGO_TARGET_DIR)/release/lib
# QUICK=1 takes the development build of the tool, which is ready in a fraction of the time of the release build: the one that the
# tests of the whole workspace use.
OUR_TOOL = $(CARGO_TARGET_DIR)/$(if $(QUICK),debug,release)/warmwire
TOOL_BUILT = runner $(if $(CURL),,$(if $(QUICK),tool-quick,tool))
RUN = $(BUILT)/warmwire-conformance
CONFORMANCE = $(RUN) "$(CASES)" $(if $(ONLY),--only "$(ONLY)") \
	$(if $(VERBOSE),--verbose) $(if $(AGREE),--agree) $(if $(JOBS),--jobs $(JOBS)) \
	$(if $(KEEP),--keep) $(if $(PRUNE),--prune)
NO_CASES = test -d "$(CASES)" || { echo "left out: no test cases of curl at $(CASES)"; exit 0; }

.PHONY: runner tool-quick conformance conformance-windows conformance-lib odd-replies
runner:
	$(BUILD) --bin warmwire-conformance

tool-quick:
	$(BUILD) --bin warmwire

# A machine without servers leaves cases out, so QUICK=1 says nothing of the cases that pass.
conformance: $(TOOL_BUILT)
	@$(NO_CASES); $(CONFORMANCE) --curl "$(or $(CURL),$(OUR_TOOL))" \
		$(if $(or $(CURL),$(ONLY)),,--skip-list conformance/skip.txt \
		$(if $(QUICK),,--write-passed $(CARGO_TARGET_DIR)/conformance/passed.txt))

# The debug build that test-windows has, or what EXE names.
EXE ?= $(CARGO_TARGET_DIR)/x86_64-pc-windows-gnu/debug/warmwire.exe
conformance-windows: runner
	@set -e; $(NO_CASES); sh tests/install.sh windows; \
	$(if $(filter command line environment,$(origin EXE)),,cargo build --quiet --target x86_64-pc-windows-gnu -p warmwire-tool;) \
	sh tests/windows/apart.sh sh -euc '. tests/windows/wine.sh; "$$@"' wine \
		$(CONFORMANCE) --through wine --curl "$(EXE)" $(if $(ONLY),,--skip-list conformance/skip-windows.txt)

conformance-lib: runner $(if $(filter $(CARGO_TARGET_DIR)/release/lib,$(LIBDIR)),lib)
	@$(NO_CASES); $(CONFORMANCE) --curl "$(or $(CURL),/usr/bin/curl)" --library "$(LIBDIR)" --expect curl_7_88 \
		$(if $(ONLY),,--skip-list conformance/skip-lib.txt)

ODD ?= $(or $(WARMWIRE_SHARED),../shared)/odd-replies/cases.jsonl
odd-replies: $(TOOL_BUILT)
	@test -f "$(ODD)" || { echo "left out: no odd replies at $(ODD)"; exit 0; }; \
	$(RUN) odd-replies "$(ODD)" --curl "$(or $(CURL),$(OUR_TOOL))" \
		$(if $(CURL),,--list conformance/odd-replies.txt) $(if $(ONLY),--only "$(ONLY)") \
		$(if $(VERBOSE),--verbose) $(if $(JOBS),--jobs $(JOBS))
