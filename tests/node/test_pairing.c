/* The table of device pairings (wire.md W7) on a clock of its own: a pairing lives 120 seconds;
 * eight of an account at a time, as many as there are slots of all; a slot is given again when its
 * pairing has expired, and the id of before is unknown then. */
#include "check.h"
#include "node/query/pairing_table.h"

#define SECOND_NS UINT64_C(1000000000)
#define BEGIN_NS  (UINT64_C(1755582431) * SECOND_NS)

enum { OWNER = 7, PIN = 3 };

static struct pairing_table table;
static struct row_pairing row;
static uint8_t keys[QUERY_PAIRING_KEYS_BYTES] = { 4, 1, 2, 3 };
static char text[QUERY_PAIRING_TEXT_MAX];
static uint64_t retry_ms;

static enum problem open_for(uint64_t account_id, int32_t pin, uint64_t now_ns)
{
    struct query query = { .kind = QUERY_pairing_open, .account_id = account_id, .pin = pin };
    memset(query.id, 0xff, sizeof query.id);
    memset(query.token_hash, (int)account_id, sizeof query.token_hash);
    return pairing_table_open(&table, &query, now_ns, &row, &retry_ms);
}

/* A query of the owner, or with its token, for the pairing of the id. */
static enum problem run(enum query_kind kind, const uint8_t id[16], uint64_t now_ns)
{
    struct query query = { .kind = (uint16_t)kind, .account_id = OWNER, .pin = -1 };
    memcpy(query.id, id, sizeof query.id);
    memset(query.token_hash, OWNER, sizeof query.token_hash);
    query.payload = kind == QUERY_pairing_deposit ? keys : (const uint8_t *)"AAAA";
    query.payload_bytes = kind == QUERY_pairing_deposit ? sizeof keys : 4;
    return pairing_table_run(&table, &query, now_ns, &row, text);
}

static void test_time(void)
{
    static const uint16_t kinds[] = { QUERY_pairing_deposit, QUERY_pairing, QUERY_pairing_complete,
                                      QUERY_pairing_result };
    uint8_t id[16];

    CHECK(open_for(OWNER, PIN, BEGIN_NS) == PROBLEM_none);
    CHECK(row.expires_ns == BEGIN_NS + 120 * SECOND_NS && row.status == PAIRING_PENDING);
    CHECK((row.id[6] & 0xf0) == 0x70 && (row.id[8] & 0xc0) == 0x80); /* a UUIDv7 */
    memcpy(id, row.id, sizeof id);
    uint64_t last_ns = row.expires_ns - 1;
    CHECK(run(QUERY_pairing, id, last_ns) == PROBLEM_none && !row.has_keys);
    for (size_t i = 0; i < CC_COUNT(kinds); i++)
        CHECK(run(kinds[i], id, last_ns + 1) == PROBLEM_pairing_expired);
    CHECK(run(QUERY_pairing_deposit, id, last_ns) == PROBLEM_none && row.has_keys);
    CHECK(memcmp(row.ecdh, keys, sizeof row.ecdh) == 0);
    CHECK(run(QUERY_pairing_complete, id, last_ns) == PROBLEM_none);
    CHECK(row.status == PAIRING_COMPLETED && row.text_bytes == 0);
    CHECK(run(QUERY_pairing_result, id, last_ns) == PROBLEM_none && row.text_bytes == 4);
    CHECK(memcmp(text, "AAAA", 4) == 0);
    CHECK(run(QUERY_pairing_result, id, last_ns) == PROBLEM_pairing_already_used);
}

/* Eight of an account; the first that expires makes room, and tells when. */
static void test_account(void)
{
    uint64_t now_ns = BEGIN_NS + 1000 * SECOND_NS;

    for (uint32_t i = 0; i < PAIRING_ACCOUNT_MAX; i++)
        CHECK(open_for(OWNER, -1, now_ns + i * SECOND_NS) == PROBLEM_none);
    CHECK(open_for(OWNER, PIN, now_ns + 100 * SECOND_NS) == PROBLEM_rate_limited);
    CHECK(retry_ms == 20000);
    CHECK(open_for(OWNER + 1, -1, now_ns + 100 * SECOND_NS) == PROBLEM_none);
    CHECK(open_for(OWNER, -1, now_ns + 120 * SECOND_NS) == PROBLEM_none);
    CHECK(open_for(OWNER, -1, now_ns + 120 * SECOND_NS) == PROBLEM_rate_limited);
}

/* Other accounts take all slots: who comes then waits, and nobody's pairing is lost. */
static void test_full(void)
{
    uint64_t now_ns = BEGIN_NS + 10000 * SECOND_NS;
    uint8_t id[16];

    CHECK(open_for(OWNER, -1, now_ns) == PROBLEM_none);
    memcpy(id, row.id, sizeof id);
    for (uint32_t i = 1; i < PAIRING_SLOTS; i++)
        CHECK(open_for(100 + i / PAIRING_ACCOUNT_MAX, -1, now_ns + SECOND_NS) == PROBLEM_none);
    CHECK(open_for(OWNER, -1, now_ns + 2 * SECOND_NS) == PROBLEM_rate_limited);
    CHECK(retry_ms == 118000);
    CHECK(run(QUERY_pairing, id, now_ns + 2 * SECOND_NS) == PROBLEM_none);
    CHECK(run(QUERY_pairing, id, now_ns + 120 * SECOND_NS) == PROBLEM_pairing_expired);
    CHECK(open_for(OWNER, -1, now_ns + 120 * SECOND_NS) == PROBLEM_none); /* its slot */
    CHECK(memcmp(id + 14, row.id + 14, 2) == 0 && memcmp(id, row.id, 16) != 0);
    CHECK(run(QUERY_pairing, id, now_ns + 120 * SECOND_NS) == PROBLEM_not_found);
    CHECK(open_for(OWNER, -1, now_ns + 120 * SECOND_NS) == PROBLEM_rate_limited);
}

int main(void)
{
    static const uint8_t nothing[16];

    CHECK(pairing_table_init(&table) == 0);
    CHECK(run(QUERY_pairing, nothing, BEGIN_NS) == PROBLEM_not_found);
    test_time();
    test_account();
    test_full();
    pairing_table_free(&table);
    pairing_table_free(&table);
    return 0;
}
