/* sleep.c - threads that do not look by themselves: linked into a perpd in front of the waits of
 * libc and liburing (-Wl,--wrap).
 *
 * A thread with nothing to do sleeps until it is woken, 50 ms at the longest. Here its longest
 * sleep is LONG_S: a thread that nobody wakes is late by so much, on a machine however slow.
 * Shorter waits are for a deadline and stay. */
#include <liburing.h>
#include <poll.h>

enum { LONGEST_NS = 50 * 1000 * 1000, LONG_S = 4 };

int __real_ppoll(struct pollfd *files, nfds_t count, const struct timespec *time,
                 const sigset_t *mask);
int __wrap_ppoll(struct pollfd *files, nfds_t count, const struct timespec *time,
                 const sigset_t *mask);
int __real_io_uring_submit_and_wait_timeout(struct io_uring *ring, struct io_uring_cqe **cqe,
                                            unsigned count, struct __kernel_timespec *time,
                                            sigset_t *mask);
int __wrap_io_uring_submit_and_wait_timeout(struct io_uring *ring, struct io_uring_cqe **cqe,
                                            unsigned count, struct __kernel_timespec *time,
                                            sigset_t *mask);

int __wrap_ppoll(struct pollfd *files, nfds_t count, const struct timespec *time,
                 const sigset_t *mask)
{
    const struct timespec longer = { .tv_sec = LONG_S };
    bool longest = time->tv_sec == 0 && time->tv_nsec == LONGEST_NS;

    return __real_ppoll(files, count, longest ? &longer : time, mask);
}

int __wrap_io_uring_submit_and_wait_timeout(struct io_uring *ring, struct io_uring_cqe **cqe,
                                            unsigned count, struct __kernel_timespec *time,
                                            sigset_t *mask)
{
    struct __kernel_timespec longer = { .tv_sec = LONG_S };
    bool longest = time->tv_sec == 0 && time->tv_nsec == LONGEST_NS;

    return __real_io_uring_submit_and_wait_timeout(ring, cqe, count, longest ? &longer : time,
                                                   mask);
}
