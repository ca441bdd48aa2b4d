/* How long a start would take, and writes that slow down (roles.md, Bounded start). Times are made
 * up; what is expected is worked out from the rule: the time that the commands above the snapshot
 * took, one halving a second while that is above the target, none at or below it. */
#include "base/log.h"
#include "check.h"
#include "node/serve/restart_bound.h"

#define MS UINT64_C(1000000)
#define S  (1000 * MS)

static struct published snapshot;
static struct restart_bound bound;

static void begin(struct account_rate *rates)
{
    published_set(&snapshot, 0);
    bound = (struct restart_bound){ .snapshot = &snapshot, .rates = rates, .target_ns = 10 * S };
}

static uint64_t estimate_ms(void)
{
    return published_get(&bound.estimate_ns) / MS;
}

/* The start replayed 5,000 commands in 4 s, then 3,000 more took 1 ms each. */
static void estimates(void)
{
    uint64_t now_ns = 100 * S;

    begin(NULL);
    published_set(&snapshot, 1000);
    restart_bound_begin(&bound, 1000, 6000, 4 * S);
    restart_bound_step(&bound, now_ns);
    CHECK(estimate_ms() == 4000);
    for (uint64_t sequence = 6001; sequence <= 9000; sequence++)
        restart_bound_add(&bound, sequence, MS);
    restart_bound_step(&bound, now_ns + S - 1);
    CHECK(estimate_ms() == 4000); /* once a second */
    restart_bound_step(&bound, now_ns += S);
    CHECK(estimate_ms() == 7000);

    /* A snapshot of 8,000: what is left are 1,000 ms, and less than two marks' distance more. */
    published_set(&snapshot, 8000);
    restart_bound_step(&bound, now_ns += S);
    CHECK(estimate_ms() >= 1000 && estimate_ms() < 1000 + 1100);
    published_set(&snapshot, 9000);
    restart_bound_step(&bound, now_ns += S);
    CHECK(estimate_ms() < 1100);
    CHECK(published_get(&bound.halvings) == 0);
}

/* However many commands come, the marks do not grow, and the error stays small beside the tail. */
static void many(void)
{
    enum { TURN = 100, TURNS = 200000 };
    uint64_t sequence = 0;

    begin(NULL);
    restart_bound_begin(&bound, 0, 0, 0);
    for (int i = 0; i < TURNS; i++)
        restart_bound_add(&bound, sequence += TURN, TURN * UINT64_C(1000)); /* 1 us each */
    CHECK(bound.count <= RESTART_BOUND_MARKS);
    restart_bound_step(&bound, S);
    CHECK(estimate_ms() == 20000); /* 2 * 10^7 us */
    published_set(&snapshot, sequence / 2);
    restart_bound_step(&bound, 2 * S);
    CHECK(estimate_ms() >= 10000 && estimate_ms() < 10000 + 20000 / 256);
}

/* 1/2, 1/4, 1/8, 1/16, and no less; all again when a snapshot has been made. */
static void halvings(void)
{
    static const uint64_t writes[] = { 64, 32, 16, 8, 4, 4, 4 };
    const struct account_rate_limits limits = { 8, 10, 64, 1000000, 1000000 };
    struct account_rate *rates;
    uint64_t now_ns = 100 * S;

    CHECK(account_rate_create(&rates, &limits) == 0);
    begin(rates);
    restart_bound_begin(&bound, 0, 4096, 10 * S);
    restart_bound_step(&bound, now_ns);
    CHECK(account_rate_remaining(rates, 1, ACCOUNT_RATE_WRITE, now_ns) == 64); /* not above */
    restart_bound_add(&bound, 4097, 1);
    for (size_t i = 1; i < CC_COUNT(writes); i++) {
        restart_bound_step(&bound, now_ns += S);
        restart_bound_step(&bound, now_ns + S / 2); /* once a second */
        CHECK(account_rate_remaining(rates, 1, ACCOUNT_RATE_WRITE, now_ns) == writes[i]);
        CHECK(account_rate_remaining(rates, 1, ACCOUNT_RATE_CANCEL, now_ns) == 128);
    }
    published_set(&snapshot, 4097);
    restart_bound_step(&bound, now_ns += S);
    CHECK(estimate_ms() == 0);
    CHECK(account_rate_remaining(rates, 1, ACCOUNT_RATE_WRITE, now_ns) == 64);
    account_rate_destroy(rates);
}

/* Nothing is estimated before a snapshot's place is known. */
static void without(void)
{
    bound = (struct restart_bound){ .target_ns = 1 };
    restart_bound_add(&bound, 5000, S);
    restart_bound_step(&bound, 100 * S);
    CHECK(estimate_ms() == 0 && published_get(&bound.halvings) == 0);
}

int main(void)
{
    log_set_level(LOG_NOTHING);
    estimates();
    many();
    halvings();
    without();
    return 0;
}
