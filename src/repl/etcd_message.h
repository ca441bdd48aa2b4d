/* etcd_message.h - the requests of the etcd seam as protobuf, and etcd's answers read from it.
 *
 * Fields that perpd does not use are skipped, as protobuf asks. An answer is refused if it is no
 * protobuf, has a field of another type than etcd's, a key or text beyond its bound, or more rows
 * or members than were asked for. */
#ifndef REPL_ETCD_MESSAGE_H
#define REPL_ETCD_MESSAGE_H

#include "repl/etcd.h"

enum { ETCD_MESSAGE_ROWS = ETCD_OPS_MAX * ETCD_ROWS_MAX };

/* One answer, or one part of a watch's. Rows point into the bytes that were read. */
struct etcd_answer {
    int64_t revision, compact_revision, lease, ttl_s;
    bool succeeded, more;
    bool is_created, is_cancelled, is_fragment; /* watch */
    uint32_t row_count, member_count;
    struct etcd_status status;
    struct etcd_member members[ETCD_MEMBERS_MAX];
    char text[ETCD_TEXT_BYTES]; /* why a watch was cancelled */
    struct etcd_row rows[ETCD_MESSAGE_ROWS];
};

/* Empties an answer, but for the rows: they are many. */
static inline void etcd_message_begin(struct etcd_answer *answer)
{
    memset(answer, 0, offsetof(struct etcd_answer, rows));
}

/* The method of a kind of request: "/etcdserverpb.KV/Txn". Static storage. */
const char *etcd_message_path(enum etcd_kind kind);

/* An upper bound of the bytes of a request. */
CC_MUST_USE size_t etcd_message_room(const struct etcd_request *request);

/* Writes the request to the end of `room` bytes, at least etcd_message_room. Its bytes. */
CC_MUST_USE size_t etcd_message_pack(const struct etcd_request *request, uint8_t *bytes,
                                     size_t room);

/* Reads an answer of this kind; false: it is none. `*from` is where to begin, 0 at first; it moves
 * to the end, or for a watch of more than ETCD_ROWS_MAX rows to where the next part begins.
 * etcd_message_begin goes before the first part: later parts add to it, rows begin at 0 again. */
CC_MUST_USE bool etcd_message_read(enum etcd_kind kind, struct etcd_bytes bytes, size_t *from,
                                   struct etcd_answer *answer);

#endif
