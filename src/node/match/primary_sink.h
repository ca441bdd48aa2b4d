/* primary_sink.h - the sink of the primary's effects: it keeps keyring and symbols up to date.
 *
 * Owner. The matcher's thread, which alone writes the keyring and the symbols. */
#ifndef NODE_MATCH_PRIMARY_SINK_H
#define NODE_MATCH_PRIMARY_SINK_H

#include "base/keyring.h"
#include "base/symbols.h"
#include "engine/engine.h"
#include "node/match/key_keeper.h"

struct primary_sink {
    struct engine_sink sink; /* first: emit gets a pointer to it */
    struct keyring *keyring;
    struct key_keeper *keeper; /* gets reports of sessions; NULL: no tables are kept */
    struct symbols symbols; /* read by net threads, which have its address before the first start */
};

/* Does not touch `symbols`: zeroed memory is an empty table. */
void primary_sink_init(struct primary_sink *primary, struct keyring *keyring,
                       struct key_keeper *keeper);

/* After recovery: fills the keyring with the credentials that are live at the engine's time, and
 * the symbols with its markets, and requests a sweep of the keeper. */
void primary_sink_load(struct primary_sink *primary, const struct engine *engine);

#endif
