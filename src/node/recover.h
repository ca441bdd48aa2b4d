/* recover.h - the state of both engines at a start (journal.md, Recovery; docs/decisions/0041).
 *
 *   snapshot/ newest whole one ─> primary and replica <── archive/, journal/ behind it
 *        └─ none, or the journal is whole and short: every record from the first on, and the
 *           newest snapshot's image hash is compared in passing
 *
 * Main or journal thread, blocking. */
#ifndef NODE_RECOVER_H
#define NODE_RECOVER_H

#include "node/core.h"

/* Fills primary, replica, history, `recovered` and snapshot_sequence of a core that is configured.
 * Refused: what recovery_run refuses; a snapshot or a record of another rules_version than this
 * binary's; a record, hash or image that does not fit the state. */
CC_MUST_USE enum refusal_kind recover_state(struct core *core, struct refusal *refusal);

/* Gives the memory of the engines back; of the primary alone. */
void recover_unmap(struct core *core);
void recover_unmap_primary(struct core *core);

#endif
