/* exchange.restart=staged (rules.md R9): CANCEL_ONLY at the start, POST_ONLY 10 s later, the former
 * state 10 s later; who takes part, who leaves, and a start in between (roles.md, Staged start). */
#include "check.h"
#include "engine/view/read.h"
#include "node/core_member.h"

enum { BTC = 1, ETH, SOL, XRP, DOGE, MARKETS = 5 };
enum { ACTIVE, POST_ONLY, REDUCE_ONLY, CANCEL_ONLY, HALTED };

#define TURNS_PER_S 10 /* core_rig.h: 100 ms a turn */

/* States by asset id, of which read_market_state gives the k-th. */
static bool states_are(uint8_t btc, uint8_t eth, uint8_t sol, uint8_t xrp, uint8_t doge)
{
    const uint8_t want[MARKETS] = { btc, eth, sol, xrp, doge };

    for (uint32_t k = 0; k < MARKETS; k++)
        if (read_market_state(core_rig.core.primary, k) != want[k] ||
            read_market_state(core_rig.core.replica, k) != want[k])
            return false;
    return true;
}

/* A 1002 or 1008 of the operator. */
static void operator_sets(uint16_t code, uint16_t asset, uint8_t state)
{
    uint8_t body[8] = { 0 };

    if (code == REQUEST_market_state) {
        cc_store16(body, asset);
        body[4] = state;
    } else {
        body[0] = state;
    }
    (void)core_member_send(
        &(struct core_member_request){ code, body, sizeof body, core_member_operator, 32, NULL });
    core_rig_run(1);
}

/* A directory whose markets were given five states. */
static void prepare(void)
{
    core_rig_make();
    core_rig.is_staged = true;
    core_rig_start(); /* new markets: nothing was interrupted */
    core_rig_run(1);
    CHECK(states_are(ACTIVE, ACTIVE, ACTIVE, ACTIVE, ACTIVE));
    operator_sets(REQUEST_market_state, ETH, POST_ONLY);
    operator_sets(REQUEST_market_state, SOL, REDUCE_ONLY);
    operator_sets(REQUEST_market_state, XRP, CANCEL_ONLY);
    operator_sets(REQUEST_market_state, DOGE, HALTED);
    core_rig_kill();
}

static void three_steps(void)
{
    prepare();
    core_rig_start();
    core_rig_run(1); /* at 0 s: a client's first command finds every market closed */
    CHECK(states_are(CANCEL_ONLY, CANCEL_ONLY, CANCEL_ONLY, CANCEL_ONLY, HALTED));
    core_rig_run(98);
    CHECK(states_are(CANCEL_ONLY, CANCEL_ONLY, CANCEL_ONLY, CANCEL_ONLY, HALTED));
    core_rig_run(2); /* POST_ONLY would let into SOL what REDUCE_ONLY keeps out */
    CHECK(states_are(POST_ONLY, POST_ONLY, CANCEL_ONLY, CANCEL_ONLY, HALTED));
    core_rig_run(98);
    CHECK(states_are(POST_ONLY, POST_ONLY, CANCEL_ONLY, CANCEL_ONLY, HALTED));
    core_rig_run(2);
    CHECK(states_are(ACTIVE, POST_ONLY, REDUCE_ONLY, CANCEL_ONLY, HALTED));

    /* What is set later is meant, however soon the next start comes. */
    operator_sets(REQUEST_market_state, BTC, CANCEL_ONLY);
    core_rig_kill();
    core_rig_start();
    core_rig_run(21 * TURNS_PER_S);
    CHECK(states_are(CANCEL_ONLY, POST_ONLY, REDUCE_ONLY, CANCEL_ONLY, HALTED));
    core_rig_kill();
    core_rig_free();
}

/* A start within the 20 s, in either step, begins anew and ends with the first's states. */
static void starts_in_between(void)
{
    prepare();
    core_rig_start();
    core_rig_run(5 * TURNS_PER_S);
    core_rig_kill();
    core_rig_start();
    core_rig_run(12 * TURNS_PER_S);
    CHECK(states_are(POST_ONLY, POST_ONLY, CANCEL_ONLY, CANCEL_ONLY, HALTED));
    core_rig_kill();
    core_rig_start();
    core_rig_run(1);
    CHECK(states_are(CANCEL_ONLY, CANCEL_ONLY, CANCEL_ONLY, CANCEL_ONLY, HALTED));
    core_rig_run(21 * TURNS_PER_S);
    CHECK(states_are(ACTIVE, POST_ONLY, REDUCE_ONLY, CANCEL_ONLY, HALTED));
    core_rig_kill();

    /* Without its file, and with `resume`, they stay. */
    core_rig_start();
    core_rig_run(5 * TURNS_PER_S);
    core_rig_kill();
    int file = disk_open(core_rig.disk, "restart", 0);
    CHECK(file >= 0);
    CHECK(disk_write(core_rig.disk, file, 50, "x", 1) == 0);
    disk_close(core_rig.disk, file);
    core_rig_start();
    core_rig_run(21 * TURNS_PER_S);
    CHECK(states_are(CANCEL_ONLY, CANCEL_ONLY, CANCEL_ONLY, CANCEL_ONLY, HALTED));
    core_rig_kill();
    core_rig.is_staged = false;
    core_rig_start();
    core_rig_run(21 * TURNS_PER_S);
    CHECK(states_are(CANCEL_ONLY, CANCEL_ONLY, CANCEL_ONLY, CANCEL_ONLY, HALTED));
    core_rig_kill();
    core_rig_free();
}

