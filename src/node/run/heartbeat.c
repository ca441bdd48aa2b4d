#include "node/run/heartbeat.h"

static uint64_t now(const _Atomic uint64_t *word)
{
    return atomic_load_explicit(word, memory_order_relaxed); /* relaxed: see the header */
}

void heartbeat_add(struct heartbeat *heartbeat, const _Atomic uint64_t *word)
{
    for (uint32_t i = 0; i < heartbeat->count; i++)
        if (heartbeat->words[i] == word)
            return;
    INVARIANT(heartbeat->count < HEARTBEAT_WORDS_MAX);
    heartbeat->words[heartbeat->count] = word;
    heartbeat->seen[heartbeat->count++] = now(word);
}

bool heartbeat_all_moved(struct heartbeat *heartbeat)
{
    for (uint32_t i = 0; i < heartbeat->count; i++)
        if (now(heartbeat->words[i]) == heartbeat->seen[i])
            return false;
    for (uint32_t i = 0; i < heartbeat->count; i++)
        heartbeat->seen[i] = now(heartbeat->words[i]);
    return true;
}
