/* text.h - the zero-padded UTF-8 fields of the wire (wire.md W1). Pure: any thread, the engine too.
 *
 * Units. Counts are bytes. */
#ifndef BASE_TEXT_H
#define BASE_TEXT_H

#include "base/cc.h"

/* Is it UTF-8: no overlong form, no surrogate, nothing above U+10FFFF. Empty text is. */
CC_MUST_USE bool text_is_utf8(const char *text, size_t count);

/* The length of a zero-padded field without its trailing zeros. */
size_t text_trim(const char *field, size_t count);

/* W1: a text field is malformed when, without its trailing zeros, it is not UTF-8 or has a zero
 * byte inside (400 `malformed_payload`). */
CC_MUST_USE bool text_field_is_valid(const char *field, size_t count);

/* Does the UTF-8 text hold U+0001-U+001F or U+007F-U+009F (W1's control characters). */
CC_MUST_USE bool text_has_control(const char *text, size_t count);

/* Edit distance (insert, delete, replace), at most `limit`; for naming the nearest known word.
 * Words above 63 characters are `limit` away from everything. */
unsigned text_distance(const char *a, const char *b, unsigned limit);

#endif
