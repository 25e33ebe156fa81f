# Short names for what CMake and the scripts in tools/ do.
PRESET ?= release
PREFIX ?= /usr/local
# Real data sets for tests and benchmarks.
export CUBED_TEST_DATA ?= $(abspath ../shared/data)

build:
	@cmake --preset $(PRESET) --log-level=WARNING >/dev/null
	@cmake --build --preset $(PRESET) -- --quiet

demo:
	@tools/setup
	@cmake --preset release --log-level=WARNING >/dev/null
	@cmake --build --preset release --target cubed_cli -- --quiet
	@build/release/cubed demo quadratic-means

test:
	@tools/setup --test
	@tools/test

# Also runs the slow checks, which find few additional errors: each night, and before a release.
test-all:
	@tools/setup --test
	@tools/test all

install: build
	cmake --install build/$(PRESET) --prefix $(PREFIX)

# SIZE=small takes some minutes. BENCH='--only a,e' runs only these rows.
bench:
	@tools/setup --bench
	@cmake --preset release --log-level=WARNING >/dev/null
	@cmake --build --preset release --target cubed_cli bench_programs -- --quiet
	@bench/run.py $(if $(SIZE),--size $(SIZE)) $(BENCH)

format:
	find src include python tests examples mpi bench fuzz -name '*.[ch]' -print0 | xargs -0 clang-format -i

lint:
	@tools/test layers format tidy

.PHONY: build demo test test-all install bench format lint
