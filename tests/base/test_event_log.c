/* event_log: what a reader copies is one event whole, or known to be overwritten (roles.md,
 * Followers serve). */
#include <pthread.h>

#include "base/event_log.h"
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

int main(void)
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
    return 0;
}
