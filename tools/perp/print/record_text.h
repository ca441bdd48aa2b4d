/* record_text.h - one record of the journal as a line of text or of JSON.
 *
 * Owner. One thread; writes to the stream it is given and nowhere else. */
#ifndef PERP_PRINT_RECORD_TEXT_H
#define PERP_PRINT_RECORD_TEXT_H

#include <stdio.h>

#include "store/chain.h"

/* A time as people read it, to the nanosecond: "2025-08-19T05:47:11.232000001Z". */
enum { RECORD_TEXT_TIME_BYTES = 31 };
void record_text_time(uint64_t t_ns, char text[RECORD_TEXT_TIME_BYTES]);

/* The name of a request code; "?" for one that is not in the table. */
const char *record_text_code(uint32_t code);

/* Whether a field of the record's body is this account, or a portfolio of it. */
CC_MUST_USE bool record_text_names(const struct record_view *record, uint64_t account);

/* Writes a record with its location, and a newline. */
void record_text_line(FILE *out, const struct chain_frame *frame, uint64_t sequence,
                      const struct record_view *record, bool json);

#endif
