/* The table of (portfolio, market) records: found, sorted, given back, and met in order (R3). */
#include "engine/state/state.h"
#include "host.h"
#include "rig.h"

static struct host host;

enum { PORTFOLIOS = 300, MARKETS = 80 };

/* Markets without records: what the table needs of them is their holders' bitmap. */
static struct engine *open_engine(void)
{
    static const uint8_t no_label[ACCOUNT_LABEL_BYTES];

    host_open(&host, NULL);
    for (uint32_t i = 1; i < PORTFOLIOS; i++)
        CHECK(account_add(host.engine, no_label) == i);
    host.engine->markets.count = MARKETS;
    return host.engine;
}

/* Portfolio numbers as far apart as the words of each depth of the bitmap. */
static uint32_t some_portfolio(uint64_t *seed)
{
    static const uint32_t edges[] = { 0, 1, 63, 64, 65, 127, 128, 255, 256, 299 };
    return rig_below(seed, 2) ? edges[rig_below(seed, CC_COUNT(edges))]
                              : rig_below(seed, PORTFOLIOS);
}

/* A set of pairs beside it, kept the plainest way. */
static void test_against_plain_set(void)
{
    static bool has[PORTFOLIOS][MARKETS];
    struct engine *engine = open_engine();
    uint32_t counts[PORTFOLIOS] = { 0 }, total = 0;
    uint32_t over_markets = 0, over_slots = 0;
    uint64_t seed = 1;

    for (uint32_t step = 0; step < 60000; step++) {
        uint32_t portfolio = some_portfolio(&seed), market = rig_below(&seed, MARKETS);
        bool *pair = &has[portfolio][market];
        bool is_over = portfolio != 0 && counts[portfolio] >= 64 && !*pair; /* R1 */
        CHECK(holding_over_markets(engine, portfolio, market) == is_over);
        CHECK(slot_table_has_room(&engine->holdings.slots) == (total < 8192));
        CHECK((holding_find(engine, portfolio, market) != HOLDING_NONE) == *pair);
        over_markets += is_over;
        over_slots += total == 8192;
        if (portfolio == 0 || rig_below(&seed, 20) != 0) {
            if (!*pair && (is_over || total == 8192))
                continue;
            uint32_t index = holding_get(engine, portfolio, market);
            CHECK(index == holding_find(engine, portfolio, market));
            CHECK(state_holding(engine, index)->portfolio == portfolio);
            CHECK(state_holding(engine, index)->market == market);
            counts[portfolio] += !*pair;
            total += !*pair;
            *pair = true;
        } else if (*pair) {
            uint32_t index = holding_find(engine, portfolio, market);
            state_holding(engine, index)->size = 1;
            holding_free_empty(engine, index); /* it has a position */
            CHECK(holding_find(engine, portfolio, market) == index);
            state_holding(engine, index)->size = 0;
            holding_free_empty(engine, index);
            counts[portfolio]--;
            total--;
            *pair = false;
        }
        CHECK(engine->holdings.slots.count == total);
        uint32_t from = some_portfolio(&seed), want = from;
        while (want < PORTFOLIOS && !has[want][market])
            want++;
        uint32_t holder = holding_next_holder(engine, market, from);
        CHECK((holder == HOLDING_NONE) == (want == PORTFOLIOS));
        CHECK(holder == HOLDING_NONE || state_holding(engine, holder)->portfolio == want);
    }
    for (uint32_t i = 0; i < PORTFOLIOS; i++) { /* each portfolio's list, by market */
        uint32_t at = state_portfolio(engine, i)->holding_head;
        for (uint32_t market = 0; market < MARKETS; market++)
            if (has[i][market]) {
                CHECK(at != HOLDING_NONE && state_holding(engine, at)->market == market);
                at = state_holding(engine, at)->next;
            }
        CHECK(at == HOLDING_NONE && state_portfolio(engine, i)->holding_count == counts[i]);
    }
    CHECK(counts[0] > 64); /* account 0 is exempt (R1) */
    CHECK(over_markets > 0 && over_slots > 0);
    host_close(&host);
}

static void make_order(struct engine *engine, uint32_t index, uint32_t holding, uint64_t stamp)
{
    engine->orders.hot[index] = (struct order){ .holding = holding, .stamp = stamp };
    holding_link(engine, holding, index);
}

/* The list of orders: oldest first, whichever leaves. */
static void test_order_list(void)
{
    struct engine *engine = open_engine();
    uint32_t holding = holding_get(engine, 5, 3);
    const struct holding *row = state_holding(engine, holding);

    for (uint32_t i = 1; i <= 5; i++)
        make_order(engine, i, holding, 100 + i);
    CHECK(state_portfolio(engine, 5)->open_order_count == 5);
    holding_unlink(engine, 3);
    holding_unlink(engine, 1);
    holding_unlink(engine, 5);
    CHECK(row->order_head == 2 && row->order_tail == 4);
    CHECK(engine->orders.cold[2].list_next == 4 && engine->orders.cold[4].list_prev == 2);
    make_order(engine, 1, holding, 200); /* re-entered at the back */
    CHECK(row->order_tail == 1 && engine->orders.cold[4].list_next == 1);
    holding_free_empty(engine, holding);
    CHECK(holding_find(engine, 5, 3) == holding); /* it has orders */
    holding_unlink(engine, 2);
    holding_unlink(engine, 4);
    holding_unlink(engine, 1);
    CHECK(row->order_head == ORDER_NONE && row->order_tail == ORDER_NONE);
    CHECK(state_portfolio(engine, 5)->open_order_count == 0);
    holding_free_empty(engine, holding);
    CHECK(holding_find(engine, 5, 3) == HOLDING_NONE);
    host_close(&host);
}

int main(void)
{
    test_against_plain_set();
    test_order_list();
    return 0;
}
