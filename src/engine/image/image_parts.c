#include "engine/image/image_parts.h"

#include "engine/state/state_fields.h"

static bool is_known(const struct image_part *part)
{
    static const uint64_t known[] = {
#define X(name, version, load) (uint64_t)(version) << 32 | IMAGE_##name,
        IMAGE_PARTS_READERS(X)
#undef X
    };

    for (size_t i = 0; i < CC_COUNT(known); i++)
        if (known[i] == ((uint64_t)part->version << 32 | part->code))
            return true;
    return false;
}

/* True if image_write writes a section with this code. */
static bool is_written(uint32_t code)
{
    static const bool written[IMAGE_SECTION_END] = {
#define X(name, code, version) [code] = true,
        IMAGE_SECTION_LIST(X)
#undef X
    };

    return written[code];
}

bool image_parts_sort(struct image_parts *sorted, const struct image_part *parts,
                      uint32_t part_count, struct image_problem *problem)
{
    const struct image_part **by_code = sorted->by_code;

    memset(sorted, 0, sizeof *sorted);
    for (uint32_t i = 0; i < part_count; i++) {
        const struct image_part *part = &parts[i];
        if (part->code == 0 || part->code >= IMAGE_SECTION_END)
            return image_parts_refuse(problem, 0, i, "a section that does not exist");
        if (by_code[part->code] != NULL)
            return image_parts_refuse(problem, 0, i, "a section stands twice");
        if (!is_known(part))
            return image_parts_refuse(problem, part->code, 0,
                                      "a version of the section that is not known");
        by_code[part->code] = part;
    }
    static const uint32_t lasts[] = { 0, IMAGE_SECTION_LAST_1, IMAGE_SECTION_LAST_2,
                                      IMAGE_SECTION_END - 1, IMAGE_SECTION_END - 1 };
    static_assert(CC_COUNT(lasts) == 5, "an entry for each version of the section");
    uint32_t version = by_code[IMAGE_engine] != NULL ? by_code[IMAGE_engine]->version
                                                     : image_version(IMAGE_engine);
    uint32_t last = lasts[version];
    for (uint32_t code = 1; code <= last; code++)
        if (is_written(code) && by_code[code] == NULL)
            return image_parts_refuse(problem, 0, code, "a section is missing");
    return true;
}

bool image_parts_configuration(struct image_read *read, struct image_configuration *row)
{
    if (!image_read_begins(read, 0 STATE_CONFIGURATION(IMAGE_READ_BYTES)))
        return image_read_refuse(read, "the configuration is not whole");
    STATE_CONFIGURATION(IMAGE_READ)
    if (read->left != 0)
        return image_read_refuse(read, "more than one configuration");
    if (row->configuration_bytes > sizeof row->configuration ||
        !image_read_is_zero(row->configuration + row->configuration_bytes,
                            sizeof row->configuration - row->configuration_bytes) ||
        !option_parse_engine(&row->options, row->configuration, row->configuration_bytes))
        return image_read_refuse(read, "the configuration does not parse");
    return true;
}
