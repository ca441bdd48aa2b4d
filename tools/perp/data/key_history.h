/* key_history.h - every key that the state of a journal ever had, so that an audit finds a record
 * whose signer was never one: perpd verifies such a request and does not let it in (rules.md R11,
 * step 11). A key that was revoked counts, for a request of it may have been under way. Of an
 * unsigned write the id of an API key or device key is looked for, of a 2016 its term.
 *
 *   engine ── effects 2118 ──> sink: keys added        record ──> key_history_judge
 *
 * It knows the keys of a replay that begins with the first record. Operator keys are in the
 * configuration: the engine judges them.
 *
 * Owner. The command's thread.
 * Bound. Memory: 64 bytes a key at most; it ends the program when there is none. */
#ifndef PERP_DATA_KEY_HISTORY_H
#define PERP_DATA_KEY_HISTORY_H

#include "base/hash.h"
#include "engine/engine.h"
#include "store/record.h"

struct key_history {
    struct engine_sink sink;      /* first; of the replay */
    uint8_t (*names)[HASH_BYTES]; /* hashes of keys; all zeros: free */
    uint64_t count, mask;
    uint64_t boot;        /* of the last 2014 */
    uint64_t term, epoch; /* of the last 2016; 0: none yet */
};

void key_history_init(struct key_history *keys);
void key_history_free(struct key_history *keys);

/* A replay begins again. */
void key_history_forget(struct key_history *keys);

/* After the record was applied with this result: NULL when its signer may have been let in, else
 * why not, a sentence that lives as long as the program. */
CC_MUST_USE const char *key_history_judge(struct key_history *keys,
                                          const struct record_view *record,
                                          const struct engine_result *result);

#endif
