#include "contract.h"

#include <errno.h>

#include "check.h"

enum { MANY = 600, BIG_BYTES = 1000 * 1000 };

static uint8_t big[ETCD_REQUEST_BYTES + 1];

static struct etcd_done await(struct contract *contract, uint64_t tag)
{
    struct etcd_done done;
    for (int i = 0; i < 20000; i++) {
        if (etcd_reap(contract->etcd, &done, 1) == 1) {
            CHECK(done.tag == tag);
            return done;
        }
        contract->pass(contract, 1);
    }
    fprintf(stderr, "no answer in 20 s\n");
    exit(1);
}

struct etcd_done contract_ask(struct contract *contract, const struct etcd_request *request)
{
    static uint64_t tags = 1000;
    CHECK(etcd_submit(contract->etcd, request, ++tags) == 0);
    return await(contract, tags);
}

struct etcd_bytes contract_key(const struct contract *contract, const char *name)
{
    static char texts[16][ETCD_KEY_BYTES];
    static unsigned turn;
    char *text = texts[turn++ % CC_COUNT(texts)];
    (void)snprintf(text, sizeof texts[0], "%s%s", contract->prefix, name);
    return etcd_text(text);
}

static struct etcd_done transact(struct contract *contract, const struct etcd_compare *compares,
                                 uint32_t compare_count, const struct etcd_op *then,
                                 uint32_t then_count, const struct etcd_op *otherwise,
                                 uint32_t otherwise_count)
{
    const struct etcd_transaction transaction = { compares,      then,       otherwise,
                                                  compare_count, then_count, otherwise_count };
    const struct etcd_request request = { .kind = ETCD_TRANSACTION, .transaction = &transaction };
    return contract_ask(contract, &request);
}

int64_t contract_put(struct contract *contract, const char *name, const void *value, size_t count,
                     int64_t lease)
{
    const struct etcd_op put = { .verb = ETCD_PUT,
                                 .key = contract_key(contract, name),
                                 .value = { value, count },
                                 .lease = lease };
    struct etcd_done done = transact(contract, NULL, 0, &put, 1, NULL, 0);
    CHECK(done.result == ETCD_OK && done.succeeded && done.row_count == 0);
    return done.revision;
}

struct etcd_done contract_get(struct contract *contract, const char *name)
{
    const struct etcd_request request = { .kind = ETCD_RANGE, .key = contract_key(contract, name) };
    struct etcd_done done = contract_ask(contract, &request);
    CHECK(done.result == ETCD_OK && done.kind == ETCD_RANGE && !done.more);
    return done;
}

static bool is_value(const struct etcd_row *row, const char *value)
{
    return row->value.count == strlen(value) &&
           memcmp(row->value.bytes, value, row->value.count) == 0;
}

static bool is_key(const struct contract *contract, const struct etcd_row *row, const char *name)
{
    struct etcd_bytes key = contract_key(contract, name);
    return row->key.count == key.count && memcmp(row->key.bytes, key.bytes, key.count) == 0;
}

/* Revisions and versions of a key through its life. */
static void numbers(struct contract *contract)
{
    CHECK(contract_get(contract, "a").row_count == 0);
    int64_t first = contract_put(contract, "a", "one", 3, 0);
    int64_t second = contract_put(contract, "a", "two", 3, 0);
    CHECK(second == first + 1);
    struct etcd_done done = contract_get(contract, "a");
    const struct etcd_row *row = done.rows;
    CHECK(done.row_count == 1 && done.revision == second && is_key(contract, row, "a"));
    CHECK(is_value(row, "two") && row->create_revision == first && row->mod_revision == second);
    CHECK(row->version == 2 && row->lease == 0 && !row->is_delete);

    const struct etcd_request past = { .kind = ETCD_RANGE,
                                       .key = contract_key(contract, "a"),
                                       .revision = first };
    done = contract_ask(contract, &past);
    CHECK(done.row_count == 1 && is_value(done.rows, "one") && done.rows->version == 1);

    const struct etcd_op delete = { .verb = ETCD_DELETE, .key = contract_key(contract, "a") };
    done = transact(contract, NULL, 0, &delete, 1, NULL, 0);
    CHECK(done.result == ETCD_OK && done.revision == second + 1);
    int64_t third = contract_put(contract, "a", "", 0, 0);
    done = contract_get(contract, "a");
    CHECK(done.row_count == 1 && done.rows->version == 1 && done.rows->create_revision == third);
    CHECK(done.rows->value.count == 0);
    /* Deleting nothing is no change. */
    const struct etcd_op nothing = { .verb = ETCD_DELETE, .key = contract_key(contract, "none") };
    done = transact(contract, NULL, 0, &nothing, 1, NULL, 0);
    CHECK(done.result == ETCD_OK && done.revision == third);
}

