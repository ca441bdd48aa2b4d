#!/usr/bin/env bash
# check_headers.sh BUILD - every header of src/ compiles alone, as C, under the project's warnings.
set -euo pipefail
if (($# != 1)) || [[ $1 == -* ]]; then
    echo "tools/check_headers.sh: one argument, the folder of a build" >&2
    exit 2
fi
log=$1/check_headers.log
if ! cmake --build "$1" --target all_verify_interface_header_sets -- -k 0 >"$log" 2>&1; then
    grep -E 'error|FAILED' "$log" >&2
    exit 1
fi
