/* following.h - the primary engine of a standby: it applies the records that count, as recovery
 * does, with the sink of the primary, so that keyring and symbols are those of the log.
 *
 * Order.  following_begin once recovery is over; following_step until the node leads, or ends;
 *         following_begin_again when it leads no more.
 * Wait.   As follow.h: blocks only for a segment file after the buffer overran it.
 * Owner.  The matcher's thread. */
#ifndef NODE_MATCH_FOLLOWING_H
#define NODE_MATCH_FOLLOWING_H

#include "base/option.h"
#include "engine/engine.h"
#include "node/recover/rebuild.h"
#include "node/recover/replay.h"
#include "store/follow.h"

enum { FOLLOWING_COMMANDS_A_TURN = 512 };

struct following {
    struct engine *engine;
    struct engine_sink *sink;
    struct follow *follow; /* NULL: not begun */
    struct mix_key key;
    struct option_engine layout; /* that the engine's memory was laid out for */
    uint32_t rules_version;      /* of the state */
    enum replay_refusal refused; /* of the step that returned -EBADMSG */
    uint32_t refused_version;    /* with REPLAY_rules_version: of the log */
    struct rebuild_buffer rebuilt;
};

/* Begins after the journal's start, which recovery reached with a state of `rules_version`. 0 or
 * -ENOMEM. */
CC_MUST_USE int following_begin(struct following *following, struct engine *engine,
                                struct engine_sink *sink, const struct journal *journal,
                                struct mix_key key, const struct option_engine *layout,
                                uint32_t rules_version);

/* Begins again after the journal's end, after following_end: this node led, and hands over. The
 * journal's thread. 0 or -ENOMEM. */
CC_MUST_USE int following_begin_again(struct following *following, const struct journal *journal);

/* Frees what begin made. Works after zeroing. */
void following_end(struct following *following);

/* Applies up to FOLLOWING_COMMANDS_A_TURN records. Returns their number; -EBADMSG when the engine
 * does not take one of them, and `refused` says why; or -errno. */
CC_MUST_USE int following_step(struct following *following);

#endif
