/* The book against a naive reference: a flat list of resting orders, searched for every answer.
 * Price-time order, sums per level, counted pages and R2's I5-relevant best prices. */
#include "engine/table/book.h"
#include "rig.h"

enum { SLOTS = 400 };

struct naive {
    uint32_t index, price;
    enum order_side side;
    uint64_t remaining, arrival;
};

static struct order_table table;
static struct book book;
static struct book_pages pages;
static void *memory, *pool;
static struct naive resting[SLOTS];
static uint32_t resting_count;
static uint64_t arrivals;

static void make(uint32_t ladder_ticks, uint32_t page_limit)
{
    order_table_init(&table, rig_memory(order_table_bytes(SLOTS)), SLOTS);
    memory = rig_memory(book_bytes(ladder_ticks));
    pool = rig_memory(book_pages_bytes(page_limit));
    book_pages_init(&pages, pool, page_limit);
    book_init(&book, memory, ladder_ticks, table.hot, &pages);
    resting_count = 0;
}

static void drop(void)
{
    rig_free(memory, book_bytes(book.top + 1));
    rig_free(pool, book_pages_bytes(pages.capacity));
    rig_free(table.hot, order_table_bytes(SLOTS));
}

/* ORDER_NONE when the book refused it for want of a page. */
static uint32_t insert(enum order_side side, uint32_t price, uint64_t quantity)
{
    uint32_t index = order_alloc(&table);

    CHECK(index != ORDER_NONE);
    table.hot[index].side = (uint8_t)side;
    table.hot[index].tick = book_tick(&book, side, price);
    table.hot[index].remaining = quantity;
    table.hot[index].stamp = ++arrivals;
    if (!book_insert(&book, index)) {
        order_release(&table, index);
        return ORDER_NONE;
    }
    resting[resting_count++] = (struct naive){ index, price, side, quantity, arrivals };
    return index;
}

static void forget(uint32_t k)
{
    order_move(&table.hot[resting[k].index], 0, ORDER_CANCELED);
    order_release(&table, resting[k].index);
    resting[k] = resting[--resting_count];
}

/* One side after the other; better price first, then earlier arrival. */
static bool naive_before(const struct naive *a, const struct naive *b)
{
    if (a->side != b->side)
        return a->side < b->side;
    if (a->price != b->price)
        return (a->price < b->price) == (a->side == ORDER_SHORT);
    return a->arrival < b->arrival;
}

static void naive_sort(void)
{
    for (uint32_t i = 1; i < resting_count; i++)
        for (uint32_t j = i; j > 0 && naive_before(&resting[j], &resting[j - 1]); j--) {
            struct naive swap = resting[j];
            resting[j] = resting[j - 1];
            resting[j - 1] = swap;
        }
}

static uint32_t naive_pages(enum order_side side)
{
    static uint32_t seen[SLOTS];
    uint32_t count = 0;

    for (uint32_t i = 0; i < resting_count; i++) {
        uint32_t page = book_tick(&book, side, resting[i].price) / BOOK_PAGE_LEVELS;
        uint32_t j = 0;
        while (j < count && seen[j] != page)
            j++;
        if (resting[i].side == side && j == count)
            seen[count++] = page;
    }
    return count;
}

/* The whole book, walked as matching walks it, is the reference sorted. */
static void check_same(void)
{
    uint32_t page_count = 0;

    naive_sort();
    for (uint32_t s = 0; s < 2; s++) {
        enum order_side side = (enum order_side)s;
        uint32_t k = 0;
        for (uint32_t tick = book_best(&book, side); tick != BOOK_TICK_NONE;
             tick = book_next(&book, side, tick)) {
            uint64_t quantity = 0;
            uint32_t count = 0;
            for (uint32_t at = book_head(&book, side, tick); at != ORDER_NONE;
                 at = table.hot[at].next, k++, count++) {
                while (k < resting_count && resting[k].side != side)
                    k++;
                CHECK(k < resting_count && resting[k].index == at);
                CHECK(book_price(&book, side, tick) == resting[k].price);
                CHECK(table.hot[at].remaining == resting[k].remaining);
                quantity += resting[k].remaining;
            }
            CHECK(count > 0 && book_order_count(&book, side, tick) == count);
            CHECK(book_quantity(&book, side, tick) == quantity);
        }
        while (k < resting_count && resting[k].side != side)
            k++;
        CHECK(k == resting_count);
        CHECK(book_check_side(&book, side) == naive_pages(side));
        page_count += naive_pages(side);
    }
    CHECK(pages.used == page_count);
}