/* The leader's transaction: fence and version, the other branch reads. */
static void compares(struct contract *contract)
{
    int64_t epoch = contract_put(contract, "leader", "me", 2, 0);
    const struct etcd_compare fence[] = {
        { contract_key(contract, "leader"), ETCD_CREATE_REVISION, epoch },
        { contract_key(contract, "log/1"), ETCD_VERSION, 0 },
    };
    const struct etcd_op put = { .verb = ETCD_PUT,
                                 .key = contract_key(contract, "log/1"),
                                 .value = etcd_text("frame") };
    const struct etcd_op gets[] = {
        { .verb = ETCD_GET, .key = contract_key(contract, "log/1") },
        { .verb = ETCD_GET, .key = contract_key(contract, "leader") },
    };
    struct etcd_done done = transact(contract, fence, 2, &put, 1, gets, 2);
    CHECK(done.result == ETCD_OK && done.succeeded && done.row_count == 0);
    int64_t landed = done.revision;
    /* The same again: a reply was lost. */
    done = transact(contract, fence, 2, &put, 1, gets, 2);
    CHECK(done.result == ETCD_OK && !done.succeeded && done.row_count == 2);
    CHECK(done.rows[0].op == 0 && is_value(&done.rows[0], "frame"));
    CHECK(done.rows[0].mod_revision == landed && done.revision == landed);
    CHECK(done.rows[1].op == 1 && is_value(&done.rows[1], "me"));
    CHECK(done.rows[1].create_revision == epoch);
    /* A deposed leader finds no frame: the answer of op 1 alone. */
    const struct etcd_compare deposed[] = {
        { contract_key(contract, "leader"), ETCD_CREATE_REVISION, epoch - 1 },
        { contract_key(contract, "log/2"), ETCD_VERSION, 0 },
    };
    const struct etcd_op later[] = {
        { .verb = ETCD_GET, .key = contract_key(contract, "log/2") },
        { .verb = ETCD_GET, .key = contract_key(contract, "leader") },
    };
    done = transact(contract, deposed, 2, &put, 1, later, 2);
    CHECK(!done.succeeded && done.row_count == 1 && done.rows[0].op == 1);
    const struct etcd_compare modified = { contract_key(contract, "leader"), ETCD_MOD_REVISION,
                                           epoch };
    done = transact(contract, &modified, 1, NULL, 0, NULL, 0);
    CHECK(done.result == ETCD_OK && done.succeeded && done.revision == landed);
}

/* What one transaction cannot do, and what it can: put at the gap, delete from behind it. */
static void branches(struct contract *contract)
{
    for (int i = 2; i < 6; i++) {
        char name[32];
        (void)snprintf(name, sizeof name, "log/%d", i);
        (void)contract_put(contract, name, "x", 1, 0);
    }
    struct etcd_op ops[] = {
        { .verb = ETCD_PUT, .key = contract_key(contract, "log/3"), .value = etcd_text("first") },
        { .verb = ETCD_DELETE,
          .key = contract_key(contract, "log/3"),
          .end = contract_key(contract, "log/~") },
    };
    struct etcd_done done = transact(contract, NULL, 0, ops, 2, NULL, 0);
    CHECK(done.result == ETCD_REFUSED && done.text[0] != 0);
    ops[1].key = contract_key(contract, "log/4");
    done = transact(contract, NULL, 0, ops, 2, NULL, 0);
    CHECK(done.result == ETCD_OK && done.succeeded);
    const struct etcd_request all = { .kind = ETCD_RANGE,
                                      .key = contract_key(contract, "log/"),
                                      .end = contract_key(contract, "log/~") };
    done = contract_ask(contract, &all);
    CHECK(done.row_count == 3 && !done.more && is_key(contract, &done.rows[0], "log/1"));
    CHECK(is_key(contract, &done.rows[2], "log/3") && is_value(&done.rows[2], "first"));
    const struct etcd_request page = { .kind = ETCD_RANGE,
                                       .key = contract_key(contract, "log/"),
                                       .end = contract_key(contract, "log/~"),
                                       .limit = 2 };
    done = contract_ask(contract, &page);
    CHECK(done.row_count == 2 && done.more && is_key(contract, &done.rows[1], "log/2"));
}

