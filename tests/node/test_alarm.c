/* What the node authors by itself (alarm.h): a failed invariant of the follower halts its market,
 * or all of them (rules.md R2), and a disk that gives no further segment closes every market for
 * orders while the last segments pay for it (roles.md, Journal). The process lives, reads are
 * served, a restart keeps the states, the operator sets others. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>

#include "base/config.h"
#include "base/hash.h"
#include "base/hex.h"
#include "base/log.h"
#include "base/uuid.h"
#include "check.h"
#include "crypto/derive.h"
#include "engine/state/state.h"
#include "engine/view/read.h"
#include "node/run/core.h"
#include "node/run/market_file.h"
#include "support/sim/disk_sim.h"

enum {
    RING_SLOTS = 256,
    SEGMENT_BYTES = 64 << 10,
    BUFFER_BYTES = 64 << 10,
    TURNS = 4000,
    MARKETS = 5,
    BTC = 1,
    ETH = 2,
};

#define START_NS UINT64_C(1755582431232000000)
#define MARK     UINT64_C(1000000) /* raw: 100,000.0 of BTC-PERP, 10,000.00 of ETH-PERP */

static struct rig {
    struct clock clock;
    struct disk *disk;
    struct core core;
    struct market_file markets;
    struct ring commands, answers, queries, replies;
    void *ring_memory[4];
    struct reply_pool pool;
    void *pool_memory;
    struct refusal refusal;
    uint64_t ids;
} rig;

static const uint8_t operator_key[32] = { [0 ... 31] = 0x11 };
static const uint8_t oracle_key[32] = { [0 ... 31] = 0x22 };
static uint8_t session_key[32]; /* W4's vector */
static const uint8_t master_key[33] = { 2, 1 };

/* ---- a rig ----------------------------------------------------------------------------------- */

static void rig_make(void)
{
    static const char session[] =
        "03a107bff3ce10be1d70dd18e74bc09967e4d6309ba50d5f1ddc8664125531b8";
    struct disk_sim_config disk = { .seed = 1, .block_bytes = 512, .latency_max = 3 };

    CHECK(hex_decode(session_key, sizeof session_key, session, sizeof session - 1));
    clock_init_simulated(&rig.clock, START_NS);
    rig.disk = disk_sim_create(&disk);
    rig.pool_memory = aligned_alloc(64, REPLY_POOL_BYTES);
    CHECK(rig.disk != NULL && rig.pool_memory != NULL);
    for (size_t i = 0; i < CC_COUNT(rig.ring_memory); i++)
        CHECK((rig.ring_memory[i] =
                   aligned_alloc(64, ring_bytes(RING_SLOTS, MESSAGE_SLOT_BYTES))) != NULL);
    CHECK(market_file_load(&rig.markets, ""));
    rig.ids = 0;
}

static void rig_free(void)
{
    disk_sim_destroy(rig.disk);
    market_file_free(&rig.markets);
    free(rig.pool_memory);
    for (size_t i = 0; i < CC_COUNT(rig.ring_memory); i++)
        free(rig.ring_memory[i]);
}

static void make_rings(void)
{
    struct ring *rings[] = { &rig.commands, &rig.answers, &rig.queries, &rig.replies };

    for (size_t i = 0; i < CC_COUNT(rings); i++)
        ring_init(rings[i], rig.ring_memory[i], RING_SLOTS, MESSAGE_SLOT_BYTES);
    reply_pool_init(&rig.pool, rig.pool_memory);
}

