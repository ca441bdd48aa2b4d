/* A state made from its image (journal.md, Snapshot) is the state: it writes the same bytes, and
 * the same commands have the same answers, effects and images in both, wherever between two
 * commands the image was taken: inside deferred work, with dead orders not yet removed, with
 * sessions that have ended and are kept.
 *
 * A sample loads one Nth of the states. */
#include "engine/table/market_change.h"
#include "engine/trade/resting.h"
#include "engine/view/audit.h"
#include "image_copy.h"
#include "sample.h"
#include "traffic.h"

enum { COMMANDS = 30000, MANY_SESSIONS = 24 };

static struct test_sample sample;
static struct traffic traffic;
static struct host loaded;
static struct image_copy ours, theirs;

/* What the images of a run were taken in the middle of. */
static struct seen {
    uint32_t loads, timers, scans, scans_begun, lists, market_lists, market_inside, dead, timed;
    uint32_t ended, expired, leverages, held, next_tiers, loose;
    uint32_t waiting, queued, batches, killed, triggered;
} seen;

/* --- commands beyond those of trading --------------------------------------------------------- */

static void session_of(uint32_t n, uint32_t k, uint8_t key[32])
{
    host_session_key(n, key);
    key[8] = (uint8_t)(k + 1);
}

/* Codes 13 to 15, signed by the master key; short lives, so that sessions expire and are kept. */
static void sign_master(uint16_t code, uint32_t n, const uint8_t *body, uint32_t body_bytes)
{
    uint8_t key[33];

    host_master_key(n, key);
    struct host_request request = { .code = code,
                                    .flags = COMMAND_SESSION_KEY_VALID,
                                    .body = body,
                                    .body_bytes = body_bytes,
                                    .key = key,
                                    .key_bytes = sizeof key };
    (void)host_signed(&traffic.host, &request);
}

static void change_sessions(uint32_t n)
{
    uint8_t body[56] = { 0 }, revoke[40] = { 0 };
    uint32_t kind = rig_below(&traffic.seed, 16);

    cc_store64(body, n);
    session_of(n, rig_below(&traffic.seed, MANY_SESSIONS), body + 8);
    cc_store64(body + 40,
               traffic.host.clock_ns + (1 + rig_below(&traffic.seed, 60)) * HOST_SECOND_NS);
    cc_store32(body + 48, UINT32_MAX);
    body[52] = (uint8_t)rig_below(&traffic.seed, 2);
    if (kind < 10) {
        sign_master(REQUEST_create_session, n, body, sizeof body);
        return;
    }
    memcpy(revoke, body, sizeof revoke);
    if (kind < 15)
        sign_master(REQUEST_revoke_session, n, revoke, sizeof revoke);
    else if (n == TRADE_ACCOUNTS + 1)
        sign_master(REQUEST_revoke_all_sessions, n, revoke, 8);
}

static void change_keys(uint32_t n)
{
    static struct keys_id keys[8];
    uint32_t k = rig_below(&traffic.seed, CC_COUNT(keys));

    if (n != 1)
        return;
    if (keys[k].bytes[0] != 0)
        CHECK(keys_revoke(&traffic.host, n, keys[k]) <= STATUS_COUNT);
    keys[k] = keys_make(&traffic.host, n, KEYS_READ, KEYS_NO_PIN);
}

/* Code 1002 or 1008 by the operator or the node, seldom anything but ACTIVE. */
static void set_state(void)
{
    static const uint8_t states[] = { 0, 0, 0, 2, 2, 1, 3 };
    uint8_t body[8] = { 0 };
    bool all = rig_below(&traffic.seed, 4) == 0;
    uint8_t state = states[rig_below(&traffic.seed, CC_COUNT(states))];

    if (all) {
        body[0] = state;
    } else {
        cc_store16(body, (uint16_t)(1 + rig_below(&traffic.seed, traffic.markets)));
        body[4] = state;
    }
    struct host_request request = { .code = all ? REQUEST_halt_all : REQUEST_market_state,
                                    .body = body,
                                    .body_bytes = sizeof body,
                                    .key = host_operator_key,
                                    .key_bytes = 32 };
    if (rig_below(&traffic.seed, 4) == 0)
        (void)host_unsigned(&traffic.host, request.code, body, sizeof body);
    else
        (void)host_signed(&traffic.host, &request);
}

