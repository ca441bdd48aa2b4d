/* writer.h - what writes a data directory: the pool of prepared segments and the journal.
 *
 * Owner. The journal's thread, within recovery. core_destroy frees both. */
#ifndef NODE_RUN_WRITER_H
#define NODE_RUN_WRITER_H

#include "node/run/core.h"

/* Makes core->pool and core->journal, which goes on where core->recovered ends; core->frames is
 * there. 0 or -errno. */
CC_MUST_USE int writer_make(struct core *core);

#endif