static void leases(struct contract *contract)
{
    const struct etcd_request grant = { .kind = ETCD_LEASE_GRANT, .ttl_s = 60 };
    struct etcd_done done = contract_ask(contract, &grant);
    CHECK(done.result == ETCD_OK && done.lease != 0 && done.ttl_s == 60);
    int64_t lease = done.lease;
    (void)contract_put(contract, "session", "s", 1, lease);
    done = contract_get(contract, "session");
    CHECK(done.row_count == 1 && done.rows->lease == lease);
    const struct etcd_request keep = { .kind = ETCD_LEASE_KEEP, .lease = lease };
    done = contract_ask(contract, &keep);
    CHECK(done.result == ETCD_OK && done.lease == lease && done.ttl_s == 60);
    const struct etcd_request revoke = { .kind = ETCD_LEASE_REVOKE, .lease = lease };
    CHECK(contract_ask(contract, &revoke).result == ETCD_OK);
    CHECK(contract_get(contract, "session").row_count == 0);
    CHECK(contract_ask(contract, &keep).result == ETCD_NO_LEASE);
    CHECK(contract_ask(contract, &revoke).result == ETCD_NO_LEASE);
    const struct etcd_op put = { .verb = ETCD_PUT,
                                 .key = contract_key(contract, "session"),
                                 .value = etcd_text("s"),
                                 .lease = lease };
    CHECK(transact(contract, NULL, 0, &put, 1, NULL, 0).result == ETCD_NO_LEASE);
    CHECK(contract_get(contract, "session").row_count == 0);
    /* One that nobody renews ends, not before its time. */
    const struct etcd_request brief = { .kind = ETCD_LEASE_GRANT, .ttl_s = 1 };
    done = contract_ask(contract, &brief);
    CHECK(done.result == ETCD_OK && done.ttl_s == 1);
    (void)contract_put(contract, "session", "s", 1, done.lease);
    CHECK(contract_get(contract, "session").row_count == 1);
    for (int i = 0; i < 20000 && contract_get(contract, "session").row_count == 1; i++)
        contract->pass(contract, 1);
    CHECK(contract_get(contract, "session").row_count == 0);
}

/* Events from a past revision on, in order, then live ones. */
static void watches(struct contract *contract)
{
    int64_t first = contract_put(contract, "w/1", "one", 3, 0);
    (void)contract_put(contract, "other", "x", 1, 0);
    (void)contract_put(contract, "w/2", "two", 3, 0);
    const struct etcd_op delete = { .verb = ETCD_DELETE, .key = contract_key(contract, "w/1") };
    (void)transact(contract, NULL, 0, &delete, 1, NULL, 0);
    const struct etcd_request watch = { .kind = ETCD_WATCH,
                                        .key = contract_key(contract, "w/"),
                                        .end = contract_key(contract, "w/~"),
                                        .revision = first };
    CHECK(etcd_submit(contract->etcd, &watch, 7) == 0);
    struct etcd_done done = await(contract, 7);
    CHECK(done.kind == ETCD_WATCH && done.result == ETCD_OK && done.row_count == 0);
    const char *const names[] = { "w/1", "w/2", "w/1" };
    const int64_t after[] = { 0, 2, 3 };
    uint32_t seen = 0;
    while (seen < 3) {
        done = await(contract, 7);
        CHECK(done.result == ETCD_OK);
        for (uint32_t i = 0; i < done.row_count; i++, seen++) {
            CHECK(seen < 3 && is_key(contract, &done.rows[i], names[seen]));
            CHECK(done.rows[i].is_delete == (seen == 2));
            CHECK(done.rows[i].mod_revision == first + after[seen]);
            CHECK(seen == 2 || is_value(&done.rows[i], seen == 0 ? "one" : "two"));
        }
    }
    const struct etcd_op put = { .verb = ETCD_PUT,
                                 .key = contract_key(contract, "w/3"),
                                 .value = etcd_text("live") };
    const struct etcd_transaction transaction = { NULL, &put, NULL, 0, 1, 0 };
    const struct etcd_request live = { .kind = ETCD_TRANSACTION, .transaction = &transaction };
    CHECK(etcd_submit(contract->etcd, &live, 8) == 0);
    bool is_put = false, is_seen = false;
    for (int i = 0; i < 20000 && !(is_put && is_seen); i++) {
        contract->pass(contract, 1);
        if (etcd_reap(contract->etcd, &done, 1) != 1)
            continue;
        CHECK(done.result == ETCD_OK && (done.tag == 7 || done.tag == 8));
        is_put |= done.tag == 8;
        is_seen |= done.tag == 7 && done.row_count == 1 && is_value(done.rows, "live");
    }
    CHECK(is_put && is_seen);
    CHECK(etcd_cancel(contract->etcd, 7) && !etcd_cancel(contract->etcd, 7));
    (void)contract_put(contract, "w/4", "unseen", 6, 0);
}

