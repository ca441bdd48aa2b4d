#!/usr/bin/env bash
# Each planted bug, a patch of planted/, is found by the simulator within 200 seeds, and replays
# from the seed it was found at. Prints how many seeds each took.
set -u
build=${1:?build directory}
bad=0
steps=4000
printf '%4s %6s  %s\n' bug seeds 'what was found'
patches=("$(dirname "$0")"/planted/*.patch)
for patch in "${patches[@]}"; do
    title=$(basename "$patch" .patch)
    bug=${title%%-*}
    program=$build/tests/planted_$bug
    found=$(timeout 600 "$program" 1 200 $steps --stop 2>/dev/null | grep -m1 '^seed ')
    if [ -z "$found" ]; then
        echo "planted bug $bug: not found in 200 seeds or 600 s ($title)"
        bad=1
        continue
    fi
    seed=$(echo "$found" | cut -d' ' -f2 | tr -d ':')
    again=$(timeout 600 "$program" "$seed" 1 $steps 2>/dev/null | grep -m1 '^seed ')
    if [ "$found" != "$again" ]; then
        echo "planted bug $bug: seed $seed does not replay: '$found' then '$again'"
        bad=1
    fi
    printf '%4s %6s  %s\n' "$bug" "$seed" "${found#seed "$seed"}"
done
[ "${#patches[@]}" -ge 21 ] || { echo "only ${#patches[@]} planted bugs"; bad=1; }
exit $bad
