#include "engine/state/disconnect.h"

#include "base/rule.h"
#include "engine/state/access.h"
#include "engine/state/share_count.h"
#include "engine/table/image_read.h"
#include "engine/table/image_sink.h"

#define COVERED(field) +sizeof(((struct disconnect_arm *)0)->field)
static_assert(sizeof(struct disconnect_arm) == 0 DISCONNECT_FIELDS(COVERED)
                                                   DISCONNECT_CACHES(COVERED),
              "every byte of an arm is in one of its field lists");
#undef COVERED

/* The body of code 2012 (W3b). */
struct arm_body {
    uint8_t arm_id[16];
    uint8_t credential_id[16];
    uint64_t account_id;
    uint32_t subaccount_index;
    uint32_t grace_ms;
    uint8_t armed;
    uint8_t pad[7];
};

static_assert(sizeof(struct arm_body) == 56, "W3b: code 2012");

size_t disconnect_table_bytes(uint32_t slots)
{
    return slot_table_bytes(slots, sizeof(struct disconnect_arm)) + hash_index_bytes(slots);
}

void disconnect_table_init(struct disconnect_table *table, void *memory, uint32_t slots)
{
    uint8_t *at = memory;

    *table = (struct disconnect_table){ .rows = memory, .slots = slot_table_init(slots) };
    at += slot_table_bytes(slots, sizeof(struct disconnect_arm));
    hash_index_init(&table->by_id, at, slots);
}

/* --- the table -------------------------------------------------------------------------------- */

static uint64_t id_hash(const struct engine *engine, const uint64_t id[2])
{
    return mix_id(engine->key, 0, (const uint8_t *)id);
}

uint32_t disconnect_find(const struct engine *engine, const uint64_t id[2])
{
    const struct disconnect_table *table = &engine->arms;
    struct hash_index_probe probe = hash_index_probe(&table->by_id, id_hash(engine, id));

    while (hash_index_next(&table->by_id, &probe)) {
        const struct disconnect_arm *arm = &table->rows[probe.index];
        if (arm->id[0] == id[0] && arm->id[1] == id[1])
            return probe.index;
    }
    return DISCONNECT_NONE;
}

static void link_last(struct disconnect_table *table, uint32_t index)
{
    table->rows[index].next = DISCONNECT_NONE;
    table->rows[index].prev = table->tail;
    *(table->tail == DISCONNECT_NONE ? &table->head : &table->rows[table->tail].next) = index;
    table->tail = index;
}

static void unlink_row(struct disconnect_table *table, uint32_t index)
{
    struct disconnect_arm *arm = &table->rows[index];

    *(arm->prev == DISCONNECT_NONE ? &table->head : &table->rows[arm->prev].next) = arm->next;
    *(arm->next == DISCONNECT_NONE ? &table->tail : &table->rows[arm->next].prev) = arm->prev;
}

/* A row with these fields, at the end of the list; there is room. */
static void add(struct engine *engine, const struct disconnect_arm *arm)
{
    struct disconnect_table *table = &engine->arms;
    uint32_t index = slot_table_alloc(&table->slots, table->rows[table->slots.free_head].next);

    struct disconnect_arm *row = &table->rows[index];
    *row = *arm;
    row->id_slot = hash_index_insert(&table->by_id, id_hash(engine, row->id), index);
    link_last(table, index);
    share_add(engine, row->account, SHARE_arms);
}

void disconnect_drop(struct engine *engine, uint32_t index)
{
    struct disconnect_table *table = &engine->arms;
    struct disconnect_arm *arm = &table->rows[index];
    uint64_t by_id = id_hash(engine, arm->id);

    hash_index_remove(&table->by_id, (uint32_t)(by_id >> 32), arm->id_slot);
    unlink_row(table, index);
    share_drop(engine, arm->account, SHARE_arms);
    *arm = (struct disconnect_arm){ .next = slot_table_free(&table->slots, index) };
}

void disconnect_forget(struct engine *engine, uint32_t account)
{
    const struct disconnect_table *table = &engine->arms;
    uint32_t next;

    if (engine->accounts.rows[account].counts[SHARE_arms] == 0)
        return;
    for (uint32_t at = table->head; at != DISCONNECT_NONE; at = next) {
        next = table->rows[at].next;
        if (table->rows[at].account == account)
            disconnect_drop(engine, at);
    }
}

/* --- code 2012 -------------------------------------------------------------------------------- */

static enum status refuse(struct engine_result *result, uint8_t reason)
{
    result->reason = reason;
    return STATUS_order_rejected_invalid;
}

/* Checks the subaccount and the body, after the credential. */
static enum status check(const struct engine *engine, const struct command *command,
                         const struct arm_body *body, struct engine_result *result)
{
    uint32_t record =
        subaccount_find(engine, account_id_slot(body->account_id), body->subaccount_index);

    if (record == SUBACCOUNT_NONE || engine->subaccounts.rows[record].status == SUBACCOUNT_CLOSED)
        return ROW_STATUS(portfolio);
    if (!access_body_is_clean(command) || body->grace_ms > DISCONNECT_GRACE_MAX_MS)
        return refuse(result, REASON_invalid_parameter);
    return STATUS_request_completed;
}

