#!/usr/bin/env bash
# tools/setup against a machine of our own making: fake dpkg-query, apt-get and sudo record what
# they are asked. Nothing is installed by this test.
set -euo pipefail
source=${PERPD_SOURCE:-$(dirname "$0")/../..}
box=$(mktemp -d)
trap 'rm -rf "$box"' EXIT
mkdir "$box/tools" "$box/bin"
cp "$source/tools/setup" "$box/tools/"
printf '# a comment\nalpha\n\nbeta # why\ngamma\n' >"$box/tools/packages.txt"

fake() { # fake NAME: the script on standard input
    { echo '#!/usr/bin/env bash' && cat; } >"$box/bin/$1"
    chmod +x "$box/bin/$1"
}
# Installed is what the file `installed` names, not what was removed and has left its settings;
# apt-get fails unless its lists were updated.
fake dpkg-query <<EOS
for package in alpha beta gamma; do
    state=config-files
    ! grep -qx "\$package" "$box/installed" || state=installed
    echo "\$package \$state"
done
EOS
fake apt-get <<EOS
echo "\$*" >>"$box/asked"
case \$1 in
update) touch "$box/updated" ;;
install) [[ -e $box/updated && ! -e $box/offline ]] || { echo "Unable to locate"; exit 100; } ;;
esac
EOS
fake sudo <<EOS
exec "\$@"
EOS

run() {
    rm -f "$box/asked"
    code=0
    PATH=$box/bin:$PATH "$box/tools/setup" >"$box/out" 2>&1 || code=$?
}
want() { # want WHAT CONDITION...
    local what=$1
    shift
    "$@" || { echo "failed: $what (exit $code)"; cat "$box/out"; exit 1; }
}

printf 'alpha\nbeta\ngamma\n' >"$box/installed"
run
want "nothing missing: exit 0" test $code -eq 0
want "nothing missing: silent" test ! -s "$box/out"
want "nothing missing: apt-get not called" test ! -e "$box/asked"

printf 'beta\n' >"$box/installed"
run
want "missing: exit 0" test $code -eq 0
want "missing: says what it installs" grep -qx 'tools/setup: installing alpha gamma' "$box/out"
want "missing: lists refreshed after the first refusal" grep -q '^update' "$box/asked"
want "missing: only what is missing" grep -q 'install.* alpha gamma$' "$box/asked"

run
want "lists present: not refreshed again" bash -c "! grep -q '^update' '$box/asked'"

touch "$box/offline"
run
want "refused: exit 1" test $code -eq 1
want "refused: names what is missing" grep -q 'apt-get failed; missing alpha gamma' "$box/out"
want "refused: shows apt-get's own words" grep -q 'Unable to locate' "$box/out"
