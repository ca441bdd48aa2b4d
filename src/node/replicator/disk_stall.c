#include "node/replicator/disk_stall.h"

bool disk_stall_look(struct disk_stall *stall, uint64_t durable, uint64_t landed, uint64_t most_ns,
                     uint64_t now_ns)
{
    if (durable >= landed || durable != stall->durable || stall->since_ns == 0)
        stall->since_ns = durable >= landed ? 0 : now_ns;
    stall->durable = durable;
    return stall->since_ns != 0 && now_ns - stall->since_ns >= most_ns;
}
