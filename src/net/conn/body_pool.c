#include "net/conn/body_pool.h"

#include <errno.h>
#include <sys/mman.h>

#include "crypto/secret.h"

int body_pool_init(struct body_pool *pool)
{
    void *memory = mmap(NULL, BODY_POOL_COUNT * sizeof(struct body), PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    pool->free_count = 0;
    pool->items = NULL;
    if (memory == MAP_FAILED)
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
        (void)munmap(pool->items, BODY_POOL_COUNT * sizeof(struct body));
    pool->items = NULL;
}

uint16_t body_pool_add(struct body_pool *pool, const char *text, size_t count)
{
    INVARIANT(count <= BODY_BYTES);
    if (pool->free_count == 0)
        return BODY_NONE;
    uint16_t index = pool->free[--pool->free_count];
    pool->items[index].count = (uint32_t)count;
    memcpy(pool->items[index].text, text, count);
    return index;
}

void body_pool_free(struct body_pool *pool, uint16_t index)
{
    if (index == BODY_NONE)
        return;
    INVARIANT(index < BODY_POOL_COUNT && pool->free_count < BODY_POOL_COUNT);
    secret_wipe(pool->items[index].text, pool->items[index].count);
    pool->free[pool->free_count++] = index;
}
