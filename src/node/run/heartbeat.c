#include "node/run/heartbeat.h"

void heartbeat_add(struct heartbeat *heartbeat, const struct published *word)
{
    for (uint32_t i = 0; i < heartbeat->count; i++)
        if (heartbeat->words[i] == word)
            return;
    INVARIANT(heartbeat->count < HEARTBEAT_WORDS_MAX);
    heartbeat->words[heartbeat->count] = word;
    heartbeat->seen[heartbeat->count++] = published_get(word);
}

bool heartbeat_all_moved(struct heartbeat *heartbeat)
{
    for (uint32_t i = 0; i < heartbeat->count; i++)
        if (published_get(heartbeat->words[i]) == heartbeat->seen[i])
            return false;
    for (uint32_t i = 0; i < heartbeat->count; i++)
        heartbeat->seen[i] = published_get(heartbeat->words[i]);
    return true;
}
