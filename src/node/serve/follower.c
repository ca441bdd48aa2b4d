#include "node/serve/follower.h"

#include <errno.h>
#include <stdlib.h>

#include "base/fair_share.h"
#include "engine/view/audit.h"
#include "node/match/sequencer.h"
#include "node/recover/replay.h"

#define MARK_NS UINT64_C(100000000) /* from a mark of the history to the next */

static void show(struct follower *follower)
{
    exchange_counters_refresh(&follower->exchange_counters, follower->engine);
    atomic_store_explicit(&follower->applied_time_ns, engine_time(follower->engine),
                          memory_order_relaxed);
    /* Release: a reader of `applied` also sees the time stored before it (pairs: node_applied). */
    atomic_store_explicit(&follower->applied, engine_sequence(follower->engine),
                          memory_order_release);
}

/* The state now, for the history: its next commit ends here. */
static void mark_history(struct follower *follower)
{
    history_keep_mark(&follower->sink.history->keep, follower->engine);
    follower->marked = engine_sequence(follower->engine);
}

/* Not behind each command, but when nothing waits, or the history waits for it. */
static bool marks_history(const struct follower *follower, bool has_applied, uint64_t now_ns)
{
    return follower->marked != engine_sequence(follower->engine) &&
           (!has_applied || now_ns - follower->marked_ns >= MARK_NS ||
            history_keep_is_full(&follower->sink.history->keep));
}

int follower_end_history(struct follower *follower)
{
    mark_history(follower);
    return history_keep_flush(&follower->sink.history->keep, true);
}

int follower_init(struct follower *follower, struct engine *engine, struct follow *follow,
                  const struct journal *journal, const struct clock *clock, struct mix_key key,
                  uint64_t lag_max_ns, int commands_a_turn)
{
    struct history_sink sink = follower->sink; /* recovery has used it */
    INVARIANT(commands_a_turn > 0);
    memset(follower, 0, sizeof *follower);
    follower->sink = sink;
    follower->sink.exchange_counters = &follower->exchange_counters;
    follower->sink.watch = &follower->watch;
    follower->watch.capacity = read_portfolio_slots(engine);
    follower->watch.rows = calloc(follower->watch.capacity, sizeof *follower->watch.rows);
    follower->engine = engine;
    follower->follow = follow;
    follower->journal = journal;
    follower->clock = clock;
    follower->began_ns = clock_now_ns(clock);
    follower->key = key;
    follower->lag_max_ns = lag_max_ns;
    follower->commands_a_turn = commands_a_turn;
    follower->aside = calloc(FOLLOWER_LINKS_MAX, sizeof *follower->aside);
    follower->ranks = adl_rank_create();
    int failed = pairing_table_init(&follower->pairings);
    if (failed != 0 || follower->aside == NULL || follower->ranks == NULL ||
        follower->watch.rows == NULL)
        return -ENOMEM; /* follower_free frees what exists */
    exchange_counters_refresh_claims(&follower->exchange_counters, engine);
    show(follower);
    return 0;
}

void follower_free(struct follower *follower)
{
    slice_fold_free(&follower->fold);
    free(follower->aside);
    free(follower->watch.rows);
    adl_rank_destroy(follower->ranks);
    pairing_table_free(&follower->pairings);
    query_frames_free(&follower->frames);
    history_destroy(follower->sink.history);
    follower->aside = NULL;
    follower->watch.rows = NULL;
    follower->ranks = NULL;
    follower->sink.history = NULL;
}

void follower_link_add(struct follower *follower, const struct follower_link *link)
{
    INVARIANT(follower->link_count < FOLLOWER_LINKS_MAX);
    follower->links[follower->link_count++] = *link;
}

/* A failed invariant is recorded and halts its market, or all; the process goes on. */
static void report_failed(struct follower *follower, const struct audit_verdict *verdict)
{
    /* relaxed: shown, decides nothing. */
    atomic_fetch_or_explicit(&follower->invariants_failed, verdict->failed, memory_order_relaxed);
    alarm_raise(&follower->alarm, verdict);
}

