/* chain_heads.h - signed heads (journal.md, Heads) against the chain: those of the directory's file
 * `heads`, and those that somebody kept elsewhere. Each is met by a frame of equal number, last
 * sequence, hash and effects hash, or it is a finding.
 *
 *   read ──> pass: each frame of the walk ──> effects: each record of the replay ──> judge
 *
 * The first difference is narrowed down to between the last head that is met and the first that is
 * not. A finding goes to standard error, and the context's exit code becomes 1.
 *
 * Owner. The command's thread.
 * Bound. CHAIN_HEADS_MAX heads. */
#ifndef PERP_DATA_CHAIN_HEADS_H
#define PERP_DATA_CHAIN_HEADS_H

#include "crypto/attest.h"
#include "engine/engine.h"
#include "perp/data/chain_walk.h"
#include "perp/data/signing_keys.h"
#include "perp/invocation/context.h"

enum { CHAIN_HEADS_MAX = 1 << 21, CHAIN_HEADS_TOLD_MAX = 5 };

struct chain_head {
    struct attest_head head;
    uint8_t signature[SIGNER_SIGNATURE_BYTES];
    const char *what;    /* where it came from */
    const char *differs; /* how its frame differs; NULL: not */
    bool is_compared;    /* its frame was passed */
    bool is_signed;      /* judged: by a key of its time */
};

struct chain_heads {
    struct context *context; /* in */
    const struct data_directory *directory;
    struct chain_head *rows; /* by frame; free them */
    struct signing_keys keys;
    size_t count, passed, replayed;
    uint64_t compared, effects_compared, findings;
    uint64_t met_sequence; /* of the last head that was met */
    uint64_t wrong_frame;  /* of the first that was not; 0: none */
    uint64_t wrong_sequence;
};

/* Reads the directory's heads and those of the file `path` (NULL: none): their bytes one after the
 * other, or the JSON of GET /heads. False after a printed error. */
CC_MUST_USE bool chain_heads_read(struct chain_heads *heads, const char *path);

/* Compares the heads that name `frame` with it. A walk begins with the first frame. */
void chain_heads_pass(struct chain_heads *heads, const struct chain_frame *frame);

/* Before a replay begins or begins again; after each record of it. */
void chain_heads_rewind(struct chain_heads *heads);
void chain_heads_effects(struct chain_heads *heads, uint64_t sequence, const struct engine *engine);

/* After the walk: each head is signed by a key of its time, and was passed. Prints where the first
 * difference lies. */
void chain_heads_judge(struct chain_heads *heads);

void chain_heads_free(struct chain_heads *heads);

#endif
