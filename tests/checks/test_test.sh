#!/usr/bin/env bash
# tools/test adds up what ctest reports and fails when anything fails: run on a tree of our own
# making, where fake cmake and ctest say what happened.
set -euo pipefail
source=${PERPD_SOURCE:-$(dirname "$0")/../..}
box=$(mktemp -d)
trap 'rm -rf "$box"' EXIT
mkdir -p "$box/tree/tools" "$box/tree/tests/fuzz" "$box/bin"
cp "$source/tools/test" "$box/tree/tools/"
printf '#!/bin/sh\nexit $(cat "%s/setup")\n' "$box" >"$box/tree/tools/setup"
# cmake fails for the preset named in the file `broken`, and takes its time to build one.
cat >"$box/bin/cmake" <<EOS
#!/usr/bin/env bash
[[ \$1 != --build ]] || { sleep 0.2 && touch "$box/built-\$3"; }
[[ " \$* " != *"--build --preset \$(cat "$box/broken") "* ]]
EOS
# ctest reports the numbers in the file report-<preset>: total, failed, skipped.
cat >"$box/bin/ctest" <<EOS
#!/usr/bin/env bash
echo "\$*" >>"$box/asked"
while [[ \$1 != --output-junit ]]; do [[ \$1 == --test-dir ]] && preset=\${2##*/}; shift; done
[[ -e $box/built-\$preset ]] || touch "$box/early"
[[ -e $box/report-\$preset ]] || exit 1
read -r total bad skipped <"$box/report-\$preset"
printf '<testsuite name="x"\n\ttests="%d"\n\tfailures="%d"\n\tdisabled="0"\n\tskipped="%d"\n>' \
    "\$total" "\$bad" "\$skipped" >"\$2"
((bad == 0))
EOS
chmod +x "$box/tree/tools/setup" "$box/bin/"*

run() { # run ARGUMENTS...: fresh build folder, answer in $out, exit in $code
    rm -rf "$box/tree/build" "$box/asked" "$box"/built-*
    code=0
    out=$(PATH=$box/bin:$PATH "$box/tree/tools/test" "$@" 2>&1) || code=$?
}
want() { # want WHAT LAST_LINE EXIT
    [[ $(tail -n 1 <<<"$out") == "$2" && $code -eq $3 ]] && return
    printf 'failed: %s: wanted "%s" and %d, got exit %d and\n%s\n' "$1" "$2" "$3" "$code" "$out"
    exit 1
}

echo 0 >"$box/setup"
echo none >"$box/broken"
echo 10 0 0 >"$box/report-dev"
echo 7 0 0 >"$box/report-tsan"
echo 12 0 1 >"$box/report-release"
echo 3 0 0 >"$box/report-fuzz"
run
want "all pass, one skipped" "28 passed, 0 failed" 0
run --quick
want "quick is dev alone" "10 passed, 0 failed" 0
touch "$box/tree/tests/fuzz/fuzz_x.c"
run
want "fuzz targets count" "31 passed, 0 failed" 0
for preset in dev tsan release fuzz; do
    grep -q "^    $preset: built in .* s of CPU)\$" <<<"$out" ||
        { echo "failed: the last lines name the phase $preset"; exit 1; }
done
[[ ! -e $box/early ]] || { echo "failed: tests ran before their build was done"; exit 1; }
grep -q -- '-L fuzz' "$box/asked" || { echo "failed: fuzz runs its label only"; exit 1; }
grep -q 'tsan.*-LE ^(checks|' "$box/asked" || { echo "failed: tsan leaves the checks out"; exit 1; }
# Each test meets each build and each topology.
for seed in 10 11 12 13; do
    PERPD_SAMPLE_SEED=$seed run
    sed -nE 's/.*build\/([a-z]*) .*-LE //p' "$box/asked"
done >"$box/left_out"
diff - "$box/left_out" <<'EOS' || { echo "failed: who takes what"; exit 1; }
^(full|turn_0|third_2|third_0)$
^(checks|full|turn_1|third_0|third_1)$
^(full|turn_1|third_1|third_2|shared)$
^(full|turn_1|third_0|third_1)$
^(checks|full|turn_0|third_1|third_2)$
^(full|turn_0|third_2|third_0|shared)$
^(full|turn_0|third_1|third_2)$
^(checks|full|turn_1|third_2|third_0)$
^(full|turn_1|third_0|third_1|dedicated)$
^(full|turn_1|third_2|third_0)$
^(checks|full|turn_0|third_0|third_1)$
^(full|turn_0|third_1|third_2|dedicated)$
EOS
echo 7 2 0 >"$box/report-tsan"
run
want "failures of one suite" "29 passed, 2 failed" 1
echo 7 0 0 >"$box/report-tsan"
echo release >"$box/broken"
run
want "a build that fails is a failure" "31 passed, 1 failed" 1
echo none >"$box/broken"
rm "$box/report-dev"
run
want "a suite without report is a failure" "21 passed, 1 failed" 1
echo 0 0 0 >"$box/report-dev"
run --quick
want "nothing run is no success" "0 passed, 0 failed" 1
echo 1 >"$box/setup"
run
want "set-up that fails" "0 passed, 1 failed" 1
run --no-such-option
want "unknown option" "tools/test: unknown option --no-such-option (see tools/test --help)" 2
# By a relative path from another folder, help is printed and nothing runs.
cp "$source/tools/nightly" "$box/tree/tools/"
for tool in test nightly; do
    rm -f "$box/asked"
    out=$(cd "$box" && PATH=$box/bin:$PATH "tree/tools/$tool" --help 2>&1) && code=0 || code=$?
    [[ $code -eq 0 && $out == "$tool "*" - "* && ! -e $box/asked ]] ||
        { echo "failed: $tool --help from another folder: exit $code, $out"; exit 1; }
done
