#!/usr/bin/env bash
# check_format.sh [ROOT] - checks that clang-format would change no C or C++ file.
set -euo pipefail
case ${1:-} in -*) echo "tools/check_format.sh: unknown option $1: only ROOT" >&2 && exit 2 ;; esac
cd "${1:-$(dirname "$0")/..}"
find src tools bench tests \( -name '*.c' -o -name '*.h' -o -name '*.cc' \) -print0 |
    xargs -0 -r clang-format --dry-run -Werror --style=file --ferror-limit=1