static enum status arm(struct engine *engine, const struct arm_body *body, uint32_t before,
                       struct engine_result *result)
{
    struct disconnect_arm row = {
        .armed_sequence = engine->sequence,
        .account = account_id_slot(body->account_id),
        .subaccount_index = body->subaccount_index,
        .grace_ms = body->grace_ms,
    };

    memcpy(row.id, body->arm_id, sizeof row.id);
    if (before != DISCONNECT_NONE)
        disconnect_drop(engine, before);
    else if (!share_fits(engine, row.account, SHARE_arms, 1))
        return refuse(result, REASON_limit_reached);
    add(engine, &row);
    return STATUS_request_completed;
}

enum status disconnect_set(struct engine *engine, const struct command *command,
                           struct engine_result *result)
{
    struct arm_body body;
    uint64_t id[2];

    memcpy(&body, command_body(command), sizeof body);
    memcpy(id, body.arm_id, sizeof id);
    enum status status =
        access_api_key(engine, body.credential_id, body.account_id, body.subaccount_index, result);
    if (status == STATUS_request_completed)
        status = check(engine, command, &body, result);
    if (status != STATUS_request_completed)
        return status;
    uint32_t before = disconnect_find(engine, id);
    if (before != DISCONNECT_NONE) {
        const struct disconnect_arm *stands = &engine->arms.rows[before];
        if (stands->account != account_id_slot(body.account_id))
            return refuse(result, REASON_invalid_parameter);
        status = access_api_key(engine, body.credential_id, body.account_id,
                                stands->subaccount_index, result);
        if (status != STATUS_request_completed)
            return status; /* the arm is of a subaccount beyond the key's pin */
    }
    if (body.armed)
        return arm(engine, &body, before, result);
    if (before != DISCONNECT_NONE)
        disconnect_drop(engine, before);
    return STATUS_request_completed;
}

/* --- the arms one by one ---------------------------------------------------------------------- */

uint32_t disconnect_next_arm(const struct engine *engine, uint32_t after,
                             struct disconnect_arm *arm)
{
    const struct disconnect_table *table = &engine->arms;
    uint32_t index = after == DISCONNECT_NONE ? table->head : table->rows[after].next;

    if (index != DISCONNECT_NONE)
        *arm = table->rows[index];
    return index;
}

bool disconnect_find_arm(const struct engine *engine, const uint64_t id[2],
                         struct disconnect_arm *arm)
{
    uint32_t index = disconnect_find(engine, id);

    if (index != DISCONNECT_NONE)
        *arm = engine->arms.rows[index];
    return index != DISCONNECT_NONE;
}

/* --- the image -------------------------------------------------------------------------------- */

void disconnect_image(const struct engine *engine, struct image_sink *sink)
{
    const struct disconnect_table *table = &engine->arms;

    for (uint32_t at = table->head; at != DISCONNECT_NONE; at = table->rows[at].next) {
        const struct disconnect_arm *row = &table->rows[at];
        DISCONNECT_FIELDS(IMAGE_FIELD)
    }
}

static const char *wrong_with(const struct engine *engine, const struct disconnect_arm *row)
{
    const struct disconnect_table *table = &engine->arms;

    if (row->account >= engine->accounts.count ||
        subaccount_portfolio_count(engine, row->account, row->subaccount_index) == 0)
        return "an arm has a subaccount that does not exist";
    if (row->armed_sequence > engine->sequence ||
        (table->tail != DISCONNECT_NONE &&
         row->armed_sequence <= table->rows[table->tail].armed_sequence))
        return "the arms are not in the order of arming";
    if (row->grace_ms > DISCONNECT_GRACE_MAX_MS ||
        disconnect_find(engine, row->id) != DISCONNECT_NONE)
        return "an arm waits too long, or stands twice";
    if (engine->accounts.rows[row->account].counts[SHARE_arms] >= DISCONNECT_ARMS_MAX)
        return "an account has too many arms";
    return NULL;
}

bool disconnect_load(struct engine *engine, struct image_read *read)
{
    struct disconnect_arm read_row = { 0 }, *row = &read_row;

    for (; image_read_begins(read, 0 DISCONNECT_FIELDS(IMAGE_READ_BYTES)); read->row++) {
        if (!slot_table_has_room(&engine->arms.slots))
            return image_read_refuse(read, "more arms than the configuration allows");
        DISCONNECT_FIELDS(IMAGE_READ)
        const char *wrong = wrong_with(engine, row);
        if (wrong != NULL)
            return image_read_refuse(read, wrong);
        add(engine, row);
    }
    return read->wrong == NULL;
}