static void configure(void)
{
    static struct config config;
    uint8_t body[CONFIG_ENGINE_TEXT_MAX];
    const char *argv[] = {
        "core",
        "--engine.accounts=64",
        "--engine.portfolios=64",
        "--engine.orders=1024",
        "--engine.positions=64",
        "--engine.credentials=256",
        "--engine.deposits=64",
        "--engine.ladder_pages=256",
        "--limits.duplicate_slots=4096",
        "--exchange.operator_key=ERERERERERERERERERERERERERERERERERERERERERE=",
        "--exchange.oracle_keys=IiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiI=",
        "--exchange.oracle_max_age_ms=0",
    };

    CHECK(config_load(&config, (int)CC_COUNT(argv), argv, NULL) == CONFIG_RUN);
    ptrdiff_t bytes = config_engine_text(&config, rig.core.exchange.exchange_id, body);
    CHECK(bytes > 0 && core_configure(&rig.core, body, (uint32_t)bytes));
    config_free(&config);
}

static void start(void)
{
    const struct core_config config = {
        .disk = rig.disk,
        .clock = &rig.clock,
        .markets = rig.markets.markets,
        .market_count = rig.markets.market_count,
        .durability = JOURNAL_LOCAL,
        .segment_bytes = SEGMENT_BYTES,
        .journal_buffer_bytes = BUFFER_BYTES,
        .frames_in_flight = JOURNAL_FRAMES_MAX,
        .group_bytes = 1,
        .frame_bytes_max = 16 << 10,
        .history_rows = 1 << 10,
        .follower_lag_max_ns = UINT64_C(1000000000),
        .follower_commands_a_turn = FOLLOWER_COMMANDS_A_TURN,
    };
    struct follower_link link = { &rig.queries, &rig.replies, &rig.pool };

    CHECK(core_create(&rig.core, &config, &rig.refusal) == REFUSAL_none);
    configure();
    make_rings();
    CHECK(core_make_keyring(&rig.core) == 0);
    CHECK(core_recover(&rig.core, &rig.refusal) == REFUSAL_none);
    core_link(&rig.core, &link, &rig.commands, &rig.answers);
    CHECK(core_open(&rig.core) == CORE_OPENED);
}

/* The process dies; what was written stays. */
static void crash(void)
{
    struct disk *survivor = disk_sim_copy(rig.disk);

    CHECK(survivor != NULL);
    disk_sim_kill(survivor, 7);
    core_destroy(&rig.core);
    disk_sim_destroy(rig.disk);
    rig.disk = survivor;
    clock_advance(&rig.clock, 1000000000);
}

/* A turn of every role; the background's may fail. */
static void turn(void)
{
    (void)core_match(&rig.core);
    CHECK(core_journal(&rig.core) >= 0);
    CHECK(core_follow(&rig.core) >= 0);
    (void)core_prepare(&rig.core, clock_monotonic_ns(&rig.clock));
}

static void settle(void)
{
    for (int i = 0; i < TURNS; i++) {
        turn();
        if (engine_sequence(rig.core.replica) == engine_sequence(rig.core.primary) &&
            ring_ready(&rig.commands) == 0 && !alarm_is_due(&rig.core.matcher.alarm))
            return;
    }
    CHECK(!"everything published becomes durable");
}

/* Sends a signed request and gives its answer's status. */
static uint8_t ask(uint16_t code, const void *body, uint32_t body_bytes, const uint8_t *key,
                   uint32_t key_bytes)
{
    static struct rebuild_buffer buffer;
    struct command *command = (struct command *)(void *)buffer.bytes;
    uint8_t random[10] = { 0 }, *to = command->bytes;

    memset(&buffer, 0, sizeof buffer);
    cc_store64(random, ++rig.ids);
    struct uuid id = uuid_make_v7(clock_now_ns(&rig.clock) / 1000000, random);
    command->code = code;
    command->kind = COMMAND_SIGNED;
    command->payload_bytes = (uint16_t)(REQUEST_BODY_AT + body_bytes);
    command->key_bytes = (uint16_t)key_bytes;
    to[0] = REQUEST_VERSION;
    cc_store16(to + 2, code);
    memcpy(to + REQUEST_HEADER_BYTES, id.bytes, sizeof id.bytes);
    memcpy(to + REQUEST_BODY_AT, body, body_bytes);
    memcpy(to + command->payload_bytes, key, key_bytes);
    command->slot_count =
        (uint16_t)command_slots(command_bytes(command) - (uint32_t)sizeof *command);
    derive_command(command, mix_key_load(rig.core.exchange.hash_key));
    memcpy(ring_claim(&rig.commands, command->slot_count), command, command_bytes(command));
    ring_publish(&rig.commands);
    CHECK(core_match(&rig.core) != 0);
    CHECK(ring_ready(&rig.answers) == 1);
    const struct answer *answer = ring_at(&rig.answers, 0);
    uint8_t status = answer->status;
    ring_release(&rig.answers, 1);
    return status;
}

