#include "node/query/pairing_table.h"

#include <errno.h>
#include <sys/mman.h>

#include "base/uuid.h"
#include "crypto/secret.h"

enum { SLOT_AT = 14, SLOT_BITS = 14, ECDH_BYTES = 65 };

static_assert(1 << SLOT_BITS == PAIRING_SLOTS, "an id has the bits of a slot");

static void *map(size_t bytes)
{
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return memory == MAP_FAILED ? NULL : memory;
}

int pairing_table_init(struct pairing_table *table)
{
    *table = (struct pairing_table){
        .slots = map(sizeof *table->slots * PAIRING_SLOTS),
        .account_ids = map(sizeof *table->account_ids * PAIRING_SLOTS),
    };
    return table->slots == NULL || table->account_ids == NULL ? -ENOMEM : 0;
}

void pairing_table_free(struct pairing_table *table)
{
    if (table->slots != NULL)
        (void)munmap(table->slots, sizeof *table->slots * PAIRING_SLOTS);
    if (table->account_ids != NULL)
        (void)munmap(table->account_ids, sizeof *table->account_ids * PAIRING_SLOTS);
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

/* Counts those of the account that may not have expired; *first_ns gets when the first of them
 * expires. */
static uint32_t count_of(const struct pairing_table *table, uint64_t account_id, uint64_t *first_ns)
{
    uint32_t count = 0;
    for (uint64_t at = table->oldest; at < table->opened; at++) {
        uint64_t slot = at % PAIRING_SLOTS;
        if (table->account_ids[slot] == account_id && count++ == 0)
            *first_ns = table->slots[slot].expires_ns;
    }
    return count;
}

static uint64_t ms_until(uint64_t then_ns, uint64_t now_ns)
{
    return then_ns > now_ns ? (then_ns - now_ns + 999999) / 1000000 : 1;
}

enum problem pairing_table_open(struct pairing_table *table, const struct query *query,
                                uint64_t now_ns, struct row_pairing *row, uint64_t *retry_ms)
{
    uint64_t first_ns = 0;

    INVARIANT(table->oldest <= table->opened && table->opened - table->oldest <= PAIRING_SLOTS);
    while (table->oldest < table->opened &&
           is_expired(&table->slots[table->oldest % PAIRING_SLOTS], now_ns))
        table->oldest++;
    bool is_full = table->opened - table->oldest == PAIRING_SLOTS;
    if (is_full)
        first_ns = table->slots[table->oldest % PAIRING_SLOTS].expires_ns;
    if (is_full || count_of(table, query->account_id, &first_ns) >= PAIRING_ACCOUNT_MAX) {
        *retry_ms = ms_until(first_ns, now_ns);
        return PROBLEM_rate_limited;
    }
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
    table->account_ids[slot] = query->account_id;
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

static enum problem deposit(struct pairing *pairing, const struct query *query)
{
    INVARIANT(query->payload_bytes == QUERY_PAIRING_KEYS_BYTES);
    if (pairing->status != PAIRING_PENDING)
        return PROBLEM_pairing_already_used;
    memcpy(pairing->keys, query->payload, QUERY_PAIRING_KEYS_BYTES);
    pairing->status = PAIRING_DEPOSITED;
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
    pairing->status = PAIRING_COMPLETED;
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
