#include "support/sim/etcd_sim_store.h"

#include <stdlib.h>

#include "check.h"

static void *grown(void *list, size_t count, size_t *room, size_t bytes)
{
    if (count < *room)
        return list;
    *room = *room == 0 ? 16 : 2 * *room;
    void *bigger = realloc(list, *room * bytes);
    CHECK(bigger != NULL);
    return bigger;
}

static struct etcd_bytes copied(struct etcd_bytes bytes)
{
    uint8_t *copy = malloc(bytes.count + 1);
    CHECK(copy != NULL);
    if (bytes.count > 0)
        memcpy(copy, bytes.bytes, bytes.count);
    return (struct etcd_bytes){ copy, bytes.count };
}

static int compare(struct etcd_bytes a, struct etcd_bytes b)
{
    size_t count = a.count < b.count ? a.count : b.count;
    int order = count == 0 ? 0 : memcmp(a.bytes, b.bytes, count);
    return order != 0 ? order : (a.count > b.count) - (a.count < b.count);
}

bool etcd_sim_store_is_in(struct etcd_bytes key, struct etcd_bytes from, struct etcd_bytes end)
{
    if (end.count == 0)
        return compare(key, from) == 0;
    return compare(key, from) >= 0 && compare(key, end) < 0;
}

void etcd_sim_store_add_row(struct etcd_sim_rows *rows, const struct etcd_row *row, uint32_t op)
{
    size_t room = rows->room;
    rows->rows = grown(rows->rows, rows->count, &room, sizeof *rows->rows);
    rows->room = (uint32_t)room;
    struct etcd_row *copy = &rows->rows[rows->count++];
    *copy = *row;
    copy->op = op;
    copy->key = copied(row->key);
    copy->value = copied(row->value);
}

static void free_row(struct etcd_row *row)
{
    free((void *)(uintptr_t)row->key.bytes);
    free((void *)(uintptr_t)row->value.bytes);
}

void etcd_sim_store_free_rows(struct etcd_sim_rows *rows)
{
    for (uint32_t i = 0; i < rows->count; i++)
        free_row(&rows->rows[i]);
    free(rows->rows);
    *rows = (struct etcd_sim_rows){ 0 };
}

void etcd_sim_store_init(struct etcd_sim_store *store)
{
    *store = (struct etcd_sim_store){ .revision = 1, .lease_ids = 1000 };
}

static void free_version(struct etcd_sim_version *version)
{
    free_row(&version->row);
    free(version);
}

void etcd_sim_store_free(struct etcd_sim_store *store)
{
    for (size_t i = 0; i < store->log_count; i++)
        free_version(store->log[i]);
    free(store->log);
    free(store->keys);
    free(store->leases);
}

