/* The image holds everything the engine decides by: change any byte of any field of any table and
 * its hash changes. The lists that the writer and this test go by cover their structs byte for byte
 * (static assertions beside the code), so a new field cannot be left out of both. */
#include "base/hash.h"
#include "engine/image/image.h"
#include "engine/state/state_fields.h"
#include "host.h"
#include "keys.h"
#include "passkeys.h"
#include "rig.h"

static struct host host;
static uint8_t original[32];
static uint32_t changed_bytes;

/* Changes each byte in turn. */
static void flip(void *field, size_t bytes, const char *name)
{
    uint8_t *at = field, hash[32];

    for (size_t i = 0; i < bytes; i++) {
        at[i] ^= 1;
        host_image_hash(&host, hash);
        if (memcmp(hash, original, sizeof hash) == 0) {
            fprintf(stderr, "byte %zu of %s is not in the image\n", i, name);
            exit(1);
        }
        at[i] ^= 1;
        changed_bytes++;
    }
    host_image_hash(&host, hash);
    CHECK(memcmp(hash, original, sizeof hash) == 0);
}

#define FLIP(field) flip(&row->field, sizeof row->field, #field);

/* Two makers on either side of the book, a trade, a session, an API key, and deferred work left
 * over: every table has rows, every section bytes. */
static void fill(void)
{
    host_open(&host, "engine.work_per_command=1\n");
    host.skip_audit = false;
    for (uint32_t n = 1; n <= 4; n++) {
        (void)host_account(&host, n);
        CHECK(host_deposit(&host, n, 1000000 * HOST_USDC) == STATUS_request_completed);
    }
    struct passkeys_signer passkey = { .n = 50, .sign_count = 2 };
    CHECK(passkeys_account(&host, &passkey) == STATUS_account_created_with_session);
    CHECK(host_oracle(&host, HOST_BTC, 1000000) == STATUS_request_completed);
    for (uint32_t n = 1; n <= 3; n++) {
        struct host_order buy = { .price = 999000 - n, .quantity = 1000, .expiry = UINT64_MAX };
        struct host_order sell = { .price = 1001000, .quantity = -1000, .expiry = UINT64_MAX };
        CHECK(host_limit(&host, n, &buy) == STATUS_request_completed);
        sell.expiry = n == 2 ? host.clock_ns + 3600 * HOST_SECOND_NS : UINT64_MAX;
        CHECK(host_limit(&host, n, &sell) == STATUS_request_completed);
    }
    struct host_order take = { .price = 1001000, .quantity = 1500, .expiry = 0 };
    CHECK(host_limit(&host, 4, &take) == STATUS_request_completed);
    CHECK(host_effect(&host, EFFECT_trade, 1) != NULL);
    struct keys_id key = keys_make(&host, 1, KEYS_READ_WRITE, KEYS_NO_PIN);
    CHECK(keys_leverage(&host, key, 1, HOST_BTC, 5) == STATUS_request_completed);
    CHECK(host_oracle(&host, HOST_BTC, 1000500) == STATUS_request_completed);
    CHECK(host_cancel_all(&host, 3, 0xFFFF, 0) == STATUS_request_completed);
    CHECK(engine_has_work(host.engine));
    host_image_hash(&host, original);
}

static void test_own_fields(void)
{
    struct engine *row = host.engine;

    STATE_FIELDS(FLIP)
    flip(&row->configuration_bytes, 1, "configuration_bytes");
    flip(row->configuration, row->configuration_bytes, "configuration");
}

static void test_accounts(void)
{
    for (uint32_t i = 0; i < host.engine->accounts.count; i++) {
        struct account *row = &host.engine->accounts.rows[i];
        ACCOUNT_FIELDS(FLIP)
    }
}

static void test_passkeys(void)
{
    CHECK(host.engine->passkeys.slots.count > 0);
    for (uint32_t i = 1; i <= host.engine->passkeys.slots.count; i++) {
        struct passkey *row = &host.engine->passkeys.rows[i];
        PASSKEY_FIELDS(FLIP)
    }
}

