/* json_reply.h - the follower's binary rows as JSON (json.md J2, J5, J6, J7). Pure. */
#ifndef NET_JSON_JSON_REPLY_H
#define NET_JSON_JSON_REPLY_H

#include "base/query_message.h"
#include "net/http/writer.h"

/* Writes the body of a reply that has no problem; `rows` are its row_bytes bytes. */
void json_reply(struct writer *writer, const struct reply *reply, const uint8_t *rows);

#endif