/* Tiers of BTC with less leverage a day from now, or those of the record at once. */
static void change_tiers(void)
{
    char text[4120], *at;

    if (rig_below(&traffic.seed, 2) == 0) {
        (void)host_market(&traffic.host, host_btc_record);
        return;
    }
    snprintf(text, sizeof text, "%.*s,\"effective_at_ns\":%llu}", (int)strlen(host_btc_record) - 1,
             host_btc_record, (unsigned long long)(traffic.host.clock_ns + 2 * MARKET_NOTICE_NS));
    at = strstr(text, "\"upper_notional\":\"20000000\"");
    CHECK(at != NULL);
    memcpy(at, "\"upper_notional\":\"10000000\"", 27);
    (void)host_market(&traffic.host, text); /* refused when they are in force */
}

static void command(void)
{
    uint32_t kind = rig_below(&traffic.seed, 400);
    uint32_t n = 1 + rig_below(&traffic.seed, TRADE_ACCOUNTS + 1);

    if (kind < 12)
        change_sessions(n);
    else if (kind < 16)
        change_keys(n);
    else if (kind < 20)
        set_state();
    else if (kind < 21)
        change_tiers();
    else
        (void)traffic_command(&traffic);
}

/* --- what an image was taken in the middle of ------------------------------------------------- */

/* Item i of all queues, in their order. */
static uint32_t item_at(const struct work_queue *work, uint32_t i)
{
    const struct work_items *ring = work->rings;

    for (; i >= ring->count; ring++)
        i -= ring->count;
    return ring->items[(ring->head + i) & ring->mask];
}

static void look_at_work(const struct engine *engine)
{
    const struct work_queue *work = &engine->work;

    for (uint32_t i = 0; i < work->count; i++) {
        uint32_t item = item_at(work, i);
        uint32_t index = item & ((1u << WORK_ITEM_BITS) - 1);
        switch ((enum work_kind)(item >> WORK_ITEM_BITS)) {
        case WORK_TIMERS:
            seen.timers++;
            break;
        case WORK_MARK_SCAN:
            seen.scans++;
            seen.scans_begun += work->scans[index].begun;
            break;
        case WORK_CANCEL:
            seen.lists++;
            break;
        case WORK_MARKET_CANCEL:
            seen.market_lists++;
            seen.market_inside += work->lists[index].inside;
            break;
        case WORK_TRIGGER:
            seen.batches++;
            break;
        default: /* of the rule book's later kinds: test files of their own */
            break;
        }
    }
}

static void look_at(const struct engine *engine)
{
    const struct credential *rows = engine->credentials.rows;

    seen.loads++;
    look_at_work(engine);
    for (uint32_t i = 1; i < engine->orders.fresh; i++) {
        uint8_t reason;
        const struct order *order = &engine->orders.hot[i];
        if (order->state != ORDER_OPEN && order->state != ORDER_PARTIALLY_FILLED)
            continue;
        seen.dead += resting_death(engine, i, &reason) != ORDER_NEW;
        seen.timed += order_tif(order) == ORDER_GTT;
    }
    for (uint32_t i = engine->credentials.head; i != CREDENTIAL_NONE; i = rows[i].next) {
        seen.ended += rows[i].ended_sequence != 0;
        seen.expired += rows[i].ended_sequence == 0 && rows[i].expires_ns <= engine->t_ns;
    }
    for (uint32_t i = 0; i < engine->markets.count; i++) {
        seen.held += engine->markets.rows[i].hold_count != 0;
        seen.next_tiers += engine->markets.rows[i].next_tier_count != 0;
    }
    for (uint32_t i = 1; i < engine->holdings.slots.fresh; i++)
        seen.loose += engine->holdings.rows[i].figure_loose != 0;
    seen.leverages += engine->leverages.slots.count != 0;
    for (uint32_t i = 1; i < engine->conditionals.fresh; i++) {
        const struct conditional *row = &engine->conditionals.rows[i];
        seen.waiting += row->quantity != 0;
        seen.queued += row->quantity != 0 && row->waits_in == WAITS_IN_QUEUE;
        seen.killed += row->quantity != 0 && row->waits_in == WAITS_NOWHERE;
    }
    for (uint32_t i = 1; i < engine->orders.fresh; i++)
        seen.triggered += engine->orders.hot[i].state != ORDER_STATE_COUNT &&
                          engine->orders.hot[i].order_type != ORDER_LIMIT;
}

