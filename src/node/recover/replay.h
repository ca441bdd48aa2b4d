/* replay.h - checks whether this binary may apply a journalled record to an engine.
 *
 * It checks the rules_version, that a configuration parses and fits the memory, the effects hash of
 * the record, and that the engine accepts code, sizes and time. A start, the snapshotter's child,
 * `perp replay` and `perp audit` share it. No state. */
#ifndef NODE_RECOVER_REPLAY_H
#define NODE_RECOVER_REPLAY_H

#include "base/message.h"
#include "base/option.h"
#include "base/request.h"
#include "engine/engine.h"
#include "store/refusal.h"

/* clang-format off */
/*    name                sentence of a refusal; "": none is made of it */
#define REPLAY_REFUSAL_LIST(X) \
    X(layout_too_small, "") /* a 2013 asks for more than memory was laid out for: lay out again */ \
    X(rules_version,    "the journal was written under another rules_version; recover it with " \
                        "that binary and stop it cleanly first") \
    X(effects_hash,     "an effects_hash record (2015) differs from the replayed state") \
    X(image_hash,       "the replayed state differs from a snapshot's image") \
    X(history,          "the state differs from the one that history/data.mdb names there: its rows " \
                        "are of another course of this exchange; keep it elsewhere, and the next " \
                        "start makes it again") \
    X(configuration,    "a configuration record (2013) does not parse in this binary") \
    X(not_admitted,     "a record has a code, a size or a time that this binary cannot apply") \
    X(given_up,         "the start was given up")
/* clang-format on */

/* What a callback of recovery or of a fold returns, besides 0. */
enum replay_refusal {
    REPLAY_ADMITTED,
#define X(name, sentence) REPLAY_##name,
    REPLAY_REFUSAL_LIST(X)
#undef X
        REPLAY_REFUSAL_COUNT
};

/* Whether a record may be applied to a state of `rules_version` (a snapshot's). A state of another
 * version can only be followed by a start of this binary. */
CC_MUST_USE static inline bool replay_follows(uint32_t rules_version, uint16_t code)
{
    return rules_version == ENGINE_RULES_VERSION || code == REQUEST_boot;
}

/* The rules_version that a 2014 names; 0: it is none. */
CC_MUST_USE uint32_t replay_version(const struct command *command);

/* Whether that is one before this binary's. */
CC_MUST_USE static inline bool replay_is_earlier(uint32_t version)
{
    return version != 0 && version < ENGINE_RULES_VERSION;
}

static inline void replay_ignore(struct engine_sink *sink, const struct effect *effect)
{
    (void)sink;
    (void)effect;
}

/* A sink that keeps nothing. */
static inline struct engine_sink replay_ignoring(void)
{
    return (struct engine_sink){ .emit = replay_ignore, .ignores = UINT32_MAX };
}

/* Raises every capacity of `layout` to that of `wanted`. True if one was lower. */
bool replay_raise_layout(struct option_engine *layout, const struct option_engine *wanted);

/* Compares a record 2015 with the engine just before it is applied. True if equal, or if the
 * command is no 2015. */
CC_MUST_USE bool replay_hash_agrees(const struct engine *engine, const struct command *command);

/* Whether `command` may be applied as the next one of `engine`, whose memory is laid out for
 * `layout`. REPLAY_layout_too_small: `layout` was raised to what the command needs. */
CC_MUST_USE enum replay_refusal replay_admit(const struct engine *engine,
                                             struct option_engine *layout,
                                             const struct command *command);

/* Writes the sentence of a REFUSAL_record_refused whose error is an enum replay_refusal, followed
 * by the location already in the text. Other errors keep their text. */
void replay_explain(struct refusal *refusal);

#endif
