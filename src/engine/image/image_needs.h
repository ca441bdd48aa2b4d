/* image_needs.h - the sections of an image as bytes, and the memory that the state of an image
 * needs (image_load.h). Pure. */
#ifndef ENGINE_IMAGE_IMAGE_NEEDS_H
#define ENGINE_IMAGE_IMAGE_NEEDS_H

#include "base/option.h"

/* One section, with its code and version as in image.h. */
struct image_part {
    uint32_t code;
    uint32_t version;
    const uint8_t *bytes; /* any alignment; the caller owns them */
    uint64_t byte_count;
};

/* Where and why an image was refused. */
struct image_problem {
    uint32_t section; /* code; 0: the set of sections */
    uint64_t row;     /* number of the row in the section, from 0 */
    const char *text; /* a sentence; static storage */
};

/* Sets *needs to the engine options of the record 2013 in the image, with a window at least as wide
 * as that of its request ids. Memory must be laid out for at least these. False when a section is
 * missing, doubled, unknown or of an unknown version, or when the configuration does not parse;
 * then *problem says where and why. */
CC_MUST_USE bool image_needs(const struct image_part *parts, uint32_t part_count,
                             struct option_engine *needs, struct image_problem *problem);

#endif
