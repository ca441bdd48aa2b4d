#include "node/query/pairing_table.h"

#include <errno.h>

#include "base/fair_share.h"
#include "base/region.h"
#include "base/uuid.h"
#include "crypto/secret.h"

enum { SLOT_AT = 14, SLOT_BITS = 14, ECDH_BYTES = 65 };

static_assert(1 << SLOT_BITS == PAIRING_SLOTS, "an id has the bits of a slot");

int pairing_table_init(struct pairing_table *table)
{
    *table = (struct pairing_table){
        .slots = region_map(REGION_pairings, sizeof *table->slots * PAIRING_SLOTS),
        .account_ids = region_map(REGION_pairings, sizeof *table->account_ids * PAIRING_SLOTS),
        .addresses = region_map(REGION_pairings, sizeof *table->addresses * PAIRING_SLOTS),
    };
    bool is_mapped = table->slots != NULL && table->account_ids != NULL && table->addresses != NULL;
    return is_mapped ? 0 : -ENOMEM;
}

void pairing_table_free(struct pairing_table *table)
{
    region_unmap(table->slots, sizeof *table->slots * PAIRING_SLOTS);
    region_unmap(table->account_ids, sizeof *table->account_ids * PAIRING_SLOTS);
    region_unmap(table->addresses, sizeof *table->addresses * PAIRING_SLOTS);
    *table = (struct pairing_table){ 0 };
}

static bool is_expired(const struct pairing *pairing, uint64_t now_ns)
{
    return pairing->expires_ns <= now_ns;
}

static void show(const struct pairing *pairing, struct row_pairing *row)
{
    *row = (struct row_pairing){
        .expires_ns = pairing->expires_ns,
        .status = pairing->status,
        .has_keys = pairing->status != PAIRING_PENDING,
    };
    memcpy(row->id, pairing->id, sizeof row->id);
    memcpy(row->ecdh, pairing->keys, sizeof row->ecdh);
    memcpy(row->session, pairing->keys + ECDH_BYTES, sizeof row->session);
}

static uint64_t ms_until(uint64_t then_ns, uint64_t now_ns)
{
    return then_ns > now_ns ? (then_ns - now_ns + 999999) / 1000000 : 1;
}

static void drop_expired(struct pairing_table *table, uint64_t now_ns)
{
    INVARIANT(table->oldest <= table->opened && table->opened - table->oldest <= PAIRING_SLOTS);
    for (; table->oldest < table->opened; table->oldest++) {
        const struct pairing *pairing = &table->slots[table->oldest % PAIRING_SLOTS];
        if (!is_expired(pairing, now_ns))
            return;
        table->used[pairing->share_class]--;
    }
}

/* How many pairings more accounts of the class may open, and the class, that one or one above it,
 * which bounds them: its pairings and those of the classes below it count. */
static uint32_t room_of(const struct pairing_table *table, const struct read_share *share,
                        uint8_t *bounding)
{
    uint32_t used = 0, room = UINT32_MAX;

    for (uint8_t i = 0; i < SHARE_CLASS_COUNT; i++) {
        used += table->used[i];
        uint32_t left = share->bound[i] > used ? share->bound[i] - used : 0;
        if (i < share->share_class || left >= room)
            continue;
        room = left;
        *bounding = i;
    }
    return room;
}

/* Whether one that is at the slot makes room when it expires. */
static bool counts(const struct pairing_table *table, const struct query *query, uint8_t cause,
                   uint8_t bounding, uint64_t slot)
{
    if (cause == REPLY_OF_ACCOUNT)
        return table->account_ids[slot] == query->account_id;
    if (table->slots[slot].share_class <= bounding)
        return true;
    return cause == REPLY_OF_ADDRESS && table->addresses[slot] == query->address;
}

/* Whether the account may open one more. False: *wait says until when not. */
static bool may_open(const struct pairing_table *table, const struct query *query,
                     const struct read_share *share, uint64_t now_ns, struct pairing_wait *wait)
{
    uint32_t of_account = 0, of_address = 0;
    uint8_t bounding = SHARE_CLASS_full;
    uint32_t room = room_of(table, share, &bounding);

    for (uint64_t at = table->oldest; at < table->opened; at++) {
        of_account += table->account_ids[at % PAIRING_SLOTS] == query->account_id;
        of_address += table->addresses[at % PAIRING_SLOTS] == query->address;
    }
    if (of_account >= PAIRING_ACCOUNT_MAX)
        wait->cause = REPLY_OF_ACCOUNT;
    else if (room == 0)
        wait->cause = REPLY_OF_CLASS;
    else if (!fair_share_has_room(of_address, room))
        wait->cause = REPLY_OF_ADDRESS;
    else
        return true;
    uint64_t at = table->oldest;
    while (at < table->opened && !counts(table, query, wait->cause, bounding, at % PAIRING_SLOTS))
        at++;
    /* A share of nothing: none can expire. */
    wait->retry_ms = at == table->opened
                         ? PAIRING_LIFE_NS / 1000000
                         : ms_until(table->slots[at % PAIRING_SLOTS].expires_ns, now_ns);
    return false;
}

