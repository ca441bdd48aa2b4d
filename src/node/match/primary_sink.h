/* primary_sink.h - where the primary's effects go: of all it tells only keys and symbols are news.
 *
 * Owner. The matcher's thread; it is the writer of the keyring and of the symbols. */
#ifndef NODE_MATCH_PRIMARY_SINK_H
#define NODE_MATCH_PRIMARY_SINK_H

#include "base/keyring.h"
#include "base/symbols.h"
#include "engine/engine.h"
#include "node/match/key_keeper.h"

struct primary_sink {
    struct engine_sink sink; /* first: emit gets a pointer to it */
    struct keyring *keyring;
    struct key_keeper *keeper; /* is told of sessions; NULL: nobody keeps tables */
    struct symbols symbols; /* read by net threads, which have its address before the first start */
};

/* Leaves `symbols` alone: zeroed memory is an empty table. */
void primary_sink_init(struct primary_sink *primary, struct keyring *keyring,
                       struct key_keeper *keeper);

/* Fills the keyring with the credentials that are live at the engine's time, and the symbols with
 * its markets: after recovery. The keeper is asked to look at all of them. */
void primary_sink_load(struct primary_sink *primary, const struct engine *engine);

#endif
