#include "net/conn/body_pool.h"

#include <errno.h>

#include "base/fair_share.h"
#include "base/region.h"
#include "crypto/secret.h"

_Static_assert(BODY_POOL_COUNT == 64, "a bit for each in body_pool.used");

int body_pool_init(struct body_pool *pool)
{
    void *memory = region_map(REGION_requests, BODY_POOL_COUNT * sizeof(struct body));
    pool->free_count = 0;
    pool->used = 0;
    pool->items = NULL;
    if (memory == NULL)
        return -ENOMEM;
    pool->items = memory;
    while (pool->free_count < BODY_POOL_COUNT) {
        pool->free[pool->free_count] = (uint16_t)(BODY_POOL_COUNT - 1 - pool->free_count);
        pool->free_count++;
    }
    return 0;
}

void body_pool_destroy(struct body_pool *pool)
{
    if (pool->items != NULL)
        region_unmap(pool->items, BODY_POOL_COUNT * sizeof(struct body));
    pool->items = NULL;
}

static uint32_t held_by(const struct body_pool *pool, uint64_t address)
{
    uint32_t held = 0;
    for (uint32_t i = 0; i < BODY_POOL_COUNT; i++)
        held += (pool->used >> i & 1) != 0 && pool->addresses[i] == address;
    return held;
}

enum body_room body_pool_add(struct body_pool *pool, uint64_t address, const char *text,
                             size_t count, uint16_t *index)
{
    INVARIANT(count <= BODY_BYTES);
    *index = BODY_NONE;
    if (pool->free_count == 0)
        return BODY_ROOM_FULL;
    if (!fair_share_has_room(held_by(pool, address), pool->free_count))
        return BODY_ROOM_OF_ADDRESS;
    uint16_t body = pool->free[--pool->free_count];
    pool->used |= UINT64_C(1) << body;
    pool->addresses[body] = address;
    pool->items[body].count = (uint32_t)count;
    memcpy(pool->items[body].text, text, count);
    *index = body;
    return BODY_ROOM;
}

void body_pool_free(struct body_pool *pool, uint16_t index)
{
    if (index == BODY_NONE)
        return;
    INVARIANT(index < BODY_POOL_COUNT && pool->free_count < BODY_POOL_COUNT);
    INVARIANT((pool->used >> index & 1) != 0);
    secret_wipe(pool->items[index].text, pool->items[index].count);
    pool->used &= ~(UINT64_C(1) << index);
    pool->free[pool->free_count++] = index;
}
