#!/usr/bin/env bash
# run.sh BUILD PROGRAM - fuzzes for FUZZ_SECONDS (10) from the target's seeds. What it finds is left
# in the build folder: new inputs in corpus/, a crashing one as crash-*.
set -euo pipefail
build=$1
name=$(basename "$2")
corpus=$build/corpus/$name
mkdir -p "$corpus"
seeds=$(dirname "$0")/seeds/$name
[[ -d $seeds ]] || seeds=
exec "$2" -max_total_time="${FUZZ_SECONDS:-10}" -timeout=100 -rss_limit_mb=4096 \
    -print_final_stats=1 -artifact_prefix="$build/" "$corpus" ${seeds:+"$seeds"}
