/* cors.h - the headers that let a page of another origin read an answer (wire.md W7).
 *
 * Owner. The net thread. */
#ifndef NET_RESPONSE_CORS_H
#define NET_RESPONSE_CORS_H

#include "base/origin.h"
#include "net/conn/pending.h"
#include "net/http/writer.h"

/* Writes them after the head so far: the answer is to a page of one of `origins`. */
void cors_write(struct writer *head, const struct origin_list *origins,
                const struct pending *pending);

#endif
