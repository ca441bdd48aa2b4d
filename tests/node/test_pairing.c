/* The table of device pairings (wire.md W7) on a clock of its own: a pairing lives 120 seconds;
 * eight of an account at a time, as many as there are slots of all; a slot is given again when its
 * pairing has expired, and the id of before is unknown then. */
#include "check.h"
#include "node/query/pairing_table.h"

#define SECOND_NS UINT64_C(1000000000)
#define BEGIN_NS  (UINT64_C(1755582431) * SECOND_NS)

enum { OWNER = 7 };

static struct pairing_table table;
static struct row_pairing row;
static uint8_t keys[QUERY_PAIRING_KEYS_BYTES] = { 4, 1, 2, 3 };
static char text[QUERY_PAIRING_TEXT_MAX];
static struct pairing_wait wait;

/* W8, slots: an eighth for the unfunded, a half for them and small ones together. */
static enum problem open_as(enum share_class class, uint64_t account_id, uint64_t address,
                            uint64_t now_ns)
{
    const struct read_share share = { .share_class = (uint8_t) class,
                                      .bound = { 2048, 8192, 16384 } };
    struct query query = {
        .kind = QUERY_pairing_open, .account_id = account_id, .pin = -1, .address = address
    };
    memset(query.id, 0xff, sizeof query.id);
    memset(query.token_hash, (int)account_id, sizeof query.token_hash);
    return pairing_table_open(&table, &query, &share, now_ns, &row, &wait);
}

/* Of an account that has brought in enough, each at an address of its own. */
static enum problem open_for(uint64_t account_id, uint64_t now_ns)
{
    return open_as(SHARE_CLASS_full, account_id, account_id, now_ns);
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

    CHECK(open_for(OWNER, BEGIN_NS) == PROBLEM_none);
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
        CHECK(open_for(OWNER, now_ns + i * SECOND_NS) == PROBLEM_none);
    CHECK(open_for(OWNER, now_ns + 100 * SECOND_NS) == PROBLEM_rate_limited);
    CHECK(wait.retry_ms == 20000 && wait.cause == REPLY_OF_ACCOUNT);
    CHECK(open_for(OWNER + 1, now_ns + 100 * SECOND_NS) == PROBLEM_none);
    CHECK(open_for(OWNER, now_ns + 120 * SECOND_NS) == PROBLEM_none);
    CHECK(open_for(OWNER, now_ns + 120 * SECOND_NS) == PROBLEM_rate_limited);
}

/* Other accounts take all slots: who comes then waits, and nobody's pairing is lost. */
static void test_full(void)
{
    uint64_t now_ns = BEGIN_NS + 10000 * SECOND_NS;
    uint8_t id[16];

    CHECK(open_for(OWNER, now_ns) == PROBLEM_none);
    memcpy(id, row.id, sizeof id);
    for (uint32_t i = 1; i < PAIRING_SLOTS - 16; i++)
        CHECK(open_for(100 + i / PAIRING_ACCOUNT_MAX, now_ns + SECOND_NS) == PROBLEM_none);
    for (uint32_t i = 0; i < 16; i++) /* an account with one has only what two leave over */
        CHECK(open_for(10000 + i, now_ns + SECOND_NS) == PROBLEM_none);
    CHECK(open_for(OWNER, now_ns + 2 * SECOND_NS) == PROBLEM_rate_limited);
    CHECK(wait.retry_ms == 118000 && wait.cause == REPLY_OF_CLASS);
    CHECK(run(QUERY_pairing, id, now_ns + 2 * SECOND_NS) == PROBLEM_none);
    CHECK(run(QUERY_pairing, id, now_ns + 120 * SECOND_NS) == PROBLEM_pairing_expired);
    CHECK(open_for(OWNER, now_ns + 120 * SECOND_NS) == PROBLEM_none); /* its slot */
    CHECK(memcmp(id + 14, row.id + 14, 2) == 0 && memcmp(id, row.id, 16) != 0);
    CHECK(run(QUERY_pairing, id, now_ns + 120 * SECOND_NS) == PROBLEM_not_found);
    CHECK(open_for(OWNER, now_ns + 120 * SECOND_NS) == PROBLEM_rate_limited);
}

/* Accounts of the class, eight pairings each, from the address until they get no more. */
static uint32_t fill(enum share_class class, uint64_t address, uint64_t now_ns)
{
    static uint64_t account_id = 1000000;
    uint32_t count = 0;

    while (open_as(class, account_id + count / PAIRING_ACCOUNT_MAX, address, now_ns) ==
           PROBLEM_none)
        count++;
    account_id += count / PAIRING_ACCOUNT_MAX + 1;
    return count;
}

/* However many accounts a class has, the classes above it keep theirs; however many an address
 * has, the next one finds room. 683 is the least count whose double is not below what is left of
 * 2,048, 455 the same of the 1,365 that then are left; so on. */
static void test_shares(void)
{
    uint64_t now_ns = BEGIN_NS + 20000 * SECOND_NS;
    uint32_t unfunded, small, full;

    CHECK(fill(SHARE_CLASS_unfunded, 1, now_ns) == 683);
    CHECK(wait.cause == REPLY_OF_ADDRESS && wait.retry_ms == 120000);
    CHECK(fill(SHARE_CLASS_unfunded, 1, now_ns) == 0);
    CHECK(fill(SHARE_CLASS_unfunded, 2, now_ns + SECOND_NS) == 455);
    unfunded = 683 + 455;
    for (uint64_t address = 3; unfunded < 2048; address++) {
        uint32_t more = fill(SHARE_CLASS_unfunded, address, now_ns + SECOND_NS);
        CHECK(more > 0);
        unfunded += more;
    }
    CHECK(unfunded == 2048);
    CHECK(open_for(OWNER, now_ns + SECOND_NS) == PROBLEM_none);
    CHECK(fill(SHARE_CLASS_unfunded, 1000, now_ns + 2 * SECOND_NS) == 0);
    CHECK(wait.cause == REPLY_OF_CLASS && wait.retry_ms == 118000);
    small = 0;
    for (uint64_t address = 2000; small < 8192 - 2048; address++)
        small += fill(SHARE_CLASS_small, address, now_ns + SECOND_NS);
    CHECK(small == 8192 - 2048);
    CHECK(fill(SHARE_CLASS_small, 1000, now_ns + 2 * SECOND_NS) == 0);
    CHECK(wait.cause == REPLY_OF_CLASS && wait.retry_ms == 118000);
    full = 1;
    for (uint64_t address = 3000; full < 8192; address++)
        full += fill(SHARE_CLASS_full, address, now_ns + SECOND_NS);
    CHECK(full == 8192 && fill(SHARE_CLASS_full, 1000, now_ns + SECOND_NS) == 0);
    /* What has expired counts no more: the first address's, whatever their class has besides. */
    CHECK(fill(SHARE_CLASS_unfunded, 1000, now_ns + 120 * SECOND_NS) == 228);
}

int main(void)
{
    static const uint8_t nothing[16];

    CHECK(pairing_table_init(&table) == 0);
    CHECK(run(QUERY_pairing, nothing, BEGIN_NS) == PROBLEM_not_found);
    test_time();
    test_account();
    test_full();
    test_shares();
    pairing_table_free(&table);
    pairing_table_free(&table);
    return 0;
}
