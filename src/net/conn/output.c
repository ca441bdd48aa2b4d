#include "net/conn/output.h"

#include <errno.h>
#include <sys/mman.h>

#include "base/region.h"
#include "crypto/secret.h"

static size_t chunk_table_bytes(uint32_t count)
{
    return (sizeof(struct output_chunk) * count + 4095) & ~(size_t)4095;
}

int output_pool_init(struct output_pool *pool, uint64_t bytes)
{
    uint64_t count = bytes / OUTPUT_CHUNK_BYTES;
    *pool = (struct output_pool){ .free_head = OUTPUT_NONE };
    if (count == 0)
        count = 1;
    if (count >= OUTPUT_NONE)
        count = OUTPUT_NONE - 1;
    size_t table = chunk_table_bytes((uint32_t)count);
    size_t total = table + (size_t)count * OUTPUT_CHUNK_BYTES;
    void *memory = region_map(REGION_output, total);
    if (memory == NULL)
        return -ENOMEM;
    pool->chunks = memory;
    pool->memory = (uint8_t *)memory + table;
    pool->chunk_count = (uint32_t)count;
    pool->mapped_bytes = total;
    return 0;
}

void output_pool_free(struct output_pool *pool)
{
    if (pool->chunks != NULL)
        region_unmap(pool->chunks, pool->mapped_bytes);
    pool->chunks = NULL;
}

static uint32_t chunk_alloc(struct output_pool *pool, uint64_t now_ns)
{
    uint32_t index = pool->free_head;
    if (index != OUTPUT_NONE) {
        pool->free_head = pool->chunks[index].next;
        pool->warm -= !pool->chunks[index].is_cold;
    } else {
        INVARIANT(pool->touched < pool->chunk_count);
        index = pool->touched++;
    }
    pool->used++;
    pool->chunks[index] = (struct output_chunk){ .since_ns = now_ns, .next = OUTPUT_NONE };
    return index;
}

static void chunk_free(struct output_pool *pool, uint32_t index)
{
    INVARIANT(pool->used > 0);
    pool->used--;
    if (pool->chunks[index].secret)
        secret_wipe(pool->memory + (size_t)index * OUTPUT_CHUNK_BYTES, OUTPUT_CHUNK_BYTES);
    pool->chunks[index].is_cold = pool->warm >= OUTPUT_WARM_CHUNKS;
    if (pool->chunks[index].is_cold)
        (void)madvise(pool->memory + (size_t)index * OUTPUT_CHUNK_BYTES, OUTPUT_CHUNK_BYTES,
                      MADV_DONTNEED);
    else
        pool->warm++;
    pool->chunks[index].next = pool->free_head;
    pool->free_head = index;
}

bool output_fits(const struct output_pool *pool, const struct output *output, size_t count)
{
    size_t room = 0;
    if (output->tail != OUTPUT_NONE)
        room = OUTPUT_CHUNK_BYTES - pool->chunks[output->tail].end;
    if (count <= room)
        return true;
    size_t wanted = (count - room + OUTPUT_CHUNK_BYTES - 1) / OUTPUT_CHUNK_BYTES;
    return wanted <= pool->chunk_count - pool->used;
}

void output_append(struct output_pool *pool, struct output *output, const void *bytes, size_t count,
                   uint64_t now_ns)
{
    const uint8_t *from = bytes;
    INVARIANT(count <= OUTPUT_CONNECTION_MAX);
    while (count > 0) {
        if (output->tail == OUTPUT_NONE || pool->chunks[output->tail].end == OUTPUT_CHUNK_BYTES) {
            uint32_t index = chunk_alloc(pool, now_ns);
            if (output->tail == OUTPUT_NONE)
                output->head = index;
            else
                pool->chunks[output->tail].next = index;
            output->tail = index;
        }
        struct output_chunk *chunk = &pool->chunks[output->tail];
        size_t part = OUTPUT_CHUNK_BYTES - chunk->end;
        if (part > count)
            part = count;
        memcpy(pool->memory + (size_t)output->tail * OUTPUT_CHUNK_BYTES + chunk->end, from, part);
        chunk->end += (uint32_t)part;
        chunk->newest_ns = now_ns;
        output->bytes += (uint32_t)part;
        from += part;
        count -= part;
    }
}

void output_mark_secret(struct output_pool *pool, const struct output *output, size_t count)
{
    size_t before = output->bytes - count; /* bytes before the newest `count` */

    INVARIANT(count <= output->bytes);
    for (uint32_t index = output->head; index != OUTPUT_NONE; index = pool->chunks[index].next) {
        struct output_chunk *chunk = &pool->chunks[index];
        size_t held = chunk->end - chunk->start;
        if (held > before)
            chunk->secret = true;
        before -= held < before ? held : before;
    }
}

size_t output_next(const struct output_pool *pool, const struct output *output,
                   const uint8_t **bytes)
{
    if (output->head == OUTPUT_NONE)
        return 0;
    const struct output_chunk *chunk = &pool->chunks[output->head];
    *bytes = pool->memory + (size_t)output->head * OUTPUT_CHUNK_BYTES + chunk->start;
    return chunk->end - chunk->start;
}

void output_sent(struct output_pool *pool, struct output *output, size_t count)
{
    INVARIANT(count <= output->bytes);
    output->bytes -= (uint32_t)count;
    while (count > 0) {
        struct output_chunk *chunk = &pool->chunks[output->head];
        size_t part = chunk->end - chunk->start;
        if (part > count)
            part = count;
        chunk->start += (uint32_t)part;
        count -= part;
        if (chunk->start == chunk->end) {
            uint32_t index = output->head;
            output->head = chunk->next;
            if (output->head == OUTPUT_NONE)
                output->tail = OUTPUT_NONE;
            chunk_free(pool, index);
        }
    }
}

void output_clear(struct output_pool *pool, struct output *output)
{
    while (output->head != OUTPUT_NONE) {
        uint32_t index = output->head;
        output->head = pool->chunks[index].next;
        chunk_free(pool, index);
    }
    output_init(output);
}

uint64_t output_since_ns(const struct output_pool *pool, const struct output *output)
{
    return output->head == OUTPUT_NONE ? UINT64_MAX : pool->chunks[output->head].since_ns;
}

uint64_t output_newest_ns(const struct output_pool *pool, const struct output *output)
{
    return output->tail == OUTPUT_NONE ? 0 : pool->chunks[output->tail].newest_ns;
}
