/* step.c - a wall clock that a test sets wrong: linked into a perpd in front of libc's
 * clock_gettime (-Wl,--wrap), so that perpd itself has no way to be told the time.
 *
 * STEPPED_CLOCK in the environment names a file of eight bytes, ns with a sign, mapped here and
 * written by the test: CLOCK_REALTIME is off by so much. Every other clock is the machine's. */
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define NS_PER_S INT64_C(1000000000)

int __real_clock_gettime(clockid_t id, struct timespec *time);
int __wrap_clock_gettime(clockid_t id, struct timespec *time);

static const volatile int64_t *step_ns;

/* Before main, so that every thread finds it. */
__attribute__((constructor)) static void open_step(void)
{
    const char *name = getenv("STEPPED_CLOCK");
    int file = name == NULL ? -1 : open(name, O_RDONLY);
    void *page = file < 0 ? MAP_FAILED : mmap(NULL, 8, PROT_READ, MAP_SHARED, file, 0);

    if (page == MAP_FAILED)
        _exit(2);
    step_ns = page;
}

int __wrap_clock_gettime(clockid_t id, struct timespec *time)
{
    int result = __real_clock_gettime(id, time);

    if (id != CLOCK_REALTIME || result != 0)
        return result;
    int64_t ns = time->tv_sec * NS_PER_S + time->tv_nsec + *step_ns;
    time->tv_sec = (time_t)(ns / NS_PER_S);
    time->tv_nsec = (long)(ns % NS_PER_S);
    return 0;
}
