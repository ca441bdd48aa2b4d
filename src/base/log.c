#include "base/log.h"

#include <stdarg.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "base/timestamp.h"

/* Written before threads start (log.h), read-only afterwards. */
static enum log_level lowest_level = LOG_INFO;
static int output_descriptor = STDERR_FILENO;

/* relaxed on all three: two threads that race at the start of a second admit a few lines more. */
static _Atomic uint64_t window_s;
static _Atomic uint32_t window_lines;
static _Atomic uint64_t dropped_lines;
static _Atomic uint64_t dropped_reported;

void log_set_level(enum log_level level)
{
    INVARIANT((unsigned)level <= LOG_NOTHING);
    lowest_level = level;
}

void log_set_descriptor(int descriptor)
{
    output_descriptor = descriptor;
}

uint64_t log_dropped(void)
{
    return atomic_load_explicit(&dropped_lines, memory_order_relaxed);
}

static uint64_t realtime_ms(void)
{
    struct timespec now;
    if (clock_gettime(CLOCK_REALTIME, &now) != 0)
        return 0;
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

/* True if a line may be written in this second. */
static bool admit(enum log_level level, uint64_t now_s)
{
    if (atomic_load_explicit(&window_s, memory_order_relaxed) != now_s) {
        atomic_store_explicit(&window_s, now_s, memory_order_relaxed);
        atomic_store_explicit(&window_lines, 0, memory_order_relaxed);
    }
    uint32_t lines = atomic_fetch_add_explicit(&window_lines, 1, memory_order_relaxed);
    if (lines < LOG_RATE_MAX || level == LOG_ERROR)
        return true;
    atomic_fetch_add_explicit(&dropped_lines, 1, memory_order_relaxed);
    return false;
}

/* One write, so that lines of several threads do not mix. What a full pipe does not accept is
 * lost. */
static void write_line(char *line, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if ((unsigned char)line[i] < 0x20 || line[i] == 0x7f)
            line[i] = '?';
    line[count] = '\n';
    ssize_t written = write(output_descriptor, line, count + 1);
    (void)written;
}

static size_t begin_line(char line[LOG_LINE_MAX], enum log_level level, uint64_t now_ms,
                         const char *event)
{
    static const char *const names[] = { "debug", "info", "warn", "error" };
    char time[TIMESTAMP_TEXT_BYTES + 1];
    timestamp_format_ms(now_ms, time);
    int count = snprintf(line, LOG_LINE_MAX, "%s %s %s", time, names[level], event);
    return count < LOG_LINE_MAX ? (size_t)count : LOG_LINE_MAX - 1;
}

/* Reports once, after a second in which lines were dropped. */
static void report_dropped(uint64_t now_ms)
{
    uint64_t dropped = atomic_load_explicit(&dropped_lines, memory_order_relaxed);
    uint64_t reported = atomic_exchange_explicit(&dropped_reported, dropped, memory_order_relaxed);
    if (reported >= dropped)
        return;
    char line[LOG_LINE_MAX + 1];
    size_t count = begin_line(line, LOG_WARN, now_ms, "log_lines_dropped");
    int more = snprintf(line + count, LOG_LINE_MAX - count, " count=%llu",
                        (unsigned long long)(dropped - reported));
    write_line(line, count + (size_t)more);
}

void log_line(enum log_level level, const char *event, const char *format, ...)
{
    INVARIANT((unsigned)level <= LOG_ERROR);
    if (level < lowest_level)
        return;
    uint64_t now_ms = realtime_ms();
    bool new_second = atomic_load_explicit(&window_s, memory_order_relaxed) != now_ms / 1000;
    if (!admit(level, now_ms / 1000))
        return;
    if (new_second)
        report_dropped(now_ms);

    char line[LOG_LINE_MAX + 1];
    size_t count = begin_line(line, level, now_ms, event);
    if (count + 1 < LOG_LINE_MAX) {
        line[count++] = ' ';
        va_list arguments;
        va_start(arguments, format);
        int more = vsnprintf(line + count, LOG_LINE_MAX - count, format, arguments);
        va_end(arguments);
        if (more > 0)
            count += (size_t)more;
        if (count > LOG_LINE_MAX - 1) /* cut by vsnprintf */
            count = LOG_LINE_MAX - 1;
    }
    write_line(line, count);
}
