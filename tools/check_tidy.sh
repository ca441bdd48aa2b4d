#!/usr/bin/env bash
# check_tidy.sh BUILD [ROOT] - clang-tidy (.clang-tidy) over the C of src/ and tools/, with the
# commands of BUILD. Warning options that only gcc knows are not news.
set -euo pipefail
build=$(realpath "$1")
root=$(realpath "${2:-$(dirname "$0")/..}")
cd "$root"
find src tools -name '*.c' -print0 |
    xargs -0 -r -n 4 -P "$(nproc)" clang-tidy --quiet -p "$build" \
        --extra-arg=-Wno-unknown-warning-option 2> >(grep -vE 'warnings? generated|^$' >&2)
