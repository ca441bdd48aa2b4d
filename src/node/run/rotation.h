/* rotation.h - the exchange's own key at a start: whether it is the journal's, and the records 2018
 * that put it in the place of the one that the journal has (journal.md, Signing key).
 *
 * Thread. The start's, and in a cluster the matcher's of the node that begins to lead. */
#ifndef NODE_RUN_ROTATION_H
#define NODE_RUN_ROTATION_H

#include "node/run/core.h"

/* Whether the journal's key is this start's, a former one of it, or there is none yet. */
CC_MUST_USE bool rotation_is_lawful(const struct core *core);

/* The same at a start, after recovery: else the refusal. `exchange` names this start's key then. */
CC_MUST_USE enum refusal_kind rotation_check(struct core *core, struct refusal *refusal);

/* Authors one 2018 for each rotation that the journal does not have yet, after the 2014 of the
 * start. */
void rotation_author(struct core *core);

#endif
