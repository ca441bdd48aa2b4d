/* address_claims: an address never has more claims than it may, whichever threads make them; other
 * addresses do not count. */
#include <pthread.h>

#include "base/address_claims.h"
#include "check.h"

enum { THREADS = 4, SLOTS_EACH = 8, MOST = 5, ROUNDS = 20000 };

static struct address_claims claims;
static _Atomic int held, highest; /* claims of the shared address, as their owners know them */

static void drop(uint32_t slot)
{
    atomic_fetch_sub(&held, 1);
    address_claims_drop(&claims, slot);
}

static void *run(void *number)
{
    uint32_t base = *(uint32_t *)number * SLOTS_EACH;
    bool mine[SLOTS_EACH] = { false };
    for (uint32_t round = 0; round < ROUNDS; round++) {
        uint32_t slot = round % SLOTS_EACH;
        if (slot == 0) { /* rows change hands meanwhile */
            CHECK(address_claims_add(&claims, base, 100 + round % 50, THREADS) > 0);
            address_claims_drop(&claims, base);
        } else if (mine[slot]) {
            drop(base + slot);
            mine[slot] = false;
        } else if (address_claims_add(&claims, base + slot, 42, MOST) > 0) {
            int now = atomic_fetch_add(&held, 1) + 1;
            int before = atomic_load(&highest);
            while (before < now && !atomic_compare_exchange_weak(&highest, &before, now))
                ;
            mine[slot] = true;
        }
    }
    for (uint32_t slot = 0; slot < SLOTS_EACH; slot++)
        if (mine[slot])
            drop(base + slot);
    return NULL;
}

/* Of many addresses in few rows: rows are other addresses' again and again, and each count is that
 * of the claims that a plain list has. */
static void counts_are_those_of_a_list(void)
{
    enum { SLOTS = 256, ADDRESSES = 200, STEPS = 200000 };
    uint64_t address_of[SLOTS];
    bool taken[SLOTS] = { false };
    uint32_t random = 1;
    struct address_claims many = { 0 };
    CHECK(address_claims_init(&many, SLOTS, (struct mix_key){ 7, 11 }) == 0);
    for (uint32_t step = 0; step < STEPS; step++) {
        random = random * 1664525 + 1013904223;
        uint32_t slot = random >> 24;
        uint64_t address = (uint64_t)(random >> 4) % ADDRESSES * (step / 50000 + 1);
        if (taken[slot]) {
            address = address_of[slot];
            address_claims_drop(&many, slot);
        } else {
            address_of[slot] = address;
        }
        taken[slot] = !taken[slot];
        uint32_t expected = 0;
        for (uint32_t i = 0; i < SLOTS; i++)
            expected += taken[i] && address_of[i] == address;
        if (taken[slot])
            CHECK(address_claims_add(&many, slot, address, SLOTS) == expected);
    }
    address_claims_free(&many);
}

int main(void)
{
    pthread_t threads[THREADS];
    uint32_t numbers[THREADS];

    CHECK(address_claims_init(&claims, THREADS * SLOTS_EACH, (struct mix_key){ 3, 5 }) == 0);
    CHECK(address_claims_add(&claims, 3, 0, 2) == 1); /* 0 is an address: that of ::1 */
    CHECK(address_claims_add(&claims, 30, 0, 2) == 2);
    CHECK(address_claims_add(&claims, 9, 0, 2) == 0);
    CHECK(address_claims_add(&claims, 9, 1, 2) == 1); /* the refused slot is free */
    CHECK(address_claims_add(&claims, 31, 0, 2) == 0);
    address_claims_drop(&claims, 3);
    CHECK(address_claims_add(&claims, 31, 0, 2) == 2);
    CHECK(address_claims_add(&claims, 0, 7, 0) == 0);
    address_claims_drop(&claims, 30);
    address_claims_drop(&claims, 31);
    address_claims_drop(&claims, 9);

    for (uint32_t i = 0; i < THREADS; i++) {
        numbers[i] = i;
        CHECK(pthread_create(&threads[i], NULL, run, &numbers[i]) == 0);
    }
    for (uint32_t i = 0; i < THREADS; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
    CHECK(highest >= 1 && highest <= MOST);
    for (uint32_t slot = 0; slot < MOST; slot++) /* nothing was left behind */
        CHECK(address_claims_add(&claims, slot, 42, MOST) == slot + 1);
    CHECK(address_claims_add(&claims, MOST, 42, MOST) == 0);
    address_claims_free(&claims);
    counts_are_those_of_a_list();
    return 0;
}