/* The first key that is not below. */
static size_t place_of(const struct etcd_sim_store *store, struct etcd_bytes key)
{
    size_t low = 0, high = store->key_count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (compare(store->keys[middle]->row.key, key) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool is_at(const struct etcd_sim_store *store, size_t place, struct etcd_bytes key)
{
    return place < store->key_count && compare(store->keys[place]->row.key, key) == 0;
}

const struct etcd_row *etcd_sim_store_get(const struct etcd_sim_store *store, struct etcd_bytes key)
{
    size_t place = place_of(store, key);
    return is_at(store, place, key) ? &store->keys[place]->row : NULL;
}

static struct etcd_sim_version *append(struct etcd_sim_store *store, const struct etcd_row *row)
{
    struct etcd_sim_version *version = malloc(sizeof *version);
    CHECK(version != NULL);
    *version = (struct etcd_sim_version){ .row = *row, .is_newest = true };
    version->row.key = copied(row->key);
    version->row.value = copied(row->value);
    store->log = grown(store->log, store->log_count, &store->log_room, sizeof *store->log);
    store->log[store->log_count++] = version;
    return version;
}

static void put(struct etcd_sim_store *store, const struct etcd_op *op, int64_t revision)
{
    size_t place = place_of(store, op->key);
    struct etcd_row row = { .key = op->key,
                            .value = op->value,
                            .lease = op->lease,
                            .mod_revision = revision,
                            .create_revision = revision,
                            .version = 1 };
    if (is_at(store, place, op->key)) {
        struct etcd_sim_version *former = store->keys[place];
        row.create_revision = former->row.create_revision;
        row.version = former->row.version + 1;
        former->is_newest = false;
        store->keys[place] = append(store, &row);
        return;
    }
    store->keys = grown(store->keys, store->key_count, &store->key_room, sizeof *store->keys);
    memmove(&store->keys[place + 1], &store->keys[place],
            (store->key_count - place) * sizeof *store->keys);
    store->keys[place] = append(store, &row);
    store->key_count++;
}

static void remove_at(struct etcd_sim_store *store, size_t place, int64_t revision)
{
    struct etcd_sim_version *former = store->keys[place];
    const struct etcd_row row = { .key = former->row.key,
                                  .mod_revision = revision,
                                  .is_delete = true };
    former->is_newest = false;
    append(store, &row)->is_newest = false;
    store->key_count--;
    memmove(&store->keys[place], &store->keys[place + 1],
            (store->key_count - place) * sizeof *store->keys);
}

/* The keys that went. */
static size_t delete (struct etcd_sim_store *store, const struct etcd_op *op, int64_t revision)
{
    size_t count = 0;
    size_t place = place_of(store, op->key);
    while (place < store->key_count &&
           etcd_sim_store_is_in(store->keys[place]->row.key, op->key, op->end)) {
        remove_at(store, place, revision);
        count++;
    }
    return count;
}

static void get_now(const struct etcd_sim_store *store, const struct etcd_op *op, uint32_t index,
                    struct etcd_sim_rows *rows)
{
    uint32_t limit = op->limit == 0 || op->limit > ETCD_ROWS_MAX ? ETCD_ROWS_MAX : op->limit;
    size_t place = place_of(store, op->key);
    uint32_t count = 0;
    for (; place < store->key_count; place++) {
        const struct etcd_row *row = &store->keys[place]->row;
        if (!etcd_sim_store_is_in(row->key, op->key, op->end))
            break;
        if (count++ == limit) {
            rows->more = true;
            break;
        }
        etcd_sim_store_add_row(rows, row, index);
    }
}

/* As of a revision: the newest version of each key that is not after it. */
static void get_past(const struct etcd_sim_store *store, const struct etcd_op *op, int64_t revision,
                     struct etcd_sim_rows *rows)
{
    uint32_t limit = op->limit == 0 || op->limit > ETCD_ROWS_MAX ? ETCD_ROWS_MAX : op->limit;
    struct etcd_bytes after = { 0 };
    for (uint32_t count = 0;; count++) {
        const struct etcd_row *best = NULL;
        for (size_t i = 0; i < store->log_count; i++) {
            const struct etcd_row *row = &store->log[i]->row;
            if (row->mod_revision > revision || !etcd_sim_store_is_in(row->key, op->key, op->end) ||
                (after.bytes != NULL && compare(row->key, after) <= 0))
                continue;
            if (best == NULL || compare(row->key, best->key) <= 0)
                best = row;
        }
        if (best == NULL)
            return;
        after = best->key;
        if (best->is_delete) {
            count--;
            continue;
        }
        if (count == limit) {
            rows->more = true;
            return;
        }
        etcd_sim_store_add_row(rows, best, 0);
    }
}

static bool holds(const struct etcd_sim_store *store, const struct etcd_compare *compare)
{
    const struct etcd_row *row = etcd_sim_store_get(store, compare->key);
    int64_t number = row == NULL                               ? 0
                     : compare->target == ETCD_VERSION         ? row->version
                     : compare->target == ETCD_CREATE_REVISION ? row->create_revision
                                                               : row->mod_revision;
    return number == compare->equals;
}

static struct etcd_sim_lease *find_lease(const struct etcd_sim_store *store, int64_t id)
{
    for (size_t i = 0; i < store->lease_count; i++)
        if (store->leases[i].id == id)
            return &store->leases[i];
    return NULL;
}

static void refuse(struct etcd_done *done, enum etcd_result result, const char *text)
{
    done->result = result;
    done->text = text;
}

/* What etcd refuses before it looks at the compares, in either branch. */
static bool is_refused(const struct etcd_sim_store *store, const struct etcd_op *ops,
                       uint32_t count, struct etcd_done *done)
{
    for (uint32_t i = 0; i < count; i++) {
        if (ops[i].verb != ETCD_PUT)
            continue;
        if (store->is_full) {
            refuse(done, ETCD_NO_SPACE, "etcdserver: mvcc: database space exceeded");
            return true;
        }
        for (uint32_t k = 0; k < count; k++) {
            bool is_twice = k != i && ops[k].verb != ETCD_GET &&
                            etcd_sim_store_is_in(ops[i].key, ops[k].key, ops[k].end);
            if (is_twice) {
                refuse(done, ETCD_REFUSED, "etcdserver: duplicate key given in txn request");
                return true;
            }
        }
    }
    return false;
}

static void transact(struct etcd_sim_store *store, const struct etcd_transaction *transaction,
                     struct etcd_sim_rows *rows, struct etcd_done *done)
{
    if (is_refused(store, transaction->then, transaction->then_count, done) ||
        is_refused(store, transaction->otherwise, transaction->otherwise_count, done))
        return;
    done->succeeded = true;
    for (uint32_t i = 0; i < transaction->compare_count; i++)
        done->succeeded &= holds(store, &transaction->compares[i]);
    const struct etcd_op *ops = done->succeeded ? transaction->then : transaction->otherwise;
    uint32_t count = done->succeeded ? transaction->then_count : transaction->otherwise_count;
    for (uint32_t i = 0; i < count; i++)
        if (ops[i].verb == ETCD_PUT && ops[i].lease != 0 &&
            find_lease(store, ops[i].lease) == NULL) {
            refuse(done, ETCD_NO_LEASE, "etcdserver: requested lease not found");
            return;
        }
    size_t changes = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (ops[i].verb == ETCD_GET) {
            get_now(store, &ops[i], i, rows);
        } else if (ops[i].verb == ETCD_DELETE) {
            changes += delete (store, &ops[i], store->revision + 1);
        } else {
            put(store, &ops[i], store->revision + 1);
            changes++;
        }
    }
    store->revision += changes > 0;
}

static void range(struct etcd_sim_store *store, const struct etcd_request *request,
                  struct etcd_sim_rows *rows, struct etcd_done *done)
{
    const struct etcd_op op = {
        .verb = ETCD_GET, .key = request->key, .end = request->end, .limit = request->limit
    };
    if (request->revision > store->revision)
        refuse(done, ETCD_REFUSED, "etcdserver: mvcc: required revision is a future revision");
    else if (request->revision != 0 && request->revision < store->compacted)
        refuse(done, ETCD_COMPACTED, "etcdserver: mvcc: required revision has been compacted");
    else if (request->revision == 0)
        get_now(store, &op, 0, rows);
    else
        get_past(store, &op, request->revision, rows);
}

static void grant(struct etcd_sim_store *store, const struct etcd_request *request, uint64_t now_ns,
                  struct etcd_done *done)
{
    if (store->is_full) {
        refuse(done, ETCD_NO_SPACE, "etcdserver: mvcc: database space exceeded");
        return;
    }
    store->leases =
        grown(store->leases, store->lease_count, &store->lease_room, sizeof *store->leases);
    struct etcd_sim_lease *lease = &store->leases[store->lease_count++];
    *lease = (struct etcd_sim_lease){ .id = ++store->lease_ids, .ttl_s = request->ttl_s };
    lease->end_ns = now_ns + (uint64_t)lease->ttl_s * 1000000000;
    done->lease = lease->id;
    done->ttl_s = lease->ttl_s;
}

static void keep(struct etcd_sim_store *store, const struct etcd_request *request, uint64_t now_ns,
                 struct etcd_done *done)
{
    struct etcd_sim_lease *lease = find_lease(store, request->lease);
    done->lease = request->lease;
    if (lease == NULL) {
        refuse(done, ETCD_NO_LEASE, "the lease has ended");
        return;
    }
    lease->end_ns = now_ns + (uint64_t)lease->ttl_s * 1000000000;
    done->ttl_s = lease->ttl_s;
}

bool etcd_sim_store_end_lease(struct etcd_sim_store *store, int64_t id)
{
    struct etcd_sim_lease *lease = find_lease(store, id);
    if (lease == NULL)
        return false;
    *lease = store->leases[--store->lease_count];
    bool has_changed = false;
    for (size_t i = store->key_count; i-- > 0;)
        if (store->keys[i]->row.lease == id) {
            remove_at(store, i, store->revision + 1);
            has_changed = true;
        }
    store->revision += has_changed;
    return true;
}

bool etcd_sim_store_expire(struct etcd_sim_store *store, uint64_t now_ns)
{
    for (size_t i = 0; i < store->lease_count; i++)
        if (store->leases[i].end_ns + store->late_ns <= now_ns)
            return etcd_sim_store_end_lease(store, store->leases[i].id);
    return false;
}

uint64_t etcd_sim_store_next_end(const struct etcd_sim_store *store)
{
    uint64_t next = UINT64_MAX;
    for (size_t i = 0; i < store->lease_count; i++)
        if (store->leases[i].end_ns + store->late_ns < next)
            next = store->leases[i].end_ns + store->late_ns;
    return next;
}

void etcd_sim_store_renew_all(struct etcd_sim_store *store, uint64_t now_ns)
{
    for (size_t i = 0; i < store->lease_count; i++)
        store->leases[i].end_ns = now_ns + (uint64_t)store->leases[i].ttl_s * 1000000000;
}

void etcd_sim_store_compact(struct etcd_sim_store *store, int64_t revision)
{
    store->compacted = revision;
    size_t kept = 0;
    for (size_t i = 0; i < store->log_count; i++) {
        struct etcd_sim_version *version = store->log[i];
        bool is_needed = version->is_newest || version->row.mod_revision >= revision;
        /* What was the newest as of the compaction can still be asked for. */
        for (size_t k = i + 1; !is_needed && !version->row.is_delete && k <= store->log_count; k++)
            if (k == store->log_count || store->log[k]->row.mod_revision > revision)
                is_needed = true;
            else if (compare(store->log[k]->row.key, version->row.key) == 0)
                break;
        if (is_needed)
            store->log[kept++] = version;
        else
            free_version(version);
    }
    store->log_count = kept;
}

static void compact(struct etcd_sim_store *store, const struct etcd_request *request,
                    struct etcd_done *done)
{
    if (request->revision > store->revision)
        refuse(done, ETCD_REFUSED, "etcdserver: mvcc: required revision is a future revision");
    else if (request->revision <= store->compacted)
        refuse(done, ETCD_COMPACTED, "etcdserver: mvcc: required revision has been compacted");
    else
        etcd_sim_store_compact(store, request->revision);
}

void etcd_sim_store_do(struct etcd_sim_store *store, const struct etcd_request *request,
                       uint64_t now_ns, struct etcd_sim_rows *rows, struct etcd_done *done)
{
    *done = (struct etcd_done){ .kind = request->kind, .text = "" };
    switch (request->kind) {
    case ETCD_TRANSACTION:
        transact(store, request->transaction, rows, done);
        break;
    case ETCD_RANGE:
        range(store, request, rows, done);
        break;
    case ETCD_LEASE_GRANT:
        grant(store, request, now_ns, done);
        break;
    case ETCD_LEASE_KEEP:
        keep(store, request, now_ns, done);
        break;
    case ETCD_LEASE_REVOKE:
        if (!etcd_sim_store_end_lease(store, request->lease))
            refuse(done, ETCD_NO_LEASE, "etcdserver: requested lease not found");
        break;
    case ETCD_COMPACT:
        compact(store, request, done);
        break;
    default:
        break;
    }
    size_t bytes = 0;
    for (uint32_t i = 0; i < rows->count; i++)
        bytes += 32 + rows->rows[i].key.count + rows->rows[i].value.count;
    if (bytes > ETCD_ANSWER_BYTES) {
        etcd_sim_store_free_rows(rows);
        refuse(done, ETCD_TOO_LARGE, "the answer is too large");
    }
    done->more = rows->more;
    done->revision = store->revision;
}