/* A random act on a random resting order. */
static void act(uint64_t *random)
{
    uint32_t k = rig_below(random, resting_count);
    struct naive *order = &resting[k];

    switch (rig_below(random, 3)) {
    case 0:
        book_remove(&book, order->index);
        CHECK(table.hot[order->index].remaining == order->remaining); /* kept for its record */
        forget(k);
        break;
    case 1:
        if (order->remaining > 1) {
            uint64_t quantity = 1 + rig_below(random, (uint32_t)order->remaining - 1);
            book_reduce(&book, order->index, quantity);
            order->remaining -= quantity;
        }
        break;
    default: {
        uint64_t quantity = 1 + rig_below(random, (uint32_t)order->remaining);
        bool gone = book_fill(&book, order->index, quantity);
        CHECK(gone == (quantity == order->remaining));
        order->remaining -= quantity;
        CHECK(table.hot[order->index].remaining == order->remaining);
        if (gone)
            forget(k);
    }
    }
}

/* Prices from a narrow band (long queues, levels that come and go) and from the whole ladder. */
static void run(uint64_t seed, uint32_t ladder_ticks, uint32_t band, uint32_t turns)
{
    uint64_t random = seed;
    uint32_t refused = 0;

    make(ladder_ticks, 40);
    for (uint32_t turn = 0; turn < turns; turn++) {
        bool growing = turn / 300 % 3 != 2;
        if (resting_count == 0 ||
            (resting_count < SLOTS - 1 && rig_below(&random, 10) < 6u && growing)) {
            uint32_t middle = ladder_ticks / 2;
            uint32_t price = rig_below(&random, 3) != 0
                                 ? middle - band / 2 + rig_below(&random, band)
                                 : rig_below(&random, ladder_ticks);
            uint32_t before = resting_count;
            (void)insert((enum order_side)rig_below(&random, 2), price,
                         1 + rig_below(&random, 100));
            refused += before == resting_count;
        } else {
            act(&random);
        }
        if (turn % 7 == 0)
            check_same();
    }
    CHECK(ladder_ticks <= 40 * BOOK_PAGE_LEVELS / 2 ? refused == 0 : refused > 0);
    while (resting_count > 0) {
        book_remove(&book, resting[0].index);
        forget(0);
    }
    check_same();
    CHECK(pages.used == 0);
    CHECK(book_best(&book, ORDER_LONG) == BOOK_TICK_NONE);
    drop();
}

/* Both ends of the ladder and of each bitmap word, page and level of the bitmap, on both sides. */
static void test_ends(uint32_t ladder_ticks)
{
    uint32_t top = ladder_ticks - 1;
    uint32_t prices[] = {
        0, 1, 63, 64, 255, 256, 4095, 4096, 262143, 262144, top / 2, top - 1, top
    };

    make(ladder_ticks, 1000);
    for (uint32_t i = 0; i < CC_COUNT(prices); i++)
        for (uint32_t s = 0; s < 2 && prices[i] <= top; s++)
            CHECK(insert((enum order_side)s, prices[i], i + 1) != ORDER_NONE);
    check_same();
    CHECK(book_price(&book, ORDER_SHORT, book_best(&book, ORDER_SHORT)) == 0);
    CHECK(book_price(&book, ORDER_LONG, book_best(&book, ORDER_LONG)) == top);
    while (resting_count > 0) { /* best first, so that each next one is searched for */
        naive_sort();
        book_remove(&book, resting[0].index);
        forget(0);
        check_same();
    }
    drop();
}

/* A taker crosses exactly when its limit is at or through the best opposite price (R3). */
static void test_crossing(void)
{
    static const struct row {
        int line;
        const char *name;
        enum order_side side;
        uint32_t price;
        bool want;
    } rows[] = {
#define R(name, side, price, want) { __LINE__, name, side, price, want }
        R("buy below the ask", ORDER_LONG, 499, false),
        R("buy at the ask", ORDER_LONG, 500, true),
        R("buy through the ask", ORDER_LONG, 999, true),
        R("sell above the bid", ORDER_SHORT, 401, false),
        R("sell at the bid", ORDER_SHORT, 400, true),
        R("sell through the bid", ORDER_SHORT, 0, true),
#undef R
    };

    make(1000, 10);
    for (size_t i = 0; i < CC_COUNT(rows); i++) /* an empty side is never crossed */
        CHECK_ROW(&rows[i], !book_crosses(&book, rows[i].side,
                                          book_tick(&book, rows[i].side, rows[i].price)));
    CHECK(insert(ORDER_SHORT, 500, 1) != ORDER_NONE);
    CHECK(insert(ORDER_LONG, 400, 1) != ORDER_NONE);
    for (size_t i = 0; i < CC_COUNT(rows); i++) {
        uint32_t tick = book_tick(&book, rows[i].side, rows[i].price);
        CHECK_ROW(&rows[i], book_crosses(&book, rows[i].side, tick) == rows[i].want);
        CHECK_ROW(&rows[i], book_tick(&book, book_opposite(rows[i].side), rows[i].price) ==
                                book_mirror(&book, tick));
    }
    drop();
}

