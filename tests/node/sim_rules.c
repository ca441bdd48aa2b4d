/* Clients, makers, operators and the feed of a simulated exchange, as far as the rule book goes
 * beyond plain orders: what waits, what protects, cash, the hierarchy, prices that jump. */
#include "crypto/derive.h"
#include "sim_traffic.h"

enum { RECENT = 400, TRIES = 12, ITEMS_MAX = 4, PORTFOLIOS_MAX = 6, ARMS = 3 };
enum { CLOSED = 5, ALL_ASSETS = 0xFFFF, BY_VOLUME = 255 }; /* wire.md */

#define USDC  UINT64_C(1000000)
#define MS_NS UINT64_C(1000000)

static uint64_t below(struct traffic *traffic, uint64_t bound)
{
    return traffic_below(traffic, bound);
}

/* The place of any portfolio of the account that the client knows of. */
static void put_place(struct traffic *traffic, const struct traffic_account *account, uint8_t *to)
{
    cc_store64(to, account->id);
    cc_store32(to + 8, 0);
    cc_store32(to + 12, (uint32_t)below(traffic, account->portfolios + 1));
}

/* A recent limit order of the account; NULL: none was found soon. */
static struct traffic_sent *some_order(struct traffic *traffic,
                                       const struct traffic_account *account)
{
    uint32_t newest = traffic->sent_count < RECENT ? traffic->sent_count : RECENT;

    for (int i = 0; i < TRIES; i++) {
        struct traffic_sent *sent =
            &traffic->sent[traffic->sent_count - 1 - below(traffic, newest)];
        if (&traffic->accounts[sent->account] == account &&
            traffic_command(sent)->code == REQUEST_place_limit_order)
            return sent;
    }
    return NULL;
}

static uint64_t near(struct traffic *traffic, uint64_t range)
{
    return traffic->index_raw - range + below(traffic, 2 * range);
}

static uint64_t quantity(struct traffic *traffic)
{
    int64_t lots = (int64_t)(1000 + below(traffic, 30000));
    return (uint64_t)(below(traffic, 2) == 0 ? lots : -lots);
}

static struct traffic_sent *conditional(struct traffic *traffic, struct traffic_account *account,
                                        uint64_t now_ns)
{
    uint8_t body[80] = { 0 };
    uint8_t kind = (uint8_t)(2 + below(traffic, 4));
    bool is_limit = kind == 2 || kind == 4; /* STOP_LIMIT, TAKE_PROFIT */

    put_place(traffic, account, body);
    cc_store64(body + 16, near(traffic, 3000));
    cc_store64(body + 24, is_limit ? near(traffic, 3000) : 0);
    cc_store64(body + 32, quantity(traffic));
    cc_store64(body + 40,
               below(traffic, 4) == 0 ? now_ns + below(traffic, 4000) * MS_NS : UINT64_MAX);
    body[49] = below(traffic, 3) == 0;
    body[50] = (uint8_t)below(traffic, 4);
    body[51] = kind;
    cc_store16(body + 52, TRAFFIC_ASSET);
    body[60] = (uint8_t)below(traffic, 3);
    body[61] = is_limit ? (uint8_t)below(traffic, 3) : 0;
    body[64] = (uint8_t)below(traffic, 3); /* 0: no group */
    return traffic_by_session(traffic, account, REQUEST_place_conditional_order, body, sizeof body,
                              now_ns);
}

static struct traffic_sent *cancel_conditional(struct traffic *traffic,
                                               struct traffic_account *account, uint64_t now_ns)
{
    uint8_t body[40] = { 0 };

    if (account->conditional[6] == 0) /* a v7 id has its version there */
        return conditional(traffic, account, now_ns);
    cc_store64(body, account->id);
    memcpy(body + 8, account->conditional_at, sizeof account->conditional_at);
    memcpy(body + 16, account->conditional, sizeof account->conditional);
    cc_store16(body + 32, TRAFFIC_ASSET);
    return traffic_by_session(traffic, account, REQUEST_conditional_order_cancel, body, sizeof body,
                              now_ns);
}

static void put_item(struct traffic *traffic, const struct traffic_account *account, bool atomic,
                     uint64_t now_ns, uint8_t *to)
{
    struct traffic_sent *target = some_order(traffic, account);
    uint8_t random[10];
    uint64_t low = traffic_random(traffic), high = traffic_random(traffic);

    cc_store16(to + 4, TRAFFIC_ASSET);
    if (target != NULL && below(traffic, 2) == 0) {
        to[0] = below(traffic, 2) == 0 ? 3 : 1; /* cancel, reduction */
        cc_store64(to + 16, to[0] == 1 ? 1000 : 0);
        memcpy(to + 32, command_request_id(traffic_command(target)), 16);
        return;
    }
    memcpy(random, &low, 8);
    memcpy(random + 8, &high, 2);
    struct uuid id = uuid_make_v7(now_ns / 1000000, random);
    to[1] = atomic;
    cc_store64(to + 8, near(traffic, 300));
    cc_store64(to + 16, quantity(traffic));
    cc_store64(to + 24, UINT64_MAX);
    memcpy(to + 32, id.bytes, sizeof id.bytes);
}

