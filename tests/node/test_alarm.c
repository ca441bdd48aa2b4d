/* What the node authors by itself (alarm.h): a failed invariant of the follower halts its market,
 * or all of them (rules.md R2), and a disk that gives no further segment closes every market for
 * orders while the last segments pay for it (roles.md, Journal). The process lives, reads are
 * served, a restart keeps the states, the operator sets others. */
#include <errno.h>
#include <fcntl.h>

#include "base/hash.h"
#include "base/hex.h"
#include "base/log.h"
#include "check.h"
#include "engine/state/state.h"
#include "engine/view/read.h"
#include "node/core_member.h"

enum { MARKETS = 5, BTC = 1, ETH = 2 };

#define MARK UINT64_C(1000000) /* raw: 100,000.0 of BTC-PERP, 10,000.00 of ETH-PERP */

static const uint8_t oracle_key[32] = { [0 ... 31] = 0x22 };
static uint8_t session_key[32]; /* W4's vector */
static const uint8_t master_key[33] = { 2, 1 };

/* ---- a rig ----------------------------------------------------------------------------------- */

static void rig_make(void)
{
    static const char session[] =
        "03a107bff3ce10be1d70dd18e74bc09967e4d6309ba50d5f1ddc8664125531b8";
    static const char *const engine[] = {
        "--exchange.operator_key=ERERERERERERERERERERERERERERERERERERERERERE=",
        "--exchange.oracle_keys=IiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiI=",
        "--exchange.oracle_max_age_ms=0",
        NULL,
    };

    CHECK(hex_decode(session_key, sizeof session_key, session, sizeof session - 1));
    core_rig_make_with(&(struct core_rig_options){
        .accounts = 64, .credentials = 256, .engine = engine, .has_no_snapshots = true });
}

/* A turn of every role; the background's may fail. */
static void turn(void)
{
    (void)core_match(&core_rig.core);
    CHECK(core_journal(&core_rig.core) >= 0);
    CHECK(core_follow(&core_rig.core) >= 0);
    (void)core_prepare(&core_rig.core, clock_monotonic_ns(&core_rig.clock));
}

static void settle(void)
{
    for (int i = 0; i < CORE_RIG_TURNS; i++) {
        turn();
        if (engine_sequence(core_rig.core.replica) == engine_sequence(core_rig.core.primary) &&
            ring_ready(&core_rig.links[0].commands) == 0 &&
            !alarm_is_due(&core_rig.core.matcher.alarm))
            return;
    }
    CHECK(!"everything published becomes durable");
}

/* Sends a signed request and gives its answer's status. */
static uint8_t ask(uint16_t code, const void *body, uint32_t body_bytes, const uint8_t *key,
                   uint32_t key_bytes)
{
    return core_member_act(code, body, body_bytes, key, key_bytes).status;
}

