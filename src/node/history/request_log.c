#include "node/history/request_log.h"

#include <errno.h>
#include <stdlib.h>

#include "base/account_id.h"
#include "base/field.h"
#include "base/message.h"
#include "base/region.h"
#include "engine/view/read.h"

int request_log_init(struct request_log *log, uint32_t capacity, struct mix_key key)
{
    memset(log, 0, sizeof *log);
    if (history_ring_init(&log->ring, capacity, sizeof(struct request_row), 1) != 0)
        return -ENOMEM;
    log->results = calloc(capacity, ROW_RESULTS_MAX);
    region_name(REGION_history, log->results, (size_t)capacity * ROW_RESULTS_MAX);
    if (log->results != NULL &&
        id_map_init(&log->map, key, capacity, log->ring.rows, sizeof(struct request_row),
                    offsetof(struct request_row, account_id)) == 0)
        return 0;
    request_log_free(log);
    return -ENOMEM;
}

void request_log_free(struct request_log *log)
{
    id_map_free(&log->map);
    history_ring_free(&log->ring);
    region_forget(log->results);
    free(log->results);
    log->results = NULL;
}

void request_log_forget(struct request_log *log, uint64_t sequence, uint64_t newest_ms)
{
    history_ring_forget(&log->ring, 0, sequence);
    log->newest_dropped_ms = newest_ms;
    log->dropped_sequence = sequence;
    log->dropped = true;
}

/* The subaccount that a body names; pins of credentials are none. */
static uint32_t subaccount_of(const struct command *command)
{
    size_t count;
    const struct field *fields = field_table(command->code, &count);
    const uint8_t *body = command_body(command);

    for (size_t k = 0; k < count; k++) {
        if (fields[k].kind == FIELD_PORTFOLIO)
            return cc_load32(body + fields[k].offset + 8);
        if (fields[k].kind == FIELD_INDEX && strcmp(fields[k].name, "subaccount_index") == 0)
            return cc_load32(body + fields[k].offset);
    }
    return REQUEST_LOG_NO_SUBACCOUNT;
}

/* The row that the next one overwrites. A later request of its id is in the map instead of it. */
static void drop(struct request_log *log, const struct request_row *row, uint32_t number)
{
    uint64_t date_ms = uuid_time_ms(&row->id);

    if (id_map_find(&log->map, row->account_id, row->id.bytes) == number)
        id_map_remove(&log->map, number);
    if (date_ms > log->newest_dropped_ms)
        log->newest_dropped_ms = date_ms;
    log->dropped_sequence = row->link.sequence;
    log->dropped = true;
}

/* What the effect's command has created so far. */
static struct request_made *making(struct request_log *log, const struct effect *effect)
{
    if (log->made.sequence != effect->sequence)
        log->made = (struct request_made){ .sequence = effect->sequence };
    return &log->made;
}

static void add(struct request_log *log, const struct effect *effect)
{
    struct effect_answer body;

    memcpy(&body, effect->bytes, sizeof body);
    if (body.account_id == 0 || (body.account_id & ACCOUNT_ID_DERIVED) != 0)
        return;
    if (body.item != EFFECT_NO_ITEM) {
        struct request_made *made = making(log, effect);
        INVARIANT(body.item == made->result_count && body.item < ROW_RESULTS_MAX);
        made->results[made->result_count++] = (uint8_t)body.status;
        return;
    }
    /* An account may use the id of the request that created it again: the later one is shown. */
    uint32_t number = history_ring_number(&log->ring, log->ring.added);
    const struct request_row *victim = history_ring_victim(&log->ring);
    if (victim != NULL)
        drop(log, victim, number);
    uint32_t former = id_map_find(&log->map, body.account_id, body.request_id);
    if (former != ID_MAP_NONE)
        id_map_remove(&log->map, former);
    uint32_t index = history_ring_next_index(&log->ring, 0, effect->sequence);
    struct request_row *row = history_ring_add(&log->ring, 0, effect->sequence, index);
    row->account_id = body.account_id;
    uuid_load(&row->id, body.request_id);
    row->time_ns = effect->t_ns;
    row->subaccount_index = subaccount_of(effect->command);
    row->code = effect->command->code;
    row->status = (uint8_t)body.status;
    row->reason = body.reason;
    if (log->made.sequence == effect->sequence) {
        const struct request_made *made = &log->made;
        row->members = made->members;
        memcpy(row->made_id, made->id, sizeof row->made_id);
        row->made_subaccount = made->subaccount_index;
        row->made_portfolio = made->portfolio_index;
        row->result_count = made->result_count;
        if (made->result_count != 0)
            memcpy(log->results + (size_t)number * ROW_RESULTS_MAX, made->results,
                   sizeof made->results);
    }
    if (row->code == REQUEST_create_account_secp256k1 ||
        row->code == REQUEST_create_account_passkey)
        row->members |= ROW_REQUEST_ACCOUNT;
    id_map_add(&log->map, number);
}