/* Checks R2's invariants at a checkpoint. */
static void audit(struct follower *follower)
{
    struct audit_verdict verdict;

    exchange_counters_refresh_claims(&follower->exchange_counters, follower->engine);
    if (!audit_judge(follower->engine, &verdict))
        report_failed(follower, &verdict);
}

/* Applies a command. I7 and I8 are checked at each of its effects; I10, which looks at every
 * portfolio, around the command after a checkpoint. */
static void apply_watched(struct follower *follower, const struct command *command)
{
    struct engine_result result;
    struct audit_verdict verdict;

    if (follower->watches_command)
        watch_begin(&follower->watch, follower->engine);
    follower->watches_command = false;
    engine_apply(follower->engine, command, &follower->sink.sink, &result);
    if (!watch_end(&follower->watch, follower->engine, command, &verdict))
        report_failed(follower, &verdict);
}

/* The state before the 2015 that follows, for the vote of a cluster. */
static void show_hash(struct follower *follower)
{
    struct hash_point point;

    sequencer_hash_point(follower->engine, &point);
    hash_board_set(&follower->vote->replica, &point);
    follower->has_shown_hash = true;
}

static int apply(struct follower *follower, const struct record_view *record, uint64_t sequence)
{
    struct command *command = rebuild_command(&follower->rebuilt, record, follower->key);

    if (sequence != engine_sequence(follower->engine) + 1)
        return -EBADMSG;
    if (!replay_hash_agrees(follower->engine, command)) {
        atomic_store_explicit(&follower->diverged, true, memory_order_relaxed);
        return -EBADMSG;
    }
    history_prefetch(follower->sink.history, command);
    apply_watched(follower, command);
    history_keep_publish(&follower->sink.history->keep);
    published_add(&follower->counters.commands, 1);
    if (command->code == REQUEST_effects_hash) {
        published_add(&follower->counters.hashes, 1);
        audit(follower);
        follower->watches_command = true;
    }
    if (CC_UNLIKELY(sequence % SEQUENCER_HASH_INTERVAL == 0) && follower->vote != NULL)
        show_hash(follower);
    return 0;
}

uint64_t follower_lag_ns(const struct follower *follower)
{
    uint64_t applied = atomic_load_explicit(&follower->applied, memory_order_acquire);
    if (applied >= journal_durable_seq(follower->journal))
        return 0;
    uint64_t shown_ns = atomic_load_explicit(&follower->applied_time_ns, memory_order_relaxed);
    if (shown_ns < follower->began_ns) /* of a start before this one, or of none */
        shown_ns = follower->began_ns;
    uint64_t now_ns = clock_now_ns(follower->clock);
    return now_ns > shown_ns ? now_ns - shown_ns : 0;
}

/* The reply of a task that is done with. */
static void publish(struct follower *follower, const struct follower_link *link,
                    const struct query_task *task)
{
    struct reply *reply = ring_claim(link->replies, 1);
    INVARIANT(reply != NULL); /* credits: queries sent - replies read < reply ring size */
    *reply = task->reply;
    published_add(&follower->counters.queries, 1);
}

static struct query_sources sources_of(struct follower *follower)
{
    return (struct query_sources){
        .engine = follower->engine,
        .history = follower->sink.history,
        .ranks = follower->ranks,
        .pairings = &follower->pairings,
        .heads = follower->head_log,
        .frames = follower->frames.journal != NULL ? &follower->frames : NULL,
        .tick_wanted = follower->tick_wanted,
        .now_ns = clock_now_ns(follower->clock),
        .invariants_failed =
            atomic_load_explicit(&follower->invariants_failed, memory_order_relaxed),
    };
}

static bool is_over(const struct follower *follower)
{
    return clock_monotonic_ns(follower->clock) >= follower->answer_end_ns;
}

