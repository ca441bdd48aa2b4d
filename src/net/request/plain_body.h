/* plain_body.h - the JSON of plain writes: the request's members and the outcome (json.md J3;
 * wire.md W7; rules.md R11). Pure. */
#ifndef NET_REQUEST_PLAIN_BODY_H
#define NET_REQUEST_PLAIN_BODY_H

#include "net/conn/pending.h"
#include "net/http/writer.h"

/* Reads the JSON body of the code. False with malformed_json or invalid_parameter in *problem. An
 * impossible market is an empty symbol; what has no member is zero. */
CC_MUST_USE bool plain_body_read(struct pending_plain *plain, uint16_t code, const char *text,
                                 size_t count, struct problem_detail *problem);

/* Translates an answer: true for 200, else false with the problem in *problem. `by_device`: a
 * device key asked for it, no API key. */
CC_MUST_USE bool plain_body_succeeded(const struct answer *answer, bool by_device,
                                      struct problem_detail *problem);

/* Turns a completed write whose answer shows a balance into the read of that balance, which
 * read_send_held sends. False: the answer needs no read. */
CC_MUST_USE bool plain_body_becomes_read(struct pending *pending);

/* Writes the answer of a write that needs no read. */
void plain_body_write(struct writer *writer, uint16_t code, const struct pending_plain *plain);

#endif
