/* What a client may ask (wire.md W8): buckets by kind and client. Times are made up, numbers worked
 * out from the rates. */
#include <pthread.h>

#include "base/client_rate.h"
#include "check.h"

#define MS    UINT64_C(1000000)
#define START (1000 * MS)

enum { BURST = 200 };

static const struct mix_key hash_key = { 7, 9 };

/* PUBLIC: 100/s, one costs 10 ms; the others: 1/s, two at once. */
static struct client_rate *make(void)
{
    const struct client_rate_limit limits[CLIENT_RATE_KINDS] = {
        [CLIENT_RATE_PUBLIC] = { 100, BURST },
        [CLIENT_RATE_SIGNATURE] = { 1, 2 },
        [CLIENT_RATE_CREATION] = { 1, 2 },
        [CLIENT_RATE_READ] = { 1, 2 },
    };
    struct client_rate *rates;
    CHECK(client_rate_create(&rates, limits, hash_key) == 0);
    return rates;
}

static uint32_t drain(struct client_rate *rates, enum client_rate_kind kind, uint64_t client,
                      uint64_t now_ns)
{
    uint32_t count = 0;
    while (client_rate_take(rates, kind, client, 1, now_ns) == 0)
        count++;
    return count;
}

static bool is_state(const struct client_rate *rates, uint64_t client, uint64_t now_ns,
                     uint32_t remaining, uint32_t reset_s)
{
    struct client_rate_state state = client_rate_state(rates, CLIENT_RATE_PUBLIC, client, now_ns);
    return state.limit == BURST && state.remaining == remaining && state.reset_s == reset_s;
}

static void buckets(void)
{
    struct client_rate *rates = make();
    CHECK(is_state(rates, 1, START, 200, 0));
    CHECK(client_rate_take(rates, CLIENT_RATE_PUBLIC, 1, 1, START) == 0);
    CHECK(is_state(rates, 1, START, 199, 1)); /* full in 10 ms: a second, rounded up */
    CHECK(drain(rates, CLIENT_RATE_PUBLIC, 1, START) == 199);
    CHECK(is_state(rates, 1, START, 0, 2));
    CHECK(client_rate_take(rates, CLIENT_RATE_PUBLIC, 1, 3, START) == 30);
    CHECK(is_state(rates, 1, START + 1000 * MS, 100, 1));
    CHECK(drain(rates, CLIENT_RATE_PUBLIC, 1, START + 50 * MS) == 5);
    CHECK(drain(rates, CLIENT_RATE_PUBLIC, 2, START) == 200); /* another client's */
    CHECK(drain(rates, CLIENT_RATE_READ, 1, START) == 2);     /* another kind's */
    CHECK(drain(rates, CLIENT_RATE_CREATION, 1, START) == 2);
    /* More than a bucket holds costs what it holds. */
    CHECK(client_rate_take(rates, CLIENT_RATE_PUBLIC, 3, UINT32_MAX, START) == 0);
    CHECK(is_state(rates, 3, START, 0, 2));
    CHECK(client_rate_take(NULL, CLIENT_RATE_PUBLIC, 3, 1, START) == 0);
    CHECK(client_rate_state(NULL, CLIENT_RATE_PUBLIC, 3, START).limit == 0);
    client_rate_destroy(rates);
    client_rate_destroy(NULL);
}

/* A row of refusals ends with a token for one who had not waited for it. */
static void refusals(void)
{
    struct client_rate *rates = make();
    CHECK(client_rate_refusals(rates, CLIENT_RATE_PUBLIC, 1) == 0);
    CHECK(drain(rates, CLIENT_RATE_PUBLIC, 1, START) == 200);
    CHECK(client_rate_refusals(rates, CLIENT_RATE_PUBLIC, 1) == 1);
    CHECK(client_rate_take(rates, CLIENT_RATE_PUBLIC, 1, 1, START) == 10);
    CHECK(client_rate_redeem(rates, CLIENT_RATE_PUBLIC, 1, START) == 10);
    CHECK(client_rate_refusals(rates, CLIENT_RATE_PUBLIC, 1) == 2);
    CHECK(client_rate_redeem(rates, CLIENT_RATE_PUBLIC, 1, START + 10 * MS) == 0);
    CHECK(client_rate_refusals(rates, CLIENT_RATE_PUBLIC, 1) == 2);
    CHECK(client_rate_take(rates, CLIENT_RATE_PUBLIC, 1, 1, START + 20 * MS) == 0);
    CHECK(client_rate_refusals(rates, CLIENT_RATE_PUBLIC, 1) == 0);
    CHECK(client_rate_refusals(rates, CLIENT_RATE_PUBLIC, 2) == 0);
    client_rate_destroy(rates);
}

