/* stand.c - a clock that stands until a script moves it: linked into a perpd in front of libc's
 * clock_gettime (-Wl,--wrap), so that perpd itself has no way to be told the time.
 *
 * STANDING_CLOCK in the environment names a file of eight bytes, unix ns, mapped here and written
 * by the test. CLOCK_REALTIME is its value; CLOCK_MONOTONIC runs beside it; what only measures how
 * long a piece of work took (CLOCK_MONOTONIC_RAW, CPU time) stays real. */
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define NS_PER_S UINT64_C(1000000000)
#define BEFORE_S 1000000 /* CLOCK_MONOTONIC began so long before the file's first time */

int __real_clock_gettime(clockid_t id, struct timespec *time);
int __wrap_clock_gettime(clockid_t id, struct timespec *time);

static const volatile uint64_t *file_ns;
static uint64_t first_ns;

/* Before main, so that every thread finds it. */
__attribute__((constructor)) static void open_clock(void)
{
    const char *name = getenv("STANDING_CLOCK");
    int file = name == NULL ? -1 : open(name, O_RDONLY);
    void *page = file < 0 ? MAP_FAILED : mmap(NULL, 8, PROT_READ, MAP_SHARED, file, 0);

    if (page == MAP_FAILED)
        _exit(2);
    file_ns = page;
    first_ns = *file_ns;
}

int __wrap_clock_gettime(clockid_t id, struct timespec *time)
{
    uint64_t now_ns = *file_ns;

    if (id != CLOCK_REALTIME && id != CLOCK_MONOTONIC)
        return __real_clock_gettime(id, time);
    if (id == CLOCK_MONOTONIC)
        now_ns = now_ns - first_ns + BEFORE_S * NS_PER_S;
    time->tv_sec = (time_t)(now_ns / NS_PER_S);
    time->tv_nsec = (long)(now_ns % NS_PER_S);
    return 0;
}
