/* fault.h - the fault mark: names the command that the matcher is applying, in case the process
 * faults. It is in memory that survives the process (poison_page.h).
 *
 *   matcher's thread                      handler                     the next start
 *   fault_begin(mark, location)
 *     engine_apply ── SIGSEGV ... ──────> faulted = its number
 *   fault_end(mark)                       the signal ends us ───────> location, faulted
 *
 * A fault counts if a command is being applied, the signal came to the matcher's thread, and the
 * processor or this process itself raised it (abort, as by INVARIANT). So a fault of another
 * thread, or a signal that someone sent, never marks an innocent command.
 *
 * Order.  begin and end are relaxed: the handler runs on their thread, and the next start after the
 *         end of the process. The compiler cannot see into engine_apply, so it moves none of it
 *         across them.
 * Owner.  begin and end: the matcher's thread. A process watches one mark.
 * Wait.   Nothing blocks; the handler calls only async-signal-safe functions. */
#ifndef NODE_RECOVER_FAULT_H
#define NODE_RECOVER_FAULT_H

#include "base/compiler.h"

struct fault_mark {
    _Atomic uint64_t applying; /* location of the command that is being applied; 0: none */
    _Atomic uint64_t faulted;  /* signal number, 0: none */
};

/* Locations: a slot of a command ring, or a code that the node authored. */
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

static inline void fault_begin(struct fault_mark *mark, uint64_t location)
{
    /* relaxed: see Order; pairs: the handler, poison_page_read */
    atomic_store_explicit(&mark->applying, location, memory_order_relaxed);
}

static inline void fault_end(struct fault_mark *mark)
{
    atomic_store_explicit(&mark->applying, 0, memory_order_relaxed); /* as fault_begin */
}

/* Watches this mark from now on; call it on the matcher's thread. Handles SIGSEGV, SIGBUS, SIGFPE,
 * SIGILL and SIGABRT, each until its first occurrence; the previous handler then gets the signal,
 * so that exit status and core dump do not change. A second call does nothing. */
void fault_watch(struct fault_mark *mark);

/* Stops watching. Call it before the mark's memory is unmapped. */
void fault_unwatch(void);

#endif
