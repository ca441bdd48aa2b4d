/* image_needs.h - the sections of an image as bytes, and what memory a state made from them needs
 * (image_load.h). Pure. */
#ifndef ENGINE_IMAGE_IMAGE_NEEDS_H
#define ENGINE_IMAGE_IMAGE_NEEDS_H

#include "base/option.h"

/* One section: its code and version as image.h wrote them. */
struct image_part {
    uint32_t code;
    uint32_t version;
    const uint8_t *bytes; /* any alignment; the caller's */
    uint64_t byte_count;
};

/* Where and why an image was refused. */
struct image_problem {
    uint32_t section; /* code; 0: the set of sections itself */
    uint64_t row;     /* number of the row in it, from 0 */
    const char *text; /* a sentence that lives as long as the program */
};

/* The engine options of the record 2013 that the image holds, its window of request ids as wide as
 * that of the ids in it: memory must be laid out for at least these. False when a section is
 * missing, doubled, unknown or of an unknown version, or when the configuration does not parse. */
CC_MUST_USE bool image_needs(const struct image_part *parts, uint32_t part_count,
                             struct option_engine *needs, struct image_problem *problem);

#endif
