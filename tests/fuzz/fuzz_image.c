/* A state from arbitrary bytes in the place of an image: refused, or a state whose image those
 * bytes are, whose sums are those of its rows, and which goes on (image_load.h). Tables are tiny,
 * so a run is short.
 *
 * Input: of each section its version u32, its byte count u64, its bytes; sections by code. A count
 * that is too large is cut, so that a change of one section leaves the others what they were. */
#include <stdlib.h>
#include <sys/mman.h>

#include "base/request.h"
#include "engine/engine.h"
#include "engine/image/image.h"
#include "engine/image/image_load.h"
#include "engine/view/audit.h"

enum { PARTS = IMAGE_SECTION_COUNT, HEADER_BYTES = 12 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct {
    enum option option;
    uint64_t value;
} rooms[] = {
    { OPTION_engine_accounts, 16 },
    { OPTION_engine_portfolios, 16 },
    { OPTION_engine_orders, 32 },
    { OPTION_engine_positions, 16 },
    { OPTION_engine_credentials, 32 },
    { OPTION_engine_deposits, 16 },
    { OPTION_engine_ladder_pages, 64 },
    { OPTION_limits_duplicate_slots, 1024 },
    { OPTION_exchange_clock_past_ms, 30000 },
    { OPTION_exchange_clock_future_ms, 5000 },
};

static struct engine *make_engine(void)
{
    static struct option_engine capacity;
    static void *memory;
    static size_t bytes;

    if (memory == NULL) {
        for (size_t i = 0; i < CC_COUNT(rooms); i++)
            capacity.values[rooms[i].option] = rooms[i].value;
        bytes = engine_bytes(&capacity);
        memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (memory == MAP_FAILED)
            abort();
    }
    if (madvise(memory, bytes, MADV_DONTNEED) != 0) /* zeros again */
        abort();
    return engine_init(memory, bytes, (struct mix_key){ 7, 9 }, &capacity);
}

static uint32_t find_parts(struct image_part parts[PARTS], const uint8_t *data, size_t size)
{
    uint32_t count = 0;

    while (count < PARTS && size >= HEADER_BYTES) {
        uint64_t bytes = cc_load64(data + 4);
        parts[count] = (struct image_part){ .code = count + 1, .version = cc_load32(data) };
        data += HEADER_BYTES;
        size -= HEADER_BYTES;
        bytes = bytes > size ? size : bytes;
        parts[count].bytes = data;
        parts[count].byte_count = bytes;
        data += bytes;
        size -= bytes;
        count++;
    }
    return count;
}

/* Holds the image of a loaded state against what it was loaded from, where versions are today's. */
struct comparison {
    struct image_sink sink; /* first */
    const struct image_part *parts;
    const struct image_part *part;
    uint64_t at;
};

static void begin_section(struct image_sink *sink, uint32_t code, uint32_t version)
{
    struct comparison *own = (void *)sink;

    if (own->part != NULL && own->at != own->part->byte_count)
        abort();
    own->part = own->parts[code - 1].version == version ? &own->parts[code - 1] : NULL;
    own->at = 0;
}

static void compare_bytes(struct image_sink *sink, const void *bytes, size_t count)
{
    struct comparison *own = (void *)sink;

    if (own->part == NULL)
        return;
    if (count > own->part->byte_count - own->at ||
        memcmp(own->part->bytes + own->at, bytes, count) != 0)
        abort();
    own->at += count;
}

/* I6: kept sums are those of the rows. Bytes may be such that money does not add up. */
static void recount(const struct engine *engine)
{
    struct row_audit row;

    audit_read(engine, &row, NULL);
    if (row.recount_differences != 0)
        abort();
}

static void ignore(struct engine_sink *sink, const struct effect *effect)
{
    (void)sink;
    (void)effect;
}

/* Work that was left over is done, timers fire: what the tables say of each other is gone by. */
static void go_on(struct engine *engine)
{
    struct engine_sink sink = { .emit = ignore };
    struct engine_result result;
    _Alignas(16) uint8_t space[256] = { 0 };
    struct command *tick = (void *)space;

    *tick = (struct command){ .code = REQUEST_tick, .kind = COMMAND_UNSIGNED, .payload_bytes = 8 };
    tick->bytes[0] = 1; /* work */
    for (unsigned i = 0; i < 4; i++) {
        tick->t_ns = engine_time(engine) + (i + 1) * UINT64_C(700000000);
        if (engine_admits(engine, tick))
            engine_apply(engine, tick, &sink, &result);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct image_part parts[PARTS] = { 0 }; /* old images lack the last ones */
    struct option_engine needs;
    struct image_problem problem = { .text = NULL };
    uint32_t count = find_parts(parts, data, size);

    if (!image_needs(parts, count, &needs, &problem)) {
        if (problem.text == NULL)
            abort();
        return 0;
    }
    struct engine *engine = make_engine();
    if (!image_load(engine, parts, count, &problem)) {
        if (problem.text == NULL || problem.section >= IMAGE_SECTION_END)
            abort();
        return 0;
    }
    struct comparison comparison = {
        .sink = { .section = begin_section, .bytes = compare_bytes },
        .parts = parts,
    };
    engine_image(engine, &comparison.sink);
    if (comparison.part != NULL && comparison.at != comparison.part->byte_count)
        abort();
    recount(engine);
    go_on(engine);
    recount(engine);
    return 0;
}
