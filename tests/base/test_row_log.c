/* row_log, and the logs of events and heads that are made of it: what a reader copies is one row
 * whole, or known to be overwritten (roles.md, Followers serve). */
#include <pthread.h>

#include "base/event_log.h"
#include "base/head_log.h"
#include "check.h"

enum { EVENTS = 4 * EVENT_LOG_SLOTS };

static struct event_log event_log;

static struct event_log_event make(uint64_t number)
{
    struct event_log_event trade = { .seq = number,
                                     .trade = { .price = number, .time_ns = ~number },
                                     .asset_id = (uint16_t)number };
    memcpy(trade.mark.market + 88, &number, sizeof number); /* the last bytes */
    return trade;
}

static bool is_whole(const struct event_log_event *trade, uint64_t number)
{
    struct event_log_event want = make(number);
    return memcmp(trade, &want, sizeof want) == 0;
}

static void *write_all(void *unused)
{
    for (uint64_t number = event_log_count(&event_log); number < EVENTS; number++) {
        struct event_log_event trade = make(number);
        event_log_add(&event_log, &trade);
    }
    return unused;
}

static void test_events(void)
{
    struct event_log_event trade;
    pthread_t writer;
    uint64_t count, lost = 0, read = 0;

    CHECK(event_log_count(&event_log) == 0);
    CHECK(event_log_init(&event_log) == 0);
    for (uint64_t number = 0; number < EVENT_LOG_SLOTS; number++) {
        struct event_log_event made = make(number);
        event_log_add(&event_log, &made);
    }
    CHECK(event_log_read(&event_log, 0, &trade) && is_whole(&trade, 0));
    trade = make(EVENT_LOG_SLOTS);
    event_log_add(&event_log, &trade);
    CHECK(event_log_count(&event_log) == EVENT_LOG_SLOTS + 1);
    CHECK(!event_log_read(&event_log, 0, &trade));
    CHECK(event_log_read(&event_log, 1, &trade) && is_whole(&trade, 1));

    CHECK(pthread_create(&writer, NULL, write_all, NULL) == 0);
    do { /* at the edge, where the writer is */
        count = event_log_count(&event_log);
        for (uint64_t back = EVENT_LOG_SLOTS - 2; back <= EVENT_LOG_SLOTS + 2; back++) {
            if (back > count)
                continue;
            bool is_there = event_log_read(&event_log, count - back, &trade);
            CHECK(!is_there || is_whole(&trade, count - back));
            *(is_there ? &read : &lost) += 1;
        }
        CHECK(!event_log_read(&event_log, count - 1, &trade) || is_whole(&trade, count - 1));
    } while (count < EVENTS);
    CHECK(pthread_join(writer, NULL) == 0);
    CHECK(lost > 0);
    event_log_free(&event_log);
}

/* The smallest log: one slot of one word. */
static void test_one_slot(void)
{
    struct row_log log = { 0 };
    uint64_t row = 7, read = 0;

    CHECK(row_log_init(&log, 1, sizeof row) == 0 && row_log_count(&log) == 0);
    row_log_add(&log, &row);
    CHECK(row_log_read(&log, 0, &read) && read == 7);
    row = 8;
    row_log_add(&log, &row);
    CHECK(!row_log_read(&log, 0, &read));
    CHECK(row_log_read(&log, 1, &read) && read == 8 && row_log_count(&log) == 2);
    row_log_free(&log);
    row_log_free(&log);
}

static void make_head(uint64_t number, uint8_t head[HEAD_LOG_BYTES])
{
    memset(head, (int)(number % 251), HEAD_LOG_BYTES);
    cc_store64(head + HEAD_LOG_BYTES - 8, number);
}

/* The newest come first, as many as there are, and none that was overwritten. */
static void test_heads(void)
{
    static uint8_t heads[(HEAD_LOG_SLOTS + 1) * HEAD_LOG_BYTES];
    static struct head_log log;
    uint8_t head[HEAD_LOG_BYTES];

    CHECK(head_log_init(&log) == 0 && head_log_newest(&log, 1, heads) == 0);
    for (uint64_t number = 0; number < HEAD_LOG_SLOTS + 5; number++) {
        make_head(number, head);
        head_log_add(&log, head);
        if (number == 2)
            CHECK(head_log_newest(&log, 10, heads) == 3);
    }
    CHECK(head_log_newest(&log, 2, heads) == 2);
    CHECK(head_log_newest(&log, HEAD_LOG_SLOTS + 1, heads) == HEAD_LOG_SLOTS);
    for (uint64_t i = 0; i < HEAD_LOG_SLOTS; i++) {
        make_head(HEAD_LOG_SLOTS + 4 - i, head);
        CHECK(memcmp(heads + i * HEAD_LOG_BYTES, head, sizeof head) == 0);
    }
    head_log_free(&log);
}

int main(void)
{
    test_one_slot();
    test_heads();
    test_events();
    return 0;
}
