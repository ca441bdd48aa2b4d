#include "node/replicator/vault_reader.h"

#include <errno.h>
#include <stdlib.h>

#include "base/log.h"
#include "store/segment.h"

#define NS_PER_S UINT64_C(1000000000)

/* The only writer of the state; release: what is asked, or the answer, is whole (pairs:
 * vault_reader_work, vault_reader_accept). The table must allow the move (INVARIANT). */
static void move(struct vault_reader *reader, enum vault_reader_state next)
{
#define TO(name)             (1U << VAULT_READER_##name)
#define X(name, next_states) next_states,
    static const unsigned allowed[VAULT_READER_STATE_COUNT] = { VAULT_READER_STATE_LIST(X) };
#undef X
#undef TO
    uint32_t now = atomic_load_explicit(&reader->state, memory_order_relaxed); /* this thread's */

    INVARIANT(now < VAULT_READER_STATE_COUNT);
    INVARIANT((allowed[now] >> next & 1U) != 0);
    atomic_store_explicit(&reader->state, (uint32_t)next, memory_order_release);
}

int vault_reader_ask(struct vault_reader *reader, const struct vault *vault,
                     const struct cluster_segment *segment, uint64_t now_ns)
{
    reader->bytes = segment_memory(vault->segment_bytes);
    if (reader->bytes == NULL)
        return -ENOMEM;
    reader->segment = *segment;
    reader->is_told = false;
    published_set(&reader->since, now_ns);
    published_set(&reader->awaited, segment->segment + 1);
    move(reader, VAULT_READER_ASKED);
    return 0;
}

bool vault_reader_waits(struct vault_reader *reader, uint64_t now_ns)
{
    uint64_t segment;

    /* relaxed: a state alone. */
    if (atomic_load_explicit(&reader->state, memory_order_relaxed) != VAULT_READER_ASKED)
        return false;
    uint64_t late_ns = vault_reader_late_ns(reader, now_ns, &segment);
    if (!reader->is_told && late_ns != 0) {
        reader->is_told = true;
        log_line(LOG_ERROR, "vault",
                 "segment=%lu: a read of it has not returned for %lu s; this node has no frames "
                 "behind those that it has until it does: look after cluster.vault",
                 segment, late_ns / NS_PER_S);
    }
    return true;
}

bool vault_reader_accept(struct vault_reader *reader, uint8_t **bytes, int *error)
{
    /* Acquire: the answer is whole (pairs: move). */
    if (atomic_load_explicit(&reader->state, memory_order_acquire) != VAULT_READER_ANSWERED)
        return false;
    *error = reader->error;
    *bytes = reader->bytes;
    reader->bytes = NULL;
    if (*error != 0) {
        free(*bytes);
        *bytes = NULL;
    }
    if (reader->is_told)
        log_line(LOG_WARN, "vault", "segment=%lu: the read of it has returned",
                 reader->segment.segment);
    published_set(&reader->awaited, 0);
    move(reader, VAULT_READER_IDLE);
    return true;
}

uint32_t vault_reader_work(struct vault_reader *reader, const struct vault *vault)
{
    const struct cluster_segment *segment = &reader->segment;

    /* Acquire: what is asked is whole (pairs: move). */
    if (atomic_load_explicit(&reader->state, memory_order_acquire) != VAULT_READER_ASKED)
        return 0;
    reader->error =
        vault_load(vault, segment->segment, segment->file_bytes, segment->file_hash, reader->bytes);
    move(reader, VAULT_READER_ANSWERED);
    return 1;
}

uint64_t vault_reader_late_ns(const struct vault_reader *reader, uint64_t now_ns, uint64_t *segment)
{
    uint64_t awaited = published_get(&reader->awaited);
    uint64_t since_ns = published_get(&reader->since);

    if (awaited == 0 || now_ns < since_ns || now_ns - since_ns < VAULT_READER_LATE_NS)
        return 0;
    *segment = awaited - 1;
    return now_ns - since_ns;
}

void vault_reader_end(struct vault_reader *reader)
{
    free(reader->bytes);
    reader->bytes = NULL;
}
