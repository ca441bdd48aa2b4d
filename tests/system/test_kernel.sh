#!/usr/bin/env bash
# A kernel that refuses io_uring: perpd exits 4 and says what is missing and how to mend it
# (roles.md, exit codes). The same command with io_uring and without mlock serves.
set -u
build=${1:?build directory}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
run() { # run NAME COMMAND...: output in the folder, exit code in $code
    "${@:2}" --store.data="$folder/$1" --net.listen=127.0.0.1:0 --admin.listen=127.0.0.1:0 \
        >"$folder/$1.out" 2>"$folder/$1.err"
    code=$?
}
bad=0
run refused "$build/tests/no_uring" "$build/perpd"
if [ $code -ne 4 ]; then
    echo "a kernel without io_uring: exit $code, expected 4"
    bad=1
fi
if ! grep -E 'io_uring.*(sysctl|seccomp)' "$folder/refused.err" >/dev/null; then
    echo "the diagnosis names neither io_uring nor a remedy: $(cat "$folder/refused.err")"
    bad=1
fi
if grep -q ready "$folder/refused.out"; then
    echo "it said that it is ready"
    bad=1
fi
# Where memory cannot be locked it says so and serves. The sanitizers' mlock does nothing.
MLOCK=1 run served "$build/tests/no_uring" "$build/perpd" &
until grep -q '^ready http://' "$folder/served.out" 2>/dev/null || ! kill -0 $! 2>/dev/null; do
    sleep 0.05
done
pkill -TERM -P $!
wait $!
if ! grep -q '^ready http://' "$folder/served.out"; then
    echo "with io_uring it does not serve: $(cat "$folder/served.err")"
    bad=1
fi
if ! grep -qE '__(asan|tsan)_init' "$build/perpd" &&
    ! grep -q 'warn secrets .*LimitMEMLOCK' "$folder/served.err"; then
    echo "it does not say that its keys are not locked: $(cat "$folder/served.err")"
    bad=1
fi
exit $bad
