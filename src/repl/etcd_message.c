#include "repl/etcd_message.h"

#include "repl/pb.h"

enum { OP_ROOM = 64, REQUEST_ROOM = 128 }; /* tags, lengths and numbers around keys and values */

const char *etcd_message_path(enum etcd_kind kind)
{
    static const char *const paths[] = {
        [ETCD_TRANSACTION] = "/etcdserverpb.KV/Txn",
        [ETCD_RANGE] = "/etcdserverpb.KV/Range",
        [ETCD_WATCH] = "/etcdserverpb.Watch/Watch",
        [ETCD_LEASE_GRANT] = "/etcdserverpb.Lease/LeaseGrant",
        [ETCD_LEASE_KEEP] = "/etcdserverpb.Lease/LeaseKeepAlive",
        [ETCD_LEASE_REVOKE] = "/etcdserverpb.Lease/LeaseRevoke",
        [ETCD_MEMBERS] = "/etcdserverpb.Cluster/MemberList",
        [ETCD_STATUS] = "/etcdserverpb.Maintenance/Status",
        [ETCD_COMPACT] = "/etcdserverpb.KV/Compact",
        [ETCD_MOVE_LEADER] = "/etcdserverpb.Maintenance/MoveLeader",
        [ETCD_DEFRAGMENT] = "/etcdserverpb.Maintenance/Defragment",
        [ETCD_DISARM] = "/etcdserverpb.Maintenance/Alarm",
    };
    INVARIANT((size_t)kind < CC_COUNT(paths));
    return paths[kind];
}

static size_t branch_room(const struct etcd_op *ops, uint32_t count)
{
    size_t room = 0;
    for (uint32_t i = 0; i < count; i++)
        room += OP_ROOM + ops[i].key.count + ops[i].end.count + ops[i].value.count;
    return room;
}

size_t etcd_message_room(const struct etcd_request *request)
{
    size_t room = REQUEST_ROOM + request->key.count + request->end.count;
    const struct etcd_transaction *transaction = request->transaction;
    if (request->kind != ETCD_TRANSACTION)
        return room;
    for (uint32_t i = 0; i < transaction->compare_count; i++)
        room += OP_ROOM + transaction->compares[i].key.count;
    return room + branch_room(transaction->then, transaction->then_count) +
           branch_room(transaction->otherwise, transaction->otherwise_count);
}

static uint64_t limit_of(uint32_t limit)
{
    return limit == 0 || limit > ETCD_ROWS_MAX ? ETCD_ROWS_MAX : limit;
}

static void put_op(struct pb_writer *writer, const struct etcd_op *op)
{
    size_t mark = pb_count(writer);
    switch (op->verb) {
    case ETCD_PUT:
        pb_put_number(writer, 3, (uint64_t)op->lease);
        pb_put_bytes(writer, 2, op->value);
        pb_put_bytes(writer, 1, op->key);
        pb_wrap(writer, 2, mark);
        break;
    case ETCD_DELETE:
        pb_put_bytes(writer, 2, op->end);
        pb_put_bytes(writer, 1, op->key);
        pb_wrap(writer, 3, mark);
        break;
    case ETCD_GET:
        pb_put_number(writer, 3, limit_of(op->limit));
        pb_put_bytes(writer, 2, op->end);
        pb_put_bytes(writer, 1, op->key);
        pb_wrap(writer, 1, mark);
        break;
    }
}

static void put_branch(struct pb_writer *writer, uint32_t field, const struct etcd_op *ops,
                       uint32_t count)
{
    INVARIANT(count <= ETCD_OPS_MAX);
    for (uint32_t i = count; i-- > 0;) {
        size_t mark = pb_count(writer);
        put_op(writer, &ops[i]);
        pb_wrap(writer, field, mark);
    }
}

static void put_transaction(struct pb_writer *writer, const struct etcd_transaction *transaction)
{
    INVARIANT(transaction->compare_count <= ETCD_COMPARES_MAX);
    put_branch(writer, 3, transaction->otherwise, transaction->otherwise_count);
    put_branch(writer, 2, transaction->then, transaction->then_count);
    for (uint32_t i = transaction->compare_count; i-- > 0;) {
        const struct etcd_compare *compare = &transaction->compares[i];
        size_t mark = pb_count(writer);
        /* Of a union even 0 is written: it says which of them is meant. */
        pb_put_varint(writer, (uint64_t)compare->equals);
        pb_put_varint(writer, (uint64_t)(4 + compare->target) << 3 | PB_VARINT);
        pb_put_bytes(writer, 3, compare->key);
        pb_put_number(writer, 2, compare->target);
        pb_wrap(writer, 1, mark);
    }
}

