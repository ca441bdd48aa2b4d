#include "waiting.h"

#include "engine/state/trigger.h"
#include "engine/trade/resting.h"

void waiting_body(uint32_t n, const struct waiting *order, uint8_t body[WAITING_BODY_BYTES])
{
    memset(body, 0, WAITING_BODY_BYTES);
    cc_store64(body, n);
    cc_store32(body + 12, order->portfolio);
    cc_store64(body + 16, order->trigger);
    cc_store64(body + 24, order->price);
    cc_store64(body + 32, (uint64_t)order->quantity);
    cc_store64(body + 40, order->expiry == 0 && !order->expiry_as_is ? TRADE_GTC : order->expiry);
    body[48] = order->post_only;
    body[49] = order->reduce_only;
    body[50] = order->stp;
    body[51] = order->type;
    cc_store16(body + 52, order->asset != 0 ? order->asset : HOST_BTC);
    cc_store32(body + 56, order->slippage_ppm);
    body[60] = order->source;
    body[61] = order->live;
    cc_store64(body + 64, order->oco);
}

static enum status send(struct host *host, uint16_t code, uint32_t n, const uint8_t *body,
                        uint32_t body_bytes)
{
    uint8_t key[32];

    host_session_key(n, key);
    struct host_request request = {
        .code = code, .body = body, .body_bytes = body_bytes, .key = key, .key_bytes = sizeof key
    };
    return host_signed(host, &request);
}

enum status waiting_send(struct host *host, uint32_t n, const uint8_t body[WAITING_BODY_BYTES])
{
    return send(host, REQUEST_place_conditional_order, n, body, WAITING_BODY_BYTES);
}

enum status waiting_place(struct host *host, uint32_t n, const struct waiting *order)
{
    uint8_t body[WAITING_BODY_BYTES];

    waiting_body(n, order, body);
    return waiting_send(host, n, body);
}

struct trade_id waiting_rest(struct host *host, uint32_t n, const struct waiting *order)
{
    CHECK(waiting_place(host, n, order) == TRADE_OK);
    return trade_last_id(host);
}

enum status waiting_cancel(struct host *host, uint32_t n, struct trade_id id)
{
    uint8_t body[40] = { 0 };

    cc_store64(body, n);
    memcpy(body + 16, id.bytes, sizeof id.bytes);
    cc_store16(body + 32, HOST_BTC);
    return send(host, REQUEST_conditional_order_cancel, n, body, sizeof body);
}

enum status waiting_cancel_all(struct host *host, uint32_t n, uint16_t asset, uint8_t side)
{
    uint8_t body[24] = { 0 };

    cc_store64(body, n);
    cc_store16(body + 16, asset);
    body[20] = side;
    body[21] = 1;
    return send(host, REQUEST_cancel_all_orders, n, body, sizeof body);
}

const struct conditional *waiting_row(const struct host *host, uint32_t n, struct trade_id id)
{
    uint64_t hash = mix_id(host->key, n, id.bytes);
    uint32_t index = conditional_find(host->engine, n, id.bytes, hash);

    return index == CONDITIONAL_NONE ? NULL : &host->engine->conditionals.rows[index];
}

struct effect_order_state waiting_state(const struct host *host, struct trade_id id)
{
    uint32_t count = trade_effects(host, EFFECT_order_state);

    while (count-- != 0) {
        struct effect_order_state state = trade_state(host, count);
        if (memcmp(state.order_id, id.bytes, sizeof state.order_id) == 0)
            return state;
    }
    CHECK(!"the command told nothing of the order");
    return (struct effect_order_state){ 0 };
}

/* --- recount ---------------------------------------------------------------------------------- */

static uint64_t price_key(const struct conditional *row)
{
    return row->armed ? 0 : row->trigger_price;
}

