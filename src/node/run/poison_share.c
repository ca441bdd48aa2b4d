#include "node/run/poison_share.h"

#include <stdio.h>

#include "base/hex.h"
#include "base/log.h"
#include "repl/etcd_ask.h"
#include "repl/repl_key.h"
#include "repl/survey.h"

#define STEP_NS      UINT64_C(250000000)
#define PAUSE_MAX_NS (64 * STEP_NS)

void poison_share_begin(struct poison_share *share, const struct poison_file *file, uint64_t now_ns)
{
    const uint64_t life_ns = POISON_SHARE_S * UINT64_C(1000000000);

    for (uint32_t i = file->row_count; i > 0 && share->own_count < POISON_SHARE_OWN; i--) {
        const struct poison_row *row = &file->rows[i - 1];
        if (row->has_id && row->found_ns + life_ns > now_ns)
            share->own[share->own_count++] = *row;
    }
}

static struct repl_key key_of(const char *cluster, const struct poison_row *row)
{
    char name[32 + 2 * sizeof row->id], id[2 * sizeof row->id + 1];

    hex_encode(id, row->id, sizeof row->id);
    snprintf(name, sizeof name, "poison/%016lx/%s", row->account, id);
    return repl_key_of(cluster, name);
}

/* NULL, or why not. */
static const char *answer_of(int error, const struct etcd_done *done)
{
    if (error != 0)
        return "no answer";
    return done->result == ETCD_OK ? NULL : done->text;
}

/* NULL, or why etcd did not take it. */
static const char *put(struct etcd *etcd, const char *cluster, const struct poison_row *row,
                       struct etcd_done *done)
{
    const struct etcd_request grant = { .kind = ETCD_LEASE_GRANT, .ttl_s = POISON_SHARE_S };
    struct repl_key key = key_of(cluster, row);
    uint8_t value[POISON_SHARE_BYTES] = { 0 };

    const char *why = answer_of(etcd_ask(etcd, &grant, SURVEY_WAIT_NS, done), done);
    if (why != NULL)
        return why;
    cc_store64(value, row->account);
    memcpy(value + 8, row->id, sizeof row->id);
    cc_store64(value + 24, row->code);
    const struct etcd_op put = { .verb = ETCD_PUT,
                                 .key = etcd_text(key.text),
                                 .value = { value, sizeof value },
                                 .lease = done->lease };
    const struct etcd_transaction transaction = { .then = &put, .then_count = 1 };
    return answer_of(etcd_ask_transaction(etcd, &transaction, SURVEY_WAIT_NS, done), done);
}

/* One a step: a stop waits for no more. Each try takes a lease, so they come ever later. */
static void put_own(struct poison_share *share, struct etcd *etcd, const char *cluster,
                    uint64_t now_ns)
{
    struct etcd_done done;

    if (share->own_count == 0 || now_ns < share->own_due_ns)
        return;
    const struct poison_row *row = &share->own[share->own_count - 1];
    const char *why = put(etcd, cluster, row, &done);
    if (why == NULL) {
        share->own_count--;
        share->own_pause_ns = 0;
        return;
    }
    if (share->own_pause_ns == 0)
        log_line(LOG_ERROR, "poison",
                 "etcd did not take the key of a request that this node ended on, until it does "
                 "the others do not know of it: account=%lu: %s",
                 row->account, why);
    share->own_pause_ns = share->own_pause_ns == 0 ? STEP_NS : 2 * share->own_pause_ns;
    if (share->own_pause_ns > PAUSE_MAX_NS)
        share->own_pause_ns = PAUSE_MAX_NS;
    share->own_due_ns = now_ns + share->own_pause_ns;
}

static bool is_seen(const struct poison_share *share, const struct poison_row *row)
{
    for (uint32_t i = 0; i < POISON_SHARE_MAX && i < share->seen_count; i++)
        if (share->seen[i].account == row->account &&
            memcmp(share->seen[i].id, row->id, sizeof row->id) == 0)
            return true;
    return false;
}

/* One at a time: the next when the matcher has taken it. */
static void look_at(struct poison_share *share, struct etcd_bytes value)
{
    struct poison_row row = { .has_id = true };
    char id[2 * sizeof row.id + 1];

    if (value.count != POISON_SHARE_BYTES ||
        cc_load64((const uint8_t *)value.bytes + 24) > UINT16_MAX)
        return; /* a stranger's */
    row.account = cc_load64(value.bytes);
    memcpy(row.id, (const uint8_t *)value.bytes + 8, sizeof row.id);
    row.code = (uint16_t)cc_load64((const uint8_t *)value.bytes + 24);
    /* Acquire: the matcher has read the one before (pairs: poison_share_accept). */
    if (is_seen(share, &row) || atomic_load_explicit(&share->is_full, memory_order_acquire))
        return;
    share->seen[share->seen_count++ % POISON_SHARE_MAX] = row;
    share->mail = row;
    /* Release: it is whole (pairs: poison_share_accept). */
    atomic_store_explicit(&share->is_full, true, memory_order_release);
    hex_encode(id, row.id, sizeof row.id);
    log_line(LOG_WARN, "poison",
             "a node of this cluster ended on it, it is refused: account=%lu id=%s", row.account,
             id);
}

void poison_share_step(struct poison_share *share, struct etcd *etcd, const char *cluster,
                       uint64_t now_ns)
{
    struct repl_key from = repl_key_of(cluster, "poison/"), end = repl_key_of(cluster, "poison/~");
    struct etcd_done done;

    if (now_ns < share->due_ns)
        return;
    share->due_ns = now_ns + STEP_NS;
    put_own(share, etcd, cluster, now_ns);
    if (etcd_ask_range(etcd, etcd_text(from.text), etcd_text(end.text), POISON_SHARE_MAX,
                       SURVEY_WAIT_NS, &done) != 0 ||
        done.result != ETCD_OK)
        return;
    for (uint32_t i = 0; i < done.row_count; i++)
        look_at(share, done.rows[i].value);
}

void poison_share_accept(struct poison_share *share, struct poison_file *file)
{
    const struct poison_row *row = &share->mail;

    if (CC_LIKELY(!atomic_load_explicit(&share->is_full, memory_order_acquire)))
        return;
    if (!poison_file_has(file, row->account, row->id) && file->row_count < POISON_ROWS_MAX)
        poison_file_add(file, row);
    atomic_store_explicit(&share->is_full, false, memory_order_release);
}