/* Takes what a step has used of its own budget from the turn's. */
static void charge(struct query_task *task, struct query_budget *budget,
                   const struct query_budget *own, uint32_t given)
{
    uint32_t used = given - own->rows + own->owed;
    uint32_t of_rows = used < budget->rows ? used : budget->rows;
    uint32_t of_spare = used - of_rows < budget->spare ? used - of_rows : budget->spare;

    budget->rows -= of_rows;
    budget->spare -= of_spare;
    budget->holders = own->holders;
    task->reply.rows_visited += used;
}

/* Continues the queries that are aside, the longest waiting first, each by a slice and then the
 * next, for half of the turn's rows and time. */
static void resume(struct follower *follower, uint32_t at, struct query_budget *budget)
{
    const struct follower_link *link = &follower->links[at];
    struct follower_aside *aside = &follower->aside[at];
    struct query_sources sources = sources_of(follower);

    for (uint32_t turn = 0; aside->count > 0; turn++) {
        struct query_budget own = *budget;
        if (budget->rows <= FOLLOWER_ROWS_A_TURN / 2 || (turn > 0 && is_over(follower)))
            return;
        own.rows = own.rows < follower->slice_rows ? own.rows : follower->slice_rows;
        own.owed = 0;
        uint32_t given = own.rows;
        struct query_task task = aside->tasks[0];
        bool done = query_step(&task, &sources, link->pool, &own);
        charge(&task, budget, &own, given);
        aside->count--;
        memmove(&aside->tasks[0], &aside->tasks[1], aside->count * sizeof task);
        if (done)
            publish(follower, link, &task);
        else
            aside->tasks[aside->count++] = task;
    }
}

/* Whether the address may have one more query aside. */
static bool has_room(const struct follower_aside *aside, uint64_t address)
{
    uint32_t held = 0;

    for (uint32_t i = 0; i < aside->count; i++)
        held += aside->tasks[i].query.address == address;
    return fair_share_has_room(held, FOLLOWER_ASIDE_MAX - aside->count);
}

/* A query that needs more turns, or the refusal when too many do. */
static void put_aside(struct follower *follower, uint32_t at, struct query_task *task)
{
    struct follower_aside *aside = &follower->aside[at];

    if (has_room(aside, task->query.address)) {
        aside->tasks[aside->count++] = *task;
        published_add(&follower->counters.aside, 1);
        return;
    }
    query_give_up(task, follower->links[at].pool);
    publish(follower, &follower->links[at], task);
    published_add(&follower->counters.given_up, 1);
}

/* However little the turn has left, a query gets enough for a page of the greatest limit: it does
 * not wait for the deep ones before it to be done. */
static bool begin_task(struct query_task *task, const struct query_sources *sources,
                       const struct query *query, struct reply_pool *pool,
                       struct query_budget *budget, uint32_t slice_rows)
{
    struct query_budget own = *budget;

    own.rows = own.rows < slice_rows ? own.rows : slice_rows;
    if (own.rows < FOLLOWER_ROWS_A_QUERY)
        own.rows = FOLLOWER_ROWS_A_QUERY;
    own.owed = 0;
    uint32_t given = own.rows;
    bool done = query_begin(task, sources, query, pool, &own);
    charge(task, budget, &own, given);
    return done;
}

/* Begins one query, or returns that it must wait. */
static bool begin(struct follower *follower, uint32_t at, const struct query *query,
                  struct query_budget *budget)
{
    const struct follower_link *link = &follower->links[at];
    struct query_sources sources = sources_of(follower);
    struct query_task task;
    uint64_t stamp = query->stamp;

    if (stamp > engine_sequence(follower->engine)) {
        uint64_t lag_ns = follower_lag_ns(follower);
        if (lag_ns <= follower->lag_max_ns)
            return false;
        query_refuse(&task, &sources, query, lag_ns);
        publish(follower, link, &task);
        published_add(&follower->counters.lagging, 1);
    } else if (begin_task(&task, &sources, query, link->pool, budget, follower->slice_rows)) {
        publish(follower, link, &task);
    } else {
        put_aside(follower, at, &task);
    }
    return true;
}

