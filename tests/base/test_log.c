/* log: one line an event, bounded in length and rate; nothing breaks a line in two. */
#include <fcntl.h>
#include <time.h>
#include <unistd.h>

#include "base/log.h"
#include "check.h"

static char output[1 << 20];

/* What was written since the last call. */
static size_t take(int descriptor)
{
    static off_t at;
    ssize_t count = pread(descriptor, output, sizeof output - 1, at);
    CHECK(count >= 0);
    output[count] = '\0';
    at += count;
    return (size_t)count;
}

static size_t line_count(void)
{
    size_t count = 0;
    for (const char *at = output; (at = strchr(at, '\n')) != NULL; at++)
        count++;
    return count;
}

static void test_form(int descriptor)
{
    log_line(LOG_INFO, "recovered", "sequence=%d ms=%d", 4711, 12);
    CHECK(take(descriptor) > 0);
    CHECK(output[4] == '-' && output[10] == 'T' && output[23] == 'Z');
    CHECK(strcmp(output + 24, " info recovered sequence=4711 ms=12\n") == 0);
    log_line(LOG_WARN, "alone", "%s", "");
    CHECK(take(descriptor) > 0 && strcmp(output + 24, " warn alone \n") == 0);
    log_line(LOG_DEBUG, "below the level", "%s", "x");
    CHECK(take(descriptor) == 0);
    log_line(LOG_INFO, "text", "value=%s",
             "a\nb\x01"
             "c\x7f");
    CHECK(take(descriptor) > 0 && strcmp(output + 24, " info text value=a?b?c?\n") == 0);
}

static void test_length(int descriptor)
{
    static char text[3000];
    memset(text, 'x', sizeof text - 1);
    log_line(LOG_ERROR, "long", "text=%s", text);
    size_t count = take(descriptor);
    CHECK(count == LOG_LINE_MAX && line_count() == 1 && output[count - 1] == '\n');
}

/* By the clock that the log reads: time() may be some milliseconds behind it. */
static time_t second_now(void)
{
    struct timespec now;
    CHECK(clock_gettime(CLOCK_REALTIME, &now) == 0);
    return now.tv_sec;
}

static time_t next_second(void)
{
    time_t now = second_now();
    while (second_now() == now)
        continue;
    return now + 1;
}

/* Twice the lines of a second, from the start of one on. True: all of it fell in that second. */
static bool flood(void)
{
    time_t now = next_second();
    for (unsigned i = 0; i < 2 * LOG_RATE_MAX; i++)
        log_line(LOG_INFO, "flood", "i=%u", i);
    log_line(LOG_ERROR, "fault", "%s", "");
    return second_now() == now;
}

static void test_rate(int descriptor)
{
    uint64_t dropped = log_dropped();
    while (!flood()) { /* a busy machine: once more, in a second of which nothing was counted */
        next_second();
        log_line(LOG_INFO, "after", "%s", "");
        take(descriptor);
        dropped = log_dropped();
    }
    take(descriptor);
    CHECK(line_count() == LOG_RATE_MAX + 1); /* the error is always written */
    CHECK(strstr(output, " error fault ") != NULL);
    CHECK(log_dropped() - dropped == LOG_RATE_MAX);
    next_second();
    log_line(LOG_INFO, "after", "%s", "");
    take(descriptor);
    CHECK(line_count() == 2 && strstr(output, "log_lines_dropped count=200\n") != NULL);
}

int main(void)
{
    char path[] = "/tmp/test_log.XXXXXX";
    int descriptor = mkstemp(path);
    CHECK(descriptor >= 0 && unlink(path) == 0);
    log_set_descriptor(descriptor);
    test_form(descriptor);
    test_length(descriptor);
    test_rate(descriptor);
    return 0;
}
