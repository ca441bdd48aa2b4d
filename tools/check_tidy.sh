#!/usr/bin/env bash
# check_tidy.sh BUILD [ROOT] - clang-tidy (.clang-tidy) over the C of src/ and tools/, with the
# commands of BUILD. Warning options that only gcc knows are not news; bugs planted on purpose are
# not looked at.
set -euo pipefail
build=$(realpath "$1")
root=$(realpath "${2:-$(dirname "$0")/..}")
mkdir -p "$build/tidy"
python3 - "$build" <<'EOS'
import json, sys
with open(sys.argv[1] + "/compile_commands.json") as commands:
    kept = [entry for entry in json.load(commands) if "-DPLANTED_BUG" not in entry["command"]]
with open(sys.argv[1] + "/tidy/compile_commands.json", "w") as filtered:
    json.dump(kept, filtered)
EOS
cd "$root"
find src tools -name '*.c' -print0 |
    xargs -0 -r -n 4 -P "$(nproc)" clang-tidy --quiet -p "$build/tidy" \
        --extra-arg=-Wno-unknown-warning-option 2> >(grep -vE 'warnings? generated|^$' >&2)
