/* pairing_table.h - device pairings (wire.md W7): a new device hands its keys to one that is logged
 * in and gets a text back.
 *
 *   open ──> PENDING ── deposit ──> DEPOSITED ── complete ──> COMPLETED ── result ──> read
 *
 * A pairing lives PAIRING_LIFE_NS. Its slot is part of its id. A later pairing gets the slot when
 * it has expired; until then a request for it is answered pairing_expired. The table is memory
 * alone: a restart forgets every pairing.
 *
 * Owner. The follower's thread.
 * Bound. PAIRING_SLOTS at a time, PAIRING_ACCOUNT_MAX of an account; of each class and those below
 *        it their share (W8, slots), where an account counts as it was when it opened the pairing.
 *        An address may open one while it has less than half as many as its account's class may
 *        still open: alone it has a third of the share, and however many come, one is left for the
 *        next. A further one is refused with rate_limited. The memory, 70 MB, is mapped at the
 *        start and resident where it was used.
 * Units. Times are unix ns of the node clock. */
#ifndef NODE_QUERY_PAIRING_TABLE_H
#define NODE_QUERY_PAIRING_TABLE_H

#include "base/problem.h"
#include "base/query_message.h"
#include "base/row.h"
#include "engine/view/read_share.h"

#define PAIRING_LIFE_NS UINT64_C(120000000000)

enum { PAIRING_SLOTS = 16384, PAIRING_ACCOUNT_MAX = 8 };

/* clang-format off */
/*    status      may become */
#define PAIRING_STATUS_LIST(X)                                                                     \
    X(PENDING,    TO(DEPOSITED))  /* opened */                                                     \
    X(DEPOSITED,  TO(COMPLETED))  /* with the keys of the device that joins */                     \
    X(COMPLETED,  0)              /* and with the text for it */
/* clang-format on */

enum pairing_status {
#define X(name, next) PAIRING_##name,
    PAIRING_STATUS_LIST(X)
#undef X
        PAIRING_STATUS_COUNT
};

struct pairing {
    uint8_t id[16];
    uint8_t token_hash[QUERY_TOKEN_HASH_BYTES];
    uint64_t expires_ns;
    int32_t pin;    /* of the device key that opened it; -1: none */
    uint8_t status; /* enum pairing_status */
    bool is_read;   /* the text was shown, which spends the token */
    uint8_t share_class;
    uint8_t keys[QUERY_PAIRING_KEYS_BYTES];
    uint32_t text_bytes;
    char text[QUERY_PAIRING_TEXT_MAX];
};

struct pairing_table {
    struct pairing *slots;            /* [PAIRING_SLOTS] */
    uint64_t *account_ids;            /* [PAIRING_SLOTS], of the slots */
    uint64_t *addresses;              /* [PAIRING_SLOTS], that opened them */
    uint32_t used[SHARE_CLASS_COUNT]; /* that may not have expired, by class */
    uint64_t opened;                  /* ever; the next has slot opened % PAIRING_SLOTS */
    uint64_t oldest;                  /* the first that may not have expired, by the same count */
};

/* Maps the memory. 0 or -ENOMEM. */
CC_MUST_USE int pairing_table_init(struct pairing_table *table);

/* Unmaps it. A table of zeros has none. */
void pairing_table_free(struct pairing_table *table);

/* When a pairing may be opened that was refused, and for whom it was: enum reply_owner. */
struct pairing_wait {
    uint64_t retry_ms;
    uint8_t cause;
};

/* Opens a pairing for the account and the pin of the query, whose random bytes become its id.
 * *share is the account's class, and what the classes may have of PAIRING_SLOTS. PROBLEM_none with
 * *row, or rate_limited with *wait. */
CC_MUST_USE enum problem pairing_table_open(struct pairing_table *table, const struct query *query,
                                            const struct read_share *share, uint64_t now_ns,
                                            struct row_pairing *row, struct pairing_wait *wait);

/* Runs a query of another kind on the pairing of its id. A device key reaches pairings of its
 * account and its pin alone; deposit and result need the token. PROBLEM_none with *row and the
 * row's text_bytes characters in `text`, or not_found, invalid_token, pairing_expired,
 * pairing_already_used, pairing_not_deposited, which change nothing. */
CC_MUST_USE enum problem pairing_table_run(struct pairing_table *table, const struct query *query,
                                           uint64_t now_ns, struct row_pairing *row,
                                           char text[QUERY_PAIRING_TEXT_MAX]);

#endif