/* --- runs ------------------------------------------------------------------------------------- */

static const char roomy[] =
    "engine.accounts=9000\nengine.portfolios=20000\nengine.orders=40000\nengine.positions=30000\n"
    "engine.credentials=50000\nengine.deposits=20000\nlimits.duplicate_slots=200000\n"
    "exchange.clock_past_ms=90000\n";

/* A second engine from the image of the first, at times laid out for more. */
static void load(uint32_t turn)
{
    struct image_problem problem = { 0 };

    image_copy_take(&ours, traffic.host.engine);
    look_at(traffic.host.engine);
    if (!image_copy_open(&ours, &loaded, turn % 2 == 0 ? NULL : roomy, &problem)) {
        fprintf(stderr, "section %u, row %llu: %s\n", problem.section,
                (unsigned long long)problem.row, problem.text);
        exit(1);
    }
    image_copy_take(&theirs, loaded.engine);
    CHECK(image_copy_equal(&ours, &theirs));
    CHECK(audit_holds(loaded.engine));
    traffic.host.mirror = &loaded;
}

static void compare(void)
{
    image_copy_take(&ours, traffic.host.engine);
    image_copy_take(&theirs, loaded.engine);
    CHECK(image_copy_equal(&ours, &theirs));
}

/* `life`: commands that a loaded engine goes along for. */
static void run(uint64_t seed, uint32_t markets, const char *overrides, uint32_t commands,
                uint32_t life)
{
    uint32_t age = 0;

    traffic_open(&traffic, seed, markets, overrides);
    CHECK(host_account(&traffic.host, TRADE_ACCOUNTS + 1) == TRADE_ACCOUNTS + 1);
    traffic.host.skip_audit = true;
    for (uint32_t i = 0; i < commands; i++) {
        command();
        if (traffic.host.mirror == NULL && (i > 300 || engine_has_work(traffic.host.engine))) {
            load(i);
            age = 0;
        } else if (traffic.host.mirror != NULL && ++age == life) {
            compare();
            traffic.host.mirror = NULL;
            host_close(&loaded);
        }
    }
    if (traffic.host.mirror != NULL) {
        compare();
        host_close(&loaded);
    }
    host_close(&traffic.host);
}

/* An engine that has seen 2014 and 2013 alone. */
static void test_first_moments(void)
{
    struct image_problem problem;

    host_open(&traffic.host, NULL);
    load(0);
    host_close(&loaded);
    host_close(&traffic.host);
    /* none: an engine without configuration decides nothing yet */
    host_open_bare(&traffic.host, NULL);
    image_copy_take(&ours, traffic.host.engine);
    CHECK(!image_copy_open(&ours, &loaded, NULL, &problem));
    CHECK(problem.section == IMAGE_configuration);
    host_close(&traffic.host);
}

static void set_btc(enum market_state state)
{
    uint8_t body[8] = { HOST_BTC, 0, 0, 0, (uint8_t)state };

    CHECK(host_unsigned(&traffic.host, REQUEST_market_state, body, sizeof body) == TRADE_OK);
}

/* A market's list that is begun anew while it stands among the orders of a portfolio, and then a
 * list of that portfolio: where the first one stood must not show (R3, cancellation lists). */
