#!/usr/bin/env bash
# docs/reference.md and R11's tables in docs/spec/rules.md are what the tables of src/base say; a
# changed word in either is seen.
set -eu
build=${1:?build directory}
source=${PERPD_SOURCE:?}
made=$(mktemp)
trap 'rm -f "$made" "$made.planted"' EXIT

fail()
{
    echo "$1"
    exit 1
}

"$build/perp-reference" >"$made"
diff -u "$source/docs/reference.md" "$made" ||
    fail "docs/reference.md is old: build/release/perp-reference > docs/reference.md"
if sed 's/place_limit_order/place_order/' "$made" |
    diff -q "$source/docs/reference.md" - >/dev/null; then
    fail "the comparison does not see a planted change"
fi

rules=$source/docs/spec/rules.md
"$build/perp-reference" "$rules" >"$made"
diff -u "$rules" "$made" ||
    fail "the tables of docs/spec/rules.md are old: copy what perp-reference makes of it over it"
for changed in 's/| 22 | `slippage`/| 23 | `slippage`/' 's/| `no_credit` |/| `no_credits` |/'; do
    sed "$changed" "$rules" >"$made.planted"
    if "$build/perp-reference" "$made.planted" | diff -q "$made.planted" - >/dev/null; then
        fail "the comparison does not see the planted change $changed"
    fi
done
"$build/perp-reference" "$source/no-such-document" 2>/dev/null &&
    fail "a document that is not there is no failure"
exit 0
