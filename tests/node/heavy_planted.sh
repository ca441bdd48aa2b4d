#!/usr/bin/env bash
# heavy_planted.sh BUILD - each planted bug, a patch of planted/, is found by the simulator within
# 200 seeds, and replays from the seed it was found at. Prints the seed that found each.
#
# planted/seeds.txt names seeds that found them; the sample of heavy_node_simulator runs those in
# every run of tools/test. PERPD_SAMPLE: each bug is looked for in these first, and one that none of
# them finds any more is named. Else in the seeds from 1, and a list that is old is a failure.
set -u
build=${1:?build directory}
folder=$(dirname "$0")/planted
bad=0
steps=4000
most=200
mapfile -t listed < <(sed 's/ *#.*//' "$folder/seeds.txt" | grep .)

find_bug() { # find_bug PROGRAM FIRST COUNT: the line of the first seed that fails
    timeout 600 "$1" "$2" "$3" $steps --stop 2>/dev/null | grep -m1 '^seed '
}

printf '%4s %6s  %s\n' bug seed 'what was found'
patches=("$folder"/*.patch)
for patch in "${patches[@]}"; do
    title=$(basename "$patch" .patch)
    bug=${title%%-*}
    program=$build/tests/planted_$bug
    by_list=
    for seed in "${listed[@]}"; do
        by_list=$(find_bug "$program" "$seed" 1)
        [ -z "$by_list" ] || break
    done
    found=$by_list
    if [ -z "${PERPD_SAMPLE:-}" ] || [ -z "$found" ]; then
        found=$(find_bug "$program" 1 $most)
    fi
    if [ -z "$found" ]; then
        echo "planted bug $bug: not found in $most seeds or 600 s ($title)"
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
    if [ -z "$by_list" ]; then
        echo "planted bug $bug: no seed of planted/seeds.txt finds it: add $seed"
        [ -n "${PERPD_SAMPLE:-}" ] || bad=1
    fi
done
[ "${#patches[@]}" -ge 23 ] || { echo "only ${#patches[@]} planted bugs"; bad=1; }
exit $bad
