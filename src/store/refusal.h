/* refusal.h - why a data directory was refused: one of a closed list; a sentence says where.
 *
 * The store decides and returns the refusal; it neither logs nor exits. The node prints `text` and
 * exits with `refusal_exit_code`: 3 for a directory that must not be used as it is, 1 for a machine
 * that failed, 4 for one that has too little memory. Nothing was written when a refusal is
 * returned, unless a function's contract says otherwise. */
#ifndef STORE_REFUSAL_H
#define STORE_REFUSAL_H

#include "base/compiler.h"

/* clang-format off */
/*    name               exit  the directory ... */
#define REFUSAL_LIST(X) \
    X(none,                 0, "is accepted") \
    X(machine,              1, "could not be read or written") \
    X(memory,               4, "needs more memory than this process gets") \
    X(locked,               3, "is in use by another process") \
    X(exchange_missing,     3, "holds files but no `exchange`") \
    X(exchange_damaged,     3, "has an `exchange` file that is damaged or of another version") \
    X(exchange_id,          3, "belongs to another exchange.id") \
    X(signing_key,          3, "lacks its signing key") \
    X(segment_missing,      3, "lacks a journal segment") \
    X(segment_size,         3, "has a journal segment of a wrong size") \
    X(segment_header,       3, "has a journal segment with a wrong header") \
    X(witness_damaged,      3, "has records but no whole slot in its `witness`") \
    X(witness_ahead,        3, "ends before the frame that its `witness` names") \
    X(witness_differs,      3, "has another frame than its `witness` names") \
    X(witness_older,        3, "is an older copy than its `exchange`") \
    X(frame_damaged,        3, "has a damaged frame that was acknowledged") \
    X(record_malformed,     3, "has a whole frame whose records do not parse") \
    X(record_refused,       3, "has a record that the caller refused to apply") \
    X(snapshot_damaged,     3, "has a damaged snapshot") \
    X(snapshot_foreign,     3, "has a snapshot of another exchange") \
    X(snapshot_ahead,       3, "lacks the frame that its snapshot ends with") \
    X(archive_list,         3, "has a damaged list of its archive") \
    X(archive_damaged,      3, "has a damaged archive") \
    X(archive_foreign,      3, "has an archive of another exchange") \
    X(cluster_differs,      3, "is no part of the cluster that it was started in") \
    X(log_behind,           3, "is ahead of the log of its cluster")
/* clang-format on */

enum refusal_kind {
#define X(name, exit_code, words) REFUSAL_##name,
    REFUSAL_LIST(X)
#undef X
        REFUSAL_COUNT
};

enum { REFUSAL_TEXT_BYTES = 320 };

struct refusal {
    enum refusal_kind kind;
    int error;        /* -errno of REFUSAL_machine and _memory, or what apply returned; else 0 */
    uint64_t segment; /* where, for the kinds that speak of a segment */
    uint64_t offset;  /* bytes from the start of that segment's file */
    char text[REFUSAL_TEXT_BYTES]; /* one sentence, no newline; empty for REFUSAL_none */
};

/* Resets it: kind none, empty text. */
void refusal_clear(struct refusal *refusal);

/* Records `kind` with "the data directory <words of the kind>: <text>"; a long text is cut.
 * Returns `kind`, so that a caller can return it. */
enum refusal_kind refusal_set(struct refusal *refusal, enum refusal_kind kind, const char *format,
                              ...) CC_PRINTF(3, 4);

/* The same for REFUSAL_machine: `what` failed with `error` (-errno). */
enum refusal_kind refusal_machine(struct refusal *refusal, const char *what, int error);

/* The process exit code of a kind: 0, 1, 3 or 4. */
CC_MUST_USE int refusal_exit_code(enum refusal_kind kind);

#endif
