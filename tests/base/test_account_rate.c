/* What an account may have executed (wire.md W8): writes, and twice as many cancels and reductions,
 * in buckets of their own; all accounts together; placements that are refused. Times are made up,
 * numbers worked out from the rates. */
#include <pthread.h>

#include "base/account_rate.h"
#include "check.h"

#define MS    UINT64_C(1000000)
#define START (1000 * MS)

enum { ACCOUNTS = 8, WRITES_S = 10, BURST = 64 };

static struct account_rate *make(void)
{
    struct account_rate *rates;
    const struct account_rate_limits limits = { ACCOUNTS, WRITES_S, BURST, 1000000, 1000000 };
    CHECK(account_rate_create(&rates, &limits) == 0);
    return rates;
}

/* Takes single tokens until there is none. */
static uint32_t drain(struct account_rate *rates, uint64_t account, enum account_rate_kind kind,
                      uint64_t now_ns)
{
    uint32_t count = 0;
    while (account_rate_take(rates, account, kind, 1, now_ns) == 0)
        count++;
    return count;
}

/* 10/s: one costs 100 ms; of cancels 50 ms. */
static void buckets(void)
{
    struct account_rate *rates = make();
    CHECK(account_rate_remaining(rates, 1, ACCOUNT_RATE_WRITE, START) == 64);
    CHECK(account_rate_remaining(rates, 1, ACCOUNT_RATE_CANCEL, START) == 128);
    CHECK(drain(rates, 1, ACCOUNT_RATE_WRITE, START) == 64);
    CHECK(account_rate_take(rates, 1, ACCOUNT_RATE_WRITE, 1, START) == 100);
    CHECK(account_rate_take(rates, 1, ACCOUNT_RATE_WRITE, 1, START + 30 * MS) == 70);
    CHECK(account_rate_take(rates, 1, ACCOUNT_RATE_WRITE, 3, START) == 300);
    CHECK(account_rate_remaining(rates, 1, ACCOUNT_RATE_WRITE, START) == 0);
    CHECK(drain(rates, 1, ACCOUNT_RATE_CANCEL, START) == 128); /* the other bucket is whole */
    CHECK(account_rate_take(rates, 1, ACCOUNT_RATE_CANCEL, 1, START) == 50);
    CHECK(drain(rates, 2, ACCOUNT_RATE_WRITE, START) == 64); /* and another account's */

    /* What was refused has taken nothing; a pause gives no more than the burst. */
    CHECK(account_rate_take(rates, 1, ACCOUNT_RATE_WRITE, 1, START + 100 * MS) == 0);
    CHECK(account_rate_take(rates, 1, ACCOUNT_RATE_WRITE, 1, START + 100 * MS) == 100);
    CHECK(account_rate_remaining(rates, 1, ACCOUNT_RATE_WRITE, START + 600 * MS) == 5);
    CHECK(drain(rates, 1, ACCOUNT_RATE_WRITE, START + 1000000 * MS) == 64);
    CHECK(account_rate_take(rates, 1, ACCOUNT_RATE_WRITE, 64, START + 1006400 * MS) == 0);
    account_rate_destroy(rates);
    account_rate_destroy(NULL);
    CHECK(account_rate_take(NULL, 1, ACCOUNT_RATE_WRITE, 1, START) == 0); /* no limit */
}

/* A thread whose time is behind another's finds less, never more. */
static void clocks_apart(void)
{
    struct account_rate *rates = make();
    CHECK(drain(rates, 1, ACCOUNT_RATE_WRITE, START + 5 * MS) == 64);
    CHECK(account_rate_remaining(rates, 1, ACCOUNT_RATE_WRITE, START) == 0);
    CHECK(account_rate_take(rates, 1, ACCOUNT_RATE_WRITE, 1, START) == 105);
    account_rate_destroy(rates);
}

/* All accounts together have 100 at once and 20/s, one each 50 ms, of writes and cancels alike. A
 * period is 5 s. The first three quarters are for whoever comes; of the other 25 an account has one
 * more while twice what it has taken is less than what is left. */
