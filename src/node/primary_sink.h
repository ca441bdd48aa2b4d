/* primary_sink.h - where the primary's effects go: of all it tells only the keyring needs news.
 *
 * Owner. The matcher's thread; it is the keyring's writer. */
#ifndef NODE_PRIMARY_SINK_H
#define NODE_PRIMARY_SINK_H

#include "base/keyring.h"
#include "engine/engine.h"

struct primary_sink {
    struct engine_sink sink; /* first: emit gets a pointer to it */
    struct keyring *keyring;
};

void primary_sink_init(struct primary_sink *primary, struct keyring *keyring);

/* Fills the keyring with the credentials that are live at the engine's time: after recovery. */
void primary_sink_load(struct primary_sink *primary, const struct engine *engine);

#endif
