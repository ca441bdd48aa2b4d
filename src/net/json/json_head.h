/* json_head.h - signed heads, receipts and frames of the journal as JSON (json.md J7, J9): their
 * bytes in Base64. */
#ifndef NET_JSON_JSON_HEAD_H
#define NET_JSON_JSON_HEAD_H

#include "base/query_message.h"
#include "net/http/writer.h"

/* GET /heads: `rows` are the reply's heads. */
void json_head_list(struct writer *writer, const struct reply *reply, const uint8_t *rows);

/* GET /requests/{request_id}/receipt: `rows` are its bytes. */
void json_head_receipt(struct writer *writer, const struct reply *reply, const uint8_t *rows);

/* Adds a receipt as the last member of the object written before; NULL: null. */
void json_head_add_receipt(struct writer *writer, const uint8_t *bytes, size_t count);

/* GET /admin/frames: `rows` are a row_frames and the bytes of the frames. */
void json_head_frames(struct writer *writer, const struct reply *reply, const uint8_t *rows);

/* POST /admin/seal: `rows` are a row_seal. */
void json_head_seal(struct writer *writer, const struct reply *reply, const uint8_t *rows);

#endif