static uint8_t set_state(uint16_t asset, uint8_t state)
{
    uint8_t body[8] = { (uint8_t)asset, 0, 0, 0, state };
    return ask(REQUEST_market_state, body, sizeof body, operator_key, sizeof operator_key);
}

/* A GTC order of account 1 at 1 % below the mark. */
static uint8_t place(uint16_t asset)
{
    uint8_t body[48] = { 0 };

    cc_store64(body, 1);
    cc_store64(body + 16, MARK / 100 * 99);
    cc_store64(body + 24, 10000);
    cc_store64(body + 32, UINT64_MAX);
    cc_store16(body + 44, asset);
    return ask(REQUEST_place_limit_order, body, sizeof body, session_key, sizeof session_key);
}

/* Account 1 with 100,000 USDC, a mark in two markets, an order in both. */
static void fill(void)
{
    uint8_t account[80] = { 0 }, deposit[56] = { 0 }, price[24] = { 0 };

    memcpy(account, session_key, sizeof session_key);
    CHECK(ask(REQUEST_create_account_secp256k1, account, sizeof account, master_key,
              sizeof master_key) == STATUS_account_created_with_session);
    cc_store64(deposit, 1);
    cc_store64(deposit + 16, UINT64_C(100000000000));
    CHECK(ask(REQUEST_deposit_credit, deposit, sizeof deposit, operator_key, sizeof operator_key) ==
          STATUS_request_completed);
    for (uint16_t asset = BTC; asset <= ETH; asset++) {
        cc_store64(price, clock_now_ns(&rig.clock));
        cc_store64(price + 8, MARK);
        cc_store16(price + 16, asset);
        CHECK(ask(REQUEST_oracle_price, price, sizeof price, oracle_key, sizeof oracle_key) ==
              STATUS_request_completed);
        CHECK(place(asset) == STATUS_request_completed);
    }
    settle();
}

/* ---- invariants ------------------------------------------------------------------------------ */

/* A record 2015 where the test wants one: the follower compares and audits. */
static void checkpoint(void)
{
    struct engine_result result;
    uint64_t lanes[EFFECT_LANES];
    uint8_t body[40];

    engine_effects_lanes(rig.core.primary, lanes);
    cc_store64(body, engine_sequence(rig.core.primary));
    hash_blake2b256(body + 8, lanes, sizeof lanes);
    CHECK(sequencer_author(&rig.core.matcher.sequencer, REQUEST_effects_hash, body, sizeof body,
                           &result));
    settle();
}

/* The states of the markets, asset 1 first; the follower's once it has applied them. */
static bool states_are(const char *states)
{
    for (uint32_t k = 0; k < MARKETS; k++) {
        struct row_market primary, replica;
        read_market(rig.core.primary, k, &primary);
        read_market(rig.core.replica, k, &replica);
        CHECK(primary.asset_id == k + 1);
        CHECK(primary.state == replica.state ||
              engine_sequence(rig.core.replica) < engine_sequence(rig.core.primary));
        if (primary.state != (uint8_t)(states[k] - '0'))
            return false;
    }
    return true;
}

