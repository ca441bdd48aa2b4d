/* base64_run.h - Base64 of unknown length: decodes up to the first character that is not of the
 * alphabet. One pass over a JSON member finds its end and its bytes (envelope.c).
 *
 * As strict as base/base64.h, and tested against it: what is valid here is valid there and gives
 * the same bytes.
 *
 * There are three variants; base64_run_choose picks one at start. The scalar one is the reference
 * (signatures.md, Base64: 47 ns for 200 characters by tables, 24 by AVX2, 16 by AVX-512 VBMI).
 *
 * Owner. Any thread, after base64_run_choose. */
#ifndef NET_REQUEST_BASE64_RUN_H
#define NET_REQUEST_BASE64_RUN_H

#include "base/cpu.h"

/* Call once, before any thread; again only in tests. `level` is at most cpu_level(). */
void base64_run_choose(enum cpu_level level);

/* Decodes the characters of the alphabet at the front of `text` and the padding after them. *used
 * gets their number, padding included; what follows them is not checked. Returns the number of
 * bytes; -1 if the characters are no strict Base64 or give more than `capacity` bytes. Nothing is
 * written beyond `capacity`. */
CC_MUST_USE ptrdiff_t base64_run(uint8_t *bytes, size_t capacity, const char *text, size_t count,
                                 size_t *used);

/* ---- the variants, for base64_run.c and its test ------------------------------------------- */

/* The length of the run of alphabet characters at the front of `count` characters. Every whole
 * group of four is decoded to `bytes`, which has room for count / 4 * 3. */
typedef size_t base64_run_groups(uint8_t *bytes, const uint8_t *text, size_t count);

base64_run_groups base64_run_scalar, base64_run_avx2, base64_run_avx512;

#endif
