/* The order table: indexes, the limit, and order_move as the one guarded way to a state (R3). */

#include "engine/table/order.h"
#include "rig.h"

static struct order_table make(uint32_t slots)
{
    struct order_table table;

    order_table_init(&table, rig_memory(order_table_bytes(slots)), slots);
    return table;
}

static void drop(struct order_table *table)
{
    rig_free(table->hot, order_table_bytes(table->slots));
}

static void test_take_and_release(void)
{
    struct order_table table = make(3);
    uint32_t a = order_alloc(&table), b = order_alloc(&table), c = order_alloc(&table);

    CHECK(a != ORDER_NONE && b != ORDER_NONE && c != ORDER_NONE);
    CHECK(a != b && b != c && a != c);
    CHECK(order_alloc(&table) == ORDER_NONE); /* by count */
    CHECK(table.count == 3);
    table.hot[a].remaining = 7;
    order_extra(&table, a)->filled = 9;
    order_release(&table, a);
    order_release(&table, c);
    CHECK(table.count == 1);
    CHECK(order_alloc(&table) == c); /* last released first */
    CHECK(order_alloc(&table) == a);
    CHECK(table.hot[a].remaining == 0 && order_filled(&table, a) == 0);
    CHECK(table.hot[a].state == ORDER_NEW);
    CHECK(order_alloc(&table) == ORDER_NONE);
    drop(&table);
}

static void test_limit(void)
{
    struct order_table table = make(4);

    order_table_set_limit(&table, 2);
    uint32_t a = order_alloc(&table);
    CHECK(a != ORDER_NONE && order_alloc(&table) != ORDER_NONE);
    CHECK(order_alloc(&table) == ORDER_NONE);
    order_table_set_limit(&table, 3);
    CHECK(order_alloc(&table) != ORDER_NONE);
    CHECK(order_alloc(&table) == ORDER_NONE);
    order_release(&table, a);
    order_table_set_limit(&table, 2); /* not below use, but down to it */
    CHECK(order_alloc(&table) == ORDER_NONE);
    drop(&table);
}

static void test_flags(void)
{
    struct order order = { .flags = order_flags(true, false, 3, ORDER_GTT) };

    CHECK((order.flags & ORDER_POST_ONLY) != 0 && (order.flags & ORDER_REDUCE_ONLY) == 0);
    CHECK(order_stp(&order) == 3 && order_tif(&order) == ORDER_GTT);
    order.flags = order_flags(false, true, 2, ORDER_FOK);
    CHECK((order.flags & ORDER_POST_ONLY) == 0 && (order.flags & ORDER_REDUCE_ONLY) != 0);
    CHECK(order_stp(&order) == 2 && order_tif(&order) == ORDER_FOK);
}

static void test_fills(void)
{
    struct order_table table = make(1);
    uint32_t index = order_alloc(&table);
    struct order *order = &table.hot[index];

    order->remaining = 10;
    order_move(order, 0, ORDER_OPEN);
    CHECK(order_initial(&table, index) == 10);
    order->remaining = 6;
    order_add_fill(&table, index, 4, 400);
    CHECK(order->state == ORDER_PARTIALLY_FILLED && order_filled(&table, index) == 4);
    CHECK(order_initial(&table, index) == 10);
    order->remaining = 5;
    order_add_fill(&table, index, 1, 90); /* partly filled stays partly filled */
    CHECK(order->state == ORDER_PARTIALLY_FILLED && order_filled_notional(&table, index) == 490);
    order->remaining = 0;
    order_add_fill(&table, index, 5, 500);
    CHECK(order->state == ORDER_FILLED && order_filled(&table, index) == 10 &&
          order_filled_notional(&table, index) == 990);
    CHECK(order_initial(&table, index) == 10);
    order_release(&table, index);
    drop(&table);
}

/* An order has a row of extras once it differs from a plain one, and says the same with it. */
static void test_extras(void)
{
    struct order_table table = make(2);
    uint32_t a = order_alloc(&table), b = order_alloc(&table);

    table.hot[a].stamp = order_stamp(7, 1);
    table.cold[a].placed_ns = 100;
    table.hot[a].flags = order_flags(false, false, 0, ORDER_GTC);
    CHECK(order_filled(&table, a) == 0 && order_filled_notional(&table, a) == 0);
    CHECK(order_updated_ns(&table, a) == 100 && order_rank(&table, a) == order_stamp(7, 1));
    CHECK(order_expiry(&table, a) == ORDER_EXPIRY_GTC);
    struct order_extra *extra = order_extra(&table, a);
    CHECK(table.hot[a].has_extra && !table.hot[b].has_extra);
    CHECK(order_filled(&table, a) == 0 && order_filled_notional(&table, a) == 0);
    CHECK(order_updated_ns(&table, a) == 100 && order_rank(&table, a) == order_stamp(7, 1));
    extra->updated_ns = 101;
    table.hot[a].stamp = order_stamp(9, 0); /* it has entered anew: its placing stays */
    CHECK(order_updated_ns(&table, a) == 101 && order_rank(&table, a) == order_stamp(7, 1));
    CHECK(order_extra(&table, a) == extra); /* one an order */
    table.hot[a].flags = order_flags(false, false, 0, ORDER_GTT);
    extra->expiry_ns = 5000;
    CHECK(order_expiry(&table, a) == 5000);
    table.hot[a].flags = order_flags(false, false, 0, ORDER_FOK);
    CHECK(order_expiry(&table, a) == 1); /* the wire's */
    table.hot[a].flags = order_flags(false, false, 0, ORDER_IOC);
    CHECK(order_expiry(&table, a) == 0);
    CHECK(order_extra(&table, b) != extra);
    order_release(&table, a); /* what it had is another's now */
    CHECK(order_alloc(&table) == a && !table.hot[a].has_extra);
    CHECK(order_extra(&table, a) == extra && extra->updated_ns == 100 && extra->filled == 0);
    drop(&table);
}

