/* primary_sink.h - the sink of the primary's effects: it keeps keyring, symbols and the classes of
 * accounts up to date.
 *
 * Owner. The matcher's thread, which alone writes the keyring, the symbols and the classes. */
#ifndef NODE_MATCH_PRIMARY_SINK_H
#define NODE_MATCH_PRIMARY_SINK_H

#include "base/account_rate.h"
#include "base/keyring.h"
#include "base/symbols.h"
#include "engine/engine.h"
#include "node/match/key_keeper.h"

struct primary_sink {
    struct engine_sink sink; /* first: emit gets a pointer to it */
    struct keyring *keyring;
    struct key_keeper *keeper;  /* gets reports of sessions; NULL: no tables are kept */
    struct account_rate *rates; /* gets the classes of accounts; NULL: there is no limit */
    struct symbols symbols; /* read by net threads, which have its address before the first start */
};

/* Does not touch `symbols`: zeroed memory is an empty table. */
void primary_sink_init(struct primary_sink *primary, struct keyring *keyring,
                       struct key_keeper *keeper, struct account_rate *rates);

/* After recovery: fills the keyring with the credentials that are live at the engine's time,
 * the symbols with its markets and the rates with the classes of its accounts, and requests a sweep
 * of the keeper. */
void primary_sink_load(struct primary_sink *primary, const struct engine *engine);

#endif
