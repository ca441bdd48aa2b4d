#include "store/segment_pool.h"

#include <errno.h>
#include <stdlib.h>

#include "store/pool_state.h"

struct segment_pool {
    struct segment_pool_config config;
    uint8_t *chunk; /* SEGMENT_POOL_CHUNK_BYTES of zeros, aligned for direct writes */
    enum pool_state state;
    int file;        /* being prepared */
    uint64_t zeroed; /* bytes of it */
    uint64_t due_ns;
    uint64_t retired_first; /* segments [retired_first, retired_end) may be used again */
    uint64_t retired_end;
    uint64_t recycled; /* the segment whose .next is a retired file; UINT64_MAX: none */
    uint64_t named;    /* the segment that got its name last, synced or not; likewise */
    struct {
        int file;
        uint32_t block_bytes;
    } slots[SEGMENT_POOL_AHEAD_MAX];    /* segment n in slot n % SEGMENT_POOL_AHEAD_MAX */
    CC_NO_SHARE _Atomic uint64_t ready; /* segments below it are in slots or were taken */
    _Atomic int error;
    CC_NO_SHARE _Atomic uint64_t taken; /* segments below it were taken */
};

static void move(struct segment_pool *pool, enum pool_state next)
{
    pool_state_move(&pool->state, next, pool->file >= 0);
}

struct segment_pool *segment_pool_create(const struct segment_pool_config *config)
{
    struct segment_pool *pool = aligned_alloc(alignof(struct segment_pool), sizeof *pool);

    INVARIANT(config->ahead >= 1 && config->ahead <= SEGMENT_POOL_AHEAD_MAX);
    INVARIANT(config->segment_bytes >= SEGMENT_BYTES_MIN &&
              config->segment_bytes % SEGMENT_FRAMES_OFFSET == 0);
    INVARIANT(config->existing_end == 0 || config->existing_end >= config->first);
    if (!pool)
        return NULL;
    memset(pool, 0, sizeof *pool);
    pool->config = *config;
    pool->file = -1;
    pool->recycled = UINT64_MAX;
    pool->named = UINT64_MAX;
    pool->chunk = aligned_alloc(DISK_ALIGNMENT, SEGMENT_POOL_CHUNK_BYTES);
    if (!pool->chunk) {
        free(pool);
        return NULL;
    }
    memset(pool->chunk, 0, SEGMENT_POOL_CHUNK_BYTES);
    atomic_init(&pool->ready, config->first);
    atomic_init(&pool->taken, config->first);
    return pool;
}

void segment_pool_destroy(struct segment_pool *pool)
{
    uint64_t ready = atomic_load_explicit(&pool->ready, memory_order_relaxed);

    for (uint64_t n = atomic_load_explicit(&pool->taken, memory_order_relaxed); n < ready; n++)
        disk_close(pool->config.disk, pool->slots[n % SEGMENT_POOL_AHEAD_MAX].file);
    if (pool->file >= 0)
        disk_close(pool->config.disk, pool->file);
    free(pool->chunk);
    free(pool);
}

/* Hands the file of the next segment to the journal. */
static void slot_fill(struct segment_pool *pool, int file, uint32_t block_bytes)
{
    /* relaxed: only this thread writes it */
    uint64_t number = atomic_load_explicit(&pool->ready, memory_order_relaxed);

    pool->slots[number % SEGMENT_POOL_AHEAD_MAX].file = file;
    pool->slots[number % SEGMENT_POOL_AHEAD_MAX].block_bytes = block_bytes;
    atomic_store_explicit(&pool->error, 0, memory_order_relaxed);
    atomic_store_explicit(&pool->ready, number + 1, memory_order_release); /* pairs: take */
}

/* A segment that is in the journal already: recovery has checked its header, or it was made
 * here and only the sync of its name failed. */
static int existing_open(struct segment_pool *pool, uint64_t number)
{
    char path[DISK_PATH_BYTES];
    struct segment_header header;
    int64_t count;
    int file;

    if (number == pool->named) {
        int error = disk_sync_folder(pool->config.disk, "journal");

        if (error < 0)
            return error;
    }
    segment_path(path, number, true);
    file = disk_open(pool->config.disk, path, DISK_WRITE | DISK_DIRECT | DISK_OWN);
    if (file < 0)
        return file;
    count = disk_read(pool->config.disk, file, 0, pool->chunk, SEGMENT_FRAMES_OFFSET);
    if (count != SEGMENT_FRAMES_OFFSET || segment_decode(&header, pool->chunk) < 0 ||
        !segment_belongs(&header, pool->config.exchange, number)) {
        disk_close(pool->config.disk, file);
        count = count < 0 ? count : -EBADMSG;
    }
    memset(pool->chunk, 0, SEGMENT_FRAMES_OFFSET);
    if (count < 0)
        return (int)count;
    slot_fill(pool, file, header.block_bytes);
    return 1;
}

