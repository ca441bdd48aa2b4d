#!/usr/bin/env bash
# docs/reference.md is what the tables say; a changed word in it is seen.
set -eu
build=${1:?build directory}
source=${PERPD_SOURCE:?}
made=$(mktemp)
trap 'rm -f "$made"' EXIT
"$build/perp-reference" >"$made"
if ! diff -u "$source/docs/reference.md" "$made"; then
    echo "docs/reference.md is old: build/release/perp-reference > docs/reference.md"
    exit 1
fi
if sed 's/place_limit_order/place_order/' "$made" |
    diff -q "$source/docs/reference.md" - >/dev/null; then
    echo "the comparison does not see a planted change"
    exit 1
fi
