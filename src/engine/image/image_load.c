#include "engine/image/image_load.h"

#include "engine/image/conditional_load.h"
#include "engine/image/image_parts.h"
#include "engine/image/market_load.h"
#include "engine/image/order_load.h"
#include "engine/liquidate/liquidation_load.h"
#include "engine/risk/margin.h"
#include "engine/state/state_fields.h"
#include "engine/view/audit.h"
#include "engine/work/work_load.h"

/* --- the engine's own fields ------------------------------------------------------------------ */

static bool load_configuration(struct engine *engine, struct image_read *read)
{
    struct image_configuration row;

    if (!image_parts_configuration(read, &row))
        return false;
    if (!state_is_laid_out_for(engine, &row.options))
        return image_read_refuse(read, "memory is laid out for less than the configuration");
    state_use_options(engine, &row.options);
    engine->configuration_bytes = row.configuration_bytes;
    memcpy(engine->configuration, row.configuration, sizeof engine->configuration);
    return true;
}

static bool load_engine(struct engine *engine, struct image_read *read)
{
    struct engine *row = engine;

    bool is_old = read->version == 1;

    size_t row_bytes =
        is_old ? 0 STATE_FIELDS_1(IMAGE_READ_BYTES) : 0 STATE_FIELDS_3(IMAGE_READ_BYTES);

    if (read->version >= 4)
        row_bytes = 0 STATE_FIELDS(IMAGE_READ_BYTES);
    if (!image_read_begins(read, row_bytes))
        return image_read_refuse(read, "the engine's own fields are not whole");
    if (is_old) {
        STATE_FIELDS_1(IMAGE_READ)
    } else if (read->version < 4) {
        STATE_FIELDS_3(IMAGE_READ)
    } else {
        STATE_FIELDS(IMAGE_READ)
    }
    if (read->left != 0)
        return image_read_refuse(read, "more than one engine");
    if (row->sequence >> (64 - ORDER_STAMP_BITS) != 0 || row->t_ns > IMAGE_READ_TIME_MAX)
        return image_read_refuse(read, "a sequence or a time that cannot be reached");
    if (!image_read_is_wide(row->deposits) || !image_read_is_wide(row->faucet) ||
        !image_read_is_wide(row->top_ups) || !image_read_is_wide(row->withdrawals_settled) ||
        !image_read_is_money(row->fee_account) || !image_read_is_money(row->withdrawals_pending))
        return image_read_refuse(read, "the engine has amounts beyond every bound");
    return true;
}

static bool load_duplicates(struct engine *engine, struct image_read *read)
{
    return duplicate_load(&engine->duplicates, engine->key, read);
}

/* --- the sections ----------------------------------------------------------------------------- */

#define READER(code, version) ((uint64_t)(version) << 32 | (code))

static bool load_part(struct engine *engine, uint32_t code, struct image_read *read)
{
    switch (READER(code,
                   read->version == 0 ? image_version((enum image_section)code) : read->version)) {
#define X(name, version, load)          \
    case READER(IMAGE_##name, version): \
        return load(engine, read);
        IMAGE_PARTS_READERS(X)
#undef X
    default:
        return image_read_refuse(read, "a version of the section that is not known");
    }
}

/* --- the proof -------------------------------------------------------------------------------- */

/* A comparison of the image that the loaded state writes with the image that was loaded. */
struct comparison {
    struct image_sink sink; /* first */
    const struct image_parts *parts;
    const struct image_part *part; /* NULL: absent or of an older version, not compared */
    uint64_t at;
    uint32_t differs; /* code of the first section that differs; 0: none */
};

static void end_section(struct comparison *comparison)
{
    const struct image_part *part = comparison->part;

    if (part != NULL && comparison->differs == 0 && comparison->at != part->byte_count)
        comparison->differs = part->code;
}

static void compare_section(struct image_sink *sink, uint32_t code, uint32_t version)
{
    struct comparison *own = (void *)sink;

    end_section(own);
    own->part = own->parts->by_code[code];
    if (own->part != NULL && own->part->version != version)
        own->part = NULL;
    own->at = 0;
}

static void compare_bytes(struct image_sink *sink, const void *bytes, size_t count)
{
    struct comparison *own = (void *)sink;
    const struct image_part *part = own->part;

    if (part == NULL || own->differs != 0)
        return;
    if (count > part->byte_count - own->at || memcmp(part->bytes + own->at, bytes, count) != 0)
        own->differs = part->code;
    else
        own->at += count;
}

static bool writes_the_same(struct engine *engine, const struct image_parts *sorted,
                            struct image_problem *problem)
{
    struct comparison own = {
        .sink = { .section = compare_section, .bytes = compare_bytes },
        .parts = sorted,
    };

    image_write(engine, &own.sink);
    end_section(&own);
    return own.differs == 0 ||
           image_parts_refuse(problem, own.differs, 0, "counts or sums are not those of the rows");
}

/* Checks I6 alone. Money that does not add up did not when the image was written: the node halts
 * the markets concerned (R2), and that state must survive a restart to be repaired. */
static bool recounts_the_same(const struct engine *engine, struct image_problem *problem)
{
    struct row_audit row;

    audit_read(engine, &row, NULL);
    return row.recount_differences == 0 ||
           image_parts_refuse(problem, 0, 0, "kept sums are not those of a recount");
}

static bool load_figures(struct engine *engine, struct image_problem *problem)
{
    for (uint32_t i = 1; i <= engine->holdings.slots.count; i++) {
        const char *wrong = margin_load(engine, i);
        if (wrong != NULL)
            return image_parts_refuse(problem, IMAGE_holdings, i - 1, wrong);
    }
    return true;
}

bool image_load(struct engine *engine, const struct image_part *parts, uint32_t part_count,
                struct image_problem *problem)
{
    static const uint32_t order[] = {
#define X(name, version, load) IMAGE_##name,
        IMAGE_PARTS_READERS(X)
#undef X
    };
    struct image_parts sorted;
    uint32_t last = 0;

    INVARIANT(engine->sequence == 0);
    if (!image_parts_sort(&sorted, parts, part_count, problem))
        return false;
    for (size_t i = 0; i < CC_COUNT(order); i++) {
        struct image_read read = image_parts_read(&sorted, order[i]);
        if (order[i] == last) /* another version of the same section */
            continue;
        last = order[i];
        if (!load_part(engine, order[i], &read))
            return image_parts_refuse(problem, order[i], read.row, read.wrong);
    }
    return load_figures(engine, problem) && writes_the_same(engine, &sorted, problem) &&
           recounts_the_same(engine, problem);
}