static void total(void)
{
    const struct account_rate_limits limits = { ACCOUNTS, WRITES_S, BURST, 20, 100 };
    const uint64_t begin = 1000000 * MS; /* of a period */
    struct account_rate *rates;
    CHECK(account_rate_create(&rates, &limits) == 0);
    CHECK(drain(rates, 1, ACCOUNT_RATE_WRITE, begin) == 64);
    CHECK(drain(rates, 2, ACCOUNT_RATE_CANCEL, begin) == 12); /* 36 were left, now 24: 2 * 12 */
    CHECK(drain(rates, 3, ACCOUNT_RATE_WRITE, begin) == 8);   /* 16: 2 * 8 */
    CHECK(drain(rates, 4, ACCOUNT_RATE_WRITE, begin) == 6);   /* 10 */
    /* 25 are left in 15 * 50 ms, more than 12 in just over 100 ms; the next period is in 5 s. */
    CHECK(account_rate_take(rates, 1, ACCOUNT_RATE_CANCEL, 1, begin) == 750);
    CHECK(account_rate_take(rates, 4, ACCOUNT_RATE_WRITE, 1, begin) == 101);
    CHECK(account_rate_take(rates, 4, ACCOUNT_RATE_WRITE, 1, begin + 100 * MS) == 1);
    CHECK(account_rate_take(rates, 4, ACCOUNT_RATE_WRITE, 1, begin + 101 * MS) == 0);

    /* 11.02 are left: who has taken none gets 11 of them at once, and not 12. */
    CHECK(account_rate_take(rates, 5, ACCOUNT_RATE_WRITE, 12, begin + 101 * MS) == 49);
    /* What the total refuses has cost the account nothing. */
    CHECK(account_rate_remaining(rates, 5, ACCOUNT_RATE_WRITE, begin + 101 * MS) == 64);
    CHECK(account_rate_remaining(rates, 1, ACCOUNT_RATE_CANCEL, begin + 101 * MS) == 128);
    CHECK(account_rate_take(rates, 5, ACCOUNT_RATE_WRITE, 11, begin + 101 * MS) == 0);
    CHECK(account_rate_take(rates, 6, ACCOUNT_RATE_WRITE, 1, begin + 101 * MS) == 49);

    /* With the period all begin anew: 98 are left. */
    CHECK(account_rate_take(rates, 1, ACCOUNT_RATE_CANCEL, 64, begin + 5000 * MS) == 0);
    CHECK(drain(rates, 1, ACCOUNT_RATE_CANCEL, begin + 5000 * MS) == 10); /* 24 are left */
    account_rate_destroy(rates);
}

/* More than half of the last 256 placements refused: each refusal costs two writes more, whether
 * the bucket holds them or not. */
static void careless(void)
{
    struct account_rate *rates = make();
    for (unsigned i = 0; i < 128; i++)
        account_rate_judge(rates, 1, 1, 1, START);
    CHECK(account_rate_remaining(rates, 1, ACCOUNT_RATE_WRITE, START) == 64); /* half is not more */
    account_rate_judge(rates, 1, 1, 0, START);
    CHECK(account_rate_remaining(rates, 1, ACCOUNT_RATE_WRITE, START) == 64);
    account_rate_judge(rates, 1, 1, 1, START); /* the 129th */
    CHECK(account_rate_remaining(rates, 1, ACCOUNT_RATE_WRITE, START) == 62);
    account_rate_judge(rates, 1, 0xf0, 0x30, START); /* of four of a batch two */
    CHECK(account_rate_remaining(rates, 1, ACCOUNT_RATE_WRITE, START) == 58);
    account_rate_judge(rates, 1, 0, 1, START); /* no placement */
    CHECK(account_rate_remaining(rates, 1, ACCOUNT_RATE_WRITE, START) == 58);
    CHECK(account_rate_remaining(rates, 2, ACCOUNT_RATE_WRITE, START) == 64);
    CHECK(drain(rates, 1, ACCOUNT_RATE_WRITE, START) == 58);
    account_rate_judge(rates, 1, 1, 1, START);
    CHECK(account_rate_take(rates, 1, ACCOUNT_RATE_WRITE, 1, START) == 300); /* 2 owed, and one */
    CHECK(account_rate_remaining(rates, 1, ACCOUNT_RATE_CANCEL, START) == 128);

    /* 256 good ones are all that counts then. */
    for (unsigned i = 0; i < 256; i++)
        account_rate_judge(rates, 1, 1, 0, START + 100000 * MS);
    account_rate_judge(rates, 1, 1, 1, START + 100000 * MS);
    CHECK(account_rate_remaining(rates, 1, ACCOUNT_RATE_WRITE, START + 100000 * MS) == 64);
    account_rate_judge(NULL, 1, 1, 1, START);
    account_rate_destroy(rates);
}

static void *drain_all(void *context)
{
    uintptr_t total = 0;
    for (uint64_t account = 0; account < ACCOUNTS; account++)
        total += drain(context, account, ACCOUNT_RATE_WRITE, START);
    return (void *)total;
}

