/* query_task.h - one query until its reply is published, in one turn of the follower or several.
 *
 * Owner. The follower's thread. The buffer is the task's until the reply is published. */
#ifndef NODE_QUERY_QUERY_TASK_H
#define NODE_QUERY_QUERY_TASK_H

#include "base/account_id.h"
#include "base/head_log.h"
#include "base/problem.h"
#include "base/reply_pool.h"
#include "engine/engine.h"
#include "engine/view/read.h"
#include "node/history/adl_rank.h"
#include "node/history/history.h"
#include "node/query/pairing_table.h"
#include "node/query/query_pieces.h"

enum { QUERY_TASK_ROWS_A_TURN = 10000 }; /* that one query may visit in a turn (wire.md W7) */

/* The data that queries read. */
struct query_frames;

struct query_sources {
    const struct engine *engine;
    struct history *history;
    struct adl_rank *ranks;
    struct pairing_table *pairings;
    const struct head_log *heads; /* NULL: none are made */
    struct query_frames *frames;  /* what /admin/frames and /admin/seal use; NULL: not served */
    _Atomic bool *tick_wanted;    /* of the matcher; NULL: there is none */
    uint64_t now_ns;              /* node clock */
    uint32_t invariants_failed;   /* bit k - 1: I<k>, as the follower has found */
};

/* Of candles: buckets are unix minutes or hours. */
struct query_candles {
    uint64_t low, high, end;   /* the span low <= bucket < high, which may grow to the end */
    uint64_t bound;            /* pieces from this location on came later than the first turn */
    uint64_t count;            /* candles found */
    uint64_t seq;              /* of the newest trade, as of the first turn */
    struct candle_piece open;  /* as of the first turn */
    struct candle_piece piece; /* the candle that pieces are put in front of */
    struct piece_walk walk;
    uint32_t bound_number;
    bool is_open_due;
    uint8_t zero[3];
};

struct query_task {
    struct query query;
    struct reply reply; /* time and sequence are those of the first turn */
    uint8_t *rows;      /* the reply's buffer; NULL: the pool was empty */
    /* Of lists: rows at and above this (sequence, index) are finished. */
    uint64_t below_sequence;
    uint32_t below_index;
    uint16_t asset_id; /* of the market filter, 0: none */
    bool is_newer;     /* trades_after: newer ones than these follow */
    uint8_t zero;
    uint64_t after_seq; /* of trades: they are newer than this seq of the market */
    uint64_t expected;  /* trades_after: rows that lie between that and the newest of these */
    uint64_t at;        /* position in the ring of the next row to visit */
    uint64_t offset;    /* rows still to skip */
    uint32_t market;    /* tickers: the number of the row that is being made */
    /* Balances and subaccounts: the next portfolio, and the row that it is added to. */
    uint32_t subaccount_index;
    uint32_t portfolio_index;
    uint8_t zero2[4];
    struct row_subaccount subaccount;
    struct query_candles candles;
};

static inline void query_task_refuse(struct query_task *task, enum problem problem)
{
    task->reply.problem = (uint16_t)problem;
}

/* Refuses: the answer needs rows at or below `dropped_sequence`, which are not kept. */
static inline void query_task_refuse_dropped(struct query_task *task, uint64_t dropped_sequence)
{
    task->reply.kept_from = dropped_sequence + 1;
    task->reply.problem = PROBLEM_not_ready;
    task->reply.cause = REPLY_NOT_KEPT;
}

/* The newest row of the file below the task's last one; NULL: there is none. False: it is not kept,
 * and the task is refused. */
CC_MUST_USE bool query_task_older(struct query_task *task, const struct query_sources *sources,
                                  enum history_table table, uint64_t key,
                                  const struct history_link **row);

/* The row that the task is at: of the ring, or of the file if the ring has dropped it. NULL: there
 * is none, and task->at is HISTORY_NONE; or it is not kept, and the task is refused. */
const void *query_task_row(struct query_task *task, const struct query_sources *sources,
                           enum history_table table, uint64_t key);

/* The key of an account's chains in the rings, or one that has none: there is no such account any
 * more. */
static inline uint64_t query_task_chain(const struct query_sources *sources, uint64_t account_id)
{
    return read_account_has_gone(sources->engine, account_id) ? UINT64_MAX
                                                              : account_id_slot(account_id);
}

/* Moves to the next older row. */
static inline void query_task_pass(struct query_task *task, const struct history_link *link)
{
    task->below_sequence = link->sequence;
    task->below_index = link->index;
    task->at = link->older;
}

/* Whether the query's filters let a private row in; a pin is one of them. */
bool query_task_admits(const struct query_task *task, uint32_t subaccount_index,
                       uint32_t portfolio_index, uint16_t asset_id);

/* True: the row is one of those that the offset passes over. */
static inline bool query_task_skip(struct query_task *task)
{
    if (task->offset == 0)
        return false;
    task->offset--;
    return true;
}

/* Takes one row from those that a call may look at. False: there is none left. */
static inline bool query_task_count(uint32_t *rows)
{
    if (*rows == 0)
        return false;
    (*rows)--;
    return true;
}

/* Whether older rows follow, kept or not. */
bool query_task_has_more(struct query_task *task, const struct query_sources *sources,
                         enum history_table table, uint64_t key);

/* Appends a row. Lists are bounded by their limit, so that every one fits. */
static inline void query_task_put(struct query_task *task, const void *row, size_t row_bytes)
{
    INVARIANT(task->reply.row_bytes + row_bytes <= REPLY_BUFFER_BYTES);
    memcpy(task->rows + task->reply.row_bytes, row, row_bytes);
    task->reply.row_bytes += (uint32_t)row_bytes;
    task->reply.row_count++;
}

/* The same for lists without a limit. False if the row does not fit: the client is asked for a part
 * of the list, or is told that there is none, if the kind has no such parameter. */
CC_MUST_USE static inline bool query_task_put_if_fits(struct query_task *task, const void *row,
                                                      size_t row_bytes)
{
    if (task->reply.row_bytes + row_bytes > REPLY_BUFFER_BYTES) {
        bool is_divided =
            task->query.kind == QUERY_balances || task->query.kind == QUERY_subaccounts;
        query_task_refuse(task, is_divided ? PROBLEM_invalid_parameter : PROBLEM_internal_error);
        return false;
    }
    query_task_put(task, row, row_bytes);
    return true;
}

/* The filter of a list of private rows: a pinned key's subaccount overrides the query's. */
static inline struct read_filter query_task_filter(const struct query_task *task)
{
    const struct query *query = &task->query;
    struct read_filter filter = {
        .account_id = query->account_id,
        .subaccount_index = query->pin >= 0 ? (uint32_t)query->pin : query->subaccount_index,
        .portfolio_index = query->portfolio_index,
        .status = query->status,
    };
    memcpy(filter.market, query->market, sizeof filter.market);
    return filter;
}

#endif