/* Ranges and events beyond the rows of one answer. */
static void many(struct contract *contract)
{
    int64_t first = 0;
    for (int i = 0; i < MANY; i++) {
        char name[32];
        (void)snprintf(name, sizeof name, "many/%03d", i);
        int64_t revision = contract_put(contract, name, "m", 1, 0);
        first = i == 0 ? revision : first;
    }
    const struct etcd_request all = { .kind = ETCD_RANGE,
                                      .key = contract_key(contract, "many/"),
                                      .end = contract_key(contract, "many/~") };
    struct etcd_done done = contract_ask(contract, &all);
    CHECK(done.row_count == ETCD_ROWS_MAX && done.more);
    const struct etcd_op delete = { .verb = ETCD_DELETE,
                                    .key = contract_key(contract, "many/"),
                                    .end = contract_key(contract, "many/~") };
    done = transact(contract, NULL, 0, &delete, 1, NULL, 0);
    CHECK(done.result == ETCD_OK);
    int64_t last = done.revision;
    const struct etcd_request watch = { .kind = ETCD_WATCH,
                                        .key = contract_key(contract, "many/"),
                                        .end = contract_key(contract, "many/~"),
                                        .revision = last };
    CHECK(etcd_submit(contract->etcd, &watch, 9) == 0);
    CHECK(await(contract, 9).row_count == 0);
    uint32_t seen = 0;
    do {
        done = await(contract, 9);
        CHECK(done.result == ETCD_OK && done.row_count > 0 && done.row_count <= ETCD_ROWS_MAX);
        for (uint32_t i = 0; i < done.row_count; i++, seen++) {
            char name[32];
            (void)snprintf(name, sizeof name, "many/%03u", seen);
            CHECK(done.rows[i].is_delete && is_key(contract, &done.rows[i], name));
            CHECK(done.rows[i].mod_revision == last);
        }
    } while (done.more);
    CHECK(seen == MANY);
    CHECK(etcd_cancel(contract->etcd, 9));
}

static void sizes(struct contract *contract)
{
    const struct etcd_op put = { .verb = ETCD_PUT,
                                 .key = contract_key(contract, "big"),
                                 .value = { big, sizeof big } };
    const struct etcd_transaction transaction = { NULL, &put, NULL, 0, 1, 0 };
    const struct etcd_request request = { .kind = ETCD_TRANSACTION, .transaction = &transaction };
    CHECK(etcd_submit(contract->etcd, &request, 10) == -EMSGSIZE);
    for (int i = 0; i < 5; i++) {
        char name[32];
        (void)snprintf(name, sizeof name, "big/%d", i);
        big[0] = (uint8_t)i;
        (void)contract_put(contract, name, big, BIG_BYTES, 0);
    }
    struct etcd_done done = contract_get(contract, "big/3");
    CHECK(done.row_count == 1 && done.rows->value.count == BIG_BYTES);
    CHECK(((const uint8_t *)done.rows->value.bytes)[0] == 3);
    struct etcd_request all = { .kind = ETCD_RANGE,
                                .key = contract_key(contract, "big/"),
                                .end = contract_key(contract, "big/~"),
                                .limit = 4 };
    done = contract_ask(contract, &all);
    CHECK(done.result == ETCD_OK && done.row_count == 4 && done.more);
    all.key = contract_key(contract, "big/");
    all.end = contract_key(contract, "big/~");
    all.limit = 5;
    CHECK(contract_ask(contract, &all).result == ETCD_TOO_LARGE);
}