/* Every row of the subtree, in order of price and placing, weights falling downwards. */
static uint32_t check_tree(const struct conditional_table *table, uint32_t at,
                           const struct conditional **last)
{
    const struct conditional *row = &table->rows[at];
    uint32_t count = 1;

    if (at == CONDITIONAL_NONE)
        return 0;
    CHECK(row->waits_in == WAITS_IN_TREE && row->kill_reason == REASON_none);
    CHECK(row->left == CONDITIONAL_NONE || table->rows[row->left].hash <= row->hash);
    CHECK(row->right == CONDITIONAL_NONE || table->rows[row->right].hash <= row->hash);
    count += check_tree(table, row->left, last);
    if (*last != NULL)
        CHECK(price_key(*last) < price_key(row) ||
              (price_key(*last) == price_key(row) &&
               (*last)->placed_sequence < row->placed_sequence));
    *last = row;
    return count + check_tree(table, row->right, last);
}

static uint32_t check_trees(const struct conditional_table *table, uint32_t market)
{
    uint32_t count = 0;

    for (uint32_t source = 0; source < SOURCE_COUNT; source++) {
        for (uint32_t way = 0; way < TRIGGER_DIRECTIONS; way++) {
            const struct conditional_tree *tree = &table->trees[market][source][way];
            const struct conditional *last = NULL;
            uint32_t at = tree->root;
            count += check_tree(table, at, &last);
            while (at != CONDITIONAL_NONE && way == TRIGGER_RISING &&
                   table->rows[at].left != CONDITIONAL_NONE)
                at = table->rows[at].left;
            uint64_t nearest = at == CONDITIONAL_NONE  ? (way == TRIGGER_RISING ? UINT64_MAX : 0)
                               : way == TRIGGER_RISING ? price_key(&table->rows[at])
                                                       : price_key(last);
            CHECK(tree->nearest == nearest);
        }
    }
    return count;
}

void waiting_check(const struct host *host)
{
    const struct engine *engine = host->engine;
    const struct conditional_table *table = &engine->conditionals;
    uint32_t in_trees = 0, in_lists = 0, in_markets = 0, in_queue = 0, killed = 0, timed = 0;

    for (uint32_t i = 0; i < engine->markets.count; i++) {
        uint32_t before = CONDITIONAL_NONE;
        in_trees += check_trees(table, i);
        for (uint32_t at = table->market_heads[i]; at != CONDITIONAL_NONE;
             at = table->rows[at].market_next, in_markets++) {
            CHECK(table->rows[at].market == i && table->rows[at].market_prev == before);
            before = at;
        }
        CHECK(table->market_tails[i] == before);
    }
    for (uint32_t i = 0; i < engine->portfolios.count; i++) {
        uint32_t before = CONDITIONAL_NONE, count = 0;
        for (uint32_t at = engine->portfolios.rows[i].conditional_head; at != CONDITIONAL_NONE;
             at = table->rows[at].list_next, count++) {
            const struct conditional *row = &table->rows[at];
            CHECK(row->portfolio == i && row->list_prev == before);
            CHECK(row->state == ORDER_UNTRIGGERED && row->reason == REASON_none);
            CHECK(before == CONDITIONAL_NONE ||
                  table->rows[before].placed_sequence < row->placed_sequence);
            CHECK(conditional_find(engine, row->account, (const uint8_t *)row->id, row->hash) ==
                  at);
            CHECK((row->kill_reason != REASON_none) == (row->waits_in == WAITS_NOWHERE));
            CHECK(row->kill_reason == REASON_none || engine->portfolios.rows[i].cancel_queued);
            killed += row->kill_reason != REASON_none;
            timed += row->expiry_ns != UINT64_MAX;
            before = at;
        }
        CHECK(engine->portfolios.rows[i].conditional_tail == before);
        CHECK(engine->portfolios.rows[i].conditional_count == count);
        in_lists += count;
    }
    for (uint32_t at = table->queue_head; at != CONDITIONAL_NONE; at = table->rows[at].right) {
        CHECK(table->rows[at].waits_in == WAITS_IN_QUEUE && table->rows[at].hit_price != 0);
        in_queue++;
    }
    CHECK(in_queue == 0 || table->batch_count != 0);
    CHECK(in_lists == table->count && in_markets == table->count);
    CHECK(table->map.count == table->count && table->expiries.count == timed);
    CHECK(in_trees + in_queue + killed == table->count);
}
