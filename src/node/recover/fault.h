/* fault.h - a mark that says which command the matcher was applying when the process itself found a
 * fault: it lies in memory that survives the process (poison_page.h).
 *
 *   matcher's thread                      handler                     the next start
 *   fault_begin(mark, place)
 *     engine_apply ── SIGSEGV ... ──────> faulted = its number
 *   fault_end(mark)                       the signal ends us ───────> place, faulted
 *
 * A fault counts when all of this holds: a command is being applied; the signal came to the
 * matcher's thread; the processor raised it, or this process itself (abort, as of INVARIANT). So a
 * fault of another thread, or a signal that someone sent, never marks an innocent command.
 *
 * Order.  begin and end are relaxed: the handler runs on their thread, the next start behind the
 *         end of the process; engine_apply is a call that the compiler cannot see into, so nothing
 *         of it moves across them.
 * Owner.  begin and end: the matcher's thread. A process has one mark that is watched.
 * Wait.   Nothing blocks; the handler calls async-signal-safe functions only. */
#ifndef NODE_RECOVER_FAULT_H
#define NODE_RECOVER_FAULT_H

#include "base/compiler.h"

struct fault_mark {
    _Atomic uint64_t applying; /* a place, 0: no command is being applied */
    _Atomic uint64_t faulted;  /* signal number, 0: none */
};

/* Places: a slot of a command ring, or a code that the node authored. */
#define FAULT_IN_RING  (UINT64_C(1) << 63)
#define FAULT_AUTHORED (UINT64_C(1) << 62)

static inline uint64_t fault_location_slot(uint32_t ring, uint32_t slot)
{
    return FAULT_IN_RING | (uint64_t)ring << 32 | slot;
}

static inline uint64_t fault_location_code(uint16_t code)
{
    return FAULT_AUTHORED | code;
}

static inline void fault_begin(struct fault_mark *mark, uint64_t place)
{
    /* relaxed: see Order; pairs: the handler, poison_page_read */
    atomic_store_explicit(&mark->applying, place, memory_order_relaxed);
}

static inline void fault_end(struct fault_mark *mark)
{
    atomic_store_explicit(&mark->applying, 0, memory_order_relaxed); /* as fault_begin */
}

/* On the matcher's thread: this mark from now on. Takes SIGSEGV, SIGBUS, SIGFPE, SIGILL and SIGABRT
 * of the process, each until its first; whoever had them before gets them then, so exit status and
 * core dump stay as they were. Called again it does nothing. */
void fault_watch(struct fault_mark *mark);

/* Before the mark's memory goes: no fault counts any more. */
void fault_unwatch(void);

#endif
