#!/usr/bin/env bash
# The fixed run of test_image_run.c gives the pinned hashes as every compiler makes it: gcc and
# clang, without optimisation and with all of it. The engine and what it takes of base are compiled
# here, by the words `pure` of tools/engine_symbols.txt. tools/nightly runs it; other builds of
# tools/test have the same run by gcc -O1 and -O3 and by clang -O1.
set -euo pipefail
source=$(realpath "${PERPD_SOURCE:-$(dirname "$0")/../..}")
box=$(mktemp -d)
trap 'rm -rf "$box"' EXIT
cd "$source"
mapfile -t pure < <(sed -n 's/^pure \([a-z0-9_]*\).*/\1/p' tools/engine_symbols.txt)
mapfile -t files < <(find src/engine -name '*.c')
files+=(src/base/compiler.c src/base/hash.c
    tests/engine/{host,keys,trade,traffic,waiting,test_image_run}.c)
for name in "${pure[@]}"; do
    [[ ! -e src/base/$name.c ]] || files+=("src/base/$name.c")
done
launcher=$(command -v ccache || true)

compile() { # compile NAME COMPILER FLAGS...
    local into=$box/$1 compiler=$2
    shift 2
    mkdir "$into"
    printf '%s\n' "${files[@]}" | xargs -P 2 -I{} bash -c '
        object=$1/$(tr / _ <<<"$2").o
        shift 1
        file=$1
        shift 1
        "$@" -c "$file" -o "$object"
    ' _ "$into" {} ${launcher:+"$launcher"} "$compiler" -std=c11 -D_GNU_SOURCE -w \
        -march=x86-64-v3 -Isrc -Itests -Itests/engine "$@"
    "$compiler" "$into"/*.o -lsodium -o "$into/run"
    "$into/run" || { echo "$into: another outcome"; return 1; }
}
ways=("gcc_O0 gcc -O0" "clang_O0 clang -O0" "clang_O3 clang -O3")
for way in "${ways[@]}"; do
    read -r -a words <<<"$way"
    echo "${words[*]}"
    compile "${words[@]}"
done
# The hashes are pinned for good reason: a run that is one command longer has others.
sed 's/COMMANDS = 20000/COMMANDS = 20001/' tests/engine/test_image_run.c >"$box/longer.c"
gcc -std=c11 -D_GNU_SOURCE -w -march=x86-64-v3 -Isrc -Itests -Itests/engine -c "$box/longer.c" \
    -o "$box/longer.o"
rm "$box/${words[0]}"/*test_image_run.c.o
"${words[1]}" "$box/${words[0]}"/*.o "$box/longer.o" -lsodium -o "$box/longer"
if "$box/longer" 2>"$box/said"; then
    echo "the hashes do not see a command more"
    exit 1
fi
grep -q "the image hash is" "$box/said"
