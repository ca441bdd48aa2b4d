/* request_log.h - the newest sequenced requests, found by (account, request id), in the follower's
 * memory. The file of the store has all of them (history_keep.h).
 *
 * Made from effect 2100 and the effects before it: the created credential (2118), subaccount or
 * portfolio (2119) or withdrawal (2120), and the status of each item of a batch (2100). Requests of
 * operators and refused account creations belong to no account's key and are left out. So are
 * requests whose credential was unknown: their id stays unused (W5).
 *
 * Owner. The follower's thread.
 * Bound. `capacity` rows and a map of twice as many slots, allocated at start. */
#ifndef NODE_HISTORY_REQUEST_LOG_H
#define NODE_HISTORY_REQUEST_LOG_H

#include "base/row_history.h"
#include "engine/state/effects.h"
#include "node/history/history_ring.h"
#include "node/history/id_map.h"

#define REQUEST_LOG_NO_SUBACCOUNT UINT32_MAX

struct request_row {
    struct history_link link;
    uint64_t account_id; /* id_map.h: right before the id */
    struct uuid id;
    uint64_t time_ns;
    uint8_t made_id[16];
    uint32_t subaccount_index; /* that its body names, or REQUEST_LOG_NO_SUBACCOUNT */
    uint16_t code;
    uint8_t status;
    uint8_t reason;
    uint8_t members; /* enum row_request_member bits */
    uint8_t result_count;
    uint8_t zero[6];
    uint32_t made_subaccount; /* with ROW_REQUEST_SUBACCOUNT, ROW_REQUEST_PORTFOLIO */
    uint32_t made_portfolio;
};

/* What the current command has created so far. */
struct request_made {
    uint64_t sequence;
    uint8_t id[16];
    uint32_t subaccount_index;
    uint32_t portfolio_index;
    uint8_t members; /* enum row_request_member */
    uint8_t result_count;
    uint8_t results[ROW_RESULTS_MAX];
};

struct request_log {
    struct history_ring ring; /* of struct request_row, one chain */
    uint8_t *results;         /* ROW_RESULTS_MAX bytes a row, touched by batches only */
    struct id_map map;
    uint64_t newest_dropped_ms; /* date of the newest dropped id */
    uint64_t dropped_sequence;  /* all rows with a higher one are kept */
    bool dropped;
    struct request_made made;
};

/* `capacity` is a power of two. 0, or -ENOMEM with nothing to free. */
CC_MUST_USE int request_log_init(struct request_log *log, uint32_t capacity, struct mix_key key);
void request_log_free(struct request_log *log);

/* Records that the requests up to `sequence` are not kept; the log must be empty. Their ids are
 * dated `newest_ms` at most. */
void request_log_forget(struct request_log *log, uint64_t sequence, uint64_t newest_ms);

/* Gets every effect in order and records 2100, 2118, 2119 and 2120. */
void request_log_append(struct request_log *log, const struct effect *effect);

/* Finds a request of the account, or NULL. */
const struct request_row *request_log_find(const struct request_log *log, uint64_t account_id,
                                           const struct uuid *id);

/* Whether a key may see it: with pin >= 0, its body must name that subaccount. */
CC_MUST_USE bool request_log_is_visible(const struct request_row *request, int32_t pin);

/* Whether an id that is not found may belong to a dropped request. */
bool request_log_may_have_dropped(const struct request_log *log, const struct uuid *id);

/* The results of a row of the log: ROW_RESULTS_MAX bytes. A thread that does not own the log may
 * ask for those of a row that it knows is kept. */
const uint8_t *request_log_results(const struct request_log *log,
                                   const struct request_row *request);

/* Shows a request as a row of a reply. `results` are as many as it counts. */
void request_log_show(const struct request_row *request, const uint8_t *results,
                      struct row_request *row);

#endif