enum problem pairing_table_open(struct pairing_table *table, const struct query *query,
                                const struct read_share *share, uint64_t now_ns,
                                struct row_pairing *row, struct pairing_wait *wait)
{
    drop_expired(table, now_ns);
    if (!may_open(table, query, share, now_ns, wait))
        return PROBLEM_rate_limited;
    uint32_t slot = (uint32_t)(table->opened++ % PAIRING_SLOTS);
    struct pairing *pairing = &table->slots[slot];
    secret_wipe(pairing, sizeof *pairing);
    struct uuid id = uuid_make_v7(now_ns / 1000000, query->id);
    memcpy(pairing->id, id.bytes, sizeof pairing->id);
    pairing->id[SLOT_AT] = (uint8_t)((pairing->id[SLOT_AT] & 0xc0) | slot >> 8);
    pairing->id[SLOT_AT + 1] = (uint8_t)slot;
    memcpy(pairing->token_hash, query->token_hash, sizeof pairing->token_hash);
    pairing->pin = query->pin;
    pairing->expires_ns = now_ns + PAIRING_LIFE_NS;
    pairing->share_class = share->share_class;
    table->account_ids[slot] = query->account_id;
    table->addresses[slot] = query->address;
    table->used[share->share_class]++;
    show(pairing, row);
    return PROBLEM_none;
}

/* The pairing of an id, or NULL; *account_id gets its account. */
static struct pairing *find(const struct pairing_table *table, const uint8_t id[16],
                            uint64_t *account_id)
{
    uint32_t slot = ((uint32_t)(id[SLOT_AT] & 0x3f) << 8) | id[SLOT_AT + 1];
    if (slot >= table->opened || memcmp(table->slots[slot].id, id, 16) != 0)
        return NULL;
    *account_id = table->account_ids[slot];
    return &table->slots[slot];
}

/* The only writer of a status after the opening. The table must allow the move (INVARIANT). */
static void move(struct pairing *pairing, enum pairing_status next)
{
#define TO(name)               (1U << PAIRING_##name)
#define X(name, next_statuses) next_statuses,
    static const unsigned allowed[PAIRING_STATUS_COUNT] = { PAIRING_STATUS_LIST(X) };
#undef X
#undef TO

    INVARIANT(pairing->status < PAIRING_STATUS_COUNT);
    INVARIANT((allowed[pairing->status] >> next & 1U) != 0);
    pairing->status = (uint8_t)next;
}

static enum problem deposit(struct pairing *pairing, const struct query *query)
{
    INVARIANT(query->payload_bytes == QUERY_PAIRING_KEYS_BYTES);
    if (pairing->status != PAIRING_PENDING)
        return PROBLEM_pairing_already_used;
    memcpy(pairing->keys, query->payload, QUERY_PAIRING_KEYS_BYTES);
    move(pairing, PAIRING_DEPOSITED);
    return PROBLEM_none;
}

static enum problem complete(struct pairing *pairing, const struct query *query)
{
    INVARIANT(query->payload_bytes > 0 && query->payload_bytes <= QUERY_PAIRING_TEXT_MAX);
    if (pairing->status == PAIRING_PENDING)
        return PROBLEM_pairing_not_deposited;
    if (pairing->status == PAIRING_COMPLETED)
        return PROBLEM_pairing_already_used;
    memcpy(pairing->text, query->payload, query->payload_bytes);
    pairing->text_bytes = query->payload_bytes;
    move(pairing, PAIRING_COMPLETED);
    return PROBLEM_none;
}

/* Shows the text once: that spends the token. */
static enum problem show_text(struct pairing *pairing, struct row_pairing *row,
                              char text[QUERY_PAIRING_TEXT_MAX])
{
    if (pairing->is_read)
        return PROBLEM_pairing_already_used;
    show(pairing, row);
    if (pairing->status != PAIRING_COMPLETED)
        return PROBLEM_none;
    memcpy(text, pairing->text, pairing->text_bytes);
    row->text_bytes = pairing->text_bytes;
    pairing->is_read = true;
    secret_wipe(pairing->text, pairing->text_bytes);
    return PROBLEM_none;
}

enum problem pairing_table_run(struct pairing_table *table, const struct query *query,
                               uint64_t now_ns, struct row_pairing *row,
                               char text[QUERY_PAIRING_TEXT_MAX])
{
    uint64_t account_id = 0;
    struct pairing *pairing = find(table, query->id, &account_id);
    bool has_token = query->kind == QUERY_pairing_deposit || query->kind == QUERY_pairing_result;
    enum problem problem = PROBLEM_none;

    if (pairing == NULL || (!has_token && (query->account_id != account_id ||
                                           (query->pin >= 0 && query->pin != pairing->pin))))
        return PROBLEM_not_found;
    if (has_token &&
        !secret_equal(pairing->token_hash, query->token_hash, sizeof pairing->token_hash))
        return PROBLEM_invalid_token;
    if (is_expired(pairing, now_ns))
        return PROBLEM_pairing_expired;
    if (query->kind == QUERY_pairing_result)
        return show_text(pairing, row, text);
    if (query->kind == QUERY_pairing_deposit)
        problem = deposit(pairing, query);
    else if (query->kind == QUERY_pairing_complete)
        problem = complete(pairing, query);
    if (problem == PROBLEM_none)
        show(pairing, row);
    return problem;
}