static void put_watch(struct pb_writer *writer, const struct etcd_request *request)
{
    size_t mark = pb_count(writer);
    pb_put_number(writer, 8, 1); /* fragment */
    pb_put_number(writer, 3, (uint64_t)request->revision);
    pb_put_bytes(writer, 2, request->end);
    pb_put_bytes(writer, 1, request->key);
    pb_wrap(writer, 1, mark);
}

size_t etcd_message_pack(const struct etcd_request *request, uint8_t *bytes, size_t room)
{
    struct pb_writer writer = { .bytes = bytes, .at = room, .room = room };
    switch (request->kind) {
    case ETCD_TRANSACTION:
        put_transaction(&writer, request->transaction);
        break;
    case ETCD_RANGE:
        pb_put_number(&writer, 4, (uint64_t)request->revision);
        pb_put_number(&writer, 3, limit_of(request->limit));
        pb_put_bytes(&writer, 2, request->end);
        pb_put_bytes(&writer, 1, request->key);
        break;
    case ETCD_WATCH:
        put_watch(&writer, request);
        break;
    case ETCD_LEASE_GRANT:
        pb_put_number(&writer, 1, (uint64_t)request->ttl_s);
        break;
    case ETCD_LEASE_KEEP:
    case ETCD_LEASE_REVOKE:
        pb_put_number(&writer, 1, (uint64_t)request->lease);
        break;
    case ETCD_COMPACT:
        pb_put_number(&writer, 2, request->is_whole);
        pb_put_number(&writer, 1, (uint64_t)request->revision);
        break;
    case ETCD_MOVE_LEADER:
        pb_put_number(&writer, 1, request->member);
        break;
    case ETCD_DISARM:
        pb_put_number(&writer, 3, 1); /* NOSPACE */
        pb_put_number(&writer, 2, request->member);
        pb_put_number(&writer, 1, 2); /* DEACTIVATE */
        break;
    case ETCD_MEMBERS:
    case ETCD_STATUS:
    case ETCD_DEFRAGMENT:
    case ETCD_KIND_COUNT:
        break;
    }
    return pb_count(&writer);
}

/* Printable ASCII, the rest as '?'; false if it is longer than the room. */
static bool read_text(struct etcd_bytes from, char *text, size_t room)
{
    const uint8_t *bytes = from.bytes;
    size_t count = from.count < room ? from.count : room - 1;
    for (size_t i = 0; i < count; i++)
        text[i] = bytes[i] >= ' ' && bytes[i] <= '~' ? (char)bytes[i] : '?';
    text[count] = 0;
    return count == from.count;
}

static bool read_header(struct etcd_bytes bytes, struct etcd_answer *answer)
{
    struct pb_reader reader = pb_reader(bytes);
    while (pb_next(&reader))
        if (pb_is(&reader, 3, PB_VARINT))
            answer->revision = (int64_t)reader.number;
    return !reader.is_bad;
}

static bool read_row(struct etcd_bytes bytes, struct etcd_row *row)
{
    struct pb_reader reader = pb_reader(bytes);
    while (pb_next(&reader)) {
        if (pb_is(&reader, 1, PB_BYTES))
            row->key = reader.bytes;
        else if (pb_is(&reader, 2, PB_VARINT))
            row->create_revision = (int64_t)reader.number;
        else if (pb_is(&reader, 3, PB_VARINT))
            row->mod_revision = (int64_t)reader.number;
        else if (pb_is(&reader, 4, PB_VARINT))
            row->version = (int64_t)reader.number;
        else if (pb_is(&reader, 5, PB_BYTES))
            row->value = reader.bytes;
        else if (pb_is(&reader, 6, PB_VARINT))
            row->lease = (int64_t)reader.number;
    }
    return !reader.is_bad && row->key.count > 0;
}

