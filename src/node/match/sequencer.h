/* sequencer.h - stamps, applies and journals one command, of a client or of the node.
 *
 *   sequencer_reserve ──> room in the journal ──> sequencer_run: stamp │ engine_apply │ publish
 *   sequencer_author: the same for a command of the node, with its room
 *
 * Order.  Apply precedes append, and the room is reserved before apply: what was applied can always
 *         be journalled. The fault mark is cleared before the record is published, so that a marked
 *         command is in no journal (fault.h).
 * Wait.   Nothing blocks: without room in the journal nothing happens.
 * Owner.  The matcher's thread. `authored` is read by any thread. */
#ifndef NODE_MATCH_SEQUENCER_H
#define NODE_MATCH_SEQUENCER_H

#include "base/clock.h"
#include "base/hash_vote.h"
#include "base/published.h"
#include "engine/engine.h"
#include "engine/state/market.h"
#include "node/recover/fault.h"
#include "node/recover/rebuild.h"
#include "store/journal.h"

enum { SEQUENCER_HASH_INTERVAL = 65536 }; /* sequences between two records 2015 */

struct sequencer {
    struct engine *engine;
    struct journal *journal;
    const struct clock *clock;
    struct engine_sink *sink;     /* takes the effects of every command */
    struct fault_mark *mark;      /* names the command that is being applied */
    struct fault_mark unwatched;  /* the mark while no handler watches one */
    uint64_t last_t_ns;           /* of the last command sequenced */
    struct rebuild_buffer buffer; /* holds the command that is being authored */
    struct published authored;    /* total of the node's commands since start */
    struct hash_vote *vote;       /* of the leader of a cluster; NULL: a 2015 waits for nobody */
    uint64_t voted;               /* the sequence that was shown there */
};

/* Prepares a sequencer over parts that outlive it, without a fault handler's mark. */
void sequencer_init(struct sequencer *sequencer, struct engine *engine, struct journal *journal,
                    const struct clock *clock, struct engine_sink *sink);

/* Room in the journal for the command's record; NULL when there is none. */
uint8_t *sequencer_reserve(struct sequencer *sequencer, const struct command *command);

/* Applies the command at t and publishes its record in `room`. `location` is the command's location
 * as fault.h counts locations; *result gets the engine's result. */
void sequencer_run(struct sequencer *sequencer, struct command *command, uint64_t location,
                   uint64_t t_ns, uint8_t *room, struct engine_result *result);

/* Sequences and journals a command of the node (codes 2000-2099, 1001, 1002, 1008): `body` without
 * Header and RequestId. False when the journal has no room: nothing happened. */
CC_MUST_USE bool sequencer_author(struct sequencer *sequencer, uint16_t code, const void *body,
                                  uint32_t body_bytes, struct engine_result *result);

/* The hash of an engine's state now, as its 2015 would have it. */
void sequencer_hash_point(const struct engine *engine, struct hash_point *point);

/* Whether the next command must be a 2015: sequence k x 65,536 was the last (wire.md W3b). */
bool sequencer_hash_is_due(const struct sequencer *sequencer);

/* Authors the 2015 if it is due. False when the journal has no room for it, or the vote on it is
 * not over: nothing happened, and the caller asks again. */
CC_MUST_USE bool sequencer_author_hash(struct sequencer *sequencer);

/* Authors a start's 2014 and, if a 2015 was due before it, that one of its own sequence. False when
 * the journal has no room: call it with an empty journal. */
CC_MUST_USE bool sequencer_author_boot(struct sequencer *sequencer, const void *body,
                                       uint32_t body_bytes);

/* Authors a 1002 that gives the market the state. False when the journal has no room: nothing
 * happened. */
CC_MUST_USE bool sequencer_author_market_state(struct sequencer *sequencer, uint16_t asset_id,
                                               enum market_state state);

#endif
