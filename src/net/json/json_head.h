/* json_head.h - signed heads as JSON (json.md J9): their bytes in Base64. */
#ifndef NET_JSON_JSON_HEAD_H
#define NET_JSON_JSON_HEAD_H

#include "base/query_message.h"
#include "net/http/writer.h"

/* GET /heads: `rows` are the reply's heads. */
void json_head_list(struct writer *writer, const struct reply *reply, const uint8_t *rows);

#endif
