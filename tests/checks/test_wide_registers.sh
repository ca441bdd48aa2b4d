#!/usr/bin/env bash
# test_wide_registers.sh BUILD - 512-bit registers are named only in objects that run behind a look
# at the machine (base/cpu.h): elsewhere one instruction would end perpd on a machine without them.
# Their masks and the registers above 15 need AVX-512 as well.
set -euo pipefail
build=$1

# offenders ARCHIVE...: the objects with such registers that may not have them; gives their number.
offenders() {
    local archive found=0
    for archive in "$@"; do
        while read -r object; do
            echo "$(basename "$archive"): $object"
            found=$((found + 1))
        done < <(objdump -d --no-show-raw-insn "$archive" | awk '
            /^[^ ].*:     file format/ { object = $1; sub(/:$/, "", object) }
            /%(zmm[0-9]|k[0-7]|[xy]mm(1[6-9]|2[0-9]|3[01]))/ && !(object in seen) {
                seen[object] = 1
                if (object !~ /^(ed25519_lanes|lane_)[a-z0-9_]*\.c\.o$|_avx512\.c\.o$/)
                    print object
            }')
    done
    return $((found > 100 ? 100 : found))
}

archives=("$build"/lib*.a)
[[ ${#archives[@]} -ge 6 ]]
offenders "${archives[@]}" || { echo "they may not"; exit 1; }
# The search finds what there is: the lanes have them, and an object that should not is found out.
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cat > "$scratch/wide.c" << 'END'
#include <immintrin.h>
__m512i wide_sum(__m512i a, __m512i b);
__m512i wide_sum(__m512i a, __m512i b) { return _mm512_add_epi64(a, b); }
END
cc -O2 -mavx512f -c -o "$scratch/wide.c.o" "$scratch/wide.c"
ar rc "$scratch/libwide.a" "$scratch/wide.c.o"
if offenders "$scratch/libwide.a" > "$scratch/found"; then
    echo "a planted object with 512-bit registers was not found"
    exit 1
fi
grep -q "libwide.a: wide.c.o" "$scratch/found"
lanes=$(objdump -d --no-show-raw-insn "$build/libcrypto.a" | grep -c '%zmm' || true)
[[ $lanes -gt 1000 ]] || { echo "no lanes in libcrypto.a"; exit 1; }
