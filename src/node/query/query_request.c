#include "node/query/query_request.h"

#include <errno.h>

#include "crypto/attest.h"
#include "node/history/history_find.h"
#include "node/query/query_frames.h"

#define TICK_AGE_NS UINT64_C(1000000000)

enum { ID_AT = 8 }; /* of the request id in a payload (wire.md W1) */

/* A query for a request that was not executed waits until t has passed its window: an exchange
 * where nothing else happens moves t on for it, at most once a second. */
static void want_tick(const struct query_sources *sources)
{
    if (sources->tick_wanted != NULL &&
        engine_time(sources->engine) + TICK_AGE_NS < sources->now_ns)
        atomic_store_explicit(sources->tick_wanted, true, memory_order_relaxed);
}

/* The request that the key may see, with its results; NULL: the task is refused. */
static const struct request_row *find(struct query_task *task, const struct query_sources *sources,
                                      const uint8_t **results)
{
    const struct query *query = &task->query;
    const struct request_log *requests = &sources->history->requests;
    enum history_older found = HISTORY_OLDER_ROW;
    uint64_t lost = 0;
    struct uuid id;

    uuid_load(&id, query->id);
    const struct request_row *request = request_log_find(requests, query->account_id, &id);
    if (request != NULL)
        *results = request_log_results(requests, request);
    else if (request_log_may_have_dropped(requests, &id))
        found = history_find_request(&sources->history->keep, query->account_id, query->id,
                                     &request, results, &lost);
    else
        found = HISTORY_OLDER_END;
    if (found == HISTORY_OLDER_LOST) {
        query_task_refuse_dropped(task, lost);
        return NULL;
    }
    if (found == HISTORY_OLDER_END || !request_log_is_visible(request, query->pin)) {
        query_task_refuse(task, PROBLEM_request_not_found);
        want_tick(sources);
        return NULL;
    }
    return request;
}

static void show_outcome(struct query_task *task, const struct query_sources *sources)
{
    const uint8_t *results = NULL;
    const struct request_row *request = find(task, sources, &results);
    struct row_request row;

    if (request == NULL)
        return;
    request_log_show(request, results, &row);
    query_task_put(task, &row, sizeof row);
}

/* Signs. False: the record is none of this request's, or is of a command that nobody signed. */
static bool put_receipt(struct query_task *task, const struct query_frames *frames,
                        const struct request_row *request, const struct frame_record *found)
{
    const struct exchange_file *exchange = journal_config_of(frames->journal)->exchange;
    const struct record_view *record = &found->record;
    struct attest_receipt receipt = {
        .account_id = request->account_id,
        .sequence = request->link.sequence,
        .processed_at_ns = request->time_ns,
        .frame = found->frame,
        .status = request->status,
        .reason = request->reason,
    };
    uint8_t bytes[ATTEST_RECEIPT_BYTES];

    if (record->kind == RECORD_UNSIGNED ||
        memcmp(record->payload + ID_AT, request->id.bytes, sizeof request->id.bytes) != 0)
        return false;
    memcpy(receipt.exchange_id, exchange->exchange_id, sizeof receipt.exchange_id);
    memcpy(receipt.journal_id, exchange_file_journal(exchange, found->segment),
           sizeof receipt.journal_id);
    memcpy(receipt.request_id, request->id.bytes, sizeof receipt.request_id);
    memcpy(receipt.frame_hash, found->frame_hash, sizeof receipt.frame_hash);
    attest_hash(receipt.payload_hash, record->payload, record->payload_bytes);
    attest_hash(receipt.key_hash, record->key, record->key_bytes);
    attest_receipt_sign(&receipt, frames->signer, bytes);
    query_task_put(task, bytes, sizeof bytes);
    return true;
}

/* Looks in the journal's files, then in the archive's. What frame_reader_record returns. A task
 * keeps where it searches in `at` and `below_sequence`, and in `offset` whether in the archive, of
 * which `at` is the sequence then. That search begins in a later step than the first, after which a
 * task may be given up. */
static int find_record(struct query_task *task, struct query_frames *frames, uint64_t sequence,
                       struct frame_record *found)
{
    struct frame_cursor cursor = { sequence, task->at, task->below_sequence };

    if (task->offset != 0)
        return archive_reader_record(&frames->archive, sequence, found);
    int result = frame_reader_record(&frames->reader, &cursor, found);
    task->at = cursor.segment;
    task->below_sequence = cursor.offset;
    if (result != -ENOENT)
        return result;
    task->offset = 1;
    task->at = sequence;
    return 0;
}

static bool step_receipt(struct query_task *task, const struct query_sources *sources,
                         uint32_t *rows_left)
{
    struct query_frames *frames = sources->frames;
    const uint8_t *results;
    struct frame_record found;

    const struct request_row *request = find(task, sources, &results);
    if (request == NULL) {
        if (task->offset != 0)
            archive_reader_drop(&frames->archive, task->at);
        return true;
    }
    if (frames == NULL || frames->signer == NULL) {
        query_task_refuse(task, PROBLEM_not_found);
        return true;
    }
    *rows_left -= *rows_left < QUERY_TASK_ROWS_A_TURN ? *rows_left : QUERY_TASK_ROWS_A_TURN;
    int done = find_record(task, frames, request->link.sequence, &found);
    if (done == 0)
        return false;
    if (done == -ENOENT || (done == 1 && !put_receipt(task, frames, request, &found)))
        query_task_refuse(task, PROBLEM_not_found);
    else if (done < 0)
        query_task_refuse(task, PROBLEM_internal_error);
    return true;
}

bool query_request_step(struct query_task *task, const struct query_sources *sources,
                        uint32_t *rows_left)
{
    if (task->query.kind == QUERY_receipt)
        return step_receipt(task, sources, rows_left);
    show_outcome(task, sources);
    return true;
}
