# Thin doors to cargo and xtask. `make demo` and `make test` are all that a newcomer needs.
.PHONY: test
test:
	cargo test --workspace