/* A thread whose turn began long ago meets a bucket that others have charged since. */
static void stale_times(void)
{
    struct client_rate *rates = make();
    CHECK(drain(rates, CLIENT_RATE_PUBLIC, 1, START + 9000 * MS) == 200);
    CHECK(client_rate_take(rates, CLIENT_RATE_PUBLIC, 1, 1, START) == 9010);
    uint32_t refusals = client_rate_refusals(rates, CLIENT_RATE_PUBLIC, 1);
    CHECK(client_rate_again(rates, CLIENT_RATE_PUBLIC, 1, 1, START + 9005 * MS) == 5);
    CHECK(client_rate_refusals(rates, CLIENT_RATE_PUBLIC, 1) == refusals);
    CHECK(client_rate_again(rates, CLIENT_RATE_PUBLIC, 1, 1, START + 9010 * MS) == 0);
    CHECK(client_rate_refusals(rates, CLIENT_RATE_PUBLIC, 1) == 0);
    client_rate_destroy(rates);
}

/* Who owes is not forgotten for those who owe less, however many they are. */
static void debts(void)
{
    struct client_rate *rates = make();
    CHECK(drain(rates, CLIENT_RATE_PUBLIC, 1, START) == 200);
    for (uint64_t other = 100; other < 100 + 4 * CLIENT_RATE_ROWS; other++)
        CHECK(client_rate_take(rates, CLIENT_RATE_PUBLIC, other, 1, START) == 0);
    CHECK(client_rate_take(rates, CLIENT_RATE_PUBLIC, 1, 1, START) == 10);
    client_rate_destroy(rates);
}

/* What was done already is owed beyond the bucket: 300 of a full one of 200, so after a second the
 * hundred that were missing are paid, and 10 ms later there is one to take. */
static void owed(void)
{
    struct client_rate *rates = make();
    client_rate_owe(rates, CLIENT_RATE_PUBLIC, 1, 150, START);
    CHECK(is_state(rates, 1, START, 50, 2));
    client_rate_owe(rates, CLIENT_RATE_PUBLIC, 1, 150, START);
    CHECK(is_state(rates, 1, START, 0, 3));
    CHECK(client_rate_take(rates, CLIENT_RATE_PUBLIC, 1, 1, START) == 1010);
    CHECK(client_rate_take(rates, CLIENT_RATE_PUBLIC, 1, 1, START + 1009 * MS) == 1);
    CHECK(client_rate_take(rates, CLIENT_RATE_PUBLIC, 1, 1, START + 1010 * MS) == 0);
    CHECK(client_rate_take(rates, CLIENT_RATE_READ, 1, 1, START) == 0); /* another bucket */
    client_rate_owe(NULL, CLIENT_RATE_PUBLIC, 1, 1, START);
    client_rate_destroy(rates);
}

static void *drain_some(void *context)
{
    uintptr_t total = 0;
    for (uint64_t client = 0; client < 50; client++)
        total += drain(context, CLIENT_RATE_PUBLIC, client, START);
    return (void *)total;
}

/* Together the threads get what one would. */
static void threads(void)
{
    struct client_rate *rates = make();
    pthread_t other;
    void *total;
    for (uint64_t client = 0; client < 50; client++) /* the rows are there */
        CHECK(client_rate_redeem(rates, CLIENT_RATE_PUBLIC, client, START - 10 * MS) == 0);
    CHECK(pthread_create(&other, NULL, drain_some, rates) == 0);
    uintptr_t own = (uintptr_t)drain_some(rates);
    CHECK(pthread_join(other, &total) == 0);
    CHECK(own + (uintptr_t)total == 50 * BURST);
    client_rate_destroy(rates);
}

int main(void)
{
    buckets();
    refusals();
    stale_times();
    debts();
    owed();
    for (int i = 0; i < 20; i++)
        threads();
    return 0;
}