/* A file that only its checksum gives away, and one of another exchange: its markets keep their
 * states. */
static void foreign_files(void)
{
    enum { STATE_OF_FIRST_AT = 58 };
    struct staged_restart stage = { .count = 1,
                                    .markets = { { .asset_id = BTC, .former = ACTIVE } } };
    uint8_t other_id[32], state = POST_ONLY;

    for (int how = 0; how < 2; how++) {
        prepare();
        core_rig_start();
        core_rig_run(5 * TURNS_PER_S);
        memcpy(other_id, core_rig.core.exchange.exchange_id, sizeof other_id);
        core_rig_kill();
        if (how == 0) {
            int file = disk_open(core_rig.disk, "restart", DISK_WRITE);
            CHECK(file >= 0);
            CHECK(disk_write(core_rig.disk, file, STATE_OF_FIRST_AT, &state, 1) == 0);
            disk_close(core_rig.disk, file);
        } else {
            other_id[31] ^= 1;
            stage.began_ns = clock_now_ns(&core_rig.clock);
            CHECK(staged_restart_store(&stage, core_rig.disk, other_id) == 0);
        }
        core_rig_start();
        core_rig_run(21 * TURNS_PER_S);
        CHECK(states_are(CANCEL_ONLY, CANCEL_ONLY, CANCEL_ONLY, CANCEL_ONLY, HALTED));
        core_rig_kill();
        core_rig_free();
    }
}

static uint64_t doubts(void)
{
    return published_get(&core_rig.core.matcher.staged_restart.doubts);
}

/* Without the file nobody knows what an unfinished start's markets were: they stay closed, and the
 * alarm is on until the operator has judged each. `how`: the file is gone, or another byte. */
static void lost_files(void)
{
    for (int how = 0; how < 2; how++) {
        prepare();
        core_rig_start();
        CHECK(doubts() == 0); /* the first start wrote a file of no market */
        core_rig_run(5 * TURNS_PER_S);
        core_rig_kill();
        int file = how == 0 ? disk_remove(core_rig.disk, "restart")
                            : disk_open(core_rig.disk, "restart", DISK_WRITE);
        CHECK(file >= 0);
        if (how == 1) {
            CHECK(disk_write(core_rig.disk, file, 50, "x", 1) == 0);
            disk_close(core_rig.disk, file);
        }
        core_rig_start();
        CHECK(doubts() == 4);
        core_rig_run(21 * TURNS_PER_S);
        CHECK(states_are(CANCEL_ONLY, CANCEL_ONLY, CANCEL_ONLY, CANCEL_ONLY, HALTED));
        CHECK(doubts() == 4);
        operator_sets(REQUEST_market_state, BTC, ACTIVE);
        operator_sets(REQUEST_market_state, XRP, CANCEL_ONLY); /* its own state is an answer too */
        CHECK(doubts() == 2);
        operator_sets(REQUEST_halt_all, 0, ACTIVE);
        CHECK(doubts() == 0);
        core_rig_kill();
        core_rig_free();
    }
}

/* The operator's word stands, also where it changes nothing, and where it opens. */
static void operators_judge(void)
{
    prepare();
    core_rig_start();
    core_rig_run(1);
    operator_sets(REQUEST_market_state, BTC, CANCEL_ONLY);
    operator_sets(REQUEST_market_state, ETH, ACTIVE);
    core_rig_run(21 * TURNS_PER_S);
    CHECK(states_are(CANCEL_ONLY, ACTIVE, REDUCE_ONLY, CANCEL_ONLY, HALTED));
    core_rig_kill();
    core_rig_start();
    core_rig_run(11 * TURNS_PER_S);
    CHECK(states_are(CANCEL_ONLY, POST_ONLY, CANCEL_ONLY, CANCEL_ONLY, HALTED));
    operator_sets(REQUEST_halt_all, 0, POST_ONLY);
    core_rig_run(21 * TURNS_PER_S);
    CHECK(states_are(POST_ONLY, POST_ONLY, POST_ONLY, POST_ONLY, POST_ONLY));
    core_rig_kill();
    core_rig_free();
}

int main(void)
{
    three_steps();
    starts_in_between();
    foreign_files();
    lost_files();
    operators_judge();
    return 0;
}