/* Together the threads get what one would. */
static void threads(void)
{
    struct account_rate *rates = make();
    pthread_t other;
    void *total;
    CHECK(pthread_create(&other, NULL, drain_all, rates) == 0);
    uintptr_t own = (uintptr_t)drain_all(rates);
    CHECK(pthread_join(other, &total) == 0);
    CHECK(own + (uintptr_t)total == ACCOUNTS * BURST);
    account_rate_destroy(rates);
}

/* An unfunded account has 10/s and 20 at once, and twice that of cancels, or less where all have
 * less. What costs more than it can hold waits until the bucket is full and owes the rest. */
static void unfunded(void)
{
    const struct account_rate_limits limits = { ACCOUNTS, 1000, 2000, 1000000, 1000000 };
    struct account_rate *rates;
    CHECK(account_rate_create(&rates, &limits) == 0);
    account_rate_set_unfunded(rates, 1, true);
    CHECK(account_rate_remaining(rates, 1, ACCOUNT_RATE_WRITE, START) == 20);
    CHECK(account_rate_remaining(rates, 2, ACCOUNT_RATE_WRITE, START) == 2000);
    CHECK(drain(rates, 1, ACCOUNT_RATE_WRITE, START) == 20);
    CHECK(account_rate_take(rates, 1, ACCOUNT_RATE_WRITE, 1, START) == 100);
    CHECK(drain(rates, 1, ACCOUNT_RATE_CANCEL, START) == 40);
    CHECK(account_rate_take(rates, 1, ACCOUNT_RATE_CANCEL, 1, START) == 50);
    CHECK(account_rate_take(rates, 1, ACCOUNT_RATE_WRITE, 64, START + 500 * MS) == 1500);
    CHECK(account_rate_take(rates, 1, ACCOUNT_RATE_WRITE, 64, START + 2000 * MS) == 0);
    CHECK(account_rate_remaining(rates, 1, ACCOUNT_RATE_WRITE, START + 2000 * MS) == 0);
    CHECK(account_rate_take(rates, 1, ACCOUNT_RATE_WRITE, 1, START + 2000 * MS) == 4500);
    account_rate_set_unfunded(rates, 1, false);
    CHECK(account_rate_remaining(rates, 1, ACCOUNT_RATE_WRITE, START + 8400 * MS) == 2000);
    account_rate_set_unfunded(NULL, 1, true); /* no limit */
    account_rate_destroy(rates);

    const struct account_rate_limits low = { ACCOUNTS, 2, 5, 1000000, 1000000 };
    CHECK(account_rate_create(&rates, &low) == 0);
    account_rate_set_unfunded(rates, 1, true);
    CHECK(drain(rates, 1, ACCOUNT_RATE_WRITE, START) == 5);
    CHECK(account_rate_take(rates, 1, ACCOUNT_RATE_WRITE, 1, START) == 500);
    account_rate_destroy(rates);
}

/* roles.md, Bounded start: 10/s and 64 at once, halved: 5/s and 32; four times: 0.625/s and 4.
 * Cancels stay as they are, and so does the time in which a bucket fills. */
static void slowed(void)
{
    struct account_rate *rates = make();

    CHECK(account_rate_halvings(rates) == 0 && account_rate_halvings(NULL) == 0);
    account_rate_slow(rates, 1);
    CHECK(account_rate_remaining(rates, 1, ACCOUNT_RATE_WRITE, START) == 32);
    CHECK(drain(rates, 1, ACCOUNT_RATE_WRITE, START) == 32);
    CHECK(account_rate_take(rates, 1, ACCOUNT_RATE_WRITE, 1, START) == 200);
    CHECK(drain(rates, 1, ACCOUNT_RATE_CANCEL, START) == 128);
    account_rate_slow(rates, ACCOUNT_RATE_HALVINGS_MAX);
    CHECK(account_rate_halvings(rates) == 4);
    CHECK(drain(rates, 2, ACCOUNT_RATE_WRITE, START) == 4);
    CHECK(account_rate_take(rates, 2, ACCOUNT_RATE_WRITE, 1, START) == 1600);
    CHECK(account_rate_take(rates, 2, ACCOUNT_RATE_CANCEL, 1, START) == 0);
    account_rate_slow(rates, 0); /* 6.4 s to fill, of which 6.4 s are used up */
    CHECK(account_rate_take(rates, 2, ACCOUNT_RATE_WRITE, 1, START) == 100);
    CHECK(account_rate_remaining(rates, 2, ACCOUNT_RATE_WRITE, START + 6400 * MS) == 64);
    account_rate_slow(NULL, 1); /* no limit */
    account_rate_destroy(rates);
}

int main(void)
{
    buckets();
    clocks_apart();
    total();
    careless();
    unfunded();
    slowed();
    for (int i = 0; i < 20; i++)
        threads();
    return 0;
}
