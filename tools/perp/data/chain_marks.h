/* chain_marks.h - what lies beside a chain and names a frame of it: snapshots, the slots of
 * `witness`, and the end that an operator kept. Each is met by a frame of equal number, last
 * sequence and hash, or it is a finding. So is an `exchange` that counts a start of which nothing
 * else is left.
 *
 *   read: before the walk ──> pass: each frame ──> judge: the end of the chain
 *
 * A finding goes to standard error, and the context's exit code becomes 1. A primary may be
 * running: it writes marks that are read here only of frames that a later walk meets, and a
 * snapshot that it removes meanwhile does not count.
 *
 * Owner. The command's thread.
 * Bound. CHAIN_MARKS_MAX marks; more snapshots are a finding. */
#ifndef PERP_DATA_CHAIN_MARKS_H
#define PERP_DATA_CHAIN_MARKS_H

#include "perp/data/data_directory.h"
#include "store/chain.h"
#include "store/witness_check.h"

enum { CHAIN_MARKS_SNAPSHOTS_MAX = 1024, CHAIN_MARKS_MAX = CHAIN_MARKS_SNAPSHOTS_MAX + 4 };

enum mark_kind { MARK_SNAPSHOT, MARK_WITNESS, MARK_KIND_COUNT };

struct chain_mark {
    enum mark_kind kind;
    uint64_t name; /* a snapshot's sequence, a slot's place in the file */
    uint64_t sequence, frame;
    uint8_t hash[HASH_BYTES];
    bool is_seen; /* a frame of that number was passed */
};

struct chain_marks {
    struct context *context; /* in */
    const struct data_directory *directory;
    const uint64_t *end; /* the sequence that the operator kept; NULL: none */
    uint64_t compared[MARK_KIND_COUNT], findings;
    struct chain_mark rows[CHAIN_MARKS_MAX];
    int count;
    struct witness_check starts; /* which start `witness` is of, and `exchange` */
};

/* Reads the marks; those that cannot be read are findings. False after a printed error. */
CC_MUST_USE bool chain_marks_read(struct chain_marks *marks);

/* Compares the marks that name `frame` with it. */
void chain_marks_pass(struct chain_marks *marks, const struct chain_frame *frame);

/* Judges a chain that was walked from its first frame to `end`: each mark was passed, and the
 * operator's sequence, if there is one, is that of the end. */
void chain_marks_judge(struct chain_marks *marks, const struct frame_tail *end);

#endif
