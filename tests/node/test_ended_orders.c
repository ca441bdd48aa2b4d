/* Ended orders: the newest are found, the oldest are dropped, and a dropped one is never denied. */
#include "check.h"
#include "node/history/ended_orders.h"

enum { CAPACITY = 64, ORDERS = 1000 };

static const struct mix_key key = { 0x0123456789abcdef, 0xfedcba9876543210 };

static struct uuid id_of(uint64_t number)
{
    uint8_t random[10] = { 0 };
    cc_store64(random, number);
    return uuid_make_v7(1755582431232 + number, random);
}

static struct order_summary order_of(uint64_t number)
{
    return (struct order_summary){ .account_id = number % 7, .id = id_of(number), .price = number };
}

static void check_newest(void)
{
    struct ended_orders *ended = ended_orders_create(CAPACITY, key);
    CHECK(ended != NULL);
    for (uint64_t n = 0; n < ORDERS; n++) {
        struct order_summary order = order_of(n);
        ended_orders_add(ended, &order);
        /* Every one of the newest CAPACITY is found with its own row, no older one is. */
        for (uint64_t m = n >= 2 * CAPACITY ? n - 2 * CAPACITY : 0; m <= n; m++) {
            struct uuid id = id_of(m);
            const struct order_summary *found = ended_orders_find(ended, m % 7, &id);
            CHECK((found != NULL) == (n - m < CAPACITY));
            CHECK(found == NULL || found->price == m);
            CHECK(ended_orders_find(ended, m % 7 + 1, &id) == NULL); /* another account's */
        }
    }
    CHECK(ended_orders_count(ended) == CAPACITY);
    ended_orders_destroy(ended);
}

static void check_dropped(void)
{
    struct ended_orders *ended = ended_orders_create(CAPACITY, key);
    struct uuid unknown = id_of(3), later = id_of(5);
    unknown.bytes[15] ^= 1; /* same date, never an order */

    for (uint64_t n = 0; n < CAPACITY; n++) {
        struct order_summary order = order_of(n);
        ended_orders_add(ended, &order);
    }
    CHECK(!ended_orders_may_have_dropped(ended,
                                         &unknown)); /* nothing was dropped: it is a true 404 */
    for (uint64_t n = CAPACITY; n < CAPACITY + 4; n++) {
        struct order_summary order = order_of(n);
        ended_orders_add(ended, &order);
    }
    /* Numbers 0 to 3 were dropped: an id dated at or before number 3 may have been one of them. */
    CHECK(ended_orders_may_have_dropped(ended, &unknown));
    CHECK(!ended_orders_may_have_dropped(ended, &later));
    ended_orders_destroy(ended);
}

static void check_replaced(void)
{
    struct ended_orders *ended = ended_orders_create(CAPACITY, key);
    struct order_summary order = order_of(1);
    ended_orders_add(ended, &order);
    order.price = 99;
    ended_orders_add(ended, &order);
    CHECK(ended_orders_count(ended) == 1);
    CHECK(ended_orders_find(ended, order.account_id, &order.id)->price == 99);
    ended_orders_destroy(ended);
}

int main(void)
{
    check_newest();
    check_dropped();
    check_replaced();
    return 0;
}