static struct traffic_sent *batch(struct traffic *traffic, struct traffic_account *account,
                                  uint64_t now_ns)
{
    uint8_t body[24 + 64 * ITEMS_MAX] = { 0 };
    uint32_t count = 1 + (uint32_t)below(traffic, ITEMS_MAX);
    bool atomic = below(traffic, 3) == 0;

    cc_store64(body, account->id);
    cc_store16(body + 16, (uint16_t)count);
    body[18] = atomic;
    for (uint32_t i = 0; i < count; i++)
        put_item(traffic, account, atomic, now_ns, body + 24 + (size_t)64 * i);
    return traffic_by_session(traffic, account, REQUEST_order_batch, body, 24 + 64 * count, now_ns);
}

/* Small portfolios are what a jump of the price liquidates. */
static struct traffic_sent *transfer(struct traffic *traffic, struct traffic_account *account,
                                     uint64_t now_ns)
{
    uint8_t body[40] = { 0 };

    put_place(traffic, account, body + 16);
    cc_store64(body, account->id);
    if (below(traffic, 4) == 0)
        put_place(traffic, account, body);
    cc_store64(body + 32, (1 + below(traffic, 1500)) * USDC);
    return traffic_by_session(traffic, account, REQUEST_transfer, body, sizeof body, now_ns);
}

static struct traffic_sent *withdraw(struct traffic *traffic, struct traffic_account *account,
                                     uint64_t now_ns)
{
    uint8_t body[48] = { 0 };

    put_place(traffic, account, body);
    cc_store64(body + 16, (1 + below(traffic, 50)) * USDC);
    memset(body + 24, 1 + (int)below(traffic, 255), 20);
    return traffic_by_session(traffic, account, REQUEST_withdraw, body, sizeof body, now_ns);
}

static struct traffic_sent *structure(struct traffic *traffic, struct traffic_account *account,
                                      uint64_t now_ns)
{
    uint8_t body[48] = { 0 };
    uint64_t pick = below(traffic, 16);

    cc_store64(body, account->id);
    if (pick == 0)
        return traffic_by_master(traffic, account, REQUEST_close_account, body, 8, now_ns);
    if (pick <= 2) {
        cc_store32(body + 8, (uint32_t)below(traffic, 3));
        return traffic_by_master(traffic, account, REQUEST_close_subaccount, body, 16, now_ns);
    }
    if (pick <= 5 || account->portfolios + 1 >= PORTFOLIOS_MAX)
        return traffic_by_master(traffic, account, REQUEST_create_subaccount, body, 8, now_ns);
    return traffic_by_session(traffic, account, REQUEST_create_portfolio, body, sizeof body,
                              now_ns);
}

static struct traffic_sent *protect(struct traffic *traffic, struct traffic_account *account,
                                    uint64_t now_ns)
{
    uint8_t body[48] = { 0 };
    uint64_t pick = below(traffic, 4);

    put_place(traffic, account, body);
    if (pick == 0) {
        uint64_t deadline_ns = now_ns + (1000 + below(traffic, 4000)) * MS_NS;
        cc_store64(body + 16, below(traffic, 5) == 0 ? 0 : deadline_ns);
        return traffic_by_session(traffic, account, REQUEST_schedule_cancel_all, body, 24, now_ns);
    }
    cc_store16(body + 16, TRAFFIC_ASSET);
    if (pick == 1)
        return traffic_by_session(traffic, account, REQUEST_reset_mmp, body, 24, now_ns);
    cc_store32(body + 20, 2000); /* window_ms */
    cc_store32(body + 24, (uint32_t)below(traffic, 2000));
    cc_store64(body + 32, 20000 + below(traffic, 100000));
    return traffic_by_session(traffic, account, REQUEST_set_mmp, body, sizeof body, now_ns);
}

static struct traffic_sent *operator_sends(struct traffic *traffic, uint16_t code,
                                           const uint8_t *body, uint32_t body_bytes,
                                           uint64_t now_ns)
{
    return traffic_compose(traffic, code, body, body_bytes, traffic->operator.key, 32, now_ns);
}

