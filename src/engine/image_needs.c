#include "engine/image_needs.h"

#include "engine/image_parts.h"

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
    return true;
}
