/* image_load.h - a state from its image: the reading side of image.h. Pure.
 *
 *   sections of an image ──> image_needs: capacities ──> engine_init ──> image_load ──> the state
 *
 * What the image leaves out (indexes, lists, heaps, sums that are caches) is made again from the
 * rows in their order; the loaded state writes the same image, byte for byte, and gives the same
 * effects for the same commands. A part of an older version is read as that version was written.
 *
 * The bytes were verified by their hash before they come here, and are checked all the same:
 * counts, indexes, order of rows, sums (I6 of R2). Wrong bytes are refused; they never reach beyond
 * a table. Whether the money adds up (I1 to I5) is for whoever runs the engine: a state in which it
 * does not is halted, not lost (decision 45). */
#ifndef ENGINE_IMAGE_IMAGE_LOAD_H
#define ENGINE_IMAGE_IMAGE_LOAD_H

#include "engine/image/image_needs.h"

struct engine;

/* Fills `engine`, which engine_init has just made (no command applied) and laid out for at least
 * what image_needs told. False: `problem` says where; the engine is of no further use. */
CC_MUST_USE bool image_load(struct engine *engine, const struct image_part *parts,
                            uint32_t part_count, struct image_problem *problem);

#endif