/* RangeResponse, alone or as the answer of operation `op`. */
static bool read_range(struct etcd_bytes bytes, uint32_t op, struct etcd_answer *answer)
{
    struct pb_reader reader = pb_reader(bytes);
    uint32_t rows_max = answer->row_count + ETCD_ROWS_MAX;
    while (pb_next(&reader)) {
        if (pb_is(&reader, 1, PB_BYTES)) {
            if (!read_header(reader.bytes, answer))
                return false;
        } else if (pb_is(&reader, 2, PB_BYTES)) {
            if (answer->row_count == rows_max)
                return false;
            struct etcd_row *row = &answer->rows[answer->row_count++];
            *row = (struct etcd_row){ .op = op };
            if (!read_row(reader.bytes, row))
                return false;
        } else if (pb_is(&reader, 3, PB_VARINT)) {
            answer->more |= reader.number != 0;
        }
    }
    return !reader.is_bad;
}

static bool read_transaction(struct etcd_bytes bytes, struct etcd_answer *answer)
{
    struct pb_reader reader = pb_reader(bytes);
    uint32_t ops = 0;
    while (pb_next(&reader)) {
        if (pb_is(&reader, 1, PB_BYTES)) {
            if (!read_header(reader.bytes, answer))
                return false;
        } else if (pb_is(&reader, 2, PB_VARINT)) {
            answer->succeeded = reader.number != 0;
        } else if (pb_is(&reader, 3, PB_BYTES)) {
            struct pb_reader one = pb_reader(reader.bytes);
            /* The answer of a put or delete has a header only, which says what is known. */
            int64_t revision = answer->revision;
            while (pb_next(&one))
                if (pb_is(&one, 1, PB_BYTES) && !read_range(one.bytes, ops, answer))
                    return false;
            if (revision != 0)
                answer->revision = revision;
            if (one.is_bad || ops++ == ETCD_OPS_MAX)
                return false;
        }
    }
    return !reader.is_bad;
}

static bool read_event(struct etcd_bytes bytes, struct etcd_row *row)
{
    struct pb_reader reader = pb_reader(bytes);
    *row = (struct etcd_row){ 0 };
    while (pb_next(&reader)) {
        if (pb_is(&reader, 1, PB_VARINT)) {
            if (reader.number > 1)
                return false;
            row->is_delete = reader.number == 1;
        } else if (pb_is(&reader, 2, PB_BYTES)) {
            if (!read_row(reader.bytes, row))
                return false;
        }
    }
    return !reader.is_bad && row->key.count > 0;
}

static bool read_watch(struct etcd_bytes bytes, size_t *from, struct etcd_answer *answer)
{
    const uint8_t *first = bytes.bytes;
    struct pb_reader reader = pb_reader((struct etcd_bytes){ first + *from, bytes.count - *from });
    answer->row_count = 0;
    while (answer->row_count < ETCD_ROWS_MAX && pb_next(&reader)) {
        if (pb_is(&reader, 1, PB_BYTES)) {
            if (!read_header(reader.bytes, answer))
                return false;
        } else if (pb_is(&reader, 3, PB_VARINT)) {
            answer->is_created = reader.number != 0;
        } else if (pb_is(&reader, 4, PB_VARINT)) {
            answer->is_cancelled = reader.number != 0;
        } else if (pb_is(&reader, 5, PB_VARINT)) {
            answer->compact_revision = (int64_t)reader.number;
        } else if (pb_is(&reader, 6, PB_BYTES)) {
            (void)read_text(reader.bytes, answer->text, sizeof answer->text);
        } else if (pb_is(&reader, 7, PB_VARINT)) {
            answer->is_fragment = reader.number != 0;
        } else if (pb_is(&reader, 11, PB_BYTES)) {
            if (!read_event(reader.bytes, &answer->rows[answer->row_count++]))
                return false;
        }
    }
    *from = (size_t)(reader.next - first);
    return !reader.is_bad;
}

static bool read_member(struct etcd_bytes bytes, struct etcd_member *member)
{
    struct pb_reader reader = pb_reader(bytes);
    *member = (struct etcd_member){ 0 };
    bool fits = true;
    while (pb_next(&reader)) {
        if (pb_is(&reader, 1, PB_VARINT))
            member->id = reader.number;
        else if (pb_is(&reader, 2, PB_BYTES))
            fits &= read_text(reader.bytes, member->name, sizeof member->name);
        else if (pb_is(&reader, 4, PB_BYTES)) {
            if (member->client_url[0] == 0)
                fits &= read_text(reader.bytes, member->client_url, sizeof member->client_url);
        } else if (pb_is(&reader, 5, PB_VARINT))
            member->is_learner = reader.number != 0;
    }
    return !reader.is_bad && fits;
}

