/* vault_reader.h - one segment at a time from the vault, read by a thread that may hang
 * (replication.md, Vault).
 *
 *   who needs it: vault_reader_ask ──> vault_reader_work, one other thread ──> vault_reader_accept
 *
 * Wait.   Only vault_reader_work blocks, for as long as the vault does. Who asked turns on, and
 *         says so in a log line after VAULT_READER_LATE_NS.
 * Owner.  All but `state`, `since` and `awaited` is the asker's, from the ask until the answer the
 *         worker's. There is one worker: two would both read what is asked, the later one into
 *         memory that the asker has freed. */
#ifndef NODE_REPLICATOR_VAULT_READER_H
#define NODE_REPLICATOR_VAULT_READER_H

#include "base/published.h"
#include "repl/cluster_row.h"
#include "store/vault.h"

#define VAULT_READER_LATE_NS UINT64_C(10000000000)

/* clang-format off */
/*    state      may become */
#define VAULT_READER_STATE_LIST(X)                                                                 \
    X(IDLE,      TO(ASKED))     /* the asker's move, */                                            \
    X(ASKED,     TO(ANSWERED))  /* the worker's, */                                                \
    X(ANSWERED,  TO(IDLE))      /* the asker's again */
/* clang-format on */

enum vault_reader_state {
#define X(name, next) VAULT_READER_##name,
    VAULT_READER_STATE_LIST(X)
#undef X
        VAULT_READER_STATE_COUNT
};

struct vault_reader {
    _Atomic uint32_t state; /* enum vault_reader_state */
    struct cluster_segment segment;
    uint8_t *bytes;
    int error;
    bool is_told;                    /* logged that it is late */
    struct published since, awaited; /* of what is asked: when, and segment + 1; 0: nothing */
};

/* Asks for a segment; nothing else is asked. 0, or -ENOMEM with nothing asked. */
CC_MUST_USE int vault_reader_ask(struct vault_reader *reader, const struct vault *vault,
                                 const struct cluster_segment *segment, uint64_t now_ns);

/* Whether an answer is awaited; logs once that it is late. */
CC_MUST_USE bool vault_reader_waits(struct vault_reader *reader, uint64_t now_ns);

/* True when there is an answer: *error is 0 and *bytes the caller's to free, the whole segment; or
 * *error is as vault_load gives it. */
CC_MUST_USE bool vault_reader_accept(struct vault_reader *reader, uint8_t **bytes, int *error);

/* One other thread, always the same: reads what is asked. The work done; 0: nothing is asked. */
uint32_t vault_reader_work(struct vault_reader *reader, const struct vault *vault);

/* Any thread: for how long a segment has been awaited, and which; 0: for less than
 * VAULT_READER_LATE_NS, or none is. */
CC_MUST_USE uint64_t vault_reader_late_ns(const struct vault_reader *reader, uint64_t now_ns,
                                          uint64_t *segment);

/* Frees what nobody took. No thread works on it. */
void vault_reader_end(struct vault_reader *reader);

#endif
