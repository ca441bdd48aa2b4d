#!/usr/bin/env bash
# heavy_planted.sh BUILD - each bug of planted/, in the log that three nodes keep (test_log.c) or in
# their election, is found within 200 seeds. Prints what was found, and at which seed.
set -u
build=${1:?build directory}
folder=$(dirname "$0")/planted
bad=0
patches=("$folder"/*.patch)
for patch in "${patches[@]}"; do
    title=$(basename "$patch" .patch)
    if found=$(PERPD_REPL_SEEDS=200 timeout 600 "$build/tests/planted_repl_${title%%-*}" 2>&1); then
        echo "planted bug $title: not found in 200 seeds"
        bad=1
    elif ! grep -m1 '^seed ' <<<"$found"; then
        echo "planted bug $title: $found"
        bad=1
    fi
done
[ "${#patches[@]}" -ge 10 ] || { echo "only ${#patches[@]} planted bugs"; bad=1; }
exit $bad