/* The lowest retired segment becomes the `.next` of this one. The name is durable before its bytes
 * change: a power loss must not bring the old name back for half of them. */
static int retired_rename(struct segment_pool *pool, uint64_t number)
{
    struct disk *disk = pool->config.disk;
    char from[DISK_PATH_BYTES];
    char to[DISK_PATH_BYTES];
    int error;

    segment_path(from, pool->retired_first, true);
    segment_path(to, number, false);
    error = disk_sync_folder(disk, "snapshot");
    if (error == 0)
        error = disk_sync_folder(disk, "archive");
    if (error == 0)
        error = disk_rename(disk, from, to);
    if (error < 0)
        return error;
    pool->retired_first++;
    pool->recycled = number;
    return 0;
}

/* Opens a file of the full size to be zeroed, or makes one. */
static int next_open(struct segment_pool *pool, uint64_t number)
{
    struct disk *disk = pool->config.disk;
    char path[DISK_PATH_BYTES];
    int error;
    int file;

    segment_path(path, number, false);
    file = disk_open(disk, path, DISK_WRITE | DISK_DIRECT | DISK_OWN);
    if (file >= 0 && disk_size(disk, file) == pool->config.segment_bytes)
        return file; /* a retired one, or one that an earlier process began */
    if (file >= 0)
        disk_close(disk, file);
    else if (file != -ENOENT)
        return file;
    file = disk_open(disk, path, DISK_CREATE | DISK_DIRECT | DISK_OWN);
    if (file < 0)
        return file;
    error = disk_allocate(disk, file, pool->config.segment_bytes);
    if (error == 0)
        return file;
    disk_close(disk, file);
    return error;
}

static int next_begin(struct segment_pool *pool, uint64_t number)
{
    bool is_recycling = pool->retired_first < pool->retired_end && pool->recycled != number;
    int error = is_recycling ? retired_rename(pool, number) : 0;
    int file;

    /* Also for a `.next` that is there: a process that was killed may have renamed it. */
    if (error == 0)
        error = disk_sync_folder(pool->config.disk, "journal");
    if (error < 0)
        return error;
    file = next_open(pool, number);
    if (file < 0)
        return file;
    pool->file = file;
    pool->zeroed = 0;
    move(pool, POOL_ZEROING);
    return 1;
}

static int next_zero(struct segment_pool *pool, uint64_t now_ns)
{
    uint64_t left = pool->config.segment_bytes - pool->zeroed;
    uint32_t count =
        left < SEGMENT_POOL_CHUNK_BYTES ? (uint32_t)left : (uint32_t)SEGMENT_POOL_CHUNK_BYTES;
    int error = disk_write(pool->config.disk, pool->file, pool->zeroed, pool->chunk, count);

    if (error < 0)
        return error;
    pool->zeroed += count;
    if (pool->config.bytes_per_s > 0)
        pool->due_ns = now_ns + count * UINT64_C(1000000000) / pool->config.bytes_per_s;
    if (pool->zeroed == pool->config.segment_bytes)
        move(pool, POOL_NAMING);
    return (int)count;
}

/* The name appears when zeros and header are on the medium, never before. */
static int next_name(struct segment_pool *pool, uint64_t number)
{
    struct disk *disk = pool->config.disk;
    struct segment_header header =
        segment_header_of(pool->config.exchange, number, pool->config.boot, disk->block_bytes);
    char from[DISK_PATH_BYTES];
    char to[DISK_PATH_BYTES];
    int file = pool->file;
    int error;

    segment_path(from, number, false);
    segment_path(to, number, true);
    segment_encode(pool->chunk, &header);
    error = disk_write(disk, file, 0, pool->chunk, SEGMENT_FRAMES_OFFSET);
    memset(pool->chunk, 0, SEGMENT_FRAMES_OFFSET);
    if (error == 0)
        error = disk_sync(disk, file);
    if (error == 0)
        error = disk_rename(disk, from, to);
    if (error < 0)
        return error;
    pool->named = number;
    error = disk_sync_folder(disk, "journal");
    if (error < 0)
        return error;
    pool->file = -1;
    move(pool, POOL_WAITING);
    slot_fill(pool, file, header.block_bytes);
    return SEGMENT_FRAMES_OFFSET;
}

