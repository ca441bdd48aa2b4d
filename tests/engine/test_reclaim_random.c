/* Accounts come, bring in and take out money, make rows of every kind, trade, are taken (reclaim.h)
 * and come again, in tables that are always short. A second engine, made anew from an image of the
 * first every few commands, does the same command for command, to the same answers, effects and
 * image; and what names an account that was taken never does anything. The host audits all. */
#include "engine/state/state.h"
#include "image_copy.h"
#include "purse.h"
#include "rig.h"
#include "trade.h"

#define MADE STATUS_account_created_with_session
#define OPTIONS                                                                                \
    "limits.funding_small=10\nlimits.funding_full=1000\nlimits.unfunded_life_s=60\n"           \
    "limits.session_life_default_s=40\nlimits.session_life_max_s=90\nengine.accounts=56\n"     \
    "engine.portfolios=120\nengine.credentials=240\nengine.positions=64\nengine.deposits=64\n" \
    "engine.orders=128\n"

enum { KEYS = 24, SEEDS = 6, COMMANDS = 4000, FORMER = 8 };

struct run {
    uint64_t seed;
    uint64_t ids[KEYS + 1];            /* the account of each key, 0: none as far as is known */
    uint64_t former[KEYS + 1][FORMER]; /* accounts that it had before */
    uint32_t former_count[KEYS + 1];
    struct keys_id api[KEYS + 1];
    uint8_t withdrawal[16];
    uint32_t taken, again, refused, passed_over;
};

static struct host host, mirror;
static struct image_copy copy, other;
static struct run run;

static uint32_t below(uint32_t count)
{
    return rig_below(&run.seed, count);
}

static void remirror(void)
{
    struct image_problem problem = { 0 };

    host.mirror = NULL;
    image_copy_take(&copy, host.engine);
    if (mirror.engine != NULL) {
        image_copy_take(&other, mirror.engine);
        CHECK(image_copy_equal(&copy, &other));
        host_close(&mirror);
    }
    if (!image_copy_open(&copy, &mirror, NULL, &problem))
        fprintf(stderr, "section %u, row %llu: %s\n", problem.section,
                (unsigned long long)problem.row, problem.text);
    CHECK(problem.text == NULL);
    image_copy_take(&other, mirror.engine);
    CHECK(image_copy_equal(&copy, &other));
    host.mirror = &mirror;
}

static void sign_up(uint32_t n)
{
    uint32_t was[56];
    uint64_t unfunded[56];

    for (uint32_t i = 0; i < host.engine->accounts.count; i++) {
        was[i] = host.engine->accounts.rows[i].generation;
        unfunded[i] = host.engine->accounts.rows[i].unfunded_ns;
    }
    uint32_t count = host.engine->accounts.count;
    enum status status = host_sign_up(&host, n);
    for (uint32_t i = 1; i < count; i++) {
        run.taken += host.engine->accounts.rows[i].generation != was[i];
        run.passed_over += host.engine->accounts.rows[i].generation == was[i] &&
                           host.engine->accounts.rows[i].unfunded_ns != unfunded[i];
    }
    if (status != MADE) {
        CHECK(status == STATUS_creation_rejected);
        run.refused++;
        return;
    }
    if (run.ids[n] != 0) {
        CHECK(run.ids[n] != host.result.account_id);
        run.former[n][run.former_count[n]++ % FORMER] = run.ids[n];
        run.again++;
    }
    run.ids[n] = host.result.account_id;
}

/* Any body of a key under an account that it does not have any more. */
static void try_former(uint32_t n)
{
    uint64_t body[7] = { run.former[n][below(FORMER)] };
    static const uint16_t codes[] = { REQUEST_cancel_all_orders, REQUEST_create_portfolio,
                                      REQUEST_create_subaccount, REQUEST_close_account,
                                      REQUEST_withdraw,          REQUEST_place_limit_order };
    static const uint32_t bytes[] = { 24, 48, 8, 8, 48, 48 };
    uint32_t k = below(CC_COUNT(codes)), signer = below(2);

    if (body[0] == 0)
        return;
    uint32_t kept = host.engine->duplicates.count;
    CHECK(purse_send(&host, signer == 0 ? PURSE_SESSION : PURSE_MASTER, n, codes[k], body,
                     bytes[k]) == STATUS_rejected_unauthorized);
    CHECK(host.engine->duplicates.count <= kept);
    CHECK(host_deposit(&host, body[0], 5 * HOST_USDC) == STATUS_rejected_invalid_portfolio_id);
}

static void money(uint32_t n, uint32_t kind)
{
    uint8_t body[48] = { 0 };
    static const uint32_t amounts[] = { 1, 3, 30, 400, 2000 };

    if (kind < 3) {
        uint32_t amount = amounts[below(CC_COUNT(amounts))];
        (void)host_deposit(&host, run.ids[n], amount * HOST_USDC);
        return;
    }
    cc_store64(body, run.ids[n]);
    int64_t cash = (int64_t)host.engine->accounts.rows[account_id_slot(run.ids[n])].cash;
    cc_store64(body + 16, (uint64_t)(below(3) == 0 ? cash / 2 : cash));
    memset(body + 24, 0x77, 20);
    if (cash > 0 && purse_send(&host, PURSE_MASTER, n, REQUEST_withdraw, body, sizeof body) ==
                        STATUS_request_completed) {
        memcpy(run.withdrawal, host.result.id, sizeof run.withdrawal);
        if (below(4) != 0)
            CHECK(purse_settle(&host, run.withdrawal, below(5) == 0) == TRADE_OK);
    }
}

