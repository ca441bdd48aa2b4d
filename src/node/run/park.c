#include "node/run/park.h"

#include <errno.h>
#include <sys/eventfd.h>
#include <unistd.h>

int park_init(struct park *park)
{
    atomic_init(&park->wanted, 0);
    park->owed = 0;
    park->file = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    return park->file < 0 ? -errno : 0;
}

void park_close(struct park *park)
{
    if (park->file >= 0)
        close(park->file);
    park->file = -1;
}

void park_begin(struct park *park, uint32_t wanted)
{
    /* An exchange, not a store: it reads what an earlier park_wake wrote, and with acquire the
     * second look sees the work that was made visible before it (pairs: park_wake). */
    atomic_exchange_explicit(&park->wanted, wanted | PARK_ALWAYS, memory_order_acq_rel);
}

void park_end(struct park *park)
{
    uint64_t wakes;

    /* Each waker that claims the flag writes a one, perhaps only after this read. Owed writes are
     * counted and read later, so that the file does not stay readable. If no waker claimed the flag
     * there is nothing to read. */
    if (atomic_exchange_explicit(&park->wanted, 0, memory_order_acq_rel) == 0)
        park->owed++;
    if (park->owed != 0 && read(park->file, &wakes, sizeof wakes) == (ssize_t)sizeof wakes)
        park->owed -= wakes;
}

uint32_t park_wanted(struct park *park)
{
    /* Adds nothing, but is a place in the order of changes, which a load would not be
     * (pairs: park_begin). Release: work first. */
    return atomic_fetch_add_explicit(&park->wanted, 0, memory_order_acq_rel);
}

void park_wake(struct park *park, uint32_t causes)
{
    uint64_t one = 1;

    if ((park_wanted(park) & causes) == 0)
        return; /* it is awake and looks again before it sleeps, or this is of no use to it */
    if (atomic_exchange_explicit(&park->wanted, 0, memory_order_acq_rel) == 0)
        return; /* another waker was first */
    ssize_t put = write(park->file, &one, sizeof one);
    INVARIANT(put == (ssize_t)sizeof one);
}