static void test_credentials(void)
{
    uint32_t i = host.engine->credentials.head;

    for (unsigned k = 0; k < 2; k++) {
        struct credential *row = &host.engine->credentials.rows[i];
        CREDENTIAL_FIELDS(FLIP)
        i = row->next;
    }
}

static void test_portfolios(void)
{
    for (uint32_t i = 0; i < 3; i++) {
        struct portfolio *row = &host.engine->portfolios.rows[i];
        PORTFOLIO_FIELDS(FLIP)
    }
}

static void test_holdings(void)
{
    uint32_t index = holding_find(host.engine, 1, 0);

    CHECK(index != HOLDING_NONE);
    struct holding *row = &host.engine->holdings.rows[index];
    CHECK(row->size != 0 && row->order_head != ORDER_NONE);
    HOLDING_FIELDS(FLIP)
}

static void test_leverages(void)
{
    struct leverage *row = &host.engine->leverages.rows[leverage_first(host.engine, 1)];

    CHECK(host.engine->leverages.slots.count == 1 && row->setting == 5);
    LEVERAGE_FIELDS(FLIP)
}

static void test_orders(void)
{
    const struct book *book = &host.engine->markets.rows[0].book;

    for (unsigned side = 0; side < 2; side++) {
        uint32_t index =
            book_head(book, (enum order_side)side, book_best(book, (enum order_side)side));
        CHECK(index != ORDER_NONE);
        {
            struct order *row = &host.engine->orders.hot[index];
            IMAGE_ORDER_FIELDS(FLIP)
            IMAGE_ORDER_GATHERED(FLIP)
        }
        {
            struct order_cold *row = &host.engine->orders.cold[index];
            FLIP(placed_ns)
            FLIP(handle)
        }
        {
            struct order_extra *row = order_extra(&host.engine->orders, index);
            bool expires = order_tif(&host.engine->orders.hot[index]) == ORDER_GTT;
            FLIP(filled)
            FLIP(filled_notional)
            FLIP(updated_ns)
            FLIP(placed_rank)
            CHECK(expires == (side == ORDER_SHORT));
            if (expires)
                FLIP(expiry_ns)
        }
    }
}

static void test_markets(void)
{
    struct market *row = &host.engine->markets.rows[0];
    MARKET_FIELDS(FLIP)
}

static void test_deposits(void)
{
    for (uint32_t i = 1; i <= host.engine->deposits_seen.count; i++) {
        struct deposit *row = &host.engine->deposits_seen.rows[i];
        DEPOSIT_FIELDS(FLIP)
    }
}

/* The time of an id is what its slice stands for: all bytes behind it are flipped here. */
static void test_duplicates(void)
{
    struct duplicate_cursor cursor;

    duplicate_first(&host.engine->duplicates, &cursor);
    CHECK(cursor.row != NULL);
    struct duplicate_row *row = (struct duplicate_row *)(uintptr_t)cursor.row;
    flip((uint8_t *)row->id + 6, sizeof row->id - 6, "id");
    FLIP(account)
    FLIP(processed_at_ns)
    FLIP(outcome)
}

static void test_work(void)
{
    struct work_queue *row = &host.engine->work;
    uint32_t scans = 0;

    for (unsigned r = 0; r < WORK_RING_COUNT; r++)
        for (uint32_t i = 0; i < row->rings[r].count; i++) {
            struct work_items *ring = &row->rings[r];
            uint32_t *item = &ring->items[(ring->head + i) & ring->mask];
            if (*item >> WORK_ITEM_BITS == WORK_MARK_SCAN)
                scans++;
            else
                flip(item, 1, "items");
        }
    CHECK(scans == 1);
    struct holding *listed = state_holding(host.engine, holding_find(host.engine, 3, 0));
    uint32_t cursor = listed->cancel_cursor;
    uint8_t hash[32];
    CHECK(cursor != ORDER_NONE);
    listed->cancel_cursor = host.engine->orders.cold[cursor].list_next;
    host_image_hash(&host, hash);
    CHECK(memcmp(hash, original, sizeof hash) != 0);
    listed->cancel_cursor = cursor;
    FLIP(scans[0].from)
    FLIP(scans[0].begun)
    FLIP(scans[0].again)
    FLIP(scans[0].exact)
    FLIP(scans[0].mark)
}