/* The credential that the command made, for its 2100. */
static void remember_credential(struct request_log *log, const struct effect *effect)
{
    struct effect_credential body;
    struct read_credential view;

    memcpy(&body, effect->bytes, sizeof body);
    if (body.action != CREDENTIAL_ADDED || effect->record == EFFECT_NO_RECORD)
        return;
    if (body.kind != EFFECT_CREDENTIAL_SESSION && body.kind != EFFECT_CREDENTIAL_API_KEY)
        return;
    read_credential(effect->engine, effect->record, &view);
    struct request_made *made = making(log, effect);
    memcpy(made->id, view.id, sizeof made->id);
    made->members |=
        body.kind == EFFECT_CREDENTIAL_SESSION ? ROW_REQUEST_SESSION : ROW_REQUEST_API_KEY;
}

static void remember_indexes(struct request_log *log, const struct effect *effect)
{
    uint16_t code = effect->command->code;
    struct effect_account body;

    memcpy(&body, effect->bytes, sizeof body);
    bool is_subaccount = code == REQUEST_create_subaccount && body.what == ACCOUNT_WHAT_SUBACCOUNT;
    bool is_portfolio = code == REQUEST_create_portfolio && body.what == ACCOUNT_WHAT_PORTFOLIO;
    if (!is_subaccount && !is_portfolio)
        return;
    struct request_made *made = making(log, effect);
    made->subaccount_index = body.subaccount_index;
    made->portfolio_index = is_portfolio ? body.portfolio_index : 0;
    made->members |= ROW_REQUEST_PORTFOLIO | (is_subaccount ? ROW_REQUEST_SUBACCOUNT : 0);
}

static void remember_withdrawal(struct request_log *log, const struct effect *effect)
{
    struct effect_withdrawal body;

    memcpy(&body, effect->bytes, sizeof body);
    if (body.outcome != WITHDRAWAL_PENDING)
        return;
    struct request_made *made = making(log, effect);
    memcpy(made->id, body.withdrawal_id, sizeof made->id);
    made->members |= ROW_REQUEST_WITHDRAWAL;
}

void request_log_append(struct request_log *log, const struct effect *effect)
{
    switch (effect->code) {
    case EFFECT_credential:
        remember_credential(log, effect);
        break;
    case EFFECT_account:
        remember_indexes(log, effect);
        break;
    case EFFECT_withdrawal:
        remember_withdrawal(log, effect);
        break;
    case EFFECT_answer:
        add(log, effect);
        break;
    default:
        break;
    }
}

const struct request_row *request_log_find(const struct request_log *log, uint64_t account_id,
                                           const struct uuid *id)
{
    const struct request_row *rows = (const struct request_row *)(const void *)log->ring.rows;
    uint32_t number = id_map_find(&log->map, account_id, id->bytes);

    return number == ID_MAP_NONE ? NULL : &rows[number];
}

bool request_log_is_visible(const struct request_row *request, int32_t pin)
{
    return pin < 0 || request->subaccount_index == (uint32_t)pin;
}

bool request_log_may_have_dropped(const struct request_log *log, const struct uuid *id)
{
    return log->dropped && uuid_time_ms(id) <= log->newest_dropped_ms;
}

const uint8_t *request_log_results(const struct request_log *log, const struct request_row *request)
{
    const struct request_row *rows = (const struct request_row *)(const void *)log->ring.rows;

    return log->results + (size_t)(request - rows) * ROW_RESULTS_MAX;
}

void request_log_show(const struct request_row *request, const uint8_t *results,
                      struct row_request *row)
{
    *row = (struct row_request){
        .sequence = request->link.sequence,
        .processed_at_ns = request->time_ns,
        .account_id = request->account_id,
        .code = request->code,
        .status = request->status,
        .reason = request->reason,
        .members = request->members,
        .subaccount_index = request->made_subaccount,
        .portfolio_index = request->made_portfolio,
        .result_count = request->result_count,
    };
    if (request->result_count != 0)
        memcpy(row->results, results, request->result_count);
    memcpy(row->request_id, request->id.bytes, sizeof row->request_id);
    memcpy(row->id, request->made_id, sizeof row->id);
}