/* Every order may have extras, those behind the slots too, whatever came and went before. */
static void test_extras_never_refuse(void)
{
    struct order_table table = make(3);

    for (uint32_t turn = 0; turn < 20; turn++) {
        uint32_t taken[3];
        for (uint32_t i = 0; i < 3; i++) {
            taken[i] = order_alloc(&table);
            order_extra(&table, taken[i])->filled = i + 1;
        }
        for (uint32_t i = 0; i < ORDER_OWN; i++)
            order_extra(&table, table.slots + 1 + i)->filled = 10 + i;
        for (uint32_t i = 0; i < 3; i++)
            CHECK(order_filled(&table, taken[i]) == i + 1);
        CHECK(order_filled(&table, 4) == 10 && order_filled(&table, 5) == 11);
        order_forget(&table, 5 - turn % 2);
        for (uint32_t i = 0; i < 3; i++)
            order_release(&table, taken[(turn + i) % 3]);
    }
    CHECK(order_filled(&table, ORDER_NONE) == 0); /* the row that plain orders read */
    drop(&table);
}

struct move {
    int line;
    const char *name;
    uint64_t remaining, filled;
    enum order_state from, to;
    bool allowed;
};

static void make_move(void *context)
{
    const struct move *move = context;
    struct order order = { .remaining = move->remaining, .state = (uint8_t)move->from };

    order_move(&order, move->filled, move->to);
    CHECK(order.state == move->to);
}

static void test_moves(void)
{
    static struct move moves[] = {
#define M(name, remaining, filled, from, to, allowed) \
    { __LINE__, name, remaining, filled, ORDER_##from, ORDER_##to, allowed }
        M("rests", 5, 0, NEW, OPEN, true),
        M("rests with a fill", 5, 1, NEW, PARTIALLY_FILLED, true),
        M("rests with nothing", 0, 0, NEW, OPEN, false),
        M("open, though filled", 5, 1, NEW, OPEN, false),
        M("filled with a rest", 5, 1, OPEN, FILLED, false),
        M("filled without a fill", 0, 0, OPEN, FILLED, false),
        M("filled", 0, 5, PARTIALLY_FILLED, FILLED, true),
        M("used up by STP", 0, 3, NEW, CANCELED, true),
        M("rejected with a fill", 5, 1, NEW, REJECTED, false),
        M("canceled twice", 5, 0, CANCELED, CANCELED, false),
        M("expired after its end", 5, 0, FILLED, EXPIRED, false),
        M("open again", 5, 0, OPEN, OPEN, false),
        M("never new again", 5, 0, OPEN, NEW, false),
#undef M
    };

    for (size_t i = 0; i < CC_COUNT(moves); i++)
        CHECK_ROW(&moves[i], rig_aborts(make_move, &moves[i]) == !moves[i].allowed);
}

static void release_open(void *context)
{
    struct order_table *table = context;
    uint32_t index = order_alloc(table);

    table->hot[index].remaining = 1;
    order_move(&table->hot[index], 0, ORDER_OPEN);
    order_release(table, index);
}

static void release_twice(void *context)
{
    struct order_table *table = context;
    uint32_t index = order_alloc(table);

    CHECK(order_alloc(table) != ORDER_NONE);
    order_release(table, index);
    order_release(table, index);
}

static void release_dummy(void *context)
{
    CHECK(order_alloc(context) != ORDER_NONE);
    order_release(context, ORDER_NONE);
}

static void test_misuse(void)
{
    struct order_table table = make(4);

    CHECK(rig_aborts(release_open, &table));
    CHECK(rig_aborts(release_twice, &table));
    CHECK(rig_aborts(release_dummy, &table));
    drop(&table);
}

int main(void)
{
    test_take_and_release();
    test_limit();
    test_flags();
    test_fills();
    test_extras();
    test_extras_never_refuse();
    test_moves();
    test_misuse();
    return 0;
}