/* What the image leaves out, by name: each is scratch of a command or made again from the rest. A
 * field that decides anything must not come here. */
#define TEXT(field) #field " "
static const struct left_out {
    int line;
    const char *name, *have, *want;
} left_out[] = {
    /* Lists and indexes of rows, made again by reading the rows in their order. */
    { __LINE__, "account", ACCOUNT_CACHES(TEXT),
      "credential_head portfolio_head portfolio_tail signer_hint subaccount_head "
      "cancel_queued cancel_market cancel_sequence cancel_subaccount cancel_portfolio master_head "
      "counts share_class has_many cash zero ended_head holding_head pad " },
    { __LINE__, "credential", CREDENTIAL_CACHES(TEXT),
      "account_next next prev key_slot sequence_slot passkey zero " },
    /* Sums of the records' figures, and which rows are in a list or queue. */
    { __LINE__, "portfolio", PORTFOLIO_CACHES(TEXT),
      "holding_head holding_count account_next value maintenance initial loose figure_epoch "
      "stale_holding changed_next changed moved unseen cancel_queued funding_count "
      "conditional_head conditional_tail conditional_count subaccount liquidation_queued "
      "excess_queued " },
    /* Links and the scratch of one walk; a cursor is told with its cancellation list, what exceeds
     * with the work. */
    { __LINE__, "holding", HOLDING_CACHES(TEXT),
      "walk_quantity walk_equity walk_stamp order_head order_tail next map_slot "
      "cancel_cursor leverage exceeds zero mmp account_position account_next account_prev " },
    { __LINE__, "leverage", LEVERAGE_CACHES(TEXT), "next map_slot " },
    { __LINE__, "market", MARKET_CACHES(TEXT), "funding_queued open_interest book holders zero " },
    { __LINE__, "order", IMAGE_ORDER_CACHES(TEXT), "next prev map_slot holding has_extra " },
    { __LINE__, "engine", STATE_CACHES(TEXT), "effects.count effects.wide zero " },
};

static void test_left_out(void)
{
    for (size_t i = 0; i < CC_COUNT(left_out); i++)
        CHECK_ROW(&left_out[i], strcmp(left_out[i].have, left_out[i].want) == 0);
}

struct sections {
    struct image_sink sink; /* first */
    uint32_t last;
    uint32_t count;
    size_t bytes[32];
};

static void take_section(struct image_sink *sink, uint32_t code, uint32_t version)
{
    struct sections *sections = (void *)sink;

    CHECK(code > sections->last && code < CC_COUNT(sections->bytes)); /* in code order */
    CHECK(version == image_version((enum image_section)code) && version > 0);
    sections->last = code;
    sections->count++;
}

static void take_bytes(struct image_sink *sink, const void *bytes, size_t count)
{
    struct sections *sections = (void *)sink;

    CHECK(bytes != NULL && count > 0);
    sections->bytes[sections->last] += count;
}

static void test_sections(void)
{
    struct sections sections = { .sink = { .section = take_section, .bytes = take_bytes } };

    engine_image(host.engine, &sections.sink);
    CHECK(sections.count == IMAGE_SECTION_COUNT);
    for (uint32_t code = 1; code <= 12; code++)
        CHECK(sections.bytes[code] > 0);
    /* W5: 40 bytes an entry, behind the floor. */
    CHECK(sections.bytes[IMAGE_duplicates] == 8 + 40 * (size_t)host.engine->duplicates.count);
    CHECK(sections.bytes[IMAGE_deposits] == 40 * 4);
}

/* journal.md: equal states give equal bytes whatever their history. Accounts 1 and 2 place and
 * cancel in another order and other orders in between; what is left is the same. */
