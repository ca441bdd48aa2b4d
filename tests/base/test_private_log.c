/* private_log: what a reader copies is the event that it asked for, whole, or nothing; accounts of
 * other lanes overwrite nothing of it (wire.md W9). */
#include <pthread.h>

#include "base/private_log.h"
#include "check.h"

enum { ACCOUNTS = 2 * PRIVATE_LOG_LANES, EVENTS = 3 * PRIVATE_LOG_LANE, ONE = 3 };

static struct private_log private_log;

static struct private_event make(uint64_t account_id, uint64_t seq)
{
    struct private_event event = { .account_id = account_id, .seq = seq, .sequence = ~seq };
    memset(&event.order, (int)(seq % 251), sizeof event.order);
    return event;
}

static bool is_whole(const struct private_event *event, uint64_t account_id, uint64_t seq)
{
    struct private_event want = make(account_id, seq);
    return memcmp(event, &want, sizeof want) == 0;
}

static void add(uint64_t account_id, uint64_t seq)
{
    struct private_event event = make(account_id, seq);
    private_log_add(&private_log, &event);
}

static bool has(uint64_t account_id, uint64_t seq)
{
    struct private_event event;
    if (!private_log_read(&private_log, account_id, seq, &event))
        return false;
    CHECK(is_whole(&event, account_id, seq));
    return true;
}

static void *write_all(void *unused)
{
    for (uint64_t seq = private_log_newest(&private_log, ONE) + 1; seq <= EVENTS; seq++)
        add(ONE, seq);
    return unused;
}

static void check_lanes(void)
{
    uint64_t neighbour = ONE + PRIVATE_LOG_LANES;

    CHECK(!has(ONE, 0) && !has(ONE, 1) && private_log_newest(&private_log, ONE) == 0);
    CHECK(private_log_oldest(&private_log, ONE, 40) == 41); /* none is there */
    for (uint64_t seq = 41; seq <= 60; seq++)
        add(ONE, seq);
    CHECK(has(ONE, 41) && has(ONE, 60) && !has(ONE, 61) && !has(ONE, 40));
    CHECK(private_log_newest(&private_log, ONE) == 60 && private_log_count(&private_log) == 20);
    CHECK(private_log_oldest(&private_log, ONE, 60) == 41);
    for (uint64_t seq = 1; seq <= PRIVATE_LOG_LANE; seq++)
        add(ONE + 1, seq); /* another lane, full */
    CHECK(has(ONE, 41) && has(ONE, 60));
    CHECK(has(ONE + 1, 1) && private_log_oldest(&private_log, ONE + 1, PRIVATE_LOG_LANE) == 1);
    add(ONE + 1, PRIVATE_LOG_LANE + 1);
    CHECK(!has(ONE + 1, 1) && has(ONE + 1, 2) && has(ONE + 1, PRIVATE_LOG_LANE + 1));
    CHECK(private_log_oldest(&private_log, ONE + 1, PRIVATE_LOG_LANE + 1) == 2);
    CHECK(!has(neighbour, 45)); /* the slot has the event of another account */
    add(neighbour, 45);
    CHECK(has(neighbour, 45) && !has(ONE, 45) && has(ONE, 46));
}

int main(void)
{
    pthread_t writer;
    uint64_t newest, lost = 0;

    CHECK(private_log_init(&private_log, ACCOUNTS) == 0);
    check_lanes();
    CHECK(private_log_init(&private_log, ACCOUNTS) == 0); /* made again: empty */
    CHECK(!has(ONE, 60) && private_log_newest(&private_log, ONE) == 0);
    CHECK(pthread_create(&writer, NULL, write_all, NULL) == 0);
    do { /* at both edges, where the writer is */
        newest = private_log_newest(&private_log, ONE);
        if (newest == 0)
            continue;
        CHECK(has(ONE, newest) || private_log_newest(&private_log, ONE) > newest);
        for (uint64_t back = PRIVATE_LOG_LANE - 2; back < PRIVATE_LOG_LANE + 2; back++)
            lost += newest > back && !has(ONE, newest - back);
    } while (newest < EVENTS);
    CHECK(pthread_join(writer, NULL) == 0);
    CHECK(lost > 0);
    private_log_free(&private_log);
    return 0;
}