/* engine.ladder_pages counts pages with orders, of all books, and refuses by that count alone: a
 * page given up can be used again anywhere, and one in use never needs another. */
static void test_pages(void)
{
    struct book second;

    make(10000, 2);
    void *more = rig_memory(book_bytes(512));
    book_init(&second, more, 512, table.hot, &pages);
    CHECK(insert(ORDER_SHORT, 0, 5) != ORDER_NONE);
    CHECK(insert(ORDER_SHORT, 255, 5) != ORDER_NONE); /* the same page */
    CHECK(pages.used == 1);
    CHECK(insert(ORDER_SHORT, 256, 5) != ORDER_NONE);
    CHECK(pages.used == 2);
    CHECK(insert(ORDER_SHORT, 512, 5) == ORDER_NONE); /* a third page: refused, nothing changed */
    CHECK(insert(ORDER_LONG, 0, 5) == ORDER_NONE);    /* the other side has pages of its own */
    check_same();
    uint32_t index = order_alloc(&table);
    table.hot[index] = (struct order){ .remaining = 1, .side = ORDER_LONG, .tick = 3 };
    CHECK(!book_insert(&second, index)); /* another book, the same count */
    CHECK(insert(ORDER_SHORT, 256, 7) != ORDER_NONE);
    CHECK(insert(ORDER_SHORT, 1, 7) != ORDER_NONE);
    for (uint32_t k = 0; k < 2; k++) { /* both orders at 256 */
        naive_sort();
        book_remove(&book, resting[resting_count - 1].index);
        forget(resting_count - 1);
    }
    CHECK(pages.used == 1);
    CHECK(book_insert(&second, index));
    CHECK(pages.used == 2);
    CHECK(insert(ORDER_SHORT, 256, 5) == ORDER_NONE);
    book_remove(&second, index);
    CHECK(insert(ORDER_SHORT, 9999, 5) != ORDER_NONE);
    check_same();
    rig_free(more, book_bytes(512));
    drop();
}

static void test_depth(void)
{
    struct book_depth rows[4];

    make(1000, 10);
    CHECK(book_depth(&book, ORDER_LONG, rows, 4) == 0);
    (void)insert(ORDER_LONG, 90, 1);
    (void)insert(ORDER_LONG, 95, 2);
    (void)insert(ORDER_LONG, 95, 3);
    (void)insert(ORDER_LONG, 10, 4);
    (void)insert(ORDER_SHORT, 100, 9);
    CHECK(book_depth(&book, ORDER_LONG, rows, 4) == 3);
    CHECK(rows[0].price_ticks == 95 && rows[0].quantity == 5 && rows[0].order_count == 2);
    CHECK(rows[1].price_ticks == 90 && rows[1].quantity == 1 && rows[1].order_count == 1);
    CHECK(rows[2].price_ticks == 10 && rows[2].quantity == 4);
    CHECK(book_depth(&book, ORDER_LONG, rows, 2) == 2);
    CHECK(rows[1].price_ticks == 90);
    CHECK(book_depth(&book, ORDER_SHORT, rows, 4) == 1 && rows[0].price_ticks == 100);
    drop();
}

static void reduce_all(void *context)
{
    book_reduce(&book, *(uint32_t *)context, 5);
}

static void reduce_nothing(void *context)
{
    book_reduce(&book, *(uint32_t *)context, 0);
}

static void take_too_much(void *context)
{
    book_fill(&book, *(uint32_t *)context, 6);
}

static void remove_twice(void *context)
{
    book_remove(&book, *(uint32_t *)context);
    book_remove(&book, *(uint32_t *)context);
}

static void test_misuse(void)
{
    make(1000, 10);
    uint32_t index = insert(ORDER_LONG, 500, 5);

    CHECK(rig_aborts(reduce_all, &index));
    CHECK(rig_aborts(reduce_nothing, &index));
    CHECK(rig_aborts(take_too_much, &index));
    CHECK(rig_aborts(remove_twice, &index));
    drop();
}

int main(void)
{
    run(1, 1000, 16, 30000);
    run(2, 5000, 300, 20000);
    run(3, 1 << 16, 40, 20000);
    run(4, BOOK_TICKS_MAX, 5, 20000);
    test_ends(BOOK_TICKS_MAX);
    test_ends(262145);
    test_ends(4097);
    test_ends(2);
    test_crossing();
    test_pages();
    test_depth();
    test_misuse();
    return 0;
}