static void test_history_does_not_show(void)
{
    static struct host other;
    uint8_t a[32], b[32];
    struct host *hosts[] = { &host, &other };

    for (unsigned k = 0; k < 2; k++) {
        struct host *one = hosts[k];
        uint8_t ids[4][16];
        host_open(one, NULL);
        for (uint32_t n = 1; n <= 2; n++) {
            (void)host_account(one, n);
            CHECK(host_deposit(one, n, 1000000 * HOST_USDC) == STATUS_request_completed);
        }
        CHECK(host_oracle(one, HOST_BTC, 1000000) == STATUS_request_completed);
        for (uint32_t i = 0; i < 4; i++) {
            struct host_order buy = { .price = 999000, .quantity = 1000, .expiry = UINT64_MAX };
            CHECK(host_limit(one, 1 + i % 2, &buy) == STATUS_request_completed);
            memcpy(ids[i], one->id, 16);
        }
        /* Cancels of 0 and 1, or of 1 and 0: other slots are freed first. */
        for (uint32_t i = 0; i < 2; i++) {
            uint32_t at = k == 0 ? i : 1 - i;
            CHECK(host_cancel(one, 1 + at % 2, ids[at]) == STATUS_request_completed);
        }
        one->clock_ns += 60 * HOST_SECOND_NS;
        one->id_count = 1000;
        host_tick(one, 1); /* the ids are forgotten: nothing tells of the order any more */
        CHECK(host_oracle(one, HOST_BTC, 1000000) == STATUS_request_completed);
    }
    CHECK(host.engine->orders.free_head != other.engine->orders.free_head);
    /* Free slots differ now: the next two orders get other indexes and the same rows. */
    for (unsigned k = 0; k < 2; k++)
        for (uint32_t n = 1; n <= 2; n++) {
            struct host_order buy = { .price = 998000, .quantity = 500, .expiry = UINT64_MAX };
            CHECK(host_limit(hosts[k], n, &buy) == STATUS_request_completed);
        }
    /* The running hash of effects tells the two apart, by its purpose; nothing else does. */
    memset(host.engine->effects.lanes, 0, sizeof host.engine->effects.lanes);
    memset(other.engine->effects.lanes, 0, sizeof other.engine->effects.lanes);
    host_image_hash(&host, a);
    host_image_hash(&other, b);
    CHECK(memcmp(a, b, sizeof a) == 0);
    host_close(&host);
    host_close(&other);
}

struct piece_sink {
    struct image_sink sink; /* first */
    struct hash_state state;
    uint32_t code, sections;
};

static void add_bytes(struct image_sink *sink, const void *bytes, size_t count)
{
    hash_add(&((struct piece_sink *)(void *)sink)->state, bytes, count);
}

static void add_section(struct image_sink *sink, uint32_t code, uint32_t version)
{
    struct piece_sink *pieces = (struct piece_sink *)(void *)sink;

    CHECK(code > pieces->code && version == image_version(code)); /* each once, in their order */
    pieces->code = code;
    pieces->sections++;
}

/* Pieces of any size make the image that one call makes. */
static void test_pieces(void)
{
    static const uint32_t sizes[] = { 1, 2, 7, 1024 };
    uint8_t whole[HASH_BYTES], hash[HASH_BYTES];

    host_image_hash(&host, whole);
    for (size_t i = 0; i < CC_COUNT(sizes); i++) {
        struct piece_sink sink = { .sink = { .section = add_section, .bytes = add_bytes } };
        struct image_cursor cursor = { 0 };
        uint32_t pieces = 1;
        hash_begin(&sink.state);
        while (!image_write_piece(host.engine, &sink.sink, &cursor, sizes[i]))
            pieces++;
        hash_end(&sink.state, hash);
        CHECK(sink.sections == IMAGE_SECTION_COUNT && pieces >= IMAGE_SECTION_COUNT);
        CHECK(sizes[i] > 1 || pieces > 2 * IMAGE_SECTION_COUNT);
        CHECK(memcmp(hash, whole, HASH_BYTES) == 0);
    }
}

int main(void)
{
    test_left_out();
    fill();
    test_sections();
    test_own_fields();
    test_accounts();
    test_credentials();
    test_passkeys();
    test_portfolios();
    test_holdings();
    test_leverages();
    test_orders();
    test_markets();
    test_deposits();
    test_duplicates();
    test_work();
    test_pieces();
    printf("%u bytes changed, every one seen\n", changed_bytes);
    host_close(&host);
    test_history_does_not_show();
    return 0;
}
