#!/usr/bin/env bash
# Each planted bug is found by the simulator within 200 seeds, and replays from the seed it was
# found at. Prints how many seeds each took.
set -u
build=${1:?build directory}
bad=0
for bug in 1 2 3 4 5 6; do
    program=$build/tests/planted_$bug
    found=$("$program" 1 200 8000 stop 2>/dev/null | grep -m1 '^seed ')
    if [ -z "$found" ]; then
        echo "planted bug $bug: not found in 200 seeds"
        bad=1
        continue
    fi
    seed=$(echo "$found" | cut -d' ' -f2 | tr -d ':')
    again=$("$program" "$seed" 1 8000 stop 2>/dev/null | grep -m1 '^seed ')
    if [ "$found" != "$again" ]; then
        echo "planted bug $bug: seed $seed does not replay: '$found' then '$again'"
        bad=1
    fi
    echo "planted bug $bug: found after $seed seeds: $found"
done
exit $bad
