/* timestamp.h - unix time as ISO 8601 text (json.md J1 `iso`, wire.md W4). Pure: any thread. */
#ifndef BASE_TIMESTAMP_H
#define BASE_TIMESTAMP_H

#include "base/compiler.h"

#define TIMESTAMP_ISO_MAX_MS UINT64_C(253402300799999) /* 9999-12-31T23:59:59.999Z */

enum { TIMESTAMP_TEXT_BYTES = 24 }; /* "2025-08-19T05:47:11.232Z", without a closing zero */

/* Writes the time in UTC with milliseconds and a closing zero. Returns the length. After the year
 * 9999 the text is the milliseconds as a decimal number (W4). */
size_t timestamp_format_ms(uint64_t unix_ms, char text[TIMESTAMP_TEXT_BYTES + 1]);

#endif
