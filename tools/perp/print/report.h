/* report.h - an answer's JSON shown to people: names and values, nested objects with dotted names,
 * arrays of objects as tables, books as ladders; or passed on as JSON.
 *
 * Owner. One thread; writes to the stream it is given and nowhere else. */
#ifndef PERP_PRINT_REPORT_H
#define PERP_PRINT_REPORT_H

#include <stdio.h>

#include "base/compiler.h"
#include "base/dump.h"

struct json_t; /* jansson.h */

/* A member put before the answer's own; value NULL: that member of the answer is left out. */
struct report_extra {
    const char *name, *value;
};

/* Shows a JSON text. `extra` may be NULL, or ends with a NULL name. Text that is no JSON is shown
 * as it is. */
void report_answer(FILE *out, const char *text, size_t count, bool json,
                   const struct report_extra *extra);

/* Shows an object, which is not NULL, as report_answer shows its text, and releases it. */
void report_object(FILE *out, struct json_t *object, bool json);

/* Rows of a list as a table: an array of objects, and the members that are its columns, separated
 * by blanks. A member `time` is unix ms. */
void report_rows(FILE *out, const struct json_t *rows, const char *columns);

/* Digits behind the point of a decimal; NULL and what has no point: 0. */
CC_MUST_USE uint32_t report_fraction(const char *dec);

/* Writes the decimal with zeros behind it up to so many digits behind the point, so that numbers of
 * a column stand under each other; "-" as it is. */
void report_padded(const char *dec, uint32_t digits, char *text, size_t bytes);

/* Shows GET /markets/{m}/book as a ladder: asks above bids, the spread between them. */
void report_book(FILE *out, const char *text, size_t count);

/* Rows of a dump, as table or as the JSON array "fields". */
struct report_dump {
    FILE *out;
    bool json;
    bool begun;       /* a row was shown */
    uint32_t remarks; /* rows with a remark */
};

/* A dump_emit whose context is a struct report_dump. */
void report_dump_row(void *context, const uint8_t *bytes, const struct dump_row *row);

#endif
