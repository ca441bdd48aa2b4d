/* The ended orders that a node keeps in memory: two of one account that share an id, because a
 * client gave an order the id that the engine makes for an order of a liquidation (R3); places of
 * orders that one command placed; ids that no request has. */
#include "check.h"
#include "engine/table/order_state.h"
#include "node/history/order_log.h"

enum { CAPACITY = 16, ACCOUNT = 1, LIMIT = 1, LIQUIDATE = 6 };

static struct order_log log_;
static const uint8_t request_id[16] = { 0x55 };

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
    order_log_append(&log_, &order, sequence, request_id);
}

static const struct order_summary *found(void)
{
    struct order_summary any = order_of(0, 0, 0);
    const struct order_row *row = order_log_find(&log_, ACCOUNT, &any.id);
    return row == NULL ? NULL : &row->order;
}

static void open_log(void)
{
    CHECK(order_log_init(&log_, CAPACITY, 4, (struct mix_key){ 1, 2 }) == 0);
}

static const struct order_row *row_at(uint64_t position)
{
    return history_ring_at(&log_.ring, position);
}

/* The client's order comes behind the engine's, which is final. */
static void test_behind(void)
{
    open_log();
    tell(order_of(5, ORDER_FILLED, LIQUIDATE), 5);
    CHECK(found() != NULL && found()->order_type == LIQUIDATE);
    tell(order_of(6, ORDER_OPEN, LIMIT), 6);
    CHECK(found() != NULL && found()->order_type == LIQUIDATE); /* the engine knows the other */
    tell(order_of(6, ORDER_CANCELED, LIMIT), 9);
    CHECK(found() != NULL && found()->order_type == LIMIT && found()->status == ORDER_CANCELED);
    CHECK(row_at(1)->ended_sequence == 9 && row_at(1)->order.sequence == 6);
    order_log_free(&log_);
}

/* It was there first, and ends when the engine's has come and gone. */
static void test_before(void)
{
    open_log();
    tell(order_of(5, ORDER_OPEN, LIMIT), 5);
    tell(order_of(6, ORDER_FILLED, LIQUIDATE), 6);
    tell(order_of(5, ORDER_CANCELED, LIMIT), 7);
    CHECK(found() != NULL && found()->order_type == LIQUIDATE);
    CHECK(row_at(1)->order.order_type == LIMIT && row_at(1)->order.status == ORDER_CANCELED);
    order_log_free(&log_);
}

/* Rows that share an id leave the ring one by one, and a dropped id is not denied. */
static void test_dropped(void)
{
    struct order_summary any = order_of(0, 0, 0), later = any;

    open_log();
    later.id.bytes[0]++;
    for (uint64_t i = 1; i <= 3 * CAPACITY; i++) {
        CHECK(order_log_may_have_dropped(&log_, &any.id) == (i > CAPACITY + 1));
        tell(order_of(i, ORDER_FILLED, LIQUIDATE), i);
        CHECK(found() != NULL && found()->sequence == i);
    }
    CHECK(!order_log_may_have_dropped(&log_, &later.id));
    order_log_free(&log_);
}

/* Orders of one command: those of the client keep their indexes, those of the engine come behind,
 * also one whose number is that of a client's. */
static void test_places(void)
{
    struct order_summary order = order_of(8, ORDER_FILLED, LIMIT);

    open_log();
    tell(order, 8);
    order.index = ORDER_SUMMARY_REFUSED + 3;
    tell(order, 8);
    order.index = 1;
    tell(order, 8);
    tell(order_of(8, ORDER_FILLED, LIQUIDATE), 8);
    tell(order_of(8, ORDER_FILLED, LIQUIDATE), 8);
    tell(order_of(9, ORDER_FILLED, LIQUIDATE), 9);
    static const uint32_t want[] = {
        0, ORDER_SUMMARY_REFUSED + 3, 1, ORDER_SUMMARY_REFUSED + 4, ORDER_SUMMARY_REFUSED + 5, 0
    };
    for (uint64_t i = 0; i < CC_COUNT(want); i++)
        CHECK(row_at(i)->order.index == want[i]);
    order_log_free(&log_);
}

/* An order has an entry by id unless its id is that of the request that placed it. */
static void test_ids(void)
{
    struct order_summary order = order_of(3, ORDER_OPEN, LIMIT);

    open_log();
    memcpy(order.id.bytes, request_id, sizeof order.id.bytes);
    tell(order, 3);
    CHECK(log_.ids.added == 0);
    order.id.bytes[15] = 1;
    order.index = 7;
    tell(order, 3);
    order.status = ORDER_PARTIALLY_FILLED;
    tell(order, 3); /* the same order */
    order.status = ORDER_FILLED;
    tell(order, 5); /* by a later command */
    CHECK(log_.ids.added == 1);
    const struct order_id_row *row = history_ring_at(&log_.ids, 0);
    CHECK(row->account_id == ACCOUNT && row->link.sequence == 3 && row->index == 7);
    CHECK(uuid_equal(&row->id, &order.id));
    tell(order_of(6, ORDER_FILLED, LIQUIDATE), 6);
    CHECK(log_.ids.added == 2);
    order_log_free(&log_);
}

int main(void)
{
    test_behind();
    test_before();
    test_dropped();
    test_places();
    test_ids();
    return 0;
}
