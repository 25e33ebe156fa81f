#!/usr/bin/env bash
# Benchmarks, each beside the machine's limit in the same run. Prints ratios; never part of CI.
set -euo pipefail
cd "$(dirname "$0")/.."
libs="$(pkg-config --libs blosc libzstd zlib liblz4 jansson sleef) -lbz2"
workers=$(nproc)

echo "== in memory: share of streaming bandwidth"
# shellcheck disable=SC2086
cc -std=gnu11 -O2 -march=x86-64-v3 -Iinclude bench/memory_bench.c build/release/libcubed.a $libs \
    -lm -lpthread -o build/release/memory_bench
build/release/memory_bench "$workers"

echo "== quadratic means: time beside reading and decoding the same bytes"
# shellcheck disable=SC2086
cc -std=gnu11 -O2 -Iinclude -Isrc bench/decode_bench.c build/release/libcubed.a $libs -lm -lpthread \
    -o build/release/decode_bench
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
for codec in blosc-lz4 none; do
    rm -rf "${dir:?}"/*
    build/release/cubed demo quadratic-means --dir "$dir" --codec "$codec" --progress none >/dev/null
    build/release/decode_bench "$dir/winds.zarr" "$workers" "$codec"
done
