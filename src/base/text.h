/* text.h - the zero-padded UTF-8 fields of the wire (wire.md W1). Pure: any thread, the engine too.
 *
 * Units. Counts are bytes. */
#ifndef BASE_TEXT_H
#define BASE_TEXT_H

#include "base/compiler.h"

/* True if the text is UTF-8: no overlong form, no surrogate, nothing above U+10FFFF. Empty text is
 * UTF-8. */
CC_MUST_USE bool text_is_utf8(const char *text, size_t count);

/* Returns the length of a zero-padded field without its trailing zeros. */
size_t text_trim(const char *field, size_t count);

/* True if a text field is well-formed (W1): without its trailing zeros it is UTF-8 and has no zero
 * byte. False is 400 `malformed_payload`. */
CC_MUST_USE bool text_field_is_valid(const char *field, size_t count);

/* True if the UTF-8 text has one of W1's control characters, U+0001-U+001F or U+007F-U+009F. */
CC_MUST_USE bool text_has_control(const char *text, size_t count);

/* Of a text that is no UTF-8, or has one of these characters: puts a question mark for each byte
 * that is not printable ASCII. */
void text_make_printable(char *text, size_t count);

CC_MUST_USE static inline bool text_is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* The lower-case letter of A to Z; any other byte as it is. */
CC_MUST_USE static inline char text_lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c | 0x20) : c;
}

/* True if `count` bytes are equal, A to Z without case. */
CC_MUST_USE bool text_is_equal_folded(const char *a, const char *b, size_t count);

/* Returns the edit distance (insert, delete, replace), at most `limit`. It finds the nearest known
 * word for a message. Words above 63 characters are `limit` away from everything. */
unsigned text_distance(const char *a, const char *b, unsigned limit);

#endif
