/* image_load.h - a state from its image: the reading side of image.h. Pure.
 *
 *   sections of an image ──> image_needs: capacities ──> engine_init ──> image_load ──> the state
 *
 * What the image leaves out (indexes, lists, heaps, sums that are caches) is made again from the
 * rows in their order; the loaded state writes the same image, byte for byte, and gives the same
 * effects for the same commands. A part of an older version is read as that version was written.
 *
 * The bytes were verified by their hash before they come here, and are checked all the same:
 * counts, indexes, order of rows, sums. Wrong bytes are refused; they never reach beyond a table.
 * */
#ifndef ENGINE_IMAGE_LOAD_H
#define ENGINE_IMAGE_LOAD_H

#include "base/option.h"

struct engine;

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

/* The engine options of the record 2013 that the image holds: memory must be laid out for at least
 * these. False when a section is missing, doubled, unknown or of an unknown version, or when the
 * configuration does not parse. */
CC_MUST_USE bool image_needs(const struct image_part *parts, uint32_t part_count,
                             struct option_engine *needs, struct image_problem *problem);

/* Fills `engine`, which engine_init has just made (no command applied) and laid out for at least
 * what image_needs told. False: `problem` says where; the engine is of no further use. */
CC_MUST_USE bool image_load(struct engine *engine, const struct image_part *parts,
                            uint32_t part_count, struct image_problem *problem);

#endif
