#include "node/run/waiting.h"

void waiting_ask(struct waiting *waiting, const struct cluster_snapshot *row)
{
    waiting->row = *row;
    /* Release: `row` is whole (pairs: waiting_fetch). */
    atomic_store_explicit(&waiting->state, WAITING_WANTED, memory_order_release);
}

bool waiting_answer(struct waiting *waiting, int *error)
{
    /* Acquire: `error` and the file are there (pairs: waiting_fetch). */
    if (atomic_load_explicit(&waiting->state, memory_order_acquire) != WAITING_DONE)
        return false;
    *error = waiting->error;
    atomic_store_explicit(&waiting->state, WAITING_NONE, memory_order_relaxed); /* its own again */
    return true;
}

uint32_t waiting_fetch(struct waiting *waiting, const struct vault *vault, struct disk *disk)
{
    const struct cluster_snapshot *row = &waiting->row;

    if (atomic_load_explicit(&waiting->state, memory_order_acquire) != WAITING_WANTED)
        return 0;
    struct vault_snapshot wanted = { .sequence = row->sequence,
                                     .frame = row->frame,
                                     .t_ns = row->t_ns,
                                     .bytes = row->bytes,
                                     .rules_version = row->rules_version };
    memcpy(wanted.image_hash, row->image_hash, HASH_BYTES);
    memcpy(wanted.frame_hash, row->frame_hash, HASH_BYTES);
    memcpy(wanted.file_hash, row->file_hash, HASH_BYTES);
    waiting->error = vault_snapshot_fetch(vault, &wanted, disk);
    /* Release: pairs with waiting_answer. */
    atomic_store_explicit(&waiting->state, WAITING_DONE, memory_order_release);
    return 1;
}