static void next_drop(struct segment_pool *pool, int error, uint64_t now_ns)
{
    if (pool->file >= 0)
        disk_close(pool->config.disk, pool->file);
    pool->file = -1;
    move(pool, POOL_WAITING);
    pool->due_ns = now_ns + SEGMENT_POOL_RETRY_NS;
    atomic_store_explicit(&pool->error, error, memory_order_relaxed);
}

static int pool_piece(struct segment_pool *pool, uint64_t number, uint64_t now_ns)
{
    switch (pool->state) {
    case POOL_WAITING:
        if (number < pool->config.existing_end || number == pool->named)
            return existing_open(pool, number);
        return next_begin(pool, number);
    case POOL_ZEROING:
        return next_zero(pool, now_ns);
    case POOL_NAMING:
        return next_name(pool, number);
    case POOL_STATE_COUNT:
        break;
    }
    INVARIANT(!"a state of the table");
    return 0;
}

int segment_pool_step(struct segment_pool *pool, uint64_t now_ns)
{
    uint64_t ready = atomic_load_explicit(&pool->ready, memory_order_relaxed);
    uint64_t taken = atomic_load_explicit(&pool->taken, memory_order_acquire); /* pairs: take */
    int done;

    if (ready - taken >= pool->config.ahead || now_ns < pool->due_ns)
        return 0;
    done = pool_piece(pool, ready, now_ns);
    if (done < 0)
        next_drop(pool, done, now_ns);
    return done;
}

void segment_pool_retire(struct segment_pool *pool, uint64_t number)
{
    uint64_t taken = atomic_load_explicit(&pool->taken, memory_order_acquire); /* pairs: take */

    INVARIANT(number < pool->config.first || number + 1 < taken);
    INVARIANT(pool->retired_first == pool->retired_end || number == pool->retired_end);
    if (pool->retired_first == pool->retired_end)
        pool->retired_first = number;
    pool->retired_end = number + 1;
}

uint64_t segment_pool_retired(const struct segment_pool *pool)
{
    return pool->retired_end - pool->retired_first;
}

uint64_t segment_pool_due_ns(const struct segment_pool *pool)
{
    uint64_t ready = atomic_load_explicit(&pool->ready, memory_order_relaxed);
    uint64_t taken = atomic_load_explicit(&pool->taken, memory_order_acquire);

    return ready - taken >= pool->config.ahead ? UINT64_MAX : pool->due_ns;
}

int segment_pool_fill(struct segment_pool *pool, uint64_t now_ns)
{
    int done;

    do {
        pool->due_ns = 0;
        done = segment_pool_step(pool, now_ns);
    } while (done > 0);
    return done;
}

int segment_pool_pop(struct segment_pool *pool, uint64_t number, uint32_t *block_bytes)
{
    /* relaxed: only this thread writes it */
    uint64_t taken = atomic_load_explicit(&pool->taken, memory_order_relaxed);
    int file;

    INVARIANT(number == taken);
    if (atomic_load_explicit(&pool->ready, memory_order_acquire) == taken) /* pairs: slot_fill */
        return -EAGAIN;
    file = pool->slots[number % SEGMENT_POOL_AHEAD_MAX].file;
    *block_bytes = pool->slots[number % SEGMENT_POOL_AHEAD_MAX].block_bytes;
    atomic_store_explicit(&pool->taken, taken + 1, memory_order_release); /* pairs: step */
    return file;
}

uint32_t segment_pool_ready(const struct segment_pool *pool)
{
    uint64_t taken = atomic_load_explicit(&pool->taken, memory_order_acquire);
    uint64_t ready = atomic_load_explicit(&pool->ready, memory_order_acquire);

    return (uint32_t)(ready - taken);
}

int segment_pool_error(const struct segment_pool *pool)
{
    return atomic_load_explicit(&pool->error, memory_order_relaxed);
}

int segment_pool_make_first(struct disk *disk, const struct exchange_file *exchange, uint64_t boot,
                            uint32_t segment_bytes)
{
    const struct segment_pool_config config = {
        .disk = disk, .exchange = exchange, .boot = boot, .segment_bytes = segment_bytes, .ahead = 1
    };
    struct segment_pool *pool = segment_pool_create(&config);

    if (pool == NULL)
        return -ENOMEM;
    int error = segment_pool_fill(pool, 0);
    segment_pool_destroy(pool);
    return error;
}
