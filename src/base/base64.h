/* base64.h - strict standard Base64 (wire.md W1): each byte string has exactly one text.
 *
 * Valid text has a length that is a multiple of 4, `=` only at the end and zero in its unused bits.
 * White space, the URL-safe alphabet and bytes from 0x80 up are rejected. Any thread; no state, no
 * allocation.
 *
 * Cost.  Four tables of 1 KB decode four characters a step: 47 ns for 200 characters, 198 ns byte
 *        by byte (signatures.md, Base64). libsodium's decoder accepts bytes from 0x80 up, so it
 *        cannot be used. */
#ifndef BASE_BASE64_H
#define BASE_BASE64_H

#include "base/compiler.h"

#define BASE64_TEXT_BYTES(count) \
    (((count) + 2) / 3 * 4)                       /* text of `count` bytes, no closing zero */
#define BASE64_BYTES_MAX(count) ((count) / 4 * 3) /* most bytes in `count` characters */

/* Decodes `count` characters into `bytes` and returns the number of bytes. Returns -1 when the text
 * is not Base64; *error_at is then the index of the first invalid character, or `count` when the
 * text ends too early. Returns -2 when the bytes do not fit into `capacity`. After an error the
 * contents of `bytes` are undefined; nothing is written past `capacity`. `error_at` may be NULL. */
CC_MUST_USE ptrdiff_t base64_decode(uint8_t *bytes, size_t capacity, const char *text, size_t count,
                                    size_t *error_at);

/* Writes BASE64_TEXT_BYTES(count) characters and a closing zero. Returns the number of
 * characters. */
size_t base64_encode(char *text, const uint8_t *bytes, size_t count);

#endif