static bool read_members(struct etcd_bytes bytes, struct etcd_answer *answer)
{
    struct pb_reader reader = pb_reader(bytes);
    while (pb_next(&reader)) {
        if (pb_is(&reader, 1, PB_BYTES)) {
            if (!read_header(reader.bytes, answer))
                return false;
        } else if (pb_is(&reader, 2, PB_BYTES)) {
            if (answer->member_count == ETCD_MEMBERS_MAX ||
                !read_member(reader.bytes, &answer->members[answer->member_count++]))
                return false;
        }
    }
    return !reader.is_bad;
}

/* The member of a ResponseHeader: a status is of the member that answers. */
static uint64_t header_member(struct etcd_bytes bytes)
{
    struct pb_reader reader = pb_reader(bytes);
    uint64_t member = 0;
    while (pb_next(&reader))
        if (pb_is(&reader, 2, PB_VARINT))
            member = reader.number;
    return member;
}

static bool read_status(struct etcd_bytes bytes, struct etcd_answer *answer)
{
    struct pb_reader reader = pb_reader(bytes);
    struct etcd_status *status = &answer->status;
    while (pb_next(&reader)) {
        if (pb_is(&reader, 1, PB_BYTES)) {
            if (!read_header(reader.bytes, answer))
                return false;
            status->member = header_member(reader.bytes);
        } else if (pb_is(&reader, 2, PB_BYTES)) {
            if (!read_text(reader.bytes, status->version, sizeof status->version))
                return false;
        } else if (pb_is(&reader, 3, PB_VARINT)) {
            status->db_bytes = (int64_t)reader.number;
        } else if (pb_is(&reader, 4, PB_VARINT)) {
            status->leader = reader.number;
        } else if (pb_is(&reader, 6, PB_VARINT)) {
            status->raft_term = reader.number;
        } else if (pb_is(&reader, 8, PB_BYTES)) { /* an alarm: its words may be cut */
            char text[ETCD_TEXT_BYTES];
            (void)read_text(reader.bytes, text, sizeof text);
            status->is_full |= strstr(text, "NOSPACE") != NULL;
        } else if (pb_is(&reader, 9, PB_VARINT)) {
            status->db_used_bytes = (int64_t)reader.number;
        }
    }
    return !reader.is_bad;
}

/* LeaseGrant and LeaseKeepAlive: header, ID 2, TTL 3, error 4. */
static bool read_lease(struct etcd_bytes bytes, struct etcd_answer *answer)
{
    struct pb_reader reader = pb_reader(bytes);
    while (pb_next(&reader)) {
        if (pb_is(&reader, 1, PB_BYTES)) {
            if (!read_header(reader.bytes, answer))
                return false;
        } else if (pb_is(&reader, 2, PB_VARINT)) {
            answer->lease = (int64_t)reader.number;
        } else if (pb_is(&reader, 3, PB_VARINT)) {
            answer->ttl_s = (int64_t)reader.number;
        } else if (pb_is(&reader, 4, PB_BYTES)) {
            (void)read_text(reader.bytes, answer->text, sizeof answer->text);
        }
    }
    return !reader.is_bad;
}

static bool read_headed(struct etcd_bytes bytes, struct etcd_answer *answer)
{
    struct pb_reader reader = pb_reader(bytes);
    while (pb_next(&reader))
        if (pb_is(&reader, 1, PB_BYTES) && !read_header(reader.bytes, answer))
            return false;
    return !reader.is_bad;
}

bool etcd_message_read(enum etcd_kind kind, struct etcd_bytes bytes, size_t *from,
                       struct etcd_answer *answer)
{
    if (kind == ETCD_WATCH)
        return read_watch(bytes, from, answer);
    *from = bytes.count;
    switch (kind) {
    case ETCD_TRANSACTION:
        return read_transaction(bytes, answer);
    case ETCD_RANGE:
        return read_range(bytes, 0, answer);
    case ETCD_LEASE_GRANT:
    case ETCD_LEASE_KEEP:
        return read_lease(bytes, answer);
    case ETCD_MEMBERS:
        return read_members(bytes, answer);
    case ETCD_STATUS:
        return read_status(bytes, answer);
    default:
        return read_headed(bytes, answer);
    }
}
