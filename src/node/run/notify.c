#include "node/run/notify.h"

#include <systemd/sd-daemon.h>
#include <unistd.h>

#include "base/log.h"
#include "node/run/node.h"

enum {
    LOOK_US = 100 * 1000,
    STATUS_S = 1,          /* between two reports of recovery */
    EXTEND_S = 60,         /* more time that is asked for */
    STOP_EXTEND_S = 5,     /* between two of a stop */
    STOP_EXTEND_MAX = 600, /* s; the manager ends a stop that takes longer */
    END_WAIT_S = 1,
    PINGS = 4, /* looks within the watchdog's time */
};

#define NS_PER_S UINT64_C(1000000000)

static void report_recovery(struct notify *notify, uint64_t now_ns)
{
    struct core *core = &notify->node->core;
    uint64_t replayed = atomic_load_explicit(&core->engines.replayed, memory_order_relaxed);

    if (now_ns - notify->sent_ns < STATUS_S * NS_PER_S && notify->sent_ns != 0)
        return;
    notify->sent_ns = now_ns;
    (void)sd_notifyf(0, "STATUS=recovering, %u %% of the journal's records, sequence %lu",
                     recover_percent(&core->engines), replayed);
    if (replayed == notify->replayed)
        return; /* no progress, or not begun: the manager's own timeout applies */
    notify->replayed = replayed;
    (void)sd_notifyf(0, "EXTEND_TIMEOUT_USEC=%lu", EXTEND_S * (NS_PER_S / 1000));
}

/* A node that waits for an upgrade turns its journal and nothing else. */
static bool is_waiting(const struct node *node)
{
    return atomic_load_explicit(&node->waits, memory_order_acquire); /* pairs: upgrade.c */
}

static void report_ready(struct notify *notify, uint64_t now_ns)
{
    struct node *node = notify->node;
    bool waits = is_waiting(node);

    /* pairs: announce and announce_standby in duty.c */
    if (notify->ready || (!waits && !atomic_load_explicit(&node->announced, memory_order_acquire) &&
                          !atomic_load_explicit(&node->stands_by, memory_order_acquire)))
        return;
    notify->ready = true;
    notify->ping_ns = now_ns;
    heartbeat_add(&notify->heartbeat, &node->journal->turns);
    if (waits) { /* the other roles begin in the process that follows */
        (void)sd_notify(0, "READY=1\nSTATUS=waiting for perp cluster upgrade");
        return;
    }
    heartbeat_add(&notify->heartbeat, &node->matcher->turns);
    heartbeat_add(&notify->heartbeat, &node->follower->turns);
    (void)sd_notifyf(0, "READY=1\nSTATUS=serving, boot %lu", node->core.recovered.boot);
}

static void ping(struct notify *notify, uint64_t now_ns)
{
    if (!notify->ready || notify->watchdog_us == 0 ||
        now_ns - notify->ping_ns < notify->watchdog_us * 1000 / PINGS)
        return;
    if (!heartbeat_all_moved(&notify->heartbeat))
        return; /* looked at again in LOOK_US */
    notify->ping_ns = now_ns;
    (void)sd_notify(0, "WATCHDOG=1");
}

static void report_stopping(struct notify *notify, uint64_t now_ns)
{
    if (!notify->stopping) {
        notify->stopping = true;
        notify->stopping_ns = now_ns;
        notify->sent_ns = now_ns;
        (void)sd_notify(0, "STOPPING=1\nSTATUS=stopping");
        return;
    }
    if (now_ns - notify->sent_ns < STOP_EXTEND_S * NS_PER_S ||
        now_ns - notify->stopping_ns > STOP_EXTEND_MAX * NS_PER_S)
        return;
    notify->sent_ns = now_ns;
    (void)sd_notifyf(0, "EXTEND_TIMEOUT_USEC=%lu", EXTEND_S * (NS_PER_S / 1000));
}

static void look(struct notify *notify)
{
    struct node *node = notify->node;
    uint64_t now_ns = clock_monotonic_ns(&node->clock);
    enum phase_name phase = phase_now(&node->phase);

    if (phase < PHASE_STANDBY && !is_waiting(node)) {
        report_recovery(notify, now_ns);
    } else if (phase <= PHASE_OPEN) {
        report_ready(notify, now_ns);
        ping(notify, now_ns);
    } else {
        report_stopping(notify, now_ns);
    }
}

static void *notify_main(void *context)
{
    struct notify *notify = context;

    pthread_setname_np(pthread_self(), "perpd-notify");
    /* relaxed: a flag alone; notify_end joins. */
    while (!atomic_load_explicit(&notify->ends, memory_order_relaxed)) {
        look(notify);
        usleep(LOOK_US);
    }
    if (!notify->stopping) /* the end was quicker than a look */
        report_stopping(notify, clock_monotonic_ns(&notify->node->clock));
    return NULL;
}

void notify_start(struct notify *notify, struct node *node)
{
    notify->node = node;
    atomic_init(&notify->ends, false);
    if (sd_notify(0, "STATUS=starting") <= 0) /* NOTIFY_SOCKET is not set, or no manager listens */
        return;
    if (sd_watchdog_enabled(0, &notify->watchdog_us) <= 0)
        notify->watchdog_us = 0;
    int failed = pthread_create(&notify->thread, NULL, notify_main, notify);
    notify->runs = failed == 0;
    if (failed != 0)
        log_line(LOG_ERROR, "start", "thread notify: %s", strerror(failed));
}

void notify_end(struct notify *notify)
{
    if (!notify->runs)
        return;
    atomic_store_explicit(&notify->ends, true, memory_order_relaxed);
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += END_WAIT_S;
    if (pthread_timedjoin_np(notify->thread, NULL, &until) != 0) {
        /* Held up in a send, which is a point where a thread can be ended. */
        (void)pthread_cancel(notify->thread);
        pthread_join(notify->thread, NULL);
    }
    notify->runs = false;
}