static void test_list_begun_anew(void)
{
    struct host *host = &traffic.host;
    bool was_inside = false;

    for (uint32_t slices = 1; slices < 8; slices++) {
        traffic_open(&traffic, 21, 3, "engine.work_per_command=1\n");
        /* 1 and 2 have positions that the list passes, 3 has orders that it stands at */
        (void)trade_rest(host, 1, -1000, TRADE_MARK);
        (void)trade_rest(host, 2, 1000, TRADE_MARK);
        for (uint32_t i = 0; i < 5; i++)
            (void)trade_rest(host, 3, 1000, 990000 - i);
        struct host_order far = {
            .price = 480000, .quantity = 1000, .expiry = UINT64_MAX, .asset = TRAFFIC_ETH
        };
        CHECK(host_limit(host, 3, &far) == TRADE_OK);
        for (uint32_t i = 0; i < 20; i++)
            host_tick(host, 1);
        CHECK(!engine_has_work(host->engine));
        set_btc(MARKET_REDUCE_ONLY);
        for (uint32_t i = 1; i < slices; i++)
            host_tick(host, 1);
        was_inside |= host->engine->work.lists[0].inside;
        set_btc(MARKET_ACTIVE);
        set_btc(MARKET_REDUCE_ONLY);
        load(slices);
        CHECK(host_cancel_all(host, 3, TRAFFIC_ETH, 0) == TRADE_OK);
        compare();
        for (uint32_t i = 0; i < 40; i++) {
            host_tick(host, 1);
            compare();
        }
        CHECK(!engine_has_work(host->engine));
        traffic.host.mirror = NULL;
        host_close(&loaded);
        host_close(host);
    }
    CHECK(was_inside);
}

/* The whole run meets each more than `usual` times. */
static bool is_met(uint32_t count, uint32_t usual)
{
    return count > usual / sample.step;
}

/* Of what the whole run meets fewer than 30 times, a sample may meet none. */
static bool is_met_rarely(uint32_t count, uint32_t usual)
{
    return sample.step > 1 || count > usual;
}

int main(void)
{
    uint32_t step;

    sample = sample_read();
    step = (uint32_t)sample.step;
    test_first_moments();
    test_list_begun_anew();
    run(11, 1, NULL, COMMANDS, 12000);
    run(12, 3, "engine.work_per_command=1\n", COMMANDS, 12000);
    run(13, 3, "engine.work_per_command=1\nlimits.open_orders=40\n", COMMANDS / 2, 7 * step);
    run(14, 1, "engine.work_per_command=2\nengine.makers_max=3\n", COMMANDS / 4, step);
    printf(
        "%u states loaded: %u timers, %u scans (%u begun), %u lists, %u of markets (%u inside),\n"
        "%u dead and %u timed orders, %u ended and %u expired sessions, %u held markets,\n"
        "%u with next tiers, %u loose figures; %u waiting orders, %u queued in %u batches, %u "
        "dead;\n"
        "%u triggered ones\n",
        seen.loads, seen.timers, seen.scans, seen.scans_begun, seen.lists, seen.market_lists,
        seen.market_inside, seen.dead, seen.timed, seen.ended, seen.expired, seen.held,
        seen.next_tiers, seen.loose, seen.waiting, seen.queued, seen.batches, seen.killed,
        seen.triggered);
    CHECK(is_met(seen.waiting, 1000) && is_met(seen.queued, 100) && is_met(seen.batches, 100));
    CHECK(is_met_rarely(seen.killed, 10) && is_met(seen.triggered, 100));
    CHECK(is_met(seen.timers, 10) && is_met(seen.scans_begun, 10) && is_met(seen.lists, 10));
    CHECK(is_met_rarely(seen.market_inside, 3) && is_met(seen.dead, 100) &&
          is_met(seen.timed, 100));
    CHECK(is_met(seen.ended, 100) && is_met(seen.expired, 100) && is_met(seen.held, 10));
    CHECK(is_met(seen.next_tiers, 10) && is_met(seen.loose, 10) && is_met(seen.leverages, 10));
    image_copy_free(&ours);
    image_copy_free(&theirs);
    return 0;
}