/* A read of the follower's is answered. */
static void check_read(void)
{
    struct query *query = ring_claim(&rig.queries, 1);

    CHECK(query != NULL);
    memset(query, 0, sizeof *query);
    query->kind = QUERY_markets;
    query->stamp = journal_durable_seq(rig.core.journal);
    ring_publish(&rig.queries);
    CHECK(core_follow(&rig.core) >= 0);
    CHECK(ring_ready(&rig.replies) == 1);
    const struct reply *reply = ring_at(&rig.replies, 0);
    CHECK(reply->problem == 0 && reply->row_count == MARKETS);
    reply_pool_free(&rig.pool, reply->buffer);
    ring_release(&rig.replies, 1);
}

/* I6 of one market: the replica counts an order more than there is, which decides nothing else. */
static void plant_in_market(uint32_t index)
{
    struct holding *holding;
    uint32_t at = holding_find(rig.core.replica, 1, index);

    CHECK(at != HOLDING_NONE);
    holding = state_holding(rig.core.replica, at);
    holding->sides[ORDER_LONG].order_count++;
}

static void unplant(uint32_t index)
{
    uint32_t at = holding_find(rig.core.replica, 1, index);

    state_holding(rig.core.replica, at)->sides[ORDER_LONG].order_count--;
}

static void test_one_market(void)
{
    rig_make();
    start();
    fill();
    checkpoint();
    CHECK(states_are("00000") && rig.core.follower.invariants_failed == 0);
    plant_in_market(1);
    checkpoint();
    CHECK(states_are("04000"));
    CHECK(rig.core.follower.invariants_failed == 1 << 5);
    CHECK(rig.core.matcher.alarm.counters.halts == 1);
    uint64_t sequence = engine_sequence(rig.core.primary);
    settle();
    CHECK(engine_sequence(rig.core.primary) == sequence); /* said once */
    CHECK(place(ETH) == STATUS_rejected_market_halted);
    CHECK(place(BTC) == STATUS_rejected_mark_price_zero); /* row 19: account 1 is in ETH too */
    settle();
    check_read();
    checkpoint(); /* still wrong, halted already */
    CHECK(rig.core.matcher.alarm.counters.halts == 1);
    CHECK(set_state(ETH, MARKET_ACTIVE) == STATUS_request_completed);
    CHECK(place(BTC) == STATUS_request_completed);
    settle();
    checkpoint(); /* wrong again behind the operator's opening */
    CHECK(states_are("04000") && rig.core.matcher.alarm.counters.halts == 2);
    unplant(1);
    checkpoint();

    crash();
    start(); /* the journal says it, whatever the replica had */
    settle();
    CHECK(states_are("04000") && rig.core.follower.invariants_failed == 0);
    CHECK(set_state(ETH, MARKET_ACTIVE) == STATUS_request_completed);
    CHECK(place(ETH) == STATUS_request_completed);
    settle();
    checkpoint();
    CHECK(states_are("00000") && rig.core.matcher.alarm.counters.halts == 0);
    crash();
    rig_free();
}

/* I2 and I3: money that nobody paid in. */
static void test_all_markets(void)
{
    rig_make();
    start();
    fill();
    CHECK(set_state(3, MARKET_HALTED) == STATUS_request_completed);
    settle();
    rig.core.replica->deposits++;
    checkpoint();
    CHECK(states_are("44444"));
    CHECK(rig.core.follower.invariants_failed == (1 << 1 | 1 << 2));
    CHECK(rig.core.matcher.alarm.counters.halts == 1); /* one 1008 */
    uint64_t sequence = engine_sequence(rig.core.primary);
    checkpoint();
    CHECK(engine_sequence(rig.core.primary) == sequence + 1); /* the 2015 alone */
    check_read();
    rig.core.replica->deposits--;
    crash();
    start();
    settle();
    CHECK(states_are("44444"));
    crash();
    rig_free();
}