static struct traffic_sent *settle(struct traffic *traffic, struct traffic_account *account,
                                   uint64_t now_ns)
{
    uint8_t body[24] = { 0 };

    if (account->withdrawal[6] == 0)
        return withdraw(traffic, account, now_ns);
    memcpy(body, account->withdrawal, sizeof account->withdrawal);
    body[16] = (uint8_t)below(traffic, 2);
    return operator_sends(traffic, REQUEST_withdrawal_settle, body, sizeof body, now_ns);
}

/* For good, at once, and seldom. */
static struct traffic_sent *close_market(struct traffic *traffic, struct traffic_account *account,
                                         uint64_t now_ns)
{
    uint8_t body[8] = { 0 };

    if (below(traffic, 12) != 0)
        return settle(traffic, account, now_ns);
    cc_store16(body, TRAFFIC_ASSET);
    body[4] = CLOSED;
    body[5] = 1; /* without its hour of REDUCE_ONLY */
    return operator_sends(traffic, REQUEST_market_state, body, sizeof body, now_ns);
}

static struct traffic_sent *by_operator(struct traffic *traffic, struct traffic_account *account,
                                        uint64_t now_ns)
{
    uint8_t body[40] = { 0 };

    cc_store64(body, account->id);
    switch (below(traffic, 8)) {
    case 0:
    case 1:
        return settle(traffic, account, now_ns);
    case 2: /* seldom, and soon taken back */
        body[8] = below(traffic, 6) == 0;
        return operator_sends(traffic, REQUEST_suspend_account, body, 16, now_ns);
    case 3:
        body[8] = (uint8_t)below(traffic, 7);
        if (body[8] == 6)
            body[8] = BY_VOLUME;
        return operator_sends(traffic, REQUEST_set_fee_tier, body, 16, now_ns);
    case 4:
        cc_store64(body, (1 + below(traffic, 200)) * 500 * USDC);
        return operator_sends(traffic, REQUEST_fund_top_up, body, 8, now_ns);
    case 5:
        put_place(traffic, account, body);
        cc_store16(body + 32, below(traffic, 2) == 0 ? ALL_ASSETS : TRAFFIC_ASSET);
        return operator_sends(traffic, REQUEST_operator_cancel, body, sizeof body, now_ns);
    case 6:
        return traffic->closes ? close_market(traffic, account, now_ns)
                               : settle(traffic, account, now_ns);
    default:
        return settle(traffic, account, now_ns);
    }
}

/* Code 2012, as a stream will send it: without signature and id. */
static struct traffic_sent *arm(struct traffic *traffic, struct traffic_account *account,
                                uint64_t now_ns)
{
    uint8_t body[56] = { 0 };

    body[0] = (uint8_t)(1 + below(traffic, ARMS));
    cc_store64(body + 8, account->id); /* an id of this account's own */
    cc_store64(body + 32, account->id);
    cc_store32(body + 44, below(traffic, 3) == 0 ? 0 : (uint32_t)below(traffic, 4000));
    body[48] = below(traffic, 5) != 0;
    struct traffic_sent *sent =
        traffic_by_key(traffic, account, REQUEST_disconnect_arm, body, sizeof body, 16);
    return sent != NULL ? sent : protect(traffic, account, now_ns);
}

struct traffic_sent *traffic_rules(struct traffic *traffic, struct traffic_account *account,
                                   uint64_t now_ns)
{
    uint64_t pick = below(traffic, 100);

    if (pick < 22)
        return conditional(traffic, account, now_ns);
    if (pick < 28)
        return cancel_conditional(traffic, account, now_ns);
    if (pick < 42)
        return batch(traffic, account, now_ns);
    if (pick < 56)
        return transfer(traffic, account, now_ns);
    if (pick < 64)
        return withdraw(traffic, account, now_ns);
    if (pick < 72)
        return structure(traffic, account, now_ns);
    if (pick < 80)
        return protect(traffic, account, now_ns);
    if (pick < 86)
        return arm(traffic, account, now_ns);
    return by_operator(traffic, account, now_ns);
}

/* Mostly the price walks; now and then it leaps, so far that it liquidates, or further than the
 * guard lets through (R5). */
void traffic_move_index(struct traffic *traffic)
{
    uint64_t pick = below(traffic, 60), ppm = below(traffic, 2500);

    if (pick < 4)
        ppm = 5000 + below(traffic, 70000);
    else if (pick == 4)
        ppm = 110000 + below(traffic, 60000);
    uint64_t leap = traffic->index_raw * ppm / 1000000;
    bool is_up = traffic->index_raw < TRAFFIC_MID_RAW * 3 / 4 ||
                 (traffic->index_raw < TRAFFIC_MID_RAW * 5 / 4 && below(traffic, 2) == 0);
    traffic->index_raw = is_up ? traffic->index_raw + leap : traffic->index_raw - leap;
}
