/* image_load.h - makes a state from its image: the reading side of image.h. Pure.
 *
 *   sections of an image ──> image_needs: capacities ──> engine_init ──> image_load ──> the state
 *
 * An image leaves out indexes, lists, heaps and cached sums. The loader makes them again from the
 * rows in their order. The loaded state writes the same image, byte for byte, and gives the same
 * effects for the same commands. A section of an older version has a reader of its own.
 *
 * The caller has verified the hash of the bytes. The loader still checks counts, indexes, the order
 * of rows and sums (I6 of R2). It refuses wrong bytes and never writes beyond a table. It does not
 * check that the money adds up (I1 to I5): the node halts a state in which it does not, and that
 * state must survive a restart (decision 45). */
#ifndef ENGINE_IMAGE_IMAGE_LOAD_H
#define ENGINE_IMAGE_IMAGE_LOAD_H

#include "engine/image/image_needs.h"

struct engine;

/* Fills an `engine` that engine_init has just made, with memory for at least what image_needs
 * returned and no command applied. False: *problem says where and why, and the engine is of no
 * further use. The caller keeps the parts. */
CC_MUST_USE bool image_load(struct engine *engine, const struct image_part *parts,
                            uint32_t part_count, struct image_problem *problem);

#endif
