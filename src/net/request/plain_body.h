/* plain_body.h - the JSON of plain writes: the request's members and the outcome (json.md J3;
 * wire.md W7; rules.md R11). Pure. */
#ifndef NET_REQUEST_PLAIN_BODY_H
#define NET_REQUEST_PLAIN_BODY_H

#include "net/conn/pending.h"
#include "net/http/writer.h"

/* Reads the JSON body of the code; false with malformed_json or invalid_parameter in *problem. A
 * market that cannot exist is empty. What the body has no member for is zero. */
CC_MUST_USE bool plain_body_read(struct pending_plain *plain, uint16_t code, const char *text,
                                 size_t count, struct problem_detail *problem);

/* What an answer means: true for 200, else the problem in *problem. */
CC_MUST_USE bool plain_body_succeeded(const struct answer *answer, struct problem_detail *problem);

/* Turns a write that is done and shows a balance into the read of it, for read_send_held. False:
 * its answer says everything. */
CC_MUST_USE bool plain_body_becomes_read(struct pending *pending);

/* The answer of a write that needs no read, as JSON. */
void plain_body_write(struct writer *writer, uint16_t code, const struct pending_plain *plain);

#endif
