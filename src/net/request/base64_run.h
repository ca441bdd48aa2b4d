/* base64_run.h - Base64 whose end is not known before: decodes until a character is none of the
 * alphabet. One pass over the text of a JSON member finds its end and its bytes (envelope.c).
 *
 * As strict as base/base64.h, and compared with it: a text that is taken here is taken there and
 * gives the same bytes.
 *
 * Three variants, of which base64_run_choose picks one at start; the scalar one is the plain words
 * of what the others do (signatures.md, Base64: 47 ns for 200 characters by tables, 24 by AVX2, 16
 * by AVX-512 VBMI).
 *
 * Owner. Any thread, after base64_run_choose. */
#ifndef NET_REQUEST_BASE64_RUN_H
#define NET_REQUEST_BASE64_RUN_H

#include "base/cpu.h"

/* Once, before threads; again only in tests. `level` is at most cpu_level(). */
void base64_run_choose(enum cpu_level level);

/* Decodes the characters of the alphabet at the front of `text` and the padding behind them.
 * *used gets their number, padding included: nothing of it says what stands behind. Gives the
 * number of bytes; -1 when these characters are no strict Base64, or their bytes more than
 * `capacity`. Nothing beyond `capacity` is written. */
CC_MUST_USE ptrdiff_t base64_run(uint8_t *bytes, size_t capacity, const char *text, size_t count,
                                 size_t *used);

/* ---- the variants, for base64_run.c and its test ------------------------------------------- */

/* The length of the longest run of characters of the alphabet at the front of `count` characters.
 * Every whole group of four in it is decoded to `bytes`, which has room for count / 4 * 3. */
typedef size_t base64_run_groups(uint8_t *bytes, const uint8_t *text, size_t count);

base64_run_groups base64_run_scalar, base64_run_avx2, base64_run_avx512;

#endif
