/* The orders that a node keeps: two of one account that share an id, because a client gave an order
 * the id that the engine makes for an order of a liquidation (R3). Each keeps its row, whoever asks
 * for the id finds the newer one. */
#include "check.h"
#include "engine/table/order_state.h"
#include "node/history/order_log.h"

enum { CAPACITY = 16, ACCOUNT = 1, LIMIT = 1, LIQUIDATE = 6 };

static struct order_log log_;

static struct order_summary order_of(uint64_t sequence, uint8_t status, uint8_t type)
{
    struct order_summary order = {
        .account_id = ACCOUNT, .sequence = sequence, .status = status, .order_type = type
    };

    memset(order.id.bytes, 0x77, sizeof order.id.bytes);
    return order;
}

static void tell(struct order_summary order, uint64_t sequence)
{
    order_log_append(&log_, &order, sequence);
}

static const struct order_summary *found(void)
{
    struct order_summary any = order_of(0, 0, 0);
    return order_log_find(&log_, ACCOUNT, &any.id);
}

static void open_log(void)
{
    CHECK(order_log_init(&log_, CAPACITY, 4, (struct mix_key){ 1, 2 }) == 0);
}

/* The client's order comes behind the engine's, which is final. */
static void test_behind(void)
{
    open_log();
    tell(order_of(5, ORDER_FILLED, LIQUIDATE), 5);
    CHECK(found() != NULL && found()->order_type == LIQUIDATE);
    tell(order_of(6, ORDER_OPEN, LIMIT), 6);
    CHECK(found() == NULL); /* it lives: the engine knows it */
    tell(order_of(6, ORDER_CANCELED, LIMIT), 9);
    CHECK(found() != NULL && found()->order_type == LIMIT && found()->status == ORDER_CANCELED);
    order_log_free(&log_);
}

/* It was there first, and ends when the engine's has come and gone. */
static void test_before(void)
{
    open_log();
    tell(order_of(5, ORDER_OPEN, LIMIT), 5);
    tell(order_of(6, ORDER_FILLED, LIQUIDATE), 6);
    CHECK(found() != NULL && found()->order_type == LIQUIDATE);
    tell(order_of(5, ORDER_CANCELED, LIMIT), 7);
    CHECK(found() != NULL && found()->order_type == LIQUIDATE);
    const struct order_row *row = history_ring_at(&log_.ring, 0);
    CHECK(row->order.order_type == LIMIT && row->order.status == ORDER_CANCELED);
    order_log_free(&log_);
}

/* Rows that share an id leave the ring one by one. */
static void test_dropped(void)
{
    open_log();
    for (uint64_t i = 1; i <= 3 * CAPACITY; i++) {
        tell(order_of(i, ORDER_FILLED, LIQUIDATE), i);
        CHECK(found() != NULL && found()->sequence == i);
    }
    order_log_free(&log_);
}

int main(void)
{
    test_behind();
    test_before();
    test_dropped();
    return 0;
}
