/* history.h - what has happened, as far as memory keeps it: orders, fills, trades, requests,
 * payments, candles, withdrawals.
 *
 *   follower, recovery ── effects ──> history_sink ──> order_log, fill_log, request_log, money_log,
 *                                                            withdrawal_log, candle_log
 *                                                            └── read by query.h
 *
 * The newest HISTORY_ROWS_DEFAULT rows of each kind are kept, of some fewer. All are also in a file
 * (history_keep.h). A read that needs a row that is in neither is refused, never cut short.
 *
 * Owner.  The follower's thread; recovery before it, which creates it again at each attempt.
 * Bound.  history_create allocates all memory; it is touched as rows come. */
#ifndef NODE_HISTORY_HISTORY_H
#define NODE_HISTORY_HISTORY_H

#include "base/book_log.h"
#include "base/event_log.h"
#include "base/message.h"
#include "engine/state/effects.h"
#include "engine/view/watch.h"
#include "node/history/candle_log.h"
#include "node/history/exchange_counters.h"
#include "node/history/fill_log.h"
#include "node/history/history_keep.h"
#include "node/history/market_names.h"
#include "node/history/money_log.h"
#include "node/history/order_log.h"
#include "node/history/private_feed.h"
#include "node/history/private_keep.h"
#include "node/history/request_log.h"
#include "node/history/withdrawal_log.h"

/* A build with a sanitizer keeps fewer: it marks every byte of them at each start and end. */
#ifndef NODE_HISTORY_ROWS
#define NODE_HISTORY_ROWS (1 << 20)
#endif
enum { HISTORY_ROWS_DEFAULT = NODE_HISTORY_ROWS };

struct history {
    struct order_log orders;
    struct fill_log fills;
    struct request_log requests;
    struct money_log money;
    struct withdrawal_log withdrawals;
    struct candle_log candles;
    struct private_keep privates;
    struct market_names names;
    struct history_keep keep;
};

/* Recovery uses the same sink, so that rows begin with the first record. */
struct history_sink {
    struct engine_sink sink; /* first */
    struct history *history;
    struct exchange_counters *exchange_counters; /* NULL: effects are not counted, as in a replay */
    struct event_log *events; /* gets what is public; NULL: a replay shows nobody anything */
    struct book_log *orders;  /* gets changes of orders in books while they are wanted; as events */
    struct private_feed feed; /* shows what is private; in a replay too */
    struct watch *watch;      /* gets every effect but order states; NULL: nothing is watched */
};

/* `capacity` rows of each kind, a power of two. Account ids are below account_count. NULL without
 * memory. */
struct history *history_create(uint32_t capacity, uint32_t account_count, struct mix_key key);
void history_destroy(struct history *history);

/* Keeps all rows of a new history in `file`, too; the file outlives it. NULL: no file. 0 or
 * -ENOMEM. */
CC_MUST_USE int history_attach(struct history *history, struct history_file *file);

/* Keeps the newest `most` private events of each account in the file from now on; 0, as at first:
 * none. */
void history_keep_private(struct history *history, uint64_t most);

/* Marks everything up to the engine's sequence as dropped, for a start from a snapshot. The history
 * must be empty. Accounts and markets created later are complete. */
void history_forget(struct history *history, const struct engine *engine);

/* Prepares a sink that keeps effects in `history`, which outlives it, and shows private events in
 * `log`; NULL: in none. */
void history_sink_init(struct history_sink *sink, struct history *history, struct private_log *log);

/* The sequence up to which the file of the sink's history has all that the sink keeps; 0: it has
 * not. Private events, where they are logged, are of it if the file keeps as many as the log. */
uint64_t history_sink_in_file(const struct history_sink *sink);

/* Shows public events and changes of orders in the two logs from now on. They are empty; the engine
 * is the one whose effects the sink gets, and tells where each market is. */
void history_sink_show(struct history_sink *sink, struct event_log *events, struct book_log *orders,
                       const struct engine *engine);

/* Prefetches the rows that the next command will look up. */
void history_prefetch(const struct history *history, const struct command *command);

#endif