static void key_of_api(uint32_t n)
{
    uint8_t body[48] = { 0 }, key[32], hash[32] = { 0x33 };

    cc_store64(body, run.ids[n]);
    cc_store32(body + 8, UINT32_MAX);
    body[12] = KEYS_READ_WRITE;
    cc_store64(hash + 8, ++host.id_count);
    host_session_key(n, key);
    struct host_request request = { .code = REQUEST_create_api_key,
                                    .body = body,
                                    .body_bytes = sizeof body,
                                    .key = key,
                                    .key_bytes = sizeof key,
                                    .extra = hash,
                                    .extra_bytes = sizeof hash };
    if (host_signed(&host, &request) == TRADE_OK)
        memcpy(run.api[n].bytes, host.result.id, 16);
}

/* A session of the account's key (a new one when it has expired), an API key, the end of all. */
static void keys(uint32_t n, uint32_t kind)
{
    uint8_t body[56] = { 0 };

    cc_store64(body, run.ids[n]);
    if (kind == 0) {
        key_of_api(n);
    } else if (kind == 1) {
        (void)purse_send(&host, PURSE_MASTER, n, REQUEST_revoke_all_sessions, body, 8);
    } else {
        /* Its own, or another one that ends soon: its row is kept for a while. */
        bool is_short = kind > 2;
        host_session_key(is_short ? 1000 + below(1000) : n, body + 8);
        if (is_short)
            cc_store64(body + 40, host.clock_ns + (1 + below(20)) * HOST_SECOND_NS);
        cc_store32(body + 48, UINT32_MAX);
        (void)purse_send(&host, PURSE_MASTER, n, REQUEST_create_session, body, sizeof body);
    }
}

static void rows(uint32_t n, uint32_t kind)
{
    uint8_t body[56] = { 0 };

    if (kind < 2) {
        memcpy(body, run.api[n].bytes, 16);
        cc_store64(body + 16, run.ids[n]);
        cc_store32(body + 32, 1 + below(30));
        cc_store16(body + 36, HOST_BTC);
        (void)host_unsigned(&host, REQUEST_set_leverage, body, 40);
        return;
    }
    if (kind == 2) {
        body[0] = (uint8_t)below(40);
        memcpy(body + 16, run.api[n].bytes, 16);
        cc_store64(body + 32, run.ids[n]);
        body[48] = below(4) != 0;
        (void)host_unsigned(&host, REQUEST_disconnect_arm, body, sizeof body);
        return;
    }
    cc_store64(body, run.ids[n]);
    if (kind == 3) {
        cc_store16(body + 16, HOST_BTC);
        cc_store32(body + 20, 1000);
        cc_store64(body + 32, 1 + below(5000));
        (void)purse_send(&host, PURSE_SESSION, n, REQUEST_set_mmp, body, 48);
    } else if (kind == 4) {
        cc_store64(body + 16, host.clock_ns + (6 + below(200)) * HOST_SECOND_NS);
        (void)purse_send(&host, PURSE_SESSION, n, REQUEST_schedule_cancel_all, body, 24);
    } else if (kind == 5) {
        (void)purse_send(&host, PURSE_MASTER, n, REQUEST_create_subaccount, body, 8);
    } else {
        cc_store32(body + 8, below(2));
        (void)purse_send(&host, PURSE_MASTER, n, REQUEST_create_portfolio, body, 48);
    }
}

static void order(uint32_t n)
{
    uint8_t body[48] = { 0 };

    cc_store64(body, run.ids[n]);
    cc_store32(body + 12, below(2));
    cc_store64(body + 16, TRADE_MARK - 500 + 100 * below(11));
    cc_store64(body + 24, (uint64_t)(below(2) == 0 ? 1 : -1) * (100 + below(900)));
    cc_store64(body + 32, below(3) == 0 ? TRADE_IOC : host.clock_ns + 20 * HOST_SECOND_NS);
    cc_store16(body + 44, HOST_BTC);
    (void)purse_send(&host, PURSE_SESSION, n, REQUEST_place_limit_order, body, sizeof body);
}

static void command(void)
{
    uint32_t n = 1 + below(KEYS), kind = below(100);

    host.clock_ns += below(1500) * UINT64_C(1000000);
    if (kind < 22 || run.ids[n] == 0)
        sign_up(n);
    else if (kind < 30)
        try_former(n);
    else if (kind < 46)
        money(n, below(8));
    else if (kind < 56)
        keys(n, below(5));
    else if (kind < 74)
        rows(n, below(8));
    else if (kind < 94)
        order(n);
    else if (kind < 96)
        CHECK(host_oracle(&host, HOST_BTC, TRADE_MARK - 5000 + below(10000)) == TRADE_OK);
    else if (kind < 97)
        (void)purse_suspend(&host, run.ids[n], below(3) == 0);
    else
        host_tick(&host, below(30) * HOST_SECOND_NS);
}

int main(void)
{
    struct run sum = { 0 };

    for (uint32_t seed = 1; seed <= SEEDS; seed++) {
        run = (struct run){ .seed = seed };
        host_open(&host, OPTIONS);
        CHECK(host_oracle(&host, HOST_BTC, TRADE_MARK) == TRADE_OK);
        for (uint32_t i = 0; i < COMMANDS; i++) {
            if (i % 50 == 0)
                remirror();
            command();
        }
        remirror();
        host.mirror = NULL;
        host_close(&mirror);
        mirror.engine = NULL;
        sum.taken += run.taken;
        sum.again += run.again;
        sum.refused += run.refused;
        sum.passed_over += run.passed_over;
        host_close(&host);
    }
    printf("%u accounts taken, %u passed over; %u keys signed up again, %u creations refused\n",
           sum.taken, sum.passed_over, sum.again, sum.refused);
    CHECK(sum.taken > 100 && sum.passed_over > 100 && sum.again > 50 && sum.refused > 100);
    image_copy_free(&copy);
    image_copy_free(&other);
    return 0;
}