static void compaction(struct contract *contract)
{
    int64_t old = contract_put(contract, "c", "old", 3, 0);
    int64_t new = contract_put(contract, "c", "new", 3, 0);
    const struct etcd_request compact = { .kind = ETCD_COMPACT, .revision = new };
    CHECK(contract_ask(contract, &compact).result == ETCD_OK);
    const struct etcd_request past = { .kind = ETCD_RANGE,
                                       .key = contract_key(contract, "c"),
                                       .revision = old };
    CHECK(contract_ask(contract, &past).result == ETCD_COMPACTED);
    const struct etcd_request watch = { .kind = ETCD_WATCH,
                                        .key = contract_key(contract, "c"),
                                        .revision = old };
    CHECK(etcd_submit(contract->etcd, &watch, 11) == 0);
    struct etcd_done done = await(contract, 11);
    if (done.result == ETCD_OK) /* it may stand before etcd looks at what it lacks */
        done = await(contract, 11);
    CHECK(done.result == ETCD_COMPACTED && done.compact_revision == new);
    CHECK(!etcd_cancel(contract->etcd, 11));
    CHECK(contract_get(contract, "c").row_count == 1);
}

static void cluster(struct contract *contract)
{
    const struct etcd_request members = { .kind = ETCD_MEMBERS };
    struct etcd_done done = contract_ask(contract, &members);
    CHECK(done.result == ETCD_OK && done.member_count >= 1 && done.members[0].id != 0);
    CHECK(done.members[0].name[0] != 0 && done.members[0].client_url[0] != 0);
    uint64_t members_first = done.members[0].id;
    const struct etcd_request status = { .kind = ETCD_STATUS };
    done = contract_ask(contract, &status);
    CHECK(done.result == ETCD_OK && done.status->member != 0 && done.status->leader != 0);
    CHECK(done.status->db_bytes > 0 && done.status->version[0] != 0);
    CHECK(done.status->raft_term > 0 && !done.status->is_full);
    const struct etcd_request defragment = { .kind = ETCD_DEFRAGMENT };
    CHECK(contract_ask(contract, &defragment).result == ETCD_OK);
    const struct etcd_request disarm = { .kind = ETCD_DISARM, .member = members_first };
    CHECK(contract_ask(contract, &disarm).result == ETCD_OK);
}

/* As many as there is room for, then one more. */
static void crowd(struct contract *contract)
{
    const struct etcd_request get = { .kind = ETCD_RANGE, .key = contract_key(contract, "a") };
    for (uint32_t i = 0; i < ETCD_REQUESTS_MAX; i++)
        CHECK(etcd_submit(contract->etcd, &get, 100 + i) == 0);
    CHECK(etcd_submit(contract->etcd, &get, 99) == -EAGAIN);
    CHECK(etcd_cancel(contract->etcd, 100));
    bool seen[ETCD_REQUESTS_MAX] = { true };
    for (uint32_t count = 1; count < ETCD_REQUESTS_MAX;) {
        struct etcd_done done[16];
        int reaped = etcd_reap(contract->etcd, done, 16);
        for (int i = 0; i < reaped; i++, count++) {
            CHECK(done[i].tag > 100 && done[i].tag < 100 + ETCD_REQUESTS_MAX);
            CHECK(!seen[done[i].tag - 100] && done[i].row_count == 1);
            seen[done[i].tag - 100] = true;
        }
        if (reaped == 0)
            contract->pass(contract, 1);
    }
}

void contract_run(struct contract *contract)
{
    numbers(contract);
    compares(contract);
    branches(contract);
    leases(contract);
    watches(contract);
    many(contract);
    sizes(contract);
    compaction(contract);
    cluster(contract);
    crowd(contract);
}
