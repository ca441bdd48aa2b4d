#!/usr/bin/env bash
# web/dist is what web/src gives, within its budgets; a source that changed without a build, a
# changed output, a named host and a file that is too large are seen.
set -eu
source=${PERPD_SOURCE:?}
box=$(mktemp -d)
trap 'rm -rf "$box"' EXIT

fail()
{
    echo "$1"
    cat "$box/out"
    exit 1
}

# It is built again without any network but its own, where the kernel gives one.
cut=()
if unshare -rn true 2>/dev/null; then
    cut=(unshare -rn)
    [[ $("${cut[@]}" sed -n '3,$s/:.*//p' /proc/net/dev | tr -d ' ') == lo ]] || fail "a network"
fi
"${cut[@]}" "$source/tools/web" check >"$box/out" 2>&1 || fail "tools/web check fails"
cat "$box/out"
((${#cut[@]})) || echo "not without a network: unshare makes none here"
"$source/tools/web" sizes >"$box/out" 2>&1 || fail "tools/web sizes fails"

planted() # planted WHAT COMMAND FILE TEXT: with the text appended in a copy the command fails
{
    rm -rf "$box/tree"
    mkdir -p "$box/tree/tools"
    cp "$source"/tools/web "$source"/tools/web_sizes.py "$box/tree/tools"
    tar -C "$source" --exclude=node_modules --exclude=.npm -cf - web | tar -C "$box/tree" -xf -
    printf '%s' "$4" >>"$box/tree/web/"$3
    if [[ $1 == "a host" ]]; then # of which the manifest is right
        (cd "$box/tree/web" && sha256sum $(cut -c67- manifest.txt) >manifest.new &&
            mv manifest.new manifest.txt)
    fi
    if "$box/tree/tools/web" "$2" >"$box/out" 2>&1; then
        fail "$1 is not seen"
    fi
}
planted "a changed source" check src/main.tsx '// more'
planted "a changed output" check 'dist/main.*.js' ' '
planted "a new file of the output" check dist/more.js 'x'
planted "a host" check package-lock.json ' "resolved": "https://example.com/x"'
planted "an entry above its budget" sizes 'dist/main.*.js' "$(head -c 200000 /dev/urandom | base64)"
