/* etcd_call.h - the calls of the etcd seam (etcd.h) as functions. */
#ifndef REPL_ETCD_CALL_H
#define REPL_ETCD_CALL_H

#include "repl/etcd.h"

/* Starts a request; `tag` comes back from etcd_reap and is unique among those in flight. 0, or
 * -errno and nothing started (etcd.h, Errors). A request of wrong shape is a bug of the caller. */
static inline CC_MUST_USE int etcd_submit(struct etcd *etcd, const struct etcd_request *request,
                                          uint64_t tag)
{
    return etcd->ops->submit(etcd, request, tag);
}

/* Gives a request up: its tag does not come back, what it asks may still be done. False: there is
 * none of this tag. */
static inline bool etcd_cancel(struct etcd *etcd, uint64_t tag)
{
    return etcd->ops->cancel(etcd, tag);
}

/* Reads and writes what the connection takes, then collects up to `done_max` answers. Their number,
 * never an error. As many as asked for: there may be more, and etcd_file need not be readable. */
static inline CC_MUST_USE int etcd_reap(struct etcd *etcd, struct etcd_done *done, int done_max)
{
    return etcd->ops->reap(etcd, done, done_max);
}

/* Parks the thread until reap has something to do, `wake_file` (an eventfd, left unread; -1: none)
 * is readable, or the time is over. 0 or -errno. */
static inline CC_MUST_USE int etcd_wait(struct etcd *etcd, int wake_file, uint64_t timeout_ns)
{
    return etcd->ops->wait(etcd, wake_file, timeout_ns);
}

/* A file that is readable when reap has something to do: an epoll, for the life of the etcd; -1 of
 * a simulated one. */
static inline CC_MUST_USE int etcd_file(struct etcd *etcd)
{
    return etcd->ops->file(etcd);
}

/* When reap must be called at the latest, for deadlines and connections: ns of CLOCK_MONOTONIC (of
 * the world, of a simulated one); UINT64_MAX: never. */
static inline CC_MUST_USE uint64_t etcd_due(struct etcd *etcd)
{
    return etcd->ops->due(etcd);
}

static inline void etcd_health(struct etcd *etcd, struct etcd_health *health)
{
    etcd->ops->health(etcd, health);
}

/* Ends the connection and frees the etcd with all that its answers point to. Leases live on. */
static inline void etcd_close(struct etcd *etcd)
{
    etcd->ops->close(etcd);
}

/* The bytes of a text without its end, for keys. */
static inline struct etcd_bytes etcd_text(const char *text)
{
    return (struct etcd_bytes){ text, strlen(text) };
}

#endif