/* W3b: the 2015 is the very next command after sequence 65,536, before an alarm too. */
static void test_hash_first(void)
{
    uint8_t tick[8] = { 0 };
    struct engine_result result;
    struct audit_verdict verdict = { .markets = { 1 }, .failed = 1 << 5 };

    rig_make();
    start();
    fill();
    while (engine_sequence(rig.core.primary) % SEQUENCER_HASH_INTERVAL != 0) {
        CHECK(sequencer_author(&rig.core.matcher.sequencer, REQUEST_tick, tick, sizeof tick,
                               &result));
        if (engine_sequence(rig.core.primary) % 256 == 255)
            while (engine_sequence(rig.core.replica) != engine_sequence(rig.core.primary)) {
                CHECK(core_journal(&rig.core) >= 0 && core_follow(&rig.core) >= 0);
                CHECK(core_prepare(&rig.core, clock_monotonic_ns(&rig.clock)) >= 0);
            }
    }
    uint64_t authored = rig.core.matcher.sequencer.authored;
    alarm_raise(&rig.core.follower.alarm, &verdict);
    CHECK(core_match(&rig.core) == 1 && states_are("40000"));
    CHECK(rig.core.matcher.sequencer.authored == authored + 2);
    settle();
    CHECK(rig.core.follower.counters.hashes == 1);
    crash();
    rig_free();
}

/* ---- space ----------------------------------------------------------------------------------- */

/* Ticks until a condition holds: they fill segments. */
static void tick_until_short(void)
{
    for (int i = 0; i < TURNS; i++) {
        clock_advance(&rig.clock, MATCHER_TICK_NS);
        turn();
        if (!states_are("00000"))
            return;
    }
    CHECK(!"the markets are closed");
}

static void test_space(void)
{
    rig_make();
    start();
    fill();
    /* A rollover leaves one segment ready for a moment: nobody minds. */
    uint64_t segments = journal_counters(rig.core.journal).segments;
    for (int i = 0; journal_counters(rig.core.journal).segments < segments + 3; i++) {
        CHECK(i < TURNS);
        clock_advance(&rig.clock, MATCHER_TICK_NS);
        turn();
        CHECK(!alarm_is_due(&rig.core.matcher.alarm) && states_are("00000"));
    }
    settle();
    CHECK(set_state(3, MARKET_HALTED) == STATUS_request_completed);
    CHECK(set_state(3, MARKET_ACTIVE) == STATUS_request_completed);
    settle();
    disk_sim_set_full(rig.disk, true);
    CHECK(segment_pool_ready(rig.core.pool) == 2 && segment_pool_error(rig.core.pool) == 0);
    tick_until_short();
    CHECK(segment_pool_ready(rig.core.pool) == 1); /* the reserve: this one and that just begun */
    CHECK(segment_pool_error(rig.core.pool) == -ENOSPC);
    for (int i = 0; i < 8; i++)
        turn();
    CHECK(states_are("33333") && rig.core.matcher.alarm.counters.closings == MARKETS);
    CHECK(place(BTC) == STATUS_rejected_market_cancel_only);
    CHECK(set_state(BTC, MARKET_ACTIVE) == STATUS_request_completed);
    turn(); /* the cause lasts: closed again */
    CHECK(place(BTC) == STATUS_rejected_market_cancel_only);
    disk_sim_set_full(rig.disk, false);
    for (int i = 0; i < 40 && segment_pool_error(rig.core.pool) != 0; i++) {
        clock_advance(&rig.clock, MATCHER_TICK_NS);
        turn();
    }
    settle();
    CHECK(segment_pool_error(rig.core.pool) == 0 && states_are("33333")); /* the operator's turn */
    CHECK(set_state(BTC, MARKET_ACTIVE) == STATUS_request_completed);
    settle();
    CHECK(states_are("03333") && place(BTC) == STATUS_request_completed);
    crash();
    rig_free();
}

int main(void)
{
    log_set_descriptor(open("/dev/null", O_WRONLY));
    test_one_market();
    test_all_markets();
    test_hash_first();
    test_space();
    return 0;
}