static int serve(struct follower *follower, uint32_t at, struct query_budget *budget)
{
    const struct follower_link *link = &follower->links[at];
    uint64_t ready = ring_ready(link->queries);
    uint64_t done = 0;

    while (done < ready && done < FOLLOWER_QUERIES_A_TURN && budget->spare != 0 &&
           (done == 0 || !is_over(follower))) {
        if (!begin(follower, at, ring_at(link->queries, done), budget))
            break;
        done++;
    }
    if (done != 0)
        ring_release(link->queries, done);
    return (int)done;
}

/* Queries of every link, as long as the turn has time for them: less while records come, which wait
 * to be applied or, on a thread that is the journal's too, to be written. The work done, and those
 * aside count as work to come. */
static int answer(struct follower *follower, bool has_applied)
{
    struct query_budget budget = {
        .rows = FOLLOWER_ROWS_A_TURN,
        .holders = ADL_RANK_HOLDERS_A_TURN,
        .spare = FOLLOWER_ROWS_SPARE,
    };
    uint64_t now_ns = clock_monotonic_ns(follower->clock);
    int work = 0;

    if (has_applied)
        follower->busy_until_ns = now_ns + FOLLOWER_BUSY_FOR_NS;
    bool is_busy = now_ns < follower->busy_until_ns;
    uint64_t time_ns = is_busy ? FOLLOWER_BUSY_NS : FOLLOWER_IDLE_NS;
    follower->slice_rows = is_busy ? FOLLOWER_ROWS_A_QUERY : QUERY_TASK_ROWS_A_TURN;
    follower->answer_end_ns = now_ns + time_ns / 2;
    for (uint32_t i = 0; i < follower->link_count; i++) {
        uint32_t at = (follower->link_next + i) % follower->link_count;
        work += (int)follower->aside[at].count;
        resume(follower, at, &budget);
    }
    follower->answer_end_ns = now_ns + time_ns;
    for (uint32_t i = 0; i < follower->link_count; i++) {
        uint32_t at = (follower->link_next + i) % follower->link_count;
        work += serve(follower, at, &budget);
        ring_publish(follower->links[at].replies);
    }
    if (follower->link_count != 0)
        follower->link_next = (follower->link_next + 1) % follower->link_count;
    history_keep_end(&follower->sink.history->keep);
    return work;
}

/* Applies what is durable, up to the end of a snapshot that is made in slices. The number of
 * commands, or -errno. */
static int apply_durable(struct follower *follower)
{
    struct record_view record;
    uint64_t sequence, last = slice_fold_aim(&follower->fold, engine_sequence(follower->engine));
    int work = 0;

    head_maker_aim(&follower->heads, engine_sequence(follower->engine));
    while (work < follower->commands_a_turn && engine_sequence(follower->engine) != last &&
           !history_keep_is_full(&follower->sink.history->keep)) {
        int got = follow_next(follower->follow, &record, &sequence);
        if (got < 0)
            return got;
        if (got == 0)
            break;
        int applied = apply(follower, &record, sequence);
        if (applied < 0)
            return applied;
        if (CC_UNLIKELY(sequence == follower->heads.target))
            head_maker_draft(&follower->heads, follower->engine);
        work++;
    }
    return work;
}

int follower_step(struct follower *follower)
{
    uint64_t began_ns = clock_monotonic_ns(follower->clock);

    follower->has_shown_hash = false;
    int work = apply_durable(follower);
    if (work < 0)
        return work;
    bool has_applied = work != 0;
    if (has_applied) {
        show(follower);
        restart_bound_add(&follower->bound, engine_sequence(follower->engine),
                          clock_monotonic_ns(follower->clock) - began_ns);
    }
    if (marks_history(follower, has_applied, began_ns)) {
        follower->marked_ns = began_ns;
        mark_history(follower);
    }
    restart_bound_step(&follower->bound, began_ns);
    work += !book_writer_run(&follower->books, follower->engine);
    work += (int)slice_fold_step(&follower->fold, follower->engine);
    return work + answer(follower, has_applied);
}
