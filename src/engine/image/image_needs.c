#include "engine/image/image_needs.h"

#include "engine/image/image_parts.h"
#include "engine/table/duplicate.h"

/* A record 2013 may narrow the window of request ids. The ids of the old window stay in the set
 * until the next command, so a state between the two needs room for the old window. */
static void widen_window(struct image_read read, struct option_engine *needs)
{
    uint64_t *past_ms = &needs->values[OPTION_exchange_clock_past_ms];
    uint64_t window_ms =
        *past_ms + needs->values[OPTION_exchange_clock_future_ms] + 2 * DUPLICATE_SLACK_MS;
    uint64_t widest_ms = option_row(OPTION_exchange_clock_past_ms)->maximum +
                         option_row(OPTION_exchange_clock_future_ms)->maximum +
                         2 * DUPLICATE_SLACK_MS;
    struct duplicate_row newest; /* the last row: rows ascend by id */
    uint64_t floor_ms;

    if (!image_read_u64(&read, &floor_ms) || read.left < sizeof newest)
        return;
    memcpy(&newest, read.at + (read.left / sizeof newest - 1) * sizeof newest, sizeof newest);
    uint64_t newest_ms = duplicate_id_ms(newest.id);
    if (newest_ms > floor_ms && newest_ms - floor_ms > window_ms &&
        newest_ms - floor_ms <= widest_ms) /* beyond it image_load refuses the image */
        *past_ms += newest_ms - floor_ms - window_ms;
}

bool image_needs(const struct image_part *parts, uint32_t part_count, struct option_engine *needs,
                 struct image_problem *problem)
{
    struct image_configuration row;
    struct image_parts sorted;

    if (!image_parts_sort(&sorted, parts, part_count, problem))
        return false;
    struct image_read read = image_parts_read(&sorted, IMAGE_configuration);
    if (!image_parts_configuration(&read, &row))
        return image_parts_refuse(problem, IMAGE_configuration, 0, read.wrong);
    *needs = row.options;
    widen_window(image_parts_read(&sorted, IMAGE_duplicates), needs);
    return true;
}