static uint8_t set_state(uint16_t asset, uint8_t state)
{
    uint8_t body[8] = { (uint8_t)asset, 0, 0, 0, state };
    return ask(REQUEST_market_state, body, sizeof body, core_member_operator, 32);
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
    CHECK(ask(REQUEST_deposit_credit, deposit, sizeof deposit, core_member_operator, 32) ==
          STATUS_request_completed);
    for (uint16_t asset = BTC; asset <= ETH; asset++) {
        cc_store64(price, clock_now_ns(&core_rig.clock));
        cc_store64(price + 8, MARK);
        cc_store16(price + 16, asset);
        cc_store16(price + 20, 1); /* source */
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

    engine_effects_lanes(core_rig.core.primary, lanes);
    cc_store64(body, engine_sequence(core_rig.core.primary));
    hash_blake2b256(body + 8, lanes, sizeof lanes);
    CHECK(sequencer_author(&core_rig.core.matcher.sequencer, REQUEST_effects_hash, body,
                           sizeof body, &result));
    settle();
}

/* The states of the markets, asset 1 first; the follower's once it has applied them. */
static bool states_are(const char *states)
{
    for (uint32_t k = 0; k < MARKETS; k++) {
        struct row_market primary, replica;
        read_market(core_rig.core.primary, k, &primary);
        read_market(core_rig.core.replica, k, &replica);
        CHECK(primary.asset_id == k + 1);
        CHECK(primary.state == replica.state ||
              engine_sequence(core_rig.core.replica) < engine_sequence(core_rig.core.primary));
        if (primary.state != (uint8_t)(states[k] - '0'))
            return false;
    }
    return true;
}

/* A read of the follower's is answered. */
static void check_read(void)
{
    struct query *query = ring_claim(&core_rig.links[0].queries, 1);

    CHECK(query != NULL);
    memset(query, 0, sizeof *query);
    query->kind = QUERY_markets;
    query->stamp = journal_durable_seq(core_rig.core.journal);
    ring_publish(&core_rig.links[0].queries);
    CHECK(core_follow(&core_rig.core) >= 0);
    CHECK(ring_ready(&core_rig.links[0].replies) == 1);
    const struct reply *reply = ring_at(&core_rig.links[0].replies, 0);
    CHECK(reply->problem == 0 && reply->row_count == MARKETS);
    reply_pool_free(&core_rig.links[0].pool, reply->buffer);
    ring_release(&core_rig.links[0].replies, 1);
}

/* I6 of one market: the replica counts an order more than there is, which decides nothing else. */
static void plant_in_market(uint32_t index)
{
    struct holding *holding;
    uint32_t at = holding_find(core_rig.core.replica, 1, index);

    CHECK(at != HOLDING_NONE);
    holding = state_holding(core_rig.core.replica, at);
    holding->sides[ORDER_LONG].order_count++;
}

static void unplant(uint32_t index)
{
    uint32_t at = holding_find(core_rig.core.replica, 1, index);

    state_holding(core_rig.core.replica, at)->sides[ORDER_LONG].order_count--;
}

static void test_one_market(void)
{
    rig_make();
    core_rig_start();
    fill();
    checkpoint();
    CHECK(states_are("00000") && core_rig.core.follower.invariants_failed == 0);
    plant_in_market(1);
    checkpoint();
    CHECK(states_are("04000"));
    CHECK(core_rig.core.follower.invariants_failed == 1 << 5);
    CHECK(published_get(&core_rig.core.matcher.alarm.counters.halts) == 1);
    uint64_t sequence = engine_sequence(core_rig.core.primary);
    settle();
    CHECK(engine_sequence(core_rig.core.primary) == sequence); /* said once */
    CHECK(place(ETH) == STATUS_rejected_market_halted);
    CHECK(place(BTC) == STATUS_request_completed); /* its stress of ETH is covered (R4) */
    settle();
    check_read();
    checkpoint(); /* still wrong, halted already */
    CHECK(published_get(&core_rig.core.matcher.alarm.counters.halts) == 1);
    CHECK(set_state(ETH, MARKET_ACTIVE) == STATUS_request_completed);
    CHECK(place(BTC) == STATUS_request_completed);
    settle();
    checkpoint(); /* wrong again behind the operator's opening */
    CHECK(states_are("04000") && published_get(&core_rig.core.matcher.alarm.counters.halts) == 2);
    unplant(1);
    checkpoint();

    core_rig_kill();
    core_rig_start(); /* the journal says it, whatever the replica had */
    settle();
    CHECK(states_are("04000") && core_rig.core.follower.invariants_failed == 0);
    CHECK(set_state(ETH, MARKET_ACTIVE) == STATUS_request_completed);
    CHECK(place(ETH) == STATUS_request_completed);
    settle();
    checkpoint();
    CHECK(states_are("00000") && published_get(&core_rig.core.matcher.alarm.counters.halts) == 0);
    core_rig_kill();
    core_rig_free();
}

/* I2 and I3: money that nobody paid in. */
static void test_all_markets(void)
{
    rig_make();
    core_rig_start();
    fill();
    CHECK(set_state(3, MARKET_HALTED) == STATUS_request_completed);
    settle();
    core_rig.core.replica->deposits++;
    checkpoint();
    CHECK(states_are("44444"));
    CHECK(core_rig.core.follower.invariants_failed == (1 << 1 | 1 << 2));
    CHECK(published_get(&core_rig.core.matcher.alarm.counters.halts) == 1); /* one 1008 */
    uint64_t sequence = engine_sequence(core_rig.core.primary);
    checkpoint();
    CHECK(engine_sequence(core_rig.core.primary) == sequence + 1); /* the 2015 alone */
    check_read();
    core_rig.core.replica->deposits--;
    core_rig_kill();
    core_rig_start();
    settle();
    CHECK(states_are("44444"));
    core_rig_kill();
    core_rig_free();
}

/* I7 and I10 halt their market, I8 all of them: what the watch of the follower found is told after
 * the command. */
static void test_watched(void)
{
    struct watch *watch = &core_rig.core.follower.watch;

    rig_make();
    core_rig_start();
    fill();
    CHECK(!core_rig.core.follower.watches_command);
    checkpoint();
    CHECK(core_rig.core.follower.watches_command); /* I10 of the next one */
    watch->verdict = (struct audit_verdict){ .markets = { 2 }, .failed = 1 << 6 };
    CHECK(place(BTC) == STATUS_request_completed);
    settle();
    CHECK(states_are("04000") && core_rig.core.follower.invariants_failed == 1 << 6);
    CHECK(!core_rig.core.follower.watches_command);
    watch->verdict = (struct audit_verdict){ .failed = 1 << 7, .of_all = true };
    CHECK(place(BTC) == STATUS_request_completed);
    settle();
    CHECK(states_are("44444") && core_rig.core.follower.invariants_failed == (1 << 6 | 1 << 7));
    core_rig_kill();
    core_rig_free();
}

/* The leader of a cluster shows its state, and authors nothing before the vote on it is over. */
static void hold_for_vote(struct hash_vote *vote)
{
    struct sequencer *sequencer = &core_rig.core.matcher.sequencer;
    struct hash_point primary, replica;
    uint64_t authored = published_get(&sequencer->authored);

    sequencer->vote = vote;
    for (int i = 0; i < 3; i++)
        CHECK(core_match(&core_rig.core) == 0 && states_are("00000"));
    CHECK(published_get(&sequencer->authored) == authored);
    CHECK(hash_board_get(&vote->primary, &primary) && primary.sequence == SEQUENCER_HASH_INTERVAL);
    for (int i = 0; i < 16; i++)
        CHECK(core_journal(&core_rig.core) >= 0 && core_follow(&core_rig.core) >= 0);
    CHECK(hash_board_get(&vote->replica, &replica) &&
          memcmp(&primary, &replica, sizeof primary) == 0);
    atomic_store(&vote->agreed, SEQUENCER_HASH_INTERVAL - 1);
    CHECK(core_match(&core_rig.core) == 0);
    atomic_store(&vote->agreed, SEQUENCER_HASH_INTERVAL);
}

/* W3b: the 2015 is the very next command after sequence 65,536, before an alarm too. */
static void test_hash_first(void)
{
    static struct hash_vote vote;
    uint8_t tick[8] = { 0 };
    struct engine_result result;
    struct audit_verdict verdict = { .markets = { 1 }, .failed = 1 << 5 };

    rig_make();
    core_rig_start();
    core_rig.core.follower.vote = &vote;
    fill();
    while (engine_sequence(core_rig.core.primary) % SEQUENCER_HASH_INTERVAL != 0) {
        CHECK(sequencer_author(&core_rig.core.matcher.sequencer, REQUEST_tick, tick, sizeof tick,
                               &result));
        if (engine_sequence(core_rig.core.primary) % 256 == 255)
            while (engine_sequence(core_rig.core.replica) !=
                   engine_sequence(core_rig.core.primary)) {
                CHECK(core_journal(&core_rig.core) >= 0 && core_follow(&core_rig.core) >= 0);
                CHECK(core_prepare(&core_rig.core, clock_monotonic_ns(&core_rig.clock)) >= 0);
            }
    }
    uint64_t authored = published_get(&core_rig.core.matcher.sequencer.authored);
    alarm_raise(&core_rig.core.follower.alarm, &verdict);
    hold_for_vote(&vote);
    CHECK(core_match(&core_rig.core) == 1 && states_are("40000"));
    CHECK(published_get(&core_rig.core.matcher.sequencer.authored) == authored + 2);
    settle();
    CHECK(published_get(&core_rig.core.follower.counters.hashes) == 1);
    core_rig_kill();
    core_rig_free();
}

/* ---- space ----------------------------------------------------------------------------------- */

/* A turn a second later, with a tick that somebody wants. */
static void tick(void)
{
    clock_advance(&core_rig.clock, MATCHER_TICK_NS);
    atomic_store(&core_rig.core.matcher.tick_wanted, true);
    turn();
}

/* Ticks until a condition holds: they fill segments. */
static void tick_until_short(void)
{
    for (int i = 0; i < CORE_RIG_TURNS; i++) {
        tick();
        if (!states_are("00000"))
            return;
    }
    CHECK(!"the markets are closed");
}

static void test_space(void)
{
    rig_make();
    core_rig_start();
    fill();
    /* A rollover leaves one segment ready for a moment: nobody minds. */
    uint64_t segments = journal_counters(core_rig.core.journal).segments;
    for (int i = 0; journal_counters(core_rig.core.journal).segments < segments + 3; i++) {
        CHECK(i < CORE_RIG_TURNS);
        tick();
        CHECK(!alarm_is_due(&core_rig.core.matcher.alarm) && states_are("00000"));
    }
    settle();
    CHECK(set_state(3, MARKET_HALTED) == STATUS_request_completed);
    CHECK(set_state(3, MARKET_ACTIVE) == STATUS_request_completed);
    settle();
    disk_sim_set_full(core_rig.disk, true);
    CHECK(segment_pool_ready(core_rig.core.pool) == 2 &&
          segment_pool_error(core_rig.core.pool) == 0);
    tick_until_short();
    /* The reserve: this one and that just begun. */
    CHECK(segment_pool_ready(core_rig.core.pool) == 1);
    CHECK(segment_pool_error(core_rig.core.pool) == -ENOSPC);
    for (int i = 0; i < 8; i++)
        turn();
    CHECK(states_are("33333") &&
          published_get(&core_rig.core.matcher.alarm.counters.closings) == MARKETS);
    CHECK(place(BTC) == STATUS_rejected_market_cancel_only);
    CHECK(set_state(BTC, MARKET_ACTIVE) == STATUS_request_completed);
    turn(); /* the cause lasts: closed again */
    CHECK(place(BTC) == STATUS_rejected_market_cancel_only);
    disk_sim_set_full(core_rig.disk, false);
    for (int i = 0; i < 40 && segment_pool_error(core_rig.core.pool) != 0; i++) {
        tick();
    }
    settle();
    CHECK(segment_pool_error(core_rig.core.pool) == 0);
    CHECK(states_are("33333")); /* the operator's turn */
    CHECK(set_state(BTC, MARKET_ACTIVE) == STATUS_request_completed);
    settle();
    CHECK(states_are("03333") && place(BTC) == STATUS_request_completed);
    core_rig_kill();
    core_rig_free();
}

/* The log of a cluster has no room: the same, until another thread says that it has. */
static void test_full_log(void)
{
    static _Atomic bool is_full;

    rig_make();
    core_rig_start();
    fill();
    settle();
    alarm_watch_log(&core_rig.core.matcher.alarm, &is_full);
    CHECK(!alarm_is_due(&core_rig.core.matcher.alarm));
    atomic_store(&is_full, true);
    for (int i = 0; i < 8; i++)
        turn();
    CHECK(states_are("33333") &&
          published_get(&core_rig.core.matcher.alarm.counters.closings) == MARKETS);
    CHECK(place(BTC) == STATUS_rejected_market_cancel_only);
    CHECK(set_state(BTC, MARKET_ACTIVE) == STATUS_request_completed);
    turn(); /* the cause lasts: closed again */
    CHECK(place(BTC) == STATUS_rejected_market_cancel_only);
    atomic_store(&is_full, false);
    settle();
    CHECK(states_are("33333")); /* the operator's turn */
    CHECK(set_state(BTC, MARKET_ACTIVE) == STATUS_request_completed);
    settle();
    CHECK(states_are("03333") && !alarm_is_due(&core_rig.core.matcher.alarm));
    CHECK(place(BTC) == STATUS_request_completed);
    core_rig_kill();
    core_rig_free();
}

int main(void)
{
    log_set_descriptor(open("/dev/null", O_WRONLY));
    test_one_market();
    test_all_markets();
    test_watched();
    test_hash_first();
    test_space();
    test_full_log();
    return 0;
}
